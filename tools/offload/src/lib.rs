//! The `offload` tool: checks, packs, links, lists, extracts, compares and verifies device images.
//!
//! Bazel's rules call it, and so do people. Everything it knows of formats is in [`offload_image`];
//! here are the commands, their texts and their exit codes:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | fine |
//! | 1 | a check failed, the policy is breached, or there is a difference |
//! | 2 | wrong usage |
//! | 3 | something could not be read, or is malformed |
//! | 4 | device code was asked for, and there is none |
#![forbid(unsafe_code)]

mod archs;
mod ceiling;
mod check;
mod cli;
mod diff;
mod extract;
mod failure;
mod files;
mod gather;
mod inspect;
mod judge;
mod link;
mod meta;
mod mixed;
mod pack;
mod params;
mod report;
mod sizes;
mod table;
mod verify;

use std::ffi::OsString;
use std::io::{BufWriter, Write};

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::failure::{Failure, Outcome};

/// The command line as data, for what is made from it: pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the tool: the first argument is its own name. Gives the exit code.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    // By itself, standard output gives the system each line.
    let mut out = BufWriter::new(out);
    let done = dispatch(args, &mut out, err);
    let printed = Failure::printed(out.flush());
    match done.and_then(|code| printed.map(|()| code)) {
        Ok(code) => code,
        Err(failure) => {
            // Where even the error stream is closed there is nobody left to tell.
            let _ = failure.print(err);
            failure.code()
        }
    }
}

fn dispatch(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Outcome {
    let args = params::expand(args)?;
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(asked) if !asked.use_stderr() => {
            Failure::printed(write!(out, "{asked}"))?;
            return Ok(0);
        }
        Err(wrong) => {
            let text = wrong.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            return Err(Failure::usage(text.trim_end()));
        }
    };
    match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Pack(args) => pack::run(&args),
        Command::Link(args) => link::run(&args, err),
        Command::Inspect(args) => inspect::run(&args, out, err),
        Command::Extract(args) => extract::run(&args, out, err),
        Command::Diff(args) => diff::run(&args, out, err),
        Command::Verify(args) => verify::run(&args, out, err),
        Command::Archs(args) => archs::run(&args, out),
    }
}
