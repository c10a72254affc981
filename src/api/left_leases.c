/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases without end that leaders in the process of an API server hold (leader_opts.alone). They
 * cannot outlive that server, and whoever serves its store now knows that they did not: a killed
 * one has let go of nothing, and leaders of other processes would wait for ever.
 */
#include "api/inner.h"
#include "api/server.h"

#include "base/log.h"
#include "kube/leader.h"

#include <errno.h>

enum { LEFT_MAX = 100 }; /* looked at; a process has one for its functions */

struct left_leases {
    struct api *api;
    struct arena arena;
    struct json *at; /* that is being let go of */
    void (*done)(void *arg);
    void *arg;
};

static void finish(struct left_leases *l)
{
    l->done(l->arg);
    arena_fini(&l->arena);
    free(l);
}

static void on_released(void *arg, int r, struct str body);

/* The term, which is counted in it, stays. */
static int release(struct left_leases *l)
{
    struct arena *a = &l->arena;
    struct json *spec = json_getc(l->at, "spec"), *meta = json_getc(l->at, "metadata");
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(LEADER_LEASE_MAX_BYTES);
    struct str holder = json_get_str(spec, "holderIdentity");
    if (json_int_or(json_getc(spec, "leaseDurationSeconds"), 0) < LEADER_ENDLESS_S || !holder.n)
        return -EALREADY;
    log_info("letting go of the lease of a process that has ended",
             "lease=" STR_FMT "/" STR_FMT " holder=" STR_FMT, STR_ARG(meta_namespace(l->at)),
             STR_ARG(meta_name(l->at)), STR_ARG(holder));
    json_set_str(a, spec, "holderIdentity", STR(""));
    json_set_int(a, spec, "leaseDurationSeconds", 1);
    (void)json_del(json_getc(meta, "labels"), STR(LEADER_LABEL));
    (void)json_write(&body, l->at);
    const struct inner_request req = {
        .method = "PUT",
        .target = str_of(
            arena_printf(a, "/apis/coordination.k8s.io/v1/namespaces/" STR_FMT "/leases/" STR_FMT,
                         STR_ARG(meta_namespace(l->at)), STR_ARG(meta_name(l->at)))),
        .content_type = "application/json",
        .body = buf_str(&body),
        .only_status = true,
    };
    return inner_call(l->api, &req, on_released, l);
}

static void release_from(struct left_leases *l, struct json *at)
{
    for (l->at = at; l->at; l->at = l->at->next)
        if (release(l) >= 0)
            return; /* goes on when it has been answered */
    finish(l);
}

static void on_released(void *arg, int r, struct str body)
{
    struct left_leases *l = arg;
    if (r != 200)
        log_warn("the lease of a process that has ended is still held",
                 "lease=" STR_FMT " status=%d", STR_ARG(meta_name(l->at)), r);
    release_from(l, l->at->next);
}

static void on_list(void *arg, int r, struct str body)
{
    struct left_leases *l = arg;
    struct json *list = NULL;
    if (r == 200)
        (void)json_parse(&l->arena, str_copy_arena(&l->arena, body), NULL, &list, NULL);
    struct json *items = json_getc(list, "items");
    release_from(l, json_is(items, JSON_ARRAY) ? items->first : NULL);
}

void api_release_left_leases(struct api *api, void (*done)(void *arg), void *arg)
{
    struct left_leases *l = xnew(struct left_leases);
    *l = (struct left_leases){ .api = api, .done = done, .arg = arg };
    const struct inner_request req = {
        .method = "GET",
        .target = str_of(arena_printf(
            &l->arena,
            "/apis/coordination.k8s.io/v1/leases?labelSelector=" LEADER_LABEL "&limit=%d",
            LEFT_MAX)),
    };
    if (inner_call(api, &req, on_list, l) < 0)
        finish(l);
}
