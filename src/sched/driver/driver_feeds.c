/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of all kinds; their texts are sent to the scheduler's thread. */
#include "sched/driver/driver_impl.h"

#include "base/log.h"
#include "client/reflector.h"

#define PODS_NOT_DONE "status.phase!=Succeeded,status.phase!=Failed"

static void check_ready(struct sched_driver *d);

static void send_list_end(struct driver_feed *f, bool is_reread)
{
    struct driver_message *m = driver_message(MESSAGE_LIST_END, STR(""));
    m->kind = f->kind;
    m->flag = is_reread;
    driver_send(f->d, m);
}

static bool send_text(struct driver_feed *f, enum message_type type, struct str text)
{
    struct sched_driver *d = f->d;
    if (type == MESSAGE_LINE) {
        uv_mutex_lock(&d->lock);
        bool full = d->inbox.bytes > d->opts.inbox_max_bytes;
        if (full)
            d->outbox.drained = false;
        uv_mutex_unlock(&d->lock);
        if (full) { /* listed again after the thread has read the inbox */
            f->lost = true;
            return false;
        }
    }
    struct driver_message *m = driver_message(type, text);
    m->kind = f->kind;
    driver_send(d, m);
    return true;
}

static void on_list_begin(void *arg)
{
    struct driver_feed *f = arg;
    if (f->reread == REREAD_WANTED)
        f->reread = REREAD_BEGUN;
    (void)send_text(f, MESSAGE_LIST_BEGIN, STR(""));
}

static void on_text(void *arg, bool is_page, struct str text)
{
    struct driver_feed *f = arg;
    if (is_page || !f->lost)
        (void)send_text(f, is_page ? MESSAGE_PAGE : MESSAGE_LINE, text);
}

static void on_list_end(void *arg, uint64_t rv)
{
    struct driver_feed *f = arg;
    f->lost = false;
    send_list_end(f, f->reread == REREAD_BEGUN);
    f->synced = true;
    if (f->reread == REREAD_WANTED) /* the list began before the reload */
        reflector_relist(f->reflector);
    else
        f->reread = REREAD_NONE;
    check_ready(f->d);
}

static void on_absent_timer(struct timer *t);

/* Nothing is placed without these kinds: an API that reports them as absent is not ready yet. */
static bool can_be_absent(enum sched_kind kind, int status)
{
    if (kind == SCHED_POD || kind == SCHED_NODE)
        return false;
    return status == 404 || (status == 403 && kind == SCHED_NODE_IMAGE_STATE);
}

static void on_trouble(void *arg, int status, const struct err *err)
{
    struct driver_feed *f = arg;
    struct sched_driver *d = f->d;
    if (!can_be_absent(f->kind, status))
        return;
    reflector_close(take_ptr(&f->reflector));
    f->absent = f->synced = true;
    on_list_begin(f); /* the known objects of the kind are gone */
    send_list_end(f, false);
    if (!timer_is_armed(&d->absent))
        timer_start(d->loop, &d->absent, DRIVER_ABSENT_MS, on_absent_timer);
    check_ready(d);
}

static const struct reflector_ops feed_ops = { .on_list_begin = on_list_begin,
                                               .on_text = on_text,
                                               .on_list_end = on_list_end,
                                               .on_trouble = on_trouble };

static int start_feed(struct sched_driver *d, enum sched_kind kind, struct err *err)
{
    struct driver_feed *f = &d->feeds[kind];
    f->d = d;
    f->kind = kind;
    f->absent = false;
    struct reflector_opts opts = {
        .loop = d->loop,
        .transport = d->opts.transport,
        .hub = d->opts.hub,
        .identity = d->opts.identity,
        .key = { .group_version = str_of(sched_kind_group_version(kind)),
                 .plural = str_of(sched_kind_plural(kind)),
                 .field_selector = kind == SCHED_POD ? STR(PODS_NOT_DONE) : STR(""),
                 .identity = d->opts.identity },
        .ops = &feed_ops,
        .arg = f,
    };
    return reflector_start(&opts, &f->reflector, err);
}

static void on_absent_timer(struct timer *t)
{
    struct sched_driver *d = container_of(t, struct sched_driver, absent);
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        if (d->feeds[k].absent)
            (void)start_feed(d, (enum sched_kind)k, NULL);
}

/* Wanted only by plugins about images on nodes. */
static bool wants_kind(const struct sched_driver *d, enum sched_kind kind)
{
    if (kind != SCHED_NODE_IMAGE_STATE)
        return true;
    for (size_t i = 0; i < d->opts.config->n_profiles; i++) {
        const struct sched_config_set *set = &d->opts.config->profiles[i].at[SCHED_AT_SCORE];
        for (size_t j = 0; j < set->n; j++)
            if (!sched_native_plugin(set->p[j].name) ||
                str_has_prefix(set->p[j].name, STR("Break")))
                return true;
    }
    return false;
}

void driver_start_feeds(struct sched_driver *d)
{
    assert(d->sm.at == DRIVER_LISTING || d->sm.at == DRIVER_SYNCED);
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++) {
        struct err err = { 0 };
        enum sched_kind kind = (enum sched_kind)k;
        if (d->feeds[k].reflector || d->feeds[k].absent)
            continue;
        if (!wants_kind(d, kind))
            d->feeds[k].synced = true;
        else if (start_feed(d, kind, &err) < 0)
            log_error("watch cannot begin", "resource=%s: %s", sched_kind_plural(kind),
                      err_text(&err));
    }
}

void driver_stop_feeds(struct sched_driver *d)
{
    reflector_close(take_ptr(&d->sleeper));
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        reflector_close(take_ptr(&d->feeds[k].reflector));
    timer_stop(d->loop, &d->absent);
}

static void check_ready(struct sched_driver *d)
{
    if (d->sm.at != DRIVER_LISTING)
        return;
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        if (!d->feeds[k].synced)
            return;
    driver_has_all(d);
}

void driver_relist_lost(struct sched_driver *d)
{
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        if (d->feeds[k].lost && d->feeds[k].reflector)
            reflector_relist(d->feeds[k].reflector);
}

void driver_reread(struct sched_driver *d)
{
    static const enum sched_kind kinds[] = { SCHED_POD, SCHED_NODE };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct driver_feed *f = &d->feeds[kinds[i]];
        f->reread = REREAD_WANTED;
        if (f->reflector) /* else the first list follows */
            reflector_relist(f->reflector);
    }
}
