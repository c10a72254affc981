/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/fpath.h"

enum { FPATH_TEXT_MAX_BYTES = 64 << 10 };

void fpath_write(struct buf *to, const struct fpath *path)
{
    const struct fpath *chain[FPATH_MAX_DEPTH];
    size_t n = 0;
    for (; path && n < FPATH_MAX_DEPTH; path = path->up)
        chain[n++] = path;
    bool first = true;
    while (n > 0) {
        const struct fpath *p = chain[--n];
        switch (p->kind) {
        case FPATH_CHILD:
            if (!first)
                (void)buf_add_char(to, '.');
            (void)buf_add_str(to, p->name);
            break;
        case FPATH_INDEX:
            (void)buf_printf(to, "[%zu]", p->index);
            break;
        case FPATH_KEY:
            (void)buf_add_char(to, '[');
            (void)buf_add_str(to, p->name);
            (void)buf_add_char(to, ']');
            break;
        }
        first = false;
    }
}

struct str fpath_text(struct arena *a, const struct fpath *path)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(FPATH_TEXT_MAX_BYTES);
    fpath_write(&b, path);
    return str_copy_arena(a, buf_str(&b));
}
