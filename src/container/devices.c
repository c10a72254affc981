/* SPDX-License-Identifier: Apache-2.0 */
#include "container/devices.h"

#include "base/mem.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct device_search {
    VEC(struct container_device) found;
};

static bool is_own(const char *name)
{
    static const char *const own[] = { "pts", "ptmx", "console", "shm", "mqueue", "fd" };
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

static void add(struct device_search *s, const char *path, const struct stat *st)
{
    if (s->found.n == CONTAINER_DEVICES_MAX)
        return;
    const struct container_device d = { .path = str_of(xstrdup(path)),
                                        .is_block = S_ISBLK(st->st_mode),
                                        .major = major(st->st_rdev),
                                        .minor = minor(st->st_rdev),
                                        .mode = st->st_mode & 0777,
                                        .uid = st->st_uid,
                                        .gid = st->st_gid };
    vec_push(&s->found, d);
}

static int search(struct device_search *s, const char *path, unsigned depth)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return -errno;
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
        add(s, path, &st);
    if (!S_ISDIR(st.st_mode) || depth == CONTAINER_DEVICES_DEPTH)
        return 0;
    DIR *dir = opendir(path);
    struct dirent *e;
    if (!dir)
        return -errno;
    while ((e = readdir(dir))) {
        scoped(free_scoped) char *inner = xasprintf("%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && !(depth == 0 && is_own(e->d_name)))
            (void)search(s, inner, depth + 1); /* it may be gone by now */
    }
    (void)closedir(dir);
    return 0;
}

int container_devices_find(const char *dir, struct container_devices *ret, struct err *err)
{
    struct device_search s = { 0 };
    int r = search(&s, dir, 0);
    if (r < 0)
        return err_sys(err, r, "look for devices in '%s'", dir);
    *ret = (struct container_devices){ s.found.p, s.found.n };
    return 0;
}

void container_devices_fini(struct container_devices *d)
{
    for (size_t i = 0; i < d->n; i++)
        free((void *)(uintptr_t)d->p[i].path.p);
    free(d->p);
    *d = (struct container_devices){ 0 };
}
