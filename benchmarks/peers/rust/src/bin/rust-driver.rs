//! The official Rust driver: as many tasks as connections, each in a plain loop.
//!
//! One tokio thread: on the one core a client has here, that was measured to be the driver's best.

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hdrhistogram::Histogram;
use mongodb::bson::{Document, doc};
use mongodb::{Client, Collection};
use tokio::task::LocalSet;

use rust_peers::arguments::{Arguments, Workload};
use rust_peers::records::Records;
use rust_peers::{answer, locked_version, say};

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    WarmUp,
    Measure,
    Stop,
}

struct Tally {
    latencies: Histogram<u64>,
    operations: u64,
    failed: u64,
}

struct Work {
    arguments: Arguments,
    records: Records,
    collection: Collection<Document>,
    phase: Cell<Phase>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    LocalSet::new().run_until(run()).await
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let client = Client::with_uri_str(&arguments.uri).await?;
    let collection = client.database(&arguments.database).collection::<Document>(&arguments.collection);
    collection.find_one(doc! {"_id": ""}).await?;
    let work = Rc::new(Work {
        records: Records::new(arguments.records),
        arguments,
        collection,
        phase: Cell::new(Phase::WarmUp),
    });
    let tasks: Vec<_> = (0..work.arguments.threads)
        .map(|task| tokio::task::spawn_local(work_loop(Rc::clone(&work), task)))
        .collect();

    say("ready")?;
    tokio::time::sleep(work.arguments.warmup).await;
    work.phase.set(Phase::Measure);
    let begin = Instant::now();
    say("begin")?;
    tokio::time::sleep(work.arguments.measured).await;
    work.phase.set(Phase::Stop);
    let window = begin.elapsed();
    say("end")?;

    let mut total = Tally::new()?;
    for task in tasks {
        total.add(&task.await??)?;
    }
    Ok(answer(&total.report(window))?)
}

async fn work_loop(work: Rc<Work>, task: u64) -> Result<Tally, Box<dyn Error>> {
    let mut random = Rng::with_seed(work.arguments.seed + task);
    let mut tally = Tally::new()?;
    while work.phase.get() != Phase::Stop {
        let (latency, answer) = work.operation(&mut random).await;
        if work.phase.get() == Phase::Measure {
            let documents = work.arguments.batch as u64;
            match answer {
                Ok(true) => tally.done(latency, documents)?,
                Ok(false) | Err(_) => tally.failed += documents,
            }
        }
    }
    Ok(tally)
}

impl Work {
    /// One command: how long it took once its key was chosen and its documents built, and whether it found or wrote
    /// what it was meant to.
    async fn operation(&self, random: &mut Rng) -> (Duration, mongodb::error::Result<bool>) {
        let batch = self.arguments.batch;
        match self.arguments.workload {
            Workload::Load if batch > 1 => {
                let documents: Vec<_> = (0..batch).map(|_| self.records.next(random)).collect();
                let sent = Instant::now();
                let answer = self.collection.insert_many(documents).ordered(false).await;
                (sent.elapsed(), answer.map(|_| true))
            }
            Workload::Load => {
                let document = self.records.next(random);
                let sent = Instant::now();
                let answer = self.collection.insert_one(document).await;
                (sent.elapsed(), answer.map(|_| true))
            }
            Workload::ReadAndUpdate if random.bool() => self.update(random).await,
            Workload::Read | Workload::ReadAndUpdate => self.read(random).await,
        }
    }

    async fn read(&self, random: &mut Rng) -> (Duration, mongodb::error::Result<bool>) {
        let filter = doc! {"_id": self.records.choose(random)};
        let sent = Instant::now();
        let answer = self.collection.find_one(filter).await;
        (sent.elapsed(), answer.map(|found| found.is_some()))
    }

    async fn update(&self, random: &mut Rng) -> (Duration, mongodb::error::Result<bool>) {
        let filter = doc! {"_id": self.records.choose(random)};
        let change = Records::change(random);
        let sent = Instant::now();
        let answer = self.collection.update_one(filter, change).await;
        (sent.elapsed(), answer.map(|answer| answer.matched_count == 1))
    }
}

impl Tally {
    fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self { latencies: Histogram::new(3)?, operations: 0, failed: 0 })
    }

    fn done(&mut self, latency: Duration, documents: u64) -> Result<(), hdrhistogram::RecordError> {
        self.operations += documents;
        self.latencies.record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX))
    }

    fn add(&mut self, other: &Self) -> Result<(), hdrhistogram::AdditionError> {
        self.operations += other.operations;
        self.failed += other.failed;
        self.latencies.add(&other.latencies)
    }

    fn report(&self, window: Duration) -> serde_json::Value {
        let quantile =
            |share: f64| (!self.latencies.is_empty()).then(|| self.latencies.value_at_quantile(share));
        serde_json::json!({
            "operations": self.operations,
            "failed": self.failed,
            "window_ns": u64::try_from(window.as_nanos()).unwrap_or(u64::MAX),
            "p50_ns": quantile(0.5),
            "p99_ns": quantile(0.99),
            "versions": {"mongodb": locked_version("mongodb")},
        })
    }
}
