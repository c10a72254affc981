/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pull.h"

#include "agent/agent_impl.h"
#include "modules/pull_secrets.h"

#include <errno.h>
#include <inttypes.h>

/* Pull Secrets of a pod as files of credentials; one that is not there or not usable is left out,
 * as kubelet does. */
struct credentials {
    struct arena arena;
    struct str files[PULL_SECRETS_MAX];
    size_t n;
    /* Whose the images are: the namespace; with credentials the first Secret's uid, too, since a
     * namespace that was deleted and made again must show credentials of its own. */
    struct str tenant;
};

static void add_secret(struct credentials *to, struct str name, const struct json *secret)
{
    struct str file;
    struct err err = { 0 };
    if (!secret || to->n == PULL_SECRETS_MAX ||
        pull_secret_text(&to->arena, name, json_get_str(secret, "type"), json_getc(secret, "data"),
                         &file, &err) < 0)
        return;
    if (to->n == 0)
        to->tenant =
            str_of(arena_printf(&to->arena, STR_FMT "/" STR_FMT, STR_ARG(to->tenant),
                                STR_ARG(json_get_str(json_getc(secret, "metadata"), "uid"))));
    to->files[to->n++] = file;
}

/* Without the first `skip` Secrets. */
static void find_credentials(struct agent_pod *p, size_t skip, struct credentials *to)
{
    *to = (struct credentials){ .tenant = p->spec->namespace };
    for (size_t i = skip; i < p->spec->n_pull_secrets; i++) {
        struct str name = p->spec->pull_secrets[i];
        vec_each (o, &p->objects) {
            if (agent_object_is(*o, AGENT_SECRET, p->spec->namespace, name))
                add_secret(to, name, agent_object_read(*o, &to->arena));
        }
    }
}

static enum container_pull policy_of(struct str text)
{
    return str_is(text, "Always")  ? CONTAINER_PULL_ALWAYS
           : str_is(text, "Never") ? CONTAINER_PULL_NEVER
                                   : CONTAINER_PULL_IF_NOT_PRESENT;
}

/* The digest of the manifest is the last but one component of the directory. */
static char *image_id(const struct agent_container *c, const struct container_image *image)
{
    struct str dir = str_of(image->dir);
    const char *tenant = strrchr(image->dir, '/');
    if (!tenant || tenant == image->dir)
        return str_dup(dir);
    const char *manifest = tenant;
    while (manifest > image->dir && manifest[-1] != '/')
        manifest--;
    return xasprintf("sha256:%.*s", (int)(tenant - manifest), manifest);
}

static void end_pull(struct agent_container *c, int r, const char *reason, const char *message,
                     struct container_image *image)
{
    struct agent_pod *p = c->pod;
    size_t i = agent_container_index(c);
    struct pod_now now = agent_now(p->agent);
    scoped(free_scoped) char *id = image ? image_id(c, image) : NULL;
    scoped(free_scoped) char *name =
        i == SIZE_MAX ? NULL : str_dup(p->life.containers[i].spec->image);
    c->is_pulling = false;
    if (image && c->image)
        p->agent->images.ops->put(p->agent->images.arg, c->image);
    if (image)
        c->image = image;
    if (i != SIZE_MAX)
        pod_life_pulled(&p->life, i, r, reason, message, name, id, &now);
    agent_pod_look(p);
}

static void on_pulling(struct container_image_call *call)
{
    struct agent_container *c = container_of(call, struct agent_container, call);
    size_t i = agent_container_index(c);
    if (i != SIZE_MAX)
        agent_event(c->pod, c->name, false, "Pulling", "Pulling image \"" STR_FMT "\"",
                    STR_ARG(c->pod->life.containers[i].spec->image));
    c->pull_began_ms = loop_now_ms(c->pod->agent->loop);
}

static const char *reason_of(const struct agent_container *c, int r)
{
    size_t i = agent_container_index(c);
    bool is_never = i != SIZE_MAX && str_is(c->pod->life.containers[i].spec->pull_policy, "Never");
    return is_never && r == -ENOENT ? "ErrImageNeverPull"
           : r == E_INVALID         ? "InvalidImageName"
                                    : "ErrImagePull";
}

static void report_pulled(struct agent_container *c, const struct container_image *got)
{
    size_t i = agent_container_index(c);
    uint64_t now = loop_now_ms(c->pod->agent->loop);
    if (i == SIZE_MAX)
        return;
    struct str image = c->pod->life.containers[i].spec->image;
    if (got->is_lazy && c->pull_began_ms)
        agent_event(c->pod, c->name, false, "ImageMounted",
                    "Mounted image \"" STR_FMT "\" in %" PRIu64
                    "ms; its other files come while the container runs",
                    STR_ARG(image), now - c->pull_began_ms);
    else if (got->is_lazy)
        agent_event(c->pod, c->name, false, "ImageMounted",
                    "Image \"" STR_FMT "\" is mounted on the machine, and still being pulled",
                    STR_ARG(image));
    else if (c->pull_began_ms)
        agent_event(c->pod, c->name, false, "Pulled",
                    "Successfully pulled image \"" STR_FMT "\" in %" PRIu64 "ms", STR_ARG(image),
                    now - c->pull_began_ms);
    else
        agent_event(c->pod, c->name, false, "Pulled",
                    "Container image \"" STR_FMT "\" already present on machine", STR_ARG(image));
}

static void try_pull(struct agent_container *c);

/* Before the life cycle asks. A failure is not kept: it will be that of the next attempt. */
static void end_early(struct agent_container *c, int r, struct container_image *image)
{
    c->is_pulling = false;
    if (r < 0) {
        free(take_ptr(&c->early));
        return;
    }
    assert(!c->image);
    c->image = image;
}

static void on_done(struct container_image_call *call, int r, struct container_image *image,
                    const struct err *err)
{
    struct agent_container *c = container_of(call, struct agent_container, call);
    if (c->early) {
        end_early(c, r, image);
        return;
    }
    const char *reason = r < 0 ? reason_of(c, r) : NULL;
    if (r < 0 && r != E_INVALID && c->pull_skip + 1 < c->pod->spec->n_pull_secrets) {
        c->pull_skip++; /* another Secret may have other credentials for this registry */
        try_pull(c);
        return;
    }
    if (r < 0)
        agent_event(c->pod, c->name, true, "Failed", "%s: %s", reason, err_text(err));
    else
        report_pulled(c, image);
    end_pull(c, r, reason, r < 0 ? err_text(err) : NULL, image);
}

/* The scheduler sends plans for pods that it binds with this. */
static bool is_planned(const struct pod_spec *spec)
{
    return pod_pair_value(spec->annotations, spec->n_annotations, STR("image.dormouse.dev/plan")).n;
}

/* Its users are those of the machine: the kernel maps no owners of an overlay. */
static bool may_be_lazy(const struct pod_spec *spec)
{
    return spec->host_users != 0 && str_is(pod_pair_value(spec->annotations, spec->n_annotations,
                                                          STR("image.dormouse.dev/lazy")),
                                           "true");
}

int agent_pull_image(struct agent_pod *p, struct str image, struct str policy, size_t skip,
                     bool is_root, struct container_image_call *call, struct err *err)
{
    struct credentials credentials;
    find_credentials(p, skip, &credentials);
    const struct container_image_want want = { .reference = image,
                                               .tenant = credentials.tenant,
                                               .auths = credentials.files,
                                               .n_auths = credentials.n,
                                               .policy = policy_of(policy),
                                               .is_planned = is_planned(p->spec),
                                               .is_lazy = is_root && may_be_lazy(p->spec),
                                               .is_mounted = true };
    int r = p->agent->images.ops->get(p->agent->images.arg, &want, call, err);
    arena_fini(&credentials.arena);
    return r;
}

static int start(struct agent_container *c, const struct pod_container *spec, struct err *err)
{
    c->call = (struct container_image_call){ .on_pulling = on_pulling, .on_done = on_done };
    c->is_pulling = true;
    return agent_pull_image(c->pod, spec->image, spec->pull_policy, c->pull_skip, true, &c->call,
                            err);
}

/* What was asked for early, or is still asked for, answers this request. */
static bool take_early(struct agent_container *c, const struct pod_container *spec)
{
    scoped(free_scoped) char *early = take_ptr(&c->early);
    if (!early)
        return false;
    if (!str_is(spec->image, early)) { /* the pod has got another one meanwhile */
        if (c->image)
            c->pod->agent->images.ops->put(c->pod->agent->images.arg, take_ptr(&c->image));
        return false;
    }
    if (c->image) {
        report_pulled(c, c->image);
        end_pull(c, 0, NULL, NULL, take_ptr(&c->image));
    }
    return true;
}

static void try_pull(struct agent_container *c)
{
    size_t i = agent_container_index(c);
    struct err err = { 0 };
    int r = i == SIZE_MAX ? -ECANCELED : start(c, c->pod->life.containers[i].spec, &err);
    if (r < 0)
        end_pull(c, r, "ErrImagePull", err_text(&err), NULL);
}

void agent_pull_start(struct agent_container *c)
{
    size_t i = agent_container_index(c);
    assert(i != SIZE_MAX);
    if (take_early(c, c->pod->life.containers[i].spec))
        return;
    agent_pull_cancel(c); /* of an image that was wanted before */
    c->pull_began_ms = 0;
    c->pull_skip = 0;
    try_pull(c);
}

static void start_early(struct agent_pod *p, const struct pod_container *spec)
{
    struct agent_container *c = agent_pod_container(p, spec->name);
    struct err err = { 0 };
    if (!c || c->is_pulling || c->image || policy_of(spec->pull_policy) == CONTAINER_PULL_ALWAYS)
        return;
    c->early = str_dup(spec->image);
    c->pull_began_ms = 0;
    c->pull_skip = 0;
    if (start(c, spec, &err) < 0) {
        c->is_pulling = false;
        free(take_ptr(&c->early));
    }
}

void agent_pull_early(struct agent_pod *p)
{
    const struct pod_spec *spec = p->spec;
    if (spec->n_pull_secrets > 0)
        return;
    if (spec->n_init > 0) {
        start_early(p, &spec->init[0]);
        return;
    }
    for (size_t i = 0; i < spec->n_main; i++)
        start_early(p, &spec->main[i]);
}

void agent_pull_cancel(struct agent_container *c)
{
    if (!c->is_pulling)
        return;
    c->is_pulling = false;
    free(take_ptr(&c->early));
    c->pod->agent->images.ops->cancel(c->pod->agent->images.arg, &c->call);
}

/* ---------------------------------------------------------------- lazy images */

/* r->pod may be NULL. */
static void take_news(struct agent_run *r, enum container_image_news news, const char *why)
{
    const char *name = r->container_name;
    if (news == CONTAINER_IMAGE_BROKEN && r->c && !r->is_stopped) /* else its start fails */
        agent_run_stop(r, 0);
    if (!r->pod)
        return;
    switch (news) {
    case CONTAINER_IMAGE_MISSING:
        agent_event(r->pod, name, true, "ImageFilesMissing",
                    "Files of the image do not come, the container waits for them and then gets "
                    "I/O errors: %s",
                    why);
        break;
    case CONTAINER_IMAGE_WHOLE:
        agent_event(r->pod, name, false, "Pulled", "All files of the image are on the machine");
        break;
    case CONTAINER_IMAGE_BROKEN:
        agent_event(r->pod, name, true, "ImageUnusable", "The container is ended: %s", why);
        break;
    }
}

static void on_image_news(void *arg, struct container_image *image, enum container_image_news news,
                          const char *why)
{
    struct agent *a = arg;
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        list_each_safe (node, &p->runs) {
            struct agent_run *r = list_entry(node, struct agent_run, node);
            if (r->image == image)
                take_news(r, news, why);
        }
    }
    list_each_safe (node, &a->left) {
        struct agent_run *r = list_entry(node, struct agent_run, node);
        if (r->image == image)
            take_news(r, news, why);
    }
}

void agent_pull_follow(struct agent *a)
{
    a->images.ops->follow(a->images.arg, on_image_news, a);
}
