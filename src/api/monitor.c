/* SPDX-License-Identifier: Apache-2.0 */
/* Observability: metrics and health checks. */
#include "api/monitor.h"

#include "api/core.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/version.h"
#include "kube/model/builtin_tables.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ------------------------------------------------------------------ requests */

static const char *verb_of(const struct request *rq)
{
    static const struct {
        enum kube_verb verb;
        const char *name;
    } names[] = {
        { KUBE_GET, "GET" },       { KUBE_LIST, "LIST" },
        { KUBE_WATCH, "WATCH" },   { KUBE_CREATE, "POST" },
        { KUBE_UPDATE, "PUT" },    { KUBE_PATCH, "PATCH" },
        { KUBE_DELETE, "DELETE" }, { KUBE_DELETECOLLECTION, "DELETECOLLECTION" },
    };
    if (rq->res && rq->route.verb == KUBE_PATCH &&
        str_has_prefix(rq->content_type, STR("application/apply-patch")))
        return "APPLY";
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (rq->res && rq->route.verb == names[i].verb)
            return names[i].name;
    return "GET";
}

static const char *scope_of(const struct request *rq)
{
    if (!rq->res)
        return "";
    return rq->route.name.n ? "resource" : rq->route.ns.n ? "namespace" : "cluster";
}

/* Only existing names become labels: names invented by clients would fill the table. */
static struct str labels_of(struct request *rq)
{
    const struct route *rt = &rq->route;
    struct str none = STR("");
    struct str group = rq->res ? rt->group : none, version = rq->res ? rt->version : none;
    struct str resource = rq->res ? rt->resource : none, sub = rq->sub ? rt->subresource : none;
    bool dry = rq->res && rt->url && url_query_get(rt->url, "dryRun").n;
    return str_of(arena_printf(&rq->arena,
                               "verb=\"%s\",group=\"" STR_FMT "\",version=\"" STR_FMT
                               "\",resource=\"" STR_FMT "\",subresource=\"" STR_FMT
                               "\",scope=\"%s\",dry_run=\"%s\",component=\"apiserver\"",
                               verb_of(rq), STR_ARG(group), STR_ARG(version), STR_ARG(resource),
                               STR_ARG(sub), scope_of(rq), dry ? "All" : ""));
}

void monitor_request(struct request *rq)
{
    metrics_request(&rq->api->metrics, labels_of(rq), rq->status,
                    (clock_mono_ns() - rq->start_ns) / 1000);
}

/* ------------------------------------------------------------------ values read on request */

static void write_inflight(const struct api *api, struct buf *to)
{
    size_t writing = 0;
    list_each (node, &api->requests) {
        const struct request *rq = list_entry(node, struct request, node);
        writing += rq->counted && !str_is(rq->method, "GET") && !str_is(rq->method, "HEAD");
    }
    metric_head(to, "apiserver_current_inflight_requests", "gauge",
                "Requests that are being worked on.");
    (void)buf_printf(to,
                     "apiserver_current_inflight_requests{request_kind=\"mutating\"} %zu\n"
                     "apiserver_current_inflight_requests{request_kind=\"readOnly\"} %zu\n",
                     writing, api->n_inflight - writing);
}

static void write_watches(const struct api *api, struct buf *to)
{
    struct map counts = { 0 };
    size_t *n;
    list_each (node, &api->requests) {
        struct request *rq = list_entry(node, struct request, node);
        if (!rq->res || rq->route.verb != KUBE_WATCH || rq->status != 200 || rq->gone)
            continue;
        struct arena a = { 0 };
        struct str labels = str_of(arena_printf(
            &a,
            "verb=\"WATCH\",group=\"" STR_FMT "\",version=\"" STR_FMT "\",resource=\"" STR_FMT
            "\",subresource=\"\",scope=\"%s\",component=\"apiserver\"",
            STR_ARG(rq->route.group), STR_ARG(rq->route.version), STR_ARG(rq->route.resource),
            scope_of(rq)));
        n = map_get(&counts, labels);
        if (!n) {
            n = xnew(size_t);
            (void)map_put(&counts, labels, n);
        }
        ++*n;
        arena_fini(&a);
    }
    metric_head(to, "apiserver_longrunning_requests", "gauge", "Watches that are open.");
    map_each (e, &counts) {
        n = e->value;
        (void)buf_printf(to, "apiserver_longrunning_requests{" STR_FMT "} %zu\n", STR_ARG(e->key),
                         *n);
        free(n);
    }
    map_fini(&counts);
}

static void write_u64(struct buf *to, const char *name, const char *type, const char *help,
                      const char *labels, uint64_t v)
{
    metric_head(to, name, type, help);
    (void)buf_printf(to, "%s%s %llu\n", name, labels, (unsigned long long)v);
}

static void write_store(const struct api *api, struct buf *to)
{
    struct store_stats st;
    store_stats(api->store, &st);
    write_u64(to, "apiserver_storage_size_bytes", "gauge", "Size of the store's file.",
              "{storage_cluster_id=\"etcd-0\"}", st.bytes_on_disk);
    write_u64(to, "dormouse_store_commits_total", "counter",
              "Groups of transactions committed together.", "", st.commits);
    write_u64(to, "dormouse_store_transactions_total", "counter", "Transactions committed.", "",
              st.txns);
    write_u64(to, "dormouse_store_revision", "gauge", "Newest durable revision.", "",
              store_revision(api->store));
}

static uint64_t count_descriptors(void)
{
    uint64_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n > 3 ? n - 3 : 0; /* ".", "..", and the descriptor of the directory */
}

static uint64_t resident_bytes(void)
{
    char text[128] = "";
    scoped(fd_scoped) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    uint64_t pages = 0;
    struct str size, rest, resident;
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 &&
        str_cut(str_of(text), ' ', &size, &rest)) {
        (void)str_cut(rest, ' ', &resident, &rest);
        (void)parse_u64(resident, 0, UINT64_MAX / 4096, &pages);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_process(struct buf *to)
{
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) == 0) {
        uint64_t us = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
        metric_head(to, "process_cpu_seconds_total", "counter", "CPU time of the process.");
        (void)buf_printf(to, "process_cpu_seconds_total %llu.%06llu\n",
                         (unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000));
    }
    write_u64(to, "process_open_fds", "gauge", "Open file descriptors.", "", count_descriptors());
    write_u64(to, "process_resident_memory_bytes", "gauge", "Resident memory.", "",
              resident_bytes());
}

/* The tables are generated from the modules v0.MINOR.PATCH. */
struct str monitor_minor(void)
{
    struct str minor, patch;
    (void)str_cut(str_of(builtin_api_version + 3), '.', &minor, &patch);
    return minor;
}

const char *monitor_git_version(struct arena *a)
{
    char *text = arena_printf(a, "v1.%s+dormouse-%s", builtin_api_version + 3, version_text());
    for (char *p = strchr(text, '+') + 1; *p; p++)
        if (*p == '+') /* a second one is not allowed in a semantic version */
            *p = '.';
    return text;
}

void api_metrics(const struct api *api, struct buf *to)
{
    metrics_write(&api->metrics, to);
    write_inflight(api, to);
    write_watches(api, to);
    flow_metrics(&api->flows, to);
    write_store(api, to);
    write_process(to);
    metric_head(to, "kubernetes_build_info", "gauge", "What this server claims to be.");
    struct arena a = { 0 };
    (void)buf_printf(
        to, "kubernetes_build_info{major=\"1\",minor=\"" STR_FMT "\",git_version=\"%s\"} 1\n",
        STR_ARG(monitor_minor()), monitor_git_version(&a));
    arena_fini(&a);
}

/* ------------------------------------------------------------------ health */

enum { CHECK_PING, CHECK_STORE, CHECK_STARTED, CHECK_NOT_STOPPING, N_CHECKS };
enum { IN_LIVEZ = 1, IN_READYZ = 2, IN_HEALTHZ = 4 };

/* Upstream's names, so that a probe can request or exclude one. */
static const struct {
    const char *name;
    unsigned in;
} checks[N_CHECKS] = {
    [CHECK_PING] = { "ping", IN_LIVEZ | IN_READYZ | IN_HEALTHZ },
    [CHECK_STORE] = { "etcd", IN_LIVEZ | IN_READYZ | IN_HEALTHZ },
    [CHECK_STARTED] = { "poststarthook/start-controllers", IN_READYZ | IN_HEALTHZ },
    [CHECK_NOT_STOPPING] = { "shutdown", IN_READYZ },
};

struct monitor_health {
    struct request *rq;
    unsigned in;
    bool ok[N_CHECKS];
};

static bool is_excluded(const struct url_target *url, const char *name)
{
    for (size_t i = 0; i < url->n_pairs; i++)
        if (str_is(url->pairs[i].name, "exclude") && str_is(url->pairs[i].value, name))
            return true;
    return false;
}

static bool is_check(unsigned in, struct str name)
{
    for (size_t i = 0; i < N_CHECKS; i++)
        if ((checks[i].in & in) && str_is(name, checks[i].name))
            return true;
    return false;
}

/* Name the unknown checks that the client wants to exclude; each once, in the client's order. */
static void warn_unknown(const struct url_target *url, unsigned in, struct buf *to)
{
    const char *before = "warn: some health checks cannot be excluded: no matches for ";
    size_t begin = to->n;
    for (size_t i = 0; i < url->n_pairs; i++) {
        struct str name = url->pairs[i].value;
        if (!str_is(url->pairs[i].name, "exclude") || is_check(in, name))
            continue;
        (void)buf_printf(to, "%s\"" STR_FMT "\"", before, STR_ARG(name));
        before = ", ";
    }
    if (to->n != begin)
        (void)buf_add_char(to, '\n');
}

static void answer_text(struct request *rq, int status, struct str text)
{
    if (status != 200 || rq->route.rest.n == 0)
        (void)headers_addc(&rq->extra, "x-content-type-options", "nosniff");
    reply_bytes(rq, status, "text/plain; charset=utf-8", text);
}

static void answer_all(const struct monitor_health *h)
{
    struct request *rq = h->rq;
    const struct url_target *url = rq->route.url;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
    bool good = true;
    for (size_t i = 0; i < N_CHECKS; i++) {
        const char *name = checks[i].name;
        if (!(checks[i].in & h->in))
            continue;
        if (is_excluded(url, name))
            (void)buf_printf(&b, "[+]%s excluded: ok\n", name);
        else if (h->ok[i])
            (void)buf_printf(&b, "[+]%s ok\n", name);
        else
            (void)buf_printf(&b, "[-]%s failed: reason withheld\n", name);
        good = good && (h->ok[i] || is_excluded(url, name));
    }
    warn_unknown(url, h->in, &b);
    (void)buf_printf(&b, STR_FMT " check %s\n", STR_ARG(rq->route.resource),
                     good ? "passed" : "failed");
    if (good && !url_query_get(url, "verbose").p)
        answer_text(rq, 200, STR("ok"));
    else
        answer_text(rq, good ? 200 : 500, buf_str(&b));
}

static void answer_one(const struct monitor_health *h)
{
    struct request *rq = h->rq;
    for (size_t i = 0; i < N_CHECKS; i++) {
        if (!(checks[i].in & h->in) || !str_is(rq->route.rest, checks[i].name))
            continue;
        answer_text(rq, h->ok[i] ? 200 : 500,
                    h->ok[i] ? STR("ok") : STR("internal server error: reason withheld\n"));
        return;
    }
    rq->no_page = true;
    reply_status(rq, status_no_resource(&rq->arena));
}

/* The store has answered or failed: that is its check. */
static void on_store(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct monitor_health *h = arg;
    struct request *rq = h->rq;
    if (request_idle(rq))
        return;
    h->ok[CHECK_STORE] = r >= 0;
    if (rq->route.rest.n)
        answer_one(h);
    else
        answer_all(h);
}

void monitor_serve_health(struct request *rq)
{
    struct monitor_health *h = arena_new(&rq->arena, struct monitor_health);
    struct str which = rq->route.resource;
    h->rq = rq;
    h->in = str_is(which, "livez") ? IN_LIVEZ : str_is(which, "readyz") ? IN_READYZ : IN_HEALTHZ;
    h->ok[CHECK_PING] = true;
    h->ok[CHECK_STARTED] = rq->api->ready;
    h->ok[CHECK_NOT_STOPPING] = !rq->api->closing;
    request_busy(rq);
    int r = store_get(rq->api->store, STR("/registry/health"), 0, on_store, h, NULL);
    if (r < 0)
        on_store(h, r, NULL, 0, NULL);
}
