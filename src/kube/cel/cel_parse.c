/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent parser from text to a tree; see cel.h. */
#include "kube/cel/cel_int.h"

#include "base/buf.h"
#include "codec/json.h"
#include "codec/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct cel_parser {
    struct arena *a;
    struct str text;
    size_t at; /* of the current token */
    unsigned depth;
    struct cel_flaw *flaw;
    int r; /* E_PARSE: there is an error */
};

static const struct cel_expr *parse_expr(struct cel_parser *p);

/* ------------------------------------------------------------------ errors */

void cel_fail_at(struct arena *a, struct cel_flaw *ret, struct str text, size_t at, const char *fmt,
                 ...)
{
    size_t line = 1, begin = 0, end;
    struct buf b = BUF_INIT(CEL_MAX_BYTES * 4);
    va_list ap;
    for (size_t i = 0; i < at && i < text.n; i++) {
        if (text.p[i] == '\n') {
            line++;
            begin = i + 1;
        }
    }
    for (end = begin; end < text.n && text.p[end] != '\n';)
        end++;
    (void)buf_printf(&b, "ERROR: <input>:%zu:%zu: ", line, at - begin + 1);
    va_start(ap, fmt);
    (void)buf_vprintf(&b, fmt, ap);
    va_end(ap);
    (void)buf_printf(&b, "\n | " STR_FMT "\n | ", STR_ARG(str_slice(text, begin, end)));
    for (size_t i = begin; i < at; i++)
        (void)buf_add_char(&b, '.');
    (void)buf_add_char(&b, '^');
    ret->text = str_dup_arena(a, buf_str(&b));
    buf_fini(&b);
}

static const struct cel_expr *fail(struct cel_parser *p, const char *what)
{
    if (p->r == 0)
        cel_fail_at(p->a, p->flaw, p->text, p->at, "Syntax error: %s", what);
    p->r = E_PARSE;
    return NULL;
}

/* An error in the words of upstream's parser. */
static const struct cel_expr *unexpected(struct cel_parser *p, const char *wanted)
{
    bool end = p->at >= p->text.n;
    return fail(p, arena_printf(p->a, "mismatched input '%.*s' expecting %s", end ? 5 : 1,
                                end ? "<EOF>" : p->text.p + p->at, wanted));
}

#define PRIMARY                                                                                    \
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "       \
    "STRING, BYTES, IDENTIFIER}"

/* ------------------------------------------------------------------ characters */

static int peek(const struct cel_parser *p, size_t ahead)
{
    return p->at + ahead < p->text.n ? (unsigned char)p->text.p[p->at + ahead] : 0;
}

static void skip_blanks(struct cel_parser *p)
{
    for (;;) {
        int c = peek(p, 0);
        if (c == '/' && peek(p, 1) == '/') {
            while (p->at < p->text.n && peek(p, 0) != '\n')
                p->at++;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            p->at++;
        } else {
            return;
        }
    }
}

/* Consume this token if it is next. */
static bool take(struct cel_parser *p, const char *token)
{
    struct str t = str_of(token);
    if (!str_has_prefix(str_slice(p->text, p->at, p->text.n), t))
        return false;
    p->at += t.n;
    skip_blanks(p);
    return true;
}

static bool expect(struct cel_parser *p, const char *token)
{
    if (p->r == 0 && take(p, token))
        return true;
    (void)unexpected(p, arena_printf(p->a, "'%s'", token));
    return false;
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(int c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct str take_name(struct cel_parser *p)
{
    size_t from = p->at;
    while (is_letter(peek(p, 0)) || (p->at > from && is_digit(peek(p, 0))))
        p->at++;
    struct str s = str_slice(p->text, from, p->at);
    skip_blanks(p);
    return s;
}

static bool is_reserved(struct str s)
{
    static const char *const words[] = { "in",   "as",   "break",    "const",     "continue",
                                         "else", "for",  "function", "if",        "import",
                                         "let",  "loop", "package",  "namespace", "return",
                                         "var",  "void", "while" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(s, words[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------ nodes */

static struct cel_expr *node(struct cel_parser *p, enum cel_op op, size_t at, size_t n_args)
{
    struct cel_expr *e = arena_new(p->a, struct cel_expr);
    *e = (struct cel_expr){ .op = (uint8_t)op, .at = (uint32_t)at, .n = (uint32_t)n_args };
    if (n_args)
        e->args = arena_new_n(p->a, const struct cel_expr *, n_args);
    return e;
}

/*
 * Finishes a node once all its arguments are parsed: limits the depth, so that walkers may recurse.
 */
static struct cel_expr *done(struct cel_parser *p, struct cel_expr *e)
{
    e->depth = 1;
    assert(e->n == 0 || e->args);
    for (size_t i = 0; i < e->n; i++) {
        if (!e->args[i])
            return NULL;
        e->depth = MAX(e->depth, (uint16_t)(e->args[i]->depth + 1));
    }
    if (e->depth > CEL_MAX_DEPTH) {
        (void)fail(p, "expression recursion limit exceeded: 250");
        return NULL;
    }
    return e;
}

static const struct cel_expr *binary(struct cel_parser *p, enum cel_op op, size_t at,
                                     const struct cel_expr *x, const struct cel_expr *y)
{
    if (!x || !y)
        return NULL;
    struct cel_expr *e = node(p, op, at, 2);
    e->args[0] = x;
    e->args[1] = y;
    return done(p, e);
}

static const struct cel_expr *unary(struct cel_parser *p, enum cel_op op, size_t at,
                                    const struct cel_expr *x)
{
    if (!x)
        return NULL;
    struct cel_expr *e = node(p, op, at, 1);
    e->args[0] = x;
    return done(p, e);
}

static const struct cel_expr *literal(struct cel_parser *p, size_t at, struct cel_value v)
{
    struct cel_expr *e = node(p, CEL_OP_LITERAL, at, 0);
    e->value = v;
    return done(p, e);
}

/* Arguments parsed so far. */
struct cel_parse_items {
    const struct cel_expr *e;
    bool optional;
    struct cel_parse_items *before;
};

static const struct cel_expr *gather(struct cel_parser *p, enum cel_op op, size_t at,
                                     const struct cel_parse_items *last, size_t n, size_t n_before)
{
    if (p->r < 0)
        return NULL;
    struct cel_expr *e = node(p, op, at, n + n_before);
    uint8_t *optional = NULL;
    size_t i = n + n_before;
    for (; last; last = last->before) {
        assert(i > n_before);
        e->args[--i] = last->e;
        if (last->optional && !optional) {
            optional = arena_new_n(p->a, uint8_t, n + n_before);
            e->is_optional = optional;
        }
        if (last->optional)
            optional[i] = 1;
    }
    assert(i == n_before);
    return done(p, e);
}

static void push(struct cel_parser *p, struct cel_parse_items **last, size_t *n,
                 const struct cel_expr *e, bool optional)
{
    struct cel_parse_items *it = arena_new(p->a, struct cel_parse_items);
    *it = (struct cel_parse_items){ .e = e, .optional = optional, .before = *last };
    *last = it;
    (*n)++;
}

/* ------------------------------------------------------------------ literals */

static const struct cel_expr *parse_number(struct cel_parser *p)
{
    size_t from = p->at;
    bool hex = peek(p, 0) == '0' && (peek(p, 1) | 0x20) == 'x';
    bool real = false;
    uint64_t v = 0;
    bool too_large = false;
    p->at += hex ? 2 : 0;
    while (hex ? hex_digit(peek(p, 0)) >= 0 : is_digit(peek(p, 0))) {
        uint64_t digit = (uint64_t)hex_digit(peek(p, 0)), base = hex ? 16 : 10;
        too_large = too_large || __builtin_mul_overflow(v, base, &v) ||
                    __builtin_add_overflow(v, digit, &v);
        p->at++;
    }
    if (!hex && peek(p, 0) == '.' && is_digit(peek(p, 1))) {
        real = true;
        for (p->at++; is_digit(peek(p, 0));)
            p->at++;
    }
    size_t sign = peek(p, 1) == '+' || peek(p, 1) == '-';
    if (!hex && (peek(p, 0) | 0x20) == 'e' && is_digit(peek(p, 1 + sign))) {
        real = true;
        for (p->at += 1 + sign; is_digit(peek(p, 0));)
            p->at++;
    }
    struct str text = str_slice(p->text, from, p->at);
    struct cel_value ret = { .type = CEL_UINT, .u = v };
    if (real) {
        ret.type = CEL_DOUBLE;
        struct json number = { .type = JSON_NUMBER, .s = text };
        if (json_float(&number, &ret.d) < 0)
            return fail(p, "invalid double literal");
    } else if ((peek(p, 0) | 0x20) == 'u') {
        p->at++;
        if (too_large)
            return fail(p, "invalid uint literal");
    } else if (too_large || v > INT64_MAX) {
        return fail(p, "invalid int literal");
    } else {
        ret = cel_int((int64_t)v);
    }
    skip_blanks(p);
    return literal(p, from, ret);
}

static int take_code(struct cel_parser *p, int n, int base, uint32_t *ret)
{
    uint32_t v = 0;
    for (int i = 0; i < n; i++) {
        int d = hex_digit(peek(p, 0));
        if (d < 0 || d >= base)
            return -EINVAL;
        v = v * (uint32_t)base + (uint32_t)d;
        p->at++;
    }
    *ret = v;
    return 0;
}

/* After a backslash. In bytes, \x and octals are bytes, in strings code points. */
static int parse_escape(struct cel_parser *p, bool bytes, struct buf *to)
{
    static const char plain[] = "a\ab\bf\fn\nr\rt\tv\v\\\\??\"\"''``";
    int c = peek(p, 0);
    uint32_t code;
    for (size_t i = 0; plain[i]; i += 2) {
        if (c == plain[i]) {
            p->at++;
            return buf_add_char(to, plain[i + 1]);
        }
    }
    if (c >= '0' && c <= '3') {
        if (take_code(p, 3, 8, &code) < 0)
            return -EINVAL;
    } else {
        int n = (c | 0x20) == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        p->at++;
        if (!n || (bytes && n > 2) || take_code(p, n, 16, &code) < 0)
            return -EINVAL;
    }
    if (bytes)
        return buf_add_u8(to, (uint8_t)code);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return -EINVAL;
    char utf8[4];
    return buf_add(to, utf8, utf8_encode(utf8, code));
}

static const struct cel_expr *parse_text(struct cel_parser *p, size_t from, bool raw, bool bytes)
{
    char quote[4] = { (char)peek(p, 0) };
    struct buf b = BUF_INIT(CEL_MAX_BYTES * 4);
    if (peek(p, 1) == quote[0] && peek(p, 2) == quote[0])
        quote[1] = quote[2] = quote[0];
    size_t n = strlen(quote);
    bool closed = false, bad = false;
    for (p->at += n; p->at < p->text.n && !bad;) {
        closed = str_has_prefix(str_slice(p->text, p->at, p->text.n), str_of(quote));
        if (closed)
            break;
        int c = peek(p, 0);
        bad = n == 1 && (c == '\n' || c == '\r');
        p->at++;
        if (c == '\\' && !raw)
            bad = bad || parse_escape(p, bytes, &b) < 0;
        else
            (void)buf_add_char(&b, (char)c);
    }
    struct cel_value v = cel_string(str_copy_arena(p->a, buf_str(&b)));
    buf_fini(&b);
    if (!closed || bad)
        return fail(p, "token recognition error");
    if (bytes)
        v.type = CEL_BYTES;
    p->at += n;
    skip_blanks(p);
    return literal(p, from, v);
}

/* A string, with r and b before it or without; *ret_is is false if there is no string. */
static const struct cel_expr *parse_prefixed(struct cel_parser *p, bool *ret_is)
{
    size_t from = p->at, n = 0;
    bool raw = false, bytes = false;
    for (; n < 2; n++) {
        int c = peek(p, n) | 0x20;
        if (c == 'r' && !raw)
            raw = true;
        else if (c == 'b' && !bytes)
            bytes = true;
        else
            break;
    }
    *ret_is = peek(p, n) == '"' || peek(p, n) == '\'';
    if (!*ret_is)
        return NULL;
    p->at += n;
    return parse_text(p, from, raw, bytes);
}

/* ------------------------------------------------------------------ macros */

static bool is_name(const struct cel_expr *e)
{
    return e && e->op == CEL_OP_NAME && e->name.n && e->name.p[0] != '.';
}

/* x.all(i, i > 0): a loop. NULL: an ordinary call. */
static const struct cel_expr *as_loop(struct cel_parser *p, const struct cel_expr *call)
{
    static const struct {
        const char *name;
        uint8_t loop, n_vars, n_min, n_max; /* arguments, variables included */
    } macros[] = { { "all", LOOP_ALL, 1, 2, 2 },
                   { "exists", LOOP_EXISTS, 1, 2, 2 },
                   { "exists_one", LOOP_EXISTS_ONE, 1, 2, 2 },
                   { "map", LOOP_MAP, 1, 2, 3 },
                   { "filter", LOOP_FILTER, 1, 2, 2 },
                   { "all", LOOP_ALL, 2, 3, 3 },
                   { "exists", LOOP_EXISTS, 2, 3, 3 },
                   { "existsOne", LOOP_EXISTS_ONE, 2, 3, 3 },
                   { "transformList", LOOP_LIST, 2, 3, 4 },
                   { "transformMap", LOOP_VALUES, 2, 3, 4 },
                   { "transformMapEntry", LOOP_ENTRIES, 2, 3, 4 },
                   { "optMap", LOOP_OPT_MAP, 1, 2, 2 },
                   { "optFlatMap", LOOP_OPT_FLAT_MAP, 1, 2, 2 } };
    size_t n = call->n - 1;
    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        if (!str_is(call->name, macros[i].name) || n < macros[i].n_min || n > macros[i].n_max)
            continue;
        if (!is_name(call->args[1]) || (macros[i].n_vars == 2 && !is_name(call->args[2])))
            return fail(p, "argument must be a simple name");
        struct cel_expr *e = node(p, CEL_OP_LOOP, call->at, 1 + n - macros[i].n_vars);
        e->loop = macros[i].loop;
        e->name = call->args[1]->name;
        e->name2 = macros[i].n_vars == 2 ? call->args[2]->name : STR("");
        e->args[0] = call->args[0];
        for (size_t k = 1; k < e->n; k++)
            e->args[k] = call->args[k + macros[i].n_vars];
        return done(p, e);
    }
    return call;
}

/* x.sortBy(i, key) is x sorted by x.map(i, key). */
static const struct cel_expr *as_sort(struct cel_parser *p, const struct cel_expr *call)
{
    if (!str_is(call->name, "sortBy") || call->n != 3)
        return as_loop(p, call);
    if (!is_name(call->args[1]))
        return fail(p, "argument is not an identifier");
    struct cel_expr *keys = node(p, CEL_OP_LOOP, call->at, 2);
    keys->loop = LOOP_MAP;
    keys->name = call->args[1]->name;
    keys->args[0] = call->args[0];
    keys->args[1] = call->args[2];
    struct cel_expr *e = node(p, CEL_OP_METHOD, call->at, 2);
    e->name = STR(CEL_SORT_BY);
    e->args[0] = call->args[0];
    e->args[1] = done(p, keys);
    return done(p, e);
}

static const struct cel_expr *as_has(struct cel_parser *p, const struct cel_expr *call)
{
    if (!str_is(call->name, "has") || call->n != 1)
        return call;
    if (call->args[0]->op != CEL_OP_SELECT)
        return fail(p, "invalid argument to has() macro");
    struct cel_expr *e = node(p, CEL_OP_HAS, call->at, 1);
    e->name = call->args[0]->name;
    e->args[0] = call->args[0]->args[0];
    return done(p, e);
}

/* ------------------------------------------------------------------ primaries and members */

/* Parses up to the closing parenthesis; target NULL: a function. */
static const struct cel_expr *parse_call(struct cel_parser *p, size_t at, struct str name,
                                         const struct cel_expr *target)
{
    struct cel_parse_items *last = NULL;
    size_t n = 0;
    if (target)
        push(p, &last, &n, target, false);
    if (peek(p, 0) != ')') {
        do
            push(p, &last, &n, parse_expr(p), false);
        while (p->r == 0 && take(p, ","));
    }
    if (!expect(p, ")"))
        return NULL;
    struct cel_expr *e =
        (struct cel_expr *)gather(p, target ? CEL_OP_METHOD : CEL_OP_CALL, at, last, n, 0);
    if (!e)
        return NULL;
    e->name = name;
    return target ? as_sort(p, e) : as_has(p, e);
}

static const struct cel_expr *parse_list(struct cel_parser *p, size_t at)
{
    struct cel_parse_items *last = NULL;
    size_t n = 0;
    while (p->r == 0 && peek(p, 0) != ']') {
        bool optional = take(p, "?");
        push(p, &last, &n, parse_expr(p), optional);
        if (!take(p, ","))
            break;
    }
    return expect(p, "]") ? gather(p, CEL_OP_LIST, at, last, n, 0) : NULL;
}

static const struct cel_expr *parse_map(struct cel_parser *p, size_t at)
{
    struct cel_parse_items *last = NULL;
    size_t n = 0;
    while (p->r == 0 && peek(p, 0) != '}') {
        bool optional = take(p, "?");
        push(p, &last, &n, parse_expr(p), optional);
        if (!expect(p, ":"))
            return NULL;
        push(p, &last, &n, parse_expr(p), false);
        if (!take(p, ","))
            break;
    }
    return expect(p, "}") ? gather(p, CEL_OP_MAP, at, last, n, 0) : NULL;
}

static const struct cel_expr *parse_name(struct cel_parser *p)
{
    size_t at = p->at;
    bool absolute = take(p, ".");
    if (!is_letter(peek(p, 0)))
        return unexpected(p, PRIMARY);
    struct str name = take_name(p);
    if (!absolute && str_is(name, "true"))
        return literal(p, at, cel_bool(true));
    if (!absolute && str_is(name, "false"))
        return literal(p, at, cel_bool(false));
    if (!absolute && str_is(name, "null"))
        return literal(p, at, (struct cel_value){ .type = CEL_NULL });
    if (is_reserved(name)) {
        p->at = at;
        return fail(p, "reserved identifier");
    }
    size_t open_at = p->at;
    if (take(p, "("))
        return parse_call(p, open_at, name, NULL);
    struct cel_expr *e = node(p, CEL_OP_NAME, at, 0);
    e->name = name;
    return done(p, e);
}

static const struct cel_expr *parse_primary(struct cel_parser *p)
{
    size_t at = p->at;
    bool is_text;
    const struct cel_expr *e = parse_prefixed(p, &is_text);
    if (is_text)
        return e;
    if (is_digit(peek(p, 0)) || (peek(p, 0) == '.' && is_digit(peek(p, 1))))
        return parse_number(p);
    if (take(p, "(")) {
        e = parse_expr(p);
        return expect(p, ")") ? e : NULL;
    }
    if (take(p, "["))
        return parse_list(p, at);
    if (take(p, "{"))
        return parse_map(p, at);
    return parse_name(p);
}

/* A field; in back quotes it may have any name. */
static struct str take_field(struct cel_parser *p)
{
    size_t from = p->at + 1;
    if (peek(p, 0) != '`')
        return take_name(p);
    for (p->at++; p->at < p->text.n && peek(p, 0) != '`';)
        p->at++;
    struct str s = str_slice(p->text, from, p->at);
    if (!take(p, "`"))
        return STR("");
    return s;
}

static const struct cel_expr *parse_member(struct cel_parser *p)
{
    const struct cel_expr *e = parse_primary(p);
    while (e && p->r == 0) {
        size_t at = p->at;
        if (take(p, "[")) {
            bool maybe = take(p, "?");
            e = binary(p, maybe ? CEL_OP_MAYBE_AT : CEL_OP_INDEX, at, e, parse_expr(p));
            if (!expect(p, "]"))
                return NULL;
        } else if (take(p, ".")) {
            bool maybe = take(p, "?");
            struct str name = take_field(p);
            size_t open_at = p->at;
            if (name.n == 0)
                return unexpected(p, "IDENTIFIER");
            if (!maybe && take(p, "(")) {
                e = parse_call(p, open_at, name, e);
                continue;
            }
            struct cel_expr *s = node(p, maybe ? CEL_OP_MAYBE : CEL_OP_SELECT, at, 1);
            s->args[0] = e;
            s->name = name;
            e = done(p, s);
        } else {
            return e;
        }
    }
    return p->r == 0 ? e : NULL;
}

static const struct cel_expr *parse_unary(struct cel_parser *p)
{
    size_t at = p->at;
    if (peek(p, 0) == '!' && peek(p, 1) != '=') {
        unsigned n = 0;
        while (take(p, "!"))
            n++;
        const struct cel_expr *e = parse_member(p);
        for (unsigned i = 0; i < (n % 2 ? 1 : 2); i++) /* !! stays: the operand must be a bool */
            e = unary(p, CEL_OP_NOT, at, e);
        return e;
    }
    if (peek(p, 0) != '-')
        return parse_member(p);
    unsigned n = 0;
    while (take(p, "-"))
        n++;
    /* INT64_MIN has no positive literal */
    if (n % 2 && str_has_prefix(str_slice(p->text, p->at, p->text.n), STR("9223372036854775808"))) {
        p->at += 19;
        skip_blanks(p);
        return literal(p, at, cel_int(INT64_MIN));
    }
    const struct cel_expr *e = parse_member(p);
    for (unsigned i = 0; i < n % 2; i++)
        e = unary(p, CEL_OP_NEG, at, e);
    return e;
}

/* ------------------------------------------------------------------ operators */

struct infix {
    const char *token;
    enum cel_op op;
};

/* Lowest precedence first; of two tokens with the same beginning the longer comes first. */
static const struct infix levels[][10] = {
    { { "||", CEL_OP_OR } },
    { { "&&", CEL_OP_AND } },
    { { "<=", CEL_OP_LE },
      { "<", CEL_OP_LT },
      { ">=", CEL_OP_GE },
      { ">", CEL_OP_GT },
      { "==", CEL_OP_EQ },
      { "!=", CEL_OP_NE },
      { "in", CEL_OP_IN } },
    { { "+", CEL_OP_ADD }, { "-", CEL_OP_SUB } },
    { { "*", CEL_OP_MUL }, { "/", CEL_OP_DIV }, { "%", CEL_OP_MOD } },
};

static const struct infix *take_infix(struct cel_parser *p, size_t level)
{
    for (const struct infix *x = levels[level]; x->token; x++) {
        bool word = is_letter(x->token[0]);
        if (word && (is_letter(peek(p, 2)) || is_digit(peek(p, 2))))
            continue;
        if (take(p, x->token))
            return x;
    }
    return NULL;
}

static const struct cel_expr *parse_level(struct cel_parser *p, size_t level)
{
    if (level == ARRAY_LEN(levels))
        return parse_unary(p);
    const struct cel_expr *e = parse_level(p, level + 1);
    while (e && p->r == 0) {
        size_t at = p->at;
        const struct infix *x = take_infix(p, level);
        if (!x)
            return e;
        e = binary(p, x->op, at, e, parse_level(p, level + 1));
    }
    return p->r == 0 ? e : NULL;
}

static const struct cel_expr *parse_expr(struct cel_parser *p)
{
    if (p->r < 0)
        return NULL;
    if (++p->depth > CEL_MAX_DEPTH)
        return fail(p, "expression recursion limit exceeded: 250");
    size_t at;
    const struct cel_expr *e = parse_level(p, 0);
    at = p->at;
    if (e && take(p, "?")) {
        struct cel_expr *c = node(p, CEL_OP_COND, at, 3);
        c->args[0] = e;
        c->args[1] = parse_level(p, 0);
        if (expect(p, ":"))
            c->args[2] = parse_expr(p);
        e = p->r == 0 ? done(p, c) : NULL;
    }
    p->depth--;
    return p->r == 0 ? e : NULL;
}

int cel_parse(struct arena *a, struct str text, const struct cel_expr **ret,
              struct cel_flaw *ret_flaw)
{
    struct cel_parser p = { .a = a, .text = text, .flaw = ret_flaw };
    if (text.n > CEL_MAX_BYTES) {
        ret_flaw->text = arena_printf(
            a, "ERROR: <input>:-1:0: expression code point size exceeds limit: size: %zu, limit %d",
            text.n, CEL_MAX_BYTES);
        return E_PARSE;
    }
    skip_blanks(&p);
    const struct cel_expr *e = parse_expr(&p);
    if (p.r == 0 && p.at < text.n)
        (void)unexpected(&p, "<EOF>");
    if (p.r < 0)
        return p.r;
    *ret = e;
    return 0;
}

bool cel_uses(const struct cel_expr *e, struct str name)
{
    if (e->op == CEL_OP_NAME && str_eq(e->name, name))
        return true;
    for (size_t i = 0; i < e->n; i++)
        if (cel_uses(e->args[i], name))
            return true;
    return false;
}
