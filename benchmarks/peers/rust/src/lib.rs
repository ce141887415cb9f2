//! What a client of the comparison is told, and how it answers.

pub mod arguments;
pub mod records;

use std::io::{Read, Write};

/// One line to the runner.
///
/// # Errors
/// Nobody reads any more.
pub fn say(word: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{word}")?;
    stdout.flush()
}

/// Says the result, and waits until the runner has read what it wants of this process and closed the pipe.
///
/// # Errors
/// Nobody reads any more.
pub fn answer(result: &serde_json::Value) -> std::io::Result<()> {
    say(&result.to_string())?;
    std::io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
}

/// The version of a crate as the lock file of this build has it.
#[must_use]
pub fn locked_version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    lock.split_once(&format!("name = \"{name}\"\nversion = \""))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}
