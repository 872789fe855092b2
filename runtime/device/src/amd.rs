//! AMD (`amdgcn-amd-amdhsa`): work-item and work-group registers, and the dispatch packet for
//! sizes.

use core::arch::amdgpu;
use core::sync::atomic::{fence, Ordering};

pub(crate) use amdgpu::{
    workgroup_id_x as group_id_x, workgroup_id_y as group_id_y, workgroup_id_z as group_id_z,
    workitem_id_x as local_id_x, workitem_id_y as local_id_y, workitem_id_z as local_id_z,
};

/// The head of `hsa_kernel_dispatch_packet_t` (HSA System Architecture 1.2, section 2.9.6).
#[repr(C)]
struct DispatchPacket {
    header: u16,
    setup: u16,
    workgroup_size: [u16; 3],
}

#[inline(always)]
fn group_size(axis: usize) -> u32 {
    let packet = core::intrinsics::gpu::amdgpu_dispatch_ptr().cast::<DispatchPacket>();
    // SAFETY: every kernel on this target is started through such a packet, which outlives it and
    // is not written.
    u32::from(unsafe { (*packet).workgroup_size[axis] })
}

#[inline(always)]
pub(crate) fn group_size_x() -> u32 {
    group_size(0)
}

#[inline(always)]
pub(crate) fn group_size_y() -> u32 {
    group_size(1)
}

#[inline(always)]
pub(crate) fn group_size_z() -> u32 {
    group_size(2)
}

/// `s_barrier` alone orders no memory, so it stands between two fences. Rust has no group-wide
/// scope, hence these reach further than they need to: right, and slower than they could be.
///
/// # Safety
/// As [`crate::barrier`].
#[inline(always)]
pub(crate) unsafe fn barrier() {
    fence(Ordering::Release);
    amdgpu::s_barrier();
    fence(Ordering::Acquire);
}
