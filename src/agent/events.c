/* SPDX-License-Identifier: Apache-2.0 */
/* Events of pods. */
#include "agent/agent_impl.h"
#include "client/event_recorder.h"

#include <stdarg.h>
#include <stdio.h>

struct event_recorder *agent_events_new(struct agent *a)
{
    const struct event_recorder_opts opts = { .loop = a->loop,
                                              .transport = a->transport,
                                              .identity = a->identity,
                                              .component = "kubelet",
                                              .host = a->node_name };
    return event_recorder_new(&opts);
}

void agent_event(struct agent_pod *p, const char *container, bool is_warning, const char *reason,
                 const char *fmt, ...)
{
    char note[EVENT_RECORDER_NOTE_MAX_BYTES];
    struct arena a = { 0 };
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    const struct event_about about = {
        .api_version = STR("v1"),
        .kind = STR("Pod"),
        .namespace = str_of(p->namespace),
        .name = str_of(p->name),
        .uid = str_of(p->uid),
        .resource_version = p->spec->resource_version,
        .field_path =
            container ? str_of(arena_printf(&a, "spec.containers{%s}", container)) : STR(""),
    };
    event_recorder_write(p->agent->events, &about, is_warning, reason, note);
    arena_fini(&a);
}
