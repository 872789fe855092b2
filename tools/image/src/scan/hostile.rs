//! Files cut short and with flipped bits: every one has to give an answer, never a panic.

use super::scan;
use super::tests::{object, packed, DATA};

#[test]
fn every_truncation_is_an_answer() {
    for (name, bytes) in DATA {
        for length in 0..bytes.len() {
            let scanned = scan(&bytes[..length]);
            let whole = scanned.problems.is_empty();
            assert!(
                !whole || !name.ends_with("fatbin"),
                "{name} cut at {length} passes"
            );
        }
        assert_eq!(scan(bytes).problems, [], "{name} whole");
    }
}

#[test]
fn every_bit_flip_is_an_answer() {
    let packed = object(&[&packed("embed")]);
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for bytes in DATA.iter().map(|(_, bytes)| *bytes).chain([&packed[..]]) {
        for _ in 0..2000 {
            let mut mutant = bytes.to_vec();
            for _ in 0..=next() % 4 {
                let at = (next() % mutant.len() as u64) as usize;
                // Half of them in the head, where the tables are.
                let at = if next() % 2 == 0 { at } else { at % 128 };
                mutant[at] ^= 1 << (next() % 8);
            }
            let scanned = scan(&mutant);
            for image in &scanned.images {
                let end = image.location.offset + image.data.len() as u64;
                assert!(end <= mutant.len() as u64);
            }
        }
    }
}
