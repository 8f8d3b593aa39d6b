//! The page in a real browser: nothing runs, nothing is loaded, and hostile text is text.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Run, has};

/// What a browser makes of a page.
fn open(page: &Path, profile: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-k", "5", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("file://{}", page.display())).output().expect("a browser")
}

/// Somebody to ask, who says no and counts.
struct Server {
    address: String,
    count: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/x.png", listener.local_addr().unwrap());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        Self { address, count }
    }

    fn asked(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

#[test]
fn a_browser_runs_nothing_and_loads_nothing() {
    if !has("chromium") || !has("timeout") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start();
    let address = &server.address;
    let hostile = format!(
        "<script>document.title='owned'</script><img src={address} onerror=alert(1)></pre><style>@import url({address});</style>"
    );
    let options = ["--report", "r.html", "--report-always", "--size", "300x24"];
    let output = Run::new(&options, &["printf", "%s\\n", &hostile]).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(0));

    let page = folder.path().join("r.html");
    let seen = open(&page, &folder.path().join("profile"));
    let (dom, log) = (String::from_utf8_lossy(&seen.stdout), String::from_utf8_lossy(&seen.stderr));
    assert!(seen.status.success(), "{log}");
    assert!(dom.contains("&lt;script&gt;document.title='owned'&lt;/script&gt;&lt;img src="), "{dom}");
    assert!(dom.contains("<title>printf: The command ended by itself"), "{dom}");
    assert!(!dom.contains("<script") && !dom.contains("<img"), "{dom}");
    assert!(!log.contains("CONSOLE"), "{log}");
    assert_eq!(server.asked(), 0, "it asked for something");

    // The same question about a page that does load and run, or the answer would mean nothing.
    let control = folder.path().join("control.html");
    fs::write(&control, format!("<img src={address}><script>console.log('ran')</script>")).unwrap();
    let seen = open(&control, &folder.path().join("profile"));
    assert!(String::from_utf8_lossy(&seen.stderr).contains("CONSOLE"));
    assert!(server.asked() > 0, "nobody asked");
}
