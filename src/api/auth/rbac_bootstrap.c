/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Default roles and bindings; see rbac_bootstrap.h. The table is text, because text needs no
 * relocation and is read only once, at start:
 *
 *     role NAME [to=LEVEL] [from=LEVEL]     a ClusterRole; aggregated to / from that level
 *     controller NAME                       ClusterRole system:controller:NAME, bound to the
 *                                           ServiceAccount of that name in kube-system
 *     local NAMESPACE NAME                  a Role
 *      VERBS GROUPS RESOURCES [NAMES]       a rule of the last role; comma-separated lists
 *      VERBS @ URLS
 *     bind NAME ROLE SUBJECT...             a ClusterRoleBinding
 *     localbind NAMESPACE NAME ROLE SUBJECT...
 *
 * The core group is written "core". Verbs: R get, list, watch; W create, delete, deletecollection,
 * patch, update; E create, patch, update. Subjects: U:user, G:group, S:namespace/account.
 */
#include "api/auth/rbac_bootstrap.h"

#include <assert.h>

static const char table[] =
    "role cluster-admin\n"
    " * * *\n"
    " * @ *\n"
    "role system:discovery\n"
    " get @ /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,"
    "/version/\n"
    "role system:monitoring\n"
    " get @ /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,"
    "/readyz/*,/statusz\n"
    " get core nodes/metrics\n"
    "role system:basic-user\n"
    " create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews\n"
    " create authentication.k8s.io selfsubjectreviews\n"
    "role system:public-info-viewer\n"
    " get @ /healthz,/livez,/readyz,/version,/version/\n"

    /* ---- rights within a namespace ---- */
    "role admin from=admin\n"
    "role edit to=admin from=edit\n"
    "role view to=edit from=view\n"
    "role system:aggregate-to-admin to=admin\n"
    " create authorization.k8s.io localsubjectaccessreviews\n"
    " R,W rbac.authorization.k8s.io rolebindings,roles\n"
    "role system:aggregate-to-edit to=edit\n"
    " R core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy\n"
    " impersonate core serviceaccounts\n"
    " W core pods,pods/attach,pods/exec,pods/portforward,pods/proxy\n"
    " create core pods/eviction\n"
    " W core configmaps,persistentvolumeclaims,replicationcontrollers,"
    "replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy\n"
    " create core serviceaccounts/token\n"
    " W core,events.k8s.io events\n"
    " W apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,"
    "replicasets/scale,statefulsets,statefulsets/scale\n"
    " W autoscaling horizontalpodautoscalers\n"
    " W batch cronjobs,jobs\n"
    " W extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,"
    "networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale\n"
    " W policy poddisruptionbudgets\n"
    " W networking.k8s.io ingresses,networkpolicies\n"
    " R,W coordination.k8s.io leases\n"
    " W resource.k8s.io resourceclaims,resourceclaimtemplates\n"
    "role system:aggregate-to-view to=view\n"
    " R core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,"
    "replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,"
    "services/status\n"
    " R core bindings,limitranges,namespaces/status,pods/log,pods/status,"
    "replicationcontrollers/status,resourcequotas,resourcequotas/status\n"
    " R core namespaces\n"
    " R core,events.k8s.io events\n"
    " R discovery.k8s.io endpointslices\n"
    " R apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,"
    "deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,"
    "statefulsets/scale,statefulsets/status\n"
    " R autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status\n"
    " R batch cronjobs,cronjobs/status,jobs,jobs/status\n"
    " R extensions daemonsets,daemonsets/status,deployments,deployments/scale,"
    "deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,"
    "replicasets/scale,replicasets/status,replicationcontrollers/scale\n"
    " R policy poddisruptionbudgets,poddisruptionbudgets/status\n"
    " R networking.k8s.io ingresses,ingresses/status,networkpolicies\n"
    " R resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates\n"
    "role system:aggregated-metrics-reader to=view\n"
    " R metrics.k8s.io nodes,pods\n"

    /* ---- components of a cluster ---- */
    "role system:heapster\n"
    " R core events,namespaces,nodes,pods\n"
    " R extensions deployments\n"
    "role system:node\n"
    " create authentication.k8s.io tokenreviews\n"
    " create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews\n"
    " R core services\n"
    " R,create core nodes\n"
    " patch,update core nodes/status\n"
    " patch,update core nodes\n"
    " E core,events.k8s.io events\n"
    " R core pods\n"
    " create,delete core pods\n"
    " patch,update core pods/status\n"
    " create core pods/eviction\n"
    " R core configmaps,secrets\n"
    " get core persistentvolumeclaims,persistentvolumes\n"
    " get core endpoints\n"
    " R,create certificates.k8s.io certificatesigningrequests\n"
    " E,delete,get coordination.k8s.io leases\n"
    " get storage.k8s.io volumeattachments\n"
    " create core serviceaccounts/token\n"
    " get,patch,update core persistentvolumeclaims/status\n"
    " R storage.k8s.io csidrivers\n"
    " E,delete,get storage.k8s.io csinodes\n"
    " R node.k8s.io runtimeclasses\n"
    " get resource.k8s.io resourceclaims\n"
    " deletecollection resource.k8s.io resourceslices\n"
    " get core serviceaccounts\n"
    "role system:node-problem-detector\n"
    " get core nodes\n"
    " patch core nodes/status\n"
    " E core,events.k8s.io events\n"
    "role system:kubelet-api-admin\n"
    " R core nodes\n"
    " proxy core nodes\n"
    " * core nodes/log,nodes/metrics,nodes/proxy,nodes/stats\n"
    " * core nodes/configz,nodes/healthz,nodes/pods\n"
    "role system:node-bootstrapper\n"
    " R,create certificates.k8s.io certificatesigningrequests\n"
    "role system:auth-delegator\n"
    " create authentication.k8s.io tokenreviews\n"
    " create authorization.k8s.io subjectaccessreviews\n"
    "role system:kube-aggregator\n"
    " R core endpoints,services\n"
    "role system:kube-controller-manager\n"
    " E core,events.k8s.io events\n"
    " create coordination.k8s.io leases\n"
    " get,update coordination.k8s.io leases kube-controller-manager\n"
    " create core secrets,serviceaccounts\n"
    " delete core secrets\n"
    " get core configmaps,namespaces,secrets,serviceaccounts\n"
    " update core secrets,serviceaccounts\n"
    " create authentication.k8s.io tokenreviews\n"
    " create authorization.k8s.io subjectaccessreviews\n"
    " list,watch * *\n"
    " create core serviceaccounts/token\n"
    "role system:kube-dns\n"
    " list,watch core endpoints,services\n"
    "role system:persistent-volume-provisioner\n"
    " R,create,delete core persistentvolumes\n"
    " R,update core persistentvolumeclaims\n"
    " R storage.k8s.io storageclasses\n"
    " watch core events\n"
    " E core,events.k8s.io events\n"
    "role system:volume-scheduler\n"
    " R,patch,update core persistentvolumes\n"
    " R storage.k8s.io storageclasses\n"
    " R,patch,update core persistentvolumeclaims\n"
    "role system:node-proxier\n"
    " list,watch core endpoints,services\n"
    " R core nodes\n"
    " E core,events.k8s.io events\n"
    " list,watch networking.k8s.io servicecidrs\n"
    " list,watch discovery.k8s.io endpointslices\n"
    "role system:kube-scheduler\n"
    " E core,events.k8s.io events\n"
    " create coordination.k8s.io leases\n"
    " R,update coordination.k8s.io leases kube-scheduler\n"
    " R,W coordination.k8s.io leasecandidates\n"
    " R core nodes\n"
    " R,delete core pods\n"
    " create core bindings,pods/binding\n"
    " patch,update core pods/status\n"
    " R core replicationcontrollers,services\n"
    " R apps,extensions replicasets\n"
    " R apps statefulsets\n"
    " R policy poddisruptionbudgets\n"
    " R core persistentvolumeclaims,persistentvolumes\n"
    " create authentication.k8s.io tokenreviews\n"
    " create authorization.k8s.io subjectaccessreviews\n"
    " R storage.k8s.io csinodes\n"
    " R storage.k8s.io volumeattachments\n"
    " R core namespaces\n"
    " R storage.k8s.io csidrivers\n"
    " R storage.k8s.io csistoragecapacities\n"
    " R resource.k8s.io deviceclasses\n"
    " R,patch,update resource.k8s.io resourceclaims\n"
    " R,patch,update resource.k8s.io resourceclaims/status\n"
    " update core pods/finalizers\n"
    " R resource.k8s.io resourceslices\n"
    " create,delete resource.k8s.io resourceclaims\n"
    " patch,update resource.k8s.io resourceclaims/binding\n"
    "role dormouse:scheduler\n"
    " R dormouse.dev nodeimagestates\n"
    "role " RBAC_NODE_ROUTES "\n"
    " R core nodes\n"
    " R core services\n"
    " R discovery.k8s.io endpointslices\n"
    "role system:service-account-issuer-discovery\n"
    " get @ /.well-known/openid-configuration,/.well-known/openid-configuration/,"
    "/openid/v1/jwks,/openid/v1/jwks/\n"

    /* ---- certificates ---- */
    "role system:certificates.k8s.io:certificatesigningrequests:nodeclient\n"
    " create certificates.k8s.io certificatesigningrequests/nodeclient\n"
    "role system:certificates.k8s.io:certificatesigningrequests:selfnodeclient\n"
    " create certificates.k8s.io certificatesigningrequests/selfnodeclient\n"
    "role system:certificates.k8s.io:legacy-unknown-approver\n"
    " approve certificates.k8s.io signers kubernetes.io/legacy-unknown\n"
    "role system:certificates.k8s.io:kubelet-serving-approver\n"
    " approve certificates.k8s.io signers kubernetes.io/kubelet-serving\n"
    "role system:certificates.k8s.io:kube-apiserver-client-approver\n"
    " approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client\n"
    "role system:certificates.k8s.io:kube-apiserver-client-kubelet-approver\n"
    " approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet\n"

    /* ---- controllers ---- */
    "controller attachdetach-controller\n"
    " list,watch core persistentvolumeclaims,persistentvolumes\n"
    " R core nodes\n"
    " patch,update core nodes/status\n"
    " list,watch core pods\n"
    " E core,events.k8s.io events\n"
    " R,create,delete storage.k8s.io volumeattachments\n"
    " R storage.k8s.io csidrivers\n"
    " R storage.k8s.io csinodes\n"
    "controller clusterrole-aggregation-controller\n"
    " R,escalate,patch,update rbac.authorization.k8s.io clusterroles\n"
    "controller cronjob-controller\n"
    " R,update batch cronjobs\n"
    " R,E,delete batch jobs\n"
    " update batch cronjobs/status\n"
    " update batch cronjobs/finalizers\n"
    " delete,list,watch core pods\n"
    " E core,events.k8s.io events\n"
    "controller daemon-set-controller\n"
    " R apps,extensions daemonsets\n"
    " update apps,extensions daemonsets/status\n"
    " update apps,extensions daemonsets/finalizers\n"
    " list,watch core nodes\n"
    " create,delete,list,patch,watch core pods\n"
    " create core pods/binding\n"
    " R,E,delete apps controllerrevisions\n"
    " E core,events.k8s.io events\n"
    "controller deployment-controller\n"
    " R,update apps,extensions deployments\n"
    " update apps,extensions deployments/status\n"
    " update apps,extensions deployments/finalizers\n"
    " R,E,delete apps,extensions replicasets\n"
    " R,update core pods\n"
    " E core,events.k8s.io events\n"
    "controller disruption-controller\n"
    " R apps,extensions deployments\n"
    " R apps,extensions replicasets\n"
    " R core replicationcontrollers\n"
    " R policy poddisruptionbudgets\n"
    " R apps statefulsets\n"
    " update policy poddisruptionbudgets/status\n"
    " patch,update core pods/status\n"
    " get * */scale\n"
    " E core,events.k8s.io events\n"
    "controller endpoint-controller\n"
    " R core pods,services\n"
    " R,create,delete,update core endpoints\n"
    " create core endpoints/restricted\n"
    " E core,events.k8s.io events\n"
    "controller endpointslice-controller\n"
    " R core nodes,pods,services\n"
    " update core services/finalizers\n"
    " R,create,delete,update discovery.k8s.io endpointslices\n"
    " E core,events.k8s.io events\n"
    "controller endpointslicemirroring-controller\n"
    " R core endpoints,services\n"
    " update core services/finalizers\n"
    " update core endpoints/finalizers\n"
    " R,create,delete,update discovery.k8s.io endpointslices\n"
    " E core,events.k8s.io events\n"
    "controller expand-controller\n"
    " R,patch,update core persistentvolumes\n"
    " patch,update core persistentvolumeclaims/status\n"
    " R core persistentvolumeclaims\n"
    " E core,events.k8s.io events\n"
    "controller ephemeral-volume-controller\n"
    " R core pods\n"
    " update core pods/finalizers\n"
    " R,create core persistentvolumeclaims\n"
    " E core,events.k8s.io events\n"
    "controller generic-garbage-collector\n"
    " R,delete,patch,update * *\n"
    " E core,events.k8s.io events\n"
    "controller horizontal-pod-autoscaler\n"
    " R autoscaling horizontalpodautoscalers\n"
    " update autoscaling horizontalpodautoscalers/status\n"
    " get,update * */scale\n"
    " list,watch core pods\n"
    " list,watch metrics.k8s.io pods\n"
    " R custom.metrics.k8s.io *\n"
    " R external.metrics.k8s.io *\n"
    " E core,events.k8s.io events\n"
    "controller job-controller\n"
    " R,patch,update batch jobs\n"
    " update batch jobs/status\n"
    " update batch jobs/finalizers\n"
    " create,delete,list,patch,watch core pods\n"
    " E core,events.k8s.io events\n"
    "controller namespace-controller\n"
    " R,delete core namespaces\n"
    " update core namespaces/finalize,namespaces/status\n"
    " R,delete,deletecollection * *\n"
    "controller node-controller\n"
    " R,delete,patch,update core nodes\n"
    " patch,update core nodes/status\n"
    " patch,update core pods/status\n"
    " R,delete core pods\n"
    " E core,events.k8s.io events\n"
    "controller persistent-volume-binder\n"
    " R,create,delete,update core persistentvolumes\n"
    " update core persistentvolumes/status\n"
    " R,update core persistentvolumeclaims\n"
    " update core persistentvolumeclaims/status\n"
    " R,create,delete core pods\n"
    " R storage.k8s.io storageclasses\n"
    " list,watch core nodes\n"
    " E core,events.k8s.io events\n"
    " watch core events\n"
    "controller pod-garbage-collector\n"
    " delete,list,watch core pods\n"
    " R core nodes\n"
    " patch core pods/status\n"
    "controller replicaset-controller\n"
    " R,update apps,extensions replicasets\n"
    " update apps,extensions replicasets/status\n"
    " update apps,extensions replicasets/finalizers\n"
    " create,delete,list,patch,watch core pods\n"
    " E core,events.k8s.io events\n"
    "controller replication-controller\n"
    " R,update core replicationcontrollers\n"
    " update core replicationcontrollers/status\n"
    " update core replicationcontrollers/finalizers\n"
    " create,delete,list,patch,watch core pods\n"
    " E core,events.k8s.io events\n"
    "controller resourcequota-controller\n"
    " list,watch * *\n"
    " update core resourcequotas/status\n"
    " E core,events.k8s.io events\n"
    "controller route-controller\n"
    " list,watch core nodes\n"
    " patch core nodes/status\n"
    " E core,events.k8s.io events\n"
    "controller service-account-controller\n"
    " create core serviceaccounts\n"
    " E core,events.k8s.io events\n"
    "controller service-controller\n"
    " R core services\n"
    " patch,update core services/status\n"
    " list,watch core nodes\n"
    " E core,events.k8s.io events\n"
    "controller statefulset-controller\n"
    " list,watch core pods\n"
    " R apps statefulsets\n"
    " update apps statefulsets/status\n"
    " update apps statefulsets/finalizers\n"
    " E,delete,get core pods\n"
    " R,E,delete apps controllerrevisions\n"
    " R,create core persistentvolumeclaims\n"
    " delete,update core persistentvolumeclaims\n"
    " update core pods/finalizers\n"
    " E core,events.k8s.io events\n"
    "controller ttl-controller\n"
    " list,patch,update,watch core nodes\n"
    " E core,events.k8s.io events\n"
    "controller certificate-controller\n"
    " R,delete certificates.k8s.io certificatesigningrequests\n"
    " update certificates.k8s.io certificatesigningrequests/approval,"
    "certificatesigningrequests/status\n"
    " approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet\n"
    " sign certificates.k8s.io signers kubernetes.io/kube-apiserver-client,"
    "kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,"
    "kubernetes.io/legacy-unknown\n"
    " create authorization.k8s.io subjectaccessreviews\n"
    " E core,events.k8s.io events\n"
    "controller pvc-protection-controller\n"
    " R,update core persistentvolumeclaims\n"
    " update core persistentvolumeclaims/status\n"
    " R core pods\n"
    " E core,events.k8s.io events\n"
    "controller pv-protection-controller\n"
    " R,update core persistentvolumes\n"
    " E core,events.k8s.io events\n"
    "controller ttl-after-finished-controller\n"
    " R,delete batch jobs\n"
    " E core,events.k8s.io events\n"
    "controller root-ca-cert-publisher\n"
    " create,update core configmaps\n"
    " E core,events.k8s.io events\n"
    "controller validatingadmissionpolicy-status-controller\n"
    " R admissionregistration.k8s.io validatingadmissionpolicies\n"
    " get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status\n"
    " E core,events.k8s.io events\n"
    "controller legacy-service-account-token-cleaner\n"
    " get core configmaps kube-apiserver-legacy-service-account-token-tracking\n"
    " delete,patch core secrets\n"
    "controller device-taint-eviction-controller\n"
    " R,delete core pods\n"
    " patch,update core pods/status\n"
    " R resource.k8s.io resourceclaims\n"
    " R resource.k8s.io resourceslices\n"
    " R resource.k8s.io deviceclasses\n"
    " E core,events.k8s.io events\n"
    "controller resource-claim-controller\n"
    " R core pods\n"
    " update core pods/finalizers\n"
    " R,create,delete resource.k8s.io resourceclaims\n"
    " patch,update resource.k8s.io resourceclaims,resourceclaims/status\n"
    " patch,update core pods/status\n"
    " E core,events.k8s.io events\n"
    " patch,update resource.k8s.io resourceclaims/binding\n"
    "controller selinux-warning-controller\n"
    " E core,events.k8s.io events\n"
    " R core persistentvolumes\n"
    " R core persistentvolumeclaims\n"
    " R core pods\n"
    " R storage.k8s.io csidrivers\n"
    "controller service-cidrs-controller\n"
    " R,patch,update networking.k8s.io servicecidrs\n"
    " patch,update networking.k8s.io servicecidrs/finalizers\n"
    " patch,update networking.k8s.io servicecidrs/status\n"
    " R networking.k8s.io ipaddresses\n"
    " E core,events.k8s.io events\n"
    "controller volumeattributesclass-protection-controller\n"
    " R core persistentvolumeclaims\n"
    " R core persistentvolumes\n"
    " R,update storage.k8s.io volumeattributesclasses\n"
    " E core,events.k8s.io events\n"

    /* ---- roles in the namespaces of the system ---- */
    "local kube-system extension-apiserver-authentication-reader\n"
    " R core configmaps extension-apiserver-authentication\n"
    "local kube-system system:controller:bootstrap-signer\n"
    " R core secrets\n"
    "local kube-system system:controller:cloud-provider\n"
    " R,create core configmaps\n"
    "local kube-system system:controller:token-cleaner\n"
    " R,delete core secrets\n"
    " E core,events.k8s.io events\n"
    "local kube-system system::leader-locking-kube-controller-manager\n"
    " R,create,update coordination.k8s.io leases\n"
    " R,create,update coordination.k8s.io leasecandidates\n"
    "local kube-system system::leader-locking-kube-scheduler\n"
    " R,create,update coordination.k8s.io leases\n"
    " R,create,update coordination.k8s.io leasecandidates\n"
    "local kube-public system:controller:bootstrap-signer\n"
    " R core configmaps\n"
    " update core configmaps cluster-info\n"
    " E core,events.k8s.io events\n"

    /* ---- bindings ---- */
    "bind cluster-admin cluster-admin G:system:masters\n"
    "bind system:monitoring system:monitoring G:system:monitoring\n"
    "bind system:discovery system:discovery G:system:authenticated\n"
    "bind system:basic-user system:basic-user G:system:authenticated\n"
    "bind system:public-info-viewer system:public-info-viewer G:system:authenticated "
    "G:system:unauthenticated\n"
    "bind system:node-proxier system:node-proxier U:system:kube-proxy\n"
    "bind system:kube-controller-manager system:kube-controller-manager "
    "U:system:kube-controller-manager\n"
    "bind system:kube-dns system:kube-dns S:kube-system/kube-dns\n"
    "bind system:kube-scheduler system:kube-scheduler U:system:kube-scheduler\n"
    "bind system:volume-scheduler system:volume-scheduler U:system:kube-scheduler\n"
    "bind dormouse:scheduler dormouse:scheduler U:system:kube-scheduler\n"
    "bind " RBAC_NODE_ROUTES " " RBAC_NODE_ROUTES " G:system:nodes\n"
    "bind system:node system:node\n"
    "bind system:service-account-issuer-discovery system:service-account-issuer-discovery "
    "G:system:serviceaccounts\n"
    "localbind kube-system system::extension-apiserver-authentication-reader "
    "extension-apiserver-authentication-reader U:system:kube-controller-manager "
    "U:system:kube-scheduler\n"
    "localbind kube-system system::leader-locking-kube-controller-manager "
    "system::leader-locking-kube-controller-manager U:system:kube-controller-manager "
    "S:kube-system/kube-controller-manager S:kube-system/leader-election-controller\n"
    "localbind kube-system system::leader-locking-kube-scheduler "
    "system::leader-locking-kube-scheduler U:system:kube-scheduler "
    "S:kube-system/kube-scheduler\n"
    "localbind kube-system system:controller:bootstrap-signer "
    "system:controller:bootstrap-signer S:kube-system/bootstrap-signer\n"
    "localbind kube-system system:controller:cloud-provider system:controller:cloud-provider "
    "S:kube-system/cloud-provider\n"
    "localbind kube-system system:controller:token-cleaner system:controller:token-cleaner "
    "S:kube-system/token-cleaner\n"
    "localbind kube-public system:controller:bootstrap-signer "
    "system:controller:bootstrap-signer S:kube-system/bootstrap-signer\n";

#define GROUP         "rbac.authorization.k8s.io"
#define AUTOUPDATE    "rbac.authorization.kubernetes.io/autoupdate"
#define BOOTSTRAPPING "kubernetes.io/bootstrapping"
#define AGGREGATE_TO  GROUP "/aggregate-to-"

enum { WORDS_MAX = 64 };

/* ------------------------------------------------------------------ from the table to objects */

struct rbac_bootstrap_reader {
    struct arena *a;
    struct str left;
    void (*fn)(void *arg, const struct rbac_default *d);
    void *arg;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static size_t add_word(struct str *words, size_t n, struct str word)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(words[i], word))
            return n;
    assert(n < WORDS_MAX);
    words[n] = word;
    return n + 1;
}

static size_t expand_verb(struct str *words, size_t n, struct str word)
{
    static const char *const sets[] = { "Rget,list,watch",
                                        "Wcreate,delete,deletecollection,patch,update",
                                        "Ecreate,patch,update" };
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        struct str rest = str_of(sets[i] + 1), one;
        if (word.n != 1 || word.p[0] != sets[i][0])
            continue;
        while (rest.n) {
            (void)str_cut(rest, ',', &one, &rest);
            n = add_word(words, n, one);
        }
        return n;
    }
    return add_word(words, n, word);
}

/* A comma-separated list as a sorted JSON array. */
static struct json *list_of(struct arena *a, struct str text, enum rbac_rule_list which)
{
    struct str words[WORDS_MAX], one;
    size_t n = 0;
    while (text.n) {
        (void)str_cut(text, ',', &one, &text);
        if (which == RBAC_VERBS)
            n = expand_verb(words, n, one);
        else
            n = add_word(words, n, which == RBAC_GROUPS && str_is(one, "core") ? STR("") : one);
    }
    qsort(words, n, sizeof *words, by_text);
    struct json *array = json_new_array(a);
    for (size_t i = 0; i < n; i++)
        json_add(array, json_new_str(a, words[i]));
    return array;
}

static struct json *rule_of(struct arena *a, struct str line)
{
    struct str verbs, groups, what, names;
    struct json *rule = json_new_object(a);
    (void)str_cut(line, ' ', &verbs, &line);
    (void)str_cut(line, ' ', &groups, &line);
    (void)str_cut(line, ' ', &what, &names);
    json_setc(a, rule, "verbs", list_of(a, verbs, RBAC_VERBS));
    if (str_is(groups, "@")) {
        json_setc(a, rule, "nonResourceURLs", list_of(a, what, RBAC_URLS));
        return rule;
    }
    json_setc(a, rule, "apiGroups", list_of(a, groups, RBAC_GROUPS));
    json_setc(a, rule, "resources", list_of(a, what, RBAC_RESOURCES));
    if (names.n)
        json_setc(a, rule, "resourceNames", list_of(a, names, RBAC_NAMES));
    return rule;
}

static struct json *object_of(struct arena *a, const char *kind, struct str ns, struct str name)
{
    struct json *obj = json_new_object(a);
    json_set_str(a, obj, "apiVersion", STR(GROUP "/v1"));
    json_set_str(a, obj, "kind", str_of(kind));
    struct json *meta = json_obj(a, obj, "metadata");
    json_set_str(a, meta, "name", name);
    if (ns.n)
        json_set_str(a, meta, "namespace", ns);
    json_set_str(a, json_obj(a, meta, "annotations"), AUTOUPDATE, STR("true"));
    json_set_str(a, json_obj(a, meta, "labels"), BOOTSTRAPPING, STR("rbac-defaults"));
    return obj;
}

static void set_aggregation(struct arena *a, struct json *obj, struct str word)
{
    struct str key, level;
    (void)str_cut(word, '=', &key, &level);
    const char *label = arena_printf(a, AGGREGATE_TO STR_FMT, STR_ARG(level));
    if (str_is(key, "to")) {
        json_set_str(a, json_path(obj, "metadata", "labels", NULL), label, STR("true"));
        return;
    }
    struct json *selector = json_new_object(a), *list = json_new_array(a);
    json_set_str(a, json_obj(a, selector, "matchLabels"), label, STR("true"));
    json_add(list, selector);
    json_setc(a, json_obj(a, obj, "aggregationRule"), "clusterRoleSelectors", list);
}

/* Read the lines below a role; they begin with a space. */
static void take_rules(struct rbac_bootstrap_reader *rd, struct json *obj)
{
    struct json *rules = json_new_array(rd->a);
    struct str line, rest;
    while (rd->left.n && rd->left.p[0] == ' ') {
        (void)str_cut(rd->left, '\n', &line, &rest);
        json_add(rules, rule_of(rd->a, str_slice(line, 1, line.n)));
        rd->left = rest;
    }
    if (rules->n)
        json_setc(rd->a, obj, "rules", rules);
}

static void tell(struct rbac_bootstrap_reader *rd, enum rbac_kind kind, struct str ns,
                 struct str name, struct json *obj)
{
    const struct rbac_default d = { .kind = kind, .ns = ns, .name = name, .obj = obj };
    rd->fn(rd->arg, &d);
}

static void add_subject(struct arena *a, struct json *subjects, struct str word)
{
    struct json *s = json_new_object(a);
    struct str name = str_slice(word, 2, word.n), ns;
    if (word.p[0] == 'S') {
        (void)str_cut(name, '/', &ns, &name);
        json_set_str(a, s, "kind", STR("ServiceAccount"));
        json_set_str(a, s, "name", name);
        json_set_str(a, s, "namespace", ns);
    } else {
        json_set_str(a, s, "apiGroup", STR(GROUP));
        json_set_str(a, s, "kind", word.p[0] == 'G' ? STR("Group") : STR("User"));
        json_set_str(a, s, "name", name);
    }
    json_add(subjects, s);
}

static void tell_binding(struct rbac_bootstrap_reader *rd, struct str ns, struct str name,
                         struct str role, struct str subjects)
{
    struct arena *a = rd->a;
    struct json *obj = object_of(a, ns.n ? "RoleBinding" : "ClusterRoleBinding", ns, name);
    struct json *ref = json_obj(a, obj, "roleRef"), *list = json_new_array(a);
    json_set_str(a, ref, "apiGroup", STR(GROUP));
    json_set_str(a, ref, "kind", ns.n ? STR("Role") : STR("ClusterRole"));
    json_set_str(a, ref, "name", role);
    while (subjects.n) {
        struct str one;
        (void)str_cut(subjects, ' ', &one, &subjects);
        add_subject(a, list, one);
    }
    if (list->n)
        json_setc(a, obj, "subjects", list);
    tell(rd, ns.n ? RBAC_ROLE_BINDING : RBAC_CLUSTER_ROLE_BINDING, ns, name, obj);
}

static void take_role(struct rbac_bootstrap_reader *rd, struct str line)
{
    struct str name, word;
    (void)str_cut(line, ' ', &name, &line);
    struct json *obj = object_of(rd->a, "ClusterRole", STR(""), name);
    while (line.n) {
        (void)str_cut(line, ' ', &word, &line);
        set_aggregation(rd->a, obj, word);
    }
    take_rules(rd, obj);
    tell(rd, RBAC_CLUSTER_ROLE, STR(""), name, obj);
}

static void take_controller(struct rbac_bootstrap_reader *rd, struct str account)
{
    struct arena *a = rd->a;
    struct str name = str_of(arena_printf(a, "system:controller:" STR_FMT, STR_ARG(account)));
    struct str subject = str_of(arena_printf(a, "S:kube-system/" STR_FMT, STR_ARG(account)));
    struct json *obj = object_of(a, "ClusterRole", STR(""), name);
    take_rules(rd, obj);
    tell(rd, RBAC_CLUSTER_ROLE, STR(""), name, obj);
    tell_binding(rd, STR(""), name, name, subject);
}

static void take_local(struct rbac_bootstrap_reader *rd, struct str line)
{
    struct str ns, name;
    (void)str_cut(line, ' ', &ns, &name);
    struct json *obj = object_of(rd->a, "Role", ns, name);
    take_rules(rd, obj);
    tell(rd, RBAC_ROLE, ns, name, obj);
}

static void take_binding(struct rbac_bootstrap_reader *rd, struct str line, bool local)
{
    struct str ns = STR(""), name, role, subjects;
    if (local)
        (void)str_cut(line, ' ', &ns, &line);
    (void)str_cut(line, ' ', &name, &line);
    (void)str_cut(line, ' ', &role, &subjects);
    tell_binding(rd, ns, name, role, subjects);
}

void rbac_defaults(void (*fn)(void *arg, const struct rbac_default *d), void *arg)
{
    struct arena a = { 0 };
    struct rbac_bootstrap_reader rd = {
        .a = &a, .left = str_n(table, sizeof table - 1), .fn = fn, .arg = arg
    };
    while (rd.left.n) {
        struct str line, word;
        (void)str_cut(rd.left, '\n', &line, &rd.left);
        (void)str_cut(line, ' ', &word, &line);
        if (str_is(word, "role"))
            take_role(&rd, line);
        else if (str_is(word, "controller"))
            take_controller(&rd, line);
        else if (str_is(word, "local"))
            take_local(&rd, line);
        else
            take_binding(&rd, line, str_is(word, "localbind"));
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* ------------------------------------------------------------------ updating objects */

/* Add the rules of the default that no rule of the object covers. */
static bool add_rules(struct arena *a, const struct json *wanted, struct json *stored)
{
    bool changed = false;
    struct json *rules = json_getc(stored, "rules");
    if (!wanted || (rules && json_equal(wanted, rules)))
        return false;
    json_each (rule, wanted) {
        scoped(buf_fini_scoped) struct buf have = BUF_INIT(BUF_MAX_DEFAULT);
        scoped(buf_fini_scoped) struct buf want = BUF_INIT(BUF_MAX_DEFAULT);
        struct json *one = json_new_array(a);
        size_t n = 0, max = rules && rules->type == JSON_ARRAY ? rules->n : 0;
        struct rbac_rule *owned = arena_new_n(a, struct rbac_rule, max + 1);
        json_add(one, json_clone(a, rule));
        if (rbac_rules_compile(&have, rules) < 0 || rbac_rules_compile(&want, one) < 0)
            return changed;
        struct rbac_rules at = { (const uint8_t *)have.p, have.n };
        while (rbac_rule_next(&at, &owned[n]))
            n++;
        if (rbac_rules_cover(owned, n, (struct rbac_rules){ (const uint8_t *)want.p, want.n }, NULL,
                             NULL, NULL))
            continue;
        if (!json_is(rules, JSON_ARRAY)) {
            rules = json_new_array(a);
            json_setc(a, stored, "rules", rules);
        }
        json_add(rules, json_clone(a, rule));
        changed = true;
    }
    return changed;
}

/* Add the items that the object's array lacks; `up` of both is an object. */
static bool add_items(struct arena *a, const struct json *wanted, struct json *up, const char *key)
{
    bool changed = false;
    json_each (item, wanted) {
        struct json *have = json_getc(up, key);
        bool found = false;
        json_each (other, have)
            found = found || json_equal(item, other);
        if (found)
            continue;
        if (!json_is(have, JSON_ARRAY)) {
            have = json_new_array(a);
            json_setc(a, up, key, have);
        }
        json_add(have, json_clone(a, item));
        changed = true;
    }
    return changed;
}

/* Add labels and annotations; existing values stay. */
static bool add_members(struct arena *a, const struct json *wanted, struct json *stored,
                        const char *bag)
{
    bool changed = false;
    json_each (v, json_path(wanted, "metadata", bag, NULL)) {
        struct json *have = json_path(stored, "metadata", bag, NULL);
        if (json_get(have, v->key))
            continue;
        json_set(a, json_obj(a, json_obj(a, stored, "metadata"), bag), v->key, json_clone(a, v));
        changed = true;
    }
    return changed;
}

bool rbac_reconcile(struct arena *a, const struct rbac_default *d, struct json *stored)
{
    const struct json *autoupdate = json_path(stored, "metadata", "annotations", AUTOUPDATE, NULL);
    if (str_is(json_str(autoupdate), "false"))
        return false;
    bool changed = add_members(a, d->obj, stored, "labels");
    changed |= add_members(a, d->obj, stored, "annotations");
    const struct json *selectors =
        json_path(d->obj, "aggregationRule", "clusterRoleSelectors", NULL);
    if (selectors)
        changed |=
            add_items(a, selectors, json_obj(a, stored, "aggregationRule"), "clusterRoleSelectors");
    else
        changed |= add_rules(a, json_getc(d->obj, "rules"), stored);
    changed |= add_items(a, json_getc(d->obj, "subjects"), stored, "subjects");
    return changed;
}
