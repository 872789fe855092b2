#!/usr/bin/env bash
# Makes the provisioned root: Bazel, rules_rust, rustc, LLVM from Debian unstable, and a C toolchain
# that links against an older glibc, so that what is built also runs outside.
#
# Packages are downloaded by apt into private folders and unpacked in parallel; their maintainer
# scripts are not run, what they would do and is needed here is done below. Nothing is installed on
# this machine. Each step leaves a stamp, and each package: an interrupted run goes on where it stopped.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/bazelw/common.sh
source "$here/common.sh"

# The oldest C library that programs built here run on: that of Debian 12.
HOST_CC_SUITE=bookworm
HOST_CC=/usr/lib/host-cc-glibc-2.36
HOST_CC_PACKAGES="gcc-12 g++-12 libc6-dev libstdc++-12-dev"
# The crate_universe generator of the packaged rules_rust.
CARGO_BAZEL_VERSION=0.15.0

work=$ROOT.work
mkdir -p "$work"
exec 9>"$work/lock"
flock -n 9 || { say "another provisioning is under way; waiting for it"; flock 9; }
[ -e "$ROOT/.complete" ] && exit 0

for tool in apt-get dpkg-deb tar unshare pivot_root flock sha256sum xargs; do
  command -v $tool >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null ||
    die "$tool is not on this machine. Without a bazel or bazelisk that can reach the Bazel registry, bazelw" \
      "provisions one from Debian's packages, and needs a Debian or Ubuntu machine with apt-get, dpkg-deb, tar and util-linux"
done
[ "$(dpkg --print-architecture)" = amd64 ] || die "only amd64 machines can be provisioned; this is $(dpkg --print-architecture). Put bazelisk on PATH"
free_mib=$(df --output=avail -BM "$work" | tail -n1 | tr -dc 0-9)
[ "$free_mib" -ge 6000 ] || die "$CACHE has ${free_mib} MiB free, 6000 are needed; set RULES_OFFLOAD_CACHE to a larger disk"

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
# this machine's own apt. The signatures are checked against this machine's Debian keys.
fetch() {
  local suite=$1 dir=$work/$1 mirror keyring
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
    # Taken for installed: a JDK (Bazel's server needs the runtime alone, a fifth of the size), and the
    # compilers that the C toolchain below stands for.
    : >"$dir/status"
    if [ "$suite" = sid ]; then
      for name in default-jdk-headless default-jre-headless ca-certificates-java build-essential gcc g++ cpp libc-dev \
        libc6-dev zlib1g-dev libjs-jquery node-core-js node-html5shiv; do
        printf 'Package: %s\nStatus: install ok installed\nVersion: 99:1\nArchitecture: amd64\nMulti-Arch: foreign\nMaintainer: none\nDescription: not needed here\n\n' "$name"
      done >"$dir/status"
    fi
    "${apt[@]}" update
    : >"$dir/updated"
  fi
  # Lists that no longer fit the mirror, or are broken, must not stay.
  "${apt[@]}" --yes --download-only install "$@" || { rm -f "$dir/updated"; return 1; }
}

# shellcheck disable=SC2046  # a list of words is wanted
fetch_sid() { fetch sid $(sed 's/#.*//' "$here/packages.txt"); }
# shellcheck disable=SC2086
fetch_host_cc() { fetch $HOST_CC_SUITE $HOST_CC_PACKAGES; }

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

unpack_sid() {
  # The merged /usr first: every later package writes through its links.
  unpack "$ROOT" "$work"/sid/cache/archives/base-files_*.deb
  unpack "$ROOT" "$work"/sid/cache/archives/*.deb
}

unpack_host_cc() {
  local dir
  for dir in bin lib lib64 sbin; do
    mkdir -p "$ROOT$HOST_CC/usr/$dir"
    ln -sfn "usr/$dir" "$ROOT$HOST_CC/$dir"
  done
  (
    cd "$work/$HOST_CC_SUITE/cache/archives"
    unpack "$ROOT$HOST_CC" {gcc,g++,cpp}-12_*.deb libgcc-12-dev_*.deb libstdc++-12-dev_*.deb libc6-dev_*.deb libc6_*.deb \
      linux-libc-dev_*.deb libgcc-s1_*.deb libstdc++6_*.deb libcrypt-dev_*.deb libcrypt1_*.deb libasan8_*.deb libubsan1_*.deb
  )
  # An absolute link would lead out of the sysroot, to the newer library.
  find "$ROOT$HOST_CC" -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$ROOT$HOST_CC$(readlink "$link")")" "$link"
  done
}

unpack_both() {
  unpack_sid
  unpack_host_cc
}

# What maintainers' scripts would do and is needed here.
configure() {
  cd "$ROOT"
  mkdir -p dev proc sys tmp var/tmp
  chmod 1777 tmp var/tmp
  local tool bundle=etc/ssl/certs/ca-certificates.crt
  # A C toolchain whose headers and libraries are the older ones.
  for tool in gcc g++ cpp; do
    printf '#!/bin/sh\nexec %s/usr/bin/%s-12 --sysroot=%s "$@"\n' "$HOST_CC" "$tool" "$HOST_CC" >usr/bin/$tool
    chmod +x usr/bin/$tool
  done
  ln -sf gcc usr/bin/cc
  ln -sf g++ usr/bin/c++
  ln -sf "../lib/jvm/java-25-openjdk-amd64/bin/java" usr/bin/java
  # Certificates: this machine's, with whatever its owner added, else Mozilla's as packaged.
  mkdir -p etc/ssl/certs
  if [ -s "/$bundle" ]; then cp "/$bundle" $bundle; else cat usr/share/ca-certificates/mozilla/*.crt >$bundle; fi
  inside ldconfig
  inside openssl pkcs12 -export -nokeys -jdktrust anyExtendedKeyUsage -in /$bundle -out /etc/ssl/certs/java.p12 -passout pass:changeit
  [ -e etc/bazel/bazelrc.debian ] || mv etc/bazel/bazelrc etc/bazel/bazelrc.debian
  write_bazelrc
}

# inside COMMAND...: in the root, as later runs are.
inside() { (cd "$work" && "$here/enter.sh" "$ROOT" "$@"); }

write_bazelrc() {
  local modules=$ROOT/usr/share/rules_offload/modules host_tools=$ROOT/usr/share/rules_offload/rust_host_tools name
  mkdir -p "$host_tools/bin"
  ln -sf /usr/bin/cargo /usr/bin/rustc "$host_tools/bin/"
  : >"$host_tools/WORKSPACE"
  echo 'exports_files(glob(["bin/**"]))' >"$host_tools/BUILD.bazel"
  {
    echo "# Written by tools/bazelw/provision.sh: what makes Debian's Bazel and modules stand for the registry's."
    # Debian's own lines, less a deprecated flag and one that keeps every sandbox on disk.
    grep -vE 'try-import|host_javabase|sandbox_debug' etc/bazel/bazelrc.debian
    echo "startup --server_javabase=/usr/lib/jvm/java-25-openjdk-amd64"
    echo "startup --host_jvm_args=-Djavax.net.ssl.trustStore=/etc/ssl/certs/java.p12 --host_jvm_args=-Djavax.net.ssl.trustStorePassword=changeit"
    echo "common --override_module=rules_rust=/usr/share/bazel/rules/rust"
    sed 's/#.*//' "$here/stub_modules.txt" | while read -r name; do
      [ -n "$name" ] || continue
      mkdir -p "$modules/$name"
      echo "module(name = \"$name\")" >"$modules/$name/MODULE.bazel"
      : >"$modules/$name/BUILD.bazel"
      echo "common --override_module=$name=/usr/share/rules_offload/modules/$name"
    done
    echo "common --override_repository=rules_rust~~rust_host_tools~rust_host_tools=/usr/share/rules_offload/rust_host_tools"
    echo "common --repo_env=CARGO_BAZEL_GENERATOR_URL=file:///usr/bin/cargo-bazel"
    # Its cargo home has the registry's index under the name that this generator looks for (see cargo_bazel).
    echo "common --repo_env=CARGO_BAZEL_ISOLATED=false --repo_env=CARGO_HOME=/usr/share/rules_offload/cargo"
    echo "common --repo_env=CARGO_HTTP_CAINFO=/etc/ssl/certs/ca-certificates.crt --repo_env=PIP_CERT=/etc/ssl/certs/ca-certificates.crt"
    # Bazel 7 would still add modules of its own choosing, from the network, for WORKSPACE's sake.
    echo "common --enable_workspace=false"
    # A machine on which sandboxing does not work must say so, not fall back in silence.
    echo "common --spawn_strategy=linux-sandbox --genrule_strategy=linux-sandbox"
  } >"$ROOT/etc/bazel/bazelrc"
  # The host toolchain of Debian's rustc, where a build with a registry downloads rules_rust's own. The
  # repository's name depends on whether rules_offload is the module that is built or a dependency of it.
  local repository toolchains
  for repository in own:@offload_system dependent:@@rules_offload~~offload~offload_system; do
    toolchains=${repository#*:}//:host_rust_toolchain
    echo "common --extra_toolchains=$toolchains,${toolchains}_fmt" >"$ROOT/usr/share/rules_offload/${repository%%:*}.bazelrc"
  done
}

cargo_bazel() {
  local cargo_home=/usr/share/rules_offload/cargo index
  # Unoptimised: built in a third of the time, and the seconds it takes to run do not show.
  inside env CARGO_HOME=$cargo_home CARGO_TARGET_DIR="$work/cargo-bazel" CARGO_HTTP_CAINFO=/etc/ssl/certs/ca-certificates.crt \
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=true \
    cargo install cargo-bazel --version $CARGO_BAZEL_VERSION --locked --root /usr --no-track
  # It was written for a cargo that named the index's folder with another hash.
  for index in "$ROOT$cargo_home"/registry/index/*-1949cf8c6b5b557f; do
    ln -sfn "${index##*/}" "${index%-*}-6f17d22bba15001f"
  done
}

check_sandbox() {
  local probe=$work/probe
  rm -rf "$probe" && mkdir -p "$probe"
  : >"$probe/MODULE.bazel"
  inside /usr/share/bazel/linux-sandbox -w "$probe" -N -- /bin/sh -c "echo ok >'$probe/out'"
  grep -qx ok "$probe/out"
}

say "no Bazel of this machine can be used here: provisioning one into $CACHE (once; 3 to 4 minutes)"
start fetch_host_cc fetch_host_cc
step fetch_sid "1/5 downloading Bazel, Rust and LLVM" fetch_sid
finish fetch_host_cc "1/5 downloading a C compiler"
step unpack "2/5 unpacking" unpack_both
step configure "3/5 configuring" configure
step check_sandbox "4/5 checking that Bazel's sandbox works" check_sandbox
step cargo_bazel "5/5 building the crate_universe generator" cargo_bazel
rm -rf "$work"/{sid,$HOST_CC_SUITE,unpacked,cargo-bazel,probe}
: >"$ROOT/.complete"
say "ready after $SECONDS s"
