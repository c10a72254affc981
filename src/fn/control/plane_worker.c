/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of workers: what they have, what they are ordered; see plane.h. */
#include "fn/control/plane_impl.h"

#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"

#include <inttypes.h>

enum { NODE_SANDBOXES_MAX = 100000 };

/* ---------------------------------------------------------------- environments */

struct env {
    struct arena arena;
    Dormouse__Fn__V1__EnvVar **vars;
    Dormouse__Fn__V1__SecretFile **files;
    ProtobufCBinaryData *auths;
    size_t n_vars, n_files, n_auths;
    char *tenant;
};

static Dormouse__Fn__V1__EnvVar *new_var(struct arena *a, struct str name, struct str value)
{
    Dormouse__Fn__V1__EnvVar *v = arena_new(a, Dormouse__Fn__V1__EnvVar);
    dormouse__fn__v1__env_var__init(v);
    v->name = str_dup_arena(a, name);
    v->value = str_dup_arena(a, value);
    return v;
}

int plane_env_new(const struct plane_env *in, struct env **ret)
{
    struct env *env = xnew(struct env);
    env->arena.block_bytes = 512;
    env->vars = arena_new_n(&env->arena, Dormouse__Fn__V1__EnvVar *, in->n_vars + 1);
    env->files = arena_new_n(&env->arena, Dormouse__Fn__V1__SecretFile *, in->n_files + 1);
    for (size_t i = 0; i < in->n_vars; i++)
        env->vars[env->n_vars++] = new_var(&env->arena, in->vars[i].name, in->vars[i].value);
    for (size_t i = 0; i < in->n_files; i++) {
        Dormouse__Fn__V1__SecretFile *f = arena_new(&env->arena, Dormouse__Fn__V1__SecretFile);
        struct str content = str_copy_arena(&env->arena, in->files[i].value);
        dormouse__fn__v1__secret_file__init(f);
        f->path = str_dup_arena(&env->arena, in->files[i].name);
        f->content = (ProtobufCBinaryData){ content.n, (uint8_t *)(uintptr_t)content.p };
        env->files[env->n_files++] = f;
    }
    env->auths = arena_new_n(&env->arena, ProtobufCBinaryData, in->n_auths + 1);
    for (size_t i = 0; i < in->n_auths; i++) {
        struct str text = str_copy_arena(&env->arena, in->auths[i]);
        env->auths[env->n_auths++] = (ProtobufCBinaryData){ text.n, (uint8_t *)(uintptr_t)text.p };
    }
    env->tenant = str_dup_arena(&env->arena, in->tenant);
    *ret = env;
    return 0;
}

bool plane_env_equal(const struct env *a, const struct env *b)
{
    if (!a || !b || a->n_vars != b->n_vars || a->n_files != b->n_files || a->n_auths != b->n_auths)
        return a == b;
    if (strcmp(a->tenant, b->tenant) != 0)
        return false;
    for (size_t i = 0; i < a->n_auths; i++)
        if (!str_eq(str_n(a->auths[i].data, a->auths[i].len),
                    str_n(b->auths[i].data, b->auths[i].len)))
            return false;
    for (size_t i = 0; i < a->n_vars; i++)
        if (strcmp(a->vars[i]->name, b->vars[i]->name) != 0 ||
            strcmp(a->vars[i]->value, b->vars[i]->value) != 0)
            return false;
    for (size_t i = 0; i < a->n_files; i++)
        if (strcmp(a->files[i]->path, b->files[i]->path) != 0 ||
            !str_eq(str_n(a->files[i]->content.data, a->files[i]->content.len),
                    str_n(b->files[i]->content.data, b->files[i]->content.len)))
            return false;
    return true;
}

void plane_env_free(struct env *env)
{
    if (!env)
        return;
    arena_fini(&env->arena);
    free(env);
}

/* ---------------------------------------------------------------- revisions that a worker knows */

static uint64_t known_key(uint32_t function, uint32_t revision)
{
    return (uint64_t)function << 32 | revision;
}

static uint32_t set_place(uint64_t key, uint32_t cap)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (cap - 1);
}

static bool set_has(const struct number_set *s, uint64_t key)
{
    for (uint32_t i = s->cap ? set_place(key, s->cap) : 0; s->cap && s->at[i];
         i = (i + 1) & (s->cap - 1))
        if (s->at[i] == key)
            return true;
    return false;
}

static void set_add(struct number_set *s, uint64_t key)
{
    assert(key && s->n <= s->cap);
    if (s->n * 2 >= s->cap) {
        struct number_set old = *s;
        s->cap = old.cap ? old.cap * 2 : 16;
        s->n = 0;
        s->at = xnew_n(uint64_t, s->cap);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.at[i])
                set_add(s, old.at[i]);
        free(old.at);
    }
    uint32_t i = set_place(key, s->cap);
    while (s->at[i] && s->at[i] != key)
        i = (i + 1) & (s->cap - 1);
    s->n += s->at[i] == 0;
    s->at[i] = key;
}

static bool set_del(struct number_set *s, uint64_t key)
{
    uint32_t mask = s->cap - 1, hole;
    if (!set_has(s, key))
        return false;
    for (hole = set_place(key, s->cap); s->at[hole] != key; hole = (hole + 1) & mask)
        ;
    for (uint32_t i = (hole + 1) & mask; s->at[i]; i = (i + 1) & mask)
        if (((i - set_place(s->at[i], s->cap)) & mask) >= ((i - hole) & mask)) {
            s->at[hole] = s->at[i];
            hole = i;
        }
    s->at[hole] = 0;
    s->n--;
    return true;
}

/* ---------------------------------------------------------------- orders */

static void touch(struct plane_worker *w)
{
    assert(w->peer.p->workers.p[w->index] == w);
    if (!w->dirty) {
        w->dirty = true;
        vec_push(&w->peer.p->dirty_workers, w->index);
    }
    plane_send_later(w->peer.p);
}

void plane_order_create(struct plane_worker *w, uint64_t id)
{
    vec_push(&w->creates, id);
    touch(w);
}

void plane_order_delete(struct plane_worker *w, uint64_t id, uint32_t grace_ms)
{
    Dormouse__Fn__V1__Delete d = DORMOUSE__FN__V1__DELETE__INIT;
    d.sandbox = id;
    d.grace_ms = grace_ms;
    vec_push(&w->deletes, d);
    touch(w);
}

void plane_unlearn(struct plane *p, uint32_t function, uint32_t revision, bool is_last)
{
    for (size_t i = 0; i < p->workers.n; i++) {
        struct plane_worker *w = p->workers.p[i];
        if (!w || !set_del(&w->known, known_key(function, revision)) || !is_last)
            continue;
        vec_push(&w->gone, function);
        touch(w);
    }
}

static bool knows_function(const struct plane_worker *w, const struct control_plane_function *f)
{
    for (uint32_t i = 0; i < f->n_revisions; i++)
        if (set_has(&w->known, known_key(f->number, f->revisions[i]->number)))
            return true;
    return false;
}

void plane_unlearn_at(struct plane_worker *w, struct control_plane_revision *rev)
{
    if (!set_del(&w->known, known_key(rev->f->number, rev->number)) || knows_function(w, rev->f))
        return;
    vec_push(&w->resting, rev->f->number);
    touch(w);
}

void plane_notify_deleted(struct control_plane_revision *rev)
{
    struct control_plane_function *f = rev->f;
    for (uint32_t i = 0; i < rev->held.n; i++) {
        struct plane_worker *w = rev->p->workers.p[rev->held.p[i].node];
        if (!w || knows_function(w, f))
            continue;
        vec_push(&w->deleted, xasprintf(STR_FMT "/%s", STR_ARG(f->ns->name), f->name));
        touch(w);
    }
}

void plane_wake_revision(struct control_plane_revision *rev)
{
    if (!list_is_linked(&rev->resting))
        return;
    assert(rev->p->n_resting > 0);
    list_remove(&rev->resting);
    rev->p->n_resting--;
}

/* Order the workers to forget the revision that has rested longest. */
static void give_up_oldest(struct plane *p)
{
    struct control_plane_revision *rev =
        list_first(&p->resting, struct control_plane_revision, resting);
    plane_wake_revision(rev);
    for (uint32_t i = 0; i < rev->held.n; i++) {
        struct plane_worker *w = p->workers.p[rev->held.p[i].node];
        if (w)
            plane_unlearn_at(w, rev);
    }
    if (!rev->active)
        plane_env_free(take_ptr(&rev->env));
}

void plane_rest_revision(struct control_plane_revision *rev)
{
    struct plane *p = rev->p;
    assert(rev->first == TABLE_NONE);
    plane_wake_revision(rev);
    list_push_back(&p->resting, &rev->resting);
    if (++p->n_resting > PLANE_RESTING_MAX * MAX(p->n_workers, 1u))
        give_up_oldest(p);
}

/* One order in the making. */
struct plane_worker_parcel {
    struct plane_worker *w;
    struct arena arena;
    Dormouse__Fn__V1__WorkerOrder m;
    VEC(Dormouse__Fn__V1__Function *) functions;
    VEC(Dormouse__Fn__V1__Create *) creates;
    size_t bytes;
};

static void parcel_init(struct plane_worker_parcel *k, struct plane_worker *w)
{
    *k = (struct plane_worker_parcel){ .w = w };
    dormouse__fn__v1__worker_order__init(&k->m);
}

static void parcel_send(struct plane_worker_parcel *k)
{
    k->m.functions = k->functions.p;
    k->m.n_functions = k->functions.n;
    k->m.creates = k->creates.p;
    k->m.n_creates = k->creates.n;
    if (k->w->peer.stream)
        fn_stream_send(k->w->peer.stream, &k->m.base);
    vec_fini(&k->functions);
    vec_fini(&k->creates);
    arena_fini(&k->arena);
    parcel_init(k, k->w);
}

/* With values read from the API, else with those in the template. */
static void add_env(struct arena *a, struct control_plane_revision *rev,
                    Dormouse__Fn__V1__Revision *m)
{
    struct json *json;
    struct fn_template t;
    if (rev->env) {
        m->env = rev->env->vars;
        m->n_env = rev->env->n_vars;
        m->secrets = rev->env->files;
        m->n_secrets = rev->env->n_files;
        m->registry_auths = rev->env->auths;
        m->n_registry_auths = rev->env->n_auths;
        m->tenant = rev->env->tenant;
        return;
    }
    if (json_parse(a, str_n(rev->template, rev->template_n), NULL, &json, NULL) < 0 ||
        fn_template_read(a, json, &t, NULL) < 0 || t.n_env == 0)
        return;
    m->env = arena_new_n(a, Dormouse__Fn__V1__EnvVar *, t.n_env);
    for (size_t i = 0; i < t.n_env; i++)
        if (t.env[i].object.n == 0)
            m->env[m->n_env++] = new_var(a, t.env[i].name, t.env[i].value);
}

static ProtobufCBinaryData bytes_of(const char *p, uint32_t n)
{
    return (ProtobufCBinaryData){ n, (uint8_t *)(uintptr_t)p };
}

/* All revisions of it that the worker has or needs. */
static void add_function(struct plane_worker_parcel *k, struct control_plane_function *f)
{
    struct arena *a = &k->arena;
    Dormouse__Fn__V1__Function *m = arena_new(a, Dormouse__Fn__V1__Function);
    dormouse__fn__v1__function__init(m);
    m->function = f->number;
    m->uid = f->uid;
    m->namespace_ = str_dup_arena(a, f->ns->name);
    m->name = f->name;
    m->generation = f->generation;
    m->spec = bytes_of(f->spec, f->spec_n);
    m->revisions = arena_new_n(a, Dormouse__Fn__V1__Revision *, f->n_revisions);
    k->bytes += f->spec_n + 256;
    for (uint32_t i = 0; i < f->n_revisions; i++) {
        struct control_plane_revision *rev = f->revisions[i];
        if (!set_has(&k->w->known, known_key(f->number, rev->number)))
            continue;
        Dormouse__Fn__V1__Revision *r = arena_new(a, Dormouse__Fn__V1__Revision);
        dormouse__fn__v1__revision__init(r);
        r->revision = rev->number;
        r->spec = bytes_of(rev->template, rev->template_n);
        add_env(a, rev, r);
        m->revisions[m->n_revisions++] = r;
        k->bytes += dormouse__fn__v1__revision__get_packed_size(r);
    }
    vec_push(&k->functions, m);
}

static void need_known(struct plane_worker_parcel *k, uint32_t function, uint32_t revision)
{
    uint64_t key = known_key(function, revision);
    struct control_plane_function *f = plane_function(k->w->peer.p, function);
    if (set_has(&k->w->known, key) || !f)
        return;
    set_add(&k->w->known, key);
    if (k->bytes > PLANE_PART_BYTES)
        parcel_send(k);
    add_function(k, f);
}

static void add_creates(struct plane_worker_parcel *k)
{
    struct plane *p = k->w->peer.p;
    for (size_t i = 0; i < k->w->creates.n; i++) {
        uint32_t slot = table_find(&p->table, k->w->creates.p[i]);
        const struct plane_sandbox *s = slot == TABLE_NONE ? NULL : &p->table.at[slot];
        if (!s || s->state != SANDBOX_CREATING)
            continue;
        need_known(k, s->function, s->revision);
        Dormouse__Fn__V1__Create *c = arena_new(&k->arena, Dormouse__Fn__V1__Create);
        dormouse__fn__v1__create__init(c);
        c->sandbox = s->id;
        c->function = s->function;
        c->revision = s->revision;
        vec_push(&k->creates, c);
    }
}

/* Pointers to each, as messages have them. */
#define POINTERS(a, type, from, to, n_to)                                                          \
    do {                                                                                           \
        (to) = arena_new_n((a), type *, (from).n + 1);                                             \
        for (size_t i_ = 0; i_ < (from).n; i_++)                                                   \
            (to)[i_] = &(from).p[i_];                                                              \
        (n_to) = (from).n;                                                                         \
    } while (0)

static void add_deleted(struct plane_worker_parcel *k)
{
    const struct plane_worker *w = k->w;
    k->m.functions_deleted = arena_new_n(&k->arena, Dormouse__Fn__V1__Function *, w->deleted.n + 1);
    for (size_t i = 0; i < w->deleted.n; i++) {
        Dormouse__Fn__V1__Function *m = arena_new(&k->arena, Dormouse__Fn__V1__Function);
        char *slash = strchr(w->deleted.p[i], '/');
        dormouse__fn__v1__function__init(m);
        m->namespace_ =
            arena_strndup(&k->arena, w->deleted.p[i], (size_t)(slash - w->deleted.p[i]));
        m->name = slash + 1;
        k->m.functions_deleted[k->m.n_functions_deleted++] = m;
    }
}

static void clear_orders(struct plane_worker *w)
{
    vec_fini(&w->creates); /* free the memory after a burst: an idle worker needs none */
    vec_fini(&w->deletes);
    vec_fini(&w->adopts);
    vec_fini(&w->gone);
    vec_fini(&w->resting);
    vec_each (name, &w->deleted)
        free(*name);
    vec_fini(&w->deleted);
}

static void flush_worker(struct plane_worker *w)
{
    struct plane_worker_parcel k;
    struct plane *p = w->peer.p;
    w->dirty = false;
    parcel_init(&k, w);
    k.m.functions_resting = w->resting.p; /* before any function is sent again */
    k.m.n_functions_resting = w->resting.n;
    for (size_t i = 0; i < w->adopts.n; i++) {
        uint32_t slot = table_find(&p->table, w->adopts.p[i].sandbox);
        if (slot != TABLE_NONE)
            need_known(&k, p->table.at[slot].function, p->table.at[slot].revision);
    }
    add_creates(&k);
    POINTERS(&k.arena, Dormouse__Fn__V1__Delete, w->deletes, k.m.deletes, k.m.n_deletes);
    POINTERS(&k.arena, Dormouse__Fn__V1__Adopt, w->adopts, k.m.adopts, k.m.n_adopts);
    k.m.functions_gone = w->gone.p;
    k.m.n_functions_gone = w->gone.n;
    add_deleted(&k);
    parcel_send(&k);
    clear_orders(w);
}

void plane_flush_workers(struct plane *p)
{
    for (size_t i = 0; i < p->dirty_workers.n; i++) {
        struct plane_worker *w = p->workers.p[p->dirty_workers.p[i]];
        if (w && w->dirty)
            flush_worker(w);
    }
    p->dirty_workers.n = 0;
}

/* ---------------------------------------------------------------- reports */

/* A sandbox with an address that is not the worker's own counts as failed and is deleted. */
static void take_ready(struct plane_worker *w, uint32_t slot, const Dormouse__Fn__V1__Created *m)
{
    Dormouse__Fn__V1__Created failed = *m;
    struct err err = { 0 };
    if (plane_check_endpoint(w, m->address, m->by_worker, &err) >= 0) {
        plane_sandbox_ready(w->peer.p, slot, m);
        return;
    }
    w->peer.p->refused++;
    failed.error = err.text;
    failed.reason = (char *)(uintptr_t) "AddressDenied";
    failed.breakdown = NULL;
    plane_order_delete(w, m->sandbox, 0);
    plane_sandbox_failed(w->peer.p, slot, &failed);
}

static void take_created(struct plane_worker *w, const Dormouse__Fn__V1__Created *m)
{
    struct plane *p = w->peer.p;
    uint32_t slot = table_find(&p->table, m->sandbox);
    bool ok = m->error[0] == '\0';
    if (slot == TABLE_NONE || p->table.at[slot].worker != w->index) {
        p->orphans += ok;
        if (ok)
            plane_order_delete(w, m->sandbox, 0);
    } else if (ok) {
        take_ready(w, slot, m);
    } else {
        plane_sandbox_failed(p, slot, m);
    }
}

static void take_compiling(struct plane_worker *w, uint64_t id)
{
    struct plane *p = w->peer.p;
    uint32_t slot = table_find(&p->table, id);
    if (slot != TABLE_NONE && p->table.at[slot].worker == w->index)
        plane_sandbox_compiling(p, slot);
}

static void take_pulling(struct plane_worker *w, uint64_t id)
{
    struct plane *p = w->peer.p;
    uint32_t slot = table_find(&p->table, id);
    if (slot != TABLE_NONE && p->table.at[slot].worker == w->index)
        plane_sandbox_pulling(p, slot);
}

static void take_gone(struct plane_worker *w, const Dormouse__Fn__V1__Gone *m)
{
    struct plane *p = w->peer.p;
    uint32_t slot = table_find(&p->table, m->sandbox);
    if (slot != TABLE_NONE && p->table.at[slot].worker == w->index)
        plane_sandbox_gone(p, slot, m->reason);
}

/*
 * It will stop soon: its sandboxes are deleted when their requests have ended, others replace them.
 */
static void leave(struct plane_worker *w)
{
    struct plane *p = w->peer.p;
    if (w->is_leaving)
        return;
    w->is_leaving = true;
    log_info("worker is leaving", "worker=%s sandboxes=%u", w->peer.name, w->n_sandboxes);
    place_node_set_schedulable(p->books, w->node, false);
    for (uint32_t slot = 0; slot < p->table.n; slot++)
        if (p->table.at[slot].id && p->table.at[slot].worker == w->index)
            plane_sandbox_withdraw(p, slot);
}

static void on_worker_message(void *arg, const ProtobufCMessage *message)
{
    struct plane_worker *w = arg;
    const Dormouse__Fn__V1__WorkerReport *m = (const Dormouse__Fn__V1__WorkerReport *)message;
    plane_peer_heard(&w->peer);
    for (size_t i = 0; i < m->n_compiling; i++) /* before they are ready in the same report */
        take_compiling(w, m->compiling[i]);
    for (size_t i = 0; i < m->n_pulling; i++)
        take_pulling(w, m->pulling[i]);
    for (size_t i = 0; i < m->n_created; i++)
        take_created(w, m->created[i]);
    for (size_t i = 0; i < m->n_gone; i++)
        take_gone(w, m->gone[i]);
    if (m->leaving)
        leave(w);
    if (m->load) {
        w->cpu_used = m->load->cpu_milli_used;
        w->memory_used = m->load->memory_used;
        w->running = m->load->running;
        place_node_set_load(w->peer.p->books, w->node, w->cpu_used);
    }
}

static void on_worker_end(void *arg, int r, const struct err *err)
{
    struct plane_worker *w = arg;
    log_info("worker's stream has ended", "worker=%s reason=\"%s\"", w->peer.name,
             r < 0 && err ? err_text(err) : "");
    place_node_set_schedulable(w->peer.p->books, w->node, false);
    plane_peer_broke(&w->peer);
}

static const struct fn_stream_ops worker_ops = { .on_message = on_worker_message,
                                                 .on_end = on_worker_end };

/* ---------------------------------------------------------------- connect and disconnect */

static void free_worker(struct plane_worker *w)
{
    struct plane *p = w->peer.p;
    fn_stream_close(w->peer.stream);
    (void)map_del(&p->workers_by_name, str_of(w->peer.name));
    p->workers.p[w->index] = NULL;
    p->n_workers--;
    free(w->known.at);
    clear_orders(w);
    free(w->peer.name);
    free(w->peer.address);
    free(w);
}

void plane_worker_lost(struct plane_worker *w)
{
    struct plane *p = w->peer.p;
    log_warn("worker lost", "worker=%s sandboxes=%u", w->peer.name, w->n_sandboxes);
    place_node_set_schedulable(p->books, w->node, false);
    for (uint32_t slot = 0; slot < p->table.n && w->n_sandboxes; slot++)
        if (p->table.at[slot].id && p->table.at[slot].worker == w->index)
            plane_sandbox_gone(p, slot, "WorkerLost");
    plane_forget_node(p, w->node);
    place_node_remove(p->books, w->node);
    free_worker(w);
}

void plane_end_workers(struct plane *p)
{
    for (size_t i = 0; i < p->workers.n; i++)
        if (p->workers.p[i]) {
            place_node_remove(p->books, p->workers.p[i]->node);
            free_worker(p->workers.p[i]);
        }
}

static void set_node(struct plane_worker *w, const Dormouse__Fn__V1__WorkerHello *hello)
{
    struct plane *p = w->peer.p;
    struct place_amounts capacity = { 0 };
    capacity.at[PLACE_CPU_MILLI] = (int64_t)MIN(hello->cpu_milli, (uint64_t)INT64_MAX);
    capacity.at[PLACE_MEMORY_BYTES] = (int64_t)MIN(hello->memory_bytes, (uint64_t)INT64_MAX);
    capacity.at[PLACE_SANDBOXES] = NODE_SANDBOXES_MAX;
    place_node_set_capacity(p->books, w->node, &capacity);
    place_node_strip(p->books, w->node);
    for (size_t i = 0; i < hello->n_labels; i++)
        (void)place_node_label(p->books, w->node, str_of(hello->labels[i]->key),
                               str_of(hello->labels[i]->value), NULL);
    for (size_t i = 0; i < hello->n_runtimes; i++) {
        scoped(free_scoped) char *label = xasprintf("runtime.dormouse.dev/%s", hello->runtimes[i]);
        (void)place_node_label(p->books, w->node, str_of(label), STR("true"), NULL);
    }
    place_node_set_schedulable(p->books, w->node, true);
    free(w->peer.address);
    w->peer.address = xstrdup(hello->address);
    char *colon = strrchr(w->peer.address, ':');
    w->host =
        colon ? str_n(w->peer.address, (size_t)(colon - w->peer.address)) : str_of(w->peer.address);
}

static struct plane_worker *new_worker(struct plane *p, const char *name)
{
    struct place_amounts none = { 0 };
    int node = p->n_workers < PLANE_WORKERS_MAX ? place_node_add(p->books, &none, NULL) : -1;
    if (node < 0)
        return NULL;
    struct plane_worker *w = xnew(struct plane_worker);
    w->peer.p = p;
    w->peer.name = xstrdup(name);
    w->index = (uint16_t)node;
    w->node = (uint32_t)node;
    place_node_set_key(p->books, w->node, str_hash(str_of(name), 0));
    w->epoch = place_node(p->books, w->node)->epoch;
    while (p->workers.n <= w->node)
        vec_push(&p->workers, NULL);
    p->workers.p[w->node] = w;
    (void)map_put(&p->workers_by_name, str_of(name), w);
    p->n_workers++;
    return w;
}

static void welcome(struct plane_worker *w)
{
    struct plane *p = w->peer.p;
    Dormouse__Fn__V1__Welcome hello = DORMOUSE__FN__V1__WELCOME__INIT;
    Dormouse__Fn__V1__WorkerOrder m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    hello.term = p->term;
    hello.leader = (char *)(uintptr_t)p->opts.name;
    hello.lease_ms = w->peer.is_local ? 0 : (uint32_t)p->lease_ms;
    m.welcome = &hello;
    fn_stream_send(w->peer.stream, &m.base);
}

static void adopt(struct plane_worker *w, uint32_t slot)
{
    Dormouse__Fn__V1__Adopt a = DORMOUSE__FN__V1__ADOPT__INIT;
    a.sandbox = w->peer.p->table.at[slot].id;
    a.function = w->peer.p->table.at[slot].function;
    vec_push(&w->adopts, a);
    touch(w);
}

/* It was connected before: compare what changed while the stream was broken. */
static void meet_again(struct plane_worker *w, uint32_t slot, const Dormouse__Fn__V1__Existing *e)
{
    struct plane *p = w->peer.p;
    struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    adopt(w, slot);
    if (s->state == SANDBOX_DELETING) {
        plane_order_delete(w, s->id, rev->config->grace_ms);
    } else if (s->state == SANDBOX_CREATING && e->is_ready) {
        Dormouse__Fn__V1__Created m = DORMOUSE__FN__V1__CREATED__INIT;
        m.sandbox = s->id;
        m.address = e->address;
        m.by_worker = e->by_worker;
        take_ready(w, slot, &m);
    }
}

static void meet_unknown(struct plane_worker *w, const Dormouse__Fn__V1__Existing *e)
{
    struct plane *p = w->peer.p;
    struct control_plane_function *f = map_get(&p->by_uid, str_of(e->function_uid));
    struct control_plane_revision *rev = f ? plane_revision_of(p, f->number, e->revision) : NULL;
    struct err err = { 0 };
    if (e->is_ready && plane_check_endpoint(w, e->address, e->by_worker, &err) < 0) {
        log_warn("sandbox not adopted", "reason=\"%s\"", err_text(&err));
        p->refused++;
        rev = NULL;
    }
    uint32_t slot = rev ? plane_sandbox_recover(rev, w, e->sandbox, e->is_ready) : TABLE_NONE;
    if (slot == TABLE_NONE) {
        p->orphans++;
        plane_order_delete(w, e->sandbox, FN_GRACE_MS_DEFAULT);
        return;
    }
    adopt(w, slot);
    if (!e->is_ready)
        return;
    plane_sandbox_set_address(p, slot, e->address, e->by_worker);
    vec_push(&p->adds, e->sandbox);
    plane_send_later(p);
}

/* Our sandboxes that the worker does not have: send lost orders again, remove the others. */
static void miss(struct plane_worker *w, const Dormouse__Fn__V1__WorkerHello *hello)
{
    struct plane *p = w->peer.p;
    struct number_set there = { 0 };
    uint32_t left = w->n_sandboxes;
    for (size_t i = 0; left && i < hello->n_sandboxes; i++)
        if (hello->sandboxes[i]->sandbox)
            set_add(&there, hello->sandboxes[i]->sandbox);
    for (uint32_t slot = 0; slot < p->table.n && left; slot++) {
        struct plane_sandbox *s = &p->table.at[slot];
        if (!s->id || s->worker != w->index)
            continue;
        left--;
        if (set_has(&there, s->id))
            continue;
        if (s->state == SANDBOX_CREATING)
            plane_order_create(w, s->id);
        else
            plane_sandbox_gone(p, slot, "NotThereAnyMore");
    }
    free(there.at);
}

void plane_worker_hello(struct plane_caller *g, const Dormouse__Fn__V1__WorkerReport *m)
{
    struct plane *p = g->p;
    const Dormouse__Fn__V1__WorkerHello *hello = m->hello;
    if (plane_caller_is_late(g, hello->highest_term))
        return;
    struct err err = { 0 };
    struct plane_worker *w = map_get(&p->workers_by_name, str_of(hello->name));
    int r = plane_check_caller(g, hello->address, &err);
    if (r >= 0 && !w && !(w = new_worker(p, hello->name)))
        r = err_set(&err, E_LIMIT, "there are %d workers", PLANE_WORKERS_MAX);
    if (r >= 0)
        r = plane_peer_connect(&w->peer, g, hello->incarnation, &err);
    if (r < 0) {
        plane_caller_refuse(g, hello->name, hello->incarnation, &err);
        return;
    }
    fn_stream_set(w->peer.stream, &worker_ops, w);
    w->is_leaving = false;
    set_node(w, hello);
    free(w->known.at);
    w->known = (struct number_set){ 0 };
    clear_orders(w);
    log_info("worker", "worker=%s address=%s sandboxes=%zu", w->peer.name, w->peer.address,
             hello->n_sandboxes);
    welcome(w);
    miss(w, hello);
    for (size_t i = 0; i < hello->n_sandboxes; i++) {
        uint32_t slot = table_find(&p->table, hello->sandboxes[i]->sandbox);
        if (slot != TABLE_NONE && p->table.at[slot].worker == w->index)
            meet_again(w, slot, hello->sandboxes[i]);
        else if (slot == TABLE_NONE && hello->sandboxes[i]->sandbox)
            meet_unknown(w, hello->sandboxes[i]);
    }
    if (!w->peer.is_local)
        plane_watch_leases(p);
    plane_retry_pending(p);
}
