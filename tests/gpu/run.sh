#!/usr/bin/env bash
# run.sh FOLDER [TABLE]: runs the programs of //tests/gpu:programs, which lie in FOLDER, on this machine's
# GPU and checks what each does; writes the results as a Markdown table to TABLE.
#
#   ./bazelw build -c opt //tests/gpu:programs
#   mkdir programs && cp -L $(./bazelw cquery -c opt --output=files //tests/gpu:programs) programs/
#   strip -o programs/saxpy.stripped programs/saxpy
#   tests/gpu/run.sh programs tests/gpu/RESULTS.md
#
# For a GPU of compute capability 9.0. Exit code: 0 all as expected, 1 not, 2 wrong usage, 77 no such
# GPU here: nothing was run, and that is no pass.
set -u
[ $# -ge 1 ] && [ -x "$1/saxpy" ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
programs=$(cd "$1" && pwd)
table=${2:-}

gpu=$(nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>/dev/null | head -n1)
case $gpu in
  *", 9.0, "*) ;;
  *)
    echo "SKIPPED: NOTHING WAS RUN: wanted an NVIDIA GPU of compute capability 9.0, found: ${gpu:-no nvidia-smi}" >&2
    exit 77
    ;;
esac

cache=$(mktemp -d)
out=$(mktemp)
trap 'rm -rf "$cache" "$out"' EXIT
passed=0 failed=0
rows=()

# expect TITLE jit|nojit EXIT TEXT COMMAND...: runs with an empty driver cache; its output has TEXT in it.
# Where the driver may compile nothing, only an image that was compiled before can run.
expect() {
  local title=$1 jit=$2 code=$3 text=$4 rc verdict started ms
  shift 4
  rm -rf "${cache:?}"/*
  started=$(date +%s%N)
  if [ "$jit" = nojit ]; then
    CUDA_DISABLE_PTX_JIT=1 CUDA_CACHE_PATH=$cache timeout 60 "$@" >"$out" 2>&1
  else
    CUDA_CACHE_PATH=$cache timeout 60 "$@" >"$out" 2>&1
  fi
  rc=$?
  ms=$((($(date +%s%N) - started) / 1000000))
  if [ "$rc" = "$code" ] && grep -qF -- "$text" "$out"; then
    verdict=pass passed=$((passed + 1))
  else
    verdict=FAIL failed=$((failed + 1))
    printf -- '--- %s: wanted exit %s and "%s", got exit %s:\n' "$title" "$code" "$text" "$rc"
    cat "$out"
  fi
  rows+=("| $title | $jit | $rc | $(grep -F -- "$text" "$out" | head -n1 | cut -c1-150 | tr '|' '/') | $ms | $verdict |")
}

run=$programs/saxpy
expect "five archs" nojit 0 "from the sm_90 (cubin) image" "$run"
expect "five archs, stripped" nojit 0 "from the sm_90 (cubin) image" "$programs/saxpy.stripped"
expect "five archs, no GPU visible" nojit 0 "on the CPU instead" env CUDA_VISIBLE_DEVICES= "$run"
expect "sm_90a" nojit 0 "from the sm_90a (cubin) image" "$programs/saxpy_sm_90a"
expect "sm_100 alone" nojit 1 "no image" "$programs/saxpy_sm_100"
expect "sm_80 alone" nojit 1 "no image" "$programs/saxpy_sm_80"
expect "gfx90a alone" nojit 1 "no image" "$programs/saxpy_gfx90a"
expect "sm_90 and its PTX" nojit 0 "from the sm_90 (cubin) image" "$programs/saxpy_embed_sm_90"
expect "sm_80 and its PTX" jit 0 "from the sm_80 (ptx) image" "$programs/saxpy_embed_sm_80"
expect "PTX of sm_80 alone" jit 0 "from the sm_80 (ptx) image" "$programs/saxpy_only_sm_80"
expect "PTX of sm_80 alone" nojit 1 "saxpy: " "$programs/saxpy_only_sm_80"
expect "PTX of sm_100 alone" jit 1 "no image" "$programs/saxpy_only_sm_100"

# What our fatbin writer wrote, loaded by the driver as it is.
fatbin() {
  local title=$1 jit=$2 code=$3 text=$4 packing=$5
  shift 5
  expect "$packing fatbin: $title" "$jit" "$code" "$text" "$programs/fatbin" "$packing" "$@"
}
sm_80=cubin:sm_80:$programs/saxpy_sm_80.cubin
sm_90=cubin:sm_90:$programs/saxpy_embed_sm_90.cubin
sm_100=cubin:sm_100:$programs/saxpy_sm_100.cubin
ptx=ptx:sm_80:$programs/saxpy_only_sm_80.ptx
for packing in raw zstd; do
  fatbin "sm_90" nojit 0 "of 1: saxpy ran" $packing "$sm_90"
  fatbin "sm_80, sm_90, sm_100" nojit 0 "of 3: saxpy ran" $packing "$sm_80" "$sm_90" "$sm_100"
  fatbin "PTX first, sm_90" nojit 0 "of 2: saxpy ran" $packing "$ptx" "$sm_90"
  fatbin "PTX of sm_80" jit 0 "of 1: saxpy ran" $packing "$ptx"
  fatbin "PTX of sm_80" nojit 1 "cuModuleLoadData: error 223" $packing "$ptx"
  fatbin "sm_80, sm_100" nojit 1 "cuModuleLoadData: error 209" $packing "$sm_80" "$sm_100"
done

report() {
  echo "# Runs on a GPU"
  echo
  echo "$(date -u +%F), GPU, compute capability and driver: $gpu. \`nojit\`: the driver is told to compile nothing"
  echo "(\`CUDA_DISABLE_PTX_JIT=1\`) and starts with an empty cache, so only what the build compiled can run."
  echo
  echo "| images in the program | driver | exit code | what it said | ms, whole process | result |"
  echo "| --- | --- | --- | --- | --- | --- |"
  printf '%s\n' "${rows[@]}"
}
[ -z "$table" ] || report >"$table"
report
echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
