/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls under SIGKILL: a child takes and runs calls and reports each acknowledgement
 * and each execution through a pipe; the parent kills it at a random one of these, starts it again
 * on the same file, and at the end lets what is left run out. Then:
 *
 *   - every call that was acknowledged has been executed and has exactly one result, the right one,
 *   - nothing waits, and no row of a request or of a time is left behind.
 *
 * Every fifth call fails once, every seventh always; every eleventh has a body in pieces.
 * ASYNC_KILL_ROUNDS sets how often. The child is this program again.
 */
#include "async_rig.h"

#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 20, OUTSTANDING = 24, KILL_WITHIN = 600, NUMBERS_MAX = 1 << 20, LARGE = 40000 };

struct event {
    uint32_t number;
    bool is_ack; /* else an execution began */
    char id[ASYNC_ID_TEXT];
};

static void fill_body(uint32_t number, struct buf *b)
{
    buf_reset(b);
    CHECK_OK(buf_add_le32(b, number));
    while (number % 11 == 0 && b->n < LARGE)
        CHECK_OK(buf_add(b, "\0 binary \xff", 10));
}

static struct {
    char id[ASYNC_ID_TEXT]; /* "": not acknowledged */
    uint32_t executions;
} * calls;
static uint32_t n_numbers, n_acks;

static void take(const struct event *e)
{
    CHECK(e->number < NUMBERS_MAX);
    n_numbers = MAX(n_numbers, e->number + 1);
    if (e->is_ack) {
        memcpy(calls[e->number].id, e->id, sizeof e->id);
        n_acks++;
    } else {
        calls[e->number].executions++;
    }
}

/* ------------------------------------------------------------------ the child */

static struct rig rig;
static uint32_t next_number, in_flight;
static int event_fd = -1;

static uint32_t number_of(struct str body)
{
    struct rd in = rd_init(body.p, body.n);
    return rd_le32(&in);
}

static void report(const struct event *e)
{
    if (event_fd >= 0)
        CHECK_OK(sys_write_all(event_fd, e, sizeof *e)); /* whole or not at all */
    else
        take(e);
}

static struct played_answer decide(const struct played_call *c)
{
    struct event e = { .number = number_of(buf_str(&c->body)) };
    struct str id = headers_get(&c->headers, "x-dormouse-call-id");
    memcpy(e.id, id.p, MIN(id.n, sizeof e.id - 1));
    report(&e);
    bool is_first = str_is(headers_get(&c->headers, "x-faas-attempt"), "1");
    if (e.number % 7 == 0 || (e.number % 5 == 0 && is_first))
        return (struct played_answer){ .status = 503 };
    return (struct played_answer){ .status = 200 };
}

static void on_ack(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                   const struct err *err)
{
    struct event *e = arg;
    CHECK_OK(r);
    CHECK(!is_repeat);
    memcpy(e->id, id, sizeof e->id);
    report(e);
    free(e);
    in_flight--;
}

static void submit_one(void)
{
    static struct buf body = { .max = LARGE + 64 };
    struct event *e = xnew(struct event);
    char key[32];
    e->number = next_number++;
    e->is_ack = true;
    fill_body(e->number, &body);
    (void)snprintf(key, sizeof key, "%u", e->number);
    struct async_call call = { .namespace = STR("shop"),
                               .name = e->number % 2 ? STR("odd") : STR("even"),
                               .method = STR("POST"),
                               .target = STR("/"),
                               .body = buf_str(&body),
                               .key = str_of(key) };
    CHECK_OK(async_submit(rig.async, &call, on_ack, e, NULL));
    in_flight++;
}

static void use(const char *dir)
{
    rig_init(&rig);
    temp_dir_remove(rig.dir);
    (void)snprintf(rig.dir, sizeof rig.dir, "%s", dir);
    (void)snprintf(rig.path, sizeof rig.path, "%s/async.db", dir);
    rig.decide = decide;
    rig.spec.async.backoff_ms = 1;
    rig.spec.async.backoff_max_ms = 5;
    rig_open(&rig);
    rig_run(&rig);
}

static void run_until_killed(const char *dir, const char *first)
{
    uint64_t n;
    CHECK_OK(parse_u64(str_of(first), 0, UINT32_MAX, &n));
    next_number = (uint32_t)n;
    event_fd = STDOUT_FILENO;
    use(dir);
    for (;;) {
        while (in_flight < OUTSTANDING)
            submit_one();
        rig_turn(&rig);
    }
}

/* ------------------------------------------------------------------ the parent */

static uint32_t first_number; /* of the child that runs */

static void round_of(const char *self, const char *dir)
{
    int fds[2];
    char first[16];
    /* Past those that the last child may have stored without a word of it. */
    first_number = MAX(n_numbers, first_number) + OUTSTANDING;
    (void)snprintf(first, sizeof first, "%u", first_number);
    CHECK(pipe(fds) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)close(fds[0]);
        (void)close(fds[1]);
        (void)execl(self, self, "child", dir, first, (char *)NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    size_t left = 1 + (size_t)test_random_below(KILL_WITHIN);
    struct event e;
    bool killed = false;
    for (;;) { /* what it had said before it died counts too */
        size_t got = 0;
        ssize_t n;
        while (got < sizeof e && (n = read(fds[0], (char *)&e + got, sizeof e - got)) > 0)
            got += (size_t)n;
        if (got < sizeof e)
            break;
        take(&e);
        if (--left == 0) {
            CHECK(kill(pid, SIGKILL) == 0);
            killed = true;
        }
        left += left == 0; /* once */
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    (void)close(fds[0]);
}

static struct {
    bool done;
    size_t n;
} counted;

static void on_range(void *arg, int r, const struct store_page *page, const struct err *err)
{
    CHECK_OK(r);
    counted.n = page->n + (size_t)page->left;
    counted.done = true;
}

static size_t rows(const char *prefix)
{
    struct store_range range = { .prefix = str_of(prefix), .keys_only = true, .count_left = true };
    counted.done = false;
    CHECK_OK(store_range(rig.async->store, &range, on_range, NULL, NULL));
    rig_until(&rig, counted.done);
    return counted.n;
}

struct looking {
    uint32_t number;
    bool done;
};

static void on_row(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct looking *l = arg;
    struct async_record rec;
    struct buf body;
    CHECK_OK(r);
    CHECK(kv);
    CHECK_OK(async_record_read(kv->value, &rec, NULL));
    buf_init(&body, LARGE + 64);
    fill_body(l->number, &body);
    bool fails = l->number % 7 == 0;
    CHECK_INT(rec.state, fails ? ASYNC_FAILED : ASYNC_SUCCEEDED);
    CHECK_INT(rec.status, fails ? 503 : 200);
    CHECK_INT(rec.attempts, fails ? 3 : l->number % 5 == 0 ? 2 : 1);
    CHECK_INT(rec.body_bytes, body.n);
    if (rec.n_pieces == 0)
        CHECK(str_eq(rec.body, buf_str(&body)));
    buf_fini(&body);
    l->done = true;
}

static void check_result(uint32_t number)
{
    struct looking l = { .number = number };
    struct async_id id;
    struct async_key k;
    CHECK(async_id_parse(str_of(calls[number].id), &id));
    async_key_call(&k, &id);
    CHECK_OK(store_get(rig.async->store, async_key_str(&k), 0, on_row, &l, NULL));
    rig_until(&rig, l.done);
}

static void run_rest(const char *dir)
{
    use(dir);
    rig_until(&rig, !async_is_scanning(rig.async) && rig_stats(&rig).pending == 0 &&
                        rig.async->runs.n == 0 && rig_stats(&rig).lanes == 0);
    CHECK_INT(rows("d/"), 0);
    CHECK_INT(rows("b/"), 0);
    CHECK_INT(rows("c/"), rows("x/"));
    CHECK(rows("c/") >= n_acks);
}

static const char *self_path;

TEST(acknowledged_calls_are_executed_and_have_one_result_after_kills)
{
    char dir[TEMP_DIR_BYTES];
    uint64_t rounds = ROUNDS;
    const char *env = getenv("ASYNC_KILL_ROUNDS");
    if (env)
        CHECK_OK(parse_u64(str_of(env), 1, 100000, &rounds));
    CHECK(temp_dir_make("async-kill", dir));
    calls = xalloc_n(sizeof *calls, NUMBERS_MAX);
    for (uint64_t i = 0; i < rounds; i++)
        round_of(self_path, dir);
    run_rest(dir);
    uint32_t n = 0, n_twice = 0;
    for (uint32_t i = 0; i < n_numbers; i++) {
        if (!calls[i].id[0])
            continue;
        n++;
        check_result(i);
        uint32_t want = i % 7 == 0 ? 3 : i % 5 == 0 ? 2 : 1;
        n_twice += calls[i].executions > want;
    }
    (void)printf("# %u calls acknowledged, %u executed once more than needed\n", n, n_twice);
    CHECK_INT(n, n_acks);
    rig_fini(&rig);
    free(calls);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        run_until_killed(argv[2], argv[3]);
    self_path = "/proc/self/exe";
    return test_main(1, argv);
}
