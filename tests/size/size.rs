//! Images are out of the way of a program's code and data, however many there are.

use std::ops::Range;

/// What each step said, in order.
fn steps() -> Vec<(String, String)> {
    let report = std::fs::read_to_string(support::path("REPORT")).unwrap();
    let parts = report.strip_prefix("== ").unwrap().split("\n== ");
    parts
        .map(|part| {
            let (name, said) = part.split_once('\n').unwrap();
            (name.to_owned(), said.to_owned())
        })
        .collect()
}

fn said(name: &str) -> Vec<String> {
    let steps = steps();
    let found = steps.into_iter().filter(|step| step.0 == name);
    found.map(|step| step.1).collect()
}

fn bytes() -> u64 {
    std::env::var("BYTES").unwrap().parse().unwrap()
}

/// A line of `llvm-readelf --sections`.
#[derive(Debug)]
struct Section {
    name: String,
    kind: String,
    flags: String,
    place: Range<u64>,
}

fn sections(said: &str) -> Vec<Section> {
    let section = |line: &str| {
        let (_, rest) = line.split_once(']')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [name, kind, start, _, size, _, flags, ..] = words[..] else {
            return None;
        };
        let number = |text| u64::from_str_radix(text, 16).ok();
        let start = number(start)?;
        Some(Section {
            name: name.to_owned(),
            kind: kind.to_owned(),
            flags: flags.to_owned(),
            place: start..start + number(size)?,
        })
    };
    said.lines().filter_map(section).collect()
}

#[test]
fn each_linker_keeps_images_off_code_and_data() {
    let said = said("sections");
    assert_eq!(said.len(), 2, "the host linker and lld");
    for said in said {
        let (images, others): (Vec<Section>, Vec<Section>) = sections(&said)
            .into_iter()
            .partition(|section| section.kind == "LLVM_OFFLOADING");
        let [images] = &images[..] else {
            panic!("{images:?}");
        };
        let size = images.place.end - images.place.start;
        assert!(size >= bytes() && size < bytes() + 4096, "{images:?}");
        assert!(
            images.flags.contains('A') && images.flags.contains('l'),
            "{images:?}"
        );
        assert!(!images.flags.contains('W'), "{images:?}");
        let place = |name: &str| {
            let found = others.iter().find(|section| section.name == name);
            found
                .unwrap_or_else(|| panic!("no {name}: {said}"))
                .place
                .clone()
        };
        let near = [
            ".text",
            ".rodata",
            ".eh_frame",
            ".got",
            ".data",
            ".bss",
            "offload_images",
        ]
        .map(place);
        let start = near.iter().map(|place| place.start).min().unwrap();
        let end = near.iter().map(|place| place.end).max().unwrap();
        assert!(end - start < 64 << 20, "{start:#x} {end:#x}");
        assert!(
            images.place.end <= start || images.place.start >= end,
            "{said}"
        );
    }
}

#[test]
fn the_program_runs_and_finds_its_images() {
    let each = bytes() / 2;
    let wanted = format!("data: 42\nimage: sm_90 {each} the end\nimage: sm_90a {each} the end");
    let said = said("run");
    assert_eq!(said.len(), 2);
    for said in said {
        assert_eq!(said.trim_end(), wanted);
    }
}

#[test]
fn llvm_lists_them_once_stripped() {
    let said = said("objdump");
    assert_eq!(said.len(), 2);
    for said in said {
        let archs: Vec<&str> = said
            .lines()
            .filter_map(|line| Some(line.strip_prefix("arch")?.trim()))
            .collect();
        assert_eq!(archs, ["sm_90", "sm_90a"], "{said}");
    }
}

#[test]
fn inspect_lists_them_once_stripped() {
    let said = said("inspect");
    assert_eq!(said.len(), 2);
    for said in said {
        let words = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let lines: Vec<Vec<String>> = said.lines().map(words).collect();
        for arch in ["sm_90", "sm_90a"] {
            let size = (bytes() / 2).to_string();
            let is_it = |line: &&Vec<String>| line.iter().any(|word| word == arch);
            let line = lines.iter().find(is_it).expect(&said);
            assert!(line.contains(&size), "{said}");
        }
    }
}

#[test]
fn the_build_warns_of_what_is_too_large() {
    let said = said("link").concat();
    if bytes() <= 3 << 29 {
        assert_eq!(said.trim(), "");
        return;
    }
    for part in [
        "offload: //x:y: warning: so many images",
        "wanted: at most 1610612736 bytes (1.5 GiB)",
        "found:  23",
        "mend:   name fewer GPUs in the `archs` of what //x:y packs",
    ] {
        assert!(said.contains(part), "{said}");
    }
}
