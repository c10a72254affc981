/* SPDX-License-Identifier: Apache-2.0 */
#include "image/run_config.h"

#include "codec/json.h"
#include "container/root.h"
#include "container/spec.h"
#include "oci/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct container_strings strings_of(struct oci_strings s)
{
    return (struct container_strings){ s.p, s.n };
}

static int add_process(const struct oci_run *run, int root_fd, struct buf *to, struct err *err)
{
    struct container_user user;
    const struct container_strings args[] = { strings_of(run->entrypoint),
                                              strings_of(run->command) };
    const struct container_strings env = strings_of(run->env);
    const struct container_process process = { .user = &user,
                                               .args = args,
                                               .n_args = ARRAY_LEN(args),
                                               .env = &env,
                                               .n_env = 1,
                                               .cwd = run->cwd };
    int r = container_user_find(root_fd, run->user, &user, err);
    (void)buf_add_cstr(to, "{\"process\":{");
    r = r < 0 ? r : container_spec_write_program(&process, to, err);
    (void)buf_add_char(to, '}');
    return r;
}

/* The files of an image in a volume stay visible: nothing is mounted over them. */
static bool is_empty_below(int root_fd, const char *path)
{
    int fd = container_root_open(root_fd, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd == -ENOENT;
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
