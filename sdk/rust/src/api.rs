// SPDX-License-Identifier: Apache-2.0
//! Requests to the API and reads from the cache.

use crate::abi;
use crate::declare::Kind;
use crate::error::{Error, Result};
use crate::object::DynamicObject;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Map as Members, Value};
use std::marker::PhantomData;

/// An HTTP request to the API server, with the operator's own identity.
pub struct Request<'a> {
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: &'a [u8],
}

/// A successful answer's body.
pub fn request(r: &Request<'_>) -> Result<Vec<u8>> {
    let mut head = format!("{} {}\n", r.method, r.target);
    for (name, value) in r.headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push('\n');
    }
    let code = abi::call_api_request(head.as_bytes(), r.body);
    let mut bytes = abi::take_result();
    if code < 0 {
        return Err(Error::of_host(code, &bytes));
    }
    let (status, headers, body) = parse_answer(&bytes)?;
    if !(200..300).contains(&status) {
        return Err(Error::of_answer(status, retry_after(headers), &bytes[body..]));
    }
    bytes.drain(..body);
    Ok(bytes)
}

fn parse_answer(bytes: &[u8]) -> Result<(u16, &[u8], usize)> {
    let number = |at: usize| {
        let b = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let parse = || {
        let status = u16::try_from(number(0)?).ok()?;
        let body = usize::try_from(number(4)?).ok()?.checked_add(8)?;
        Some((status, bytes.get(8..body)?, body))
    };
    parse().ok_or_else(|| Error::from("the host's answer is cut"))
}

fn retry_after(headers: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(headers).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("retry-after:"))?;
    value.trim().parse().ok()
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(b)),
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

/// Objects of one kind in one namespace (or in the cluster), as `T`: a type of your own, one of
/// k8s-openapi's, or `DynamicObject`.
pub struct Resource<T = DynamicObject> {
    kind: Kind,
    namespace: String,
    subresource: &'static str,
    of: PhantomData<T>,
}

/// The bytes of a patch and what sort it is.
pub enum Patch<'a> {
    Json(&'a Value),
    Merge(&'a Value),
    Strategic(&'a Value),
}

#[derive(Default, Clone)]
pub struct ListParams<'a> {
    pub labels: &'a str,
    pub fields: &'a str,
    /// Objects per page; 0: 500.
    pub limit: u32,
    /// Of the page before.
    pub continue_token: &'a str,
    /// `apiVersion`, `kind` and `metadata` alone.
    pub metadata_only: bool,
}

#[derive(Default, Clone)]
pub struct DeleteParams<'a> {
    /// Preconditions.
    pub uid: Option<&'a str>,
    pub resource_version: Option<&'a str>,
    /// "Background", "Foreground", "Orphan".
    pub propagation: Option<&'a str>,
    pub grace_seconds: Option<u32>,
    pub dry_run: bool,
}

#[derive(Debug)]
pub struct List<T> {
    pub items: Vec<T>,
    pub resource_version: String,
    /// "" at the end.
    pub continue_token: String,
}

impl<T: DeserializeOwned> Resource<T> {
    pub fn of(kind: Kind) -> Resource<T> {
        Resource { kind, namespace: String::new(), subresource: "", of: PhantomData }
    }
    pub fn namespace(mut self, namespace: &str) -> Resource<T> {
        self.namespace = namespace.to_owned();
        self
    }
    /// "status", "scale".
    pub fn subresource(mut self, name: &'static str) -> Resource<T> {
        self.subresource = name;
        self
    }

    fn path(&self, name: &str) -> String {
        let mut path = match self.kind.group {
            "" => format!("/api/{}", self.kind.version),
            group => format!("/apis/{group}/{}", self.kind.version),
        };
        if self.kind.namespaced && !self.namespace.is_empty() {
            path += &format!("/namespaces/{}", escape(&self.namespace));
        }
        path += &format!("/{}", self.kind.plural);
        if !name.is_empty() {
            path += &format!("/{}", escape(name));
            if !self.subresource.is_empty() {
                path += &format!("/{}", self.subresource);
            }
        }
        path
    }

    fn send(&self, method: &str, target: &str, content_type: &str, body: &impl Serialize) -> Result<T> {
        let body = serde_json::to_vec(body)?;
        let headers = [("content-type", content_type)];
        let answer = request(&Request { method, target, headers: &headers, body: &body })?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// The object as the API server has it now.
    pub fn get(&self, name: &str) -> Result<T> {
        let answer = request(&Request { method: "GET", target: &self.path(name), headers: &[], body: &[] })?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// One page.
    pub fn list(&self, p: &ListParams<'_>) -> Result<List<T>> {
        let limit = if p.limit == 0 { 500 } else { p.limit };
        let mut target = format!("{}?limit={limit}", self.path(""));
        for (name, value) in
            [("labelSelector", p.labels), ("fieldSelector", p.fields), ("continue", p.continue_token)]
        {
            if !value.is_empty() {
                target += &format!("&{name}={}", escape(value));
            }
        }
        let metadata = [("accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")];
        let headers: &[(&str, &str)] = if p.metadata_only { &metadata } else { &[] };
        parse_list(&request(&Request { method: "GET", target: &target, headers, body: &[] })?)
    }

    /// All pages, with the memory of one.
    pub fn each(&self, p: &ListParams<'_>, mut f: impl FnMut(T) -> Result<()>) -> Result<()> {
        let mut token = p.continue_token.to_owned();
        loop {
            let page = self.list(&ListParams { continue_token: &token, ..p.clone() })?;
            page.items.into_iter().try_for_each(&mut f)?;
            if page.continue_token.is_empty() {
                return Ok(());
            }
            token = page.continue_token;
        }
    }

    pub fn create(&self, object: &impl Serialize) -> Result<T> {
        self.send("POST", &self.path(""), "application/json", object)
    }
    /// A resourceVersion in the object is the condition under which it is written.
    pub fn update(&self, name: &str, object: &impl Serialize) -> Result<T> {
        self.send("PUT", &self.path(name), "application/json", object)
    }
    pub fn patch(&self, name: &str, patch: &Patch<'_>) -> Result<T> {
        let (content_type, body) = match patch {
            Patch::Json(v) => ("application/json-patch+json", v),
            Patch::Merge(v) => ("application/merge-patch+json", v),
            Patch::Strategic(v) => ("application/strategic-merge-patch+json", v),
        };
        self.send("PATCH", &self.path(name), content_type, body)
    }
    /// Server-side apply; `force` takes fields over from other managers.
    pub fn apply(&self, name: &str, object: &impl Serialize, force: bool) -> Result<T> {
        let target = format!("{}?force={force}", self.path(name));
        self.send("PATCH", &target, "application/apply-patch+yaml", object)
    }
    pub fn delete(&self, name: &str, p: &DeleteParams<'_>) -> Result<()> {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        let preconditions: Members<String, Value> = [("uid", p.uid), ("resourceVersion", p.resource_version)]
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.into())))
            .collect();
        if !preconditions.is_empty() {
            options["preconditions"] = preconditions.into();
        }
        if let Some(propagation) = p.propagation {
            options["propagationPolicy"] = propagation.into();
        }
        if let Some(grace) = p.grace_seconds {
            options["gracePeriodSeconds"] = grace.into();
        }
        if p.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        let body = serde_json::to_vec(&options)?;
        let headers = [("content-type", "application/json")];
        request(&Request { method: "DELETE", target: &self.path(name), headers: &headers, body: &body })?;
        Ok(())
    }
}

fn parse_list<T: DeserializeOwned>(bytes: &[u8]) -> Result<List<T>> {
    let mut v: Value = serde_json::from_slice(bytes)?;
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    // The API has these members in `metadata`, the cache beside the items.
    let meta = if v["metadata"].is_object() { &v["metadata"] } else { &v };
    let (resource_version, continue_token) = (text(&meta["resourceVersion"]), text(&meta["continue"]));
    let items = match v["items"].take() {
        Value::Array(items) => items.into_iter().map(T::deserialize).collect::<Result<_, _>>()?,
        _ => Vec::new(),
    };
    Ok(List { items, resource_version, continue_token })
}

/// What the host has cached for one declared watch.
pub struct Cache<T = DynamicObject> {
    watch: String,
    consistent: bool,
    of: PhantomData<T>,
}

#[derive(Default, Clone)]
pub struct Query<'a> {
    /// "": all.
    pub namespace: &'a str,
    pub labels: &'a str,
    /// An index of the watch, and the value looked for.
    pub index: Option<(&'a str, &'a str)>,
    /// "metadata", "keys"; "": full.
    pub view: &'a str,
    pub limit: u32,
    pub continue_token: &'a str,
}

impl<T: DeserializeOwned> Cache<T> {
    /// By the watch's id, which is the plural name of its kind unless it was given another.
    pub fn of(watch: &str) -> Cache<T> {
        Cache { watch: watch.to_owned(), consistent: false, of: PhantomData }
    }
    /// Answers only when the cache has seen everything that was written before the call.
    pub fn consistent(mut self) -> Cache<T> {
        self.consistent = true;
        self
    }

    pub fn get(&self, namespace: &str, name: &str) -> Result<T> {
        let mut query = json!({"watch": self.watch, "name": name});
        if !namespace.is_empty() {
            query["namespace"] = namespace.into();
        }
        let bytes = self.ask(query, abi::call_cache_get)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// One page.
    pub fn list(&self, q: &Query<'_>) -> Result<List<T>> {
        let mut query = json!({"watch": self.watch});
        for (key, value) in [
            ("namespace", q.namespace),
            ("labelSelector", q.labels),
            ("view", q.view),
            ("continue", q.continue_token),
        ] {
            if !value.is_empty() {
                query[key] = value.into();
            }
        }
        if let Some((index, value)) = q.index {
            query["index"] = index.into();
            query["value"] = value.into();
        }
        if q.limit > 0 {
            query["limit"] = q.limit.into();
        }
        parse_list(&self.ask(query, abi::call_cache_list)?)
    }

    /// All pages, with the memory of one.
    pub fn each(&self, q: &Query<'_>, mut f: impl FnMut(T) -> Result<()>) -> Result<()> {
        let mut token = q.continue_token.to_owned();
        loop {
            let page = self.list(&Query { continue_token: &token, ..q.clone() })?;
            page.items.into_iter().try_for_each(&mut f)?;
            if page.continue_token.is_empty() {
                return Ok(());
            }
            token = page.continue_token;
        }
    }

    fn ask(&self, mut query: Value, call: fn(&[u8]) -> i64) -> Result<Vec<u8>> {
        if self.consistent {
            query["consistent"] = true.into();
        }
        let code = call(&serde_json::to_vec(&query)?);
        let bytes = abi::take_result();
        if code < 0 {
            return Err(Error::of_host(code, &bytes));
        }
        Ok(bytes)
    }
}

/// A declared configuration.
#[derive(Debug, Clone, Default)]
pub struct Settings(Value);

impl Settings {
    /// Not there: `Optional::optional()` makes that `None`.
    pub fn read(name: &str) -> Result<Settings> {
        let code = abi::call_config_get(name.as_bytes());
        let bytes = abi::take_result();
        if code < 0 {
            return Err(Error::of_host(code, &bytes));
        }
        Ok(Settings(serde_json::from_slice(&bytes)?))
    }
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0["data"][key].as_str()
    }
    /// Base64, for what is not text.
    pub fn binary(&self, key: &str) -> Option<&str> {
        self.0["binaryData"][key].as_str()
    }
    pub fn resource_version(&self) -> &str {
        self.0["resourceVersion"].as_str().unwrap_or_default()
    }
}
