//! `offload verify` on programs of which some images were built under a policy that others breach.

mod common;
use common::*;

/// An object with a cubin that was packed under a policy.
fn object(room: &Room, policy: &str) -> Vec<u8> {
    let cubin = room.file("cubin", SM_90);
    let (pack, object) = (room.path("pack"), room.path("object"));
    run(&[
        "pack",
        &format!("--policy={policy}"),
        &format!("--image=kind=cubin,arch=sm_90,file={cubin}"),
        &format!("--output={}", pack.display()),
    ])
    .fine();
    run(&[
        "link",
        &format!("--input={}", pack.display()),
        &format!("--output={}", object.display()),
    ])
    .fine();
    std::fs::read(object).unwrap()
}

/// The same, in one file with a fatbin that nobody packed: four images, of which two are PTX.
fn with_fatbin(object: &[u8]) -> Vec<u8> {
    [object, RAW_FATBIN].concat()
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut out = bytes.to_vec();
    let places: Vec<usize> = (0..out.len())
        .filter(|at| out[*at..].starts_with(old))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        out[at..at + new.len()].copy_from_slice(new);
    }
    out
}

fn rules(ran: &Ran) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let breaches = report["breaches"].as_array().unwrap();
    let rule = |breach: &serde_json::Value| breach["rule"].as_str().unwrap().to_owned();
    breaches.iter().map(rule).collect()
}

#[test]
fn a_program_keeps_the_policy_of_its_strictest_images() {
    let room = Room::new();
    let forbid = with_fatbin(&object(&room, "forbid"));
    let file = room.file("program", &forbid);
    let verify = |args: &[&str]| {
        let args: Vec<&str> = ["verify", "--format=json"]
            .into_iter()
            .chain(args.iter().copied())
            .chain([file.as_str()])
            .collect();
        run(&args)
    };
    let ran = verify(&["--ptx=embed", "--label=//x:y"]);
    ran.says(
        1,
        &[
            "//x:y: ",
            "program has images that were built under ptx = \"forbid\", and one that this does not allow",
            "wanted: no PTX, in no container, beside images that were built under \"forbid\"",
            "found:  ptx for sm_80",
            "(elf/fatbin)",
            "mend:   set the same `ptx` on every target that //x:y links",
            "-gencode=arch=compute_NN,code=sm_NN",
        ],
    );
    let ptx = RAW_FATBIN.windows(8).filter(|w| w == b".version").count();
    assert_eq!(rules(&ran), vec!["mixed-policy"; ptx]);
    // Told once, by the rule that was asked for.
    assert_eq!(rules(&verify(&["--ptx=forbid"])), vec!["ptx"; ptx]);

    let embed = with_fatbin(&object(&room, "embed"));
    room.file("program", &embed);
    verify(&["--ptx=embed"]).fine();
    room.file("program", &object(&room, "forbid"));
    verify(&["--ptx=embed"]).fine();
}

#[test]
fn the_note_of_the_object_is_enough() {
    let room = Room::new();
    let whole = with_fatbin(&object(&room, "forbid"));
    let without_key = replaced(&whole, b"ptx_policy", b"xtx_policy");
    let without_both = replaced(&without_key, b"offload\0forbid\0", b"offloax\0forbid\0");
    let file = room.file("program", &without_key);
    let verify = || run(&["verify", "--ptx=embed", &file]);
    verify().says(1, &["were built under ptx = \"forbid\""]);
    room.file("program", &without_both);
    verify().says(
        0,
        &["program has images that were packed without a policy (1)"],
    );
    // Of a policy that is not known nothing follows.
    let unknown = replaced(&without_key, b"offload\0forbid\0", b"offload\0fxrbid\0");
    room.file("program", &unknown);
    assert_eq!(verify().code, 0);
}

#[test]
fn each_file_is_a_program_of_its_own() {
    let room = Room::new();
    let forbid = object(&room, "forbid");
    let folder = room.path("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.o"), &forbid).unwrap();
    std::fs::write(folder.join("b.fatbin"), RAW_FATBIN).unwrap();
    run(&["verify", "--ptx=embed", folder.to_str().unwrap()]).fine();
}

#[test]
fn what_is_packed_under_only_has_no_cubin_beside_it() {
    let room = Room::new();
    let ptx = room.file("ptx", TINY_PTX);
    let output = room.output("pack");
    run(&[
        "pack",
        "--policy=only",
        &format!("--image=kind=ptx,arch=sm_70,file={ptx}"),
        &output,
    ])
    .fine();
    let pack = room.path("pack").display().to_string();
    run(&["link", "--input", &pack, &room.output("object")]).fine();
    let both = [room.read("object"), RAW_FATBIN.to_vec()].concat();
    let file = room.file("both", &both);
    run(&["verify", "--ptx=embed", &file]).says(
        1,
        &[
            "built under ptx = \"only\"",
            "wanted: PTX and no cubin, beside images",
            "found:  cubin for sm_80",
        ],
    );
}
