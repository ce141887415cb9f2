//! What is spoken on the connections of a server: where a message ends, and when and how it is answered. Knows no sockets.

use crate::clock::Clock;
use crate::counts::Counts;

/// A protocol, and what is behind it.
pub trait Front: Send + 'static {
    /// What is kept of each client.
    type Client: Default + Send;

    /// What was seen.
    fn counts(&self) -> &Counts;

    /// The same, for what connections count.
    fn counts_mut(&mut self) -> &mut Counts;

    /// Clock of arrivals and answers.
    fn clock(&self) -> Clock;

    /// Appends what a client is sent before it has said anything.
    fn greet(&mut self, _client: &mut Self::Client, _out: &mut Vec<u8>) {}

    /// How many of `bytes` the message is that they begin with; `None`: more must come.
    ///
    /// # Errors
    /// When they are no message; the connection is closed then.
    fn message_bytes(client: &mut Self::Client, bytes: &[u8]) -> Result<Option<usize>, Unreadable>;

    /// Takes a whole message that arrived at `arrival_ns` and appends its reply, if there is to be one, to `out`.
    ///
    /// # Errors
    /// When it can't be read; nothing can be answered then.
    fn answer(
        &mut self,
        client: &mut Self::Client,
        message: &[u8],
        arrival_ns: u64,
        out: &mut Vec<u8>,
    ) -> Result<Answer, Unreadable>;
}

/// What a client sent is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// When and how a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// On the front's clock.
    pub due_ns: u64,
    /// What happens then.
    pub ending: Ending,
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the bytes that were appended.
    Reply,
    /// With the bytes that were appended, and then by closing the connection.
    LastReply,
    /// Not at all.
    Nothing,
    /// By closing the connection.
    Close,
}

impl Ending {
    /// Whether the connection ends with it.
    pub fn closes(self) -> bool {
        matches!(self, Self::LastReply | Self::Close)
    }
}
