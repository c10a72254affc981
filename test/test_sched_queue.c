/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's queue on virtual time: scripts for each transition, and a random model.
 *
 * Plugins: Sort (by priority, then time), Gate (PreEnqueue; the label "gate" holds a pod), Fit
 * (nodes' sizes and pods that go), Label (nodes' labels), Volume (claims; says Pending in scripts
 * by "~Volume"), Any (registered everything at once), Mute (registered nothing). What a hint says
 * is set by the test.
 */
#include "test.h"

#include "base/buf.h"
#include "base/vec.h"
#include "sched/object/node.h"
#include "sched/queue/queue.h"

/* ---- plugins ---- */

enum { GATE, FIT, LABEL, VOLUME, ANY, MUTE, SORT, N_PLUGINS };
static const char *const plugin_names[N_PLUGINS] = { "Gate", "Fit",  "Label", "Volume",
                                                     "Any",  "Mute", "Sort" };
static enum sched_hint hints[N_PLUGINS];
static bool gate_is_open;
static unsigned n_hints; /* calls */

static enum sched_hint hint(struct sched_plugin *p, const struct sched_pod *pod,
                            const struct sched_event *event)
{
    n_hints++;
    return hints[p->position];
}

#define EVENTS(name, ...)                                                                          \
    static const struct sched_event_reg *name(struct sched_plugin *p, size_t *ret_n)               \
    {                                                                                              \
        static const struct sched_event_reg regs[] = { __VA_ARGS__ };                              \
        *ret_n = ARRAY_LEN(regs);                                                                  \
        return regs;                                                                               \
    }
EVENTS(gate_events, { SCHED_ON_POD, SCHED_UPDATE_POD_LABEL, hint })
EVENTS(fit_events, { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_ALLOCATABLE, hint },
       { SCHED_ON_POD, SCHED_DELETE | SCHED_UPDATE_POD_SCALE_DOWN, hint })
EVENTS(label_events, { SCHED_ON_NODE, SCHED_UPDATE_NODE_LABEL, NULL })
EVENTS(volume_events, { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_ADD | SCHED_UPDATE, hint })
EVENTS(any_events, { SCHED_ON_WILDCARD, SCHED_ALL_ACTIONS, hint })
static const struct sched_event_reg *mute_events(struct sched_plugin *p, size_t *ret_n)
{
    *ret_n = 0;
    return NULL;
}

SCHED_STATUS_CONST(held, SCHED_UNRESOLVABLE, "the gate is closed");
static struct intern_table *words;
static const struct sched_status *pre_enqueue(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod)
{
    struct intern *key = intern_find(words, STR("gate"));
    return gate_is_open || !key || !sched_label_get(&pod->labels, key) ? NULL : &held;
}
static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    return NULL;
}
static int compare(struct sched_plugin *p, const struct sched_pod *a, uint64_t a_queued_ms,
                   const struct sched_pod *b, uint64_t b_queued_ms)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return a_queued_ms < b_queued_ms ? -1 : a_queued_ms > b_queued_ms;
}

static const struct sched_plugin_ops plugin_ops[N_PLUGINS] = {
    [GATE] = { .pre_enqueue = pre_enqueue, .events = gate_events },
    [FIT] = { .filter = filter, .events = fit_events },
    [LABEL] = { .filter = filter, .events = label_events },
    [VOLUME] = { .filter = filter, .events = volume_events },
    [ANY] = { .filter = filter, .events = any_events },
    [MUTE] = { .filter = filter, .events = mute_events },
    [SORT] = { .compare = compare },
};

/* ---- a queue with one profile, "s" ---- */

static struct sched_plugin plugins[N_PLUGINS];
static struct sched_profile profile;
static struct sched_queue *queue;
static uint64_t now;
static bool profile_is_gone;

static const struct sched_profile *find_profile(void *arg, struct str name)
{
    return !profile_is_gone && str_is(name, "s") ? &profile : NULL;
}

static void begin(void)
{
    words = intern_table_new();
    profile = (struct sched_profile){ .scheduler_name = STR("s") };
    for (unsigned i = 0; i < N_PLUGINS; i++) {
        plugins[i] = (struct sched_plugin){ .ops = &plugin_ops[i],
                                            .name = str_of(plugin_names[i]),
                                            .position = i };
        profile.plugins[i] = &plugins[i];
        hints[i] = SCHED_HINT_QUEUE;
    }
    profile.n_plugins = N_PLUGINS;
    profile.at[SCHED_AT_PRE_ENQUEUE][0] = &plugins[GATE];
    profile.n_at[SCHED_AT_PRE_ENQUEUE] = 1;
    profile.at[SCHED_AT_QUEUE_SORT][0] = &plugins[SORT];
    profile.n_at[SCHED_AT_QUEUE_SORT] = 1;
    gate_is_open = profile_is_gone = false;
    n_hints = 0;
    now = 0;
    queue = sched_queue_new(&(struct sched_queue_opts){ .words = words, .profile = find_profile });
}

static void end(void)
{
    sched_queue_free(queue);
    intern_table_free(words); /* aborts where a reference was lost */
}

static uint64_t next_rv = 1;
static struct sched_pod *read_pod(const char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o;
    struct err err = { 0 };
    if (json_parse(&a, str_of(text), NULL, &json, &err) < 0 ||
        sched_object_read(words, SCHED_POD, json, false, &o, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    arena_fini(&a);
    return (struct sched_pod *)o;
}

struct pod_spec {
    const char *name, *labels, *nominated;
    int priority;
    uint64_t rv; /* 0: a new one */
};
static struct sched_pod *make_pod(const struct pod_spec *s)
{
    struct buf b;
    buf_init(&b, 4096);
    CHECK_OK(buf_printf(&b,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
                        "\"namespace\":\"d\",\"uid\":\"%s\",\"resourceVersion\":\"%" PRIu64
                        "\",\"labels\":{%s}},\"spec\":{\"schedulerName\":\"s\",\"priority\":%d,"
                        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},\"status\":{"
                        "\"nominatedNodeName\":\"%s\"}}",
                        s->name, s->name, s->rv ? s->rv : next_rv++, s->labels ? s->labels : "",
                        s->priority, s->nominated ? s->nominated : ""));
    struct sched_pod *pod = read_pod(b.p);
    buf_fini(&b);
    return pod;
}

static void put(const struct pod_spec *s)
{
    struct sched_pod *pod = make_pod(s);
    CHECK_OK(sched_queue_put(queue, pod, now, NULL));
    sched_object_unref(words, pod);
}

/* What Wasm plugins would attach. */
static void end_message(struct sched_encoded *e)
{
    free(e);
}

static struct sched_pod *make_pod_with_message(const struct pod_spec *s)
{
    struct sched_pod *pod = make_pod(s);
    pod->encoded = xnew(struct sched_encoded);
    pod->encoded->end = end_message;
    return pod;
}

/* ---- scripts ---- */

struct place_search {
    struct str uid;
    const char *found;
    unsigned times;
};
static void look(void *arg, const struct sched_queued *pod, const char *where)
{
    struct place_search *s = arg;
    if (!str_eq(pod->pod->o.uid, s->uid))
        return;
    s->found = where;
    s->times++;
}
static const char *place_of(struct str uid)
{
    struct place_search s = { uid, "nowhere", 0 };
    sched_queue_each(queue, look, &s);
    CHECK(s.times <= 1);
    return s.found;
}

static int plugin_named(struct str name)
{
    for (int i = 0; i < N_PLUGINS; i++)
        if (str_is(name, plugin_names[i]))
            return i;
    TEST_FAIL("no plugin '" STR_FMT "'", STR_ARG(name));
}

/* "Fit", "~Volume": refused, pending */
static void read_refusals(struct str rest, uint64_t *ret_rejected, uint64_t *ret_pending)
{
    struct str word;
    *ret_rejected = *ret_pending = 0;
    while (rest.n) {
        (void)str_cut(rest, ' ', &word, &rest);
        bool pending = word.p[0] == '~';
        uint64_t bit = UINT64_C(1) << plugin_named(str_slice(word, pending, word.n));
        *(pending ? ret_pending : ret_rejected) |= bit;
    }
}

static struct sched_event read_event(struct str rest)
{
    struct str resource, action;
    struct sched_event e = { .resource = SCHED_RESOURCE_COUNT };
    (void)str_cut(rest, ' ', &resource, &action);
    for (unsigned r = 0; r < SCHED_RESOURCE_COUNT; r++)
        if (str_is(resource, sched_resource_name((enum sched_resource)r)))
            e.resource = (enum sched_resource)r;
    for (unsigned a = 0; 1U << a < SCHED_ALL_ACTIONS; a++)
        if (str_is(action, sched_action_name(1U << a)))
            e.actions = 1U << a;
    if (str_is(action, "All"))
        e.actions = SCHED_ALL_ACTIONS;
    CHECK(e.resource != SCHED_RESOURCE_COUNT && e.actions);
    return e;
}

static uint64_t number(struct str s)
{
    uint64_t n = 0;
    CHECK_OK(parse_u64(s, 0, UINT64_MAX, &n));
    return n;
}

/* put NAME [PRIORITY] [LABEL=] [node=NODE] */
static void script_put(struct str name, struct str rest)
{
    char n[32], node[32] = "", labels[128] = "";
    struct pod_spec s = { .name = n, .nominated = node, .labels = labels };
    (void)snprintf(n, sizeof n, STR_FMT, STR_ARG(name));
    while (rest.n) {
        struct str word, key, value;
        (void)str_cut(rest, ' ', &word, &rest);
        if (!str_cut(word, '=', &key, &value))
            s.priority = (int)number(word);
        else if (str_is(key, "node"))
            (void)snprintf(node, sizeof node, STR_FMT, STR_ARG(value));
        else
            (void)snprintf(labels, sizeof labels, "\"" STR_FMT "\":\"" STR_FMT "\"", STR_ARG(key),
                           STR_ARG(value));
    }
    put(&s);
}

static void script_pop(struct str name)
{
    const struct sched_queued *p = sched_queue_pop(queue, now);
    if (str_is(name, "-"))
        CHECK(!p);
    else if (!p)
        TEST_FAIL("nothing to pop, expected '" STR_FMT "'", STR_ARG(name));
    else if (!str_eq(p->pod->o.name, name))
        TEST_FAIL("popped '" STR_FMT "', expected '" STR_FMT "'", STR_ARG(p->pod->o.name),
                  STR_ARG(name));
}

/* nominated NODE A B: in this order, and no others */
static void script_nominated(struct str node, struct str rest)
{
    size_t n = 0, i = 0;
    const struct sched_pod *const *pods =
        sched_nominator_pods(sched_queue_nominator(queue), intern_find(words, node), &n);
    for (; rest.n; i++) {
        struct str word;
        (void)str_cut(rest, ' ', &word, &rest);
        CHECK(i < n);
        CHECK(str_eq(pods[i]->o.name, word));
        CHECK(str_eq(sched_nominator_node(sched_queue_nominator(queue), word), node));
        const struct sched_queued *q = sched_queue_get(queue, word);
        CHECK(!q || q->pod == pods[i] || strcmp(place_of(word), "in-flight") == 0);
    }
    CHECK_INT(n, i);
}

static void run_line(struct str line)
{
    struct str verb, name, rest;
    uint64_t rejected, pending;
    (void)str_cut(line, ' ', &verb, &rest);
    (void)str_cut(rest, ' ', &name, &rest);
    if (str_is(verb, "put")) {
        script_put(name, rest);
    } else if (str_is(verb, "del")) {
        sched_queue_del(queue, name);
    } else if (str_is(verb, "pop")) {
        script_pop(name);
    } else if (str_is(verb, "back")) {
        read_refusals(rest, &rejected, &pending);
        sched_queue_back(queue, name, rejected, pending, now);
    } else if (str_is(verb, "done")) {
        sched_queue_done(queue, name);
    } else if (str_is(verb, "event")) {
        struct sched_event e =
            read_event((struct str){ name.p, (size_t)(line.p + line.n - name.p) });
        sched_queue_event(queue, &e, now);
    } else if (str_is(verb, "hint")) {
        hints[plugin_named(name)] = str_is(rest, "skip") ? SCHED_HINT_SKIP : SCHED_HINT_QUEUE;
    } else if (str_is(verb, "hints")) {
        CHECK_INT(n_hints, number(name));
    } else if (str_is(verb, "gate")) {
        gate_is_open = str_is(name, "open");
    } else if (str_is(verb, "at")) {
        now = number(name);
    } else if (str_is(verb, "tick")) {
        (void)sched_queue_tick(queue, now);
    } else if (str_is(verb, "next")) {
        CHECK_INT(sched_queue_tick(queue, now), str_is(name, "never") ? UINT64_MAX : number(name));
    } else if (str_is(verb, "is")) {
        CHECK_STR(rest, place_of(name));
    } else if (str_is(verb, "activate")) {
        sched_queue_activate(queue, name, now);
    } else if (str_is(verb, "nominate")) {
        const struct sched_queued *q = sched_queue_get(queue, name);
        CHECK(q);
        sched_queue_nominate(queue, q->pod, rest);
    } else if (str_is(verb, "nominated")) {
        script_nominated(name, rest);
    } else if (str_is(verb, "reload")) {
        sched_queue_reload(queue, now);
    } else {
        TEST_FAIL("what is '" STR_FMT "'?", STR_ARG(verb));
    }
}

/* Steps apart by "; ". */
static void run(const char *what, const char *script)
{
    begin();
    struct str rest = str_of(script), line;
    while (rest.n) {
        (void)str_cut(rest, ';', &line, &rest);
        line = str_trim(line);
        (void)printf("# %s: " STR_FMT "\n", what, STR_ARG(line));
        (void)fflush(stdout);
        run_line(line);
    }
    end();
}

static const struct {
    const char *what, *script;
} scripts[] = {
    /* order */
    { "higher priority first", "put a 1; put b 5; put c 3; pop b; pop c; pop a; pop -" },
    { "then who came first", "put a; put b; at 1; put c; pop a; pop b; pop c" },
    { "an update changes the order", "put a 1; put b 2; put a 3; pop a; pop b" },
    { "what is told twice is there once", "put a; put a; pop a; pop -" },
    { "a deleted pod is gone", "put a; put b; del a; pop b; pop -; del c" },

    /* refused: waits for its plugin's events */
    { "refused",
      "put a; pop a; back a Fit; is a unschedulable; pop -; done a; is a unschedulable" },
    { "an event helps after the back-off",
      "put a; pop a; back a Fit; event Node Add; is a backoff; next 2000; at 1999; tick; "
      "is a backoff; at 2000; tick; is a active; pop a" },
    { "an event after the back-off's end",
      "put a; pop a; back a Fit; at 2000; event Node Add; is a active" },
    { "in the second in which it ends it is not over",
      "at 300; put a; pop a; back a Fit; at 1999; event Node Add; is a backoff" },
    { "idle: back-off is not waited out",
      "put a; pop a; back a Fit; event Node Add; pop a; pop -" },
    { "active before back-off",
      "put a 9; pop a; back a Fit; event Node Add; put b; pop b; pop a; pop -" },
    { "early ones by priority in the same second",
      "put a 1; put b 2; pop b; pop a; back a Fit; at 10; back b Fit; event Node Add; pop b; "
      "pop a" },
    { "the earlier second first",
      "put a 1; put b 2; pop b; pop a; back a Fit; at 1000; back b Fit; event Node Add; pop a; "
      "pop b" },
    { "another plugin's event", "put a; pop a; back a Fit; event Node UpdateNodeLabel; "
                                "is a unschedulable; hints 0" },
    { "the hint says no",
      "hint Fit skip; put a; pop a; back a Fit; event Node Add; is a unschedulable; hints 1" },
    { "no hint is yes", "put a; pop a; back a Label; event Node UpdateNodeLabel; is a backoff" },
    { "one of two plugins",
      "hint Fit skip; put a; pop a; back a Fit Volume; event Node Add; "
      "is a unschedulable; event PersistentVolumeClaim Update; is a backoff" },
    { "an assigned pod is a pod",
      "put a; pop a; back a Fit; event AssignedPod Delete; is a backoff" },
    { "a general update is no finer one",
      "put a; pop a; back a Fit; event AssignedPod Update; is a unschedulable; "
      "event AssignedPod UpdatePodScaleDown; is a backoff" },
    { "who wants nodes hears of taints", "put a; pop a; back a Fit; event Node UpdateNodeTaint; "
                                         "is a backoff" },
    { "who registered nothing waits for time",
      "put a; pop a; back a Mute; event Node Add; event Pod Delete; is a unschedulable; "
      "next 330000; at 330000; tick; is a active" },
    { "who registered everything", "put a; pop a; back a Any; event Node Delete; is a backoff" },
    { "everything at once is for all", "put a; pop a; back a Mute; event * All; is a backoff" },

    /* pending: no back-off */
    { "pending: at once",
      "put a; pop a; back a ~Volume; event PersistentVolumeClaim Add; is a active" },
    { "pending, and another helps first",
      "put a; pop a; back a Fit ~Volume; event Node Add; is a backoff" },
    { "pending: its hint decides", "hint Volume skip; put a; pop a; back a ~Volume; "
                                   "event PersistentVolumeClaim Add; is a unschedulable" },
    { "pending idles in flight",
      "put a; pop a; event Node Add; event PersistentVolumeClaim Add; back a Fit ~Volume; "
      "is a active" },

    /* errors */
    { "an error backs off by itself", "put a; pop a; back a; is a backoff; pop -; next 2000; "
                                      "at 2000; tick; pop a; back a; next 5000" },
    { "a refusal ends a row of errors",
      "put a; pop a; back a; at 2000; tick; pop a; back a; at 5000; tick; pop a; back a Fit; "
      "event Node Add; next 7000" },
    { "errors and refusals count apart",
      "put a; pop a; back a Fit; at 10000; event Node Add; pop a; back a; next 12000" },
    { "back-off doubles to its maximum",
      "put a; pop a; back a Fit; at 100000; event Node Add; pop a; back a Fit; event Node Add; "
      "next 103000; pop a; back a Fit; event Node Add; next 105000; pop a; back a Fit; "
      "event Node Add; next 109000; pop a; back a Fit; event Node Add; next 111000; pop a; "
      "back a Fit; event Node Add; next 111000" },

    /* events while in flight */
    { "an event while it was tried", "put a; pop a; event Node Add; back a Fit; is a backoff" },
    { "an event before it was tried", "put b; pop b; put a; event Node Add; pop a; back a Fit; "
                                      "is a unschedulable; back b Fit; is b backoff" },
    { "one of no interest",
      "put a; pop a; event storage.k8s.io/CSINode Add; back a Fit; is a unschedulable" },
    { "one whose hint says no",
      "hint Fit skip; put a; pop a; event Node Add; back a Fit; is a unschedulable" },
    { "a long attempt's back-off began when it came back",
      "put a; pop a; at 60000; event Node Add; back a Fit; is a backoff; next 62000" },
    { "done: events are let go", "put a; put b; pop a; pop b; event Node Add; done a; back b Fit; "
                                 "is b backoff; is a nowhere" },
    { "deleted while it was tried", "put a; pop a; del a; is a nowhere; back a Fit; is a nowhere; "
                                    "pop -" },
    { "deleted and told again", "put a; pop a; del a; put a; back a Fit; is a unschedulable" },
    { "changed while it was tried",
      "put a 1; pop a; put a 7 gate=x; back a Gate; is a gated; gate open; put a 7; is a backoff" },
    { "its own change in flight is an event",
      "put a gate=x; is a gated; gate open; put a x=y; pop a; put a x=z; back a Gate; "
      "is a backoff" },

    /* time */
    { "five minutes, looked at every thirty seconds",
      "at 1000; put a; pop a; back a Fit; next 330000; at 329999; tick; is a unschedulable; "
      "at 330000; tick; is a active; next never" },
    { "nothing waits", "put a; next never; pop a; next never" },

    /* gates */
    { "gated: no event of others helps",
      "put a gate=x; is a gated; pop -; event Node Add; event AssignedPod Delete; is a gated; "
      "next never" },
    { "a gate that opens is asked on its event",
      "put a gate=x; gate open; event Node Add; is a gated; "
      "event Pod UpdatePodLabel; is a active" },
    { "its own change lifts the gate", "put a gate=x; put a x=y; is a active" },
    { "the gate's hint is asked", "hint Gate skip; put a gate=x; put a x=y; is a gated" },
    { "a gate that still holds", "put a gate=x; put a gate=y; is a gated; put a; is a active" },
    { "everything at once does not lift it", "put a gate=x; gate open; event * All; is a gated" },
    { "gated on the way into back-off",
      "put a x=y; pop a; back a Fit; put a gate=x; is a unschedulable; event Node Add; is a gated; "
      "gate open; event Pod UpdatePodLabel; is a backoff; pop a" },
    { "back-off is not asked again",
      "put a; pop a; back a; put a gate=x; at 2000; tick; is a active" },

    /* activate */
    { "activated out of back-off", "put a; pop a; back a; activate a; is a active" },
    { "activated though nothing helped", "put a; pop a; back a Mute; activate a; is a active" },
    { "activated in flight", "put a; pop a; activate a; back a Mute; is a backoff" },
    { "another one activated in flight",
      "put a; put b; pop a; pop b; activate b; back a Mute; is a unschedulable; back b Mute; "
      "is b backoff" },
    { "a gate holds it anyway", "put a gate=x; activate a; is a gated; activate b" },

    /* nominations */
    { "by its status", "put a node=n1; nominated n1 a; nominated n2" },
    { "a gated one is not", "put a node=n1 gate=x; nominated n1" },
    { "noted here first", "put a; pop a; nominate a n1; back a Fit; nominated n1 a; put a 5; "
                          "nominated n1 a" },
    { "the status decides once it speaks",
      "put a; pop a; back a Fit; nominate a n1; put a node=n2; "
      "nominated n1; nominated n2 a; put a; nominated n2" },
    { "several on a node", "put a; put b; nominate a n1; nominate b n1; nominated n1 a b; "
                           "nominate a n2; nominated n1 b; nominated n2 a" },
    { "withdrawn", "put a; nominate a n1; nominate a ; nominated n1" },
    { "gone with the pod", "put a; nominate a n1; del a; nominated n1" },
    { "changed in flight: the pod as it is now",
      "put a; pop a; nominate a n1; put a x=y; back a Fit; nominated n1 a" },

    /* other profiles */
    { "a reload tries everything again",
      "put a; put b; put c gate=x; put d; pop a; back a Mute; pop b; back b; pop d; reload; "
      "is a active; is b active; is c gated; back d Mute; is d backoff; pop a; pop b; pop -" },
};

TEST(each_transition_is_as_upstreams)
{
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        run(scripts[i].what, scripts[i].script);
}

TEST(what_is_known_of_a_pod)
{
    begin();
    now = 5;
    put(&(struct pod_spec){ .name = "a" });
    const struct sched_queued *p = sched_queue_pop(queue, now);
    CHECK_INT(p->attempts, 1);
    CHECK_INT(p->added_ms, 5);
    CHECK_INT(p->first_attempt_ms, 5);
    now = 70;
    sched_queue_back(queue, STR("a"), 1 << FIT, 1 << VOLUME, now);
    p = sched_queue_get(queue, STR("a"));
    CHECK_INT(p->rejected_by, 1 << FIT);
    CHECK_INT(p->pending_by, 1 << VOLUME);
    CHECK_INT(p->unschedulable_count, 1);
    CHECK_INT(p->error_count, 0);
    CHECK_INT(p->added_ms, 70);
    CHECK_INT(p->first_attempt_ms, 5);
    now = 330000;
    (void)sched_queue_tick(queue, now);
    CHECK(p->was_flushed);
    CHECK(sched_queue_pop(queue, now) == p);
    sched_queue_back(queue, STR("a"), 0, 0, now);
    CHECK_INT(p->attempts, 2);
    CHECK_INT(p->error_count, 1);
    CHECK_INT(p->unschedulable_count, 1);
    CHECK(!p->was_flushed);
    put(&(struct pod_spec){ .name = "g", .labels = "\"gate\":\"x\"" });
    p = sched_queue_get(queue, STR("g"));
    CHECK(p->is_gated);
    CHECK_STR(p->gated_by, "Gate");
    CHECK_INT(p->rejected_by, 1 << GATE);
    CHECK_INT(p->first_attempt_ms, 0);
    struct sched_queue_count n;
    sched_queue_count(queue, &n);
    CHECK_INT(n.gated, 1);
    CHECK_INT(n.backoff, 1);
    CHECK_INT(n.active + n.unschedulable + n.in_flight, 0);
    end();
}

TEST(a_pod_of_another_scheduler_is_not_kept)
{
    begin();
    profile_is_gone = true;
    put(&(struct pod_spec){ .name = "a" });
    CHECK_STR(str_of(place_of(STR("a"))), "nowhere");
    profile_is_gone = false;
    put(&(struct pod_spec){ .name = "a" });
    put(&(struct pod_spec){ .name = "b" });
    CHECK(sched_queue_pop(queue, now));
    profile_is_gone = true;
    sched_queue_reload(queue, now);
    put(&(struct pod_spec){ .name = "a" });
    sched_queue_back(queue, STR("a"), 0, 0, now);
    CHECK_STR(str_of(place_of(STR("a"))), "nowhere");
    CHECK_STR(str_of(place_of(STR("b"))), "nowhere");
    end();
}

static bool is_not_b(void *arg, const struct sched_pod *pod)
{
    return !str_is(pod->o.name, "b");
}

TEST(an_event_may_be_for_some)
{
    begin();
    put(&(struct pod_spec){ .name = "a" });
    put(&(struct pod_spec){ .name = "b" });
    for (int i = 0; i < 2; i++)
        sched_queue_back(queue, sched_queue_pop(queue, now)->pod->o.uid, 1 << FIT, 0, now);
    struct sched_event e = { .resource = SCHED_ON_NODE, .actions = SCHED_ADD };
    sched_queue_event_where(queue, &e, &(struct sched_queue_check){ is_not_b, NULL }, now);
    CHECK_STR(str_of(place_of(STR("a"))), "backoff");
    CHECK_STR(str_of(place_of(STR("b"))), "unschedulable");
    end();
}

TEST(events_in_flight_are_bounded)
{
    begin();
    put(&(struct pod_spec){ .name = "a" });
    CHECK(sched_queue_pop(queue, now));
    struct sched_event e = { .resource = SCHED_ON_PERSISTENT_VOLUME_CLAIM, .actions = SCHED_ADD };
    for (int i = 0; i < SCHED_IN_FLIGHT_EVENTS_MAX; i++)
        sched_queue_event(queue, &e, now);
    put(&(struct pod_spec){ .name = "b" });
    CHECK(sched_queue_pop(queue, now));
    sched_queue_event(queue, &e, now);
    put(&(struct pod_spec){ .name = "c" });
    CHECK(sched_queue_pop(queue, now));
    sched_queue_back(queue, STR("a"), 1 << MUTE, 0, now);
    sched_queue_back(queue, STR("b"), 1 << MUTE, 0, now);
    sched_queue_back(queue, STR("c"), 1 << MUTE, 0, now);
    CHECK_STR(str_of(place_of(STR("a"))), "backoff");
    CHECK_STR(str_of(place_of(STR("b"))), "backoff");
    CHECK_STR(str_of(place_of(STR("c"))), "unschedulable");
    end();
}

TEST(as_many_pods_wait_as_may)
{
    begin();
    sched_queue_free(queue);
    queue = sched_queue_new(
        &(struct sched_queue_opts){ .words = words, .profile = find_profile, .pods_max = 2 });
    put(&(struct pod_spec){ .name = "a" });
    put(&(struct pod_spec){ .name = "b" });
    struct sched_pod *c = make_pod(&(struct pod_spec){ .name = "c" });
    struct err err = { 0 };
    CHECK_ERR(sched_queue_put(queue, c, now, &err), E_LIMIT);
    CHECK_STR(str_of(err_text(&err)), "more than 2 pods wait");
    put(&(struct pod_spec){ .name = "b", .priority = 7 }); /* who is in may change */
    sched_queue_del(queue, STR("a"));
    CHECK_OK(sched_queue_put(queue, c, now, &err));
    sched_object_unref(words, c);
    end();
}

TEST(an_event_that_nobody_wants_looks_at_no_pod)
{
    begin();
    char name[32];
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        put(&(struct pod_spec){ .name = name });
    }
    for (int i = 0; i < 10000; i++)
        sched_queue_back(queue, sched_queue_pop(queue, now)->pod->o.uid, 1 << FIT, 0, now);
    struct sched_event other = { .resource = SCHED_ON_PERSISTENT_VOLUME_CLAIM,
                                 .actions = SCHED_ADD };
    for (int i = 0; i < 1000; i++) /* ten million looks, were it to look */
        sched_queue_event(queue, &other, now);
    CHECK_INT(n_hints, 0);
    end();
}

TEST(metrics_are_named_as_upstreams)
{
    begin();
    put(&(struct pod_spec){ .name = "a" });
    CHECK(sched_queue_pop(queue, now));
    sched_queue_back(queue, STR("a"), 1 << FIT, 0, now);
    struct sched_event e = { .resource = SCHED_ON_NODE, .actions = SCHED_ADD };
    sched_queue_event(queue, &e, now);
    put(&(struct pod_spec){ .name = "late" });
    CHECK(sched_queue_pop(queue, now));
    sched_queue_back(queue, STR("late"), 1 << MUTE, 0, now);
    now = 330000;
    (void)sched_queue_tick(queue, now);
    for (int i = 0; i < 2; i++)
        CHECK(sched_queue_pop(queue, now));
    sched_queue_done(queue, STR("late"));
    sched_queue_event(queue, &e, now);
    put(&(struct pod_spec){ .name = "b" });
    CHECK(sched_queue_pop(queue, now));
    sched_queue_back(queue, STR("b"), 1 << FIT, 0, now);
    struct buf b;
    buf_init(&b, 65536);
    sched_queue_metrics(queue, &b);
    static const char *const lines[] = {
        "scheduler_pending_pods{queue=\"backoff\"} 0\n",
        "scheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"active\"} 3\n",
        ("scheduler_queue_incoming_pods_total{event=\"ScheduleAttemptFailure\","
         "queue=\"unschedulable\"} 3\n"),
        "scheduler_queue_incoming_pods_total{event=\"NodeAdd\",queue=\"backoff\"} 1\n",
        "scheduler_queue_incoming_pods_total{event=\"UnschedulableTimeout\",queue=\"active\"} 1\n",
        "scheduler_inflight_events{event=\"PodPopped\"} 1\n",
        "scheduler_inflight_events{event=\"NodeAdd\"} 1\n",
        "scheduler_pod_scheduled_after_flush_total 1\n",
        "scheduler_unschedulable_pods{plugin=\"Fit\",profile=\"s\"} 1\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!strstr(b.p, lines[i]))
            TEST_FAIL("%s is not in\n%s", lines[i], b.p);
    buf_fini(&b);
    end();
}

/* ---- what has changed ---- */

TEST(changes_of_pods_are_told_apart)
{
    static const struct {
        const char *before, *after;
        unsigned changes;
    } cases[] = {
#define POD(meta, spec)                                                                            \
    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"uid\":\"u\"" meta "},\"spec\":{" spec "}" \
    "}"
#define CPU(q)                                                                                     \
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"" q                    \
    "\",\"memory\":\"1Gi\"}}}]"
#define GPU(q)                                                                                     \
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" q "},\"limits\":{" q "}}}]"
        { POD("", CPU("1")), POD("", CPU("1")), SCHED_UPDATE },
        { POD("", CPU("1")), POD("", CPU("2")), SCHED_UPDATE },
        { POD("", CPU("1")), POD("", CPU("999m")), SCHED_UPDATE_POD_SCALE_DOWN },
        { POD("", GPU("\"cpu\":\"0\"")), POD("", GPU("")), SCHED_UPDATE_POD_SCALE_DOWN },
        { POD("", GPU("\"a.b/c\":\"2\"")), POD("", GPU("\"a.b/c\":\"1\"")),
          SCHED_UPDATE_POD_SCALE_DOWN },
        { POD("", GPU("\"a.b/c\":\"2\"")), POD("", GPU("")), SCHED_UPDATE_POD_SCALE_DOWN },
        { POD("", GPU("")), POD("", GPU("\"a.b/c\":\"2\"")), SCHED_UPDATE },
        { POD(",\"labels\":{\"a\":\"b\"}", CPU("1")), POD("", CPU("1")), SCHED_UPDATE_POD_LABEL },
        { POD("", CPU("1")), POD("", CPU("1") ",\"tolerations\":[{\"operator\":\"Exists\"}]"),
          SCHED_UPDATE_POD_TOLERATION },
        { POD("", CPU("1") ",\"schedulingGates\":[{\"name\":\"g\"}]"), POD("", CPU("1")),
          SCHED_UPDATE_POD_GATES_ELIMINATED },
        { POD("", CPU("1") ",\"schedulingGates\":[{\"name\":\"g\"},{\"name\":\"h\"}]"),
          POD("", CPU("1") ",\"schedulingGates\":[{\"name\":\"g\"}]"), SCHED_UPDATE },
        { POD("", CPU("2") ",\"schedulingGates\":[{\"name\":\"g\"}]"),
          POD(",\"labels\":{\"a\":\"b\"}", CPU("1")),
          SCHED_UPDATE_POD_GATES_ELIMINATED | SCHED_UPDATE_POD_LABEL |
              SCHED_UPDATE_POD_SCALE_DOWN },
    };
    words = intern_table_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sched_pod *a = read_pod(cases[i].before), *b = read_pod(cases[i].after);
        CHECK_INT(sched_pod_changes(&a->o, &b->o), cases[i].changes);
        sched_object_unref(words, a);
        sched_object_unref(words, b);
    }
    intern_table_free(words);
}

static struct sched_object *read_node(const char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o;
    struct err err = { 0 };
    if (json_parse(&a, str_of(text), NULL, &json, &err) < 0 ||
        sched_object_read(words, SCHED_NODE, json, false, &o, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    arena_fini(&a);
    return o;
}

TEST(changes_of_nodes_are_told_apart)
{
#define NODE(meta, spec, status)                                                                   \
    "{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"" meta "},\"spec\":{" spec "},\"status\":{" status \
    "}}"
#define ALLOCATABLE(cpu) "\"allocatable\":{\"cpu\":\"" cpu "\",\"memory\":\"4Gi\",\"pods\":\"9\"}"
#define TAINT(effect)    "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"" effect "\"}]"
#define CONDITION(type, status)                                                                    \
    "{\"type\":\"" type "\",\"status\":\"" status "\",\"message\":\"m" status "\"}"
    static const struct {
        const char *before, *after;
        unsigned changes;
    } cases[] = {
        { NODE("", "", ALLOCATABLE("1")), NODE("", "", ALLOCATABLE("1000m")), 0 },
        { NODE("", "", ALLOCATABLE("1")), NODE("", "", ALLOCATABLE("2")),
          SCHED_UPDATE_NODE_ALLOCATABLE },
        { NODE("", "", ALLOCATABLE("1")), NODE("", "", ""), SCHED_UPDATE_NODE_ALLOCATABLE },
        { NODE("", "", "\"allocatable\":{\"a.b/c\":\"1\"}"),
          NODE("", "", "\"allocatable\":{\"a.b/c\":\"2\"}"), SCHED_UPDATE_NODE_ALLOCATABLE },
        { NODE("", "", ""), NODE(",\"labels\":{\"a\":\"b\"}", "", ""), SCHED_UPDATE_NODE_LABEL },
        { NODE("", "", ""), NODE(",\"annotations\":{\"a\":\"b\"}", "", ""),
          SCHED_UPDATE_NODE_ANNOTATION },
        { NODE(",\"annotations\":{\"a\":\"b\",\"c\":\"d\"}", "", ""),
          NODE(",\"annotations\":{\"c\":\"d\",\"a\":\"b\"}", "", ""), 0 },
        { NODE(",\"annotations\":{\"a\":\"b\",\"c\":\"d\"}", "", ""),
          NODE(",\"annotations\":{\"a\":\"d\",\"c\":\"b\"}", "", ""),
          SCHED_UPDATE_NODE_ANNOTATION },
        { NODE("", TAINT("NoSchedule"), ""), NODE("", TAINT("NoExecute"), ""),
          SCHED_UPDATE_NODE_TAINT },
        { NODE("", TAINT("NoSchedule"), ""), NODE("", "", ""), SCHED_UPDATE_NODE_TAINT },
        { NODE("", "\"unschedulable\":true", ""), NODE("", "", ""), SCHED_UPDATE_NODE_TAINT },
        { NODE("", "", ""), NODE("", "\"unschedulable\":true", ""), 0 },
        { NODE("", "", "\"conditions\":[" CONDITION("Ready", "True") "]"),
          NODE("", "", "\"conditions\":[" CONDITION("Ready", "False") "]"),
          SCHED_UPDATE_NODE_CONDITION },
        { NODE("", "", "\"conditions\":[" CONDITION("A", "True") "," CONDITION("B", "False") "]"),
          NODE("", "", "\"conditions\":[" CONDITION("B", "False") "," CONDITION("A", "True") "]"),
          0 },
        { NODE("", "", "\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"reason\":\"x\"}]"),
          NODE("", "", "\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"reason\":\"y\"}]"),
          0 },
        { NODE("", "", "\"declaredFeatures\":[\"A\"]"),
          NODE("", "", "\"declaredFeatures\":[\"A\"]"), 0 },
        { NODE("", "", "\"declaredFeatures\":[\"A\"]"),
          NODE("", "", "\"declaredFeatures\":[\"A\",\"B\"]"), SCHED_UPDATE_NODE_DECLARED_FEATURE },
    };
    words = intern_table_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sched_object *a = read_node(cases[i].before), *b = read_node(cases[i].after);
        CHECK_INT(sched_node_changes(a, b), cases[i].changes);
        sched_object_unref(words, a);
        sched_object_unref(words, b);
    }
    intern_table_free(words);
}

/* Guests say them as numbers. */
/* As after a reload that brought Wasm plugins: the pod is listed again, and has not changed. */
TEST(a_state_with_a_message_for_plugins_replaces_an_equal_one_without)
{
    begin();
    const struct pod_spec spec = { .name = "p", .rv = 7 };
    put(&spec);
    struct sched_pod *fuller = make_pod_with_message(&spec);
    CHECK_OK(sched_queue_put(queue, fuller, now, NULL));
    put(&spec); /* a duplicate */
    const struct sched_queued *q = sched_queue_pop(queue, now);
    CHECK(q && q->pod == fuller);
    sched_queue_done(queue, STR("p"));
    sched_object_unref(words, fuller);
    end();
}

TEST(actions_are_upstreams_bits)
{
    static const struct {
        unsigned action, bit;
        const char *name;
    } cases[] = {
        { SCHED_ADD, 0, "Add" },
        { SCHED_DELETE, 1, "Delete" },
        { SCHED_UPDATE_NODE_ALLOCATABLE, 2, "UpdateNodeAllocatable" },
        { SCHED_UPDATE_NODE_LABEL, 3, "UpdateNodeLabel" },
        { SCHED_UPDATE_NODE_TAINT, 4, "UpdateNodeTaint" },
        { SCHED_UPDATE_NODE_CONDITION, 5, "UpdateNodeCondition" },
        { SCHED_UPDATE_NODE_ANNOTATION, 6, "UpdateNodeAnnotation" },
        { SCHED_UPDATE_NODE_DECLARED_FEATURE, 7, "UpdateNodeDeclaredFeature" },
        { SCHED_UPDATE_POD_LABEL, 8, "UpdatePodLabel" },
        { SCHED_UPDATE_POD_SCALE_DOWN, 9, "UpdatePodScaleDown" },
        { SCHED_UPDATE_POD_TOLERATION, 10, "UpdatePodToleration" },
        { SCHED_UPDATE_POD_GATES_ELIMINATED, 11, "UpdatePodSchedulingGatesEliminated" },
        { SCHED_UPDATE_POD_GENERATED_RESOURCE_CLAIM, 12, "UpdatePodGeneratedResourceClaim" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(cases[i].action, 1U << cases[i].bit);
        CHECK_STR(str_of(sched_action_name(cases[i].action)), cases[i].name);
    }
    CHECK_INT(sched_actions_of_upstream(8191), SCHED_ALL_ACTIONS);
    CHECK_INT(sched_actions_of_upstream(8188), SCHED_ALL_ACTIONS & ~(SCHED_ADD | SCHED_DELETE));
    CHECK_INT(sched_actions_of_upstream(1 << 7 | 1 << 13), SCHED_UPDATE_NODE_DECLARED_FEATURE);
}

/* ---- the model: everything by looking at every pod ---- */

enum { M_PODS = 48, M_STEPS = 20000, M_NODES = 3 };
enum m_place { M_NOWHERE, M_ACTIVE, M_BACKOFF, M_ERROR_BACKOFF, M_UNSCHEDULABLE, M_IN_FLIGHT };
struct m_event {
    enum sched_resource resource;
    unsigned action;
    int only; /* the pod it is about; -1: all */
};
struct m_pod {
    char name[16];
    enum m_place place;
    int priority, new_priority;
    bool has_gate, new_has_gate, is_gated, is_deleted;
    uint64_t added, seq, backoff, flush, rejected, pending;
    unsigned refusals, errors;
    int nominated; /* -1: nowhere */
    VEC(struct m_event) events;
};
static struct m_pod model[M_PODS];
static uint64_t m_seq;
enum m_strategy { M_STAY, M_AFTER, M_AT_ONCE };

static bool m_wants(int plugin, const struct m_event *e)
{
    bool pod = e->resource == SCHED_ON_POD || e->resource == SCHED_ON_ASSIGNED_POD ||
               e->resource == SCHED_ON_UNSCHEDULED_POD;
    switch (plugin) {
    case GATE:
        return pod && e->action == SCHED_UPDATE_POD_LABEL;
    case FIT:
        return (pod && (e->action == SCHED_DELETE || e->action == SCHED_UPDATE_POD_SCALE_DOWN)) ||
               (e->resource == SCHED_ON_NODE &&
                (e->action == SCHED_ADD || e->action == SCHED_UPDATE_NODE_ALLOCATABLE ||
                 e->action == SCHED_UPDATE_NODE_TAINT));
    case LABEL:
        return e->resource == SCHED_ON_NODE && e->action == SCHED_UPDATE_NODE_LABEL;
    case VOLUME:
        return e->resource == SCHED_ON_PERSISTENT_VOLUME_CLAIM && e->action != SCHED_DELETE;
    case ANY:
        return true;
    default:
        return false;
    }
}

static bool m_hint(int plugin, const struct m_event *e)
{
    return plugin == LABEL || (plugin == FIT && e->action == SCHED_UPDATE_NODE_TAINT) ||
           hints[plugin] == SCHED_HINT_QUEUE;
}

static enum m_strategy m_strategy(const struct m_pod *p, const struct m_event *e)
{
    if (!p->rejected && !p->pending)
        return M_AFTER;
    if (e->resource == SCHED_ON_WILDCARD)
        return e->only < 0 || p == &model[e->only] ? M_AFTER : M_STAY;
    enum m_strategy s = M_STAY;
    for (int i = 0; i < N_PLUGINS; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (!((p->rejected | p->pending) & bit) || !m_wants(i, e) || !m_hint(i, e))
            continue;
        s = MAX(s, p->pending & bit ? M_AT_ONCE : M_AFTER);
    }
    return s;
}

static bool m_is_backing_off(const struct m_pod *p)
{
    return p->backoff && p->backoff >= now / 1000 * 1000;
}

static bool m_gate(struct m_pod *p)
{
    p->is_gated = p->has_gate && !gate_is_open;
    if (p->is_gated)
        p->rejected |= UINT64_C(1) << GATE;
    return p->is_gated;
}

static void m_unschedulable(struct m_pod *p)
{
    p->place = M_UNSCHEDULABLE;
    uint64_t due = MAX(p->added + 300000, now) + 1;
    p->flush = p->is_gated ? UINT64_MAX : (due + 29999) / 30000 * 30000;
}

static void m_requeue(struct m_pod *p, enum m_strategy s)
{
    if (s == M_STAY || m_gate(p))
        m_unschedulable(p);
    else if (s == M_AFTER && m_is_backing_off(p))
        p->place = p->rejected || p->pending ? M_BACKOFF : M_ERROR_BACKOFF;
    else
        p->place = M_ACTIVE;
}

static void m_event(const struct m_event *e)
{
    for (int i = 0; i < M_PODS; i++) {
        struct m_pod *p = &model[i];
        if (p->place == M_IN_FLIGHT)
            vec_push(&p->events, *e);
        if (p->place != M_UNSCHEDULABLE || (p->is_gated && !m_wants(GATE, e)))
            continue;
        enum m_strategy s = m_strategy(p, e);
        if (s != M_STAY)
            m_requeue(p, s);
    }
}

static bool m_is_before(const struct m_pod *a, const struct m_pod *b)
{
    if (a->place == M_BACKOFF && a->backoff != b->backoff)
        return a->backoff < b->backoff;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->added != b->added ? a->added < b->added : a->seq < b->seq;
}

static struct m_pod *m_first(enum m_place place)
{
    struct m_pod *best = NULL;
    for (int i = 0; i < M_PODS; i++)
        if (model[i].place == place && (!best || m_is_before(&model[i], best)))
            best = &model[i];
    return best;
}

static void m_tick(void)
{
    for (int i = 0; i < M_PODS; i++) {
        struct m_pod *p = &model[i];
        if ((p->place == M_BACKOFF || p->place == M_ERROR_BACKOFF) && !m_is_backing_off(p))
            p->place = M_ACTIVE;
        else if (p->place == M_UNSCHEDULABLE && p->flush <= now)
            m_requeue(p, M_AFTER);
    }
}

static void m_put(struct m_pod *p)
{
    int priority = (int)test_random_below(3);
    bool has_gate = test_random_below(4) == 0;
    bool label_changed = has_gate != (p->place == M_IN_FLIGHT ? p->new_has_gate : p->has_gate);
    struct m_event own = { SCHED_ON_UNSCHEDULED_POD,
                           label_changed ? SCHED_UPDATE_POD_LABEL : SCHED_UPDATE, -1 };
    put(&(struct pod_spec){
        .name = p->name, .labels = has_gate ? "\"gate\":\"x\"" : "", .priority = priority });
    p->new_priority = priority;
    p->new_has_gate = has_gate;
    switch (p->place) {
    case M_IN_FLIGHT:
        p->is_deleted = false;
        for (int i = 0; i < M_PODS; i++)
            if (model[i].place == M_IN_FLIGHT)
                vec_push(&model[i].events, own);
        return;
    case M_NOWHERE:
        *p = (struct m_pod){ .added = now, .seq = m_seq++, .nominated = -1, .events = p->events };
        (void)snprintf(p->name, sizeof p->name, "p%d", (int)(p - model));
        p->priority = priority;
        p->has_gate = has_gate;
        m_requeue(p, M_AT_ONCE);
        return;
    case M_ACTIVE:
    case M_BACKOFF:
    case M_ERROR_BACKOFF:
        p->priority = priority;
        p->has_gate = has_gate;
        return;
    case M_UNSCHEDULABLE:
        p->priority = priority;
        p->has_gate = has_gate;
        enum m_strategy s = m_strategy(p, &own);
        if (s == M_STAY)
            return;
        m_requeue(p, s);
        if (p->place == M_ACTIVE && own.action == SCHED_UPDATE)
            p->nominated = -1;
    }
}

static void m_back(struct m_pod *p, uint64_t rejected, uint64_t pending)
{
    sched_queue_back(queue, str_of(p->name), rejected, pending, now);
    if (p->is_deleted) {
        p->place = M_NOWHERE;
        return;
    }
    p->priority = p->new_priority;
    p->has_gate = p->new_has_gate;
    p->rejected = rejected;
    p->pending = pending;
    p->added = now;
    p->seq = m_seq++;
    p->is_gated = false;
    p->refusals += rejected || pending;
    p->errors = rejected || pending ? 0 : p->errors + 1;
    unsigned count = p->errors ? p->errors : p->refusals;
    uint64_t duration = count > 4 ? 10000 : UINT64_C(1000) << (count - 1);
    p->backoff = (now + duration) / 1000 * 1000;
    enum m_strategy s = rejected || pending ? M_STAY : M_AFTER;
    for (size_t i = 0; i < p->events.n; i++)
        s = MAX(s, m_strategy(p, &p->events.p[i]));
    m_requeue(p, s);
}

static struct m_pod *m_random_in_flight(void)
{
    size_t start = test_random_below(M_PODS);
    for (size_t i = 0; i < M_PODS; i++)
        if (model[(start + i) % M_PODS].place == M_IN_FLIGHT)
            return &model[(start + i) % M_PODS];
    return NULL;
}

static void m_pop(void)
{
    struct m_pod *want = m_first(M_ACTIVE);
    if (!want)
        want = m_first(M_BACKOFF);
    const struct sched_queued *got = sched_queue_pop(queue, now);
    CHECK(!want == !got);
    if (!want)
        return;
    CHECK_STR(got->pod->o.name, want->name);
    CHECK_INT(got->pod->priority, want->priority);
    want->place = M_IN_FLIGHT;
    want->is_deleted = false;
    want->new_priority = want->priority;
    want->new_has_gate = want->has_gate;
    want->events.n = 0;
}

static void m_some_event(void)
{
    static const struct m_event events[] = {
        { SCHED_ON_NODE, SCHED_ADD, -1 },
        { SCHED_ON_NODE, SCHED_DELETE, -1 },
        { SCHED_ON_NODE, SCHED_UPDATE_NODE_LABEL, -1 },
        { SCHED_ON_NODE, SCHED_UPDATE_NODE_TAINT, -1 },
        { SCHED_ON_NODE, SCHED_UPDATE_NODE_ALLOCATABLE, -1 },
        { SCHED_ON_ASSIGNED_POD, SCHED_DELETE, -1 },
        { SCHED_ON_ASSIGNED_POD, SCHED_UPDATE_POD_LABEL, -1 },
        { SCHED_ON_ASSIGNED_POD, SCHED_UPDATE, -1 },
        { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_UPDATE, -1 },
        { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_DELETE, -1 },
        { SCHED_ON_CSI_NODE, SCHED_ADD, -1 },
        { SCHED_ON_WILDCARD, SCHED_ALL_ACTIONS, -1 },
    };
    const struct m_event *e = &events[test_random_below(ARRAY_LEN(events))];
    sched_queue_event(queue, &(struct sched_event){ .resource = e->resource, .actions = e->action },
                      now);
    m_event(e);
}

static void m_activate(int i)
{
    struct m_pod *p = &model[i];
    sched_queue_activate(queue, str_of(p->name), now);
    if (p->place == M_IN_FLIGHT) {
        struct m_event e = { SCHED_ON_WILDCARD, SCHED_ALL_ACTIONS, i };
        for (int k = 0; k < M_PODS; k++)
            if (model[k].place == M_IN_FLIGHT)
                vec_push(&model[k].events, e);
    } else if (p->place == M_BACKOFF || p->place == M_ERROR_BACKOFF) {
        p->place = M_ACTIVE;
    } else if (p->place == M_UNSCHEDULABLE) {
        m_requeue(p, M_AT_ONCE);
    }
}

static void m_nominate(struct m_pod *p)
{
    const struct sched_queued *q = sched_queue_get(queue, str_of(p->name));
    CHECK(!q == (p->place == M_NOWHERE || (p->place == M_IN_FLIGHT && p->is_deleted)));
    if (!q)
        return;
    int node = (int)test_random_below(M_NODES + 1) - 1;
    char name[16] = "";
    if (node >= 0)
        (void)snprintf(name, sizeof name, "n%d", node);
    sched_queue_nominate(queue, q->pod, str_of(name));
    p->nominated = node;
}

static void m_del(struct m_pod *p)
{
    sched_queue_del(queue, str_of(p->name));
    p->nominated = -1;
    if (p->place == M_IN_FLIGHT)
        p->is_deleted = true;
    else
        p->place = M_NOWHERE;
}

static void m_check_nominations(void)
{
    size_t total = 0, want = 0;
    for (int node = 0; node < M_NODES; node++) {
        char name[16];
        size_t n;
        (void)snprintf(name, sizeof name, "n%d", node);
        const struct sched_pod *const *pods = sched_nominator_pods(
            sched_queue_nominator(queue), intern_find(words, str_of(name)), &n);
        for (size_t i = 0; i < n; i++)
            CHECK_STR(sched_nominator_node(sched_queue_nominator(queue), pods[i]->o.uid), name);
        total += n;
    }
    for (int i = 0; i < M_PODS; i++) {
        char name[16] = "";
        if (model[i].nominated >= 0)
            (void)snprintf(name, sizeof name, "n%d", model[i].nominated);
        want += model[i].nominated >= 0;
        CHECK_STR(sched_nominator_node(sched_queue_nominator(queue), str_of(model[i].name)), name);
    }
    CHECK_INT(total, want);
}

static void m_seen(void *arg, const struct sched_queued *q, const char *where)
{
    static const char *const names[] = { "nowhere", "active",        "backoff",
                                         "backoff", "unschedulable", "in-flight" };
    uint64_t i = number(str_slice(q->pod->o.name, 1, SIZE_MAX));
    const struct m_pod *p = &model[i];
    CHECK_STR(str_of(where),
              p->place == M_UNSCHEDULABLE && p->is_gated ? "gated" : names[p->place]);
    CHECK_INT(q->rejected_by, p->rejected);
    CHECK_INT(q->pending_by, p->pending);
    (*(size_t *)arg)++;
}

static void m_check(void)
{
    size_t seen = 0, want = 0;
    sched_queue_each(queue, m_seen, &seen);
    for (int i = 0; i < M_PODS; i++)
        want +=
            model[i].place != M_NOWHERE && !(model[i].place == M_IN_FLIGHT && model[i].is_deleted);
    CHECK_INT(seen, want);
    struct sched_queue_count n;
    sched_queue_count(queue, &n);
    size_t in_flight = 0;
    for (int i = 0; i < M_PODS; i++)
        in_flight += model[i].place == M_IN_FLIGHT;
    CHECK_INT(n.in_flight, in_flight);
}

static void m_refuse(struct m_pod *p)
{
    uint64_t any = (UINT64_C(1) << SORT) - 2; /* all but Gate and Sort */
    uint64_t rejected = test_random() & test_random() & any;
    uint64_t pending = test_random() & test_random() & test_random() & any;
    m_back(p, rejected, pending & ~rejected);
}

static void m_step(void)
{
    int i = (int)test_random_below(M_PODS);
    struct m_pod *p = m_random_in_flight();
    switch (test_random_below(14)) {
    case 0:
    case 1:
        m_put(&model[i]);
        break;
    case 2:
        if (test_random_below(4) == 0)
            m_del(&model[i]);
        break;
    case 3:
    case 4:
    case 5:
        m_pop();
        break;
    case 6:
    case 7:
        if (p)
            m_refuse(p);
        break;
    case 8:
        if (p && test_random_below(3) == 0) {
            sched_queue_done(queue, str_of(p->name));
            sched_queue_del(queue, str_of(p->name)); /* as the watch tells of the binding */
            p->place = M_NOWHERE;
            p->nominated = -1;
        }
        break;
    case 9:
        m_some_event();
        break;
    case 10:
        hints[test_random_below(N_PLUGINS)] = (enum sched_hint)test_random_below(2);
        gate_is_open = test_random_below(3) == 0;
        break;
    case 11:
        m_activate(i);
        break;
    case 12:
        m_nominate(&model[i]);
        break;
    case 13:
        now += test_random_below(20) ? test_random_below(900) : test_random_below(100000);
        CHECK(sched_queue_tick(queue, now) > now);
        m_tick();
        break;
    }
}

/* Nothing happens any more but that time passes: each pod is tried again. */
static void m_finish(void)
{
    for (int i = 0; i < M_PODS; i++)
        if (model[i].place == M_IN_FLIGHT)
            m_back(&model[i], 1 << MUTE, 0);
    gate_is_open = true;
    hints[GATE] = SCHED_HINT_QUEUE;
    struct m_event lift = { SCHED_ON_POD, SCHED_UPDATE_POD_LABEL, -1 };
    sched_queue_event(
        queue, &(struct sched_event){ .resource = lift.resource, .actions = lift.action }, now);
    m_event(&lift);
    uint64_t stop = now + 300000 + 2 * 30000, next = 0;
    while ((next = sched_queue_tick(queue, now)) != UINT64_MAX) {
        m_tick();
        CHECK(next > now && next <= stop);
        now = next;
    }
    m_tick();
    m_check();
    for (int i = 0; i < M_PODS; i++)
        CHECK(model[i].place == M_ACTIVE || model[i].place == M_NOWHERE);
    while (m_first(M_ACTIVE))
        m_pop();
    CHECK(!sched_queue_pop(queue, now));
}

TEST(a_random_history_is_as_the_models)
{
    begin();
    memset(model, 0, sizeof model);
    for (int i = 0; i < M_PODS; i++) {
        (void)snprintf(model[i].name, sizeof model[i].name, "p%d", i);
        model[i].nominated = -1;
    }
    for (int i = 0; i < M_STEPS; i++) {
        m_step();
        m_check();
        if (i % 16 == 0)
            m_check_nominations();
    }
    m_finish();
    for (int i = 0; i < M_PODS; i++)
        vec_fini(&model[i].events);
    end();
}

/* ---- steps of stdin, for the comparison with upstream's queue ---- */

static VEC(char *) state_words;

static void add_word(struct str name, char sep, const char *what)
{
    char *word = xasprintf(STR_FMT "%c%s", STR_ARG(name), sep, what);
    vec_push(&state_words, word);
}

static void add_place(void *arg, const struct sched_queued *p, const char *where)
{
    add_word(p->pod->o.name, '=', where);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As test/upstream/schedqueue prints it. */
static void print_state(const char *popped)
{
    sched_queue_each(queue, add_place, NULL);
    for (int node = 0; node < M_NODES; node++) {
        char name[16];
        size_t n;
        (void)snprintf(name, sizeof name, "n%d", node);
        const struct sched_pod *const *pods = sched_nominator_pods(
            sched_queue_nominator(queue), intern_find(words, str_of(name)), &n);
        for (size_t i = 0; i < n; i++)
            add_word(pods[i]->o.name, '@', name);
    }
    if (state_words.n)
        qsort(state_words.p, state_words.n, sizeof *state_words.p, compare_words);
    if (popped)
        (void)printf("popped:%s%s", popped, state_words.n ? " " : "");
    vec_each (word, &state_words) {
        (void)printf("%s%s", word > state_words.p ? " " : "", *word);
        free(*word);
    }
    (void)printf("\n");
    state_words.n = 0;
}

static int run_stdin(void)
{
    char line[512];
    begin();
    while (fgets(line, sizeof line, stdin)) {
        struct str step = str_trim(str_of(line)), verb, name;
        char popped[64] = "-";
        (void)str_cut(step, ' ', &verb, &name);
        bool is_pop = str_is(verb, "pop");
        if (is_pop) {
            const struct sched_queued *p = sched_queue_pop(queue, now);
            if (p)
                (void)snprintf(popped, sizeof popped, STR_FMT, STR_ARG(p->pod->o.name));
        } else if (!str_is(verb, "nominate") ||
                   sched_queue_get(queue, str_slice(name, 0, strcspn(name.p, " \n")))) {
            run_line(step);
        }
        print_state(is_pop ? popped : NULL);
    }
    vec_fini(&state_words);
    end();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--steps") == 0)
        return run_stdin();
    return test_main(argc, argv);
}
