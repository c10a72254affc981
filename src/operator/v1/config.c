/* SPDX-License-Identifier: Apache-2.0 */
/* ConfigMaps and Secrets; see config.h. */
#include "operator/v1/config.h"

#include "codec/base64.h"

#include <errno.h>
#include <stdio.h>

struct v1_config {
    struct configs *cs;
    const struct declaration_config *declared;
    struct object_sub *sub;
    bool synced, is_there, is_forbidden;
    bool was_synced;
    uint64_t hash;     /* of the values; 0: absent */
    uint64_t reported; /* the hash at the last on_change, or the first hash */
};

struct config_read {
    struct object_read *read;
    bool secret;
    config_done_fn done;
    void *arg;
};

struct configs {
    struct configs_opts opts;
    size_t n;
    struct v1_config configs[];
};

/* ---------------------------------------------------------------- changes */

static void state_changed(struct v1_config *c)
{
    c->cs->opts.on_state(c->cs->opts.arg);
}

static void on_event(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial)
{
    struct v1_config *c = arg;
    c->is_there = now != NULL;
    c->hash = now ? cached_object_content_hash(now) : 0;
    if (!c->synced)
        return;
    bool changed = c->hash != c->reported;
    c->reported = c->hash;
    if (type != OBJECT_UPDATED)
        state_changed(c);
    if (changed)
        c->cs->opts.on_change(c->cs->opts.arg, (size_t)(c - c->cs->configs));
}

static void on_synced(void *arg, uint64_t rv)
{
    struct v1_config *c = arg;
    bool changed = c->was_synced && c->hash != c->reported;
    c->synced = c->was_synced = true;
    c->is_forbidden = false;
    c->reported = c->hash;
    state_changed(c);
    if (changed)
        c->cs->opts.on_change(c->cs->opts.arg, (size_t)(c - c->cs->configs));
}

static void on_error(void *arg, int r, const struct err *err)
{
    struct v1_config *c = arg;
    if (r != E_DENIED && r != -ENOENT && r != E_LIMIT)
        return;
    c->synced = c->is_there = false;
    c->hash = 0;
    c->is_forbidden = r == E_DENIED;
    state_changed(c);
}

static const char *namespace_of(const struct v1_config *c)
{
    return c->declared->namespace.n ? c->declared->namespace.p : c->cs->opts.namespace;
}

static int follow(struct v1_config *c, struct err *err)
{
    static const struct object_sub_ops ops = { .on_event = on_event,
                                               .on_synced = on_synced,
                                               .on_error = on_error };
    struct object_sub_opts opts = { .group_version = STR("v1"),
                                    .plural =
                                        c->declared->secret ? STR("secrets") : STR("configmaps"),
                                    .namespace = str_of(namespace_of(c)),
                                    .name = c->declared->object,
                                    .identity = c->cs->opts.identity,
                                    .ops = &ops,
                                    .arg = c };
    scoped(free_scoped) char *path =
        xasprintf("/api/v1/namespaces/%s/" STR_FMT "/" STR_FMT, namespace_of(c),
                  STR_ARG(opts.plural), STR_ARG(opts.name));
    c->is_forbidden = !allow_check(c->cs->opts.allow, KUBE_GET, str_of(path));
    return c->is_forbidden ? 0 : object_cache_subscribe(c->cs->opts.cache, &opts, &c->sub, err);
}

int configs_start(const struct configs_opts *opts, struct configs **ret, struct err *err)
{
    size_t n = opts->declaration->n_configs;
    if (n == 0) {
        *ret = NULL;
        return 0;
    }
    struct configs *cs = xalloc(sizeof *cs + n * sizeof cs->configs[0]);
    cs->opts = *opts;
    cs->n = n;
    for (size_t i = 0; i < n; i++) {
        struct v1_config *c = &cs->configs[i];
        c->cs = cs;
        c->declared = &opts->declaration->configs[i];
        int r = follow(c, err);
        if (r < 0) {
            struct str name = c->declared->name; /* owned by the declaration, which stays */
            configs_free(cs);
            return err_ctx(err, r, "configuration '" STR_FMT "'", STR_ARG(name));
        }
    }
    cs->opts.identity = NULL; /* it was borrowed */
    cs->opts.allow = NULL;
    *ret = cs;
    return 0;
}

void configs_free(struct configs *cs)
{
    if (!cs)
        return;
    for (size_t i = 0; i < cs->n; i++)
        object_sub_cancel(cs->configs[i].sub);
    free(cs);
}

const char *configs_missing(const struct configs *cs, char text[CONFIG_TEXT_MAX])
{
    for (size_t i = 0; cs && i < cs->n; i++) {
        const struct v1_config *c = &cs->configs[i];
        if (c->is_there && c->synced)
            continue;
        if (c->declared->optional && (c->synced || c->is_forbidden))
            continue;
        (void)snprintf(text, CONFIG_TEXT_MAX, "%s '%s/" STR_FMT "' %s",
                       c->declared->secret ? "Secret" : "ConfigMap", namespace_of(c),
                       STR_ARG(c->declared->object),
                       c->is_forbidden ? "may not be read"
                       : c->synced     ? "does not exist"
                                       : "has not been read yet");
        return text;
    }
    return NULL;
}

/* ---------------------------------------------------------------- values */

static void add_entry(struct buf *to, bool *first, struct str key, struct str value)
{
    if (!*first)
        (void)buf_add_char(to, ',');
    *first = false;
    (void)json_write_str(to, key);
    (void)buf_add_char(to, ':');
    (void)json_write_str(to, value);
}

/* Whether the base64 text of a Secret decodes to readable text, which is then in `text`. */
static bool decodes_to_text(struct buf *text, struct str base64)
{
    buf_reset(text);
    return base64_decode(text, base64, BASE64_LENIENT) >= 0 && str_is_utf8(buf_str(text));
}

static void write_secret(struct buf *to, const struct json *object)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
    bool first = true;
    (void)buf_add_cstr(to, "{\"data\":{");
    json_each (v, json_getc(object, "data"))
        if (decodes_to_text(&text, json_str(v)))
            add_entry(to, &first, v->key, buf_str(&text));
    (void)buf_add_cstr(to, "},\"binaryData\":{");
    first = true;
    json_each (v, json_getc(object, "data"))
        if (!decodes_to_text(&text, json_str(v)))
            add_entry(to, &first, v->key, json_str(v));
}

static void write_config_map(struct buf *to, const struct json *object)
{
    bool first = true;
    (void)buf_add_cstr(to, "{\"data\":{");
    json_each (v, json_getc(object, "data"))
        add_entry(to, &first, v->key, json_str(v));
    (void)buf_add_cstr(to, "},\"binaryData\":{");
    first = true;
    json_each (v, json_getc(object, "binaryData"))
        add_entry(to, &first, v->key, json_str(v));
}

void config_write(struct buf *to, const struct json *object, bool secret)
{
    if (secret)
        write_secret(to, object);
    else
        write_config_map(to, object);
    (void)buf_add_cstr(to, "},\"resourceVersion\":");
    (void)json_write_str(to, json_get_str(json_getc(object, "metadata"), "resourceVersion"));
    (void)buf_add_char(to, '}');
}

static void on_read(void *arg, int r, const struct object_result *res, const struct err *err)
{
    scoped(free_scoped) struct config_read *read = arg;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
    struct arena a = { .max_bytes = CONFIG_MAX_BYTES * 4 };
    struct json *object;
    if (r >= 0 && res->n == 0)
        r = -ENOENT;
    if (r >= 0)
        r = json_parse(&a, res->items[0], NULL, &object, NULL);
    if (r >= 0) {
        config_write(&text, object, read->secret);
        r = buf_ok(&text) ? 0 : -EMSGSIZE;
    }
    arena_fini(&a);
    read->done(read->arg, r, buf_str(&text), err);
}

int configs_get(struct configs *cs, size_t index, config_done_fn done, void *arg,
                struct config_read **ret, struct err *err)
{
    struct v1_config *c = &cs->configs[index];
    struct object_query query = { .namespace = str_of(namespace_of(c)),
                                  .name = c->declared->object,
                                  .view = OBJECT_FULL };
    if (!c->sub)
        return err_set(err, E_DENIED,
                       "get of %s '%s/" STR_FMT "' is not in this operator's allow list",
                       c->declared->secret ? "Secret" : "ConfigMap", namespace_of(c),
                       STR_ARG(c->declared->object));
    scoped(free_scoped) struct config_read *read = xnew(struct config_read);
    read->secret = c->declared->secret;
    read->done = done;
    read->arg = arg;
    int r = object_sub_get(c->sub, &query, on_read, read, &read->read, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&read);
    return 0;
}

void config_read_cancel(struct config_read *read)
{
    object_read_cancel(read->read);
    free(read);
}
