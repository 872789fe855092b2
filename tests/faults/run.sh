#!/usr/bin/env bash
# run.sh: builds that are cut off, and the ones after them.
#
# Bazel and the tool are killed in the middle of packing and of linking, and files may not grow as large as they have
# to; the next build completes, and what it makes is what a build makes that nobody cut off. Exit code: 0 all as
# expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$repo" || exit 1
target=//tests/faults:library
made=(bazel-bin/tests/faults/library.offload bazel-bin/tests/faults/library.o)

# Nothing of a cache, so that the tools do run.
build() { ./bazelw build --noshow_progress --disk_cache= --remote_download_outputs=all --output_groups=+offload "$@" "$target"; }
hashes() { sha256sum "${made[@]}"; }
tool() { pgrep -f "^[^ ]*/offload $1 --label=$target "; }

# cut COMMAND: kills Bazel and the tool as soon as the tool runs that command.
cut() {
  local server pids end=$((SECONDS + 120))
  server=$(./bazelw info server_pid 2>/dev/null)
  rm -f "${made[@]}"
  build >"$folder/cut" 2>&1 &
  until pids=$(tool "$1"); do
    [ "$SECONDS" -lt "$end" ] && jobs -r %+ >/dev/null || { echo "the tool was not seen"; return 1; }
  done
  # shellcheck disable=SC2086  # one or more numbers
  kill -KILL "$server" $pids
  wait %+ && { echo "the build was not cut off"; return 1; }
  ! tool "$1"
}
no_such_file() { [ ! -e "$1" ] || { ls -l "$1"; return 1; }; }
limited() { (ulimit -f 150000 && build); }
nothing_is_left() { ! find bazel-bin/tests/faults -maxdepth 1 -name '.offload-*' | grep .; }

expect "a build that nobody cuts off" build
wanted=$(hashes)
for command in pack link; do
  expect "Bazel and the tool die during $command" cut "$command"
  [ "$command" = link ] || expect "no pack is there" no_such_file "${made[0]}"
  expect "no object is there" no_such_file "${made[1]}"
  expect "the next build completes" build
  expect "with the same bytes" [ "$(hashes)" = "$wanted" ]
done

./bazelw shutdown >/dev/null 2>&1
rm -f "${made[@]}"
expect "where files may not grow, the build fails" fails_and_says "$target" limited
expect "no pack is there" no_such_file "${made[0]}"
./bazelw shutdown >/dev/null 2>&1
expect "the next build completes" build
expect "with the same bytes" [ "$(hashes)" = "$wanted" ]
expect "nothing is left of the ones before" nothing_is_left
rm -f bazel-bin/tests/faults/big.ptx "${made[@]}"
exit "$failed"
