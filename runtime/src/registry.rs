//! Reads the list of image blobs that the linker put into this program or library.
//!
//! `offload link` writes a section `offload_images`, whose bounds every ELF linker names by itself
//! (`__start_offload_images`, `__stop_offload_images`). Going by these symbols, not by the path of
//! the running executable, finds the images of a shared library and of a Python extension as well.

use crate::error::Error;

const PLACE: &str = "the section offload_images of this program";

/// One record of the section: where a blob is, counted from the record itself so that no relocation
/// is needed at load time.
#[repr(C)]
pub struct Record {
    /// Bytes from this record's address to the blob.
    offset: i64,
    /// Bytes of the blob.
    size: u64,
}

/// The blobs that the records between the two addresses name.
///
/// # Safety
/// `start` and `stop` are the bounds of one `offload_images` section that is loaded for as long as
/// the program runs, written by `offload link`: each record names readable bytes that nobody
/// writes.
pub(crate) unsafe fn blobs(
    start: *const Record,
    stop: *const Record,
) -> Result<Vec<&'static [u8]>, Error> {
    let record_size = std::mem::size_of::<Record>();
    let malformed = |offset: usize, problem: String| Error::Malformed {
        place: PLACE.to_owned(),
        offset: offset as u64,
        problem,
    };
    let length = (stop as usize).wrapping_sub(start as usize);
    if (stop as usize) < (start as usize) || length % record_size != 0 {
        return Err(malformed(
            0,
            format!("its length of {length} bytes is no multiple of {record_size}"),
        ));
    }
    if start as usize % std::mem::align_of::<Record>() != 0 {
        return Err(malformed(0, "it is not aligned to 8 bytes".to_owned()));
    }
    let mut blobs = Vec::with_capacity(length / record_size);
    for index in 0..length / record_size {
        // SAFETY: within the section by the loop's bound, aligned as checked, readable by the
        // caller's promise.
        let record = unsafe { &*start.add(index) };
        let size = usize::try_from(record.size)
            .ok()
            .filter(|&size| isize::try_from(size).is_ok())
            .ok_or_else(|| {
                malformed(
                    index * record_size + 8,
                    format!("a blob of {} bytes", record.size),
                )
            })?;
        if size == 0 {
            continue;
        }
        // The blob is another object of the linker's, hence the way through an integer.
        let address = (record as *const Record as usize).wrapping_add(record.offset as usize);
        if address == 0 || address.checked_add(size).is_none() {
            return Err(malformed(
                index * record_size,
                "a blob outside of memory".to_owned(),
            ));
        }
        // SAFETY: `offload link` wrote offset and size of bytes in the same program; the caller
        // promises they stay.
        blobs.push(unsafe { std::slice::from_raw_parts(address as *const u8, size) });
    }
    Ok(blobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(records: &[Record]) -> Result<Vec<&'static [u8]>, Error> {
        let range = records.as_ptr_range();
        // SAFETY: the tests' records name static bytes.
        unsafe { blobs(range.start, range.end) }
    }

    /// A static, so that its records can name bytes by their distance.
    static BLOB: [u8; 4] = [1, 2, 3, 4];

    #[test]
    fn blobs_are_found_from_the_records() {
        let mut records = [
            Record { offset: 0, size: 4 },
            Record { offset: 0, size: 0 },
            Record { offset: 0, size: 2 },
        ];
        for record in &mut records {
            record.offset = (BLOB.as_ptr() as i64).wrapping_sub(record as *const Record as i64);
        }
        let found = read(&records).expect("the records are sound");
        assert_eq!(found, [&BLOB[..], &BLOB[..2]]);
    }

    #[test]
    fn no_records_no_blobs() {
        assert_eq!(read(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_broken_section_is_an_error() {
        let records = [Record {
            offset: 0,
            size: u64::MAX,
        }];
        assert!(matches!(
            read(&records),
            Err(Error::Malformed { offset: 8, .. })
        ));
        let start = records.as_ptr();
        // SAFETY: refused by its length before anything is read.
        let cut = unsafe { blobs(start, start.cast::<u8>().wrapping_add(15).cast()) };
        assert!(matches!(cut, Err(Error::Malformed { offset: 0, .. })));
    }
}
