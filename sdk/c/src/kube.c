/* SPDX-License-Identifier: Apache-2.0 */
/* Finalizers and events of the asynchronous SDK. */
#include "kube.h"

#include "dm/host.h"

void dm_set_finalizer(struct dm_work *w, const struct dm_resource *res, struct dm_json obj,
                      const char *finalizer, bool present, dm_step step)
{
    struct dm_json meta = dm_json_member(obj, "metadata");
    struct dm_text t = { 0 };
    dm_jw_finalizers(&t, obj, finalizer, present);
    const char *ns = dm_json_string(dm_json_member(meta, "namespace"), &w->arena);
    const char *name = dm_json_string(dm_json_member(meta, "name"), &w->arena);
    dm_patch(w, res, ns, name, NULL, DM_MERGE_PATCH, dm_text_view(&t), step);
    dm_text_fini(&t);
}

/* ---- events ---- */

static const struct dm_resource events = { "", "v1", "events", "Event", false };

static bool take_event_budget(void)
{
    static uint64_t refilled_ms;
    static unsigned left = DM_EVENT_BURST;
    uint64_t now = dm_now_ms(), refill = (now - refilled_ms) / DM_EVENT_REFILL_MS;
    if (refill) {
        left = left + refill > DM_EVENT_BURST ? DM_EVENT_BURST : left + (unsigned)refill;
        refilled_ms = now;
    }
    if (!left)
        return false;
    left--;
    return true;
}

static void on_event_posted(void *arg, int status, const char *body, size_t n)
{
    (void)arg, (void)body, (void)n;
    if (status < 200 || status > 299)
        dm_log(DM_DEBUG, "event was not accepted status=%d", status);
}

void dm_event(struct dm_controller *ctl, const struct dm_resource *res, struct dm_json obj,
              bool warning, const char *reason, const char *fmt, ...)
{
    if (!take_event_budget())
        return;
    struct dm_json meta = dm_json_member(obj, "metadata");
    struct dm_arena a = { 0 };
    const char *name = dm_json_string(dm_json_member(meta, "name"), &a);
    const char *ns = dm_json_string(dm_json_member(meta, "namespace"), &a);
    if (!*ns)
        ns = "default"; /* where events about cluster-scoped objects live */
    struct dm_text now = { 0 }, event_name = { 0 }, message = { 0 }, t = { 0 }, path = { 0 };
    dm_text_time(&now, dm_wall_us(), false);
    dm_textf(&event_name, "%s.%llx", name, (unsigned long long)dm_random());
    va_list ap;
    va_start(ap, fmt);
    dm_vtextf(&message, fmt, ap);
    va_end(ap);

    dm_jw_open(&t, '{');
    dm_jw_type(&t, &events);
    dm_jw_key(&t, "metadata");
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "name", event_name.p);
    dm_jw_kstr(&t, "namespace", ns);
    dm_jw_close(&t, '}');
    dm_jw_key(&t, "involvedObject");
    dm_jw_open(&t, '{');
    dm_jw_type(&t, res);
    dm_jw_kraw(&t, "name", dm_json_member(meta, "name"));
    if (!res->cluster_scoped)
        dm_jw_kraw(&t, "namespace", dm_json_member(meta, "namespace"));
    dm_jw_kraw(&t, "uid", dm_json_member(meta, "uid"));
    dm_jw_close(&t, '}');
    dm_jw_kstr(&t, "type", warning ? "Warning" : "Normal");
    dm_jw_kstr(&t, "reason", reason);
    dm_jw_kstr(&t, "message", message.p);
    dm_jw_kstr(&t, "firstTimestamp", now.p);
    dm_jw_kstr(&t, "lastTimestamp", now.p);
    dm_jw_kint(&t, "count", 1);
    dm_jw_key(&t, "source");
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "component", dm_controller_name(ctl));
    dm_jw_close(&t, '}');
    dm_jw_close(&t, '}');

    dm_kube_path(&path, &events, ns, NULL, NULL);
    dm_http(&(struct dm_request){ .method = "POST",
                                  .path = path.p,
                                  .content_type = "application/json",
                                  .body = dm_text_view(&t) },
            on_event_posted, NULL);
    dm_text_fini(&path);
    dm_text_fini(&t);
    dm_text_fini(&message);
    dm_text_fini(&event_name);
    dm_text_fini(&now);
    dm_arena_fini(&a);
}
