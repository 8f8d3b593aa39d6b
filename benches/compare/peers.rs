//! Who is compared.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::installed::Installed;

/// A way to run a command.
#[derive(Debug, Clone)]
pub struct Peer {
    /// What it is called in the table.
    pub name: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// The command alone.
    None,
    /// The minimal relay, which is this program.
    Floor(String),
    /// A build of idlewatch.
    Idlewatch(String),
    /// The static one.
    Static(String),
    Script,
    Sudo,
    Unbuffer,
    Timeout,
}

/// All of them, there or not.
pub fn all(own: &str, installed: &Installed) -> Vec<Peer> {
    let peer = |name: &str, kind| Peer { name: name.to_owned(), kind };
    vec![
        peer("floor", Kind::Floor(own.to_owned())),
        peer("idlewatch", Kind::Idlewatch(installed.copy("idlewatch", env!("CARGO_BIN_EXE_idlewatch")))),
        peer("static", Kind::Static(installed.copy("static", &static_build()))),
        peer("none", Kind::None),
        peer("script", Kind::Script),
        peer("sudo", Kind::Sudo),
        peer("unbuffer", Kind::Unbuffer),
        peer("timeout", Kind::Timeout),
    ]
}

/// Where `packaging/archive` leaves the static build.
fn static_build() -> String {
    let usual = Path::new(env!("CARGO_BIN_EXE_idlewatch"));
    let folder = usual.ancestors().nth(2).unwrap_or(usual);
    let built = ["musl", "gnu"]
        .map(|libc| folder.join(format!("{}-unknown-linux-{libc}", std::env::consts::ARCH)).join("release/idlewatch"));
    let found = built.iter().find(|program| program.exists()).unwrap_or(&built[0]);
    found.to_string_lossy().into_owned()
}

impl Peer {
    /// Another build of idlewatch.
    pub fn build(name: &str, program: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Idlewatch(program.to_owned()) }
    }

    /// The whole command line for this command.
    pub fn argv(&self, command: &[&str]) -> Vec<String> {
        let mut argv: Vec<String> = match &self.kind {
            Kind::None => Vec::new(),
            Kind::Floor(own) => vec![own.clone(), "__relay".to_owned()],
            Kind::Idlewatch(program) | Kind::Static(program) => vec![program.clone(), "--".to_owned()],
            Kind::Script => {
                let words: Vec<String> = command.iter().map(|word| format!("'{word}'")).collect();
                return ["script", "-qefc", &words.join(" "), "/dev/null"].map(ToOwned::to_owned).to_vec();
            }
            Kind::Sudo => ["sudo", "-n"].map(ToOwned::to_owned).to_vec(),
            Kind::Unbuffer => vec!["unbuffer".to_owned()],
            Kind::Timeout => ["timeout", "--foreground", "1h"].map(ToOwned::to_owned).to_vec(),
        };
        argv.extend(command.iter().map(ToString::to_string));
        argv
    }

    /// Why it cannot take part, if it cannot.
    pub fn missing(&self) -> Option<String> {
        let argv = self.argv(&["true"]);
        let quiet =
            |command: &mut Command| command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match quiet(Command::new(&argv[0]).args(&argv[1..])) {
            Ok(status) if status.success() => None,
            Ok(status) => Some(status.to_string()),
            Err(error) if matches!(self.kind, Kind::Static(_)) => {
                Some(format!("{error} (packaging/archive builds it)"))
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// Whether it puts a terminal around the command at all.
    pub fn relays(&self) -> bool {
        !matches!(self.kind, Kind::None | Kind::Timeout)
    }

    /// Whether it passes on what is typed.
    pub fn takes_keys(&self) -> bool {
        !matches!(self.kind, Kind::Unbuffer | Kind::Timeout)
    }
}
