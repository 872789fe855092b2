#!/usr/bin/env bash
# run.sh: toolchains that are downloaded. Needs a Bazel around it, so it is no Bazel test.
#
# The machine's Rust, LLVM and ptxas are put into the layout of their makers' release archives and served on the
# loopback interface; a module that names these archives builds an example with them. Its images are those that the
# machine's own tools make. Exit code: 0 all as expected, 1 not.
set -uo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
server=
failed=0

finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null
  for base in "$folder"/base.*; do
    [ ! -d "$base" ] || (cd "$folder/module" && "$repo/bazelw" --output_base="$base" shutdown) >/dev/null 2>&1
  done
  chmod -R u+w "$folder" 2>/dev/null
  rm -rf "$folder"
}
trap finish EXIT

expect() {
  local title=$1
  shift
  if "$@" >"$folder/said" 2>&1; then
    echo "PASSED: $title"
  else
    echo "FAILED: $title"
    tail -n 20 "$folder/said"
    failed=1
  fi
}

# module URLS: a module whose tools come from there.
module() {
  mkdir -p "$folder/module"
  {
    echo 'bazel_dep(name = "rules_cc", version = "0.0.11")'
    echo 'bazel_dep(name = "rules_offload", version = "0.1.0")'
    echo "local_path_override(module_name = \"rules_offload\", path = \"$repo\")"
    echo 'offload = use_extension("@rules_offload//toolchains:extensions.bzl", "offload")'
    sed "s|{URLS}|$1|" "$folder/mirror/tags"
    echo 'use_repo(offload, "offload_ptxas", "offload_rust")'
  } >"$folder/module/MODULE.bazel"
  echo 'build --host_compilation_mode=fastbuild' >"$folder/module/.bazelrc"
  printf '%s\n' 'load("@rules_cc//cc:defs.bzl", "cc_library")' 'cc_library(name = "other", srcs = ["other.c"])' \
    >"$folder/module/BUILD.bazel"
  echo 'int other;' >"$folder/module/other.c"
}

# bazel BASE ARGUMENT...
bazel() {
  local base=$folder/base.$1 command=$2
  shift 2
  (cd "$folder/module" &&
    "$repo/bazelw" --output_base="$base" "$command" --noshow_progress --repository_cache="$folder/cache" "$@")
}

fails_and_says() {
  local text=$1
  shift
  if "$@" >"$folder/failure" 2>&1; then
    echo "wanted a failure that says: $text"
    return 1
  fi
  cat "$folder/failure"
  grep -qF "$text" "$folder/failure"
}

requested() { [ -e "$folder/mirror/requests" ] && grep -qF "$1" "$folder/mirror/requests"; }

tools=(@offload_rust//:rustc_lib @offload_rust//:rust_src @offload_ptxas//:assembler)
example=examples/saxpy

(cd "$repo" && exec ./bazelw run --noshow_progress //tests/sources:mirror -- "$folder/mirror" 2400) >"$folder/server" 2>&1 &
server=$!
for _ in $(seq 600); do
  [ ! -e "$folder/mirror/port" ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 1
done
[ -e "$folder/mirror/port" ] || { cat "$folder/server"; echo "FAILED: the mirror starts"; exit 1; }
url=http://127.0.0.1:$(<"$folder/mirror/port")

module "$url"
expect "a module without device code builds" bazel example build //:other
expect "and nothing was downloaded for it" [ ! -e "$folder/mirror/requests" ]
expect "an example builds with downloaded tools" bazel example build "@rules_offload//$example"
for archive in rustc- rust-std- rust-src- llvm-tools- redistrib_ cuda_nvcc-; do
  expect "$archive* was downloaded" requested "$archive"
done
expect "the machine's tools build it" bash -c "cd '$repo' && ./bazelw build --noshow_progress //$example"
for file in saxpy.images.offload saxpy.images.o; do
  expect "$file is the same" cmp "$repo/bazel-bin/$example/$file" "$folder/module/bazel-bin/external/rules_offload~/$example/$file"
done

wrong=$(printf '0%.0s' $(seq 64))
right=$(sed -n 's/.*"rustc-.*": "\(.*\)".*/\1/p' "$folder/mirror/tags")
sed -i "s/$right/$wrong/" "$folder/module/MODULE.bazel"
expect "a wrong hash names what was got" fails_and_says "Checksum was $right but wanted $wrong" bazel example build --nobuild "${tools[@]}"
expect "and the file" grep -q "/dist/rustc-.*\.tar" "$folder/failure"
module "$url"
sed -i '/"rust-src-/d' "$folder/module/MODULE.bazel"
expect "a missing hash is asked for" fails_and_says '`sha256s` has no hash of rust-src-' bazel example build --nobuild "${tools[@]}"

module "file://$folder/mirror"
expect "archives may lie in a folder" bazel files build --nobuild "${tools[@]}"

kill "$server"
wait "$server" 2>/dev/null
server=
module "$url"
expect "the server is gone" fails_and_says "" bash -c "exec 3<>/dev/tcp/127.0.0.1/${url##*:}"
expect "without a network the repository cache is enough" bazel cached build --nobuild "${tools[@]}"
exit "$failed"
