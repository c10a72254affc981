/* SPDX-License-Identifier: Apache-2.0 */
/* A deployment manifest to its node; see bdm_send.h. */
#include "image/bdm_send.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/sys.h"
#include "image/server.h"
#include "io/fetch_url.h"
#include "io/http.h"

#include <errno.h>
#include <fcntl.h>

enum { ANSWER_MAX = 64 << 10, TOKEN_S = 60 }; /* bytes; the answer of a node is not longer */

/* manifest -> config -> bdm (-> nodes that push) -> ask -> pause -> ask ... -> the end */
enum send_at { SEND_MANIFEST, SEND_CONFIG, SEND_BDM, SEND_ASK, SEND_PAUSE };

/* A node that is to push layers, and its BDM; on its own from when it is asked. */
struct notice {
    struct list node; /* of the sending, until that is over */
    struct http_client *client;
    char *name, *url, *text;
    size_t n;
    struct oci_digest digest;
    struct exchange *call;
    int status;
    size_t n_answer; /* bytes of its answer */
};

struct image_bdm_send {
    struct list notice;
    size_t n_notices;
    struct image_bdm_send_opts o; /* without the members that only the call needs */
    struct http_client *client;
    char *key, *node;
    char deploy[37];
    char *texts[3]; /* by send_at; NULL: none */
    size_t n_texts[3];
    struct oci_digest digests[3];
    uint64_t deadline_ms, until_ms;
    enum send_at at;
    struct timer timer;
    struct exchange *call; /* NULL: none is under way */
    bool is_late, is_cancelled;
    int status;
    struct buf answer;
};

static void notice_free(struct notice *t)
{
    list_remove(&t->node);
    if (t->client)
        http_client_close(t->client);
    free(t->name);
    free(t->url);
    free(t->text);
    free(t);
}

/* Requests under way end a turn later, with a node that is on no list. */
static void drop_notices(struct image_bdm_send *s)
{
    list_each_safe (node, &s->notice) {
        struct notice *t = list_entry(node, struct notice, node);
        list_remove(&t->node);
        if (t->call)
            http_client_close(take_ptr(&t->client)); /* ends the call, which frees it */
        else
            notice_free(t);
    }
}

static void bdm_send_free(struct image_bdm_send *s)
{
    drop_notices(s);
    if (s->client)
        http_client_close(s->client);
    for (size_t i = 0; i < ARRAY_LEN(s->texts); i++)
        free(s->texts[i]);
    buf_fini(&s->answer);
    free(s->key);
    free(s->node);
    free(s);
}

static void end(struct image_bdm_send *s, int r, const struct json *outcome, const struct err *err)
{
    timer_stop(s->o.loop, &s->timer);
    s->o.on_end(s->o.arg, r, outcome, err);
    bdm_send_free(s);
}

/* ---- one request ---- */

static void step(struct image_bdm_send *s);
static void take_answer(struct image_bdm_send *s);

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct image_bdm_send *s = arg;
    (void)headers;
    s->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct image_bdm_send *s = arg;
    if (buf_add_str(&s->answer, chunk) < 0)
        exchange_cancel(s->call);
}

static int check_status(struct image_bdm_send *s, struct err *err)
{
    struct arena a = { 0 };
    struct json *v;
    struct str why = STR("");
    if (s->status < 300)
        return 0;
    if (json_parse(&a, buf_str(&s->answer), NULL, &v, NULL) >= 0)
        why = json_get_str(json_first(json_getc(v, "errors")), "message");
    int code = s->status == 403 ? E_DENIED : s->status == 503 ? -EAGAIN : -EPROTO;
    int r = err_set(err, code, "node '%s' answers %d: " STR_FMT, s->node, s->status,
                    STR_ARG(str_slice(why, 0, 160)));
    arena_fini(&a);
    return r;
}

static void on_call_end(void *arg, int r, const struct err *cause)
{
    struct image_bdm_send *s = arg;
    struct err err = { 0 };
    s->call = NULL;
    timer_stop(s->o.loop, &s->timer);
    if (s->is_cancelled) {
        bdm_send_free(s);
        return;
    }
    if (s->is_late)
        r = err_set(&err, -ETIMEDOUT, "node '%s' does not answer", s->node);
    else if (!buf_ok(&s->answer))
        r = err_set(&err, -EPROTO, "node '%s' answers more than %d bytes", s->node, ANSWER_MAX);
    else if (r < 0)
        r = err_set(&err, r, "node '%s': %s", s->node, err_text(cause));
    else
        r = check_status(s, &err);
    if (r < 0)
        end(s, r, NULL, &err);
    else
        take_answer(s);
}

static void on_late(struct timer *t)
{
    struct image_bdm_send *s = container_of(t, struct image_bdm_send, timer);
    if (!s->call)
        return;
    s->is_late = true;
    exchange_cancel(s->call);
}

/* what, digest: of the token. Ends it where the request cannot be started. */
static void ask(struct image_bdm_send *s, const char *method, const char *target, struct str body,
                const char *what, const struct oci_digest *digest)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_call_end };
    char token[IMAGE_BDM_TOKEN_SIZE];
    struct headers h = { 0 };
    struct err err = { 0 };
    const struct image_bdm_grant g = image_server_grant(what, s->node, digest);
    image_bdm_token(str_of(s->key), &g, clock_wall_ms() / 1000, TOKEN_S, token);
    scoped(free_scoped) char *shown = xasprintf("Bearer %s", token);
    (void)headers_addc(&h, "authorization", shown);
    const struct http_call_opts o = { .method = str_of(method),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .body = body,
                                      .head_timeout_ms = IMAGE_BDM_SEND_ANSWER_MS,
                                      .events = &events,
                                      .arg = s };
    s->is_late = false;
    s->status = 0;
    buf_reset(&s->answer);
    int r = http_call_start(s->client, &o, &s->call, &err);
    headers_fini(&h);
    if (r < 0)
        end(s, r, NULL, &err);
    else
        timer_start(s->o.loop, &s->timer, s->deadline_ms + IMAGE_BDM_SEND_REST_MS, on_late);
}

/* ---- messages ---- */

static void send_text(struct image_bdm_send *s)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    bool is_bdm = s->at == SEND_BDM;
    oci_digest_format(&s->digests[s->at], digest);
    scoped(free_scoped) char *target =
        xasprintf(is_bdm ? "/v1/bdm?digest=%s" : "/v1/meta/%s", digest);
    ask(s, is_bdm ? "POST" : "PUT", target, str_n(s->texts[s->at], s->n_texts[s->at]),
        is_bdm ? "bdm" : "meta", &s->digests[s->at]);
}

static void on_pause_over(struct timer *t)
{
    struct image_bdm_send *s = container_of(t, struct image_bdm_send, timer);
    s->at = SEND_ASK;
    step(s);
}

/* ---- nodes that push ---- */

static int open_client(const struct image_bdm_send *s, const char *node, struct str at,
                       struct http_client **ret, struct err *err)
{
    struct fetch_url u;
    scoped(free_scoped) char *url = str_dup(at);
    int r = fetch_url_parse(url, NULL, &u, err);
    if (r < 0)
        return r;
    const struct http_client_opts o = { .host = u.host,
                                        .port = u.port,
                                        .tls = u.tls ? s->o.tls : NULL,
                                        .may_connect = s->o.may_connect,
                                        .may_connect_arg = s->o.may_connect_arg };
    if (u.tls && !s->o.tls)
        r = err_set(err, E_INVALID, "node '%s' is at '%s', and there is no TLS", node, url);
    r = r < 0 ? r : http_client_new(s->o.loop, &o, ret, err);
    fetch_url_fini(&u);
    return r;
}

static void on_notice_head(void *arg, int status, const struct headers *headers)
{
    struct notice *t = arg;
    (void)headers;
    t->status = status;
}

static void on_notice_data(void *arg, struct str chunk)
{
    struct notice *t = arg;
    t->n_answer += chunk.n;
    if (t->n_answer > ANSWER_MAX)
        exchange_cancel(t->call);
}

static void log_unnotified(const struct notice *t, const struct err *err)
{
    char why[LOG_QUOTE_MAX];
    log_debug("a node was not told to push", "node=%s reason=\"%s\"", t->name,
              log_quote(why, str_of(err_text(err))));
}

static void on_notice_done(void *arg, int r, const struct err *err)
{
    struct notice *t = arg;
    if (r < 0)
        log_unnotified(t, err);
    else if (t->status >= 300)
        log_debug("a node does not push", "node=%s status=%d", t->name, t->status);
    t->call = NULL;
    notice_free(t);
}

static int send_notice(struct image_bdm_send *s, struct notice *t, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_notice_head,
                                                   .on_data = on_notice_data,
                                                   .on_end = on_notice_done };
    char token[IMAGE_BDM_TOKEN_SIZE], digest[OCI_DIGEST_TEXT_SIZE];
    struct headers h = { 0 };
    const struct image_bdm_grant g = image_server_grant("bdm", t->name, &t->digest);
    int r = open_client(s, t->name, str_of(t->url), &t->client, err);
    if (r < 0)
        return r;
    oci_digest_format(&t->digest, digest);
    image_bdm_token(str_of(s->key), &g, clock_wall_ms() / 1000, TOKEN_S, token);
    scoped(free_scoped) char *target = xasprintf("/v1/bdm?digest=%s", digest);
    scoped(free_scoped) char *shown = xasprintf("Bearer %s", token);
    (void)headers_addc(&h, "authorization", shown);
    const struct http_call_opts o = { .method = STR("POST"),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .body = str_n(t->text, t->n),
                                      .head_timeout_ms = IMAGE_BDM_SEND_ANSWER_MS,
                                      .events = &events,
                                      .arg = t };
    r = http_call_start(t->client, &o, &t->call, err);
    headers_fini(&h);
    return r;
}

/* When the node of the deployment waits for the pushed ranges. */
static void send_notices(struct image_bdm_send *s)
{
    list_each_safe (node, &s->notice) {
        struct notice *t = list_entry(node, struct notice, node);
        struct err err = { 0 };
        if (t->client)
            continue;
        if (send_notice(s, t, &err) < 0) {
            log_unnotified(t, &err);
            notice_free(t);
        }
    }
}

/* The only function that starts requests; `s` may be freed by it. */
static void step(struct image_bdm_send *s)
{
    static const struct oci_digest none;
    while (s->at < SEND_BDM && !s->texts[s->at])
        s->at++;
    switch (s->at) {
    case SEND_MANIFEST:
    case SEND_CONFIG:
    case SEND_BDM:
        send_text(s);
        return;
    case SEND_ASK: {
        scoped(free_scoped) char *target = xasprintf("/v1/deploys/%s", s->deploy);
        ask(s, "GET", target, STR(""), s->deploy, &none);
        return;
    }
    case SEND_PAUSE:
        timer_start(s->o.loop, &s->timer, s->o.poll_ms, on_pause_over);
        return;
    }
}

/* How far the node is: after the BDM was posted, and each time it was asked. */
static void take_progress(struct image_bdm_send *s)
{
    struct arena a = { 0 };
    struct json *v;
    struct err err = { 0 };
    int r = json_parse(&a, buf_str(&s->answer), NULL, &v, &err);
    struct str state = r < 0 ? STR("") : json_get_str(v, "state");
    if (r < 0) {
        r = err_set(&err, -EPROTO, "node '%s' answers something else", s->node);
        end(s, r, NULL, &err);
    } else if (!str_is(state, "running")) {
        end(s, str_is(state, "done"), v, NULL);
    } else if (clock_mono_ms() > s->until_ms) {
        r = err_set(&err, -ETIMEDOUT, "node '%s' does not end the deployment", s->node);
        end(s, r, NULL, &err);
    } else {
        send_notices(s);
        s->at = SEND_PAUSE;
        step(s);
    }
    arena_fini(&a);
}

static void take_answer(struct image_bdm_send *s)
{
    if (s->at >= SEND_BDM) {
        take_progress(s);
        return;
    }
    s->at++;
    step(s);
}

/* ---- beginning ---- */

int image_bdm_key_read(const char *path, struct buf *to, struct err *err)
{
    int r = sys_read_file(AT_FDCWD, path, to, err);
    while (r >= 0 && to->n && (uint8_t)to->p[to->n - 1] <= ' ')
        to->p[--to->n] = '\0';
    if (r >= 0 && (to->n == 0 || memchr(to->p, '\0', to->n)))
        return err_set(err, E_INVALID, "'%s' holds no secret in text", path);
    if (r >= 0 && to->n < IMAGE_BDM_KEY_MIN_BYTES)
        return err_set(err, E_INVALID, "the key in '%s' has fewer than %d bytes", path,
                       IMAGE_BDM_KEY_MIN_BYTES);
    return r;
}

static bool is_https(struct str url)
{
    return str_has_prefix(url, STR("https:"));
}

bool image_bdm_send_wants_tls(const struct image_bdm_plan *plan)
{
    const struct image_cluster_file *f = plan->file;
    bool wants = is_https(f->node_urls[f->o.node]);
    for (size_t i = 0; i < plan->tasks->all.n && plan->is_push; i++) {
        const struct image_task *task = &plan->tasks->all.p[i];
        if (task->kind == IMAGE_TASK_PEER)
            wants |= is_https(f->node_urls[task->source]);
    }
    return wants;
}

static void keep_text(struct image_bdm_send *s, enum send_at at, struct str text, struct str other,
                      const struct oci_digest *digest)
{
    text = text.n ? text : other;
    if (!text.n)
        return;
    s->texts[at] = str_dup(text);
    s->n_texts[at] = text.n;
    s->digests[at] = *digest;
}

static bool has_notice(const struct image_bdm_send *s, struct str name)
{
    list_each (node, &s->notice)
        if (str_is(name, list_entry(node, struct notice, node)->name))
            return true;
    return false;
}

/* Tasks of nodes beyond the limit are pulled. */
static void add_notice(struct image_bdm_send *s, struct image_bdm *b)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_BDM_MAX_BYTES);
    for (size_t i = 0; i < b->n_tasks; i++) {
        struct image_bdm_task *task = &b->tasks[i];
        if (!task->is_push || has_notice(s, task->source.name))
            continue;
        if (s->n_notices == IMAGE_BDM_SEND_PUSHERS_MAX) {
            task->is_push = false;
            continue;
        }
        struct notice *t = xnew(struct notice);
        buf_reset(&text);
        image_bdm_write(b, task->source.name, &text);
        *t = (struct notice){ .name = str_dup(task->source.name),
                              .url = str_dup(task->source.url),
                              .text = str_dup(buf_str(&text)),
                              .n = text.n };
        sha256_of(buf_str(&text), t->digest.bytes);
        list_push_back(&s->notice, &t->node);
        s->n_notices++;
    }
}

static int write_bdm(struct image_bdm_send *s, const struct image_bdm_send_opts *o, struct err *err)
{
    struct arena a = { 0 };
    struct image_bdm b;
    struct oci_digest digest;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_BDM_MAX_BYTES);
    struct image_bdm_plan plan = o->plan;
    plan.deploy = s->deploy;
    int r = image_bdm_plan(&a, &plan, &b, err);
    if (r >= 0) {
        add_notice(s, &b);
        image_bdm_write(&b, STR(""), &text);
        r = buf_ok(&text) ? 0 : err_set(err, E_LIMIT, "the BDM is too large");
    }
    if (r >= 0) {
        sha256_of(buf_str(&text), digest.bytes);
        keep_text(s, SEND_BDM, buf_str(&text), STR(""), &digest);
    }
    arena_fini(&a);
    return r;
}

static void on_begin(struct timer *t)
{
    step(container_of(t, struct image_bdm_send, timer));
}

int image_bdm_send_start(const struct image_bdm_send_opts *opts, struct image_bdm_send **ret,
                         struct err *err)
{
    const struct image_cluster_file *f = opts->plan.file;
    struct image_bdm_send *s = xnew(struct image_bdm_send);
    s->o = *opts;
    list_init(&s->notice);
    s->key = str_dup(opts->plan.key);
    s->node = str_dup(f->node_names[f->o.node]);
    s->deadline_ms = opts->plan.deadline_ms;
    s->until_ms = clock_mono_ms() + s->deadline_ms + IMAGE_BDM_SEND_REST_MS;
    buf_init(&s->answer, ANSWER_MAX);
    sys_uuid(s->deploy);
    keep_text(s, SEND_MANIFEST, f->manifest_text, opts->manifest_text, &f->manifest);
    keep_text(s, SEND_CONFIG, f->config_text, opts->config_text, &f->config);
    int r = write_bdm(s, opts, err);
    r = r < 0 ? r : open_client(s, s->node, f->node_urls[f->o.node], &s->client, err);
    if (r < 0) {
        bdm_send_free(s);
        return r;
    }
    timer_start(s->o.loop, &s->timer, 0, on_begin);
    *ret = s;
    return 0;
}

void image_bdm_send_cancel(struct image_bdm_send *s)
{
    if (!s)
        return;
    bool has_call = s->call != NULL;
    timer_stop(s->o.loop, &s->timer);
    drop_notices(s);
    s->is_cancelled = true;
    http_client_close(take_ptr(&s->client)); /* ends the call, which frees it */
    if (!has_call)
        bdm_send_free(s);
}
