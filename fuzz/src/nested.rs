//! Containers in containers: the image that was put in is the one that is found.

use offload_audit::image::Image;
use offload_audit::scan::{scan_into, Member, Problem, Sink, Unpack};
use offload_audit::unpack::zstd_frame;
use offload_image::arch::Suffix;
use offload_image::bundle;
use offload_image::fatbin::{self, EntryKind, NewEntry};
use offload_image::image::Compression;
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::PtxIsa;
use offload_image::relocatable::{self, Machine};
use offload_image::target::Sm;

use crate::audit::{options, scanned, MODES};
use crate::seeds::{ar, ccob, lz4_block, version_3, zip_file, zlib};
use crate::take::Take;

const PTX: &[u8] = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret; }\n";

pub fn nested(data: &[u8]) {
    let take = &mut Take::new(data);
    let ptx = [
        b"// ",
        take.text().replace('\n', " ").as_bytes(),
        b"\n",
        PTX,
    ]
    .concat();
    let image = gpu(take, &ptx);
    let mut file = host(take, &image);
    for _ in 0..take.u8() % 3 {
        file = archive(take, &file);
    }
    let mut found = Found(Vec::new());
    scan_into(&file, None, &options(Unpack::Bytes), &mut found);
    assert_eq!(found.0, [ptx.as_slice()]);
    // And once more with a few bytes changed.
    let changes = take.list(|take| (take.u16(), take.u8()));
    for (at, byte) in &changes {
        let at = usize::from(*at) % file.len();
        file[at] = *byte;
    }
    let mode = take.one_of(&MODES);
    scanned(&file, &options(mode));
}

/// A container that is made for GPU code.
fn gpu(take: &mut Take<'_>, image: &[u8]) -> Vec<u8> {
    let binary = || NewImage {
        image_kind: image_kind::PTX,
        offload_kind: offload_kind::CUDA,
        strings: vec![("arch", "sm_70")],
        data: image,
    };
    let entry = |compression, payload| {
        fatbin::write(&[NewEntry {
            kind: EntryKind::Ptx,
            sm: Sm {
                number: 70,
                suffix: Suffix::Plain,
            },
            version: PtxIsa { major: 7, minor: 0 },
            compression,
            unpacked_size: image.len() as u64,
            payload,
        }])
    };
    let bundle = || bundle::write(&[("host-x86_64-unknown-linux--", b""), ("hip--gfx90a", image)]);
    let packed = |bytes: &[u8]| zlib(bytes).expect("memory takes it");
    match take.u8() % 10 {
        0 => offload_binary::write(&[binary()]),
        1 => offload_binary::write_v2(&[binary()]),
        2 => version_3(&offload_binary::write_v2(&[binary()]), zstd_frame),
        3 => version_3(&offload_binary::write_v2(&[binary()]), packed),
        4 => entry(Compression::None, image),
        5 => entry(Compression::Zstd, &zstd_frame(image)),
        6 => entry(Compression::Lz4, &lz4_block(image)),
        7 => bundle(),
        8 => ccob(2, 1, &zstd_frame(&bundle()), bundle().len()),
        _ => ccob(1, 0, &packed(&bundle()), bundle().len()),
    }
}

/// It alone, in its section of a host file, or at the end of one.
fn host(take: &mut Take<'_>, image: &[u8]) -> Vec<u8> {
    let machine = take.one_of(&[Machine::X86_64, Machine::Aarch64]);
    let object = |binaries: &[&[u8]]| {
        let mut out = Vec::new();
        relocatable::write(&mut out, machine, binaries, &[PtxPolicy::Forbid])
            .expect("memory takes it");
        out
    };
    match take.u8() % 3 {
        0 => image.to_vec(),
        1 if image.starts_with(offload_binary::MAGIC) => object(&[image]),
        _ => [&object(&[]), image].concat(),
    }
}

fn archive(take: &mut Take<'_>, file: &[u8]) -> Vec<u8> {
    let name = ["a", "bb.o"][usize::from(take.u8()) % 2];
    match take.u8() % 3 {
        0 => ar(&format!("{name}/"), file),
        1 => zip_file(&[(name, file)]).expect("memory takes it"),
        _ => file.to_vec(),
    }
}

/// The bytes of every image; there must not be a problem.
struct Found(Vec<Vec<u8>>);

impl Sink for Found {
    fn image(&mut self, _: Image, bytes: Option<&[u8]>) {
        self.0.push(bytes.expect("its bytes").to_vec());
    }

    fn problem(&mut self, problem: Problem) {
        panic!("{problem}");
    }

    fn member(&mut self, _: Member) {}
}
