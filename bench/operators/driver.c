/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include "node/admin_client.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW = 16, WORK_TIMEOUT_MS = 120000, ASLEEP_TIMEOUT_MS = 120000 };

_Noreturn void driver_die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
                  err ? err_text(err) : "");
    exit(1);
}

void driver_open(struct driver *d, const char *kubeconfig)
{
    struct err err = { 0 };
    buf_init(&d->line, BUF_MAX_DEFAULT);
    if (kubeconfig_load(kubeconfig, NULL, &d->config, &err) < 0 || loop_init(&d->loop, &err) < 0 ||
        http_transport_new(&d->loop, d->config, &d->transport, &err) < 0)
        driver_die("connect", &err);
}

/* ---------------------------------------------------------------- requests */

struct request {
    struct driver *driver;
    int status;
    struct buf body;
    bool done;
    int accept_also;
    bool is_own; /* allocated by driver_start(); freed at its end */
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct request *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    (void)buf_add_str(&((struct request *)arg)->body, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct request *q = arg;
    struct driver *d = q->driver;
    q->done = true;
    d->in_flight--;
    bool ok = r >= 0 && (q->status / 100 == 2 || q->status == q->accept_also);
    if (!ok && d->refused++ == 0)
        (void)snprintf(d->first_refusal, sizeof d->first_refusal, "%d %s" STR_FMT, q->status,
                       r < 0 ? err_text(err) : "", STR_ARG(str_slice(buf_str(&q->body), 0, 300)));
    if (q->is_own) {
        buf_fini(&q->body);
        free(q);
    }
}

static const struct exchange_events request_events = { .on_head = on_head,
                                                       .on_data = on_data,
                                                       .on_end = on_end };

static void send_request(struct request *q, const char *method, const char *target,
                         const char *type, struct str body)
{
    struct headers h = { 0 };
    struct exchange *call;
    struct err err = { 0 };
    (void)headers_addc(&h, "accept", "application/json");
    if (body.n)
        (void)headers_addc(&h, "content-type", type);
    uv_update_time(&q->driver->loop.uv); /* time-outs count from now, not from before a wait */
    struct kube_request req = {
        .method = str_of(method), .target = str_of(target), .headers = &h, .body = body
    };
    if (transport_start(http_transport_base(q->driver->transport), &req, &request_events, q, &call,
                        &err) < 0)
        driver_die(target, &err);
    q->driver->in_flight++;
    headers_fini(&h);
}

void driver_start(struct driver *d, const char *method, const char *target, struct str body,
                  int accept_also)
{
    while (d->in_flight >= WINDOW)
        (void)loop_turn(&d->loop, true);
    struct request *q = xnew(struct request);
    q->driver = d;
    q->accept_also = accept_also;
    q->is_own = true;
    buf_init(&q->body, BUF_MAX_DEFAULT);
    send_request(q, method, target, "application/json", body);
}

void driver_wait_all(struct driver *d, const char *what)
{
    while (d->in_flight)
        (void)loop_turn(&d->loop, true);
    if (!d->refused)
        return;
    (void)fprintf(stderr, "%s: %s: %u requests were refused, the first with: %s\n",
                  program_invocation_short_name, what, d->refused, d->first_refusal);
    exit(1);
}

int driver_ask(struct driver *d, const char *method, const char *target, const char *type,
               struct str body, struct buf *ret)
{
    struct request q = { .driver = d, .body = BUF_INIT(BUF_MAX_DEFAULT), .accept_also = 0 };
    unsigned refused = d->refused;
    send_request(&q, method, target, type, body);
    while (!q.done)
        (void)loop_turn(&d->loop, true);
    d->refused = refused; /* the caller judges */
    if (ret)
        (void)buf_add_str(ret, buf_str(&q.body));
    buf_fini(&q.body);
    return q.status;
}

/* ---------------------------------------------------------------- setup */

static const char crd[] = "{\"apiVersion\":\"apiextensions.k8s.io/"
                          "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
                          "\"testresources.amurant.io\"},\"spec\":{\"group\":\"amurant.io\","
                          "\"scope\":\"Namespaced\",\"names\":{\"plural\":"
                          "\"testresources\",\"singular\":\"testresource\",\"kind\":"
                          "\"TestResource\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                          "\"storage\":true,\"additionalPrinterColumns\":[{\"name\":\"Nonce\","
                          "\"type\":\"integer\",\"jsonPath\":\".spec.nonce\"}],"
                          "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{"
                          "\"spec\":{\"type\":\"object\","
                          "\"properties\":{\"nonce\":{\"type\":\"integer\"},\"updated_at\":{"
                          "\"type\":\"string\"}}}}}}}]}}";

void driver_create_namespace(struct driver *d, const char *name)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}", name);
    driver_start(d, "POST", "/api/v1/namespaces", str_of(body), 409);
}

void driver_create_crd(struct driver *d)
{
    driver_start(d, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", str_of(crd),
                 409);
    driver_wait_all(d, "create the CRD");
    uint64_t until = clock_mono_ms() + 30000;
    while (driver_ask(d, "GET", TEST_RESOURCES "/testresources?limit=1", NULL, STR(""), NULL) !=
           200) {
        if (clock_mono_ms() > until)
            driver_die("the CRD is not served", NULL);
        usleep(5000);
    }
}

void driver_allow_operators(struct driver *d, const char *name, const char *rules)
{
#define RBAC "/apis/rbac.authorization.k8s.io/v1/"
    scoped(free_scoped) char *common = xasprintf(
        "\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name\":\"%s\"}", name);
    scoped(free_scoped) char *role =
        xasprintf("{%s,\"kind\":\"ClusterRole\",\"rules\":[%s]}", common, rules);
    scoped(free_scoped) char *binding =
        xasprintf("{%s,\"kind\":\"ClusterRoleBinding\",\"roleRef\":{\"apiGroup\":"
                  "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"%s\"},"
                  "\"subjects\":[{\"kind\":\"Group\",\"apiGroup\":\"rbac.authorization.k8s.io\","
                  "\"name\":\"system:serviceaccounts:operators\"}]}",
                  common, name);
    driver_start(d, "POST", RBAC "clusterroles", str_of(role), 409);
    driver_start(d, "POST", RBAC "clusterrolebindings", str_of(binding), 409);
    driver_wait_all(d, "create rights");
#undef RBAC
}

/* ---------------------------------------------------------------- watch */

static void tell(struct driver *d, const struct json *object, uint64_t now_ns)
{
    d->on_object(d->arg, json_get_str(json_getc(object, "metadata"), "namespace"),
                 json_int_or(json_path(object, "spec", "nonce", NULL), -1), now_ns);
}

static void on_line(struct driver *d, struct str line, uint64_t now_ns)
{
    struct arena a = { 0 };
    struct json *event;
    struct err err = { 0 };
    if (json_parse(&a, line, NULL, &event, &err) < 0)
        driver_die("watch", &err);
    if (str_is(json_get_str(event, "type"), "ERROR"))
        driver_die("the watch ended with an error", NULL);
    tell(d, json_getc(event, "object"), now_ns);
    arena_fini(&a);
}

static void on_watch_head(void *arg, int status, const struct headers *headers)
{
    if (status != 200)
        driver_die("watch refused", NULL);
}

static void on_watch_data(void *arg, struct str chunk)
{
    struct driver *d = arg;
    uint64_t now = clock_mono_ns();
    struct str line;
    while (str_find_char(chunk, '\n') >= 0) {
        (void)str_cut(chunk, '\n', &line, &chunk);
        (void)buf_add_str(&d->line, line);
        if (d->line.n)
            on_line(d, buf_str(&d->line), now);
        buf_reset(&d->line);
    }
    (void)buf_add_str(&d->line, chunk);
}

static void on_watch_end(void *arg, int r, const struct err *err)
{
    ((struct driver *)arg)->watch_ended = true;
}

static const struct exchange_events watch_events = { .on_head = on_watch_head,
                                                     .on_data = on_watch_data,
                                                     .on_end = on_watch_end };

void driver_watch(struct driver *d)
{
    scoped(buf_fini_scoped) struct buf list = BUF_INIT(BUF_MAX_DEFAULT);
    struct arena a = { 0 };
    struct json *v;
    struct err err = { 0 };
    if (driver_ask(d, "GET", TEST_RESOURCES "/testresources", NULL, STR(""), &list) != 200 ||
        json_parse(&a, buf_str(&list), NULL, &v, &err) < 0)
        driver_die("list", &err);
    json_each (object, json_getc(v, "items"))
        tell(d, object, clock_mono_ns());
    scoped(free_scoped) char *target = xasprintf(
        TEST_RESOURCES "/testresources?watch=true&timeoutSeconds=86400&resourceVersion=" STR_FMT,
        STR_ARG(json_get_str(json_getc(v, "metadata"), "resourceVersion")));
    arena_fini(&a);
    struct kube_request req = { .method = STR("GET"), .target = str_of(target) };
    if (transport_start(http_transport_base(d->transport), &req, &watch_events, d, &d->watch,
                        &err) < 0)
        driver_die("watch", &err);
}

static void on_timeout(struct timer *t)
{
    driver_die("operators did not do their work in time", NULL);
}

void driver_wait_for(struct driver *d, const size_t *left, const char *what)
{
    struct timer timeout = { 0 };
    uv_update_time(&d->loop.uv);
    timer_start(&d->loop, &timeout, WORK_TIMEOUT_MS, on_timeout);
    while (*left && !d->watch_ended)
        (void)loop_turn(&d->loop, true);
    timer_stop(&d->loop, &timeout);
    if (*left)
        driver_die(what, NULL);
}

/* ---------------------------------------------------------------- sleep */

void driver_wait_asleep(const char *data_dir, uint64_t min_guests)
{
    uint64_t until = clock_mono_ms() + ASLEEP_TIMEOUT_MS + min_guests * 100;
    bool is_shown = min_guests && isatty(STDERR_FILENO);
    for (;;) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(65536);
        struct arena a = { 0 };
        struct json *v;
        struct err err = { 0 };
        if (admin_get(data_dir, "/status", &b, &err) < 0 ||
            json_parse(&a, buf_str(&b), NULL, &v, &err) < 0)
            driver_die("status", &err);
        int64_t n = json_int_or(json_getc(v, "guests"), -1),
                asleep = json_int_or(json_getc(v, "asleep"), -2);
        int64_t runners = json_int_or(json_getc(v, "runners"), 0);
        arena_fini(&a);
        if (is_shown)
            (void)fprintf(stderr,
                          "\r\033[K%" PRId64 " of %" PRIu64
                          " operators compiled and started, %" PRId64 " asleep",
                          n, min_guests, asleep);
        /* Asked by a person or a measurement of memory: until the last runner has gone, too. */
        if (n == asleep && n >= (int64_t)min_guests && (min_guests == 0 || runners == 0)) {
            if (is_shown)
                (void)fprintf(stderr, "\n");
            return;
        }
        if (clock_mono_ms() > until)
            driver_die("not all guests fell asleep", NULL);
        usleep(20000);
    }
}

void driver_print_us(const char *name, const uint64_t *ns, size_t n)
{
    (void)printf("\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        (void)printf("%s%" PRIu64, i ? "," : "", ns[i] / 1000);
    (void)printf("]");
}
