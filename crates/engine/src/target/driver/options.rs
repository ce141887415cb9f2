//! Owns what the driver is told of a plan and of what opens the server.

use std::time::Duration;

use brimline_wire::access::Login;
use brimline_wire::endpoint::Endpoint;
use brimline_wire::scram::Mechanism;
use mongodb::options::{
    Acknowledgment, AuthMechanism, ClientOptions, CollectionOptions, Credential, ReadConcern,
    ReadConcernLevel, ServerAddress, Tls, TlsOptions, WriteConcern,
};

use crate::plan::Plan;
use crate::plan::target::{self, TargetPlan};

/// One server, connected to directly; an operation that fails is a failed operation, and not tried again behind its back.
pub fn of_client(endpoint: &Endpoint, plan: &Plan, connections: usize) -> Result<ClientOptions, String> {
    let server =
        ServerAddress::Tcp { host: endpoint.host().to_owned(), port: Some(endpoint.address().port()) };
    let timeout = Duration::from_nanos(plan.connect_timeout_ns);
    let pool_size = u32::try_from(connections).ok();
    let options = ClientOptions::builder()
        .hosts(vec![server])
        .direct_connection(true)
        .app_name("brimline-driver".to_owned())
        .max_pool_size(pool_size)
        .min_pool_size(pool_size)
        .connect_timeout(timeout)
        .server_selection_timeout(timeout)
        .retry_reads(false)
        .retry_writes(false)
        .credential(endpoint.access().login().map(credential))
        .tls(tls(endpoint)?);
    Ok(options.build())
}

/// What reads and writes of a plan ask for.
pub fn of_collection(target: &TargetPlan) -> CollectionOptions {
    let TargetPlan::Driver { read_concern, write_concern: asked, .. } = target else {
        return CollectionOptions::default();
    };
    let read_level = read_concern.as_deref().map(level);
    CollectionOptions::builder()
        .read_concern(read_level.map(ReadConcern::from))
        .write_concern(asked.as_ref().map(write_concern))
        .build()
}

fn level(name: &str) -> ReadConcernLevel {
    match name {
        "local" => ReadConcernLevel::Local,
        "available" => ReadConcernLevel::Available,
        "majority" => ReadConcernLevel::Majority,
        "linearizable" => ReadConcernLevel::Linearizable,
        other => ReadConcernLevel::Custom(other.to_owned()),
    }
}

fn write_concern(asked: &target::WriteConcern) -> WriteConcern {
    let acknowledgment = match &asked.w {
        target::Acknowledgement::Members(members) => Acknowledgment::from(*members),
        target::Acknowledgement::Tag(tag) => Acknowledgment::from(tag.as_str()),
    };
    let timeout = asked.timeout_ms.map(|timeout_ms| Duration::from_millis(timeout_ms.into()));
    WriteConcern::builder().w(acknowledgment).journal(asked.journal).w_timeout(timeout).build()
}

fn credential(login: &Login) -> Credential {
    match login {
        Login::Password { username, password, source, mechanism } => Credential::builder()
            .username(username.to_string())
            .password(password.to_string())
            .source(source.clone())
            .mechanism(mechanism.map(|mechanism| match mechanism {
                Mechanism::Sha1 => AuthMechanism::ScramSha1,
                Mechanism::Sha256 => AuthMechanism::ScramSha256,
            }))
            .build(),
        Login::Certificate { username } => {
            Credential::builder().username(username.clone()).mechanism(AuthMechanism::MongoDbX509).build()
        }
    }
}

fn tls(endpoint: &Endpoint) -> Result<Option<Tls>, String> {
    let Some(settings) = endpoint.access().tls().map(brimline_net::tls::Tls::settings) else {
        return Ok(None);
    };
    if settings.allow_invalid_hostnames && !settings.allow_invalid_certificates {
        return Err(
            "the driver can't take a certificate for another host; tlsInsecure=true takes any".to_owned()
        );
    }
    let options = TlsOptions::builder()
        .ca_file_path(settings.ca_file.clone())
        .cert_key_file_path(settings.certificate_key_file.clone())
        .allow_invalid_certificates(settings.allow_invalid_certificates);
    Ok(Some(Tls::Enabled(options.build())))
}
