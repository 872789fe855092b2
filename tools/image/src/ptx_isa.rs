//! Versions of the PTX ISA, and which driver is the first to compile each.
//!
//! Sources: the release notes of NVIDIA's PTX ISA manual say which CUDA version brought which PTX
//! ISA; the table "CUDA Toolkit and Corresponding Driver Versions" in the release notes of the CUDA
//! toolkit says which branch of the Linux driver came with it. There was no toolkit 12.7, only a
//! driver.

use std::fmt;
use std::str::FromStr;

/// A version of the PTX ISA, as in `.version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxIsa {
    /// Before the dot.
    pub major: u16,
    /// After the dot.
    pub minor: u16,
}

impl fmt::Display for PtxIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for PtxIsa {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (major, minor) = text.split_once('.').unwrap_or((text, ""));
        match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => Ok(Self { major, minor }),
            _ => Err(format!("`{text}` is no PTX ISA version: one is like 8.0")),
        }
    }
}

/// A branch of the NVIDIA driver: what stands before the first dot of its version. What the driver
/// compiles does not change within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Driver(pub u16);

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Driver {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let mut parts = text.split('.');
        match (parts.next(), parts.all(digits)) {
            (Some(branch), true) if digits(branch) => branch.parse().ok(),
            _ => None,
        }
        .map(Self)
        .ok_or_else(|| {
            format!("`{text}` is no version of the NVIDIA driver: one is like 535 or 535.104.05")
        })
    }
}

/// A CUDA version, major and minor.
pub type Cuda = (u16, u16);

/// What a CUDA version brought: a PTX ISA, and the driver that first compiles it, where that is
/// known.
struct Release {
    cuda: Cuda,
    isa: PtxIsa,
    driver: Option<Driver>,
}

const fn release(cuda: Cuda, isa: (u16, u16), driver: u16) -> Release {
    let isa = PtxIsa {
        major: isa.0,
        minor: isa.1,
    };
    Release {
        cuda,
        isa,
        driver: if driver == 0 {
            None
        } else {
            Some(Driver(driver))
        },
    }
}

/// Oldest first. CUDA versions that brought no new ISA have no line; driver 0 is one that no release
/// notes named when this was written.
const RELEASES: &[Release] = &[
    release((7, 0), (4, 2), 346),
    release((7, 5), (4, 3), 352),
    release((8, 0), (5, 0), 367),
    release((9, 0), (6, 0), 384),
    release((9, 1), (6, 1), 390),
    release((9, 2), (6, 2), 396),
    release((10, 0), (6, 3), 410),
    release((10, 1), (6, 4), 418),
    release((10, 2), (6, 5), 440),
    release((11, 0), (7, 0), 450),
    release((11, 1), (7, 1), 455),
    release((11, 2), (7, 2), 460),
    release((11, 3), (7, 3), 465),
    release((11, 4), (7, 4), 470),
    release((11, 5), (7, 5), 495),
    release((11, 6), (7, 6), 510),
    release((11, 7), (7, 7), 515),
    release((11, 8), (7, 8), 520),
    release((12, 0), (8, 0), 525),
    release((12, 1), (8, 1), 530),
    release((12, 2), (8, 2), 535),
    release((12, 3), (8, 3), 545),
    release((12, 4), (8, 4), 550),
    release((12, 5), (8, 5), 555),
    release((12, 7), (8, 6), 565),
    release((12, 8), (8, 7), 570),
    release((12, 9), (8, 8), 575),
    release((13, 0), (9, 0), 580),
    release((13, 1), (9, 1), 590),
    release((13, 2), (9, 2), 595),
    release((13, 3), (9, 3), 610),
    release((13, 4), (9, 4), 615),
    release((13, 5), (9, 5), 0),
];

/// The newest PTX ISA that the driver of a CUDA version compiles; `None` for one that is older or
/// newer than the table.
#[must_use]
pub fn newest_of_cuda(cuda: Cuda) -> Option<PtxIsa> {
    let last = RELEASES.last()?;
    let mut older = RELEASES.iter().rev().filter(|known| known.cuda <= cuda);
    (cuda <= last.cuda).then(|| older.next())?.map(|r| r.isa)
}

/// The newest PTX ISA that a driver compiles; `None` for a driver older than the table. Of one that is
/// newer than the table, what is known: a driver compiles all that older ones do.
#[must_use]
pub fn newest_of_driver(driver: Driver) -> Option<PtxIsa> {
    let mut older = RELEASES.iter().rev();
    older
        .find(|known| known.driver.is_some_and(|known| known <= driver))
        .map(|known| known.isa)
}

/// The oldest driver that compiles PTX of a version; `None` where no driver is known that does. PTX
/// older than the table is compiled by the oldest driver in it.
#[must_use]
pub fn first_driver(isa: PtxIsa) -> Option<Driver> {
    let known = RELEASES.iter().find(|known| known.isa >= isa)?;
    known.driver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isa(text: &str) -> PtxIsa {
        text.parse().unwrap()
    }

    #[test]
    fn by_cuda_version() {
        let newest = |major, minor| newest_of_cuda((major, minor));
        assert_eq!(newest(13, 0), Some(isa("9.0")));
        assert_eq!(newest(12, 6), Some(isa("8.5")));
        assert_eq!(newest(12, 7), Some(isa("8.6")));
        assert_eq!(newest(6, 5), None);
        assert_eq!(newest(14, 0), None);
    }

    #[test]
    fn by_driver() {
        let newest = |text: &str| newest_of_driver(text.parse().unwrap());
        assert_eq!(newest("580.159.04"), Some(isa("9.0")));
        assert_eq!(newest("560"), Some(isa("8.5")));
        assert_eq!(newest("535.104.05"), Some(isa("8.2")));
        assert_eq!(newest("340"), None);
        assert_eq!(newest("9999"), Some(isa("9.4")));
    }

    #[test]
    fn the_first_driver_of_an_isa() {
        let first = |text: &str| first_driver(isa(text)).map(|driver| driver.to_string());
        assert_eq!(first("7.0").as_deref(), Some("450"));
        assert_eq!(first("7.8").as_deref(), Some("520"));
        assert_eq!(first("8.7").as_deref(), Some("570"));
        assert_eq!(first("1.4").as_deref(), Some("346"));
        assert_eq!(first("9.5"), None);
        assert_eq!(first("9.9"), None);
    }

    #[test]
    fn the_table_is_in_order() {
        for pair in RELEASES.windows(2) {
            let [old, new] = pair else { unreachable!() };
            assert!(old.cuda < new.cuda && old.isa < new.isa, "{}", new.isa);
            assert!(new.driver.is_none() || old.driver < new.driver);
        }
    }

    #[test]
    fn what_is_no_version() {
        for text in ["", "8", "8.", ".1", "8.0.1", "x"] {
            assert!(text.parse::<PtxIsa>().is_err(), "{text}");
        }
        for text in ["", "r535", "535.", "535.x", "-1", "+535", "99999"] {
            assert!(text.parse::<Driver>().is_err(), "{text}");
        }
    }
}
