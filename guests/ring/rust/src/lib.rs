// SPDX-License-Identifier: Apache-2.0
//! The ring operator (`../README.md` says what it does) in Rust, for ABI v1: the paper's operators are
//! Rust, too, so that figures to be set against the paper's come from this one.

use dormouse_operator::*;
use std::time::{SystemTime, UNIX_EPOCH};

const TEST_RESOURCE: Kind = Kind::namespaced("amurant.io", "v1", "TestResource", "testresources");

/// 20 bytes that tools/make-distinct replaces, so that no two operators of a benchmark share a module.
static COMPILE_NONCE: [u8; 20] = *b"@@COMPILE_NONCE@@@@@";

fn nonce_of(object: &Value) -> i64 {
    object["spec"]["nonce"].as_i64().unwrap_or(0)
}

fn spec(nonce: i64) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    json!({"nonce": nonce, "updated_at": rfc3339(now)})
}

/// One hop: an activation with the object of IN_NAMESPACE, a GET and a PUT (or POST) in OUT_NAMESPACE.
fn reconcile(ctx: &mut Context) -> Result<Action> {
    let Some(object) = &ctx.object else { return Ok(Action::done()) }; // deletions do not travel
    let nonce = nonce_of(object);
    let namespace = std::env::var("OUT_NAMESPACE").unwrap_or_default();
    let resources = ctx.resource::<DynamicObject>(TEST_RESOURCE).namespace(&namespace);
    match resources.get(&ctx.name).optional()? {
        None => {
            let new = json!({
                "apiVersion": TEST_RESOURCE.api_version(), "kind": TEST_RESOURCE.kind,
                "metadata": {"name": ctx.name, "namespace": namespace}, "spec": spec(nonce),
            });
            resources.create(&new).context("create")?;
        }
        Some(mut old) if nonce_of(&old) < nonce => {
            old["spec"] = spec(nonce);
            resources.update(&ctx.name, &old).context("update")?;
        }
        Some(_) => {}
    }
    Ok(Action::done())
}

/// The benchmark's way to make operators larger: touched and kept.
fn hold_memory(bytes: usize) {
    let held = vec![1u8; bytes].leak();
    held.iter_mut().step_by(256).enumerate().for_each(|(i, b)| *b = (1 + i % 255) as u8);
    std::hint::black_box(held);
}

fn define() -> Operator {
    std::hint::black_box(&COMPILE_NONCE);
    hold_memory(std::env::var("HEAP_MEM_SIZE").ok().and_then(|s| s.parse().ok()).unwrap_or(0));
    let input = std::env::var("IN_NAMESPACE").unwrap_or_default();
    let watch = Watch::of(TEST_RESOURCE).namespaces(&[&input]);
    Operator::new("ring", env!("CARGO_PKG_VERSION"))
        .controller(Controller::new("ring", TEST_RESOURCE, reconcile).for_watch(watch).resync(None))
}

operator!(define);

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(incoming: i64, there: Option<i64>) -> Vec<String> {
        std::env::set_var("IN_NAMESPACE", "ring0");
        std::env::set_var("OUT_NAMESPACE", "ring1");
        testing::start(define);
        testing::answer_api(move |call| match (call.method.as_str(), there) {
            ("GET", Some(nonce)) => (200, json!({"spec": {"nonce": nonce}})),
            ("GET", None) => (404, json!({"reason": "NotFound"})),
            _ => (200, call.body.clone()),
        });
        let outcome = testing::reconcile("ring", "ring0", "run0", json!({"spec": {"nonce": incoming}}));
        assert_eq!(outcome.value, 0, "{}", outcome.message);
        for call in &outcome.calls {
            assert!(
                call.target.starts_with("/apis/amurant.io/v1/namespaces/ring1/testresources"),
                "{}",
                call.target
            );
            assert!(call.method == "GET" || call.body["spec"]["nonce"] == incoming);
        }
        outcome.calls.iter().map(|c| c.method.clone()).collect()
    }

    #[test]
    fn a_newer_nonce_is_put() {
        assert_eq!(hop(3, Some(2)), ["GET", "PUT"]);
    }

    #[test]
    fn a_new_object_is_made() {
        assert_eq!(hop(3, None), ["GET", "POST"]);
    }

    #[test]
    fn what_is_known_does_not_travel_on() {
        assert_eq!(hop(3, Some(3)), ["GET"]);
    }
}
