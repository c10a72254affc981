/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs, templates and jobs (guest/template.h) without functions around them: a user of its own,
 * whose jobs name a path and count bytes, in real runners.
 */
#include "guest_rig.h"

#include "guest/template.h"

enum { JOBS = 40 };

struct user {
    struct rig rig;
    struct guest_templates *all;
    struct module *module;
    struct guest_program program;
    unsigned ready, failed;
    bool is_closed;
};

struct user_job {
    struct guest_job job;
    const char *path;
    uint64_t token;
    size_t bytes; /* of its answer */
    unsigned ended, lost;
};

static struct user *user_of(struct guest_program *p)
{
    return container_of(p, struct user, program);
}

static struct user_job *job_of(struct guest_job *j)
{
    return container_of(j, struct user_job, job);
}

static void fill_template(struct guest_program *p, struct proto_run *run, struct buf *setup)
{
    (void)buf_add_str(setup, PROTO_NO_SETUP);
    *run = (struct proto_run){ .abi = GUEST_ABI_HTTP,
                               .activation_ms = 10000,
                               .memory_max_bytes = 16 << 20 };
}

static void fill_job(struct guest_job *j, struct proto_run *run)
{
    static char head[64];
    static uint64_t tokens;
    struct user_job *uj = job_of(j);
    int n = snprintf(head, sizeof head, ":method: GET\n:target: %s\n", uj->path);
    uj->token = ++tokens;
    *run = (struct proto_run){ .abi = GUEST_ABI_HTTP,
                               .activation_ms = 10000,
                               .memory_max_bytes = 16 << 20,
                               .credit = 1 << 20,
                               .n_deliveries = 2,
                               .deliveries = {
                                   { uj->token, DELIVERY_ACTIVATE, str_n(head, (size_t)n) },
                                   { uj->token, DELIVERY_FINISHED, STR_NULL } } };
}

static int check(const struct guest_seat *seat, uint32_t n_notes, struct rd notes, bool is_end,
                 const struct proto_call *call, struct err *err)
{
    return 0;
}

static void count(struct user_job *uj, uint32_t n, struct rd notes)
{
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        CHECK(note.token == uj->token);
        if (note.kind == NOTE_FN_DATA)
            uj->bytes += note.head.n;
    }
}

static bool on_notes(struct guest_seat *seat, uint32_t n, struct rd notes, uint32_t left_out)
{
    if (seat->job)
        count(job_of(seat->job), n, notes);
    return true;
}

static void on_call(struct guest_seat *seat, const struct proto_call *c)
{
    if (c)
        guest_seat_reply(seat, GUEST_E_NOT_FOUND, STR(""));
}

static void on_answer(struct guest_job *j, const struct proto_answer *a)
{
    CHECK(j->state == GUEST_JOB_IDLE && !j->seat && !j->program);
    count(job_of(j), a->n_notes, a->notes);
    job_of(j)->ended++;
}

static void on_lost(struct guest_job *j, const struct err *why)
{
    CHECK(j->state == GUEST_JOB_IDLE);
    job_of(j)->lost++;
}

static void on_ready(struct guest_program *p)
{
    user_of(p)->ready++;
}

static void on_failed(struct guest_program *p, const struct err *why)
{
    user_of(p)->failed++;
}

static void on_code_lost(struct guest_program *p)
{
    TEST_FAIL("the cache removed a module that is in use");
}

static const struct guest_template_ops user_ops = { .fill_template = fill_template,
                                                    .fill_job = fill_job,
                                                    .check = check,
                                                    .on_notes = on_notes,
                                                    .on_call = on_call,
                                                    .on_answer = on_answer,
                                                    .on_lost = on_lost,
                                                    .on_ready = on_ready,
                                                    .on_failed = on_failed,
                                                    .on_code_lost = on_code_lost };

static void user_open(struct user *u)
{
    *u = (struct user){ 0 };
    rig_open(&u->rig, (struct guest_host_opts){ 0 });
    u->module = rig_module(&u->rig, "fn-reactor");
    u->all = guest_templates_new(&(struct guest_templates_opts){ .loop = &u->rig.loop,
                                                                 .runners = u->rig.runners,
                                                                 .max_runners = 1 },
                                 &user_ops);
    guest_program_init(&u->program, u->all);
    u->program.namespace = "default";
    guest_program_set_module(&u->program, u->module);
}

static void user_close(struct user *u)
{
    guest_program_stop(&u->program);
    CHECK(!guest_program_has_template(&u->program));
    guest_templates_close(u->all, rig_on_closed, &u->is_closed);
    WAIT(&u->rig, u->is_closed);
    module_unref(u->module);
    rig_close(&u->rig);
}

static unsigned running(const struct user *u)
{
    struct guest_templates_stats stats;
    guest_templates_get_stats(u->all, &stats);
    return stats.running;
}

static int runner_pid(const struct user *u)
{
    int pid = 0;
    CHECK(guest_templates_pids(u->all, &pid, 1) == 1);
    return pid;
}

TEST(jobs_wait_for_a_template_and_then_use_its_seats)
{
    struct user u;
    struct user_job jobs[JOBS] = { 0 };
    user_open(&u);
    guest_program_start(&u.program);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i].path = "/hello";
        guest_job_start(&jobs[i].job, &u.program);
        CHECK(jobs[i].job.state == GUEST_JOB_HELD); /* no template is ready inside the call */
    }
    CHECK(guest_program_first_held(&u.program) == &jobs[0].job);
    for (unsigned i = 0; i < JOBS; i++)
        WAIT(&u.rig, jobs[i].ended);
    for (unsigned i = 0; i < JOBS; i++)
        CHECK(jobs[i].ended == 1 && jobs[i].lost == 0 && jobs[i].bytes > 0);
    CHECK(u.ready == 1 && u.failed == 0 && running(&u) == 0);
    jobs[0] = (struct user_job){ .path = "/hello" };
    guest_job_start(&jobs[0].job, &u.program);
    CHECK(jobs[0].job.state == GUEST_JOB_SENT); /* a free seat takes it at once */
    WAIT(&u.rig, jobs[0].ended);
    user_close(&u);
}

TEST(a_job_that_is_left_in_any_state_has_no_callback)
{
    struct user u;
    struct user_job held = { .path = "/spin" }, sent = held, runs = held,
                    next = { .path = "/hello" };
    user_open(&u);
    guest_program_start(&u.program);
    guest_job_start(&held.job, &u.program);
    guest_job_leave(&held.job);
    CHECK(held.job.state == GUEST_JOB_IDLE && !guest_program_first_held(&u.program));
    WAIT(&u.rig, u.ready);
    guest_job_start(&sent.job, &u.program);
    CHECK(sent.job.state == GUEST_JOB_SENT && running(&u) == 1);
    guest_job_leave(&sent.job);
    CHECK(sent.job.state == GUEST_JOB_IDLE && running(&u) == 0);
    /* Two that compute are interrupted for each other. */
    guest_job_start(&runs.job, &u.program);
    guest_job_start(&held.job, &u.program);
    WAIT(&u.rig, runs.job.state == GUEST_JOB_RUNNING && held.job.state == GUEST_JOB_RUNNING);
    guest_job_leave(&runs.job);
    guest_job_leave(&held.job);
    guest_job_leave(&held.job); /* again: nothing to do */
    guest_job_start(&next.job, &u.program);
    WAIT(&u.rig, next.ended);
    CHECK(held.ended + held.lost + sent.ended + sent.lost + runs.ended + runs.lost == 0);
    user_close(&u);
}

TEST(a_job_whose_runner_ends_is_lost_and_its_template_is_made_again)
{
    struct user u;
    struct user_job runs = { .path = "/spin" }, other = { .path = "/spin" };
    user_open(&u);
    guest_program_start(&u.program);
    WAIT(&u.rig, u.ready);
    guest_job_start(&runs.job, &u.program);
    guest_job_start(&other.job, &u.program);
    WAIT(&u.rig, runs.job.state == GUEST_JOB_RUNNING);
    CHECK(kill(runner_pid(&u), SIGKILL) == 0);
    WAIT(&u.rig, runs.lost);
    WAIT(&u.rig, u.ready == 2);
    CHECK(runs.job.state == GUEST_JOB_IDLE && runs.ended == 0);
    guest_job_leave(&other.job); /* lost as well, or sent again */
    user_close(&u);
}

TEST(a_template_that_cannot_be_made_is_reported_from_the_loop)
{
    struct user u;
    struct user_job job = { .path = "/hello" };
    rig_runner = "/nonexistent/dormouse-runner";
    user_open(&u);
    guest_program_start(&u.program);
    CHECK(u.failed == 0);
    WAIT(&u.rig, u.failed == 1);
    guest_job_start(&job.job, &u.program);
    CHECK(u.failed == 1 && job.job.state == GUEST_JOB_HELD);
    WAIT(&u.rig, u.failed == 2);
    CHECK(guest_program_first_held(&u.program) ==
          &job.job); /* its user decides what becomes of it */
    guest_job_leave(&job.job);
    guest_program_start(&u.program);
    user_close(&u); /* the failure is not reported any more */
    CHECK(u.failed == 2 && u.ready == 0 && job.ended + job.lost == 0);
    rig_runner = NULL;
}

TEST_MAIN
