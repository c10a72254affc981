/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest of the wake benchmark: writes DIRTY_KIB of memory at the start, then reads 32 and
 * writes 16 places of it for each event. ABI G2: its operation 0 never ends, and it starts no
 * other. With -DV1: the first byte of an activation, a digit, says how many calls it makes that
 * park it.
 */
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name)         __attribute__((export_name(name), used))

typedef unsigned long long u64;
typedef unsigned u32;

#ifdef V1
IMPORT("dormouse_v1", "declare") int declare(const void *p, u32 n);
IMPORT("dormouse_v1", "result_read") u32 result_read(void *p, u32 n);
IMPORT("dormouse_v1", "cache_get") long long cache_get(const void *p, u32 n);
#else
IMPORT("delay-abi", "delay") u64 delay(u64 ms);
#endif

enum { PAGE_WORDS = 1024, PAGES = DIRTY_KIB / 4 };
static volatile u32 memory[PAGES][PAGE_WORDS];
static unsigned char buffer[4096];
static u32 seed = 12345, sum;

static u32 next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void fill(void)
{
    for (u32 i = 0; i < PAGES; i++)
        memory[i][i % PAGE_WORDS] = i + 1;
}

static void handle(void)
{
    for (u32 i = 0; i < 32; i++)
        sum += memory[next() % PAGES][next() % PAGE_WORDS];
    for (u32 i = 0; i < 16; i++)
        memory[next() % PAGES][next() % PAGE_WORDS] = sum + i;
}

#ifdef V1
EXPORT("dormouse_v1_setup") int setup(void);
int setup(void)
{
    fill();
    return declare("{}", 2);
}

EXPORT("dormouse_v1_activate") long long activate(u32 n);
long long activate(u32 n)
{
    (void)result_read(buffer, n < sizeof buffer ? n : sizeof buffer);
    handle();
    for (unsigned char calls = buffer[0]; calls > '0'; calls--) {
        (void)cache_get("{}", 2);
        (void)result_read(buffer, sizeof buffer);
    }
    return 0;
}
#else
EXPORT("_start") void start(void);
void start(void)
{
    fill();
    (void)delay(3600000);
}

EXPORT("allocate") void *allocate(u32 n);
void *allocate(u32 n)
{
    return n <= sizeof buffer ? buffer : 0;
}

EXPORT("wakeup") void wakeup(u64 id, int finished, const void *p, u32 n);
void wakeup(u64 id, int finished, const void *p, u32 n)
{
    handle();
}
#endif
