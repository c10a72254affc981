/* SPDX-License-Identifier: Apache-2.0 */
/* Output of `dormouse operator describe` and `dormouse guests`; see describe.h. */
#include "operator/host/describe.h"

#include "codec/json.h"

#include <inttypes.h>

static const char *abi_label(const struct guest_stats *s)
{
    switch (s->abi) {
    case GUEST_ABI_G1:
        return "g1";
    case GUEST_ABI_G2:
        return "g2";
    case GUEST_ABI_V1:
        return "v1";
    case GUEST_ABI_COMMAND: /* functions */
    case GUEST_ABI_HTTP:
        break;
    }
    return "";
}

static void add_text(struct buf *to, const char *key, const char *value)
{
    if (!value || !value[0])
        return;
    (void)buf_printf(to, ",\"%s\":", key);
    (void)json_write_str(to, str_of(value));
}

void operator_describe_guest(const struct operator_view *v, struct buf *to)
{
    struct guest_stats s = { 0 };
    if (v->guest)
        guest_get_stats(v->guest, &s);
    (void)buf_printf(
        to,
        "\"abi\":\"%s\",\"state\":\"%s\",\"memoryBytes\":%" PRIu64 ",\"residentBytes\":%" PRIu64
        ",\"swapBytes\":%" PRIu64 ",\"activations\":%" PRIu64 ",\"wakes\":%" PRIu64
        ",\"suspends\":%" PRIu64 ",\"restarts\":%" PRIu64 ",\"wakeMicroseconds\":{\"last\":%" PRIu64
        ",\"p50\":%" PRIu64 ",\"p99\":%" PRIu64 "},\"queued\":%" PRIu64 ",\"outstanding\":%" PRIu64
        ",\"lastError\":",
        v->guest ? abi_label(&s) : "",
        v->guest ? guest_state_name(s.state) : operator_phase_name(v->phase), s.memory_bytes,
        s.resident_bytes, s.swap_bytes, s.activations, s.wakes, s.suspends, s.restarts,
        s.wake_us_last, s.wake_us_p50, s.wake_us_p99, s.queued, s.outstanding);
    (void)json_write_str(to, str_of(v->message[0] ? v->message : s.last_error));
}

/* G1 and G2: the operations under way. */
static void add_operations(const struct operator_view *v, uint64_t now_ms, struct buf *to)
{
    struct calls_stats s;
    calls_get_stats(v->calls, &s);
    (void)buf_printf(to,
                     ",\"operations\":{\"requests\":%zu,\"queued\":%zu,\"streams\":%zu,"
                     "\"watches\":%zu,\"timers\":%zu",
                     s.requests, s.queued, s.streams, s.watches, s.timers);
    if (s.next_timer_ms)
        (void)buf_printf(to, ",\"nextTimerInMs\":%" PRIu64,
                         s.next_timer_ms > now_ms ? s.next_timer_ms - now_ms : 0);
    (void)buf_add_char(to, '}');
}

static void add_limit(const struct operator_limit *limit, uint64_t now_ms, struct buf *to)
{
    if (!limit->name)
        return;
    (void)buf_printf(to, ",\"lastLimit\":{\"name\":\"%s\",\"count\":%" PRIu64 ",\"agoMs\":%" PRIu64,
                     limit->name, limit->count, now_ms - limit->at_ms);
    add_text(to, "message", limit->message);
    (void)buf_add_char(to, '}');
}

void operator_describe(const struct operator* o, uint64_t now_ms, struct buf *to)
{
    struct operator_view v;
    operator_view(o, &v);
    (void)buf_add_cstr(to, "{\"namespace\":");
    (void)json_write_str(to, str_of(v.namespace));
    add_text(to, "name", v.name);
    add_text(to, "uid", v.uid);
    (void)buf_printf(to, ",\"generation\":%" PRIu64 ",\"runningGeneration\":%" PRIu64, v.generation,
                     v.running_generation);
    add_text(to, "phase", operator_phase_name(v.phase));
    add_text(to, "reason", v.reason);
    add_text(to, "message", v.message);
    add_text(to, "returned", v.returned);
    add_text(to, "refusedReason", v.refused_reason);
    add_text(to, "refusedMessage", v.refused_message);
    add_text(to, "actsAs", v.user);
    add_text(to, "identityTrouble", v.trouble);
    add_text(to, "denied", v.denied);
    add_limit(&v.limit, now_ms, to);
    (void)buf_add_cstr(to, ",\"guest\":{");
    operator_describe_guest(&v, to);
    (void)buf_add_char(to, '}');
    if (v.calls)
        add_operations(&v, now_ms, to);
    if (v.v1) {
        (void)buf_add_cstr(to, ",\"v1\":");
        v1_describe(v.v1, to);
    }
    (void)buf_add_char(to, '}');
}
