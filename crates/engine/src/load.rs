//! The loads of a plan: its own one, and those beside it, each with its operations, its due times and its threads.

use std::ops::Range;
use std::sync::Arc;

use crate::own::Own;
use crate::own::mix::OwnMix;
use crate::plan::Plan;
use crate::plan::error::PlanError;
use crate::workload::Workload;

/// One load.
pub struct Load {
    /// The plan as it is for this load.
    pub plan: Plan,
    /// Its operations.
    pub workload: Workload,
}

impl Load {
    /// The loads of `plan`, its own one first. `own` are its operations of the person's own, where it has such.
    ///
    /// # Errors
    /// When a part of the plan is out of range.
    pub fn all_of(plan: &Plan, own: Option<&Arc<Own>>) -> Result<Vec<Self>, PlanError> {
        let mix = |number| plan.own().zip(own).map(|(work, own)| OwnMix::new(plan, work, own, number));
        let mut loads = vec![Self { plan: plan.clone(), workload: Workload::new(plan, mix(0))? }];
        for (number, beside) in plan.own().map_or(&[][..], |work| &work.loads).iter().enumerate() {
            let plan = plan.beside(beside);
            let workload = Workload::new(&plan, mix(number + 1))?;
            loads.push(Self { plan, workload });
        }
        Ok(loads)
    }
}

/// A worker's share of the room for operations.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The number of its first connection among those of the run.
    pub first: usize,
    /// Its connections.
    pub connections: usize,
    /// How many operations may be in flight at once. More than there are connections: users of a closed loop that share them.
    pub in_flight_max: usize,
}

/// One worker to be.
pub struct Post {
    /// Its load.
    pub load: usize,
    /// Its number among the workers of that, those of other nodes included.
    pub shard: usize,
    /// Its places.
    pub places: Places,
}

/// The workers of all loads on this node, those of a load one after the other.
pub fn posts(loads: &[Load]) -> Vec<Post> {
    let mut posts = Vec::new();
    let mut first = 0;
    for (load, Load { plan, .. }) in loads.iter().enumerate() {
        let shard_count = plan.shard_count() as usize;
        let own = own_shards(plan);
        let per_user = plan.places_per_user();
        let in_flight_max = plan.in_flight_max.unwrap_or(plan.connections) as usize * per_user;
        for shard in 0..shard_count {
            let connections = share(plan.connections as usize * per_user, shard, shard_count);
            if own.contains(&shard) {
                let in_flight_max = share(in_flight_max, shard, shard_count);
                posts.push(Post { load, shard, places: Places { first, connections, in_flight_max } });
            }
            first += connections;
        }
    }
    posts
}

/// The shards of this node among those of all: its threads.
pub fn own_shards(plan: &Plan) -> Range<usize> {
    let thread_count = plan.thread_count() as usize;
    let first = plan.share().node as usize * thread_count;
    first..first + thread_count
}

/// Worker `worker`'s share of `total`, as even as it gets.
fn share(total: usize, worker: usize, worker_count: usize) -> usize {
    total / worker_count + usize::from(worker < total % worker_count)
}
