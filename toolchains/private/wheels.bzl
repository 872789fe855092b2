"""NVIDIA's wheels that are known here, pinned: package, version, sha256 (linux x86_64)."""

PTXAS_VERSION = "13.5.37"

PTXAS = {
    "13.5.37": struct(package = "nvidia-cuda-nvcc", sha256 = "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7"),
}

# Readers of what the assembler writes: for tests.
ORACLES = {
    "cuobjdump": struct(package = "nvidia-cuda-cuobjdump", version = "13.5.37", sha256 = "38780fee50863252a0b8926357faa91615ca1c8346490563f33a06100cd73f58"),
    "nvdisasm": struct(package = "nvidia-cuda-nvdisasm", version = "13.5.37", sha256 = "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca"),
}
