#!/usr/bin/env bash
# remake.sh BITSANDBYTES JAX_ROCM7: writes the lists beside it anew, out of the folders of the unpacked wheels.
# On PATH: cuobjdump of CUDA 12.3, clang-offload-bundler and llvm-objcopy of LLVM 22 (README.md says where from).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bitsandbytes=$(cd "$1" && pwd) jax=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of each file: ARCH KIND SHA256; its name is …ARCH.KIND.
rows() {
  for file; do
    kind=${file##*.} name=${file%.*}
    echo "${name##*.} $kind $(sha256sum <"$file" | cut -d' ' -f1)"
  done | LC_ALL=C sort
}

nvidia() {
  mkdir "$work/nvidia" && cd "$work/nvidia"
  cuobjdump -all -xelf all -xptx all "$1" >&2
  rows *.cubin *.ptx
}

# The bundler reads one compressed bundle, without what follows it: they start at pages, and say their size.
amd() {
  local at size id bundle=0
  rm -rf "$work/amd" && mkdir "$work/amd" && cd "$work/amd"
  llvm-objcopy --dump-section .hip_fatbin=section "$1" /dev/null
  for at in $(LC_ALL=C grep -abo CCOB section | cut -d: -f1); do
    [ $((at % 4096)) = 0 ] || continue
    bundle=$((bundle + 1))
    size=$(od -An -t u4 -j $((at + 8)) -N 4 section)
    head -c $((at + size)) section | tail -c "$((size))" >"$bundle.o"
    for id in $(clang-offload-bundler --list --type=o --input="$bundle.o" | grep -v ^host); do
      clang-offload-bundler --unbundle --type=o --input="$bundle.o" --targets="$id" --output="$bundle.${id##*--}.gfx"
    done
  done
  rows *.gfx
}

write() {
  "$1" "$2" >"$work/list"
  mv "$work/list" "$here/$3"
}
write nvidia "$bitsandbytes/bitsandbytes/libbitsandbytes_cuda121.so" cuda121.txt
write amd "$bitsandbytes/bitsandbytes/libbitsandbytes_rocm64.so" rocm64.txt
write amd "$bitsandbytes/bitsandbytes/libbitsandbytes_rocm714.so" rocm714.txt
write amd "$jax/jax_rocm7_plugin/_solver.so" jax_rocm7_solver.txt
