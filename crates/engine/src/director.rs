//! The thread that runs a plan: reaches its target, has its workers supervised, and follows the replica set meanwhile.

use std::sync::Arc;
use std::thread;

use brimline_wire::access::Access;
use brimline_wire::endpoint::Endpoint;

use crate::commands::Commands;
use crate::load::Load;
use crate::plan::Plan;
use crate::plan::target::{Reads, ReplicaSet, TargetPlan};
use crate::poller::Ending;
use crate::proof::prove;
use crate::replica_set::{View, discover};
use crate::run_error::RunError;
use crate::shared::lock;
use crate::state::{RunnerProcess, Shared, Stage};
use crate::summary::Summary;
use crate::supervisor::supervise;
use crate::target::linked::Linking;
use crate::target::runner::{Opening, Statements};
use crate::target::{Destination, Followed, NullTarget, Routes, RunnerTarget, SimulatedTarget, SocketTarget};

/// What a target is reached by.
pub struct Means<'m> {
    /// What opens it.
    pub access: &'m Arc<Access>,
    /// The words that start the runner, where it has a driver.
    pub runner: &'m [String],
    /// Makes its connections, where it speaks another protocol.
    pub linking: Option<Linking>,
    /// What a driver of an SQL database is told.
    pub statements: Option<Statements>,
}

/// Runs all workers and merges what they record. Returns when the last of them is done.
pub fn direct(
    plan: &Plan,
    loads: &[Load],
    commands: &Commands,
    shared: &Shared,
    means: Means<'_>,
) -> Result<Summary, RunError> {
    let Means { access, runner, linking, statements } = means;
    let outcome = match &plan.target {
        TargetPlan::Wire { replica_set, reads, .. } => {
            let followed = replica_set.as_ref().map(|set| (set, reads.as_ref()));
            reach(plan, access, shared).map_err(RunError::Target).and_then(|routes| {
                following(routes, followed, access, |routes| {
                    let target = |first, connections| SocketTarget::new(routes, first, connections);
                    supervise(plan, loads, commands, shared, target)
                })
            })
        }
        TargetPlan::Linked(_) if statements.is_none() => {
            link(plan, linking, access, shared).and_then(|routes| {
                let target = |first, connections| SocketTarget::new(&routes, first, connections);
                supervise(plan, loads, commands, shared, target)
            })
        }
        TargetPlan::Runner(_) | TargetPlan::Linked(_) => {
            supervise(plan, loads, commands, shared, |_, places| {
                let opening =
                    Opening::new(plan, statements.as_ref(), access).map_err(std::io::Error::other)?;
                let target = RunnerTarget::new(runner, opening, statements.clone(), plan, places)?;
                lock(&shared.runners).push(RunnerProcess { id: target.process_id(), cpu_ns: 0 });
                Ok(target)
            })
        }
        TargetPlan::Null { beside_server } => {
            let ending = Ending::of_generator(*beside_server);
            supervise(plan, loads, commands, shared, |_, connections| NullTarget::new(connections, ending))
        }
        TargetPlan::Simulated { script, generator_ns, standstills } => {
            supervise(plan, loads, commands, shared, |_, connections| {
                Ok(SimulatedTarget::new(script, *generator_ns, standstills, connections))
            })
        }
    };
    shared.update(|status| status.stage = Stage::Finished);
    outcome
}

/// The servers of the plan; the login was proved by one connection to the first of them.
fn reach(plan: &Plan, access: &Arc<Access>, shared: &Shared) -> Result<Routes, String> {
    let TargetPlan::Wire { address, routers, shards, reads, .. } = &plan.target else {
        return Err("only a server has an address".to_owned());
    };
    let at = |address: &String| Endpoint::resolve(address, access).map(Destination::Mongo);
    let writes: Vec<Destination> =
        std::iter::once(address).chain(routers).map(at).collect::<Result<_, _>>()?;
    let reads: Vec<Destination> =
        reads.iter().flat_map(|reads| &reads.addresses).map(at).collect::<Result<_, _>>()?;
    prove(&writes[0], plan.connect_timeout_ns, || !shared.control.stopped())?;
    if !shards.is_empty() {
        let further: Vec<Destination> = shards.iter().map(at).collect::<Result<_, _>>()?;
        return Ok(Routes::by_record(writes.into_iter().chain(further)));
    }
    Ok(if reads.is_empty() { Routes::to(writes) } else { Routes::by_kind(writes, reads) })
}

/// The server behind links of the plan, likewise; what it refuses to prepare is told here.
fn link(plan: &Plan, linking: Option<Linking>, access: &Access, shared: &Shared) -> Result<Routes, RunError> {
    let linking = linking.ok_or_else(|| RunError::Internal("only other protocols have links".to_owned()))?;
    let server = Destination::Linked(linking(access)?);
    prove(&server, plan.connect_timeout_ns, || !shared.control.stopped()).map_err(RunError::Target)?;
    Ok(Routes::to(vec![server]))
}

/// Does `work` while a thread of its own follows the replica set, where there is one.
fn following<R>(
    routes: Routes,
    followed: Option<(&ReplicaSet, Option<&Reads>)>,
    access: &Arc<Access>,
    work: impl FnOnce(&Routes) -> Result<R, RunError>,
) -> Result<R, RunError> {
    let Some((set, reads)) = followed else { return work(&routes) };
    let view = Arc::new(View::new(routes.servers()));
    let routes = routes.following(Followed { view: Arc::clone(&view), name: set.name.clone() });
    thread::scope(|scope| {
        thread::Builder::new()
            .name("brimline-discovery".to_owned())
            .spawn_scoped(scope, || discover(set, reads, access, &view))
            .map_err(|error| RunError::no_thread("watching the replica set", &error))?;
        // However the work ends, the thread must, or the scope would wait for it.
        let _closing = Closing(&view);
        work(&routes)
    })
}

struct Closing<'v>(&'v View);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
