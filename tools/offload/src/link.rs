//! `offload link`: packed images into one relocatable object.

use std::path::PathBuf;

use offload_image::bytes::Bytes;
use offload_image::offload_binary::OffloadBinary;
use offload_image::relocatable;

use crate::cli::LinkArgs;
use crate::failure::{prefix, Failure, Outcome};
use crate::files;

pub fn run(args: &LinkArgs) -> Outcome {
    files::apart(&args.output, args.inputs.iter().map(PathBuf::as_path))?;
    let mut inputs = Vec::new();
    for path in &args.inputs {
        let bytes = files::read(path)?;
        let subject = format!("{}{}", prefix(&args.label), path.display());
        let binaries = OffloadBinary::parse_all(Bytes::new(&bytes))
            .map_err(|error| Failure::unreadable(format!("{subject}: {error}")))?;
        if binaries.is_empty() {
            return Err(Failure::unreadable(format!(
                "{subject}: there are no images in it"
            )));
        }
        inputs.push(bytes);
    }
    let binaries: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    files::write(&args.output, |out| {
        relocatable::write(out, args.machine.machine(), &binaries)
    })?;
    Ok(0)
}
