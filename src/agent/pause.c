/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pause.h"

#include "agent/agent_impl.h"
#include "base/sys.h"
#include "container/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { AGAIN_MS = 1000, FILE_MODE = 0755, PAUSE_OOM_ADJ = -998 };

/* With pause/first.c; src/agent/pause/meson.build. */
extern const struct str agent_pause_program;

enum pause_at { PAUSE_STARTING, PAUSE_RUNNING, PAUSE_BROKEN, PAUSE_ENDING };

struct agent_pause {
    struct list node; /* of agent.left_pauses, until its pod is known */
    struct agent *agent;
    struct agent_pod *pod; /* NULL: not known, or it has none */
    char *pod_uid;
    struct sm sm;
    struct container *c; /* NULL: there is none */
    uint32_t n;          /* of the next start */
    struct timer again;
};

static const struct sm_state pause_table[] = {
    [PAUSE_STARTING] = { "starting",
                         EDGE(PAUSE_RUNNING) | EDGE(PAUSE_BROKEN) | EDGE(PAUSE_ENDING) },
    [PAUSE_RUNNING] = { "running", EDGE(PAUSE_BROKEN) | EDGE(PAUSE_ENDING) },
    [PAUSE_BROKEN] = { "broken", EDGE(PAUSE_STARTING) | EDGE(PAUSE_ENDING) },
    [PAUSE_ENDING] = { "ending", 0 },
};

static void free_pause(struct agent_pause *s)
{
    list_remove(&s->node);
    timer_stop(s->agent->loop, &s->again);
    free(s->pod_uid);
    free(s);
}

int agent_pause_set_up(const struct agent *a, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/pause", a->pause_dir);
    int r = sys_mkdir_all(a->pause_dir, 0755, err);
    return r < 0 ? r : sys_write_file_atomic(AT_FDCWD, path, agent_pause_program, FILE_MODE, err);
}

/* ---------------------------------------------------------------- start */

static void on_again(struct timer *t);

static void wait_again(struct agent_pause *s)
{
    if (s->sm.at == PAUSE_ENDING)
        return;
    if (s->sm.at != PAUSE_BROKEN)
        sm_move(&s->sm, PAUSE_BROKEN);
    if (s->pod) /* else agent_pause_claim() starts it */
        timer_start(s->agent->loop, &s->again, AGAIN_MS, on_again);
}

static void on_started(void *arg, int r, const struct err *err)
{
    struct agent_pause *s = arg;
    if (r < 0) {
        agent_event(s->pod, NULL, true, "FailedCreatePodSandBox", "%s", err_text(err));
        return; /* on_removed() follows */
    }
    sm_move(&s->sm, PAUSE_RUNNING);
    agent_prepare_look(s->pod);
}

static void on_ended(void *arg, const struct container_end *end)
{
    struct agent_pause *s = arg;
    if (s->sm.at != PAUSE_RUNNING)
        return;
    sm_move(&s->sm, PAUSE_BROKEN);
    if (s->pod)
        agent_event(s->pod, NULL, false, "SandboxChanged",
                    "Pod sandbox changed, its processes have been killed.");
}

static void on_removed(void *arg)
{
    struct agent_pause *s = arg;
    struct agent_pod *p = s->pod;
    s->c = NULL;
    if (s->sm.at != PAUSE_ENDING) {
        wait_again(s);
        return;
    }
    free_pause(s);
    if (!p)
        return;
    p->pause = NULL;
    agent_prepare_part_removed(p);
}

static const struct container_events events = { .on_started = on_started,
                                                .on_ended = on_ended,
                                                .on_removed = on_removed };

static int write_config(const struct agent_pod *p, struct buf *to, struct err *err)
{
    static const struct str words[] = { { "/pause", 6 } };
    static const struct container_user user = { .uid = 65535, .gid = 65535 };
    const struct container_strings args = { words, 1 };
    const struct container_machine machine = container_host_machine(p->agent->containers);
    scoped(free_scoped) char *ipc = xasprintf("%s/ipc", p->dir);
    const struct container_spec spec = {
        .process = { .user = &user,
                     .args = &args,
                     .n_args = 1,
                     .oom_score_adj = MAX(PAUSE_OOM_ADJ, p->agent->oom_adj_min) },
        .root = p->agent->pause_dir,
        .host_name = "pause",
        .network = p->spec->host_network ? CONTAINER_SPEC_MACHINE : CONTAINER_SPEC_HOLE,
        .ipc = p->spec->host_ipc             ? CONTAINER_NAMESPACE_MACHINE
               : p->ipc_at == AGENT_IPC_MADE ? ipc
                                             : NULL,
        .syscalls = CONTAINER_SYSCALLS_DEFAULT,
        .machine = &machine,
    };
    return container_spec_write(&spec, to, err);
}

static int start(struct agent_pause *s, struct err *err)
{
    struct agent_pod *p = s->pod;
    char id[AGENT_ID_SIZE];
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(CONTAINER_CONFIG_MAX);
    scoped(free_scoped) char *note =
        xasprintf("{\"pod\":\"%s\",\"pause\":true,\"n\":%u}", p->uid, s->n);
    agent_run_id(p, STR(""), s->n++, id);
    int r = write_config(p, &config, err);
    const struct container_opts opts = {
        .name = id,
        .config = buf_str(&config),
        .uid = 65535,
        .gid = 65535,
        .pod = p->group,
        .network = p->network ? pod_network_netns(p->network) : "/proc/self/ns/net",
        .note = str_of(note),
        .events = &events,
        .arg = s,
    };
    return r < 0 ? r : container_start(p->agent->containers, &opts, &s->c, err);
}

static void try_start(struct agent_pause *s)
{
    struct err err = { 0 };
    if (start(s, &err) == 0)
        return;
    agent_event(s->pod, NULL, true, "FailedCreatePodSandBox", "%s", err_text(&err));
    wait_again(s);
}

static void on_again(struct timer *t)
{
    struct agent_pause *s = container_of(t, struct agent_pause, again);
    sm_move(&s->sm, PAUSE_STARTING);
    try_start(s);
}

static bool is_wanted(const struct agent_pod *p)
{
    return p->spec->shares_processes && !p->spec->host_pid;
}

static struct agent_pause *new_pause(struct agent *a, const char *uid)
{
    struct agent_pause *s = xnew(struct agent_pause);
    *s = (struct agent_pause){ .agent = a, .pod_uid = xstrdup(uid) };
    sm_init(&s->sm, pause_table, PAUSE_STARTING);
    return s;
}

void agent_pause_start(struct agent_pod *p)
{
    if (p->pause || !is_wanted(p))
        return;
    p->pause = new_pause(p->agent, p->uid);
    p->pause->pod = p;
    try_start(p->pause);
}

bool agent_pause_is_ready(const struct agent_pod *p)
{
    return !is_wanted(p) || (p->pause && p->pause->sm.at == PAUSE_RUNNING);
}

const char *agent_pause_path(const struct agent_pod *p, struct arena *a)
{
    int pid = p->pause && p->pause->c ? container_pid(p->pause->c) : 0;
    return pid ? arena_printf(a, "/proc/%d/ns/pid", pid) : NULL;
}

/* ---------------------------------------------------------------- end */

bool agent_pause_stop(struct agent_pod *p)
{
    struct agent_pause *s = p->pause;
    if (s && !s->c) {
        free_pause(s);
        p->pause = s = NULL;
    }
    if (!s)
        return false;
    timer_stop(s->agent->loop, &s->again);
    sm_move(&s->sm, PAUSE_ENDING);
    container_stop(s->c, 0);
    return true;
}

void agent_pause_leave(struct agent_pod *p)
{
    struct agent_pause *s = take_ptr(&p->pause);
    if (!s)
        return;
    if (s->sm.at == PAUSE_ENDING)
        p->n_leaving--; /* nothing tells when it has ended; the next process sees to it */
    free_pause(s);
}

void agent_pause_leave_unclaimed(struct agent *a)
{
    list_each_safe (node, &a->left_pauses)
        free_pause(list_entry(node, struct agent_pause, node));
}

/* ---------------------------------------------------------------- of an earlier process */

struct agent_pause *agent_pause_find(struct agent *a, struct container *c,
                                     const struct container_left *left)
{
    scoped(free_scoped) char *uid = str_dup(json_get_str(left->note, "pod"));
    struct agent_pause *s = new_pause(a, uid);
    s->c = c;
    container_set_events(c, &events);
    s->n = (uint32_t)json_int_or(json_getc(left->note, "n"), 0) + 1;
    sm_move(&s->sm, left->is_adopted ? PAUSE_RUNNING : PAUSE_ENDING);
    if (left->is_adopted)
        list_push_back(&a->left_pauses, &s->node);
    return s;
}

void agent_pause_claim(struct agent_pod *p)
{
    list_each_safe (node, &p->agent->left_pauses) {
        struct agent_pause *s = list_entry(node, struct agent_pause, node);
        if (p->pause || strcmp(s->pod_uid, p->uid) != 0)
            continue;
        list_remove(&s->node);
        s->pod = p;
        p->pause = s;
        if (s->sm.at == PAUSE_BROKEN && !s->c)
            timer_start(s->agent->loop, &s->again, 0, on_again);
    }
}

void agent_pause_drop_unclaimed(struct agent *a)
{
    list_each_safe (node, &a->left_pauses) {
        struct agent_pause *s = list_entry(node, struct agent_pause, node);
        list_remove(&s->node);
        if (s->sm.at != PAUSE_ENDING)
            sm_move(&s->sm, PAUSE_ENDING);
        if (s->c)
            container_stop(s->c, 0);
        else
            free_pause(s);
    }
}
