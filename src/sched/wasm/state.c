/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances made from the state of another one: memory and mutable globals. The memory is in a
 * memfd, of which each instance maps a private copy, so that pages that are never written exist
 * once.
 */
#include "sched/wasm/internal.h"

#include "base/sys.h"
#include "wasm/engine_config.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static bool is_zero(const uint8_t *page)
{
    uint64_t word;
    memcpy(&word, page, sizeof word);
    return word == 0 && memcmp(page, page + sizeof word, PAGE - sizeof word) == 0;
}

/* Pages of zeros stay holes. */
static int save_memory(struct wstate *image, struct winstance *in)
{
    const uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    int r = 0;
    /* Zeros in place of the module's data have to be mapped, too. */
    if (in->plugin->module->info->image_hi)
        image->fd = r = sys_memfd("dormouse-plugin");
    for (uint64_t at = 0, end; at < image->bytes && r >= 0; at = end) {
        for (end = at; end < image->bytes && !is_zero(memory + end);)
            end += PAGE;
        if (end == at) {
            end += PAGE;
            continue;
        }
        if (image->fd < 0)
            image->fd = sys_memfd("dormouse-plugin");
        r = image->fd < 0 ? image->fd : sys_pwrite_all(image->fd, memory + at, end - at, at);
    }
    return r >= 0 && image->fd >= 0 ? sys_ftruncate(image->fd, image->bytes) : r;
}

struct wstate *wstate_new(struct winstance *in)
{
    const struct module_info *info = in->plugin->module->info;
    if (!info->is_dissolvable)
        return NULL;
    struct wstate *image = xalloc(sizeof *image + info->globals.n * sizeof image->globals[0]);
    image->fd = -1;
    image->n_globals = info->globals.n;
    image->bytes = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory);
    image->clock_ms = in->clock_ms;
    image->rng = in->rng;
    int r = MIN(save_memory(image, in), 0);
    for (size_t i = 0; i < image->n_globals && r == 0; i++) {
        wasmtime_global_t global;
        if (engine_global(in->wasi.cx, &in->handle, i, &global))
            wasmtime_global_get(in->wasi.cx, &global, &image->globals[i]);
        else
            r = E_UNSUPPORTED;
    }
    if (r == 0)
        return image;
    wstate_free(image);
    return NULL;
}

void wstate_free(struct wstate *image)
{
    if (!image)
        return;
    if (image->fd >= 0)
        (void)close(image->fd);
    free(image);
}

int wstate_apply(const struct wstate *image, struct winstance *in, struct err *err)
{
    uint64_t now = wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory), before;
    void *at;
    wasmtime_error_t *e = NULL;
    if (image->bytes > now)
        e = wasmtime_memory_grow(in->wasi.cx, &in->wasi.memory,
                                 (image->bytes - now) / MODULE_PAGE_BYTES, &before);
    if (e)
        return engine_err(err, E_LIMIT, e, "grow the memory");
    uint8_t *memory = wasmtime_memory_data(in->wasi.cx, &in->wasi.memory);
    /* Without a file the memory is all zeros, and the module has no data. */
    int r = image->fd < 0 ? 0
                          : sys_mmap(memory, image->bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, image->fd, 0, &at);
    if (r < 0)
        return err_sys(err, r, "map a memory");
    for (size_t i = 0; i < image->n_globals; i++) {
        wasmtime_global_t global;
        if (!engine_global(in->wasi.cx, &in->handle, i, &global))
            return err_set(err, E_UNSUPPORTED, "global %zu is not exported", i);
        e = wasmtime_global_set(in->wasi.cx, &global, &image->globals[i]);
        if (e)
            return engine_err(err, E_UNSUPPORTED, e, "restore a global");
    }
    in->clock_ms = image->clock_ms;
    in->rng = image->rng;
    return 0;
}
