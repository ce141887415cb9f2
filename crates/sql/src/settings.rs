//! Owns where a server is, what every connection does first, and how documents of a load become rows.

use serde::{Deserialize, Serialize};

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

impl Settings {
    /// The host of the address, without brackets.
    pub fn host(&self) -> &str {
        let host = self.address.rsplit_once(':').map_or(self.address.as_str(), |(host, _)| host);
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
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
}
