/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.k8s.io: requests for certificates, and bundles of them. Who asks for a certificate
 * is written into the request by the API server (api/csr.c), which knows the user.
 */
#include "codec/base64.h"
#include "io/tls.h"
#include "kube/kinds/kinds.h"
#include "kube/table.h"

#define GROUP "certificates.k8s.io"

/* ---- CertificateSigningRequest ---- */

/* What is asked for is fixed once it has been asked for. */
static void csr_prepare_update(struct arena *a, struct json *obj, const struct json *old)
{
    kind_keep(a, obj, old, "spec");
}

CELL(cell_signer, "", "spec", "signerName")
CELL(cell_requestor, "", "spec", "username")

static struct json *cell_duration(struct arena *a, const struct json *obj, int64_t now_s)
{
    int64_t seconds;
    (void)now_s;
    if (json_int(json_path(obj, "spec", "expirationSeconds", NULL), &seconds) < 0)
        return json_new_cstr(a, "<none>");
    return json_new_str(a, table_duration(a, seconds));
}

static struct json *cell_condition(struct arena *a, const struct json *obj, int64_t now_s)
{
    bool approved = false, denied = false, failed = false;
    (void)now_s;
    json_each (c, json_path(obj, "status", "conditions", NULL)) {
        struct str type = json_get_str(c, "type");
        approved = approved || str_is(type, "Approved");
        denied = denied || str_is(type, "Denied");
        failed = failed || str_is(type, "Failed");
    }
    bool issued = json_str(json_path(obj, "status", "certificate", NULL)).n > 0;
    return json_new_cstr(a, arena_printf(a, "%s%s%s",
                                         denied     ? "Denied"
                                         : approved ? "Approved"
                                                    : "Pending",
                                         failed ? ",Failed" : "", issued ? ",Issued" : ""));
}

static const struct kube_column csr_columns[] = {
    COLUMN_NAME,
    COLUMN_AGE,
    COLUMN("SignerName", "string", "Who shall sign.", 0, cell_signer),
    COLUMN("Requestor", "string", "Who has asked.", 0, cell_requestor),
    COLUMN("RequestedDuration", "string", "How long the certificate shall be valid.", 0,
           cell_duration),
    COLUMN("Condition", "string", "Whether it was approved, denied, issued.", 0, cell_condition),
};

static const struct kube_subresource csr_subresources[] = {
    SUBRESOURCE("approval", KUBE_GET | KUBE_PATCH | KUBE_UPDATE, GROUP,
                "CertificateSigningRequest"),
    SUBRESOURCE_STATUS(GROUP, "CertificateSigningRequest"),
};

enum { CSR_MIN_S = 600, CSR_MAX_BYTES = 64 << 10 };

static bool is_request(struct arena *a, struct str base64)
{
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_MAX_BYTES);
    struct x509_subject who;
    return base64_decode(&pem, base64, BASE64_LENIENT) == 0 &&
           x509_read_request(buf_str(&pem), a, &who, NULL) >= 0;
}

static void csr_validate(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath request = fpath_child(&up, STR("request")),
                 usages = fpath_child(&up, STR("usages")),
                 signer = fpath_child(&up, STR("signerName")),
                 expires = fpath_child(&up, STR("expirationSeconds"));
    const struct json *given = json_getc(spec, "request");
    const struct json *seconds = json_getc(spec, "expirationSeconds");
    if (old) /* the spec is the old one's */
        return;
    if (!is_request(errs->a, json_str(given)))
        field_error(errs, FIELD_INVALID, &request, given ? given : json_new_null(errs->a),
                    "PEM block type must be CERTIFICATE REQUEST");
    if (!json_first(json_getc(spec, "usages")))
        field_error(errs, FIELD_REQUIRED, &usages, NULL, "%s", "");
    if (json_get_str(spec, "signerName").n == 0)
        field_error(errs, FIELD_REQUIRED, &signer, NULL, "%s", "");
    if (json_is(seconds, JSON_NUMBER) && json_int_or(seconds, 0) < CSR_MIN_S)
        field_error(errs, FIELD_INVALID, &expires, seconds,
                    "may not specify a duration less than %d seconds (10 minutes)", CSR_MIN_S);
}

static const struct kube_strategy csr_strategy = { .prepare_create = kind_reset_status,
                                                   .fixed_spec = true,
                                                   .validate = csr_validate,
                                                   .prepare_update = csr_prepare_update,
                                                   .name_rule = KUBE_NAME_PATH_SEGMENT,
                                                   .unconditional_update = true };

/* ---- ClusterTrustBundle, PodCertificateRequest ---- */

static const struct kube_column bundle_columns[] = {
    COLUMN_NAME,
    COLUMN("SignerName", "string", "Whose certificates the bundle lets one trust.", 0, cell_signer),
};

static const struct kube_strategy bundle_strategy = { .name_rule = KUBE_NAME_PATH_SEGMENT };

static void pod_certificate_set_defaults(struct arena *a, struct json *obj)
{
    kind_default_int(a, json_getc(obj, "spec"), "maxExpirationSeconds", 86400);
}

static const struct kube_column pod_certificate_columns[] = { COLUMN_NAME, COLUMN_CREATED };

static const struct kube_subresource pod_certificate_subresources[] = {
    SUBRESOURCE_STATUS(GROUP, "PodCertificateRequest"),
};

static const struct kube_strategy pod_certificate_strategy = { .set_defaults =
                                                                   pod_certificate_set_defaults,
                                                               .prepare_create = kind_reset_status,
                                                               .prepare_update =
                                                                   csr_prepare_update };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "CertificateSigningRequest", "certificatesigningrequests",
            "certificatesigningrequest"),
      SHORT(S("csr")), .verbs = KUBE_VERBS_ALL, SUBRESOURCES(csr_subresources),
      .strategy = &csr_strategy, COLUMNS(csr_columns), SELECT(S("spec.signerName")) },
    { NAMES(GROUP, "v1", "ClusterTrustBundle", "clustertrustbundles", "clustertrustbundle"),
      .verbs = KUBE_VERBS_ALL, .strategy = &bundle_strategy, COLUMNS(bundle_columns),
      SELECT(S("spec.signerName")) },
    { NAMES(GROUP, "v1", "PodCertificateRequest", "podcertificaterequests",
            "podcertificaterequest"),
      .namespaced = true, .verbs = KUBE_VERBS_ALL, SUBRESOURCES(pod_certificate_subresources),
      .strategy = &pod_certificate_strategy, COLUMNS(pod_certificate_columns),
      SELECT(S("spec.nodeName"), S("spec.podName"), S("spec.signerName")) },
};

const struct kind_list kinds_certificates = { rows, ARRAY_LEN(rows) };
