//! Memory: of large files no more is kept than is looked at. A process of its own, for what is
//! measured is the most that it ever took.

mod common;
use common::*;
use std::io::{Seek, SeekFrom, Write};

/// The most memory that this process has had at a time, in bytes. Only Linux tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() << 10
}

#[test]
fn a_large_file_takes_little_memory() {
    const MIB: u64 = 1 << 20;
    let room = Room::new();
    // A host file, and far behind its end a fatbin: what no section claims is searched.
    let path = room.file("large.o", HOST);
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(65 * MIB)).unwrap();
    file.write_all(SPEED_FATBIN).unwrap();
    let before = peak();
    let found = images(path.as_ref());
    assert_eq!(
        found.len(),
        4 + images(room.file("f", SPEED_FATBIN).as_ref()).len()
    );
    assert_eq!(found.last().unwrap()["container"], "elf/fatbin");
    assert!(found.last().unwrap()["offset"].as_u64().unwrap() > 65 * MIB);
    run(&["verify", "--ptx=embed", &room.output("stamp"), &path]).fine();
    // The same as a member of a wheel, which has to be unpacked.
    let mut zip = zip::ZipWriter::new(std::fs::File::create(room.path("w.whl")).unwrap());
    let packed = zip::write::SimpleFileOptions::default();
    zip.start_file("large.o", packed).unwrap();
    std::io::copy(&mut std::fs::File::open(&path).unwrap(), &mut zip).unwrap();
    zip.finish().unwrap();
    assert_eq!(images(&room.path("w.whl")).len(), found.len());
    // A large image, on its way into an object.
    let cubin = room.file("k.cubin", SM_90);
    let file = std::fs::File::options().write(true).open(&cubin).unwrap();
    file.set_len(33 * MIB).unwrap();
    run(&["check", "--arch=sm_90", "--kind=cubin", &cubin]).fine();
    let spec = format!("--image=kind=cubin,arch=sm_90,file={cubin}");
    run(&["pack", "--policy=forbid", &spec, &room.output("packed")]).fine();
    let packed = room.path("packed").display().to_string();
    let object = room.output("images.o");
    run(&["link", "--input", &packed, &packed, &object]).fine();
    let object = std::fs::metadata(room.path("images.o")).unwrap();
    assert!(object.len() > 66 * MIB);
    let taken = peak() - before;
    assert!(taken < 24 * MIB, "{} MiB", taken / MIB);
    // What it is held against: the file as a whole in memory.
    let whole = std::fs::read(&path).unwrap();
    assert!(whole.ends_with(SPEED_FATBIN));
    assert!(peak() - before > 65 * MIB, "the measure tells nothing");
}
