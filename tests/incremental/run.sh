#!/usr/bin/env bash
# run.sh: what an edit builds again.
#
# A program carries the images of two crates. After an edit of one kernel that crate is compiled and what is made of it
# is made again, as far as anything changes; nothing of the other one. After an edit of the host's code, the program
# alone. Exactly which actions run is compared, by kind and target. Exit code: 0 all as expected, 1 not.
# shellcheck source=../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$repo" || exit 1
# A package of this checkout that lies elsewhere: its sources may be edited.
package=$folder/edited
mkdir "$package"
cleanup rm -rf bazel-bin/edited
cat >"$package/BUILD.bazel" <<'END'
load("//rules:defs.bzl", "device_cdylib", "offload_binary", "offload_library")

[
    device_cdylib(
        name = name,
        srcs = [name + ".rs"],
        archs = [
            "sm_80",
            "gfx90a",
        ],
        edition = "2021",
        deps = ["//runtime/device"],
    )
    for name in [
        "first",
        "second",
    ]
]

offload_library(
    name = "images",
    images = [
        ":first",
        ":second",
    ],
)

offload_binary(
    name = "program",
    srcs = ["program.rs"],
    images = ":images",
)
END
for name in first second; do
  cat >"$package/$name.rs" <<END
#![no_std]
#![feature(abi_gpu_kernel)]
use offload_device as _;

/// # Safety
/// \`out\` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn $name(out: *mut u32) {
    *out = 1;
}
END
done
echo 'fn main() { println!("1"); }' >"$package/program.rs"

# Nothing of a cache, so that the tools do run.
build() { ./bazelw build --noshow_progress -s --disk_cache= --remote_download_outputs=all --package_path="%workspace%:$folder" "${mounts[@]}" //edited:program; }
# ran ACTION...: after the edits, exactly these.
ran() {
  build >"$folder/build" 2>&1 || { cat "$folder/build"; return 1; }
  diff <(printf "%s\n" "$@" | grep . | sort) \
    <(sed -nE 's|^SUBCOMMAND: # (//[^ ]*) .*, mnemonic: ([A-Za-z]+)\]$|\2 \1|p' "$folder/build" | sort)
}

lock() { stat -c %y MODULE.bazel.lock 2>/dev/null || echo none; }

links=(Rustc\ //edited:first.{sm_80,gfx90a}.crate DeviceLink\ //edited:first.{sm_80,gfx90a}.link)
images=(DeviceAssemble\ //edited:first.sm_80.link OffloadCheck\ //edited:first.{sm_80,gfx90a}.link)
library=({OffloadPack,OffloadLink,CppArchive}\ //edited:images)
program=(Rustc\ //edited:program.host OffloadVerify\ //edited:program)

expect "it builds" build
before=$(lock)
expect "nothing is built again where nothing was edited" ran
# Written anew, it would have Bazel ask all that depends on a module again, in each build.
expect "nor is the lock file of the modules" [ "$(lock)" = "$before" ]
sed -i 's/= 1;/= 2;/' "$package/first.rs"
expect "a kernel's code: its crate, its images, the library and the program" ran "${links[@]}" "${images[@]}" "${library[@]}" "${program[@]}"
echo '// Of no consequence.' >>"$package/first.rs"
expect "a comment: as far as the device links, which make the same" ran "${links[@]}"
sed -i 's/1/2/' "$package/program.rs"
expect "the host's code: the program alone" ran "${program[@]}"
exit "$failed"
