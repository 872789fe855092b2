use offload_image::elf::{self, Elf};
use offload_image::fatbin;
use offload_image::image::{Compression, Kind};
use offload_image::offload_binary::{self, image_kind, offload_kind, write, NewImage};
use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::PtxIsa;
use offload_image::relocatable::{self, Machine};
use offload_image::target::Sm;

use super::*;
use crate::unpack::zstd_frame;

pub(super) const DATA: &[(&str, &[u8])] = &[
    (
        "tiny.ptx",
        include_bytes!("../../../image/tests/data/tiny.ptx"),
    ),
    (
        "sm_75.old",
        include_bytes!("../../../image/tests/data/sm_75.old.cubin"),
    ),
    (
        "sm_90a.new",
        include_bytes!("../../../image/tests/data/sm_90a.new.cubin"),
    ),
    (
        "gfx90a",
        include_bytes!("../../../image/tests/data/gfx90a.elf"),
    ),
    (
        "raw.fatbin",
        include_bytes!("../../../image/tests/data/raw.fatbin"),
    ),
    (
        "default.fatbin",
        include_bytes!("../../../image/tests/data/default.fatbin"),
    ),
    (
        "speed.fatbin",
        include_bytes!("../../../image/tests/data/speed.fatbin"),
    ),
    (
        "llvm22.offload",
        include_bytes!("../../../image/tests/data/llvm22.offload"),
    ),
    ("host.o", include_bytes!("../../../image/tests/data/host.o")),
];

pub(super) fn data(name: &str) -> &'static [u8] {
    DATA.iter().find(|(found, _)| *found == name).unwrap().1
}

/// Kind, arch, container, section of each image, and that there are no problems.
pub(super) fn found(bytes: &[u8]) -> Vec<String> {
    let scan = scan(bytes);
    assert_eq!(scan.problems, []);
    lines(&scan)
}

pub(super) fn lines(scan: &Scan) -> Vec<String> {
    scan.images
        .iter()
        .map(|image| {
            format!(
                "{} {} {} {} {}",
                image.kind,
                image.arch().unwrap(),
                image.location.container,
                image.location.section.as_deref().unwrap_or("-"),
                image.compression.name(),
            )
        })
        .collect()
}

pub(super) fn packed(policy: &str) -> Vec<u8> {
    let image = |image_kind, arch, data| NewImage {
        image_kind,
        offload_kind: offload_kind::CUDA,
        strings: vec![
            ("triple", "nvptx64-nvidia-cuda"),
            ("arch", arch),
            ("ptx_policy", policy),
        ],
        data,
    };
    write(&[
        image(image_kind::CUBIN, "sm_90a", data("sm_90a.new")),
        image(image_kind::PTX, "sm_70", data("tiny.ptx")),
    ])
}

/// The images with their unpacked bytes.
#[derive(Default)]
pub(super) struct Kept(pub Vec<(Image, Vec<u8>)>);

impl Sink for Kept {
    fn image(&mut self, image: Image, bytes: Option<&[u8]>) {
        self.0.push((image, bytes.unwrap_or_default().to_vec()));
    }
    fn problem(&mut self, problem: Problem) {
        panic!("{problem}");
    }
    fn member(&mut self, _: Member) {}
}

/// The unpacked bytes of every image; there must not be a problem.
pub(super) fn contents(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut kept = Kept::default();
    let options = Options {
        unpack: Unpack::Bytes,
        ..Options::default()
    };
    scan_into(bytes, None, &options, &mut kept);
    kept.0.into_iter().map(|(_, bytes)| bytes).collect()
}

pub(super) fn object(binaries: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    relocatable::write(&mut out, Machine::X86_64, binaries, &[PtxPolicy::Forbid]).unwrap();
    out
}

/// The host object with something appended, as a self-extracting program would have.
pub(super) fn appended(bytes: &[u8]) -> Vec<u8> {
    let mut out = include_bytes!("../../../image/tests/data/plain.o").to_vec();
    out.extend_from_slice(b"odd");
    out.extend_from_slice(bytes);
    out
}

#[test]
fn bare_images() {
    assert_eq!(found(data("tiny.ptx")), ["ptx sm_70  - none"]);
    assert_eq!(found(data("sm_90a.new")), ["cubin sm_90a  - none"]);
    assert_eq!(found(data("gfx90a")), ["gfx gfx90a  - none"]);
}

#[test]
fn fatbins() {
    assert_eq!(
        found(data("raw.fatbin")),
        ["cubin sm_80 fatbin - none", "ptx sm_80 fatbin - none"]
    );
    assert_eq!(
        found(data("default.fatbin")),
        ["cubin sm_80 fatbin - none", "ptx sm_80 fatbin - zstd"]
    );
    let scanned = scan(data("raw.fatbin"));
    let kernels: Vec<_> = scanned
        .images
        .iter()
        .map(|image| image.kernels().unwrap())
        .collect();
    assert_eq!(kernels, [["fill", "nothing"], ["fill", "nothing"]]);
    assert_eq!(scanned.images[1].ptx_isa().unwrap().to_string(), "8.8");
    assert!(
        !contents(data("raw.fatbin"))[1].ends_with(&[0]),
        "padding is no part of PTX"
    );
    // However they are packed, the same images come out.
    for name in ["default.fatbin", "speed.fatbin"] {
        assert_eq!(contents(data(name)), contents(data("raw.fatbin")), "{name}");
        let packed = scan(data(name));
        for (one, other) in packed.images.iter().zip(&scanned.images) {
            assert_eq!(one.kernels(), other.kernels());
            assert_eq!(one.sha256, other.sha256);
            assert_eq!(one.unpacked_size, other.unpacked_size);
        }
    }
}

#[test]
fn no_more_is_unpacked_than_was_asked_for() {
    // An entry that says cubin and holds PTX.
    let mut bytes = data("default.fatbin").to_vec();
    let at = scan(&bytes).images[1].location.offset as usize - 0x50;
    assert_eq!(bytes[at], 1);
    bytes[at] = 2;
    for (unpack, kind, read) in [
        (Unpack::Labels, Kind::Cubin, false),
        (Unpack::Kinds, Kind::Ptx, false),
        (Unpack::Contents, Kind::Ptx, true),
        (Unpack::Bytes, Kind::Ptx, true),
    ] {
        let options = Options {
            unpack,
            ..Options::default()
        };
        let scanned = scan_with(&bytes, &options);
        assert_eq!(scanned.problems, []);
        let mut kept = Kept::default();
        scan_into(&bytes, None, &options, &mut kept);
        assert_eq!(kept.0[0].1.is_empty(), !read);
        assert_eq!(kept.0[1].1.is_empty(), unpack != Unpack::Bytes);
        let raw = &scanned.images[0];
        assert_eq!(raw.compression, Compression::None);
        assert_eq!((raw.content.is_some(), raw.sha256.is_some()), (read, read));
        assert_eq!(raw.arch().as_deref(), Some("sm_80"));
        let image = &scanned.images[1];
        assert_eq!((image.kind, image.content.is_some()), (kind, read));
        assert_eq!(image.arch().as_deref(), Some("sm_80"));
        assert_eq!(
            (image.size, image.unpacked_size),
            (203, 285 - u64::from(read))
        );
    }
}

/// An entry is what its bytes are, also where no more is read than tells the kind: PTX behind a long
/// comment, in a second frame, or in a container of its own, under the label of a cubin.
#[test]
fn a_head_that_tells_nothing_is_not_believed() {
    let ptx = data("tiny.ptx");
    let comment = format!("//{}\n", "x".repeat(8192));
    let commented = [comment.as_bytes(), ptx].concat();
    let fatbin = data("raw.fatbin");
    let two_frames = [zstd_frame(b""), zstd_frame(ptx)].concat();
    for (packing, payload, size) in [
        (Compression::None, commented.clone(), commented.len()),
        (Compression::Zstd, zstd_frame(&commented), commented.len()),
        (Compression::Zstd, two_frames, ptx.len()),
        (Compression::Zstd, zstd_frame(fatbin), fatbin.len()),
    ] {
        let bytes = fatbin::write(&[fatbin::NewEntry {
            kind: fatbin::EntryKind::Cubin,
            sm: Sm::parse("sm_80").unwrap(),
            version: PtxIsa { major: 1, minor: 8 },
            compression: packing,
            unpacked_size: size as u64,
            payload: &payload,
        }]);
        for unpack in [Unpack::Kinds, Unpack::Contents, Unpack::Bytes] {
            let options = Options {
                unpack,
                sha256: false,
                ..Options::default()
            };
            let scanned = scan_with(&bytes, &options);
            assert_eq!(scanned.problems, []);
            let last = scanned.images.last().unwrap();
            assert_eq!(last.kind, Kind::Ptx, "{unpack:?}");
        }
    }
}

/// More than are looked at together, in fatbins of their own, large and small ones in turn.
#[test]
fn many_images_are_told_in_their_order() {
    let image = |number: usize| {
        let comment = format!("//{number}{}\n", "x".repeat(number % 7 * 100));
        [comment.as_bytes(), data("tiny.ptx")].concat()
    };
    let images: Vec<Vec<u8>> = (0..1500).map(image).collect();
    let fatbins = images.iter().map(|image| {
        fatbin::write(&[fatbin::NewEntry {
            kind: fatbin::EntryKind::Ptx,
            sm: Sm::parse("sm_70").unwrap(),
            version: PtxIsa { major: 7, minor: 0 },
            compression: Compression::Zstd,
            unpacked_size: image.len() as u64,
            payload: &zstd_frame(image),
        }])
    });
    let row = fatbins.collect::<Vec<_>>().concat();
    assert!(contents(&row) == images, "another order");
}

#[test]
fn padding_is_no_part_of_an_image() {
    let cubin: &[u8] = include_bytes!("../../../image/tests/data/sm_100f.new.cubin");
    assert_ne!(cubin.len() % 8, 0);
    for padding in [0, 6, 15] {
        let padded = [cubin, &vec![0; padding]].concat();
        assert_eq!(contents(&padded), [cubin]);
    }
    let more = [cubin, b"\0\0more"].concat();
    assert_eq!(contents(&more), [&more[..]]);
    for name in ["sm_75.old", "sm_90a.new", "gfx90a"] {
        let elf = Elf::parse(Bytes::new(data(name))).unwrap();
        assert_eq!(elf.extent(), data(name).len() as u64, "{name}");
    }
}

#[test]
fn ptx_of_a_host_file_in_all_its_places() {
    assert_eq!(
        found(data("host.o")),
        [
            "ptx sm_70 elf .rodata none",
            "ptx sm_80 elf/fatbin .nv_fatbin zstd",
            "ptx sm_80 elf/fatbin .nv_fatbin zstd",
            "ptx sm_90 elf/fatbin __nv_relfatbin lz4",
        ]
    );
    let scanned = scan(data("host.o"));
    let bare = &scanned.images[0];
    assert_eq!(contents(data("host.o"))[3], data("tiny.ptx"));
    let at = bare.location.offset as usize;
    assert_eq!(&data("host.o")[at..at + 8], b".version");
}

#[test]
fn what_the_linker_helper_writes() {
    let (one, two) = (packed("embed"), packed("forbid"));
    let bytes = object(&[&one, &two]);
    let scanned = scan(&bytes);
    assert_eq!(scanned.problems, []);
    assert_eq!(
        lines(&scanned)[..2],
        [
            "cubin sm_90a elf/offload_binary .llvm.offloading none",
            "ptx sm_70 elf/offload_binary .llvm.offloading none",
        ]
    );
    let policies: Vec<_> = scanned
        .images
        .iter()
        .map(|image| image.label.policy.as_deref().unwrap())
        .collect();
    assert_eq!(policies, ["embed", "embed", "forbid", "forbid"]);
}

/// GNU ld collects what is far from code in `.lrodata`, whose type is that of what comes first.
#[test]
fn far_images_may_have_others_beside_them() {
    let packed = packed("embed");
    for beside in [&b""[..], b"far data of a program"] {
        let mut bytes = object(&[&packed, beside]);
        let name = b".llvm.offloading";
        let at = memchr::memmem::rfind(&bytes, name).unwrap();
        bytes[at..at + name.len()].copy_from_slice(b".lrodata\0\0\0\0\0\0\0\0");
        let scanned = scan(&bytes);
        assert_eq!(scanned.problems, []);
        assert_eq!(
            lines(&scanned),
            [
                "cubin sm_90a elf/offload_binary .lrodata none",
                "ptx sm_70 elf/offload_binary .lrodata none",
            ]
        );
    }
}

#[test]
fn containers_outside_the_known_sections() {
    for (inside, wanted) in [
        (
            data("default.fatbin").to_vec(),
            [
                "cubin sm_80 elf/fatbin - none",
                "ptx sm_80 elf/fatbin - zstd",
            ],
        ),
        (
            packed("embed"),
            [
                "cubin sm_90a elf/offload_binary - none",
                "ptx sm_70 elf/offload_binary - none",
            ],
        ),
        (
            [data("gfx90a"), data("tiny.ptx")].concat(),
            ["gfx gfx90a elf - none", "ptx sm_70 elf - none"],
        ),
        (
            [data("tiny.ptx"), &[0], data("sm_75.old")].concat(),
            ["ptx sm_70 elf - none", "cubin sm_75 elf - none"],
        ),
    ] {
        assert_eq!(found(&appended(&inside)), wanted);
    }
    assert_eq!(found(&appended(&[])), [] as [&str; 0]);
}

/// What reads well inside a container hides nothing of it.
#[test]
fn a_container_is_found_around_what_is_in_it() {
    let speed = data("speed.fatbin");
    let empty_bundle = [offload_image::bundle::MAGIC, &[0; 8]].concat();
    let mut bytes = speed.to_vec();
    let inner = offload_image::fatbin::write(&[fatbin::NewEntry {
        kind: fatbin::EntryKind::Other(9),
        sm: Sm::parse("sm_80").unwrap(),
        version: PtxIsa { major: 1, minor: 8 },
        compression: Compression::None,
        unpacked_size: 32,
        payload: &empty_bundle,
    }]);
    bytes.extend_from_slice(&inner[16..]);
    let size = bytes.len() as u64 - 16;
    bytes[8..16].copy_from_slice(&size.to_le_bytes());
    let lines = lines(&scan(&appended(&bytes)));
    assert!(
        lines.contains(&"ptx sm_80 elf/fatbin - lz4".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn what_follows_a_device_image_is_looked_at() {
    let bytes = [data("sm_90a.new"), data("default.fatbin")].concat();
    let kinds: Vec<Kind> = scan(&bytes).images.iter().map(|image| image.kind).collect();
    assert_eq!(kinds, [Kind::Cubin, Kind::Cubin, Kind::Ptx]);
}

#[test]
fn a_magic_number_alone_is_nothing() {
    let mut bytes = Vec::new();
    for magic in [
        offload_binary::MAGIC,
        fatbin::MAGIC,
        elf::MAGIC,
        b".version 7.0",
    ] {
        bytes.extend_from_slice(magic);
        bytes.extend_from_slice(&[1, 0, 16, 0, 0xff, 0xff, 0xff, 0xff]);
    }
    assert_eq!(found(&appended(&bytes)), [] as [&str; 0]);
}

#[test]
fn content_decides_over_the_label() {
    let bytes = write(&[NewImage {
        image_kind: 0,
        offload_kind: 0,
        strings: vec![("arch", "sm_80")],
        data: data("sm_90a.new"),
    }]);
    let scanned = scan(&bytes);
    let image = &scanned.images[0];
    assert_eq!(
        (image.kind, image.arch().as_deref()),
        (Kind::Cubin, Some("sm_90a"))
    );
    assert_eq!(image.false_label(), Some("sm_80"));
    let bytes = packed("embed");
    assert!(scan(&bytes)
        .images
        .iter()
        .all(|image| image.false_label().is_none()));
}

#[test]
fn kinds_that_are_not_read_are_listed() {
    let bytes = write(&[NewImage {
        image_kind: image_kind::BITCODE,
        offload_kind: 0,
        strings: vec![("arch", "gfx90a")],
        data: b"BC\xc0\xde",
    }]);
    assert_eq!(found(&bytes), ["bitcode gfx90a offload_binary - none"]);
    let mut bytes = data("raw.fatbin").to_vec();
    bytes[16] = 8;
    bytes[16 + 64..16 + 68].copy_from_slice(b"LTO!");
    assert_eq!(found(&bytes)[0], "unknown kind 8 sm_80 fatbin - none");
}
