//! Memory on a device.

use crate::backend::Context;
use crate::element::{bytes, bytes_mut, Element};
use crate::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements of type `T` in a device's memory, freed when dropped (after the kernels that run have
/// finished).
pub struct Buffer<T> {
    context: Arc<dyn Context>,
    /// 0 for a buffer of no bytes, which drivers do not allocate.
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    pub(crate) fn new(context: Arc<dyn Context>, len: usize) -> Result<Self, Error> {
        let size = std::mem::size_of::<T>();
        let bytes = len.checked_mul(size).ok_or(Error::TooLarge {
            elements: len,
            size,
        })?;
        let address = match bytes {
            0 => 0,
            bytes => context.alloc(bytes)?,
        };
        Ok(Buffer {
            context,
            address,
            len,
            element: PhantomData,
        })
    }

    /// Elements, not bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `from` here. Returns when it is done.
    ///
    /// # Errors
    /// [`Error::Length`] unless `from` has as many elements as the buffer; [`Error::Driver`].
    pub fn copy_from_host(&mut self, from: &[T]) -> Result<(), Error> {
        self.same_length(from.len())?;
        match bytes(from) {
            [] => Ok(()),
            from => self.context.upload(self.address, from),
        }
    }

    /// Copies the buffer to `to`, after the kernels launched before have finished. Returns when it
    /// is done.
    ///
    /// # Errors
    /// [`Error::Length`] unless `to` has as many elements as the buffer; [`Error::Driver`], also
    /// where a kernel launched before has failed.
    pub fn copy_to_host(&self, to: &mut [T]) -> Result<(), Error> {
        self.same_length(to.len())?;
        match bytes_mut(to) {
            [] => Ok(()),
            to => self.context.download(to, self.address),
        }
    }

    /// The address on the device, as the kernel gets it; 0 for an empty buffer.
    pub fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn context(&self) -> &Arc<dyn Context> {
        &self.context
    }

    fn same_length(&self, host: usize) -> Result<(), Error> {
        if host == self.len {
            Ok(())
        } else {
            Err(Error::Length {
                host,
                device: self.len,
            })
        }
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            self.context.free(self.address);
        }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} elements at {:#x})", self.len, self.address)
    }
}
