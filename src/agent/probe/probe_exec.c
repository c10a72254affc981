/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in containers, by the functions of the owner; see prober_attempt.h. */
#include "agent/probe/prober_attempt.h"

#include <stddef.h>

static void on_command(void *arg, int r, int status, struct str output)
{
    struct prober_attempt *a = arg;
    a->method = NULL;
    if (r < 0)
        prober_attempt_end(a, PROBE_UNKNOWN, "the command cannot be run: %s", err_strerror(r));
    else
        prober_attempt_end_str(a, status == 0 ? PROBE_SUCCESS : PROBE_FAILURE, output);
    prober_attempt_unref(a);
}

static void exec_start(struct prober_attempt *a)
{
    const struct probe_exec *exec = a->env->exec;
    struct err err = { 0 };
    if (!exec) {
        prober_attempt_end(a, PROBE_UNKNOWN, "commands cannot be run in this container");
        return;
    }
    int r = exec->start(exec->arg, a->container, a->spec->command, a->spec->n_command,
                        (uint64_t)a->spec->timeout_s * 1000, on_command, a, &a->method, &err);
    if (r < 0)
        prober_attempt_end(a, PROBE_UNKNOWN, "the command cannot be run: %s", err_text(&err));
    else
        prober_attempt_ref(a);
}

static void exec_stop(struct prober_attempt *a)
{
    if (a->method)
        a->env->exec->cancel(a->env->exec->arg, a->method);
}

const struct probe_method_ops probe_exec_ops = {
    .start = exec_start, .stop = exec_stop, .timeout_text = "command timed out: not finished"
};
