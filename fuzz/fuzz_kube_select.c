/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small languages: label and field selectors, JSONPath, quantities. What parses has a canonical
 * text that parses to the same.
 */
#include "fuzz.h"

#include "kube/model/jsonpath.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"
#include "kube/model/selector.h"

static const char object_text[] = "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"1\",\"b\":"
                                  "\"x\"}},\"spec\":{\"list\":[{\"n\":1,"
                                  "\"v\":\"p\"},{\"n\":2,\"v\":null}],\"deep\":{\"list\":[[1],[2,3]"
                                  "]}},\"source\":{\"component\":\"c\"}}";

static void check_selector(struct arena *a, struct str text, const struct json *obj,
                           int (*parse)(struct arena *, struct str, struct selector *,
                                        struct err *))
{
    struct selector s, again;
    struct err err = { 0 };
    if (parse(a, text, &s, &err) < 0)
        return;
    struct str canonical = selector_text(a, &s);
    bool labels = selector_matches_labels(&s, json_path(obj, "metadata", "labels", NULL));
    bool fields = selector_matches_fields(a, &s, NULL, obj);
    FUZZ_CHECK(parse(a, canonical, &again, &err) == 0);
    FUZZ_CHECK(str_eq(selector_text(a, &again), canonical));
    FUZZ_CHECK(labels ==
               selector_matches_labels(&again, json_path(obj, "metadata", "labels", NULL)));
    FUZZ_CHECK(fields == selector_matches_fields(a, &again, NULL, obj));
}

static void check_path(struct arena *a, struct str text, const struct json *obj)
{
    struct jsonpath *p;
    const struct json *found[8];
    if (jsonpath_parse(a, text, &p, NULL) == 0)
        FUZZ_CHECK(jsonpath_find(p, obj, found, 8, NULL) <= 8);
}

static void check_quantity(struct arena *a, struct str text)
{
    struct quantity q, again;
    if (quantity_parse(text, &q, NULL) < 0)
        return;
    struct str canonical = quantity_text(a, q);
    FUZZ_CHECK(quantity_parse(canonical, &again, NULL) == 0);
    FUZZ_CHECK(quantity_cmp(q, again) == 0);
    FUZZ_CHECK(str_eq(quantity_text(a, again), canonical));
    (void)quantity_value(q);
    (void)quantity_milli(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct json *obj;
    struct str text = str_n(data, size);
    FUZZ_CHECK(json_parse(&a, str_of(object_text), NULL, &obj, NULL) == 0);
    check_selector(&a, text, obj, selector_parse_labels);
    check_selector(&a, text, obj, selector_parse_fields);
    check_path(&a, text, obj);
    check_quantity(&a, text);
    (void)meta_check_qualified_name(text);
    (void)meta_check_label_value(text);
    (void)meta_check_dns1123_subdomain(text);
    (void)meta_check_config_key(text);
    arena_fini(&a);
    return 0;
}
