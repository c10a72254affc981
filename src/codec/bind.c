/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to struct and back; see bind.h. Order: problems, values, objects, writing. */
#include "codec/bind.h"

#include <assert.h>
#include <math.h>

/* NOTHING: the result of readers for a value that counts as missing. */
enum { NOTHING = 1, NAME_SHOWN_MAX = 80, TEXT_MAX_BYTES = 1024 };

const struct bind_field bind_text = { .kind = BIND_KIND_STR };

/* ---- problems ---- */

static void add_shown(struct buf *to, struct str s)
{
    for (size_t i = 0; i < s.n && i < NAME_SHOWN_MAX; i++) {
        unsigned char c = (unsigned char)s.p[i];
        (void)buf_add_char(to, c < ' ' || c == 0x7f ? '?' : (char)c);
    }
}

static void add_path(struct buf *to, const struct fpath *at)
{
    if (!at)
        return;
    add_path(to, at->up);
    if (at->kind == FPATH_INDEX) {
        (void)buf_printf(to, "[%zu]", at->index);
        return;
    }
    (void)buf_add_cstr(to, at->kind == FPATH_KEY ? "[" : to->n ? "." : "");
    add_shown(to, at->name);
    (void)buf_add_cstr(to, at->kind == FPATH_KEY ? "]" : "");
}

void bind_path(const struct bind *b, char ret[BIND_PATH_MAX_BYTES])
{
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(JSON_MAX_DEPTH * (NAME_SHOWN_MAX + 24));
    add_path(&path, b->at);
    size_t n = MIN(path.n, (size_t)BIND_PATH_MAX_BYTES - 1);
    memcpy(ret, buf_cstr(&path), n);
    ret[n] = 0;
}

int bind_report(struct bind *b, const struct bind_problem *p)
{
    char path[BIND_PATH_MAX_BYTES];
    bind_path(b, path);
    const char *where = path[0] || !b->root ? path : b->root;
    return err_set(b->err, p->code, "%s%s%s", where,
                   !where[0]    ? ""
                   : b->between ? b->between
                                : ": ",
                   p->text);
}

__attribute__((format(printf, 3, 0))) static int report(struct bind *b, struct bind_problem p,
                                                        const char *fmt, va_list ap)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX_BYTES);
    (void)buf_vprintf(&text, fmt, ap);
    p.text = buf_cstr(&text);
    int r = b->report ? b->report(b, &p) : bind_report(b, &p);
    assert(r <= 0);
    return r;
}

int bind_fail(struct bind *b, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int r = report(b, (struct bind_problem){ .fault = BIND_FAILED, .code = code }, fmt, ap);
    va_end(ap);
    return r;
}

int bind_fail_in(struct bind *b, const char *member, int code, const char *fmt, ...)
{
    const struct fpath *here = b->at, child = fpath_child(here, str_of(member));
    va_list ap;
    b->at = &child;
    va_start(ap, fmt);
    int r = report(b, (struct bind_problem){ .fault = BIND_FAILED, .code = code }, fmt, ap);
    va_end(ap);
    b->at = here;
    return r;
}

/* Report a value that the field cannot take. */
static int refuse(struct bind *b, enum bind_fault fault, const struct bind_field *f,
                  const struct json *v, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static int refuse(struct bind *b, enum bind_fault fault, const struct bind_field *f,
                  const struct json *v, const char *fmt, ...)
{
    if (f && f->flags & BIND_LAX)
        return NOTHING;
    bool is_limit = fault == BIND_TOO_LONG || fault == BIND_TOO_MANY;
    const struct bind_problem p = { fault, is_limit ? E_LIMIT : E_INVALID, f, v, NULL };
    va_list ap;
    va_start(ap, fmt);
    int r = report(b, p, fmt, ap);
    va_end(ap);
    return r < 0 ? r : NOTHING;
}

static int wrong_type(struct bind *b, const struct bind_field *f, const struct json *v,
                      const char *wanted)
{
    return refuse(b, BIND_WRONG_TYPE, f, v, "must be %s", wanted);
}

/* ---- values ---- */

static int64_t get_int(const void *at, size_t size, bool is_signed)
{
    if (is_signed)
        return size == 1   ? *(const int8_t *)at
               : size == 2 ? *(const int16_t *)at
               : size == 4 ? *(const int32_t *)at
                           : *(const int64_t *)at;
    return size == 1   ? *(const uint8_t *)at
           : size == 2 ? *(const uint16_t *)at
           : size == 4 ? *(const uint32_t *)at
                       : (int64_t)MIN(*(const uint64_t *)at, (uint64_t)INT64_MAX);
}

static void put_int(void *at, size_t size, int64_t n)
{
    switch (size) {
    case 1:
        *(uint8_t *)at = (uint8_t)n;
        return;
    case 2:
        *(uint16_t *)at = (uint16_t)n;
        return;
    case 4:
        *(uint32_t *)at = (uint32_t)n;
        return;
    }
    assert(size == 8);
    *(uint64_t *)at = (uint64_t)n;
}

static int read_int(struct bind *b, const struct bind_field *f, const struct json *v, void *at)
{
    bool is_signed = f->kind == BIND_KIND_INT;
    unsigned bits = f->size * 8u - is_signed;
    int64_t most = bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
    int64_t max = f->max ? MIN(f->max, most) : most;
    int64_t min = !is_signed || f->max ? f->min : -most - 1, n = 0;
    if (!json_is(v, JSON_NUMBER) || json_int(v, &n) < 0)
        return wrong_type(b, f, v, "an integer");
    if (n < min || n > max)
        return refuse(b, BIND_OUT_OF_RANGE, f, v, "must be from %lld to %lld", (long long)min,
                      (long long)max);
    put_int(at, f->size, n);
    return 0;
}

static int read_float(struct bind *b, const struct bind_field *f, const struct json *v, void *at)
{
    double n = 0;
    if (!json_is(v, JSON_NUMBER) || json_float(v, &n) < 0 || !isfinite(n))
        return wrong_type(b, f, v, "a number");
    *(double *)at = n;
    return 0;
}

static struct str keep(const struct bind *b, struct str s)
{
    return b->mode & BIND_COPIES ? str_copy_arena(b->arena, s) : s;
}

static int read_str(struct bind *b, const struct bind_field *f, const struct json *v, void *at)
{
    if (!json_is(v, JSON_STRING))
        return wrong_type(b, f, v, "a string");
    if (v->s.n < (size_t)f->min)
        return v->s.n == 0
                   ? refuse(b, BIND_EMPTY, f, v, "must not be empty")
                   : refuse(b, BIND_EMPTY, f, v, "is shorter than %lld bytes", (long long)f->min);
    if (f->max && v->s.n > (size_t)f->max)
        return refuse(b, BIND_TOO_LONG, f, v, "is longer than %lld bytes", (long long)f->max);
    if (v->s.n && memchr(v->s.p, 0, v->s.n))
        return refuse(b, BIND_HAS_NUL, f, v, "contains a NUL");
    *(struct str *)at = keep(b, v->s);
    return 0;
}

static int no_such_name(struct bind *b, const struct bind_field *f, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(TEXT_MAX_BYTES);
    size_t last = f->n_names - 1;
    bool is_first = true;
    while (last > 0 && !f->names[last])
        last--;
    for (size_t i = 0; i <= last; i++) {
        if (!f->names[i])
            continue;
        (void)buf_printf(&all, "%s'%s'", is_first ? "" : i < last ? ", " : " or ", f->names[i]);
        is_first = false;
    }
    return refuse(b, BIND_NO_SUCH_NAME, f, v, "must be %s", buf_cstr(&all));
}

static int read_enum(struct bind *b, const struct bind_field *f, const struct json *v, void *at)
{
    for (size_t i = 0; json_is(v, JSON_STRING) && i < f->n_names; i++)
        if (f->names[i] && str_is(v->s, f->names[i])) {
            put_int(at, f->size, (int64_t)i);
            return 0;
        }
    return no_such_name(b, f, v);
}

static int read_members(struct bind *b, const struct bind_table *t, const struct json *v, void *to);

static void preset(const struct bind_table *t, void *to)
{
    if (t && t->preset)
        memcpy(to, t->preset, t->size);
}

static int read_object(struct bind *b, const struct bind_field *f, const struct json *v, void *at)
{
    return json_is(v, JSON_OBJECT) ? read_members(b, f->of, v, at)
                                   : wrong_type(b, f, v, "an object");
}

static int read_pointer(struct bind *b, const struct bind_field *f, const struct json *v, void *at)
{
    if (!json_is(v, JSON_OBJECT))
        return wrong_type(b, f, v, "an object");
    void *to = *(void **)at = arena_alloc(b->arena, f->of->size);
    preset(f->of, to);
    return read_members(b, f->of, v, to);
}

static int read_item(struct bind *b, const struct bind_field *f, const struct json *v, char *to)
{
    if (f->item)
        return bind_read_value(b, f->item, v, to + f->item->at);
    preset(f->of, to);
    return read_object(b, f, v, to);
}

/* The number of elements is updated after each, so that checks see the earlier ones. */
static int read_list(struct bind *b, const struct bind_field *f, const struct json *v, void *at,
                     void *n_at)
{
    bool is_map = f->kind == BIND_KIND_MAP;
    const struct fpath *here = b->at;
    size_t n = 0;
    int r = 0;
    assert(f->max > 0 && f->n_size);
    if (!json_is(v, is_map ? JSON_OBJECT : JSON_ARRAY))
        return wrong_type(b, f, v, is_map ? "an object" : "an array");
    if (v->n > (uint64_t)f->max)
        return refuse(b, BIND_TOO_MANY, f, v, "has more than %lld entries", (long long)f->max);
    char *p = at;
    if (!(f->flags & BIND_FIXED))
        *(void **)at = p = arena_alloc_n(b->arena, f->stride, v->n ? v->n : 1);
    put_int(n_at, f->n_size, 0);
    json_each (child, v) {
        const struct fpath path = is_map ? fpath_child(here, child->key) : fpath_index(here, n);
        char *to = p + n * f->stride;
        b->at = &path;
        if (is_map)
            *(struct str *)(to + f->key_at) = keep(b, child->key);
        r = read_item(b, f, child, to);
        b->at = here;
        if (r < 0)
            return r;
        put_int(n_at, f->n_size, (int64_t)++n);
    }
    return 0;
}

/* 0, NOTHING, or a code. n_at: of a list. */
static int read_value(struct bind *b, const struct bind_field *f, const struct json *v, void *at,
                      void *n_at)
{
    int r = 0;
    if (v->type == JSON_NULL && b->mode & BIND_NULL_NONE && f->kind != BIND_KIND_JSON)
        return NOTHING;
    switch (f->kind) {
    case BIND_KIND_BOOL:
        r = json_is_bool(v) ? 0 : wrong_type(b, f, v, "true or false");
        if (r == 0)
            *(bool *)at = json_bool(v);
        break;
    case BIND_KIND_INT:
    case BIND_KIND_UINT:
        r = read_int(b, f, v, at);
        break;
    case BIND_KIND_FLOAT:
        r = read_float(b, f, v, at);
        break;
    case BIND_KIND_STR:
        r = read_str(b, f, v, at);
        break;
    case BIND_KIND_ENUM:
        r = read_enum(b, f, v, at);
        break;
    case BIND_KIND_JSON:
        *(const struct json **)at = v;
        break;
    case BIND_KIND_OBJECT:
        r = read_object(b, f, v, at);
        break;
    case BIND_KIND_POINTER:
        r = read_pointer(b, f, v, at);
        break;
    case BIND_KIND_ARRAY:
    case BIND_KIND_MAP:
        r = read_list(b, f, v, at, n_at);
        break;
    case BIND_KIND_CUSTOM:
        r = f->read(b, f, v, at);
        break;
    }
    return r || !f->check ? r : f->check(b, v, at);
}

int bind_read_value(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    assert(f->kind != BIND_KIND_ARRAY && f->kind != BIND_KIND_MAP);
    int r = read_value(b, f, v, to, NULL);
    return r == NOTHING ? 0 : r;
}

/* ---- objects ---- */

static int read_field(struct bind *b, const struct bind_field *f, const struct json *v, char *to)
{
    const struct fpath *here = b->at, child = fpath_child(here, f->name);
    b->at = &child;
    int r = read_value(b, f, v, to + f->at, to + f->n_at);
    b->at = here;
    if (r == 0 && f->has_at)
        *(bool *)(to + f->has_at - 1) = true;
    return r == NOTHING ? 0 : r;
}

static int unknown_member(struct bind *b, const struct json *v)
{
    const struct fpath *here = b->at, child = fpath_child(here, v->key);
    b->at = &child;
    int r = refuse(b, BIND_UNKNOWN, NULL, v, "there is no such member");
    b->at = here;
    return r;
}

static int missing_member(struct bind *b, const struct bind_field *f)
{
    const struct fpath *here = b->at, child = fpath_child(here, f->name);
    b->at = &child;
    int r = refuse(b, BIND_MISSING, NULL, NULL, "is missing");
    b->at = here;
    return r;
}

static inline bool is_name(const struct bind_field *f, struct str name)
{
    return f->name.n == name.n && memcmp(f->name.p, name.p, name.n) == 0;
}

/* Search from `from` on, wrapping around; t->n: no field has the name. */
static inline size_t find(const struct bind_table *t, struct str name, size_t from)
{
    for (size_t i = from; i < t->n; i++)
        if (is_name(&t->fields[i], name))
            return i;
    for (size_t i = 0; i < from; i++)
        if (is_name(&t->fields[i], name))
            return i;
    return t->n;
}

void bind_pick(const struct bind_table *t, const struct json *v, void *to)
{
    size_t next = 0;
    if (!json_is(v, JSON_OBJECT))
        return;
    json_each (m, v) {
        size_t i = find(t, m->key, next);
        if (i == t->n)
            continue;
        assert(t->fields[i].kind == BIND_KIND_JSON);
        *(const struct json **)((char *)to + t->fields[i].at) = m;
        next = i + 1;
    }
}

/* Check the required fields, then read those with BIND_LATER. */
static int read_rest(struct bind *b, const struct bind_table *t, const struct json *v, char *to,
                     uint64_t seen)
{
    int r = 0;
    for (size_t i = 0; i < t->n && r >= 0; i++)
        if (t->fields[i].flags & BIND_REQUIRED && !(seen >> i & 1))
            r = missing_member(b, &t->fields[i]);
    for (size_t i = 0; i < t->n && r >= 0; i++)
        if (t->fields[i].flags & BIND_LATER && seen >> i & 1)
            r = read_field(b, &t->fields[i], json_get(v, t->fields[i].name), to);
    return r;
}

static int read_members(struct bind *b, const struct bind_table *t, const struct json *v, void *to)
{
    uint64_t seen = 0;
    size_t next = 0;
    int r;
    assert(t->n <= BIND_FIELDS_MAX);
    json_each (m, v) {
        size_t i = find(t, m->key, next);
        if (i == t->n) {
            if (!(b->mode & BIND_STRICT))
                continue;
            r = unknown_member(b, m);
            if (r < 0)
                return r;
            continue;
        }
        const struct bind_field *f = &t->fields[i];
        next = i + 1;
        seen |= UINT64_C(1) << i;
        r = f->flags & BIND_LATER ? 0 : read_field(b, f, m, to);
        if (r < 0)
            return r;
    }
    r = read_rest(b, t, v, to, seen);
    return r < 0 || !t->check ? r : t->check(b, v, to);
}

int bind_read(struct bind *b, const struct bind_table *t, const struct json *v, void *to)
{
    int r =
        json_is(v, JSON_OBJECT) ? read_members(b, t, v, to) : wrong_type(b, NULL, v, "an object");
    return r == NOTHING ? 0 : r;
}

/* ---- writing ---- */

static struct json *write_object(struct arena *a, const struct bind_table *t, const char *from,
                                 const char *preset);

static struct json *write_scalar(struct arena *a, const struct bind_field *f, const char *at)
{
    switch (f->kind) {
    case BIND_KIND_BOOL:
        return json_new_bool(a, *(const bool *)at);
    case BIND_KIND_INT:
    case BIND_KIND_UINT:
        return json_new_int(a, get_int(at, f->size, f->kind == BIND_KIND_INT));
    case BIND_KIND_FLOAT:
        return json_new_float(a, *(const double *)at);
    case BIND_KIND_STR:
        return json_new_str(a, *(const struct str *)at);
    case BIND_KIND_ENUM: {
        uint64_t i = (uint64_t)get_int(at, f->size, false);
        assert(i < f->n_names);
        return f->names[i] ? json_new_cstr(a, f->names[i]) : NULL;
    }
    case BIND_KIND_JSON: {
        const struct json *v = *(const struct json *const *)at;
        return v ? json_copy(a, v) : NULL;
    }
    case BIND_KIND_POINTER: {
        const void *p = *(const void *const *)at;
        return p ? bind_write(a, f->of, p) : NULL;
    }
    case BIND_KIND_CUSTOM:
        return f->write ? f->write(a, f, at) : NULL;
    case BIND_KIND_OBJECT:
    case BIND_KIND_ARRAY:
    case BIND_KIND_MAP:
        break;
    }
    assert(false && "a scalar");
    return NULL;
}

static struct json *write_list(struct arena *a, const struct bind_field *f, const char *at,
                               uint64_t n)
{
    bool is_map = f->kind == BIND_KIND_MAP;
    struct json *list = is_map ? json_new_object(a) : json_new_array(a);
    const char *p = f->flags & BIND_FIXED ? at : *(const char *const *)at;
    for (uint64_t i = 0; i < n; i++, p += f->stride) {
        struct json *v =
            f->item ? write_scalar(a, f->item, p + f->item->at) : bind_write(a, f->of, p);
        if (v && is_map)
            json_add_member(list, *(const struct str *)(p + f->key_at), v);
        else if (v)
            json_add(list, v);
    }
    return list;
}

/* Whether the field has the value that it keeps when the member is missing. preset: the same field
 * in the preset; NULL: zero. */
static bool is_preset(const struct bind_field *f, const char *at, const char *preset)
{
    switch (f->kind) {
    case BIND_KIND_BOOL:
        return *(const bool *)at == (preset && *(const bool *)preset);
    case BIND_KIND_INT:
    case BIND_KIND_UINT:
    case BIND_KIND_ENUM: {
        bool is_signed = f->kind == BIND_KIND_INT;
        return get_int(at, f->size, is_signed) ==
               (preset ? get_int(preset, f->size, is_signed) : 0);
    }
    case BIND_KIND_FLOAT:
        return *(const double *)at == (preset ? *(const double *)preset : 0);
    case BIND_KIND_STR:
        return str_eq(*(const struct str *)at, preset ? *(const struct str *)preset : STR_NULL);
    case BIND_KIND_JSON:
    case BIND_KIND_OBJECT:
    case BIND_KIND_POINTER:
    case BIND_KIND_ARRAY:
    case BIND_KIND_MAP:
    case BIND_KIND_CUSTOM:
        break;
    }
    return false;
}

static void write_field(struct arena *a, const struct bind_field *f, const char *from,
                        const char *preset, struct json *to)
{
    bool always = f->flags & BIND_ALWAYS || f->has_at;
    const char *before = preset ? preset + f->at : NULL;
    struct json *v;
    if (f->flags & BIND_NEVER || (f->has_at && !*(const bool *)(from + f->has_at - 1)) ||
        (!always && is_preset(f, from + f->at, before)))
        return;
    if (f->kind == BIND_KIND_OBJECT)
        v = write_object(a, f->of, from + f->at, before);
    else if (f->n_size)
        v = write_list(a, f, from + f->at, (uint64_t)get_int(from + f->n_at, f->n_size, false));
    else
        v = write_scalar(a, f, from + f->at);
    bool is_empty = (f->kind == BIND_KIND_OBJECT || f->n_size) && v->n == 0;
    if (v && (always || !is_empty))
        json_add_member(to, f->name, v);
}

static struct json *write_object(struct arena *a, const struct bind_table *t, const char *from,
                                 const char *preset)
{
    struct json *to = json_new_object(a);
    for (size_t i = 0; i < t->n; i++)
        write_field(a, &t->fields[i], from, preset, to);
    return to;
}

void bind_write_into(struct arena *a, const struct bind_table *t, const void *from, struct json *to)
{
    for (size_t i = 0; i < t->n; i++)
        write_field(a, &t->fields[i], from, t->preset, to);
}

struct json *bind_write(struct arena *a, const struct bind_table *t, const void *from)
{
    return write_object(a, t, from, t->preset);
}
