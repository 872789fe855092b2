//! The `offload` tool: see [`offload_cli`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    let mut err = std::io::stderr().lock();
    // `bazel run` starts a tool in a folder of its own, and says here where the user is.
    if let Some(folder) = std::env::var_os("BUILD_WORKING_DIRECTORY") {
        // Where that is gone, paths of files tell soon enough.
        let _ = std::env::set_current_dir(folder);
    }
    ExitCode::from(offload_cli::run(std::env::args_os(), &mut out, &mut err))
}
