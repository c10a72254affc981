/* SPDX-License-Identifier: Apache-2.0 */
/* WASI preview 1 as guests see it: every function, called from a guest. */
#include "guest_rig.h"
#include "wasi_lines.h"

static void check_lines(const struct actor *a, bool is_old)
{
    struct str rest = buf_str(&a->log), line;
    for (size_t i = 0; i < ARRAY_LEN(wasi_lines); i++) {
        const char *want = wasi_lines[i];
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
