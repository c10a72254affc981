/* SPDX-License-Identifier: Apache-2.0 */
/* The C SDK for ABI v1 against a host that a test plays. */
#include "fake_host_v1.h"

/* ---- the operator: a table with a row per test, and a function that the test chooses ---- */

static struct dm_result (*act)(struct dm_request *r);

static struct dm_result reconcile(struct dm_request *r)
{
    return act(r);
}

static const struct dm_resource widgets = { "example.dev", "v1", "widgets", "Widget", false };

static const struct dm_watch owned[] = { { .res = &dm_configmaps, .any_owner = true },
                                         { .res = NULL } };
static const struct dm_index by_secret[] = {
    { .name = "bySecret", .field = ".spec.secret" },
    { .name = "byOwner", .owner = true },
    { .name = NULL },
};
static const struct dm_watch mapped[] = {
    { .res = &dm_secrets,
      .id = "s",
      .metadata_only = true,
      .map = DM_MAP_INDEX("bySecret", "name"),
      .predicate = DM_OR(DM_CHANGED("labels"), DM_NOT(DM_ON("update"))) },
    { .res = NULL },
};
static const char *const namespaces[] = { "a", "b", NULL };
static const char *const strip[] = { ".status.history", NULL };
static const struct dm_watch caches[] = { { .res = &dm_namespaces, .strip = strip },
                                          { .res = NULL } };
static const char *const metric_labels[] = { "kind", "why", NULL };
static const struct dm_metric metrics[] = {
    { .name = "made_total", .type = "counter", .help = "Made.", .labels = metric_labels },
    { .name = "seconds", .type = "histogram", .buckets = "0.1,1,10" },
    { .name = NULL },
};
static const struct dm_config configs[] = {
    { .name = "settings", .config_map = "cm", .optional = true, .on_change = "activate" },
    { .name = NULL },
};
static const struct dm_controller controllers[] = {
    {
        .name = "widgets",
        .reconcile = reconcile,
        .primary = { .res = &widgets,
                     .namespaces = namespaces,
                     .label_selector = "a=b",
                     .indexes = by_secret,
                     .predicate = DM_SPEC_CHANGED },
        .owns = owned,
        .watches = mapped,
        .resync_s = -1,
        .backoff_max_ms = 60000,
        .rate_per_s = 5,
    },
    { .name = NULL },
};

static char config_seen[32];

static struct dm_result on_config(struct dm_request *r, const char *config)
{
    (void)snprintf(config_seen, sizeof(config_seen), "%s", config);
    struct dm_json c;
    CHECK_INT(dm_config(r, config, &c), 0);
    CHECK(dm_json_is(dm_json_at(c, "data.k"), "v"));
    return dm_done();
}

const struct dm_operator dm_operator = {
    .name = "test",
    .version = "1.2.3",
    .controllers = controllers,
    .caches = caches,
    .configs = configs,
    .metrics = metrics,
    .instances = 2,
    .stateless = true,
    .on_config = on_config,
};

#define KEY "\"type\":\"reconcile\",\"controller\":\"widgets\",\"namespace\":\"a\",\"name\":\"w\""
#define OBJECT                                                                                     \
    "{\"metadata\":{\"namespace\":\"a\",\"name\":\"w\",\"uid\":\"u1\",\"resourceVersion\":\"7\","  \
    "\"generation\":3},\"spec\":{\"n\":1}}"
#define RECONCILE "{" KEY ",\"reasons\":[\"update\",\"owned\"],\"attempt\":2,\"object\":" OBJECT "}"

/* ---- declaration ---- */

TEST(the_declaration_says_what_the_tables_say)
{
    fresh();
    will_say(0, "");
    CHECK_INT(v1_setup(), 0);
    CHECK_STR(
        str_of(host.calls[0].body),
        "{\"abi\":1,\"name\":\"test\",\"version\":\"1.2.3\",\"stateless\":true,\"instances\":2,"
        "\"controllers\":[{\"name\":\"widgets\",\"for\":{\"id\":\"widgets\","
        "\"apiVersion\":\"example.dev/v1\",\"kind\":\"Widget\",\"namespaces\":[\"a\",\"b\"],"
        "\"labelSelector\":\"a=b\",\"indexes\":[{\"name\":\"bySecret\",\"field\":\".spec.secret\"},"
        "{\"name\":\"byOwner\",\"owner\":true}],\"predicate\":{\"changed\":\"generation\"}},"
        "\"owns\":[{\"id\":\"configmaps\",\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
        "\"anyOwner\":true}],\"watches\":[{\"id\":\"s\",\"apiVersion\":\"v1\",\"kind\":\"Secret\","
        "\"metadataOnly\":true,\"predicate\":{\"or\":[{\"changed\":\"labels\"},{\"not\":{\"on\":"
        "[\"update\"]}}]},\"map\":{\"index\":\"bySecret\",\"value\":\"name\"}}],"
        "\"resyncSeconds\":0,\"backoff\":{\"maxMs\":60000},\"rate\":{\"perSecond\":5}}],"
        "\"caches\":[{\"id\":\"namespaces\",\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
        "\"strip\":[\".status.history\"]}],\"config\":[{\"name\":\"settings\",\"configMap\":\"cm\","
        "\"optional\":true,\"onChange\":\"activate\"}],\"metrics\":[{\"name\":\"made_total\","
        "\"type\":\"counter\",\"help\":\"Made.\",\"labels\":[\"kind\",\"why\"]},"
        "{\"name\":\"seconds\",\"type\":\"histogram\",\"buckets\":[0.1,1,10]}]}");
}

TEST(a_refused_declaration_fails_the_start_with_its_text)
{
    fresh();
    will_say(-1, "controllers[0].for.kind: missing");
    CHECK(v1_setup() != 0);
    CHECK_STR(str_of(host.failed), "declare: controllers[0].for.kind: missing");
}

/* ---- activations ---- */

static struct dm_result see_request(struct dm_request *r)
{
    CHECK(r->controller == &controllers[0]);
    CHECK_STR(str_of(r->ns), "a");
    CHECK_STR(str_of(r->name), "w");
    CHECK_INT(r->attempt, 2);
    CHECK_INT(r->reasons, DM_REASON_UPDATE | DM_REASON_OWNED);
    CHECK_INT(dm_json_int(dm_json_at(r->object, "spec.n"), 0), 1);
    return dm_again_after(1500);
}

TEST(an_activation_brings_key_reasons_and_object)
{
    fresh();
    act = see_request;
    CHECK_INT(activate(RECONCILE), 1500);
}

static struct dm_result see_nothing(struct dm_request *r)
{
    CHECK(!dm_json_has(r->object));
    CHECK_INT(r->error.code, 0);
    return dm_done();
}

static struct dm_result see_object(struct dm_request *r)
{
    CHECK_INT(dm_json_int(dm_json_at(r->object, "spec.n"), 0), 1);
    return dm_done();
}

TEST(a_large_object_is_read_from_the_cache)
{
    fresh();
    act = see_object;
    will_say(0, OBJECT);
    CHECK_INT(activate("{" KEY "}"), 0);
    CHECK_STR(str_of(host.calls[0].body),
              "{\"watch\":\"widgets\",\"namespace\":\"a\",\"name\":\"w\"}");
    act = see_nothing;
    will_say(-2, "no such object");
    CHECK_INT(activate("{" KEY "}"), 0);
    will_say(-11, "the list is not there yet");
    CHECK_INT(activate("{" KEY "}"), -1);
    CHECK_STR(str_of(host.failed), "read the object: not-synced: the list is not there yet");
    CHECK_INT(activate("{" KEY ",\"object\":null}"), 0);
    CHECK_INT(host.n_calls, 3);
}

TEST(a_changed_configuration_arrives)
{
    fresh();
    will_say(0, "{\"data\":{\"k\":\"v\"}}");
    CHECK_INT(activate("{\"type\":\"config\",\"name\":\"settings\"}"), 0);
    CHECK_STR(str_of(config_seen), "settings");
    CHECK_INT(activate("{\"type\":\"later\"}"), 0);
}

/* ---- requests ---- */

static struct dm_result do_verbs(struct dm_request *r)
{
    struct dm_ref cm = dm_ref(&dm_configmaps, r->ns, "c");
    struct dm_json got = { 0 };
    CHECK_INT(dm_get(r, cm, &got), 0);
    CHECK(dm_json_is(dm_json_at(got, "data.k"), "v"));
    CHECK_INT(dm_create(r, cm, DM_STR("{\"a\":1}"), NULL), 0);
    CHECK_INT(dm_update(r, cm, DM_STR("{\"a\":2}"), NULL), 0);
    CHECK_INT(dm_patch(r, dm_sub(dm_self(r), "status"), DM_PATCH_JSON, DM_STR("[]"), NULL), 0);
    CHECK_INT(dm_patch(r, cm, DM_PATCH_STRATEGIC, DM_STR("{}"), NULL), 0);
    CHECK_INT(dm_apply(r, cm, DM_STR("{\"a\":3}"), true, NULL), 0);
    CHECK_INT(dm_delete(r, dm_ref(&dm_namespaces, NULL, "n"), NULL), 0);
    CHECK_INT(dm_delete(r, cm,
                        &(struct dm_delete){ .uid = "u",
                                             .resource_version = "5",
                                             .propagation = "Foreground",
                                             .grace_s = -1,
                                             .dry_run = true }),
              0);
    return dm_done();
}

TEST(verbs_become_requests)
{
    static const struct {
        const char *head, *body;
    } rows[] = {
        { "GET /api/v1/namespaces/a/configmaps/c\n", "" },
        { "POST /api/v1/namespaces/a/configmaps\ncontent-type: application/json\n", "{\"a\":1}" },
        { "PUT /api/v1/namespaces/a/configmaps/c\ncontent-type: application/json\n", "{\"a\":2}" },
        { "PATCH /apis/example.dev/v1/namespaces/a/widgets/w/status\n"
          "content-type: application/json-patch+json\n",
          "[]" },
        { "PATCH /api/v1/namespaces/a/configmaps/c\n"
          "content-type: application/strategic-merge-patch+json\n",
          "{}" },
        { "PATCH /api/v1/namespaces/a/configmaps/c?force=true\n"
          "content-type: application/apply-patch+yaml\n",
          "{\"a\":3}" },
        { "DELETE /api/v1/namespaces/n\n", "" },
        { "DELETE /api/v1/namespaces/a/configmaps/c\ncontent-type: application/json\n",
          "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"u\","
          "\"resourceVersion\":\"5\"},\"propagationPolicy\":\"Foreground\","
          "\"gracePeriodSeconds\":0,\"dryRun\":[\"All\"]}" },
    };
    fresh();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        will_answer(i == 1 ? 201 : 200, "{\"data\":{\"k\":\"v\"}}");
    act = do_verbs;
    CHECK_INT(activate(RECONCILE), 0);
    CHECK_INT(host.n_calls, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < host.n_calls; i++) {
        CHECK_STR(str_of(host.calls[i].head), rows[i].head);
        CHECK_STR(str_of(host.calls[i].body), rows[i].body);
    }
}

/* ---- errors ---- */

static struct dm_error seen_error;
static char seen_reason[64], seen_field[64];

static struct dm_result fail_to_get(struct dm_request *r)
{
    struct dm_json got;
    CHECK(dm_get(r, dm_self(r), &got) < 0);
    seen_error = r->error;
    (void)snprintf(seen_reason, sizeof(seen_reason), "%s", r->error.reason);
    struct dm_json_iter it = dm_json_iter(r->error.causes);
    struct dm_str field = { "", 0 };
    if (dm_json_next(&it))
        field = dm_json_plain(dm_json_member(it.value, "field"));
    (void)snprintf(seen_field, sizeof(seen_field), "%.*s", (int)field.n, field.p);
    return dm_give_up(r, "look at '%s'", r->name);
}

TEST(errors_are_typed)
{
    static const struct {
        uint32_t status;
        const char *headers, *body;
        int code;
        const char *reason;
        unsigned retry_after_s;
        const char *field;
    } rows[] = {
        { 404, "", "{\"reason\":\"NotFound\",\"message\":\"m\"}", DM_E_NOT_FOUND, "NotFound", 0,
          "" },
        { 409, "", "{\"reason\":\"Conflict\",\"message\":\"m\"}", DM_E_CONFLICT, "Conflict", 0,
          "" },
        { 409, "", "{\"reason\":\"AlreadyExists\",\"message\":\"m\"}", DM_E_EXISTS, "AlreadyExists",
          0, "" },
        { 422, "",
          "{\"reason\":\"Invalid\",\"message\":\"m\",\"details\":{\"causes\":[{\"field\":"
          "\"spec.x\"}]}}",
          DM_E_INVALID, "Invalid", 0, "spec.x" },
        { 429, "x: y\nretry-after: 7\ndormouse-error: limited\n",
          "{\"reason\":\"TooManyRequests\",\"message\":\"m\"}", DM_E_LIMITED, "TooManyRequests", 7,
          "" },
        { 503, "",
          "{\"reason\":\"ServiceUnavailable\",\"message\":\"m\",\"details\":{\"retryAfterSeconds\":"
          "3}}",
          DM_E_UNAVAILABLE, "ServiceUnavailable", 3, "" },
        { 401, "", "{\"reason\":\"Unauthorized\",\"message\":\"m\"}", DM_E_REFUSED, "Unauthorized",
          0, "" },
        { 500, "", "what?", DM_E_SERVER, "", 0, "" },
    };
    act = fail_to_get;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fresh();
        will_answer_with(rows[i].status, rows[i].headers, rows[i].body);
        CHECK_INT(activate(RECONCILE), -2);
        CHECK_INT(seen_error.code, rows[i].code);
        CHECK_INT(seen_error.status, (int)rows[i].status);
        CHECK_INT(seen_error.retry_after_s, rows[i].retry_after_s);
        CHECK_STR(str_of(seen_reason), rows[i].reason);
        CHECK_STR(str_of(seen_field), rows[i].field);
    }
    CHECK_STR(str_of(host.failed), "look at 'w': : HTTP status 500");
    fresh();
    will_say(-5, "the body is larger than 3 MiB");
    CHECK_INT(activate(RECONCILE), -2);
    CHECK_INT(seen_error.code, DM_E_TOO_LARGE);
    CHECK_INT(seen_error.status, 0);
    CHECK_STR(str_of(host.failed), "look at 'w': too-large: the body is larger than 3 MiB");
}

TEST(garbage_from_the_host_is_an_error)
{
    act = fail_to_get;
    fresh();
    will_say(0, "\1");
    CHECK_INT(activate(RECONCILE), -2);
    CHECK_INT(seen_error.code, DM_E_SERVER);
    fresh();
    will_say(0, "\310\1\1\1\377\377\377\377{}");
    CHECK_INT(activate(RECONCILE), -2);
    CHECK_INT(seen_error.code, DM_E_SERVER);
    fresh();
    will_answer(200, "{");
    CHECK_INT(activate(RECONCILE), -2);
    CHECK_INT(seen_error.code, DM_E_SERVER);
}

/* ---- lists ---- */

static char names[64];

static int add_name(struct dm_request *r, struct dm_json object, void *arg)
{
    struct dm_str name = dm_meta(object, "name");
    struct dm_text *t = dm_scratch(r);
    dm_textf(t, "%s%.*s,", names, (int)name.n, name.p);
    (void)snprintf(names, sizeof(names), "%s", t->p);
    return name.n && name.p[0] == *(const char *)arg ? 5 : 0;
}

static int list_result;

static struct dm_result list_all(struct dm_request *r)
{
    list_result = dm_list_each(r,
                               &(struct dm_list){ .res = &dm_secrets,
                                                  .ns = "a",
                                                  .label_selector = "x in (1,2)",
                                                  .metadata_only = true,
                                                  .limit = 2 },
                               add_name, (void *)(uintptr_t) "e");
    CHECK_INT(dm_json_int(dm_json_at(r->object, "spec.n"), 0), 1); /* still there */
    return list_result < 0 ? dm_fail(r, "list") : dm_done();
}

TEST(a_list_is_walked_page_by_page)
{
    static const char first[] = "{\"metadata\":{\"continue\":\"t\\/1\"},\"items\":["
                                "{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}]}";
    act = list_all;
    fresh();
    names[0] = 0;
    will_answer(200, first);
    will_answer(200, "{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"c\"}}]}");
    CHECK_INT(activate(RECONCILE), 0);
    CHECK_STR(str_of(names), "a,b,c,");
    CHECK_STR(str_of(host.calls[0].head),
              "GET /api/v1/namespaces/a/secrets?limit=2&labelSelector=x%20in%20%281%2C2%29\n"
              "accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\n");
    CHECK(strstr(host.calls[1].head, "&continue=t%2F1\n") != NULL);

    fresh(); /* the second page fails */
    will_answer(200, first);
    will_answer(410, "{\"reason\":\"Expired\",\"message\":\"too old\"}");
    CHECK_INT(activate(RECONCILE), -1);
    CHECK_INT(list_result, DM_E_EXPIRED);
    CHECK_STR(str_of(host.failed), "list: Expired: too old");

    fresh(); /* the callback has seen enough */
    will_answer(200,
                "{\"metadata\":{\"continue\":\"x\"},\"items\":[{\"metadata\":{\"name\":\"e\"}},"
                "{\"metadata\":{\"name\":\"f\"}}]}");
    CHECK_INT(activate(RECONCILE), 0);
    CHECK_INT(list_result, 5);
}

static struct dm_result query_cache(struct dm_request *r)
{
    struct dm_json got;
    CHECK_INT(dm_cache_get_consistent(r, "s", NULL, "n", &got), 0);
    CHECK_INT(dm_cache_each(r,
                            &(struct dm_query){ .watch = "s",
                                                .ns = "a",
                                                .index = "bySecret",
                                                .value = "",
                                                .view = "metadata",
                                                .limit = 1,
                                                .consistent = true },
                            add_name, (void *)(uintptr_t) "-"),
              0);
    return dm_done();
}

TEST(the_cache_is_asked_for_objects_and_lists)
{
    act = query_cache;
    fresh();
    names[0] = 0;
    will_say(0, "{}");
    will_say(0, "{\"continue\":\"1\",\"items\":[{\"metadata\":{\"name\":\"a\"}}]}");
    will_say(0, "{\"items\":[{\"metadata\":{\"name\":\"b\"}}]}");
    CHECK_INT(activate(RECONCILE), 0);
    CHECK_STR(str_of(names), "a,b,");
    CHECK_STR(str_of(host.calls[0].body), "{\"watch\":\"s\",\"name\":\"n\",\"consistent\":true}");
    CHECK_STR(str_of(host.calls[2].body),
              "{\"watch\":\"s\",\"namespace\":\"a\",\"index\":\"bySecret\",\"value\":\"\","
              "\"view\":\"metadata\",\"limit\":1,\"continue\":\"1\",\"consistent\":true}");
}

/* ---- the primary ---- */

static int cleaned;
static bool clean_waits;

static int clean(struct dm_request *r)
{
    cleaned++;
    if (clean_waits)
        return 1;
    return dm_delete(r, dm_ref(&dm_configmaps, r->ns, "made"), NULL);
}

static int finalize_result;

static struct dm_result live(struct dm_request *r)
{
    finalize_result = dm_finalize(r, "example.dev/f", clean);
    return finalize_result < 0 ? dm_fail(r, "finalize") : dm_done();
}

#define WITH(meta)                                                                                 \
    "{" KEY ",\"object\":{\"metadata\":{\"name\":\"w\",\"resourceVersion\":\"7\"" meta "}}}"

TEST(a_finalizer_is_added_and_leaves_after_the_cleaning)
{
    act = live;
    fresh();
    will_answer(200, "{}");
    CHECK_INT(activate(WITH("")), 0);
    CHECK_INT(finalize_result, 0);
    CHECK_STR(str_of(host.calls[0].body),
              "{\"metadata\":{\"resourceVersion\":\"7\",\"finalizers\":[\"example.dev/f\"]}}");
    fresh(); /* it is there */
    CHECK_INT(activate(WITH(",\"finalizers\":[\"example.dev/f\"]")), 0);
    CHECK_INT(host.n_calls, 0);
    CHECK_INT(finalize_result, 0);

#define DELETED WITH(",\"deletionTimestamp\":\"t\",\"finalizers\":[\"o\",\"example.dev/f\"]")
    fresh();
    will_answer(200, "{}");
    will_answer(404, "{\"reason\":\"NotFound\",\"message\":\"gone\"}");
    CHECK_INT(activate(DELETED), 0);
    CHECK_INT(finalize_result, 1);
    CHECK_INT(cleaned, 1);
    CHECK_STR(str_of(host.calls[1].body),
              "{\"metadata\":{\"resourceVersion\":\"7\",\"finalizers\":[\"o\"]}}");
    fresh(); /* the cleaning fails: the finalizer stays */
    will_answer(403, "{\"reason\":\"Forbidden\",\"message\":\"no\"}");
    CHECK_INT(activate(DELETED), -1);
    CHECK_INT(host.n_calls, 1);
    CHECK_INT(cleaned, 2);
    fresh(); /* it has not ended yet */
    clean_waits = true;
    CHECK_INT(activate(DELETED), 0);
    CHECK_INT(host.n_calls, 0);
    CHECK_INT(finalize_result, 1);
    CHECK_INT(cleaned, 3);
    fresh(); /* deleted, and never ours */
    CHECK_INT(activate(WITH(",\"deletionTimestamp\":\"t\"")), 0);
    CHECK_INT(finalize_result, 1);
    CHECK_INT(cleaned, 3);
}

static struct dm_result report(struct dm_request *r)
{
    int code = dm_set_status(
        r, "\"made\":{\"a\":1,\"b\":[\"x\"]}",
        &(struct dm_condition){
            .type = "Ready", .status = "True", .reason = "Made", .message = "all there" });
    return code < 0 ? dm_fail(r, "status") : dm_done();
}

TEST(a_status_is_written_once)
{
#define STATUS                                                                                     \
    "\"observedGeneration\":3,\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","            \
    "\"observedGeneration\":3,\"lastTransitionTime\":\"2023-11-14T22:13:20Z\",\"reason\":"         \
    "\"Made\","                                                                                    \
    "\"message\":\"all there\"}]"
    act = report;
    fresh();
    will_answer(200, "{}");
    CHECK_INT(activate(RECONCILE), 0);
    CHECK(strncmp(host.calls[0].head, "PATCH /apis/example.dev/v1/namespaces/a/widgets/w/status\n",
                  57) == 0);
    CHECK_STR(str_of(host.calls[0].body), "{\"metadata\":{\"resourceVersion\":\"7\"},\"status\":{"
                                          "\"made\":{\"a\":1,\"b\":[\"x\"]}," STATUS "}}");
    fresh(); /* members in another order are the same status */
    CHECK_INT(activate("{" KEY ",\"object\":{\"metadata\":{\"generation\":3},\"status\":{" STATUS
                       ",\"made\":{\"b\":[\"\\u0078\"],\"a\":1},\"other\":1}}}"),
              0);
    CHECK_INT(host.n_calls, 0);
    fresh();
    will_answer(409, "{\"reason\":\"Conflict\",\"message\":\"changed\"}");
    CHECK_INT(activate("{" KEY ",\"object\":{\"metadata\":{\"generation\":3},\"status\":{" STATUS
                       ",\"made\":{\"b\":[\"y\"],\"a\":1}}}}"),
              -1);
}

/* ---- telling ---- */

static struct dm_result tell(struct dm_request *r)
{
    dm_info("made", "name=%s n=%d part=%s/%u", r->name, -3, "a b", 2u);
    dm_warn("odd", "");
    dm_error("number as text", "v=%s", "007");
    dm_event(&widgets, r->object, DM_WARNING, "Made", "Make", "made %d of '%s'", 3, "x");
    dm_metric(0, 1.5, "Secret", "new");
    dm_metric(1, 2);
    dm_enqueue("widgets", "a", "x", 500, "high");
    dm_enqueue("widgets", NULL, "y", 0, NULL);
    return dm_again_after(0);
}

TEST(what_is_told_reaches_the_host)
{
    static const struct {
        const char *what, *head, *body;
    } rows[] = {
        { "log1", "made", "{\"name\":\"w\",\"n\":-3,\"part\":\"a b/2\"}" },
        { "log2", "odd", "" },
        { "log3", "number as text", "{\"v\":\"007\"}" },
        { "event", "",
          "{\"type\":\"Warning\",\"reason\":\"Made\",\"action\":\"Make\",\"note\":\"made 3 of "
          "'x'\",\"regarding\":{\"apiVersion\":\"example.dev/v1\",\"kind\":\"Widget\","
          "\"namespace\":\"a\",\"name\":\"w\",\"uid\":\"u1\"}}" },
        { "metric", "0 1.5", "[\"Secret\",\"new\"]" },
        { "metric", "1 2", "" },
        { "enqueue", "",
          "{\"controller\":\"widgets\",\"namespace\":\"a\",\"name\":\"x\",\"afterMs\":500,"
          "\"priority\":\"high\"}" },
        { "enqueue", "", "{\"controller\":\"widgets\",\"namespace\":\"\",\"name\":\"y\"}" },
    };
    act = tell;
    fresh();
    CHECK_INT(activate(RECONCILE), 1);
    CHECK_INT(host.n_calls, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < host.n_calls; i++) {
        CHECK_STR(str_of(host.calls[i].what), rows[i].what);
        CHECK_STR(str_of(host.calls[i].head), rows[i].head);
        CHECK_STR(str_of(host.calls[i].body), rows[i].body);
    }
}

static struct dm_result tell_too_much(struct dm_request *r)
{
    char note[1400];
    memset(note, 'x', sizeof(note));
    memcpy(note + 1023, "\xc3\xa4", 3); /* the limit is inside of a character */
    dm_event(&widgets, r->object, DM_NORMAL, "A", "B", "%s", note);
    return dm_done();
}

TEST(a_long_note_is_cut_between_characters)
{
    act = tell_too_much;
    fresh();
    CHECK_INT(activate(RECONCILE), 0);
    struct dm_json v = dm_json_parse(host.calls[0].body, strlen(host.calls[0].body));
    CHECK_INT(dm_json_plain(dm_json_member(v, "note")).n, 1023);
}

TEST_MAIN
