//! What holds for every reader, whatever it reads.

use offload_image::bytes::Bytes;
use offload_image::Error;

/// So many bytes stand before the input when it is read a second time.
const MOVED: usize = 16;

/// Whatever `read` finds wrong has its place in the input, and stays the same where the input stands
/// further back in a larger file.
pub fn fault(data: &[u8], read: impl Fn(Bytes<'_>) -> Option<Error>) {
    let found = read(Bytes::new(data));
    if let Some(error) = &found {
        place(error, data.len() as u64);
    }
    let file = [&[0xee; MOVED], data].concat();
    let again = read(Bytes::new(&file).tail(MOVED as u64));
    assert_eq!(found.map(moved), again, "further back in a file");
}

/// The place that an error names lies in the `length` bytes; only what is missing starts outside.
pub fn place(error: &Error, length: u64) {
    match error {
        Error::Truncated {
            offset, need, have, ..
        } => {
            let end = offset.saturating_add(*have);
            assert!(*have == 0 || end <= length, "{error}: {length} are there");
            assert!(need > have || *have == 0, "{error}: nothing is missing");
        }
        other => assert!(other.offset() <= length, "{error}: {length} are there"),
    }
}

fn moved(mut error: Error) -> Error {
    match &mut error {
        Error::Truncated { offset, .. }
        | Error::Malformed { offset, .. }
        | Error::Unsupported { offset, .. }
        | Error::Unrecognised { offset, .. } => *offset = offset.saturating_add(MOVED as u64),
    }
    error
}

/// A part of the file is the very bytes at the offset that it tells.
pub fn inside(file: &[u8], part: Bytes<'_>) {
    if part.is_empty() {
        return;
    }
    let start = usize::try_from(part.base()).expect("an offset");
    let there = file.get(start..).and_then(|f| f.get(..part.data().len()));
    let there = there.expect("a part lies in its file");
    assert!(std::ptr::eq(there, part.data()), "a part tells its offset");
}

/// Names are told once each, in order.
pub fn sorted(names: &[String]) {
    assert!(names.windows(2).all(|two| two[0] < two[1]), "{names:?}");
}
