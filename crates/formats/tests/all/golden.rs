//! What mongoimport made of 241 awkward inputs, and what is made of them here.
//!
//! No server is needed: the cases are those in which documents are simply inserted. Of the others (modes, servers that refuse) only
//! the reading is done; `tests/integration` imports them.

#[path = "support/ordered_json.rs"]
mod ordered_json;

use std::collections::HashSet;

use crate::support::{Read, options, read_all};
use base64::Engine;
use brimline_formats::{Columns, Format, FormatOptions, ParseGrace, Rejection};
use ordered_json::{Json, canonical};

/// Cases in which brimline does something else on purpose, and what it does.
const DIFFERENT: [(&str, &str); 5] = [
    ("json-garbage-middle-maintainorder", "documents before the error are imported"),
    ("jsonarray-trailing-comma-maintainorder", "documents before the error are imported"),
    ("oversize-csv", "only the document that is too large is rejected"),
    ("oversize-in-the-middle", "only the document that is too large is rejected"),
    ("oversize-in-the-middle-stoponerror", "only the document that is too large is rejected"),
];

struct Case {
    json: Json,
}

impl Case {
    fn name(&self) -> &str {
        self.text("name")
    }

    fn text(&self, member: &str) -> &str {
        self.json.member(member).and_then(Json::text).expect("a text")
    }

    fn args(&self) -> Vec<&str> {
        self.json.member("args").expect("args").elements().iter().filter_map(Json::text).collect()
    }

    fn flag(&self, name: &str) -> bool {
        self.args().contains(&name)
    }

    fn option(&self, name: &str) -> Option<&str> {
        let args = self.args();
        args.iter().position(|arg| *arg == name).map(|at| args[at + 1])
    }

    fn bytes(&self, file: &str) -> Option<Vec<u8>> {
        match self.json.member("inputs")?.member(file)? {
            Json::Text(text) => Some(text.clone().into_bytes()),
            encoded => {
                let text = encoded.member("base64")?.text()?;
                base64::engine::general_purpose::STANDARD.decode(text).ok()
            }
        }
    }

    /// The input, made where it is too large to be kept; `None` where there is no such file.
    fn input(&self) -> Option<Vec<u8>> {
        let made = match self.name() {
            "oversize-csv" => format!("_id,pad\n1,{}\n2,ok\n", "x".repeat(17_000_000)),
            "oversize-exact-limit" => format!("{{\"_id\":1,\"pad\":\"{}\"}}\n", "x".repeat(16_777_192)),
            "oversize-in-the-middle" | "oversize-in-the-middle-stoponerror" => {
                format!(
                    "{{\"_id\":1}}\n{{\"_id\":2,\"pad\":\"{}\"}}\n{{\"_id\":3}}\n",
                    "x".repeat(20_000_000)
                )
            }
            _ => {
                let stdin = self.json.member("stdin").and_then(Json::text);
                let positional = self.args().last().copied().filter(|arg| arg.starts_with("input."));
                return self.bytes(stdin.or(self.option("--file")).or(positional)?);
            }
        };
        Some(made.into_bytes())
    }

    /// What the command line says about the input.
    fn options(&self) -> FormatOptions {
        let format = match self.option("--type") {
            Some("csv") => Format::Csv,
            Some("tsv") => Format::Tsv,
            _ => Format::Json,
        };
        let field_file = self.option("--fieldFile").and_then(|file| self.bytes(file));
        let columns = if self.flag("--headerline") {
            Some(Columns::Headerline)
        } else if let Some(bytes) = field_file {
            Some(Columns::FieldFile(String::from_utf8(bytes).expect("UTF-8")))
        } else {
            self.option("--fields").map(|list| Columns::Fields(list.to_owned()))
        };
        FormatOptions {
            columns,
            columns_have_types: self.flag("--columnsHaveTypes"),
            parse_grace: match self.option("--parseGrace") {
                Some("autoCast") => ParseGrace::AutoCast,
                Some("skipField") => ParseGrace::SkipField,
                Some("skipRow") => ParseGrace::SkipRow,
                _ => ParseGrace::Stop,
            },
            ignore_blanks: self.flag("--ignoreBlanks"),
            use_array_index_fields: self.flag("--useArrayIndexFields"),
            json_array: self.flag("--jsonArray"),
            legacy: self.flag("--legacy"),
            ..options(format)
        }
    }

    /// Whether the command line was refused before anything was read.
    fn is_command_line_error(&self) -> bool {
        matches!(self.json.member("imported"), Some(Json::Null)) && !self.flag("--quiet")
    }

    /// Whether the server has a say in what becomes of the documents, other than by duplicate `_id`s.
    fn depends_on_server(&self) -> bool {
        let before = ["seed", "unique_index_before", "collection_validator_before"];
        before.iter().any(|member| self.json.member(member).is_some())
            || self.option("--mode").is_some()
            || self.option("--writeConcern").is_some()
            || ["--maintainInsertionOrder", "--stopOnError"].iter().any(|order| self.flag(order))
                && self.failed() > 0
            || matches!(self.name(), "json-id-array-and-regex" | "json-duplicate-ids-in-doc")
    }

    fn failed(&self) -> i64 {
        if let Some(Json::Number(failed)) = self.json.member("failed") { *failed } else { 0 }
    }

    /// The outcomes that were recorded: exit code and documents.
    fn outcomes(&self) -> Vec<(i64, Vec<Json>)> {
        let others = self.json.member("unstable").map_or(&[][..], Json::elements);
        std::iter::once(&self.json)
            .chain(others)
            .map(|outcome| {
                let Some(Json::Number(exit_code)) = outcome.member("exit_code") else {
                    panic!("no exit code")
                };
                let documents = outcome.member("documents").map_or(&[][..], Json::elements);
                (*exit_code, documents.iter().cloned().map(Json::without_object_id).collect())
            })
            .collect()
    }

    fn raw_bson(&self) -> Option<Vec<String>> {
        let documents = self.json.member("raw_bson_hex")?.elements();
        Some(documents.iter().filter_map(Json::text).map(str::to_owned).collect())
    }
}

fn cases() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/mongoimport/cases.jsonl");
    let text = std::fs::read_to_string(path).expect("the recorded cases");
    text.lines().map(|line| Case { json: serde_json::from_str(line).expect("a case") }).collect()
}

/// The documents of a collection into which those that were read are inserted one after another.
fn inserted(read: &Read) -> Vec<Json> {
    let mut ids = HashSet::new();
    read.raw
        .iter()
        .filter(|document| {
            let document = bson::RawDocument::from_bytes(document).expect("valid BSON");
            document.get("_id").expect("valid BSON").is_none_or(|id| ids.insert(comparable(id)))
        })
        .map(|document| padding_counted(id_first(canonical(document)).without_object_id()))
        .collect()
}

/// Servers move the `_id` to the front.
fn id_first(document: Json) -> Json {
    let Json::Object(mut members) = document else { return document };
    if let Some(at) = members.iter().position(|(name, _)| name == "_id") {
        let id = members.remove(at);
        members.insert(0, id);
    }
    Json::Object(members)
}

/// As large documents are recorded: the length of `pad` instead of its text.
fn padding_counted(document: Json) -> Json {
    let Json::Object(mut members) = document else { return document };
    for member in &mut members {
        if let (_, Json::Text(text)) = member
            && text.len() > 1_000_000
        {
            *member = ("#pad_length".to_owned(), Json::Number(text.len() as i64));
        }
    }
    Json::Object(members)
}

/// Numbers of any type are the same `_id` when they are equal.
fn comparable(id: bson::RawBsonRef<'_>) -> String {
    match id {
        bson::RawBsonRef::Int32(value) => f64::from(value).to_string(),
        bson::RawBsonRef::Int64(value) => (value as f64).to_string(),
        bson::RawBsonRef::Double(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// Holds one case to what was recorded, and says what differs.
fn judge(case: &Case, read: &Read) -> Result<(), String> {
    if let Some(raw) = case.raw_bson() {
        let bytes: Vec<_> = read.raw.iter().map(|document| hex(document)).collect();
        return if raw.iter().all(|document| bytes.contains(document)) {
            Ok(())
        } else {
            Err(format!("{bytes:?}"))
        };
    }
    let too_large = read.rejected.iter().any(|rejected| rejected.rejection == Rejection::TooLarge);
    let exit_code = i64::from(read.stop.is_some() || too_large);
    let outcomes = case.outcomes();
    if outcomes.iter().all(|(recorded, _)| *recorded != exit_code) {
        return Err(format!("exit code {exit_code}, stop {:?}", read.stop));
    }
    let documents = inserted(read);
    if outcomes.iter().any(|(_, recorded)| same(recorded, &documents)) {
        return Ok(());
    }
    // Which documents before an error mongoimport stores is a matter of chance; here it is all of them, and none after it.
    let is_chance = outcomes.len() > 1 && read.stop.is_some();
    let is_known = |document| outcomes.iter().any(|(_, recorded)| recorded.contains(document));
    if is_chance && documents.iter().all(is_known) { Ok(()) } else { Err(format!("{documents:?}")) }
}

/// The same documents in any order.
fn same(one: &[Json], other: &[Json]) -> bool {
    let mut left: Vec<&Json> = other.iter().collect();
    one.len() == other.len()
        && one.iter().all(|document| match left.iter().position(|other| *other == document) {
            Some(at) => {
                left.swap_remove(at);
                true
            }
            None => false,
        })
}

#[test]
fn inputs_become_what_mongoimport_makes_of_them() {
    let mut judged = 0;
    let mut wrong = Vec::new();
    for case in cases() {
        let (false, Some(input)) = (case.is_command_line_error() || case.depends_on_server(), case.input())
        else {
            continue;
        };
        judged += 1;
        let outcome = judge(&case, &read_all(&case.options(), input));
        let is_different = DIFFERENT.iter().any(|(name, _)| *name == case.name());
        match outcome {
            Err(difference) if !is_different => wrong.push(format!("{}: {difference}", case.name())),
            Ok(()) if is_different => wrong.push(format!("{}: does not differ", case.name())),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {judged} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(judged, 189, "cases may not get lost");
}
