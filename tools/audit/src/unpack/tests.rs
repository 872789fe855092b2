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
fn a_buffer_is_used_again() {
    let mut buffer = Vec::new();
    for length in [10, 400_000, 0, 1000] {
        let bytes = sample(length);
        let lz4 = lz4_flex::block::compress(&bytes);
        for (compression, packed) in [
            (Compression::Zstd, zstd_frame(&bytes)),
            (Compression::Lz4, lz4),
        ] {
            let packed = Bytes::new(&packed);
            let limit = 1 << 20;
            unpack_into(&mut buffer, compression, packed, length as u64, limit).unwrap();
            assert_eq!(buffer, bytes);
            // What is told of a fault is not up to what was in the buffer.
            let told = length as u64 + 1;
            let again = unpack_into(&mut buffer, compression, packed, told, limit);
            assert_eq!(again.err(), unpack(compression, packed, told, limit).err());
        }
    }
    let packed = zstd_frame(&sample(1000));
    let error = unpack_into(&mut buffer, Compression::Zstd, Bytes::new(&packed), 10, 20);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("11 bytes or more, and not to 10"), "{error}");
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

#[test]
fn a_head_of_small_blocks_and_small_frames() {
    // Three frames: of nothing, of two blocks of one byte each, of a text.
    let empty: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];
    let blocks: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 8, 0, 0, b'a', 9, 0, 0, b'b',
    ];
    let packed = [empty, blocks, &zstd_frame(b"cdefgh")].concat();
    assert_eq!(all(&packed, 8, 100).unwrap(), b"abcdefgh");
    for (wanted, head) in [(1, "a"), (2, "ab"), (3, "abc")] {
        let found = unpack_head(Compression::Zstd, Bytes::new(&packed), 8, 100, wanted);
        let found = String::from_utf8(found.unwrap()).unwrap();
        assert!(found.starts_with(head), "{wanted}: {found}");
    }
    // Or with nothing at all: frames to be skipped are frames.
    let skipped = Bytes::new(b"\x50\x2a\x4d\x18\x01\0\0\0x\0\0");
    assert_eq!(all(skipped.data(), 0, 100), Ok(Vec::new()));
    let head = unpack_head(Compression::Zstd, skipped, 0, 100, 10);
    assert_eq!(head, Ok(Vec::new()));
}

/// Few bytes that a decoder can make gigabytes of before it gives out the first, whatever it is told
/// of the size: not every decoder refuses them.
#[test]
fn what_is_larger_than_told_is_not_unpacked_to_tell_so() {
    // A block is 128 KiB at most, and here has 127 matches of 64 KiB.
    let mut packed = ZSTD_MAGIC.to_vec();
    packed.extend_from_slice(&[0, 0x58, 0x40, 0, 0]);
    packed.extend_from_slice(b"abcdefgh\x2d\x08\0\0\x7f\x54\0\0\x34");
    packed.resize(packed.len() + 254, 0);
    packed.push(1);
    assert!(all(&packed, 8, 1000).is_err());
    assert!(all(&packed, 8 + 127 * 65_539, 1 << 30).is_err());
    // Blocks of one byte repeated, and a window that has room for all of them.
    let mut packed = ZSTD_MAGIC.to_vec();
    packed.extend_from_slice(&[0, 0x80]);
    for _ in 0..200 {
        packed.extend_from_slice(&[2, 0, 16, b'r']);
    }
    packed.extend_from_slice(&[1, 0, 0]);
    let told = all(&packed, 10, 1000).unwrap_err().to_string();
    assert!(told.contains("11 bytes or more, and not to 10"), "{told}");
    assert_eq!(all(&packed, 200 << 17, 1 << 30).unwrap().len(), 200 << 17);
    // Nor is there room for more.
    for told in [10, 100 << 17, 200 << 17] {
        let mut buffer = Vec::new();
        let packed = Bytes::new(&packed);
        let _ = unpack_into(&mut buffer, Compression::Zstd, packed, told, 1 << 30);
        assert!(buffer.capacity() as u64 <= told + 1);
    }
}
