//! NVIDIA (`nvptx64-nvidia-cuda`): special registers.

use core::arch::nvptx;

/// One register read a function. All of them are plain reads without side effects.
macro_rules! registers {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            // SAFETY: reads a special register that every thread has.
            unsafe { nvptx::$intrinsic() }
        }
    )*};
}

registers! {
    local_id_x = _thread_idx_x;
    local_id_y = _thread_idx_y;
    local_id_z = _thread_idx_z;
    group_id_x = _block_idx_x;
    group_id_y = _block_idx_y;
    group_id_z = _block_idx_z;
    group_size_x = _block_dim_x;
    group_size_y = _block_dim_y;
    group_size_z = _block_dim_z;
}

/// `bar.sync 0`, which orders the group's memory accesses too.
///
/// # Safety
/// As [`crate::barrier`].
#[inline(always)]
pub(crate) unsafe fn barrier() {
    // SAFETY: the caller's promise.
    unsafe { nvptx::_syncthreads() }
}
