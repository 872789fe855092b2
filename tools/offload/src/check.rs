//! `offload check`: one image against its declaration.

use crate::ceiling::Ceiling;
use crate::cli::CheckArgs;
use crate::failure::Outcome;
use crate::files;
use crate::judge::{judge, Declared};
use crate::meta::Meta;

pub fn run(args: &CheckArgs) -> Outcome {
    if let Some(output) = &args.output {
        files::apart(output, [args.image.as_path()])?;
    }
    let image = files::open(&args.image)?;
    let kind = args.kind.kind();
    let content = judge(
        &Declared {
            label: &args.label,
            path: &args.image,
            kind,
            arch: &args.arch,
            kernels: &args.kernels,
            ceilings: &Ceiling::all(args.max_ptx_isa, args.min_driver),
        },
        image.bytes(),
    )?;
    if let Some(output) = &args.output {
        let meta = Meta::new(kind, &args.arch, &image, &content, args.policy);
        files::write_json(output, &meta)?;
    }
    Ok(0)
}
