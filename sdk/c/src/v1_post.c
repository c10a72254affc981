/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the host acts on later: log, events, metrics, keys. */
#include "text.h"
#include "v1.h"

#include <string.h>

/* ---- log ---- */

/* "a=%s b=%d" with its arguments as {"a":"...","b":1}. A pair ends at a space of the format. */
static void put_pairs(struct dm_text *t, const char *fmt, va_list ap)
{
    struct dm_conversion c;
    struct dm_text value = { 0 };
    dm_conversion_init(&c, fmt, ap);
    dm_jw_open(t, '{');
    while (*c.at) {
        size_t n = strcspn(c.at, "= ");
        dm_jw_text(t, (struct dm_str){ c.at, n });
        dm_text_char(t, ':');
        c.at += n + (c.at[n] == '=' ? 1 : 0);
        value.n = 0;
        dm_text_convert(&value, &c, ' ');
        int64_t number;
        if (strchr("diu", c.at[-1]) && dm_parse_i64(dm_text_view(&value), &number))
            dm_jw_int(t, number);
        else
            dm_jw_text(t, dm_text_view(&value));
        c.at += strspn(c.at, " ");
    }
    dm_jw_close(t, '}');
    dm_conversion_fini(&c);
    dm_text_fini(&value);
}

void dm_log(enum dm_log_level level, const char *text, const char *pairs_fmt, ...)
{
    struct dm_text t = { 0 };
    if (*pairs_fmt) {
        va_list ap;
        va_start(ap, pairs_fmt);
        put_pairs(&t, pairs_fmt, ap);
        va_end(ap);
    }
    v1_log((uint32_t)level, text, (uint32_t)strlen(text), t.p, (uint32_t)t.n);
    dm_text_fini(&t);
}

/* ---- events ---- */

#define NOTE_MAX 1024

/* Not within a character of UTF-8. */
static void cut(struct dm_text *t, size_t max)
{
    if (t->n <= max)
        return;
    while (max && ((unsigned char)t->p[max] & 0xc0) == 0x80)
        max--;
    t->n = max;
}

void dm_event(const struct dm_resource *res, struct dm_json object, enum dm_event_type type,
              const char *reason, const char *action, const char *fmt, ...)
{
    static const char *const of_meta[] = { "namespace", "name", "uid" };
    struct dm_text t = { 0 }, note = { 0 };
    va_list ap;
    va_start(ap, fmt);
    dm_vtextf(&note, fmt, ap);
    va_end(ap);
    cut(&note, NOTE_MAX);
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "type", type == DM_WARNING ? "Warning" : "Normal");
    dm_jw_kstr(&t, "reason", reason);
    dm_jw_kstr(&t, "action", action);
    dm_jw_key(&t, "note");
    dm_jw_text(&t, dm_text_view(&note));
    dm_jw_key(&t, "regarding");
    dm_jw_open(&t, '{');
    dm_jw_type(&t, res);
    for (size_t i = 0; i < sizeof(of_meta) / sizeof(of_meta[0]); i++) {
        struct dm_json v = dm_json_member(dm_json_member(object, "metadata"), of_meta[i]);
        if (v.p)
            dm_jw_kraw(&t, of_meta[i], v);
    }
    dm_jw_close(&t, '}');
    dm_jw_close(&t, '}');
    v1_event(t.p, (uint32_t)t.n);
    dm_text_fini(&note);
    dm_text_fini(&t);
}

/* ---- metrics, keys ---- */

void dm_metric_labelled(unsigned index, double value, const char *const *labels)
{
    struct dm_text t = { 0 };
    int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (*labels) {
        dm_jw_open(&t, '[');
        for (; *labels; labels++)
            dm_jw_str(&t, *labels);
        dm_jw_close(&t, ']');
    }
    v1_metric(index, t.p, (uint32_t)t.n, bits);
    dm_text_fini(&t);
}

void dm_enqueue(const char *controller, const char *ns, const char *name, uint64_t after_ms,
                const char *priority)
{
    struct dm_text t = { 0 };
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "controller", controller);
    dm_jw_kstr(&t, "namespace", ns ? ns : "");
    dm_jw_kstr(&t, "name", name);
    if (after_ms)
        dm_jw_kint(&t, "afterMs", (int64_t)after_ms);
    if (priority)
        dm_jw_kstr(&t, "priority", priority);
    dm_jw_close(&t, '}');
    v1_enqueue(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
}
