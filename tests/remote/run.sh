#!/usr/bin/env bash
# run.sh: everything on remote workers that have nothing installed.
#
# A module (tests/remote/module) has all its tools out of archives, pinned, its C toolchain included. It is built and
# tested by a remote-execution service on the loopback interface, whose workers have a shell, coreutils and the C
# library; then again from an empty output base, and by this machine. Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
service=$repo/tests/remote/service.sh

start_mirror
cp -r "$repo/tests/remote/module" "$module"
{
  module_head "$url"
  echo 'http_archive = use_repo_rule("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")'
  sed "s|{URLS}|$url|" "$folder/mirror/host_cc"
  echo 'register_toolchains("@host_cc//:toolchain", "@offload_rust//:host_rust_toolchain")'
} >"$module/MODULE.bazel"
printf '%s\n' 'build --host_compilation_mode=fastbuild' 'build --incompatible_strict_action_env' \
  'build --extra_toolchains=@offload_rust//:host_rust_toolchain' >"$module/.bazelrc"

cleanup "$service" stop "$folder/service"
"$service" start "$folder/service" || { echo "FAILED: the service starts"; exit 1; }
cat "$folder/service/bazelrc" >>"$module/.bazelrc"
# Outputs are compared below.
echo 'build:remote --remote_download_outputs=all' >>"$module/.bazelrc"

# processes KINDS BASE COMMAND ARGUMENT...: Bazel counts actions of these kinds alone; those that are its own, links and
# the like, are called internal.
processes() {
  local kinds=$1
  shift
  bazel "$@" >"$folder/build" 2>&1 || { cat "$folder/build"; return 1; }
  local counted
  counted=$(grep -E ' process(es)?: ' "$folder/build") || return 1
  echo "$counted"
  grep -qE "[0-9]+ ($kinds)[,.]" <<<"$counted" || return 1
  ! grep -oE '[0-9]+ [a-z -]+' <<<"$counted" | grep -vE "^[0-9]+ (process|processes|internal|$kinds)$"
}
count() { sed -nE "s/.* process(es)?: (.*, )?([0-9]+) $1[,.].*/\\3/p" "$folder/build"; }
tested() { grep -cE '^//.* PASSED in ' "$folder/build"; }

expect "all tests pass, every action on a worker" processes "remote" one test --config=remote --output_groups=+offload //...
cat "$folder/said"
ran=$(count remote)
expect "they are four" [ "$(tested)" = 4 ]
example=external/rules_offload~/examples/saxpy/saxpy
made=(library.{o,offload} program "$example"{,.images.o,.images.offload})
mkdir "$folder/remote"
come_back() (cd "$module/bazel-bin" && cp -L --parents -t "$folder/remote" "${made[@]}")
expect "programs and images come back" come_back
expect "among their actions are those of the tools" [ "${ran:-0}" -gt 100 ]
expect "an empty output base has all from the cache" processes "remote cache hit" two test --config=remote --output_groups=+offload //...
cat "$folder/said"
expect "as many as were run" [ "$(count 'remote cache hit')" = "$ran" ]

# A program of the host in another mode; of the device, the same images.
mapped=(--experimental_output_paths=strip --remote_download_outputs=all)
expect "with paths that are mapped, it builds" bazel one build --config=remote "${mapped[@]}" //:library
expect "and in another mode of the host the images and their pack are there already" \
  processes "remote cache hit" one build --config=remote -c opt "${mapped[@]}" //:library

# A worker dies, and then the server, while a crate is linked for a GPU. Two kernels take turns, so that each time all of
# it is made anew.
adds() { sed -i "s/+= [12];/+= $1;/" "$module/kernels.rs"; }
pack() { bazel one build --config=remote --noremote_accept_cached --output_groups=+offload //:library; }
packed() { sha256sum <"$module/bazel-bin/library.offload"; }
# meanwhile COMMAND...: runs it as soon as a worker links; the build goes on as $packing.
meanwhile() {
  local end=$((SECONDS + 120))
  pack >"$folder/build" 2>&1 &
  packing=$!
  until pgrep -f -- '--crate-name=kernels_image' >/dev/null; do
    { [ "$SECONDS" -lt "$end" ] && kill -0 "$packing"; } || { cat "$folder/build"; return 1; }
  done
  "$@"
}
first=$(packed)
adds 2
expect "another kernel is packed" pack
second=$(packed)
expect "to another pack" [ "$first" != "$second" ]
adds 1
expect "a worker dies while it links for a GPU" meanwhile "$service" kill-worker "$folder/service"
expect "the build waits for another" kill -0 "$packing"
"$service" start-worker "$folder/service"
expect "which takes over" wait "$packing"
expect "with the same bytes" [ "$(packed)" = "$first" ]
adds 2
expect "the server starts anew while a worker links" meanwhile "$service" restart-server "$folder/service"
wait "$packing" 2>/dev/null
expect "this build completes or the next" pack
expect "with the same bytes" [ "$(packed)" = "$second" ]
adds 1

# Bazel's hermetic sandbox with the root of the workers, and nothing else.
abi=$(source "$repo/tests/remote/service/common.sh" && echo "$SERVICE_ROOT/abi/usr")
bare=(--experimental_use_hermetic_linux_sandbox --sandbox_add_mount_pair=/proc --sandbox_add_mount_pair=/dev)
for place in bin:/bin bin:/usr/bin lib:/lib lib64:/lib64; do bare+=("--sandbox_add_mount_pair=$abi/$place"); done
expect "this machine builds it too, and the example, in a sandbox as bare as that" processes "linux-sandbox" \
  local build "${bare[@]}" --output_groups=+offload //:library //:program "@rules_offload//examples/saxpy"
cat "$folder/said"
for file in "${made[@]}"; do
  expect "${file##*/} is the same" cmp "$folder/remote/$file" "$module/bazel-bin/$file"
done
exit "$failed"
