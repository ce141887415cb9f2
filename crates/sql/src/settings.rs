//! Owns where a server is, what every connection does first, and how documents of a load become rows.

use std::fmt;

use brimline_net::tls::Tls;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// A plan's target, without its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `host:port`.
    pub address: String,
    /// The database that connections use; empty: the server's own choice.
    #[serde(default)]
    pub database: String,
    /// Whether connections are secured.
    #[serde(default)]
    pub tls: bool,
    /// Statements that each connection sends first, such as `SET …`.
    #[serde(default)]
    pub setup: Vec<String>,
    /// How documents of a load become rows.
    #[serde(default)]
    pub bulk: Option<Bulk>,
}

/// How documents of a load become rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// The table.
    pub table: String,
    /// Its columns that are filled.
    pub columns: Vec<Column>,
    /// How rows are sent.
    pub form: Form,
}

/// A column that is filled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Where its value is in a document; `None`: it is the whole document, as JSON.
    #[serde(default)]
    pub path: Option<Vec<String>>,
    /// Its type.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ColumnType {
    Text,
    Bigint,
    Int,
    Double,
    Decimal,
    Boolean,
    Datetime,
    Json,
    Bytes,
}

/// How rows of a load are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As one INSERT of several rows.
    Rows,
    /// As `COPY … FROM STDIN`, of PostgreSQL.
    Copy,
}

/// What opens a server. Name and password are wiped when they are dropped.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Name of the user.
    pub username: Zeroizing<String>,
    /// Password; `None`: none is given.
    pub password: Option<Zeroizing<String>>,
    /// How connections are secured, where the settings want that.
    pub tls: Option<Tls>,
}

impl Settings {
    /// The host of the address, without brackets.
    pub fn host(&self) -> &str {
        let host = self.address.rsplit_once(':').map_or(self.address.as_str(), |(host, _)| host);
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }
}

impl fmt::Debug for Secrets {
    /// Says how a server is opened, never by what.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Secrets")
            .field("password", &self.password.is_some())
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_a_plan() {
        let text = r#"{"address": "[::1]:3306", "database": "shop", "setup": ["SET autocommit = 1"], "bulk": {
            "table": "orders", "form": "copy", "columns": [
                {"name": "id", "path": ["_id"], "type": "text"}, {"name": "document", "path": null, "type": "json"}
        ]}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!(settings.host(), "::1");
        let bulk = settings.bulk.unwrap();
        assert_eq!((bulk.form, bulk.columns[0].column_type), (Form::Copy, ColumnType::Text));
        assert_eq!(bulk.columns[1].path, None);
        assert!(serde_json::from_str::<Settings>(r#"{"address": "a:1", "password": "p"}"#).is_err());
    }

    #[test]
    fn nothing_of_a_secret_is_printed() {
        let secrets = Secrets {
            username: "alice".to_owned().into(),
            password: Some("hunter2".to_owned().into()),
            tls: None,
        };
        assert_eq!(format!("{secrets:?}"), "Secrets { password: true, tls: false, .. }");
    }
}
