//! The linker that rustc calls for GPU crates. See the library for what it does and why.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    match device_linker::run(std::env::args_os().skip(1)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("device_linker: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
