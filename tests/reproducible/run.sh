#!/usr/bin/env bash
# run.sh: the same bytes wherever, whenever and by whomever it is built.
#
# The examples are built in this checkout, and from a copy of it: in another folder, deeper, with other times on its
# files; by another user, who has another HOME, time zone, locale and umask; by actions whose clock is years ahead; with
# other tools on PATH and CUDA and ROCm said to be where they are not; no cache of results takes part. Every output is
# compared, images, objects and programs, with and without debug information. Only root can be another user: for
# whoever else runs it, that part is left out, and said to be. Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export RULES_OFFLOAD_CACHE=${RULES_OFFLOAD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rules_offload}

module=$folder/some/where/much/deeper/than/before
probe=$module/tests/reproducible
junk=$folder/junk
other_user=54321
other_year=2041
targets=(//examples/saxpy //tests/analysis:embed //tests/crates:build_script)
groups=--output_groups=+images,+offload

here() { (cd "$repo" && ./bazelw "$@"); }

# elsewhere COMMAND...: in the copy. bazelw itself needs a PATH that works.
elsewhere() {
  (
    cd "$module" && umask 077 || exit 1
    env HOME="$junk/home" USER=somebody LOGNAME=somebody TZ=Pacific/Kiritimati LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 \
      CUDA_HOME="$junk" CUDA_PATH="$junk" ROCM_PATH="$junk" HIP_PATH="$junk" PATH="$PATH:$junk/bin" \
      "${by_another[@]}" ./bazelw --output_base="$junk/base" "$@"
  )
}
by_another=()
# bazelw's cache lies where nobody else may look: it is mounted where they may.
if [ "$(id -u)" = 0 ]; then
  # shellcheck disable=SC2016  # that shell's own arguments
  by_another=(unshare --mount --propagation private bash -c
    'mount --bind "$0" "$1" && export RULES_OFFLOAD_CACHE=$1 && shift && exec "$@"' "$RULES_OFFLOAD_CACHE" "$junk/cache"
    setpriv --reuid="$other_user" --regid="$other_user" --clear-groups)
fi

copy() {
  mkdir -p "$module" "$junk"/{bin,home,cache} "$RULES_OFFLOAD_CACHE"
  (cd "$repo" && git ls-files -z | tar -c --null -T - | tar -x -C "$module")
  find "$module" -exec touch -h -d '2001-02-03 04:05:06' {} +
  local tool
  for tool in rustc cargo ptxas nvcc hipcc llc opt ld.lld gcc cc ld ar python3; do
    printf '#!/bin/sh\necho "%s of PATH was called" >&2\nexit 1\n' "$tool" >"$junk/bin/$tool"
  done
  chmod +x "$junk/bin"/*
  # What an action sees.
  cat >"$probe/BUILD.bazel" <<'BUILD'
genrule(
    name = "etc",
    outs = ["etc.tar"],
    cmd = "tar -c -C /etc . >$@ 2>/dev/null || true",
)

genrule(
    name = "seen",
    outs = ["seen.txt"],
    cmd = "echo user $$(id -u), year $$(date +%Y) >$@",
)
BUILD
  # Downloads are known by their hashes.
  here build --nobuild --noshow_progress "$groups" "${targets[@]}" || return 1
  cp -r "$(here info repository_cache 2>/dev/null)" "$junk/downloads" || return 1
  # In the sandbox, whose user is called nobody there: no action may run outside.
  printf '%s\n' "common --noshow_progress --repository_cache=$junk/downloads" \
    'build --disk_cache= --spawn_strategy=linux-sandbox --genrule_strategy=linux-sandbox --sandbox_fake_username' \
    >"$module/user.bazelrc"
  chmod 755 "$folder"
  [ -z "${by_another[*]}" ] || chown -R "$other_user:$other_user" "$folder"
}

# An /etc for the sandbox that says, to every program that an action starts and whatever its environment, what time it
# is. The library is made for an older C library than any that it meets.
other_clock() {
  (
    # shellcheck source=../../tools/bazelw/common.sh
    source "$repo/tools/bazelw/common.sh"
    # shellcheck source=../../tools/bazelw/debian.sh
    source "$repo/tools/bazelw/debian.sh"
    work=$folder/clock ASSUMED=libc6
    fetch bookworm libfaketime && unpack "$folder/clock/root" "$work"/bookworm/cache/archives/*.deb
  ) || return 1
  elsewhere build //tests/reproducible:etc || return 1
  mkdir "$folder/etc" && tar -x -f "$module/bazel-bin/tests/reproducible/etc.tar" -C "$folder/etc" || return 1
  cp "$folder"/clock/root/usr/lib/*/faketime/libfaketimeMT.so.1 "$folder/etc/" || return 1
  echo /etc/libfaketimeMT.so.1 >"$folder/etc/ld.so.preload"
  echo "@$other_year-05-06 07:08:09" >"$folder/etc/faketimerc"
  chmod -R a+rX "$folder/etc"
  echo "build --sandbox_add_mount_pair=$folder/etc:/etc" >>"$module/user.bazelrc"
}

seen() {
  elsewhere build //tests/reproducible:seen || return 1
  cat "$module/bazel-bin/tests/reproducible/seen.txt"
  [ "$(<"$module/bazel-bin/tests/reproducible/seen.txt")" = "user 65534, year $other_year" ]
}
owner() { stat -L -c %u "$module/bazel-bin/tests/reproducible/seen.txt"; }

# sections ELF: the name, type, offset and size of each.
sections() {
  here run --noshow_progress --ui_event_filters=-info @offload_system//:bin/llvm-readelf -- -SW "$1" 2>/dev/null |
    sed -nE 's/^ *\[ *[0-9]+\] +(\S+) +(\S+) +[0-9a-f]{16} ([0-9a-f]+) ([0-9a-f]+) .*/\1 \2 0x\3 0x\4/p'
}

# Says where two files first differ: the byte, and of ELF the section, by LLVM's account. The byte alone would be in the
# header wherever a section has another size.
difference() {
  local at kind name type from size name2 type2 from2 size2
  at=$(cmp "$1" "$2" 2>&1 | sed -nE 's/.*byte ([0-9]+).*/\1/p')
  case $(head -c 8 "$1" | tr -d '\0') in
    $'\x7fELF'*) kind=ELF ;;
    '!<arch>'*) kind=archive ;;
    PK*) kind=zip ;;
    *) kind="no ELF, archive or zip" ;;
  esac
  echo "$1 and $2 differ first at byte $at ($kind)"
  [ "$kind" = ELF ] || return 0
  while read -r name type from size name2 type2 from2 size2; do
    [ "$name $type $size" = "$name2 $type2 $size2" ] &&
      { [ "$type" = NOBITS ] || cmp -s -n "$((size))" -i "$((from)):$((from2))" "$1" "$2"; } && continue
    echo "the first section that differs: $name"
    return
  done < <(paste -d ' ' <(sections "$1") <(sections "$2"))
  echo "no section differs: the headers do, or what lies between"
}

# told FILE OFFSET TEXT: of a copy with another byte there, the difference says TEXT.
told() {
  local byte
  byte=$(od -An -tu1 -j "$(($2))" -N 1 "$1")
  cp "$1" "$folder/flipped" && chmod u+w "$folder/flipped" || return 1
  # shellcheck disable=SC2059  # an escape sequence
  printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$folder/flipped" bs=1 seek="$(($2))" conv=notrunc status=none
  difference "$1" "$folder/flipped" | tee "$folder/told"
  grep -qxF -- "$3" "$folder/told"
}

# same PATH: below the two output folders.
same() {
  local one=$repo/$1 two=$module/$1
  [ -e "$one" ] && [ -e "$two" ] || { ls -l "$one" "$two"; return 1; }
  cmp -s "$one" "$two" || { difference "$one" "$two"; return 1; }
}

expect "there is a copy elsewhere" copy
cleanup elsewhere shutdown
expect "there is another clock" other_clock
expect "actions elsewhere see another user, and that clock" seen
if [ -n "${by_another[*]}" ]; then
  expect "another user builds elsewhere" [ "$(owner)" = "$other_user" ]
else
  echo "LEFT OUT: another user builds elsewhere. Only root can become another user: run this as root"
fi

for mode in fastbuild dbg; do
  expect "-c $mode builds here" here build --noshow_progress --remote_download_outputs=all -c "$mode" "$groups" "${targets[@]}"
  expect "-c $mode builds elsewhere" elsewhere build -c "$mode" "$groups" "${targets[@]}"
  # Of each target, what it makes and what it is made of.
  made=$(here cquery --noshow_progress -c "$mode" --output=files "$groups" \
    "set(${targets[*]}) union kind('rust_binary|_device_images|device_link|offload_library', deps(set(${targets[*]}), 4))" 2>/dev/null |
    grep -e '^bazel-out/.*/bin/\(examples\|tests\)/' | sort -u)
  expect "-c $mode has outputs to compare" [ "$(wc -l <<<"$made")" -gt 15 ]
  for file in $made; do
    expect "-c $mode: ${file#bazel-out/} is the same" same "$file"
  done
done

# What is said of a difference is right.
program=$repo/$(grep -m1 '/saxpy\.host$' <<<"$made")
text=$(sections "$program" | sed -n 's/^\.text PROGBITS \(\S*\) .*/\1/p')
expect "a byte of code that differs is told by its section" told "$program" "$((text + 99))" "the first section that differs: .text"
pack=$repo/$(grep -m1 '\.offload$' <<<"$made")
expect "and one of no ELF by its place" told "$pack" 99 "$pack and $folder/flipped differ first at byte 100 (no ELF, archive or zip)"
exit "$failed"
