# shellcheck shell=bash
# What bazelw, provision.sh and enter.sh share, and tests/remote/service.sh: names, places, messages.

CACHE=${RULES_OFFLOAD_CACHE:-${XDG_CACHE_HOME:-${HOME:?HOME is not set; set it, or RULES_OFFLOAD_CACHE}/.cache}/rules_offload}
# Later steps run in other folders.
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac
_bazelw_dir=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# root_of NAME FILE...: the root that is made from these files. It is named by them: another list or another recipe
# makes another root.
root_of() {
  local hash
  hash=$(cat "$_bazelw_dir/debian.sh" "${@:2}" | sha256sum)
  echo "$CACHE/$1-${hash:0:16}"
}
ROOT=$(root_of root "$_bazelw_dir"/{provision.sh,packages.txt,stub_modules.txt})

say() { printf 'bazelw: %s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# The user's own Bazel: bazelisk first, for it follows .bazelversion.
own_bazel() { command -v bazelisk || command -v bazel; }

# Can the user's own Bazel resolve this module? Asked once for each binary and MODULE.bazel; a "no"
# is not remembered, for the network may come back.
own_bazel_works() {
  local own=$1 workspace=$2 key log rc=0 why
  key=$( { readlink -f "$own"; stat -Lc '%s %Y' "$own"; cat "$workspace/MODULE.bazel"; } | sha256sum)
  key=$CACHE/own-bazel/${key:0:16}
  [ -e "$key" ] && return 0
  log=$(mktemp)
  # In the foreground, so that Ctrl-C reaches it; without the input, which is the caller's.
  (cd "$workspace" && timeout --foreground -k 5 120 "$own" mod graph --depth=1 </dev/null >/dev/null 2>"$log") || rc=$?
  why=$(grep -m1 -i error "$log" || tail -n1 "$log")
  rm -f "$log"
  case $rc in
    0)
      { mkdir -p "${key%/*}" && : >"$key"; } 2>/dev/null || true # Then it is asked again.
      return 0
      ;;
    124 | 137) why="no answer within 120 s" ;;
    8 | 130) exit "$rc" ;; # Interrupted.
  esac
  say "$own cannot resolve this module (${why:-exit code $rc}); using the provisioned Bazel"
  return 1
}

# Whether the module around this folder is rules_offload itself ("own") or one that uses it ("dependent").
module_role() {
  local dir=$PWD
  while [ -n "$dir" ] && [ ! -e "$dir/MODULE.bazel" ]; do dir=${dir%/*}; done
  if grep -qs '^ *name = "rules_offload"' "$dir/MODULE.bazel"; then echo own; else echo dependent; fi
}
