//! `run_to_failure REPORT TITLE FOLDER… -- COMMAND…`: runs a command that should fail and writes
//! down its exit code and what it said. Whether it did fail is for the test to say.

use std::process::Command;
use std::{env, fs};

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let end = args.iter().position(|arg| arg == "--").expect("--");
    let command = &args[end + 1..];
    // What the command writes is no output of this action, so Bazel made no folder for it.
    for folder in &args[2..end] {
        fs::create_dir_all(folder).unwrap();
    }
    let output = Command::new(&command[0])
        .args(&command[1..])
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    let code = output.status.code();
    let code = code.map_or("none".to_owned(), |code| code.to_string());
    fs::write(&args[0], format!("{}\nexit: {code}\n{said}", args[1])).unwrap();
}
