//! A driver that runs nothing and writes down what it is asked to do.

use crate::backend::{Backend, Context, Handle, LoadError, Shape, Slot};
use crate::error::Error;
use crate::images::Image;
use crate::Device;
use offload_image::select;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// What the fake driver was asked, in order.
pub(super) type Log = Arc<Mutex<Vec<String>>>;

#[derive(Clone)]
pub(super) struct Fake {
    pub name: &'static str,
    pub target: Result<select::Device, Error>,
    /// Kernels that `function` finds, whatever the image says of itself.
    pub kernels: Vec<&'static str>,
    pub parameter_sizes: Option<Vec<usize>>,
    /// The error of every load.
    pub load_error: Option<LoadError>,
    pub log: Log,
}

impl Fake {
    /// A GPU of that compute capability, whose driver compiles PTX up to 9.0.
    pub fn nvidia(major: u32, minor: u32) -> Fake {
        Fake {
            name: "Fake GPU",
            target: Ok(select::Device::Nvidia {
                major,
                minor,
                max_ptx: Some(offload_image::ptx_isa::PtxIsa { major: 9, minor: 0 }),
            }),
            kernels: vec!["saxpy"],
            parameter_sizes: None,
            load_error: None,
            log: Log::default(),
        }
    }

    pub fn device(&self, index: usize) -> Device {
        Device::new(index, Box::new(self.clone()))
    }

    pub fn log(&self) -> Vec<String> {
        self.log
            .lock()
            .expect("no test panics while it holds the log")
            .clone()
    }
}

impl Backend for Fake {
    fn name(&self) -> &str {
        self.name
    }

    fn target(&self) -> Result<select::Device, Error> {
        self.target.clone()
    }

    fn driver(&self) -> String {
        "CUDA 13.0".to_owned()
    }

    fn open(&self) -> Result<Arc<dyn Context>, Error> {
        let fake = self.clone();
        let memory = Mutex::default();
        let context = Arc::new(FakeContext { fake, memory });
        context.note("open".to_owned());
        Ok(context)
    }
}

struct FakeContext {
    fake: Fake,
    memory: Mutex<HashMap<u64, Vec<u8>>>,
}

impl FakeContext {
    fn note(&self, line: String) {
        self.fake.log.lock().expect("as above").push(line);
    }

    fn memory<R>(&self, change: impl FnOnce(&mut HashMap<u64, Vec<u8>>) -> R) -> R {
        change(&mut self.memory.lock().expect("as above"))
    }
}

impl Context for FakeContext {
    fn identity(&self) -> usize {
        self as *const FakeContext as usize
    }

    fn load(&self, image: &Image<'_>) -> Result<Handle, LoadError> {
        self.note(format!("load {}", image.name()));
        match &self.fake.load_error {
            Some(error) => Err(error.clone()),
            None => Ok(Handle(1)),
        }
    }

    fn unload(&self, _: Handle) {
        self.note("unload".to_owned());
    }

    fn function(&self, _: Handle, name: &str) -> Result<Option<Handle>, Error> {
        Ok(self.fake.kernels.contains(&name).then_some(Handle(2)))
    }

    fn parameter_sizes(&self, _: Handle) -> Result<Option<Vec<usize>>, Error> {
        Ok(self.fake.parameter_sizes.clone())
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        Ok(self.memory(|memory| {
            let address = 0x1000 * (memory.len() as u64 + 1);
            memory.insert(address, vec![0xa5; bytes]);
            address
        }))
    }

    fn free(&self, address: u64) {
        let freed = self.memory(|memory| memory.remove(&address));
        self.note(format!(
            "free {} bytes",
            freed.expect("freed once only").len()
        ));
    }

    fn upload(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        self.memory(|memory| {
            memory
                .get_mut(&to)
                .expect("allocated")
                .copy_from_slice(from)
        });
        Ok(())
    }

    fn download(&self, to: &mut [u8], from: u64) -> Result<(), Error> {
        self.memory(|memory| to.copy_from_slice(&memory[&from]));
        Ok(())
    }

    fn launch(&self, _: Handle, shape: Shape, arguments: &[Slot]) -> Result<(), Error> {
        let Shape { grid, group } = shape;
        self.note(format!(
            "launch {grid:?} {group:?} {} arguments",
            arguments.len()
        ));
        Ok(())
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.note("synchronize".to_owned());
        Ok(())
    }
}
