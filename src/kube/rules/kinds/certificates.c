/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.k8s.io: certificate signing requests and trust bundles. The API server (api/csr.c)
 * adds the requesting user to a request.
 */
#include "codec/base64.h"
#include "io/tls.h"
#include "kube/model/meta.h"
#include "kube/model/table.h"
#include "kube/rules/kinds/kinds.h"

#define GROUP "certificates.k8s.io"

/* ---- CertificateSigningRequest ---- */

/* The spec of a request cannot change. */
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

static bool is_known(const struct str *list, size_t n, struct str s)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], s))
            return true;
    return false;
}

static bool comes_before(const struct json *list, const struct json *item)
{
    json_each (x, list) {
        if (x == item)
            return false;
        if (json_equal(x, item))
            return true;
    }
    return false;
}

static void check_usages(const struct json *list, const struct fpath *at, struct field_errors *errs)
{
    static const struct str known[] = { S("any"),
                                        S("cert sign"),
                                        S("client auth"),
                                        S("code signing"),
                                        S("content commitment"),
                                        S("crl sign"),
                                        S("data encipherment"),
                                        S("decipher only"),
                                        S("digital signature"),
                                        S("email protection"),
                                        S("encipher only"),
                                        S("ipsec end system"),
                                        S("ipsec tunnel"),
                                        S("ipsec user"),
                                        S("key agreement"),
                                        S("key encipherment"),
                                        S("microsoft sgc"),
                                        S("netscape sgc"),
                                        S("ocsp signing"),
                                        S("s/mime"),
                                        S("server auth"),
                                        S("signing"),
                                        S("timestamping") };
    size_t i = 0;
    if (!json_first(list))
        field_error(errs, FIELD_REQUIRED, at, NULL, "%s", "");
    json_each (x, list) {
        struct fpath here = fpath_index(at, i++);
        if (!is_known(known, ARRAY_LEN(known), json_str(x)))
            field_error_enum(errs, &here, x, known, ARRAY_LEN(known));
    }
    i = 0;
    json_each (x, list) {
        struct fpath here = fpath_index(at, i++);
        if (comes_before(list, x))
            field_error(errs, FIELD_DUPLICATE, &here, x, "%s", "");
    }
}

/* Checks each label between dots by the rule; reports the first invalid one. */
static void check_labels(struct str text, meta_rule rule, const struct fpath *at,
                         struct field_errors *errs)
{
    struct str whole = text;
    for (bool more = true; more;) {
        struct str label;
        more = str_cut(text, '.', &label, &text);
        struct meta_problems p = rule(label);
        for (size_t i = 0; i < p.n; i++)
            field_error_str(errs, FIELD_INVALID, at, whole, "validating label \"" STR_FMT "\": %s",
                            STR_ARG(label), p.text[i]);
        if (p.n)
            return;
    }
}

/* "example.com/signer" */
static void check_signer_name(const struct json *name, const struct fpath *at,
                              struct field_errors *errs)
{
    struct str s = json_str(name), domain, path;
    if (s.n == 0) {
        field_error(errs, FIELD_REQUIRED, at, NULL, "%s", "");
    } else if (str_is(s, "kubernetes.io/legacy-unknown")) {
        field_error(errs, FIELD_INVALID, at, name,
                    "the legacy signerName is not allowed via this API version");
    } else if (!str_cut(s, '/', &domain, &path) || str_find_char(path, '/') >= 0) {
        field_error(errs, FIELD_INVALID, at, name,
                    "must be a fully qualified domain and path of the form "
                    "'example.com/signer-name'");
    } else {
        check_labels(domain, meta_check_dns1123_label, at, errs);
        if (str_find_char(domain, '.') < 0)
            field_error_str(errs, FIELD_INVALID, at, domain,
                            "should be a domain with at least two segments separated by dots");
        check_labels(path, meta_check_dns1123_subdomain, at, errs);
    }
}

/* Approved, Denied and Failed are true or absent. */
static void check_conditions(const struct json *list, struct field_errors *errs)
{
    static const struct str all[] = { S("False"), S("True"), S("Unknown") }, only[] = { S("True") };
    struct fpath up = fpath_child(NULL, STR("status")), at = fpath_child(&up, STR("conditions"));
    size_t i = 0;
    json_each (c, list) {
        struct fpath item = fpath_index(&at, i++), type_at = fpath_child(&item, STR("type")),
                     status_at = fpath_child(&item, STR("status"));
        const struct json *type = json_getc(c, "type"), *status = json_getc(c, "status");
        struct str t = json_str(type);
        bool lasting = str_is(t, "Approved") || str_is(t, "Denied") || str_is(t, "Failed");
        const struct str *known = lasting ? only : all;
        size_t n = lasting ? ARRAY_LEN(only) : ARRAY_LEN(all);
        if (t.n == 0)
            field_error(errs, FIELD_REQUIRED, &type_at, NULL, "%s", "");
        if (json_str(status).n == 0)
            field_error(errs, FIELD_REQUIRED, &status_at, NULL, "%s", "");
        else if (!is_known(known, n, json_str(status)))
            field_error_enum(errs, &status_at, status, known, n);
        json_each (before, list) {
            if (before == c)
                break;
            if (!str_eq(json_get_str(before, "type"), t))
                continue;
            field_error(errs, FIELD_DUPLICATE, &type_at, type, "%s", "");
            break;
        }
    }
}

/* An issued certificate must not change. */
static void check_certificate(const struct json *obj, const struct json *old,
                              struct field_errors *errs)
{
    struct fpath up = fpath_child(NULL, STR("status")), at = fpath_child(&up, STR("certificate"));
    struct str before = json_str(json_path(old, "status", "certificate", NULL));
    if (before.n && !str_eq(before, json_str(json_path(obj, "status", "certificate", NULL))))
        field_error(errs, FIELD_FORBIDDEN, &at, NULL,
                    "updates may not modify existing certificate content");
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
    if (old) { /* the spec is taken from the old object */
        check_conditions(json_path(obj, "status", "conditions", NULL), errs);
        check_certificate(obj, old, errs);
        return;
    }
    if (!is_request(errs->a, json_str(given)))
        field_error(errs, FIELD_INVALID, &request, given ? given : json_new_null(errs->a),
                    "PEM block type must be CERTIFICATE REQUEST");
    check_usages(json_getc(spec, "usages"), &usages, errs);
    check_signer_name(json_getc(spec, "signerName"), &signer, errs);
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

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "CertificateSigningRequest", "certificatesigningrequests",
            "certificatesigningrequest"),
      SHORT(S("csr")), .verbs = KUBE_VERBS_ALL, SUBRESOURCES(csr_subresources),
      .strategy = &csr_strategy, COLUMNS(csr_columns), SELECT(S("spec.signerName")) },
};

const struct kind_list kinds_certificates = { rows, ARRAY_LEN(rows) };
