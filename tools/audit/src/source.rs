//! Where bytes come from, and how their memory is given back.

use std::path::Path;

use crate::map::Opened;

/// So many bytes of a file are looked at before their memory is given back.
pub(crate) const WINDOW: usize = 8 << 20;

/// Where the bytes come from, as far as that is known.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    /// Where the members of a thin archive are.
    pub folder: Option<&'s Path>,
    /// What gives memory back.
    pub file: Option<&'s Opened>,
}

impl Source<'_> {
    /// Memory of bytes that nobody will look at soon is given back.
    pub fn forget(self, done: &[u8]) {
        if let Some(file) = self.file {
            file.forget(done);
        }
    }
}
