// SPDX-License-Identifier: Apache-2.0

//! The ring operator (guests/ring) as usually written with kube-rs today: a derived
//! resource, a Controller whose watch covers its own namespace only, one thread. One process per
//! operator is a baseline of ./dev bench operators.

use std::{env, error::Error, hint::black_box, sync::Arc, time::Duration};

use futures::StreamExt;
use kube::{
    api::{Api, PostParams},
    runtime::{controller::Action, watcher, Controller},
    Client, CustomResource, ResourceExt,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// tools/make-distinct makes programs of this one that share no page with each other.
static NONCE: &str = "@@COMPILE_NONCE@@@@@";

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "amurant.io", version = "v1", kind = "TestResource", namespaced)]
struct TestResourceSpec {
    nonce: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
}

struct Ring {
    to: Api<TestResource>,
}

/// One hop: an event in, a GET and a PUT (or POST) out.
async fn reconcile(found: Arc<TestResource>, ring: Arc<Ring>) -> Result<Action, kube::Error> {
    let name = found.name_any();
    let spec = TestResourceSpec {
        nonce: found.spec.nonce,
        updated_at: Some(chrono::Utc::now().to_rfc3339()),
    };
    match ring.to.get_opt(&name).await? {
        None => {
            ring.to.create(&PostParams::default(), &TestResource::new(&name, spec)).await?;
        }
        Some(mut next) if found.spec.nonce > next.spec.nonce => {
            next.spec = spec;
            ring.to.replace(&name, &PostParams::default(), &next).await?;
        }
        Some(_) => {}
    }
    Ok(Action::await_change())
}

fn on_error(_: Arc<TestResource>, error: &kube::Error, _: Arc<Ring>) -> Action {
    eprintln!("reconcile: {error}");
    Action::requeue(Duration::from_secs(1))
}

/// The benchmark's way to make operators larger.
fn hold(bytes: usize) -> Vec<u8> {
    let mut held = vec![0u8; bytes];
    for (i, byte) in held.iter_mut().enumerate().step_by(256) {
        *byte = (1 + i / 256 % 255) as u8;
    }
    held
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let held = hold(env::var("HEAP_MEM_SIZE").ok().and_then(|n| n.parse().ok()).unwrap_or(0));
    let (from, to) = (env::var("IN_NAMESPACE")?, env::var("OUT_NAMESPACE")?);
    eprintln!("starting nonce={NONCE}");
    let client = Client::try_default().await?;
    let ring = Arc::new(Ring { to: Api::namespaced(client.clone(), &to) });
    Controller::new(Api::<TestResource>::namespaced(client, &from), watcher::Config::default())
        .run(reconcile, on_error, ring)
        .for_each(|_| async {})
        .await;
    black_box(&held);
    Ok(())
}
