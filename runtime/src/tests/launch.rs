//! Buffers, arguments and launches.

use super::fake::Fake;
use super::{cubin, images};
use crate::{Error, Kernel, Module};

fn saxpy(gpu: &Fake) -> (crate::Device, Kernel) {
    let device = gpu.device(0);
    let images = images(vec![cubin("sm_90", &["saxpy"])]);
    let module = Module::load(&device, &images).expect("it fits");
    let kernel = module.kernel("saxpy").expect("it is there");
    (device, kernel)
}

#[allow(unsafe_code)]
fn launch(kernel: &Kernel, args: impl crate::Args) -> Result<(), Error> {
    // SAFETY: the fake driver runs nothing.
    unsafe { kernel.launch((3, 2), 256, args) }
}

#[test]
fn copies_go_there_and_back() {
    let gpu = Fake::nvidia(9, 0);
    let device = gpu.device(0);
    let buffer = device.upload(&[1.5f32, -2.0]).expect("there is memory");
    let mut back = [0.0; 2];
    buffer.copy_to_host(&mut back).expect("the lengths agree");
    assert_eq!(back, [1.5, -2.0]);
    let error = buffer
        .copy_to_host(&mut [0.0; 3])
        .expect_err("the lengths differ");
    assert_eq!(error, Error::Length { host: 3, device: 2 });
    drop(buffer);
    assert_eq!(gpu.log(), ["open", "free 8 bytes"]);
}

#[test]
fn an_empty_buffer_asks_nothing_of_the_driver() {
    let gpu = Fake::nvidia(9, 0);
    let mut buffer = gpu.device(0).alloc::<u64>(0).expect("no memory is needed");
    buffer.copy_from_host(&[]).expect("nothing to copy");
    assert!(buffer.is_empty() && buffer.address() == 0);
    drop(buffer);
    assert_eq!(gpu.log(), ["open"]);
}

#[test]
fn a_size_beyond_counting_is_an_error() {
    let error = Fake::nvidia(9, 0)
        .device(0)
        .alloc::<u64>(usize::MAX)
        .expect_err("too large");
    assert!(matches!(error, Error::TooLarge { size: 8, .. }));
}

#[test]
fn the_launch_reaches_the_driver() {
    let gpu = Fake {
        parameter_sizes: Some(vec![4, 4, 8, 8]),
        ..Fake::nvidia(9, 0)
    };
    let (device, kernel) = saxpy(&gpu);
    let x = device.upload(&[1.0f32]).expect("there is memory");
    let mut y = device.upload(&[1.0f32]).expect("there is memory");
    launch(&kernel, (1u32, 2.0f32, &x, &mut y)).expect("the arguments are right");
    let log = gpu.log();
    assert_eq!(
        log.last().map(String::as_str),
        Some("launch [3, 2, 1] [256, 1, 1] 4 arguments")
    );
}

#[test]
fn wrong_arguments_are_not_launched() {
    let gpu = Fake {
        parameter_sizes: Some(vec![4, 8]),
        ..Fake::nvidia(9, 0)
    };
    let (_, kernel) = saxpy(&gpu);
    let few = launch(&kernel, (1u32,))
        .expect_err("one is lacking")
        .to_string();
    assert!(
        few.contains("kernel `saxpy`: it has 2 parameters, and 1 arguments were given"),
        "{few}"
    );
    let wide = launch(&kernel, (1u64, 1u64))
        .expect_err("the first is too wide")
        .to_string();
    assert!(
        wide.contains("argument 0 has 8 bytes, and its parameter 4"),
        "{wide}"
    );
    let elsewhere = gpu.device(1).upload(&[0u8]).expect("there is memory");
    let foreign = launch(&kernel, (1u32, &elsewhere))
        .expect_err("another device")
        .to_string();
    assert!(
        foreign.contains("argument 1 is a buffer on another device"),
        "{foreign}"
    );
    assert!(!gpu.log().iter().any(|line| line.starts_with("launch")));
}

#[test]
fn everything_may_go_to_another_thread() {
    fn check<T: Send + Sync>() {}
    check::<crate::Device>();
    check::<crate::Buffer<f32>>();
    check::<Module<'static>>();
    check::<Kernel>();
    check::<Error>();
}
