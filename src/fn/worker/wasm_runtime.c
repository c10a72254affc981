/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions and sandboxes of Wasm functions; see wasm_runtime.h. */
#include "fn/worker/wasm_impl.h"

#include "base/log.h"
#include "codec/digest.h"
#include "fn/worker/logs.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

/* ---- logs ---- */

/* Whether one more line may be logged; if so, adds a line about those left out before it. */
static bool may_log(struct wasm_revision *rev)
{
    char text[64];
    if (!rev->r || !rev->rt->opts.logs)
        return false;
    if (!guest_log_allows(&rev->log_lines, GUEST_LOG_LINES_PER_S, GUEST_LOG_LINES_BURST)) {
        rev->logs_left_out++;
        return false;
    }
    if (rev->logs_left_out == 0)
        return true;
    (void)snprintf(text, sizeof text, "%" PRIu64 " lines were left out", rev->logs_left_out);
    rev->logs_left_out = 0;
    fn_log_add(
        rev->rt->opts.logs, rev->r,
        &(struct fn_log_line){ .level = LOG_WARN, .message = str_of(text), .stream = "host" });
    return true;
}

void wasm_log(struct wasm_revision *rev, const struct invocation *x, const char *stream,
              enum log_level level, struct str text)
{
    if (!may_log(rev))
        return;
    fn_log_add(rev->rt->opts.logs, rev->r,
               &(struct fn_log_line){ .level = level,
                                      .message = text,
                                      .sandbox = x && x->sandbox ? x->sandbox->id : 0,
                                      .call_id = x ? str_of(x->call_id) : STR(""),
                                      .stream = stream });
}

void wasm_log_output(struct wasm_revision *rev, const struct invocation *x, const char *stream,
                     struct str text)
{
    if (may_log(rev))
        fn_log_output(rev->rt->opts.logs, rev->r, x && x->sandbox ? x->sandbox->id : 0,
                      x ? str_of(x->call_id) : STR(""), stream, text);
}

void wasm_log_left_out(struct wasm_revision *rev, uint64_t n)
{
    rev->logs_left_out += n;
}

/* ---- sandboxes ---- */

static struct str id_key(const uint64_t *id)
{
    return str_n(id, sizeof *id);
}

struct wasm_sandbox *wasm_find_sandbox(struct wasm_rt *rt, uint64_t id)
{
    return map_get(&rt->sandboxes, id_key(&id));
}

static void sandbox_free(struct wasm_sandbox *s)
{
    assert(list_is_empty(&s->invocations) && s->running == 0);
    list_remove(&s->node);
    (void)map_del(&s->rt->sandboxes, id_key(&s->id));
    defer_cancel(&s->notify);
    timer_stop(s->rt->opts.loop, &s->grace);
    free(s);
}

static uint32_t us(uint64_t ms)
{
    return (uint32_t)MIN(ms * 1000, (uint64_t)UINT32_MAX);
}

static void tell_created(struct wasm_sandbox *s, int r, const struct err *why)
{
    struct runtime *t = &s->rt->runtime;
    const struct wasm_revision *rev = s->rev;
    Dormouse__Fn__V1__Breakdown b = DORMOUSE__FN__V1__BREAKDOWN__INIT;
    uint64_t now = loop_now_ms(s->rt->opts.loop);
    b.image_fetch = us(rev->fetched_ms - rev->begun_ms);
    b.sandbox_create = us(now - rev->fetched_ms);
    b.total = us(now - rev->begun_ms);
    uint64_t id = s->id;
    assert(!s->is_ready && !s->is_leaving);
    if (r == 0)
        s->is_ready = true;
    else
        sandbox_free(s);
    t->events->on_created(t->events_arg, id, r, NULL, &b, why);
}

static void on_ready(struct defer *d)
{
    struct wasm_sandbox *s = container_of(d, struct wasm_sandbox, notify);
    static const struct err none;
    if (s->rev->state == WASM_READY)
        tell_created(s, 0, &none);
    else if (s->rev->state == WASM_FAILED)
        tell_created(s, s->rev->why.code, &s->rev->why);
}

static void on_destroyed(struct defer *d)
{
    struct wasm_sandbox *s = container_of(d, struct wasm_sandbox, notify);
    struct runtime *t = &s->rt->runtime;
    uint64_t id = s->id;
    sandbox_free(s);
    t->events->on_destroyed(t->events_arg, id);
}

void wasm_sandbox_done(struct wasm_sandbox *s)
{
    if (s->is_leaving && s->running == 0)
        defer_start(s->rt->opts.loop, &s->notify, on_destroyed);
}

static void on_grace(struct timer *timer)
{
    struct wasm_sandbox *s = container_of(timer, struct wasm_sandbox, grace);
    wasm_end_sandbox(s, -ECONNRESET, "SandboxRemoved");
}

/* ---- revisions ---- */

static void revision_free(struct wasm_revision *rev)
{
    struct wasm_rt *rt = rev->rt;
    if (list_is_linked(&rev->node)) {
        assert(!rev->r && rt->n_resting > 0);
        list_remove(&rev->node);
        rt->n_resting--;
    }
    if (rev->get)
        module_get_cancel(rev->get); /* its callback will not find the revision */
    assert(rev->program.n_templates == 0 && list_is_empty(&rev->sandboxes));
    timer_stop(rt->opts.loop, &rev->compiling);
    (void)map_del(&rt->revisions, str_of(rev->key));
    module_source_close(rev->source);
    module_unref(rev->module);
    buf_fini(&rev->args);
    buf_fini(&rev->env);
    free(rev->key);
    free(rev);
}

static void rest(struct wasm_revision *rev)
{
    struct wasm_rt *rt = rev->rt;
    guest_program_stop(&rev->program);
    assert(rev->program.n_templates == 0); /* its requests were given up */
    assert(list_is_empty(&rev->sandboxes) && rt->n_revisions > 0);
    rev->r = NULL;
    rev->program.namespace = NULL;
    rt->n_revisions--;
    if (rev->state == WASM_READY)
        rev->state = WASM_COMPILED;
    if (rev->state != WASM_COMPILED || rev->is_twin) {
        revision_free(rev);
        return;
    }
    list_push_back(&rt->resting, &rev->node);
    if (++rt->n_resting > WASM_RESTING_MAX)
        revision_free(list_first(&rt->resting, struct wasm_revision, node));
}

/* Notify the sandboxes that wait for it, in the next turn of the loop. */
static void tell_waiting(struct wasm_revision *rev)
{
    list_each (node, &rev->sandboxes) {
        struct wasm_sandbox *s = list_entry(node, struct wasm_sandbox, node);
        if (!s->is_ready && !s->is_leaving)
            defer_start(rev->rt->opts.loop, &s->notify, on_ready);
    }
}

void wasm_on_ready(struct guest_program *p)
{
    struct wasm_revision *rev = wasm_revision_of(p);
    assert(rev->r && rev->module);
    rev->state = WASM_READY;
    tell_waiting(rev);
}

static void revision_failed(struct wasm_revision *rev, const struct err *why)
{
    if (guest_program_has_template(&rev->program)) {
        log_warn("a function's module failed, the one before it stays",
                 "function=%s/%s reason=\"%s\"", rev->r ? rev->r->namespace : "",
                 rev->r ? rev->r->function : "", err_text(why));
        return;
    }
    rev->state = WASM_FAILED;
    rev->why = *why;
    rev->failed_ms = loop_now_ms(rev->rt->opts.loop);
    wasm_log(rev, NULL, "host", LOG_ERROR, str_of(err_text(why)));
    tell_waiting(rev);
    wasm_fail_held(rev, why->code, "ModuleUnavailable", why);
}

void wasm_on_failed(struct guest_program *p, const struct err *why)
{
    revision_failed(wasm_revision_of(p), why);
}

static void fetch(struct wasm_revision *rev);

void wasm_on_code_lost(struct guest_program *p)
{
    fetch(wasm_revision_of(p));
}

static void fail(struct wasm_revision *rev, int code, const char *text)
{
    struct err err = { 0 };
    (void)err_set(&err, code, "%s", text);
    revision_failed(rev, &err);
}

/* ---- its module ---- */

static int choose_abi(struct wasm_revision *rev, const struct module *m, struct err *err)
{
    const char *handle = "dormouse_http_v1_handle";
    enum guest_abi abi = GUEST_ABI_COMMAND;
    switch (rev->r->t->abi) {
    case FN_ABI_AUTO:
        if (module_info_has_func(m->info, handle, ":i"))
            abi = GUEST_ABI_HTTP;
        else if (!module_info_has_func(m->info, "_start", ":"))
            return err_set(err, E_UNSUPPORTED,
                           "the module exports neither '_start' nor '%s': it is no function",
                           handle);
        break;
    case FN_ABI_COMMAND:
        break;
    case FN_ABI_REACTOR:
        abi = GUEST_ABI_HTTP;
        break;
    }
    rev->abi = abi;
    return abi_check(m->info, abi, err);
}

static void make_template(struct wasm_revision *rev)
{
    struct err err = { 0 };
    rev->state = WASM_COMPILED;
    rev->fetched_ms = loop_now_ms(rev->rt->opts.loop);
    guest_program_set_module(&rev->program, rev->module); /* requests that run are not ended */
    int r = choose_abi(rev, rev->module, &err);
    if (r == 0)
        guest_program_start(&rev->program);
    else
        revision_failed(rev, &err);
}

static bool is_digest(const struct wasm_revision *rev, const struct module *m)
{
    struct str wanted = rev->r->t->sha256;
    return wanted.n == 0 || str_ieq(wanted, str_of(m->hash));
}

/* m: the caller holds a reference. */
static void use_module(struct wasm_revision *rev, struct module *m)
{
    if (m == rev->module && rev->state == WASM_READY)
        return; /* written again, as it was */
    if (rev->r && !is_digest(rev, m)) {
        fail(rev, E_DIGEST, "the module is not the one that spec.module.sha256 names");
        return;
    }
    struct module *before = rev->module;
    rev->module = module_ref(m);
    module_unref(before);
    if (rev->r)
        make_template(rev);
}

struct module_wait {
    struct wasm_rt *rt;
    char *key;
    bool has_id;
    struct wasm_file_id id;
};

/* The revision may have been freed meanwhile. */
static void on_compiled(struct module *m, int status, const struct err *err, void *arg)
{
    struct module_wait *wait = arg;
    struct wasm_rt *rt = wait->rt;
    struct wasm_revision *rev = map_get(&rt->revisions, str_of(wait->key));
    scoped(module_unref_scoped) struct module *owned = m;
    if (status == 0 && wait->has_id && !rt->is_closing)
        wasm_files_add(rt, &wait->id, owned);
    free(wait->key);
    free(wait);
    assert(rt->n_gets > 0);
    rt->n_gets--;
    if (rt->is_closing) {
        wasm_free_if_closed(rt);
        return;
    }
    if (!rev || status == -ECANCELED)
        return;
    rev->get = NULL;
    if (status == 0)
        use_module(rev, m);
    else if (rev->r)
        revision_failed(rev, err);
    else
        revision_free(rev);
}

/*
 * Code from the cache would have arrived by now. The compilation is reported repeatedly, and for
 * each sandbox, so that a control plane that has taken over meanwhile is notified too.
 */
static void on_compiling(struct timer *t)
{
    struct wasm_revision *rev = container_of(t, struct wasm_revision, compiling);
    const struct runtime *to = &rev->rt->runtime;
    if (rev->state != WASM_COMPILING || !to->events->on_compiling)
        return;
    list_each (node, &rev->sandboxes) {
        const struct wasm_sandbox *s = list_entry(node, struct wasm_sandbox, node);
        if (s->is_ready || s->is_leaving)
            continue;
        to->events->on_compiling(to->events_arg, s->id);
    }
    timer_start(rev->rt->opts.loop, t, rev->rt->opts.compiling_ms * WASM_COMPILING_AGAIN,
                on_compiling);
}

static void compile(struct wasm_revision *rev, int fd)
{
    struct wasm_rt *rt = rev->rt;
    struct err err = { 0 };
    if (rev->get)
        module_get_cancel(rev->get);
    rev->get = NULL;
    struct wasm_file_id id;
    bool has_id = wasm_file_identify(fd, &id);
    struct module *known = has_id ? wasm_files_find(rt, &id) : NULL;
    if (known) {
        use_module(rev, known);
        return;
    }
    struct module_wait *wait = xnew(struct module_wait);
    wait->rt = rt;
    wait->key = xstrdup(rev->key);
    wait->has_id = has_id;
    if (has_id)
        wait->id = id;
    struct module_want want = { .tenant = str_of(rev->r ? rev->r->namespace : "") };
    int r = module_get(rt->opts.modules, fd, &want, on_compiled, wait, &rev->get, &err);
    if (r < 0) {
        free(wait->key);
        free(wait);
        rev->get = NULL;
        revision_failed(rev, &err);
        return;
    }
    rt->n_gets++;
    if (guest_program_has_template(&rev->program))
        return;
    rev->state = WASM_COMPILING;
    timer_start(rt->opts.loop, &rev->compiling, rt->opts.compiling_ms, on_compiling);
}

static void on_module(void *arg, int fd)
{
    struct wasm_revision *rev = arg;
    scoped(fd_scoped) int owned = fd;
    if (rev->r) {
        compile(rev, owned);
        return;
    }
    revision_free(rev); /* it rests, and its module is out of date */
}

static void on_trouble(void *arg, const char *reason, const struct err *err)
{
    struct wasm_revision *rev = arg;
    if (rev->r)
        revision_failed(rev, err);
}

static const struct module_source_ops source_ops = { .on_module = on_module,
                                                     .on_trouble = on_trouble };

static void fetch(struct wasm_revision *rev)
{
    const struct fn_template *t = rev->r->t;
    struct wasm_rt *rt = rev->rt;
    struct err err = { 0 };
    scoped(free_scoped) char *path = NULL;
    scoped(free_scoped) char *text = str_dup(t->config_map.n ? t->config_map : t->url);
    scoped(free_scoped) char *key = str_dup(t->key.n ? t->key : STR("module.wasm"));
    scoped(free_scoped) char *sha256 = str_dup(t->sha256);
    struct module_origin origin = { .from = t->file.n         ? MODULE_FROM_FILE
                                            : t->config_map.n ? MODULE_FROM_CONFIG_MAP
                                                              : MODULE_FROM_URL,
                                    .namespace = rev->r->namespace,
                                    .name = text,
                                    .key = key,
                                    .url = text,
                                    .sha256 = sha256,
                                    .auths = rev->r->auths,
                                    .n_auths = rev->r->n_auths };
    int fd = 0;
    module_source_close(rev->source);
    rev->source = NULL;
    if (t->file.n)
        fd = module_find_file(rt->dirs, rt->opts.n_module_dirs, t->file, &path, &err);
    origin.path = path;
    if (fd == 0)
        fd = module_source_open(rt->opts.sources, &origin, &source_ops, rev, &rev->source, &err);
    scoped(fd_scoped) int owned = fd;
    rev->state = WASM_FETCHING;
    if (fd >= 0)
        compile(rev, owned);
    else if (fd != -EAGAIN)
        revision_failed(rev, &err);
}

/* ---- prepare and forget ---- */

static int read_setup(struct wasm_revision *rev)
{
    const struct runtime_revision *r = rev->r;
    const struct fn_template *t = r->t;
    scoped(free_scoped) struct str *args = xnew_n(struct str, t->n_args + 1);
    scoped(free_scoped) struct guest_env *env = xnew_n(struct guest_env, r->n_env + 1);
    args[0] = str_of(r->function);
    for (size_t i = 0; i < t->n_args; i++)
        args[i + 1] = t->args[i];
    for (size_t i = 0; i < r->n_env; i++)
        env[i] = (struct guest_env){ r->env[i].name, r->env[i].value };
    struct buf setup = BUF_INIT(PROTO_SETUP_MAX + 64);
    struct proto_setup parsed;
    int status = proto_add_setup(&setup, args, t->n_args + 1, env, r->n_env);
    if (status == 0)
        status = proto_get_setup(buf_str(&setup), &parsed);
    if (status == 0) {
        buf_reset(&rev->args);
        buf_reset(&rev->env);
        (void)buf_add(&rev->args, setup.p, 8 + parsed.args.n);
        (void)buf_add_str(&rev->env, parsed.env);
        rev->n_env = parsed.n_env;
    }
    buf_fini(&setup);
    return status;
}

void wasm_fill_template(struct guest_program *p, struct proto_run *run, struct buf *setup)
{
    const struct wasm_revision *rev = wasm_revision_of(p);
    (void)buf_add_str(setup, buf_str(&rev->args));
    (void)buf_add_le32(setup, rev->n_env);
    (void)buf_add_le32(setup, (uint32_t)rev->env.n);
    (void)buf_add_str(setup, buf_str(&rev->env));
    *run = (struct proto_run){ .abi = rev->abi,
                               .activation_ms = WASM_INIT_MS,
                               .memory_max_bytes = rev->r->t->memory };
}

static struct wasm_revision *revision_new(struct wasm_rt *rt, const char *key)
{
    struct wasm_revision *rev = xnew(struct wasm_revision);
    rev->rt = rt;
    rev->key = xstrdup(key);
    list_init(&rev->sandboxes);
    guest_program_init(&rev->program, rt->templates);
    buf_init(&rev->args, PROTO_SETUP_MAX);
    buf_init(&rev->env, PROTO_SETUP_MAX);
    (void)map_put(&rt->revisions, str_of(key), rev);
    return rev;
}

static void begin(struct wasm_revision *rev)
{
    rev->begun_ms = rev->fetched_ms = loop_now_ms(rev->rt->opts.loop);
    if (rev->module)
        make_template(rev);
    else
        fetch(rev);
}

static void wasm_prepare(struct runtime *t, struct runtime_revision *r)
{
    struct wasm_rt *rt = wasm_of(t);
    scoped(free_scoped) char *key = xasprintf("%s/%" PRIu32, r->uid, r->revision);
    struct wasm_revision *rev = map_get(&rt->revisions, str_of(key));
    bool is_twin = rev && rev->r; /* the same revision, before its env or secrets changed */
    if (is_twin) {
        free(key);
        key = xasprintf("%s/%" PRIu32 "/%" PRIu64, r->uid, r->revision, ++rt->serial);
        rev = NULL;
    }
    if (!rev)
        rev = revision_new(rt, key);
    rev->is_twin = is_twin;
    if (list_is_linked(&rev->node)) {
        list_remove(&rev->node);
        rt->n_resting--;
    }
    rev->r = r;
    rev->program.namespace = r->namespace;
    r->data = rev;
    rt->n_revisions++;
    rev->log_lines = (struct token_bucket){ 0 };
    if (read_setup(rev) < 0)
        fail(rev, E_INVALID, "arguments and environment are too large, or have a NUL in them");
    else
        begin(rev);
}

static void wasm_forget(struct runtime *t, struct runtime_revision *r)
{
    struct wasm_revision *rev = r->data;
    r->data = NULL;
    if (!rev)
        return;
    list_each_safe (node, &rev->sandboxes) {
        struct wasm_sandbox *s = list_entry(node, struct wasm_sandbox, node);
        wasm_end_sandbox(s, -ECONNRESET, "SandboxRemoved");
        sandbox_free(s);
    }
    rest(rev);
}

/* ---- create and destroy ---- */

static void retry_if_due(struct wasm_revision *rev)
{
    uint64_t now = loop_now_ms(rev->rt->opts.loop);
    bool is_permanent = rev->why.code == E_INVALID || rev->why.code == E_UNSUPPORTED ||
                        rev->why.code == E_DIGEST || rev->why.code == E_PARSE;
    if (rev->state == WASM_FAILED && !is_permanent && now - rev->failed_ms >= WASM_RETRY_MS)
        begin(rev);
}

static void wasm_create(struct runtime *t, uint64_t id, struct runtime_revision *r)
{
    struct wasm_rt *rt = wasm_of(t);
    struct wasm_sandbox *s = wasm_find_sandbox(rt, id);
    if (s)
        return; /* reported already, or soon */
    if (!r->data)
        wasm_prepare(t, r);
    struct wasm_revision *rev = r->data;
    s = xnew(struct wasm_sandbox);
    s->rt = rt;
    s->rev = rev;
    s->id = id;
    list_init(&s->invocations);
    list_push_back(&rev->sandboxes, &s->node);
    (void)map_put(&rt->sandboxes, id_key(&id), s);
    retry_if_due(rev);
    if (rev->state == WASM_READY || rev->state == WASM_FAILED)
        defer_start(rt->opts.loop, &s->notify, on_ready);
}

static void wasm_destroy(struct runtime *t, uint64_t id, uint32_t grace_ms)
{
    struct wasm_rt *rt = wasm_of(t);
    struct wasm_sandbox *s = wasm_find_sandbox(rt, id);
    if (!s) { /* unknown: only report it as destroyed */
        s = xnew(struct wasm_sandbox);
        s->rt = rt;
        s->id = id;
        list_init(&s->invocations);
        (void)map_put(&rt->sandboxes, id_key(&id), s);
    }
    s->is_leaving = true;
    defer_cancel(&s->notify);
    wasm_sandbox_done(s);
    if (s->running)
        timer_start(rt->opts.loop, &s->grace, grace_ms, on_grace);
}

static void wasm_recover(struct runtime *t)
{
    /* Runners end with the process that has started them. */
}

/* ---- life ---- */

static void rt_free(struct wasm_rt *rt)
{
    void (*done)(void *arg) = rt->done;
    void *arg = rt->done_arg;
    while (!list_is_empty(&rt->spare)) {
        struct invocation *x = list_first(&rt->spare, struct invocation, node);
        list_remove(&x->node);
        wasm_invocation_free(x);
    }
    for (size_t i = 0; i < rt->opts.n_module_dirs; i++)
        free(rt->dirs[i]);
    free(rt->dirs);
    map_fini(&rt->revisions);
    map_fini(&rt->sandboxes);
    free(rt);
    done(arg);
}

void wasm_free_if_closed(struct wasm_rt *rt)
{
    if (rt->is_closing && !rt->templates && rt->n_gets == 0 && rt->n_invocations == 0)
        rt_free(rt);
}

static void on_templates_closed(void *arg)
{
    struct wasm_rt *rt = arg;
    rt->templates = NULL;
    wasm_free_if_closed(rt);
}

static void free_all_revisions(struct wasm_rt *rt)
{
    struct map_entry *e;
    while ((e = map_next(&rt->sandboxes, NULL)))
        sandbox_free(e->value);
    while ((e = map_next(&rt->revisions, NULL))) {
        struct wasm_revision *rev = e->value;
        if (rev->r)
            rev->r->data = NULL;
        revision_free(rev);
    }
}

static void wasm_close(struct runtime *t, void (*done)(void *arg), void *arg)
{
    struct wasm_rt *rt = wasm_of(t);
    rt->is_closing = true;
    rt->done = done;
    rt->done_arg = arg;
    map_each (e, &rt->revisions)
        guest_program_stop(&((struct wasm_revision *)e->value)->program);
    map_each (e, &rt->sandboxes)
        wasm_end_sandbox(e->value, -ECANCELED, "SandboxRemoved");
    free_all_revisions(rt);
    wasm_files_fini(rt);
    guest_templates_close(rt->templates, on_templates_closed, rt);
}

static const struct runtime_ops runtime_ops = { .name = "wasm",
                                                .prepare = wasm_prepare,
                                                .forget = wasm_forget,
                                                .create = wasm_create,
                                                .destroy = wasm_destroy,
                                                .recover = wasm_recover,
                                                .close = wasm_close };

int wasm_runtime_new(const struct wasm_runtime_opts *opts, struct runtime **ret, struct err *err)
{
    const char *path = pool_runner_path(opts->runners);
    if (access(path, X_OK) < 0)
        return err_sys(err, -errno, "runner '%s'", path);
    struct wasm_rt *rt = xnew(struct wasm_rt);
    rt->runtime.ops = &runtime_ops;
    rt->runtime.invoker = &rt->invoker;
    rt->invoker.start = wasm_invoke_start;
    rt->opts = *opts;
    if (!rt->opts.compiling_ms)
        rt->opts.compiling_ms = WASM_COMPILING_MS;
    rt->dirs = xnew_n(char *, opts->n_module_dirs + 1);
    for (size_t i = 0; i < opts->n_module_dirs; i++) {
        char *real = realpath(opts->module_dirs[i], NULL);
        if (!real)
            log_warn("no directory of modules", "dir=\"%s\"", opts->module_dirs[i]);
        rt->dirs[i] = real ? real : xstrdup(opts->module_dirs[i]);
    }
    list_init(&rt->resting);
    list_init(&rt->files_in_order);
    list_init(&rt->spare);
    const struct guest_templates_opts templates = { .loop = opts->loop,
                                                    .runners = opts->runners,
                                                    .max_runners = opts->max_runners,
                                                    .templates_max = opts->templates_max };
    rt->templates = guest_templates_new(&templates, &wasm_template_ops);
    *ret = &rt->runtime;
    return 0;
}

void wasm_runtime_get_stats(const struct runtime *t, struct wasm_runtime_stats *ret)
{
    const struct wasm_rt *rt = container_of(t, struct wasm_rt, runtime);
    struct guest_templates_stats all;
    guest_templates_get_stats(rt->templates, &all);
    *ret = (struct wasm_runtime_stats){ .runners = all.pool.runners,
                                        .runner_starts = all.pool.starts,
                                        .runner_losses = all.pool.losses,
                                        .revisions = rt->n_revisions,
                                        .sandboxes = (unsigned)rt->sandboxes.n,
                                        .running = all.running,
                                        .waiting = all.waiting,
                                        .requests = rt->requests,
                                        .traps = rt->traps,
                                        .cpu_us = all.cpu_us };
}

size_t wasm_runtime_pids(const struct runtime *t, int *ret, size_t max)
{
    return guest_templates_pids(container_of(t, struct wasm_rt, runtime)->templates, ret, max);
}
