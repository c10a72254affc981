/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/rules/kinds/: the groups beside core, apps, batch, autoscaling and policy. Tables of JSON in
 * and JSON out; what is expected is what upstream's defaults, strategies and printers make of it.
 */
#include "test_kube.h"

#include "kube/model/meta.h"
#include "kube/model/table.h"

#define RBAC      "rbac.authorization.k8s.io"
#define NET       "networking.k8s.io"
#define STORAGE   "storage.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"
#define FLOW      "flowcontrol.apiserver.k8s.io"
#define CERT      "certificates.k8s.io"
#define REG       "apiregistration.k8s.io"
#define DYN       "resource.k8s.io"

static const struct object_env env = { .now_s = 1767323045, .uid = { "u", 1 } };

static struct json *decoded(struct arena *a, const struct kube_resource *res, const char *text)
{
    struct object_warnings w = { .a = a };
    struct json *status = NULL, *obj = parse(a, text);
    if (object_decode_tree(a, res, obj, FIELD_VALIDATION_STRICT, &w, &status) < 0)
        TEST_FAIL("decode '%s': %.*s", text, STR_ARG(status_message(status)));
    return obj;
}

static struct object_env env_for(const struct kube_resource *res)
{
    struct object_env e = env;
    e.namespace = res->namespaced ? STR("ns") : STR("");
    return e;
}

static struct json *created(struct arena *a, const struct kube_resource *res, const char *text)
{
    struct object_env e = env_for(res);
    struct json *status = NULL, *obj = decoded(a, res, text);
    CHECK_OK(object_prepare_create(a, res, obj, &e, &status));
    return obj;
}

/* Without the members that every object gets, so that the tables stay short. */
static struct json *bare(struct json *obj)
{
    struct json *meta = json_getc(obj, "metadata");
    (void)json_del(obj, STR("apiVersion"));
    (void)json_del(obj, STR("kind"));
    (void)json_del(meta, STR("uid"));
    (void)json_del(meta, STR("namespace"));
    (void)json_del(meta, STR("creationTimestamp"));
    return obj;
}

static void check_same(struct arena *a, const char *what, const struct json *got, const char *want)
{
    if (!json_equal(got, parse(a, want))) {
        struct str text = text_of(a, got);
        TEST_FAIL("%s:\n got  %.*s\n want %s", what, STR_ARG(text), want);
    }
}

static const struct {
    const char *group, *plural, *in, *want;
} creates[] = {
    { RBAC, "rolebindings",
      "{'metadata':{'name':'a:b'},'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User',"
      "'name':'u'},{'kind':'ServiceAccount','name':'s','namespace':'n'}]}",
      "{'metadata':{'name':'a:b'},'roleRef':{'apiGroup':'" RBAC "','kind':'Role','name':'r'},"
      "'subjects':[{'kind':'User','apiGroup':'" RBAC "','name':'u'},{'kind':'ServiceAccount',"
      "'name':'s','namespace':'n'}]}" },
    { RBAC, "clusterroles", "{'metadata':{'name':'system:x'}}",
      "{'metadata':{'name':'system:x'},'rules':null}" },
    { NET, "ingresses",
      "{'metadata':{'name':'a','generation':7},'spec':{'defaultBackend':{'service':{'name':'s',"
      "'port':{'number':80}}}},'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'defaultBackend':{'service':{'name':'s',"
      "'port':{'number':80}}}},'status':{'loadBalancer':{}}}" },
    { NET, "ingressclasses",
      "{'metadata':{'name':'a'},'spec':{'controller':'x.y/"
      "z','parameters':{'kind':'K','name':'n'}}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'controller':'x.y/z','parameters':{'kind':"
      "'K','name':'n','scope':'Cluster'}}}" },
    { NET, "networkpolicies",
      "{'metadata':{'name':'a'},'spec':{'podSelector':{},'egress':[{'ports':[{'port':53}]}]}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'podSelector':{},'egress':[{'ports':"
      "[{'protocol':'TCP','port':53}]}],'policyTypes':['Ingress','Egress']}}" },
    { NET, "networkpolicies", "{'metadata':{'name':'a'},'spec':{'podSelector':{}}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'podSelector':{},'policyTypes':"
      "['Ingress']}}" },
    { NET, "servicecidrs", "{'metadata':{'name':'a'},'spec':{'cidrs':['10.0.0.0/24']}}",
      "{'metadata':{'name':'a'},'spec':{'cidrs':['10.0.0.0/24']},'status':{}}" },
    { "node.k8s.io", "runtimeclasses", "{'metadata':{'name':'a'},'handler':'h'}",
      "{'metadata':{'name':'a'},'handler':'h'}" },
    { "scheduling.k8s.io", "priorityclasses", "{'metadata':{'name':'a'},'value':5}",
      "{'metadata':{'name':'a','generation':1},'value':5,'preemptionPolicy':"
      "'PreemptLowerPriority'}" },
    { STORAGE, "storageclasses", "{'metadata':{'name':'a'},'provisioner':'p'}",
      "{'metadata':{'name':'a'},'provisioner':'p','reclaimPolicy':'Delete','volumeBindingMode':"
      "'Immediate'}" },
    { STORAGE, "csidrivers", "{'metadata':{'name':'a'},'spec':{'attachRequired':false}}",
      "{'metadata':{'name':'a'},'spec':{'attachRequired':false,'podInfoOnMount':false,"
      "'storageCapacity':false,'requiresRepublish':false,'seLinuxMount':false,'fsGroupPolicy':"
      "'ReadWriteOnceWithFSType','volumeLifecycleModes':['Persistent']}}" },
    { STORAGE, "volumeattachments",
      "{'metadata':{'name':'a'},'spec':{'attacher':'x','nodeName':'n','source':{"
      "'persistentVolumeName':'v'}},'status':{'attached':true}}",
      "{'metadata':{'name':'a'},'spec':{'attacher':'x','nodeName':'n','source':{"
      "'persistentVolumeName':'v'}},'status':{'attached':false}}" },
    { ADMISSION, "validatingwebhookconfigurations",
      "{'metadata':{'name':'a'},'webhooks':[{'name':'a.b.c','sideEffects':'None',"
      "'admissionReviewVersions':['v1'],'clientConfig':{'service':{'namespace':'n','name':'s'}},"
      "'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':"
      "['pods']}]}]}",
      "{'metadata':{'name':'a','generation':1},'webhooks':[{'name':'a.b.c','sideEffects':'None',"
      "'admissionReviewVersions':['v1'],'clientConfig':{'service':{'namespace':'n','name':'s',"
      "'port':443}},'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],"
      "'resources':['pods'],'scope':'*'}],'failurePolicy':'Fail','matchPolicy':'Equivalent',"
      "'namespaceSelector':{},'objectSelector':{},'timeoutSeconds':10}]}" },
    { ADMISSION, "mutatingwebhookconfigurations",
      "{'metadata':{'name':'a'},'webhooks':[{'name':'a.b.c','sideEffects':'None','timeoutSeconds':"
      "3,'admissionReviewVersions':['v1'],'clientConfig':{'url':'https://x'}}]}",
      "{'metadata':{'name':'a','generation':1},'webhooks':[{'name':'a.b.c','sideEffects':'None',"
      "'timeoutSeconds':3,'admissionReviewVersions':['v1'],'clientConfig':{'url':'https://x'},"
      "'failurePolicy':'Fail','matchPolicy':'Equivalent','namespaceSelector':{},'objectSelector':"
      "{},'reinvocationPolicy':'Never'}]}" },
    { ADMISSION, "validatingadmissionpolicies",
      "{'metadata':{'name':'a'},'spec':{'matchConstraints':{'resourceRules':[{'operations':['*'],"
      "'apiGroups':['*'],'apiVersions':['*'],'resources':['*']}]},'validations':[{'expression':"
      "'true'}]}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'failurePolicy':'Fail','matchConstraints':"
      "{'matchPolicy':'Equivalent','namespaceSelector':{},'objectSelector':{},'resourceRules':"
      "[{'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],'resources':['*'],'scope':'*'}]},"
      "'validations':[{'expression':'true'}]},'status':{}}" },
    { ADMISSION, "validatingadmissionpolicybindings",
      "{'metadata':{'name':'a'},'spec':{'policyName':'p','paramRef':{'name':'x'},"
      "'validationActions':['Deny']}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'policyName':'p','paramRef':{'name':'x',"
      "'parameterNotFoundAction':'Deny'},'validationActions':['Deny']}}" },
    { REG, "apiservices",
      "{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':"
      "10,'versionPriority':1}}",
      "{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':"
      "10,'versionPriority':1},'status':{'conditions':[{'type':'Available','status':'True',"
      "'lastTransitionTime':'2026-01-02T03:04:05Z','reason':'Local','message':"
      "'Local APIServices are always available'}]}}" },
    { REG, "apiservices",
      "{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':"
      "10,'versionPriority':1,'service':{'namespace':'n','name':'s'}}}",
      "{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':"
      "10,'versionPriority':1,'service':{'namespace':'n','name':'s','port':443}},'status':{"
      "'conditions':[{'type':'Available','status':'False','lastTransitionTime':"
      "'2026-01-02T03:04:05Z','reason':'NotForwarded','message':'dormouse forwards no requests to "
      "services, and serves the group and version itself or not'}]}}" },
    { CERT, "certificatesigningrequests",
      "{'metadata':{'name':'a'},'spec':{'request':'eA==','signerName':'x.y/z','usages':"
      "['client auth']},'status':{'certificate':'eA=='}}",
      "{'metadata':{'name':'a'},'spec':{'request':'eA==','signerName':'x.y/z','usages':"
      "['client auth']},'status':{}}" },
    { FLOW, "flowschemas",
      "{'metadata':{'name':'a'},'spec':{'priorityLevelConfiguration':{'name':'l'}}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'priorityLevelConfiguration':{'name':'l'},"
      "'matchingPrecedence':1000},'status':{}}" },
    { FLOW, "prioritylevelconfigurations",
      "{'metadata':{'name':'a'},'spec':{'type':'Limited','limited':{'limitResponse':{'type':'Queue'"
      ","
      "'queuing':{'queues':128}}}}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'type':'Limited','limited':{"
      "'nominalConcurrencyShares':30,'lendablePercent':0,'limitResponse':{'type':'Queue',"
      "'queuing':{'queues':128,'handSize':8,'queueLengthLimit':50}}}},'status':{}}" },
    { "discovery.k8s.io", "endpointslices",
      "{'metadata':{'name':'a'},'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1']}],"
      "'ports':[{'port':80}]}",
      "{'metadata':{'name':'a','generation':1},'addressType':'IPv4','endpoints':[{'addresses':"
      "['10.0.0.1'],'conditions':{}}],'ports':[{'port':80,'name':'','protocol':'TCP'}]}" },
    { DYN, "resourceclaims",
      "{'metadata':{'name':'a'},'spec':{'devices':{'requests':[{'name':'r','exactly':{"
      "'deviceClassName':'c'}},{'name':'s','firstAvailable':[{'name':'t','deviceClassName':'c',"
      "'allocationMode':'All'}]}]}}}",
      "{'metadata':{'name':'a'},'spec':{'devices':{'requests':[{'name':'r','exactly':{"
      "'deviceClassName':'c','allocationMode':'ExactCount','count':1}},{'name':'s',"
      "'firstAvailable':[{'name':'t','deviceClassName':'c','allocationMode':'All'}]}]}},'status':"
      "{}}" },
};

TEST(new_objects_get_upstreams_defaults_and_lose_their_status)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(creates); i++) {
        const struct kube_resource *res = resource(creates[i].group, "v1", creates[i].plural);
        check_same(&a, creates[i].plural, bare(created(&a, res, creates[i].in)), creates[i].want);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(defaults_of_defaulted_objects_change_nothing)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(creates); i++) {
        const struct kube_resource *res = resource(creates[i].group, "v1", creates[i].plural);
        struct json *once = decoded(&a, res, creates[i].in), *twice = json_clone(&a, once);
        object_default(&a, res, twice);
        CHECK(json_equal(once, twice));
        arena_reset(&a);
    }
    arena_fini(&a);
}

static const struct {
    const char *group, *plural;
    bool status; /* through the status subresource */
    const char *old, *in, *want;
} updates[] = {
    { NET, "ingresses", false, "{'metadata':{'name':'a'},'spec':{}}",
      "{'metadata':{'name':'a'},'spec':{'ingressClassName':'c'},'status':{'loadBalancer':"
      "{'ingress':[{'ip':'1.2.3.4'}]}}}",
      "{'metadata':{'name':'a','generation':2},'spec':{'ingressClassName':'c'},'status':"
      "{'loadBalancer':{}}}" },
    { NET, "ingresses", true, "{'metadata':{'name':'a'},'spec':{}}",
      "{'metadata':{'name':'a'},'spec':{'ingressClassName':'c'},'status':{'loadBalancer':"
      "{'ingress':[{'ip':'1.2.3.4'}]}}}",
      "{'metadata':{'name':'a','generation':1},'spec':{},'status':{'loadBalancer':{'ingress':"
      "[{'ip':'1.2.3.4'}]}}}" },
    { "scheduling.k8s.io", "priorityclasses", false, "{'metadata':{'name':'a'},'value':5}",
      "{'metadata':{'name':'a'},'value':5,'description':'d'}",
      "{'metadata':{'name':'a','generation':1},'value':5,'description':'d','preemptionPolicy':"
      "'PreemptLowerPriority'}" },
    { STORAGE, "csidrivers", false,
      "{'metadata':{'name':'a'},'spec':{'volumeLifecycleModes':['Ephemeral']}}",
      "{'metadata':{'name':'a'},'spec':{'volumeLifecycleModes':['Ephemeral'],'requiresRepublish':"
      "true}}",
      "{'metadata':{'name':'a','generation':1},'spec':{'attachRequired':true,'podInfoOnMount':"
      "false,'storageCapacity':false,'requiresRepublish':true,'seLinuxMount':false,'fsGroupPolicy':"
      "'ReadWriteOnceWithFSType','volumeLifecycleModes':['Ephemeral']}}" },
    { CERT, "certificatesigningrequests", false,
      "{'metadata':{'name':'a'},'spec':{'request':'eA==','signerName':'x.y/z'}}",
      "{'metadata':{'name':'a','labels':{'l':'1'}},'spec':{'request':'eQ==','signerName':'q.y/z'},"
      "'status':{'certificate':'eA=='}}",
      "{'metadata':{'name':'a','labels':{'l':'1'}},'spec':{'request':'eA==','signerName':'x.y/z'},"
      "'status':{}}" },
    { "discovery.k8s.io", "endpointslices", false,
      "{'metadata':{'name':'a'},'addressType':'IPv4','endpoints':[]}",
      "{'metadata':{'name':'a'},'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1']}]}",
      "{'metadata':{'name':'a','generation':2},'addressType':'IPv4','endpoints':[{'addresses':"
      "['10.0.0.1'],'conditions':{}}],'ports':null}" },
};

TEST(updates_keep_what_is_not_written_and_count_generations)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(updates); i++) {
        const struct kube_resource *res = resource(updates[i].group, "v1", updates[i].plural);
        struct json *old = created(&a, res, updates[i].old), *status = NULL;
        struct json *obj = decoded(&a, res, updates[i].in);
        struct object_env e = env_for(res);
        CHECK_OK(object_prepare_update(&a, res, updates[i].status ? OBJECT_STATUS : OBJECT_WHOLE,
                                       obj, old, &e, STR("a"), &status));
        check_same(&a, updates[i].plural, bare(obj), updates[i].want);
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* creationTimestamp is a minute before `now`. */
static const struct {
    const char *group, *plural, *in, *columns, *cells;
} tables[] = {
    { RBAC, "clusterroles", "{'metadata':{'name':'a'}}", "['Name','Created At']",
      "['a','2026-01-02T03:04:05Z']" },
    { RBAC, "clusterrolebindings",
      "{'metadata':{'name':'a'},'roleRef':{'kind':'ClusterRole','name':'r'},'subjects':[{'kind':"
      "'User','name':'u'},{'kind':'Group','name':'g'},{'kind':'Group','name':'h'},{'kind':"
      "'ServiceAccount','name':'s','namespace':'n'}]}",
      "['Name','Role','Age','Users','Groups','ServiceAccounts']",
      "['a','ClusterRole/r','60s','u','g, h','n/s']" },
    { NET, "ingresses",
      "{'metadata':{'name':'a'},'spec':{'ingressClassName':'c','tls':[{}],'rules':[{'host':'1'},"
      "{'host':'2'},{},{'host':'3'},{'host':'4'},{'host':'5'}]}}",
      "['Name','Class','Hosts','Address','Ports','Age']",
      "['a','c','1,2,3 + 2 more...','','80, 443','60s']" },
    { NET, "ingressclasses",
      "{'metadata':{'name':'a','annotations':{'ingressclass.kubernetes.io/is-default-class':'true'"
      "}},'spec':{'controller':'x.y/z','parameters':{'apiGroup':'g.h','kind':'K','name':'n'}}}",
      "['Name','Controller','Parameters','Age']", "['a (default)','x.y/z','K.g.h/n','60s']" },
    { NET, "networkpolicies",
      "{'metadata':{'name':'a'},'spec':{'podSelector':{'matchLabels':{'b':'2','a':'1'}}}}",
      "['Name','Pod-Selector','Age']", "['a','a=1,b=2','60s']" },
    { NET, "networkpolicies", "{'metadata':{'name':'a'},'spec':{'podSelector':{}}}",
      "['Name','Pod-Selector','Age']", "['a','<none>','60s']" },
    { NET, "ipaddresses",
      "{'metadata':{'name':'10.0.0.1'},'spec':{'parentRef':{'resource':'services','namespace':'n',"
      "'name':'s'}}}",
      "['Name','ParentRef']", "['10.0.0.1','services/n/s']" },
    { NET, "servicecidrs",
      "{'metadata':{'name':'a'},'spec':{'cidrs':['10.0.0.0/24','fd00::/112']}}",
      "['Name','CIDRs','Age']", "['a','10.0.0.0/24,fd00::/112','60s']" },
    { "scheduling.k8s.io", "priorityclasses", "{'metadata':{'name':'a'},'value':5}",
      "['Name','Value','Global-Default','Age','PreemptionPolicy']",
      "['a',5,false,'60s','PreemptLowerPriority']" },
    { "node.k8s.io", "runtimeclasses", "{'metadata':{'name':'a'},'handler':'h'}",
      "['Name','Handler','Age']", "['a','h','60s']" },
    { STORAGE, "storageclasses",
      "{'metadata':{'name':'a','annotations':{'storageclass.kubernetes.io/is-default-class':'true'"
      "}},'provisioner':'p','allowVolumeExpansion':true}",
      "['Name','Provisioner','ReclaimPolicy','VolumeBindingMode','AllowVolumeExpansion','Age']",
      "['a (default)','p','Delete','Immediate',true,'60s']" },
    { STORAGE, "csidrivers",
      "{'metadata':{'name':'a'},'spec':{'tokenRequests':[{'audience':'x'},{'audience':'y'}]}}",
      "['Name','AttachRequired','PodInfoOnMount','StorageCapacity','TokenRequests',"
      "'RequiresRepublish','Modes','Age']",
      "['a',true,false,false,'x,y',false,'Persistent','60s']" },
    { STORAGE, "csinodes",
      "{'metadata':{'name':'a'},'spec':{'drivers':[{'name':'d','nodeID':'n'}]}}",
      "['Name','Drivers','Age']", "['a',1,'60s']" },
    { STORAGE, "csistoragecapacities",
      "{'metadata':{'name':'a'},'storageClassName':'c','capacity':'1Gi'}", "['Name','Created At']",
      "['a','2026-01-02T03:04:05Z']" },
    { STORAGE, "volumeattachments",
      "{'metadata':{'name':'a'},'spec':{'attacher':'x','nodeName':'n','source':{"
      "'persistentVolumeName':'v'}}}",
      "['Name','Attacher','PV','Node','Attached','Age']", "['a','x','v','n',false,'60s']" },
    { STORAGE, "volumeattributesclasses", "{'metadata':{'name':'a'},'driverName':'d'}",
      "['Name','DriverName','Age']", "['a','d','60s']" },
    { ADMISSION, "mutatingwebhookconfigurations", "{'metadata':{'name':'a'},'webhooks':[]}",
      "['Name','Webhooks','Age']", "['a',0,'60s']" },
    { ADMISSION, "validatingadmissionpolicies",
      "{'metadata':{'name':'a'},'spec':{'paramKind':{'apiVersion':'v1','kind':'ConfigMap'},"
      "'validations':[{'expression':'true'}]}}",
      "['Name','Validations','ParamKind','Age']", "['a',1,'v1/ConfigMap','60s']" },
    { ADMISSION, "validatingadmissionpolicybindings",
      "{'metadata':{'name':'a'},'spec':{'policyName':'p','paramRef':{'name':'x','namespace':'n'}}}",
      "['Name','PolicyName','ParamRef','Age']", "['a','p','n/x','60s']" },
    { REG, "apiservices",
      "{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':"
      "10,'versionPriority':1}}",
      "['Name','Service','Available','Age']", "['v1.a.b','Local','True','60s']" },
    { REG, "apiservices",
      "{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':"
      "10,'versionPriority':1,'service':{'namespace':'n','name':'s'}}}",
      "['Name','Service','Available','Age']", "['v1.a.b','n/s','False (NotForwarded)','60s']" },
    { CERT, "certificatesigningrequests",
      "{'metadata':{'name':'a'},'spec':{'request':'eA==','signerName':'x.y/z','username':'u',"
      "'expirationSeconds':3600}}",
      "['Name','Age','SignerName','Requestor','RequestedDuration','Condition']",
      "['a','60s','x.y/z','u','60m','Pending']" },
    { FLOW, "flowschemas",
      "{'metadata':{'name':'a'},'spec':{'priorityLevelConfiguration':{'name':'l'},"
      "'distinguisherMethod':{'type':'ByUser'}}}",
      "['Name','PriorityLevel','MatchingPrecedence','DistinguisherMethod','Age','MissingPL']",
      "['a','l',1000,'ByUser','60s','?']" },
    { FLOW, "prioritylevelconfigurations",
      "{'metadata':{'name':'a'},'spec':{'type':'Limited','limited':{'limitResponse':{'type':"
      "'Reject'}}}}",
      "['Name','Type','NominalConcurrencyShares','Queues','HandSize','QueueLengthLimit','Age']",
      "['a','Limited',30,'<none>','<none>','<none>','60s']" },
    { "discovery.k8s.io", "endpointslices",
      "{'metadata':{'name':'a'},'addressType':'IPv4','endpoints':[{'addresses':['1','2']},"
      "{'addresses':['3','4']}],'ports':[{'port':80},{'name':'n'}]}",
      "['Name','AddressType','Ports','Endpoints','Age']",
      "['a','IPv4','80,n','1,2,3 + 1 more...','60s']" },
    { DYN, "resourceclaims", "{'metadata':{'name':'a'},'spec':{}}", "['Name','State','Age']",
      "['a','pending','60s']" },
    { DYN, "resourceslices",
      "{'metadata':{'name':'a'},'spec':{'driver':'d','nodeName':'n','pool':{'name':'p','generation'"
      ":"
      "1,'resourceSliceCount':1}}}",
      "['Name','Node','Driver','Pool','Age']", "['a','n','d','p','60s']" },
};

TEST(tables_have_upstreams_columns_and_cells)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const struct kube_resource *res = resource(tables[i].group, "v1", tables[i].plural);
        struct json *table = table_new(&a, res, STR("v1"), true, NULL), *names = json_new_array(&a);
        table_add_row(&a, table, res, created(&a, res, tables[i].in), TABLE_INCLUDE_NONE, STR("v1"),
                      env.now_s + 60);
        json_each (c, json_getc(table, "columnDefinitions"))
            json_add(names, json_new_str(&a, json_get_str(c, "name")));
        check_same(&a, tables[i].plural, names, tables[i].columns);
        check_same(&a, tables[i].plural, json_getc(json_getc(table, "rows")->first, "cells"),
                   tables[i].cells);
        arena_reset(&a);
    }
    arena_fini(&a);
}

static const struct {
    const char *group, *plural, *old, *in, *message;
} refusals[] = {
    { "scheduling.k8s.io", "priorityclasses", NULL, "{'metadata':{'name':'system-x'},'value':1}",
      "PriorityClass.scheduling.k8s.io \"system-x\" is invalid: metadata.name: Forbidden: priority "
      "class names with 'system-' prefix are reserved for system use only. error: system-x is not "
      "a known system priority class" },
    { "scheduling.k8s.io", "priorityclasses", "{'metadata':{'name':'a'},'value':1}",
      "{'metadata':{'name':'a'},'value':2}",
      "PriorityClass.scheduling.k8s.io \"a\" is invalid: value: Forbidden: may not be changed in "
      "an update." },
    { REG, "apiservices", NULL,
      "{'metadata':{'name':'x'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':1,"
      "'versionPriority':1}}",
      "APIService.apiregistration.k8s.io \"x\" is invalid: metadata.name: Invalid value: \"x\": "
      "must be `spec.version+\".\"+spec.group`: \"v1.a.b\"" },
    { RBAC, "clusterroles", NULL, "{'metadata':{'name':'a%b'}}",
      "ClusterRole.rbac.authorization.k8s.io \"a%b\" is invalid: metadata.name: Invalid value: "
      "\"a%b\": may not contain '%'" },
};

TEST(refusals_are_worded_like_upstreams)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct kube_resource *res = resource(refusals[i].group, "v1", refusals[i].plural);
        struct json *old = refusals[i].old ? created(&a, res, refusals[i].old) : NULL;
        struct json *status = NULL, *obj = created(&a, res, refusals[i].in);
        CHECK(object_validate(&a, res, OBJECT_WHOLE, obj, old, &status) < 0);
        CHECK_STR(status_message(status), refusals[i].message);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST_MAIN
