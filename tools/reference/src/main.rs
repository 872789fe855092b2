//! `reference OUT IN...`: writes the page on rules, tags and providers, from what Bazel's `starlark_doc_extract` says of
//! each `.bzl` file.
#![forbid(unsafe_code)]

mod module_info;
mod page;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::process::ExitCode;

use prost::Message;

use module_info::ModuleInfo;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("wanted the file to write, and what starlark_doc_extract wrote about one or more .bzl files")]
    Usage,
    #[error("{}: {error}", .file.to_string_lossy())]
    File { file: OsString, error: io::Error },
    #[error("{}: {error}; wanted what starlark_doc_extract writes", .file.to_string_lossy())]
    Malformed {
        file: OsString,
        error: prost::DecodeError,
    },
    #[error(transparent)]
    Silent(#[from] page::Silent),
}

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reference: error: {error}");
            ExitCode::from(2)
        }
    }
}

fn write() -> Result<(), Error> {
    let mut args = std::env::args_os().skip(1);
    let out = args.next().ok_or(Error::Usage)?;
    let modules = args.map(read).collect::<Result<Vec<_>, _>>()?;
    if modules.is_empty() {
        return Err(Error::Usage);
    }
    let page = page::page(&modules)?;
    fs::write(&out, page).map_err(|error| Error::File { file: out, error })
}

fn read(file: OsString) -> Result<ModuleInfo, Error> {
    match fs::read(&file) {
        Ok(bytes) => {
            ModuleInfo::decode(bytes.as_slice()).map_err(|error| Error::Malformed { file, error })
        }
        Err(error) => Err(Error::File { file, error }),
    }
}
