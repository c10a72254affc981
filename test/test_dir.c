/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator/dir: wasm_config.yaml in a real directory with real inotify, operators whose modules and
 * guests are played by hand.
 */
#include "operator/host/dir.h"

#include "base/sys.h"
#include "fake_guests.h"
#include "fake_transport.h"
#include "operator/discovery.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum { DEADLINE_MS = 60000 };
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct calls_env env;
    struct module_sources *sources;
    struct operators *os;
    struct dir *dir;
    char path[64];
    bool closed;
    unsigned synced;
};

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_init(struct rig *r)
{
    struct err err = { 0 };
    *r = (struct rig){ .path = "/tmp/dm-test-dir-XXXXXX" };
    CHECK(mkdtemp(r->path));
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, &err));
    r->env = (struct calls_env){ .loop = &r->loop,
                                 .transport = &r->fake.base,
                                 .hub = r->hub,
                                 .discovery = discovery_new(&r->loop, &r->fake.base) };
    struct module_sources_opts sources = {
        .loop = &r->loop, .transport = &r->fake.base, .hub = r->hub, .dir = "/tmp"
    };
    CHECK_OK(module_sources_new(&sources, &r->sources, &err));
    struct operators_opts opts = { .loop = &r->loop, .env = &r->env, .sources = r->sources };
    CHECK_OK(operators_new(&opts, &r->os, &err));
}

static void on_closed(void *arg)
{
    struct rig *r = arg;
    r->closed = true;
}

static void rig_fini(struct rig *r)
{
    dir_close(r->dir);
    for (size_t i = 0; i < fake_gets.n; i++)
        if (!fake_gets.at[i].ended)
            fake_gets.at[i].cancelled = true;
    operators_close(r->os, on_closed, r);
    fake_gets_settle();
    turn(r);
    CHECK(r->closed);
    module_sources_close(r->sources);
    discovery_free(r->env.discovery);
    watch_hub_close(r->hub, NULL, NULL);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
    fake_guests_fini();
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", r->path);
    CHECK_INT(system(command), 0);
}

static void write_file(struct rig *r, const char *name, const char *text)
{
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, r->path, O_RDONLY | O_DIRECTORY, 0);
    CHECK_OK(dir);
    CHECK_OK(sys_write_file_atomic(dir, name, str_of(text), 0600, NULL));
}

static void write_config(struct rig *r, const char *text)
{
    write_file(r, "wasm_config.yaml", text);
}

static void on_synced(void *arg)
{
    struct rig *r = arg;
    r->synced++;
}

static int start(struct rig *r, struct err *err)
{
    struct dir_opts opts = { .loop = &r->loop, .path = r->path, .on_synced = on_synced, .arg = r };
    return dir_start(&opts, r->os, &r->dir, err);
}

/* The config is refused with this text, and nothing is applied. */
static void check_refused(const char *config, const char *text)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    write_config(&r, config);
    CHECK(start(&r, &err) < 0);
    if (!strstr(err.text, text))
        TEST_FAIL("'%s' does not contain '%s'", err.text, text);
    CHECK(strstr(err.text, "wasm_config.yaml"));
    CHECK_INT(operators_count(r.os), 0);
    r.dir = NULL;
    rig_fini(&r);
}

static bool has(struct rig *r, const char *name, uint64_t generation)
{
    struct operator* o = operators_find(r->os, "", name);
    struct operator_view v = { 0 };
    if (o)
        operator_view(o, &v);
    return generation ? o && v.generation == generation : !o;
}

static void on_deadline(struct timer *t)
{
    TEST_FAIL("waited in vain");
}

/* Until the operator is there in that generation; 0: until it is gone. */
static void await(struct rig *r, const char *name, uint64_t generation)
{
    struct timer deadline = { 0 };
    timer_start(&r->loop, &deadline, DEADLINE_MS, on_deadline);
    while (!has(r, name, generation))
        (void)loop_turn(&r->loop, true);
    timer_stop(&r->loop, &deadline);
}

TEST(every_document_is_an_operator_and_empty_ones_are_none)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_config(
        &r, "---\nname: one\nwasm: a.wasm\n---\n---\n# nothing here\n---\nname: two\nwasm: a.wasm\n"
            "args: [x, \"1\"]\nenv:\n- name: A\n  value: b\n- name: EMPTY\nabi: g2\nmemory: 1Mi\n"
            "allow:\n- verbs: [get]\n  paths: [/api/v1/nodes]\n");
    CHECK_OK(start(&r, NULL));
    CHECK_INT(r.synced, 0); /* never from inside */
    turn(&r);
    CHECK_INT(r.synced, 1);
    CHECK_INT(operators_count(r.os), 2);
    CHECK_INT(fake_gets.n, 2);
    fake_compile(&fake_gets.at[0], &fake_g2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    struct guest *g = fake_guests.at[1];
    CHECK_STR(str_of(g->name), "two");
    CHECK(g->n_args == 2 && g->n_env == 2 && g->memory_max_bytes == 1 << 20 &&
          g->abi == GUEST_ABI_G2);
    rig_fini(&r);
}

TEST(a_file_beside_each_module_is_an_operator_where_there_is_no_config)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    write_file(&r, "one.wasm", "x");
    write_file(&r, "one.yaml", "name: first\nabi: rust_v1alpha1\n");
    write_file(&r, "two.wasm", "x");
    write_file(&r, "two.yaml", "name: second\nabi: rust_v1alpha1\nargs: [a]\n");
    write_file(&r, "deployment.yaml", "kind: Deployment\n"); /* no module beside it */
    write_file(&r, "three.wasm", "x");                       /* no file beside it */
    CHECK_OK(start(&r, &err));
    CHECK_INT(operators_count(r.os), 2);
    CHECK_INT(fake_gets.n, 2);
    fake_compile(&fake_gets.at[0], &fake_g1);
    CHECK_STR(str_of(fake_guests.at[0]->name), "first");
    CHECK_INT(fake_guests.at[0]->abi, GUEST_ABI_G1);
    write_file(&r, "three.yaml", "name: third\n");
    await(&r, "third", 1);
    CHECK(has(&r, "first", 1));
    write_config(&r,
                 "name: alone\nwasm: one.wasm\nabi: rust_v1alpha1\n"); /* then it alone counts */
    await(&r, "alone", 1);
    CHECK(has(&r, "first", 0) && has(&r, "third", 0));
    rig_fini(&r);
}

TEST(an_error_in_a_file_beside_a_module_names_that_file)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    write_file(&r, "one.wasm", "x");
    write_file(&r, "one.yaml", "name: first\nabi: rust_v2\n");
    CHECK(start(&r, &err) < 0);
    CHECK(strstr(err.text, "one.yaml") && strstr(err.text, "rust_v1alpha1"));
    r.dir = NULL;
    rig_fini(&r);
}

TEST(an_empty_file_is_no_operators)
{
    struct rig r;
    rig_init(&r);
    write_config(&r, "");
    CHECK_OK(start(&r, NULL));
    CHECK_INT(operators_count(r.os), 0);
    rig_fini(&r);
}

TEST(names_that_a_file_system_takes_for_one_have_files_of_their_own)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_config(&r, "name: a/b\nwasm: a.wasm\n---\nname: a_b\nwasm: a.wasm\n");
    CHECK_OK(start(&r, NULL));
    fake_compile(&fake_gets.at[0], &fake_g2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    const char *a = fake_guests.at[0]->uid, *b = fake_guests.at[1]->uid;
    CHECK(strcmp(a + strlen("a/b"), b + strlen("a_b")) != 0);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- errors */

TEST(a_typo_is_named_with_its_line)
{
    check_refused("name: a\nwasm: a.wasm\n---\nname: b\nwsam: b.wasm\n",
                  "line 5, column 1: unknown key 'wsam'");
    check_refused("name: a\nwasm: a.wasm\nenv:\n- name: A\n  valeu: b\n",
                  "line 5, column 3: unknown key 'valeu'");
    check_refused("name: a\nwasm: a.wasm\nallow:\n- verb: [get]\n",
                  "line 4, column 3: unknown key 'verb'");
}

TEST(what_is_required_is_asked_for)
{
    check_refused("wasm: a.wasm\n", "'name' is required and a string");
    check_refused("name: ''\nwasm: a.wasm\n", "line 1, column 1: 'name' is required");
    check_refused("name: a\n", "'wasm' is required and a file name");
}

TEST(a_module_by_url_has_a_digest)
{
    check_refused("name: a\nwasm: oci://registry.example/team/ring:v1\n",
                  "line 2, column 1: a module by URL needs 'sha256'");
    check_refused("name: a\nwasm: ftp://registry.example/a.wasm\nsha256: '" ZEROS "'\n",
                  "line 2, column 1: 'wasm': ");
    check_refused("name: a\nwasm: oci://Registry/UPPER\nsha256: '" ZEROS "'\n",
                  "line 2, column 1: 'wasm': ");
    check_refused("name: a\nwasm: a.wasm\nsha256: 0123\n",
                  "line 3, column 1: 'sha256' is a string of 64 hexadecimal digits");
}

TEST(wrong_types_are_named_with_their_line)
{
    check_refused("- name: a\n", "a document is not a mapping");
    check_refused("just text\n", "a document is not a mapping");
    check_refused("name: 7\nwasm: a.wasm\n", "line 1, column 1: 'name' is required and a string");
    check_refused("name: a\nwasm: [a]\n", "line 2, column 1: 'wasm' is required");
    check_refused("name: a\nwasm: a.wasm\nenv: {A: b}\n", "line 3, column 1: 'env' is not a list");
    check_refused("name: a\nwasm: a.wasm\nenv:\n- A=b\n", "line 4, column 3: an 'env' entry");
    check_refused(
        "name: a\nwasm: a.wasm\nenv:\n- name: A\n  value: 1\n",
        "line 4, column 3: 'name' and 'value' of an 'env' entry are strings (quote numbers)");
    check_refused("name: a\nwasm: a.wasm\nargs: x\n",
                  "line 3, column 1: 'args' is not a list of strings");
    check_refused("name: a\nwasm: a.wasm\nargs: [x, 1]\n",
                  "line 3, column 11: 'args' is not a list of strings");
    check_refused("name: a\nwasm: a.wasm\nallow: all\n", "line 3, column 1: 'allow' is not a list");
    check_refused("name: a\nwasm: a.wasm\nallow:\n- verbs: [got]\n  paths: [/a]\n",
                  "unknown verb 'got'");
    check_refused("name: a\nwasm: a.wasm\nabi: g3\n",
                  "line 3, column 1: 'abi' is auto, g1, g2 or v1");
    check_refused("name: a\nwasm: a.wasm\nabi: [g1]\n",
                  "line 3, column 1: 'abi' is auto, g1, g2 or v1");
    check_refused("name: a\nwasm: a.wasm\nmemory: lots\n",
                  "line 3, column 1: 'memory' is a size between 64Ki and 4Gi");
    check_refused("name: a\nwasm: a.wasm\nmemory: 1Ki\n", "line 3, column 1: 'memory' is a size");
    check_refused("name: a\nwasm: a.wasm\nmemory: 8Gi\n", "line 3, column 1: 'memory' is a size");
}

TEST(values_over_the_limits_are_refused_before_anything_is_applied)
{
    check_refused(
        "name: ok\nwasm: a.wasm\n---\nname: a\nwasm: a.wasm\nenv:\n- name: A=B\n  value: b\n",
        "line 4, column 1: 'A=B' is no name of an environment variable");
}

TEST(a_name_or_key_that_occurs_twice_is_refused)
{
    check_refused("name: a\nwasm: a.wasm\n---\nname: a\nwasm: b.wasm\n",
                  "line 4, column 1: two operators are named 'a'");
    check_refused("name: a\nwasm: a.wasm\nwasm: b.wasm\n", "key 'wasm' occurs twice");
}

TEST(yaml_that_is_none_names_its_line)
{
    check_refused("name: a\nwasm: [a\n", "line 3");
    check_refused("name: a\n\twasm: a\n", "line 2");
}

TEST(a_missing_directory_or_config_is_an_error)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r);
    CHECK_ERR(start(&r, &err), -ENOENT);
    CHECK(strstr(err.text, "wasm_config.yaml"));
    struct dir_opts opts = { .loop = &r.loop, .path = "/nonexistent/operators" };
    CHECK_ERR(dir_start(&opts, r.os, &r.dir, &err), -ENOENT);
    CHECK(strstr(err.text, "operator directory '/nonexistent/operators'"));
    r.dir = NULL;
    rig_fini(&r);
}

/* ---------------------------------------------------------------- where modules are looked for */

TEST(modules_are_found_in_the_directory_before_the_working_directory)
{
    struct rig r;
    char cwd[PATH_MAX];
    rig_init(&r);
    CHECK(getcwd(cwd, sizeof cwd));
    scoped(free_scoped) char *there = xasprintf("%s/cwd", r.path);
    CHECK_INT(mkdir(there, 0700), 0);
    write_file(&r, "cwd/both.wasm", "x");
    write_file(&r, "cwd/only.wasm", "x");
    write_file(&r, "both.wasm", "x");
    CHECK_INT(chdir(there), 0);
    write_config(
        &r,
        "name: a\nwasm: both.wasm\n---\nname: b\nwasm: only.wasm\n---\nname: c\nwasm: none.wasm\n");
    CHECK_OK(start(&r, NULL));
    CHECK_INT(fake_gets.n, 2); /* a and b are there */
    struct operator_view v;
    operator_view(operators_find(r.os, "", "c"), &v);
    CHECK_STR(str_of(v.reason), "ModuleNotFound");
    CHECK(strstr(v.message, r.path));  /* named below the directory */
    CHECK_INT(unlink("both.wasm"), 0); /* the one of the working directory: not the one in use */
    write_config(
        &r,
        "name: a\nwasm: both.wasm\n---\nname: b\nwasm: only.wasm\n---\nname: d\nwasm: none.wasm\n");
    await(&r, "d", 1);
    CHECK(has(&r, "a", 1));
    CHECK_INT(chdir(cwd), 0);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- changes */

static void remove_config(struct rig *r)
{
    scoped(free_scoped) char *path = xasprintf("%s/wasm_config.yaml", r->path);
    CHECK_OK(unlink(path));
}

/* Write a config, or with NULL remove it, and turn until the log says so. */
static void await_complaint(struct rig *r, const char *config, const char *text)
{
    struct timer deadline = { 0 };
    char log[4096];
    int saved = dup(STDERR_FILENO), file = sys_memfd("log");
    ssize_t n = 0;
    CHECK(saved >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    if (config)
        write_config(r, config);
    else
        remove_config(r);
    timer_start(&r->loop, &deadline, DEADLINE_MS, on_deadline);
    while (n == 0) {
        (void)loop_turn(&r->loop, true);
        n = sys_pread_full(file, log, sizeof log - 1, 0);
    }
    timer_stop(&r->loop, &deadline);
    CHECK(dup2(saved, STDERR_FILENO) >= 0);
    (void)close(saved);
    (void)close(file);
    log[n] = '\0';
    CHECK(strstr(log, text));
}

TEST(operators_come_change_and_go_with_the_file)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_config(&r, "name: stays\nwasm: a.wasm\n---\nname: changes\nwasm: a.wasm\n---\nname: "
                     "goes\nwasm: a.wasm\n");
    CHECK_OK(start(&r, NULL));
    CHECK_INT(fake_gets.n, 3);
    write_config(&r, "name: comes\nwasm: a.wasm\n---\n# in another order\nname: changes\nwasm: "
                     "a.wasm\nargs: [new]\n---\nname: stays\nwasm: a.wasm\n");
    await(&r, "comes", 1);
    CHECK(has(&r, "stays", 1));
    CHECK(has(&r, "changes", 2));
    CHECK(has(&r, "goes", 0));
    CHECK_INT(operators_count(r.os), 3);
    rig_fini(&r);
}

TEST(a_new_module_file_replaces_the_operators_that_use_it)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_file(&r, "b.wasm", "x");
    write_config(
        &r,
        "name: a\nwasm: a.wasm\n---\nname: b\nwasm: b.wasm\n---\nname: late\nwasm: late.wasm\n");
    CHECK_OK(start(&r, NULL));
    write_file(&r, "a.wasm", "xx");
    await(&r, "a", 2);
    CHECK(has(&r, "b", 1));
    write_file(&r, "late.wasm", "x"); /* was missing */
    await(&r, "late", 2);
    CHECK(has(&r, "a", 2));
    CHECK(has(&r, "b", 1));
    rig_fini(&r);
}

TEST(an_error_in_a_changed_file_changes_nothing_until_it_is_mended)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_config(&r, "name: a\nwasm: a.wasm\n");
    CHECK_OK(start(&r, NULL));
    await_complaint(&r, "name: new\nwasm: a.wasm\n---\nname: a\nwasm: a.wasm\nagrs: []\n",
                    "line 6, column 1: unknown key 'agrs'");
    CHECK(has(&r, "new", 0));
    CHECK(has(&r, "a", 1));
    write_config(&r, "name: new\nwasm: a.wasm\n---\nname: a\nwasm: a.wasm\nargs: []\n");
    await(&r, "new", 1);
    CHECK(has(&r, "a", 2));
    rig_fini(&r);
}

/* Files beside their modules are no stand-in for a config that is away for a moment. */
TEST(operators_stay_while_their_config_is_missing)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_file(&r, "pair.wasm", "x");
    write_file(&r, "pair.yaml", "name: pair\n");
    write_config(&r, "name: a\nwasm: a.wasm\n");
    CHECK_OK(start(&r, NULL));
    await_complaint(&r, NULL, "is gone");
    CHECK(has(&r, "a", 1));
    CHECK(has(&r, "pair", 0));
    write_config(&r, "name: a\nwasm: a.wasm\n---\nname: b\nwasm: a.wasm\n");
    await(&r, "b", 1);
    CHECK(has(&r, "a", 1));
    rig_fini(&r);
}

TEST(a_directory_that_is_closed_tells_nothing_any_more)
{
    struct rig r;
    rig_init(&r);
    write_file(&r, "a.wasm", "x");
    write_config(&r, "name: a\nwasm: a.wasm\n");
    CHECK_OK(start(&r, NULL));
    dir_close(take_ptr(&r.dir));
    turn(&r);
    CHECK_INT(r.synced, 0);
    CHECK(has(&r, "a", 1)); /* operators stay */
    rig_fini(&r);
}

TEST_MAIN
