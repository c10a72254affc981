/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions; see builtin_docs.h. Our own words, for the kinds that are served. Every kind's
 * apiVersion, kind and metadata share one text.
 */
#include "kube/builtin_docs.h"

#include "base/mem.h"

/* One block of text rather than a table of pointers: no relocations, and it is read seldom. */
static const char docs[] =
    "*.apiVersion\0Version of the schema that this object follows.\0"
    "*.kind\0What this object is, as its REST resource is named in the singular, in camel case.\0"
    "*.metadata\0Name, labels and other data that every object has.\0"
    "v1.ConfigMap\0Configuration for programs: named pieces of text or bytes.\0"
    "v1.ConfigMap.data\0Text by key. Keys consist of letters, digits, '-', '_' and '.'.\0"
    "v1.ConfigMap.binaryData\0Bytes by key, in base64. A key may not be in data as well.\0"
    "v1.ConfigMap.immutable\0If true, neither data nor this field can be changed any more.\0"
    "v1.Secret\0Confidential values such as passwords, keys and tokens.\0"
    "v1.Secret.data\0Values by key, in base64.\0"
    "v1.Secret.stringData\0Values by key in clear text, for writing only; they are moved into "
    "data.\0"
    "v1.Secret.type\0What the secret is for; some types demand certain keys.\0"
    "v1.Secret.immutable\0If true, neither data nor this field can be changed any more.\0"
    "v1.Namespace\0A scope for names and policies.\0"
    "v1.Namespace.spec\0What is wanted of the namespace.\0"
    "v1.Namespace.status\0What the namespace is now.\0"
    "v1.NamespaceSpec.finalizers\0Who has to agree before the namespace disappears.\0"
    "v1.NamespaceStatus.phase\0Active, or Terminating while the content is being deleted.\0"
    "v1.NamespaceStatus.conditions\0Details about a namespace that is being deleted.\0"
    "v1.ServiceAccount\0An identity for programs that run in the cluster.\0"
    "v1.ServiceAccount.secrets\0Secrets that pods of this account may mount.\0"
    "v1.ServiceAccount.imagePullSecrets\0Credentials for image registries.\0"
    "v1.ServiceAccount.automountServiceAccountToken\0Whether pods get a token of the account "
    "without asking.\0"
    "v1.Event\0A report of something that happened to an object; kept for a limited time.\0"
    "v1.Event.involvedObject\0The object that the event is about.\0"
    "v1.Event.regarding\0The object that the event is about.\0"
    "v1.Event.related\0A second object that plays a part.\0"
    "v1.Event.reason\0Short word in camel case for why it happened.\0"
    "v1.Event.message\0What happened, in words.\0"
    "v1.Event.note\0What happened, in words.\0"
    "v1.Event.source\0Component that reported it.\0"
    "v1.Event.firstTimestamp\0When it was first observed.\0"
    "v1.Event.lastTimestamp\0When it was last observed.\0"
    "v1.Event.count\0How often it was observed.\0"
    "v1.Event.type\0Normal or Warning.\0"
    "v1.Event.eventTime\0When it was first observed, in microseconds.\0"
    "v1.Event.series\0Set while the event repeats: how often, and when last.\0"
    "v1.Event.action\0What was done or failed.\0"
    "v1.Event.reportingController\0Name of the controller that reports, such as "
    "'example.com/controller'.\0"
    "v1.Event.reportingComponent\0Name of the controller that reports, such as "
    "'example.com/controller'.\0"
    "v1.Event.reportingInstance\0Which instance of the controller reports.\0"
    "v1.Lease\0A claim to something that must be renewed, for elections and heartbeats.\0"
    "v1.Lease.spec\0The claim.\0"
    "v1.LeaseSpec.holderIdentity\0Who holds the lease now.\0"
    "v1.LeaseSpec.leaseDurationSeconds\0How long a candidate waits after renewTime before it takes "
    "over.\0"
    "v1.LeaseSpec.acquireTime\0When the holder got the lease.\0"
    "v1.LeaseSpec.renewTime\0When the holder renewed it last.\0"
    "v1.LeaseSpec.leaseTransitions\0How often the holder has changed.\0"
    "v1.LeaseSpec.strategy\0How holders are chosen in a coordinated election.\0"
    "v1.LeaseSpec.preferredHolder\0To whom the holder should yield.\0"
    "v1.CustomResourceDefinition\0Makes the API server serve a kind of objects of one's own.\0"
    "v1.CustomResourceDefinition.spec\0Names, scope and versions of the kind.\0"
    "v1.CustomResourceDefinition.status\0Whether the kind is served, under which names.\0"
    "v1.CustomResourceDefinitionSpec.group\0API group of the kind, a domain of the author.\0"
    "v1.CustomResourceDefinitionSpec.names\0How the kind and its resource are called.\0"
    "v1.CustomResourceDefinitionSpec.scope\0Cluster or Namespaced.\0"
    "v1.CustomResourceDefinitionSpec.versions\0Versions of the kind with their schemas; exactly "
    "one is stored.\0"
    "v1.CustomResourceDefinitionSpec.conversion\0How objects are converted between versions.\0"
    "v1.CustomResourceDefinitionVersion.name\0Name of the version, such as v1 or v1alpha1.\0"
    "v1.CustomResourceDefinitionVersion.served\0Whether the version is served.\0"
    "v1.CustomResourceDefinitionVersion.storage\0Whether objects are stored in this version.\0"
    "v1.CustomResourceDefinitionVersion.schema\0What objects of this version look like.\0"
    "v1.CustomResourceDefinitionVersion.subresources\0Whether status and scale are apart.\0"
    "v1.CustomResourceDefinitionVersion.additionalPrinterColumns\0Columns that kubectl shows.\0"
    "v1.CustomResourceDefinitionVersion.selectableFields\0Fields that field selectors may name.\0"
    "v1.CustomResourceDefinitionNames.plural\0Name of the resource in URLs, lower case.\0"
    "v1.CustomResourceDefinitionNames.singular\0Singular of it; the kind in lower case by "
    "default.\0"
    "v1.CustomResourceDefinitionNames.kind\0Name of the kind, in camel case.\0"
    "v1.CustomResourceDefinitionNames.listKind\0Kind of lists; the kind and 'List' by default.\0"
    "v1.CustomResourceDefinitionNames.shortNames\0Abbreviations for the command line.\0"
    "v1.CustomResourceDefinitionNames.categories\0Groups of resources this one belongs to, such as "
    "'all'.\0"
    "v1.ObjectMeta\0Data that every stored object has.\0"
    "v1.ObjectMeta.name\0Name of the object, unique among its kind in its namespace.\0"
    "v1.ObjectMeta.generateName\0Beginning of a name that the server completes, if name is empty.\0"
    "v1.ObjectMeta.namespace\0Scope of the name.\0"
    "v1.ObjectMeta.selfLink\0Not used any more.\0"
    "v1.ObjectMeta.uid\0Distinguishes this object from all others, of all times. Set by the "
    "server.\0"
    "v1.ObjectMeta.resourceVersion\0Changes with every change of the object. Opaque; set by the "
    "server.\0"
    "v1.ObjectMeta.generation\0Counts changes of what is wanted. Set by the server.\0"
    "v1.ObjectMeta.creationTimestamp\0When the object was created. Set by the server.\0"
    "v1.ObjectMeta.deletionTimestamp\0Since when the object is being deleted. Set by the server.\0"
    "v1.ObjectMeta.deletionGracePeriodSeconds\0Time it was given to end. Set by the server.\0"
    "v1.ObjectMeta.labels\0Short values by key, for selecting objects.\0"
    "v1.ObjectMeta.annotations\0Any text by key, for tools.\0"
    "v1.ObjectMeta.ownerReferences\0Objects that this one depends on; it goes when the last of "
    "them has gone.\0"
    "v1.ObjectMeta.finalizers\0Who has to agree before the object disappears.\0"
    "v1.ObjectMeta.managedFields\0Who set which fields.\0"
    "v1.ListMeta\0Data that every list has.\0"
    "v1.ListMeta.resourceVersion\0Version of the data that the list shows; where a watch can "
    "begin.\0"
    "v1.ListMeta.continue\0Set if there is more: what to send to get it.\0"
    "v1.ListMeta.remainingItemCount\0How many objects are left behind this list.\0"
    "v1.Status\0The outcome of a call that does not return an object.\0"
    "v1.Status.status\0Success or Failure.\0"
    "v1.Status.message\0What happened, in words.\0"
    "v1.Status.reason\0What happened, in a word for programs.\0"
    "v1.Status.details\0More about the reason.\0"
    "v1.Status.code\0The HTTP status.\0";

/* TYPE.FIELD, or TYPE alone. */
static bool names(struct str key, struct str type, struct str field)
{
    if (field.n == 0)
        return str_eq(key, type);
    return key.n == type.n + 1 + field.n && str_has_prefix(key, type) && key.p[type.n] == '.' &&
           str_has_suffix(key, field);
}

struct str builtin_doc(struct str type, struct str field)
{
    struct str shared = STR("");
    if (type.n == 0)
        return shared;
    for (const char *p = docs; p < docs + sizeof docs - 1;) {
        struct str key = str_of(p), text = str_of(p + key.n + 1);
        if (names(key, type, field))
            return text;
        if (field.n && names(key, STR("*"), field))
            shared = text;
        p = text.p + text.n + 1;
    }
    return shared;
}
