/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of a PID namespace that containers of a pod share: it waits for ever, and the
 * kernel waits for the processes that are left to it, since it ignores SIGCHLD (sigaction(2)).
 * Freestanding, so that it takes a few pages. Compiled by tools/embed-program.
 */
#include <asm/signal.h>
#include <asm/unistd.h>

static long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return number;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c, x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#elif defined(__riscv) && __riscv_xlen == 64
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b,
                     a2 __asm__("a2") = c, a3 __asm__("a3") = d;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
    return a0;
#else
#error "system calls of this machine are not known"
#endif
}

/* As the kernel has it; zeroed but for the handler. */
struct action {
    long handler;
    unsigned long flags, restorer, mask;
};

__attribute__((used)) void _start(void)
{
    struct action a = { (long)SIG_IGN, 0, 0, 0 };
    (void)call(__NR_rt_sigaction, SIGCHLD, (long)&a, 0, sizeof a.mask);
    for (;;)
        (void)call(__NR_ppoll, 0, 0, 0, 0);
}
