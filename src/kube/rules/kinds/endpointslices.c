/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.k8s.io: EndpointSlices. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/validate/validate.h"

enum { LIST_MAX_SHOWN = 3 };

static void slice_set_defaults(struct arena *a, struct json *obj)
{
    json_each (port, json_getc(obj, "ports")) {
        kind_default_str(a, port, "name", "");
        kind_default_str(a, port, "protocol", "TCP");
    }
}

/* Changes of labels count too: controllers find slices by them. */
static void slice_prepare_update(struct arena *a, struct json *obj, const struct json *old)
{
    const struct json *now = json_path(obj, "metadata", "labels", NULL);
    const struct json *was = json_path(old, "metadata", "labels", NULL);
    bool same = (!json_first(now) && !json_first(was)) || (now && was && json_equal(now, was));
    if (!same)
        json_set_int(a, meta_of(a, obj), "generation",
                     json_int_or(json_path(old, "metadata", "generation", NULL), 0) + 1);
}

/* Appends the first few of n; finish_some() adds how many more there are. */
static void add_some(struct buf *b, size_t *n, struct str text)
{
    if (*n > 0 && *n < LIST_MAX_SHOWN)
        (void)buf_add_char(b, ',');
    if (*n < LIST_MAX_SHOWN)
        (void)buf_add_str(b, text);
    (*n)++;
}

static struct json *finish_some(struct arena *a, struct buf *b, size_t n)
{
    if (n > LIST_MAX_SHOWN)
        (void)buf_printf(b, " + %zu more...", n - LIST_MAX_SHOWN);
    return b->n ? json_new_str(a, buf_str(b)) : json_new_cstr(a, "<unset>");
}

static struct json *cell_ports(struct arena *a, const struct json *obj, int64_t now_s)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    size_t n = 0;
    (void)now_s;
    json_each (port, json_getc(obj, "ports")) {
        const struct json *number = json_getc(port, "port"), *name = json_getc(port, "name");
        struct str text = json_is(number, JSON_NUMBER) ? number->s
                          : json_is(name, JSON_STRING) ? json_str(name)
                                                       : STR("*");
        add_some(&b, &n, text);
    }
    return finish_some(a, &b, n);
}

static struct json *cell_endpoints(struct arena *a, const struct json *obj, int64_t now_s)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    size_t n = 0;
    (void)now_s;
    json_each (endpoint, json_getc(obj, "endpoints")) {
        json_each (address, json_getc(endpoint, "addresses"))
            add_some(&b, &n, json_str(address));
    }
    return finish_some(a, &b, n);
}

CELL(cell_address_type, "", "addressType")

static const struct kube_column slice_columns[] = {
    COLUMN_NAME,
    COLUMN("AddressType", "string", "IPv4, IPv6 or FQDN.", 0, cell_address_type),
    COLUMN("Ports", "string", "Ports of every endpoint in the slice.", 0, cell_ports),
    COLUMN("Endpoints", "string", "Addresses in the slice.", 0, cell_endpoints),
    COLUMN_AGE,
};

static const struct kube_strategy slice_strategy = { .set_defaults = slice_set_defaults,
                                                     .prepare_update = slice_prepare_update,
                                                     .validate = validate_endpoint_slice,
                                                     .has_generation = true,
                                                     .unconditional_update = true };

static struct kube_resource rows[] = {
    { NAMES("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice"),
      .namespaced = true, .verbs = KUBE_VERBS_ALL, .strategy = &slice_strategy,
      COLUMNS(slice_columns) },
};

const struct kind_list kinds_endpointslices = { rows, ARRAY_LEN(rows) };
