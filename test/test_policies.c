/* SPDX-License-Identifier: Apache-2.0 */
/* ValidatingAdmissionPolicies: which writes they are about, what they say, what they need. */
#include "api_fixture.h"
#include "fault_store.h"

#include "api/controllers/controllers.h"
#include "base/mem.h"

#define GROUP    "/apis/admissionregistration.k8s.io/v1"
#define POLICIES GROUP "/validatingadmissionpolicies"
#define BINDINGS GROUP "/validatingadmissionpolicybindings"
#define DEPLOYS  "/apis/apps/v1/namespaces/default/deployments"

/* Back quotes stand for quotes in all bodies here. */
static struct json *tell(struct fixture *f, int status, const char *method, const char *path,
                         const char *body)
{
    char *p = body ? arena_strndup(&f->arena, body, strlen(body)) : NULL;
    for (char *c = p; c && *c; c++)
        if (*c == '`')
            *c = '"';
    return want(f, status, method, path, p);
}

#define RULE(operations, group, resource)                                                          \
    "`matchConstraints`:{`resourceRules`:[{`apiGroups`:[`" group "`],`apiVersions`:[`v1`],"        \
    "`operations`:[" operations "],`resources`:[`" resource "`]}]}"

static void make_policy(struct fixture *f, const char *name, const char *spec)
{
    scoped(free_scoped) char *body =
        xasprintf("{`metadata`:{`name`:`%s`},`spec`:{%s}}", name, spec);
    (void)tell(f, 201, "POST", POLICIES, body);
}

/* more: members of the spec, each behind a comma. */
static void put_in_force(struct fixture *f, const char *policy, const char *actions,
                         const char *more)
{
    scoped(free_scoped) char *body = xasprintf(
        "{`metadata`:{`name`:`b-%s`},`spec`:{`policyName`:`%s`,`validationActions`:[%s]%s}}",
        policy, policy, actions, more);
    (void)tell(f, 201, "POST", BINDINGS, body);
}

static void check_refused(struct fixture *f, int status, const char *method, const char *path,
                          const char *body, const char *message)
{
    CHECK_STR(json_get_str(tell(f, status, method, path, body), "message"), message);
}

static const char *deployment(struct fixture *f, const char *name, int replicas)
{
    return arena_printf(
        &f->arena,
        "{`metadata`:{`name`:`%s`,`labels`:{`env`:`test`}},`spec`:{`replicas`:%d,`selector`:{"
        "`matchLabels`:{`a`:`b`}},`template`:{`metadata`:{`labels`:{`a`:`b`}},`spec`:{"
        "`containers`:[{`name`:`c`,`image`:`i`}]}}}}",
        name, replicas);
}

TEST(a_policy_is_in_force_once_it_is_bound)
{
    struct fixture f;
    fixture_init(&f);
    make_policy(&f, "few",
                RULE("`CREATE`,`UPDATE`", "apps",
                     "deployments") ",`validations`:[{`expression`:`object.spec.replicas <= 5`}]");
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "free", 6));
    put_in_force(&f, "few", "`Deny`", "");
    struct json *no = tell(&f, 422, "POST", DEPLOYS, deployment(&f, "d", 6));
    CHECK_STR(json_get_str(no, "message"),
              "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'few' with binding "
              "'b-few' denied request: failed expression: object.spec.replicas <= 5");
    CHECK_STR(json_get_str(no, "reason"), "Invalid");
    CHECK_STR(json_get_str(json_first(json_path(no, "details", "causes", NULL)), "message"),
              "ValidatingAdmissionPolicy 'few' with binding 'b-few' denied request: failed "
              "expression: object.spec.replicas <= 5");
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "d", 5));
    (void)tell(&f, 422, "PATCH", DEPLOYS "/d", "{`spec`:{`replicas`:7}}");
    (void)tell(&f, 422, "PATCH", DEPLOYS "/d?dryRun=All", "{`spec`:{`replicas`:7}}");
    (void)tell(&f, 200, "PATCH", DEPLOYS "/d/scale", "{`spec`:{`replicas`:7}}"); /* not asked */
    (void)tell(&f, 200, "PATCH", DEPLOYS "/d/status", "{`status`:{`replicas`:7}}");
    close_server(&f);
    open_server(&f);
    (void)tell(&f, 422, "POST", DEPLOYS, deployment(&f, "e", 6));
    (void)tell(&f, 200, "DELETE", BINDINGS "/b-few", NULL);
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "e", 6));
    fixture_fini(&f);
}

TEST(what_policies_say)
{
    struct fixture f;
    fixture_init(&f);
    make_policy(
        &f, "said",
        RULE("`*`", "",
             "configmaps") ",`validations`:["
                           "{`expression`:`!has(object.data.a)`,`message`:`no "
                           "a`,`reason`:`Forbidden`},"
                           "{`expression`:`!has(object.data.b)`,`message`:`x`,`messageExpression`:"
                           "`'b is ' + object.data.b`},"
                           "{`expression`:`!has(object.data.c)`,`message`:`no "
                           "c`,`messageExpression`:`''`}]");
    put_in_force(&f, "said", "`Deny`", "");
    check_refused(&f, 403, "POST", MAPS, "{`metadata`:{`name`:`m`},`data`:{`a`:`1`}}",
                  "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'said' with binding "
                  "'b-said' denied request: no a");
    check_refused(&f, 422, "POST", MAPS, "{`metadata`:{`name`:`m`},`data`:{`b`:`2`}}",
                  "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'said' with binding "
                  "'b-said' denied request: b is 2");
    check_refused(&f, 422, "POST", MAPS, "{`metadata`:{`name`:`m`},`data`:{`c`:`2`}}",
                  "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'said' with binding "
                  "'b-said' denied request: no c");
    /* without data the expressions fail */
    check_refused(&f, 422, "POST", MAPS, "{`metadata`:{`name`:`m`}}",
                  "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'said' with binding "
                  "'b-said' denied request: expression '!has(object.data.a)' resulted in error: no "
                  "such key: data");
    (void)tell(&f, 200, "PATCH", POLICIES "/said", "{`spec`:{`failurePolicy`:`Ignore`}}");
    (void)tell(&f, 201, "POST", MAPS, "{`metadata`:{`name`:`m`}}");
    (void)tell(&f, 200, "PATCH", BINDINGS "/b-said", "{`spec`:{`validationActions`:[`Warn`]}}");
    struct answer a = ask(&f, "POST", MAPS, "application/json", NULL,
                          "{\"metadata\":{\"name\":\"w\"},\"data\":{\"a\":\"1\"}}");
    CHECK_INT(a.status, 201);
    CHECK_STR(headers_get(&a.headers, "warning"),
              "299 - \"Validation failed for ValidatingAdmissionPolicy 'said' with binding "
              "'b-said': no a\"");
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(what_policies_are_about)
{
    struct fixture f;
    fixture_init(&f);
    (void)tell(&f, 201, "POST", "/api/v1/namespaces",
               "{`metadata`:{`name`:`strict`,`labels`:{`strict`:`yes`}}}");
    make_policy(&f, "never",
                "`matchConstraints`:{`resourceRules`:[{`apiGroups`:[`*`],`apiVersions`:[`*`],"
                "`operations`:[`CREATE`,`DELETE`],`resources`:[`configmaps`,`secrets`,"
                "`namespaces`]}],`excludeResourceRules`:[{`apiGroups`:[``],`apiVersions`:[`v1`],"
                "`operations`:[`*`],`resources`:[`configmaps`],`resourceNames`:[`allowed`]}],"
                "`namespaceSelector`:{`matchLabels`:{`strict`:`yes`}},`objectSelector`:{"
                "`matchExpressions`:[{`key`:`skip`,`operator`:`DoesNotExist`}]}},"
                "`matchConditions`:[{`name`:`c`,`expression`:`request.name != 'odd'`}],"
                "`validations`:[{`expression`:`false`}]");
    put_in_force(&f, "never", "`Deny`",
                 ",`matchResources`:{`resourceRules`:[{`apiGroups`:[``],"
                 "`apiVersions`:[`v1`],`operations`:[`*`],`resources`:[`*`]}]}");
#define STRICT "/api/v1/namespaces/strict/configmaps"
    (void)tell(&f, 422, "POST", STRICT, "{`metadata`:{`name`:`m`}}");
    (void)tell(&f, 201, "POST", STRICT, "{`metadata`:{`name`:`allowed`}}");
    (void)tell(&f, 201, "POST", STRICT, "{`metadata`:{`name`:`odd`}}");
    (void)tell(&f, 201, "POST", STRICT, "{`metadata`:{`name`:`s`,`labels`:{`skip`:`1`}}}");
    (void)tell(&f, 201, "POST", MAPS, "{`metadata`:{`name`:`m`}}");
    (void)tell(&f, 200, "PATCH", STRICT "/s", "{`data`:{`a`:`b`}}");
    (void)tell(&f, 200, "PATCH", STRICT "/s", "{`metadata`:{`labels`:null}}");
    (void)tell(&f, 422, "DELETE", STRICT "/s", NULL);
    (void)tell(&f, 422, "DELETE", STRICT "?fieldSelector=metadata.name%3Ds", NULL);
    (void)tell(&f, 200, "DELETE", STRICT "/odd", NULL);
    (void)tell(&f, 422, "POST", "/api/v1/namespaces",
               "{`metadata`:{`name`:`more`,`labels`:{`strict`:`yes`}}}");
    (void)tell(&f, 201, "POST", "/api/v1/namespaces", "{`metadata`:{`name`:`more`}}");
    fixture_fini(&f);
}

TEST(what_expressions_see)
{
    struct fixture f;
    fixture_init(&f);
    make_policy(
        &f, "sees",
        RULE("`*`", "",
             "configmaps") ",`variables`:[{`name`:`n`,`expression`:`object == null ? 0 "
                           ": size(object.data)`},{`name`:`twice`,`expression`:`variables.n * "
                           "2`}],`validations`:["
                           "{`expression`:`request.operation != 'CREATE' || (oldObject == null && "
                           "variables.twice == "
                           "2)`},"
                           "{`expression`:`request.operation != 'UPDATE' || oldObject.data.k == "
                           "'1'`},"
                           "{`expression`:`request.operation != 'DELETE' || object == null`},"
                           "{`expression`:`namespaceObject.metadata.name == request.namespace`},"
                           "{`expression`:`request.userInfo.username == 'system:dormouse' && "
                           "'system:masters' in request.userInfo.groups`},"
                           "{`expression`:`request.resource.resource == 'configmaps' && "
                           "request.kind.kind == "
                           "'ConfigMap' && request.name == 'm' && !request.dryRun`}]");
    put_in_force(&f, "sees", "`Deny`", "");
    (void)tell(&f, 201, "POST", MAPS, "{`metadata`:{`name`:`m`},`data`:{`k`:`1`}}");
    (void)tell(&f, 200, "PATCH", MAPS "/m", "{`data`:{`k`:`2`}}");
    (void)tell(&f, 422, "PATCH", MAPS "/m", "{`data`:{`k`:`3`}}");
    (void)tell(&f, 200, "DELETE", MAPS "/m", NULL);
    (void)tell(&f, 422, "POST", MAPS, "{`metadata`:{`name`:`m`},`data`:{`k`:`1`,`j`:`2`}}");
    fixture_fini(&f);
}

TEST(policies_have_parameters)
{
    struct fixture f;
    fixture_init(&f);
    make_policy(
        &f, "max",
        RULE("`CREATE`", "apps",
             "deployments") ",`paramKind`:{`apiVersion`:`v1`,`kind`:"
                            "`ConfigMap`},`validations`:[{`expression`:`object.spec.replicas <= "
                            "int(params.data.max)`,`messageExpression`:`'at most ' + "
                            "params.data.max`}]");
    put_in_force(
        &f, "max", "`Deny`",
        ",`paramRef`:{`name`:`limits`,`namespace`:`default`,`parameterNotFoundAction`:`Deny`}");
    check_refused(
        &f, 422, "POST", DEPLOYS, deployment(&f, "d", 1),
        "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'max' with "
        "binding 'b-max' denied request: failed to configure binding: no params found for "
        "policy binding with `Deny` parameterNotFoundAction");
    (void)tell(&f, 201, "POST", MAPS, "{`metadata`:{`name`:`limits`},`data`:{`max`:`3`}}");
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "d", 3));
    check_refused(&f, 422, "POST", DEPLOYS, deployment(&f, "e", 4),
                  "deployments.apps \"e\" is forbidden: ValidatingAdmissionPolicy 'max' with "
                  "binding 'b-max' denied request: at most 3");
    /* each object that is selected has its say */
    (void)tell(&f, 200, "DELETE", BINDINGS "/b-max", NULL);
    put_in_force(
        &f, "max", "`Deny`",
        ",`paramRef`:{`selector`:{`matchLabels`:{`p`:`1`}},`parameterNotFoundAction`:`Allow`}");
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "e", 9));
    (void)tell(&f, 201, "POST", MAPS,
               "{`metadata`:{`name`:`p1`,`labels`:{`p`:`1`}},`data`:{`max`:`8`}}");
    (void)tell(&f, 201, "POST", MAPS,
               "{`metadata`:{`name`:`p2`,`labels`:{`p`:`1`}},`data`:{`max`:`5`}}");
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "g", 5));
    check_refused(&f, 422, "POST", DEPLOYS, deployment(&f, "h", 6),
                  "deployments.apps \"h\" is forbidden: ValidatingAdmissionPolicy 'max' with "
                  "binding 'b-max' denied request: at most 5");
    fixture_fini(&f);
}

TEST(expressions_ask_what_users_may_do)
{
    static const struct str groups[] = { { "system:authenticated", 20 } };
    const struct kube_identity jane = { .user = STR("jane"), .groups = groups, .n_groups = 1 };
    struct fixture f;
    fixture_init(&f);
    close_server(&f);
    f.rbac = true;
    open_server(&f);
#define RBAC "/apis/rbac.authorization.k8s.io/v1/"
    (void)tell(&f, 201, "POST", RBAC "clusterroles",
               "{`metadata`:{`name`:`r`},`rules`:[{`verbs`:[`create`],`apiGroups`:[``],"
               "`resources`:[`configmaps`]},{`verbs`:[`paint`],`apiGroups`:[`zoo.io`],`resources`:["
               "`walls`],`resourceNames`:[`w`]},{`verbs`:[`get`],`nonResourceURLs`:[`/x`]}]}");
    (void)tell(&f, 201, "POST", RBAC "clusterrolebindings",
               "{`metadata`:{`name`:`b`},`roleRef`:{`apiGroup`:`rbac.authorization.k8s.io`,`kind`:"
               "`ClusterRole`,`name`:`r`},`subjects`:[{`kind`:`User`,`name`:`jane`,`apiGroup`:"
               "`rbac.authorization.k8s.io`},{`kind`:`ServiceAccount`,`name`:`robot`,`namespace`:"
               "`default`}]}");
    make_policy(
        &f, "may",
        RULE("`CREATE`", "", "configmaps") ",`validations`:["
                                           "{`expression`:`authorizer.group('zoo.io').resource('"
                                           "walls').name('w').check('paint')"
                                           ".allowed()`},"
                                           "{`expression`:`!authorizer.group('zoo.io').resource('"
                                           "walls').check('paint').allowed()`},"
                                           "{`expression`:`authorizer.path('/"
                                           "x').check('get').allowed() && !authorizer.path('/y')"
                                           ".check('get').allowed()`},"
                                           "{`expression`:`authorizer.requestResource.check('"
                                           "create').allowed() && !authorizer"
                                           ".requestResource.check('delete').allowed()`},"
                                           "{`expression`:`authorizer.serviceAccount('default', "
                                           "'robot').path('/x').check('get')"
                                           ".allowed() && !authorizer.serviceAccount('default', "
                                           "'other').path('/x').check('get')"
                                           ".allowed()`}]");
    put_in_force(&f, "may", "`Deny`", "");
    f.identity = &jane;
    (void)tell(&f, 201, "POST", MAPS, "{`metadata`:{`name`:`m`}}");
    f.identity = NULL; /* may do everything, also what a rule denies */
    check_refused(&f, 422, "POST", MAPS, "{`metadata`:{`name`:`n`}}",
                  "configmaps \"n\" is forbidden: ValidatingAdmissionPolicy 'may' with binding "
                  "'b-may' denied request: failed expression: !authorizer.group('zoo.io')"
                  ".resource('walls').check('paint').allowed()");
    fixture_fini(&f);
}

TEST(expressions_of_a_policy_are_checked)
{
    struct fixture f;
    fixture_init(&f);
    check_refused(
        &f, 422, "POST", POLICIES,
        "{`metadata`:{`name`:`bad`},`spec`:{" RULE(
            "`*`", "",
            "pods") ",`validations`:[{`expression`:`object.x ==`},{`expression`:`params.x`}]}}",
        "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"bad\" is invalid: "
        "[spec.validations[0].expression: Invalid value: \"object.x ==\": compilation failed: "
        "ERROR: <input>:1:12: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', "
        "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
        "IDENTIFIER}\n | object.x ==\n | ...........^, spec.validations[1].expression: Invalid "
        "value: \"params.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to "
        "'params' (in container '')\n | params.x\n | ^]");
    fixture_fini(&f);
}

TEST(expressions_of_a_policy_give_what_is_wanted)
{
    struct fixture f;
    fixture_init(&f);
    check_refused(
        &f, 422, "POST", POLICIES,
        "{`metadata`:{`name`:`bad`},`spec`:{" RULE(
            "`*`", "",
            "pods") ",`variables`:[{`name`:`n`,`expression`:`1`}],`validations`:[{`expression`:"
                    "`variables.n`,`messageExpression`:`1`},{`expression`:`request.kinds == "
                    "''`}]}}",
        "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"bad\" is invalid: "
        "[spec.validations[0].expression: Invalid value: \"variables.n\": must evaluate to bool "
        "but "
        "got int, spec.validations[0].messageExpression: Invalid value: \"1\": must evaluate to "
        "string but got int, spec.validations[1].expression: Invalid value: \"request.kinds == "
        "''\": compilation failed: ERROR: <input>:1:8: undefined field 'kinds'\n | request.kinds "
        "== "
        "''\n | .......^]");
    (void)tell(&f, 201, "POST", POLICIES,
               "{`metadata`:{`name`:`good`},`spec`:{" RULE(
                   "`*`", "",
                   "pods") ",`variables`:[{`name`:`l`,`expression`:`object.metadata.labels`}],"
                           "`matchConditions`:[{`name`:`a`,`expression`:`request.userInfo.groups."
                           "exists(g, g == 'a')`}],`validations`:[{`expression`:`variables.l.size()"
                           " > 0 && namespaceObject.metadata.labels.all(k, k != '') && "
                           "authorizer.requestResource.check('get').allowed()`,"
                           "`messageExpression`:`'no ' + variables.l.a`}]}}");
    fixture_fini(&f);
}

#define MANAGER "validatingadmissionpolicy-status"

static struct json *checked_policy(struct fixture *f, const char *name, int generation)
{
    settle(f);
    struct json *p = want(f, 200, "GET", arena_printf(&f->arena, POLICIES "/%s", name), NULL);
    CHECK_INT(json_int_or(json_path(p, "status", "observedGeneration", NULL), 0), generation);
    return p;
}

TEST(types_of_expressions_are_told_in_the_status)
{
    struct fixture f;
    fixture_init(&f);
    (void)tell(
        &f, 201, "POST", POLICIES,
        "{`metadata`:{`name`:`typed`},`spec`:{`matchConstraints`:{`resourceRules`:[{`apiGroups`:["
        "`apps`],`apiVersions`:[`v1`],`operations`:[`*`],`resources`:[`replicasets`,`deployments`,"
        "`deployments/scale`,`nothing`]}]},`variables`:[{`name`:`r`,`expression`:"
        "`object.spec.replicas`},{`name`:`z`,`expression`:`object.spec.zzz`}],`validations`:[{"
        "`expression`:`object.spec.replicas > 1 && variables.r < 9 && variables.z == 1`,"
        "`messageExpression`:`'x' + object.spec.strategy.type`},{`expression`:`object.spec.replicas"
        " > '1'`},{`expression`:`object.metadata.labels.a == 'b' && variables.r == 'a'`}]}}");
    struct json *p = checked_policy(&f, "typed", 1);
    struct json *list = json_path(p, "status", "typeChecking", "expressionWarnings", NULL);
    CHECK_INT(list->n, 3);
    CHECK_STR(json_get_str(list->first, "fieldRef"), "spec.validations[0].messageExpression");
    CHECK_STR(json_get_str(list->first, "warning"),
              "apps/v1, Kind=ReplicaSet: ERROR: <input>:1:18: undefined field 'strategy'\n | 'x' + "
              "object.spec.strategy.type\n | .................^\n");
    CHECK_STR(json_get_str(list->first->next, "fieldRef"), "spec.validations[1].expression");
    CHECK_STR(json_get_str(list->first->next, "warning"),
              "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' "
              "applied to '(int, string)'\n | object.spec.replicas > '1'\n | "
              ".....................^\n\n"
              "apps/v1, Kind=ReplicaSet: ERROR: <input>:1:22: found no matching overload for '_>_' "
              "applied to '(int, string)'\n | object.spec.replicas > '1'\n | "
              ".....................^\n");
    struct json *managed = json_path(p, "metadata", "managedFields", NULL)->first;
    while (managed->next && !str_is(json_get_str(managed, "manager"), MANAGER))
        managed = managed->next;
    CHECK_STR(json_get_str(managed, "manager"), MANAGER);
    CHECK_STR(json_get_str(managed, "subresource"), "status");
    struct str before = json_get_str(json_getc(p, "metadata"), "resourceVersion");
    (void)tell(&f, 200, "PATCH", POLICIES "/typed", "{`metadata`:{`labels`:{`a`:`b`}}}");
    p = checked_policy(&f, "typed", 1); /* labels are no new generation */
    CHECK(!str_eq(json_get_str(json_getc(p, "metadata"), "resourceVersion"), before));
    (void)tell(&f, 200, "PATCH", POLICIES "/typed",
               "{`spec`:{`validations`:[{`expression`:`object.spec.replicas > 1`}]}}");
    p = checked_policy(&f, "typed", 2);
    CHECK(!json_path(p, "status", "typeChecking", "expressionWarnings", NULL));
    (void)tell(&f, 201, "POST", POLICIES,
               "{`metadata`:{`name`:`any`},`spec`:{" RULE(
                   "`*`", "*", "*") ",`validations`:[{`expression`:`object.spec.replicas > "
                                    "'1'`}]}}");
    p = checked_policy(&f, "any", 1);
    CHECK(!json_path(p, "status", "typeChecking", "expressionWarnings", NULL));
    fixture_fini(&f);
}

static void on_opened(struct fixture *f)
{
    store_made_faulty(&f->loop, f->store);
}

TEST(a_policy_whose_parameters_cannot_be_read_denies)
{
    struct fixture f;
    fixture_init(&f);
    close_server(&f);
    f.opened = on_opened;
    open_server(&f);
    make_policy(&f, "max",
                RULE("`CREATE`", "apps",
                     "deployments") ",`paramKind`:{`apiVersion`:`v1`,`kind`:"
                                    "`ConfigMap`},`validations`:[{`expression`:`true`}]");
    put_in_force(
        &f, "max", "`Deny`",
        ",`paramRef`:{`name`:`limits`,`namespace`:`default`,`parameterNotFoundAction`:`Allow`}");
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "d", 1));
    store_fails(FAULT_READS, "/registry/configmaps/default/limits");
    (void)tell(&f, 422, "POST", DEPLOYS, deployment(&f, "e", 1));
    store_works();
    (void)tell(&f, 201, "POST", DEPLOYS, deployment(&f, "e", 1));
    fixture_fini(&f);
    faulty_forget();
}

TEST_MAIN
