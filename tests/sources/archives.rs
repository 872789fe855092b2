//! The machine's tools in the layout of their makers' archives: each finds its libraries by a path from where it
//! lies itself, so that nothing but the C library is asked of a machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use support::{path, paths};

use crate::{host_cc, Result};

const HOST: &str = "x86_64-unknown-linux-gnu";
const NVPTX: &str = "nvptx64-nvidia-cuda";

/// What every machine has: the C library and the compiler's own.
const OF_THE_MACHINE: [&str; 7] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libgcc_s.so",
];

/// Rust's archives, and NVIDIA's.
pub fn make(folder: &Path) -> Result<()> {
    let tree = folder.join("tree");
    let _ = fs::remove_dir_all(&tree);
    fs::create_dir_all(folder.join("dist"))?;
    let tags = [rust(folder, &tree)?, redist(folder, &tree)?].concat();
    fs::write(folder.join("tags"), tags)?;
    fs::write(folder.join("host_cc"), host_cc::make(folder, &tree)?)?;
    fs::remove_dir_all(&tree)?;
    Ok(())
}

fn rust(folder: &Path, tree: &Path) -> Result<String> {
    let rustc = fs::canonicalize(path("RUSTC"))?;
    let version = said(Command::new(&rustc).arg("-V"))?;
    let version = version.split(' ').nth(1).ok_or("no version")?.to_owned();
    let sysroot = PathBuf::from(said(Command::new(&rustc).arg("--print=sysroot"))?.trim());
    let rustlib = format!("lib/rustlib/{HOST}");

    let of_rustc = tree.join(format!("rustc-{version}-{HOST}/rustc"));
    let libraries = of_rustc.join("lib");
    tool(
        &rustc,
        &of_rustc.join("bin/rustc"),
        &libraries,
        "$ORIGIN/../lib",
    )?;
    let rustdoc = sysroot.join("bin/rustdoc");
    let rustdoc = if rustdoc.exists() { &rustdoc } else { &rustc };
    tool(
        rustdoc,
        &of_rustc.join("bin/rustdoc"),
        &libraries,
        "$ORIGIN/../lib",
    )?;
    let lld = fs::canonicalize(path("LLD"))?;
    let to = of_rustc.join(&rustlib).join("bin/rust-lld");
    tool(&lld, &to, &libraries, "$ORIGIN/../../..")?;

    let of_llvm = tree.join(format!("llvm-tools-{version}-{HOST}/llvm-tools-preview"));
    for (name, variable) in [("llc", "LLC"), ("opt", "OPT"), ("llvm-link", "LLVM_LINK")] {
        let from = fs::canonicalize(path(variable))?;
        let to = of_llvm.join(&rustlib).join("bin").join(name);
        tool(&from, &to, &libraries, "$ORIGIN/../../..")?;
    }

    let std = format!("rust-std-{version}-{HOST}/rust-std-{HOST}/{rustlib}/lib");
    copy_all(
        files_in(&sysroot.join(&rustlib).join("lib"))?,
        &tree.join(std),
    )?;
    let std = format!("rust-std-{version}-{NVPTX}/rust-std-{NVPTX}/lib/rustlib/{NVPTX}/lib");
    copy_all(paths("NVPTX_STD"), &tree.join(std))?;
    let source = tree.join(format!(
        "rust-src-{version}/rust-src/lib/rustlib/src/rust/library"
    ));
    for part in [
        "alloc",
        "core",
        "compiler-builtins",
        "portable-simd",
        "stdarch",
    ] {
        let from = sysroot.join("lib/rustlib/src/rust/library").join(part);
        copy_tree(&from, &source.join(part))?;
    }

    let mut hashes = Vec::new();
    for name in names(tree)? {
        let archive = folder.join("dist").join(format!("{name}.tar"));
        pack(tree, &name, &archive, "-cf")?;
        hashes.push(format!("        \"{name}\": \"{}\",\n", sha256(&archive)?));
        fs::remove_dir_all(tree.join(name))?;
    }
    Ok(format!(
        "offload.rust(\n    sha256s = {{\n{}    }},\n    urls = [\"{{URLS}}/dist/{{}}.tar\"],\n    version = \"{version}\",\n)\n",
        hashes.concat()
    ))
}

/// An index and one archive.
fn redist(folder: &Path, tree: &Path) -> Result<String> {
    let (release, version) = ("13.5.0", "13.5.37");
    let name = format!("cuda_nvcc-linux-x86_64-{version}-archive");
    let bin = tree.join(&name).join("bin");
    fs::create_dir_all(&bin)?;
    fs::copy(fs::canonicalize(path("PTXAS"))?, bin.join("ptxas"))?;
    let relative = format!("cuda_nvcc/linux-x86_64/{name}.tar.gz");
    let archive = folder.join("redist").join(&relative);
    fs::create_dir_all(archive.parent().ok_or("no folder")?)?;
    pack(tree, &name, &archive, "-czf")?;
    let index = format!(
        "{{\"release_label\": \"{release}\", \"cuda_nvcc\": {{\"name\": \"CUDA NVCC\", \"version\": \"{version}\", \
         \"linux-x86_64\": {{\"relative_path\": \"{relative}\", \"sha256\": \"{}\"}}}}}}\n",
        sha256(&archive)?
    );
    let at = folder.join(format!("redist/redistrib_{release}.json"));
    fs::write(&at, index)?;
    Ok(format!(
        "offload.ptxas_redist(\n    release = \"{release}\",\n    sha256 = \"{}\",\n    urls = [\"{{URLS}}/redist/{{}}\"],\n)\n",
        sha256(&at)?
    ))
}

/// Copies a program, and into another folder the libraries that it loads, and theirs.
pub fn tool(from: &Path, to: &Path, libraries: &Path, run_path: &str) -> Result<()> {
    copy(from, to)?;
    set_run_path(to, run_path)?;
    // Several names may lead to one file, and a library is looked for by the name that is asked for.
    let mut loaded = BTreeMap::new();
    for line in said(Command::new("ldd").arg(from))?.lines() {
        if let Some((name, rest)) = line.trim().split_once(" => ") {
            let file = rest.split(' ').next().unwrap_or_default();
            loaded.insert(name.to_owned(), fs::canonicalize(file)?);
        }
    }
    for (name, file) in loaded {
        let to = libraries.join(&name);
        if !OF_THE_MACHINE.iter().any(|known| name.starts_with(known)) && !to.exists() {
            copy(&file, &to)?;
            set_run_path(&to, "$ORIGIN")?;
        }
    }
    Ok(())
}

fn set_run_path(file: &Path, run_path: &str) -> Result<()> {
    said(
        Command::new(fs::canonicalize(path("PATCHELF"))?)
            .arg("--set-rpath")
            .arg(run_path)
            .arg(file),
    )
    .map(drop)
}

pub fn pack(tree: &Path, name: &str, archive: &Path, how: &str) -> Result<()> {
    said(
        Command::new("tar")
            .arg(how)
            .arg(archive)
            .arg("-C")
            .arg(tree)
            .arg(name),
    )
    .map(drop)
}

pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().ok_or("no folder")?)?;
    fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    let mut mode = fs::metadata(to)?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(to, mode)?;
    Ok(())
}

fn copy_all(files: Vec<PathBuf>, to: &Path) -> Result<()> {
    for file in files {
        copy(&file, &to.join(file.file_name().ok_or("no name")?))?;
    }
    Ok(())
}

pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().ok_or("no name")?);
        match path.is_dir() {
            true => copy_tree(&path, &to)?,
            false => copy(&path, &to)?,
        }
    }
    Ok(())
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        found.push(entry?.path());
    }
    found.retain(|path| path.is_file());
    Ok(found)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        found.push(entry?.file_name().into_string().map_err(|_| "a name")?);
    }
    found.sort();
    Ok(found)
}

pub fn sha256(file: &Path) -> Result<String> {
    let digest = Sha256::digest(fs::read(file)?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a command prints; it has to succeed.
fn said(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}: {err}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
