/* SPDX-License-Identifier: Apache-2.0 */
/* Returning memory to the system when a process is idle; see idle_trim.h. */
#include "io/idle_trim.h"

#include "base/clock.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/* The turn that ends with the timer, and one that libuv may need because it woke too early. */
enum { OWN_TURNS = 2 };

static int unmap_object(struct dl_phdr_info *object, size_t size, void *arg)
{
    uintptr_t page = *(const uintptr_t *)arg;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || h->p_flags & PF_W)
            continue;
        uintptr_t from = (object->dlpi_addr + h->p_vaddr) & ~(page - 1);
        uintptr_t to = (object->dlpi_addr + h->p_vaddr + h->p_memsz + page - 1) & ~(page - 1);
        /* A refusal (the vDSO, locked memory) leaves the pages mapped. */
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void idle_trim_unmap_program(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)dl_iterate_phdr(unmap_object, &page);
}

static void on_quiet(struct timer *timer);

static void arm(struct idle_trim *t)
{
    t->n_turns = 0;
    t->cpu_ms = clock_cpu_ms();
    timer_start(t->loop, &t->timer, IDLE_TRIM_QUIET_MS, on_quiet);
}

static void on_quiet(struct timer *timer)
{
    struct idle_trim *t = container_of(timer, struct idle_trim, timer);
    if (t->n_turns > OWN_TURNS || clock_cpu_ms() - t->cpu_ms > IDLE_TRIM_CPU_MS) {
        arm(t);
        return;
    }
    t->n_trims++;
    loop_trim(t->loop);
    /* Also what other threads have freed since they became idle, such as the store's writer. */
    (void)malloc_trim(0);
    idle_trim_unmap_program();
}

static void on_turn(uv_check_t *check)
{
    struct idle_trim *t = check->data;
    t->n_turns++;
    if (!timer_is_armed(&t->timer))
        arm(t);
}

void idle_trim_start(struct loop *loop, struct idle_trim *t)
{
    *t = (struct idle_trim){ .loop = loop, .check.data = t };
    (void)uv_check_init(&loop->uv, &t->check);
    (void)uv_check_start(&t->check, on_turn); /* fails only without a callback */
    uv_unref((uv_handle_t *)&t->check);
    arm(t); /* the start of the process was work */
}

void idle_trim_close(struct idle_trim *t)
{
    timer_stop(t->loop, &t->timer);
    uv_close((uv_handle_t *)&t->check, NULL);
}
