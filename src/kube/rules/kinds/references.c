/* SPDX-License-Identifier: Apache-2.0 */
/* References of pods and volumes; see references.h. */
#include "kube/rules/kinds/references.h"

#include "base/buf.h"
#include "kube/model/field.h"
#include "kube/model/meta.h"

/* Limit for one pod; further claims are not reported, so that the walk stays linear. */
enum { RESOURCE_CLAIMS_MAX = 256 };

static const char *const container_lists[] = { "initContainers", "containers",
                                               "ephemeralContainers" };

/* ------------------------------------------------------------------ pods */

struct references_visit {
    pod_reference_fn fn;
    void *arg;
};

static void report(const struct references_visit *v, enum pod_reference what, struct str name)
{
    if (name.n)
        v->fn(v->arg, what, name);
}

static void visit_container(const struct references_visit *v, const struct json *container)
{
    json_each (from, json_getc(container, "envFrom")) {
        report(v, POD_SECRET, json_str(json_path(from, "secretRef", "name", NULL)));
        report(v, POD_CONFIG_MAP, json_str(json_path(from, "configMapRef", "name", NULL)));
    }
    json_each (var, json_getc(container, "env")) {
        const struct json *from = json_getc(var, "valueFrom");
        report(v, POD_SECRET, json_str(json_path(from, "secretKeyRef", "name", NULL)));
        report(v, POD_CONFIG_MAP, json_str(json_path(from, "configMapKeyRef", "name", NULL)));
    }
}

struct str kind_pod_ephemeral_claim(struct arena *a, const struct json *pod,
                                    const struct json *volume)
{
    return str_of(arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(meta_name(pod)),
                               STR_ARG(json_get_str(volume, "name"))));
}

static void visit_volume(const struct references_visit *v, struct arena *a, const struct json *pod,
                         const struct json *volume)
{
    static const char *const secrets[][3] = {
        { "azureFile", "secretName", NULL },   { "cephfs", "secretRef", "name" },
        { "cinder", "secretRef", "name" },     { "csi", "nodePublishSecretRef", "name" },
        { "flexVolume", "secretRef", "name" }, { "iscsi", "secretRef", "name" },
        { "rbd", "secretRef", "name" },        { "scaleIO", "secretRef", "name" },
        { "secret", "secretName", NULL },      { "storageos", "secretRef", "name" }
    };
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        report(v, POD_SECRET,
               json_str(json_path(volume, secrets[i][0], secrets[i][1], secrets[i][2], NULL)));
    report(v, POD_CONFIG_MAP, json_str(json_path(volume, "configMap", "name", NULL)));
    json_each (source, json_path(volume, "projected", "sources", NULL)) {
        report(v, POD_SECRET, json_str(json_path(source, "secret", "name", NULL)));
        report(v, POD_CONFIG_MAP, json_str(json_path(source, "configMap", "name", NULL)));
    }
    report(v, POD_CLAIM, json_str(json_path(volume, "persistentVolumeClaim", "claimName", NULL)));
    if (json_is(json_getc(volume, "ephemeral"), JSON_OBJECT))
        report(v, POD_CLAIM, kind_pod_ephemeral_claim(a, pod, volume));
}

/* The claim of an entry of spec.resourceClaims: named there, or made from a template. */
static struct str resource_claim(const struct json *pod, const struct json *entry)
{
    struct str named = json_get_str(entry, "resourceClaimName");
    if (named.n)
        return named;
    size_t n = 0;
    json_each (made, json_path(pod, "status", "resourceClaimStatuses", NULL)) {
        if (str_eq(json_get_str(made, "name"), json_get_str(entry, "name")))
            return json_get_str(made, "resourceClaimName");
        if (++n == RESOURCE_CLAIMS_MAX)
            break;
    }
    return STR("");
}

void kind_pod_references(struct arena *a, const struct json *pod, pod_reference_fn fn, void *arg)
{
    const struct references_visit v = { fn, arg };
    const struct json *spec = json_getc(pod, "spec");
    report(&v, POD_ACCOUNT, json_get_str(spec, "serviceAccountName"));
    json_each (ref, json_getc(spec, "imagePullSecrets"))
        report(&v, POD_SECRET, json_get_str(ref, "name"));
    for (size_t i = 0; i < ARRAY_LEN(container_lists); i++)
        json_each (c, json_getc(spec, container_lists[i]))
            visit_container(&v, c);
    json_each (volume, json_getc(spec, "volumes"))
        visit_volume(&v, a, pod, volume);
    size_t n = 0;
    json_each (entry, json_getc(spec, "resourceClaims")) {
        if (n++ == RESOURCE_CLAIMS_MAX)
            break;
        report(&v, POD_RESOURCE_CLAIM, resource_claim(pod, entry));
    }
    report(&v, POD_RESOURCE_CLAIM,
           json_str(
               json_path(pod, "status", "extendedResourceClaimStatus", "resourceClaimName", NULL)));
}

bool kind_pod_is_mirror(const struct json *pod)
{
    return json_path(pod, "metadata", "annotations", "kubernetes.io/config.mirror", NULL);
}

/* ------------------------------------------------------------------ objects that a pod needs */

struct wants {
    bool account, secret, config_map;
};

static void note_want(void *arg, enum pod_reference what, struct str name)
{
    struct wants *w = arg;
    (void)name;
    w->account = w->account || what == POD_ACCOUNT;
    w->secret = w->secret || what == POD_SECRET;
    w->config_map = w->config_map || what == POD_CONFIG_MAP;
}

/* The member of a volume or of a projected source that holds its source. */
static struct str type_of(const struct json *source)
{
    json_each (member, source)
        if (!str_is(member->key, "name") && member->type != JSON_NULL)
            return member->key;
    return STR("");
}

static const char *unknown(struct arena *a, const char *what, const struct json *volume)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&text, what);
    field_go_quote(&text, json_get_str(volume, "name"));
    return str_dup_arena(a, buf_str(&text));
}

static const char *projected_reference(struct arena *a, const struct json *volume,
                                       const char **ret_unknown)
{
    static const char *const of_api[][2] = {
        { "configMap", "configmaps (via projected volumes)" },
        { "secret", "secrets (via projected volumes)" },
        { "serviceAccountToken", "serviceaccounts (via projected volumes)" },
        { "clusterTrustBundle", "clustertrustbundles" },
        { "podCertificate", "podcertificates" },
    };
    json_each (source, json_path(volume, "projected", "sources", NULL)) {
        struct str type = type_of(source);
        for (size_t i = 0; i < ARRAY_LEN(of_api); i++)
            if (str_is(type, of_api[i][0]))
                return of_api[i][1];
        if (!str_is(type, "downwardAPI")) {
            *ret_unknown = unknown(a, "unknown source for projected volume ", volume);
            return NULL;
        }
    }
    return NULL;
}

static const char *volume_reference(struct arena *a, const struct json *volume,
                                    const char **ret_unknown)
{
    static const char *const local[] = { "awsElasticBlockStore",
                                         "azureDisk",
                                         "cephfs",
                                         "cinder",
                                         "downwardAPI",
                                         "emptyDir",
                                         "fc",
                                         "flexVolume",
                                         "flocker",
                                         "gitRepo",
                                         "gcePersistentDisk",
                                         "hostPath",
                                         "image",
                                         "iscsi",
                                         "nfs",
                                         "photonPersistentDisk",
                                         "portworxVolume",
                                         "quobyte",
                                         "rbd",
                                         "scaleIO",
                                         "storageos",
                                         "vsphereVolume" };
    static const char *const of_api[][2] = {
        { "configMap", "configmaps (via configmap volumes)" },
        { "secret", "secrets (via secret volumes)" },
        { "csi", "csidrivers (via CSI volumes)" },
        { "glusterfs", "endpoints (via glusterFS volumes)" },
        { "persistentVolumeClaim", "persistentvolumeclaims" },
        { "ephemeral", "persistentvolumeclaims (via ephemeral volumes)" },
        { "azureFile", "secrets (via azureFile volumes)" },
    };
    struct str type = type_of(volume);
    for (size_t i = 0; i < ARRAY_LEN(local); i++)
        if (str_is(type, local[i]))
            return NULL;
    for (size_t i = 0; i < ARRAY_LEN(of_api); i++)
        if (str_is(type, of_api[i][0]))
            return of_api[i][1];
    if (str_is(type, "projected"))
        return projected_reference(a, volume, ret_unknown);
    *ret_unknown = unknown(a, "unknown volume type for volume  ", volume);
    return NULL;
}

const char *kind_pod_api_reference(struct arena *a, const struct json *pod,
                                   const char **ret_unknown)
{
    struct wants wants = { 0 };
    const struct json *spec = json_getc(pod, "spec"), *claims = json_getc(spec, "resourceClaims");
    *ret_unknown = NULL;
    kind_pod_references(a, pod, note_want, &wants);
    if (wants.account)
        return "serviceaccounts";
    if (wants.secret)
        return "secrets";
    if (wants.config_map)
        return "configmaps";
    if (json_is(claims, JSON_ARRAY) && claims->n)
        return "resourceclaims";
    json_each (volume, json_getc(spec, "volumes")) {
        const char *what = volume_reference(a, volume, ret_unknown);
        if (what || *ret_unknown)
            return what;
    }
    return NULL;
}

/* ------------------------------------------------------------------ volumes */

void kind_volume_secrets(const struct json *volume, volume_secret_fn fn, void *arg)
{
    static const struct {
        const char *source, *ref;
        bool of_claim; /* without a namespace, the claim's is used */
    } refs[] = {
        { "cephfs", "secretRef", true },        { "cinder", "secretRef", false },
        { "flexVolume", "secretRef", true },    { "rbd", "secretRef", true },
        { "scaleIO", "secretRef", true },       { "iscsi", "secretRef", true },
        { "storageos", "secretRef", false },    { "csi", "nodePublishSecretRef", false },
        { "csi", "nodeStageSecretRef", false }, { "csi", "nodeExpandSecretRef", false },
    };
    const struct json *spec = json_getc(volume, "spec"), *azure = json_getc(spec, "azureFile");
    struct str claim_ns = json_str(json_path(spec, "claimRef", "namespace", NULL));
    struct str ns = json_get_str(azure, "secretNamespace"),
               name = json_get_str(azure, "secretName");
    if (name.n)
        fn(arg, ns.n ? ns : claim_ns, name);
    for (size_t i = 0; i < ARRAY_LEN(refs); i++) {
        const struct json *ref = json_path(spec, refs[i].source, refs[i].ref, NULL);
        ns = json_get_str(ref, "namespace");
        name = json_get_str(ref, "name");
        if (name.n)
            fn(arg, ns.n || !refs[i].of_claim ? ns : claim_ns, name);
    }
}

struct str kind_volume_csi_driver(const struct json *source)
{
    static const char *const handed_over[][2] = {
        { "awsElasticBlockStore", "ebs.csi.aws.com" },
        { "azureDisk", "disk.csi.azure.com" },
        { "azureFile", "file.csi.azure.com" },
        { "cinder", "cinder.csi.openstack.org" },
        { "gcePersistentDisk", "pd.csi.storage.gke.io" },
        { "portworxVolume", "pxd.portworx.com" },
        { "vsphereVolume", "csi.vsphere.vmware.com" },
    };
    struct str driver = json_str(json_path(source, "csi", "driver", NULL));
    for (size_t i = 0; driver.n == 0 && i < ARRAY_LEN(handed_over); i++)
        if (json_is(json_getc(source, handed_over[i][0]), JSON_OBJECT))
            driver = str_of(handed_over[i][1]);
    return driver;
}
