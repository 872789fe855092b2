//! Sizes, for people.

/// `3584 bytes`, `67108864 bytes (64.0 MiB)`: the number to compare, and the one to grasp.
pub fn bytes(size: u64) -> String {
    const UNITS: [(&str, u32); 2] = [("GiB", 30), ("MiB", 20)];
    let about = UNITS.iter().find(|(_, bits)| size >> bits != 0);
    let Some((unit, bits)) = about else {
        return format!("{size} bytes");
    };
    // In tenths, rounded down: what is above a limit does not look like it by being rounded.
    let tenths = (u128::from(size) * 10) >> bits;
    format!("{size} bytes ({}.{} {unit})", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn the_unit_is_the_largest_that_fits() {
        for (size, text) in [
            (0, "0 bytes"),
            (1_048_575, "1048575 bytes"),
            (1_048_576, "1048576 bytes (1.0 MiB)"),
            (1_610_612_736, "1610612736 bytes (1.5 GiB)"),
            (1_717_986_917, "1717986917 bytes (1.5 GiB)"),
            (u64::MAX, "18446744073709551615 bytes (17179869183.9 GiB)"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }
}
