/* SPDX-License-Identifier: Apache-2.0 */
#include "image/run_config.h"

#include "codec/json.h"
#include "image/runtime_config.h"
#include "oci/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Appends to an array that is open; *n counts its members. */
static void add_words(struct oci_strings words, size_t *n, struct buf *to)
{
    for (size_t i = 0; i < words.n; i++) {
        if ((*n)++)
            (void)buf_add_char(to, ',');
        (void)json_write_str(to, words.p[i]);
    }
}

static int add_user(struct str user, int root_fd, struct buf *to, struct err *err)
{
    struct runtime_config_user found;
    int r = runtime_config_find_user(root_fd, user, &found, err);
    if (r < 0)
        return r;
    (void)buf_printf(to, "\"user\":{\"uid\":%u,\"gid\":%u,\"additionalGids\":[", found.uid,
                     found.gid);
    for (size_t i = 0; i < found.n_groups; i++)
        (void)buf_printf(to, "%s%u", i ? "," : "", found.groups[i]);
    (void)buf_add_cstr(to, "]}");
    return 0;
}

static void add_env(struct oci_strings env, struct buf *to)
{
    size_t n = 0;
    bool has_path = false;
    (void)buf_add_cstr(to, ",\"env\":[");
    add_words(env, &n, to);
    for (size_t i = 0; i < env.n; i++)
        has_path |= str_has_prefix(env.p[i], STR("PATH="));
    if (!has_path)
        (void)buf_printf(to,
                         "%s\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"",
                         n ? "," : "");
    (void)buf_add_char(to, ']');
}

static int add_process(const struct oci_run *run, int root_fd, struct buf *to, struct err *err)
{
    size_t n = 0;
    (void)buf_add_cstr(to, "{\"process\":{");
    int r = add_user(run->user, root_fd, to, err);
    if (r < 0)
        return r;
    (void)buf_add_cstr(to, ",\"args\":[");
    add_words(run->entrypoint, &n, to);
    add_words(run->command, &n, to);
    (void)buf_add_char(to, ']');
    add_env(run->env, to);
    (void)buf_add_cstr(to, ",\"cwd\":");
    (void)json_write_str(to, run->cwd.n ? run->cwd : STR("/"));
    (void)buf_add_char(to, '}');
    return 0;
}

/* Where links of the image lead to nothing outside of it. -1: there is none. */
static int open_dir_below(int root_fd, const char *path)
{
    const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                  .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
}

/* What an image keeps in a volume stays visible: nothing is mounted over it. */
static bool is_empty_below(int root_fd, const char *path)
{
    int fd = open_dir_below(root_fd, path);
    if (fd < 0)
        return errno == ENOENT;
    DIR *d = fdopendir(fd);
    if (!d) {
        (void)close(fd);
        return false;
    }
    size_t n = 0;
    while (n <= 2 && readdir(d)) /* "." and ".." */
        n++;
    (void)closedir(d);
    return n <= 2;
}

static void add_volumes(const struct json *volumes, int root_fd, struct buf *to)
{
    size_t n = 0;
    (void)buf_add_cstr(to, ",\"mounts\":[");
    json_each (volume, volumes) {
        scoped(free_scoped) char *path = str_dup(volume->key);
        if (volume->key.n < 2 || volume->key.p[0] != '/' || n == RUN_CONFIG_VOLUMES_MAX ||
            str_find(volume->key, STR("..")) >= 0 || !is_empty_below(root_fd, path))
            continue;
        (void)buf_printf(to, "%s{\"type\":\"tmpfs\",\"destination\":", n++ ? "," : "");
        (void)json_write_str(to, volume->key);
        (void)buf_add_char(to, '}');
    }
    (void)buf_add_char(to, ']');
}

int run_config_make(struct str text, int root_fd, struct buf *to, size_t *ret_n_program,
                    struct err *err)
{
    struct arena a = { 0 };
    struct json *document;
    struct oci_config config;
    int r = oci_config_parse(&a, text, &config, err);
    r = r < 0 ? r : add_process(&config.run, root_fd, to, err);
    if (r >= 0 && json_parse(&a, text, NULL, &document, NULL) >= 0)
        add_volumes(json_getc(json_getc(document, "config"), "Volumes"), root_fd, to);
    (void)buf_add_char(to, '}');
    if (r >= 0 && !buf_ok(to))
        r = err_set(err, E_LIMIT, "what it says about running it is too long");
    if (r >= 0)
        *ret_n_program = config.run.entrypoint.n;
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "configuration of the image") : 0;
}
