// SPDX-License-Identifier: Apache-2.0
//! The SDK against the host that `testing` plays: one operator, a reconcile function per test.

use dormouse_operator::*;
use std::cell::RefCell;
use std::time::Duration;

const WIDGET: Kind = Kind::namespaced("example.dev", "v1", "Widget", "widgets");
static MADE: Metric = Metric::counter("made_total", "Made.", &["kind", "why"]);
static SECONDS: Metric = Metric::histogram("seconds", "", &[], &[0.1, 1.0]);

type Act = Box<dyn FnMut(&mut Context) -> Result<Action>>;

thread_local! {
    static ACT: RefCell<Option<Act>> = const { RefCell::new(None) };
}

fn reconcile(ctx: &mut Context) -> Result<Action> {
    ACT.with(|act| act.borrow_mut().as_mut().expect("the test says what to do")(ctx))
}

fn on_config(ctx: &mut Context, name: &str) -> Result<()> {
    let settings = ctx.settings(name)?;
    info!("settings", k = settings.get("k"), absent = settings.get("absent"));
    Ok(())
}

fn define() -> Operator {
    Operator::new("test", "1.2.3")
        .controller(
            Controller::new("widgets", WIDGET, reconcile)
                .for_watch(
                    Watch::of(WIDGET)
                        .namespaces(&["a", "b"])
                        .labels("x=y")
                        .index_field("bySecret", ".spec.secret")
                        .index_owner("byOwner")
                        .when(Predicate::generation_changed()),
                )
                .owns(Watch::of(kinds::CONFIG_MAP).any_owner())
                .watches(
                    Watch::of(kinds::SECRET)
                        .id("s")
                        .metadata_only()
                        .when(Predicate::labels_changed().or(!Predicate::on(&["update"]))),
                    Map::index("bySecret", "name"),
                )
                .resync(None)
                .backoff(Duration::from_millis(5), Duration::from_secs(60)),
        )
        .cache(Watch::of(kinds::NAMESPACE).strip(".status"))
        .config(Config::config_map("settings", "cm").optional().call_on_change())
        .on_config(on_config)
        .metric(&MADE)
        .metric(&SECONDS)
        .instances(2)
        .stateless()
}

fn widget() -> Value {
    json!({"metadata": {"namespace": "a", "name": "w", "uid": "u1", "resourceVersion": "7", "generation": 3},
           "spec": {"n": 1}})
}

fn run(act: impl FnMut(&mut Context) -> Result<Action> + 'static, object: Value) -> testing::Outcome {
    ACT.with(|slot| *slot.borrow_mut() = Some(Box::new(act)));
    testing::reconcile("widgets", "a", "w", object)
}

#[test]
fn the_declaration_says_what_was_built() {
    let d = testing::start(define);
    assert_eq!(
        d,
        json!({
            "abi": 1, "name": "test", "version": "1.2.3", "stateless": true, "instances": 2,
            "controllers": [{
                "name": "widgets",
                "for": {"id": "widgets", "apiVersion": "example.dev/v1", "kind": "Widget",
                        "namespaces": ["a", "b"], "labelSelector": "x=y",
                        "indexes": [{"name": "bySecret", "field": ".spec.secret"},
                                    {"name": "byOwner", "owner": true}],
                        "predicate": {"changed": "generation"}},
                "owns": [{"id": "configmaps", "apiVersion": "v1", "kind": "ConfigMap", "anyOwner": true}],
                "watches": [{"id": "s", "apiVersion": "v1", "kind": "Secret", "metadataOnly": true,
                             "predicate": {"or": [{"changed": "labels"}, {"not": {"on": ["update"]}}]},
                             "map": {"index": "bySecret", "value": "name"}}],
                "resyncSeconds": 0, "backoff": {"baseMs": 5, "maxMs": 60000},
            }],
            "caches": [{"id": "namespaces", "apiVersion": "v1", "kind": "Namespace", "strip": [".status"]}],
            "config": [{"name": "settings", "configMap": "cm", "optional": true, "onChange": "activate"}],
            "metrics": [{"name": "made_total", "type": "counter", "help": "Made.", "labels": ["kind", "why"]},
                        {"name": "seconds", "type": "histogram", "help": "", "buckets": [0.1, 1.0]}],
        })
    );
}

#[test]
fn an_activation_brings_the_key_and_its_object() {
    testing::start(define);
    let outcome = run(
        |ctx| {
            assert_eq!((ctx.namespace.as_str(), ctx.name.as_str()), ("a", "w"));
            assert_eq!(ctx.reasons, ["update"]);
            assert_eq!(ctx.typed::<Value>()?.unwrap()["spec"]["n"], 1);
            Ok(Action::requeue_after(Duration::from_millis(1500)))
        },
        widget(),
    );
    assert_eq!(outcome.value, 1500);
    let gone = run(
        |ctx| {
            assert!(ctx.object.is_none());
            Ok(Action::done())
        },
        Value::Null,
    );
    assert_eq!(gone.value, 0);
}

#[test]
fn a_large_object_is_read_from_the_cache() {
    testing::start(define);
    testing::answer_cache(|query| {
        assert_eq!(*query, json!({"watch": "widgets", "namespace": "a", "name": "w"}));
        Ok(widget())
    });
    ACT.with(|slot| {
        *slot.borrow_mut() = Some(Box::new(|ctx| {
            assert_eq!(ctx.object.as_ref().unwrap().uid(), "u1");
            Ok(Action::done())
        }))
    });
    let key = json!({"type": "reconcile", "controller": "widgets", "namespace": "a", "name": "w"});
    assert_eq!(testing::activate(&key).value, 0);
    testing::answer_cache(|_| Err(-11));
    let outcome = testing::activate(&key);
    assert_eq!((outcome.value, outcome.message.as_str()), (-1, "not-synced: the test says -11"));
}

#[test]
fn verbs_become_requests() {
    testing::start(define);
    testing::answer_api(|_| (200, json!({"data": {"k": "v"}})));
    let outcome = run(
        |ctx| {
            let maps = ctx.resource::<DynamicObject>(kinds::CONFIG_MAP).namespace("a");
            assert_eq!(maps.get("c")?["data"]["k"], "v");
            maps.create(&json!({"a": 1}))?;
            maps.update("c", &json!({"a": 2}))?;
            maps.patch("c", &Patch::Json(&json!([])))?;
            ctx.primaries::<Value>().subresource("status").patch("w", &Patch::Strategic(&json!({})))?;
            maps.apply("c", &json!({"a": 3}), true)?;
            ctx.resource::<Value>(kinds::NAMESPACE).delete("n", &DeleteParams::default())?;
            maps.delete(
                "c",
                &DeleteParams {
                    uid: Some("u"),
                    propagation: Some("Foreground"),
                    grace_seconds: Some(0),
                    dry_run: true,
                    ..Default::default()
                },
            )?;
            Ok(Action::done())
        },
        widget(),
    );
    assert_eq!((outcome.value, outcome.message.as_str()), (0, ""));
    let seen: Vec<String> = outcome
        .calls
        .iter()
        .map(|c| format!("{} {} {:?} {}", c.method, c.target, c.headers, c.body))
        .collect();
    let maps = "/api/v1/namespaces/a/configmaps";
    let with = |sort: &str| format!("[(\"content-type\", \"application/{sort}\")]");
    assert_eq!(
        seen,
        [
            format!("GET {maps}/c [] null"),
            format!("POST {maps} {} {{\"a\":1}}", with("json")),
            format!("PUT {maps}/c {} {{\"a\":2}}", with("json")),
            format!("PATCH {maps}/c {} []", with("json-patch+json")),
            format!(
                "PATCH /apis/example.dev/v1/namespaces/a/widgets/w/status {} {{}}",
                with("strategic-merge-patch+json")
            ),
            format!("PATCH {maps}/c?force=true {} {{\"a\":3}}", with("apply-patch+yaml")),
            format!(
                "DELETE /api/v1/namespaces/n {} {}",
                with("json"),
                json!({"apiVersion": "v1", "kind": "DeleteOptions"})
            ),
            format!(
                "DELETE {maps}/c {} {}",
                with("json"),
                json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u"},
                       "propagationPolicy": "Foreground", "gracePeriodSeconds": 0, "dryRun": ["All"]})
            ),
        ]
    );
}

#[test]
fn errors_are_typed() {
    testing::start(define);
    let fail_with = |status: u16, body: Value, check: fn(&Error) -> bool| {
        testing::answer_api(move |_| (status, body.clone()));
        let outcome = run(
            move |ctx| {
                let e = ctx.primaries::<Value>().get("w").context("look").unwrap_err();
                assert!(check(&e), "{e:?}");
                Err(if check(&e) { Error::permanent(e) } else { e })
            },
            widget(),
        );
        assert_eq!(outcome.value, -2);
        outcome.message
    };
    let status = |reason: &str| json!({"reason": reason, "message": "m"});
    assert_eq!(fail_with(404, status("NotFound"), Error::is_not_found), "look: NotFound: m");
    fail_with(409, status("Conflict"), Error::is_conflict);
    fail_with(409, status("AlreadyExists"), Error::is_already_exists);
    fail_with(403, status("Forbidden"), Error::is_forbidden);
    fail_with(410, status("Expired"), Error::is_expired);
    fail_with(504, status("Timeout"), Error::is_timeout);
    let limited = json!({"reason": "TooManyRequests", "message": "m", "details": {"retryAfterSeconds": 7}});
    fail_with(429, limited, |e| e.retry_after() == Some(Duration::from_secs(7)));
    let invalid = json!({"reason": "Invalid", "message": "m", "details": {"causes": [{"field": "spec.x"}]}});
    fail_with(422, invalid, |e| e.is_invalid() && e.status().unwrap().causes[0].field == "spec.x");
    assert_eq!(fail_with(500, json!("what?"), |e| e.status().is_some()), "look: HTTP status 500");
}

#[test]
fn a_list_is_walked_page_by_page() {
    testing::start(define);
    testing::answer_api(|call| {
        let item = |name: &str| json!({"metadata": {"name": name}});
        match call.target.contains("continue=t%2F1") {
            false => (200, json!({"metadata": {"continue": "t/1"}, "items": [item("a"), item("b")]})),
            true => (200, json!({"metadata": {"resourceVersion": "9"}, "items": [item("c")]})),
        }
    });
    let outcome = run(
        |ctx| {
            let mut names = Vec::new();
            let secrets = ctx.resource::<DynamicObject>(kinds::SECRET).namespace("a");
            let params =
                ListParams { labels: "x in (1,2)", limit: 2, metadata_only: true, ..Default::default() };
            secrets.each(&params, |s| {
                names.push(s.name().to_owned());
                Ok(())
            })?;
            assert_eq!(names, ["a", "b", "c"]);
            Ok(Action::done())
        },
        widget(),
    );
    assert_eq!((outcome.value, outcome.message.as_str()), (0, ""));
    assert_eq!(
        outcome.calls[0].target,
        "/api/v1/namespaces/a/secrets?limit=2&labelSelector=x%20in%20%281%2C2%29"
    );
    assert!(outcome.calls[0].headers[0].1.contains("as=PartialObjectMetadataList"));
}

#[test]
fn the_cache_is_asked_for_lists() {
    testing::start(define);
    testing::answer_cache(|query| {
        assert_eq!(
            *query,
            json!({"watch": "s", "namespace": "a", "index": "bySecret", "value": "", "view": "keys",
                   "consistent": true})
        );
        Ok(json!({"resourceVersion": "5", "items": [{"namespace": "a", "name": "x"}]}))
    });
    let outcome = run(
        |ctx| {
            let query =
                Query { namespace: "a", index: Some(("bySecret", "")), view: "keys", ..Default::default() };
            let list = ctx.cache::<Value>("s").consistent().list(&query)?;
            assert_eq!((list.resource_version.as_str(), list.items.len()), ("5", 1));
            Ok(Action::done())
        },
        widget(),
    );
    assert_eq!((outcome.value, outcome.message.as_str()), (0, ""));
}

#[test]
fn a_finalizer_is_added_and_leaves_after_the_cleaning() {
    testing::start(define);
    testing::answer_api(|_| (200, json!({})));
    fn live(ctx: &mut Context, cleaned: Result<Cleanup>) -> Result<Action> {
        let life = ctx.finalizer("example.dev/f", |_| cleaned)?;
        info!("life", of = format!("{life:?}"));
        Ok(Action::done())
    }
    let life = |outcome: &testing::Outcome| outcome.log[0].2["of"].as_str().unwrap().to_owned();
    let added = run(|ctx| live(ctx, Err("too early".into())), widget());
    assert_eq!(
        added.calls[0].body,
        json!({"metadata": {"resourceVersion": "7", "finalizers": ["example.dev/f"]}})
    );
    let mut object = widget();
    object["metadata"]["finalizers"] = json!(["other", "example.dev/f"]);
    let kept = run(|ctx| live(ctx, Err("too early".into())), object.clone());
    assert_eq!((life(&kept).as_str(), kept.calls.len()), ("Alive", 0));
    object["metadata"]["deletionTimestamp"] = "now".into();
    let pending = run(|ctx| live(ctx, Ok(Cleanup::Pending)), object.clone());
    assert_eq!((life(&pending).as_str(), pending.calls.len()), ("Leaving", 0));
    let refused = run(|ctx| live(ctx, Err("no".into())), object.clone());
    assert_eq!((refused.value, refused.calls.len()), (-1, 0));
    let cleaned = run(|ctx| live(ctx, Ok(Cleanup::Done)), object);
    assert_eq!(life(&cleaned), "Gone");
    assert_eq!(cleaned.calls[0].body["metadata"]["finalizers"], json!(["other"]));
    let absent = run(|ctx| live(ctx, Err("nothing to clean".into())), Value::Null);
    assert_eq!(life(&absent), "Gone");
}

#[test]
fn a_status_is_written_once() {
    testing::start(define);
    testing::answer_api(|_| (200, json!({})));
    let report = |ctx: &mut Context| {
        ctx.set_status(json!({"made": [1, 2]}), &[Condition::new("Ready", true, "Made", "all there")])?;
        Ok(Action::done())
    };
    let mut object = widget();
    object["status"] = json!({"other": 1, "conditions": [{"type": "Else", "status": "False"}]});
    let written = run(report, object.clone());
    assert_eq!(written.calls[0].target, "/apis/example.dev/v1/namespaces/a/widgets/w/status");
    let status = &written.calls[0].body["status"];
    assert_eq!(written.calls[0].body["metadata"]["resourceVersion"], "7");
    assert_eq!((&status["observedGeneration"], &status["made"]), (&json!(3), &json!([1, 2])));
    assert_eq!(status["conditions"][0]["type"], "Else");
    assert_eq!(status["conditions"][1]["status"], "True");
    object["status"] = status.clone();
    assert!(run(report, object.clone()).calls.is_empty());
    object["status"]["conditions"][1]["status"] = "False".into();
    object["status"]["conditions"][1]["lastTransitionTime"] = "before".into();
    let turned = run(report, object);
    assert_ne!(turned.calls[0].body["status"]["conditions"][1]["lastTransitionTime"], "before");
}

#[test]
fn what_is_told_reaches_the_host() {
    testing::start(define);
    testing::answer_config(|name| {
        assert_eq!(name, "settings");
        Ok(json!({"data": {"k": "v"}}))
    });
    let outcome = run(
        |ctx| {
            let n = 3;
            info!("made {n}", name = ctx.name, list = [1, 2]);
            warn!("odd");
            ctx.event(EventType::Warning, "Made", "Make", &"ä".repeat(600));
            MADE.record(1.5, &["Secret", "new"]);
            SECONDS.record(2.0, &[]);
            enqueue("widgets", "a", "x", Duration::from_millis(500), Priority::High);
            Ok(Action::done())
        },
        widget(),
    );
    assert_eq!(
        outcome.log,
        [(1, "made 3".to_owned(), json!({"name": "w", "list": [1, 2]})), (2, "odd".to_owned(), Value::Null)]
    );
    assert_eq!(outcome.events[0]["regarding"]["uid"], "u1");
    assert_eq!(outcome.events[0]["note"].as_str().unwrap().len(), 1024);
    assert_eq!(outcome.metrics, [(0, 1.5, json!(["Secret", "new"])), (1, 2.0, Value::Null)]);
    assert_eq!(outcome.enqueued[0]["afterMs"], 500);
    let changed = testing::activate(&json!({"type": "config", "name": "settings"}));
    assert_eq!(changed.log[0].2, json!({"k": "v", "absent": null}));
    assert_eq!(testing::activate(&json!({"type": "later"})).value, 0);
}

#[test]
fn times_are_rfc_3339() {
    assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
    assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
    assert_eq!(rfc3339(4_107_542_399), "2100-02-28T23:59:59Z");
}
