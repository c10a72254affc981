/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions log: guest/guest_log.h with a file for each function, below DATA/function-logs, a
 * line for each line that an instance or container has written. `dormouse fn logs` reads them.
 *
 * Loop thread only.
 */
#pragma once

#include "fn/worker/runtime.h"
#include "guest/guest_log.h"

#define FN_LOGS_DIR "function-logs" /* in the data directory */

struct fn_log_line {
    enum log_level level;
    struct str message; /* any bytes */
    uint64_t sandbox;
    struct str call_id; /* "": not known, as in a container with several requests */
    const char *stream; /* "stdout", "stderr", "host": messages of the worker */
    struct str fields;  /* a JSON object, or "" */
};
/* logs NULL: nothing. */
void fn_log_add(struct guest_logs *logs, const struct runtime_revision *r,
                const struct fn_log_line *line);
/*
 * A line that a program has printed. A JSON object is interpreted: "level" or "severity", "message"
 * or "msg", and if the call is not known, "callId" or "call_id"; the whole object becomes the
 * line's fields.
 */
void fn_log_output(struct guest_logs *logs, const struct runtime_revision *r, uint64_t sandbox,
                   struct str call_id, const char *stream, struct str text);
