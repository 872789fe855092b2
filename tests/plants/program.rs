//! A program that uses what its dependency brings.
fn main() {
    std::process::exit(i32::from(brings::bytes().is_empty()));
}
