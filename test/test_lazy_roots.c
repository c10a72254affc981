/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of lazy mounts as a node sees them; the processes are this program. */
#include "base/boot.h"
#include "base/buf.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "codec/json.h"
#include "image/lazy_child.h"
#include "io/process.h"
#include "node/lazy_roots.h"
#include "temp_dir.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define MANIFEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- the process ---- */

static void write_status(struct str dir, const char *state, int code, const char *why)
{
    char boot[BOOT_ID_BYTES];
    struct process_facts facts;
    (void)boot_id_read(boot, NULL);
    (void)process_facts(getpid(), &facts);
    scoped(free_scoped) char *path = xasprintf(STR_FMT "/status", STR_ARG(dir));
    scoped(free_scoped) char *text =
        xasprintf("{\"state\":\"%s\",\"pid\":%d,\"startTicks\":%llu,\"boot\":\"%s\",\"asked\":true,"
                  "\"place\":\"%s\",\"config\":\"{}\",\"words\":2,\"code\":%d,\"why\":\"%s\","
                  "\"doneBytes\":1,\"allBytes\":3}",
                  state, (int)getpid(), (unsigned long long)facts.start_ticks, boot,
                  strcmp(state, "refused") == 0 ? "" : MANIFEST "/files", code, why);
    (void)sys_write_file_atomic(AT_FDCWD, path, str_of(text), 0600, NULL);
}

/* What the reference says, until it is not held any more, and then what comes after it. */
static int child(void)
{
    char text[4096];
    struct json *v;
    struct arena a = { 0 };
    sigset_t term;
    int ignored;
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &term, NULL);
    ssize_t n = read(STDIN_FILENO, text, sizeof text);
    if (n <= 0 || json_parse(&a, str_trim(str_n(text, (size_t)n)), NULL, &v, NULL) < 0)
        return 1;
    struct str dir = json_get_str(v, "dir");
    struct str what = json_get_str(json_getc(v, "get"), "reference");
    if (str_is(what, "refused") || str_is(what, "present")) {
        write_status(dir, "refused", str_is(what, "present") ? -EEXIST : -EIO, "because");
        return 0;
    }
    write_status(dir, "mounted", 0, "");
    while (read(STDIN_FILENO, text, sizeof text) > 0)
        continue;
    if (str_is(what, "missing"))
        write_status(dir, "mounted", 0, "it does not come");
    else if (str_is(what, "whole"))
        write_status(dir, "whole", 0, "");
    else if (str_is(what, "wrong"))
        write_status(dir, "broken", E_DIGEST, "it lies");
    if (str_is(what, "wrong") || str_is(what, "dies"))
        return 1;
    (void)sigwait(&term, &ignored);
    return 0;
}

/* ---- the node ---- */

struct rig {
    struct loop loop;
    struct lazy_roots *roots;
    char dir[TEMP_DIR_BYTES];
    int n_started, started, n_news;
    enum lazy_root_news news;
    char why[128];
};

static void on_news(void *arg, struct lazy_root *r, enum lazy_root_news news, const char *why)
{
    struct rig *g = arg;
    (void)r;
    if (news == LAZY_ROOT_ASKED)
        return;
    g->n_news++;
    g->news = news;
    (void)snprintf(g->why, sizeof g->why, "%s", why);
}

static void on_started(void *arg, int r, const char *why)
{
    struct rig *g = arg;
    g->n_started++;
    g->started = r;
    (void)snprintf(g->why, sizeof g->why, "%s", why);
}

static void open_roots(struct rig *g)
{
    g->roots = lazy_roots_new(&(struct lazy_roots_opts){
        .loop = &g->loop, .dir = g->dir, .store = "/none", .on_news = on_news, .arg = g });
}

static void start(struct rig *g)
{
    *g = (struct rig){ .started = 1 };
    CHECK(temp_dir_make("lazy-roots", g->dir));
    CHECK_OK(loop_init(&g->loop, NULL));
    open_roots(g);
}

static void stop(struct rig *g)
{
    lazy_roots_close(g->roots);
    loop_run(&g->loop);
    loop_fini(&g->loop);
    temp_dir_remove(g->dir);
}

static struct lazy_root *ask(struct rig *g, const char *reference, const char *tenant, int code)
{
    struct lazy_root *r = NULL;
    struct err err = { 0 };
    scoped(free_scoped) char *get = xasprintf("{\"reference\":\"%s\"}", reference);
    const struct lazy_root_want want = { .reference = str_of(reference),
                                         .tenant = str_of(tenant),
                                         .get = get,
                                         .on_started = on_started,
                                         .arg = g };
    CHECK_INT(lazy_roots_start(g->roots, &want, &r, &err), code);
    return r;
}

static struct lazy_root *mounted(struct rig *g, const char *reference)
{
    struct lazy_root *r = ask(g, reference, "team", 0);
    int n = g->n_started;
    while (g->n_started == n)
        (void)loop_turn(&g->loop, true);
    CHECK_INT(g->started, 0);
    return r;
}

static bool is_empty(const char *dir)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(tree_names_read(fd, &names, NULL));
    return names.all.n == 0;
}

/* What follows has no event of the loop: the removal of files is a job. */
static void wait_empty(struct rig *g)
{
    while (!is_empty(g->dir)) {
        (void)loop_turn(&g->loop, false);
        (void)poll(NULL, 0, 1);
    }
}

static void wait_news(struct rig *g, enum lazy_root_news news)
{
    while (!g->n_news || g->news != news)
        (void)loop_turn(&g->loop, true);
}

TEST(a_mount_is_shared_until_it_is_dropped_and_then_removed)
{
    struct rig g;
    start(&g);
    struct lazy_root *r = mounted(&g, "app");
    CHECK(str_has_suffix(str_of(lazy_root_dir(r)), STR("/" MANIFEST "/files")));
    CHECK_STR(lazy_root_config(r), "{}");
    CHECK_INT(lazy_root_words(r), 2);
    CHECK(lazy_roots_find(g.roots, STR("app")) == r);
    CHECK(!lazy_roots_find(g.roots, STR("other")));
    CHECK(lazy_roots_adopt(g.roots, str_of(lazy_root_dir(r))) == r);
    lazy_root_drop(r);
    CHECK(!lazy_roots_find(g.roots, STR("app")));
    wait_empty(&g);
    stop(&g);
}

TEST(what_is_refused_leaves_nothing)
{
    struct rig g;
    start(&g);
    (void)ask(&g, "refused", "team", 0);
    while (!g.n_started)
        (void)loop_turn(&g.loop, true);
    CHECK_INT(g.started, -EIO);
    CHECK_STR(str_of(g.why), "because");
    (void)ask(&g, "present", "team", 0);
    while (g.n_started < 2)
        (void)loop_turn(&g.loop, true);
    CHECK_INT(g.started, -EEXIST);
    wait_empty(&g);
    stop(&g);
}

TEST(the_rest_is_held_back_and_a_whole_one_is_not_shared_any_more)
{
    struct rig g;
    start(&g);
    struct lazy_root *r = mounted(&g, "whole");
    CHECK_INT(g.n_news, 0);
    CHECK(lazy_roots_find(g.roots, STR("whole")) == r);
    lazy_root_go_on(r);
    wait_news(&g, LAZY_ROOT_WHOLE);
    CHECK(!lazy_roots_find(g.roots, STR("whole")));
    lazy_root_drop(r);
    wait_empty(&g);
    stop(&g);
}

TEST(what_does_not_come_is_reported_with_what_is_here)
{
    struct rig g;
    start(&g);
    struct lazy_root *r = mounted(&g, "missing");
    lazy_root_go_on(r);
    wait_news(&g, LAZY_ROOT_MISSING);
    CHECK_STR(str_of(g.why), "1 of 3 bytes are here: it does not come");
    lazy_root_drop(r);
    wait_empty(&g);
    stop(&g);
}

TEST(a_registry_that_lied_is_not_asked_for_files_again)
{
    struct rig g;
    start(&g);
    struct lazy_root *r = mounted(&g, "wrong");
    lazy_root_go_on(r);
    wait_news(&g, LAZY_ROOT_BROKEN);
    CHECK_STR(str_of(g.why), "it lies");
    lazy_root_drop(r);
    wait_empty(&g);
    (void)ask(&g, "wrong", "team", E_DENIED);
    stop(&g);
}

TEST(a_process_that_dies_breaks_its_mount)
{
    struct rig g;
    start(&g);
    struct lazy_root *r = mounted(&g, "dies");
    lazy_root_go_on(r);
    wait_news(&g, LAZY_ROOT_BROKEN);
    CHECK(!lazy_roots_find(g.roots, STR("dies")));
    lazy_root_drop(r);
    wait_empty(&g);
    lazy_root_drop(mounted(&g, "dies")); /* it may be tried again */
    wait_empty(&g);
    stop(&g);
}

TEST(the_next_process_of_the_node_finds_mounts_again)
{
    struct rig g;
    start(&g);
    scoped(free_scoped) char *dir = xstrdup(lazy_root_dir(mounted(&g, "app")));
    lazy_roots_close(g.roots);
    loop_run(&g.loop);
    CHECK(!is_empty(g.dir));
    open_roots(&g);
    struct lazy_root *r = lazy_roots_adopt(g.roots, str_of(dir));
    CHECK(r);
    CHECK(!lazy_roots_adopt(g.roots, STR("/another")));
    lazy_root_drop(r);
    wait_empty(&g);
    stop(&g);
}

TEST(a_mount_that_no_container_claims_is_given_up)
{
    struct rig g;
    start(&g);
    (void)mounted(&g, "app");
    lazy_roots_close(g.roots);
    loop_run(&g.loop);
    open_roots(&g);
    loop_skip(&g.loop, LAZY_ROOTS_ADOPT_MS);
    wait_empty(&g);
    stop(&g);
}

TEST(a_mount_whose_process_has_gone_meanwhile_is_broken)
{
    struct rig g;
    start(&g);
    scoped(free_scoped) char *dir = xstrdup(lazy_root_dir(mounted(&g, "dies")));
    lazy_roots_close(g.roots); /* which ends its input */
    loop_run(&g.loop);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    open_roots(&g);
    struct lazy_root *r = lazy_roots_adopt(g.roots, str_of(dir));
    CHECK(r);
    wait_news(&g, LAZY_ROOT_BROKEN);
    lazy_root_drop(r);
    wait_empty(&g);
    stop(&g);
}

TEST(a_namespace_and_the_node_have_limits)
{
    struct rig g;
    struct lazy_root *all[LAZY_ROOTS_MAX];
    start(&g);
    for (int i = 0; i < LAZY_ROOTS_MAX; i++) {
        if (i == LAZY_ROOTS_OF_TENANT_MAX)
            (void)ask(&g, "app", "a", E_LIMIT);
        all[i] = ask(&g, "app", i < LAZY_ROOTS_OF_TENANT_MAX ? "a" : "b", 0);
    }
    (void)ask(&g, "app", "c", E_LIMIT);
    while (g.n_started < LAZY_ROOTS_MAX)
        (void)loop_turn(&g.loop, true);
    for (int i = 0; i < LAZY_ROOTS_MAX; i++)
        lazy_root_drop(all[i]);
    wait_empty(&g);
    lazy_root_drop(mounted(&g, "app"));
    wait_empty(&g);
    stop(&g);
}

int main(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAZY_CHILD_WORD))
        return child();
    return test_main(argc, argv);
}
