//! "Did you mean": the nearest of some names.

/// The name at the smallest edit distance from `wanted`, where that is at most a third of its
/// length (and at least one slip is allowed). Among equals the one with the longest common start
/// wins, then the first, so the answer is stable.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = wanted.chars().count();
    let allowed = (length / 3).max(1);
    names
        .into_iter()
        .filter(|name| name.chars().count().abs_diff(length) <= allowed)
        .map(|name| (distance(wanted, name), name))
        .filter(|(found, _)| *found <= allowed)
        .min_by_key(|(found, name)| (*found, std::cmp::Reverse(common_start(wanted, name))))
        .map(|(_, name)| name)
}

fn common_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
}

/// Number of characters to insert, delete or replace to turn one into the other. Only the first
/// 256 characters count: names longer than that come from hostile input.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(256).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(256).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("saxpy", "saxpy"), 0);
        assert_eq!(distance("saxpi", "saxpy"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("saxpi", ["fill", "saxpy"]), Some("saxpy"));
        assert_eq!(nearest("saxpi", ["fill", "gemm"]), None);
        assert_eq!(nearest(&"s".repeat(1000), ["saxpy"]), None);
    }
}
