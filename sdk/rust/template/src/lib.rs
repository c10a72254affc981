//! @NAME@: greets every ConfigMap labelled hello=please by setting data.greeting, and greets again
//! whenever somebody changes it.
use dormouse_operator::*;

fn reconcile(ctx: &mut Context) -> Result<Action> {
    let Some(object) = &ctx.object else { return Ok(Action::done()) };
    let greeting = format!("Hello, {}!", ctx.name);
    if object["data"]["greeting"] != greeting.as_str() {
        let patch = json!({"data": {"greeting": greeting}});
        let configmaps = ctx.primaries::<DynamicObject>();
        configmaps.patch(&ctx.name, &Patch::Merge(&patch)).context("greet")?; // a failure comes back, later each time
        info!("greeted", name = ctx.name);
    }
    Ok(Action::done())
}

fn define() -> Operator {
    let watch = Watch::of(kinds::CONFIG_MAP).labels("hello=please");
    Operator::new("@NAME@", env!("CARGO_PKG_VERSION"))
        .controller(Controller::new("hello", kinds::CONFIG_MAP, reconcile).for_watch(watch))
}

operator!(define);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_map_is_greeted_once() {
        testing::start(define);
        testing::answer_api(|_| (200, json!({})));
        let outcome = testing::reconcile("hello", "default", "world", json!({"metadata": {"name": "world"}}));
        assert_eq!(outcome.value, 0, "{}", outcome.message);
        assert_eq!(outcome.calls[0].method, "PATCH");
        let greeted = json!({"data": outcome.calls[0].body["data"]});
        assert!(testing::reconcile("hello", "default", "world", greeted).calls.is_empty());
    }
}
