/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest whose whole state can be compared with its twin's.
 *
 * It keeps counters on pages all over 1 MiB of memory, some of which it clears again, in a data
 * segment that is read and seldom written, in bss, and in three hidden mutable globals, and after
 * every wake-up prints
 *
 *   probe sum <events> <checksum over everything>
 *
 * It drives itself by timers of TICK ms (environment, default 20) unless TICK=0, then only requests
 * and watches that the test delivers count. Expected: the same history gives the same sums, however
 * often the guest was put to sleep and woken in between.
 */
#include "probe.h"

#define PAGES 256u
#define WORDS (PAGES * 1024u)

/* Globals that no toolchain exports. */
__asm__(".globaltype twin_i64, i64\ntwin_i64:\n"
        ".globaltype twin_i32, i32\ntwin_i32:\n"
        ".globaltype twin_f64, f64\ntwin_f64:\n");

static uint64_t globals_mix(uint64_t v)
{
    uint64_t wide;
    uint32_t narrow;
    double real;
    __asm__ volatile("global.get twin_i64\nlocal.set %0" : "=r"(wide));
    __asm__ volatile("global.get twin_i32\nlocal.set %0" : "=r"(narrow));
    __asm__ volatile("global.get twin_f64\nlocal.set %0" : "=r"(real));
    wide = (wide ^ v) * 0x9e3779b97f4a7c15u;
    narrow = narrow * 1664525u + (uint32_t)v;
    real += (double)(uint32_t)v;
    __asm__ volatile("local.get %0\nglobal.set twin_i64" : : "r"(wide));
    __asm__ volatile("local.get %0\nglobal.set twin_i32" : : "r"(narrow));
    __asm__ volatile("local.get %0\nglobal.set twin_f64" : : "r"(real));
    return wide ^ narrow ^ (uint64_t)real;
}

/* Spread over pages of the data image: most of them are never written. */
static volatile uint32_t image[4][1024] = { { 1, 2, 3 }, { 4, 5 }, { 6 }, { 7, 8, 9, 10 } };
static volatile uint32_t spread[WORDS];
static uint64_t events, seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static uint64_t checksum(void)
{
    uint64_t h = 14695981039346656037u;
    for (uint32_t i = 0; i < WORDS; i += 16)
        h = (h ^ spread[i]) * 1099511628211u;
    for (uint32_t i = 0; i < 4096; i++)
        h = (h ^ image[i / 1024][i % 1024]) * 1099511628211u;
    return h ^ seed ^ events;
}

static void event(uint64_t v)
{
    events++;
    for (int i = 0; i < 16; i++) {
        uint64_t r = next_random() ^ v;
        spread[(r % (WORDS / 16)) * 16] += (uint32_t)(r >> 32);
    }
    for (int i = 0; events % 2 == 0 && i < 32; i++) /* pages that become zeros again */
        for (uint32_t at = (next_random() % PAGES) * 1024, n = 0; n < 1024; n++)
            spread[at + n] = 0;
    if (events % 5 == 0)
        image[events % 4][events % 1024]++;
    uint64_t sum = checksum() ^ globals_mix(v ^ events);
    probe_print("probe sum ");
    probe_number(events);
    probe_print(" ");
    probe_number(sum);
    probe_print("\n");
}

static void next_tick(void)
{
    uint64_t ms = probe_env_number("TICK", 20);
    if (ms)
        (void)abi_delay(ms);
}

void probe_start(void)
{
    event(0);
    next_tick();
}

void probe_wake(uint64_t id, bool end, const unsigned char *p, uint32_t n)
{
    uint64_t h = id;
    for (uint32_t i = 0; p && i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    event(h);
    if (end && !p)
        next_tick();
}
