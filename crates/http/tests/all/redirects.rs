//! Where redirects lead, and what is asked there.

use brimline_http::Redirected;
use brimline_http::redirect::{Destination, resolve};
use serde_json::json;

use crate::requests;

#[test]
fn a_location_is_resolved_against_the_request() {
    let get = json!([{"method": "GET", "target": [{"text": "/"}]}]);
    let (_, plain) = requests(&get, &json!({}), &[]);
    let (_, secure) = requests(&get, &json!({"tls": true, "authority": "shop.example"}), &[]);
    let cases = [
        ("/x?y#z", "/x?y"),
        ("x", "/a/x"),
        ("./x/../y/.", "/a/y/"),
        ("../../../x", "/x"),
        ("?q", "/a/b?q"),
        ("#part", "/a/b?c"),
        ("", "/a/b?c"),
        ("http://shop.example:8080/x", "/x"),
        ("HTTP://Shop.Example:8080?q", "/?q"),
        ("//shop.example:8080", "/"),
        ("/a b\u{e9}", "/a%20b%C3%A9"),
        ("x:y/z", ""),
        ("https://shop.example:8080/x", ""),
        ("http://shop.example/x", ""),
        ("//other/x", ""),
        ("mailto:a@b", ""),
    ];
    for (location, here) in cases {
        let found = resolve(location.as_bytes(), b"/a/b?c", &plain);
        let expected =
            if here.is_empty() { Destination::Elsewhere } else { Destination::Here(here.to_owned()) };
        assert_eq!(found, expected, "{location}");
    }
    assert_eq!(resolve(b"https://shop.example:443/x", b"/", &secure), Destination::Here("/x".to_owned()));
    assert_eq!(resolve(b"http://shop.example/x", b"/", &secure), Destination::Elsewhere);
    assert_eq!(resolve(b"/\xff", b"/", &secure), Destination::Elsewhere);
    assert_eq!(resolve(&b"/x".repeat(20_000), b"/", &secure), Destination::Elsewhere);
}

#[test]
fn what_follows_a_redirect_has_the_method_and_body_that_the_status_says() {
    let headers = json!([
        {"name": "Content-Type", "value": [{"text": "a/b"}]},
        {"name": "cookie", "value": [{"text": "own=1"}]},
        {"name": "x", "value": [{"text": "y"}]},
    ]);
    let specs = json!([
        {"method": "POST", "target": [{"text": "/a"}], "headers": headers, "body": [{"text": "body"}]},
        {"method": "HEAD", "target": [{"text": "/a"}]},
    ]);
    let (requests, surroundings) = requests(&specs, &json!({}), &[]);
    let follow = |step, status| {
        let mut out = Vec::new();
        let rendered =
            requests.render(step, &surroundings, b"\x05\0\0\0\0", None, &mut Vec::new(), &mut out).unwrap();
        let mut next = Vec::new();
        let again =
            Redirected { status, target: "/b/c", is_secure: false }.render(&out, &rendered, None, &mut next);
        assert_eq!(
            (&next[again.target], &next[again.body.clone()].is_empty()),
            (&b"/b/c"[..], &again.body.is_empty())
        );
        String::from_utf8(next).unwrap()
    };
    for status in [301, 302, 303] {
        let next = follow(0, status);
        assert!(next.starts_with("GET /b/c HTTP/1.1\r\nHost: shop"), "{next}");
        assert!(next.ends_with("\r\nx: y\r\nCookie: own=1\r\n\r\n"), "{next}");
        assert!(!next.to_ascii_lowercase().contains("content-"), "{next}");
    }
    for status in [307, 308] {
        let next = follow(0, status);
        assert!(
            next.starts_with("POST /b/c HTTP/1.1\r\n") && next.contains("Content-Type: a/b\r\n"),
            "{next}"
        );
        assert!(next.ends_with("\r\nCookie: own=1\r\nContent-Length: 4\r\n\r\nbody"), "{next}");
    }
    assert!(follow(1, 303).starts_with("HEAD /b/c HTTP/1.1\r\n"));
}
