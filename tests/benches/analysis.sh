#!/usr/bin/env bash
# analysis.sh [SIZE...]: how long Bazel's analysis takes of that many `device_cdylib`, each for four architectures,
# beside four times as many `rust_library`, in turn.
#
# Each is loaded and analysed three times, by a server that was just started and has analysed one target of the kind:
# tools, toolchains and what all of them depend on are fetched and analysed, and no more. Prints a table for README.md: of
# each size the medians, and the ratio round by round. Needs a machine on which nobody else works; the seconds of the
# processors are the server's alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds=3
[ $# -gt 0 ] || set -- 100 1000 2500 5000
folder=$(mktemp -d)
trap './bazelw shutdown >/dev/null 2>&1; rm -rf "$folder"' EXIT

# The packages lie outside the checkout, and Bazel is told so; one has ten crates for GPUs, or forty for the host.
package() {
  mkdir -p "$folder/$1"
  echo >"$folder/$1/lib.rs"
  cat >"$folder/$1/BUILD.bazel"
}
bazel() { ./bazelw "$1" --noshow_progress --package_path="%workspace%:$folder" "${@:2}" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }; }
targets_for() {
  cat <<END
load("@rules_rust//rust:defs.bzl", "rust_library")
load("//rules:defs.bzl", "device_cdylib")
[device_cdylib(
    name = "crate_%d" % i,
    srcs = ["lib.rs"],
    archs = ["sm_80", "sm_90", "gfx90a", "gfx1100"],
    edition = "2021",
    deps = ["//measured:common"],
) for i in range($1)]
[rust_library(
    name = "crate_%d" % i,
    srcs = ["lib.rs"],
    edition = "2021",
    deps = ["//measured:common"],
) for i in range($2)]
END
}
package measured <<'END'
load("@rules_rust//rust:defs.bzl", "rust_library")
rust_library(
    name = "common",
    srcs = ["lib.rs"],
    edition = "2021",
    visibility = ["//visibility:public"],
)
END
targets_for 1 0 | package measured/one/ours
targets_for 0 1 | package measured/one/theirs

# cpu PID: milliseconds that it has taken of processors.
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$1/stat"; }
heap() { bazel info used-heap-size-after-gc | tr -dc 0-9; }

# analyse SIZE KIND: appends to a file milliseconds, those of the server's processors, configured targets, and MB of heap
# that came to be in use.
analyse() {
  local server began cpu_began heap_began took cpu_took
  ./bazelw shutdown
  bazel build --nobuild "//measured/one/$2/..."
  server=$(bazel info server_pid) heap_began=$(heap)
  cpu_began=$(cpu "$server") began=$(date +%s%N)
  bazel build --nobuild "//measured/$1/$2/..."
  took=$((($(date +%s%N) - began) / 1000000)) cpu_took=$(($(cpu "$server") - cpu_began))
  sed -nE "s/.* ([0-9]+) targets configured.*/$took $cpu_took \1 /p" "$folder/log" | tr -d '\n' >>"$folder/$2"
  echo "$(($(heap) - heap_began))" >>"$folder/$2"
}

median() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }
column() { awk -v c="$2" '{ print $c }' "$folder/$1"; }
# compared COLUMN SCALE DIGITS: the medians of a column of the two files, and that of the ratios.
compared() {
  local ours theirs ratio
  ours=$(column ours "$1" | median) theirs=$(column theirs "$1" | median)
  ratio=$(paste <(column ours "$1") <(column theirs "$1") | awk '{ print $1 / ($2 > 0 ? $2 : 1) }' | median)
  awk -v o="$ours" -v t="$theirs" -v r="$ratio" -v s="$2" -v d="$3" 'BEGIN { printf "%.*f : %.*f = %.2f", d, o / s, d, t / s, r }'
}

echo "| device_cdylib : rust_library | wall, s | processors, s | ms of them for each device_cdylib | configured targets | heap, MB |"
echo "| --- | --- | --- | --- | --- | --- |"
for size in "$@"; do
  for part in $(seq $((size / 10))); do
    targets_for 10 0 | package "measured/$size/ours/$part"
    targets_for 0 40 | package "measured/$size/theirs/$part"
  done
  rm -f "$folder"/{ours,theirs}
  for _ in $(seq "$rounds"); do
    analyse "$size" ours
    analyse "$size" theirs
  done
  each=$(column ours 2 | median | awk -v n="$size" '{ printf "%.1f", $1 / n }')
  echo "| $size : $((size * 4)) | $(compared 1 1000 1) | $(compared 2 1000 1) | $each | $(compared 3 1 0) | $(compared 4 1 0) |"
done
