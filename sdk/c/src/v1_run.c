/* SPDX-License-Identifier: Apache-2.0 */
/* What the host calls: setup, and one activation after the other. */
#include "v1.h"

#include <string.h>

#define RESULT_RETRY   (-1)
#define RESULT_GIVE_UP (-2)

struct dm_held {
    struct dm_held *next;
    struct dm_text text;
};

struct dm_text *dm_scratch(struct dm_request *r)
{
    struct dm_held *h = dm_arena_alloc(&r->arena, sizeof(*h));
    *h = (struct dm_held){ .next = r->held };
    r->held = h;
    return &h->text;
}

void v1_release(struct dm_request *r)
{
    for (struct dm_held *h = r->held; h; h = h->next)
        dm_text_fini(&h->text);
    r->held = NULL;
    dm_arena_fini(&r->arena);
}

struct dm_str v1_take_result(struct dm_request *r, uint32_t n)
{
    char *p = dm_arena_alloc(&r->arena, n + 1u);
    n = v1_result_read(p, n);
    p[n] = 0;
    return (struct dm_str){ p, n };
}

/* ---- setup ---- */

static int32_t fail_setup(const char *text, struct dm_str more)
{
    struct dm_text t = { 0 };
    dm_textf(&t, "%s%.*s", text, (int)more.n, more.p);
    v1_fail_message(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
    return 1;
}

int32_t v1_setup(void)
{
    if (dm_operator.setup && dm_operator.setup() < 0)
        return fail_setup("setup of the operator failed", DM_STR(""));
    struct dm_text t = { 0 };
    v1_put_declaration(&t, &dm_operator);
    int32_t r = v1_declare(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
    if (r == 0)
        return 0;
    struct dm_request none = { 0 };
    r = fail_setup("declare: ", v1_take_result(&none, v1_result_size()));
    v1_release(&none);
    return r;
}

/* ---- results ---- */

struct dm_result dm_done(void)
{
    return (struct dm_result){ 0 };
}

struct dm_result dm_again_after(uint64_t after_ms)
{
    const uint64_t most = 1ull << 40;
    return (struct dm_result){ after_ms == 0 ? 1 : (int64_t)(after_ms < most ? after_ms : most) };
}

__attribute__((format(printf, 2, 0))) static void say_failed(const struct dm_request *r,
                                                             const char *fmt, va_list ap)
{
    const struct dm_error *e = &r->error;
    struct dm_text t = { 0 };
    dm_vtextf(&t, fmt, ap);
    if (e->code)
        dm_textf(&t, ": %s: %s", e->reason, e->message);
    v1_fail_message(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
}

struct dm_result dm_fail(struct dm_request *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_failed(r, fmt, ap);
    va_end(ap);
    return (struct dm_result){ RESULT_RETRY };
}

struct dm_result dm_give_up(struct dm_request *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_failed(r, fmt, ap);
    va_end(ap);
    return (struct dm_result){ RESULT_GIVE_UP };
}

/* ---- activations ---- */

static unsigned reason_of(struct dm_json name)
{
    static const char *const names[] = { "initial", "create",  "update", "delete",
                                         "owned",   "mapped",  "resync", "requeue",
                                         "retry",   "enqueue", "config" };
    _Static_assert(DM_REASON_CONFIG == 1 << (sizeof(names) / sizeof(names[0]) - 1),
                   "enum dm_reason has the order of names[]");
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (dm_json_is(name, names[i]))
            return 1u << i;
    return 0;
}

static const struct dm_controller *controller_named(struct dm_json name)
{
    for (const struct dm_controller *c = dm_operator.controllers; c && c->name; c++)
        if (dm_json_is(name, c->name))
            return c;
    return NULL;
}

/* The primary: in the activation, or in the cache when it is large. */
static int find_object(struct dm_request *r, struct dm_json what)
{
    struct dm_json object = dm_json_member(what, "object");
    if (dm_json_has(object))
        r->object = object;
    if (object.p)
        return 0;
    int code = dm_cache_get(r, v1_watch_id(&r->controller->primary), r->ns, r->name, &r->object);
    if (code != DM_E_NOT_FOUND)
        return code;
    v1_clear_error(r);
    return 0;
}

static struct dm_result reconcile(struct dm_request *r, struct dm_json what)
{
    r->controller = controller_named(dm_json_member(what, "controller"));
    if (!r->controller)
        return dm_give_up(r, "no controller of this name");
    r->ns = dm_json_string(dm_json_member(what, "namespace"), &r->arena);
    r->name = dm_json_string(dm_json_member(what, "name"), &r->arena);
    r->attempt = (unsigned)dm_json_int(dm_json_member(what, "attempt"), 0);
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(what, "reasons")); dm_json_next(&it);)
        r->reasons |= reason_of(it.value);
    if (find_object(r, what) < 0)
        return dm_fail(r, "read the object");
    return r->controller->reconcile(r);
}

int64_t v1_activate(uint32_t n)
{
    struct dm_request r = { .ns = "", .name = "", .error = { .reason = "", .message = "" } };
    struct dm_str text = v1_take_result(&r, n);
    struct dm_json what = dm_json_parse(text.p, text.n), type = dm_json_member(what, "type");
    struct dm_result result = { 0 };
    if (dm_json_is(type, "reconcile"))
        result = reconcile(&r, what);
    else if (dm_json_is(type, "config") && dm_operator.on_config)
        result = dm_operator.on_config(&r, dm_json_string(dm_json_member(what, "name"), &r.arena));
    v1_release(&r);
    dm_arena_fini(&r.errors);
    return result.value;
}

#ifdef __wasm__

void __wasm_call_ctors(void);

/* Linked without a start file, which would bring destructors along: there is no end to run them at.
 */
V1_EXPORT("_initialize") void v1_initialize(void);
void v1_initialize(void)
{
    __wasm_call_ctors();
}

#endif
