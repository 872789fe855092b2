//! A build script: it runs on the machine that builds, and is told about the GPU.

use std::{env, fs, path::Path};

fn main() {
    let target = env::var("TARGET").unwrap();
    assert!(
        target == "nvptx64-nvidia-cuda" || target == "amdgcn-amd-amdhsa",
        "{target}"
    );
    assert_ne!(env::var("HOST").unwrap(), target);
    let out = env::var("OUT_DIR").unwrap();
    fs::write(
        Path::new(&out).join("value.rs"),
        "pub const VALUE: u32 = 23;\npub const FILE: &str = file!();\n",
    )
    .unwrap();
    println!("cargo:rustc-cfg=script_ran");
    println!("cargo:rustc-check-cfg=cfg(script_ran)");
    println!("cargo:rustc-env=SCRIPT_TARGET={target}");
}
