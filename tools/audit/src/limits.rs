//! How much may be unpacked, and how deep containers may be nested.

/// Bounds on what hostile input can cost. Beyond the input itself, the memory that the scan of one
/// file takes is bounded by `max_unpacked` for each level of packing, of which there are at most
/// `max_depth` (real files have two), and once more for the window of a zstd frame. Images of fatbins
/// that are unpacked side by side are 64 MiB together, or one that is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that one compressed blob may unpack to.
    pub max_unpacked: u64,
    /// Bytes that one member of an archive may unpack to. From 64 MiB on they are not kept in memory,
    /// but in a file without a name in the folder for temporary ones.
    pub max_member: u64,
    /// Bytes that all of them together may unpack to.
    pub max_total: u64,
    /// How many containers may be inside one another.
    pub max_depth: u32,
}

impl Default for Limits {
    /// One gibibyte for each blob, eight for each member, 64 for all, eight containers.
    fn default() -> Self {
        Self {
            max_unpacked: 1 << 30,
            max_member: 1 << 33,
            max_total: 1 << 36,
            max_depth: 8,
        }
    }
}
