/* SPDX-License-Identifier: Apache-2.0 */
/* The config.json of a function's container; see oci_config.h. */
#include "fn/worker/oci_config.h"

#include "base/vec.h"
#include "codec/json.h"
#include "container/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OOM_SCORE_ADJ = 500, OCI_CONFIG_DIRS_MAX = 1 << 20 };

struct oci_words {
    VEC(struct str) all;
};

static struct container_strings words_of(const struct oci_words *w)
{
    return (struct container_strings){ w->all.p, w->all.n };
}

/* ---------------------------------------------------------------- process */

static void add_args(struct oci_words *to, const struct json *process, const struct fn_template *t,
                     size_t n_program)
{
    for (size_t i = 0; i < t->n_command; i++)
        vec_push(&to->all, t->command[i]);
    json_each (arg, json_getc(process, "args")) {
        if (t->n_command || (t->n_args && to->all.n == n_program))
            break; /* the function's take the place of all but the program */
        vec_push(&to->all, json_str(arg));
    }
    for (size_t i = 0; i < t->n_args; i++)
        vec_push(&to->all, t->args[i]);
}

static struct str pair_of(struct arena *a, struct str name, struct str value)
{
    scoped(buf_fini_scoped) struct buf pair = BUF_INIT(FN_ENV_MAX_BYTES * 2);
    (void)buf_add_str(&pair, name);
    (void)buf_add_char(&pair, '=');
    (void)buf_add_str(&pair, value); /* a NUL in it is refused with the rest */
    return str_copy_arena(a, buf_str(&pair));
}

/* In order: the bundle's, the function's, the worker's; the last value of a name counts. */
static void add_env(struct arena *a, struct oci_words *to, const struct json *process,
                    const struct runtime_revision *r)
{
    char revision[FN_NAME_MAX + 16], port[8];
    (void)snprintf(revision, sizeof revision, "%s-%05u", r->function, r->revision);
    (void)snprintf(port, sizeof port, "%u", r->t->port);
    json_each (pair, json_getc(process, "env"))
        if (str_find_char(json_str(pair), '=') > 0) /* entries without a name are dropped */
            vec_push(&to->all, json_str(pair));
    for (size_t i = 0; i < r->n_env; i++)
        vec_push(&to->all, pair_of(a, r->env[i].name, r->env[i].value));
    vec_push(&to->all, pair_of(a, STR("PORT"), str_of(port)));
    vec_push(&to->all, pair_of(a, STR("K_SERVICE"), str_of(r->function)));
    vec_push(&to->all, pair_of(a, STR("K_REVISION"), str_of(revision)));
}

static uint64_t files_of(const struct json *process)
{
    json_each (limit, json_getc(process, "rlimits")) {
        int64_t n = json_int_or(json_getc(limit, "soft"), OCI_FILES_DEFAULT);
        if (str_is(json_get_str(limit, "type"), "RLIMIT_NOFILE") && n > 0)
            return (uint64_t)MIN(n, (int64_t)OCI_FILES_MAX);
    }
    return OCI_FILES_DEFAULT;
}

static int read_user(const struct json *user, struct container_user *ret, struct err *err)
{
    int64_t uid = json_int_or(json_getc(user, "uid"), 0),
            gid = json_int_or(json_getc(user, "gid"), 0);
    int64_t id;
    if (uid < 0 || uid > INT32_MAX || gid < 0 || gid > INT32_MAX)
        return err_set(err, E_INVALID, "process.user is invalid");
    *ret = (struct container_user){ .uid = (uint32_t)uid, .gid = (uint32_t)gid };
    json_each (group, json_getc(user, "additionalGids")) {
        if (json_int(group, &id) < 0 || id < 0 || id > INT32_MAX)
            return err_set(err, E_INVALID, "process.user.additionalGids is invalid");
        if (ret->n_groups == CONTAINER_USER_GROUPS_MAX)
            return err_set(err, E_INVALID, "process.user.additionalGids has more than %d groups",
                           CONTAINER_USER_GROUPS_MAX);
        ret->groups[ret->n_groups++] = (uint32_t)id;
    }
    return 0;
}

/* ---------------------------------------------------------------- files */

/* Given. */
static int find_root(const struct json *config, const char *bundle, char **ret, struct err *err)
{
    struct str path = json_get_str(json_getc(config, "root"), "path");
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(8192);
    if (!path.n)
        path = STR("rootfs");
    if (path.p[0] != '/')
        (void)buf_printf(&whole, "%s/", bundle);
    (void)buf_add_str(&whole, path);
    scoped(free_scoped) char *real = realpath(buf_cstr(&whole), NULL);
    size_t n = strlen(bundle);
    if (!real || strncmp(real, bundle, n) != 0 || (real[n] != '/' && real[n] != '\0'))
        return err_set(err, E_INVALID, "root.path '" STR_FMT "' is not a directory of the bundle",
                       STR_ARG(path));
    *ret = take_ptr(&real);
    return 0;
}

static bool is_standard(struct str path)
{
    static const char *const paths[] = { "/proc", "/dev", "/dev/shm", "/sys", "/tmp" };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (str_is(path, paths[i]))
            return true;
    return false;
}

struct oci_mounts {
    VEC(struct container_mount) all;
};

static void add_tmpfs(struct oci_mounts *to, struct str where)
{
    vec_push(&to->all, ((struct container_mount){ .kind = CONTAINER_MOUNT_TMPFS,
                                                  .where = where,
                                                  .mode = 01777,
                                                  .size_bytes = OCI_TMP_BYTES }));
}

/* A bundle may mount only memory; the cgroup counts it. */
static void add_bundle_mounts(struct oci_mounts *to, const struct json *mounts, struct buf *dirs)
{
    json_each (m, mounts) {
        struct str where = json_get_str(m, "destination");
        if (!str_is(json_get_str(m, "type"), "tmpfs") || !where.n || where.p[0] != '/' ||
            is_standard(where) || memchr(where.p, 0, where.n))
            continue;
        (void)buf_add_str(dirs, where);
        (void)buf_add_char(dirs, '\0');
        add_tmpfs(to, where);
    }
}

static void add_mounts(struct oci_mounts *to, const struct json *config,
                       const struct runtime_revision *r, struct buf *dirs)
{
    add_tmpfs(to, STR("/tmp"));
    add_bundle_mounts(to, json_getc(config, "mounts"), dirs);
    for (size_t i = 0; i < r->n_secrets; i++)
        vec_push(&to->all, ((struct container_mount){ .kind = CONTAINER_MOUNT_FILE,
                                                      .where = str_of(r->secrets[i]->path),
                                                      .file = i }));
}

/* ---------------------------------------------------------------- the whole */

void oci_config_made_fini(struct oci_config_made *m)
{
    free(m->root);
    buf_fini(&m->dirs);
}

static int make(struct arena *a, const struct json *config, const struct runtime_revision *r,
                const struct oci_config_opts *o, struct buf *to, struct oci_config_made *made,
                struct err *err)
{
    const struct json *process = json_getc(config, "process");
    struct oci_words args = { 0 }, env = { 0 };
    struct oci_mounts mounts = { 0 };
    struct container_user user;
    int code = read_user(json_getc(process, "user"), &user, err);
    code = code < 0 ? code : find_root(config, o->bundle, &made->root, err);
    if (code < 0)
        return code;
    made->uid = user.uid;
    made->gid = user.gid;
    add_args(&args, process, r->t, o->n_program);
    add_env(a, &env, process, r);
    add_mounts(&mounts, config, r, &made->dirs);
    const struct container_strings all_args = words_of(&args), all_env = words_of(&env);
    const struct container_spec spec = {
        .process = { .user = &user,
                     .args = &all_args,
                     .n_args = 1,
                     .env = &all_env,
                     .n_env = 1,
                     .cwd = json_get_str(process, "cwd"),
                     .n_files = files_of(process),
                     .oom_score_adj = OOM_SCORE_ADJ },
        .root = made->root,
        .host_name = o->host_name,
        .mounts = mounts.all.p,
        .n_mounts = mounts.all.n,
        .network = CONTAINER_SPEC_HOLE,
        .syscalls = CONTAINER_SYSCALLS_ALLOW_LIST,
        .machine = o->machine,
        .limits = { .memory_bytes = r->t->memory,
                    .pids = r->t->pids_max,
                    .cpu_milli = r->t->cpu_milli },
    };
    code = container_spec_write(&spec, to, err);
    vec_fini(&args.all);
    vec_fini(&env.all);
    vec_fini(&mounts.all);
    return code < 0 || buf_ok(&made->dirs) ? code : err_set(err, E_INVALID, "it is too large");
}

int oci_config_make(struct str text, const struct runtime_revision *r,
                    const struct oci_config_opts *o, struct buf *to, struct oci_config_made *ret,
                    struct err *err)
{
    struct arena a = { 0 };
    struct json *config;
    struct oci_config_made made = { .dirs = BUF_INIT(OCI_CONFIG_DIRS_MAX) };
    int code = json_parse(&a, text, NULL, &config, err);
    code = code < 0 ? code : make(&a, config, r, o, to, &made, err);
    arena_fini(&a);
    if (code < 0) {
        oci_config_made_fini(&made);
        return err_ctx(err, E_INVALID, "config.json of the bundle");
    }
    *ret = made;
    return 0;
}
