/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators from a directory; see dir.h.
 *
 * inotify (through libuv) reports a change of the directory; the directory is read after a short
 * delay, since editors and copies write in several steps. Each operator has a fingerprint (of its
 * document and its module file's identity), so only changed operators are applied. Once operators
 * have come from the configuration file, only that file replaces them: while an editor or a
 * checkout has removed it for a moment, the pairs of files are not read in its place.
 */
#include "operator/host/dir.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/digest.h"
#include "codec/yaml.h"
#include "kube/model/quantity.h"
#include "modules/module_fetch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REST_MS = 200 };

#define CONFIG_NAME "wasm_config.yaml"

struct dir_member {
    uint64_t fingerprint, generation, round;
};

struct dir {
    struct dir_opts opts;
    struct operators *operators;
    char *path;
    uv_fs_event_t events;
    struct timer rest;
    struct defer synced;
    struct map members; /* name -> struct dir_member */
    uint64_t round;
    bool has_config; /* the operators are those of CONFIG_NAME */
    bool closed;
};

/* The result of reading the directory; applied completely or not at all. */
struct dir_found {
    VEC(struct operator_spec) specs;
    VEC(struct json *) docs;
    struct map names;
    struct arena arena;
};

/* One parse of a file, with the data for its error messages. */
struct dir_reading {
    struct dir *d;
    struct dir_found *to;
    const char *module; /* of a file beside its module; NULL: 'wasm' names the module */
    struct yaml_marks marks;
    struct json *docs;
    char *repeated; /* path of a repeated key */
};

static void on_duplicate(void *arg, struct str path)
{
    struct dir_reading *in = arg;
    if (!in->repeated)
        in->repeated = str_dup(path);
}

static int unknown_key(struct dir_reading *in, const struct json *obj, const char *const *known,
                       struct err *err)
{
    json_each (member, obj) {
        bool found = false;
        for (size_t i = 0; known[i]; i++)
            found = found || str_is(member->key, known[i]);
        if (!found)
            return yaml_err(err, E_INVALID, &in->marks, member, "unknown key '" STR_FMT "'",
                            STR_ARG(member->key));
    }
    return 0;
}

static int need_type(struct dir_reading *in, const struct json *v, enum json_type type,
                     const char *what, struct err *err)
{
    if (!v || v->type == type)
        return 0;
    return yaml_err(err, E_INVALID, &in->marks, v, "%s", what);
}

/*
 * The module's path: absolute, or below the directory, or below the working directory as in the
 * paper's host.
 */
static char *find_module(struct dir *d, struct str name)
{
    if (name.p[0] == '/')
        return str_dup(name);
    scoped(free_scoped) char *here = xasprintf("%s/" STR_FMT, d->path, STR_ARG(name));
    if (access(here, F_OK) == 0)
        return take_ptr(&here);
    scoped(free_scoped) char *beside = str_dup(name);
    return access(beside, F_OK) == 0 ? take_ptr(&beside) : take_ptr(&here);
}

static int read_env(struct dir_reading *in, const struct json *list, struct operator_spec *spec,
                    struct err *err)
{
    static const char *const keys[] = { "name", "value", NULL };
    int r = need_type(in, list, JSON_ARRAY, "'env' is not a list of {name, value}", err);
    if (r < 0 || !list)
        return r;
    spec->env = arena_new_n(&in->to->arena, struct guest_env, list->n);
    json_each (item, list) {
        r = need_type(in, item, JSON_OBJECT, "an 'env' entry is not {name, value}", err);
        if (r >= 0)
            r = unknown_key(in, item, keys, err);
        if (r < 0)
            return r;
        struct json *name = json_getc(item, "name"), *value = json_getc(item, "value");
        if (!json_is(name, JSON_STRING) || (value && !json_is(value, JSON_STRING)))
            return yaml_err(err, E_INVALID, &in->marks, item,
                            "'name' and 'value' of an 'env' entry are strings (quote numbers)");
        spec->env[spec->n_env++] = (struct guest_env){ json_str(name), json_str(value) };
    }
    return 0;
}

static int read_strings(struct dir_reading *in, const struct json *list, const char *key,
                        struct str **ret, size_t *ret_n, struct err *err)
{
    scoped(free_scoped) char *what = xasprintf("'%s' is not a list of strings", key);
    int r = need_type(in, list, JSON_ARRAY, what, err);
    if (r < 0 || !list)
        return r;
    *ret = arena_new_n(&in->to->arena, struct str, list->n);
    json_each (item, list) {
        r = need_type(in, item, JSON_STRING, what, err);
        if (r < 0)
            return r;
        (*ret)[(*ret_n)++] = json_str(item);
    }
    return 0;
}

static int read_allow(struct dir_reading *in, const struct json *list, struct operator_spec *spec,
                      struct err *err)
{
    static const char *const keys[] = { "verbs", "paths", NULL };
    int r = need_type(in, list, JSON_ARRAY, "'allow' is not a list of {verbs, paths}", err);
    json_each (rule, list) {
        struct str *verbs = NULL, *paths = NULL;
        size_t n_verbs = 0, n_paths = 0;
        if (r >= 0)
            r = need_type(in, rule, JSON_OBJECT, "an 'allow' rule is not {verbs, paths}", err);
        if (r >= 0)
            r = unknown_key(in, rule, keys, err);
        if (r >= 0)
            r = read_strings(in, json_getc(rule, "verbs"), "verbs", &verbs, &n_verbs, err);
        if (r >= 0)
            r = read_strings(in, json_getc(rule, "paths"), "paths", &paths, &n_paths, err);
        if (r < 0)
            return r;
        struct err why = { 0 };
        r = allow_add(&spec->allow, verbs, n_verbs, paths, n_paths, &why);
        if (r < 0)
            return yaml_err(err, r, &in->marks, rule, "%s", err_text(&why));
    }
    return r;
}

static int read_abi_and_memory(struct dir_reading *in, const struct json *doc,
                               struct operator_spec *spec, struct err *err)
{
    /* rust_v1alpha1: the name of this ABI in its first host. */
    static const struct {
        const char *name;
        enum operator_abi abi;
    } abis[] = { { "auto", OPERATOR_ABI_AUTO },
                 { "g1", OPERATOR_ABI_G1 },
                 { "g2", OPERATOR_ABI_G2 },
                 { "v1", OPERATOR_ABI_V1 },
                 { "rust_v1alpha1", OPERATOR_ABI_G1 } };
    struct json *abi = json_getc(doc, "abi"), *memory = json_getc(doc, "memory");
    size_t k = 0;
    while (abi && k < ARRAY_LEN(abis) && !str_is(json_str(abi), abis[k].name))
        k++;
    if (k == ARRAY_LEN(abis))
        return yaml_err(err, E_INVALID, &in->marks, abi,
                        "'abi' is auto, g1, g2 or v1 (or rust_v1alpha1, which is g1)");
    spec->abi = abis[k].abi;
    if (!memory)
        return 0;
    struct quantity q;
    int64_t n;
    if (json_is(memory, JSON_STRING) && quantity_parse(json_str(memory), &q, NULL) >= 0)
        n = quantity_value(q);
    else if (json_int(memory, &n) < 0)
        n = 0;
    if (n < 64 << 10 || n > (int64_t)4 << 30)
        return yaml_err(err, E_INVALID, &in->marks, memory,
                        "'memory' is a size between 64Ki and 4Gi");
    spec->memory_max_bytes = (uint64_t)n;
    return 0;
}

static int read_account(struct dir_reading *in, const struct json *v, struct operator_spec *spec,
                        struct err *err)
{
    struct str namespace, name;
    if (!v)
        return 0;
    if (!json_is(v, JSON_STRING) || !str_cut(json_str(v), '/', &namespace, &name) ||
        namespace.n == 0 || name.n == 0 || str_find_char(name, '/') >= 0)
        return yaml_err(err, E_INVALID, &in->marks, v, "'serviceAccount' is namespace/name");
    spec->account_namespace = str_dup_arena(&in->to->arena, namespace);
    spec->account = str_dup_arena(&in->to->arena, name);
    spec->create_account = true;
    return 0;
}

static int read_digest(struct dir_reading *in, const struct json *v, struct operator_spec *spec,
                       struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    if (!v)
        return 0;
    if (!json_is(v, JSON_STRING) || !hex_parse(json_str(v), digest, sizeof digest))
        return yaml_err(err, E_INVALID, &in->marks, v,
                        "'sha256' is a string of 64 hexadecimal digits");
    char *text = arena_alloc(&in->to->arena, SHA256_HEX_SIZE);
    hex_format(digest, sizeof digest, text);
    spec->origin.sha256 = text;
    return 0;
}

/*
 * A file, or a URL with its digest; registries get the credentials of the user who runs this
 * process.
 */
static int read_module(struct dir_reading *in, const struct json *doc, struct operator_spec *spec,
                       struct err *err)
{
    const struct json *wasm = json_getc(doc, "wasm");
    struct err why = { 0 };
    int r = read_digest(in, json_getc(doc, "sha256"), spec, err);
    if (r < 0)
        return r;
    if (!wasm || str_find(json_str(wasm), STR("://")) < 0) {
        scoped(free_scoped) char *path =
            wasm ? find_module(in->d, json_str(wasm)) : xstrdup(in->module);
        spec->origin.path = str_dup_arena(&in->to->arena, str_of(path));
        return 0;
    }
    if (!spec->origin.sha256)
        return yaml_err(err, E_INVALID, &in->marks, wasm, "a module by URL needs 'sha256'");
    spec->origin.from = MODULE_FROM_URL;
    spec->origin.url = str_dup_arena(&in->to->arena, json_str(wasm));
    spec->origin.uses_login = true;
    r = module_url_check(spec->origin.url, &why);
    return r < 0 ? yaml_err(err, E_INVALID, &in->marks, wasm, "'wasm': %s", err_text(&why)) : 0;
}

static int read_spec(struct dir_reading *in, const struct json *doc, struct operator_spec *spec,
                     struct err *err)
{
    static const char *const keys[] = { "name",   "wasm",  "sha256",         "env", "args", "abi",
                                        "memory", "allow", "serviceAccount", NULL };
    int r = need_type(in, doc, JSON_OBJECT, "a document is not a mapping", err);
    if (r >= 0)
        r = unknown_key(in, doc, keys, err);
    if (r < 0)
        return r;
    struct json *name = json_getc(doc, "name"), *wasm = json_getc(doc, "wasm");
    if (!json_is(name, JSON_STRING) || json_str(name).n == 0)
        return yaml_err(err, E_INVALID, &in->marks, name ? name : doc,
                        "'name' is required and a string");
    if ((wasm || !in->module) && (!json_is(wasm, JSON_STRING) || json_str(wasm).n == 0))
        return yaml_err(err, E_INVALID, &in->marks, wasm ? wasm : doc,
                        "'wasm' is required and a file name or a URL");
    spec->namespace = "";
    spec->name = str_dup_arena(&in->to->arena, json_str(name));
    /*
     * The uid names the swap file, where "a/b" and "a_b" give the same name; the hash makes it
     * unique.
     */
    spec->uid =
        arena_printf(&in->to->arena, "%.100s-%016" PRIx64, spec->name, str_hash(json_str(name), 1));
    r = read_module(in, doc, spec, err);
    if (r >= 0)
        r = read_env(in, json_getc(doc, "env"), spec, err);
    if (r >= 0)
        r = read_strings(in, json_getc(doc, "args"), "args", &spec->args, &spec->n_args, err);
    if (r >= 0)
        r = read_abi_and_memory(in, doc, spec, err);
    if (r >= 0)
        r = read_account(in, json_getc(doc, "serviceAccount"), spec, err);
    if (r >= 0)
        r = read_allow(in, json_getc(doc, "allow"), spec, err);
    if (r < 0)
        return r;
    struct err why = { 0 };
    r = operator_spec_check(spec, &why);
    return r < 0 ? yaml_err(err, r, &in->marks, doc, "%s", err_text(&why)) : 0;
}

/* Of the document and of the module file as it is now; NULL: the module is not a file. */
static uint64_t fingerprint(const struct json *doc, const char *module_path)
{
    struct stat st = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(DIR_CONFIG_MAX_BYTES * 2);
    (void)json_write(&b, doc);
    if (module_path && stat(module_path, &st) == 0)
        buf_printf(&b, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, (uint64_t)st.st_ino,
                   (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec);
    return str_hash(buf_str(&b), 1);
}

static int apply_changed(struct dir *d, struct dir_found *all, struct err *err)
{
    d->round++;
    for (size_t i = 0; i < all->specs.n; i++) {
        struct operator_spec *spec = &all->specs.p[i];
        struct str name = str_of(spec->name);
        uint64_t print = fingerprint(all->docs.p[i], spec->origin.path);
        struct dir_member *m = map_get(&d->members, name);
        if (!m) {
            m = xnew(struct dir_member);
            (void)map_put(&d->members, name, m);
        }
        m->round = d->round;
        if (m->fingerprint == print)
            continue;
        spec->generation = ++m->generation;
        int r = operators_apply(d->operators, spec, err);
        if (r < 0)
            return r; /* cannot fail after read_documents(), which has checked everything */
        m->fingerprint = print;
    }
    for (bool again = true; again;) {
        again = false;
        map_each (e, &d->members) {
            struct dir_member *m = e->value;
            if (m->round == d->round)
                continue;
            scoped(free_scoped) char *name = str_dup(e->key);
            operators_remove(d->operators, "", name);
            free(map_del(&d->members, str_of(name)));
            again = true;
            break;
        }
    }
    return 0;
}

static int read_documents(struct dir_reading *in, struct err *err)
{
    struct dir_found *to = in->to;
    json_each (doc, in->docs) {
        struct operator_spec spec = { 0 };
        if (doc->type == JSON_NULL)
            continue;
        if (to->specs.n == OPERATORS_MAX)
            return yaml_err(err, E_LIMIT, &in->marks, doc, "more than %d operators", OPERATORS_MAX);
        int r = read_spec(in, doc, &spec, err);
        vec_push(&to->specs, spec); /* also after an error, since its allow list may be allocated */
        vec_push(&to->docs, doc);
        if (r < 0)
            return r;
        if (map_put(&to->names, str_of(spec.name), doc))
            return yaml_err(err, E_INVALID, &in->marks, json_getc(doc, "name"),
                            "two operators are named '%s'", spec.name);
    }
    return 0;
}

static int read_file(struct dir_reading *in, const char *path, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(DIR_CONFIG_MAX_BYTES);
    struct yaml_opts opts = { .marks = &in->marks, .on_duplicate = on_duplicate, .arg = in };
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    if (r < 0)
        return r;
    r = yaml_parse_all(&in->to->arena, buf_str(&text), &opts, &in->docs, err);
    if (r >= 0 && in->repeated)
        r = err_set(err, E_INVALID, "key '%s' occurs twice", in->repeated);
    if (r >= 0)
        r = read_documents(in, err);
    free(in->repeated);
    yaml_marks_fini(&in->marks);
    return r < 0 ? err_ctx(err, r, "'%s'", path) : 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * The first host's layout: each NAME.yaml beside a NAME.wasm is an operator. -ENOENT: there is
 * none.
 */
static int read_pairs(struct dir *d, struct dir_found *to, struct err *err)
{
    VEC(char *) stems = { 0 };
    int r = 0;
    DIR *dir = opendir(d->path);
    if (!dir)
        return err_sys(err, -errno, "open '%s'", d->path);
    for (struct dirent *e; (e = readdir(dir)) && stems.n <= OPERATORS_MAX;) {
        struct str name = str_of(e->d_name);
        if (!str_has_suffix(name, STR(".yaml")))
            continue;
        scoped(free_scoped) char *stem = str_dup(str_slice(name, 0, name.n - strlen(".yaml")));
        scoped(free_scoped) char *module = xasprintf("%s/%s.wasm", d->path, stem);
        if (access(module, F_OK) == 0)
            vec_push(&stems, take_ptr(&stem));
    }
    (void)closedir(dir);
    if (stems.n)
        qsort(stems.p, stems.n, sizeof *stems.p, by_text);
    else
        r = err_set(err, -ENOENT,
                    "'%s' has no " CONFIG_NAME ", and no NAME.yaml beside a NAME.wasm", d->path);
    for (size_t i = 0; i < stems.n; i++) {
        scoped(free_scoped) char *path = xasprintf("%s/%s.yaml", d->path, stems.p[i]);
        scoped(free_scoped) char *module = xasprintf("%s/%s.wasm", d->path, stems.p[i]);
        struct dir_reading in = { .d = d, .to = to, .module = module };
        if (r >= 0)
            r = read_file(&in, path, err);
        free(stems.p[i]);
    }
    vec_fini(&stems);
    return r;
}

static int read_dir(struct dir *d, struct err *err)
{
    struct dir_found all = { 0 };
    scoped(free_scoped) char *path = xasprintf("%s/" CONFIG_NAME, d->path);
    struct dir_reading in = { .d = d, .to = &all };
    bool has_config = access(path, F_OK) == 0 || errno != ENOENT;
    int r;
    if (has_config)
        r = read_file(&in, path, err);
    else if (d->has_config)
        r = err_set(err, -ENOENT,
                    "'%s' is gone; an empty file removes its operators, a restart reads the "
                    "directory without it",
                    path);
    else
        r = read_pairs(d, &all, err);
    if (r >= 0)
        r = apply_changed(d, &all, err);
    if (r >= 0)
        d->has_config = has_config;
    vec_each (spec, &all.specs)
        allow_free(spec->allow);
    vec_fini(&all.specs);
    vec_fini(&all.docs);
    map_fini(&all.names);
    arena_fini(&all.arena);
    return r;
}

static void on_rest(struct timer *t)
{
    struct dir *d = container_of(t, struct dir, rest);
    struct err err = { 0 };
    if (read_dir(d, &err) < 0)
        log_error("operators unchanged", "reason=\"%s\"", err_text(&err));
}

static void on_event(uv_fs_event_t *h, const char *name, int events, int status)
{
    struct dir *d = h->data;
    if (!d->closed)
        timer_start(d->opts.loop, &d->rest, REST_MS, on_rest);
}

static void on_synced(struct defer *defer)
{
    struct dir *d = container_of(defer, struct dir, synced);
    if (d->opts.on_synced)
        d->opts.on_synced(d->opts.arg);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct dir *d = h->data;
    map_each (e, &d->members)
        free(e->value);
    map_fini(&d->members);
    free(d->path);
    free(d);
}

int dir_start(const struct dir_opts *opts, struct operators *operators, struct dir **ret,
              struct err *err)
{
    struct dir *d = xnew(struct dir);
    d->opts = *opts;
    d->operators = operators;
    d->path = realpath(opts->path, NULL);
    if (!d->path) {
        int r = err_sys(err, -errno, "operator directory '%s'", opts->path);
        free(d);
        return r;
    }
    (void)uv_fs_event_init(&opts->loop->uv, &d->events);
    d->events.data = d;
    int r = uv_fs_event_start(&d->events, on_event, d->path, 0);
    if (r < 0)
        r = err_sys(err, r, "watch directory '%s'", d->path);
    else
        r = read_dir(d, err);
    if (r < 0) {
        dir_close(d);
        return r;
    }
    defer_start(opts->loop, &d->synced, on_synced);
    *ret = d;
    return 0;
}

void dir_close(struct dir *d)
{
    if (!d)
        return;
    d->closed = true;
    timer_stop(d->opts.loop, &d->rest);
    defer_cancel(&d->synced);
    uv_close((uv_handle_t *)&d->events, on_handle_closed);
}
