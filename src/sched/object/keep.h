/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that an object owns one by one, for kinds with few strings. */
#pragma once

#include "base/mem.h"
#include "base/str.h"

/* A copy; "" takes no memory. Given, sched_drop(). */
static inline struct str sched_keep(struct str s)
{
    return s.n == 0 ? STR("") : str_n(xstrndup(s.p, s.n), s.n);
}
static inline void sched_drop(struct str s)
{
    if (s.n > 0)
        free((char *)s.p);
}
