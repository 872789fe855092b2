use std::fs;
use std::path::{Path, PathBuf};

use offload_image::bytes::Bytes;
use offload_image::Error;

use crate::seeds::seeds;
use crate::{check, TARGETS};

/// Of each seed, for each target.
const MUTANTS: usize = 4;

/// A folder of the repository: Bazel runs tests at its root, Cargo in the package.
fn folder(name: &str) -> PathBuf {
    let here = Path::new(name);
    let folder = if here.is_dir() {
        here.to_owned()
    } else {
        Path::new("..").join(name)
    };
    assert!(folder.is_dir(), "no folder {name}");
    folder
}

#[test]
fn every_target_holds_for_the_seeds_and_their_mutants() {
    let seeds = seeds(&folder("tools")).unwrap();
    assert!(seeds.len() > 40, "{} seeds", seeds.len());
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for (target, run) in TARGETS {
        for (seed, bytes) in &seeds {
            eprintln!("{target} {seed}");
            run(bytes);
            for _ in 0..MUTANTS {
                let mut mutant = bytes.clone();
                for _ in 0..=next(4) {
                    let at = next(mutant.len());
                    // Half of them in the head, where the tables are.
                    let at = if next(2) == 0 { at } else { at % 128 };
                    mutant[at] = [mutant[at] ^ (1 << next(8)), 0, 0xff][next(3)];
                }
                mutant.truncate(next(4 * mutant.len()).max(1));
                run(&mutant);
            }
        }
        run(b"");
    }
}

#[test]
fn each_target_has_its_program() {
    let here = folder("fuzz");
    let wanted: Vec<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let programs = fs::read_dir(here.join("fuzz_targets")).unwrap();
    let mut programs: Vec<_> = programs
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    programs.sort();
    assert_eq!(programs, wanted);
    for name in &wanted {
        let program = fs::read_to_string(here.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("::{name}(data)")), "{program}");
    }
    let manifest = fs::read_to_string(here.join("Cargo.toml")).unwrap();
    let mut listed: Vec<_> = manifest
        .lines()
        .filter_map(|line| {
            line.strip_prefix("path = \"fuzz_targets/")?
                .strip_suffix(".rs\"")
        })
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, wanted);
}

#[test]
#[should_panic(expected = "3 are there")]
fn an_error_outside_of_the_input_is_seen() {
    check::fault(b"abc", |_| Some(Error::malformed("x", 4, "")));
}

#[test]
#[should_panic(expected = "further back")]
fn an_error_that_forgets_where_the_bytes_start_is_seen() {
    check::fault(b"abc", |_| Some(Error::malformed("x", 1, "")));
}

#[test]
#[should_panic(expected = "tells its offset")]
fn a_part_of_another_file_is_seen() {
    let (file, copy) = (b"abc".to_vec(), b"abc".to_vec());
    check::inside(&file, Bytes::new(&copy).tail(1));
}
