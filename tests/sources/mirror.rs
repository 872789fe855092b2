//! `mirror FOLDER SECONDS`: puts archives of this machine's Rust, LLVM and ptxas into a folder, as their makers
//! would release them, and serves the folder on the loopback interface for so long.
//!
//! In the folder it also writes `port`, once it serves; `tags`, what a MODULE.bazel says of the archives, with
//! `{URLS}` for where they are; `host_cc`, the same of a C toolchain,
//! empty where this machine has none that can lie anywhere; and `requests`, the paths that were asked for, one a line.

mod archives;
mod host_cc;
mod server;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seconds] = &args[..] else {
        return Err("FOLDER SECONDS".into());
    };
    let folder = Path::new(folder);
    archives::make(folder)?;
    server::serve(folder, Duration::from_secs(seconds.parse()?))
}
