/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of pods by CNI plug-ins: programs that read their configuration from stdin and answer on
 * stdout, as the specification of CNI 0.3.0 to 1.1.0 says.
 *
 * The configuration is the first file of config_dir by name that ends in .conflist, .conf or .json.
 * It is read again for each new network, and each network is removed by the configuration with
 * which it was made, which its record keeps. The loopback device needs no plug-in: this module
 * starts it.
 */
#pragma once

#include "agent/network/driver.h"

struct pod_cni;

extern const struct pod_network_driver pod_cni_driver;

enum {
    POD_CNI_TIMEOUT_MS = 60000,     /* of one plug-in; it is killed then */
    POD_CNI_OUTPUT_MAX = 256 << 10, /* bytes of its answer: E_LIMIT beyond */
    POD_CNI_STDERR_MAX = 2 << 10,   /* bytes that are kept for a message */
    POD_CNI_PLUGINS_MAX = 16,       /* of a list */
    POD_CNI_CONFIG_MAX = 256 << 10  /* bytes of a configuration file */
};

/* The strings are kept until pod_cni_free(). NULL: the defaults of network.h. */
struct pod_cni *pod_cni_new(const struct pod_network_places *places, const char *config_dir,
                            const char *const *bin_dirs);
/* No change is under way. NULL is fine. */
void pod_cni_free(struct pod_cni *c);
/* The node's podCIDRs, for plug-ins with the capability "ipRanges"; copied, POD_NETWORK_CIDRS_MAX
 * at most. */
void pod_cni_set_cidrs(struct pod_cni *c, const struct str *cidrs, size_t n_cidrs);
/* There is a configuration file, readable or not. */
bool pod_cni_has_config(const struct pod_cni *c);
