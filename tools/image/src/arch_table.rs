//! The rows. Every fact about an architecture stands here once; see [`crate::arch`] for its meaning.

use crate::arch::{Arch, Details, Suffix};

const fn sm(name: &'static str, sm: u32, suffix: Suffix) -> Arch {
    Arch {
        name,
        details: Details::Nvidia { sm, suffix },
    }
}

const fn gfx(name: &'static str, mach: u8, sramecc: bool, xnack: bool) -> Arch {
    generic(name, mach, sramecc, xnack, &[])
}

const fn generic(
    name: &'static str,
    mach: u8,
    sramecc: bool,
    xnack: bool,
    serves: &'static [&'static str],
) -> Arch {
    Arch {
        name,
        details: Details::Amd {
            mach,
            xnack,
            sramecc,
            serves,
        },
    }
}

pub(crate) const ARCHS: &[Arch] = &[
    sm("sm_70", 70, Suffix::Plain),
    sm("sm_72", 72, Suffix::Plain),
    sm("sm_75", 75, Suffix::Plain),
    sm("sm_80", 80, Suffix::Plain),
    sm("sm_86", 86, Suffix::Plain),
    sm("sm_87", 87, Suffix::Plain),
    sm("sm_88", 88, Suffix::Plain),
    sm("sm_89", 89, Suffix::Plain),
    sm("sm_90", 90, Suffix::Plain),
    sm("sm_90a", 90, Suffix::Exact),
    sm("sm_100", 100, Suffix::Plain),
    sm("sm_100a", 100, Suffix::Exact),
    sm("sm_100f", 100, Suffix::Family),
    sm("sm_103", 103, Suffix::Plain),
    sm("sm_103a", 103, Suffix::Exact),
    sm("sm_103f", 103, Suffix::Family),
    sm("sm_107", 107, Suffix::Plain),
    sm("sm_107a", 107, Suffix::Exact),
    sm("sm_107f", 107, Suffix::Family),
    sm("sm_110", 110, Suffix::Plain),
    sm("sm_110a", 110, Suffix::Exact),
    sm("sm_110f", 110, Suffix::Family),
    sm("sm_120", 120, Suffix::Plain),
    sm("sm_120a", 120, Suffix::Exact),
    sm("sm_120f", 120, Suffix::Family),
    sm("sm_121", 121, Suffix::Plain),
    sm("sm_121a", 121, Suffix::Exact),
    sm("sm_121f", 121, Suffix::Family),
    // name, MACH, sramecc, xnack
    gfx("gfx900", 0x2c, false, true),
    gfx("gfx902", 0x2d, false, true),
    gfx("gfx904", 0x2e, false, true),
    gfx("gfx906", 0x2f, true, true),
    gfx("gfx908", 0x30, true, true),
    gfx("gfx909", 0x31, false, true),
    gfx("gfx90a", 0x3f, true, true),
    gfx("gfx90c", 0x32, false, true),
    gfx("gfx942", 0x4c, true, true),
    gfx("gfx950", 0x4f, true, true),
    gfx("gfx1010", 0x33, false, true),
    gfx("gfx1011", 0x34, false, true),
    gfx("gfx1012", 0x35, false, true),
    gfx("gfx1013", 0x42, false, true),
    gfx("gfx1030", 0x36, false, false),
    gfx("gfx1031", 0x37, false, false),
    gfx("gfx1032", 0x38, false, false),
    gfx("gfx1033", 0x39, false, false),
    gfx("gfx1034", 0x3e, false, false),
    gfx("gfx1035", 0x3d, false, false),
    gfx("gfx1036", 0x45, false, false),
    gfx("gfx1100", 0x41, false, false),
    gfx("gfx1101", 0x46, false, false),
    gfx("gfx1102", 0x47, false, false),
    gfx("gfx1103", 0x44, false, false),
    gfx("gfx1150", 0x43, false, false),
    gfx("gfx1151", 0x4a, false, false),
    gfx("gfx1152", 0x55, false, false),
    gfx("gfx1153", 0x58, false, false),
    gfx("gfx1200", 0x48, false, false),
    gfx("gfx1201", 0x4e, false, false),
    generic(
        "gfx9-generic",
        0x51,
        false,
        true,
        &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"],
    ),
    generic("gfx9-4-generic", 0x5f, true, true, &["gfx942", "gfx950"]),
    generic(
        "gfx10-1-generic",
        0x52,
        false,
        true,
        &["gfx1010", "gfx1011", "gfx1012", "gfx1013"],
    ),
    generic(
        "gfx10-3-generic",
        0x53,
        false,
        false,
        &[
            "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
        ],
    ),
    generic(
        "gfx11-generic",
        0x54,
        false,
        false,
        &[
            "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
        ],
    ),
    generic("gfx12-generic", 0x59, false, false, &["gfx1200", "gfx1201"]),
];
