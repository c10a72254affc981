/* SPDX-License-Identifier: Apache-2.0 */
/* A Service as the scheduler needs it: which pods it selects, for default spread constraints. */
#pragma once

#include "sched/object/match.h"

struct sched_service {
    struct sched_object o;
    struct intern *namespace_word;
    bool has_selector; /* without one it selects no pod */
    struct sched_selector selector;
};
static inline const struct sched_service *sched_service_of(const struct sched_object *o)
{
    return (const struct sched_service *)o;
}
