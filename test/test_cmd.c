/* SPDX-License-Identifier: Apache-2.0 */
/* The command line parser. */
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool flag;
static int maybe = -1;
static const char *text;
static uint64_t number, duration, size;
static struct cmd_list list;

static const struct cmd_opt opts[] = {
    { "flag", 'f', NULL, "", CMD_FLAG, &flag, 0, 0 },
    { "maybe", 'm', NULL, "", CMD_BOOL, &maybe, 0, 0 },
    { "text", 't', "X", "", CMD_STRING, &text, 0, 0 },
    { "number", 0, "N", "", CMD_U64, &number, 1, 10 },
    { "wait", 0, "T", "", CMD_DURATION, &duration, 0, 0 },
    { "size", 0, "S", "", CMD_SIZE, &size, 0, 0 },
    { "item", 0, "I", "", CMD_LIST, &list, 0, 0 },
    { .name = NULL },
};
static const struct cmd cmd = { .name = "x", .doc = "" };

#define PARSE(max, n, ...)                                                                         \
    ({                                                                                             \
        const char *parse_argv_[] = { __VA_ARGS__ };                                               \
        cmd_parse(&cmd, opts, (int)ARRAY_LEN(parse_argv_), (char **)parse_argv_, max, n);          \
    })

TEST(options_and_words_mix)
{
    size_t n;
    CHECK_INT(PARSE(2, &n, "a", "--flag", "--text=b", "--number", "7", "-tc", "d", "--item", "1",
                    "--item=2"),
              0);
    CHECK(flag && n == 2);
    CHECK_STR(str_of(text), "c");
    CHECK_INT(number, 7);
    CHECK_INT(list.n, 2);
}

TEST(yes_or_no_may_stand_behind_an_option)
{
    size_t n;
    CHECK_INT(PARSE(1, &n, "--maybe", "word"), 0);
    CHECK(maybe == 1 && n == 1);
    CHECK_INT(PARSE(0, &n, "--maybe=false"), 0);
    CHECK_INT(maybe, 0);
    CHECK_INT(PARSE(0, &n, "--maybe=true"), 0);
    CHECK_INT(maybe, 1);
    CHECK_INT(PARSE(0, &n, "--maybe=1"), 1 + CMD_USAGE);
}

TEST(units_are_understood)
{
    size_t n;
    CHECK_INT(PARSE(0, &n, "--wait", "5m", "--size", "64Mi"), 0);
    CHECK_INT(duration, 300000);
    CHECK_INT(size, 64 << 20);
    CHECK_INT(PARSE(0, &n, "--wait", "500ms", "--size=10"), 0);
    CHECK_INT(duration, 500);
    CHECK_INT(size, 10);
    CHECK_INT(PARSE(0, &n, "--wait", "0"), 0); /* the only number without a unit, as in Go */
    CHECK_INT(duration, 0);
    CHECK_INT(PARSE(0, &n, "--wait", "00"), 1 + CMD_USAGE);
}

TEST(wrong_usage_is_status_2)
{
    size_t n;
    CHECK_INT(PARSE(0, &n, "--nope"), 1 + CMD_USAGE);
    CHECK_INT(PARSE(0, &n, "--text"), 1 + CMD_USAGE);
    CHECK_INT(PARSE(0, &n, "--number", "11"), 1 + CMD_USAGE);
    CHECK_INT(PARSE(0, &n, "--flag=1"), 1 + CMD_USAGE);
    CHECK_INT(PARSE(0, &n, "word"), 1 + CMD_USAGE);
    CHECK_INT(PARSE(0, &n, "--wait", "5"), 1 + CMD_USAGE);
    CHECK_INT(PARSE(1, &n, "--", "--flag"), 0);
    CHECK_INT(n, 1);
}

TEST(what_was_probably_meant_is_near)
{
    static const char *const names[] = { "deploy", "delete", "data-dir", "up", "fn top" };
    static const struct {
        const char *word, *near;
    } rows[] = { { "depoly", "deploy" },     { "delte", "delete" }, { "datadir", "data-dir" },
                 { "data_dir", "data-dir" }, { "ps", NULL },        { "completely-else", NULL },
                 { "fn tpo", "fn top" },     { "pu", "up" },        { "", NULL } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *near = cmd_nearest(rows[i].word, names, ARRAY_LEN(names));
        if (!near != !rows[i].near || (near && strcmp(near, rows[i].near) != 0))
            TEST_FAIL("'%s': '%s' is near", rows[i].word, near ? near : "nothing");
    }
}

TEST(a_heading_is_no_option)
{
    static const struct cmd_opt with_heading[] = { CMD_SECTION("Some"),
                                                   { "flag", 0, NULL, "", CMD_FLAG, &flag, 0, 0 },
                                                   { .name = NULL } };
    const char *const words[] = { "--=x", "--", "-" };
    size_t n;
    CHECK_INT(cmd_parse(&cmd, with_heading, 1, (char **)words, 1, &n), 1 + CMD_USAGE);
    CHECK_INT(cmd_parse(&cmd, with_heading, 1, (char **)words + 1, 1, &n), 0);
}

TEST(the_data_directory_may_be_said_by_the_environment)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    CHECK(mkdtemp(root));
    scoped(free_scoped) char *config = xasprintf("%s/kubeconfig", root);
    scoped(free_scoped) char *admin_socket = xasprintf("%s/admin.sock", root);
    CHECK_INT(setenv("DORMOUSE_DATA_DIR", "/from/env", 1), 0);
    CHECK_INT(setenv("KUBECONFIG", config, 1), 0);
    scoped(free_scoped) char *given = cmd_data_dir("/given");
    scoped(free_scoped) char *env = cmd_data_dir(NULL);
    scoped(free_scoped) char *asked = cmd_server_data_dir(NULL);
    CHECK_STR(str_of(given), "/given");
    CHECK_STR(str_of(env), "/from/env");
    CHECK_STR(str_of(asked), "/from/env");
    CHECK_INT(unsetenv("DORMOUSE_DATA_DIR"), 0);
    scoped(free_scoped) char *without = cmd_server_data_dir(NULL); /* no server runs there */
    CHECK(strcmp(without, root) != 0);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, admin_socket, STR("x"), 0600, NULL));
    scoped(free_scoped) char *beside = cmd_server_data_dir(NULL);
    scoped(free_scoped) char *server = cmd_data_dir(NULL); /* not for one that starts */
    CHECK_STR(str_of(beside), root);
    CHECK(strcmp(server, root) != 0);
    CHECK_INT(unlink(admin_socket), 0);
    CHECK_INT(rmdir(root), 0);
}

TEST(the_data_directory_is_absolute)
{
    static const char config[] = "kept/kubeconfig";
    char root[] = "/tmp/dm-test-XXXXXX";
    scoped(free_scoped) char *before = getcwd(NULL, 0);
    CHECK(before && mkdtemp(root) && chdir(root) == 0);
    scoped(free_scoped) char *kept = xasprintf("%s/kept", root);
    CHECK_INT(mkdir("kept", 0700), 0);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, "kept/admin.sock", STR("x"), 0600, NULL));
    CHECK_INT(unsetenv("DORMOUSE_DATA_DIR"), 0);
    CHECK_INT(setenv("KUBECONFIG", config, 1), 0);
    scoped(free_scoped) char *given = cmd_data_dir("kept");
    scoped(free_scoped) char *asked = cmd_server_data_dir("kept");
    scoped(free_scoped) char *beside = cmd_server_data_dir(NULL);
    CHECK_INT(setenv("DORMOUSE_DATA_DIR", "kept", 1), 0);
    scoped(free_scoped) char *env = cmd_data_dir(NULL);
    CHECK_INT(chdir("/"), 0);
    scoped(free_scoped) char *of_root = cmd_data_dir("kept");
    scoped(free_scoped) char *nothing = cmd_data_dir("");
    CHECK_STR(str_of(given), kept);
    CHECK_STR(str_of(asked), kept);
    CHECK_STR(str_of(beside), kept);
    CHECK_STR(str_of(env), kept);
    CHECK_STR(str_of(of_root), "/kept");
    CHECK_STR(str_of(nothing), "");
    CHECK_INT(unsetenv("DORMOUSE_DATA_DIR") | unsetenv("KUBECONFIG"), 0);
    scoped(free_scoped) char *admin_socket = xasprintf("%s/admin.sock", kept);
    CHECK_INT(unlink(admin_socket) | rmdir(kept) | rmdir(root) | chdir(before), 0);
}

TEST(listen_addresses)
{
    char host[64];
    uint16_t port;
    struct err err = { 0 };
    CHECK_OK(cmd_parse_listen("127.0.0.1:0", host, sizeof host, &port, &err));
    CHECK_STR(str_of(host), "127.0.0.1");
    CHECK_OK(cmd_parse_listen("[::1]:8443", host, sizeof host, &port, &err));
    CHECK_STR(str_of(host), "::1");
    CHECK_INT(port, 8443);
    CHECK_ERR(cmd_parse_listen("localhost", host, sizeof host, &port, &err), E_INVALID);
    CHECK_ERR(cmd_parse_listen("a:65536", host, sizeof host, &port, &err), E_INVALID);
}

TEST(an_error_does_not_talk_to_the_terminal)
{
    struct err err = { 0 };
    char out[256];
    scoped(fd_scoped) int to = memfd_create("stderr", MFD_CLOEXEC);
    scoped(fd_scoped) int was = dup(STDERR_FILENO);
    CHECK(to >= 0 && was >= 0);
    err_set(&err, E_INVALID, "'%s' is bad\nand more", "a\x1b[2J\rb");
    (void)fflush(stderr);
    CHECK(dup2(to, STDERR_FILENO) >= 0);
    int status = cmd_fail(CMD_FAILED, &err);
    (void)fflush(stderr);
    CHECK(dup2(was, STDERR_FILENO) >= 0);
    CHECK_INT(status, CMD_FAILED);
    ssize_t n = pread(to, out, sizeof out, 0);
    CHECK(n > 0);
    CHECK_STR(str_n(out, (size_t)n), "error: 'a?[2J?b' is bad\nand more\n");
}

TEST_MAIN
