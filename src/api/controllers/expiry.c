/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes objects that expire: Events, the Secrets of bootstrap tokens, and
 * CertificateSigningRequests, each by an expiry of its own. One timer is armed for the next object
 * that is due; it is armed only while there are such objects. When it fires, all objects of the
 * kind are read in pages, and those that are due are deleted through the API:
 *
 *     idle ----> reading <----> deleting        reading, deleting -> idle
 *     (timer)    (a page)       (of it, what is due)
 *
 * Events are deleted after a time (one hour, unless --event-ttl is given), counted from when they
 * were last observed or created; never earlier because the clock was corrected, and with some slack
 * so that many are deleted at once. A bootstrap token has a date. A request goes an hour after it
 * was issued, denied or has failed, or a day after it was made if nobody has decided; one that was
 * approved and waits for another signer stays, as upstream.
 */
#include "api/bootstrap_token.h"
#include "api/controllers/controllers.h"
#include "api/controllers/jump.h"
#include "api/inner.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "codec/url.h"

#include <assert.h>

enum {
    EXPIRY_PAGE_ROWS = 64,           /* also the number of parallel deletions */
    EXPIRY_SLACK_PART = 20,          /* fraction of the time to live */
    EXPIRY_DECIDED_MS = 3600 * 1000, /* of requests, as kube-controller-manager */
    EXPIRY_PENDING_MS = 24 * EXPIRY_DECIDED_MS,
    EXPIRY_RETRY_MS = 60000, /* after an error of the store */
    /* The longest time of the timer for a date: the wall clock may be set meanwhile. */
    EXPIRY_DATE_MAX_MS = 3600 * 1000
};

enum expiry_at { EXPIRY_IDLE, EXPIRY_READING, EXPIRY_DELETING };

static const struct sm_state expiry_table[] = {
    [EXPIRY_IDLE] = { "idle", EDGE(EXPIRY_READING) },
    [EXPIRY_READING] = { "reading", EDGE(EXPIRY_DELETING) | EDGE(EXPIRY_IDLE) },
    [EXPIRY_DELETING] = { "deleting", EDGE(EXPIRY_READING) | EDGE(EXPIRY_IDLE) },
};

/* What differs between the kinds. Wall clock. */
struct expiry_kind {
    struct str prefix; /* of the keys in the store */
    const char *group, *plural;
    bool (*concerns)(const struct written *w);
    /* When the object is to be deleted; INT64_MAX: never. */
    int64_t (*due_ms)(const struct expiry *x, const struct json *obj, uint64_t rev, int64_t now_ms);
};

struct expiry {
    struct api *api;
    const struct expiry_kind *kind;
    struct sm sm;
    uint64_t ttl_ms;           /* of Events; of others the longest time after a stamp */
    uint64_t slack_ms, max_ms; /* added to the time of the timer, and its longest time */
    struct timer timer;
    struct buf after;
    struct jump jump;
    int64_t first_due_ms; /* of the remaining objects, as far as known; INT64_MAX: none */
    size_t n_calls;       /* deletions of the page */
    bool more;            /* pages follow */
    bool failed;          /* an operation of the round has failed */
    bool stopped;
};

/* ---- timestamps ---- */

static int64_t stamp_ms(const struct json *v)
{
    int64_t us;
    return json_str(v).n == 0 || rfc3339_parse(json_str(v), &us) < 0 ? 0 : us / 1000;
}

/* A time written by a client is used unless it lies in the future. */
static int64_t past_ms(const struct json *v, int64_t now_ms)
{
    int64_t at_ms = stamp_ms(v);
    return at_ms > now_ms ? 0 : at_ms;
}

/*
 * The latest time in an Event of either group. If the creation time lies in the future, because the
 * clock was set back since, the Event counts as created now.
 */
static int64_t last_seen_ms(const struct json *event, int64_t now_ms)
{
    static const char *const names[] = { "lastTimestamp", "deprecatedLastTimestamp", "eventTime",
                                         "firstTimestamp" };
    int64_t made_ms = stamp_ms(json_path(event, "metadata", "creationTimestamp", NULL));
    int64_t at_ms = MIN(made_ms, now_ms);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        at_ms = MAX(at_ms, past_ms(json_getc(event, names[i]), now_ms));
    return MAX(at_ms, past_ms(json_path(event, "series", "lastObservedTime", NULL), now_ms));
}

static int64_t event_due_ms(const struct expiry *x, const struct json *event, uint64_t rev,
                            int64_t now_ms)
{
    int64_t seen_ms = jump_stamp(&x->jump, last_seen_ms(event, now_ms), rev, now_ms);
    return seen_ms + (int64_t)x->ttl_ms;
}

static bool is_event(const struct written *w)
{
    return str_is(w->res->kind, "Event") && !w->res->crd;
}

/* When what is stamped is due; a stamp in the future counts as now. */
static int64_t after_stamp_ms(const struct expiry *x, const struct json *stamp, uint64_t rev,
                              int64_t now_ms, int64_t time_ms)
{
    int64_t at_ms = stamp_ms(stamp);
    if (at_ms == 0)
        return INT64_MAX;
    return jump_stamp(&x->jump, MIN(at_ms, now_ms), rev, now_ms) + time_ms;
}

static int64_t request_due_ms(const struct expiry *x, const struct json *csr, uint64_t rev,
                              int64_t now_ms)
{
    const struct json *status = json_getc(csr, "status"), *all = json_getc(status, "conditions");
    bool is_issued = json_get_str(status, "certificate").n > 0;
    int64_t due_ms = INT64_MAX;
    if (!json_first(all))
        return after_stamp_ms(x, json_path(csr, "metadata", "creationTimestamp", NULL), rev, now_ms,
                              EXPIRY_PENDING_MS);
    json_each (c, all)
        if (is_issued || !str_is(json_get_str(c, "type"), "Approved"))
            due_ms = MIN(due_ms, after_stamp_ms(x, json_getc(c, "lastUpdateTime"), rev, now_ms,
                                                EXPIRY_DECIDED_MS));
    return due_ms;
}

static bool is_request(const struct written *w)
{
    return str_is(w->res->kind, "CertificateSigningRequest") && !w->res->crd;
}

static int64_t token_due_ms(const struct expiry *x, const struct json *secret, uint64_t rev,
                            int64_t now_ms)
{
    int64_t at_s = bootstrap_token_expires_s(secret);
    (void)x;
    (void)rev;
    (void)now_ms;
    return at_s == INT64_MAX ? INT64_MAX : at_s < 0 ? 0 : at_s * 1000;
}

#define EVENTS_PREFIX   "/registry/events/"
#define TOKENS_PREFIX   "/registry/secrets/" BOOTSTRAP_TOKEN_NAMESPACE "/" BOOTSTRAP_TOKEN_PREFIX
#define REQUESTS_PREFIX "/registry/certificates.k8s.io/certificatesigningrequests/"

static bool is_token(const struct written *w)
{
    return str_has_prefix(w->key, STR(TOKENS_PREFIX));
}

static const struct expiry_kind events = {
    { EVENTS_PREFIX, sizeof EVENTS_PREFIX - 1 }, "", "events", is_event, event_due_ms
};
static const struct expiry_kind tokens = {
    { TOKENS_PREFIX, sizeof TOKENS_PREFIX - 1 }, "", "secrets", is_token, token_due_ms
};
static const struct expiry_kind requests = { { REQUESTS_PREFIX, sizeof REQUESTS_PREFIX - 1 },
                                             "certificates.k8s.io",
                                             "certificatesigningrequests",
                                             is_request,
                                             request_due_ms };

static void look_at_clock(struct expiry *x)
{
    jump_note(&x->jump, clock_wall_ms(), clock_mono_ms(), store_revision(x->api->store) + 1,
              x->ttl_ms + x->slack_ms);
}

static void on_timer(struct timer *t);

static void arm(struct expiry *x, uint64_t after_ms)
{
    timer_start(x->api->loop, &x->timer, MIN(after_ms + x->slack_ms, x->max_ms), on_timer);
}

static void arm_first(struct expiry *x)
{
    int64_t now_ms = (int64_t)clock_wall_ms();
    if (x->first_due_ms != INT64_MAX)
        arm(x, (uint64_t)MAX(x->first_due_ms - now_ms, 0));
}

/* ---- a round ---- */

static void read_page(struct expiry *x);

static void round_end(struct expiry *x)
{
    assert(x->n_calls == 0 && !timer_is_armed(&x->timer));
    sm_move(&x->sm, EXPIRY_IDLE);
    if (x->stopped)
        api_part_idle(x->api);
    else if (x->failed)
        arm(x, EXPIRY_RETRY_MS);
    else
        arm_first(x);
}

static void page_end(struct expiry *x)
{
    assert(x->sm.at == EXPIRY_DELETING);
    if (x->n_calls > 0)
        return;
    if (x->more && !x->failed && !x->stopped)
        read_page(x);
    else
        round_end(x);
}

static void on_deleted(void *arg, int r, struct str body)
{
    struct expiry *x = arg;
    (void)body;
    assert(x->sm.at == EXPIRY_DELETING && x->n_calls > 0);
    x->n_calls--;
    x->failed = x->failed || !(r == 200 || r == 404 || r == 409);
    page_end(x);
}

static void delete (struct expiry *x, struct arena *a, const struct json *obj, uint64_t rev)
{
    struct buf name = BUF_INIT(4096);
    const struct kube_resource *res = kube_registry_find(&x->api->reg, str_of(x->kind->group),
                                                         STR("v1"), str_of(x->kind->plural));
    (void)url_encode(&name, meta_name(obj));
    const struct inner_request req = {
        .method = "DELETE",
        .target = inner_path(a, res, meta_namespace(obj), buf_str(&name)),
        .content_type = "application/json",
        .body = str_of(arena_printf(
            a, "{\"kind\":\"DeleteOptions\",\"preconditions\":{\"resourceVersion\":\"%llu\"}}",
            (unsigned long long)rev))
    };
    if (inner_call(x->api, &req, on_deleted, x) >= 0)
        x->n_calls++;
    else
        x->failed = true;
    buf_fini(&name);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct expiry *x = arg;
    struct arena a = { 0 };
    int64_t now_ms = (int64_t)clock_wall_ms();
    (void)err;
    sm_move(&x->sm, EXPIRY_DELETING);
    x->failed = x->failed || r < 0;
    x->more = r >= 0 && page->more;
    for (size_t i = 0; r >= 0 && i < page->n && !x->stopped; i++) {
        struct json *obj;
        arena_reset(&a);
        if (json_parse(&a, page->kv[i].value, NULL, &obj, NULL) < 0)
            continue;
        int64_t due_ms = x->kind->due_ms(x, obj, page->kv[i].mod_rev, now_ms);
        if (due_ms <= now_ms)
            delete (x, &a, obj, page->kv[i].mod_rev);
        else
            x->first_due_ms = MIN(x->first_due_ms, due_ms);
    }
    buf_reset(&x->after);
    if (x->more)
        (void)buf_add_str(&x->after, page->kv[page->n - 1].key);
    arena_fini(&a);
    page_end(x);
}

static void read_page(struct expiry *x)
{
    const struct store_range range = { .prefix = x->kind->prefix,
                                       .after = buf_str(&x->after),
                                       .limit = EXPIRY_PAGE_ROWS,
                                       .skip_damaged = true };
    sm_move(&x->sm, EXPIRY_READING);
    if (store_range(x->api->store, &range, on_page, x, NULL) < 0) {
        x->failed = true;
        round_end(x);
    }
}

static void round_begin(struct expiry *x)
{
    look_at_clock(x);
    x->failed = x->more = false;
    x->first_due_ms = INT64_MAX;
    buf_reset(&x->after);
    read_page(x);
}

static void on_timer(struct timer *t)
{
    round_begin(container_of(t, struct expiry, timer));
}

/* ---- lifecycle ---- */

void expiry_written(struct expiry *x, const struct written *w)
{
    if (!x || x->stopped || !w->obj || !x->kind->concerns(w))
        return;
    look_at_clock(x);
    int64_t due_ms = x->kind->due_ms(x, w->obj, w->rev, (int64_t)clock_wall_ms());
    if (due_ms >= x->first_due_ms)
        return;
    x->first_due_ms = due_ms;
    if (!expiry_is_busy(x) && !x->failed)
        arm_first(x);
}

static struct expiry *start(struct api *api, const struct expiry_kind *kind, uint64_t ttl_ms,
                            uint64_t slack_ms, uint64_t max_ms)
{
    struct expiry *x = xnew(struct expiry);
    *x = (struct expiry){ .api = api,
                          .kind = kind,
                          .ttl_ms = ttl_ms,
                          .slack_ms = slack_ms,
                          .max_ms = max_ms,
                          .after = BUF_INIT(STORE_KEY_MAX_BYTES) };
    sm_init(&x->sm, expiry_table, EXPIRY_IDLE);
    round_begin(x);
    return x;
}

struct expiry *expiry_start_events(struct api *api, uint64_t ttl_ms)
{
    return start(api, &events, ttl_ms, ttl_ms / EXPIRY_SLACK_PART, UINT64_MAX);
}

struct expiry *expiry_start_tokens(struct api *api)
{
    return start(api, &tokens, 0, 0, EXPIRY_DATE_MAX_MS);
}

struct expiry *expiry_start_requests(struct api *api)
{
    return start(api, &requests, EXPIRY_PENDING_MS, EXPIRY_DECIDED_MS / EXPIRY_SLACK_PART,
                 UINT64_MAX);
}

void expiry_stop(struct expiry *x)
{
    if (!x)
        return;
    x->stopped = true;
    timer_stop(x->api->loop, &x->timer);
}

bool expiry_is_busy(const struct expiry *x)
{
    return x && x->sm.at != EXPIRY_IDLE;
}

void expiry_free(struct expiry *x)
{
    if (!x)
        return;
    assert(!expiry_is_busy(x) && !timer_is_armed(&x->timer));
    buf_fini(&x->after);
    free(x);
}
