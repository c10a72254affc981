/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small C guest: state in data, bss, heap-like memory and on the shadow stack.
 * Built with clang alone, without a C library.
 */
#define EXPORT(name) __attribute__((export_name(name)))

static int counter = 1000;
static unsigned char bss[300000];
static const char text[] = "a constant that nobody writes";

/* Keeps an array on the shadow stack, whose pointer is the module's only mutable global. */
static __attribute__((noinline)) int spread(int n)
{
    volatile int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = n + i;
    return local[n & 15];
}

EXPORT("add") int add(int n)
{
    bss[(unsigned)(counter * 4096) % sizeof bss]++;
    counter += spread(n);
    return counter;
}

EXPORT("sum") int sum(void)
{
    unsigned total = (unsigned)counter;
    for (unsigned i = 0; i < sizeof bss; i++)
        total = total * 31 + bss[i];
    for (unsigned i = 0; i < sizeof text; i++)
        total = total * 31 + (unsigned char)text[i];
    return (int)total;
}

EXPORT("grow") int grow(int pages)
{
    return (int)__builtin_wasm_memory_grow(0, (unsigned long)pages);
}
