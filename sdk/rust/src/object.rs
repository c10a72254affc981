// SPDX-License-Identifier: Apache-2.0
use crate::declare::Kind;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{json, Value};
use std::ops::{Deref, DerefMut};

/// An object of any kind, as JSON: `object["spec"]["replicas"]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DynamicObject(pub Value);

impl DynamicObject {
    fn meta(&self, member: &str) -> &str {
        self.0["metadata"][member].as_str().unwrap_or_default()
    }
    pub fn name(&self) -> &str {
        self.meta("name")
    }
    /// "" for objects of the cluster.
    pub fn namespace(&self) -> &str {
        self.meta("namespace")
    }
    pub fn uid(&self) -> &str {
        self.meta("uid")
    }
    pub fn resource_version(&self) -> &str {
        self.meta("resourceVersion")
    }
    pub fn generation(&self) -> i64 {
        self.0["metadata"]["generation"].as_i64().unwrap_or(0)
    }
    pub fn is_deleting(&self) -> bool {
        !self.meta("deletionTimestamp").is_empty()
    }
    pub fn label(&self, key: &str) -> Option<&str> {
        self.0["metadata"]["labels"][key].as_str()
    }
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.0["metadata"]["annotations"][key].as_str()
    }
    pub fn has_finalizer(&self, finalizer: &str) -> bool {
        self.finalizers().any(|f| f == finalizer)
    }
    pub(crate) fn finalizers(&self) -> impl Iterator<Item = &Value> {
        self.0["metadata"]["finalizers"].as_array().map(Vec::as_slice).unwrap_or_default().iter()
    }
    /// A reference to this object, for `metadata.ownerReferences` of what it owns.
    pub fn owner_reference(&self, kind: Kind) -> Value {
        json!({
            "apiVersion": kind.api_version(), "kind": kind.kind, "name": self.name(), "uid": self.uid(),
            "controller": true, "blockOwnerDeletion": true,
        })
    }
}

impl Deref for DynamicObject {
    type Target = Value;
    fn deref(&self) -> &Value {
        &self.0
    }
}
impl DerefMut for DynamicObject {
    fn deref_mut(&mut self) -> &mut Value {
        &mut self.0
    }
}
impl Serialize for DynamicObject {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}
impl<'de> Deserialize<'de> for DynamicObject {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<DynamicObject, D::Error> {
        Value::deserialize(d).map(DynamicObject)
    }
}

/// One entry of `status.conditions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub kind: String,
    pub status: bool,
    pub reason: String,
    pub message: String,
}

impl Condition {
    /// `Condition::new("Ready", true, "Made", "everything is there")`
    pub fn new(kind: &str, status: bool, reason: &str, message: impl Into<String>) -> Condition {
        Condition { kind: kind.to_owned(), status, reason: reason.to_owned(), message: message.into() }
    }

    /// These conditions with this one set; `None` when they say so already. The time of the transition
    /// moves only with the status.
    pub(crate) fn merged(&self, old: &Value, generation: i64, now: &str) -> Option<Value> {
        let list = old.as_array().map(Vec::as_slice).unwrap_or_default();
        let before = list.iter().find(|c| c["type"] == self.kind.as_str());
        let status = if self.status { "True" } else { "False" };
        let since = match before {
            Some(c) if c["status"] == status => c["lastTransitionTime"].clone(),
            _ => now.into(),
        };
        let after = json!({
            "type": self.kind, "status": status, "observedGeneration": generation,
            "lastTransitionTime": since, "reason": self.reason, "message": self.message,
        });
        if before == Some(&after) {
            return None;
        }
        let mut merged: Vec<Value> =
            list.iter().filter(|c| c["type"] != self.kind.as_str()).cloned().collect();
        merged.push(after);
        Some(merged.into())
    }
}

/// Seconds since 1970 as RFC 3339 in UTC.
pub fn rfc3339(seconds: u64) -> String {
    let (days, s) = (seconds / 86400, seconds % 86400);
    // Days to a date, counting years from March so that leap days come last.
    let z = days + 719_468;
    let era_day = z % 146_097;
    let era_year = (era_day - era_day / 1460 + era_day / 36524 - era_day / 146_096) / 365;
    let year_day = era_day - (365 * era_year + era_year / 4 - era_year / 100);
    let m = (5 * year_day + 2) / 153;
    let (month, day) = (if m < 10 { m + 3 } else { m - 9 }, year_day - (153 * m + 2) / 5 + 1);
    let year = z / 146_097 * 400 + era_year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", s / 3600, s / 60 % 60, s % 60)
}
