//! Requests to the letter.

use brimline_http::cookies::Jar;
use brimline_http::{Misfit, Requests};
use bson::{Bson, doc};
use serde_json::{Value, json};

use crate::requests;

const USER_AGENT: &str = concat!("User-Agent: brimline/", env!("CARGO_PKG_VERSION"), "\r\n");

/// The values of a step, as an array.
fn array(values: &[Bson]) -> Vec<u8> {
    let mut document = bson::Document::new();
    for (place, value) in values.iter().enumerate() {
        document.insert(place.to_string(), value.clone());
    }
    document.to_vec().unwrap()
}

fn render(spec: &Value, values: &[Bson]) -> Result<String, Misfit> {
    let (requests, surroundings) = requests(&json!([spec]), &json!({}), &[]);
    let mut out = Vec::new();
    let rendered = requests.render(0, &surroundings, &array(values), None, &mut Vec::new(), &mut out)?;
    assert!(out[..rendered.target.start].ends_with(b" ") && rendered.body.end == out.len());
    Ok(String::from_utf8(out).unwrap())
}

/// A value in a target, as it is sent.
fn in_target(value: impl Into<Bson>, encoding: &str) -> Result<String, Misfit> {
    let spec = json!({"method": "GET", "target": [{"text": "/"}, {"slot": 0, "as": encoding}]});
    let request = render(&spec, &[value.into()])?;
    Ok(request[5..].split(" HTTP").next().unwrap().to_owned())
}

fn in_body(value: impl Into<Bson>, encoding: &str) -> Result<String, Misfit> {
    let spec = json!({"method": "POST", "target": [{"text": "/"}], "body": [{"slot": 0, "as": encoding}]});
    let request = render(&spec, &[value.into()])?;
    Ok(request.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn a_request_says_what_a_client_says() {
    let spec = json!({"method": "GET", "target": [{"text": "/orders/"}, {"slot": 0, "as": "url"}]});
    let head = format!(
        "GET /orders/7 HTTP/1.1\r\nHost: shop.example:8080\r\n{USER_AGENT}Accept: */*\r\nAccept-Encoding: gzip\r\n\
         Connection: keep-alive\r\n\r\n"
    );
    assert_eq!(render(&spec, &[Bson::Int32(7)]).unwrap(), head);
}

#[test]
fn own_headers_stand_in_place_of_the_usual_ones() {
    let spec = json!([{
        "method": "PUT",
        "target": [{"text": "/a"}],
        "headers": [
            {"name": "accept", "value": [{"text": "application/json"}]},
            {"name": "X-Id", "value": [{"text": "n"}, {"slot": 1, "as": "text"}]},
            {"name": "Cookie", "value": [{"text": "a="}, {"slot": 0, "as": "cookie"}]},
            {"name": "User-Agent", "value": [{"text": "me"}]},
        ],
        "body": [{"text": "{\"q\":"}, {"slot": 0, "as": "json"}, {"text": "}"}],
    }]);
    let given = [("Authorization".to_owned(), "Bearer s".to_owned())];
    let (requests, surroundings) = requests(&spec, &json!({"keep_alive": false}), &given);
    let mut out = Vec::new();
    let values = array(&["é\"x".into(), Bson::Int64(5)]);
    requests.render(0, &surroundings, &values, None, &mut Vec::new(), &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "PUT /a HTTP/1.1\r\nHost: shop.example:8080\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\
         Authorization: Bearer s\r\naccept: application/json\r\nX-Id: n5\r\nUser-Agent: me\r\nCookie: a=%C3%A9%22x\r\n\
         Content-Length: 13\r\n\r\n{\"q\":\"é\\\"x\"}"
    );
}

#[test]
fn a_method_that_may_have_a_body_says_that_it_has_none() {
    for (method, says_so) in
        [("POST", true), ("PATCH", true), ("PUT", true), ("GET", false), ("DELETE", false)]
    {
        let request = render(&json!({"method": method, "target": [{"text": "/"}]}), &[]).unwrap();
        assert_eq!(request.ends_with("\r\nContent-Length: 0\r\n\r\n"), says_so, "{request}");
    }
}

#[test]
fn values_are_written_as_their_place_demands() {
    assert_eq!(in_target("a b/ü&=~", "url").unwrap(), "a%20b%2F%C3%BC%26%3D~");
    assert_eq!(in_target("a b/ü?x=\u{7f}", "text").unwrap(), "a%20b/%C3%BC?x=%7F");
    assert_eq!(in_body("a b/ü&=~*", "form").unwrap(), "a+b%2F%C3%BC%26%3D%7E*");
    assert_eq!(in_body("a b;\"%", "cookie").unwrap(), "a%20b%3B%22%25");
    assert_eq!(in_body(Bson::Null, "form").unwrap(), "");
    assert_eq!(in_body("\r\n", "text").unwrap(), "\r\n", "a body may be anything");
}

#[test]
fn json_is_relaxed() {
    let id = bson::oid::ObjectId::from_bytes([7; 12]);
    let date = bson::DateTime::from_millis(1_706_702_400_123);
    let decimal: bson::Decimal128 = "12.50".parse().unwrap();
    let value = doc! {
        "a\"": 1, "b": 5_000_000_000_i64, "c": 2.0, "d": 0.1, "e": true, "f": Bson::Null, "g": [1, "x"], "h": {}, "i": date,
        "j": id, "k": decimal, "l": f64::NAN, "m": bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1, 2] },
    };
    assert_eq!(
        in_body(value, "json").unwrap(),
        r#"{"a\"":1,"b":5000000000,"c":2.0,"d":0.1,"e":true,"f":null,"g":[1,"x"],"h":{},"i":"2024-01-31T12:00:00.123Z","#
            .to_owned()
            + r#""j":"070707070707070707070707","k":12.50,"l":null,"m":"AQI="}"#
    );
    assert_eq!(in_body(date, "text").unwrap(), "2024-01-31T12:00:00.123Z");
    assert_eq!(in_body(2.0, "text").unwrap(), "2");
    assert_eq!(in_body(doc! {"a": [1]}, "text").unwrap(), "{\"a\":[1]}");
}

#[test]
fn what_does_not_fit_is_not_sent() {
    let header = |value: &str| {
        let spec = json!({
            "method": "GET", "target": [{"text": "/"}], "headers": [{"name": "x", "value": [{"slot": 0, "as": "text"}]}],
        });
        render(&spec, &[value.into()])
    };
    assert!(header("plain ü\t").is_ok());
    for value in ["a\r\nEvil: 1", "a\nb", "a\rb", "a\0b", "\u{7f}"] {
        assert!(header(value).is_err(), "{value:?}");
    }
    let spec = json!({"method": "GET", "target": [{"text": "/"}, {"slot": 3, "as": "text"}]});
    assert!(render(&spec, &[Bson::Null]).unwrap_err().message.contains("no value 3"));
}

#[test]
fn values_may_be_used_in_any_order_and_again() {
    let slot = |slot: u32| json!({"slot": slot, "as": "text"});
    let spec = json!({"method": "POST", "target": [{"text": "/"}, slot(2), slot(0), slot(0)], "body": [slot(1), slot(2)]});
    let request = render(&spec, &["a".into(), "b".into(), "c".into()]).unwrap();
    assert!(request.starts_with("POST /caa HTTP") && request.ends_with("\r\n\r\nbc"), "{request}");
}

#[test]
fn a_target_from_a_reply_may_be_a_url_of_the_server() {
    let whole = |value: &str| {
        let spec = json!({"method": "GET", "target": [{"slot": 0, "as": "text"}]});
        render(&spec, &[value.into()]).map(|request| request.split("HTTP").next().unwrap().to_owned())
    };
    assert_eq!(whole("/a?b=1").unwrap(), "GET /a?b=1 ");
    assert_eq!(whole("http://SHOP.example:8080/a?b=1").unwrap(), "GET /a?b=1 ");
    assert_eq!(whole("http://shop.example:8080").unwrap(), "GET / ");
    for elsewhere in ["http://other.example/a", "https://shop.example:8080/", "a", "", "http://shop.example/"]
    {
        assert!(whole(elsewhere).is_err(), "{elsewhere}");
    }
}

#[test]
fn kept_cookies_follow_those_of_the_request() {
    let cookie = json!([{"name": "cookie", "value": [{"text": "own=1"}]}]);
    let specs = json!([
        {"method": "GET", "target": [{"text": "/a"}]},
        {"method": "GET", "target": [{"text": "/a"}], "headers": cookie},
    ]);
    let (requests, surroundings) = requests(&specs, &json!({}), &[]);
    let mut jar = Jar::default();
    jar.set(b"kept=2", "shop.example", b"/a", false, 0);
    for (step, line) in [(0, "\r\nCookie: kept=2\r\n\r\n"), (1, "\r\nCookie: own=1; kept=2\r\n\r\n")] {
        let mut out = Vec::new();
        requests.render(step, &surroundings, &array(&[]), Some(&jar), &mut Vec::new(), &mut out).unwrap();
        assert!(out.ends_with(line.as_bytes()), "{}", String::from_utf8_lossy(&out));
    }
}

#[test]
fn specs_that_can_not_be_requests_are_told_apart() {
    let with = |name: &str, value: Value| {
        let mut spec = json!({"method": "GET", "target": [{"text": "/"}]});
        spec[name] = value;
        let good = json!({"method": "GET", "target": [{"text": "/"}]});
        let specs: Vec<_> = serde_json::from_value(json!([good, spec])).unwrap();
        let error = Requests::new(&specs).unwrap_err();
        assert_eq!(error.step, 1);
        error.message
    };
    let header = |name: &str, value: &str| json!([{"name": name, "value": [{"text": value}]}]);
    assert!(with("method", json!("GE T")).contains("no method"));
    assert!(with("method", json!("CONNECT")).contains("no method"));
    assert!(with("target", json!([{"text": "a"}])).contains("begins with /"));
    assert!(with("target", json!([])).contains("begins with /"));
    assert!(with("target", json!([{"text": "/a#b"}])).contains('#'));
    assert!(with("headers", header("a b", "c")).contains("no name of a header"));
    assert!(with("headers", header("a", "b\r\nc: d")).contains("line end"));
    assert!(with("headers", header("Content-Length", "5")).contains("follows from"));
    let unknown = json!({"method": "GET", "target": [{"text": "/", "slot": 1}]});
    assert!(serde_json::from_value::<brimline_http::RequestSpec>(unknown).is_err());
}
