//! Writes the seeds into a folder: `cargo run --example seeds -- FOLDER`, in the folder `fuzz`.

use std::path::Path;
use std::{env, fs, io};

use offload_fuzz::seeds::seeds;

fn main() -> io::Result<()> {
    let wrong = || io::Error::other("wanted one argument: the folder to write the seeds to");
    let folder = env::args_os().nth(1).ok_or_else(wrong)?;
    fs::create_dir_all(&folder)?;
    for (name, bytes) in seeds(Path::new("../tools"))? {
        fs::write(Path::new(&folder).join(name), bytes)?;
    }
    Ok(())
}
