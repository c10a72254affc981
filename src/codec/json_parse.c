/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON text -> tree; see json.h.
 *
 * One pass without recursion: `levels` holds the containers that are open. Nodes come from the
 * arena in slabs. Whether an object repeats a key is not asked for every key: each level keeps a
 * 64-bit filter of key signatures, and only an object in which two signatures met is examined when
 * it closes, small ones by comparing all pairs, large ones through a seeded hash table.
 */
#include "codec/json.h"

#include "base/sys.h"
#include "codec/utf8.h"

#include <assert.h>
#include <errno.h>

enum {
    SLAB_MAX_NODES = 64,
    PAIRWISE_MAX_KEYS = 16,         /* objects up to this size are compared pair by pair */
    DUPLICATE_PATH_MAX_BYTES = 4096 /* longer paths are reported cut */
};

struct level {
    struct json *node;
    uint64_t filter; /* signatures of the keys so far */
    bool suspicious; /* two keys had the same signature */
};

struct parser {
    struct arena *arena;
    const char *start, *p, *end;
    const struct json_parse_opts *opts;
    struct err *err;
    struct json *slab;
    unsigned slab_left, slab_next;
    struct json **table; /* scratch of table_prepare(), reused */
    size_t table_cap, table_mask;
    uint64_t seed; /* 0: not drawn yet */
    unsigned depth, max_depth;
    struct level levels[JSON_MAX_DEPTH];
};

/* ---- failing ---- */

static int fail_at(struct parser *ps, const char *at, const char *what)
{
    size_t offset = (size_t)(at - ps->start);
    if (at >= ps->end)
        return err_set(ps->err, E_PARSE, "offset %zu: unexpected end of JSON input", offset);
    unsigned char c = (unsigned char)*at;
    if (c >= 0x20 && c < 0x7f)
        return err_set(ps->err, E_PARSE, "offset %zu: invalid character '%c' %s", offset, c, what);
    return err_set(ps->err, E_PARSE, "offset %zu: invalid byte 0x%02x %s", offset, c, what);
}

static int fail_memory(struct parser *ps)
{
    return err_set(ps->err, -EMSGSIZE, "offset %zu: JSON document too large",
                   (size_t)(ps->p - ps->start));
}

/* ---- nodes ---- */

static struct json *slab_refill(struct parser *ps)
{
    unsigned want = ps->slab_next;
    struct json *slab = arena_try(ps->arena, want * sizeof *slab);
    if (!slab) {
        want = 1;
        slab = arena_try(ps->arena, sizeof *slab);
        if (!slab)
            return NULL;
    }
    ps->slab = slab + 1;
    ps->slab_left = want - 1;
    ps->slab_next = MIN(ps->slab_next * 2, (unsigned)SLAB_MAX_NODES);
    return slab;
}

/* Zeroed; NULL past the arena's limit. */
static inline struct json *new_node(struct parser *ps)
{
    if (ps->slab_left == 0)
        return slab_refill(ps);
    ps->slab_left--;
    return ps->slab++;
}

/* ---- repeated keys ---- */

static inline uint64_t key_signature(struct str key)
{
    uint8_t first = key.n ? (uint8_t)key.p[0] : 0, last = key.n ? (uint8_t)key.p[key.n - 1] : 0;
    uint8_t middle = key.n ? (uint8_t)key.p[key.n / 2] : 0;
    return UINT64_C(1) << ((first * 7u + middle * 13u + last * 29u + key.n * 5u) & 63);
}

static void report_duplicate(struct parser *ps, struct str key)
{
    if (!ps->opts || !ps->opts->on_duplicate)
        return;
    struct buf path = BUF_INIT(DUPLICATE_PATH_MAX_BYTES);
    for (unsigned i = 1; i < ps->depth; i++) {
        const struct json *node = ps->levels[i].node, *parent = ps->levels[i - 1].node;
        if (parent->type == JSON_ARRAY) {
            (void)buf_printf(&path, "[%u]", parent->n - 1);
            continue;
        }
        if (path.n)
            (void)buf_add_char(&path, '.');
        (void)buf_add_str(&path, node->key);
    }
    if (path.n)
        (void)buf_add_char(&path, '.');
    (void)buf_add_str(&path, key);
    ps->opts->on_duplicate(ps->opts->arg, buf_str(&path));
    buf_fini(&path);
}

/* `again` repeats the key of `first`: its value wins, at the place of the first. */
static void merge_duplicate(struct parser *ps, struct json *first, struct json *again)
{
    report_duplicate(ps, again->key);
    first->type = again->type;
    first->n = again->n;
    first->s = again->s; /* both arms of the union have this size */
    _Static_assert(sizeof(((struct json *)0)->s) == 2 * sizeof(struct json *), "union arms");
}

static struct json *find_before(const struct json *obj, const struct json *at)
{
    for (struct json *c = obj->first; c != at; c = c->next)
        if (str_eq(c->key, at->key))
            return c;
    return NULL;
}

static int table_prepare(struct parser *ps, size_t n)
{
    size_t cap = 64;
    while (cap < n * 2)
        cap *= 2;
    if (cap > ps->table_cap) {
        free(ps->table);
        ps->table_cap = 0;
        ps->table = mem_try(cap * sizeof *ps->table);
        if (!ps->table)
            return fail_memory(ps);
        ps->table_cap = cap;
    }
    if (ps->seed == 0)
        ps->seed = sys_random_u64() | 1;
    ps->table_mask = cap - 1; /* of this object, whatever the size of the largest so far */
    memset(ps->table, 0, cap * sizeof *ps->table);
    return 0;
}

/* The earlier member with the key of `at`, or NULL after entering `at`. */
static struct json *table_find_or_enter(struct parser *ps, struct json *at)
{
    size_t i = str_hash(at->key, ps->seed) & ps->table_mask;
    for (; ps->table[i]; i = (i + 1) & ps->table_mask)
        if (str_eq(ps->table[i]->key, at->key))
            return ps->table[i];
    ps->table[i] = at;
    return NULL;
}

static int resolve_duplicates(struct parser *ps, struct json *obj)
{
    bool hashed = obj->n > PAIRWISE_MAX_KEYS;
    if (hashed) {
        int r = table_prepare(ps, obj->n);
        if (r < 0)
            return r;
    }
    struct json *prev = NULL, *next;
    for (struct json *c = obj->first; c; c = next) {
        next = c->next;
        struct json *first = hashed ? table_find_or_enter(ps, c) : find_before(obj, c);
        if (!first) {
            prev = c;
            continue;
        }
        merge_duplicate(ps, first, c);
        prev->next = next; /* a repeated key is never the first member */
        obj->n--;
    }
    obj->last = prev;
    return 0;
}

/* ---- strings ---- */

static inline bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Four hexadecimal digits that string_end() has seen. */
static uint32_t hex4(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t d = (uint32_t)(uint8_t)p[i];
        v = v << 4 | (d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    return v;
}

/* Bytes up to the next quote, backslash, control character or byte that is not ASCII. */
static inline const char *skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t match = swar_json_special(swar_load(p));
        if (match)
            return p + swar_first(match);
        p += 8;
    }
    while (p < end && (uint8_t)*p >= 0x20 && (uint8_t)*p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* As skip_plain(), and over well-formed UTF-8. */
static inline const char *skip_text(const char *p, const char *end)
{
    for (;;) {
        p = skip_plain(p, end);
        if (p == end || (uint8_t)*p < 0x80)
            return p;
        size_t len = utf8_decode(p, (size_t)(end - p), NULL);
        if (len == 0)
            return p;
        p += len;
    }
}

/* Check the rest of a string from p on; *ret is its closing quote, *ret_bad the malformed bytes. */
static int string_end(struct parser *ps, const char *p, const char **ret, size_t *ret_bad)
{
    size_t bad = 0;
    for (;;) {
        p = skip_text(p, ps->end);
        if (p == ps->end)
            return fail_at(ps, p, "in string literal");
        if (*p == '"')
            break;
        if ((uint8_t)*p < 0x20)
            return fail_at(ps, p, "in string literal");
        if (*p != '\\') {
            bad++;
            p++;
            continue;
        }
        if (++p == ps->end || !memchr("\"\\/bfnrtu", *p, 9))
            return fail_at(ps, p, "in string escape code");
        if (*p++ != 'u')
            continue;
        for (int i = 0; i < 4; i++, p++)
            if (p == ps->end || !is_hex(*p))
                return fail_at(ps, p, "in \\u hexadecimal character escape");
    }
    *ret = p;
    *ret_bad = bad;
    return 0;
}

/* Decode the escape at *pp (after the backslash), which string_end() has checked. */
static char *unescape(const char **pp, const char *end, char *out)
{
    const char *p = *pp;
    char c = *p++;
    if (c != 'u') {
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *at = strchr(from, c);
        *out++ = at ? to[at - from] : c;
        *pp = p;
        return out;
    }
    uint32_t cp = hex4(p);
    p += 4;
    if (cp >= 0xd800 && cp <= 0xdfff) {
        uint32_t low = cp < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : 0;
        if (low >= 0xdc00 && low <= 0xdfff) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        } else {
            cp = 0xfffd;
        }
    }
    *pp = p;
    return out + utf8_encode(out, cp);
}

/* The string from `start` (after its quote), of which everything before `at` is plain. */
static int string_decode(struct parser *ps, const char *start, const char *at, struct str *ret)
{
    const char *close = NULL;
    size_t bad = 0, bytes;
    int r = string_end(ps, at, &close, &bad);
    if (r < 0)
        return r;
    /* An escape is never shorter than what it stands for; a malformed byte becomes three. */
    if (size_mul(bad, 2, &bytes) || size_add(bytes, (size_t)(close - start), &bytes))
        return fail_memory(ps);
    char *text = arena_try(ps->arena, bytes);
    if (!text)
        return fail_memory(ps);
    char *out = text;
    const char *p = start;
    for (;;) {
        const char *stop = skip_text(p, close);
        memcpy(out, p, (size_t)(stop - p));
        out += stop - p;
        p = stop;
        if (p == close)
            break;
        if (*p == '\\') {
            p++;
            out = unescape(&p, close, out);
        } else {
            memcpy(out, UTF8_REPLACEMENT, 3);
            out += 3;
            p++;
        }
    }
    assert((size_t)(out - text) <= bytes);
    *ret = (struct str){ text, (size_t)(out - text) };
    ps->p = close + 1;
    return 0;
}

/* At the opening quote; leaves ps->p after the closing one. */
static inline int parse_string(struct parser *ps, struct str *ret)
{
    const char *start = ps->p + 1;
    const char *stop = skip_text(start, ps->end);
    if (stop == ps->end || *stop != '"')
        return string_decode(ps, start, stop, ret);
    *ret = (struct str){ start, (size_t)(stop - start) };
    ps->p = stop + 1;
    return 0;
}

/* ---- scalars ---- */

static inline bool is_digit(const struct parser *ps, const char *p)
{
    return p < ps->end && (uint8_t)(*p - '0') < 10;
}

static inline const char *skip_digits(const struct parser *ps, const char *p)
{
    while (is_digit(ps, p))
        p++;
    return p;
}

static inline int parse_number(struct parser *ps, struct str *ret)
{
    const char *p = ps->p;
    if (*p == '-')
        p++;
    if (!is_digit(ps, p))
        return fail_at(ps, p, "in numeric literal");
    p = *p == '0' ? p + 1 : skip_digits(ps, p);
    if (p < ps->end && *p == '.') {
        if (!is_digit(ps, ++p))
            return fail_at(ps, p, "after decimal point in numeric literal");
        p = skip_digits(ps, p);
    }
    if (p < ps->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < ps->end && (*p == '+' || *p == '-'))
            p++;
        if (!is_digit(ps, p))
            return fail_at(ps, p, "in exponent of numeric literal");
        p = skip_digits(ps, p);
    }
    *ret = (struct str){ ps->p, (size_t)(p - ps->p) };
    ps->p = p;
    return 0;
}

static int parse_word(struct parser *ps, struct str word)
{
    for (size_t i = 0; i < word.n; i++, ps->p++)
        if (ps->p == ps->end || *ps->p != word.p[i])
            return fail_at(ps, ps->p, "in literal");
    return 0;
}

/* ---- structure ---- */

static inline void skip_blanks(struct parser *ps)
{
    const char *p = ps->p;
    while (p < ps->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    ps->p = p;
}

static int open_container(struct parser *ps, struct json *node)
{
    if (ps->depth == ps->max_depth)
        return err_set(ps->err, E_PARSE, "offset %zu: nested deeper than %u levels",
                       (size_t)(ps->p - ps->start), ps->max_depth);
    ps->levels[ps->depth++] = (struct level){ .node = node };
    ps->p++;
    return 0;
}

static int close_container(struct parser *ps)
{
    struct level *top = &ps->levels[ps->depth - 1];
    ps->p++;
    int r = top->suspicious ? resolve_duplicates(ps, top->node) : 0;
    ps->depth--;
    return r;
}

/* The value at ps->p into node; a container is only opened. */
static int parse_value(struct parser *ps, struct json *node)
{
    if (ps->p == ps->end)
        return fail_at(ps, ps->p, "");
    switch (*ps->p) {
    case '{':
        node->type = JSON_OBJECT;
        return open_container(ps, node);
    case '[':
        node->type = JSON_ARRAY;
        return open_container(ps, node);
    case '"':
        node->type = JSON_STRING;
        return parse_string(ps, &node->s);
    case 't':
        node->type = JSON_TRUE;
        return parse_word(ps, STR("true"));
    case 'f':
        node->type = JSON_FALSE;
        return parse_word(ps, STR("false"));
    case 'n':
        node->type = JSON_NULL;
        return parse_word(ps, STR("null"));
    case '-':
    case '0' ... '9':
        node->type = JSON_NUMBER;
        return parse_number(ps, &node->s);
    default:
        return fail_at(ps, ps->p, "looking for beginning of value");
    }
}

static int parse_key(struct parser *ps, struct level *top, struct json *node)
{
    if (ps->p == ps->end || *ps->p != '"')
        return fail_at(ps, ps->p, "looking for beginning of object key string");
    int r = parse_string(ps, &node->key);
    if (r < 0)
        return r;
    uint64_t bit = key_signature(node->key);
    if (top->filter & bit)
        top->suspicious = true;
    top->filter |= bit;
    skip_blanks(ps);
    if (ps->p == ps->end || *ps->p != ':')
        return fail_at(ps, ps->p, "after object key");
    ps->p++;
    skip_blanks(ps);
    return 0;
}

/* Append a new child to the open container and parse it. */
static int parse_child(struct parser *ps, struct level *top)
{
    struct json *node = new_node(ps);
    if (!node)
        return fail_memory(ps);
    if (top->node->type == JSON_OBJECT) {
        int r = parse_key(ps, top, node);
        if (r < 0)
            return r;
    }
    if (top->node->last)
        top->node->last->next = node;
    else
        top->node->first = node;
    top->node->last = node;
    top->node->n++;
    return parse_value(ps, node);
}

/* One step in the innermost open container: its end, or its next child. */
static int parse_step(struct parser *ps)
{
    struct level *top = &ps->levels[ps->depth - 1];
    bool is_object = top->node->type == JSON_OBJECT;
    skip_blanks(ps);
    if (ps->p < ps->end && *ps->p == (is_object ? '}' : ']'))
        return close_container(ps);
    if (top->node->n > 0) {
        if (ps->p == ps->end || *ps->p != ',')
            return fail_at(ps, ps->p,
                           is_object ? "after object key:value pair" : "after array element");
        ps->p++;
        skip_blanks(ps);
    }
    return parse_child(ps, top);
}

static int parse_document(struct parser *ps, struct json **ret)
{
    struct json *root = new_node(ps);
    if (!root)
        return fail_memory(ps);
    skip_blanks(ps);
    int r = parse_value(ps, root);
    while (r >= 0 && ps->depth > 0)
        r = parse_step(ps);
    if (r < 0)
        return r;
    skip_blanks(ps);
    if (ps->p != ps->end)
        return fail_at(ps, ps->p, "after top-level value");
    *ret = root;
    return 0;
}

int json_parse(struct arena *a, struct str text, const struct json_parse_opts *opts,
               struct json **ret, struct err *err)
{
    if (text.n > UINT32_MAX)
        return err_set(err, -EMSGSIZE, "JSON document too large");
    struct parser ps; /* levels stay uninitialised: only those below depth are read */
    ps.arena = a;
    ps.start = ps.p = text.p ? text.p : "";
    ps.end = ps.start + text.n;
    ps.opts = opts;
    ps.err = err;
    ps.slab = NULL;
    ps.slab_left = 0;
    ps.slab_next = text.n < 256 ? 4 : 16;
    ps.table = NULL;
    ps.table_cap = 0;
    ps.seed = 0;
    ps.depth = 0;
    ps.max_depth =
        opts && opts->max_depth ? MIN(opts->max_depth, (unsigned)JSON_MAX_DEPTH) : JSON_MAX_DEPTH;
    int r = parse_document(&ps, ret);
    free(ps.table);
    return r;
}
