use super::*;

const RAW: &[u8] = include_bytes!("../../tests/data/raw.fatbin");
const ZSTD: &[u8] = include_bytes!("../../tests/data/default.fatbin");
const LZ4: &[u8] = include_bytes!("../../tests/data/speed.fatbin");

#[test]
fn entries_of_every_packing() {
    for (bytes, cubin, ptx) in [
        (RAW, Compression::None, Compression::None),
        (ZSTD, Compression::None, Compression::Zstd),
        (LZ4, Compression::Lz4, Compression::Lz4),
    ] {
        let fatbin = Fatbin::parse(Bytes::new(bytes)).unwrap();
        assert_eq!(fatbin.length, bytes.len() as u64);
        let found: Vec<_> = fatbin
            .entries
            .iter()
            .map(|entry| (entry.kind, entry.sm.to_string(), entry.compression))
            .collect();
        let sm = || "sm_80".to_owned();
        assert_eq!(
            found,
            [(EntryKind::Cubin, sm(), cubin), (EntryKind::Ptx, sm(), ptx)]
        );
        assert_eq!(fatbin.entries[1].version.to_string(), "8.8");
    }
}

#[test]
fn unknown_kinds_and_letters() {
    let mut bytes = RAW.to_vec();
    bytes[16] = 8;
    bytes[16 + 40 + 2] = 0x10;
    let fatbin = Fatbin::parse(Bytes::new(&bytes)).unwrap();
    assert_eq!(fatbin.entries[0].kind, EntryKind::Other(8));
    assert_eq!(fatbin.entries[0].sm.to_string(), "sm_80a");
}

#[test]
fn sizes_that_reach_too_far_are_told_with_their_place() {
    let mut bytes = RAW.to_vec();
    bytes[16 + 8 + 7] = 0xff;
    let error = Fatbin::parse(Bytes::new(&bytes)).unwrap_err();
    assert_eq!(error.offset(), 16 + 64);
    let mut bytes = RAW.to_vec();
    bytes[16 + 4] = 0x20;
    assert_eq!(Fatbin::parse(Bytes::new(&bytes)).unwrap_err().offset(), 20);
    let mut bytes = RAW.to_vec();
    bytes[4] = 2;
    assert!(matches!(
        Fatbin::parse(Bytes::new(&bytes)),
        Err(Error::Unsupported { offset: 4, .. })
    ));
}

#[test]
fn what_is_written_is_read_back() {
    let sm = |suffix| Sm { number: 90, suffix };
    let isa = PtxIsa { major: 8, minor: 8 };
    let entries = [
        NewEntry {
            kind: EntryKind::Cubin,
            sm: sm(Suffix::Exact),
            version: isa,
            compression: Compression::None,
            unpacked_size: 5,
            payload: b"cubin",
        },
        NewEntry {
            kind: EntryKind::Ptx,
            sm: sm(Suffix::Family),
            version: isa,
            compression: Compression::Zstd,
            unpacked_size: 99,
            payload: b"packed text",
        },
    ];
    let bytes = write(&entries);
    assert_eq!(bytes, write(&entries));
    let fatbin = Fatbin::parse(Bytes::new(&bytes)).unwrap();
    assert_eq!(fatbin.length, bytes.len() as u64);
    for (found, given) in fatbin.entries.iter().zip(&entries) {
        assert_eq!((found.kind, found.sm), (given.kind, given.sm));
        assert_eq!(found.compression, given.compression);
        // What is raw keeps its padding.
        assert!(found.payload.data().starts_with(given.payload));
        assert_eq!(found.payload.base() % 8, 0);
    }
    assert_eq!(fatbin.entries[1].payload.len(), 11);
    assert_eq!(fatbin.entries[1].unpacked_size, 99);
    assert_eq!(fatbin.entries[1].version, isa);
}

/// Byte for byte what fatbinary makes of the same images.
#[test]
fn writes_what_fatbinary_writes() {
    for original in [RAW, ZSTD, LZ4] {
        let fatbin = Fatbin::parse(Bytes::new(original)).unwrap();
        let entries: Vec<NewEntry<'_>> = fatbin
            .entries
            .iter()
            .map(|entry| NewEntry {
                kind: entry.kind,
                sm: entry.sm,
                version: entry.version,
                compression: entry.compression,
                unpacked_size: entry.unpacked_size,
                payload: entry.payload.data(),
            })
            .collect();
        assert_eq!(write(&entries), original);
    }
}
