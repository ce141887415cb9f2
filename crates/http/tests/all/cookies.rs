//! Which cookies are kept, and which go with which request.

use brimline_http::cookies::Jar;
use serde_json::json;

use crate::requests;

/// What a jar sends with a request for `target`.
fn sent(jar: &Jar, target: &str, is_secure: bool) -> String {
    let spec = json!([{"method": "GET", "target": [{"text": target}]}]);
    let (requests, surroundings) = requests(&spec, &json!({"tls": is_secure}), &[]);
    let mut out = Vec::new();
    requests.render(0, &surroundings, b"\x05\0\0\0\0", Some(jar), &mut Vec::new(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.split_once("Cookie: ").map_or(String::new(), |(_, rest)| rest.trim_end().to_owned())
}

fn jar(headers: &[&str], is_secure: bool) -> Jar {
    let mut jar = Jar::default();
    for header in headers {
        jar.set(header.as_bytes(), "shop.example:8080", b"/a/b?c", is_secure, 1_000);
    }
    jar
}

#[test]
fn a_cookie_goes_with_requests_for_its_path() {
    let jar = jar(&["d=1", "r=2; Path=/", "x=3; path=/a/bc", "s=4; PATH=/a/"], false);
    assert_eq!(sent(&jar, "/", false), "r=2");
    assert_eq!(sent(&jar, "/a?x", false), "d=1; r=2");
    assert_eq!(sent(&jar, "/a/b", false), "s=4; d=1; r=2");
    assert_eq!(sent(&jar, "/ab", false), "r=2");
    assert_eq!(sent(&jar, "/a/bc/d", false), "x=3; s=4; d=1; r=2", "longer paths first");
}

#[test]
fn a_cookie_is_set_again_and_ended() {
    let mut jar =
        jar(&["a=1; Path=/", "b = 2 ; Path=/; HttpOnly", "a=3; Path=/", "b=; Max-Age=0; Path=/"], false);
    assert_eq!(sent(&jar, "/", false), "a=3");
    jar.set(b"c=1; Path=/; Max-Age=10", "shop.example", b"/", false, 1_000);
    jar.set(b"d=1; Path=/; Expires=Thu, 01 Jan 1970 00:16:45 GMT", "shop.example", b"/", false, 1_000);
    jar.set(
        b"e=1; Path=/; Max-Age=99999999999999999999; Expires=Thu, 01-Jan-70 00:00:01 GMT",
        "shop.example",
        b"/",
        false,
        1_000,
    );
    assert!(jar.has_ends());
    assert_eq!(sent(&jar, "/", false), "a=3; c=1; d=1; e=1");
    jar.forget_ended(1_006);
    assert_eq!(sent(&jar, "/", false), "a=3; c=1; e=1");
    jar.forget_ended(1_010);
    assert_eq!(sent(&jar, "/", false), "a=3; e=1");
}

#[test]
fn dates_are_read_as_servers_write_them() {
    for date in
        ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
    {
        let mut jar = Jar::default();
        jar.set(format!("a=1; Expires={date}").as_bytes(), "h", b"/", false, 784_111_776);
        assert_eq!(sent(&jar, "/", false), "a=1", "{date}");
        jar.forget_ended(784_111_777);
        assert!(jar.is_empty(), "{date}");
    }
    for date in [
        "",
        "x",
        "Sun, 99 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 28:49:37 GMT",
        "::",
        "1:2 3 Feb 9999999999",
    ] {
        assert!(!jar(&[&format!("a=1; Expires={date}")], false).has_ends(), "{date}");
    }
}

#[test]
fn cookies_of_others_and_bad_ones_are_not_kept() {
    let bad = [
        "novalue",
        "=x",
        "a=b\x01",
        "a=1; Domain=other.example",
        "a=1; Domain=op.example",
        "a=1; Domain=x.shop.example",
        "a=1; Secure",
    ];
    assert!(jar(&bad, false).is_empty());
    let huge = format!("a={}", "x".repeat(5000));
    assert!(jar(&[&huge], false).is_empty());
    let good = jar(
        &["a=1; Domain=.SHOP.example; Path=/", "b=1; Domain=example; Path=/", "c=; Domain=; Path=/"],
        false,
    );
    assert_eq!(sent(&good, "/", false), "a=1; b=1; c=");
    let secure = jar(&["a=1; Secure; Path=/"], true);
    assert_eq!((sent(&secure, "/", true).as_str(), sent(&secure, "/", false).as_str()), ("a=1", ""));
}

#[test]
fn a_jar_has_an_end() {
    let mut jar = Jar::default();
    for number in 0..10_000 {
        jar.set(format!("n{number}=1").as_bytes(), "h", b"/", false, 0);
    }
    assert_eq!(sent(&jar, "/", false).split("; ").count(), 180);
}

/// Also where cookies grow that are there already; a longer path saves none.
#[test]
fn a_jar_has_an_end_in_bytes() {
    let mut jar = jar(&["old=1; Path=/a/b"], false);
    for value in ["1".to_owned(), "x".repeat(4000)] {
        for number in 0..100 {
            jar.set(format!("n{number}={value}; Path=/").as_bytes(), "h", b"/", false, 0);
        }
    }
    let kept = sent(&jar, "/a/b", false);
    assert!((56_000..66_000).contains(&kept.len()), "{}", kept.len());
    assert!(kept.contains("n99=xxx") && !kept.contains("old="), "the oldest goes");
}
