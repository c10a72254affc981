/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and their revisions at a worker; see revisions.h. */
#include "fn/worker/revisions.h"

#include "base/slab.h"
#include "codec/json.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 1 << 10 }; /* a template fits */

static const char *runtime_name(enum fn_runtime kind)
{
    switch (kind) {
    case FN_WASM:
        return "wasm";
    case FN_OCI:
        return "oci";
    case FN_FAKE:
        return "fake";
    }
    return "";
}

static struct runtime *find_runtime(const struct revisions *t, const char *name)
{
    for (size_t i = 0; i < t->n_runtimes; i++)
        if (strcmp(t->runtimes[i]->ops->name, name) == 0)
            return t->runtimes[i];
    return NULL;
}

/* ---------------------------------------------------------------- one revision */

static void free_revision(struct revisions *t, struct worker_revision *v)
{
    assert(v->n_sandboxes == 0 && t->n > 0);
    if (v->is_prepared)
        v->rt->ops->forget(v->rt, &v->pub);
    arena_fini(&v->arena);
    slab_free(v);
    t->n--;
}

static void *take_from_arena(void *arena, size_t n)
{
    return arena_alloc(arena, n);
}

static void leave_to_arena(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

static uint8_t *pack(const Dormouse__Fn__V1__Revision *m, size_t *ret_n)
{
    *ret_n = dormouse__fn__v1__revision__get_packed_size(m);
    uint8_t *packed = xalloc(*ret_n + 1);
    (void)dormouse__fn__v1__revision__pack(m, packed);
    return packed;
}

static Dormouse__Fn__V1__Revision *copy(struct arena *a, const Dormouse__Fn__V1__Revision *m)
{
    ProtobufCAllocator allocator = { .alloc = take_from_arena,
                                     .free = leave_to_arena,
                                     .allocator_data = a };
    size_t n;
    scoped(free_scoped) uint8_t *packed = pack(m, &n);
    Dormouse__Fn__V1__Revision *made = dormouse__fn__v1__revision__unpack(&allocator, n, packed);
    if (!made)
        abort(); /* just packed: no memory */
    return made;
}

static int read_template(struct worker_revision *v, struct err *err)
{
    struct fn_template *tmpl = arena_new(&v->arena, struct fn_template);
    struct json *spec;
    int r = json_parse(&v->arena, str_n(v->m->spec.data, v->m->spec.len), NULL, &spec, err);
    if (r == 0)
        r = fn_template_read(&v->arena, spec, tmpl, err);
    v->pub.t = tmpl;
    return r < 0 ? err_ctx(err, E_INVALID, "revision %u", v->m->revision) : 0;
}

static void take_env(struct worker_revision *v)
{
    struct fn_name_value *env = arena_new_n(&v->arena, struct fn_name_value, v->m->n_env + 1);
    for (size_t i = 0; i < v->m->n_env; i++)
        env[i] = (struct fn_name_value){ str_of(v->m->env[i]->name), str_of(v->m->env[i]->value) };
    v->pub.env = env;
    v->pub.n_env = v->m->n_env;
    v->pub.secrets = (const Dormouse__Fn__V1__SecretFile *const *)v->m->secrets;
    v->pub.n_secrets = v->m->n_secrets;
    struct str *auths = arena_new_n(&v->arena, struct str, v->m->n_registry_auths + 1);
    for (size_t i = 0; i < v->m->n_registry_auths; i++)
        auths[i] = str_n(v->m->registry_auths[i].data, v->m->registry_auths[i].len);
    v->pub.auths = auths;
    v->pub.n_auths = v->m->n_registry_auths;
    v->pub.tenant = v->m->tenant[0] ? v->m->tenant : v->pub.namespace;
}

/* A revision that cannot run is kept as well: each create returns the reason. */
static struct worker_revision *new_revision(struct revisions *t, struct worker_function *f,
                                            const Dormouse__Fn__V1__Revision *m)
{
    struct worker_revision *v = slab_new(struct worker_revision);
    v->arena.block_bytes = ARENA_BYTES;
    v->function = f;
    v->m = copy(&v->arena, m);
    v->pub = (struct runtime_revision){
        .namespace = f->namespace, .function = f->name, .uid = f->uid, .revision = m->revision
    };
    take_env(v);
    t->n++;
    struct err err = { 0 };
    if (read_template(v, &err) == 0) {
        const char *name = runtime_name(v->pub.t->runtime);
        v->rt = find_runtime(t, name);
        if (!v->rt)
            (void)err_set(&err, -ENOSYS, "this worker has no runtime '%s'", name);
    }
    if (!v->rt) {
        v->err = arena_new(&v->arena, struct err);
        *v->err = err;
    }
    return v;
}

static bool is_same(const struct worker_revision *v, const Dormouse__Fn__V1__Revision *m)
{
    size_t n, known_n;
    scoped(free_scoped) uint8_t *packed = pack(m, &n);
    scoped(free_scoped) uint8_t *known = pack(v->m, &known_n);
    return n == known_n && memcmp(packed, known, n) == 0;
}

void revision_ref(struct worker_revision *v)
{
    v->n_sandboxes++;
    if (v->is_prepared)
        return;
    v->is_prepared = true;
    v->rt->ops->prepare(v->rt, &v->pub);
}

/* ---------------------------------------------------------------- functions */

static struct str number_key(const uint32_t *number)
{
    return str_n(number, sizeof *number);
}

static void free_function(struct revisions *t, struct worker_function *f)
{
    assert(f->revisions.n == 0 && !f->is_listed);
    assert(map_get(&t->by_number, number_key(&f->number)) != f);
    map_del(&t->by_uid, str_of(f->uid));
    vec_fini(&f->revisions);
    slab_free(f->uid);
    slab_free(f->namespace);
    slab_free(f->name);
    slab_free(f);
}

/* Drop revisions that are not used, and the function with the last one. */
static void trim(struct revisions *t, struct worker_function *f)
{
    for (size_t i = f->revisions.n; i-- > 0;) {
        struct worker_revision *v = f->revisions.p[i];
        if (v->n_sandboxes == 0 && !v->is_listed) {
            vec_remove(&f->revisions, i);
            free_revision(t, v);
        }
    }
    if (f->revisions.n == 0 && !f->is_listed)
        free_function(t, f);
}

static void unlist(struct worker_function *f)
{
    f->is_listed = false;
    vec_each (v, &f->revisions)
        (*v)->is_listed = false;
}

void revision_unref(struct revisions *t, struct worker_revision *v)
{
    assert(v->n_sandboxes > 0);
    v->n_sandboxes--;
    trim(t, v->function);
}

static struct worker_function *take_function(struct revisions *t,
                                             const Dormouse__Fn__V1__Function *m)
{
    struct worker_function *f = map_get(&t->by_uid, str_of(m->uid));
    if (f)
        return f;
    f = slab_new(struct worker_function);
    f->uid = slab_strndup(m->uid, strlen(m->uid));
    f->namespace = slab_strndup(m->namespace_, strlen(m->namespace_));
    f->name = slab_strndup(m->name, strlen(m->name));
    map_put(&t->by_uid, str_of(f->uid), f);
    return f;
}

static void put_revision(struct revisions *t, struct worker_function *f,
                         const Dormouse__Fn__V1__Revision *m)
{
    vec_each (v, &f->revisions)
        if ((*v)->pub.revision == m->revision && is_same(*v, m)) {
            (*v)->is_listed = true;
            return;
        }
    struct worker_revision *v = new_revision(t, f, m);
    v->is_listed = true;
    vec_push(&f->revisions, v);
}

int revisions_put(struct revisions *t, const Dormouse__Fn__V1__Function *m, struct err *err)
{
    if (!m->uid[0])
        return err_set(err, E_INVALID, "a function without uid");
    if (t->n + m->n_revisions > REVISIONS_MAX)
        return err_set(err, E_LIMIT, "more than %d revisions", (int)REVISIONS_MAX);
    struct worker_function *other = map_get(&t->by_number, number_key(&m->function));
    if (other && strcmp(other->uid, m->uid) != 0)
        revisions_gone(t, m->function);
    struct worker_function *f = take_function(t, m);
    if (f->is_listed && f->number != m->function)
        map_del(&t->by_number, number_key(&f->number));
    unlist(f);
    f->is_listed = true;
    f->number = m->function;
    map_put(&t->by_number, number_key(&m->function), f);
    for (size_t i = 0; i < m->n_revisions; i++)
        put_revision(t, f, m->revisions[i]);
    trim(t, f);
    return 0;
}

void revisions_gone(struct revisions *t, uint32_t number)
{
    struct worker_function *f = map_del(&t->by_number, number_key(&number));
    if (!f)
        return;
    unlist(f);
    trim(t, f);
}

void revisions_new_term(struct revisions *t)
{
    map_fini(&t->by_number);
    t->by_number = (struct map){ 0 };
    map_each (e, &t->by_uid)
        ((struct worker_function *)e->value)->is_listed = false;
}

void revisions_sweep(struct revisions *t)
{
    VEC(struct worker_function *) left = { 0 };
    map_each (e, &t->by_uid) {
        struct worker_function *f = e->value;
        if (!f->is_listed)
            vec_push(&left, f);
    }
    vec_each (f, &left) {
        unlist(*f);
        trim(t, *f);
    }
    vec_fini(&left);
}

/*
 * The newest of that number: an older one with other env may still have sandboxes, but gets no
 * more.
 */
struct worker_revision *revisions_find(const struct revisions *t, uint32_t number,
                                       uint32_t revision)
{
    struct worker_function *f = map_get(&t->by_number, number_key(&number));
    if (!f)
        return NULL;
    vec_each (v, &f->revisions)
        if ((*v)->pub.revision == revision && (*v)->is_listed)
            return *v;
    return NULL;
}

const struct worker_function *revisions_function(const struct revisions *t, uint32_t number)
{
    return map_get(&t->by_number, number_key(&number));
}

void revisions_fini(struct revisions *t)
{
    revisions_new_term(t);
    revisions_sweep(t);
    assert(t->by_uid.n == 0); /* every sandbox has released its revision */
    map_fini(&t->by_uid);
    map_fini(&t->by_number);
}
