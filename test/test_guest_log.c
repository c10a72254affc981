/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/guest_log: what operators log, on disk. */
#include "guest/guest_log.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/json.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char *dir;
static struct guest_logs *logs;
static struct buf content = BUF_INIT(4 << 20);

static void begin(void)
{
    char base[] = "/tmp/dm-test-log-XXXXXX";
    CHECK(mkdtemp(base));
    dir = xasprintf("%s/logs", base);
    logs = guest_logs_new(dir);
}

static void end(void)
{
    guest_logs_free(logs);
    scoped(free_scoped) char *remove = xasprintf("rm -r %.*s", (int)strlen(dir) - 5, dir);
    CHECK_INT(system(remove), 0);
    free(dir);
    buf_fini(&content);
}

static void add(const char *namespace, const char *name, const char *message, const char *fields)
{
    guest_log_add(logs, namespace, name,
                  &(struct guest_log_line){
                      .level = LOG_INFO, .message = str_of(message), .fields = str_of(fields) });
}

static struct str file(const char *namespace, const char *name, bool old)
{
    struct err err;
    scoped(free_scoped) char *path = guest_log_path(dir, namespace, name, old);
    buf_reset(&content);
    if (sys_read_file(AT_FDCWD, path, &content, &err) < 0)
        return STR_NULL;
    return buf_str(&content);
}

/* Every line is one JSON object; the member of the n-th. */
static void check_line(struct str text, size_t n, const char *member, const char *expected)
{
    struct str line = STR_NULL, rest = text;
    for (size_t i = 0; i <= n; i++)
        CHECK(str_cut(rest, '\n', &line, &rest));
    struct arena arena = { 0 };
    struct json *v;
    struct err err = { 0 };
    CHECK_OK(json_parse(&arena, line, NULL, &v, &err));
    CHECK_STR(json_get_str(v, member), expected);
    arena_fini(&arena);
}

static size_t count_lines(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

TEST(a_line_says_when_what_and_where)
{
    begin();
    guest_log_add(logs, "default", "mirror",
                  &(struct guest_log_line){ .level = LOG_WARN,
                                            .message = STR("no \"source\"\nyet"),
                                            .controller = STR("rules"),
                                            .key = STR("a/b"),
                                            .reconcile = STR("7f"),
                                            .fields = STR("{\"tries\": 3}") });
    struct str text = file("default", "mirror", false);
    CHECK_INT(count_lines(text), 1);
    check_line(text, 0, "level", "warn");
    check_line(text, 0, "message", "no \"source\"\nyet");
    check_line(text, 0, "controller", "rules");
    check_line(text, 0, "key", "a/b");
    CHECK(str_find(text, STR("\"reconcile\":\"7f\",\"fields\":{\"tries\":3}}")) > 0);
    struct stat st;
    CHECK(stat(dir, &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    end();
}

TEST(each_operator_has_its_file_whatever_its_name)
{
    begin();
    add("a", "x", "one", "");
    add("b", "x", "two", "");
    add("", "../../etc/passwd", "three", "");
    add("a", "x", "four", "no object");
    CHECK_INT(count_lines(file("a", "x", false)), 2);
    check_line(file("a", "x", false), 1, "fields", "no object");
    check_line(file("b", "x", false), 0, "message", "two");
    check_line(file("", "../../etc/passwd", false), 0, "message", "three");
    scoped(free_scoped) char *path = guest_log_path("/d", "", "../x", false);
    CHECK_STR(str_of(path), "/d/_/%2E.%2Fx.log");
    end();
}

TEST(a_file_that_is_full_becomes_the_old_one)
{
    begin();
    scoped(free_scoped) char *long_text = xnew_n(char, 10001);
    memset(long_text, 'x', 10000);
    for (size_t i = 0; i < 250; i++)
        add("a", "x", long_text, "");
    size_t old = count_lines(file("a", "x", true)), now = count_lines(file("a", "x", false));
    CHECK(old >= 100 && now >= 1 && old + now < 250);
    CHECK(file("a", "x", true).n <= GUEST_LOG_FILE_MAX);
    add("a", "x", "last", "");
    check_line(file("a", "x", false), now, "message", "last");
    guest_log_remove(logs, "a", "x");
    CHECK(!file("a", "x", false).p && !file("a", "x", true).p);
    end();
}

TEST(a_full_disk_loses_lines_and_says_so)
{
    begin();
    add("a", "x", "one", "");
    sys_fail_nth(SYS_WRITE, 1, ENOSPC);
    add("a", "x", "lost", "");
    sys_fail_nth(SYS_WRITE, 0, 0);
    add("a", "x", "two", "");
    struct str text = file("a", "x", false);
    CHECK_INT(count_lines(text), 2);
    check_line(text, 1, "message", "two");
    CHECK(str_find(text, STR("\"lostLines\":1}")) > 0);
    end();
}

TEST(the_beginning_of_a_line_does_not_spoil_the_next)
{
    begin();
    add("a", "x", "one", "");
    scoped(free_scoped) char *path = guest_log_path(dir, "a", "x", false);
    int fd = open(path, O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && write(fd, "{\"time\":", 8) == 8 && close(fd) == 0);
    guest_logs_free(logs);
    logs = guest_logs_new(dir);
    add("a", "x", "two", "");
    CHECK_INT(count_lines(file("a", "x", false)), 3);
    check_line(file("a", "x", false), 2, "message", "two");
    end();
}

TEST_MAIN
