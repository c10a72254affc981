/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster and an operator host in this process under a virtual clock, for `dormouse operator
 * test`: the embedded API on a data directory of its own, operators from `Operator` objects, and
 * time that only passes in testbed_advance().
 *
 * Functions block: they run the loop until their work is done. The cluster is *at rest* when
 * nothing is in progress except waits for timers: no request, no activation, no ready key, no
 * module being compiled. One per process.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct testbed;
struct json;

enum {
    TESTBED_REAL_MS_MAX = 60000, /* real time to come to rest, without compiling */
    TESTBED_SHORT_MS = 50,       /* timers due within this time belong to the work in progress */
    TESTBED_STEPS_MAX = 1000000, /* timers run by one testbed_advance() */
    TESTBED_WRITES_MAX_BYTES = 16 << 20,
    TESTBED_ANSWER_MAX_BYTES = 16 << 20
};

/*
 * data_dir: an empty directory. modules_dir: where `spec.module.file` of Operator objects is looked
 * up. code_dir: cache of compiled modules, which outlives the testbed; NULL: in data_dir. All
 * copied.
 */
int testbed_start(const char *data_dir, const char *modules_dir, const char *code_dir,
                  struct testbed **ret, struct err *err);
/* NULL is fine. */
void testbed_stop(struct testbed *t);

/*
 * Send one request as the cluster's administrator. content_type NULL: no body. The response body is
 * appended to ret_body; *ret_status is its status. Errors: those of the transport.
 */
int testbed_request(struct testbed *t, const char *method, struct str target,
                    const char *content_type, struct str body, int *ret_status,
                    struct buf *ret_body, struct err *err);
/*
 * Path of an object, or of its collection (name ""), by discovery. namespace "" means "default" if
 * the kind is namespaced. Errors: -ENOENT: no such kind.
 */
int testbed_path(struct testbed *t, struct str api_version, struct str kind, struct str namespace,
                 struct str name, struct buf *ret_path, struct err *err);

/* Run until the cluster is at rest. Errors: -ETIMEDOUT, with what is still in progress. */
int testbed_settle(struct testbed *t, struct err *err);
/* Advance virtual time, timer by timer, at rest in between. Errors: as testbed_settle(). */
int testbed_advance(struct testbed *t, uint64_t ms, struct err *err);
/* Write every guest to its swap file now; the cluster must be at rest. */
int testbed_sleep(struct testbed *t, struct err *err);

/*
 * Respond with this status to the next `times` requests of operators with this method ("": any) and
 * a path that begins with `path`, instead of executing them.
 */
void testbed_fail(struct testbed *t, struct str method, struct str path, int status,
                  uint64_t times);

/*
 * The operators' writes so far, except Events: one line of JSON for each request, {"method",
 * "path", "contentType", "status", "body"}; borrowed until the next call.
 */
struct str testbed_writes(const struct testbed *t);
/* Append why operators do not run; false when they do. */
bool testbed_trouble(struct testbed *t, struct buf *why);
