/* SPDX-License-Identifier: Apache-2.0 */
/* Compact specs of operators; see operator_plan.h. */
#include "operator/host/operator_plan.h"

#include "base/buf.h"
#include "base/slab.h"

#include <string.h>

static void add_texts(struct buf *to, const struct operator_spec *spec, uint16_t *ret_has)
{
    const struct module_origin *o = &spec->origin;
    const char *const texts[PLAN_TEXTS] = { [PLAN_UID] = spec->uid ? spec->uid : "",
                                            [PLAN_ACCOUNT] = spec->account,
                                            [PLAN_ACCOUNT_NAMESPACE] = spec->account_namespace,
                                            [PLAN_PATH] = o->path,
                                            [PLAN_MAP_NAMESPACE] = o->namespace,
                                            [PLAN_MAP_NAME] = o->name,
                                            [PLAN_MAP_KEY] = o->key,
                                            [PLAN_URL] = o->url,
                                            [PLAN_SHA256] = o->sha256,
                                            [PLAN_PULL_SECRETS] = o->pull_secrets };
    for (unsigned i = 0; i < PLAN_TEXTS; i++) {
        if (!texts[i])
            continue;
        *ret_has |= (uint16_t)(1u << i);
        (void)buf_add(to, texts[i], strlen(texts[i]) + 1);
    }
}

static void add_item(struct buf *to, struct str s)
{
    (void)buf_add_le32(to, (uint32_t)s.n);
    (void)buf_add_str(to, s);
}

struct operator_plan *operator_plan_new(struct operator_spec *spec)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    uint16_t has = 0;
    add_texts(&text, spec, &has);
    size_t lists_at = text.n;
    for (size_t i = 0; i < spec->n_env; i++) {
        add_item(&text, spec->env[i].name);
        add_item(&text, spec->env[i].value);
    }
    for (size_t i = 0; i < spec->n_args; i++)
        add_item(&text, spec->args[i]);
    assert(buf_ok(&text)); /* the spec was checked, so the texts fit */
    struct operator_plan *p = slab_alloc(sizeof *p + text.n);
    memcpy(p->text, text.p, text.n);
    p->refs = 1;
    p->from = (uint8_t)spec->origin.from;
    p->has = has;
    p->lists_at = (uint32_t)lists_at;
    p->lists_n = (uint32_t)(text.n - lists_at);
    p->n_env = (uint16_t)spec->n_env;
    p->n_args = (uint8_t)spec->n_args;
    p->generation = spec->generation;
    p->abi = (uint8_t)spec->abi;
    p->memory_max_bytes = spec->memory_max_bytes;
    p->swap_max_bytes = spec->swap_max_bytes;
    p->activation_ms = spec->activation_ms;
    p->idle_ms = spec->idle_ms;
    p->cpu_share = (uint32_t)MIN(spec->cpu_share, UINT32_MAX);
    p->requests_per_second = (uint32_t)MIN(spec->requests_per_second, UINT32_MAX / 2);
    p->request_burst = spec->request_burst ? (uint32_t)MIN(spec->request_burst, UINT32_MAX)
                                           : 2 * p->requests_per_second;
    p->log_lines_per_second = (uint32_t)MIN(spec->log_lines_per_second, UINT32_MAX);
    p->create_account = spec->create_account;
    p->paused = spec->paused;
    p->log_debug = spec->log_debug;
    p->uses_login = spec->origin.uses_login;
    p->allow = take_ptr(&spec->allow);
    return p;
}

_Static_assert(OPERATOR_ENV_MAX <= UINT16_MAX && OPERATOR_ARGS_MAX <= UINT8_MAX, "counts fit");

const char *operator_plan_text(const struct operator_plan *p, enum operator_plan_text which)
{
    const char *at = p->text;
    if (!(p->has & 1u << which))
        return NULL;
    for (unsigned i = 0; i < which; i++)
        if (p->has & 1u << i)
            at += strlen(at) + 1;
    return at;
}

struct module_origin operator_plan_origin(const struct operator_plan *p)
{
    return (struct module_origin){ .from = p->from,
                                   .path = operator_plan_text(p, PLAN_PATH),
                                   .namespace = operator_plan_text(p, PLAN_MAP_NAMESPACE),
                                   .name = operator_plan_text(p, PLAN_MAP_NAME),
                                   .key = operator_plan_text(p, PLAN_MAP_KEY),
                                   .url = operator_plan_text(p, PLAN_URL),
                                   .sha256 = operator_plan_text(p, PLAN_SHA256),
                                   .pull_secrets = operator_plan_text(p, PLAN_PULL_SECRETS),
                                   .uses_login = p->uses_login };
}

/* The items of both lists, environment first. */
static struct rd items_of(const struct operator_plan *p)
{
    return rd_init(p->text + p->lists_at, p->lists_n);
}

static struct str read_item(struct rd *r)
{
    uint32_t n = rd_le32(r);
    return rd_str(r, n);
}

struct guest_env *operator_plan_env(const struct operator_plan *p, struct arena *a)
{
    struct rd r = items_of(p);
    struct guest_env *env = arena_new_n(a, struct guest_env, p->n_env + 1u);
    for (unsigned i = 0; i < p->n_env; i++) {
        env[i].name = read_item(&r);
        env[i].value = read_item(&r);
    }
    return env;
}

struct str *operator_plan_args(const struct operator_plan *p, struct arena *a)
{
    struct rd r = items_of(p);
    struct str *args = arena_new_n(a, struct str, p->n_args + 1u);
    for (unsigned i = 0; i < 2u * p->n_env; i++)
        (void)read_item(&r);
    for (unsigned i = 0; i < p->n_args; i++)
        args[i] = read_item(&r);
    return args;
}

struct operator_plan *operator_plan_ref(struct operator_plan *p)
{
    p->refs++;
    return p;
}

void operator_plan_unref(struct operator_plan *p)
{
    if (!p || --p->refs > 0)
        return;
    allow_free(p->allow);
    slab_free(p);
}
