#!/usr/bin/env bash
# enter.sh ROOT COMMAND [ARG...]: runs COMMAND with ROOT as its root, every other folder of this
# machine at its own path, in the caller's working folder.
#
# A mount namespace of its own and pivot_root, not chroot: under chroot Bazel silently loses
# linux-sandbox.
set -euo pipefail
# Where Debian has unshare and pivot_root; an ordinary user's PATH may lack the latter.
PATH=$PATH:/usr/sbin:/sbin

if [ "${1:-}" != --inside ]; then
  if [ "$(id -u)" = 0 ]; then
    exec unshare --mount --propagation private -- "$0" --inside "$@"
  fi
  unshare --user --map-root-user --mount true 2>/dev/null || {
    echo "bazelw: error: entering the provisioned root needs root, or user namespaces for ordinary users" \
      "(sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0);" \
      "run as root, or put bazelisk on PATH" >&2
    exit 1
  }
  exec unshare --user --map-root-user --mount --propagation private -- "$0" --inside "$@"
fi
shift
root=$1
shift

cwd=$(pwd -P)
checkout=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mount --bind "$root" "$root"
for dir in /*; do
  case $dir in
    # These are the root's own. Everything else keeps its path, so that what Bazel writes, and the
    # links that it makes, are the same inside and outside.
    /bin | /sbin | /lib | /lib32 | /lib64 | /libx32 | /usr | /etc | /var | /boot | /lost+found) continue ;;
  esac
  [ -d "$dir" ] && [ ! -L "$dir" ] || continue
  [ -d "$root$dir" ] || mkdir -p "$root$dir"
  mount --rbind "$dir" "$root$dir"
done
for file in /etc/resolv.conf /etc/hosts /etc/hostname /etc/localtime /etc/passwd /etc/group; do
  [ -e "$file" ] || continue
  [ -e "$root$file" ] || : >"$root$file"
  mount --bind "$(readlink -f "$file")" "$root$file"
done
# The outermost module around the working folder: a sub-folder alone is none.
workspace=$cwd dir=$cwd
while [ -n "$dir" ]; do
  [ ! -e "$dir/MODULE.bazel" ] || workspace=$dir
  dir=${dir%/*}
done
for dir in "$workspace" "$cwd" "$checkout" "${HOME:-/}" "${root%/*}"; do
  case $dir in
    /usr/* | /etc/* | /var/*) mkdir -p "$root$dir" && mount --rbind "$dir" "$root$dir" ;;
  esac
done

cd "$root"
pivot_root . .
umount -l .
cd "$cwd"
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin exec "$@"
