/* SPDX-License-Identifier: Apache-2.0 */
/* api/datadir: first start, restart, renewal, refusal of what is not ours, a disk that fails. */
#include "test.h"

#include "api/datadir.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "io/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const struct datadir_names local = { .host = "127.0.0.1" };

static struct datadir *opened(const char *path, const char *host)
{
    struct datadir *d = NULL;
    struct err err = { 0 };
    int r = datadir_open(path, &(struct datadir_names){ .host = host }, &d, &err);
    if (r < 0)
        TEST_FAIL("datadir_open: %s", err_text(&err));
    return d;
}

TEST(a_first_start_makes_all_and_a_second_finds_it)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    CHECK(mkdtemp(root));
    scoped(free_scoped) char *path = xasprintf("%s/a/data", root);
    struct datadir *d = opened(path, "127.0.0.1");
    struct stat st;
    CHECK_INT(fstat(d->fd, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    CHECK_INT(fstatat(d->fd, "admin.token", &st, 0), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK(d->token.n >= 2 * DATADIR_TOKEN_BYTES);
    struct datadir *again = opened(path, "127.0.0.1");
    CHECK(str_eq(buf_str(&d->token), buf_str(&again->token)));
    CHECK(str_eq(buf_str(&d->ca_cert), buf_str(&again->ca_cert)));
    CHECK(str_eq(buf_str(&d->server_cert), buf_str(&again->server_cert)));
    datadir_free(again);
    again = opened(path, "10.1.2.3"); /* a name that the old certificate does not have */
    CHECK(!str_eq(buf_str(&d->server_cert), buf_str(&again->server_cert)));
    datadir_free(again);
    datadir_free(d);
    remove_tree(root);
}

TEST(a_certificate_near_its_end_is_replaced)
{
    static const char *const names[] = { "localhost" };
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(root));
    struct datadir *d = opened(root, "127.0.0.1");
    bool replaced = true;
    CHECK_OK(datadir_renew(d, &local, &replaced, &err));
    CHECK(!replaced);
    CHECK(d->cert_renew_at_s > clock_wall_ms() / 1000);
    buf_reset(&d->server_cert);
    buf_reset(&d->server_key);
    CHECK_OK(x509_make_server(buf_str(&d->ca_cert), buf_str(&d->ca_key), "x", names, 1,
                              DATADIR_CERT_RENEW_DAYS - 1, &d->server_cert, &d->server_key, &err));
    CHECK_OK(datadir_renew(d, &local, &replaced, &err));
    CHECK(replaced);
    int64_t left_s;
    CHECK_OK(x509_seconds_left(buf_str(&d->server_cert), &left_s, &err));
    CHECK(left_s > (DATADIR_CERT_DAYS - 1) * 86400LL);
    datadir_free(d);
    remove_tree(root);
}

static bool is_for(const struct datadir *d, const char *name)
{
    struct buf text = BUF_INIT(64 << 10);
    CHECK_OK(sys_read_file(d->fd, "pki/server.names", &text, NULL));
    scoped(free_scoped) char *line = xasprintf("\n%s\n", name);
    bool is = str_find(buf_str(&text), str_of(line)) >= 0;
    buf_fini(&text);
    return is;
}

TEST(a_certificate_is_for_the_names_that_were_asked_for)
{
    static const char *const extra[] = { "cluster.example.org", "192.0.2.7", "::1" };
    struct datadir_names names = { .host = "0.0.0.0", .extra = extra, .n_extra = 3 };
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    struct datadir *d;
    bool replaced = true;
    CHECK(mkdtemp(root));
    CHECK_OK(datadir_open(root, &names, &d, &err));
    CHECK(is_for(d, "cluster.example.org") && is_for(d, "192.0.2.7") && !is_for(d, "0.0.0.0"));
    CHECK_OK(datadir_renew(d, &names, &replaced, &err));
    CHECK(!replaced);
    names.n_extra = 1; /* another set: another certificate */
    CHECK_OK(datadir_renew(d, &names, &replaced, &err));
    CHECK(replaced && !is_for(d, "192.0.2.7"));
    datadir_free(d);
    remove_tree(root);
}

TEST(only_names_and_addresses_are_fit_for_a_certificate)
{
    static const char *const good[] = { "a", "a.b-c.d", "*.example.org", "10.0.0.1", "fe80::1" };
    static const char *const bad[] = { "",     ".", "a..b", "-a", "a b",         "a.",
                                       "a\nb", "*", "*.",   "a/", "https://x.y", "x:6443" };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        CHECK_OK(datadir_check_name(good[i], NULL));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (datadir_check_name(bad[i], NULL) != E_INVALID)
            TEST_FAIL("'%s' is taken for a name", bad[i]);
}

static int try_open(const char *path, struct err *err)
{
    struct datadir *d = NULL;
    int r = datadir_open(path, &local, &d, err);
    datadir_free(d);
    return r;
}

TEST(what_is_not_ours_is_left_alone)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(root));
    scoped(free_scoped) char *file = xasprintf("%s/thesis.txt", root);
    scoped(free_scoped) char *format = xasprintf("%s/format", root);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, file, STR("precious"), 0600, &err));
    CHECK_ERR(try_open(root, &err), -ENOTEMPTY);
    CHECK(access(format, F_OK) != 0);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, format, STR("dormouse data 99\n"), 0600, &err));
    CHECK_ERR(try_open(root, &err), E_VERSION);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, format, STR("something else\n"), 0600, &err));
    CHECK_ERR(try_open(root, &err), E_CORRUPT);
    CHECK_ERR(try_open(file, &err), -ENOTDIR);
    remove_tree(root);
}

TEST(a_lost_certificate_of_the_authority_is_made_again_for_its_key)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    struct datadir *d, *again;
    CHECK(mkdtemp(root));
    CHECK_OK(datadir_open(root, &local, &d, &err));
    scoped(free_scoped) char *cert = xasprintf("%s/pki/ca.crt", root);
    CHECK_OK(unlink(cert));
    CHECK_OK(datadir_open(root, &local, &again, &err));
    CHECK(str_eq(buf_str(&d->ca_key), buf_str(&again->ca_key)));
    CHECK(str_eq(buf_str(&d->server_cert), buf_str(&again->server_cert)));
    CHECK_OK(x509_check_pair(buf_str(&again->ca_cert), buf_str(&d->ca_key), &err));
    datadir_free(d);
    datadir_free(again);
    remove_tree(root);
}

TEST(a_disk_that_fails_leaves_a_directory_that_can_be_opened)
{
    static const enum sys_call kinds[] = { SYS_OPENAT, SYS_WRITE, SYS_FSYNC, SYS_RENAMEAT };
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (unsigned nth = 1;; nth++) {
            char root[] = "/tmp/dm-test-XXXXXX";
            struct err err = { 0 };
            CHECK(mkdtemp(root));
            sys_fail_nth(kinds[k], nth, EIO);
            int r = try_open(root, &err);
            bool reached = sys_call_count(kinds[k]) >= nth;
            sys_fail_nth(kinds[k], 0, 0);
            if (reached)
                CHECK(r < 0);
            if (try_open(root, &err) < 0)
                TEST_FAIL("after failure %u of call %zu: %s", nth, k, err_text(&err));
            remove_tree(root);
            if (!reached)
                break;
        }
    }
}

/* So that things can be deleted: what a start writes again is what it can do without. */
TEST(a_full_disk_does_not_keep_a_directory_from_being_opened)
{
    static const enum sys_call kinds[] = { SYS_WRITE, SYS_FSYNC, SYS_RENAMEAT };
    static const char *const extra[] = { "other.example.org" };
    struct datadir_names more = local;
    more.extra = extra;
    more.n_extra = 1;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        bool reached = true;
        for (unsigned nth = 1; reached; nth++) {
            char root[] = "/tmp/dm-test-XXXXXX";
            struct err err = { 0 };
            struct datadir *d;
            CHECK(mkdtemp(root));
            CHECK_OK(try_open(root, &err));
            sys_fail_nth(kinds[k], nth, ENOSPC);
            if (datadir_open(root, &more, &d, &err) < 0) /* a certificate for another name */
                TEST_FAIL("failure %u of call %zu: %s", nth, k, err_text(&err));
            scoped(free_scoped) char *path = NULL;
            CHECK_OK(datadir_write_kubeconfig(d, NULL, "https://127.0.0.1:1", &path, &err));
            reached = sys_call_count(kinds[k]) >= nth;
            sys_fail_nth(kinds[k], 0, 0);
            datadir_free(d);
            CHECK_OK(datadir_open(root, &more, &d, &err)); /* and what is there fits together */
            CHECK_OK(x509_check_pair(buf_str(&d->server_cert), buf_str(&d->server_key), &err));
            datadir_free(d);
            remove_tree(root);
        }
    }
}

TEST(a_kubeconfig_that_says_the_same_is_not_written_again)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(root));
    struct datadir *d = opened(root, "127.0.0.1");
    scoped(free_scoped) char *first = NULL;
    scoped(free_scoped) char *second = NULL;
    struct stat before, after;
    CHECK_OK(datadir_write_kubeconfig(d, NULL, "https://127.0.0.1:1", &first, &err));
    CHECK_OK(stat(first, &before));
    CHECK_OK(datadir_write_kubeconfig(d, NULL, "https://127.0.0.1:1", &second, &err));
    CHECK_OK(stat(first, &after));
    CHECK_INT(before.st_ino, after.st_ino);
    CHECK_OK(chmod(first, 0644)); /* it would tell the token */
    free(second);
    CHECK_OK(datadir_write_kubeconfig(d, NULL, "https://127.0.0.1:1", &second, &err));
    CHECK_OK(stat(first, &after));
    CHECK_INT(after.st_mode & 0777, 0600);
    datadir_free(d);
    remove_tree(root);
}

TEST(an_authority_that_is_damaged_or_half_gone_is_said)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(root));
    CHECK_OK(try_open(root, &err));
    scoped(free_scoped) char *key = xasprintf("%s/pki/ca.key", root);
    scoped(free_scoped) char *sa = xasprintf("%s/pki/sa.key", root);
    CHECK_OK(unlink(sa)); /* a warning: a new one is made */
    CHECK_OK(try_open(root, &err));
    CHECK_OK(access(sa, F_OK));
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, key, STR("garbage"), 0600, &err));
    CHECK_ERR(try_open(root, &err), E_TLS);
    CHECK(str_find(str_of(err.text), STR("pki/ca.key")) >= 0);
    CHECK_OK(unlink(key));
    CHECK_ERR(try_open(root, &err), E_CORRUPT);
    CHECK(str_find(str_of(err.text), STR("pki/ca.key")) >= 0);
    remove_tree(root);
}

TEST(urls_name_an_address_that_can_be_reached)
{
    static const struct {
        const char *host, *url;
    } cases[] = { { "127.0.0.1", "https://127.0.0.1:6443" },
                  { "0.0.0.0", "https://127.0.0.1:6443" },
                  { "::", "https://[::1]:6443" },
                  { "fd00::1", "https://[fd00::1]:6443" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        scoped(free_scoped) char *url = datadir_url(cases[i].host, 6443);
        CHECK_STR(str_of(url), cases[i].url);
    }
}

TEST(the_kubeconfig_carries_the_authority_and_the_token)
{
    char root[] = "/tmp/dm-test-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(root));
    struct datadir *d = opened(root, "127.0.0.1");
    scoped(free_scoped) char *path = NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20), ca = BUF_INIT(1 << 20);
    CHECK_OK(datadir_write_kubeconfig(d, NULL, "https://127.0.0.1:1", &path, &err));
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, &err));
    CHECK_OK(base64_encode(&ca, buf_str(&d->ca_cert), BASE64_STD));
    CHECK(str_find(buf_str(&text), buf_str(&ca)) > 0);
    CHECK(str_find(buf_str(&text), buf_str(&d->token)) > 0);
    CHECK(str_find(buf_str(&text), STR("server: https://127.0.0.1:1\n")) > 0);
    datadir_free(d);
    remove_tree(root);
}

TEST_MAIN
