//! Cookies as a client of one server keeps them (RFC 6265): name, value, path, secure, and until when. A cookie for another
//! host is not kept, and one for a domain that the server belongs to is as good as one for the server itself.

use std::ops::Range;

use crate::authority::split_port;

/// Most cookies of a server; the oldest goes. Browsers keep as many or more.
const COOKIES_MAX: usize = 180;
/// Longest name, value and path of a cookie together.
const COOKIE_BYTES_MAX: usize = 4096;
/// Most bytes of all cookies, which go with every request. Servers take less in one header.
const JAR_BYTES_MAX: usize = 64 * 1024;

/// The cookies of one client.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    cookies: Vec<Cookie>,
    /// How many were ever kept.
    kept: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
    is_secure: bool,
    /// Seconds since 1970; `None`: as long as the client lives.
    ends_unix_s: Option<i64>,
    /// Its number among all that were kept.
    number: u64,
}

impl Jar {
    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Whether any of them ends at some time.
    pub fn has_ends(&self) -> bool {
        self.cookies.iter().any(|cookie| cookie.ends_unix_s.is_some())
    }

    /// Forgets what has ended.
    pub fn forget_ended(&mut self, now_unix_s: i64) {
        self.cookies.retain(|cookie| cookie.ends_unix_s.is_none_or(|ends| ends > now_unix_s));
    }

    /// Follows a `Set-Cookie` header of a reply to a request for `target` from `authority`.
    pub fn set(&mut self, header: &[u8], authority: &str, target: &[u8], is_secure: bool, now_unix_s: i64) {
        let Some(cookie) = Cookie::parse(header, authority, target, now_unix_s) else { return };
        // What was set over TLS is not overwritten or given without it.
        if cookie.is_secure && !is_secure {
            return;
        }
        let is_same = |kept: &Cookie| kept.name == cookie.name && kept.path == cookie.path;
        let place = self.cookies.iter().position(is_same);
        if cookie.ends_unix_s.is_some_and(|ends| ends <= now_unix_s) {
            if let Some(place) = place {
                self.cookies.remove(place);
            }
            return;
        }
        if let Some(place) = place {
            self.cookies[place] = Cookie { number: self.cookies[place].number, ..cookie };
        } else {
            // Longer paths first, and of the same length the older, as they are sent.
            let length = cookie.path.len();
            let place = self.cookies.partition_point(|kept| kept.path.len() >= length);
            self.cookies.insert(place, Cookie { number: self.kept, ..cookie });
            self.kept += 1;
        }
        while self.cookies.len() > COOKIES_MAX || self.bytes() > JAR_BYTES_MAX {
            let oldest = (0..self.cookies.len()).min_by_key(|&place| self.cookies[place].number);
            oldest.map(|place| self.cookies.remove(place));
        }
    }

    fn bytes(&self) -> usize {
        self.cookies.iter().map(Cookie::bytes).sum()
    }

    /// Appends the cookies that go with a request for `out[target]` to a header whose value begins at `start`.
    pub(crate) fn append(&self, target: Range<usize>, is_secure: bool, start: usize, out: &mut Vec<u8>) {
        for cookie in &self.cookies {
            if !cookie.fits(path_of(&out[target.clone()])) || (cookie.is_secure && !is_secure) {
                continue;
            }
            if out.len() > start {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(&cookie.name);
            out.push(b'=');
            out.extend_from_slice(&cookie.value);
        }
    }
}

impl Cookie {
    /// `None`: it is not to be kept.
    fn parse(header: &[u8], authority: &str, target: &[u8], now_unix_s: i64) -> Option<Self> {
        let mut attributes = header.split(|&byte| byte == b';');
        let (name, value) = pair(attributes.next()?);
        let value = value?;
        let is_bad = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        if name.is_empty() || header.iter().any(is_bad) {
            return None;
        }
        let mut cookie = Self {
            name: name.to_vec(),
            value: value.to_vec(),
            path: default_path(target).to_vec(),
            is_secure: false,
            ends_unix_s: None,
            number: 0,
        };
        let mut has_age = false;
        for attribute in attributes {
            let (name, value) = pair(attribute);
            let value = value.unwrap_or_default();
            if name.eq_ignore_ascii_case(b"path") {
                let path = if value.starts_with(b"/") { value } else { default_path(target) };
                cookie.path = path.to_vec();
            } else if name.eq_ignore_ascii_case(b"secure") {
                cookie.is_secure = true;
            } else if name.eq_ignore_ascii_case(b"domain") {
                if !is_domain_of(value, authority) {
                    return None;
                }
            } else if name.eq_ignore_ascii_case(b"max-age") {
                if let Some(age_s) = seconds(value) {
                    has_age = true;
                    cookie.ends_unix_s = Some(now_unix_s.saturating_add(age_s));
                }
            } else if name.eq_ignore_ascii_case(b"expires")
                && !has_age
                && let Some(ends) = date(value)
            {
                cookie.ends_unix_s = Some(ends);
            }
        }
        (cookie.bytes() <= COOKIE_BYTES_MAX).then_some(cookie)
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.path.len()
    }

    /// Whether it goes with requests for a path (RFC 6265, 5.1.4).
    fn fits(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.path.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || self.path.ends_with(b"/"))
    }
}

/// Name and value, if there is an equals sign.
fn pair(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|&byte| byte == b'=') {
        Some(at) => (text[..at].trim_ascii(), Some(text[at + 1..].trim_ascii())),
        None => (text.trim_ascii(), None),
    }
}

fn path_of(target: &[u8]) -> &[u8] {
    target.split(|&byte| byte == b'?').next().unwrap_or_default()
}

/// The path up to its last slash.
fn default_path(target: &[u8]) -> &[u8] {
    let path = path_of(target);
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) if at > 0 => &path[..at],
        _ => b"/",
    }
}

/// Whether the host of `authority` is `domain` or belongs to it.
fn is_domain_of(domain: &[u8], authority: &str) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain);
    let host = split_port(authority, "").0.as_bytes();
    if domain.is_empty() {
        return true;
    }
    let Some(at) = host.len().checked_sub(domain.len()) else { return false };
    let is_name = host.iter().any(u8::is_ascii_alphabetic) && !host.starts_with(b"[");
    host[at..].eq_ignore_ascii_case(domain) && (at == 0 || (is_name && host[at - 1] == b'.'))
}

/// A number of seconds; one that is too large is the largest.
fn seconds(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = text.strip_prefix(b"-").map_or((false, text), |digits| (true, digits));
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    let seconds = digits.iter().fold(0, add);
    Some(if is_negative { -seconds } else { seconds })
}

/// A date as servers write it, whatever the order of its parts (RFC 6265, 5.1.1), in seconds since 1970.
fn date(text: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let (mut time_s, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b':' || *byte > 0x7f);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = seconds(&token[..digits.min(4)]);
        if time_s.is_none() && token.contains(&b':') {
            let parts: Vec<_> = token.split(|&byte| byte == b':').map(seconds).collect();
            let [Some(hour), Some(minute), Some(second)] = parts[..] else { return None };
            let is_time = hour < 24 && minute < 60 && second < 60;
            time_s = Some(is_time.then_some(hour * 3600 + minute * 60 + second)?);
        } else if day.is_none() && matches!(digits, 1 | 2) {
            day = number;
        } else if month.is_none() && token.len() >= 3 && digits == 0 {
            month = MONTHS.iter().position(|name| token[..3].eq_ignore_ascii_case(name));
        } else if year.is_none() && matches!(digits, 2 | 4) {
            year = number.map(|year| match year {
                70..=99 => year + 1900,
                0..=69 => year + 2000,
                year => year,
            });
        }
    }
    let (year, month, day) = (year?, month? as i64 + 1, day?);
    if year < 1601 || !(1..=31).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + time_s?)
}

/// Of the proleptic Gregorian calendar (Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2014), for years from 0.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
