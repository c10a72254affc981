/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a volume depend on, as a hash of a few hundred bytes: versions of objects
 * instead of their content. A Pod object changes with each report of its status; most changes
 * concern no volume.
 */
#include "agent/volume/volume_impl.h"

static void add_str(struct sha256 *h, struct str s)
{
    sha256_add(h, &s.n, sizeof s.n);
    sha256_add(h, s.p ? s.p : "", s.n);
}

static void add_number(struct sha256 *h, int64_t v)
{
    sha256_add(h, &v, sizeof v);
}

static bool add_object(const struct volume_pod *p, struct sha256 *h, enum pod_object_kind kind,
                       struct str name)
{
    const struct pod_objects *from = &p->host->objects;
    const struct json *object =
        from->get ? from->get(from->arg, kind, p->spec->namespace, name) : NULL;
    const struct json *metadata = json_getc(object, "metadata");
    add_number(h, object != NULL);
    add_str(h, json_get_str(metadata, "uid"));
    add_str(h, json_get_str(metadata, "resourceVersion"));
    return !object || json_get_str(metadata, "resourceVersion").n;
}

static void add_pairs(struct sha256 *h, const struct pod_pair *pairs, size_t n)
{
    add_number(h, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        add_str(h, pairs[i].name);
        add_str(h, pairs[i].value);
    }
}

/* The generation counts changes of the spec. */
static void add_downward(const struct volume_pod *p, struct sha256 *h)
{
    add_number(h, p->spec->generation);
    add_pairs(h, p->spec->labels, p->spec->n_labels);
    add_pairs(h, p->spec->annotations, p->spec->n_annotations);
    for (size_t i = 0; i < p->facts->n_host_ips; i++)
        add_str(h, p->facts->host_ips[i]);
    add_number(h, -1);
    for (size_t i = 0; i < p->facts->n_pod_ips; i++)
        add_str(h, p->facts->pod_ips[i]);
    sha256_add(h, &p->facts->allocatable, sizeof p->facts->allocatable);
}

bool volume_slot_stamp(const struct volume_pod *p, const struct volume_slot *s,
                       uint8_t ret[SHA256_BYTES])
{
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    bool is_known = true;
    for (size_t i = 0; i < s->v->n_sources; i++) {
        const struct pod_projected *from = &s->v->sources[i];
        add_number(h, from->kind);
        if (from->kind == POD_PROJECTED_CONFIG_MAP)
            is_known = add_object(p, h, POD_OBJECT_CONFIG_MAP, from->name) && is_known;
        else if (from->kind == POD_PROJECTED_SECRET)
            is_known = add_object(p, h, POD_OBJECT_SECRET, from->name) && is_known;
        else if (from->kind == POD_PROJECTED_DOWNWARD_API)
            add_downward(p, h);
        else if (from->kind == POD_PROJECTED_TOKEN)
            sha256_add(h, volume_ticket_text(s, i).p, volume_ticket_text(s, i).n);
    }
    sha256_end(h, ret);
    return is_known;
}
