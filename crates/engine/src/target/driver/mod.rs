//! The official driver as a target: the same operations in a program's own words, by a client on the worker's own thread. What
//! is measured is what a program has that uses the driver: its pool, its sessions, its documents.
//!
//! A connection here is a place for one operation at a time; which socket it goes out on is the driver's affair.

mod asked;
mod failed;
mod options;
mod timer;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use brimline_wire::endpoint::Endpoint;
use mongodb::bson::{RawDocumentBuf, doc};
use mongodb::{Client, Collection};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

use super::{ConnectionIndex, Event, Target};
use crate::clock::{Clock, Nanos, thread_cpu_ns};
use crate::failure::{Failure, FailureClass};
use crate::plan::Plan;
use asked::Asked;
use failed::{Failed, failed};
use timer::Timer;

/// How long a connection that was lost rests before the next try.
const RECONNECT_AFTER: Duration = Duration::from_millis(100);
/// How long closing the sockets may take.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// A server behind the driver.
pub struct DriverTarget {
    clock: Clock,
    client: Client,
    collection: Collection<RawDocumentBuf>,
    places: Vec<Place>,
    request: Vec<u8>,
    tell: UnboundedSender<Told>,
    told: UnboundedReceiver<Told>,
    events: VecDeque<Event>,
    timer: Timer,
    /// Last, because what is above lives in it.
    runtime: Runtime,
}

/// What is under way on a connection, and how often that was given up: what it says later counts for nothing.
#[derive(Default)]
struct Place {
    life: u64,
    task: Option<AbortHandle>,
}

/// An event of a connection's life.
struct Told {
    connection: ConnectionIndex,
    life: u64,
    event: Event,
}

/// What a task needs to say what became of it.
struct Teller {
    connection: ConnectionIndex,
    life: u64,
    tell: UnboundedSender<Told>,
}

impl DriverTarget {
    /// A client of `endpoint` with room for `connections` sockets, which are made as `plan` says.
    ///
    /// # Errors
    /// When the system gives no runtime, or the driver can't do what opens the server.
    pub fn new(endpoint: &Endpoint, plan: &Plan, connections: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let timer = Timer::new()?;
        let options = options::of_client(endpoint, plan, connections).map_err(io::Error::other)?;
        let client = Client::with_options(options).map_err(io::Error::other)?;
        let database = client.database(&plan.namespace.database);
        let collection = database
            .collection_with_options(&plan.namespace.collection, options::of_collection(&plan.target));
        drop(entered);
        let (tell, told) = unbounded_channel();
        let mut target = Self {
            clock: Clock::start(),
            client,
            collection,
            places: (0..connections).map(|_| Place::default()).collect(),
            request: Vec::new(),
            tell,
            told,
            events: VecDeque::new(),
            timer,
            runtime,
        };
        for connection in 0..connections {
            let teller = target.teller(connection);
            let task = target.runtime.spawn(come_up(target.client.clone(), teller));
            target.places[connection].task = Some(task.abort_handle());
        }
        Ok(target)
    }

    fn teller(&self, connection: ConnectionIndex) -> Teller {
        Teller { connection, life: self.places[connection].life, tell: self.tell.clone() }
    }

    /// Takes what was told, unless it is of a life that was given up.
    fn take(&mut self, Told { connection, life, event }: Told) {
        if self.places[connection].life == life {
            self.events.push_back(event);
        }
    }
}

impl Teller {
    fn tell(&self, event: Event) {
        // The target is gone only when the run is.
        drop(self.tell.send(Told { connection: self.connection, life: self.life, event }));
    }
}

/// Reaches the server, again and again until it answers.
#[expect(clippy::disallowed_methods, reason = "a rest before the next try needs no grain")]
async fn come_up(client: Client, teller: Teller) {
    loop {
        match client.database("admin").run_command(doc! { "ping": 1 }).await {
            Ok(_) => return teller.tell(Event::Up(teller.connection)),
            Err(error) => {
                let failure = Failure::new(FailureClass::ConnectionLost, error.to_string());
                teller.tell(Event::Down(teller.connection, failure));
            }
        }
        tokio::time::sleep(RECONNECT_AFTER).await;
    }
}

/// Performs one command and tells what came of it.
#[expect(clippy::disallowed_methods, reason = "a rest before the next try needs no grain")]
async fn perform(asked: Asked, collection: Collection<RawDocumentBuf>, clock: Clock, teller: Teller) {
    let statements = asked.statements();
    let outcome = asked.perform(&collection).await;
    let done = clock.now();
    let connection = teller.connection;
    let reply = match outcome.map_err(|error| failed(&error, statements)) {
        Ok(reply) | Err(Failed::Answered(reply)) => reply,
        Err(Failed::Lost(failure)) => {
            teller.tell(Event::Down(connection, failure));
            tokio::time::sleep(RECONNECT_AFTER).await;
            return come_up(collection.client().clone(), teller).await;
        }
    };
    teller.tell(Event::Reply { connection, done, reply });
}

impl Target for DriverTarget {
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn begin(&mut self, clock: Clock) {
        self.clock = clock;
    }

    fn wait(&mut self, until: Nanos) -> io::Result<()> {
        let timeout_ns = if self.events.is_empty() { until.saturating_sub(self.clock.now()) } else { 0 };
        let Self { runtime, told, timer, .. } = self;
        let first = runtime.block_on(async {
            if timeout_ns == 0 {
                // The driver's own tasks have their turn all the same.
                tokio::task::yield_now().await;
                return Ok(None);
            }
            timer.set(timeout_ns)?;
            tokio::select! {
                biased;
                first = told.recv() => Ok(first),
                rung = timer.rings() => rung.map(|()| None),
            }
        });
        let first: io::Result<Option<Told>> = first;
        if let Some(first) = first? {
            self.take(first);
        }
        while let Ok(next) = self.told.try_recv() {
            self.take(next);
        }
        Ok(())
    }

    fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn request(&mut self, _connection: ConnectionIndex) -> &mut Vec<u8> {
        self.request.clear();
        &mut self.request
    }

    fn send(
        &mut self,
        connection: ConnectionIndex,
        _request_id: i32,
        _documents: u32,
    ) -> Result<(), Failure> {
        let asked = Asked::read(&self.request)
            .map_err(|error| Failure::new(FailureClass::BadReply, format!("for the driver: {error}")))?;
        let teller = self.teller(connection);
        let task = self.runtime.spawn(perform(asked, self.collection.clone(), self.clock, teller));
        self.places[connection].task = Some(task.abort_handle());
        Ok(())
    }

    /// The driver closes a socket whose operation is dropped, and makes another when it needs one.
    fn reset(&mut self, connection: ConnectionIndex) {
        let place = &mut self.places[connection];
        place.life += 1;
        if let Some(task) = place.task.take() {
            task.abort();
        }
        self.events.push_back(Event::Up(connection));
    }

    fn cpu_ns(&self) -> Nanos {
        thread_cpu_ns()
    }
}

impl Drop for DriverTarget {
    #[expect(clippy::disallowed_methods, reason = "a bound on the end needs no grain")]
    fn drop(&mut self) {
        for place in &mut self.places {
            if let Some(task) = place.task.take() {
                task.abort();
            }
        }
        let shutdown = self.client.clone().shutdown().immediate(true);
        // A server that is gone must not hold the end up.
        let closing = async { tokio::time::timeout(CLOSE_WITHIN, async { shutdown.await }).await };
        drop(self.runtime.block_on(closing));
    }
}
