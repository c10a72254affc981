/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a plugin, and running its hooks; see plugin.h. */
#include "sched/wasm/internal.h"

#include "codec/json.h"
#include "sched/wasm/payload.h"
#include "wasm/engine_config.h"

#include <stdio.h>
#include <unistd.h>

enum { ERROR_MAX_BYTES = 128 << 10 };

static const struct {
    const char *name;
    char result;
    unsigned point;
} hooks[] = {
#define ROW(id, name, result, point) [WPLUGIN_HOOK_##id] = { name, result, point },
    WPLUGIN_HOOKS(ROW)
#undef ROW
};

const char *wplugin_hook_name(enum wplugin_hook hook)
{
    return hooks[hook].name;
}

enum wplugin_hook wplugin_hook_of(struct str name)
{
    enum wplugin_hook hook = 0;
    while (hook < WPLUGIN_HOOK_COUNT && !str_is(name, hooks[hook].name))
        hook++;
    return hook;
}

unsigned wplugin_points(const struct wplugin *p)
{
    return p->points;
}

bool wplugin_has(const struct wplugin *p, enum wplugin_hook hook)
{
    return wplugin_exports(p, hook) && (!hooks[hook].point || p->points & hooks[hook].point);
}

/* ---- configuration ---- */

static bool wrong_type(struct buf *error, struct str name, const char *key, const char *type)
{
    (void)buf_printf(error, "failed to decode into " STR_FMT " PluginConfig: field '%s' is not %s",
                     STR_ARG(name), key, type);
    return false;
}

static bool read_string(const struct json *args, struct str name, const char *key, struct str *ret,
                        struct buf *error)
{
    const struct json *v = json_getc(args, key);
    if (v && v->type != JSON_STRING && v->type != JSON_NULL)
        return wrong_type(error, name, key, "a string");
    *ret = json_str(v);
    return true;
}

static bool read_args(struct arena *a, const struct json *args, struct wplugin_config *ret,
                      struct buf *error)
{
    const struct json *list = json_getc(args, "Args");
    if (list && list->type != JSON_ARRAY && list->type != JSON_NULL)
        return wrong_type(error, ret->name, "Args", "a list of strings");
    struct str *to = arena_new_n(a, struct str, (list ? list->n : 0) + 1);
    ret->args = to;
    json_each (item, list) {
        if (item->type != JSON_STRING)
            return wrong_type(error, ret->name, "Args", "a list of strings");
        to[ret->n_args++] = item->s;
    }
    return true;
}

int wplugin_config_read(struct arena *a, struct str name, const struct json *args,
                        struct wplugin_config *ret, struct buf *error)
{
    struct wplugin_config c = { .name = name };
    if (args && args->type != JSON_OBJECT && args->type != JSON_NULL) {
        (void)buf_printf(error, "failed to decode into " STR_FMT " PluginConfig: not an object",
                         STR_ARG(name));
        return E_INVALID;
    }
    const struct json *severity = json_getc(args, "logSeverity");
    int64_t n = 0;
    if (!read_string(args, name, "guestURL", &c.guest_url, error) ||
        !read_string(args, name, "guestConfig", &c.guest_config, error) ||
        !read_args(a, args, &c, error))
        return E_INVALID;
    if (severity && severity->type != JSON_NULL &&
        (json_int(severity, &n) < 0 || n < INT32_MIN || n > INT32_MAX)) {
        (void)wrong_type(error, name, "logSeverity", "a 32-bit integer");
        return E_INVALID;
    }
    c.log_severity = (int32_t)n;
    *ret = c;
    return 0;
}

static const struct json *find_config(const struct json *profile, struct str name)
{
    json_each (entry, json_getc(profile, "pluginConfig"))
        if (str_eq(json_get_str(entry, "name"), name))
            return entry;
    return NULL;
}

size_t wplugin_find(struct arena *a, const struct json *config, bool (*is_native)(struct str name),
                    const struct wplugin_entry **ret)
{
    VEC(struct wplugin_entry) found = { 0 };
    size_t profile = 0;
    json_each (at, json_getc(config, "profiles")) {
        json_each (plugin, json_path(at, "plugins", "multiPoint", "enabled", NULL)) {
            struct str name = json_get_str(plugin, "name");
            const struct json *entry = find_config(at, name);
            if (entry && !is_native(name))
                vec_push(&found,
                         ((struct wplugin_entry){ profile, name, json_getc(entry, "args") }));
        }
        profile++;
    }
    struct wplugin_entry *entries = arena_new_n(a, struct wplugin_entry, found.n + 1);
    if (found.n)
        memcpy(entries, found.p, found.n * sizeof *entries);
    *ret = entries;
    size_t n = found.n;
    vec_fini(&found);
    return n;
}

/* ---- requirements of a module ---- */

/* addpod and removepod are checked against another text than the one they must have. */
static const char *wanted_text(enum wplugin_hook hook)
{
    if (hook == WPLUGIN_HOOK_ADDPOD || hook == WPLUGIN_HOOK_REMOVEPOD)
        return "() -> ()";
    return hooks[hook].result == 'i'   ? "() -> (i32)"
           : hooks[hook].result == 'I' ? "() -> (i64)"
                                       : "() -> ()";
}

static bool check_exports(struct wplugin *p, struct buf *error)
{
    const struct module_info *info = p->module->info;
    const struct module_extern *memory = module_info_export(info, "memory");
    if (!memory || memory->kind != MODULE_MEMORY) {
        (void)buf_add_cstr(error, "wasm: guest doesn't export memory[memory]");
        return false;
    }
    for (enum wplugin_hook hook = 0; hook < WPLUGIN_HOOK_COUNT; hook++) {
        const struct module_extern *x = module_info_export(info, hooks[hook].name);
        const char sig[] = { ':', hooks[hook].result, 0 };
        if (!x || x->kind != MODULE_FUNC)
            continue;
        if (hook == WPLUGIN_HOOK_QUEUEINGHINT && !str_is(x->sig, sig))
            continue; /* upstream ignores unknown exports */
        if (!str_is(x->sig, sig)) {
            (void)buf_printf(error,
                             "wasm: guest exports the wrong signature for func[%s]. should be %s",
                             hooks[hook].name, wanted_text(hook));
            return false;
        }
        p->exports |= 1u << hook;
    }
    bool is_plugin = p->exports & ~(1u << WPLUGIN_HOOK_QUEUEINGHINT);
    if (!is_plugin)
        (void)buf_add_cstr(error, "wasm: guest does not export any plugin functions");
    return is_plugin;
}

/* Any set of extension points is accepted, even PreFilter alone. */
static bool find_points(struct wplugin *p, struct buf *error)
{
    static const enum wplugin_hook core[] = { WPLUGIN_HOOK_FILTER,  WPLUGIN_HOOK_SCORE,
                                              WPLUGIN_HOOK_RESERVE, WPLUGIN_HOOK_UNRESERVE,
                                              WPLUGIN_HOOK_PERMIT,  WPLUGIN_HOOK_BIND };
    for (size_t i = 0; i < ARRAY_LEN(core); i++)
        if (wplugin_exports(p, core[i]))
            p->points |= hooks[core[i]].point;
    if (p->points || wplugin_exports(p, WPLUGIN_HOOK_PREFILTER))
        return true;
    (void)buf_add_cstr(error, "wasm: filter, score, reserve, permit or bind must be exported");
    return false;
}

static int generation_of(const struct module_info *info)
{
    static const char *const old[] = { "pod", "nodeName", "podInfo" };
    for (size_t i = 0; i < ARRAY_LEN(old); i++)
        if (module_info_import(info, "k8s.io/api", old[i]))
            return GENERATION_A;
    const struct module_extern *node = module_info_import(info, "k8s.io/api", "node");
    return node && str_is(node->sig, "ii:i") ? GENERATION_A : GENERATION_B;
}

/* ---- imports ---- */

static void add_types(struct buf *to, struct str letters)
{
    for (size_t i = 0; i < letters.n; i++) {
        const char *name = letters.p[i] == 'i'   ? "i32"
                           : letters.p[i] == 'I' ? "i64"
                           : letters.p[i] == 'f' ? "f32"
                           : letters.p[i] == 'F' ? "f64"
                           : letters.p[i] == 'v' ? "v128"
                           : letters.p[i] == 'r' ? "funcref"
                                                 : "externref";
        (void)buf_add_cstr(to, name);
    }
    if (letters.n == 0)
        (void)buf_add_char(to, 'v');
}

static void add_sig(struct buf *to, struct str sig)
{
    struct str params, results;
    (void)str_cut(sig, ':', &params, &results);
    add_types(to, params);
    (void)buf_add_char(to, '_');
    add_types(to, results);
}

static bool is_import(const struct module_extern *x, const struct engine_func *row,
                      bool *ret_has_module)
{
    if (!str_is(x->module, row->module))
        return false;
    *ret_has_module = true;
    return str_is(x->name, row->name);
}

static const struct engine_func *find_import(const struct wplugin *p, const struct module_extern *x,
                                             bool *ret_has_module)
{
    *ret_has_module = false;
    for (size_t i = 0; i < wplugin_n_imports; i++) {
        const struct import_row *row = &wplugin_imports[i];
        if (is_import(x, &row->func, ret_has_module) &&
            (row->generation < 0 || row->generation == p->generation))
            return &row->func;
    }
    for (size_t i = 0; i < wasi_n_functions; i++)
        if (is_import(x, &wasi_functions[i], ret_has_module))
            return &wasi_functions[i];
    return NULL;
}

static bool check_import(const struct wplugin *p, const struct module_extern *x, struct buf *error)
{
    bool has_module;
    const struct engine_func *row = find_import(p, x, &has_module);
    if (row && x->kind == MODULE_FUNC && str_is(x->sig, row->sig))
        return true;
    if (!has_module) {
        (void)buf_printf(error, "module[" STR_FMT "] not instantiated", STR_ARG(x->module));
    } else if (!row || x->kind != MODULE_FUNC) {
        (void)buf_printf(error, "\"" STR_FMT "\" is not exported in module \"" STR_FMT "\"",
                         STR_ARG(x->name), STR_ARG(x->module));
    } else {
        (void)buf_printf(error, "import func[" STR_FMT "." STR_FMT "]: signature mismatch: ",
                         STR_ARG(x->module), STR_ARG(x->name));
        add_sig(error, x->sig);
        (void)buf_add_cstr(error, " != ");
        add_sig(error, str_of(row->sig));
    }
    return false;
}

static bool check_imports(const struct wplugin *p, struct buf *error)
{
    const struct module_info *info = p->module->info;
    for (size_t i = 0; i < info->n_imports; i++)
        if (!check_import(p, &info->imports[i], error))
            return false;
    return true;
}

/* ---- loading ---- */

struct load {
    struct wplugin *plugin;
    wplugin_load_cb cb;
    void *arg;
    struct buf wasm; /* until it is compiled */
    struct buf error;
    struct defer defer;
    struct module_get *get; /* being compiled */
    struct list node;       /* in host->compiling, or in host->starts until a thread starts it */
    pthread_t thread;
    struct post post; /* of the start thread */
};

static void free_plugin(struct wplugin *p)
{
    wpool_drain(p);
    if (p->pre)
        wasmtime_instance_pre_delete(p->pre);
    if (p->code) {
        wasmtime_module_delete(p->code);
        whost_release(p->host);
    }
    module_unref(p->module);
    symbols_free(p->symbols);
    (void)pthread_cond_destroy(&p->freed);
    (void)pthread_mutex_destroy(&p->lock);
    arena_fini(&p->arena);
    free(p);
}

void wplugin_free(struct wplugin *p)
{
    if (p)
        free_plugin(p);
}

/* The only place that ends a load. */
static void fail_later(struct defer *d);

static void finish(struct load *l)
{
    struct wplugin *p = l->plugin;
    p->host->n_loads--;
    if (l->error.n) {
        free_plugin(p);
        p = NULL;
    }
    l->cb(p, buf_str(&l->error), l->arg);
    buf_fini(&l->wasm);
    buf_fini(&l->error);
    free(l);
}

static bool load_code(struct wplugin *p, struct buf *error)
{
    struct err err = { 0 };
    int r = whost_use(p->host, &err);
    scoped(fd_scoped) int fd = r < 0 ? r : module_open(p->module, &err);
    wasmtime_error_t *e = NULL;
    if (fd >= 0)
        e = dm_engine_module_from_fd(p->host->engine, fd, &p->code);
    if (e)
        (void)engine_err(&err, E_CORRUPT, e, "load its code");
    if (r == 0 && !p->code)
        whost_release(p->host);
    if (!p->code)
        (void)buf_printf(error, "wasm: error compiling guest: %s", err_text(&err));
    return p->code != NULL;
}

static void instance_failed(struct buf *error, struct str why)
{
    (void)buf_add_cstr(error, "failed to create a guest pool: wasm: instantiate error: ");
    (void)buf_add_str(error, why);
}

static bool link_code(struct wplugin *p, struct buf *error)
{
    struct err err = { 0 };
    wasmtime_linker_t *linker;
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(ERROR_MAX_BYTES);
    bool ok = check_imports(p, &why);
    if (ok && whost_linker(p->host, p->generation, &linker, &err) == 0) {
        wasmtime_error_t *e = wasmtime_linker_instantiate_pre(linker, p->code, &p->pre);
        if (e)
            (void)engine_err(&err, E_UNSUPPORTED, e, "link");
    }
    if (ok && err.code)
        (void)buf_add_cstr(&why, err_text(&err));
    ok = ok && err.code == 0;
    if (!ok)
        instance_failed(error, buf_str(&why));
    return ok;
}

/*
 * Creates the first instance at once, so that errors at the start appear now. This may take as long
 * as a call; it has its own thread, so that it blocks neither the loop nor the loop's pool, which
 * is small and needed for files and DNS.
 */
static void *make_first(void *arg)
{
    struct load *l = arg;
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(ERROR_MAX_BYTES);
    if (wpool_fill(l->plugin, &why) < 0)
        instance_failed(&l->error, buf_str(&why));
    loop_post(l->plugin->host->loop, &l->post);
    return NULL;
}

static void start_next(struct wplugin_host *host);

static void on_first(struct post *post)
{
    struct load *l = container_of(post, struct load, post);
    struct wplugin_host *host = l->plugin->host;
    (void)pthread_join(l->thread, NULL);
    loop_release(host->loop);
    host->n_starts--;
    if (l->error.n == 0)
        (void)find_points(l->plugin, &l->error);
    start_next(host);
    finish(l); /* may free the host */
}

static void start_next(struct wplugin_host *host)
{
    while (host->n_starts < WPLUGIN_STARTS_MAX && !list_is_empty(&host->starts)) {
        struct load *l = list_entry(list_pop_front(&host->starts), struct load, node);
        l->post.run = on_first;
        if (pthread_create(&l->thread, NULL, make_first, l) != 0) {
            instance_failed(&l->error, STR("no thread"));
            defer_start(host->loop, &l->defer, fail_later);
            continue;
        }
        host->n_starts++;
        loop_hold(host->loop);
    }
}

static void on_module(struct module *m, int status, const struct err *err, void *arg)
{
    struct load *l = arg;
    struct wplugin *p = l->plugin;
    l->get = NULL;
    list_remove(&l->node);
    p->module = m;
    if (status < 0) {
        (void)buf_printf(&l->error, "wasm: error compiling guest: %s", err_text(err));
    } else if (check_exports(p, &l->error) && load_code(p, &l->error)) {
        p->generation = generation_of(m->info);
        p->symbols = symbols_new(buf_str(&l->wasm));
        if (link_code(p, &l->error)) {
            list_push_back(&p->host->starts, &l->node);
            start_next(p->host);
            return;
        }
    }
    finish(l);
}

static void on_source(void *arg, struct str wasm, const struct module_pin *pin, struct str error)
{
    struct load *l = arg;
    struct err err = { 0 };
    if (pin)
        memcpy(l->plugin->manifest, pin->manifest, sizeof pin->manifest);
    if (error.n) {
        (void)buf_printf(&l->error, "wasm: error reading guestURL " STR_FMT ": " STR_FMT,
                         STR_ARG(l->plugin->config.guest_url), STR_ARG(error));
        finish(l);
        return;
    }
    /* A plugin runs for every pod and for long: fast compilation of slow code would not pay. */
    struct module_want want = { .flags = MODULE_KEEP_NAMES | MODULE_OPTIMIZED };
    l->wasm = BUF_INIT(MODULE_WASM_BYTES_MAX);
    if (buf_add_str(&l->wasm, wasm) < 0 ||
        module_get_bytes(l->plugin->host->cache, wasm, &want, on_module, l, &l->get, &err) < 0) {
        (void)buf_printf(&l->error, "wasm: error compiling guest: %s", err_text(&err));
        finish(l);
        return;
    }
    list_push_back(&l->plugin->host->compiling, &l->node);
}

void wplugin_host_end_loads(struct wplugin_host *h)
{
    wsource_end_all(h);
    list_each (node, &h->compiling)
        module_get_cancel(list_entry(node, struct load, node)->get);
}

static void fail_later(struct defer *d)
{
    finish(container_of(d, struct load, defer));
}

/*
 * The arguments one after another, each with its NUL, in WASI's form; one with a NUL inside ends
 * there.
 */
static void copy_args(struct wplugin *p, const struct wplugin_config *c)
{
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(BUF_MAX_DEFAULT);
    for (size_t i = 0; i < c->n_args; i++) {
        ptrdiff_t nul = str_find_char(c->args[i], '\0');
        (void)buf_add_str(&all, nul < 0 ? c->args[i] : str_slice(c->args[i], 0, (size_t)nul));
        (void)buf_add_char(&all, '\0');
    }
    if (buf_ok(&all))
        p->args =
            (struct wasi_strings){ (uint32_t)c->n_args, str_copy_arena(&p->arena, buf_str(&all)) };
}

static void copy_config(struct wplugin *p, const struct wplugin_config *c)
{
    p->config = *c;
    p->config.name = str_copy_arena(&p->arena, c->name);
    p->config.guest_url = str_copy_arena(&p->arena, c->guest_url);
    p->config.guest_config = str_copy_arena(&p->arena, c->guest_config);
    p->config.args = NULL;
    copy_args(p, c);
    if (!c->memory_max_bytes)
        p->config.memory_max_bytes = WPLUGIN_MEMORY_MAX_BYTES;
    if (!c->call_ms)
        p->config.call_ms = WPLUGIN_CALL_MS;
    if (!c->instances_max)
        p->config.instances_max = WPLUGIN_INSTANCES_MAX;
}

void wplugin_load(struct wplugin_host *host, const struct wplugin_config *config,
                  wplugin_load_cb cb, void *arg)
{
    struct wplugin *p = xnew(struct wplugin);
    p->host = host;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->freed, NULL);
    list_init(&p->instances);
    copy_config(p, config);
    struct load *l = xnew(struct load);
    l->plugin = p;
    l->cb = cb;
    l->arg = arg;
    l->error = BUF_INIT(ERROR_MAX_BYTES);
    host->n_loads++;
    if (p->config.guest_url.n) {
        wsource_get(host, p->config.guest_url, on_source, l);
        return;
    }
    (void)buf_add_cstr(&l->error, "wasm: guestURL is required");
    defer_start(host->loop, &l->defer, fail_later);
}

void wplugin_get_origin(const struct wplugin *p, struct wplugin_origin *ret)
{
    *ret = (struct wplugin_origin){ .url = p->config.guest_url,
                                    .manifest = p->manifest,
                                    .sha256 = p->module->hash };
}

/* ---- hooks ---- */

void wplugin_log_error(struct wplugin *p, const char *what, struct str why)
{
    const struct wplugin_config *c = &p->config;
    if (!c->handle || !c->handle->log || p->host->is_interrupted)
        return; /* during shutdown every call fails */
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(4 * ERROR_MAX_BYTES);
    payload_add_quoted(&line, str_of(what));
    payload_add_pair(&line, STR("err"), why);
    (void)buf_add_char(&line, '\n');
    c->handle->log(c->handle_arg, WPLUGIN_LOG_ERROR, buf_str(&line));
}

/* The result without a call of the guest. */
static void default_result(enum wplugin_hook hook, const struct wplugin_input *in,
                           struct wplugin_result *ret)
{
    *ret = (struct wplugin_result){ .message = STR("") };
    if (hook == WPLUGIN_HOOK_POSTFILTER)
        ret->code = WPLUGIN_UNSCHEDULABLE;
    if (hook == WPLUGIN_HOOK_QUEUEINGHINT)
        ret->code = WPLUGIN_HINT_QUEUE;
    if (hook == WPLUGIN_HOOK_NORMALIZESCORE) {
        ret->scores = in->scores;
        ret->n_scores = in->n_scores;
    }
    if (hook == WPLUGIN_HOOK_ENQUEUE)
        ret->n_events = payload_default_events(&ret->events);
}

static void take_value(enum wplugin_hook hook, wasmtime_val_raw_t v, struct wplugin_result *ret)
{
    int32_t high = (int32_t)((uint64_t)v.i64 >> 32), low = (int32_t)(uint32_t)v.i64;
    if (hooks[hook].result == 'i')
        ret->code = v.i32;
    else if (hooks[hook].result == 'I')
        ret->code = low;
    if (hook == WPLUGIN_HOOK_SCORE)
        ret->score = high;
    if (hook == WPLUGIN_HOOK_POSTFILTER)
        ret->mode = high;
    if (hook == WPLUGIN_HOOK_PERMIT) { /* the opposite order */
        ret->code = high;
        ret->timeout_ms = (uint32_t)low;
    }
}

/* Matches scores by name, in any order; each node must occur, and no other. */
static void merge_scores(const struct wplugin_input *in, struct arena *a,
                         struct wplugin_result *ret)
{
    struct map given = { .borrows_keys = true };
    const char *wrong = NULL;
    struct str node = STR_NULL;
    struct wplugin_node_score *merged = arena_new_n(a, struct wplugin_node_score, in->n_scores + 1);
    for (size_t i = 0; i < ret->n_scores; i++)
        (void)map_put(&given, ret->scores[i].node, (void *)&ret->scores[i]);
    for (size_t i = 0; i < in->n_scores && !wrong; i++) {
        const struct wplugin_node_score *at = map_get(&given, in->scores[i].node);
        merged[i] = (struct wplugin_node_score){ in->scores[i].node, at ? at->score : 0 };
        if (!at) {
            wrong = "lacks";
            node = in->scores[i].node;
        }
    }
    if (!wrong && given.n > in->n_scores)
        wrong = "has other nodes than";
    if (wrong) {
        ret->code = WPLUGIN_ERROR;
        ret->message = str_of(arena_printf(a,
                                           "wasm: normalizescore error: the normalized score list "
                                           "%s " STR_FMT,
                                           wrong, STR_ARG(node.p ? node : STR("the input"))));
    }
    ret->scores = wrong ? in->scores : merged;
    ret->n_scores = in->n_scores;
    map_fini(&given);
}

static void take_pushed(struct winstance *in, enum wplugin_hook hook, struct arena *a,
                        struct wplugin_result *ret)
{
    if (hook == WPLUGIN_HOOK_PREFILTER)
        ret->n_node_names = payload_names(a, in->pushed_names, false, &ret->node_names);
    if (hook == WPLUGIN_HOOK_NORMALIZESCORE) {
        if (in->pushed_scores.n && ret->n_scores) {
            merge_scores(in->input, a, ret);
        } else {
            ret->scores = in->input->scores;
            ret->n_scores = in->input->n_scores;
        }
    }
    if (hook == WPLUGIN_HOOK_ENQUEUE) {
        ret->n_events = payload_events(a, in->pushed_events, &ret->events);
        if (ret->n_events == 0)
            ret->n_events = payload_default_events(&ret->events);
    }
}

static void fail(struct wplugin *p, enum wplugin_hook hook, const struct wplugin_input *in,
                 struct arena *a, struct str output, struct str why, struct wplugin_result *ret)
{
    default_result(hook, in, ret);
    ret->has_failed = true;
    ret->code = WPLUGIN_ERROR; /* for a hint this means "queue" */
    /* The guest may have printed arbitrary bytes. */
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * ERROR_MAX_BYTES);
    (void)buf_printf(&text, "wasm: %s error: ", hooks[hook].name);
    (void)buf_add_str(&text, output);
    if (output.n)
        (void)buf_add_char(&text, '\n');
    (void)buf_add_str(&text, why);
    ret->message = str_copy_arena(a, buf_str(&text));
    if (hook == WPLUGIN_HOOK_ENQUEUE)
        wplugin_log_error(p, "failed enqueue", ret->message);
    if (hook == WPLUGIN_HOOK_UNRESERVE)
        wplugin_log_error(p, "failed unreserve", ret->message);
    if (hook == WPLUGIN_HOOK_POSTBIND)
        wplugin_log_error(p, "failed postbind", ret->message);
}

/* Runs a hook in a taken instance. */
static void run(struct winstance *in, enum wplugin_hook hook, const struct wplugin_input *input,
                struct arena *a, struct wplugin_result *ret)
{
    wasmtime_val_raw_t v[1] = { { .i64 = 0 } };
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(ERROR_MAX_BYTES);
    *ret = (struct wplugin_result){ .message = STR("") };
    in->input = input;
    in->result = ret;
    in->arena = a;
    in->arena_before_bytes = a->total_bytes;
    in->node_list = in->statuses = in->scores = STR_NULL;
    in->pushed_names = in->pushed_scores = in->pushed_events = STR_NULL;
    if (winstance_call(in, &in->hooks[hook], v, &why)) {
        take_value(hook, v[0], ret);
        take_pushed(in, hook, a, ret);
    } else {
        fail(in->plugin, hook, input, a, buf_str(&in->output), buf_str(&why), ret);
        ret->is_late = in->outcome == WINSTANCE_LATE;
    }
    buf_reset(&in->output);
    in->input = NULL;
}

void wplugin_call(struct wplugin *p, enum wplugin_hook hook, const struct wplugin_input *in,
                  struct arena *a, struct wplugin_result *ret)
{
    struct winstance *instance;
    bool is_lost = false;
    if (!wplugin_has(p, hook)) {
        default_result(hook, in, ret);
        return;
    }
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(ERROR_MAX_BYTES);
    if (wpool_take(p, in->key, hook, &instance, &is_lost, &why) < 0) {
        fail(p, hook, in, a, STR_NULL, buf_str(&why), ret);
        return;
    }
    if (!winstance_set_globals(instance, in, &why)) {
        fail(p, hook, in, a, STR_NULL, buf_str(&why), ret);
        wpool_give(instance, hook);
        return;
    }
    /* The pod's cycle continues in a new instance, which needs PreFilter first. */
    bool can_run = true;
    if (is_lost && hook != WPLUGIN_HOOK_PREFILTER && wplugin_has(p, WPLUGIN_HOOK_PREFILTER)) {
        run(instance, WPLUGIN_HOOK_PREFILTER, in, a, ret);
        can_run = !ret->has_failed;
    }
    if (can_run)
        run(instance, hook, in, a, ret);
    wpool_give(instance, hook);
}

/* ---- dry runs ---- */

struct wplugin_fork {
    struct wplugin *plugin;
    struct wstate *state; /* NULL: no state yet, or it cannot be copied: prefilter runs again */
    struct winstance *instance;
};

struct wplugin_fork *wplugin_fork_new(struct wplugin *p, struct str key)
{
    struct winstance *in = wpool_borrow(p, key);
    struct wplugin_fork *f = xnew(struct wplugin_fork);
    f->plugin = p;
    if (in) {
        f->state = wstate_new(in);
        wpool_put_back(in);
    }
    return f;
}

struct wplugin_fork *wplugin_fork_copy(struct wplugin_fork *from, struct str key)
{
    if (!from->instance) /* nothing has run in it */
        return wplugin_fork_new(from->plugin, key);
    struct wplugin_fork *f = xnew(struct wplugin_fork);
    f->plugin = from->plugin;
    f->state = wstate_new(from->instance);
    return f;
}

void wplugin_fork_reset(struct wplugin_fork *f)
{
    winstance_free(f->instance);
    f->instance = NULL;
}

void wplugin_fork_free(struct wplugin_fork *f)
{
    if (!f)
        return;
    wplugin_fork_reset(f);
    wstate_free(f->state);
    free(f);
}

/* Returns false on failure; *ret says why. */
static bool begin_fork(struct wplugin_fork *f, enum wplugin_hook hook,
                       const struct wplugin_input *in, struct arena *a, struct wplugin_result *ret)
{
    struct wplugin *p = f->plugin;
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(ERROR_MAX_BYTES);
    if (winstance_new(p, f->state ? f->state : p->image, &f->instance, &why) < 0) {
        fail(p, hook, in, a, STR_NULL, buf_str(&why), ret);
        return false;
    }
    if (f->state || !wplugin_has(p, WPLUGIN_HOOK_PREFILTER))
        return true;
    run(f->instance, WPLUGIN_HOOK_PREFILTER, in, a, ret);
    return !ret->has_failed;
}

void wplugin_fork_call(struct wplugin_fork *f, enum wplugin_hook hook,
                       const struct wplugin_input *in, struct arena *a, struct wplugin_result *ret)
{
    if (!wplugin_has(f->plugin, hook)) {
        default_result(hook, in, ret);
        return;
    }
    if (f->instance || begin_fork(f, hook, in, a, ret))
        run(f->instance, hook, in, a, ret);
    if (ret->has_failed)
        wplugin_fork_reset(f);
}
