//! What cannot be read, in whole or in part: it is told, and hides nothing.

use offload_image::bytes::Bytes;
use offload_image::elf::Elf;
use offload_image::fatbin::{self, Fatbin};
use offload_image::offload_binary::{image_kind, write, NewImage};

use super::tests::{appended, data, lines, object, packed};
use super::*;

#[test]
fn a_broken_section_is_a_problem_and_hides_nothing() {
    let mut bytes = data("host.o").to_vec();
    let second = scan(&bytes).images[2].location.offset as usize;
    // The second fatbin of the section loses its magic.
    let magic = memchr::memmem::rfind(&bytes[..second], fatbin::MAGIC).unwrap();
    bytes[magic] = 0x51;
    let scanned = scan(&bytes);
    assert_eq!(scanned.problems.len(), 1);
    assert_eq!(scanned.problems[0].error.offset(), magic as u64);
    assert_eq!(
        lines(&scanned),
        [
            "ptx sm_70 elf .rodata none",
            "ptx sm_80 elf/fatbin .nv_fatbin zstd",
            "ptx sm_90 elf/fatbin __nv_relfatbin lz4",
        ]
    );
}

#[test]
fn a_faulty_image_in_a_container_is_listed_and_told() {
    let mut bytes = packed("embed");
    let scanned = scan(&bytes);
    let at = scanned.images[0].location.offset as usize;
    // OS ABI of the cubin.
    bytes[at + 7] = 0;
    let scanned = scan(&bytes);
    assert_eq!(scanned.problems[0].error.offset(), at as u64 + 7);
    assert_eq!(scanned.images.len(), 2);
    assert_eq!(scanned.images[0].arch().as_deref(), Some("sm_90a"));
    assert!(scanned.images[0].content.is_none());
}

/// The driver takes the entries that it can use, and nobody but its own table says where a fatbin ends.
#[test]
fn a_broken_fatbin_outside_the_known_sections_is_told() {
    let whole = data("speed.fatbin");
    let broken = [&whole[..8], &[0xff; 8][..5], &[0; 3], &whole[16..]].concat();
    let scanned = scan(&appended(&broken));
    let said = scanned.problems[0].to_string();
    assert!(said.contains("fatbin payload"), "{said}");
    // The second entry, behind the first.
    let mut broken = whole.to_vec();
    let first = Fatbin::parse(Bytes::new(whole)).unwrap().entries[0].payload;
    let second = (first.base() + first.len()).next_multiple_of(8) as usize;
    broken[second + 4..second + 8].copy_from_slice(&[0; 4]);
    let scanned = scan(&appended(&broken));
    let said = scanned.problems[0].to_string();
    assert!(said.contains("fatbin entry header size"), "{said}");
    // A header alone may be a constant of a program that reads fatbins.
    let header = [&whole[..16], &[0; 4096]].concat();
    assert_eq!(scan(&appended(&header)).problems, []);
}

#[test]
fn places_that_look_like_ptx_without_end_are_bounded() {
    let scanned = scan(&[b"x\0", ".version 8.8 /*".repeat(70_000).as_bytes()].concat());
    let said = scanned.problems[0].to_string();
    assert!(said.contains("too many places"), "{said}");
    // Heads of modules with nothing in them end where the next one starts.
    let heads = ".version 8.8 .target sm_80\n".repeat(40_000);
    assert_eq!(scan(heads.as_bytes()).images.len(), 1);
    let scanned = scan(&[b"x\0", heads.as_bytes()].concat());
    assert_eq!(scanned.images, []);
}

#[test]
fn unknown_files_are_problems() {
    for (bytes, says) in [
        (&b""[..], "it is empty"),
        (b"#!/bin/sh\nexit 0\n", "#!/bin/sh"),
    ] {
        let scanned = scan(bytes);
        assert!(scanned.images.is_empty());
        assert_eq!(scanned.state(), &State::NotBinary);
        let said = scanned.problems[0].to_string();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn what_holds_other_files_and_is_not_read_is_told() {
    for (start, name) in [
        (&b"\x1f\x8b\x08"[..], "gzip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh9", "bzip2"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x5e\x2a\x4d\x18", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"\xed\xab\xee\xdb\x03", "rpm"),
        (b"hsqs", "squashfs"),
        (b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", "lzma"),
    ] {
        let scanned = scan(start);
        assert_eq!(scanned.state(), &State::Unreadable);
        let said = scanned.problems[0].to_string();
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn nesting_ends() {
    let mut bytes = data("tiny.ptx").to_vec();
    for _ in 0..20 {
        bytes = write(&[NewImage {
            image_kind: image_kind::FATBIN,
            offload_kind: 0,
            strings: Vec::new(),
            data: &bytes,
        }]);
    }
    let scanned = scan(&bytes);
    assert!(scanned.problems[0].to_string().contains("nested deeper"));
}

#[test]
fn sections_that_overlap_are_not_walked_again_and_again() {
    let mut bytes = object(&[&packed("embed")]);
    // The section of records becomes a second view of the images.
    let elf = Elf::parse(Bytes::new(&bytes)).unwrap();
    let table = elf.bytes.u64(40, "").unwrap() as usize;
    let (images, records) = (table + 64, table + 128);
    bytes.copy_within(images + 4..images + 40, records + 4);
    let scanned = scan(&bytes);
    assert_eq!(scanned.images.len(), 2);
    assert!(
        scanned.problems[0].to_string().contains("overlap"),
        "{scanned:?}"
    );
}
