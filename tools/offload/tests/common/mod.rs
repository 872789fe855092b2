//! Runs the tool in this process, in a folder of its own.
#![allow(dead_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use offload_image::arch::Suffix;
use offload_image::fatbin::{write, EntryKind, NewEntry};
use offload_image::image::Compression;
use offload_image::ptx_isa::PtxIsa;
use offload_image::target::Sm;
use serde_json::Value;

pub const TINY_PTX: &[u8] = include_bytes!("../../../image/tests/data/tiny.ptx");
pub const SM_75: &[u8] = include_bytes!("../../../image/tests/data/sm_75.old.cubin");
pub const SM_90: &[u8] = include_bytes!("../../../image/tests/data/sm_90.new.cubin");
pub const SM_90A: &[u8] = include_bytes!("../../../image/tests/data/sm_90a.new.cubin");
pub const GFX90A: &[u8] = include_bytes!("../../../image/tests/data/gfx90a.elf");
pub const GFX9_4_GENERIC: &[u8] = include_bytes!("../../../image/tests/data/gfx9-4-generic.elf");
pub const GFX90A_MODES: &[u8] = include_bytes!("../../../image/tests/data/gfx90a.modes.elf");
pub const RAW_FATBIN: &[u8] = include_bytes!("../../../image/tests/data/raw.fatbin");
pub const SPEED_FATBIN: &[u8] = include_bytes!("../../../image/tests/data/speed.fatbin");
pub const HOST: &[u8] = include_bytes!("../../../image/tests/data/host.o");
pub const PLAIN: &[u8] = include_bytes!("../../../image/tests/data/plain.o");

/// A folder that goes away, and the files in it.
pub struct Room(tempfile::TempDir);

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub code: u8,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Asserts the exit code and that the error stream says each of these.
    #[track_caller]
    pub fn says(&self, code: u8, texts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for text in texts {
            assert!(self.err.contains(text), "no {text:?} in {}", self.err);
        }
        assert!(self.err.starts_with("offload: "), "{}", self.err);
    }

    /// Asserts success, with nothing on the error stream.
    #[track_caller]
    pub fn fine(&self) {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{self:#?}");
    }
}

impl Room {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file there and gives its path as text.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of everything in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// `--output=` of a file in the folder.
    pub fn output(&self, name: &str) -> String {
        format!("--output={}", self.path(name).display())
    }
}

pub fn run(args: &[&str]) -> Ran {
    let args = std::iter::once("offload").chain(args.iter().copied());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = offload_cli::run(args.map(OsString::from), &mut out, &mut err);
    Ran {
        code,
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

/// Packs a cubin for sm_90a and PTX for sm_70 into `images.offload`, and gives its path.
pub fn packed(room: &Room) -> String {
    let cubin = room.file("a.cubin", SM_90A);
    let ptx = room.file("a.ptx", TINY_PTX);
    run(&[
        "pack",
        "--label=//x:images",
        "--policy=embed",
        &format!("--image=kind=cubin,arch=sm_90a,file={cubin}"),
        &format!("--image=kind=ptx,arch=sm_70,file={ptx}"),
        &room.output("images.offload"),
    ])
    .fine();
    room.path("images.offload").to_str().unwrap().to_owned()
}

/// `--image=` of a file that is put into the folder.
pub fn image(room: &Room, kind: &str, arch: &str, name: &str, bytes: &[u8]) -> String {
    let file = room.file(name, bytes);
    format!("--image=kind={kind},arch={arch},file={file}")
}

/// Packs images under `embed`, and gives the path.
pub fn pack(room: &Room, name: &str, images: &[&str]) -> String {
    let output = room.output(name);
    let mut args = vec!["pack", "--label=//x:y", "--policy=embed", &output];
    args.extend(images);
    run(&args).fine();
    room.path(name).display().to_string()
}

/// Links packed files into one object, and gives the path.
pub fn link(room: &Room, name: &str, packed: &[&str]) -> String {
    let output = room.output(name);
    let inputs = packed.iter().flat_map(|packed| ["--input", packed]);
    let args: Vec<&str> = ["link", &output].into_iter().chain(inputs).collect();
    run(&args).fine();
    room.path(name).display().to_string()
}

/// The same image with a bit changed that means nothing.
pub fn altered(image: &[u8]) -> Vec<u8> {
    let mut other = image.to_vec();
    *other.last_mut().unwrap() ^= 1;
    other
}

/// The JSON of `inspect` for one file: its images.
pub fn images(path: &Path) -> Vec<serde_json::Value> {
    let ran = run(&["inspect", "--format=json", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["schema"], 1);
    report["files"][0]["images"].as_array().unwrap().clone()
}

pub fn entry(number: u32, suffix: Suffix, cubin: &'static [u8]) -> NewEntry<'static> {
    NewEntry {
        kind: EntryKind::Cubin,
        sm: Sm { number, suffix },
        version: PtxIsa { major: 1, minor: 8 },
        compression: Compression::None,
        unpacked_size: 0,
        payload: cubin,
    }
}

pub fn both() -> Vec<u8> {
    write(&[
        entry(75, Suffix::Plain, SM_75),
        entry(90, Suffix::Plain, SM_90),
    ])
}

pub fn only_75() -> Vec<u8> {
    write(&[entry(75, Suffix::Plain, SM_75)])
}

pub fn verify_json(args: &[&str]) -> (u8, Value) {
    let args: Vec<&str> = ["verify", "--format=json"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let ran = run(&args);
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

/// The rules that are breached, in order.
pub fn rules(report: &Value) -> Vec<&str> {
    let breaches = report["breaches"].as_array().unwrap();
    breaches
        .iter()
        .map(|b| b["rule"].as_str().unwrap())
        .collect()
}
