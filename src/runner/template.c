/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of functions and the instances made from them; see template.h. */
#include "runner/template.h"

#include "runner/dirty.h"
#include "runner/globals.h"

#include "base/sys.h"
#include "wasm/engine_config.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = RUNNER_PAGE };

struct template
{
    unsigned refs; /* of its slot, and of each running instance */
    bool is_dropped;
    bool is_snapshot; /* otherwise each instance is initialised */
    struct run_module *module;
    char *setup;
    size_t setup_n;
    uint64_t bytes; /* of the memory */
    uint64_t clock_offset_ns;
    char globals[PROTO_GLOBALS_MAX];
    size_t n_globals;
    VEC(uint32_t) touched; /* pages that differ in a new instance, ascending */
    VEC(uint32_t) stored;  /* pages that are not zero, ascending */
    uint8_t *copies;       /* of the stored pages if they are few; else they are in a file: */
    int fd;                /* byte n of it is byte n of the memory; -1: there is none */
    const uint8_t *view;   /* of its first view_bytes; reading holes would allocate pages */
    uint64_t view_bytes;
    struct list kept; /* waiting instances, the last used first */
    unsigned n_kept;
};

/* ---- the snapshot ---- */

/* The bytes of a page; NULL: zeros. */
static const uint8_t *stored_page(const struct template *t, uint32_t page)
{
    size_t lo = 0, hi = t->stored.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (t->stored.p[mid] < page)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == t->stored.n || t->stored.p[lo] != page)
        return NULL;
    return t->copies ? t->copies + lo * PAGE : t->view + (uint64_t)page * PAGE;
}

static void put_page(const struct template *t, uint8_t *memory, uint64_t at)
{
    assert(at % PAGE == 0 && at < t->bytes);
    const uint8_t *from = stored_page(t, (uint32_t)(at / PAGE));
    if (from)
        memcpy(memory + at, from, PAGE);
    else
        memset(memory + at, 0, PAGE);
}

static bool is_zero(const uint8_t *page)
{
    uint64_t word;
    memcpy(&word, page, 8);
    return word == 0 && memcmp(page, page + 8, PAGE - 8) == 0;
}

/* Note a page; called in ascending order. */
static void note_page(struct template *t, const uint8_t *memory, uint64_t at)
{
    assert(t->stored.n == 0 || t->stored.p[t->stored.n - 1] < at / PAGE);
    if (!is_zero(memory + at))
        vec_push(&t->stored, (uint32_t)(at / PAGE));
}

/* Find the pages of the module's data and those that initialisation has written. */
static int find_pages(struct template *t, struct instance *in)
{
    const uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    uint64_t from, to, image = in->module->image_lo / PAGE * PAGE;
    uint64_t image_end = MIN(in->module->image_hi, t->bytes);
    struct dirty d;
    int more;
    dirty_init(&d, in, false);
    while ((more = dirty_next(&d, &from, &to)) > 0)
        for (; from < to; from += PAGE) {
            for (; image < image_end && image < from; image += PAGE)
                note_page(t, memory, image);
            image = image == from ? image + PAGE : image;
            vec_push(&t->touched, (uint32_t)(from / PAGE));
            note_page(t, memory, from);
        }
    for (; more == 0 && image < image_end; image += PAGE)
        note_page(t, memory, image);
    return more;
}

static int save_to_file(struct template *t, const uint8_t *memory)
{
    void *view;
    int r = t->fd = sys_memfd("dormouse-template");
    for (size_t i = 0; i < t->stored.n && r >= 0; i++) {
        uint64_t at = (uint64_t)t->stored.p[i] * PAGE;
        r = sys_pwrite_all(t->fd, memory + at, PAGE, at);
        t->view_bytes = at + PAGE;
    }
    if (r >= 0)
        r = sys_ftruncate(t->fd, t->bytes);
    if (r == 0)
        r = sys_mmap(NULL, t->view_bytes, PROT_READ, MAP_SHARED, t->fd, 0, &view);
    if (r == 0)
        t->view = view;
    return r;
}

static int snapshot(struct template *t, struct instance *in, struct err *err)
{
    const uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    t->bytes = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory);
    int r = find_pages(t, in);
    if (r == 0 && t->stored.n > TEMPLATE_COPY_PAGES) {
        r = save_to_file(t, memory);
    } else if (r == 0 && t->stored.n) {
        t->copies = xalloc_n(PAGE, t->stored.n);
        for (size_t i = 0; i < t->stored.n; i++)
            memcpy(t->copies + i * PAGE, memory + (uint64_t)t->stored.p[i] * PAGE, PAGE);
    }
    if (r < 0)
        return err_sys(err, r, "keep the memory after initialisation");
    t->clock_offset_ns = in->wasi.clock_offset_ns;
    r = globals_save(in, t->globals, &t->n_globals, err);
    if (r == 0)
        r = globals_find_all(in, err);
    t->is_snapshot = r == 0;
    return r;
}

static void template_unref(struct template *t)
{
    assert(t->refs > 0);
    if (--t->refs)
        return;
    assert(t->n_kept == 0 && list_is_empty(&t->kept));
    assert(t->module->n_instances > 0);
    if (t->view)
        (void)munmap((void *)t->view, t->view_bytes);
    if (t->fd >= 0)
        (void)close(t->fd);
    t->module->n_instances--;
    vec_fini(&t->touched);
    vec_fini(&t->stored);
    free(t->copies);
    free(t->setup);
    free(t);
}

/* ---- waiting instances ---- */

static void forget_kept(struct instance *in)
{
    struct runner *r = in->runner;
    assert(list_is_linked(&in->kept) && list_is_linked(&in->kept_all));
    assert(in->template->n_kept > 0 && r->n_kept > 0 && r->kept_pages >= in->kept_pages);
    list_remove(&in->kept);
    list_remove(&in->kept_all);
    in->template->n_kept--;
    r->n_kept--;
    r->kept_pages -= in->kept_pages;
}

static void end_kept(struct instance *in)
{
    forget_kept(in);
    in->runner->dissolved_bytes += 16 << 10;
    instance_free(in);
}

static void keep(struct template *t, struct instance *in)
{
    struct runner *r = in->runner;
    assert(in->template == t && t->is_snapshot && !in->is_parked);
    list_push_front(&t->kept, &in->kept);
    list_push_back(&r->kept, &in->kept_all);
    t->n_kept++;
    r->n_kept++;
    r->kept_pages += in->kept_pages;
    while (r->n_kept > RUNNER_KEPT_MAX || r->kept_pages > RUNNER_KEPT_PAGES)
        end_kept(list_first(&r->kept, struct instance, kept_all));
}

static int map_memory(const struct template *t, struct instance *in, struct err *err)
{
    void *at;
    int r =
        sys_mmap(wasmtime_memory_data(in->wasi.cx, &in->wasi.memory), t->bytes,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, t->fd, 0, &at);
    return r < 0 ? err_sys(err, r, "map the memory after initialisation") : 0;
}

/* Reset the memory page by page, or map all of it when many pages were written. */
static bool reset_memory(const struct template *t, struct instance *in)
{
    uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    struct dirty d;
    uint64_t from, to, pages = 0;
    int more;
    in->kept_pages = 0;
    dirty_init(&d, in, false);
    while ((more = dirty_next(&d, &from, &to)) > 0) {
        pages += (to - from) / PAGE;
        if (pages > TEMPLATE_RESET_PAGES)
            return t->fd >= 0 && map_memory(t, in, NULL) == 0;
        for (; from < to; from += PAGE)
            put_page(t, memory, from);
    }
    in->kept_pages = (uint32_t)pages;
    return more == 0;
}

/* Reset the instance to its state before the request; false: not possible. */
static bool reset(const struct template *t, struct instance *in)
{
    if (wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory) != t->bytes ||
        !reset_memory(t, in))
        return false;
    struct runner_instance_request *q = &in->request;
    free(q->kept_body);
    *q = (struct runner_instance_request){ 0 };
    in->result = STR_NULL;
    in->wasi.has_exited = false;
    in->wasi.exit_code = 0;
    in->failed[0] = 0;
    in->wasi.clock_offset_ns = t->clock_offset_ns;
    buf_reset(&in->lines[0]);
    buf_reset(&in->lines[1]);
    return globals_restore(in, str_n(t->globals, t->n_globals), NULL) == 0;
}

void template_give(struct instance *in, bool is_ok)
{
    struct template *t = in->template;
    struct runner *r = in->runner;
    assert(t && t->refs > 0 && in->phase == INSTANCE_IDLE);
    if (is_ok && t->is_snapshot && !t->is_dropped && t->n_kept < TEMPLATE_KEPT_MAX &&
        reset(t, in)) {
        keep(t, in);
    } else {
        r->dissolved_bytes += 16 << 10;
        instance_free(in);
    }
    template_unref(t);
}

/* ---- making ---- */

/* Give a new instance the state after initialisation. */
static int restore(const struct template *t, struct instance *in, struct err *err)
{
    uint64_t now = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory), before;
    int r = 0;
    if (t->bytes > now) {
        wasmtime_error_t *e = wasmtime_memory_grow(in->wasi.cx, &in->wasi.memory,
                                                   (t->bytes - now) / MODULE_PAGE_BYTES, &before);
        if (e)
            return engine_err(err, -ENOMEM, e, "grow the memory");
    }
    uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    if (t->touched.n > TEMPLATE_COPY_PAGES && t->fd >= 0)
        r = map_memory(t, in, err);
    else
        for (size_t i = 0; i < t->touched.n; i++)
            put_page(t, memory, (uint64_t)t->touched.p[i] * PAGE);
    in->wasi.clock_offset_ns = t->clock_offset_ns;
    if (r == 0)
        r = globals_find_all(in, err);
    return r < 0 ? r : globals_restore(in, str_n(t->globals, t->n_globals), err);
}

/* `in` is in the slot while its initialisation runs, because the guest may be parked then. */
static int initialise(struct runner_worker *w, struct instance *in, struct err *err)
{
    w->runner->slots.p[w->run.slot] = in;
    in->worker = w;
    int r = instance_init(in, err);
    instance_flush_lines(in);
    assert(w->runner->slots.p[w->run.slot] == in);
    w->runner->slots.p[w->run.slot] = NULL;
    return r;
}

int template_take(struct runner_worker *w, struct template *t, struct err *err)
{
    struct runner *r = w->runner;
    scoped(instance_free_scoped) struct instance *in = NULL;
    int status = 0;
    t->refs++;
    if (!list_is_empty(&t->kept)) {
        in = list_first(&t->kept, struct instance, kept);
        forget_kept(in);
    } else {
        struct proto_run *run = &w->run;
        const struct str setup = run->setup;
        run->setup = str_n(t->setup, t->setup_n);
        status = instance_new(r, run, &in, err);
        run->setup = setup;
        if (status == 0 && t->is_snapshot)
            status = restore(t, in, err);
        else if (status == 0)
            status = initialise(w, in, err);
    }
    if (status < 0) {
        template_unref(t);
        return status;
    }
    assert(!r->slots.p[w->run.slot] && in->phase == INSTANCE_IDLE);
    in->template = t;
    in->guest = w->run.guest;
    in->incarnation = w->run.incarnation;
    r->slots.p[w->run.slot] = take_ptr(&in);
    return 0;
}

int template_new(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    const struct proto_run *run = &w->run;
    scoped(instance_free_scoped) struct instance *in = NULL;
    int status = instance_new(r, run, &in, err);
    if (status == 0)
        status = initialise(w, in, err);
    if (status < 0)
        return status;
    struct template *t = xnew(struct template);
    t->refs = 1;
    t->fd = -1;
    t->module = in->module;
    t->module->n_instances++;
    t->setup = xstrndup(run->setup.p, run->setup.n);
    t->setup_n = run->setup.n;
    list_init(&t->kept);
    if (in->module->is_dissolvable)
        status = snapshot(t, in, err);
    if (status < 0) {
        template_unref(t);
        return status;
    }
    while (r->templates.n <= run->slot)
        vec_push(&r->templates, NULL);
    r->templates.p[run->slot] = t;
    if (!t->is_snapshot)
        return 0;
    /* The instance can serve the first request; it only owns pages that it does not need. */
    if (t->touched.n > TEMPLATE_COPY_PAGES && t->fd >= 0 && map_memory(t, in, NULL) < 0)
        return 0;
    in->template = t;
    keep(t, take_ptr(&in));
    return 0;
}

void template_drop(struct runner *r, uint32_t slot)
{
    struct template *t = slot < r->templates.n ? r->templates.p[slot] : NULL;
    if (!t)
        return;
    r->templates.p[slot] = NULL;
    t->is_dropped = true;
    while (!list_is_empty(&t->kept))
        end_kept(list_first(&t->kept, struct instance, kept));
    template_unref(t);
}
