/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approves the client certificates of nodes, as upstream's controller csrapproving: the user that
 * requests one needs the right to create certificatesigningrequests/nodeclient, or, for a
 * certificate of the same node, certificatesigningrequests/selfnodeclient.
 *
 * Serving certificates, which upstream leaves to a person, are approved for a node that requests
 * one for nothing but its own name and the address that the request came from, and that may create
 * certificatesigningrequests/selfnodeserver (docs/decisions/serving-certificates.md).
 */
#include "api/controllers/csr.h"

#include "api/identity.h"
#include "api/permission.h"
#include "io/tls.h"

static bool may(const struct controllers *c, const struct kube_identity *id, const char *sub)
{
    const struct api_attributes at = { .identity = id,
                                       .is_resource = true,
                                       .verb = STR("create"),
                                       .group = STR("certificates.k8s.io"),
                                       .version = STR("*"),
                                       .resource = STR("certificatesigningrequests"),
                                       .subresource = str_of(sub) };
    return permission_has(c->api, &at, NULL);
}

static bool is_node(const struct kube_identity *id)
{
    for (size_t i = 0; i < id->n_groups; i++)
        if (str_is(id->groups[i], "system:nodes"))
            return str_has_prefix(id->user, STR("system:node:"));
    return false;
}

static bool may_serve(const struct controllers *c, const struct json *obj,
                      const struct x509_subject *who, const struct kube_identity *id)
{
    struct str origin = json_get_str(json_path(obj, "metadata", "annotations", NULL), CSR_ORIGIN);
    struct str name = str_slice(id->user, strlen("system:node:"), id->user.n);
    const struct str names[] = { name, origin };
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CSR_TEXT_MAX_BYTES);
    if (!is_node(id) || !str_eq(id->user, who->common_name))
        return false;
    if (str_is(origin, CSR_IN_PROCESS)) /* by code of this process, for this machine */
        return true;
    return origin.n && may(c, id, "selfnodeserver") && csr_text(obj, &pem) &&
           x509_request_names_are(buf_str(&pem), names, ARRAY_LEN(names));
}

const char *csr_auto_approval(const struct controllers *c, const struct json *obj, struct arena *a)
{
    struct x509_subject who;
    const struct json *spec = json_getc(obj, "spec");
    struct str signer = json_get_str(spec, "signerName");
    bool is_serving = str_is(signer, CSR_SIGNER_SERVING);
    if ((!is_serving && !str_is(signer, CSR_SIGNER_KUBELET)) || csr_check(obj, a, &who))
        return NULL;
    const struct kube_identity id = identity_from_json(a, spec, "username");
    if (is_serving)
        return may_serve(c, obj, &who, &id) ? "Auto approving the serving certificate of a node "
                                              "for its own name and address."
                                            : NULL;
    if (str_eq(id.user, who.common_name) && may(c, &id, "selfnodeclient"))
        return "Auto approving self kubelet client certificate after SubjectAccessReview.";
    if (may(c, &id, "nodeclient"))
        return "Auto approving kubelet client certificate after SubjectAccessReview.";
    return NULL;
}
