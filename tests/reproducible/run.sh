#!/usr/bin/env bash
# run.sh: the same bytes wherever and by whomever it is built.
#
# The examples are built in this checkout, and from a copy of it: in another folder, deeper, with other times on its
# files, for another HOME, USER, time zone, locale and umask, with other tools first on PATH and CUDA and ROCm said to
# be where they are not; no cache takes part. Every output is compared, images, objects and programs, with and without
# debug information. Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export RULES_OFFLOAD_CACHE=${RULES_OFFLOAD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rules_offload}

module=$folder/some/where/much/deeper/than/before
junk=$folder/junk
targets=(//examples/saxpy //tests/analysis:embed)
groups=--output_groups=+images,+offload

mkdir -p "$module" "$junk/bin" "$junk/home"
(cd "$repo" && git ls-files -z | tar -c --null -T - | tar -x -C "$module")
find "$module" -exec touch -h -d '2001-02-03 04:05:06' {} +
for tool in rustc cargo ptxas nvcc hipcc llc opt ld.lld gcc cc ld ar python3; do
  printf '#!/bin/sh\necho "%s of PATH was called" >&2\nexit 1\n' "$tool" >"$junk/bin/$tool"
done
chmod +x "$junk/bin"/*

here() { (cd "$repo" && ./bazelw "$@"); }

# elsewhere COMMAND...: in the copy. bazelw itself needs a PATH that works.
elsewhere() {
  (
    export HOME=$junk/home USER=somebody LOGNAME=somebody TZ=Pacific/Kiritimati LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8
    export CUDA_HOME=$junk CUDA_PATH=$junk ROCM_PATH=$junk HIP_PATH=$junk PATH=$PATH:$junk/bin
    umask 077
    bazel elsewhere "$@"
  )
}

# Says where two files first differ: the section, by LLVM's account.
difference() {
  local at
  at=$(cmp "$1" "$2" | sed -n 's/.*byte \([0-9]*\).*/\1/p')
  echo "$1 and $2 differ first at byte $at; sections:"
  here run --noshow_progress --ui_event_filters=-info @offload_system//:bin/llvm-readelf -- -SW "$1" 2>/dev/null
}

# same PATH: below the two output folders.
same() {
  local one=$repo/$1 two=$module/$1
  [ -e "$one" ] && [ -e "$two" ] || { ls -l "$one" "$two"; return 1; }
  cmp -s "$one" "$two" || { difference "$one" "$two"; return 1; }
}

for mode in fastbuild dbg; do
  expect "-c $mode builds here" here build --noshow_progress --remote_download_outputs=all -c "$mode" "$groups" "${targets[@]}"
  expect "-c $mode builds elsewhere" elsewhere build --disk_cache= -c "$mode" "$groups" "${targets[@]}"
  # Of each target, what it makes and what it is made of.
  made=$(here cquery --noshow_progress -c "$mode" --output=files "$groups" \
    "set(${targets[*]}) union kind('rust_binary|_device_images|device_link|offload_library', deps(set(${targets[*]}), 3))" 2>/dev/null |
    grep -e '^bazel-out/.*/bin/\(examples\|tests\)/' | sort -u)
  expect "-c $mode has outputs to compare" [ "$(wc -l <<<"$made")" -gt 15 ]
  for file in $made; do
    expect "-c $mode: ${file#bazel-out/} is the same" same "$file"
  done
done
exit "$failed"
