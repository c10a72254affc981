/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image plan --send: the BDM of a plan to its node, then its outcome. */
#include "cmd/image_plan_send.h"

#include "base/clock.h"
#include "base/sys.h"
#include "cmd/image_store.h"
#include "image/bdm_plan.h"
#include "image/server.h"
#include "io/fetch_url.h"
#include "io/tls.h"

#include <errno.h>
#include <fcntl.h>

enum {
    SECRET_MAX = 4096,
    PEM_MAX = 1 << 20,
    ANSWER_MAX = 1 << 20,
    ANSWER_MS = 15000,
    POLL_MS = 200,
    TOKEN_S = 60,
    REST_MS = 10000, /* beyond the deadline, until the node must have said how it ended */
};

struct sender {
    const struct image_plan_send *o;
    const struct image_cluster_file *f;
    struct loop loop;
    struct http_client *client;
    struct tls_ctx *tls;
    struct buf key;
    char deploy[37];
    const char *node;
    struct timer timer; /* of the request, or until the next one */
    /* The request under way. */
    struct http_call *call;
    bool is_over, is_late;
    int r, status;
    struct err err;
    struct buf answer;
};

/* ---- one request ---- */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct sender *s = arg;
    (void)headers;
    s->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct sender *s = arg;
    (void)buf_add_str(&s->answer, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct sender *s = arg;
    s->is_over = true;
    s->r = r;
    if (r < 0)
        s->err = *err;
}

static void on_late(struct timer *t)
{
    struct sender *s = container_of(t, struct sender, timer);
    if (s->is_over)
        return; /* the call ended in the same turn */
    s->is_late = true;
    http_call_cancel(s->call);
}

static int check_answer(struct sender *s, struct err *err)
{
    struct arena a = { 0 };
    struct json *v;
    struct str why = STR("");
    if (s->is_late)
        return err_set(err, -ETIMEDOUT, "node '%s' does not answer", s->node);
    if (s->r < 0)
        return err_set(err, s->r, "node '%s': %s", s->node, err_text(&s->err));
    if (s->status < 300)
        return 0;
    if (json_parse(&a, buf_str(&s->answer), NULL, &v, NULL) >= 0)
        why = json_get_str(json_first(json_getc(v, "errors")), "message");
    int r = err_set(err, s->status == 403 ? E_DENIED : -EPROTO, "node '%s' answers %d: " STR_FMT,
                    s->node, s->status, STR_ARG(str_slice(why, 0, 160)));
    arena_fini(&a);
    return r;
}

/* what, digest: of its token. The answer is in s->answer. */
static int ask(struct sender *s, const char *method, const char *target, struct str body,
               const char *what, const struct oci_digest *digest, struct err *err)
{
    static const struct http_call_ops ops = { .on_head = on_head,
                                              .on_data = on_data,
                                              .on_end = on_end };
    char token[IMAGE_BDM_TOKEN_SIZE];
    struct headers h = { 0 };
    const struct image_bdm_grant g = image_server_grant(what, s->node, digest);
    image_bdm_token(buf_str(&s->key), &g, clock_wall_ms() / 1000, TOKEN_S, token);
    scoped(free_scoped) char *shown = xasprintf("Bearer %s", token);
    (void)headers_addc(&h, "authorization", shown);
    const struct http_call_opts o = { .method = str_of(method),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .body = body,
                                      .head_timeout_ms = ANSWER_MS,
                                      .ops = &ops,
                                      .arg = s };
    s->is_over = s->is_late = false;
    s->status = 0;
    buf_reset(&s->answer);
    int r = http_call_start(s->client, &o, &s->call, err);
    headers_fini(&h);
    if (r >= 0)
        timer_start(&s->loop, &s->timer, s->o->deadline_ms + REST_MS, on_late);
    while (r >= 0 && !s->is_over)
        (void)loop_turn(&s->loop, true);
    timer_stop(&s->loop, &s->timer);
    return r < 0 ? r : check_answer(s, err);
}

/* ---- what is sent ---- */

/* What the plan or the image store here (NULL: none) has of the image; else the node asks the
 * registry. */
static int send_document(struct sender *s, struct oci_store *store, const struct oci_digest *d,
                         struct str text, struct err *err)
{
    struct arena a = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE];
    int r = text.n ? 0 : store ? oci_store_document(store, d, &a, &text, NULL) : -ENOENT;
    if (r >= 0) {
        oci_digest_format(d, digest);
        scoped(free_scoped) char *target = xasprintf("/v1/meta/%s", digest);
        r = ask(s, "PUT", target, text, "meta", d, err);
    } else {
        r = 0;
    }
    arena_fini(&a);
    return r;
}

static int send_documents(struct sender *s, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *store = NULL;
    const struct oci_store_opts o = { .is_reader = true };
    (void)image_store_open(s->o->store, o, &store, NULL); /* there may be none */
    int r = send_document(s, store, &s->f->manifest, s->f->manifest_text, err);
    return r < 0 ? r : send_document(s, store, &s->f->config, s->f->config_text, err);
}

static int send_bdm(struct sender *s, const struct image_tasks *tasks, struct err *err)
{
    struct arena a = { 0 };
    struct image_bdm b;
    struct oci_digest digest;
    char named[OCI_DIGEST_TEXT_SIZE];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_BDM_MAX_BYTES);
    const struct image_bdm_plan p = { .file = s->f,
                                      .tasks = tasks,
                                      .key = buf_str(&s->key),
                                      .deploy = s->deploy,
                                      .deadline_ms = s->o->deadline_ms,
                                      .wall_s = clock_wall_ms() / 1000 };
    int r = image_bdm_plan(&a, &p, &b, err);
    if (r >= 0) {
        image_bdm_write(&b, STR(""), &text);
        r = buf_ok(&text) ? 0 : err_set(err, E_LIMIT, "the BDM is too large");
    }
    sha256_of(buf_str(&text), digest.bytes);
    oci_digest_format(&digest, named);
    scoped(free_scoped) char *target = xasprintf("/v1/bdm?digest=%s", named);
    r = r < 0 ? r : ask(s, "POST", target, buf_str(&text), "bdm", &digest, err);
    arena_fini(&a);
    return r;
}

/* ---- the outcome ---- */

static void print_outcome(const struct sender *s, const struct json *v)
{
    if (s->o->is_json) {
        image_store_print_json(v);
        return;
    }
    struct str why = json_get_str(v, "error");
    (void)printf("\n%s on %s: %lld of %lld layers, %lld of them there before, %lld bytes from "
                 "nodes, %lld from the registry\n",
                 str_is(json_get_str(v, "state"), "done") ? "deployed" : "failed", s->node,
                 (long long)json_int_or(json_getc(v, "layersDone"), 0),
                 (long long)json_int_or(json_getc(v, "layers"), 0),
                 (long long)json_int_or(json_getc(v, "layersPresent"), 0),
                 (long long)json_int_or(json_getc(v, "peerBytes"), 0),
                 (long long)json_int_or(json_getc(v, "registryBytes"), 0));
    if (why.n)
        image_store_print_name(why);
    json_each (l, json_getc(v, "liars"))
        (void)printf("wrong bytes came from " STR_FMT "\n", STR_ARG(json_str(l)));
}

static void on_timer(struct timer *t)
{
    (void)t;
}

static void wait_ms(struct sender *s, uint64_t ms)
{
    timer_start(&s->loop, &s->timer, ms, on_timer);
    while (timer_is_armed(&s->timer))
        (void)loop_turn(&s->loop, true);
}

/* 1: it is deployed; 0: it failed, and that was printed. */
static int wait_for_end(struct sender *s, struct err *err)
{
    static const struct oci_digest none;
    scoped(free_scoped) char *target = xasprintf("/v1/deploys/%s", s->deploy);
    uint64_t until = clock_mono_ms() + s->o->deadline_ms + REST_MS;
    for (;;) {
        struct arena a = { 0 };
        struct json *v;
        int r = ask(s, "GET", target, STR(""), s->deploy, &none, err);
        r = r < 0 ? r : json_parse(&a, buf_str(&s->answer), NULL, &v, err);
        bool is_running = r >= 0 && str_is(json_get_str(v, "state"), "running");
        if (r >= 0 && !is_running) {
            print_outcome(s, v);
            r = str_is(json_get_str(v, "state"), "done");
        }
        arena_fini(&a);
        if (r < 0 || !is_running)
            return r;
        if (clock_mono_ms() > until)
            return err_set(err, -ETIMEDOUT, "node '%s' does not end the deployment", s->node);
        wait_ms(s, POLL_MS);
    }
}

/* ---- the whole ---- */

static int read_key(struct sender *s, struct err *err)
{
    int r = sys_read_file(AT_FDCWD, s->o->key_file, &s->key, err);
    while (r >= 0 && s->key.n && (uint8_t)s->key.p[s->key.n - 1] <= ' ')
        s->key.p[--s->key.n] = '\0';
    if (r >= 0 && s->key.n < IMAGE_BDM_KEY_MIN_BYTES)
        return err_set(err, E_INVALID, "the key in '%s' has fewer than %d bytes", s->o->key_file,
                       IMAGE_BDM_KEY_MIN_BYTES);
    return r;
}

static int open_client(struct sender *s, struct err *err)
{
    struct fetch_url u;
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(PEM_MAX);
    scoped(free_scoped) char *url = str_dup(s->f->node_urls[s->f->o.node]);
    if (!*url)
        return err_set(err, E_INVALID, "node '%s' has no url in the file", s->node);
    int r = s->o->peer_ca ? sys_read_file(AT_FDCWD, s->o->peer_ca, &ca, err) : 0;
    r = r < 0 ? r : fetch_url_parse(url, NULL, &u, err);
    if (r < 0)
        return r;
    if (u.tls)
        r = tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, &s->tls, err);
    const struct http_client_opts o = { .host = u.host, .port = u.port, .tls = s->tls };
    r = r < 0 ? r : http_client_new(&s->loop, &o, &s->client, err);
    fetch_url_fini(&u);
    return r;
}

static int send_all(struct sender *s, const struct image_tasks *tasks, struct err *err)
{
    int r = read_key(s, err);
    r = r < 0 ? r : open_client(s, err);
    r = r < 0 ? r : send_documents(s, err);
    r = r < 0 ? r : send_bdm(s, tasks, err);
    return r < 0 ? r : wait_for_end(s, err);
}

int image_plan_send(const struct image_plan_send *o, const struct image_cluster_file *f,
                    const struct image_tasks *tasks)
{
    struct err err = { 0 };
    struct sender s = {
        .o = o, .f = f, .key = BUF_INIT(SECRET_MAX), .answer = BUF_INIT(ANSWER_MAX)
    };
    scoped(free_scoped) char *node = str_dup(f->node_names[f->o.node]);
    s.node = node;
    sys_uuid(s.deploy);
    int r = loop_init(&s.loop, &err);
    if (r < 0)
        return cmd_fail(CMD_FAILED, &err);
    r = send_all(&s, tasks, &err);
    if (s.client)
        http_client_close(s.client);
    loop_run(&s.loop);
    loop_fini(&s.loop);
    tls_ctx_free(s.tls);
    buf_fini(&s.key);
    buf_fini(&s.answer);
    if (r < 0)
        return cmd_fail(r == -ECONNREFUSED ? CMD_UNAVAILABLE : CMD_FAILED, &err);
    return r > 0 ? CMD_OK : CMD_FAILED;
}
