/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/exec.h"

#include "agent/agent_impl.h"
#include "base/sys.h"
#include "codec/bind.h"

#include <errno.h>
#include <fcntl.h>

enum { EXEC_LIST_MAX = 65536 };

/* ---------------------------------------------------------------- process */

/* Members of config.json, "process" (OCI runtime-spec, config.md). */
struct kept {
    uint32_t uid, gid;
    const uint32_t *groups;
    struct str cwd;
    const struct str *env, *capabilities;
    size_t n_groups, n_env, n_capabilities;
    bool no_new_privileges;
    int32_t oom_score_adj;
};

static const struct bind_field group_item = { .kind = BIND_KIND_UINT, .size = sizeof(uint32_t) };
static const struct bind_field user_fields[] = {
    BIND_UINT("uid", struct kept, uid),
    BIND_UINT("gid", struct kept, gid),
    BIND_ARRAY("additionalGids", struct kept, groups, n_groups, &group_item,
               CONTAINER_USER_GROUPS_MAX),
};
static const struct bind_table user_table = BIND_TABLE(user_fields);
static const struct bind_field capability_fields[] = {
    BIND_STRS("bounding", struct kept, capabilities, n_capabilities, 64),
};
static const struct bind_table capability_table = BIND_TABLE(capability_fields);
static const struct bind_field process_fields[] = {
    BIND_INLINE("user", &user_table),
    BIND_STRS("env", struct kept, env, n_env, EXEC_LIST_MAX),
    BIND_STR("cwd", struct kept, cwd),
    BIND_INLINE("capabilities", &capability_table),
    BIND_BOOL("noNewPrivileges", struct kept, no_new_privileges),
    BIND_INT("oomScoreAdj", struct kept, oom_score_adj),
};
static const struct bind_table process_table = BIND_TABLE(process_fields);

static int read_config(struct arena *a, const struct agent_run *r, struct kept *ret,
                       struct err *err)
{
    scoped(free_scoped) char *path =
        xasprintf("%s/%s/config.json", r->agent->containers_dir, r->id);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONTAINER_CONFIG_MAX);
    struct bind b = { .arena = a, .err = err, .mode = BIND_COPIES };
    struct json *v;
    int code = sys_read_file(AT_FDCWD, path, &text, err);
    code = code < 0 ? code : json_parse(a, str_copy_arena(a, buf_str(&text)), NULL, &v, err);
    code = code < 0 ? code : bind_read(&b, &process_table, json_getc(v, "process"), ret);
    return code < 0 ? err_ctx(err, E_CORRUPT, "configuration of the container") : 0;
}

int agent_exec_process(struct arena *a, const struct agent_run *r, const struct str *argv, size_t n,
                       struct agent_exec_process *ret, struct err *err)
{
    struct kept kept = { 0 };
    if (!r->c || !r->is_running)
        return err_set(err, -ESRCH, "the container does not run");
    int code = read_config(a, r, &kept, err);
    if (code < 0)
        return code;
    const char **capabilities = arena_new_n(a, const char *, kept.n_capabilities + 1);
    for (size_t i = 0; i < kept.n_capabilities; i++)
        capabilities[i] = str_dup_arena(a, kept.capabilities[i]);
    ret->user = (struct container_user){ .uid = kept.uid, .gid = kept.gid };
    for (size_t i = 0; i < kept.n_groups; i++)
        ret->user.groups[ret->user.n_groups++] = kept.groups[i];
    ret->args = (struct container_strings){ argv, n };
    ret->env = (struct container_strings){ kept.env, kept.n_env };
    ret->process = (struct container_process){ .user = &ret->user,
                                               .args = &ret->args,
                                               .n_args = 1,
                                               .env = &ret->env,
                                               .n_env = 1,
                                               .cwd = kept.cwd,
                                               .gains_privileges = !kept.no_new_privileges,
                                               .capabilities = capabilities,
                                               .keeps_limits = true,
                                               .oom_score_adj = kept.oom_score_adj };
    return 0;
}

/* ---------------------------------------------------------------- collected output */

struct agent_exec {
    struct container_exec *exec;
    struct buf output;
    void (*done)(void *arg, int r, int status, struct str output); /* NULL: cancelled */
    void *arg;
};

static void on_output(void *arg, enum container_stream stream, struct str bytes)
{
    struct agent_exec *e = arg;
    (void)buf_add_str(&e->output, str_slice(bytes, 0,
                                            AGENT_EXEC_OUTPUT_MAX -
                                                MIN(e->output.n, (size_t)AGENT_EXEC_OUTPUT_MAX)));
}

static void on_ended(void *arg, const struct container_exec_end *end)
{
    struct agent_exec *e = arg;
    int status = end->status < 0 ? 128 - end->status : end->status;
    if (e->done)
        e->done(e->arg, end->r, status, end->r < 0 ? str_of(end->text) : buf_str(&e->output));
    buf_fini(&e->output);
    free(e);
}

static const struct container_exec_events events = { .on_output = on_output, .on_ended = on_ended };

int agent_exec_capture(struct agent_run *r, const struct str *command, size_t n,
                       void (*done)(void *arg, int r, int status, struct str output), void *arg,
                       struct agent_exec **ret, struct err *err)
{
    struct arena a = { 0 };
    struct agent_exec_process p;
    struct agent_exec *e = xnew(struct agent_exec);
    *e = (struct agent_exec){ .output = BUF_INIT(AGENT_EXEC_OUTPUT_MAX), .done = done, .arg = arg };
    const struct container_exec_opts opts = { .process = &p.process, .events = &events, .arg = e };
    int code = agent_exec_process(&a, r, command, n, &p, err);
    code = code < 0 ? code : container_exec_start(r->c, &opts, &e->exec, err);
    arena_fini(&a);
    if (code < 0) {
        free(e);
        return code;
    }
    *ret = e;
    return 0;
}

void agent_exec_stop(struct agent_exec *e)
{
    container_exec_stop(e->exec);
}

void agent_exec_cancel(struct agent_exec *e)
{
    e->done = NULL;
    container_exec_stop(e->exec);
}
