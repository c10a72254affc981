/* SPDX-License-Identifier: Apache-2.0 */
/* Swap files of guests; see swap.h. */
#include "wasm/swap.h"

#include "base/mem.h"
#include "base/sys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SUFFIX ".swap"

static void remove_old(int dir_fd)
{
    int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        fd_scoped(&fd);
        return;
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (str_has_suffix(str_of(e->d_name), STR(SUFFIX)))
            (void)unlinkat(dir_fd, e->d_name, 0);
    (void)closedir(dir);
}

int swap_init(struct swap *s, const char *dir, struct err *err)
{
    int r = sys_mkdir_all(dir, 0700, err);
    if (r < 0)
        return r;
    int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", dir);
    remove_old(fd);
    s->dir_fd = fd;
    return 0;
}

void swap_fini(struct swap *s)
{
    fd_scoped(&s->dir_fd);
    s->dir_fd = -1;
}

void swap_name(char out[SWAP_NAME_MAX], const char *uid, uint64_t generation,
               const char *module_hash, uint64_t serial)
{
    int n = snprintf(out, SWAP_NAME_MAX, "%.150s-%llu-%.16s-%llu" SUFFIX, uid,
                     (unsigned long long)generation, module_hash, (unsigned long long)serial);
    for (int i = 0; i < n && out[i]; i++)
        if (!isalnum((unsigned char)out[i]) && out[i] != '-' && (out[i] != '.' || i == 0))
            out[i] = '_';
}

int swap_create(struct swap *s, const char *name, uint64_t size_bytes, struct err *err)
{
    (void)unlinkat(s->dir_fd, name, 0);
    scoped(fd_scoped) int fd = sys_openat(s->dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return err_sys(err, fd, "create swap file '%s'", name);
    int r = sys_ftruncate(fd, size_bytes);
    if (r < 0) {
        (void)unlinkat(s->dir_fd, name, 0);
        return err_sys(err, r, "set the size of swap file '%s'", name);
    }
    return take_fd(&fd);
}

int swap_open(struct swap *s, const char *name, struct err *err)
{
    int fd = sys_openat(s->dir_fd, name, O_RDWR, 0);
    return fd < 0 ? err_sys(err, fd, "open swap file '%s'", name) : fd;
}

void swap_remove(struct swap *s, const char *name)
{
    (void)unlinkat(s->dir_fd, name, 0);
}
