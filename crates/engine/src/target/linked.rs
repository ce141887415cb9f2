//! The protocols behind links: for each kind of target what makes its connections. This table is all that the engine knows of them.

use std::sync::Arc;

use brimline_net::link::Connector;
use brimline_wire::access::{Access, Login};
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::own::plan::OwnWork;
use crate::plan::Plan;
use crate::plan::error::PlanError;
use crate::plan::target::TargetPlan;

/// What makes the connections of `plan`; none of a target that speaks MongoDB's protocol, or none.
///
/// # Errors
/// When a request of its steps can't be one, or its server can't be named.
pub fn connector(plan: &Plan, access: &Access) -> Result<Option<Arc<dyn Connector>>, PlanError> {
    Ok(Some(match &plan.target {
        TargetPlan::Http(settings) => {
            let requests = brimline_http::Requests::new(&requests(plan)?)
                .map_err(|error| misfit(plan, error.step, &error.message))?;
            let headers = access.headers().to_vec();
            let secrets = brimline_http::Secrets { headers, tls: access.tls().cloned() };
            Arc::new(brimline_http::Connector::new(settings.clone(), secrets, requests).map_err(unreachable)?)
        }
        TargetPlan::Mysql(settings) => {
            let (secrets, statements) = (sql_secrets(access), statements(plan)?);
            Arc::new(
                brimline_mysql::Connector::new(settings.clone(), secrets, statements).map_err(unreachable)?,
            )
        }
        TargetPlan::Postgres(settings) => {
            let (secrets, statements) = (sql_secrets(access), statements(plan)?);
            Arc::new(
                brimline_postgres::Connector::new(settings.clone(), secrets, statements)
                    .map_err(unreachable)?,
            )
        }
        TargetPlan::Wire { .. }
        | TargetPlan::Driver { .. }
        | TargetPlan::Runner(_)
        | TargetPlan::Null { .. }
        | TargetPlan::Simulated { .. } => return Ok(None),
    }))
}

/// The requests of all steps, as their protocol describes them.
fn requests<R: DeserializeOwned>(plan: &Plan) -> Result<Vec<R>, PlanError> {
    let steps = plan.own().into_iter().flat_map(OwnWork::steps);
    let request = |(step, request): (usize, Option<&serde_json::Value>)| {
        let mut request = request.cloned().unwrap_or_default();
        // Its kind is the target's.
        if let Some(fields) = request.as_object_mut() {
            fields.remove("kind");
        }
        serde_json::from_value(request).map_err(|error| misfit(plan, step, &error.to_string()))
    };
    steps.map(|(_, step)| step.request.as_ref()).enumerate().map(request).collect()
}

/// The statements of all steps.
fn statements(plan: &Plan) -> Result<brimline_sql::statement::Requests, PlanError> {
    let steps = plan.own().into_iter().flat_map(OwnWork::steps);
    let specs: Vec<_> = requests(plan)?
        .into_iter()
        .zip(steps)
        .map(|(statement, (operation, step))| brimline_sql::statement::RequestSpec {
            name: if operation.steps.len() == 1 {
                operation.name.clone()
            } else {
                format!("{}, {}", operation.name, step.name)
            },
            statement,
            slots: step.slot_count(),
        })
        .collect();
    brimline_sql::statement::Requests::new(&specs).map_err(|error| misfit(plan, error.step, &error.message))
}

fn sql_secrets(access: &Access) -> brimline_sql::settings::Secrets {
    let (username, password) = match access.login() {
        Some(Login::Password { username, password, .. }) => (username.clone(), Some(password.clone())),
        _ => (Zeroizing::default(), None),
    };
    brimline_sql::settings::Secrets { username, password, tls: access.tls().cloned() }
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

fn unreachable(message: String) -> PlanError {
    PlanError::new("target", message)
}
