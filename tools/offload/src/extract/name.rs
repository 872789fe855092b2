//! The name of the file that an image is written to.

use std::path::Path;

use offload_audit::image::Image;
use offload_image::image::Kind;

use crate::files::hex;

/// How much of the name of the file that it was in is kept, and of the architecture: most file
/// systems take names of 255 bytes.
const SOURCE: usize = 120;
const ARCH: usize = 40;

/// `libx.so.sm_90a.0123456789abcdef.cubin`: by the name of the file that it was in and by the image
/// alone, so that neither the order nor what else is there shows in it.
pub fn of(source: &Path, image: &Image, sha256: &[u8; 32]) -> String {
    let source = source.file_name().unwrap_or_default().to_string_lossy();
    let arch = image.arch().unwrap_or_default();
    let arch = if arch.is_empty() { "unknown" } else { &arch };
    format!(
        "{}.{}.{}.{}",
        cleaned(&source, SOURCE),
        cleaned(arch, ARCH),
        hex(&sha256[..8]),
        extension(image.kind)
    )
}

/// Both texts are whatever somebody put into a file, so what could be special to a file system or
/// a shell is replaced.
fn cleaned(text: &str, longest: usize) -> String {
    let safe = |(at, c): (usize, char)| match c {
        '.' if at == 0 => '_',
        '.' | '_' | '+' | '-' => c,
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    text.chars().take(longest).enumerate().map(safe).collect()
}

fn extension(kind: Kind) -> &'static str {
    match kind {
        Kind::Cubin => "cubin",
        Kind::Ptx => "ptx",
        Kind::Gfx => "hsaco",
        Kind::Bitcode => "bc",
        Kind::Spirv => "spv",
        Kind::Unknown(_) => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload_audit::image::{Label, Location};
    use offload_image::image::Compression;

    fn name(source: &str, kind: Kind, arch: Option<&str>) -> String {
        let image = Image {
            kind,
            location: Location {
                member: vec!["../../evil".to_owned()],
                ..Location::default()
            },
            compression: Compression::None,
            size: 1,
            unpacked_size: 1,
            sha256: None,
            label: Label {
                arch: arch.map(str::to_owned),
                ..Label::default()
            },
            content: None,
        };
        of(Path::new(source), &image, &[0xab; 32])
    }

    #[test]
    fn names() {
        for (source, kind, arch, wanted) in [
            (
                "d/libx.so.1",
                Kind::Cubin,
                Some("sm_90a"),
                "libx.so.1.sm_90a.H.cubin",
            ),
            (
                "x",
                Kind::Gfx,
                Some("gfx90a:xnack+"),
                "x.gfx90a_xnack+.H.hsaco",
            ),
            ("x", Kind::Ptx, None, "x.unknown.H.ptx"),
            ("x", Kind::Bitcode, Some(""), "x.unknown.H.bc"),
            (".x", Kind::Spirv, Some("../../e"), "_x._._.._e.H.spv"),
            (
                "-a b\n\u{1b}é",
                Kind::Unknown(9),
                Some("a/b\\c\0"),
                "-a_b___.a_b_c_.H.bin",
            ),
            ("..x", Kind::Ptx, Some("."), "_.x._.H.ptx"),
        ] {
            let wanted = wanted.replace(".H.", ".abababababababab.");
            assert_eq!(name(source, kind, arch), wanted);
        }
        let long = name(&"é".repeat(500), Kind::Cubin, Some(&"y".repeat(500)));
        assert_eq!(long.len(), SOURCE + ARCH + 24);
    }
}
