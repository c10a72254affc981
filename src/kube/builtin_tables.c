/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/gen-kinds from k8s.io/api v0.37.2. Do not edit. */
/* clang-format off */
#include "kube/builtin_tables.h"

const char builtin_api_version[] = "v0.37.2";

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
    { 699, 130, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 132, 3, 0, FIELD_OMIT_EMPTY }, /* status */
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
    { 1652, 120, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* claimRef */
    { 1661, 121, 5, 0, FIELD_OMIT_EMPTY }, /* persistentVolumeReclaimPolicy */
    { 1691, 0, 6, 0, FIELD_OMIT_EMPTY }, /* storageClassName */
    { 1708, 47, 7, 0, FIELD_OMIT_EMPTY }, /* mountOptions */
    { 1721, 122, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 1732, 129, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinity */
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
    { 2433, 128, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* required */
    /* v1.NodeSelector */
    { 2442, 127, 1, 0, FIELD_IS_REQUIRED }, /* nodeSelectorTerms */
    /* v1.NodeSelectorTerm */
    { 2460, 125, 1, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    { 2477, 125, 2, 0, FIELD_OMIT_EMPTY }, /* matchFields */
    /* v1.NodeSelectorRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2489, 123, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.PersistentVolumeStatus */
    { 763, 131, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 2505, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastPhaseTransitionTime */
    /* v1.PersistentVolumeClaim */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 139, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 151, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PersistentVolumeClaimSpec */
    { 1640, 119, 1, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 400, 135, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 2529, 136, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 2263, 0, 3, 0, FIELD_OMIT_EMPTY }, /* volumeName */
    { 1691, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageClassName */
    { 1721, 122, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 2539, 137, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dataSource */
    { 2550, 138, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dataSourceRef */
    { 1745, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeAttributesClassName */
    /* v1.LabelSelector */
    { 2564, 3, 1, 0, FIELD_OMIT_EMPTY }, /* matchLabels */
    { 2460, 134, 2, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
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
    { 763, 140, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 1640, 119, 2, 0, FIELD_OMIT_EMPTY }, /* accessModes */
    { 959, 39, 3, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 319, 142, 4, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 2594, 39, 5, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2613, 144, 7, 0, FIELD_OMIT_EMPTY }, /* allocatedResourceStatuses */
    { 2639, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* currentVolumeAttributesClassName */
    { 2672, 146, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* modifyVolumeStatus */
    { 2691, 150, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* healthStatus */
    /* v1.PersistentVolumeClaimCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2704, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.ModifyVolumeStatus */
    { 2718, 0, 1, 0, FIELD_OMIT_EMPTY }, /* targetVolumeAttributesClassName */
    { 335, 145, 2, 0, FIELD_IS_REQUIRED }, /* status */
    /* v1.VolumeHealthStatus */
    { 2750, 149, 1, 0, FIELD_OMIT_EMPTY }, /* healthConditions */
    { 769, 2, 2, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.VolumeHealthCondition */
    { 335, 147, 1, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_IS_REQUIRED }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.PersistentVolumeClaimList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 153, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PersistentVolumeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 155, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Pod */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 293, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 331, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodSpec */
    { 2767, 194, 1, 0, FIELD_OMIT_EMPTY }, /* volumes */
    { 2775, 247, 20, 0, FIELD_OMIT_EMPTY }, /* initContainers */
    { 2790, 247, 2, 0, FIELD_IS_REQUIRED }, /* containers */
    { 2801, 249, 34, 0, FIELD_OMIT_EMPTY }, /* ephemeralContainers */
    { 2821, 250, 3, 0, FIELD_OMIT_EMPTY }, /* restartPolicy */
    { 2835, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminationGracePeriodSeconds */
    { 2865, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* activeDeadlineSeconds */
    { 2887, 251, 6, 0, FIELD_OMIT_EMPTY }, /* dnsPolicy */
    { 2897, 252, 7, 0, FIELD_OMIT_EMPTY }, /* nodeSelector */
    { 2910, 0, 8, 0, FIELD_OMIT_EMPTY }, /* serviceAccountName */
    { 2929, 0, 9, 0, FIELD_OMIT_EMPTY }, /* serviceAccount */
    { 2944, 4, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* automountServiceAccountToken */
    { 489, 0, 10, 0, FIELD_OMIT_EMPTY }, /* nodeName */
    { 2973, 4, 11, 0, FIELD_OMIT_EMPTY }, /* hostNetwork */
    { 2985, 4, 12, 0, FIELD_OMIT_EMPTY }, /* hostPID */
    { 2993, 4, 13, 0, FIELD_OMIT_EMPTY }, /* hostIPC */
    { 3001, 4, 27, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareProcessNamespace */
    { 3023, 258, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 3039, 259, 15, 0, FIELD_OMIT_EMPTY }, /* imagePullSecrets */
    { 480, 0, 16, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 3056, 0, 17, 0, FIELD_OMIT_EMPTY }, /* subdomain */
    { 3066, 269, 18, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* affinity */
    { 3075, 0, 19, 0, FIELD_OMIT_EMPTY }, /* schedulerName */
    { 3089, 272, 22, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 3101, 274, 23, 0, FIELD_OMIT_EMPTY }, /* hostAliases */
    { 3113, 0, 24, 0, FIELD_OMIT_EMPTY }, /* priorityClassName */
    { 3131, 25, 25, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* priority */
    { 3140, 277, 26, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dnsConfig */
    { 3150, 279, 28, 0, FIELD_OMIT_EMPTY }, /* readinessGates */
    { 3165, 0, 29, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runtimeClassName */
    { 3182, 4, 30, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* enableServiceLinks */
    { 3201, 280, 31, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preemptionPolicy */
    { 3218, 39, 32, 0, FIELD_OMIT_EMPTY }, /* overhead */
    { 3227, 284, 33, 0, FIELD_OMIT_EMPTY }, /* topologySpreadConstraints */
    { 3253, 4, 35, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* setHostnameAsFQDN */
    { 3271, 285, 36, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* os */
    { 3274, 4, 37, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostUsers */
    { 3284, 287, 38, 0, FIELD_OMIT_EMPTY }, /* schedulingGates */
    { 3300, 289, 39, 0, FIELD_OMIT_EMPTY }, /* resourceClaims */
    { 2529, 210, 40, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 3315, 0, 41, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostnameOverride */
    { 3332, 290, 43, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingGroup */
    { 3348, 292, 44, 0, FIELD_OMIT_EMPTY }, /* evictionResponders */
    /* v1.Volume */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1465, 87, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostPath */
    { 3367, 156, 2, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* emptyDir */
    { 1426, 84, 3, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gcePersistentDisk */
    { 1444, 85, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* awsElasticBlockStore */
    { 3376, 157, 5, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gitRepo */
    { 3384, 160, 6, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secret */
    { 1484, 89, 7, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nfs */
    { 1492, 163, 8, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* iscsi */
    { 1474, 164, 9, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* glusterfs */
    { 3391, 165, 10, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeClaim */
    { 1488, 166, 11, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rbd */
    { 1523, 167, 12, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flexVolume */
    { 1498, 168, 13, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cinder */
    { 1505, 169, 14, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cephfs */
    { 1515, 100, 15, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* flocker */
    { 3413, 174, 16, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* downwardAPI */
    { 1512, 99, 17, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fc */
    { 1534, 175, 18, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureFile */
    { 908, 176, 19, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    { 1544, 103, 20, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* vsphereVolume */
    { 1558, 104, 21, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* quobyte */
    { 1566, 109, 22, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* azureDisk */
    { 1576, 110, 23, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* photonPersistentDisk */
    { 3425, 185, 26, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* projected */
    { 1597, 111, 24, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* portworxVolume */
    { 1612, 186, 25, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleIO */
    { 1626, 187, 27, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageos */
    { 1636, 188, 28, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* csi */
    { 3435, 190, 29, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ephemeral */
    { 1858, 192, 30, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* image */
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
    { 356, 159, 2, 0, FIELD_OMIT_EMPTY }, /* items */
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
    { 1882, 162, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1970, 0, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* initiatorName */
    /* v1.LocalObjectReference */
    { 33, 161, 1, 0, FIELD_OMIT_EMPTY }, /* name */
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
    { 1882, 162, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 8, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.FlexVolumeSource */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1882, 162, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 4, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 2043, 3, 5, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.CinderVolumeSource */
    { 1804, 0, 1, 0, FIELD_IS_REQUIRED }, /* volumeID */
    { 1778, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fsType */
    { 1795, 4, 3, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 1882, 162, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CephFSVolumeSource */
    { 1849, 47, 1, 0, FIELD_IS_REQUIRED }, /* monitors */
    { 1421, 0, 2, 0, FIELD_OMIT_EMPTY }, /* path */
    { 1869, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 1984, 0, 4, 0, FIELD_OMIT_EMPTY }, /* secretFile */
    { 1882, 162, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    { 1795, 4, 6, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    /* v1.DownwardAPIVolumeSource */
    { 356, 173, 1, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3497, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3518, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.DownwardAPIVolumeFile */
    { 1421, 0, 1, 0, FIELD_IS_REQUIRED }, /* path */
    { 3540, 170, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldRef */
    { 3549, 171, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceFieldRef */
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
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 159, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3497, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    { 3518, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.ProjectedVolumeSource */
    { 3597, 184, 1, 0, 0 }, /* sources */
    { 3497, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultMode */
    { 3518, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultUser */
    /* v1.VolumeProjection */
    { 3384, 177, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secret */
    { 3413, 178, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* downwardAPI */
    { 908, 179, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMap */
    { 3605, 180, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccountToken */
    { 3625, 181, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clusterTrustBundle */
    { 3644, 182, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podCertificate */
    /* v1.SecretProjection */
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 159, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.DownwardAPIProjection */
    { 356, 173, 1, 0, FIELD_OMIT_EMPTY }, /* items */
    /* v1.ConfigMapProjection */
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 356, 159, 2, 0, FIELD_OMIT_EMPTY }, /* items */
    { 3509, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.ServiceAccountTokenProjection */
    { 3659, 0, 1, 0, FIELD_OMIT_EMPTY }, /* audience */
    { 3668, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    { 1421, 0, 3, 0, FIELD_IS_REQUIRED }, /* path */
    { 1869, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    /* v1.ClusterTrustBundleProjection */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* name */
    { 3686, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* signerName */
    { 3697, 135, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
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
    { 1882, 162, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* secretRef */
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
    { 1882, 162, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.CSIVolumeSource */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1795, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnly */
    { 1778, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsType */
    { 2303, 3, 4, 0, FIELD_OMIT_EMPTY }, /* volumeAttributes */
    { 2366, 162, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodePublishSecretRef */
    /* v1.EphemeralVolumeSource */
    { 3806, 189, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeClaimTemplate */
    /* v1.PersistentVolumeClaimTemplate */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 139, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ImageVolumeSource */
    { 3826, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reference */
    { 3836, 191, 2, 0, FIELD_OMIT_EMPTY }, /* pullPolicy */
    /* v1.Container */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1858, 0, 2, 0, FIELD_OMIT_EMPTY }, /* image */
    { 3847, 47, 3, 0, FIELD_OMIT_EMPTY }, /* command */
    { 3855, 47, 4, 0, FIELD_OMIT_EMPTY }, /* args */
    { 3860, 0, 5, 0, FIELD_OMIT_EMPTY }, /* workingDir */
    { 471, 197, 6, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 3871, 201, 19, 0, FIELD_OMIT_EMPTY }, /* envFrom */
    { 3879, 207, 7, 0, FIELD_OMIT_EMPTY }, /* env */
    { 2529, 210, 8, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 3883, 212, 23, 0, FIELD_OMIT_EMPTY }, /* resizePolicy */
    { 2821, 0, 24, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* restartPolicy */
    { 3896, 216, 25, 0, FIELD_OMIT_EMPTY }, /* restartPolicyRules */
    { 3915, 219, 9, 0, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 3928, 221, 21, 0, FIELD_OMIT_EMPTY }, /* volumeDevices */
    { 3942, 232, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* livenessProbe */
    { 3956, 232, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readinessProbe */
    { 3971, 232, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startupProbe */
    { 3984, 236, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lifecycle */
    { 3994, 0, 13, 0, FIELD_OMIT_EMPTY }, /* terminationMessagePath */
    { 4017, 237, 20, 0, FIELD_OMIT_EMPTY }, /* terminationMessagePolicy */
    { 4042, 191, 14, 0, FIELD_OMIT_EMPTY }, /* imagePullPolicy */
    { 3023, 245, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 4058, 4, 16, 0, FIELD_OMIT_EMPTY }, /* stdin */
    { 4064, 4, 17, 0, FIELD_OMIT_EMPTY }, /* stdinOnce */
    { 4074, 4, 18, 0, FIELD_OMIT_EMPTY }, /* tty */
    /* v1.ContainerPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 4078, 25, 2, 0, FIELD_OMIT_EMPTY }, /* hostPort */
    { 4087, 25, 3, 0, FIELD_IS_REQUIRED }, /* containerPort */
    { 513, 195, 4, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 4101, 0, 5, 0, FIELD_OMIT_EMPTY }, /* hostIP */
    /* v1.EnvFromSource */
    { 4108, 0, 1, 0, FIELD_OMIT_EMPTY }, /* prefix */
    { 4115, 198, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMapRef */
    { 1882, 199, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretRef */
    /* v1.ConfigMapEnvSource */
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 3509, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.SecretEnvSource */
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 3509, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.EnvVar */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 4128, 205, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* valueFrom */
    /* v1.EnvVarSource */
    { 3540, 170, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldRef */
    { 3549, 171, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceFieldRef */
    { 4138, 202, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* configMapKeyRef */
    { 4154, 203, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* secretKeyRef */
    { 4167, 204, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fileKeyRef */
    /* v1.ConfigMapKeySelector */
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
    { 881, 0, 2, 0, FIELD_IS_REQUIRED }, /* key */
    { 3509, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optional */
    /* v1.SecretKeySelector */
    { 33, 161, 1, 1, FIELD_OMIT_EMPTY }, /* name */
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
    { 4178, 209, 3, 0, FIELD_OMIT_EMPTY }, /* claims */
    /* v1.ResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 4185, 0, 2, 0, FIELD_OMIT_EMPTY }, /* request */
    /* v1.ContainerResizePolicy */
    { 4193, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceName */
    { 2821, 0, 2, 0, FIELD_IS_REQUIRED }, /* restartPolicy */
    /* v1.ContainerRestartRule */
    { 615, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* action */
    { 4206, 214, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exitCodes */
    /* v1.ContainerRestartRuleOnExitCodes */
    { 2489, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* operator */
    { 2498, 213, 2, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.VolumeMount */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1795, 4, 2, 0, FIELD_OMIT_EMPTY }, /* readOnly */
    { 4216, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* recursiveReadOnly */
    { 4234, 0, 3, 0, FIELD_IS_REQUIRED }, /* mountPath */
    { 4244, 0, 4, 0, FIELD_OMIT_EMPTY }, /* subPath */
    { 4252, 217, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mountPropagation */
    { 4269, 0, 6, 0, FIELD_OMIT_EMPTY }, /* subPathExpr */
    { 4281, 60, 8, 0, FIELD_OMIT_EMPTY }, /* bindMountOptions */
    /* v1.VolumeDevice */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 1316, 0, 2, 0, FIELD_IS_REQUIRED }, /* devicePath */
    /* v1.Probe */
    { 4298, 222, 1, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exec */
    { 4303, 228, 2, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* httpGet */
    { 4311, 229, 3, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tcpSocket */
    { 4321, 231, 4, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* grpc */
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
    { 508, 223, 2, 0, FIELD_IS_REQUIRED }, /* port */
    { 677, 0, 3, 0, FIELD_OMIT_EMPTY }, /* host */
    { 4409, 224, 4, 0, FIELD_OMIT_EMPTY }, /* scheme */
    { 4416, 226, 5, 0, FIELD_OMIT_EMPTY }, /* httpHeaders */
    { 513, 227, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* protocol */
    /* v1.HTTPHeader */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 885, 0, 2, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.TCPSocketAction */
    { 508, 223, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 677, 0, 2, 0, FIELD_OMIT_EMPTY }, /* host */
    /* v1.GRPCAction */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 4428, 161, 2, 0, FIELD_POINTER }, /* service */
    { 3462, 230, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mode */
    /* v1.Lifecycle */
    { 4436, 234, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* postStart */
    { 4446, 234, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preStop */
    { 4454, 235, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stopSignal */
    /* v1.LifecycleHandler */
    { 4298, 222, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exec */
    { 4303, 228, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* httpGet */
    { 4311, 229, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tcpSocket */
    { 4465, 233, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sleep */
    /* v1.SleepAction */
    { 4471, 1, 1, 0, FIELD_IS_REQUIRED }, /* seconds */
    /* v1.SecurityContext */
    { 4479, 238, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capabilities */
    { 4492, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* privileged */
    { 4503, 239, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxOptions */
    { 4518, 240, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* windowsOptions */
    { 4533, 1, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUser */
    { 4543, 1, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsGroup */
    { 4554, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsNonRoot */
    { 4567, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readOnlyRootFilesystem */
    { 4590, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowPrivilegeEscalation */
    { 4615, 241, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* procMount */
    { 4625, 243, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seccompProfile */
    { 4640, 244, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appArmorProfile */
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
    { 330, 242, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 4744, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* localhostProfile */
    /* v1.AppArmorProfile */
    { 330, 242, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 4744, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* localhostProfile */
    /* v1.EphemeralContainer */
    { 33, 0, 1, 1, FIELD_IS_REQUIRED }, /* name */
    { 1858, 0, 2, 1, FIELD_OMIT_EMPTY }, /* image */
    { 3847, 47, 3, 1, FIELD_OMIT_EMPTY }, /* command */
    { 3855, 47, 4, 1, FIELD_OMIT_EMPTY }, /* args */
    { 3860, 0, 5, 1, FIELD_OMIT_EMPTY }, /* workingDir */
    { 471, 197, 6, 1, FIELD_OMIT_EMPTY }, /* ports */
    { 3871, 201, 19, 1, FIELD_OMIT_EMPTY }, /* envFrom */
    { 3879, 207, 7, 1, FIELD_OMIT_EMPTY }, /* env */
    { 2529, 210, 8, 1, FIELD_OMIT_EMPTY }, /* resources */
    { 3883, 212, 23, 1, FIELD_OMIT_EMPTY }, /* resizePolicy */
    { 2821, 0, 24, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* restartPolicy */
    { 3896, 216, 25, 1, FIELD_OMIT_EMPTY }, /* restartPolicyRules */
    { 3915, 219, 9, 1, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 3928, 221, 21, 1, FIELD_OMIT_EMPTY }, /* volumeDevices */
    { 3942, 232, 10, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* livenessProbe */
    { 3956, 232, 11, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* readinessProbe */
    { 3971, 232, 22, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startupProbe */
    { 3984, 236, 12, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lifecycle */
    { 3994, 0, 13, 1, FIELD_OMIT_EMPTY }, /* terminationMessagePath */
    { 4017, 237, 20, 1, FIELD_OMIT_EMPTY }, /* terminationMessagePolicy */
    { 4042, 191, 14, 1, FIELD_OMIT_EMPTY }, /* imagePullPolicy */
    { 3023, 245, 15, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* securityContext */
    { 4058, 4, 16, 1, FIELD_OMIT_EMPTY }, /* stdin */
    { 4064, 4, 17, 1, FIELD_OMIT_EMPTY }, /* stdinOnce */
    { 4074, 4, 18, 1, FIELD_OMIT_EMPTY }, /* tty */
    { 4761, 0, 2, 0, FIELD_OMIT_EMPTY }, /* targetContainerName */
    /* v1.PodSecurityContext */
    { 4503, 239, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxOptions */
    { 4518, 240, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* windowsOptions */
    { 4533, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsUser */
    { 4543, 1, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsGroup */
    { 4554, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* runAsNonRoot */
    { 4781, 253, 4, 0, FIELD_OMIT_EMPTY }, /* supplementalGroups */
    { 1396, 254, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* supplementalGroupsPolicy */
    { 4800, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroup */
    { 4808, 256, 7, 0, FIELD_OMIT_EMPTY }, /* sysctls */
    { 4816, 257, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroupChangePolicy */
    { 4625, 243, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seccompProfile */
    { 4640, 244, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appArmorProfile */
    { 4836, 0, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxChangePolicy */
    /* v1.Sysctl */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 885, 0, 2, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.Affinity */
    { 1732, 262, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinity */
    { 4856, 267, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podAffinity */
    { 4868, 268, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podAntiAffinity */
    /* v1.NodeAffinity */
    { 4884, 128, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4931, 261, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.PreferredSchedulingTerm */
    { 4979, 25, 1, 0, FIELD_IS_REQUIRED }, /* weight */
    { 4986, 126, 2, 0, FIELD_IS_REQUIRED }, /* preference */
    /* v1.PodAffinity */
    { 4884, 264, 1, 0, FIELD_OMIT_EMPTY }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4931, 266, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.PodAffinityTerm */
    { 3697, 135, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 4997, 47, 2, 0, FIELD_OMIT_EMPTY }, /* namespaces */
    { 5008, 0, 3, 0, FIELD_IS_REQUIRED }, /* topologyKey */
    { 5020, 135, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 5038, 47, 5, 0, FIELD_OMIT_EMPTY }, /* matchLabelKeys */
    { 5053, 47, 6, 0, FIELD_OMIT_EMPTY }, /* mismatchLabelKeys */
    /* v1.WeightedPodAffinityTerm */
    { 4979, 25, 1, 0, FIELD_IS_REQUIRED }, /* weight */
    { 5071, 263, 2, 0, FIELD_IS_REQUIRED }, /* podAffinityTerm */
    /* v1.PodAntiAffinity */
    { 4884, 264, 1, 0, FIELD_OMIT_EMPTY }, /* requiredDuringSchedulingIgnoredDuringExecution */
    { 4931, 266, 2, 0, FIELD_OMIT_EMPTY }, /* preferredDuringSchedulingIgnoredDuringExecution */
    /* v1.Toleration */
    { 881, 0, 1, 0, FIELD_OMIT_EMPTY }, /* key */
    { 2489, 270, 2, 0, FIELD_OMIT_EMPTY }, /* operator */
    { 885, 0, 3, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 55, 4, 0, FIELD_OMIT_EMPTY }, /* effect */
    { 5087, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerationSeconds */
    /* v1.HostAlias */
    { 477, 0, 1, 0, FIELD_IS_REQUIRED }, /* ip */
    { 5105, 47, 2, 0, FIELD_OMIT_EMPTY }, /* hostnames */
    /* v1.PodDNSConfig */
    { 5115, 47, 1, 0, FIELD_OMIT_EMPTY }, /* nameservers */
    { 5127, 47, 2, 0, FIELD_OMIT_EMPTY }, /* searches */
    { 2043, 276, 3, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.PodDNSConfigOption */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    /* v1.PodReadinessGate */
    { 5136, 0, 1, 0, FIELD_IS_REQUIRED }, /* conditionType */
    /* v1.TopologySpreadConstraint */
    { 5150, 25, 1, 0, FIELD_IS_REQUIRED }, /* maxSkew */
    { 5008, 0, 2, 0, FIELD_IS_REQUIRED }, /* topologyKey */
    { 5158, 281, 3, 0, FIELD_IS_REQUIRED }, /* whenUnsatisfiable */
    { 3697, 135, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    { 5176, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minDomains */
    { 5187, 282, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAffinityPolicy */
    { 5206, 282, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeTaintsPolicy */
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
    { 763, 294, 1, 0, FIELD_OMIT_EMPTY }, /* phase */
    { 319, 296, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 5299, 0, 11, 0, FIELD_OMIT_EMPTY }, /* nominatedNodeName */
    { 4101, 0, 5, 0, FIELD_OMIT_EMPTY }, /* hostIP */
    { 5317, 298, 16, 0, FIELD_OMIT_EMPTY }, /* hostIPs */
    { 5325, 0, 6, 0, FIELD_OMIT_EMPTY }, /* podIP */
    { 5331, 300, 12, 0, FIELD_OMIT_EMPTY }, /* podIPs */
    { 5338, 2, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startTime */
    { 5348, 316, 10, 0, FIELD_OMIT_EMPTY }, /* initContainerStatuses */
    { 5370, 316, 8, 0, FIELD_OMIT_EMPTY }, /* containerStatuses */
    { 5388, 317, 9, 0, FIELD_OMIT_EMPTY }, /* qosClass */
    { 5397, 316, 13, 0, FIELD_OMIT_EMPTY }, /* ephemeralContainerStatuses */
    { 5424, 0, 14, 0, FIELD_OMIT_EMPTY }, /* resize */
    { 5431, 319, 15, 0, FIELD_OMIT_EMPTY }, /* resourceClaimStatuses */
    { 5453, 322, 18, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* extendedResourceClaimStatus */
    { 2594, 39, 19, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2529, 210, 20, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 5481, 328, 21, 0, FIELD_OMIT_EMPTY }, /* nodeAllocatableResourceClaimStatuses */
    { 5518, 330, 22, 0, FIELD_OMIT_EMPTY }, /* volumeHealth */
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
    { 5531, 304, 2, 0, FIELD_OMIT_EMPTY }, /* state */
    { 5537, 304, 3, 0, FIELD_OMIT_EMPTY }, /* lastState */
    { 5547, 4, 4, 0, FIELD_IS_REQUIRED }, /* ready */
    { 5553, 25, 5, 0, FIELD_IS_REQUIRED }, /* restartCount */
    { 1858, 0, 6, 0, FIELD_IS_REQUIRED }, /* image */
    { 5566, 0, 7, 0, FIELD_IS_REQUIRED }, /* imageID */
    { 5574, 0, 8, 0, FIELD_OMIT_EMPTY }, /* containerID */
    { 5586, 4, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* started */
    { 2594, 39, 10, 0, FIELD_OMIT_EMPTY }, /* allocatedResources */
    { 2529, 210, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resources */
    { 3915, 308, 12, 0, FIELD_OMIT_EMPTY }, /* volumeMounts */
    { 1869, 310, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    { 5594, 314, 14, 0, FIELD_OMIT_EMPTY }, /* allocatedResourcesStatus */
    { 4454, 235, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stopSignal */
    /* v1.ContainerState */
    { 5619, 301, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* waiting */
    { 5627, 302, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* running */
    { 5635, 303, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminated */
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
    { 5683, 306, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeStatus */
    /* v1.VolumeStatus */
    { 1858, 305, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* image */
    /* v1.ImageVolumeStatus */
    { 5696, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* imageRef */
    /* v1.ContainerUser */
    { 5705, 309, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* linux */
    /* v1.LinuxContainerUser */
    { 70, 1, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 5711, 1, 2, 0, FIELD_IS_REQUIRED }, /* gid */
    { 4781, 253, 3, 0, FIELD_OMIT_EMPTY }, /* supplementalGroups */
    /* v1.ResourceStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2529, 312, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    /* v1.ResourceHealth */
    { 5715, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceID */
    { 5726, 0, 2, 0, FIELD_OMIT_EMPTY }, /* health */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* message */
    /* v1.PodResourceClaimStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5223, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    /* v1.PodExtendedResourceClaimStatus */
    { 5733, 321, 1, 0, FIELD_IS_REQUIRED }, /* requestMappings */
    { 5223, 0, 2, 0, FIELD_IS_REQUIRED }, /* resourceClaimName */
    /* v1.ContainerExtendedResourceRequest */
    { 3566, 0, 1, 0, FIELD_IS_REQUIRED }, /* containerName */
    { 4193, 0, 2, 0, FIELD_IS_REQUIRED }, /* resourceName */
    { 5749, 0, 3, 0, FIELD_IS_REQUIRED }, /* requestName */
    /* v1.NodeAllocatableResourceClaimStatus */
    { 5223, 0, 1, 0, FIELD_IS_REQUIRED }, /* resourceClaimName */
    { 2790, 60, 2, 0, FIELD_OMIT_EMPTY }, /* containers */
    { 5761, 324, 4, 0, FIELD_OMIT_EMPTY }, /* mapping */
    { 3218, 326, 5, 0, FIELD_OMIT_EMPTY }, /* overhead */
    /* v1.NodeAllocatableMappedResources */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5769, 38, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* quantity */
    /* v1.NodeAllocatableOverheadResources */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5778, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perPod */
    { 5785, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perContainer */
    /* v1.PodVolumeHealth */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2750, 149, 2, 0, FIELD_OMIT_EMPTY }, /* healthConditions */
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
    { 356, 333, 2, 0, FIELD_IS_REQUIRED }, /* items */
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
    { 471, 334, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.PodProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.PodTemplate */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 5929, 335, 2, 0, FIELD_OMIT_EMPTY }, /* template */
    /* v1.PodTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 293, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.PodTemplateList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 337, 2, 0, FIELD_IS_REQUIRED }, /* items */
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
    { 699, 340, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 343, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ReplicationControllerSpec */
    { 5944, 338, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 5953, 339, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 400, 252, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    { 5929, 335, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* template */
    /* v1.ReplicationControllerStatus */
    { 5944, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5969, 25, 2, 0, FIELD_OMIT_EMPTY }, /* fullyLabeledReplicas */
    { 5990, 25, 4, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 6004, 25, 5, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 5280, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 319, 342, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 345, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceQuota */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 352, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 353, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ResourceQuotaSpec */
    { 6022, 39, 1, 0, FIELD_OMIT_EMPTY }, /* hard */
    { 6027, 347, 2, 0, FIELD_OMIT_EMPTY }, /* scopes */
    { 6034, 351, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scopeSelector */
    /* v1.ScopeSelector */
    { 2460, 350, 1, 0, FIELD_OMIT_EMPTY }, /* matchExpressions */
    /* v1.ScopedResourceSelectorRequirement */
    { 6048, 346, 1, 0, FIELD_IS_REQUIRED }, /* scopeName */
    { 2489, 348, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.ResourceQuotaStatus */
    { 6022, 39, 1, 0, FIELD_OMIT_EMPTY }, /* hard */
    { 6058, 39, 2, 0, FIELD_OMIT_EMPTY }, /* used */
    /* v1.ResourceQuotaList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 355, 2, 0, FIELD_IS_REQUIRED }, /* items */
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
    { 356, 357, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.SerializedReference */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3826, 12, 1, 0, FIELD_OMIT_EMPTY }, /* reference */
    /* v1.Service */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 368, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 376, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ServiceSpec */
    { 471, 359, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 400, 252, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    { 6074, 0, 3, 0, FIELD_OMIT_EMPTY }, /* clusterIP */
    { 6084, 47, 18, 0, FIELD_OMIT_EMPTY }, /* clusterIPs */
    { 330, 360, 4, 0, FIELD_OMIT_EMPTY }, /* type */
    { 6095, 47, 5, 0, FIELD_OMIT_EMPTY }, /* externalIPs */
    { 6107, 361, 7, 0, FIELD_OMIT_EMPTY }, /* sessionAffinity */
    { 6123, 0, 8, 0, FIELD_OMIT_EMPTY }, /* loadBalancerIP */
    { 6138, 47, 9, 0, FIELD_OMIT_EMPTY }, /* loadBalancerSourceRanges */
    { 6163, 0, 10, 0, FIELD_OMIT_EMPTY }, /* externalName */
    { 6176, 362, 11, 0, FIELD_OMIT_EMPTY }, /* externalTrafficPolicy */
    { 6198, 25, 12, 0, FIELD_OMIT_EMPTY }, /* healthCheckNodePort */
    { 6218, 4, 13, 0, FIELD_OMIT_EMPTY }, /* publishNotReadyAddresses */
    { 6243, 364, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sessionAffinityConfig */
    { 6265, 366, 19, 0, FIELD_OMIT_EMPTY }, /* ipFamilies */
    { 6276, 367, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipFamilyPolicy */
    { 6291, 4, 20, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocateLoadBalancerNodePorts */
    { 6321, 0, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* loadBalancerClass */
    { 6339, 362, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* internalTrafficPolicy */
    { 6361, 0, 23, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* trafficDistribution */
    /* v1.ServicePort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 513, 195, 2, 0, FIELD_OMIT_EMPTY }, /* protocol */
    { 522, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* appProtocol */
    { 508, 25, 3, 0, FIELD_IS_REQUIRED }, /* port */
    { 6381, 223, 4, 0, FIELD_OMIT_EMPTY }, /* targetPort */
    { 6392, 25, 5, 0, FIELD_OMIT_EMPTY }, /* nodePort */
    /* v1.SessionAffinityConfig */
    { 6401, 363, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clientIP */
    /* v1.ClientIPConfig */
    { 4346, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    /* v1.ServiceStatus */
    { 6410, 373, 1, 0, FIELD_OMIT_EMPTY }, /* loadBalancer */
    { 319, 375, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.LoadBalancerStatus */
    { 6423, 372, 1, 0, FIELD_OMIT_EMPTY }, /* ingress */
    /* v1.LoadBalancerIngress */
    { 477, 0, 1, 0, FIELD_OMIT_EMPTY }, /* ip */
    { 480, 0, 2, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 6431, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipMode */
    { 471, 370, 4, 0, FIELD_OMIT_EMPTY }, /* ports */
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
    { 6438, 377, 2, 0, FIELD_OMIT_EMPTY }, /* secrets */
    { 3039, 378, 3, 0, FIELD_OMIT_EMPTY }, /* imagePullSecrets */
    { 2944, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* automountServiceAccountToken */
    /* v1.ServiceAccountList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 380, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 382, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceProxyOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    /* v1.AdmissionReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4185, 388, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* request */
    { 6446, 393, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* response */
    /* v1.AdmissionRequest */
    { 70, 0, 1, 0, 0 }, /* uid */
    { 1, 383, 2, 0, 0 }, /* kind */
    { 3580, 384, 3, 0, 0 }, /* resource */
    { 6455, 0, 4, 0, FIELD_OMIT_EMPTY }, /* subResource */
    { 6467, 383, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestKind */
    { 6479, 384, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestResource */
    { 6495, 0, 15, 0, FIELD_OMIT_EMPTY }, /* requestSubResource */
    { 33, 0, 5, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 6, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 262, 0, 7, 0, 0 }, /* operation */
    { 6514, 387, 8, 0, 0 }, /* userInfo */
    { 6523, 45, 9, 0, FIELD_OMIT_EMPTY }, /* object */
    { 6530, 45, 10, 0, FIELD_OMIT_EMPTY }, /* oldObject */
    { 6540, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* dryRun */
    { 2043, 45, 12, 0, FIELD_OMIT_EMPTY }, /* options */
    /* v1.GroupVersionKind */
    { 2149, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 6547, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    { 1, 0, 3, 0, FIELD_IS_REQUIRED }, /* kind */
    /* v1.GroupVersionResource */
    { 2149, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 6547, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    { 3580, 0, 3, 0, FIELD_IS_REQUIRED }, /* resource */
    /* v1.UserInfo */
    { 6555, 0, 1, 0, FIELD_OMIT_EMPTY }, /* username */
    { 70, 0, 2, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6564, 47, 3, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 6571, 386, 4, 0, FIELD_OMIT_EMPTY }, /* extra */
    /* v1.AdmissionResponse */
    { 70, 0, 1, 0, 0 }, /* uid */
    { 6577, 4, 2, 0, 0 }, /* allowed */
    { 335, 392, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* status */
    { 6585, 19, 4, 0, FIELD_OMIT_EMPTY }, /* patch */
    { 6591, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* patchType */
    { 6601, 3, 6, 0, FIELD_OMIT_EMPTY }, /* auditAnnotations */
    { 6618, 47, 7, 0, FIELD_OMIT_EMPTY }, /* warnings */
    /* v1.Status */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 0, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 6627, 391, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* details */
    { 6635, 25, 6, 0, FIELD_OMIT_EMPTY }, /* code */
    /* v1.StatusDetails */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 2149, 0, 2, 0, FIELD_OMIT_EMPTY }, /* group */
    { 1, 0, 3, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 70, 0, 6, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6640, 390, 4, 0, FIELD_OMIT_EMPTY }, /* causes */
    { 6647, 25, 5, 0, FIELD_OMIT_EMPTY }, /* retryAfterSeconds */
    /* v1.StatusCause */
    { 549, 0, 1, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 6665, 0, 3, 0, FIELD_OMIT_EMPTY }, /* field */
    /* v1.MutatingAdmissionPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 413, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.MutatingAdmissionPolicySpec */
    { 6671, 394, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramKind */
    { 6681, 401, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchConstraints */
    { 6698, 403, 3, 0, FIELD_OMIT_EMPTY }, /* variables */
    { 6708, 408, 4, 0, FIELD_OMIT_EMPTY }, /* mutations */
    { 6718, 409, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6732, 411, 6, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    { 6748, 412, 7, 0, FIELD_OMIT_EMPTY }, /* reinvocationPolicy */
    /* v1.ParamKind */
    { 6, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 1, 0, 2, 0, FIELD_OMIT_EMPTY }, /* kind */
    /* v1.MatchResources */
    { 5020, 135, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6767, 135, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 6782, 399, 3, 0, FIELD_OMIT_EMPTY }, /* resourceRules */
    { 6796, 399, 4, 0, FIELD_OMIT_EMPTY }, /* excludeResourceRules */
    { 6817, 400, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    /* v1.NamedRuleWithOperations */
    { 6829, 47, 1, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    { 6843, 396, 1, 2, FIELD_OMIT_EMPTY }, /* operations */
    { 6854, 47, 1, 514, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 6864, 47, 2, 514, FIELD_OMIT_EMPTY }, /* apiVersions */
    { 2529, 47, 3, 514, FIELD_OMIT_EMPTY }, /* resources */
    { 6876, 397, 4, 514, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scope */
    /* v1.Variable */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6882, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.Mutation */
    { 6591, 404, 2, 0, FIELD_IS_REQUIRED }, /* patchType */
    { 6893, 405, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* applyConfiguration */
    { 6912, 406, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* jsonPatch */
    /* v1.ApplyConfiguration */
    { 6882, 0, 1, 0, FIELD_OMIT_EMPTY }, /* expression */
    /* v1.JSONPatch */
    { 6882, 0, 1, 0, FIELD_OMIT_EMPTY }, /* expression */
    /* v1.MatchCondition */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6882, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.MutatingAdmissionPolicyBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 415, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.MutatingAdmissionPolicyBindingSpec */
    { 6922, 0, 1, 0, FIELD_OMIT_EMPTY }, /* policyName */
    { 6933, 414, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramRef */
    { 6942, 401, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchResources */
    /* v1.ParamRef */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 51, 0, 2, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 400, 135, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 6957, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parameterNotFoundAction */
    /* v1.MutatingAdmissionPolicyBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 417, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.MutatingAdmissionPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 419, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.MutatingWebhookConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6981, 426, 2, 0, FIELD_OMIT_EMPTY }, /* webhooks */
    /* v1.MutatingWebhook */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6990, 421, 2, 0, FIELD_IS_REQUIRED }, /* clientConfig */
    { 7003, 423, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    { 6718, 409, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6817, 400, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    { 5020, 135, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6767, 135, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 7009, 424, 6, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* sideEffects */
    { 4346, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 7021, 47, 8, 0, FIELD_IS_REQUIRED }, /* admissionReviewVersions */
    { 6748, 412, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reinvocationPolicy */
    { 6732, 411, 12, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    /* v1.WebhookClientConfig */
    { 7045, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* url */
    { 4428, 420, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 7049, 19, 2, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 1421, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* path */
    { 508, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.RuleWithOperations */
    { 6843, 396, 1, 0, FIELD_OMIT_EMPTY }, /* operations */
    { 6854, 47, 1, 2, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 6864, 47, 2, 2, FIELD_OMIT_EMPTY }, /* apiVersions */
    { 2529, 47, 3, 2, FIELD_OMIT_EMPTY }, /* resources */
    { 6876, 397, 4, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scope */
    /* v1.MutatingWebhookConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 428, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingAdmissionPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 434, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 439, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ValidatingAdmissionPolicySpec */
    { 6671, 394, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramKind */
    { 6681, 401, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchConstraints */
    { 7058, 430, 3, 0, FIELD_OMIT_EMPTY }, /* validations */
    { 6718, 409, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6601, 432, 5, 0, FIELD_OMIT_EMPTY }, /* auditAnnotations */
    { 6732, 411, 6, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    { 6698, 433, 7, 0, FIELD_OMIT_EMPTY }, /* variables */
    /* v1.Validation */
    { 6882, 0, 1, 0, FIELD_IS_REQUIRED }, /* expression */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 549, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reason */
    { 7070, 0, 4, 0, FIELD_OMIT_EMPTY }, /* messageExpression */
    /* v1.AuditAnnotation */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 7088, 0, 2, 0, FIELD_IS_REQUIRED }, /* valueExpression */
    /* v1.ValidatingAdmissionPolicyStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 7104, 437, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* typeChecking */
    { 319, 438, 3, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.TypeChecking */
    { 7117, 436, 1, 0, FIELD_OMIT_EMPTY }, /* expressionWarnings */
    /* v1.ExpressionWarning */
    { 3540, 0, 2, 0, FIELD_IS_REQUIRED }, /* fieldRef */
    { 7136, 0, 3, 0, FIELD_IS_REQUIRED }, /* warning */
    /* v1.ValidatingAdmissionPolicyBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 442, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    /* v1.ValidatingAdmissionPolicyBindingSpec */
    { 6922, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* policyName */
    { 6933, 414, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* paramRef */
    { 6942, 401, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchResources */
    { 7144, 441, 4, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* validationActions */
    /* v1.ValidatingAdmissionPolicyBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 444, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingAdmissionPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 446, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ValidatingWebhookConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 6981, 448, 2, 0, FIELD_OMIT_EMPTY }, /* webhooks */
    /* v1.ValidatingWebhook */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6990, 421, 2, 0, FIELD_IS_REQUIRED }, /* clientConfig */
    { 7003, 423, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    { 6718, 409, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failurePolicy */
    { 6817, 400, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchPolicy */
    { 5020, 135, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 6767, 135, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* objectSelector */
    { 7009, 424, 6, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* sideEffects */
    { 4346, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 7021, 47, 8, 0, FIELD_IS_REQUIRED }, /* admissionReviewVersions */
    { 6732, 411, 11, 0, FIELD_OMIT_EMPTY }, /* matchConditions */
    /* v1.ValidatingWebhookConfigurationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 450, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v2.APIGroupDiscovery */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 7162, 457, 2, 0, FIELD_OMIT_EMPTY }, /* versions */
    /* v2.APIVersionDiscovery */
    { 6547, 0, 1, 0, 0 }, /* version */
    { 2529, 455, 2, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 7171, 0, 3, 0, FIELD_OMIT_EMPTY }, /* freshness */
    /* v2.APIResourceDiscovery */
    { 3580, 0, 1, 0, 0 }, /* resource */
    { 7181, 383, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* responseKind */
    { 6876, 0, 3, 0, 0 }, /* scope */
    { 7194, 0, 4, 0, 0 }, /* singularResource */
    { 7211, 60, 5, 0, 0 }, /* verbs */
    { 7217, 60, 6, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 7228, 60, 7, 0, FIELD_OMIT_EMPTY }, /* categories */
    { 7239, 453, 8, 0, FIELD_OMIT_EMPTY }, /* subresources */
    /* v2.APISubresourceDiscovery */
    { 297, 0, 1, 0, 0 }, /* subresource */
    { 7181, 383, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* responseKind */
    { 7252, 451, 3, 0, FIELD_OMIT_EMPTY }, /* acceptedTypes */
    { 7211, 60, 4, 0, 0 }, /* verbs */
    /* v2.APIGroupDiscoveryList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 459, 2, 0, 0 }, /* items */
    /* v1.ConversionReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 4185, 461, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* request */
    { 6446, 462, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* response */
    /* v1.ConversionRequest */
    { 70, 0, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 7266, 0, 2, 0, FIELD_IS_REQUIRED }, /* desiredAPIVersion */
    { 7284, 460, 3, 0, FIELD_IS_REQUIRED }, /* objects */
    /* v1.ConversionResponse */
    { 70, 0, 1, 0, FIELD_IS_REQUIRED }, /* uid */
    { 7292, 460, 2, 0, FIELD_IS_REQUIRED }, /* convertedObjects */
    { 7309, 392, 3, 0, FIELD_IS_REQUIRED }, /* result */
    /* v1.CustomResourceDefinition */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 492, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 495, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CustomResourceDefinitionSpec */
    { 2149, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 1300, 463, 3, 0, FIELD_IS_REQUIRED }, /* names */
    { 6876, 0, 4, 0, FIELD_IS_REQUIRED }, /* scope */
    { 7162, 487, 7, 0, FIELD_IS_REQUIRED }, /* versions */
    { 7316, 491, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* conversion */
    { 7327, 4, 10, 0, FIELD_OMIT_EMPTY }, /* preserveUnknownFields */
    /* v1.CustomResourceDefinitionNames */
    { 7349, 0, 1, 0, FIELD_IS_REQUIRED }, /* plural */
    { 7356, 0, 2, 0, FIELD_OMIT_EMPTY }, /* singular */
    { 7217, 47, 3, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 1, 0, 4, 0, FIELD_IS_REQUIRED }, /* kind */
    { 7365, 0, 5, 0, FIELD_OMIT_EMPTY }, /* listKind */
    { 7228, 47, 6, 0, FIELD_OMIT_EMPTY }, /* categories */
    /* v1.CustomResourceDefinitionVersion */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 7374, 4, 2, 0, FIELD_IS_REQUIRED }, /* served */
    { 7381, 4, 3, 0, FIELD_IS_REQUIRED }, /* storage */
    { 7389, 4, 7, 0, FIELD_OMIT_EMPTY }, /* deprecated */
    { 7400, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deprecationWarning */
    { 7419, 478, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schema */
    { 7239, 481, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* subresources */
    { 7426, 483, 6, 0, FIELD_OMIT_EMPTY }, /* additionalPrinterColumns */
    { 7451, 485, 9, 0, FIELD_OMIT_EMPTY }, /* selectableFields */
    /* v1.CustomResourceValidation */
    { 7468, 467, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* openAPIV3Schema */
    /* v1.JSONSchemaProps */
    { 7484, 0, 1, 0, FIELD_OMIT_EMPTY }, /* id */
    { 7487, 0, 2, 0, FIELD_OMIT_EMPTY }, /* $schema */
    { 7495, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* $ref */
    { 7500, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 330, 0, 5, 0, FIELD_OMIT_EMPTY }, /* type */
    { 7512, 0, 6, 0, FIELD_OMIT_EMPTY }, /* format */
    { 7519, 0, 7, 0, FIELD_OMIT_EMPTY }, /* title */
    { 719, 464, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* default */
    { 7525, 465, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maximum */
    { 7533, 4, 10, 0, FIELD_OMIT_EMPTY }, /* exclusiveMaximum */
    { 7550, 465, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minimum */
    { 7558, 4, 12, 0, FIELD_OMIT_EMPTY }, /* exclusiveMinimum */
    { 7575, 1, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxLength */
    { 7585, 1, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minLength */
    { 7595, 0, 15, 0, FIELD_OMIT_EMPTY }, /* pattern */
    { 7603, 1, 16, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxItems */
    { 7612, 1, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minItems */
    { 7621, 4, 18, 0, FIELD_OMIT_EMPTY }, /* uniqueItems */
    { 7633, 465, 19, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* multipleOf */
    { 7644, 466, 20, 0, FIELD_OMIT_EMPTY }, /* enum */
    { 7649, 1, 21, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxProperties */
    { 7663, 1, 22, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minProperties */
    { 2433, 47, 23, 0, FIELD_OMIT_EMPTY }, /* required */
    { 356, 468, 24, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* items */
    { 7677, 469, 25, 0, FIELD_OMIT_EMPTY }, /* allOf */
    { 7683, 469, 26, 0, FIELD_OMIT_EMPTY }, /* oneOf */
    { 7689, 469, 27, 0, FIELD_OMIT_EMPTY }, /* anyOf */
    { 7695, 467, 28, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* not */
    { 7699, 470, 29, 0, FIELD_OMIT_EMPTY }, /* properties */
    { 7710, 471, 30, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* additionalProperties */
    { 7731, 470, 31, 0, FIELD_OMIT_EMPTY }, /* patternProperties */
    { 7749, 473, 32, 0, FIELD_OMIT_EMPTY }, /* dependencies */
    { 7762, 471, 33, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* additionalItems */
    { 7778, 470, 34, 0, FIELD_OMIT_EMPTY }, /* definitions */
    { 7790, 474, 35, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* externalDocs */
    { 7803, 464, 36, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* example */
    { 7811, 4, 37, 0, FIELD_OMIT_EMPTY }, /* nullable */
    { 7820, 4, 38, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-preserve-unknown-fields */
    { 7857, 4, 39, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-embedded-resource */
    { 7888, 4, 40, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-int-or-string */
    { 7915, 47, 41, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-list-map-keys */
    { 7942, 0, 42, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-list-type */
    { 7965, 0, 43, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* x-kubernetes-map-type */
    { 7987, 477, 44, 0, FIELD_OMIT_EMPTY }, /* x-kubernetes-validations */
    /* v1.ExternalDocumentation */
    { 7500, 0, 1, 0, FIELD_OMIT_EMPTY }, /* description */
    { 7045, 0, 2, 0, FIELD_OMIT_EMPTY }, /* url */
    /* v1.ValidationRule */
    { 8012, 0, 1, 0, FIELD_IS_REQUIRED }, /* rule */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 7070, 0, 3, 0, FIELD_OMIT_EMPTY }, /* messageExpression */
    { 549, 475, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reason */
    { 309, 0, 5, 0, FIELD_OMIT_EMPTY }, /* fieldPath */
    { 8017, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* optionalOldSelf */
    /* v1.CustomResourceSubresources */
    { 335, 479, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* status */
    { 8033, 480, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scale */
    /* v1.CustomResourceSubresourceStatus */
    /* v1.CustomResourceSubresourceScale */
    { 8039, 0, 1, 0, FIELD_IS_REQUIRED }, /* specReplicasPath */
    { 8056, 0, 2, 0, FIELD_IS_REQUIRED }, /* statusReplicasPath */
    { 8075, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelectorPath */
    /* v1.CustomResourceColumnDefinition */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 330, 0, 2, 0, FIELD_IS_REQUIRED }, /* type */
    { 7512, 0, 3, 0, FIELD_OMIT_EMPTY }, /* format */
    { 7500, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 3131, 25, 5, 0, FIELD_OMIT_EMPTY }, /* priority */
    { 8093, 0, 6, 0, FIELD_IS_REQUIRED }, /* jsonPath */
    /* v1.SelectableField */
    { 8093, 0, 1, 0, FIELD_IS_REQUIRED }, /* jsonPath */
    /* v1.CustomResourceConversion */
    { 8102, 0, 1, 0, FIELD_IS_REQUIRED }, /* strategy */
    { 8111, 490, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* webhook */
    /* v1.WebhookConversion */
    { 6990, 489, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* clientConfig */
    { 8119, 47, 3, 0, FIELD_IS_REQUIRED }, /* conversionReviewVersions */
    /* v1.WebhookClientConfig */
    { 7045, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* url */
    { 4428, 488, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 7049, 19, 2, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 1421, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* path */
    { 508, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.CustomResourceDefinitionStatus */
    { 319, 494, 1, 0, 0 }, /* conditions */
    { 8144, 463, 2, 0, 0 }, /* acceptedNames */
    { 8158, 47, 3, 0, 0 }, /* storedVersions */
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
    { 356, 497, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.APIService */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 500, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 503, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.APIServiceSpec */
    { 4428, 498, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 2149, 0, 2, 0, FIELD_OMIT_EMPTY }, /* group */
    { 6547, 0, 3, 0, FIELD_OMIT_EMPTY }, /* version */
    { 8173, 4, 4, 0, FIELD_OMIT_EMPTY }, /* insecureSkipTLSVerify */
    { 7049, 499, 5, 0, FIELD_OMIT_EMPTY }, /* caBundle */
    { 8195, 25, 7, 0, FIELD_IS_REQUIRED }, /* groupPriorityMinimum */
    { 8216, 25, 8, 0, FIELD_IS_REQUIRED }, /* versionPriority */
    /* v1.ServiceReference */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 2, 0, FIELD_OMIT_EMPTY }, /* name */
    { 508, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    /* v1.APIServiceStatus */
    { 319, 502, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 505, 2, 0, FIELD_IS_REQUIRED }, /* items */
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
    { 356, 507, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DaemonSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 511, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 514, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DaemonSetSpec */
    { 400, 135, 1, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 335, 2, 0, FIELD_IS_REQUIRED }, /* template */
    { 8232, 510, 3, 0, FIELD_OMIT_EMPTY }, /* updateStrategy */
    { 5953, 25, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8247, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    /* v1.DaemonSetUpdateStrategy */
    { 330, 508, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8268, 509, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateDaemonSet */
    { 8282, 223, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 8297, 223, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxSurge */
    /* v1.DaemonSetStatus */
    { 8306, 25, 1, 0, FIELD_IS_REQUIRED }, /* currentNumberScheduled */
    { 8329, 25, 2, 0, FIELD_IS_REQUIRED }, /* numberMisscheduled */
    { 8348, 25, 3, 0, FIELD_IS_REQUIRED }, /* desiredNumberScheduled */
    { 8371, 25, 4, 0, FIELD_IS_REQUIRED }, /* numberReady */
    { 5280, 1, 5, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 8383, 25, 6, 0, FIELD_OMIT_EMPTY }, /* updatedNumberScheduled */
    { 8406, 25, 7, 0, FIELD_OMIT_EMPTY }, /* numberAvailable */
    { 8422, 25, 8, 0, FIELD_OMIT_EMPTY }, /* numberUnavailable */
    { 8440, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    { 319, 513, 10, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 516, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Deployment */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 520, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 523, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DeploymentSpec */
    { 5944, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 400, 135, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 335, 3, 0, FIELD_IS_REQUIRED }, /* template */
    { 8102, 519, 4, 0, FIELD_OMIT_EMPTY }, /* strategy */
    { 5953, 25, 5, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8247, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    { 8455, 4, 7, 0, FIELD_OMIT_EMPTY }, /* paused */
    { 8462, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* progressDeadlineSeconds */
    /* v1.DeploymentStrategy */
    { 330, 517, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8268, 518, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateDeployment */
    { 8282, 223, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 8297, 223, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxSurge */
    /* v1.DeploymentStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 5944, 25, 2, 0, FIELD_OMIT_EMPTY }, /* replicas */
    { 8486, 25, 3, 0, FIELD_OMIT_EMPTY }, /* updatedReplicas */
    { 5990, 25, 7, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 6004, 25, 4, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 8502, 25, 5, 0, FIELD_OMIT_EMPTY }, /* unavailableReplicas */
    { 8522, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminatingReplicas */
    { 319, 522, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 8440, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    /* v1.DeploymentCondition */
    { 330, 0, 1, 0, 0 }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    { 8542, 2, 6, 0, FIELD_OMIT_EMPTY }, /* lastUpdateTime */
    { 769, 2, 7, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 5, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.DeploymentList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 525, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ReplicaSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 526, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 529, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ReplicaSetSpec */
    { 5944, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 5953, 25, 4, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 400, 135, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 335, 3, 0, FIELD_OMIT_EMPTY }, /* template */
    /* v1.ReplicaSetStatus */
    { 5944, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5969, 25, 2, 0, FIELD_OMIT_EMPTY }, /* fullyLabeledReplicas */
    { 5990, 25, 4, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 6004, 25, 5, 0, FIELD_OMIT_EMPTY }, /* availableReplicas */
    { 8522, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminatingReplicas */
    { 5280, 1, 3, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 319, 528, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 531, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StatefulSet */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 539, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 542, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.StatefulSetSpec */
    { 5944, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* replicas */
    { 400, 135, 2, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* selector */
    { 5929, 335, 3, 0, FIELD_IS_REQUIRED }, /* template */
    { 8557, 532, 4, 0, FIELD_OMIT_EMPTY }, /* volumeClaimTemplates */
    { 8578, 0, 5, 0, 0 }, /* serviceName */
    { 8590, 533, 6, 0, FIELD_OMIT_EMPTY }, /* podManagementPolicy */
    { 8232, 536, 7, 0, FIELD_OMIT_EMPTY }, /* updateStrategy */
    { 8247, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* revisionHistoryLimit */
    { 5953, 25, 9, 0, FIELD_OMIT_EMPTY }, /* minReadySeconds */
    { 8610, 537, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeClaimRetentionPolicy */
    { 8647, 538, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ordinals */
    /* v1.StatefulSetUpdateStrategy */
    { 330, 534, 1, 0, FIELD_OMIT_EMPTY }, /* type */
    { 8268, 535, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* rollingUpdate */
    /* v1.RollingUpdateStatefulSetStrategy */
    { 1785, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* partition */
    { 8282, 223, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    /* v1.StatefulSetPersistentVolumeClaimRetentionPolicy */
    { 8656, 0, 1, 0, FIELD_OMIT_EMPTY }, /* whenDeleted */
    { 8668, 0, 2, 0, FIELD_OMIT_EMPTY }, /* whenScaled */
    /* v1.StatefulSetOrdinals */
    { 8679, 25, 1, 0, 0 }, /* start */
    /* v1.StatefulSetStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 5944, 25, 2, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 5990, 25, 3, 0, FIELD_OMIT_EMPTY }, /* readyReplicas */
    { 8685, 25, 4, 0, FIELD_OMIT_EMPTY }, /* currentReplicas */
    { 8486, 25, 5, 0, FIELD_OMIT_EMPTY }, /* updatedReplicas */
    { 8701, 0, 6, 0, FIELD_OMIT_EMPTY }, /* currentRevision */
    { 8717, 0, 7, 0, FIELD_OMIT_EMPTY }, /* updateRevision */
    { 8440, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* collisionCount */
    { 319, 541, 10, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 544, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.SelfSubjectReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 335, 545, 2, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectReviewStatus */
    { 6514, 387, 1, 0, FIELD_OMIT_EMPTY }, /* userInfo */
    /* v1.TokenRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 547, 2, 0, 0 }, /* spec */
    { 335, 548, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.TokenRequestSpec */
    { 8732, 47, 1, 0, 0 }, /* audiences */
    { 3668, 1, 4, 0, FIELD_POINTER }, /* expirationSeconds */
    { 8742, 546, 3, 0, FIELD_POINTER }, /* boundObjectRef */
    { 8757, 386, 5, 0, FIELD_OMIT_EMPTY }, /* attestations */
    /* v1.BoundObjectReference */
    { 1, 0, 1, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 2, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 33, 0, 3, 0, FIELD_OMIT_EMPTY }, /* name */
    { 70, 0, 4, 0, FIELD_OMIT_EMPTY }, /* uid */
    /* v1.TokenRequestStatus */
    { 8770, 0, 1, 0, 0 }, /* token */
    { 8776, 2, 2, 0, 0 }, /* expirationTimestamp */
    /* v1.TokenReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 549, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 550, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.TokenReviewSpec */
    { 8770, 0, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* token */
    { 8732, 47, 2, 0, FIELD_OMIT_EMPTY }, /* audiences */
    /* v1.TokenReviewStatus */
    { 8796, 4, 1, 0, FIELD_OMIT_EMPTY }, /* authenticated */
    { 1869, 387, 2, 0, FIELD_OMIT_EMPTY }, /* user */
    { 8732, 47, 4, 0, FIELD_OMIT_EMPTY }, /* audiences */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY }, /* error */
    /* v1.LocalSubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 557, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 558, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SubjectAccessReviewSpec */
    { 8810, 555, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceAttributes */
    { 8829, 556, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nonResourceAttributes */
    { 1869, 0, 3, 0, FIELD_OMIT_EMPTY }, /* user */
    { 6564, 47, 4, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 6571, 386, 5, 0, FIELD_OMIT_EMPTY }, /* extra */
    { 70, 0, 6, 0, FIELD_OMIT_EMPTY }, /* uid */
    /* v1.ResourceAttributes */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 8851, 0, 2, 0, FIELD_OMIT_EMPTY }, /* verb */
    { 2149, 0, 3, 0, FIELD_OMIT_EMPTY }, /* group */
    { 6547, 0, 4, 0, FIELD_OMIT_EMPTY }, /* version */
    { 3580, 0, 5, 0, FIELD_OMIT_EMPTY }, /* resource */
    { 297, 0, 6, 0, FIELD_OMIT_EMPTY }, /* subresource */
    { 33, 0, 7, 0, FIELD_OMIT_EMPTY }, /* name */
    { 8856, 553, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fieldSelector */
    { 3697, 554, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* labelSelector */
    /* v1.FieldSelectorAttributes */
    { 8870, 0, 1, 0, FIELD_OMIT_EMPTY }, /* rawSelector */
    { 8882, 552, 2, 0, FIELD_OMIT_EMPTY }, /* requirements */
    /* v1.FieldSelectorRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2489, 0, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 47, 3, 0, FIELD_OMIT_EMPTY }, /* values */
    /* v1.LabelSelectorAttributes */
    { 8870, 0, 1, 0, FIELD_OMIT_EMPTY }, /* rawSelector */
    { 8882, 134, 2, 0, FIELD_OMIT_EMPTY }, /* requirements */
    /* v1.NonResourceAttributes */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 8851, 0, 2, 0, FIELD_OMIT_EMPTY }, /* verb */
    /* v1.SubjectAccessReviewStatus */
    { 6577, 4, 1, 0, FIELD_IS_REQUIRED }, /* allowed */
    { 8895, 4, 4, 0, FIELD_OMIT_EMPTY }, /* denied */
    { 549, 0, 2, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 8902, 0, 3, 0, FIELD_OMIT_EMPTY }, /* evaluationError */
    /* v1.SelfSubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 559, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 558, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectAccessReviewSpec */
    { 8810, 555, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceAttributes */
    { 8829, 556, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nonResourceAttributes */
    /* v1.SelfSubjectRulesReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 560, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 565, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.SelfSubjectRulesReviewSpec */
    { 51, 0, 1, 0, FIELD_OMIT_EMPTY }, /* namespace */
    /* v1.SubjectRulesReviewStatus */
    { 6782, 562, 1, 0, FIELD_IS_REQUIRED }, /* resourceRules */
    { 8918, 564, 2, 0, FIELD_IS_REQUIRED }, /* nonResourceRules */
    { 8935, 4, 3, 0, FIELD_IS_REQUIRED }, /* incomplete */
    { 8902, 0, 4, 0, FIELD_OMIT_EMPTY }, /* evaluationError */
    /* v1.ResourceRule */
    { 7211, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6854, 47, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 2529, 47, 3, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6829, 47, 4, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    /* v1.NonResourceRule */
    { 7211, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 8946, 47, 2, 0, FIELD_OMIT_EMPTY }, /* nonResourceURLs */
    /* v1.SubjectAccessReview */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 557, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 558, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.HorizontalPodAutoscaler */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 567, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 568, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.HorizontalPodAutoscalerSpec */
    { 8962, 566, 1, 0, FIELD_IS_REQUIRED }, /* scaleTargetRef */
    { 8977, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minReplicas */
    { 8989, 25, 3, 0, FIELD_IS_REQUIRED }, /* maxReplicas */
    { 9001, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetCPUUtilizationPercentage */
    /* v1.CrossVersionObjectReference */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    /* v1.HorizontalPodAutoscalerStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    { 9032, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScaleTime */
    { 8685, 25, 3, 0, FIELD_IS_REQUIRED }, /* currentReplicas */
    { 9046, 25, 4, 0, FIELD_IS_REQUIRED }, /* desiredReplicas */
    { 9062, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* currentCPUUtilizationPercentage */
    /* v1.HorizontalPodAutoscalerList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 570, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Scale */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 571, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 572, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ScaleSpec */
    { 5944, 339, 1, 0, FIELD_OMIT_EMPTY }, /* replicas */
    /* v1.ScaleStatus */
    { 5944, 25, 1, 0, FIELD_IS_REQUIRED }, /* replicas */
    { 400, 0, 2, 0, FIELD_OMIT_EMPTY }, /* selector */
    /* v2.HorizontalPodAutoscaler */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 587, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 598, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v2.HorizontalPodAutoscalerSpec */
    { 8962, 573, 1, 0, FIELD_IS_REQUIRED }, /* scaleTargetRef */
    { 8977, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minReplicas */
    { 8989, 25, 3, 0, FIELD_IS_REQUIRED }, /* maxReplicas */
    { 9094, 582, 4, 0, FIELD_OMIT_EMPTY }, /* metrics */
    { 9102, 586, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* behavior */
    /* v2.CrossVersionObjectReference */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    { 6, 0, 3, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    /* v2.MetricSpec */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 6523, 576, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* object */
    { 9111, 577, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pods */
    { 3580, 578, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    { 9116, 579, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerResource */
    { 9134, 580, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* external */
    /* v2.ObjectMetricSource */
    { 9143, 573, 1, 0, FIELD_IS_REQUIRED }, /* describedObject */
    { 26, 574, 2, 0, FIELD_IS_REQUIRED }, /* target */
    { 9159, 575, 3, 0, FIELD_IS_REQUIRED }, /* metric */
    /* v2.MetricTarget */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 885, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    { 9166, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageValue */
    { 9179, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageUtilization */
    /* v2.MetricIdentifier */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 400, 135, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    /* v2.PodsMetricSource */
    { 9159, 575, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 26, 574, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.ResourceMetricSource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 26, 574, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.ContainerResourceMetricSource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 26, 574, 2, 0, FIELD_IS_REQUIRED }, /* target */
    { 5812, 0, 3, 0, FIELD_IS_REQUIRED }, /* container */
    /* v2.ExternalMetricSource */
    { 9159, 575, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 26, 574, 2, 0, FIELD_IS_REQUIRED }, /* target */
    /* v2.HorizontalPodAutoscalerBehavior */
    { 9198, 585, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleUp */
    { 9206, 585, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scaleDown */
    /* v2.HPAScalingRules */
    { 9216, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* stabilizationWindowSeconds */
    { 9243, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selectPolicy */
    { 9256, 584, 2, 0, FIELD_OMIT_EMPTY }, /* policies */
    { 9265, 38, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerance */
    /* v2.HPAScalingPolicy */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 885, 25, 2, 0, FIELD_IS_REQUIRED }, /* value */
    { 4361, 25, 3, 0, FIELD_IS_REQUIRED }, /* periodSeconds */
    /* v2.HorizontalPodAutoscalerStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* observedGeneration */
    { 9032, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScaleTime */
    { 8685, 25, 3, 0, FIELD_OMIT_EMPTY }, /* currentReplicas */
    { 9046, 25, 4, 0, FIELD_IS_REQUIRED }, /* desiredReplicas */
    { 9275, 595, 5, 0, 0 }, /* currentMetrics */
    { 319, 597, 6, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v2.MetricStatus */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 6523, 589, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* object */
    { 9111, 590, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pods */
    { 3580, 591, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    { 9116, 592, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerResource */
    { 9134, 593, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* external */
    /* v2.ObjectMetricStatus */
    { 9159, 575, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9290, 588, 2, 0, FIELD_IS_REQUIRED }, /* current */
    { 9143, 573, 3, 0, FIELD_IS_REQUIRED }, /* describedObject */
    /* v2.MetricValueStatus */
    { 885, 38, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* value */
    { 9166, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageValue */
    { 9179, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* averageUtilization */
    /* v2.PodsMetricStatus */
    { 9159, 575, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9290, 588, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.ResourceMetricStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 9290, 588, 2, 0, FIELD_IS_REQUIRED }, /* current */
    /* v2.ContainerResourceMetricStatus */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 9290, 588, 2, 0, FIELD_IS_REQUIRED }, /* current */
    { 5812, 0, 3, 0, FIELD_IS_REQUIRED }, /* container */
    /* v2.ExternalMetricStatus */
    { 9159, 575, 1, 0, FIELD_IS_REQUIRED }, /* metric */
    { 9290, 588, 2, 0, FIELD_IS_REQUIRED }, /* current */
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
    { 356, 600, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CronJob */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 629, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 631, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CronJobSpec */
    { 9298, 0, 1, 0, FIELD_IS_REQUIRED }, /* schedule */
    { 9307, 0, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeZone */
    { 9316, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startingDeadlineSeconds */
    { 9340, 601, 3, 0, FIELD_OMIT_EMPTY }, /* concurrencyPolicy */
    { 9358, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* suspend */
    { 9366, 628, 5, 0, FIELD_IS_REQUIRED }, /* jobTemplate */
    { 9378, 25, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* successfulJobsHistoryLimit */
    { 9405, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failedJobsHistoryLimit */
    /* v1.JobTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 627, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.JobSpec */
    { 9428, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parallelism */
    { 9440, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completions */
    { 2865, 1, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* activeDeadlineSeconds */
    { 9452, 609, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podFailurePolicy */
    { 9469, 612, 16, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* successPolicy */
    { 9483, 25, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* backoffLimit */
    { 9496, 25, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* backoffLimitPerIndex */
    { 9517, 25, 13, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxFailedIndexes */
    { 400, 135, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 9534, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* manualSelector */
    { 5929, 335, 6, 0, FIELD_IS_REQUIRED }, /* template */
    { 9549, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ttlSecondsAfterFinished */
    { 9573, 613, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completionMode */
    { 9358, 4, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* suspend */
    { 9588, 614, 14, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podReplacementPolicy */
    { 9609, 0, 15, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* managedBy */
    { 9619, 626, 17, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scheduling */
    /* v1.PodFailurePolicy */
    { 7003, 608, 1, 0, FIELD_IS_REQUIRED }, /* rules */
    /* v1.PodFailurePolicyRule */
    { 615, 602, 1, 0, FIELD_IS_REQUIRED }, /* action */
    { 9630, 604, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* onExitCodes */
    { 9642, 606, 3, 0, FIELD_OMIT_EMPTY }, /* onPodConditions */
    /* v1.PodFailurePolicyOnExitCodesRequirement */
    { 3566, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* containerName */
    { 2489, 603, 2, 0, FIELD_IS_REQUIRED }, /* operator */
    { 2498, 213, 3, 0, FIELD_IS_REQUIRED }, /* values */
    /* v1.PodFailurePolicyOnPodConditionsPattern */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, 0 }, /* status */
    /* v1.SuccessPolicy */
    { 7003, 611, 1, 0, FIELD_IS_REQUIRED }, /* rules */
    /* v1.SuccessPolicyRule */
    { 9658, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* succeededIndexes */
    { 9675, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* succeededCount */
    /* v1.JobSchedulingConfiguration */
    { 9690, 617, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingPolicy */
    { 9707, 620, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* schedulingConstraints */
    { 9729, 623, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* disruptionMode */
    { 3300, 625, 4, 0, FIELD_OMIT_EMPTY }, /* resourceClaims */
    /* v1alpha3.WorkloadPodGroupSchedulingPolicy */
    { 9744, 615, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* basic */
    { 9750, 616, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gang */
    /* v1alpha3.WorkloadPodGroupBasicSchedulingPolicy */
    /* v1alpha3.WorkloadPodGroupGangSchedulingPolicy */
    { 9755, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minCount */
    /* v1alpha3.WorkloadPodGroupSchedulingConstraints */
    { 9764, 619, 1, 0, FIELD_OMIT_EMPTY }, /* topology */
    /* v1alpha3.TopologyConstraint */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    /* v1alpha3.WorkloadPodGroupDisruptionMode */
    { 9773, 621, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* single */
    { 9780, 622, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* all */
    /* v1alpha3.WorkloadPodGroupSingleDisruptionMode */
    /* v1alpha3.WorkloadPodGroupAllDisruptionMode */
    /* v1alpha3.WorkloadPodGroupResourceClaim */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 5223, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimName */
    { 5241, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceClaimTemplateName */
    /* v1.CronJobStatus */
    { 1336, 630, 1, 0, FIELD_OMIT_EMPTY }, /* active */
    { 9784, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastScheduleTime */
    { 9801, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lastSuccessfulTime */
    /* v1.CronJobList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 633, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Job */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 627, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 637, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.JobStatus */
    { 319, 635, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 5338, 2, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* startTime */
    { 9820, 2, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* completionTime */
    { 1336, 25, 4, 0, FIELD_OMIT_EMPTY }, /* active */
    { 9835, 25, 5, 0, FIELD_OMIT_EMPTY }, /* succeeded */
    { 9845, 25, 6, 0, FIELD_OMIT_EMPTY }, /* failed */
    { 9852, 25, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminating */
    { 9864, 0, 7, 0, FIELD_OMIT_EMPTY }, /* completedIndexes */
    { 9881, 0, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* failedIndexes */
    { 9895, 636, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* uncountedTerminatedPods */
    { 5547, 25, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ready */
    /* v1.JobCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 2, 0, FIELD_IS_REQUIRED }, /* status */
    { 2704, 2, 3, 0, FIELD_OMIT_EMPTY }, /* lastProbeTime */
    { 769, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    { 549, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 6, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.UncountedTerminatedPods */
    { 9835, 60, 1, 0, FIELD_OMIT_EMPTY }, /* succeeded */
    { 9845, 60, 2, 0, FIELD_OMIT_EMPTY }, /* failed */
    /* v1.JobList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 639, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CertificateSigningRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 642, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 645, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CertificateSigningRequestSpec */
    { 4185, 19, 1, 0, FIELD_IS_REQUIRED }, /* request */
    { 3686, 0, 7, 0, FIELD_IS_REQUIRED }, /* signerName */
    { 3668, 25, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    { 9919, 641, 5, 0, FIELD_OMIT_EMPTY }, /* usages */
    { 6555, 0, 2, 0, FIELD_OMIT_EMPTY }, /* username */
    { 70, 0, 3, 0, FIELD_OMIT_EMPTY }, /* uid */
    { 6564, 47, 4, 0, FIELD_OMIT_EMPTY }, /* groups */
    { 6571, 386, 6, 0, FIELD_OMIT_EMPTY }, /* extra */
    /* v1.CertificateSigningRequestStatus */
    { 319, 644, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 9926, 19, 2, 0, FIELD_OMIT_EMPTY }, /* certificate */
    /* v1.CertificateSigningRequestCondition */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 6, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 8542, 2, 4, 0, FIELD_OMIT_EMPTY }, /* lastUpdateTime */
    { 769, 2, 5, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.CertificateSigningRequestList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 647, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterTrustBundle */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 648, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ClusterTrustBundleSpec */
    { 3686, 0, 1, 0, FIELD_OMIT_EMPTY }, /* signerName */
    { 9938, 0, 2, 0, FIELD_IS_REQUIRED }, /* trustBundle */
    /* v1.ClusterTrustBundleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 650, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PodCertificateRequest */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 652, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 653, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodCertificateRequestSpec */
    { 3686, 0, 1, 0, FIELD_IS_REQUIRED }, /* signerName */
    { 9950, 0, 2, 0, FIELD_IS_REQUIRED }, /* podName */
    { 9958, 0, 3, 0, FIELD_IS_REQUIRED }, /* podUID */
    { 2910, 0, 4, 0, FIELD_IS_REQUIRED }, /* serviceAccountName */
    { 9965, 0, 5, 0, FIELD_IS_REQUIRED }, /* serviceAccountUID */
    { 489, 0, 6, 0, FIELD_IS_REQUIRED }, /* nodeName */
    { 9983, 0, 7, 0, FIELD_IS_REQUIRED }, /* nodeUID */
    { 3719, 651, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxExpirationSeconds */
    { 9991, 19, 12, 0, FIELD_IS_REQUIRED }, /* stubPKCS10Request */
    { 10009, 3, 11, 0, FIELD_OMIT_EMPTY }, /* unverifiedUserAnnotations */
    /* v1.PodCertificateRequestStatus */
    { 319, 375, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 10035, 0, 2, 0, FIELD_OMIT_EMPTY }, /* certificateChain */
    { 10052, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* notBefore */
    { 10062, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* beginRefreshAt */
    { 10077, 2, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* notAfter */
    /* v1.PodCertificateRequestList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 655, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Lease */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 656, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.LeaseSpec */
    { 10086, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* holderIdentity */
    { 10101, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* leaseDurationSeconds */
    { 10122, 34, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* acquireTime */
    { 10134, 34, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* renewTime */
    { 10144, 25, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* leaseTransitions */
    { 8102, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* strategy */
    { 10161, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preferredHolder */
    /* v1.LeaseList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 658, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.EndpointSlice */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10177, 0, 4, 0, FIELD_IS_REQUIRED }, /* addressType */
    { 1813, 666, 2, 0, 0 }, /* endpoints */
    { 471, 668, 3, 0, 0 }, /* ports */
    /* v1.Endpoint */
    { 443, 60, 1, 0, FIELD_IS_REQUIRED }, /* addresses */
    { 319, 659, 2, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 480, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hostname */
    { 498, 12, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* targetRef */
    { 10189, 3, 5, 0, FIELD_OMIT_EMPTY }, /* deprecatedTopology */
    { 489, 0, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 10208, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* zone */
    { 10213, 664, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* hints */
    /* v1.EndpointConditions */
    { 5547, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ready */
    { 10219, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serving */
    { 9852, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* terminating */
    /* v1.EndpointHints */
    { 10227, 661, 1, 0, FIELD_OMIT_EMPTY }, /* forZones */
    { 10236, 663, 2, 0, FIELD_OMIT_EMPTY }, /* forNodes */
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
    { 356, 670, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Event */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_IS_REQUIRED }, /* metadata */
    { 598, 34, 2, 0, FIELD_IS_REQUIRED }, /* eventTime */
    { 608, 671, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* series */
    { 10245, 0, 4, 0, FIELD_OMIT_EMPTY }, /* reportingController */
    { 649, 0, 5, 0, FIELD_OMIT_EMPTY }, /* reportingInstance */
    { 615, 0, 6, 0, FIELD_OMIT_EMPTY }, /* action */
    { 549, 0, 7, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 10265, 12, 8, 0, FIELD_OMIT_EMPTY }, /* regarding */
    { 622, 12, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* related */
    { 10275, 0, 10, 0, FIELD_OMIT_EMPTY }, /* note */
    { 330, 0, 11, 0, FIELD_OMIT_EMPTY }, /* type */
    { 10280, 33, 12, 0, FIELD_OMIT_EMPTY }, /* deprecatedSource */
    { 10297, 2, 13, 0, FIELD_OMIT_EMPTY }, /* deprecatedFirstTimestamp */
    { 10322, 2, 14, 0, FIELD_OMIT_EMPTY }, /* deprecatedLastTimestamp */
    { 10346, 25, 15, 0, FIELD_OMIT_EMPTY }, /* deprecatedCount */
    /* v1.EventSeries */
    { 592, 25, 1, 0, FIELD_IS_REQUIRED }, /* count */
    { 682, 34, 2, 0, FIELD_IS_REQUIRED }, /* lastObservedTime */
    /* v1.EventList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 673, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.FlowSchema */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 687, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 690, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.FlowSchemaSpec */
    { 10362, 674, 1, 0, FIELD_IS_REQUIRED }, /* priorityLevelConfiguration */
    { 10389, 25, 2, 0, 0 }, /* matchingPrecedence */
    { 10408, 675, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* distinguisherMethod */
    { 7003, 686, 4, 0, FIELD_OMIT_EMPTY }, /* rules */
    /* v1.PriorityLevelConfigurationReference */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.FlowDistinguisherMethod */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    /* v1.PolicyRulesWithSubjects */
    { 10428, 680, 1, 0, FIELD_IS_REQUIRED }, /* subjects */
    { 6782, 682, 2, 0, FIELD_OMIT_EMPTY }, /* resourceRules */
    { 8918, 684, 3, 0, FIELD_OMIT_EMPTY }, /* nonResourceRules */
    /* v1.Subject */
    { 1, 0, 1, 0, FIELD_IS_REQUIRED }, /* kind */
    { 1869, 676, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* user */
    { 2149, 677, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* group */
    { 2929, 678, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccount */
    /* v1.UserSubject */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.GroupSubject */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ServiceAccountSubject */
    { 51, 0, 1, 0, FIELD_IS_REQUIRED }, /* namespace */
    { 33, 0, 2, 0, FIELD_IS_REQUIRED }, /* name */
    /* v1.ResourcePolicyRule */
    { 7211, 60, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6854, 60, 2, 0, FIELD_IS_REQUIRED }, /* apiGroups */
    { 2529, 60, 3, 0, FIELD_IS_REQUIRED }, /* resources */
    { 10437, 4, 4, 0, FIELD_OMIT_EMPTY }, /* clusterScope */
    { 4997, 60, 5, 0, 0 }, /* namespaces */
    /* v1.NonResourcePolicyRule */
    { 7211, 60, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 8946, 60, 6, 0, FIELD_IS_REQUIRED }, /* nonResourceURLs */
    /* v1.FlowSchemaStatus */
    { 319, 689, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 692, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PriorityLevelConfiguration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 697, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    { 335, 700, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PriorityLevelConfigurationSpec */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 10450, 695, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* limited */
    { 10458, 696, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exempt */
    /* v1.LimitedPriorityLevelConfiguration */
    { 10465, 25, 1, 0, FIELD_POINTER }, /* nominalConcurrencyShares */
    { 10490, 694, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* limitResponse */
    { 10504, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lendablePercent */
    { 10520, 25, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* borrowingLimitPercent */
    /* v1.LimitResponse */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 10542, 693, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* queuing */
    /* v1.QueuingConfiguration */
    { 10550, 25, 1, 0, 0 }, /* queues */
    { 10557, 25, 2, 0, 0 }, /* handSize */
    { 10566, 25, 3, 0, 0 }, /* queueLengthLimit */
    /* v1.ExemptPriorityLevelConfiguration */
    { 10465, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nominalConcurrencyShares */
    { 10504, 25, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* lendablePercent */
    /* v1.PriorityLevelConfigurationStatus */
    { 319, 699, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
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
    { 356, 702, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.IPAddress */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 704, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* spec */
    /* v1.IPAddressSpec */
    { 10583, 703, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parentRef */
    /* v1.ParentReference */
    { 2149, 0, 1, 0, FIELD_OMIT_EMPTY }, /* group */
    { 3580, 0, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* resource */
    { 51, 0, 3, 0, FIELD_OMIT_EMPTY }, /* namespace */
    { 33, 0, 4, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* name */
    /* v1.IPAddressList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 706, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Ingress */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 717, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 723, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.IngressSpec */
    { 10593, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ingressClassName */
    { 10610, 709, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* defaultBackend */
    { 10625, 711, 2, 0, FIELD_OMIT_EMPTY }, /* tls */
    { 7003, 716, 3, 0, FIELD_OMIT_EMPTY }, /* rules */
    /* v1.IngressBackend */
    { 4428, 708, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* service */
    { 3580, 137, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resource */
    /* v1.IngressServiceBackend */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 508, 707, 2, 0, FIELD_OMIT_EMPTY }, /* port */
    /* v1.ServiceBackendPort */
    { 33, 0, 1, 0, FIELD_OMIT_EMPTY }, /* name */
    { 10629, 25, 2, 0, FIELD_OMIT_EMPTY }, /* number */
    /* v1.IngressTLS */
    { 10636, 47, 1, 0, FIELD_OMIT_EMPTY }, /* hosts */
    { 2051, 0, 2, 0, FIELD_OMIT_EMPTY }, /* secretName */
    /* v1.IngressRule */
    { 677, 0, 1, 0, FIELD_OMIT_EMPTY }, /* host */
    { 10642, 714, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* http */
    /* v1.HTTPIngressRuleValue */
    { 10647, 713, 1, 0, FIELD_IS_REQUIRED }, /* paths */
    /* v1.HTTPIngressPath */
    { 1421, 0, 1, 0, FIELD_OMIT_EMPTY }, /* path */
    { 10653, 0, 3, 0, FIELD_IS_REQUIRED | FIELD_POINTER }, /* pathType */
    { 10662, 709, 2, 0, FIELD_IS_REQUIRED }, /* backend */
    /* v1.IngressStatus */
    { 6410, 722, 1, 0, FIELD_OMIT_EMPTY }, /* loadBalancer */
    /* v1.IngressLoadBalancerStatus */
    { 6423, 721, 1, 0, FIELD_OMIT_EMPTY }, /* ingress */
    /* v1.IngressLoadBalancerIngress */
    { 477, 0, 1, 0, FIELD_OMIT_EMPTY }, /* ip */
    { 480, 0, 2, 0, FIELD_OMIT_EMPTY }, /* hostname */
    { 471, 719, 4, 0, FIELD_OMIT_EMPTY }, /* ports */
    /* v1.IngressPortStatus */
    { 508, 25, 1, 0, FIELD_IS_REQUIRED }, /* port */
    { 513, 26, 2, 0, FIELD_IS_REQUIRED }, /* protocol */
    { 350, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* error */
    /* v1.IngressClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 725, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.IngressClassSpec */
    { 224, 0, 1, 0, FIELD_OMIT_EMPTY }, /* controller */
    { 10670, 724, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* parameters */
    /* v1.IngressClassParametersReference */
    { 2585, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* apiGroup */
    { 1, 0, 2, 0, FIELD_IS_REQUIRED }, /* kind */
    { 33, 0, 3, 0, FIELD_IS_REQUIRED }, /* name */
    { 6876, 0, 4, 0, FIELD_POINTER }, /* scope */
    { 51, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespace */
    /* v1.IngressClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 727, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.IngressList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 729, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.NetworkPolicy */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 741, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    /* v1.NetworkPolicySpec */
    { 10681, 135, 1, 0, 0 }, /* podSelector */
    { 6423, 736, 2, 0, FIELD_OMIT_EMPTY }, /* ingress */
    { 10693, 738, 3, 0, FIELD_OMIT_EMPTY }, /* egress */
    { 10700, 740, 4, 0, FIELD_OMIT_EMPTY }, /* policyTypes */
    /* v1.NetworkPolicyIngressRule */
    { 471, 731, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 10712, 734, 2, 0, FIELD_OMIT_EMPTY }, /* from */
    /* v1.NetworkPolicyPort */
    { 513, 26, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* protocol */
    { 508, 223, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* port */
    { 10717, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* endPort */
    /* v1.NetworkPolicyPeer */
    { 10681, 135, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podSelector */
    { 5020, 135, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* namespaceSelector */
    { 10725, 732, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ipBlock */
    /* v1.IPBlock */
    { 10733, 0, 1, 0, FIELD_IS_REQUIRED }, /* cidr */
    { 10738, 47, 2, 0, FIELD_OMIT_EMPTY }, /* except */
    /* v1.NetworkPolicyEgressRule */
    { 471, 731, 1, 0, FIELD_OMIT_EMPTY }, /* ports */
    { 10745, 734, 2, 0, FIELD_OMIT_EMPTY }, /* to */
    /* v1.NetworkPolicyList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 743, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ServiceCIDR */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 744, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 745, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ServiceCIDRSpec */
    { 10748, 47, 1, 0, FIELD_OMIT_EMPTY }, /* cidrs */
    /* v1.ServiceCIDRStatus */
    { 319, 375, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.ServiceCIDRList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 747, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RuntimeClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10754, 0, 2, 0, FIELD_IS_REQUIRED }, /* handler */
    { 3218, 748, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* overhead */
    { 9619, 749, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* scheduling */
    /* v1.Overhead */
    { 10762, 39, 1, 0, FIELD_OMIT_EMPTY }, /* podFixed */
    /* v1.Scheduling */
    { 2897, 252, 1, 0, FIELD_OMIT_EMPTY }, /* nodeSelector */
    { 3089, 272, 2, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    /* v1.RuntimeClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 751, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Eviction */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10771, 753, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deleteOptions */
    /* v1.DeleteOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 10785, 1, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* gracePeriodSeconds */
    { 10804, 752, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preconditions */
    { 10818, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* orphanDependents */
    { 10835, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* propagationPolicy */
    { 6540, 47, 5, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 10853, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* ignoreStoreReadErrorWithClusterBreakingPotential */
    /* v1.Preconditions */
    { 70, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* uid */
    { 74, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* resourceVersion */
    /* v1.PodDisruptionBudget */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 756, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 758, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.PodDisruptionBudgetSpec */
    { 10902, 223, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* minAvailable */
    { 400, 754, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* selector */
    { 8282, 223, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maxUnavailable */
    { 10915, 755, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* unhealthyPodEvictionPolicy */
    /* v1.PodDisruptionBudgetStatus */
    { 5280, 1, 1, 0, FIELD_OMIT_EMPTY }, /* observedGeneration */
    { 10942, 757, 2, 0, FIELD_OMIT_EMPTY }, /* disruptedPods */
    { 10956, 25, 3, 0, 0 }, /* disruptionsAllowed */
    { 10975, 25, 4, 0, 0 }, /* currentHealthy */
    { 10990, 25, 5, 0, 0 }, /* desiredHealthy */
    { 11005, 25, 6, 0, 0 }, /* expectedPods */
    { 319, 375, 7, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.PodDisruptionBudgetList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 760, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterRole */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 7003, 762, 2, 0, 0 }, /* rules */
    { 11018, 764, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* aggregationRule */
    /* v1.PolicyRule */
    { 7211, 47, 1, 0, FIELD_IS_REQUIRED }, /* verbs */
    { 6854, 47, 2, 0, FIELD_OMIT_EMPTY }, /* apiGroups */
    { 2529, 47, 3, 0, FIELD_OMIT_EMPTY }, /* resources */
    { 6829, 47, 4, 0, FIELD_OMIT_EMPTY }, /* resourceNames */
    { 8946, 47, 5, 0, FIELD_OMIT_EMPTY }, /* nonResourceURLs */
    /* v1.AggregationRule */
    { 11034, 763, 1, 0, FIELD_OMIT_EMPTY }, /* clusterRoleSelectors */
    /* v1.ClusterRoleBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10428, 766, 2, 0, FIELD_OMIT_EMPTY }, /* subjects */
    { 11055, 767, 3, 0, FIELD_IS_REQUIRED }, /* roleRef */
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
    { 356, 769, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ClusterRoleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 771, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.Role */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 7003, 762, 2, 0, 0 }, /* rules */
    /* v1.RoleBinding */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 10428, 766, 2, 0, FIELD_OMIT_EMPTY }, /* subjects */
    { 11055, 767, 3, 0, FIELD_IS_REQUIRED }, /* roleRef */
    /* v1.RoleBindingList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 773, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.RoleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 775, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DeviceClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 782, 2, 0, 0 }, /* spec */
    /* v1.DeviceClassSpec */
    { 11063, 778, 1, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 1041, 781, 2, 0, FIELD_OMIT_EMPTY }, /* config */
    { 11073, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* extendedResourceName */
    /* v1.DeviceSelector */
    { 11094, 776, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* cel */
    /* v1.CELDeviceSelector */
    { 6882, 0, 1, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.DeviceClassConfiguration */
    { 11098, 779, 1, 1, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.OpaqueDeviceConfiguration */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 10670, 45, 2, 0, FIELD_IS_REQUIRED }, /* parameters */
    /* v1.DeviceClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 784, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.DeviceTaintRule */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 788, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 789, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.DeviceTaintRuleSpec */
    { 11105, 785, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deviceSelector */
    { 11120, 787, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* taint */
    /* v1.DeviceTaintSelector */
    { 2036, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* driver */
    { 1864, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* pool */
    { 11126, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* device */
    /* v1.DeviceTaint */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 885, 0, 2, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 786, 3, 0, FIELD_IS_REQUIRED }, /* effect */
    { 898, 2, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeAdded */
    /* v1.DeviceTaintRuleStatus */
    { 319, 375, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    /* v1.DeviceTaintRuleList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 791, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceClaim */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 808, 2, 0, 0 }, /* spec */
    { 335, 823, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.ResourceClaimSpec */
    { 11133, 807, 1, 0, 0 }, /* devices */
    /* v1.DeviceClaim */
    { 2576, 802, 1, 0, 0 }, /* requests */
    { 11141, 804, 2, 0, FIELD_OMIT_EMPTY }, /* constraints */
    { 1041, 806, 3, 0, FIELD_OMIT_EMPTY }, /* config */
    /* v1.DeviceRequest */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11153, 798, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* exactly */
    { 11161, 800, 3, 0, FIELD_OMIT_EMPTY }, /* firstAvailable */
    /* v1.ExactDeviceRequest */
    { 11176, 0, 1, 0, FIELD_IS_REQUIRED }, /* deviceClassName */
    { 11063, 778, 2, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 11192, 0, 3, 0, FIELD_OMIT_EMPTY }, /* allocationMode */
    { 592, 1, 4, 0, FIELD_OMIT_EMPTY }, /* count */
    { 11207, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* adminAccess */
    { 3089, 794, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 959, 795, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 11219, 797, 8, 0, FIELD_OMIT_EMPTY }, /* derivedAttributes */
    /* v1.DeviceToleration */
    { 881, 0, 1, 0, FIELD_OMIT_EMPTY }, /* key */
    { 2489, 792, 2, 0, FIELD_OMIT_EMPTY }, /* operator */
    { 885, 0, 3, 0, FIELD_OMIT_EMPTY }, /* value */
    { 891, 786, 4, 0, FIELD_OMIT_EMPTY }, /* effect */
    { 5087, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* tolerationSeconds */
    /* v1.CapacityRequirements */
    { 2576, 39, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    /* v1.DeviceDerivedAttribute */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 6882, 0, 2, 0, FIELD_IS_REQUIRED }, /* expression */
    /* v1.DeviceSubRequest */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11176, 0, 2, 0, FIELD_IS_REQUIRED }, /* deviceClassName */
    { 11063, 778, 3, 0, FIELD_OMIT_EMPTY }, /* selectors */
    { 11192, 0, 4, 0, FIELD_OMIT_EMPTY }, /* allocationMode */
    { 592, 1, 5, 0, FIELD_OMIT_EMPTY }, /* count */
    { 3089, 794, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 959, 795, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 11219, 797, 8, 0, FIELD_OMIT_EMPTY }, /* derivedAttributes */
    /* v1.DeviceConstraint */
    { 2576, 47, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 11237, 0, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* matchAttribute */
    { 11252, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* distinctAttribute */
    /* v1.DeviceClaimConfiguration */
    { 2576, 47, 1, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 11098, 779, 1, 2, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.ResourceClaimStatus */
    { 11270, 817, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocation */
    { 11281, 819, 2, 0, FIELD_OMIT_EMPTY }, /* reservedFor */
    { 11133, 822, 4, 0, FIELD_OMIT_EMPTY }, /* devices */
    /* v1.AllocationResult */
    { 11133, 816, 1, 0, FIELD_OMIT_EMPTY }, /* devices */
    { 2897, 128, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 11293, 2, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocationTimestamp */
    /* v1.DeviceAllocationResult */
    { 11313, 812, 1, 0, FIELD_OMIT_EMPTY }, /* results */
    { 1041, 815, 2, 0, FIELD_OMIT_EMPTY }, /* config */
    /* v1.DeviceRequestAllocationResult */
    { 4185, 0, 1, 0, FIELD_IS_REQUIRED }, /* request */
    { 2036, 0, 2, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1864, 0, 3, 0, FIELD_IS_REQUIRED }, /* pool */
    { 11126, 0, 4, 0, FIELD_IS_REQUIRED }, /* device */
    { 11207, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* adminAccess */
    { 3089, 794, 6, 0, FIELD_OMIT_EMPTY }, /* tolerations */
    { 11321, 47, 7, 0, FIELD_OMIT_EMPTY }, /* bindingConditions */
    { 11339, 47, 8, 0, FIELD_OMIT_EMPTY }, /* bindingFailureConditions */
    { 11364, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareID */
    { 11372, 39, 10, 0, FIELD_OMIT_EMPTY }, /* consumedCapacity */
    { 11389, 810, 11, 0, FIELD_OMIT_EMPTY }, /* skipNodeOperations */
    /* v1.DeviceAllocationConfiguration */
    { 556, 813, 1, 0, FIELD_IS_REQUIRED }, /* source */
    { 2576, 47, 2, 0, FIELD_OMIT_EMPTY }, /* requests */
    { 11098, 779, 1, 3, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* opaque */
    /* v1.ResourceClaimConsumerReference */
    { 2585, 0, 1, 0, FIELD_OMIT_EMPTY }, /* apiGroup */
    { 3580, 0, 3, 0, FIELD_IS_REQUIRED }, /* resource */
    { 33, 0, 4, 0, FIELD_IS_REQUIRED }, /* name */
    { 70, 0, 5, 0, FIELD_IS_REQUIRED }, /* uid */
    /* v1.AllocatedDeviceStatus */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1864, 0, 2, 0, FIELD_IS_REQUIRED }, /* pool */
    { 11126, 0, 3, 0, FIELD_IS_REQUIRED }, /* device */
    { 11364, 0, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* shareID */
    { 319, 438, 4, 0, 0 }, /* conditions */
    { 419, 45, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* data */
    { 11408, 820, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* networkData */
    /* v1.NetworkDeviceData */
    { 11420, 0, 1, 0, FIELD_OMIT_EMPTY }, /* interfaceName */
    { 11434, 47, 2, 0, FIELD_OMIT_EMPTY }, /* ips */
    { 11438, 0, 3, 0, FIELD_OMIT_EMPTY }, /* hardwareAddress */
    /* v1.ResourceClaimList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 825, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceClaimTemplate */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 826, 2, 0, 0 }, /* spec */
    /* v1.ResourceClaimTemplateSpec */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 808, 2, 0, 0 }, /* spec */
    /* v1.ResourceClaimTemplateList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 828, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.ResourceSlice */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 851, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.ResourceSliceSpec */
    { 2036, 0, 1, 0, FIELD_IS_REQUIRED }, /* driver */
    { 1864, 829, 2, 0, FIELD_IS_REQUIRED }, /* pool */
    { 489, 0, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 2897, 128, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 11454, 4, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allNodes */
    { 11133, 848, 6, 0, FIELD_OMIT_EMPTY }, /* devices */
    { 11463, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perDeviceNodeSelection */
    { 11486, 850, 8, 0, FIELD_OMIT_EMPTY }, /* sharedCounters */
    { 11501, 0, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* partitionTypeAttribute */
    { 11389, 810, 10, 0, FIELD_OMIT_EMPTY }, /* skipNodeOperations */
    /* v1.ResourcePool */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 90, 1, 2, 0, FIELD_IS_REQUIRED }, /* generation */
    { 11524, 1, 3, 0, FIELD_IS_REQUIRED }, /* resourceSliceCount */
    /* v1.Device */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11543, 832, 2, 0, FIELD_OMIT_EMPTY }, /* attributes */
    { 959, 837, 3, 0, FIELD_OMIT_EMPTY }, /* capacity */
    { 11554, 841, 4, 0, FIELD_OMIT_EMPTY }, /* consumesCounters */
    { 489, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeName */
    { 2897, 128, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeSelector */
    { 11454, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allNodes */
    { 830, 842, 8, 0, FIELD_OMIT_EMPTY }, /* taints */
    { 11571, 4, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* bindsToNode */
    { 11321, 47, 10, 0, FIELD_OMIT_EMPTY }, /* bindingConditions */
    { 11339, 47, 11, 0, FIELD_OMIT_EMPTY }, /* bindingFailureConditions */
    { 11583, 4, 12, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowMultipleAllocations */
    { 11608, 846, 14, 0, FIELD_OMIT_EMPTY }, /* nodeAllocatableResources */
    /* v1.DeviceAttribute */
    { 11633, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* int */
    { 11637, 4, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* bool */
    { 11642, 0, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* string */
    { 6547, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* version */
    { 11649, 253, 6, 0, FIELD_OMIT_EMPTY }, /* ints */
    { 11654, 830, 7, 0, FIELD_OMIT_EMPTY }, /* bools */
    { 11660, 47, 8, 0, FIELD_OMIT_EMPTY }, /* strings */
    { 7162, 47, 9, 0, FIELD_OMIT_EMPTY }, /* versions */
    /* v1.DeviceCapacity */
    { 885, 38, 1, 0, FIELD_IS_REQUIRED }, /* value */
    { 11668, 835, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requestPolicy */
    /* v1.CapacityRequestPolicy */
    { 719, 38, 1, 0, FIELD_POINTER }, /* default */
    { 11682, 833, 3, 0, FIELD_OMIT_EMPTY }, /* validValues */
    { 11694, 834, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* validRange */
    /* v1.CapacityRequestPolicyRange */
    { 715, 38, 1, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY | FIELD_POINTER }, /* min */
    { 711, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* max */
    { 11705, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* step */
    /* v1.DeviceCounterConsumption */
    { 11710, 0, 1, 0, FIELD_IS_REQUIRED }, /* counterSet */
    { 11721, 839, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* counters */
    { 11730, 47, 3, 0, FIELD_OMIT_EMPTY }, /* compatibilityGroups */
    /* v1.Counter */
    { 885, 38, 1, 0, FIELD_IS_REQUIRED }, /* value */
    /* v1.NodeAllocatableResource */
    { 5761, 843, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* mapping */
    { 3218, 844, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* overhead */
    /* v1.NodeAllocatableMapping */
    { 11750, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacityKey */
    { 11762, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacityMultiplier */
    { 11781, 38, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* deviceMultiplier */
    /* v1.NodeAllocatableOverhead */
    { 5778, 38, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perPod */
    { 5785, 38, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* perContainer */
    /* v1.CounterSet */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 11721, 839, 2, 0, FIELD_IS_REQUIRED | FIELD_OMIT_EMPTY }, /* counters */
    /* v1.ResourceSliceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 853, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.PriorityClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 885, 25, 2, 0, 0 }, /* value */
    { 11798, 4, 3, 0, FIELD_OMIT_EMPTY }, /* globalDefault */
    { 7500, 0, 4, 0, FIELD_OMIT_EMPTY }, /* description */
    { 3201, 280, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preemptionPolicy */
    /* v1.PriorityClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 855, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSIDriver */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 858, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    /* v1.CSIDriverSpec */
    { 11812, 4, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* attachRequired */
    { 11827, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* podInfoOnMount */
    { 11842, 60, 3, 0, FIELD_OMIT_EMPTY }, /* volumeLifecycleModes */
    { 11863, 4, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* storageCapacity */
    { 11879, 0, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* fsGroupPolicy */
    { 11893, 857, 6, 0, FIELD_OMIT_EMPTY }, /* tokenRequests */
    { 11907, 4, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* requiresRepublish */
    { 11925, 4, 8, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* seLinuxMount */
    { 11938, 1, 9, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeAllocatableUpdatePeriodSeconds */
    { 11973, 4, 10, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* serviceAccountTokenInSecrets */
    { 12002, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* preventPodSchedulingIfMissing */
    /* v1.TokenRequest */
    { 3659, 0, 1, 0, FIELD_IS_REQUIRED }, /* audience */
    { 3668, 1, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* expirationSeconds */
    /* v1.CSIDriverList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 860, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSINode */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 864, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 870, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.CSINodeSpec */
    { 12032, 863, 1, 0, FIELD_IS_REQUIRED }, /* drivers */
    /* v1.CSINodeDriver */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 12040, 0, 2, 0, FIELD_IS_REQUIRED }, /* nodeID */
    { 12047, 47, 3, 0, 0 }, /* topologyKeys */
    { 968, 861, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allocatable */
    /* v1.VolumeNodeResources */
    { 592, 25, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* count */
    /* v1.CSINodeStatus */
    { 12060, 869, 1, 0, FIELD_OMIT_EMPTY }, /* storageHealth */
    /* v1.StorageHealth */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 2750, 867, 2, 0, FIELD_OMIT_EMPTY }, /* healthConditions */
    /* v1.StorageHealthCondition */
    { 335, 865, 1, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 2, 0, FIELD_IS_REQUIRED }, /* reason */
    { 342, 0, 3, 0, FIELD_OMIT_EMPTY }, /* message */
    { 12074, 118, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* accessMode */
    { 1721, 122, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeMode */
    { 769, 2, 6, 0, FIELD_OMIT_EMPTY }, /* lastTransitionTime */
    /* v1.CSINodeList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 872, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CSIStorageCapacity */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 12085, 135, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* nodeTopology */
    { 1691, 0, 3, 0, FIELD_IS_REQUIRED }, /* storageClassName */
    { 959, 38, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* capacity */
    { 12098, 38, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* maximumVolumeSize */
    /* v1.CSIStorageCapacityList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 874, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StorageClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 12116, 0, 2, 0, FIELD_IS_REQUIRED }, /* provisioner */
    { 10670, 3, 3, 0, FIELD_OMIT_EMPTY }, /* parameters */
    { 12128, 121, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* reclaimPolicy */
    { 1708, 47, 5, 0, FIELD_OMIT_EMPTY }, /* mountOptions */
    { 12142, 4, 6, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* allowVolumeExpansion */
    { 12163, 875, 7, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* volumeBindingMode */
    { 12181, 879, 8, 0, FIELD_OMIT_EMPTY }, /* allowedTopologies */
    /* v1.TopologySelectorTerm */
    { 12199, 877, 1, 0, FIELD_OMIT_EMPTY }, /* matchLabelExpressions */
    /* v1.TopologySelectorLabelRequirement */
    { 881, 0, 1, 0, FIELD_IS_REQUIRED }, /* key */
    { 2498, 47, 2, 0, FIELD_IS_REQUIRED }, /* values */
    /* v1.StorageClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 881, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.VolumeAttachment */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 883, 2, 0, FIELD_IS_REQUIRED }, /* spec */
    { 335, 885, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.VolumeAttachmentSpec */
    { 12221, 0, 1, 0, FIELD_IS_REQUIRED }, /* attacher */
    { 556, 882, 2, 0, FIELD_IS_REQUIRED }, /* source */
    { 489, 0, 3, 0, FIELD_IS_REQUIRED }, /* nodeName */
    /* v1.VolumeAttachmentSource */
    { 12230, 0, 1, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* persistentVolumeName */
    { 12251, 130, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* inlineVolumeSpec */
    /* v1.VolumeAttachmentStatus */
    { 12268, 4, 1, 0, FIELD_IS_REQUIRED }, /* attached */
    { 12277, 3, 2, 0, FIELD_OMIT_EMPTY }, /* attachmentMetadata */
    { 12296, 884, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* attachError */
    { 12308, 884, 4, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* detachError */
    /* v1.VolumeError */
    { 272, 2, 1, 0, FIELD_OMIT_EMPTY }, /* time */
    { 342, 0, 2, 0, FIELD_OMIT_EMPTY }, /* message */
    { 12320, 25, 3, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* errorCode */
    /* v1.VolumeAttachmentList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 887, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.VolumeAttributesClass */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 12330, 0, 2, 0, FIELD_IS_REQUIRED }, /* driverName */
    { 10670, 3, 3, 0, FIELD_OMIT_EMPTY }, /* parameters */
    /* v1.VolumeAttributesClassList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 889, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.StorageVersionMigration */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 699, 891, 2, 0, FIELD_OMIT_EMPTY }, /* spec */
    { 335, 892, 3, 0, FIELD_OMIT_EMPTY }, /* status */
    /* v1.StorageVersionMigrationSpec */
    { 3580, 890, 1, 0, FIELD_IS_REQUIRED }, /* resource */
    /* v1.GroupResource */
    { 2149, 0, 1, 0, FIELD_IS_REQUIRED }, /* group */
    { 3580, 0, 2, 0, FIELD_IS_REQUIRED }, /* resource */
    /* v1.StorageVersionMigrationStatus */
    { 319, 375, 1, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 74, 0, 2, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    /* v1.StorageVersionMigrationList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 894, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.CreateOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6540, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 12341, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 12354, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.UpdateOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6540, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 12341, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 12354, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.PatchOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6540, 47, 1, 0, FIELD_OMIT_EMPTY }, /* dryRun */
    { 12370, 4, 2, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* force */
    { 12341, 0, 3, 0, FIELD_OMIT_EMPTY }, /* fieldManager */
    { 12354, 0, 4, 0, FIELD_OMIT_EMPTY }, /* fieldValidation */
    /* v1.GetOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 74, 0, 1, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    /* v1.ListOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 3697, 0, 1, 0, FIELD_OMIT_EMPTY }, /* labelSelector */
    { 8856, 0, 2, 0, FIELD_OMIT_EMPTY }, /* fieldSelector */
    { 12376, 4, 3, 0, FIELD_OMIT_EMPTY }, /* watch */
    { 12382, 4, 9, 0, FIELD_OMIT_EMPTY }, /* allowWatchBookmarks */
    { 74, 0, 4, 0, FIELD_OMIT_EMPTY }, /* resourceVersion */
    { 12402, 0, 10, 0, FIELD_OMIT_EMPTY }, /* resourceVersionMatch */
    { 4346, 1, 5, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* timeoutSeconds */
    { 12423, 1, 7, 0, FIELD_OMIT_EMPTY }, /* limit */
    { 362, 0, 8, 0, FIELD_OMIT_EMPTY }, /* continue */
    { 12429, 4, 11, 0, FIELD_OMIT_EMPTY | FIELD_POINTER }, /* sendInitialEvents */
    { 12447, 0, 15, 0, FIELD_OMIT_EMPTY }, /* shardSelector */
    /* v1.WatchEvent */
    { 330, 0, 1, 0, FIELD_IS_REQUIRED }, /* type */
    { 6523, 45, 2, 0, FIELD_IS_REQUIRED }, /* object */
    /* v1.Table */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 0, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 12461, 896, 0, 0, FIELD_IS_REQUIRED }, /* columnDefinitions */
    { 12479, 900, 0, 0, FIELD_IS_REQUIRED }, /* rows */
    /* v1.TableColumnDefinition */
    { 33, 0, 0, 0, FIELD_IS_REQUIRED }, /* name */
    { 330, 0, 0, 0, FIELD_IS_REQUIRED }, /* type */
    { 7512, 0, 0, 0, FIELD_IS_REQUIRED }, /* format */
    { 7500, 0, 0, 0, FIELD_IS_REQUIRED }, /* description */
    { 3131, 25, 0, 0, FIELD_IS_REQUIRED }, /* priority */
    /* v1.TableRow */
    { 12484, 466, 0, 0, FIELD_IS_REQUIRED }, /* cells */
    { 319, 898, 0, 0, FIELD_OMIT_EMPTY }, /* conditions */
    { 6523, 45, 0, 0, FIELD_OMIT_EMPTY }, /* object */
    /* v1.TableRowCondition */
    { 330, 0, 0, 0, FIELD_IS_REQUIRED }, /* type */
    { 335, 0, 0, 0, FIELD_IS_REQUIRED }, /* status */
    { 549, 0, 0, 0, FIELD_OMIT_EMPTY }, /* reason */
    { 342, 0, 0, 0, FIELD_OMIT_EMPTY }, /* message */
    /* v1.TableOptions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 12490, 0, 1, 0, FIELD_OMIT_EMPTY }, /* includeObject */
    /* v1.PartialObjectMetadata */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 11, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    /* v1.PartialObjectMetadataList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 17, 16, 1, 0, FIELD_OMIT_EMPTY }, /* metadata */
    { 356, 902, 2, 0, FIELD_IS_REQUIRED }, /* items */
    /* v1.APIGroup */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 7162, 904, 2, 0, FIELD_IS_REQUIRED }, /* versions */
    { 12504, 903, 3, 0, FIELD_OMIT_EMPTY }, /* preferredVersion */
    { 12521, 906, 4, 0, FIELD_OMIT_EMPTY }, /* serverAddressByClientCIDRs */
    /* v1.GroupVersionForDiscovery */
    { 12548, 0, 1, 0, FIELD_IS_REQUIRED }, /* groupVersion */
    { 6547, 0, 2, 0, FIELD_IS_REQUIRED }, /* version */
    /* v1.ServerAddressByClientCIDR */
    { 12561, 0, 1, 0, FIELD_IS_REQUIRED }, /* clientCIDR */
    { 12572, 0, 2, 0, FIELD_IS_REQUIRED }, /* serverAddress */
    /* v1.APIGroupList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 6564, 908, 1, 0, FIELD_IS_REQUIRED }, /* groups */
    /* v1.APIResourceList */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 12548, 0, 1, 0, FIELD_IS_REQUIRED }, /* groupVersion */
    { 2529, 910, 2, 0, FIELD_IS_REQUIRED }, /* resources */
    /* v1.APIResource */
    { 33, 0, 1, 0, FIELD_IS_REQUIRED }, /* name */
    { 12586, 0, 6, 0, FIELD_IS_REQUIRED }, /* singularName */
    { 12599, 4, 2, 0, FIELD_IS_REQUIRED }, /* namespaced */
    { 2149, 0, 8, 0, FIELD_OMIT_EMPTY }, /* group */
    { 6547, 0, 9, 0, FIELD_OMIT_EMPTY }, /* version */
    { 1, 0, 3, 0, FIELD_IS_REQUIRED }, /* kind */
    { 7211, 385, 1, 4, FIELD_IS_REQUIRED }, /* verbs */
    { 7217, 47, 5, 0, FIELD_OMIT_EMPTY }, /* shortNames */
    { 7228, 47, 7, 0, FIELD_OMIT_EMPTY }, /* categories */
    { 12610, 0, 10, 0, FIELD_OMIT_EMPTY }, /* storageVersionHash */
    /* v1.APIVersions */
    { 1, 0, 0, 0, FIELD_OMIT_EMPTY }, /* kind */
    { 6, 0, 0, 0, FIELD_OMIT_EMPTY }, /* apiVersion */
    { 7162, 47, 1, 0, FIELD_IS_REQUIRED }, /* versions */
    { 12521, 906, 2, 0, FIELD_IS_REQUIRED }, /* serverAddressByClientCIDRs */
};

const struct builtin_type_row builtin_types[] = {
    { 12629, 12656, 0, 4 },
    { 12667, 12715, 4, 15 },
    { 12729, 12781, 19, 6 },
    { 12799, 12855, 25, 7 },
    { 12877, 12912, 32, 7 },
    { 12931, 12966, 39, 4 },
    { 12985, 13023, 43, 4 },
    { 13045, 13084, 47, 4 },
    { 13107, 13153, 51, 5 },
    { 13165, 13212, 56, 1 },
    { 13225, 13254, 57, 6 },
    { 13267, 13300, 63, 4 },
    { 13317, 13346, 67, 4 },
    { 13359, 13393, 71, 3 },
    { 13411, 13446, 74, 4 },
    { 13465, 13497, 78, 4 },
    { 13513, 13546, 82, 4 },
    { 13563, 13588, 86, 17 },
    { 13597, 13628, 103, 2 },
    { 13643, 13674, 105, 2 },
    { 13689, 13718, 107, 4 },
    { 13731, 13761, 111, 4 },
    { 13775, 13809, 115, 1 },
    { 13827, 13861, 116, 6 },
    { 13879, 13913, 122, 4 },
    { 13931, 13955, 126, 4 },
    { 13963, 13992, 130, 5 },
    { 14005, 14038, 135, 1 },
    { 14055, 14090, 136, 2 },
    { 14109, 14147, 138, 5 },
    { 14169, 14202, 143, 4 },
    { 14219, 14243, 147, 5 },
    { 14251, 14279, 152, 8 },
    { 14291, 14316, 160, 4 },
    { 14325, 14361, 164, 1 },
    { 14381, 14426, 165, 5 },
    { 14455, 14498, 170, 1 },
    { 14525, 14555, 171, 14 },
    { 14569, 14602, 185, 6 },
    { 14619, 14650, 191, 2 },
    { 14665, 14704, 193, 1 },
    { 14727, 14761, 194, 1 },
    { 14779, 14813, 195, 12 },
    { 14831, 14865, 207, 1 },
    { 14883, 14917, 208, 2 },
    { 14935, 14969, 210, 2 },
    { 14987, 15023, 212, 4 },
    { 15043, 15081, 216, 2 },
    { 15103, 15149, 218, 2 },
    { 15179, 15211, 220, 1 },
    { 15227, 15255, 221, 4 },
    { 15267, 15303, 225, 3 },
    { 15323, 15359, 228, 5 },
    { 15379, 15419, 233, 31 },
    { 15443, 15492, 264, 4 },
    { 15525, 15577, 268, 4 },
    { 15613, 15653, 272, 2 },
    { 15677, 15728, 274, 4 },
    { 15763, 15798, 278, 3 },
    { 15817, 15862, 281, 8 },
    { 15891, 15926, 289, 2 },
    { 15945, 15992, 291, 11 },
    { 16023, 16071, 302, 4 },
    { 16103, 16151, 306, 6 },
    { 16183, 16217, 312, 5 },
    { 16235, 16274, 317, 2 },
    { 16297, 16343, 319, 5 },
    { 16373, 16424, 324, 4 },
    { 16459, 16509, 328, 4 },
    { 16543, 16582, 332, 6 },
    { 16605, 16646, 338, 6 },
    { 16671, 16723, 344, 2 },
    { 16759, 16799, 346, 3 },
    { 16823, 16872, 349, 10 },
    { 16905, 16942, 359, 2 },
    { 16963, 17014, 361, 5 },
    { 17049, 17094, 366, 10 },
    { 17123, 17161, 376, 1 },
    { 17183, 17215, 377, 1 },
    { 17231, 17267, 378, 2 },
    { 17287, 17330, 380, 3 },
    { 17357, 17399, 383, 4 },
    { 17425, 17466, 387, 5 },
    { 17491, 17536, 392, 9 },
    { 17565, 17616, 401, 2 },
    { 17633, 17695, 403, 3 },
    { 17723, 17769, 406, 2 },
    { 17799, 17844, 408, 3 },
    { 17873, 17913, 411, 4 },
    { 17937, 17984, 415, 9 },
    { 18015, 18065, 424, 6 },
    { 18099, 18137, 430, 2 },
    { 18159, 18197, 432, 2 },
    { 18219, 18260, 434, 3 },
    { 18285, 18330, 437, 4 },
    { 18359, 18399, 441, 4 },
    { 18423, 18446, 445, 5 },
    { 18453, 18480, 450, 43 },
    { 18491, 18517, 493, 31 },
    { 18527, 18567, 524, 3 },
    { 18591, 18630, 527, 3 },
    { 18653, 18691, 530, 5 },
    { 18713, 18742, 535, 4 },
    { 18755, 18792, 539, 11 },
    { 18813, 18853, 550, 1 },
    { 18877, 18918, 551, 3 },
    { 18943, 18996, 554, 2 },
    { 19033, 19068, 556, 8 },
    { 19087, 19123, 564, 5 },
    { 19143, 19181, 569, 4 },
    { 19203, 19241, 573, 6 },
    { 19263, 19306, 579, 3 },
    { 19333, 19374, 582, 5 },
    { 19399, 19438, 587, 2 },
    { 19461, 19502, 589, 3 },
    { 19527, 19568, 592, 3 },
    { 19593, 19634, 595, 5 },
    { 19659, 19700, 600, 3 },
    { 19725, 19761, 603, 6 },
    { 19781, 19817, 609, 3 },
    { 19837, 19878, 612, 1 },
    { 19903, 19942, 613, 3 },
    { 19965, 20014, 616, 4 },
    { 20047, 20095, 620, 6 },
    { 20127, 20171, 626, 8 },
    { 20199, 20238, 634, 10 },
    { 20261, 20302, 644, 5 },
    { 20327, 20362, 649, 5 },
    { 20381, 20422, 654, 1 },
    { 20447, 20496, 655, 2 },
    { 20529, 20566, 657, 2 },
    { 20587, 20616, 659, 25 },
    { 20629, 20662, 684, 5 },
    { 20679, 20712, 689, 3 },
    { 20729, 20767, 692, 2 },
    { 20789, 20824, 694, 2 },
    { 20843, 20869, 696, 3 },
    { 20879, 20911, 699, 5 },
    { 20927, 20967, 704, 3 },
    { 20991, 21028, 707, 3 },
    { 21049, 21084, 710, 4 },
    { 21103, 21143, 714, 3 },
    { 21167, 21200, 717, 2 },
    { 21217, 21258, 719, 2 },
    { 21283, 21323, 721, 2 },
    { 21347, 21398, 723, 2 },
    { 21433, 21464, 725, 8 },
    { 21479, 21511, 733, 2 },
    { 21527, 21552, 735, 10 },
    { 21561, 21591, 745, 1 },
    { 21605, 21638, 746, 6 },
    { 21655, 21685, 752, 2 },
    { 21699, 21734, 754, 2 },
    { 21753, 21783, 756, 3 },
    { 21797, 21826, 759, 3 },
    { 21839, 21875, 762, 4 },
    { 21895, 21926, 766, 1 },
    { 21941, 21976, 767, 12 },
    { 21995, 22027, 779, 2 },
    { 22043, 22077, 781, 4 },
    { 22095, 22144, 785, 4 },
    { 22177, 22211, 789, 2 },
    { 22229, 22264, 791, 2 },
    { 22283, 22321, 793, 26 },
    { 22343, 22381, 819, 13 },
    { 22403, 22429, 832, 2 },
    { 22439, 22467, 834, 3 },
    { 22479, 22511, 837, 2 },
    { 22527, 22570, 839, 2 },
    { 22597, 22628, 841, 2 },
    { 22643, 22678, 843, 6 },
    { 22697, 22740, 849, 2 },
    { 22767, 22802, 851, 2 },
    { 22821, 22851, 853, 5 },
    { 22865, 22894, 858, 2 },
    { 22907, 22939, 860, 3 },
    { 22955, 22993, 863, 2 },
    { 23015, 23051, 865, 1 },
    { 23071, 23115, 866, 8 },
    { 23143, 23168, 874, 1 },
    { 23177, 23214, 875, 1 },
    { 23235, 23271, 876, 3 },
    { 23291, 23329, 879, 1 },
    { 23351, 23388, 880, 2 },
    { 23409, 23438, 882, 22 },
    { 23451, 23483, 904, 7 },
    { 23499, 23525, 911, 1 },
    { 23535, 23560, 912, 1 },
    { 23569, 23604, 913, 15 },
    { 23623, 23657, 928, 3 },
    { 23675, 23716, 931, 2 },
    { 23741, 23782, 933, 1 },
    { 23807, 23851, 934, 7 },
    { 23879, 23916, 941, 5 },
    { 23937, 23969, 946, 1 },
    { 23985, 24022, 947, 1 },
    { 24043, 24076, 948, 1 },
    { 24093, 24131, 949, 3 },
    { 24153, 24187, 952, 2 },
    { 24205, 24239, 954, 3 },
    { 24257, 24299, 957, 2 },
    { 24325, 24375, 959, 2 },
    { 24409, 24461, 961, 3 },
    { 24497, 24551, 964, 4 },
    { 24589, 24639, 968, 2 },
    { 24673, 24725, 970, 3 },
    { 24761, 24796, 973, 3 },
    { 24815, 24851, 976, 7 },
    { 24871, 24905, 983, 8 },
    { 24923, 24950, 991, 4 },
    { 24961, 24994, 995, 12 },
    { 25011, 25052, 1007, 3 },
    { 25077, 25112, 1010, 3 },
    { 25131, 25162, 1013, 4 },
    { 25177, 25212, 1017, 2 },
    { 25231, 25266, 1019, 4 },
    { 25285, 25320, 1023, 5 },
    { 25339, 25380, 1028, 5 },
    { 25405, 25450, 1033, 4 },
    { 25479, 25526, 1037, 6 },
    { 25557, 25607, 1043, 5 },
    { 25641, 25686, 1048, 4 },
    { 25715, 25748, 1052, 5 },
    { 25765, 25802, 1057, 3 },
    { 25823, 25856, 1060, 1 },
    { 25873, 25926, 1061, 3 },
    { 25963, 26002, 1064, 2 },
    { 26025, 26062, 1066, 4 },
    { 26083, 26109, 1070, 7 },
    { 26119, 26149, 1077, 4 },
    { 26163, 26202, 1081, 3 },
    { 26225, 26252, 1084, 5 },
    { 26263, 26294, 1089, 20 },
    { 26309, 26340, 1109, 6 },
    { 26355, 26396, 1115, 1 },
    { 26421, 26455, 1116, 1 },
    { 26473, 26506, 1117, 2 },
    { 26523, 26561, 1119, 1 },
    { 26583, 26622, 1120, 4 },
    { 26645, 26675, 1124, 3 },
    { 26689, 26736, 1127, 6 },
    { 26749, 26783, 1133, 6 },
    { 26801, 26839, 1139, 4 },
    { 26861, 26892, 1143, 4 },
    { 26907, 26946, 1147, 3 },
    { 26969, 27009, 1150, 4 },
    { 27028, 27069, 1154, 15 },
    { 27089, 27143, 1169, 3 },
    { 27163, 27221, 1172, 3 },
    { 27245, 27283, 1175, 4 },
    { 27295, 27337, 1179, 7 },
    { 27358, 27402, 1186, 8 },
    { 27412, 27463, 1194, 6 },
    { 27480, 27529, 1200, 3 },
    { 27544, 27604, 1203, 4 },
    { 27631, 27695, 1207, 7 },
    { 27726, 27772, 1214, 2 },
    { 27785, 27836, 1216, 5 },
    { 27854, 27914, 1221, 6 },
    { 27941, 27986, 1227, 2 },
    { 27998, 28043, 1229, 3 },
    { 28055, 28110, 1232, 1 },
    { 28132, 28178, 1233, 1 },
    { 28191, 28242, 1234, 2 },
    { 28260, 28327, 1236, 4 },
    { 28361, 28432, 1240, 3 },
    { 28470, 28515, 1243, 4 },
    { 28527, 28598, 1247, 4 },
    { 28636, 28700, 1251, 4 },
    { 28731, 28796, 1255, 4 },
    { 28828, 28880, 1259, 12 },
    { 28899, 28955, 1271, 3 },
    { 28978, 29031, 1274, 4 },
    { 29051, 29106, 1278, 5 },
    { 29128, 29197, 1283, 4 },
    { 29233, 29295, 1287, 5 },
    { 29324, 29390, 1292, 7 },
    { 29423, 29470, 1299, 4 },
    { 29484, 29536, 1303, 2 },
    { 29555, 29623, 1305, 3 },
    { 29658, 29707, 1308, 1 },
    { 29723, 29777, 1309, 2 },
    { 29798, 29867, 1311, 4 },
    { 29903, 29976, 1315, 4 },
    { 30016, 30089, 1319, 4 },
    { 30129, 30195, 1323, 4 },
    { 30228, 30295, 1327, 4 },
    { 30329, 30383, 1331, 11 },
    { 30404, 30475, 1342, 4 },
    { 30513, 30558, 1346, 4 },
    { 30579, 30626, 1350, 3 },
    { 30649, 30697, 1353, 8 },
    { 30721, 30772, 1361, 4 },
    { 30799, 30848, 1365, 4 },
    { 30873, 30947, 1369, 4 },
    { 30967, 31042, 1373, 3 },
    { 31063, 31139, 1376, 3 },
    { 31161, 31243, 1379, 5 },
    { 31271, 31357, 1384, 6 },
    { 31389, 31476, 1390, 6 },
    { 31509, 31598, 1396, 9 },
    { 31633, 31715, 1405, 1 },
    { 31743, 31816, 1406, 44 },
    { 31835, 31914, 1450, 2 },
    { 31939, 32011, 1452, 6 },
    { 32029, 32113, 1458, 2 },
    { 32143, 32232, 1460, 0 },
    { 32267, 32355, 1460, 3 },
    { 32389, 32477, 1463, 6 },
    { 32511, 32584, 1469, 1 },
    { 32603, 32685, 1470, 2 },
    { 32713, 32788, 1472, 2 },
    { 32809, 28955, 1474, 3 },
    { 32886, 29031, 1477, 4 },
    { 32960, 33048, 1481, 4 },
    { 33082, 33173, 1485, 6 },
    { 33210, 33296, 1491, 4 },
    { 33328, 33390, 1495, 5 },
    { 33404, 33470, 1500, 7 },
    { 33488, 29031, 1507, 3 },
    { 33556, 33624, 1510, 1 },
    { 33644, 33715, 1511, 5 },
    { 33738, 33804, 1516, 4 },
    { 33822, 33860, 1520, 5 },
    { 33882, 33924, 1525, 4 },
    { 33950, 33979, 1529, 5 },
    { 33992, 34025, 1534, 5 },
    { 34042, 34085, 1539, 2 },
    { 34112, 34154, 1541, 2 },
    { 34180, 34215, 1543, 10 },
    { 34234, 34272, 1553, 5 },
    { 34294, 34327, 1558, 4 },
    { 34344, 34374, 1562, 5 },
    { 34388, 34422, 1567, 8 },
    { 34440, 34478, 1575, 2 },
    { 34500, 34543, 1577, 2 },
    { 34570, 34606, 1579, 9 },
    { 34626, 34665, 1588, 6 },
    { 34688, 34722, 1594, 4 },
    { 34740, 34770, 1598, 5 },
    { 34784, 34818, 1603, 4 },
    { 34836, 34872, 1607, 7 },
    { 34892, 34931, 1614, 5 },
    { 34954, 34988, 1619, 4 },
    { 35006, 35037, 1623, 5 },
    { 35052, 35087, 1628, 11 },
    { 35106, 35151, 1639, 2 },
    { 35180, 35232, 1641, 2 },
    { 35268, 35335, 1643, 2 },
    { 35386, 35425, 1645, 1 },
    { 35448, 35485, 1646, 10 },
    { 35506, 35546, 1656, 5 },
    { 35570, 35605, 1661, 4 },
    { 35624, 35671, 1665, 4 },
    { 35692, 35745, 1669, 1 },
    { 35772, 35814, 1670, 5 },
    { 35830, 35876, 1675, 4 },
    { 35896, 35946, 1679, 4 },
    { 35970, 36018, 1683, 2 },
    { 36040, 36081, 1685, 5 },
    { 36096, 36141, 1690, 2 },
    { 36160, 36207, 1692, 4 },
    { 36228, 36281, 1696, 5 },
    { 36309, 36361, 1701, 6 },
    { 36388, 36435, 1707, 9 },
    { 36457, 36509, 1716, 2 },
    { 36536, 36598, 1718, 3 },
    { 36626, 36678, 1721, 2 },
    { 36705, 36755, 1723, 2 },
    { 36780, 36834, 1725, 4 },
    { 36863, 36915, 1729, 5 },
    { 36942, 36998, 1734, 2 },
    { 37029, 37080, 1736, 5 },
    { 37106, 37161, 1741, 1 },
    { 37191, 37244, 1742, 4 },
    { 37272, 37313, 1746, 4 },
    { 37329, 37373, 1750, 2 },
    { 37392, 37440, 1752, 5 },
    { 37463, 37513, 1757, 5 },
    { 37540, 37594, 1762, 4 },
    { 37625, 37679, 1766, 3 },
    { 37710, 37766, 1769, 5 },
    { 37799, 37853, 1774, 4 },
    { 37884, 37916, 1778, 5 },
    { 37925, 37961, 1783, 1 },
    { 37974, 38012, 1784, 2 },
    { 38027, 38077, 1786, 5 },
    { 38104, 38158, 1791, 5 },
    { 38189, 38243, 1796, 3 },
    { 38274, 38311, 1799, 6 },
    { 38325, 38370, 1805, 3 },
    { 38392, 38431, 1808, 4 },
    { 38447, 38490, 1812, 2 },
    { 38510, 38553, 1814, 2 },
    { 38573, 38620, 1816, 2 },
    { 38644, 38700, 1818, 3 },
    { 38733, 38780, 1821, 2 },
    { 38804, 38862, 1823, 2 },
    { 38897, 38939, 1825, 4 },
    { 38958, 39001, 1829, 3 },
    { 39021, 39077, 1832, 6 },
    { 39110, 39149, 1838, 6 },
    { 39165, 39210, 1844, 3 },
    { 39232, 39276, 1847, 3 },
    { 39297, 39340, 1850, 2 },
    { 39360, 39407, 1852, 2 },
    { 39431, 39487, 1854, 3 },
    { 39520, 39567, 1857, 2 },
    { 39591, 39650, 1859, 6 },
    { 39686, 39740, 1865, 4 },
    { 39771, 39799, 1869, 5 },
    { 39810, 39842, 1874, 8 },
    { 39857, 39893, 1882, 2 },
    { 39912, 39940, 1884, 17 },
    { 39951, 39988, 1901, 1 },
    { 40008, 40049, 1902, 3 },
    { 40073, 40132, 1905, 3 },
    { 40174, 40233, 1908, 2 },
    { 40275, 40309, 1910, 1 },
    { 40326, 40364, 1911, 2 },
    { 40385, 40432, 1913, 4 },
    { 40462, 40526, 1917, 2 },
    { 40568, 40637, 1919, 0 },
    { 40684, 40752, 1919, 1 },
    { 40798, 40867, 1920, 1 },
    { 40914, 40964, 1921, 1 },
    { 40992, 41054, 1922, 2 },
    { 41094, 41162, 1924, 0 },
    { 41208, 41273, 1924, 0 },
    { 41316, 41377, 1924, 3 },
    { 41416, 41450, 1927, 3 },
    { 41467, 41499, 1930, 4 },
    { 41514, 41538, 1934, 5 },
    { 41545, 41575, 1939, 11 },
    { 41588, 41621, 1950, 6 },
    { 41637, 41681, 1956, 2 },
    { 41708, 41736, 1958, 4 },
    { 41747, 41800, 1962, 5 },
    { 41829, 41886, 1967, 8 },
    { 41919, 41978, 1975, 2 },
    { 42013, 42075, 1977, 6 },
    { 42113, 42170, 1983, 4 },
    { 42203, 42249, 1987, 4 },
    { 42271, 42321, 1991, 2 },
    { 42347, 42397, 1993, 4 },
    { 42423, 42472, 1997, 5 },
    { 42497, 42550, 2002, 10 },
    { 42579, 42634, 2012, 5 },
    { 42665, 42718, 2017, 4 },
    { 42747, 42780, 2021, 4 },
    { 42789, 42826, 2025, 7 },
    { 42839, 42876, 2032, 4 },
    { 42889, 42927, 2036, 6 },
    { 42944, 42977, 2042, 8 },
    { 42989, 43032, 2050, 3 },
    { 43054, 43092, 2053, 2 },
    { 43109, 43141, 2055, 1 },
    { 43152, 43184, 2056, 1 },
    { 43195, 13497, 2057, 4 },
    { 43232, 43274, 2061, 4 },
    { 43295, 13588, 2065, 17 },
    { 43322, 13674, 2082, 2 },
    { 43355, 13718, 2084, 4 },
    { 43386, 43423, 2088, 5 },
    { 43437, 43478, 2093, 4 },
    { 43496, 43558, 2097, 1 },
    { 43597, 43647, 2098, 1 },
    { 43674, 43724, 2099, 3 },
    { 43751, 43785, 2102, 4 },
    { 43796, 43834, 2106, 1 },
    { 43849, 43888, 2107, 1 },
    { 43904, 43952, 2108, 2 },
    { 43977, 44022, 2110, 5 },
    { 44044, 44092, 2115, 2 },
    { 44117, 44160, 2117, 1 },
    { 44180, 44226, 2118, 5 },
    { 44249, 44290, 2123, 4 },
    { 44308, 44361, 2127, 5 },
    { 44391, 44448, 2132, 3 },
    { 44482, 44542, 2135, 4 },
    { 44579, 44619, 2139, 2 },
    { 44636, 44683, 2141, 3 },
    { 44707, 44766, 2144, 2 },
    { 44802, 44861, 2146, 1 },
    { 44897, 44959, 2147, 5 },
    { 44998, 45055, 2152, 4 },
    { 45089, 45124, 2156, 4 },
    { 45137, 45176, 2160, 1 },
    { 45193, 45234, 2161, 4 },
    { 45253, 45292, 2165, 4 },
    { 45309, 45342, 2169, 5 },
    { 45353, 45390, 2174, 4 },
    { 45405, 45445, 2178, 2 },
    { 45463, 45510, 2180, 2 },
    { 45535, 45579, 2182, 2 },
    { 45601, 45637, 2184, 2 },
    { 45651, 45688, 2186, 2 },
    { 45703, 45749, 2188, 1 },
    { 45773, 45814, 2189, 3 },
    { 45833, 45872, 2192, 1 },
    { 45889, 45940, 2193, 1 },
    { 45969, 46021, 2194, 3 },
    { 46051, 46094, 2197, 3 },
    { 46115, 46153, 2200, 4 },
    { 46169, 46211, 2204, 2 },
    { 46231, 46288, 2206, 5 },
    { 46323, 46365, 2211, 4 },
    { 46385, 46422, 2215, 4 },
    { 46437, 46476, 2219, 4 },
    { 46493, 46536, 2223, 4 },
    { 46557, 46607, 2227, 2 },
    { 46635, 46678, 2229, 3 },
    { 46699, 46742, 2232, 3 },
    { 46763, 46796, 2235, 2 },
    { 46807, 46856, 2237, 2 },
    { 46883, 46926, 2239, 4 },
    { 46947, 46984, 2243, 5 },
    { 46999, 47040, 2248, 1 },
    { 47059, 47102, 2249, 1 },
    { 47123, 47164, 2250, 4 },
    { 47183, 47215, 2254, 6 },
    { 47231, 47259, 2260, 1 },
    { 47271, 47301, 2261, 2 },
    { 47315, 47351, 2263, 4 },
    { 47371, 47401, 2267, 4 },
    { 47413, 47464, 2271, 8 },
    { 47481, 47532, 2279, 2 },
    { 47549, 47590, 2281, 5 },
    { 47613, 47658, 2286, 4 },
    { 47685, 47732, 2290, 7 },
    { 47761, 47806, 2297, 4 },
    { 47833, 47864, 2301, 5 },
    { 47879, 47909, 2306, 5 },
    { 47923, 47958, 2311, 1 },
    { 47977, 48015, 2312, 5 },
    { 48037, 43785, 2317, 4 },
    { 48064, 48091, 2321, 3 },
    { 48102, 48144, 2324, 4 },
    { 48170, 48205, 2328, 4 },
    { 48224, 48248, 2332, 4 },
    { 48256, 48287, 2336, 5 },
    { 48302, 48337, 2341, 4 },
    { 48356, 48384, 2345, 4 },
    { 48396, 48431, 2349, 4 },
    { 48446, 48485, 2353, 3 },
    { 48504, 48542, 2356, 1 },
    { 48560, 48601, 2357, 1 },
    { 48622, 48670, 2358, 1 },
    { 48698, 48747, 2359, 2 },
    { 48776, 48815, 2361, 4 },
    { 48834, 48873, 2365, 5 },
    { 48892, 48935, 2370, 2 },
    { 48958, 49001, 2372, 3 },
    { 49024, 49059, 2375, 4 },
    { 49074, 49119, 2379, 1 },
    { 49144, 49187, 2380, 4 },
    { 49210, 21200, 2384, 5 },
    { 49247, 49288, 2389, 1 },
    { 49309, 49344, 2390, 3 },
    { 49359, 49396, 2393, 3 },
    { 49413, 49455, 2396, 8 },
    { 49477, 49517, 2404, 5 },
    { 49537, 49581, 2409, 1 },
    { 49605, 49651, 2410, 2 },
    { 49677, 49717, 2412, 8 },
    { 49737, 49777, 2420, 3 },
    { 49797, 49845, 2423, 2 },
    { 49873, 49916, 2425, 3 },
    { 49939, 49979, 2428, 3 },
    { 49999, 50045, 2431, 2 },
    { 50071, 50124, 2433, 11 },
    { 50157, 50210, 2444, 3 },
    { 50243, 50297, 2447, 4 },
    { 50331, 50376, 2451, 7 },
    { 50401, 50442, 2458, 3 },
    { 50463, 50504, 2461, 4 },
    { 50525, 50570, 2465, 4 },
    { 50595, 50644, 2469, 2 },
    { 50673, 50722, 2471, 4 },
    { 50751, 50788, 2475, 4 },
    { 50805, 50846, 2479, 10 },
    { 50867, 50903, 2489, 3 },
    { 50919, 50949, 2492, 13 },
    { 50959, 50998, 2505, 8 },
    { 51017, 51055, 2513, 2 },
    { 51073, 51118, 2515, 3 },
    { 51143, 51193, 2518, 3 },
    { 51223, 51271, 2521, 3 },
    { 51299, 51330, 2524, 1 },
    { 51341, 51388, 2525, 2 },
    { 51415, 51461, 2527, 3 },
    { 51487, 51534, 2530, 2 },
    { 51561, 51595, 2532, 2 },
    { 51609, 51650, 2534, 4 },
    { 51671, 51710, 2538, 7 },
    { 51727, 51770, 2545, 4 },
    { 51791, 51823, 2549, 4 },
    { 51836, 51872, 2553, 11 },
    { 51889, 35814, 2564, 2 },
    { 51924, 51960, 2566, 4 },
    { 51977, 52007, 2570, 5 },
    { 52018, 52052, 2575, 1 },
    { 52067, 52103, 2576, 4 },
    { 52120, 52162, 2580, 1 },
    { 52185, 52221, 2581, 1 },
    { 52238, 52274, 2582, 2 },
    { 52291, 52336, 2584, 6 },
    { 52362, 52396, 2590, 4 },
    { 52411, 52452, 2594, 7 },
    { 52474, 52519, 2601, 4 },
    { 52545, 52580, 2605, 10 },
    { 52596, 52636, 2615, 1 },
    { 52660, 52712, 2616, 2 },
    { 52748, 52787, 2618, 4 },
    { 52807, 52846, 2622, 5 },
    { 52866, 52909, 2627, 3 },
    { 52933, 52978, 2630, 2 },
    { 53004, 53049, 2632, 4 },
    { 53075, 53109, 2636, 3 },
    { 53124, 53167, 2639, 4 },
    { 53191, 53235, 2643, 5 },
    { 53260, 53308, 2648, 4 },
    { 53337, 53392, 2652, 5 },
    { 53419, 53478, 2657, 1 },
    { 53509, 53560, 2658, 2 },
    { 53577, 53638, 2660, 2 },
    { 53671, 53730, 2662, 4 },
    { 53761, 53812, 2666, 5 },
    { 53829, 53880, 2671, 5 },
    { 53897, 53947, 2676, 6 },
    { 53963, 54011, 2682, 3 },
    { 54025, 54074, 2685, 13 },
    { 54089, 54137, 2698, 2 },
    { 54151, 54194, 2700, 5 },
    { 54203, 54262, 2705, 5 },
    { 54287, 54333, 2710, 3 },
    { 54345, 54400, 2713, 4 },
    { 54421, 54471, 2717, 3 },
    { 54487, 54546, 2720, 3 },
    { 54571, 54634, 2723, 4 },
    { 54663, 54709, 2727, 6 },
    { 54721, 54783, 2733, 2 },
    { 54811, 54874, 2735, 2 },
    { 54903, 54953, 2737, 3 },
    { 54969, 55022, 2740, 4 },
    { 55041, 55090, 2744, 10 },
    { 55105, 55154, 2754, 4 },
};
const uint16_t builtin_n_types = 647;

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
    0, 6, 2, 3, 4, 5, 1, 7,
    0, 1, 2, 3,
    0,
    0, 1, 2, 3, 4,
    0,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0,
    0,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
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
    0, 1, 2, 3, 4, 5, 6, 7, 8,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1,
    0, 1, 2,
    2, 3, 255, 255,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 1, 11, 23, 24, 25, 26, 27, 16, 28, 29, 30, 31, 32, 33, 3, 34, 35, 36, 37, 38, 39, 40, 41, 42,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 26, 24, 27, 28, 29, 30,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3, 4,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 10,
    0,
    0, 1, 2,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2, 3, 4,
    0, 1, 2, 3,
    0, 1, 2, 3, 4, 5,
    0, 1, 2,
    0, 1, 2, 3, 4,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3, 4,
    0, 1, 2,
    0, 1, 2, 3, 4, 5,
    0, 1, 2,
    0,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2, 4, 3, 5,
    0, 1, 2, 3, 4, 5, 6, 7,
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
    0, 1, 3, 4, 5, 6, 2, 7,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0,
    0, 1, 2, 3, 4, 5,
    0, 1,
    0, 1,
    0, 1, 2,
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
    0, 1,
    1, 2, 3, 4, 6, 8, 10, 12, 13, 11, 5, 9, 14, 15, 16, 7, 0, 17, 18, 19, 20, 21,
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
    0, 1, 2, 3,
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
    0, 2, 1, 3,
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
    0, 1, 2, 3, 4, 5,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 2, 3, 4, 5, 6, 7, 1,
    0, 1,
    0, 1, 2, 8, 9, 10, 5, 11, 12, 13, 3, 6, 7, 14, 15, 4, 16,
    0,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0,
    0, 1,
    0, 1, 2, 3,
    0, 1,
    0,
    0,
    0,
    0, 1,
    0, 1, 2,
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
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 9, 8,
    0, 1, 2, 3, 4,
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
    0, 1,
    0, 1, 2,
    0, 1, 2, 3,
    0,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2, 3, 4,
    0,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1, 2,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    0, 1, 2,
    0, 1, 2, 3,
    0, 1, 2, 4, 5, 6, 3,
    0, 1, 2,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    0, 1, 2,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    0, 1, 2, 3, 4, 5, 6, 7,
    0, 1,
    0, 1, 2,
    0, 1, 2,
    0, 1, 2,
    0,
    0, 1,
    0, 1, 2,
    0, 1,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 5, 6, 255, 255,
    2, 3, 255, 255,
    2, 3, 255, 255,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    0, 1,
    2, 3, 255, 255,
    2, 3, 4, 255, 255,
    0,
    0, 1, 2, 3,
    0,
    0,
    0, 1,
    0, 1, 2, 3, 4, 5,
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
    0,
    0, 1,
    0, 1,
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
    3, 55169, 55174, 55178,
    2, 55182, 55189,
    3, 55201, 55211, 55222,
    3, 55239, 55247, 55255,
    8, 0, 55266, 55278, 55289, 55299, 55317, 55322, 55335,
    3, 55342, 55347, 55356,
    3, 55366, 55376, 55384,
    4, 55391, 55404, 55418, 55432,
    3, 55449, 55456, 55464,
    2, 55471, 55477,
    6, 55488, 55501, 55508, 55511, 55514, 55517,
    5, 55523, 55533, 55539, 55239, 55546,
    3, 55533, 55555, 55239,
    5, 55560, 55587, 55614, 55635, 55656,
    3, 55674, 55685, 55239,
    3, 55696, 55705, 55714,
    2, 335, 549,
    3, 55727, 55734, 55747,
    1, 33,
    2, 4087, 513,
    3, 55753, 55767, 55342,
    1, 4234,
    1, 1316,
    2, 55783, 55788,
    2, 55794, 55800,
    2, 55806, 55816,
    65, 55820, 55828, 55836, 55843, 55851, 55858, 55866, 55873, 55880, 55887, 55894, 55900, 55907, 55915, 55923, 55931, 55939, 55946, 55954, 55963, 55974, 55986, 55998, 56010, 56022, 56034, 56045, 56056, 56067, 56078, 56089, 56100, 56111, 56122, 56131, 56142, 56154, 56166, 56178, 56190, 56202, 56214, 56225, 56236, 56247, 56258, 56269, 56280, 56291, 56302, 56310, 56320, 56328, 56335, 56343, 56351, 56359, 56367, 56375, 56382, 56390, 56398, 56408, 56417, 56425,
    2, 56433, 55317,
    2, 56455, 56463,
    3, 56472, 56482, 56497,
    3, 55727, 55747, 56508,
    4, 56518, 56531, 56455, 55342,
    2, 56555, 56561,
    2, 55727, 56568,
    4, 56583, 55501, 55508, 55514,
    1, 477,
    2, 55747, 56589,
    2, 56610, 56624,
    2, 56639, 56645,
    2, 5008, 5158,
    5, 55539, 55239, 55247, 56652, 56662,
    1, 5715,
    3, 56670, 56681, 56691,
    1, 5223,
    7, 56670, 56702, 56728, 56742, 56757, 55189, 56771,
    4, 55488, 55501, 55511, 55517,
    2, 508, 513,
    4, 56793, 56803, 56816, 56829,
    2, 56838, 55342,
    2, 56847, 56855,
    3, 0, 56861, 56866,
    3, 56871, 56887, 56904,
    5, 56916, 56918, 56926, 56933, 56940,
    3, 56916, 56847, 56947,
    2, 56958, 56969,
    2, 56975, 56994,
    2, 57004, 56645,
    2, 57009, 55747,
    4, 55342, 57018, 57031, 56662,
    3, 57036, 57042, 57047,
    3, 2149, 6547, 1,
    1, 297,
    1, 3580,
    1, 6547,
    4, 57052, 57072, 57092, 57110,
    1, 8012,
    2, 57129, 57138,
    2, 57152, 57138,
    2, 57161, 57174,
    3, 57129, 57152, 57138,
    3, 57183, 57189, 57196,
    4, 57204, 57210, 57220, 56645,
    2, 55511, 55517,
    2, 57228, 57236,
    2, 55539, 57247,
    23, 57267, 57271, 57281, 57293, 57306, 57325, 57334, 57352, 57366, 57384, 57401, 57415, 57432, 57445, 57456, 57470, 57487, 57501, 57514, 57527, 57534, 57546, 57554,
    2, 57567, 57574,
    2, 57582, 57594,
    3, 55201, 55211, 55342,
    2, 56583, 55501,
    3, 56916, 57610, 57631,
    2, 57654, 57664,
    4, 2036, 11126, 1864, 11364,
    2, 57674, 57690,
    2, 57709, 57719,
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
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 73, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 46, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 75, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 47, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 49, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 48, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 79, 0, 0, 0, 0 },
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
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57740 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57746 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57754 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 61, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 60, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57774 },
    { SCHEMA_OBJECT, 0, 0, 62, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 63, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 64, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 65, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 66, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 67, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 68, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 69, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 70, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 29, 0, 57784 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57796 },
    { SCHEMA_BOOL, 0, 0, 0, 0, 0, 0, 57803 },
    { SCHEMA_STRING, 0, 0, 0, 0, 33, 0, 57809 },
    { SCHEMA_OBJECT, 0, 0, 71, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 72, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 73, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57818 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57836 },
    { SCHEMA_OBJECT, 0, 0, 74, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 75, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 76, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 77, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 37, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 119, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 5, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 42, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 46, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 49, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 81, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 125, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 80, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 127, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 79, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 78, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 54, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 56, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 82, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 86, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 134, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 85, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 87, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 88, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 89, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 84, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 62, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 91, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 142, 3, 0, 330, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 66, 0, 0 },
    { SCHEMA_MAP, 0, 0, 144, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 72, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 92, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 76, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 94, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 149, 80, 0, 335, 0 },
    { SCHEMA_OBJECT, 0, 0, 93, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 90, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 83, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 153, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 53, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 155, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 100, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 101, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 103, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 159, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 102, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 0, 0, 57842 },
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
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 173, 0, 0, 0, 0 },
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
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 184, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 118, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 126, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 127, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 128, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 130, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 129, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 83, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 131, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 99, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 194, 87, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 5, 0, 57845 },
    { SCHEMA_OBJECT, 0, 0, 133, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 197, 89, 0, 4087, 0 },
    { SCHEMA_OBJECT, 0, 0, 135, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 136, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 134, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 201, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 139, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 140, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 141, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 138, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 137, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 207, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 143, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 209, 87, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 142, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 144, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 212, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 26, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 146, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 145, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 216, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 92, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 147, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 219, 96, 0, 4234, 0 },
    { SCHEMA_OBJECT, 0, 0, 148, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 221, 98, 0, 1316, 0 },
    { SCHEMA_OBJECT, 0, 0, 150, 0, 0, 0, 0 },
    { SCHEMA_INT_OR_STRING, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 100, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 152, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 226, 0, 0, 0, 0 },
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
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 247, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 164, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 249, 87, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 185, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 189, 0, 0 },
    { SCHEMA_MAP, 0, SCHEMA_ATOMIC_MAP, 1, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 2, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 194, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 166, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 256, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 197, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 165, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 163, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 169, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 261, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 168, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 171, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 264, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 172, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 266, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 170, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 173, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 167, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 200, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 174, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 272, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 175, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 274, 205, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 177, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 276, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 176, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 178, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 279, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 207, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 210, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 213, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 179, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 284, 216, 0, 5008, 0 },
    { SCHEMA_OBJECT, 0, 0, 180, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 181, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 287, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 182, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 289, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 183, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 184, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 292, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 98, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 219, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 186, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 296, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 187, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST | SCHEMA_PATCH_MERGE, 298, 0, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 188, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 300, 205, 0, 477, 0 },
    { SCHEMA_OBJECT, 0, 0, 191, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 192, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 193, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 190, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 196, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 195, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 194, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 308, 96, 0, 4234, 0 },
    { SCHEMA_OBJECT, 0, 0, 198, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 197, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 200, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 312, 225, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 199, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 314, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 189, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 316, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 227, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 201, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE | SCHEMA_PATCH_RETAIN_KEYS, 319, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 203, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 321, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 202, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 205, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 324, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 206, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 326, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 204, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 328, 231, 0, 5223, 0 },
    { SCHEMA_OBJECT, 0, 0, 207, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 330, 87, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 185, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 97, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 333, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 26, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 215, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 214, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 337, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 57851 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 57853 },
    { SCHEMA_OBJECT, 0, 0, 219, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 221, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 342, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 220, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 218, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 345, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 233, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 347, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 241, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 226, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 350, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 225, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 224, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 227, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 223, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 355, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 229, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 357, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 234, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 359, 246, 0, 508, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 249, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 254, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 257, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 236, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 235, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 260, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 366, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 264, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 233, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 240, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 370, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 239, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 372, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 238, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 241, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 375, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 237, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 13, 87, 0, 33, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 163, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 242, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 380, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 232, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 382, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 248, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 249, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 1, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 386, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 250, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 247, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 254, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 390, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 253, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 252, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 251, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 257, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 268, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 396, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 274, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 259, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 399, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 278, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 258, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 260, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 403, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 281, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 262, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 263, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 261, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 408, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 284, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 264, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 411, 87, 0, 33, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 287, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 256, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 267, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 266, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 265, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 417, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 255, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 419, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 273, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 272, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 274, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 423, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 290, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 271, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 426, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 270, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 428, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 278, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 430, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 279, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 432, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 403, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 277, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 282, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 436, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 281, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 375, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 280, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 295, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 441, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 284, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 283, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 444, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 276, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 446, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 288, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 448, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 287, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 450, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 384, 299, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 293, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 453, 303, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 292, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 455, 305, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 291, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 457, 307, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 290, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 459, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 46, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 296, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 297, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 300, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_NUMBER, 0, 0, 0, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 465, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 303, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, SCHEMA_OR_ARRAY, 468, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 468, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 468, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, SCHEMA_OR_BOOL, 468, 0, 0, 0, 0 },
    { SCHEMA_ANY, 0, SCHEMA_OR_STRINGS, 468, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 473, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 304, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 309, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 305, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 477, 314, 0, 8012, 0 },
    { SCHEMA_OBJECT, 0, 0, 302, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 307, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 308, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 306, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 309, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 483, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 310, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 485, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 301, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 487, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 314, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 313, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 312, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 311, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 299, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 316, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 494, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 315, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 298, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 497, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 320, 0, 0, 0, 0 },
    { SCHEMA_BYTES, 0, SCHEMA_ATOMIC_LIST, 0, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 319, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 322, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 502, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 321, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 318, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 505, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 324, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 507, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 316, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 329, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 328, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 327, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 331, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 513, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 330, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 326, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 516, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 319, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 336, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_PATCH_RETAIN_KEYS, 335, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 334, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 338, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 522, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 337, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 333, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 525, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 341, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 343, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 528, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 342, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 340, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 531, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 153, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 322, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 325, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 348, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 347, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 349, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 350, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 346, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 352, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 541, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 351, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 345, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 544, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 355, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 358, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 357, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 359, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 361, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 362, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 367, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 552, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 366, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 368, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 365, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 369, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 364, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 370, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 372, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 374, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 376, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 562, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 377, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 564, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 375, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 381, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 380, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 382, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 379, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 570, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 385, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 386, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 389, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 392, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 393, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 391, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 394, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 395, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 396, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 397, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 390, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 582, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 400, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 584, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 399, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 398, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 388, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 404, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 403, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 405, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 406, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 407, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 408, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 402, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 595, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 409, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 597, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 401, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 387, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 600, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 329, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 333, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 338, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 417, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 418, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 606, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 416, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 608, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 415, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 420, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 611, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 419, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 341, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 344, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 423, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 424, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 422, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 426, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 619, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 425, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 428, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 429, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 427, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 430, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 625, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 421, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 414, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 413, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 412, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 13, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 431, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 411, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 633, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 435, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST | SCHEMA_PATCH_MERGE, 635, 0, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 436, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 434, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 433, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 639, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 347, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 641, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 439, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 441, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 644, 3, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 440, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 438, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 647, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 444, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 443, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 650, 0, 0, 0, 0 },
    { SCHEMA_INT32, 0, 0, 0, 0, 0, 0, 57855 },
    { SCHEMA_OBJECT, 0, 0, 447, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 448, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 446, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 655, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 451, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 450, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 658, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 455, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 457, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 661, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 458, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 663, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 456, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 454, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 666, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 459, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 668, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 453, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 670, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 462, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 461, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 673, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 466, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 467, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 470, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 471, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 472, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 469, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 680, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 473, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 682, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 474, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 684, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 468, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 686, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 465, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 476, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 689, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 475, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 464, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 692, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 482, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 481, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 480, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 483, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 479, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 485, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 699, 3, 0, 330, 0 },
    { SCHEMA_OBJECT, 0, 0, 484, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 478, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 702, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 489, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 488, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 487, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 706, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 495, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 494, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 493, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 496, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 711, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 499, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 713, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 498, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 497, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 716, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 492, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 503, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 719, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 502, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 721, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 501, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 500, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 506, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 505, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 504, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 727, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 491, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 729, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 512, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 731, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 514, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 513, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 734, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 511, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 736, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 515, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 738, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 371, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 740, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 510, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 509, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 743, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 518, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 519, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 517, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 747, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 522, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 523, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 521, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 751, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 527, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 526, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP | SCHEMA_PATCH_REPLACE, 85, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 374, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 529, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 3, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 530, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 528, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 760, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 533, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 762, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 136, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 534, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 536, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 766, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 537, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 535, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 769, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 532, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 771, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 541, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 773, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 540, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 775, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 547, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 546, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 778, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 549, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 548, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 781, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 545, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 544, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 784, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 553, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 377, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 554, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 552, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 555, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 551, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 791, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 381, 0, 57861 },
    { SCHEMA_OBJECT, 0, 0, 562, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 794, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 563, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 564, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 797, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 561, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 565, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 800, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 560, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 802, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 566, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 804, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 567, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 806, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 559, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 558, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 384, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_SET, 0, 810, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 571, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 812, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 388, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 572, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 815, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 570, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 569, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 573, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 819, 1, 0, 70, 0 },
    { SCHEMA_OBJECT, 0, 0, 575, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 574, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, 0, 822, 391, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 568, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 557, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 825, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 578, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 577, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 828, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 582, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 5, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 584, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 832, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 39, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 587, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 586, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 585, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 837, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 589, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 839, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 588, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 841, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 788, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 591, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 592, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 590, 0, 0, 0, 0 },
    { SCHEMA_MAP, 0, 0, 846, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 583, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 848, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 593, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 850, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 581, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 580, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 853, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 595, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 855, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 599, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 857, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 598, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 597, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 860, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 604, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 603, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 863, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 602, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 396, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 607, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 867, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 606, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, SCHEMA_LIST_MAP, SCHEMA_PATCH_MERGE, 869, 87, 0, 33, 0 },
    { SCHEMA_OBJECT, 0, 0, 605, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 601, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 872, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 609, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 874, 0, 0, 0, 0 },
    { SCHEMA_STRING, 0, 0, 0, 0, 399, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 613, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 877, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, SCHEMA_ATOMIC_MAP, 612, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 879, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 611, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 881, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 617, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 616, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 619, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 618, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 615, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 887, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 621, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 889, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 625, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 624, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 626, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 623, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 894, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 635, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 896, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 637, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 898, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 636, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 900, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 639, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, 0, 902, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 642, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 904, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 643, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 906, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 641, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 908, 0, 0, 0, 0 },
    { SCHEMA_OBJECT, 0, 0, 646, 0, 0, 0, 0 },
    { SCHEMA_ARRAY, 0, SCHEMA_ATOMIC_LIST, 910, 0, 0, 0, 0 },
};
const uint16_t builtin_n_nodes = 911;

const struct builtin_kind_row builtin_kinds[] = {
    { 0, 57869, 57872, 0 }, /* /v1 Binding */
    { 0, 57869, 57880, 5 }, /* /v1 ComponentStatus */
    { 0, 57869, 57896, 7 }, /* /v1 ComponentStatusList */
    { 0, 57869, 57916, 10 }, /* /v1 ConfigMap */
    { 0, 57869, 57926, 11 }, /* /v1 ConfigMapList */
    { 0, 57869, 57940, 12 }, /* /v1 Endpoints */
    { 0, 57869, 57950, 16 }, /* /v1 EndpointsList */
    { 0, 57869, 57964, 17 }, /* /v1 Event */
    { 0, 57869, 57970, 20 }, /* /v1 EventList */
    { 0, 57869, 57980, 21 }, /* /v1 LimitRange */
    { 0, 57869, 57991, 24 }, /* /v1 LimitRangeList */
    { 0, 57869, 58006, 25 }, /* /v1 List */
    { 0, 57869, 58011, 26 }, /* /v1 Namespace */
    { 0, 57869, 58021, 30 }, /* /v1 NamespaceList */
    { 0, 57869, 58035, 31 }, /* /v1 Node */
    { 0, 57869, 58040, 50 }, /* /v1 NodeList */
    { 0, 57869, 58049, 51 }, /* /v1 NodeProxyOptions */
    { 0, 57869, 58066, 52 }, /* /v1 PersistentVolume */
    { 0, 57869, 58083, 82 }, /* /v1 PersistentVolumeClaim */
    { 0, 57869, 58105, 94 }, /* /v1 PersistentVolumeClaimList */
    { 0, 57869, 58131, 95 }, /* /v1 PersistentVolumeList */
    { 0, 57869, 58152, 96 }, /* /v1 Pod */
    { 0, 57869, 58156, 207 }, /* /v1 PodAttachOptions */
    { 0, 57869, 58173, 208 }, /* /v1 PodExecOptions */
    { 0, 57869, 58188, 209 }, /* /v1 PodList */
    { 0, 57869, 58196, 210 }, /* /v1 PodLogOptions */
    { 0, 57869, 58210, 211 }, /* /v1 PodPortForwardOptions */
    { 0, 57869, 58232, 212 }, /* /v1 PodProxyOptions */
    { 0, 57869, 58248, 213 }, /* /v1 PodTemplate */
    { 0, 57869, 58260, 215 }, /* /v1 PodTemplateList */
    { 0, 57869, 58276, 216 }, /* /v1 RangeAllocation */
    { 0, 57869, 58292, 217 }, /* /v1 ReplicationController */
    { 0, 57869, 58314, 221 }, /* /v1 ReplicationControllerList */
    { 0, 57869, 58340, 222 }, /* /v1 ResourceQuota */
    { 0, 57869, 58354, 227 }, /* /v1 ResourceQuotaList */
    { 0, 57869, 58372, 228 }, /* /v1 Secret */
    { 0, 57869, 58379, 229 }, /* /v1 SecretList */
    { 0, 57869, 58390, 230 }, /* /v1 SerializedReference */
    { 0, 57869, 58410, 231 }, /* /v1 Service */
    { 0, 57869, 58418, 241 }, /* /v1 ServiceAccount */
    { 0, 57869, 58433, 242 }, /* /v1 ServiceAccountList */
    { 0, 57869, 58452, 243 }, /* /v1 ServiceList */
    { 0, 57869, 58464, 244 }, /* /v1 ServiceProxyOptions */
    { 58484, 57869, 58501, 245 }, /* admission.k8s.io/v1 AdmissionReview */
    { 58517, 57869, 58546, 254 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicy */
    { 58517, 57869, 58570, 264 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding */
    { 58517, 57869, 58601, 267 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBindingList */
    { 58517, 57869, 58636, 268 }, /* admissionregistration.k8s.io/v1 MutatingAdmissionPolicyList */
    { 58517, 57869, 58664, 269 }, /* admissionregistration.k8s.io/v1 MutatingWebhookConfiguration */
    { 58517, 57869, 58693, 274 }, /* admissionregistration.k8s.io/v1 MutatingWebhookConfigurationList */
    { 58517, 57869, 58726, 275 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy */
    { 58517, 57869, 58752, 282 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding */
    { 58517, 57869, 58785, 284 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBindingList */
    { 58517, 57869, 58822, 285 }, /* admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyList */
    { 58517, 57869, 58852, 286 }, /* admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration */
    { 58517, 57869, 58883, 288 }, /* admissionregistration.k8s.io/v1 ValidatingWebhookConfigurationList */
    { 58918, 58938, 58941, 289 }, /* apidiscovery.k8s.io/v2 APIGroupDiscovery */
    { 58918, 58938, 58959, 293 }, /* apidiscovery.k8s.io/v2 APIGroupDiscoveryList */
    { 58981, 57869, 59002, 294 }, /* apiextensions.k8s.io/v1 ConversionReview */
    { 58981, 57869, 59019, 297 }, /* apiextensions.k8s.io/v1 CustomResourceDefinition */
    { 58981, 57869, 59044, 316 }, /* apiextensions.k8s.io/v1 CustomResourceDefinitionList */
    { 59073, 57869, 59096, 317 }, /* apiregistration.k8s.io/v1 APIService */
    { 59073, 57869, 59107, 322 }, /* apiregistration.k8s.io/v1 APIServiceList */
    { 59122, 57869, 59127, 323 }, /* apps/v1 ControllerRevision */
    { 59122, 57869, 59146, 324 }, /* apps/v1 ControllerRevisionList */
    { 59122, 57869, 59169, 325 }, /* apps/v1 DaemonSet */
    { 59122, 57869, 59179, 331 }, /* apps/v1 DaemonSetList */
    { 59122, 57869, 59193, 332 }, /* apps/v1 Deployment */
    { 59122, 57869, 59204, 338 }, /* apps/v1 DeploymentList */
    { 59122, 57869, 59219, 339 }, /* apps/v1 ReplicaSet */
    { 59122, 57869, 59230, 343 }, /* apps/v1 ReplicaSetList */
    { 59122, 57869, 59245, 344 }, /* apps/v1 StatefulSet */
    { 59122, 57869, 59257, 352 }, /* apps/v1 StatefulSetList */
    { 59273, 57869, 59295, 353 }, /* authentication.k8s.io/v1 SelfSubjectReview */
    { 59273, 57869, 59313, 355 }, /* authentication.k8s.io/v1 TokenRequest */
    { 59273, 57869, 59326, 359 }, /* authentication.k8s.io/v1 TokenReview */
    { 59338, 57869, 59359, 362 }, /* authorization.k8s.io/v1 LocalSubjectAccessReview */
    { 59338, 57869, 59384, 370 }, /* authorization.k8s.io/v1 SelfSubjectAccessReview */
    { 59338, 57869, 59408, 372 }, /* authorization.k8s.io/v1 SelfSubjectRulesReview */
    { 59338, 57869, 59431, 377 }, /* authorization.k8s.io/v1 SubjectAccessReview */
    { 59451, 57869, 59463, 378 }, /* autoscaling/v1 HorizontalPodAutoscaler */
    { 59451, 57869, 59487, 382 }, /* autoscaling/v1 HorizontalPodAutoscalerList */
    { 59451, 57869, 59515, 383 }, /* autoscaling/v1 Scale */
    { 59451, 58938, 59463, 386 }, /* autoscaling/v2 HorizontalPodAutoscaler */
    { 59451, 58938, 59487, 409 }, /* autoscaling/v2 HorizontalPodAutoscalerList */
    { 59521, 57869, 59527, 410 }, /* batch/v1 CronJob */
    { 59521, 57869, 59535, 431 }, /* batch/v1 CronJobList */
    { 59521, 57869, 59547, 432 }, /* batch/v1 Job */
    { 59521, 57869, 59551, 436 }, /* batch/v1 JobList */
    { 59559, 57869, 59579, 437 }, /* certificates.k8s.io/v1 CertificateSigningRequest */
    { 59559, 57869, 59605, 441 }, /* certificates.k8s.io/v1 CertificateSigningRequestList */
    { 59559, 57869, 59635, 442 }, /* certificates.k8s.io/v1 ClusterTrustBundle */
    { 59559, 57869, 59654, 444 }, /* certificates.k8s.io/v1 ClusterTrustBundleList */
    { 59559, 57869, 59677, 445 }, /* certificates.k8s.io/v1 PodCertificateRequest */
    { 59559, 57869, 59699, 448 }, /* certificates.k8s.io/v1 PodCertificateRequestList */
    { 59725, 57869, 59745, 449 }, /* coordination.k8s.io/v1 Lease */
    { 59725, 57869, 59751, 451 }, /* coordination.k8s.io/v1 LeaseList */
    { 59761, 57869, 59778, 452 }, /* discovery.k8s.io/v1 EndpointSlice */
    { 59761, 57869, 59792, 459 }, /* discovery.k8s.io/v1 EndpointSliceList */
    { 59810, 57869, 57964, 460 }, /* events.k8s.io/v1 Event */
    { 59810, 57869, 57970, 462 }, /* events.k8s.io/v1 EventList */
    { 59824, 57869, 59853, 463 }, /* flowcontrol.apiserver.k8s.io/v1 FlowSchema */
    { 59824, 57869, 59864, 476 }, /* flowcontrol.apiserver.k8s.io/v1 FlowSchemaList */
    { 59824, 57869, 59879, 477 }, /* flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration */
    { 59824, 57869, 59906, 485 }, /* flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfigurationList */
    { 59937, 57869, 59955, 486 }, /* networking.k8s.io/v1 IPAddress */
    { 59937, 57869, 59965, 489 }, /* networking.k8s.io/v1 IPAddressList */
    { 59937, 57869, 57574, 490 }, /* networking.k8s.io/v1 Ingress */
    { 59937, 57869, 59979, 503 }, /* networking.k8s.io/v1 IngressClass */
    { 59937, 57869, 59992, 506 }, /* networking.k8s.io/v1 IngressClassList */
    { 59937, 57869, 60009, 507 }, /* networking.k8s.io/v1 IngressList */
    { 59937, 57869, 60021, 508 }, /* networking.k8s.io/v1 NetworkPolicy */
    { 59937, 57869, 60035, 515 }, /* networking.k8s.io/v1 NetworkPolicyList */
    { 59937, 57869, 60053, 516 }, /* networking.k8s.io/v1 ServiceCIDR */
    { 59937, 57869, 60065, 519 }, /* networking.k8s.io/v1 ServiceCIDRList */
    { 60081, 57869, 60093, 520 }, /* node.k8s.io/v1 RuntimeClass */
    { 60081, 57869, 60106, 523 }, /* node.k8s.io/v1 RuntimeClassList */
    { 60123, 57869, 60130, 524 }, /* policy/v1 Eviction */
    { 60123, 57869, 60139, 527 }, /* policy/v1 PodDisruptionBudget */
    { 60123, 57869, 60159, 530 }, /* policy/v1 PodDisruptionBudgetList */
    { 60183, 57869, 60209, 531 }, /* rbac.authorization.k8s.io/v1 ClusterRole */
    { 60183, 57869, 60221, 534 }, /* rbac.authorization.k8s.io/v1 ClusterRoleBinding */
    { 60183, 57869, 60240, 537 }, /* rbac.authorization.k8s.io/v1 ClusterRoleBindingList */
    { 60183, 57869, 60263, 538 }, /* rbac.authorization.k8s.io/v1 ClusterRoleList */
    { 60183, 57869, 60279, 539 }, /* rbac.authorization.k8s.io/v1 Role */
    { 60183, 57869, 60284, 540 }, /* rbac.authorization.k8s.io/v1 RoleBinding */
    { 60183, 57869, 60296, 541 }, /* rbac.authorization.k8s.io/v1 RoleBindingList */
    { 60183, 57869, 60312, 542 }, /* rbac.authorization.k8s.io/v1 RoleList */
    { 60321, 57869, 60337, 543 }, /* resource.k8s.io/v1 DeviceClass */
    { 60321, 57869, 60349, 549 }, /* resource.k8s.io/v1 DeviceClassList */
    { 60321, 57869, 60365, 550 }, /* resource.k8s.io/v1 DeviceTaintRule */
    { 60321, 57869, 60381, 555 }, /* resource.k8s.io/v1 DeviceTaintRuleList */
    { 60321, 57869, 60401, 556 }, /* resource.k8s.io/v1 ResourceClaim */
    { 60321, 57869, 60415, 575 }, /* resource.k8s.io/v1 ResourceClaimList */
    { 60321, 57869, 60433, 576 }, /* resource.k8s.io/v1 ResourceClaimTemplate */
    { 60321, 57869, 60455, 578 }, /* resource.k8s.io/v1 ResourceClaimTemplateList */
    { 60321, 57869, 60481, 579 }, /* resource.k8s.io/v1 ResourceSlice */
    { 60321, 57869, 60495, 593 }, /* resource.k8s.io/v1 ResourceSliceList */
    { 60513, 57869, 56757, 594 }, /* scheduling.k8s.io/v1 PriorityClass */
    { 60513, 57869, 60531, 595 }, /* scheduling.k8s.io/v1 PriorityClassList */
    { 60549, 57869, 60564, 596 }, /* storage.k8s.io/v1 CSIDriver */
    { 60549, 57869, 60574, 599 }, /* storage.k8s.io/v1 CSIDriverList */
    { 60549, 57869, 60588, 600 }, /* storage.k8s.io/v1 CSINode */
    { 60549, 57869, 60596, 607 }, /* storage.k8s.io/v1 CSINodeList */
    { 60549, 57869, 60608, 608 }, /* storage.k8s.io/v1 CSIStorageCapacity */
    { 60549, 57869, 60627, 609 }, /* storage.k8s.io/v1 CSIStorageCapacityList */
    { 60549, 57869, 60650, 610 }, /* storage.k8s.io/v1 StorageClass */
    { 60549, 57869, 60663, 613 }, /* storage.k8s.io/v1 StorageClassList */
    { 60549, 57869, 60680, 614 }, /* storage.k8s.io/v1 VolumeAttachment */
    { 60549, 57869, 60697, 619 }, /* storage.k8s.io/v1 VolumeAttachmentList */
    { 60549, 57869, 56771, 620 }, /* storage.k8s.io/v1 VolumeAttributesClass */
    { 60549, 57869, 60718, 621 }, /* storage.k8s.io/v1 VolumeAttributesClassList */
    { 60744, 57869, 60768, 622 }, /* storagemigration.k8s.io/v1 StorageVersionMigration */
    { 60744, 57869, 60792, 626 }, /* storagemigration.k8s.io/v1 StorageVersionMigrationList */
    { 60820, 57869, 60832, 251 }, /* meta.k8s.io/v1 Status */
    { 60820, 57869, 60839, 525 }, /* meta.k8s.io/v1 DeleteOptions */
    { 60820, 57869, 60853, 627 }, /* meta.k8s.io/v1 CreateOptions */
    { 60820, 57869, 60867, 628 }, /* meta.k8s.io/v1 UpdateOptions */
    { 60820, 57869, 60881, 629 }, /* meta.k8s.io/v1 PatchOptions */
    { 60820, 57869, 60894, 630 }, /* meta.k8s.io/v1 GetOptions */
    { 60820, 57869, 60905, 631 }, /* meta.k8s.io/v1 ListOptions */
    { 60820, 57869, 60917, 632 }, /* meta.k8s.io/v1 WatchEvent */
    { 60820, 57869, 60928, 633 }, /* meta.k8s.io/v1 Table */
    { 60820, 57869, 60934, 637 }, /* meta.k8s.io/v1 TableOptions */
    { 60820, 57869, 60947, 638 }, /* meta.k8s.io/v1 PartialObjectMetadata */
    { 60820, 57869, 60969, 639 }, /* meta.k8s.io/v1 PartialObjectMetadataList */
    { 60820, 57869, 60995, 640 }, /* meta.k8s.io/v1 APIGroup */
    { 60820, 57869, 61004, 643 }, /* meta.k8s.io/v1 APIGroupList */
    { 60820, 57869, 61017, 644 }, /* meta.k8s.io/v1 APIResourceList */
    { 60820, 57869, 61033, 646 }, /* meta.k8s.io/v1 APIVersions */
    { 60820, 57869, 61045, 84 }, /* meta.k8s.io/v1 LabelSelector */
};
const uint16_t builtin_n_kinds = 171;

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
