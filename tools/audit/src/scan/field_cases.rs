//! Faults that other tools had: each with the right answer.

use std::io::Write;

use flate2::write::ZlibEncoder;
use offload_image::offload_binary::{image_kind, write, write_v2, NewImage};
use offload_image::{bundle, ccob, fatbin};

use super::containers::{file, zipped};
use super::tests::{contents, data, found, object};
use super::*;
use crate::unpack::zstd_frame;

pub(super) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn one_bundle(name: &str) -> Vec<u8> {
    let id = format!("hipv4-amdgcn-amd-amdhsa--{name}");
    bundle::write(&[("host-x86_64-unknown-linux--", b""), (&id, data("gfx90a"))])
}

/// A compressed bundle; `packed` is what stands for `raw` bytes.
pub(super) fn compressed(version: u16, method: u16, packed: &[u8], raw: usize) -> Vec<u8> {
    let mut out = ccob::MAGIC.to_vec();
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&method.to_le_bytes());
    let (raw, size) = (raw as u64, packed.len() as u64);
    match version {
        1 => out.extend_from_slice(&(raw as u32).to_le_bytes()),
        2 => {
            out.extend_from_slice(&(size as u32 + 24).to_le_bytes());
            out.extend_from_slice(&(raw as u32).to_le_bytes());
        }
        _ => {
            out.extend_from_slice(&(size + 32).to_le_bytes());
            out.extend_from_slice(&raw.to_le_bytes());
        }
    }
    out.extend_from_slice(&[7; 8]);
    out.extend_from_slice(packed);
    out
}

/// Rows 9 and 10: the magic of the next bundle inside the first one's packed bytes.
#[test]
fn compressed_bundles_are_stepped_by_their_size() {
    let raw = one_bundle("gfx90a");
    for version in 1..=3 {
        // A skippable frame that looks like a bundle of version 2.
        let mut packed = vec![0x50, 0x2a, 0x4d, 0x18, 32, 0, 0, 0];
        packed.extend_from_slice(&compressed(2, 1, &[0; 8], 8));
        packed.extend_from_slice(&zstd_frame(&raw));
        let mut bytes = compressed(version, 1, &packed, raw.len());
        bytes.resize(bytes.len().next_multiple_of(4096), 0);
        let second = bytes.len() as u64;
        bytes.extend_from_slice(&compressed(version, 0, &zlib(&raw), raw.len()));
        assert_eq!(
            found(&bytes),
            [
                "gfx gfx90a ccob/bundle - zstd",
                "gfx gfx90a ccob/bundle - zlib"
            ],
            "version {version}"
        );
        let scanned = scan(&bytes);
        let places: Vec<_> = scanned.images.iter().map(|i| i.location.offset).collect();
        assert_eq!(places, [0, second]);
        assert_eq!(scanned.images[0].location.inner_offset, Some(4096));
        assert_eq!(contents(&bytes), [data("gfx90a"), data("gfx90a")]);
    }
}

#[test]
fn a_broken_compressed_bundle_hides_no_other() {
    let raw = one_bundle("gfx90a");
    for version in [2, 3] {
        let mut bytes = compressed(version, 1, b"no zstd", raw.len());
        bytes.resize(4096, 0);
        bytes.extend_from_slice(&compressed(version, 1, &zstd_frame(&raw), raw.len()));
        let scanned = scan(&bytes);
        assert_eq!(scanned.images.len(), 1);
        let header = if version == 2 { 24 } else { 32 };
        assert_eq!(scanned.problems[0].error.offset(), header);
    }
}

/// Rows 12 and 13: toolkit numbers and both ABIs, here as entries of one fatbin.
#[test]
fn cubins_of_both_abis() {
    let sm = |name| offload_image::target::Sm::parse(name).unwrap();
    let mut old = data("sm_75.old").to_vec();
    old[20] = 0x76;
    let entries = [(sm("sm_75"), &old[..]), (sm("sm_90a"), data("sm_90a.new"))];
    let entries = entries.map(|(sm, payload)| fatbin::NewEntry {
        kind: fatbin::EntryKind::Cubin,
        sm,
        version: offload_image::ptx_isa::PtxIsa { major: 1, minor: 8 },
        compression: offload_image::image::Compression::None,
        unpacked_size: payload.len() as u64,
        payload,
    });
    assert_eq!(
        found(&fatbin::write(&entries)),
        ["cubin sm_75 fatbin - none", "cubin sm_90a fatbin - none"]
    );
}

fn images() -> [NewImage<'static>; 2] {
    [("sm_75", data("sm_75.old")), ("sm_90a", data("sm_90a.new"))].map(|(arch, data)| NewImage {
        image_kind: image_kind::CUBIN,
        offload_kind: 2,
        strings: vec![("triple", "nvptx64-nvidia-cuda"), ("arch", arch)],
        data,
    })
}

/// Version 3: the header grows by the inflated size, so everything else moves by eight.
pub(super) fn version_3(pack: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let plain = write_v2(&images());
    let word = |at: usize| u64::from_le_bytes(plain[at..at + 8].try_into().unwrap());
    let mut body = plain[32..].to_vec();
    let mut shift = |at: usize| {
        let moved = u64::from_le_bytes(body[at..at + 8].try_into().unwrap()) + 8;
        body[at..at + 8].copy_from_slice(&moved.to_le_bytes());
    };
    for entry in [0, 40] {
        shift(entry + 8);
        shift(entry + 24);
    }
    for pair in 0..4 {
        shift(80 + 24 * pair);
        shift(80 + 24 * pair + 8);
    }
    let packed = pack(&body);
    let inflated = word(8) + 8;
    let mut out = plain[..4].to_vec();
    out.extend_from_slice(&3_u32.to_le_bytes());
    for value in [40 + packed.len() as u64, 40, 2, inflated] {
        out.extend_from_slice(&value.to_le_bytes());
    }
    out.extend_from_slice(&packed);
    out
}

/// Row 22: every version, several in a row, in one section.
#[test]
fn offload_binaries_of_every_version() {
    let mut bytes = write(&images());
    for more in [write_v2(&images()), version_3(zstd_frame), version_3(zlib)] {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&more);
    }
    let mut wanted = Vec::new();
    for packing in ["none", "none", "zstd", "zlib"] {
        for arch in ["sm_75", "sm_90a"] {
            wanted.push(format!("cubin {arch} offload_binary - {packing}"));
        }
    }
    assert_eq!(found(&bytes), wanted);
    let in_section: Vec<String> = wanted
        .iter()
        .map(|line| line.replace("offload_binary -", "elf/offload_binary .llvm.offloading"))
        .collect();
    let host = object(&[&bytes]);
    assert_eq!(found(&host), in_section);

    let mut bytes = write_v2(&images());
    bytes[4] = 99;
    let scanned = scan(&bytes);
    assert_eq!(scanned.state(), &State::Unreadable);
    assert_eq!(scanned.problems[0].error.offset(), 4);
    assert!(scanned.problems[0].to_string().contains("version 99"));
}

/// Row 22: raw, LZ4 and zstd fatbins in one section.
#[test]
fn packings_mixed_in_one_section() {
    let mixed = ["speed.fatbin", "raw.fatbin", "default.fatbin"]
        .map(data)
        .concat();
    let lines = found(&mixed);
    let packings: Vec<_> = lines
        .iter()
        .map(|l| l.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(packings, ["lz4", "lz4", "none", "none", "none", "zstd"]);
    let all = contents(&mixed);
    assert_eq!(all[0..2], all[2..4]);
    assert_eq!(all[0..2], all[4..6]);
}

/// Row 24: names of zip members in any script, with spaces, of 300 characters.
#[test]
fn names_of_zip_members() {
    let long = "d/".repeat(148) + "k.ptx";
    let names = [
        "ü ñ 核.ptx",
        "a  b.ptx",
        "../up.ptx",
        "/abs.ptx",
        long.as_str(),
    ];
    let members = names.map(|name| (name, data("tiny.ptx")));
    let scanned = scan(&zipped(&members));
    assert_eq!(scanned.problems, []);
    let mut found: Vec<_> = scanned
        .images
        .iter()
        .map(|i| i.location.member[0].as_str())
        .collect();
    let mut wanted = names.to_vec();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

/// The name of a section starts like a bundle: that is none, and the section holds images.
#[test]
fn sections_named_like_a_bundle() {
    let sycl = "section __CLANG_OFFLOAD_BUNDLE__sycl-spir64 zstd";
    let hip = "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a";
    assert_eq!(
        found(file("sycl.o")),
        [
            format!("spirv spir64 elf/{sycl}"),
            format!("unknown kind 0 spir64 elf/{sycl}"),
            format!("gfx gfx90a elf/section {hip} none"),
        ]
    );
    // PTX is PTX there too.
    let mut bytes = file("sycl.o").to_vec();
    let second = memchr::memmem::rfind(&bytes, crate::unpack::ZSTD_MAGIC).unwrap();
    let packed = zstd_frame(b".version 8.8 .target sm_80 ");
    bytes[second..second + packed.len()].copy_from_slice(&packed);
    assert_eq!(scan(&bytes).images[1].kind, offload_image::image::Kind::Ptx);
}
