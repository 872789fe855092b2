use super::*;

const LLVM: &[u8] = include_bytes!("../../tests/data/llvm22.offload");
const SM_90: &[u8] = include_bytes!("../../tests/data/sm_90.new.cubin");

fn put(bytes: &mut Vec<u8>, words: &[u64]) {
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}

/// A binary of a later version with two entries that share their one string.
fn two_entries(version: u32, header: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&version.to_le_bytes());
    let strings = header + 2 * ENTRY;
    let text = strings + 24;
    let image = text + 16;
    put(&mut bytes, &[image + 8, header, 2]);
    bytes.resize(header as usize, 0);
    for (kind, at) in [(5_u64, image), (3, image + 4)] {
        put(&mut bytes, &[kind | 2 << 16, strings, 1, at, 4]);
    }
    put(&mut bytes, &[text, text + 5, 5]);
    bytes.extend_from_slice(b"arch\0sm_90\0\0\0\0\0\0abcdefgh");
    bytes
}

#[test]
fn reads_what_llvm_writes() {
    let found = OffloadBinary::parse_all(Bytes::new(LLVM)).unwrap();
    let entries: Vec<&Entry<'_>> = found.iter().flat_map(|binary| &binary.entries).collect();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0].image_kind, image_kind::CUBIN);
    assert_eq!(entries[0].offload_kind, offload_kind::CUDA);
    assert_eq!(entries[0].get("arch"), Some("sm_90"));
    assert_eq!(entries[0].image.unwrap().data(), SM_90);
    assert_eq!(entries[1].image_kind, image_kind::PTX);
    assert_eq!(entries[1].get("foo"), Some("bar"));
    assert_eq!(entries[1].get("nothing"), None);
}

#[test]
fn what_is_written_is_read_back() {
    let images = [
        NewImage {
            image_kind: image_kind::CUBIN,
            offload_kind: offload_kind::CUDA,
            strings: vec![("triple", "nvptx64-nvidia-cuda"), ("arch", "sm_90")],
            data: SM_90,
        },
        NewImage {
            image_kind: image_kind::OBJECT,
            offload_kind: offload_kind::HIP,
            strings: Vec::new(),
            data: b"odd",
        },
    ];
    assert_eq!(write(&images), write(&images));
    assert_eq!(write_v2(&images), write_v2(&images));
    for (bytes, binaries) in [(write(&images), 2), (write_v2(&images), 1)] {
        assert_eq!(bytes.len() % 8, 0);
        let found = OffloadBinary::parse_all(Bytes::new(&bytes)).unwrap();
        assert_eq!(found.len(), binaries);
        let entries: Vec<_> = found.iter().flat_map(|binary| &binary.entries).collect();
        assert_eq!(entries.len(), images.len());
        for (entry, image) in entries.iter().zip(&images) {
            assert_eq!(entry.image_kind, image.image_kind);
            assert_eq!(entry.offload_kind, image.offload_kind);
            assert_eq!(entry.strings, image.strings);
            let stored = entry.image.unwrap();
            assert_eq!(stored.data(), image.data);
            assert_eq!(stored.base() % 8, 0);
        }
    }
}

#[test]
fn a_compressed_binary_is_told_and_can_be_restored() {
    let plain = two_entries(3, 40);
    let mut bytes = plain.clone();
    bytes[32..40].copy_from_slice(&(plain.len() as u64).to_le_bytes());
    // "Packed" as it is: unpacking is not done here.
    let packed = Packed::parse(Bytes::new(&bytes)).unwrap().unwrap();
    assert_eq!(packed.unpacked_size, plain.len() as u64 - 40);
    assert_eq!(packed.restore(packed.body.data()), plain);
    assert!(Packed::parse(Bytes::new(&plain)).unwrap().is_none());
    assert!(Packed::parse(Bytes::new(LLVM)).unwrap().is_none());
    for (at, value) in [(8, 0xff), (8, 39), (16, 39), (32, 39)] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        assert!(Packed::parse(Bytes::new(&bytes)).is_err(), "{at}");
    }
}

#[test]
fn several_entries_of_later_versions() {
    for bytes in [two_entries(2, 32), two_entries(3, 40)] {
        let binary = OffloadBinary::parse(Bytes::new(&bytes)).unwrap();
        let found: Vec<_> = binary
            .entries
            .iter()
            .map(|entry| {
                (
                    entry.image_kind,
                    entry.get("arch"),
                    entry.image.unwrap().data(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (5, Some("sm_90"), &b"abcd"[..]),
                (3, Some("sm_90"), &b"efgh"[..])
            ]
        );
    }
}

#[test]
fn compressed_and_unknown_versions_are_told() {
    let mut bytes = two_entries(3, 40);
    bytes[32] = 99;
    let error = OffloadBinary::parse(Bytes::new(&bytes)).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported { offset: 32, .. }),
        "{error}"
    );
    for version in [0, 4, 99] {
        let bytes = two_entries(version, 32);
        let error = OffloadBinary::parse(Bytes::new(&bytes)).unwrap_err();
        assert!(
            error.to_string().contains(&format!("version {version}")),
            "{error}"
        );
    }
}

#[test]
fn an_entry_without_an_image() {
    let mut bytes = two_entries(2, 32);
    bytes[32 + 4] = 1;
    let binary = OffloadBinary::parse(Bytes::new(&bytes)).unwrap();
    assert!(binary.entries[0].image.is_none());
    assert!(binary.entries[1].image.is_some());
}

#[test]
fn hostile_counts() {
    for (at, what) in [(24, "entry count"), (32 + 16, "string count")] {
        let mut bytes = two_entries(2, 32);
        bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        let error = OffloadBinary::parse(Bytes::new(&bytes)).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn bytes_that_belong_to_nothing() {
    let mut bytes = LLVM.to_vec();
    bytes.extend_from_slice(&[0; 24]);
    assert!(OffloadBinary::parse_all(Bytes::new(&bytes)).is_ok());
    bytes.extend_from_slice(b"left over, and longer than a header of 32");
    let error = OffloadBinary::parse_all(Bytes::new(&bytes)).unwrap_err();
    assert_eq!(error.offset(), LLVM.len() as u64 + 24);
}

#[test]
fn images_that_overlap_are_refused() {
    let mut bytes = two_entries(2, 32);
    let length = bytes.len() as u64;
    for entry in 0..2 {
        let at = 32 + 40 * entry + 24;
        bytes[at..at + 8].copy_from_slice(&0_u64.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&length.to_le_bytes());
    }
    let error = OffloadBinary::parse(Bytes::new(&bytes)).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}

/// Each entry costs 64 bytes and would give the one value as its own.
#[test]
fn entries_that_share_one_long_value_are_refused() {
    for (length, fits) in [(64, true), (10_000, false)] {
        let value = "v".repeat(length);
        let count = 64_u64;
        let strings = HEADER + ENTRY * count;
        let text = strings + 24 * count;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&2_u32.to_le_bytes());
        put(&mut bytes, &[text + 5 + length as u64, HEADER, count]);
        for index in 0..count {
            put(&mut bytes, &[5 | 2 << 16, strings + 24 * index, 1, text, 0]);
        }
        for _ in 0..count {
            put(&mut bytes, &[text, text + 5, length as u64]);
        }
        bytes.extend_from_slice(format!("arch\0{value}").as_bytes());
        let found = OffloadBinary::parse(Bytes::new(&bytes));
        assert_eq!(found.is_ok(), fits, "{length}");
        if let Err(error) = found {
            assert!(error.to_string().contains("too long together"), "{error}");
        }
    }
}
