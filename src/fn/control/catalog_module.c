/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that are missing. The catalog checks for a module once, when it reads the Function, and
 * watches only a missing module, until it exists. A module at a URL is not checked: it is fetched
 * for the first request.
 */
#include "fn/control/catalog_impl.h"

#include "base/log.h"
#include "modules/module_source.h"

#include <unistd.h>

struct module_search {
    struct catalog_entry *e;
    struct list node;             /* FILE: on catalog->missing_files */
    struct module_source *source; /* of a ConfigMap */
    char *file;
    bool is_answered;
};

void catalog_end_search(struct catalog_entry *e)
{
    struct module_search *s = take_ptr(&e->search);
    if (!s)
        return;
    list_remove(&s->node);
    module_source_close(s->source);
    free(s->file);
    free(s);
}

bool catalog_module_is_awaited(const struct catalog_entry *e)
{
    return e->search && !e->search->is_answered;
}

static void module_found(struct catalog_entry *e)
{
    catalog_end_search(e);
    catalog_set_trouble(e, NULL, NULL);
    plane_try_again(e->c->opts.plane, e->number);
    catalog_entry_touch(e);
}

static void module_missing(struct module_search *s, const char *reason, const struct err *err)
{
    s->is_answered = true;
    catalog_set_trouble(s->e, reason, err_text(err));
    catalog_entry_touch(s->e);
}

/* ---------------------------------------------------------------- files */

static int find_file(const struct catalog *c, const char *file, struct err *err)
{
    const struct catalog_modules *m = c->opts.modules;
    scoped(free_scoped) char *path = NULL;
    return module_find_file(m->dirs, m->n_dirs, str_of(file), &path, err);
}

/* A file below a module directory is new or has changed. */
static void on_module_dir(void *arg)
{
    struct catalog *c = arg;
    list_each_safe (node, &c->missing_files) {
        struct module_search *s = list_entry(node, struct module_search, node);
        if (find_file(c, s->file, NULL) >= 0)
            module_found(s->e);
    }
}

static void watch_dirs(struct catalog *c)
{
    const struct catalog_modules *m = c->opts.modules;
    struct err err = { 0 };
    if (c->dir_watches)
        return;
    c->dir_watches = xnew_n(struct module_dir_watch *, m->n_dirs);
    for (size_t i = 0; i < m->n_dirs; i++)
        if (module_dir_watch_start(m->sources, m->dirs[i], on_module_dir, c, &c->dir_watches[i],
                                   &err) < 0)
            log_warn("directory of modules cannot be watched", "dir=\"%s\" reason=\"%s\"",
                     m->dirs[i], err_text(&err));
}

/* ---------------------------------------------------------------- ConfigMaps */

static void on_module(void *arg, int fd)
{
    (void)close(fd);
    module_found(((struct module_search *)arg)->e);
}

static void on_trouble(void *arg, const char *reason, const struct err *err)
{
    module_missing(arg, reason, err);
}

static const struct module_source_ops source_ops = { .on_module = on_module,
                                                     .on_trouble = on_trouble };

static void follow_config_map(struct module_search *s, const struct fn_template *t)
{
    struct err err = { 0 };
    scoped(free_scoped) char *name = str_dup(t->config_map);
    scoped(free_scoped) char *key = str_dup(t->key.n ? t->key : STR("module.wasm"));
    struct module_origin origin = {
        .from = MODULE_FROM_CONFIG_MAP, .namespace = s->e->namespace, .name = name, .key = key
    };
    int r = module_source_open(s->e->c->opts.modules->sources, &origin, &source_ops, s, &s->source,
                               &err);
    if (r != -EAGAIN) /* it cannot be checked, so it is not reported as missing */
        catalog_end_search(s->e);
}

/* ---------------------------------------------------------------- public */

void catalog_look_for_module(struct catalog_entry *e, const struct fn_template *t)
{
    struct catalog *c = e->c;
    struct err err = { 0 };
    bool is_file = t->file.n > 0;
    catalog_end_search(e);
    if (!c->opts.modules || t->runtime != FN_WASM || t->url.n)
        return;
    /* The module existed when this revision became ready, so a restart does not check it again. */
    if (!is_file && e->was_ready == 'T' && e->ready == e->revisions.p[e->revisions.n - 1].number)
        return;
    if (is_file && c->opts.modules->n_dirs == 0)
        return;
    struct module_search *s = xnew(struct module_search);
    s->e = e;
    e->search = s;
    if (!is_file) {
        follow_config_map(s, t);
        return;
    }
    s->file = str_dup(t->file);
    if (find_file(c, s->file, &err) >= 0) {
        catalog_end_search(e);
        return;
    }
    list_push_back(&c->missing_files, &s->node);
    watch_dirs(c);
    module_missing(s, err.code == E_DENIED ? "ModuleDenied" : "ModuleNotFound", &err);
}

void catalog_stop_searching(struct catalog *c)
{
    for (size_t i = 0; c->dir_watches && i < c->opts.modules->n_dirs; i++)
        module_dir_watch_stop(c->dir_watches[i]);
    free(take_ptr(&c->dir_watches));
}
