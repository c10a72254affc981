/* SPDX-License-Identifier: Apache-2.0 */
/* Quick code; see quick.h. */
#include "compile/quick.h"

#include "base/mem.h"
#include "base/sys.h"
#include "wasm/engine_config.h"

#include <dm_engine.h>

#include <elf.h>
#include <errno.h>
#include <string.h>

/* The section with the values that the engine compares on loading: version, settings, features. */
#define LABEL_SECTION ".wasmtime.engine"
/* The two labels differ in a flag (the calling convention) and a number of flags (tail calls). A
 * larger difference is unknown and refused. */
#define LABEL_DIFFERENCE_MAX 6u

struct quick {
    wasm_engine_t *baseline; /* NULL: not available on this architecture */
    wasm_engine_t *sketch;
    char *label; /* of code made by `sketch` */
    size_t label_n;
};

/* ---- the label ---- */

static const Elf64_Shdr *section_at(struct str code, const Elf64_Ehdr *h, size_t i)
{
    uint64_t at = h->e_shoff + i * sizeof(Elf64_Shdr);
    if (h->e_shoff > code.n || i >= h->e_shnum || at + sizeof(Elf64_Shdr) > code.n)
        return NULL;
    return (const Elf64_Shdr *)(code.p + at);
}

static struct str contents(struct str code, const Elf64_Shdr *s)
{
    if (!s || s->sh_offset > code.n || s->sh_size > code.n - s->sh_offset)
        return STR("");
    return str_slice(code, s->sh_offset, s->sh_offset + s->sh_size);
}

/* The input is the engine's own output, so these checks are not a defence. Empty: no label. */
static struct str find_label(struct str code)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)code.p;
    if (code.n < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e_ident[EI_CLASS] != ELFCLASS64)
        return STR("");
    struct str names = contents(code, section_at(code, h, h->e_shstrndx));
    for (size_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = section_at(code, h, i);
        if (!s || s->sh_name >= names.n)
            continue;
        struct str name = str_slice(names, s->sh_name, names.n);
        if (name.n >= sizeof LABEL_SECTION &&
            memcmp(name.p, LABEL_SECTION, sizeof LABEL_SECTION) == 0)
            return contents(code, s);
    }
    return STR("");
}

static bool is_as_expected(const struct quick *q, struct str label)
{
    size_t n = 0;
    if (label.n == 0 || label.n != q->label_n)
        return false;
    for (size_t i = 0; i < label.n; i++)
        n += label.p[i] != q->label[i];
    return n <= LABEL_DIFFERENCE_MAX;
}

/* ---- compiling ---- */

struct quick_sink {
    const struct quick *q; /* NULL: written unchanged */
    int fd;
    int status;
    struct err *err;
};

static int write_piece(const struct quick_sink *sink, const void *p, size_t n)
{
    int r = sys_write_all(sink->fd, p, n);
    int code = r == -ENOSPC || r == -EDQUOT ? -ENOSPC : -EIO;
    return r < 0 ? err_set(sink->err, code, "write the result: %s", err_strerror(r)) : 0;
}

static void on_code(void *env, const uint8_t *bytes, size_t n)
{
    struct quick_sink *sink = env;
    sink->status = write_piece(sink, bytes, n);
}

static void on_baseline_code(void *env, const uint8_t *bytes, size_t n)
{
    struct quick_sink *sink = env;
    struct str code = str_n(bytes, n), label = find_label(code);
    if (!is_as_expected(sink->q, label)) {
        sink->status = E_UNSUPPORTED;
        return;
    }
    size_t at = (size_t)(label.p - code.p), end = at + label.n;
    sink->status = write_piece(sink, code.p, at);
    if (sink->status == 0)
        sink->status = write_piece(sink, sink->q->label, label.n);
    if (sink->status == 0)
        sink->status = write_piece(sink, code.p + end, code.n - end);
}

int quick_compile(const struct quick *q, struct str wasm, int fd, struct err *err)
{
    const uint8_t *p = (const uint8_t *)wasm.p;
    struct quick_sink sink = { .q = q, .fd = fd, .err = err };
    wasmtime_error_t *e =
        q->baseline ? dm_engine_precompile(q->baseline, p, wasm.n, on_baseline_code, &sink) : NULL;
    if (q->baseline && !e && sink.status != E_UNSUPPORTED)
        return sink.status;
    if (e)
        wasmtime_error_delete(e); /* the other compiler decides */
    sink.status = 0;
    e = dm_engine_precompile(q->sketch, p, wasm.n, on_code, &sink);
    return e ? engine_err(err, E_INVALID, e, "compile") : sink.status;
}

/* ---- making ---- */

static void on_label(void *env, const uint8_t *bytes, size_t n)
{
    struct quick *q = env;
    struct str label = find_label(str_n(bytes, n));
    q->label = str_dup(label);
    q->label_n = label.n;
}

int quick_new(bool threads, struct quick **ret, struct err *err)
{
    static const uint8_t empty[] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };
    struct quick *q = xnew(struct quick);
    *ret = q;
    int r = engine_new_compiler(ENGINE_SKETCH, threads, &q->sketch, err);
    if (r < 0)
        return r;
#if defined(__x86_64__)
    wasmtime_error_t *e = dm_engine_precompile(q->sketch, empty, sizeof empty, on_label, q);
    if (e)
        return engine_err(err, E_INVALID, e, "start the compiler");
    return engine_new_compiler(ENGINE_BASELINE, threads, &q->baseline, err);
#else
    return 0; /* Winch is complete on x86-64 only */
#endif
}

struct wasm_engine_t *quick_engine(const struct quick *q)
{
    return q->baseline ? q->baseline : q->sketch;
}
