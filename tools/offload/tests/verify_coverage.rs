//! `offload verify`: for which architectures and kernels images have to be there.

mod common;
use common::*;
use offload_image::fatbin::write;

#[test]
fn each_container_has_to_have_every_architecture() {
    let room = Room::new();
    let whole = room.file("whole", &both());
    let verify = |file: &str| run(&["verify", "--require-arch=sm_90", file]);
    verify(&whole).fine();
    // The file as a whole has images for both; the second fatbin has one for sm_75 alone.
    let half = room.file("half", &[both(), only_75()].concat());
    let offset = format!("file @ {:#x} (fatbin)", both().len());
    verify(&half).says(1, &["no image for sm_90 in", &offset, "images for: sm_75"]);
    // The same as two files that are images themselves is one container.
    let (a, b) = (room.file("a.cubin", SM_75), room.file("b.cubin", SM_90));
    run(&[
        "verify",
        "--require-arch=sm_90",
        "--require-arch=sm_75",
        &a,
        &b,
    ])
    .fine();
    run(&["verify", "--require-arch=sm_90", &a]).says(1, &["no image for sm_90 in"]);
    // So are OffloadBinaries in a row, of which each holds one image.
    let packed = packed(&room);
    run(&["verify", "--require-arch=sm_90a", &packed]).fine();
    // And nothing at all is not enough.
    let plain = room.file("plain.o", PLAIN);
    run(&["verify", "--require-arch=sm_90", &plain]).says(1, &["no image for sm_90", "none"]);
    run(&["verify", "--require-arch=gfx90a", &whole]).says(1, &["no image for gfx90a"]);
    verify(&plain).says(1, &["plain.o"]);
}

/// What one program or archive has is nothing to another one.

#[test]
fn bare_images_of_two_files_are_two_containers() {
    let room = Room::new();
    let verify = |files: &[&str]| run(&[&["verify", "--require-arch=sm_90"], files].concat());
    let old = room.file("old", &[PLAIN, SM_75].concat());
    let new = room.file("new", &[PLAIN, SM_90].concat());
    let both = room.file("both", &[PLAIN, SM_75, SM_90].concat());
    verify(&[&new, &both]).fine();
    verify(&[&new, &old]).says(1, &[&format!("no image for sm_90 in {old} (elf)")]);
    let wheel = |name: &str, members: &[(&str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in members {
            zip.start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            std::io::Write::write_all(&mut zip, bytes).unwrap();
        }
        room.file(name, zip.finish().unwrap().get_ref())
    };
    let old = wheel("old.whl", &[("k/a.cubin", SM_75)]);
    let both = wheel("both.whl", &[("k/a.cubin", SM_75), ("l/b.cubin", SM_90)]);
    verify(&[&both]).fine();
    verify(&[&both, &old]).says(1, &[&format!("no image for sm_90 in {old} (zip)")]);
}

#[test]
fn each_kernel_has_to_have_every_architecture() {
    let room = Room::new();
    let ptx = |target: &str, kernels: &[&str]| {
        let entries = kernels
            .iter()
            .map(|k| format!(".visible .entry {k}() {{ ret; }}\n"));
        let entries: String = entries.collect();
        format!(".version 7.0\n.target {target}\n.address_size 64\n{entries}")
    };
    let old = room.file("old.ptx", ptx("sm_70", &["a", "b"]).as_bytes());
    let new = room.file("new.ptx", ptx("sm_90", &["a", "c"]).as_bytes());
    let verify = |arch: &str| run(&["verify", "--ptx=only", arch, &old, &new]);
    // On 7.5 nothing runs but the first.
    verify("--require-arch=sm_75").says(
        1,
        &[
            "kernels in",
            "lack an image for sm_75",
            "with c",
            "images for sm_75 with: a, b",
        ],
    );
    verify("--require-arch=sm_90").fine();
}

#[test]
fn what_counts_for_an_architecture() {
    let room = Room::new();
    let file = |name: &str, bytes: &[u8]| room.file(name, bytes);
    let covers = |arch: &str, file: &str| {
        let ran = run(&["verify", &format!("--require-arch={arch}"), file]);
        assert!(ran.code < 2, "{ran:?}");
        ran.code == 0
    };
    let sm_75 = file("75", SM_75);
    let sm_90 = file("90", SM_90);
    let sm_90a = file("90a", SM_90A);
    let generic = file("generic", GFX9_4_GENERIC);
    let modes = file("modes", GFX90A_MODES);
    for (arch, image, wanted) in [
        ("sm_75", &sm_75, true),
        ("sm_72", &sm_75, false),
        ("sm_80", &sm_75, false),
        // The letter: for its own GPU, and for no other.
        ("sm_90", &sm_90a, true),
        ("sm_90a", &sm_90a, true),
        ("sm_90a", &sm_90, false),
        ("sm_100", &sm_90a, false),
        ("sm_100", &sm_90, false),
        ("gfx942", &generic, true),
        ("gfx950", &generic, true),
        ("gfx90a", &generic, false),
        ("gfx9-4-generic", &generic, true),
        ("gfx90a", &modes, true),
    ] {
        assert_eq!(covers(arch, image), wanted, "{arch} by {image}");
    }
}

/// An image runs on a higher minor version of its GPU and on no lower one; and what is said of a GPU
/// that has no image is not what is said of a kernel that has none.
#[test]
fn minor_versions_and_missing_kernels() {
    let room = Room::new();
    // The number stands in `e_flags`.
    let cubin = |name: &str, sm: u8| {
        let mut bytes = SM_75.to_vec();
        bytes[48] = sm;
        room.file(name, &bytes)
    };
    let (sm_80, sm_87) = (cubin("80", 80), cubin("87", 87));
    let verify = |rule: &str, file: &str| run(&["verify", "--label=//x:y", rule, file]);
    verify("--require-arch=sm_87", &sm_80).fine();
    verify("--require-arch=sm_80", &sm_80).fine();
    let no_image = verify("--require-arch=sm_80", &sm_87);
    no_image.says(
        1,
        &[
            "//x:y: no image for sm_80 in ",
            "wanted: an image that runs on sm_80 as it is\n",
            "found:  images for: sm_87\n",
            "mend:   add \"sm_80\" to the archs of //x:y, or of what it packs\n",
        ],
    );
    let no_kernel = verify("--require-kernel=fil", &sm_87);
    no_kernel.says(
        1,
        &[
            "//x:y: kernel `fil` is in no image in ",
            "wanted: an image with `fil`\n",
            "found:  kernels: fill, nothing\n",
            "mend:   did you mean `fill`?\n",
        ],
    );
    assert!(!no_image.err.contains("kernel"), "{}", no_image.err);
    assert!(!no_kernel.err.contains("no image for"), "{}", no_kernel.err);
}

#[test]
fn images_that_have_to_be_there() {
    let room = Room::new();
    let program = room.file("program", &both());
    let verify = |wanted: &str| run(&["verify", &format!("--require-images={wanted}"), &program]);
    // However it is stored there.
    verify(&room.file("a.cubin", SM_75)).fine();
    verify(&room.file("both", &both())).fine();
    let packed = packed(&room);
    let ran = verify(&packed);
    ran.says(
        1,
        &[
            "an image of",
            "images.offload is not in",
            "cubin for sm_90a",
            "2 images, and not this one",
        ],
    );
    assert_eq!(ran.err.matches("is not in").count(), 2);
    // What could not be read could be anything.
    let broken = room.file("broken", &RAW_FATBIN[..4000]);
    verify(&broken).says(3, &["broken: ", "truncated"]);
    verify(&room.path("gone").display().to_string()).says(3, &["cannot read it"]);
    // Nothing to require is no rule.
    let plain = room.file("plain.o", PLAIN);
    verify(&plain).says(
        2,
        &["--require-images=", "plain.o: there is no image in it"],
    );
    // It is an input as well, and not written over.
    let wanted = format!("--require-images={packed}");
    let output = format!("--output={packed}");
    run(&["verify", &wanted, &output, &program]).says(2, &["it is the input"]);
}

#[test]
fn a_kernel_with_other_architectures_in_another_container() {
    let room = Room::new();
    let only_90 = write(&[entry(90, Suffix::Plain, SM_90)]);
    let verify = |name: &str, bytes: &[u8]| {
        let file = room.file(name, bytes);
        run(&["verify", "--ptx=forbid", "--require-kernel=fill", &file])
    };
    let at = only_75().len();
    let ran = verify("uneven", &[only_75(), only_90.clone()].concat());
    let places = format!("file @ 0x0 for sm_75, and file @ {at:#x} for sm_90");
    ran.says(0, &["has fill, nothing more than once", &places]);
    // The same ones twice are what compilers make of inline functions.
    verify("even", &[both(), both()].concat()).fine();
    // And two files are two programs.
    let (a, b) = (room.file("a", &only_75()), room.file("b", &only_90));
    run(&["verify", "--ptx=forbid", "--require-kernel=fill", &a, &b]).fine();
}
