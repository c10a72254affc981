/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small formats of the plugin ABI, and klog's. Pure; accepts untrusted bytes from guests.
 */
#pragma once

#include "sched/wasm/plugin.h"

/*
 * Names, each ended by a NUL; bytes after the last NUL are dropped. keep_empty: keep empty names
 * too. Returns their number; *ret borrows from `bytes`, the array is the arena's.
 */
size_t payload_names(struct arena *a, struct str bytes, bool keep_empty, const struct str **ret);

/*
 * Records of 8 bytes; a guest's "all" and "update" are converted to those of the current
 * kube-scheduler.
 */
size_t payload_events(struct arena *a, struct str bytes, const struct wplugin_cluster_event **ret);
/* The events of a plugin that names none. */
size_t payload_default_events(const struct wplugin_cluster_event **ret);
/* Upstream's own masks. */
enum { PAYLOAD_ACTIONS_ALL = (1 << 13) - 1, PAYLOAD_ACTIONS_UPDATE = PAYLOAD_ACTIONS_ALL - 3 };

/*
 * Finds a field of a message. path: the numbers of the fields that lead to it, one byte each. key,
 * unless empty: the last field is a map, and the result is the value (field 2) of the entry with
 * this key (field 1). A number becomes 8 bytes in *number, little endian. Returns false if the
 * field is absent.
 */
bool payload_field_find(struct str message, struct str path, struct str key, uint64_t *number,
                        struct str *ret);

/* As Go's encoder writes them. */
void payload_add_json_string(struct buf *to, struct str s);
void payload_add_name_list(struct buf *to, const struct str *names, size_t n);
void payload_add_statuses(struct arena *a, struct buf *to, const struct wplugin_node_code *at,
                          size_t n);
void payload_add_scores(struct arena *a, struct buf *to, const struct wplugin_node_score *at,
                        size_t n);

/*
 * A JSON object of names and integers, or null. Returns 0, or a negative code with Go's text.
 * *ret_n is 0 for null.
 */
int payload_read_scores(struct arena *a, struct str json, const struct wplugin_node_score **ret,
                        size_t *ret_n, struct err *err);
int payload_read_event(struct arena *a, struct str json, struct wplugin_event *ret,
                       struct err *err);

/* Go's %q. */
void payload_add_quoted(struct buf *to, struct str s);
/* ` key="value"`; a multi-line value is indented. */
void payload_add_pair(struct buf *to, struct str key, struct str value);
