//! Which images of a host file were packed together.

use super::tests::{data, object, packed};
use super::*;

/// What a linker makes of the object: addresses for its sections, and the distances in the records.
pub(super) fn linked(binaries: &[&[u8]]) -> Vec<u8> {
    const IMAGES: u64 = 0x40_0000;
    const RECORDS: u64 = 0x60_0000;
    let mut bytes = object(binaries);
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let table = word(&bytes, 40) as usize;
    let section = |number: usize| table + 64 * number;
    let [records, relocations] = [2, 3].map(|s| word(&bytes, section(s) + 24) as usize);
    // A program that is loaded anywhere.
    bytes[16] = 3;
    for (number, address) in [(1, IMAGES), (2, RECORDS)] {
        bytes[section(number) + 16..][..8].copy_from_slice(&address.to_le_bytes());
    }
    for index in 0..binaries.len() {
        let addend = word(&bytes, relocations + 24 * index + 16);
        let record = RECORDS + 16 * index as u64;
        let distance = (IMAGES + addend).wrapping_sub(record);
        bytes[records + 16 * index..][..8].copy_from_slice(&distance.to_le_bytes());
        // The relocations are done.
        bytes[relocations + 24 * index..][..24].fill(0);
    }
    bytes
}

fn packs(bytes: &[u8]) -> Vec<Option<u64>> {
    let scanned = scan(bytes);
    assert_eq!(scanned.problems, []);
    let images = scanned.images.iter();
    images.map(|image| image.location.pack).collect()
}

/// Where the section of that number starts in the file.
fn section(bytes: &[u8], number: usize) -> usize {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    word(word(40) + 64 * number + 24)
}

#[test]
fn each_record_is_a_pack() {
    let (one, two) = (packed("embed"), packed("forbid"));
    for bytes in [object(&[&one, &two]), linked(&[&one, &two])] {
        assert_eq!(packs(&bytes), [Some(0), Some(0), Some(1), Some(1)]);
    }
    // Files that are packed, or hold images without a record, are no packs.
    assert_eq!(packs(&one), [None, None]);
    assert_eq!(packs(data("host.o")), [None; 4]);
    let mut bytes = object(&[&one, &two]);
    let at = memchr::memmem::find(&bytes, b"\0offload_images\0").unwrap();
    bytes[at + 1] = b'x';
    assert_eq!(packs(&bytes), [None; 4]);
}

#[test]
fn the_index_is_the_records_not_the_place_of_the_images() {
    let (one, two) = (packed("embed"), packed("forbid"));
    let mut bytes = linked(&[&one, &two]);
    let records = section(&bytes, 2);
    let (first, second) = bytes[records..records + 32].split_at(16);
    let swapped = [second, first].concat();
    bytes[records..records + 32].copy_from_slice(&swapped);
    for (record, change) in [(0_usize, 16_i64), (1, -16)] {
        let at = records + 16 * record;
        let distance = i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) + change;
        bytes[at..at + 8].copy_from_slice(&distance.to_le_bytes());
    }
    assert_eq!(packs(&bytes), [Some(1), Some(1), Some(0), Some(0)]);
}

/// They tell what belongs together and nothing else, so that no image is lost for one.
#[test]
fn records_that_lead_nowhere_are_passed_over() {
    let one = packed("embed");
    let sound = linked(&[&one, &one]);
    let records = section(&sound, 2);
    for (at, value) in [
        // The distance, and the size.
        (0, 1_u64 << 40),
        (0, u64::MAX),
        (8, 0),
        (8, u64::MAX),
        (8, 1 << 30),
    ] {
        let mut bytes = sound.clone();
        bytes[records + at..][..8].copy_from_slice(&value.to_le_bytes());
        assert_eq!(
            packs(&bytes),
            [None, None, Some(1), Some(1)],
            "{at} {value}"
        );
    }
    let sound = object(&[&one, &one]);
    let relocations = section(&sound, 3);
    for (at, value) in [
        // The place, the symbol and the addend.
        (0, 8_u64),
        (0, u64::MAX),
        (8, 0),
        (8, 9 << 32),
        (16, u64::MAX),
    ] {
        let mut bytes = sound.clone();
        bytes[relocations + at..][..8].copy_from_slice(&value.to_le_bytes());
        assert_eq!(
            packs(&bytes),
            [None, None, Some(1), Some(1)],
            "{at} {value}"
        );
    }
}
