//! The policies that the images of each program were built under, by their own word and by the notes that
//! `link` leaves in a program.

use std::collections::BTreeMap;

use offload_audit::image::Image;
use offload_image::policy::PtxPolicy;

use crate::gather::File;

/// Those of the programs in a file: of an archive, each member is one.
pub struct Programs<'a>(BTreeMap<&'a [String], Vec<PtxPolicy>>);

impl<'a> Programs<'a> {
    pub fn of<E>(file: &'a File<E>) -> Self {
        let noted = file.members.iter().flat_map(|member| {
            let words = member.policies.iter();
            words.map(|word| (member.path.as_slice(), word))
        });
        let labelled = file.images.iter().filter_map(|(image, _)| {
            let word = image.label.policy.as_ref()?;
            Some((image.location.member.as_slice(), word))
        });
        let mut found = BTreeMap::<_, Vec<_>>::new();
        for (program, word) in noted.chain(labelled) {
            // A word that is not known is told where it stands.
            let Ok(policy) = word.parse() else { continue };
            let policies = found.entry(program).or_default();
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        Self(found)
    }

    /// Of the program that an image is in.
    pub fn policies(&self, image: &Image) -> &[PtxPolicy] {
        let program = image.location.member.as_slice();
        self.0.get(program).map_or(&[], Vec::as_slice)
    }
}
