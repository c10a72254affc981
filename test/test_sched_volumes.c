/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeBinding, VolumeRestrictions, VolumeZone and NodeVolumeLimits by tables, and VolumeBinding's
 * choice against a naive twin of what upstream does.
 */
#include "sched_volumes_kit.h"

#define CLAIM(name)     "{'name':'v-" name "','persistentVolumeClaim':{'claimName':'" name "'}}"
#define EPHEMERAL(name) "{'name':'" name "','ephemeral':{'volumeClaimTemplate':{}}}"

#define NO_MATCH  "node(s) didn't find available persistent volumes to bind"
#define CONFLICT  "node(s) didn't match PersistentVolume's node affinity"
#define NO_SPACE  "node(s) did not have enough free storage"
#define NO_VOLUME "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

/* Node affinity of a volume. */
#define ON(key, value)                                                                             \
    "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" key           \
    "','operator':'In','values':['" value "']}]}]}}"

static void put_node(struct kit *k, const char *name, const char *labels)
{
    kit_put(k, SCHED_NODE, "{'metadata':{'name':'%s','labels':{'host':'%s'%s%s}}}", name, name,
            *labels ? "," : "", labels);
}
static void put_class(struct kit *k, const char *name, const char *provisioner, const char *mode)
{
    kit_put(k, SCHED_STORAGE_CLASS, "{'metadata':{'name':'%s'},'provisioner':'%s'%s%s%s}", name,
            provisioner, *mode ? ",'volumeBindingMode':'" : "", mode, *mode ? "'" : "");
}
/* An available volume of class "wait" with ReadWriteOnce; more of its spec behind. */
static void put_pv(struct kit *k, const char *name, const char *capacity, const char *spec)
{
    kit_put(k, SCHED_PV,
            "{'metadata':{'name':'%s','resourceVersion':'%" PRIu64 "'},'spec':{"
            "'storageClassName':'wait','accessModes':['ReadWriteOnce'],'capacity':{'storage':'%s'}"
            "%s%s},'status':{'phase':'Available'}}",
            name, ++k->rv, capacity, *spec ? "," : "", spec);
}
/* A claim of class "wait" for a volume with ReadWriteOnce that is not bound. */
static void put_pvc(struct kit *k, const char *name, const char *request, const char *spec)
{
    kit_put(k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'%s','uid':'%s-uid','resourceVersion':'%" PRIu64
            "'},'spec':{'storageClassName':'wait','accessModes':['ReadWriteOnce'],"
            "'resources':{'requests':{'storage':'%s'}}%s%s}}",
            name, name, ++k->rv, request, *spec ? "," : "", spec);
}
/* A claim that is bound to a volume. */
static void put_bound(struct kit *k, const char *name, const char *volume)
{
    kit_put(k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'%s','uid':'%s-uid','annotations':{"
            "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'%s'}}",
            name, name, volume);
}

/* Two nodes, a class that waits and has no provisioner, one that has one, one that is immediate. */
static void binding_kit(struct kit *k)
{
    kit_init(k, "VolumeBinding", NULL);
    put_node(k, "n1", "'zone':'a'");
    put_node(k, "n2", "'zone':'b'");
    put_class(k, "wait", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
    put_class(k, "made", "csi.example.com", "WaitForFirstConsumer");
    put_class(k, "now", "csi.example.com", "Immediate");
}

/* ---- VolumeBinding: PreFilter ---- */

TEST(a_pod_without_claims_has_nothing_to_bind)
{
    struct kit k;
    binding_kit(&k);
    struct try t;
    try_init(&t, &k, "p", "{'name':'v','emptyDir':{}}");
    CHECK_INT(sched_code(t.pre), SCHED_SKIP);
    CHECK(k.plugin->ops->reserve(k.plugin, &t.cycle, kit_node(&k, "n1")) == NULL);
    CHECK(k.plugin->ops->pre_bind(k.plugin, &t.cycle, &t.step) == NULL);
    k.plugin->ops->unreserve(k.plugin, &t.cycle);
    try_fini(&t);
    kit_fini(&k);
}

TEST(claims_that_cannot_be_used_are_told_before_any_node)
{
    static const struct {
        const char *volumes, *want;
        enum sched_code code;
    } rows[] = {
        { CLAIM("none"), "persistentvolumeclaim \"none\" not found", SCHED_UNRESOLVABLE },
        { EPHEMERAL("none"),
          "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-none\"",
          SCHED_UNRESOLVABLE },
        { CLAIM("lost"),
          "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"gone\"",
          SCHED_UNRESOLVABLE },
        { CLAIM("dying"), "persistentvolumeclaim \"dying\" is being deleted", SCHED_UNRESOLVABLE },
        { EPHEMERAL("other"), "PVC ns/p-other was not created for pod ns/p (pod is not owner)",
          SCHED_UNRESOLVABLE },
        { EPHEMERAL("mine"), "", SCHED_SUCCESS },
        { CLAIM("immediate"), "pod has unbound immediate PersistentVolumeClaims",
          SCHED_UNRESOLVABLE },
        { CLAIM("classless"), "pod has unbound immediate PersistentVolumeClaims",
          SCHED_UNRESOLVABLE },
        { CLAIM("unknown"), "pod has unbound immediate PersistentVolumeClaims",
          SCHED_UNRESOLVABLE },
        { CLAIM("prebound"), "pod has unbound immediate PersistentVolumeClaims",
          SCHED_UNRESOLVABLE },
        { CLAIM("bound") "," CLAIM("immediate"), "pod has unbound immediate PersistentVolumeClaims",
          SCHED_UNRESOLVABLE },
        { CLAIM("modeless"), "VolumeBindingMode not set for StorageClass \"modeless\"",
          SCHED_ERROR },
        { CLAIM("bound"), "", SCHED_SUCCESS },
        { CLAIM("beta"), "", SCHED_SUCCESS },
    };
    struct kit k;
    binding_kit(&k);
    put_class(&k, "modeless", "x", "");
    put_pv(&k, "pv-b", "1Gi", "");
    put_bound(&k, "bound", "pv-b");
    put_bound(&k, "p-other", "pv-b");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'p-mine','ownerReferences':[{'uid':'p-uid',"
            "'controller':true}],'annotations':{'pv.kubernetes.io/bind-completed':'y'}},"
            "'spec':{'volumeName':'pv-b'}}");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'lost'},'spec':{'volumeName':'gone'},"
            "'status':{'phase':'Lost'}}");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'dying','deletionTimestamp':"
            "'2026-01-01T00:00:00Z'},'spec':{'volumeName':'pv-b'}}");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'immediate'},'spec':{"
            "'storageClassName':'now'}}");
    kit_put(&k, SCHED_PVC, "{'metadata':{'namespace':'ns','name':'classless'},'spec':{}}");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'unknown'},'spec':{"
            "'storageClassName':'none'}}");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'prebound'},'spec':{"
            "'storageClassName':'wait','volumeName':'pv-b'}}");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'modeless'},'spec':{"
            "'storageClassName':'modeless'}}");
    kit_put(
        &k, SCHED_PVC,
        "{'metadata':{'namespace':'ns','name':'beta','annotations':{"
        "'volume.beta.kubernetes.io/storage-class':'made'}},'spec':{'storageClassName':'now'}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct try t;
        try_init(&t, &k, "p", rows[i].volumes);
        CHECK_STR(sched_status_message(&t.arena, t.pre), rows[i].want);
        CHECK_INT(sched_code(t.pre), rows[i].code);
        try_fini(&t);
    }
    kit_fini(&k);
}

/* ---- VolumeBinding: claims that are bound ---- */

TEST(bound_volumes_go_where_their_affinity_says)
{
    struct kit k;
    binding_kit(&k);
    put_pv(&k, "anywhere", "1Gi", "");
    put_pv(&k, "here", "1Gi", ON("host", "n1"));
    put_pv(&k, "never", "1Gi", "'nodeAffinity':{'required':{'nodeSelectorTerms':[{}]}}");
    put_pv(&k, "by-name", "1Gi",
           "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchFields':[{'key':"
           "'metadata.name','operator':'In','values':['n2']}]}]}}");
    put_pv(&k, "either", "1Gi",
           "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'host',"
           "'operator':'In','values':['n9']}]},{'matchExpressions':[{'key':'zone','operator':"
           "'Exists'}]}]}}");
    put_bound(&k, "c-anywhere", "anywhere");
    put_bound(&k, "c-here", "here");
    put_bound(&k, "c-never", "never");
    put_bound(&k, "c-by-name", "by-name");
    put_bound(&k, "c-either", "either");
    put_bound(&k, "c-gone", "gone");
    kit_check(&k, CLAIM("c-anywhere"), "n1", "");
    kit_check(&k, CLAIM("c-here"), "n1", "");
    kit_check(&k, CLAIM("c-here"), "n2", CONFLICT);
    kit_check(&k, CLAIM("c-never"), "n1", CONFLICT);
    /* A volume's affinity sees labels alone. */
    kit_check(&k, CLAIM("c-by-name"), "n1", "");
    kit_check(&k, CLAIM("c-either"), "n2", "");
    kit_check(&k, CLAIM("c-gone"), "n1", NO_VOLUME);
    /* The first that does not do decides. */
    kit_check(&k, CLAIM("c-gone") "," CLAIM("c-here"), "n2", NO_VOLUME);
    kit_check(&k, CLAIM("c-here") "," CLAIM("c-gone"), "n2", CONFLICT);
    kit_fini(&k);
}

TEST(volumes_of_migrated_plugins_go_by_their_drivers_zones)
{
    static const char *const sources[] = {
        "'awsElasticBlockStore':{'volumeID':'vol-1'}",
        "'cinder':{'volumeID':'x'}",
        "'gcePersistentDisk':{'pdName':'d'}",
    };
    static const char *const plugins[] = { "kubernetes.io/aws-ebs", "kubernetes.io/cinder",
                                           "kubernetes.io/gce-pd" };
    static const char *const keys[] = { "topology.ebs.csi.aws.com/zone",
                                        "topology.cinder.csi.openstack.org/zone",
                                        "topology.gke.io/zone" };
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct kit k;
        binding_kit(&k);
        char labels[256], spec[512];
        (void)snprintf(labels, sizeof(labels), "'%s':'z1'", keys[i]);
        put_node(&k, "moved", labels);
        kit_put(&k, SCHED_CSI_NODE,
                "{'metadata':{'name':'moved','annotations':{"
                "'storage.alpha.kubernetes.io/migrated-plugins':'a,%s'}},'spec':{'drivers':[]}}",
                plugins[i]);
        (void)snprintf(spec, sizeof(spec), "%s,%s", sources[i],
                       ON("failure-domain.beta.kubernetes.io/zone", "z1"));
        put_pv(&k, "by-affinity", "1Gi", spec);
        kit_put(&k, SCHED_PV,
                "{'metadata':{'name':'by-label','labels':{'topology.kubernetes.io/zone':'us-1-x__"
                "us-1-z'}},'spec':{%s}}",
                sources[i]);
        put_bound(&k, "c-affinity", "by-affinity");
        put_bound(&k, "c-label", "by-label");
        kit_check(&k, CLAIM("c-affinity"), "moved", "");
        kit_check(&k, CLAIM("c-affinity"), "n1", CONFLICT);
        kit_check(&k, CLAIM("c-label"), "moved", CONFLICT);
        kit_check(&k, CLAIM("c-label"), "n1", ""); /* not migrated there: no affinity */
        /* Without a value there is nothing to translate. */
        put_pv(&k, "by-key", "1Gi",
               "'cinder':{'volumeID':'y'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
               "'matchExpressions':[{'key':'topology.kubernetes.io/zone','operator':"
               "'DoesNotExist'}]}]}}");
        put_bound(&k, "c-key", "by-key");
        kit_check(&k, CLAIM("c-key"), "moved", "");
        kit_fini(&k);
    }
}

TEST(a_volume_that_cannot_be_its_drivers_fails_the_pod)
{
    struct kit k;
    binding_kit(&k);
    kit_put(&k, SCHED_CSI_NODE,
            "{'metadata':{'name':'n1','annotations':{"
            "'storage.alpha.kubernetes.io/migrated-plugins':'kubernetes.io/aws-ebs'}}}");
    put_pv(&k, "bad", "1Gi", "'awsElasticBlockStore':{'volumeID':'aws://zone/disk'}");
    put_bound(&k, "c", "bad");
    kit_check(&k, CLAIM("c"), "n1",
              "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid "
              "format for AWS volume (aws://zone/disk)");
    kit_check(&k, CLAIM("c"), "n2", "");
    kit_fini(&k);
}

/* ---- VolumeBinding: claims that wait for a volume ---- */

TEST(a_volume_has_to_be_all_that_its_claim_asks)
{
    /* One volume and one claim that fit, and what is different. */
    static const struct {
        const char *pv_spec, *pvc_spec, *want;
    } rows[] = {
        { "", "", "" },
        { ON("host", "n1"), "", "" },
        { ON("host", "n2"), "", NO_MATCH },
        { "'volumeMode':'Block'", "", NO_MATCH },
        { "'volumeMode':'Block'", "'volumeMode':'Block'", "" },
        { "'volumeMode':'Filesystem'", "", "" },
        { "'accessModes':['ReadOnlyMany']", "", NO_MATCH },
        { "'accessModes':['ReadOnlyMany','ReadWriteOnce']", "", "" },
        { "", "'accessModes':['ReadWriteOnce','ReadWriteMany']", NO_MATCH },
        { "'volumeAttributesClassName':'gold'", "", NO_MATCH },
        { "'volumeAttributesClassName':'gold'", "'volumeAttributesClassName':'gold'", "" },
        { "", "'selector':{'matchLabels':{'disk':'fast'}}", NO_MATCH },
        { "", "'selector':{}", "" },
        { "'storageClassName':'other'", "", NO_MATCH },
        { "'claimRef':{'namespace':'ns','name':'c'}", "", "" },
        { "'claimRef':{'namespace':'ns','name':'c','uid':'c-uid'}", "", "" },
        { "'claimRef':{'namespace':'ns','name':'c','uid':'older'}", "", NO_MATCH },
        { "'claimRef':{'namespace':'ns','name':'d'}", "", NO_MATCH },
        { "'claimRef':{'namespace':'other','name':'c'}", "", NO_MATCH },
        { "'claimRef':{'namespace':'ns','name':'c'}," ON("host", "n2"), "", NO_MATCH },
        { "'claimRef':{'namespace':'ns','name':'c'},'accessModes':['ReadOnlyMany']", "", "" },
        { "'claimRef':{'namespace':'ns','name':'c'},'capacity':{'storage':'1Mi'}", "", NO_MATCH },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        binding_kit(&k);
        put_pv(&k, "pv", "1Gi", rows[i].pv_spec);
        put_pvc(&k, "c", "1Gi", rows[i].pvc_spec);
        struct try t;
        try_init(&t, &k, "p", CLAIM("c"));
        struct str got = try_filter(&t, "n1");
        if (!str_is(got, rows[i].want))
            TEST_FAIL("row %zu: '" STR_FMT "'", i, STR_ARG(got));
        try_fini(&t);
        kit_fini(&k);
    }
}

TEST(only_available_volumes_that_stay_are_taken)
{
    struct kit k;
    binding_kit(&k);
    put_pvc(&k, "c", "1Gi", "");
    kit_put(&k, SCHED_PV,
            "{'metadata':{'name':'pending'},'spec':{'storageClassName':'wait',"
            "'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}},"
            "'status':{'phase':'Pending'}}");
    kit_put(&k, SCHED_PV,
            "{'metadata':{'name':'dying','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{"
            "'storageClassName':'wait','accessModes':['ReadWriteOnce'],'capacity':{'storage':"
            "'1Gi'}},'status':{'phase':'Available'}}");
    put_pv(&k, "small", "1023Mi", "");
    kit_check(&k, CLAIM("c"), "n1", NO_MATCH);
    kit_put(&k, SCHED_PV,
            "{'metadata':{'name':'labelled','labels':{'disk':'fast'}},'spec':{"
            "'storageClassName':'wait','accessModes':['ReadWriteOnce'],'capacity':{"
            "'storage':'1Gi'}},'status':{'phase':'Available'}}");
    kit_check(&k, CLAIM("c"), "n1", "");
    put_pvc(&k, "d", "1Gi",
            "'selector':{'matchExpressions':[{'key':'disk','operator':'NotIn',"
            "'values':['fast']}]}");
    kit_check(&k, CLAIM("d"), "n1", NO_MATCH);
    kit_fini(&k);
}

/* Which volume each claim is promised, after Reserve: "claim=volume claim=@node". */
static struct str reserve(struct try *t, const char *node);
static void give_up(struct try *t);

TEST(a_claim_gets_the_smallest_volume_that_does)
{
    struct kit k;
    binding_kit(&k);
    put_pv(&k, "large", "10Gi", "");
    put_pv(&k, "medium", "5Gi", ON("host", "n1"));
    put_pv(&k, "small", "2Gi", ON("host", "n2"));
    put_pv(&k, "tiny", "1Gi", "");
    put_pvc(&k, "c", "2Gi", "");
    put_pvc(&k, "d", "1Gi", "");
    struct try t;
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n1"), "c=medium");
    give_up(&t);
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n2"), "c=small");
    give_up(&t);
    /* The smaller claim chooses first, whatever their order; each volume once. */
    try_init(&t, &k, "p", CLAIM("c") "," CLAIM("d"));
    CHECK_STR(reserve(&t, "n2"), "d=tiny c=small");
    give_up(&t);
    put_pvc(&k, "e", "2Gi", "");
    put_pvc(&k, "f", "2Gi", "");
    try_init(&t, &k, "p", CLAIM("f") "," CLAIM("c") "," CLAIM("e"));
    CHECK_STR(try_filter(&t, "n2"), NO_MATCH);
    try_fini(&t);
    try_init(&t, &k, "p", CLAIM("f") "," CLAIM("c"));
    CHECK_STR(reserve(&t, "n2"), "f=small c=large");
    give_up(&t);
    /* What was set aside for it comes before what is smaller. */
    put_pv(&k, "mine", "9Gi", "'claimRef':{'namespace':'ns','name':'c'}");
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n1"), "c=mine");
    give_up(&t);
    /* A claim that two volumes of the pod name is one claim. */
    try_init(&t, &k, "p", CLAIM("d") ",{'name':'again','persistentVolumeClaim':{'claimName':'d'}}");
    CHECK_STR(reserve(&t, "n1"), "d=tiny");
    give_up(&t);
    kit_fini(&k);
}

TEST(volumes_are_made_where_their_class_allows)
{
    struct kit k;
    binding_kit(&k);
    kit_put(&k, SCHED_STORAGE_CLASS,
            "{'metadata':{'name':'zonal'},'provisioner':'csi.example.com','volumeBindingMode':"
            "'WaitForFirstConsumer','allowedTopologies':[{},{'matchLabelExpressions':[]},"
            "{'matchLabelExpressions':[{'key':'zone','values':['a','c']},{'key':'host','values':["
            "'n1','n2']}]}]}");
    kit_put(&k, SCHED_STORAGE_CLASS,
            "{'metadata':{'name':'nowhere'},'provisioner':'csi.example.com','volumeBindingMode':"
            "'WaitForFirstConsumer','allowedTopologies':[{'matchLabelExpressions':[{'key':'zone',"
            "'values':[]}]}]}");
    put_class(&k, "unmade", "", "WaitForFirstConsumer");
    put_pvc(&k, "none", "1Gi", "");
    put_pvc(&k, "made", "1Gi", "'storageClassName':'made'");
    put_pvc(&k, "zonal", "1Gi", "'storageClassName':'zonal'");
    put_pvc(&k, "nowhere", "1Gi", "'storageClassName':'nowhere'");
    put_pvc(&k, "unmade", "1Gi", "'storageClassName':'unmade'");
    kit_check(&k, CLAIM("none"), "n1", NO_MATCH);
    kit_check(&k, CLAIM("unmade"), "n1", NO_MATCH);
    kit_check(&k, CLAIM("made"), "n1", "");
    kit_check(&k, CLAIM("zonal"), "n1", "");
    kit_check(&k, CLAIM("zonal"), "n2", NO_MATCH);
    kit_check(&k, CLAIM("nowhere"), "n1", NO_MATCH);
    kit_check(&k, CLAIM("made") "," CLAIM("none"), "n1", NO_MATCH);
    /* A node was chosen for it before. */
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'chosen','annotations':{"
            "'volume.kubernetes.io/selected-node':'n2'}},'spec':{'storageClassName':'made'}}");
    kit_check(&k, CLAIM("chosen"), "n1", NO_MATCH);
    kit_check(&k, CLAIM("chosen"), "n2", "");
    struct try t;
    put_pv(&k, "pv", "5Gi", "'storageClassName':'made'");
    try_init(&t, &k, "p", CLAIM("made") "," CLAIM("chosen") "," CLAIM("zonal"));
    CHECK_STR(try_filter(&t, "n1"), NO_MATCH);
    try_fini(&t);
    try_init(&t, &k, "p", CLAIM("zonal") "," CLAIM("made"));
    CHECK_STR(reserve(&t, "n1"), "made=pv zonal=@n1");
    give_up(&t);
    /* Together with a bound volume that is elsewhere, both are told. */
    put_pv(&k, "there", "1Gi", ON("host", "n2"));
    put_bound(&k, "bound", "there");
    kit_check(&k, CLAIM("bound") "," CLAIM("none"), "n1", CONFLICT ", " NO_MATCH);
    put_bound(&k, "gone", "gone");
    kit_check(&k, CLAIM("gone") "," CLAIM("none"), "n1", NO_MATCH ", " NO_VOLUME);
    kit_fini(&k);
}

TEST(there_has_to_be_room_for_what_is_made)
{
    static const struct {
        const char *capacity, *want; /* of a CSIStorageCapacity, or NULL: there is none */
    } rows[] = {
        { NULL, NO_SPACE },
        { "'storageClassName':'made','nodeTopology':{},'capacity':'1Gi'", "" },
        { "'storageClassName':'made','nodeTopology':{},'capacity':'1023Mi'", NO_SPACE },
        { "'storageClassName':'made','nodeTopology':{}", NO_SPACE },
        { "'storageClassName':'made','capacity':'1Gi'", NO_SPACE },
        { "'storageClassName':'other','nodeTopology':{},'capacity':'1Gi'", NO_SPACE },
        { "'storageClassName':'made','nodeTopology':{'matchLabels':{'host':'n1'}},"
          "'capacity':'1Gi'",
          "" },
        { "'storageClassName':'made','nodeTopology':{'matchLabels':{'host':'n2'}},"
          "'capacity':'1Gi'",
          NO_SPACE },
        { "'storageClassName':'made','nodeTopology':{'matchExpressions':[{'key':'zone',"
          "'operator':'Exists'}]},'capacity':'1Gi'",
          "" },
        { "'storageClassName':'made','nodeTopology':{},'capacity':'1Ti','maximumVolumeSize':'1Mi'",
          NO_SPACE },
        { "'storageClassName':'made','nodeTopology':{},'capacity':'1Mi','maximumVolumeSize':'1Gi'",
          "" },
        { "'storageClassName':'made','nodeTopology':{'matchExpressions':[{'key':'zone','operator':"
          "'Sometimes'}]},'capacity':'1Gi'",
          NO_SPACE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        binding_kit(&k);
        kit_put(&k, SCHED_CSI_DRIVER,
                "{'metadata':{'name':'csi.example.com'},'spec':{'storageCapacity':true}}");
        put_pvc(&k, "c", "1Gi", "'storageClassName':'made'");
        if (rows[i].capacity)
            kit_put(&k, SCHED_CSI_CAPACITY, "{'metadata':{'namespace':'x','name':'y'},%s}",
                    rows[i].capacity);
        kit_check(&k, CLAIM("c"), "n1", rows[i].want);
        /* Told by the event, and not only when the index is made. */
        if (rows[i].capacity) {
            kit_del(&k, SCHED_CSI_CAPACITY, "x", "y");
            kit_check(&k, CLAIM("c"), "n1", NO_SPACE);
            kit_put(&k, SCHED_CSI_CAPACITY, "{'metadata':{'namespace':'x','name':'y'},%s}",
                    rows[i].capacity);
            kit_check(&k, CLAIM("c"), "n1", rows[i].want);
        }
        /* A driver that does not say how much there is has enough. */
        kit_put(&k, SCHED_CSI_DRIVER, "{'metadata':{'name':'csi.example.com'},'spec':{}}");
        kit_check(&k, CLAIM("c"), "n1", "");
        kit_fini(&k);
    }
}

/* ---- VolumeBinding: promises and PreBind ---- */

#include "sched/plugins/volume_binding.h"

static struct str reserve(struct try *t, const char *node)
{
    struct kit *k = t->k;
    CHECK_STR(try_filter(t, node), "");
    t->cycle.node = kit_node(k, node)->node->name;
    const struct sched_status *status =
        k->plugin->ops->reserve(k->plugin, &t->cycle, kit_node(k, node));
    CHECK_STR(sched_status_message(&t->arena, status), "");
    const struct binding_state *s = sched_cycle_state(&t->cycle, k->plugin);
    struct buf text = BUF_INIT(4096);
    for (uint32_t i = 0; s && i < s->n_decisions; i++) {
        const struct decision *d = &s->decisions[i];
        CHECK_OK(buf_printf(&text, "%s" STR_FMT "=%s" STR_FMT, i ? " " : "",
                            STR_ARG(d->pvc->o.name), d->pv ? "" : "@",
                            STR_ARG(d->pv ? d->pv->o.name : str_of(node))));
    }
    struct str ret = str_copy_arena(&t->arena, buf_str(&text));
    buf_fini(&text);
    return ret;
}

static void give_up(struct try *t)
{
    t->k->plugin->ops->unreserve(t->k->plugin, &t->cycle);
    try_fini(t);
}

static void on_step(struct sched_step *step, const struct sched_status *status)
{
    struct try *t = container_of(step, struct try, step);
    CHECK(!t->has_result);
    t->has_result = true;
    t->result = sched_status_message(&t->arena, status);
    if (status)
        CHECK_INT(status->code, SCHED_ERROR);
}

static void pre_bind(struct try *t)
{
    t->step.done = on_step;
    const struct sched_status *s = t->k->plugin->ops->pre_bind(t->k->plugin, &t->cycle, &t->step);
    CHECK(s == SCHED_LATER);
}

/* For people, while a binding takes its time. */
static struct str waits_for(struct try *t)
{
    return t->k->plugin->ops->waits_for(t->k->plugin, &t->cycle, &t->arena);
}

static size_t n_promises(struct kit *k)
{
    return volume_book_n_promises(((struct volume_binding *)k->plugin)->book);
}

TEST(what_was_promised_is_nobody_elses)
{
    struct kit k;
    binding_kit(&k);
    put_pv(&k, "pv", "1Gi", "");
    put_pvc(&k, "c", "1Gi", "");
    put_pvc(&k, "d", "1Gi", "");
    struct try first, second;
    try_init(&first, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&first, "n1"), "c=pv");
    CHECK_INT(n_promises(&k), 1);
    try_init(&second, &k, "q", CLAIM("d"));
    CHECK_STR(try_filter(&second, "n1"), NO_MATCH);
    try_fini(&second);
    /* Another pod with the same claim goes with it, and does not end the promise. */
    try_init(&second, &k, "q", CLAIM("c"));
    CHECK_STR(reserve(&second, "n1"), "c=pv");
    give_up(&second);
    CHECK_INT(n_promises(&k), 1);
    give_up(&first);
    CHECK_INT(n_promises(&k), 0);
    try_init(&second, &k, "q", CLAIM("d"));
    CHECK_STR(reserve(&second, "n1"), "d=pv");
    /* A newer version of the volume says what is true. */
    put_pv(&k, "pv", "1Gi", "");
    CHECK_INT(n_promises(&k), 0);
    kit_check(&k, CLAIM("c"), "n1", "");
    give_up(&second);
    kit_fini(&k);
}

TEST(a_claim_whose_volume_is_being_made_has_its_node)
{
    struct kit k;
    binding_kit(&k);
    put_pvc(&k, "c", "1Gi", "'storageClassName':'made'");
    struct try t;
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n2"), "c=@n2");
    kit_check(&k, CLAIM("c"), "n1", NO_MATCH);
    kit_check(&k, CLAIM("c"), "n2", "");
    kit_del(&k, SCHED_PVC, "ns", "c");
    CHECK_INT(n_promises(&k), 0);
    give_up(&t);
    kit_fini(&k);
}

#define BOUND_PV                                                                                   \
    "{'metadata':{'name':'pv','resourceVersion':'101'},'spec':{'storageClassName':'wait',"         \
    "'claimRef':{'namespace':'ns','name':'c','uid':'c-uid'}}}"
#define BOUND_PVC                                                                                  \
    "{'metadata':{'namespace':'ns','name':'c','uid':'c-uid','resourceVersion':'102',"              \
    "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'storageClassName':'wait',"  \
    "'volumeName':'pv'}}"

static void check_body(const struct kit_call *c, const char *target, const char *body)
{
    scoped(free_scoped) char *want = kit_quote(body);
    CHECK_STR(str_of(c->method), "PATCH");
    CHECK_STR(str_of(c->patch_type), "application/merge-patch+json");
    CHECK_STR(str_of(c->target), target);
    CHECK_STR(str_of(c->body), want);
}

TEST(a_volume_is_written_and_the_pod_waits_until_it_is_bound)
{
    struct kit k;
    binding_kit(&k);
    put_pv(&k, "pv", "1Gi", ON("host", "n1"));
    put_pvc(&k, "c", "1Gi", "");
    struct try t;
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n1"), "c=pv");
    pre_bind(&t);
    CHECK_INT(k.n_calls, 1);
    check_body(&k.calls[0], "/api/v1/persistentvolumes/pv",
               "{'metadata':{'resourceVersion':'1','annotations':{"
               "'pv.kubernetes.io/bound-by-controller':'yes'}},'spec':{'claimRef':{'kind':"
               "'PersistentVolumeClaim','apiVersion':'v1','namespace':'ns','name':'c','uid':"
               "'c-uid','resourceVersion':'2'}}}");
    CHECK_STR(waits_for(&t), "the API takes what was decided");
    kit_answer(&k, 200, "{'metadata':{'resourceVersion':'101'}}");
    CHECK(!t.has_result);
    CHECK_STR(waits_for(&t),
              "a controller binds PersistentVolumeClaim 'c' to PersistentVolume 'pv'");
    CHECK_INT(k.n_timers, 1);
    /* Bound, but the volume's own news has not come yet. */
    kit_put(&k, SCHED_PVC, "%s", BOUND_PVC);
    CHECK(!t.has_result);
    CHECK_STR(waits_for(&t), "news of a volume");
    kit_put(&k, SCHED_PV, "%s", BOUND_PV);
    CHECK(t.has_result);
    CHECK_STR(t.result, "");
    CHECK_INT(n_promises(&k), 0);
    try_fini(&t);
    kit_fini(&k); /* takes the timer back */
}

TEST(a_volume_that_was_set_aside_stays_so)
{
    struct kit k;
    binding_kit(&k);
    put_pvc(&k, "c", "1Gi", "");
    put_pv(&k, "pv", "1Gi", "'claimRef':{'namespace':'ns','name':'c'}");
    struct try t;
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n1"), "c=pv");
    CHECK_INT(n_promises(&k), 1);
    pre_bind(&t);
    check_body(&k.calls[0], "/api/v1/persistentvolumes/pv",
               "{'metadata':{'resourceVersion':'2'},'spec':{'claimRef':{'kind':"
               "'PersistentVolumeClaim','apiVersion':'v1','namespace':'ns','name':'c','uid':"
               "'c-uid','resourceVersion':'1'}}}");
    kit_answer(&k, 200, "{'metadata':{'resourceVersion':'3'}}");
    k.plugin->ops->unreserve(k.plugin, &t.cycle);
    try_fini(&t);
    /* To the letter: nothing is promised, and the version alone is asserted. */
    put_pv(&k, "pv", "1Gi", "'claimRef':{'namespace':'ns','name':'c','uid':'c-uid'}");
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n1"), "c=pv");
    CHECK_INT(n_promises(&k), 0);
    pre_bind(&t);
    check_body(&k.calls[1], "/api/v1/persistentvolumes/pv", "{'metadata':{'resourceVersion':'3'}}");
    give_up(&t);
    kit_fini(&k);
}

TEST(a_claim_gets_its_node_and_the_pod_waits_for_the_volume)
{
    struct kit k;
    binding_kit(&k);
    put_pvc(&k, "c", "1Gi", "'storageClassName':'made'");
    struct try t;
    try_init(&t, &k, "p", CLAIM("c"));
    CHECK_STR(reserve(&t, "n2"), "c=@n2");
    pre_bind(&t);
    check_body(&k.calls[0], "/api/v1/namespaces/ns/persistentvolumeclaims/c",
               "{'metadata':{'resourceVersion':'1','annotations':{"
               "'volume.kubernetes.io/selected-node':'n2'}}}");
    kit_answer(&k, 200, "{'metadata':{'resourceVersion':'50'}}");
    CHECK(!t.has_result);
    CHECK_STR(waits_for(&t),
              "a provisioner makes a volume for PersistentVolumeClaim 'c' (StorageClass "
              "'made') on the node");
    static const char claim[] =
        "{'metadata':{'namespace':'ns','name':'c','uid':'c-uid','resourceVersion':'%d',"
        "'annotations':{'volume.kubernetes.io/selected-node':'n2'%s}},'spec':{'storageClassName':"
        "'made'%s}}";
    kit_put(&k, SCHED_PVC, claim, 50, "", "");
    CHECK(!t.has_result);
    /* Bound to a volume that nobody has told of yet. */
    kit_put(&k, SCHED_PVC, claim, 51, ",'pv.kubernetes.io/bind-completed':'yes'",
            ",'volumeName':'fresh'");
    CHECK(!t.has_result);
    put_pv(&k, "fresh", "1Gi", ON("host", "n2"));
    CHECK(t.has_result);
    CHECK_STR(t.result, "");
    try_fini(&t);
    kit_fini(&k);
}

TEST(a_refused_write_takes_the_promises_back)
{
    struct kit k;
    binding_kit(&k);
    put_pv(&k, "a", "1Gi", "");
    put_pv(&k, "b", "2Gi", "");
    put_pvc(&k, "c", "1Gi", "");
    put_pvc(&k, "d", "2Gi", "");
    put_pvc(&k, "e", "1Gi", "'storageClassName':'made'");
    struct try t;
    try_init(&t, &k, "p", CLAIM("c") "," CLAIM("d") "," CLAIM("e"));
    CHECK_STR(reserve(&t, "n1"), "c=a d=b e=@n1");
    CHECK_INT(n_promises(&k), 3);
    pre_bind(&t);
    kit_answer(&k, 200, "{'metadata':{'resourceVersion':'50'}}");
    CHECK_INT(k.n_calls, 2); /* one after the other */
    kit_answer(&k, 409,
               "{'kind':'Status','status':'Failure','message':'Operation cannot be fulfilled on "
               "persistentvolumes','reason':'Conflict','code':409}");
    CHECK(t.has_result);
    CHECK_STR(t.result, "Operation cannot be fulfilled on persistentvolumes");
    CHECK_INT(k.n_calls, 2);
    /* What was written is so until the watch says otherwise. */
    CHECK_INT(n_promises(&k), 1);
    give_up(&t);
    CHECK_INT(n_promises(&k), 1);
    put_pv(&k, "a", "1Gi", "");
    CHECK_INT(n_promises(&k), 0);
    kit_fini(&k);
}

TEST(a_binding_that_comes_undone_ends_the_wait)
{
    enum undone {
        REF_RESET,
        PV_GONE,
        PVC_GONE,
        MOVED,
        OTHER_PV,
        POD_GONE,
        POD_GONE_EARLIER,
        NODE_GONE,
        TOO_LATE,
        N_UNDONE
    };
    static const char *const want[N_UNDONE] = {
        [REF_RESET] = "binding volumes: ClaimRef got reset for pv \"pv\"",
        [PV_GONE] = "binding volumes: failed to check binding: persistentvolumes \"pv\" not found",
        [PVC_GONE] = "binding volumes: failed to check binding: persistentvolumeclaims \"ns/c\" "
                     "not found",
        [MOVED] = "binding volumes: pv \"pv\" node affinity doesn't match node \"n1\": no matching "
                  "NodeSelectorTerms",
        [OTHER_PV] = "binding volumes: PVC \"c\" got bound to another pv \"else\"",
        [POD_GONE] = "binding volumes: pod does not exist any more: pod \"p\" not found",
        [POD_GONE_EARLIER] = "binding volumes: pod does not exist any more: pod \"p\" not found",
        [NODE_GONE] = "binding volumes: failed to get node \"n1\": node \"n1\" not found",
        [TOO_LATE] = "binding volumes: context deadline exceeded",
    };
    for (enum undone i = 0; i < N_UNDONE; i++) {
        struct kit k;
        binding_kit(&k);
        put_pv(&k, "pv", "1Gi", "");
        put_pvc(&k, "c", "1Gi", "");
        struct try t;
        try_init(&t, &k, "p", CLAIM("c"));
        CHECK_STR(reserve(&t, "n1"), "c=pv");
        pre_bind(&t);
        if (i == POD_GONE_EARLIER)
            kit_tell(&k, SCHED_POD, SCHED_DELETE, t.pod, NULL);
        kit_answer(&k, 200, "{'metadata':{'resourceVersion':'10'}}");
        k.rv = 10;
        switch (i) {
        case REF_RESET:
            put_pv(&k, "pv", "1Gi", "");
            break;
        case PV_GONE:
            kit_del(&k, SCHED_PV, "", "pv");
            break;
        case PVC_GONE:
            kit_del(&k, SCHED_PVC, "ns", "c");
            break;
        case MOVED:
            put_pv(&k, "pv", "1Gi",
                   "'claimRef':{'namespace':'ns','name':'c','uid':'c-uid'}," ON("host", "n2"));
            break;
        case OTHER_PV:
            put_pv(&k, "pv", "1Gi", "'claimRef':{'namespace':'ns','name':'c','uid':'c-uid'}");
            put_bound(&k, "c", "else");
            break;
        case POD_GONE:
            kit_tell(&k, SCHED_POD, SCHED_DELETE, t.pod, NULL);
            break;
        case NODE_GONE:
            kit_del(&k, SCHED_NODE, "", "n1");
            break;
        case TOO_LATE:
            kit_run_timers(&k, 599999);
            CHECK(!t.has_result);
            kit_run_timers(&k, 1);
            break;
        case POD_GONE_EARLIER:
        case N_UNDONE:
            break;
        }
        CHECK(t.has_result);
        CHECK_STR(t.result, want[i]);
        give_up(&t);
        kit_fini(&k);
    }
}

TEST(a_volume_that_cannot_be_made_sends_the_pod_back)
{
    static const struct {
        const char *annotations, *want;
    } rows[] = {
        { "'x':'y'", "binding volumes: provisioning failed for PVC \"c\"" },
        { "", "binding volumes: selectedNode annotation reset for PVC \"c\"" },
        { "'volume.kubernetes.io/selected-node':'n2'",
          "binding volumes: provisioning failed for PVC \"c\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        binding_kit(&k);
        put_pvc(&k, "c", "1Gi", "'storageClassName':'made'");
        struct try t;
        try_init(&t, &k, "p", CLAIM("c"));
        CHECK_STR(reserve(&t, "n1"), "c=@n1");
        pre_bind(&t);
        kit_answer(&k, 200, "{'metadata':{'resourceVersion':'10'}}");
        kit_put(&k, SCHED_PVC,
                "{'metadata':{'namespace':'ns','name':'c','resourceVersion':'11','annotations':{%s}"
                "},'spec':{'storageClassName':'made'}}",
                rows[i].annotations);
        CHECK(t.has_result);
        CHECK_STR(t.result, rows[i].want);
        give_up(&t);
        kit_fini(&k);
    }
}

TEST(waits_end_one_by_one_at_their_time)
{
    struct kit k;
    kit_init(&k, "VolumeBinding", "{'bindTimeoutSeconds':10}");
    put_node(&k, "n1", "");
    put_class(&k, "made", "x", "WaitForFirstConsumer");
    struct try t[3];
    static const char *const claims[] = { "a", "b", "c" };
    static const char *const volumes[] = { CLAIM("a"), CLAIM("b"), CLAIM("c") };
    for (size_t i = 0; i < 3; i++) {
        put_pvc(&k, claims[i], "1Gi", "'storageClassName':'made'");
        try_init(&t[i], &k, claims[i], volumes[i]);
        (void)reserve(&t[i], "n1");
        pre_bind(&t[i]);
        kit_answer(&k, 200, "{'metadata':{'resourceVersion':'90'}}");
        k.now_ms += 1000;
        CHECK_INT(k.n_timers, 1);
    }
    kit_run_timers(&k, 7000); /* at 10 s */
    CHECK(t[0].has_result && !t[1].has_result);
    kit_run_timers(&k, 2000);
    CHECK(t[1].has_result && t[2].has_result);
    CHECK_INT(k.n_timers, 0);
    for (size_t i = 0; i < 3; i++)
        give_up(&t[i]);
    kit_fini(&k);
}

TEST(a_negative_timeout_is_refused)
{
    struct arena a = { 0 };
    struct json *args;
    struct err err = { 0 };
    CHECK_OK(json_parse(&a, STR("{\"bindTimeoutSeconds\":-5}"), NULL, &args, NULL));
    const struct sched_plugin_ops *ops = sched_native_plugin(STR("VolumeBinding"));
    struct sched_plugin_env env = { .args = args, .ops = ops };
    struct sched_plugin *p;
    CHECK_ERR(ops->create(&env, &p, &err), E_INVALID);
    CHECK_STR(str_of(err_text(&err)), "bindTimeoutSeconds: Invalid value: -5: invalid "
                                      "BindTimeoutSeconds, should not be a negative value");
    arena_fini(&a);
}

/* ---- VolumeBinding: a model ---- */

/* What upstream does, volume by volume. NULL: none does. */
static const struct sched_pv *naive_volume(struct kit *k, const struct sched_pvc *pvc,
                                           const struct sched_node *node,
                                           const struct sched_pv *const *chosen, size_t n_chosen)
{
    const struct sched_pv *best = NULL;
    const struct map *all = sched_cache_all(k->f.cache, SCHED_PV);
    const struct sched_pv *own = NULL;
    map_each (e, all) {
        const struct sched_pv *pv = e->value;
        bool is_taken = false;
        for (size_t i = 0; i < n_chosen; i++)
            is_taken = is_taken || chosen[i] == pv;
        bool is_own = pv->claim.is_set && str_eq(pv->claim.name, pvc->o.name);
        if (is_taken || (pv->claim.is_set && !is_own) || pv->class != pvc->class ||
            quantity_cmp(pv->capacity, pvc->request) < 0)
            continue;
        if (is_own && (!own || quantity_cmp(pv->capacity, own->capacity) < 0))
            own = pv;
        if (is_own || !pv->is_available || !sched_pv_fits_node(pv, node, false) ||
            (pvc->access_modes & ~pv->access_modes))
            continue;
        int c = best ? quantity_cmp(pv->capacity, best->capacity) : -1;
        if (c < 0 || (c == 0 && str_cmp(pv->o.name, best->o.name) < 0))
            best = pv;
    }
    if (own)
        return sched_pv_fits_node(own, node, false) ? own : NULL;
    return best;
}

static void random_pv(struct kit *k, unsigned i, bool may_be_claimed)
{
#define TERMS(list) "'nodeAffinity':{'required':{'nodeSelectorTerms':[" list "]}}"
#define TWO_TERMS                                                                                  \
    "{'matchExpressions':[{'key':'host','operator':'In','values':['n1','n3']},{'key':'zone',"      \
    "'operator':'Exists'}]},{'matchExpressions':[{'key':'zone','operator':'In','values':['b']}]}"
#define NOT_N1 "{'matchExpressions':[{'key':'host','operator':'NotIn','values':['n1']}]}"
    static const char *const affinities[] = {
        "",
        ON("host", "n1"),
        ON("host", "n2"),
        ON("zone", "a"),
        ON("other", "x"),
        TERMS(TWO_TERMS),
        TERMS(NOT_N1),
        TERMS("{}"),
    };
    const char *affinity = affinities[test_random_below(ARRAY_LEN(affinities))];
    char name[16], capacity[16], claim[64] = "";
    if (may_be_claimed && test_random_below(8) == 0)
        (void)snprintf(claim, sizeof(claim), "%s'claimRef':{'namespace':'ns','name':'c%u'}",
                       *affinity ? "," : "", i % 3);
    char spec[1024];
    (void)snprintf(spec, sizeof(spec), "%s%s", affinity, claim);
    (void)snprintf(name, sizeof(name), "pv%02u", i);
    (void)snprintf(capacity, sizeof(capacity), "%u", 1 + (unsigned)test_random_below(4));
    put_pv(k, name, capacity, spec);
}

TEST(the_choice_of_volumes_equals_that_of_a_naive_search)
{
    static const char *const nodes[] = { "n1", "n2", "n3" };
    for (unsigned round = 0; round < 30; round++) {
        struct kit k;
        kit_init(&k, "VolumeBinding", NULL);
        put_node(&k, "n1", "'zone':'a'");
        put_node(&k, "n2", "'zone':'b'");
        put_node(&k, "n3", "");
        put_class(&k, "wait", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
        for (unsigned step = 0; step < 60; step++) {
            unsigned i = (unsigned)test_random_below(20);
            char name[16];
            (void)snprintf(name, sizeof(name), "pv%02u", i);
            if (test_random_below(4) == 0 &&
                sched_cache_get(k.f.cache, SCHED_PV, STR(""), str_of(name)))
                kit_del(&k, SCHED_PV, "", name);
            else
                random_pv(&k, i, true);
            if (test_random_below(20) == 0) {
                /* A change that nobody is told of. */
                struct sched_plugin *p = k.plugin;
                k.plugin = NULL;
                random_pv(&k, i, true);
                k.plugin = p;
            }
            put_pvc(&k, "c0", "1", "");
            put_pvc(&k, "c1", "2", "");
            struct try t;
            try_init(&t, &k, "p", CLAIM("c0") "," CLAIM("c1"));
            const char *node = nodes[test_random_below(3)];
            const struct sched_node_info *info = kit_node(&k, node);
            const struct sched_pv *chosen[2];
            bool fits = true;
            for (size_t c = 0; c < 2; c++) {
                const struct sched_pvc *pvc = sched_cache_get(k.f.cache, SCHED_PVC, STR("ns"),
                                                              c == 0 ? STR("c0") : STR("c1"));
                chosen[c] = naive_volume(&k, pvc, info->node, chosen, c);
                fits = fits && chosen[c];
            }
            /* Of several volumes that name a claim any will do; the twin would have to guess. */
            const struct binding_state *s = sched_cycle_state(&t.cycle, k.plugin);
            if (s->unbound[0].n_own > 1 || s->unbound[1].n_own > 1) {
                try_fini(&t);
                continue;
            }
            CHECK_STR(try_filter(&t, node), fits ? "" : NO_MATCH);
            if (fits) {
                (void)reserve(&t, node);
                CHECK(s->decisions[0].pv == chosen[0] && s->decisions[1].pv == chosen[1]);
                k.plugin->ops->unreserve(k.plugin, &t.cycle);
            }
            try_fini(&t);
        }
        kit_fini(&k);
    }
}

/* ---- VolumeRestrictions ---- */

#define DISK "node(s) had no available disk"
#define IN_USE                                                                                     \
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "  \
    "in-use by another pod"

static void put_running(struct kit *k, const char *name, const char *node, const char *volumes)
{
    kit_put(k, SCHED_POD,
            "{'metadata':{'namespace':'ns','name':'%s','uid':'%s-uid'},'spec':{'nodeName':'%s',"
            "'containers':[{'name':'c','image':'i'}],'volumes':[%s]}}",
            name, name, node, volumes);
}

TEST(disks_are_not_shared_unless_all_only_read)
{
#define GCE(disk, ro) "{'name':'v','gcePersistentDisk':{'pdName':'" disk "','readOnly':" ro "}}"
#define AWS(disk)     "{'name':'v','awsElasticBlockStore':{'volumeID':'" disk "','readOnly':true}}"
#define ISCSI(iqn, ro)                                                                             \
    "{'name':'v','iscsi':{'targetPortal':'t','iqn':'" iqn "','lun':1,'readOnly':" ro "}}"
#define RBD(mon, pool, image, ro)                                                                  \
    "{'name':'v','rbd':{'monitors':[" mon "],'pool':'" pool "','image':'" image "','readOnly':" ro \
    "}}"
    static const struct {
        const char *running, *pod, *want;
    } rows[] = {
        { GCE("d", "false"), GCE("d", "false"), DISK },
        { GCE("d", "true"), GCE("d", "false"), DISK },
        { GCE("d", "true"), GCE("d", "true"), "" },
        { GCE("d", "false"), GCE("e", "false"), "" },
        { AWS("d"), AWS("d"), DISK },
        { AWS("d"), AWS("e"), "" },
        { GCE("d", "false"), AWS("d"), "" },
        { ISCSI("q", "false"), ISCSI("q", "true"), DISK },
        { ISCSI("q", "true"), ISCSI("q", "true"), "" },
        { ISCSI("q", "false"), ISCSI("r", "false"), "" },
        { RBD("'a','b'", "p", "i", "false"), RBD("'b','c'", "p", "i", "false"), DISK },
        { RBD("'a','b'", "p", "i", "true"), RBD("'b'", "p", "i", "true"), "" },
        { RBD("'a'", "p", "i", "false"), RBD("'c'", "p", "i", "false"), "" },
        { RBD("'a'", "p", "i", "false"), RBD("'a'", "q", "i", "false"), "" },
        { RBD("'a'", "p", "i", "false"), RBD("'a'", "p", "j", "false"), "" },
        { "{'name':'v','emptyDir':{}}", GCE("d", "false"), "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_init(&k, "VolumeRestrictions", NULL);
        put_node(&k, "n1", "");
        put_node(&k, "n2", "");
        put_running(&k, "old", "n1", rows[i].running);
        kit_check(&k, rows[i].pod, "n1", rows[i].want);
        kit_check(&k, rows[i].pod, "n2", "");
        kit_fini(&k);
    }
}

TEST(a_claim_for_one_pod_has_one_pod)
{
    struct kit k;
    kit_init(&k, "VolumeRestrictions", NULL);
    put_node(&k, "n1", "");
    put_node(&k, "n2", "");
    kit_put(&k, SCHED_PVC,
            "{'metadata':{'namespace':'ns','name':'once'},'spec':{'accessModes':["
            "'ReadWriteOncePod']}}");
    put_pvc(&k, "many", "1Gi", "");
    struct try t;
    try_init(&t, &k, "p", CLAIM("once"));
    CHECK_INT(sched_code(t.pre), SCHED_SKIP);
    try_fini(&t);
    kit_check(&k, CLAIM("none"), "n1", "persistentvolumeclaim \"none\" not found");
    put_running(&k, "user", "n1", CLAIM("once") "," CLAIM("many"));
    kit_check(&k, CLAIM("many"), "n1", "");
    kit_check(&k, CLAIM("once"), "n1", IN_USE);
    kit_check(&k, CLAIM("once"), "n2", IN_USE);
    /* If its user were not there; in a fork that leaves the cycle alone. */
    try_init(&t, &k, "p", CLAIM("once"));
    const struct sched_plugin_ops *ops = k.plugin->ops;
    const struct sched_pod *user = sched_cache_get(k.f.cache, SCHED_POD, STR("ns"), STR("user"));
    void *state[1];
    struct sched_cycle fork = t.cycle;
    fork.states = state;
    state[0] = ops->clone_state(k.plugin, &t.cycle, &fork);
    CHECK(!ops->remove_pod(k.plugin, &fork, user, kit_node(&k, "n1")));
    CHECK(!ops->filter(k.plugin, &fork, kit_node(&k, "n1")));
    CHECK_STR(try_filter(&t, "n1"), IN_USE);
    CHECK(!ops->add_pod(k.plugin, &fork, user, kit_node(&k, "n1")));
    CHECK(ops->filter(k.plugin, &fork, kit_node(&k, "n1")));
    try_fini(&t);
    kit_fini(&k);
}

/* ---- VolumeZone ---- */

#define ZONE "node(s) had no available volume zone"

TEST(nodes_have_the_zones_of_volumes)
{
    static const struct {
        const char *pv_labels, *node_labels, *want;
    } rows[] = {
        { "'topology.kubernetes.io/zone':'a'", "'topology.kubernetes.io/zone':'a'", "" },
        { "'topology.kubernetes.io/zone':'a'", "'topology.kubernetes.io/zone':'b'", ZONE },
        { "'topology.kubernetes.io/zone':'a'", "", "" }, /* a node without zones */
        { "'topology.kubernetes.io/zone':'a'", "'topology.kubernetes.io/region':'a'", ZONE },
        { "'topology.kubernetes.io/zone':'b__a'", "'topology.kubernetes.io/zone':'a'", "" },
        { "'topology.kubernetes.io/zone':'b__c'", "'topology.kubernetes.io/zone':'a'", ZONE },
        { "'topology.kubernetes.io/zone':'b__'", "'topology.kubernetes.io/zone':'a'", "" },
        { "'topology.kubernetes.io/zone':'a','topology.kubernetes.io/region':'r'",
          "'topology.kubernetes.io/zone':'a','topology.kubernetes.io/region':'s'", ZONE },
        { "'failure-domain.beta.kubernetes.io/zone':'a'", "'topology.kubernetes.io/zone':'a'", "" },
        { "'failure-domain.beta.kubernetes.io/zone':'a'", "'topology.kubernetes.io/zone':'b'",
          ZONE },
        { "'topology.kubernetes.io/zone':'a'", "'failure-domain.beta.kubernetes.io/zone':'a'",
          ZONE },
        { "'failure-domain.beta.kubernetes.io/region':'r'",
          "'failure-domain.beta.kubernetes.io/region':'r'", "" },
        { "'color':'red'", "'topology.kubernetes.io/zone':'a'", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_init(&k, "VolumeZone", NULL);
        put_node(&k, "n1", rows[i].node_labels);
        kit_put(&k, SCHED_PV, "{'metadata':{'name':'pv','labels':{%s}},'spec':{}}",
                rows[i].pv_labels);
        put_bound(&k, "c", "pv");
        struct try t;
        try_init(&t, &k, "p", CLAIM("c"));
        struct str got = try_filter(&t, "n1");
        if (!str_is(got, rows[i].want))
            TEST_FAIL("row %zu: '" STR_FMT "'", i, STR_ARG(got));
        try_fini(&t);
        kit_fini(&k);
    }
}

TEST(zones_need_bound_volumes_or_classes_that_wait)
{
    struct kit k;
    kit_init(&k, "VolumeZone", NULL);
    put_node(&k, "n1", "");
    put_class(&k, "wait", "x", "WaitForFirstConsumer");
    put_class(&k, "now", "x", "Immediate");
    put_class(&k, "modeless", "x", "");
    put_pvc(&k, "waits", "1Gi", "");
    put_pvc(&k, "now", "1Gi", "'storageClassName':'now'");
    put_pvc(&k, "modeless", "1Gi", "'storageClassName':'modeless'");
    put_pvc(&k, "unknown", "1Gi", "'storageClassName':'unknown'");
    kit_put(&k, SCHED_PVC, "{'metadata':{'namespace':'ns','name':'bare'},'spec':{}}");
    put_bound(&k, "gone", "gone");
    struct try t;
    try_init(&t, &k, "p", CLAIM("waits"));
    CHECK_INT(sched_code(t.pre), SCHED_SKIP);
    try_fini(&t);
    kit_check(&k, CLAIM("none"), "n1", "persistentvolumeclaim \"none\" not found");
    kit_check(&k, "{'name':'v','persistentVolumeClaim':{}}", "n1",
              "PersistentVolumeClaim had no name");
    kit_check(&k, CLAIM("now"), "n1", "PersistentVolume had no name");
    kit_check(&k, CLAIM("bare"), "n1",
              "PersistentVolumeClaim had no pv name and storageClass name");
    kit_check(&k, CLAIM("modeless"), "n1",
              "VolumeBindingMode not set for StorageClass \"modeless\"");
    kit_check(&k, CLAIM("unknown"), "n1", "storageclass.storage.k8s.io \"unknown\" not found");
    kit_check(&k, CLAIM("gone"), "n1", "persistentvolume \"gone\" not found");
    kit_check(&k, EPHEMERAL("none"), "n1", ""); /* as upstream: no business of this one */
    kit_fini(&k);
}

/* ---- NodeVolumeLimits ---- */

#define FULL "node(s) exceed max volume count"

static void put_csi(struct kit *k, const char *name, const char *handle)
{
    kit_put(k, SCHED_PV,
            "{'metadata':{'name':'%s'},'spec':{'csi':{'driver':'ebs.csi.aws.com','volumeHandle':"
            "'%s'}}}",
            name, handle);
    put_bound(k, name, name); /* its claim is called the same */
}

static void limits_kit(struct kit *k, int limit)
{
    kit_init(k, "NodeVolumeLimits", NULL);
    put_node(k, "n1", "");
    put_node(k, "n2", "");
    kit_put(k, SCHED_CSI_NODE,
            "{'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'ebs.csi.aws.com','nodeID':'i',"
            "'allocatable':{'count':%d}},{'name':'free.example.com','nodeID':'i'}]}}",
            limit);
    put_csi(k, "a", "vol-a");
    put_csi(k, "b", "vol-b");
    put_csi(k, "c", "vol-c");
}

TEST(a_node_takes_as_many_volumes_as_its_driver_says)
{
    struct kit k;
    limits_kit(&k, 2);
    put_running(&k, "one", "n1", CLAIM("a"));
    kit_check(&k, CLAIM("b"), "n1", "");
    kit_check(&k, CLAIM("b") "," CLAIM("c"), "n1", FULL);
    kit_check(&k, CLAIM("b") "," CLAIM("c"), "n2", ""); /* no CSINode, no limit */
    kit_check(&k, CLAIM("a") "," CLAIM("c"), "n1", ""); /* one that is there already */
    put_running(&k, "two", "n1", CLAIM("a") "," CLAIM("b"));
    kit_check(&k, CLAIM("a"), "n1", "");
    kit_check(&k, CLAIM("c"), "n1", FULL);
    kit_check(&k, "{'name':'v','emptyDir':{}}", "n1", "");
    /* The same volume by two names counts once. */
    put_csi(&k, "also-a", "vol-a");
    kit_check(&k, CLAIM("also-a"), "n1", "");
    kit_check(&k, CLAIM("none"), "n2",
              "looking up PVC ns/none: persistentvolumeclaim \"none\" not found");
    /* The claim of a running pod that is gone does not count. */
    kit_del(&k, SCHED_PVC, "ns", "b");
    kit_check(&k, CLAIM("c"), "n1", "");
    kit_fini(&k);
}

TEST(volumes_that_are_to_be_made_count_for_their_driver)
{
    struct kit k;
    limits_kit(&k, 1);
    put_class(&k, "ebs", "ebs.csi.aws.com", "WaitForFirstConsumer");
    put_class(&k, "old", "kubernetes.io/aws-ebs", "WaitForFirstConsumer");
    put_class(&k, "file", "kubernetes.io/azure-file", "WaitForFirstConsumer");
    put_class(&k, "other", "other.example.com", "WaitForFirstConsumer");
    put_pvc(&k, "new", "1Gi", "'storageClassName':'ebs'");
    put_pvc(&k, "old", "1Gi", "'storageClassName':'old'");
    put_pvc(&k, "file", "1Gi", "'storageClassName':'file'");
    put_pvc(&k, "other", "1Gi", "'storageClassName':'other'");
    put_pvc(&k, "early", "1Gi", "'storageClassName':'ebs','volumeName':'not-there'");
    kit_check(&k, CLAIM("new"), "n1", "");
    put_running(&k, "one", "n1", CLAIM("a"));
    kit_check(&k, CLAIM("new"), "n1", FULL);
    kit_check(&k, CLAIM("old"), "n1", FULL);
    kit_check(&k, CLAIM("early"), "n1", FULL);
    kit_check(&k, CLAIM("other"), "n1", "");
    kit_check(&k, CLAIM("file"), "n1", "");
    /* Two pods with the same claim have the same volume. */
    put_running(&k, "two", "n1", CLAIM("new"));
    kit_check(&k, CLAIM("new"), "n1", "");
    kit_fini(&k);
}

TEST(volumes_of_before_csi_count_for_their_driver)
{
    struct kit k;
    limits_kit(&k, 1);
    kit_put(&k, SCHED_PV,
            "{'metadata':{'name':'old'},'spec':{'awsElasticBlockStore':{'volumeID':"
            "'aws://zone/vol-a'}}}");
    put_bound(&k, "old", "old");
    put_running(&k, "one", "n1", CLAIM("a"));
    kit_check(&k, CLAIM("old"), "n1", ""); /* vol-a, which is there */
    kit_check(&k, "{'name':'v','awsElasticBlockStore':{'volumeID':'vol-a'}}", "n1", "");
    kit_check(&k, "{'name':'v','awsElasticBlockStore':{'volumeID':'vol-x'}}", "n1", FULL);
    kit_check(&k, "{'name':'v','awsElasticBlockStore':{'volumeID':'vol-x'}}", "n2", "");
    kit_check(&k, "{'name':'v','azureDisk':{'diskName':'d','diskURI':'u','kind':'Shared'}}", "n1",
              "converting volume(v) from inline to csi: kind(Shared) is not supported in csi "
              "migration");
    kit_check(&k, "{'name':'v','azureDisk':{'diskName':'d','diskURI':'u'}}", "n1", "");
    kit_check(&k, "{'name':'v','portworxVolume':{'volumeID':'d'}}", "n1", "");
    kit_fini(&k);
}

TEST(what_is_attached_without_a_pod_counts_too)
{
    struct kit k;
    limits_kit(&k, 2);
    static const char attached[] =
        "{'metadata':{'name':'va-%s'},'spec':{'attacher':'%s','nodeName':'n1','source':{%s}}}";
    put_running(&k, "one", "n1", CLAIM("a"));
    kit_put(&k, SCHED_VOLUME_ATTACHMENT, attached, "a", "ebs.csi.aws.com",
            "'persistentVolumeName':'a'");
    kit_check(&k, CLAIM("b"), "n1", ""); /* a is attached for the pod */
    kit_put(&k, SCHED_VOLUME_ATTACHMENT, attached, "none", "ebs.csi.aws.com", "");
    kit_put(&k, SCHED_VOLUME_ATTACHMENT, attached, "gone", "ebs.csi.aws.com",
            "'persistentVolumeName':'gone'");
    kit_put(&k, SCHED_VOLUME_ATTACHMENT, attached, "other", "other.example.com",
            "'persistentVolumeName':'c'");
    kit_check(&k, CLAIM("b"), "n1", "");
    kit_put(&k, SCHED_VOLUME_ATTACHMENT, attached, "c", "ebs.csi.aws.com",
            "'persistentVolumeName':'c'");
    kit_check(&k, CLAIM("b"), "n1", FULL);
    kit_del(&k, SCHED_VOLUME_ATTACHMENT, "", "va-c");
    kit_check(&k, CLAIM("b"), "n1", "");
    kit_fini(&k);
}

TEST(somebody_elses_ephemeral_claim_is_an_error)
{
    struct kit k;
    limits_kit(&k, 1);
    put_csi(&k, "p-mine", "vol-e");
    kit_check(&k, EPHEMERAL("mine"), "n1",
              "PVC ns/p-mine was not created for pod ns/p (pod is not owner)");
    kit_check(&k, EPHEMERAL("none"), "n1",
              "looking up PVC ns/p-none: persistentvolumeclaim \"p-none\" not found");
    kit_fini(&k);
}

/* A change at random; of which the plugin does not hear where `tells` is not set. */
static void random_change(struct kit *k, bool tells)
{
    struct sched_plugin *p = k->plugin;
    if (!tells)
        k->plugin = NULL;
    unsigned i = (unsigned)test_random_below(6), j = (unsigned)test_random_below(6);
    char name[16];
    switch (test_random_below(9)) {
    case 0:
        kit_put(k, SCHED_PV,
                "{'metadata':{'name':'v%u'},'spec':{'csi':{'driver':'%s','volumeHandle':'h%u'}}}",
                i, j == 0 ? "other" : "d", j);
        break;
    case 1:
        (void)snprintf(name, sizeof(name), "v%u", i);
        if (sched_cache_get(k->f.cache, SCHED_PV, STR(""), str_of(name)))
            kit_del(k, SCHED_PV, "", name);
        break;
    case 2:
        kit_put(k, SCHED_PVC,
                "{'metadata':{'namespace':'ns','name':'c%u'},'spec':{'storageClassName':'s%u'}}", i,
                j % 2);
        break;
    case 3:
        kit_put(k, SCHED_PVC,
                "{'metadata':{'namespace':'ns','name':'c%u'},'spec':{'volumeName':'v%u'}}", i, j);
        break;
    case 4:
        (void)snprintf(name, sizeof(name), "c%u", i);
        if (sched_cache_get(k->f.cache, SCHED_PVC, STR("ns"), str_of(name)))
            kit_del(k, SCHED_PVC, "ns", name);
        break;
    case 5:
        kit_put(k, SCHED_POD,
                "{'metadata':{'namespace':'ns','name':'p%u','uid':'p%u'},'spec':{'nodeName':'n%u',"
                "'containers':[{'name':'c','image':'i'}],'volumes':[{'name':'v',"
                "'persistentVolumeClaim':{'claimName':'c%u'}}]}}",
                i, i, 1 + i % 2, j);
        break;
    case 6:
        kit_put(k, SCHED_VOLUME_ATTACHMENT,
                "{'metadata':{'name':'a%u'},'spec':{'attacher':'d','nodeName':'n%u','source':{"
                "'persistentVolumeName':'v%u'}}}",
                i, 1 + j % 2, j);
        break;
    case 7:
        (void)snprintf(name, sizeof(name), "a%u", i);
        if (sched_cache_get(k->f.cache, SCHED_VOLUME_ATTACHMENT, STR(""), str_of(name)))
            kit_del(k, SCHED_VOLUME_ATTACHMENT, "", name);
        break;
    case 8:
        put_class(k, i % 2 ? "s0" : "s1", j % 2 ? "d" : "kubernetes.io/aws-ebs", "Immediate");
        break;
    }
    k->plugin = p;
}

TEST(counts_that_are_kept_equal_those_made_anew)
{
    for (unsigned round = 0; round < 10; round++) {
        struct kit k;
        kit_init(&k, "NodeVolumeLimits", NULL);
        for (unsigned i = 1; i <= 2; i++) {
            char name[8];
            (void)snprintf(name, sizeof(name), "n%u", i);
            put_node(&k, name, "");
            kit_put(&k, SCHED_CSI_NODE,
                    "{'metadata':{'name':'%s'},'spec':{'drivers':[{'name':'d','nodeID':'i',"
                    "'allocatable':{'count':%u}}]}}",
                    name, 1 + (unsigned)test_random_below(3));
        }
        put_csi(&k, "new", "vol-new");
        kit_put(&k, SCHED_PV,
                "{'metadata':{'name':'mine'},'spec':{'csi':{'driver':'d',"
                "'volumeHandle':'h1'}}}");
        put_bound(&k, "mine", "mine");
        for (unsigned step = 0; step < 200; step++) {
            random_change(&k, test_random_below(10) > 0);
            const char *node = test_random_below(2) ? "n1" : "n2";
            const struct sched_plugin_ops *ops = k.plugin->ops;
            struct sched_plugin *kept = k.plugin, *fresh;
            struct sched_plugin_env env = { .framework = &k.f, .ops = ops };
            CHECK_OK(ops->create(&env, &fresh, NULL));
            fresh->ops = ops;
            fresh->framework = &k.f;
            struct try a, b;
            const char *volumes = test_random_below(2) ? CLAIM("mine") : CLAIM("c1");
            try_init(&a, &k, "p", volumes);
            k.plugin = fresh;
            try_init(&b, &k, "p", volumes);
            struct str want = try_filter(&b, node);
            k.plugin = kept;
            CHECK(str_eq(try_filter(&a, node), want));
            try_fini(&a);
            try_fini(&b);
            ops->destroy(fresh);
        }
        kit_fini(&k);
    }
}

/* ---- hints ---- */

struct hint_row {
    const char *plugin;
    enum sched_kind kind;
    const char *volumes, *before, *after; /* objects; NULL: none */
    int want;                             /* -1: the plugin does not ask for such an event */
};

static int hint_of(struct kit *k, const struct hint_row *row)
{
    struct sched_object *pod = kit_pod(k, "p", row->volumes);
    struct sched_object *before = row->before ? kit_read(k->f.words, row->kind, row->before) : NULL;
    struct sched_object *after = row->after ? kit_read(k->f.words, row->kind, row->after) : NULL;
    struct sched_event event = { kit_resource(row->kind),
                                 !before  ? SCHED_ADD
                                 : !after ? SCHED_DELETE
                                          : SCHED_UPDATE,
                                 before, after };
    size_t n;
    const struct sched_event_reg *regs = k->plugin->ops->events(k->plugin, &n);
    int ret = -1;
    for (size_t i = 0; i < n && ret < 1; i++) {
        if (regs[i].resource != event.resource || !(regs[i].actions & event.actions))
            continue;
        ret = regs[i].hint ? (int)regs[i].hint(k->plugin, sched_pod_of(pod), &event)
                           : SCHED_HINT_QUEUE;
    }
    sched_object_unref(k->f.words, before);
    sched_object_unref(k->f.words, after);
    sched_object_unref(k->f.words, pod);
    return ret;
}

TEST(events_that_may_help_are_told_from_those_that_do_not)
{
#define NAMED(name)      "{'metadata':{'namespace':'ns','name':'" name "'},'spec':{}}"
#define OTHER_NS(name)   "{'metadata':{'namespace':'other','name':'" name "'},'spec':{}}"
#define CLASS(mode, top) "{'metadata':{'name':'s'},'provisioner':'x'," mode top "}"
#define WAITS            "'volumeBindingMode':'WaitForFirstConsumer'"
#define TOPOLOGY(v)                                                                                \
    ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['" v "']}]}]"
#define CAPACITY(c) "{'metadata':{'namespace':'x','name':'y'},'storageClassName':'s'" c "}"
#define DRIVER(c)   "{'metadata':{'name':'d'},'spec':{'storageCapacity':" c "}}"
#define MOVED(list)                                                                                \
    "{'metadata':{'name':'n','annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'" list \
    "'}},'spec':{'drivers':[]}}"
#define LIMIT(name, n)                                                                             \
    "{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'" name                                   \
    "','nodeID':'i','allocatable':{'count':" n "}}]}}"
#define PV_IN(zone)                                                                                \
    "{'metadata':{'name':'pv','labels':{'topology.kubernetes.io/zone':'" zone "'}},'spec':{}}"
#define POD_WITH(ns, node, volumes)                                                                \
    "{'metadata':{'namespace':'" ns "','name':'q'},'spec':{" node                                  \
    "'containers':[{'name':'c','image':'i'}],'volumes':[" volumes "]}}"
#define ON_NODE "'nodeName':'n1',"
#define ATTACHED                                                                                   \
    "{'metadata':{'name':'va'},'spec':{'attacher':'ebs.csi.aws.com','nodeName':'n','source':{}}}"
#define EMPTY "{'name':'v','emptyDir':{}}"
    static const struct hint_row rows[] = {
        { "VolumeBinding", SCHED_PVC, CLAIM("c"), NULL, NAMED("c"), 1 },
        { "VolumeBinding", SCHED_PVC, CLAIM("c"), NAMED("c"), NAMED("c"), 1 },
        { "VolumeBinding", SCHED_PVC, CLAIM("c"), NULL, NAMED("d"), 0 },
        { "VolumeBinding", SCHED_PVC, CLAIM("c"), NULL, OTHER_NS("c"), 0 },
        { "VolumeBinding", SCHED_PVC, EPHEMERAL("c"), NULL, NAMED("p-c"), 1 },
        { "VolumeBinding", SCHED_PVC, CLAIM("c"), NAMED("c"), NULL, -1 },
        { "VolumeBinding", SCHED_STORAGE_CLASS, CLAIM("c"), NULL, CLASS(WAITS, ""), 1 },
        { "VolumeBinding", SCHED_STORAGE_CLASS, CLAIM("c"), CLASS(WAITS, ""), CLASS(WAITS, ""), 0 },
        { "VolumeBinding", SCHED_STORAGE_CLASS, CLAIM("c"), CLASS(WAITS, TOPOLOGY("a")),
          CLASS(WAITS, TOPOLOGY("a")), 0 },
        { "VolumeBinding", SCHED_STORAGE_CLASS, CLAIM("c"), CLASS(WAITS, TOPOLOGY("a")),
          CLASS(WAITS, TOPOLOGY("b")), 1 },
        { "VolumeBinding", SCHED_STORAGE_CLASS, CLAIM("c"), CLASS(WAITS, TOPOLOGY("a")),
          CLASS(WAITS, ""), 1 },
        { "VolumeBinding", SCHED_CSI_CAPACITY, CLAIM("c"), NULL, CAPACITY(""), 1 },
        { "VolumeBinding", SCHED_CSI_CAPACITY, CLAIM("c"), CAPACITY(",'capacity':'1'"),
          CAPACITY(",'capacity':'2'"), 1 },
        { "VolumeBinding", SCHED_CSI_CAPACITY, CLAIM("c"), CAPACITY(",'capacity':'2'"),
          CAPACITY(",'capacity':'2'"), 0 },
        { "VolumeBinding", SCHED_CSI_CAPACITY, CLAIM("c"), CAPACITY(""),
          CAPACITY(",'capacity':'1'"), 1 },
        { "VolumeBinding", SCHED_CSI_CAPACITY, CLAIM("c"),
          CAPACITY(",'capacity':'1','maximumVolumeSize':'5'"),
          CAPACITY(",'capacity':'2','maximumVolumeSize':'5'"), 0 },
        { "VolumeBinding", SCHED_CSI_DRIVER, CLAIM("c"), DRIVER("true"), DRIVER("false"), 1 },
        { "VolumeBinding", SCHED_CSI_DRIVER, CLAIM("c"), DRIVER("false"), DRIVER("true"), 0 },
        { "VolumeBinding", SCHED_CSI_NODE, CLAIM("c"), NULL, MOVED("a"), 1 },
        { "VolumeBinding", SCHED_CSI_NODE, CLAIM("c"), MOVED("a"), MOVED("a"), 0 },
        { "VolumeBinding", SCHED_CSI_NODE, CLAIM("c"), MOVED("a"), MOVED("a,b"), 1 },
        { "VolumeBinding", SCHED_PV, CLAIM("c"), PV_IN("a"), PV_IN("a"), 1 },

        { "VolumeRestrictions", SCHED_PVC, CLAIM("c"), NULL, NAMED("c"), 1 },
        { "VolumeRestrictions", SCHED_PVC, CLAIM("c"), NULL, NAMED("d"), 0 },
        { "VolumeRestrictions", SCHED_PVC, CLAIM("c"), NAMED("c"), NAMED("c"), -1 },
        { "VolumeRestrictions", SCHED_POD, CLAIM("c"), POD_WITH("ns", ON_NODE, CLAIM("c")), NULL,
          1 },
        { "VolumeRestrictions", SCHED_POD, CLAIM("c"), POD_WITH("ns", ON_NODE, CLAIM("d")), NULL,
          0 },
        { "VolumeRestrictions", SCHED_POD, CLAIM("c"), POD_WITH("other", ON_NODE, CLAIM("c")), NULL,
          0 },
        { "VolumeRestrictions", SCHED_POD, GCE("d", "false"),
          POD_WITH("ns", ON_NODE, GCE("d", "true")), NULL, 1 },
        { "VolumeRestrictions", SCHED_POD, GCE("d", "true"),
          POD_WITH("ns", ON_NODE, GCE("d", "true")), NULL, 0 },

        { "VolumeZone", SCHED_STORAGE_CLASS, CLAIM("c"), NULL, CLASS(WAITS, ""), 1 },
        { "VolumeZone", SCHED_STORAGE_CLASS, CLAIM("c"), NULL,
          CLASS("'volumeBindingMode':'Immediate'", ""), 0 },
        { "VolumeZone", SCHED_PVC, CLAIM("c"), NAMED("c"), NAMED("c"), 1 },
        { "VolumeZone", SCHED_PVC, EPHEMERAL("c"), NULL, NAMED("p-c"), 0 },
        { "VolumeZone", SCHED_PV, CLAIM("c"), NULL, PV_IN("a"), 1 },
        { "VolumeZone", SCHED_PV, CLAIM("c"), PV_IN("a"), PV_IN("a"), 0 },
        { "VolumeZone", SCHED_PV, CLAIM("c"), PV_IN("a"), PV_IN("b"), 1 },
        { "VolumeZone", SCHED_PV, CLAIM("c"), PV_IN("a__"), PV_IN("__b"), 0 },

        { "NodeVolumeLimits", SCHED_CSI_NODE, CLAIM("c"), NULL, LIMIT("d", "1"), 1 },
        { "NodeVolumeLimits", SCHED_CSI_NODE, CLAIM("c"), LIMIT("d", "1"), LIMIT("d", "1"), 0 },
        { "NodeVolumeLimits", SCHED_CSI_NODE, CLAIM("c"), LIMIT("d", "1"), LIMIT("d", "2"), 1 },
        { "NodeVolumeLimits", SCHED_CSI_NODE, CLAIM("c"), LIMIT("d", "2"), LIMIT("d", "1"), 0 },
        { "NodeVolumeLimits", SCHED_CSI_NODE, CLAIM("c"), LIMIT("d", "2"), LIMIT("e", "1"), 1 },
        { "NodeVolumeLimits", SCHED_PVC, CLAIM("c"), NULL, NAMED("c"), 1 },
        { "NodeVolumeLimits", SCHED_PVC, CLAIM("c"), NULL, OTHER_NS("c"), 0 },
        { "NodeVolumeLimits", SCHED_PVC, EPHEMERAL("c"), NULL, NAMED("p-c"), 1 },
        { "NodeVolumeLimits", SCHED_POD, CLAIM("c"), POD_WITH("ns", ON_NODE, CLAIM("x")), NULL, 1 },
        { "NodeVolumeLimits", SCHED_POD, CLAIM("c"), POD_WITH("ns", "", CLAIM("x")), NULL, 0 },
        { "NodeVolumeLimits", SCHED_POD, CLAIM("c"), POD_WITH("ns", ON_NODE, EMPTY), NULL, 0 },
        { "NodeVolumeLimits", SCHED_POD, CLAIM("c"), POD_WITH("ns", ON_NODE, ""), NULL, 0 },
        { "NodeVolumeLimits", SCHED_VOLUME_ATTACHMENT, CLAIM("c"), ATTACHED, NULL, 1 },
        { "NodeVolumeLimits", SCHED_VOLUME_ATTACHMENT, AWS("x"), ATTACHED, NULL, 1 },
        { "NodeVolumeLimits", SCHED_VOLUME_ATTACHMENT, GCE("x", "true"), ATTACHED, NULL, 0 },
        { "NodeVolumeLimits", SCHED_VOLUME_ATTACHMENT, EMPTY, ATTACHED, NULL, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_init(&k, rows[i].plugin, NULL);
        int got = hint_of(&k, &rows[i]);
        if (got != rows[i].want)
            TEST_FAIL("row %zu: %d, expected %d", i, got, rows[i].want);
        kit_fini(&k);
    }
}

/* ---- reading ---- */

TEST(objects_that_an_api_would_have_refused_are_refused)
{
    static const struct {
        enum sched_kind kind;
        const char *text, *want;
    } rows[] = {
        { SCHED_PV, "{'metadata':{'name':'x'},'spec':{'capacity':{'storage':'much'}}}",
          "spec.capacity.storage: " },
        { SCHED_PV, "{'metadata':{'name':'x'},'spec':{'capacity':{'storage':[]}}}",
          "spec.capacity.storage: not a quantity" },
        { SCHED_PV, "{'metadata':{'name':'x'},'spec':{'accessModes':['Sometimes']}}",
          "spec.accessModes: 'Sometimes' is no access mode" },
        { SCHED_PVC,
          "{'metadata':{'namespace':'n','name':'x'},'spec':{'resources':{'requests':{'storage':"
          "'1GiB'}}}}",
          "spec.resources.requests.storage: " },
        { SCHED_CSI_NODE,
          "{'metadata':{'name':'x'},'spec':{'drivers':[{'name':'d'},{'name':'e','allocatable':{"
          "'count':-1}}]}}",
          "spec.drivers.allocatable.count: out of range" },
        { SCHED_CSI_CAPACITY, "{'metadata':{'namespace':'n','name':'x'},'capacity':'lots'}",
          "capacity: " },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct intern_table *w = intern_table_new();
        struct arena a = { 0 };
        struct json *json;
        struct sched_object *o;
        struct err err = { 0 };
        scoped(free_scoped) char *text = kit_quote(rows[i].text);
        CHECK_OK(json_parse(&a, str_of(text), NULL, &json, NULL));
        CHECK_ERR(sched_object_read(w, rows[i].kind, json, false, &o, &err), E_INVALID);
        if (str_find(str_of(err_text(&err)), str_of(rows[i].want)) < 0)
            TEST_FAIL("row %zu: %s", i, err_text(&err));
        arena_fini(&a);
        intern_table_free(w);
    }
}

TEST_MAIN
