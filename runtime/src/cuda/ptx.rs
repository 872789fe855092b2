//! Which PTX each CUDA version's driver compiles.

use offload_image::select::PtxIsa;

/// Major and minor.
type Version = (u16, u16);

/// CUDA version, and the newest PTX ISA that its driver compiles, from the release notes of the PTX
/// ISA. Versions that brought no new ISA have no line.
const NEWEST: &[(Version, Version)] = &[
    ((10, 0), (6, 3)),
    ((10, 1), (6, 4)),
    ((10, 2), (6, 5)),
    ((11, 0), (7, 0)),
    ((11, 1), (7, 1)),
    ((11, 2), (7, 2)),
    ((11, 3), (7, 3)),
    ((11, 4), (7, 4)),
    ((11, 5), (7, 5)),
    ((11, 6), (7, 6)),
    ((11, 7), (7, 7)),
    ((11, 8), (7, 8)),
    ((12, 0), (8, 0)),
    ((12, 1), (8, 1)),
    ((12, 2), (8, 2)),
    ((12, 3), (8, 3)),
    ((12, 4), (8, 4)),
    ((12, 5), (8, 5)),
    ((12, 7), (8, 6)),
    ((12, 8), (8, 7)),
    ((12, 9), (8, 8)),
    ((13, 0), (9, 0)),
    ((13, 1), (9, 1)),
    ((13, 2), (9, 2)),
    ((13, 3), (9, 3)),
    ((13, 4), (9, 4)),
    ((13, 5), (9, 5)),
];

/// The newest PTX ISA of a driver; `None` for a driver newer than this table, which then has to say
/// itself what it refuses.
pub(super) fn newest(cuda: Version) -> Option<PtxIsa> {
    let (last, _) = NEWEST.last()?;
    if cuda > *last {
        return None;
    }
    let (_, (major, minor)) = *NEWEST.iter().rev().find(|(version, _)| *version <= cuda)?;
    Some(PtxIsa { major, minor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_version() {
        let newest = |major, minor| newest((major, minor)).map(|isa| isa.to_string());
        assert_eq!(newest(13, 0).as_deref(), Some("9.0"));
        assert_eq!(newest(12, 6).as_deref(), Some("8.5"));
        assert_eq!(newest(9, 0), None);
        assert_eq!(newest(14, 0), None);
    }
}
