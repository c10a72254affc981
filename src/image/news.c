/* SPDX-License-Identifier: Apache-2.0 */
/* News of images; see news.h. */
#include "image/news.h"

enum { DEPTH_MAX = 4 };

static int read_digest(const struct json *v, const char *key, bool *ret_has, struct oci_digest *ret,
                       struct err *err)
{
    struct str text = json_get_str(v, key);
    *ret_has = text.n > 0;
    return text.n ? oci_digest_parse(text, ret, err) : 0;
}

static int read_dead(struct arena *a, const struct json *v, struct image_replaced *to,
                     struct err *err)
{
    const struct json *list = json_getc(v, "dead");
    size_t n = list ? list->n : 0;
    if (list && !json_is(list, JSON_ARRAY))
        return err_set(err, E_INVALID, "dead: not a list");
    if (n > IMAGE_NEWS_DEAD_MAX)
        return err_set(err, E_LIMIT, "dead: more than %d layers", IMAGE_NEWS_DEAD_MAX);
    struct oci_digest *dead = arena_new_n(a, struct oci_digest, n + 1);
    to->dead = dead;
    json_each (item, list) {
        int r = oci_digest_parse(json_str(item), &dead[to->n_dead++], err);
        if (r < 0)
            return err_ctx(err, E_INVALID, "dead");
    }
    return 0;
}

int image_replaced_parse(struct arena *a, struct str text, struct image_replaced *ret,
                         struct err *err)
{
    const struct json_parse_opts o = { .max_depth = DEPTH_MAX };
    struct image_replaced n = { 0 };
    struct json *v;
    if (text.n > IMAGE_NEWS_MAX_BYTES)
        return err_set(err, E_LIMIT, "larger than 1 MiB");
    int r = json_parse(a, text, &o, &v, err);
    struct str name = r < 0 ? STR("") : json_get_str(v, "name");
    if (str_has_prefix(name, STR("docker://")))
        name = str_slice(name, strlen("docker://"), name.n);
    r = r < 0 ? r : oci_reference_parse(name, &n.ref, err);
    r = r < 0 ? r : read_digest(v, "old", &n.has_old, &n.old, err);
    r = r < 0 ? r : read_digest(v, "new", &n.has_new, &n.new, err);
    r = r < 0 ? r : read_dead(a, v, &n, err);
    if (r >= 0)
        *ret = n;
    return r;
}
