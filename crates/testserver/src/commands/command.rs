//! The commands that are understood, by name.

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Aggregate,
    BuildInfo,
    Count,
    Create,
    CreateIndexes,
    Delete,
    Drop,
    DropDatabase,
    EndSessions,
    Find,
    GetCmdLineOpts,
    GetMore,
    GetParameter,
    Hello,
    HostInfo,
    Insert,
    KillCursors,
    LegacyHello,
    ListCollections,
    ListDatabases,
    ListIndexes,
    Ping,
    ServerStatus,
    /// Not one of mongod's: replaces the script, so that data can be loaded before the script begins.
    SetScript,
    Update,
}

impl Command {
    /// The command called `name`; mongod takes a few names in two spellings.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"find" => Self::Find,
            b"getMore" => Self::GetMore,
            b"insert" => Self::Insert,
            b"update" => Self::Update,
            b"delete" => Self::Delete,
            b"aggregate" => Self::Aggregate,
            b"buildInfo" | b"buildinfo" => Self::BuildInfo,
            b"count" => Self::Count,
            b"create" => Self::Create,
            b"createIndexes" => Self::CreateIndexes,
            b"drop" => Self::Drop,
            b"dropDatabase" => Self::DropDatabase,
            b"endSessions" => Self::EndSessions,
            b"getCmdLineOpts" => Self::GetCmdLineOpts,
            b"getParameter" => Self::GetParameter,
            b"hello" => Self::Hello,
            b"hostInfo" => Self::HostInfo,
            b"isMaster" | b"ismaster" => Self::LegacyHello,
            b"killCursors" => Self::KillCursors,
            b"listCollections" => Self::ListCollections,
            b"listDatabases" => Self::ListDatabases,
            b"listIndexes" => Self::ListIndexes,
            b"ping" => Self::Ping,
            b"serverStatus" => Self::ServerStatus,
            b"setScript" => Self::SetScript,
            _ => return None,
        })
    }

    /// The name that counts are kept under.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "aggregate",
            Self::BuildInfo => "buildInfo",
            Self::Count => "count",
            Self::Create => "create",
            Self::CreateIndexes => "createIndexes",
            Self::Delete => "delete",
            Self::Drop => "drop",
            Self::DropDatabase => "dropDatabase",
            Self::EndSessions => "endSessions",
            Self::Find => "find",
            Self::GetCmdLineOpts => "getCmdLineOpts",
            Self::GetMore => "getMore",
            Self::GetParameter => "getParameter",
            Self::Hello => "hello",
            Self::HostInfo => "hostInfo",
            Self::Insert => "insert",
            Self::KillCursors => "killCursors",
            Self::LegacyHello => "isMaster",
            Self::ListCollections => "listCollections",
            Self::ListDatabases => "listDatabases",
            Self::ListIndexes => "listIndexes",
            Self::Ping => "ping",
            Self::ServerStatus => "serverStatus",
            Self::SetScript => "setScript",
            Self::Update => "update",
        }
    }

    /// Whether the script applies to the command.
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Find | Self::GetMore | Self::Insert | Self::Update | Self::Delete)
    }
}
