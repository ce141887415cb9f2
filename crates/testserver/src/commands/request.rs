//! A command as it was sent.

use brimline_bson::{Reader, Value};
use brimline_wire::op_msg::Message;

use super::{Command, CommandError};

/// Most statements in one write command, as `hello` announces.
pub const WRITE_BATCH_SIZE_MAX: usize = 100_000;

/// A command and where it goes.
pub struct Request<'a> {
    /// Which command.
    pub command: Command,
    /// Value of the command's own element; the collection's name for most.
    pub argument: Value<'a>,
    /// Value of `$db`.
    pub database: &'a str,
    /// `database.collection` of commands on a collection, else empty.
    pub namespace: String,
    /// The body document.
    pub body: &'a [u8],
    /// The message, for its document sequences; `None` for a legacy query.
    message: Option<Message<'a>>,
}

impl<'a> Request<'a> {
    /// Reads the command of an `OP_MSG`.
    pub fn of_message(message: Message<'a>) -> Result<Self, CommandError> {
        let database = match Reader::new(message.body)?.find("$db")? {
            Some(Value::String(name)) => text(name)?,
            _ => {
                return Err(CommandError::new(
                    40414,
                    "Location40414",
                    "OP_MSG requests require a $db argument",
                ));
            }
        };
        let request = Self::of_body(message.body, database)?;
        Ok(Self { message: Some(message), ..request })
    }

    /// Reads the command of `body`, sent to `database`.
    pub fn of_body(body: &'a [u8], database: &'a str) -> Result<Self, CommandError> {
        let first = Reader::new(body)?.next_element()?;
        let first = first.ok_or_else(|| CommandError::bad_value("the command document is empty"))?;
        let Some(command) = Command::of_name(first.name) else {
            return Err(CommandError::command_not_found(text(first.name)?));
        };
        let collection = match command {
            Command::GetMore => Reader::new(body)?.find("collection")?,
            _ => Some(first.value),
        };
        let namespace = match collection {
            Some(Value::String(name)) => format!("{database}.{}", text(name)?),
            _ => String::new(),
        };
        Ok(Self { command, argument: first.value, database, namespace, body, message: None })
    }

    /// The value of the body's element `name`.
    pub fn field(&self, name: &str) -> Result<Option<Value<'a>>, CommandError> {
        Ok(Reader::new(self.body)?.find(name)?)
    }

    /// The document that is the body's element `name`; an empty one when it is missing.
    pub fn document(&self, name: &str) -> Result<&'a [u8], CommandError> {
        match self.field(name)? {
            None => Ok(EMPTY_DOCUMENT),
            Some(Value::Document(document)) => Ok(document),
            Some(_) => Err(CommandError::bad_value(format!("'{name}' must be a document"))),
        }
    }

    /// `namespace`, as a collection that a command must name.
    pub fn collection(&self) -> Result<&str, CommandError> {
        match self.namespace.as_str() {
            "" => Err(CommandError::new(73, "InvalidNamespace", "the command must name a collection")),
            namespace => Ok(namespace),
        }
    }

    /// The statements of a write command, whether they are an array of the body or a document sequence.
    pub fn statements(&self, name: &str) -> Result<Vec<&'a [u8]>, CommandError> {
        let sequence = self
            .message
            .and_then(|message| message.sequences().find(|sequence| sequence.name == name.as_bytes()));
        let statements = match sequence {
            Some(sequence) => sequence.documents().collect::<Result<Vec<_>, _>>()?,
            None => documents_of(self.field(name)?)?,
        };
        match statements.len() {
            1..=WRITE_BATCH_SIZE_MAX => Ok(statements),
            count => Err(CommandError::new(
                16,
                "InvalidLength",
                format!("write batch sizes must be between 1 and {WRITE_BATCH_SIZE_MAX}, got {count}"),
            )),
        }
    }
}

/// The empty BSON document.
pub const EMPTY_DOCUMENT: &[u8] = b"\x05\0\0\0\0";

/// The documents of an array; none when it is missing.
pub fn documents_of(array: Option<Value<'_>>) -> Result<Vec<&[u8]>, CommandError> {
    let mut documents = Vec::new();
    let Some(array) = array else { return Ok(documents) };
    let Value::Array(array) = array else {
        return Err(CommandError::bad_value("an array is needed"));
    };
    let mut entries = Reader::new(array)?;
    while let Some(entry) = entries.next_element()? {
        match entry.value {
            Value::Document(document) => documents.push(document),
            _ => return Err(CommandError::bad_value("an array of documents is needed")),
        }
    }
    Ok(documents)
}

/// `bytes` as text; names that are no UTF-8 are refused.
pub fn text(bytes: &[u8]) -> Result<&str, CommandError> {
    std::str::from_utf8(bytes).map_err(|_| CommandError::bad_value("a name is not UTF-8"))
}
