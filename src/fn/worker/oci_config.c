/* SPDX-License-Identifier: Apache-2.0 */
/* The config.json of a function's container; see oci_config.h. */
#include "fn/worker/oci_config.h"

#include "codec/json.h"
#include "container/seccomp.h"

#include <string.h>

enum { ERRNO_PERM = 1, ERRNO_NOSYS = 38, CPU_PERIOD_US = 100000, OCI_CONFIG_DIRS_MAX = 1 << 20 };

/* ---------------------------------------------------------------- process */

static void add_word(struct buf *to, size_t *n, struct str word)
{
    if ((*n)++)
        (void)buf_add_char(to, ',');
    (void)json_write_str(to, word);
}

/* How many words there are. */
static size_t add_args(struct buf *to, const struct json *process, const struct fn_template *t,
                       size_t n_program)
{
    size_t n = 0;
    (void)buf_add_cstr(to, "\"args\":[");
    for (size_t i = 0; i < t->n_command; i++)
        add_word(to, &n, t->command[i]);
    json_each (arg, json_getc(process, "args")) {
        if (t->n_command || (t->n_args && n == n_program))
            break; /* the function's take the place of all but the program */
        add_word(to, &n, json_str(arg));
    }
    for (size_t i = 0; i < t->n_args; i++)
        add_word(to, &n, t->args[i]);
    (void)buf_add_char(to, ']');
    return n;
}

static bool is_ours(struct str pair, const struct runtime_revision *r)
{
    struct str name, value;
    (void)str_cut(pair, '=', &name, &value);
    for (size_t i = 0; i < r->n_env; i++)
        if (str_eq(r->env[i].name, name))
            return true;
    return str_is(name, "PORT") || str_is(name, "K_SERVICE") || str_is(name, "K_REVISION");
}

static void add_pair(struct buf *to, struct str name, struct str value)
{
    scoped(buf_fini_scoped) struct buf pair = BUF_INIT(FN_ENV_MAX_BYTES * 2);
    (void)buf_add_str(&pair, name);
    (void)buf_add_char(&pair, '=');
    (void)buf_add_str(&pair, value);
    (void)buf_add_char(to, ',');
    (void)json_write_str(to, buf_str(&pair));
}

/* The bundle's, then the function's, then ours; the later wins. */
static void add_env(struct buf *to, const struct json *process, const struct runtime_revision *r)
{
    char revision[FN_NAME_MAX + 16];
    (void)snprintf(revision, sizeof revision, "%s-%05u", r->function, r->revision);
    (void)buf_printf(to, "\"env\":[\"PORT=%u\"", r->t->port);
    json_each (pair, json_getc(process, "env")) {
        if (!json_is(pair, JSON_STRING) || is_ours(json_str(pair), r))
            continue;
        (void)buf_add_char(to, ',');
        (void)json_write_str(to, json_str(pair));
    }
    for (size_t i = 0; i < r->n_env; i++)
        if (!str_is(r->env[i].name, "PORT"))
            add_pair(to, r->env[i].name, r->env[i].value);
    add_pair(to, STR("K_SERVICE"), str_of(r->function));
    add_pair(to, STR("K_REVISION"), str_of(revision));
    (void)buf_add_char(to, ']');
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

static int add_user(struct buf *to, const struct json *user, struct oci_user *ret, struct err *err)
{
    int64_t uid = json_int_or(json_getc(user, "uid"), 0),
            gid = json_int_or(json_getc(user, "gid"), 0);
    int64_t id;
    if (uid < 0 || uid > INT32_MAX || gid < 0 || gid > INT32_MAX)
        return err_set(err, E_INVALID, "process.user is no user");
    (void)buf_printf(to, "\"user\":{\"uid\":%lld,\"gid\":%lld,\"additionalGids\":[", (long long)uid,
                     (long long)gid);
    bool first = true;
    json_each (group, json_getc(user, "additionalGids")) {
        if (json_int(group, &id) < 0 || id < 0 || id > INT32_MAX)
            return err_set(err, E_INVALID, "process.user.additionalGids has what is no group");
        (void)buf_printf(to, "%s%lld", first ? "" : ",", (long long)id);
        first = false;
    }
    (void)buf_add_cstr(to, "]}");
    *ret = (struct oci_user){ (uint32_t)uid, (uint32_t)gid };
    return 0;
}

static int add_process(struct buf *to, const struct json *process, const struct runtime_revision *r,
                       size_t n_program, struct oci_user *ret_user, struct err *err)
{
    struct str cwd = json_get_str(process, "cwd");
    unsigned long long files = files_of(process);
    if (cwd.n && cwd.p[0] != '/')
        return err_set(err, E_INVALID, "process.cwd is not absolute");
    (void)buf_add_cstr(to, "\"process\":{\"terminal\":false,");
    int code = add_user(to, json_getc(process, "user"), ret_user, err);
    if (code < 0)
        return code;
    (void)buf_add_char(to, ',');
    if (add_args(to, process, r->t, n_program) == 0)
        return err_set(err, E_INVALID, "process.args names no program, and spec.command neither");
    (void)buf_add_char(to, ',');
    add_env(to, process, r);
    (void)buf_add_cstr(to, ",\"cwd\":");
    (void)json_write_str(to, cwd.n ? cwd : STR("/"));
    (void)buf_printf(to,
                     ",\"noNewPrivileges\":true,\"oomScoreAdj\":500,\"capabilities\":{\"bounding\":"
                     "[],\"effective\":[],\"inheritable\":[],\"permitted\":[],\"ambient\":[]},"
                     "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":%llu,\"soft\":%llu},"
                     "{\"type\":\"RLIMIT_CORE\",\"hard\":0,\"soft\":0}]}",
                     files, files);
    return 0;
}

/* ---------------------------------------------------------------- files */

static int add_root(struct buf *to, const struct json *config, const char *bundle, char **ret_root,
                    struct err *err)
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
        return err_set(err, E_INVALID, "root.path '" STR_FMT "' is no directory in the bundle",
                       STR_ARG(path));
    (void)buf_add_cstr(to, ",\"root\":{\"path\":");
    (void)json_write_str(to, str_of(real));
    (void)buf_add_cstr(to, ",\"readonly\":true}");
    *ret_root = take_ptr(&real);
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

/* Memory is the only thing that a bundle may mount; the cgroup counts it. */
static void add_bundle_mounts(struct buf *to, const struct json *mounts, struct buf *dirs)
{
    json_each (m, mounts) {
        struct str where = json_get_str(m, "destination");
        if (!str_is(json_get_str(m, "type"), "tmpfs") || !where.n || where.p[0] != '/' ||
            is_standard(where) || memchr(where.p, 0, where.n))
            continue;
        (void)buf_add_str(dirs, where);
        (void)buf_add_char(dirs, '\0');
        (void)buf_add_cstr(to, ",{\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"destination\":");
        (void)json_write_str(to, where);
        (void)buf_printf(to, ",\"options\":[\"nosuid\",\"nodev\",\"mode=1777\",\"size=%d\"]}",
                         OCI_TMP_BYTES);
    }
}

/* Secrets lie in one directory outside, by their index, and are mounted one by one. */
static void add_secrets(struct buf *to, const struct runtime_revision *r)
{
    for (size_t i = 0; i < r->n_secrets; i++) {
        (void)buf_add_cstr(to, ",{\"type\":\"bind\",\"destination\":");
        (void)json_write_str(to, str_of(r->secrets[i]->path));
        (void)buf_printf(to,
                         ",\"source\":\"%c/%zu\",\"options\":[\"bind\",\"ro\",\"nosuid\",\"nodev\","
                         "\"noexec\"]}",
                         OCI_HOLE_SECRETS, i);
    }
}

static void add_mounts(struct buf *to, const struct json *config, const struct runtime_revision *r,
                       struct buf *dirs)
{
    (void)buf_printf(
        to,
        ",\"mounts\":["
        "{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\",\"options\":[\"nosuid\","
        "\"noexec\",\"nodev\"]},"
        "{\"destination\":\"/dev\",\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"options\":[\"nosuid\","
        "\"strictatime\",\"mode=755\",\"size=65536\"]},"
        "{\"destination\":\"/dev/shm\",\"type\":\"tmpfs\",\"source\":\"shm\",\"options\":["
        "\"nosuid\",\"noexec\",\"nodev\",\"mode=1777\",\"size=%d\"]},"
        "{\"destination\":\"/sys\",\"type\":\"sysfs\",\"source\":\"sysfs\",\"options\":[\"nosuid\","
        "\"noexec\",\"nodev\",\"ro\"]},"
        "{\"destination\":\"/tmp\",\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"options\":[\"nosuid\","
        "\"nodev\",\"mode=1777\",\"size=%d\"]}",
        OCI_TMP_BYTES, OCI_TMP_BYTES);
    add_bundle_mounts(to, json_getc(config, "mounts"), dirs);
    add_secrets(to, r);
    (void)buf_add_char(to, ']');
}

/* ---------------------------------------------------------------- linux */

/*
 * CPU in shares only: its limit is set once the sandbox is ready, so that no start is throttled. No
 * devices but those that runtimes add themselves (null, zero, full, random, terminals): without a
 * word about devices crun 1.8 allows all, and a node in the root file system is enough to open one.
 */
static void add_resources(struct buf *to, const struct fn_template *t,
                          const struct oci_config_opts *o)
{
    if (!o->cgroup)
        return;
    unsigned long long memory = t->memory, shares = MAX(t->cpu_milli * 1024 / 1000, 2);
    (void)buf_printf(to,
                     ",\"cgroupsPath\":\"%s/%c\",\"resources\":{\"devices\":[{\"allow\":"
                     "false,\"access\":\"rwm\"}],\"memory\":{\"limit\":%llu",
                     o->cgroup, OCI_HOLE_GROUP, memory);
    if (o->counts_swap)
        (void)buf_printf(to, ",\"swap\":%llu", memory);
    (void)buf_printf(to, "},\"pids\":{\"limit\":%llu},\"cpu\":{\"shares\":%llu}}",
                     (unsigned long long)t->pids_max, shares);
}

static void add_seccomp(struct buf *to)
{
    (void)buf_printf(to,
                     ",\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":%d,"
                     "\"syscalls\":[{\"names\":[",
                     ERRNO_PERM);
    for (size_t i = 0; container_seccomp_allowed[i]; i++)
        (void)buf_printf(to, "%s\"%s\"", i ? "," : "", container_seccomp_allowed[i]);
    (void)buf_printf(to,
                     "],\"action\":\"SCMP_ACT_ALLOW\"},{\"names\":[\"clone\"],\"action\":"
                     "\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":%d,\"valueTwo\":0,"
                     "\"op\":\"SCMP_CMP_MASKED_EQ\"}]},{\"names\":[\"socket\"],\"action\":"
                     "\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":%d,\"op\":"
                     "\"SCMP_CMP_NE\"}]},{\"names\":[\"clone3\"],\"action\":"
                     "\"SCMP_ACT_ERRNO\",\"errnoRet\":%d}]}",
                     CONTAINER_CLONE_NAMESPACES, CONTAINER_SOCKET_VSOCK, ERRNO_NOSYS);
}

static void add_linux(struct buf *to, const struct fn_template *t, const struct oci_config_opts *o)
{
    (void)buf_printf(to,
                     ",\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"ipc\"},{\"type\":"
                     "\"uts\"},{\"type\":\"mount\"},%s{\"type\":\"network\",\"path\":\"%c\"}]",
                     o->is_cgroup2 ? "{\"type\":\"cgroup\"}," : "", OCI_HOLE_NETWORK);
    add_resources(to, t, o);
    add_seccomp(to);
    (void)buf_add_cstr(
        to, ",\"maskedPaths\":[\"/proc/acpi\",\"/proc/asound\",\"/proc/kcore\",\"/proc/keys\","
            "\"/proc/latency_stats\",\"/proc/timer_list\",\"/proc/timer_stats\","
            "\"/proc/sched_debug\",\"/proc/scsi\",\"/sys/firmware\",\"/sys/kernel/debug\","
            "\"/sys/devices/virtual/powercap\"],\"readonlyPaths\":[\"/proc/bus\",\"/proc/fs\","
            "\"/proc/irq\",\"/proc/sys\",\"/proc/sysrq-trigger\"]}");
}

void oci_config_made_fini(struct oci_config_made *m)
{
    free(m->root);
    buf_fini(&m->dirs);
}

int oci_config_make(struct str text, const struct runtime_revision *r,
                    const struct oci_config_opts *o, struct buf *to, struct oci_config_made *ret,
                    struct err *err)
{
    struct arena a = { 0 };
    struct json *config;
    struct oci_config_made made = { .dirs = BUF_INIT(OCI_CONFIG_DIRS_MAX) };
    int code = json_parse(&a, text, NULL, &config, err);
    if (code < 0)
        code = E_INVALID;
    (void)buf_add_cstr(to, "{\"ociVersion\":\"1.0.2\",");
    if (code == 0)
        code = add_process(to, json_getc(config, "process"), r, o->n_program, &made.user, err);
    if (code == 0)
        code = add_root(to, config, o->bundle, &made.root, err);
    if (code == 0) {
        (void)buf_add_cstr(to, ",\"hostname\":");
        (void)json_write_str(to, str_of(o->host_name));
        add_mounts(to, config, r, &made.dirs);
        add_linux(to, r->t, o);
        if (o->filter) /* a crun that does not know it uses the rules themselves */
            (void)buf_printf(to, ",\"annotations\":{\"run.oci.seccomp_bpf_data\":\"%s\"}",
                             o->filter);
        (void)buf_add_char(to, '}');
    }
    arena_fini(&a);
    if (code == 0 && (!buf_ok(to) || !buf_ok(&made.dirs)))
        code = err_set(err, E_INVALID, "it is too large");
    if (code < 0) {
        oci_config_made_fini(&made);
        return err_ctx(err, code, "config.json of the bundle");
    }
    *ret = made;
    return 0;
}

void oci_config_fill(struct str config, const char *const with[OCI_HOLE_SECRETS + 1],
                     struct buf *to)
{
    size_t from = 0;
    for (size_t i = 0; i < config.n; i++) {
        unsigned char c = (unsigned char)config.p[i];
        if (c == 0 || c > OCI_HOLE_SECRETS)
            continue;
        (void)buf_add(to, config.p + from, i - from);
        (void)buf_add_cstr(to, with[c]);
        from = i + 1;
    }
    (void)buf_add(to, config.p + from, config.n - from);
}
