// SPDX-License-Identifier: Apache-2.0
//! Log, events, metrics, and keys for later: what the host acts on after the call has returned.

use crate::abi;
use crate::declare::Kind;
use crate::object::DynamicObject;
use serde_json::{json, Map as Members, Value};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// What the macros call: `info!("copied", bytes = 3)`.
pub fn log(level: Level, text: &str, pairs: Vec<(&str, Value)>) {
    let pairs: Members<String, Value> = pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    let json = if pairs.is_empty() { String::new() } else { Value::from(pairs).to_string() };
    abi::call_log(level as u32, text.as_bytes(), json.as_bytes());
}

/// `log!(Level::Info, "copied", name = &name, bytes = 3)`; the text may be a format, `"copied {name}"`.
#[macro_export]
macro_rules! log {
    ($level:expr, $text:literal $(, $key:ident = $value:expr)* $(,)?) => {
        $crate::log($level, &::std::format!($text), ::std::vec![$((stringify!($key), $crate::json!($value))),*])
    };
}
#[macro_export]
macro_rules! debug { ($($all:tt)*) => { $crate::log!($crate::Level::Debug, $($all)*) }; }
#[macro_export]
macro_rules! info { ($($all:tt)*) => { $crate::log!($crate::Level::Info, $($all)*) }; }
#[macro_export]
macro_rules! warn { ($($all:tt)*) => { $crate::log!($crate::Level::Warn, $($all)*) }; }
#[macro_export]
macro_rules! error { ($($all:tt)*) => { $crate::log!($crate::Level::Error, $($all)*) }; }

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    Normal,
    Warning,
}

const NOTE_MAX: usize = 1024;

/// An Event about an object; reason "Issued", action "Issue", and a sentence.
pub fn event(kind: Kind, object: &DynamicObject, sort: EventType, reason: &str, action: &str, note: &str) {
    let mut regarding = json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "name": object.name(), "uid": object.uid(),
    });
    if !object.namespace().is_empty() {
        regarding["namespace"] = object.namespace().into();
    }
    let mut end = note.len().min(NOTE_MAX);
    while !note.is_char_boundary(end) {
        end -= 1;
    }
    let sort = match sort {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    let body = json!({
        "type": sort, "reason": reason, "action": action, "note": &note[..end], "regarding": regarding,
    });
    abi::call_event(body.to_string().as_bytes());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    Low,
    Normal,
    High,
}

/// Have a key of this operator reconciled.
pub fn enqueue(controller: &str, namespace: &str, name: &str, after: Duration, priority: Priority) {
    let priority = match priority {
        Priority::Low => "low",
        Priority::Normal => "normal",
        Priority::High => "high",
    };
    let body = json!({
        "controller": controller, "namespace": namespace, "name": name,
        "afterMs": after.as_millis() as u64, "priority": priority,
    });
    abi::call_enqueue(body.to_string().as_bytes());
}

/// A metric of the operator's own; a static that `Operator::metric()` declares.
///
/// ```no_run
/// # use dormouse_operator::Metric;
/// static MADE: Metric = Metric::counter("made_total", "Objects made.", &["kind"]);
/// MADE.record(1.0, &["Secret"]);
/// ```
pub struct Metric {
    name: &'static str,
    sort: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
    buckets: &'static [f64],
    index: AtomicU32, // u32::MAX: not declared
}

impl Metric {
    const fn new(
        name: &'static str,
        sort: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
        buckets: &'static [f64],
    ) -> Metric {
        Metric { name, sort, help, labels, buckets, index: AtomicU32::new(u32::MAX) }
    }
    pub const fn counter(name: &'static str, help: &'static str, labels: &'static [&'static str]) -> Metric {
        Metric::new(name, "counter", help, labels, &[])
    }
    pub const fn gauge(name: &'static str, help: &'static str, labels: &'static [&'static str]) -> Metric {
        Metric::new(name, "gauge", help, labels, &[])
    }
    pub const fn histogram(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
        buckets: &'static [f64],
    ) -> Metric {
        Metric::new(name, "histogram", help, labels, buckets)
    }

    pub(crate) fn set_index(&self, index: usize) {
        self.index.store(index as u32, Ordering::Relaxed);
    }
    pub(crate) fn declaration(&self) -> Value {
        let mut v = json!({"name": self.name, "type": self.sort, "help": self.help});
        if !self.labels.is_empty() {
            v["labels"] = self.labels.into();
        }
        if !self.buckets.is_empty() {
            v["buckets"] = self.buckets.into();
        }
        v
    }

    /// A counter adds, a gauge is set, a histogram observes. `labels`: as many as were declared.
    pub fn record(&self, value: f64, labels: &[&str]) {
        let index = self.index.load(Ordering::Relaxed);
        assert!(index != u32::MAX, "metric {} was not declared", self.name);
        assert_eq!(labels.len(), self.labels.len(), "labels of metric {}", self.name);
        let json = if labels.is_empty() { String::new() } else { Value::from(labels.to_vec()).to_string() };
        abi::call_metric(index, json.as_bytes(), value);
    }
}
