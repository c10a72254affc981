/* SPDX-License-Identifier: Apache-2.0 */
#include "node/images_known.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/stat.h>

struct images_stamp images_stamp_now(const char *store)
{
    scoped(free_scoped) char *names = xasprintf("%s/refs", store);
    struct stat st;
    if (stat(names, &st) < 0)
        return (struct images_stamp){ 0 };
    return (struct images_stamp){ .ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
                                        (uint64_t)st.st_mtim.tv_nsec,
                                  .inode = st.st_ino };
}

static bool is_same(struct images_stamp a, struct images_stamp b)
{
    return a.inode && a.inode == b.inode && a.ns == b.ns;
}

static void forget(struct images_known *k)
{
    map_each (e, &k->dirs)
        free(e->value);
    map_fini(&k->dirs);
}

void images_known_add(struct images_known *k, const char *store, struct images_stamp asked,
                      struct str text, const char *dir)
{
    struct images_stamp now = images_stamp_now(store);
    if (!is_same(asked, now))
        return; /* another image may have the name already */
    if (!is_same(k->at, now) || k->dirs.n >= IMAGES_KNOWN_MAX)
        forget(k);
    k->at = now;
    free(map_put(&k->dirs, text, xstrdup(dir)));
}

const char *images_known_find(struct images_known *k, const char *store, struct str text)
{
    if (k->dirs.n == 0)
        return NULL;
    if (!is_same(k->at, images_stamp_now(store)))
        forget(k);
    return map_get(&k->dirs, text);
}

void images_known_fini(struct images_known *k)
{
    forget(k);
}
