/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approves the client certificates of nodes, as upstream's controller csrapproving: the user that
 * requests one needs the right to create certificatesigningrequests/nodeclient, or, for a
 * certificate of the same node, certificatesigningrequests/selfnodeclient.
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

const char *csr_auto_approval(const struct controllers *c, const struct json *obj, struct arena *a)
{
    struct x509_subject who;
    const struct json *spec = json_getc(obj, "spec");
    if (!str_is(json_get_str(spec, "signerName"), CSR_SIGNER_KUBELET) || csr_check(obj, a, &who))
        return NULL;
    const struct kube_identity id = identity_from_json(a, spec, "username");
    if (str_eq(id.user, who.common_name) && may(c, &id, "selfnodeclient"))
        return "Auto approving self kubelet client certificate after SubjectAccessReview.";
    if (may(c, &id, "nodeclient"))
        return "Auto approving kubelet client certificate after SubjectAccessReview.";
    return NULL;
}
