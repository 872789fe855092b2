//! The table in Starlark and the one in Rust are the same: a user's arch means one thing.

use serde_json::Value;

#[test]
fn starlark_and_rust_have_the_same_archs_in_the_same_order() {
    let starlark = std::fs::read(support::path("STARLARK")).unwrap();
    let rust = support::stdout("OFFLOAD", ["archs", "--format=json"]);
    let starlark: Vec<Value> = serde_json::from_slice(&starlark).unwrap();
    let rust: Vec<Value> = serde_json::from_str(&rust).unwrap();
    for (starlark, rust) in starlark.iter().zip(&rust) {
        assert_eq!(starlark, rust);
    }
    assert_eq!(starlark.len(), rust.len());
}
