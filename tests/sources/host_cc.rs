//! The C toolchain of the provisioned root as an archive that can lie anywhere: for tests that build where there is
//! none.

use std::fs;
use std::path::Path;

use crate::archives::{copy, copy_tree, pack, sha256, tool};
use crate::Result;

const TRIPLE: &str = "x86_64-linux-gnu";

/// What of it is run, below `usr/lib/gcc/TRIPLE/12`.
const PROGRAMS: [&str; 5] = [
    "cc1",
    "cc1plus",
    "collect2",
    "liblto_plugin.so",
    "lto-wrapper",
];

/// What a linker script of the C library names with a path from the root.
const NAMED: [&str; 4] = [
    "libc.so.6",
    "libm.so.6",
    "libmvec.so.1",
    "ld-linux-x86-64.so.2",
];

/// Writes the archive, if this machine has the toolchain; gives what a MODULE.bazel says of it.
pub fn make(folder: &Path, tree: &Path) -> Result<String> {
    let from = Path::new("/usr/lib/host-cc-glibc-2.36");
    if !from.exists() {
        return Ok(String::new());
    }
    let to = tree.join("host_cc");
    let (libraries, gcc) = (to.join("run"), format!("usr/lib/gcc/{TRIPLE}/12"));
    for (name, file) in [
        ("gcc", from.join("usr/bin/gcc-12")),
        ("g++", from.join("usr/bin/g++-12")),
        ("cpp", from.join("usr/bin/cpp-12")),
        ("gcov", from.join("usr/bin/gcov-12")),
        ("ar", "/usr/bin/ar".into()),
        ("nm", "/usr/bin/nm".into()),
        ("objcopy", "/usr/bin/objcopy".into()),
        ("objdump", "/usr/bin/objdump".into()),
        ("strip", "/usr/bin/strip".into()),
    ] {
        let file = fs::canonicalize(file)?;
        tool(
            &file,
            &to.join("usr/bin").join(name),
            &libraries,
            "$ORIGIN/../../run",
        )?;
    }
    // Where gcc looks for them by itself.
    for (name, file) in [("as", "/usr/bin/as"), ("ld", "/usr/bin/ld.bfd")] {
        let at = to.join("usr").join(TRIPLE).join("bin").join(name);
        tool(
            &fs::canonicalize(file)?,
            &at,
            &libraries,
            "$ORIGIN/../../../run",
        )?;
    }
    for entry in fs::read_dir(from.join(&gcc))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .ok_or("no name")?
            .to_string_lossy()
            .into_owned();
        let at = to.join(&gcc).join(&name);
        match path.is_dir() {
            true => copy_tree(&path, &at)?,
            false if PROGRAMS.contains(&name.as_str()) => {
                tool(
                    &fs::canonicalize(&path)?,
                    &at,
                    &libraries,
                    "$ORIGIN/../../../../../run",
                )?;
            }
            false if name.starts_with("crt") || name.starts_with("libgcc") => copy(&path, &at)?,
            false if name.starts_with("libstdc++") => copy(&path, &at)?,
            // Sanitizers, other languages.
            false => {}
        }
    }
    copy_tree(&from.join("usr/include"), &to.join("usr/include"))?;
    copy_tree(
        &from.join("usr/lib").join(TRIPLE),
        &to.join("usr/lib").join(TRIPLE),
    )?;
    for name in NAMED {
        copy(
            &from.join("usr/lib").join(TRIPLE).join(name),
            &to.join("lib").join(TRIPLE).join(name),
        )?;
    }
    let loader = "ld-linux-x86-64.so.2";
    copy(
        &from.join("usr/lib").join(TRIPLE).join(loader),
        &to.join("lib64").join(loader),
    )?;

    let archive = folder.join("host_cc.tar");
    pack(tree, "host_cc", &archive, "-cf")?;
    fs::remove_dir_all(&to)?;
    Ok(format!(
        "http_archive(\n    name = \"host_cc\",\n    build_file = \"//:host_cc.BUILD\",\n    sha256 = \"{}\",\n    strip_prefix = \"host_cc\",\n    urls = [\"{{URLS}}/host_cc.tar\"],\n)\n",
        sha256(&archive)?
    ))
}
