/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module parser and rewriter; see instrument.h.
 *
 * One pass over the sections fills `struct instrument_scan`: pointers into the module's bytes,
 * never copies. A second pass writes the new module from the same bytes. Counts from the module are
 * checked against the remaining bytes before memory is allocated for them, so the module's size
 * bounds the memory. Binary format: WebAssembly core specification 2.0, chapter 5.
 */
#include "wasm/instrument.h"

#include "base/vec.h"
#include "wasm/instruction.h"
#include "wasm/leb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The engine has the same limits. */
#define TYPES_MAX    1000000u
#define FUNCS_MAX    1000000u
#define GLOBALS_MAX  1000000u
#define SEGMENTS_MAX 100000u

enum section {
    SEC_CUSTOM = 0,
    SEC_TYPE = 1,
    SEC_IMPORT = 2,
    SEC_FUNCTION = 3,
    SEC_TABLE = 4,
    SEC_MEMORY = 5,
    SEC_GLOBAL = 6,
    SEC_EXPORT = 7,
    SEC_START = 8,
    SEC_ELEMENT = 9,
    SEC_CODE = 10,
    SEC_DATA = 11,
    SEC_DATA_COUNT = 12,
    SEC_TAG = 13,
};

/* The required order of sections; custom sections may be anywhere. */
static const uint8_t section_rank[] = {
    [SEC_TYPE] = 1,   [SEC_IMPORT] = 2,   [SEC_FUNCTION] = 3,    [SEC_TABLE] = 4,
    [SEC_MEMORY] = 5, [SEC_TAG] = 6,      [SEC_GLOBAL] = 7,      [SEC_EXPORT] = 8,
    [SEC_START] = 9,  [SEC_ELEMENT] = 10, [SEC_DATA_COUNT] = 11, [SEC_CODE] = 12,
    [SEC_DATA] = 13,
};

struct func_type {
    const uint8_t *params, *results; /* type bytes in the module */
    uint32_t n_params, n_results;
};

struct global {
    uint8_t type;
    bool is_mutable;
};

struct instrument_scan {
    VEC(struct func_type) types;
    VEC(uint32_t) funcs;        /* type index of every function, imported ones first */
    VEC(struct global) globals; /* imported ones first */
    VEC(uint8_t) tables;        /* element type byte */
    VEC(struct module_extern) imports;
    VEC(struct module_extern) exports;
    struct arena sigs;
    size_t name_bytes;
    uint32_t n_imported_globals;
    uint32_t n_defined_memories;
    struct str export_entries; /* the export section after its count */
    uint32_t n_export_entries;
    bool has_start;
    uint32_t start_func;
    uint64_t image_lo, image_hi;
    uint32_t memory_min_pages, memory_max_pages;
    char globals_text[MODULE_GLOBALS_MAX]; /* type letters of __dm_g0 ... */
    uint32_t globals_index[MODULE_GLOBALS_MAX];
    uint32_t n_saved_globals;
    char why_not[128]; /* the first reason found; empty: dissolvable */
};

static void scan_fini(struct instrument_scan *s)
{
    vec_fini(&s->types);
    vec_fini(&s->funcs);
    vec_fini(&s->globals);
    vec_fini(&s->tables);
    vec_fini(&s->imports);
    vec_fini(&s->exports);
    arena_fini(&s->sigs);
}

__attribute__((format(printf, 2, 3))) static void not_dissolvable(struct instrument_scan *s,
                                                                  const char *fmt, ...)
{
    if (s->why_not[0])
        return;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(s->why_not, sizeof s->why_not, fmt, ap);
    va_end(ap);
}

static int malformed(struct err *err, const char *where)
{
    return err_set(err, E_PARSE, "malformed module: %s", where);
}

static int over_limit(struct err *err, const char *what, uint32_t max)
{
    return err_set(err, E_LIMIT, "the module has more than %u %s", max, what);
}

/* ---- reading ---- */

/* The letter of a value type, 0: unknown. */
static char type_letter(uint8_t type)
{
    switch (type) {
    case 0x7f:
        return 'i';
    case 0x7e:
        return 'I';
    case 0x7d:
        return 'f';
    case 0x7c:
        return 'F';
    case 0x7b:
        return 'v';
    case 0x70:
        return 'r';
    case 0x6f:
        return 'x';
    default:
        return 0;
    }
}

static int check_type(uint8_t type, struct err *err)
{
    if (!type_letter(type))
        return err_set(err, E_UNSUPPORTED, "the module uses the value type 0x%02x", type);
    return 0;
}

/* ---- names and signatures ---- */

static int count_name(struct instrument_scan *s, size_t bytes, struct err *err)
{
    s->name_bytes += bytes;
    if (s->name_bytes > MODULE_NAME_BYTES_MAX)
        return over_limit(err, "bytes of import and export names", MODULE_NAME_BYTES_MAX);
    return 0;
}

static int sig_alloc(struct instrument_scan *s, size_t n, char **ret, struct err *err)
{
    int r = count_name(s, n, err);
    if (r < 0)
        return r;
    *ret = arena_try(&s->sigs, n);
    return *ret ? 0 : err_set(err, -ENOMEM, "no memory for signatures");
}

static int func_sig(struct instrument_scan *s, uint32_t type, struct str *ret, struct err *err)
{
    if (type >= s->types.n)
        return malformed(err, "type index out of range");
    const struct func_type *t = &s->types.p[type];
    char *text;
    int r = sig_alloc(s, (size_t)t->n_params + 1 + t->n_results, &text, err);
    if (r < 0)
        return r;
    size_t n = 0;
    for (uint32_t i = 0; i < t->n_params; i++)
        text[n++] = type_letter(t->params[i]);
    text[n++] = ':';
    for (uint32_t i = 0; i < t->n_results; i++)
        text[n++] = type_letter(t->results[i]);
    *ret = str_n(text, n);
    return 0;
}

static int global_sig(struct instrument_scan *s, struct global g, struct str *ret, struct err *err)
{
    char *text;
    int r = sig_alloc(s, 2, &text, err);
    if (r < 0)
        return r;
    text[0] = type_letter(g.type);
    text[1] = 'm';
    *ret = str_n(text, g.is_mutable ? 2 : 1);
    return 0;
}

static int table_sig(struct instrument_scan *s, uint8_t type, struct str *ret, struct err *err)
{
    char *text;
    int r = sig_alloc(s, 1, &text, err);
    if (r < 0)
        return r;
    text[0] = type_letter(type);
    *ret = str_n(text, 1);
    return 0;
}

/* ---- sections ---- */

static int scan_types(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 3);
    if (n > TYPES_MAX)
        return over_limit(err, "types", TYPES_MAX);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t form = rd_u8(r);
        if (rd_ok(r) && form != 0x60)
            return err_set(err, E_UNSUPPORTED, "the module declares a type of form 0x%02x", form);
        struct func_type t = { .n_params = rd_count(r, 1) };
        t.params = (const uint8_t *)rd_str(r, t.n_params).p;
        t.n_results = rd_count(r, 1);
        t.results = (const uint8_t *)rd_str(r, t.n_results).p;
        if (!rd_ok(r))
            return malformed(err, "type section");
        int c = 0;
        for (uint32_t k = 0; k < t.n_params && c == 0; k++)
            c = check_type(t.params[k], err);
        for (uint32_t k = 0; k < t.n_results && c == 0; k++)
            c = check_type(t.results[k], err);
        if (c < 0)
            return c;
        vec_push(&s->types, t);
    }
    return 0;
}

struct instrument_limits {
    uint32_t min, max;
    bool has_max;
};

static int rd_limits(struct rd *r, const char *what, struct instrument_limits *ret, struct err *err)
{
    uint8_t flags = rd_u8(r);
    if (rd_ok(r) && flags > 1)
        return err_set(err, E_UNSUPPORTED,
                       "the module has a shared, 64-bit or otherwise special %s", what);
    ret->has_max = flags & 1;
    ret->min = rd_u32(r);
    ret->max = ret->has_max ? rd_u32(r) : UINT32_MAX;
    return rd_ok(r) ? 0 : malformed(err, what);
}

static int rd_table(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint8_t type = rd_u8(r);
    if (rd_ok(r) && type != 0x70 && type != 0x6f)
        return err_set(err, E_UNSUPPORTED, "the module has a table of elements 0x%02x", type);
    struct instrument_limits limits;
    int c = rd_limits(r, "table", &limits, err);
    if (c < 0)
        return c;
    vec_push(&s->tables, type);
    return 0;
}

static int rd_memory(struct instrument_scan *s, struct rd *r, struct err *err)
{
    struct instrument_limits limits;
    int c = rd_limits(r, "memory", &limits, err);
    if (c < 0)
        return c;
    if (limits.min > MODULE_PAGES_MAX)
        return malformed(err, "memory larger than its address space");
    s->memory_min_pages = limits.min;
    s->memory_max_pages = MIN(limits.max, MODULE_PAGES_MAX);
    return 0;
}

static int rd_global_type(struct instrument_scan *s, struct rd *r, struct err *err)
{
    struct global g = { .type = rd_u8(r) };
    uint8_t mutability = rd_u8(r);
    if (!rd_ok(r) || mutability > 1)
        return malformed(err, "global type");
    g.is_mutable = mutability;
    int c = check_type(g.type, err);
    if (c < 0)
        return c;
    if (s->globals.n >= GLOBALS_MAX)
        return over_limit(err, "globals", GLOBALS_MAX);
    vec_push(&s->globals, g);
    return 0;
}

static int scan_import(struct instrument_scan *s, struct rd *r, struct err *err)
{
    struct module_extern e = { .module = rd_name(r) };
    e.name = rd_name(r);
    uint8_t kind = rd_u8(r);
    int c = 0;
    if (!rd_ok(r) || kind > MODULE_TAG)
        return malformed(err, "import section");
    e.kind = (enum module_extern_kind)kind;
    switch (e.kind) {
    case MODULE_FUNC: {
        uint32_t type = rd_u32(r);
        if (!rd_ok(r))
            return malformed(err, "import section");
        vec_push(&s->funcs, type);
        c = func_sig(s, type, &e.sig, err);
        break;
    }
    case MODULE_TABLE:
        not_dissolvable(s, "it imports a table");
        c = rd_table(s, r, err);
        if (c == 0)
            c = table_sig(s, s->tables.p[s->tables.n - 1], &e.sig, err);
        break;
    case MODULE_MEMORY:
        not_dissolvable(s, "it imports its memory");
        c = rd_memory(s, r, err);
        break;
    case MODULE_GLOBAL:
        c = rd_global_type(s, r, err);
        if (c < 0)
            break;
        s->n_imported_globals++;
        if (s->globals.p[s->globals.n - 1].is_mutable)
            not_dissolvable(s, "it imports a mutable global");
        c = global_sig(s, s->globals.p[s->globals.n - 1], &e.sig, err);
        break;
    case MODULE_TAG:
        return err_set(err, E_UNSUPPORTED, "the module imports an exception tag");
    }
    if (c == 0)
        c = count_name(s, e.module.n + e.name.n, err);
    if (c == 0)
        vec_push(&s->imports, e);
    return c;
}

static int scan_imports(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 4);
    if (n > MODULE_EXTERNS_MAX)
        return over_limit(err, "imports", MODULE_EXTERNS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        int c = scan_import(s, r, err);
        if (c < 0)
            return c;
    }
    return 0;
}

static int scan_functions(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 1);
    if (n > FUNCS_MAX)
        return over_limit(err, "functions", FUNCS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t type = rd_u32(r);
        vec_push(&s->funcs, type);
    }
    return 0;
}

static int scan_tables(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 3);
    int c = 0;
    for (uint32_t i = 0; i < n && c == 0; i++)
        c = rd_table(s, r, err);
    return c;
}

static int scan_memories(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 2);
    if (n > 1)
        return err_set(err, E_UNSUPPORTED, "the module has %u memories", n);
    s->n_defined_memories = n;
    return n == 1 ? rd_memory(s, r, err) : 0;
}

/* A constant expression. *ret: its value if it is a single i32.const, else -1. */
static int rd_const_expr(struct rd *r, int64_t *ret, struct err *err)
{
    int64_t value = -1;
    for (unsigned n = 0; rd_ok(r); n++) {
        uint8_t op = rd_u8(r);
        if (op == 0x0b && rd_ok(r)) {
            *ret = value;
            return 0;
        }
        value = -1;
        switch (op) {
        case 0x41: /* i32.const */
            value = rd_sleb(r, 32) & UINT32_MAX;
            if (n > 0)
                value = -1;
            break;
        case 0x42: /* i64.const */
            (void)rd_sleb(r, 64);
            break;
        case 0x43: /* f32.const */
            (void)rd_str(r, 4);
            break;
        case 0x44: /* f64.const */
            (void)rd_str(r, 8);
            break;
        case 0x23: /* global.get */
        case 0xd2: /* ref.func */
            (void)rd_u32(r);
            break;
        case 0xd0: /* ref.null */
            (void)rd_sleb(r, 33);
            break;
        case 0xfd: /* v128.const */
            if (rd_u32(r) != 0x0c)
                return err_set(err, E_UNSUPPORTED, "unknown instruction in a constant expression");
            (void)rd_str(r, 16);
            break;
        case 0x6a: /* i32.add, sub, mul; i64.add, sub, mul */
        case 0x6b:
        case 0x6c:
        case 0x7c:
        case 0x7d:
        case 0x7e:
            break;
        default:
            if (!rd_ok(r))
                break;
            return err_set(err, E_UNSUPPORTED,
                           "unknown instruction 0x%02x in a constant expression", op);
        }
    }
    return malformed(err, "constant expression");
}

static int scan_globals(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 3);
    for (uint32_t i = 0; i < n; i++) {
        int64_t value;
        int c = rd_global_type(s, r, err);
        if (c == 0)
            c = rd_const_expr(r, &value, err);
        if (c < 0)
            return c;
    }
    return 0;
}

static int scan_export(struct instrument_scan *s, struct rd *r, struct err *err)
{
    struct module_extern e = { .name = rd_name(r) };
    uint8_t kind = rd_u8(r);
    uint32_t index = rd_u32(r);
    int c = 0;
    if (!rd_ok(r) || kind > MODULE_TAG)
        return malformed(err, "export section");
    if (str_has_prefix(e.name, STR("__dm_")))
        return err_set(err, E_INVALID, "the module exports a name that begins with '__dm_'");
    e.kind = (enum module_extern_kind)kind;
    switch (e.kind) {
    case MODULE_FUNC:
        if (index >= s->funcs.n)
            return malformed(err, "exported function out of range");
        c = func_sig(s, s->funcs.p[index], &e.sig, err);
        break;
    case MODULE_TABLE:
        if (index >= s->tables.n)
            return malformed(err, "exported table out of range");
        c = table_sig(s, s->tables.p[index], &e.sig, err);
        break;
    case MODULE_MEMORY:
        break;
    case MODULE_GLOBAL:
        if (index >= s->globals.n)
            return malformed(err, "exported global out of range");
        c = global_sig(s, s->globals.p[index], &e.sig, err);
        break;
    case MODULE_TAG:
        return err_set(err, E_UNSUPPORTED, "the module exports an exception tag");
    }
    if (c == 0)
        c = count_name(s, e.name.n, err);
    if (c == 0)
        vec_push(&s->exports, e);
    return c;
}

static int scan_exports(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 3);
    if (n > MODULE_EXTERNS_MAX)
        return over_limit(err, "exports", MODULE_EXTERNS_MAX);
    s->n_export_entries = n;
    s->export_entries = str_n(r->p, rd_left(r));
    for (uint32_t i = 0; i < n; i++) {
        int c = scan_export(s, r, err);
        if (c < 0)
            return c;
    }
    return 0;
}

static int scan_start(struct instrument_scan *s, struct rd *r, struct err *err)
{
    s->start_func = rd_u32(r);
    if (!rd_ok(r) || s->start_func >= s->funcs.n)
        return malformed(err, "start section");
    uint32_t type = s->funcs.p[s->start_func];
    if (type >= s->types.n || s->types.p[type].n_params || s->types.p[type].n_results)
        return malformed(err, "type of the start function");
    s->has_start = true;
    return 0;
}

static int scan_segment(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t kind = rd_u32(r);
    int64_t offset = -1;
    if (!rd_ok(r) || kind > 2)
        return malformed(err, "data section");
    if (kind == 2 && rd_u32(r) != 0)
        return malformed(err, "data segment of another memory");
    if (kind != 1) {
        int c = rd_const_expr(r, &offset, err);
        if (c < 0)
            return c;
    }
    uint64_t n = rd_name(r).n;
    if (!rd_ok(r))
        return malformed(err, "data section");
    /* Other active segments are written at instantiation, which makes their pages dirty like any
     * write. */
    if (kind == 1 || offset < 0)
        return 0;
    uint64_t lo = (uint64_t)offset, hi = lo + n;
    if (s->n_defined_memories == 1 && hi > (uint64_t)s->memory_min_pages * MODULE_PAGE_BYTES)
        return err_set(err, E_INVALID, "a data segment of the module lies outside its memory");
    if (n == 0)
        return 0;
    bool is_first = s->image_hi == 0;
    s->image_lo = is_first ? lo : MIN(s->image_lo, lo);
    s->image_hi = MAX(s->image_hi, hi);
    return 0;
}

static int scan_data(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 2);
    if (n > SEGMENTS_MAX)
        return over_limit(err, "data segments", SEGMENTS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        int c = scan_segment(s, r, err);
        if (c < 0)
            return c;
    }
    return 0;
}

/* ---- code ---- */

static int scan_body(struct instrument_scan *s, struct str body, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    for (uint32_t n = rd_count(&r, 2); n > 0 && rd_ok(&r); n--) {
        (void)rd_u32(&r); /* number of locals */
        int c = check_type(rd_u8(&r), err);
        if (c < 0)
            return rd_ok(&r) ? c : malformed(err, "locals of a function");
    }
    while (rd_left(&r) > 0) {
        uint32_t opcode;
        switch (instruction_read(&r, &opcode)) {
        case INSTRUCTION_PLAIN:
            continue;
        case INSTRUCTION_MUTATES:
            not_dissolvable(s, "it changes a table or drops a segment (instruction 0x%02x)",
                            opcode);
            return 0;
        case INSTRUCTION_ATOMIC:
            not_dissolvable(s, "it uses atomic instructions");
            return 0;
        case INSTRUCTION_UNKNOWN:
            not_dissolvable(s, "it contains the unknown instruction 0x%02x", opcode);
            return 0;
        }
    }
    return rd_ok(&r) ? 0 : malformed(err, "an instruction runs over the end of its function");
}

static int scan_code(struct instrument_scan *s, struct rd *r, struct err *err)
{
    uint32_t n = rd_count(r, 2);
    for (uint32_t i = 0; i < n; i++) {
        struct str body = rd_name(r);
        if (!rd_ok(r))
            return malformed(err, "code section");
        int c = s->why_not[0] ? 0 : scan_body(s, body, err);
        if (c < 0)
            return c;
    }
    return 0;
}

/* ---- the module ---- */

struct section_view {
    uint8_t id;
    struct str all; /* with its header */
    struct str body;
    struct str name; /* custom sections only */
};

/* 1: *ret is the next section; 0: there is none. */
static int next_section(struct rd *r, struct section_view *ret, struct err *err)
{
    if (rd_left(r) == 0)
        return 0;
    const uint8_t *start = r->p;
    struct section_view v = { .id = rd_u8(r) };
    v.body = rd_name(r);
    if (!rd_ok(r))
        return malformed(err, "a section runs over the end of the module");
    v.all = str_n(start, (size_t)(r->p - start));
    if (v.id >= ARRAY_LEN(section_rank))
        return err_set(err, E_UNSUPPORTED, "the module has a section of unknown kind %u", v.id);
    if (v.id == SEC_CUSTOM) {
        struct rd body = rd_init(v.body.p, v.body.n);
        v.name = rd_name(&body);
        if (!rd_ok(&body))
            return malformed(err, "name of a custom section");
    }
    *ret = v;
    return 1;
}

static int scan_section(struct instrument_scan *s, const struct section_view *v, struct err *err)
{
    struct rd r = rd_init(v->body.p, v->body.n);
    int c = 0;
    switch ((enum section)v->id) {
    case SEC_CUSTOM:
    case SEC_ELEMENT: /* initial table contents; instructions that would change them are found in
                         code */
    case SEC_DATA_COUNT:
        return 0;
    case SEC_TAG:
        return err_set(err, E_UNSUPPORTED, "the module uses exceptions");
    case SEC_TYPE:
        c = scan_types(s, &r, err);
        break;
    case SEC_IMPORT:
        c = scan_imports(s, &r, err);
        break;
    case SEC_FUNCTION:
        c = scan_functions(s, &r, err);
        break;
    case SEC_TABLE:
        c = scan_tables(s, &r, err);
        break;
    case SEC_MEMORY:
        c = scan_memories(s, &r, err);
        break;
    case SEC_GLOBAL:
        c = scan_globals(s, &r, err);
        break;
    case SEC_EXPORT:
        c = scan_exports(s, &r, err);
        break;
    case SEC_START:
        c = scan_start(s, &r, err);
        break;
    case SEC_CODE:
        c = scan_code(s, &r, err);
        break;
    case SEC_DATA:
        c = scan_data(s, &r, err);
        break;
    }
    if (c < 0)
        return c;
    if (!rd_ok(&r) || rd_left(&r) > 0)
        return err_set(err, E_PARSE, "malformed module: length of section %u", v->id);
    return 0;
}

static int check_header(struct rd *r, struct err *err)
{
    static const char magic[4] = { 0, 'a', 's', 'm' };
    struct str head = rd_str(r, 4);
    if (!rd_ok(r) || memcmp(head.p, magic, 4) != 0)
        return err_set(err, E_PARSE, "not a WebAssembly module");
    uint32_t version = rd_le32(r);
    if (rd_ok(r) && version == 0x1000d)
        return err_set(err, E_UNSUPPORTED,
                       "this is a WebAssembly component; only core modules run here");
    if (!rd_ok(r) || version != 1)
        return err_set(err, E_UNSUPPORTED, "unknown version 0x%x of the binary format", version);
    return 0;
}

static int scan_module(struct instrument_scan *s, struct str wasm, struct err *err)
{
    struct rd r = rd_init(wasm.p, wasm.n);
    int c = check_header(&r, err);
    if (c < 0)
        return c;
    struct section_view v = { 0 };
    uint8_t rank = 0;
    while ((c = next_section(&r, &v, err)) > 0) {
        if (v.id != SEC_CUSTOM && section_rank[v.id] <= rank)
            return malformed(err, "a section appears twice or out of order");
        if (v.id != SEC_CUSTOM)
            rank = section_rank[v.id];
        c = scan_section(s, &v, err);
        if (c < 0)
            return c;
    }
    return c;
}

/* Choose the globals to save, or set the reason why the module cannot be dissolved. */
static void choose_globals(struct instrument_scan *s)
{
    uint32_t n = 0;
    for (uint32_t i = s->n_imported_globals; i < s->globals.n; i++) {
        const struct global *g = &s->globals.p[i];
        if (!g->is_mutable)
            continue;
        char letter = type_letter(g->type);
        if (letter == 'r' || letter == 'x') {
            not_dissolvable(s, "it has a mutable global that holds a reference");
            continue;
        }
        if (n == MODULE_GLOBALS_MAX) {
            not_dissolvable(s, "it has more than %u mutable globals", MODULE_GLOBALS_MAX);
            break;
        }
        s->globals_text[n] = letter;
        s->globals_index[n++] = i;
    }
    s->n_saved_globals = n;
}

/* ---- writing ---- */

static void put_leb(struct buf *b, uint32_t v)
{
    for (; v >= 0x80; v >>= 7)
        (void)buf_add_u8(b, (uint8_t)(v | 0x80));
    (void)buf_add_u8(b, (uint8_t)v);
}

static void put_export(struct buf *b, uint32_t *n, const char *name, enum module_extern_kind kind,
                       uint32_t index)
{
    put_leb(b, (uint32_t)strlen(name));
    (void)buf_add_cstr(b, name);
    (void)buf_add_u8(b, (uint8_t)kind);
    put_leb(b, index);
    ++*n;
}

static void put_export_section(const struct instrument_scan *s, struct buf *out)
{
    scoped(buf_fini_scoped) struct buf added = BUF_INIT(INSTRUMENT_GROWTH_MAX);
    scoped(buf_fini_scoped) struct buf count = BUF_INIT(8);
    uint32_t n = s->n_export_entries;
    if (s->n_defined_memories == 1)
        put_export(&added, &n, "__dm_mem", MODULE_MEMORY, 0);
    for (uint32_t i = 0; i < s->n_saved_globals; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "__dm_g%u", i);
        put_export(&added, &n, name, MODULE_GLOBAL, s->globals_index[i]);
    }
    if (s->has_start)
        put_export(&added, &n, "__dm_start", MODULE_FUNC, s->start_func);
    put_leb(&count, n);
    if (!buf_ok(&added) || !buf_ok(&count)) {
        out->failed = out->failed ? out->failed : -ENOMEM;
        return;
    }
    (void)buf_add_u8(out, SEC_EXPORT);
    put_leb(out, (uint32_t)(count.n + s->export_entries.n + added.n));
    (void)buf_add_str(out, buf_str(&count));
    (void)buf_add_str(out, s->export_entries);
    (void)buf_add_str(out, buf_str(&added));
}

static int write_module(const struct instrument_scan *s, struct str wasm, bool keep_names,
                        struct buf *out, struct err *err)
{
    struct rd r = rd_init(wasm.p, wasm.n);
    (void)buf_add_str(out, rd_str(&r, 8));
    struct section_view v = { 0 };
    bool is_export_done = false;
    int c;
    while ((c = next_section(&r, &v, err)) > 0) {
        if (v.id == SEC_CUSTOM) {
            if (keep_names && str_is(v.name, "name"))
                (void)buf_add_str(out, v.all);
            continue;
        }
        if (!is_export_done && section_rank[v.id] >= section_rank[SEC_EXPORT]) {
            put_export_section(s, out);
            is_export_done = true;
        }
        if (v.id != SEC_EXPORT && v.id != SEC_START)
            (void)buf_add_str(out, v.all);
    }
    if (c < 0)
        return c;
    if (!is_export_done)
        put_export_section(s, out);
    return buf_ok(out) ? 0 : err_sys(err, out->failed, "instrumented module");
}

static int describe(struct instrument_scan *s, bool has_names, struct module_info **ret,
                    struct err *err)
{
    struct module_info info = {
        .has_memory = s->n_defined_memories == 1,
        .image_lo = s->image_lo,
        .image_hi = s->image_hi,
        .globals = str_n(s->globals_text, s->n_saved_globals),
        .has_start = s->has_start,
        .has_names = has_names,
        .is_dissolvable = s->why_not[0] == 0,
        .why_not = str_of(s->why_not),
        .n_imports = s->imports.n,
        .n_exports = s->exports.n,
        .imports = s->imports.p,
        .exports = s->exports.p,
    };
    if (info.has_memory) {
        info.memory_min_pages = s->memory_min_pages;
        info.memory_max_pages = s->memory_max_pages;
    } else {
        info.image_lo = info.image_hi = 0;
    }
    return module_info_copy(&info, ret, err);
}

static int run(struct instrument_scan *s, struct str wasm, bool keep_names, struct buf *out,
               struct module_info **ret, struct err *err)
{
    int c = scan_module(s, wasm, err);
    if (c < 0)
        return c;
    if (s->n_defined_memories != 1)
        not_dissolvable(s, "it defines no memory");
    choose_globals(s);
    c = write_module(s, wasm, keep_names, out, err);
    if (c < 0)
        return c;
    return describe(s, keep_names, ret, err);
}

int instrument(struct str wasm, unsigned flags, struct buf *out, struct module_info **ret,
               struct err *err)
{
    struct instrument_scan s = { .sigs.max_bytes = (size_t)2 * MODULE_NAME_BYTES_MAX };
    int c = run(&s, wasm, flags & INSTRUMENT_KEEP_NAMES, out, ret, err);
    scan_fini(&s);
    return c;
}
