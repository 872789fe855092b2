#!/usr/bin/env bash
# Fuzzes the readers of GPU image formats with libFuzzer.
#
#   fuzz/run.sh MINUTES [TARGET...]     all targets, if none is named
#
# MINUTES is for the whole run: each target gets its share, as many at once as there are cores (or
# JOBS=N). Inputs that add coverage are kept in fuzz/corpus, findings in fuzz/artifacts, what the
# targets print in fuzz/logs. The last line counts the targets; the exit code is 1 if any failed.
#
# Needed: Cargo with a stable Rust, and a C++ compiler (`c++`, or $CXX), with which Cargo builds the
# crate libfuzzer-sys. `cargo fuzz` is not needed; who has it can say `cargo fuzz run -s none TARGET`.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
usage() {
  echo "usage: fuzz/run.sh MINUTES [TARGET...]" >&2
  echo "targets: $(targets | tr '\n' ' ')" >&2
  exit 2
}
targets() { (cd fuzz_targets && ls ./*.rs | sed 's|^\./||; s|\.rs$||'); }
missing() {
  echo "fuzz/run.sh: no $1 found. $2" >&2
  exit 2
}

minutes=${1:-}
[[ $minutes =~ ^[1-9][0-9]{0,4}$ ]] || usage
shift
if [ $# -eq 0 ]; then
  mapfile -t all < <(targets)
  set -- "${all[@]}"
fi
for target; do
  [ -e "fuzz_targets/$target.rs" ] || { echo "fuzz/run.sh: there is no target '$target'" >&2; usage; }
done
command -v cargo >/dev/null || missing cargo "Get it from your distribution (apt-get install cargo) or with rustup."
command -v "${CXX:-c++}" >/dev/null || missing "C++ compiler '${CXX:-c++}'" \
  "Install one (apt-get install g++) or name yours: CXX=/path/to/c++."

jobs=${JOBS:-$(nproc)}
[[ $jobs =~ ^[1-9][0-9]{0,3}$ ]] || { echo "fuzz/run.sh: JOBS='$jobs' is no number of processes" >&2; exit 2; }
[ "$jobs" -le $# ] || jobs=$#
seconds=$((minutes * 60 * jobs / $#))
[ "$seconds" -ge 1 ] || seconds=1
host=$(rustc -vV | sed -n 's/^host: //p')
build=${CARGO_TARGET_DIR:-target}

# Coverage for libFuzzer: what `cargo fuzz --sanitizer none` passes. All of it is stable. A sanitizer
# would not be; it looks for faults of unsafe code, of which there is the memory map's and some crates'.
export CARGO_ENCODED_RUSTFLAGS
flags=(
  --cfg fuzzing
  -Cpasses=sancov-module
  -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares
  -Ccodegen-units=1
)
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")
# With --target the flags are for the targets alone, not for build scripts.
cargo build --quiet --release --target "$host" --bins
CARGO_ENCODED_RUSTFLAGS='' cargo run --quiet --example seeds -- corpus/seeds

mkdir -p logs
rm -f logs/*

one() {
  local target=$1 found=artifacts/$1/
  mkdir -p "corpus/$target" "$found"
  touch "logs/$target.start"
  "$build/$host/release/$target" "corpus/$target" corpus/seeds -artifact_prefix="$found" -dict=formats.dict \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=16384 -print_final_stats=1 \
    >"logs/$target.log" 2>&1 && rm "logs/$target.start"
}

# One line for a target that is done: a program that ended well took its mark away.
report() {
  local target=$1 log=logs/$1.log runs coverage
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
  coverage=$(sed -n 's/^#[0-9]*\t.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  printf '%-22s %10s runs, coverage %5s, ' "$target" "${runs:-0}" "${coverage:-0}"
  if [ ! -e "logs/$target.start" ]; then
    echo "no findings"
    return
  fi
  echo "FAILED: see fuzz/$log"
  find "artifacts/$target" -type f -newer "logs/$target.start" -printf "    fuzz/%p\n"
}

trap 'kill $(jobs -rp) 2>/dev/null || true' EXIT
for target; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  one "$target" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || true; done

failed=0
for target; do
  report "$target"
  [ ! -e "logs/$target.start" ] || failed=$((failed + 1))
done
echo "$(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
