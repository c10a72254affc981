// SPDX-License-Identifier: Apache-2.0
//! What a Tenant asks for, as objects. Pure.

use dormouse_operator::{json, kinds, DynamicObject, Kind, Value};

pub const LABEL: &str = "tenancy.dormouse.dev/tenant";

/// One kind of object inside of a tenant's namespace.
pub struct Child {
    pub kind: Kind,
    make: fn(&Value) -> Vec<Value>,
}

pub const CHILDREN: [Child; 3] = [
    Child { kind: kinds::RESOURCE_QUOTA, make: quotas },
    Child { kind: kinds::LIMIT_RANGE, make: limit_ranges },
    Child { kind: kinds::ROLE_BINDING, make: role_bindings },
];

/// The objects of one kind, with type and labels.
pub fn wanted(tenant: &DynamicObject, tenant_name: &str, child: &Child) -> Vec<Value> {
    let mut objects = (child.make)(&tenant["spec"]);
    for object in &mut objects {
        object["apiVersion"] = child.kind.api_version().into();
        object["kind"] = child.kind.kind.into();
        object["metadata"]["labels"][LABEL] = tenant_name.into();
    }
    objects
}

/// The namespace with the labels and annotations that the tenant asks for.
pub fn namespace(tenant: &Value, name: &str, tenant_name: &str) -> Value {
    let mut labels = tenant["spec"]["labels"].clone();
    labels[LABEL] = tenant_name.into();
    let mut metadata = json!({"name": name, "labels": labels});
    if tenant["spec"]["annotations"].is_object() {
        metadata["annotations"] = tenant["spec"]["annotations"].clone();
    }
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
}

fn quotas(spec: &Value) -> Vec<Value> {
    match &spec["quota"] {
        Value::Object(hard) if !hard.is_empty() => {
            vec![json!({"metadata": {"name": "tenant"}, "spec": {"hard": hard}})]
        }
        _ => Vec::new(),
    }
}

/// Defaults for containers that say nothing, and the most that one may ask for.
fn limit_ranges(spec: &Value) -> Vec<Value> {
    let mut limit = json!({"type": "Container"});
    for key in ["default", "defaultRequest", "max", "min"] {
        if spec["limits"][key].is_object() {
            limit[key] = spec["limits"][key].clone();
        }
    }
    match limit.as_object().map(|l| l.len()) {
        Some(1) => Vec::new(),
        _ => vec![json!({"metadata": {"name": "tenant"}, "spec": {"limits": [limit]}})],
    }
}

/// One binding for each role that somebody has.
fn role_bindings(spec: &Value) -> Vec<Value> {
    let members = spec["members"].as_array().map(Vec::as_slice).unwrap_or_default();
    ["admin", "edit", "view"]
        .iter()
        .filter_map(|role| {
            let subjects: Vec<Value> = members.iter().filter(|m| m["role"] == *role).map(subject).collect();
            (!subjects.is_empty()).then(|| {
                json!({
                    "metadata": {"name": format!("tenant-{role}")},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                    "subjects": subjects,
                })
            })
        })
        .collect()
}

fn subject(member: &Value) -> Value {
    match member["kind"].as_str() {
        Some("ServiceAccount") => {
            json!({"kind": "ServiceAccount", "name": member["name"], "namespace": member["namespace"]})
        }
        kind => json!({
            "apiGroup": "rbac.authorization.k8s.io", "kind": kind.unwrap_or("User"), "name": member["name"],
        }),
    }
}
