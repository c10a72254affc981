/* SPDX-License-Identifier: Apache-2.0 */
#include "image/snapshot_filter.h"

enum filter_field { FIELD_NAME, FIELD_PARENT, FIELD_KIND, FIELD_LABEL, FIELD_OTHER };
enum filter_test { TEST_PRESENT, TEST_EQUAL, TEST_OTHER };

struct filter_selector {
    enum filter_field field;
    struct str key; /* of a label */
    enum filter_test test;
    struct str value;
};

struct filter_one {
    struct filter_selector *p;
    size_t n;
};

struct snapshot_filter {
    struct arena memory;
    struct filter_one *all;
    size_t n;
};

/* ---- reading ---- */

struct filter_reader {
    struct arena *a;
    struct str left;
};

static bool takes(struct filter_reader *r, const char *word)
{
    struct str w = str_of(word);
    if (!str_has_prefix(r->left, w))
        return false;
    r->left = str_slice(r->left, w.n, r->left.n);
    return true;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (uint8_t)c >= 0x80;
}

/* What may stand in a value without quotes, besides words. */
static bool is_value(char c)
{
    return is_name_char(c) || (c && strchr("-/.:@*+%^{}[]()$#&|;<>?\\", c));
}

static struct str read_run(struct filter_reader *r, bool (*is)(char c))
{
    size_t n = 0;
    while (n < r->left.n && is(r->left.p[n]))
        n++;
    struct str run = str_slice(r->left, 0, n);
    r->left = str_slice(r->left, n, r->left.n);
    return run;
}

/* "...", with the escapes \" and \\ only: containerd writes no others for names. */
static int read_quoted(struct filter_reader *r, struct str *ret, struct err *err)
{
    size_t end = 1, n = 0;
    while (end < r->left.n && r->left.p[end] != '"')
        end += r->left.p[end] == '\\' ? 2 : 1;
    if (end >= r->left.n)
        return err_set(err, E_PARSE, "filter: no end of a quoted text");
    char *text = arena_alloc(r->a, end); /* of this text only: a filter may have many */
    for (size_t i = 1; i < end; i++) {
        char c = r->left.p[i];
        if (c == '\\' && (c = r->left.p[++i]) != '"' && c != '\\')
            return err_set(err, E_UNSUPPORTED, "filter: the escape '\\%c'", c);
        text[n++] = c;
    }
    *ret = str_n(text, n);
    r->left = str_slice(r->left, end + 1, r->left.n);
    return 0;
}

static int read_text(struct filter_reader *r, bool (*is)(char c), struct str *ret, struct err *err)
{
    if (r->left.n && r->left.p[0] == '"')
        return read_quoted(r, ret, err);
    *ret = read_run(r, is);
    return ret->n ? 0 : err_set(err, E_PARSE, "filter: a field or value is missing");
}

static int read_field(struct filter_reader *r, struct filter_selector *s, struct err *err)
{
    static const char *const names[] = {
        [FIELD_NAME] = "name", [FIELD_PARENT] = "parent", [FIELD_KIND] = "kind"
    };
    struct str part;
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(SNAPSHOT_LABEL_MAX);
    int res = read_text(r, is_name_char, &part, err);
    if (res < 0)
        return res;
    s->field = str_is(part, "labels") ? FIELD_LABEL : FIELD_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(part, names[i]))
            s->field = (enum filter_field)i;
    while (res >= 0 && buf_ok(&key) && takes(r, ".")) {
        res = read_text(r, is_name_char, &part, err);
        if (res >= 0)
            (void)buf_printf(&key, "%s" STR_FMT, key.n ? "." : "", STR_ARG(part));
    }
    if (res >= 0 && !buf_ok(&key))
        res = err_set(err, E_LIMIT, "filter: a label of more than %d bytes", SNAPSHOT_LABEL_MAX);
    if (s->field == FIELD_LABEL ? key.n == 0 : key.n > 0)
        s->field = FIELD_OTHER;
    s->key = str_copy_arena(r->a, buf_str(&key));
    return res;
}

static int read_selector(struct filter_reader *r, struct filter_selector *s, struct err *err)
{
    int res = read_field(r, s, err);
    if (res < 0)
        return res;
    if (takes(r, "=="))
        s->test = TEST_EQUAL;
    else if (takes(r, "!="))
        s->test = TEST_OTHER;
    else if (takes(r, "~="))
        return err_set(err, E_UNSUPPORTED, "filter: regular expressions");
    else
        return 0;
    return read_text(r, is_value, &s->value, err);
}

static int read_one(struct filter_reader *r, struct filter_one *one, struct err *err)
{
    int res = 0;
    one->p = arena_new_n(r->a, struct filter_selector, SNAPSHOT_SELECTORS_MAX);
    for (bool is_more = true; is_more && res >= 0;) {
        if (one->n == SNAPSHOT_SELECTORS_MAX)
            return err_set(err, E_LIMIT, "filter: more than %d selectors", SNAPSHOT_SELECTORS_MAX);
        res = read_selector(r, &one->p[one->n++], err);
        is_more = res >= 0 && takes(r, ",");
    }
    return res >= 0 && r->left.n ? err_set(err, E_PARSE, "filter: unexpected text after a selector")
                                 : res;
}

int snapshot_filter_new(const struct str *texts, size_t n, struct snapshot_filter **ret,
                        struct err *err)
{
    int r = 0;
    if (n > SNAPSHOT_FILTERS_MAX)
        return err_set(err, E_LIMIT, "more than %d filters", SNAPSHOT_FILTERS_MAX);
    scoped(snapshot_filter_free_scoped) struct snapshot_filter *f = xnew(struct snapshot_filter);
    f->all = arena_new_n(&f->memory, struct filter_one, n + 1);
    for (size_t i = 0; i < n && r >= 0; i++) {
        if (texts[i].n == 0) { /* containerd treats it as a filter that matches all */
            f->all[f->n++] = (struct filter_one){ 0 };
            continue;
        }
        struct filter_reader reader = { &f->memory, str_copy_arena(&f->memory, texts[i]) };
        r = read_one(&reader, &f->all[f->n++], err);
    }
    if (r >= 0)
        *ret = take_ptr(&f);
    return r;
}

void snapshot_filter_free(struct snapshot_filter *f)
{
    if (!f)
        return;
    arena_fini(&f->memory);
    free(f);
}

/* ---- matching ---- */

static const char *kind_name(enum snapshot_kind kind)
{
    switch (kind) {
    case SNAPSHOT_VIEW:
        return "view";
    case SNAPSHOT_ACTIVE:
        return "active";
    case SNAPSHOT_COMMITTED:
        return "committed";
    }
    return "unknown";
}

/* Whether it has the field, and with which value. */
static bool value_of(const struct filter_selector *s, const struct snapshot_event *e,
                     struct str *ret)
{
    *ret = STR("");
    switch (s->field) {
    case FIELD_NAME:
        *ret = e->name;
        return true;
    case FIELD_PARENT:
        *ret = e->parent;
        return true;
    case FIELD_KIND:
        *ret = str_of(kind_name(e->kind));
        return true;
    case FIELD_LABEL:
        for (size_t i = 0; i < e->n_labels; i++)
            if (str_eq(e->labels[i].key, s->key)) {
                *ret = e->labels[i].value;
                return true;
            }
        return false;
    case FIELD_OTHER:
        break;
    }
    return false;
}

static bool holds(const struct filter_selector *s, const struct snapshot_event *e)
{
    struct str value;
    bool is_there = value_of(s, e, &value);
    switch (s->test) {
    case TEST_PRESENT:
        return is_there;
    case TEST_EQUAL:
        return is_there && str_eq(value, s->value);
    case TEST_OTHER:
        return !str_eq(value, s->value);
    }
    return false;
}

bool snapshot_filter_matches(const struct snapshot_filter *f, const struct snapshot_event *e)
{
    for (size_t i = 0; i < f->n; i++) {
        size_t k = 0;
        while (k < f->all[i].n && holds(&f->all[i].p[k], e))
            k++;
        if (k == f->all[i].n)
            return true;
    }
    return f->n == 0;
}
