/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and annotations of Deployments and their ReplicaSets. */
#pragma once

#define DEPLOYMENT_HASH_LABEL       "pod-template-hash"
#define DEPLOYMENT_REVISION         "deployment.kubernetes.io/revision"
#define DEPLOYMENT_REVISION_HISTORY "deployment.kubernetes.io/revision-history"
#define DEPLOYMENT_DESIRED          "deployment.kubernetes.io/desired-replicas"
#define DEPLOYMENT_MAX              "deployment.kubernetes.io/max-replicas"
