"""NVIDIA's wheels that are known here, pinned: package, version, sha256 (linux x86_64)."""

PTXAS_VERSION = "13.5.37"

# `lacks`: the architectures of the table that this version does not assemble for.
PTXAS = {
    "12.9.86": struct(
        package = "nvidia-cuda-nvcc-cu12",
        sha256 = "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0",
        lacks = ["sm_88", "sm_107", "sm_107a", "sm_107f", "sm_110", "sm_110a", "sm_110f"],
    ),
    "13.5.37": struct(
        package = "nvidia-cuda-nvcc",
        sha256 = "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
        lacks = ["sm_70", "sm_72"],
    ),
}

# The architectures of the table that no ptxas of a major version assembles for.
LACKS = {
    "12": PTXAS["12.9.86"].lacks,
    "13": PTXAS["13.5.37"].lacks,
}

# Readers of what the assembler writes: for tests.
ORACLES = {
    "cuobjdump": struct(package = "nvidia-cuda-cuobjdump", version = "13.5.37", sha256 = "38780fee50863252a0b8926357faa91615ca1c8346490563f33a06100cd73f58"),
    "nvdisasm": struct(package = "nvidia-cuda-nvdisasm", version = "13.5.37", sha256 = "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca"),
}
