/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/text_table.h"

#include "cmd/cmd.h"

void text_table_head(struct text_table *t, const char *const *names)
{
    for (size_t i = 0; i < t->n_columns; i++)
        text_table_cell(t, str_of(names[i]));
}

void text_table_cell(struct text_table *t, struct str text)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(BUF_MAX_DEFAULT);
    if (t->n == t->cap) {
        struct str *more = arena_new_n(t->a, struct str, t->cap * 2 + 64);
        for (size_t i = 0; i < t->n; i++)
            more[i] = t->cells[i];
        t->cells = more;
        t->cap = t->cap * 2 + 64;
    }
    cmd_add_safe(&safe, text);
    t->cells[t->n++] = str_copy_arena(t->a, buf_str(&safe));
}

void text_table_print(const struct text_table *t, FILE *to)
{
    size_t width[TEXT_TABLE_MAX_COLUMNS] = { 0 };
    size_t columns = MIN(t->n_columns, (size_t)TEXT_TABLE_MAX_COLUMNS);
    for (size_t i = 0; i < t->n; i++)
        width[i % columns] = MAX(width[i % columns], t->cells[i].n);
    for (size_t i = 0; i < t->n; i++) {
        bool is_last = i % columns == columns - 1;
        (void)fprintf(to, "%-*.*s%s", is_last ? 0 : (int)width[i % columns], (int)t->cells[i].n,
                      t->cells[i].p, is_last ? "\n" : "   ");
    }
}
