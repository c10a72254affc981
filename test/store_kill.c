/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store/ under SIGKILL: a child writes and reports every acknowledgement through a pipe, the parent
 * kills it after a random number of them, opens the store and looks for
 *
 *   - every acknowledged transaction,
 *   - no half transaction (each writes two keys and moves a third from one place to the other),
 *   - revisions that were given twice.
 *
 * STORE_KILL_ROUNDS sets how often. The child is this program again.
 */
#include "store_util.h"

#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 25, SLOTS = 32, OUTSTANDING = 24, KILL_WITHIN = 400 };

struct ack {
    uint32_t slot, number;
    uint64_t rev;
};

/* ------------------------------------------------------------------ the child */

static struct fixture fx;
static uint32_t next_number, in_flight;
static int ack_fd;

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct ack *a = arg;
    CHECK_OK(res->r);
    a->rev = res->rev;
    CHECK_OK(sys_write_all(ack_fd, a, sizeof *a)); /* far below PIPE_BUF: whole or not at all */
    free(a);
    in_flight--;
}

static void submit(void)
{
    struct ack *a = xnew(struct ack);
    a->number = ++next_number;
    a->slot = a->number % SLOTS;
    char first[24], second[24], here[24], there[24], value[600];
    (void)snprintf(first, sizeof first, "/first/%u", a->slot);
    (void)snprintf(second, sizeof second, "/second/%u", a->slot);
    (void)snprintf(here, sizeof here, "/token/%u/%u", a->slot, a->number / SLOTS % 2);
    (void)snprintf(there, sizeof there, "/token/%u/%u", a->slot, 1 - a->number / SLOTS % 2);
    memset(value, 'v', sizeof value);
    (void)snprintf(value, sizeof value, "%08u", a->number);
    struct store_op ops[] = { op_put(first, ""), op_put(second, ""), op_put(here, ""),
                              op_delete(there) };
    for (size_t i = 0; i < 3; i++)
        ops[i].value = str_n(value, sizeof value);
    CHECK_OK(store_txn(fx.store, ops, ARRAY_LEN(ops), on_txn, a, NULL));
    in_flight++;
}

static void write_until_killed(const char *path, const char *first_number)
{
    uint64_t n;
    CHECK_OK(parse_u64(str_of(first_number), 0, UINT32_MAX, &n));
    next_number = (uint32_t)n;
    ack_fd = STDOUT_FILENO;
    CHECK_OK(loop_init(&fx.loop, NULL));
    fx.opts = (struct store_opts){ .path = path, .history_ms = 1, .history_revisions = 100 };
    fx_open(&fx);
    for (;;) {
        while (in_flight < OUTSTANDING)
            submit();
        fx_turn(&fx);
    }
}

/* ------------------------------------------------------------------ the parent */

static struct {
    uint32_t number[SLOTS]; /* newest acknowledged */
    uint64_t rev[SLOTS];
    uint64_t newest_rev;
    uint32_t newest_number;
    uint64_t acks;
} seen;

static pid_t spawn(const char *program, int *ret_fd)
{
    int fds[2];
    char number[16];
    (void)snprintf(number, sizeof number, "%u", seen.newest_number + OUTSTANDING);
    CHECK_OK(pipe2(fds, O_CLOEXEC));
    pid_t pid = fork();
    CHECK_OK(pid);
    if (pid == 0) {
        CHECK_OK(dup2(fds[1], STDOUT_FILENO));
        (void)execl(program, program, "write", fx.path, number, (char *)NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    *ret_fd = fds[0];
    return pid;
}

static bool read_ack(int fd)
{
    struct ack a;
    ssize_t n = read(fd, &a, sizeof a);
    CHECK(n == 0 || n == (ssize_t)sizeof a);
    if (n == 0)
        return false;
    CHECK(a.rev > seen.newest_rev); /* never given before, by any child */
    seen.newest_rev = a.rev;
    seen.newest_number = a.number;
    seen.number[a.slot] = a.number;
    seen.rev[a.slot] = a.rev;
    seen.acks++;
    return true;
}

static uint32_t number_of(const struct fx_got *g)
{
    uint64_t n;
    CHECK_OK(parse_u64(str_n(g->value, 8), 0, UINT32_MAX, &n));
    return (uint32_t)n;
}

static void check_slot(uint32_t slot)
{
    char key[24];
    (void)snprintf(key, sizeof key, "/first/%u", slot);
    struct fx_got first = fx_get(&fx, key, 0);
    (void)snprintf(key, sizeof key, "/second/%u", slot);
    struct fx_got second = fx_get(&fx, key, 0);
    (void)snprintf(key, sizeof key, "/token/%u/0", slot);
    struct fx_got even = fx_get(&fx, key, 0);
    (void)snprintf(key, sizeof key, "/token/%u/1", slot);
    struct fx_got odd = fx_get(&fx, key, 0);
    if (!seen.number[slot] && !first.found)
        return;
    CHECK(first.found && second.found);
    CHECK_INT(first.mod_rev, second.mod_rev);
    CHECK(even.found != odd.found);
    const struct fx_got *token = even.found ? &even : &odd;
    CHECK_INT(token->mod_rev, first.mod_rev);
    uint32_t number = number_of(&first);
    CHECK_INT(number_of(&second), number);
    CHECK_INT(number_of(token), number);
    CHECK_INT(odd.found, number / SLOTS % 2);
    /* What was acknowledged, or one that was still on its way. */
    CHECK(number >= seen.number[slot]);
    if (number == seen.number[slot])
        CHECK_INT(first.mod_rev, seen.rev[slot]);
    else
        CHECK(first.mod_rev > seen.rev[slot]);
}

static void kill_once(const char *program)
{
    int fd, status;
    pid_t pid = spawn(program, &fd);
    uint64_t after = test_random_below(KILL_WITHIN);
    for (uint64_t i = 0; i < after; i++)
        CHECK(read_ack(fd));
    CHECK_OK(kill(pid, SIGKILL));
    while (read_ack(fd)) /* those that it had sent before */
        ;
    (void)close(fd);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    fx_open(&fx);
    CHECK(store_revision(fx.store) >= seen.newest_rev);
    seen.newest_rev = store_revision(fx.store);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        check_slot(slot);
    fx_close(&fx);
}

TEST(a_killed_writer_has_kept_its_word)
{
    uint64_t rounds = ROUNDS;
    const char *env = getenv("STORE_KILL_ROUNDS");
    if (env)
        CHECK_OK(parse_u64(str_of(env), 1, UINT32_MAX, &rounds));
    fx_init(&fx);
    for (uint64_t i = 0; i < rounds; i++)
        kill_once("/proc/self/exe");
    (void)printf("# %" PRIu64 " acknowledgements, revision %" PRIu64 "\n", seen.acks,
                 seen.newest_rev);
    fx_fini(&fx);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        write_until_killed(argv[2], argv[3]);
    return test_main(argc, argv);
}
