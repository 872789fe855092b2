//! Files cut short and with flipped bits: every one has to give an answer, in bounded time and
//! memory, and never a panic.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::containers::{zipped, FILES};
use super::field_cases::{compressed, version_3, zlib};
use super::packs::linked;
use super::tests::{appended, data, object, packed, DATA};
use super::*;
use crate::unpack::zstd_frame;

/// Enough for every fixture.
const OPTIONS: Options = Options {
    limits: Limits {
        max_unpacked: 1 << 20,
        max_member: 1 << 20,
        max_total: 1 << 23,
        max_depth: 8,
    },
    unpack: Unpack::Contents,
    sha256: false,
};
/// What one scan of a small file may take, on a busy machine without optimisation.
const SLOW: Duration = Duration::from_secs(10);
const FLIPS: usize = 10_000;

/// Every fixture and every container that the tests build, each below 10 KB.
fn inputs() -> Vec<(String, Vec<u8>)> {
    let given = DATA.iter().chain(FILES);
    let mut all: Vec<_> = given
        .map(|(name, b)| ((*name).to_owned(), b.to_vec()))
        .collect();
    let bundle = offload_image::bundle::write(&[
        ("host-x86_64-unknown-linux--", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", data("tiny.ptx")),
    ]);
    for (version, method) in [(1, 0), (2, 1), (3, 0)] {
        let payload = if method == 0 {
            zlib(&bundle)
        } else {
            zstd_frame(&bundle)
        };
        let bytes = compressed(version, method, &payload, bundle.len());
        all.push((format!("ccob {version}"), bytes));
    }
    all.push(("bundle".to_owned(), bundle));
    all.push(("v3 zstd".to_owned(), version_3(zstd_frame)));
    all.push(("v3 zlib".to_owned(), version_3(zlib)));
    all.push(("packed.o".to_owned(), object(&[&packed("embed")])));
    all.push(("linked".to_owned(), linked(&[&packed("embed")])));
    let members = [("a.o", data("host.o")), ("b.ptx", data("tiny.ptx"))];
    all.push(("wheel".to_owned(), zipped(&members)));
    all
}

fn answer(name: &str, bytes: &[u8]) -> Scan {
    let start = Instant::now();
    let scanned = scan_with(bytes, &OPTIONS);
    assert!(start.elapsed() < SLOW, "{name}: {:?}", start.elapsed());
    for image in &scanned.images {
        // Of what was not unpacked, the size is what the container says.
        let unpacked = image.content.is_some();
        assert!(!unpacked || image.unpacked_size <= OPTIONS.limits.max_unpacked);
    }
    scanned
}

/// Whether a file of this kind may be cut without a fault: it does not tell its own length, its last
/// member or binary is a whole less, or it ends with what is not read.
fn may_be_cut(name: &str) -> bool {
    let ends = [".a", ".offload", ".ptx", "mac.o", "win.dll", "win.obj"];
    ends.iter().any(|end| name.ends_with(end))
}

#[test]
fn every_truncation_is_an_answer() {
    inputs().into_par_iter().for_each(|(name, bytes)| {
        for length in 0..bytes.len() {
            let scanned = answer(&name, &bytes[..length]);
            let whole = scanned.problems.is_empty();
            assert!(!whole || may_be_cut(&name), "{name} cut at {length} passes");
        }
        if name != "thin.a" {
            assert_eq!(answer(&name, &bytes).problems, [], "{name} whole");
        }
    });
}

/// Headers one after another that all lead to one long table, which is broken at its end: whoever
/// reads it for each header takes the product of the two.
#[test]
fn tables_that_many_headers_share_are_not_read_for_each() {
    let mut bytes = b"nothing ".to_vec();
    let (headers, entries) = (4000_u64, 40_000_u64);
    for index in 0..headers {
        bytes.extend_from_slice(offload_image::bundle::MAGIC);
        // The first entry's id reaches to the table.
        for word in [entries, 0, 0, 80 * (headers - index) - 56] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.resize(bytes.len() + 24, 0);
    }
    bytes.resize(bytes.len() + 24 * entries as usize, 0);
    let scanned = answer("bundles", &bytes);
    assert!(scanned.problems[0].to_string().contains("too many places"));
}

/// Each image of a few bytes is told with the names of the members and the section around it.
#[test]
fn one_long_name_is_not_told_with_every_image() {
    let images: Vec<(&str, &[u8])> = vec![("hip--gfx90a", b"x"); 100];
    let bundle = offload_image::bundle::write(&images);
    let name = "n".repeat(10_000);
    let size = name.len() + bundle.len();
    let mut archive = b"!<arch>\n".to_vec();
    let head = format!(
        "#1/{:<13}0           0     0     644     {size:<10}`\n",
        name.len()
    );
    archive.extend_from_slice(head.as_bytes());
    archive.extend_from_slice(name.as_bytes());
    archive.extend_from_slice(&bundle);
    let scanned = answer("archive", &archive);
    assert_eq!(scanned.images.len(), 100);
    for image in &scanned.images {
        let member = &image.location.member[0];
        assert_eq!(member.chars().count(), 513);
        assert!(member.starts_with("nnn") && member.ends_with("n…"));
    }
}

/// A COFF object whose sections share one name, which each would have as its own.
#[test]
fn sections_that_share_one_long_name_are_refused() {
    for (length, fits) in [(100, true), (60_000, false)] {
        let sections = 100_u16;
        let names = 20 + 40 * u32::from(sections);
        let mut bytes = vec![0x64, 0x86];
        bytes.extend_from_slice(&sections.to_le_bytes());
        for word in [0, names, 0, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for _ in 0..sections {
            bytes.extend_from_slice(b"/4");
            bytes.resize(bytes.len() + 38, 0);
        }
        bytes.extend_from_slice(&(length + 5_u32).to_le_bytes());
        bytes.resize(bytes.len() + length as usize, b'n');
        bytes.push(0);
        let whole = crate::host::Host::of_object(Bytes::new(&bytes));
        assert_eq!(whole.is_ok(), fits, "{length}");
        if let Err(error) = whole {
            assert!(error.to_string().contains("too long together"), "{error}");
        }
    }
}

/// Text that starts a module again and again, and never becomes one.
#[test]
fn text_is_read_once_however_many_modules_it_starts() {
    let text = ".version 7.0 .target sm_70 ".repeat(40_000);
    let host = [DATA[0].1, b"\0", text.as_bytes()].concat();
    assert_eq!(answer("heads", &appended(&host)).images.len(), 1);
}

#[test]
fn every_bit_flip_is_an_answer() {
    inputs().into_par_iter().for_each(|(name, bytes)| {
        let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for _ in 0..FLIPS {
            let mut mutant = bytes.clone();
            for _ in 0..=next() % 4 {
                let at = (next() % mutant.len() as u64) as usize;
                // Half of them in the head, where the tables are.
                let at = if next() % 2 == 0 { at } else { at % 128 };
                mutant[at] ^= 1 << (next() % 8);
            }
            answer(&name, &mutant);
        }
    });
}
