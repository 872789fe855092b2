//! `offload diff`: which device images of two files or folders are not the same.

mod compare;
mod print;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::DiffArgs;
use crate::failure::{clean, Failure, Outcome};
use crate::gather::{File, Inputs};
use crate::report::ImageReport;

use self::compare::{Difference, Placed};

pub fn run(args: &DiffArgs, out: &mut dyn Write, err: &mut dyn Write) -> Outcome {
    let sides = [&args.old, &args.new];
    let inputs = sides.map(|side| Inputs::list(std::slice::from_ref::<PathBuf>(side)));
    let missing: Vec<String> = inputs.iter().flat_map(|i| i.faults.clone()).collect();
    if !missing.is_empty() {
        // With one side alone everything would be added or lost.
        return Err(Failure::all_unreadable(missing));
    }
    for note in inputs.iter().flat_map(|inputs| &inputs.notes) {
        Failure::printed(writeln!(err, "offload: note: {}", clean(note)))?;
    }
    let [old, new] = inputs.map(|inputs| inputs.read(&args.read.contents(), |_, _| ()));
    let difference = Difference::between(placed(&args.old, &old), placed(&args.new, &new));
    Failure::printed(print::print(args.format, &difference, out))?;
    let files = old.iter().chain(&new);
    let faults: Vec<String> = files.flat_map(File::fault_texts).collect();
    if !faults.is_empty() {
        return Err(Failure::all_unreadable(faults));
    }
    Ok(match () {
        () if difference.is_empty() => 4,
        () if difference.changes.is_empty() => 0,
        () => 1,
    })
}

/// The images of one side, which was given as `root`.
fn placed(root: &Path, files: &[File<()>]) -> Vec<Placed> {
    let of_file = |file: &File<()>| {
        let below = file.path.strip_prefix(root).unwrap_or(&file.path);
        let (below, path) = (below.display().to_string(), file.path.display().to_string());
        let images = file.images.iter().map(move |(image, ())| Placed {
            path: path.clone(),
            below: below.clone(),
            image: ImageReport::new(image),
        });
        images.collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}
