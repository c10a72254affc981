/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the scheduler's thread; see inbox.h. */
#include "sched/driver/inbox.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

struct driver_message *driver_message(enum message_type type, struct str text)
{
    struct driver_message *m = xalloc(sizeof(*m) + text.n + 1);
    m->type = type;
    m->n_text = text.n;
    if (text.n > 0)
        memcpy(m->text, text.p, text.n);
    return m;
}

void driver_inbox_init(struct driver_inbox *i, uv_mutex_t *lock)
{
    *i = (struct driver_inbox){ .lock = lock };
    list_init(&i->waiting);
    list_init(&i->held);
}

void driver_inbox_fini(struct driver_inbox *i)
{
    assert(list_is_empty(&i->waiting));
    while (!list_is_empty(&i->held))
        free(list_entry(list_pop_front(&i->held), struct driver_message, node));
}

void driver_inbox_put(struct driver_inbox *i, struct driver_message *m)
{
    list_push_back(&i->waiting, &m->node);
    i->bytes += m->n_text;
}

void driver_inbox_take(struct driver_inbox *i, struct list *to)
{
    assert(i->bytes >= i->held_bytes);
    list_move_all(&i->waiting, to);
    i->bytes = i->held_bytes;
}

static bool is_of_watch(const struct driver_message *m)
{
    return m->type == MESSAGE_LIST_BEGIN || m->type == MESSAGE_PAGE ||
           m->type == MESSAGE_LIST_END || m->type == MESSAGE_LINE || m->type == MESSAGE_SYNCED;
}

static void count_held(struct driver_inbox *i, ptrdiff_t bytes)
{
    assert(bytes >= 0 || i->held_bytes >= (size_t)-bytes);
    uv_mutex_lock(i->lock);
    i->held_bytes += (size_t)bytes;
    i->bytes += (size_t)bytes;
    uv_mutex_unlock(i->lock);
}

static struct driver_message *pop(struct list *from)
{
    return list_entry(list_pop_front(from), struct driver_message, node);
}

struct driver_message *driver_inbox_next(struct driver_inbox *i, struct list *taken, bool is_full)
{
    if (!is_full && !list_is_empty(&i->held)) {
        struct driver_message *m = pop(&i->held);
        assert(is_of_watch(m));
        count_held(i, -(ptrdiff_t)m->n_text);
        return m;
    }
    while (!list_is_empty(taken)) {
        struct driver_message *m = pop(taken);
        if (!is_full || !is_of_watch(m))
            return m;
        list_push_back(&i->held, &m->node);
        count_held(i, (ptrdiff_t)m->n_text);
    }
    return NULL;
}
