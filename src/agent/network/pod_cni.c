/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNI plug-ins; see pod_cni.h. A change is a run: a job prepares it, then one plug-in after the
 * other, for a removal in reverse order, then a job completes it.
 */
#include "agent/network/pod_cni.h"

#include "agent/network/pod_cni_config.h"
#include "agent/network/pod_exec.h"
#include "agent/network/pod_namespace.h"
#include "base/buf.h"
#include "base/sys.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static const char *const default_bin_dirs[] = { "/opt/cni/bin", "/usr/lib/cni", NULL };

struct pod_cni {
    const struct pod_network_places *places;
    const char *config_dir;
    const char *const *bin_dirs;
    char *path; /* CNI_PATH */
    struct str cidrs[POD_NETWORK_CIDRS_MAX];
    size_t n_cidrs;
};

struct cni_run {
    struct job job;
    struct pod_cni *c;
    struct pod_network_change *change;
    bool is_removal;
    size_t at; /* of the plug-in that runs; in a removal: plug-ins that are left */
    const struct json *previous;
    int r;
    struct err err;
};

/* ---------------------------------------------------------------- configuration */

static bool is_config_name(struct str name)
{
    return name.n && name.p[0] != '.' &&
           (str_has_suffix(name, STR(".conflist")) || str_has_suffix(name, STR(".conf")) ||
            str_has_suffix(name, STR(".json")));
}

/* The first by name. -ENOENT. */
static int find_config(const struct pod_cni *c, char ret[NAME_MAX + 1])
{
    DIR *dir = opendir(c->config_dir);
    ret[0] = '\0';
    for (struct dirent *e; dir && (e = readdir(dir));) // NOLINT(concurrency-mt-unsafe)
        if (is_config_name(str_of(e->d_name)) && (!ret[0] || strcmp(e->d_name, ret) < 0))
            (void)snprintf(ret, NAME_MAX + 1, "%s", e->d_name);
    if (dir)
        (void)closedir(dir);
    return ret[0] ? 0 : -ENOENT;
}

bool pod_cni_has_config(const struct pod_cni *c)
{
    char name[NAME_MAX + 1];
    return find_config(c, name) == 0;
}

static int load_config(const struct pod_cni *c, struct pod_record *rec, struct err *err)
{
    char name[NAME_MAX + 1], path[PATH_MAX];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(POD_CNI_CONFIG_MAX);
    if (find_config(c, name) < 0)
        return err_set(err, E_UNSUPPORTED, "there is no network configuration in '%s'",
                       c->config_dir);
    (void)snprintf(path, sizeof path, "%s/%s", c->config_dir, name);
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    if (r == 0)
        r = pod_cni_read_config(&rec->arena, buf_str(&text), &rec->config, err);
    return r < 0 ? err_ctx(err, r, "network configuration '%s'", path) : 0;
}

/* ---------------------------------------------------------------- plug-ins */

static bool find_plugin(const struct pod_cni *c, struct str type, char ret[PATH_MAX])
{
    for (const char *const *dir = c->bin_dirs; *dir; dir++) {
        (void)snprintf(ret, PATH_MAX, "%s/" STR_FMT, *dir, STR_ARG(type));
        if (access(ret, X_OK) == 0)
            return true;
    }
    return false;
}

enum { VARIABLES_MAX = 8 };

/* In the arena. The namespace of a removal may be gone; plug-ins then get none. */
static void fill_env(const struct cni_run *run, struct arena *a, const char *env[VARIABLES_MAX + 1])
{
    const struct pod_record *rec = run->change->rec;
    const char *path = getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
    size_t n = 0;
    env[n++] = run->is_removal ? "CNI_COMMAND=DEL" : "CNI_COMMAND=ADD";
    env[n++] = "CNI_IFNAME=eth0";
    env[n++] = arena_printf(a, "CNI_CONTAINERID=" STR_FMT, STR_ARG(rec->id));
    env[n++] = arena_printf(a, "CNI_PATH=%s", run->c->path);
    env[n++] = arena_printf(a, "PATH=%s", path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
    env[n++] = arena_printf(
        a,
        "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=" STR_FMT ";K8S_POD_NAME=" STR_FMT
        ";K8S_POD_INFRA_CONTAINER_ID=" STR_FMT ";K8S_POD_UID=" STR_FMT,
        STR_ARG(rec->namespace), STR_ARG(rec->name), STR_ARG(rec->id), STR_ARG(rec->uid));
    if (pod_namespace_exists(run->change->netns))
        env[n++] = arena_printf(a, "CNI_NETNS=%s", run->change->netns);
    assert(n <= VARIABLES_MAX);
    env[n] = NULL;
}

static void next(struct cni_run *run);

static size_t plugin_at(const struct cni_run *run)
{
    return run->is_removal ? run->at - 1 : run->at;
}

static void on_plugin(void *arg, int r, int status, struct str out, struct str err_out)
{
    struct cni_run *run = arg;
    struct pod_record *rec = run->change->rec;
    struct str type = json_get_str(pod_cni_plugin(rec->config, plugin_at(run)), "type");
    if (r < 0)
        run->r = err_sys(&run->err, r, STR_FMT, STR_ARG(type));
    else if (status != 0)
        run->r = pod_cni_read_failure(type, status, out, err_out, &run->err);
    else if (!run->is_removal) {
        run->r = pod_cni_read_result(&rec->arena, out, &run->previous, &run->err);
        if (run->r < 0)
            run->r = err_ctx(&run->err, run->r, STR_FMT, STR_ARG(type));
    }
    run->at += run->is_removal ? -1 : 1;
    next(run);
}

static int run_plugin(struct cni_run *run, struct err *err)
{
    struct pod_record *rec = run->change->rec;
    struct str type = json_get_str(pod_cni_plugin(rec->config, plugin_at(run)), "type");
    scoped(buf_fini_scoped) struct buf input = BUF_INIT(POD_RECORD_BYTES_MAX);
    char path[PATH_MAX];
    const char *const argv[] = { path, NULL };
    const char *env[VARIABLES_MAX + 1];
    struct pod_exec *exec;
    if (!find_plugin(run->c, type, path))
        return err_set(err, -ENOENT, "CNI plug-in '" STR_FMT "' is not in %s", STR_ARG(type),
                       run->c->path);
    int r = pod_cni_write_input(rec, plugin_at(run), run->previous, run->c->cidrs, run->c->n_cidrs,
                                &input);
    if (r < 0)
        return err_sys(err, r, "input of '" STR_FMT "'", STR_ARG(type));
    struct arena a = { 0 };
    fill_env(run, &a, env);
    struct pod_exec_opts o = { .argv = argv,
                               .env = env,
                               .input = buf_str(&input),
                               .timeout_ms = POD_CNI_TIMEOUT_MS,
                               .out_max = POD_CNI_OUTPUT_MAX,
                               .err_max = POD_CNI_STDERR_MAX,
                               .done = on_plugin,
                               .arg = run };
    r = pod_exec_start(run->c->places->loop, &o, &exec, err);
    arena_fini(&a);
    return r;
}

/* ---------------------------------------------------------------- runs */

static void finish(struct cni_run *run)
{
    struct pod_network_change *change = run->change;
    struct err err = run->err;
    int r = run->r;
    free(run);
    change->done(change, r, &err);
}

static void on_completed(struct job *j, int r)
{
    struct cni_run *run = container_of(j, struct cni_run, job);
    if (r < 0)
        run->r = r;
    finish(run);
}

static void complete_add(struct job *j)
{
    struct cni_run *run = container_of(j, struct cni_run, job);
    run->r = pod_record_write(run->c->places->records_dir, run->change->rec, &run->err);
}

static void complete_removal(struct job *j)
{
    struct cni_run *run = container_of(j, struct cni_run, job);
    run->r = pod_namespace_remove(run->change->netns, &run->err);
    if (run->r == 0)
        run->r = pod_record_remove(run->c->places->records_dir, run->change->rec->id, &run->err);
}

static void complete(struct cni_run *run)
{
    struct pod_record *rec = run->change->rec;
    if (!run->is_removal) {
        run->r = pod_cni_apply_result(rec, run->previous, &run->err);
        rec->is_complete = run->r == 0;
    }
    run->job = (struct job){ .work = run->is_removal ? complete_removal : complete_add,
                             .done = on_completed };
    int r = run->r < 0 ? run->r : job_start(run->c->places->loop, &run->job);
    if (r >= 0)
        return; /* the run belongs to the job's thread */
    run->r = r;
    finish(run);
}

/* Called on a turn of its own, after a job or a plug-in. */
static void next(struct cni_run *run)
{
    const struct json *config = run->change->rec->config;
    bool is_over = run->is_removal ? run->at == 0 : run->at == pod_cni_count(config);
    if (run->r == 0 && !is_over)
        run->r = run_plugin(run, &run->err);
    if (run->r < 0)
        finish(run);
    else if (is_over)
        complete(run);
}

static void on_prepared(struct job *j, int r)
{
    struct cni_run *run = container_of(j, struct cni_run, job);
    if (r < 0)
        run->r = r;
    next(run);
}

static void prepare_add(struct job *j)
{
    struct cni_run *run = container_of(j, struct cni_run, job);
    struct pod_record *rec = run->change->rec;
    run->r = load_config(run->c, rec, &run->err);
    if (run->r == 0)
        run->r = pod_record_write(run->c->places->records_dir, rec, &run->err);
    if (run->r == 0)
        run->r = pod_namespace_make(run->change->netns, run->change->user, NULL, NULL, &run->err);
}

static void prepare_nothing(struct job *j)
{
}

static void start(struct pod_cni *c, struct pod_network_change *change, bool is_removal)
{
    struct cni_run *run = xnew(struct cni_run);
    run->c = c;
    run->change = change;
    run->is_removal = is_removal;
    run->job =
        (struct job){ .work = is_removal ? prepare_nothing : prepare_add, .done = on_prepared };
    if (is_removal) {
        run->at = pod_cni_count(change->rec->config);
        run->previous = change->rec->result;
    }
    if (job_start(c->places->loop, &run->job) < 0)
        abort(); /* it fails without a work function only */
}

static void cni_add(void *driver, struct pod_network_change *change)
{
    start(driver, change, false);
}

static void cni_remove(void *driver, struct pod_network_change *change)
{
    start(driver, change, true);
}

const struct pod_network_driver pod_cni_driver = { .add = cni_add, .remove = cni_remove };

struct pod_cni *pod_cni_new(const struct pod_network_places *places, const char *config_dir,
                            const char *const *bin_dirs)
{
    struct pod_cni *c = xnew(struct pod_cni);
    struct buf path = BUF_INIT(PATH_MAX);
    c->places = places;
    c->config_dir = config_dir ? config_dir : "/etc/cni/net.d";
    c->bin_dirs = bin_dirs ? bin_dirs : default_bin_dirs;
    for (const char *const *dir = c->bin_dirs; *dir; dir++)
        (void)buf_printf(&path, "%s%s", dir == c->bin_dirs ? "" : ":", *dir);
    size_t n;
    c->path = buf_take(&path, &n);
    return c;
}

static void drop_cidrs(struct pod_cni *c)
{
    for (; c->n_cidrs > 0; c->n_cidrs--)
        free((void *)(uintptr_t)c->cidrs[c->n_cidrs - 1].p);
}

void pod_cni_set_cidrs(struct pod_cni *c, const struct str *cidrs, size_t n_cidrs)
{
    assert(n_cidrs <= POD_NETWORK_CIDRS_MAX);
    drop_cidrs(c);
    for (; c->n_cidrs < n_cidrs; c->n_cidrs++)
        c->cidrs[c->n_cidrs] = str_of(str_dup(cidrs[c->n_cidrs]));
}

void pod_cni_free(struct pod_cni *c)
{
    if (!c)
        return;
    drop_cidrs(c);
    free(c->path);
    free(c);
}
