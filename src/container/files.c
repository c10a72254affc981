/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a container, below RUN. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/container_impl.h"
#include "container/spec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const struct container *c, const char *name, struct str bytes, mode_t mode,
                      struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", c->dir, name);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, mode);
    int r = fd < 0 ? fd : sys_write_all(fd, bytes.p, bytes.n);
    if (r == 0 && fchown(fd, c->uid, c->gid) < 0)
        r = -errno;
    return r < 0 ? err_sys(err, r, "write '%s'", path) : 0;
}

static int write_files(const struct container *c, const struct str *files, size_t n,
                       struct err *err)
{
    scoped(free_scoped) char *dir = xasprintf("%s/files", c->dir);
    int r = n ? sys_mkdirat(AT_FDCWD, dir, 0700) : 0;
    if (r < 0)
        return err_sys(err, r, "make '%s'", dir);
    for (size_t i = 0; i < n && r >= 0; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "files/%zu", i);
        r = write_file(c, name, files[i], 0400, err);
    }
    return r;
}

int container_files_make(struct container *c, const struct container_opts *o, struct err *err)
{
    int r = sys_mkdirat(AT_FDCWD, c->dir, 0700);
    if (r < 0)
        return err_sys(err, r, "make '%s'", c->dir);
    r = write_files(c, o->files, o->n_files, err);
    if (r >= 0 && o->pod)
        r = write_file(c, "pod", str_of(o->pod), 0600, err);
    if (r < 0)
        container_files_remove(c);
    return r;
}

char *container_files_pod(const struct container_host *h, const char *name)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONTAINER_POD_NAME_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/%s/pod", h->run, name);
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0 || !container_host_is_group(buf_str(&text)))
        return NULL;
    return xstrdup(buf_cstr(&text));
}

/* The namespace's descriptor is ours; crun opens it by our process. */
int container_files_write_config(struct container *c, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONTAINER_CONFIG_MAX);
    scoped(free_scoped) char *files = xasprintf("%s/files", c->dir);
    scoped(free_scoped) char *network =
        c->own_network ? xstrdup(c->own_network)
                       : xasprintf("/proc/%d/fd/%d", (int)getpid(), c->network->ns_fd);
    const char *const with[CONTAINER_HOLES] = { [CONTAINER_HOLE_GROUP] = c->group,
                                                [CONTAINER_HOLE_NETWORK] = network,
                                                [CONTAINER_HOLE_FILES] = files };
    container_spec_fill(str_n(c->config, c->config_n), with, &text);
    if (!buf_ok(&text))
        return err_set(err, E_LIMIT, "config.json of container '%s' is too large", c->name);
    return write_file(c, "config.json", buf_str(&text), 0600, err);
}

/* All files there; none of these directories has subdirectories. */
static void empty(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        (void)closedir(dir);
}

void container_files_remove(const struct container *c)
{
    scoped(free_scoped) char *files = xasprintf("%s/files", c->dir);
    empty(files);
    (void)rmdir(files);
    empty(c->dir);
    (void)rmdir(c->dir);
}

int container_files_pipe(const struct container *c, const char *name, int *ret_read, int *ret_write,
                         struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", c->dir, name);
    scoped(fd_scoped) int in = -1;
    if (ret_write && mkfifo(path, 0600) < 0)
        return err_sys(err, -errno, "make '%s'", path);
    if (ret_write && chown(path, c->uid, c->gid) < 0) /* programs reopen /dev/stderr */
        return err_sys(err, -errno, "give '%s' to the user of the container", path);
    in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (in < 0)
        return err_sys(err, -errno, "open '%s'", path);
    if (ret_write) {
        int out = open(path, O_RDWR | O_CLOEXEC);
        if (out < 0)
            return err_sys(err, -errno, "open '%s'", path);
        *ret_write = out;
    }
    *ret_read = take_fd(&in);
    return 0;
}

int container_files_input(const struct container *c, bool is_new, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/in", c->dir);
    if (is_new && mkfifo(path, 0600) < 0)
        return err_sys(err, -errno, "make '%s'", path);
    if (is_new && chown(path, c->uid, c->gid) < 0)
        return err_sys(err, -errno, "give '%s' to the user of the container", path);
    scoped(fd_scoped) int both = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int fd = both < 0 ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? err_sys(err, -errno, "open '%s'", path) : fd;
}

int container_files_read_pid(const char *path)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64);
    uint64_t pid;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0 ||
        parse_u64(str_trim(buf_str(&text)), 2, INT_MAX, &pid) < 0)
        return -ESRCH;
    return (int)pid;
}
