//! Picks images for a device, by the rules of [`offload_image::select`].

use crate::device::Device;
use crate::error::Error;
use crate::images::{Image, Images};
use offload_image::select::{self, Candidate, Misfit};

/// The images that fit, best first; never empty.
pub(crate) fn fitting<'i>(device: &Device, images: &Images<'i>) -> Result<Vec<Image<'i>>, Error> {
    let target = device
        .backend()
        .target()
        .map_err(|e| e.while_doing(&format!("asking GPU {} for its arch", device.index())))?;
    let offered: Vec<(&Image<'i>, Candidate)> = images
        .iter()
        .filter_map(|image| Some((image, image.candidate()?)))
        .collect();
    let candidates: Vec<Candidate> = offered.iter().map(|(_, candidate)| *candidate).collect();
    let chosen: Vec<Image<'i>> = select::select(&target, &candidates)
        .iter()
        .filter_map(|choice| offered.get(choice.index))
        .map(|(image, _)| (*image).clone())
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    for (image, candidate) in &offered {
        if let Err(Misfit::PtxTooNew { ptx, driver }) = select::fit(&target, candidate) {
            return Err(Error::PtxTooNew {
                device: Box::new(device.label()),
                image: Box::new(image.name()),
                ptx: ptx.to_string(),
                driver: format!(
                    "the driver ({}) compiles up to {driver}",
                    device.backend().driver()
                ),
            });
        }
    }
    Err(Error::NoImage {
        device: Box::new(device.label()),
        have: images.iter().map(Image::name).collect(),
    })
}
