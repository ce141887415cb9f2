//! Measures the null case: how many finds of one document per second a server without a script answers, and what each
//! costs its thread. `cargo run --release -p brimline-testserver --example null_speed`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads the clock and prints"
)]

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use brimline_testserver::{Script, Server};
use brimline_wire::op_msg;

const CONNECTIONS: usize = 32;
const MEASURED: Duration = Duration::from_secs(3);

fn main() -> io::Result<()> {
    let server = Server::start(Script::default())?;
    let mut sockets =
        (0..CONNECTIONS).map(|_| TcpStream::connect(server.address())).collect::<io::Result<Vec<_>>>()?;
    let mut insert = Vec::new();
    op_msg::request(&mut insert, 1, |writer| {
        writer.string("insert", "usertable");
        writer.string("$db", "ycsb");
        let documents = writer.begin_array("documents");
        let document = writer.begin_subdocument("0");
        writer.string("_id", "user6284781860667377211");
        for field in 0..10 {
            writer.binary(&format!("field{field}"), &[b'x'; 100]);
        }
        writer.end_document(document);
        writer.end_document(documents);
    });
    exchange(&mut sockets[0], &insert)?;
    let mut find = Vec::new();
    op_msg::request(&mut find, 2, |writer| {
        writer.string("find", "usertable");
        writer.string("$db", "ycsb");
        let filter = writer.begin_subdocument("filter");
        writer.string("_id", "user6284781860667377211");
        writer.end_document(filter);
        writer.int32("limit", 1);
        writer.boolean("singleBatch", true);
    });

    let cpu_before_ns = server_cpu_ns()?;
    let start = Instant::now();
    let mut finds = 0_u64;
    while start.elapsed() < MEASURED {
        for socket in &mut sockets {
            socket.write_all(&find)?;
        }
        for socket in &mut sockets {
            receive(socket)?;
        }
        finds += CONNECTIONS as u64;
    }
    let elapsed = start.elapsed();
    let cpu_ns = server_cpu_ns()? - cpu_before_ns;
    println!("finds per second, the client's share included: {:.0}", finds as f64 / elapsed.as_secs_f64());
    println!("CPU time of the server's thread per find:      {:.2} µs", cpu_ns as f64 / finds as f64 / 1e3);
    println!("finds per second of a busy core:               {:.0}", finds as f64 / cpu_ns as f64 * 1e9);
    server.stop()
}

fn exchange(socket: &mut TcpStream, request: &[u8]) -> io::Result<()> {
    socket.write_all(request)?;
    receive(socket)
}

fn receive(socket: &mut TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    let mut received = socket.read(&mut buffer)?;
    let length = u32::from_le_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]) as usize;
    while received < length {
        received += socket.read(&mut buffer)?;
    }
    Ok(())
}

/// CPU time of the server's thread, from the scheduler's own count in ns.
fn server_cpu_ns() -> io::Result<u64> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let path = task?.path();
        if std::fs::read_to_string(path.join("comm"))?.trim_end() == "testserver" {
            let statistics = std::fs::read_to_string(path.join("schedstat"))?;
            let ns = statistics.split(' ').next().and_then(|field| field.parse().ok());
            return ns.ok_or_else(|| io::Error::other("schedstat is not understood"));
        }
    }
    Err(io::Error::other("the server has no thread"))
}
