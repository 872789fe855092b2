//! The newest PTX that may be there: by its version, or by the driver that has to compile it.

use offload_image::ptx_isa::{first_driver, newest_of_driver, Driver, PtxIsa};

/// One limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceiling {
    Isa(PtxIsa),
    /// The oldest driver that it runs with.
    Driver(Driver),
}

impl Ceiling {
    /// Those that are set.
    pub fn all(isa: Option<PtxIsa>, driver: Option<Driver>) -> Vec<Self> {
        let by_isa = isa.map(Self::Isa);
        by_isa.into_iter().chain(driver.map(Self::Driver)).collect()
    }

    /// Whether PTX of this version is too new.
    pub fn is_below(self, isa: PtxIsa) -> bool {
        let newest = match self {
            Self::Isa(newest) => Some(newest),
            Self::Driver(driver) => newest_of_driver(driver),
        };
        newest.is_none_or(|newest| newest < isa)
    }

    pub fn wanted(self) -> String {
        match self {
            Self::Isa(newest) => format!("PTX ISA {newest} at most"),
            Self::Driver(driver) => match newest_of_driver(driver) {
                Some(newest) => format!("PTX ISA {newest} at most, which driver {driver} compiles"),
                None => format!("no PTX: what driver {driver} compiles is not known"),
            },
        }
    }

    /// What to do about PTX that is too new; `named` is the target.
    pub fn mend(self, named: &str) -> String {
        let raise = match self {
            Self::Isa(_) => "raise max_ptx_isa",
            Self::Driver(_) => "raise min_driver, and ask users for that driver",
        };
        format!(
            "take the architecture out of `ptx_archs` of {named} (a cubin needs no compiler), name an \
             older one there, or {raise}"
        )
    }
}

/// `, for driver 570 or newer`: who compiles PTX of this version.
pub fn compiled_by(isa: PtxIsa) -> String {
    match first_driver(isa) {
        Some(driver) => format!(", for driver {driver} or newer"),
        None => ", for no driver that is known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_version_and_by_driver() {
        let isa = |text: &str| text.parse::<PtxIsa>().unwrap();
        let eight = Ceiling::Isa(isa("8.0"));
        assert!(eight.is_below(isa("9.9")) && eight.is_below(isa("8.1")));
        assert!(!eight.is_below(isa("8.0")) && !eight.is_below(isa("7.8")));
        let driver = |branch| Ceiling::Driver(Driver(branch));
        assert!(driver(535).is_below(isa("8.3")) && !driver(535).is_below(isa("8.2")));
        assert!(driver(100).is_below(isa("1.0")), "nothing is known of it");
        assert!(driver(9999).is_below(isa("9.9")), "no driver is known");
    }
}
