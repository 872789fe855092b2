#!/usr/bin/env bash
# Makes the provisioned root: Bazel, rules_rust, rustc, LLVM from Debian unstable, and a C toolchain
# that links against an older glibc, so that what is built also runs outside.
# How packages become a root: see debian.sh. What their maintainer scripts would do and is needed here is done below.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/bazelw/common.sh
source "$here/common.sh"
# shellcheck source=tools/bazelw/debian.sh
source "$here/debian.sh"

# The oldest C library that programs built here run on: that of Debian 12.
HOST_CC_SUITE=bookworm
HOST_CC=/usr/lib/host-cc-glibc-2.36
HOST_CC_PACKAGES="gcc-12 g++-12 libc6-dev libstdc++-12-dev"
# The crate_universe generator of the packaged rules_rust.
CARGO_BAZEL_VERSION=0.15.0

begin "$ROOT" 6000 \
  "Without a bazel or bazelisk on PATH that can reach the Bazel registry, bazelw provisions one from Debian's packages"

# Assumed: a JDK (Bazel's server needs the runtime alone, a fifth of the size), and the compilers that the C toolchain
# below stands for.
# shellcheck disable=SC2046  # a list of words is wanted
fetch_sid() {
  ASSUMED="default-jdk-headless default-jre-headless ca-certificates-java build-essential gcc g++ cpp libc-dev libc6-dev
    zlib1g-dev libjs-jquery node-core-js node-html5shiv" fetch sid $(sed 's/#.*//' "$here/packages.txt")
}
# shellcheck disable=SC2086
fetch_host_cc() { ASSUMED='' fetch $HOST_CC_SUITE $HOST_CC_PACKAGES; }

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
  unpack_suite sid
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
  # Whoever else uses this root has to verify servers as well.
  chmod a+r etc/ssl/certs/java.p12
  [ -e etc/bazel/bazelrc.debian ] || mv etc/bazel/bazelrc etc/bazel/bazelrc.debian
  write_bazelrc
}

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
    # Debian's Bazel writes "{}" as every lock file and finds it out of date in the next build: each would write it anew
    # and ask all that depends on a module again.
    echo "common --lockfile_mode=off"
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
