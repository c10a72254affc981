/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/gen-kinds from k8s.io/api v0.37.2. Do not edit. */
/* clang-format off */
#include "kube/builtin_tables.h"

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
    { 699, 62, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 81, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.NodeSpec */
    { 788, 0, 1, 0, FIELD_OMIT_EMPTY }, /* podCIDR */
    { 796, 7, 7, 0, FIELD_OMIT_EMPTY }, /* podCIDRs */
    { 805, 0, 3, 0, FIELD_OMIT_EMPTY }, /* providerID */
    { 816, 4, 4, 0, FIELD_OMIT_EMPTY }, /* unschedulable */
    { 830, 57, 5, 0, FIELD_OMIT_EMPTY }, /* taints */
    { 837, 59, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configSource */
    { 850, 0, 2, 0, FIELD_OMIT_EMPTY }, /* externalID */
    { 861, 61, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podPreemptionPolicy */
    /* v1.Taint */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 55, 3, 0, FIELD_IS_REQUIRED }, /* effect */
    { 898, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeAdded */
    /* v1.NodeConfigSource */
    { 908, 58, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    /* v1.ConfigMapNodeConfigSource */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 70, 0, 3, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 74, 0, 4, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 918, 0, 5, 0, FIELD_IS_REQUIRED }, /* kubeletConfigKey */
    /* v1.NodePodPreemptionPolicy */
    { 935, 60, 1, 0, FIELD_OMIT_EMPTY }, /* disableResizePreemption */
    /* v1.NodeStatus */
    { 959, 39, 1, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 968, 39, 2, 0, FIELD_OMIT_EMPTY }, /* allocatable */
    { 763, 63, 3, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 319, 65, 4, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 443, 67, 5, 0, FIELD_OMIT_EMPTY }, /* addresses */
    { 980, 69, 6, 0, FIELD_OMIT_EMPTY }, /* daemonEndpoints */
    { 996, 71, 7, 0, FIELD_OMIT_EMPTY }, /* nodeInfo */
    { 1005, 73, 8, 0, FIELD_OMIT_EMPTY }, /* images */
    { 1012, 47, 9, 0, FIELD_OMIT_EMPTY }, /* volumesInUse */
    { 1025, 75, 10, 0, FIELD_OMIT_EMPTY }, /* volumesAttached */
    { 1041, 76, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* config */
    { 1048, 79, 12, 0, FIELD_OMIT_EMPTY }, /* runtimeHandlers */
    { 1064, 80, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* features */
    { 1073, 47, 14, 0, FIELD_OMIT_EMPTY }, /* declaredFeatures */
    /* v1.NodeCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 1090, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastHeartbeatTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.NodeAddress */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 1108, 0, 2, 0, FIELD_IS_REQUIRED }, /* address */
    /* v1.NodeDaemonEndpoints */
    { 1116, 68, 1, 0, FIELD_OMIT_EMPTY }, /* kubeletEndpoint */
    /* v1.DaemonEndpoint */
    { 1132, 25, 1, 0, FIELD_IS_REQUIRED }, /* Port */
    /* v1.NodeSystemInfo */
    { 1137, 0, 1, 0, FIELD_IS_REQUIRED }, /* machineID */
    { 1147, 0, 2, 0, FIELD_IS_REQUIRED }, /* systemUUID */
    { 1158, 0, 3, 0, FIELD_IS_REQUIRED }, /* bootID */
    { 1165, 0, 4, 0, FIELD_IS_REQUIRED }, /* kernelVersion */
    { 1179, 0, 5, 0, FIELD_IS_REQUIRED }, /* osImage */
    { 1187, 0, 6, 0, FIELD_IS_REQUIRED }, /* containerRuntimeVersion */
    { 1211, 0, 7, 0, FIELD_IS_REQUIRED }, /* kubeletVersion */
    { 1226, 0, 8, 0, FIELD_IS_REQUIRED }, /* kubeProxyVersion */
    { 1243, 0, 9, 0, FIELD_IS_REQUIRED }, /* operatingSystem */
    { 1259, 0, 10, 0, FIELD_IS_REQUIRED }, /* architecture */
    { 1272, 70, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* swap */
    { 1277, 4, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runningInUserNamespace */
    /* v1.NodeSwapStatus */
    { 959, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    /* v1.ContainerImage */
    { 1300, 47, 1, 0, 0 }, /* names */
    { 1306, 1, 2, 0, FIELD_OMIT_EMPTY }, /* sizeBytes */
    /* v1.AttachedVolume */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1316, 0, 2, 0, FIELD_IS_REQUIRED }, /* devicePath */
    /* v1.NodeConfigStatus */
    { 1327, 59, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* assigned */
    { 1336, 59, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* active */
    { 1343, 59, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastKnownGood */
    { 350, 0, 4, 0, FIELD_OMIT_EMPTY }, /* error */
    /* v1.NodeRuntimeHandler */
    { 33, 0, 1, 0, 0 }, /* name */
    { 1064, 77, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* features */
    /* v1.NodeRuntimeHandlerFeatures */
    { 1357, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnlyMounts */
    { 1381, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* userNamespaces */
    /* v1.NodeFeatures */
    { 1396, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* supplementalGroupsPolicy */
    /* v1.NodeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 83, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.NodeProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.PersistentVolume */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 129, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 131, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PersistentVolumeSpec */
    { 959, 39, 1, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 1426, 84, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gcePersistentDisk */
    { 1444, 85, 2, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* awsElasticBlockStore */
    { 1465, 87, 3, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostPath */
    { 1474, 88, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* glusterfs */
    { 1484, 89, 5, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nfs */
    { 1488, 94, 6, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rbd */
    { 1492, 96, 7, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* iscsi */
    { 1498, 97, 8, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cinder */
    { 1505, 98, 9, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cephfs */
    { 1512, 99, 10, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fc */
    { 1515, 100, 11, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flocker */
    { 1523, 101, 12, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flexVolume */
    { 1534, 102, 13, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureFile */
    { 1544, 103, 14, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* vsphereVolume */
    { 1558, 104, 15, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* quobyte */
    { 1566, 109, 16, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureDisk */
    { 1576, 110, 17, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* photonPersistentDisk */
    { 1597, 111, 18, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* portworxVolume */
    { 1612, 114, 19, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleIO */
    { 1620, 115, 20, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* local */
    { 1626, 116, 21, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageos */
    { 1636, 117, 22, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* csi */
    { 1640, 119, 3, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 1652, 12, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* claimRef */
    { 1661, 120, 5, 0, FIELD_OMIT_EMPTY }, /* persistentVolumeReclaimPolicy */
    { 1691, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storageClassName */
    { 1708, 47, 7, 0, FIELD_OMIT_EMPTY }, /* mountOptions */
    { 1721, 121, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 1732, 128, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinity */
    { 1745, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeAttributesClassName */
    /* v1.GCEPersistentDiskVolumeSource */
    { 1771, 0, 1, 0, FIELD_IS_REQUIRED }, /* pdName */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1785, 25, 3, 0, FIELD_OMIT_EMPTY }, /* partition */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.AWSElasticBlockStoreVolumeSource */
    { 1804, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1785, 25, 3, 0, FIELD_OMIT_EMPTY }, /* partition */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.HostPathVolumeSource */
    { 1421, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 330, 86, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* type */
    /* v1.GlusterfsPersistentVolumeSource */
    { 1813, 0, 1, 0, FIELD_IS_REQUIRED }, /* endpoints */
    { 1421, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1823, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* endpointsNamespace */
    /* v1.NFSVolumeSource */
    { 1842, 0, 1, 0, FIELD_IS_REQUIRED }, /* server */
    { 1421, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.RBDPersistentVolumeSource */
    { 1849, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1858, 0, 2, 0, FIELD_IS_REQUIRED }, /* image */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1864, 90, 4, 0, FIELD_OMIT_EMPTY }, /* pool */
    { 1869, 91, 5, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1874, 92, 6, 0, FIELD_OMIT_EMPTY }, /* keyring */
    { 1882, 93, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 8, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.SecretReference */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 2, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.ISCSIPersistentVolumeSource */
    { 1892, 0, 1, 0, FIELD_IS_REQUIRED }, /* targetPortal */
    { 1905, 0, 2, 0, FIELD_IS_REQUIRED }, /* iqn */
    { 1909, 25, 3, 0, FIELD_IS_REQUIRED }, /* lun */
    { 1913, 95, 4, 0, FIELD_OMIT_EMPTY }, /* iscsiInterface */
    { 1778, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1928, 47, 7, 0, FIELD_OMIT_EMPTY }, /* portals */
    { 1936, 4, 8, 0, FIELD_OMIT_EMPTY }, /* chapAuthDiscovery */
    { 1954, 4, 11, 0, FIELD_OMIT_EMPTY }, /* chapAuthSession */
    { 1882, 93, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1970, 0, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* initiatorName */
    /* v1.CinderPersistentVolumeSource */
    { 1804, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1882, 93, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CephFSPersistentVolumeSource */
    { 1849, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1421, 0, 2, 0, FIELD_OMIT_EMPTY }, /* path */
    { 1869, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1984, 0, 4, 0, FIELD_OMIT_EMPTY }, /* secretFile */
    { 1882, 93, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.FCVolumeSource */
    { 1995, 47, 1, 0, FIELD_OMIT_EMPTY }, /* targetWWNs */
    { 1909, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lun */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 2006, 47, 5, 0, FIELD_OMIT_EMPTY }, /* wwids */
    /* v1.FlockerVolumeSource */
    { 2012, 0, 1, 0, FIELD_OMIT_EMPTY }, /* datasetName */
    { 2024, 0, 2, 0, FIELD_OMIT_EMPTY }, /* datasetUUID */
    /* v1.FlexPersistentVolumeSource */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1882, 93, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 2043, 3, 5, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.AzureFilePersistentVolumeSource */
    { 2051, 0, 1, 0, FIELD_IS_REQUIRED }, /* secretName */
    { 2062, 0, 2, 0, FIELD_IS_REQUIRED }, /* shareName */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 2072, 0, 4, 0, FIELD_POINTER }, /* secretNamespace */
    /* v1.VsphereVirtualDiskVolumeSource */
    { 2088, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumePath */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 2099, 0, 3, 0, FIELD_OMIT_EMPTY }, /* storagePolicyName */
    { 2117, 0, 4, 0, FIELD_OMIT_EMPTY }, /* storagePolicyID */
    /* v1.QuobyteVolumeSource */
    { 2133, 0, 1, 0, FIELD_IS_REQUIRED }, /* registry */
    { 2142, 0, 2, 0, FIELD_IS_REQUIRED }, /* volume */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1869, 0, 4, 0, FIELD_OMIT_EMPTY }, /* user */
    { 2149, 0, 5, 0, FIELD_OMIT_EMPTY }, /* group */
    { 2155, 0, 6, 0, FIELD_OMIT_EMPTY }, /* tenant */
    /* v1.AzureDiskVolumeSource */
    { 2162, 0, 1, 0, FIELD_IS_REQUIRED }, /* diskName */
    { 2171, 0, 2, 0, FIELD_IS_REQUIRED }, /* diskURI */
    { 2179, 105, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cachingMode */
    { 1778, 106, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    { 1795, 107, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnly */
    { 1, 108, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* kind */
    /* v1.PhotonPersistentDiskVolumeSource */
    { 2191, 0, 1, 0, FIELD_IS_REQUIRED }, /* pdID */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    /* v1.PortworxVolumeSource */
    { 1804, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.ScaleIOPersistentVolumeSource */
    { 2196, 0, 1, 0, FIELD_IS_REQUIRED }, /* gateway */
    { 2204, 0, 2, 0, FIELD_IS_REQUIRED }, /* system */
    { 1882, 93, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* secretRef */
    { 2211, 4, 4, 0, FIELD_OMIT_EMPTY }, /* sslEnabled */
    { 2222, 0, 5, 0, FIELD_OMIT_EMPTY }, /* protectionDomain */
    { 2239, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storagePool */
    { 2251, 112, 7, 0, FIELD_OMIT_EMPTY }, /* storageMode */
    { 2263, 0, 8, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1778, 113, 9, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 10, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.LocalVolumeSource */
    { 1421, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    /* v1.StorageOSPersistentVolumeSource */
    { 2263, 0, 1, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 2274, 0, 2, 0, FIELD_OMIT_EMPTY }, /* volumeNamespace */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1882, 12, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CSIPersistentVolumeSource */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 2290, 0, 2, 0, FIELD_IS_REQUIRED }, /* volumeHandle */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1778, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 2303, 3, 5, 0, FIELD_OMIT_EMPTY }, /* volumeAttributes */
    { 2320, 93, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* controllerPublishSecretRef */
    { 2347, 93, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeStageSecretRef */
    { 2366, 93, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodePublishSecretRef */
    { 2387, 93, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* controllerExpandSecretRef */
    { 2413, 93, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeExpandSecretRef */
    /* v1.VolumeNodeAffinity */
    { 2433, 127, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* required */
    /* v1.NodeSelector */
    { 2442, 126, 1, 0, FIELD_IS_REQUIRED }, /* nodeSelectorTerms */
    /* v1.NodeSelectorTerm */
    { 2460, 124, 1, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    { 2477, 124, 2, 0, FIELD_OMIT_EMPTY }, /* matchFields */
    /* v1.NodeSelectorRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2489, 122, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.PersistentVolumeStatus */
    { 763, 130, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 2505, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastPhaseTransitionTime */
    /* v1.PersistentVolumeClaim */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 138, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 150, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PersistentVolumeClaimSpec */
    { 1640, 119, 1, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 400, 134, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 2529, 135, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 2263, 0, 3, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1691, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageClassName */
    { 1721, 121, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 2539, 136, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dataSource */
    { 2550, 137, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dataSourceRef */
    { 1745, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeAttributesClassName */
    /* v1.LabelSelector */
    { 2564, 3, 1, 0, FIELD_OMIT_EMPTY }, /* matchLabels */
    { 2460, 133, 2, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    /* v1.LabelSelectorRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2489, 0, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.VolumeResourceRequirements */
    { 704, 39, 1, 0, FIELD_OMIT_EMPTY }, /* limits */
    { 2576, 39, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    /* v1.TypedLocalObjectReference */
    { 2585, 0, 1, 0, FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.TypedObjectReference */
    { 2585, 0, 1, 0, FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 51, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespace */
    /* v1.PersistentVolumeClaimStatus */
    { 763, 139, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 1640, 119, 2, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 959, 39, 3, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 319, 141, 4, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 2594, 39, 5, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2613, 143, 7, 0, FIELD_OMIT_EMPTY }, /* allocatedResourceStatuses */
    { 2639, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* currentVolumeAttributesClassName */
    { 2672, 145, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* modifyVolumeStatus */
    { 2691, 149, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* healthStatus */
    /* v1.PersistentVolumeClaimCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2704, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ModifyVolumeStatus */
    { 2718, 0, 1, 0, FIELD_OMIT_EMPTY }, /* targetVolumeAttributesClassName */
    { 335, 144, 2, 0, FIELD_IS_REQUIRED }, /* status */
    /* v1.VolumeHealthStatus */
    { 2750, 148, 1, 0, FIELD_OMIT_EMPTY }, /* healthConditions */
    { 769, 2, 2, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.VolumeHealthCondition */
    { 335, 146, 1, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_IS_REQUIRED }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.PersistentVolumeClaimList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 152, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PersistentVolumeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 154, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Pod */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 292, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 330, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodSpec */
    { 2767, 193, 1, 0, FIELD_OMIT_EMPTY }, /* volumes */
    { 2775, 246, 20, 0, FIELD_OMIT_EMPTY }, /* initContainers */
    { 2790, 246, 2, 0, FIELD_IS_REQUIRED }, /* containers */
    { 2801, 248, 34, 0, FIELD_OMIT_EMPTY }, /* ephemeralContainers */
    { 2821, 249, 3, 0, FIELD_OMIT_EMPTY }, /* restartPolicy */
    { 2835, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminationGracePeriodSeconds */
    { 2865, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* activeDeadlineSeconds */
    { 2887, 250, 6, 0, FIELD_OMIT_EMPTY }, /* dnsPolicy */
    { 2897, 251, 7, 0, FIELD_OMIT_EMPTY }, /* nodeSelector */
    { 2910, 0, 8, 0, FIELD_OMIT_EMPTY }, /* serviceAccountName */
    { 2929, 0, 9, 0, FIELD_OMIT_EMPTY }, /* serviceAccount */
    { 2944, 4, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* automountServiceAccountToken */
    { 489, 0, 10, 0, FIELD_OMIT_EMPTY }, /* nodeName */
    { 2973, 4, 11, 0, FIELD_OMIT_EMPTY }, /* hostNetwork */
    { 2985, 4, 12, 0, FIELD_OMIT_EMPTY }, /* hostPID */
    { 2993, 4, 13, 0, FIELD_OMIT_EMPTY }, /* hostIPC */
    { 3001, 4, 27, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareProcessNamespace */
    { 3023, 257, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 3039, 258, 15, 0, FIELD_OMIT_EMPTY }, /* imagePullSecrets */
    { 480, 0, 16, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 3056, 0, 17, 0, FIELD_OMIT_EMPTY }, /* subdomain */
    { 3066, 268, 18, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* affinity */
    { 3075, 0, 19, 0, FIELD_OMIT_EMPTY }, /* schedulerName */
    { 3089, 271, 22, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 3101, 273, 23, 0, FIELD_OMIT_EMPTY }, /* hostAliases */
    { 3113, 0, 24, 0, FIELD_OMIT_EMPTY }, /* priorityClassName */
    { 3131, 25, 25, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* priority */
    { 3140, 276, 26, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dnsConfig */
    { 3150, 278, 28, 0, FIELD_OMIT_EMPTY }, /* readinessGates */
    { 3165, 0, 29, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runtimeClassName */
    { 3182, 4, 30, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* enableServiceLinks */
    { 3201, 279, 31, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preemptionPolicy */
    { 3218, 39, 32, 0, FIELD_OMIT_EMPTY }, /* overhead */
    { 3227, 283, 33, 0, FIELD_OMIT_EMPTY }, /* topologySpreadConstraints */
    { 3253, 4, 35, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* setHostnameAsFQDN */
    { 3271, 284, 36, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* os */
    { 3274, 4, 37, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostUsers */
    { 3284, 286, 38, 0, FIELD_OMIT_EMPTY }, /* schedulingGates */
    { 3300, 288, 39, 0, FIELD_OMIT_EMPTY }, /* resourceClaims */
    { 2529, 209, 40, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 3315, 0, 41, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostnameOverride */
    { 3332, 289, 43, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingGroup */
    { 3348, 291, 44, 0, FIELD_OMIT_EMPTY }, /* evictionResponders */
    /* v1.Volume */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1465, 87, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostPath */
    { 3367, 155, 2, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* emptyDir */
    { 1426, 84, 3, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gcePersistentDisk */
    { 1444, 85, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* awsElasticBlockStore */
    { 3376, 156, 5, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gitRepo */
    { 3384, 159, 6, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secret */
    { 1484, 89, 7, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nfs */
    { 1492, 162, 8, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* iscsi */
    { 1474, 163, 9, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* glusterfs */
    { 3391, 164, 10, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeClaim */
    { 1488, 165, 11, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rbd */
    { 1523, 166, 12, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flexVolume */
    { 1498, 167, 13, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cinder */
    { 1505, 168, 14, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cephfs */
    { 1515, 100, 15, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flocker */
    { 3413, 173, 16, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* downwardAPI */
    { 1512, 99, 17, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fc */
    { 1534, 174, 18, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureFile */
    { 908, 175, 19, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    { 1544, 103, 20, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* vsphereVolume */
    { 1558, 104, 21, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* quobyte */
    { 1566, 109, 22, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureDisk */
    { 1576, 110, 23, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* photonPersistentDisk */
    { 3425, 184, 26, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* projected */
    { 1597, 111, 24, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* portworxVolume */
    { 1612, 185, 25, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleIO */
    { 1626, 186, 27, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageos */
    { 1636, 187, 28, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* csi */
    { 3435, 189, 29, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ephemeral */
    { 1858, 191, 30, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* image */
    /* v1.EmptyDirVolumeSource */
    { 3445, 0, 1, 0, FIELD_OMIT_EMPTY }, /* medium */
    { 3452, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sizeLimit */
    { 3462, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    /* v1.GitRepoVolumeSource */
    { 3467, 0, 1, 0, FIELD_IS_REQUIRED }, /* repository */
    { 3478, 0, 2, 0, FIELD_OMIT_EMPTY }, /* revision */
    { 3487, 0, 3, 0, FIELD_OMIT_EMPTY }, /* directory */
    /* v1.SecretVolumeSource */
    { 2051, 0, 1, 0, FIELD_OMIT_EMPTY }, /* secretName */
    { 356, 158, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3497, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    { 3518, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.KeyToPath */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 1421, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 3462, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    { 1869, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    /* v1.ISCSIVolumeSource */
    { 1892, 0, 1, 0, FIELD_IS_REQUIRED }, /* targetPortal */
    { 1905, 0, 2, 0, FIELD_IS_REQUIRED }, /* iqn */
    { 1909, 25, 3, 0, FIELD_IS_REQUIRED }, /* lun */
    { 1913, 95, 4, 0, FIELD_OMIT_EMPTY }, /* iscsiInterface */
    { 1778, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1928, 47, 7, 0, FIELD_OMIT_EMPTY }, /* portals */
    { 1936, 4, 8, 0, FIELD_OMIT_EMPTY }, /* chapAuthDiscovery */
    { 1954, 4, 11, 0, FIELD_OMIT_EMPTY }, /* chapAuthSession */
    { 1882, 161, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1970, 0, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* initiatorName */
    /* v1.LocalObjectReference */
    { 33, 160, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    /* v1.GlusterfsVolumeSource */
    { 1813, 0, 1, 0, FIELD_IS_REQUIRED }, /* endpoints */
    { 1421, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.PersistentVolumeClaimVolumeSource */
    { 3530, 0, 1, 0, FIELD_IS_REQUIRED }, /* claimName */
    { 1795, 4, 2, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.RBDVolumeSource */
    { 1849, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1858, 0, 2, 0, FIELD_IS_REQUIRED }, /* image */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1864, 90, 4, 0, FIELD_OMIT_EMPTY }, /* pool */
    { 1869, 91, 5, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1874, 92, 6, 0, FIELD_OMIT_EMPTY }, /* keyring */
    { 1882, 161, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 8, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.FlexVolumeSource */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1882, 161, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 2043, 3, 5, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.CinderVolumeSource */
    { 1804, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1882, 161, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CephFSVolumeSource */
    { 1849, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1421, 0, 2, 0, FIELD_OMIT_EMPTY }, /* path */
    { 1869, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1984, 0, 4, 0, FIELD_OMIT_EMPTY }, /* secretFile */
    { 1882, 161, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.DownwardAPIVolumeSource */
    { 356, 172, 1, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3497, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3518, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.DownwardAPIVolumeFile */
    { 1421, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 3540, 169, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldRef */
    { 3549, 170, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceFieldRef */
    { 3462, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    { 1869, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    /* v1.ObjectFieldSelector */
    { 6, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 309, 0, 2, 0, FIELD_IS_REQUIRED }, /* fieldPath */
    /* v1.ResourceFieldSelector */
    { 3566, 0, 1, 0, FIELD_OMIT_EMPTY }, /* containerName */
    { 3580, 0, 2, 0, FIELD_IS_REQUIRED }, /* resource */
    { 3589, 38, 3, 0, FIELD_OMIT_EMPTY }, /* divisor */
    /* v1.AzureFileVolumeSource */
    { 2051, 0, 1, 0, FIELD_IS_REQUIRED }, /* secretName */
    { 2062, 0, 2, 0, FIELD_IS_REQUIRED }, /* shareName */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.ConfigMapVolumeSource */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 158, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3497, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    { 3518, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.ProjectedVolumeSource */
    { 3597, 183, 1, 0, 0 }, /* sources */
    { 3497, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3518, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.VolumeProjection */
    { 3384, 176, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secret */
    { 3413, 177, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* downwardAPI */
    { 908, 178, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    { 3605, 179, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccountToken */
    { 3625, 180, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clusterTrustBundle */
    { 3644, 181, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podCertificate */
    /* v1.SecretProjection */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 158, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.DownwardAPIProjection */
    { 356, 172, 1, 0, FIELD_OMIT_EMPTY }, /* items */
    /* v1.ConfigMapProjection */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 158, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.ServiceAccountTokenProjection */
    { 3659, 0, 1, 0, FIELD_OMIT_EMPTY }, /* audience */
    { 3668, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    { 1421, 0, 3, 0, FIELD_IS_REQUIRED }, /* path */
    { 1869, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    /* v1.ClusterTrustBundleProjection */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* name */
    { 3686, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* signerName */
    { 3697, 134, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 3509, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    { 1421, 0, 4, 0, FIELD_IS_REQUIRED }, /* path */
    { 1869, 1, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    /* v1.PodCertificateProjection */
    { 3686, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* signerName */
    { 3711, 0, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* keyType */
    { 3719, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxExpirationSeconds */
    { 3740, 0, 4, 0, FIELD_OMIT_EMPTY }, /* credentialBundlePath */
    { 3761, 0, 5, 0, FIELD_OMIT_EMPTY }, /* keyPath */
    { 3769, 0, 6, 0, FIELD_OMIT_EMPTY }, /* certificateChainPath */
    { 3790, 3, 7, 0, FIELD_OMIT_EMPTY }, /* userAnnotations */
    { 1869, 1, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    /* v1.ScaleIOVolumeSource */
    { 2196, 0, 1, 0, FIELD_IS_REQUIRED }, /* gateway */
    { 2204, 0, 2, 0, FIELD_IS_REQUIRED }, /* system */
    { 1882, 161, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* secretRef */
    { 2211, 4, 4, 0, FIELD_OMIT_EMPTY }, /* sslEnabled */
    { 2222, 0, 5, 0, FIELD_OMIT_EMPTY }, /* protectionDomain */
    { 2239, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storagePool */
    { 2251, 112, 7, 0, FIELD_OMIT_EMPTY }, /* storageMode */
    { 2263, 0, 8, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1778, 113, 9, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 10, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.StorageOSVolumeSource */
    { 2263, 0, 1, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 2274, 0, 2, 0, FIELD_OMIT_EMPTY }, /* volumeNamespace */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1882, 161, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CSIVolumeSource */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1795, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnly */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    { 2303, 3, 4, 0, FIELD_OMIT_EMPTY }, /* volumeAttributes */
    { 2366, 161, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodePublishSecretRef */
    /* v1.EphemeralVolumeSource */
    { 3806, 188, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeClaimTemplate */
    /* v1.PersistentVolumeClaimTemplate */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 138, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ImageVolumeSource */
    { 3826, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reference */
    { 3836, 190, 2, 0, FIELD_OMIT_EMPTY }, /* pullPolicy */
    /* v1.Container */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1858, 0, 2, 0, FIELD_OMIT_EMPTY }, /* image */
    { 3847, 47, 3, 0, FIELD_OMIT_EMPTY }, /* command */
    { 3855, 47, 4, 0, FIELD_OMIT_EMPTY }, /* args */
    { 3860, 0, 5, 0, FIELD_OMIT_EMPTY }, /* workingDir */
    { 471, 196, 6, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 3871, 200, 19, 0, FIELD_OMIT_EMPTY }, /* envFrom */
    { 3879, 206, 7, 0, FIELD_OMIT_EMPTY }, /* env */
    { 2529, 209, 8, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 3883, 211, 23, 0, FIELD_OMIT_EMPTY }, /* resizePolicy */
    { 2821, 0, 24, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* restartPolicy */
    { 3896, 215, 25, 0, FIELD_OMIT_EMPTY }, /* restartPolicyRules */
    { 3915, 218, 9, 0, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 3928, 220, 21, 0, FIELD_OMIT_EMPTY }, /* volumeDevices */
    { 3942, 231, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* livenessProbe */
    { 3956, 231, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readinessProbe */
    { 3971, 231, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startupProbe */
    { 3984, 235, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lifecycle */
    { 3994, 0, 13, 0, FIELD_OMIT_EMPTY }, /* terminationMessagePath */
    { 4017, 236, 20, 0, FIELD_OMIT_EMPTY }, /* terminationMessagePolicy */
    { 4042, 190, 14, 0, FIELD_OMIT_EMPTY }, /* imagePullPolicy */
    { 3023, 244, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 4058, 4, 16, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 4064, 4, 17, 0, FIELD_OMIT_EMPTY }, /* stdinOnce */
    { 4074, 4, 18, 0, FIELD_OMIT_EMPTY }, /* tty */
    /* v1.ContainerPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 4078, 25, 2, 0, FIELD_OMIT_EMPTY }, /* hostPort */
    { 4087, 25, 3, 0, FIELD_IS_REQUIRED }, /* containerPort */
    { 513, 194, 4, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 4101, 0, 5, 0, FIELD_OMIT_EMPTY }, /* hostIP */
    /* v1.EnvFromSource */
    { 4108, 0, 1, 0, FIELD_OMIT_EMPTY }, /* prefix */
    { 4115, 197, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMapRef */
    { 1882, 198, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.ConfigMapEnvSource */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 3509, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.SecretEnvSource */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 3509, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.EnvVar */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 4128, 204, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* valueFrom */
    /* v1.EnvVarSource */
    { 3540, 169, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldRef */
    { 3549, 170, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceFieldRef */
    { 4138, 201, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMapKeyRef */
    { 4154, 202, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretKeyRef */
    { 4167, 203, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fileKeyRef */
    /* v1.ConfigMapKeySelector */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 881, 0, 2, 0, FIELD_IS_REQUIRED }, /* key */
    { 3509, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.SecretKeySelector */
    { 33, 160, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 881, 0, 2, 0, FIELD_IS_REQUIRED }, /* key */
    { 3509, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.FileKeySelector */
    { 2263, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeName */
    { 1421, 0, 2, 0, FIELD_IS_REQUIRED }, /* path */
    { 881, 0, 3, 0, FIELD_IS_REQUIRED }, /* key */
    { 3509, 107, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.ResourceRequirements */
    { 704, 39, 1, 0, FIELD_OMIT_EMPTY }, /* limits */
    { 2576, 39, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 4178, 208, 3, 0, FIELD_OMIT_EMPTY }, /* claims */
    /* v1.ResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 4185, 0, 2, 0, FIELD_OMIT_EMPTY }, /* request */
    /* v1.ContainerResizePolicy */
    { 4193, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceName */
    { 2821, 0, 2, 0, FIELD_IS_REQUIRED }, /* restartPolicy */
    /* v1.ContainerRestartRule */
    { 615, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* action */
    { 4206, 213, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exitCodes */
    /* v1.ContainerRestartRuleOnExitCodes */
    { 2489, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* operator */
    { 2498, 212, 2, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.VolumeMount */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1795, 4, 2, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 4216, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnly */
    { 4234, 0, 3, 0, FIELD_IS_REQUIRED }, /* mountPath */
    { 4244, 0, 4, 0, FIELD_OMIT_EMPTY }, /* subPath */
    { 4252, 216, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mountPropagation */
    { 4269, 0, 6, 0, FIELD_OMIT_EMPTY }, /* subPathExpr */
    { 4281, 60, 8, 0, FIELD_OMIT_EMPTY }, /* bindMountOptions */
    /* v1.VolumeDevice */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1316, 0, 2, 0, FIELD_IS_REQUIRED }, /* devicePath */
    /* v1.Probe */
    { 4298, 221, 1, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exec */
    { 4303, 227, 2, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* httpGet */
    { 4311, 228, 3, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tcpSocket */
    { 4321, 230, 4, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* grpc */
    { 4326, 25, 2, 0, FIELD_OMIT_EMPTY }, /* initialDelaySeconds */
    { 4346, 25, 3, 0, FIELD_OMIT_EMPTY }, /* timeoutSeconds */
    { 4361, 25, 4, 0, FIELD_OMIT_EMPTY }, /* periodSeconds */
    { 4375, 25, 5, 0, FIELD_OMIT_EMPTY }, /* successThreshold */
    { 4392, 25, 6, 0, FIELD_OMIT_EMPTY }, /* failureThreshold */
    { 2835, 1, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminationGracePeriodSeconds */
    /* v1.ExecAction */
    { 3847, 47, 1, 0, FIELD_OMIT_EMPTY }, /* command */
    /* v1.HTTPGetAction */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 508, 222, 2, 0, FIELD_IS_REQUIRED }, /* port */
    { 677, 0, 3, 0, FIELD_OMIT_EMPTY }, /* host */
    { 4409, 223, 4, 0, FIELD_OMIT_EMPTY }, /* scheme */
    { 4416, 225, 5, 0, FIELD_OMIT_EMPTY }, /* httpHeaders */
    { 513, 226, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* protocol */
    /* v1.HTTPHeader */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 885, 0, 2, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.TCPSocketAction */
    { 508, 222, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 677, 0, 2, 0, FIELD_OMIT_EMPTY }, /* host */
    /* v1.GRPCAction */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 4428, 160, 2, 0, FIELD_POINTER }, /* service */
    { 3462, 229, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    /* v1.Lifecycle */
    { 4436, 233, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* postStart */
    { 4446, 233, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preStop */
    { 4454, 234, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stopSignal */
    /* v1.LifecycleHandler */
    { 4298, 221, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exec */
    { 4303, 227, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* httpGet */
    { 4311, 228, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tcpSocket */
    { 4465, 232, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sleep */
    /* v1.SleepAction */
    { 4471, 1, 1, 0, FIELD_IS_REQUIRED }, /* seconds */
    /* v1.SecurityContext */
    { 4479, 237, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capabilities */
    { 4492, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* privileged */
    { 4503, 238, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxOptions */
    { 4518, 239, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* windowsOptions */
    { 4533, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUser */
    { 4543, 1, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsGroup */
    { 4554, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsNonRoot */
    { 4567, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnlyRootFilesystem */
    { 4590, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowPrivilegeEscalation */
    { 4615, 240, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* procMount */
    { 4625, 242, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seccompProfile */
    { 4640, 243, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appArmorProfile */
    /* v1.Capabilities */
    { 4656, 47, 1, 0, FIELD_OMIT_EMPTY }, /* add */
    { 4660, 47, 2, 0, FIELD_OMIT_EMPTY }, /* drop */
    /* v1.SELinuxOptions */
    { 1869, 0, 1, 0, FIELD_OMIT_EMPTY }, /* user */
    { 4665, 0, 2, 0, FIELD_OMIT_EMPTY }, /* role */
    { 330, 0, 3, 0, FIELD_OMIT_EMPTY }, /* type */
    { 4670, 0, 4, 0, FIELD_OMIT_EMPTY }, /* level */
    /* v1.WindowsSecurityContextOptions */
    { 4676, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gmsaCredentialSpecName */
    { 4699, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gmsaCredentialSpec */
    { 4718, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUserName */
    { 4732, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostProcess */
    /* v1.SeccompProfile */
    { 330, 241, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 4744, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* localhostProfile */
    /* v1.AppArmorProfile */
    { 330, 241, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 4744, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* localhostProfile */
    /* v1.EphemeralContainer */
    { 33, 0, 1, 1, FIELD_IS_REQUIRED }, /* name */
    { 1858, 0, 2, 1, FIELD_OMIT_EMPTY }, /* image */
    { 3847, 47, 3, 1, FIELD_OMIT_EMPTY }, /* command */
    { 3855, 47, 4, 1, FIELD_OMIT_EMPTY }, /* args */
    { 3860, 0, 5, 1, FIELD_OMIT_EMPTY }, /* workingDir */
    { 471, 196, 6, 1, FIELD_OMIT_EMPTY }, /* ports */
    { 3871, 200, 19, 1, FIELD_OMIT_EMPTY }, /* envFrom */
    { 3879, 206, 7, 1, FIELD_OMIT_EMPTY }, /* env */
    { 2529, 209, 8, 1, FIELD_OMIT_EMPTY }, /* resources */
    { 3883, 211, 23, 1, FIELD_OMIT_EMPTY }, /* resizePolicy */
    { 2821, 0, 24, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* restartPolicy */
    { 3896, 215, 25, 1, FIELD_OMIT_EMPTY }, /* restartPolicyRules */
    { 3915, 218, 9, 1, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 3928, 220, 21, 1, FIELD_OMIT_EMPTY }, /* volumeDevices */
    { 3942, 231, 10, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* livenessProbe */
    { 3956, 231, 11, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readinessProbe */
    { 3971, 231, 22, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startupProbe */
    { 3984, 235, 12, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lifecycle */
    { 3994, 0, 13, 1, FIELD_OMIT_EMPTY }, /* terminationMessagePath */
    { 4017, 236, 20, 1, FIELD_OMIT_EMPTY }, /* terminationMessagePolicy */
    { 4042, 190, 14, 1, FIELD_OMIT_EMPTY }, /* imagePullPolicy */
    { 3023, 244, 15, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 4058, 4, 16, 1, FIELD_OMIT_EMPTY }, /* stdin */
    { 4064, 4, 17, 1, FIELD_OMIT_EMPTY }, /* stdinOnce */
    { 4074, 4, 18, 1, FIELD_OMIT_EMPTY }, /* tty */
    { 4761, 0, 2, 0, FIELD_OMIT_EMPTY }, /* targetContainerName */
    /* v1.PodSecurityContext */
    { 4503, 238, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxOptions */
    { 4518, 239, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* windowsOptions */
    { 4533, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUser */
    { 4543, 1, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsGroup */
    { 4554, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsNonRoot */
    { 4781, 252, 4, 0, FIELD_OMIT_EMPTY }, /* supplementalGroups */
    { 1396, 253, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* supplementalGroupsPolicy */
    { 4800, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroup */
    { 4808, 255, 7, 0, FIELD_OMIT_EMPTY }, /* sysctls */
    { 4816, 256, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroupChangePolicy */
    { 4625, 242, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seccompProfile */
    { 4640, 243, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appArmorProfile */
    { 4836, 0, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxChangePolicy */
    /* v1.Sysctl */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 885, 0, 2, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.Affinity */
    { 1732, 261, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinity */
    { 4856, 266, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podAffinity */
    { 4868, 267, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podAntiAffinity */
    /* v1.NodeAffinity */
    { 4884, 127, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4931, 260, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.PreferredSchedulingTerm */
    { 4979, 25, 1, 0, FIELD_IS_REQUIRED }, /* weight */
    { 4986, 125, 2, 0, FIELD_IS_REQUIRED }, /* preference */
    /* v1.PodAffinity */
    { 4884, 263, 1, 0, FIELD_OMIT_EMPTY }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4931, 265, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.PodAffinityTerm */
    { 3697, 134, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 4997, 47, 2, 0, FIELD_OMIT_EMPTY }, /* namespaces */
    { 5008, 0, 3, 0, FIELD_IS_REQUIRED }, /* topologyKey */
    { 5020, 134, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 5038, 47, 5, 0, FIELD_OMIT_EMPTY }, /* matchLabelKeys */
    { 5053, 47, 6, 0, FIELD_OMIT_EMPTY }, /* mismatchLabelKeys */
    /* v1.WeightedPodAffinityTerm */
    { 4979, 25, 1, 0, FIELD_IS_REQUIRED }, /* weight */
    { 5071, 262, 2, 0, FIELD_IS_REQUIRED }, /* podAffinityTerm */
    /* v1.PodAntiAffinity */
    { 4884, 263, 1, 0, FIELD_OMIT_EMPTY }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4931, 265, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.Toleration */
    { 881, 0, 1, 0, FIELD_OMIT_EMPTY }, /* key */
    { 2489, 269, 2, 0, FIELD_OMIT_EMPTY }, /* operator */
    { 885, 0, 3, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 55, 4, 0, FIELD_OMIT_EMPTY }, /* effect */
    { 5087, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerationSeconds */
    /* v1.HostAlias */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    { 5105, 47, 2, 0, FIELD_OMIT_EMPTY }, /* hostnames */
    /* v1.PodDNSConfig */
    { 5115, 47, 1, 0, FIELD_OMIT_EMPTY }, /* nameservers */
    { 5127, 47, 2, 0, FIELD_OMIT_EMPTY }, /* searches */
    { 2043, 275, 3, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.PodDNSConfigOption */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    /* v1.PodReadinessGate */
    { 5136, 0, 1, 0, FIELD_IS_REQUIRED }, /* conditionType */
    /* v1.TopologySpreadConstraint */
    { 5150, 25, 1, 0, FIELD_IS_REQUIRED }, /* maxSkew */
    { 5008, 0, 2, 0, FIELD_IS_REQUIRED }, /* topologyKey */
    { 5158, 280, 3, 0, FIELD_IS_REQUIRED }, /* whenUnsatisfiable */
    { 3697, 134, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 5176, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minDomains */
    { 5187, 281, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinityPolicy */
    { 5206, 281, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeTaintsPolicy */
    { 5038, 47, 8, 0, FIELD_OMIT_EMPTY }, /* matchLabelKeys */
    /* v1.PodOS */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.PodSchedulingGate */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.PodResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5223, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    { 5241, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimTemplateName */
    /* v1.PodSchedulingGroup */
    { 5267, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podGroupName */
    /* v1.EvictionResponder */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 3131, 25, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* priority */
    /* v1.PodStatus */
    { 5280, 1, 17, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 763, 293, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 319, 295, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 5299, 0, 11, 0, FIELD_OMIT_EMPTY }, /* nominatedNodeName */
    { 4101, 0, 5, 0, FIELD_OMIT_EMPTY }, /* hostIP */
    { 5317, 297, 16, 0, FIELD_OMIT_EMPTY }, /* hostIPs */
    { 5325, 0, 6, 0, FIELD_OMIT_EMPTY }, /* podIP */
    { 5331, 299, 12, 0, FIELD_OMIT_EMPTY }, /* podIPs */
    { 5338, 2, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startTime */
    { 5348, 315, 10, 0, FIELD_OMIT_EMPTY }, /* initContainerStatuses */
    { 5370, 315, 8, 0, FIELD_OMIT_EMPTY }, /* containerStatuses */
    { 5388, 316, 9, 0, FIELD_OMIT_EMPTY }, /* qosClass */
    { 5397, 315, 13, 0, FIELD_OMIT_EMPTY }, /* ephemeralContainerStatuses */
    { 5424, 0, 14, 0, FIELD_OMIT_EMPTY }, /* resize */
    { 5431, 318, 15, 0, FIELD_OMIT_EMPTY }, /* resourceClaimStatuses */
    { 5453, 321, 18, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* extendedResourceClaimStatus */
    { 2594, 39, 19, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2529, 209, 20, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 5481, 327, 21, 0, FIELD_OMIT_EMPTY }, /* nodeAllocatableResourceClaimStatuses */
    { 5518, 329, 22, 0, FIELD_OMIT_EMPTY }, /* volumeHealth */
    /* v1.PodCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 5280, 1, 7, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2704, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.HostIP */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    /* v1.PodIP */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    /* v1.ContainerStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5531, 303, 2, 0, FIELD_OMIT_EMPTY }, /* state */
    { 5537, 303, 3, 0, FIELD_OMIT_EMPTY }, /* lastState */
    { 5547, 4, 4, 0, FIELD_IS_REQUIRED }, /* ready */
    { 5553, 25, 5, 0, FIELD_IS_REQUIRED }, /* restartCount */
    { 1858, 0, 6, 0, FIELD_IS_REQUIRED }, /* image */
    { 5566, 0, 7, 0, FIELD_IS_REQUIRED }, /* imageID */
    { 5574, 0, 8, 0, FIELD_OMIT_EMPTY }, /* containerID */
    { 5586, 4, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* started */
    { 2594, 39, 10, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2529, 209, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 3915, 307, 12, 0, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 1869, 309, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    { 5594, 313, 14, 0, FIELD_OMIT_EMPTY }, /* allocatedResourcesStatus */
    { 4454, 234, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stopSignal */
    /* v1.ContainerState */
    { 5619, 300, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* waiting */
    { 5627, 301, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* running */
    { 5635, 302, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminated */
    /* v1.ContainerStateWaiting */
    { 549, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ContainerStateRunning */
    { 5646, 2, 1, 0, FIELD_OMIT_EMPTY }, /* startedAt */
    /* v1.ContainerStateTerminated */
    { 5656, 25, 1, 0, FIELD_IS_REQUIRED }, /* exitCode */
    { 5665, 25, 2, 0, FIELD_OMIT_EMPTY }, /* signal */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 4, 0, FIELD_OMIT_EMPTY }, /* message */
    { 5646, 2, 5, 0, FIELD_OMIT_EMPTY }, /* startedAt */
    { 5672, 2, 6, 0, FIELD_OMIT_EMPTY }, /* finishedAt */
    { 5574, 0, 7, 0, FIELD_OMIT_EMPTY }, /* containerID */
    /* v1.VolumeMountStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 4234, 0, 2, 0, FIELD_IS_REQUIRED }, /* mountPath */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 4216, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnly */
    { 5683, 305, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeStatus */
    /* v1.VolumeStatus */
    { 1858, 304, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* image */
    /* v1.ImageVolumeStatus */
    { 5696, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* imageRef */
    /* v1.ContainerUser */
    { 5705, 308, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* linux */
    /* v1.LinuxContainerUser */
    { 70, 1, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 5711, 1, 2, 0, FIELD_IS_REQUIRED }, /* gid */
    { 4781, 252, 3, 0, FIELD_OMIT_EMPTY }, /* supplementalGroups */
    /* v1.ResourceStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2529, 311, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    /* v1.ResourceHealth */
    { 5715, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceID */
    { 5726, 0, 2, 0, FIELD_OMIT_EMPTY }, /* health */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* message */
    /* v1.PodResourceClaimStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5223, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    /* v1.PodExtendedResourceClaimStatus */
    { 5733, 320, 1, 0, FIELD_IS_REQUIRED }, /* requestMappings */
    { 5223, 0, 2, 0, FIELD_IS_REQUIRED }, /* resourceClaimName */
    /* v1.ContainerExtendedResourceRequest */
    { 3566, 0, 1, 0, FIELD_IS_REQUIRED }, /* containerName */
    { 4193, 0, 2, 0, FIELD_IS_REQUIRED }, /* resourceName */
    { 5749, 0, 3, 0, FIELD_IS_REQUIRED }, /* requestName */
    /* v1.NodeAllocatableResourceClaimStatus */
    { 5223, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceClaimName */
    { 2790, 60, 2, 0, FIELD_OMIT_EMPTY }, /* containers */
    { 5761, 323, 4, 0, FIELD_OMIT_EMPTY }, /* mapping */
    { 3218, 325, 5, 0, FIELD_OMIT_EMPTY }, /* overhead */
    /* v1.NodeAllocatableMappedResources */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5769, 38, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* quantity */
    /* v1.NodeAllocatableOverheadResources */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5778, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perPod */
    { 5785, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perContainer */
    /* v1.PodVolumeHealth */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2750, 148, 2, 0, FIELD_OMIT_EMPTY }, /* healthConditions */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.PodAttachOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4058, 4, 1, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 5798, 4, 2, 0, FIELD_OMIT_EMPTY }, /* stdout */
    { 5805, 4, 3, 0, FIELD_OMIT_EMPTY }, /* stderr */
    { 4074, 4, 4, 0, FIELD_OMIT_EMPTY }, /* tty */
    { 5812, 0, 5, 0, FIELD_OMIT_EMPTY }, /* container */
    /* v1.PodExecOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4058, 4, 1, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 5798, 4, 2, 0, FIELD_OMIT_EMPTY }, /* stdout */
    { 5805, 4, 3, 0, FIELD_OMIT_EMPTY }, /* stderr */
    { 4074, 4, 4, 0, FIELD_OMIT_EMPTY }, /* tty */
    { 5812, 0, 5, 0, FIELD_OMIT_EMPTY }, /* container */
    { 3847, 47, 6, 0, FIELD_IS_REQUIRED }, /* command */
    /* v1.PodList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 332, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PodLogOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 5812, 0, 1, 0, FIELD_OMIT_EMPTY }, /* container */
    { 5822, 4, 2, 0, FIELD_OMIT_EMPTY }, /* follow */
    { 5829, 4, 3, 0, FIELD_OMIT_EMPTY }, /* previous */
    { 5838, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sinceSeconds */
    { 5851, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sinceTime */
    { 5861, 4, 6, 0, FIELD_OMIT_EMPTY }, /* timestamps */
    { 5872, 1, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tailLines */
    { 5882, 1, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* limitBytes */
    { 5893, 4, 9, 0, FIELD_OMIT_EMPTY }, /* insecureSkipTLSVerifyBackend */
    { 5922, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stream */
    /* v1.PodPortForwardOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 471, 333, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.PodProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.PodTemplate */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 5929, 334, 2, 0, FIELD_OMIT_EMPTY }, /* template */
    /* v1.PodTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 292, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.PodTemplateList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 336, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RangeAllocation */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 5938, 0, 2, 0, FIELD_IS_REQUIRED }, /* range */
    { 419, 19, 3, 0, FIELD_IS_REQUIRED }, /* data */
    /* v1.ReplicationController */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 339, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 342, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ReplicationControllerSpec */
    { 5944, 337, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 5953, 338, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 400, 251, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    { 5929, 334, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* template */
    /* v1.ReplicationControllerStatus */
    { 5944, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5969, 25, 2, 0, FIELD_OMIT_EMPTY }, /* fullyLabeledReplicas */
    { 5990, 25, 4, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 6004, 25, 5, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 5280, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 319, 341, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 344, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceQuota */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 351, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 352, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ResourceQuotaSpec */
    { 6022, 39, 1, 0, FIELD_OMIT_EMPTY }, /* hard */
    { 6027, 346, 2, 0, FIELD_OMIT_EMPTY }, /* scopes */
    { 6034, 350, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scopeSelector */
    /* v1.ScopeSelector */
    { 2460, 349, 1, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    /* v1.ScopedResourceSelectorRequirement */
    { 6048, 345, 1, 0, FIELD_IS_REQUIRED }, /* scopeName */
    { 2489, 347, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.ResourceQuotaStatus */
    { 6022, 39, 1, 0, FIELD_OMIT_EMPTY }, /* hard */
    { 6058, 39, 2, 0, FIELD_OMIT_EMPTY }, /* used */
    /* v1.ResourceQuotaList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 354, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Secret */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 409, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* immutable */
    { 419, 20, 2, 0, FIELD_OMIT_EMPTY }, /* data */
    { 6063, 3, 4, 0, FIELD_OMIT_EMPTY }, /* stringData */
    { 330, 0, 3, 0, FIELD_OMIT_EMPTY }, /* type */
    /* v1.SecretList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 356, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.SerializedReference */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3826, 12, 1, 0, FIELD_OMIT_EMPTY }, /* reference */
    /* v1.Service */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 367, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 375, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ServiceSpec */
    { 471, 358, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 400, 251, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    { 6074, 0, 3, 0, FIELD_OMIT_EMPTY }, /* clusterIP */
    { 6084, 47, 18, 0, FIELD_OMIT_EMPTY }, /* clusterIPs */
    { 330, 359, 4, 0, FIELD_OMIT_EMPTY }, /* type */
    { 6095, 47, 5, 0, FIELD_OMIT_EMPTY }, /* externalIPs */
    { 6107, 360, 7, 0, FIELD_OMIT_EMPTY }, /* sessionAffinity */
    { 6123, 0, 8, 0, FIELD_OMIT_EMPTY }, /* loadBalancerIP */
    { 6138, 47, 9, 0, FIELD_OMIT_EMPTY }, /* loadBalancerSourceRanges */
    { 6163, 0, 10, 0, FIELD_OMIT_EMPTY }, /* externalName */
    { 6176, 361, 11, 0, FIELD_OMIT_EMPTY }, /* externalTrafficPolicy */
    { 6198, 25, 12, 0, FIELD_OMIT_EMPTY }, /* healthCheckNodePort */
    { 6218, 4, 13, 0, FIELD_OMIT_EMPTY }, /* publishNotReadyAddresses */
    { 6243, 363, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sessionAffinityConfig */
    { 6265, 365, 19, 0, FIELD_OMIT_EMPTY }, /* ipFamilies */
    { 6276, 366, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipFamilyPolicy */
    { 6291, 4, 20, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocateLoadBalancerNodePorts */
    { 6321, 0, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* loadBalancerClass */
    { 6339, 361, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* internalTrafficPolicy */
    { 6361, 0, 23, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* trafficDistribution */
    /* v1.ServicePort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 513, 194, 2, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 522, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appProtocol */
    { 508, 25, 3, 0, FIELD_IS_REQUIRED }, /* port */
    { 6381, 222, 4, 0, FIELD_OMIT_EMPTY }, /* targetPort */
    { 6392, 25, 5, 0, FIELD_OMIT_EMPTY }, /* nodePort */
    /* v1.SessionAffinityConfig */
    { 6401, 362, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clientIP */
    /* v1.ClientIPConfig */
    { 4346, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    /* v1.ServiceStatus */
    { 6410, 372, 1, 0, FIELD_OMIT_EMPTY }, /* loadBalancer */
    { 319, 374, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.LoadBalancerStatus */
    { 6423, 371, 1, 0, FIELD_OMIT_EMPTY }, /* ingress */
    /* v1.LoadBalancerIngress */
    { 477, 0, 1, 0, FIELD_OMIT_EMPTY }, /* ip */
    { 480, 0, 2, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 6431, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipMode */
    { 471, 369, 4, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.PortStatus */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 513, 26, 2, 0, FIELD_IS_REQUIRED }, /* protocol */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* error */
    /* v1.Condition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 5280, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 769, 2, 4, 0, FIELD_IS_REQUIRED }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_IS_REQUIRED }, /* reason */
    { 342, 0, 6, 0, FIELD_IS_REQUIRED }, /* message */
    /* v1.ServiceAccount */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6438, 376, 2, 0, FIELD_OMIT_EMPTY }, /* secrets */
    { 3039, 377, 3, 0, FIELD_OMIT_EMPTY }, /* imagePullSecrets */
    { 2944, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* automountServiceAccountToken */
    /* v1.ServiceAccountList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 379, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 381, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.MutatingAdmissionPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 401, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.MutatingAdmissionPolicySpec */
    { 6446, 382, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramKind */
    { 6456, 389, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchConstraints */
    { 6473, 391, 3, 0, FIELD_OMIT_EMPTY }, /* variables */
    { 6483, 396, 4, 0, FIELD_OMIT_EMPTY }, /* mutations */
    { 6493, 397, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6507, 399, 6, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    { 6523, 400, 7, 0, FIELD_OMIT_EMPTY }, /* reinvocationPolicy */
    /* v1.ParamKind */
    { 6, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1, 0, 2, 0, FIELD_OMIT_EMPTY }, /* kind */
    /* v1.MatchResources */
    { 5020, 134, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6542, 134, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6557, 387, 3, 0, FIELD_OMIT_EMPTY }, /* resourceRules */
    { 6571, 387, 4, 0, FIELD_OMIT_EMPTY }, /* excludeResourceRules */
    { 6592, 388, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    /* v1.NamedRuleWithOperations */
    { 6604, 47, 1, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    { 6618, 384, 1, 2, FIELD_OMIT_EMPTY }, /* operations */
    { 6629, 47, 1, 514, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 6639, 47, 2, 514, FIELD_OMIT_EMPTY }, /* apiVersions */
    { 2529, 47, 3, 514, FIELD_OMIT_EMPTY }, /* resources */
    { 6651, 385, 4, 514, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scope */
    /* v1.Variable */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6657, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.Mutation */
    { 6668, 392, 2, 0, FIELD_IS_REQUIRED }, /* patchType */
    { 6678, 393, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* applyConfiguration */
    { 6697, 394, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* jsonPatch */
    /* v1.ApplyConfiguration */
    { 6657, 0, 1, 0, FIELD_OMIT_EMPTY }, /* expression */
    /* v1.JSONPatch */
    { 6657, 0, 1, 0, FIELD_OMIT_EMPTY }, /* expression */
    /* v1.MatchCondition */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6657, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.MutatingAdmissionPolicyBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 403, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.MutatingAdmissionPolicyBindingSpec */
    { 6707, 0, 1, 0, FIELD_OMIT_EMPTY }, /* policyName */
    { 6718, 402, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramRef */
    { 6727, 389, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchResources */
    /* v1.ParamRef */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 2, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 400, 134, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 6742, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parameterNotFoundAction */
    /* v1.MutatingAdmissionPolicyBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 405, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.MutatingAdmissionPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 407, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.MutatingWebhookConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6766, 414, 2, 0, FIELD_OMIT_EMPTY }, /* webhooks */
    /* v1.MutatingWebhook */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6775, 409, 2, 0, FIELD_IS_REQUIRED }, /* clientConfig */
    { 6788, 411, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    { 6493, 397, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6592, 388, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    { 5020, 134, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6542, 134, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6794, 412, 6, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* sideEffects */
    { 4346, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 6806, 47, 8, 0, FIELD_IS_REQUIRED }, /* admissionReviewVersions */
    { 6523, 400, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reinvocationPolicy */
    { 6507, 399, 12, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    /* v1.WebhookClientConfig */
    { 6830, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* url */
    { 4428, 408, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 6834, 19, 2, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 1421, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* path */
    { 508, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.RuleWithOperations */
    { 6618, 384, 1, 0, FIELD_OMIT_EMPTY }, /* operations */
    { 6629, 47, 1, 2, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 6639, 47, 2, 2, FIELD_OMIT_EMPTY }, /* apiVersions */
    { 2529, 47, 3, 2, FIELD_OMIT_EMPTY }, /* resources */
    { 6651, 385, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scope */
    /* v1.MutatingWebhookConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 416, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingAdmissionPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 422, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 427, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ValidatingAdmissionPolicySpec */
    { 6446, 382, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramKind */
    { 6456, 389, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchConstraints */
    { 6843, 418, 3, 0, FIELD_OMIT_EMPTY }, /* validations */
    { 6493, 397, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6855, 420, 5, 0, FIELD_OMIT_EMPTY }, /* auditAnnotations */
    { 6507, 399, 6, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    { 6473, 421, 7, 0, FIELD_OMIT_EMPTY }, /* variables */
    /* v1.Validation */
    { 6657, 0, 1, 0, FIELD_IS_REQUIRED }, /* expression */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reason */
    { 6872, 0, 4, 0, FIELD_OMIT_EMPTY }, /* messageExpression */
    /* v1.AuditAnnotation */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 6890, 0, 2, 0, FIELD_IS_REQUIRED }, /* valueExpression */
    /* v1.ValidatingAdmissionPolicyStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 6906, 425, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* typeChecking */
    { 319, 426, 3, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.TypeChecking */
    { 6919, 424, 1, 0, FIELD_OMIT_EMPTY }, /* expressionWarnings */
    /* v1.ExpressionWarning */
    { 3540, 0, 2, 0, FIELD_IS_REQUIRED }, /* fieldRef */
    { 6938, 0, 3, 0, FIELD_IS_REQUIRED }, /* warning */
    /* v1.ValidatingAdmissionPolicyBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 430, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    /* v1.ValidatingAdmissionPolicyBindingSpec */
    { 6707, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* policyName */
    { 6718, 402, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramRef */
    { 6727, 389, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchResources */
    { 6946, 429, 4, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* validationActions */
    /* v1.ValidatingAdmissionPolicyBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 432, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingAdmissionPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 434, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingWebhookConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6766, 436, 2, 0, FIELD_OMIT_EMPTY }, /* webhooks */
    /* v1.ValidatingWebhook */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6775, 409, 2, 0, FIELD_IS_REQUIRED }, /* clientConfig */
    { 6788, 411, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    { 6493, 397, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6592, 388, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    { 5020, 134, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6542, 134, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6794, 412, 6, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* sideEffects */
    { 4346, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 6806, 47, 8, 0, FIELD_IS_REQUIRED }, /* admissionReviewVersions */
    { 6507, 399, 11, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    /* v1.ValidatingWebhookConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 438, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ConversionReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4185, 439, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* request */
    { 6964, 444, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* response */
    /* v1.ConversionRequest */
    { 70, 0, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 6973, 0, 2, 0, FIELD_IS_REQUIRED }, /* desiredAPIVersion */
    { 6991, 46, 3, 0, FIELD_IS_REQUIRED }, /* objects */
    /* v1.ConversionResponse */
    { 70, 0, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 6999, 46, 2, 0, FIELD_IS_REQUIRED }, /* convertedObjects */
    { 7016, 443, 3, 0, FIELD_IS_REQUIRED }, /* result */
    /* v1.Status */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 7023, 442, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* details */
    { 7031, 25, 6, 0, FIELD_OMIT_EMPTY }, /* code */
    /* v1.StatusDetails */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 2149, 0, 2, 0, FIELD_OMIT_EMPTY }, /* group */
    { 1, 0, 3, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 70, 0, 6, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 7036, 441, 4, 0, FIELD_OMIT_EMPTY }, /* causes */
    { 7043, 25, 5, 0, FIELD_OMIT_EMPTY }, /* retryAfterSeconds */
    /* v1.StatusCause */
    { 549, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 7061, 0, 3, 0, FIELD_OMIT_EMPTY }, /* field */
    /* v1.CustomResourceDefinition */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 472, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 475, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CustomResourceDefinitionSpec */
    { 2149, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 1300, 445, 3, 0, FIELD_IS_REQUIRED }, /* names */
    { 6651, 0, 4, 0, FIELD_IS_REQUIRED }, /* scope */
    { 7067, 467, 7, 0, FIELD_IS_REQUIRED }, /* versions */
    { 7076, 471, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* conversion */
    { 7087, 4, 10, 0, FIELD_OMIT_EMPTY }, /* preserveUnknownFields */
    /* v1.CustomResourceDefinitionNames */
    { 7109, 0, 1, 0, FIELD_IS_REQUIRED }, /* plural */
    { 7116, 0, 2, 0, FIELD_OMIT_EMPTY }, /* singular */
    { 7125, 47, 3, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 1, 0, 4, 0, FIELD_IS_REQUIRED }, /* kind */
    { 7136, 0, 5, 0, FIELD_OMIT_EMPTY }, /* listKind */
    { 7145, 47, 6, 0, FIELD_OMIT_EMPTY }, /* categories */
    /* v1.CustomResourceDefinitionVersion */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 7156, 4, 2, 0, FIELD_IS_REQUIRED }, /* served */
    { 7163, 4, 3, 0, FIELD_IS_REQUIRED }, /* storage */
    { 7171, 4, 7, 0, FIELD_OMIT_EMPTY }, /* deprecated */
    { 7182, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deprecationWarning */
    { 7201, 458, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schema */
    { 7208, 461, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* subresources */
    { 7221, 463, 6, 0, FIELD_OMIT_EMPTY }, /* additionalPrinterColumns */
    { 7246, 465, 9, 0, FIELD_OMIT_EMPTY }, /* selectableFields */
    /* v1.CustomResourceValidation */
    { 7263, 449, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* openAPIV3Schema */
    /* v1.JSONSchemaProps */
    { 7279, 0, 1, 0, FIELD_OMIT_EMPTY }, /* id */
    { 7282, 0, 2, 0, FIELD_OMIT_EMPTY }, /* $schema */
    { 7290, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* $ref */
    { 7295, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 330, 0, 5, 0, FIELD_OMIT_EMPTY }, /* type */
    { 7307, 0, 6, 0, FIELD_OMIT_EMPTY }, /* format */
    { 7314, 0, 7, 0, FIELD_OMIT_EMPTY }, /* title */
    { 719, 446, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* default */
    { 7320, 447, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maximum */
    { 7328, 4, 10, 0, FIELD_OMIT_EMPTY }, /* exclusiveMaximum */
    { 7345, 447, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minimum */
    { 7353, 4, 12, 0, FIELD_OMIT_EMPTY }, /* exclusiveMinimum */
    { 7370, 1, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxLength */
    { 7380, 1, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minLength */
    { 7390, 0, 15, 0, FIELD_OMIT_EMPTY }, /* pattern */
    { 7398, 1, 16, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxItems */
    { 7407, 1, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minItems */
    { 7416, 4, 18, 0, FIELD_OMIT_EMPTY }, /* uniqueItems */
    { 7428, 447, 19, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* multipleOf */
    { 7439, 448, 20, 0, FIELD_OMIT_EMPTY }, /* enum */
    { 7444, 1, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxProperties */
    { 7458, 1, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minProperties */
    { 2433, 47, 23, 0, FIELD_OMIT_EMPTY }, /* required */
    { 356, 450, 24, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* items */
    { 7472, 451, 25, 0, FIELD_OMIT_EMPTY }, /* allOf */
    { 7478, 451, 26, 0, FIELD_OMIT_EMPTY }, /* oneOf */
    { 7484, 451, 27, 0, FIELD_OMIT_EMPTY }, /* anyOf */
    { 7490, 449, 28, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* not */
    { 7494, 452, 29, 0, FIELD_OMIT_EMPTY }, /* properties */
    { 7505, 450, 30, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* additionalProperties */
    { 7526, 452, 31, 0, FIELD_OMIT_EMPTY }, /* patternProperties */
    { 7544, 453, 32, 0, FIELD_OMIT_EMPTY }, /* dependencies */
    { 7557, 450, 33, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* additionalItems */
    { 7573, 452, 34, 0, FIELD_OMIT_EMPTY }, /* definitions */
    { 7585, 454, 35, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* externalDocs */
    { 7598, 446, 36, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* example */
    { 7606, 4, 37, 0, FIELD_OMIT_EMPTY }, /* nullable */
    { 7615, 4, 38, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-preserve-unknown-fields */
    { 7652, 4, 39, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-embedded-resource */
    { 7683, 4, 40, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-int-or-string */
    { 7710, 47, 41, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-list-map-keys */
    { 7737, 0, 42, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-list-type */
    { 7760, 0, 43, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-map-type */
    { 7782, 457, 44, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-validations */
    /* v1.ExternalDocumentation */
    { 7295, 0, 1, 0, FIELD_OMIT_EMPTY }, /* description */
    { 6830, 0, 2, 0, FIELD_OMIT_EMPTY }, /* url */
    /* v1.ValidationRule */
    { 7807, 0, 1, 0, FIELD_IS_REQUIRED }, /* rule */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 6872, 0, 3, 0, FIELD_OMIT_EMPTY }, /* messageExpression */
    { 549, 455, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reason */
    { 309, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fieldPath */
    { 7812, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optionalOldSelf */
    /* v1.CustomResourceSubresources */
    { 335, 459, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* status */
    { 7828, 460, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scale */
    /* v1.CustomResourceSubresourceStatus */
    /* v1.CustomResourceSubresourceScale */
    { 7834, 0, 1, 0, FIELD_IS_REQUIRED }, /* specReplicasPath */
    { 7851, 0, 2, 0, FIELD_IS_REQUIRED }, /* statusReplicasPath */
    { 7870, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelectorPath */
    /* v1.CustomResourceColumnDefinition */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 330, 0, 2, 0, FIELD_IS_REQUIRED }, /* type */
    { 7307, 0, 3, 0, FIELD_OMIT_EMPTY }, /* format */
    { 7295, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 3131, 25, 5, 0, FIELD_OMIT_EMPTY }, /* priority */
    { 7888, 0, 6, 0, FIELD_IS_REQUIRED }, /* jsonPath */
    /* v1.SelectableField */
    { 7888, 0, 1, 0, FIELD_IS_REQUIRED }, /* jsonPath */
    /* v1.CustomResourceConversion */
    { 7897, 0, 1, 0, FIELD_IS_REQUIRED }, /* strategy */
    { 7906, 470, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* webhook */
    /* v1.WebhookConversion */
    { 6775, 469, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clientConfig */
    { 7914, 47, 3, 0, FIELD_IS_REQUIRED }, /* conversionReviewVersions */
    /* v1.WebhookClientConfig */
    { 6830, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* url */
    { 4428, 468, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 6834, 19, 2, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 1421, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* path */
    { 508, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.CustomResourceDefinitionStatus */
    { 319, 474, 1, 0, 0 }, /* conditions */
    { 7939, 445, 2, 0, 0 }, /* acceptedNames */
    { 7953, 47, 3, 0, 0 }, /* storedVersions */
    { 5280, 1, 4, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    /* v1.CustomResourceDefinitionCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    { 5280, 1, 6, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    /* v1.CustomResourceDefinitionList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 477, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.APIService */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 479, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 482, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.APIServiceSpec */
    { 4428, 478, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 2149, 0, 2, 0, FIELD_OMIT_EMPTY }, /* group */
    { 7968, 0, 3, 0, FIELD_OMIT_EMPTY }, /* version */
    { 7976, 4, 4, 0, FIELD_OMIT_EMPTY }, /* insecureSkipTLSVerify */
    { 6834, 19, 5, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    { 7998, 25, 7, 0, FIELD_IS_REQUIRED }, /* groupPriorityMinimum */
    { 8019, 25, 8, 0, FIELD_IS_REQUIRED }, /* versionPriority */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 2, 0, FIELD_OMIT_EMPTY }, /* name */
    { 508, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.APIServiceStatus */
    { 319, 481, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 484, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ControllerRevision */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 419, 45, 2, 0, FIELD_IS_REQUIRED }, /* data */
    { 3478, 1, 3, 0, 0 }, /* revision */
    /* v1.ControllerRevisionList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 486, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DaemonSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 490, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 493, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DaemonSetSpec */
    { 400, 134, 1, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 334, 2, 0, FIELD_IS_REQUIRED }, /* template */
    { 8035, 489, 3, 0, FIELD_OMIT_EMPTY }, /* updateStrategy */
    { 5953, 25, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8050, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    /* v1.DaemonSetUpdateStrategy */
    { 330, 487, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8071, 488, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateDaemonSet */
    { 8085, 222, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 8100, 222, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxSurge */
    /* v1.DaemonSetStatus */
    { 8109, 25, 1, 0, FIELD_IS_REQUIRED }, /* currentNumberScheduled */
    { 8132, 25, 2, 0, FIELD_IS_REQUIRED }, /* numberMisscheduled */
    { 8151, 25, 3, 0, FIELD_IS_REQUIRED }, /* desiredNumberScheduled */
    { 8174, 25, 4, 0, FIELD_IS_REQUIRED }, /* numberReady */
    { 5280, 1, 5, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 8186, 25, 6, 0, FIELD_OMIT_EMPTY }, /* updatedNumberScheduled */
    { 8209, 25, 7, 0, FIELD_OMIT_EMPTY }, /* numberAvailable */
    { 8225, 25, 8, 0, FIELD_OMIT_EMPTY }, /* numberUnavailable */
    { 8243, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    { 319, 492, 10, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.DaemonSetCondition */
    { 330, 0, 1, 0, 0 }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.DaemonSetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 495, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Deployment */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 499, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 502, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DeploymentSpec */
    { 5944, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 400, 134, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 334, 3, 0, FIELD_IS_REQUIRED }, /* template */
    { 7897, 498, 4, 0, FIELD_OMIT_EMPTY }, /* strategy */
    { 5953, 25, 5, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8050, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    { 8258, 4, 7, 0, FIELD_OMIT_EMPTY }, /* paused */
    { 8265, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* progressDeadlineSeconds */
    /* v1.DeploymentStrategy */
    { 330, 496, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8071, 497, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateDeployment */
    { 8085, 222, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 8100, 222, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxSurge */
    /* v1.DeploymentStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 5944, 25, 2, 0, FIELD_OMIT_EMPTY }, /* replicas */
    { 8289, 25, 3, 0, FIELD_OMIT_EMPTY }, /* updatedReplicas */
    { 5990, 25, 7, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 6004, 25, 4, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 8305, 25, 5, 0, FIELD_OMIT_EMPTY }, /* unavailableReplicas */
    { 8325, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminatingReplicas */
    { 319, 501, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 8243, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    /* v1.DeploymentCondition */
    { 330, 0, 1, 0, 0 }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    { 8345, 2, 6, 0, FIELD_OMIT_EMPTY }, /* lastUpdateTime */
    { 769, 2, 7, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.DeploymentList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 504, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ReplicaSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 505, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 508, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ReplicaSetSpec */
    { 5944, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 5953, 25, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 400, 134, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 334, 3, 0, FIELD_OMIT_EMPTY }, /* template */
    /* v1.ReplicaSetStatus */
    { 5944, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5969, 25, 2, 0, FIELD_OMIT_EMPTY }, /* fullyLabeledReplicas */
    { 5990, 25, 4, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 6004, 25, 5, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 8325, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminatingReplicas */
    { 5280, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 319, 507, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ReplicaSetCondition */
    { 330, 0, 1, 0, 0 }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ReplicaSetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 510, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StatefulSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 517, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 520, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.StatefulSetSpec */
    { 5944, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 400, 134, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 334, 3, 0, FIELD_IS_REQUIRED }, /* template */
    { 8360, 152, 4, 0, FIELD_OMIT_EMPTY }, /* volumeClaimTemplates */
    { 8381, 0, 5, 0, 0 }, /* serviceName */
    { 8393, 511, 6, 0, FIELD_OMIT_EMPTY }, /* podManagementPolicy */
    { 8035, 514, 7, 0, FIELD_OMIT_EMPTY }, /* updateStrategy */
    { 8050, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    { 5953, 25, 9, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8413, 515, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeClaimRetentionPolicy */
    { 8450, 516, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ordinals */
    /* v1.StatefulSetUpdateStrategy */
    { 330, 512, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8071, 513, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateStatefulSetStrategy */
    { 1785, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* partition */
    { 8085, 222, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    /* v1.StatefulSetPersistentVolumeClaimRetentionPolicy */
    { 8459, 0, 1, 0, FIELD_OMIT_EMPTY }, /* whenDeleted */
    { 8471, 0, 2, 0, FIELD_OMIT_EMPTY }, /* whenScaled */
    /* v1.StatefulSetOrdinals */
    { 8482, 25, 1, 0, 0 }, /* start */
    /* v1.StatefulSetStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 5944, 25, 2, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5990, 25, 3, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 8488, 25, 4, 0, FIELD_OMIT_EMPTY }, /* currentReplicas */
    { 8289, 25, 5, 0, FIELD_OMIT_EMPTY }, /* updatedReplicas */
    { 8504, 0, 6, 0, FIELD_OMIT_EMPTY }, /* currentRevision */
    { 8520, 0, 7, 0, FIELD_OMIT_EMPTY }, /* updateRevision */
    { 8243, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    { 319, 519, 10, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 6004, 25, 11, 0, 0 }, /* availableReplicas */
    /* v1.StatefulSetCondition */
    { 330, 0, 1, 0, 0 }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.StatefulSetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 522, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.SelfSubjectReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 525, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectReviewStatus */
    { 8535, 524, 1, 0, FIELD_OMIT_EMPTY }, /* userInfo */
    /* v1.UserInfo */
    { 8544, 0, 1, 0, FIELD_OMIT_EMPTY }, /* username */
    { 70, 0, 2, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 8553, 47, 3, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 8560, 523, 4, 0, FIELD_OMIT_EMPTY }, /* extra */
    /* v1.TokenRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 527, 2, 0, 0 }, /* spec */
    { 335, 528, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.TokenRequestSpec */
    { 8566, 47, 1, 0, 0 }, /* audiences */
    { 3668, 1, 4, 0, FIELD_POINTER }, /* expirationSeconds */
    { 8576, 526, 3, 0, FIELD_POINTER }, /* boundObjectRef */
    { 8591, 523, 5, 0, FIELD_OMIT_EMPTY }, /* attestations */
    /* v1.BoundObjectReference */
    { 1, 0, 1, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 2, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 33, 0, 3, 0, FIELD_OMIT_EMPTY }, /* name */
    { 70, 0, 4, 0, FIELD_OMIT_EMPTY }, /* uid */
    /* v1.TokenRequestStatus */
    { 8604, 0, 1, 0, 0 }, /* token */
    { 8610, 2, 2, 0, 0 }, /* expirationTimestamp */
    /* v1.TokenReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 529, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 530, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.TokenReviewSpec */
    { 8604, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* token */
    { 8566, 47, 2, 0, FIELD_OMIT_EMPTY }, /* audiences */
    /* v1.TokenReviewStatus */
    { 8630, 4, 1, 0, FIELD_OMIT_EMPTY }, /* authenticated */
    { 1869, 524, 2, 0, FIELD_OMIT_EMPTY }, /* user */
    { 8566, 47, 4, 0, FIELD_OMIT_EMPTY }, /* audiences */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY }, /* error */
    /* v1.LocalSubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 537, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 538, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SubjectAccessReviewSpec */
    { 8644, 535, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceAttributes */
    { 8663, 536, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nonResourceAttributes */
    { 1869, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 8553, 47, 4, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 8560, 523, 5, 0, FIELD_OMIT_EMPTY }, /* extra */
    { 70, 0, 6, 0, FIELD_OMIT_EMPTY }, /* uid */
    /* v1.ResourceAttributes */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 8685, 0, 2, 0, FIELD_OMIT_EMPTY }, /* verb */
    { 2149, 0, 3, 0, FIELD_OMIT_EMPTY }, /* group */
    { 7968, 0, 4, 0, FIELD_OMIT_EMPTY }, /* version */
    { 3580, 0, 5, 0, FIELD_OMIT_EMPTY }, /* resource */
    { 297, 0, 6, 0, FIELD_OMIT_EMPTY }, /* subresource */
    { 33, 0, 7, 0, FIELD_OMIT_EMPTY }, /* name */
    { 8690, 533, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldSelector */
    { 3697, 534, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    /* v1.FieldSelectorAttributes */
    { 8704, 0, 1, 0, FIELD_OMIT_EMPTY }, /* rawSelector */
    { 8716, 532, 2, 0, FIELD_OMIT_EMPTY }, /* requirements */
    /* v1.FieldSelectorRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2489, 0, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.LabelSelectorAttributes */
    { 8704, 0, 1, 0, FIELD_OMIT_EMPTY }, /* rawSelector */
    { 8716, 133, 2, 0, FIELD_OMIT_EMPTY }, /* requirements */
    /* v1.NonResourceAttributes */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 8685, 0, 2, 0, FIELD_OMIT_EMPTY }, /* verb */
    /* v1.SubjectAccessReviewStatus */
    { 8729, 4, 1, 0, FIELD_IS_REQUIRED }, /* allowed */
    { 8737, 4, 4, 0, FIELD_OMIT_EMPTY }, /* denied */
    { 549, 0, 2, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 8744, 0, 3, 0, FIELD_OMIT_EMPTY }, /* evaluationError */
    /* v1.SelfSubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 539, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 538, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectAccessReviewSpec */
    { 8644, 535, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceAttributes */
    { 8663, 536, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nonResourceAttributes */
    /* v1.SelfSubjectRulesReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 540, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 545, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectRulesReviewSpec */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.SubjectRulesReviewStatus */
    { 6557, 542, 1, 0, FIELD_IS_REQUIRED }, /* resourceRules */
    { 8760, 544, 2, 0, FIELD_IS_REQUIRED }, /* nonResourceRules */
    { 8777, 4, 3, 0, FIELD_IS_REQUIRED }, /* incomplete */
    { 8744, 0, 4, 0, FIELD_OMIT_EMPTY }, /* evaluationError */
    /* v1.ResourceRule */
    { 8788, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6629, 47, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 2529, 47, 3, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6604, 47, 4, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    /* v1.NonResourceRule */
    { 8788, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 8794, 47, 2, 0, FIELD_OMIT_EMPTY }, /* nonResourceURLs */
    /* v1.SubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 537, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 538, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.HorizontalPodAutoscaler */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 547, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 548, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.HorizontalPodAutoscalerSpec */
    { 8810, 546, 1, 0, FIELD_IS_REQUIRED }, /* scaleTargetRef */
    { 8825, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minReplicas */
    { 8837, 25, 3, 0, FIELD_IS_REQUIRED }, /* maxReplicas */
    { 8849, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetCPUUtilizationPercentage */
    /* v1.CrossVersionObjectReference */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    /* v1.HorizontalPodAutoscalerStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    { 8880, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScaleTime */
    { 8488, 25, 3, 0, FIELD_IS_REQUIRED }, /* currentReplicas */
    { 8894, 25, 4, 0, FIELD_IS_REQUIRED }, /* desiredReplicas */
    { 8910, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* currentCPUUtilizationPercentage */
    /* v1.HorizontalPodAutoscalerList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 550, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Scale */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 551, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 552, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ScaleSpec */
    { 5944, 338, 1, 0, FIELD_OMIT_EMPTY }, /* replicas */
    /* v1.ScaleStatus */
    { 5944, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 400, 0, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    /* v2.HorizontalPodAutoscaler */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 567, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 578, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v2.HorizontalPodAutoscalerSpec */
    { 8810, 553, 1, 0, FIELD_IS_REQUIRED }, /* scaleTargetRef */
    { 8825, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minReplicas */
    { 8837, 25, 3, 0, FIELD_IS_REQUIRED }, /* maxReplicas */
    { 8942, 562, 4, 0, FIELD_OMIT_EMPTY }, /* metrics */
    { 8950, 566, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* behavior */
    /* v2.CrossVersionObjectReference */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    /* v2.MetricSpec */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 8959, 556, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* object */
    { 8966, 557, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pods */
    { 3580, 558, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    { 8971, 559, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerResource */
    { 8989, 560, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* external */
    /* v2.ObjectMetricSource */
    { 8998, 553, 1, 0, FIELD_IS_REQUIRED }, /* describedObject */
    { 26, 554, 2, 0, FIELD_IS_REQUIRED }, /* target */
    { 9014, 555, 3, 0, FIELD_IS_REQUIRED }, /* metric */
    /* v2.MetricTarget */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 885, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    { 9021, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageValue */
    { 9034, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageUtilization */
    /* v2.MetricIdentifier */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 400, 134, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    /* v2.PodsMetricSource */
    { 9014, 555, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 26, 554, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.ResourceMetricSource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 26, 554, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.ContainerResourceMetricSource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 26, 554, 2, 0, FIELD_IS_REQUIRED }, /* target */
    { 5812, 0, 3, 0, FIELD_IS_REQUIRED }, /* container */
    /* v2.ExternalMetricSource */
    { 9014, 555, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 26, 554, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.HorizontalPodAutoscalerBehavior */
    { 9053, 565, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleUp */
    { 9061, 565, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleDown */
    /* v2.HPAScalingRules */
    { 9071, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stabilizationWindowSeconds */
    { 9098, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selectPolicy */
    { 9111, 564, 2, 0, FIELD_OMIT_EMPTY }, /* policies */
    { 9120, 38, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerance */
    /* v2.HPAScalingPolicy */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 885, 25, 2, 0, FIELD_IS_REQUIRED }, /* value */
    { 4361, 25, 3, 0, FIELD_IS_REQUIRED }, /* periodSeconds */
    /* v2.HorizontalPodAutoscalerStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    { 8880, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScaleTime */
    { 8488, 25, 3, 0, FIELD_OMIT_EMPTY }, /* currentReplicas */
    { 8894, 25, 4, 0, FIELD_IS_REQUIRED }, /* desiredReplicas */
    { 9130, 575, 5, 0, 0 }, /* currentMetrics */
    { 319, 577, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v2.MetricStatus */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 8959, 569, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* object */
    { 8966, 570, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pods */
    { 3580, 571, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    { 8971, 572, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerResource */
    { 8989, 573, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* external */
    /* v2.ObjectMetricStatus */
    { 9014, 555, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9145, 568, 2, 0, FIELD_IS_REQUIRED }, /* current */
    { 8998, 553, 3, 0, FIELD_IS_REQUIRED }, /* describedObject */
    /* v2.MetricValueStatus */
    { 885, 38, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    { 9021, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageValue */
    { 9034, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageUtilization */
    /* v2.PodsMetricStatus */
    { 9014, 555, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9145, 568, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.ResourceMetricStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 9145, 568, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.ContainerResourceMetricStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 9145, 568, 2, 0, FIELD_IS_REQUIRED }, /* current */
    { 5812, 0, 3, 0, FIELD_IS_REQUIRED }, /* container */
    /* v2.ExternalMetricStatus */
    { 9014, 555, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9145, 568, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.HorizontalPodAutoscalerCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    { 5280, 1, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    /* v2.HorizontalPodAutoscalerList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 580, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CronJob */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 609, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 611, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CronJobSpec */
    { 9153, 0, 1, 0, FIELD_IS_REQUIRED }, /* schedule */
    { 9162, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeZone */
    { 9171, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startingDeadlineSeconds */
    { 9195, 581, 3, 0, FIELD_OMIT_EMPTY }, /* concurrencyPolicy */
    { 9213, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* suspend */
    { 9221, 608, 5, 0, FIELD_IS_REQUIRED }, /* jobTemplate */
    { 9233, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* successfulJobsHistoryLimit */
    { 9260, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failedJobsHistoryLimit */
    /* v1.JobTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 607, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.JobSpec */
    { 9283, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parallelism */
    { 9295, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completions */
    { 2865, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* activeDeadlineSeconds */
    { 9307, 589, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podFailurePolicy */
    { 9324, 592, 16, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* successPolicy */
    { 9338, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* backoffLimit */
    { 9351, 25, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* backoffLimitPerIndex */
    { 9372, 25, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxFailedIndexes */
    { 400, 134, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 9389, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* manualSelector */
    { 5929, 334, 6, 0, FIELD_IS_REQUIRED }, /* template */
    { 9404, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ttlSecondsAfterFinished */
    { 9428, 593, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completionMode */
    { 9213, 4, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* suspend */
    { 9443, 594, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podReplacementPolicy */
    { 9464, 0, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* managedBy */
    { 9474, 606, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scheduling */
    /* v1.PodFailurePolicy */
    { 6788, 588, 1, 0, FIELD_IS_REQUIRED }, /* rules */
    /* v1.PodFailurePolicyRule */
    { 615, 582, 1, 0, FIELD_IS_REQUIRED }, /* action */
    { 9485, 584, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* onExitCodes */
    { 9497, 586, 3, 0, FIELD_OMIT_EMPTY }, /* onPodConditions */
    /* v1.PodFailurePolicyOnExitCodesRequirement */
    { 3566, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerName */
    { 2489, 583, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 212, 3, 0, FIELD_IS_REQUIRED }, /* values */
    /* v1.PodFailurePolicyOnPodConditionsPattern */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    /* v1.SuccessPolicy */
    { 6788, 591, 1, 0, FIELD_IS_REQUIRED }, /* rules */
    /* v1.SuccessPolicyRule */
    { 9513, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* succeededIndexes */
    { 9530, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* succeededCount */
    /* v1.JobSchedulingConfiguration */
    { 9545, 597, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingPolicy */
    { 9562, 600, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingConstraints */
    { 9584, 603, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* disruptionMode */
    { 3300, 605, 4, 0, FIELD_OMIT_EMPTY }, /* resourceClaims */
    /* v1alpha3.WorkloadPodGroupSchedulingPolicy */
    { 9599, 595, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* basic */
    { 9605, 596, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gang */
    /* v1alpha3.WorkloadPodGroupBasicSchedulingPolicy */
    /* v1alpha3.WorkloadPodGroupGangSchedulingPolicy */
    { 9610, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minCount */
    /* v1alpha3.WorkloadPodGroupSchedulingConstraints */
    { 9619, 599, 1, 0, FIELD_OMIT_EMPTY }, /* topology */
    /* v1alpha3.TopologyConstraint */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    /* v1alpha3.WorkloadPodGroupDisruptionMode */
    { 9628, 601, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* single */
    { 9635, 602, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* all */
    /* v1alpha3.WorkloadPodGroupSingleDisruptionMode */
    /* v1alpha3.WorkloadPodGroupAllDisruptionMode */
    /* v1alpha3.WorkloadPodGroupResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5223, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    { 5241, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimTemplateName */
    /* v1.CronJobStatus */
    { 1336, 610, 1, 0, FIELD_OMIT_EMPTY }, /* active */
    { 9639, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScheduleTime */
    { 9656, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastSuccessfulTime */
    /* v1.CronJobList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 613, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Job */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 607, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 617, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.JobStatus */
    { 319, 615, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 5338, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startTime */
    { 9675, 2, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completionTime */
    { 1336, 25, 4, 0, FIELD_OMIT_EMPTY }, /* active */
    { 9690, 25, 5, 0, FIELD_OMIT_EMPTY }, /* succeeded */
    { 9700, 25, 6, 0, FIELD_OMIT_EMPTY }, /* failed */
    { 9707, 25, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminating */
    { 9719, 0, 7, 0, FIELD_OMIT_EMPTY }, /* completedIndexes */
    { 9736, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failedIndexes */
    { 9750, 616, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* uncountedTerminatedPods */
    { 5547, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ready */
    /* v1.JobCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2704, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.UncountedTerminatedPods */
    { 9690, 60, 1, 0, FIELD_OMIT_EMPTY }, /* succeeded */
    { 9700, 60, 2, 0, FIELD_OMIT_EMPTY }, /* failed */
    /* v1.JobList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 619, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CertificateSigningRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 622, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 625, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CertificateSigningRequestSpec */
    { 4185, 19, 1, 0, FIELD_IS_REQUIRED }, /* request */
    { 3686, 0, 7, 0, FIELD_IS_REQUIRED }, /* signerName */
    { 3668, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    { 9774, 621, 5, 0, FIELD_OMIT_EMPTY }, /* usages */
    { 8544, 0, 2, 0, FIELD_OMIT_EMPTY }, /* username */
    { 70, 0, 3, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 8553, 47, 4, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 8560, 523, 6, 0, FIELD_OMIT_EMPTY }, /* extra */
    /* v1.CertificateSigningRequestStatus */
    { 319, 624, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 9781, 19, 2, 0, FIELD_OMIT_EMPTY }, /* certificate */
    /* v1.CertificateSigningRequestCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 6, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 8345, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastUpdateTime */
    { 769, 2, 5, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.CertificateSigningRequestList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 627, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterTrustBundle */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 628, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ClusterTrustBundleSpec */
    { 3686, 0, 1, 0, FIELD_OMIT_EMPTY }, /* signerName */
    { 9793, 0, 2, 0, FIELD_IS_REQUIRED }, /* trustBundle */
    /* v1.ClusterTrustBundleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 630, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PodCertificateRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 632, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 633, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodCertificateRequestSpec */
    { 3686, 0, 1, 0, FIELD_IS_REQUIRED }, /* signerName */
    { 9805, 0, 2, 0, FIELD_IS_REQUIRED }, /* podName */
    { 9813, 0, 3, 0, FIELD_IS_REQUIRED }, /* podUID */
    { 2910, 0, 4, 0, FIELD_IS_REQUIRED }, /* serviceAccountName */
    { 9820, 0, 5, 0, FIELD_IS_REQUIRED }, /* serviceAccountUID */
    { 489, 0, 6, 0, FIELD_IS_REQUIRED }, /* nodeName */
    { 9838, 0, 7, 0, FIELD_IS_REQUIRED }, /* nodeUID */
    { 3719, 631, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxExpirationSeconds */
    { 9846, 19, 12, 0, FIELD_IS_REQUIRED }, /* stubPKCS10Request */
    { 9864, 3, 11, 0, FIELD_OMIT_EMPTY }, /* unverifiedUserAnnotations */
    /* v1.PodCertificateRequestStatus */
    { 319, 374, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 9890, 0, 2, 0, FIELD_OMIT_EMPTY }, /* certificateChain */
    { 9907, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* notBefore */
    { 9917, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* beginRefreshAt */
    { 9932, 2, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* notAfter */
    /* v1.PodCertificateRequestList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 635, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Lease */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 636, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.LeaseSpec */
    { 9941, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* holderIdentity */
    { 9956, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* leaseDurationSeconds */
    { 9977, 34, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* acquireTime */
    { 9989, 34, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* renewTime */
    { 9999, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* leaseTransitions */
    { 7897, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* strategy */
    { 10016, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preferredHolder */
    /* v1.LeaseList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 638, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.EndpointSlice */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10032, 0, 4, 0, FIELD_IS_REQUIRED }, /* addressType */
    { 1813, 646, 2, 0, 0 }, /* endpoints */
    { 471, 648, 3, 0, 0 }, /* ports */
    /* v1.Endpoint */
    { 443, 60, 1, 0, FIELD_IS_REQUIRED }, /* addresses */
    { 319, 639, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 480, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostname */
    { 498, 12, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetRef */
    { 10044, 3, 5, 0, FIELD_OMIT_EMPTY }, /* deprecatedTopology */
    { 489, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 10063, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* zone */
    { 10068, 644, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hints */
    /* v1.EndpointConditions */
    { 5547, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ready */
    { 10074, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serving */
    { 9707, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminating */
    /* v1.EndpointHints */
    { 10082, 641, 1, 0, FIELD_OMIT_EMPTY }, /* forZones */
    { 10091, 643, 2, 0, FIELD_OMIT_EMPTY }, /* forNodes */
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
    { 356, 650, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Event */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_IS_REQUIRED }, /* metadata */
    { 598, 34, 2, 0, FIELD_IS_REQUIRED }, /* eventTime */
    { 608, 651, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* series */
    { 10100, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reportingController */
    { 649, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reportingInstance */
    { 615, 0, 6, 0, FIELD_OMIT_EMPTY }, /* action */
    { 549, 0, 7, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 10120, 12, 8, 0, FIELD_OMIT_EMPTY }, /* regarding */
    { 622, 12, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* related */
    { 10130, 0, 10, 0, FIELD_OMIT_EMPTY }, /* note */
    { 330, 0, 11, 0, FIELD_OMIT_EMPTY }, /* type */
    { 10135, 33, 12, 0, FIELD_OMIT_EMPTY }, /* deprecatedSource */
    { 10152, 2, 13, 0, FIELD_OMIT_EMPTY }, /* deprecatedFirstTimestamp */
    { 10177, 2, 14, 0, FIELD_OMIT_EMPTY }, /* deprecatedLastTimestamp */
    { 10201, 25, 15, 0, FIELD_OMIT_EMPTY }, /* deprecatedCount */
    /* v1.EventSeries */
    { 592, 25, 1, 0, FIELD_IS_REQUIRED }, /* count */
    { 682, 34, 2, 0, FIELD_IS_REQUIRED }, /* lastObservedTime */
    /* v1.EventList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 653, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.FlowSchema */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 667, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 670, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.FlowSchemaSpec */
    { 10217, 654, 1, 0, FIELD_IS_REQUIRED }, /* priorityLevelConfiguration */
    { 10244, 25, 2, 0, 0 }, /* matchingPrecedence */
    { 10263, 655, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* distinguisherMethod */
    { 6788, 666, 4, 0, FIELD_OMIT_EMPTY }, /* rules */
    /* v1.PriorityLevelConfigurationReference */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.FlowDistinguisherMethod */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    /* v1.PolicyRulesWithSubjects */
    { 10283, 660, 1, 0, FIELD_IS_REQUIRED }, /* subjects */
    { 6557, 662, 2, 0, FIELD_OMIT_EMPTY }, /* resourceRules */
    { 8760, 664, 3, 0, FIELD_OMIT_EMPTY }, /* nonResourceRules */
    /* v1.Subject */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 1869, 656, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    { 2149, 657, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* group */
    { 2929, 658, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccount */
    /* v1.UserSubject */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.GroupSubject */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ServiceAccountSubject */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ResourcePolicyRule */
    { 8788, 60, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6629, 60, 2, 0, FIELD_IS_REQUIRED }, /* apiGroups */
    { 2529, 60, 3, 0, FIELD_IS_REQUIRED }, /* resources */
    { 10292, 4, 4, 0, FIELD_OMIT_EMPTY }, /* clusterScope */
    { 4997, 60, 5, 0, 0 }, /* namespaces */
    /* v1.NonResourcePolicyRule */
    { 8788, 60, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 8794, 60, 6, 0, FIELD_IS_REQUIRED }, /* nonResourceURLs */
    /* v1.FlowSchemaStatus */
    { 319, 669, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.FlowSchemaCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* type */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.FlowSchemaList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 672, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PriorityLevelConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 677, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 680, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PriorityLevelConfigurationSpec */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 10305, 675, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* limited */
    { 10313, 676, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exempt */
    /* v1.LimitedPriorityLevelConfiguration */
    { 10320, 25, 1, 0, FIELD_POINTER }, /* nominalConcurrencyShares */
    { 10345, 674, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* limitResponse */
    { 10359, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lendablePercent */
    { 10375, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* borrowingLimitPercent */
    /* v1.LimitResponse */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 10397, 673, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* queuing */
    /* v1.QueuingConfiguration */
    { 10405, 25, 1, 0, 0 }, /* queues */
    { 10412, 25, 2, 0, 0 }, /* handSize */
    { 10421, 25, 3, 0, 0 }, /* queueLengthLimit */
    /* v1.ExemptPriorityLevelConfiguration */
    { 10320, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nominalConcurrencyShares */
    { 10359, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lendablePercent */
    /* v1.PriorityLevelConfigurationStatus */
    { 319, 679, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.PriorityLevelConfigurationCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* type */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 769, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.PriorityLevelConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 682, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.IPAddress */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 684, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    /* v1.IPAddressSpec */
    { 10438, 683, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parentRef */
    /* v1.ParentReference */
    { 2149, 0, 1, 0, FIELD_OMIT_EMPTY }, /* group */
    { 3580, 0, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* resource */
    { 51, 0, 3, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 4, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* name */
    /* v1.IPAddressList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 686, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Ingress */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 697, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 703, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.IngressSpec */
    { 10448, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ingressClassName */
    { 10465, 689, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultBackend */
    { 10480, 691, 2, 0, FIELD_OMIT_EMPTY }, /* tls */
    { 6788, 696, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    /* v1.IngressBackend */
    { 4428, 688, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 3580, 136, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    /* v1.IngressServiceBackend */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 508, 687, 2, 0, FIELD_OMIT_EMPTY }, /* port */
    /* v1.ServiceBackendPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 10484, 25, 2, 0, FIELD_OMIT_EMPTY }, /* number */
    /* v1.IngressTLS */
    { 10491, 47, 1, 0, FIELD_OMIT_EMPTY }, /* hosts */
    { 2051, 0, 2, 0, FIELD_OMIT_EMPTY }, /* secretName */
    /* v1.IngressRule */
    { 677, 0, 1, 0, FIELD_OMIT_EMPTY }, /* host */
    { 10497, 694, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* http */
    /* v1.HTTPIngressRuleValue */
    { 10502, 693, 1, 0, FIELD_IS_REQUIRED }, /* paths */
    /* v1.HTTPIngressPath */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 10508, 0, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* pathType */
    { 10517, 689, 2, 0, FIELD_IS_REQUIRED }, /* backend */
    /* v1.IngressStatus */
    { 6410, 702, 1, 0, FIELD_OMIT_EMPTY }, /* loadBalancer */
    /* v1.IngressLoadBalancerStatus */
    { 6423, 701, 1, 0, FIELD_OMIT_EMPTY }, /* ingress */
    /* v1.IngressLoadBalancerIngress */
    { 477, 0, 1, 0, FIELD_OMIT_EMPTY }, /* ip */
    { 480, 0, 2, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 471, 699, 4, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.IngressPortStatus */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 513, 26, 2, 0, FIELD_IS_REQUIRED }, /* protocol */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* error */
    /* v1.IngressClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 705, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.IngressClassSpec */
    { 224, 0, 1, 0, FIELD_OMIT_EMPTY }, /* controller */
    { 10525, 704, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parameters */
    /* v1.IngressClassParametersReference */
    { 2585, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 6651, 0, 4, 0, FIELD_POINTER }, /* scope */
    { 51, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespace */
    /* v1.IngressClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 707, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.IngressList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 709, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.NetworkPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 721, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.NetworkPolicySpec */
    { 10536, 134, 1, 0, 0 }, /* podSelector */
    { 6423, 716, 2, 0, FIELD_OMIT_EMPTY }, /* ingress */
    { 10548, 718, 3, 0, FIELD_OMIT_EMPTY }, /* egress */
    { 10555, 720, 4, 0, FIELD_OMIT_EMPTY }, /* policyTypes */
    /* v1.NetworkPolicyIngressRule */
    { 471, 711, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 10567, 714, 2, 0, FIELD_OMIT_EMPTY }, /* from */
    /* v1.NetworkPolicyPort */
    { 513, 26, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* protocol */
    { 508, 222, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    { 10572, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* endPort */
    /* v1.NetworkPolicyPeer */
    { 10536, 134, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podSelector */
    { 5020, 134, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 10580, 712, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipBlock */
    /* v1.IPBlock */
    { 10588, 0, 1, 0, FIELD_IS_REQUIRED }, /* cidr */
    { 10593, 47, 2, 0, FIELD_OMIT_EMPTY }, /* except */
    /* v1.NetworkPolicyEgressRule */
    { 471, 711, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 10600, 714, 2, 0, FIELD_OMIT_EMPTY }, /* to */
    /* v1.NetworkPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 723, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceCIDR */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 724, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 725, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ServiceCIDRSpec */
    { 10603, 47, 1, 0, FIELD_OMIT_EMPTY }, /* cidrs */
    /* v1.ServiceCIDRStatus */
    { 319, 374, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ServiceCIDRList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 727, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RuntimeClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10609, 0, 2, 0, FIELD_IS_REQUIRED }, /* handler */
    { 3218, 728, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* overhead */
    { 9474, 729, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scheduling */
    /* v1.Overhead */
    { 10617, 39, 1, 0, FIELD_OMIT_EMPTY }, /* podFixed */
    /* v1.Scheduling */
    { 2897, 251, 1, 0, FIELD_OMIT_EMPTY }, /* nodeSelector */
    { 3089, 271, 2, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    /* v1.RuntimeClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 731, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Eviction */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10626, 733, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deleteOptions */
    /* v1.DeleteOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 10640, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gracePeriodSeconds */
    { 10659, 732, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preconditions */
    { 10673, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* orphanDependents */
    { 10690, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* propagationPolicy */
    { 10708, 47, 5, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 10715, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ignoreStoreReadErrorWithClusterBreakingPotential */
    /* v1.Preconditions */
    { 70, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* uid */
    { 74, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceVersion */
    /* v1.PodDisruptionBudget */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 736, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 738, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodDisruptionBudgetSpec */
    { 10764, 222, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minAvailable */
    { 400, 734, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 8085, 222, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 10777, 735, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* unhealthyPodEvictionPolicy */
    /* v1.PodDisruptionBudgetStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 10804, 737, 2, 0, FIELD_OMIT_EMPTY }, /* disruptedPods */
    { 10818, 25, 3, 0, 0 }, /* disruptionsAllowed */
    { 10837, 25, 4, 0, 0 }, /* currentHealthy */
    { 10852, 25, 5, 0, 0 }, /* desiredHealthy */
    { 10867, 25, 6, 0, 0 }, /* expectedPods */
    { 319, 374, 7, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.PodDisruptionBudgetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 740, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterRole */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6788, 742, 2, 0, 0 }, /* rules */
    { 10880, 744, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* aggregationRule */
    /* v1.PolicyRule */
    { 8788, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6629, 47, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 2529, 47, 3, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6604, 47, 4, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    { 8794, 47, 5, 0, FIELD_OMIT_EMPTY }, /* nonResourceURLs */
    /* v1.AggregationRule */
    { 10896, 743, 1, 0, FIELD_OMIT_EMPTY }, /* clusterRoleSelectors */
    /* v1.ClusterRoleBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10283, 746, 2, 0, FIELD_OMIT_EMPTY }, /* subjects */
    { 10917, 747, 3, 0, FIELD_IS_REQUIRED }, /* roleRef */
    /* v1.Subject */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 2585, 0, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroup */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 51, 0, 4, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.RoleRef */
    { 2585, 0, 1, 0, 0 }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ClusterRoleBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 749, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterRoleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 751, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Role */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6788, 742, 2, 0, 0 }, /* rules */
    /* v1.RoleBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10283, 746, 2, 0, FIELD_OMIT_EMPTY }, /* subjects */
    { 10917, 747, 3, 0, FIELD_IS_REQUIRED }, /* roleRef */
    /* v1.RoleBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 753, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RoleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 755, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DeviceClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 762, 2, 0, 0 }, /* spec */
    /* v1.DeviceClassSpec */
    { 10925, 758, 1, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 1041, 761, 2, 0, FIELD_OMIT_EMPTY }, /* config */
    { 10935, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* extendedResourceName */
    /* v1.DeviceSelector */
    { 10956, 756, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cel */
    /* v1.CELDeviceSelector */
    { 6657, 0, 1, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.DeviceClassConfiguration */
    { 10960, 759, 1, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.OpaqueDeviceConfiguration */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 10525, 45, 2, 0, FIELD_IS_REQUIRED }, /* parameters */
    /* v1.DeviceClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 764, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DeviceTaintRule */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 768, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 769, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DeviceTaintRuleSpec */
    { 10967, 765, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deviceSelector */
    { 10982, 767, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* taint */
    /* v1.DeviceTaintSelector */
    { 2036, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* driver */
    { 1864, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pool */
    { 10988, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* device */
    /* v1.DeviceTaint */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 766, 3, 0, FIELD_IS_REQUIRED }, /* effect */
    { 898, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeAdded */
    /* v1.DeviceTaintRuleStatus */
    { 319, 374, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.DeviceTaintRuleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 771, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceClaim */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 788, 2, 0, 0 }, /* spec */
    { 335, 803, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ResourceClaimSpec */
    { 10995, 787, 1, 0, 0 }, /* devices */
    /* v1.DeviceClaim */
    { 2576, 782, 1, 0, 0 }, /* requests */
    { 11003, 784, 2, 0, FIELD_OMIT_EMPTY }, /* constraints */
    { 1041, 786, 3, 0, FIELD_OMIT_EMPTY }, /* config */
    /* v1.DeviceRequest */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11015, 778, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exactly */
    { 11023, 780, 3, 0, FIELD_OMIT_EMPTY }, /* firstAvailable */
    /* v1.ExactDeviceRequest */
    { 11038, 0, 1, 0, FIELD_IS_REQUIRED }, /* deviceClassName */
    { 10925, 758, 2, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 11054, 0, 3, 0, FIELD_OMIT_EMPTY }, /* allocationMode */
    { 592, 1, 4, 0, FIELD_OMIT_EMPTY }, /* count */
    { 11069, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* adminAccess */
    { 3089, 774, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 959, 775, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 11081, 777, 8, 0, FIELD_OMIT_EMPTY }, /* derivedAttributes */
    /* v1.DeviceToleration */
    { 881, 0, 1, 0, FIELD_OMIT_EMPTY }, /* key */
    { 2489, 772, 2, 0, FIELD_OMIT_EMPTY }, /* operator */
    { 885, 0, 3, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 766, 4, 0, FIELD_OMIT_EMPTY }, /* effect */
    { 5087, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerationSeconds */
    /* v1.CapacityRequirements */
    { 2576, 39, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    /* v1.DeviceDerivedAttribute */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6657, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.DeviceSubRequest */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11038, 0, 2, 0, FIELD_IS_REQUIRED }, /* deviceClassName */
    { 10925, 758, 3, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 11054, 0, 4, 0, FIELD_OMIT_EMPTY }, /* allocationMode */
    { 592, 1, 5, 0, FIELD_OMIT_EMPTY }, /* count */
    { 3089, 774, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 959, 775, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 11081, 777, 8, 0, FIELD_OMIT_EMPTY }, /* derivedAttributes */
    /* v1.DeviceConstraint */
    { 2576, 47, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 11099, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchAttribute */
    { 11114, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* distinctAttribute */
    /* v1.DeviceClaimConfiguration */
    { 2576, 47, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 10960, 759, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.ResourceClaimStatus */
    { 11132, 797, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocation */
    { 11143, 799, 2, 0, FIELD_OMIT_EMPTY }, /* reservedFor */
    { 10995, 802, 4, 0, FIELD_OMIT_EMPTY }, /* devices */
    /* v1.AllocationResult */
    { 10995, 796, 1, 0, FIELD_OMIT_EMPTY }, /* devices */
    { 2897, 127, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 11155, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocationTimestamp */
    /* v1.DeviceAllocationResult */
    { 11175, 792, 1, 0, FIELD_OMIT_EMPTY }, /* results */
    { 1041, 795, 2, 0, FIELD_OMIT_EMPTY }, /* config */
    /* v1.DeviceRequestAllocationResult */
    { 4185, 0, 1, 0, FIELD_IS_REQUIRED }, /* request */
    { 2036, 0, 2, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1864, 0, 3, 0, FIELD_IS_REQUIRED }, /* pool */
    { 10988, 0, 4, 0, FIELD_IS_REQUIRED }, /* device */
    { 11069, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* adminAccess */
    { 3089, 774, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 11183, 47, 7, 0, FIELD_OMIT_EMPTY }, /* bindingConditions */
    { 11201, 47, 8, 0, FIELD_OMIT_EMPTY }, /* bindingFailureConditions */
    { 11226, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareID */
    { 11234, 39, 10, 0, FIELD_OMIT_EMPTY }, /* consumedCapacity */
    { 11251, 790, 11, 0, FIELD_OMIT_EMPTY }, /* skipNodeOperations */
    /* v1.DeviceAllocationConfiguration */
    { 556, 793, 1, 0, FIELD_IS_REQUIRED }, /* source */
    { 2576, 47, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 10960, 759, 1, 3, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.ResourceClaimConsumerReference */
    { 2585, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiGroup */
    { 3580, 0, 3, 0, FIELD_IS_REQUIRED }, /* resource */
    { 33, 0, 4, 0, FIELD_IS_REQUIRED }, /* name */
    { 70, 0, 5, 0, FIELD_IS_REQUIRED }, /* uid */
    /* v1.AllocatedDeviceStatus */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1864, 0, 2, 0, FIELD_IS_REQUIRED }, /* pool */
    { 10988, 0, 3, 0, FIELD_IS_REQUIRED }, /* device */
    { 11226, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareID */
    { 319, 426, 4, 0, 0 }, /* conditions */
    { 419, 45, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* data */
    { 11270, 800, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* networkData */
    /* v1.NetworkDeviceData */
    { 11282, 0, 1, 0, FIELD_OMIT_EMPTY }, /* interfaceName */
    { 11296, 47, 2, 0, FIELD_OMIT_EMPTY }, /* ips */
    { 11300, 0, 3, 0, FIELD_OMIT_EMPTY }, /* hardwareAddress */
    /* v1.ResourceClaimList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 805, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceClaimTemplate */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 806, 2, 0, 0 }, /* spec */
    /* v1.ResourceClaimTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 788, 2, 0, 0 }, /* spec */
    /* v1.ResourceClaimTemplateList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 808, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceSlice */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 831, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ResourceSliceSpec */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1864, 809, 2, 0, FIELD_IS_REQUIRED }, /* pool */
    { 489, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 2897, 127, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 11316, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allNodes */
    { 10995, 828, 6, 0, FIELD_OMIT_EMPTY }, /* devices */
    { 11325, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perDeviceNodeSelection */
    { 11348, 830, 8, 0, FIELD_OMIT_EMPTY }, /* sharedCounters */
    { 11363, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* partitionTypeAttribute */
    { 11251, 790, 10, 0, FIELD_OMIT_EMPTY }, /* skipNodeOperations */
    /* v1.ResourcePool */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 90, 1, 2, 0, FIELD_IS_REQUIRED }, /* generation */
    { 11386, 1, 3, 0, FIELD_IS_REQUIRED }, /* resourceSliceCount */
    /* v1.Device */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11405, 812, 2, 0, FIELD_OMIT_EMPTY }, /* attributes */
    { 959, 817, 3, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 11416, 821, 4, 0, FIELD_OMIT_EMPTY }, /* consumesCounters */
    { 489, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 2897, 127, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 11316, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allNodes */
    { 830, 822, 8, 0, FIELD_OMIT_EMPTY }, /* taints */
    { 11433, 4, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* bindsToNode */
    { 11183, 47, 10, 0, FIELD_OMIT_EMPTY }, /* bindingConditions */
    { 11201, 47, 11, 0, FIELD_OMIT_EMPTY }, /* bindingFailureConditions */
    { 11445, 4, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowMultipleAllocations */
    { 11470, 826, 14, 0, FIELD_OMIT_EMPTY }, /* nodeAllocatableResources */
    /* v1.DeviceAttribute */
    { 11495, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* int */
    { 11499, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* bool */
    { 11504, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* string */
    { 7968, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* version */
    { 11511, 252, 6, 0, FIELD_OMIT_EMPTY }, /* ints */
    { 11516, 810, 7, 0, FIELD_OMIT_EMPTY }, /* bools */
    { 11522, 47, 8, 0, FIELD_OMIT_EMPTY }, /* strings */
    { 7067, 47, 9, 0, FIELD_OMIT_EMPTY }, /* versions */
    /* v1.DeviceCapacity */
    { 885, 38, 1, 0, FIELD_IS_REQUIRED }, /* value */
    { 11530, 815, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestPolicy */
    /* v1.CapacityRequestPolicy */
    { 719, 38, 1, 0, FIELD_POINTER }, /* default */
    { 11544, 813, 3, 0, FIELD_OMIT_EMPTY }, /* validValues */
    { 11556, 814, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* validRange */
    /* v1.CapacityRequestPolicyRange */
    { 715, 38, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY | FIELD_POINTER }, /* min */
    { 711, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* max */
    { 11567, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* step */
    /* v1.DeviceCounterConsumption */
    { 11572, 0, 1, 0, FIELD_IS_REQUIRED }, /* counterSet */
    { 11583, 819, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* counters */
    { 11592, 47, 3, 0, FIELD_OMIT_EMPTY }, /* compatibilityGroups */
    /* v1.Counter */
    { 885, 38, 1, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.NodeAllocatableResource */
    { 5761, 823, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mapping */
    { 3218, 824, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* overhead */
    /* v1.NodeAllocatableMapping */
    { 11612, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacityKey */
    { 11624, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacityMultiplier */
    { 11643, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deviceMultiplier */
    /* v1.NodeAllocatableOverhead */
    { 5778, 38, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perPod */
    { 5785, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perContainer */
    /* v1.CounterSet */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11583, 819, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* counters */
    /* v1.ResourceSliceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 833, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PriorityClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 885, 25, 2, 0, 0 }, /* value */
    { 11660, 4, 3, 0, FIELD_OMIT_EMPTY }, /* globalDefault */
    { 7295, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 3201, 279, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preemptionPolicy */
    /* v1.PriorityClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 835, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSIDriver */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 838, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.CSIDriverSpec */
    { 11674, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* attachRequired */
    { 11689, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podInfoOnMount */
    { 11704, 60, 3, 0, FIELD_OMIT_EMPTY }, /* volumeLifecycleModes */
    { 11725, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageCapacity */
    { 11741, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroupPolicy */
    { 11755, 837, 6, 0, FIELD_OMIT_EMPTY }, /* tokenRequests */
    { 11769, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requiresRepublish */
    { 11787, 4, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxMount */
    { 11800, 1, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAllocatableUpdatePeriodSeconds */
    { 11835, 4, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccountTokenInSecrets */
    { 11864, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preventPodSchedulingIfMissing */
    /* v1.TokenRequest */
    { 3659, 0, 1, 0, FIELD_IS_REQUIRED }, /* audience */
    { 3668, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    /* v1.CSIDriverList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 840, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSINode */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 844, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 850, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CSINodeSpec */
    { 11894, 843, 1, 0, FIELD_IS_REQUIRED }, /* drivers */
    /* v1.CSINodeDriver */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11902, 0, 2, 0, FIELD_IS_REQUIRED }, /* nodeID */
    { 11909, 47, 3, 0, 0 }, /* topologyKeys */
    { 968, 841, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocatable */
    /* v1.VolumeNodeResources */
    { 592, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* count */
    /* v1.CSINodeStatus */
    { 11922, 849, 1, 0, FIELD_OMIT_EMPTY }, /* storageHealth */
    /* v1.StorageHealth */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2750, 847, 2, 0, FIELD_OMIT_EMPTY }, /* healthConditions */
    /* v1.StorageHealthCondition */
    { 335, 845, 1, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_IS_REQUIRED }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 11936, 118, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* accessMode */
    { 1721, 121, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 769, 2, 6, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.CSINodeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 852, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSIStorageCapacity */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 11947, 134, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeTopology */
    { 1691, 0, 3, 0, FIELD_IS_REQUIRED }, /* storageClassName */
    { 959, 38, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 11960, 38, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maximumVolumeSize */
    /* v1.CSIStorageCapacityList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 854, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StorageClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 11978, 0, 2, 0, FIELD_IS_REQUIRED }, /* provisioner */
    { 10525, 3, 3, 0, FIELD_OMIT_EMPTY }, /* parameters */
    { 11990, 120, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reclaimPolicy */
    { 1708, 47, 5, 0, FIELD_OMIT_EMPTY }, /* mountOptions */
    { 12004, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowVolumeExpansion */
    { 12025, 855, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeBindingMode */
    { 12043, 859, 8, 0, FIELD_OMIT_EMPTY }, /* allowedTopologies */
    /* v1.TopologySelectorTerm */
    { 12061, 857, 1, 0, FIELD_OMIT_EMPTY }, /* matchLabelExpressions */
    /* v1.TopologySelectorLabelRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2498, 47, 2, 0, FIELD_IS_REQUIRED }, /* values */
    /* v1.StorageClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 861, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.VolumeAttachment */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 863, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 865, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.VolumeAttachmentSpec */
    { 12083, 0, 1, 0, FIELD_IS_REQUIRED }, /* attacher */
    { 556, 862, 2, 0, FIELD_IS_REQUIRED }, /* source */
    { 489, 0, 3, 0, FIELD_IS_REQUIRED }, /* nodeName */
    /* v1.VolumeAttachmentSource */
    { 12092, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeName */
    { 12113, 129, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* inlineVolumeSpec */
    /* v1.VolumeAttachmentStatus */
    { 12130, 4, 1, 0, FIELD_IS_REQUIRED }, /* attached */
    { 12139, 3, 2, 0, FIELD_OMIT_EMPTY }, /* attachmentMetadata */
    { 12158, 864, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* attachError */
    { 12170, 864, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* detachError */
    /* v1.VolumeError */
    { 272, 2, 1, 0, FIELD_OMIT_EMPTY }, /* time */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 12182, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* errorCode */
    /* v1.VolumeAttachmentList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 867, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.VolumeAttributesClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 12192, 0, 2, 0, FIELD_IS_REQUIRED }, /* driverName */
    { 10525, 3, 3, 0, FIELD_OMIT_EMPTY }, /* parameters */
    /* v1.VolumeAttributesClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 869, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StorageVersionMigration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 871, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 872, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.StorageVersionMigrationSpec */
    { 3580, 870, 1, 0, FIELD_IS_REQUIRED }, /* resource */
    /* v1.GroupResource */
    { 2149, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 3580, 0, 2, 0, FIELD_IS_REQUIRED }, /* resource */
    /* v1.StorageVersionMigrationStatus */
    { 319, 374, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 74, 0, 2, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    /* v1.StorageVersionMigrationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 874, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CreateOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 10708, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 12203, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 12216, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.UpdateOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 10708, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 12203, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 12216, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.PatchOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 10708, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 12232, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* force */
    { 12203, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 12216, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.GetOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 74, 0, 1, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    /* v1.ListOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3697, 0, 1, 0, FIELD_OMIT_EMPTY }, /* labelSelector */
    { 8690, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fieldSelector */
    { 12238, 4, 3, 0, FIELD_OMIT_EMPTY }, /* watch */
    { 12244, 4, 9, 0, FIELD_OMIT_EMPTY }, /* allowWatchBookmarks */
    { 74, 0, 4, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 12264, 0, 10, 0, FIELD_OMIT_EMPTY }, /* resourceVersionMatch */
    { 4346, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 12285, 1, 7, 0, FIELD_OMIT_EMPTY }, /* limit */
    { 362, 0, 8, 0, FIELD_OMIT_EMPTY }, /* continue */
    { 12291, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sendInitialEvents */
    { 12309, 0, 15, 0, FIELD_OMIT_EMPTY }, /* shardSelector */
    /* v1.WatchEvent */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 8959, 45, 2, 0, FIELD_IS_REQUIRED }, /* object */
    /* v1.Table */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 0, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 12323, 876, 0, 0, FIELD_IS_REQUIRED }, /* columnDefinitions */
    { 12341, 880, 0, 0, FIELD_IS_REQUIRED }, /* rows */
    /* v1.TableColumnDefinition */
    { 33, 0, 0, 0, FIELD_IS_REQUIRED }, /* name */
    { 330, 0, 0, 0, FIELD_IS_REQUIRED }, /* type */
    { 7307, 0, 0, 0, FIELD_IS_REQUIRED }, /* format */
    { 7295, 0, 0, 0, FIELD_IS_REQUIRED }, /* description */
    { 3131, 25, 0, 0, FIELD_IS_REQUIRED }, /* priority */
    /* v1.TableRow */
    { 12346, 448, 0, 0, FIELD_IS_REQUIRED }, /* cells */
    { 319, 878, 0, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 8959, 45, 0, 0, FIELD_OMIT_EMPTY }, /* object */
    /* v1.TableRowCondition */
    { 330, 0, 0, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 0, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 0, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 0, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.TableOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 12352, 0, 1, 0, FIELD_OMIT_EMPTY }, /* includeObject */
    /* v1.PartialObjectMetadata */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    /* v1.PartialObjectMetadataList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 882, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.APIGroup */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 7067, 884, 2, 0, FIELD_IS_REQUIRED }, /* versions */
    { 12366, 883, 3, 0, FIELD_OMIT_EMPTY }, /* preferredVersion */
    { 12383, 886, 4, 0, FIELD_OMIT_EMPTY }, /* serverAddressByClientCIDRs */
    /* v1.GroupVersionForDiscovery */
    { 12410, 0, 1, 0, FIELD_IS_REQUIRED }, /* groupVersion */
    { 7968, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    /* v1.ServerAddressByClientCIDR */
    { 12423, 0, 1, 0, FIELD_IS_REQUIRED }, /* clientCIDR */
    { 12434, 0, 2, 0, FIELD_IS_REQUIRED }, /* serverAddress */
    /* v1.APIGroupList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 8553, 888, 1, 0, FIELD_IS_REQUIRED }, /* groups */
    /* v1.APIResourceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 12410, 0, 1, 0, FIELD_IS_REQUIRED }, /* groupVersion */
    { 2529, 890, 2, 0, FIELD_IS_REQUIRED }, /* resources */
    /* v1.APIResource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 12448, 0, 6, 0, FIELD_IS_REQUIRED }, /* singularName */
    { 12461, 4, 2, 0, FIELD_IS_REQUIRED }, /* namespaced */
    { 2149, 0, 8, 0, FIELD_OMIT_EMPTY }, /* group */
    { 7968, 0, 9, 0, FIELD_OMIT_EMPTY }, /* version */
    { 1, 0, 3, 0, FIELD_IS_REQUIRED }, /* kind */
    { 8788, 47, 4, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 7125, 47, 5, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 7145, 47, 7, 0, FIELD_OMIT_EMPTY }, /* categories */
    { 12472, 0, 10, 0, FIELD_OMIT_EMPTY }, /* storageVersionHash */
    /* v1.APIVersions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 7067, 47, 1, 0, FIELD_IS_REQUIRED }, /* versions */
    { 12383, 886, 2, 0, FIELD_IS_REQUIRED }, /* serverAddressByClientCIDRs */
};

const struct builtin_type_row builtin_types[] = {
    { 12491, 12518, 0, 4 },
    { 12529, 12577, 4, 15 },
    { 12591, 12643, 19, 6 },
    { 12661, 12717, 25, 7 },
    { 12739, 12774, 32, 7 },
    { 12793, 12828, 39, 4 },
    { 12847, 12885, 43, 4 },
    { 12907, 12946, 47, 4 },
    { 12969, 13015, 51, 5 },
    { 13027, 13074, 56, 1 },
    { 13087, 13116, 57, 6 },
    { 13129, 13162, 63, 4 },
    { 13179, 13208, 67, 4 },
    { 13221, 13255, 71, 3 },
    { 13273, 13308, 74, 4 },
    { 13327, 13359, 78, 4 },
    { 13375, 13408, 82, 4 },
    { 13425, 13450, 86, 17 },
    { 13459, 13490, 103, 2 },
    { 13505, 13536, 105, 2 },
    { 13551, 13580, 107, 4 },
    { 13593, 13623, 111, 4 },
    { 13637, 13671, 115, 1 },
    { 13689, 13723, 116, 6 },
    { 13741, 13775, 122, 4 },
    { 13793, 13817, 126, 4 },
    { 13825, 13854, 130, 5 },
    { 13867, 13900, 135, 1 },
    { 13917, 13952, 136, 2 },
    { 13971, 14009, 138, 5 },
    { 14031, 14064, 143, 4 },
    { 14081, 14105, 147, 5 },
    { 14113, 14141, 152, 8 },
    { 14153, 14178, 160, 4 },
    { 14187, 14223, 164, 1 },
    { 14243, 14288, 165, 5 },
    { 14317, 14360, 170, 1 },
    { 14387, 14417, 171, 14 },
    { 14431, 14464, 185, 6 },
    { 14481, 14512, 191, 2 },
    { 14527, 14566, 193, 1 },
    { 14589, 14623, 194, 1 },
    { 14641, 14675, 195, 12 },
    { 14693, 14727, 207, 1 },
    { 14745, 14779, 208, 2 },
    { 14797, 14831, 210, 2 },
    { 14849, 14885, 212, 4 },
    { 14905, 14943, 216, 2 },
    { 14965, 15011, 218, 2 },
    { 15041, 15073, 220, 1 },
    { 15089, 15117, 221, 4 },
    { 15129, 15165, 225, 3 },
    { 15185, 15221, 228, 5 },
    { 15241, 15281, 233, 31 },
    { 15305, 15354, 264, 4 },
    { 15387, 15439, 268, 4 },
    { 15475, 15515, 272, 2 },
    { 15539, 15590, 274, 4 },
    { 15625, 15660, 278, 3 },
    { 15679, 15724, 281, 8 },
    { 15753, 15788, 289, 2 },
    { 15807, 15854, 291, 11 },
    { 15885, 15933, 302, 4 },
    { 15965, 16013, 306, 6 },
    { 16045, 16079, 312, 5 },
    { 16097, 16136, 317, 2 },
    { 16159, 16205, 319, 5 },
    { 16235, 16286, 324, 4 },
    { 16321, 16371, 328, 4 },
    { 16405, 16444, 332, 6 },
    { 16467, 16508, 338, 6 },
    { 16533, 16585, 344, 2 },
    { 16621, 16661, 346, 3 },
    { 16685, 16734, 349, 10 },
    { 16767, 16804, 359, 2 },
    { 16825, 16876, 361, 5 },
    { 16911, 16956, 366, 10 },
    { 16985, 17023, 376, 1 },
    { 17045, 17077, 377, 1 },
    { 17093, 17129, 378, 2 },
    { 17149, 17192, 380, 3 },
    { 17219, 17261, 383, 4 },
    { 17287, 17328, 387, 5 },
    { 17353, 17398, 392, 9 },
    { 17427, 17478, 401, 2 },
    { 17495, 17557, 403, 3 },
    { 17585, 17631, 406, 2 },
    { 17661, 17706, 408, 3 },
    { 17735, 17775, 411, 4 },
    { 17799, 17846, 415, 9 },
    { 17877, 17927, 424, 6 },
    { 17961, 17999, 430, 2 },
    { 18021, 18059, 432, 2 },
    { 18081, 18122, 434, 3 },
    { 18147, 18192, 437, 4 },
    { 18221, 18261, 441, 4 },
    { 18285, 18308, 445, 5 },
    { 18315, 18342, 450, 43 },
    { 18353, 18379, 493, 31 },
    { 18389, 18429, 524, 3 },
    { 18453, 18492, 527, 3 },
    { 18515, 18553, 530, 5 },
    { 18575, 18604, 535, 4 },
    { 18617, 18654, 539, 11 },
    { 18675, 18715, 550, 1 },
    { 18739, 18780, 551, 3 },
    { 18805, 18858, 554, 2 },
    { 18895, 18930, 556, 8 },
    { 18949, 18985, 564, 5 },
    { 19005, 19043, 569, 4 },
    { 19065, 19103, 573, 6 },
    { 19125, 19168, 579, 3 },
    { 19195, 19236, 582, 5 },
    { 19261, 19300, 587, 2 },
    { 19323, 19364, 589, 3 },
    { 19389, 19430, 592, 3 },
    { 19455, 19496, 595, 5 },
    { 19521, 19562, 600, 3 },
    { 19587, 19623, 603, 6 },
    { 19643, 19679, 609, 3 },
    { 19699, 19740, 612, 1 },
    { 19765, 19804, 613, 3 },
    { 19827, 19876, 616, 4 },
    { 19909, 19957, 620, 6 },
    { 19989, 20033, 626, 8 },
    { 20061, 20100, 634, 10 },
    { 20123, 20164, 644, 5 },
    { 20189, 20224, 649, 5 },
    { 20243, 20284, 654, 1 },
    { 20309, 20358, 655, 2 },
    { 20391, 20428, 657, 2 },
    { 20449, 20478, 659, 25 },
    { 20491, 20524, 684, 5 },
    { 20541, 20574, 689, 3 },
    { 20591, 20629, 692, 2 },
    { 20651, 20686, 694, 2 },
    { 20705, 20731, 696, 3 },
    { 20741, 20773, 699, 5 },
    { 20789, 20829, 704, 3 },
    { 20853, 20890, 707, 3 },
    { 20911, 20946, 710, 4 },
    { 20965, 21005, 714, 3 },
    { 21029, 21062, 717, 2 },
    { 21079, 21120, 719, 2 },
    { 21145, 21185, 721, 2 },
    { 21209, 21260, 723, 2 },
    { 21295, 21326, 725, 8 },
    { 21341, 21373, 733, 2 },
    { 21389, 21414, 735, 10 },
    { 21423, 21453, 745, 1 },
    { 21467, 21500, 746, 6 },
    { 21517, 21547, 752, 2 },
    { 21561, 21596, 754, 2 },
    { 21615, 21645, 756, 3 },
    { 21659, 21688, 759, 3 },
    { 21701, 21737, 762, 4 },
    { 21757, 21788, 766, 1 },
    { 21803, 21838, 767, 12 },
    { 21857, 21889, 779, 2 },
    { 21905, 21939, 781, 4 },
    { 21957, 22006, 785, 4 },
    { 22039, 22073, 789, 2 },
    { 22091, 22126, 791, 2 },
    { 22145, 22183, 793, 26 },
    { 22205, 22243, 819, 13 },
    { 22265, 22291, 832, 2 },
    { 22301, 22329, 834, 3 },
    { 22341, 22373, 837, 2 },
    { 22389, 22432, 839, 2 },
    { 22459, 22490, 841, 2 },
    { 22505, 22540, 843, 6 },
    { 22559, 22602, 849, 2 },
    { 22629, 22664, 851, 2 },
    { 22683, 22713, 853, 5 },
    { 22727, 22756, 858, 2 },
    { 22769, 22801, 860, 3 },
    { 22817, 22855, 863, 2 },
    { 22877, 22913, 865, 1 },
    { 22933, 22977, 866, 8 },
    { 23005, 23030, 874, 1 },
    { 23039, 23076, 875, 1 },
    { 23097, 23133, 876, 3 },
    { 23153, 23191, 879, 1 },
    { 23213, 23250, 880, 2 },
    { 23271, 23300, 882, 22 },
    { 23313, 23345, 904, 7 },
    { 23361, 23387, 911, 1 },
    { 23397, 23422, 912, 1 },
    { 23431, 23466, 913, 15 },
    { 23485, 23519, 928, 3 },
    { 23537, 23578, 931, 2 },
    { 23603, 23644, 933, 1 },
    { 23669, 23713, 934, 7 },
    { 23741, 23778, 941, 5 },
    { 23799, 23831, 946, 1 },
    { 23847, 23884, 947, 1 },
    { 23905, 23938, 948, 1 },
    { 23955, 23993, 949, 3 },
    { 24015, 24049, 952, 2 },
    { 24067, 24101, 954, 3 },
    { 24119, 24161, 957, 2 },
    { 24187, 24237, 959, 2 },
    { 24271, 24323, 961, 3 },
    { 24359, 24413, 964, 4 },
    { 24451, 24501, 968, 2 },
    { 24535, 24587, 970, 3 },
    { 24623, 24658, 973, 3 },
    { 24677, 24713, 976, 7 },
    { 24733, 24767, 983, 8 },
    { 24785, 24812, 991, 4 },
    { 24823, 24856, 995, 12 },
    { 24873, 24914, 1007, 3 },
    { 24939, 24974, 1010, 3 },
    { 24993, 25024, 1013, 4 },
    { 25039, 25074, 1017, 2 },
    { 25093, 25128, 1019, 4 },
    { 25147, 25182, 1023, 5 },
    { 25201, 25242, 1028, 5 },
    { 25267, 25312, 1033, 4 },
    { 25341, 25388, 1037, 6 },
    { 25419, 25469, 1043, 5 },
    { 25503, 25548, 1048, 4 },
    { 25577, 25610, 1052, 5 },
    { 25627, 25664, 1057, 3 },
    { 25685, 25718, 1060, 1 },
    { 25735, 25788, 1061, 3 },
    { 25825, 25864, 1064, 2 },
    { 25887, 25924, 1066, 4 },
    { 25945, 25971, 1070, 7 },
    { 25981, 26011, 1077, 4 },
    { 26025, 26064, 1081, 3 },
    { 26087, 26114, 1084, 5 },
    { 26125, 26156, 1089, 20 },
    { 26171, 26202, 1109, 6 },
    { 26217, 26258, 1115, 1 },
    { 26283, 26317, 1116, 1 },
    { 26335, 26368, 1117, 2 },
    { 26385, 26423, 1119, 1 },
    { 26445, 26484, 1120, 4 },
    { 26507, 26537, 1124, 3 },
    { 26551, 26598, 1127, 6 },
    { 26611, 26645, 1133, 6 },
    { 26663, 26701, 1139, 4 },
    { 26723, 26754, 1143, 4 },
    { 26769, 26808, 1147, 3 },
    { 26831, 26891, 1150, 4 },
    { 26918, 26982, 1154, 7 },
    { 27013, 27059, 1161, 2 },
    { 27072, 27123, 1163, 5 },
    { 27141, 27201, 1168, 6 },
    { 27228, 27273, 1174, 2 },
    { 27285, 27330, 1176, 3 },
    { 27342, 27397, 1179, 1 },
    { 27419, 27465, 1180, 1 },
    { 27478, 27529, 1181, 2 },
    { 27547, 27614, 1183, 4 },
    { 27648, 27719, 1187, 3 },
    { 27757, 27802, 1190, 4 },
    { 27814, 27885, 1194, 4 },
    { 27923, 27987, 1198, 4 },
    { 28018, 28083, 1202, 4 },
    { 28115, 28167, 1206, 12 },
    { 28186, 28242, 1218, 3 },
    { 28265, 28318, 1221, 4 },
    { 28338, 28393, 1225, 5 },
    { 28415, 28484, 1230, 4 },
    { 28520, 28582, 1234, 5 },
    { 28611, 28677, 1239, 7 },
    { 28710, 28757, 1246, 4 },
    { 28771, 28823, 1250, 2 },
    { 28842, 28910, 1252, 3 },
    { 28945, 28994, 1255, 1 },
    { 29010, 29064, 1256, 2 },
    { 29085, 29154, 1258, 4 },
    { 29190, 29263, 1262, 4 },
    { 29303, 29376, 1266, 4 },
    { 29416, 29482, 1270, 4 },
    { 29515, 29582, 1274, 4 },
    { 29616, 29670, 1278, 11 },
    { 29691, 29762, 1289, 4 },
    { 29800, 29874, 1293, 4 },
    { 29894, 29969, 1297, 3 },
    { 29990, 30066, 1300, 3 },
    { 30088, 30132, 1303, 8 },
    { 30142, 30193, 1311, 6 },
    { 30210, 30259, 1317, 3 },
    { 30274, 30356, 1320, 5 },
    { 30384, 30470, 1325, 6 },
    { 30502, 30589, 1331, 6 },
    { 30622, 30711, 1337, 9 },
    { 30746, 30828, 1346, 1 },
    { 30856, 30929, 1347, 44 },
    { 30948, 31027, 1391, 2 },
    { 31052, 31124, 1393, 6 },
    { 31142, 31226, 1399, 2 },
    { 31256, 31345, 1401, 0 },
    { 31380, 31468, 1401, 3 },
    { 31502, 31590, 1404, 6 },
    { 31624, 31697, 1410, 1 },
    { 31716, 31798, 1411, 2 },
    { 31826, 31901, 1413, 2 },
    { 31922, 28242, 1415, 3 },
    { 31999, 28318, 1418, 4 },
    { 32073, 32161, 1422, 4 },
    { 32195, 32286, 1426, 6 },
    { 32323, 32409, 1432, 4 },
    { 32441, 32503, 1436, 5 },
    { 32517, 32583, 1441, 7 },
    { 32601, 28318, 1448, 3 },
    { 32669, 32737, 1451, 1 },
    { 32757, 32828, 1452, 5 },
    { 32851, 32917, 1457, 4 },
    { 32935, 32973, 1461, 5 },
    { 32995, 33037, 1466, 4 },
    { 33063, 33092, 1470, 5 },
    { 33105, 33138, 1475, 5 },
    { 33155, 33198, 1480, 2 },
    { 33225, 33267, 1482, 2 },
    { 33293, 33328, 1484, 10 },
    { 33347, 33385, 1494, 5 },
    { 33407, 33440, 1499, 4 },
    { 33457, 33487, 1503, 5 },
    { 33501, 33535, 1508, 8 },
    { 33553, 33591, 1516, 2 },
    { 33613, 33656, 1518, 2 },
    { 33683, 33719, 1520, 9 },
    { 33739, 33778, 1529, 6 },
    { 33801, 33835, 1535, 4 },
    { 33853, 33883, 1539, 5 },
    { 33897, 33931, 1544, 4 },
    { 33949, 33985, 1548, 7 },
    { 34005, 34044, 1555, 5 },
    { 34067, 34101, 1560, 4 },
    { 34119, 34150, 1564, 5 },
    { 34165, 34200, 1569, 11 },
    { 34219, 34264, 1580, 2 },
    { 34293, 34345, 1582, 2 },
    { 34381, 34448, 1584, 2 },
    { 34499, 34538, 1586, 1 },
    { 34561, 34598, 1587, 10 },
    { 34619, 34659, 1597, 5 },
    { 34683, 34718, 1602, 4 },
    { 34737, 34784, 1606, 4 },
    { 34805, 34858, 1610, 1 },
    { 34885, 34923, 1611, 4 },
    { 34935, 34977, 1615, 5 },
    { 34993, 35039, 1620, 4 },
    { 35059, 35109, 1624, 4 },
    { 35133, 35181, 1628, 2 },
    { 35203, 35244, 1630, 5 },
    { 35259, 35304, 1635, 2 },
    { 35323, 35370, 1637, 4 },
    { 35391, 35444, 1641, 5 },
    { 35472, 35524, 1646, 6 },
    { 35551, 35598, 1652, 9 },
    { 35620, 35672, 1661, 2 },
    { 35699, 35761, 1663, 3 },
    { 35789, 35841, 1666, 2 },
    { 35868, 35918, 1668, 2 },
    { 35943, 35997, 1670, 4 },
    { 36026, 36078, 1674, 5 },
    { 36105, 36161, 1679, 2 },
    { 36192, 36243, 1681, 5 },
    { 36269, 36324, 1686, 1 },
    { 36354, 36407, 1687, 4 },
    { 36435, 36476, 1691, 4 },
    { 36492, 36536, 1695, 2 },
    { 36555, 36603, 1697, 5 },
    { 36626, 36676, 1702, 5 },
    { 36703, 36757, 1707, 4 },
    { 36788, 36842, 1711, 3 },
    { 36873, 36929, 1714, 5 },
    { 36962, 37016, 1719, 4 },
    { 37047, 37079, 1723, 5 },
    { 37088, 37124, 1728, 1 },
    { 37137, 37175, 1729, 2 },
    { 37190, 37240, 1731, 5 },
    { 37267, 37321, 1736, 5 },
    { 37352, 37406, 1741, 3 },
    { 37437, 37474, 1744, 6 },
    { 37488, 37533, 1750, 3 },
    { 37555, 37594, 1753, 4 },
    { 37610, 37653, 1757, 2 },
    { 37673, 37716, 1759, 2 },
    { 37736, 37783, 1761, 2 },
    { 37807, 37863, 1763, 3 },
    { 37896, 37943, 1766, 2 },
    { 37967, 38025, 1768, 2 },
    { 38060, 38102, 1770, 4 },
    { 38121, 38164, 1774, 3 },
    { 38184, 38240, 1777, 6 },
    { 38273, 38312, 1783, 6 },
    { 38328, 38373, 1789, 3 },
    { 38395, 38439, 1792, 3 },
    { 38460, 38503, 1795, 2 },
    { 38523, 38570, 1797, 2 },
    { 38594, 38650, 1799, 3 },
    { 38683, 38730, 1802, 2 },
    { 38754, 38813, 1804, 6 },
    { 38849, 38903, 1810, 4 },
    { 38934, 38962, 1814, 5 },
    { 38973, 39005, 1819, 8 },
    { 39020, 39056, 1827, 2 },
    { 39075, 39103, 1829, 17 },
    { 39114, 39151, 1846, 1 },
    { 39171, 39212, 1847, 3 },
    { 39236, 39295, 1850, 3 },
    { 39337, 39396, 1853, 2 },
    { 39438, 39472, 1855, 1 },
    { 39489, 39527, 1856, 2 },
    { 39548, 39595, 1858, 4 },
    { 39625, 39689, 1862, 2 },
    { 39731, 39800, 1864, 0 },
    { 39847, 39915, 1864, 1 },
    { 39961, 40030, 1865, 1 },
    { 40077, 40127, 1866, 1 },
    { 40155, 40217, 1867, 2 },
    { 40257, 40325, 1869, 0 },
    { 40371, 40436, 1869, 0 },
    { 40479, 40540, 1869, 3 },
    { 40579, 40613, 1872, 3 },
    { 40630, 40662, 1875, 4 },
    { 40677, 40701, 1879, 5 },
    { 40708, 40738, 1884, 11 },
    { 40751, 40784, 1895, 6 },
    { 40800, 40844, 1901, 2 },
    { 40871, 40899, 1903, 4 },
    { 40910, 40963, 1907, 5 },
    { 40992, 41049, 1912, 8 },
    { 41082, 41141, 1920, 2 },
    { 41176, 41238, 1922, 6 },
    { 41276, 41333, 1928, 4 },
    { 41366, 41412, 1932, 4 },
    { 41434, 41484, 1936, 2 },
    { 41510, 41560, 1938, 4 },
    { 41586, 41635, 1942, 5 },
    { 41660, 41713, 1947, 10 },
    { 41742, 41797, 1957, 5 },
    { 41828, 41881, 1962, 4 },
    { 41910, 41943, 1966, 4 },
    { 41952, 41989, 1970, 7 },
    { 42002, 42039, 1977, 4 },
    { 42052, 42090, 1981, 6 },
    { 42107, 42140, 1987, 8 },
    { 42152, 42195, 1995, 3 },
    { 42217, 42255, 1998, 2 },
    { 42272, 42304, 2000, 1 },
    { 42315, 42347, 2001, 1 },
    { 42358, 13359, 2002, 4 },
    { 42395, 42437, 2006, 4 },
    { 42458, 13450, 2010, 17 },
    { 42485, 13536, 2027, 2 },
    { 42518, 13580, 2029, 4 },
    { 42549, 42586, 2033, 5 },
    { 42600, 42641, 2038, 4 },
    { 42659, 42721, 2042, 1 },
    { 42760, 42810, 2043, 1 },
    { 42837, 42887, 2044, 3 },
    { 42914, 42948, 2047, 4 },
    { 42959, 42997, 2051, 1 },
    { 43012, 43051, 2052, 1 },
    { 43067, 43115, 2053, 2 },
    { 43140, 43185, 2055, 5 },
    { 43207, 43255, 2060, 2 },
    { 43280, 43323, 2062, 1 },
    { 43343, 43389, 2063, 5 },
    { 43412, 43453, 2068, 4 },
    { 43471, 43524, 2072, 5 },
    { 43554, 43611, 2077, 3 },
    { 43645, 43705, 2080, 4 },
    { 43742, 43782, 2084, 2 },
    { 43799, 43846, 2086, 3 },
    { 43870, 43929, 2089, 2 },
    { 43965, 44024, 2091, 1 },
    { 44060, 44122, 2092, 5 },
    { 44161, 44218, 2097, 4 },
    { 44252, 44287, 2101, 4 },
    { 44300, 44339, 2105, 1 },
    { 44356, 44397, 2106, 4 },
    { 44416, 44455, 2110, 4 },
    { 44472, 44505, 2114, 5 },
    { 44516, 44553, 2119, 4 },
    { 44568, 44608, 2123, 2 },
    { 44626, 44673, 2125, 2 },
    { 44698, 44742, 2127, 2 },
    { 44764, 44800, 2129, 2 },
    { 44814, 44851, 2131, 2 },
    { 44866, 44912, 2133, 1 },
    { 44936, 44977, 2134, 3 },
    { 44996, 45035, 2137, 1 },
    { 45052, 45103, 2138, 1 },
    { 45132, 45184, 2139, 3 },
    { 45214, 45257, 2142, 3 },
    { 45278, 45316, 2145, 4 },
    { 45332, 45374, 2149, 2 },
    { 45394, 45451, 2151, 5 },
    { 45486, 45528, 2156, 4 },
    { 45548, 45585, 2160, 4 },
    { 45600, 45639, 2164, 4 },
    { 45656, 45699, 2168, 4 },
    { 45720, 45770, 2172, 2 },
    { 45798, 45841, 2174, 3 },
    { 45862, 45905, 2177, 3 },
    { 45926, 45959, 2180, 2 },
    { 45970, 46019, 2182, 2 },
    { 46046, 46089, 2184, 4 },
    { 46110, 46147, 2188, 5 },
    { 46162, 46203, 2193, 1 },
    { 46222, 46265, 2194, 1 },
    { 46286, 46327, 2195, 4 },
    { 46346, 46378, 2199, 6 },
    { 46394, 46422, 2205, 1 },
    { 46434, 46464, 2206, 2 },
    { 46478, 46514, 2208, 4 },
    { 46534, 46564, 2212, 4 },
    { 46576, 46627, 2216, 8 },
    { 46644, 46695, 2224, 2 },
    { 46712, 46753, 2226, 5 },
    { 46776, 46821, 2231, 4 },
    { 46848, 46895, 2235, 7 },
    { 46924, 46969, 2242, 4 },
    { 46996, 47027, 2246, 5 },
    { 47042, 47072, 2251, 5 },
    { 47086, 47121, 2256, 1 },
    { 47140, 47178, 2257, 5 },
    { 47200, 42948, 2262, 4 },
    { 47227, 47254, 2266, 3 },
    { 47265, 47307, 2269, 4 },
    { 47333, 47368, 2273, 4 },
    { 47387, 47411, 2277, 4 },
    { 47419, 47450, 2281, 5 },
    { 47465, 47500, 2286, 4 },
    { 47519, 47547, 2290, 4 },
    { 47559, 47594, 2294, 4 },
    { 47609, 47648, 2298, 3 },
    { 47667, 47705, 2301, 1 },
    { 47723, 47764, 2302, 1 },
    { 47785, 47833, 2303, 1 },
    { 47861, 47910, 2304, 2 },
    { 47939, 47978, 2306, 4 },
    { 47997, 48036, 2310, 5 },
    { 48055, 48098, 2315, 2 },
    { 48121, 48164, 2317, 3 },
    { 48187, 48222, 2320, 4 },
    { 48237, 48282, 2324, 1 },
    { 48307, 48350, 2325, 4 },
    { 48373, 21062, 2329, 5 },
    { 48410, 48451, 2334, 1 },
    { 48472, 48507, 2335, 3 },
    { 48522, 48559, 2338, 3 },
    { 48576, 48618, 2341, 8 },
    { 48640, 48680, 2349, 5 },
    { 48700, 48744, 2354, 1 },
    { 48768, 48814, 2355, 2 },
    { 48840, 48880, 2357, 8 },
    { 48900, 48940, 2365, 3 },
    { 48960, 49008, 2368, 2 },
    { 49036, 49079, 2370, 3 },
    { 49102, 49142, 2373, 3 },
    { 49162, 49208, 2376, 2 },
    { 49234, 49287, 2378, 11 },
    { 49320, 49373, 2389, 3 },
    { 49406, 49460, 2392, 4 },
    { 49494, 49539, 2396, 7 },
    { 49564, 49605, 2403, 3 },
    { 49626, 49667, 2406, 4 },
    { 49688, 49733, 2410, 4 },
    { 49758, 49807, 2414, 2 },
    { 49836, 49885, 2416, 4 },
    { 49914, 49951, 2420, 4 },
    { 49968, 50009, 2424, 10 },
    { 50030, 50066, 2434, 3 },
    { 50082, 50112, 2437, 13 },
    { 50122, 50161, 2450, 8 },
    { 50180, 50218, 2458, 2 },
    { 50236, 50281, 2460, 3 },
    { 50306, 50356, 2463, 3 },
    { 50386, 50434, 2466, 3 },
    { 50462, 50493, 2469, 1 },
    { 50504, 50551, 2470, 2 },
    { 50578, 50624, 2472, 3 },
    { 50650, 50697, 2475, 2 },
    { 50724, 50758, 2477, 2 },
    { 50772, 50813, 2479, 4 },
    { 50834, 50873, 2483, 7 },
    { 50890, 50933, 2490, 4 },
    { 50954, 50986, 2494, 4 },
    { 50999, 51035, 2498, 11 },
    { 51052, 34977, 2509, 2 },
    { 51087, 51123, 2511, 4 },
    { 51140, 51170, 2515, 5 },
    { 51181, 51215, 2520, 1 },
    { 51230, 51266, 2521, 4 },
    { 51283, 51325, 2525, 1 },
    { 51348, 51384, 2526, 1 },
    { 51401, 51437, 2527, 2 },
    { 51454, 51499, 2529, 6 },
    { 51525, 51559, 2535, 4 },
    { 51574, 51615, 2539, 7 },
    { 51637, 51682, 2546, 4 },
    { 51708, 51743, 2550, 10 },
    { 51759, 51799, 2560, 1 },
    { 51823, 51875, 2561, 2 },
    { 51911, 51950, 2563, 4 },
    { 51970, 52009, 2567, 5 },
    { 52029, 52072, 2572, 3 },
    { 52096, 52141, 2575, 2 },
    { 52167, 52212, 2577, 4 },
    { 52238, 52272, 2581, 3 },
    { 52287, 52330, 2584, 4 },
    { 52354, 52398, 2588, 5 },
    { 52423, 52471, 2593, 4 },
    { 52500, 52555, 2597, 5 },
    { 52582, 52641, 2602, 1 },
    { 52672, 52723, 2603, 2 },
    { 52740, 52801, 2605, 2 },
    { 52834, 52893, 2607, 4 },
    { 52924, 52975, 2611, 5 },
    { 52992, 53043, 2616, 5 },
    { 53060, 53110, 2621, 6 },
    { 53126, 53174, 2627, 3 },
    { 53188, 53237, 2630, 13 },
    { 53252, 53300, 2643, 2 },
    { 53314, 53357, 2645, 5 },
    { 53366, 53425, 2650, 5 },
    { 53450, 53496, 2655, 3 },
    { 53508, 53563, 2658, 4 },
    { 53584, 53634, 2662, 3 },
    { 53650, 53709, 2665, 3 },
    { 53734, 53797, 2668, 4 },
    { 53826, 53872, 2672, 6 },
    { 53884, 53946, 2678, 2 },
    { 53974, 54037, 2680, 2 },
    { 54066, 54116, 2682, 3 },
    { 54132, 54185, 2685, 4 },
    { 54204, 54253, 2689, 10 },
    { 54268, 54317, 2699, 4 },
};
const uint16_t builtin_n_types = 637;

/* Lists of strings: a count, then offsets. */
const uint32_t builtin_lists[] = {
    0,
    1, 70,
    1, 330,
    3, 54332, 54337, 54341,
    2, 54345, 54352,
    3, 54364, 54374, 54385,
    3, 54402, 54410, 54418,
    8, 0, 54429, 54441, 54452, 54462, 54480, 54485, 54498,
    3, 54505, 54510, 54519,
    3, 54529, 54539, 54547,
    4, 54554, 54567, 54581, 54595,
    3, 54612, 54619, 54627,
    2, 54634, 54640,
    6, 54651, 54664, 54671, 54674, 54677, 54680,
    5, 54686, 54696, 54702, 54402, 54709,
    3, 54696, 54718, 54402,
    5, 54723, 54750, 54777, 54798, 54819,
    3, 54837, 54848, 54402,
    3, 54859, 54868, 54877,
    2, 335, 549,
    3, 54890, 54897, 54910,
    1, 33,
    2, 4087, 513,
    3, 54916, 54930, 54505,
    1, 4234,
    1, 1316,
    2, 54946, 54951,
    2, 54957, 54963,
    2, 54969, 54979,
    65, 54983, 54991, 54999, 55006, 55014, 55021, 55029, 55036, 55043, 55050, 55057, 55063, 55070, 55078, 55086, 55094, 55102, 55109, 55117, 55126, 55137, 55149, 55161, 55173, 55185, 55197, 55208, 55219, 55230, 55241, 55252, 55263, 55274, 55285, 55294, 55305, 55317, 55329, 55341, 55353, 55365, 55377, 55388, 55399, 55410, 55421, 55432, 55443, 55454, 55465, 55473, 55483, 55491, 55498, 55506, 55514, 55522, 55530, 55538, 55545, 55553, 55561, 55571, 55580, 55588,
    2, 55596, 54480,
    2, 55618, 55626,
    3, 55635, 55645, 55660,
    3, 54890, 54910, 55671,
    4, 55681, 55694, 55618, 54505,
    2, 55718, 55724,
    2, 54890, 55731,
    4, 55746, 54664, 54671, 54677,
    1, 477,
    2, 54910, 55752,
    2, 55773, 55787,
    2, 55802, 55808,
    2, 5008, 5158,
    5, 54702, 54402, 54410, 55815, 55825,
    1, 5715,
    3, 55833, 55844, 55854,
    1, 5223,
    7, 55833, 55865, 55891, 55905, 55920, 54352, 55934,
    4, 54651, 54664, 54674, 54680,
    2, 508, 513,
    4, 55956, 55966, 55979, 55992,
    2, 56001, 54505,
    2, 56010, 56018,
    3, 0, 56024, 56029,
    3, 56034, 56050, 56067,
    5, 56079, 56081, 56089, 56096, 56103,
    3, 56079, 56010, 56110,
    2, 56121, 56132,
    2, 56138, 56157,
    2, 56167, 55808,
    2, 56172, 54910,
    4, 54505, 56181, 56194, 55825,
    3, 56199, 56205, 56210,
    4, 56215, 56235, 56255, 56273,
    1, 7807,
    2, 56292, 56301,
    2, 56315, 56301,
    2, 56324, 56337,
    3, 56292, 56315, 56301,
    3, 56346, 56352, 56359,
    4, 56367, 56373, 56383, 55808,
    2, 54674, 54680,
    2, 56391, 56399,
    2, 54702, 56410,
    23, 56430, 56434, 56444, 56456, 56469, 56488, 56497, 56515, 56529, 56547, 56564, 56578, 56595, 56608, 56619, 56633, 56650, 56664, 56677, 56690, 56697, 56709, 56717,
    2, 56730, 56737,
    2, 56745, 56757,
    3, 54364, 54374, 54505,
    2, 55746, 54664,
    3, 56079, 56773, 56794,
    2, 56817, 56827,
    4, 2036, 10988, 1864, 11226,
    2, 56837, 56853,
    2, 56872, 56882,
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
    { SCHEMA_ARRAY, 0, 0, 10, 0, 0, 0, 0 },
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
    { SCHEMA_ARRAY, 0, 0, 24, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 5, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 16, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 28, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 14, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 30, 0, 0, 0, 0 },
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
    { SCHEMA_ARRAY, 0, 0, 41, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 23, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 22, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 44, 0, 0, 0, 0 },
    { SCHEMA_RAW, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 46, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 1, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 28, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 9, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 30, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 51, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 29, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 27, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 54, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 12, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 34, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 57, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 36, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 35, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 1, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 37, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 33, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 16, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 39, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 65, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 40, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 67, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 42, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 41, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 44, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 43, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 45, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 73, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 46, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 75, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 47, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 49, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 48, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 79, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 50, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 38, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 32, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 83, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 55, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 56, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 20, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 57, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 58, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 59, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56903 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56909 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56917 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 61, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 60, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56937 },
    { SCHEMA_OBJECT, 0, 0, 62, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 63, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 64, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 65, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 66, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 67, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 68, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 69, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 70, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 29, 0, 56947 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56959 },
    { SCHEMA_BOOL, 0, 0, 0, 0, 0, 0, 56966 },
    { SCHEMA_STRING, 0, 0, 0, 0, 33, 0, 56972 },
    { SCHEMA_OBJECT, 0, 0, 71, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 72, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 73, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56981 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 56999 },
    { SCHEMA_OBJECT, 0, 0, 74, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 75, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 76, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 77, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 37, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 119, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 42, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 46, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 49, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 81, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 124, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 80, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 126, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 79, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 78, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 54, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 56, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 82, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 86, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 133, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 85, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 87, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 88, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 89, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 84, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 62, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 91, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 141, 3, 0, 330, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 66, 0, 0 },
    { SCHEMA_MAP, 0, 0, 143, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 72, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 92, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 76, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 94, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 148, 80, 0, 335, 0 },
    { SCHEMA_OBJECT, 0, 0, 93, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 90, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 83, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 152, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 53, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 154, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 100, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 101, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 103, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 158, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 102, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57005 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 105, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 104, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 106, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 107, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 108, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 109, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 110, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 111, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 114, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 115, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 113, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 172, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 112, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 116, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 117, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 120, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 121, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 122, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 123, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 124, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 125, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 119, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 183, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 118, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 126, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 127, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 128, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 130, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 129, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 83, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 131, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 99, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 193, 87, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 5, 0, 57008 },
    { SCHEMA_OBJECT, 0, 0, 133, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 196, 89, 0, 4087, 0 },
    { SCHEMA_OBJECT, 0, 0, 135, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 136, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 134, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 200, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 139, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 140, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 141, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 138, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 137, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 206, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 143, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 208, 87, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 142, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 144, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 211, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 26, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 146, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 145, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 215, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 92, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 147, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 218, 96, 0, 4234, 0 },
    { SCHEMA_OBJECT, 0, 0, 148, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 220, 98, 0, 1316, 0 },
    { SCHEMA_OBJECT, 0, 0, 150, 0, 0, 0, 0 },
    { SCHEMA_INT_OR_STRING, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 100, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 152, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 225, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 103, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 151, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 153, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 106, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 154, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 149, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 157, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 156, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 109, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 155, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 175, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 159, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 160, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 161, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 178, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 181, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 162, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 163, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 158, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 132, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 246, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 164, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 248, 87, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 185, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 189, 0, 0 },
    { SCHEMA_MAP, 0, SCHEMA_ATOMIC_MAP, 1, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 2, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 194, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 166, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 255, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 197, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 165, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 162, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 169, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 260, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 168, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 171, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 263, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 172, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 265, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 170, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 173, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 167, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 200, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 174, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 271, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 175, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 273, 205, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 177, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 275, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 176, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 178, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 278, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 207, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 210, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 213, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 179, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 283, 216, 0, 5008, 0 },
    { SCHEMA_OBJECT, 0, 0, 180, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 181, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 286, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 182, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 288, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 183, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 184, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 291, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 98, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 219, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 186, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 295, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 187, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_PATCH_MERGE, 297, 0, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 188, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 299, 205, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 191, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 192, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 193, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 190, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 196, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 195, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 194, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 307, 96, 0, 4234, 0 },
    { SCHEMA_OBJECT, 0, 0, 198, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 197, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 200, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 311, 225, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 199, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 313, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 189, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 315, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 227, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 201, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 318, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 203, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 320, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 202, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 205, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 323, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 206, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 325, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 204, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 327, 231, 0, 5223, 0 },
    { SCHEMA_OBJECT, 0, 0, 207, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 329, 87, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 185, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 97, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 332, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 26, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 215, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 214, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 336, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 57014 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 57016 },
    { SCHEMA_OBJECT, 0, 0, 219, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 221, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 341, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 220, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 218, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 344, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 233, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 346, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 241, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 226, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 349, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 225, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 224, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 227, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 223, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 354, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 229, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 356, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 234, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 358, 246, 0, 508, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 249, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 254, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 257, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 236, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 235, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 260, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 365, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 264, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 233, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 240, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 369, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 239, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 371, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 238, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 241, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 374, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 237, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 13, 87, 0, 33, 0 },
    { SCHEMA_ARRAY, 0, 0, 162, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 242, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 379, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 232, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 381, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 248, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 268, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 384, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 274, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 250, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 387, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 278, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 249, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 251, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 391, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 281, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 253, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 254, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 252, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 396, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 284, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 255, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 399, 87, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 287, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 247, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 258, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 257, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 256, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 405, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 246, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 407, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 264, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 263, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 265, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 411, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 290, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 262, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 414, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 261, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 416, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 269, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 418, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 270, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 420, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 391, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 268, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 273, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 424, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 272, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 374, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 271, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 295, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 429, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 275, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 274, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 432, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 267, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 434, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 279, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 436, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 278, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 438, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 282, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 286, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 441, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 285, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 284, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 283, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 289, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_NUMBER, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 447, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 292, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, 0, 450, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 450, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 450, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 447, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 293, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 299, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 294, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 457, 304, 0, 7807, 0 },
    { SCHEMA_OBJECT, 0, 0, 291, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 296, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 297, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 295, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 298, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 463, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 299, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 465, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 290, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 467, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 303, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 302, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 301, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 300, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 288, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 305, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 474, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 304, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 287, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 477, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 309, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 308, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 311, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 481, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 310, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 307, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 484, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 313, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 486, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 306, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 318, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 317, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 316, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 320, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 492, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 319, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 315, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 495, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 309, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 325, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_PATCH_RETAIN_KEYS, 324, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 323, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 327, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 501, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 326, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 322, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 504, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 330, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 332, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 507, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 331, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 329, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 510, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 312, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 315, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 337, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 336, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 338, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 339, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 335, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 341, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 519, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 340, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 334, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 522, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 48, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 345, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 344, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 348, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 347, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 349, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 351, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 352, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 357, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 532, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 356, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 358, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 355, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 359, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 354, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 360, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 362, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 364, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 366, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 542, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 367, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 544, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 365, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 371, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 370, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 372, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 369, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 550, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 375, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 376, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 379, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 382, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 383, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 381, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 384, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 385, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 386, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 387, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 380, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 562, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 390, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 564, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 389, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 388, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 378, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 394, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 393, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 395, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 396, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 397, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 398, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 392, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 575, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 399, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 577, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 391, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 377, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 580, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 319, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 323, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 328, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 407, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 408, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 586, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 406, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 588, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 405, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 410, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 591, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 409, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 331, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 334, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 413, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 414, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 412, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 416, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 599, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 415, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 418, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 419, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 417, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 420, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 605, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 411, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 404, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 403, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 402, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 13, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 421, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 401, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 613, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 425, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_PATCH_MERGE, 615, 0, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 426, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 424, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 423, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 619, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 337, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 621, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 429, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 431, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 624, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 430, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 428, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 627, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 434, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 433, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 630, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 57018 },
    { SCHEMA_OBJECT, 0, 0, 437, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 438, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 436, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 635, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 441, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 440, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 638, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 445, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 447, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 641, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 448, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 643, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 446, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 444, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 646, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 449, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 648, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 443, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 650, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 452, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 451, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 653, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 456, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 457, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 460, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 461, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 462, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 459, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 660, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 463, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 662, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 464, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 664, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 458, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 666, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 455, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 466, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 669, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 465, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 454, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 672, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 472, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 471, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 470, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 473, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 469, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 475, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 679, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 474, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 468, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 682, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 479, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 478, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 477, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 686, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 485, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 484, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 483, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 486, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 691, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 489, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 693, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 488, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 487, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 696, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 482, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 493, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 699, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 492, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 701, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 491, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 490, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 496, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 495, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 494, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 707, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 481, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 709, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 502, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 711, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 504, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 503, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 714, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 501, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 716, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 505, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 718, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 361, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 720, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 500, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 499, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 723, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 508, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 509, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 507, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 727, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 512, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 513, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 511, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 731, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 517, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 516, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP | SCHEMA_PATCH_REPLACE, 85, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 364, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 519, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 3, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 520, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 518, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 740, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 523, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 742, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 135, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 524, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 526, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 746, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 527, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 525, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 749, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 522, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 751, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 531, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 753, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 530, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 755, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 537, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 536, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 758, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 539, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 538, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 761, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 535, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 534, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 764, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 543, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 367, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 544, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 542, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 545, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 541, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 771, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 371, 0, 57024 },
    { SCHEMA_OBJECT, 0, 0, 552, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 774, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 553, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 554, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 777, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 551, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 555, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 780, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 550, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 782, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 556, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 784, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 557, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 786, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 549, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 548, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 374, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 790, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 561, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 792, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 378, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 562, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 795, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 560, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 559, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 563, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 799, 1, 0, 70, 0 },
    { SCHEMA_OBJECT, 0, 0, 565, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 564, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 802, 381, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 558, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 547, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 805, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 568, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 567, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 808, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 572, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 5, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 574, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 812, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 39, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 577, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 576, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 575, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 817, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 579, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 819, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 578, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 821, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 768, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 581, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 582, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 580, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 826, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 573, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 828, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 583, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 830, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 571, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 570, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 833, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 585, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 835, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 589, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 837, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 588, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 587, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 840, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 594, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 593, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 843, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 592, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 386, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 597, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 847, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 596, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 849, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 595, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 591, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 852, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 599, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 854, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 389, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 603, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 857, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 602, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 859, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 601, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 861, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 607, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 606, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 609, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 608, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 605, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 867, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 611, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 869, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 615, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 614, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 616, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 613, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 874, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 625, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 876, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 627, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 878, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 626, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 880, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 629, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 882, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 632, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 884, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 633, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 886, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 631, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 888, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 636, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 890, 0, 0, 0, 0 },
};
const uint16_t builtin_n_nodes = 891;

const struct builtin_kind_row builtin_kinds[] = {
    { 0, 57032, 57035, 0 }, /* /v1 Binding */
    { 0, 57032, 57043, 5 }, /* /v1 ComponentStatus */
    { 0, 57032, 57059, 7 }, /* /v1 ComponentStatusList */
    { 0, 57032, 57079, 10 }, /* /v1 ConfigMap */
    { 0, 57032, 57089, 11 }, /* /v1 ConfigMapList */
    { 0, 57032, 57103, 12 }, /* /v1 Endpoints */
    { 0, 57032, 57113, 16 }, /* /v1 EndpointsList */
    { 0, 57032, 57127, 17 }, /* /v1 Event */
    { 0, 57032, 57133, 20 }, /* /v1 EventList */
    { 0, 57032, 57143, 21 }, /* /v1 LimitRange */
    { 0, 57032, 57154, 24 }, /* /v1 LimitRangeList */
    { 0, 57032, 57169, 25 }, /* /v1 List */
    { 0, 57032, 57174, 26 }, /* /v1 Namespace */
    { 0, 57032, 57184, 30 }, /* /v1 NamespaceList */
    { 0, 57032, 57198, 31 }, /* /v1 Node */
    { 0, 57032, 57203, 50 }, /* /v1 NodeList */
    { 0, 57032, 57212, 51 }, /* /v1 NodeProxyOptions */
    { 0, 57032, 57229, 52 }, /* /v1 PersistentVolume */
    { 0, 57032, 57246, 82 }, /* /v1 PersistentVolumeClaim */
    { 0, 57032, 57268, 94 }, /* /v1 PersistentVolumeClaimList */
    { 0, 57032, 57294, 95 }, /* /v1 PersistentVolumeList */
    { 0, 57032, 57315, 96 }, /* /v1 Pod */
    { 0, 57032, 57319, 207 }, /* /v1 PodAttachOptions */
    { 0, 57032, 57336, 208 }, /* /v1 PodExecOptions */
    { 0, 57032, 57351, 209 }, /* /v1 PodList */
    { 0, 57032, 57359, 210 }, /* /v1 PodLogOptions */
    { 0, 57032, 57373, 211 }, /* /v1 PodPortForwardOptions */
    { 0, 57032, 57395, 212 }, /* /v1 PodProxyOptions */
    { 0, 57032, 57411, 213 }, /* /v1 PodTemplate */
    { 0, 57032, 57423, 215 }, /* /v1 PodTemplateList */
    { 0, 57032, 57439, 216 }, /* /v1 RangeAllocation */
    { 0, 57032, 57455, 217 }, /* /v1 ReplicationController */
    { 0, 57032, 57477, 221 }, /* /v1 ReplicationControllerList */
    { 0, 57032, 57503, 222 }, /* /v1 ResourceQuota */
    { 0, 57032, 57517, 227 }, /* /v1 ResourceQuotaList */
    { 0, 57032, 57535, 228 }, /* /v1 Secret */
    { 0, 57032, 57542, 229 }, /* /v1 SecretList */
    { 0, 57032, 57553, 230 }, /* /v1 SerializedReference */
    { 0, 57032, 57573, 231 }, /* /v1 Service */
    { 0, 57032, 57581, 241 }, /* /v1 ServiceAccount */
    { 0, 57032, 57596, 242 }, /* /v1 ServiceAccountList */
    { 0, 57032, 57615, 243 }, /* /v1 ServiceList */
    { 0, 57032, 57627, 244 }, /* /v1 ServiceProxyOptions */
    { 57647, 57032, 57676, 245 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicy */
    { 57647, 57032, 57700, 255 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding */
    { 57647, 57032, 57731, 258 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBindingList */
    { 57647, 57032, 57766, 259 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyList */
    { 57647, 57032, 57794, 260 }, /* admissionregistration.k8s.io/v1 MutatingWebhookConfiguration */
    { 57647, 57032, 57823, 265 }, /* admissionregistration.k8s.io/v1 MutatingWebhookConfigurationList */
    { 57647, 57032, 57856, 266 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy */
    { 57647, 57032, 57882, 273 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding */
    { 57647, 57032, 57915, 275 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBindingList */
    { 57647, 57032, 57952, 276 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyList */
    { 57647, 57032, 57982, 277 }, /* admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration */
    { 57647, 57032, 58013, 279 }, /* admissionregistration.k8s.io/v1 ValidatingWebhookConfigurationList */
    { 58048, 57032, 58069, 280 }, /* apiextensions.k8s.io/v1 ConversionReview */
    { 58048, 57032, 58086, 286 }, /* apiextensions.k8s.io/v1 CustomResourceDefinition */
    { 58048, 57032, 58111, 305 }, /* apiextensions.k8s.io/v1 CustomResourceDefinitionList */
    { 58140, 57032, 58163, 306 }, /* apiregistration.k8s.io/v1 APIService */
    { 58140, 57032, 58174, 311 }, /* apiregistration.k8s.io/v1 APIServiceList */
    { 58189, 57032, 58194, 312 }, /* apps/v1 ControllerRevision */
    { 58189, 57032, 58213, 313 }, /* apps/v1 ControllerRevisionList */
    { 58189, 57032, 58236, 314 }, /* apps/v1 DaemonSet */
    { 58189, 57032, 58246, 320 }, /* apps/v1 DaemonSetList */
    { 58189, 57032, 58260, 321 }, /* apps/v1 Deployment */
    { 58189, 57032, 58271, 327 }, /* apps/v1 DeploymentList */
    { 58189, 57032, 58286, 328 }, /* apps/v1 ReplicaSet */
    { 58189, 57032, 58297, 332 }, /* apps/v1 ReplicaSetList */
    { 58189, 57032, 58312, 333 }, /* apps/v1 StatefulSet */
    { 58189, 57032, 58324, 341 }, /* apps/v1 StatefulSetList */
    { 58340, 57032, 58362, 342 }, /* authentication.k8s.io/v1 SelfSubjectReview */
    { 58340, 57032, 58380, 345 }, /* authentication.k8s.io/v1 TokenRequest */
    { 58340, 57032, 58393, 349 }, /* authentication.k8s.io/v1 TokenReview */
    { 58405, 57032, 58426, 352 }, /* authorization.k8s.io/v1 LocalSubjectAccessReview */
    { 58405, 57032, 58451, 360 }, /* authorization.k8s.io/v1 SelfSubjectAccessReview */
    { 58405, 57032, 58475, 362 }, /* authorization.k8s.io/v1 SelfSubjectRulesReview */
    { 58405, 57032, 58498, 367 }, /* authorization.k8s.io/v1 SubjectAccessReview */
    { 58518, 57032, 58530, 368 }, /* autoscaling/v1 HorizontalPodAutoscaler */
    { 58518, 57032, 58554, 372 }, /* autoscaling/v1 HorizontalPodAutoscalerList */
    { 58518, 57032, 58582, 373 }, /* autoscaling/v1 Scale */
    { 58518, 58588, 58530, 376 }, /* autoscaling/v2 HorizontalPodAutoscaler */
    { 58518, 58588, 58554, 399 }, /* autoscaling/v2 HorizontalPodAutoscalerList */
    { 58591, 57032, 58597, 400 }, /* batch/v1 CronJob */
    { 58591, 57032, 58605, 421 }, /* batch/v1 CronJobList */
    { 58591, 57032, 58617, 422 }, /* batch/v1 Job */
    { 58591, 57032, 58621, 426 }, /* batch/v1 JobList */
    { 58629, 57032, 58649, 427 }, /* certificates.k8s.io/v1 CertificateSigningRequest */
    { 58629, 57032, 58675, 431 }, /* certificates.k8s.io/v1 CertificateSigningRequestList */
    { 58629, 57032, 58705, 432 }, /* certificates.k8s.io/v1 ClusterTrustBundle */
    { 58629, 57032, 58724, 434 }, /* certificates.k8s.io/v1 ClusterTrustBundleList */
    { 58629, 57032, 58747, 435 }, /* certificates.k8s.io/v1 PodCertificateRequest */
    { 58629, 57032, 58769, 438 }, /* certificates.k8s.io/v1 PodCertificateRequestList */
    { 58795, 57032, 58815, 439 }, /* coordination.k8s.io/v1 Lease */
    { 58795, 57032, 58821, 441 }, /* coordination.k8s.io/v1 LeaseList */
    { 58831, 57032, 58848, 442 }, /* discovery.k8s.io/v1 EndpointSlice */
    { 58831, 57032, 58862, 449 }, /* discovery.k8s.io/v1 EndpointSliceList */
    { 58880, 57032, 57127, 450 }, /* events.k8s.io/v1 Event */
    { 58880, 57032, 57133, 452 }, /* events.k8s.io/v1 EventList */
    { 58894, 57032, 58923, 453 }, /* flowcontrol.apiserver.k8s.io/v1 FlowSchema */
    { 58894, 57032, 58934, 466 }, /* flowcontrol.apiserver.k8s.io/v1 FlowSchemaList */
    { 58894, 57032, 58949, 467 }, /* flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration */
    { 58894, 57032, 58976, 475 }, /* flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfigurationList */
    { 59007, 57032, 59025, 476 }, /* networking.k8s.io/v1 IPAddress */
    { 59007, 57032, 59035, 479 }, /* networking.k8s.io/v1 IPAddressList */
    { 59007, 57032, 56737, 480 }, /* networking.k8s.io/v1 Ingress */
    { 59007, 57032, 59049, 493 }, /* networking.k8s.io/v1 IngressClass */
    { 59007, 57032, 59062, 496 }, /* networking.k8s.io/v1 IngressClassList */
    { 59007, 57032, 59079, 497 }, /* networking.k8s.io/v1 IngressList */
    { 59007, 57032, 59091, 498 }, /* networking.k8s.io/v1 NetworkPolicy */
    { 59007, 57032, 59105, 505 }, /* networking.k8s.io/v1 NetworkPolicyList */
    { 59007, 57032, 59123, 506 }, /* networking.k8s.io/v1 ServiceCIDR */
    { 59007, 57032, 59135, 509 }, /* networking.k8s.io/v1 ServiceCIDRList */
    { 59151, 57032, 59163, 510 }, /* node.k8s.io/v1 RuntimeClass */
    { 59151, 57032, 59176, 513 }, /* node.k8s.io/v1 RuntimeClassList */
    { 59193, 57032, 59200, 514 }, /* policy/v1 Eviction */
    { 59193, 57032, 59209, 517 }, /* policy/v1 PodDisruptionBudget */
    { 59193, 57032, 59229, 520 }, /* policy/v1 PodDisruptionBudgetList */
    { 59253, 57032, 59279, 521 }, /* rbac.authorization.k8s.io/v1 ClusterRole */
    { 59253, 57032, 59291, 524 }, /* rbac.authorization.k8s.io/v1 ClusterRoleBinding */
    { 59253, 57032, 59310, 527 }, /* rbac.authorization.k8s.io/v1 ClusterRoleBindingList */
    { 59253, 57032, 59333, 528 }, /* rbac.authorization.k8s.io/v1 ClusterRoleList */
    { 59253, 57032, 59349, 529 }, /* rbac.authorization.k8s.io/v1 Role */
    { 59253, 57032, 59354, 530 }, /* rbac.authorization.k8s.io/v1 RoleBinding */
    { 59253, 57032, 59366, 531 }, /* rbac.authorization.k8s.io/v1 RoleBindingList */
    { 59253, 57032, 59382, 532 }, /* rbac.authorization.k8s.io/v1 RoleList */
    { 59391, 57032, 59407, 533 }, /* resource.k8s.io/v1 DeviceClass */
    { 59391, 57032, 59419, 539 }, /* resource.k8s.io/v1 DeviceClassList */
    { 59391, 57032, 59435, 540 }, /* resource.k8s.io/v1 DeviceTaintRule */
    { 59391, 57032, 59451, 545 }, /* resource.k8s.io/v1 DeviceTaintRuleList */
    { 59391, 57032, 59471, 546 }, /* resource.k8s.io/v1 ResourceClaim */
    { 59391, 57032, 59485, 565 }, /* resource.k8s.io/v1 ResourceClaimList */
    { 59391, 57032, 59503, 566 }, /* resource.k8s.io/v1 ResourceClaimTemplate */
    { 59391, 57032, 59525, 568 }, /* resource.k8s.io/v1 ResourceClaimTemplateList */
    { 59391, 57032, 59551, 569 }, /* resource.k8s.io/v1 ResourceSlice */
    { 59391, 57032, 59565, 583 }, /* resource.k8s.io/v1 ResourceSliceList */
    { 59583, 57032, 55920, 584 }, /* scheduling.k8s.io/v1 PriorityClass */
    { 59583, 57032, 59601, 585 }, /* scheduling.k8s.io/v1 PriorityClassList */
    { 59619, 57032, 59634, 586 }, /* storage.k8s.io/v1 CSIDriver */
    { 59619, 57032, 59644, 589 }, /* storage.k8s.io/v1 CSIDriverList */
    { 59619, 57032, 59658, 590 }, /* storage.k8s.io/v1 CSINode */
    { 59619, 57032, 59666, 597 }, /* storage.k8s.io/v1 CSINodeList */
    { 59619, 57032, 59678, 598 }, /* storage.k8s.io/v1 CSIStorageCapacity */
    { 59619, 57032, 59697, 599 }, /* storage.k8s.io/v1 CSIStorageCapacityList */
    { 59619, 57032, 59720, 600 }, /* storage.k8s.io/v1 StorageClass */
    { 59619, 57032, 59733, 603 }, /* storage.k8s.io/v1 StorageClassList */
    { 59619, 57032, 59750, 604 }, /* storage.k8s.io/v1 VolumeAttachment */
    { 59619, 57032, 59767, 609 }, /* storage.k8s.io/v1 VolumeAttachmentList */
    { 59619, 57032, 55934, 610 }, /* storage.k8s.io/v1 VolumeAttributesClass */
    { 59619, 57032, 59788, 611 }, /* storage.k8s.io/v1 VolumeAttributesClassList */
    { 59814, 57032, 59838, 612 }, /* storagemigration.k8s.io/v1 StorageVersionMigration */
    { 59814, 57032, 59862, 616 }, /* storagemigration.k8s.io/v1 StorageVersionMigrationList */
    { 59890, 57032, 59902, 283 }, /* meta.k8s.io/v1 Status */
    { 59890, 57032, 59909, 515 }, /* meta.k8s.io/v1 DeleteOptions */
    { 59890, 57032, 59923, 617 }, /* meta.k8s.io/v1 CreateOptions */
    { 59890, 57032, 59937, 618 }, /* meta.k8s.io/v1 UpdateOptions */
    { 59890, 57032, 59951, 619 }, /* meta.k8s.io/v1 PatchOptions */
    { 59890, 57032, 59964, 620 }, /* meta.k8s.io/v1 GetOptions */
    { 59890, 57032, 59975, 621 }, /* meta.k8s.io/v1 ListOptions */
    { 59890, 57032, 59987, 622 }, /* meta.k8s.io/v1 WatchEvent */
    { 59890, 57032, 59998, 623 }, /* meta.k8s.io/v1 Table */
    { 59890, 57032, 60004, 627 }, /* meta.k8s.io/v1 TableOptions */
    { 59890, 57032, 60017, 628 }, /* meta.k8s.io/v1 PartialObjectMetadata */
    { 59890, 57032, 60039, 629 }, /* meta.k8s.io/v1 PartialObjectMetadataList */
    { 59890, 57032, 60065, 630 }, /* meta.k8s.io/v1 APIGroup */
    { 59890, 57032, 60074, 633 }, /* meta.k8s.io/v1 APIGroupList */
    { 59890, 57032, 60087, 634 }, /* meta.k8s.io/v1 APIResourceList */
    { 59890, 57032, 60103, 636 }, /* meta.k8s.io/v1 APIVersions */
    { 59890, 57032, 60115, 84 }, /* meta.k8s.io/v1 LabelSelector */
};
const uint16_t builtin_n_kinds = 168;

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
    "podPreemptionPolicy" "\0"
    "key" "\0"
    "value" "\0"
    "effect" "\0"
    "timeAdded" "\0"
    "configMap" "\0"
    "kubeletConfigKey" "\0"
    "disableResizePreemption" "\0"
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
    "runningInUserNamespace" "\0"
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
    "healthStatus" "\0"
    "lastProbeTime" "\0"
    "targetVolumeAttributesClassName" "\0"
    "healthConditions" "\0"
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
    "evictionResponders" "\0"
    "emptyDir" "\0"
    "gitRepo" "\0"
    "secret" "\0"
    "persistentVolumeClaim" "\0"
    "downwardAPI" "\0"
    "projected" "\0"
    "ephemeral" "\0"
    "medium" "\0"
    "sizeLimit" "\0"
    "mode" "\0"
    "repository" "\0"
    "revision" "\0"
    "directory" "\0"
    "defaultMode" "\0"
    "optional" "\0"
    "defaultUser" "\0"
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
    "bindMountOptions" "\0"
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
    "volumeHealth" "\0"
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
    "mapping" "\0"
    "quantity" "\0"
    "perPod" "\0"
    "perContainer" "\0"
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
    "patchType" "\0"
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
    "auditAnnotations" "\0"
    "messageExpression" "\0"
    "valueExpression" "\0"
    "typeChecking" "\0"
    "expressionWarnings" "\0"
    "warning" "\0"
    "validationActions" "\0"
    "response" "\0"
    "desiredAPIVersion" "\0"
    "objects" "\0"
    "convertedObjects" "\0"
    "result" "\0"
    "details" "\0"
    "code" "\0"
    "causes" "\0"
    "retryAfterSeconds" "\0"
    "field" "\0"
    "versions" "\0"
    "conversion" "\0"
    "preserveUnknownFields" "\0"
    "plural" "\0"
    "singular" "\0"
    "shortNames" "\0"
    "listKind" "\0"
    "categories" "\0"
    "served" "\0"
    "storage" "\0"
    "deprecated" "\0"
    "deprecationWarning" "\0"
    "schema" "\0"
    "subresources" "\0"
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
    "version" "\0"
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
    "userInfo" "\0"
    "username" "\0"
    "groups" "\0"
    "extra" "\0"
    "audiences" "\0"
    "boundObjectRef" "\0"
    "attestations" "\0"
    "token" "\0"
    "expirationTimestamp" "\0"
    "authenticated" "\0"
    "resourceAttributes" "\0"
    "nonResourceAttributes" "\0"
    "verb" "\0"
    "fieldSelector" "\0"
    "rawSelector" "\0"
    "requirements" "\0"
    "allowed" "\0"
    "denied" "\0"
    "evaluationError" "\0"
    "nonResourceRules" "\0"
    "incomplete" "\0"
    "verbs" "\0"
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
    "object" "\0"
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
    "scheduling" "\0"
    "onExitCodes" "\0"
    "onPodConditions" "\0"
    "succeededIndexes" "\0"
    "succeededCount" "\0"
    "schedulingPolicy" "\0"
    "schedulingConstraints" "\0"
    "disruptionMode" "\0"
    "basic" "\0"
    "gang" "\0"
    "minCount" "\0"
    "topology" "\0"
    "single" "\0"
    "all" "\0"
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
    "trustBundle" "\0"
    "podName" "\0"
    "podUID" "\0"
    "serviceAccountUID" "\0"
    "nodeUID" "\0"
    "stubPKCS10Request" "\0"
    "unverifiedUserAnnotations" "\0"
    "certificateChain" "\0"
    "notBefore" "\0"
    "beginRefreshAt" "\0"
    "notAfter" "\0"
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
    "podFixed" "\0"
    "deleteOptions" "\0"
    "gracePeriodSeconds" "\0"
    "preconditions" "\0"
    "orphanDependents" "\0"
    "propagationPolicy" "\0"
    "dryRun" "\0"
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
    "deviceSelector" "\0"
    "taint" "\0"
    "device" "\0"
    "devices" "\0"
    "constraints" "\0"
    "exactly" "\0"
    "firstAvailable" "\0"
    "deviceClassName" "\0"
    "allocationMode" "\0"
    "adminAccess" "\0"
    "derivedAttributes" "\0"
    "matchAttribute" "\0"
    "distinctAttribute" "\0"
    "allocation" "\0"
    "reservedFor" "\0"
    "allocationTimestamp" "\0"
    "results" "\0"
    "bindingConditions" "\0"
    "bindingFailureConditions" "\0"
    "shareID" "\0"
    "consumedCapacity" "\0"
    "skipNodeOperations" "\0"
    "networkData" "\0"
    "interfaceName" "\0"
    "ips" "\0"
    "hardwareAddress" "\0"
    "allNodes" "\0"
    "perDeviceNodeSelection" "\0"
    "sharedCounters" "\0"
    "partitionTypeAttribute" "\0"
    "resourceSliceCount" "\0"
    "attributes" "\0"
    "consumesCounters" "\0"
    "bindsToNode" "\0"
    "allowMultipleAllocations" "\0"
    "nodeAllocatableResources" "\0"
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
    "compatibilityGroups" "\0"
    "capacityKey" "\0"
    "capacityMultiplier" "\0"
    "deviceMultiplier" "\0"
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
    "storageHealth" "\0"
    "accessMode" "\0"
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
    "io.k8s.api.core.v1.NodePodPreemptionPolicy" "\0"
    "v1.NodePodPreemptionPolicy" "\0"
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
    "io.k8s.api.core.v1.VolumeHealthStatus" "\0"
    "v1.VolumeHealthStatus" "\0"
    "io.k8s.api.core.v1.VolumeHealthCondition" "\0"
    "v1.VolumeHealthCondition" "\0"
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
    "io.k8s.api.core.v1.EvictionResponder" "\0"
    "v1.EvictionResponder" "\0"
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
    "io.k8s.api.core.v1.NodeAllocatableMappedResources" "\0"
    "v1.NodeAllocatableMappedResources" "\0"
    "io.k8s.api.core.v1.NodeAllocatableOverheadResources" "\0"
    "v1.NodeAllocatableOverheadResources" "\0"
    "io.k8s.api.core.v1.PodVolumeHealth" "\0"
    "v1.PodVolumeHealth" "\0"
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
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview" "\0"
    "v1.ConversionReview" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionRequest" "\0"
    "v1.ConversionRequest" "\0"
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionResponse" "\0"
    "v1.ConversionResponse" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.Status" "\0"
    "v1.Status" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails" "\0"
    "v1.StatusDetails" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause" "\0"
    "v1.StatusCause" "\0"
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
    "io.k8s.api.authentication.v1.UserInfo" "\0"
    "v1.UserInfo" "\0"
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
    "io.k8s.api.batch.v1.JobSchedulingConfiguration" "\0"
    "v1.JobSchedulingConfiguration" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy" "\0"
    "v1alpha3.WorkloadPodGroupSchedulingPolicy" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy" "\0"
    "v1alpha3.WorkloadPodGroupBasicSchedulingPolicy" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy" "\0"
    "v1alpha3.WorkloadPodGroupGangSchedulingPolicy" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints" "\0"
    "v1alpha3.WorkloadPodGroupSchedulingConstraints" "\0"
    "io.k8s.api.scheduling.v1alpha3.TopologyConstraint" "\0"
    "v1alpha3.TopologyConstraint" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupDisruptionMode" "\0"
    "v1alpha3.WorkloadPodGroupDisruptionMode" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode" "\0"
    "v1alpha3.WorkloadPodGroupSingleDisruptionMode" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode" "\0"
    "v1alpha3.WorkloadPodGroupAllDisruptionMode" "\0"
    "io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupResourceClaim" "\0"
    "v1alpha3.WorkloadPodGroupResourceClaim" "\0"
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
    "io.k8s.api.certificates.v1.ClusterTrustBundle" "\0"
    "v1.ClusterTrustBundle" "\0"
    "io.k8s.api.certificates.v1.ClusterTrustBundleSpec" "\0"
    "v1.ClusterTrustBundleSpec" "\0"
    "io.k8s.api.certificates.v1.ClusterTrustBundleList" "\0"
    "v1.ClusterTrustBundleList" "\0"
    "io.k8s.api.certificates.v1.PodCertificateRequest" "\0"
    "v1.PodCertificateRequest" "\0"
    "io.k8s.api.certificates.v1.PodCertificateRequestSpec" "\0"
    "v1.PodCertificateRequestSpec" "\0"
    "io.k8s.api.certificates.v1.PodCertificateRequestStatus" "\0"
    "v1.PodCertificateRequestStatus" "\0"
    "io.k8s.api.certificates.v1.PodCertificateRequestList" "\0"
    "v1.PodCertificateRequestList" "\0"
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
    "io.k8s.api.resource.v1.DeviceTaintRule" "\0"
    "v1.DeviceTaintRule" "\0"
    "io.k8s.api.resource.v1.DeviceTaintRuleSpec" "\0"
    "v1.DeviceTaintRuleSpec" "\0"
    "io.k8s.api.resource.v1.DeviceTaintSelector" "\0"
    "v1.DeviceTaintSelector" "\0"
    "io.k8s.api.resource.v1.DeviceTaint" "\0"
    "v1.DeviceTaint" "\0"
    "io.k8s.api.resource.v1.DeviceTaintRuleStatus" "\0"
    "v1.DeviceTaintRuleStatus" "\0"
    "io.k8s.api.resource.v1.DeviceTaintRuleList" "\0"
    "v1.DeviceTaintRuleList" "\0"
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
    "io.k8s.api.resource.v1.DeviceDerivedAttribute" "\0"
    "v1.DeviceDerivedAttribute" "\0"
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
    "io.k8s.api.resource.v1.NodeAllocatableResource" "\0"
    "v1.NodeAllocatableResource" "\0"
    "io.k8s.api.resource.v1.NodeAllocatableMapping" "\0"
    "v1.NodeAllocatableMapping" "\0"
    "io.k8s.api.resource.v1.NodeAllocatableOverhead" "\0"
    "v1.NodeAllocatableOverhead" "\0"
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
    "io.k8s.api.storage.v1.CSINodeStatus" "\0"
    "v1.CSINodeStatus" "\0"
    "io.k8s.api.storage.v1.StorageHealth" "\0"
    "v1.StorageHealth" "\0"
    "io.k8s.api.storage.v1.StorageHealthCondition" "\0"
    "v1.StorageHealthCondition" "\0"
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
    "io.k8s.api.storagemigration.v1.StorageVersionMigration" "\0"
    "v1.StorageVersionMigration" "\0"
    "io.k8s.api.storagemigration.v1.StorageVersionMigrationSpec" "\0"
    "v1.StorageVersionMigrationSpec" "\0"
    "io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource" "\0"
    "v1.GroupResource" "\0"
    "io.k8s.api.storagemigration.v1.StorageVersionMigrationStatus" "\0"
    "v1.StorageVersionMigrationStatus" "\0"
    "io.k8s.api.storagemigration.v1.StorageVersionMigrationList" "\0"
    "v1.StorageVersionMigrationList" "\0"
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
    "DataLoss" "\0"
    "Degraded" "\0"
    "Inaccessible" "\0"
    "Always" "\0"
    "IfNotPresent" "\0"
    "Never" "\0"
    "Bidirectional" "\0"
    "HostToContainer" "\0"
    "HTTP" "\0"
    "HTTPS" "\0"
    "HTTP1" "\0"
    "HTTP2" "\0"
    "Plaintext" "\0"
    "TLS" "\0"
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
    "NodePrepareResources" "\0"
    "NodeUnprepareResources" "\0"
    "FromClaim" "\0"
    "FromClass" "\0"
    "StorageDegraded" "\0"
    "StorageUnreachable" "\0"
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
    "86400" "\0"
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
    "v2" "\0"
    "batch" "\0"
    "CronJob" "\0"
    "CronJobList" "\0"
    "Job" "\0"
    "JobList" "\0"
    "certificates.k8s.io" "\0"
    "CertificateSigningRequest" "\0"
    "CertificateSigningRequestList" "\0"
    "ClusterTrustBundle" "\0"
    "ClusterTrustBundleList" "\0"
    "PodCertificateRequest" "\0"
    "PodCertificateRequestList" "\0"
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
    "DeviceTaintRule" "\0"
    "DeviceTaintRuleList" "\0"
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
    "storagemigration.k8s.io" "\0"
    "StorageVersionMigration" "\0"
    "StorageVersionMigrationList" "\0"
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
