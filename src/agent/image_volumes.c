/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/image_volumes.h"

#include "agent/agent_impl.h"
#include "agent/pull.h"

#include <errno.h>

enum { IMAGE_VOLUME_RETRY_MS = 10000 };

struct image_volume {
    struct list node;
    struct agent_pod *pod;
    char *name;
    struct container_image_call call;
    bool is_pulling;
    struct container_image *image;
    char *path;     /* of its files */
    struct err err; /* of the last attempt */
    struct timer again;
};

static void pull(struct image_volume *v);

static void on_again(struct timer *t)
{
    pull(container_of(t, struct image_volume, again));
}

static void on_pulling(struct container_image_call *call)
{
}

static void on_done(struct container_image_call *call, int r, struct container_image *image,
                    const struct err *err)
{
    struct image_volume *v = container_of(call, struct image_volume, call);
    struct agent_pod *p = v->pod;
    v->is_pulling = false;
    if (r < 0) {
        v->err = *err;
        timer_start(p->agent->loop, &v->again, IMAGE_VOLUME_RETRY_MS, on_again);
    } else {
        v->image = image;
        v->path = xasprintf("%s/rootfs", image->dir);
    }
    agent_prepare_update(p);
    agent_prepare_look(p);
}

static void pull(struct image_volume *v)
{
    const struct pod_volume *spec = pod_spec_volume(v->pod->spec, str_of(v->name));
    struct err err = { 0 };
    if (!spec)
        return;
    v->call = (struct container_image_call){ .on_pulling = on_pulling, .on_done = on_done };
    v->is_pulling = true;
    int r = agent_pull_image(v->pod, spec->image, spec->pull_policy, 0, false, &v->call, &err);
    if (r < 0)
        on_done(&v->call, r, NULL, &err);
}

static struct image_volume *find(const struct agent_pod *p, struct str name)
{
    list_each (node, &p->image_volumes) {
        struct image_volume *v = list_entry(node, struct image_volume, node);
        if (str_is(name, v->name))
            return v;
    }
    return NULL;
}

void agent_image_volumes_start(struct agent_pod *p)
{
    for (size_t i = 0; i < p->spec->n_volumes; i++) {
        const struct pod_volume *spec = &p->spec->volumes[i];
        if (spec->kind != POD_VOLUME_IMAGE || find(p, spec->name))
            continue;
        struct image_volume *v = xnew(struct image_volume);
        v->pod = p;
        v->name = str_dup(spec->name);
        list_push_back(&p->image_volumes, &v->node);
        timer_start(p->agent->loop, &v->again, 0, on_again);
    }
}

void agent_image_volumes_drop(struct agent_pod *p)
{
    const struct container_images *images = &p->agent->images;
    list_each_safe (node, &p->image_volumes) {
        struct image_volume *v = list_entry(node, struct image_volume, node);
        if (v->is_pulling)
            images->ops->cancel(images->arg, &v->call);
        if (v->image && p->agent->is_stopping)
            images->ops->leave(images->arg, v->image);
        else if (v->image)
            images->ops->put(images->arg, v->image);
        timer_stop(p->agent->loop, &v->again);
        list_remove(&v->node);
        free(v->name);
        free(v->path);
        free(v);
    }
}

int agent_image_volume_find(void *arg, const struct pod_spec *pod, const struct pod_volume *spec,
                            struct str *ret_path, struct err *err)
{
    struct agent *a = arg;
    const struct agent_pod *p = map_get(&a->pods, pod->uid);
    const struct image_volume *v = p ? find(p, spec->name) : NULL;
    if (v && v->path) {
        *ret_path = str_of(v->path);
        return 0;
    }
    return err_set(err, -EAGAIN, "image \"" STR_FMT "\" is not there yet%s%s", STR_ARG(spec->image),
                   v && v->err.code ? ": " : "", v && v->err.code ? err_text(&v->err) : "");
}
