/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/token.h"

#include "agent/agent_impl.h"
#include "agent/image_volumes.h"
#include "base/clock.h"

#include <errno.h>

static void on_token(void *arg, int status, struct str body, const struct json *json,
                     const struct err *err)
{
    struct volume_token *t = arg;
    const struct json *s = json_getc(json, "status");
    struct err own = { 0 };
    int64_t us = 0;
    if (status == 0) {
        volume_token_done(t, err->code, STR(""), 0, err);
        return;
    }
    if (status < 200 || status > 299 || !json_get_str(s, "token").n ||
        rfc3339_parse(json_get_str(s, "expirationTimestamp"), &us) < 0) {
        (void)err_set(&own, E_DENIED, "the API server gives no token (status %d): " STR_FMT, status,
                      STR_ARG(json_get_str(json, "message")));
        volume_token_done(t, E_DENIED, STR(""), 0, &own);
        return;
    }
    volume_token_done(t, 0, json_get_str(s, "token"), us / 1000, NULL);
}

static void make_request(struct arena *a, const struct volume_token *t, struct buf *to)
{
    struct json *o = json_new_object(a), *spec, *ref, *list = json_new_array(a);
    json_set_str(a, o, "kind", STR("TokenRequest"));
    json_set_str(a, o, "apiVersion", STR("authentication.k8s.io/v1"));
    spec = json_obj(a, o, "spec");
    if (t->audience.n)
        json_add(list, json_new_str(a, t->audience));
    json_setc(a, spec, "audiences", list);
    json_set_int(a, spec, "expirationSeconds", t->expiration_s);
    ref = json_obj(a, spec, "boundObjectRef");
    json_set_str(a, ref, "kind", STR("Pod"));
    json_set_str(a, ref, "apiVersion", STR("v1"));
    json_set_str(a, ref, "name", t->pod_name);
    json_set_str(a, ref, "uid", t->pod_uid);
    (void)json_write(to, o);
}

static int start_token(void *arg, struct volume_token *t, struct err *err)
{
    struct agent *agent = arg;
    struct arena a = { 0 };
    struct client_ask *ask;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(64 << 10);
    char *target =
        arena_printf(&a, "/api/v1/namespaces/" STR_FMT "/serviceaccounts/" STR_FMT "/token",
                     STR_ARG(t->namespace), STR_ARG(t->service_account));
    make_request(&a, t, &body);
    const struct ask_request rq = { .method = "POST",
                                    .target = str_of(target),
                                    .content_type = "application/json",
                                    .body = buf_str(&body) };
    int r = ask_start(agent->transport, agent->identity, &rq, on_token, t, &ask, err);
    arena_fini(&a);
    return r;
}

/* ---------------------------------------------------------------- claims */

static const struct json *find(struct agent *a, enum agent_object_kind kind, struct str namespace,
                               struct str name, bool *ret_known)
{
    const struct agent_object *o = agent_objects_find(a->objects, kind, namespace, name);
    *ret_known = o && agent_object_is_known(o);
    return o ? agent_objects_read(a, o) : NULL;
}

static bool is_read_only(const struct json *volume)
{
    size_t n_read = 0, n = 0;
    json_each (mode, json_path(volume, "spec", "accessModes", NULL)) {
        n++;
        n_read += str_is(json_str(mode), "ReadOnlyMany");
    }
    return n > 0 && n == n_read;
}

static int read_volume(const struct json *volume, struct volume_claim *ret, struct err *err)
{
    const struct json *spec = json_getc(volume, "spec"), *local = json_getc(spec, "local"),
                      *host = json_getc(spec, "hostPath");
    if (!local && !host)
        return err_set(err, E_UNSUPPORTED,
                       "PersistentVolume \"" STR_FMT "\" is neither local nor hostPath",
                       STR_ARG(json_get_str(json_getc(volume, "metadata"), "name")));
    *ret = (struct volume_claim){ .path = json_get_str(local ? local : host, "path"),
                                  .type = json_get_str(host, "type"),
                                  .is_local = local != NULL,
                                  .is_read_only = is_read_only(volume) };
    return 0;
}

static int find_claim(void *arg, const struct pod_spec *pod, struct str name,
                      struct volume_claim *ret, struct err *err)
{
    bool is_known;
    const struct json *claim = find(arg, AGENT_CLAIM, pod->namespace, name, &is_known);
    if (!claim)
        return err_set(err, is_known ? -ENOENT : -EAGAIN,
                       "persistentvolumeclaim \"" STR_FMT "\" not found", STR_ARG(name));
    struct str volume_name = json_get_str(json_getc(claim, "spec"), "volumeName");
    if (!volume_name.n || !str_is(json_get_str(json_getc(claim, "status"), "phase"), "Bound"))
        return err_set(err, -EAGAIN, "persistentvolumeclaim \"" STR_FMT "\" is not bound",
                       STR_ARG(name));
    const struct json *volume = find(arg, AGENT_VOLUME, STR(""), volume_name, &is_known);
    if (!volume)
        return err_set(err, is_known ? -ENOENT : -EAGAIN,
                       "persistentvolume \"" STR_FMT "\" not found", STR_ARG(volume_name));
    return read_volume(volume, ret, err);
}

const struct volume_supply agent_volume_supply = {
    .token = start_token,
    .claim = find_claim,
    .image = agent_image_volume_find,
};
