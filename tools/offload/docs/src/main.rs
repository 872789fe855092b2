//! Writes the pages for `man` and the completions for shells, both made from the command line that
//! the `offload` tool parses.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap_complete::Shell;
use clap_mangen::Man;

const USAGE: &str = "wanted two arguments: `man` or `completions`, and a folder to write to";

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let written = match args.as_slice() {
        [what, folder] if what == "man" => man(folder.as_ref()),
        [what, folder] if what == "completions" => completions(folder.as_ref()),
        _ => {
            eprintln!("offload_docs: {USAGE}");
            return ExitCode::from(2);
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("offload_docs: cannot write: {error}");
            ExitCode::from(3)
        }
    }
}

/// One page for the tool and one for each of its commands, in a folder as `man -M` wants it. There
/// is no date on them: the same sources make the same pages.
fn man(folder: &Path) -> io::Result<()> {
    let folder = folder.join("man1");
    fs::create_dir_all(&folder)?;
    let mut tool = offload_cli::command().disable_help_subcommand(true);
    tool.build();
    let version = tool.get_version().unwrap_or_default();
    let page = |command: clap::Command| {
        Man::new(command)
            .source(format!("offload {version}"))
            .manual("rules_offload")
            .generate_to(&folder)
    };
    for command in tool.get_subcommands() {
        page(
            command
                .clone()
                .after_help("Exit codes are on the page offload(1)."),
        )?;
    }
    page(tool.clone())?;
    Ok(())
}

fn completions(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut offload_cli::command(), "offload", folder)?;
    }
    Ok(())
}
