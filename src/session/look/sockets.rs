//! Who is at the other end of a socket, from the kernel's tables.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// No more of a table is read: a busy server's is long, and we are not the only ones who want to run.
const MOST: u64 = 2 * 1024 * 1024;

/// The state of a socket that listens, as the tables have it.
const LISTENS: &str = "0A";

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Whoever comes to be served, now or later: it has been asked nothing, and owes no answer.
    Guest,
    /// Somebody on a network that was asked something.
    Host,
    /// A process of this machine.
    Neighbour,
}

/// A socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// Who is at its other end.
    pub end: End,
    /// The same in words.
    pub text: String,
}

/// The tables, read when the first socket is asked for.
#[derive(Debug, Default)]
pub struct Sockets {
    known: Option<HashMap<u64, Socket>>,
}

impl Sockets {
    /// What is known of the socket with this inode, as the process that was asked about first sees the network.
    pub fn find(&mut self, pid: i32, inode: u64) -> Option<&Socket> {
        self.known.get_or_insert_with(|| read_all(pid)).get(&inode)
    }
}

fn read_all(pid: i32) -> HashMap<u64, Socket> {
    let mut known = HashMap::new();
    let tables = ["tcp", "tcp6", "udp", "udp6"].map(|protocol| (protocol, table(pid, protocol)));
    let doors: HashSet<u16> = tables[..2].iter().flat_map(|(_, text)| text.lines().filter_map(door)).collect();
    for (protocol, text) in &tables {
        for line in text.lines().skip(1) {
            known.extend(internet(protocol.trim_end_matches('6'), line, &doors));
        }
    }
    for line in table(pid, "unix").lines().skip(1) {
        known.extend(local(line));
    }
    known
}

fn table(pid: i32, name: &str) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is not known.
    let _ = File::open(format!("/proc/{pid}/net/{name}")).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The port that somebody listens on.
fn door(line: &str) -> Option<u16> {
    let mut fields = line.split_ascii_whitespace();
    let local = fields.nth(1)?;
    (fields.nth(1)? == LISTENS).then(|| address(local).map(|local| local.port()))?
}

/// `sl local remote state tx:rx tr:tm retransmits uid timeout inode …`
fn internet(protocol: &str, line: &str, doors: &HashSet<u16>) -> Option<(u64, Socket)> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (local, remote) = (address(fields.get(1)?)?, address(fields.get(2)?)?);
    let inode = fields.get(9)?.parse().ok()?;
    let (end, text) = match *fields.get(3)? {
        LISTENS if protocol == "tcp" => (End::Guest, format!("tcp, listening on {local}")),
        "02" => (End::Host, format!("tcp to {remote}, not connected yet")),
        "08" => (End::Host, format!("tcp to {remote}, which has closed its end")),
        _ if protocol == "tcp" && doors.contains(&local.port()) => (End::Guest, format!("tcp from {remote}")),
        _ if remote.port() == 0 => (End::Host, format!("{protocol} on {local}")),
        _ => (End::Host, format!("{protocol} to {remote}")),
    };
    Some((inode, Socket { end, text }))
}

/// An address as the kernel writes it: each four bytes as one number of the machine's own order.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Option<Vec<[u8; 4]>> = (0..address.len() / 8)
        .map(|at| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect();
    let ip = match words?.as_slice() {
        [one] => IpAddr::V4(Ipv4Addr::from(*one)),
        [one, two, three, four] => {
            let bytes: [u8; 16] = [*one, *two, *three, *four].concat().try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// `Num: RefCount Protocol Flags Type St Inode Path`
fn local(line: &str) -> Option<(u64, Socket)> {
    let mut fields = line.split_ascii_whitespace();
    let inode = fields.nth(6)?.parse().ok()?;
    let text = fields.next().map_or_else(|| "unix".to_owned(), |path| format!("unix {path}"));
    Some((inode, Socket { end: End::Neighbour, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_are_read_as_the_kernel_writes_them() {
        assert_eq!(address("0100007F:01BB").unwrap().to_string(), "127.0.0.1:443");
        assert_eq!(address("00000000000000000000000001000000:0050").unwrap().to_string(), "[::1]:80");
        assert_eq!(address("0000000000000000FFFF00000100007F:0050").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(address("nonsense"), None);
        let line = "  1: 0100007F:9C40 0100007F:01BB 01 00000000:00000000 00:00000000 00000000  0 0 4711 1 x";
        let doors = HashSet::from([40000]);
        let socket = |end, text: &str| Socket { end, text: text.to_owned() };
        let (to, from) = (socket(End::Host, "tcp to 127.0.0.1:443"), socket(End::Guest, "tcp from 127.0.0.1:443"));
        assert_eq!(internet("tcp", line, &HashSet::new()), Some((4711, to)));
        assert_eq!(internet("tcp", line, &doors), Some((4711, from)));
        assert_eq!(door(line), None);
        assert_eq!(door(&line.replace(" 01 ", " 0A ")), Some(40000));
        let unix = "0000000000000000: 00000002 00000000 00010000 0001 01 815 /run/x.sock";
        assert_eq!(local(unix), Some((815, socket(End::Neighbour, "unix /run/x.sock"))));
    }

    #[test]
    fn a_socket_of_our_own_is_found() {
        use std::os::fd::AsRawFd;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (guest, _) = listener.accept().unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        let described = |fd: i32| {
            let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
            let link = link.to_string_lossy();
            let inode = link.trim_start_matches("socket:[").trim_end_matches(']').parse().unwrap();
            Sockets::default().find(pid, inode).cloned().unwrap()
        };
        let (door, to, from) =
            (described(listener.as_raw_fd()), described(client.as_raw_fd()), described(guest.as_raw_fd()));
        assert_eq!(to.text, format!("tcp to {}", listener.local_addr().unwrap()));
        assert_eq!(from.text, format!("tcp from {}", client.local_addr().unwrap()));
        assert_eq!([door, to, from].map(|socket| socket.end), [End::Guest, End::Host, End::Guest]);
    }
}
