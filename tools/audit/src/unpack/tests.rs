use super::*;

/// Bytes that do not compress to nothing.
fn sample(length: usize) -> Vec<u8> {
    let mut seed = 1_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 28) as u8 + b'a'
    };
    (0..length).map(|_| next()).collect()
}

fn all(packed: &[u8], size: u64, limit: u64) -> Result<Vec<u8>> {
    unpack(Compression::Zstd, Bytes::new(packed), size, limit)
}

#[test]
fn what_is_packed_is_unpacked() {
    for length in [0, 1, 1000, 400_000] {
        let bytes = sample(length);
        let packed = zstd_frame(&bytes);
        assert_eq!(packed, zstd_frame(&bytes), "the same bytes each time");
        assert_eq!(all(&packed, length as u64, 1 << 20).unwrap(), bytes);
    }
}

#[test]
fn sizes_that_lie_and_limits() {
    let packed = zstd_frame(&sample(400_000));
    for (size, limit, says) in [
        (399_999, 1 << 20, "or more, and not to 399999"),
        (400_001, 1 << 20, "400000 bytes, and not to 400001"),
        (400_000, 1000, "the limit is 1000"),
        (u64::MAX, 1000, "the limit is 1000"),
    ] {
        let error = all(&packed, size, limit).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let start = unpack_start(Compression::Zstd, Bytes::new(&packed), None, 1000);
    assert!(start.unwrap_err().to_string().contains("the limit is 1000"));
    let lz4 = unpack(Compression::Lz4, Bytes::new(&[0; 8]), 1 << 30, 1 << 31);
    assert!(lz4.unwrap_err().to_string().contains("cannot unpack to"));
    let left = [&zstd_frame(b"one")[..], b"\0\0more"].concat();
    let error = all(&left, 3, 1000).unwrap_err();
    assert!(error.to_string().contains("other bytes follow"), "{error}");
}

#[test]
fn heads_are_the_first_bytes() {
    let bytes = sample(400_000);
    let packed = zstd_frame(&bytes);
    let head = |packed: &[u8]| {
        let packed = Bytes::new(packed);
        unpack_head(Compression::Zstd, packed, 400_000, 1 << 20, 4096)
    };
    let found = head(&packed).unwrap();
    assert!(found.len() >= 4096 && bytes.starts_with(&found));
    // All but the first block may be broken.
    assert_eq!(head(&packed[..packed.len() - 1000]).unwrap(), found);
    assert!(head(&packed[..20]).is_err());
}

#[test]
fn heads_of_lz4_blocks_at_every_length() {
    let runs = [&sample(300)[..], &[7; 1000], &sample(300), b"end"].concat();
    let packed = lz4_flex::block::compress(&runs);
    assert!(packed.len() < 700, "with literals and matches");
    let size = runs.len() as u64;
    let head = |packed: &[u8], wanted| {
        unpack_head(Compression::Lz4, Bytes::new(packed), size, 1 << 20, wanted)
    };
    for wanted in 0..=size {
        let found = head(&packed, wanted).unwrap();
        assert_eq!(found, runs[..wanted as usize], "{wanted}");
    }
    assert_eq!(head(&packed, size + 1).unwrap(), runs);
    // What comes after the head may be broken, and what comes before its end may not.
    assert_eq!(
        head(&packed[..packed.len() - 10], 100).unwrap(),
        runs[..100]
    );
    for length in 0..packed.len() {
        assert!(head(&packed[..length], size).is_err(), "{length}");
    }
    let before = [0x10, b'a', 9, 0, 0];
    let error = head(&before, 5).unwrap_err().to_string();
    assert!(error.contains("starts before the block"), "{error}");
}
