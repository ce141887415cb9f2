//! Owns what a runner is told first: which server, what opens it, and the settings of its driver.

use std::fmt::Write as _;

use brimline_bson::Writer;
use brimline_wire::access::{Access, Login};
use brimline_wire::scram::Mechanism;
use zeroize::Zeroizing;

use super::Statements;
use crate::clock::NANOS_PER_MS;
use crate::plan::Plan;
use crate::plan::target::{Acknowledgement, RunnerSettings, TargetPlan, WriteConcern};

/// Characters that are shown of what a runner says.
const SHOWN_CHARACTERS_MAX: usize = 400;

/// What a runner is told of its server and of itself.
pub struct Opening {
    /// The address with all that a driver reads from it; it holds the password.
    uri: Zeroizing<String>,
    /// Statements that each connection sends first.
    setup: Vec<String>,
    /// What must never be shown of it.
    secrets: Vec<Zeroizing<String>>,
}

impl Opening {
    /// The address of the plan's server; `statements` are those of an SQL database.
    ///
    /// # Errors
    /// When a driver can't be told in an address what opens it.
    pub fn new(plan: &Plan, statements: Option<&Statements>, access: &Access) -> Result<Self, String> {
        let mut options = Options(String::new());
        let mut user_info = Zeroizing::new(String::new());
        let mut secrets = Vec::new();
        match access.login() {
            None => {}
            Some(Login::Password { username, password, source, mechanism }) => {
                let encoded = Zeroizing::new(percent_encoded(password));
                *user_info = format!("{}:{}@", percent_encoded(username), *encoded);
                secrets.extend([encoded, password.clone()]);
                if statements.is_none() {
                    options.add("authSource", source);
                }
                if let Some(mechanism) = mechanism {
                    options.add(
                        "authMechanism",
                        match mechanism {
                            Mechanism::Sha1 => "SCRAM-SHA-1",
                            Mechanism::Sha256 => "SCRAM-SHA-256",
                        },
                    );
                }
            }
            Some(Login::Certificate { username }) => {
                if let Some(username) = username {
                    *user_info = format!("{}@", percent_encoded(username));
                }
                options.add("authSource", "$external");
                options.add("authMechanism", "MONGODB-X509");
            }
        }
        if let Some(tls) = access.tls().map(brimline_net::tls::Tls::settings) {
            options.add("tls", "true");
            if let Some(file) = &tls.ca_file {
                options.add("tlsCAFile", &file.display().to_string());
            }
            if let Some(file) = &tls.certificate_key_file {
                options.add("tlsCertificateKeyFile", &file.display().to_string());
            }
            if tls.allow_invalid_certificates {
                options.add("tlsInsecure", "true");
            } else if tls.allow_invalid_hostnames {
                return Err(
                    "not every driver takes a certificate for another host; tlsInsecure=true takes any"
                        .to_owned(),
                );
            }
        }
        let timeout_ms = (plan.connect_timeout_ns / NANOS_PER_MS).max(1).to_string();
        options.add("connectTimeoutMS", &timeout_ms);
        let (scheme, hosts, path) = match (&plan.target, statements) {
            (_, Some(Statements { scheme, settings, max_pool_size, .. })) => {
                options.add("maxPoolSize", &max_pool_size.to_string());
                (scheme.as_str(), settings.address.clone(), percent_encoded(&settings.database))
            }
            (TargetPlan::Runner(settings), None) => {
                options.add("serverSelectionTimeoutMS", &timeout_ms);
                options.add_those_of(settings);
                ("mongodb", settings.addresses.join(","), String::new())
            }
            _ => return Err("the plan has no driver".to_owned()),
        };
        let uri = Zeroizing::new(format!("{scheme}://{}{hosts}/{path}?{}", *user_info, options.0));
        let setup = statements.map_or_else(Vec::new, |of| of.settings.setup.clone());
        Ok(Self { uri, setup, secrets })
    }

    /// Appends the first document of a runner: what it connects to, and how many workers it has.
    pub fn append(&self, out: &mut Vec<u8>, plan: &Plan, workers: usize) {
        let mut writer = Writer::new(out);
        let document = writer.begin_document();
        writer.int64("version", super::frame::VERSION);
        writer.string("uri", &self.uri);
        writer.int64("workers", workers as i64);
        writer.int64("operation_timeout_ms", (plan.operation_timeout_ns / NANOS_PER_MS).max(1) as i64);
        if !self.setup.is_empty() {
            let setup = writer.begin_array("setup");
            for (number, statement) in self.setup.iter().enumerate() {
                writer.string(&number.to_string(), statement);
            }
            writer.end_document(setup);
        }
        writer.end_document(document);
    }

    /// `text` as it may be shown: without what is secret, and no longer than somebody reads.
    pub fn shown(&self, text: &str) -> String {
        let without = |text: String, secret: &Zeroizing<String>| {
            if secret.is_empty() { text } else { text.replace(secret.as_str(), "***") }
        };
        let text = self.secrets.iter().fold(text.to_owned(), without);
        match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
            None => text,
            Some((end, _)) => format!("{} …", text[..end].trim_end()),
        }
    }
}

/// Options of a connection string.
struct Options(String);

impl Options {
    fn add(&mut self, name: &str, value: &str) {
        let separator = if self.0.is_empty() { "" } else { "&" };
        // Writing to a string can't fail.
        let _ = write!(self.0, "{separator}{name}={}", percent_encoded(value));
    }

    fn add_those_of(&mut self, settings: &RunnerSettings) {
        match &settings.replica_set {
            Some(name) => self.add("replicaSet", name),
            None if settings.addresses.len() == 1 => self.add("directConnection", "true"),
            None => {}
        }
        self.add("appName", &format!("brimline-{}", settings.client));
        self.add("maxPoolSize", &settings.max_pool_size.to_string());
        self.add("retryReads", if settings.retry_reads { "true" } else { "false" });
        self.add("retryWrites", if settings.retry_writes { "true" } else { "false" });
        if let Some(level) = &settings.read_concern {
            self.add("readConcernLevel", level);
        }
        if let Some(concern) = &settings.write_concern {
            self.add_write_concern(concern);
        }
        for (name, value) in &settings.options {
            self.add(name, value);
        }
    }

    fn add_write_concern(&mut self, concern: &WriteConcern) {
        match &concern.w {
            Acknowledgement::Members(members) => self.add("w", &members.to_string()),
            Acknowledgement::Tag(tag) => self.add("w", tag),
        }
        if let Some(journal) = concern.journal {
            self.add("journal", if journal { "true" } else { "false" });
        }
        if let Some(timeout_ms) = concern.timeout_ms {
            self.add("wtimeoutMS", &timeout_ms.to_string());
        }
    }
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_into_the_address_and_into_no_message() {
        let secret = "p@ss/wörd".to_owned();
        let opening = Opening {
            uri: Zeroizing::new(String::new()),
            setup: Vec::new(),
            secrets: vec![Zeroizing::new(percent_encoded(&secret)), Zeroizing::new(secret)],
        };
        assert_eq!(percent_encoded("p@ss/wörd"), "p%40ss%2Fw%C3%B6rd");
        let shown = opening.shown("no user p@ss/wörd at mongodb://u:p%40ss%2Fw%C3%B6rd@host");
        assert_eq!(shown, "no user *** at mongodb://u:***@host");
        let cut = "ö".repeat(SHOWN_CHARACTERS_MAX - 1) + "p@ss/wörd";
        assert_eq!(
            opening.shown(&cut),
            "ö".repeat(SHOWN_CHARACTERS_MAX - 1) + "* …",
            "never a part of a password"
        );
    }
}
