/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/static/manifest.h"

#include "base/clock.h"
#include "codec/digest.h"
#include "codec/yaml.h"
#include "kube/model/meta.h"
#include "kube/rules/kinds/references.h"
#include "kube/rules/object_rules.h"

#include <errno.h>

enum { UID_BYTES = 16 }; /* of the hash, as many as upstream's */

static int is_pod(const struct json *doc, struct err *err)
{
    if (!json_is(doc, JSON_OBJECT) || !str_is(json_get_str(doc, "kind"), "Pod") ||
        !str_is(json_get_str(doc, "apiVersion"), "v1"))
        return err_set(err, E_INVALID,
                       "couldn't parse as pod: the file must hold one object of kind Pod and "
                       "apiVersion v1");
    return 0;
}

static int invalid(const struct json *status, int r, struct err *err)
{
    return err_set(err, r, "invalid pod: " STR_FMT, STR_ARG(json_get_str(status, "message")));
}

/* ---------------------------------------------------------------- what the node adds */

static struct str hash_of(struct arena *a, const struct static_place *at, const struct json *pod)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    uint8_t digest[SHA256_BYTES];
    (void)buf_printf(&text, "host:" STR_FMT "\nfile:" STR_FMT "\n", STR_ARG(at->node),
                     STR_ARG(at->path));
    (void)json_write_sorted(&text, pod);
    sha256_of(buf_str(&text), digest);
    char *hex = arena_alloc(a, 2 * UID_BYTES + 1);
    for (size_t i = 0; i < UID_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return str_of(hex);
}

static void set_annotations(struct arena *a, const struct static_place *at, struct json *metadata)
{
    char seen[RFC3339_MAX];
    struct json *annotations = json_obj(a, metadata, "annotations");
    rfc3339_format(at->wall_s, seen);
    json_set_str(a, annotations, "kubernetes.io/config.hash", json_get_str(metadata, "uid"));
    json_set_str(a, annotations, "kubernetes.io/config.source", STR("file"));
    json_set_str(a, annotations, "kubernetes.io/config.seen", str_of(seen));
}

static bool tolerates_all(const struct json *list)
{
    json_each (t, list) {
        if (str_is(json_get_str(t, "operator"), "Exists") &&
            str_is(json_get_str(t, "effect"), "NoExecute") && !json_get_str(t, "key").n)
            return true;
    }
    return false;
}

/* Taints that appear later do not evict static pods. */
static void add_toleration(struct arena *a, struct json *spec)
{
    struct json *list = json_getc(spec, "tolerations");
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, spec, "tolerations", list);
    }
    if (tolerates_all(list))
        return;
    struct json *t = json_new_object(a);
    json_set_str(a, t, "operator", STR("Exists"));
    json_set_str(a, t, "effect", STR("NoExecute"));
    json_add(list, t);
}

static void set_node(struct arena *a, const struct static_place *at, struct json *pod)
{
    struct json *metadata = json_obj(a, pod, "metadata"), *spec = json_obj(a, pod, "spec");
    if (!json_get_str(metadata, "uid").n)
        json_set_str(a, metadata, "uid", hash_of(a, at, pod));
    const char *name = arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(meta_name(pod)),
                                    STR_ARG(str_lower_arena(a, at->node)));
    json_set_str(a, metadata, "name", str_of(name));
    if (!meta_namespace(pod).n)
        json_set_str(a, metadata, "namespace", STR("default"));
    json_set_str(a, spec, "nodeName", at->node);
    set_annotations(a, at, metadata);
    add_toleration(a, spec);
    json_set_str(a, json_obj(a, pod, "status"), "phase", STR("Pending"));
}

/* ---------------------------------------------------------------- all of it */

static int check(struct arena *a, const struct static_place *at, const struct json *pod,
                 struct err *err)
{
    struct json *status = NULL;
    const char *unknown = NULL;
    int r = object_validate(a, at->pods, OBJECT_WHOLE, pod, NULL, &status);
    if (r < 0)
        return invalid(status, r, err);
    const char *reference = kind_pod_api_reference(a, pod, &unknown);
    if (reference)
        return err_set(err, E_INVALID, "static pods may not reference %s", reference);
    return unknown ? err_set(err, E_INVALID, "%s", unknown) : 0;
}

int static_manifest_read(struct arena *a, const struct static_place *at, struct str text,
                         struct json **ret, struct err *err)
{
    struct json *pod, *status = NULL;
    struct object_warnings warnings = { .a = a };
    if (text.n > STATIC_MANIFEST_MAX)
        return err_set(err, E_LIMIT, "the file has more than %d bytes", STATIC_MANIFEST_MAX);
    int r = yaml_parse(a, text, &(struct yaml_opts){ .first_only = true }, &pod, err);
    r = r < 0 ? r : is_pod(pod, err);
    if (r < 0)
        return r;
    struct str uid = json_str(json_path(pod, "metadata", "uid", NULL));
    object_wipe_system_fields(pod);
    if (uid.n)
        json_set_str(a, json_obj(a, pod, "metadata"), "uid", uid);
    r = object_decode_tree(a, at->pods, pod, FIELD_VALIDATION_IGNORE, &warnings, &status);
    if (r < 0)
        return invalid(status, r, err);
    set_node(a, at, pod);
    r = check(a, at, pod, err);
    if (r < 0)
        return r;
    *ret = pod;
    return 0;
}
