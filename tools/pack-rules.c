/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: pack-rules OUT.h IN.txt
 *
 * Makes tables for src/kube/rules/validate/ of the rules that are facts, one file of
 * src/kube/rules/text/ for each C file. The form of the text:
 *
 *     # a comment
 *     enum completion_modes NonIndexed Indexed    values that a field may have, in upstream's order
 *     rules http_action                           checks of one object, in upstream's order
 *       path    required "a path, please"         a member, a rule and its argument
 *       scheme  enum! schemes
 *       port    port-or-name
 *       hosts   each label                        every element of a list
 *       env     each check env_var                what is a decision: a static function of the C
 * file
 *
 * In C they are enum_completion_modes (struct validate_enum) and rules_http_action (an array of
 * struct validate_member). A rule is a function of check.h: label is validate_label(), label?
 * validate_label_if_set(), "required label" validate_required_label(), enum! validate_enum_strict()
 * (an empty value is unsupported, not missing). known[] has all of them. A word with blanks, or an
 * empty one, is written as a JSON string.
 *
 * Whatever is wrong is reported with its line, and nothing is written.
 */
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/json.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum { MAX_FILE = 1 << 20, MAX_WORDS = 128, MAX_EACH = 4 };

enum form { PLAIN = 1 << 0, IF_SET = 1 << 1, STRICT = 1 << 2, REQUIRED = 1 << 3 };
enum argument { NOTHING, TEXT, ENUM_NAME, RANGE, RULE, FUNCTION };

static const struct {
    const char *name;
    unsigned forms;
    enum argument argument;
} known[] = {
    { "required", PLAIN, TEXT },
    { "enum", PLAIN | IF_SET | STRICT, ENUM_NAME },
    { "range", PLAIN | IF_SET, RANGE },
    { "each", PLAIN, RULE },
    { "check", PLAIN, FUNCTION },
    { "nonnegative", PLAIN, NOTHING },
    { "label", PLAIN | IF_SET | REQUIRED, NOTHING },
    { "subdomain", PLAIN | IF_SET | REQUIRED, NOTHING },
    { "qualified-name", PLAIN | IF_SET, NOTHING },
    { "path-segment", REQUIRED, NOTHING },
    { "port", PLAIN, NOTHING },
    { "port-or-name", PLAIN, NOTHING },
    { "file-mode", PLAIN, NOTHING },
    { "ip", PLAIN, NOTHING },
    { "ordinary-ip", PLAIN, NOTHING },
    { "path-below", PLAIN, NOTHING },
    { "path-unreserved", PLAIN, NOTHING },
    { "path-no-backsteps", PLAIN, NOTHING },
    { "domain-prefixed-path", PLAIN, NOTHING },
    { "csi-driver-name", PLAIN, NOTHING },
    { "labels", PLAIN, NOTHING },
    { "annotations", PLAIN, NOTHING },
    { "label-selector", PLAIN, NOTHING },
    { "node-selector", PLAIN, NOTHING },
    { "affinity", PLAIN, NOTHING },
    { "tolerations", PLAIN, NOTHING },
    { "topology-spread", PLAIN, NOTHING },
};

struct words {
    struct str p[MAX_WORDS];
    size_t n, at; /* at: the next to be read */
};

static struct {
    struct arena a;
    const char *file;
    unsigned line, errors;
    struct map names;     /* of enums ("enum x") and of rules ("rules x") */
    struct map functions; /* that are declared already */
    struct buf head;      /* declarations, enums, arguments */
    struct buf rules;     /* the tables */
    bool in_rules;
    unsigned n_rows; /* of the table being read */
    size_t n_arguments;
} g;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (g.line)
        (void)fprintf(stderr, "%s:%u: ", g.file, g.line);
    (void)vfprintf(stderr, format, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    g.errors++;
}

/* ---- words ---- */

/* A word in quotes stays a JSON string, which is a C string as well. */
static bool next_word(struct str *rest, struct str *ret)
{
    struct json *v;
    size_t n;
    *rest = str_trim(*rest);
    if (rest->n == 0)
        return false;
    bool quoted = rest->p[0] == '"';
    for (n = quoted; n < rest->n && rest->p[n] != (quoted ? '"' : ' '); n++)
        n += quoted && rest->p[n] == '\\';
    n = MIN(n + quoted, rest->n);
    *ret = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->n);
    if (quoted && json_parse(&g.a, *ret, NULL, &v, NULL) < 0)
        complain("'" STR_FMT "' is no string", STR_ARG(*ret));
    return true;
}

static void split(struct str line, struct words *ret)
{
    struct str word;
    ret->n = ret->at = 0;
    while (next_word(&line, &word)) {
        if (ret->n == MAX_WORDS) {
            complain("more than %d words", MAX_WORDS);
            return;
        }
        ret->p[ret->n++] = word;
    }
}

/* A word as a C string. */
static const char *quoted(struct str word)
{
    if (word.p[0] == '"')
        return str_dup_arena(&g.a, word);
    if (str_find_char(word, '"') >= 0 || str_find_char(word, '\\') >= 0)
        complain("'" STR_FMT "' has to be written as a string", STR_ARG(word));
    return arena_printf(&g.a, "\"" STR_FMT "\"", STR_ARG(word));
}

static bool is_identifier(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_' && !(s.p[i] >= 'a' && s.p[i] <= 'z') &&
            !(i && s.p[i] >= '0' && s.p[i] <= '9'))
            return false;
    return s.n > 0;
}

/* The name of something new, with what it is in front: "enum x". */
static bool define(const char *what, struct str name)
{
    struct str full = str_of(arena_printf(&g.a, "%s " STR_FMT, what, STR_ARG(name)));
    if (!is_identifier(name))
        complain("'" STR_FMT "' is no name: lower case, digits, '_'", STR_ARG(name));
    else if (map_put(&g.names, full, &g))
        complain("a second '" STR_FMT "'", STR_ARG(full));
    else
        return true;
    return false;
}

/* ---- rules ---- */

struct call {
    const char *function, *argument; /* in C */
};

static struct call read_rule(struct words *w, unsigned depth);

static const char *read_text(struct words *w)
{
    if (w->at == w->n)
        return "NULL";
    if (w->p[w->at].p[0] != '"')
        complain("'" STR_FMT "' is not in quotes", STR_ARG(w->p[w->at]));
    return quoted(w->p[w->at++]);
}

static struct str want_word(struct words *w, const char *what)
{
    if (w->at < w->n)
        return w->p[w->at++];
    complain("no %s", what);
    return STR("");
}

static const char *read_enum_name(struct words *w)
{
    struct str name = want_word(w, "name of an enum");
    struct str full = str_of(arena_printf(&g.a, "enum " STR_FMT, STR_ARG(name)));
    if (name.n && !map_has(&g.names, full))
        complain("no enum '" STR_FMT "' before this", STR_ARG(name));
    return arena_printf(&g.a, "&enum_" STR_FMT, STR_ARG(name));
}

static const char *read_range(struct words *w)
{
    int64_t limits[2] = { 0, 0 };
    for (size_t i = 0; i < 2; i++) {
        struct str word = want_word(w, "limit of a range");
        if (word.n && parse_i64(word, INT64_MIN + 1, INT64_MAX, &limits[i]) < 0)
            complain("'" STR_FMT "' is no number", STR_ARG(word));
    }
    if (limits[0] > limits[1])
        complain("the range is empty");
    (void)buf_printf(&g.head,
                     "static const struct validate_range rule_argument_%zu = { %lld, %lld };\n",
                     g.n_arguments, (long long)limits[0], (long long)limits[1]);
    return arena_printf(&g.a, "&rule_argument_%zu", g.n_arguments++);
}

static const char *read_each(struct words *w, unsigned depth)
{
    struct call c = read_rule(w, depth + 1);
    (void)buf_printf(&g.head, "static const struct validate_each rule_argument_%zu = { %s, %s };\n",
                     g.n_arguments, c.function, c.argument);
    return arena_printf(&g.a, "&rule_argument_%zu", g.n_arguments++);
}

static const char *read_function(struct words *w)
{
    struct str name = want_word(w, "function");
    if (name.n && !is_identifier(name))
        complain("'" STR_FMT "' is no name of a function", STR_ARG(name));
    if (!map_put(&g.functions, name, &g))
        (void)buf_printf(&g.head,
                         "static void " STR_FMT
                         "(const struct validate_value *s, const void *argument);\n",
                         STR_ARG(name));
    return str_dup_arena(&g.a, name);
}

static const char *c_name(struct str rule, enum form form)
{
    char *name = arena_printf(&g.a, "validate_%s" STR_FMT "%s", form == REQUIRED ? "required_" : "",
                              STR_ARG(rule),
                              form == IF_SET   ? "_if_set"
                              : form == STRICT ? "_strict"
                                               : "");
    for (char *p = name; *p; p++)
        if (*p == '-')
            *p = '_';
    return name;
}

static struct call read_rule(struct words *w, unsigned depth)
{
    struct call c = { "", "NULL" };
    struct str word = want_word(w, "rule");
    enum form form = PLAIN;
    bool has_rule = w->at < w->n && w->p[w->at].p[0] != '"';
    if (str_is(word, "required") && has_rule) {
        form = REQUIRED;
        word = w->p[w->at++];
    } else if (str_has_suffix(word, STR("?")) || str_has_suffix(word, STR("!"))) {
        form = word.p[word.n - 1] == '?' ? IF_SET : STRICT;
        word = str_slice(word, 0, word.n - 1);
    }
    size_t i = 0;
    while (i < ARRAY_LEN(known) && !(str_is(word, known[i].name) && (known[i].forms & form)))
        i++;
    if (i == ARRAY_LEN(known) || depth == MAX_EACH) {
        if (word.n)
            complain("no rule '" STR_FMT "' of this form", STR_ARG(word));
        return c;
    }
    c.function = c_name(word, form);
    switch (known[i].argument) {
    case NOTHING:
        break;
    case TEXT:
        c.argument = read_text(w);
        break;
    case ENUM_NAME:
        c.argument = read_enum_name(w);
        break;
    case RANGE:
        c.argument = read_range(w);
        break;
    case RULE:
        c.argument = read_each(w, depth);
        break;
    case FUNCTION:
        c.function = read_function(w);
        c.argument = read_text(w);
        break;
    }
    return c;
}

/* ---- lines ---- */

static void end_rules(void)
{
    if (!g.in_rules)
        return;
    if (g.n_rows == 0)
        complain("rules without a member");
    (void)buf_add_cstr(&g.rules, "};\n");
    g.in_rules = false;
}

static void read_enum(struct words *w)
{
    if (w->n < 3 || !define("enum", w->p[1])) {
        if (w->n < 3)
            complain("not 'enum NAME VALUE...'");
        return;
    }
    (void)buf_printf(&g.head, "static const struct str enum_" STR_FMT "_values[] = {\n",
                     STR_ARG(w->p[1]));
    for (size_t i = 2; i < w->n; i++) {
        for (size_t k = 2; k < i; k++)
            if (str_eq(w->p[i], w->p[k]))
                complain("'" STR_FMT "' stands twice", STR_ARG(w->p[i]));
        const char *text = quoted(w->p[i]);
        (void)buf_printf(&g.head, "    { %s, sizeof(%s) - 1 },\n", text, text);
    }
    (void)buf_printf(&g.head,
                     "};\nstatic const struct validate_enum enum_" STR_FMT " = { enum_" STR_FMT
                     "_values, %zu };\n",
                     STR_ARG(w->p[1]), STR_ARG(w->p[1]), w->n - 2);
}

static void begin_rules(struct words *w)
{
    if (w->n != 2) {
        complain("not 'rules NAME'");
        return;
    }
    (void)define("rules", w->p[1]);
    (void)buf_printf(&g.rules, "static const struct validate_member rules_" STR_FMT "[] = {\n",
                     STR_ARG(w->p[1]));
    g.in_rules = true;
    g.n_rows = 0;
}

static void read_member(struct words *w)
{
    if (!g.in_rules) {
        complain("a member, but no rules before it");
        return;
    }
    struct str name = w->p[w->at++];
    if (name.p[0] == '"' || str_find_char(name, '\\') >= 0)
        complain("'" STR_FMT "' is no name of a member", STR_ARG(name));
    struct call c = read_rule(w, 0);
    if (w->at < w->n)
        complain("'" STR_FMT "' is too much", STR_ARG(w->p[w->at]));
    (void)buf_printf(&g.rules, "    { \"" STR_FMT "\", %s, %s },\n", STR_ARG(name), c.function,
                     c.argument);
    g.n_rows++;
}

static void read_line(struct str line)
{
    struct words w;
    if (str_trim(line).n == 0 || line.p[0] == '#')
        return;
    split(line, &w);
    if (w.n == 0)
        return;
    if (str_has_prefix(line, STR("  "))) {
        read_member(&w);
        return;
    }
    end_rules();
    if (str_is(w.p[0], "enum"))
        read_enum(&w);
    else if (str_is(w.p[0], "rules"))
        begin_rules(&w);
    else
        complain("'" STR_FMT "' begins no line", STR_ARG(w.p[0]));
}

static void read_file(const char *path)
{
    char *text = arena_alloc(&g.a, MAX_FILE);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, MAX_FILE, f) : 0;
    if (!f || ferror(f) || n == MAX_FILE)
        complain("cannot read %s", path);
    if (f)
        (void)fclose(f);
    struct str line, rest = str_n(text, n);
    g.file = path;
    while (rest.n) {
        g.line++;
        (void)str_cut(rest, '\n', &line, &rest);
        read_line(line);
    }
    end_rules();
    g.line = 0;
}

static void write_file(const char *path)
{
    FILE *f = fopen(path, "we");
    bool written =
        f && fprintf(f, "#pragma once\n#include \"kube/rules/validate/check.h\"\n\n%s\n%s",
                     buf_cstr(&g.head), buf_cstr(&g.rules)) > 0;
    if (!f || fclose(f) != 0 || !written)
        complain("cannot write %s", path);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: pack-rules OUT.h IN.txt\n");
        return 2;
    }
    g.head = (struct buf)BUF_INIT(MAX_FILE);
    g.rules = (struct buf)BUF_INIT(MAX_FILE);
    read_file(argv[2]);
    if (!buf_ok(&g.head) || !buf_ok(&g.rules))
        complain("the tables are longer than %d bytes", MAX_FILE);
    if (g.errors == 0)
        write_file(argv[1]);
    buf_fini(&g.head);
    buf_fini(&g.rules);
    map_fini(&g.names);
    map_fini(&g.functions);
    arena_fini(&g.a);
    return g.errors ? 1 : 0;
}
