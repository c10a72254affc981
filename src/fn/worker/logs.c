/* SPDX-License-Identifier: Apache-2.0 */
/* What functions log; see logs.h. */
#include "fn/worker/logs.h"

#include "codec/json.h"

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
                                .fields = line->fields,
                                .revision = r->revision };
    guest_log_add(logs, r->namespace, r->function, &l);
}

static enum log_level level_of(struct str name)
{
    static const struct {
        const char *name;
        enum log_level level;
    } names[] = { { "error", LOG_ERROR },    { "fatal", LOG_ERROR }, { "panic", LOG_ERROR },
                  { "critical", LOG_ERROR }, { "warn", LOG_WARN },   { "warning", LOG_WARN },
                  { "debug", LOG_DEBUG },    { "trace", LOG_DEBUG } };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ieq(name, str_of(names[i].name)))
            return names[i].level;
    return LOG_INFO;
}

static struct str either(const struct json *v, const char *one, const char *other)
{
    struct str s = json_get_str(v, one);
    return s.n ? s : json_get_str(v, other);
}

void fn_log_output(struct guest_logs *logs, const struct runtime_revision *r, uint64_t sandbox,
                   struct str call_id, const char *stream, struct str text)
{
    struct arena a = { 0 };
    struct json *v;
    struct err ignored;
    struct fn_log_line line = {
        .level = LOG_INFO, .message = text, .sandbox = sandbox, .call_id = call_id, .stream = stream
    };
    if (logs && text.n && text.p[0] == '{' && json_parse(&a, text, NULL, &v, &ignored) == 0 &&
        either(v, "message", "msg").n) {
        line.message = either(v, "message", "msg");
        line.level = level_of(either(v, "level", "severity"));
        line.call_id = call_id.n ? call_id : either(v, "callId", "call_id");
        line.fields = text;
    }
    fn_log_add(logs, r, &line);
    arena_fini(&a);
}
