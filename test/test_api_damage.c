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

/* Change the store as another process does, below a server that may be open. */
static void edit(const struct fixture *f, const char *sql)
{
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f->dir);
    sqlite3 *db;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 10000); /* the server may be tidying up */
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

/* ------------------------------------------------------------------ deleting what cannot be read
 */

#define OPTION "ignoreStoreReadErrorWithClusterBreakingPotential"
#define UNSAFE "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"" OPTION "\":true}"

static void check_says(const struct json *status, const char *words)
{
    CHECK(str_find(status_message(status), str_of(words)) >= 0);
}

/* A server with a damaged ConfigMap x beside a whole one. */
static void start_damaged(struct fixture *f)
{
    fixture_init(f);
    settle(f);
    (void)want(f, 201, "POST", MAPS,
               "{\"metadata\":{\"name\":\"x\",\"finalizers\":[\"e.io/f\"],"
               "\"annotations\":{\"a\":\"" MARK "\"}}}");
    (void)make_map(f, "whole", "1");
    settle(f);
    close_server(f);
    CHECK(damage_marks(f) >= 1);
}

TEST(what_cannot_be_read_is_deleted_when_the_client_says_so)
{
    struct fixture f;
    struct watching w;
    start_damaged(&f);
    open_server(&f);
    settle(&f);
    (void)want(&f, 500, "DELETE", MAPS "/x", NULL);
    scoped(free_scoped) char *from_now = xasprintf(MAPS "?watch=1&resourceVersion=%llu",
                                                   (unsigned long long)store_revision(f.store));
    watch(&f, &w, from_now);
    const struct json *done = want(&f, 200, "DELETE", MAPS "/x", UNSAFE);
    CHECK_STR(json_get_str(done, "status"), "Success");
    CHECK_STR(text_at(done, "details", "name"), "x");
    const struct json *error = expect(&w, "ERROR", NULL); /* a deletion it was not told of */
    CHECK_INT(json_int_or(json_getc(error, "code"), 0), 410);
    wait_end(&w);
    CHECK_OK(w.end);
    (void)want(&f, 404, "GET", MAPS "/x", NULL);
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS, NULL), "items")->n, 1);
    (void)make_map(&f, "x", "new");
    close_server(&f);
    CHECK_INT(check(&f, false), 0);
    open_server(&f);
    settle(&f);
    CHECK_STR(text_at(want(&f, 200, "GET", MAPS "/x", NULL), "data", "k"), "new");
    fixture_fini(&f);
}

TEST(an_unsafe_deletion_takes_only_what_cannot_be_read)
{
    static const char *const others[] = { "\"propagationPolicy\":\"Background\"",
                                          "\"orphanDependents\":false", "\"gracePeriodSeconds\":0",
                                          "\"preconditions\":{\"uid\":\"u\"}",
                                          "\"dryRun\":[\"All\"]" };
    struct fixture f;
    start_damaged(&f);
    open_server(&f);
    settle(&f);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        scoped(free_scoped) char *body = xasprintf("{\"" OPTION "\":true,%s}", others[i]);
        check_says(want(&f, 422, "DELETE", MAPS "/x", body), "cannot be set together with .");
    }
    check_says(want(&f, 422, "DELETE", MAPS "/x?dryRun=All&" OPTION "=true", NULL),
               "cannot be set together with .dryRun");
    check_says(want(&f, 422, "DELETE", MAPS "/whole", UNSAFE),
               "configmaps \"whole\" is invalid: " OPTION ": Invalid value: true: is exclusively "
               "used to delete corrupt object(s), try again by removing this option");
    check_says(want(&f, 422, "DELETE", MAPS "/none", UNSAFE), "exclusively used");
    check_says(want(&f, 422, "DELETE", MAPS, UNSAFE), "is not allowed with DELETECOLLECTION");
    CHECK(there(&f, MAPS "/whole"));
    (void)want(&f, 500, "GET", MAPS "/x", NULL);
    (void)want(&f, 200, "DELETE", MAPS "/x?" OPTION "=true", NULL);
    (void)want(&f, 422, "DELETE", MAPS "/x?" OPTION "=true", NULL);
    fixture_fini(&f);
}

TEST(an_unsafe_deletion_needs_a_permission_of_its_own)
{
    static const char binding[] =
        "{\"metadata\":{\"name\":\"joe\"},\"roleRef\":{\"apiGroup\":"
        "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"joe\"},\"subjects\":[{"
        "\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"User\",\"name\":\"joe\"}]}";
    static const char rules[] = "{\"metadata\":{\"name\":\"joe\"},\"rules\":[{\"apiGroups\":[\"\"],"
                                "\"resources\":[\"configmaps\"],\"verbs\":[\"delete\"%s]}]}";
    const struct kube_identity joe = { .user = STR("joe") };
    scoped(free_scoped) char *some = xasprintf(rules, "");
    scoped(free_scoped) char *more = xasprintf(rules, ",\"unsafe-delete-ignore-read-errors\"");
    struct fixture f;
    start_damaged(&f);
    f.rbac = true;
    open_server(&f);
    settle(&f);
    (void)want(&f, 201, "POST", RBAC "/namespaces/default/roles", some);
    (void)want(&f, 201, "POST", RBAC "/namespaces/default/rolebindings", binding);
    settle(&f);
    f.identity = &joe;
    check_says(want(&f, 403, "DELETE", MAPS "/x", UNSAFE),
               "configmaps \"x\" is forbidden: not permitted to do "
               "\"unsafe-delete-ignore-read-errors\"");
    f.identity = NULL;
    (void)want(&f, 200, "PUT", RBAC "/namespaces/default/roles/joe", more);
    settle(&f);
    f.identity = &joe;
    (void)want(&f, 200, "DELETE", MAPS "/x", UNSAFE);
    f.identity = NULL;
    fixture_fini(&f);
}

/* Controllers that had left a damaged object out, or failed because of it, go on without it. */
TEST(a_damaged_definition_policy_and_quota_can_be_replaced)
{
    static const char crd[] =
        "{\"metadata\":{\"name\":\"xs.e.io\",\"annotations\":{\"a\":\"" MARK "\"}},"
        "\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"
        "\"xs\",\"kind\":\"X\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
        "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}";
    static const char policy[] = "{" META ",\"spec\":{\"validations\":[{\"expression\":\"true\"}],"
                                 "\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"\"],"
                                 "\"apiVersions\":[\"v1\"],\"operations\":[\"CREATE\"],"
                                 "\"resources\":[\"secrets\"]}]}}}";
    static const char quota[] = "{" META ",\"spec\":{\"hard\":{\"count/secrets\":\"9\"}}}";
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    (void)want(&f, 201, "POST", DEFINITIONS, crd);
    (void)want(&f, 201, "POST", ADMISSION "/validatingadmissionpolicies", policy);
    (void)want(&f, 201, "POST", "/api/v1/namespaces/default/resourcequotas", quota);
    settle(&f);
    close_server(&f);
    CHECK(damage_marks(&f) >= 3);
    open_server(&f);
    settle(&f);
    (void)want(&f, 500, "POST", MAPS, "{\"metadata\":{\"name\":\"new\"}}");
    (void)want(&f, 200, "DELETE", DEFINITIONS "/xs.e.io", UNSAFE);
    (void)want(&f, 200, "DELETE", ADMISSION "/validatingadmissionpolicies/x", UNSAFE);
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/default/resourcequotas/x", UNSAFE);
    settle(&f);
    (void)make_map(&f, "new", "1");
    (void)want(&f, 201, "POST", DEFINITIONS, crd);
    settle(&f);
    (void)want(&f, 200, "GET", "/apis/e.io/v1/namespaces/default/xs", NULL);
    fixture_fini(&f);
}

/* Addresses and ports are keys of their own, which a damaged Service does not tell of. */
TEST(what_a_service_held_that_could_not_be_read_is_free_again)
{
    static const char services[] = "/api/v1/namespaces/default/services";
    static const char spec[] = "\"spec\":{\"type\":\"NodePort\",\"clusterIP\":\"10.96.0.10\","
                               "\"ports\":[{\"port\":80,\"nodePort\":30080}]}}";
    scoped(free_scoped) char *first = xasprintf("{" META ",%s", spec);
    scoped(free_scoped) char *other = xasprintf("{\"metadata\":{\"name\":\"y\"},%s", spec);
    scoped(free_scoped) char *x = xasprintf("%s/x", services), *y = xasprintf("%s/y", services);
    struct fixture f;
    fixture_init(&f);
    for (int same = 0; same < 2; same++) { /* by one of another name, by one of the same name */
        (void)want(&f, 201, "POST", services, first);
        settle(&f);
        close_server(&f);
        CHECK(damage_marks(&f) >= 1);
        open_server(&f);
        settle(&f);
        check_says(want(&f, 422, "POST", services, other), "already allocated");
        (void)want(&f, 200, "DELETE", x, UNSAFE);
        if (same) /* which holds others meanwhile */
            (void)want(&f, 201, "POST", services,
                       "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
        (void)want(&f, 201, "POST", services, other);
        check_says(want(&f, 422, "POST", services,
                        "{\"metadata\":{\"name\":\"z\"},\"spec\":{\"clusterIP\":\"10.96.0.10\","
                        "\"ports\":[{\"port\":80}]}}"),
                   "already allocated");
        (void)want(&f, 200, "DELETE", y, NULL);
        if (same)
            (void)want(&f, 200, "DELETE", x, NULL);
    }
    fixture_fini(&f);
}

/* What is read over and over is answered from memory, as it was before the damage. */
TEST(an_unsafe_deletion_believes_the_disk_and_not_what_is_in_memory)
{
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    (void)make_map(&f, "x", "1");
    for (int i = 0; i < 3; i++)
        (void)want(&f, 200, "GET", MAPS "/x", NULL);
    edit(&f, "UPDATE log SET value = zeroblob(length(value)) WHERE id = (SELECT id FROM "
             "cur WHERE key = CAST('/registry/configmaps/default/x' AS BLOB))");
    (void)want(&f, 500, "DELETE", MAPS "/x", NULL);
    (void)want(&f, 200, "DELETE", MAPS "/x", UNSAFE);
    (void)want(&f, 404, "GET", MAPS "/x", NULL);
    fixture_fini(&f);
}

TEST_MAIN
