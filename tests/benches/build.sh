#!/usr/bin/env bash
# build.sh [ROUNDS]: how long building takes through the rules, each time beside what it is measured against, in turn.
#
# Prints a table for README.md: medians, and the ratio round by round. Needs a machine on which nobody else works.
set -euo pipefail
# shellcheck source=../../tools/bazelw/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/bazelw/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds=${1:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
target=//examples/saxpy

# Tools are optimised, as in a module that uses the rules; this one's .bazelrc spares its tests that.
bazel() {
  ./bazelw build --noshow_progress --disk_cache= --remote_download_outputs=all --host_compilation_mode=opt "$@" "$target" \
    >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
}
# Where rustc and LLVM are.
inside() { if [ -e "$ROOT/.complete" ]; then tools/bazelw/enter.sh "$ROOT" "$@"; else "$@"; fi; }
# What the example makes goes; tools, core, and the empty crate that each device link starts from stay.
forget() { find bazel-out/*/bin/examples/saxpy ! -name '*.rs' \( -type f -o -type l \) -delete; }
median() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }
# ms COMMAND...
ms() {
  local began=$(date +%s%N)
  "$@"
  echo $((($(date +%s%N) - began) / 1000000))
}
row() { echo "| $1 | $(median <"$folder/ours") | $(median <"$folder/theirs") | $(median <"$folder/ratios") |"; }
# measure TITLE OURS THEIRS...: functions, and arguments of the latter.
measure() {
  local title=$1 ours_by=$2 round ours theirs
  shift 2
  rm -f "$folder"/{ours,theirs,ratios}
  for round in $(seq "$rounds"); do
    ours=$("$ours_by") theirs=$("$@")
    echo "$ours" >>"$folder/ours"
    echo "$theirs" >>"$folder/theirs"
    echo "$(((ours * 100 + theirs / 2) / theirs))" | sed -E 's/(..)$/.\1/; s/^\./0./' >>"$folder/ratios"
  done
  row "$title"
}

# The same commands as a script: of each architecture rustc, the device linker and ptxas, one after the other or as many
# at a time as there are processors; then the host's. Checks, packing and the audit are ours alone.
bazel
forget
bazel -s --materialize_param_files
awk -v folder="$folder" '
  /^SUBCOMMAND: # \/\/examples\/saxpy:/ {
    out = ""
    if (/Checking|Packing|Wrapping|Verifying|libsaxpy.images.lo/) next
    match($0, /saxpy:[^ ]*/)
    name = substr($0, RSTART + 6, RLENGTH - 6)
    sub(/\.(crate|link)$/, "", name)
    out = folder "/" (name == "saxpy.host" ? "host" : "device." name)
  }
  /^# / { out = "" }
  out && !/^SUBCOMMAND/ { print > out }
' "$folder/log"
[ "$(ls "$folder"/device.* | wc -l)" = 5 ] && [ -s "$folder/host" ]
for image in images.o images.offload; do cp "bazel-bin/examples/saxpy/saxpy.$image" "$folder"; done
cp bazel-bin/examples/saxpy/libsaxpy.images.lo "$folder"
for at_a_time in 1 "$(nproc)"; do
  printf 'ls %s/device.* | xargs -P %s -n 1 bash -e && bash -e %s/host\n' "$folder" "$at_a_time" "$folder" >"$folder/script.$at_a_time"
done

through_rules() { forget; ms bazel; }
# by_script AT_A_TIME
by_script() {
  forget
  cp "$folder/libsaxpy.images.lo" bazel-bin/examples/saxpy/
  ms inside bash -e "$folder/script.$1"
  [ -x bazel-bin/examples/saxpy/saxpy.host ] || { echo "the script made no program" >&2; exit 1; }
}
nothing() { ms bazel; }
enter() { ms inside true; }

echo "| what | ms | against | ratio |"
echo "| --- | --- | --- | --- |"
measure "example from nothing but tools and \`core\`, against a script of the same commands" through_rules by_script 1
measure "the same, the script's commands $(nproc) at a time" through_rules by_script "$(nproc)"
bazel
measure "nothing to do, against entering the provisioned root" nothing enter
