//! `offload check`: one image against its declaration.

use crate::cli::CheckArgs;
use crate::failure::Outcome;
use crate::files;
use crate::judge::{judge, Declared};
use crate::meta::Meta;

pub fn run(args: &CheckArgs) -> Outcome {
    if let Some(output) = &args.output {
        files::apart(output, [args.image.as_path()])?;
    }
    let bytes = files::read(&args.image)?;
    let kind = args.kind.kind();
    let content = judge(
        &Declared {
            label: &args.label,
            path: &args.image,
            kind,
            arch: &args.arch,
            kernels: &args.kernels,
        },
        &bytes,
    )?;
    if let Some(output) = &args.output {
        files::write_json(output, &Meta::new(kind, &args.arch, &bytes, &content))?;
    }
    Ok(0)
}
