//! Kernel arguments.

use crate::backend::Slot;
use crate::buffer::Buffer;
use crate::element::Element;

/// The arguments of one launch, as they are gathered.
#[derive(Default)]
pub struct ArgList {
    pub(crate) slots: Vec<Slot>,
    /// Bytes of each argument.
    pub(crate) sizes: Vec<usize>,
    /// The identity of the context that each buffer argument lives in, with the argument's number.
    pub(crate) contexts: Vec<(usize, usize)>,
}

impl ArgList {
    fn push(&mut self, bytes: &[u8]) {
        let mut slot = Slot([0; 16]);
        slot.0[..bytes.len()].copy_from_slice(bytes);
        self.slots.push(slot);
        self.sizes.push(bytes.len());
    }
}

/// One argument: a number, or a buffer, of which the kernel gets the address.
pub trait Arg {
    /// Appends the argument to those of the launch.
    fn append_to(&self, list: &mut ArgList);
}

macro_rules! scalars {
    ($($type:ty)*) => {$(
        impl Arg for $type {
            fn append_to(&self, list: &mut ArgList) {
                list.push(&self.to_ne_bytes());
            }
        }
    )*};
}

scalars!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

impl<T: Element> Arg for &Buffer<T> {
    fn append_to(&self, list: &mut ArgList) {
        list.contexts
            .push((list.slots.len(), self.context().identity()));
        list.push(&self.address().to_ne_bytes());
    }
}

impl<T: Element> Arg for &mut Buffer<T> {
    fn append_to(&self, list: &mut ArgList) {
        (&**self).append_to(list);
    }
}

/// All arguments of a launch: a tuple of [`Arg`]s, in the order of the kernel's parameters.
pub trait Args {
    /// The arguments, gathered.
    fn list(&self) -> ArgList;
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Arg),*> Args for ($($name,)*) {
            #[allow(non_snake_case)]
            fn list(&self) -> ArgList {
                let ($($name,)*) = self;
                #[allow(unused_mut)] // The empty tuple.
                let mut list = ArgList::default();
                $($name.append_to(&mut list);)*
                list
            }
        }
    };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
