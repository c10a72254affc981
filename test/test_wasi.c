/* SPDX-License-Identifier: Apache-2.0 */
/* WASI preview 1 as guests see it: every function, called from a guest. */
#include "guest_rig.h"

/* What test/guests/wasi.c must have printed, in this order. */
static const char *const expected[] = {
    "fd_advise 8",
    "fd_allocate 8",
    "fd_datasync 8",
    "fd_fdstat_set_rights 8",
    "fd_filestat_set_size 8",
    "fd_filestat_set_times 8",
    "fd_pread 8",
    "fd_prestat_get 8", /* any other error ends Go and wasi-libc programs */
    "fd_prestat_dir_name 8",
    "fd_pwrite 8",
    "fd_readdir 8",
    "fd_renumber 8",
    "fd_sync 8",
    "path_create_directory 8",
    "path_filestat_get 8",
    "path_filestat_set_times 8",
    "path_link 8",
    "path_open 8",
    "path_readlink 8",
    "path_remove_directory 8",
    "path_rename 8",
    "path_symlink 8",
    "path_unlink_file 8",
    "sock_accept 8",
    "sock_recv 8",
    "sock_send 8",
    "sock_shutdown 8",
    "args_sizes_get 0",
    "args_count 2",
    "args_bytes 8",
    "args_get 0",
    "arg one",
    "arg two",
    "environ_sizes_get 0",
    "environ_count 1",
    "environ_get 0",
    "environ KEY=some=value",
    "fd_fdstat_get 0",
    "fdstat_type 2",
    "fdstat_rights 64",
    "fd_fdstat_get 0",
    "fdstat_rights 2",
    "fd_fdstat_get 8",
    "fd_fdstat_set_flags 58",
    "fd_fdstat_set_flags 8",
    "fd_filestat_get 0",
    "filestat_type 2",
    "filestat_after_56 0",
    "filestat_after_64 255",
    "fd_seek 70",
    "fd_seek 8",
    "fd_tell 70",
    "fd_read 0",
    "read 0",
    "fd_read 8",
    "fd_write 8",
    "fd_write 8",
    "fd_write 0",
    "fd_close 0",
    "fd_close 8",
    "clock_res_get 0",
    "clock_res_get 28",
    "clock_time_get 0",
    "wall_year 1",
    "clock_time_get 28",
    "sched_yield 0",
    "proc_raise 52",
    "random_get 0",
    "random 1",
    "poll_oneoff 28",
    "poll_oneoff 0",
    "events 1",
    "event_user 13",
    "event_errno 8",
    "event_type 1",
    "poll_oneoff 0",
    "events 1",
    "event_user 11",
    "slept 1",
    "poll_oneoff 0",
    "slept 0",
    "poll_oneoff 0",
    "event_errno 28",
    "poll_oneoff 28",
    "mono_forward 1",
};

static void check_lines(const struct actor *a, bool is_old)
{
    struct str rest = buf_str(&a->log), line;
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        const char *want = expected[i];
        char text[128];
        if (is_old && strcmp(want, "filestat_after_56 0") == 0)
            want = "filestat_after_56 255";
        (void)snprintf(text, sizeof text, "1 probe %s", want);
        (void)str_cut(rest, '\n', &line, &rest);
        CHECK_STR(line, text);
    }
}

static void run(const char *name, enum guest_abi abi, bool is_old)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000 });
    struct module *m = rig_module(&r, name);
    const struct str args[] = { STR("one"), STR("two") };
    const struct guest_env env[] = { { STR("KEY"), STR("some=value") } };
    actor_open(&a, &r,
               (struct guest_spec){
                   .module = m, .abi = abi, .args = args, .n_args = 2, .env = env, .n_env = 1 });
    WAIT(&r, actor_is_idle(&a));
    check_lines(&a, is_old);

    /* Its clock is five seconds ahead of ours; it stays so over sleep and over the runner's end. */
    for (unsigned i = 0; i < 3; i++) {
        unsigned lines = a.lines;
        actor_sleep(&a);
        if (i == 1) {
            int pid;
            CHECK_INT(guest_host_pids(r.host, &pid, 1), 1);
            CHECK_OK(kill(pid, SIGKILL));
            WAIT(&r, guest_host_pids(r.host, &pid, 1) == 0);
        }
        actor_complete(&a, i, 0);
        WAIT(&r, a.lines > lines);
    }
    CHECK(!actor_logged(&a, "mono_forward 0"));
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(all_functions_of_preview_1_answer_as_documented)
{
    run("wasi-g2", GUEST_ABI_G2, false);
}

TEST(the_version_before_has_other_layouts)
{
    run("wasi-old-g1", GUEST_ABI_G1, true);
}

TEST_MAIN
