/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of all logs; see podlog_jobs.h. */
#include "agent/log/podlog_jobs.h"

#include "base/mem.h"

struct podlog_jobs {
    struct loop *loop;
    struct podlog_lane {
        unsigned n_running;
        struct list waiting; /* struct podlog_job */
    } lanes[PODLOG_JOB_KINDS];
    struct defer end;
    bool is_closing;
    void (*closed)(void *arg);
    void *arg;
};

static const unsigned max_running[] = {
    [PODLOG_JOB_WRITE] = PODLOG_WRITES_MAX, [PODLOG_JOB_TIDY] = PODLOG_TIDIES_MAX
};

struct podlog_jobs *podlog_jobs_new(struct loop *loop)
{
    struct podlog_jobs *jobs = xnew(struct podlog_jobs);
    jobs->loop = loop;
    for (size_t i = 0; i < ARRAY_LEN(jobs->lanes); i++)
        list_init(&jobs->lanes[i].waiting);
    return jobs;
}

static bool is_idle(const struct podlog_jobs *jobs)
{
    for (size_t i = 0; i < ARRAY_LEN(jobs->lanes); i++) {
        if (jobs->lanes[i].n_running > 0) /* else none waits */
            return false;
    }
    return true;
}

static void on_end(struct defer *d)
{
    struct podlog_jobs *jobs = container_of(d, struct podlog_jobs, end);
    void (*closed)(void *arg) = jobs->closed;
    void *arg = jobs->arg;
    if (!is_idle(jobs))
        return;
    free(jobs);
    if (closed)
        closed(arg);
}

static void run_next(struct podlog_jobs *jobs, struct podlog_lane *lane, unsigned max);

static void on_work(struct job *job)
{
    struct podlog_job *j = container_of(job, struct podlog_job, job);
    j->work(j);
}

static void on_done(struct job *job, int r)
{
    struct podlog_job *j = container_of(job, struct podlog_job, job);
    struct podlog_jobs *jobs = j->jobs;
    enum podlog_job_kind kind = j->kind;
    assert(r == 0); /* no job is cancelled */
    jobs->lanes[kind].n_running--;
    j->done(j); /* may free j */
    run_next(jobs, &jobs->lanes[kind], max_running[kind]);
    if (jobs->is_closing && is_idle(jobs))
        defer_start(jobs->loop, &jobs->end, on_end);
}

static void run_next(struct podlog_jobs *jobs, struct podlog_lane *lane, unsigned max)
{
    struct list *node;
    while (lane->n_running < max && (node = list_pop_front(&lane->waiting))) {
        struct podlog_job *j = list_entry(node, struct podlog_job, node);
        int r = job_start(jobs->loop, &j->job);
        assert(r == 0); /* it has work */
        lane->n_running++;
    }
}

void podlog_jobs_start(struct podlog_jobs *jobs, struct podlog_job *j)
{
    struct podlog_lane *lane = &jobs->lanes[j->kind];
    j->jobs = jobs;
    j->job = (struct job){ .work = on_work, .done = on_done };
    list_push_back(&lane->waiting, &j->node);
    run_next(jobs, lane, max_running[j->kind]);
}

void podlog_jobs_close(struct podlog_jobs *jobs, void (*done)(void *arg), void *arg)
{
    jobs->is_closing = true;
    jobs->closed = done;
    jobs->arg = arg;
    if (is_idle(jobs))
        defer_start(jobs->loop, &jobs->end, on_end);
}
