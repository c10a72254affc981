/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of fields; see field_set.h. */
#include "kube/model/field_set.h"

#include "codec/json_sort.h"
#include "kube/model/field.h"

#include <assert.h>
#include <stdarg.h>

enum {
    PATH_TEXT_MAX = 64 * 1024,
    TOUCH_MAX = 64 /* limit of lookups of single children in a longer list */
};

/* ---- canonical text of values ---- */

/* Numbers in one form: 80, 80.0 and 8e1 are the same key. */
static void write_number(struct arena *a, struct buf *to, const struct json *v)
{
    int64_t i;
    double d;
    if (json_int(v, &i) == 0)
        (void)buf_printf(to, "%lld", (long long)i);
    else if (json_float(v, &d) == 0)
        (void)json_write(to, json_new_float(a, d));
    else
        (void)buf_add_str(to, v->s);
}

static bool has_html(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '<' || s.p[i] == '>' || s.p[i] == '&')
            return true;
    return false;
}

/* Upstream escapes the characters that are special in HTML inside keys and values. */
static void write_string(struct buf *to, struct str s)
{
    if (!has_html(s)) {
        (void)json_write_str(to, s);
        return;
    }
    struct buf plain = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write_str(&plain, s);
    struct str text = buf_str(&plain);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '<' || c == '>' || c == '&')
            (void)buf_printf(to, "\\u%04x", (unsigned)c);
        else
            (void)buf_add_char(to, c);
    }
    buf_fini(&plain);
}

static void write_value(struct arena *a, struct buf *to, const struct json *v)
{
    if (v->type == JSON_NUMBER)
        write_number(a, to, v);
    else if (v->type == JSON_STRING)
        write_string(to, v->s);
    else
        (void)json_write_sorted(to, v);
}

static struct str take_text(struct arena *a, struct buf *b)
{
    struct str s = str_copy_arena(a, buf_str(b));
    buf_fini(b);
    return s;
}

struct field_elem field_elem_value(struct arena *a, const struct json *value)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    write_value(a, &b, value);
    return (
        struct field_elem){ .kind = FIELD_ELEM_VALUE, .text = take_text(a, &b), .value = value };
}

struct field_elem field_elem_key(struct arena *a, const struct json *keys)
{
    scoped(free_scoped) const struct json **sorted = json_sorted_members(keys);
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *value = json_new_object(a);
    (void)buf_add_char(&b, '{');
    for (uint32_t i = 0; i < keys->n; i++) {
        if (i)
            (void)buf_add_char(&b, ',');
        write_string(&b, sorted[i]->key);
        (void)buf_add_char(&b, ':');
        write_value(a, &b, sorted[i]);
        json_add_member(value, sorted[i]->key, json_clone(a, sorted[i]));
    }
    (void)buf_add_char(&b, '}');
    return (struct field_elem){ .kind = FIELD_ELEM_KEY, .text = take_text(a, &b), .value = value };
}

/* ---- order ---- */

/* Order: numbers, strings, booleans, lists, objects, null. */
static int rank(const struct json *v)
{
    static const int ranks[] = {
        [JSON_NUMBER] = 0, [JSON_STRING] = 1, [JSON_FALSE] = 2, [JSON_TRUE] = 2,
        [JSON_ARRAY] = 3,  [JSON_OBJECT] = 4, [JSON_NULL] = 5
    };
    return ranks[v->type];
}

static int number_cmp(const struct json *x, const struct json *y)
{
    int64_t i, j;
    double d = 0, e = 0;
    if (json_int(x, &i) == 0 && json_int(y, &j) == 0)
        return i < j ? -1 : i > j;
    (void)json_float(x, &d);
    (void)json_float(y, &e);
    return d < e ? -1 : d > e;
}

/* Lists and objects: item by item, then by length. The members of keys are already sorted. */
static int value_cmp(const struct json *x, const struct json *y)
{
    int by_rank = rank(x) - rank(y);
    if (by_rank)
        return by_rank;
    if (x->type == JSON_NUMBER)
        return number_cmp(x, y);
    if (x->type == JSON_STRING)
        return str_cmp(x->s, y->s);
    if (x->type < JSON_ARRAY)
        return (x->type == JSON_TRUE) - (y->type == JSON_TRUE);
    const struct json *v = x->first, *w = y->first;
    for (; v && w; v = v->next, w = w->next) {
        int r = x->type == JSON_OBJECT ? str_cmp(v->key, w->key) : 0;
        if (r == 0)
            r = value_cmp(v, w);
        if (r)
            return r;
    }
    return v ? 1 : w ? -1 : 0;
}

int field_elem_cmp(const struct field_elem *x, const struct field_elem *y)
{
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->kind == FIELD_ELEM_NAME)
        return str_cmp(x->text, y->text);
    if (str_eq(x->text, y->text))
        return 0;
    assert(x->value && y->value);
    int r = value_cmp(x->value, y->value);
    return r ? r : str_cmp(x->text, y->text); /* different texts are different elements */
}

/* ---- text for people ---- */

static void write_shown(struct buf *to, const struct json *v)
{
    if (v->type == JSON_STRING)
        field_go_quote(to, v->s);
    else
        (void)json_write(to, v);
}

void field_elem_write(struct buf *to, const struct field_elem *e)
{
    const char *before = "";
    switch (e->kind) {
    case FIELD_ELEM_NAME:
        (void)buf_add_char(to, '.');
        (void)buf_add_str(to, e->text);
        return;
    case FIELD_ELEM_KEY:
        (void)buf_add_char(to, '[');
        json_each (m, e->value) {
            (void)buf_printf(to, "%s" STR_FMT "=", before, STR_ARG(m->key));
            write_shown(to, m);
            before = ",";
        }
        break;
    case FIELD_ELEM_VALUE:
        (void)buf_add_cstr(to, "[=");
        write_shown(to, e->value);
        break;
    case FIELD_ELEM_INDEX:
        (void)buf_add_char(to, '[');
        (void)buf_add_str(to, e->text);
        break;
    }
    (void)buf_add_char(to, ']');
}

/* ---- nodes ---- */

static struct field_set *node_new(struct arena *a, struct field_elem e)
{
    struct field_set *s = arena_new(a, struct field_set);
    s->elem = e;
    return s;
}

static struct field_set *merge_nodes(struct field_set *x, struct field_set *y);

/* Sort siblings and merge equal ones; for trees that are not shared yet. */
static struct field_set *sort_nodes(struct field_set *list)
{
    if (!list || !list->next)
        return list;
    struct field_set *slow = list, *fast = list->next;
    while (fast && fast->next) {
        slow = slow->next;
        fast = fast->next->next;
    }
    struct field_set *right = slow->next;
    slow->next = NULL;
    return merge_nodes(sort_nodes(list), sort_nodes(right));
}

static struct field_set *merge_nodes(struct field_set *x, struct field_set *y)
{
    struct field_set *first = NULL, **end = &first;
    while (x && y) {
        int r = field_elem_cmp(&x->elem, &y->elem);
        struct field_set **from = r > 0 ? &y : &x;
        if (r == 0) {
            x->is_member |= y->is_member;
            x->first = merge_nodes(x->first, y->first);
            y = y->next;
            continue; /* x stays: the next of y may be equal as well */
        }
        *end = *from;
        end = &(*from)->next;
        *from = (*from)->next;
    }
    *end = x ? x : y;
    return first;
}

static bool is_sorted(const struct field_set *list)
{
    for (; list && list->next; list = list->next)
        if (field_elem_cmp(&list->elem, &list->next->elem) >= 0)
            return false;
    return true;
}

/* Children first: the children of equal nodes are merged as sorted lists. */
static void sort_tree(struct field_set *s)
{
    for (struct field_set *c = s->first; c; c = c->next)
        sort_tree(c);
    if (!is_sorted(s->first))
        s->first = sort_nodes(s->first);
}

/* ---- building ---- */

struct field_set_path field_path_root(struct arena *a)
{
    struct field_set_path root = { 0 };
    for (unsigned i = 0; i < FIELD_PATH_SETS; i++)
        root.node[i] = arena_new(a, struct field_set);
    return root;
}

static struct field_set *path_node(struct arena *a, struct field_set_path *path, unsigned which)
{
    if (!path->node[which]) {
        struct field_set *parent = path_node(a, path->up, which);
        struct field_set *s = node_new(a, path->elem);
        s->next = parent->first; /* prepended: the list is in reverse order of the walk */
        parent->first = s;
        path->node[which] = s;
    }
    return path->node[which];
}

void field_path_add(struct arena *a, struct field_set_path *path, unsigned which)
{
    assert(which < FIELD_PATH_SETS);
    if (path->up) /* the root is never a member */
        path_node(a, path, which)->is_member = true;
}

struct field_set *field_path_take(struct field_set_path *root, unsigned which)
{
    assert(which < FIELD_PATH_SETS && !root->up && root->node[which]);
    sort_tree(root->node[which]);
    assert(!root->node[which]->is_member);
    return root->node[which];
}

struct field_set *field_set_of(struct arena *a, const char *name, ...)
{
    struct field_set *root = arena_new(a, struct field_set), *at = root;
    va_list ap;
    va_start(ap, name);
    for (; name; name = va_arg(ap, const char *)) {
        at->first = node_new(a, field_elem_name(str_of(name)));
        at = at->first;
    }
    va_end(ap);
    at->is_member = at != root;
    return root;
}

/* ---- queries ---- */

bool field_set_is_empty(const struct field_set *s)
{
    return !s || !s->first;
}

static bool nodes_equal(const struct field_set *x, const struct field_set *y)
{
    for (; x && y; x = x->next, y = y->next)
        if (x->is_member != y->is_member || field_elem_cmp(&x->elem, &y->elem) != 0 ||
            !nodes_equal(x->first, y->first))
            return false;
    return !x && !y;
}

bool field_set_equal(const struct field_set *x, const struct field_set *y)
{
    return nodes_equal(x ? x->first : NULL, y ? y->first : NULL);
}

size_t field_set_count(const struct field_set *s)
{
    size_t n = 0;
    for (const struct field_set *c = s ? s->first : NULL; c; c = c->next)
        n += c->is_member + field_set_count(c);
    return n;
}

struct field_set_each {
    struct buf path;
    void (*fn)(void *arg, struct str path);
    void *arg;
};

/* Members of one level come before those below them, as upstream lists them. */
static void each(struct field_set_each *e, const struct field_set *s)
{
    size_t n = e->path.n;
    for (const struct field_set *c = s->first; c; c = c->next) {
        if (!c->is_member)
            continue;
        field_elem_write(&e->path, &c->elem);
        e->fn(e->arg, buf_str(&e->path));
        e->path.n = n;
    }
    for (const struct field_set *c = s->first; c; c = c->next) {
        if (!c->first)
            continue;
        field_elem_write(&e->path, &c->elem);
        each(e, c);
        e->path.n = n;
    }
}

void field_set_each(const struct field_set *s, void (*fn)(void *arg, struct str path), void *arg)
{
    struct field_set_each e = { .path = BUF_INIT(PATH_TEXT_MAX), .fn = fn, .arg = arg };
    if (s)
        each(&e, s);
    buf_fini(&e.path);
}

/* ---- algebra ---- */

enum field_set_op { OP_UNION, OP_INTERSECTION, OP_DIFFERENCE, OP_RECURSIVE_DIFFERENCE };

static struct field_set *combine(struct arena *a, enum field_set_op op, const struct field_set *x,
                                 const struct field_set *y);

/* Append a node with the element of s; its children are shared, not copied. */
static void append(struct arena *a, struct field_set ***end, const struct field_set *s,
                   bool is_member, struct field_set *first)
{
    struct field_set *c = node_new(a, s->elem);
    assert(is_member || first); /* sets are canonical */
    c->is_member = is_member;
    c->first = first;
    **end = c;
    *end = &c->next;
}

static void combine_both(struct arena *a, enum field_set_op op, const struct field_set *x,
                         const struct field_set *y, struct field_set ***end)
{
    bool member = false;
    struct field_set *below = NULL;
    switch (op) {
    case OP_UNION:
        member = x->is_member || y->is_member;
        break;
    case OP_INTERSECTION:
        member = x->is_member && y->is_member;
        break;
    case OP_DIFFERENCE:
        member = x->is_member && !y->is_member;
        break;
    case OP_RECURSIVE_DIFFERENCE:
        if (y->is_member)
            return;
        member = x->is_member;
        break;
    }
    below = combine(a, op, x->first, y->first);
    if (member || below)
        append(a, end, x, member, below);
}

static struct field_set *combine(struct arena *a, enum field_set_op op, const struct field_set *x,
                                 const struct field_set *y)
{
    struct field_set *first = NULL, **end = &first;
    while (x || y) {
        int r = !x ? 1 : !y ? -1 : field_elem_cmp(&x->elem, &y->elem);
        if (r == 0) {
            combine_both(a, op, x, y, &end);
        } else if (r < 0 ? op != OP_INTERSECTION : op == OP_UNION) {
            const struct field_set *only = r < 0 ? x : y;
            append(a, &end, only, only->is_member, only->first);
        }
        if (r <= 0)
            x = x->next;
        if (r >= 0)
            y = y->next;
    }
    return first;
}

/* No branch of x has the same first element as one of y. */
static bool is_apart(const struct field_set *x, const struct field_set *y)
{
    for (x = x->first, y = y->first; x && y;) {
        int r = field_elem_cmp(&x->elem, &y->elem);
        if (r == 0)
            return false;
        if (r < 0)
            x = x->next;
        else
            y = y->next;
    }
    return true;
}

static struct field_set *combine_sets(struct arena *a, enum field_set_op op,
                                      const struct field_set *x, const struct field_set *y)
{
    bool nothing = field_set_is_empty(x) || field_set_is_empty(y);
    if (nothing && op == OP_UNION && (x || y))
        return (struct field_set *)(field_set_is_empty(x) && y ? y : x);
    if (x && y && op >= OP_DIFFERENCE && is_apart(x, y))
        return (struct field_set *)x; /* sets are shared and immutable */
    struct field_set *root = arena_new(a, struct field_set);
    root->first = combine(a, op, x ? x->first : NULL, y ? y->first : NULL);
    return root;
}

struct field_set *field_set_union(struct arena *a, const struct field_set *x,
                                  const struct field_set *y)
{
    return combine_sets(a, OP_UNION, x, y);
}

struct field_set *field_set_intersection(struct arena *a, const struct field_set *x,
                                         const struct field_set *y)
{
    return combine_sets(a, OP_INTERSECTION, x, y);
}

struct field_set *field_set_difference(struct arena *a, const struct field_set *x,
                                       const struct field_set *y)
{
    return combine_sets(a, OP_DIFFERENCE, x, y);
}

struct field_set *field_set_recursive_difference(struct arena *a, const struct field_set *x,
                                                 const struct field_set *y)
{
    return combine_sets(a, OP_RECURSIVE_DIFFERENCE, x, y);
}

static struct field_set *leaves(struct arena *a, const struct field_set *x)
{
    struct field_set *first = NULL, **end = &first;
    for (; x; x = x->next)
        append(a, &end, x, x->is_member && !x->first, leaves(a, x->first));
    return first;
}

struct field_set *field_set_leaves(struct arena *a, const struct field_set *s)
{
    struct field_set *root = arena_new(a, struct field_set);
    root->first = leaves(a, s ? s->first : NULL);
    return root;
}

/* ---- FieldsV1 ---- */

/* 1: an element; 0: an element of an unknown kind. */
static int parse_elem(struct arena *a, struct str key, struct field_elem *ret, struct err *err)
{
    if (key.n < 2 || key.p[1] != ':')
        return err_set(err, E_PARSE, "'" STR_FMT "' is no path element", STR_ARG(key));
    struct str rest = str_slice(key, 2, key.n);
    struct json *v;
    int64_t i;
    int r;
    switch (key.p[0]) {
    case 'f':
        *ret = field_elem_name(rest);
        return 1;
    case 'k':
    case 'v':
        r = json_parse(a, rest, NULL, &v, err);
        if (r < 0)
            return r;
        if (key.p[0] == 'v') {
            *ret = field_elem_value(a, v);
            return 1;
        }
        if (v->type != JSON_OBJECT)
            return err_set(err, E_PARSE, "'" STR_FMT "' has no keys", STR_ARG(key));
        *ret = field_elem_key(a, v);
        return 1;
    case 'i':
        if (parse_i64(rest, INT32_MIN, INT32_MAX, &i) < 0)
            return err_set(err, E_PARSE, "'" STR_FMT "' is no index", STR_ARG(key));
        v = json_new_int(a, i);
        *ret = (struct field_elem){ .kind = FIELD_ELEM_INDEX, .text = v->s, .value = v };
        return 1;
    default:
        return 0;
    }
}

/* A node without children is a member, even if it is not marked. */
static int parse_node(struct arena *a, const struct json *fields, struct field_set *s,
                      struct err *err)
{
    struct field_set **end = &s->first;
    if (fields->type != JSON_OBJECT && fields->type != JSON_NULL)
        return err_set(err, E_PARSE, "a set of fields has to be an object");
    json_each (m, fields) {
        struct field_elem e;
        if (str_is(m->key, ".")) {
            s->is_member = true;
            continue;
        }
        int r = parse_elem(a, m->key, &e, err);
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        struct field_set *c = node_new(a, e);
        *end = c;
        end = &c->next;
        r = parse_node(a, m, c, err);
        if (r < 0)
            return r;
    }
    s->is_member |= !s->first;
    return 0;
}

int field_set_parse(struct arena *a, const struct json *fields, struct field_set **ret,
                    struct err *err)
{
    struct field_set *s = arena_new(a, struct field_set);
    int r = fields ? parse_node(a, fields, s, err) : 0;
    if (r < 0)
        return r;
    s->is_member = false;
    sort_tree(s);
    *ret = s;
    return 0;
}

static struct str elem_key(struct arena *a, const struct field_elem *e)
{
    static const char letters[] = { [FIELD_ELEM_NAME] = 'f',
                                    [FIELD_ELEM_KEY] = 'k',
                                    [FIELD_ELEM_VALUE] = 'v',
                                    [FIELD_ELEM_INDEX] = 'i' };
    assert((size_t)e->kind < sizeof letters);
    char *p = arena_alloc(a, e->text.n + 2);
    p[0] = letters[e->kind];
    p[1] = ':';
    if (e->text.n)
        memcpy(p + 2, e->text.p, e->text.n);
    return str_n(p, e->text.n + 2);
}

static struct json *write_node(struct arena *a, const struct field_set *s)
{
    struct json *obj = json_new_object(a);
    if (s->is_member && s->first)
        json_add_member(obj, STR("."), json_new_object(a));
    for (const struct field_set *c = s->first; c; c = c->next)
        json_add_member(obj, elem_key(a, &c->elem), write_node(a, c));
    return obj;
}

struct json *field_set_write(struct arena *a, const struct field_set *s)
{
    return s ? write_node(a, s) : json_new_object(a);
}

/* The member of `fields` for e, found without making its text. */
static const struct json *fields_get(const struct json *fields, const struct field_elem *e)
{
    static const char letters[] = "fkvi";
    json_each (m, fields) {
        if (m->key.n == e->text.n + 2 && m->key.p[0] == letters[e->kind] && m->key.p[1] == ':' &&
            (e->text.n == 0 || memcmp(m->key.p + 2, e->text.p, e->text.n) == 0))
            return m;
    }
    return NULL;
}

/* Both are large: parsing is cheaper than looking up each element. */
static bool is_large(const struct field_set *s, const struct json *fields)
{
    unsigned n = 0;
    for (const struct field_set *c = s->first; c && n <= TOUCH_MAX; c = c->next)
        n++;
    return n > TOUCH_MAX && fields->n > TOUCH_MAX;
}

bool field_set_touches(const struct field_set *s, const struct json *fields)
{
    if (s && is_large(s, fields))
        return true;
    for (const struct field_set *c = s ? s->first : NULL; c; c = c->next) {
        const struct json *f = fields_get(fields, &c->elem);
        if (!f)
            continue;
        bool is_leaf = f->n == 0, owned = is_leaf || json_getc(f, ".");
        if (c->is_member && (owned || !c->first))
            return true;
        if (field_set_touches(c, f))
            return true;
    }
    return false;
}
