/* SPDX-License-Identifier: Apache-2.0 */
#include "api/controllers/rescan.h"

#include "base/log.h"

#include <assert.h>
#include <stdlib.h>

struct rescan {
    struct controllers *c;
    const struct rescan_opts *opts;
    char *prefix; /* of the keys */
    struct buf after;
};

static int rescan_next(struct rescan *s);

static void rescan_free(struct rescan *s)
{
    buf_fini(&s->after);
    free(s->prefix);
    free(s);
}

static void rescan_end(struct rescan *s, int r)
{
    struct controllers *c = s->c;
    const struct rescan_opts *opts = s->opts;
    rescan_free(s);
    opts->done(c, r);
}

static void give(struct rescan *s, const struct kube_resource *res, const struct store_kv *kv)
{
    struct arena a = { 0 };
    struct json *obj;
    if (json_parse(&a, kv->value, NULL, &obj, NULL) >= 0)
        s->opts->written(s->c, &(struct written){ .res = res,
                                                  .key = kv->key,
                                                  .name = meta_name(obj),
                                                  .obj = obj,
                                                  .value = kv->value,
                                                  .rev = kv->mod_rev });
    arena_fini(&a);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct rescan *s = arg;
    struct controllers *c = s->c;
    const struct kube_resource *res =
        kube_registry_find(&c->api->reg, s->opts->group, STR("v1"), s->opts->plural);
    if (r < 0)
        log_warn("stored objects were not read, trying again", "resource=" STR_FMT " error=\"%s\"",
                 STR_ARG(s->opts->plural), err_text(err));
    for (size_t i = 0; r >= 0 && !c->api->closing && i < page->n; i++)
        give(s, res, &page->kv[i]);
    if (r < 0 || !page->more || c->api->closing) {
        rescan_end(s, r);
        return;
    }
    buf_reset(&s->after);
    (void)buf_add_str(&s->after, page->kv[page->n - 1].key);
    r = rescan_next(s);
    if (r < 0)
        rescan_end(s, r);
}

static int rescan_next(struct rescan *s)
{
    const struct store_range range = { .prefix = str_of(s->prefix),
                                       .after = buf_str(&s->after),
                                       .skip_damaged = true };
    return store_range(s->c->api->store, &range, on_page, s, NULL);
}

int rescan_start(struct controllers *c, const struct rescan_opts *opts)
{
    assert(opts->written && opts->done);
    struct rescan *s = xnew(struct rescan);
    *s = (struct rescan){ .c = c, .opts = opts, .after = BUF_INIT(STORE_KEY_MAX_BYTES) };
    s->prefix = xasprintf("/registry/" STR_FMT "/" STR_FMT "/", STR_ARG(opts->group),
                          STR_ARG(opts->plural));
    int r = rescan_next(s);
    if (r < 0)
        rescan_free(s);
    return r;
}
