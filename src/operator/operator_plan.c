/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of operators; see operator_plan.h. Measured first, then packed by the same steps. */
#include "operator/operator_plan.h"

#include <string.h>

/* Where the next string goes; p NULL: only its size counts. */
struct packer {
    char *p;
    size_t n;
};

static const char *pack(struct packer *to, struct str s)
{
    char *at = to->p ? to->p + to->n : NULL;
    to->n += s.n + 1;
    if (at && s.n)
        memcpy(at, s.p, s.n);
    return at; /* its NUL is there already */
}

static const char *pack_text(struct packer *to, const char *s)
{
    return s ? pack(to, str_of(s)) : NULL;
}

static struct str pack_str(struct packer *to, struct str s)
{
    return (struct str){ pack(to, s), s.n };
}

static void pack_all(struct packer *to, const struct operator_spec *spec, struct plan *p)
{
    const struct module_origin *o = &spec->origin;
    p->uid = pack_text(to, spec->uid ? spec->uid : "");
    p->account = pack_text(to, spec->account);
    p->account_namespace =
        pack_text(to, spec->account_namespace ? spec->account_namespace : spec->namespace);
    p->origin = (struct module_origin){ .from = o->from,
                                        .path = pack_text(to, o->path),
                                        .namespace = pack_text(to, o->namespace),
                                        .name = pack_text(to, o->name),
                                        .key = pack_text(to, o->key),
                                        .url = pack_text(to, o->url),
                                        .sha256 = pack_text(to, o->sha256) };
    for (size_t i = 0; i < spec->n_env; i++) {
        struct guest_env e = { pack_str(to, spec->env[i].name), pack_str(to, spec->env[i].value) };
        if (to->p)
            p->env[i] = e;
    }
    for (size_t i = 0; i < spec->n_args; i++) {
        struct str arg = pack_str(to, spec->args[i]);
        if (to->p)
            p->args[i] = arg;
    }
}

struct plan *plan_new(struct operator_spec *spec)
{
    struct plan unused = { 0 };
    struct packer size = { 0 };
    size_t lists = spec->n_env * sizeof *spec->env + spec->n_args * sizeof *spec->args;
    pack_all(&size, spec, &unused);
    struct plan *p = xalloc(sizeof *p + lists + size.n);
    p->refs = 1;
    p->env = (struct guest_env *)p->text; /* text is aligned as the struct that it ends */
    p->n_env = spec->n_env;
    p->args = (struct str *)(p->text + spec->n_env * sizeof *spec->env);
    p->n_args = spec->n_args;
    struct packer to = { .p = p->text + lists };
    pack_all(&to, spec, p);
    p->generation = spec->generation;
    p->abi = spec->abi;
    p->memory_max_bytes = spec->memory_max_bytes;
    p->swap_max_bytes = spec->swap_max_bytes;
    p->activation_ms = spec->activation_ms;
    p->idle_ms = spec->idle_ms;
    p->cpu_share = spec->cpu_share;
    p->requests_per_second = spec->requests_per_second;
    p->request_burst = spec->request_burst ? spec->request_burst : 2 * spec->requests_per_second;
    p->log_lines_per_second = spec->log_lines_per_second;
    p->create_account = spec->create_account;
    p->paused = spec->paused;
    p->log_debug = spec->log_debug;
    p->allow = take_ptr(&spec->allow);
    return p;
}

struct plan *plan_ref(struct plan *p)
{
    p->refs++;
    return p;
}

void plan_unref(struct plan *p)
{
    if (!p || --p->refs > 0)
        return;
    allow_free(p->allow);
    free(p);
}
