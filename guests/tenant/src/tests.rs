// SPDX-License-Identifier: Apache-2.0
use super::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Objects by path; enough of an API for apply, get, patch and delete.
type Cluster = Rc<RefCell<BTreeMap<String, Value>>>;

fn start() -> Cluster {
    let cluster: Cluster = Rc::default();
    testing::start(define);
    let api = cluster.clone();
    testing::answer_api(move |call| {
        let path = call.target.split('?').next().unwrap_or_default().to_owned();
        let mut objects = api.borrow_mut();
        match call.method.as_str() {
            "PATCH" if path.starts_with("/apis/tenancy") => (200, call.body.clone()),
            "PATCH" => {
                objects.insert(path, call.body.clone());
                (200, call.body.clone())
            }
            "DELETE" => {
                objects.remove(&path);
                (200, json!({}))
            }
            _ => match objects.get(&path) {
                Some(object) => (200, object.clone()),
                None => (404, json!({"reason": "NotFound", "message": path})),
            },
        }
    });
    let cached = cluster.clone();
    testing::answer_cache(move |query| {
        let plural = query["watch"].as_str().unwrap().to_owned();
        let items: Vec<Value> = cached
            .borrow()
            .iter()
            .filter(|(path, _)| path.contains(&plural))
            .map(|(_, o)| o.clone())
            .collect();
        Ok(json!({ "items": items }))
    });
    cluster
}

fn tenant(spec: Value) -> Value {
    json!({"metadata": {"name": "acme", "generation": 1, "finalizers": [FINALIZER]}, "spec": spec})
}

const FULL: &str = r#"{"labels": {"cost": "7"}, "quota": {"pods": "10"}, "limits": {"default": {"cpu": "1"}},
    "members": [{"kind": "User", "name": "ann", "role": "admin"}, {"kind": "Group", "name": "devs", "role": "edit"},
                {"kind": "ServiceAccount", "name": "ci", "namespace": "ci", "role": "edit"}]}"#;

fn full() -> Value {
    FULL.parse().unwrap()
}

#[test]
fn a_tenant_gets_what_it_asks_for_and_loses_what_it_no_longer_does() {
    let cluster = start();
    let made = testing::reconcile("tenants", "", "acme", tenant(full()));
    assert_eq!((made.value, made.message.as_str()), (0, ""));
    let paths: Vec<String> = cluster.borrow().keys().cloned().collect();
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/acme/rolebindings";
    assert_eq!(
        paths,
        [
            "/api/v1/namespaces/acme".to_owned(),
            "/api/v1/namespaces/acme/limitranges/tenant".to_owned(),
            "/api/v1/namespaces/acme/resourcequotas/tenant".to_owned(),
            format!("{rbac}/tenant-admin"),
            format!("{rbac}/tenant-edit"),
        ]
    );
    assert_eq!(cluster.borrow()[&paths[0]]["metadata"]["labels"], json!({"cost": "7", LABEL: "acme"}));
    assert_eq!(cluster.borrow()[&paths[4]]["subjects"].as_array().unwrap().len(), 2);
    let status = &made.calls.last().unwrap().body["status"];
    assert_eq!((&status["objects"], &status["conditions"][0]["status"]), (&json!(5), &json!("True")));
    assert_eq!(made.events[0]["reason"], "Provisioned");

    let less = testing::reconcile("tenants", "", "acme", tenant(json!({"quota": {"pods": "5"}})));
    assert_eq!((less.value, less.message.as_str()), (0, ""));
    assert_eq!(cluster.borrow().len(), 2);
    assert_eq!(less.metrics.len(), 3);
}

#[test]
fn a_namespace_that_is_not_its_own_is_refused_unless_it_may_be_adopted() {
    let cluster = start();
    let theirs = json!({"metadata": {"name": "acme"}});
    cluster.borrow_mut().insert("/api/v1/namespaces/acme".to_owned(), theirs.clone());
    let refused = testing::reconcile("tenants", "", "acme", tenant(json!({})));
    assert_eq!(refused.value, -2);
    assert_eq!(refused.message, "namespace acme exists and belongs to no tenant");
    assert_eq!(refused.calls.last().unwrap().body["status"]["conditions"][0]["reason"], "Refused");
    assert_eq!(cluster.borrow()["/api/v1/namespaces/acme"], theirs);
    let adopted = testing::reconcile("tenants", "", "acme", tenant(json!({"adoptNamespace": true})));
    assert_eq!(adopted.value, 0);
    let mut moved = tenant(json!({"namespace": "elsewhere"}));
    moved["status"]["namespace"] = "acme".into();
    assert_eq!(testing::reconcile("tenants", "", "acme", moved).message, "spec.namespace cannot be changed");
    let other = testing::reconcile(
        "tenants",
        "",
        "rival",
        tenant(json!({"namespace": "acme", "adoptNamespace": true})),
    );
    assert_eq!(other.message, "namespace acme exists and belongs to acme");
}

#[test]
fn a_deleted_tenant_takes_its_namespace_along_and_waits_for_it() {
    let cluster = start();
    testing::reconcile("tenants", "", "acme", tenant(json!({})));
    let mut leaving = tenant(json!({}));
    leaving["metadata"]["deletionTimestamp"] = "now".into();
    let first = testing::reconcile("tenants", "", "acme", leaving.clone());
    assert_eq!((first.value, first.calls.last().unwrap().method.as_str()), (0, "DELETE"));
    let then = testing::reconcile("tenants", "", "acme", leaving.clone());
    assert_eq!(then.calls.last().unwrap().body["metadata"]["finalizers"], json!([]));
    assert!(cluster.borrow().is_empty());

    testing::reconcile("tenants", "", "acme", tenant(json!({})));
    leaving["spec"]["deletionPolicy"] = "Retain".into();
    testing::reconcile("tenants", "", "acme", leaving);
    assert_eq!(cluster.borrow()["/api/v1/namespaces/acme"]["metadata"]["labels"][LABEL], Value::Null);
}

#[test]
fn a_failure_is_told_in_the_status_and_tried_again() {
    start();
    testing::answer_api(|call| match call.method.as_str() {
        "PATCH" if call.target.starts_with("/apis/tenancy") => (200, json!({})),
        _ => (503, json!({"reason": "ServiceUnavailable", "message": "not now"})),
    });
    let outcome = testing::reconcile("tenants", "", "acme", tenant(json!({})));
    assert_eq!((outcome.value, outcome.message.as_str()), (-1, "ServiceUnavailable: not now"));
    assert_eq!(outcome.calls.last().unwrap().body["status"]["conditions"][0]["reason"], "Failed");
}
