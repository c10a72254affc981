/* SPDX-License-Identifier: Apache-2.0 */
/* workload/endpoints/plan: which EndpointSlices a Service has. */
#include "kube/model/meta.h"
#include "test.h"
#include "workload/endpoints/plan.h"

enum { PODS_MAX = 256 };

struct rig {
    struct arena a;
    struct workload_claim pods[PODS_MAX];
    size_t n_pods;
    struct json *slices[PODS_MAX];
    size_t n_slices;
    struct endpoints_slices changes;
};

static struct json *parse(struct rig *r, const char *text)
{
    struct json *v = NULL;
    struct err err = { 0 };
    char *json = arena_printf(&r->a, "%s", text);
    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (json_parse(&r->a, str_of(json), NULL, &v, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return v;
}

static void add_pod(struct rig *r, unsigned i, const char *more_meta, const char *more_spec,
                    bool ready)
{
    const char *text = arena_printf(
        &r->a,
        "{'metadata':{'namespace':'d','name':'p%u','uid':'u%u'%s},'spec':{'nodeName':'n1'%s},"
        "'status':{'podIPs':[{'ip':'10.0.%u.%u'},{'ip':'fd00::%x'}],'conditions':[{'type':'Ready',"
        "'status':'%s'}]}}",
        i, i, more_meta, more_spec, i / 250, i % 250 + 1, i + 1, ready ? "True" : "False");
    r->pods[r->n_pods++] = (struct workload_claim){ .body = parse(r, text) };
}

static void plan(struct rig *r, const char *service)
{
    const struct workload_claims pods = { r->pods, r->n_pods };
    r->changes = endpoints_plan(&r->a, parse(r, service), &pods, r->slices, r->n_slices,
                                parse(r, "{'kind':'Service','name':'s','uid':'su'}"));
}

/* The API stores what was planned. */
static void store(struct rig *r)
{
    for (size_t i = 0; i < r->changes.n; i++) {
        const struct endpoints_slice *c = &r->changes.at[i];
        size_t at = 0;
        while (at < r->n_slices && r->slices[at] != c->is)
            at++;
        if (c->wanted)
            r->slices[at] = c->wanted;
        else
            r->slices[at] = r->slices[r->n_slices - 1];
        r->n_slices += c->is ? 0 : 1;
        r->n_slices -= c->wanted ? 0 : 1;
    }
}

static size_t endpoints_in(const struct json *slice)
{
    return json_getc(slice, "endpoints")->n;
}

static size_t endpoints_of(const struct rig *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_slices; i++)
        n += endpoints_in(r->slices[i]);
    return n;
}

static bool condition(const struct json *slice, const char *name)
{
    return json_bool(
        json_getc(json_getc(json_first(json_getc(slice, "endpoints")), "conditions"), name));
}

#define SERVICE(spec)                                                                              \
    "{'metadata':{'namespace':'d','name':'s','labels':{'l':'v'}},'spec':{'selector':{'a':'b'},"    \
    "'ipFamilies':['IPv4']," spec "}}"
#define WEB                                                                                        \
    SERVICE("'clusterIP':'10.96.0.1','ports':[{'name':'w','protocol':'TCP','port':80,'targetPort'" \
            ":8080}]")

TEST(each_pod_is_an_endpoint_of_one_slice)
{
    struct rig r = { 0 };
    add_pod(&r, 0, "", "", true);
    add_pod(&r, 1, "", ",'hostname':'h','subdomain':'s'", true);
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 1);
    store(&r);
    const struct json *slice = r.slices[0], *labels = json_path(slice, "metadata", "labels", NULL);
    CHECK_INT(endpoints_in(slice), 2);
    CHECK_STR(json_get_str(labels, ENDPOINTS_SERVICE_LABEL), "s");
    CHECK_STR(json_get_str(labels, ENDPOINTS_MANAGED_LABEL), ENDPOINTS_MANAGER);
    CHECK_STR(json_get_str(labels, "l"), "v");
    CHECK(!json_getc(labels, ENDPOINTS_HEADLESS));
    CHECK_STR(json_get_str(slice, "addressType"), "IPv4");
    CHECK_INT(json_int_or(json_getc(json_first(json_getc(slice, "ports")), "port"), 0), 8080);
    const struct json *first = json_first(json_getc(slice, "endpoints"));
    CHECK_STR(json_str(json_first(json_getc(first, "addresses"))), "10.0.0.1");
    CHECK_STR(json_get_str(first, "nodeName"), "n1");
    CHECK(!json_getc(first, "hostname"));
    CHECK_STR(json_get_str(first->next, "hostname"), "h");
    CHECK(condition(slice, "ready") && condition(slice, "serving") &&
          !condition(slice, "terminating"));
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 0);
    arena_fini(&r.a);
}

TEST(conditions_follow_the_pod)
{
    struct rig r = { 0 };
    add_pod(&r, 0, "", "", false);
    plan(&r, WEB);
    store(&r);
    CHECK(!condition(r.slices[0], "ready") && !condition(r.slices[0], "serving"));
    r.n_pods = 0;
    add_pod(&r, 0, ",'deletionTimestamp':'2026-01-01T00:00:00Z'", "", true);
    plan(&r, WEB);
    store(&r);
    CHECK_INT(r.n_slices, 1);
    CHECK(!condition(r.slices[0], "ready") && condition(r.slices[0], "serving") &&
          condition(r.slices[0], "terminating"));
    r.n_pods = 0;
    add_pod(&r, 0, "", "", false);
    plan(&r, SERVICE("'clusterIP':'None','publishNotReadyAddresses':true"));
    store(&r);
    CHECK(condition(r.slices[0], "ready") && !condition(r.slices[0], "serving"));
    CHECK(json_getc(json_path(r.slices[0], "metadata", "labels", NULL), ENDPOINTS_HEADLESS));
    arena_fini(&r.a);
}

TEST(finished_pods_and_those_without_address_are_no_endpoints)
{
    struct rig r = { 0 };
    r.pods[r.n_pods++].body = parse(
        &r, "{'metadata':{'uid':'x'},'status':{'phase':'Succeeded','podIPs':[{'ip':'10.0.0.9'}]}}");
    r.pods[r.n_pods++].body = parse(&r, "{'metadata':{'uid':'y'},'status':{'phase':'Pending'}}");
    plan(&r, WEB);
    store(&r);
    CHECK_INT(r.n_slices, 1); /* an empty one */
    CHECK_INT(endpoints_of(&r), 0);
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 0);
    add_pod(&r, 0, "", "", true);
    plan(&r, WEB);
    store(&r);
    CHECK_INT(r.n_slices, 1);
    CHECK_INT(endpoints_of(&r), 1);
    arena_fini(&r.a);
}

TEST(a_slice_has_a_hundred_endpoints_and_they_stay)
{
    struct rig r = { 0 };
    for (unsigned i = 0; i < 201; i++)
        add_pod(&r, i, "", "", true);
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 3);
    store(&r);
    CHECK_INT(endpoints_of(&r), 201);
    /* One of the first slice goes: no other slice changes. */
    memmove(&r.pods[5], &r.pods[6], (r.n_pods - 6) * sizeof r.pods[0]);
    r.n_pods--;
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 1);
    CHECK_INT(endpoints_in(r.changes.at[0].wanted), 99);
    store(&r);
    /* A new one takes its room. */
    add_pod(&r, 240, "", "", true);
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 1);
    CHECK(r.changes.at[0].is);
    store(&r);
    CHECK_INT(endpoints_of(&r), 201);
    r.n_pods = 0;
    plan(&r, WEB);
    store(&r);
    CHECK_INT(r.n_slices, 1);
    CHECK_INT(endpoints_of(&r), 0);
    arena_fini(&r.a);
}

TEST(a_named_port_may_be_another_one_in_each_pod)
{
    struct rig r = { 0 };
    const char *service = SERVICE("'clusterIP':'10.96.0.1','ports':[{'name':'w','protocol':'TCP',"
                                  "'port':80,'targetPort':'web'}]");
    add_pod(&r, 0, "",
            ",'containers':[{'ports':[{'name':'web','protocol':'TCP','containerPort':8080}]}]",
            true);
    add_pod(&r, 1, "",
            ",'containers':[{'ports':[{'name':'web','protocol':'TCP','containerPort':9090}]}]",
            true);
    add_pod(&r, 2, "",
            ",'containers':[{'ports':[{'name':'web','protocol':'UDP','containerPort':9090}]}]",
            true);
    plan(&r, service);
    CHECK_INT(r.changes.n, 3); /* the third pod has no such port */
    store(&r);
    CHECK_INT(endpoints_of(&r), 3);
    r.n_pods = 1;
    plan(&r, service);
    store(&r);
    CHECK_INT(r.n_slices, 1);
    arena_fini(&r.a);
}

TEST(families_have_slices_of_their_own)
{
    struct rig r = { 0 };
    add_pod(&r, 0, "", "", true);
    plan(&r, "{'metadata':{'namespace':'d','name':'s'},'spec':{'selector':{'a':'b'},"
             "'ipFamilies':['IPv6','IPv4'],'ports':[{'name':'','protocol':'TCP','port':80}]}}");
    CHECK_INT(r.changes.n, 2);
    CHECK_STR(json_get_str(r.changes.at[1].wanted, "addressType"), "IPv6");
    CHECK_STR(json_str(json_first(json_getc(
                  json_first(json_getc(r.changes.at[1].wanted, "endpoints")), "addresses"))),
              "fd00::1");
    store(&r);
    plan(&r, WEB);
    store(&r);
    CHECK_INT(r.n_slices, 1);
    CHECK_STR(json_get_str(r.slices[0], "addressType"), "IPv4");
    arena_fini(&r.a);
}

TEST(slices_of_others_stay)
{
    struct rig r = { 0 };
    r.slices[r.n_slices++] =
        parse(&r, "{'metadata':{'name':'mine','labels':{}},'addressType':'IPv4'}");
    add_pod(&r, 0, "", "", true);
    plan(&r, WEB);
    CHECK_INT(r.changes.n, 1);
    CHECK(!r.changes.at[0].is);
    CHECK(!endpoints_are_managed(parse(&r, "{'spec':{}}")));
    CHECK(
        !endpoints_are_managed(parse(&r, "{'spec':{'type':'ExternalName','selector':{'a':'b'}}}")));
    arena_fini(&r.a);
}

TEST_MAIN
