/* SPDX-License-Identifier: Apache-2.0 */
/* Stack traces of guests in upstream's form: MODULE.FUNCTION(PARAMETERS) RESULT. */
#include "sched/wasm/internal.h"

#include "wasm/leb.h"

enum {
    SECTION_TYPE = 1,
    SECTION_IMPORT = 2,
    SECTION_FUNCTION = 3,
    FUNCTIONS_MAX = 1 << 20,
    TYPES_MAX = 1 << 16,
    TYPE_FORM_FUNC = 0x60
};

struct symbols {
    struct arena arena;
    const char **types;
    uint32_t n_types;
    VEC(uint32_t) functions; /* types of functions, imports first */
};

static const char *value_type(uint8_t byte)
{
    switch (byte) {
    case 0x7f:
        return "i32";
    case 0x7e:
        return "i64";
    case 0x7d:
        return "f32";
    case 0x7c:
        return "f64";
    case 0x7b:
        return "v128";
    case 0x70:
        return "funcref";
    case 0x6f:
        return "externref";
    default:
        return NULL;
    }
}

static uint32_t add_list(struct rd *r, struct buf *to)
{
    uint32_t n = rd_count(r, 1);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = value_type(rd_u8(r));
        r->failed |= name == NULL;
        (void)buf_printf(to, "%s%s", i ? "," : "", name ? name : "");
    }
    return n;
}

static void read_types(struct symbols *t, struct rd *r)
{
    t->n_types = rd_count(r, 3);
    if (t->n_types > TYPES_MAX)
        r->failed = true;
    if (!rd_ok(r))
        t->n_types = 0;
    t->types = arena_new_n(&t->arena, const char *, t->n_types + 1);
    for (uint32_t i = 0; i < t->n_types && rd_ok(r); i++) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
        scoped(buf_fini_scoped) struct buf results = BUF_INIT(4096);
        r->failed |= rd_u8(r) != TYPE_FORM_FUNC;
        (void)buf_add_char(&text, '(');
        (void)add_list(r, &text);
        (void)buf_add_char(&text, ')');
        uint32_t n = add_list(r, &results);
        if (n)
            (void)buf_printf(&text, n == 1 ? " %s" : " (%s)", buf_cstr(&results));
        t->types[i] = arena_strndup(&t->arena, buf_cstr(&text), text.n);
    }
}

static void skip_limits(struct rd *r)
{
    uint8_t flags = rd_u8(r);
    (void)rd_leb(r, 64);
    if (flags & 1)
        (void)rd_leb(r, 64);
}

static void add_function(struct symbols *t, struct rd *r)
{
    uint32_t type = rd_u32(r);
    if (t->functions.n >= FUNCTIONS_MAX)
        r->failed = true;
    else
        vec_push(&t->functions, type);
}

static void read_imports(struct symbols *t, struct rd *r)
{
    for (uint32_t n = rd_count(r, 3); n > 0 && rd_ok(r); n--) {
        (void)rd_name(r);
        (void)rd_name(r);
        switch (rd_u8(r)) {
        case MODULE_FUNC:
            add_function(t, r);
            break;
        case MODULE_TABLE:
            (void)rd_u8(r);
            skip_limits(r);
            break;
        case MODULE_MEMORY:
            skip_limits(r);
            break;
        case MODULE_GLOBAL:
            (void)rd_le16(r);
            break;
        default:
            r->failed = true;
        }
    }
}

struct symbols *symbols_new(struct str wasm)
{
    struct symbols *t = xnew(struct symbols);
    struct rd r = rd_init(wasm.p, wasm.n);
    bool ok = true;
    (void)rd_le64(&r); /* magic and version, checked by the compiler */
    while (rd_ok(&r) && r.n && ok) {
        uint8_t id = rd_u8(&r);
        struct str body = rd_name(&r);
        struct rd section = rd_init(body.p, body.n);
        if (id == SECTION_TYPE)
            read_types(t, &section);
        else if (id == SECTION_IMPORT)
            read_imports(t, &section);
        else if (id == SECTION_FUNCTION)
            for (uint32_t n = rd_count(&section, 1); n > 0 && rd_ok(&section); n--)
                add_function(t, &section);
        ok = rd_ok(&section) && id <= 13;
        if (id == SECTION_FUNCTION)
            break;
    }
    if (ok && rd_ok(&r))
        return t;
    symbols_free(t);
    return NULL;
}

void symbols_free(struct symbols *t)
{
    if (!t)
        return;
    vec_fini(&t->functions);
    arena_fini(&t->arena);
    free(t);
}

const char *symbols_type(const struct symbols *t, uint32_t function)
{
    uint32_t type = t && function < t->functions.n ? t->functions.p[function] : UINT32_MAX;
    return t && type < t->n_types ? t->types[type] : "";
}

static void add_host_frame(struct buf *to, const struct engine_func *row)
{
    struct str params, results;
    (void)str_cut(str_of(row->sig), ':', &params, &results);
    (void)buf_printf(to, "\n\t%s.%s(", row->module, row->name);
    for (size_t i = 0; i < params.n; i++)
        (void)buf_printf(to, "%s%s", i ? "," : "", params.p[i] == 'I' ? "i64" : "i32");
    (void)buf_add_char(to, ')');
    if (results.n)
        (void)buf_add_cstr(to, results.p[0] == 'I' ? " i64" : " i32");
}

void symbols_add_frames(const struct symbols *t, struct buf *to,
                        const struct engine_func *failed_in, wasm_frame_vec_t *frames)
{
    enum { FRAMES_MAX = 30 };
    size_t room = FRAMES_MAX;
    (void)buf_add_cstr(to, "\nwasm stack trace:");
    if (failed_in) {
        add_host_frame(to, failed_in);
        room--;
    }
    for (size_t i = 0; i < frames->size && i < room; i++) {
        const wasm_name_t *module = wasmtime_frame_module_name(frames->data[i]);
        const wasm_name_t *name = wasmtime_frame_func_name(frames->data[i]);
        uint32_t index = wasm_frame_func_index(frames->data[i]);
        (void)buf_printf(to, "\n\t%.*s.", module ? (int)module->size : 0,
                         module ? module->data : "");
        if (name)
            (void)buf_add(to, name->data, name->size);
        else
            (void)buf_printf(to, "$%u", index);
        (void)buf_add_cstr(to, symbols_type(t, index));
    }
    if (frames->size >= room)
        (void)buf_add_cstr(to, "\n\t... maybe followed by omitted frames");
    wasm_frame_vec_delete(frames);
}
