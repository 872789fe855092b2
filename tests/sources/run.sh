#!/usr/bin/env bash
# run.sh: toolchains that are downloaded.
#
# The machine's Rust, LLVM and ptxas are put into the layout of their makers' release archives and served on the
# loopback interface; a module that names these archives builds an example with them. Its images are those that the
# machine's own tools make. Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

# use URLS: a module whose tools come from there.
use() {
  mkdir -p "$module"
  module_head "$1" >"$module/MODULE.bazel"
  echo 'build --host_compilation_mode=fastbuild' >"$module/.bazelrc"
  printf '%s\n' 'load("@rules_cc//cc:defs.bzl", "cc_library")' 'cc_library(name = "other", srcs = ["other.c"])' >"$module/BUILD.bazel"
  echo 'int other;' >"$module/other.c"
}

requested() { [ -e "$folder/mirror/requests" ] && grep -qF "$1" "$folder/mirror/requests"; }

tools=(@offload_rust//:rustc_lib @offload_rust//:rust_src @offload_ptxas//:assembler)
example=examples/saxpy

start_mirror
use "$url"
expect "a module without device code builds" bazel example build //:other
expect "and nothing was downloaded for it" [ ! -e "$folder/mirror/requests" ]
expect "an example builds with downloaded tools" bazel example build "@rules_offload//$example"
for archive in rustc- rust-std- rust-src- llvm-tools- redistrib_ cuda_nvcc-; do
  expect "$archive* was downloaded" requested "$archive"
done
expect "the machine's tools build it" bash -c "cd '$repo' && ./bazelw build --noshow_progress //$example"
for file in saxpy.images.offload saxpy.images.o; do
  expect "$file is the same" cmp "$repo/bazel-bin/$example/$file" "$module/bazel-bin/external/rules_offload~/$example/$file"
done

wrong=$(printf '0%.0s' $(seq 64))
right=$(sed -n 's/.*"rustc-.*": "\(.*\)".*/\1/p' "$folder/mirror/tags")
sed -i "s/$right/$wrong/" "$module/MODULE.bazel"
expect "a wrong hash names what was got" fails_and_says "Checksum was $right but wanted $wrong" bazel example build --nobuild "${tools[@]}"
expect "and the file" grep -q "/dist/rustc-.*\.tar" "$folder/failure"
use "$url"
sed -i '/"rust-src-/d' "$module/MODULE.bazel"
# shellcheck disable=SC2016  # the backquotes are in the text
expect "a missing hash is asked for" fails_and_says '`sha256s` has no hash of rust-src-' bazel example build --nobuild "${tools[@]}"

use "file://$folder/mirror"
expect "archives may lie in a folder" bazel files build --nobuild "${tools[@]}"

stop_mirror
use "$url"
expect "the server is gone" fails_and_says "" bash -c "exec 3<>/dev/tcp/127.0.0.1/${url##*:}"
expect "without a network the repository cache is enough" bazel cached build --nobuild "${tools[@]}"
exit "$failed"
