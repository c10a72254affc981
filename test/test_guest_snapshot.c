/* SPDX-License-Identifier: Apache-2.0 */
/* Guests that outlive their host process: by a drained shutdown, by SIGKILL, and when they cannot.
 */
#include "guest_rig.h"

#include "wasm/snapshot.h"

#include <sys/mman.h>
#include <sys/wait.h>

static const struct guest_host_opts manual = { .idle_ms = 600000 };

/* One directory of swap files for several hosts, one after the other. */
struct house {
    char swap[64];
    char *rig_dir; /* shared with children: what one that is killed leaves behind */
    struct rig r;
    struct module *m;
    struct actor a;
};

static void house_init(struct house *h)
{
    *h = (struct house){ 0 };
    (void)snprintf(h->swap, sizeof h->swap, "/tmp/dormouse-snap-XXXXXX");
    CHECK(mkdtemp(h->swap));
    h->rig_dir =
        mmap(NULL, sizeof h->r.dir, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(h->rig_dir != MAP_FAILED);
}

static void house_fini(struct house *h)
{
    rig_remove_dir(h->swap);
    (void)munmap(h->rig_dir, sizeof h->r.dir);
}

static void open_with(struct house *h, struct guest_host_opts opts, struct guest_spec spec)
{
    rig_open(&h->r, opts);
    memcpy(h->rig_dir, h->r.dir, sizeof h->r.dir);
    h->m = rig_module(&h->r, "v1");
    spec.namespace = "test";
    spec.name = "guest";
    spec.uid = "the-uid";
    spec.module = h->m;
    spec.abi = GUEST_ABI_V1;
    h->a = (struct actor){ .rig = &h->r };
    buf_init(&h->a.log, 1 << 20);
    buf_init(&h->a.reported, 1 << 20);
    CHECK_OK(guest_new(h->r.host, &spec, &actor_ops, &h->a, &h->a.guest, NULL));
    CHECK_OK(guest_start(h->a.guest, NULL));
}

static void open_as(struct house *h, struct guest_spec spec)
{
    struct guest_host_opts opts = manual;
    opts.swap_dir = h->swap;
    open_with(h, opts, spec);
}

static void open_house(struct house *h)
{
    open_as(h, (struct guest_spec){ .generation = 3 });
    WAIT(&h->r, actor_is_idle(&h->a));
}

static void close_house(struct house *h)
{
    actor_close(&h->a);
    module_unref(h->m);
    rig_close(&h->r);
}

static void drain(struct house *h)
{
    bool done = false;
    guest_host_drain(h->r.host, rig_on_closed, &done);
    WAIT(&h->r, done);
}

/* What every test does first: the guest remembers 5, the length of "fives". */
static void live(struct house *h)
{
    open_house(h);
    CHECK_INT(actor_state(&h->a), GUEST_AWAKE);
    actor_do(&h->a, 1, "touch:60 get:fives");
}

static void check_remembers(struct house *h)
{
    CHECK_INT(actor_state(&h->a), GUEST_ASLEEP);
    CHECK_STR(buf_str(&h->a.reported), "call declare 0 {\"abi\":1}|\n");
    CHECK(actor_stats(&h->a).swap_bytes > 0);
    actor_do(&h->a, 2, "value");
    CHECK(actor_reported(&h->a, "done 2 0 5\n"));
    CHECK_INT(h->a.calls, 1);
    CHECK_INT(actor_stats(&h->a).incarnation, 0);
    CHECK_INT(h->a.states[GUEST_FAILED], 0);
}

static void check_is_new(struct house *h)
{
    CHECK_INT(actor_state(&h->a), GUEST_AWAKE);
    actor_do(&h->a, 2, "value");
    CHECK(actor_reported(&h->a, "done 2 0 0\n"));
    CHECK_INT(h->a.states[GUEST_FAILED], 0);
}

TEST(a_guest_goes_on_after_a_drained_shutdown)
{
    struct house h;
    house_init(&h);
    live(&h);
    for (unsigned i = 0; i < 3; i++) { /* again and again */
        drain(&h);
        CHECK_INT(actor_state(&h.a), GUEST_ASLEEP);
        close_house(&h);
        open_house(&h);
        check_remembers(&h);
    }
    /* Asleep when it began, and never woken between two shutdowns. */
    drain(&h);
    close_house(&h);
    open_house(&h);
    drain(&h);
    close_house(&h);
    open_house(&h);
    check_remembers(&h);
    close_house(&h);
    house_fini(&h);
}

TEST(activations_of_a_drain_are_not_begun)
{
    struct house h;
    house_init(&h);
    live(&h);
    bool done = false;
    h.a.holds_calls = true;
    actor_activate(&h.a, 2, "get:x value");
    WAIT(&h.r, actor_stats(&h.a).is_parked);
    guest_host_drain(h.r.host, rig_on_closed, &done);
    actor_activate(&h.a, 3, "value");
    CHECK_OK(guest_reply(h.a.guest, h.a.call.id, 0, 7, STR(""), NULL));
    WAIT(&h.r, done);
    CHECK_INT(actor_state(&h.a), GUEST_ASLEEP);
    CHECK(actor_reported(&h.a, "done 2 0 7\n"));
    CHECK_INT(h.a.dones, 2);
    close_house(&h);
    open_house(&h);
    actor_do(&h.a, 2, "value");
    CHECK(actor_reported(&h.a, "done 2 0 7\n"));
    close_house(&h);
    house_fini(&h);
}

/* The host is killed; `then` is what the guest does after its sleep. */
static void live_and_die(struct house *h, const char *then)
{
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        live(h);
        actor_sleep(&h->a);
        if (then)
            actor_do(&h->a, 9, then);
        (void)raise(SIGKILL);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    rig_remove_dir(h->rig_dir);
}

TEST(a_sleeping_guest_goes_on_after_its_host_was_killed)
{
    struct house h;
    house_init(&h);
    live_and_die(&h, NULL);
    open_house(&h);
    check_remembers(&h);
    close_house(&h);
    house_fini(&h);
}

TEST(a_guest_that_was_awake_when_its_host_was_killed_starts_anew)
{
    struct house h;
    house_init(&h);
    live_and_die(&h, "touch:1"); /* it slept, and what it wrote then is stale */
    open_house(&h);
    check_is_new(&h);
    close_house(&h);
    house_fini(&h);
}

/* What several processes, one after the other, know of their guest. */
struct ledger {
    uint64_t given,
        acknowledged; /* the last number that the guest got, and for which it answered */
    unsigned resumed, anew;
};

/* Go on or start; what the guest remembers is what it was given last. Then be killed somewhere. */
static void live_a_while(struct house *h, struct ledger *l, unsigned turns, bool when_asleep)
{
    struct guest_host_opts opts = { .sleep_always = true, .swap_dir = h->swap };
    open_with(h, opts, (struct guest_spec){ .generation = 3 });
    h->a.holds_calls = true;
    WAIT(&h->r, actor_is_idle(&h->a));
    bool is_resumed = h->a.states[GUEST_RUNNING] == 0;
    if (!is_resumed)
        l->acknowledged = 0; /* a new life */
    actor_do(&h->a, 1, "value");
    uint64_t value = 0;
    struct str reported = buf_str(&h->a.reported), head, rest;
    CHECK(str_cut(str_slice(reported, (size_t)str_find(reported, STR("done 1 0 ")) + 9, reported.n),
                  '\n', &head, &rest));
    CHECK_OK(parse_u64(head, 0, UINT64_MAX, &value));
    l->resumed += is_resumed;
    l->anew += !is_resumed;
    if (is_resumed ? value < l->acknowledged || value > l->given : value != 0)
        TEST_FAIL("remembers %" PRIu64 ", of %" PRIu64 " and %" PRIu64, value, l->acknowledged,
                  l->given);
    for (uint64_t token = 2;; token++) {
        unsigned dones = h->a.dones;
        actor_activate(&h->a, token, "touch:20 get:k touch:20");
        while (h->a.dones == dones) {
            if (turns == 0 && (!when_asleep || actor_state(&h->a) == GUEST_ASLEEP))
                (void)raise(SIGKILL);
            turns -= turns > 0;
            if (actor_stats(&h->a).is_parked)
                CHECK_OK(
                    guest_reply(h->a.guest, h->a.call.id, 0, (int64_t)++l->given, STR(""), NULL));
            (void)loop_turn(&h->r.loop, true);
        }
        l->acknowledged = l->given;
    }
}

TEST(whenever_a_host_is_killed_nothing_stale_is_resumed)
{
    struct house h;
    house_init(&h);
    struct ledger *l =
        mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(l != MAP_FAILED);
    for (unsigned i = 0; i < 30; i++) {
        unsigned turns = (unsigned)test_random_below(40);
        int status, pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            live_a_while(&h, l, turns, i % 5 == 0);
            _exit(1);
        }
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        rig_remove_dir(h.rig_dir);
    }
    (void)printf("# resumed %u times, started anew %u times\n", l->resumed, l->anew);
    CHECK(l->resumed > 0);
    (void)munmap(l, sizeof *l);
    house_fini(&h);
}

TEST(without_a_drain_a_shutdown_leaves_nothing)
{
    struct house h;
    house_init(&h);
    live(&h);
    actor_sleep(&h.a);
    close_house(&h);
    open_house(&h);
    check_is_new(&h);
    close_house(&h);
    house_fini(&h);
}

/* Each start without an id may be one of another boot. */
TEST(without_an_id_of_the_boot_guests_start_anew)
{
    struct house h;
    house_init(&h);
    for (unsigned i = 0; i < 3; i++) {
        rig_boot_code = i ? ENOENT : 0;
        open_house(&h);
        rig_boot_code = 0;
        check_is_new(&h);
        drain(&h);
        close_house(&h);
    }
    house_fini(&h);
}

TEST(a_boot_that_cannot_be_read_for_a_moment_costs_no_snapshot)
{
    struct house h;
    struct loop loop;
    struct guest_host *host = NULL;
    struct err err = { 0 };
    house_init(&h);
    CHECK_OK(loop_init(&loop, NULL));
    live(&h);
    drain(&h);
    close_house(&h);
    struct guest_host_opts opts = manual;
    opts.swap_dir = h.swap;
    sys_fail_nth(SYS_OPENAT, 1, EMFILE);
    CHECK_ERR(guest_host_new(&loop, &opts, &host, &err), -EMFILE);
    sys_fail_nth(SYS_OPENAT, 0, 0);
    CHECK(!host && strstr(err_text(&err), "boot_id"));
    loop_fini(&loop);
    open_house(&h);
    check_remembers(&h);
    close_house(&h);
    house_fini(&h);
}

TEST(another_generation_or_other_settings_start_anew)
{
    const struct guest_env env = { STR("X"), STR("y") };
    const struct guest_spec others[] = {
        { .generation = 4 },
        { .generation = 3, .env = &env, .n_env = 1 },
        { .generation = 3, .memory_max_bytes = 32 << 20 },
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct house h;
        house_init(&h);
        live(&h);
        drain(&h);
        close_house(&h);
        open_as(&h, others[i]);
        WAIT(&h.r, actor_is_idle(&h.a));
        check_is_new(&h);
        close_house(&h);
        house_fini(&h);
    }
}

TEST(the_service_may_refuse_what_was_declared_before)
{
    struct house h;
    house_init(&h);
    live(&h);
    drain(&h);
    close_house(&h);
    open_as(&h, (struct guest_spec){ .generation = 3 });
    h.a.declare_value = GUEST_E_INVALID;
    actor_activate(&h.a, 2, "value"); /* waits for what becomes of it */
    WAIT(&h.r, h.a.calls == 1);
    h.a.declare_value = 0;
    WAIT(&h.r, h.a.dones == 1);
    CHECK_INT(h.a.calls, 2);
    CHECK(actor_reported(&h.a, "done 2 0 0\n"));
    CHECK_INT(h.a.states[GUEST_FAILED], 0);
    close_house(&h);
    house_fini(&h);
}

/* ---- damage ---- */

enum damage { PAGE, HOLE, SUMS, HEADER, DECLARATION, TRUNCATED, DAMAGES };

static void hurt(int fd, enum damage what)
{
    uint64_t max = GUEST_MEMORY_MAX_DEFAULT, at = 0;
    char byte;
    switch (what) {
    case PAGE:
        at = (uint64_t)lseek(fd, 0, SEEK_DATA) + 4096 + 17;
        break;
    case HOLE:
        at = (uint64_t)lseek(fd, 0, SEEK_HOLE) + 17;
        break;
    case SUMS:
        at = snapshot_sums_at(max) + 5;
        break;
    case HEADER:
        at = snapshot_header_at(max) + 60;
        break;
    case DECLARATION:
        at = snapshot_declaration_at(max) + 17;
        break;
    case TRUNCATED:
    case DAMAGES:
        CHECK_OK(ftruncate(fd, 8192));
        return;
    }
    CHECK(pread(fd, &byte, 1, (off_t)at) == 1);
    byte ^= 0x10;
    CHECK_INT(pwrite(fd, &byte, 1, (off_t)at), 1);
}

/* The only file of the directory. */
static int open_swap_file(const struct house *h, const char *sub)
{
    char path[512] = "";
    char dir_path[128];
    (void)snprintf(dir_path, sizeof dir_path, "%s%s", h->swap, sub);
    DIR *dir = opendir(dir_path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_type == DT_REG)
            (void)snprintf(path, sizeof path, "%s/%s", dir_path, e->d_name);
    (void)closedir(dir);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

TEST(a_guest_whose_snapshot_is_damaged_starts_anew)
{
    for (enum damage what = PAGE; what < DAMAGES; what++) {
        struct house h;
        house_init(&h);
        live(&h);
        drain(&h);
        close_house(&h);
        int fd = open_swap_file(&h, "");
        hurt(fd, what);
        (void)close(fd);
        open_house(&h);
        if (what <= SUMS) { /* found when it is to go on: nothing of it has run */
            CHECK_INT(actor_state(&h.a), GUEST_ASLEEP);
            actor_activate(&h.a, 2, "value");
            WAIT(&h.r, actor_stats(&h.a).incarnation == 1);
            CHECK(str_find(str_of(actor_stats(&h.a).last_error), STR("damaged")) >= 0);
            WAIT(&h.r, actor_is_idle(&h.a));
            CHECK_INT(h.a.dones, 0);
        }
        check_is_new(&h);
        close_house(&h);
        house_fini(&h);
    }
}

TEST(a_swap_file_that_changes_while_its_guest_sleeps_is_found_out)
{
    struct house h;
    house_init(&h);
    live(&h);
    actor_sleep(&h.a);
    int fd = open_swap_file(&h, "");
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } };
    hurt(fd, PAGE);
    CHECK_OK(futimens(fd, times)); /* surely another time than before */
    (void)close(fd);
    actor_activate(&h.a, 2, "value");
    WAIT(&h.r, actor_stats(&h.a).incarnation == 1 && actor_is_idle(&h.a));
    check_is_new(&h);
    close_house(&h);
    house_fini(&h);
}

TEST(sums_differ_for_pages_that_do)
{
    static uint8_t page[SNAPSHOT_PAGE];
    uint32_t zero = snapshot_page_sum(page);
    CHECK(zero != 0);
    for (unsigned i = 0; i < SNAPSHOT_PAGE; i += 61) {
        page[i] = 1;
        CHECK(snapshot_page_sum(page) != zero);
        page[i] = 0;
    }
    CHECK_INT(snapshot_page_sum(page), zero);
}

TEST_MAIN
