//! What is written is read back.

use offload_audit::unpack::zstd_frame;
use offload_image::arch::Suffix;
use offload_image::bundle::{self, Bundle};
use offload_image::bytes::Bytes;
use offload_image::elf::Elf;
use offload_image::fatbin::{self, EntryKind, Fatbin, NewEntry};
use offload_image::image::Compression;
use offload_image::offload_binary::{self, NewImage, OffloadBinary};
use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::PtxIsa;
use offload_image::relocatable::{self, Machine};
use offload_image::target::Sm;

use crate::take::Take;

pub fn write_offload_binary(data: &[u8]) {
    let images = Take::new(data).list(|take| NewImage {
        image_kind: take.u16(),
        offload_kind: take.u16(),
        strings: take.list(|take| (take.text(), take.text())),
        data: take.blob(),
    });
    let one = offload_binary::write(&images);
    let two = offload_binary::write_v2(&images);
    let one = OffloadBinary::parse_all(Bytes::new(&one)).expect("version 1");
    let two = OffloadBinary::parse_all(Bytes::new(&two)).expect("version 2");
    assert_eq!((one.len(), two.len()), (images.len(), 1));
    let one: Vec<_> = one.iter().flat_map(|binary| &binary.entries).collect();
    let two: Vec<_> = two.iter().flat_map(|binary| &binary.entries).collect();
    for found in [one, two] {
        assert_eq!(found.len(), images.len());
        for (found, image) in found.iter().zip(&images) {
            assert_eq!(found.image_kind, image.image_kind);
            assert_eq!(found.offload_kind, image.offload_kind);
            assert_eq!(found.strings, image.strings);
            let bytes = found.image.expect("an image");
            assert_eq!(bytes.data(), image.data);
            assert_eq!(bytes.base() % offload_binary::ALIGN, 0);
        }
    }
}

pub fn write_fatbin(data: &[u8]) {
    let entries = Take::new(data).list(|take| {
        let raw = (take.u8() & 1 == 0).then_some(());
        let kind = take.one_of(&[EntryKind::Ptx, EntryKind::Cubin, EntryKind::Other(8)]);
        let sm = Sm {
            number: u32::from(take.u16()),
            suffix: take.one_of(&[Suffix::Plain, Suffix::Family, Suffix::Exact]),
        };
        let version = PtxIsa {
            major: take.u16(),
            minor: take.u16(),
        };
        let payload = take.blob();
        let stored = raw.map_or_else(|| zstd_frame(payload), |()| payload.to_vec());
        (raw, kind, sm, version, payload, stored)
    });
    let new: Vec<_> = entries
        .iter()
        .map(|(raw, kind, sm, version, payload, stored)| NewEntry {
            kind: *kind,
            sm: *sm,
            version: *version,
            compression: raw.map_or(Compression::Zstd, |()| Compression::None),
            unpacked_size: payload.len() as u64,
            payload: stored,
        })
        .collect();
    let bytes = fatbin::write(&new);
    let found = Fatbin::parse(Bytes::new(&bytes)).expect("a fatbin");
    assert_eq!(found.length, bytes.len() as u64);
    same_entries(&found, &new);
    for (entry, (raw, .., payload, _)) in found.entries.iter().zip(&entries) {
        if raw.is_none() {
            let (size, limit) = (entry.unpacked_size, 1 << 16);
            let unpack = offload_audit::unpack::unpack;
            let unpacked = unpack(entry.compression, entry.payload, size, limit);
            assert_eq!(unpacked.as_deref(), Ok(*payload));
        }
    }
}

/// A fatbin that was read, written anew.
pub fn fatbin_again(fatbin: &Fatbin<'_>) {
    let known = |e: &&fatbin::Entry<'_>| e.compression != Compression::Unknown;
    let new: Vec<_> = fatbin
        .entries
        .iter()
        .filter(known)
        .map(|entry| NewEntry {
            kind: entry.kind,
            sm: entry.sm,
            version: entry.version,
            compression: entry.compression,
            unpacked_size: entry.unpacked_size,
            payload: entry.payload.data(),
        })
        .collect();
    let bytes = fatbin::write(&new);
    same_entries(&Fatbin::parse(Bytes::new(&bytes)).expect("a fatbin"), &new);
}

fn same_entries(found: &Fatbin<'_>, new: &[NewEntry<'_>]) {
    assert_eq!(found.entries.len(), new.len());
    for (found, new) in found.entries.iter().zip(new) {
        assert_eq!((found.kind, found.sm), (new.kind, new.sm));
        assert_eq!(found.version, new.version);
        assert_eq!(found.compression, new.compression);
        let payload = found.payload.data();
        if new.compression == Compression::None {
            let (start, padding) = payload.split_at(new.payload.len());
            assert_eq!(start, new.payload);
            assert!(padding.len() < 8 && padding.iter().all(|byte| *byte == 0));
        } else {
            assert_eq!(payload, new.payload);
            assert_eq!(found.unpacked_size, new.unpacked_size);
        }
    }
}

pub fn write_bundle(data: &[u8]) {
    bundle_of(&Take::new(data).list(|take| (take.text(), take.blob())));
}

/// A bundle of these images has them.
pub fn bundle_of(images: &[(&str, &[u8])]) {
    let bytes = bundle::write(images);
    let bundle = Bundle::parse(Bytes::new(&bytes)).expect("a bundle");
    assert_eq!(bundle.length, bytes.len() as u64);
    let found: Vec<_> = bundle
        .entries
        .iter()
        .map(|e| (e.id, e.image.data()))
        .collect();
    assert_eq!(found, images);
    let aligned = |e: &bundle::Entry<'_>| e.image.base() % bundle::ALIGN == 0;
    assert!(bundle.entries.iter().all(aligned));
}

pub fn relocatable(data: &[u8]) {
    let take = &mut Take::new(data);
    let (machine, number) = take.one_of(&[(Machine::X86_64, 62), (Machine::Aarch64, 183)]);
    let binaries = take.list(Take::blob);
    let mut out = Vec::new();
    relocatable::write(&mut out, machine, &binaries, &[PtxPolicy::Only]).expect("memory takes it");
    let elf = Elf::parse(Bytes::new(&out)).expect("an object");
    assert_eq!((elf.machine, elf.extent()), (number, out.len() as u64));
    let section = |name: &str| {
        let found = elf.sections.iter().find(|section| section.name == name);
        found.expect("a section").bytes
    };
    let images = section(relocatable::IMAGES);
    let records = section(relocatable::RECORDS);
    let distances = section(".relaoffload_images");
    assert_eq!(records.len(), relocatable::RECORD * binaries.len() as u64);
    for (index, binary) in binaries.iter().enumerate() {
        let index = index as u64;
        let size = records.u64(relocatable::RECORD * index + 8, "size");
        assert_eq!(size, Ok(binary.len() as u64));
        let at = distances.u64(24 * index + 16, "addend").expect("an addend");
        let found = images.slice(at, binary.len() as u64, "binary");
        assert_eq!(found.map(|found| found.data()), Ok(*binary));
    }
}
