/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster and an operator host in this process under a virtual clock, for `dormouse operator
 * test`: the embedded API on a data directory of its own, operators from `Operator` objects, and
 * time that passes only when it is told to.
 *
 * Functions block: they turn the loop until what they stand for is done. The cluster is *at rest*
 * when nothing is under way that time alone would not bring: no request, no activation, no key that
 * is ready, no module being compiled. One per process.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct testbed;
struct json;

enum {
    TESTBED_REAL_MS_MAX = 60000, /* of real time, to come to rest; not for compiling */
    TESTBED_SHORT_MS = 50,       /* timers due so soon belong to what is under way */
    TESTBED_STEPS_MAX = 1000000, /* timers run by one testbed_advance() */
    TESTBED_WRITES_MAX_BYTES = 16 << 20,
    TESTBED_ANSWER_MAX_BYTES = 16 << 20
};

/*
 * data_dir: an empty directory. modules_dir: where `spec.module.file` of Operator objects is looked
 * for. code_dir: of compiled modules, which outlives the testbed; NULL: in data_dir. All copied.
 */
int testbed_start(const char *data_dir, const char *modules_dir, const char *code_dir,
                  struct testbed **ret, struct err *err);
/* NULL is fine. */
void testbed_stop(struct testbed *t);

/*
 * One request as the cluster's administrator. content_type NULL: no body. The answer's body is
 * appended to ret_body; *ret_status is its status. Errors: those of the transport.
 */
int testbed_request(struct testbed *t, const char *method, struct str target,
                    const char *content_type, struct str body, int *ret_status,
                    struct buf *ret_body, struct err *err);
/*
 * Path of an object, or of its collection (name ""), by discovery. namespace "" counts as "default"
 * where the kind has namespaces. Errors: -ENOENT: there is no such kind.
 */
int testbed_path(struct testbed *t, struct str api_version, struct str kind, struct str namespace,
                 struct str name, struct buf *ret_path, struct err *err);

/* Until it is at rest. Errors: -ETIMEDOUT, with what is still going on. */
int testbed_settle(struct testbed *t, struct err *err);
/* Let virtual time pass, timer after timer, at rest in between. Errors: as testbed_settle(). */
int testbed_advance(struct testbed *t, uint64_t ms, struct err *err);
/* Write every guest to its swap file now; at rest. */
int testbed_sleep(struct testbed *t, struct err *err);

/*
 * Answer the next `times` requests of operators with this method ("": any) whose path begins with
 * `path` by this status instead of carrying them out.
 */
void testbed_fail(struct testbed *t, struct str method, struct str path, int status,
                  uint64_t times);

/*
 * What operators have written so far, except Events: one line of JSON for each request, {"method",
 * "path", "contentType", "status", "body"}; borrowed until the next call.
 */
struct str testbed_writes(const struct testbed *t);
/* What operators have logged: text of their log files is below this directory. */
const char *testbed_data_dir(const struct testbed *t);
/* Names why the operator does not run; false when it does. */
bool testbed_trouble(struct testbed *t, struct buf *why);
