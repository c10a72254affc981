/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the tokens that a node requests; see node_restriction.h.
 *
 *     POD --> a projected volume names the audience: allowed
 *      |
 *      v  for each volume with a driver
 *     [CLAIM -> VOLUME] -> DRIVER --> it names the audience: allowed
 *      |
 *      v  no volume is left
 *     RBAC: request-serviceaccounts-token-audience
 */
#include "api/admit/node_restriction.h"

#include "kube/model/field.h"
#include "kube/rules/kinds/references.h"

enum node_token_at { AT_POD, AT_CLAIM, AT_VOLUME, AT_DRIVER };

enum { DRIVERS_MAX = 64 }; /* volumes of one pod whose driver is looked up */

struct node_token_check {
    struct request *rq;
    struct admission *ad;
    struct str node, audience;
    const struct json *ref; /* boundObjectRef */
    const struct json *pod, *next_volume;
    size_t n_followed;
    enum node_token_at at;
    struct str name;     /* of the object being read */
    struct buf problems; /* names of absent objects, separated by commas */
    size_t n_problems;
    struct json *no; /* the result, if nothing had to be read */
};

static void end(struct node_token_check *c, struct json *no)
{
    buf_fini(&c->problems);
    if (c->ad->waiting)
        admission_continue(c->ad, no);
    else
        c->no = no;
}

static void forbid(struct node_token_check *c, const char *why)
{
    struct request *rq = c->rq;
    end(c,
        status_forbidden(&rq->arena, STR(""), STR("serviceaccounts"), rq->route.name, str_of(why)));
}

static const char *quoted(struct arena *a, struct str s)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    field_go_quote(&text, s);
    return str_dup_arena(a, buf_str(&text));
}

/* ------------------------------------------------------------------ reading */

static void next_volume(struct node_token_check *c);
static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err);

static void read_object(struct node_token_check *c, enum node_token_at at, const char *group,
                        const char *plural, struct str ns, struct str name)
{
    struct request *rq = c->rq;
    struct err err = { 0 };
    const struct kube_resource *res =
        kube_registry_find(&rq->api->reg, str_of(group), STR("v1"), str_of(plural));
    c->at = at;
    c->name = name;
    int r = store_get(rq->api->store, key_object(&rq->arena, res, ns, name), 0, on_object, c, &err);
    if (r < 0) {
        end(c, api_error(rq, r, &err));
        return;
    }
    request_busy(rq);
    admission_wait(c->ad);
}

/* The text of upstream's listers. */
static void add_missing(struct node_token_check *c, const char *resource)
{
    (void)buf_printf(&c->problems, "%s%s %s not found", c->n_problems++ ? ", " : "", resource,
                     quoted(&c->rq->arena, c->name));
}

/* ------------------------------------------------------------------ the audience */

/* No volume names the audience: only a role can allow it. */
static void ask_roles(struct node_token_check *c)
{
    struct request *rq = c->rq;
    const struct api *api = rq->api;
    struct arena *a = &rq->arena;
    const char *audience = quoted(a, c->audience);
    if (c->n_problems) {
        forbid(c, arena_printf(a, "error validating audience %s: %s" STR_FMT "%s", audience,
                               c->n_problems > 1 ? "[" : "", STR_ARG(buf_str(&c->problems)),
                               c->n_problems > 1 ? "]" : ""));
        return;
    }
    const struct api_attributes at = { .identity = &rq->identity,
                                       .is_resource = true,
                                       .verb = STR("request-serviceaccounts-token-audience"),
                                       .group = STR(""),
                                       .version = STR("v1"),
                                       .resource = c->audience,
                                       .name = rq->route.name,
                                       .ns = rq->route.ns };
    if (api->authorize(api->authorize_arg, &at, NULL))
        end(c, NULL);
    else
        forbid(c, arena_printf(a,
                               "audience %s not found in pod spec volume, " STR_FMT
                               " is not authorized to request tokens for this audience",
                               audience, STR_ARG(rq->identity.user)));
}

static bool names_audience(const struct node_token_check *c, const struct json *volume)
{
    json_each (source, json_path(volume, "projected", "sources", NULL)) {
        const struct json *token = json_getc(source, "serviceAccountToken");
        if (json_is(token, JSON_OBJECT) && str_eq(json_get_str(token, "audience"), c->audience))
            return true;
    }
    return false;
}

static void read_driver(struct node_token_check *c, struct str driver)
{
    if (driver.n)
        read_object(c, AT_DRIVER, "storage.k8s.io", "csidrivers", STR(""), driver);
    else
        next_volume(c);
}

/* Continue with the next volume; the previous ones do not name the audience. */
static void next_volume(struct node_token_check *c)
{
    struct arena *a = &c->rq->arena;
    for (const struct json *v; (v = c->next_volume);) {
        c->next_volume = v->next;
        if (names_audience(c, v)) {
            end(c, NULL);
            return;
        }
        struct str claim = json_str(json_path(v, "persistentVolumeClaim", "claimName", NULL));
        if (json_path(v, "ephemeral", "volumeClaimTemplate", NULL))
            claim = kind_pod_ephemeral_claim(a, c->pod, v);
        struct str driver = kind_volume_csi_driver(v);
        if ((claim.n || driver.n) && c->n_followed++ >= DRIVERS_MAX)
            continue;
        if (claim.n) {
            read_object(c, AT_CLAIM, "", "persistentvolumeclaims", c->rq->route.ns, claim);
            return;
        }
        if (driver.n) {
            read_driver(c, driver);
            return;
        }
    }
    ask_roles(c);
}

static bool driver_names_audience(const struct node_token_check *c, const struct json *driver)
{
    json_each (request, json_path(driver, "spec", "tokenRequests", NULL))
        if (str_eq(json_get_str(request, "audience"), c->audience))
            return true;
    return false;
}

/* ------------------------------------------------------------------ results of reads */

static void take_pod(struct node_token_check *c, const struct json *pod)
{
    struct arena *a = &c->rq->arena;
    struct str uid = json_get_str(c->ref, "uid");
    if (!pod) {
        end(c, status_not_found(a, STR(""), STR("pod"), c->name));
    } else if (!str_eq(uid, meta_uid(pod))) {
        forbid(c, arena_printf(a,
                               "the UID in the bound object reference (" STR_FMT
                               ") does not match the UID in record. The object might have been "
                               "deleted and then recreated",
                               STR_ARG(uid)));
    } else if (!str_eq(json_str(json_path(pod, "spec", "nodeName", NULL)), c->node)) {
        forbid(c, "node requested token bound to a pod scheduled on a different node");
    } else {
        c->pod = pod;
        c->next_volume = json_first(json_path(pod, "spec", "volumes", NULL));
        next_volume(c);
    }
}

/* obj: NULL if absent. */
static void take_object(struct node_token_check *c, const struct json *obj)
{
    static const char *const missing[] = { [AT_POD] = "pod",
                                           [AT_CLAIM] = "persistentvolumeclaim",
                                           [AT_VOLUME] = "persistentvolume",
                                           [AT_DRIVER] = "csidriver.storage.k8s.io" };
    const struct json *spec = json_getc(obj, "spec");
    if (c->at == AT_POD) {
        take_pod(c, obj);
        return;
    }
    if (!obj) {
        add_missing(c, missing[c->at]);
        next_volume(c);
        return;
    }
    if (c->at == AT_CLAIM)
        read_object(c, AT_VOLUME, "", "persistentvolumes", STR(""),
                    json_get_str(spec, "volumeName"));
    else if (c->at == AT_VOLUME)
        read_driver(c, kind_volume_csi_driver(spec));
    else if (driver_names_audience(c, obj))
        end(c, NULL);
    else
        next_volume(c);
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct node_token_check *c = arg;
    struct request *rq = c->rq;
    struct json *obj = NULL;
    (void)rev;
    if (rq->gone)
        buf_fini(&c->problems);
    if (request_idle(rq))
        return;
    if (r < 0) {
        end(c, api_error(rq, r, err));
        return;
    }
    if (kv && json_parse(&rq->arena, str_copy_arena(&rq->arena, kv->value), NULL, &obj, NULL) < 0)
        obj = NULL;
    take_object(c, obj);
}

struct json *node_token_apply(void *self, struct admission *ad, void *state)
{
    struct request *rq = ad->rq;
    const struct json *token = ad->input;
    struct node_token_check *c = arena_new(&rq->arena, struct node_token_check);
    const struct json *audiences = json_path(token, "spec", "audiences", NULL);
    size_t n = json_is(audiences, JSON_ARRAY) ? audiences->n : 0;
    (void)self;
    (void)state;
    *c = (struct node_token_check){ .rq = rq,
                                    .ad = ad,
                                    .ref = json_path(token, "spec", "boundObjectRef", NULL),
                                    .audience = json_str(json_first(audiences)),
                                    .problems = BUF_INIT(BUF_MAX_DEFAULT) };
    struct str name = json_get_str(c->ref, "name");
    (void)node_restricts(rq, &c->node);
    if (c->node.n == 0)
        forbid(c, arena_printf(&rq->arena, "could not determine node from user %s",
                               quoted(&rq->arena, rq->identity.user)));
    else if (!str_is(json_get_str(c->ref, "apiVersion"), "v1") ||
             !str_is(json_get_str(c->ref, "kind"), "Pod") || name.n == 0)
        forbid(c, "node requested token not bound to a pod");
    else if (json_get_str(c->ref, "uid").n == 0)
        forbid(c, "node requested token with a pod binding without a uid");
    else if (n > 1)
        forbid(c, "node may only request 0 or 1 audiences");
    else
        read_object(c, AT_POD, "", "pods", rq->route.ns, name);
    return c->no;
}
