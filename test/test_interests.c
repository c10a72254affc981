/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator/v1/interests: what the watches of a declaration make of events, first lists, rights and
 * kinds that go. Cache, discovery and queues are stood in for by this file.
 */
#include "operator/v1/interests.h"

#include "test.h"

#include <errno.h>

/* ---- a cache of objects that are written down ---- */

struct cached_object {
    const char *namespace, *name;
    uint64_t content;
};

struct object_sub {
    struct object_sub_ops ops;
    void *arg;
    bool cancelled;
};

static struct object_sub subs[16];
static size_t n_subs;
static struct cached_object objects[2000];
static size_t n_objects;

int object_cache_subscribe(struct object_cache *c, const struct object_sub_opts *opts,
                           struct object_sub **ret, struct err *err)
{
    CHECK(n_subs < ARRAY_LEN(subs));
    subs[n_subs] = (struct object_sub){ .ops = *opts->ops, .arg = opts->arg };
    *ret = &subs[n_subs++];
    return 0;
}
void object_sub_cancel(struct object_sub *sub)
{
    if (sub)
        sub->cancelled = true;
}
void object_sub_end_reads(struct object_sub *sub, int code, const struct err *err)
{
}
void object_sub_each(const struct object_sub *sub, struct str namespace, object_each_fn each,
                     void *arg)
{
    for (size_t i = n_objects; i-- > 0;) /* not in the order of names */
        (void)each(arg, &objects[i]);
}
const struct cached_object *object_sub_find(const struct object_sub *sub, struct str namespace,
                                            struct str name)
{
    for (size_t i = 0; i < n_objects; i++)
        if (str_is(namespace, objects[i].namespace) && str_is(name, objects[i].name))
            return &objects[i];
    return NULL;
}

/* Their names, which make_objects() has given in order. */
struct object_order {
    size_t n;
    struct cached_object o[];
};
static unsigned n_orders;

struct object_order *object_sub_order(const struct object_sub *sub)
{
    struct object_order *o = xalloc(sizeof *o + n_objects * sizeof *o->o);
    o->n = n_objects;
    memcpy(o->o, objects, n_objects * sizeof *o->o);
    n_orders++;
    return o;
}
void object_order_free(struct object_order *o)
{
    n_orders -= o != NULL;
    free(o);
}
size_t object_order_n(const struct object_order *o)
{
    return o->n;
}
void object_order_get(const struct object_order *o, size_t i, struct str *ret_namespace,
                      struct str *ret_name)
{
    *ret_namespace = str_of(o->o[i].namespace);
    *ret_name = str_of(o->o[i].name);
}
void object_sub_find_by(const struct object_sub *sub, size_t field, struct str value,
                        struct str namespace, object_each_fn each, void *arg)
{
}
size_t object_sub_field(const struct object_sub *sub, const struct cached_object *o, size_t field,
                        struct str *ret, size_t max)
{
    return 0;
}
struct str cached_object_namespace(const struct cached_object *o)
{
    return str_of(o->namespace);
}
struct str cached_object_name(const struct cached_object *o)
{
    return str_of(o->name);
}
uint64_t cached_object_content_hash(const struct cached_object *o)
{
    return o->content;
}
struct str cached_object_uid(const struct cached_object *o, char text[CACHED_UID_BYTES])
{
    return STR("");
}
uint64_t cached_object_rv(const struct cached_object *o)
{
    return 1;
}
int64_t cached_object_generation(const struct cached_object *o)
{
    return 1;
}
uint64_t cached_object_labels_hash(const struct cached_object *o)
{
    return 0;
}
uint64_t cached_object_annotations_hash(const struct cached_object *o)
{
    return 0;
}
struct str cached_object_label(const struct cached_object *o, struct str key)
{
    return (struct str){ 0 };
}
bool cached_object_has_labels(const struct cached_object *o, const struct selector *selector)
{
    return true;
}
size_t cached_object_n_owners(const struct cached_object *o)
{
    return 0;
}
void cached_object_owner(const struct cached_object *o, size_t i, struct object_owner *ret)
{
}

/* ---- kinds that are there when the test says so ---- */

static struct kind_query *asked[16], *later[16];
static size_t n_asked, n_later;

void kinds_ask(struct kinds *k, struct kind_query *q)
{
    asked[n_asked++] = q;
}
void kinds_ask_later(struct kinds *k, struct kind_query *q)
{
    later[n_later++] = q;
}
void kinds_cancel(struct kinds *k, struct kind_query *q)
{
}

/* ---- queues that record ---- */

static struct buf added = { .max = 1 << 20 };
static size_t n_added;
static unsigned refills;
static bool held;

int dispatch_add(struct dispatch_operator *o, unsigned controller, struct work_key key,
                 enum work_reason reason, enum work_priority priority, struct err *err)
{
    n_added++;
    (void)buf_printf(&added, STR_FMT "/" STR_FMT ":%s%s ", STR_ARG(key.namespace),
                     STR_ARG(key.name), work_reason_name(reason), priority == WORK_LOW ? "-" : "");
    return 0;
}
void dispatch_refill(struct dispatch_operator *o, unsigned controller)
{
    refills++;
}
void dispatch_hold_controller(struct dispatch_operator *o, unsigned controller, bool is_held)
{
    held = is_held;
}
const char *work_reason_name(enum work_reason reason)
{
    static const char *const names[] = {
#define NAME(id, text) text,
        WORK_REASONS(NAME)
#undef NAME
    };
    return names[reason];
}

/* ---- one operator ---- */

struct rig {
    struct loop loop;
    struct declarations all;
    struct declaration *d;
    struct interests_env env;
    struct interests *in;
    unsigned changes;
};

static void on_change(void *arg)
{
    ((struct rig *)arg)->changes++;
}

static int who(void *arg, struct identity_who *space, const struct kube_identity **ret,
               struct err *err)
{
    return 0;
}

static const char *denied_path; /* NULL: everything is allowed */

static int may(void *arg, struct str path, struct err *err)
{
    if (denied_path && str_is(path, denied_path))
        return err_set(err, E_DENIED, "not on the list");
    return 0;
}

static void rig_init_with(struct rig *r, const char *primary, const char *more)
{
    struct err err = { 0 };
    char *text = xasprintf("{\"controllers\":[{\"name\":\"c\",\"for\":{\"id\":\"p\",\"apiVersion\":"
                           "\"v1\",\"kind\":\"Pod\"%s}%s}]}",
                           primary, more);
    *r = (struct rig){ 0 };
    n_subs = n_asked = n_later = n_added = n_objects = refills = 0;
    buf_reset(&added);
    held = false;
    CHECK_OK(loop_init(&r->loop, &err));
    CHECK_OK(declaration_get(&r->all, str_of(text), &r->d, &err));
    r->env = (struct interests_env){ .loop = &r->loop };
    struct interests_opts opts = { .env = &r->env,
                                   .declaration = r->d,
                                   .who = who,
                                   .may = may,
                                   .on_change = on_change,
                                   .arg = r };
    CHECK_OK(interests_start(&opts, &r->in, &err));
    free(text);
}

static void rig_init(struct rig *r, const char *more)
{
    rig_init_with(r, "", more);
}

static void rig_fini(struct rig *r)
{
    interests_free(r->in);
    declaration_unref(r->d);
    while (loop_turn(&r->loop, false))
        ;
    loop_fini(&r->loop);
    declarations_fini(&r->all);
}

static void found(struct kind_query *q)
{
    struct discovery_kind kind = { .plural = STR("pods"), .namespaced = true };
    q->on_found(q, &kind);
}

static void synced(size_t sub)
{
    subs[sub].ops.on_synced(subs[sub].arg, 1);
}

static void fails(size_t sub, int code)
{
    struct err err = { 0 };
    (void)err_set(&err, code, "because");
    subs[sub].ops.on_error(subs[sub].arg, code, &err);
}

static enum watch_state state_of(const struct rig *r, size_t watch)
{
    struct watch_view view;
    interests_watch_view(r->in, watch, &view);
    return view.state;
}

static void make_objects(size_t n)
{
    static char names[ARRAY_LEN(objects)][16];
    for (n_objects = 0; n_objects < n; n_objects++) {
        (void)snprintf(names[n_objects], sizeof names[0], "o%04zu", n_objects);
        objects[n_objects] =
            (struct cached_object){ .namespace = "a", .name = names[n_objects], .content = 1 };
    }
}

#define OWNS ",\"owns\":[{\"id\":\"s\",\"apiVersion\":\"v1\",\"kind\":\"Secret\"}]"

TEST(a_collection_that_is_not_allowed_is_not_watched)
{
    struct rig r;
    rig_init(&r, "");
    denied_path = "/api/v1/pods";
    found(asked[0]);
    denied_path = NULL;
    CHECK_INT(n_subs, 0);
    CHECK_INT(state_of(&r, 0), WATCH_FORBIDDEN);
    CHECK(held);
    rig_fini(&r);
}

TEST(a_controller_waits_until_all_its_watches_are_read)
{
    struct rig r;
    rig_init(&r, OWNS);
    CHECK(held);
    CHECK_INT(n_asked, 2);
    found(asked[0]);
    synced(0);
    CHECK(held);
    struct err err = { 0 };
    (void)err_set(&err, -ENOENT, "no such kind");
    asked[1]->on_missing(asked[1], &err);
    CHECK_INT(state_of(&r, 1), WATCH_WAITING);
    CHECK(held);
    found(asked[1]);
    CHECK_INT(state_of(&r, 1), WATCH_SYNCING);
    synced(1);
    CHECK(!held);
    CHECK(interests_synced(r.in));
    (void)loop_turn(&r.loop, false);
    CHECK_INT(r.changes, 1);
    rig_fini(&r);
}

TEST(a_first_list_is_walked_in_order_page_by_page)
{
    struct rig r;
    rig_init(&r, "");
    found(asked[0]);
    make_objects(600);
    for (size_t i = 0; i < n_objects; i++)
        subs[0].ops.on_event(subs[0].arg, OBJECT_ADDED, &objects[i], NULL, true);
    CHECK_INT(n_added, 0);
    synced(0);
    CHECK_INT(refills, 1);
    CHECK(interests_refill(r.in, 0, true, 256));
    CHECK_INT(n_added, 256);
    CHECK(str_has_prefix(buf_str(&added), STR("a/o0000:initial- a/o0001:initial- ")));
    CHECK(interests_refill(r.in, 0, false, 256));
    CHECK(!interests_refill(r.in, 0, false, 256));
    CHECK_INT(n_added, 600);
    CHECK(str_has_suffix(buf_str(&added), STR(" a/o0599:initial- ")));
    CHECK_INT(n_orders, 0);
    rig_fini(&r);
}

TEST(a_walk_stands_changes_under_way)
{
    struct rig r;
    rig_init(&r, "");
    found(asked[0]);
    make_objects(6);
    synced(0);
    CHECK(interests_refill(r.in, 0, true, 2));
    n_objects = 4; /* two that it has not come to are gone: their deletion is an event */
    CHECK(!interests_refill(r.in, 0, false, 10));
    CHECK_STR(buf_str(&added),
              "a/o0000:initial- a/o0001:initial- a/o0002:initial- a/o0003:initial- ");
    synced(0); /* again: from the beginning */
    CHECK(interests_refill(r.in, 0, true, 1));
    CHECK_INT(n_orders, 1);
    rig_fini(&r); /* in the middle of it */
    CHECK_INT(n_orders, 0);
}

TEST(after_a_full_queue_all_primaries_are_listed_whatever_the_predicate_says)
{
    struct rig r;
    rig_init_with(&r, ",\"predicate\":{\"on\":[\"delete\"]}", "");
    found(asked[0]);
    make_objects(3);
    synced(0);
    CHECK(!interests_refill(r.in, 0, false, 100)); /* the first list */
    size_t first = n_added;
    CHECK(!interests_refill(r.in, 0, true, 100)); /* keys were lost */
    CHECK_INT(first, 0);
    CHECK_INT(n_added, 3);
    rig_fini(&r);
}

TEST(an_event_that_changes_nothing_makes_no_work)
{
    struct rig r;
    struct cached_object before = { "a", "x", 1 }, same = { "a", "x", 1 }, other = { "a", "x", 2 };
    rig_init(&r, "");
    found(asked[0]);
    synced(0);
    subs[0].ops.on_event(subs[0].arg, OBJECT_UPDATED, &same, &before, false);
    CHECK_INT(n_added, 0);
    subs[0].ops.on_event(subs[0].arg, OBJECT_UPDATED, &other, &before, false);
    CHECK_STR(buf_str(&added), "a/x:update a/x:update ");
    buf_reset(&added);
    subs[0].ops.on_event(subs[0].arg, OBJECT_DELETED, NULL, &other, false);
    CHECK_STR(buf_str(&added), "a/x:delete ");
    rig_fini(&r);
}

TEST(what_was_known_is_queued_when_a_right_is_lost)
{
    struct rig r;
    rig_init(&r, "");
    found(asked[0]);
    make_objects(2);
    synced(0);
    CHECK(!held);
    fails(0, -EIO); /* the API does not answer: what was told stands */
    CHECK_INT(state_of(&r, 0), WATCH_SYNCED);
    CHECK_INT(n_added, 0);
    fails(0, E_DENIED);
    CHECK(held);
    CHECK_INT(state_of(&r, 0), WATCH_FORBIDDEN);
    CHECK_STR(buf_str(&added), "a/o0001:resync- a/o0000:resync- ");
    synced(0);
    CHECK(!held);
    CHECK_INT(refills, 2);
    rig_fini(&r);
}

TEST(a_kind_that_goes_holds_up_nothing_and_may_come_again)
{
    struct rig r;
    rig_init(&r, OWNS);
    found(asked[0]);
    found(asked[1]);
    synced(0);
    synced(1);
    fails(0, -ENOENT);
    CHECK(subs[0].cancelled);
    CHECK_INT(state_of(&r, 0), WATCH_WAITING);
    CHECK(!held);
    CHECK_INT(n_later, 1);
    found(later[0]);
    CHECK_INT(n_subs, 3);
    synced(2);
    CHECK_INT(state_of(&r, 0), WATCH_SYNCED);
    fails(1, E_DENIED);
    CHECK(held);
    synced(1); /* whose objects went is not known: all primaries */
    CHECK(!held);
    CHECK_INT(refills, 3);
    rig_fini(&r);
    buf_fini(&added);
}

TEST_MAIN
