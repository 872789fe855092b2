//! What the fuzzer starts from: the fixtures of the crates, and small files around them that tools
//! would write.

use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;

use flate2::write::ZlibEncoder;
use offload_audit::unpack::zstd_frame;
use offload_image::bundle;
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use offload_image::policy::PtxPolicy;
use offload_image::relocatable::{self, Machine};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const FIXTURES: [&str; 2] = ["image/tests/data", "audit/tests/data"];

/// The seeds by name, given the folder `tools`.
///
/// # Errors
/// Fixtures that cannot be read.
pub fn seeds(tools: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for folder in FIXTURES {
        for entry in fs::read_dir(tools.join(folder))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.extension().is_some_and(|end| end == "md") {
                continue;
            }
            found.push((name.into_owned(), fs::read(&path)?));
        }
    }
    let ptx = fs::read(tools.join("image/tests/data/tiny.ptx"))?;
    found.extend(around(&ptx)?.map(|(name, bytes)| (name.to_owned(), bytes)));
    found.sort();
    Ok(found)
}

fn around(ptx: &[u8]) -> io::Result<[(&'static str, Vec<u8>); 14]> {
    let image = |arch| NewImage {
        image_kind: image_kind::PTX,
        offload_kind: offload_kind::CUDA,
        strings: vec![("arch", arch), ("ptx_policy", "embed")],
        data: ptx,
    };
    let one = offload_binary::write(&[image("sm_70")]);
    let two = offload_binary::write_v2(&[image("sm_70"), image("sm_80")]);
    let bundle = bundle::write(&[
        ("host-x86_64-unknown-linux--", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", ptx),
    ]);
    let mut object = Vec::new();
    relocatable::write(
        &mut object,
        Machine::X86_64,
        &[&one, &two],
        &[PtxPolicy::Embed],
    )?;
    // For the decompressors: what to unpack as, the size, how much of it.
    let asked = |how: u8, packed: &[u8]| {
        let size = (ptx.len() as u16).to_le_bytes();
        [packed, &[how], &size, &100_u16.to_le_bytes()].concat()
    };
    Ok([
        ("zstd", asked(0, &zstd_frame(ptx))),
        ("zstd.match", asked(0, ONE_MATCH)),
        ("zlib", asked(1, &zlib(ptx)?)),
        ("lz4", asked(2, &lz4_block(ptx))),
        ("zip", zip_file(&[("a.ptx", ptx), ("b.o", &object)])?),
        ("ccob.1", ccob(1, 0, &zlib(&bundle)?, bundle.len())),
        ("ccob.2", ccob(2, 1, &zstd_frame(&bundle), bundle.len())),
        ("ccob.3", ccob(3, 0, &zlib(&bundle)?, bundle.len())),
        ("v3.zstd", version_3(&two, zstd_frame)),
        (
            "v3.zlib",
            version_3(&two, |body| zlib(body).unwrap_or_default()),
        ),
        ("v1.offload", one),
        ("v2.offload", two),
        ("bundle", bundle),
        ("object.o", object),
    ])
}

/// A zstd frame of `abcdefgh` and a match whose length takes 16 bits, each table of one code.
const ONE_MATCH: &[u8] = &[
    0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 0x40, 0, 0, b'a', b'b', b'c', b'd', b'e', b'f', b'g', b'h',
    0x4d, 0, 0, 0, 1, 0x54, 0, 0, 52, 0, 0, 1,
];

pub fn zlib(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// An LZ4 block of one run of literals.
pub fn lz4_block(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len();
    let mut out = vec![(length.min(15) as u8) << 4];
    if length >= 15 {
        out.resize(out.len() + (length - 15) / 255, 255);
        out.push(((length - 15) % 255) as u8);
    }
    out.extend_from_slice(bytes);
    out
}

/// A zip file of members that are packed and stored, in turn.
pub fn zip_file(members: &[(&str, &[u8])]) -> io::Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let methods = [CompressionMethod::Deflated, CompressionMethod::Stored];
    for ((name, bytes), method) in members.iter().zip(methods.iter().cycle()) {
        let options = SimpleFileOptions::default().compression_method(*method);
        writer.start_file(*name, options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

/// An `ar` archive of one member.
pub fn ar(name: &str, bytes: &[u8]) -> Vec<u8> {
    let size = bytes.len();
    let head = format!("!<arch>\n{name:<16}0           0     0     644     {size:<10}`\n");
    let padding: &[u8] = if size % 2 == 0 { b"" } else { b"\n" };
    [head.as_bytes(), bytes, padding].concat()
}

/// A compressed bundle.
pub fn ccob(version: u16, method: u16, packed: &[u8], size: usize) -> Vec<u8> {
    let mut out = b"CCOB".to_vec();
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&method.to_le_bytes());
    let (wide, told) = match version {
        1 => (false, None),
        2 => (false, Some(24 + packed.len())),
        _ => (true, Some(32 + packed.len())),
    };
    for number in told.into_iter().chain([size]) {
        let bytes = (number as u64).to_le_bytes();
        out.extend_from_slice(if wide { &bytes } else { &bytes[..4] });
    }
    // A hash, which nobody looks at.
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(packed);
    out
}

/// A binary of version 2 as one of version 3 that is packed: its header has eight bytes more, by
/// which every offset moves.
pub fn version_3(two: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut whole = two[..32].to_vec();
    whole.extend_from_slice(&[0; 8]);
    whole.extend_from_slice(&two[32..]);
    let mut add = |at: usize| {
        let old: [u8; 8] = whole[at..at + 8].try_into().expect("eight bytes");
        let new = u64::from_le_bytes(old) + 8;
        whole[at..at + 8].copy_from_slice(&new.to_le_bytes());
        new as usize
    };
    let length = add(8);
    let entries = add(16);
    let count = usize::from(two[24]);
    for entry in (0..count).map(|index| entries + 40 * index) {
        let strings = add(entry + 8);
        add(entry + 24);
        for pair in (0..usize::from(two[entry - 8 + 16])).map(|index| strings + 24 * index) {
            add(pair);
            add(pair + 8);
        }
    }
    let packed = pack(&whole[40..]);
    whole.truncate(40);
    whole[4] = 3;
    whole[8..16].copy_from_slice(&(40 + packed.len() as u64).to_le_bytes());
    whole[32..40].copy_from_slice(&(length as u64).to_le_bytes());
    whole.extend_from_slice(&packed);
    whole
}
