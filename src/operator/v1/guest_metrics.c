/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of guests; see guest_metrics.h. */
#include "operator/v1/guest_metrics.h"

#include "base/histogram.h"

#include <math.h>

/* One label set of one metric. Its key in the map: index of the metric, then the labels as text. */
struct guest_metrics_sample {
    struct guest_metrics_sample *next; /* of the same metric */
    double value;                      /* COUNTER, GAUGE; HISTOGRAM: the sum */
    uint64_t count;                    /* HISTOGRAM: observations */
    uint64_t *buckets;                 /* HISTOGRAM: count per bucket, not cumulative */
    char labels[];                     /* `a="x",b="y"`, or "" */
};

struct guest_metrics {
    const struct declaration *declaration;
    struct map samples;
    uint64_t left_out;
    struct guest_metrics_sample *first[]; /* one per metric, the newest first */
};

struct guest_metrics *guest_metrics_new(const struct declaration *declaration)
{
    struct guest_metrics *m =
        xalloc(sizeof *m + declaration->n_metrics * sizeof(struct guest_metrics_sample *));
    m->declaration = declaration;
    return m;
}

void guest_metrics_free(struct guest_metrics *m)
{
    if (!m)
        return;
    map_each (e, &m->samples) {
        struct guest_metrics_sample *s = e->value;
        free(s->buckets);
        free(s);
    }
    map_fini(&m->samples);
    free(m);
}

uint64_t guest_metrics_left_out(const struct guest_metrics *m)
{
    return m->left_out;
}

/* ---------------------------------------------------------------- values */

/* Escape backslash, quote and line end for the text format. */
static void add_escaped(struct buf *b, struct str s, bool quotes)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            (void)buf_add_cstr(b, "\\n");
        else if (s.p[i] == '\\' || (quotes && s.p[i] == '"'))
            (void)buf_printf(b, "\\%c", s.p[i]);
        else
            (void)buf_add_char(b, s.p[i]);
    }
}

static int read_labels(const struct declaration_metric *d, struct str json, struct buf *to,
                       struct err *err)
{
    struct arena a = { .max_bytes = 1 << 20 };
    struct json_parse_opts opts = { .max_depth = 2 };
    struct json *v = NULL;
    size_t i = 0;
    int r = json.n ? json_parse(&a, json, &opts, &v, err) : 0;
    if (r >= 0 && json.n && !json_is(v, JSON_ARRAY))
        r = err_set(err, E_INVALID, "labels of '" STR_FMT "' must be an array", STR_ARG(d->name));
    if (r >= 0 && (v ? v->n : 0) != d->n_labels)
        r = err_set(err, E_INVALID, "'" STR_FMT "' has %zu labels, not %u", STR_ARG(d->name),
                    d->n_labels, v ? v->n : 0);
    json_each (label, r >= 0 ? v : NULL) {
        if (!json_is(label, JSON_STRING) || json_str(label).n > GUEST_METRICS_LABEL_MAX_BYTES) {
            r = err_set(err, E_INVALID,
                        "label '" STR_FMT "' of '" STR_FMT "' must be a string of at most %d bytes",
                        STR_ARG(d->labels[i]), STR_ARG(d->name), GUEST_METRICS_LABEL_MAX_BYTES);
            break;
        }
        (void)buf_printf(to, "%s" STR_FMT "=\"", i ? "," : "", STR_ARG(d->labels[i]));
        add_escaped(to, json_str(label), true);
        (void)buf_add_char(to, '"');
        i++;
    }
    arena_fini(&a);
    return r;
}

static struct guest_metrics_sample *find_sample(struct guest_metrics *m, uint32_t index,
                                                struct str labels)
{
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(16 << 10);
    const struct declaration_metric *d = &m->declaration->metrics[index];
    (void)buf_printf(&key, "%u " STR_FMT, index, STR_ARG(labels));
    struct guest_metrics_sample *s = map_get(&m->samples, buf_str(&key));
    if (s || m->samples.n == GUEST_METRICS_MAX_SETS)
        return s;
    s = xalloc(sizeof *s + labels.n + 1);
    memcpy(s->labels, labels.p, labels.n);
    if (d->type == METRIC_HISTOGRAM)
        s->buckets = xnew_n(uint64_t, d->n_buckets);
    s->next = m->first[index];
    m->first[index] = s;
    (void)map_put(&m->samples, buf_str(&key), s);
    return s;
}

static void write_number(struct buf *to, double v)
{
    struct arena a = { 0 };
    if (isinf(v))
        (void)buf_add_cstr(to, v < 0 ? "-Inf" : "+Inf");
    else
        (void)buf_add_str(to, json_new_float(&a, v)->s);
    arena_fini(&a);
}

static struct histogram_kind kind_of(const struct declaration_metric *d)
{
    return (struct histogram_kind){ d->buckets, d->n_buckets, 1, -1, write_number };
}

int guest_metrics_observe(struct guest_metrics *m, uint32_t index, struct str labels, double value,
                          struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(16 << 10);
    if (index >= m->declaration->n_metrics)
        return err_set(err, E_INVALID, "%zu metrics are declared, there is no number %u",
                       m->declaration->n_metrics, index);
    const struct declaration_metric *d = &m->declaration->metrics[index];
    if (isnan(value) || (d->type != METRIC_GAUGE && isinf(value)))
        return err_set(err, E_INVALID, "the value for '" STR_FMT "' is no number",
                       STR_ARG(d->name));
    if (d->type == METRIC_COUNTER && value < 0)
        return err_set(err, E_INVALID, "counter '" STR_FMT "' cannot go down", STR_ARG(d->name));
    int r = read_labels(d, labels, &text, err);
    if (r < 0)
        return r;
    struct guest_metrics_sample *s = find_sample(m, index, buf_str(&text));
    if (!s) {
        m->left_out++;
        return err_set(err, E_LIMIT, "more than %d label sets", GUEST_METRICS_MAX_SETS);
    }
    struct histogram_kind kind;
    size_t at;
    switch (d->type) {
    case METRIC_COUNTER:
        s->value += value;
        break;
    case METRIC_GAUGE:
        s->value = value;
        break;
    case METRIC_HISTOGRAM:
        s->value += value;
        s->count++;
        kind = kind_of(d);
        at = histogram_bucket(&kind, value);
        if (at < d->n_buckets)
            s->buckets[at]++;
        break;
    }
    return 0;
}

/* ---------------------------------------------------------------- text */

static void write_sample(struct buf *to, const struct declaration_metric *d,
                         const struct guest_metrics_sample *s, const char *name)
{
    scoped(free_scoped) char *labels =
        xasprintf("operator=\"%s\"%s%s", name, s->labels[0] ? "," : "", s->labels);
    if (d->type == METRIC_HISTOGRAM) {
        const struct histogram_kind kind = kind_of(d);
        const struct histogram_text text = { .name = d->name, .labels = str_of(labels) };
        histogram_write(
            to, &kind, &text,
            (struct histogram_view){ s->buckets, sizeof *s->buckets, s->count, s->value });
        return;
    }
    (void)buf_printf(to, STR_FMT "{%s} ", STR_ARG(d->name), labels);
    write_number(to, s->value);
    (void)buf_add_char(to, '\n');
}

/* The metric that another operator has declared with the same name and type. */
static const struct declaration_metric *find_metric(const struct guest_metrics *m,
                                                    const struct declaration_metric *like,
                                                    size_t *ret_at)
{
    for (size_t i = 0; i < m->declaration->n_metrics; i++) {
        const struct declaration_metric *d = &m->declaration->metrics[i];
        if (d->type == like->type && str_eq(d->name, like->name)) {
            *ret_at = i;
            return d;
        }
    }
    return NULL;
}

static void write_metric(const struct guest_metrics_source *sources, size_t n,
                         const struct declaration_metric *d, struct buf *to)
{
    static const char *const types[] = { "counter", "gauge", "histogram" };
    (void)buf_printf(to, "# HELP " STR_FMT " ", STR_ARG(d->name));
    add_escaped(to, d->help, false);
    (void)buf_printf(to, "\n# TYPE " STR_FMT " %s\n", STR_ARG(d->name), types[d->type]);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        const struct guest_metrics *m = sources[i].metrics;
        const struct declaration_metric *same = find_metric(m, d, &at);
        for (const struct guest_metrics_sample *s = same ? m->first[at] : NULL; s; s = s->next)
            write_sample(to, same, s, sources[i].operator_name);
    }
}

void guest_metrics_write(const struct guest_metrics_source *sources, size_t n, struct buf *to)
{
    struct map seen = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct guest_metrics *m = sources[i].metrics;
        for (size_t at = 0; at < m->declaration->n_metrics; at++) {
            const struct declaration_metric *d = &m->declaration->metrics[at];
            /* If a name has two types, the first one is written. */
            if (!m->first[at] || map_has(&seen, d->name))
                continue;
            (void)map_put(&seen, d->name, &seen);
            write_metric(sources, n, d, to);
        }
    }
    map_fini(&seen);
}
