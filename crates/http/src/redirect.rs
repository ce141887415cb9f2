//! Where a reply sends its client instead (RFC 9110, 10.2.2 and 15.4; RFC 3986, 5.2).

use crate::request::Surroundings;

/// Most bytes of a target that is followed.
const TARGET_BYTES_MAX: usize = 16 * 1024;

/// Where a `location` leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To this path and query of the same server.
    Here(String),
    /// To another server, or nowhere.
    Elsewhere,
}

/// Resolves the value of `Location` against the target of the request.
pub fn resolve(location: &[u8], target: &[u8], from: &Surroundings) -> Destination {
    let (Ok(location), Ok(target)) = (std::str::from_utf8(location), std::str::from_utf8(target)) else {
        return Destination::Elsewhere;
    };
    let location = location.trim();
    let location = location.split('#').next().unwrap_or_default();
    let has_scheme = location.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
    let path = target.split('?').next().unwrap_or_default();
    let resolved = if has_scheme || location.starts_with("//") {
        let Some(local) = from.local_part(location) else { return Destination::Elsewhere };
        if local.starts_with('/') { local.to_owned() } else { format!("/{local}") }
    } else if location.starts_with('/') {
        location.to_owned()
    } else if location.is_empty() {
        target.to_owned()
    } else if location.starts_with('?') {
        format!("{path}{location}")
    } else {
        let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
        format!("{folder}{location}")
    };
    let mut resolved = without_dots(&resolved).into_bytes();
    crate::request::escape_target(0, &mut resolved);
    match String::from_utf8(resolved) {
        Ok(here) if here.len() <= TARGET_BYTES_MAX => Destination::Here(here),
        _ => Destination::Elsewhere,
    }
}

/// Without `.` and `..` in its path (RFC 3986, 5.2.4).
fn without_dots(target: &str) -> String {
    let (path, query) = target.find('?').map_or((target, ""), |at| target.split_at(at));
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (place, &segment) in segments.iter().enumerate() {
        let is_last = place + 1 == segments.len();
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}
