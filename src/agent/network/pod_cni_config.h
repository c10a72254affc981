/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of CNI (specification 0.3.0 to 1.1.0): configuration lists, what a plug-in is given, what
 * it answers. Pure.
 */
#pragma once

#include "agent/network/pod_record.h"

/*
 * Read a configuration file: a list of plug-ins, or one plug-in, which becomes a list. The result,
 * in the arena, has members name, cniVersion and plugins, and is valid. Errors: E_PARSE, E_INVALID,
 * E_LIMIT; E_UNSUPPORTED: another version.
 */
int pod_cni_read_config(struct arena *a, struct str text, const struct json **ret, struct err *err);
size_t pod_cni_count(const struct json *config); /* plug-ins */
const struct json *pod_cni_plugin(const struct json *config, size_t i);

/*
 * The input of plug-in i: its configuration with name, version, previous result (NULL: none), and
 * what its capabilities ask for. cidrs: the node's ranges.
 */
int pod_cni_write_input(const struct pod_record *rec, size_t i, const struct json *previous,
                        const struct str *cidrs, size_t n_cidrs, struct buf *to);

/* A result, in the arena; "" is an empty one. E_PARSE, E_INVALID. */
int pod_cni_read_result(struct arena *a, struct str text, const struct json **ret, struct err *err);
/*
 * The addresses of the pod in the result of the last plug-in, and its DNS, into the record.
 * E_INVALID: it has no address, or one that cannot be read.
 */
int pod_cni_apply_result(struct pod_record *rec, const struct json *result, struct err *err);
/* What a plug-in that failed says: "PLUG-IN: MESSAGE: DETAILS (code N)". Always returns a negative
 * code. */
int pod_cni_read_failure(struct str plugin, int status, struct str out, struct str err_out,
                         struct err *err);
