/* SPDX-License-Identifier: Apache-2.0 */
/* The files hosts, hostname and resolv.conf of a pod, in the directory etc of the pod. */
#pragma once

#include "agent/network/pod_files.h"

struct agent_pod;

/* Errors: of writing, and those of pod_files.h. */
int agent_etc_files_write(struct agent_pod *p, struct err *err);
/* Name that uname(2) says in the pod. */
int agent_etc_hostname(const struct agent_pod *p, struct pod_files_hostname *ret, struct err *err);
