# shellcheck shell=bash
# Makes a root of Debian packages, for provision.sh and for tests/remote/service/provision.sh, which
# source this after common.sh.
#
# Packages are downloaded by apt into private folders and unpacked in parallel; their maintainer scripts are not
# run. Nothing is installed on this machine. Each step leaves a stamp, and each package: an interrupted run goes
# on where it stopped.
_debian_dir=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# begin ROOT MIB TEXT: one at a time; ends the script where the root is complete. It takes MIB of space; TEXT says what
# it is for where this machine cannot make it.
begin() {
  ROOT=$1 work=$1.work
  local tool free_mib
  mkdir -p "$work"
  exec 9>"$work/lock"
  flock -n 9 || { say "another provisioning is under way; waiting for it"; flock 9; }
  [ ! -e "$ROOT/.complete" ] || exit 0
  for tool in apt-get dpkg-deb tar unshare pivot_root flock sha256sum xargs; do
    command -v $tool >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null ||
      die "$tool is not on this machine. $3, and needs a Debian or Ubuntu machine with apt-get, dpkg-deb, tar and util-linux"
  done
  [ "$(dpkg --print-architecture)" = amd64 ] ||
    die "only amd64 machines can be provisioned; this is $(dpkg --print-architecture). $3"
  free_mib=$(df --output=avail -BM "$work" | tail -n1 | tr -dc 0-9)
  [ "$free_mib" -ge "$2" ] || die "$CACHE has ${free_mib} MiB free, $2 are needed; set RULES_OFFLOAD_CACHE to a larger disk"
}

# start NAME FUNCTION, finish NAME TEXT: a step, in the background between the two; done once; progress every
# few seconds; the end of its log where it fails. Later runs find its stamp and pass it over.
declare -A started pids
start() {
  [ ! -e "$work/$1.done" ] || return 0
  started[$1]=$SECONDS
  # A process group of its own, so that an interruption ends all of it. It keeps the lock: where this script
  # is killed and cannot end it, the next run waits for it, and no two write to one folder.
  set -m
  "$2" >"$work/$1.log" 2>&1 &
  set +m
  pids[$1]=$!
}
trap 'for pid in "${pids[@]}"; do kill -- -"$pid" 2>/dev/null || true; done' EXIT
finish() {
  local name=$1 text=$2 ticks=0
  [ ! -e "$work/$name.done" ] || return 0
  say "$text ..."
  while kill -0 "${pids[$name]}" 2>/dev/null; do
    sleep 0.2
    ticks=$((ticks + 1))
    [ $((ticks % 50)) -ne 0 ] || say "  $((SECONDS - started[$name])) s: $(tail -n1 "$work/$name.log" | cut -c1-100)"
  done
  if ! wait "${pids[$name]}"; then
    tail -n 25 "$work/$name.log" >&2
    die "'$text' failed (whole log: $work/$name.log). Run the same command again to go on from here"
  fi
  : >"$work/$name.done"
  say "$text: $((SECONDS - started[$name])) s"
}
step() {
  start "$1" "$3"
  finish "$1" "$2"
}

# fetch SUITE PACKAGE...: these and all they depend on into $work/SUITE/cache/archives, without touching
# this machine's own apt. The signatures are checked against this machine's Debian keys. The packages named in
# $ASSUMED are taken for installed: what depends on them works without them here.
fetch() {
  local suite=$1 dir=$work/$1 mirror keyring name
  shift
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -e "$keyring" ] || { echo "no $keyring: install the package debian-archive-keyring"; return 1; }
  mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 2>/dev/null | awk '$2 == "Debian" || $1 ~ /\/debian\/?$/ {print $1; exit}')
  mirror=${RULES_OFFLOAD_DEBIAN_MIRROR:-$mirror}
  [ -n "$mirror" ] || { echo "apt-get knows no Debian mirror: run 'apt-get update', or set RULES_OFFLOAD_DEBIAN_MIRROR"; return 1; }
  local apt=(apt-get -o "Dir::Etc=$dir/etc" -o "Dir::State=$dir/state" -o "Dir::Cache=$dir/cache"
    -o "Dir::State::status=$dir/status" -o Acquire::Check-Valid-Until=false -o Acquire::Languages=none
    -o Acquire::Retries=3 -o APT::Install-Recommends=false -o APT::Architecture=amd64 -o APT::Architectures=amd64
    -o APT::Sandbox::User=root -o APT::Keep-Downloaded-Packages=true -o Debug::NoLocking=true -q)
  if [ ! -e "$dir/updated" ]; then
    mkdir -p "$dir"/etc/{preferences.d,apt.conf.d,trusted.gpg.d} "$dir"/state/lists/partial "$dir"/cache/archives/partial
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$dir/etc/sources.list"
    for name in $ASSUMED; do
      printf 'Package: %s\nStatus: install ok installed\nVersion: 99:1\nArchitecture: amd64\nMulti-Arch: foreign\nMaintainer: none\nDescription: not needed here\n\n' "$name"
    done >"$dir/status"
    "${apt[@]}" update
    : >"$dir/updated"
  fi
  # Lists that no longer fit the mirror, or are broken, must not stay.
  "${apt[@]}" --yes --download-only install "$@" || { rm -f "$dir/updated"; return 1; }
}

# unpack FOLDER DEB...: those that are not there yet, as many at a time as there are processors, large ones first,
# without what nobody reads.
unpack() {
  mkdir -p "$1" "$work/unpacked"
  INTO=$1 STAMPS=$work/unpacked
  export INTO STAMPS
  shift
  ls -S "$@" | xargs -P "$(nproc)" -n 4 bash -o pipefail -ec '
    for deb; do
      stamp=$STAMPS/${deb##*/}
      [ ! -e "$stamp" ] || continue
      dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$INTO" --keep-directory-symlink --no-same-owner \
        --exclude="./usr/share/doc/*" --exclude="./usr/share/man/*" --exclude="./usr/share/locale/*" \
        --no-wildcards-match-slash --exclude="./usr/src/rustc-*/compiler" --exclude="./usr/src/rustc-*/src"
      : >"$stamp"
      echo "${deb##*/}"
    done' unpack
}

# The merged /usr first: every later package writes through its links.
unpack_suite() {
  unpack "$ROOT" "$work/$1"/cache/archives/base-files_*.deb
  unpack "$ROOT" "$work/$1"/cache/archives/*.deb
}

# inside COMMAND...: in the root, as later runs are.
inside() { (cd "$work" && "$_debian_dir/enter.sh" "$ROOT" "$@"); }
