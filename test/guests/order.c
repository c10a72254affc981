/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports in which order completions come.
 *
 * Environment: MODE=requests starts four requests at once (PATH, default /version); MODE=timers
 * starts timers of 50, 10, 30 and 0 ms.
 *
 * Expected of the host: no wake-up before the start function has returned; for timers, the order 3
 * 1 2 0; for requests, a head before its body for every id, and between two deliveries to one id a
 * delivery to another one that has something ready (a guest of the reference SDK has a single slot
 * per id and loses the head otherwise). The last line is "probe order" and one item per wake-up:
 * the id, then "h" for a head, "b" for a body or whole response, "t" for a timer, "!" when the
 * payload was not what it must be.
 */
#include "probe.h"

static char order[256] = "probe order";
static uint32_t order_n = 11;
static uint32_t open_ops = 4;
static bool timers, starting;

static void add(char c)
{
    if (order_n < sizeof(order) - 1)
        order[order_n++] = c;
}

void probe_start(void)
{
    starting = true;
    timers = probe_equal(probe_env("MODE", "requests"), "timers");
    static const uint64_t ms[4] = { 50, 10, 30, 0 };
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t id = timers ? abi_delay(ms[i]) : probe_get(probe_env("PATH", "/version"));
        if (id != i)
            __builtin_trap();
    }
    starting = false;
}

/* A status code of a response head: 100..999, little endian. */
static bool is_head(const unsigned char *p, uint32_t n)
{
    uint32_t status = n < 10 ? 0 : (uint32_t)p[0] | (uint32_t)p[1] << 8;
    return status >= 100 && status <= 999;
}

static char judge(uint64_t id, bool end, const unsigned char *p, uint32_t n)
{
    if (timers)
        return end && !p ? 't' : '!';
#ifdef G1
    return end && p && is_head(p, n) ? 'b' : '!';
#else
    static bool has_head[4];
    if (has_head[id])
        return end && p ? 'b' : '!';
    has_head[id] = true;
    return !end && p && is_head(p, n) ? 'h' : '!';
#endif
}

void probe_wake(uint64_t id, bool end, const unsigned char *p, uint32_t n)
{
    if (starting || id > 3)
        __builtin_trap();
    add(' ');
    add((char)('0' + id));
    add(judge(id, end, p, n));
    if (end)
        open_ops--;
    if (!open_ops) {
        add('\n');
        probe_write(order, order_n);
    }
}
