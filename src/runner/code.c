/* SPDX-License-Identifier: Apache-2.0 */
/* Resident memory of compiled code; see code.h. */
#include "runner/code.h"

#include <assert.h>
#include <sys/mman.h>

static size_t image_of(const struct run_module *m, void **ret)
{
    void *end;
    wasmtime_module_image_range(m->module, ret, &end);
    return (size_t)((char *)end - (char *)*ret);
}

/* The engine loads no code that needs patching, so all pages are backed by the file. */
static void unmap(const struct run_module *m)
{
    void *start;
    size_t n = image_of(m, &start);
    (void)madvise(start, n, MADV_DONTNEED); /* on failure the pages stay */
}

static void leave(struct runner *r, struct run_module *m)
{
    assert(list_is_linked(&m->code_node) && r->code_bytes >= m->code_bytes);
    list_remove(&m->code_node);
    r->code_bytes -= m->code_bytes;
}

void code_loaded(struct run_module *m)
{
    void *start;
    m->code_bytes = image_of(m, &start);
    unmap(m);
}

void code_used(struct runner *r, struct run_module *m)
{
    if (list_is_linked(&m->code_node))
        leave(r, m);
    list_push_back(&r->code, &m->code_node);
    r->code_bytes += m->code_bytes;
    while (r->code_bytes > RUNNER_CODE_MAPPED_BYTES && r->code.next != &m->code_node) {
        struct run_module *oldest = list_first(&r->code, struct run_module, code_node);
        leave(r, oldest);
        unmap(oldest);
    }
}

void code_forget(struct runner *r, struct run_module *m)
{
    if (list_is_linked(&m->code_node))
        leave(r, m);
}
