/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms; see histogram.h. */
#include "base/histogram.h"

#include <assert.h>
#include <inttypes.h>

static void write_number(struct buf *to, const struct histogram_kind *k, double value, int decimals)
{
    if (k->number)
        k->number(to, value);
    else if (decimals < 0)
        (void)buf_printf(to, "%g", value);
    else
        (void)buf_printf(to, "%.*f", decimals, value);
}

static void write_total(struct buf *to, const struct histogram_text *t, const char *suffix)
{
    const char *open = t->labels.n ? "{" : "", *close = t->labels.n ? "}" : "";
    (void)buf_printf(to, STR_FMT "%s%s" STR_FMT "%s ", STR_ARG(t->name), suffix, open,
                     STR_ARG(t->labels), close);
}

/* Write a line up to its bound. */
static void write_bucket(struct buf *to, const struct histogram_text *t)
{
    (void)buf_printf(to, STR_FMT "_bucket{" STR_FMT "%sle=\"", STR_ARG(t->name), STR_ARG(t->labels),
                     t->labels.n ? "," : "");
}

void histogram_write(struct buf *to, const struct histogram_kind *k, const struct histogram_text *t,
                     struct histogram_view h)
{
    assert(h.width == sizeof(uint32_t) || h.width == sizeof(uint64_t));
    uint64_t sum = 0;
    for (size_t i = 0; t->lines == HISTOGRAM_ALL && i < k->n; i++) {
        sum += h.width == sizeof(uint32_t) ? ((const uint32_t *)h.counts)[i]
                                           : ((const uint64_t *)h.counts)[i];
        if (t->is_shown && !t->is_shown[i])
            continue;
        write_bucket(to, t);
        write_number(to, k, k->bounds[i] / k->unit, -1);
        (void)buf_printf(to, "\"} %" PRIu64 "\n", sum);
    }
    if (t->lines != HISTOGRAM_SUM) {
        write_bucket(to, t);
        (void)buf_printf(to, "+Inf\"} %" PRIu64 "\n", h.n);
    }
    write_total(to, t, "_sum");
    write_number(to, k, h.sum / k->unit, k->decimals);
    (void)buf_add_char(to, '\n');
    write_total(to, t, "_count");
    (void)buf_printf(to, "%" PRIu64 "\n", h.n);
}

void metric_head(struct buf *to, const char *name, const char *type, const char *help)
{
    (void)buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}
