//! What is around GPU code: host files of every system, archives, zip files.

use std::io::{Cursor, Write};

use offload_image::bundle;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::tests::{contents, data, found};
use super::*;

pub(super) const FILES: &[(&str, &[u8])] = &[
    ("gnu.a", include_bytes!("../../tests/data/gnu.a")),
    ("bsd.a", include_bytes!("../../tests/data/bsd.a")),
    ("coff.a", include_bytes!("../../tests/data/coff.a")),
    ("thin.a", include_bytes!("../../tests/data/thin.a")),
    ("win.dll", include_bytes!("../../tests/data/win.dll")),
    ("win.obj", include_bytes!("../../tests/data/win.obj")),
    ("mac.o", include_bytes!("../../tests/data/mac.o")),
    ("i386.o", include_bytes!("../../tests/data/i386.o")),
    ("sycl.o", include_bytes!("../../tests/data/sycl.o")),
    ("stub.o", include_bytes!("../../tests/data/stub.o")),
    ("ppc64.o", include_bytes!("../../tests/data/ppc64.o")),
];

pub(super) fn file(name: &str) -> &'static [u8] {
    FILES.iter().find(|(found, _)| *found == name).unwrap().1
}

/// A zip file of stored and packed members, in turn.
pub(super) fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let methods = [CompressionMethod::Stored, CompressionMethod::Deflated];
    for ((name, bytes), method) in members.iter().zip(methods.iter().cycle()) {
        let options = SimpleFileOptions::default().compression_method(*method);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A Mach-O file for two processors, both with the same code.
fn universal() -> Vec<u8> {
    let slice = file("mac.o");
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2];
    for (index, cpu) in [0x0100_000c_u32, 0x0100_0007].into_iter().enumerate() {
        let start = 64 + index * slice.len();
        for word in [cpu, 0, start as u32, slice.len() as u32, 0] {
            out.extend_from_slice(&word.to_be_bytes());
        }
    }
    out.resize(64, 0);
    out.extend_from_slice(slice);
    out.extend_from_slice(slice);
    out
}

#[test]
fn host_files_of_every_system() {
    for (name, container, section) in [
        ("win.dll", "pe", ".nv_fatb"),
        ("win.obj", "coff", ".nv_fatb"),
        ("mac.o", "macho", "__nv_fatbin"),
        ("i386.o", "elf", ".nv_fatbin"),
        ("ppc64.o", "elf", ".nv_fatbin"),
    ] {
        let scanned = scan(file(name));
        assert_eq!(
            found(file(name)),
            [format!("ptx sm_80 {container}/fatbin {section} zstd")]
        );
        let whole = scanned.members.last().unwrap();
        assert_eq!((whole.format, &whole.state), (container, &State::Images));
        let at = scanned.images[0].location.offset as usize;
        assert!(file(name)[at..].starts_with(crate::unpack::ZSTD_MAGIC));
    }
    // Wherever they start: members of archives stand at any offset.
    for shift in 0..8 {
        let bytes = [&vec![0; shift], file("ppc64.o")].concat();
        assert_eq!(scan(&bytes[shift..]).images.len(), 1);
    }
    let both = vec!["ptx sm_80 universal/macho/fatbin __nv_fatbin zstd"; 2];
    assert_eq!(found(&universal()), both);
}

#[test]
fn archives() {
    for name in ["gnu.a", "bsd.a", "coff.a"] {
        let scanned = scan(file(name));
        assert_eq!(scanned.problems, [], "{name}");
        let states: Vec<_> = scanned
            .members
            .iter()
            .map(|member| (member.path.join("/"), member.state.clone()))
            .collect();
        assert_eq!(
            states,
            [
                ("plain.o".to_owned(), State::NoGpuCode),
                ("a_name_longer_than_15.o".to_owned(), State::Images),
                (String::new(), State::Images)
            ]
        );
        let image = &scanned.images[0];
        assert_eq!(image.location.member, ["a_name_longer_than_15.o"]);
        assert_eq!(image.location.container, "ar/elf/fatbin");
        // The offset is that in the member, as `ar x` would write it.
        let alone = scan(include_bytes!("../../tests/data/a_name_longer_than_15.o"));
        assert_eq!(image.location.offset, alone.images[0].location.offset);
    }
    assert_eq!(scan(b"!<arch>\n").state(), &State::NoGpuCode);
}

#[test]
fn thin_archives_name_files_beside_them() {
    let scanned = scan(file("thin.a"));
    assert_eq!(scanned.state(), &State::Unreadable);
    assert_eq!(scanned.problems.len(), 2);
    let said = scanned.problems[1].to_string();
    assert!(
        said.contains("`a_name_longer_than_15.o` is a file outside"),
        "{said}"
    );

    let room = tempfile::tempdir().unwrap();
    let object = include_bytes!("../../tests/data/a_name_longer_than_15.o");
    std::fs::write(room.path().join("a_name_longer_than_15.o"), object).unwrap();
    let mut scanned = Scan::default();
    let options = Options::default();
    scan_into(file("thin.a"), Some(room.path()), &options, &mut scanned);
    assert_eq!(scanned.images.len(), 1);
    let said = scanned.problems[0].to_string();
    assert!(
        said.starts_with("plain.o: ") && said.contains("`plain.o`"),
        "{said}"
    );
}

#[test]
fn wheels() {
    let bytes = zipped(&[
        ("pkg/lib space é.so", data("host.o")),
        ("pkg/code.ptx", data("tiny.ptx")),
        ("pkg/libs.a", file("gnu.a")),
        ("pkg/__init__.py", b"print('hello')"),
    ]);
    let scanned = scan(&bytes);
    assert_eq!(scanned.problems, []);
    let members: Vec<_> = scanned
        .images
        .iter()
        .map(|image| image.location.member.join("!"))
        .collect();
    let lib = "pkg/lib space é.so";
    let nested = "pkg/libs.a!a_name_longer_than_15.o";
    assert_eq!(members, ["pkg/code.ptx", lib, lib, lib, lib, nested]);
    assert_eq!(scanned.images[0].location.container, "zip");
    assert_eq!(scanned.images[5].location.container, "zip/ar/elf/fatbin");
    let script = scanned
        .members
        .iter()
        .find(|m| m.path == ["pkg/__init__.py"]);
    assert_eq!(script.unwrap().state, State::NotBinary);
    // However a member is packed, offsets are those in the member.
    let alone = scan(data("host.o"));
    for (inside, alone) in scanned.images[1..5].iter().zip(&alone.images) {
        assert_eq!(inside.location.offset, alone.location.offset);
        assert_eq!(inside.sha256, alone.sha256);
    }
}

#[test]
fn two_members_of_one_name_do_not_hide_each_other() {
    let mut bytes = zipped(&[("a.ptx", data("tiny.ptx")), ("b.ptx", b"nothing")]);
    for at in memchr::memmem::find_iter(&bytes.clone(), b"b.ptx") {
        bytes[at] = b'a';
    }
    let scanned = scan(&bytes);
    let said = scanned.problems[0].to_string();
    assert!(said.contains("2 members have 1 names"), "{said}");
}

/// Programs that unpack themselves, and Python's `.pyz`.
#[test]
fn a_zip_file_in_a_program_is_read() {
    // Members are stored and packed in turn.
    let zip = zipped(&[("a.txt", b"nothing"), ("b.ptx", data("tiny.ptx"))]);
    let plain = include_bytes!("../../tests/data/plain.o");
    for before in [&plain[..], b"#!/usr/bin/env python3\n"] {
        let scanned = scan(&[before, &zip].concat());
        let members: Vec<_> = scanned.images.iter().map(|i| &i.location.member).collect();
        assert_eq!(members, [&["b.ptx"]], "{:?}", scanned.problems);
    }
    // As data of the program, and several; behind the first, the record of another that is not there.
    let inside = [
        &plain[..],
        &zip,
        &zip[zip.len() - 22..],
        b"more",
        &zip,
        b"more",
    ]
    .concat();
    let scanned = scan(&inside);
    let members: Vec<_> = scanned.images.iter().map(|i| &i.location.member).collect();
    assert_eq!(members, [&["b.ptx"], &["b.ptx"]]);
    assert_eq!(scanned.images[0].location.container, "elf/zip");
    assert_eq!(scanned.problems, []);
    // Many records at the end of one zip file would have it read as many times.
    let mut hostile = [&plain[..], &zip].concat();
    let size = 22 * 100;
    let record = hostile.split_off(hostile.len() - 22);
    for index in 0..size / 22 {
        let mut record = record.clone();
        let wider = u32::from_le_bytes(record[12..16].try_into().unwrap()) + 22 * index;
        record[12..16].copy_from_slice(&wider.to_le_bytes());
        hostile.extend(record);
    }
    hostile.extend(b"more");
    let scanned = scan(&hostile);
    assert!(scanned.images.len() <= 64, "{}", scanned.images.len());
    assert!(!scanned.problems.is_empty());
    // Without a directory the last record is nothing.
    let record = [&plain[..], b"PK\x05\x06", &[0; 200]].concat();
    assert_eq!(scan(&record).problems, []);
}

#[test]
fn what_a_directory_does_not_name_is_told() {
    let ptx = data("tiny.ptx");
    let listed = zipped(&[("a.txt", b"nothing")]);
    let at = memchr::memmem::find(&listed, b"PK\x01\x02").unwrap();
    let end = memchr::memmem::find(&listed, b"PK\x05\x06").unwrap();
    let with = |hidden: &[u8]| {
        let mut bytes = [&listed[..at], hidden, &listed[at..]].concat();
        let start = (at + hidden.len()) as u32;
        let end = end + hidden.len();
        bytes[end + 16..end + 20].copy_from_slice(&start.to_le_bytes());
        scan(&bytes)
    };
    assert_eq!(with(b"").problems, []);
    let other = zipped(&[("a.txt", b""), ("b.ptx", ptx)]);
    let members = memchr::memmem::find(&other, b"PK\x01\x02").unwrap();
    let said = with(&other[..members]).problems[0].to_string();
    assert!(said.contains("its directory does not name"), "{said}");
    // Plain bytes between members, and in the comment.
    assert_eq!(with(ptx).images.len(), 1);
    assert_eq!(scan(&[&listed, ptx].concat()).images.len(), 1);
}

#[test]
fn what_is_said_of_a_member_has_to_agree() {
    let ptx = data("tiny.ptx");
    // A name of a folder, and bytes.
    let mut bytes = zipped(&[("b.ptx", ptx)]);
    for at in memchr::memmem::find_iter(&bytes.clone(), b"b.ptx") {
        bytes[at + 4] = b'/';
    }
    assert_eq!(scan(&bytes).images.len(), 1);
    // Packed by its own header, and stored by the directory.
    let mut bytes = zipped(&[("a", b""), ("b.ptx", ptx)]);
    let entry = memchr::memmem::rfind(&bytes, b"PK\x01\x02").unwrap();
    assert_eq!(bytes[entry + 10], 8);
    bytes[entry + 10] = 0;
    let said = scan(&bytes).problems[0].to_string();
    assert!(
        said.contains("the directory says that it is stored"),
        "{said}"
    );
}

#[test]
fn names_and_indices_of_archives_hold_no_code() {
    let ptx = data("tiny.ptx");
    let header = |name: &str, size: usize| {
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644)
    };
    for name in ["/", "//"] {
        let mut bytes = b"!<arch>\n".to_vec();
        bytes.extend_from_slice(header(name, ptx.len()).as_bytes());
        bytes.extend_from_slice(ptx);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
        bytes.extend_from_slice(header("a/", 2).as_bytes());
        bytes.extend_from_slice(b"xx");
        let kinds: Vec<_> = scan(&bytes).images.iter().map(|i| i.kind).collect();
        assert_eq!(kinds, [offload_image::image::Kind::Ptx], "{name}");
    }
}

#[test]
fn limits_hold() {
    let big = vec![0; 1 << 20];
    let bytes = zipped(&[("a", b""), ("b", &big), ("c", b""), ("d", &big)]);
    for (max_unpacked, max_total, problems) in [
        (1 << 20, 1 << 21, 0),
        (1 << 19, 1 << 30, 2),
        (1 << 20, 1 << 20, 1),
    ] {
        let mut options = Options::default();
        options.limits.max_member = max_unpacked;
        options.limits.max_total = max_total;
        let scanned = scan_with(&bytes, &options);
        assert_eq!(scanned.problems.len(), problems, "{:?}", scanned.problems);
        for problem in &scanned.problems {
            assert!(problem.to_string().contains("limit"), "{problem}");
        }
    }
    let mut options = Options::default();
    options.limits.max_depth = 1;
    assert!(scan_with(file("gnu.a"), &options).problems[0]
        .to_string()
        .contains("nested deeper than 1"));
}

#[test]
fn bundles() {
    let images: [(&str, &[u8]); 3] = [
        ("host-x86_64-unknown-linux--", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", data("gfx90a")),
        ("hip-amdgcn-amd-amdhsa--gfx1100", data("gfx90a")),
    ];
    let bytes = bundle::write(&images);
    let scanned = scan(&bytes);
    assert_eq!(found(&bytes), vec!["gfx gfx90a bundle - none"; 2]);
    assert_eq!(scanned.images[0].false_label(), None);
    assert_eq!(scanned.images[1].false_label(), Some("gfx1100"));
    assert_eq!(contents(&bytes)[0], data("gfx90a"));
}

#[test]
fn stubs_and_loaders_say_so() {
    let stub = include_bytes!("../../tests/data/stub.o");
    let scanned = scan(stub);
    let State::Elsewhere(reasons) = scanned.state() else {
        panic!("{scanned:?}");
    };
    assert_eq!(reasons.len(), 2);
    assert!(
        reasons[0].contains("__cudaRegisterFatBinary"),
        "{reasons:?}"
    );
    assert!(reasons[1].contains("cuModuleLoadData"), "{reasons:?}");
    assert_eq!(scanned.problems, []);
    // An archive says what its members say, each thing once.
    let twice = scan(&zipped(&[("a.o", stub), ("b.o", stub)]));
    assert_eq!(twice.state(), scanned.state());
    let plain = include_bytes!("../../tests/data/plain.o");
    assert_eq!(scan(plain).state(), &State::NoGpuCode);
}
