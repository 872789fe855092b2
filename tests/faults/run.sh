#!/usr/bin/env bash
# run.sh: builds that are cut off, and the ones after them.
#
# Bazel and the tool are killed in the middle of packing and of linking, and the disk of Bazel's output base is full; the
# next build completes, and what it makes is what a build makes that nobody cut off. Exit code: 0 all as expected, 1 not.

# A small disk can be mounted without a trace in a mount namespace of one's own.
if [ "${1:-}" != --inside ]; then
  user=()
  [ "$(id -u)" = 0 ] || user=(--user --map-root-user)
  exec unshare "${user[@]}" --mount --propagation private -- "$0" --inside
fi
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$repo" || exit 1
target=//tests/faults:library
made=(bazel-bin/tests/faults/library.offload bazel-bin/tests/faults/library.o)

# Nothing of a cache, so that the tools do run; and not for ever.
build() { timeout 600 ./bazelw build --noshow_progress --disk_cache= --remote_download_outputs=all --output_groups=+offload "$@" "$target"; }
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

mount_disk() {
  mkdir "$disk" && mount -t tmpfs tmpfs "$disk" && mkdir "$disk"/{upper,work} &&
    mount -t overlay -o "lowerdir=$base,upperdir=$disk/upper,workdir=$disk/work" overlay "$base"
}
# room MEBIBYTES: as much is left on the disk.
room() { mount -o "remount,size=$(($(df --output=used -BM "$disk" | tr -dc 0-9) + $1))m" "$disk"; }
# A sandbox that failed is kept: what the action was given are links in it, and what it wrote would be a file.
build_in_kept_sandbox() { build --sandbox_debug; }
sandboxed() { find "$base/sandbox/linux-sandbox" -path '*/bin/tests/faults/*' -type "$1" | grep .; }
nothing_is_left() { sandboxed l && ! sandboxed f; }

expect "a build that nobody cuts off" build
wanted=$(hashes)

# From now on the output base lies on a small disk: what is there shows through, and what is written takes of its room.
base=$(./bazelw info output_base 2>/dev/null)
disk=$folder/disk
cleanup ./bazelw shutdown
cleanup umount "$base"
cleanup umount "$disk"
cleanup rm -f bazel-bin/tests/faults/big.ptx "${made[@]}"
# A Bazel that runs already does not see it.
./bazelw shutdown >/dev/null 2>&1
mount_disk || { echo "FAILED: a small disk is mounted"; exit 1; }

for command in pack link; do
  expect "Bazel and the tool die during $command" cut "$command"
  [ "$command" = link ] || expect "no pack is there" no_such_file "${made[0]}"
  expect "no object is there" no_such_file "${made[1]}"
  expect "the next build completes" build
  expect "with the same bytes" [ "$(hashes)" = "$wanted" ]
done

for file in "${made[@]}"; do
  rm -f "$file"
  room 20
  expect "the disk is full: the build says so of ${file##*/}" \
    fails_and_says "/${file#bazel-}: cannot write it: No space left on device" build_in_kept_sandbox
  expect "for its target" grep -q "of $target failed" "$folder/failure"
  expect "the tool leaves nothing beside it" nothing_is_left
  expect "Bazel takes nothing half-written" no_such_file "$file"
  expect "there is room" room 1000
  expect "the next build completes" build_in_kept_sandbox
  expect "with the same bytes" [ "$(hashes)" = "$wanted" ]
done
exit "$failed"
