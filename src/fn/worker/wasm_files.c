/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the module of each file, so that several functions of one file do not read it again;
 * see wasm_impl.h.
 *
 * A file is identified by inode, size and times. A file that was changed a moment ago may change
 * again and keep its times, so only a file that has not changed for REST_MS is remembered. A file
 * that is written to while it is read is remembered under a time that it no longer has.
 */
#include "fn/worker/wasm_impl.h"

#include "base/clock.h"

#include <sys/stat.h>

enum {
    FILES_MAX = 256, /* remembered; the one that was read first is forgotten */
    REST_MS = 2000   /* since its last change */
};

struct wasm_file {
    struct list node; /* on rt->files_in_order */
    struct wasm_file_id id;
    struct module *module; /* referenced */
};

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct str key_of(const struct wasm_file_id *id)
{
    return str_n(id, sizeof *id);
}

bool wasm_file_identify(int fd, struct wasm_file_id *ret)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    *ret = (struct wasm_file_id){ .dev = st.st_dev,
                                  .ino = st.st_ino,
                                  .size = (uint64_t)st.st_size,
                                  .mtime_ns = ns_of(st.st_mtim),
                                  .ctime_ns = ns_of(st.st_ctim) };
    return clock_wall_us() * 1000 - ret->ctime_ns >= (int64_t)REST_MS * 1000000;
}

struct module *wasm_files_find(const struct wasm_rt *rt, const struct wasm_file_id *id)
{
    const struct wasm_file *f = map_get(&rt->files, key_of(id));
    return f && !f->module->is_lost ? f->module : NULL;
}

static void forget(struct wasm_rt *rt, struct wasm_file *f)
{
    (void)map_del(&rt->files, key_of(&f->id));
    list_remove(&f->node);
    module_unref(f->module);
    free(f);
}

void wasm_files_add(struct wasm_rt *rt, const struct wasm_file_id *id, struct module *m)
{
    if (map_has(&rt->files, key_of(id)))
        return;
    if (rt->files.n >= FILES_MAX)
        forget(rt, list_first(&rt->files_in_order, struct wasm_file, node));
    struct wasm_file *f = xnew(struct wasm_file);
    f->id = *id;
    f->module = module_ref(m);
    list_push_back(&rt->files_in_order, &f->node);
    (void)map_put(&rt->files, key_of(id), f);
}

void wasm_files_fini(struct wasm_rt *rt)
{
    while (!list_is_empty(&rt->files_in_order))
        forget(rt, list_first(&rt->files_in_order, struct wasm_file, node));
    map_fini(&rt->files);
}
