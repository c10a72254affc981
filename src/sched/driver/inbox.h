/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from the loop to the scheduler's thread, and those that the thread holds back: while a
 * lane is behind, events of watches wait, and everything else overtakes them.
 *
 *     loop --put--> waiting --take--> the thread's round --next--> handled
 *                                          \--- lane is full ---> held --next--> handled, first
 *
 * Held messages count as waiting ones, so that the loop sends no more while there are too many.
 * Put and take are called with the lock held, `bytes` is read under it; next() takes it.
 */
#pragma once

#include "base/list.h"
#include "sched/object/object.h"

#include <uv.h>

enum message_type {
    MESSAGE_LIST_BEGIN,
    MESSAGE_PAGE, /* text: a List */
    MESSAGE_LIST_END,
    MESSAGE_LINE, /* text: an event of a watch */
    MESSAGE_SYNCED,
    MESSAGE_ANSWER,
    MESSAGE_LEAD,
    MESSAGE_EXPLAIN,
    MESSAGE_RELOAD,
    MESSAGE_STOP,
};

struct driver_call;
struct driver_question;
struct reload;

struct driver_message {
    struct list node;
    enum message_type type;
    enum sched_kind kind;
    bool flag; /* LEAD: leads; LIST_END: the list began after the thread asked for it again */
    struct driver_call *call;
    struct driver_question *question;
    struct reload *reload;
    size_t n_text;
    char text[]; /* NUL-terminated */
};

struct driver_message *driver_message(enum message_type type, struct str text);

struct driver_inbox {
    uv_mutex_t *lock;
    struct list waiting;
    size_t bytes;     /* of the texts that wait or are held */
    struct list held; /* the thread's, without the lock */
    size_t held_bytes;
};

void driver_inbox_init(struct driver_inbox *i, uv_mutex_t *lock); /* lock: kept */
/* Frees what is held. Nothing waits any more. */
void driver_inbox_fini(struct driver_inbox *i);
/* Takes the message. */
void driver_inbox_put(struct driver_inbox *i, struct driver_message *m);
/* All that waits, to be handled in one round. */
void driver_inbox_take(struct driver_inbox *i, struct list *to);
/*
 * The next of the messages taken in this round, in order of arrival, except that events of watches
 * are held while is_full. NULL: none. Given, free().
 */
struct driver_message *driver_inbox_next(struct driver_inbox *i, struct list *taken, bool is_full);
