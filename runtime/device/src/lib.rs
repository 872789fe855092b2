//! What a kernel needs from the GPU it runs on, under the same names for every vendor.
//!
//! Words: a launch runs a *grid* of *groups* (CUDA: blocks), and each group is made of *items*
//! (CUDA: threads). All positions and sizes are counted in items or groups, from 0, along x, y and
//! z.
//!
//! The crate also brings the `#[panic_handler]` that a device crate has to have: a panic traps, so
//! the launch fails with the driver's error instead of going on with wrong data.
#![no_std]
#![allow(internal_features)]
#![feature(core_intrinsics)]
#![cfg_attr(target_arch = "nvptx64", feature(stdarch_nvptx))]
#![cfg_attr(target_arch = "amdgpu", feature(stdarch_amdgpu, gpu_intrinsics))]

#[cfg(target_arch = "amdgpu")]
mod amd;
#[cfg(target_arch = "nvptx64")]
mod nvidia;
mod panic;

#[cfg(target_arch = "amdgpu")]
use amd as vendor;
#[cfg(target_arch = "nvptx64")]
use nvidia as vendor;

#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
compile_error!(
    "offload_device is for GPU targets (nvptx64-nvidia-cuda, amdgcn-amd-amdhsa): \
     depend on it from the device pass only, and on `offload` from the host pass"
);

/// This item's position in its group, along x.
#[inline(always)]
pub fn local_id_x() -> u32 {
    vendor::local_id_x()
}

/// This item's position in its group, along y.
#[inline(always)]
pub fn local_id_y() -> u32 {
    vendor::local_id_y()
}

/// This item's position in its group, along z.
#[inline(always)]
pub fn local_id_z() -> u32 {
    vendor::local_id_z()
}

/// The position of this item's group in the grid, along x.
#[inline(always)]
pub fn group_id_x() -> u32 {
    vendor::group_id_x()
}

/// The position of this item's group in the grid, along y.
#[inline(always)]
pub fn group_id_y() -> u32 {
    vendor::group_id_y()
}

/// The position of this item's group in the grid, along z.
#[inline(always)]
pub fn group_id_z() -> u32 {
    vendor::group_id_z()
}

/// Items in a group, along x.
#[inline(always)]
pub fn group_size_x() -> u32 {
    vendor::group_size_x()
}

/// Items in a group, along y.
#[inline(always)]
pub fn group_size_y() -> u32 {
    vendor::group_size_y()
}

/// Items in a group, along z.
#[inline(always)]
pub fn group_size_z() -> u32 {
    vendor::group_size_z()
}

/// This item's position in the whole grid, along x: `group_id_x() * group_size_x() + local_id_x()`.
///
/// Wraps past `u32::MAX`: a longer row has to be covered by a loop in the kernel.
#[inline(always)]
pub fn global_id_x() -> u32 {
    position(group_id_x(), group_size_x(), local_id_x())
}

/// This item's position in the whole grid, along y; like [`global_id_x`].
#[inline(always)]
pub fn global_id_y() -> u32 {
    position(group_id_y(), group_size_y(), local_id_y())
}

/// This item's position in the whole grid, along z; like [`global_id_x`].
#[inline(always)]
pub fn global_id_z() -> u32 {
    position(group_id_z(), group_size_z(), local_id_z())
}

#[inline(always)]
fn position(group: u32, size: u32, local: u32) -> u32 {
    group.wrapping_mul(size).wrapping_add(local)
}

/// Waits until every item of the group is here, and makes what each wrote to memory before visible
/// to the others after.
///
/// A compiler intrinsic, never inline assembly: rustc marks the intrinsic's callers convergent, and
/// an assembly barrier not, so that the optimiser would copy it into both arms of a branch and the
/// group would hang.
///
/// # Safety
/// Every item of the group must reach the same call, or none: a barrier under a condition that
/// differs between the items of one group hangs or is undefined.
#[inline(always)]
pub unsafe fn barrier() {
    // SAFETY: the caller promises that the whole group comes here.
    unsafe { vendor::barrier() }
}
