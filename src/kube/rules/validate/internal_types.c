/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstream's internal form of volumes, claims and pods, which some messages print. For each type:
 * Go's names of the members in their order, with "=" and the API's name unless that is Go's name in
 * lower case. Then the text for an absent member: * null, ' "", 0, ! false, / "0", . the members'
 * own. Last the member's type. "@": metadata, flat. Sorted by name.
 */
#include "kube/rules/validate/check.h"

#include <stdlib.h>

static const struct internal_type go_types[] = {
    { "AWSElasticBlockStoreVolumeSource", "VolumeID' FSType' Partition0 ReadOnly!" },
    { "Affinity", "NodeAffinity*NodeAffinity PodAffinity*PodAffinity "
                  "PodAntiAffinity*PodAntiAffinity" },
    { "AppArmorProfile", "Type' LocalhostProfile*" },
    { "AzureDiskVolumeSource",
      "DiskName' DataDiskURI=diskURI' CachingMode* FSType* ReadOnly* Kind*" },
    { "AzureFilePersistentVolumeSource", "SecretName' ShareName' ReadOnly! SecretNamespace*" },
    { "AzureFileVolumeSource", "SecretName' ShareName' ReadOnly!" },
    { "CSIPersistentVolumeSource",
      "Driver' VolumeHandle' ReadOnly! FSType' VolumeAttributes* "
      "ControllerPublishSecretRef*SecretReference NodeStageSecretRef*SecretReference "
      "NodePublishSecretRef*SecretReference ControllerExpandSecretRef*SecretReference "
      "NodeExpandSecretRef*SecretReference" },
    { "CSIVolumeSource", "Driver' ReadOnly* FSType* VolumeAttributes* "
                         "NodePublishSecretRef*LocalObjectReference" },
    { "Capabilities", "Add* Drop*" },
    { "CephFSPersistentVolumeSource",
      "Monitors* Path' User' SecretFile' SecretRef*SecretReference ReadOnly!" },
    { "CephFSVolumeSource",
      "Monitors* Path' User' SecretFile' SecretRef*LocalObjectReference ReadOnly!" },
    { "CinderPersistentVolumeSource", "VolumeID' FSType' ReadOnly! SecretRef*SecretReference" },
    { "CinderVolumeSource", "VolumeID' FSType' ReadOnly! SecretRef*LocalObjectReference" },
    { "ClusterTrustBundleProjection", "Name* SignerName* LabelSelector* Optional* Path'" },
    { "ConfigMapEnvSource", "Name' Optional*" },
    { "ConfigMapKeySelector", "Name' Key' Optional*" },
    { "ConfigMapProjection", "Name' Items*KeyToPath Optional*" },
    { "ConfigMapVolumeSource", "Name' Items*KeyToPath DefaultMode* Optional*" },
    { "Container", "Name' Image' Command* Args* WorkingDir' Ports*ContainerPort "
                   "EnvFrom*EnvFromSource Env*EnvVar Resources.ResourceRequirements "
                   "ResizePolicy*ContainerResizePolicy RestartPolicy* "
                   "RestartPolicyRules*ContainerRestartRule VolumeMounts*VolumeMount "
                   "VolumeDevices*VolumeDevice LivenessProbe*Probe ReadinessProbe*Probe "
                   "StartupProbe*Probe Lifecycle*Lifecycle TerminationMessagePath' "
                   "TerminationMessagePolicy' ImagePullPolicy' SecurityContext*SecurityContext "
                   "Stdin! StdinOnce! TTY!" },
    { "ContainerPort", "Name' HostPort0 ContainerPort0 Protocol' HostIP'" },
    { "ContainerResizePolicy", "ResourceName' RestartPolicy'" },
    { "ContainerRestartRule", "Action' ExitCodes*ContainerRestartRuleOnExitCodes" },
    { "ContainerRestartRuleOnExitCodes", "Operator' Values*" },
    { "DownwardAPIProjection", "Items*DownwardAPIVolumeFile" },
    { "DownwardAPIVolumeFile",
      "Path' FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector Mode*" },
    { "DownwardAPIVolumeSource", "Items*DownwardAPIVolumeFile DefaultMode*" },
    { "EmptyDirVolumeSource", "Medium' SizeLimit*" },
    { "EnvFromSource", "Prefix' ConfigMapRef*ConfigMapEnvSource SecretRef*SecretEnvSource" },
    { "EnvVar", "Name' Value' ValueFrom*EnvVarSource" },
    { "EnvVarSource", "FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector "
                      "ConfigMapKeyRef*ConfigMapKeySelector SecretKeyRef*SecretKeySelector "
                      "FileKeyRef*FileKeySelector" },
    { "EphemeralContainer",
      "Name' Image' Command* Args* WorkingDir' Ports*ContainerPort "
      "EnvFrom*EnvFromSource Env*EnvVar Resources.ResourceRequirements "
      "ResizePolicy*ContainerResizePolicy RestartPolicy* "
      "RestartPolicyRules*ContainerRestartRule VolumeMounts*VolumeMount "
      "VolumeDevices*VolumeDevice LivenessProbe*Probe ReadinessProbe*Probe "
      "StartupProbe*Probe Lifecycle*Lifecycle TerminationMessagePath' "
      "TerminationMessagePolicy' ImagePullPolicy' SecurityContext*SecurityContext "
      "Stdin! StdinOnce! TTY! TargetContainerName'" },
    { "EphemeralVolumeSource", "VolumeClaimTemplate*PersistentVolumeClaimTemplate" },
    { "ExecAction", "Command*" },
    { "FCVolumeSource", "TargetWWNs* Lun* FSType' ReadOnly! WWIDs=wwids*" },
    { "FileKeySelector", "VolumeName' Path' Key' Optional*" },
    { "FlexPersistentVolumeSource",
      "Driver' FSType' SecretRef*SecretReference ReadOnly! Options*" },
    { "FlexVolumeSource", "Driver' FSType' SecretRef*LocalObjectReference ReadOnly! Options*" },
    { "FlockerVolumeSource", "DatasetName' DatasetUUID'" },
    { "GCEPersistentDiskVolumeSource", "PDName' FSType' Partition0 ReadOnly!" },
    { "GRPCAction", "Port0 Service*" },
    { "GitRepoVolumeSource", "Repository' Revision' Directory'" },
    { "GlusterfsPersistentVolumeSource",
      "EndpointsName=endpoints' Path' ReadOnly! EndpointsNamespace*" },
    { "GlusterfsVolumeSource", "EndpointsName=endpoints' Path' ReadOnly!" },
    { "HTTPGetAction", "Path' Port0 Host' Scheme' HTTPHeaders*HTTPHeader" },
    { "HTTPHeader", "Name' Value'" },
    { "HostAlias", "IP' Hostnames*" },
    { "HostPathVolumeSource", "Path' Type*" },
    { "ISCSIPersistentVolumeSource",
      "TargetPortal' IQN' Lun0 ISCSIInterface' FSType' ReadOnly! Portals* "
      "DiscoveryCHAPAuth=chapAuthDiscovery! SessionCHAPAuth=chapAuthSession! "
      "SecretRef*SecretReference InitiatorName*" },
    { "ISCSIVolumeSource", "TargetPortal' IQN' Lun0 ISCSIInterface' FSType' ReadOnly! Portals* "
                           "DiscoveryCHAPAuth=chapAuthDiscovery! SessionCHAPAuth=chapAuthSession! "
                           "SecretRef*LocalObjectReference InitiatorName*" },
    { "ImageVolumeSource", "Reference' PullPolicy'" },
    { "KeyToPath", "Key' Path' Mode*" },
    { "Lifecycle", "PostStart*LifecycleHandler PreStop*LifecycleHandler StopSignal*" },
    { "LifecycleHandler", "Exec*ExecAction HTTPGet*HTTPGetAction TCPSocket*TCPSocketAction "
                          "Sleep*SleepAction" },
    { "LocalObjectReference", "Name'" },
    { "LocalVolumeSource", "Path' FSType*" },
    { "NFSVolumeSource", "Server' Path' ReadOnly!" },
    { "NodeAffinity", "RequiredDuringSchedulingIgnoredDuringExecution*NodeSelector "
                      "PreferredDuringSchedulingIgnoredDuringExecution*PreferredSchedulingTerm" },
    { "NodeSelector", "NodeSelectorTerms*NodeSelectorTerm" },
    { "NodeSelectorRequirement", "Key' Operator' Values*" },
    { "NodeSelectorTerm",
      "MatchExpressions*NodeSelectorRequirement MatchFields*NodeSelectorRequirement" },
    { "ObjectFieldSelector", "APIVersion' FieldPath'" },
    { "ObjectReference", "Kind' Namespace' Name' UID' APIVersion' ResourceVersion' FieldPath'" },
    { "PersistentVolumeClaimSpec",
      "AccessModes* Selector* Resources.VolumeResourceRequirements VolumeName' "
      "StorageClassName* VolumeMode* DataSource*TypedLocalObjectReference "
      "DataSourceRef*TypedObjectReference VolumeAttributesClassName*" },
    { "PersistentVolumeClaimTemplate", "@ Spec.PersistentVolumeClaimSpec" },
    { "PersistentVolumeClaimVolumeSource", "ClaimName' ReadOnly!" },
    { "PersistentVolumeSource",
      "GCEPersistentDisk*GCEPersistentDiskVolumeSource "
      "AWSElasticBlockStore*AWSElasticBlockStoreVolumeSource "
      "HostPath*HostPathVolumeSource Glusterfs*GlusterfsPersistentVolumeSource "
      "NFS*NFSVolumeSource RBD*RBDPersistentVolumeSource Quobyte*QuobyteVolumeSource "
      "ISCSI*ISCSIPersistentVolumeSource FlexVolume*FlexPersistentVolumeSource "
      "Cinder*CinderPersistentVolumeSource CephFS=cephfs*CephFSPersistentVolumeSource "
      "FC*FCVolumeSource Flocker*FlockerVolumeSource "
      "AzureFile*AzureFilePersistentVolumeSource "
      "VsphereVolume*VsphereVirtualDiskVolumeSource AzureDisk*AzureDiskVolumeSource "
      "PhotonPersistentDisk*PhotonPersistentDiskVolumeSource "
      "PortworxVolume*PortworxVolumeSource ScaleIO*ScaleIOPersistentVolumeSource "
      "Local*LocalVolumeSource StorageOS=storageos*StorageOSPersistentVolumeSource "
      "CSI*CSIPersistentVolumeSource" },
    { "PhotonPersistentDiskVolumeSource", "PdID' FSType'" },
    { "PodAffinity", "RequiredDuringSchedulingIgnoredDuringExecution*PodAffinityTerm "
                     "PreferredDuringSchedulingIgnoredDuringExecution*WeightedPodAffinityTerm" },
    { "PodAffinityTerm",
      "LabelSelector* Namespaces* TopologyKey' NamespaceSelector* MatchLabelKeys* "
      "MismatchLabelKeys*" },
    { "PodAntiAffinity",
      "RequiredDuringSchedulingIgnoredDuringExecution*PodAffinityTerm "
      "PreferredDuringSchedulingIgnoredDuringExecution*WeightedPodAffinityTerm" },
    { "PodCertificateProjection",
      "SignerName' KeyType' MaxExpirationSeconds* CredentialBundlePath' KeyPath' "
      "CertificateChainPath' UserAnnotations*" },
    { "PodDNSConfig", "Nameservers* Searches* Options*PodDNSConfigOption" },
    { "PodDNSConfigOption", "Name' Value*" },
    { "PodOS", "Name'" },
    { "PodReadinessGate", "ConditionType'" },
    { "PodResourceClaim", "Name' ResourceClaimName* ResourceClaimTemplateName*" },
    { "PodSchedulingGate", "Name'" },
    { "PodSchedulingGroup", "PodGroupName*" },
    { "PodSecurityContext",
      "HostNetwork! HostPID! HostIPC! ShareProcessNamespace* HostUsers* "
      "SELinuxOptions*SELinuxOptions WindowsOptions*WindowsSecurityContextOptions "
      "RunAsUser* RunAsGroup* RunAsNonRoot* SupplementalGroups* "
      "SupplementalGroupsPolicy* FSGroup* FSGroupChangePolicy* Sysctls*Sysctl "
      "SeccompProfile*SeccompProfile AppArmorProfile*AppArmorProfile "
      "SELinuxChangePolicy*" },
    { "PodSpec", "Volumes*Volume InitContainers*Container Containers*Container "
                 "EphemeralContainers*EphemeralContainer RestartPolicy' "
                 "TerminationGracePeriodSeconds* ActiveDeadlineSeconds* DNSPolicy' NodeSelector* "
                 "ServiceAccountName' AutomountServiceAccountToken* NodeName' "
                 "SecurityContext*PodSecurityContext ImagePullSecrets*LocalObjectReference "
                 "Hostname' Subdomain' SetHostnameAsFQDN* Affinity*Affinity SchedulerName' "
                 "Tolerations*Toleration HostAliases*HostAlias PriorityClassName' Priority* "
                 "PreemptionPolicy* DNSConfig*PodDNSConfig ReadinessGates*PodReadinessGate "
                 "RuntimeClassName* Overhead* EnableServiceLinks* "
                 "TopologySpreadConstraints*TopologySpreadConstraint OS*PodOS "
                 "SchedulingGates*PodSchedulingGate ResourceClaims*PodResourceClaim "
                 "Resources*ResourceRequirements HostnameOverride* "
                 "SchedulingGroup*PodSchedulingGroup" },
    { "PodTemplateSpec", "@ Spec.PodSpec" },
    { "PortworxVolumeSource", "VolumeID' FSType' ReadOnly!" },
    { "PreferredSchedulingTerm", "Weight0 Preference.NodeSelectorTerm" },
    { "Probe", "Exec*ExecAction HTTPGet*HTTPGetAction TCPSocket*TCPSocketAction GRPC*GRPCAction "
               "InitialDelaySeconds0 TimeoutSeconds0 PeriodSeconds0 SuccessThreshold0 "
               "FailureThreshold0 TerminationGracePeriodSeconds*" },
    { "ProjectedVolumeSource", "Sources*VolumeProjection DefaultMode*" },
    { "QuobyteVolumeSource", "Registry' Volume' ReadOnly! User' Group' Tenant'" },
    { "RBDPersistentVolumeSource",
      "CephMonitors=monitors* RBDImage=image' FSType' RBDPool=pool' RadosUser=user' "
      "Keyring' SecretRef*SecretReference ReadOnly!" },
    { "RBDVolumeSource",
      "CephMonitors=monitors* RBDImage=image' FSType' RBDPool=pool' RadosUser=user' "
      "Keyring' SecretRef*LocalObjectReference ReadOnly!" },
    { "ResourceClaim", "Name' Request'" },
    { "ResourceFieldSelector", "ContainerName' Resource' Divisor/" },
    { "ResourceRequirements", "Limits* Requests* Claims*ResourceClaim" },
    { "SELinuxOptions", "User' Role' Type' Level'" },
    { "ScaleIOPersistentVolumeSource",
      "Gateway' System' SecretRef*SecretReference SSLEnabled! ProtectionDomain' "
      "StoragePool' StorageMode' VolumeName' FSType' ReadOnly!" },
    { "ScaleIOVolumeSource",
      "Gateway' System' SecretRef*LocalObjectReference SSLEnabled! ProtectionDomain' "
      "StoragePool' StorageMode' VolumeName' FSType' ReadOnly!" },
    { "SeccompProfile", "Type' LocalhostProfile*" },
    { "SecretEnvSource", "Name' Optional*" },
    { "SecretKeySelector", "Name' Key' Optional*" },
    { "SecretProjection", "Name' Items*KeyToPath Optional*" },
    { "SecretReference", "Name' Namespace'" },
    { "SecretVolumeSource", "SecretName' Items*KeyToPath DefaultMode* Optional*" },
    { "SecurityContext",
      "Capabilities*Capabilities Privileged* SELinuxOptions*SELinuxOptions "
      "WindowsOptions*WindowsSecurityContextOptions RunAsUser* RunAsGroup* "
      "RunAsNonRoot* ReadOnlyRootFilesystem* AllowPrivilegeEscalation* ProcMount* "
      "SeccompProfile*SeccompProfile AppArmorProfile*AppArmorProfile" },
    { "ServiceAccountTokenProjection", "Audience' ExpirationSeconds0 Path'" },
    { "SleepAction", "Seconds0" },
    { "StorageOSPersistentVolumeSource",
      "VolumeName' VolumeNamespace' FSType' ReadOnly! SecretRef*ObjectReference" },
    { "StorageOSVolumeSource",
      "VolumeName' VolumeNamespace' FSType' ReadOnly! SecretRef*LocalObjectReference" },
    { "Sysctl", "Name' Value'" },
    { "TCPSocketAction", "Port0 Host'" },
    { "Toleration", "Key' Operator' Value' Effect' TolerationSeconds*" },
    { "TopologySpreadConstraint",
      "MaxSkew0 TopologyKey' WhenUnsatisfiable' LabelSelector* MinDomains* "
      "NodeAffinityPolicy* NodeTaintsPolicy* MatchLabelKeys*" },
    { "TypedLocalObjectReference", "APIGroup* Kind' Name'" },
    { "TypedObjectReference", "APIGroup* Kind' Name' Namespace*" },
    { "Volume", "Name' HostPath*HostPathVolumeSource EmptyDir*EmptyDirVolumeSource "
                "GCEPersistentDisk*GCEPersistentDiskVolumeSource "
                "AWSElasticBlockStore*AWSElasticBlockStoreVolumeSource "
                "GitRepo*GitRepoVolumeSource Secret*SecretVolumeSource NFS*NFSVolumeSource "
                "ISCSI*ISCSIVolumeSource Glusterfs*GlusterfsVolumeSource "
                "PersistentVolumeClaim*PersistentVolumeClaimVolumeSource RBD*RBDVolumeSource "
                "Quobyte*QuobyteVolumeSource FlexVolume*FlexVolumeSource "
                "Cinder*CinderVolumeSource CephFS=cephfs*CephFSVolumeSource "
                "Flocker*FlockerVolumeSource DownwardAPI*DownwardAPIVolumeSource "
                "FC*FCVolumeSource AzureFile*AzureFileVolumeSource "
                "ConfigMap*ConfigMapVolumeSource VsphereVolume*VsphereVirtualDiskVolumeSource "
                "AzureDisk*AzureDiskVolumeSource "
                "PhotonPersistentDisk*PhotonPersistentDiskVolumeSource "
                "Projected*ProjectedVolumeSource PortworxVolume*PortworxVolumeSource "
                "ScaleIO*ScaleIOVolumeSource StorageOS=storageos*StorageOSVolumeSource "
                "CSI*CSIVolumeSource Ephemeral*EphemeralVolumeSource Image*ImageVolumeSource" },
    { "VolumeDevice", "Name' DevicePath'" },
    { "VolumeMount", "Name' ReadOnly! RecursiveReadOnly* MountPath' SubPath' MountPropagation* "
                     "SubPathExpr'" },
    { "VolumeProjection",
      "Secret*SecretProjection DownwardAPI*DownwardAPIProjection "
      "ConfigMap*ConfigMapProjection ServiceAccountToken*ServiceAccountTokenProjection "
      "ClusterTrustBundle*ClusterTrustBundleProjection "
      "PodCertificate*PodCertificateProjection" },
    { "VolumeResourceRequirements", "Limits* Requests*" },
    { "VsphereVirtualDiskVolumeSource", "VolumePath' FSType' StoragePolicyName' StoragePolicyID'" },
    { "WeightedPodAffinityTerm", "Weight0 PodAffinityTerm.PodAffinityTerm" },
    { "WindowsSecurityContextOptions",
      "GMSACredentialSpecName* GMSACredentialSpec* RunAsUserName* HostProcess*" },
};

static int by_name(const void *key, const void *type)
{
    return str_cmp(*(const struct str *)key, str_of(((const struct internal_type *)type)->name));
}

const struct internal_type *internal_type_find(struct str name)
{
    return bsearch(&name, go_types, ARRAY_LEN(go_types), sizeof go_types[0], by_name);
}
