use super::*;

fn candidate(text: &str) -> Candidate {
    let mut words = text.split(' ');
    let first = words.next().unwrap();
    if first != "ptx" {
        return Candidate {
            code: Code::Native,
            target: Target::parse(first).unwrap(),
        };
    }
    let target = Target::parse(words.next().unwrap()).unwrap();
    Candidate {
        code: Code::Ptx(words.next().map(isa)),
        target,
    }
}

fn isa(text: &str) -> PtxIsa {
    let (major, minor) = text.split_once('.').unwrap();
    PtxIsa {
        major: major.parse().unwrap(),
        minor: minor.parse().unwrap(),
    }
}

/// `9.0`, `9.0 ptx 8.0` for a driver that compiles PTX up to 8.0, or an AMD target id.
fn device(text: &str) -> Device {
    if let Ok(Target::Gfx(gfx)) = Target::parse(text) {
        return Device::Amd(gfx);
    }
    let (capability, max) = text
        .split_once(" ptx ")
        .map_or((text, None), |(c, m)| (c, Some(m)));
    let (major, minor) = capability.split_once('.').unwrap();
    Device::Nvidia {
        major: major.parse().unwrap(),
        minor: minor.parse().unwrap(),
        max_ptx: max.map(isa),
    }
}

#[test]
fn the_table() {
    // device, images on offer, those that fit, best first
    let table: &[(&str, &[&str], &[&str])] = &[
        // Cubins: same major, lower or same minor.
        ("9.0", &["sm_75"], &[]),
        ("8.7", &["sm_80"], &["sm_80"]),
        ("8.0", &["sm_87"], &[]),
        (
            "8.9",
            &["sm_80", "sm_86", "sm_89", "sm_90"],
            &["sm_89", "sm_86", "sm_80"],
        ),
        ("10.3", &["sm_100"], &["sm_100"]),
        ("12.0", &["sm_100"], &[]),
        ("10.0", &["sm_90"], &[]),
        // `a`: its own GPU only.
        ("9.0", &["sm_90a"], &["sm_90a"]),
        ("10.0", &["sm_90a"], &[]),
        ("10.3", &["sm_100a"], &[]),
        ("9.0", &["sm_90", "sm_90a"], &["sm_90a", "sm_90"]),
        // `f`: its family, from its own minor version on, after the plain ones.
        ("10.3", &["sm_100f"], &["sm_100f"]),
        ("10.0", &["sm_103f"], &[]),
        ("11.0", &["sm_100f"], &[]),
        ("12.0", &["sm_100f"], &[]),
        ("12.1", &["sm_120f"], &["sm_120f"]),
        ("10.7", &["sm_100f", "sm_103f"], &["sm_103f", "sm_100f"]),
        (
            "10.3",
            &["sm_100f", "sm_100", "sm_103"],
            &["sm_103", "sm_100", "sm_100f"],
        ),
        // PTX: last, `.target` at most the device's, ISA at most the driver's.
        ("9.0", &["ptx sm_80", "sm_90"], &["sm_90", "ptx sm_80"]),
        (
            "9.0",
            &["ptx sm_70", "ptx sm_80", "ptx sm_100"],
            &["ptx sm_80", "ptx sm_70"],
        ),
        ("10.0", &["ptx sm_90a"], &[]),
        ("9.0", &["ptx sm_90a"], &["ptx sm_90a"]),
        ("10.3", &["ptx sm_100f"], &["ptx sm_100f"]),
        ("12.0", &["ptx sm_100f"], &[]),
        ("12.0", &["ptx sm_100"], &["ptx sm_100"]),
        ("9.0 ptx 8.0", &["ptx sm_80 9.9"], &[]),
        (
            "9.0 ptx 8.0",
            &["ptx sm_80 7.8", "ptx sm_80 8.0"],
            &["ptx sm_80 7.8", "ptx sm_80 8.0"],
        ),
        ("9.0 ptx 8.10", &["ptx sm_80 8.9"], &["ptx sm_80 8.9"]),
        ("9.0 ptx 8.0", &["ptx sm_80"], &["ptx sm_80"]),
        // AMD: exact, then generic.
        ("gfx1151", &["gfx11-generic"], &["gfx11-generic"]),
        (
            "gfx1100",
            &["gfx11-generic", "gfx1100"],
            &["gfx1100", "gfx11-generic"],
        ),
        ("gfx1200", &["gfx11-generic"], &[]),
        ("gfx1036", &["gfx1201"], &[]),
        ("gfx1201", &["gfx1201"], &["gfx1201"]),
        ("gfx908", &["gfx9-generic"], &[]),
        (
            "gfx942:sramecc+:xnack-",
            &["gfx9-4-generic"],
            &["gfx9-4-generic"],
        ),
        // AMD: modes.
        ("gfx90a:sramecc+:xnack-", &["gfx90a"], &["gfx90a"]),
        ("gfx90a:sramecc+:xnack-", &["gfx90a:xnack+"], &[]),
        ("gfx90a:sramecc+:xnack-", &["gfx90a:sramecc-"], &[]),
        ("gfx90a", &["gfx90a:xnack-"], &[]),
        (
            "gfx90a:sramecc+:xnack-",
            &["gfx90a", "gfx90a:sramecc+:xnack-", "gfx90a:xnack-"],
            &["gfx90a:sramecc+:xnack-", "gfx90a:xnack-", "gfx90a"],
        ),
        ("gfx942:sramecc+:xnack-", &["gfx9-4-generic:xnack+"], &[]),
        // Vendors do not mix.
        ("9.0", &["gfx90a"], &[]),
        ("gfx90a", &["sm_90", "ptx sm_70"], &[]),
    ];
    for (gpu, offered, wanted) in table {
        let candidates: Vec<Candidate> = offered.iter().map(|text| candidate(text)).collect();
        let found: Vec<&str> = select(&device(gpu), &candidates)
            .iter()
            .map(|choice| offered[choice.index])
            .collect();
        assert_eq!(&found, wanted, "device {gpu}, images {offered:?}");
    }
}

/// Row 16: minor versions of one major one go up and never down.
#[test]
fn a_lower_minor_version_runs_and_a_higher_one_does_not() {
    let sm_80 = candidate("sm_80");
    let sm_87 = candidate("sm_87");
    assert_eq!(fit(&device("8.7"), &sm_80), Ok(Fit::SameMajor));
    assert_eq!(fit(&device("8.0"), &sm_87), Err(Misfit::Arch));
    assert_eq!(fit(&device("8.7"), &sm_87), Ok(Fit::Exact));
    assert_eq!(fit(&device("8.0"), &sm_80), Ok(Fit::Exact));
}

#[test]
fn ties() {
    // Whether the order of the two decides on some GPU.
    for (one, other, wanted) in [
        ("sm_80", "sm_80", true),
        ("sm_80", "sm_86", false),
        ("sm_90", "sm_90a", false),
        ("sm_100", "sm_100f", false),
        ("sm_100f", "sm_103f", false),
        ("sm_80", "ptx sm_80", false),
        ("ptx sm_80", "ptx sm_80", true),
        // A driver may compile both.
        ("ptx sm_80 7.8", "ptx sm_80 8.0", true),
        ("ptx sm_80", "ptx sm_70", false),
        ("gfx90a", "gfx90a", true),
        ("gfx90a", "gfx90a:xnack-", false),
        ("gfx90a:xnack+", "gfx90a:xnack-", false),
        ("gfx90a:xnack-", "gfx90a:sramecc+", true),
        ("gfx1100", "gfx11-generic", false),
        ("gfx11-generic", "gfx11-generic", true),
        ("sm_90", "gfx90a", false),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            let found = tie(&candidate(one), &candidate(other));
            assert_eq!(found, wanted, "{one} and {other}");
        }
    }
}

#[test]
fn reasons() {
    assert_eq!(
        fit(&device("9.0 ptx 8.0"), &candidate("ptx sm_80 9.9")),
        Err(Misfit::PtxTooNew {
            ptx: isa("9.9"),
            driver: isa("8.0")
        })
    );
    assert_eq!(
        fit(
            &device("gfx90a:sramecc+:xnack-"),
            &candidate("gfx90a:xnack+")
        ),
        Err(Misfit::Mode)
    );
    assert_eq!(fit(&device("9.0"), &candidate("sm_75")), Err(Misfit::Arch));
    assert_eq!(fit(&device("8.7"), &candidate("sm_80")), Ok(Fit::SameMajor));
}
