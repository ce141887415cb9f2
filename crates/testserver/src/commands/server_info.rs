//! What the server says about itself. It never passes for mongod: its version and storage engine are named `scripted`.

use std::thread::available_parallelism;

use brimline_bson::Writer;

use crate::clock;

pub(super) const VERSION: &str = "6.0.0-scripted";
pub(super) const PROCESS: &str = "brimline-testserver";
/// Largest document, as every mongod announces it.
pub(super) const DOCUMENT_BYTES_MAX: i32 = 16 * 1024 * 1024;
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

pub(super) fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "localhost".to_owned(), |name| name.trim_end().to_owned())
}
