// SPDX-License-Identifier: Apache-2.0
//! One activation.

use crate::api::{Cache, Patch, Resource, Settings};
use crate::declare::{Controller, Kind};
use crate::error::{Error, Optional, Result};
use crate::object::{rfc3339, Condition, DynamicObject};
use crate::tell::{self, EventType};
use serde::de::DeserializeOwned;
use serde_json::{json, Map as Members, Value};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How a reconcile ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action(pub(crate) i64);

impl Action {
    pub fn done() -> Action {
        Action(0)
    }
    /// Once more after this time, unless something happens before.
    pub fn requeue_after(after: Duration) -> Action {
        Action((after.as_millis().min(1 << 40) as i64).max(1))
    }
}

/// What an object is to its finalizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It has the finalizer; go on.
    Alive,
    /// It is being deleted, and cleaning up has not ended: nothing more to do now.
    Leaving,
    /// It was cleaned up after, or never was ours, or is not there: nothing more to do.
    Gone,
}

/// How far cleaning up has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleanup {
    Done,
    /// Something is still going; an event of a watched object, or a requeue, brings the key back.
    Pending,
}

/// The key that is to be reconciled, why, and its object.
pub struct Context {
    pub(crate) kind: Kind,
    /// "" for objects of the cluster.
    pub namespace: String,
    pub name: String,
    /// Why, since the last time: "create", "update", "owned", "retry", ...
    pub reasons: Vec<String>,
    /// Failures in a row.
    pub attempt: u64,
    /// The primary as the cache has it; `None` when it is not there. Helpers that write to it put the
    /// answer here.
    pub object: Option<DynamicObject>,
}

const NO_KIND: Kind = Kind::cluster("", "", "", "");

impl Context {
    pub(crate) fn empty() -> Context {
        Context {
            kind: NO_KIND,
            namespace: String::new(),
            name: String::new(),
            reasons: Vec::new(),
            attempt: 0,
            object: None,
        }
    }

    pub(crate) fn of(controller: &Controller, activation: &mut Value) -> Result<Context> {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text(&activation["namespace"]), text(&activation["name"]));
        let object = match activation.get_mut("object") {
            Some(Value::Null) => None,
            Some(object) => Some(DynamicObject(object.take())),
            None => Cache::of(&controller.primary).get(&namespace, &name).optional()?, // a large one
        };
        Ok(Context {
            kind: controller.kind,
            namespace,
            name,
            reasons: activation["reasons"]
                .as_array()
                .map(|l| l.iter().map(text).collect())
                .unwrap_or_default(),
            attempt: activation["attempt"].as_u64().unwrap_or(0),
            object,
        })
    }

    /// The primary as a type of the operator's; `None` when it is not there.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        self.object.as_ref().map(|o| T::deserialize(&o.0).map_err(Error::from)).transpose()
    }

    /// Objects of any kind, through the API.
    pub fn resource<T: DeserializeOwned>(&self, kind: Kind) -> Resource<T> {
        Resource::of(kind)
    }
    /// The primary's kind and namespace, through the API.
    pub fn primaries<T: DeserializeOwned>(&self) -> Resource<T> {
        Resource::of(self.kind).namespace(&self.namespace)
    }
    /// Objects of a declared watch, from the cache.
    pub fn cache<T: DeserializeOwned>(&self, watch: &str) -> Cache<T> {
        Cache::of(watch)
    }
    /// A declared configuration.
    pub fn settings(&self, name: &str) -> Result<Settings> {
        Settings::read(name)
    }
    /// For `metadata.ownerReferences` of what the primary owns.
    pub fn owner_reference(&self) -> Value {
        self.object.as_ref().map_or(Value::Null, |o| o.owner_reference(self.kind))
    }
    /// An Event about the primary.
    pub fn event(&self, sort: EventType, reason: &str, action: &str, note: &str) {
        let named = json!({"metadata": {"namespace": self.namespace, "name": self.name}});
        let named = DynamicObject(named);
        tell::event(self.kind, self.object.as_ref().unwrap_or(&named), sort, reason, action, note);
    }

    fn set_finalizer(&mut self, finalizer: &str, present: bool) -> Result<()> {
        let Some(object) = &self.object else { return Ok(()) };
        let mut list: Vec<Value> = object.finalizers().filter(|f| *f != finalizer).cloned().collect();
        if present {
            list.push(finalizer.into());
        }
        let patch = json!({"metadata": {"resourceVersion": object.resource_version(), "finalizers": list}});
        self.object = Some(self.primaries().patch(&self.name, &Patch::Merge(&patch))?);
        Ok(())
    }

    /// The whole life of a finalizer: adds it while the object is alive; once it is being deleted, runs
    /// `clean` until that is done, and then takes it away. Call it before anything else is made.
    pub fn finalizer(
        &mut self,
        finalizer: &str,
        clean: impl FnOnce(&mut Context) -> Result<Cleanup>,
    ) -> Result<Life> {
        let Some(object) = &self.object else { return Ok(Life::Gone) };
        let has = object.has_finalizer(finalizer);
        if !object.is_deleting() {
            if !has {
                self.set_finalizer(finalizer, true)?;
            }
            return Ok(Life::Alive);
        }
        if has {
            if clean(self)? == Cleanup::Pending {
                return Ok(Life::Leaving);
            }
            self.set_finalizer(finalizer, false).optional()?; // gone meanwhile is what was wanted
        }
        Ok(Life::Gone)
    }

    /// Write the primary's status: these members (an object), observedGeneration, and conditions. Others
    /// stay. Nothing is sent when the object says all of it already.
    pub fn set_status(&mut self, members: Value, conditions: &[Condition]) -> Result<()> {
        let Some(object) = &self.object else { return Ok(()) };
        let generation = object.generation();
        let mut wanted = match members {
            Value::Object(members) => members,
            _ => Members::new(),
        };
        wanted.insert("observedGeneration".to_owned(), generation.into());
        let mut list = object["status"]["conditions"].clone();
        for condition in conditions {
            if let Some(merged) = condition.merged(&list, generation, &now()) {
                list = merged;
            }
        }
        if !list.is_null() {
            wanted.insert("conditions".to_owned(), list);
        }
        if wanted.iter().all(|(key, value)| object["status"].get(key) == Some(value)) {
            return Ok(());
        }
        let patch = json!({"metadata": {"resourceVersion": object.resource_version()}, "status": wanted});
        let status = self.primaries().subresource("status");
        self.object = Some(status.patch(&self.name, &Patch::Merge(&patch))?);
        Ok(())
    }
}

fn now() -> String {
    rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}
