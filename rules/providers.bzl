"""The providers of rules_offload. Each field is part of the public interface."""

DeviceToolchainInfo = provider(
    doc = "What links device code for one GPU platform, beside the `rust_toolchain` of that platform.",
    fields = {
        "arch": "str: the arch of the platform this toolchain is configured for, for instance `sm_90` or `gfx90a:xnack+`; `None` on the platform that stands for every NVIDIA GPU.",
        "vendor": "str: `nvidia` or `amd`.",
        "triple": "str: LLVM's target triple.",
        "linker_args": "list of (str, File): options of the device linker and the tool that each names, for instance `(\"--llc\", <llc>)`.",
        "rustc_flags": "list of str: what rustc needs for a `cdylib` of this platform.",
        "tools": "depset of File: everything that the linked tools read at run time.",
    },
)

AssemblerToolchainInfo = provider(
    doc = "What turns PTX into cubins.",
    fields = {
        "ptxas": "File: the assembler; `None` where the toolchain has none, which is an error as soon as a cubin is asked for.",
        "version": "str: its version, for messages.",
        "lacks": "list of str: architectures that it does not assemble for.",
        "tools": "depset of File: everything that it reads at run time.",
    },
)

DeviceImageInfo = provider(
    doc = "Linked device images, ready to be embedded.",
    fields = {
        "images": """depset of struct, in no particular order; one image each:

* `label`: Label of the target that stands for the image in messages;
* `arch`: str, canonical, for instance `sm_90`;
* `kind`: str, `cubin`, `gfx` or `ptx`;
* `policy`: str, the PTX policy of the target that it is an image of;
* `file`: File, the image;
* `metadata`: File, JSON written by `offload check` (arch, kind, size, sha256, kernels, policy; for PTX its ISA and the oldest driver that compiles it).""",
    },
)

PtxPolicyInfo = provider(
    doc = "What a target lets its images be.",
    fields = {
        "ptx": "str: `forbid` (no PTX anywhere), `embed` (PTX beside the cubins) or `only` (PTX in place of cubins).",
        "origin": "str: where the value was set, for messages: `ptx = \"forbid\" of //pkg:target`.",
    },
)
