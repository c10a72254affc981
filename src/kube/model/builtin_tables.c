/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/gen-kinds from k8s.io/api v0.36.3. Do not edit. */
/* clang-format off */
#include "kube/model/builtin_tables.h"

const char builtin_api_version[] = "v0.36.3";

const struct builtin_field_row builtin_fields[] = {
    /* v1.Binding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 26, 12, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v1.ObjectMeta */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 38, 0, 2, 0, FIELD_OMIT_EMPTY }, /* generateName */
    { 51, 0, 3, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 61, 0, 4, 0, FIELD_OMIT_EMPTY }, /* selfLink */
    { 70, 0, 5, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 74, 0, 6, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 90, 1, 7, 0, FIELD_OMIT_EMPTY }, /* generation */
    { 101, 2, 8, 0, FIELD_OMIT_EMPTY | FIELD_OMIT_ZERO }, /* creationTimestamp */
    { 119, 2, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deletionTimestamp */
    { 137, 1, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deletionGracePeriodSeconds */
    { 164, 3, 11, 0, FIELD_OMIT_EMPTY }, /* labels */
    { 171, 3, 12, 0, FIELD_OMIT_EMPTY }, /* annotations */
    { 183, 6, 13, 0, FIELD_OMIT_EMPTY }, /* ownerReferences */
    { 199, 7, 14, 0, FIELD_OMIT_EMPTY }, /* finalizers */
    { 210, 10, 17, 0, FIELD_OMIT_EMPTY }, /* managedFields */
    /* v1.OwnerReference */
    { 6, 0, 5, 0, FIELD_IS_REQUIRED }, /* apiVersion */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 70, 0, 4, 0, FIELD_IS_REQUIRED }, /* uid */
    { 224, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* controller */
    { 235, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* blockOwnerDeletion */
    /* v1.ManagedFieldsEntry */
    { 254, 0, 1, 0, FIELD_OMIT_EMPTY }, /* manager */
    { 262, 0, 2, 0, FIELD_OMIT_EMPTY }, /* operation */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 272, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* time */
    { 277, 0, 6, 0, FIELD_OMIT_EMPTY }, /* fieldsType */
    { 288, 8, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldsV1 */
    { 297, 0, 8, 0, FIELD_OMIT_EMPTY }, /* subresource */
    /* v1.ObjectReference */
    { 1, 0, 1, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 51, 0, 2, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 3, 0, FIELD_OMIT_EMPTY }, /* name */
    { 70, 0, 4, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6, 0, 5, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 74, 0, 6, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 309, 0, 7, 0, FIELD_OMIT_EMPTY }, /* fieldPath */
    /* v1.ComponentStatus */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 319, 14, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ComponentCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 350, 0, 4, 0, FIELD_OMIT_EMPTY }, /* error */
    /* v1.ComponentStatusList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 18, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ListMeta */
    { 61, 0, 1, 0, FIELD_OMIT_EMPTY }, /* selfLink */
    { 74, 0, 2, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 362, 0, 3, 0, FIELD_OMIT_EMPTY }, /* continue */
    { 371, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* remainingItemCount */
    { 390, 15, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shardInfo */
    /* v1.ShardInfo */
    { 400, 0, 1, 0, FIELD_IS_REQUIRED }, /* selector */
    /* v1.ConfigMap */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 409, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* immutable */
    { 419, 3, 2, 0, FIELD_OMIT_EMPTY }, /* data */
    { 424, 20, 3, 0, FIELD_OMIT_EMPTY }, /* binaryData */
    /* v1.ConfigMapList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 22, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Endpoints */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 435, 30, 2, 0, FIELD_OMIT_EMPTY }, /* subsets */
    /* v1.EndpointSubset */
    { 443, 24, 1, 0, FIELD_OMIT_EMPTY }, /* addresses */
    { 453, 24, 2, 0, FIELD_OMIT_EMPTY }, /* notReadyAddresses */
    { 471, 28, 3, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.EndpointAddress */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    { 480, 0, 3, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 489, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 498, 12, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetRef */
    /* v1.EndpointPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 508, 25, 2, 0, FIELD_IS_REQUIRED }, /* port */
    { 513, 26, 3, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 522, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appProtocol */
    /* v1.EndpointsList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 32, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Event */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_IS_REQUIRED }, /* metadata */
    { 534, 12, 2, 0, FIELD_IS_REQUIRED }, /* involvedObject */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 4, 0, FIELD_OMIT_EMPTY }, /* message */
    { 556, 33, 5, 0, FIELD_OMIT_EMPTY }, /* source */
    { 563, 2, 6, 0, FIELD_OMIT_EMPTY }, /* firstTimestamp */
    { 578, 2, 7, 0, FIELD_OMIT_EMPTY }, /* lastTimestamp */
    { 592, 25, 8, 0, FIELD_OMIT_EMPTY }, /* count */
    { 330, 0, 9, 0, FIELD_OMIT_EMPTY }, /* type */
    { 598, 34, 10, 0, FIELD_OMIT_EMPTY }, /* eventTime */
    { 608, 35, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* series */
    { 615, 0, 12, 0, FIELD_OMIT_EMPTY }, /* action */
    { 622, 12, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* related */
    { 630, 0, 14, 0, 0 }, /* reportingComponent */
    { 649, 0, 15, 0, 0 }, /* reportingInstance */
    /* v1.EventSource */
    { 667, 0, 1, 0, FIELD_OMIT_EMPTY }, /* component */
    { 677, 0, 2, 0, FIELD_OMIT_EMPTY }, /* host */
    /* v1.EventSeries */
    { 592, 25, 1, 0, FIELD_OMIT_EMPTY }, /* count */
    { 682, 34, 2, 0, FIELD_OMIT_EMPTY }, /* lastObservedTime */
    /* v1.EventList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 37, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.LimitRange */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 42, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.LimitRangeSpec */
    { 704, 41, 1, 0, FIELD_IS_REQUIRED }, /* limits */
    /* v1.LimitRangeItem */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 711, 39, 2, 0, FIELD_OMIT_EMPTY }, /* max */
    { 715, 39, 3, 0, FIELD_OMIT_EMPTY }, /* min */
    { 719, 39, 4, 0, FIELD_OMIT_EMPTY }, /* default */
    { 727, 39, 5, 0, FIELD_OMIT_EMPTY }, /* defaultRequest */
    { 742, 39, 6, 0, FIELD_OMIT_EMPTY }, /* maxLimitRequestRatio */
    /* v1.LimitRangeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 44, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.List */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 46, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Namespace */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 48, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 52, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.NamespaceSpec */
    { 199, 47, 1, 0, FIELD_OMIT_EMPTY }, /* finalizers */
    /* v1.NamespaceStatus */
    { 763, 49, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 319, 51, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.NamespaceCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.NamespaceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 54, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Node */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 60, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 79, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.NodeSpec */
    { 788, 0, 1, 0, FIELD_OMIT_EMPTY }, /* podCIDR */
    { 796, 7, 7, 0, FIELD_OMIT_EMPTY }, /* podCIDRs */
    { 805, 0, 3, 0, FIELD_OMIT_EMPTY }, /* providerID */
    { 816, 4, 4, 0, FIELD_OMIT_EMPTY }, /* unschedulable */
    { 830, 57, 5, 0, FIELD_OMIT_EMPTY }, /* taints */
    { 837, 59, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configSource */
    { 850, 0, 2, 0, FIELD_OMIT_EMPTY }, /* externalID */
    /* v1.Taint */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 865, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 871, 55, 3, 0, FIELD_IS_REQUIRED }, /* effect */
    { 878, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeAdded */
    /* v1.NodeConfigSource */
    { 888, 58, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    /* v1.ConfigMapNodeConfigSource */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 70, 0, 3, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 74, 0, 4, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 898, 0, 5, 0, FIELD_IS_REQUIRED }, /* kubeletConfigKey */
    /* v1.NodeStatus */
    { 915, 39, 1, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 924, 39, 2, 0, FIELD_OMIT_EMPTY }, /* allocatable */
    { 763, 61, 3, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 319, 63, 4, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 443, 65, 5, 0, FIELD_OMIT_EMPTY }, /* addresses */
    { 936, 67, 6, 0, FIELD_OMIT_EMPTY }, /* daemonEndpoints */
    { 952, 69, 7, 0, FIELD_OMIT_EMPTY }, /* nodeInfo */
    { 961, 71, 8, 0, FIELD_OMIT_EMPTY }, /* images */
    { 968, 47, 9, 0, FIELD_OMIT_EMPTY }, /* volumesInUse */
    { 981, 73, 10, 0, FIELD_OMIT_EMPTY }, /* volumesAttached */
    { 997, 74, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* config */
    { 1004, 77, 12, 0, FIELD_OMIT_EMPTY }, /* runtimeHandlers */
    { 1020, 78, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* features */
    { 1029, 47, 14, 0, FIELD_OMIT_EMPTY }, /* declaredFeatures */
    /* v1.NodeCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 1046, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastHeartbeatTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.NodeAddress */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 1064, 0, 2, 0, FIELD_IS_REQUIRED }, /* address */
    /* v1.NodeDaemonEndpoints */
    { 1072, 66, 1, 0, FIELD_OMIT_EMPTY }, /* kubeletEndpoint */
    /* v1.DaemonEndpoint */
    { 1088, 25, 1, 0, FIELD_IS_REQUIRED }, /* Port */
    /* v1.NodeSystemInfo */
    { 1093, 0, 1, 0, FIELD_IS_REQUIRED }, /* machineID */
    { 1103, 0, 2, 0, FIELD_IS_REQUIRED }, /* systemUUID */
    { 1114, 0, 3, 0, FIELD_IS_REQUIRED }, /* bootID */
    { 1121, 0, 4, 0, FIELD_IS_REQUIRED }, /* kernelVersion */
    { 1135, 0, 5, 0, FIELD_IS_REQUIRED }, /* osImage */
    { 1143, 0, 6, 0, FIELD_IS_REQUIRED }, /* containerRuntimeVersion */
    { 1167, 0, 7, 0, FIELD_IS_REQUIRED }, /* kubeletVersion */
    { 1182, 0, 8, 0, FIELD_IS_REQUIRED }, /* kubeProxyVersion */
    { 1199, 0, 9, 0, FIELD_IS_REQUIRED }, /* operatingSystem */
    { 1215, 0, 10, 0, FIELD_IS_REQUIRED }, /* architecture */
    { 1228, 68, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* swap */
    /* v1.NodeSwapStatus */
    { 915, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    /* v1.ContainerImage */
    { 1233, 47, 1, 0, 0 }, /* names */
    { 1239, 1, 2, 0, FIELD_OMIT_EMPTY }, /* sizeBytes */
    /* v1.AttachedVolume */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1249, 0, 2, 0, FIELD_IS_REQUIRED }, /* devicePath */
    /* v1.NodeConfigStatus */
    { 1260, 59, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* assigned */
    { 1269, 59, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* active */
    { 1276, 59, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastKnownGood */
    { 350, 0, 4, 0, FIELD_OMIT_EMPTY }, /* error */
    /* v1.NodeRuntimeHandler */
    { 33, 0, 1, 0, 0 }, /* name */
    { 1020, 75, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* features */
    /* v1.NodeRuntimeHandlerFeatures */
    { 1290, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnlyMounts */
    { 1314, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* userNamespaces */
    /* v1.NodeFeatures */
    { 1329, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* supplementalGroupsPolicy */
    /* v1.NodeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 81, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.NodeProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1354, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.PersistentVolume */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 128, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 130, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PersistentVolumeSpec */
    { 915, 39, 1, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 1359, 82, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gcePersistentDisk */
    { 1377, 83, 2, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* awsElasticBlockStore */
    { 1398, 85, 3, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostPath */
    { 1407, 86, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* glusterfs */
    { 1417, 87, 5, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nfs */
    { 1421, 92, 6, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rbd */
    { 1425, 94, 7, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* iscsi */
    { 1431, 95, 8, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cinder */
    { 1438, 96, 9, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cephfs */
    { 1445, 97, 10, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fc */
    { 1448, 98, 11, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flocker */
    { 1456, 99, 12, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flexVolume */
    { 1467, 100, 13, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureFile */
    { 1477, 101, 14, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* vsphereVolume */
    { 1491, 102, 15, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* quobyte */
    { 1499, 107, 16, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureDisk */
    { 1509, 108, 17, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* photonPersistentDisk */
    { 1530, 109, 18, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* portworxVolume */
    { 1545, 112, 19, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleIO */
    { 1553, 113, 20, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* local */
    { 1559, 114, 21, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageos */
    { 1569, 115, 22, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* csi */
    { 1573, 117, 3, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 1585, 118, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* claimRef */
    { 1594, 119, 5, 0, FIELD_OMIT_EMPTY }, /* persistentVolumeReclaimPolicy */
    { 1624, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storageClassName */
    { 1641, 47, 7, 0, FIELD_OMIT_EMPTY }, /* mountOptions */
    { 1654, 120, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 1665, 127, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinity */
    { 1678, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeAttributesClassName */
    /* v1.GCEPersistentDiskVolumeSource */
    { 1704, 0, 1, 0, FIELD_IS_REQUIRED }, /* pdName */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1718, 25, 3, 0, FIELD_OMIT_EMPTY }, /* partition */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.AWSElasticBlockStoreVolumeSource */
    { 1737, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1718, 25, 3, 0, FIELD_OMIT_EMPTY }, /* partition */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.HostPathVolumeSource */
    { 1354, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 330, 84, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* type */
    /* v1.GlusterfsPersistentVolumeSource */
    { 1746, 0, 1, 0, FIELD_IS_REQUIRED }, /* endpoints */
    { 1354, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1756, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* endpointsNamespace */
    /* v1.NFSVolumeSource */
    { 1775, 0, 1, 0, FIELD_IS_REQUIRED }, /* server */
    { 1354, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.RBDPersistentVolumeSource */
    { 1782, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1791, 0, 2, 0, FIELD_IS_REQUIRED }, /* image */
    { 1711, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1797, 88, 4, 0, FIELD_OMIT_EMPTY }, /* pool */
    { 1802, 89, 5, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1807, 90, 6, 0, FIELD_OMIT_EMPTY }, /* keyring */
    { 1815, 91, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1728, 4, 8, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.SecretReference */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 2, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.ISCSIPersistentVolumeSource */
    { 1825, 0, 1, 0, FIELD_IS_REQUIRED }, /* targetPortal */
    { 1838, 0, 2, 0, FIELD_IS_REQUIRED }, /* iqn */
    { 1842, 25, 3, 0, FIELD_IS_REQUIRED }, /* lun */
    { 1846, 93, 4, 0, FIELD_OMIT_EMPTY }, /* iscsiInterface */
    { 1711, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1861, 47, 7, 0, FIELD_OMIT_EMPTY }, /* portals */
    { 1869, 4, 8, 0, FIELD_OMIT_EMPTY }, /* chapAuthDiscovery */
    { 1887, 4, 11, 0, FIELD_OMIT_EMPTY }, /* chapAuthSession */
    { 1815, 91, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1903, 0, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* initiatorName */
    /* v1.CinderPersistentVolumeSource */
    { 1737, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1815, 91, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CephFSPersistentVolumeSource */
    { 1782, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1354, 0, 2, 0, FIELD_OMIT_EMPTY }, /* path */
    { 1802, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1917, 0, 4, 0, FIELD_OMIT_EMPTY }, /* secretFile */
    { 1815, 91, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1728, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.FCVolumeSource */
    { 1928, 47, 1, 0, FIELD_OMIT_EMPTY }, /* targetWWNs */
    { 1842, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lun */
    { 1711, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1939, 47, 5, 0, FIELD_OMIT_EMPTY }, /* wwids */
    /* v1.FlockerVolumeSource */
    { 1945, 0, 1, 0, FIELD_OMIT_EMPTY }, /* datasetName */
    { 1957, 0, 2, 0, FIELD_OMIT_EMPTY }, /* datasetUUID */
    /* v1.FlexPersistentVolumeSource */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1815, 91, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1976, 3, 5, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.AzureFilePersistentVolumeSource */
    { 1984, 0, 1, 0, FIELD_IS_REQUIRED }, /* secretName */
    { 1995, 0, 2, 0, FIELD_IS_REQUIRED }, /* shareName */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 2005, 0, 4, 0, FIELD_POINTER }, /* secretNamespace */
    /* v1.VsphereVirtualDiskVolumeSource */
    { 2021, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumePath */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 2032, 0, 3, 0, FIELD_OMIT_EMPTY }, /* storagePolicyName */
    { 2050, 0, 4, 0, FIELD_OMIT_EMPTY }, /* storagePolicyID */
    /* v1.QuobyteVolumeSource */
    { 2066, 0, 1, 0, FIELD_IS_REQUIRED }, /* registry */
    { 2075, 0, 2, 0, FIELD_IS_REQUIRED }, /* volume */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1802, 0, 4, 0, FIELD_OMIT_EMPTY }, /* user */
    { 2082, 0, 5, 0, FIELD_OMIT_EMPTY }, /* group */
    { 2088, 0, 6, 0, FIELD_OMIT_EMPTY }, /* tenant */
    /* v1.AzureDiskVolumeSource */
    { 2095, 0, 1, 0, FIELD_IS_REQUIRED }, /* diskName */
    { 2104, 0, 2, 0, FIELD_IS_REQUIRED }, /* diskURI */
    { 2112, 103, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cachingMode */
    { 1711, 104, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    { 1728, 105, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnly */
    { 1, 106, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* kind */
    /* v1.PhotonPersistentDiskVolumeSource */
    { 2124, 0, 1, 0, FIELD_IS_REQUIRED }, /* pdID */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    /* v1.PortworxVolumeSource */
    { 1737, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.ScaleIOPersistentVolumeSource */
    { 2129, 0, 1, 0, FIELD_IS_REQUIRED }, /* gateway */
    { 2137, 0, 2, 0, FIELD_IS_REQUIRED }, /* system */
    { 1815, 91, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* secretRef */
    { 2144, 4, 4, 0, FIELD_OMIT_EMPTY }, /* sslEnabled */
    { 2155, 0, 5, 0, FIELD_OMIT_EMPTY }, /* protectionDomain */
    { 2172, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storagePool */
    { 2184, 110, 7, 0, FIELD_OMIT_EMPTY }, /* storageMode */
    { 2196, 0, 8, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1711, 111, 9, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 10, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.LocalVolumeSource */
    { 1354, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    /* v1.StorageOSPersistentVolumeSource */
    { 2196, 0, 1, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 2207, 0, 2, 0, FIELD_OMIT_EMPTY }, /* volumeNamespace */
    { 1711, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1815, 12, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CSIPersistentVolumeSource */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 2223, 0, 2, 0, FIELD_IS_REQUIRED }, /* volumeHandle */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1711, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 2236, 3, 5, 0, FIELD_OMIT_EMPTY }, /* volumeAttributes */
    { 2253, 91, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* controllerPublishSecretRef */
    { 2280, 91, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeStageSecretRef */
    { 2299, 91, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodePublishSecretRef */
    { 2320, 91, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* controllerExpandSecretRef */
    { 2346, 91, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeExpandSecretRef */
    /* v1.VolumeNodeAffinity */
    { 2366, 126, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* required */
    /* v1.NodeSelector */
    { 2375, 125, 1, 0, FIELD_IS_REQUIRED }, /* nodeSelectorTerms */
    /* v1.NodeSelectorTerm */
    { 2393, 123, 1, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    { 2410, 123, 2, 0, FIELD_OMIT_EMPTY }, /* matchFields */
    /* v1.NodeSelectorRequirement */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2422, 121, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2431, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.PersistentVolumeStatus */
    { 763, 129, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 2438, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastPhaseTransitionTime */
    /* v1.PersistentVolumeClaim */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 137, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 145, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PersistentVolumeClaimSpec */
    { 1573, 117, 1, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 400, 133, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 2462, 134, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 2196, 0, 3, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1624, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageClassName */
    { 1654, 120, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 2472, 135, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dataSource */
    { 2483, 136, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dataSourceRef */
    { 1678, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeAttributesClassName */
    /* v1.LabelSelector */
    { 2497, 3, 1, 0, FIELD_OMIT_EMPTY }, /* matchLabels */
    { 2393, 132, 2, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    /* v1.LabelSelectorRequirement */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2422, 0, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2431, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.VolumeResourceRequirements */
    { 704, 39, 1, 0, FIELD_OMIT_EMPTY }, /* limits */
    { 2509, 39, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    /* v1.TypedLocalObjectReference */
    { 2518, 0, 1, 0, FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.TypedObjectReference */
    { 2518, 0, 1, 0, FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 51, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespace */
    /* v1.PersistentVolumeClaimStatus */
    { 763, 138, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 1573, 117, 2, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 915, 39, 3, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 319, 140, 4, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 2527, 39, 5, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2546, 142, 7, 0, FIELD_OMIT_EMPTY }, /* allocatedResourceStatuses */
    { 2572, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* currentVolumeAttributesClassName */
    { 2605, 144, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* modifyVolumeStatus */
    /* v1.PersistentVolumeClaimCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2624, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ModifyVolumeStatus */
    { 2638, 0, 1, 0, FIELD_OMIT_EMPTY }, /* targetVolumeAttributesClassName */
    { 335, 143, 2, 0, FIELD_IS_REQUIRED }, /* status */
    /* v1.PersistentVolumeClaimList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 147, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PersistentVolumeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 149, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Pod */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 283, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 316, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodSpec */
    { 2670, 188, 1, 0, FIELD_OMIT_EMPTY }, /* volumes */
    { 2678, 239, 20, 0, FIELD_OMIT_EMPTY }, /* initContainers */
    { 2693, 239, 2, 0, FIELD_IS_REQUIRED }, /* containers */
    { 2704, 241, 34, 0, FIELD_OMIT_EMPTY }, /* ephemeralContainers */
    { 2724, 242, 3, 0, FIELD_OMIT_EMPTY }, /* restartPolicy */
    { 2738, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminationGracePeriodSeconds */
    { 2768, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* activeDeadlineSeconds */
    { 2790, 243, 6, 0, FIELD_OMIT_EMPTY }, /* dnsPolicy */
    { 2800, 244, 7, 0, FIELD_OMIT_EMPTY }, /* nodeSelector */
    { 2813, 0, 8, 0, FIELD_OMIT_EMPTY }, /* serviceAccountName */
    { 2832, 0, 9, 0, FIELD_OMIT_EMPTY }, /* serviceAccount */
    { 2847, 4, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* automountServiceAccountToken */
    { 489, 0, 10, 0, FIELD_OMIT_EMPTY }, /* nodeName */
    { 2876, 4, 11, 0, FIELD_OMIT_EMPTY }, /* hostNetwork */
    { 2888, 4, 12, 0, FIELD_OMIT_EMPTY }, /* hostPID */
    { 2896, 4, 13, 0, FIELD_OMIT_EMPTY }, /* hostIPC */
    { 2904, 4, 27, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareProcessNamespace */
    { 2926, 250, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 2942, 251, 15, 0, FIELD_OMIT_EMPTY }, /* imagePullSecrets */
    { 480, 0, 16, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 2959, 0, 17, 0, FIELD_OMIT_EMPTY }, /* subdomain */
    { 2969, 261, 18, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* affinity */
    { 2978, 0, 19, 0, FIELD_OMIT_EMPTY }, /* schedulerName */
    { 2992, 264, 22, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 3004, 266, 23, 0, FIELD_OMIT_EMPTY }, /* hostAliases */
    { 3016, 0, 24, 0, FIELD_OMIT_EMPTY }, /* priorityClassName */
    { 3034, 25, 25, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* priority */
    { 3043, 269, 26, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dnsConfig */
    { 3053, 271, 28, 0, FIELD_OMIT_EMPTY }, /* readinessGates */
    { 3068, 0, 29, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runtimeClassName */
    { 3085, 4, 30, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* enableServiceLinks */
    { 3104, 272, 31, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preemptionPolicy */
    { 3121, 39, 32, 0, FIELD_OMIT_EMPTY }, /* overhead */
    { 3130, 276, 33, 0, FIELD_OMIT_EMPTY }, /* topologySpreadConstraints */
    { 3156, 4, 35, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* setHostnameAsFQDN */
    { 3174, 277, 36, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* os */
    { 3177, 4, 37, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostUsers */
    { 3187, 279, 38, 0, FIELD_OMIT_EMPTY }, /* schedulingGates */
    { 3203, 281, 39, 0, FIELD_OMIT_EMPTY }, /* resourceClaims */
    { 2462, 204, 40, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 3218, 0, 41, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostnameOverride */
    { 3235, 282, 43, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingGroup */
    /* v1.Volume */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1398, 85, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostPath */
    { 3251, 150, 2, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* emptyDir */
    { 1359, 82, 3, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gcePersistentDisk */
    { 1377, 83, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* awsElasticBlockStore */
    { 3260, 151, 5, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gitRepo */
    { 3268, 154, 6, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secret */
    { 1417, 87, 7, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nfs */
    { 1425, 157, 8, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* iscsi */
    { 1407, 158, 9, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* glusterfs */
    { 3275, 159, 10, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeClaim */
    { 1421, 160, 11, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rbd */
    { 1456, 161, 12, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flexVolume */
    { 1431, 162, 13, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cinder */
    { 1438, 163, 14, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cephfs */
    { 1448, 98, 15, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flocker */
    { 3297, 168, 16, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* downwardAPI */
    { 1445, 97, 17, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fc */
    { 1467, 169, 18, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureFile */
    { 888, 170, 19, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    { 1477, 101, 20, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* vsphereVolume */
    { 1491, 102, 21, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* quobyte */
    { 1499, 107, 22, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureDisk */
    { 1509, 108, 23, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* photonPersistentDisk */
    { 3309, 179, 26, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* projected */
    { 1530, 109, 24, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* portworxVolume */
    { 1545, 180, 25, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleIO */
    { 1559, 181, 27, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageos */
    { 1569, 182, 28, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* csi */
    { 3319, 184, 29, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ephemeral */
    { 1791, 186, 30, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* image */
    /* v1.EmptyDirVolumeSource */
    { 3329, 0, 1, 0, FIELD_OMIT_EMPTY }, /* medium */
    { 3336, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sizeLimit */
    /* v1.GitRepoVolumeSource */
    { 3346, 0, 1, 0, FIELD_IS_REQUIRED }, /* repository */
    { 3357, 0, 2, 0, FIELD_OMIT_EMPTY }, /* revision */
    { 3366, 0, 3, 0, FIELD_OMIT_EMPTY }, /* directory */
    /* v1.SecretVolumeSource */
    { 1984, 0, 1, 0, FIELD_OMIT_EMPTY }, /* secretName */
    { 356, 153, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3376, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3388, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.KeyToPath */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 1354, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 3397, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    /* v1.ISCSIVolumeSource */
    { 1825, 0, 1, 0, FIELD_IS_REQUIRED }, /* targetPortal */
    { 1838, 0, 2, 0, FIELD_IS_REQUIRED }, /* iqn */
    { 1842, 25, 3, 0, FIELD_IS_REQUIRED }, /* lun */
    { 1846, 93, 4, 0, FIELD_OMIT_EMPTY }, /* iscsiInterface */
    { 1711, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1861, 47, 7, 0, FIELD_OMIT_EMPTY }, /* portals */
    { 1869, 4, 8, 0, FIELD_OMIT_EMPTY }, /* chapAuthDiscovery */
    { 1887, 4, 11, 0, FIELD_OMIT_EMPTY }, /* chapAuthSession */
    { 1815, 156, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1903, 0, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* initiatorName */
    /* v1.LocalObjectReference */
    { 33, 155, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    /* v1.GlusterfsVolumeSource */
    { 1746, 0, 1, 0, FIELD_IS_REQUIRED }, /* endpoints */
    { 1354, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.PersistentVolumeClaimVolumeSource */
    { 3402, 0, 1, 0, FIELD_IS_REQUIRED }, /* claimName */
    { 1728, 4, 2, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.RBDVolumeSource */
    { 1782, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1791, 0, 2, 0, FIELD_IS_REQUIRED }, /* image */
    { 1711, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1797, 88, 4, 0, FIELD_OMIT_EMPTY }, /* pool */
    { 1802, 89, 5, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1807, 90, 6, 0, FIELD_OMIT_EMPTY }, /* keyring */
    { 1815, 156, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1728, 4, 8, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.FlexVolumeSource */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1815, 156, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1976, 3, 5, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.CinderVolumeSource */
    { 1737, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1711, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1815, 156, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CephFSVolumeSource */
    { 1782, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1354, 0, 2, 0, FIELD_OMIT_EMPTY }, /* path */
    { 1802, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1917, 0, 4, 0, FIELD_OMIT_EMPTY }, /* secretFile */
    { 1815, 156, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1728, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.DownwardAPIVolumeSource */
    { 356, 167, 1, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3376, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    /* v1.DownwardAPIVolumeFile */
    { 1354, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 3412, 164, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldRef */
    { 3421, 165, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceFieldRef */
    { 3397, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    /* v1.ObjectFieldSelector */
    { 6, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 309, 0, 2, 0, FIELD_IS_REQUIRED }, /* fieldPath */
    /* v1.ResourceFieldSelector */
    { 3438, 0, 1, 0, FIELD_OMIT_EMPTY }, /* containerName */
    { 3452, 0, 2, 0, FIELD_IS_REQUIRED }, /* resource */
    { 3461, 38, 3, 0, FIELD_OMIT_EMPTY }, /* divisor */
    /* v1.AzureFileVolumeSource */
    { 1984, 0, 1, 0, FIELD_IS_REQUIRED }, /* secretName */
    { 1995, 0, 2, 0, FIELD_IS_REQUIRED }, /* shareName */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.ConfigMapVolumeSource */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 153, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3376, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3388, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.ProjectedVolumeSource */
    { 3469, 178, 1, 0, 0 }, /* sources */
    { 3376, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    /* v1.VolumeProjection */
    { 3268, 171, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secret */
    { 3297, 172, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* downwardAPI */
    { 888, 173, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    { 3477, 174, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccountToken */
    { 3497, 175, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clusterTrustBundle */
    { 3516, 176, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podCertificate */
    /* v1.SecretProjection */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 153, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3388, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.DownwardAPIProjection */
    { 356, 167, 1, 0, FIELD_OMIT_EMPTY }, /* items */
    /* v1.ConfigMapProjection */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 153, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3388, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.ServiceAccountTokenProjection */
    { 3531, 0, 1, 0, FIELD_OMIT_EMPTY }, /* audience */
    { 3540, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    { 1354, 0, 3, 0, FIELD_IS_REQUIRED }, /* path */
    /* v1.ClusterTrustBundleProjection */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* name */
    { 3558, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* signerName */
    { 3569, 133, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 3388, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    { 1354, 0, 4, 0, FIELD_IS_REQUIRED }, /* path */
    /* v1.PodCertificateProjection */
    { 3558, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* signerName */
    { 3583, 0, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* keyType */
    { 3591, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxExpirationSeconds */
    { 3612, 0, 4, 0, FIELD_OMIT_EMPTY }, /* credentialBundlePath */
    { 3633, 0, 5, 0, FIELD_OMIT_EMPTY }, /* keyPath */
    { 3641, 0, 6, 0, FIELD_OMIT_EMPTY }, /* certificateChainPath */
    { 3662, 3, 7, 0, FIELD_OMIT_EMPTY }, /* userAnnotations */
    /* v1.ScaleIOVolumeSource */
    { 2129, 0, 1, 0, FIELD_IS_REQUIRED }, /* gateway */
    { 2137, 0, 2, 0, FIELD_IS_REQUIRED }, /* system */
    { 1815, 156, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* secretRef */
    { 2144, 4, 4, 0, FIELD_OMIT_EMPTY }, /* sslEnabled */
    { 2155, 0, 5, 0, FIELD_OMIT_EMPTY }, /* protectionDomain */
    { 2172, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storagePool */
    { 2184, 110, 7, 0, FIELD_OMIT_EMPTY }, /* storageMode */
    { 2196, 0, 8, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1711, 111, 9, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 10, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.StorageOSVolumeSource */
    { 2196, 0, 1, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 2207, 0, 2, 0, FIELD_OMIT_EMPTY }, /* volumeNamespace */
    { 1711, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1728, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1815, 156, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CSIVolumeSource */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1728, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnly */
    { 1711, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    { 2236, 3, 4, 0, FIELD_OMIT_EMPTY }, /* volumeAttributes */
    { 2299, 156, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodePublishSecretRef */
    /* v1.EphemeralVolumeSource */
    { 3678, 183, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeClaimTemplate */
    /* v1.PersistentVolumeClaimTemplate */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 137, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ImageVolumeSource */
    { 3698, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reference */
    { 3708, 185, 2, 0, FIELD_OMIT_EMPTY }, /* pullPolicy */
    /* v1.Container */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1791, 0, 2, 0, FIELD_OMIT_EMPTY }, /* image */
    { 3719, 47, 3, 0, FIELD_OMIT_EMPTY }, /* command */
    { 3727, 47, 4, 0, FIELD_OMIT_EMPTY }, /* args */
    { 3732, 0, 5, 0, FIELD_OMIT_EMPTY }, /* workingDir */
    { 471, 191, 6, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 3743, 195, 19, 0, FIELD_OMIT_EMPTY }, /* envFrom */
    { 3751, 201, 7, 0, FIELD_OMIT_EMPTY }, /* env */
    { 2462, 204, 8, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 3755, 206, 23, 0, FIELD_OMIT_EMPTY }, /* resizePolicy */
    { 2724, 0, 24, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* restartPolicy */
    { 3768, 210, 25, 0, FIELD_OMIT_EMPTY }, /* restartPolicyRules */
    { 3787, 213, 9, 0, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 3800, 215, 21, 0, FIELD_OMIT_EMPTY }, /* volumeDevices */
    { 3814, 224, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* livenessProbe */
    { 3828, 224, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readinessProbe */
    { 3843, 224, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startupProbe */
    { 3856, 228, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lifecycle */
    { 3866, 0, 13, 0, FIELD_OMIT_EMPTY }, /* terminationMessagePath */
    { 3889, 229, 20, 0, FIELD_OMIT_EMPTY }, /* terminationMessagePolicy */
    { 3914, 185, 14, 0, FIELD_OMIT_EMPTY }, /* imagePullPolicy */
    { 2926, 237, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 3930, 4, 16, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 3936, 4, 17, 0, FIELD_OMIT_EMPTY }, /* stdinOnce */
    { 3946, 4, 18, 0, FIELD_OMIT_EMPTY }, /* tty */
    /* v1.ContainerPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 3950, 25, 2, 0, FIELD_OMIT_EMPTY }, /* hostPort */
    { 3959, 25, 3, 0, FIELD_IS_REQUIRED }, /* containerPort */
    { 513, 189, 4, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 3973, 0, 5, 0, FIELD_OMIT_EMPTY }, /* hostIP */
    /* v1.EnvFromSource */
    { 3980, 0, 1, 0, FIELD_OMIT_EMPTY }, /* prefix */
    { 3987, 192, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMapRef */
    { 1815, 193, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.ConfigMapEnvSource */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 3388, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.SecretEnvSource */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 3388, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.EnvVar */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 865, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 4000, 199, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* valueFrom */
    /* v1.EnvVarSource */
    { 3412, 164, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldRef */
    { 3421, 165, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceFieldRef */
    { 4010, 196, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMapKeyRef */
    { 4026, 197, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretKeyRef */
    { 4039, 198, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fileKeyRef */
    /* v1.ConfigMapKeySelector */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 861, 0, 2, 0, FIELD_IS_REQUIRED }, /* key */
    { 3388, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.SecretKeySelector */
    { 33, 155, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 861, 0, 2, 0, FIELD_IS_REQUIRED }, /* key */
    { 3388, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.FileKeySelector */
    { 2196, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeName */
    { 1354, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 861, 0, 3, 0, FIELD_IS_REQUIRED }, /* key */
    { 3388, 105, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.ResourceRequirements */
    { 704, 39, 1, 0, FIELD_OMIT_EMPTY }, /* limits */
    { 2509, 39, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 4050, 203, 3, 0, FIELD_OMIT_EMPTY }, /* claims */
    /* v1.ResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 4057, 0, 2, 0, FIELD_OMIT_EMPTY }, /* request */
    /* v1.ContainerResizePolicy */
    { 4065, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceName */
    { 2724, 0, 2, 0, FIELD_IS_REQUIRED }, /* restartPolicy */
    /* v1.ContainerRestartRule */
    { 615, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* action */
    { 4078, 208, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exitCodes */
    /* v1.ContainerRestartRuleOnExitCodes */
    { 2422, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* operator */
    { 2431, 207, 2, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.VolumeMount */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1728, 4, 2, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 4088, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnly */
    { 4106, 0, 3, 0, FIELD_IS_REQUIRED }, /* mountPath */
    { 4116, 0, 4, 0, FIELD_OMIT_EMPTY }, /* subPath */
    { 4124, 211, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mountPropagation */
    { 4141, 0, 6, 0, FIELD_OMIT_EMPTY }, /* subPathExpr */
    /* v1.VolumeDevice */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1249, 0, 2, 0, FIELD_IS_REQUIRED }, /* devicePath */
    /* v1.Probe */
    { 4153, 216, 1, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exec */
    { 4158, 221, 2, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* httpGet */
    { 4166, 222, 3, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tcpSocket */
    { 4176, 223, 4, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* grpc */
    { 4181, 25, 2, 0, FIELD_OMIT_EMPTY }, /* initialDelaySeconds */
    { 4201, 25, 3, 0, FIELD_OMIT_EMPTY }, /* timeoutSeconds */
    { 4216, 25, 4, 0, FIELD_OMIT_EMPTY }, /* periodSeconds */
    { 4230, 25, 5, 0, FIELD_OMIT_EMPTY }, /* successThreshold */
    { 4247, 25, 6, 0, FIELD_OMIT_EMPTY }, /* failureThreshold */
    { 2738, 1, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminationGracePeriodSeconds */
    /* v1.ExecAction */
    { 3719, 47, 1, 0, FIELD_OMIT_EMPTY }, /* command */
    /* v1.HTTPGetAction */
    { 1354, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 508, 217, 2, 0, FIELD_IS_REQUIRED }, /* port */
    { 677, 0, 3, 0, FIELD_OMIT_EMPTY }, /* host */
    { 4264, 218, 4, 0, FIELD_OMIT_EMPTY }, /* scheme */
    { 4271, 220, 5, 0, FIELD_OMIT_EMPTY }, /* httpHeaders */
    /* v1.HTTPHeader */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 865, 0, 2, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.TCPSocketAction */
    { 508, 217, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 677, 0, 2, 0, FIELD_OMIT_EMPTY }, /* host */
    /* v1.GRPCAction */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 4283, 155, 2, 0, FIELD_POINTER }, /* service */
    /* v1.Lifecycle */
    { 4291, 226, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* postStart */
    { 4301, 226, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preStop */
    { 4309, 227, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stopSignal */
    /* v1.LifecycleHandler */
    { 4153, 216, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exec */
    { 4158, 221, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* httpGet */
    { 4166, 222, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tcpSocket */
    { 4320, 225, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sleep */
    /* v1.SleepAction */
    { 4326, 1, 1, 0, FIELD_IS_REQUIRED }, /* seconds */
    /* v1.SecurityContext */
    { 4334, 230, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capabilities */
    { 4347, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* privileged */
    { 4358, 231, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxOptions */
    { 4373, 232, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* windowsOptions */
    { 4388, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUser */
    { 4398, 1, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsGroup */
    { 4409, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsNonRoot */
    { 4422, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnlyRootFilesystem */
    { 4445, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowPrivilegeEscalation */
    { 4470, 233, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* procMount */
    { 4480, 235, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seccompProfile */
    { 4495, 236, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appArmorProfile */
    /* v1.Capabilities */
    { 4511, 47, 1, 0, FIELD_OMIT_EMPTY }, /* add */
    { 4515, 47, 2, 0, FIELD_OMIT_EMPTY }, /* drop */
    /* v1.SELinuxOptions */
    { 1802, 0, 1, 0, FIELD_OMIT_EMPTY }, /* user */
    { 4520, 0, 2, 0, FIELD_OMIT_EMPTY }, /* role */
    { 330, 0, 3, 0, FIELD_OMIT_EMPTY }, /* type */
    { 4525, 0, 4, 0, FIELD_OMIT_EMPTY }, /* level */
    /* v1.WindowsSecurityContextOptions */
    { 4531, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gmsaCredentialSpecName */
    { 4554, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gmsaCredentialSpec */
    { 4573, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUserName */
    { 4587, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostProcess */
    /* v1.SeccompProfile */
    { 330, 234, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 4599, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* localhostProfile */
    /* v1.AppArmorProfile */
    { 330, 234, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 4599, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* localhostProfile */
    /* v1.EphemeralContainer */
    { 33, 0, 1, 1, FIELD_IS_REQUIRED }, /* name */
    { 1791, 0, 2, 1, FIELD_OMIT_EMPTY }, /* image */
    { 3719, 47, 3, 1, FIELD_OMIT_EMPTY }, /* command */
    { 3727, 47, 4, 1, FIELD_OMIT_EMPTY }, /* args */
    { 3732, 0, 5, 1, FIELD_OMIT_EMPTY }, /* workingDir */
    { 471, 191, 6, 1, FIELD_OMIT_EMPTY }, /* ports */
    { 3743, 195, 19, 1, FIELD_OMIT_EMPTY }, /* envFrom */
    { 3751, 201, 7, 1, FIELD_OMIT_EMPTY }, /* env */
    { 2462, 204, 8, 1, FIELD_OMIT_EMPTY }, /* resources */
    { 3755, 206, 23, 1, FIELD_OMIT_EMPTY }, /* resizePolicy */
    { 2724, 0, 24, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* restartPolicy */
    { 3768, 210, 25, 1, FIELD_OMIT_EMPTY }, /* restartPolicyRules */
    { 3787, 213, 9, 1, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 3800, 215, 21, 1, FIELD_OMIT_EMPTY }, /* volumeDevices */
    { 3814, 224, 10, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* livenessProbe */
    { 3828, 224, 11, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readinessProbe */
    { 3843, 224, 22, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startupProbe */
    { 3856, 228, 12, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lifecycle */
    { 3866, 0, 13, 1, FIELD_OMIT_EMPTY }, /* terminationMessagePath */
    { 3889, 229, 20, 1, FIELD_OMIT_EMPTY }, /* terminationMessagePolicy */
    { 3914, 185, 14, 1, FIELD_OMIT_EMPTY }, /* imagePullPolicy */
    { 2926, 237, 15, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 3930, 4, 16, 1, FIELD_OMIT_EMPTY }, /* stdin */
    { 3936, 4, 17, 1, FIELD_OMIT_EMPTY }, /* stdinOnce */
    { 3946, 4, 18, 1, FIELD_OMIT_EMPTY }, /* tty */
    { 4616, 0, 2, 0, FIELD_OMIT_EMPTY }, /* targetContainerName */
    /* v1.PodSecurityContext */
    { 4358, 231, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxOptions */
    { 4373, 232, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* windowsOptions */
    { 4388, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUser */
    { 4398, 1, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsGroup */
    { 4409, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsNonRoot */
    { 4636, 245, 4, 0, FIELD_OMIT_EMPTY }, /* supplementalGroups */
    { 1329, 246, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* supplementalGroupsPolicy */
    { 4655, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroup */
    { 4663, 248, 7, 0, FIELD_OMIT_EMPTY }, /* sysctls */
    { 4671, 249, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroupChangePolicy */
    { 4480, 235, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seccompProfile */
    { 4495, 236, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appArmorProfile */
    { 4691, 0, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxChangePolicy */
    /* v1.Sysctl */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 865, 0, 2, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.Affinity */
    { 1665, 254, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinity */
    { 4711, 259, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podAffinity */
    { 4723, 260, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podAntiAffinity */
    /* v1.NodeAffinity */
    { 4739, 126, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4786, 253, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.PreferredSchedulingTerm */
    { 4834, 25, 1, 0, FIELD_IS_REQUIRED }, /* weight */
    { 4841, 124, 2, 0, FIELD_IS_REQUIRED }, /* preference */
    /* v1.PodAffinity */
    { 4739, 256, 1, 0, FIELD_OMIT_EMPTY }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4786, 258, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.PodAffinityTerm */
    { 3569, 133, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 4852, 47, 2, 0, FIELD_OMIT_EMPTY }, /* namespaces */
    { 4863, 0, 3, 0, FIELD_IS_REQUIRED }, /* topologyKey */
    { 4875, 133, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 4893, 47, 5, 0, FIELD_OMIT_EMPTY }, /* matchLabelKeys */
    { 4908, 47, 6, 0, FIELD_OMIT_EMPTY }, /* mismatchLabelKeys */
    /* v1.WeightedPodAffinityTerm */
    { 4834, 25, 1, 0, FIELD_IS_REQUIRED }, /* weight */
    { 4926, 255, 2, 0, FIELD_IS_REQUIRED }, /* podAffinityTerm */
    /* v1.PodAntiAffinity */
    { 4739, 256, 1, 0, FIELD_OMIT_EMPTY }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4786, 258, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.Toleration */
    { 861, 0, 1, 0, FIELD_OMIT_EMPTY }, /* key */
    { 2422, 262, 2, 0, FIELD_OMIT_EMPTY }, /* operator */
    { 865, 0, 3, 0, FIELD_OMIT_EMPTY }, /* value */
    { 871, 55, 4, 0, FIELD_OMIT_EMPTY }, /* effect */
    { 4942, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerationSeconds */
    /* v1.HostAlias */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    { 4960, 47, 2, 0, FIELD_OMIT_EMPTY }, /* hostnames */
    /* v1.PodDNSConfig */
    { 4970, 47, 1, 0, FIELD_OMIT_EMPTY }, /* nameservers */
    { 4982, 47, 2, 0, FIELD_OMIT_EMPTY }, /* searches */
    { 1976, 268, 3, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.PodDNSConfigOption */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 865, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    /* v1.PodReadinessGate */
    { 4991, 0, 1, 0, FIELD_IS_REQUIRED }, /* conditionType */
    /* v1.TopologySpreadConstraint */
    { 5005, 25, 1, 0, FIELD_IS_REQUIRED }, /* maxSkew */
    { 4863, 0, 2, 0, FIELD_IS_REQUIRED }, /* topologyKey */
    { 5013, 273, 3, 0, FIELD_IS_REQUIRED }, /* whenUnsatisfiable */
    { 3569, 133, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 5031, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minDomains */
    { 5042, 274, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinityPolicy */
    { 5061, 274, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeTaintsPolicy */
    { 4893, 47, 8, 0, FIELD_OMIT_EMPTY }, /* matchLabelKeys */
    /* v1.PodOS */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.PodSchedulingGate */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.PodResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5078, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    { 5096, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimTemplateName */
    /* v1.PodSchedulingGroup */
    { 5122, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podGroupName */
    /* v1.PodStatus */
    { 5135, 1, 17, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 763, 284, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 319, 286, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 5154, 0, 11, 0, FIELD_OMIT_EMPTY }, /* nominatedNodeName */
    { 3973, 0, 5, 0, FIELD_OMIT_EMPTY }, /* hostIP */
    { 5172, 288, 16, 0, FIELD_OMIT_EMPTY }, /* hostIPs */
    { 5180, 0, 6, 0, FIELD_OMIT_EMPTY }, /* podIP */
    { 5186, 290, 12, 0, FIELD_OMIT_EMPTY }, /* podIPs */
    { 5193, 2, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startTime */
    { 5203, 306, 10, 0, FIELD_OMIT_EMPTY }, /* initContainerStatuses */
    { 5225, 306, 8, 0, FIELD_OMIT_EMPTY }, /* containerStatuses */
    { 5243, 307, 9, 0, FIELD_OMIT_EMPTY }, /* qosClass */
    { 5252, 306, 13, 0, FIELD_OMIT_EMPTY }, /* ephemeralContainerStatuses */
    { 5279, 0, 14, 0, FIELD_OMIT_EMPTY }, /* resize */
    { 5286, 309, 15, 0, FIELD_OMIT_EMPTY }, /* resourceClaimStatuses */
    { 5308, 312, 18, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* extendedResourceClaimStatus */
    { 2527, 39, 19, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2462, 204, 20, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 5336, 315, 21, 0, FIELD_OMIT_EMPTY }, /* nodeAllocatableResourceClaimStatuses */
    /* v1.PodCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 5135, 1, 7, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2624, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.HostIP */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    /* v1.PodIP */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    /* v1.ContainerStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5373, 294, 2, 0, FIELD_OMIT_EMPTY }, /* state */
    { 5379, 294, 3, 0, FIELD_OMIT_EMPTY }, /* lastState */
    { 5389, 4, 4, 0, FIELD_IS_REQUIRED }, /* ready */
    { 5395, 25, 5, 0, FIELD_IS_REQUIRED }, /* restartCount */
    { 1791, 0, 6, 0, FIELD_IS_REQUIRED }, /* image */
    { 5408, 0, 7, 0, FIELD_IS_REQUIRED }, /* imageID */
    { 5416, 0, 8, 0, FIELD_OMIT_EMPTY }, /* containerID */
    { 5428, 4, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* started */
    { 2527, 39, 10, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2462, 204, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 3787, 298, 12, 0, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 1802, 300, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    { 5436, 304, 14, 0, FIELD_OMIT_EMPTY }, /* allocatedResourcesStatus */
    { 4309, 227, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stopSignal */
    /* v1.ContainerState */
    { 5461, 291, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* waiting */
    { 5469, 292, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* running */
    { 5477, 293, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminated */
    /* v1.ContainerStateWaiting */
    { 549, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ContainerStateRunning */
    { 5488, 2, 1, 0, FIELD_OMIT_EMPTY }, /* startedAt */
    /* v1.ContainerStateTerminated */
    { 5498, 25, 1, 0, FIELD_IS_REQUIRED }, /* exitCode */
    { 5507, 25, 2, 0, FIELD_OMIT_EMPTY }, /* signal */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 4, 0, FIELD_OMIT_EMPTY }, /* message */
    { 5488, 2, 5, 0, FIELD_OMIT_EMPTY }, /* startedAt */
    { 5514, 2, 6, 0, FIELD_OMIT_EMPTY }, /* finishedAt */
    { 5416, 0, 7, 0, FIELD_OMIT_EMPTY }, /* containerID */
    /* v1.VolumeMountStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 4106, 0, 2, 0, FIELD_IS_REQUIRED }, /* mountPath */
    { 1728, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 4088, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnly */
    { 5525, 296, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeStatus */
    /* v1.VolumeStatus */
    { 1791, 295, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* image */
    /* v1.ImageVolumeStatus */
    { 5538, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* imageRef */
    /* v1.ContainerUser */
    { 5547, 299, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* linux */
    /* v1.LinuxContainerUser */
    { 70, 1, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 5553, 1, 2, 0, FIELD_IS_REQUIRED }, /* gid */
    { 4636, 245, 3, 0, FIELD_OMIT_EMPTY }, /* supplementalGroups */
    /* v1.ResourceStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2462, 302, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    /* v1.ResourceHealth */
    { 5557, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceID */
    { 5568, 0, 2, 0, FIELD_OMIT_EMPTY }, /* health */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* message */
    /* v1.PodResourceClaimStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5078, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    /* v1.PodExtendedResourceClaimStatus */
    { 5575, 311, 1, 0, FIELD_IS_REQUIRED }, /* requestMappings */
    { 5078, 0, 2, 0, FIELD_IS_REQUIRED }, /* resourceClaimName */
    /* v1.ContainerExtendedResourceRequest */
    { 3438, 0, 1, 0, FIELD_IS_REQUIRED }, /* containerName */
    { 4065, 0, 2, 0, FIELD_IS_REQUIRED }, /* resourceName */
    { 5591, 0, 3, 0, FIELD_IS_REQUIRED }, /* requestName */
    /* v1.NodeAllocatableResourceClaimStatus */
    { 5078, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceClaimName */
    { 2693, 313, 2, 0, FIELD_OMIT_EMPTY }, /* containers */
    { 2462, 39, 3, 0, FIELD_IS_REQUIRED }, /* resources */
    /* v1.PodAttachOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3930, 4, 1, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 5603, 4, 2, 0, FIELD_OMIT_EMPTY }, /* stdout */
    { 5610, 4, 3, 0, FIELD_OMIT_EMPTY }, /* stderr */
    { 3946, 4, 4, 0, FIELD_OMIT_EMPTY }, /* tty */
    { 5617, 0, 5, 0, FIELD_OMIT_EMPTY }, /* container */
    /* v1.PodExecOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3930, 4, 1, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 5603, 4, 2, 0, FIELD_OMIT_EMPTY }, /* stdout */
    { 5610, 4, 3, 0, FIELD_OMIT_EMPTY }, /* stderr */
    { 3946, 4, 4, 0, FIELD_OMIT_EMPTY }, /* tty */
    { 5617, 0, 5, 0, FIELD_OMIT_EMPTY }, /* container */
    { 3719, 47, 6, 0, FIELD_IS_REQUIRED }, /* command */
    /* v1.PodList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 318, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PodLogOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 5617, 0, 1, 0, FIELD_OMIT_EMPTY }, /* container */
    { 5627, 4, 2, 0, FIELD_OMIT_EMPTY }, /* follow */
    { 5634, 4, 3, 0, FIELD_OMIT_EMPTY }, /* previous */
    { 5643, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sinceSeconds */
    { 5656, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sinceTime */
    { 5666, 4, 6, 0, FIELD_OMIT_EMPTY }, /* timestamps */
    { 5677, 1, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tailLines */
    { 5687, 1, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* limitBytes */
    { 5698, 4, 9, 0, FIELD_OMIT_EMPTY }, /* insecureSkipTLSVerifyBackend */
    { 5727, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stream */
    /* v1.PodPortForwardOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 471, 319, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.PodProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1354, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.PodStatusResult */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 316, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodTemplate */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 5734, 320, 2, 0, FIELD_OMIT_EMPTY }, /* template */
    /* v1.PodTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 283, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.PodTemplateList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 322, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RangeAllocation */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 5743, 0, 2, 0, FIELD_IS_REQUIRED }, /* range */
    { 419, 19, 3, 0, FIELD_IS_REQUIRED }, /* data */
    /* v1.ReplicationController */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 325, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 328, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ReplicationControllerSpec */
    { 5749, 323, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 5758, 324, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 400, 244, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    { 5734, 320, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* template */
    /* v1.ReplicationControllerStatus */
    { 5749, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5774, 25, 2, 0, FIELD_OMIT_EMPTY }, /* fullyLabeledReplicas */
    { 5795, 25, 4, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 5809, 25, 5, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 5135, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 319, 327, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ReplicationControllerCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ReplicationControllerList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 330, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceQuota */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 337, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 338, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ResourceQuotaSpec */
    { 5827, 39, 1, 0, FIELD_OMIT_EMPTY }, /* hard */
    { 5832, 332, 2, 0, FIELD_OMIT_EMPTY }, /* scopes */
    { 5839, 336, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scopeSelector */
    /* v1.ScopeSelector */
    { 2393, 335, 1, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    /* v1.ScopedResourceSelectorRequirement */
    { 5853, 331, 1, 0, FIELD_IS_REQUIRED }, /* scopeName */
    { 2422, 333, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2431, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.ResourceQuotaStatus */
    { 5827, 39, 1, 0, FIELD_OMIT_EMPTY }, /* hard */
    { 5863, 39, 2, 0, FIELD_OMIT_EMPTY }, /* used */
    /* v1.ResourceQuotaList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 340, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Secret */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 409, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* immutable */
    { 419, 20, 2, 0, FIELD_OMIT_EMPTY }, /* data */
    { 5868, 3, 4, 0, FIELD_OMIT_EMPTY }, /* stringData */
    { 330, 0, 3, 0, FIELD_OMIT_EMPTY }, /* type */
    /* v1.SecretList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 342, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.SerializedReference */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3698, 12, 1, 0, FIELD_OMIT_EMPTY }, /* reference */
    /* v1.Service */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 353, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 361, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ServiceSpec */
    { 471, 344, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 400, 244, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    { 5879, 0, 3, 0, FIELD_OMIT_EMPTY }, /* clusterIP */
    { 5889, 47, 18, 0, FIELD_OMIT_EMPTY }, /* clusterIPs */
    { 330, 345, 4, 0, FIELD_OMIT_EMPTY }, /* type */
    { 5900, 47, 5, 0, FIELD_OMIT_EMPTY }, /* externalIPs */
    { 5912, 346, 7, 0, FIELD_OMIT_EMPTY }, /* sessionAffinity */
    { 5928, 0, 8, 0, FIELD_OMIT_EMPTY }, /* loadBalancerIP */
    { 5943, 47, 9, 0, FIELD_OMIT_EMPTY }, /* loadBalancerSourceRanges */
    { 5968, 0, 10, 0, FIELD_OMIT_EMPTY }, /* externalName */
    { 5981, 347, 11, 0, FIELD_OMIT_EMPTY }, /* externalTrafficPolicy */
    { 6003, 25, 12, 0, FIELD_OMIT_EMPTY }, /* healthCheckNodePort */
    { 6023, 4, 13, 0, FIELD_OMIT_EMPTY }, /* publishNotReadyAddresses */
    { 6048, 349, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sessionAffinityConfig */
    { 6070, 351, 19, 0, FIELD_OMIT_EMPTY }, /* ipFamilies */
    { 6081, 352, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipFamilyPolicy */
    { 6096, 4, 20, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocateLoadBalancerNodePorts */
    { 6126, 0, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* loadBalancerClass */
    { 6144, 347, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* internalTrafficPolicy */
    { 6166, 0, 23, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* trafficDistribution */
    /* v1.ServicePort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 513, 189, 2, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 522, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appProtocol */
    { 508, 25, 3, 0, FIELD_IS_REQUIRED }, /* port */
    { 6186, 217, 4, 0, FIELD_OMIT_EMPTY }, /* targetPort */
    { 6197, 25, 5, 0, FIELD_OMIT_EMPTY }, /* nodePort */
    /* v1.SessionAffinityConfig */
    { 6206, 348, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clientIP */
    /* v1.ClientIPConfig */
    { 4201, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    /* v1.ServiceStatus */
    { 6215, 358, 1, 0, FIELD_OMIT_EMPTY }, /* loadBalancer */
    { 319, 360, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.LoadBalancerStatus */
    { 6228, 357, 1, 0, FIELD_OMIT_EMPTY }, /* ingress */
    /* v1.LoadBalancerIngress */
    { 477, 0, 1, 0, FIELD_OMIT_EMPTY }, /* ip */
    { 480, 0, 2, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 6236, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipMode */
    { 471, 355, 4, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.PortStatus */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 513, 26, 2, 0, FIELD_IS_REQUIRED }, /* protocol */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* error */
    /* v1.Condition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 5135, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 769, 2, 4, 0, FIELD_IS_REQUIRED }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_IS_REQUIRED }, /* reason */
    { 342, 0, 6, 0, FIELD_IS_REQUIRED }, /* message */
    /* v1.ServiceAccount */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6243, 362, 2, 0, FIELD_OMIT_EMPTY }, /* secrets */
    { 2942, 363, 3, 0, FIELD_OMIT_EMPTY }, /* imagePullSecrets */
    { 2847, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* automountServiceAccountToken */
    /* v1.ServiceAccountList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 365, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 367, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1354, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.AdmissionReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4057, 373, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* request */
    { 6251, 378, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* response */
    /* v1.AdmissionRequest */
    { 70, 0, 1, 0, 0 }, /* uid */
    { 1, 368, 2, 0, 0 }, /* kind */
    { 3452, 369, 3, 0, 0 }, /* resource */
    { 6260, 0, 4, 0, FIELD_OMIT_EMPTY }, /* subResource */
    { 6272, 368, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestKind */
    { 6284, 369, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestResource */
    { 6300, 0, 15, 0, FIELD_OMIT_EMPTY }, /* requestSubResource */
    { 33, 0, 5, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 6, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 262, 0, 7, 0, 0 }, /* operation */
    { 6319, 372, 8, 0, 0 }, /* userInfo */
    { 6328, 45, 9, 0, FIELD_OMIT_EMPTY }, /* object */
    { 6335, 45, 10, 0, FIELD_OMIT_EMPTY }, /* oldObject */
    { 6345, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dryRun */
    { 1976, 45, 12, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.GroupVersionKind */
    { 2082, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 6352, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    { 1, 0, 3, 0, FIELD_IS_REQUIRED }, /* kind */
    /* v1.GroupVersionResource */
    { 2082, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 6352, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    { 3452, 0, 3, 0, FIELD_IS_REQUIRED }, /* resource */
    /* v1.UserInfo */
    { 6360, 0, 1, 0, FIELD_OMIT_EMPTY }, /* username */
    { 70, 0, 2, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6369, 47, 3, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 6376, 371, 4, 0, FIELD_OMIT_EMPTY }, /* extra */
    /* v1.AdmissionResponse */
    { 70, 0, 1, 0, 0 }, /* uid */
    { 6382, 4, 2, 0, 0 }, /* allowed */
    { 335, 377, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* status */
    { 6390, 19, 4, 0, FIELD_OMIT_EMPTY }, /* patch */
    { 6396, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* patchType */
    { 6406, 3, 6, 0, FIELD_OMIT_EMPTY }, /* auditAnnotations */
    { 6423, 47, 7, 0, FIELD_OMIT_EMPTY }, /* warnings */
    /* v1.Status */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 6432, 376, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* details */
    { 6440, 25, 6, 0, FIELD_OMIT_EMPTY }, /* code */
    /* v1.StatusDetails */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 2082, 0, 2, 0, FIELD_OMIT_EMPTY }, /* group */
    { 1, 0, 3, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 70, 0, 6, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6445, 375, 4, 0, FIELD_OMIT_EMPTY }, /* causes */
    { 6452, 25, 5, 0, FIELD_OMIT_EMPTY }, /* retryAfterSeconds */
    /* v1.StatusCause */
    { 549, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 6470, 0, 3, 0, FIELD_OMIT_EMPTY }, /* field */
    /* v1.MutatingAdmissionPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 398, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.MutatingAdmissionPolicySpec */
    { 6476, 379, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramKind */
    { 6486, 386, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchConstraints */
    { 6503, 388, 3, 0, FIELD_OMIT_EMPTY }, /* variables */
    { 6513, 393, 4, 0, FIELD_OMIT_EMPTY }, /* mutations */
    { 6523, 394, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6537, 396, 6, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    { 6553, 397, 7, 0, FIELD_OMIT_EMPTY }, /* reinvocationPolicy */
    /* v1.ParamKind */
    { 6, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1, 0, 2, 0, FIELD_OMIT_EMPTY }, /* kind */
    /* v1.MatchResources */
    { 4875, 133, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6572, 133, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6587, 384, 3, 0, FIELD_OMIT_EMPTY }, /* resourceRules */
    { 6601, 384, 4, 0, FIELD_OMIT_EMPTY }, /* excludeResourceRules */
    { 6622, 385, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    /* v1.NamedRuleWithOperations */
    { 6634, 47, 1, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    { 6648, 381, 1, 2, FIELD_OMIT_EMPTY }, /* operations */
    { 6659, 47, 1, 514, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 6669, 47, 2, 514, FIELD_OMIT_EMPTY }, /* apiVersions */
    { 2462, 47, 3, 514, FIELD_OMIT_EMPTY }, /* resources */
    { 6681, 382, 4, 514, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scope */
    /* v1.Variable */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6687, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.Mutation */
    { 6396, 389, 2, 0, FIELD_IS_REQUIRED }, /* patchType */
    { 6698, 390, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* applyConfiguration */
    { 6717, 391, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* jsonPatch */
    /* v1.ApplyConfiguration */
    { 6687, 0, 1, 0, FIELD_OMIT_EMPTY }, /* expression */
    /* v1.JSONPatch */
    { 6687, 0, 1, 0, FIELD_OMIT_EMPTY }, /* expression */
    /* v1.MatchCondition */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6687, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.MutatingAdmissionPolicyBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 400, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.MutatingAdmissionPolicyBindingSpec */
    { 6727, 0, 1, 0, FIELD_OMIT_EMPTY }, /* policyName */
    { 6738, 399, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramRef */
    { 6747, 386, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchResources */
    /* v1.ParamRef */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 2, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 400, 133, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 6762, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parameterNotFoundAction */
    /* v1.MutatingAdmissionPolicyBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 402, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.MutatingAdmissionPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 404, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.MutatingWebhookConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6786, 411, 2, 0, FIELD_OMIT_EMPTY }, /* webhooks */
    /* v1.MutatingWebhook */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6795, 406, 2, 0, FIELD_IS_REQUIRED }, /* clientConfig */
    { 6808, 408, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    { 6523, 394, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6622, 385, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    { 4875, 133, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6572, 133, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6814, 409, 6, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* sideEffects */
    { 4201, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 6826, 47, 8, 0, FIELD_IS_REQUIRED }, /* admissionReviewVersions */
    { 6553, 397, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reinvocationPolicy */
    { 6537, 396, 12, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    /* v1.WebhookClientConfig */
    { 6850, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* url */
    { 4283, 405, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 6854, 19, 2, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 1354, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* path */
    { 508, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.RuleWithOperations */
    { 6648, 381, 1, 0, FIELD_OMIT_EMPTY }, /* operations */
    { 6659, 47, 1, 2, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 6669, 47, 2, 2, FIELD_OMIT_EMPTY }, /* apiVersions */
    { 2462, 47, 3, 2, FIELD_OMIT_EMPTY }, /* resources */
    { 6681, 382, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scope */
    /* v1.MutatingWebhookConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 413, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingAdmissionPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 419, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 424, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ValidatingAdmissionPolicySpec */
    { 6476, 379, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramKind */
    { 6486, 386, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchConstraints */
    { 6863, 415, 3, 0, FIELD_OMIT_EMPTY }, /* validations */
    { 6523, 394, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6406, 417, 5, 0, FIELD_OMIT_EMPTY }, /* auditAnnotations */
    { 6537, 396, 6, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    { 6503, 418, 7, 0, FIELD_OMIT_EMPTY }, /* variables */
    /* v1.Validation */
    { 6687, 0, 1, 0, FIELD_IS_REQUIRED }, /* expression */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reason */
    { 6875, 0, 4, 0, FIELD_OMIT_EMPTY }, /* messageExpression */
    /* v1.AuditAnnotation */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 6893, 0, 2, 0, FIELD_IS_REQUIRED }, /* valueExpression */
    /* v1.ValidatingAdmissionPolicyStatus */
    { 5135, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 6909, 422, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* typeChecking */
    { 319, 423, 3, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.TypeChecking */
    { 6922, 421, 1, 0, FIELD_OMIT_EMPTY }, /* expressionWarnings */
    /* v1.ExpressionWarning */
    { 3412, 0, 2, 0, FIELD_IS_REQUIRED }, /* fieldRef */
    { 6941, 0, 3, 0, FIELD_IS_REQUIRED }, /* warning */
    /* v1.ValidatingAdmissionPolicyBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 427, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    /* v1.ValidatingAdmissionPolicyBindingSpec */
    { 6727, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* policyName */
    { 6738, 399, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramRef */
    { 6747, 386, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchResources */
    { 6949, 426, 4, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* validationActions */
    /* v1.ValidatingAdmissionPolicyBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 429, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingAdmissionPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 431, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingWebhookConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6786, 433, 2, 0, FIELD_OMIT_EMPTY }, /* webhooks */
    /* v1.ValidatingWebhook */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6795, 406, 2, 0, FIELD_IS_REQUIRED }, /* clientConfig */
    { 6808, 408, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    { 6523, 394, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6622, 385, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    { 4875, 133, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6572, 133, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6814, 409, 6, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* sideEffects */
    { 4201, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 6826, 47, 8, 0, FIELD_IS_REQUIRED }, /* admissionReviewVersions */
    { 6537, 396, 11, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    /* v1.ValidatingWebhookConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 435, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v2.APIGroupDiscovery */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6967, 442, 2, 0, FIELD_OMIT_EMPTY }, /* versions */
    /* v2.APIVersionDiscovery */
    { 6352, 0, 1, 0, FIELD_IS_REQUIRED }, /* version */
    { 2462, 440, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6976, 0, 3, 0, FIELD_OMIT_EMPTY }, /* freshness */
    /* v2.APIResourceDiscovery */
    { 3452, 0, 1, 0, FIELD_IS_REQUIRED }, /* resource */
    { 6986, 368, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* responseKind */
    { 6681, 0, 3, 0, FIELD_IS_REQUIRED }, /* scope */
    { 6999, 0, 4, 0, FIELD_IS_REQUIRED }, /* singularResource */
    { 7016, 313, 5, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 7022, 313, 6, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 7033, 313, 7, 0, FIELD_OMIT_EMPTY }, /* categories */
    { 7044, 438, 8, 0, FIELD_OMIT_EMPTY }, /* subresources */
    /* v2.APISubresourceDiscovery */
    { 297, 0, 1, 0, FIELD_IS_REQUIRED }, /* subresource */
    { 6986, 368, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* responseKind */
    { 7057, 436, 3, 0, FIELD_OMIT_EMPTY }, /* acceptedTypes */
    { 7016, 313, 4, 0, FIELD_IS_REQUIRED }, /* verbs */
    /* v2.APIGroupDiscoveryList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 444, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ConversionReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4057, 446, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* request */
    { 6251, 447, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* response */
    /* v1.ConversionRequest */
    { 70, 0, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 7071, 0, 2, 0, FIELD_IS_REQUIRED }, /* desiredAPIVersion */
    { 7089, 445, 3, 0, FIELD_IS_REQUIRED }, /* objects */
    /* v1.ConversionResponse */
    { 70, 0, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 7097, 445, 2, 0, FIELD_IS_REQUIRED }, /* convertedObjects */
    { 7114, 377, 3, 0, FIELD_IS_REQUIRED }, /* result */
    /* v1.CustomResourceDefinition */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 477, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 480, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CustomResourceDefinitionSpec */
    { 2082, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 1233, 448, 3, 0, FIELD_IS_REQUIRED }, /* names */
    { 6681, 0, 4, 0, FIELD_IS_REQUIRED }, /* scope */
    { 6967, 472, 7, 0, FIELD_IS_REQUIRED }, /* versions */
    { 7121, 476, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* conversion */
    { 7132, 4, 10, 0, FIELD_OMIT_EMPTY }, /* preserveUnknownFields */
    /* v1.CustomResourceDefinitionNames */
    { 7154, 0, 1, 0, FIELD_IS_REQUIRED }, /* plural */
    { 7161, 0, 2, 0, FIELD_OMIT_EMPTY }, /* singular */
    { 7022, 47, 3, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 1, 0, 4, 0, FIELD_IS_REQUIRED }, /* kind */
    { 7170, 0, 5, 0, FIELD_OMIT_EMPTY }, /* listKind */
    { 7033, 47, 6, 0, FIELD_OMIT_EMPTY }, /* categories */
    /* v1.CustomResourceDefinitionVersion */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 7179, 4, 2, 0, FIELD_IS_REQUIRED }, /* served */
    { 7186, 4, 3, 0, FIELD_IS_REQUIRED }, /* storage */
    { 7194, 4, 7, 0, FIELD_OMIT_EMPTY }, /* deprecated */
    { 7205, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deprecationWarning */
    { 7224, 463, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schema */
    { 7044, 466, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* subresources */
    { 7231, 468, 6, 0, FIELD_OMIT_EMPTY }, /* additionalPrinterColumns */
    { 7256, 470, 9, 0, FIELD_OMIT_EMPTY }, /* selectableFields */
    /* v1.CustomResourceValidation */
    { 7273, 452, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* openAPIV3Schema */
    /* v1.JSONSchemaProps */
    { 7289, 0, 1, 0, FIELD_OMIT_EMPTY }, /* id */
    { 7292, 0, 2, 0, FIELD_OMIT_EMPTY }, /* $schema */
    { 7300, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* $ref */
    { 7305, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 330, 0, 5, 0, FIELD_OMIT_EMPTY }, /* type */
    { 7317, 0, 6, 0, FIELD_OMIT_EMPTY }, /* format */
    { 7324, 0, 7, 0, FIELD_OMIT_EMPTY }, /* title */
    { 719, 449, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* default */
    { 7330, 450, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maximum */
    { 7338, 4, 10, 0, FIELD_OMIT_EMPTY }, /* exclusiveMaximum */
    { 7355, 450, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minimum */
    { 7363, 4, 12, 0, FIELD_OMIT_EMPTY }, /* exclusiveMinimum */
    { 7380, 1, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxLength */
    { 7390, 1, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minLength */
    { 7400, 0, 15, 0, FIELD_OMIT_EMPTY }, /* pattern */
    { 7408, 1, 16, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxItems */
    { 7417, 1, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minItems */
    { 7426, 4, 18, 0, FIELD_OMIT_EMPTY }, /* uniqueItems */
    { 7438, 450, 19, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* multipleOf */
    { 7449, 451, 20, 0, FIELD_OMIT_EMPTY }, /* enum */
    { 7454, 1, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxProperties */
    { 7468, 1, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minProperties */
    { 2366, 47, 23, 0, FIELD_OMIT_EMPTY }, /* required */
    { 356, 453, 24, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* items */
    { 7482, 454, 25, 0, FIELD_OMIT_EMPTY }, /* allOf */
    { 7488, 454, 26, 0, FIELD_OMIT_EMPTY }, /* oneOf */
    { 7494, 454, 27, 0, FIELD_OMIT_EMPTY }, /* anyOf */
    { 7500, 452, 28, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* not */
    { 7504, 455, 29, 0, FIELD_OMIT_EMPTY }, /* properties */
    { 7515, 456, 30, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* additionalProperties */
    { 7536, 455, 31, 0, FIELD_OMIT_EMPTY }, /* patternProperties */
    { 7554, 458, 32, 0, FIELD_OMIT_EMPTY }, /* dependencies */
    { 7567, 456, 33, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* additionalItems */
    { 7583, 455, 34, 0, FIELD_OMIT_EMPTY }, /* definitions */
    { 7595, 459, 35, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* externalDocs */
    { 7608, 449, 36, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* example */
    { 7616, 4, 37, 0, FIELD_OMIT_EMPTY }, /* nullable */
    { 7625, 4, 38, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-preserve-unknown-fields */
    { 7662, 4, 39, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-embedded-resource */
    { 7693, 4, 40, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-int-or-string */
    { 7720, 47, 41, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-list-map-keys */
    { 7747, 0, 42, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-list-type */
    { 7770, 0, 43, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-map-type */
    { 7792, 462, 44, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-validations */
    /* v1.ExternalDocumentation */
    { 7305, 0, 1, 0, FIELD_OMIT_EMPTY }, /* description */
    { 6850, 0, 2, 0, FIELD_OMIT_EMPTY }, /* url */
    /* v1.ValidationRule */
    { 7817, 0, 1, 0, FIELD_IS_REQUIRED }, /* rule */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 6875, 0, 3, 0, FIELD_OMIT_EMPTY }, /* messageExpression */
    { 549, 460, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reason */
    { 309, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fieldPath */
    { 7822, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optionalOldSelf */
    /* v1.CustomResourceSubresources */
    { 335, 464, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* status */
    { 7838, 465, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scale */
    /* v1.CustomResourceSubresourceStatus */
    /* v1.CustomResourceSubresourceScale */
    { 7844, 0, 1, 0, FIELD_IS_REQUIRED }, /* specReplicasPath */
    { 7861, 0, 2, 0, FIELD_IS_REQUIRED }, /* statusReplicasPath */
    { 7880, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelectorPath */
    /* v1.CustomResourceColumnDefinition */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 330, 0, 2, 0, FIELD_IS_REQUIRED }, /* type */
    { 7317, 0, 3, 0, FIELD_OMIT_EMPTY }, /* format */
    { 7305, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 3034, 25, 5, 0, FIELD_OMIT_EMPTY }, /* priority */
    { 7898, 0, 6, 0, FIELD_IS_REQUIRED }, /* jsonPath */
    /* v1.SelectableField */
    { 7898, 0, 1, 0, FIELD_IS_REQUIRED }, /* jsonPath */
    /* v1.CustomResourceConversion */
    { 7907, 0, 1, 0, FIELD_IS_REQUIRED }, /* strategy */
    { 7916, 475, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* webhook */
    /* v1.WebhookConversion */
    { 6795, 474, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clientConfig */
    { 7924, 47, 3, 0, FIELD_IS_REQUIRED }, /* conversionReviewVersions */
    /* v1.WebhookClientConfig */
    { 6850, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* url */
    { 4283, 473, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 6854, 19, 2, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 1354, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* path */
    { 508, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.CustomResourceDefinitionStatus */
    { 319, 479, 1, 0, 0 }, /* conditions */
    { 7949, 448, 2, 0, 0 }, /* acceptedNames */
    { 7963, 47, 3, 0, 0 }, /* storedVersions */
    { 5135, 1, 4, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    /* v1.CustomResourceDefinitionCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    { 5135, 1, 6, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    /* v1.CustomResourceDefinitionList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 482, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.APIService */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 485, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 488, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.APIServiceSpec */
    { 4283, 483, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 2082, 0, 2, 0, FIELD_OMIT_EMPTY }, /* group */
    { 6352, 0, 3, 0, FIELD_OMIT_EMPTY }, /* version */
    { 7978, 4, 4, 0, FIELD_OMIT_EMPTY }, /* insecureSkipTLSVerify */
    { 6854, 484, 5, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    { 8000, 25, 7, 0, FIELD_IS_REQUIRED }, /* groupPriorityMinimum */
    { 8021, 25, 8, 0, FIELD_IS_REQUIRED }, /* versionPriority */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 2, 0, FIELD_OMIT_EMPTY }, /* name */
    { 508, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.APIServiceStatus */
    { 319, 487, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.APIServiceCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.APIServiceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 490, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ControllerRevision */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 419, 45, 2, 0, FIELD_OMIT_EMPTY }, /* data */
    { 3357, 1, 3, 0, FIELD_IS_REQUIRED }, /* revision */
    /* v1.ControllerRevisionList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 492, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DaemonSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 496, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 499, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DaemonSetSpec */
    { 400, 133, 1, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5734, 320, 2, 0, FIELD_IS_REQUIRED }, /* template */
    { 8037, 495, 3, 0, FIELD_OMIT_EMPTY }, /* updateStrategy */
    { 5758, 25, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8052, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    /* v1.DaemonSetUpdateStrategy */
    { 330, 493, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8073, 494, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateDaemonSet */
    { 8087, 217, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 8102, 217, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxSurge */
    /* v1.DaemonSetStatus */
    { 8111, 25, 1, 0, FIELD_IS_REQUIRED }, /* currentNumberScheduled */
    { 8134, 25, 2, 0, FIELD_IS_REQUIRED }, /* numberMisscheduled */
    { 8153, 25, 3, 0, FIELD_IS_REQUIRED }, /* desiredNumberScheduled */
    { 8176, 25, 4, 0, FIELD_IS_REQUIRED }, /* numberReady */
    { 5135, 1, 5, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 8188, 25, 6, 0, FIELD_OMIT_EMPTY }, /* updatedNumberScheduled */
    { 8211, 25, 7, 0, FIELD_OMIT_EMPTY }, /* numberAvailable */
    { 8227, 25, 8, 0, FIELD_OMIT_EMPTY }, /* numberUnavailable */
    { 8245, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    { 319, 498, 10, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.DaemonSetCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.DaemonSetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 501, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Deployment */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 505, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 508, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DeploymentSpec */
    { 5749, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 400, 133, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5734, 320, 3, 0, FIELD_IS_REQUIRED }, /* template */
    { 7907, 504, 4, 0, FIELD_OMIT_EMPTY }, /* strategy */
    { 5758, 25, 5, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8052, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    { 8260, 4, 7, 0, FIELD_OMIT_EMPTY }, /* paused */
    { 8267, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* progressDeadlineSeconds */
    /* v1.DeploymentStrategy */
    { 330, 502, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8073, 503, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateDeployment */
    { 8087, 217, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 8102, 217, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxSurge */
    /* v1.DeploymentStatus */
    { 5135, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 5749, 25, 2, 0, FIELD_OMIT_EMPTY }, /* replicas */
    { 8291, 25, 3, 0, FIELD_OMIT_EMPTY }, /* updatedReplicas */
    { 5795, 25, 7, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 5809, 25, 4, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 8307, 25, 5, 0, FIELD_OMIT_EMPTY }, /* unavailableReplicas */
    { 8327, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminatingReplicas */
    { 319, 507, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 8245, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    /* v1.DeploymentCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 8347, 2, 6, 0, FIELD_OMIT_EMPTY }, /* lastUpdateTime */
    { 769, 2, 7, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.DeploymentList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 510, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ReplicaSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 511, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 514, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ReplicaSetSpec */
    { 5749, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 5758, 25, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 400, 133, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5734, 320, 3, 0, FIELD_OMIT_EMPTY }, /* template */
    /* v1.ReplicaSetStatus */
    { 5749, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5774, 25, 2, 0, FIELD_OMIT_EMPTY }, /* fullyLabeledReplicas */
    { 5795, 25, 4, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 5809, 25, 5, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 8327, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminatingReplicas */
    { 5135, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 319, 513, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ReplicaSetCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ReplicaSetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 516, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StatefulSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 523, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 526, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.StatefulSetSpec */
    { 5749, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 400, 133, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5734, 320, 3, 0, FIELD_IS_REQUIRED }, /* template */
    { 8362, 517, 4, 0, FIELD_OMIT_EMPTY }, /* volumeClaimTemplates */
    { 8383, 0, 5, 0, 0 }, /* serviceName */
    { 8395, 518, 6, 0, FIELD_OMIT_EMPTY }, /* podManagementPolicy */
    { 8037, 520, 7, 0, FIELD_OMIT_EMPTY }, /* updateStrategy */
    { 8052, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    { 5758, 25, 9, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8415, 521, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeClaimRetentionPolicy */
    { 8452, 522, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ordinals */
    /* v1.StatefulSetUpdateStrategy */
    { 330, 493, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8073, 519, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateStatefulSetStrategy */
    { 1718, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* partition */
    { 8087, 217, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    /* v1.StatefulSetPersistentVolumeClaimRetentionPolicy */
    { 8461, 0, 1, 0, FIELD_OMIT_EMPTY }, /* whenDeleted */
    { 8473, 0, 2, 0, FIELD_OMIT_EMPTY }, /* whenScaled */
    /* v1.StatefulSetOrdinals */
    { 8484, 25, 1, 0, 0 }, /* start */
    /* v1.StatefulSetStatus */
    { 5135, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 5749, 25, 2, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5795, 25, 3, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 8490, 25, 4, 0, FIELD_OMIT_EMPTY }, /* currentReplicas */
    { 8291, 25, 5, 0, FIELD_OMIT_EMPTY }, /* updatedReplicas */
    { 8506, 0, 6, 0, FIELD_OMIT_EMPTY }, /* currentRevision */
    { 8522, 0, 7, 0, FIELD_OMIT_EMPTY }, /* updateRevision */
    { 8245, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    { 319, 525, 10, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 5809, 25, 11, 0, 0 }, /* availableReplicas */
    /* v1.StatefulSetCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.StatefulSetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 528, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.SelfSubjectReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 529, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectReviewStatus */
    { 6319, 372, 1, 0, FIELD_OMIT_EMPTY }, /* userInfo */
    /* v1.TokenRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 531, 2, 0, 0 }, /* spec */
    { 335, 532, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.TokenRequestSpec */
    { 8537, 47, 1, 0, 0 }, /* audiences */
    { 3540, 1, 4, 0, FIELD_POINTER }, /* expirationSeconds */
    { 8547, 530, 3, 0, FIELD_POINTER }, /* boundObjectRef */
    /* v1.BoundObjectReference */
    { 1, 0, 1, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 2, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 33, 0, 3, 0, FIELD_OMIT_EMPTY }, /* name */
    { 70, 0, 4, 0, FIELD_OMIT_EMPTY }, /* uid */
    /* v1.TokenRequestStatus */
    { 8562, 0, 1, 0, 0 }, /* token */
    { 8568, 2, 2, 0, 0 }, /* expirationTimestamp */
    /* v1.TokenReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 533, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 534, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.TokenReviewSpec */
    { 8562, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* token */
    { 8537, 47, 2, 0, FIELD_OMIT_EMPTY }, /* audiences */
    /* v1.TokenReviewStatus */
    { 8588, 4, 1, 0, FIELD_OMIT_EMPTY }, /* authenticated */
    { 1802, 372, 2, 0, FIELD_OMIT_EMPTY }, /* user */
    { 8537, 47, 4, 0, FIELD_OMIT_EMPTY }, /* audiences */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY }, /* error */
    /* v1.LocalSubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 541, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 542, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SubjectAccessReviewSpec */
    { 8602, 539, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceAttributes */
    { 8621, 540, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nonResourceAttributes */
    { 1802, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 6369, 47, 4, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 6376, 371, 5, 0, FIELD_OMIT_EMPTY }, /* extra */
    { 70, 0, 6, 0, FIELD_OMIT_EMPTY }, /* uid */
    /* v1.ResourceAttributes */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 8643, 0, 2, 0, FIELD_OMIT_EMPTY }, /* verb */
    { 2082, 0, 3, 0, FIELD_OMIT_EMPTY }, /* group */
    { 6352, 0, 4, 0, FIELD_OMIT_EMPTY }, /* version */
    { 3452, 0, 5, 0, FIELD_OMIT_EMPTY }, /* resource */
    { 297, 0, 6, 0, FIELD_OMIT_EMPTY }, /* subresource */
    { 33, 0, 7, 0, FIELD_OMIT_EMPTY }, /* name */
    { 8648, 537, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldSelector */
    { 3569, 538, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    /* v1.FieldSelectorAttributes */
    { 8662, 0, 1, 0, FIELD_OMIT_EMPTY }, /* rawSelector */
    { 8674, 536, 2, 0, FIELD_OMIT_EMPTY }, /* requirements */
    /* v1.FieldSelectorRequirement */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2422, 0, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2431, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.LabelSelectorAttributes */
    { 8662, 0, 1, 0, FIELD_OMIT_EMPTY }, /* rawSelector */
    { 8674, 132, 2, 0, FIELD_OMIT_EMPTY }, /* requirements */
    /* v1.NonResourceAttributes */
    { 1354, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 8643, 0, 2, 0, FIELD_OMIT_EMPTY }, /* verb */
    /* v1.SubjectAccessReviewStatus */
    { 6382, 4, 1, 0, FIELD_IS_REQUIRED }, /* allowed */
    { 8687, 4, 4, 0, FIELD_OMIT_EMPTY }, /* denied */
    { 549, 0, 2, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 8694, 0, 3, 0, FIELD_OMIT_EMPTY }, /* evaluationError */
    /* v1.SelfSubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 543, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 542, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectAccessReviewSpec */
    { 8602, 539, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceAttributes */
    { 8621, 540, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nonResourceAttributes */
    /* v1.SelfSubjectRulesReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 544, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 549, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectRulesReviewSpec */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.SubjectRulesReviewStatus */
    { 6587, 546, 1, 0, FIELD_IS_REQUIRED }, /* resourceRules */
    { 8710, 548, 2, 0, FIELD_IS_REQUIRED }, /* nonResourceRules */
    { 8727, 4, 3, 0, FIELD_IS_REQUIRED }, /* incomplete */
    { 8694, 0, 4, 0, FIELD_OMIT_EMPTY }, /* evaluationError */
    /* v1.ResourceRule */
    { 7016, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6659, 47, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 2462, 47, 3, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6634, 47, 4, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    /* v1.NonResourceRule */
    { 7016, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 8738, 47, 2, 0, FIELD_OMIT_EMPTY }, /* nonResourceURLs */
    /* v1.SubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 541, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 542, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.HorizontalPodAutoscaler */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 551, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 552, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.HorizontalPodAutoscalerSpec */
    { 8754, 550, 1, 0, FIELD_IS_REQUIRED }, /* scaleTargetRef */
    { 8769, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minReplicas */
    { 8781, 25, 3, 0, FIELD_IS_REQUIRED }, /* maxReplicas */
    { 8793, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetCPUUtilizationPercentage */
    /* v1.CrossVersionObjectReference */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    /* v1.HorizontalPodAutoscalerStatus */
    { 5135, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    { 8824, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScaleTime */
    { 8490, 25, 3, 0, FIELD_IS_REQUIRED }, /* currentReplicas */
    { 8838, 25, 4, 0, FIELD_IS_REQUIRED }, /* desiredReplicas */
    { 8854, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* currentCPUUtilizationPercentage */
    /* v1.HorizontalPodAutoscalerList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 554, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Scale */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 555, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 556, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ScaleSpec */
    { 5749, 324, 1, 0, FIELD_OMIT_EMPTY }, /* replicas */
    /* v1.ScaleStatus */
    { 5749, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 400, 0, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    /* v2.HorizontalPodAutoscaler */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 571, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 582, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v2.HorizontalPodAutoscalerSpec */
    { 8754, 557, 1, 0, FIELD_IS_REQUIRED }, /* scaleTargetRef */
    { 8769, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minReplicas */
    { 8781, 25, 3, 0, FIELD_IS_REQUIRED }, /* maxReplicas */
    { 8886, 566, 4, 0, FIELD_OMIT_EMPTY }, /* metrics */
    { 8894, 570, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* behavior */
    /* v2.CrossVersionObjectReference */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    /* v2.MetricSpec */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 6328, 560, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* object */
    { 8903, 561, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pods */
    { 3452, 562, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    { 8908, 563, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerResource */
    { 8926, 564, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* external */
    /* v2.ObjectMetricSource */
    { 8935, 557, 1, 0, FIELD_IS_REQUIRED }, /* describedObject */
    { 26, 558, 2, 0, FIELD_IS_REQUIRED }, /* target */
    { 8951, 559, 3, 0, FIELD_IS_REQUIRED }, /* metric */
    /* v2.MetricTarget */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 865, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    { 8958, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageValue */
    { 8971, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageUtilization */
    /* v2.MetricIdentifier */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 400, 133, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    /* v2.PodsMetricSource */
    { 8951, 559, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 26, 558, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.ResourceMetricSource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 26, 558, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.ContainerResourceMetricSource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 26, 558, 2, 0, FIELD_IS_REQUIRED }, /* target */
    { 5617, 0, 3, 0, FIELD_IS_REQUIRED }, /* container */
    /* v2.ExternalMetricSource */
    { 8951, 559, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 26, 558, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.HorizontalPodAutoscalerBehavior */
    { 8990, 569, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleUp */
    { 8998, 569, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleDown */
    /* v2.HPAScalingRules */
    { 9008, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stabilizationWindowSeconds */
    { 9035, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selectPolicy */
    { 9048, 568, 2, 0, FIELD_OMIT_EMPTY }, /* policies */
    { 9057, 38, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerance */
    /* v2.HPAScalingPolicy */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 865, 25, 2, 0, FIELD_IS_REQUIRED }, /* value */
    { 4216, 25, 3, 0, FIELD_IS_REQUIRED }, /* periodSeconds */
    /* v2.HorizontalPodAutoscalerStatus */
    { 5135, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    { 8824, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScaleTime */
    { 8490, 25, 3, 0, FIELD_OMIT_EMPTY }, /* currentReplicas */
    { 8838, 25, 4, 0, FIELD_IS_REQUIRED }, /* desiredReplicas */
    { 9067, 579, 5, 0, 0 }, /* currentMetrics */
    { 319, 581, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v2.MetricStatus */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 6328, 573, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* object */
    { 8903, 574, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pods */
    { 3452, 575, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    { 8908, 576, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerResource */
    { 8926, 577, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* external */
    /* v2.ObjectMetricStatus */
    { 8951, 559, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9082, 572, 2, 0, FIELD_IS_REQUIRED }, /* current */
    { 8935, 557, 3, 0, FIELD_IS_REQUIRED }, /* describedObject */
    /* v2.MetricValueStatus */
    { 865, 38, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    { 8958, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageValue */
    { 8971, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageUtilization */
    /* v2.PodsMetricStatus */
    { 8951, 559, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9082, 572, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.ResourceMetricStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 9082, 572, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.ContainerResourceMetricStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 9082, 572, 2, 0, FIELD_IS_REQUIRED }, /* current */
    { 5617, 0, 3, 0, FIELD_IS_REQUIRED }, /* container */
    /* v2.ExternalMetricStatus */
    { 8951, 559, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9082, 572, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.HorizontalPodAutoscalerCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v2.HorizontalPodAutoscalerList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 584, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CronJob */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 601, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 603, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CronJobSpec */
    { 9090, 0, 1, 0, FIELD_IS_REQUIRED }, /* schedule */
    { 9099, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeZone */
    { 9108, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startingDeadlineSeconds */
    { 9132, 585, 3, 0, FIELD_OMIT_EMPTY }, /* concurrencyPolicy */
    { 9150, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* suspend */
    { 9158, 600, 5, 0, FIELD_IS_REQUIRED }, /* jobTemplate */
    { 9170, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* successfulJobsHistoryLimit */
    { 9197, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failedJobsHistoryLimit */
    /* v1.JobTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 599, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.JobSpec */
    { 9220, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parallelism */
    { 9232, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completions */
    { 2768, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* activeDeadlineSeconds */
    { 9244, 593, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podFailurePolicy */
    { 9261, 596, 16, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* successPolicy */
    { 9275, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* backoffLimit */
    { 9288, 25, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* backoffLimitPerIndex */
    { 9309, 25, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxFailedIndexes */
    { 400, 133, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 9326, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* manualSelector */
    { 5734, 320, 6, 0, FIELD_IS_REQUIRED }, /* template */
    { 9341, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ttlSecondsAfterFinished */
    { 9365, 597, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completionMode */
    { 9150, 4, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* suspend */
    { 9380, 598, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podReplacementPolicy */
    { 9401, 0, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* managedBy */
    /* v1.PodFailurePolicy */
    { 6808, 592, 1, 0, FIELD_IS_REQUIRED }, /* rules */
    /* v1.PodFailurePolicyRule */
    { 615, 586, 1, 0, FIELD_IS_REQUIRED }, /* action */
    { 9411, 588, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* onExitCodes */
    { 9423, 590, 3, 0, FIELD_OMIT_EMPTY }, /* onPodConditions */
    /* v1.PodFailurePolicyOnExitCodesRequirement */
    { 3438, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerName */
    { 2422, 587, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2431, 207, 3, 0, FIELD_IS_REQUIRED }, /* values */
    /* v1.PodFailurePolicyOnPodConditionsPattern */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    /* v1.SuccessPolicy */
    { 6808, 595, 1, 0, FIELD_IS_REQUIRED }, /* rules */
    /* v1.SuccessPolicyRule */
    { 9439, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* succeededIndexes */
    { 9456, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* succeededCount */
    /* v1.CronJobStatus */
    { 1269, 602, 1, 0, FIELD_OMIT_EMPTY }, /* active */
    { 9471, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScheduleTime */
    { 9488, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastSuccessfulTime */
    /* v1.CronJobList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 605, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Job */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 599, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 609, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.JobStatus */
    { 319, 607, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 5193, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startTime */
    { 9507, 2, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completionTime */
    { 1269, 25, 4, 0, FIELD_OMIT_EMPTY }, /* active */
    { 9522, 25, 5, 0, FIELD_OMIT_EMPTY }, /* succeeded */
    { 9532, 25, 6, 0, FIELD_OMIT_EMPTY }, /* failed */
    { 9539, 25, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminating */
    { 9551, 0, 7, 0, FIELD_OMIT_EMPTY }, /* completedIndexes */
    { 9568, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failedIndexes */
    { 9582, 608, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* uncountedTerminatedPods */
    { 5389, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ready */
    /* v1.JobCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2624, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.UncountedTerminatedPods */
    { 9522, 313, 1, 0, FIELD_OMIT_EMPTY }, /* succeeded */
    { 9532, 313, 2, 0, FIELD_OMIT_EMPTY }, /* failed */
    /* v1.JobList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 611, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CertificateSigningRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 614, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 617, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CertificateSigningRequestSpec */
    { 4057, 19, 1, 0, FIELD_IS_REQUIRED }, /* request */
    { 3558, 0, 7, 0, FIELD_IS_REQUIRED }, /* signerName */
    { 3540, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    { 9606, 613, 5, 0, FIELD_OMIT_EMPTY }, /* usages */
    { 6360, 0, 2, 0, FIELD_OMIT_EMPTY }, /* username */
    { 70, 0, 3, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6369, 47, 4, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 6376, 371, 6, 0, FIELD_OMIT_EMPTY }, /* extra */
    /* v1.CertificateSigningRequestStatus */
    { 319, 616, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 9613, 19, 2, 0, FIELD_OMIT_EMPTY }, /* certificate */
    /* v1.CertificateSigningRequestCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 6, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 8347, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastUpdateTime */
    { 769, 2, 5, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.CertificateSigningRequestList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 619, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Lease */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 620, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.LeaseSpec */
    { 9625, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* holderIdentity */
    { 9640, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* leaseDurationSeconds */
    { 9661, 34, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* acquireTime */
    { 9673, 34, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* renewTime */
    { 9683, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* leaseTransitions */
    { 7907, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* strategy */
    { 9700, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preferredHolder */
    /* v1.LeaseList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 622, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.EndpointSlice */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 9716, 0, 4, 0, FIELD_IS_REQUIRED }, /* addressType */
    { 1746, 630, 2, 0, 0 }, /* endpoints */
    { 471, 632, 3, 0, 0 }, /* ports */
    /* v1.Endpoint */
    { 443, 313, 1, 0, FIELD_IS_REQUIRED }, /* addresses */
    { 319, 623, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 480, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostname */
    { 498, 12, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetRef */
    { 9728, 3, 5, 0, FIELD_OMIT_EMPTY }, /* deprecatedTopology */
    { 489, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 9747, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* zone */
    { 9752, 628, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hints */
    /* v1.EndpointConditions */
    { 5389, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ready */
    { 9758, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serving */
    { 9539, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminating */
    /* v1.EndpointHints */
    { 9766, 625, 1, 0, FIELD_OMIT_EMPTY }, /* forZones */
    { 9775, 627, 2, 0, FIELD_OMIT_EMPTY }, /* forNodes */
    /* v1.ForZone */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ForNode */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.EndpointPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* name */
    { 513, 26, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* protocol */
    { 508, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    { 522, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appProtocol */
    /* v1.EndpointSliceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 634, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Event */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_IS_REQUIRED }, /* metadata */
    { 598, 34, 2, 0, FIELD_IS_REQUIRED }, /* eventTime */
    { 608, 635, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* series */
    { 9784, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reportingController */
    { 649, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reportingInstance */
    { 615, 0, 6, 0, FIELD_OMIT_EMPTY }, /* action */
    { 549, 0, 7, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 9804, 12, 8, 0, FIELD_OMIT_EMPTY }, /* regarding */
    { 622, 12, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* related */
    { 9814, 0, 10, 0, FIELD_OMIT_EMPTY }, /* note */
    { 330, 0, 11, 0, FIELD_OMIT_EMPTY }, /* type */
    { 9819, 33, 12, 0, FIELD_OMIT_EMPTY }, /* deprecatedSource */
    { 9836, 2, 13, 0, FIELD_OMIT_EMPTY }, /* deprecatedFirstTimestamp */
    { 9861, 2, 14, 0, FIELD_OMIT_EMPTY }, /* deprecatedLastTimestamp */
    { 9885, 25, 15, 0, FIELD_OMIT_EMPTY }, /* deprecatedCount */
    /* v1.EventSeries */
    { 592, 25, 1, 0, FIELD_IS_REQUIRED }, /* count */
    { 682, 34, 2, 0, FIELD_IS_REQUIRED }, /* lastObservedTime */
    /* v1.EventList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 637, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.FlowSchema */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 651, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 654, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.FlowSchemaSpec */
    { 9901, 638, 1, 0, FIELD_IS_REQUIRED }, /* priorityLevelConfiguration */
    { 9928, 25, 2, 0, 0 }, /* matchingPrecedence */
    { 9947, 639, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* distinguisherMethod */
    { 6808, 650, 4, 0, FIELD_OMIT_EMPTY }, /* rules */
    /* v1.PriorityLevelConfigurationReference */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.FlowDistinguisherMethod */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    /* v1.PolicyRulesWithSubjects */
    { 9967, 644, 1, 0, FIELD_IS_REQUIRED }, /* subjects */
    { 6587, 646, 2, 0, FIELD_OMIT_EMPTY }, /* resourceRules */
    { 8710, 648, 3, 0, FIELD_OMIT_EMPTY }, /* nonResourceRules */
    /* v1.Subject */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 1802, 640, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    { 2082, 641, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* group */
    { 2832, 642, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccount */
    /* v1.UserSubject */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.GroupSubject */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ServiceAccountSubject */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ResourcePolicyRule */
    { 7016, 313, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6659, 313, 2, 0, FIELD_IS_REQUIRED }, /* apiGroups */
    { 2462, 313, 3, 0, FIELD_IS_REQUIRED }, /* resources */
    { 9976, 4, 4, 0, FIELD_OMIT_EMPTY }, /* clusterScope */
    { 4852, 313, 5, 0, 0 }, /* namespaces */
    /* v1.NonResourcePolicyRule */
    { 7016, 313, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 8738, 313, 6, 0, FIELD_IS_REQUIRED }, /* nonResourceURLs */
    /* v1.FlowSchemaStatus */
    { 319, 653, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.FlowSchemaCondition */
    { 330, 0, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.FlowSchemaList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 656, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PriorityLevelConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 661, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 664, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PriorityLevelConfigurationSpec */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 9989, 659, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* limited */
    { 9997, 660, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exempt */
    /* v1.LimitedPriorityLevelConfiguration */
    { 10004, 25, 1, 0, FIELD_POINTER }, /* nominalConcurrencyShares */
    { 10029, 658, 2, 0, FIELD_OMIT_EMPTY }, /* limitResponse */
    { 10043, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lendablePercent */
    { 10059, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* borrowingLimitPercent */
    /* v1.LimitResponse */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 10081, 657, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* queuing */
    /* v1.QueuingConfiguration */
    { 10089, 25, 1, 0, 0 }, /* queues */
    { 10096, 25, 2, 0, 0 }, /* handSize */
    { 10105, 25, 3, 0, 0 }, /* queueLengthLimit */
    /* v1.ExemptPriorityLevelConfiguration */
    { 10004, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nominalConcurrencyShares */
    { 10043, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lendablePercent */
    /* v1.PriorityLevelConfigurationStatus */
    { 319, 663, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.PriorityLevelConfigurationCondition */
    { 330, 0, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.PriorityLevelConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 666, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.IPAddress */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 668, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    /* v1.IPAddressSpec */
    { 10122, 667, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parentRef */
    /* v1.ParentReference */
    { 2082, 0, 1, 0, FIELD_OMIT_EMPTY }, /* group */
    { 3452, 0, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* resource */
    { 51, 0, 3, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 4, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* name */
    /* v1.IPAddressList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 670, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Ingress */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 681, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 687, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.IngressSpec */
    { 10132, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ingressClassName */
    { 10149, 673, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultBackend */
    { 10164, 675, 2, 0, FIELD_OMIT_EMPTY }, /* tls */
    { 6808, 680, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    /* v1.IngressBackend */
    { 4283, 672, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 3452, 135, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    /* v1.IngressServiceBackend */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 508, 671, 2, 0, FIELD_OMIT_EMPTY }, /* port */
    /* v1.ServiceBackendPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 10168, 25, 2, 0, FIELD_OMIT_EMPTY }, /* number */
    /* v1.IngressTLS */
    { 10175, 47, 1, 0, FIELD_OMIT_EMPTY }, /* hosts */
    { 1984, 0, 2, 0, FIELD_OMIT_EMPTY }, /* secretName */
    /* v1.IngressRule */
    { 677, 0, 1, 0, FIELD_OMIT_EMPTY }, /* host */
    { 10181, 678, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* http */
    /* v1.HTTPIngressRuleValue */
    { 10186, 677, 1, 0, FIELD_IS_REQUIRED }, /* paths */
    /* v1.HTTPIngressPath */
    { 1354, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 10192, 0, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* pathType */
    { 10201, 673, 2, 0, FIELD_IS_REQUIRED }, /* backend */
    /* v1.IngressStatus */
    { 6215, 686, 1, 0, FIELD_OMIT_EMPTY }, /* loadBalancer */
    /* v1.IngressLoadBalancerStatus */
    { 6228, 685, 1, 0, FIELD_OMIT_EMPTY }, /* ingress */
    /* v1.IngressLoadBalancerIngress */
    { 477, 0, 1, 0, FIELD_OMIT_EMPTY }, /* ip */
    { 480, 0, 2, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 471, 683, 4, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.IngressPortStatus */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 513, 26, 2, 0, FIELD_IS_REQUIRED }, /* protocol */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* error */
    /* v1.IngressClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 689, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.IngressClassSpec */
    { 224, 0, 1, 0, FIELD_OMIT_EMPTY }, /* controller */
    { 10209, 688, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parameters */
    /* v1.IngressClassParametersReference */
    { 2518, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 6681, 0, 4, 0, FIELD_POINTER }, /* scope */
    { 51, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespace */
    /* v1.IngressClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 691, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.IngressList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 693, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.NetworkPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 705, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.NetworkPolicySpec */
    { 10220, 133, 1, 0, 0 }, /* podSelector */
    { 6228, 700, 2, 0, FIELD_OMIT_EMPTY }, /* ingress */
    { 10232, 702, 3, 0, FIELD_OMIT_EMPTY }, /* egress */
    { 10239, 704, 4, 0, FIELD_OMIT_EMPTY }, /* policyTypes */
    /* v1.NetworkPolicyIngressRule */
    { 471, 695, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 10251, 698, 2, 0, FIELD_OMIT_EMPTY }, /* from */
    /* v1.NetworkPolicyPort */
    { 513, 26, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* protocol */
    { 508, 217, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    { 10256, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* endPort */
    /* v1.NetworkPolicyPeer */
    { 10220, 133, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podSelector */
    { 4875, 133, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 10264, 696, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipBlock */
    /* v1.IPBlock */
    { 10272, 0, 1, 0, FIELD_IS_REQUIRED }, /* cidr */
    { 10277, 47, 2, 0, FIELD_OMIT_EMPTY }, /* except */
    /* v1.NetworkPolicyEgressRule */
    { 471, 695, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 10284, 698, 2, 0, FIELD_OMIT_EMPTY }, /* to */
    /* v1.NetworkPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 707, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceCIDR */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 708, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 709, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ServiceCIDRSpec */
    { 10287, 47, 1, 0, FIELD_OMIT_EMPTY }, /* cidrs */
    /* v1.ServiceCIDRStatus */
    { 319, 360, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ServiceCIDRList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 711, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RuntimeClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10293, 0, 2, 0, FIELD_IS_REQUIRED }, /* handler */
    { 3121, 712, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* overhead */
    { 10301, 713, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scheduling */
    /* v1.Overhead */
    { 10312, 39, 1, 0, FIELD_OMIT_EMPTY }, /* podFixed */
    /* v1.Scheduling */
    { 2800, 244, 1, 0, FIELD_OMIT_EMPTY }, /* nodeSelector */
    { 2992, 264, 2, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    /* v1.RuntimeClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 715, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Eviction */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10321, 717, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deleteOptions */
    /* v1.DeleteOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 10335, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gracePeriodSeconds */
    { 10354, 716, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preconditions */
    { 10368, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* orphanDependents */
    { 10385, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* propagationPolicy */
    { 6345, 47, 5, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 10403, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ignoreStoreReadErrorWithClusterBreakingPotential */
    /* v1.Preconditions */
    { 70, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* uid */
    { 74, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceVersion */
    /* v1.PodDisruptionBudget */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 720, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 722, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodDisruptionBudgetSpec */
    { 10452, 217, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minAvailable */
    { 400, 718, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 8087, 217, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 10465, 719, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* unhealthyPodEvictionPolicy */
    /* v1.PodDisruptionBudgetStatus */
    { 5135, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 10492, 721, 2, 0, FIELD_OMIT_EMPTY }, /* disruptedPods */
    { 10506, 25, 3, 0, 0 }, /* disruptionsAllowed */
    { 10525, 25, 4, 0, 0 }, /* currentHealthy */
    { 10540, 25, 5, 0, 0 }, /* desiredHealthy */
    { 10555, 25, 6, 0, 0 }, /* expectedPods */
    { 319, 360, 7, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.PodDisruptionBudgetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 724, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterRole */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6808, 726, 2, 0, 0 }, /* rules */
    { 10568, 728, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* aggregationRule */
    /* v1.PolicyRule */
    { 7016, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6659, 47, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 2462, 47, 3, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6634, 47, 4, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    { 8738, 47, 5, 0, FIELD_OMIT_EMPTY }, /* nonResourceURLs */
    /* v1.AggregationRule */
    { 10584, 727, 1, 0, FIELD_OMIT_EMPTY }, /* clusterRoleSelectors */
    /* v1.ClusterRoleBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 9967, 730, 2, 0, FIELD_OMIT_EMPTY }, /* subjects */
    { 10605, 731, 3, 0, FIELD_IS_REQUIRED }, /* roleRef */
    /* v1.Subject */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 2518, 0, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroup */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 51, 0, 4, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.RoleRef */
    { 2518, 0, 1, 0, 0 }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ClusterRoleBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 733, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterRoleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 735, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Role */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6808, 726, 2, 0, 0 }, /* rules */
    /* v1.RoleBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 9967, 730, 2, 0, FIELD_OMIT_EMPTY }, /* subjects */
    { 10605, 731, 3, 0, FIELD_IS_REQUIRED }, /* roleRef */
    /* v1.RoleBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 737, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RoleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 739, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DeviceClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 746, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.DeviceClassSpec */
    { 10613, 742, 1, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 997, 745, 2, 0, FIELD_OMIT_EMPTY }, /* config */
    { 10623, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* extendedResourceName */
    /* v1.DeviceSelector */
    { 10644, 740, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cel */
    /* v1.CELDeviceSelector */
    { 6687, 0, 1, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.DeviceClassConfiguration */
    { 10648, 743, 1, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.OpaqueDeviceConfiguration */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 10209, 45, 2, 0, FIELD_IS_REQUIRED }, /* parameters */
    /* v1.DeviceClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 748, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceClaim */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 764, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 777, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ResourceClaimSpec */
    { 10655, 763, 1, 0, 0 }, /* devices */
    /* v1.DeviceClaim */
    { 2509, 758, 1, 0, 0 }, /* requests */
    { 10663, 760, 2, 0, FIELD_OMIT_EMPTY }, /* constraints */
    { 997, 762, 3, 0, FIELD_OMIT_EMPTY }, /* config */
    /* v1.DeviceRequest */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 10675, 754, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exactly */
    { 10683, 756, 3, 0, FIELD_OMIT_EMPTY }, /* firstAvailable */
    /* v1.ExactDeviceRequest */
    { 10698, 0, 1, 0, FIELD_IS_REQUIRED }, /* deviceClassName */
    { 10613, 742, 2, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 10714, 0, 3, 0, FIELD_OMIT_EMPTY }, /* allocationMode */
    { 592, 1, 4, 0, FIELD_OMIT_EMPTY }, /* count */
    { 10729, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* adminAccess */
    { 2992, 752, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 915, 753, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    /* v1.DeviceToleration */
    { 861, 0, 1, 0, FIELD_OMIT_EMPTY }, /* key */
    { 2422, 749, 2, 0, FIELD_OMIT_EMPTY }, /* operator */
    { 865, 0, 3, 0, FIELD_OMIT_EMPTY }, /* value */
    { 871, 750, 4, 0, FIELD_OMIT_EMPTY }, /* effect */
    { 4942, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerationSeconds */
    /* v1.CapacityRequirements */
    { 2509, 39, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    /* v1.DeviceSubRequest */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 10698, 0, 2, 0, FIELD_IS_REQUIRED }, /* deviceClassName */
    { 10613, 742, 3, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 10714, 0, 4, 0, FIELD_OMIT_EMPTY }, /* allocationMode */
    { 592, 1, 5, 0, FIELD_OMIT_EMPTY }, /* count */
    { 2992, 752, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 915, 753, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    /* v1.DeviceConstraint */
    { 2509, 47, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 10741, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchAttribute */
    { 10756, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* distinctAttribute */
    /* v1.DeviceClaimConfiguration */
    { 2509, 47, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 10648, 743, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.ResourceClaimStatus */
    { 10774, 771, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocation */
    { 10785, 773, 2, 0, FIELD_OMIT_EMPTY }, /* reservedFor */
    { 10655, 776, 4, 0, FIELD_OMIT_EMPTY }, /* devices */
    /* v1.AllocationResult */
    { 10655, 770, 1, 0, FIELD_OMIT_EMPTY }, /* devices */
    { 2800, 126, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 10797, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocationTimestamp */
    /* v1.DeviceAllocationResult */
    { 10817, 766, 1, 0, FIELD_OMIT_EMPTY }, /* results */
    { 997, 769, 2, 0, FIELD_OMIT_EMPTY }, /* config */
    /* v1.DeviceRequestAllocationResult */
    { 4057, 0, 1, 0, FIELD_IS_REQUIRED }, /* request */
    { 1969, 0, 2, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1797, 0, 3, 0, FIELD_IS_REQUIRED }, /* pool */
    { 10825, 0, 4, 0, FIELD_IS_REQUIRED }, /* device */
    { 10729, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* adminAccess */
    { 2992, 752, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 10832, 47, 7, 0, FIELD_OMIT_EMPTY }, /* bindingConditions */
    { 10850, 47, 8, 0, FIELD_OMIT_EMPTY }, /* bindingFailureConditions */
    { 10875, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareID */
    { 10883, 39, 10, 0, FIELD_OMIT_EMPTY }, /* consumedCapacity */
    /* v1.DeviceAllocationConfiguration */
    { 556, 767, 1, 0, FIELD_IS_REQUIRED }, /* source */
    { 2509, 47, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 10648, 743, 1, 3, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.ResourceClaimConsumerReference */
    { 2518, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiGroup */
    { 3452, 0, 3, 0, FIELD_IS_REQUIRED }, /* resource */
    { 33, 0, 4, 0, FIELD_IS_REQUIRED }, /* name */
    { 70, 0, 5, 0, FIELD_IS_REQUIRED }, /* uid */
    /* v1.AllocatedDeviceStatus */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1797, 0, 2, 0, FIELD_IS_REQUIRED }, /* pool */
    { 10825, 0, 3, 0, FIELD_IS_REQUIRED }, /* device */
    { 10875, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareID */
    { 319, 423, 4, 0, 0 }, /* conditions */
    { 419, 45, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* data */
    { 10900, 774, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* networkData */
    /* v1.NetworkDeviceData */
    { 10912, 0, 1, 0, FIELD_OMIT_EMPTY }, /* interfaceName */
    { 10926, 47, 2, 0, FIELD_OMIT_EMPTY }, /* ips */
    { 10930, 0, 3, 0, FIELD_OMIT_EMPTY }, /* hardwareAddress */
    /* v1.ResourceClaimList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 779, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceClaimTemplate */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 780, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ResourceClaimTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 764, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ResourceClaimTemplateList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 782, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceSlice */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 804, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ResourceSliceSpec */
    { 1969, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1797, 783, 2, 0, FIELD_IS_REQUIRED }, /* pool */
    { 489, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 2800, 126, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 10946, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allNodes */
    { 10655, 801, 6, 0, FIELD_OMIT_EMPTY }, /* devices */
    { 10955, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perDeviceNodeSelection */
    { 10978, 803, 8, 0, FIELD_OMIT_EMPTY }, /* sharedCounters */
    /* v1.ResourcePool */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 90, 1, 2, 0, FIELD_IS_REQUIRED }, /* generation */
    { 10993, 1, 3, 0, FIELD_IS_REQUIRED }, /* resourceSliceCount */
    /* v1.Device */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11012, 786, 2, 0, FIELD_OMIT_EMPTY }, /* attributes */
    { 915, 791, 3, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 11023, 795, 4, 0, FIELD_OMIT_EMPTY }, /* consumesCounters */
    { 489, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 2800, 126, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 10946, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allNodes */
    { 830, 797, 8, 0, FIELD_OMIT_EMPTY }, /* taints */
    { 11040, 4, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* bindsToNode */
    { 10832, 47, 10, 0, FIELD_OMIT_EMPTY }, /* bindingConditions */
    { 10850, 47, 11, 0, FIELD_OMIT_EMPTY }, /* bindingFailureConditions */
    { 11052, 4, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowMultipleAllocations */
    { 11077, 799, 13, 0, FIELD_OMIT_EMPTY }, /* nodeAllocatableResourceMappings */
    /* v1.DeviceAttribute */
    { 11109, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* int */
    { 11113, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* bool */
    { 11118, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* string */
    { 6352, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* version */
    { 11125, 245, 6, 0, FIELD_OMIT_EMPTY }, /* ints */
    { 11130, 784, 7, 0, FIELD_OMIT_EMPTY }, /* bools */
    { 11136, 47, 8, 0, FIELD_OMIT_EMPTY }, /* strings */
    { 6967, 47, 9, 0, FIELD_OMIT_EMPTY }, /* versions */
    /* v1.DeviceCapacity */
    { 865, 38, 1, 0, FIELD_IS_REQUIRED }, /* value */
    { 11144, 789, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestPolicy */
    /* v1.CapacityRequestPolicy */
    { 719, 38, 1, 0, FIELD_POINTER }, /* default */
    { 11158, 787, 3, 0, FIELD_OMIT_EMPTY }, /* validValues */
    { 11170, 788, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* validRange */
    /* v1.CapacityRequestPolicyRange */
    { 715, 38, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY | FIELD_POINTER }, /* min */
    { 711, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* max */
    { 11181, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* step */
    /* v1.DeviceCounterConsumption */
    { 11186, 0, 1, 0, FIELD_IS_REQUIRED }, /* counterSet */
    { 11197, 793, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* counters */
    /* v1.Counter */
    { 865, 38, 1, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.DeviceTaint */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 865, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 871, 750, 3, 0, FIELD_IS_REQUIRED }, /* effect */
    { 878, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeAdded */
    /* v1.NodeAllocatableResourceMapping */
    { 11206, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacityKey */
    { 11218, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocationMultiplier */
    /* v1.CounterSet */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11197, 793, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* counters */
    /* v1.ResourceSliceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 806, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PriorityClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 865, 25, 2, 0, 0 }, /* value */
    { 11239, 4, 3, 0, FIELD_OMIT_EMPTY }, /* globalDefault */
    { 7305, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 3104, 272, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preemptionPolicy */
    /* v1.PriorityClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 808, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSIDriver */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 811, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.CSIDriverSpec */
    { 11253, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* attachRequired */
    { 11268, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podInfoOnMount */
    { 11283, 313, 3, 0, FIELD_OMIT_EMPTY }, /* volumeLifecycleModes */
    { 11304, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageCapacity */
    { 11320, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroupPolicy */
    { 11334, 810, 6, 0, FIELD_OMIT_EMPTY }, /* tokenRequests */
    { 11348, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requiresRepublish */
    { 11366, 4, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxMount */
    { 11379, 1, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAllocatableUpdatePeriodSeconds */
    { 11414, 4, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccountTokenInSecrets */
    { 11443, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preventPodSchedulingIfMissing */
    /* v1.TokenRequest */
    { 3531, 0, 1, 0, FIELD_IS_REQUIRED }, /* audience */
    { 3540, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    /* v1.CSIDriverList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 813, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSINode */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 817, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.CSINodeSpec */
    { 11473, 816, 1, 0, FIELD_IS_REQUIRED }, /* drivers */
    /* v1.CSINodeDriver */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11481, 0, 2, 0, FIELD_IS_REQUIRED }, /* nodeID */
    { 11488, 47, 3, 0, 0 }, /* topologyKeys */
    { 924, 814, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocatable */
    /* v1.VolumeNodeResources */
    { 592, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* count */
    /* v1.CSINodeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 819, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSIStorageCapacity */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 11501, 133, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeTopology */
    { 1624, 0, 3, 0, FIELD_IS_REQUIRED }, /* storageClassName */
    { 915, 38, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 11514, 38, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maximumVolumeSize */
    /* v1.CSIStorageCapacityList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 821, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StorageClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 11532, 0, 2, 0, FIELD_IS_REQUIRED }, /* provisioner */
    { 10209, 3, 3, 0, FIELD_OMIT_EMPTY }, /* parameters */
    { 11544, 119, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reclaimPolicy */
    { 1641, 47, 5, 0, FIELD_OMIT_EMPTY }, /* mountOptions */
    { 11558, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowVolumeExpansion */
    { 11579, 822, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeBindingMode */
    { 11597, 826, 8, 0, FIELD_OMIT_EMPTY }, /* allowedTopologies */
    /* v1.TopologySelectorTerm */
    { 11615, 824, 1, 0, FIELD_OMIT_EMPTY }, /* matchLabelExpressions */
    /* v1.TopologySelectorLabelRequirement */
    { 861, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2431, 47, 2, 0, FIELD_IS_REQUIRED }, /* values */
    /* v1.StorageClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 828, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.VolumeAttachment */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 830, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 832, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.VolumeAttachmentSpec */
    { 11637, 0, 1, 0, FIELD_IS_REQUIRED }, /* attacher */
    { 556, 829, 2, 0, FIELD_IS_REQUIRED }, /* source */
    { 489, 0, 3, 0, FIELD_IS_REQUIRED }, /* nodeName */
    /* v1.VolumeAttachmentSource */
    { 11646, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeName */
    { 11667, 128, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* inlineVolumeSpec */
    /* v1.VolumeAttachmentStatus */
    { 11684, 4, 1, 0, FIELD_IS_REQUIRED }, /* attached */
    { 11693, 3, 2, 0, FIELD_OMIT_EMPTY }, /* attachmentMetadata */
    { 11712, 831, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* attachError */
    { 11724, 831, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* detachError */
    /* v1.VolumeError */
    { 272, 2, 1, 0, FIELD_OMIT_EMPTY }, /* time */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 11736, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* errorCode */
    /* v1.VolumeAttachmentList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 834, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.VolumeAttributesClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 11746, 0, 2, 0, FIELD_IS_REQUIRED }, /* driverName */
    { 10209, 3, 3, 0, FIELD_OMIT_EMPTY }, /* parameters */
    /* v1.VolumeAttributesClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 836, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CreateOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6345, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 11757, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 11770, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.UpdateOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6345, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 11757, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 11770, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.PatchOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6345, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 11786, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* force */
    { 11757, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 11770, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.GetOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 74, 0, 1, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    /* v1.ListOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3569, 0, 1, 0, FIELD_OMIT_EMPTY }, /* labelSelector */
    { 8648, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fieldSelector */
    { 11792, 4, 3, 0, FIELD_OMIT_EMPTY }, /* watch */
    { 11798, 4, 9, 0, FIELD_OMIT_EMPTY }, /* allowWatchBookmarks */
    { 74, 0, 4, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 11818, 0, 10, 0, FIELD_OMIT_EMPTY }, /* resourceVersionMatch */
    { 4201, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 11839, 1, 7, 0, FIELD_OMIT_EMPTY }, /* limit */
    { 362, 0, 8, 0, FIELD_OMIT_EMPTY }, /* continue */
    { 11845, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sendInitialEvents */
    { 11863, 0, 15, 0, FIELD_OMIT_EMPTY }, /* shardSelector */
    /* v1.WatchEvent */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 6328, 45, 2, 0, FIELD_IS_REQUIRED }, /* object */
    /* v1.Table */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 0, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 11877, 838, 0, 0, FIELD_IS_REQUIRED }, /* columnDefinitions */
    { 11895, 842, 0, 0, FIELD_IS_REQUIRED }, /* rows */
    /* v1.TableColumnDefinition */
    { 33, 0, 0, 0, FIELD_IS_REQUIRED }, /* name */
    { 330, 0, 0, 0, FIELD_IS_REQUIRED }, /* type */
    { 7317, 0, 0, 0, FIELD_IS_REQUIRED }, /* format */
    { 7305, 0, 0, 0, FIELD_IS_REQUIRED }, /* description */
    { 3034, 25, 0, 0, FIELD_IS_REQUIRED }, /* priority */
    /* v1.TableRow */
    { 11900, 451, 0, 0, FIELD_IS_REQUIRED }, /* cells */
    { 319, 840, 0, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 6328, 45, 0, 0, FIELD_OMIT_EMPTY }, /* object */
    /* v1.TableRowCondition */
    { 330, 0, 0, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 0, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 0, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 0, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.TableOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 11906, 0, 1, 0, FIELD_OMIT_EMPTY }, /* includeObject */
    /* v1.PartialObjectMetadata */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    /* v1.PartialObjectMetadataList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 844, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.APIGroup */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6967, 846, 2, 0, FIELD_IS_REQUIRED }, /* versions */
    { 11920, 845, 3, 0, FIELD_OMIT_EMPTY }, /* preferredVersion */
    { 11937, 848, 4, 0, FIELD_OMIT_EMPTY }, /* serverAddressByClientCIDRs */
    /* v1.GroupVersionForDiscovery */
    { 11964, 0, 1, 0, FIELD_IS_REQUIRED }, /* groupVersion */
    { 6352, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    /* v1.ServerAddressByClientCIDR */
    { 11977, 0, 1, 0, FIELD_IS_REQUIRED }, /* clientCIDR */
    { 11988, 0, 2, 0, FIELD_IS_REQUIRED }, /* serverAddress */
    /* v1.APIGroupList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6369, 850, 1, 0, FIELD_IS_REQUIRED }, /* groups */
    /* v1.APIResourceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 11964, 0, 1, 0, FIELD_IS_REQUIRED }, /* groupVersion */
    { 2462, 852, 2, 0, FIELD_IS_REQUIRED }, /* resources */
    /* v1.APIResource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 12002, 0, 6, 0, FIELD_IS_REQUIRED }, /* singularName */
    { 12015, 4, 2, 0, FIELD_IS_REQUIRED }, /* namespaced */
    { 2082, 0, 8, 0, FIELD_OMIT_EMPTY }, /* group */
    { 6352, 0, 9, 0, FIELD_OMIT_EMPTY }, /* version */
    { 1, 0, 3, 0, FIELD_IS_REQUIRED }, /* kind */
    { 7016, 370, 1, 4, FIELD_IS_REQUIRED }, /* verbs */
    { 7022, 47, 5, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 7033, 47, 7, 0, FIELD_OMIT_EMPTY }, /* categories */
    { 12026, 0, 10, 0, FIELD_OMIT_EMPTY }, /* storageVersionHash */
    /* v1.APIVersions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6967, 47, 1, 0, FIELD_IS_REQUIRED }, /* versions */
    { 11937, 848, 2, 0, FIELD_IS_REQUIRED }, /* serverAddressByClientCIDRs */
};

const struct builtin_type_row builtin_types[] = {
    { 12045, 12072, 0, 4 },
    { 12083, 12131, 4, 15 },
    { 12145, 12197, 19, 6 },
    { 12215, 12271, 25, 7 },
    { 12293, 12328, 32, 7 },
    { 12347, 12382, 39, 4 },
    { 12401, 12439, 43, 4 },
    { 12461, 12500, 47, 4 },
    { 12523, 12569, 51, 5 },
    { 12581, 12628, 56, 1 },
    { 12641, 12670, 57, 6 },
    { 12683, 12716, 63, 4 },
    { 12733, 12762, 67, 4 },
    { 12775, 12809, 71, 3 },
    { 12827, 12862, 74, 4 },
    { 12881, 12913, 78, 4 },
    { 12929, 12962, 82, 4 },
    { 12979, 13004, 86, 17 },
    { 13013, 13044, 103, 2 },
    { 13059, 13090, 105, 2 },
    { 13105, 13134, 107, 4 },
    { 13147, 13177, 111, 4 },
    { 13191, 13225, 115, 1 },
    { 13243, 13277, 116, 6 },
    { 13295, 13329, 122, 4 },
    { 13347, 13371, 126, 4 },
    { 13379, 13408, 130, 5 },
    { 13421, 13454, 135, 1 },
    { 13471, 13506, 136, 2 },
    { 13525, 13563, 138, 5 },
    { 13585, 13618, 143, 4 },
    { 13635, 13659, 147, 5 },
    { 13667, 13695, 152, 7 },
    { 13707, 13732, 159, 4 },
    { 13741, 13777, 163, 1 },
    { 13797, 13842, 164, 5 },
    { 13871, 13901, 169, 14 },
    { 13915, 13948, 183, 6 },
    { 13965, 13996, 189, 2 },
    { 14011, 14050, 191, 1 },
    { 14073, 14107, 192, 1 },
    { 14125, 14159, 193, 11 },
    { 14177, 14211, 204, 1 },
    { 14229, 14263, 205, 2 },
    { 14281, 14315, 207, 2 },
    { 14333, 14369, 209, 4 },
    { 14389, 14427, 213, 2 },
    { 14449, 14495, 215, 2 },
    { 14525, 14557, 217, 1 },
    { 14573, 14601, 218, 4 },
    { 14613, 14649, 222, 3 },
    { 14669, 14705, 225, 5 },
    { 14725, 14765, 230, 31 },
    { 14789, 14838, 261, 4 },
    { 14871, 14923, 265, 4 },
    { 14959, 14999, 269, 2 },
    { 15023, 15074, 271, 4 },
    { 15109, 15144, 275, 3 },
    { 15163, 15208, 278, 8 },
    { 15237, 15272, 286, 2 },
    { 15291, 15338, 288, 11 },
    { 15369, 15417, 299, 4 },
    { 15449, 15497, 303, 6 },
    { 15529, 15563, 309, 5 },
    { 15581, 15620, 314, 2 },
    { 15643, 15689, 316, 5 },
    { 15719, 15770, 321, 4 },
    { 15805, 15855, 325, 4 },
    { 15889, 15928, 329, 6 },
    { 15951, 15992, 335, 6 },
    { 16017, 16069, 341, 2 },
    { 16105, 16145, 343, 3 },
    { 16169, 16218, 346, 10 },
    { 16251, 16288, 356, 2 },
    { 16309, 16360, 358, 5 },
    { 16395, 16440, 363, 10 },
    { 16469, 16507, 373, 1 },
    { 16529, 16561, 374, 1 },
    { 16577, 16613, 375, 2 },
    { 16633, 16676, 377, 3 },
    { 16703, 16745, 380, 4 },
    { 16771, 16812, 384, 5 },
    { 16837, 16882, 389, 9 },
    { 16911, 16962, 398, 2 },
    { 16979, 17041, 400, 3 },
    { 17069, 17115, 403, 2 },
    { 17145, 17190, 405, 3 },
    { 17219, 17259, 408, 4 },
    { 17283, 17330, 412, 8 },
    { 17361, 17411, 420, 6 },
    { 17445, 17483, 426, 2 },
    { 17505, 17550, 428, 4 },
    { 17579, 17619, 432, 4 },
    { 17643, 17666, 436, 5 },
    { 17673, 17700, 441, 42 },
    { 17711, 17737, 483, 31 },
    { 17747, 17787, 514, 2 },
    { 17811, 17850, 516, 3 },
    { 17873, 17911, 519, 4 },
    { 17933, 17962, 523, 3 },
    { 17975, 18012, 526, 11 },
    { 18033, 18073, 537, 1 },
    { 18097, 18138, 538, 3 },
    { 18163, 18216, 541, 2 },
    { 18253, 18288, 543, 8 },
    { 18307, 18343, 551, 5 },
    { 18363, 18401, 556, 4 },
    { 18423, 18461, 560, 6 },
    { 18483, 18526, 566, 2 },
    { 18553, 18594, 568, 4 },
    { 18619, 18658, 572, 2 },
    { 18681, 18722, 574, 3 },
    { 18747, 18788, 577, 3 },
    { 18813, 18854, 580, 4 },
    { 18879, 18920, 584, 2 },
    { 18945, 18981, 586, 6 },
    { 19001, 19037, 592, 3 },
    { 19057, 19098, 595, 1 },
    { 19123, 19162, 596, 3 },
    { 19185, 19234, 599, 3 },
    { 19267, 19315, 602, 5 },
    { 19347, 19391, 607, 7 },
    { 19419, 19458, 614, 10 },
    { 19481, 19522, 624, 5 },
    { 19547, 19582, 629, 5 },
    { 19601, 19642, 634, 1 },
    { 19667, 19716, 635, 2 },
    { 19749, 19786, 637, 2 },
    { 19807, 19836, 639, 25 },
    { 19849, 19882, 664, 5 },
    { 19899, 19932, 669, 3 },
    { 19949, 19987, 672, 2 },
    { 20009, 20044, 674, 2 },
    { 20063, 20089, 676, 3 },
    { 20099, 20131, 679, 5 },
    { 20147, 20187, 684, 3 },
    { 20211, 20248, 687, 3 },
    { 20269, 20304, 690, 4 },
    { 20323, 20363, 694, 3 },
    { 20387, 20420, 697, 2 },
    { 20437, 20478, 699, 2 },
    { 20503, 20543, 701, 2 },
    { 20567, 20618, 703, 2 },
    { 20653, 20684, 705, 7 },
    { 20699, 20731, 712, 2 },
    { 20747, 20772, 714, 10 },
    { 20781, 20811, 724, 1 },
    { 20825, 20858, 725, 5 },
    { 20875, 20905, 730, 2 },
    { 20919, 20954, 732, 2 },
    { 20973, 21003, 734, 2 },
    { 21017, 21046, 736, 3 },
    { 21059, 21095, 739, 4 },
    { 21115, 21146, 743, 1 },
    { 21161, 21196, 744, 12 },
    { 21215, 21247, 756, 2 },
    { 21263, 21297, 758, 4 },
    { 21315, 21364, 762, 4 },
    { 21397, 21431, 766, 2 },
    { 21449, 21484, 768, 2 },
    { 21503, 21541, 770, 26 },
    { 21563, 21601, 796, 13 },
    { 21623, 21649, 809, 2 },
    { 21659, 21687, 811, 3 },
    { 21699, 21731, 814, 2 },
    { 21747, 21790, 816, 2 },
    { 21817, 21848, 818, 2 },
    { 21863, 21898, 820, 6 },
    { 21917, 21960, 826, 2 },
    { 21987, 22022, 828, 2 },
    { 22041, 22071, 830, 5 },
    { 22085, 22114, 835, 2 },
    { 22127, 22159, 837, 3 },
    { 22175, 22213, 840, 2 },
    { 22235, 22271, 842, 1 },
    { 22291, 22335, 843, 8 },
    { 22363, 22388, 851, 1 },
    { 22397, 22434, 852, 1 },
    { 22455, 22491, 853, 3 },
    { 22511, 22549, 856, 1 },
    { 22571, 22600, 857, 21 },
    { 22613, 22645, 878, 7 },
    { 22661, 22687, 885, 1 },
    { 22697, 22722, 886, 1 },
    { 22731, 22766, 887, 15 },
    { 22785, 22819, 902, 3 },
    { 22837, 22878, 905, 2 },
    { 22903, 22944, 907, 1 },
    { 22969, 23013, 908, 7 },
    { 23041, 23078, 915, 5 },
    { 23099, 23131, 920, 1 },
    { 23147, 23184, 921, 1 },
    { 23205, 23238, 922, 1 },
    { 23255, 23293, 923, 3 },
    { 23315, 23349, 926, 2 },
    { 23367, 23401, 928, 3 },
    { 23419, 23461, 931, 2 },
    { 23487, 23537, 933, 2 },
    { 23571, 23623, 935, 3 },
    { 23659, 23713, 938, 3 },
    { 23751, 23787, 941, 7 },
    { 23807, 23841, 948, 8 },
    { 23859, 23886, 956, 4 },
    { 23897, 23930, 960, 12 },
    { 23947, 23988, 972, 3 },
    { 24013, 24048, 975, 3 },
    { 24067, 24102, 978, 4 },
    { 24121, 24152, 982, 4 },
    { 24167, 24202, 986, 2 },
    { 24221, 24256, 988, 4 },
    { 24275, 24310, 992, 5 },
    { 24329, 24370, 997, 5 },
    { 24395, 24440, 1002, 4 },
    { 24469, 24516, 1006, 6 },
    { 24547, 24597, 1012, 5 },
    { 24631, 24676, 1017, 4 },
    { 24705, 24738, 1021, 5 },
    { 24755, 24792, 1026, 3 },
    { 24813, 24846, 1029, 1 },
    { 24863, 24916, 1030, 3 },
    { 24953, 24992, 1033, 2 },
    { 25015, 25052, 1035, 4 },
    { 25073, 25099, 1039, 7 },
    { 25109, 25139, 1046, 4 },
    { 25153, 25192, 1050, 3 },
    { 25215, 25242, 1053, 5 },
    { 25253, 25284, 1058, 20 },
    { 25299, 25330, 1078, 6 },
    { 25345, 25386, 1084, 1 },
    { 25411, 25445, 1085, 1 },
    { 25463, 25496, 1086, 2 },
    { 25513, 25551, 1088, 1 },
    { 25573, 25612, 1089, 4 },
    { 25635, 25665, 1093, 3 },
    { 25679, 25726, 1096, 6 },
    { 25739, 25773, 1102, 6 },
    { 25791, 25829, 1108, 4 },
    { 25851, 25882, 1112, 4 },
    { 25897, 25936, 1116, 3 },
    { 25959, 25999, 1119, 4 },
    { 26018, 26059, 1123, 15 },
    { 26079, 26133, 1138, 3 },
    { 26153, 26211, 1141, 3 },
    { 26235, 26273, 1144, 4 },
    { 26285, 26327, 1148, 7 },
    { 26348, 26392, 1155, 8 },
    { 26402, 26453, 1163, 6 },
    { 26470, 26519, 1169, 3 },
    { 26534, 26594, 1172, 4 },
    { 26621, 26685, 1176, 7 },
    { 26716, 26762, 1183, 2 },
    { 26775, 26826, 1185, 5 },
    { 26844, 26904, 1190, 6 },
    { 26931, 26976, 1196, 2 },
    { 26988, 27033, 1198, 3 },
    { 27045, 27100, 1201, 1 },
    { 27122, 27168, 1202, 1 },
    { 27181, 27232, 1203, 2 },
    { 27250, 27317, 1205, 4 },
    { 27351, 27422, 1209, 3 },
    { 27460, 27505, 1212, 4 },
    { 27517, 27588, 1216, 4 },
    { 27626, 27690, 1220, 4 },
    { 27721, 27786, 1224, 4 },
    { 27818, 27870, 1228, 12 },
    { 27889, 27945, 1240, 3 },
    { 27968, 28021, 1243, 4 },
    { 28041, 28096, 1247, 5 },
    { 28118, 28187, 1252, 4 },
    { 28223, 28285, 1256, 5 },
    { 28314, 28380, 1261, 7 },
    { 28413, 28460, 1268, 4 },
    { 28474, 28526, 1272, 2 },
    { 28545, 28613, 1274, 3 },
    { 28648, 28697, 1277, 1 },
    { 28713, 28767, 1278, 2 },
    { 28788, 28857, 1280, 4 },
    { 28893, 28966, 1284, 4 },
    { 29006, 29079, 1288, 4 },
    { 29119, 29185, 1292, 4 },
    { 29218, 29285, 1296, 4 },
    { 29319, 29373, 1300, 11 },
    { 29394, 29465, 1311, 4 },
    { 29503, 29548, 1315, 4 },
    { 29569, 29616, 1319, 3 },
    { 29639, 29687, 1322, 8 },
    { 29711, 29762, 1330, 4 },
    { 29789, 29838, 1334, 4 },
    { 29863, 29937, 1338, 4 },
    { 29957, 30032, 1342, 3 },
    { 30053, 30129, 1345, 3 },
    { 30151, 30233, 1348, 5 },
    { 30261, 30347, 1353, 6 },
    { 30379, 30466, 1359, 6 },
    { 30499, 30588, 1365, 9 },
    { 30623, 30705, 1374, 1 },
    { 30733, 30806, 1375, 44 },
    { 30825, 30904, 1419, 2 },
    { 30929, 31001, 1421, 6 },
    { 31019, 31103, 1427, 2 },
    { 31133, 31222, 1429, 0 },
    { 31257, 31345, 1429, 3 },
    { 31379, 31467, 1432, 6 },
    { 31501, 31574, 1438, 1 },
    { 31593, 31675, 1439, 2 },
    { 31703, 31778, 1441, 2 },
    { 31799, 27945, 1443, 3 },
    { 31876, 28021, 1446, 4 },
    { 31950, 32038, 1450, 4 },
    { 32072, 32163, 1454, 6 },
    { 32200, 32286, 1460, 4 },
    { 32318, 32380, 1464, 5 },
    { 32394, 32460, 1469, 7 },
    { 32478, 28021, 1476, 3 },
    { 32546, 32614, 1479, 1 },
    { 32634, 32705, 1480, 5 },
    { 32728, 32794, 1485, 4 },
    { 32812, 32850, 1489, 5 },
    { 32872, 32914, 1494, 4 },
    { 32940, 32969, 1498, 5 },
    { 32982, 33015, 1503, 5 },
    { 33032, 33075, 1508, 2 },
    { 33102, 33144, 1510, 2 },
    { 33170, 33205, 1512, 10 },
    { 33224, 33262, 1522, 5 },
    { 33284, 33317, 1527, 4 },
    { 33334, 33364, 1531, 5 },
    { 33378, 33412, 1536, 8 },
    { 33430, 33468, 1544, 2 },
    { 33490, 33533, 1546, 2 },
    { 33560, 33596, 1548, 9 },
    { 33616, 33655, 1557, 6 },
    { 33678, 33712, 1563, 4 },
    { 33730, 33760, 1567, 5 },
    { 33774, 33808, 1572, 4 },
    { 33826, 33862, 1576, 7 },
    { 33882, 33921, 1583, 5 },
    { 33944, 33978, 1588, 4 },
    { 33996, 34027, 1592, 5 },
    { 34042, 34077, 1597, 11 },
    { 34096, 34141, 1608, 2 },
    { 34170, 34222, 1610, 2 },
    { 34258, 34325, 1612, 2 },
    { 34376, 34415, 1614, 1 },
    { 34438, 34475, 1615, 10 },
    { 34496, 34536, 1625, 5 },
    { 34560, 34595, 1630, 4 },
    { 34614, 34661, 1634, 4 },
    { 34682, 34735, 1638, 1 },
    { 34762, 34804, 1639, 5 },
    { 34820, 34866, 1644, 3 },
    { 34886, 34936, 1647, 4 },
    { 34960, 35008, 1651, 2 },
    { 35030, 35071, 1653, 5 },
    { 35086, 35131, 1658, 2 },
    { 35150, 35197, 1660, 4 },
    { 35218, 35271, 1664, 5 },
    { 35299, 35351, 1669, 6 },
    { 35378, 35425, 1675, 9 },
    { 35447, 35499, 1684, 2 },
    { 35526, 35588, 1686, 3 },
    { 35616, 35668, 1689, 2 },
    { 35695, 35745, 1691, 2 },
    { 35770, 35824, 1693, 4 },
    { 35853, 35905, 1697, 5 },
    { 35932, 35988, 1702, 2 },
    { 36019, 36070, 1704, 5 },
    { 36096, 36151, 1709, 1 },
    { 36181, 36234, 1710, 4 },
    { 36262, 36303, 1714, 4 },
    { 36319, 36363, 1718, 2 },
    { 36382, 36430, 1720, 5 },
    { 36453, 36503, 1725, 5 },
    { 36530, 36584, 1730, 4 },
    { 36615, 36669, 1734, 3 },
    { 36700, 36756, 1737, 5 },
    { 36789, 36843, 1742, 4 },
    { 36874, 36906, 1746, 5 },
    { 36915, 36951, 1751, 1 },
    { 36964, 37002, 1752, 2 },
    { 37017, 37067, 1754, 5 },
    { 37094, 37148, 1759, 5 },
    { 37179, 37233, 1764, 3 },
    { 37264, 37301, 1767, 6 },
    { 37315, 37360, 1773, 3 },
    { 37382, 37421, 1776, 4 },
    { 37437, 37480, 1780, 2 },
    { 37500, 37543, 1782, 2 },
    { 37563, 37610, 1784, 2 },
    { 37634, 37690, 1786, 3 },
    { 37723, 37770, 1789, 2 },
    { 37794, 37852, 1791, 2 },
    { 37887, 37929, 1793, 4 },
    { 37948, 37991, 1797, 3 },
    { 38011, 38067, 1800, 6 },
    { 38100, 38139, 1806, 6 },
    { 38155, 38200, 1812, 3 },
    { 38222, 38266, 1815, 3 },
    { 38287, 38330, 1818, 2 },
    { 38350, 38397, 1820, 2 },
    { 38421, 38477, 1822, 3 },
    { 38510, 38557, 1825, 2 },
    { 38581, 38640, 1827, 5 },
    { 38676, 38730, 1832, 4 },
    { 38761, 38789, 1836, 5 },
    { 38800, 38832, 1841, 8 },
    { 38847, 38883, 1849, 2 },
    { 38902, 38930, 1851, 16 },
    { 38941, 38978, 1867, 1 },
    { 38998, 39039, 1868, 3 },
    { 39063, 39122, 1871, 3 },
    { 39164, 39223, 1874, 2 },
    { 39265, 39299, 1876, 1 },
    { 39316, 39354, 1877, 2 },
    { 39375, 39409, 1879, 3 },
    { 39426, 39458, 1882, 4 },
    { 39473, 39497, 1886, 5 },
    { 39504, 39534, 1891, 11 },
    { 39547, 39580, 1902, 6 },
    { 39596, 39640, 1908, 2 },
    { 39667, 39695, 1910, 4 },
    { 39706, 39759, 1914, 5 },
    { 39788, 39845, 1919, 8 },
    { 39878, 39937, 1927, 2 },
    { 39972, 40034, 1929, 6 },
    { 40072, 40129, 1935, 4 },
    { 40162, 40195, 1939, 4 },
    { 40204, 40241, 1943, 7 },
    { 40254, 40291, 1950, 4 },
    { 40304, 40342, 1954, 6 },
    { 40359, 40392, 1960, 8 },
    { 40404, 40447, 1968, 3 },
    { 40469, 40507, 1971, 2 },
    { 40524, 40556, 1973, 1 },
    { 40567, 40599, 1974, 1 },
    { 40610, 12913, 1975, 4 },
    { 40647, 40689, 1979, 4 },
    { 40710, 13004, 1983, 17 },
    { 40737, 13090, 2000, 2 },
    { 40770, 13134, 2002, 4 },
    { 40801, 40838, 2006, 5 },
    { 40852, 40893, 2011, 4 },
    { 40911, 40973, 2015, 1 },
    { 41012, 41062, 2016, 1 },
    { 41089, 41139, 2017, 3 },
    { 41166, 41200, 2020, 4 },
    { 41211, 41249, 2024, 1 },
    { 41264, 41303, 2025, 1 },
    { 41319, 41367, 2026, 2 },
    { 41392, 41437, 2028, 5 },
    { 41459, 41507, 2033, 2 },
    { 41532, 41575, 2035, 1 },
    { 41595, 41641, 2036, 5 },
    { 41664, 41705, 2041, 4 },
    { 41723, 41776, 2045, 5 },
    { 41806, 41863, 2050, 3 },
    { 41897, 41957, 2053, 4 },
    { 41994, 42034, 2057, 2 },
    { 42051, 42098, 2059, 3 },
    { 42122, 42181, 2062, 2 },
    { 42217, 42276, 2064, 1 },
    { 42312, 42374, 2065, 5 },
    { 42413, 42470, 2070, 4 },
    { 42504, 42539, 2074, 4 },
    { 42552, 42591, 2078, 1 },
    { 42608, 42649, 2079, 4 },
    { 42668, 42707, 2083, 4 },
    { 42724, 42757, 2087, 5 },
    { 42768, 42805, 2092, 4 },
    { 42820, 42860, 2096, 2 },
    { 42878, 42925, 2098, 2 },
    { 42950, 42994, 2100, 2 },
    { 43016, 43052, 2102, 2 },
    { 43066, 43103, 2104, 2 },
    { 43118, 43164, 2106, 1 },
    { 43188, 43229, 2107, 3 },
    { 43248, 43287, 2110, 1 },
    { 43304, 43355, 2111, 1 },
    { 43384, 43436, 2112, 3 },
    { 43466, 43509, 2115, 3 },
    { 43530, 43568, 2118, 4 },
    { 43584, 43626, 2122, 2 },
    { 43646, 43703, 2124, 5 },
    { 43738, 43780, 2129, 4 },
    { 43800, 43837, 2133, 4 },
    { 43852, 43891, 2137, 4 },
    { 43908, 43951, 2141, 4 },
    { 43972, 44022, 2145, 2 },
    { 44050, 44093, 2147, 3 },
    { 44114, 44157, 2150, 3 },
    { 44178, 44211, 2153, 2 },
    { 44222, 44271, 2155, 2 },
    { 44298, 44341, 2157, 4 },
    { 44362, 44399, 2161, 5 },
    { 44414, 44455, 2166, 1 },
    { 44474, 44517, 2167, 1 },
    { 44538, 44579, 2168, 4 },
    { 44598, 44630, 2172, 6 },
    { 44646, 44674, 2178, 1 },
    { 44686, 44716, 2179, 2 },
    { 44730, 44766, 2181, 4 },
    { 44786, 44816, 2185, 4 },
    { 44828, 44879, 2189, 8 },
    { 44896, 44947, 2197, 2 },
    { 44964, 45005, 2199, 5 },
    { 45028, 45073, 2204, 4 },
    { 45100, 45147, 2208, 7 },
    { 45176, 45221, 2215, 4 },
    { 45248, 45279, 2219, 5 },
    { 45294, 45324, 2224, 5 },
    { 45338, 45373, 2229, 1 },
    { 45392, 45430, 2230, 5 },
    { 45452, 41200, 2235, 4 },
    { 45479, 45506, 2239, 3 },
    { 45517, 45559, 2242, 4 },
    { 45585, 45620, 2246, 4 },
    { 45639, 45663, 2250, 4 },
    { 45671, 45702, 2254, 5 },
    { 45717, 45752, 2259, 4 },
    { 45771, 45799, 2263, 4 },
    { 45811, 45846, 2267, 4 },
    { 45861, 45900, 2271, 3 },
    { 45919, 45957, 2274, 1 },
    { 45975, 46016, 2275, 1 },
    { 46037, 46085, 2276, 1 },
    { 46113, 46162, 2277, 2 },
    { 46191, 46230, 2279, 4 },
    { 46249, 20420, 2283, 5 },
    { 46286, 46327, 2288, 1 },
    { 46348, 46383, 2289, 3 },
    { 46398, 46435, 2292, 3 },
    { 46452, 46494, 2295, 7 },
    { 46516, 46556, 2302, 5 },
    { 46576, 46620, 2307, 1 },
    { 46644, 46684, 2308, 7 },
    { 46704, 46744, 2315, 3 },
    { 46764, 46812, 2318, 2 },
    { 46840, 46883, 2320, 3 },
    { 46906, 46946, 2323, 3 },
    { 46966, 47012, 2326, 2 },
    { 47038, 47091, 2328, 10 },
    { 47124, 47177, 2338, 3 },
    { 47210, 47264, 2341, 4 },
    { 47298, 47343, 2345, 7 },
    { 47368, 47409, 2352, 3 },
    { 47430, 47471, 2355, 4 },
    { 47492, 47537, 2359, 4 },
    { 47562, 47611, 2363, 2 },
    { 47640, 47689, 2365, 4 },
    { 47718, 47755, 2369, 4 },
    { 47772, 47813, 2373, 8 },
    { 47834, 47870, 2381, 3 },
    { 47886, 47916, 2384, 13 },
    { 47926, 47965, 2397, 8 },
    { 47984, 48022, 2405, 2 },
    { 48040, 48085, 2407, 3 },
    { 48110, 48160, 2410, 3 },
    { 48190, 48238, 2413, 2 },
    { 48266, 48297, 2415, 1 },
    { 48308, 48343, 2416, 4 },
    { 48358, 48412, 2420, 2 },
    { 48446, 48480, 2422, 2 },
    { 48494, 48535, 2424, 4 },
    { 48556, 48595, 2428, 7 },
    { 48612, 48655, 2435, 4 },
    { 48676, 48708, 2439, 4 },
    { 48721, 48757, 2443, 11 },
    { 48774, 34804, 2454, 2 },
    { 48809, 48845, 2456, 4 },
    { 48862, 48892, 2460, 4 },
    { 48903, 48937, 2464, 1 },
    { 48952, 48988, 2465, 4 },
    { 49005, 49047, 2469, 1 },
    { 49070, 49104, 2470, 4 },
    { 49119, 49160, 2474, 7 },
    { 49182, 49227, 2481, 4 },
    { 49253, 49288, 2485, 10 },
    { 49304, 49344, 2495, 1 },
    { 49368, 49420, 2496, 2 },
    { 49456, 49495, 2498, 4 },
    { 49515, 49554, 2502, 5 },
    { 49574, 49617, 2507, 3 },
    { 49641, 49686, 2510, 2 },
    { 49712, 49757, 2512, 4 },
    { 49783, 49817, 2516, 3 },
    { 49832, 49875, 2519, 4 },
    { 49899, 49943, 2523, 5 },
    { 49968, 50016, 2528, 4 },
    { 50045, 50096, 2532, 5 },
    { 50113, 50164, 2537, 5 },
    { 50181, 50231, 2542, 6 },
    { 50247, 50295, 2548, 3 },
    { 50309, 50358, 2551, 13 },
    { 50373, 50421, 2564, 2 },
    { 50435, 50478, 2566, 5 },
    { 50487, 50546, 2571, 5 },
    { 50571, 50617, 2576, 3 },
    { 50629, 50684, 2579, 4 },
    { 50705, 50755, 2583, 3 },
    { 50771, 50830, 2586, 3 },
    { 50855, 50918, 2589, 4 },
    { 50947, 50993, 2593, 6 },
    { 51005, 51067, 2599, 2 },
    { 51095, 51158, 2601, 2 },
    { 51187, 51237, 2603, 3 },
    { 51253, 51306, 2606, 4 },
    { 51325, 51374, 2610, 10 },
    { 51389, 51438, 2620, 4 },
};
const uint16_t builtin_n_types = 608;

/* Of each type the numbers of its fields in the order of protobuf, filled up with 255. */
const uint8_t builtin_proto_order[] = {
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    1, 2, 3, 0, 4, 5,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2, 3, 4, 5, 6,
    2, 3, 255, 255,
    0, 1, 2, 3,
    2, 3, 255, 255,
    0, 1, 2, 3, 4,
    0,
    2, 4, 5, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2,
    0, 3, 1, 2,
    0, 1, 2, 3,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 255, 255,
    0, 1,
    0, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0,
    0, 1, 2, 3, 4, 5,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0,
    0, 1,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 6, 2, 3, 4, 5, 1,
    0, 1, 2, 3,
    0,
    0, 1, 2, 3, 4,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0,
    0,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    0,
    0, 1,
    0, 1,
    0, 1, 2, 3,
    0, 1,
    0, 1,
    0,
    2, 3, 255, 255,
    2, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    0, 1, 2, 3,
    0, 1, 2, 3,
    0, 1,
    0, 1, 2, 3,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 10,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5,
    0, 1, 2, 3, 4,
    0, 1,
    0, 1, 2, 3, 4,
    0, 1, 2, 3,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0, 1,
    0, 1, 2, 3, 4,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0,
    0,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3,
    2, 3, 4, 255, 255,
    0, 2, 3, 1, 4, 5, 6, 7, 8,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2, 3, 4, 5,
    0, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 1, 11, 23, 24, 25, 26, 27, 16, 28, 29, 30, 31, 32, 33, 3, 34, 35, 36, 37, 38, 39, 40, 41,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 26, 24, 27, 28, 29, 30,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 10,
    0,
    0, 1, 2,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2, 3, 4,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1, 2, 3,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1,
    0, 1, 2, 3, 4, 5,
    0, 1, 2,
    0,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 4, 3,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0, 1, 2, 3, 4,
    0, 1, 2, 3, 4,
    0,
    0, 1,
    0, 1,
    0, 1, 2, 3, 4, 5, 7, 8, 12, 14, 15, 17, 18, 20, 21, 22, 23, 24, 6, 19, 13, 16, 9, 10, 11,
    0, 1, 2, 3, 4,
    0, 1, 2,
    0, 1,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3, 4,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2,
    0, 1,
    0, 1,
    0, 1,
    0, 1,
    0, 1, 3, 4, 5, 6, 2,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0,
    0, 1, 2, 3, 4,
    0, 1,
    0, 1,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3,
    0,
    0, 1, 2, 4, 6, 7, 8, 5, 9, 3, 10, 11,
    0, 1,
    0, 1, 2, 3,
    0, 1, 2, 3,
    0, 1,
    0, 1,
    0, 1, 2, 3, 4, 5, 7, 8, 12, 14, 15, 17, 18, 20, 21, 22, 23, 24, 6, 19, 13, 16, 9, 10, 11, 25,
    0, 2, 4, 5, 7, 3, 8, 1, 9, 10, 11, 6, 12,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1,
    0, 1,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1,
    0, 1, 2, 3, 4,
    0, 1,
    0, 1, 2,
    0, 1,
    0,
    0, 1, 2, 3, 4, 5, 6, 7,
    0,
    0,
    0, 1, 2,
    0,
    1, 2, 3, 4, 6, 8, 10, 12, 13, 11, 5, 9, 14, 15, 16, 7, 0, 17, 18, 19, 20,
    0, 2, 3, 4, 5, 6, 1,
    0,
    0,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    0, 1, 2,
    0, 1,
    0,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2, 3, 4,
    0,
    0,
    0,
    0, 1, 2,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    2, 3, 4, 5, 6, 255, 255,
    2, 3, 4, 5, 6, 7, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255, 255,
    2, 255, 255,
    2, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    2, 3, 4, 255, 255,
    0, 2, 3, 1,
    0, 1, 4, 2, 3, 5,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2,
    0,
    0, 1, 2,
    0, 1,
    2, 3, 255, 255,
    2, 4, 6, 5, 3, 255, 255,
    2, 3, 255, 255,
    2, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 3, 14, 16, 17, 18, 19,
    0, 1, 3, 4, 5, 2,
    0,
    0,
    0, 1,
    0,
    0, 1, 2, 3,
    0, 1, 2,
    0, 1, 2, 3, 4, 5,
    2, 3, 4, 5, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 4, 5, 6,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5, 6,
    2, 3, 4, 5, 6, 7, 255, 255,
    0, 1, 2, 4, 5, 3,
    0, 1, 2,
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6,
    0, 1,
    0, 1, 2, 3, 4,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1, 2,
    0,
    0,
    0, 1,
    2, 3, 255, 255,
    0, 1, 2,
    0, 1, 2, 3,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 5, 7, 8, 9, 4, 10, 6, 11,
    1, 2, 0,
    0, 1, 2, 3,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2, 3,
    0, 1,
    0, 1, 2,
    0,
    0, 1,
    2, 3, 255, 255,
    0, 1, 2, 3,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 5, 7, 8, 9, 4, 6, 10,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2, 3,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2,
    0, 1, 2,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5,
    0, 1, 2, 3, 4, 5,
    0, 1, 2, 5, 6, 7, 3, 4, 8,
    0,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    0, 1,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1, 2,
    0, 1, 2, 3, 4, 5,
    0,
    0, 1,
    0, 1,
    1, 2, 0,
    0, 1, 2, 3,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2,
    0,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4,
    0, 1,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1,
    0, 1,
    0, 1, 2, 4, 5, 7, 3, 8, 6,
    0, 1, 4, 5, 2, 3,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 2, 3, 1,
    0, 1, 5, 2, 3, 6, 4,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    0, 1,
    0, 1,
    0, 1,
    0,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0,
    2, 3, 4, 255, 255,
    0, 2, 1,
    0, 1, 2, 3,
    0, 1,
    2, 3, 4, 255, 255,
    0, 1,
    0, 1, 3, 2,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5,
    0, 1, 2, 3, 4, 5, 6, 7, 8,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1,
    0, 2, 3, 1,
    2, 3, 4, 255, 255,
    0, 1,
    2, 3, 4, 255, 255,
    0,
    0, 1, 2, 3,
    0, 1, 2, 3,
    0, 1,
    2, 3, 4, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3,
    0, 1, 2,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0,
    0, 1,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4,
    0, 1, 2,
    0, 1, 2, 3, 5, 4,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1,
    0, 1,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1,
    1, 2, 0, 3,
    0, 1, 2,
    0, 1, 2, 3, 4, 5,
    0, 1, 2, 3, 5, 4,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 2, 3, 4, 5, 6, 7, 1,
    0, 1,
    0, 1, 2, 8, 9, 10, 5, 11, 12, 13, 3, 6, 7, 14, 15, 4,
    0,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0,
    0, 1,
    0, 1, 2,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 7, 9, 10, 8, 6,
    0, 1, 2, 3, 4, 5,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 4, 5, 6, 3, 7, 1, 2,
    0, 1,
    0, 2, 3, 4, 5, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6,
    2, 3, 255, 255,
    2, 4, 5, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2,
    0, 1,
    0,
    0,
    0, 1, 2, 3,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 255, 255,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3,
    0,
    0,
    0, 1, 2,
    0, 1, 2, 3,
    0,
    0,
    0, 1,
    0, 1, 2, 3, 4,
    0, 1,
    0,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1,
    0, 1, 2,
    0, 1,
    0,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0,
    0, 1, 2, 3,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    1, 2, 3, 0,
    1, 0,
    0, 1,
    0, 1,
    0, 1,
    0, 1,
    0,
    0, 2, 1,
    0,
    0,
    0, 1, 2,
    0, 1, 2,
    2, 3, 255, 255,
    0, 1,
    0, 1, 2, 3, 4,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0,
    0,
    2, 3, 255, 255,
    2, 3, 4, 5, 255, 255,
    0,
    0, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 7, 255, 255,
    0, 1,
    2, 3, 4, 255, 255,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5, 6,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4,
    0,
    2, 3, 4, 255, 255,
    0, 1, 2, 3,
    0, 1, 2,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2,
    0,
    0,
    0,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2, 3, 4,
    0,
    0, 1, 2, 3, 4, 5, 6,
    0, 1, 2,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2, 4, 5, 6, 3,
    0, 1, 2,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0,
    0, 1, 2, 3,
    0, 1,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    0, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0,
    0, 1, 2, 3,
    0,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 7, 8, 9, 255, 255,
    0,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2,
    0, 1,
    0, 1, 2, 3,
    0, 1, 2,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    2, 3, 4, 255, 255,
    2, 3, 4, 5, 255, 255,
    2, 255, 255,
    2, 3, 4, 6, 8, 9, 10, 5, 7, 11, 12, 255, 255,
    0, 1,
    255, 255, 255, 255, 255,
    255, 255, 255, 255, 255,
    255, 255, 255,
    255, 255, 255, 255,
    2, 255, 255,
    2, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 5, 255, 255,
    0, 1,
    0, 1,
    2, 255, 255,
    2, 3, 255, 255,
    0, 2, 5, 6, 7, 1, 8, 3, 4, 9,
    2, 3, 255, 255,
};

/* Lists of strings: a count, then offsets. */
const uint32_t builtin_lists[] = {
    0,
    1, 70,
    1, 330,
    3, 51453, 51458, 51462,
    2, 51466, 51473,
    3, 51485, 51495, 51506,
    3, 51523, 51531, 51539,
    8, 0, 51550, 51562, 51573, 51583, 51601, 51606, 51619,
    3, 51626, 51631, 51640,
    3, 51650, 51660, 51668,
    4, 51675, 51688, 51702, 51716,
    3, 51733, 51740, 51748,
    2, 51755, 51761,
    6, 51772, 51785, 51792, 51795, 51798, 51801,
    5, 51807, 51817, 51823, 51523, 51830,
    3, 51817, 51839, 51523,
    5, 51844, 51871, 51898, 51919, 51940,
    3, 51958, 51969, 51523,
    3, 51980, 51987, 52000,
    1, 33,
    2, 3959, 513,
    3, 52006, 52020, 51626,
    1, 4106,
    1, 1249,
    2, 52036, 52041,
    65, 52047, 52055, 52063, 52070, 52078, 52085, 52093, 52100, 52107, 52114, 52121, 52127, 52134, 52142, 52150, 52158, 52166, 52173, 52181, 52190, 52201, 52213, 52225, 52237, 52249, 52261, 52272, 52283, 52294, 52305, 52316, 52327, 52338, 52349, 52358, 52369, 52381, 52393, 52405, 52417, 52429, 52441, 52452, 52463, 52474, 52485, 52496, 52507, 52518, 52529, 52537, 52547, 52555, 52562, 52570, 52578, 52586, 52594, 52602, 52609, 52617, 52625, 52635, 52644, 52652,
    2, 52660, 51601,
    2, 52682, 52690,
    3, 52699, 52709, 52724,
    3, 51980, 52000, 52735,
    4, 52745, 52758, 52682, 51626,
    2, 52782, 52788,
    2, 51980, 52795,
    4, 52810, 51785, 51792, 51798,
    1, 477,
    2, 52000, 52816,
    2, 52837, 52851,
    2, 52866, 52872,
    2, 4863, 5013,
    5, 51823, 51523, 51531, 52879, 52889,
    1, 5557,
    3, 52897, 52908, 52918,
    7, 52897, 52929, 52955, 52969, 52984, 51473, 52998,
    4, 51772, 51785, 51795, 51801,
    2, 508, 513,
    4, 53020, 53030, 53043, 53056,
    2, 53065, 51626,
    2, 53074, 53082,
    3, 0, 53088, 53093,
    3, 53098, 53114, 53131,
    5, 53143, 53145, 53153, 53160, 53167,
    3, 53143, 53074, 53174,
    2, 53185, 53196,
    2, 53202, 53221,
    2, 53231, 52872,
    2, 53236, 52000,
    4, 51626, 53245, 53258, 52889,
    3, 53263, 53269, 53274,
    3, 2082, 6352, 1,
    1, 297,
    1, 3452,
    1, 6352,
    4, 53279, 53299, 53319, 53337,
    1, 7817,
    2, 53356, 53365,
    2, 53379, 53365,
    2, 53388, 53401,
    3, 53410, 53416, 53423,
    4, 53431, 53437, 53447, 52872,
    2, 51795, 51801,
    2, 53455, 53463,
    2, 51823, 53474,
    23, 53494, 53498, 53508, 53520, 53533, 53552, 53561, 53579, 53593, 53611, 53628, 53642, 53659, 53672, 53683, 53697, 53714, 53728, 53741, 53754, 53761, 53773, 53781,
    2, 53794, 53801,
    2, 53809, 53821,
    2, 52810, 51785,
    3, 51485, 51495, 51626,
    2, 53837, 53847,
    4, 1969, 10825, 1797, 10875,
    2, 53857, 53867,
};

const struct builtin_node_row builtin_nodes[] = {
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_INT64, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_TIME, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 1, 0, 0, 0, 0 },
    { SCHEMA_BOOL, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 3, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 6, 1, 0, 70, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, SCHEMA_PATCH_MERGE, 1, 0, 0, 0, 0 },
    { SCHEMA_FIELDS, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 4, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 10, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 2, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 5, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 7, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 14, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 10, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 9, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 6, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 18, 0, 0, 0, 0 },
    { SCHEMA_BYTES, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 20, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 11, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 22, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 15, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 24, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 5, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 16, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 28, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 14, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 30, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 13, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 32, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 19, 0, 0, 0, 0 },
    { SCHEMA_MICRO_TIME, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 20, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 18, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 37, 0, 0, 0, 0 },
    { SCHEMA_QUANTITY, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 39, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 24, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 41, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 23, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 22, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 44, 0, 0, 0, 0 },
    { SCHEMA_RAW, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 46, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 1, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 28, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 9, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 30, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 51, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 29, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 27, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 54, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 12, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 34, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 57, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 36, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 35, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 33, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 16, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 38, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 63, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 39, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 65, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 41, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 40, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 43, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 42, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 44, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 71, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 45, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 73, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 46, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 48, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 47, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 77, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 49, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 37, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 32, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 81, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 54, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 55, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 20, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 56, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 57, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 58, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53888 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53894 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53902 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 60, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 59, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53922 },
    { SCHEMA_OBJECT, 0, 0, 61, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 62, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 63, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 64, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 65, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 66, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 67, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 68, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 69, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 29, 0, 53932 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53944 },
    { SCHEMA_BOOL, 0, 0, 0, 0, 0, 0, 53951 },
    { SCHEMA_STRING, 0, 0, 0, 0, 33, 0, 53957 },
    { SCHEMA_OBJECT, 0, 0, 70, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 71, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 72, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53966 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53984 },
    { SCHEMA_OBJECT, 0, 0, 73, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 74, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 75, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 76, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 37, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 117, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 5, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 42, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 46, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 49, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 80, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 123, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 79, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 125, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 78, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 77, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 53, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 56, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 81, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 85, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 132, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 84, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 86, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 87, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 88, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 83, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 62, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 90, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 140, 3, 0, 330, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 66, 0, 0 },
    { SCHEMA_MAP, 0, 0, 142, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 72, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 91, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 89, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 82, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 147, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 52, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 149, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 97, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 98, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 100, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 153, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 99, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 53990 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 102, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 101, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 103, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 104, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 105, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 106, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 107, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 108, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 111, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 112, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 110, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 167, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 109, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 113, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 114, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 117, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 118, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 119, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 120, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 121, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 122, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 116, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 178, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 115, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 123, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 124, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 125, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 127, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 126, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 76, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 128, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 96, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 188, 80, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 5, 0, 53993 },
    { SCHEMA_OBJECT, 0, 0, 130, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 191, 82, 0, 3959, 0 },
    { SCHEMA_OBJECT, 0, 0, 132, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 133, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 131, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 195, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 136, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 137, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 138, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 135, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 134, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 201, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 140, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 203, 80, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 139, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 141, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 206, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 26, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 143, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 142, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 210, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 85, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 144, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 213, 89, 0, 4106, 0 },
    { SCHEMA_OBJECT, 0, 0, 145, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 215, 91, 0, 1249, 0 },
    { SCHEMA_OBJECT, 0, 0, 147, 0, 0, 0, 0 },
    { SCHEMA_INT_OR_STRING, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 93, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 149, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 220, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 148, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 150, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 151, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 146, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 154, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 153, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 96, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 152, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 162, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 156, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 157, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 158, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 165, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 168, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 159, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 160, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 155, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 129, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 239, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 161, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 241, 80, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 172, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 176, 0, 0 },
    { SCHEMA_MAP, 0, SCHEMA_ATOMIC_MAP, 1, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 2, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 181, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 163, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 248, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 184, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 162, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 157, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 166, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 253, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 165, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 168, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 256, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 169, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 258, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 167, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 170, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 164, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 187, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 171, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 264, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 172, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 266, 192, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 174, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 268, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 173, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 175, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 271, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 194, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 197, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 200, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 176, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 276, 203, 0, 4863, 0 },
    { SCHEMA_OBJECT, 0, 0, 177, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 178, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 279, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 179, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 281, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 180, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 95, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 206, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 182, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 286, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 183, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST | SCHEMA_PATCH_MERGE, 288, 0, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 184, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 290, 192, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 187, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 188, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 189, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 186, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 192, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 191, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 190, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 298, 89, 0, 4106, 0 },
    { SCHEMA_OBJECT, 0, 0, 194, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 193, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 196, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 302, 212, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 195, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 304, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 185, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 306, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 214, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 197, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 309, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 199, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 311, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 198, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 1, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 200, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 315, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 181, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 94, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 318, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 26, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 209, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 208, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 322, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 53999 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 54001 },
    { SCHEMA_OBJECT, 0, 0, 213, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 215, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 327, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 214, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 212, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 330, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 218, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 332, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 226, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 220, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 335, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 219, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 218, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 221, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 217, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 340, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 223, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 342, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 228, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 344, 231, 0, 508, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 234, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 239, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 242, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 230, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 229, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 245, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 351, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 249, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 227, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 234, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 355, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 233, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 357, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 232, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 235, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 360, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 231, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 13, 80, 0, 33, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 157, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 236, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 365, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 226, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 367, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 242, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 243, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 1, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 371, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 244, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 241, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 248, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 375, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 247, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 246, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 245, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 251, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 253, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 381, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 259, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 253, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 384, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 263, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 252, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 254, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 388, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 266, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 256, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 257, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 255, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 393, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 269, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 258, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 396, 80, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 272, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 250, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 261, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 260, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 259, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 402, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 249, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 404, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 267, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 266, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 268, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 408, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 275, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 265, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 411, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 264, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 413, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 272, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 415, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 273, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 417, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 388, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 271, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 276, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 421, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 275, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 360, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 274, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 280, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 426, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 278, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 277, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 429, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 270, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 431, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 282, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 433, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 281, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 435, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 369, 284, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 287, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 438, 288, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 286, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 440, 290, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 285, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 442, 292, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 284, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 444, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 46, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 290, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 291, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 294, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_NUMBER, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 450, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 297, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, SCHEMA_OR_ARRAY, 453, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 453, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 453, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, SCHEMA_OR_BOOL, 453, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, SCHEMA_OR_STRINGS, 453, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 458, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 298, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 294, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 299, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 462, 299, 0, 7817, 0 },
    { SCHEMA_OBJECT, 0, 0, 296, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 301, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 302, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 300, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 303, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 468, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 304, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 470, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 295, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 472, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 308, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 307, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 306, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 305, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 293, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 310, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 479, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 309, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 292, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 482, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 314, 0, 0, 0, 0 },
    { SCHEMA_BYTES, 0, SCHEMA_ATOMIC_LIST, 0, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 313, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 316, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 487, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 315, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 312, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 490, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 318, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 492, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 301, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 323, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 322, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 321, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 325, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 498, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 324, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 320, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 501, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 304, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 330, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_PATCH_RETAIN_KEYS, 329, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 328, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 332, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 507, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 331, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 327, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 510, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 335, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 337, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 513, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 336, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 334, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 516, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 147, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 307, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 342, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 341, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 343, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 344, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 340, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 346, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 525, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 345, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 339, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 528, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 349, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 352, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 351, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 353, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 355, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 356, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 361, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 536, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 360, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 362, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 359, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 363, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 358, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 364, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 366, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 368, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 370, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 546, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 371, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 548, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 369, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 375, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 374, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 376, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 373, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 554, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 379, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 380, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 383, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 386, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 387, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 385, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 388, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 389, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 390, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 391, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 384, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 566, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 394, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 568, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 393, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 392, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 382, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 398, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 397, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 399, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 400, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 401, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 402, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 396, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 579, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 403, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 581, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 395, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 381, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 584, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 310, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 314, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 319, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 411, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 412, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 590, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 410, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 592, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 409, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 414, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 595, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 413, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 322, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 325, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 408, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 407, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 406, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 13, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 415, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 405, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 605, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 419, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST | SCHEMA_PATCH_MERGE, 607, 0, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 420, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 418, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 417, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 611, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 328, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 613, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 423, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 425, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 616, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 424, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 422, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 619, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 428, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 427, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 622, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 432, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 434, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 625, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 435, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 627, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 433, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 431, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 630, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 436, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 632, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 430, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 634, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 439, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 438, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 637, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 443, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 444, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 447, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 448, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 449, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 446, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 644, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 450, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 646, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 451, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 648, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 445, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 650, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 442, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 453, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 653, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 452, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 441, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 656, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 459, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 458, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 457, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 460, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 456, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 462, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 663, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 461, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 455, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 666, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 466, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 465, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 464, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 670, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 472, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 471, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 470, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 473, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 675, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 476, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 677, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 475, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 474, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 680, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 469, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 480, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 683, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 479, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 685, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 478, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 477, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 483, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 482, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 481, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 691, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 468, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 693, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 489, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 695, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 491, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 490, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 698, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 488, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 700, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 492, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 702, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 352, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 704, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 487, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 486, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 707, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 495, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 496, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 494, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 711, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 499, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 500, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 498, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 715, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 504, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 503, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP | SCHEMA_PATCH_REPLACE, 84, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 355, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 506, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 3, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 507, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 505, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 724, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 510, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 726, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 134, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 511, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 513, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 730, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 514, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 512, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 733, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 509, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 735, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 518, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 737, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 517, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 739, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 524, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 523, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 742, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 526, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 525, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 745, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 522, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 521, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 748, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 358, 0, 54003 },
    { SCHEMA_STRING, 0, 0, 0, 0, 361, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 533, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 752, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 534, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 532, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 535, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 756, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 531, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 758, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 536, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 760, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 537, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 762, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 530, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 529, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 541, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 766, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 365, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 542, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 769, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 540, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 539, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 543, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 773, 1, 0, 70, 0 },
    { SCHEMA_OBJECT, 0, 0, 545, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 544, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 776, 368, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 538, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 528, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 779, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 548, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 547, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 782, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 552, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 5, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 554, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 786, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 39, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 557, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 556, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 555, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 791, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 559, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 793, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 558, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 795, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 560, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 797, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 561, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 799, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 553, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 801, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 562, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 803, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 551, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 550, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 806, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 564, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 808, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 568, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 810, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 567, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 566, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 813, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 573, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 572, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 816, 80, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 571, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 570, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 819, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 575, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 821, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 373, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 579, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 824, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 578, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 826, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 577, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 828, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 583, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 582, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 585, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 584, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 581, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 834, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 587, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 836, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 596, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 838, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 598, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 840, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 597, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 842, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 600, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 844, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 603, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 846, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 604, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 848, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 602, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 850, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 607, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 852, 0, 0, 0, 0 },
};
const uint16_t builtin_n_nodes = 853;

const struct builtin_kind_row builtin_kinds[] = {
    { 0, 54011, 54014, 0 }, /* /v1 Binding */
    { 0, 54011, 54022, 5 }, /* /v1 ComponentStatus */
    { 0, 54011, 54038, 7 }, /* /v1 ComponentStatusList */
    { 0, 54011, 54058, 10 }, /* /v1 ConfigMap */
    { 0, 54011, 54068, 11 }, /* /v1 ConfigMapList */
    { 0, 54011, 54082, 12 }, /* /v1 Endpoints */
    { 0, 54011, 54092, 16 }, /* /v1 EndpointsList */
    { 0, 54011, 54106, 17 }, /* /v1 Event */
    { 0, 54011, 54112, 20 }, /* /v1 EventList */
    { 0, 54011, 54122, 21 }, /* /v1 LimitRange */
    { 0, 54011, 54133, 24 }, /* /v1 LimitRangeList */
    { 0, 54011, 54148, 25 }, /* /v1 List */
    { 0, 54011, 54153, 26 }, /* /v1 Namespace */
    { 0, 54011, 54163, 30 }, /* /v1 NamespaceList */
    { 0, 54011, 54177, 31 }, /* /v1 Node */
    { 0, 54011, 54182, 49 }, /* /v1 NodeList */
    { 0, 54011, 54191, 50 }, /* /v1 NodeProxyOptions */
    { 0, 54011, 54208, 51 }, /* /v1 PersistentVolume */
    { 0, 54011, 54225, 81 }, /* /v1 PersistentVolumeClaim */
    { 0, 54011, 54247, 91 }, /* /v1 PersistentVolumeClaimList */
    { 0, 54011, 54273, 92 }, /* /v1 PersistentVolumeList */
    { 0, 54011, 54294, 93 }, /* /v1 Pod */
    { 0, 54011, 54298, 200 }, /* /v1 PodAttachOptions */
    { 0, 54011, 54315, 201 }, /* /v1 PodExecOptions */
    { 0, 54011, 54330, 202 }, /* /v1 PodList */
    { 0, 54011, 54338, 203 }, /* /v1 PodLogOptions */
    { 0, 54011, 54352, 204 }, /* /v1 PodPortForwardOptions */
    { 0, 54011, 54374, 205 }, /* /v1 PodProxyOptions */
    { 0, 54011, 54390, 206 }, /* /v1 PodStatusResult */
    { 0, 54011, 54406, 207 }, /* /v1 PodTemplate */
    { 0, 54011, 54418, 209 }, /* /v1 PodTemplateList */
    { 0, 54011, 54434, 210 }, /* /v1 RangeAllocation */
    { 0, 54011, 54450, 211 }, /* /v1 ReplicationController */
    { 0, 54011, 54472, 215 }, /* /v1 ReplicationControllerList */
    { 0, 54011, 54498, 216 }, /* /v1 ResourceQuota */
    { 0, 54011, 54512, 221 }, /* /v1 ResourceQuotaList */
    { 0, 54011, 54530, 222 }, /* /v1 Secret */
    { 0, 54011, 54537, 223 }, /* /v1 SecretList */
    { 0, 54011, 54548, 224 }, /* /v1 SerializedReference */
    { 0, 54011, 54568, 225 }, /* /v1 Service */
    { 0, 54011, 54576, 235 }, /* /v1 ServiceAccount */
    { 0, 54011, 54591, 236 }, /* /v1 ServiceAccountList */
    { 0, 54011, 54610, 237 }, /* /v1 ServiceList */
    { 0, 54011, 54622, 238 }, /* /v1 ServiceProxyOptions */
    { 54642, 54011, 54659, 239 }, /* admission.k8s.io/v1 AdmissionReview */
    { 54675, 54011, 54704, 248 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicy */
    { 54675, 54011, 54728, 258 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding */
    { 54675, 54011, 54759, 261 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBindingList */
    { 54675, 54011, 54794, 262 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyList */
    { 54675, 54011, 54822, 263 }, /* admissionregistration.k8s.io/v1 MutatingWebhookConfiguration */
    { 54675, 54011, 54851, 268 }, /* admissionregistration.k8s.io/v1 MutatingWebhookConfigurationList */
    { 54675, 54011, 54884, 269 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy */
    { 54675, 54011, 54910, 276 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding */
    { 54675, 54011, 54943, 278 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBindingList */
    { 54675, 54011, 54980, 279 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyList */
    { 54675, 54011, 55010, 280 }, /* admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration */
    { 54675, 54011, 55041, 282 }, /* admissionregistration.k8s.io/v1 ValidatingWebhookConfigurationList */
    { 55076, 55096, 55099, 283 }, /* apidiscovery.k8s.io/v2 APIGroupDiscovery */
    { 55076, 55096, 55117, 287 }, /* apidiscovery.k8s.io/v2 APIGroupDiscoveryList */
    { 55139, 54011, 55160, 288 }, /* apiextensions.k8s.io/v1 ConversionReview */
    { 55139, 54011, 55177, 291 }, /* apiextensions.k8s.io/v1 CustomResourceDefinition */
    { 55139, 54011, 55202, 310 }, /* apiextensions.k8s.io/v1 CustomResourceDefinitionList */
    { 55231, 54011, 55254, 311 }, /* apiregistration.k8s.io/v1 APIService */
    { 55231, 54011, 55265, 316 }, /* apiregistration.k8s.io/v1 APIServiceList */
    { 55280, 54011, 55285, 317 }, /* apps/v1 ControllerRevision */
    { 55280, 54011, 55304, 318 }, /* apps/v1 ControllerRevisionList */
    { 55280, 54011, 55327, 319 }, /* apps/v1 DaemonSet */
    { 55280, 54011, 55337, 325 }, /* apps/v1 DaemonSetList */
    { 55280, 54011, 55351, 326 }, /* apps/v1 Deployment */
    { 55280, 54011, 55362, 332 }, /* apps/v1 DeploymentList */
    { 55280, 54011, 55377, 333 }, /* apps/v1 ReplicaSet */
    { 55280, 54011, 55388, 337 }, /* apps/v1 ReplicaSetList */
    { 55280, 54011, 55403, 338 }, /* apps/v1 StatefulSet */
    { 55280, 54011, 55415, 346 }, /* apps/v1 StatefulSetList */
    { 55431, 54011, 55453, 347 }, /* authentication.k8s.io/v1 SelfSubjectReview */
    { 55431, 54011, 55471, 349 }, /* authentication.k8s.io/v1 TokenRequest */
    { 55431, 54011, 55484, 353 }, /* authentication.k8s.io/v1 TokenReview */
    { 55496, 54011, 55517, 356 }, /* authorization.k8s.io/v1 LocalSubjectAccessReview */
    { 55496, 54011, 55542, 364 }, /* authorization.k8s.io/v1 SelfSubjectAccessReview */
    { 55496, 54011, 55566, 366 }, /* authorization.k8s.io/v1 SelfSubjectRulesReview */
    { 55496, 54011, 55589, 371 }, /* authorization.k8s.io/v1 SubjectAccessReview */
    { 55609, 54011, 55621, 372 }, /* autoscaling/v1 HorizontalPodAutoscaler */
    { 55609, 54011, 55645, 376 }, /* autoscaling/v1 HorizontalPodAutoscalerList */
    { 55609, 54011, 55673, 377 }, /* autoscaling/v1 Scale */
    { 55609, 55096, 55621, 380 }, /* autoscaling/v2 HorizontalPodAutoscaler */
    { 55609, 55096, 55645, 403 }, /* autoscaling/v2 HorizontalPodAutoscalerList */
    { 55679, 54011, 55685, 404 }, /* batch/v1 CronJob */
    { 55679, 54011, 55693, 415 }, /* batch/v1 CronJobList */
    { 55679, 54011, 55705, 416 }, /* batch/v1 Job */
    { 55679, 54011, 55709, 420 }, /* batch/v1 JobList */
    { 55717, 54011, 55737, 421 }, /* certificates.k8s.io/v1 CertificateSigningRequest */
    { 55717, 54011, 55763, 425 }, /* certificates.k8s.io/v1 CertificateSigningRequestList */
    { 55793, 54011, 55813, 426 }, /* coordination.k8s.io/v1 Lease */
    { 55793, 54011, 55819, 428 }, /* coordination.k8s.io/v1 LeaseList */
    { 55829, 54011, 55846, 429 }, /* discovery.k8s.io/v1 EndpointSlice */
    { 55829, 54011, 55860, 436 }, /* discovery.k8s.io/v1 EndpointSliceList */
    { 55878, 54011, 54106, 437 }, /* events.k8s.io/v1 Event */
    { 55878, 54011, 54112, 439 }, /* events.k8s.io/v1 EventList */
    { 55892, 54011, 55921, 440 }, /* flowcontrol.apiserver.k8s.io/v1 FlowSchema */
    { 55892, 54011, 55932, 453 }, /* flowcontrol.apiserver.k8s.io/v1 FlowSchemaList */
    { 55892, 54011, 55947, 454 }, /* flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration */
    { 55892, 54011, 55974, 462 }, /* flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfigurationList */
    { 56005, 54011, 56023, 463 }, /* networking.k8s.io/v1 IPAddress */
    { 56005, 54011, 56033, 466 }, /* networking.k8s.io/v1 IPAddressList */
    { 56005, 54011, 53801, 467 }, /* networking.k8s.io/v1 Ingress */
    { 56005, 54011, 56047, 480 }, /* networking.k8s.io/v1 IngressClass */
    { 56005, 54011, 56060, 483 }, /* networking.k8s.io/v1 IngressClassList */
    { 56005, 54011, 56077, 484 }, /* networking.k8s.io/v1 IngressList */
    { 56005, 54011, 56089, 485 }, /* networking.k8s.io/v1 NetworkPolicy */
    { 56005, 54011, 56103, 492 }, /* networking.k8s.io/v1 NetworkPolicyList */
    { 56005, 54011, 56121, 493 }, /* networking.k8s.io/v1 ServiceCIDR */
    { 56005, 54011, 56133, 496 }, /* networking.k8s.io/v1 ServiceCIDRList */
    { 56149, 54011, 56161, 497 }, /* node.k8s.io/v1 RuntimeClass */
    { 56149, 54011, 56174, 500 }, /* node.k8s.io/v1 RuntimeClassList */
    { 56191, 54011, 56198, 501 }, /* policy/v1 Eviction */
    { 56191, 54011, 56207, 504 }, /* policy/v1 PodDisruptionBudget */
    { 56191, 54011, 56227, 507 }, /* policy/v1 PodDisruptionBudgetList */
    { 56251, 54011, 56277, 508 }, /* rbac.authorization.k8s.io/v1 ClusterRole */
    { 56251, 54011, 56289, 511 }, /* rbac.authorization.k8s.io/v1 ClusterRoleBinding */
    { 56251, 54011, 56308, 514 }, /* rbac.authorization.k8s.io/v1 ClusterRoleBindingList */
    { 56251, 54011, 56331, 515 }, /* rbac.authorization.k8s.io/v1 ClusterRoleList */
    { 56251, 54011, 56347, 516 }, /* rbac.authorization.k8s.io/v1 Role */
    { 56251, 54011, 56352, 517 }, /* rbac.authorization.k8s.io/v1 RoleBinding */
    { 56251, 54011, 56364, 518 }, /* rbac.authorization.k8s.io/v1 RoleBindingList */
    { 56251, 54011, 56380, 519 }, /* rbac.authorization.k8s.io/v1 RoleList */
    { 56389, 54011, 56405, 520 }, /* resource.k8s.io/v1 DeviceClass */
    { 56389, 54011, 56417, 526 }, /* resource.k8s.io/v1 DeviceClassList */
    { 56389, 54011, 56433, 527 }, /* resource.k8s.io/v1 ResourceClaim */
    { 56389, 54011, 56447, 545 }, /* resource.k8s.io/v1 ResourceClaimList */
    { 56389, 54011, 56465, 546 }, /* resource.k8s.io/v1 ResourceClaimTemplate */
    { 56389, 54011, 56487, 548 }, /* resource.k8s.io/v1 ResourceClaimTemplateList */
    { 56389, 54011, 56513, 549 }, /* resource.k8s.io/v1 ResourceSlice */
    { 56389, 54011, 56527, 562 }, /* resource.k8s.io/v1 ResourceSliceList */
    { 56545, 54011, 52984, 563 }, /* scheduling.k8s.io/v1 PriorityClass */
    { 56545, 54011, 56563, 564 }, /* scheduling.k8s.io/v1 PriorityClassList */
    { 56581, 54011, 56596, 565 }, /* storage.k8s.io/v1 CSIDriver */
    { 56581, 54011, 56606, 568 }, /* storage.k8s.io/v1 CSIDriverList */
    { 56581, 54011, 56620, 569 }, /* storage.k8s.io/v1 CSINode */
    { 56581, 54011, 56628, 573 }, /* storage.k8s.io/v1 CSINodeList */
    { 56581, 54011, 56640, 574 }, /* storage.k8s.io/v1 CSIStorageCapacity */
    { 56581, 54011, 56659, 575 }, /* storage.k8s.io/v1 CSIStorageCapacityList */
    { 56581, 54011, 56682, 576 }, /* storage.k8s.io/v1 StorageClass */
    { 56581, 54011, 56695, 579 }, /* storage.k8s.io/v1 StorageClassList */
    { 56581, 54011, 56712, 580 }, /* storage.k8s.io/v1 VolumeAttachment */
    { 56581, 54011, 56729, 585 }, /* storage.k8s.io/v1 VolumeAttachmentList */
    { 56581, 54011, 52998, 586 }, /* storage.k8s.io/v1 VolumeAttributesClass */
    { 56581, 54011, 56750, 587 }, /* storage.k8s.io/v1 VolumeAttributesClassList */
    { 56776, 54011, 56788, 245 }, /* meta.k8s.io/v1 Status */
    { 56776, 54011, 56795, 502 }, /* meta.k8s.io/v1 DeleteOptions */
    { 56776, 54011, 56809, 588 }, /* meta.k8s.io/v1 CreateOptions */
    { 56776, 54011, 56823, 589 }, /* meta.k8s.io/v1 UpdateOptions */
    { 56776, 54011, 56837, 590 }, /* meta.k8s.io/v1 PatchOptions */
    { 56776, 54011, 56850, 591 }, /* meta.k8s.io/v1 GetOptions */
    { 56776, 54011, 56861, 592 }, /* meta.k8s.io/v1 ListOptions */
    { 56776, 54011, 56873, 593 }, /* meta.k8s.io/v1 WatchEvent */
    { 56776, 54011, 56884, 594 }, /* meta.k8s.io/v1 Table */
    { 56776, 54011, 56890, 598 }, /* meta.k8s.io/v1 TableOptions */
    { 56776, 54011, 56903, 599 }, /* meta.k8s.io/v1 PartialObjectMetadata */
    { 56776, 54011, 56925, 600 }, /* meta.k8s.io/v1 PartialObjectMetadataList */
    { 56776, 54011, 56951, 601 }, /* meta.k8s.io/v1 APIGroup */
    { 56776, 54011, 56960, 604 }, /* meta.k8s.io/v1 APIGroupList */
    { 56776, 54011, 56973, 605 }, /* meta.k8s.io/v1 APIResourceList */
    { 56776, 54011, 56989, 607 }, /* meta.k8s.io/v1 APIVersions */
    { 56776, 54011, 57001, 83 }, /* meta.k8s.io/v1 LabelSelector */
};
const uint16_t builtin_n_kinds = 164;

const char builtin_strings[] =
    "" "\0"
    "kind" "\0"
    "apiVersion" "\0"
    "metadata" "\0"
    "target" "\0"
    "name" "\0"
    "generateName" "\0"
    "namespace" "\0"
    "selfLink" "\0"
    "uid" "\0"
    "resourceVersion" "\0"
    "generation" "\0"
    "creationTimestamp" "\0"
    "deletionTimestamp" "\0"
    "deletionGracePeriodSeconds" "\0"
    "labels" "\0"
    "annotations" "\0"
    "ownerReferences" "\0"
    "finalizers" "\0"
    "managedFields" "\0"
    "controller" "\0"
    "blockOwnerDeletion" "\0"
    "manager" "\0"
    "operation" "\0"
    "time" "\0"
    "fieldsType" "\0"
    "fieldsV1" "\0"
    "subresource" "\0"
    "fieldPath" "\0"
    "conditions" "\0"
    "type" "\0"
    "status" "\0"
    "message" "\0"
    "error" "\0"
    "items" "\0"
    "continue" "\0"
    "remainingItemCount" "\0"
    "shardInfo" "\0"
    "selector" "\0"
    "immutable" "\0"
    "data" "\0"
    "binaryData" "\0"
    "subsets" "\0"
    "addresses" "\0"
    "notReadyAddresses" "\0"
    "ports" "\0"
    "ip" "\0"
    "hostname" "\0"
    "nodeName" "\0"
    "targetRef" "\0"
    "port" "\0"
    "protocol" "\0"
    "appProtocol" "\0"
    "involvedObject" "\0"
    "reason" "\0"
    "source" "\0"
    "firstTimestamp" "\0"
    "lastTimestamp" "\0"
    "count" "\0"
    "eventTime" "\0"
    "series" "\0"
    "action" "\0"
    "related" "\0"
    "reportingComponent" "\0"
    "reportingInstance" "\0"
    "component" "\0"
    "host" "\0"
    "lastObservedTime" "\0"
    "spec" "\0"
    "limits" "\0"
    "max" "\0"
    "min" "\0"
    "default" "\0"
    "defaultRequest" "\0"
    "maxLimitRequestRatio" "\0"
    "phase" "\0"
    "lastTransitionTime" "\0"
    "podCIDR" "\0"
    "podCIDRs" "\0"
    "providerID" "\0"
    "unschedulable" "\0"
    "taints" "\0"
    "configSource" "\0"
    "externalID" "\0"
    "key" "\0"
    "value" "\0"
    "effect" "\0"
    "timeAdded" "\0"
    "configMap" "\0"
    "kubeletConfigKey" "\0"
    "capacity" "\0"
    "allocatable" "\0"
    "daemonEndpoints" "\0"
    "nodeInfo" "\0"
    "images" "\0"
    "volumesInUse" "\0"
    "volumesAttached" "\0"
    "config" "\0"
    "runtimeHandlers" "\0"
    "features" "\0"
    "declaredFeatures" "\0"
    "lastHeartbeatTime" "\0"
    "address" "\0"
    "kubeletEndpoint" "\0"
    "Port" "\0"
    "machineID" "\0"
    "systemUUID" "\0"
    "bootID" "\0"
    "kernelVersion" "\0"
    "osImage" "\0"
    "containerRuntimeVersion" "\0"
    "kubeletVersion" "\0"
    "kubeProxyVersion" "\0"
    "operatingSystem" "\0"
    "architecture" "\0"
    "swap" "\0"
    "names" "\0"
    "sizeBytes" "\0"
    "devicePath" "\0"
    "assigned" "\0"
    "active" "\0"
    "lastKnownGood" "\0"
    "recursiveReadOnlyMounts" "\0"
    "userNamespaces" "\0"
    "supplementalGroupsPolicy" "\0"
    "path" "\0"
    "gcePersistentDisk" "\0"
    "awsElasticBlockStore" "\0"
    "hostPath" "\0"
    "glusterfs" "\0"
    "nfs" "\0"
    "rbd" "\0"
    "iscsi" "\0"
    "cinder" "\0"
    "cephfs" "\0"
    "fc" "\0"
    "flocker" "\0"
    "flexVolume" "\0"
    "azureFile" "\0"
    "vsphereVolume" "\0"
    "quobyte" "\0"
    "azureDisk" "\0"
    "photonPersistentDisk" "\0"
    "portworxVolume" "\0"
    "scaleIO" "\0"
    "local" "\0"
    "storageos" "\0"
    "csi" "\0"
    "accessModes" "\0"
    "claimRef" "\0"
    "persistentVolumeReclaimPolicy" "\0"
    "storageClassName" "\0"
    "mountOptions" "\0"
    "volumeMode" "\0"
    "nodeAffinity" "\0"
    "volumeAttributesClassName" "\0"
    "pdName" "\0"
    "fsType" "\0"
    "partition" "\0"
    "readOnly" "\0"
    "volumeID" "\0"
    "endpoints" "\0"
    "endpointsNamespace" "\0"
    "server" "\0"
    "monitors" "\0"
    "image" "\0"
    "pool" "\0"
    "user" "\0"
    "keyring" "\0"
    "secretRef" "\0"
    "targetPortal" "\0"
    "iqn" "\0"
    "lun" "\0"
    "iscsiInterface" "\0"
    "portals" "\0"
    "chapAuthDiscovery" "\0"
    "chapAuthSession" "\0"
    "initiatorName" "\0"
    "secretFile" "\0"
    "targetWWNs" "\0"
    "wwids" "\0"
    "datasetName" "\0"
    "datasetUUID" "\0"
    "driver" "\0"
    "options" "\0"
    "secretName" "\0"
    "shareName" "\0"
    "secretNamespace" "\0"
    "volumePath" "\0"
    "storagePolicyName" "\0"
    "storagePolicyID" "\0"
    "registry" "\0"
    "volume" "\0"
    "group" "\0"
    "tenant" "\0"
    "diskName" "\0"
    "diskURI" "\0"
    "cachingMode" "\0"
    "pdID" "\0"
    "gateway" "\0"
    "system" "\0"
    "sslEnabled" "\0"
    "protectionDomain" "\0"
    "storagePool" "\0"
    "storageMode" "\0"
    "volumeName" "\0"
    "volumeNamespace" "\0"
    "volumeHandle" "\0"
    "volumeAttributes" "\0"
    "controllerPublishSecretRef" "\0"
    "nodeStageSecretRef" "\0"
    "nodePublishSecretRef" "\0"
    "controllerExpandSecretRef" "\0"
    "nodeExpandSecretRef" "\0"
    "required" "\0"
    "nodeSelectorTerms" "\0"
    "matchExpressions" "\0"
    "matchFields" "\0"
    "operator" "\0"
    "values" "\0"
    "lastPhaseTransitionTime" "\0"
    "resources" "\0"
    "dataSource" "\0"
    "dataSourceRef" "\0"
    "matchLabels" "\0"
    "requests" "\0"
    "apiGroup" "\0"
    "allocatedResources" "\0"
    "allocatedResourceStatuses" "\0"
    "currentVolumeAttributesClassName" "\0"
    "modifyVolumeStatus" "\0"
    "lastProbeTime" "\0"
    "targetVolumeAttributesClassName" "\0"
    "volumes" "\0"
    "initContainers" "\0"
    "containers" "\0"
    "ephemeralContainers" "\0"
    "restartPolicy" "\0"
    "terminationGracePeriodSeconds" "\0"
    "activeDeadlineSeconds" "\0"
    "dnsPolicy" "\0"
    "nodeSelector" "\0"
    "serviceAccountName" "\0"
    "serviceAccount" "\0"
    "automountServiceAccountToken" "\0"
    "hostNetwork" "\0"
    "hostPID" "\0"
    "hostIPC" "\0"
    "shareProcessNamespace" "\0"
    "securityContext" "\0"
    "imagePullSecrets" "\0"
    "subdomain" "\0"
    "affinity" "\0"
    "schedulerName" "\0"
    "tolerations" "\0"
    "hostAliases" "\0"
    "priorityClassName" "\0"
    "priority" "\0"
    "dnsConfig" "\0"
    "readinessGates" "\0"
    "runtimeClassName" "\0"
    "enableServiceLinks" "\0"
    "preemptionPolicy" "\0"
    "overhead" "\0"
    "topologySpreadConstraints" "\0"
    "setHostnameAsFQDN" "\0"
    "os" "\0"
    "hostUsers" "\0"
    "schedulingGates" "\0"
    "resourceClaims" "\0"
    "hostnameOverride" "\0"
    "schedulingGroup" "\0"
    "emptyDir" "\0"
    "gitRepo" "\0"
    "secret" "\0"
    "persistentVolumeClaim" "\0"
    "downwardAPI" "\0"
    "projected" "\0"
    "ephemeral" "\0"
    "medium" "\0"
    "sizeLimit" "\0"
    "repository" "\0"
    "revision" "\0"
    "directory" "\0"
    "defaultMode" "\0"
    "optional" "\0"
    "mode" "\0"
    "claimName" "\0"
    "fieldRef" "\0"
    "resourceFieldRef" "\0"
    "containerName" "\0"
    "resource" "\0"
    "divisor" "\0"
    "sources" "\0"
    "serviceAccountToken" "\0"
    "clusterTrustBundle" "\0"
    "podCertificate" "\0"
    "audience" "\0"
    "expirationSeconds" "\0"
    "signerName" "\0"
    "labelSelector" "\0"
    "keyType" "\0"
    "maxExpirationSeconds" "\0"
    "credentialBundlePath" "\0"
    "keyPath" "\0"
    "certificateChainPath" "\0"
    "userAnnotations" "\0"
    "volumeClaimTemplate" "\0"
    "reference" "\0"
    "pullPolicy" "\0"
    "command" "\0"
    "args" "\0"
    "workingDir" "\0"
    "envFrom" "\0"
    "env" "\0"
    "resizePolicy" "\0"
    "restartPolicyRules" "\0"
    "volumeMounts" "\0"
    "volumeDevices" "\0"
    "livenessProbe" "\0"
    "readinessProbe" "\0"
    "startupProbe" "\0"
    "lifecycle" "\0"
    "terminationMessagePath" "\0"
    "terminationMessagePolicy" "\0"
    "imagePullPolicy" "\0"
    "stdin" "\0"
    "stdinOnce" "\0"
    "tty" "\0"
    "hostPort" "\0"
    "containerPort" "\0"
    "hostIP" "\0"
    "prefix" "\0"
    "configMapRef" "\0"
    "valueFrom" "\0"
    "configMapKeyRef" "\0"
    "secretKeyRef" "\0"
    "fileKeyRef" "\0"
    "claims" "\0"
    "request" "\0"
    "resourceName" "\0"
    "exitCodes" "\0"
    "recursiveReadOnly" "\0"
    "mountPath" "\0"
    "subPath" "\0"
    "mountPropagation" "\0"
    "subPathExpr" "\0"
    "exec" "\0"
    "httpGet" "\0"
    "tcpSocket" "\0"
    "grpc" "\0"
    "initialDelaySeconds" "\0"
    "timeoutSeconds" "\0"
    "periodSeconds" "\0"
    "successThreshold" "\0"
    "failureThreshold" "\0"
    "scheme" "\0"
    "httpHeaders" "\0"
    "service" "\0"
    "postStart" "\0"
    "preStop" "\0"
    "stopSignal" "\0"
    "sleep" "\0"
    "seconds" "\0"
    "capabilities" "\0"
    "privileged" "\0"
    "seLinuxOptions" "\0"
    "windowsOptions" "\0"
    "runAsUser" "\0"
    "runAsGroup" "\0"
    "runAsNonRoot" "\0"
    "readOnlyRootFilesystem" "\0"
    "allowPrivilegeEscalation" "\0"
    "procMount" "\0"
    "seccompProfile" "\0"
    "appArmorProfile" "\0"
    "add" "\0"
    "drop" "\0"
    "role" "\0"
    "level" "\0"
    "gmsaCredentialSpecName" "\0"
    "gmsaCredentialSpec" "\0"
    "runAsUserName" "\0"
    "hostProcess" "\0"
    "localhostProfile" "\0"
    "targetContainerName" "\0"
    "supplementalGroups" "\0"
    "fsGroup" "\0"
    "sysctls" "\0"
    "fsGroupChangePolicy" "\0"
    "seLinuxChangePolicy" "\0"
    "podAffinity" "\0"
    "podAntiAffinity" "\0"
    "requiredDuringSchedulingIgnoredDuringExecution" "\0"
    "preferredDuringSchedulingIgnoredDuringExecution" "\0"
    "weight" "\0"
    "preference" "\0"
    "namespaces" "\0"
    "topologyKey" "\0"
    "namespaceSelector" "\0"
    "matchLabelKeys" "\0"
    "mismatchLabelKeys" "\0"
    "podAffinityTerm" "\0"
    "tolerationSeconds" "\0"
    "hostnames" "\0"
    "nameservers" "\0"
    "searches" "\0"
    "conditionType" "\0"
    "maxSkew" "\0"
    "whenUnsatisfiable" "\0"
    "minDomains" "\0"
    "nodeAffinityPolicy" "\0"
    "nodeTaintsPolicy" "\0"
    "resourceClaimName" "\0"
    "resourceClaimTemplateName" "\0"
    "podGroupName" "\0"
    "observedGeneration" "\0"
    "nominatedNodeName" "\0"
    "hostIPs" "\0"
    "podIP" "\0"
    "podIPs" "\0"
    "startTime" "\0"
    "initContainerStatuses" "\0"
    "containerStatuses" "\0"
    "qosClass" "\0"
    "ephemeralContainerStatuses" "\0"
    "resize" "\0"
    "resourceClaimStatuses" "\0"
    "extendedResourceClaimStatus" "\0"
    "nodeAllocatableResourceClaimStatuses" "\0"
    "state" "\0"
    "lastState" "\0"
    "ready" "\0"
    "restartCount" "\0"
    "imageID" "\0"
    "containerID" "\0"
    "started" "\0"
    "allocatedResourcesStatus" "\0"
    "waiting" "\0"
    "running" "\0"
    "terminated" "\0"
    "startedAt" "\0"
    "exitCode" "\0"
    "signal" "\0"
    "finishedAt" "\0"
    "volumeStatus" "\0"
    "imageRef" "\0"
    "linux" "\0"
    "gid" "\0"
    "resourceID" "\0"
    "health" "\0"
    "requestMappings" "\0"
    "requestName" "\0"
    "stdout" "\0"
    "stderr" "\0"
    "container" "\0"
    "follow" "\0"
    "previous" "\0"
    "sinceSeconds" "\0"
    "sinceTime" "\0"
    "timestamps" "\0"
    "tailLines" "\0"
    "limitBytes" "\0"
    "insecureSkipTLSVerifyBackend" "\0"
    "stream" "\0"
    "template" "\0"
    "range" "\0"
    "replicas" "\0"
    "minReadySeconds" "\0"
    "fullyLabeledReplicas" "\0"
    "readyReplicas" "\0"
    "availableReplicas" "\0"
    "hard" "\0"
    "scopes" "\0"
    "scopeSelector" "\0"
    "scopeName" "\0"
    "used" "\0"
    "stringData" "\0"
    "clusterIP" "\0"
    "clusterIPs" "\0"
    "externalIPs" "\0"
    "sessionAffinity" "\0"
    "loadBalancerIP" "\0"
    "loadBalancerSourceRanges" "\0"
    "externalName" "\0"
    "externalTrafficPolicy" "\0"
    "healthCheckNodePort" "\0"
    "publishNotReadyAddresses" "\0"
    "sessionAffinityConfig" "\0"
    "ipFamilies" "\0"
    "ipFamilyPolicy" "\0"
    "allocateLoadBalancerNodePorts" "\0"
    "loadBalancerClass" "\0"
    "internalTrafficPolicy" "\0"
    "trafficDistribution" "\0"
    "targetPort" "\0"
    "nodePort" "\0"
    "clientIP" "\0"
    "loadBalancer" "\0"
    "ingress" "\0"
    "ipMode" "\0"
    "secrets" "\0"
    "response" "\0"
    "subResource" "\0"
    "requestKind" "\0"
    "requestResource" "\0"
    "requestSubResource" "\0"
    "userInfo" "\0"
    "object" "\0"
    "oldObject" "\0"
    "dryRun" "\0"
    "version" "\0"
    "username" "\0"
    "groups" "\0"
    "extra" "\0"
    "allowed" "\0"
    "patch" "\0"
    "patchType" "\0"
    "auditAnnotations" "\0"
    "warnings" "\0"
    "details" "\0"
    "code" "\0"
    "causes" "\0"
    "retryAfterSeconds" "\0"
    "field" "\0"
    "paramKind" "\0"
    "matchConstraints" "\0"
    "variables" "\0"
    "mutations" "\0"
    "failurePolicy" "\0"
    "matchConditions" "\0"
    "reinvocationPolicy" "\0"
    "objectSelector" "\0"
    "resourceRules" "\0"
    "excludeResourceRules" "\0"
    "matchPolicy" "\0"
    "resourceNames" "\0"
    "operations" "\0"
    "apiGroups" "\0"
    "apiVersions" "\0"
    "scope" "\0"
    "expression" "\0"
    "applyConfiguration" "\0"
    "jsonPatch" "\0"
    "policyName" "\0"
    "paramRef" "\0"
    "matchResources" "\0"
    "parameterNotFoundAction" "\0"
    "webhooks" "\0"
    "clientConfig" "\0"
    "rules" "\0"
    "sideEffects" "\0"
    "admissionReviewVersions" "\0"
    "url" "\0"
    "caBundle" "\0"
    "validations" "\0"
    "messageExpression" "\0"
    "valueExpression" "\0"
    "typeChecking" "\0"
    "expressionWarnings" "\0"
    "warning" "\0"
    "validationActions" "\0"
    "versions" "\0"
    "freshness" "\0"
    "responseKind" "\0"
    "singularResource" "\0"
    "verbs" "\0"
    "shortNames" "\0"
    "categories" "\0"
    "subresources" "\0"
    "acceptedTypes" "\0"
    "desiredAPIVersion" "\0"
    "objects" "\0"
    "convertedObjects" "\0"
    "result" "\0"
    "conversion" "\0"
    "preserveUnknownFields" "\0"
    "plural" "\0"
    "singular" "\0"
    "listKind" "\0"
    "served" "\0"
    "storage" "\0"
    "deprecated" "\0"
    "deprecationWarning" "\0"
    "schema" "\0"
    "additionalPrinterColumns" "\0"
    "selectableFields" "\0"
    "openAPIV3Schema" "\0"
    "id" "\0"
    "$schema" "\0"
    "$ref" "\0"
    "description" "\0"
    "format" "\0"
    "title" "\0"
    "maximum" "\0"
    "exclusiveMaximum" "\0"
    "minimum" "\0"
    "exclusiveMinimum" "\0"
    "maxLength" "\0"
    "minLength" "\0"
    "pattern" "\0"
    "maxItems" "\0"
    "minItems" "\0"
    "uniqueItems" "\0"
    "multipleOf" "\0"
    "enum" "\0"
    "maxProperties" "\0"
    "minProperties" "\0"
    "allOf" "\0"
    "oneOf" "\0"
    "anyOf" "\0"
    "not" "\0"
    "properties" "\0"
    "additionalProperties" "\0"
    "patternProperties" "\0"
    "dependencies" "\0"
    "additionalItems" "\0"
    "definitions" "\0"
    "externalDocs" "\0"
    "example" "\0"
    "nullable" "\0"
    "x-kubernetes-preserve-unknown-fields" "\0"
    "x-kubernetes-embedded-resource" "\0"
    "x-kubernetes-int-or-string" "\0"
    "x-kubernetes-list-map-keys" "\0"
    "x-kubernetes-list-type" "\0"
    "x-kubernetes-map-type" "\0"
    "x-kubernetes-validations" "\0"
    "rule" "\0"
    "optionalOldSelf" "\0"
    "scale" "\0"
    "specReplicasPath" "\0"
    "statusReplicasPath" "\0"
    "labelSelectorPath" "\0"
    "jsonPath" "\0"
    "strategy" "\0"
    "webhook" "\0"
    "conversionReviewVersions" "\0"
    "acceptedNames" "\0"
    "storedVersions" "\0"
    "insecureSkipTLSVerify" "\0"
    "groupPriorityMinimum" "\0"
    "versionPriority" "\0"
    "updateStrategy" "\0"
    "revisionHistoryLimit" "\0"
    "rollingUpdate" "\0"
    "maxUnavailable" "\0"
    "maxSurge" "\0"
    "currentNumberScheduled" "\0"
    "numberMisscheduled" "\0"
    "desiredNumberScheduled" "\0"
    "numberReady" "\0"
    "updatedNumberScheduled" "\0"
    "numberAvailable" "\0"
    "numberUnavailable" "\0"
    "collisionCount" "\0"
    "paused" "\0"
    "progressDeadlineSeconds" "\0"
    "updatedReplicas" "\0"
    "unavailableReplicas" "\0"
    "terminatingReplicas" "\0"
    "lastUpdateTime" "\0"
    "volumeClaimTemplates" "\0"
    "serviceName" "\0"
    "podManagementPolicy" "\0"
    "persistentVolumeClaimRetentionPolicy" "\0"
    "ordinals" "\0"
    "whenDeleted" "\0"
    "whenScaled" "\0"
    "start" "\0"
    "currentReplicas" "\0"
    "currentRevision" "\0"
    "updateRevision" "\0"
    "audiences" "\0"
    "boundObjectRef" "\0"
    "token" "\0"
    "expirationTimestamp" "\0"
    "authenticated" "\0"
    "resourceAttributes" "\0"
    "nonResourceAttributes" "\0"
    "verb" "\0"
    "fieldSelector" "\0"
    "rawSelector" "\0"
    "requirements" "\0"
    "denied" "\0"
    "evaluationError" "\0"
    "nonResourceRules" "\0"
    "incomplete" "\0"
    "nonResourceURLs" "\0"
    "scaleTargetRef" "\0"
    "minReplicas" "\0"
    "maxReplicas" "\0"
    "targetCPUUtilizationPercentage" "\0"
    "lastScaleTime" "\0"
    "desiredReplicas" "\0"
    "currentCPUUtilizationPercentage" "\0"
    "metrics" "\0"
    "behavior" "\0"
    "pods" "\0"
    "containerResource" "\0"
    "external" "\0"
    "describedObject" "\0"
    "metric" "\0"
    "averageValue" "\0"
    "averageUtilization" "\0"
    "scaleUp" "\0"
    "scaleDown" "\0"
    "stabilizationWindowSeconds" "\0"
    "selectPolicy" "\0"
    "policies" "\0"
    "tolerance" "\0"
    "currentMetrics" "\0"
    "current" "\0"
    "schedule" "\0"
    "timeZone" "\0"
    "startingDeadlineSeconds" "\0"
    "concurrencyPolicy" "\0"
    "suspend" "\0"
    "jobTemplate" "\0"
    "successfulJobsHistoryLimit" "\0"
    "failedJobsHistoryLimit" "\0"
    "parallelism" "\0"
    "completions" "\0"
    "podFailurePolicy" "\0"
    "successPolicy" "\0"
    "backoffLimit" "\0"
    "backoffLimitPerIndex" "\0"
    "maxFailedIndexes" "\0"
    "manualSelector" "\0"
    "ttlSecondsAfterFinished" "\0"
    "completionMode" "\0"
    "podReplacementPolicy" "\0"
    "managedBy" "\0"
    "onExitCodes" "\0"
    "onPodConditions" "\0"
    "succeededIndexes" "\0"
    "succeededCount" "\0"
    "lastScheduleTime" "\0"
    "lastSuccessfulTime" "\0"
    "completionTime" "\0"
    "succeeded" "\0"
    "failed" "\0"
    "terminating" "\0"
    "completedIndexes" "\0"
    "failedIndexes" "\0"
    "uncountedTerminatedPods" "\0"
    "usages" "\0"
    "certificate" "\0"
    "holderIdentity" "\0"
    "leaseDurationSeconds" "\0"
    "acquireTime" "\0"
    "renewTime" "\0"
    "leaseTransitions" "\0"
    "preferredHolder" "\0"
    "addressType" "\0"
    "deprecatedTopology" "\0"
    "zone" "\0"
    "hints" "\0"
    "serving" "\0"
    "forZones" "\0"
    "forNodes" "\0"
    "reportingController" "\0"
    "regarding" "\0"
    "note" "\0"
    "deprecatedSource" "\0"
    "deprecatedFirstTimestamp" "\0"
    "deprecatedLastTimestamp" "\0"
    "deprecatedCount" "\0"
    "priorityLevelConfiguration" "\0"
    "matchingPrecedence" "\0"
    "distinguisherMethod" "\0"
    "subjects" "\0"
    "clusterScope" "\0"
    "limited" "\0"
    "exempt" "\0"
    "nominalConcurrencyShares" "\0"
    "limitResponse" "\0"
    "lendablePercent" "\0"
    "borrowingLimitPercent" "\0"
    "queuing" "\0"
    "queues" "\0"
    "handSize" "\0"
    "queueLengthLimit" "\0"
    "parentRef" "\0"
    "ingressClassName" "\0"
    "defaultBackend" "\0"
    "tls" "\0"
    "number" "\0"
    "hosts" "\0"
    "http" "\0"
    "paths" "\0"
    "pathType" "\0"
    "backend" "\0"
    "parameters" "\0"
    "podSelector" "\0"
    "egress" "\0"
    "policyTypes" "\0"
    "from" "\0"
    "endPort" "\0"
    "ipBlock" "\0"
    "cidr" "\0"
    "except" "\0"
    "to" "\0"
    "cidrs" "\0"
    "handler" "\0"
    "scheduling" "\0"
    "podFixed" "\0"
    "deleteOptions" "\0"
    "gracePeriodSeconds" "\0"
    "preconditions" "\0"
    "orphanDependents" "\0"
    "propagationPolicy" "\0"
    "ignoreStoreReadErrorWithClusterBreakingPotential" "\0"
    "minAvailable" "\0"
    "unhealthyPodEvictionPolicy" "\0"
    "disruptedPods" "\0"
    "disruptionsAllowed" "\0"
    "currentHealthy" "\0"
    "desiredHealthy" "\0"
    "expectedPods" "\0"
    "aggregationRule" "\0"
    "clusterRoleSelectors" "\0"
    "roleRef" "\0"
    "selectors" "\0"
    "extendedResourceName" "\0"
    "cel" "\0"
    "opaque" "\0"
    "devices" "\0"
    "constraints" "\0"
    "exactly" "\0"
    "firstAvailable" "\0"
    "deviceClassName" "\0"
    "allocationMode" "\0"
    "adminAccess" "\0"
    "matchAttribute" "\0"
    "distinctAttribute" "\0"
    "allocation" "\0"
    "reservedFor" "\0"
    "allocationTimestamp" "\0"
    "results" "\0"
    "device" "\0"
    "bindingConditions" "\0"
    "bindingFailureConditions" "\0"
    "shareID" "\0"
    "consumedCapacity" "\0"
    "networkData" "\0"
    "interfaceName" "\0"
    "ips" "\0"
    "hardwareAddress" "\0"
    "allNodes" "\0"
    "perDeviceNodeSelection" "\0"
    "sharedCounters" "\0"
    "resourceSliceCount" "\0"
    "attributes" "\0"
    "consumesCounters" "\0"
    "bindsToNode" "\0"
    "allowMultipleAllocations" "\0"
    "nodeAllocatableResourceMappings" "\0"
    "int" "\0"
    "bool" "\0"
    "string" "\0"
    "ints" "\0"
    "bools" "\0"
    "strings" "\0"
    "requestPolicy" "\0"
    "validValues" "\0"
    "validRange" "\0"
    "step" "\0"
    "counterSet" "\0"
    "counters" "\0"
    "capacityKey" "\0"
    "allocationMultiplier" "\0"
    "globalDefault" "\0"
    "attachRequired" "\0"
    "podInfoOnMount" "\0"
    "volumeLifecycleModes" "\0"
    "storageCapacity" "\0"
    "fsGroupPolicy" "\0"
    "tokenRequests" "\0"
    "requiresRepublish" "\0"
    "seLinuxMount" "\0"
    "nodeAllocatableUpdatePeriodSeconds" "\0"
    "serviceAccountTokenInSecrets" "\0"
    "preventPodSchedulingIfMissing" "\0"
    "drivers" "\0"
    "nodeID" "\0"
    "topologyKeys" "\0"
    "nodeTopology" "\0"
    "maximumVolumeSize" "\0"
    "provisioner" "\0"
    "reclaimPolicy" "\0"
    "allowVolumeExpansion" "\0"
    "volumeBindingMode" "\0"
    "allowedTopologies" "\0"
    "matchLabelExpressions" "\0"
    "attacher" "\0"
    "persistentVolumeName" "\0"
    "inlineVolumeSpec" "\0"
    "attached" "\0"
    "attachmentMetadata" "\0"
    "attachError" "\0"
    "detachError" "\0"
    "errorCode" "\0"
    "driverName" "\0"
    "fieldManager" "\0"
    "fieldValidation" "\0"
    "force" "\0"
    "watch" "\0"
    "allowWatchBookmarks" "\0"
    "resourceVersionMatch" "\0"
    "limit" "\0"
    "sendInitialEvents" "\0"
    "shardSelector" "\0"
    "columnDefinitions" "\0"
    "rows" "\0"
    "cells" "\0"
    "includeObject" "\0"
    "preferredVersion" "\0"
    "serverAddressByClientCIDRs" "\0"
    "groupVersion" "\0"
    "clientCIDR" "\0"
    "serverAddress" "\0"
    "singularName" "\0"
    "namespaced" "\0"
    "storageVersionHash" "\0"
    "io.k8s.api.core.v1.Binding" "\0"
    "v1.Binding" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" "\0"
    "v1.ObjectMeta" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference" "\0"
    "v1.OwnerReference" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry" "\0"
    "v1.ManagedFieldsEntry" "\0"
    "io.k8s.api.core.v1.ObjectReference" "\0"
    "v1.ObjectReference" "\0"
    "io.k8s.api.core.v1.ComponentStatus" "\0"
    "v1.ComponentStatus" "\0"
    "io.k8s.api.core.v1.ComponentCondition" "\0"
    "v1.ComponentCondition" "\0"
    "io.k8s.api.core.v1.ComponentStatusList" "\0"
    "v1.ComponentStatusList" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta" "\0"
    "v1.ListMeta" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo" "\0"
    "v1.ShardInfo" "\0"
    "io.k8s.api.core.v1.ConfigMap" "\0"
    "v1.ConfigMap" "\0"
    "io.k8s.api.core.v1.ConfigMapList" "\0"
    "v1.ConfigMapList" "\0"
    "io.k8s.api.core.v1.Endpoints" "\0"
    "v1.Endpoints" "\0"
    "io.k8s.api.core.v1.EndpointSubset" "\0"
    "v1.EndpointSubset" "\0"
    "io.k8s.api.core.v1.EndpointAddress" "\0"
    "v1.EndpointAddress" "\0"
    "io.k8s.api.core.v1.EndpointPort" "\0"
    "v1.EndpointPort" "\0"
    "io.k8s.api.core.v1.EndpointsList" "\0"
    "v1.EndpointsList" "\0"
    "io.k8s.api.core.v1.Event" "\0"
    "v1.Event" "\0"
    "io.k8s.api.core.v1.EventSource" "\0"
    "v1.EventSource" "\0"
    "io.k8s.api.core.v1.EventSeries" "\0"
    "v1.EventSeries" "\0"
    "io.k8s.api.core.v1.EventList" "\0"
    "v1.EventList" "\0"
    "io.k8s.api.core.v1.LimitRange" "\0"
    "v1.LimitRange" "\0"
    "io.k8s.api.core.v1.LimitRangeSpec" "\0"
    "v1.LimitRangeSpec" "\0"
    "io.k8s.api.core.v1.LimitRangeItem" "\0"
    "v1.LimitRangeItem" "\0"
    "io.k8s.api.core.v1.LimitRangeList" "\0"
    "v1.LimitRangeList" "\0"
    "io.k8s.api.core.v1.List" "\0"
    "v1.List" "\0"
    "io.k8s.api.core.v1.Namespace" "\0"
    "v1.Namespace" "\0"
    "io.k8s.api.core.v1.NamespaceSpec" "\0"
    "v1.NamespaceSpec" "\0"
    "io.k8s.api.core.v1.NamespaceStatus" "\0"
    "v1.NamespaceStatus" "\0"
    "io.k8s.api.core.v1.NamespaceCondition" "\0"
    "v1.NamespaceCondition" "\0"
    "io.k8s.api.core.v1.NamespaceList" "\0"
    "v1.NamespaceList" "\0"
    "io.k8s.api.core.v1.Node" "\0"
    "v1.Node" "\0"
    "io.k8s.api.core.v1.NodeSpec" "\0"
    "v1.NodeSpec" "\0"
    "io.k8s.api.core.v1.Taint" "\0"
    "v1.Taint" "\0"
    "io.k8s.api.core.v1.NodeConfigSource" "\0"
    "v1.NodeConfigSource" "\0"
    "io.k8s.api.core.v1.ConfigMapNodeConfigSource" "\0"
    "v1.ConfigMapNodeConfigSource" "\0"
    "io.k8s.api.core.v1.NodeStatus" "\0"
    "v1.NodeStatus" "\0"
    "io.k8s.api.core.v1.NodeCondition" "\0"
    "v1.NodeCondition" "\0"
    "io.k8s.api.core.v1.NodeAddress" "\0"
    "v1.NodeAddress" "\0"
    "io.k8s.api.core.v1.NodeDaemonEndpoints" "\0"
    "v1.NodeDaemonEndpoints" "\0"
    "io.k8s.api.core.v1.DaemonEndpoint" "\0"
    "v1.DaemonEndpoint" "\0"
    "io.k8s.api.core.v1.NodeSystemInfo" "\0"
    "v1.NodeSystemInfo" "\0"
    "io.k8s.api.core.v1.NodeSwapStatus" "\0"
    "v1.NodeSwapStatus" "\0"
    "io.k8s.api.core.v1.ContainerImage" "\0"
    "v1.ContainerImage" "\0"
    "io.k8s.api.core.v1.AttachedVolume" "\0"
    "v1.AttachedVolume" "\0"
    "io.k8s.api.core.v1.NodeConfigStatus" "\0"
    "v1.NodeConfigStatus" "\0"
    "io.k8s.api.core.v1.NodeRuntimeHandler" "\0"
    "v1.NodeRuntimeHandler" "\0"
    "io.k8s.api.core.v1.NodeRuntimeHandlerFeatures" "\0"
    "v1.NodeRuntimeHandlerFeatures" "\0"
    "io.k8s.api.core.v1.NodeFeatures" "\0"
    "v1.NodeFeatures" "\0"
    "io.k8s.api.core.v1.NodeList" "\0"
    "v1.NodeList" "\0"
    "io.k8s.api.core.v1.NodeProxyOptions" "\0"
    "v1.NodeProxyOptions" "\0"
    "io.k8s.api.core.v1.PersistentVolume" "\0"
    "v1.PersistentVolume" "\0"
    "io.k8s.api.core.v1.PersistentVolumeSpec" "\0"
    "v1.PersistentVolumeSpec" "\0"
    "io.k8s.api.core.v1.GCEPersistentDiskVolumeSource" "\0"
    "v1.GCEPersistentDiskVolumeSource" "\0"
    "io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource" "\0"
    "v1.AWSElasticBlockStoreVolumeSource" "\0"
    "io.k8s.api.core.v1.HostPathVolumeSource" "\0"
    "v1.HostPathVolumeSource" "\0"
    "io.k8s.api.core.v1.GlusterfsPersistentVolumeSource" "\0"
    "v1.GlusterfsPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.NFSVolumeSource" "\0"
    "v1.NFSVolumeSource" "\0"
    "io.k8s.api.core.v1.RBDPersistentVolumeSource" "\0"
    "v1.RBDPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.SecretReference" "\0"
    "v1.SecretReference" "\0"
    "io.k8s.api.core.v1.ISCSIPersistentVolumeSource" "\0"
    "v1.ISCSIPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.CinderPersistentVolumeSource" "\0"
    "v1.CinderPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.CephFSPersistentVolumeSource" "\0"
    "v1.CephFSPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.FCVolumeSource" "\0"
    "v1.FCVolumeSource" "\0"
    "io.k8s.api.core.v1.FlockerVolumeSource" "\0"
    "v1.FlockerVolumeSource" "\0"
    "io.k8s.api.core.v1.FlexPersistentVolumeSource" "\0"
    "v1.FlexPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.AzureFilePersistentVolumeSource" "\0"
    "v1.AzureFilePersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource" "\0"
    "v1.VsphereVirtualDiskVolumeSource" "\0"
    "io.k8s.api.core.v1.QuobyteVolumeSource" "\0"
    "v1.QuobyteVolumeSource" "\0"
    "io.k8s.api.core.v1.AzureDiskVolumeSource" "\0"
    "v1.AzureDiskVolumeSource" "\0"
    "io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource" "\0"
    "v1.PhotonPersistentDiskVolumeSource" "\0"
    "io.k8s.api.core.v1.PortworxVolumeSource" "\0"
    "v1.PortworxVolumeSource" "\0"
    "io.k8s.api.core.v1.ScaleIOPersistentVolumeSource" "\0"
    "v1.ScaleIOPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.LocalVolumeSource" "\0"
    "v1.LocalVolumeSource" "\0"
    "io.k8s.api.core.v1.StorageOSPersistentVolumeSource" "\0"
    "v1.StorageOSPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.CSIPersistentVolumeSource" "\0"
    "v1.CSIPersistentVolumeSource" "\0"
    "io.k8s.api.core.v1.VolumeNodeAffinity" "\0"
    "v1.VolumeNodeAffinity" "\0"
    "io.k8s.api.core.v1.NodeSelector" "\0"
    "v1.NodeSelector" "\0"
    "io.k8s.api.core.v1.NodeSelectorTerm" "\0"
    "v1.NodeSelectorTerm" "\0"
    "io.k8s.api.core.v1.NodeSelectorRequirement" "\0"
    "v1.NodeSelectorRequirement" "\0"
    "io.k8s.api.core.v1.PersistentVolumeStatus" "\0"
    "v1.PersistentVolumeStatus" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaim" "\0"
    "v1.PersistentVolumeClaim" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaimSpec" "\0"
    "v1.PersistentVolumeClaimSpec" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector" "\0"
    "v1.LabelSelector" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement" "\0"
    "v1.LabelSelectorRequirement" "\0"
    "io.k8s.api.core.v1.VolumeResourceRequirements" "\0"
    "v1.VolumeResourceRequirements" "\0"
    "io.k8s.api.core.v1.TypedLocalObjectReference" "\0"
    "v1.TypedLocalObjectReference" "\0"
    "io.k8s.api.core.v1.TypedObjectReference" "\0"
    "v1.TypedObjectReference" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaimStatus" "\0"
    "v1.PersistentVolumeClaimStatus" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaimCondition" "\0"
    "v1.PersistentVolumeClaimCondition" "\0"
    "io.k8s.api.core.v1.ModifyVolumeStatus" "\0"
    "v1.ModifyVolumeStatus" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaimList" "\0"
    "v1.PersistentVolumeClaimList" "\0"
    "io.k8s.api.core.v1.PersistentVolumeList" "\0"
    "v1.PersistentVolumeList" "\0"
    "io.k8s.api.core.v1.Pod" "\0"
    "v1.Pod" "\0"
    "io.k8s.api.core.v1.PodSpec" "\0"
    "v1.PodSpec" "\0"
    "io.k8s.api.core.v1.Volume" "\0"
    "v1.Volume" "\0"
    "io.k8s.api.core.v1.EmptyDirVolumeSource" "\0"
    "v1.EmptyDirVolumeSource" "\0"
    "io.k8s.api.core.v1.GitRepoVolumeSource" "\0"
    "v1.GitRepoVolumeSource" "\0"
    "io.k8s.api.core.v1.SecretVolumeSource" "\0"
    "v1.SecretVolumeSource" "\0"
    "io.k8s.api.core.v1.KeyToPath" "\0"
    "v1.KeyToPath" "\0"
    "io.k8s.api.core.v1.ISCSIVolumeSource" "\0"
    "v1.ISCSIVolumeSource" "\0"
    "io.k8s.api.core.v1.LocalObjectReference" "\0"
    "v1.LocalObjectReference" "\0"
    "io.k8s.api.core.v1.GlusterfsVolumeSource" "\0"
    "v1.GlusterfsVolumeSource" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource" "\0"
    "v1.PersistentVolumeClaimVolumeSource" "\0"
    "io.k8s.api.core.v1.RBDVolumeSource" "\0"
    "v1.RBDVolumeSource" "\0"
    "io.k8s.api.core.v1.FlexVolumeSource" "\0"
    "v1.FlexVolumeSource" "\0"
    "io.k8s.api.core.v1.CinderVolumeSource" "\0"
    "v1.CinderVolumeSource" "\0"
    "io.k8s.api.core.v1.CephFSVolumeSource" "\0"
    "v1.CephFSVolumeSource" "\0"
    "io.k8s.api.core.v1.DownwardAPIVolumeSource" "\0"
    "v1.DownwardAPIVolumeSource" "\0"
    "io.k8s.api.core.v1.DownwardAPIVolumeFile" "\0"
    "v1.DownwardAPIVolumeFile" "\0"
    "io.k8s.api.core.v1.ObjectFieldSelector" "\0"
    "v1.ObjectFieldSelector" "\0"
    "io.k8s.api.core.v1.ResourceFieldSelector" "\0"
    "v1.ResourceFieldSelector" "\0"
    "io.k8s.api.core.v1.AzureFileVolumeSource" "\0"
    "v1.AzureFileVolumeSource" "\0"
    "io.k8s.api.core.v1.ConfigMapVolumeSource" "\0"
    "v1.ConfigMapVolumeSource" "\0"
    "io.k8s.api.core.v1.ProjectedVolumeSource" "\0"
    "v1.ProjectedVolumeSource" "\0"
    "io.k8s.api.core.v1.VolumeProjection" "\0"
    "v1.VolumeProjection" "\0"
    "io.k8s.api.core.v1.SecretProjection" "\0"
    "v1.SecretProjection" "\0"
    "io.k8s.api.core.v1.DownwardAPIProjection" "\0"
    "v1.DownwardAPIProjection" "\0"
    "io.k8s.api.core.v1.ConfigMapProjection" "\0"
    "v1.ConfigMapProjection" "\0"
    "io.k8s.api.core.v1.ServiceAccountTokenProjection" "\0"
    "v1.ServiceAccountTokenProjection" "\0"
    "io.k8s.api.core.v1.ClusterTrustBundleProjection" "\0"
    "v1.ClusterTrustBundleProjection" "\0"
    "io.k8s.api.core.v1.PodCertificateProjection" "\0"
    "v1.PodCertificateProjection" "\0"
    "io.k8s.api.core.v1.ScaleIOVolumeSource" "\0"
    "v1.ScaleIOVolumeSource" "\0"
    "io.k8s.api.core.v1.StorageOSVolumeSource" "\0"
    "v1.StorageOSVolumeSource" "\0"
    "io.k8s.api.core.v1.CSIVolumeSource" "\0"
    "v1.CSIVolumeSource" "\0"
    "io.k8s.api.core.v1.EphemeralVolumeSource" "\0"
    "v1.EphemeralVolumeSource" "\0"
    "io.k8s.api.core.v1.PersistentVolumeClaimTemplate" "\0"
    "v1.PersistentVolumeClaimTemplate" "\0"
    "io.k8s.api.core.v1.ImageVolumeSource" "\0"
    "v1.ImageVolumeSource" "\0"
    "io.k8s.api.core.v1.Container" "\0"
    "v1.Container" "\0"
    "io.k8s.api.core.v1.ContainerPort" "\0"
    "v1.ContainerPort" "\0"
    "io.k8s.api.core.v1.EnvFromSource" "\0"
    "v1.EnvFromSource" "\0"
    "io.k8s.api.core.v1.ConfigMapEnvSource" "\0"
    "v1.ConfigMapEnvSource" "\0"
    "io.k8s.api.core.v1.SecretEnvSource" "\0"
    "v1.SecretEnvSource" "\0"
    "io.k8s.api.core.v1.EnvVar" "\0"
    "v1.EnvVar" "\0"
    "io.k8s.api.core.v1.EnvVarSource" "\0"
    "v1.EnvVarSource" "\0"
    "io.k8s.api.core.v1.ConfigMapKeySelector" "\0"
    "v1.ConfigMapKeySelector" "\0"
    "io.k8s.api.core.v1.SecretKeySelector" "\0"
    "v1.SecretKeySelector" "\0"
    "io.k8s.api.core.v1.FileKeySelector" "\0"
    "v1.FileKeySelector" "\0"
    "io.k8s.api.core.v1.ResourceRequirements" "\0"
    "v1.ResourceRequirements" "\0"
    "io.k8s.api.core.v1.ResourceClaim" "\0"
    "v1.ResourceClaim" "\0"
    "io.k8s.api.core.v1.ContainerResizePolicy" "\0"
    "v1.ContainerResizePolicy" "\0"
    "io.k8s.api.core.v1.ContainerRestartRule" "\0"
    "v1.ContainerRestartRule" "\0"
    "io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes" "\0"
    "v1.ContainerRestartRuleOnExitCodes" "\0"
    "io.k8s.api.core.v1.VolumeMount" "\0"
    "v1.VolumeMount" "\0"
    "io.k8s.api.core.v1.VolumeDevice" "\0"
    "v1.VolumeDevice" "\0"
    "io.k8s.api.core.v1.Probe" "\0"
    "v1.Probe" "\0"
    "io.k8s.api.core.v1.ExecAction" "\0"
    "v1.ExecAction" "\0"
    "io.k8s.api.core.v1.HTTPGetAction" "\0"
    "v1.HTTPGetAction" "\0"
    "io.k8s.api.core.v1.HTTPHeader" "\0"
    "v1.HTTPHeader" "\0"
    "io.k8s.api.core.v1.TCPSocketAction" "\0"
    "v1.TCPSocketAction" "\0"
    "io.k8s.api.core.v1.GRPCAction" "\0"
    "v1.GRPCAction" "\0"
    "io.k8s.api.core.v1.Lifecycle" "\0"
    "v1.Lifecycle" "\0"
    "io.k8s.api.core.v1.LifecycleHandler" "\0"
    "v1.LifecycleHandler" "\0"
    "io.k8s.api.core.v1.SleepAction" "\0"
    "v1.SleepAction" "\0"
    "io.k8s.api.core.v1.SecurityContext" "\0"
    "v1.SecurityContext" "\0"
    "io.k8s.api.core.v1.Capabilities" "\0"
    "v1.Capabilities" "\0"
    "io.k8s.api.core.v1.SELinuxOptions" "\0"
    "v1.SELinuxOptions" "\0"
    "io.k8s.api.core.v1.WindowsSecurityContextOptions" "\0"
    "v1.WindowsSecurityContextOptions" "\0"
    "io.k8s.api.core.v1.SeccompProfile" "\0"
    "v1.SeccompProfile" "\0"
    "io.k8s.api.core.v1.AppArmorProfile" "\0"
    "v1.AppArmorProfile" "\0"
    "io.k8s.api.core.v1.EphemeralContainer" "\0"
    "v1.EphemeralContainer" "\0"
    "io.k8s.api.core.v1.PodSecurityContext" "\0"
    "v1.PodSecurityContext" "\0"
    "io.k8s.api.core.v1.Sysctl" "\0"
    "v1.Sysctl" "\0"
    "io.k8s.api.core.v1.Affinity" "\0"
    "v1.Affinity" "\0"
    "io.k8s.api.core.v1.NodeAffinity" "\0"
    "v1.NodeAffinity" "\0"
    "io.k8s.api.core.v1.PreferredSchedulingTerm" "\0"
    "v1.PreferredSchedulingTerm" "\0"
    "io.k8s.api.core.v1.PodAffinity" "\0"
    "v1.PodAffinity" "\0"
    "io.k8s.api.core.v1.PodAffinityTerm" "\0"
    "v1.PodAffinityTerm" "\0"
    "io.k8s.api.core.v1.WeightedPodAffinityTerm" "\0"
    "v1.WeightedPodAffinityTerm" "\0"
    "io.k8s.api.core.v1.PodAntiAffinity" "\0"
    "v1.PodAntiAffinity" "\0"
    "io.k8s.api.core.v1.Toleration" "\0"
    "v1.Toleration" "\0"
    "io.k8s.api.core.v1.HostAlias" "\0"
    "v1.HostAlias" "\0"
    "io.k8s.api.core.v1.PodDNSConfig" "\0"
    "v1.PodDNSConfig" "\0"
    "io.k8s.api.core.v1.PodDNSConfigOption" "\0"
    "v1.PodDNSConfigOption" "\0"
    "io.k8s.api.core.v1.PodReadinessGate" "\0"
    "v1.PodReadinessGate" "\0"
    "io.k8s.api.core.v1.TopologySpreadConstraint" "\0"
    "v1.TopologySpreadConstraint" "\0"
    "io.k8s.api.core.v1.PodOS" "\0"
    "v1.PodOS" "\0"
    "io.k8s.api.core.v1.PodSchedulingGate" "\0"
    "v1.PodSchedulingGate" "\0"
    "io.k8s.api.core.v1.PodResourceClaim" "\0"
    "v1.PodResourceClaim" "\0"
    "io.k8s.api.core.v1.PodSchedulingGroup" "\0"
    "v1.PodSchedulingGroup" "\0"
    "io.k8s.api.core.v1.PodStatus" "\0"
    "v1.PodStatus" "\0"
    "io.k8s.api.core.v1.PodCondition" "\0"
    "v1.PodCondition" "\0"
    "io.k8s.api.core.v1.HostIP" "\0"
    "v1.HostIP" "\0"
    "io.k8s.api.core.v1.PodIP" "\0"
    "v1.PodIP" "\0"
    "io.k8s.api.core.v1.ContainerStatus" "\0"
    "v1.ContainerStatus" "\0"
    "io.k8s.api.core.v1.ContainerState" "\0"
    "v1.ContainerState" "\0"
    "io.k8s.api.core.v1.ContainerStateWaiting" "\0"
    "v1.ContainerStateWaiting" "\0"
    "io.k8s.api.core.v1.ContainerStateRunning" "\0"
    "v1.ContainerStateRunning" "\0"
    "io.k8s.api.core.v1.ContainerStateTerminated" "\0"
    "v1.ContainerStateTerminated" "\0"
    "io.k8s.api.core.v1.VolumeMountStatus" "\0"
    "v1.VolumeMountStatus" "\0"
    "io.k8s.api.core.v1.VolumeStatus" "\0"
    "v1.VolumeStatus" "\0"
    "io.k8s.api.core.v1.ImageVolumeStatus" "\0"
    "v1.ImageVolumeStatus" "\0"
    "io.k8s.api.core.v1.ContainerUser" "\0"
    "v1.ContainerUser" "\0"
    "io.k8s.api.core.v1.LinuxContainerUser" "\0"
    "v1.LinuxContainerUser" "\0"
    "io.k8s.api.core.v1.ResourceStatus" "\0"
    "v1.ResourceStatus" "\0"
    "io.k8s.api.core.v1.ResourceHealth" "\0"
    "v1.ResourceHealth" "\0"
    "io.k8s.api.core.v1.PodResourceClaimStatus" "\0"
    "v1.PodResourceClaimStatus" "\0"
    "io.k8s.api.core.v1.PodExtendedResourceClaimStatus" "\0"
    "v1.PodExtendedResourceClaimStatus" "\0"
    "io.k8s.api.core.v1.ContainerExtendedResourceRequest" "\0"
    "v1.ContainerExtendedResourceRequest" "\0"
    "io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus" "\0"
    "v1.NodeAllocatableResourceClaimStatus" "\0"
    "io.k8s.api.core.v1.PodAttachOptions" "\0"
    "v1.PodAttachOptions" "\0"
    "io.k8s.api.core.v1.PodExecOptions" "\0"
    "v1.PodExecOptions" "\0"
    "io.k8s.api.core.v1.PodList" "\0"
    "v1.PodList" "\0"
    "io.k8s.api.core.v1.PodLogOptions" "\0"
    "v1.PodLogOptions" "\0"
    "io.k8s.api.core.v1.PodPortForwardOptions" "\0"
    "v1.PodPortForwardOptions" "\0"
    "io.k8s.api.core.v1.PodProxyOptions" "\0"
    "v1.PodProxyOptions" "\0"
    "io.k8s.api.core.v1.PodStatusResult" "\0"
    "v1.PodStatusResult" "\0"
    "io.k8s.api.core.v1.PodTemplate" "\0"
    "v1.PodTemplate" "\0"
    "io.k8s.api.core.v1.PodTemplateSpec" "\0"
    "v1.PodTemplateSpec" "\0"
    "io.k8s.api.core.v1.PodTemplateList" "\0"
    "v1.PodTemplateList" "\0"
    "io.k8s.api.core.v1.RangeAllocation" "\0"
    "v1.RangeAllocation" "\0"
    "io.k8s.api.core.v1.ReplicationController" "\0"
    "v1.ReplicationController" "\0"
    "io.k8s.api.core.v1.ReplicationControllerSpec" "\0"
    "v1.ReplicationControllerSpec" "\0"
    "io.k8s.api.core.v1.ReplicationControllerStatus" "\0"
    "v1.ReplicationControllerStatus" "\0"
    "io.k8s.api.core.v1.ReplicationControllerCondition" "\0"
    "v1.ReplicationControllerCondition" "\0"
    "io.k8s.api.core.v1.ReplicationControllerList" "\0"
    "v1.ReplicationControllerList" "\0"
    "io.k8s.api.core.v1.ResourceQuota" "\0"
    "v1.ResourceQuota" "\0"
    "io.k8s.api.core.v1.ResourceQuotaSpec" "\0"
    "v1.ResourceQuotaSpec" "\0"
    "io.k8s.api.core.v1.ScopeSelector" "\0"
    "v1.ScopeSelector" "\0"
    "io.k8s.api.core.v1.ScopedResourceSelectorRequirement" "\0"
    "v1.ScopedResourceSelectorRequirement" "\0"
    "io.k8s.api.core.v1.ResourceQuotaStatus" "\0"
    "v1.ResourceQuotaStatus" "\0"
    "io.k8s.api.core.v1.ResourceQuotaList" "\0"
    "v1.ResourceQuotaList" "\0"
    "io.k8s.api.core.v1.Secret" "\0"
    "v1.Secret" "\0"
    "io.k8s.api.core.v1.SecretList" "\0"
    "v1.SecretList" "\0"
    "io.k8s.api.core.v1.SerializedReference" "\0"
    "v1.SerializedReference" "\0"
    "io.k8s.api.core.v1.Service" "\0"
    "v1.Service" "\0"
    "io.k8s.api.core.v1.ServiceSpec" "\0"
    "v1.ServiceSpec" "\0"
    "io.k8s.api.core.v1.ServicePort" "\0"
    "v1.ServicePort" "\0"
    "io.k8s.api.core.v1.SessionAffinityConfig" "\0"
    "v1.SessionAffinityConfig" "\0"
    "io.k8s.api.core.v1.ClientIPConfig" "\0"
    "v1.ClientIPConfig" "\0"
    "io.k8s.api.core.v1.ServiceStatus" "\0"
    "v1.ServiceStatus" "\0"
    "io.k8s.api.core.v1.LoadBalancerStatus" "\0"
    "v1.LoadBalancerStatus" "\0"
    "io.k8s.api.core.v1.LoadBalancerIngress" "\0"
    "v1.LoadBalancerIngress" "\0"
    "io.k8s.api.core.v1.PortStatus" "\0"
    "v1.PortStatus" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.Condition" "\0"
    "v1.Condition" "\0"
    "io.k8s.api.core.v1.ServiceAccount" "\0"
    "v1.ServiceAccount" "\0"
    "io.k8s.api.core.v1.ServiceAccountList" "\0"
    "v1.ServiceAccountList" "\0"
    "io.k8s.api.core.v1.ServiceList" "\0"
    "v1.ServiceList" "\0"
    "io.k8s.api.core.v1.ServiceProxyOptions" "\0"
    "v1.ServiceProxyOptions" "\0"
    "io.k8s.api.admission.v1.AdmissionReview" "\0"
    "v1.AdmissionReview" "\0"
    "io.k8s.api.admission.v1.AdmissionRequest" "\0"
    "v1.AdmissionRequest" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionKind" "\0"
    "v1.GroupVersionKind" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionResource" "\0"
    "v1.GroupVersionResource" "\0"
    "io.k8s.api.authentication.v1.UserInfo" "\0"
    "v1.UserInfo" "\0"
    "io.k8s.api.admission.v1.AdmissionResponse" "\0"
    "v1.AdmissionResponse" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.Status" "\0"
    "v1.Status" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails" "\0"
    "v1.StatusDetails" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause" "\0"
    "v1.StatusCause" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy" "\0"
    "v1.MutatingAdmissionPolicy" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec" "\0"
    "v1.MutatingAdmissionPolicySpec" "\0"
    "io.k8s.api.admissionregistration.v1.ParamKind" "\0"
    "v1.ParamKind" "\0"
    "io.k8s.api.admissionregistration.v1.MatchResources" "\0"
    "v1.MatchResources" "\0"
    "io.k8s.api.admissionregistration.v1.NamedRuleWithOperations" "\0"
    "v1.NamedRuleWithOperations" "\0"
    "io.k8s.api.admissionregistration.v1.Variable" "\0"
    "v1.Variable" "\0"
    "io.k8s.api.admissionregistration.v1.Mutation" "\0"
    "v1.Mutation" "\0"
    "io.k8s.api.admissionregistration.v1.ApplyConfiguration" "\0"
    "v1.ApplyConfiguration" "\0"
    "io.k8s.api.admissionregistration.v1.JSONPatch" "\0"
    "v1.JSONPatch" "\0"
    "io.k8s.api.admissionregistration.v1.MatchCondition" "\0"
    "v1.MatchCondition" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding" "\0"
    "v1.MutatingAdmissionPolicyBinding" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec" "\0"
    "v1.MutatingAdmissionPolicyBindingSpec" "\0"
    "io.k8s.api.admissionregistration.v1.ParamRef" "\0"
    "v1.ParamRef" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingList" "\0"
    "v1.MutatingAdmissionPolicyBindingList" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyList" "\0"
    "v1.MutatingAdmissionPolicyList" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration" "\0"
    "v1.MutatingWebhookConfiguration" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingWebhook" "\0"
    "v1.MutatingWebhook" "\0"
    "io.k8s.api.admissionregistration.v1.WebhookClientConfig" "\0"
    "v1.WebhookClientConfig" "\0"
    "io.k8s.api.admissionregistration.v1.ServiceReference" "\0"
    "v1.ServiceReference" "\0"
    "io.k8s.api.admissionregistration.v1.RuleWithOperations" "\0"
    "v1.RuleWithOperations" "\0"
    "io.k8s.api.admissionregistration.v1.MutatingWebhookConfigurationList" "\0"
    "v1.MutatingWebhookConfigurationList" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy" "\0"
    "v1.ValidatingAdmissionPolicy" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec" "\0"
    "v1.ValidatingAdmissionPolicySpec" "\0"
    "io.k8s.api.admissionregistration.v1.Validation" "\0"
    "v1.Validation" "\0"
    "io.k8s.api.admissionregistration.v1.AuditAnnotation" "\0"
    "v1.AuditAnnotation" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus" "\0"
    "v1.ValidatingAdmissionPolicyStatus" "\0"
    "io.k8s.api.admissionregistration.v1.TypeChecking" "\0"
    "v1.TypeChecking" "\0"
    "io.k8s.api.admissionregistration.v1.ExpressionWarning" "\0"
    "v1.ExpressionWarning" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding" "\0"
    "v1.ValidatingAdmissionPolicyBinding" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec" "\0"
    "v1.ValidatingAdmissionPolicyBindingSpec" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingList" "\0"
    "v1.ValidatingAdmissionPolicyBindingList" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyList" "\0"
    "v1.ValidatingAdmissionPolicyList" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration" "\0"
    "v1.ValidatingWebhookConfiguration" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingWebhook" "\0"
    "v1.ValidatingWebhook" "\0"
    "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfigurationList" "\0"
    "v1.ValidatingWebhookConfigurationList" "\0"
    "io.k8s.api.apidiscovery.v2.APIGroupDiscovery" "\0"
    "v2.APIGroupDiscovery" "\0"
    "io.k8s.api.apidiscovery.v2.APIVersionDiscovery" "\0"
    "v2.APIVersionDiscovery" "\0"
    "io.k8s.api.apidiscovery.v2.APIResourceDiscovery" "\0"
    "v2.APIResourceDiscovery" "\0"
    "io.k8s.api.apidiscovery.v2.APISubresourceDiscovery" "\0"
    "v2.APISubresourceDiscovery" "\0"
    "io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList" "\0"
    "v2.APIGroupDiscoveryList" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview" "\0"
    "v1.ConversionReview" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionRequest" "\0"
    "v1.ConversionRequest" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionResponse" "\0"
    "v1.ConversionResponse" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition" "\0"
    "v1.CustomResourceDefinition" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec" "\0"
    "v1.CustomResourceDefinitionSpec" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames" "\0"
    "v1.CustomResourceDefinitionNames" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion" "\0"
    "v1.CustomResourceDefinitionVersion" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation" "\0"
    "v1.CustomResourceValidation" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps" "\0"
    "v1.JSONSchemaProps" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation" "\0"
    "v1.ExternalDocumentation" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule" "\0"
    "v1.ValidationRule" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources" "\0"
    "v1.CustomResourceSubresources" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus" "\0"
    "v1.CustomResourceSubresourceStatus" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale" "\0"
    "v1.CustomResourceSubresourceScale" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition" "\0"
    "v1.CustomResourceColumnDefinition" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField" "\0"
    "v1.SelectableField" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion" "\0"
    "v1.CustomResourceConversion" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion" "\0"
    "v1.WebhookConversion" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus" "\0"
    "v1.CustomResourceDefinitionStatus" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition" "\0"
    "v1.CustomResourceDefinitionCondition" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionList" "\0"
    "v1.CustomResourceDefinitionList" "\0"
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService" "\0"
    "v1.APIService" "\0"
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec" "\0"
    "v1.APIServiceSpec" "\0"
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference" "\0"
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus" "\0"
    "v1.APIServiceStatus" "\0"
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition" "\0"
    "v1.APIServiceCondition" "\0"
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceList" "\0"
    "v1.APIServiceList" "\0"
    "io.k8s.api.apps.v1.ControllerRevision" "\0"
    "v1.ControllerRevision" "\0"
    "io.k8s.api.apps.v1.ControllerRevisionList" "\0"
    "v1.ControllerRevisionList" "\0"
    "io.k8s.api.apps.v1.DaemonSet" "\0"
    "v1.DaemonSet" "\0"
    "io.k8s.api.apps.v1.DaemonSetSpec" "\0"
    "v1.DaemonSetSpec" "\0"
    "io.k8s.api.apps.v1.DaemonSetUpdateStrategy" "\0"
    "v1.DaemonSetUpdateStrategy" "\0"
    "io.k8s.api.apps.v1.RollingUpdateDaemonSet" "\0"
    "v1.RollingUpdateDaemonSet" "\0"
    "io.k8s.api.apps.v1.DaemonSetStatus" "\0"
    "v1.DaemonSetStatus" "\0"
    "io.k8s.api.apps.v1.DaemonSetCondition" "\0"
    "v1.DaemonSetCondition" "\0"
    "io.k8s.api.apps.v1.DaemonSetList" "\0"
    "v1.DaemonSetList" "\0"
    "io.k8s.api.apps.v1.Deployment" "\0"
    "v1.Deployment" "\0"
    "io.k8s.api.apps.v1.DeploymentSpec" "\0"
    "v1.DeploymentSpec" "\0"
    "io.k8s.api.apps.v1.DeploymentStrategy" "\0"
    "v1.DeploymentStrategy" "\0"
    "io.k8s.api.apps.v1.RollingUpdateDeployment" "\0"
    "v1.RollingUpdateDeployment" "\0"
    "io.k8s.api.apps.v1.DeploymentStatus" "\0"
    "v1.DeploymentStatus" "\0"
    "io.k8s.api.apps.v1.DeploymentCondition" "\0"
    "v1.DeploymentCondition" "\0"
    "io.k8s.api.apps.v1.DeploymentList" "\0"
    "v1.DeploymentList" "\0"
    "io.k8s.api.apps.v1.ReplicaSet" "\0"
    "v1.ReplicaSet" "\0"
    "io.k8s.api.apps.v1.ReplicaSetSpec" "\0"
    "v1.ReplicaSetSpec" "\0"
    "io.k8s.api.apps.v1.ReplicaSetStatus" "\0"
    "v1.ReplicaSetStatus" "\0"
    "io.k8s.api.apps.v1.ReplicaSetCondition" "\0"
    "v1.ReplicaSetCondition" "\0"
    "io.k8s.api.apps.v1.ReplicaSetList" "\0"
    "v1.ReplicaSetList" "\0"
    "io.k8s.api.apps.v1.StatefulSet" "\0"
    "v1.StatefulSet" "\0"
    "io.k8s.api.apps.v1.StatefulSetSpec" "\0"
    "v1.StatefulSetSpec" "\0"
    "io.k8s.api.apps.v1.StatefulSetUpdateStrategy" "\0"
    "v1.StatefulSetUpdateStrategy" "\0"
    "io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy" "\0"
    "v1.RollingUpdateStatefulSetStrategy" "\0"
    "io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy" "\0"
    "v1.StatefulSetPersistentVolumeClaimRetentionPolicy" "\0"
    "io.k8s.api.apps.v1.StatefulSetOrdinals" "\0"
    "v1.StatefulSetOrdinals" "\0"
    "io.k8s.api.apps.v1.StatefulSetStatus" "\0"
    "v1.StatefulSetStatus" "\0"
    "io.k8s.api.apps.v1.StatefulSetCondition" "\0"
    "v1.StatefulSetCondition" "\0"
    "io.k8s.api.apps.v1.StatefulSetList" "\0"
    "v1.StatefulSetList" "\0"
    "io.k8s.api.authentication.v1.SelfSubjectReview" "\0"
    "v1.SelfSubjectReview" "\0"
    "io.k8s.api.authentication.v1.SelfSubjectReviewStatus" "\0"
    "v1.SelfSubjectReviewStatus" "\0"
    "io.k8s.api.authentication.v1.TokenRequest" "\0"
    "v1.TokenRequest" "\0"
    "io.k8s.api.authentication.v1.TokenRequestSpec" "\0"
    "v1.TokenRequestSpec" "\0"
    "io.k8s.api.authentication.v1.BoundObjectReference" "\0"
    "v1.BoundObjectReference" "\0"
    "io.k8s.api.authentication.v1.TokenRequestStatus" "\0"
    "v1.TokenRequestStatus" "\0"
    "io.k8s.api.authentication.v1.TokenReview" "\0"
    "v1.TokenReview" "\0"
    "io.k8s.api.authentication.v1.TokenReviewSpec" "\0"
    "v1.TokenReviewSpec" "\0"
    "io.k8s.api.authentication.v1.TokenReviewStatus" "\0"
    "v1.TokenReviewStatus" "\0"
    "io.k8s.api.authorization.v1.LocalSubjectAccessReview" "\0"
    "v1.LocalSubjectAccessReview" "\0"
    "io.k8s.api.authorization.v1.SubjectAccessReviewSpec" "\0"
    "v1.SubjectAccessReviewSpec" "\0"
    "io.k8s.api.authorization.v1.ResourceAttributes" "\0"
    "v1.ResourceAttributes" "\0"
    "io.k8s.api.authorization.v1.FieldSelectorAttributes" "\0"
    "v1.FieldSelectorAttributes" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement" "\0"
    "v1.FieldSelectorRequirement" "\0"
    "io.k8s.api.authorization.v1.LabelSelectorAttributes" "\0"
    "v1.LabelSelectorAttributes" "\0"
    "io.k8s.api.authorization.v1.NonResourceAttributes" "\0"
    "v1.NonResourceAttributes" "\0"
    "io.k8s.api.authorization.v1.SubjectAccessReviewStatus" "\0"
    "v1.SubjectAccessReviewStatus" "\0"
    "io.k8s.api.authorization.v1.SelfSubjectAccessReview" "\0"
    "v1.SelfSubjectAccessReview" "\0"
    "io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec" "\0"
    "v1.SelfSubjectAccessReviewSpec" "\0"
    "io.k8s.api.authorization.v1.SelfSubjectRulesReview" "\0"
    "v1.SelfSubjectRulesReview" "\0"
    "io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec" "\0"
    "v1.SelfSubjectRulesReviewSpec" "\0"
    "io.k8s.api.authorization.v1.SubjectRulesReviewStatus" "\0"
    "v1.SubjectRulesReviewStatus" "\0"
    "io.k8s.api.authorization.v1.ResourceRule" "\0"
    "v1.ResourceRule" "\0"
    "io.k8s.api.authorization.v1.NonResourceRule" "\0"
    "v1.NonResourceRule" "\0"
    "io.k8s.api.authorization.v1.SubjectAccessReview" "\0"
    "v1.SubjectAccessReview" "\0"
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler" "\0"
    "v1.HorizontalPodAutoscaler" "\0"
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec" "\0"
    "v1.HorizontalPodAutoscalerSpec" "\0"
    "io.k8s.api.autoscaling.v1.CrossVersionObjectReference" "\0"
    "v1.CrossVersionObjectReference" "\0"
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus" "\0"
    "v1.HorizontalPodAutoscalerStatus" "\0"
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerList" "\0"
    "v1.HorizontalPodAutoscalerList" "\0"
    "io.k8s.api.autoscaling.v1.Scale" "\0"
    "v1.Scale" "\0"
    "io.k8s.api.autoscaling.v1.ScaleSpec" "\0"
    "v1.ScaleSpec" "\0"
    "io.k8s.api.autoscaling.v1.ScaleStatus" "\0"
    "v1.ScaleStatus" "\0"
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler" "\0"
    "v2.HorizontalPodAutoscaler" "\0"
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec" "\0"
    "v2.HorizontalPodAutoscalerSpec" "\0"
    "io.k8s.api.autoscaling.v2.CrossVersionObjectReference" "\0"
    "v2.CrossVersionObjectReference" "\0"
    "io.k8s.api.autoscaling.v2.MetricSpec" "\0"
    "v2.MetricSpec" "\0"
    "io.k8s.api.autoscaling.v2.ObjectMetricSource" "\0"
    "v2.ObjectMetricSource" "\0"
    "io.k8s.api.autoscaling.v2.MetricTarget" "\0"
    "v2.MetricTarget" "\0"
    "io.k8s.api.autoscaling.v2.MetricIdentifier" "\0"
    "v2.MetricIdentifier" "\0"
    "io.k8s.api.autoscaling.v2.PodsMetricSource" "\0"
    "v2.PodsMetricSource" "\0"
    "io.k8s.api.autoscaling.v2.ResourceMetricSource" "\0"
    "v2.ResourceMetricSource" "\0"
    "io.k8s.api.autoscaling.v2.ContainerResourceMetricSource" "\0"
    "v2.ContainerResourceMetricSource" "\0"
    "io.k8s.api.autoscaling.v2.ExternalMetricSource" "\0"
    "v2.ExternalMetricSource" "\0"
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior" "\0"
    "v2.HorizontalPodAutoscalerBehavior" "\0"
    "io.k8s.api.autoscaling.v2.HPAScalingRules" "\0"
    "v2.HPAScalingRules" "\0"
    "io.k8s.api.autoscaling.v2.HPAScalingPolicy" "\0"
    "v2.HPAScalingPolicy" "\0"
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus" "\0"
    "v2.HorizontalPodAutoscalerStatus" "\0"
    "io.k8s.api.autoscaling.v2.MetricStatus" "\0"
    "v2.MetricStatus" "\0"
    "io.k8s.api.autoscaling.v2.ObjectMetricStatus" "\0"
    "v2.ObjectMetricStatus" "\0"
    "io.k8s.api.autoscaling.v2.MetricValueStatus" "\0"
    "v2.MetricValueStatus" "\0"
    "io.k8s.api.autoscaling.v2.PodsMetricStatus" "\0"
    "v2.PodsMetricStatus" "\0"
    "io.k8s.api.autoscaling.v2.ResourceMetricStatus" "\0"
    "v2.ResourceMetricStatus" "\0"
    "io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus" "\0"
    "v2.ContainerResourceMetricStatus" "\0"
    "io.k8s.api.autoscaling.v2.ExternalMetricStatus" "\0"
    "v2.ExternalMetricStatus" "\0"
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition" "\0"
    "v2.HorizontalPodAutoscalerCondition" "\0"
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerList" "\0"
    "v2.HorizontalPodAutoscalerList" "\0"
    "io.k8s.api.batch.v1.CronJob" "\0"
    "v1.CronJob" "\0"
    "io.k8s.api.batch.v1.CronJobSpec" "\0"
    "v1.CronJobSpec" "\0"
    "io.k8s.api.batch.v1.JobTemplateSpec" "\0"
    "v1.JobTemplateSpec" "\0"
    "io.k8s.api.batch.v1.JobSpec" "\0"
    "v1.JobSpec" "\0"
    "io.k8s.api.batch.v1.PodFailurePolicy" "\0"
    "v1.PodFailurePolicy" "\0"
    "io.k8s.api.batch.v1.PodFailurePolicyRule" "\0"
    "v1.PodFailurePolicyRule" "\0"
    "io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement" "\0"
    "v1.PodFailurePolicyOnExitCodesRequirement" "\0"
    "io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern" "\0"
    "v1.PodFailurePolicyOnPodConditionsPattern" "\0"
    "io.k8s.api.batch.v1.SuccessPolicy" "\0"
    "v1.SuccessPolicy" "\0"
    "io.k8s.api.batch.v1.SuccessPolicyRule" "\0"
    "v1.SuccessPolicyRule" "\0"
    "io.k8s.api.batch.v1.CronJobStatus" "\0"
    "v1.CronJobStatus" "\0"
    "io.k8s.api.batch.v1.CronJobList" "\0"
    "v1.CronJobList" "\0"
    "io.k8s.api.batch.v1.Job" "\0"
    "v1.Job" "\0"
    "io.k8s.api.batch.v1.JobStatus" "\0"
    "v1.JobStatus" "\0"
    "io.k8s.api.batch.v1.JobCondition" "\0"
    "v1.JobCondition" "\0"
    "io.k8s.api.batch.v1.UncountedTerminatedPods" "\0"
    "v1.UncountedTerminatedPods" "\0"
    "io.k8s.api.batch.v1.JobList" "\0"
    "v1.JobList" "\0"
    "io.k8s.api.certificates.v1.CertificateSigningRequest" "\0"
    "v1.CertificateSigningRequest" "\0"
    "io.k8s.api.certificates.v1.CertificateSigningRequestSpec" "\0"
    "v1.CertificateSigningRequestSpec" "\0"
    "io.k8s.api.certificates.v1.CertificateSigningRequestStatus" "\0"
    "v1.CertificateSigningRequestStatus" "\0"
    "io.k8s.api.certificates.v1.CertificateSigningRequestCondition" "\0"
    "v1.CertificateSigningRequestCondition" "\0"
    "io.k8s.api.certificates.v1.CertificateSigningRequestList" "\0"
    "v1.CertificateSigningRequestList" "\0"
    "io.k8s.api.coordination.v1.Lease" "\0"
    "v1.Lease" "\0"
    "io.k8s.api.coordination.v1.LeaseSpec" "\0"
    "v1.LeaseSpec" "\0"
    "io.k8s.api.coordination.v1.LeaseList" "\0"
    "v1.LeaseList" "\0"
    "io.k8s.api.discovery.v1.EndpointSlice" "\0"
    "v1.EndpointSlice" "\0"
    "io.k8s.api.discovery.v1.Endpoint" "\0"
    "v1.Endpoint" "\0"
    "io.k8s.api.discovery.v1.EndpointConditions" "\0"
    "v1.EndpointConditions" "\0"
    "io.k8s.api.discovery.v1.EndpointHints" "\0"
    "v1.EndpointHints" "\0"
    "io.k8s.api.discovery.v1.ForZone" "\0"
    "v1.ForZone" "\0"
    "io.k8s.api.discovery.v1.ForNode" "\0"
    "v1.ForNode" "\0"
    "io.k8s.api.discovery.v1.EndpointPort" "\0"
    "io.k8s.api.discovery.v1.EndpointSliceList" "\0"
    "v1.EndpointSliceList" "\0"
    "io.k8s.api.events.v1.Event" "\0"
    "io.k8s.api.events.v1.EventSeries" "\0"
    "io.k8s.api.events.v1.EventList" "\0"
    "io.k8s.api.flowcontrol.v1.FlowSchema" "\0"
    "v1.FlowSchema" "\0"
    "io.k8s.api.flowcontrol.v1.FlowSchemaSpec" "\0"
    "v1.FlowSchemaSpec" "\0"
    "io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference" "\0"
    "v1.PriorityLevelConfigurationReference" "\0"
    "io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod" "\0"
    "v1.FlowDistinguisherMethod" "\0"
    "io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects" "\0"
    "v1.PolicyRulesWithSubjects" "\0"
    "io.k8s.api.flowcontrol.v1.Subject" "\0"
    "v1.Subject" "\0"
    "io.k8s.api.flowcontrol.v1.UserSubject" "\0"
    "v1.UserSubject" "\0"
    "io.k8s.api.flowcontrol.v1.GroupSubject" "\0"
    "v1.GroupSubject" "\0"
    "io.k8s.api.flowcontrol.v1.ServiceAccountSubject" "\0"
    "v1.ServiceAccountSubject" "\0"
    "io.k8s.api.flowcontrol.v1.ResourcePolicyRule" "\0"
    "v1.ResourcePolicyRule" "\0"
    "io.k8s.api.flowcontrol.v1.NonResourcePolicyRule" "\0"
    "v1.NonResourcePolicyRule" "\0"
    "io.k8s.api.flowcontrol.v1.FlowSchemaStatus" "\0"
    "v1.FlowSchemaStatus" "\0"
    "io.k8s.api.flowcontrol.v1.FlowSchemaCondition" "\0"
    "v1.FlowSchemaCondition" "\0"
    "io.k8s.api.flowcontrol.v1.FlowSchemaList" "\0"
    "v1.FlowSchemaList" "\0"
    "io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration" "\0"
    "v1.PriorityLevelConfiguration" "\0"
    "io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec" "\0"
    "v1.PriorityLevelConfigurationSpec" "\0"
    "io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration" "\0"
    "v1.LimitedPriorityLevelConfiguration" "\0"
    "io.k8s.api.flowcontrol.v1.LimitResponse" "\0"
    "v1.LimitResponse" "\0"
    "io.k8s.api.flowcontrol.v1.QueuingConfiguration" "\0"
    "v1.QueuingConfiguration" "\0"
    "io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration" "\0"
    "v1.ExemptPriorityLevelConfiguration" "\0"
    "io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus" "\0"
    "v1.PriorityLevelConfigurationStatus" "\0"
    "io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition" "\0"
    "v1.PriorityLevelConfigurationCondition" "\0"
    "io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationList" "\0"
    "v1.PriorityLevelConfigurationList" "\0"
    "io.k8s.api.networking.v1.IPAddress" "\0"
    "v1.IPAddress" "\0"
    "io.k8s.api.networking.v1.IPAddressSpec" "\0"
    "v1.IPAddressSpec" "\0"
    "io.k8s.api.networking.v1.ParentReference" "\0"
    "v1.ParentReference" "\0"
    "io.k8s.api.networking.v1.IPAddressList" "\0"
    "v1.IPAddressList" "\0"
    "io.k8s.api.networking.v1.Ingress" "\0"
    "v1.Ingress" "\0"
    "io.k8s.api.networking.v1.IngressSpec" "\0"
    "v1.IngressSpec" "\0"
    "io.k8s.api.networking.v1.IngressBackend" "\0"
    "v1.IngressBackend" "\0"
    "io.k8s.api.networking.v1.IngressServiceBackend" "\0"
    "v1.IngressServiceBackend" "\0"
    "io.k8s.api.networking.v1.ServiceBackendPort" "\0"
    "v1.ServiceBackendPort" "\0"
    "io.k8s.api.networking.v1.IngressTLS" "\0"
    "v1.IngressTLS" "\0"
    "io.k8s.api.networking.v1.IngressRule" "\0"
    "v1.IngressRule" "\0"
    "io.k8s.api.networking.v1.HTTPIngressRuleValue" "\0"
    "v1.HTTPIngressRuleValue" "\0"
    "io.k8s.api.networking.v1.HTTPIngressPath" "\0"
    "v1.HTTPIngressPath" "\0"
    "io.k8s.api.networking.v1.IngressStatus" "\0"
    "v1.IngressStatus" "\0"
    "io.k8s.api.networking.v1.IngressLoadBalancerStatus" "\0"
    "v1.IngressLoadBalancerStatus" "\0"
    "io.k8s.api.networking.v1.IngressLoadBalancerIngress" "\0"
    "v1.IngressLoadBalancerIngress" "\0"
    "io.k8s.api.networking.v1.IngressPortStatus" "\0"
    "v1.IngressPortStatus" "\0"
    "io.k8s.api.networking.v1.IngressClass" "\0"
    "v1.IngressClass" "\0"
    "io.k8s.api.networking.v1.IngressClassSpec" "\0"
    "v1.IngressClassSpec" "\0"
    "io.k8s.api.networking.v1.IngressClassParametersReference" "\0"
    "v1.IngressClassParametersReference" "\0"
    "io.k8s.api.networking.v1.IngressClassList" "\0"
    "v1.IngressClassList" "\0"
    "io.k8s.api.networking.v1.IngressList" "\0"
    "v1.IngressList" "\0"
    "io.k8s.api.networking.v1.NetworkPolicy" "\0"
    "v1.NetworkPolicy" "\0"
    "io.k8s.api.networking.v1.NetworkPolicySpec" "\0"
    "v1.NetworkPolicySpec" "\0"
    "io.k8s.api.networking.v1.NetworkPolicyIngressRule" "\0"
    "v1.NetworkPolicyIngressRule" "\0"
    "io.k8s.api.networking.v1.NetworkPolicyPort" "\0"
    "v1.NetworkPolicyPort" "\0"
    "io.k8s.api.networking.v1.NetworkPolicyPeer" "\0"
    "v1.NetworkPolicyPeer" "\0"
    "io.k8s.api.networking.v1.IPBlock" "\0"
    "v1.IPBlock" "\0"
    "io.k8s.api.networking.v1.NetworkPolicyEgressRule" "\0"
    "v1.NetworkPolicyEgressRule" "\0"
    "io.k8s.api.networking.v1.NetworkPolicyList" "\0"
    "v1.NetworkPolicyList" "\0"
    "io.k8s.api.networking.v1.ServiceCIDR" "\0"
    "v1.ServiceCIDR" "\0"
    "io.k8s.api.networking.v1.ServiceCIDRSpec" "\0"
    "v1.ServiceCIDRSpec" "\0"
    "io.k8s.api.networking.v1.ServiceCIDRStatus" "\0"
    "v1.ServiceCIDRStatus" "\0"
    "io.k8s.api.networking.v1.ServiceCIDRList" "\0"
    "v1.ServiceCIDRList" "\0"
    "io.k8s.api.node.v1.RuntimeClass" "\0"
    "v1.RuntimeClass" "\0"
    "io.k8s.api.node.v1.Overhead" "\0"
    "v1.Overhead" "\0"
    "io.k8s.api.node.v1.Scheduling" "\0"
    "v1.Scheduling" "\0"
    "io.k8s.api.node.v1.RuntimeClassList" "\0"
    "v1.RuntimeClassList" "\0"
    "io.k8s.api.policy.v1.Eviction" "\0"
    "v1.Eviction" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions" "\0"
    "v1.DeleteOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions" "\0"
    "v1.Preconditions" "\0"
    "io.k8s.api.policy.v1.PodDisruptionBudget" "\0"
    "v1.PodDisruptionBudget" "\0"
    "io.k8s.api.policy.v1.PodDisruptionBudgetSpec" "\0"
    "v1.PodDisruptionBudgetSpec" "\0"
    "io.k8s.api.policy.v1.PodDisruptionBudgetStatus" "\0"
    "v1.PodDisruptionBudgetStatus" "\0"
    "io.k8s.api.policy.v1.PodDisruptionBudgetList" "\0"
    "v1.PodDisruptionBudgetList" "\0"
    "io.k8s.api.rbac.v1.ClusterRole" "\0"
    "v1.ClusterRole" "\0"
    "io.k8s.api.rbac.v1.PolicyRule" "\0"
    "v1.PolicyRule" "\0"
    "io.k8s.api.rbac.v1.AggregationRule" "\0"
    "v1.AggregationRule" "\0"
    "io.k8s.api.rbac.v1.ClusterRoleBinding" "\0"
    "v1.ClusterRoleBinding" "\0"
    "io.k8s.api.rbac.v1.Subject" "\0"
    "io.k8s.api.rbac.v1.RoleRef" "\0"
    "v1.RoleRef" "\0"
    "io.k8s.api.rbac.v1.ClusterRoleBindingList" "\0"
    "v1.ClusterRoleBindingList" "\0"
    "io.k8s.api.rbac.v1.ClusterRoleList" "\0"
    "v1.ClusterRoleList" "\0"
    "io.k8s.api.rbac.v1.Role" "\0"
    "v1.Role" "\0"
    "io.k8s.api.rbac.v1.RoleBinding" "\0"
    "v1.RoleBinding" "\0"
    "io.k8s.api.rbac.v1.RoleBindingList" "\0"
    "v1.RoleBindingList" "\0"
    "io.k8s.api.rbac.v1.RoleList" "\0"
    "v1.RoleList" "\0"
    "io.k8s.api.resource.v1.DeviceClass" "\0"
    "v1.DeviceClass" "\0"
    "io.k8s.api.resource.v1.DeviceClassSpec" "\0"
    "v1.DeviceClassSpec" "\0"
    "io.k8s.api.resource.v1.DeviceSelector" "\0"
    "v1.DeviceSelector" "\0"
    "io.k8s.api.resource.v1.CELDeviceSelector" "\0"
    "v1.CELDeviceSelector" "\0"
    "io.k8s.api.resource.v1.DeviceClassConfiguration" "\0"
    "v1.DeviceClassConfiguration" "\0"
    "io.k8s.api.resource.v1.OpaqueDeviceConfiguration" "\0"
    "v1.OpaqueDeviceConfiguration" "\0"
    "io.k8s.api.resource.v1.DeviceClassList" "\0"
    "v1.DeviceClassList" "\0"
    "io.k8s.api.resource.v1.ResourceClaim" "\0"
    "io.k8s.api.resource.v1.ResourceClaimSpec" "\0"
    "v1.ResourceClaimSpec" "\0"
    "io.k8s.api.resource.v1.DeviceClaim" "\0"
    "v1.DeviceClaim" "\0"
    "io.k8s.api.resource.v1.DeviceRequest" "\0"
    "v1.DeviceRequest" "\0"
    "io.k8s.api.resource.v1.ExactDeviceRequest" "\0"
    "v1.ExactDeviceRequest" "\0"
    "io.k8s.api.resource.v1.DeviceToleration" "\0"
    "v1.DeviceToleration" "\0"
    "io.k8s.api.resource.v1.CapacityRequirements" "\0"
    "v1.CapacityRequirements" "\0"
    "io.k8s.api.resource.v1.DeviceSubRequest" "\0"
    "v1.DeviceSubRequest" "\0"
    "io.k8s.api.resource.v1.DeviceConstraint" "\0"
    "v1.DeviceConstraint" "\0"
    "io.k8s.api.resource.v1.DeviceClaimConfiguration" "\0"
    "v1.DeviceClaimConfiguration" "\0"
    "io.k8s.api.resource.v1.ResourceClaimStatus" "\0"
    "v1.ResourceClaimStatus" "\0"
    "io.k8s.api.resource.v1.AllocationResult" "\0"
    "v1.AllocationResult" "\0"
    "io.k8s.api.resource.v1.DeviceAllocationResult" "\0"
    "v1.DeviceAllocationResult" "\0"
    "io.k8s.api.resource.v1.DeviceRequestAllocationResult" "\0"
    "v1.DeviceRequestAllocationResult" "\0"
    "io.k8s.api.resource.v1.DeviceAllocationConfiguration" "\0"
    "v1.DeviceAllocationConfiguration" "\0"
    "io.k8s.api.resource.v1.ResourceClaimConsumerReference" "\0"
    "v1.ResourceClaimConsumerReference" "\0"
    "io.k8s.api.resource.v1.AllocatedDeviceStatus" "\0"
    "v1.AllocatedDeviceStatus" "\0"
    "io.k8s.api.resource.v1.NetworkDeviceData" "\0"
    "v1.NetworkDeviceData" "\0"
    "io.k8s.api.resource.v1.ResourceClaimList" "\0"
    "v1.ResourceClaimList" "\0"
    "io.k8s.api.resource.v1.ResourceClaimTemplate" "\0"
    "v1.ResourceClaimTemplate" "\0"
    "io.k8s.api.resource.v1.ResourceClaimTemplateSpec" "\0"
    "v1.ResourceClaimTemplateSpec" "\0"
    "io.k8s.api.resource.v1.ResourceClaimTemplateList" "\0"
    "v1.ResourceClaimTemplateList" "\0"
    "io.k8s.api.resource.v1.ResourceSlice" "\0"
    "v1.ResourceSlice" "\0"
    "io.k8s.api.resource.v1.ResourceSliceSpec" "\0"
    "v1.ResourceSliceSpec" "\0"
    "io.k8s.api.resource.v1.ResourcePool" "\0"
    "v1.ResourcePool" "\0"
    "io.k8s.api.resource.v1.Device" "\0"
    "v1.Device" "\0"
    "io.k8s.api.resource.v1.DeviceAttribute" "\0"
    "v1.DeviceAttribute" "\0"
    "io.k8s.api.resource.v1.DeviceCapacity" "\0"
    "v1.DeviceCapacity" "\0"
    "io.k8s.api.resource.v1.CapacityRequestPolicy" "\0"
    "v1.CapacityRequestPolicy" "\0"
    "io.k8s.api.resource.v1.CapacityRequestPolicyRange" "\0"
    "v1.CapacityRequestPolicyRange" "\0"
    "io.k8s.api.resource.v1.DeviceCounterConsumption" "\0"
    "v1.DeviceCounterConsumption" "\0"
    "io.k8s.api.resource.v1.Counter" "\0"
    "v1.Counter" "\0"
    "io.k8s.api.resource.v1.DeviceTaint" "\0"
    "v1.DeviceTaint" "\0"
    "io.k8s.api.resource.v1.NodeAllocatableResourceMapping" "\0"
    "v1.NodeAllocatableResourceMapping" "\0"
    "io.k8s.api.resource.v1.CounterSet" "\0"
    "v1.CounterSet" "\0"
    "io.k8s.api.resource.v1.ResourceSliceList" "\0"
    "v1.ResourceSliceList" "\0"
    "io.k8s.api.scheduling.v1.PriorityClass" "\0"
    "v1.PriorityClass" "\0"
    "io.k8s.api.scheduling.v1.PriorityClassList" "\0"
    "v1.PriorityClassList" "\0"
    "io.k8s.api.storage.v1.CSIDriver" "\0"
    "v1.CSIDriver" "\0"
    "io.k8s.api.storage.v1.CSIDriverSpec" "\0"
    "v1.CSIDriverSpec" "\0"
    "io.k8s.api.storage.v1.TokenRequest" "\0"
    "io.k8s.api.storage.v1.CSIDriverList" "\0"
    "v1.CSIDriverList" "\0"
    "io.k8s.api.storage.v1.CSINode" "\0"
    "v1.CSINode" "\0"
    "io.k8s.api.storage.v1.CSINodeSpec" "\0"
    "v1.CSINodeSpec" "\0"
    "io.k8s.api.storage.v1.CSINodeDriver" "\0"
    "v1.CSINodeDriver" "\0"
    "io.k8s.api.storage.v1.VolumeNodeResources" "\0"
    "v1.VolumeNodeResources" "\0"
    "io.k8s.api.storage.v1.CSINodeList" "\0"
    "v1.CSINodeList" "\0"
    "io.k8s.api.storage.v1.CSIStorageCapacity" "\0"
    "v1.CSIStorageCapacity" "\0"
    "io.k8s.api.storage.v1.CSIStorageCapacityList" "\0"
    "v1.CSIStorageCapacityList" "\0"
    "io.k8s.api.storage.v1.StorageClass" "\0"
    "v1.StorageClass" "\0"
    "io.k8s.api.core.v1.TopologySelectorTerm" "\0"
    "v1.TopologySelectorTerm" "\0"
    "io.k8s.api.core.v1.TopologySelectorLabelRequirement" "\0"
    "v1.TopologySelectorLabelRequirement" "\0"
    "io.k8s.api.storage.v1.StorageClassList" "\0"
    "v1.StorageClassList" "\0"
    "io.k8s.api.storage.v1.VolumeAttachment" "\0"
    "v1.VolumeAttachment" "\0"
    "io.k8s.api.storage.v1.VolumeAttachmentSpec" "\0"
    "v1.VolumeAttachmentSpec" "\0"
    "io.k8s.api.storage.v1.VolumeAttachmentSource" "\0"
    "v1.VolumeAttachmentSource" "\0"
    "io.k8s.api.storage.v1.VolumeAttachmentStatus" "\0"
    "v1.VolumeAttachmentStatus" "\0"
    "io.k8s.api.storage.v1.VolumeError" "\0"
    "v1.VolumeError" "\0"
    "io.k8s.api.storage.v1.VolumeAttachmentList" "\0"
    "v1.VolumeAttachmentList" "\0"
    "io.k8s.api.storage.v1.VolumeAttributesClass" "\0"
    "v1.VolumeAttributesClass" "\0"
    "io.k8s.api.storage.v1.VolumeAttributesClassList" "\0"
    "v1.VolumeAttributesClassList" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions" "\0"
    "v1.CreateOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions" "\0"
    "v1.UpdateOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions" "\0"
    "v1.PatchOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions" "\0"
    "v1.GetOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions" "\0"
    "v1.ListOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent" "\0"
    "v1.WatchEvent" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.Table" "\0"
    "v1.Table" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition" "\0"
    "v1.TableColumnDefinition" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.TableRow" "\0"
    "v1.TableRow" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition" "\0"
    "v1.TableRowCondition" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.TableOptions" "\0"
    "v1.TableOptions" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata" "\0"
    "v1.PartialObjectMetadata" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList" "\0"
    "v1.PartialObjectMetadataList" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup" "\0"
    "v1.APIGroup" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery" "\0"
    "v1.GroupVersionForDiscovery" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR" "\0"
    "v1.ServerAddressByClientCIDR" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList" "\0"
    "v1.APIGroupList" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList" "\0"
    "v1.APIResourceList" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.APIResource" "\0"
    "v1.APIResource" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions" "\0"
    "v1.APIVersions" "\0"
    "SCTP" "\0"
    "TCP" "\0"
    "UDP" "\0"
    "Active" "\0"
    "Terminating" "\0"
    "NoExecute" "\0"
    "NoSchedule" "\0"
    "PreferNoSchedule" "\0"
    "Pending" "\0"
    "Running" "\0"
    "Terminated" "\0"
    "BlockDevice" "\0"
    "CharDevice" "\0"
    "Directory" "\0"
    "DirectoryOrCreate" "\0"
    "File" "\0"
    "FileOrCreate" "\0"
    "Socket" "\0"
    "None" "\0"
    "ReadOnly" "\0"
    "ReadWrite" "\0"
    "Dedicated" "\0"
    "Managed" "\0"
    "Shared" "\0"
    "ReadOnlyMany" "\0"
    "ReadWriteMany" "\0"
    "ReadWriteOnce" "\0"
    "ReadWriteOncePod" "\0"
    "Delete" "\0"
    "Recycle" "\0"
    "Retain" "\0"
    "Block" "\0"
    "Filesystem" "\0"
    "DoesNotExist" "\0"
    "Exists" "\0"
    "Gt" "\0"
    "In" "\0"
    "Lt" "\0"
    "NotIn" "\0"
    "Available" "\0"
    "Bound" "\0"
    "Failed" "\0"
    "Released" "\0"
    "Lost" "\0"
    "ControllerResizeInProgress" "\0"
    "ControllerResizeInfeasible" "\0"
    "NodeResizeInProgress" "\0"
    "NodeResizeInfeasible" "\0"
    "NodeResizePending" "\0"
    "InProgress" "\0"
    "Infeasible" "\0"
    "Always" "\0"
    "IfNotPresent" "\0"
    "Never" "\0"
    "Bidirectional" "\0"
    "HostToContainer" "\0"
    "HTTP" "\0"
    "HTTPS" "\0"
    "SIGABRT" "\0"
    "SIGALRM" "\0"
    "SIGBUS" "\0"
    "SIGCHLD" "\0"
    "SIGCLD" "\0"
    "SIGCONT" "\0"
    "SIGFPE" "\0"
    "SIGHUP" "\0"
    "SIGILL" "\0"
    "SIGINT" "\0"
    "SIGIO" "\0"
    "SIGIOT" "\0"
    "SIGKILL" "\0"
    "SIGPIPE" "\0"
    "SIGPOLL" "\0"
    "SIGPROF" "\0"
    "SIGPWR" "\0"
    "SIGQUIT" "\0"
    "SIGRTMAX" "\0"
    "SIGRTMAX-1" "\0"
    "SIGRTMAX-10" "\0"
    "SIGRTMAX-11" "\0"
    "SIGRTMAX-12" "\0"
    "SIGRTMAX-13" "\0"
    "SIGRTMAX-14" "\0"
    "SIGRTMAX-2" "\0"
    "SIGRTMAX-3" "\0"
    "SIGRTMAX-4" "\0"
    "SIGRTMAX-5" "\0"
    "SIGRTMAX-6" "\0"
    "SIGRTMAX-7" "\0"
    "SIGRTMAX-8" "\0"
    "SIGRTMAX-9" "\0"
    "SIGRTMIN" "\0"
    "SIGRTMIN+1" "\0"
    "SIGRTMIN+10" "\0"
    "SIGRTMIN+11" "\0"
    "SIGRTMIN+12" "\0"
    "SIGRTMIN+13" "\0"
    "SIGRTMIN+14" "\0"
    "SIGRTMIN+15" "\0"
    "SIGRTMIN+2" "\0"
    "SIGRTMIN+3" "\0"
    "SIGRTMIN+4" "\0"
    "SIGRTMIN+5" "\0"
    "SIGRTMIN+6" "\0"
    "SIGRTMIN+7" "\0"
    "SIGRTMIN+8" "\0"
    "SIGRTMIN+9" "\0"
    "SIGSEGV" "\0"
    "SIGSTKFLT" "\0"
    "SIGSTOP" "\0"
    "SIGSYS" "\0"
    "SIGTERM" "\0"
    "SIGTRAP" "\0"
    "SIGTSTP" "\0"
    "SIGTTIN" "\0"
    "SIGTTOU" "\0"
    "SIGURG" "\0"
    "SIGUSR1" "\0"
    "SIGUSR2" "\0"
    "SIGVTALRM" "\0"
    "SIGWINCH" "\0"
    "SIGXCPU" "\0"
    "SIGXFSZ" "\0"
    "FallbackToLogsOnError" "\0"
    "Default" "\0"
    "Unmasked" "\0"
    "Localhost" "\0"
    "RuntimeDefault" "\0"
    "Unconfined" "\0"
    "OnFailure" "\0"
    "ClusterFirst" "\0"
    "ClusterFirstWithHostNet" "\0"
    "Merge" "\0"
    "Strict" "\0"
    "OnRootMismatch" "\0"
    "Equal" "\0"
    "PreemptLowerPriority" "\0"
    "DoNotSchedule" "\0"
    "ScheduleAnyway" "\0"
    "Honor" "\0"
    "Ignore" "\0"
    "Succeeded" "\0"
    "Unknown" "\0"
    "BestEffort" "\0"
    "Burstable" "\0"
    "Guaranteed" "\0"
    "CrossNamespacePodAffinity" "\0"
    "NotBestEffort" "\0"
    "NotTerminating" "\0"
    "PriorityClass" "\0"
    "VolumeAttributesClass" "\0"
    "ClusterIP" "\0"
    "ExternalName" "\0"
    "LoadBalancer" "\0"
    "NodePort" "\0"
    "ClientIP" "\0"
    "Cluster" "\0"
    "Local" "\0"
    "IPv4" "\0"
    "IPv6" "\0"
    "PreferDualStack" "\0"
    "RequireDualStack" "\0"
    "SingleStack" "\0"
    "*" "\0"
    "CONNECT" "\0"
    "CREATE" "\0"
    "DELETE" "\0"
    "UPDATE" "\0"
    "Namespaced" "\0"
    "Equivalent" "\0"
    "Exact" "\0"
    "ApplyConfiguration" "\0"
    "JSONPatch" "\0"
    "Fail" "\0"
    "IfNeeded" "\0"
    "NoneOnDryRun" "\0"
    "Some" "\0"
    "Audit" "\0"
    "Deny" "\0"
    "Warn" "\0"
    "FieldValueDuplicate" "\0"
    "FieldValueForbidden" "\0"
    "FieldValueInvalid" "\0"
    "FieldValueRequired" "\0"
    "OnDelete" "\0"
    "RollingUpdate" "\0"
    "Recreate" "\0"
    "OrderedReady" "\0"
    "Parallel" "\0"
    "Allow" "\0"
    "Forbid" "\0"
    "Replace" "\0"
    "Count" "\0"
    "FailIndex" "\0"
    "FailJob" "\0"
    "Indexed" "\0"
    "NonIndexed" "\0"
    "TerminatingOrFailed" "\0"
    "any" "\0"
    "cert sign" "\0"
    "client auth" "\0"
    "code signing" "\0"
    "content commitment" "\0"
    "crl sign" "\0"
    "data encipherment" "\0"
    "decipher only" "\0"
    "digital signature" "\0"
    "email protection" "\0"
    "encipher only" "\0"
    "ipsec end system" "\0"
    "ipsec tunnel" "\0"
    "ipsec user" "\0"
    "key agreement" "\0"
    "key encipherment" "\0"
    "microsoft sgc" "\0"
    "netscape sgc" "\0"
    "ocsp signing" "\0"
    "s/mime" "\0"
    "server auth" "\0"
    "signing" "\0"
    "timestamping" "\0"
    "Egress" "\0"
    "Ingress" "\0"
    "AlwaysAllow" "\0"
    "IfHealthyBudget" "\0"
    "FromClaim" "\0"
    "FromClass" "\0"
    "Immediate" "\0"
    "WaitForFirstConsumer" "\0"
    "\"rbd\"" "\0"
    "\"admin\"" "\0"
    "\"/etc/ceph/keyring\"" "\0"
    "\"default\"" "\0"
    "\"ReadWrite\"" "\0"
    "\"ext4\"" "\0"
    "false" "\0"
    "\"Shared\"" "\0"
    "\"ThinProvisioned\"" "\0"
    "\"xfs\"" "\0"
    "\"\"" "\0"
    "\"TCP\"" "\0"
    "1" "\0"
    "0" "\0"
    "\"Equal\"" "\0"
    "v1" "\0"
    "Binding" "\0"
    "ComponentStatus" "\0"
    "ComponentStatusList" "\0"
    "ConfigMap" "\0"
    "ConfigMapList" "\0"
    "Endpoints" "\0"
    "EndpointsList" "\0"
    "Event" "\0"
    "EventList" "\0"
    "LimitRange" "\0"
    "LimitRangeList" "\0"
    "List" "\0"
    "Namespace" "\0"
    "NamespaceList" "\0"
    "Node" "\0"
    "NodeList" "\0"
    "NodeProxyOptions" "\0"
    "PersistentVolume" "\0"
    "PersistentVolumeClaim" "\0"
    "PersistentVolumeClaimList" "\0"
    "PersistentVolumeList" "\0"
    "Pod" "\0"
    "PodAttachOptions" "\0"
    "PodExecOptions" "\0"
    "PodList" "\0"
    "PodLogOptions" "\0"
    "PodPortForwardOptions" "\0"
    "PodProxyOptions" "\0"
    "PodStatusResult" "\0"
    "PodTemplate" "\0"
    "PodTemplateList" "\0"
    "RangeAllocation" "\0"
    "ReplicationController" "\0"
    "ReplicationControllerList" "\0"
    "ResourceQuota" "\0"
    "ResourceQuotaList" "\0"
    "Secret" "\0"
    "SecretList" "\0"
    "SerializedReference" "\0"
    "Service" "\0"
    "ServiceAccount" "\0"
    "ServiceAccountList" "\0"
    "ServiceList" "\0"
    "ServiceProxyOptions" "\0"
    "admission.k8s.io" "\0"
    "AdmissionReview" "\0"
    "admissionregistration.k8s.io" "\0"
    "MutatingAdmissionPolicy" "\0"
    "MutatingAdmissionPolicyBinding" "\0"
    "MutatingAdmissionPolicyBindingList" "\0"
    "MutatingAdmissionPolicyList" "\0"
    "MutatingWebhookConfiguration" "\0"
    "MutatingWebhookConfigurationList" "\0"
    "ValidatingAdmissionPolicy" "\0"
    "ValidatingAdmissionPolicyBinding" "\0"
    "ValidatingAdmissionPolicyBindingList" "\0"
    "ValidatingAdmissionPolicyList" "\0"
    "ValidatingWebhookConfiguration" "\0"
    "ValidatingWebhookConfigurationList" "\0"
    "apidiscovery.k8s.io" "\0"
    "v2" "\0"
    "APIGroupDiscovery" "\0"
    "APIGroupDiscoveryList" "\0"
    "apiextensions.k8s.io" "\0"
    "ConversionReview" "\0"
    "CustomResourceDefinition" "\0"
    "CustomResourceDefinitionList" "\0"
    "apiregistration.k8s.io" "\0"
    "APIService" "\0"
    "APIServiceList" "\0"
    "apps" "\0"
    "ControllerRevision" "\0"
    "ControllerRevisionList" "\0"
    "DaemonSet" "\0"
    "DaemonSetList" "\0"
    "Deployment" "\0"
    "DeploymentList" "\0"
    "ReplicaSet" "\0"
    "ReplicaSetList" "\0"
    "StatefulSet" "\0"
    "StatefulSetList" "\0"
    "authentication.k8s.io" "\0"
    "SelfSubjectReview" "\0"
    "TokenRequest" "\0"
    "TokenReview" "\0"
    "authorization.k8s.io" "\0"
    "LocalSubjectAccessReview" "\0"
    "SelfSubjectAccessReview" "\0"
    "SelfSubjectRulesReview" "\0"
    "SubjectAccessReview" "\0"
    "autoscaling" "\0"
    "HorizontalPodAutoscaler" "\0"
    "HorizontalPodAutoscalerList" "\0"
    "Scale" "\0"
    "batch" "\0"
    "CronJob" "\0"
    "CronJobList" "\0"
    "Job" "\0"
    "JobList" "\0"
    "certificates.k8s.io" "\0"
    "CertificateSigningRequest" "\0"
    "CertificateSigningRequestList" "\0"
    "coordination.k8s.io" "\0"
    "Lease" "\0"
    "LeaseList" "\0"
    "discovery.k8s.io" "\0"
    "EndpointSlice" "\0"
    "EndpointSliceList" "\0"
    "events.k8s.io" "\0"
    "flowcontrol.apiserver.k8s.io" "\0"
    "FlowSchema" "\0"
    "FlowSchemaList" "\0"
    "PriorityLevelConfiguration" "\0"
    "PriorityLevelConfigurationList" "\0"
    "networking.k8s.io" "\0"
    "IPAddress" "\0"
    "IPAddressList" "\0"
    "IngressClass" "\0"
    "IngressClassList" "\0"
    "IngressList" "\0"
    "NetworkPolicy" "\0"
    "NetworkPolicyList" "\0"
    "ServiceCIDR" "\0"
    "ServiceCIDRList" "\0"
    "node.k8s.io" "\0"
    "RuntimeClass" "\0"
    "RuntimeClassList" "\0"
    "policy" "\0"
    "Eviction" "\0"
    "PodDisruptionBudget" "\0"
    "PodDisruptionBudgetList" "\0"
    "rbac.authorization.k8s.io" "\0"
    "ClusterRole" "\0"
    "ClusterRoleBinding" "\0"
    "ClusterRoleBindingList" "\0"
    "ClusterRoleList" "\0"
    "Role" "\0"
    "RoleBinding" "\0"
    "RoleBindingList" "\0"
    "RoleList" "\0"
    "resource.k8s.io" "\0"
    "DeviceClass" "\0"
    "DeviceClassList" "\0"
    "ResourceClaim" "\0"
    "ResourceClaimList" "\0"
    "ResourceClaimTemplate" "\0"
    "ResourceClaimTemplateList" "\0"
    "ResourceSlice" "\0"
    "ResourceSliceList" "\0"
    "scheduling.k8s.io" "\0"
    "PriorityClassList" "\0"
    "storage.k8s.io" "\0"
    "CSIDriver" "\0"
    "CSIDriverList" "\0"
    "CSINode" "\0"
    "CSINodeList" "\0"
    "CSIStorageCapacity" "\0"
    "CSIStorageCapacityList" "\0"
    "StorageClass" "\0"
    "StorageClassList" "\0"
    "VolumeAttachment" "\0"
    "VolumeAttachmentList" "\0"
    "VolumeAttributesClassList" "\0"
    "meta.k8s.io" "\0"
    "Status" "\0"
    "DeleteOptions" "\0"
    "CreateOptions" "\0"
    "UpdateOptions" "\0"
    "PatchOptions" "\0"
    "GetOptions" "\0"
    "ListOptions" "\0"
    "WatchEvent" "\0"
    "Table" "\0"
    "TableOptions" "\0"
    "PartialObjectMetadata" "\0"
    "PartialObjectMetadataList" "\0"
    "APIGroup" "\0"
    "APIGroupList" "\0"
    "APIResourceList" "\0"
    "APIVersions" "\0"
    "LabelSelector" "\0"
    ;
