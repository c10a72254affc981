/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions a program enters, from where and how often: preloaded into a program that was
 * compiled with -finstrument-functions, it counts entries in a table that bench/ways/run reads.
 *
 * The table is the file $WAYS_TABLE, mapped and shared: a header, then open-addressed slots.
 * Counting is on while header.is_on is not 0. Any thread may count; a slot is taken by
 * compare-and-swap. Processes that the program starts do not count (the variable is removed from
 * the environment).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_SLOTS = 1 << 16 };

struct slot {
    /* Function, and its caller in the upper half, relative to where the program was loaded; 0:
     * free. */
    _Atomic uint64_t key;
    _Atomic uint64_t n;
};
struct table {
    _Atomic uint64_t is_on;
    _Atomic uint64_t lost; /* entries for which there was no slot */
    struct slot slot[N_SLOTS];
};

static struct table *table;
static uint64_t base;

void __cyg_profile_func_enter(void *function, void *caller) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *caller) __attribute__((no_instrument_function));

static int note_base(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    base = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

__attribute__((constructor)) static void recorder_start(void)
{
    const char *path = getenv("WAYS_TABLE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    dl_iterate_phdr(note_base, NULL);
    void *p =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    unsetenv("WAYS_TABLE");
    unsetenv("LD_PRELOAD");
    if (p != MAP_FAILED)
        table = p;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    if (!table || !table->is_on)
        return;
    uint64_t key = (uint32_t)((uint64_t)function - base) | ((uint64_t)caller - base) << 32;
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 48;
    for (unsigned i = 0; i < N_SLOTS; i++, at = (at + 1) % N_SLOTS) {
        uint64_t there = table->slot[at].key;
        if (there == 0 && atomic_compare_exchange_strong(&table->slot[at].key, &there, key))
            there = key;
        if (there == key) {
            table->slot[at].n++;
            return;
        }
    }
    table->lost++;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}
