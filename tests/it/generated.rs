//! The man page and the completions are what the command line produces.
//!
//! With `IDLEWATCH_BLESS=1` the files are written instead of compared.

use std::path::Path;

use clap_complete::Shell;

fn check(file: &str, produced: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("IDLEWATCH_BLESS").is_some() {
        std::fs::write(&path, produced).expect("it can be written");
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    assert!(
        committed == produced,
        "{file} is not what the command line produces; write it with IDLEWATCH_BLESS=1 cargo test generated"
    );
}

#[test]
fn the_completions_are_up_to_date() {
    for (shell, file) in [(Shell::Bash, "idlewatch.bash"), (Shell::Zsh, "_idlewatch"), (Shell::Fish, "idlewatch.fish")]
    {
        let mut produced = Vec::new();
        clap_complete::generate(shell, &mut idlewatch::cli::command(), "idlewatch", &mut produced);
        check(&format!("completions/{file}"), &produced);
    }
}

#[test]
fn the_man_page_is_up_to_date() {
    let mut produced = Vec::new();
    clap_mangen::Man::new(idlewatch::cli::command()).render(&mut produced).expect("it can be written");
    check("man/idlewatch.1", &produced);
}
