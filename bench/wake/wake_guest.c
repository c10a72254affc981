/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest of the wake benchmark, ABI G2: writes DIRTY_KIB of memory at the start, then reads 32
 * and writes 16 places of it for each event. Its operation 0 never ends, and it starts no other.
 */
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name)         __attribute__((export_name(name), used))

typedef unsigned long long u64;
typedef unsigned u32;

IMPORT("delay-abi", "delay") u64 delay(u64 ms);

enum { PAGE_WORDS = 1024, PAGES = DIRTY_KIB / 4 };
static volatile u32 memory[PAGES][PAGE_WORDS];
static unsigned char buffer[4096];
static u32 seed = 12345, sum;

static u32 next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

EXPORT("_start") void start(void);
void start(void)
{
    for (u32 i = 0; i < PAGES; i++)
        memory[i][i % PAGE_WORDS] = i + 1;
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
    for (u32 i = 0; i < 32; i++)
        sum += memory[next() % PAGES][next() % PAGE_WORDS];
    for (u32 i = 0; i < 16; i++)
        memory[next() % PAGES][next() % PAGE_WORDS] = sum + i;
}
