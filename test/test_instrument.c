/* SPDX-License-Identifier: Apache-2.0 */
/* The module parser and rewriter, and module descriptions. */
#include "test.h"

#include "base/mem.h"
#include "base/sys.h"
#include "wasm/instrument.h"

#include <errno.h>
#include <fcntl.h>

/* A module of test/wasm, given (buf_fini()). */
static int read_module(const char *name, struct buf *to)
{
    const char *dir = getenv("TEST_WASM_DIR");
    CHECK(dir);
    scoped(free_scoped) char *path = xasprintf("%s/%s.wasm", dir, name);
    return sys_read_file(AT_FDCWD, path, to, NULL);
}

struct result {
    struct buf wasm, out;
    struct module_info *info;
    struct err err;
    int status;
};

static void result_fini(struct result *t)
{
    buf_fini(&t->wasm);
    buf_fini(&t->out);
    module_info_free(t->info);
}

static void run_bytes(struct result *t, unsigned flags)
{
    t->out = BUF_INIT(t->wasm.n + INSTRUMENT_GROWTH_MAX);
    t->status = instrument(buf_str(&t->wasm), flags, &t->out, &t->info, &t->err);
}

#define RESULT scoped(result_fini) struct result

static void run_file(struct result *t, const char *name, unsigned flags)
{
    *t = (struct result){ .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
    CHECK_OK(read_module(name, &t->wasm));
    run_bytes(t, flags);
}

/* ---- modules made by hand ---- */

static void put_leb(struct buf *b, uint32_t v)
{
    for (; v >= 0x80; v >>= 7)
        CHECK_OK(buf_add_u8(b, (uint8_t)(v | 0x80)));
    CHECK_OK(buf_add_u8(b, (uint8_t)v));
}

static void put_header(struct buf *b)
{
    CHECK_OK(buf_add(b, "\0asm\1\0\0\0", 8));
}

static void put_section(struct buf *b, uint8_t id, struct str body)
{
    CHECK_OK(buf_add_u8(b, id));
    put_leb(b, (uint32_t)body.n);
    CHECK_OK(buf_add_str(b, body));
}

static void make(struct result *t)
{
    *t = (struct result){ .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
    put_header(&t->wasm);
}

#define BYTES(lit) STR(lit)

/* ---- what is found ---- */

TEST(a_c_module_is_described)
{
    RESULT t;
    run_file(&t, "counter", 0);
    CHECK_OK(t.status);
    CHECK(t.info->is_dissolvable);
    CHECK(t.info->has_memory);
    CHECK(!t.info->has_start);
    CHECK_STR(t.info->globals, "i");
    CHECK_INT(t.info->n_imports, 0);
    CHECK(module_info_has_func(t.info, "add", "i:i"));
    CHECK(module_info_has_func(t.info, "sum", ":i"));
    CHECK(!module_info_has_func(t.info, "sum", "i:i"));
    CHECK(!module_info_has_func(t.info, "none", ":i"));
    CHECK_INT(module_info_export(t.info, "memory")->kind, MODULE_MEMORY);
    CHECK(!module_info_export(t.info, "__dm_mem"));
    CHECK(t.info->image_lo >= 1024 && t.info->image_lo < t.info->image_hi);
    CHECK(t.info->image_hi <= (uint64_t)t.info->memory_min_pages * MODULE_PAGE_BYTES);
    CHECK_INT(t.info->memory_max_pages, MODULE_PAGES_MAX);
}

TEST(everything_that_a_snapshot_holds_is_dissolvable)
{
    RESULT t;
    run_file(&t, "everything", 0);
    CHECK_OK(t.status);
    CHECK_STR(t.info->why_not, "");
    CHECK(t.info->is_dissolvable);
    CHECK(t.info->has_start);
    CHECK_STR(t.info->globals, "iIfFvI");
    CHECK_INT(t.info->memory_min_pages, 2);
    CHECK_INT(t.info->memory_max_pages, 17);
    CHECK_INT(t.info->image_lo, 1000);
    CHECK_INT(t.info->image_hi, 70004);
    const struct module_extern *log = module_info_import(t.info, "env", "log");
    CHECK(log && log->kind == MODULE_FUNC);
    CHECK_STR(log->sig, "iIfF:");
    CHECK_STR(module_info_import(t.info, "env", "limit")->sig, "i");
    CHECK(!module_info_import(t.info, "other", "log"));
    CHECK_STR(module_info_export(t.info, "public")->sig, "Im");
    CHECK_STR(module_info_export(t.info, "table")->sig, "r");
    CHECK(module_info_has_func(t.info, "all", "iI:I"));
}

TEST(a_module_with_other_state_is_not_dissolvable)
{
    static const struct {
        const char *name, *why;
    } cases[] = {
        { "table_set", "it changes a table or drops a segment" },
        { "segment_drop", "it changes a table or drops a segment" },
        { "memory_import", "it imports its memory" },
        { "global_import", "it imports a mutable global" },
        { "global_ref", "it has a mutable global that holds a reference" },
        { "stateless", "it defines no memory" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        RESULT t;
        run_file(&t, cases[i].name, 0);
        CHECK_OK(t.status);
        CHECK(!t.info->is_dissolvable);
        if (!str_has_prefix(t.info->why_not, str_of(cases[i].why)))
            TEST_FAIL("%s: " STR_FMT, cases[i].name, STR_ARG(t.info->why_not));
    }
}

TEST(an_unknown_instruction_forbids_dissolving_but_not_the_module)
{
    static const char *const bodies[] = {
        "\0\x06\x40\x0b\x0b",     /* try */
        "\0\xfc\x7f\x0b",         /* 0xfc 127 */
        "\0\xfd\xff\x02\x0b",     /* relaxed vector instruction */
        "\0\xfe\x10\x02\x00\x0b", /* i32.atomic.load */
        "\0\xff\x0b",
    };
    static const uint8_t sizes[] = { 5, 4, 5, 6, 3 };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        RESULT t;
        make(&t);
        put_section(&t.wasm, 1, BYTES("\1\x60\0\0"));
        put_section(&t.wasm, 3, BYTES("\1\0"));
        put_section(&t.wasm, 5, BYTES("\1\0\1"));
        scoped(buf_fini_scoped) struct buf code = BUF_INIT(64);
        put_leb(&code, 1);
        put_leb(&code, sizes[i]);
        CHECK_OK(buf_add(&code, bodies[i], sizes[i]));
        put_section(&t.wasm, 10, buf_str(&code));
        run_bytes(&t, 0);
        CHECK_OK(t.status);
        CHECK(!t.info->is_dissolvable);
        CHECK(t.info->why_not.n > 0);
    }
}

TEST(a_go_module_is_dissolvable)
{
    RESULT t = { .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
    if (read_module("go", &t.wasm) == -ENOENT)
        SKIP("no Go compiler was found when the tests were built");
    run_bytes(&t, 0);
    CHECK_OK(t.status);
    CHECK_STR(t.info->why_not, "");
    CHECK(t.info->is_dissolvable);
    CHECK(t.info->globals.n >= 8);
    CHECK(module_info_has_func(t.info, "_initialize", ":"));
    CHECK(module_info_has_func(t.info, "add", "i:i"));
    CHECK_STR(module_info_import(t.info, "wasi_snapshot_preview1", "fd_write")->sig, "iiii:i");
    CHECK(t.out.n < t.wasm.n);
}

/* ---- what is written ---- */

/* Where `id` begins behind its header, or NULL; how many of them there are. */
static struct str section_of(struct str wasm, uint8_t id, unsigned *ret_count)
{
    struct rd r = rd_init(wasm.p + 8, wasm.n - 8);
    struct str found = STR_NULL;
    *ret_count = 0;
    while (rd_left(&r) > 0) {
        uint8_t at = rd_u8(&r);
        uint32_t n = 0;
        for (unsigned shift = 0;; shift += 7) {
            uint8_t byte = rd_u8(&r);
            n |= (uint32_t)(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
        struct str body = rd_str(&r, n);
        CHECK(rd_ok(&r));
        if (at == id) {
            found = body;
            ++*ret_count;
        }
    }
    return found;
}

TEST(only_exports_start_and_custom_sections_change)
{
    RESULT t;
    run_file(&t, "counter", 0);
    CHECK_OK(t.status);
    unsigned n, m;
    for (uint8_t id = 1; id <= 12; id++) {
        struct str before = section_of(buf_str(&t.wasm), id, &n);
        struct str after = section_of(buf_str(&t.out), id, &m);
        CHECK_INT(m, n);
        CHECK(id == 7 || str_eq(before, after));
    }
    (void)section_of(buf_str(&t.wasm), 0, &n);
    CHECK(n > 1);
    (void)section_of(buf_str(&t.out), 0, &n);
    CHECK_INT(n, 0);
}

TEST(the_name_section_is_kept_on_request)
{
    RESULT t;
    run_file(&t, "counter", INSTRUMENT_KEEP_NAMES);
    CHECK_OK(t.status);
    CHECK(t.info->has_names);
    unsigned n;
    struct str custom = section_of(buf_str(&t.out), 0, &n);
    CHECK_INT(n, 1);
    CHECK(str_has_prefix(custom, STR("\4name")));
}

TEST(memory_globals_and_start_are_exported)
{
    RESULT t;
    run_file(&t, "everything", 0);
    CHECK_OK(t.status);
    unsigned n;
    struct str exports = section_of(buf_str(&t.out), 7, &n);
    CHECK_INT(n, 1);
    CHECK_INT(exports.p[0], 4 + 1 + 6 + 1);
    CHECK(str_find(exports, STR("\x08__dm_mem\2\0")) > 0);
    CHECK(str_find(exports, STR("\7__dm_g0\3\1")) > 0); /* after the imported one */
    CHECK(str_find(exports, STR("\7__dm_g4\3\5")) > 0);
    CHECK(str_find(exports, STR("\7__dm_g5\3\7")) > 0); /* the constant $f is left out */
    CHECK(str_find(exports, STR("\7__dm_g6")) < 0);
    CHECK(str_find(exports, STR("\x0a__dm_start\0\1")) > 0);
    (void)section_of(buf_str(&t.out), 8, &n);
    CHECK_INT(n, 0);
}

TEST(a_module_without_exports_gets_the_section_in_its_place)
{
    RESULT t;
    run_file(&t, "bare", 0);
    CHECK_OK(t.status);
    unsigned n;
    struct str exports = section_of(buf_str(&t.out), 7, &n);
    CHECK_INT(n, 1);
    CHECK(str_eq(exports, STR("\1\x08__dm_mem\2\0")));
    /* Rewriting it once more sees a well-ordered module with a reserved name. */
    RESULT again = { .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
    CHECK_OK(buf_add_str(&again.wasm, buf_str(&t.out)));
    run_bytes(&again, 0);
    CHECK_ERR(again.status, E_INVALID);
}

/* ---- what is refused ---- */

TEST(foreign_bytes_are_refused_with_a_reason)
{
    static const struct {
        struct str bytes;
        int code;
    } cases[] = {
        { { "", 0 }, E_PARSE },
        { { "\0as", 3 }, E_PARSE },
        { { "\0asn\1\0\0\0", 8 }, E_PARSE },
        { { "\0asm\1\0\0", 7 }, E_UNSUPPORTED },
        { { "\0asm\2\0\0\0", 8 }, E_UNSUPPORTED },
        { { "\0asm\x0d\0\1\0", 8 }, E_UNSUPPORTED },      /* a component */
        { { "\0asm\1\0\0\0\x0e\0", 10 }, E_UNSUPPORTED }, /* unknown section */
        { { "\0asm\1\0\0\0\1\5\0", 11 }, E_PARSE },       /* section too long */
        { { "\0asm\1\0\0\0\1\xff\xff\xff\xff\x7f\0", 15 },
          E_PARSE },                                      /* number of more than 32 bits */
        { { "\0asm\1\0\0\0\1\1\0\1\1\0", 14 }, E_PARSE }, /* twice */
        { { "\0asm\1\0\0\0\3\1\0\1\1\0", 14 }, E_PARSE }, /* out of order */
        { { "\0asm\1\0\0\0\1\2\0\0", 12 }, E_PARSE },     /* bytes behind the last type */
        { { "\0asm\1\0\0\0\1\5\xff\xff\xff\xff\x0f", 15 }, E_PARSE }, /* four billion types */
        { { "\0asm\1\0\0\0\1\4\1\x5e\x7f\0", 14 }, E_UNSUPPORTED },   /* an array type */
        { { "\0asm\1\0\0\0\5\3\1\4\1", 13 }, E_UNSUPPORTED },         /* 64-bit memory */
        { { "\0asm\1\0\0\0\5\4\1\3\1\1", 14 }, E_UNSUPPORTED },       /* shared memory */
        { { "\0asm\1\0\0\0\5\5\2\0\1\0\1", 15 }, E_UNSUPPORTED },     /* two memories */
        { { "\0asm\1\0\0\0\7\5\1\1f\0\0", 15 }, E_PARSE },            /* export of no function */
        { { "\0asm\1\0\0\0\x08\1\0", 11 }, E_PARSE },                 /* start is no function */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        RESULT t = { .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
        CHECK_OK(buf_add_str(&t.wasm, cases[i].bytes));
        run_bytes(&t, 0);
        if (t.status != cases[i].code)
            TEST_FAIL("case %zu: %s (%s)", i, err_name(t.status), t.err.text);
        CHECK(t.err.text[0]);
        CHECK(!t.info);
    }
}

TEST(reserved_exports_and_segments_outside_memory_are_refused)
{
    RESULT t, u;
    run_file(&t, "reserved_name", 0);
    CHECK_ERR(t.status, E_INVALID);
    run_file(&u, "outside", 0);
    CHECK_ERR(u.status, E_INVALID);
}

TEST(the_limit_of_exports_holds)
{
    for (uint32_t over = 0; over <= 1; over++) {
        RESULT t;
        make(&t);
        put_section(&t.wasm, 5, BYTES("\1\0\1"));
        scoped(buf_fini_scoped) struct buf body = BUF_INIT(BUF_MAX_DEFAULT);
        put_leb(&body, MODULE_EXTERNS_MAX + over);
        for (uint32_t i = 0; i < MODULE_EXTERNS_MAX + over; i++)
            CHECK_OK(buf_add(&body, "\1m\2\0", 4));
        put_section(&t.wasm, 7, buf_str(&body));
        run_bytes(&t, 0);
        CHECK_ERR(t.status, over ? E_LIMIT : 0);
    }
}

TEST(the_limit_of_name_bytes_holds)
{
    RESULT t;
    make(&t);
    put_section(&t.wasm, 5, BYTES("\1\0\1"));
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(free_scoped) char *name = xnew_n(char, MODULE_NAME_BYTES_MAX + 1);
    put_leb(&body, 1);
    put_leb(&body, MODULE_NAME_BYTES_MAX + 1);
    CHECK_OK(buf_add(&body, name, MODULE_NAME_BYTES_MAX + 1));
    CHECK_OK(buf_add(&body, "\2\0", 2));
    put_section(&t.wasm, 7, buf_str(&body));
    run_bytes(&t, 0);
    CHECK_ERR(t.status, E_LIMIT);
}

TEST(many_mutable_globals_forbid_dissolving)
{
    for (uint32_t over = 0; over <= 1; over++) {
        RESULT t;
        make(&t);
        put_section(&t.wasm, 5, BYTES("\1\0\1"));
        scoped(buf_fini_scoped) struct buf body = BUF_INIT(BUF_MAX_DEFAULT);
        put_leb(&body, MODULE_GLOBALS_MAX + over);
        for (uint32_t i = 0; i < MODULE_GLOBALS_MAX + over; i++)
            CHECK_OK(buf_add(&body, "\x7f\1\x41\0\x0b", 5));
        put_section(&t.wasm, 6, buf_str(&body));
        run_bytes(&t, 0);
        CHECK_OK(t.status);
        CHECK(t.info->is_dissolvable == !over);
        CHECK(t.info->globals.n <= MODULE_GLOBALS_MAX);
    }
}

/* ---- any bytes ---- */

TEST(a_truncated_module_is_refused)
{
    RESULT whole;
    run_file(&whole, "everything", 0);
    CHECK_OK(whole.status);
    unsigned accepted = 0;
    for (size_t n = 0; n < whole.wasm.n; n++) {
        RESULT t = { .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
        CHECK_OK(buf_add(&t.wasm, whole.wasm.p, n));
        run_bytes(&t, 0);
        accepted += t.status == 0;
    }
    /* Cut between two sections it is still a module. */
    CHECK(accepted <= 12);
}

static void mutate(struct buf *b)
{
    for (uint64_t n = 1 + test_random_below(4); n > 0; n--)
        b->p[test_random_below(b->n)] = (char)test_random();
}

TEST(mutated_modules_do_no_harm)
{
    static const char *const names[] = { "everything", "counter", "segment_drop" };
    for (unsigned round = 0; round < 20000; round++) {
        RESULT t = { .wasm = BUF_INIT(BUF_MAX_DEFAULT) };
        CHECK_OK(read_module(names[round % ARRAY_LEN(names)], &t.wasm));
        mutate(&t.wasm);
        run_bytes(&t, round & 1);
        CHECK(t.status == 0 || t.err.text[0]);
        CHECK(t.status < 0 || t.out.n <= t.wasm.n + INSTRUMENT_GROWTH_MAX);
    }
}

TEST(a_description_survives_its_file_form)
{
    RESULT t;
    run_file(&t, "everything", 0);
    CHECK_OK(t.status);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(module_info_encode(t.info, &text));
    scoped(module_info_free_scoped) struct module_info *copy = NULL;
    CHECK_OK(module_info_decode(buf_str(&text), &copy, NULL));
    CHECK_INT(copy->n_imports, t.info->n_imports);
    CHECK_INT(copy->n_exports, t.info->n_exports);
    CHECK(str_eq(copy->globals, t.info->globals));
    CHECK(copy->is_dissolvable && copy->has_start && copy->has_memory && !copy->has_names);
    CHECK_INT(copy->image_lo, t.info->image_lo);
    CHECK_INT(copy->image_hi, t.info->image_hi);
    CHECK_STR(module_info_import(copy, "env", "log")->sig, "iIfF:");
    CHECK(module_info_has_func(copy, "all", "iI:I"));
}

TEST(a_damaged_description_is_refused_or_sane)
{
    RESULT t;
    run_file(&t, "everything", 0);
    CHECK_OK(t.status);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(module_info_encode(t.info, &text));
    for (size_t n = 0; n < text.n; n++) {
        struct module_info *info = NULL;
        CHECK_ERR(module_info_decode(str_n(text.p, n), &info, NULL), E_PARSE);
    }
    for (unsigned round = 0; round < 20000; round++) {
        scoped(buf_fini_scoped) struct buf bad = BUF_INIT(BUF_MAX_DEFAULT);
        CHECK_OK(buf_add_str(&bad, buf_str(&text)));
        mutate(&bad);
        scoped(module_info_free_scoped) struct module_info *info = NULL;
        if (module_info_decode(buf_str(&bad), &info, NULL) < 0)
            continue;
        CHECK(info->image_hi <= (uint64_t)info->memory_min_pages * MODULE_PAGE_BYTES);
        CHECK(info->globals.n <= MODULE_GLOBALS_MAX);
    }
}

TEST_MAIN
