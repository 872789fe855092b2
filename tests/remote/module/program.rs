//! Says what is linked into it, and whether there is a GPU.
fn main() -> Result<(), offload::Error> {
    print!("{}", offload::images!()?);
    match offload::Device::all() {
        Ok(devices) => println!("{} GPUs", devices.len()),
        Err(lack) if lack.is_no_gpu() => println!("{lack}"),
        Err(error) => return Err(error),
    }
    Ok(())
}
