//! `offload pack` and `offload link`.

mod common;
use common::*;
use offload_image::fatbin::{self, EntryKind, NewEntry};
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use offload_image::target::Sm;

#[test]
fn packed_images_are_sorted_and_the_same_each_time() {
    let room = Room::new();
    let specs = [
        image(&room, "gfx", "gfx90a", "g", GFX90A),
        image(&room, "ptx", "sm_90", "p", &retarget("sm_90")),
        image(&room, "cubin", "sm_90a", "a", SM_90A),
        image(&room, "cubin", "sm_75", "o", SM_75),
        image(&room, "cubin", "sm_90", "n", SM_90),
    ];
    let mut order: Vec<&str> = specs.iter().map(String::as_str).collect();
    for name in ["one", "two"] {
        let output = room.output(name);
        let mut args = vec!["pack", "--label=//x:y", "--policy=embed", &output];
        args.extend(&order);
        run(&args).fine();
        order.reverse();
    }
    assert_eq!(room.read("one"), room.read("two"));
    let found: Vec<String> = images(&room.path("one"))
        .iter()
        .map(|i| format!("{} {} {}", i["kind"], i["arch"], i["policy"]).replace('"', ""))
        .collect();
    assert_eq!(
        found,
        [
            "cubin sm_75 embed",
            "cubin sm_90 embed",
            "ptx sm_90 embed",
            "cubin sm_90a embed",
            "gfx gfx90a embed"
        ]
    );
}

fn retarget(arch: &str) -> Vec<u8> {
    String::from_utf8(TINY_PTX.to_vec())
        .unwrap()
        .replace("sm_70", arch)
        .into_bytes()
}

#[test]
fn the_policy_refuses() {
    let room = Room::new();
    let ptx = image(&room, "ptx", "sm_70", "p", TINY_PTX);
    let cubin = image(&room, "cubin", "sm_90", "c", SM_90);
    let output = room.output("images.offload");
    let pack = |policy: &str| {
        let policy = format!("--policy={policy}");
        run(&["pack", "--label=//x:y", &policy, &ptx, &cubin, &output])
    };
    pack("forbid").says(
        1,
        &[
            "//x:y",
            "found:  ptx for sm_70",
            "set `ptx = \"embed\"` on //x:y",
        ],
    );
    pack("only").says(
        1,
        &[
            "//x:y",
            "found:  cubin for sm_90",
            "wanted: PTX and no cubin",
        ],
    );
    assert!(!room.path("images.offload").exists());
    pack("embed").fine();
    assert!(room.path("images.offload").exists());
    pack("maybe").says(2, &["forbid, embed, only"]);
}

#[test]
fn the_same_image_twice_is_refused() {
    let room = Room::new();
    let one = image(&room, "cubin", "sm_90", "one", SM_90);
    let two = image(&room, "cubin", "sm_90", "two", SM_90);
    let ran = run(&[
        "pack",
        "--label=//x:y",
        "--policy=forbid",
        &one,
        &two,
        &room.output("o"),
    ]);
    ran.says(
        1,
        &[
            "//x:y: the same image twice",
            "one cubin for sm_90",
            "one and ",
            "two",
        ],
    );
}

/// Two units may have images for one architecture; which of them a kernel is in has to be plain.
#[test]
fn two_images_with_the_same_kernel_are_refused() {
    let room = Room::new();
    let pack = |images: &[&str]| {
        let output = room.output("o");
        let args = ["pack", "--label=//x:y", "--policy=embed", &output];
        run(&[&args, images].concat())
    };
    let cubin = image(&room, "cubin", "sm_90", "one", SM_90);
    let other = image(&room, "cubin", "sm_90", "two", &altered(SM_90));
    let gfx = image(&room, "gfx", "gfx90a", "gfx", GFX90A);
    let other_gfx = image(&room, "gfx", "gfx90a", "gfx2", &altered(GFX90A));
    for (one, two, says) in [
        (&cubin, &other, "wanted: one cubin for sm_90 with these"),
        (&gfx, &other_gfx, "wanted: one gfx for gfx90a with these"),
    ] {
        pack(&[one, two]).says(
            1,
            &[
                "//x:y: two images have the same kernels, and no GPU tells them apart: fill, nothing\n",
                says,
                &one[one.find("/").unwrap()..],
                &two[two.find("/").unwrap()..],
                "mend:   rename the kernels in one of the two, or take one out of //x:y",
            ],
        );
        assert!(!room.path("o").exists());
    }
    // What is more specific goes first, and a compiler comes last.
    let exact = image(&room, "cubin", "sm_90a", "a", SM_90A);
    let ptx = image(&room, "ptx", "sm_90", "p", &retarget("sm_90"));
    pack(&[&cubin, &exact, &ptx]).fine();
    // Other kernels.
    let text = String::from_utf8(retarget("sm_90")).unwrap();
    let more = text.replace("nothing", "more").replace("fill", "fill2");
    let unit = image(&room, "ptx", "sm_90", "q", more.as_bytes());
    pack(&[&ptx, &unit]).fine();
    // Of templates every unit has its own, and all are the same.
    let weak = text.replace(".visible .entry", ".weak .entry");
    assert_ne!(weak, text);
    let weak = image(&room, "ptx", "sm_90", "w", weak.as_bytes());
    pack(&[&ptx, &weak]).fine();
}

#[test]
fn content_is_checked() {
    let room = Room::new();
    let wrong = image(&room, "cubin", "sm_90", "c", SM_90A);
    let ran = run(&[
        "pack",
        "--label=//x:y",
        "--policy=forbid",
        &wrong,
        &room.output("o"),
    ]);
    ran.says(1, &["wanted: sm_90\n", "found:  sm_90a"]);
    assert_eq!(room.names(), ["c"]);
}

#[test]
fn metadata_has_to_be_of_this_image() {
    let room = Room::new();
    let cubin = room.file("c", SM_90);
    let meta = room.path("meta.json").display().to_string();
    run(&[
        "check",
        "--arch=sm_90",
        "--kind=cubin",
        &format!("--output={meta}"),
        &cubin,
    ])
    .fine();
    let spec = format!("--image=kind=cubin,arch=sm_90,file={cubin},meta={meta}");
    let output = room.output("o");
    let pack = || run(&["pack", "--label=//x:y", "--policy=forbid", &spec, &output]);
    pack().fine();
    room.file("c", &altered(SM_90));
    pack().says(1, &["it is not the image that was checked", "meta.json"]);
    room.file("meta.json", b"{");
    pack().says(3, &["malformed metadata"]);
}

#[test]
fn linked_objects_hold_what_was_packed() {
    let room = Room::new();
    let packed = packed(&room);
    for machine in ["x86_64", "aarch64"] {
        let machine = format!("--machine={machine}");
        let output = room.output("images.o");
        run(&[
            "link",
            "--label=//x:y",
            "--input",
            &packed,
            &machine,
            &output,
        ])
        .fine();
        let found = images(&room.path("images.o"));
        assert_eq!(found.len(), 2);
        for image in &found {
            assert_eq!(image["section"], ".llvm.offloading");
            assert_eq!(image["container"], "elf/offload_binary");
            assert_eq!(image["compression"], "none");
        }
        let offset = found[1]["offset"].as_u64().unwrap() as usize;
        let object = room.read("images.o");
        assert_eq!(&object[offset..offset + SM_90A.len()], SM_90A);
    }
    let output = room.output("twice.o");
    run(&["link", "--input", &packed, &packed, &output]).fine();
    // Which of the two packed files an image is of.
    let twice = images(&room.path("twice.o"));
    let packs: Vec<_> = twice.iter().map(|image| &image["pack"]).collect();
    assert_eq!(packs, [0, 0, 1, 1]);
    let bare = images(packed.as_ref());
    assert!(bare.iter().all(|image| image["pack"].is_null()));
}

#[test]
fn what_is_no_packed_file_is_not_linked() {
    let room = Room::new();
    let output = room.output("images.o");
    for (bytes, says) in [(SM_90, "magic"), (&b""[..], "no images")] {
        let input = room.file("input", bytes);
        run(&["link", "--label=//x:y", "--input", &input, &output]).says(3, &["//x:y", says]);
    }
    assert_eq!(room.names(), ["input"]);
}

#[test]
fn what_forbids_ptx_is_not_linked_with_any() {
    let room = Room::new();
    let pack = |name: &str, policy: &str, images: &[String]| {
        let (policy, output) = (format!("--policy={policy}"), room.output(name));
        let mut args = vec!["pack", "--label=//x:y", &policy, &output];
        args.extend(images.iter().map(String::as_str));
        run(&args).fine();
        room.path(name).display().to_string()
    };
    let cubin = image(&room, "cubin", "sm_90", "c", SM_90);
    let ptx = image(&room, "ptx", "sm_70", "p", TINY_PTX);
    let forbid = pack("forbid.offload", "forbid", std::slice::from_ref(&cubin));
    let embed = pack("embed.offload", "embed", &[ptx, cubin.clone()]);
    let without = pack("without.offload", "embed", &[cubin]);
    let output = room.output("images.o");
    let link = |inputs: &[&str]| {
        let inputs = inputs.iter().flat_map(|input| ["--input", input]);
        let args: Vec<&str> = ["link", "--label=//x:z", &output]
            .into_iter()
            .chain(inputs)
            .collect();
        run(&args)
    };
    for inputs in [[&*forbid, &embed], [&embed, &forbid]] {
        link(&inputs).says(
            1,
            &[
                "//x:z: images that were built under ptx = \"forbid\" would be in one program with PTX",
                "forbid.offload",
                "found:  ptx for sm_70 in",
                "embed.offload, built under ptx = \"embed\"",
                "mend:   build both under one policy: set the same `ptx` on the targets that //x:z",
            ],
        );
        assert!(!room.path("images.o").exists());
    }
    // The policy alone is no PTX.
    link(&[&forbid, &without]).fine();
    link(&[&embed, &embed]).fine();
    // One of LLVM's own, which knows no policies.
    let foreign = room.file(
        "llvm.offload",
        include_bytes!("../../image/tests/data/llvm22.offload"),
    );
    link(&[&foreign]).says(
        0,
        &["llvm.offload has images that were packed without a policy"],
    );
    link(&[&forbid, &foreign]).says(1, &["built under no policy"]);
    // What is in a fatbin counts by itself.
    let in_fatbins = |name: &str, entries: &[NewEntry<'_>]| {
        // In a row, each with zeros behind it.
        let fatbins = entries
            .iter()
            .map(|entry| [fatbin::write(&[*entry]), vec![0; 24]].concat());
        let bytes = offload_binary::write(&[NewImage {
            image_kind: image_kind::FATBIN,
            offload_kind: offload_kind::CUDA,
            strings: vec![("arch", "sm_90")],
            data: &fatbins.collect::<Vec<_>>().concat(),
        }]);
        room.file(name, &bytes)
    };
    let cubin = entry(90, Suffix::Plain, SM_90);
    let ptx = NewEntry {
        kind: EntryKind::Ptx,
        sm: Sm {
            number: 70,
            ..cubin.sm
        },
        payload: TINY_PTX,
        ..cubin
    };
    for entries in [&[ptx][..], &[cubin, ptx]] {
        let file = in_fatbins("ptx", entries);
        link(&[&forbid, &file]).says(1, &["found:  ptx for sm_70 in", "built under no policy"]);
    }
    let cubins = in_fatbins("cubin", &[cubin, cubin]);
    link(&[&forbid, &cubins]).says(0, &["cubin has images that were packed without a policy"]);
}

/// `--image` of an image that was checked for a target with this policy.
fn checked(room: &Room, policy: &str, kind: &str, arch: &str, bytes: &[u8]) -> String {
    let name = format!("{policy}.{kind}.{arch}");
    let file = room.file(&name, bytes);
    let meta = format!("{file}.json");
    run(&[
        "check",
        &format!("--arch={arch}"),
        &format!("--kind={kind}"),
        &format!("--policy={policy}"),
        &format!("--output={meta}"),
        &file,
    ])
    .fine();
    format!("--image=kind={kind},arch={arch},file={file},meta={meta}")
}

#[test]
fn the_policy_of_another_target_is_kept() {
    let room = Room::new();
    let output = room.output("images.offload");
    let pack = |policy: &str, images: &[&String]| {
        let policy = format!("--policy={policy}");
        let mut args = vec!["pack", "--label=//x:y", &policy, &output];
        args.extend(images.iter().map(|image| image.as_str()));
        run(&args)
    };
    let policies = || -> Vec<String> {
        let found = images(&room.path("images.offload"));
        let policy = |image: &serde_json::Value| image["policy"].as_str().unwrap().to_owned();
        found.iter().map(policy).collect()
    };
    let forbid = checked(&room, "forbid", "cubin", "sm_90", SM_90);
    let embed = checked(&room, "embed", "cubin", "sm_75", SM_75);
    let ptx = checked(&room, "embed", "ptx", "sm_70", TINY_PTX);
    let only = checked(&room, "only", "ptx", "sm_70", TINY_PTX);

    // A pack that allows more does not loosen what an image was built under.
    pack("embed", &[&forbid, &embed]).fine();
    assert_eq!(policies(), ["embed", "forbid"]);
    pack("forbid", &[&forbid, &embed]).fine();
    assert_eq!(policies(), ["forbid", "forbid"]);
    pack("embed", &[&embed, &ptx]).fine();

    for (images, says) in [
        (
            [&forbid, &ptx],
            [
                "ptx = \"forbid\" would be in one program with PTX",
                "found:  ptx for sm_70 in",
                "embed.ptx.sm_70, built under ptx = \"embed\"",
            ],
        ),
        (
            [&only, &embed],
            [
                "ptx = \"only\" would be in one program with cubins",
                "found:  cubin for sm_75 in",
                "embed.cubin.sm_75, built under ptx = \"embed\"",
            ],
        ),
    ] {
        let ran = pack("embed", &images);
        ran.says(1, &says);
        ran.says(1, &["//x:y", "mend:   build both under one policy"]);
    }
    pack("forbid", &[&only]).says(1, &["ptx = \"forbid\" does not allow this image"]);
    let gfx = checked(&room, "only", "gfx", "gfx90a", GFX90A);
    pack("forbid", &[&gfx]).says(
        1,
        &[
            "no image can be under both policies",
            "wanted: an image that was built under ptx = \"forbid\"",
            "found:  one that was built under ptx = \"only\"",
        ],
    );
}

#[test]
fn packed_ptx_says_who_compiles_it() {
    let room = Room::new();
    packed(&room);
    let bytes = room.read("images.offload");
    let text = |text: &[u8]| bytes.windows(text.len()).filter(|w| *w == text).count();
    // PTX ISA 7.0, of CUDA 11.0; the cubin beside it needs no compiler.
    assert_eq!(text(b"\x00ptx_isa\x007.0\x00min_driver\x00450\x00"), 1);
    assert_eq!(text(b"min_driver"), 1);
}

#[test]
fn many_images_are_warned_of() {
    let room = Room::new();
    let packed = packed(&room);
    let size = room.read("images.offload").len();
    let output = room.output("images.o");
    let link = |label: &str, limit: usize| {
        let limit = format!("--warn-above={limit}");
        run(&["link", label, &limit, "--input", &packed, &packed, &output])
    };
    link("--label=//x:y", 2 * size).fine();
    let quiet = room.read("images.o");
    let ran = link("--label=//x:y", 2 * size - 1);
    ran.says(
        0,
        &[
            "offload: //x:y: warning: so many images",
            &format!("wanted: at most {} bytes of images", 2 * size - 1),
            &format!("found:  {} bytes in ", 2 * size),
            "images.o",
            "mend:   name fewer GPUs in the `archs` of what //x:y packs",
            "sm_100f, gfx11-generic",
            "a shared library of its own",
        ],
    );
    assert_eq!(room.read("images.o"), quiet, "it is a warning alone");
    link("--label=", 0).says(0, &["offload: warning: ", "what the target packs"]);
    let help = run(&["link", "--help"]);
    assert!(help.out.contains("[default: 1610612736]"), "{}", help.out);
}
