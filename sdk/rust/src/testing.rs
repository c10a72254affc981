// SPDX-License-Identifier: Apache-2.0
//! A host for unit tests of operators, on the machine that builds them.
//!
//! A test says how API requests and reads are answered, activates the operator, and looks at what it
//! asked for. Each thread has a host of its own.
//!
//! ```
//! use dormouse_operator::{testing, *};
//! fn reconcile(ctx: &mut Context) -> Result<Action> {
//!     ctx.resource::<DynamicObject>(kinds::CONFIG_MAP).namespace(&ctx.namespace).get("c")?;
//!     Ok(Action::done())
//! }
//! fn define() -> Operator {
//!     Operator::new("o", "1").controller(Controller::new("c", kinds::SECRET, reconcile))
//! }
//! testing::start(define);
//! testing::answer_api(|call| match call.target.as_str() {
//!     "/api/v1/namespaces/a/configmaps/c" => (404, json!({"reason": "NotFound", "message": "no c"})),
//!     _ => (500, json!({})),
//! });
//! let outcome = testing::reconcile("c", "a", "s", json!({}));
//! assert_eq!(outcome.value, -1);
//! assert_eq!(outcome.message, "NotFound: no c");
//! assert_eq!(outcome.calls[0].method, "GET");
//! ```

use crate::declare::Operator;
use serde_json::{json, Value};
use std::cell::RefCell;

/// A request to the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    /// `Null` when there was none.
    pub body: Value,
}

/// What came of an activation.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// As in section 4 of the ABI: 0, milliseconds, -1, -2.
    pub value: i64,
    /// Of a failure.
    pub message: String,
    pub calls: Vec<Call>,
    /// (level, text, pairs)
    pub log: Vec<(u32, String, Value)>,
    pub events: Vec<Value>,
    pub enqueued: Vec<Value>,
    /// (index, value, labels)
    pub metrics: Vec<(u32, f64, Value)>,
}

type Api = Box<dyn FnMut(&Call) -> (u16, Value)>;
type Read = Box<dyn FnMut(&Value) -> Result<Value, i64>>;

#[derive(Default)]
struct Host {
    result: Vec<u8>,
    seen: Outcome,
    declaration: Value,
    api: Option<Api>,
    cache: Option<Read>,
    config: Option<Read>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::default();
}

fn with<T>(f: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with(|host| f(&mut host.borrow_mut()))
}

/// Start an operator; returns its declaration. Once per thread.
pub fn start(define: fn() -> Operator) -> Value {
    assert_eq!(crate::setup(define), 0, "an operator was started in this thread before");
    with(|h| h.declaration.clone())
}

/// How API requests are answered: status and body. Without it: 404.
pub fn answer_api(f: impl FnMut(&Call) -> (u16, Value) + 'static) {
    with(|h| h.api = Some(Box::new(f)));
}
/// How queries of the cache are answered: the object or list, or an error code of the ABI. Without it: -2.
pub fn answer_cache(f: impl FnMut(&Value) -> Result<Value, i64> + 'static) {
    with(|h| h.cache = Some(Box::new(f)));
}
/// How configurations are read; the argument is the name.
pub fn answer_config(f: impl FnMut(&Value) -> Result<Value, i64> + 'static) {
    with(|h| h.config = Some(Box::new(f)));
}

/// Any activation.
pub fn activate(what: &Value) -> Outcome {
    with(|h| {
        h.seen = Outcome::default();
        h.result = what.to_string().into_bytes();
    });
    let value = crate::activate();
    with(|h| Outcome { value, ..std::mem::take(&mut h.seen) })
}

/// A reconcile of one key; `object` is `Null` for one that is gone.
pub fn reconcile(controller: &str, namespace: &str, name: &str, object: Value) -> Outcome {
    activate(&json!({
        "type": "reconcile", "controller": controller, "namespace": namespace, "name": name,
        "reasons": ["update"], "attempt": 0, "object": object,
    }))
}

// ---- the imports ----

fn parse(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(bytes)
        .unwrap_or_else(|e| panic!("not JSON: {e}: {}", String::from_utf8_lossy(bytes)))
}

fn leave(bytes: Vec<u8>) -> i64 {
    let n = bytes.len() as i64;
    with(|h| h.result = bytes);
    n
}

fn read(taken: Option<Read>, put_back: fn(&mut Host, Read), query: &Value) -> i64 {
    let Some(mut f) = taken else {
        leave(b"no such object".to_vec());
        return -2;
    };
    let answer = f(query);
    with(|h| put_back(h, f));
    match answer {
        Ok(v) => leave(v.to_string().into_bytes()),
        Err(code) => {
            leave(format!("the test says {code}").into_bytes());
            code
        }
    }
}

pub(crate) fn call_declare(json: &[u8]) -> i64 {
    with(|h| h.declaration = parse(json));
    leave(Vec::new())
}

pub(crate) fn call_api_request(head: &[u8], body: &[u8]) -> i64 {
    let head = std::str::from_utf8(head).expect("a head is UTF-8");
    let mut lines = head.lines();
    let (method, target) = lines.next().and_then(|l| l.split_once(' ')).expect("METHOD TARGET");
    let headers = lines.filter_map(|l| l.split_once(": ")).map(|(k, v)| (k.to_owned(), v.to_owned()));
    let call = Call {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.collect(),
        body: parse(body),
    };
    let (status, answer) = match with(|h| h.api.take()) {
        Some(mut f) => {
            let answer = f(&call);
            with(|h| h.api = Some(f));
            answer
        }
        None => (404, json!({"reason": "NotFound", "message": "no API in this test"})),
    };
    with(|h| h.seen.calls.push(call));
    let mut bytes = u32::from(status).to_le_bytes().to_vec();
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(answer.to_string().into_bytes());
    leave(bytes)
}

pub(crate) fn call_cache_get(query: &[u8]) -> i64 {
    read(with(|h| h.cache.take()), |h, f| h.cache = Some(f), &parse(query))
}

pub(crate) fn call_cache_list(query: &[u8]) -> i64 {
    call_cache_get(query)
}

pub(crate) fn call_config_get(name: &[u8]) -> i64 {
    let name = String::from_utf8_lossy(name).into_owned();
    read(with(|h| h.config.take()), |h, f| h.config = Some(f), &name.into())
}

pub(crate) fn call_fail_message(text: &[u8]) {
    with(|h| h.seen.message = String::from_utf8_lossy(text).into_owned());
}

pub(crate) fn call_log(level: u32, text: &[u8], pairs: &[u8]) {
    let text = String::from_utf8_lossy(text).into_owned();
    with(|h| h.seen.log.push((level, text, parse(pairs))));
}

pub(crate) fn call_enqueue(json: &[u8]) {
    with(|h| h.seen.enqueued.push(parse(json)));
}

pub(crate) fn call_event(json: &[u8]) {
    with(|h| h.seen.events.push(parse(json)));
}

pub(crate) fn call_metric(index: u32, labels: &[u8], value: f64) {
    with(|h| h.seen.metrics.push((index, value, parse(labels))));
}

pub(crate) fn take_result() -> Vec<u8> {
    with(|h| std::mem::take(&mut h.result))
}
