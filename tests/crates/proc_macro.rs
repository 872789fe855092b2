//! The kernel comes out of a procedural macro.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

macros::kernel!(from_macro);
