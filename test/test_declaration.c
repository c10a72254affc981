/* SPDX-License-Identifier: Apache-2.0 */
/* operator/v1/declaration: what a guest may declare, and how a slip is explained. */
#include "operator/v1/declaration.h"

#include "test.h"

static struct declarations all;

static struct declaration *declare(const char *text)
{
    struct declaration *d = NULL;
    struct err err = { 0 };
    int r = declaration_get(&all, str_of(text), &d, &err);
    if (r < 0)
        TEST_FAIL("%s", err_text(&err));
    return d;
}

static void refuse(const char *text, const char *want)
{
    struct declaration *d = NULL;
    struct err err = { 0 };
    if (declaration_get(&all, str_of(text), &d, &err) >= 0)
        TEST_FAIL("accepted: %s", text);
    if (strcmp(err_text(&err), want) != 0)
        TEST_FAIL("said '%s', expected '%s'", err_text(&err), want);
}

/* One controller with `more` members beside name and for. */
static char *controller(const char *more)
{
    return xasprintf("{\"controllers\":[{\"name\":\"c\",\"for\":{\"id\":\"p\",\"apiVersion\":"
                     "\"v1\",\"kind\":\"ConfigMap\"}%s}]}",
                     more);
}

/* A watch that is for, with `more` members. */
static char *primary(const char *more)
{
    return xasprintf("{\"controllers\":[{\"name\":\"c\",\"for\":{\"id\":\"p\",\"apiVersion\":"
                     "\"v1\",\"kind\":\"ConfigMap\"%s}}]}",
                     more);
}

static void refuse_in(char *(*around)(const char *), const char *more, const char *want)
{
    char *text = around(more);
    refuse(text, want);
    free(text);
}

static struct declaration *declare_in(char *(*around)(const char *), const char *more)
{
    char *text = around(more);
    struct declaration *d = declare(text);
    free(text);
    return d;
}

TEST(what_is_left_out_has_the_defaults_of_client_go)
{
    struct declaration *d = declare_in(controller, "");
    const struct declaration_controller *c = declaration_controller(d, STR("c"));
    CHECK_INT(d->instances, 1);
    CHECK(!d->stateless);
    CHECK_INT(c->concurrency, 1);
    CHECK_INT(c->resync_ms, 36000000);
    CHECK_INT(c->backoff_base_ms, 5);
    CHECK_INT(c->backoff_max_ms, 1000000);
    CHECK_INT(c->rate_per_s, 10);
    CHECK_INT(c->rate_burst, 100);
    CHECK_INT(c->slack_percent, 5);
    CHECK_INT(c->n_watches, 1);
    CHECK_INT(d->watches[0].role, WATCH_FOR);
    declaration_unref(d);
}

TEST(everything_that_the_specification_shows_is_understood)
{
    struct declaration *d = declare(
        "{\"abi\":1,\"name\":\"certificates\",\"version\":\"1.2.0\",\"stateless\":true,"
        "\"instances\":2,\"controllers\":[{\"name\":\"certificates\","
        "\"watches\":[{\"id\":\"nodes\",\"apiVersion\":\"v1\",\"kind\":\"Node\",\"map\":"
        "{\"index\":\"bySecret\",\"value\":\"uid\"}}],"
        "\"for\":{\"id\":\"certs\",\"apiVersion\":\"example.dev/v1\",\"kind\":\"Certificate\","
        "\"namespaces\":[\"a\",\"b\"],\"name\":\"only-this\",\"labelSelector\":"
        "\"app=web,tier!=db\",\"fieldSelector\":\"metadata.name=n1\",\"metadataOnly\":false,"
        "\"strip\":[\".status.history\"],\"indexes\":[{\"name\":\"bySecret\",\"field\":"
        "\".spec.secretRef.name\"},{\"name\":\"byTeam\",\"label\":\"team\"},{\"name\":\"byOwner\","
        "\"owner\":true}],\"predicate\":{\"or\":[{\"changed\":\"generation\"},{\"and\":[{\"on\":"
        "[\"create\",\"delete\"]},{\"not\":{\"labels\":\"a=b,c\"}}]}]}},"
        "\"owns\":[{\"id\":\"secrets\",\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"anyOwner\":true,"
        "\"metadataOnly\":true}],\"concurrency\":2,\"resyncSeconds\":0,\"backoff\":{\"baseMs\":10,"
        "\"maxMs\":100},\"rate\":{\"perSecond\":0.5,\"burst\":7},\"slackPercent\":0,\"debounceMs\":"
        "250}],"
        "\"caches\":[{\"id\":\"pods\",\"apiVersion\":\"v1\",\"kind\":\"Pod\"}],"
        "\"config\":[{\"name\":\"settings\",\"configMap\":\"issuer-settings\",\"optional\":true,"
        "\"onChange\":\"reconcile\"},{\"name\":\"key\",\"secret\":\"k\",\"namespace\":\"ns\"}],"
        "\"metrics\":[{\"name\":\"issued_total\",\"type\":\"counter\",\"help\":\"h\",\"labels\":"
        "[\"kind\"]},{\"name\":\"took_seconds\",\"type\":\"histogram\",\"buckets\":[0.1,1,10]}]}");
    CHECK(d->stateless);
    CHECK_INT(d->n_watches, 4);
    CHECK_STR(d->watches[0].id, "certs");
    CHECK_STR(d->watches[1].id, "secrets");
    CHECK_STR(d->watches[2].id, "nodes");
    CHECK_STR(d->watches[3].id, "pods");
    CHECK_INT(d->watches[0].n_namespaces, 2);
    CHECK_INT(d->watches[0].n_indexes, 3);
    CHECK_INT(d->watches[0].indexes[2].kind, INDEX_OWNER);
    CHECK_INT(d->watches[0].predicate->kind, PREDICATE_OR);
    CHECK_INT(d->watches[0].predicate->first->next->first->types,
              1u << OBJECT_ADDED | 1u << OBJECT_DELETED);
    CHECK(d->watches[1].any_owner);
    CHECK_INT(d->watches[2].map->kind, MAP_INDEX);
    CHECK_INT(d->watches[2].map->index, 0);
    CHECK_INT(d->watches[3].role, WATCH_CACHE);
    CHECK_INT(d->controllers[0].n_watches, 3);
    CHECK_INT(d->controllers[0].resync_ms, 0);
    CHECK_INT(d->controllers[0].debounce_ms, 250);
    CHECK_INT(d->n_configs, 2);
    CHECK_INT(d->configs[0].on_change, CONFIG_CHANGE_RECONCILE);
    CHECK(d->configs[1].secret);
    CHECK_INT(d->n_metrics, 2);
    CHECK_INT(d->metrics[1].n_buckets, 3);
    declaration_unref(d);
}

TEST(equal_declarations_are_one)
{
    struct declaration *a = declare_in(controller, ""), *b = declare_in(controller, "");
    struct declaration *c = declare_in(controller, ",\"concurrency\":1");
    CHECK(a == b);
    CHECK(a != c);
    declaration_unref(a);
    declaration_unref(b);
    declaration_unref(c);
    CHECK_INT(all.map.n, 0);
}

TEST(a_slip_is_named_with_its_place)
{
    static const struct {
        char *(*around)(const char *);
        const char *more, *want;
    } cases[] = {
        { primary, ",\"labelselector\":\"a\"",
          "controllers[0].for.labelselector: there is no such member" },
        { primary, ",\"kind\":7", "controllers[0].for.kind: must be a string" },
        { primary, ",\"apiVersion\":\"a/b/c\"", NULL },
        { primary, ",\"namespaces\":[]",
          "controllers[0].for.namespaces: must not be empty; without it, all namespaces are "
          "watched" },
        { primary, ",\"namespaces\":[\"a\",\"a\"]",
          "controllers[0].for.namespaces: 'a' is there twice" },
        { primary, ",\"strip\":[\"status\"]",
          "controllers[0].for.strip[0]: a field path begins with '.'" },
        { primary, ",\"strip\":[\".metadata.uid\"]",
          "controllers[0].for.strip[0]: cannot be stripped" },
        { primary, ",\"indexes\":[{\"name\":\"x\"}]",
          "controllers[0].for.indexes[0]: must have exactly one of 'field', 'label', 'owner'" },
        { primary, ",\"indexes\":[{\"name\":\"x\",\"field\":\".a[0]\"}]",
          "controllers[0].for.indexes[0].field: '[' is followed by neither '*' nor a quoted name" },
        { primary, ",\"map\":{\"all\":true}",
          "controllers[0].for.map: only entries of 'watches' have a map" },
        { primary, ",\"anyOwner\":true",
          "controllers[0].for.anyOwner: only entries of 'owns' have it" },
        { primary, ",\"predicate\":{}",
          "controllers[0].for.predicate: must have exactly one of 'changed', 'on', 'labels', "
          "'and', 'or', 'not'" },
        { primary, ",\"predicate\":{\"changed\":\"spec\"}",
          "controllers[0].for.predicate.changed: must be 'generation', 'labels', 'annotations' or "
          "'resourceVersion'" },
        { primary, ",\"predicate\":{\"and\":[{\"on\":[\"made\"]}]}",
          "controllers[0].for.predicate.and[0].on: must be 'create', 'update' or 'delete'" },
        { primary, ",\"metadataOnly\":true,\"indexes\":[{\"name\":\"x\",\"field\":\".spec.a\"}]",
          "controllers[0].for: index 'x' is of a field that metadataOnly leaves out" },
        { controller, ",\"concurrency\":2",
          "controllers[0]: concurrency 2 is more than the declared 'instances', 1" },
        { controller, ",\"debounceMs\":60001",
          "controllers[0].debounceMs: must be from 0 to 60000" },
        { controller, ",\"slackPercent\":101",
          "controllers[0].slackPercent: must be from 0 to 100" },
        { controller, ",\"resyncSeconds\":1.5",
          "controllers[0].resyncSeconds: must be an integer" },
        { controller, ",\"backoff\":{\"baseMs\":20,\"maxMs\":10}",
          "controllers[0].backoff: baseMs is larger than maxMs" },
        { controller, ",\"rate\":{\"perSecond\":0}",
          "controllers[0].rate.perSecond: must be a number from 0.001 to 1000000" },
        { controller, ",\"rate\":{\"perSecond\":\"1\"}",
          "controllers[0].rate.perSecond: must be a number from 0.001 to 1000000" },
        { controller, ",\"watches\":[{\"id\":\"w\",\"apiVersion\":\"v1\",\"kind\":\"Pod\"}]",
          "controllers[0].watches[0]: has no 'map', which says whose keys its events concern" },
        { controller,
          ",\"watches\":[{\"id\":\"w\",\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"map\":{\"index\":"
          "\"i\",\"value\":\"name\"}}]",
          "controllers[0]: watch 'w' maps by index 'i', which 'for' lacks" },
        { controller,
          ",\"watches\":[{\"id\":\"w\",\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"map\":{\"label\":"
          "\"a b\"}}]",
          NULL },
        { controller, ",\"owns\":[{\"id\":\"p\",\"apiVersion\":\"v1\",\"kind\":\"Pod\"}]",
          "controllers[0].owns[0]: R-id: 'p' is the id of another watch" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].want) {
            refuse_in(cases[i].around, cases[i].more, cases[i].want);
            continue;
        }
        char *text = cases[i].around(cases[i].more);
        struct declaration *d;
        struct err err = { 0 };
        CHECK(declaration_get(&all, str_of(text), &d, &err) < 0);
        CHECK(strstr(err_text(&err), "controllers[0]."));
        free(text);
    }
}

TEST(the_whole_is_checked_too)
{
    refuse("[]", "declaration: must be an object");
    refuse("{}", "controllers: is missing");
    refuse("{\"controllers\":[],\"abi\":2}", "abi: must be 1");
    refuse("{\"controllers\":[{\"name\":\"c\"}]}", "controllers[0].for: is missing");
    refuse("{\"controllers\":[],\"caches\":[{\"id\":\"a\",\"apiVersion\":\"v1\",\"kind\":\"Pod\","
           "\"predicate\":{\"on\":[\"create\"]}}]}",
           "caches[0].predicate: a cache wakes no controller, so it has no predicate");
    refuse("{\"controllers\":[],\"config\":[{\"name\":\"a\"}]}",
           "config[0]: must have exactly one of 'configMap', 'secret'");
    refuse("{\"controllers\":[],\"config\":[{\"name\":\"a\",\"secret\":\"s\"},{\"name\":\"a\","
           "\"secret\":\"t\"}]}",
           "config[1]: another configuration is named 'a'");
    refuse("{\"controllers\":[],\"metrics\":[{\"name\":\"a b\",\"type\":\"gauge\"}]}",
           "metrics[0].name: 'a b' is no name of a Prometheus metric");
    refuse("{\"controllers\":[],\"metrics\":[{\"name\":\"a\",\"type\":\"gauge\",\"buckets\":[1]}]}",
           "metrics[0]: only a histogram has buckets");
    refuse("{\"controllers\":[],\"metrics\":[{\"name\":\"a\",\"type\":\"histogram\",\"buckets\":"
           "[2,1]}]}",
           "metrics[0].buckets: bounds must rise");
    refuse("{\"controllers\":[],\"metrics\":[{\"name\":\"a\",\"type\":\"gauge\",\"labels\":"
           "[\"operator\"]}]}",
           "metrics[0].labels[0]: the label 'operator' is the host's");
}

TEST(limits_hold)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct err err = { 0 };
    struct declaration *d;
    (void)buf_add_cstr(&b, "{\"controllers\":[],\"caches\":[");
    for (unsigned i = 0; i <= DECLARATION_MAX_WATCHES; i++)
        (void)buf_printf(&b, "%s{\"id\":\"w%u\",\"apiVersion\":\"v1\",\"kind\":\"Pod\"}",
                         i ? "," : "", i);
    (void)buf_add_cstr(&b, "]}");
    CHECK_ERR(declaration_get(&all, buf_str(&b), &d, &err), E_LIMIT);
    CHECK(!strcmp(err_text(&err), "caches[128]: there are more than 128 watches"));

    char deep[1024];
    size_t n = 0;
    for (int i = 0; i < PREDICATE_MAX_DEPTH; i++)
        n += (size_t)snprintf(deep + n, sizeof deep - n, "{\"not\":");
    n += (size_t)snprintf(deep + n, sizeof deep - n, "{\"on\":[\"create\"]}");
    for (int i = 0; i < PREDICATE_MAX_DEPTH; i++)
        n += (size_t)snprintf(deep + n, sizeof deep - n, "}");
    char *more = xasprintf(",\"predicate\":%s", deep), *text = primary(more);
    CHECK_ERR(declaration_get(&all, str_of(text), &d, &err), E_LIMIT);
    CHECK(strstr(err_text(&err), "nested more than 8 deep"));
    free(text);
    free(more);

    buf_reset(&b);
    (void)buf_add_cstr(&b, "{\"controllers\":[],\"name\":\"");
    while (b.n <= DECLARATION_MAX_BYTES)
        (void)buf_add_cstr(&b, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    (void)buf_add_cstr(&b, "\"}");
    CHECK_ERR(declaration_get(&all, buf_str(&b), &d, &err), E_LIMIT);
    buf_fini(&b);
    CHECK_INT(all.map.n, 0);
}

TEST_MAIN
