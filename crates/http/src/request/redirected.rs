//! The request that follows a redirect: the one before it, to another target, and perhaps without its body (RFC 9110, 15.4).

use super::{COOKIE, Rendered, append_kept_cookies, append_length};
use crate::cookies::Jar;

/// What is asked instead.
#[derive(Clone, Copy, Debug)]
pub struct Redirected<'a> {
    /// The status that sends elsewhere.
    pub status: u16,
    /// Where to, on the same server.
    pub target: &'a str,
    /// Whether the server is spoken to over TLS.
    pub is_secure: bool,
}

impl Redirected<'_> {
    /// Renders into `out`, which is empty, what follows `request`, whose parts `rendered` says.
    pub fn render(
        self,
        request: &[u8],
        rendered: &Rendered,
        jar: Option<&Jar>,
        out: &mut Vec<u8>,
    ) -> Rendered {
        let method = &request[..rendered.target.start.saturating_sub(1)];
        let becomes_get = match self.status {
            303 => method != b"HEAD",
            301 | 302 => method == b"POST",
            _ => false,
        };
        out.extend_from_slice(if becomes_get { b"GET" } else { method });
        out.push(b' ');
        let start = out.len();
        out.extend_from_slice(self.target.as_bytes());
        let target = start..out.len();
        let head = &request[rendered.target.end..rendered.body.start];
        for line in head.split_inclusive(|&byte| byte == b'\n').filter(|line| line.len() > 2) {
            let is_about_body = starts_with_name(line, b"content-");
            let is_length = starts_with_name(line, b"content-length:");
            if !(line.starts_with(COOKIE) || is_length || becomes_get && is_about_body) {
                out.extend_from_slice(line);
            }
        }
        out.extend_from_slice(COOKIE);
        let start = out.len();
        out.extend_from_slice(&request[rendered.own_cookies.clone()]);
        let own_cookies = start..out.len();
        let own_cookies = append_kept_cookies(jar, &target, self.is_secure, own_cookies, out);
        let has_length =
            head.split(|&byte| byte == b'\n').any(|line| starts_with_name(line, b"content-length:"));
        if becomes_get || !has_length {
            out.extend_from_slice(b"\r\n");
            return Rendered { target, own_cookies, body: out.len()..out.len() };
        }
        append_length(rendered.body.len(), out);
        let start = out.len();
        out.extend_from_slice(&request[rendered.body.clone()]);
        Rendered { target, own_cookies, body: start..out.len() }
    }
}

fn starts_with_name(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}
