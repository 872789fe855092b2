//! What can be wrong with bytes that claim to be a device image.

use thiserror::Error;

use crate::bytes::Bytes;

/// A fault in the input. Offsets count in bytes from the start of what was given, also for images
/// inside containers, so that a hex dump finds the spot.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A structure reaches beyond the bytes that hold it.
    #[error("truncated: {what} at byte {offset:#x} needs {need} bytes, and {have} are there")]
    Truncated {
        /// The structure being read.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// How many bytes it takes.
        need: u64,
        /// How many bytes there are from `offset` to the end.
        have: u64,
    },
    /// The bytes are there and contradict the format.
    #[error("malformed {what} at byte {offset:#x}: {why}")]
    Malformed {
        /// The structure being read.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// What is wrong, in a few words.
        why: String,
    },
    /// Valid as far as can be told, and not something this version reads.
    #[error("cannot read {what} at byte {offset:#x}: {why}")]
    Unsupported {
        /// The structure being read.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// What is not handled.
        why: String,
    },
    /// No known format starts like this.
    #[error("unknown format at byte {offset:#x}: it starts with {start}")]
    Unrecognised {
        /// Where the unknown bytes start.
        offset: u64,
        /// The first bytes, printable for a person.
        start: String,
    },
}

impl Error {
    /// The bytes contradict the format.
    #[must_use]
    pub fn malformed(what: &'static str, offset: u64, why: impl Into<String>) -> Self {
        Self::Malformed {
            what,
            offset,
            why: why.into(),
        }
    }

    /// Nothing wrong that can be told, and not handled.
    #[must_use]
    pub fn unsupported(what: &'static str, offset: u64, why: impl Into<String>) -> Self {
        Self::Unsupported {
            what,
            offset,
            why: why.into(),
        }
    }

    /// The bytes start like no format that was looked for.
    #[must_use]
    pub fn unrecognised(bytes: Bytes<'_>) -> Self {
        let data = bytes.data();
        let start = if data.is_empty() {
            "nothing: it is empty".to_owned()
        } else {
            format!("\"{}\"", data.get(..16).unwrap_or(data).escape_ascii())
        };
        Self::Unrecognised {
            offset: bytes.base(),
            start,
        }
    }

    /// Where the fault is, in bytes from the start of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Truncated { offset, .. }
            | Self::Malformed { offset, .. }
            | Self::Unsupported { offset, .. }
            | Self::Unrecognised { offset, .. } => *offset,
        }
    }
}

/// The result of every parser of this crate.
pub type Result<T> = std::result::Result<T, Error>;
