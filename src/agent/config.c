/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/config.h"

#include "agent/pod/resources.h"
#include "base/vec.h"
#include "container/capabilities.h"

#include <signal.h>
#include <stdio.h>

enum { CONFIG_LIST_MAX = 65536 };

/* Member of the container if it is stated there, else of the pod. */
static int64_t number_of(int64_t container, int64_t pod)
{
    return container >= 0 ? container : pod;
}

static bool is_privileged(const struct pod_container *c)
{
    return c->security.privileged == 1;
}

/* ---------------------------------------------------------------- user */

const char *agent_config_user(struct arena *a, const struct pod_spec *pod,
                              const struct pod_container *c, bool *ret_finds)
{
    int64_t uid = number_of(c->security.run_as_user, pod->security.run_as_user);
    *ret_finds = uid >= 0;
    return uid >= 0 ? arena_printf(a, "%lld", (long long)uid) : "";
}

static int read_image_user(const struct json *user, struct container_user *ret)
{
    int64_t id;
    *ret = (struct container_user){
        .uid = (uint32_t)json_int_or(json_getc(user, "uid"), 0),
        .gid = (uint32_t)json_int_or(json_getc(user, "gid"), 0),
    };
    json_each (g, json_getc(user, "additionalGids")) {
        if (ret->n_groups < CONTAINER_USER_GROUPS_MAX && json_int(g, &id) == 0)
            ret->groups[ret->n_groups++] = (uint32_t)id;
    }
    return 0;
}

static void add_group(struct container_user *u, int64_t gid)
{
    for (size_t i = 0; i < u->n_groups; i++) {
        if (u->groups[i] == gid)
            return;
    }
    if (u->n_groups < CONTAINER_USER_GROUPS_MAX)
        u->groups[u->n_groups++] = (uint32_t)gid;
}

static int make_user(const struct agent_config_in *in, const struct json *process,
                     struct container_user *ret, struct err *err)
{
    const struct pod_security *pod = &in->pod->security, *own = &in->container->security;
    int64_t gid = number_of(own->run_as_group, pod->run_as_group);
    bool must_be_other = number_of(own->run_as_non_root, pod->run_as_non_root) == 1;
    if (in->image_user)
        *ret = *in->image_user;
    else
        (void)read_image_user(json_getc(process, "user"), ret);
    if (gid >= 0)
        ret->gid = (uint32_t)gid;
    if (str_is(pod->supplemental_groups_policy, "Strict"))
        ret->n_groups = 0;
    for (size_t i = 0; i < pod->n_groups; i++)
        add_group(ret, pod->groups[i]);
    if (pod->fs_group >= 0)
        add_group(ret, pod->fs_group);
    if (must_be_other && ret->uid == 0)
        return err_set(err, E_INVALID,
                       "container has runAsNonRoot and image will run as root (pod: \"" STR_FMT
                       "_" STR_FMT "(" STR_FMT ")\", container: " STR_FMT ")",
                       STR_ARG(in->pod->name), STR_ARG(in->pod->namespace), STR_ARG(in->pod->uid),
                       STR_ARG(in->container->name));
    return 0;
}

/* ---------------------------------------------------------------- program */

struct config_words {
    VEC(struct str) all;
};

static void add_json(struct config_words *to, const struct json *list, size_t from)
{
    size_t i = 0;
    json_each (v, list) {
        if (i++ >= from && to->all.n < CONFIG_LIST_MAX)
            vec_push(&to->all, json_str(v));
    }
}

static void add_strs(struct config_words *to, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(&to->all, list[i]);
}

/* command takes the place of the image's Entrypoint and Cmd, args that of Cmd. */
static int make_args(struct arena *a, const struct agent_config_in *in, const struct json *process,
                     struct config_words *to, struct err *err)
{
    const struct pod_container *c = in->container;
    const struct str *command, *args;
    const struct json *image = json_getc(process, "args");
    int r = pod_env_expand_list(a, in->env, c->command, c->n_command, &command, err);
    r = r < 0 ? r : pod_env_expand_list(a, in->env, c->args, c->n_args, &args, err);
    if (r < 0)
        return r;
    if (c->n_command) {
        add_strs(to, command, c->n_command);
    } else if (c->n_args) {
        add_json(to, image, 0);
        to->all.n = MIN(to->all.n, in->image_program);
    } else {
        add_json(to, image, 0);
    }
    add_strs(to, args, c->n_args);
    return to->all.n ? 0 : err_set(err, E_INVALID, "no command specified");
}

static void make_env(struct arena *a, const struct agent_config_in *in, const struct json *process,
                     struct config_words *to)
{
    json_each (v, json_getc(process, "env")) {
        if (str_find_char(json_str(v), '=') > 0)
            vec_push(&to->all, json_str(v));
    }
    vec_push(&to->all, str_of(arena_printf(a, "HOSTNAME=%s", in->host_name)));
    if (in->container->has_tty)
        vec_push(&to->all, STR("TERM=xterm"));
    for (size_t i = 0; i < in->env->n; i++)
        vec_push(&to->all,
                 str_of(arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(in->env->vars[i].name),
                                     STR_ARG(in->env->vars[i].value))));
}

/* ---------------------------------------------------------------- mounts */

struct config_mounts {
    VEC(struct container_mount) all;
};

static bool is_mounted(const struct config_mounts *m, const char *where)
{
    for (size_t i = 0; i < m->all.n; i++) {
        if (str_is(m->all.p[i].where, where))
            return true;
    }
    return false;
}

static void add_file(struct arena *a, struct config_mounts *to, const char *dir, const char *name,
                     const char *where)
{
    if (!is_mounted(to, where))
        vec_push(&to->all,
                 ((struct container_mount){ .kind = CONTAINER_MOUNT_VOLUME,
                                            .where = str_of(where),
                                            .source = str_of(arena_printf(a, "%s/%s", dir, name)),
                                            .is_writable = true }));
}

static enum container_propagation propagation_of(enum volume_propagation p)
{
    return p == VOLUME_BIDIRECTIONAL ? CONTAINER_PROPAGATION_SHARED
           : p == VOLUME_FROM_HOST   ? CONTAINER_PROPAGATION_SLAVE
                                     : CONTAINER_PROPAGATION_PRIVATE;
}

static void add_volumes(const struct agent_config_in *in, struct config_mounts *to)
{
    for (size_t i = 0; i < in->n_mounts; i++) {
        const struct volume_mount *m = &in->mounts[i];
        vec_push(&to->all,
                 ((struct container_mount){ .kind = CONTAINER_MOUNT_VOLUME,
                                            .where = m->target,
                                            .source = m->source,
                                            .is_writable = !m->is_read_only,
                                            .is_deeply_read_only = m->is_recursive_read_only,
                                            .propagation = propagation_of(m->propagation) }));
    }
}

/* A volume of the image, unless the pod mounts something there: memory, lost with the container. */
static void add_image_volumes(const struct json *config, struct config_mounts *to)
{
    json_each (m, json_getc(config, "mounts")) {
        struct str where = json_get_str(m, "destination");
        bool is_taken = false;
        vec_each (one, &to->all)
            is_taken |= str_eq(one->where, where);
        if (where.n > 1 && where.p[0] == '/' && !is_taken && to->all.n < CONFIG_LIST_MAX)
            vec_push(&to->all, ((struct container_mount){
                                   .kind = CONTAINER_MOUNT_TMPFS, .where = where, .mode = 0755 }));
    }
}

static void make_mounts(struct arena *a, const struct agent_config_in *in,
                        const struct json *config, struct config_mounts *to)
{
    const char *log = in->container->termination_path.n
                          ? str_dup_arena(a, in->container->termination_path)
                          : NULL;
    add_volumes(in, to);
    add_file(a, to, in->etc, "hosts", "/etc/hosts");
    add_file(a, to, in->etc, "hostname", "/etc/hostname");
    add_file(a, to, in->etc, "resolv.conf", "/etc/resolv.conf");
    if (log && log[0] == '/' && in->termination_log && !is_mounted(to, log))
        vec_push(&to->all, ((struct container_mount){ .kind = CONTAINER_MOUNT_VOLUME,
                                                      .where = str_of(log),
                                                      .source = str_of(in->termination_log),
                                                      .is_writable = true }));
    add_image_volumes(config, to);
}

/* ---------------------------------------------------------------- the rest */

static enum container_syscalls syscalls_of(const struct agent_config_in *in)
{
    struct str own = in->container->security.seccomp.type;
    struct str type = own.n ? own : in->pod->security.seccomp.type;
    if (is_privileged(in->container))
        return CONTAINER_SYSCALLS_ALL;
    return str_is(type, "RuntimeDefault") ? CONTAINER_SYSCALLS_DEFAULT
           : str_is(type, "Localhost")    ? CONTAINER_SYSCALLS_PROFILE
                                          : CONTAINER_SYSCALLS_ALL;
}

static int signal_by_name(struct str name)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        { "HUP", SIGHUP },   { "INT", SIGINT },   { "QUIT", SIGQUIT }, { "KILL", SIGKILL },
        { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "TERM", SIGTERM }, { "WINCH", SIGWINCH },
        { "CONT", SIGCONT }, { "STOP", SIGSTOP }, { "PWR", SIGPWR },   { "ALRM", SIGALRM },
        { "ABRT", SIGABRT },
    };
    uint64_t number;
    if (parse_u64(name, 1, 64, &number) == 0)
        return (int)number;
    if (str_has_prefix(name, STR("SIG")))
        name = str_slice(name, 3, name.n);
    if (str_has_prefix(name, STR("RTMIN+")) &&
        parse_u64(str_slice(name, 6, name.n), 0, 30, &number) == 0)
        return 34 + (int)number; /* as every program counts them */
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        if (str_ieq(name, str_of(signals[i].name)))
            return signals[i].number;
    }
    return 0;
}

static int stop_signal_of(const struct agent_config_in *in, const struct json *config)
{
    struct str own = in->container->stop_signal;
    struct str image =
        json_get_str(json_getc(config, "annotations"), "org.opencontainers.image.stopSignal");
    return signal_by_name(own.n ? own : image);
}

/* Rounded up, so that the shares are the same when they are made of it again. */
struct container_limits agent_config_limits(const struct pod_cgroup *g)
{
    return (struct container_limits){
        .memory_bytes = (uint64_t)g->memory_bytes,
        .cpu_milli = (g->cpu_shares * 1000 + 1023) / 1024,
        .cpu_quota_milli = (uint64_t)g->cpu_quota_us * 1000 / POD_CPU_PERIOD_US,
    };
}

static int make_limits(const struct agent_config_in *in, struct container_limits *ret,
                       struct err *err)
{
    struct pod_cgroup g;
    int r = pod_cgroup_of_container(in->pod, in->container, &g, err);
    if (r < 0)
        return r;
    *ret = agent_config_limits(&g);
    return 0;
}

static void make_sysctls(struct arena *a, const struct pod_spec *pod, struct container_spec *spec)
{
    struct container_sysctl *list =
        arena_new_n(a, struct container_sysctl, pod->security.n_sysctls + 1);
    for (size_t i = 0; i < pod->security.n_sysctls; i++)
        list[i] = (struct container_sysctl){ pod->security.sysctls[i].name,
                                             pod->security.sysctls[i].value };
    spec->sysctls = list;
    spec->n_sysctls = pod->security.n_sysctls;
}

/* All that is mounted from the machine belongs to the same users as without a namespace. */
static void set_users(const struct agent_config_in *in, struct container_id_range *range,
                      struct config_mounts *mounts, struct container_spec *spec)
{
    if (!in->user)
        return;
    *range = (struct container_id_range){ 0, in->users_base, in->n_users };
    spec->user = in->user;
    spec->uids = spec->gids = (struct container_id_ranges){ range, 1 };
    vec_each (m, &mounts->all)
        m->is_mapped = m->kind == CONTAINER_MOUNT_VOLUME;
}

static void set_namespaces(const struct agent_config_in *in, struct container_spec *spec)
{
    const struct pod_spec *pod = in->pod;
    spec->network = pod->host_network ? CONTAINER_SPEC_MACHINE : CONTAINER_SPEC_HOLE;
    spec->pid = pod->host_pid ? CONTAINER_NAMESPACE_MACHINE : in->pid;
    spec->ipc = pod->host_ipc ? CONTAINER_NAMESPACE_MACHINE : in->ipc;
    spec->uts = pod->host_network ? CONTAINER_NAMESPACE_MACHINE : NULL;
    spec->shm = in->shm ? str_of(in->shm) : STR_NULL;
}

static int write_spec(struct arena *a, const struct agent_config_in *in, const struct json *config,
                      const struct container_user *user, struct config_words *args,
                      struct config_words *env, struct config_mounts *mounts, struct buf *to,
                      struct err *err)
{
    const struct pod_container *c = in->container;
    const struct json *process = json_getc(config, "process");
    const struct container_strings all_args = { args->all.p, args->all.n },
                                   all_env = { env->all.p, env->all.n };
    struct container_spec spec = {
        .process = { .user = user,
                     .args = &all_args,
                     .n_args = 1,
                     .env = &all_env,
                     .n_env = 1,
                     .cwd = c->working_dir.n ? c->working_dir : json_get_str(process, "cwd"),
                     .has_terminal = c->has_tty,
                     .gains_privileges = c->security.allow_escalation != 0,
                     .keeps_limits = true,
                     .oom_score_adj = MAX(pod_oom_score_adj(in->pod, c, (int64_t)in->memory_bytes),
                                          in->oom_adj_min) },
        .root = in->root,
        .is_root_writable = c->security.read_only_root != 1,
        .host_name = in->host_name,
        .mounts = mounts->all.p,
        .n_mounts = mounts->all.n,
        .has_terminals = true,
        .has_cgroup = true,
        .is_unmasked = str_is(c->security.proc_mount, "Unmasked"),
        .is_privileged = is_privileged(c),
        .devices = in->devices,
        .n_devices = in->n_devices,
        .syscalls = syscalls_of(in),
        .seccomp = in->seccomp,
        .machine = in->machine,
    };
    struct container_capabilities capabilities;
    struct container_id_range range;
    int r = container_capabilities_make(c->security.cap_add, c->security.n_cap_add,
                                        c->security.cap_drop, c->security.n_cap_drop,
                                        is_privileged(c), &capabilities, err);
    spec.process.capabilities = capabilities.names;
    set_namespaces(in, &spec);
    set_users(in, &range, mounts, &spec);
    make_sysctls(a, in->pod, &spec);
    r = r < 0 ? r : make_limits(in, &spec.limits, err);
    return r < 0 ? r : container_spec_write(&spec, to, err);
}

int agent_config_make(struct arena *a, const struct agent_config_in *in, struct buf *to,
                      struct agent_config_made *ret, struct err *err)
{
    struct json *config;
    struct container_user user;
    struct config_words args = { 0 }, env = { 0 };
    struct config_mounts mounts = { 0 };
    int r = json_parse(a, in->image_config, NULL, &config, err);
    if (r < 0)
        return err_ctx(err, E_INVALID, "configuration of the image");
    const struct json *process = json_getc(config, "process");
    r = make_user(in, process, &user, err);
    r = r < 0 ? r : make_args(a, in, process, &args, err);
    if (r >= 0) {
        make_env(a, in, process, &env);
        make_mounts(a, in, config, &mounts);
        r = write_spec(a, in, config, &user, &args, &env, &mounts, to, err);
    }
    *ret = (struct agent_config_made){ .uid = user.uid,
                                       .gid = user.gid,
                                       .stop_signal = stop_signal_of(in, config) };
    vec_fini(&args.all);
    vec_fini(&env.all);
    vec_fini(&mounts.all);
    return r;
}
