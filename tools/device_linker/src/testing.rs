//! What several modules' tests share: bitcode made to measure, and scripts that stand in for tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A script cannot be run while it is open for writing, and a process that another test starts in
/// that moment inherits the open file: so tests that write scripts take turns.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> = entries.map(|e| name(e).into_string().unwrap()).collect();
    names.sort();
    names
}

#[derive(Default)]
struct Writer(Vec<bool>);

impl Writer {
    fn fixed(&mut self, value: u64, width: u64) {
        (0..width).for_each(|bit| self.0.push(value >> bit & 1 == 1));
    }

    fn vbr(&mut self, mut value: u64, width: u64) {
        let more = 1 << (width - 1);
        while value >= more {
            self.fixed(value & (more - 1) | more, width);
            value >>= width - 1;
        }
        self.fixed(value, width);
    }

    fn record(&mut self, code: u64, operands: impl ExactSizeIterator<Item = u64>) {
        self.fixed(3, 3);
        self.vbr(code, 6);
        self.vbr(operands.len() as u64, 6);
        operands.for_each(|operand| self.vbr(operand, 6));
    }

    fn bytes(mut self) -> Vec<u8> {
        self.0.resize(self.0.len().next_multiple_of(32), false);
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |b, &bit| b << 1 | u8::from(bit));
        self.0.chunks(8).map(byte).collect()
    }
}

/// Bitcode that holds an identification block and nothing else.
pub fn bitcode(producer: &str) -> Vec<u8> {
    let mut body = Writer::default();
    body.record(1, producer.bytes().map(u64::from));
    body.record(2, [0].into_iter());
    body.fixed(0, 3);
    let body = body.bytes();

    let mut head = Writer::default();
    head.fixed(1, 2);
    head.vbr(13, 8);
    head.vbr(3, 4);
    let mut out = b"BC\xC0\xDE".to_vec();
    out.extend(head.bytes());
    out.extend((body.len() as u32 / 4).to_le_bytes());
    out.extend(body);
    out
}

/// A GNU archive.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, data) in members {
        let (name, size) = (format!("{name}/"), data.len());
        out.extend(format!("{name:<16}0           0     0     644     {size:<10}`\n").bytes());
        out.extend(*data);
        out.extend((size % 2 == 1).then_some(b'\n'));
    }
    out
}
