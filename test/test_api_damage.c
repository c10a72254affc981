/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose store holds objects that a disk has damaged. */
#include "api_fixture.h"

#include "base/mem.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define RBAC        "/apis/rbac.authorization.k8s.io/v1"
#define ADMISSION   "/apis/admissionregistration.k8s.io/v1"
#define MARK        "damage-this-mark"
#define META        "\"metadata\":{\"name\":\"x\",\"annotations\":{\"a\":\"" MARK "\"}}"

/* Flip a bit of each mark in the file, as a bad disk does; how many. */
static size_t damage_marks(const struct fixture *f)
{
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f->dir);
    scoped(free_scoped) char *file = xalloc(16 << 20);
    scoped(fd_scoped) int fd = open(path, O_RDWR | O_CLOEXEC);
    size_t n = 0;
    CHECK(fd >= 0);
    ssize_t size = pread(fd, file, 16 << 20, 0);
    CHECK(size > 0 && size < 16 << 20);
    for (ssize_t at = 0; at + (ssize_t)sizeof MARK < size; at++) {
        if (memcmp(file + at, MARK, sizeof MARK - 1) != 0)
            continue;
        char c = (char)(file[at] ^ 1);
        CHECK_INT(pwrite(fd, &c, 1, at), 1);
        n++;
    }
    return n;
}

static void on_damage(void *arg, const struct store_damage *d)
{
    size_t *n_now = arg;
    *n_now += d->is_current;
}

/* How many objects are damaged. */
static size_t check(const struct fixture *f, bool remove)
{
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f->dir);
    struct store_check_result res;
    size_t n = 0;
    CHECK_OK(store_check(path, remove, on_damage, &n, &res, NULL));
    return n;
}

TEST(a_server_starts_with_damaged_objects_of_every_kind_that_it_reads_at_its_start)
{
    static const struct {
        const char *path, *body;
    } rows[] = {
        { RBAC "/clusterroles", "{" META ",\"rules\":[]}" },
        { RBAC "/clusterrolebindings",
          "{" META ",\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
          "\"ClusterRole\",\"name\":\"x\"}}" },
        { RBAC "/namespaces/default/roles", "{" META ",\"rules\":[]}" },
        { RBAC "/namespaces/default/rolebindings",
          "{" META ",\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
          "\"Role\",\"name\":\"x\"}}" },
        { DEFINITIONS,
          "{\"metadata\":{\"name\":\"xs.e.io\",\"annotations\":{\"a\":\"" MARK "\"}},"
          "\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"
          "\"xs\",\"kind\":\"X\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
          "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}" },
        { "/api/v1/namespaces", "{" META "}" },
        { "/api/v1/namespaces/default/resourcequotas",
          "{" META ",\"spec\":{\"hard\":{\"count/secrets\":\"9\"}}}" },
        { "/api/v1/namespaces/default/secrets", "{" META "}" },
        { "/api/v1/namespaces/default/serviceaccounts", "{" META "}" },
        { "/api/v1/namespaces/default/events",
          "{" META ",\"involvedObject\":{\"namespace\":\"default\"}}" },
        { "/apis/scheduling.k8s.io/v1/priorityclasses", "{" META ",\"value\":1}" },
        { "/apis/storage.k8s.io/v1/storageclasses", "{" META ",\"provisioner\":\"e.io/p\"}" },
    };
    static const char note[] = "{\"metadata\":{\"annotations\":{\"a\":\"" MARK "\"}}}";
    static const char *const defaults[] = { RBAC "/clusterroles/view",
                                            RBAC "/clusterrolebindings/cluster-admin",
                                            "/api/v1/namespaces/default",
                                            "/api/v1/namespaces/kube-system",
                                            "/api/v1/namespaces/default/serviceaccounts/default",
                                            "/api/v1/namespaces/default/services/kubernetes" };
    struct fixture f;
    fixture_init(&f);
    close_server(&f);
    f.rbac = true;
    open_server(&f);
    settle(&f);
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)want(&f, 201, "POST", rows[i].path, rows[i].body);
        n++;
    }
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (!there(&f, defaults[i]))
            continue;
        (void)want(&f, 200, "PATCH", defaults[i], note);
        n++;
    }
    (void)make_map(&f, "whole", "1");
    settle(&f);
    close_server(&f);
    CHECK(damage_marks(&f) >= n);
    CHECK_INT(check(&f, false), n);

    open_server(&f);
    settle(&f);
    CHECK(there(&f, MAPS "/whole"));
    (void)want(&f, 500, "GET", RBAC "/clusterroles/view", NULL);
    (void)want(&f, 201, "POST", "/api/v1/namespaces/kube-public/configmaps",
               "{\"metadata\":{\"name\":\"new\"}}");
    close_server(&f);

    CHECK_INT(check(&f, true), n);
    open_server(&f);
    settle(&f);
    CHECK(there(&f, MAPS "/whole"));
    CHECK(there(&f, "/api/v1/namespaces/kube-public/configmaps/new"));
    CHECK(there(&f, RBAC "/clusterroles/view"));
    CHECK(there(&f, "/api/v1/namespaces/default"));
    fixture_fini(&f);
}

TEST(a_damaged_policy_lets_nothing_be_written_that_it_might_forbid)
{
    static const char policy[] = "{" META ",\"spec\":{\"validations\":[{\"expression\":\"true\"}],"
                                 "\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"\"],"
                                 "\"apiVersions\":[\"v1\"],\"operations\":[\"CREATE\"],"
                                 "\"resources\":[\"secrets\"]}]}}}";
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", ADMISSION "/validatingadmissionpolicies", policy);
    (void)make_map(&f, "old", "1");
    close_server(&f);
    CHECK(damage_marks(&f) >= 1);
    open_server(&f);
    CHECK(there(&f, MAPS "/old"));
    struct json *no = want(&f, 500, "POST", MAPS, "{\"metadata\":{\"name\":\"new\"}}");
    CHECK(str_find(status_message(no), STR("admission policy")) >= 0);
    (void)want(&f, 500, "DELETE", MAPS "/old", NULL);
    close_server(&f);
    CHECK_INT(check(&f, true), 1);
    open_server(&f);
    (void)make_map(&f, "new", "1");
    fixture_fini(&f);
}

/* Change the store of a server that is closed. */
static void edit(const struct fixture *f, const char *sql)
{
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f->dir);
    sqlite3 *db;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_changes(db) > 0);
    (void)sqlite3_close(db);
}

/* Of this quota not even the key can be believed. */
TEST(a_damaged_quota_lets_nothing_be_made_that_it_might_limit)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces/default/resourcequotas",
               "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"hard\":{\"configmaps\":\"1\"}}}");
    settle(&f);
    (void)make_map(&f, "one", "1");
    (void)want(&f, 403, "POST", MAPS, "{\"metadata\":{\"name\":\"two\"}}");
    settle(&f);
    close_server(&f);
    edit(&f, "UPDATE log SET sum = sum + 4294967296 WHERE CAST(key AS TEXT) = "
             "'/registry/resourcequotas/default/x'");
    open_server(&f);
    settle(&f);
    (void)want(&f, 500, "POST", MAPS, "{\"metadata\":{\"name\":\"two\"}}");
    (void)want(&f, 201, "POST", "/api/v1/namespaces/kube-public/configmaps",
               "{\"metadata\":{\"name\":\"two\"}}");
    close_server(&f);
    CHECK_INT(check(&f, true), 1);
    open_server(&f);
    settle(&f);
    (void)make_map(&f, "two", "1");
    fixture_fini(&f);
}

static void on_forgotten(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

static void forget(struct fixture *f, const char *key)
{
    const struct store_op op = { .kind = STORE_DELETE, .key = str_of(key) };
    CHECK_OK(store_txn(f->store, &op, 1, on_forgotten, f, NULL));
    wait_done(f);
}

/* A node ends the pods that its list does not have. */
TEST(a_damaged_pod_is_missing_in_no_list_when_the_index_is_built_again)
{
    static const char of_node[] = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces/default/pods",
               "{" META ",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\","
               "\"image\":\"i\"}]}}");
    forget(&f, "/owned.built"); /* as left by a version without this index */
    forget(&f, "/placed/n1/default/x");
    close_server(&f);
    CHECK(damage_marks(&f) >= 1);
    for (int i = 0; i < 2; i++) {
        open_server(&f);
        settle(&f);
        (void)want(&f, 500, "GET", of_node, NULL);
        close_server(&f);
    }
    (void)check(&f, true);
    open_server(&f);
    settle(&f);
    const struct json *list = want(&f, 200, "GET", of_node, NULL);
    CHECK_INT(json_getc(list, "items")->n, 0);
    fixture_fini(&f);
}

/* What the process says on stderr from now on; end with hear(). */
static int overhear(struct fixture *f)
{
    scoped(free_scoped) char *path = xasprintf("%s/stderr", f->dir);
    scoped(fd_scoped) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int kept = dup(STDERR_FILENO);
    CHECK(fd >= 0 && kept >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    (void)unlink(path);
    return kept;
}

/* How many lines had that in them. */
static size_t hear(int kept, const char *words)
{
    static char text[1 << 16];
    struct str line, rest;
    size_t n = 0;
    ssize_t size = pread(STDERR_FILENO, text, sizeof text, 0);
    CHECK(size >= 0 && (size_t)size < sizeof text && dup2(kept, STDERR_FILENO) >= 0);
    (void)close(kept);
    rest = str_n(text, (size_t)size);
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        n += str_find(line, str_of(words)) >= 0;
    }
    return n;
}

static void check_words(const struct json *status)
{
    CHECK(str_find(status_message(status), STR("/registry/configmaps/default/x")) >= 0);
    CHECK(str_find(status_message(status), STR("dormouse store check --remove")) >= 0);
}

/* As upstream does: a list that leaves something out would be believed. */
TEST(a_damaged_object_fails_the_list_of_its_kind_in_words_that_help)
{
    static const char quota[] = "/api/v1/namespaces/kube-public/resourcequotas";
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    (void)want(&f, 201, "POST", MAPS, "{" META "}");
    (void)want(&f, 201, "POST", quota, "{" META ",\"spec\":{\"hard\":{\"count/secrets\":\"9\"}}}");
    (void)make_map(&f, "whole", "1");
    settle(&f);
    close_server(&f);
    CHECK(damage_marks(&f) >= 2);
    int kept = overhear(&f);
    open_server(&f);
    settle(&f);
    for (int i = 0; i < 5; i++) {
        check_words(want(&f, 500, "GET", MAPS, NULL));
        check_words(want(&f, 500, "GET", MAPS "/x", NULL));
        check_words(want(&f, 500, "PATCH", MAPS "/x", "{\"data\":{\"a\":\"b\"}}"));
        check_words(want(&f, 500, "DELETE", MAPS "/x", NULL));
        (void)want(&f, 500, "POST", "/api/v1/namespaces/kube-public/secrets", "{" META "}");
    }
    size_t n = hear(kept, "damaged");
    CHECK(n > 0);
    CHECK_INT(n, 2); /* the quota when it is left out, and a request that failed */
    (void)want(&f, 200, "GET", MAPS "/whole", NULL);
    close_server(&f);
    CHECK_INT(check(&f, true), 2);
    open_server(&f);
    settle(&f);
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS, NULL), "items")->n, 1);
    fixture_fini(&f);
}

TEST_MAIN
