//! What the server says about its state, and how that is begun anew.

use brimline_bson::{Value, Writer};
use brimline_wire::frame::MESSAGE_BYTES_MAX;

use super::request::{WRITE_BATCH_SIZE_MAX, text};
use super::server_info::{DOCUMENT_BYTES_MAX, PROCESS, VERSION, host_name};
use super::{Backend, Command, CommandError, Request};
use crate::clock;
use crate::script::Script;

/// Wire version of mongod 6.0.
const WIRE_VERSION_MAX: i32 = 17;

impl Backend {
    pub(super) fn hello(&self, command: Command, writer: &mut Writer<'_>) {
        let primary = if command == Command::Hello { "isWritablePrimary" } else { "ismaster" };
        writer.boolean("helloOk", true);
        writer.boolean(primary, true);
        writer.boolean("scripted", true);
        writer.int32("maxBsonObjectSize", DOCUMENT_BYTES_MAX);
        writer.int32("maxMessageSizeBytes", MESSAGE_BYTES_MAX as i32);
        writer.int32("maxWriteBatchSize", WRITE_BATCH_SIZE_MAX as i32);
        writer.date_time("localTime", clock::unix_ms());
        writer.int32("logicalSessionTimeoutMinutes", 30);
        writer.int32("connectionId", self.counts.connections_created as i32);
        writer.int32("minWireVersion", 0);
        writer.int32("maxWireVersion", WIRE_VERSION_MAX);
        writer.boolean("readOnly", false);
    }

    pub(super) fn server_status(&self, writer: &mut Writer<'_>) {
        let uptime_ms = self.clock.now_ns() / 1_000_000;
        writer.string("host", &host_name());
        writer.string("version", VERSION);
        writer.string("process", PROCESS);
        writer.boolean("scripted", true);
        writer.int64("pid", i64::from(std::process::id()));
        writer.double("uptime", uptime_ms as f64 / 1e3);
        writer.int64("uptimeMillis", uptime_ms as i64);
        writer.date_time("localTime", clock::unix_ms());
        let counts = &self.counts;
        write_section(
            writer,
            "connections",
            &[("current", counts.connections_current), ("totalCreated", counts.connections_created)],
        );
        write_section(
            writer,
            "network",
            &[
                ("bytesIn", counts.bytes_in),
                ("bytesOut", counts.bytes_out),
                ("numRequests", counts.commands.values().sum()),
            ],
        );
        write_section(
            writer,
            "opcounters",
            &[
                ("insert", counts.opcounters.insert),
                ("query", counts.opcounters.query),
                ("update", counts.opcounters.update),
                ("delete", counts.opcounters.delete),
                ("getmore", counts.opcounters.getmore),
                ("command", counts.opcounters.command),
            ],
        );
        let engine = writer.begin_subdocument("storageEngine");
        writer.string("name", "scripted");
        writer.boolean("persistent", false);
        writer.end_document(engine);
    }

    /// Replaces the script by the JSON text that is the command's value, and begins it anew. The store stays.
    pub(super) fn set_script_command(&mut self, request: &Request<'_>) -> Result<(), CommandError> {
        let Value::String(json) = request.argument else {
            return Err(CommandError::bad_value("the value of 'setScript' must be JSON text"));
        };
        let script =
            Script::from_json(text(json)?).map_err(|error| CommandError::bad_value(error.to_string()))?;
        self.set_script(script);
        Ok(())
    }
}

fn write_section(writer: &mut Writer<'_>, name: &str, counters: &[(&str, u64)]) {
    let section = writer.begin_subdocument(name);
    for &(counter, value) in counters {
        writer.int64(counter, value as i64);
    }
    writer.end_document(section);
}
