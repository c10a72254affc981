/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection by owner references, through the in-process transport. */
#include "api_fixture.h"

#include "base/mem.h"

#define NS   "/api/v1/namespaces/default/"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"

/* A reference to `owner`; given, free(). */
static char *ref_to(const struct json *owner, bool blocks)
{
    return xasprintf("{\"apiVersion\":\"" STR_FMT "\",\"kind\":\"" STR_FMT "\",\"name\":\"" STR_FMT
                     "\",\"uid\":\"" STR_FMT "\",\"blockOwnerDeletion\":%s}",
                     STR_ARG(json_get_str(owner, "apiVersion")),
                     STR_ARG(json_get_str(owner, "kind")),
                     STR_ARG(text_at(owner, "metadata", "name")),
                     STR_ARG(text_at(owner, "metadata", "uid")), blocks ? "true" : "false");
}

/* A ConfigMap with these references and finalizers (both JSON lists without brackets). */
static struct json *make(struct fixture *f, const char *path, const char *name, const char *refs,
                         const char *finalizers)
{
    scoped(free_scoped) char *body =
        xasprintf("{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[%s],\"finalizers\":[%s]}}",
                  name, refs, finalizers);
    return want(f, 201, "POST", path, body);
}

static struct json *make_owned(struct fixture *f, const char *name, const struct json *owner,
                               bool blocks)
{
    scoped(free_scoped) char *ref = ref_to(owner, blocks);
    return make(f, MAPS, name, ref, "");
}

static size_t n_refs(struct fixture *f, const char *path)
{
    const struct json *refs =
        json_path(want(f, 200, "GET", path, NULL), "metadata", "ownerReferences", NULL);
    return refs ? refs->n : 0;
}

TEST(dependents_follow_their_owner)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", ""), *b = make(&f, MAPS, "b", "", "");
    (void)make_owned(&f, "of-a", a, true);
    scoped(free_scoped) char *ra = ref_to(a, true), *rb = ref_to(b, false);
    scoped(free_scoped) char *both = xasprintf("%s,%s", ra, rb);
    (void)make(&f, MAPS, "of-both", both, "");
    struct json *of_b = make_owned(&f, "of-b", b, false);
    (void)make_owned(&f, "of-of-b", of_b, false);
    settle(&f);
    CHECK(there(&f, MAPS "/of-a") && n_refs(&f, MAPS "/of-both") == 2);
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/of-a"));
    CHECK_INT(n_refs(&f, MAPS "/of-both"), 1);
    (void)want(&f, 200, "DELETE", MAPS "/b?propagationPolicy=Background", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/of-both") && !there(&f, MAPS "/of-b") && !there(&f, MAPS "/of-of-b"));
    fixture_fini(&f);
}

TEST(in_the_foreground_dependents_go_first)
{
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, MAPS, "owner", "", "");
    scoped(free_scoped) char *blocking = ref_to(owner, true), *not_blocking = ref_to(owner, false);
    struct json *held = make(&f, MAPS, "held", blocking, "\"x.io/y\"");
    (void)make(&f, MAPS, "free", blocking, "");
    (void)make(&f, MAPS, "other", not_blocking, "\"x.io/y\"");
    (void)make_owned(&f, "grandchild", held, true);
    struct json *marked = want(&f, 200, "DELETE", MAPS "/owner?propagationPolicy=Foreground", NULL);
    CHECK(text_at(marked, "metadata", "deletionTimestamp").n > 0);
    settle(&f);
    CHECK(there(&f, MAPS "/owner") && !there(&f, MAPS "/free") && !there(&f, MAPS "/grandchild"));
    CHECK(text_at(want(&f, 200, "GET", MAPS "/other", NULL), "metadata", "deletionTimestamp").n);
    /* held waited for its own dependent, which is gone: only its finalizer is left */
    CHECK_STR(json_str(json_first(json_path(want(&f, 200, "GET", MAPS "/held", NULL), "metadata",
                                            "finalizers", NULL))),
              "x.io/y");
    (void)want(&f, 200, "PATCH", MAPS "/held", "{\"metadata\":{\"finalizers\":null}}");
    settle(&f);
    CHECK(!there(&f, MAPS "/held") && !there(&f, MAPS "/owner"));
    CHECK(there(&f, MAPS "/other"));
    fixture_fini(&f);
}

TEST(an_owner_waits_no_more_for_who_is_taken_away_from_it)
{
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, MAPS, "owner", "", "");
    scoped(free_scoped) char *ref = ref_to(owner, true);
    (void)make(&f, MAPS, "held", ref, "\"x.io/y\"");
    (void)want(&f, 200, "DELETE", MAPS "/owner?propagationPolicy=Foreground", NULL);
    settle(&f);
    CHECK(there(&f, MAPS "/owner"));
    (void)want(&f, 200, "PATCH", MAPS "/held", "{\"metadata\":{\"ownerReferences\":null}}");
    settle(&f);
    CHECK(there(&f, MAPS "/held") && !there(&f, MAPS "/owner"));
    fixture_fini(&f);
}

TEST(who_is_made_during_a_deletion_goes_too)
{
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, MAPS, "owner", "", "");
    scoped(free_scoped) char *ref = ref_to(owner, true);
    (void)make(&f, MAPS, "held", ref, "\"x.io/y\"");
    (void)want(&f, 200, "DELETE", MAPS "/owner?propagationPolicy=Foreground", NULL);
    (void)make(&f, MAPS, "late", ref, "");
    settle(&f);
    CHECK(!there(&f, MAPS "/late") && there(&f, MAPS "/owner"));
    (void)want(&f, 200, "PATCH", MAPS "/held", "{\"metadata\":{\"finalizers\":null}}");
    (void)make(&f, MAPS, "later", ref, "");
    settle(&f);
    CHECK(!there(&f, MAPS "/later") && !there(&f, MAPS "/owner"));
    (void)make(&f, MAPS, "too-late", ref, "");
    settle(&f);
    CHECK(!there(&f, MAPS "/too-late"));
    fixture_fini(&f);
}

TEST(a_circle_of_owners_comes_apart)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "");
    struct json *b = make_owned(&f, "b", a, true), *c = make_owned(&f, "c", b, true);
    scoped(free_scoped) char *ref = ref_to(c, true);
    scoped(free_scoped) char *patch = xasprintf("{\"metadata\":{\"ownerReferences\":[%s]}}", ref);
    (void)want(&f, 200, "PATCH", MAPS "/a", patch);
    settle(&f);
    CHECK(there(&f, MAPS "/a") && there(&f, MAPS "/b") && there(&f, MAPS "/c"));
    (void)want(&f, 200, "DELETE", MAPS "/a?propagationPolicy=Foreground", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/a") && !there(&f, MAPS "/b") && !there(&f, MAPS "/c"));
    fixture_fini(&f);
}

TEST(orphans_stay_and_forget_their_owner)
{
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, MAPS, "owner", "", ""), *other = make(&f, MAPS, "other", "", "");
    scoped(free_scoped) char *ra = ref_to(owner, true), *rb = ref_to(other, true);
    scoped(free_scoped) char *both = xasprintf("%s,%s", ra, rb);
    (void)make(&f, MAPS, "one", ra, "");
    (void)make(&f, MAPS, "two", both, "");
    (void)want(&f, 200, "DELETE", MAPS "/owner",
               "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"orphanDependents\":true}");
    settle(&f);
    CHECK(!there(&f, MAPS "/owner"));
    CHECK_INT(n_refs(&f, MAPS "/one"), 0);
    CHECK_INT(n_refs(&f, MAPS "/two"), 1);
    fixture_fini(&f);
}

TEST(kinds_have_a_policy_of_their_own)
{
    struct fixture f;
    fixture_init(&f);
    const char *job = "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{"
                      "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":"
                      "\"i\"}]}}}}";
    (void)make_owned(&f, "of-job", want(&f, 201, "POST", JOBS, job), true);
    struct answer a = ask(&f, "DELETE", JOBS "/j", NULL, NULL, NULL);
    CHECK_INT(a.status, 200);
    CHECK(str_find(headers_get(&a.headers, "warning"), STR("child pods are preserved")) >= 0);
    answer_fini(&a);
    settle(&f);
    CHECK(!there(&f, JOBS "/j"));
    CHECK_INT(n_refs(&f, MAPS "/of-job"), 0);
    (void)make_owned(&f, "of-job-2", want(&f, 201, "POST", JOBS, job), true);
    (void)want(&f, 200, "DELETE", JOBS "/j?propagationPolicy=Background", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/of-job-2"));
    /* Events have no part in it: no finalizers, whatever is asked for */
    (void)want(&f, 201, "POST", NS "events",
               "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"namespace\":\"default\"}}");
    (void)want(&f, 200, "DELETE", NS "events/e?propagationPolicy=Foreground", NULL);
    CHECK(!there(&f, NS "events/e"));
    fixture_fini(&f);
}

TEST(options_are_checked_and_may_be_changed)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "\"x.io/y\"");
    struct json *no = want(&f, 422, "DELETE", MAPS "/a",
                           "{\"propagationPolicy\":\"Orphan\",\"orphanDependents\":true}");
    CHECK_STR(json_get_str(no, "message"),
              "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: "
              "\"Orphan\": orphanDependents and deletionPropagation cannot be both set");
    no = want(&f, 422, "DELETE", MAPS "/a?propagationPolicy=Never", NULL);
    CHECK(str_find(json_get_str(no, "message"), STR("propagationPolicy: Unsupported value: "
                                                    "\"Never\"")) >= 0);
    (void)make_owned(&f, "b", a, true);
    scoped(free_scoped) char *both =
        xasprintf("{\"metadata\":{\"finalizers\":[\"orphan\",\"foregroundDeletion\"]}}");
    no = want(&f, 422, "PATCH", MAPS "/a", both);
    CHECK(str_find(json_get_str(no, "message"), STR("cannot be both set")) >= 0);
    (void)want(&f, 202, "DELETE", MAPS "/a", "{\"orphanDependents\":false}");
    /* a second request may still decide otherwise */
    struct json *now = want(&f, 200, "DELETE", MAPS "/a", "{\"propagationPolicy\":\"Foreground\"}");
    CHECK_INT(json_path(now, "metadata", "finalizers", NULL)->n, 2);
    settle(&f);
    CHECK(there(&f, MAPS "/a") && !there(&f, MAPS "/b"));
    (void)want(&f, 200, "PATCH", MAPS "/a", "{\"metadata\":{\"finalizers\":null}}");
    CHECK(!there(&f, MAPS "/a"));
    fixture_fini(&f);
}

TEST(a_finalizer_that_is_there_decides_when_nothing_is_said)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "\"orphan\"");
    (void)make_owned(&f, "b", a, true);
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/a"));
    CHECK_INT(n_refs(&f, MAPS "/b"), 0);
    a = make(&f, MAPS, "a", "", "\"orphan\"");
    (void)make_owned(&f, "c", a, true);
    (void)want(&f, 200, "DELETE", MAPS "/a?propagationPolicy=Background", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/c"));
    fixture_fini(&f);
}

TEST(references_to_nobody_are_noticed)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "");
    const char *never = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"never\",\"uid\":"
                        "\"00000000-0000-0000-0000-000000000000\"}";
    const char *wrong = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"a\",\"uid\":"
                        "\"odd/uid\"}";
    (void)make(&f, MAPS, "of-nobody", never, "");
    (void)make(&f, MAPS, "of-another-a", wrong, "");
    settle(&f);
    CHECK(!there(&f, MAPS "/of-nobody") && !there(&f, MAPS "/of-another-a"));
    /* the owner is in another namespace */
    scoped(free_scoped) char *ref = ref_to(a, true);
    (void)make(&f, "/api/v1/namespaces/kube-system/configmaps", "far", ref, "");
    settle(&f);
    CHECK(!there(&f, "/api/v1/namespaces/kube-system/configmaps/far"));
    struct json *events = want(&f, 200, "GET", "/api/v1/namespaces/kube-system/events", NULL);
    CHECK_INT(json_getc(events, "items")->n, 1);
    const struct json *event = json_first(json_getc(events, "items"));
    CHECK_STR(json_get_str(event, "reason"), "OwnerRefInvalidNamespace");
    CHECK_STR(text_at(event, "involvedObject", "name"), "far");
    CHECK(str_find(json_get_str(event, "message"),
                   STR("does not exist in namespace \"kube-system\"")) > 0);
    CHECK_INT(json_getc(want(&f, 200, "GET", NS "events", NULL), "items")->n, 0);
    fixture_fini(&f);
}

TEST(references_that_are_given_twice_are_kept_once)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "");
    scoped(free_scoped) char *ref = ref_to(a, true), *other = ref_to(a, false);
    scoped(free_scoped) char *body = xasprintf(
        "{\"metadata\":{\"name\":\"b\",\"ownerReferences\":[%s,%s,%s]}}", ref, other, ref);
    struct answer made = ask(&f, "POST", MAPS, "application/json", NULL, body);
    CHECK_INT(made.status, 201);
    CHECK(str_find(headers_get(&made.headers, "warning"), STR("duplicate UID(s) observed: [")) > 0);
    answer_fini(&made);
    CHECK_INT(n_refs(&f, MAPS "/b"), 2); /* these differ */
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/b"));
    fixture_fini(&f);
}

TEST(cluster_scoped_objects_cannot_belong_to_namespaced_ones)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "");
    scoped(free_scoped) char *ref = ref_to(a, true);
    (void)make(&f, "/api/v1/namespaces", "odd", ref, "");
    settle(&f);
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    settle(&f);
    struct json *events = want(&f, 200, "GET", NS "events", NULL);
    const struct json *event = json_first(json_getc(events, "items"));
    CHECK_STR(json_get_str(event, "reason"), "OwnerRefInvalidNamespace");
    CHECK_STR(text_at(event, "source", "component"), "garbage-collector-controller");
    CHECK(str_find(json_get_str(event, "message"), STR("does not exist in namespace \"\"")) >= 0);
    CHECK(there(&f, "/api/v1/namespaces/odd"));
    fixture_fini(&f);
}

TEST(cluster_scoped_dependents_follow_cluster_scoped_owners)
{
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "a b", "", "");
    scoped(free_scoped) char *ref = ref_to(owner, true);
    (void)make(&f, "/api/v1/namespaces", "one", ref, "");
    (void)make(&f, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "c:d e", ref, "");
    (void)make(&f, MAPS, "map", ref, "");
    (void)want(&f, 200, "DELETE",
               "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%20b?propagationPolicy=Foreground",
               NULL);
    settle(&f);
    CHECK(!there(&f, "/api/v1/namespaces/one") && !there(&f, MAPS "/map"));
    CHECK(!there(&f, "/apis/rbac.authorization.k8s.io/v1/clusterroles/c:d%20e"));
    CHECK(!there(&f, "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%20b"));
    fixture_fini(&f);
}

#define RINGS "/apis/ring.io/v1/namespaces/default/rings"

static void make_ring_kind(struct fixture *f)
{
    (void)want(f, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
               "{\"metadata\":{\"name\":\"rings.ring.io\"},\"spec\":{\"group\":\"ring.io\","
               "\"names\":{\"kind\":\"Ring\",\"plural\":\"rings\"},\"scope\":\"Namespaced\","
               "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":"
               "{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":"
               "true}}}]}}");
    settle(f);
}

static struct json *make_ring(struct fixture *f, const char *name, const char *refs)
{
    scoped(free_scoped) char *body =
        xasprintf("{\"apiVersion\":\"ring.io/v1\",\"kind\":\"Ring\",\"metadata\":{\"name\":\"%s\","
                  "\"ownerReferences\":[%s]}}",
                  name, refs);
    return want(f, 201, "POST", RINGS, body);
}

TEST(custom_resources_own_and_are_owned)
{
    struct fixture f;
    fixture_init(&f);
    const char *ghost = "{\"apiVersion\":\"ring.io/v1\",\"kind\":\"Ring\",\"name\":\"ghost\","
                        "\"uid\":\"00000000-0000-0000-0000-000000000000\"}";
    (void)make(&f, MAPS, "of-ghost", ghost, "");
    settle(&f);
    CHECK(there(&f, MAPS "/of-ghost")); /* of a kind that may still come */
    make_ring_kind(&f);
    CHECK(!there(&f, MAPS "/of-ghost"));
    struct json *map = make(&f, MAPS, "map", "", "");
    scoped(free_scoped) char *ref = ref_to(map, true);
    struct json *ring = make_ring(&f, "one", ref);
    (void)make_owned(&f, "of-ring", ring, true);
    (void)want(&f, 200, "DELETE", MAPS "/map", NULL);
    settle(&f);
    CHECK(!there(&f, RINGS "/one") && !there(&f, MAPS "/of-ring"));
    /* the definition goes, its instances, what they own */
    ring = make_ring(&f, "two", "");
    (void)make_owned(&f, "of-ring", ring, true);
    (void)want(&f, 200, "DELETE",
               "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rings.ring.io", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/of-ring"));
    fixture_fini(&f);
}

TEST(what_a_stopped_server_left_undone_is_done_by_the_next)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", ""), *b = make(&f, MAPS, "b", "", "");
    struct json *c = make(&f, MAPS, "c", "", "");
    (void)make_owned(&f, "of-a", a, true);
    (void)make_owned(&f, "also-of-a", a, true);
    (void)make_owned(&f, "of-b", b, true);
    (void)make_owned(&f, "of-c", c, true);
    settle(&f);
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    (void)want(&f, 200, "DELETE", MAPS "/b?propagationPolicy=Foreground", NULL);
    (void)want(&f, 200, "DELETE", MAPS "/c?propagationPolicy=Orphan", NULL);
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK(!there(&f, MAPS "/of-a") && !there(&f, MAPS "/also-of-a"));
    CHECK(!there(&f, MAPS "/of-b") && !there(&f, MAPS "/b"));
    CHECK(!there(&f, MAPS "/c"));
    CHECK_INT(n_refs(&f, MAPS "/of-c"), 0);
    fixture_fini(&f);
}

/* After a start one dependent stands for all of its owner's; it may be one that is held. */
TEST(a_dependent_that_is_held_hides_no_other)
{
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, MAPS, "a", "", "");
    scoped(free_scoped) char *ref = ref_to(owner, false);
    (void)make(&f, MAPS, "of-a-1", ref, "\"example.com/held\"");
    (void)make(&f, MAPS, "of-a-2", ref, "");
    settle(&f);
    (void)want(&f, 200, "DELETE", MAPS "/of-a-1", NULL);
    settle(&f);
    (void)want(&f, 200, "DELETE", MAPS "/a?propagationPolicy=Background", NULL);
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK(there(&f, MAPS "/of-a-1"));
    CHECK(!there(&f, MAPS "/of-a-2"));
    fixture_fini(&f);
}

/* Remove every key with a prefix; what is left is a store as it was before there was an index. */
struct wipe {
    struct fixture *f;
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n;
    struct arena arena;
};

static void on_wiped(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct wipe *w = arg;
    (void)err;
    CHECK_OK(res->r);
    w->f->done = true;
}

static void on_wipe_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct wipe *w = arg;
    (void)err;
    CHECK_OK(r);
    for (size_t i = 0; i < page->n; i++)
        w->ops[w->n++] = (struct store_op){ .kind = STORE_DELETE,
                                            .key = str_copy_arena(&w->arena, page->kv[i].key) };
    CHECK_OK(store_txn(w->f->store, w->ops, w->n, on_wiped, w, NULL));
}

TEST(the_index_of_an_older_store_is_built)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = make(&f, MAPS, "a", "", "");
    (void)make_owned(&f, "of-a", a, true);
    settle(&f);
    struct wipe w = { .f = &f };
    const struct store_range all = { .prefix = STR("/owned"), .limit = 100, .keys_only = true };
    CHECK_OK(store_range(f.store, &all, on_wipe_page, &w, NULL));
    wait_done(&f);
    CHECK(w.n >= 2);
    close_server(&f);
    open_server(&f);
    settle(&f);
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/of-a"));
    arena_fini(&w.arena);
    fixture_fini(&f);
}

static struct json *list_of(struct fixture *f, const char *path)
{
    return json_getc(want(f, 200, "GET", path, NULL), "items");
}

TEST(many_dependents_go_in_pages)
{
    enum { N = 600 };
    struct fixture f;
    fixture_init(&f);
    struct json *owner = make(&f, MAPS, "owner", "", "");
    scoped(free_scoped) char *ref = ref_to(owner, true);
    for (int i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "d%d", i);
        (void)make(&f, NS "serviceaccounts", name, ref, "");
        arena_reset(&f.arena);
    }
    CHECK(list_of(&f, NS "serviceaccounts")->n >= N);
    (void)want(&f, 200, "DELETE", MAPS "/owner?propagationPolicy=Foreground", NULL);
    settle(&f);
    CHECK(!there(&f, MAPS "/owner"));
    CHECK(list_of(&f, NS "serviceaccounts")->n <= 1);
    fixture_fini(&f);
}

TEST(more_owners_than_fit_the_queue_are_found_again)
{
    enum { N = 700 }; /* GC_QUEUE_MAX is 512 */
    struct fixture f;
    fixture_init(&f);
    for (int i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "o%d", i);
        struct json *owner = make(&f, NS "serviceaccounts", name, "", "");
        (void)make_owned(&f, name, owner, false);
        arena_reset(&f.arena);
    }
    (void)want(&f, 200, "DELETE", NS "serviceaccounts", NULL);
    settle(&f);
    size_t left = 0;
    json_each (v, list_of(&f, MAPS))
        left += str_has_prefix(text_at(v, "metadata", "name"), STR("o"));
    CHECK_INT(left, 0);
    fixture_fini(&f);
}

TEST_MAIN
