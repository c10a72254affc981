/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an operator host between two steps of a test; see host_rest.h. */
#include "lab/node/host_rest.h"

#include "base/sys.h"
#include "codec/json.h"
#include "guest/guest_log.h"
#include "node/host_impl.h"

#include <fcntl.h>

static void look_at_guest(struct guest *g, void *arg)
{
    struct buf *why = arg;
    struct guest_stats s;
    guest_get_stats(g, &s);
    if (why->n == 0 && (s.state == GUEST_RUNNING || s.queued))
        (void)buf_printf(why, "guest %s/%s runs", s.namespace, s.name);
}

static void look_at_operator(struct operator* o, void *arg)
{
    struct buf *why = arg;
    struct operator_view v;
    operator_view(o, &v);
    if (why->n)
        return;
    if (v.phase == OPERATOR_PREPARING)
        (void)buf_printf(why, "operator %s/%s is being compiled", v.namespace, v.name);
    else if (v.v1 && v1_is_busy(v.v1))
        (void)buf_printf(why, "operator %s/%s has keys to reconcile", v.namespace, v.name);
}

bool host_is_at_rest(const struct host *h, struct buf *why)
{
    struct guest_host_stats stats;
    guest_host_get_stats(h->guests, &stats);
    if (stats.commands)
        (void)buf_printf(why, "%u commands to runners are under way", stats.commands);
    guest_host_each(h->guests, look_at_guest, why);
    operators_each(h->operators, look_at_operator, why);
    return why->n == 0;
}

void host_sleep(struct host *h)
{
    (void)guest_host_relieve(h->guests);
}

static void find_compiling(struct operator* o, void *arg)
{
    struct operator_view v;
    operator_view(o, &v);
    *(bool *)arg |= v.phase == OPERATOR_PREPARING;
}

bool host_is_compiling(const struct host *h)
{
    bool found = false;
    operators_each(h->operators, find_compiling, &found);
    return found;
}

struct telling {
    const struct host *h;
    struct buf *why;
};

/* Format a line of the operator's log for people: the message and its subject. */
static void add_complaint(struct buf *to, struct str line)
{
    static const char *const about[] = { "controller", "key" };
    struct arena a = { 0 };
    struct json *v;
    if (json_parse(&a, line, NULL, &v, NULL) < 0) {
        (void)buf_add_str(to, line);
        arena_fini(&a);
        return;
    }
    (void)buf_printf(to, STR_FMT, STR_ARG(json_get_str(v, "message")));
    for (size_t i = 0; i < ARRAY_LEN(about); i++)
        if (json_get_str(v, about[i]).n)
            (void)buf_printf(to, " %s=" STR_FMT, about[i], STR_ARG(json_get_str(v, about[i])));
    json_each (f, json_getc(v, "fields")) {
        (void)buf_printf(to, " " STR_FMT "=", STR_ARG(f->key));
        if (json_is(f, JSON_STRING))
            (void)buf_add_str(to, json_str(f));
        else
            (void)json_write(to, f);
    }
    arena_fini(&a);
}

/* Report the last complaint in the operator's log. */
static void tell_complaint(const struct telling *t, const struct operator_view *v)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)2 * GUEST_LOG_FILE_MAX);
    scoped(free_scoped) char *logs = xasprintf("%s/logs", t->h->opts.data_dir);
    scoped(free_scoped) char *path = guest_log_path(logs, v->namespace, v->name, false);
    struct str left, line, last = STR_NULL;
    struct err ignored;
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0)
        return;
    left = buf_str(&text);
    while (str_cut(left, '\n', &line, &left))
        if (str_find(line, STR("\"level\":\"warn\"")) >= 0 ||
            str_find(line, STR("\"level\":\"error\"")) >= 0)
            last = line;
    if (last.n) {
        (void)buf_printf(t->why, "operator %s/%s complained last: ", v->namespace, v->name);
        add_complaint(t->why, last);
        (void)buf_add_char(t->why, '\n');
    }
}

static void tell_trouble(struct operator* o, void *arg)
{
    const struct telling *t = arg;
    struct buf *why = t->why;
    struct operator_view v;
    struct guest_stats s = { 0 };
    operator_view(o, &v);
    if (v.guest)
        guest_get_stats(v.guest, &s);
    if (v.phase != OPERATOR_RUNNING || !v.guest || s.state == GUEST_FAILED)
        (void)buf_printf(why, "operator %s/%s does not run: %s: %s\n", v.namespace, v.name,
                         v.reason, v.message[0] ? v.message : s.last_error);
    if (v.trouble && v.trouble[0])
        (void)buf_printf(why, "operator %s/%s: %s\n", v.namespace, v.name, v.trouble);
    if (v.v1) {
        struct v1_summary summary;
        v1_get_summary(v.v1, &summary);
        if (summary.waits[0])
            (void)buf_printf(why, "operator %s/%s waits: %s\n", v.namespace, v.name, summary.waits);
    }
    tell_complaint(t, &v);
}

bool host_trouble(const struct host *h, struct buf *why)
{
    operators_each(h->operators, tell_trouble, &(struct telling){ h, why });
    return why->n != 0;
}
