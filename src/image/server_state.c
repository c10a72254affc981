/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's NodeImageState, written to the API of a cluster:
 *
 *     timer -> gather (a worker thread reads the store) -> changed: the whole object, applied
 *                                                       -> else: the part that ages, merged
 *
 * A change is written IMAGE_SERVER_STATE_QUIET_MS after it, but at the earliest
 * IMAGE_SERVER_STATE_GAP_MS after the last write. The layers that a deployment fetches are a change
 * after IMAGE_SERVER_STATE_INCOMING_MS, since most deployments end before. Without a change the
 * object is renewed every IMAGE_SERVER_STATE_BEAT_MS, since readers drop a node that is silent. One
 * request at a time.
 */
#include "image/server_int.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sum.h"

#include <errno.h>
#include <sys/statvfs.h>

enum { TIMEOUT_MS = 10000, ANSWER_MAX = 512 << 10 };

struct image_server_state {
    struct image_server *s;
    struct timer timer, arriving_timer;
    struct job job;
    struct exchange *call; /* under way */
    bool is_working, is_changed, is_whole, has_failed;
    uint64_t written_ms,
        written_sum; /* sum: of the whole object without what ages; 0: not written */
    uint64_t prefixes_sum, sum;
    uint64_t generation;
    int status, r;
    struct err why; /* of r, or of the last write */
    struct buf prefixes, unsendable, arriving, answer;
    struct node_state found; /* by the job */
};

/* ---- gathering ---- */

static void look_at_disk(struct node_state *to, const char *root)
{
    struct statvfs v;
    if (statvfs(root, &v) < 0)
        return;
    node_state_disk(to, v.f_blocks, v.f_bfree, v.f_bavail, v.f_frsize);
}

static void gather(struct job *j)
{
    struct image_server_state *t = container_of(j, struct image_server_state, job);
    struct oci_store *store = t->s->opts.store;
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    struct node_state *f = &t->found;
    size_t n = 0;
    *f = (struct node_state){ 0 };
    t->why = (struct err){ 0 };
    buf_reset(&t->prefixes);
    buf_reset(&t->unsendable);
    look_at_disk(f, oci_store_root(store));
    t->r = oci_store_layers(store, &all, &n, &t->why);
    for (size_t i = 0; t->r >= 0 && i < n; i++) {
        f->cache_used += all[i].n_bytes;
        f->cache_pinned += all[i].is_pinned ? all[i].n_bytes : 0;
    }
    uint64_t quota = oci_store_quota(store);
    f->cache_capacity = node_state_cache_capacity(f, quota);
    if (!quota)
        f->cache_pinned = f->cache_used; /* nothing is evicted to make room */
    node_state_prefixes(all, n, &t->prefixes);
    node_state_unsendable(all, n, &t->unsendable);
}

/* ---- writing ---- */

static void arm(struct image_server_state *t)
{
    struct image_server *s = t->s;
    uint64_t now = loop_now_ms(s->loop);
    uint64_t due =
        t->written_ms + (t->is_changed ? IMAGE_SERVER_STATE_GAP_MS : IMAGE_SERVER_STATE_BEAT_MS);
    uint64_t after = due > now ? due - now : 0;
    if (t->is_changed)
        after = MAX(after, (uint64_t)IMAGE_SERVER_STATE_QUIET_MS);
    if (!image_closing_has_begun(&s->closing))
        image_server_state_arm(s, after);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    (void)headers;
    ((struct image_server_state *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    (void)buf_add_str(&((struct image_server_state *)arg)->answer, chunk);
}

/* Says when it begins to fail and when it no longer does. */
static void note_result(struct image_server_state *t, bool failed, struct str reason)
{
    char why[LOG_QUOTE_MAX];
    if (failed && !t->has_failed && !image_closing_has_begun(&t->s->closing))
        log_warn("the state of the node's images is not written, trying again",
                 "node=%s status=%d reason=\"%s\"", t->s->node, t->status, log_quote(why, reason));
    if (!failed && t->has_failed)
        log_info("the state of the node's images is written again", "node=%s", t->s->node);
    t->has_failed = failed;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct image_server_state *t = arg;
    bool failed = r < 0 || t->status >= 300;
    t->call = NULL;
    note_result(t, failed, r < 0 ? str_of(err_text(err)) : buf_str(&t->answer));
    if (failed)
        t->written_sum = 0; /* all of it next time */
    else if (t->is_whole)
        t->written_sum = t->sum;
    arm(t);
    image_server_finish_close(t->s);
}

/* Of what readers decide by and what does not age. */
static uint64_t sum_of(const struct node_state *f)
{
    const uint64_t numbers[] = { f->cache_used, f->cache_pinned };
    uint64_t sum = sum64(f->prefixes, 1) ^ sum64(f->unsendable, 5) ^
                   sum64(str_n(numbers, sizeof numbers), 2) ^
                   sum64(str_n(&f->rates, sizeof f->rates), 4) ^ sum64(f->arriving, 7);
    return sum ? sum : 1;
}

static int write_state(struct image_server_state *t, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct image_server *s = t->s;
    struct arena a = { 0 };
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(NODE_STATE_TEXT_MAX);
    const struct json *v =
        t->is_whole ? node_state_object(&a, &t->found) : node_state_beat(&a, &t->found);
    scoped(free_scoped) char *target = xasprintf(
        "/apis/dormouse.dev/v1alpha1/nodeimagestates/%s%s", s->node,
        t->is_whole ? "?fieldManager=dormouse-image&force=true" : "?fieldManager=dormouse-image");
    int r = json_write(&text, v);
    if (r < 0)
        (void)err_set(err, r, "an object of more than %d bytes", NODE_STATE_TEXT_MAX);
    (void)headers_addc(&h, "content-type",
                       t->is_whole ? "application/apply-patch+yaml"
                                   : "application/merge-patch+json");
    buf_reset(&t->answer);
    t->status = 0;
    const struct kube_request req = { .identity = s->opts.identity,
                                      .method = STR("PATCH"),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .body = buf_str(&text),
                                      .timeout_ms = TIMEOUT_MS };
    r = r < 0 ? r : transport_start(s->opts.api, &req, &events, t, &t->call, err);
    headers_fini(&h);
    arena_fini(&a);
    return r;
}

static void look_at_deployments(struct image_server_state *t)
{
    scoped(free_scoped) struct oci_digest *all = xnew_n(struct oci_digest, NODE_STATE_ARRIVING_MAX);
    size_t n = image_server_incoming(t->s, all, NODE_STATE_ARRIVING_MAX);
    buf_reset(&t->arriving);
    node_state_incoming(all, n, buf_str(&t->prefixes), &t->arriving);
}

static void on_gathered(struct job *j, int r)
{
    struct image_server_state *t = container_of(j, struct image_server_state, job);
    struct image_server *s = t->s;
    struct node_state *f = &t->found;
    t->is_working = false;
    if (image_closing_has_begun(&s->closing)) {
        image_server_finish_close(s);
        return;
    }
    t->written_ms = loop_now_ms(s->loop);
    uint64_t set = sum64(buf_str(&t->prefixes), 3) ^ sum64(buf_str(&t->unsendable), 6);
    uint64_t wall_ms = (uint64_t)clock_wall_ms();
    if (set != t->prefixes_sum || t->generation == 0)
        t->generation = MAX(t->generation + 1, wall_ms); /* larger than before a restart */
    t->prefixes_sum = set;
    f->node = str_of(s->node);
    f->url = str_of(s->url ? s->url : "");
    f->reported_wall_s = clock_wall_ms() / 1000;
    f->rates = s->rates;
    f->upload_slots =
        (unsigned)(IMAGE_SERVER_UPLOADS - MIN(s->n_uploads, (size_t)IMAGE_SERVER_UPLOADS));
    f->generation = t->generation;
    f->prefixes = buf_str(&t->prefixes);
    f->unsendable = buf_str(&t->unsendable);
    look_at_deployments(t);
    f->arriving = buf_str(&t->arriving);
    t->sum = sum_of(f);
    t->is_whole = t->sum != t->written_sum;
    r = r < 0 ? err_sys(&t->why, r, "look at the store") : t->r;
    if (r >= 0 && write_state(t, &t->why) >= 0)
        return;
    t->status = 0;
    note_result(t, true, str_of(err_text(&t->why)));
    arm(t);
}

static void on_timer(struct timer *timer)
{
    struct image_server_state *t = container_of(timer, struct image_server_state, timer);
    t->job = (struct job){ .work = gather, .done = on_gathered };
    t->is_working = job_start(t->s->loop, &t->job) >= 0;
    if (t->is_working)
        t->is_changed = false; /* a later change may be missed by this look */
    else
        image_server_state_arm(t->s, IMAGE_SERVER_STATE_GAP_MS);
}

void image_server_state_arm(struct image_server *s, uint64_t after_ms)
{
    timer_start(s->loop, &s->state->timer, after_ms, on_timer);
}

/* ---- for the rest of the server ---- */

void image_server_state_start(struct image_server *s)
{
    struct image_server_state *t = xnew(struct image_server_state);
    t->s = s;
    t->prefixes = BUF_INIT(NODE_STATE_LAYERS_MAX * NODE_STATE_PREFIX_BYTES);
    t->unsendable = BUF_INIT(NODE_STATE_LAYERS_MAX * NODE_STATE_PREFIX_BYTES);
    t->arriving = BUF_INIT(NODE_STATE_ARRIVING_MAX * NODE_STATE_PREFIX_BYTES);
    t->answer = BUF_INIT(ANSWER_MAX);
    s->state = t;
    image_server_state_arm(s, 0);
}

void image_server_state_measured(struct image_server *s)
{
    struct image_server_state *t = s->state;
    if (!t || t->is_changed || image_closing_has_begun(&s->closing))
        return;
    t->is_changed = true;
    if (!t->is_working && !t->call)
        arm(t);
}

void image_server_state_changed(struct image_server *s)
{
    image_server_state_measured(s);
    image_server_probe_soon(s);
}

static void on_incoming(struct timer *timer)
{
    struct image_server_state *t = container_of(timer, struct image_server_state, arriving_timer);
    struct oci_digest one;
    if (image_server_incoming(t->s, &one, 1) > 0)
        image_server_state_measured(t->s);
}

void image_server_state_deploying(struct image_server *s)
{
    struct image_server_state *t = s->state;
    if (t && !timer_is_armed(&t->arriving_timer))
        timer_start(s->loop, &t->arriving_timer, IMAGE_SERVER_STATE_INCOMING_MS, on_incoming);
}

bool image_server_state_is_busy(const struct image_server *s)
{
    return s->state && (s->state->is_working || s->state->call);
}

void image_server_state_close(struct image_server *s)
{
    if (!s->state)
        return;
    timer_stop(s->loop, &s->state->timer);
    timer_stop(s->loop, &s->state->arriving_timer);
    if (s->state->call)
        exchange_cancel(s->state->call);
}

void image_server_state_fini(struct image_server *s)
{
    if (!s->state)
        return;
    timer_stop(s->loop, &s->state->timer);
    timer_stop(s->loop, &s->state->arriving_timer);
    buf_fini(&s->state->prefixes);
    buf_fini(&s->state->unsendable);
    buf_fini(&s->state->arriving);
    buf_fini(&s->state->answer);
    free(s->state);
}
