//! What the server has seen.

use std::collections::BTreeMap;

use crate::commands::Command;

/// Totals since the server's start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Commands received, by name; unknown ones under `unknown`. Of HTTP the methods, of MySQL the kinds of statements.
    pub commands: BTreeMap<&'static str, u64>,
    /// The counters of `serverStatus`.
    pub opcounters: Opcounters,
    /// Requests that the script applied to, since it was set.
    pub requests: u64,
    /// Faults played, by index in the script, since it was set.
    pub faults: Vec<u64>,
    /// Connections accepted.
    pub connections_created: u64,
    /// Connections open.
    pub connections_current: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}

/// Counted as mongod counts: what was attempted, whether or not it succeeded. A command that a fault fails as a whole
/// isn't attempted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opcounters {
    /// Documents.
    pub insert: u64,
    /// find commands.
    pub query: u64,
    /// Update statements.
    pub update: u64,
    /// Delete statements.
    pub delete: u64,
    /// getMore commands.
    pub getmore: u64,
    /// Every other command that is known.
    pub command: u64,
}

impl Counts {
    /// Counts a command that was received.
    pub fn received(&mut self, command: Option<Command>) {
        *self.commands.entry(command.map_or("unknown", Command::name)).or_default() += 1;
        if command.is_some_and(|command| !command.is_data()) {
            self.opcounters.command += 1;
        }
    }

    /// Commands of that name received.
    pub fn command(&self, name: &str) -> u64 {
        self.commands.get(name).copied().unwrap_or(0)
    }
}
