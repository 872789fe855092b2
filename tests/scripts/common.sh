# shellcheck shell=bash
# Sourced by tests that need a Bazel around them and so are no Bazel tests: tests/*/run.sh.
#
# They print `PASSED: title` and `FAILED: title`, work in $folder, which goes away with every Bazel server that was
# started there, and end with `exit "$failed"`.
set -uo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
module=$folder/module
failed=0
mirror=

# cleanup COMMAND...: runs it at the end, too.
cleanups=()
cleanup() { cleanups+=("$(printf '%q ' "$@")"); }
finish() {
  local step base
  for step in "${cleanups[@]}"; do eval "$step" >/dev/null 2>&1; done
  stop_mirror
  for base in "$folder"/base.*; do
    [ ! -d "$base" ] || (cd "$module" && "$repo/bazelw" --output_base="$base" shutdown) >/dev/null 2>&1
  done
  chmod -R u+w "$folder" 2>/dev/null
  rm -rf "$folder"
}
trap finish EXIT

# expect TITLE COMMAND...
expect() {
  local title=$1
  shift
  if "$@" >"$folder/said" 2>&1; then
    echo "PASSED: $title"
  else
    echo "FAILED: $title"
    tail -n 30 "$folder/said"
    failed=1
  fi
}

# fails_and_says TEXT COMMAND...: what it said stays in $folder/failure.
fails_and_says() {
  local text=$1
  shift
  if "$@" >"$folder/failure" 2>&1; then
    echo "wanted a failure that says: $text"
    return 1
  fi
  cat "$folder/failure"
  grep -qF -- "$text" "$folder/failure"
}

# bazel BASE COMMAND ARGUMENT...: in $module, with an output base of that name. What is downloaded is kept in $folder
# alone: no cache of this machine may help. Bounded: Bazel waits for a worker for ever.
bazel() {
  local base=$folder/base.$1 command=$2
  shift 2
  (cd "$module" && timeout 1200 "$repo/bazelw" --output_base="$base" "$command" --noshow_progress --repository_cache="$folder/cache" "${mounts[@]}" "$@")
}
# Bazel's sandbox has a /tmp of its own, in which a checkout that lies there would be missing.
mounts=()
case $repo in /tmp/*) mounts=(--sandbox_add_mount_pair=/tmp) ;; esac

# start_mirror: serves archives of this machine's tools; sets $url. See tests/sources/mirror.rs.
start_mirror() {
  (cd "$repo" && exec ./bazelw run --noshow_progress //tests/sources:mirror -- "$folder/mirror" 4800) >"$folder/mirror.log" 2>&1 &
  mirror=$!
  for _ in $(seq 600); do
    [ ! -e "$folder/mirror/port" ] || break
    kill -0 "$mirror" 2>/dev/null || break
    sleep 1
  done
  [ -e "$folder/mirror/port" ] || { cat "$folder/mirror.log"; echo "FAILED: the mirror starts"; exit 1; }
  url=http://127.0.0.1:$(<"$folder/mirror/port")
}

stop_mirror() {
  [ -n "$mirror" ] || return 0
  kill "$mirror" 2>/dev/null
  wait "$mirror" 2>/dev/null
  mirror=
}

# module_head URLS: a MODULE.bazel that uses this checkout, with tools from there.
module_head() {
  echo 'module(name = "used")'
  echo 'bazel_dep(name = "platforms", version = "0.0.10")'
  echo 'bazel_dep(name = "rules_cc", version = "0.0.11")'
  echo 'bazel_dep(name = "rules_rust", version = "0.54.1")'
  echo 'bazel_dep(name = "rules_offload", version = "0.1.0")'
  echo "local_path_override(module_name = \"rules_offload\", path = \"$repo\")"
  echo 'offload = use_extension("@rules_offload//toolchains:extensions.bzl", "offload")'
  sed "s|{URLS}|$1|" "$folder/mirror/tags"
  echo 'use_repo(offload, "offload_ptxas", "offload_rust")'
}
