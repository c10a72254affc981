/* SPDX-License-Identifier: Apache-2.0 */
/* CloudEvents; see cloudevent.h. Sections are those of the CloudEvents specification 1.0.2. */
#include "fn/trigger/cloudevent.h"

#include "base/clock.h"
#include "codec/base64.h"

#include <errno.h>

static int invalid(struct err *err, const char *why, struct str what)
{
    return err_set(err, E_INVALID, "event: %s '" STR_FMT "'", why, STR_ARG(str_slice(what, 0, 80)));
}

/* ------------------------------------------------------------------ attributes */

/* Section 3.1.1: lower-case letters and digits. */
static bool is_name(struct str s)
{
    if (s.n == 0 || s.n > CLOUDEVENT_NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9')))
            return false;
    return true;
}

static struct str attribute(const struct cloudevent *ev, const char *name)
{
    for (size_t i = 0; i < ev->n_attributes; i++)
        if (str_is(ev->attributes[i].name, name))
            return ev->attributes[i].value;
    return STR("");
}

static int add(struct cloudevent *ev, struct str name, struct str value, struct err *err)
{
    if (!is_name(name))
        return invalid(err, "no name of an attribute", name);
    if (value.n > CLOUDEVENT_VALUE_MAX_BYTES || !str_is_utf8(value))
        return invalid(err, "value too long, or not UTF-8, of", name);
    if (str_is(name, "datacontenttype")) {
        ev->content_type = value;
        return 0;
    }
    for (size_t i = 0; i < ev->n_attributes; i++)
        if (str_eq(ev->attributes[i].name, name))
            return invalid(err, "twice the attribute", name);
    if (ev->n_attributes == CLOUDEVENT_ATTRIBUTES_MAX)
        return invalid(err, "too many attributes, the last is", name);
    ev->attributes[ev->n_attributes].name = name;
    ev->attributes[ev->n_attributes++].value = value;
    return 0;
}

static int check(struct cloudevent *ev, struct err *err)
{
    struct str version = attribute(ev, "specversion"), time = attribute(ev, "time");
    int64_t us;
    ev->id = attribute(ev, "id");
    ev->source = attribute(ev, "source");
    ev->type = attribute(ev, "type");
    if (!str_is(version, "1.0"))
        return invalid(err, "specversion is not 1.0 but", version);
    if (!ev->id.n || !ev->source.n || !ev->type.n)
        return invalid(err, "required and missing or empty:",
                       !ev->id.n       ? STR("id")
                       : !ev->source.n ? STR("source")
                                       : STR("type"));
    if (time.n && rfc3339_parse(time, &us) < 0)
        return invalid(err, "no time:", time);
    for (size_t i = 0; i < ev->source.n; i++)
        if ((uint8_t)ev->source.p[i] <= ' ')
            return invalid(err, "source is no URI reference:", ev->source);
    return 0;
}

/* ------------------------------------------------------------------ binary */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * HTTP binding, section 3.1.3.2: characters outside printable ASCII are percent-encoded; values may
 * be quoted.
 */
static struct str decode(struct arena *a, struct str s)
{
    s = str_trim(s);
    if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
        s = str_slice(s, 1, s.n - 1);
    if (str_find_char(s, '%') < 0)
        return s;
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int high = i + 2 < s.n && s.p[i] == '%' ? hex_digit(s.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s.p[i + 2]) : -1;
        if (low >= 0) {
            p[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            p[n++] = s.p[i];
        }
    }
    return str_n(p, n);
}

static int read_binary(struct arena *a, const struct headers *h, struct str body,
                       struct cloudevent *ev, struct err *err)
{
    struct str prefix = STR("ce-");
    for (size_t i = 0; i < h->n; i++) {
        struct str name = headers_name(h, i);
        if (!str_has_prefix(name, prefix))
            continue;
        int r = add(ev, str_slice(name, prefix.n, name.n), decode(a, headers_value(h, i)), err);
        if (r < 0)
            return r;
    }
    ev->content_type = headers_get(h, "content-type");
    ev->data = body;
    return check(ev, err);
}

/* ------------------------------------------------------------------ structured */

static bool is_json_type(struct str type)
{
    struct str media, rest;
    (void)str_cut(type, ';', &media, &rest);
    media = str_trim(media);
    return media.n == 0 || str_ieq(media, STR("application/json")) ||
           str_ieq(media, STR("text/json")) || str_has_suffix(media, STR("+json"));
}

static struct str scalar(struct arena *a, const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        return v->s;
    case JSON_TRUE:
        return STR("true");
    case JSON_FALSE:
        return STR("false");
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return STR_NULL;
}

static int read_data(struct arena *a, const struct json *data, const struct json *base64,
                     struct cloudevent *ev, struct err *err)
{
    struct buf b;
    int r = 0;
    if (data && base64)
        return invalid(err, "both data and", STR("data_base64"));
    buf_init(&b, BUF_MAX_DEFAULT);
    if (base64) {
        r = json_is(base64, JSON_STRING) ? base64_decode(&b, base64->s, BASE64_STD) : -EINVAL;
        if (r < 0)
            r = invalid(err, "not base64:", STR("data_base64"));
    } else if (data && json_is(data, JSON_STRING) && !is_json_type(ev->content_type)) {
        r = buf_add_str(&b, data->s);
    } else if (data) {
        r = json_write(&b, data);
    }
    if (r >= 0 && !buf_ok(&b))
        r = err_set(err, E_INVALID, "event: data is too large");
    if (r >= 0)
        ev->data = str_copy_arena(a, buf_str(&b));
    if (r >= 0 && (data || base64) && !ev->content_type.n)
        ev->content_type = base64 ? STR("application/octet-stream") : STR("application/json");
    buf_fini(&b);
    return r < 0 ? r : 0;
}

static int read_object(struct arena *a, const struct json *o, struct cloudevent *ev,
                       struct err *err)
{
    if (!json_is(o, JSON_OBJECT))
        return err_set(err, E_INVALID, "event: not a JSON object");
    const struct json *data = NULL, *base64 = NULL;
    json_each (m, o) {
        if (str_is(m->key, "data")) {
            data = m;
            continue;
        }
        if (str_is(m->key, "data_base64")) {
            base64 = m;
            continue;
        }
        if (m->type == JSON_NULL) /* the same as absent */
            continue;
        struct str value = scalar(a, m);
        if (!value.p)
            return invalid(err, "neither text, number nor boolean:", m->key);
        int r = add(ev, m->key, value, err);
        if (r < 0)
            return r;
    }
    int r = read_data(a, data, base64, ev, err);
    return r < 0 ? r : check(ev, err);
}

/* ------------------------------------------------------------------ all forms */

enum cloudevent_form cloudevent_form_of(const struct headers *h)
{
    struct str type = headers_get(h, "content-type"), media, rest;
    (void)str_cut(type, ';', &media, &rest);
    media = str_trim(media);
    if (str_ieq(media, STR("application/cloudevents+json")))
        return CLOUDEVENT_STRUCTURED;
    if (str_ieq(media, STR("application/cloudevents-batch+json")))
        return CLOUDEVENT_BATCH;
    return headers_get(h, "ce-specversion").p ? CLOUDEVENT_BINARY : CLOUDEVENT_NONE;
}

int cloudevents_read(struct arena *a, const struct headers *h, struct str body, size_t max,
                     struct cloudevent **ret, size_t *ret_n, struct err *err)
{
    enum cloudevent_form form = cloudevent_form_of(h);
    struct json *tree = NULL;
    size_t n = 1;
    int r = 0;
    if (form == CLOUDEVENT_NONE)
        return err_set(err, E_INVALID,
                       "no event: neither ce-specversion nor application/cloudevents+json");
    if (form != CLOUDEVENT_BINARY && (r = json_parse(a, body, NULL, &tree, err)) < 0)
        return err_ctx(err, r, "event");
    if (form == CLOUDEVENT_BATCH) {
        if (!json_is(tree, JSON_ARRAY))
            return err_set(err, E_INVALID, "event: a batch is an array");
        n = tree->n;
    }
    if (n > max)
        return err_set(err, E_INVALID, "batch of %zu events, at most %zu", n, max);
    struct cloudevent *all = arena_new_n(a, struct cloudevent, n ? n : 1);
    struct json *item = form == CLOUDEVENT_BATCH ? json_first(tree) : tree;
    for (size_t i = 0; i < n && r >= 0; i++) {
        r = form == CLOUDEVENT_BINARY ? read_binary(a, h, body, &all[i], err)
                                      : read_object(a, item, &all[i], err);
        if (form == CLOUDEVENT_BATCH)
            item = item->next;
    }
    if (r < 0)
        return r;
    *ret = all;
    *ret_n = n;
    return 0;
}

static void encode(struct buf *to, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if (c > ' ' && c < 0x7f && c != '"' && c != '%') {
            (void)buf_add_char(to, (char)c);
        } else {
            (void)buf_add_char(to, '%');
            (void)buf_add_char(to, digits[c >> 4]);
            (void)buf_add_char(to, digits[c & 15]);
        }
    }
}

int cloudevent_fields(const struct cloudevent *ev, struct headers *to, struct err *err)
{
    struct buf name, value;
    int r = 0;
    buf_init(&name, CLOUDEVENT_NAME_MAX_BYTES + 4);
    buf_init(&value, 3 * CLOUDEVENT_VALUE_MAX_BYTES + 1);
    for (size_t i = 0; i < ev->n_attributes && r >= 0; i++) {
        buf_reset(&name);
        buf_reset(&value);
        (void)buf_add_cstr(&name, "ce-");
        (void)buf_add_str(&name, ev->attributes[i].name);
        encode(&value, ev->attributes[i].value);
        r = headers_add(to, buf_str(&name), buf_str(&value));
    }
    if (r >= 0 && ev->content_type.n)
        r = headers_add(to, STR("content-type"), ev->content_type);
    buf_fini(&name);
    buf_fini(&value);
    return r < 0 ? err_set(err, E_INVALID, "event: its attributes are too large") : 0;
}

bool cloudevent_matches(struct str pattern, struct str value)
{
    if (pattern.n && pattern.p[pattern.n - 1] == '*')
        return str_has_prefix(value, str_n(pattern.p, pattern.n - 1));
    return pattern.n == 0 || str_eq(pattern, value);
}
