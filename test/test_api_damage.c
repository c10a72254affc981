/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose store holds objects that a disk has damaged. */
#include "api_fixture.h"

#include "base/mem.h"

#include <fcntl.h>
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

TEST_MAIN
