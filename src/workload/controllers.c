/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/controllers.h"

#include "workload/cronjob/cronjob.h"
#include "workload/daemonset/daemonset.h"
#include "workload/deployment/deployment.h"
#include "workload/endpoints/endpoints.h"
#include "workload/job/job.h"
#include "workload/replicas/replicas.h"

const struct workload_controller *const workload_controllers[WORKLOAD_CONTROLLERS] = {
    &cronjob_controller,      &daemonset_controller,
    &deployment_controller,   &endpoints_controller,
    &job_controller,          &job_ttl_controller,
    &replicas_set_controller, &replicas_replication_controller,
};
