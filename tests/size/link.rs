//! `link REPORT BYTES OFFLOAD READELF STRIP OBJDUMP PROGRAM CUBIN,ARCH… [-- COMMAND…]…`: packs images of so many
//! bytes together, wraps them in an object, and links that with a program, once by each command; then
//! runs the program, and has the images listed of what is stripped of all else. What each step says is written down, and nothing else is kept.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, process};

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let mut parts = args.split(|arg| arg == "--");
    let [report, bytes, offload, readelf, strip, objdump, program, cubins @ ..] =
        parts.next().unwrap()
    else {
        panic!("{args:?}");
    };
    let folder = Path::new(report).with_extension("work");
    fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name);
    let said = &mut String::new();

    let (packed, object) = (file("images.offload"), file("images.o"));
    let mut pack = Command::new(offload);
    pack.args(["pack", "--policy=forbid", &to("--output=", &packed)]);
    let each = bytes.parse::<u64>().unwrap() / cubins.len() as u64;
    let mut images = Vec::new();
    for cubin in cubins {
        let (from, arch) = cubin.split_once(',').unwrap();
        let image = file(arch);
        enlarge(from, &image, each);
        pack.arg(to(&format!("--image=kind=cubin,arch={arch},file="), &image));
        images.push(image);
    }
    step(said, "pack", &mut pack);
    // The disk does not have to take everything at a time.
    images
        .iter()
        .for_each(|image| fs::remove_file(image).unwrap());
    let mut link = Command::new(offload);
    link.args([
        "link",
        "--label=//x:y",
        &to("--input=", &packed),
        &to("--output=", &object),
    ]);
    step(said, "link", &mut link);
    fs::remove_file(packed).unwrap();
    for command in parts {
        let linked = file("program");
        let mut link = Command::new(&command[0]);
        link.args([
            program.as_ref(),
            object.as_os_str(),
            "-o".as_ref(),
            linked.as_ref(),
        ]);
        step(said, "host", link.args(&command[1..]));
        let list = [OsStr::new("--sections"), "--wide".as_ref(), linked.as_ref()];
        step(said, "sections", Command::new(readelf).args(list));
        step(said, "run", &mut Command::new(&linked));
        step(said, "strip", Command::new(strip).arg(&linked));
        let list = [OsStr::new("--offloading"), linked.as_ref()];
        step(said, "objdump", Command::new(objdump).args(list));
        let inspect = [OsStr::new("inspect"), linked.as_ref()];
        step(said, "inspect", Command::new(offload).args(inspect));
        fs::remove_file(linked).unwrap();
    }
    fs::remove_dir_all(folder).unwrap();
    fs::write(report, said).unwrap();
}

fn to(flag: &str, path: &Path) -> String {
    format!("{flag}{}", path.display())
}

/// An image as large as that, most of it a hole, with a mark at its end.
fn enlarge(from: &str, image: &PathBuf, size: u64) {
    const MARK: &[u8] = b"the end";
    let mut file = File::create(image).unwrap();
    file.write_all(&fs::read(from).unwrap()).unwrap();
    file.seek(SeekFrom::Start(size - MARK.len() as u64))
        .unwrap();
    file.write_all(MARK).unwrap();
}

/// Runs something that has to succeed.
fn step(said: &mut String, name: &str, command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    writeln!(said, "== {name}\n{out}{err}").unwrap();
    if !output.status.success() {
        eprintln!("{command:?}: {}\n{out}{err}", output.status);
        process::exit(1);
    }
}
