"""The wheels that the auditor is tested on, pinned. An upgrade changes the tables in the tests too."""

WHEELS = {
    "wheel_bitsandbytes": struct(
        package = "bitsandbytes",
        version = "0.50.2",
        sha256 = "55348a9a4a21bfd99cf8c7b32fe67b4030ae5c2a05738e03c1747f65fa6ec283",
        tag = "",
    ),
    "wheel_jax_cuda12": struct(
        package = "jax-cuda12-plugin",
        version = "0.10.2",
        sha256 = "76bbfece2f6effb4e8908eb8a5fbf1abbc1125de667683ec2ffba51c63dc57af",
        tag = "cp311-cp311-manylinux_2_27_x86_64",
    ),
    "wheel_jax_rocm7": struct(
        package = "jax-rocm7-plugin",
        version = "0.10.2",
        sha256 = "fc6c3f6641d99916ea1896353a0c27187f1fcddb811768d4607d7e78834571a3",
        tag = "cp311-cp311-manylinux_2_27_x86_64",
    ),
    "wheel_nvshmem": struct(
        package = "nvidia-nvshmem-cu12",
        version = "3.3.20",
        sha256 = "d00f26d3f9b2e3c3065be895e3059d6479ea5c638a3f38c9fec49b1b9dd7c1e5",
        tag = "",
    ),
}
