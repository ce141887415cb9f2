//! What the server says about itself. It never passes for mongod: its version and storage engine are named `scripted`.

use std::thread::available_parallelism;

use brimline_bson::{Value, Writer};
use brimline_wire::frame::MESSAGE_BYTES_MAX;

use super::request::{WRITE_BATCH_SIZE_MAX, text};
use super::{Backend, Command, CommandError, Request};
use crate::clock;
use crate::script::Script;

const VERSION: &str = "6.0.0-scripted";
const PROCESS: &str = "brimline-testserver";
/// Largest document, as every mongod announces it.
const DOCUMENT_BYTES_MAX: i32 = 16 * 1024 * 1024;
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

pub(super) fn build_info(writer: &mut Writer<'_>) {
    writer.string("version", VERSION);
    let version = writer.begin_array("versionArray");
    for (index, number) in ["0", "1", "2", "3"].iter().zip([6, 0, 0, 0]) {
        writer.int32(index, number);
    }
    writer.end_document(version);
    writer.boolean("scripted", true);
    writer.string("gitVersion", concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")));
    let modules = writer.begin_array("modules");
    writer.end_document(modules);
    writer.int32("bits", 64);
    writer.boolean("debug", cfg!(debug_assertions));
    writer.int32("maxBsonObjectSize", DOCUMENT_BYTES_MAX);
}

pub(super) fn host_info(writer: &mut Writer<'_>) {
    let system = writer.begin_subdocument("system");
    writer.date_time("currentTime", clock::unix_ms());
    writer.string("hostname", &host_name());
    writer.int32("cpuAddrSize", 64);
    writer.int32("numCores", available_parallelism().map_or(1, |cores| cores.get() as i32));
    writer.string("cpuArch", std::env::consts::ARCH);
    writer.end_document(system);
    let os = writer.begin_subdocument("os");
    writer.string("type", "Linux");
    writer.end_document(os);
}

pub(super) fn command_line_options(writer: &mut Writer<'_>) {
    let arguments = writer.begin_array("argv");
    writer.string("0", PROCESS);
    writer.end_document(arguments);
    let parsed = writer.begin_subdocument("parsed");
    writer.end_document(parsed);
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "localhost".to_owned(), |name| name.trim_end().to_owned())
}

fn write_section(writer: &mut Writer<'_>, name: &str, counters: &[(&str, u64)]) {
    let section = writer.begin_subdocument(name);
    for &(counter, value) in counters {
        writer.int64(counter, value as i64);
    }
    writer.end_document(section);
}
