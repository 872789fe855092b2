#!/usr/bin/env bash
# Times `offload inspect` and `offload verify` on libraries with NVIDIA code, against cuobjdump's listing of
# the same file and against sha256sum reading it once. Each round runs all of them, one after the other, so
# that they share the machine's mood; told are medians over the rounds, and their ratios.
#
#   benches/read.sh --offload PATH --cuobjdump PATH [--rounds N] LIBRARY...
#
# Wants hyperfine. Fails unless inspect is at least 10 times as fast as `cuobjdump -all -lelf -lptx`, and
# verify no slower, on every library that cuobjdump can read. Last it takes the memory that a library of
# 2 GB needs, which has to be below 200 MB (wants GNU time).
set -euo pipefail

fail() { echo "read.sh: $*" >&2; exit 1; }

rounds=7 offload= cuobjdump= libraries=()
while [ $# -gt 0 ]; do
  case "$1" in
    --offload | --cuobjdump | --rounds)
      [ $# -ge 2 ] || fail "$1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift ;;
    --*) fail "unknown argument $1" ;;
    *) libraries+=("$1") ;;
  esac
  shift
done
[ -x "$offload" ] && [ -x "$cuobjdump" ] && [ ${#libraries[@]} -gt 0 ] || fail "--offload, --cuobjdump and libraries are needed"
command -v hyperfine >/dev/null || fail "hyperfine is missing (Debian: apt install hyperfine; or: cargo install hyperfine)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ratio A B: the median of A's times by B's, round by round.
ratio() { paste "$work/$1" "$work/$2" | awk '{ print $1 / $2 }' | median; }
median() { sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# time_all LIBRARY: milliseconds of each command, a line a round, into $work/NAME.
time_all() {
  local library=$1 round name
  local names=(cuobjdump inspect verify sha256sum hashed) commands=(
    "$cuobjdump -all -lelf -lptx $library"
    "$offload inspect $library"
    "$offload verify --ptx=forbid $library"
    "sha256sum $library"
    "$offload inspect --sha256 $library"
  )
  for name in "${names[@]}"; do : >"$work/$name"; done
  for ((round = 0; round < rounds; round++)); do
    # cuobjdump fails on some valid files.
    hyperfine -N --ignore-failure --warmup 1 --runs 3 --export-csv "$work/csv" "${commands[@]}" >/dev/null 2>&1
    for ((name = 0; name < ${#names[@]}; name++)); do
      # command,mean,stddev,median,user,system,min,max: counted from the end, for commands have commas.
      sed -n "$((name + 2))p" "$work/csv" | awk -F, '{ print $(NF - 4) * 1000 }' >>"$work/${names[$name]}"
    done
  done
}

bad=0
echo "| library | bytes | cuobjdump, ms | inspect, ms | times faster | verify, ms | times faster | sha256sum, ms | inspect --sha256, ms | of sha256sum | bytes unpacked |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for library in "${libraries[@]}"; do
  time_all "$library"
  c=$(median <"$work/cuobjdump") i=$(median <"$work/inspect") v=$(median <"$work/verify")
  s=$(median <"$work/sha256sum") h=$(median <"$work/hashed")
  unpacked=$("$offload" inspect --format=json "$library" | awk -F: '/"unpacked_size"/ { sum += $2 } END { print sum }')
  reads=yes
  "$cuobjdump" -all -lelf -lptx "$library" >/dev/null 2>&1 || reads=no
  awk -v c="$c" -v i="$i" -v v="$v" -v s="$s" -v h="$h" -v ci="$(ratio cuobjdump inspect)" -v cv="$(ratio cuobjdump verify)" \
    -v hs="$(ratio hashed sha256sum)" -v n="${library##*/}" -v b="$(stat -Lc %s "$library")" -v u="$unpacked" -v r="$reads" 'BEGIN {
    printf "| %s | %d | %.1f%s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %d |\n", n, b, c, (r == "no" ? " (fails)" : ""), i, ci, v, cv, s, h, hs, u
    exit (r == "yes" && (ci < 10 || cv < 1))
  }' || bad=$((bad + 1))
done

# A library of 2 GB: the first one, and 2 GB that no section claims behind it.
large=$work/large.so
cp -L "${libraries[0]}" "$large" && chmod u+w "$large" && truncate -s 2G "$large"
echo
for command in "inspect" "inspect --sha256" "verify --ptx=forbid"; do
  # shellcheck disable=SC2086
  /usr/bin/time -f %M -o "$work/memory" "$offload" $command "$large" >/dev/null 2>&1 || true
  echo "\`offload $command\` of 2 GB: $(($(tail -n1 "$work/memory") / 1024)) MB"
  [ "$(tail -n1 "$work/memory")" -lt 204800 ] || bad=$((bad + 1))
done
[ "$bad" = 0 ] || fail "$bad too slow or too large"
