//! `big_ptx OUT`: PTX that takes its time to be copied: one kernel, and 250 MB of comments.

use std::fs::File;
use std::io::{BufWriter, Write};

const HEAD: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry big()\n{\n\tret;\n}\n";
const LINES: usize = 4_000_000;

fn main() -> std::io::Result<()> {
    let out = std::env::args_os()
        .nth(1)
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut out = BufWriter::new(File::create(out)?);
    out.write_all(HEAD.as_bytes())?;
    for number in 0..LINES {
        writeln!(out, "// {number:060}")?;
    }
    out.flush()
}
