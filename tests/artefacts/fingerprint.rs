//! What every action over the machine's own tools depends on: an upgraded tool or library is another
//! fingerprint, and so another action.

#[test]
fn each_tool_and_the_libraries_it_loads_are_hashed() {
    let text = std::fs::read_to_string(support::path("FINGERPRINT")).unwrap();
    let mut lines = text.lines();
    let versions = lines.next().unwrap();
    assert!(versions.starts_with("rustc 1."), "{versions}");
    assert!(versions.contains(", LLVM "), "{versions}");
    let mut names = Vec::new();
    for line in lines {
        let (hash, path) = line.split_once("  ").expect(line);
        assert_eq!(hash.len(), 64, "{line}");
        assert!(path.starts_with('/'), "{line}");
        names.push(path.rsplit('/').next().unwrap());
    }
    let tools = ["rustc", "llvm-link", "opt", "llc", "lld"];
    for wanted in tools.iter().chain(&["libc.so", "librustc_driver-"]) {
        let there = names.iter().any(|name| name.contains(wanted));
        assert!(there, "{wanted}:\n{text}");
    }
}
