//! Where there is no /proc: the tree is unknown, and only the process group can be signalled.

use std::collections::HashMap;
use std::ffi::CStr;

use super::{Key, Medium, Member, Process, TreeWork};
use crate::signal::Signal;

pub fn adopt_orphans() -> bool {
    false
}

pub fn go_on_without_parent() {}

pub fn take_name(_name: &CStr) {}

pub fn descendants(_root: i32) -> Option<Vec<Process>> {
    None
}

pub fn signal(_process: &Process, _signal: Signal) -> bool {
    false
}

pub fn is_same(_process: &Process) -> bool {
    false
}

pub fn is_stopped(_pid: i32) -> Option<bool> {
    None
}

pub fn is_stopped_child(_pid: i32) -> bool {
    true
}

pub fn family(_root: i32) -> Option<HashMap<Key, Member>> {
    None
}

pub fn work(_root: i32, _terminals: &[u64]) -> Option<TreeWork> {
    None
}

pub fn bytes_moved(_root: i32, _medium: Medium) -> Option<u64> {
    None
}

pub fn bytes_received(_root: i32) -> Option<HashMap<u64, u64>> {
    None
}
