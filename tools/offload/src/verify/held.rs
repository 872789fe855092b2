//! Whether the images of other files are all there, byte for byte: what was packed has to be in the
//! program that it was linked into.

use std::collections::HashSet;
use std::path::PathBuf;

use offload_audit::scan::Options;

use super::breach::{Breach, Rule};
use crate::failure::{clean, prefix, Complaint, Failure};
use crate::files::hex;
use crate::gather::{File, Inputs};

/// The images that have to be there.
pub struct Wanted(Vec<File<()>>);

impl Wanted {
    /// # Errors
    /// Files that cannot be read to their end: they may hold more. Files without images: whoever
    /// names one means another.
    pub fn read(paths: &[PathBuf], options: &Options) -> Result<Self, Failure> {
        let inputs = Inputs::list(paths);
        let files = inputs.read(options, |_, _| ());
        let faults = files.iter().flat_map(File::fault_texts);
        let faults: Vec<String> = inputs.faults.iter().cloned().chain(faults).collect();
        if !faults.is_empty() {
            return Err(Failure::all_unreadable(faults));
        }
        if let Some(none) = files.iter().find(|file| file.images.is_empty()) {
            return Err(Failure::usage(format!(
                "--require-images={}: there is no image in it that could be required; name a file \
                 with some, such as `offload pack` writes",
                none.path.display()
            )));
        }
        Ok(Self(files))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each image that is in none of the files, `named` for people.
    pub fn breaches<E>(&self, label: &str, named: &str, files: &[File<E>]) -> Vec<Breach> {
        let there: HashSet<[u8; 32]> = files
            .iter()
            .flat_map(|file| file.images.iter().filter_map(|(image, _)| image.sha256))
            .collect();
        let mut breaches = Vec::new();
        for file in &self.0 {
            for (image, ()) in &file.images {
                let Some(sha256) = image.sha256.filter(|sha256| !there.contains(sha256)) else {
                    continue;
                };
                let (kind, size) = (image.kind, image.unpacked_size);
                let arch = image
                    .arch()
                    .map_or_else(|| "?".to_owned(), |arch| clean(&arch));
                let from = clean(&file.path.display().to_string());
                breaches.push(Breach {
                    rule: Rule::RequireImages,
                    path: None,
                    image: None,
                    origin: None,
                    complaint: Complaint {
                        what: format!("{}an image of {from} is not in {named}", prefix(label)),
                        wanted: format!("{kind} for {arch}, {size} bytes, sha256 {}", hex(&sha256)),
                        found: format!("{} images, and not this one", there.len()),
                        mend: "have the offload_library that packs it among the `deps` of the \
                               program; by hand, link the object that `offload link` made of it, \
                               whole (`alwayslink`), and without a linker script that drops its \
                               sections"
                            .to_owned(),
                    },
                });
            }
        }
        breaches
    }
}
