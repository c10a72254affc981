/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes of pods, sources of PersistentVolumes and specs of claims. Each type of source is a row:
 * its member, the path in errors (upstream has a few that differ), its own members.
 */
#include "kube/rules/validate/check.h"

/* Generated from text/volumes.txt. */
#include "kube/rules/volumes_rules.h"

static const struct validate_range luns = { 0, 255 };

/* ---- members that several sources have ---- */

static void secret_name(const struct validate_value *s, const void *unused)
{
    MEMBER(name, s, "name");
    if (s->v)
        validate_required(&name, NULL);
}

static void secret_name_and_namespace(const struct validate_value *s, const void *unused)
{
    if (s->v)
        VALIDATE_MEMBERS(s, rules_secret_name_and_namespace);
}

static void secret_reference(const struct validate_value *s, const void *unused)
{
    if (s->v)
        VALIDATE_MEMBERS(s, rules_secret_reference);
}

static void key_to_path(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_key_to_path);
}

static void absolute_path(const struct validate_value *s, const void *unused)
{
    validate_required(s, NULL);
    if (!str_has_prefix(value_text(s), STR("/")))
        report_invalid_text(s, "must be an absolute path");
}

static void need_path_no_backsteps(const struct validate_value *s, const void *unused)
{
    validate_required(s, NULL);
    validate_path_no_backsteps(s, NULL);
}

void validate_csi_driver_name(const struct validate_value *s, const void *unused)
{
    enum { DRIVER_MAX_BYTES = 63 };
    struct str name = value_text(s);
    if (name.n == 0) {
        report_required(s, "");
        return;
    }
    if (name.n > DRIVER_MAX_BYTES)
        report_too_long(s, DRIVER_MAX_BYTES);
    report_problems(s, name, meta_check_dns1123_subdomain(str_lower_arena(s->errs->a, name)));
}

/* 0 is accepted, whatever the message says. */
static void disk_partition(const struct validate_value *s, const void *unused)
{
    if (value_number(s) < 0 || value_number(s) > 255)
        report_invalid(s, "must be between 1 and 255, inclusive");
}

static void size_limit(const struct validate_value *s, const void *unused)
{
    struct quantity q;
    if (value_quantity(s, &q) && q.nano < 0)
        report_forbidden(s, "SizeLimit field must be a valid resource quantity");
}

static void flex_options(const struct validate_value *s, const void *unused)
{
    json_each (option, s->v) {
        struct validate_value at = value_key(s, option);
        struct str domain, rest;
        (void)str_cut(option->key, '/', &domain, &rest);
        struct str dotted =
            str_of(report_text(s, "." STR_FMT, STR_ARG(str_lower_arena(s->errs->a, domain))));
        if (str_has_suffix(dotted, STR(".kubernetes.io")) || str_has_suffix(dotted, STR(".k8s.io")))
            report_invalid_str(&at, option->key,
                               "kubernetes.io and k8s.io namespaces are reserved");
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

/* odd: the error for a name that begins with none of the three. */
static void initiator(const struct validate_value *s, const char *odd)
{
    struct str name = value_text(s);
    if (!str_has_prefix(name, STR("iqn")) && !str_has_prefix(name, STR("eui")) &&
        !str_has_prefix(name, STR("naa")))
        report_invalid_text(s, odd);
    else if (!is_initiator(name))
        report_invalid_text(s, "must be valid format");
}

#define ISCSI_FORMAT "must be valid format starting with iqn, eui, or naa"
#define ISCSI_TOO_LONG                                                                             \
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "           \
    "iscsi.initiatorName is specified."

static bool iscsi_too_long(const struct validate_value *s, struct str name)
{
    return value_has(s, "initiatorName") &&
           name.n + 1 + value_member_text(s, "targetPortal").n > 64;
}

/* persistent: the name of the PersistentVolume, NULL in a pod. */
static void iscsi_source(const struct validate_value *s, const struct str *persistent)
{
    MEMBER(portal, s, "targetPortal");
    MEMBER(iqn, s, "iqn");
    MEMBER(lun, s, "lun");
    MEMBER(secret, s, "secretRef");
    const char *odd = persistent ? "must be valid format" : ISCSI_FORMAT;
    struct validate_value name = value_named(s, "initiatorname", json_getc(s->v, "initiatorName"));
    struct validate_value odd_portal = value_named(s, "targetportal", portal.v);
    validate_required(&portal, NULL);
    if (persistent && iscsi_too_long(s, *persistent))
        report_invalid_text(&odd_portal, ISCSI_TOO_LONG);
    if (value_text(&iqn).n == 0)
        report_required(&iqn, "");
    else
        initiator(&iqn, odd);
    validate_range(&lun, &luns);
    if ((value_member_bool(s, "chapAuthDiscovery") || value_member_bool(s, "chapAuthSession")) &&
        !secret.v)
        report_required(&secret, "");
    if (persistent)
        secret_name(&secret, NULL);
    if (name.v)
        initiator(&name, odd);
}

/* ---- sources that need more than a table ---- */

static void fc(const struct validate_value *s, const void *unused)
{
    MEMBER(targets, s, "targetWWNs");
    MEMBER(wwids, s, "wwids");
    MEMBER(lun, s, "lun");
    if (value_count(&targets) == 0 && value_count(&wwids) == 0)
        report_required(&targets, "must specify either targetWWNs or wwids, but not both");
    if (value_count(&targets) && value_count(&wwids))
        report_invalid(&targets, "targetWWNs and wwids can not be specified simultaneously");
    if (value_count(&targets) && !lun.v)
        report_required(&lun, "lun is required if targetWWNs is specified");
    else if (value_count(&targets))
        validate_range(&lun, &luns);
}

static void flocker(const struct validate_value *s, const void *unused)
{
    MEMBER(name, s, "datasetName");
    bool has_name = value_text(&name).n > 0, has_id = value_member_text(s, "datasetUUID").n > 0;
    if (!has_name && !has_id)
        report_required(s, "one of datasetName and datasetUUID is required");
    if (has_name && has_id)
        report_invalid_str(s, STR("resource"),
                           "datasetName and datasetUUID can not be specified simultaneously");
    if (str_find_char(value_text(&name), '/') >= 0)
        report_invalid_text(&name, "must not contain '/'");
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

static void quobyte(const struct validate_value *s, const void *unused)
{
    static const char pairs[] = "must be a host:port pair or multiple pairs separated by commas";
    MEMBER(registry, s, "registry");
    MEMBER(tenant, s, "tenant");
    MEMBER(volume, s, "volume");
    if (value_text(&registry).n == 0) {
        report_required(&registry, pairs);
    } else if (value_text(&tenant).n >= 65) {
        report_required(&tenant, "must be a UUID and may not exceed a length of 64 characters");
    } else {
        struct str rest = value_text(&registry), pair;
        for (bool more = true; more && !field_errors_full(s->errs);) {
            more = str_cut(rest, ',', &pair, &rest);
            if (!is_host_port(pair))
                report_invalid_text(&registry, pairs);
        }
    }
    validate_required(&volume, NULL);
}

static void azure_disk(const struct validate_value *s, const void *unused)
{
    MEMBER(uri, s, "diskURI");
    struct str kind = value_member_text(s, "kind");
    VALIDATE_MEMBERS(s, rules_azure_disk);
    if (str_is(kind, "Managed") && !str_has_prefix(value_text(&uri), STR("/subscriptions/")))
        report_not_supported(&uri, &enum_azure_disk_managed);
    if (value_has(s, "kind") && !str_is(kind, "Managed") &&
        !str_has_prefix(value_text(&uri), STR("https://")))
        report_not_supported(&uri, &enum_azure_disk_blob);
}

static void host_path(const struct validate_value *s, const void *unused)
{
    MEMBER(path, s, "path");
    if (value_text(&path).n == 0)
        report_required(&path, "");
    else
        VALIDATE_MEMBERS(s, rules_host_path);
}

static void local_volume(const struct validate_value *s, const void *unused)
{
    MEMBER(path, s, "path");
    need_path_no_backsteps(&path, NULL);
}

static void csi_inline(const struct validate_value *s, const void *unused)
{
    MEMBER(driver, s, "driver");
    MEMBER(secret, s, "nodePublishSecretRef");
    validate_csi_driver_name(&driver, NULL);
    secret_name(&secret, NULL);
    if (secret.v) {
        struct validate_value odd = value_named(s, "name", json_getc(secret.v, "name"));
        validate_subdomain_if_set(&odd, NULL);
    }
}

static void image_source(const struct validate_value *s, const void *is_pod)
{
    MEMBER(reference, s, "reference");
    MEMBER(policy, s, "pullPolicy");
    if (is_pod)
        validate_required(&reference, NULL);
    validate_enum(&policy, &enum_image_source_policies);
}

/* ---- the downward API ---- */

static void downward_file(const struct validate_value *s, const void *unused)
{
    MEMBER(path, s, "path");
    MEMBER(field, s, "fieldRef");
    MEMBER(resource, s, "resourceFieldRef");
    MEMBER(mode, s, "mode");
    validate_required(&path, NULL);
    validate_path_unreserved(&path, NULL);
    if (field.v) {
        validate_field_reference(&field, &enum_volume_fields);
        if (resource.v)
            report_invalid_str(s, STR("resource"),
                               "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (resource.v) {
        validate_resource_reference(&resource, true);
    } else {
        report_required(s, "one of fieldRef and resourceFieldRef is required");
    }
    validate_file_mode(&mode, NULL);
}

/* Upstream reports the files under the volume, without their index. */
static void downward_files(const struct validate_value *up, const struct json *items)
{
    json_each (item, items) {
        struct validate_value file = *up;
        file.v = item;
        downward_file(&file, NULL);
    }
}

static void downward_volume(const struct validate_value *s, const void *unused)
{
    MEMBER(mode, s, "defaultMode");
    validate_file_mode(&mode, NULL);
    downward_files(s, json_getc(s->v, "items"));
}

/* ---- projected volumes ---- */

static void path_once(const struct validate_value *volume, struct map *paths, struct str path,
                      struct str shown)
{
    if (map_put(paths, path, paths))
        report_invalid_str(volume, shown, "conflicting duplicate paths");
}

static void projected_keys(const struct validate_value *source, const struct validate_value *volume,
                           struct map *paths)
{
    MEMBER(name, source, "name");
    MEMBER(items, source, "items");
    validate_required(&name, NULL);
    value_each (item, i, &items) {
        key_to_path(&item, NULL);
        if (value_member_text(&item, "path").n)
            path_once(volume, paths, value_member_text(&item, "path"), value_text(&name));
    }
}

static void projected_token(const struct validate_value *source,
                            const struct validate_value *volume)
{
    MEMBER(expiration, source, "expirationSeconds");
    struct validate_value odd_path = value_named(volume, "path", json_getc(source->v, "path"));
    if (value_number(&expiration) < 10 * 60)
        report_invalid_number(&expiration, "may not specify a duration less than 10 minutes");
    if (value_number(&expiration) > (int64_t)1 << 32)
        report_invalid_number(&expiration, "may not specify a duration larger than 2^32 seconds");
    validate_required(&odd_path, NULL);
    if (value_text(&odd_path).n)
        validate_path_unreserved(&odd_path, NULL);
}

static void trust_bundle(const struct validate_value *source, const struct validate_value *volume,
                         struct map *paths)
{
    MEMBER(name, source, "name");
    MEMBER(signer, source, "signerName");
    MEMBER(selector, source, "labelSelector");
    MEMBER(path, source, "path");
    if (name.v && signer.v) {
        report_invalid(source, "only one of name and signerName may be used");
    } else if (name.v) {
        validate_required(&name, "must be a valid object name");
        if (selector.v)
            report_invalid_value(&selector, selector_shown(source->errs->a, selector.v),
                                 "labelSelector must be unset if name is specified");
    } else if (signer.v) {
        validate_required(&signer, "must be a valid signer name");
        validate_label_selector(&selector, NULL);
    } else {
        report_required(source, "either name or signerName must be specified");
    }
    validate_required(&path, NULL);
    validate_path_unreserved(&path, NULL);
    path_once(volume, paths, value_text(&path), value_text(&path));
}

static void projected_source(const struct validate_value *source,
                             const struct validate_value *volume, struct map *paths)
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
        struct validate_value file = downward;
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
        report_forbidden(source, "may not specify more than 1 volume type per source");
}

static void projected(const struct validate_value *s, const void *unused)
{
    struct map paths = { 0 };
    MEMBER(mode, s, "defaultMode");
    MEMBER(sources, s, "sources");
    validate_file_mode(&mode, NULL);
    value_each (source, i, &sources)
        projected_source(&source, s, &paths);
    map_fini(&paths);
}

/* ---- claims ---- */

void validate_access_modes(const struct validate_value *s)
{
    bool once_pod = false, others = false;
    json_each (mode, s->v) {
        struct validate_value at = *s;
        at.v = mode;
        validate_enum_strict(&at, &enum_access_modes);
        bool is_once_pod = str_is(json_str(mode), "ReadWriteOncePod");
        once_pod = once_pod || is_once_pod;
        others = others || (!is_once_pod && validate_enum_has(&enum_access_modes, json_str(mode)));
    }
    if (once_pod && others)
        report_forbidden(s, "may not use ReadWriteOncePod with other access modes");
}

static void data_source(const struct validate_value *s, const void *has_namespace)
{
    MEMBER(name, s, "name");
    MEMBER(kind, s, "kind");
    MEMBER(group, s, "apiGroup");
    MEMBER(ns, s, "namespace");
    if (!s->v)
        return;
    validate_required(&name, NULL);
    validate_required(&kind, NULL);
    if (value_text(&group).n == 0 && !value_is(&kind, "PersistentVolumeClaim"))
        report_invalid_str(s, value_text(&kind),
                           "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    validate_subdomain_if_set(&group, NULL);
    if (has_namespace)
        validate_label_if_set(&ns, NULL);
}

static void storage_request(const struct validate_value *spec)
{
    MEMBER(resources, spec, "resources");
    const struct json *storage = json_path(resources.v, "requests", "storage", NULL);
    const struct json named = { .key = STR("storage"), .type = JSON_NULL };
    struct validate_value at = value_key(&resources, &named);
    struct quantity q;
    at.v = storage;
    if (!value_quantity(&at, &q))
        report_required(&at, "");
    else if (q.nano <= 0)
        report_invalid_text(&at, "must be greater than zero");
}

static bool same_source(const struct json *a, const struct json *b)
{
    return value_same(json_getc(a, "apiGroup"), json_getc(b, "apiGroup")) &&
           str_eq(json_get_str(a, "kind"), json_get_str(b, "kind")) &&
           str_eq(json_get_str(a, "name"), json_get_str(b, "name"));
}

void validate_claim_spec(const struct validate_value *s)
{
    MEMBER(modes, s, "accessModes");
    MEMBER(selector, s, "selector");
    MEMBER(source, s, "dataSource");
    MEMBER(reference, s, "dataSourceRef");
    MEMBER(attributes, s, "volumeAttributesClassName");
    if (value_count(&modes) == 0)
        report_required(&modes, "at least 1 access mode is required");
    validate_label_selector(&selector, NULL);
    validate_access_modes(&modes);
    storage_request(s);
    VALIDATE_MEMBERS(s, rules_claim_spec_sources);
    struct json *shown = json_new_object(s->errs->a); /* upstream prints a Go path here: {} */
    if (source.v && value_member_text(&reference, "namespace").n)
        report_invalid_value(s, shown,
                             "may not be specified when dataSourceRef.namespace is "
                             "specified");
    else if (source.v && reference.v && !same_source(source.v, reference.v))
        report_invalid_value(s, shown, "must match dataSourceRef");
    validate_subdomain_if_set(&attributes, NULL);
}

static void template_metadata(const struct validate_value *s)
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
    VALIDATE_MEMBERS(s, rules_template_metadata_allowed);
    for (size_t i = 0; i < ARRAY_LEN(owned); i++) {
        MEMBER(m, s, owned[i]);
        if (m.v)
            report_forbidden(&m, "cannot be set");
    }
}

static void ephemeral(const struct validate_value *s, const void *unused)
{
    MEMBER(template, s, "volumeClaimTemplate");
    MEMBER(metadata, &template, "metadata");
    MEMBER(spec, &template, "spec");
    if (!template.v) {
        report_required(&template, "");
        return;
    }
    template_metadata(&metadata);
    validate_claim_spec(&spec);
}

/* ---- the sources, in the order in which upstream checks them ---- */

#define TABLE(t) t, ARRAY_LEN(t)

struct volumes_source {
    const char *name;
    const char *path;   /* path in errors, NULL: name */
    const char *second; /* path in errors when it is a second source, NULL: name */
    const struct validate_member *members;
    size_t n_members;
    validate_fn check; /* replaces members */
};

static const struct volumes_source pod_sources[] = {
    { "emptyDir", NULL, NULL, TABLE(rules_empty_dir), NULL },
    { "hostPath", .check = host_path },
    { "gitRepo", NULL, NULL, TABLE(rules_git_repo), NULL },
    { "gcePersistentDisk", "persistentDisk", NULL, TABLE(rules_gce_disk), NULL },
    { "awsElasticBlockStore", NULL, NULL, TABLE(rules_aws_disk), NULL },
    { "secret", NULL, NULL, TABLE(rules_secret_volume), NULL },
    { "nfs", NULL, NULL, TABLE(rules_nfs), NULL },
    { .name = "iscsi" }, /* checked in check_source(): needs the volume's name */
    { "glusterfs", NULL, NULL, TABLE(rules_glusterfs), NULL },
    { "flocker", .check = flocker },
    { "persistentVolumeClaim", NULL, NULL, TABLE(rules_claim_name), NULL },
    { "rbd", NULL, NULL, TABLE(rules_rbd), NULL },
    { "cinder", NULL, NULL, TABLE(rules_cinder), NULL },
    { "cephfs", NULL, "cephFS", TABLE(rules_cephfs), NULL },
    { "quobyte", .check = quobyte },
    { "downwardAPI", NULL, "downwarAPI", NULL, 0, downward_volume },
    { "fc", .check = fc },
    { "flexVolume", NULL, NULL, TABLE(rules_flex), NULL },
    { "configMap", NULL, NULL, TABLE(rules_config_volume), NULL },
    { "azureFile", NULL, NULL, TABLE(rules_azure_file), NULL },
    { "vsphereVolume", NULL, NULL, TABLE(rules_vsphere), NULL },
    { "photonPersistentDisk", NULL, NULL, TABLE(rules_photon), NULL },
    { "portworxVolume", NULL, NULL, TABLE(rules_portworx), NULL },
    { "azureDisk", .check = azure_disk },
    { "storageos", NULL, NULL, TABLE(rules_storage_os), NULL },
    { "projected", .check = projected },
    { "scaleIO", NULL, NULL, TABLE(rules_scale_io), NULL },
    { "csi", .check = csi_inline },
    { "ephemeral", .check = ephemeral },
    { .name = "image" }, /* checked in check_source(): needs is_pod */
};

/* Sources of a PersistentVolume. */
static const struct volumes_source persistent_sources[] = {
    { "hostPath", .check = host_path },
    { "gcePersistentDisk", "persistentDisk", NULL, TABLE(rules_gce_disk), NULL },
    { "awsElasticBlockStore", NULL, NULL, TABLE(rules_aws_disk), NULL },
    { "glusterfs", NULL, NULL, TABLE(rules_glusterfs), NULL },
    { "flocker", .check = flocker },
    { "nfs", NULL, NULL, TABLE(rules_nfs), NULL },
    { "rbd", NULL, NULL, TABLE(rules_rbd), NULL },
    { "quobyte", .check = quobyte },
    { "cephfs", NULL, "cephFS", TABLE(rules_cephfs), NULL },
    { .name = "iscsi" },
    { "cinder", NULL, NULL, TABLE(rules_cinder_pv), NULL },
    { "fc", .check = fc },
    { "flexVolume", NULL, NULL, TABLE(rules_flex), NULL },
    { "azureFile", NULL, NULL, TABLE(rules_azure_file), NULL },
    { "vsphereVolume", NULL, NULL, TABLE(rules_vsphere), NULL },
    { "photonPersistentDisk", NULL, NULL, TABLE(rules_photon), NULL },
    { "portworxVolume", NULL, NULL, TABLE(rules_portworx), NULL },
    { "azureDisk", .check = azure_disk },
    { "scaleIO", NULL, NULL, TABLE(rules_scale_io), NULL },
    { "local", .check = local_volume },
    { "storageos", NULL, NULL, TABLE(rules_storage_os_pv), NULL },
    { "csi", NULL, NULL, TABLE(rules_csi_pv), NULL },
};

#define ONE_TYPE "may not specify more than 1 volume type"

/* false: the volume has another source already, which is reported. */
static bool source_allowed(const struct validate_value *volume, const struct volumes_source *source,
                           bool have_one)
{
    if (!have_one)
        return true;
    struct validate_value second =
        value_named(volume, source->second ? source->second : source->name, NULL);
    report_forbidden(&second, ONE_TYPE);
    return false;
}

/* persistent: the name of the PersistentVolume, NULL in a pod or template. */
static void check_source(const struct validate_value *volume, const struct volumes_source *source,
                         bool is_pod, const struct str *persistent)
{
    struct validate_value s = value_named(volume, source->path ? source->path : source->name,
                                          json_getc(volume->v, source->name));
    if (source->check)
        source->check(&s, NULL);
    else
        validate_members(&s, source->members, source->n_members);
    if (str_is(str_of(source->name), "iscsi"))
        iscsi_source(&s, persistent);
    if (str_is(str_of(source->name), "image"))
        image_source(&s, is_pod ? source : NULL);
}

/* The name of the claim for an ephemeral volume must be valid. */
static void ephemeral_claim_name(const struct validate_value *volume, struct str pod_name)
{
    MEMBER(name, volume, "name");
    if (pod_name.n == 0 || value_text(&name).n == 0)
        return;
    const char *claim =
        report_text(volume, STR_FMT "-" STR_FMT, STR_ARG(pod_name), STR_ARG(value_text(&name)));
    struct meta_problems p = meta_check_dns1123_subdomain(str_of(claim));
    for (size_t i = 0; i < p.n; i++)
        report_invalid_text(&name, report_text(volume, "PVC name \"%s\": %s", claim, p.text[i]));
}

static void volume_source(const struct validate_value *volume, struct str pod_name, bool is_pod)
{
    bool have_one = false;
    MEMBER(iscsi, volume, "iscsi");
    MEMBER(name, volume, "name");
    for (size_t i = 0; i < ARRAY_LEN(pod_sources); i++) {
        const struct volumes_source *source = &pod_sources[i];
        if (!value_has(volume, source->name))
            continue;
        bool allowed = source_allowed(volume, source, have_one);
        have_one = true;
        if (allowed) {
            check_source(volume, source, is_pod, NULL);
            if (str_is(str_of(source->name), "ephemeral"))
                ephemeral_claim_name(volume, pod_name);
        }
        if (str_is(str_of(source->name), "iscsi") && iscsi_too_long(&iscsi, value_text(&name)))
            report_invalid_text(&name, ISCSI_TOO_LONG);
    }
    if (!have_one)
        report_required(volume, "must specify a volume type");
}

static void claims_made(const struct validate_value *list, struct str pod_name, struct map *ret)
{
    json_each (v, list->v)
        if (pod_name.n && json_is(json_getc(v, "ephemeral"), JSON_OBJECT))
            (void)map_put(ret,
                          str_of(report_text(list, STR_FMT "-" STR_FMT, STR_ARG(pod_name),
                                             STR_ARG(json_get_str(v, "name")))),
                          v);
}

void validate_volumes(const struct validate_value *list, struct str pod_name, bool is_pod,
                      struct map *ret)
{
    struct map made = { 0 };
    claims_made(list, pod_name, &made);
    value_each (volume, i, list) {
        MEMBER(name, &volume, "name");
        MEMBER(claim, &volume, "persistentVolumeClaim");
        MEMBER(claimed, &claim, "claimName");
        size_t before = report_count(list->errs);
        volume_source(&volume, pod_name, is_pod);
        validate_required_label(&name, NULL);
        if (map_has(ret, value_text(&name)))
            report_duplicate_str(&name, value_text(&name));
        if (report_count(list->errs) == before)
            (void)map_put(ret, value_text(&name), (void *)(uintptr_t)volume.v);
        if (claim.v && map_has(&made, value_text(&claimed)))
            report_invalid_text(
                &claimed, "must not reference a PVC that gets created for an ephemeral volume");
    }
    map_fini(&made);
}

/* ---- persistent volumes ---- */

static void gluster_namespace(const struct validate_value *s)
{
    MEMBER(ns, s, "endpointsNamespace");
    if (ns.v && value_text(&ns).n == 0)
        report_invalid_text(&ns,
                            "if the endpointnamespace is set, it must be a valid namespace name");
    validate_label_if_set(&ns, NULL);
}

static void azure_namespace(const struct validate_value *s)
{
    MEMBER(ns, s, "secretNamespace");
    if (ns.v)
        validate_required(&ns, NULL);
}

void validate_persistent_volume_sources(const struct validate_value *spec, bool has_affinity,
                                        struct str name)
{
    bool have_one = false;
    MEMBER(node_affinity, spec, "nodeAffinity");
    for (size_t i = 0; i < ARRAY_LEN(persistent_sources); i++) {
        const struct volumes_source *source = &persistent_sources[i];
        struct str type = str_of(source->name);
        if (!value_has(spec, source->name) ||
            (!source_allowed(spec, source, have_one) && !str_is(type, "flexVolume")))
            continue;
        struct validate_value s = value_named(spec, source->path ? source->path : source->name,
                                              json_getc(spec->v, source->name));
        have_one = true;
        check_source(spec, source, false, &name);
        if (str_is(type, "glusterfs"))
            gluster_namespace(&s);
        if (str_is(type, "azureFile"))
            azure_namespace(&s);
        if (str_is(type, "local") && !has_affinity)
            report_required(&node_affinity, "Local volume requires node affinity");
    }
    if (!have_one)
        report_required(spec, "must specify a volume type");
}
