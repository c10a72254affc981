/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses: creating and printing them. */
#include "sched/framework/status.h"

#include "base/buf.h"
#include "sched/framework/framework.h"

#include <stdarg.h>
#include <stdio.h>

enum { REASON_MAX_BYTES = 64 << 10 };

/*
 * Only its address counts; the code makes sure that a missing check does not take it for success.
 */
const struct sched_status sched_later = { .code = SCHED_WAIT };

const char *sched_code_name(enum sched_code code)
{
    switch (code) {
    case SCHED_SUCCESS:
        return "Success";
    case SCHED_ERROR:
        return "Error";
    case SCHED_UNSCHEDULABLE:
        return "Unschedulable";
    case SCHED_UNRESOLVABLE:
        return "UnschedulableAndUnresolvable";
    case SCHED_WAIT:
        return "Wait";
    case SCHED_SKIP:
        return "Skip";
    case SCHED_PENDING:
        return "Pending";
    }
    return "";
}

const struct sched_status *sched_status_of(struct arena *a, enum sched_code code,
                                           const struct str *reasons, size_t n)
{
    struct sched_status *s = arena_new(a, struct sched_status);
    struct str *copy = arena_new_n(a, struct str, n ? n : 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = str_copy_arena(a, reasons[i]);
    *s = (struct sched_status){ .code = code, .reasons = copy, .n_reasons = (uint32_t)n };
    return s;
}

const struct sched_status *sched_status(struct arena *a, enum sched_code code, const char *fmt, ...)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(REASON_MAX_BYTES);
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(&text, fmt, ap); /* a text that is too long becomes empty */
    va_end(ap);
    struct str reason = buf_str(&text);
    return sched_status_of(a, code, &reason, 1);
}

struct str sched_status_message(struct arena *a, const struct sched_status *s)
{
    if (!s || s->n_reasons == 0)
        return STR("");
    if (s->n_reasons == 1)
        return s->reasons[0];
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_reasons; i++)
        n += s->reasons[i].n + 2;
    char *p = arena_alloc(a, n + 1);
    size_t at = 0;
    for (uint32_t i = 0; i < s->n_reasons; i++) {
        if (i > 0) {
            p[at++] = ',';
            p[at++] = ' ';
        }
        if (s->reasons[i].n > 0)
            memcpy(p + at, s->reasons[i].p, s->reasons[i].n);
        at += s->reasons[i].n;
    }
    return str_n(p, at);
}

const struct sched_status *sched_status_by(struct arena *a, const struct sched_status *s,
                                           struct str plugin)
{
    if (!s || s->plugin.n > 0)
        return s;
    struct sched_status *copy = arena_new(a, struct sched_status);
    *copy = *s;
    copy->plugin = plugin;
    return copy;
}

const struct sched_status *sched_api_status(struct arena *a, int r, int status, struct str body,
                                            const struct err *err)
{
    if (r < 0)
        return sched_status(a, SCHED_ERROR, "%s", err ? err_text(err) : err_strerror(r));
    if (status >= 200 && status < 300)
        return NULL;
    struct arena parse = { .max_bytes = 1 << 20 };
    struct json *json;
    struct str message = STR("");
    if (json_parse(&parse, body, NULL, &json, NULL) >= 0)
        message = json_get_str(json, "message");
    const struct sched_status *s =
        message.n > 0 ? sched_status_of(a, SCHED_ERROR, &message, 1)
                      : sched_status(a, SCHED_ERROR, "the server answered with status %d", status);
    arena_fini(&parse);
    return s;
}
