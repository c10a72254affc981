/* SPDX-License-Identifier: Apache-2.0 */
/* Takes keys from the queue, runs reconcile() for them, and carries their requests. */
#include "dm/host.h"
#include "kube.h"

#include <stdlib.h>
#include <string.h>

#define NEEDS_MAX 16u

enum progress { IDLE, WAITING, ENDED };

/* A piece of work as the controller sees it; operators get `pub`. */
struct work {
    struct dm_work pub;
    const struct dm_key *key;
    enum progress at;
    enum dm_outcome outcome;
    uint64_t after_ms;
    dm_step step;
    const char *what; /* the verb under way, for error messages */
    const char *what_resource, *what_name;

    struct { /* dm_upsert() */
        const struct dm_resource *res;
        const char *ns, *name, *sub;
        dm_mutate mutate;
        dm_step step;
        unsigned conflicts;
        bool exists;
    } up;
};

struct dm_controller {
    struct dm_control config;
    struct dm_queue *queue;
    const struct dm_cache *needs[NEEDS_MAX];
    size_t n_needs;
    unsigned n_running;
    struct dm_timer timer;
    struct dm_settler settler;
    bool ready; /* all needed caches have synced */
};

static struct work *work_of(struct dm_work *w)
{
    return (struct work *)w; /* pub is the first member */
}

const char *dm_controller_name(const struct dm_controller *ctl)
{
    return ctl->config.name;
}

static void work_free(struct work *w)
{
    struct dm_controller *ctl = w->pub.ctl;
    dm_queue_done(ctl->queue, w->key, w->outcome, w->after_ms, dm_now_ms());
    ctl->n_running--;
    dm_arena_fini(&w->pub.arena);
    dm_free(w);
}

/* The operator's code has returned. */
static void work_check(struct work *w)
{
    if (w->at == IDLE)
        dm_fail(&w->pub, "a step neither asked for anything nor ended the work");
    if (w->at == ENDED)
        work_free(w);
}

static void work_start(struct dm_controller *ctl, const struct dm_key *key)
{
    struct work *w = dm_zalloc(sizeof(*w));
    w->key = key;
    w->pub = (struct dm_work){
        .ns = key->ns,
        .name = key->name,
        .failures = key->failures,
        .user = ctl->config.user,
        .ctl = ctl,
    };
    ctl->n_running++;
    ctl->config.reconcile(&w->pub);
    work_check(w);
}

static bool is_ready(struct dm_controller *ctl)
{
    for (size_t i = 0; i < ctl->n_needs && !ctl->ready; i++)
        if (!dm_cache_synced(ctl->needs[i]))
            return false;
    ctl->ready = true;
    return true;
}

static void on_due(void *arg)
{
    (void)arg; /* the settling that follows looks at the queue */
}

static bool settle(void *arg)
{
    struct dm_controller *ctl = arg;
    bool started = false;
    if (!is_ready(ctl))
        return false;
    while (ctl->n_running < ctl->config.workers) {
        const struct dm_key *key = dm_queue_pop(ctl->queue, dm_now_ms());
        if (!key)
            break;
        work_start(ctl, key);
        started = true;
    }
    uint64_t due = dm_queue_due(ctl->queue), now = dm_now_ms();
    if (due == UINT64_MAX)
        dm_timer_clear(&ctl->timer);
    else if (!ctl->timer.is_set || ctl->timer.due_ms != due)
        dm_timer_set(&ctl->timer, due > now ? due - now : 0, on_due, ctl);
    return started;
}

struct dm_controller *dm_control(const struct dm_control *config)
{
    struct dm_controller *ctl = dm_zalloc(sizeof(*ctl));
    ctl->config = *config;
    if (!ctl->config.workers)
        ctl->config.workers = 1;
    if (!ctl->config.limits.backoff_max_ms)
        ctl->config.limits = DM_QUEUE_LIMITS;
    ctl->queue = dm_queue_new(ctl->config.limits);
    ctl->settler = (struct dm_settler){ .fn = settle, .arg = ctl };
    dm_settler_add(&ctl->settler);
    return ctl;
}

void dm_control_needs(struct dm_controller *ctl, const struct dm_cache *c)
{
    if (ctl->n_needs == NEEDS_MAX)
        abort();
    ctl->needs[ctl->n_needs++] = c;
    ctl->ready = false;
}

void dm_enqueue(struct dm_controller *ctl, const char *ns, const char *name)
{
    dm_queue_add(ctl->queue, ns ? ns : "", name);
}

void dm_enqueue_changed(void *ctl, enum dm_change change, const char *ns, const char *name)
{
    (void)change;
    dm_enqueue(ctl, ns, name);
}

/* ---- endings ---- */

static void end(struct work *w, enum dm_outcome outcome, uint64_t after_ms)
{
    if (w->at != IDLE)
        abort(); /* ended twice, or while a request is under way */
    w->at = ENDED;
    w->outcome = outcome;
    w->after_ms = after_ms;
}

void dm_done(struct dm_work *w)
{
    end(work_of(w), DM_DONE, 0);
}

void dm_again_after(struct dm_work *w, uint64_t after_ms)
{
    end(work_of(w), DM_AGAIN, after_ms);
}

void dm_fail(struct dm_work *w, const char *fmt, ...)
{
    struct dm_text t = { 0 };
    va_list ap;
    va_start(ap, fmt);
    dm_vtextf(&t, fmt, ap);
    va_end(ap);
    dm_log(w->failures ? DM_DEBUG : DM_WARN,
           "reconcile failed controller=%s key=%s/%s failures=%u: %s", w->ctl->config.name, w->ns,
           w->name, w->failures + 1, t.p);
    dm_text_fini(&t);
    end(work_of(w), DM_FAILED, 0);
}

void dm_fail_reply(struct dm_work *pub, const struct dm_reply *r)
{
    struct work *w = work_of(pub);
    struct dm_str message = dm_json_plain(dm_json_member(r->body, "message"));
    dm_fail(pub, "%s %s '%s': status %d: %.*s", w->what, w->what_resource, w->what_name, r->status,
            (int)message.n, message.p);
}

/* ---- verbs ---- */

static void on_reply(void *arg, int status, const char *body, size_t n)
{
    struct work *w = arg;
    struct dm_reply r = { .status = status, .body = dm_json_parse(body, n) };
    w->at = IDLE;
    w->step(&w->pub, &r);
    work_check(w);
}

struct target {
    const struct dm_resource *res;
    const char *ns, *name, *sub, *query;
};

static void request(struct dm_work *pub, const char *method, const struct target *to,
                    const char *content_type, struct dm_str body, dm_step step)
{
    struct work *w = work_of(pub);
    if (w->at != IDLE)
        abort(); /* one request at a time */
    struct dm_text path = { 0 };
    dm_kube_path(&path, to->res, to->ns, to->name, to->sub);
    if (to->query)
        dm_textf(&path, "?%s", to->query);
    w->at = WAITING;
    w->step = step;
    w->what = method;
    w->what_resource = to->res->plural;
    w->what_name = to->name ? dm_arena_copy(&pub->arena, to->name, strlen(to->name)) : "";
    dm_http(
        &(struct dm_request){
            .method = method, .path = path.p, .content_type = content_type, .body = body },
        on_reply, w);
    dm_text_fini(&path);
}

#define NO_BODY ((struct dm_str){ "", 0 })
#define JSON    "application/json"

void dm_get(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
            dm_step step)
{
    request(w, "GET", &(struct target){ res, ns, name, NULL, NULL }, NULL, NO_BODY, step);
}

void dm_list(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *query,
             dm_step step)
{
    request(w, "GET", &(struct target){ res, ns, NULL, NULL, query }, NULL, NO_BODY, step);
}

void dm_create(struct dm_work *w, const struct dm_resource *res, const char *ns, struct dm_str body,
               dm_step step)
{
    request(w, "POST", &(struct target){ res, ns, NULL, NULL, NULL }, JSON, body, step);
}

void dm_replace(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
                const char *sub, struct dm_str body, dm_step step)
{
    request(w, "PUT", &(struct target){ res, ns, name, sub, NULL }, JSON, body, step);
}

void dm_patch(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
              const char *sub, const char *patch_type, struct dm_str body, dm_step step)
{
    request(w, "PATCH", &(struct target){ res, ns, name, sub, NULL }, patch_type, body, step);
}

void dm_delete(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
               const char *uid, dm_step step)
{
    struct dm_text t = { 0 };
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "apiVersion", "v1");
    dm_jw_kstr(&t, "kind", "DeleteOptions");
    if (uid) {
        dm_jw_key(&t, "preconditions");
        dm_jw_open(&t, '{');
        dm_jw_kstr(&t, "uid", uid);
        dm_jw_close(&t, '}');
    }
    dm_jw_close(&t, '}');
    request(w, "DELETE", &(struct target){ res, ns, name, NULL, NULL }, JSON, dm_text_view(&t),
            step);
    dm_text_fini(&t);
}

/* ---- read, decide, write ---- */

static void upsert_read(struct work *w);

static void on_written(struct dm_work *pub, const struct dm_reply *r)
{
    struct work *w = work_of(pub);
    bool lost_race = r->status == 409 || (r->status == 404 && w->up.exists);
    if (lost_race && w->up.conflicts++ < DM_CONFLICTS_MAX)
        upsert_read(w);
    else
        w->up.step(pub, r);
}

static void on_read(struct dm_work *pub, const struct dm_reply *r)
{
    struct work *w = work_of(pub);
    if (!dm_ok(r) && r->status != 404) {
        w->up.step(pub, r);
        return;
    }
    struct dm_text out = { 0 };
    w->up.exists = dm_ok(r);
    enum dm_verdict verdict =
        w->up.mutate(pub, w->up.exists ? r->body : (struct dm_json){ 0 }, &out);
    if (verdict == DM_KEEP) {
        struct dm_reply same = *r;
        same.unchanged = true;
        w->up.step(pub, &same);
    } else if (w->up.exists) {
        dm_replace(pub, w->up.res, w->up.ns, w->up.name, w->up.sub, dm_text_view(&out), on_written);
    } else {
        dm_create(pub, w->up.res, w->up.ns, dm_text_view(&out), on_written);
    }
    dm_text_fini(&out);
}

static void upsert_read(struct work *w)
{
    dm_get(&w->pub, w->up.res, w->up.ns, w->up.name, on_read);
}

void dm_upsert(struct dm_work *pub, const struct dm_resource *res, const char *ns, const char *name,
               const char *sub, dm_mutate mutate, dm_step step)
{
    struct work *w = work_of(pub);
    w->up.res = res;
    w->up.ns = ns ? dm_arena_copy(&pub->arena, ns, strlen(ns)) : NULL;
    w->up.name = dm_arena_copy(&pub->arena, name, strlen(name));
    w->up.sub = sub;
    w->up.mutate = mutate;
    w->up.step = step;
    w->up.conflicts = 0;
    upsert_read(w);
}
