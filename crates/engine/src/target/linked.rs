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
    Protocol::of_database::<brimline_mysql::Connector>("mysql"),
    Protocol::of_database::<brimline_postgres::Connector>("postgres"),
];

/// Makes what connections of a plan are made by, once it is known what opens the server.
pub type Linking = Box<dyn FnOnce(&Access) -> Result<Arc<dyn Connector>, PlanError> + Send>;

/// A protocol behind links.
#[derive(Clone, Copy)]
pub struct Protocol {
    kind: &'static str,
    read: Read<Linking>,
    /// `None`: there are no drivers of it.
    read_driven: Option<Read<Statements>>,
}

/// How what a plan says of a server is read.
type Read<T> = fn(&Plan, &LinkTarget) -> Result<T, PlanError>;

impl Protocol {
    /// The protocol whose connectors are `P`; plans call its targets `kind`.
    pub const fn of<P: Spoken>(kind: &'static str) -> Self {
        Self { kind, read: read::<P>, read_driven: None }
    }

    /// The same of an SQL database, which drivers in processes of their own speak to as well.
    pub const fn of_database<P: Spoken<Settings = Settings, Requests = Requests>>(
        kind: &'static str,
    ) -> Self {
        Self { read_driven: Some(read_driven::<P>), ..Self::of::<P>(kind) }
    }

    /// The one that plans call `kind`; `further` are protocols beside those of the table.
    fn called(kind: &str, further: &[Self]) -> Result<Self, PlanError> {
        let mut known = PROTOCOLS.iter().chain(further);
        let found = known.find(|each| each.kind == kind).copied();
        found.ok_or_else(|| PlanError::new("target.kind", format!("{kind:?} is no kind of target")))
    }
}

/// Makes what connections of `plan` are made by; `None` of a target that is no other protocol's, or has a driver. `further` are protocols
/// beside those of the table.
///
/// # Errors
/// When nobody speaks the protocol, or it can't send what the plan says.
pub fn linking(plan: &Plan, further: &[Protocol]) -> Result<Option<Linking>, PlanError> {
    match &plan.target {
        TargetPlan::Linked(target) if target.client.is_none() => {
            (Protocol::called(&target.kind, further)?.read)(plan, target).map(Some)
        }
        _ => Ok(None),
    }
}

/// What a plan has a driver of an SQL database do; `None` of a target without one. `further` as in [`linking`].
///
/// # Errors
/// When the plan says what no such driver does.
pub fn statements(plan: &Plan, further: &[Protocol]) -> Result<Option<Statements>, PlanError> {
    match &plan.target {
        TargetPlan::Linked(target) if target.client.is_some() => {
            let no_drivers = || PlanError::new("target.client", format!("{:?} has no drivers", target.kind));
            let protocol = Protocol::called(&target.kind, further)?;
            (protocol.read_driven.ok_or_else(no_drivers)?)(plan, target).map(Some)
        }
        _ => Ok(None),
    }
}

/// Reads what a plan says of a server and of requests, as their protocol describes them.
fn read<P: Spoken>(plan: &Plan, target: &LinkTarget) -> Result<Linking, PlanError> {
    let settings = settings::<P>(target)?;
    let is_load = matches!(plan.work, Work::Load { .. });
    require(!is_load || P::takes_loads(&settings), "work.kind", || {
        "the target does not say how documents of a load are sent".to_owned()
    })?;
    let requests = requests::<P>(plan)?;
    Ok(Box::new(move |access| {
        let connector = P::new(settings, secrets(access), requests);
        let connector = connector.map_err(|message| PlanError::new("target", message))?;
        Ok(Arc::new(connector))
    }))
}

/// The same of a server that a driver speaks to.
fn read_driven<P: Spoken<Settings = Settings, Requests = Requests>>(
    plan: &Plan,
    target: &LinkTarget,
) -> Result<Statements, PlanError> {
    Ok(Statements {
        scheme: target.kind.clone(),
        settings: settings::<P>(target)?,
        requests: requests::<P>(plan)?,
        max_pool_size: target.max_pool_size.unwrap_or(1),
    })
}

fn settings<P: Spoken>(target: &LinkTarget) -> Result<P::Settings, PlanError> {
    let said = Value::Object(target.settings.clone());
    serde_json::from_value(said).map_err(|error| PlanError::new("target", error.to_string()))
}

/// The requests of a plan's steps, compiled.
fn requests<P: Spoken>(plan: &Plan) -> Result<P::Requests, PlanError> {
    P::compile(&steps::<P>(plan)?).map_err(|error| misfit(plan, error.step, &error.message))
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
