//! The `offload` tool: see [`offload_cli`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    let mut err = std::io::stderr().lock();
    ExitCode::from(offload_cli::run(std::env::args_os(), &mut out, &mut err))
}
