//! `ar` archives: GNU, BSD, COFF and thin ones.

use object::read::archive::{ArchiveFile, ArchiveMember};
use offload_image::bytes::Bytes;
use offload_image::{Error, Result};

use crate::host::Host;
use crate::map;
use crate::place::Place;
use crate::scan::State;
use crate::sweep::sweep;
use crate::walker::{Seen, Walker};

impl Walker<'_> {
    pub fn archive(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<Seen> {
        // The crate's errors have no offset; the end of the last good member is near enough.
        let wrong = |at: u64, error: object::Error| {
            Error::malformed("ar archive", bytes.file_offset(at), format!("{error}"))
        };
        let archive = ArchiveFile::parse(bytes.data()).map_err(|error| wrong(0, error))?;
        let mut reasons = Vec::new();
        let mut at = 8;
        let mut claimed = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|error| wrong(at, error))?;
            let (start, size) = member.file_range();
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let inner = place.member("ar", &name);
            let state = if member.is_thin() {
                self.thin_member(&member, start, &inner, bytes)
            } else {
                at = start.saturating_add(size);
                let data = bytes.slice(start, size, "member of an ar archive")?;
                claimed.push((data.base(), data.len()));
                Some(self.unit(Bytes::new(data.data()), &inner))
            };
            collect(&mut reasons, state);
        }
        // Between and behind the members are names and indices, and should be nothing else.
        sweep(self, &Host::of_bytes(bytes), place, claimed);
        Ok(Seen::Host(reasons))
    }

    /// A member of a thin archive is a file beside it. Only its own path is followed, as the linker
    /// would.
    fn thin_member(
        &mut self,
        member: &ArchiveMember<'_>,
        start: u64,
        inner: &Place,
        bytes: Bytes<'_>,
    ) -> Option<State> {
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let told = |why: String| {
            Error::unsupported("member of a thin archive", bytes.file_offset(start), why)
        };
        // Inside another archive, or in memory, there is nothing beside it.
        let folder = self.source.folder.filter(|_| inner.member.len() == 1);
        let Some(folder) = folder else {
            let why = format!("`{name}` is a file outside of it, and where is not known");
            self.problem(told(why), inner);
            return None;
        };
        let opened = map::open_file(&folder.join(&name))
            .map_err(|error| told(format!("`{name}`: {error}")))
            // Many members may name one file.
            .and_then(|file| {
                self.spend(file.bytes().len() as u64, bytes.tail(start))?;
                Ok(file)
            });
        match opened {
            Ok(file) => Some(self.file(&file, inner)),
            Err(error) => {
                self.problem(error, inner);
                None
            }
        }
    }
}

/// The reasons of a member are those of its archive, each told once.
pub(crate) fn collect(reasons: &mut Vec<String>, state: Option<State>) {
    if let Some(State::Elsewhere(more)) = state {
        for reason in more {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
}
