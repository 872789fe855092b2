//! An ordinary library: the host tests it, the GPU runs it.
#![no_std]

/// `x` to the fourth.
pub fn fourth(x: u32) -> u32 {
    helper_of_helper::square(helper_of_helper::square(x))
}

#[cfg(test)]
mod tests {
    #[test]
    fn on_the_host() {
        assert_eq!(super::fourth(3), 81);
    }
}
