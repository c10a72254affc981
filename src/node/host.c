/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the operator host; see host.h. */
#include "node/host_impl.h"

#include "base/sys.h"
#include "client/object_cache.h"
#include "codec/json.h"
#include "codec/url.h"
#include "guest/guest_log.h"
#include "operator/discovery.h"
#include "operator/host/describe.h"
#include "operator/host/dir.h"
#include "operator/host/objects.h"
#include "operator/identity_transport.h"

#include <inttypes.h>
#include <limits.h>

static void on_change(struct operator* o, void *arg)
{
    struct host *h = arg;
    if (h->objects)
        objects_on_change(h->objects, o);
}

static void on_synced(void *arg)
{
    struct host *h = arg;
    h->synced = true;
    if (h->opts.on_synced)
        h->opts.on_synced(h->opts.arg);
}

static char *make_dir(const struct host_opts *opts, const char *name, struct err *err)
{
    char *path = xasprintf("%s/%s", opts->data_dir, name);
    if (sys_mkdir_all(path, 0700, err) >= 0)
        return path;
    free(path);
    return NULL;
}

static int start_mechanisms(struct host *h, const char *swap_dir, struct err *err)
{
    const struct host_opts *o = &h->opts;
    struct guest_host_opts guests = o->guests;
    guests.swap_dir = swap_dir;
    guests.runners = o->runners;
    int r = guest_host_new(o->loop, &guests, &h->guests, err);
    return r < 0 ? err_ctx(err, r, "guest host") : 0;
}

static int start_source(struct host *h, const char *operators_dir, struct err *err)
{
    const struct host_opts *o = &h->opts;
    if (o->operators_dir) {
        struct dir_opts opts = {
            .loop = o->loop, .path = o->operators_dir, .on_synced = on_synced, .arg = h
        };
        return dir_start(&opts, h->operators, &h->dir, err);
    }
    const char **dirs = xnew_n(const char *, o->n_module_dirs + 1);
    dirs[0] = operators_dir;
    for (size_t i = 0; i < o->n_module_dirs; i++)
        dirs[i + 1] = o->module_dirs[i];
    struct objects_opts opts = { .loop = o->loop,
                                 .transport = o->transport,
                                 .hub = o->hub,
                                 .module_dirs = dirs,
                                 .n_module_dirs = o->n_module_dirs + 1,
                                 .sources = h->sources,
                                 .namespace = o->namespace,
                                 .standby = o->standby,
                                 .on_synced = on_synced,
                                 .arg = h };
    int r = objects_start(&opts, h->operators, &h->objects, err);
    free(dirs);
    return r;
}

static enum identity_mode identity_mode(const struct host_opts *opts)
{
    if (opts->identity == HOST_IDENTITY_IMPERSONATE)
        return IDENTITY_IMPERSONATE;
    return opts->embedded ? IDENTITY_IN_PROCESS : IDENTITY_TOKEN;
}

static void start_identities(struct host *h)
{
    const struct host_opts *o = &h->opts;
    struct identities_opts ids = { .loop = o->loop,
                                   .transport = o->transport,
                                   .mode = identity_mode(o) };
    if (o->identity == HOST_IDENTITY_HOST)
        return;
    h->identities = identities_new(&ids);
    if (ids.mode == IDENTITY_TOKEN)
        h->in_their_names = identity_transport_new(o->loop, o->transport, h->identities);
}

/* Start what guests of ABI v1 read from, and the module sources. */
static int start_cache(struct host *h, const char *downloads_dir, struct err *err)
{
    const struct host_opts *o = &h->opts;
    struct object_cache_opts cache = { .loop = o->loop,
                                       .transport = h->in_their_names
                                                        ? identity_transport_base(h->in_their_names)
                                                        : o->transport,
                                       .hub = o->hub,
                                       .embedded = o->embedded,
                                       .widen_at = WATCH_WIDEN_AFTER,
                                       .request_progress = o->request_progress,
                                       .arg = o->progress_arg };
    int r = object_cache_new(&cache, &h->cache, err);
    if (r < 0)
        return err_ctx(err, r, "object cache");
    struct v1_host_opts v1 = { .loop = o->loop,
                               .discovery = h->discovery,
                               .cache = h->cache,
                               .logs = h->logs,
                               .runners = o->guests.max_runners };
    h->v1 = v1_host_new(&v1);
    struct module_sources_opts sources = { .loop = o->loop,
                                           .transport = o->transport,
                                           .hub = o->hub,
                                           .dir = downloads_dir,
                                           .site = o->module_site };
    return module_sources_new(&sources, &h->sources, err);
}

int host_start(const struct host_opts *opts, struct host **ret, struct err *err)
{
    scoped(free_scoped) char *swap_dir = make_dir(opts, "swap", err);
    scoped(free_scoped) char *operators_dir = make_dir(opts, "operators", err);
    scoped(free_scoped) char *logs_dir = xasprintf("%s/logs", opts->data_dir);
    scoped(free_scoped) char *downloads_dir = make_dir(opts, "downloads", err);
    if (!swap_dir || !operators_dir || !downloads_dir)
        return err ? err->code : -EACCES;
    struct host *h = xnew(struct host);
    h->opts = *opts;
    h->logs = guest_logs_new(logs_dir);
    int r = start_mechanisms(h, swap_dir, err);
    if (r >= 0) {
        h->discovery = discovery_new(opts->loop, opts->transport);
        h->env = (struct calls_env){ .loop = opts->loop,
                                     .transport = opts->transport,
                                     .hub = opts->hub,
                                     .discovery = h->discovery };
        start_identities(h);
        r = start_cache(h, downloads_dir, err);
    }
    if (r >= 0) {
        struct operators_opts o = { .loop = opts->loop,
                                    .env = &h->env,
                                    .identities = h->identities,
                                    .logs = h->logs,
                                    .guests = h->guests,
                                    .modules = opts->modules,
                                    .sources = h->sources,
                                    .standby = opts->standby,
                                    .v1 = h->v1,
                                    .on_change = on_change,
                                    .arg = h };
        r = operators_new(&o, &h->operators, err);
    }
    if (r >= 0)
        r = start_source(h, operators_dir, err);
    *ret = h;
    return r;
}

void host_set_standby(struct host *h, bool standby)
{
    if (h->objects)
        objects_set_standby(h->objects, standby);
    operators_set_standby(h->operators, standby);
}

void host_rights_changed(struct host *h)
{
    if (h->cache)
        object_cache_ask_again(h->cache);
}

bool host_is_synced(const struct host *h)
{
    return h->synced;
}

/* ---------------------------------------------------------------- stopping, step by step */

static void on_cache_closed(void *arg)
{
    struct host *h = arg;
    void (*stopped)(void *) = h->stopped;
    void *stopped_arg = h->stopped_arg;
    discovery_free(h->discovery);
    identity_transport_close(h->in_their_names);
    identities_close(h->identities);
    guest_logs_free(h->logs);
    free(h);
    if (stopped)
        stopped(stopped_arg);
}

static void on_guests_closed(void *arg)
{
    struct host *h = arg;
    v1_host_free(h->v1);
    module_sources_close(h->sources);
    if (h->cache)
        object_cache_close(h->cache, on_cache_closed, h);
    else
        on_cache_closed(h);
}

static void on_operators_closed(void *arg)
{
    struct host *h = arg;
    if (h->guests)
        guest_host_close(h->guests, on_guests_closed, h);
    else
        on_guests_closed(h);
}

/* The guests are asleep, and the next process can resume them. */
static void on_drained(void *arg)
{
    struct host *h = arg;
    operators_close(h->operators, on_operators_closed, h);
}

void host_stop(struct host *h, void (*done)(void *arg), void *arg)
{
    h->stopped = done;
    h->stopped_arg = arg;
    objects_close(take_ptr(&h->objects));
    dir_close(take_ptr(&h->dir));
    if (h->operators)
        operators_hold(h->operators);
    if (h->operators && h->guests)
        guest_host_drain(h->guests, on_drained, h);
    else
        on_operators_closed(h);
}

/* ---------------------------------------------------------------- counts and views */

void host_get_counts(const struct host *h, struct host_counts *ret)
{
    struct guest_host_stats s;
    guest_host_get_stats(h->guests, &s);
    *ret = (struct host_counts){ .operators = operators_count(h->operators),
                                 .guests = s.guests,
                                 .awake = s.awake,
                                 .asleep = s.asleep,
                                 .failed = s.failed,
                                 .runners = s.runners,
                                 .wakes = s.wakes,
                                 .activations = s.activations };
}

struct operator* host_find(const struct host *h, const struct url_target *target)
{
    enum { NAME_MAX_BYTES = 256 };
    char namespace[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    struct str ns = url_query_get(target, "namespace"), n = url_query_get(target, "name");
    if (ns.n >= sizeof namespace || n.n >= sizeof name)
        return NULL;
    (void)snprintf(namespace, sizeof namespace, STR_FMT, STR_ARG(ns));
    (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(n));
    return operators_find(h->operators, namespace, name);
}

bool host_describe_refused(const struct host *h, const struct url_target *target, struct buf *to)
{
    return h->objects && objects_describe_refused(h->objects, url_query_get(target, "namespace"),
                                                  url_query_get(target, "name"), to);
}

static void add_guest(struct operator* o, void *arg)
{
    struct buf *to = arg;
    struct operator_view v;
    operator_view(o, &v);
    if (to->n && to->p[to->n - 1] == '}')
        buf_add_char(to, ',');
    buf_add_cstr(to, "{\"namespace\":");
    json_write_str(to, str_of(v.namespace));
    buf_add_cstr(to, ",\"name\":");
    json_write_str(to, str_of(v.name));
    buf_add_char(to, ',');
    operator_describe_guest(&v, to);
    buf_add_char(to, '}');
}

void host_guests_json(const struct host *h, struct buf *to)
{
    buf_add_char(to, '[');
    operators_each(h->operators, add_guest, to);
    buf_add_char(to, ']');
}
