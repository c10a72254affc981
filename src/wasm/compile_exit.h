/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How dormouse-compile reports failures: an exit status for each of its error codes, and one line
 * on stderr. Any other end, by a signal or with another status, also means "module rejected".
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

#include <errno.h>

/* name, exit status, error code */
#define COMPILE_EXITS(X)                                                                           \
    X(COMPILE_OK, 0, 0)                                                                            \
    X(COMPILE_FAILED, 1, E_INVALID)          /* the engine's compiler refused the module */        \
    X(COMPILE_USAGE, 2, -EINVAL)             /* wrong arguments */                                 \
    X(COMPILE_MALFORMED, 3, E_PARSE)         /* not a module */                                    \
    X(COMPILE_UNSUPPORTED, 4, E_UNSUPPORTED) /* a component, or a disabled feature */              \
    X(COMPILE_LIMIT, 5, E_LIMIT)             /* a limit of dormouse */                             \
    X(COMPILE_RESOURCES, 6, -ENOMEM)         /* memory */                                          \
    X(COMPILE_IO, 7, -EIO)                   /* reading or writing */                              \
    X(COMPILE_NO_SPACE, 8, -ENOSPC)          /* the disk is full */

/*
 * Exit statuses for SIGABRT (memory ran out, or the engine's compiler gave up) and SIGXCPU. The
 * compiler needs handlers for them, because the first process of a PID namespace ignores signals
 * without one.
 */
enum { COMPILE_GAVE_UP = 9, COMPILE_CPU_TIME = 10 };

enum compile_exit {
#define COMPILE_EXIT_ENUM(name, status, code) name = status,
    COMPILE_EXITS(COMPILE_EXIT_ENUM)
#undef COMPILE_EXIT_ENUM
};

/*
 * Limits of the process, by the size of the module. Compiling takes 20 bytes of memory and 0.2 us
 * (quick) or 0.9 us per byte of Wasm; the limits are several times as large, because functions
 * differ in shape. A foreground compilation, which may delay others, is ended earlier and repeated
 * in the background.
 */
#define COMPILE_MEMORY_BYTES(wasm)                                                                 \
    (((uint64_t)512 << 20) + 80 * MIN((uint64_t)(wasm), (uint64_t)64 << 20) +                      \
     40 * ((uint64_t)(wasm)-MIN((uint64_t)(wasm), (uint64_t)64 << 20)))
#define COMPILE_CPU_S(wasm)        (20 + (uint64_t)(wasm) / (256 << 10))
#define COMPILE_WAITED_CPU_S(wasm) (3 + (uint64_t)(wasm) / (512 << 10))
#define COMPILE_FILE_BYTES         ((uint64_t)1 << 30)
/* The stack of a thread, and the memory that its allocator reserves. */
#define COMPILE_THREAD_BYTES ((uint64_t)80 << 20)
#define COMPILE_THREADS_MAX  4u
