//! `offload verify`: what no image may be or have in it.

mod common;
use common::*;

#[test]
fn forbidden_architectures_texts_and_sizes() {
    let room = Room::new();
    let file = room.file("f", &both());
    let verify = |args: &[&str]| {
        let args: Vec<&str> = ["verify"]
            .iter()
            .chain(args)
            .copied()
            .chain([&*file])
            .collect();
        run(&args)
    };
    verify(&["--forbid-arch=sm_75", "--forbid-arch=sm_52"])
        .says(1, &["has an image for sm_75", "wanted: nothing for sm_75"]);
    verify(&["--forbid-arch=sm_52", "--forbid-arch=sm_90a"]).fine();
    verify(&["--forbid-arch=sm_5x"]).says(2, &["unknown GPU architecture"]);
    // Modes that are not named may be any.
    let modes = room.file("modes", GFX90A_MODES);
    for (arch, breached) in [
        ("gfx90a", true),
        ("gfx90a:xnack-", true),
        ("gfx90a:xnack+", false),
    ] {
        let ran = run(&["verify", &format!("--forbid-arch={arch}"), &modes]);
        assert_eq!(ran.code == 1, breached, "{arch}: {ran:#?}");
    }
    verify(&["--forbid-text=.nv.info", "--forbid-text=not there"]).says(
        1,
        &[
            "`.nv.info` is in an image",
            "times, first at byte 0x",
            "remap paths",
        ],
    );
    verify(&["--forbid-text=not there"]).fine();
    verify(&["--forbid-text="]).says(2, &["forbid-text: the empty text is in every image"]);
    let size = SM_90.len().max(SM_75.len()) as u64;
    let at_most = |key: &str, bytes: u64| format!("--max-{key}-bytes={bytes}");
    verify(&[&at_most("image", size + 8)]).fine();
    verify(&[&at_most("image", size - 8)]).says(1, &["is too large", "in one image"]);
    let total = (SM_90.len() + SM_75.len()) as u64;
    verify(&[&at_most("total", total + 16)]).fine();
    verify(&[&at_most("total", total - 1)])
        .says(1, &["in 2 images, the largest: cubin for", "at most"]);
    verify(&[]).says(2, &["nothing to verify"]);
}

/// What mends a breach is told of the place that the policy comes from.
#[test]
fn who_says_what_ptx_is_for() {
    let room = Room::new();
    let file = room.file("f", TINY_PTX);
    let args = ["verify", "--label=//a:b", "--ptx=forbid"];
    let own = run(&[&args[..], &[&file]].concat());
    own.says(
        1,
        &[
            "in no container\n",
            "mend:   set `ptx = \"embed\"` on //a:b, or",
        ],
    );
    for from in ["ptx = \"forbid\" of //c:d", "--//rules/settings:ptx=forbid"] {
        let ran = run(&[&args[..], &[&format!("--ptx-from={from}"), &file]].concat());
        ran.says(
            1,
            &[
                &format!("wanted: no PTX, in no container, by {from}\n"),
                &format!("mend:   change {from}, or remove"),
            ],
        );
        assert!(!ran.err.contains("//a:b, or"), "{ran:#?}");
    }
}

#[test]
fn what_is_too_large_is_told_with_the_largest_images() {
    let room = Room::new();
    let files = [
        ("cubin", "sm_75", SM_75),
        ("cubin", "sm_90", SM_90),
        ("cubin", "sm_90a", SM_90A),
        ("gfx", "gfx90a", GFX90A),
    ];
    let packed = room.path("packed").display().to_string();
    let specs: Vec<String> = files
        .iter()
        .map(|(kind, arch, bytes)| {
            let file = room.file(arch, bytes);
            format!("--image=kind={kind},arch={arch},file={file}")
        })
        .collect();
    let mut args = vec!["pack".to_owned(), "--policy=forbid".to_owned()];
    args.extend(specs);
    args.push(room.output("packed"));
    run(&args.iter().map(String::as_str).collect::<Vec<_>>()).fine();
    let verify = |limit: String| run(&["verify", "--label=//x:y", &limit, &packed]);

    let total: usize = files.iter().map(|(_, _, bytes)| bytes.len()).sum();
    verify(format!("--max-total-bytes={total}")).fine();
    let ran = verify(format!("--max-total-bytes={}", total - 1));
    let mut by_size = files;
    by_size.sort_by_key(|(_, _, bytes)| std::cmp::Reverse(bytes.len()));
    let largest =
        by_size.map(|(kind, arch, bytes)| format!("{kind} for {arch}, {} bytes, in", bytes.len()));
    let [one, two, three, least] = &largest;
    ran.says(
        1,
        &[
            &format!("//x:y: the images in {packed} are too large"),
            &format!(
                "wanted: at most {} bytes in all images of a file",
                total - 1
            ),
            &format!("found:  {total} bytes in 4 images, the largest: {one} "),
            two,
            three,
            "in the `archs` of what //x:y packs",
            "(max_size; max-total-bytes)",
        ],
    );
    assert!(!ran.err.contains(least), "{}", ran.err);

    let most = by_size[0].2.len();
    verify(format!("--max-image-bytes={most}")).fine();
    verify(format!("--max-image-bytes={}", most - 1)).says(
        1,
        &[
            &format!("//x:y: an image in {packed} is too large"),
            &format!("wanted: at most {} bytes in one image", most - 1),
            &format!("found:  {one} "),
            "mend:   raise the limit of //x:y (max_image_size; max-image-bytes)",
        ],
    );
}

#[test]
fn ptx_that_is_newer_than_the_driver() {
    let room = Room::new();
    let text = TINY_PTX.to_vec();
    let text = String::from_utf8(text)
        .unwrap()
        .replace(".version 7.0", ".version 9.9");
    let new = room.file("new.ptx", text.as_bytes());
    let old = room.file("old.ptx", TINY_PTX);
    let verify = |limit: &str, file: &str| run(&["verify", "--ptx=embed", limit, file]);
    verify("--max-ptx-isa=8.0", &new).says(
        1,
        &[
            "is too new\n",
            "wanted: PTX ISA 8.0 at most",
            "PTX ISA 9.9",
            ", for no driver that is known",
        ],
    );
    verify("--max-ptx-isa=8.0", &old).fine();
    verify("--max-ptx-isa=9.9", &new).fine();
    verify("--max-ptx-isa=8", &new).says(2, &["no PTX ISA version"]);
    verify("--min-driver=575", &new).says(1, &["PTX ISA 8.8 at most, which driver 575 compiles"]);
    verify("--min-driver=575", &old).fine();
    verify("--min-driver=x", &old).says(2, &["no version of the NVIDIA driver"]);
    let toml = room.file("policy.toml", b"min-driver = \"440.33\"");
    run(&["verify", "--policy", &toml, &old]).says(
        1,
        &[
            "PTX ISA 6.5 at most",
            "PTX ISA 7.0",
            "for driver 450 or newer",
        ],
    );
    // Its bytes decide, compressed or not, and not what the fatbin says of them.
    let label = (0x568 - 80) + 24;
    let mut older = SPEED_FATBIN.to_vec();
    assert_eq!(older[label..label + 4], [8, 0, 8, 0]);
    older[label] = 0;
    for bytes in [SPEED_FATBIN, &older] {
        let fatbin = room.file("f", bytes);
        verify("--max-ptx-isa=8.7", &fatbin).says(1, &["PTX ISA 8.8"]);
        verify("--max-ptx-isa=8.8", &fatbin).fine();
    }
}

#[test]
fn forbidden_text_is_found_in_what_is_compressed() {
    let room = Room::new();
    let fatbin = room.file("f", SPEED_FATBIN);
    // The second of two lines that start alike: the first is what it is packed by.
    let text = ".visible .entry nothing";
    assert!(!SPEED_FATBIN
        .windows(text.len())
        .any(|w| w == text.as_bytes()));
    let (code, report) = verify_json(&[&format!("--forbid-text={text}"), &fatbin]);
    assert_eq!((code, rules(&report)), (1, vec!["forbid-text"]));
    assert_eq!(report["breaches"][0]["image"]["compression"], "lz4");
}

#[test]
fn relocatable_ptx_is_a_class_of_its_own() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let (code, report) = verify_json(&["--ptx=forbid", &host]);
    assert_eq!(code, 1);
    let mut found = rules(&report);
    found.sort_unstable();
    assert_eq!(found, ["ptx", "ptx", "ptx", "relocatable-ptx"]);
    let relocatable = report["breaches"].as_array().unwrap();
    let relocatable = relocatable
        .iter()
        .find(|b| b["rule"] == "relocatable-ptx")
        .unwrap();
    assert_eq!(relocatable["image"]["section"], "__nv_relfatbin");
    assert_eq!(relocatable["image"]["relocatable"], true);
    let says = ["relocatable ptx for sm_90", "4 PTX"];
    run(&["verify", "--ptx=forbid", &host]).says(1, &says[..1]);
    assert!(run(&["verify", "--ptx=embed", &host])
        .out
        .contains("4 PTX, 1 of it relocatable"));
}
