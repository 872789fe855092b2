#!/usr/bin/env bash
# Makes the root that the remote-execution service runs in: buildbox and PostgreSQL from Debian unstable, BuildGrid
# from PyPI; and in it, as /abi, the root that actions run in. How packages become a root: see debian.sh.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/remote/service/common.sh
source "$here/common.sh"
# shellcheck source=tools/bazelw/debian.sh
source "$here/../../../tools/bazelw/debian.sh"

begin "$SERVICE_ROOT" 1500 "tests/remote makes a remote-execution service from Debian's packages"

# Assumed: what only sets a Debian machine up, and fuse3, whose library is there.
# shellcheck disable=SC2046  # a list of words is wanted
fetch_sid() {
  ASSUMED="postgresql-common postgresql-client-common ssl-cert locales debconf perl fuse3 ca-certificates" \
    fetch sid $(sed 's/#.*//' "$here/packages.txt")
}

unpack_sid() { unpack_suite sid; }

install_buildgrid() {
  cd "$ROOT"
  mkdir -p dev proc sys tmp etc/ssl/certs
  inside ldconfig
  # This machine's way to the package index, where it has one of its own.
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf etc/
  [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/
  inside python3 -m pip install --no-cache-dir --no-warn-script-location --root-user-action=ignore --break-system-packages \
    --only-binary :all: --no-deps --require-hashes -r "$here/requirements.txt"
}

# A shell that needs no library, coreutils, sed and find for Bazel's own test wrapper, the C library, and libgcc_s for what
# unwinds. Whatever else an action needs, it has to bring: so a tool stays out whose libraries toolchains and programs use
# as well (libz, libcrypto, ...), and would find here where they were not declared.
make_abi() {
  local abi=$ROOT/abi lib=/usr/lib/x86_64-linux-gnu package
  rm -rf "$abi"
  mkdir -p "$abi"/usr/{bin,lib64} "$abi$lib"
  ln -s usr/bin usr/lib usr/lib64 "$abi/"
  for package in coreutils sed findutils; do
    dpkg-deb --fsys-tarfile "$work/sid/cache/archives/$package"_*.deb | tar -x -C "$abi" --no-same-owner --wildcards './usr/bin/*'
  done
  inside bash -c 'for tool in /abi/usr/bin/*; do
    ! ldd "$tool" | grep -qvE "(linux-vdso|ld-linux-x86-64|lib(c|m|acl|attr|pcre2-8|selinux))[.]so[.]" || rm "$tool"
  done'
  cp "$ROOT/usr/bin/bash-static" "$abi/usr/bin/bash"
  ln -s bash "$abi/usr/bin/sh"
  cp -L "$ROOT/usr/lib64/ld-linux-x86-64.so.2" "$abi/usr/lib64/"
  # The C library, its parts of former days too; then what the tools need.
  cp -L "$ROOT$lib"/{libc.so.6,libm.so.6,libdl.so.2,libpthread.so.0,librt.so.1,libgcc_s.so.1} "$abi$lib/"
  cp -L "$ROOT$lib"/{libacl.so.1,libattr.so.1,libpcre2-8.so.0,libselinux.so.1} "$abi$lib/"
  [ "$(inside chroot /abi /bin/sh -c 'ls /usr/lib64')" = ld-linux-x86-64.so.2 ]
}

say "provisioning a remote-execution service into $CACHE (once; half a minute)"
step fetch_sid "1/4 downloading buildbox and PostgreSQL" fetch_sid
step unpack "2/4 unpacking" unpack_sid
step buildgrid "3/4 installing BuildGrid" install_buildgrid
step abi "4/4 making the root that actions run in" make_abi
rm -rf "$work"/{sid,unpacked}
: >"$ROOT/.complete"
say "ready after $SECONDS s"
