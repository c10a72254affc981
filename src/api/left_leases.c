/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releases a Lease without expiry (leader_opts.alone) that was held by a leader in an earlier API
 * server process. The leader cannot outlive its server, so the next server on the same store
 * releases the Lease: a killed process has not done so, and leaders in other processes would wait
 * forever.
 *
 * The Lease is looked up by name: in a list, a user who may create Leases could hide it.
 */
#include "api/inner.h"
#include "api/server.h"

#include "base/log.h"
#include "client/leader.h"

#include <errno.h>

struct left_lease {
    struct api *api;
    struct arena arena;
    struct str path;
    void (*done)(void *arg);
    void *arg;
};

static void left_lease_free(struct left_lease *l)
{
    arena_fini(&l->arena);
    free(l);
}

static void finish(struct left_lease *l)
{
    void (*done)(void *arg) = l->done;
    void *arg = l->arg;
    left_lease_free(l);
    done(arg);
}

static void on_released(void *arg, int r, struct str body)
{
    struct left_lease *l = arg;
    if (r != 200)
        log_warn("the lease of a process that has ended is still held",
                 "path=" STR_FMT " status=%d", STR_ARG(l->path), r);
    finish(l);
}

/* Keeps the count of terms. Fails if the Lease is not held that way. */
static int release(struct left_lease *l, struct json *at)
{
    struct arena *a = &l->arena;
    struct json *spec = json_getc(at, "spec"), *meta = json_getc(at, "metadata");
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(LEADER_LEASE_MAX_BYTES);
    struct str holder = json_get_str(spec, "holderIdentity");
    if (!json_getc(json_getc(meta, "labels"), LEADER_LABEL) || !holder.n ||
        json_int_or(json_getc(spec, "leaseDurationSeconds"), 0) < LEADER_ENDLESS_S)
        return -EALREADY;
    log_info("letting go of the lease of a process that has ended",
             "lease=" STR_FMT "/" STR_FMT " holder=" STR_FMT, STR_ARG(meta_namespace(at)),
             STR_ARG(meta_name(at)), STR_ARG(holder));
    json_set_str(a, spec, "holderIdentity", STR(""));
    json_set_int(a, spec, "leaseDurationSeconds", 1);
    (void)json_del(json_getc(meta, "labels"), STR(LEADER_LABEL));
    (void)json_write(&body, at);
    const struct inner_request req = {
        .method = "PUT",
        .target = l->path,
        .content_type = "application/json",
        .body = buf_str(&body),
        .only_status = true,
    };
    return inner_call(l->api, &req, on_released, l);
}

static void on_read(void *arg, int r, struct str body)
{
    struct left_lease *l = arg;
    struct json *lease = NULL;
    if (r == 200)
        (void)json_parse(&l->arena, str_copy_arena(&l->arena, body), NULL, &lease, NULL);
    if (!lease || release(l, lease) < 0)
        finish(l);
}

int api_release_left_lease(struct api *api, const char *namespace, const char *name,
                           void (*done)(void *arg), void *arg, struct err *err)
{
    struct left_lease *l = xnew(struct left_lease);
    *l = (struct left_lease){ .api = api, .done = done, .arg = arg };
    l->path = str_of(arena_printf(&l->arena, "/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s",
                                  namespace, name));
    const struct inner_request req = { .method = "GET", .target = l->path };
    int r = inner_call(api, &req, on_read, l);
    if (r >= 0)
        return 0;
    r = err_sys(err, r, "lease " STR_FMT, STR_ARG(l->path));
    left_lease_free(l);
    return r;
}
