//! The runner of the driver for Rust: a task for each worker, one client for all of them.
//! docs/reference/runners.md describes the frames.

mod calls;
mod frames;
mod sessions;
mod timer;
mod used;
mod worker;

use std::io::{self, BufReader};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use mongodb::Client;
use mongodb::bson::{Document, doc};
use mongodb::event::EventHandler;
use mongodb::options::ClientOptions;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;

use frames::{Command, Frames};
use sessions::Sessions;
use timer::within;
use used::Pool;
use worker::Worker;

const PROTOCOL_VERSION: i64 = 1;
const AHEAD_NS: i64 = 300_000;
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
const LOCK: &str = include_str!("../Cargo.lock");

fn main() -> ExitCode {
    let Ok(frames) = Frames::new().map(Arc::new) else { return ExitCode::FAILURE };
    let mut from = BufReader::new(io::stdin().lock());
    let Some((frames::OPEN, content)) = frames::next(&mut from) else { return ExitCode::SUCCESS };
    let pool = Arc::new(Pool::default());
    let opened = Document::from_reader(content.as_slice()).map_err(|error| error.to_string());
    let opened = opened.and_then(|settings| open(&settings, &pool));
    let (runtime, client, settings) = match opened {
        Ok(opened) => opened,
        Err(message) => {
            frames.send(frames::FAILED, &doc! { "message": message });
            return ExitCode::SUCCESS;
        }
    };
    let entered = runtime.enter();
    let sessions = Arc::new(Sessions::default());
    let mut places = Vec::new();
    for _ in 0..settings.workers {
        let (hand_over, commands) = unbounded_channel();
        match Worker::new(client.clone(), Arc::clone(&frames), Arc::clone(&sessions), settings.patience) {
            Ok(worker) => drop(runtime.spawn(worker.work(commands))),
            Err(error) => {
                frames.send(frames::FAILED, &doc! { "message": error.to_string() });
                return ExitCode::SUCCESS;
            }
        }
        places.push(hand_over);
    }
    drop(entered);
    frames.send(
        frames::READY,
        &doc! {
            "version": PROTOCOL_VERSION,
            "client": "rust",
            "driver": "mongodb",
            "driver_version": locked_version("mongodb"),
            "runtime": "Tokio",
            "runtime_version": locked_version("tokio"),
            "ahead_ns": AHEAD_NS,
        },
    );
    while let Some((kind, content)) = frames::next(&mut from) {
        match kind {
            frames::COMMAND => {
                let Some(command) = Command::read(&content) else { break };
                // A worker is there as long as this loop.
                drop(places[command.place as usize % places.len()].send(command));
            }
            frames::CLOCK => frames.clock(&content),
            frames::USE => frames.send(frames::USED, &pool.used()),
            _ => {
                runtime.block_on(sessions.end(&client));
                let closing = async { client.clone().shutdown().immediate(true).await };
                runtime.block_on(within(CLOSE_WITHIN, closing));
                break;
            }
        }
    }
    // The engine may be gone without a word.
    runtime.block_on(sessions.end(&client));
    // What is under way is left, and threads of the driver's with it.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// What a runner is told of itself.
struct Settings {
    workers: usize,
    patience: Duration,
}

/// A client whose server has answered. In words, why there is none.
fn open(settings: &Document, pool: &Arc<Pool>) -> Result<(Runtime, Client, Settings), String> {
    let number = |name: &str| settings.get_i64(name).map_err(|error| format!("{name}: {error}"));
    let uri = settings.get_str("uri").map_err(|error| format!("uri: {error}"))?;
    let told = Settings {
        workers: usize::try_from(number("workers")?).unwrap_or(0).max(1),
        patience: Duration::from_millis(number("operation_timeout_ms")?.unsigned_abs()),
    };
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    let following = Arc::clone(pool);
    let connected = runtime.block_on(async {
        let mut options = ClientOptions::parse(uri).await?;
        options.cmap_event_handler = Some(EventHandler::callback(move |event| following.follow(&event)));
        let client = Client::with_options(options)?;
        client.database("admin").run_command(doc! { "ping": 1 }).await?;
        Ok(client)
    });
    let client = connected.map_err(|error: mongodb::error::Error| error.kind.to_string())?;
    Ok((runtime, client, told))
}

/// The version of `name` that this program was built with.
fn locked_version(name: &str) -> &'static str {
    let after = LOCK.split_once(&format!("name = \"{name}\"\nversion = \"")).map(|(_, after)| after);
    after.and_then(|after| after.split('"').next()).unwrap_or_default()
}
