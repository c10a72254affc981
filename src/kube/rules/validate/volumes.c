/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes of pods, sources of PersistentVolumes and specs of claims. Every type of source is a row:
 * where it lies, the path it is reported under (upstream has a few that differ), its members.
 */
#include "kube/rules/validate/check.h"

static const struct range luns = { 0, 255 };

/* ---- members that several sources have ---- */

static void secret_name(const struct spot *s, const void *unused)
{
    MEMBER(name, s, "name");
    if (s->v)
        need(&name, NULL);
}

static void secret_name_and_namespace(const struct spot *s, const void *unused)
{
    static const struct member_check members[] = { { "name", need, NULL },
                                                   { "namespace", need, NULL } };
    if (s->v)
        CHECK_MEMBERS(s, members);
}

static void secret_reference(const struct spot *s, const void *unused)
{
    static const struct member_check members[] = { { "name", need_subdomain, NULL },
                                                   { "namespace", need_label, NULL } };
    if (s->v)
        CHECK_MEMBERS(s, members);
}

static void key_to_path(const struct spot *s, const void *unused)
{
    static const struct member_check members[] = { { "key", need, NULL },
                                                   { "path", need, NULL },
                                                   { "path", a_path_unreserved, NULL },
                                                   { "mode", a_file_mode, NULL } };
    CHECK_MEMBERS(s, members);
}

static const struct each keys_to_paths = { key_to_path, NULL };

static void absolute_path(const struct spot *s, const void *unused)
{
    need(s, NULL);
    if (!str_has_prefix(spot_text(s), STR("/")))
        say_invalid_text(s, "must be an absolute path");
}

static void need_path_no_backsteps(const struct spot *s, const void *unused)
{
    need(s, NULL);
    a_path_no_backsteps(s, NULL);
}

void csi_driver_name(const struct spot *s, const void *unused)
{
    enum { DRIVER_MAX_BYTES = 63 };
    struct str name = spot_text(s);
    if (name.n == 0) {
        say_required(s, "");
        return;
    }
    if (name.n > DRIVER_MAX_BYTES)
        say_too_long(s, DRIVER_MAX_BYTES);
    say_problems(s, name, meta_check_dns1123_subdomain(str_lower_arena(s->errs->a, name)));
}

/* 0 is fine, whatever the words say. */
static void disk_partition(const struct spot *s, const void *unused)
{
    if (spot_number(s) < 0 || spot_number(s) > 255)
        say_invalid(s, "must be between 1 and 255, inclusive");
}

static void size_limit(const struct spot *s, const void *unused)
{
    struct quantity q;
    if (spot_quantity(s, &q) && q.nano < 0)
        say_forbidden(s, "SizeLimit field must be a valid resource quantity");
}

static void flex_options(const struct spot *s, const void *unused)
{
    json_each (option, s->v) {
        struct spot at = spot_key(s, option);
        struct str domain, rest;
        (void)str_cut(option->key, '/', &domain, &rest);
        struct str dotted =
            str_of(say_text(s, "." STR_FMT, STR_ARG(str_lower_arena(s->errs->a, domain))));
        if (str_has_suffix(dotted, STR(".kubernetes.io")) || str_has_suffix(dotted, STR(".k8s.io")))
            say_invalid_str(&at, option->key, "kubernetes.io and k8s.io namespaces are reserved");
    }
}

/* ---- iSCSI ---- */

static bool is_alnum_text(struct str s, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'z') &&
            !(s.p[i] >= 'A' && s.p[i] <= 'Z'))
            return false;
    return s.n == n;
}

/* iqn.YYYY-MM.domain:name; the name has no blanks and none of ,;*&$| */
static bool is_iqn(struct str s)
{
    struct str domain, name;
    if (s.n < 13 || s.p[3] != '.' || s.p[8] != '-' || s.p[11] != '.')
        return false;
    for (size_t i = 4; i < 11; i++)
        if (i != 8 && (s.p[i] < '0' || s.p[i] > '9'))
            return false;
    if (!str_cut(str_slice(s, 12, s.n), ':', &domain, &name) || domain.n == 0 || name.n == 0)
        return false;
    for (size_t i = 0; i < domain.n; i++)
        if (domain.p[i] != '-' && domain.p[i] != '.' &&
            !is_alnum_text(str_slice(domain, i, i + 1), 1))
            return false;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == 0 || strchr(",;*&$| \t\n\r\f", name.p[i]))
            return false;
    return true;
}

static bool is_initiator(struct str s)
{
    if (str_has_prefix(s, STR("iqn")))
        return is_iqn(s);
    return is_alnum_text(str_slice(s, 4, s.n), str_has_prefix(s, STR("eui")) ? 16 : 32) && s.n > 4;
}

/* odd: what to say of a name that begins with none of the three. */
static void initiator(const struct spot *s, const char *odd)
{
    struct str name = spot_text(s);
    if (!str_has_prefix(name, STR("iqn")) && !str_has_prefix(name, STR("eui")) &&
        !str_has_prefix(name, STR("naa")))
        say_invalid_text(s, odd);
    else if (!is_initiator(name))
        say_invalid_text(s, "must be valid format");
}

#define ISCSI_FORMAT "must be valid format starting with iqn, eui, or naa"
#define ISCSI_TOO_LONG                                                                             \
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "           \
    "iscsi.initiatorName is specified."

static bool iscsi_too_long(const struct spot *s, struct str name)
{
    return member_set(s, "initiatorName") && name.n + 1 + member_text(s, "targetPortal").n > 64;
}

/* persistent: the name of the PersistentVolume, NULL in a pod. */
static void iscsi_source(const struct spot *s, const struct str *persistent)
{
    MEMBER(portal, s, "targetPortal");
    MEMBER(iqn, s, "iqn");
    MEMBER(lun, s, "lun");
    MEMBER(secret, s, "secretRef");
    const char *odd = persistent ? "must be valid format" : ISCSI_FORMAT;
    struct spot name = spot_named(s, "initiatorname", json_getc(s->v, "initiatorName"));
    struct spot odd_portal = spot_named(s, "targetportal", portal.v);
    need(&portal, NULL);
    if (persistent && iscsi_too_long(s, *persistent))
        say_invalid_text(&odd_portal, ISCSI_TOO_LONG);
    if (spot_text(&iqn).n == 0)
        say_required(&iqn, "");
    else
        initiator(&iqn, odd);
    in_range(&lun, &luns);
    if ((member_true(s, "chapAuthDiscovery") || member_true(s, "chapAuthSession")) && !secret.v)
        say_required(&secret, "");
    if (persistent)
        secret_name(&secret, NULL);
    if (name.v)
        initiator(&name, odd);
}

/* ---- sources that need more than a table ---- */

static void fc(const struct spot *s, const void *unused)
{
    MEMBER(targets, s, "targetWWNs");
    MEMBER(wwids, s, "wwids");
    MEMBER(lun, s, "lun");
    if (spot_count(&targets) == 0 && spot_count(&wwids) == 0)
        say_required(&targets, "must specify either targetWWNs or wwids, but not both");
    if (spot_count(&targets) && spot_count(&wwids))
        say_invalid(&targets, "targetWWNs and wwids can not be specified simultaneously");
    if (spot_count(&targets) && !lun.v)
        say_required(&lun, "lun is required if targetWWNs is specified");
    else if (spot_count(&targets))
        in_range(&lun, &luns);
}

static void flocker(const struct spot *s, const void *unused)
{
    MEMBER(name, s, "datasetName");
    bool has_name = spot_text(&name).n > 0, has_id = member_text(s, "datasetUUID").n > 0;
    if (!has_name && !has_id)
        say_required(s, "one of datasetName and datasetUUID is required");
    if (has_name && has_id)
        say_invalid_str(s, STR("resource"),
                        "datasetName and datasetUUID can not be specified simultaneously");
    if (str_find_char(spot_text(&name), '/') >= 0)
        say_invalid_text(&name, "must not contain '/'");
}

/* host:port, [v6]:port */
static bool is_host_port(struct str s)
{
    struct str host, port;
    if (s.n && s.p[0] == '[') {
        ptrdiff_t end = str_find_char(s, ']');
        return end > 0 && (size_t)end + 1 < s.n && s.p[end + 1] == ':' &&
               str_find_char(str_slice(s, (size_t)end + 2, s.n), ':') < 0;
    }
    return str_cut(s, ':', &host, &port) && str_find_char(port, ':') < 0;
}

static void quobyte(const struct spot *s, const void *unused)
{
    static const char pairs[] = "must be a host:port pair or multiple pairs separated by commas";
    MEMBER(registry, s, "registry");
    MEMBER(tenant, s, "tenant");
    MEMBER(volume, s, "volume");
    if (spot_text(&registry).n == 0) {
        say_required(&registry, pairs);
    } else if (spot_text(&tenant).n >= 65) {
        say_required(&tenant, "must be a UUID and may not exceed a length of 64 characters");
    } else {
        struct str rest = spot_text(&registry), pair;
        for (bool more = true; more && !field_errors_full(s->errs);) {
            more = str_cut(rest, ',', &pair, &rest);
            if (!is_host_port(pair))
                say_invalid_text(&registry, pairs);
        }
    }
    need(&volume, NULL);
}

static void azure_disk(const struct spot *s, const void *unused)
{
    WORDS(modes, WORD("None"), WORD("ReadOnly"), WORD("ReadWrite"));
    WORDS(kinds, WORD("Dedicated"), WORD("Managed"), WORD("Shared"));
    WORDS(managed, WORD("/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                        "microsoft.compute/disks/{disk-id}"));
    WORDS(blob, WORD("https://{account-name}.blob.core.windows.net/{container-name}/"
                     "{disk-name}.vhd"));
    static const struct member_check members[] = { { "diskName", need, NULL },
                                                   { "diskURI", need, NULL },
                                                   { "cachingMode", one_of_or_none, &modes },
                                                   { "kind", one_of_or_none, &kinds } };
    MEMBER(uri, s, "diskURI");
    struct str kind = member_text(s, "kind");
    CHECK_MEMBERS(s, members);
    if (str_is(kind, "Managed") && !str_has_prefix(spot_text(&uri), STR("/subscriptions/")))
        say_unsupported(&uri, &managed);
    if (member_set(s, "kind") && !str_is(kind, "Managed") &&
        !str_has_prefix(spot_text(&uri), STR("https://")))
        say_unsupported(&uri, &blob);
}

static void host_path(const struct spot *s, const void *unused)
{
    WORDS(types, WORD(""), WORD("BlockDevice"), WORD("CharDevice"), WORD("Directory"),
          WORD("DirectoryOrCreate"), WORD("File"), WORD("FileOrCreate"), WORD("Socket"));
    static const struct member_check members[] = { { "path", a_path_no_backsteps, NULL },
                                                   { "type", one_of_or_none, &types } };
    MEMBER(path, s, "path");
    if (spot_text(&path).n == 0)
        say_required(&path, "");
    else
        CHECK_MEMBERS(s, members);
}

static void local_volume(const struct spot *s, const void *unused)
{
    MEMBER(path, s, "path");
    need_path_no_backsteps(&path, NULL);
}

static void csi_inline(const struct spot *s, const void *unused)
{
    MEMBER(driver, s, "driver");
    MEMBER(secret, s, "nodePublishSecretRef");
    csi_driver_name(&driver, NULL);
    secret_name(&secret, NULL);
    if (secret.v) {
        struct spot odd = spot_named(s, "name", json_getc(secret.v, "name"));
        a_subdomain(&odd, NULL);
    }
}

static void image_source(const struct spot *s, const void *is_pod)
{
    WORDS(policies, WORD("Always"), WORD("IfNotPresent"), WORD("Never"));
    MEMBER(reference, s, "reference");
    MEMBER(policy, s, "pullPolicy");
    if (is_pod)
        need(&reference, NULL);
    one_of(&policy, &policies);
}

/* ---- the downward API ---- */

WORDS(volume_fields, WORD("metadata.annotations"), WORD("metadata.labels"), WORD("metadata.name"),
      WORD("metadata.namespace"), WORD("metadata.uid"));

static void downward_file(const struct spot *s, const void *unused)
{
    MEMBER(path, s, "path");
    MEMBER(field, s, "fieldRef");
    MEMBER(resource, s, "resourceFieldRef");
    MEMBER(mode, s, "mode");
    need(&path, NULL);
    a_path_unreserved(&path, NULL);
    if (field.v) {
        field_reference(&field, &volume_fields);
        if (resource.v)
            say_invalid_str(s, STR("resource"),
                            "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (resource.v) {
        resource_reference(&resource, true);
    } else {
        say_required(s, "one of fieldRef and resourceFieldRef is required");
    }
    a_file_mode(&mode, NULL);
}

/* Upstream reports the files under the volume, without their index. */
static void downward_files(const struct spot *up, const struct json *items)
{
    json_each (item, items) {
        struct spot file = *up;
        file.v = item;
        downward_file(&file, NULL);
    }
}

static void downward_volume(const struct spot *s, const void *unused)
{
    MEMBER(mode, s, "defaultMode");
    a_file_mode(&mode, NULL);
    downward_files(s, json_getc(s->v, "items"));
}

/* ---- projected volumes ---- */

static void path_once(const struct spot *volume, struct map *paths, struct str path,
                      struct str shown)
{
    if (map_put(paths, path, paths))
        say_invalid_str(volume, shown, "conflicting duplicate paths");
}

static void projected_keys(const struct spot *source, const struct spot *volume, struct map *paths)
{
    MEMBER(name, source, "name");
    MEMBER(items, source, "items");
    need(&name, NULL);
    spot_each (item, i, &items) {
        key_to_path(&item, NULL);
        if (member_text(&item, "path").n)
            path_once(volume, paths, member_text(&item, "path"), spot_text(&name));
    }
}

static void projected_token(const struct spot *source, const struct spot *volume)
{
    MEMBER(expiration, source, "expirationSeconds");
    struct spot odd_path = spot_named(volume, "path", json_getc(source->v, "path"));
    if (spot_number(&expiration) < 10 * 60)
        say_invalid_number(&expiration, "may not specify a duration less than 10 minutes");
    if (spot_number(&expiration) > (int64_t)1 << 32)
        say_invalid_number(&expiration, "may not specify a duration larger than 2^32 seconds");
    need(&odd_path, NULL);
    if (spot_text(&odd_path).n)
        a_path_unreserved(&odd_path, NULL);
}

static void trust_bundle(const struct spot *source, const struct spot *volume, struct map *paths)
{
    MEMBER(name, source, "name");
    MEMBER(signer, source, "signerName");
    MEMBER(selector, source, "labelSelector");
    MEMBER(path, source, "path");
    if (name.v && signer.v) {
        say_invalid(source, "only one of name and signerName may be used");
    } else if (name.v) {
        need(&name, "must be a valid object name");
        if (selector.v)
            say_invalid_value(&selector, shown_selector(source->errs->a, selector.v),
                              "labelSelector must be unset if name is specified");
    } else if (signer.v) {
        need(&signer, "must be a valid signer name");
        label_selector(&selector, NULL);
    } else {
        say_required(source, "either name or signerName must be specified");
    }
    need(&path, NULL);
    a_path_unreserved(&path, NULL);
    path_once(volume, paths, spot_text(&path), spot_text(&path));
}

static void projected_source(const struct spot *source, const struct spot *volume,
                             struct map *paths)
{
    MEMBER(secret, source, "secret");
    MEMBER(config, source, "configMap");
    MEMBER(downward, source, "downwardAPI");
    MEMBER(token, source, "serviceAccountToken");
    MEMBER(bundle, source, "clusterTrustBundle");
    MEMBER(certificate, source, "podCertificate");
    if (secret.v)
        projected_keys(&secret, volume, paths);
    if (config.v)
        projected_keys(&config, volume, paths);
    json_each (item, json_getc(downward.v, "items")) {
        struct spot file = downward;
        struct str path = json_get_str(item, "path");
        file.v = item;
        downward_file(&file, NULL);
        if (path.n)
            path_once(volume, paths, path, path);
    }
    if (token.v)
        projected_token(&token, volume);
    if (bundle.v)
        trust_bundle(&bundle, volume, paths);
    if (!!secret.v + !!config.v + !!downward.v + !!token.v + !!bundle.v + !!certificate.v > 1)
        say_forbidden(source, "may not specify more than 1 volume type per source");
}

static void projected(const struct spot *s, const void *unused)
{
    struct map paths = { 0 };
    MEMBER(mode, s, "defaultMode");
    MEMBER(sources, s, "sources");
    a_file_mode(&mode, NULL);
    spot_each (source, i, &sources)
        projected_source(&source, s, &paths);
    map_fini(&paths);
}

/* ---- claims ---- */

WORDS(access_modes, WORD("ReadOnlyMany"), WORD("ReadWriteMany"), WORD("ReadWriteOnce"),
      WORD("ReadWriteOncePod"));
WORDS(volume_modes, WORD("Block"), WORD("Filesystem"));

void check_access_modes(const struct spot *s)
{
    bool once_pod = false, others = false;
    json_each (mode, s->v) {
        struct spot at = *s;
        at.v = mode;
        one_of_strictly(&at, &access_modes);
        bool is_once_pod = str_is(json_str(mode), "ReadWriteOncePod");
        once_pod = once_pod || is_once_pod;
        others = others || (!is_once_pod && words_has(&access_modes, json_str(mode)));
    }
    if (once_pod && others)
        say_forbidden(s, "may not use ReadWriteOncePod with other access modes");
}

static void data_source(const struct spot *s, const void *has_namespace)
{
    MEMBER(name, s, "name");
    MEMBER(kind, s, "kind");
    MEMBER(group, s, "apiGroup");
    MEMBER(ns, s, "namespace");
    if (!s->v)
        return;
    need(&name, NULL);
    need(&kind, NULL);
    if (spot_text(&group).n == 0 && !spot_is(&kind, "PersistentVolumeClaim"))
        say_invalid_str(s, spot_text(&kind),
                        "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    a_subdomain(&group, NULL);
    if (has_namespace)
        a_label(&ns, NULL);
}

static void storage_request(const struct spot *spec)
{
    MEMBER(resources, spec, "resources");
    const struct json *storage = json_path(resources.v, "requests", "storage", NULL);
    const struct json named = { .key = STR("storage"), .type = JSON_NULL };
    struct spot at = spot_key(&resources, &named);
    struct quantity q;
    at.v = storage;
    if (!spot_quantity(&at, &q))
        say_required(&at, "");
    else if (q.nano <= 0)
        say_invalid_text(&at, "must be greater than zero");
}

static bool same_source(const struct json *a, const struct json *b)
{
    return json_same(json_getc(a, "apiGroup"), json_getc(b, "apiGroup")) &&
           str_eq(json_get_str(a, "kind"), json_get_str(b, "kind")) &&
           str_eq(json_get_str(a, "name"), json_get_str(b, "name"));
}

void claim_spec(const struct spot *s)
{
    static const struct member_check sources[] = {
        { "storageClassName", a_subdomain, NULL },
        { "volumeMode", one_of_or_none, &volume_modes },
        { "dataSource", data_source, NULL },
        { "dataSourceRef", data_source, "namespace" },
    };
    MEMBER(modes, s, "accessModes");
    MEMBER(selector, s, "selector");
    MEMBER(source, s, "dataSource");
    MEMBER(reference, s, "dataSourceRef");
    MEMBER(attributes, s, "volumeAttributesClassName");
    if (spot_count(&modes) == 0)
        say_required(&modes, "at least 1 access mode is required");
    label_selector(&selector, NULL);
    check_access_modes(&modes);
    storage_request(s);
    CHECK_MEMBERS(s, sources);
    struct json *shown = json_new_object(s->errs->a); /* upstream shows a Go path: no members */
    if (source.v && member_text(&reference, "namespace").n)
        say_invalid_value(s, shown,
                          "may not be specified when dataSourceRef.namespace is "
                          "specified");
    else if (source.v && reference.v && !same_source(source.v, reference.v))
        say_invalid_value(s, shown, "must match dataSourceRef");
    a_subdomain(&attributes, NULL);
}

static void template_metadata(const struct spot *s)
{
    static const char *const owned[] = { "name",
                                         "generateName",
                                         "namespace",
                                         "selfLink",
                                         "uid",
                                         "resourceVersion",
                                         "generation",
                                         "creationTimestamp",
                                         "deletionTimestamp",
                                         "deletionGracePeriodSeconds",
                                         "ownerReferences",
                                         "finalizers",
                                         "managedFields" };
    static const struct member_check allowed[] = { { "annotations", annotations, NULL },
                                                   { "labels", labels, NULL } };
    CHECK_MEMBERS(s, allowed);
    for (size_t i = 0; i < ARRAY_LEN(owned); i++) {
        MEMBER(m, s, owned[i]);
        if (m.v)
            say_forbidden(&m, "cannot be set");
    }
}

static void ephemeral(const struct spot *s, const void *unused)
{
    MEMBER(template, s, "volumeClaimTemplate");
    MEMBER(metadata, &template, "metadata");
    MEMBER(spec, &template, "spec");
    if (!template.v) {
        say_required(&template, "");
        return;
    }
    template_metadata(&metadata);
    claim_spec(&spec);
}

/* ---- the sources, in the order in which upstream looks at them ---- */

#define TABLE(t) t, ARRAY_LEN(t)

static const struct member_check git_repo[] = { { "repository", need, NULL },
                                                { "directory", a_path_below, NULL } };
static const struct member_check gce_disk[] = { { "pdName", need, NULL },
                                                { "partition", disk_partition, NULL } };
static const struct member_check aws_disk[] = { { "volumeID", need, NULL },
                                                { "partition", disk_partition, NULL } };
static const struct member_check secret_volume[] = { { "secretName", need, NULL },
                                                     { "defaultMode", a_file_mode, NULL },
                                                     { "items", each, &keys_to_paths } };
static const struct member_check config_volume[] = { { "name", need, NULL },
                                                     { "defaultMode", a_file_mode, NULL },
                                                     { "items", each, &keys_to_paths } };
static const struct member_check nfs[] = { { "server", need, NULL },
                                           { "path", absolute_path, NULL } };
static const struct member_check glusterfs[] = { { "endpoints", need, NULL },
                                                 { "path", need, NULL } };
static const struct member_check claim_name[] = { { "claimName", need, NULL } };
static const struct member_check rbd[] = { { "monitors", need, NULL }, { "image", need, NULL } };
static const struct member_check cinder[] = { { "volumeID", need, NULL },
                                              { "secretRef", secret_name, NULL } };
static const struct member_check cinder_pv[] = { { "volumeID", need, NULL },
                                                 { "secretRef", secret_name_and_namespace, NULL } };
static const struct member_check cephfs[] = { { "monitors", need, NULL } };
static const struct member_check flex[] = { { "driver", need, NULL },
                                            { "options", flex_options, NULL } };
static const struct member_check azure_file[] = { { "secretName", need, NULL },
                                                  { "shareName", need, NULL } };
static const struct member_check vsphere[] = { { "volumePath", need, NULL } };
static const struct member_check photon[] = { { "pdID", need, NULL } };
static const struct member_check portworx[] = { { "volumeID", need, NULL } };
static const struct member_check scale_io[] = { { "gateway", need, NULL },
                                                { "system", need, NULL },
                                                { "volumeName", need, NULL } };
static const struct member_check storage_os[] = { { "volumeName", need_label, NULL },
                                                  { "volumeNamespace", a_label, NULL },
                                                  { "secretRef", secret_name, NULL } };
static const struct member_check storage_os_pv[] = { { "volumeName", need_label, NULL },
                                                     { "volumeNamespace", a_label, NULL },
                                                     { "secretRef", secret_name_and_namespace,
                                                       NULL } };
static const struct member_check csi_pv[] = {
    { "driver", csi_driver_name, NULL },
    { "volumeHandle", need, NULL },
    { "controllerPublishSecretRef", secret_reference, NULL },
    { "controllerExpandSecretRef", secret_reference, NULL },
    { "nodePublishSecretRef", secret_reference, NULL },
    { "nodeExpandSecretRef", secret_reference, NULL },
};
static const struct member_check empty_dir[] = { { "sizeLimit", size_limit, NULL } };

struct source {
    const char *name;
    const char *path;   /* reported under, NULL: name */
    const char *second; /* reported under when it is one too many, NULL: name */
    const struct member_check *members;
    size_t n_members;
    check_fn check; /* instead of members */
};

static const struct source pod_sources[] = {
    { "emptyDir", NULL, NULL, TABLE(empty_dir), NULL },
    { "hostPath", .check = host_path },
    { "gitRepo", NULL, NULL, TABLE(git_repo), NULL },
    { "gcePersistentDisk", "persistentDisk", NULL, TABLE(gce_disk), NULL },
    { "awsElasticBlockStore", NULL, NULL, TABLE(aws_disk), NULL },
    { "secret", NULL, NULL, TABLE(secret_volume), NULL },
    { "nfs", NULL, NULL, TABLE(nfs), NULL },
    { .name = "iscsi" }, /* takes the volume's name */
    { "glusterfs", NULL, NULL, TABLE(glusterfs), NULL },
    { "flocker", .check = flocker },
    { "persistentVolumeClaim", NULL, NULL, TABLE(claim_name), NULL },
    { "rbd", NULL, NULL, TABLE(rbd), NULL },
    { "cinder", NULL, NULL, TABLE(cinder), NULL },
    { "cephfs", NULL, "cephFS", TABLE(cephfs), NULL },
    { "quobyte", .check = quobyte },
    { "downwardAPI", NULL, "downwarAPI", NULL, 0, downward_volume },
    { "fc", .check = fc },
    { "flexVolume", NULL, NULL, TABLE(flex), NULL },
    { "configMap", NULL, NULL, TABLE(config_volume), NULL },
    { "azureFile", NULL, NULL, TABLE(azure_file), NULL },
    { "vsphereVolume", NULL, NULL, TABLE(vsphere), NULL },
    { "photonPersistentDisk", NULL, NULL, TABLE(photon), NULL },
    { "portworxVolume", NULL, NULL, TABLE(portworx), NULL },
    { "azureDisk", .check = azure_disk },
    { "storageos", NULL, NULL, TABLE(storage_os), NULL },
    { "projected", .check = projected },
    { "scaleIO", NULL, NULL, TABLE(scale_io), NULL },
    { "csi", .check = csi_inline },
    { "ephemeral", .check = ephemeral },
    { .name = "image" }, /* takes whether this is a pod */
};

/* What a PersistentVolume may be made of. */
static const struct source persistent_sources[] = {
    { "hostPath", .check = host_path },
    { "gcePersistentDisk", "persistentDisk", NULL, TABLE(gce_disk), NULL },
    { "awsElasticBlockStore", NULL, NULL, TABLE(aws_disk), NULL },
    { "glusterfs", NULL, NULL, TABLE(glusterfs), NULL },
    { "flocker", .check = flocker },
    { "nfs", NULL, NULL, TABLE(nfs), NULL },
    { "rbd", NULL, NULL, TABLE(rbd), NULL },
    { "quobyte", .check = quobyte },
    { "cephfs", NULL, "cephFS", TABLE(cephfs), NULL },
    { .name = "iscsi" },
    { "cinder", NULL, NULL, TABLE(cinder_pv), NULL },
    { "fc", .check = fc },
    { "flexVolume", NULL, NULL, TABLE(flex), NULL },
    { "azureFile", NULL, NULL, TABLE(azure_file), NULL },
    { "vsphereVolume", NULL, NULL, TABLE(vsphere), NULL },
    { "photonPersistentDisk", NULL, NULL, TABLE(photon), NULL },
    { "portworxVolume", NULL, NULL, TABLE(portworx), NULL },
    { "azureDisk", .check = azure_disk },
    { "scaleIO", NULL, NULL, TABLE(scale_io), NULL },
    { "local", .check = local_volume },
    { "storageos", NULL, NULL, TABLE(storage_os_pv), NULL },
    { "csi", NULL, NULL, TABLE(csi_pv), NULL },
};

#define ONE_TYPE "may not specify more than 1 volume type"

/* The next source that the volume has: false when it is one too many, which is reported. */
static bool source_allowed(const struct spot *volume, const struct source *source, bool have_one)
{
    if (!have_one)
        return true;
    struct spot second = spot_named(volume, source->second ? source->second : source->name, NULL);
    say_forbidden(&second, ONE_TYPE);
    return false;
}

/* persistent: the name of the PersistentVolume, NULL in a pod or template. */
static void check_source(const struct spot *volume, const struct source *source, bool is_pod,
                         const struct str *persistent)
{
    struct spot s = spot_named(volume, source->path ? source->path : source->name,
                               json_getc(volume->v, source->name));
    if (source->check)
        source->check(&s, NULL);
    else
        check_members(&s, source->members, source->n_members);
    if (str_is(str_of(source->name), "iscsi"))
        iscsi_source(&s, persistent);
    if (str_is(str_of(source->name), "image"))
        image_source(&s, is_pod ? source : NULL);
}

/* The claim made for an ephemeral volume needs a name that fits. */
static void ephemeral_claim_name(const struct spot *volume, struct str pod_name)
{
    MEMBER(name, volume, "name");
    if (pod_name.n == 0 || spot_text(&name).n == 0)
        return;
    const char *claim =
        say_text(volume, STR_FMT "-" STR_FMT, STR_ARG(pod_name), STR_ARG(spot_text(&name)));
    struct meta_problems p = meta_check_dns1123_subdomain(str_of(claim));
    for (size_t i = 0; i < p.n; i++)
        say_invalid_text(&name, say_text(volume, "PVC name \"%s\": %s", claim, p.text[i]));
}

static void volume_source(const struct spot *volume, struct str pod_name, bool is_pod)
{
    bool have_one = false;
    MEMBER(iscsi, volume, "iscsi");
    MEMBER(name, volume, "name");
    for (size_t i = 0; i < ARRAY_LEN(pod_sources); i++) {
        const struct source *source = &pod_sources[i];
        if (!member_set(volume, source->name))
            continue;
        bool allowed = source_allowed(volume, source, have_one);
        have_one = true;
        if (allowed) {
            check_source(volume, source, is_pod, NULL);
            if (str_is(str_of(source->name), "ephemeral"))
                ephemeral_claim_name(volume, pod_name);
        }
        if (str_is(str_of(source->name), "iscsi") && iscsi_too_long(&iscsi, spot_text(&name)))
            say_invalid_text(&name, ISCSI_TOO_LONG);
    }
    if (!have_one)
        say_required(volume, "must specify a volume type");
}

static void claims_made(const struct spot *list, struct str pod_name, struct map *ret)
{
    json_each (v, list->v)
        if (pod_name.n && json_is(json_getc(v, "ephemeral"), JSON_OBJECT))
            (void)map_put(ret,
                          str_of(say_text(list, STR_FMT "-" STR_FMT, STR_ARG(pod_name),
                                          STR_ARG(json_get_str(v, "name")))),
                          v);
}

void pod_volumes(const struct spot *list, struct str pod_name, bool is_pod, struct map *ret)
{
    struct map made = { 0 };
    claims_made(list, pod_name, &made);
    spot_each (volume, i, list) {
        MEMBER(name, &volume, "name");
        MEMBER(claim, &volume, "persistentVolumeClaim");
        MEMBER(claimed, &claim, "claimName");
        size_t before = errors_of(list->errs);
        volume_source(&volume, pod_name, is_pod);
        need_label(&name, NULL);
        if (map_has(ret, spot_text(&name)))
            say_duplicate_str(&name, spot_text(&name));
        if (errors_of(list->errs) == before)
            (void)map_put(ret, spot_text(&name), (void *)(uintptr_t)volume.v);
        if (claim.v && map_has(&made, spot_text(&claimed)))
            say_invalid_text(&claimed,
                             "must not reference a PVC that gets created for an ephemeral volume");
    }
    map_fini(&made);
}

/* ---- persistent volumes ---- */

static void gluster_namespace(const struct spot *s)
{
    MEMBER(ns, s, "endpointsNamespace");
    if (ns.v && spot_text(&ns).n == 0)
        say_invalid_text(&ns, "if the endpointnamespace is set, it must be a valid namespace name");
    a_label(&ns, NULL);
}

static void azure_namespace(const struct spot *s)
{
    MEMBER(ns, s, "secretNamespace");
    if (ns.v)
        need(&ns, NULL);
}

void persistent_volume_sources(const struct spot *spec, bool has_affinity, struct str name)
{
    bool have_one = false;
    MEMBER(node_affinity, spec, "nodeAffinity");
    for (size_t i = 0; i < ARRAY_LEN(persistent_sources); i++) {
        const struct source *source = &persistent_sources[i];
        struct str type = str_of(source->name);
        if (!member_set(spec, source->name) ||
            (!source_allowed(spec, source, have_one) && !str_is(type, "flexVolume")))
            continue;
        struct spot s = spot_named(spec, source->path ? source->path : source->name,
                                   json_getc(spec->v, source->name));
        have_one = true;
        check_source(spec, source, false, &name);
        if (str_is(type, "glusterfs"))
            gluster_namespace(&s);
        if (str_is(type, "azureFile"))
            azure_namespace(&s);
        if (str_is(type, "local") && !has_affinity)
            say_required(&node_affinity, "Local volume requires node affinity");
    }
    if (!have_one)
        say_required(spec, "must specify a volume type");
}
