#!/usr/bin/env bash
# Times a device link of saxpy: ours against the order of passes that rustc's own bitcode linker uses.
# Both run in one go on the same inputs, in turn, so that they share the machine's mood; the PTX has
# to be the same, byte for byte, and ours at least 30 times as fast.
#
#   benches/link.sh --linker PATH --llvm-link PATH --opt PATH --llc PATH --rustc PATH --rust-src DIR
#                   [--reference PATH] [--runs N] [--work DIR]
#
# --rust-src is the folder that holds `library/`. --reference is a llvm-bitcode-linker to time as
# well; it finds its tools on PATH, where this script puts the given ones. --work keeps the compiled
# core between calls.
set -euo pipefail

fail() { echo "link.sh: $*" >&2; exit 1; }

runs=5 linker= llvm_link= opt= llc= rustc= rust_src= reference= work=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$1 needs a value"
  case "$1" in
    --linker) linker=$2 ;; --llvm-link) llvm_link=$2 ;; --opt) opt=$2 ;; --llc) llc=$2 ;;
    --rustc) rustc=$2 ;; --rust-src) rust_src=$2 ;; --reference) reference=$2 ;;
    --runs) runs=$2 ;; --work) work=$2 ;;
    *) fail "unknown argument $1" ;;
  esac
  shift 2
done
for name in linker llvm_link opt llc rustc rust_src; do
  [ -n "${!name}" ] || fail "--${name//_/-} is missing"
done
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)

# --- inputs, made once -----------------------------------------------------------------------
target=nvptx64-nvidia-cuda cpu=sm_90
lib=$work/sysroot/lib/rustlib/$target/lib
export RUSTC_BOOTSTRAP=1
crate() {
  "$rustc" --edition 2024 --crate-type rlib --target $target -Copt-level=3 -Cpanic=abort \
    --cap-lints allow -Zforce-unstable-if-unmarked "--remap-path-prefix=$rust_src/library=library" \
    --out-dir "$lib" "$@"
}
if [ ! -e "$lib/libcompiler_builtins.rlib" ]; then
  mkdir -p "$lib"
  crate --crate-name core "$rust_src/library/core/src/lib.rs"
  crate --crate-name compiler_builtins --sysroot "$work/sysroot" --cfg 'feature="compiler-builtins"' \
    --cfg 'feature="mem"' --cfg 'feature="unmangled-names"' --cfg 'feature="arch"' \
    "$rust_src/library/compiler-builtins/compiler-builtins/src/lib.rs"
fi
cat > "$work/saxpy.rs" <<'RUST'
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};
#[no_mangle]
pub unsafe extern "ptx-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize;
    if i < n as usize {
        *y.add(i) += a * *x.add(i);
    }
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
RUST
"$rustc" --edition 2021 --crate-type cdylib --target $target --sysroot "$work/sysroot" -Copt-level=3 \
  -Cpanic=abort -Ctarget-cpu=$cpu --emit=obj -o "$work/saxpy.o" "$work/saxpy.rs"
inputs=("$work/saxpy.o" "$lib/libcore.rlib" "$lib/libcompiler_builtins.rlib")
argv=(--export-symbol saxpy "${inputs[@]}" --target $target --target-cpu $cpu -O3 --debug)
mkdir -p "$work/bin" "$work/a" "$work/b" "$work/order" "$work/reference"
ln -sf "$llvm_link" "$work/bin/llvm-link"
ln -sf "$opt" "$work/bin/opt"
ln -sf "$llc" "$work/bin/llc"

# --- what is compared ------------------------------------------------------------------------
ours() {
  "$linker" "${argv[@]}" -o "$1/k.ptx" "--llvm-link=$llvm_link" "--opt=$opt" "--llc=$llc"
}
order() { # the reference's steps, without its own start-up
  echo saxpy > "$work/order/symbols"
  "$llvm_link" --ignore-non-bitcode "${inputs[@]}" -o "$work/order/linked.bc"
  "$opt" "$work/order/linked.bc" -o "$work/order/optimised.bc" --strip-debug \
    "--internalize-public-api-file=$work/order/symbols" "--passes=default<O3>,internalize,globaldce"
  "$llc" --mcpu $cpu "$work/order/optimised.bc" -o "$work/order/k.ptx"
}
reference() {
  PATH=$work/bin:$PATH "$reference" "${argv[@]}" -o "$work/reference/k.ptx" > /dev/null 2>&1
}

# Adds "WALL PROCESSOR", in milliseconds, to the times of KIND.
clock() { # KIND
  local TIMEFORMAT='%3R %3U %3S' wall user system
  { time "$1" "$work/a" 2> "$work/stderr" >&2; } 2> "$work/time" || fail "$(cat "$work/stderr")"
  read -r wall user system < "$work/time"
  echo "$((10#${wall/./})) $((10#${user/./} + 10#${system/./}))" >> "$work/times.$1"
}
median() { # KIND COLUMN
  cut -d ' ' -f "$2" "$work/times.$1" | sort -n | sed -n "$(((runs + 1) / 2))p"
}

kinds=(ours order)
[ -z "$reference" ] || kinds+=(reference)
ours "$work/b" # warms the files, and is the other folder of the check below
rm -f "$work"/times.*
for ((run = 0; run < runs; run++)); do
  for kind in "${kinds[@]}"; do
    clock "$kind"
  done
done

# --- verdict ---------------------------------------------------------------------------------
cmp "$work/a/k.ptx" "$work/b/k.ptx" || fail "the PTX depends on the folder"
[ "$(ls -A "$work/a")" = k.ptx ] || fail "something was left beside the output"
for kind in "${kinds[@]:1}"; do
  cmp "$work/a/k.ptx" "$work/$kind/k.ptx" || fail "the PTX differs from that of: $kind"
done
ratio() { echo "$(($1 / $2)).$(($1 * 10 / $2 % 10))"; }
wall=$(median ours 1) cpu_time=$(median ours 2)
echo "| link of saxpy for $cpu, medians of $runs | wall, ms | times ours | processor, ms | times ours |"
echo "|---|---|---|---|---|"
for kind in "${kinds[@]}"; do
  w=$(median "$kind" 1) c=$(median "$kind" 2)
  echo "| $kind | $w | $(ratio "$w" "$wall") | $c | $(ratio "$c" "$cpu_time") |"
done
echo "PTX: the same from all, $(wc -c < "$work/a/k.ptx") bytes"
(($(median order 1) >= 30 * wall)) || fail "ours is not 30 times as fast"
