//! The protocols behind links. [`PROTOCOLS`] is all that the engine knows of them.

use std::sync::Arc;

use brimline_net::link::Connector;
use brimline_net::protocol::{Protocol as Spoken, Secrets, Step};
use brimline_sql::settings::Settings;
use brimline_sql::statement::Requests;
use brimline_wire::access::{Access, Login};
use serde_json::Value;

use super::runner::Statements;
use crate::own::plan::OwnWork;
use crate::plan::error::{PlanError, require};
use crate::plan::target::{LinkTarget, TargetPlan};
use crate::plan::{Plan, Work};

/// Every protocol but MongoDB's, by what plans call its targets.
pub const PROTOCOLS: [Protocol; 3] = [
    Protocol::of::<brimline_http::Connector>("http"),
    Protocol::of::<brimline_mysql::Connector>("mysql"),
    Protocol::of::<brimline_postgres::Connector>("postgres"),
];

/// Makes what connections of a plan are made by, once it is known what opens the server.
pub type Linking = Box<dyn FnOnce(&Access) -> Result<Arc<dyn Connector>, PlanError> + Send>;

/// A protocol behind links.
#[derive(Clone, Copy)]
pub struct Protocol {
    kind: &'static str,
    read: fn(&Plan, &LinkTarget) -> Result<Linking, PlanError>,
}

impl Protocol {
    /// The protocol whose connectors are `P`; plans call its targets `kind`.
    pub const fn of<P: Spoken>(kind: &'static str) -> Self {
        Self { kind, read: read::<P> }
    }
}

/// Makes what connections of `plan` are made by; `None` of a target that is no other protocol's, or has a driver. `further` are protocols
/// beside those of the table.
///
/// # Errors
/// When nobody speaks the protocol, or it can't send what the plan says.
pub fn linking(plan: &Plan, further: &[Protocol]) -> Result<Option<Linking>, PlanError> {
    let TargetPlan::Linked(target) = &plan.target else { return Ok(None) };
    if target.client.is_some() {
        return Ok(None);
    }
    let mut known = PROTOCOLS.iter().chain(further);
    let protocol = known.find(|each| each.kind == target.kind);
    let protocol = protocol
        .ok_or_else(|| PlanError::new("target.kind", format!("{:?} is no kind of target", target.kind)))?;
    (protocol.read)(plan, target).map(Some)
}

/// What a plan has a driver of an SQL database do; `None` of a target without one.
///
/// # Errors
/// When the plan says what no such driver does.
pub fn statements(plan: &Plan) -> Result<Option<Statements>, PlanError> {
    let TargetPlan::Linked(LinkTarget { kind, client: Some(_), max_pool_size, settings }) = &plan.target
    else {
        return Ok(None);
    };
    require(["mysql", "postgres"].contains(&kind.as_str()), "target.client", || {
        format!("{kind:?} has no drivers")
    })?;
    let settings: Settings = serde_json::from_value(Value::Object(settings.clone()))
        .map_err(|error| PlanError::new("target", error.to_string()))?;
    let requests = Requests::new(&steps::<brimline_mysql::Connector>(plan)?)
        .map_err(|error| misfit(plan, error.step, &error.message))?;
    let max_pool_size = max_pool_size.unwrap_or(1);
    Ok(Some(Statements { scheme: kind.clone(), settings, requests, max_pool_size }))
}

/// Reads what a plan says of a server and of requests, as their protocol describes them.
fn read<P: Spoken>(plan: &Plan, target: &LinkTarget) -> Result<Linking, PlanError> {
    let settings: P::Settings = serde_json::from_value(Value::Object(target.settings.clone()))
        .map_err(|error| PlanError::new("target", error.to_string()))?;
    let is_load = matches!(plan.work, Work::Load { .. });
    require(!is_load || P::takes_loads(&settings), "work.kind", || {
        "the target does not say how documents of a load are sent".to_owned()
    })?;
    let requests =
        P::compile(&steps::<P>(plan)?).map_err(|error| misfit(plan, error.step, &error.message))?;
    Ok(Box::new(move |access| {
        let connector = P::new(settings, secrets(access), requests);
        let connector = connector.map_err(|message| PlanError::new("target", message))?;
        Ok(Arc::new(connector))
    }))
}

/// The steps of a plan with their requests.
fn steps<P: Spoken>(plan: &Plan) -> Result<Vec<Step<P::Request>>, PlanError> {
    let steps = plan.own().into_iter().flat_map(OwnWork::steps).enumerate();
    steps
        .map(|(number, (operation, step))| {
            let mut request = step.request.clone().unwrap_or_default();
            // Its kind is the target's.
            if let Some(fields) = request.as_object_mut() {
                fields.remove("kind");
            }
            let is_alone = operation.steps.len() == 1;
            Ok(Step {
                name: if is_alone {
                    operation.name.clone()
                } else {
                    format!("{}, {}", operation.name, step.name)
                },
                request: serde_json::from_value(request)
                    .map_err(|error| misfit(plan, number, &error.to_string()))?,
                slots: step.slot_count(),
            })
        })
        .collect()
}

fn secrets(access: &Access) -> Secrets {
    let (username, password) = match access.login() {
        Some(Login::Password { username, password, .. }) => (username.clone(), Some(password.clone())),
        _ => Default::default(),
    };
    Secrets { username, password, headers: access.headers().to_vec(), tls: access.tls().cloned() }
}

/// What is wrong with the request of a step, told by its place in the plan.
fn misfit(plan: &Plan, number: usize, message: &str) -> PlanError {
    let mut first = 0;
    for (place, operation) in plan.own().into_iter().flat_map(|work| &work.operations).enumerate() {
        if number < first + operation.steps.len() {
            return PlanError::new(
                &format!("work.operations.{place}.steps.{}.request", number - first),
                message,
            );
        }
        first += operation.steps.len();
    }
    PlanError::new("work.operations", message)
}
