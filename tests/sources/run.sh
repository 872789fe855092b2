#!/usr/bin/env bash
# run.sh: toolchains that are downloaded.
#
# The machine's Rust, LLVM and ptxas are put into the layout of their makers' release archives and served on the
# loopback interface; a module that names these archives builds an example with them. Its images are those that the
# machine's own tools make. So it is with the archives in a folder, and with nothing but Bazel's cache of downloads.
# Exit code: 0 all as expected, 1 not.
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

# Actions whose inputs are the same to the byte are not run again.
build() { bazel "$1" build --disk_cache="$folder/results" --remote_download_outputs=all "@rules_offload//$example"; }
same_images() {
  local file
  for file in saxpy.images.{offload,o}; do
    cmp "$repo/bazel-bin/$example/$file" "$module/bazel-bin/external/rules_offload~/$example/$file" || return 1
  done
}
sha256() { sha256sum "$1" | cut -d' ' -f1; }
requested() { [ -e "$folder/mirror/requests" ] && grep -qF "$1" "$folder/mirror/requests"; }

tools=(@offload_rust//:rustc_lib @offload_rust//:rust_src @offload_ptxas//:assembler)
example=examples/saxpy

start_mirror
use "$url"
expect "a module without device code builds" bazel example build //:other
expect "and nothing was downloaded for it" [ ! -e "$folder/mirror/requests" ]
expect "an example builds with downloaded tools" build example
for archive in rustc- rust-std- rust-src- llvm-tools- redistrib_ cuda_nvcc-; do
  expect "$archive* was downloaded" requested "$archive"
done
expect "the machine's tools build it" bash -c "cd '$repo' && ./bazelw build --noshow_progress --remote_download_outputs=all //$example"
expect "its images are the same" same_images

# refused FILE GOT: the build stops at it.
wrong=$(printf '0%.0s' $(seq 64))
refused() {
  fails_and_says "Checksum was $2 but wanted $wrong" bazel example build --nobuild "${tools[@]}" && grep -q "/$1" "$folder/failure"
}
of_rustc=$(sed -n 's/.*"rustc-.*": "\(.*\)".*/\1/p' "$folder/mirror/tags")
sed -i "s/$of_rustc/$wrong/" "$module/MODULE.bazel"
expect "a wrong hash of an archive names it, and what was got" refused "dist/rustc-.*\.tar" "$of_rustc"
index=$(echo "$folder"/mirror/redist/redistrib_*.json)
of_index=$(sha256 "$index") of_nvcc=$(sed -E 's/.*"sha256": "(\w*)".*/\1/' "$index")
use "$url"
sed -i "s/$of_index/$wrong/" "$module/MODULE.bazel"
expect "and one of NVIDIA's index" refused "redist/${index##*/}" "$of_index"
sed -i "s/$of_nvcc/$wrong/" "$index"
use "$url"
sed -i "s/$of_index/$(sha256 "$index")/" "$module/MODULE.bazel"
expect "and one that stands in the index" refused "redist/cuda_nvcc/.*\.tar\.gz" "$of_nvcc"
sed -i "s/$wrong/$of_nvcc/" "$index"
use "$url"
sed -i '/"rust-src-/d' "$module/MODULE.bazel"
# shellcheck disable=SC2016  # the backquotes are in the text
expect "a missing hash is asked for" fails_and_says '`sha256s` has no hash of rust-src-' bazel example build --nobuild "${tools[@]}"

# The repository cache knows archives by their hashes, wherever they came from.
expect "the server stops" stop_mirror
find "$folder/mirror" -type f -exec sha256sum {} + | while read -r hash _; do rm -rf "$folder/cache/content_addressable/sha256/$hash"; done
use "$url"
expect "nothing has the archives any more" fails_and_says "Connection refused" bazel files build --nobuild "${tools[@]}"
use "file://$folder/mirror"
expect "archives may lie in a folder: the example builds" build files
expect "as from the server" same_images
use "$url"
expect "without a network the repository cache is enough" bazel cached build --nobuild --repository_disable_download "${tools[@]}"
expect "and the example builds" build cached
expect "as from the server, too" same_images
exit "$failed"
