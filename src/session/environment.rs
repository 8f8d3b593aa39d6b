//! The environment that the command gets: ours, in its order, with a few variables set and a few left out.
//!
//! It is put together from pointers, before there is a process to give it to. The C library's own functions would
//! change ours instead, and copy all of it for that.

use std::ffi::{CStr, c_char};

use crate::variables;

/// The variables of a command.
#[derive(Debug)]
pub struct Environment(Vec<&'static CStr>);

impl Environment {
    /// Ours with `set`, each `NAME=value`, and without those called as in `without`. None where that is ours as it is.
    pub fn new(set: &'static [&'static CStr], without: &[&str]) -> Option<Self> {
        let changes = !set.is_empty() || !without.is_empty();
        changes.then(|| Self(changed(variables::all(), set, without)))
    }

    /// In the form that execve(2) and its kin take: pointers to strings, and a null pointer at the end.
    pub fn pointers(&self) -> Vec<*const c_char> {
        self.0.iter().map(|variable| variable.as_ptr()).chain([std::ptr::null()]).collect()
    }
}

/// As `unsetenv` and `setenv` have it: all of that name go, and of those that stay the first is changed in its place.
fn changed(ours: impl Iterator<Item = &'static CStr>, set: &[&'static CStr], without: &[&str]) -> Vec<&'static CStr> {
    let goes = |variable: &&CStr| {
        let rest = |name: &&str| variable.to_bytes().strip_prefix(name.as_bytes());
        without.iter().filter_map(rest).any(|rest| rest.starts_with(b"="))
    };
    let mut all: Vec<&CStr> = ours.filter(|variable| !goes(variable)).collect();
    for variable in set {
        let name = variable.to_bytes().split_inclusive(|byte| *byte == b'=').next().unwrap_or_default();
        match all.iter_mut().find(|there| there.to_bytes().starts_with(name)) {
            Some(there) => *there = variable,
            None => all.push(variable),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_where_it_is_and_as_often_as_it_is() {
        let ours =
            [c"B=1", c"PAGER=less", c"odd", c"B=2", c"PAGER=more", c"NOTIFY", c"NOTIFY=x", c"NOTIFY_FD=3", c"NOTIFY=y"];
        let all = changed(ours.into_iter(), &[c"PAGER=cat", c"AWS_PAGER="], &["NOTIFY"]);
        let expected = [c"B=1", c"PAGER=cat", c"odd", c"B=2", c"PAGER=more", c"NOTIFY", c"NOTIFY_FD=3", c"AWS_PAGER="];
        assert_eq!(all, expected);
    }

    #[test]
    fn without_a_change_it_is_ours() {
        assert!(Environment::new(&[], &[]).is_none());
        assert!(Environment::new(&[c"A=b"], &[]).is_some_and(|it| it.0.contains(&c"A=b")));
    }
}
