/* SPDX-License-Identifier: Apache-2.0 */
/* What functions log; see logs.h. */
#include "fn/worker/logs.h"

#include <stdio.h>

void fn_log_add(struct guest_logs *logs, const struct runtime_revision *r,
                const struct fn_log_line *line)
{
    if (!logs)
        return;
    struct guest_log_line l = { .level = line->level,
                                .message = line->message,
                                .call = line->call_id,
                                .stream = str_of(line->stream),
                                .sandbox = line->sandbox,
                                .revision = r->revision };
    guest_log_add(logs, r->namespace, r->function, &l);
}
