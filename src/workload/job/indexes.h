/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of completion indexes, as a Job's status has them: "1,3-5,7". Pure. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

struct job_range {
    int32_t first, last;
};

/* Ranges are ascending, and no two of them touch. With its arena: empty. */
struct job_indexes {
    struct arena *arena;
    struct job_range *p;
    size_t n, cap;
};

/* Adds the indexes of the text that are below `limit`; what does not parse is left out. */
void job_indexes_parse(struct job_indexes *s, struct str text, int32_t limit);
void job_indexes_add(struct job_indexes *s, int32_t index);
bool job_indexes_has(const struct job_indexes *s, int32_t index);
int64_t job_indexes_count(const struct job_indexes *s);
/* "1,2" for two neighbours, "1-3" for more, as upstream. */
void job_indexes_write(const struct job_indexes *s, struct buf *to);
