/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Services of the cluster, for the environment of containers (Kubernetes, "Accessing the
 * Service") and for the cluster's DNS: followed by one watch, which starts with the first pod.
 */
#pragma once

#include "agent/pod/env.h"
#include "client/reflector.h"
#include "dns/zone.h"

struct agent_services;

struct agent_services_opts {
    struct loop *loop;
    struct transport *transport; /* kept; the next two as well */
    struct watch_hub *hub;
    const struct kube_identity *identity;
    void (*on_synced)(void *arg);
    void *arg;
};

/* Nothing is followed yet. */
struct agent_services *agent_services_new(const struct agent_services_opts *opts);
/*
 * Follow them, if that is not so already. zone: gets the Services as well; kept until
 * agent_services_free(), NULL: none. Errors: of starting the watch.
 */
int agent_services_follow(struct agent_services *s, struct dns_zone *zone, struct err *err);
void agent_services_free(struct agent_services *s);
bool agent_services_is_synced(const struct agent_services *s);
/* Those with an address, in the namespace and default/kubernetes; in the arena. */
size_t agent_services_list(const struct agent_services *s, struct arena *a, struct str namespace,
                           const struct pod_service **ret);
