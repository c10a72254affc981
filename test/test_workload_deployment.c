/* SPDX-License-Identifier: Apache-2.0 */
/* How a Deployment divides its replicas, and what its status says. */
#include "test.h"
#include "workload/deployment/sets.h"
#include "workload/deployment/status.h"

/* ---------------------------------------------------------------- a Deployment of numbers */

enum { OLD_MAX = 4 };

struct rig {
    struct deployment d;
    struct deployment_set new, olds[OLD_MAX];
    struct deployment_set *old[OLD_MAX];
};

static const char *const names[] = { "v1", "v2", "v3", "v4" };

static void rig_init(struct rig *r, int64_t replicas, int64_t surge, int64_t unavailable)
{
    *r = (struct rig){ .d = { .replicas = replicas,
                              .surge = surge,
                              .unavailable = unavailable,
                              .is_rolling = true } };
    r->d.old = r->old;
    r->new =
        (struct deployment_set){ .name = STR("new"), .desired = -1, .max = -1, .created_s = 99 };
    r->d.new = &r->new;
}

/* Oldest first. */
static struct deployment_set *rig_old(struct rig *r, int64_t replicas, int64_t available)
{
    struct deployment_set *s = &r->olds[r->d.n_old];
    *s = (struct deployment_set){ .name = str_of(names[r->d.n_old]),
                                  .replicas = replicas,
                                  .available = available,
                                  .desired = -1,
                                  .max = -1,
                                  .created_s = (int64_t)r->d.n_old + 1 };
    r->d.old[r->d.n_old++] = s;
    return s;
}

/* ---------------------------------------------------------------- amounts */

TEST(percentages_round_so_that_there_is_always_a_step)
{
    static const struct {
        const char *surge, *unavailable;
        int64_t replicas, want_surge, want_unavailable;
    } rows[] = {
        { "\"0%\"", "\"0%\"", 0, 0, 1 },
        { "\"39%\"", "\"39%\"", 0, 0, 1 },
        { "0", "0", 10, 0, 1 },
        { "\"25%\"", "\"25%\"", 1, 1, 0 },
        { "\"25%\"", "\"25%\"", 2, 1, 0 },
        { "\"50%\"", "\"75%\"", 10, 5, 7 },
        { "\"1%\"", "\"1%\"", 10, 1, 0 },
        { "3", "\"100%\"", 10, 3, 10 },
        { "\"0%\"", "\"34%\"", 10, 0, 3 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct json *surge, *unavailable;
        int64_t got_surge, got_unavailable;
        CHECK_OK(json_parse(&a, str_of(rows[i].surge), NULL, &surge, NULL));
        CHECK_OK(json_parse(&a, str_of(rows[i].unavailable), NULL, &unavailable, NULL));
        deployment_fenceposts(surge, unavailable, rows[i].replicas, &got_surge, &got_unavailable);
        CHECK_INT(got_surge, rows[i].want_surge);
        CHECK_INT(got_unavailable, rows[i].want_unavailable);
        arena_fini(&a);
    }
}

/* ---------------------------------------------------------------- rolling update */

/* Cases of upstream's tests of the rolling update, and those between them. */
TEST(the_new_set_grows_into_the_room_that_there_is)
{
    static const struct {
        int64_t replicas, surge, old, now, want;
    } rows[] = { { 10, 0, 10, 0, 0 }, { 10, 2, 10, 0, 2 },  { 10, 2, 5, 0, 7 },
                 { 10, 2, 10, 2, 2 }, { 10, 2, 2, 11, 10 }, { 10, 2, 0, 0, 10 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_init(&r, rows[i].replicas, rows[i].surge, 0);
        (void)rig_old(&r, rows[i].old, 0);
        r.new.replicas = rows[i].now;
        bool rolls = deployment_roll(&r.d);
        CHECK_INT(r.new.replicas, rows[i].want);
        if (rows[i].want != rows[i].now)
            CHECK(rolls && r.olds[0].replicas == rows[i].old);
    }
}

TEST(old_sets_shrink_by_what_may_be_missing)
{
    static const struct {
        int64_t unavailable, old, old_available, new, new_available, want;
    } rows[] = {
        { 2, 10, 10, 0, 0, 8 }, /* healthy ones go as far as allowed */
        { 2, 10, 8, 0, 0, 8 },  /* those that are not available go first */
        { 2, 10, 9, 0, 0, 8 },  /* one of each */
        { 2, 8, 8, 2, 0, 8 },   /* the new ones are missing already */
        { 2, 8, 8, 2, 2, 6 },   { 0, 10, 10, 0, 0, 10 }, { 5, 10, 1, 0, 0, 5 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_init(&r, 10, 0, rows[i].unavailable);
        struct deployment_set *old = rig_old(&r, rows[i].old, rows[i].old_available);
        r.new.replicas = rows[i].new;
        r.new.available = rows[i].new_available;
        bool rolls = deployment_roll(&r.d);
        CHECK_INT(old->replicas, rows[i].want);
        CHECK(rolls == (rows[i].want != rows[i].old));
    }
}

TEST(the_oldest_sets_shrink_first)
{
    struct rig r;
    rig_init(&r, 10, 0, 4);
    struct deployment_set *a = rig_old(&r, 3, 3), *b = rig_old(&r, 7, 5);
    CHECK(deployment_roll(&r.d));
    CHECK_INT(a->replicas, 1); /* eight are available, six have to be */
    CHECK_INT(b->replicas, 5); /* two of them are not available */
    CHECK(a->is_scaled && b->is_scaled && !r.new.is_scaled);
}

/* Every step that all pods follow: never too many, never too few, and it ends. */
TEST(a_rolling_update_ends_within_its_limits)
{
    for (int64_t replicas = 1; replicas <= 12; replicas++)
        for (int64_t surge = 0; surge <= 3; surge++)
            for (int64_t unavailable = surge ? 0 : 1; unavailable <= 3; unavailable++) {
                struct rig r;
                rig_init(&r, replicas, surge, unavailable);
                struct deployment_set *old = rig_old(&r, replicas, replicas);
                int steps = 0;
                while (deployment_roll(&r.d)) {
                    CHECK(r.new.replicas + old->replicas <= replicas + surge);
                    CHECK(r.new.available + old->replicas >= replicas - unavailable);
                    r.new.available = r.new.replicas;
                    old->available = old->replicas;
                    CHECK(++steps < 100);
                }
                CHECK_INT(r.new.replicas, replicas);
                CHECK_INT(old->replicas, 0);
            }
}

/* ---------------------------------------------------------------- scaling */

struct scaling {
    int64_t from, to, surge_from, surge;
    bool has_new;
    int64_t new, old[3], want_new, want_old[3]; /* old: oldest first; -1: there is none */
};

/* Cases of upstream's TestScale. */
TEST(active_sets_are_scaled_in_proportion)
{
    static const struct scaling rows[] = {
        { 10, 12, 0, 0, true, 10, { -1 }, 12, { -1 } },
        { 10, 5, 0, 0, true, 10, { -1 }, 5, { -1 } },
        { 5, 10, 0, 0, true, 2, { 3, -1 }, 4, { 6 } },
        { 5, 3, 0, 0, true, 2, { 3, -1 }, 1, { 2 } },
        { 9, 4, 0, 0, true, 8, { 1, -1 }, 4, { 0 } },
        { 7, 10, 0, 0, true, 2, { 2, 3, -1 }, 3, { 3, 4 } },
        { 13, 8, 0, 0, true, 2, { 3, 8, -1 }, 1, { 2, 5 } },
        { 3, 4, 0, 0, true, 1, { 1, 1, -1 }, 2, { 1, 1 } },
        { 3, 2, 0, 0, true, 1, { 1, 1, -1 }, 1, { 0, 1 } },
        { 4, 5, 0, 0, false, 0, { 2, 2, -1 }, 0, { 2, 3 } },
        { 6, 0, 0, 0, true, 3, { 1, 2, -1 }, 0, { 0, 0 } },
        { 6, 6, 0, 0, true, 0, { 0, 0, -1 }, 6, { 0, 0 } },
        { 10, 20, 2, 2, true, 6, { 6, -1 }, 11, { 11 } },
        { 10, 50, 3, 6, true, 5, { 8, -1 }, 22, { 34 } },
        { 10, 14, 0, 0, false, 0, { 3, 7, -1 }, 0, { 4, 10 } },
        { 2, 2, 1, 1, true, 2, { 1, -1 }, 2, { 1 } },
    };
    for (const struct scaling *row = rows; row < rows + ARRAY_LEN(rows); row++) {
        struct rig r;
        rig_init(&r, row->to, row->surge, 1);
        r.new.replicas = row->new;
        r.new.desired = row->from;
        r.new.max = row->from + row->surge_from;
        if (!row->has_new)
            r.d.new = NULL;
        for (size_t i = 0; i < 3 && row->old[i] >= 0; i++) {
            struct deployment_set *s = rig_old(&r, row->old[i], 0);
            s->desired = row->from;
            s->max = row->from + row->surge_from;
        }
        deployment_scale(&r.d);
        CHECK_INT(r.new.replicas, row->want_new);
        for (size_t i = 0; i < r.d.n_old; i++)
            CHECK_INT(r.olds[i].replicas, row->want_old[i]);
    }
}

TEST(a_set_that_was_left_behind_gets_its_share)
{
    struct rig r;
    rig_init(&r, 5, 0, 1);
    r.new.replicas = 2;
    r.new.desired = r.new.max = 5;
    struct deployment_set *oldest = rig_old(&r, 1, 1), *behind = rig_old(&r, 1, 1);
    oldest->desired = oldest->max = 5;
    behind->desired = behind->max = 3;
    CHECK(deployment_is_scaling(&r.d));
    deployment_scale(&r.d);
    CHECK_INT(r.new.replicas, 2);
    CHECK_INT(behind->replicas, 2);
    CHECK_INT(oldest->replicas, 1);
    CHECK(behind->is_scaled);
}

TEST(old_sets_end_when_the_new_one_is_saturated)
{
    struct rig r;
    rig_init(&r, 5, 1, 1);
    r.new.replicas = r.new.available = r.new.desired = 5;
    struct deployment_set *old = rig_old(&r, 3, 3);
    deployment_scale(&r.d);
    CHECK_INT(old->replicas, 0);
    CHECK_INT(r.new.replicas, 5);
}

/* ---------------------------------------------------------------- history */

TEST(old_sets_without_pods_go_beyond_the_limit)
{
    static const struct {
        int64_t limit;
        int64_t spec[4], actual[4]; /* -1: there are no more; -2: it is being deleted */
        size_t want;
    } rows[] = {
        { 1, { 0, 0, 0, -1 }, { 0, 0, 0 }, 2 },
        { 0, { 0, 0, 1, 1 }, { 0, 1, 0, 1 }, 1 },
        { 0, { 0, 0, -1 }, { 0, 0 }, 2 },
        { 0, { 1, 1, -1 }, { 1, 1 }, 0 },
        { 0, { -2, -1 }, { 0 }, 0 },
        { 5, { 0, 0, -1 }, { 0, 0 }, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_init(&r, 1, 1, 0);
        for (size_t j = 0; j < 4 && rows[i].spec[j] != -1; j++) {
            struct deployment_set *s = rig_old(&r, MAX(rows[i].spec[j], 0), 0);
            s->actual = rows[i].actual[j];
            s->is_deleting = rows[i].spec[j] == -2;
            s->is_observed = true;
            s->revision = (int64_t)j + 1;
        }
        CHECK_INT(deployment_excess(&r.d, rows[i].limit), rows[i].want);
    }
}

TEST(the_lowest_revisions_go_first)
{
    struct rig r;
    rig_init(&r, 1, 1, 0);
    for (int64_t i = 0; i < 3; i++) {
        struct deployment_set *s = rig_old(&r, 0, 0);
        s->is_observed = true;
        s->revision = i == 0 ? 7 : i; /* the oldest one is the latest that was undone */
    }
    r.olds[1].is_observed = false;
    CHECK_INT(deployment_excess(&r.d, 1), 1);
    CHECK_STR(r.d.old[0]->name, "v3");
}

/* ---------------------------------------------------------------- objects */

static struct json *parse(struct arena *a, const char *text)
{
    struct json *v = NULL;
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    return v;
}

#define TEMPLATE                                                                                   \
    "{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}"

TEST(a_template_is_the_same_but_for_its_hash)
{
    struct arena a = { 0 };
    const struct json *plain = parse(&a, TEMPLATE);
    CHECK(deployment_same_template(
        plain, parse(&a, "{\"spec\":{\"containers\":[{\"name\":\"a\"}]},\"metadata\":{\"labels\":{"
                         "\"app\":\"x\",\"pod-template-hash\":\"y\"}}}")));
    CHECK(!deployment_same_template(
        plain, parse(&a, "{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
                         "\"name\":\"b\"}]}}")));
    CHECK(!deployment_same_template(
        plain, parse(&a, "{\"metadata\":{\"labels\":{\"app\":\"z\"}},\"spec\":{\"containers\":[{"
                         "\"name\":\"a\"}]}}")));
    arena_fini(&a);
}

TEST(the_hash_is_a_word_without_vowels_that_collisions_change)
{
    struct arena a = { 0 };
    struct str one = deployment_hash(&a, parse(&a, TEMPLATE), 0);
    CHECK(one.n >= 1 && one.n <= 10);
    for (size_t i = 0; i < one.n; i++)
        CHECK(memchr("bcdfghjklmnpqrstvwxz2456789", one.p[i], 27));
    CHECK(str_eq(one, deployment_hash(&a, parse(&a, TEMPLATE), 0)));
    CHECK(!str_eq(one, deployment_hash(&a, parse(&a, TEMPLATE), 1)));
    arena_fini(&a);
}

#define OBJECT                                                                                     \
    "{\"metadata\":{\"name\":\"web\",\"namespace\":\"d\",\"generation\":2,\"annotations\":{"       \
    "\"note\":\"n\",\"deployment.kubernetes.io/revision\":\"3\"}},\"spec\":{\"replicas\":4,"       \
    "\"minReadySeconds\":5,\"progressDeadlineSeconds\":10,\"selector\":{\"matchLabels\":{"         \
    "\"app\":\"x\"}},\"strategy\":{\"rollingUpdate\":{\"maxSurge\":\"25%\",\"maxUnavailable\":"    \
    "\"25%\"}},\"template\":" TEMPLATE "}}"

TEST(the_new_set_has_the_hash_the_revision_and_the_annotations)
{
    struct arena a = { 0 };
    struct json *object = parse(&a, OBJECT);
    const struct workload_claims none = { 0 };
    struct deployment *d = deployment_read(&a, object, &none);
    deployment_make_set(&a, object, d);
    const struct json *set = d->new->object, *spec = json_getc(set, "spec");
    struct str hash =
        json_str(json_path(spec, "selector", "matchLabels", "pod-template-hash", NULL));
    CHECK(hash.n > 0);
    CHECK(str_eq(hash, json_str(json_path(set, "metadata", "labels", "pod-template-hash", NULL))));
    CHECK(str_eq(hash, json_str(json_path(spec, "template", "metadata", "labels",
                                          "pod-template-hash", NULL))));
    CHECK_STR(d->new->name, arena_printf(&a, "web-" STR_FMT, STR_ARG(hash)));
    CHECK_INT(json_int_or(json_getc(spec, "replicas"), 0), 4);
    CHECK_INT(json_int_or(json_getc(spec, "minReadySeconds"), 0), 5);
    CHECK_STR(deployment_annotation(set, "note"), "n");
    CHECK_STR(deployment_annotation(set, "deployment.kubernetes.io/revision"), "1");
    CHECK_STR(deployment_annotation(set, "deployment.kubernetes.io/desired-replicas"), "4");
    CHECK_STR(deployment_annotation(set, "deployment.kubernetes.io/max-replicas"), "5");
    CHECK(!json_path(object, "spec", "template", "metadata", "labels", "pod-template-hash", NULL));
    arena_fini(&a);
}

/* ---------------------------------------------------------------- status */

static struct str reason_of(const struct json *status, const char *type)
{
    return json_get_str(deployment_condition(status, type), "reason");
}

/* One step of a rollout: counters as text in, the reason of Progressing out. */
static struct str progress(struct arena *a, const struct json *object, struct deployment *d,
                           struct json **status, int64_t now_s, uint64_t *again_ms)
{
    struct json *next = json_clone(a, *status);
    deployment_count(a, object, d, next, now_s * 1000);
    *again_ms = deployment_progress(a, object, d, *status, next, now_s * 1000);
    *status = next;
    return reason_of(next, "Progressing");
}

TEST(a_rollout_progresses_times_out_and_completes)
{
    struct arena a = { 0 };
    struct json *object = parse(&a, OBJECT), *status = json_new_object(&a);
    struct rig r;
    uint64_t again_ms;
    rig_init(&r, 4, 1, 1);
    r.new.replicas = 4;
    deployment_set_progressing(&a, status, "True", DEPLOYMENT_SET_CREATED, STR("made"), 100000);
    CHECK_STR(progress(&a, object, &r.d, &status, 101, &again_ms), DEPLOYMENT_SET_CREATED);
    CHECK_INT(again_ms, 10000); /* the deadline of ten seconds, and one more */
    CHECK_STR(reason_of(status, "Available"), "MinimumReplicasUnavailable");
    r.new.actual = 4;
    r.new.ready = r.new.available = 3;
    CHECK_STR(progress(&a, object, &r.d, &status, 105, &again_ms), "ReplicaSetUpdated");
    CHECK_STR(reason_of(status, "Available"), "MinimumReplicasAvailable");
    CHECK_INT(json_int_or(json_getc(status, "unavailableReplicas"), 0), 1);
    CHECK_STR(progress(&a, object, &r.d, &status, 114, &again_ms), "ReplicaSetUpdated");
    CHECK_INT(again_ms, 2000);
    CHECK_STR(progress(&a, object, &r.d, &status, 116, &again_ms), "ProgressDeadlineExceeded");
    CHECK_INT(again_ms, 0);
    r.new.ready = r.new.available = 4;
    CHECK_STR(progress(&a, object, &r.d, &status, 200, &again_ms), "NewReplicaSetAvailable");
    CHECK_INT(again_ms, 0);
    r.new.ready = r.new.available = 3; /* a pod fails: that is no rollout */
    CHECK_STR(progress(&a, object, &r.d, &status, 300, &again_ms), "NewReplicaSetAvailable");
    CHECK_INT(again_ms, 0);
    arena_fini(&a);
}

TEST(a_pause_is_a_condition_while_there_is_a_deadline)
{
    struct arena a = { 0 };
    struct json *object = parse(&a, OBJECT), *status = json_new_object(&a);
    struct json *spec = json_getc(object, "spec");
    json_set_bool(&a, spec, "paused", true);
    deployment_note_pause(&a, object, status, 1000);
    CHECK_STR(reason_of(status, "Progressing"), "DeploymentPaused");
    json_set_bool(&a, spec, "paused", false);
    deployment_note_pause(&a, object, status, 1000);
    CHECK_STR(reason_of(status, "Progressing"), "DeploymentResumed");
    (void)json_del(spec, STR("progressDeadlineSeconds"));
    status = json_new_object(&a);
    json_set_bool(&a, spec, "paused", true);
    deployment_note_pause(&a, object, status, 1000);
    CHECK(!deployment_condition(status, "Progressing"));
    arena_fini(&a);
}

TEST_MAIN
