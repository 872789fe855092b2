use super::*;
use crate::testing;

/// Made by LLVM's assembler and by rustc; tests/data/README.md says how.
const LLVM_AS: &[u8] = include_bytes!("../../tests/data/llvm_as.bc");
const RUSTC: &[u8] = include_bytes!("../../tests/data/rustc.bc");

fn wrapped(inner: &[u8]) -> Vec<u8> {
    let fields = [0x0B17_C0DE_u32, 0, 20, inner.len() as u32, 7];
    let header = fields.iter().flat_map(|field| field.to_le_bytes());
    header.chain(inner.iter().copied()).collect()
}

#[test]
fn reads_what_the_real_writers_wrote() {
    let id = identify(LLVM_AS).unwrap();
    assert_eq!((id.producer.as_str(), id.epoch), ("LLVM22.1.8", 0));
    assert_eq!(id.llvm_major(), Some(22));
    let id = identify(RUSTC).unwrap();
    assert!(id.producer.starts_with("LLVM"), "{}", id.producer);
    assert!(id.producer.contains("-rust-"), "{}", id.producer);
    assert!(id.llvm_major().is_some_and(|major| major >= 19));
}

#[test]
fn reads_unabbreviated_and_wrapped() {
    let made = testing::bitcode("LLVM23.0.0git");
    assert_eq!(identify(&made).unwrap().llvm_major(), Some(23));
    assert_eq!(identify(&wrapped(LLVM_AS)), identify(LLVM_AS));
    assert!(is_bitcode(&wrapped(LLVM_AS)) && is_bitcode(LLVM_AS) && !is_bitcode(b"\x7fELF"));
}

#[test]
fn producers() {
    let major = |producer: &str| identify(&testing::bitcode(producer)).unwrap().llvm_major();
    assert_eq!(major("LLVM9"), Some(9));
    assert_eq!(major("LLVM"), None);
    assert_eq!(major("APPLE_1_1500.3.9.4_0"), None);
    assert_eq!(major("LLVM99999999999"), None);
    let id = identify(&testing::bitcode("LLVM\x1b[2J")).unwrap();
    assert_eq!(id.producer, "LLVM\u{fffd}[2J");
}

#[test]
fn every_truncation_is_an_error_or_the_same_answer() {
    for whole in [
        LLVM_AS,
        RUSTC,
        &wrapped(LLVM_AS),
        &testing::bitcode("LLVM22.1.8"),
    ] {
        let expected = identify(whole);
        let mut errors = 0;
        for end in 0..whole.len() {
            match identify(&whole[..end]) {
                Err(_) => errors += 1,
                found => assert_eq!(found, expected, "at {end}"),
            }
        }
        assert!(errors > 20, "{errors}");
    }
}

#[test]
fn flipped_bits_never_panic() {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for whole in [LLVM_AS, &wrapped(RUSTC), &testing::bitcode("LLVM22.1.8")] {
        let head = &whole[..whole.len().min(96)];
        for bit in 0..head.len() * 8 {
            let mut bytes = head.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let _ = identify(&bytes);
        }
        for _ in 0..20_000 {
            let mut bytes = head.to_vec();
            for _ in 0..=random() % 8 {
                let bit = random() as usize % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            let _ = identify(&bytes);
        }
    }
}

#[test]
fn errors_say_where() {
    assert_eq!(identify(b""), Err(BitcodeError::Magic));
    assert_eq!(identify(b"BC\xC0\xDE"), Err(BitcodeError::Truncated(32)));
    // The first block is a module: LLVM before 3.8.
    let mut old = testing::bitcode("LLVM3.7");
    old[4] = 1 | 8 << 2;
    assert_eq!(identify(&old), Err(BitcodeError::Anonymous));
    let far = wrapped(b"");
    assert_eq!(identify(&far), Err(BitcodeError::Truncated(160)));
}
