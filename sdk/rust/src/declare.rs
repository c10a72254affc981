// SPDX-License-Identifier: Apache-2.0
//! What an operator is about: kinds, watches, controllers, and their declaration for the host.

use crate::context::{Action, Context};
use crate::error::Result;
use crate::tell::Metric;
use serde_json::{json, Map as Members, Value};
use std::time::Duration;

/// A kind of object and its place in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// "" for the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
}

impl Kind {
    pub const fn namespaced(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Kind {
        Kind { group, version, kind, plural, namespaced: true }
    }
    pub const fn cluster(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Kind {
        Kind { group, version, kind, plural, namespaced: false }
    }
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// Kinds that many operators need.
pub mod kinds {
    use super::Kind;
    pub const NAMESPACE: Kind = Kind::cluster("", "v1", "Namespace", "namespaces");
    pub const CONFIG_MAP: Kind = Kind::namespaced("", "v1", "ConfigMap", "configmaps");
    pub const SECRET: Kind = Kind::namespaced("", "v1", "Secret", "secrets");
    pub const SERVICE: Kind = Kind::namespaced("", "v1", "Service", "services");
    pub const SERVICE_ACCOUNT: Kind = Kind::namespaced("", "v1", "ServiceAccount", "serviceaccounts");
    pub const POD: Kind = Kind::namespaced("", "v1", "Pod", "pods");
    pub const RESOURCE_QUOTA: Kind = Kind::namespaced("", "v1", "ResourceQuota", "resourcequotas");
    pub const LIMIT_RANGE: Kind = Kind::namespaced("", "v1", "LimitRange", "limitranges");
    pub const DEPLOYMENT: Kind = Kind::namespaced("apps", "v1", "Deployment", "deployments");
    pub const JOB: Kind = Kind::namespaced("batch", "v1", "Job", "jobs");
    const RBAC: &str = "rbac.authorization.k8s.io";
    pub const ROLE: Kind = Kind::namespaced(RBAC, "v1", "Role", "roles");
    pub const ROLE_BINDING: Kind = Kind::namespaced(RBAC, "v1", "RoleBinding", "rolebindings");
}

/// Which events make work.
#[derive(Debug, Clone)]
pub struct Predicate(Value);

impl Predicate {
    /// metadata.generation: the spec has changed, or deletion has begun.
    pub fn generation_changed() -> Predicate {
        Predicate(json!({"changed": "generation"}))
    }
    pub fn labels_changed() -> Predicate {
        Predicate(json!({"changed": "labels"}))
    }
    pub fn annotations_changed() -> Predicate {
        Predicate(json!({"changed": "annotations"}))
    }
    pub fn resource_version_changed() -> Predicate {
        Predicate(json!({"changed": "resourceVersion"}))
    }
    /// "create", "update", "delete".
    pub fn on(events: &[&str]) -> Predicate {
        Predicate(json!({"on": events}))
    }
    pub fn labelled(selector: &str) -> Predicate {
        Predicate(json!({"labels": selector}))
    }
    pub fn and(self, other: Predicate) -> Predicate {
        Predicate(json!({"and": [self.0, other.0]}))
    }
    pub fn or(self, other: Predicate) -> Predicate {
        Predicate(json!({"or": [self.0, other.0]}))
    }
}

impl std::ops::Not for Predicate {
    type Output = Predicate;
    fn not(self) -> Predicate {
        Predicate(json!({"not": self.0}))
    }
}

/// Which keys of a controller an object of another kind is about.
#[derive(Debug, Clone)]
pub struct Map(Value);

impl Map {
    pub fn owner() -> Map {
        Map(json!({"owner": true}))
    }
    /// Named by a field, in the object's own namespace.
    pub fn field(name: &str) -> Map {
        Map(json!({"field": name}))
    }
    pub fn fields(name: &str, namespace: &str) -> Map {
        Map(json!({"field": name, "namespaceField": namespace}))
    }
    pub fn label(key: &str) -> Map {
        Map(json!({"label": key}))
    }
    pub fn annotation(key: &str) -> Map {
        Map(json!({"annotation": key}))
    }
    /// Primaries whose index has the object's "name", "namespacedName" or "uid".
    pub fn index(index: &str, value: &str) -> Map {
        Map(json!({"index": index, "value": value}))
    }
    pub fn all() -> Map {
        Map(json!({"all": true}))
    }
    pub fn all_in_namespace() -> Map {
        Map(json!({"all": true, "sameNamespace": true}))
    }
    pub fn key(namespace: &str, name: &str) -> Map {
        Map(json!({"key": {"namespace": namespace, "name": name}}))
    }
}

/// Objects that the host watches and caches for this operator.
#[derive(Debug, Clone)]
pub struct Watch(Members<String, Value>);

impl Watch {
    /// All objects of a kind. Its id, for reads, is the plural name; `id()` chooses another.
    pub fn of(kind: Kind) -> Watch {
        Watch(Members::new())
            .set("id", kind.plural)
            .set("apiVersion", kind.api_version())
            .set("kind", kind.kind)
    }
    fn set(mut self, key: &str, value: impl Into<Value>) -> Watch {
        self.0.insert(key.to_owned(), value.into());
        self
    }
    fn push(mut self, key: &str, value: Value) -> Watch {
        if let Value::Array(list) = self.0.entry(key).or_insert_with(|| json!([])) {
            list.push(value);
        }
        self
    }
    pub fn id(self, id: &str) -> Watch {
        self.set("id", id)
    }
    pub fn namespaces(self, names: &[&str]) -> Watch {
        self.set("namespaces", names)
    }
    pub fn name(self, name: &str) -> Watch {
        self.set("name", name)
    }
    pub fn labels(self, selector: &str) -> Watch {
        self.set("labelSelector", selector)
    }
    pub fn fields(self, selector: &str) -> Watch {
        self.set("fieldSelector", selector)
    }
    pub fn metadata_only(self) -> Watch {
        self.set("metadataOnly", true)
    }
    /// In `owns()`: owners that are not the controller count as well.
    pub fn any_owner(self) -> Watch {
        self.set("anyOwner", true)
    }
    /// A field that is not to be cached.
    pub fn strip(self, field: &str) -> Watch {
        self.push("strip", field.into())
    }
    pub fn index_field(self, name: &str, field: &str) -> Watch {
        self.push("indexes", json!({"name": name, "field": field}))
    }
    pub fn index_label(self, name: &str, label: &str) -> Watch {
        self.push("indexes", json!({"name": name, "label": label}))
    }
    pub fn index_owner(self, name: &str) -> Watch {
        self.push("indexes", json!({"name": name, "owner": true}))
    }
    pub fn when(self, predicate: Predicate) -> Watch {
        self.set("predicate", predicate.0)
    }
}

pub(crate) type Reconcile = fn(&mut Context) -> Result<Action>;

/// A kind of object that is kept as its spec says, by a function that is called with one key at a time.
pub struct Controller {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) primary: String,
    pub(crate) reconcile: Reconcile,
    members: Members<String, Value>,
    owns: Vec<Value>,
    watches: Vec<Value>,
}

impl Controller {
    /// For all objects of a kind; `for_watch()` narrows that down.
    pub fn new(name: &str, kind: Kind, reconcile: Reconcile) -> Controller {
        Controller {
            name: name.to_owned(),
            kind,
            primary: String::new(),
            reconcile,
            members: Members::new(),
            owns: Vec::new(),
            watches: Vec::new(),
        }
        .for_watch(Watch::of(kind))
    }
    fn set(mut self, key: &str, value: impl Into<Value>) -> Controller {
        self.members.insert(key.to_owned(), value.into());
        self
    }
    pub fn for_watch(mut self, watch: Watch) -> Controller {
        self.primary = watch.0["id"].as_str().unwrap_or_default().to_owned();
        self.set("for", watch.0)
    }
    pub fn owns(mut self, watch: Watch) -> Controller {
        self.owns.push(watch.0.into());
        self
    }
    pub fn watches(mut self, watch: Watch, map: Map) -> Controller {
        self.watches.push(watch.set("map", map.0).0.into());
        self
    }
    /// Keys at once; at most the operator's `instances`.
    pub fn concurrency(self, n: u32) -> Controller {
        self.set("concurrency", n)
    }
    /// Every key again after this time, 10 hours unless said; `None`: never.
    pub fn resync(self, every: Option<Duration>) -> Controller {
        self.set("resyncSeconds", every.map_or(0, |d| d.as_secs()))
    }
    pub fn backoff(self, base: Duration, max: Duration) -> Controller {
        self.set("backoff", json!({"baseMs": base.as_millis() as u64, "maxMs": max.as_millis() as u64}))
    }
    pub fn rate(self, per_second: u32, burst: u32) -> Controller {
        self.set("rate", json!({"perSecond": per_second, "burst": burst}))
    }
    /// `Action::requeue_after()` may come later by that much.
    pub fn slack_percent(self, n: u32) -> Controller {
        self.set("slackPercent", n)
    }
    /// A key waits that long after its first event, so that a burst is one reconcile.
    pub fn debounce(self, time: Duration) -> Controller {
        self.set("debounceMs", time.as_millis() as u64)
    }
    fn declaration(&self) -> Value {
        let mut v = self.members.clone();
        v.insert("name".to_owned(), self.name.clone().into());
        for (key, list) in [("owns", &self.owns), ("watches", &self.watches)] {
            if !list.is_empty() {
                v.insert(key.to_owned(), list.clone().into());
            }
        }
        v.into()
    }
}

/// A ConfigMap or a Secret with settings.
pub struct Config(Members<String, Value>);

impl Config {
    fn new(name: &str, key: &str, value: &str) -> Config {
        Config(Members::new()).set("name", name).set(key, value).set("onChange", "none")
    }
    pub fn config_map(name: &str, object: &str) -> Config {
        Config::new(name, "configMap", object)
    }
    pub fn secret(name: &str, object: &str) -> Config {
        Config::new(name, "secret", object)
    }
    fn set(mut self, key: &str, value: impl Into<Value>) -> Config {
        self.0.insert(key.to_owned(), value.into());
        self
    }
    pub fn namespace(self, namespace: &str) -> Config {
        self.set("namespace", namespace)
    }
    /// Controllers start without it.
    pub fn optional(self) -> Config {
        self.set("optional", true)
    }
    /// A change reconciles every primary.
    pub fn reconcile_on_change(self) -> Config {
        self.set("onChange", "reconcile")
    }
    /// A change calls what `Operator::on_config()` names.
    pub fn call_on_change(self) -> Config {
        self.set("onChange", "activate")
    }
}

type OnConfig = fn(&mut Context, &str) -> Result<()>;

/// All of it.
pub struct Operator {
    members: Members<String, Value>,
    pub(crate) controllers: Vec<Controller>,
    caches: Vec<Value>,
    configs: Vec<Value>,
    metrics: Vec<&'static Metric>,
    pub(crate) on_config: Option<OnConfig>,
}

impl Operator {
    pub fn new(name: &str, version: &str) -> Operator {
        Operator {
            members: Members::new(),
            controllers: Vec::new(),
            caches: Vec::new(),
            configs: Vec::new(),
            metrics: Vec::new(),
            on_config: None,
        }
        .set("abi", 1)
        .set("name", name)
        .set("version", version)
    }
    fn set(mut self, key: &str, value: impl Into<Value>) -> Operator {
        self.members.insert(key.to_owned(), value.into());
        self
    }
    pub fn controller(mut self, controller: Controller) -> Operator {
        self.controllers.push(controller);
        self
    }
    /// Objects that it reads and that never wake it.
    pub fn cache(mut self, watch: Watch) -> Operator {
        self.caches.push(watch.0.into());
        self
    }
    pub fn config(mut self, config: Config) -> Operator {
        self.configs.push(config.0.into());
        self
    }
    pub fn on_config(mut self, changed: OnConfig) -> Operator {
        self.on_config = Some(changed);
        self
    }
    pub fn metric(mut self, metric: &'static Metric) -> Operator {
        metric.set_index(self.metrics.len());
        self.metrics.push(metric);
        self
    }
    /// So many may run at once, on different keys, sharing nothing.
    pub fn instances(self, n: u32) -> Operator {
        self.set("instances", n)
    }
    /// Nothing in its memory is worth writing to disk.
    pub fn stateless(self) -> Operator {
        self.set("stateless", true)
    }
    /// What the host is told; section 3 of the ABI.
    pub fn declaration(&self) -> Value {
        let mut v = self.members.clone();
        let controllers: Vec<Value> = self.controllers.iter().map(Controller::declaration).collect();
        let metrics: Vec<Value> = self.metrics.iter().map(|m| m.declaration()).collect();
        v.insert("controllers".to_owned(), controllers.into());
        for (key, list) in
            [("caches", self.caches.clone()), ("config", self.configs.clone()), ("metrics", metrics)]
        {
            if !list.is_empty() {
                v.insert(key.to_owned(), list.into());
            }
        }
        v.into()
    }
}
