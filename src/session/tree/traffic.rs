//! What processes have received over the network, as the kernel counts it for each TCP connection.
//!
//! The counters of reads and writes in /proc leave out what is received with `recv`, which is how bun and tokio do it:
//! an agent without a terminal that streams an answer for minutes and prints nothing moves not a byte by those.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;

use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket};

use super::linux::descendants;

/// Bytes received, for each connection by its inode.
type Received = HashMap<u64, u64>;

/// No more of the kernel's answer is read: a busy server has a hundred thousand connections, and we relay meanwhile.
const MOST: usize = 2 * 1024 * 1024;

/// From the kernel's headers `sock_diag.h` and `inet_diag.h`.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const ESTABLISHED: u32 = 1 << 1;
/// The length of a message's header, and of what an `inet_diag_msg` has before its attributes.
const HEADER: usize = 16;
const MESSAGE: usize = 72;
/// Where the inode stands in an `inet_diag_msg`, and the bytes received in a `tcp_info`.
const INODE: usize = 68;
const BYTES_RECEIVED: usize = 128;

/// What the connections of the descendants of `root` have received. None where it cannot be told.
pub fn received(root: i32) -> Option<Received> {
    let family = descendants(root)?;
    let theirs: HashSet<u64> = family.iter().flat_map(|process| sockets(process.pid)).collect();
    if theirs.is_empty() {
        return Some(Received::new());
    }
    let mut all = connections(libc::AF_INET).ok()?;
    all.extend(connections(libc::AF_INET6).ok()?);
    all.retain(|inode, _| theirs.contains(inode));
    Some(all)
}

/// The inodes of a process's sockets.
fn sockets(pid: i32) -> impl Iterator<Item = u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(|entry| {
        let link = fs::read_link(entry.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    })
}

/// All established connections of this kind that the kernel tells of.
fn connections(family: i32) -> io::Result<Received> {
    let kernel =
        socket(AddressFamily::Netlink, SockType::Datagram, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&kernel);
    sendto(fd, &request(family), &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let (mut found, mut buffer, mut total) = (Received::new(), vec![0; 64 * 1024], 0);
    while total < MOST {
        // The kernel has its answer ready before the request returns, so this waits for nobody.
        let count = recv(fd, &mut buffer, MsgFlags::MSG_DONTWAIT)?;
        total += count;
        if !read(&buffer[..count], &mut found) {
            break;
        }
    }
    Ok(found)
}

/// Asks for all established TCP connections, with what is known of each.
fn request(family: i32) -> Vec<u8> {
    const LENGTH: u32 = 16 + 56;
    let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_DUMP).unwrap_or_default();
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([u8::try_from(family).unwrap_or_default(), 6, 1 << (INET_DIAG_INFO - 1), 0]);
    bytes.extend(ESTABLISHED.to_ne_bytes());
    // Whichever addresses.
    bytes.resize(LENGTH as usize, 0);
    bytes
}

/// Reads messages. Says whether more are to come.
fn read(mut bytes: &[u8], found: &mut Received) -> bool {
    while let (Some(length), Some(kind)) = (word(bytes, 0), half(bytes, 4)) {
        let length = length as usize;
        if kind != SOCK_DIAG_BY_FAMILY || length < HEADER + MESSAGE {
            return false;
        }
        let Some(message) = bytes.get(HEADER..length) else { return false };
        found.extend(connection(message));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    true
}

/// The inode of a connection, and what it has received.
fn connection(message: &[u8]) -> Option<(u64, u64)> {
    let inode = u64::from(word(message, INODE)?);
    let mut attributes = message.get(MESSAGE..)?;
    loop {
        let (length, kind) = (usize::from(half(attributes, 0)?), half(attributes, 2)?);
        if kind == INET_DIAG_INFO {
            // Kernels before 4.1 tell less.
            let count = attributes.get(4 + BYTES_RECEIVED..4 + BYTES_RECEIVED + 8)?;
            return Some((inode, u64::from_ne_bytes(count.try_into().ok()?)));
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_a_connection_has_received_is_counted() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no second kind.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            let link = fs::read_link(format!("/proc/self/fd/{}", client.as_raw_fd())).unwrap();
            let inode: u64 = link.to_str().unwrap().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
            let family = if address.starts_with('[') { libc::AF_INET6 } else { libc::AF_INET };
            let before = connections(family).unwrap()[&inode];
            server.write_all(&[7; 3000]).unwrap();
            client.read_exact(&mut [0; 3000]).unwrap();
            assert_eq!(connections(family).unwrap()[&inode] - before, 3000);
        }
    }

    #[test]
    fn an_answer_that_is_cut_off_is_read_as_far_as_it_goes() {
        let mut message = [0; HEADER + MESSAGE];
        message[..4].copy_from_slice(&u32::try_from(HEADER + MESSAGE).unwrap().to_ne_bytes());
        message[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        for length in 0..=message.len() {
            let mut found = Received::new();
            let more = read(&message[..length], &mut found);
            assert_eq!((more, found.len()), (length < 6 || length == message.len(), 0), "{length}");
        }
    }
}
