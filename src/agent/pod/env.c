/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a container. Variables are kept in the order in which their names first
 * appear; a later value replaces an earlier one at its place. Names of declared variables have
 * priority over those of Services, which are appended at the end.
 */
#include "agent/pod/env.h"

#include "base/map.h"
#include "base/vec.h"
#include "codec/base64.h"

#include <errno.h>

/* ---------------------------------------------------------------- ConfigMaps and Secrets */

static const char *kind_text(enum pod_object_kind kind)
{
    return kind == POD_OBJECT_SECRET ? "secret" : "configmap";
}

int pod_object_missing(enum pod_object_kind kind, struct str name, struct err *err)
{
    return err_set(err, -ENOENT, "%s \"" STR_FMT "\" not found", kind_text(kind), STR_ARG(name));
}

static int decode(struct arena *a, const struct json *v, struct str *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
    if (base64_decode(&bytes, json_str(v), BASE64_LENIENT) < 0)
        return err_set(err, E_INVALID, "the value of key '" STR_FMT "' is not base64",
                       STR_ARG(v->key));
    *ret = str_copy_arena(a, buf_str(&bytes));
    return 1;
}

int pod_object_value(struct arena *a, const struct json *object, enum pod_object_kind kind,
                     struct str key, struct str *ret, struct err *err)
{
    const struct json *v = json_get(json_getc(object, "data"), key);
    if (v && kind == POD_OBJECT_CONFIG_MAP) {
        *ret = json_str(v);
        return 1;
    }
    if (!v && kind == POD_OBJECT_CONFIG_MAP)
        v = json_get(json_getc(object, "binaryData"), key);
    return v ? decode(a, v, ret, err) : 0;
}

/* ---------------------------------------------------------------- variables by name */

struct vars {
    VEC(struct pod_pair) list;
    struct map index; /* name -> position + 1 */
    size_t bytes;
};

static void vars_fini(struct vars *v)
{
    vec_fini(&v->list);
    map_fini(&v->index);
}

static const struct str *vars_get(const struct vars *v, struct str name)
{
    size_t at = (size_t)(uintptr_t)map_get(&v->index, name);
    return at ? &v->list.p[at - 1].value : NULL;
}

static int vars_set(struct vars *v, struct str name, struct str value, struct err *err)
{
    size_t at = (size_t)(uintptr_t)map_get(&v->index, name);
    if (memchr(value.p ? value.p : "", 0, value.n))
        return err_set(err, E_INVALID,
                       "environment variable \"" STR_FMT "\": the value contains a NUL byte",
                       STR_ARG(name));
    v->bytes += name.n + value.n; /* replaced values count too */
    if (v->bytes > POD_ENV_BYTES_MAX || v->list.n >= POD_ENV_MAX)
        return err_set(err, E_LIMIT, "the environment has more than %d variables or %d bytes",
                       POD_ENV_MAX, POD_ENV_BYTES_MAX);
    if (at) {
        v->list.p[at - 1].value = value;
        return 0;
    }
    vec_push(&v->list, ((struct pod_pair){ name, value }));
    (void)map_put(&v->index, name, (void *)(uintptr_t)v->list.n);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str join_sorted(struct arena *a, struct str *list, size_t n)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(64 << 10);
    qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_cstr(&out, i ? ", " : "");
        (void)buf_add_str(&out, list[i]);
    }
    return str_copy_arena(a, buf_str(&out));
}

/* ---------------------------------------------------------------- expansion */

/* Where $(NAME) is looked up: in `own`, then in `services`, or in a finished environment. */
struct env_lookup {
    const struct vars *own, *services;
    const struct pod_environment *env;
    struct vars *missing; /* receives names without a value, also without an empty one; or NULL */
};

static const struct str *look_up(const struct env_lookup *l, struct str name)
{
    const struct str *value = l->env ? pod_env_get(l->env, name) : vars_get(l->own, name);
    if (!value && l->services)
        value = vars_get(l->services, name);
    if (l->missing && (!value || !value->n) && !vars_get(l->missing, name))
        (void)vars_set(l->missing, name, STR(""), NULL);
    return value;
}

/* s begins after a '$' that is not the last byte. Returns the number of bytes that it took. */
static size_t expand_one(struct buf *out, const struct env_lookup *l, struct str s)
{
    if (s.p[0] == '$') {
        (void)buf_add_char(out, '$');
        return 1;
    }
    ptrdiff_t end = s.p[0] == '(' ? str_find_char(s, ')') : -1;
    if (end < 0) { /* not a reference */
        (void)buf_add_char(out, '$');
        (void)buf_add_char(out, s.p[0]);
        return 1;
    }
    const struct str *value = look_up(l, str_slice(s, 1, (size_t)end));
    if (value) {
        (void)buf_add_str(out, *value);
    } else {
        (void)buf_add_char(out, '$');
        (void)buf_add_str(out, str_slice(s, 0, (size_t)end + 1));
    }
    return (size_t)end + 1;
}

static int expand(struct arena *a, const struct env_lookup *l, struct str text, struct str *ret,
                  struct err *err)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(POD_ENV_EXPANDED_MAX);
    struct str rest = text;
    size_t last_close = 0; /* behind it, '(' does not search to the end again and again */
    ptrdiff_t at = str_find_char(text, '$');
    if (at < 0) {
        *ret = text;
        return 0;
    }
    for (size_t i = 0; i < text.n; i++)
        last_close = text.p[i] == ')' ? i : last_close;
    while ((at = str_find_char(rest, '$')) >= 0 && (size_t)at + 1 < rest.n && buf_ok(&out)) {
        (void)buf_add_str(&out, str_slice(rest, 0, (size_t)at));
        rest = str_slice(rest, (size_t)at + 1, rest.n);
        bool can_close = (size_t)(rest.p - text.p) <= last_close;
        size_t n = can_close || rest.p[0] != '(' ? expand_one(&out, l, rest) : 0;
        if (n == 0)
            (void)buf_add_cstr(&out, "$");
        rest = str_slice(rest, n, rest.n);
    }
    (void)buf_add_str(&out, rest);
    if (!buf_ok(&out))
        return err_set(err, E_LIMIT, "an expanded text has more than %d bytes",
                       POD_ENV_EXPANDED_MAX);
    *ret = str_copy_arena(a, buf_str(&out));
    return 0;
}

static int by_pair_name(const void *a, const void *b)
{
    const struct pod_pair *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

const struct str *pod_env_get(const struct pod_environment *env, struct str name)
{
    const struct pod_pair wanted = { .name = name }, *key = &wanted;
    const struct pod_pair *const *found =
        env->n ? bsearch(&key, env->by_name, env->n, sizeof key, by_pair_name) : NULL;
    return found ? &(*found)->value : NULL;
}

/* vars are in the arena. */
static void set_vars(struct arena *a, struct pod_environment *env, const struct pod_pair *vars,
                     size_t n)
{
    const struct pod_pair **sorted = arena_new_n(a, const struct pod_pair *, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &vars[i];
    qsort(sorted, n, sizeof *sorted, by_pair_name);
    *env = (struct pod_environment){ .vars = vars, .n = n, .by_name = sorted };
}

int pod_env_expand(struct arena *a, const struct pod_environment *env, struct str text,
                   struct str *ret, struct err *err)
{
    return expand(a, &(struct env_lookup){ .env = env }, text, ret, err);
}

int pod_env_expand_list(struct arena *a, const struct pod_environment *env, const struct str *texts,
                        size_t n, const struct str **ret, struct err *err)
{
    struct str *list = arena_new_n(a, struct str, n);
    for (size_t i = 0; i < n; i++) {
        int r = pod_env_expand(a, env, texts[i], &list[i], err);
        if (r < 0)
            return r;
    }
    *ret = list;
    return 0;
}

static int refuse_missing(struct arena *a, struct vars *missing, struct err *err)
{
    struct str *names = arena_new_n(a, struct str, missing->list.n);
    for (size_t i = 0; i < missing->list.n; i++)
        names[i] = missing->list.p[i].name;
    return err_set(err, E_INVALID, "missing value for " STR_FMT,
                   STR_ARG(join_sorted(a, names, missing->list.n)));
}

int pod_env_expand_strict(struct arena *a, const struct pod_environment *env, struct str text,
                          struct str *ret, struct err *err)
{
    struct vars missing = { 0 };
    struct str expanded;
    int r =
        expand(a, &(struct env_lookup){ .env = env, .missing = &missing }, text, &expanded, err);
    if (r >= 0 && missing.list.n)
        r = refuse_missing(a, &missing, err);
    if (r >= 0)
        *ret = expanded;
    vars_fini(&missing);
    return r;
}

/* ---------------------------------------------------------------- Services */

/* "my-svc.x" is MY_SVC_X; "_" before a digit at the beginning. */
static struct str name_of(struct arena *a, struct str s)
{
    bool has_digit = s.n && s.p[0] >= '0' && s.p[0] <= '9';
    char *name = arena_printf(a, "%s" STR_FMT, has_digit ? "_" : "", STR_ARG(s));
    for (char *c = name; *c; c++) {
        if (*c == '-' || *c == '.')
            *c = '_';
        else if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    return str_of(name);
}

static struct str upper_of(struct arena *a, struct str s)
{
    char *text = arena_strndup(a, s.p, s.n);
    for (char *c = text; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return str_of(text);
}

struct service_writer {
    struct arena *arena;
    struct vars *vars;
    struct str name; /* of the service, as in names of variables */
    struct str ip;
    struct err *err;
    int r; /* sticky */
};

static void __attribute__((format(printf, 3, 4)))
put(struct service_writer *w, struct str value, const char *fmt, ...)
{
    char tail[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(tail, sizeof tail, fmt, ap);
    va_end(ap);
    struct str name = str_of(arena_printf(w->arena, STR_FMT "%s", STR_ARG(w->name), tail));
    if (w->r == 0)
        w->r = vars_set(w->vars, name, value, w->err);
}

static void put_port(struct service_writer *w, const struct pod_service_port *port, bool is_first)
{
    struct arena *a = w->arena;
    struct str protocol = str_lower_arena(a, port->protocol.n ? port->protocol : STR("TCP"));
    struct str upper = upper_of(a, protocol);
    struct str number = str_of(arena_printf(a, "%d", port->port));
    struct str url = str_of(arena_printf(a, STR_FMT "://" STR_FMT ":%d", STR_ARG(protocol),
                                         STR_ARG(w->ip), port->port));
    if (is_first)
        put(w, url, "_PORT");
    put(w, url, "_PORT_%d_" STR_FMT, port->port, STR_ARG(upper));
    put(w, protocol, "_PORT_%d_" STR_FMT "_PROTO", port->port, STR_ARG(upper));
    put(w, number, "_PORT_%d_" STR_FMT "_PORT", port->port, STR_ARG(upper));
    put(w, w->ip, "_PORT_%d_" STR_FMT "_ADDR", port->port, STR_ARG(upper));
}

static int put_service(struct arena *a, struct vars *vars, const struct pod_service *s,
                       struct err *err)
{
    struct service_writer w = {
        .arena = a, .vars = vars, .name = name_of(a, s->name), .ip = s->cluster_ip, .err = err
    };
    put(&w, s->cluster_ip, "_SERVICE_HOST");
    for (size_t i = 0; i < s->n_ports; i++) {
        struct str number = str_of(arena_printf(a, "%d", s->ports[i].port));
        if (i == 0)
            put(&w, number, "_SERVICE_PORT");
        if (s->ports[i].name.n)
            put(&w, number, "_SERVICE_PORT_" STR_FMT, STR_ARG(name_of(a, s->ports[i].name)));
    }
    for (size_t i = 0; i < s->n_ports; i++)
        put_port(&w, &s->ports[i], i == 0);
    return w.r;
}

static bool is_master(const struct pod_service *s)
{
    return str_is(s->namespace, "default") && str_is(s->name, "kubernetes");
}

/* Services of the pod's namespace replace the master's: they are written after it. */
static int put_services(struct arena *a, struct vars *vars, const struct pod_env_input *in,
                        struct err *err)
{
    for (int own = 0; own < 2; own++) {
        for (size_t i = 0; i < in->n_services; i++) {
            const struct pod_service *s = &in->services[i];
            bool wanted = own ? !is_master(s) && in->pod->service_links &&
                                    str_eq(s->namespace, in->pod->namespace)
                              : is_master(s);
            if (!wanted || !s->cluster_ip.n || str_is(s->cluster_ip, "None"))
                continue;
            int r = put_service(a, vars, s, err);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- envFrom */

struct maker {
    struct arena *arena;
    const struct pod_env_input *in;
    struct vars own, services;
    VEC(struct str) warnings;
};

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '=')
            return false;
    }
    return s.n > 0;
}

static const struct json *get_object(const struct pod_env_input *in, enum pod_object_kind kind,
                                     struct str name)
{
    return in->objects.get ? in->objects.get(in->objects.arg, kind, in->pod->namespace, name)
                           : NULL;
}

static void warn_of_names(struct maker *m, enum pod_object_kind kind, struct str object,
                          struct str names)
{
    const char *text =
        arena_printf(m->arena,
                     "Keys [" STR_FMT "] from the EnvFrom %s " STR_FMT "/" STR_FMT
                     " were skipped since they are considered invalid environment variable names.",
                     STR_ARG(names), kind == POD_OBJECT_SECRET ? "secret" : "configMap",
                     STR_ARG(m->in->pod->namespace), STR_ARG(object));
    vec_push(&m->warnings, str_of(text));
}

static int add_all_keys(struct maker *m, const struct pod_env_from *from, enum pod_object_kind kind,
                        struct str name, const struct json *object, struct err *err)
{
    const struct json *data = json_getc(object, "data");
    struct str *bad = arena_new_n(m->arena, struct str, data ? data->n : 0);
    size_t n_bad = 0;
    json_each (v, data) {
        struct str value, var = v->key;
        if (from->prefix.n)
            var = str_of(
                arena_printf(m->arena, STR_FMT STR_FMT, STR_ARG(from->prefix), STR_ARG(v->key)));
        if (!is_name(var)) {
            bad[n_bad++] = var;
            continue;
        }
        int r = kind == POD_OBJECT_SECRET ? decode(m->arena, v, &value, err) : 1;
        if (r >= 0)
            r = vars_set(&m->own, var, kind == POD_OBJECT_SECRET ? value : json_str(v), err);
        if (r < 0)
            return r;
    }
    if (n_bad)
        warn_of_names(m, kind, name, join_sorted(m->arena, bad, n_bad));
    return 0;
}

static int add_env_from(struct maker *m, const struct pod_env_from *from, struct err *err)
{
    enum pod_object_kind kind = from->secret.n ? POD_OBJECT_SECRET : POD_OBJECT_CONFIG_MAP;
    struct str name = from->secret.n ? from->secret : from->config_map;
    const struct json *object = get_object(m->in, kind, name);
    if (!object)
        return from->is_optional ? 0 : pod_object_missing(kind, name, err);
    return add_all_keys(m, from, kind, name, object, err);
}

/* ---------------------------------------------------------------- env */

/* Returns 1, 0: the key or object is missing and optional; or an error. */
static int value_of_object(struct maker *m, const struct pod_env *e, struct str *ret,
                           struct err *err)
{
    enum pod_object_kind kind = e->secret.n ? POD_OBJECT_SECRET : POD_OBJECT_CONFIG_MAP;
    struct str name = e->secret.n ? e->secret : e->config_map;
    const struct json *object = get_object(m->in, kind, name);
    if (!object)
        return e->is_optional ? 0 : pod_object_missing(kind, name, err);
    /* Of a ConfigMap only text: binaryData is not for the environment. */
    const struct json *v = json_get(json_getc(object, "data"), e->key);
    if (!v && e->is_optional)
        return 0;
    if (!v)
        return err_set(err, -ENOENT, "couldn't find key " STR_FMT " in %s " STR_FMT "/" STR_FMT,
                       STR_ARG(e->key), kind == POD_OBJECT_SECRET ? "Secret" : "ConfigMap",
                       STR_ARG(m->in->pod->namespace), STR_ARG(name));
    return pod_object_value(m->arena, object, kind, e->key, ret, err);
}

static int value_from(struct maker *m, const struct pod_env *e, struct str *ret, struct err *err)
{
    const struct pod_env_input *in = m->in;
    int r;
    if (e->field_path.n) {
        r = pod_field_text(m->arena, in->pod, in->facts, e->field_path, ret, err);
        return r < 0 ? r : 1;
    }
    if (e->resource.n) {
        const struct pod_field_resource of = { .self = in->container,
                                               .container = e->resource_container,
                                               .resource = e->resource,
                                               .divisor = e->resource_divisor };
        r = pod_field_resource_text(m->arena, in->pod, in->facts, &of, ret, err);
        return r < 0 ? r : 1;
    }
    if (e->secret.n || e->config_map.n)
        return value_of_object(m, e, ret, err);
    return err_set(err, E_UNSUPPORTED,
                   "environment variable \"" STR_FMT "\": this source is not supported",
                   STR_ARG(e->name));
}

static int add_env(struct maker *m, const struct pod_env *e, struct err *err)
{
    struct str value = STR("");
    int r = 1;
    if (e->value.n)
        r = expand(m->arena, &(struct env_lookup){ .own = &m->own, .services = &m->services },
                   e->value, &value, err);
    else if (e->has_value_from)
        r = value_from(m, e, &value, err);
    if (r < 0 || (r == 0 && !e->value.n))
        return r;
    return vars_set(&m->own, e->name, value, err);
}

static int add_declared(struct maker *m, struct err *err)
{
    const struct pod_container *c = m->in->container;
    int r = 0;
    for (size_t i = 0; i < c->n_env_from && r >= 0; i++)
        r = add_env_from(m, &c->env_from[i], err);
    for (size_t i = 0; i < c->n_env && r >= 0; i++)
        r = add_env(m, &c->env[i], err);
    return r;
}

static int add_rest(struct maker *m, struct err *err)
{
    vec_each (var, &m->services.list) {
        int r = vars_get(&m->own, var->name) ? 0 : vars_set(&m->own, var->name, var->value, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void copy_result(struct maker *m, struct pod_environment *ret)
{
    struct pod_pair *vars = arena_new_n(m->arena, struct pod_pair, m->own.list.n);
    struct str *warnings = arena_new_n(m->arena, struct str, m->warnings.n);
    for (size_t i = 0; i < m->own.list.n; i++)
        vars[i] = (struct pod_pair){ str_copy_arena(m->arena, m->own.list.p[i].name),
                                     str_copy_arena(m->arena, m->own.list.p[i].value) };
    for (size_t i = 0; i < m->warnings.n; i++)
        warnings[i] = m->warnings.p[i];
    set_vars(m->arena, ret, vars, m->own.list.n);
    ret->warnings = warnings;
    ret->n_warnings = m->warnings.n;
}

int pod_env_make(struct arena *a, const struct pod_env_input *in, struct pod_environment *ret,
                 struct err *err)
{
    struct maker m = { .arena = a, .in = in };
    int r = put_services(a, &m.services, in, err);
    if (r >= 0)
        r = add_declared(&m, err);
    if (r >= 0)
        r = add_rest(&m, err);
    if (r >= 0)
        copy_result(&m, ret);
    vars_fini(&m.own);
    vars_fini(&m.services);
    vec_fini(&m.warnings);
    return r < 0 ? r : 0;
}
