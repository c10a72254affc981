// SPDX-License-Identifier: Apache-2.0
//! Tenants: a namespace with quota, limits and access for each, kept as the Tenant says.
//!
//! Everything a tenant has carries the label `tenancy.dormouse.dev/tenant`, by which changes find their
//! way back to it; a namespace without that label is never touched. What the Tenant no longer asks for is
//! removed. Deleting a Tenant deletes its namespace and waits until that is gone, unless it says `Retain`.

mod wanted;

use dormouse_operator::*;
use wanted::{wanted, Child, CHILDREN, LABEL};

const TENANT: Kind = Kind::cluster("tenancy.dormouse.dev", "v1alpha1", "Tenant", "tenants");
const FINALIZER: &str = "tenancy.dormouse.dev/namespace";

static DRIFT: Metric =
    Metric::counter("tenant_children_removed_total", "Objects that no Tenant asks for any more.", &["kind"]);

/// The namespace a tenant asks for: its own name unless it says another.
fn namespace_of(ctx: &Context) -> String {
    let spec = ctx.object.as_ref().map(|o| o["spec"]["namespace"].clone()).unwrap_or_default();
    spec.as_str().unwrap_or(&ctx.name).to_owned()
}

fn belongs_to(object: &DynamicObject, tenant: &str) -> bool {
    object.label(LABEL) == Some(tenant)
}

/// The namespace, if it is there and this tenant's.
fn own_namespace(ctx: &Context) -> Result<Option<DynamicObject>> {
    let found = ctx.resource::<DynamicObject>(kinds::NAMESPACE).get(&namespace_of(ctx)).optional()?;
    Ok(found.filter(|ns| belongs_to(ns, &ctx.name)))
}

fn clean_up(ctx: &mut Context) -> Result<Cleanup> {
    let retain = ctx.object.as_ref().is_some_and(|o| o["spec"]["deletionPolicy"] == "Retain");
    let Some(namespace) = own_namespace(ctx)? else { return Ok(Cleanup::Done) };
    if retain {
        let forget = json!({"metadata": {"labels": {LABEL: null}}});
        let namespaces = ctx.resource::<Ignored>(kinds::NAMESPACE);
        namespaces.patch(namespace.name(), &Patch::Merge(&forget)).context("let the namespace go")?;
        return Ok(Cleanup::Done);
    }
    if !namespace.is_deleting() {
        let this_one = DeleteParams { uid: Some(namespace.uid()), ..Default::default() };
        ctx.resource::<DynamicObject>(kinds::NAMESPACE)
            .delete(namespace.name(), &this_one)
            .optional()
            .context("delete the namespace")?;
        ctx.event(
            EventType::Normal,
            "Deleting",
            "Delete",
            &format!("deleting namespace {}", namespace.name()),
        );
    }
    Ok(Cleanup::Pending) // its deletion is an event that brings us back
}

/// Claim the namespace, or say who has it.
fn claim_namespace(ctx: &mut Context, name: &str) -> Result<()> {
    let before = ctx.object.as_ref().map(|o| o["status"]["namespace"].clone()).unwrap_or_default();
    if before.as_str().is_some_and(|before| before != name) {
        return Err(Error::permanent("spec.namespace cannot be changed"));
    }
    let namespaces = ctx.resource::<DynamicObject>(kinds::NAMESPACE);
    let adopt = ctx.object.as_ref().is_some_and(|o| o["spec"]["adoptNamespace"] == true);
    match namespaces.get(name).optional()? {
        Some(ns) if ns.is_deleting() => return Err(format!("namespace {name} is being deleted").into()),
        Some(ns) if !belongs_to(&ns, &ctx.name) && (ns.label(LABEL).is_some() || !adopt) => {
            let owner = ns.label(LABEL).unwrap_or("no tenant");
            return Err(Error::permanent(format!("namespace {name} exists and belongs to {owner}")));
        }
        _ => {}
    }
    let object = wanted::namespace(ctx.object.as_ref().map_or(&Value::Null, |o| &o.0), name, &ctx.name);
    ctx.resource::<Ignored>(kinds::NAMESPACE)
        .apply(name, &object, true)
        .context(format!("apply namespace {name}"))?;
    Ok(())
}

/// Write what is wanted of one kind, and remove what is ours and not wanted any more.
fn settle(ctx: &Context, namespace: &str, child: &Child, objects: &[Value]) -> Result<usize> {
    let resource = ctx.resource::<Ignored>(child.kind).namespace(namespace);
    for object in objects {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        resource.apply(name, object, true).context(format!("apply {} {name}", child.kind.kind))?;
    }
    let ours = format!("{LABEL}={}", ctx.name);
    let query = Query { namespace, labels: &ours, view: "metadata", ..Default::default() };
    let mut stale = Vec::new();
    ctx.cache::<DynamicObject>(child.kind.plural).each(&query, |found| {
        if !found.is_deleting() && !objects.iter().any(|o| o["metadata"]["name"] == found.name()) {
            stale.push((found.name().to_owned(), found.uid().to_owned()));
        }
        Ok(())
    })?;
    for (name, uid) in &stale {
        let this_one = DeleteParams { uid: Some(uid), ..Default::default() };
        resource.delete(name, &this_one).optional().context(format!("delete {} {name}", child.kind.kind))?;
        info!("removed", kind = child.kind.kind, name = name);
        DRIFT.record(1.0, &[child.kind.kind]);
    }
    Ok(objects.len())
}

fn provision(ctx: &mut Context) -> Result<usize> {
    let name = namespace_of(ctx);
    claim_namespace(ctx, &name)?;
    let tenant = ctx.object.clone().unwrap_or_default();
    let mut made = 1;
    for child in &CHILDREN {
        made += settle(ctx, &name, child, &wanted(&tenant, &ctx.name, child))?;
    }
    Ok(made)
}

fn reconcile(ctx: &mut Context) -> Result<Action> {
    if ctx.finalizer(FINALIZER, clean_up)? != Life::Alive {
        return Ok(Action::done());
    }
    let was_ready = is_ready(ctx);
    match provision(ctx) {
        Ok(made) => {
            let ready =
                Condition::new("Ready", true, "Provisioned", format!("{made} objects are as they should be"));
            ctx.set_status(json!({"namespace": namespace_of(ctx), "objects": made}), &[ready])?;
            if !was_ready {
                let note = format!("namespace {} is ready", namespace_of(ctx));
                ctx.event(EventType::Normal, "Provisioned", "Provision", &note);
            }
            Ok(Action::done())
        }
        Err(e) => {
            let reason = if e.is_permanent() { "Refused" } else { "Failed" };
            ctx.set_status(json!({}), &[Condition::new("Ready", false, reason, e.to_string())])?;
            if was_ready || e.is_permanent() {
                ctx.event(EventType::Warning, reason, "Provision", &e.to_string());
            }
            Err(e)
        }
    }
}

fn is_ready(ctx: &Context) -> bool {
    let conditions = ctx.object.as_ref().map(|o| o["status"]["conditions"].clone()).unwrap_or_default();
    conditions.as_array().is_some_and(|l| l.iter().any(|c| c["type"] == "Ready" && c["status"] == "True"))
}

fn define() -> Operator {
    let tenants = Watch::of(TENANT).when(Predicate::generation_changed());
    let mut controller = Controller::new("tenants", TENANT, reconcile)
        .for_watch(tenants)
        .watches(Watch::of(kinds::NAMESPACE).labels(LABEL).strip(".status"), Map::label(LABEL));
    for child in &CHILDREN {
        // Usage is written into a quota's status all the time; it is none of our business.
        let watch = Watch::of(child.kind).labels(LABEL).strip(".status");
        controller = controller.watches(watch, Map::label(LABEL));
    }
    Operator::new("tenant", env!("CARGO_PKG_VERSION")).controller(controller).metric(&DRIFT)
}

operator!(define);

#[cfg(test)]
mod tests;
