/* SPDX-License-Identifier: Apache-2.0 */
#include "node/plan_book.h"

#include "base/mem.h"

#include <stdlib.h>

struct plan_book_entry {
    char *pod; /* "namespace/name"; NULL: free */
    char *plan;
};

struct plan_book {
    struct plan_book_entry at[PLAN_BOOK_MAX];
    size_t next; /* to be replaced: the oldest */
};

struct plan_book *plan_book_new(void)
{
    return xnew(struct plan_book);
}

void plan_book_free(struct plan_book *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < PLAN_BOOK_MAX; i++) {
        free(b->at[i].pod);
        free(b->at[i].plan);
    }
    free(b);
}

static char *key_of(struct str namespace, struct str pod)
{
    return xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(pod));
}

void plan_book_add(struct plan_book *b, struct str namespace, struct str pod, struct str plan)
{
    struct plan_book_entry *e = &b->at[b->next];
    free(e->pod);
    free(e->plan);
    e->pod = key_of(namespace, pod);
    e->plan = str_dup(plan);
    b->next = (b->next + 1) % PLAN_BOOK_MAX;
}

void plan_book_write(const struct plan_book *b, struct str namespace, struct str pod,
                     struct buf *to)
{
    scoped(free_scoped) char *key = key_of(namespace, pod);
    const char *between = "";
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < PLAN_BOOK_MAX; i++) {
        const struct plan_book_entry *e = &b->at[(b->next + i) % PLAN_BOOK_MAX];
        if (!e->pod || strcmp(e->pod, key) != 0)
            continue;
        (void)buf_printf(to, "%s%s", between, e->plan);
        between = ",";
    }
    (void)buf_add_char(to, ']');
}
