//! What opens a server, as Python hands it over: apart from the plan, and never shown again.

use std::path::PathBuf;
use std::sync::Arc;

use brimline_net::tls::{Tls, TlsSettings};
use brimline_wire::access::{Access as WireAccess, Login};
use brimline_wire::compression::{Compressor, Offer};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::scram::Mechanism;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zeroize::Zeroizing;

use crate::TargetError;

/// What opens a server. The password is wiped when the last user of this value is gone.
#[pyclass(module = "brimline._native", frozen)]
pub struct Access(Arc<WireAccess>);

#[pymethods]
impl Access {
    #[new]
    #[pyo3(signature = (*, login = None, tls = None, compression = None, headers = Vec::new()))]
    fn new(
        login: Option<&Bound<'_, PyAny>>,
        tls: Option<&Bound<'_, PyAny>>,
        compression: Option<&Bound<'_, PyAny>>,
        headers: Vec<(String, String)>,
    ) -> PyResult<Self> {
        if !headers.is_empty() {
            let headers = headers.into_iter().map(|(name, value)| (name, Zeroizing::new(value))).collect();
            return Ok(Self(WireAccess::by_headers(headers, tls.map(read_tls).transpose()?)));
        }
        let login = login.map(read_login).transpose()?;
        let tls = tls.map(read_tls).transpose()?;
        let compression = compression.map(read_compression).transpose()?.unwrap_or_default();
        Ok(Self(WireAccess::compressing(login, tls, compression)))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

impl Access {
    /// What `given` says, nothing secret when there is none.
    pub fn of(given: Option<&Self>) -> Arc<WireAccess> {
        given.map_or_else(Arc::default, |access| Arc::clone(&access.0))
    }
}

/// The endpoint at `address`.
pub fn endpoint(address: &str, access: Option<&Access>) -> PyResult<Endpoint> {
    Endpoint::resolve(address, &Access::of(access)).map_err(TargetError::new_err)
}

/// From attributes `mechanism`, `username`, `password` and `source`; each but the last may be None.
fn read_login(login: &Bound<'_, PyAny>) -> PyResult<Login> {
    let name: Option<String> = login.getattr("mechanism")?.extract()?;
    let username: Option<String> = login.getattr("username")?.extract()?;
    let mechanism = match name.as_deref() {
        Some("MONGODB-X509") => return Ok(Login::Certificate { username }),
        Some("SCRAM-SHA-1") => Some(Mechanism::Sha1),
        Some("SCRAM-SHA-256") => Some(Mechanism::Sha256),
        None => None,
        Some(other) => return Err(PyValueError::new_err(format!("mechanism {other} is not known"))),
    };
    Ok(Login::Password {
        username: Zeroizing::new(username.unwrap_or_default()),
        password: Zeroizing::new(login.getattr("password")?.extract::<Option<String>>()?.unwrap_or_default()),
        source: login.getattr("source")?.extract()?,
        mechanism,
    })
}

/// From attributes `compressors`, names, and `zlib_level`, which may be None.
fn read_compression(compression: &Bound<'_, PyAny>) -> PyResult<Offer> {
    let names: Vec<String> = compression.getattr("compressors")?.extract()?;
    let known = |name: &String| {
        Compressor::named(name)
            .ok_or_else(|| PyValueError::new_err(format!("compressor {name} is not known")))
    };
    let compressors = names.iter().map(known).collect::<PyResult<_>>()?;
    Ok(Offer { compressors, zlib_level: compression.getattr("zlib_level")?.extract()? })
}

/// From attributes named as the fields of `TlsSettings`.
fn read_tls(tls: &Bound<'_, PyAny>) -> PyResult<Tls> {
    let settings = TlsSettings {
        ca_file: tls.getattr("ca_file")?.extract::<Option<PathBuf>>()?,
        certificate_key_file: tls.getattr("certificate_key_file")?.extract::<Option<PathBuf>>()?,
        allow_invalid_hostnames: tls.getattr("allow_invalid_hostnames")?.extract()?,
        allow_invalid_certificates: tls.getattr("allow_invalid_certificates")?.extract()?,
    };
    Tls::new(&settings).map_err(|error| TargetError::new_err(error.to_string()))
}
