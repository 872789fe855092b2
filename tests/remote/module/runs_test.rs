//! Programs run where there is no GPU, and say so.

use std::process::Command;

fn output(variable: &str) -> String {
    let program = std::env::var(variable).unwrap();
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_has_its_images() {
    let out = output("PROGRAM");
    for image in [["sm_90", "cubin"], ["gfx90a", "gfx"]] {
        let line = |line: &&str| line.split_whitespace().take(2).eq(image);
        let line = out.lines().find(line).unwrap_or_else(|| panic!("{out}"));
        assert!(line.ends_with(" count"), "{line}");
    }
    assert!(out.contains("no GPU driver on this machine"), "{out}");
}

#[test]
fn the_example_takes_its_way_on_the_cpu() {
    let out = output("SAXPY");
    assert!(
        out.contains("computed 100003 elements on the CPU instead"),
        "{out}"
    );
}
