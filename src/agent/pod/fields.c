/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the downward API. */
#include "agent/pod/fields.h"

#include "base/buf.h"
#include "kube/model/field.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"

#include <errno.h>
#include <inttypes.h>

/* ---------------------------------------------------------------- fieldRef */

enum { LINES_MAX = 4 << 20 }; /* of labels or annotations, quoted */

static int by_name(const void *a, const void *b)
{
    const struct pod_pair *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

/* KEY="VALUE" lines without a line feed at the end. */
static int write_pairs(struct arena *a, const struct pod_pair *pairs, size_t n, struct str *ret,
                       struct err *err)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(LINES_MAX);
    const struct pod_pair **sorted = arena_new_n(a, const struct pod_pair *, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &pairs[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_cstr(&out, i ? "\n" : "");
        (void)buf_add_str(&out, sorted[i]->name);
        (void)buf_add_char(&out, '=');
        field_go_quote(&out, sorted[i]->value);
    }
    if (!buf_ok(&out))
        return err_set(err, E_LIMIT, "labels or annotations of more than %d bytes", LINES_MAX);
    *ret = str_copy_arena(a, buf_str(&out));
    return 0;
}

static struct str join(struct arena *a, const struct str *list, size_t n)
{
    struct str all = n ? list[0] : STR("");
    for (size_t i = 1; i < n; i++)
        all = str_of(arena_printf(a, STR_FMT "," STR_FMT, STR_ARG(all), STR_ARG(list[i])));
    return all;
}

/* "metadata.labels['a']" is "metadata.labels" and "a". */
static bool split_key(struct str path, struct str *ret_path, struct str *ret_key)
{
    ptrdiff_t at = str_find(path, STR("['"));
    if (at <= 0 || !str_has_suffix(path, STR("']")) || (size_t)at + 4 > path.n)
        return false;
    *ret_path = str_slice(path, 0, (size_t)at);
    *ret_key = str_slice(path, (size_t)at + 2, path.n - 2);
    return true;
}

static int value_of_key(struct arena *a, const struct pod_spec *p, struct str path,
                        struct str parent, struct str key, struct str *ret, struct err *err)
{
    bool is_annotation = str_is(parent, "metadata.annotations");
    if (!is_annotation && !str_is(parent, "metadata.labels"))
        return err_set(err, E_INVALID, "fieldPath \"" STR_FMT "\" does not support subscript",
                       STR_ARG(path));
    struct meta_problems problems =
        meta_check_qualified_name(is_annotation ? str_lower_arena(a, key) : key);
    if (problems.n)
        return err_set(err, E_INVALID, "invalid key subscript in " STR_FMT ": %s", STR_ARG(path),
                       problems.text[0]);
    *ret = is_annotation ? pod_pair_value(p->annotations, p->n_annotations, key)
                         : pod_pair_value(p->labels, p->n_labels, key);
    return 0;
}

/* NULL: not one of the fields that are a text of the object or of the facts. */
static const struct str *plain_text(const struct pod_spec *p, const struct pod_facts *facts,
                                    struct str path)
{
    static const struct str none = { "", 0 };
    const struct {
        const char *path;
        const struct str *value;
    } texts[] = {
        { "metadata.name", &p->name },
        { "metadata.namespace", &p->namespace },
        { "metadata.uid", &p->uid },
        { "spec.nodeName", &p->node },
        { "spec.serviceAccountName", &p->service_account },
        { "status.hostIP", facts->n_host_ips ? facts->host_ips : &none },
        { "status.podIP", facts->n_pod_ips ? facts->pod_ips : &none },
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (str_is(path, texts[i].path))
            return texts[i].value;
    }
    return NULL;
}

int pod_field_text(struct arena *a, const struct pod_spec *p, const struct pod_facts *facts,
                   struct str path, struct str *ret, struct err *err)
{
    struct str parent, key;
    if (split_key(path, &parent, &key))
        return value_of_key(a, p, path, parent, key, ret, err);
    const struct str *text = plain_text(p, facts, path);
    if (text)
        *ret = *text;
    else if (str_is(path, "metadata.labels"))
        return write_pairs(a, p->labels, p->n_labels, ret, err);
    else if (str_is(path, "metadata.annotations"))
        return write_pairs(a, p->annotations, p->n_annotations, ret, err);
    else if (str_is(path, "status.hostIPs"))
        *ret = join(a, facts->host_ips, facts->n_host_ips);
    else if (str_is(path, "status.podIPs"))
        *ret = join(a, facts->pod_ips, facts->n_pod_ips);
    else
        return err_set(err, E_INVALID, "unsupported fieldPath: " STR_FMT, STR_ARG(path));
    return 0;
}

/* ---------------------------------------------------------------- resourceFieldRef */

static const struct pod_container *find_container(const struct pod_spec *p,
                                                  const struct pod_field_resource *of,
                                                  struct err *err)
{
    const struct pod_container *c =
        of->container.n ? pod_spec_container(p, of->container) : of->self;
    if (!c)
        (void)err_set(err, -ENOENT, "container " STR_FMT " not found", STR_ARG(of->container));
    return c;
}

/* A stated amount by its resource's name; 0: it is not stated, or is 0. */
static __int128 stated_nano(const struct pod_quantity *list, size_t n, struct str name)
{
    struct quantity q;
    for (size_t i = 0; i < n; i++) {
        if (str_eq(list[i].name, name) && quantity_parse(list[i].text, &q, NULL) == 0)
            return MAX(q.nano, 0);
    }
    return 0;
}

static __int128 allocatable_nano(const struct pod_facts *facts, struct str name)
{
    const __int128 nano = 1000000000;
    if (str_is(name, "cpu"))
        return MAX(facts->allocatable.cpu_milli, 0) * (nano / 1000);
    if (str_is(name, "memory"))
        return MAX(facts->allocatable.memory_bytes, 0) * nano;
    if (str_is(name, "ephemeral-storage"))
        return MAX(facts->allocatable.ephemeral_bytes, 0) * nano;
    return 0;
}

static __int128 amount_nano(const struct pod_spec *p, const struct pod_facts *facts,
                            const struct pod_container *c, bool is_limit, struct str name)
{
    const struct pod_resources *res = &c->resources;
    __int128 limit = stated_nano(res->limits, res->n_limits, name);
    if (is_limit) {
        if (!limit) /* a limit of the whole pod also bounds the container */
            limit = stated_nano(p->resources.limits, p->resources.n_limits, name);
        return limit ? limit : allocatable_nano(facts, name);
    }
    __int128 request = stated_nano(res->requests, res->n_requests, name);
    return request ? request : limit;
}

static bool is_known_resource(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
           (str_has_prefix(name, STR("hugepages-")) && name.n > STR("hugepages-").n);
}

/* The divisor in the unit in which upstream divides: milli for CPU, else 1; at least one unit. */
static int read_divisor(struct str text, __int128 unit_nano, __int128 *ret, struct err *err)
{
    struct quantity q = { .nano = 0 };
    int r = text.n ? quantity_parse(text, &q, err) : 0;
    if (r < 0)
        return err_ctx(err, r, "divisor");
    if (q.nano < 0)
        return err_set(err, E_INVALID, "divisor: must not be negative");
    __int128 nano = q.nano ? q.nano : 1000000000;
    *ret = (nano + unit_nano - 1) / unit_nano;
    return 0;
}

int pod_field_resource_text(struct arena *a, const struct pod_spec *p,
                            const struct pod_facts *facts, const struct pod_field_resource *of,
                            struct str *ret, struct err *err)
{
    struct str kind, name;
    __int128 divisor;
    const struct pod_container *c = find_container(p, of, err);
    if (!c)
        return -ENOENT;
    bool is_limit = str_cut(of->resource, '.', &kind, &name) && str_is(kind, "limits");
    if ((!is_limit && !str_is(kind, "requests")) || !is_known_resource(name))
        return err_set(err, E_INVALID, "unsupported container resource : " STR_FMT,
                       STR_ARG(of->resource));
    __int128 unit_nano = str_is(name, "cpu") ? 1000000 : 1000000000;
    int r = read_divisor(of->divisor, unit_nano, &divisor, err);
    if (r < 0)
        return r;
    __int128 amount = (amount_nano(p, facts, c, is_limit, name) + unit_nano - 1) / unit_nano;
    __int128 result = (amount + divisor - 1) / divisor;
    *ret = str_of(arena_printf(a, "%" PRIi64, (int64_t)MIN(result, (__int128)INT64_MAX)));
    return 0;
}
