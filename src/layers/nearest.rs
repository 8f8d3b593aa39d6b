//! What was probably meant by a name that does not exist.

/// The one of `names` that takes the fewest changes to become `written`, if they are few.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let most = (written.chars().count() / 3).clamp(1, 2);
    let measured = names.into_iter().map(|name| (distance(written, name), name));
    measured.min_by_key(|(changes, _)| *changes).filter(|(changes, _)| *changes <= most).map(|(_, name)| name)
}

/// How many letters have to be put in, taken out, replaced or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != against);
            let mut fewest = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *against && other[column - 1] == *letter {
                fewest = fewest.min(before[column - 1] + 1);
            }
            next.push(fewest);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_another_word_is_not() {
        let names = ["idle", "max-idle", "timeout", "kill-after"];
        assert_eq!(nearest("idel", names), Some("idle"));
        assert_eq!(nearest("max_idle", names), Some("max-idle"));
        assert_eq!(nearest("kilafter", names), Some("kill-after"));
        assert_eq!(nearest("bless", names), None);
        assert_eq!(nearest("", names), None);
    }
}
