/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module cache with the real compiler, and what it makes loaded into an engine without one.
 */
#include "namespaces.h"
#include "test.h"

#include "base/clock.h"
#include "base/sanitizer.h"
#include "base/sys.h"
#include "guest/module.h"
#include "guest/module_compile.h"
#include "guest/module_tenant.h"
#include "wasm/compile_exit.h"
#include "wasm/confine.h"
#include "wasm/engine_config.h"

#include <dm_engine.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a cache in a directory of its own ---- */

struct fixture {
    struct loop loop;
    struct module_cache *cache;
    char dir[64];
    char *compiler; /* NULL: the real one */
    bool shares_processes;
    uint64_t timeout_ms, max_bytes;
};

static void open_cache(struct fixture *f)
{
    struct module_cache_config config = { .dir = f->dir,
                                          .compile_path = f->compiler,
                                          .shares_processes = f->shares_processes,
                                          .max_bytes = f->max_bytes,
                                          .timeout_ms = f->timeout_ms };
    struct err err = { 0 };
    if (module_cache_new(&f->loop, &config, &f->cache, &err) < 0)
        TEST_FAIL("%s", err.text);
}

static void setup(struct fixture *f)
{
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/dormouse-test-XXXXXX");
    CHECK(mkdtemp(f->dir));
    CHECK_OK(loop_init(&f->loop, NULL));
    open_cache(f);
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void close_cache(struct fixture *f)
{
    bool closed = false;
    module_cache_close(f->cache, on_closed, &closed);
    CHECK(!closed);
    while (!closed)
        (void)loop_turn(&f->loop, true);
    f->cache = NULL;
}

static void reopen(struct fixture *f)
{
    close_cache(f);
    open_cache(f);
}

/* Names in the cache that end so; removes them if asked to. */
static unsigned files(const struct fixture *f, const char *suffix, bool remove)
{
    unsigned n = 0;
    DIR *dir = opendir(f->dir);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_type != DT_REG || !str_has_suffix(str_of(e->d_name), str_of(suffix)))
            continue;
        n++;
        if (remove)
            CHECK(unlinkat(dirfd(dir), e->d_name, 0) == 0);
    }
    CHECK(closedir(dir) == 0);
    return n;
}

static void teardown(struct fixture *f)
{
    close_cache(f);
    loop_fini(&f->loop);
    (void)files(f, "", true);
    CHECK(rmdir(f->dir) == 0);
    free(f->compiler);
}

#define FIXTURE(f)                                                                                 \
    scoped(teardown) struct fixture f = { 0 };                                                     \
    setup(&f)

static struct module_cache_stats stats(const struct fixture *f)
{
    struct module_cache_stats s;
    module_cache_stats(f->cache, &s);
    return s;
}

/* ---- requests ---- */

struct answer {
    bool has_come;
    int status;
    struct module *m;
    struct err err;
};

static void on_module(struct module *m, int status, const struct err *err, void *arg)
{
    struct answer *a = arg;
    CHECK(!a->has_come);
    CHECK((m != NULL) == (status == 0));
    *a = (struct answer){ .has_come = true, .status = status, .m = m, .err = *err };
}

static void wait_for(struct fixture *f, struct answer *a)
{
    while (!a->has_come)
        (void)loop_turn(&f->loop, true);
}

static int open_wasm(const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s.wasm", getenv("TEST_WASM_DIR"), name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static struct module_get *start_get(struct fixture *f, const char *name, unsigned flags,
                                    struct answer *a)
{
    struct module_get *get = NULL;
    scoped(fd_scoped) int fd = open_wasm(name);
    CHECK_OK(fd);
    *a = (struct answer){ 0 };
    struct module_want want = { .flags = flags };
    CHECK_OK(module_get(f->cache, fd, &want, on_module, a, &get, NULL));
    CHECK(!a->has_come);
    return get;
}

static struct answer get(struct fixture *f, const char *name)
{
    struct answer a;
    (void)start_get(f, name, 0, &a);
    wait_for(f, &a);
    return a;
}

static struct answer get_bytes_as(struct fixture *f, struct str wasm, unsigned flags)
{
    struct answer a = { 0 };
    struct module_want want = { .flags = flags };
    CHECK_OK(module_get_bytes(f->cache, wasm, &want, on_module, &a, NULL, NULL));
    wait_for(f, &a);
    return a;
}

static struct answer get_bytes(struct fixture *f, struct str wasm)
{
    return get_bytes_as(f, wasm, 0);
}

/* A valid module, different for each n. */
struct small_wasm {
    char bytes[24];
};
static struct small_wasm numbered(uint8_t n)
{
    struct small_wasm w = { "\0asm\1\0\0\0\5\3\1\0\1\x0b\x08\1\0\x41\x08\x0b\2ab" };
    w.bytes[sizeof w.bytes - 2] = (char)n;
    return w;
}

static struct answer get_numbered(struct fixture *f, uint8_t n)
{
    struct small_wasm w = numbered(n);
    return get_bytes(f, str_n(w.bytes, sizeof w.bytes - 1));
}

static struct module *must_get(struct fixture *f, const char *name)
{
    struct answer a = get(f, name);
    if (a.status < 0)
        TEST_FAIL("%s: %s", name, a.err.text);
    return a.m;
}

/* ---- running what was compiled ---- */

static void fail_on(wasmtime_error_t *e, const char *what)
{
    struct err err = { 0 };
    if (e)
        (void)engine_err(&err, E_INVALID, e, what);
    if (e)
        TEST_FAIL("%s", err.text);
}

/* Loads the module, calls export `name` with n, returns its result. */
static int32_t run(struct module *m, const char *name, int32_t n)
{
    wasm_engine_t *engine;
    wasmtime_module_t *module;
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    wasmtime_extern_t item;
    CHECK_OK(engine_new(NULL, &engine, NULL));
    scoped(fd_scoped) int fd = module_open(m, NULL);
    CHECK_OK(fd);
    fail_on(dm_engine_module_from_fd(engine, fd, &module), "load");
    wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
    wasmtime_context_t *cx = wasmtime_store_context(store);
    wasmtime_context_set_epoch_deadline(cx, 1);
    fail_on(wasmtime_instance_new(cx, module, NULL, 0, &instance, &trap), "instantiate");
    CHECK(!trap);
    CHECK(wasmtime_instance_export_get(cx, &instance, name, strlen(name), &item));
    CHECK(item.kind == WASMTIME_EXTERN_FUNC);
    wasmtime_val_raw_t v = { .i32 = n };
    fail_on(wasmtime_func_call_unchecked(cx, &item.of.func, &v, 1, &trap), "call");
    CHECK(!trap);
    /* Instrumentation is there, and its global is the shadow stack's pointer. */
    CHECK(wasmtime_instance_export_get(cx, &instance, "__dm_mem", 8, &item));
    CHECK(item.kind == WASMTIME_EXTERN_MEMORY);
    wasmtime_store_delete(store);
    wasmtime_module_delete(module);
    wasm_engine_delete(engine);
    return v.i32;
}

TEST(a_compiled_module_runs_in_the_engine_without_a_compiler)
{
    FIXTURE(f);
    scoped(module_unref_scoped) struct module *m = must_get(&f, "counter");
    CHECK(m->info->is_dissolvable);
    CHECK_STR(m->info->globals, "i");
    CHECK_INT(strlen(m->hash), 64);
    CHECK_INT(run(m, "add", 5), 1010);
    CHECK_INT(stats(&f).compiled, 1);
}

TEST(a_module_of_another_engine_build_does_not_load)
{
    FIXTURE(f);
    scoped(module_unref_scoped) struct module *m = must_get(&f, "counter");
    wasm_engine_t *engine;
    wasmtime_module_t *module = NULL;
    CHECK_OK(engine_new("48.0.8+other", &engine, NULL));
    scoped(fd_scoped) int fd = module_open(m, NULL);
    CHECK_OK(fd);
    wasmtime_error_t *e = dm_engine_module_from_fd(engine, fd, &module);
    CHECK(e && !module);
    struct err err = { 0 };
    CHECK_ERR(engine_err(&err, E_VERSION, e, "load"), E_VERSION);
    CHECK(str_find(str_of(err.text), STR("incompatible version")) > 0);
    wasm_engine_delete(engine);
}

TEST(an_engine_version_that_is_too_long_is_an_error)
{
    char text[300];
    memset(text, 'v', sizeof text);
    text[sizeof text - 1] = 0;
    wasm_engine_t *engine;
    struct err err = { 0 };
    CHECK_ERR(engine_new(text, &engine, &err), E_INVALID);
    CHECK(err.text[0]);
}

TEST(loading_something_else_is_an_error)
{
    wasm_engine_t *engine;
    wasmtime_module_t *module;
    CHECK_OK(engine_new(NULL, &engine, NULL));
    scoped(fd_scoped) int fd = open_wasm("counter");
    CHECK_OK(fd);
    wasmtime_error_t *e = dm_engine_module_from_fd(engine, fd, &module);
    CHECK(e);
    wasmtime_error_delete(e);
    e = dm_engine_module_from_fd(engine, -1, &module);
    CHECK(e);
    wasmtime_error_delete(e);
    wasm_engine_delete(engine);
}

TEST(a_go_module_compiles_and_loads)
{
    scoped(fd_scoped) int wasm = open_wasm("go");
    if (wasm < 0)
        SKIP("no Go compiler was found when the tests were built");
    FIXTURE(f);
    scoped(module_unref_scoped) struct module *m = must_get(&f, "go");
    CHECK(m->info->is_dissolvable);
    wasm_engine_t *engine;
    wasmtime_module_t *module;
    CHECK_OK(engine_new(NULL, &engine, NULL));
    scoped(fd_scoped) int fd = module_open(m, NULL);
    CHECK_OK(fd);
    fail_on(dm_engine_module_from_fd(engine, fd, &module), "load");
    wasmtime_module_delete(module);
    wasm_engine_delete(engine);
}

/* ---- finding again ---- */

TEST(a_module_in_use_is_shared)
{
    FIXTURE(f);
    scoped(module_unref_scoped) struct module *a = must_get(&f, "counter");
    scoped(module_unref_scoped) struct module *b = must_get(&f, "counter");
    CHECK(a == b);
    CHECK_INT(stats(&f).compiled, 1);
    CHECK_INT(stats(&f).hits, 1);
}

TEST(equal_requests_compile_once)
{
    FIXTURE(f);
    struct answer a[8];
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        (void)start_get(&f, "counter", 0, &a[i]);
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        wait_for(&f, &a[i]);
        CHECK_OK(a[i].status);
        CHECK(a[i].m == a[0].m);
    }
    CHECK_INT(stats(&f).compiled, 1);
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        module_unref(a[i].m);
}

TEST(modules_that_differ_in_their_data_share_a_description)
{
    FIXTURE(f);
    struct answer a = get_numbered(&f, 1), b = get_numbered(&f, 2);
    CHECK(a.m && b.m && a.m != b.m);
    CHECK(a.m->info == b.m->info);
    module_unref(a.m);
    /* Also when it is closed meanwhile. */
    reopen(&f);
    CHECK_INT(b.m->info->image_hi, 10);
    module_unref(b.m);
}

TEST(a_later_process_finds_it_on_disk)
{
    FIXTURE(f);
    module_unref(must_get(&f, "counter"));
    reopen(&f);
    scoped(module_unref_scoped) struct module *m = must_get(&f, "counter");
    CHECK_INT(stats(&f).compiled, 0);
    CHECK_INT(stats(&f).hits, 1);
    CHECK(module_info_has_func(m->info, "add", "i:i"));
    CHECK_INT(run(m, "add", 5), 1010);
}

TEST(modules_with_and_without_names_are_two)
{
    FIXTURE(f);
    struct answer a, b;
    (void)start_get(&f, "counter", 0, &a);
    (void)start_get(&f, "counter", MODULE_KEEP_NAMES, &b);
    wait_for(&f, &a);
    wait_for(&f, &b);
    CHECK_OK(a.status);
    CHECK_OK(b.status);
    CHECK(a.m != b.m);
    CHECK(!a.m->info->has_names && b.m->info->has_names);
    CHECK_INT(stats(&f).compiled, 2);
    CHECK_INT(run(b.m, "add", 5), 1010);
    module_unref(a.m);
    module_unref(b.m);
}

/* ---- damage ---- */

/* The one file of the cache that ends so. */
static char *path_of(const struct fixture *f, const char *suffix)
{
    char *path = NULL;
    DIR *dir = opendir(f->dir);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (str_has_suffix(str_of(e->d_name), str_of(suffix)))
            path = xasprintf("%s/%s", f->dir, e->d_name);
    CHECK(path && closedir(dir) == 0);
    return path;
}

enum damage { FLIP, TRUNCATE, EXTEND, REMOVE };

static void damage(const struct fixture *f, const char *suffix, enum damage how)
{
    scoped(free_scoped) char *path = path_of(f, suffix);
    struct stat st;
    CHECK(chmod(path, 0600) == 0 && stat(path, &st) == 0);
    scoped(fd_scoped) int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK_OK(fd);
    off_t at = (off_t)test_random_below((uint64_t)st.st_size);
    char byte;
    switch (how) {
    case FLIP:
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte = (char)(byte ^ (1 << test_random_below(8)));
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        break;
    case TRUNCATE:
        CHECK(ftruncate(fd, at) == 0);
        break;
    case EXTEND:
        CHECK(pwrite(fd, "", 1, st.st_size) == 1);
        break;
    case REMOVE:
        CHECK(unlink(path) == 0);
        break;
    }
}

TEST(a_damaged_entry_is_compiled_again)
{
    static const char *const suffixes[] = { ".code", ".info" };
    FIXTURE(f);
    module_unref(must_get(&f, "counter"));
    for (unsigned round = 0; round < 24; round++) {
        enum damage how = round % 4;
        const char *suffix = suffixes[round / 4 % 2];
        damage(&f, suffix, how);
        reopen(&f);
        struct module *m = must_get(&f, "counter");
        CHECK_INT(stats(&f).compiled, 1);
        /* Without its record an entry does not exist at all. */
        CHECK_INT(stats(&f).damaged, how == REMOVE && round / 4 % 2 == 1 ? 0 : 1);
        CHECK_INT(run(m, "add", 5), 1010);
        module_unref(m);
    }
}

TEST(a_replaced_file_is_not_opened)
{
    FIXTURE(f);
    scoped(module_unref_scoped) struct module *m = must_get(&f, "counter");
    damage(&f, ".code", EXTEND);
    CHECK_ERR(module_open(m, NULL), E_EXPIRED);
    damage(&f, ".code", REMOVE);
    CHECK_ERR(module_open(m, NULL), E_EXPIRED);
    /* Another request makes it again, also for the holders of the module. */
    uint32_t generation = m->generation;
    scoped(module_unref_scoped) struct module *again = must_get(&f, "counter");
    CHECK(again == m && m->generation != generation && !m->is_lost);
    CHECK_INT(run(m, "add", 5), 1010);
}

TEST(a_directory_that_others_can_write_to_is_refused)
{
    FIXTURE(f);
    struct module_cache *cache;
    struct err err = { 0 };
    struct module_cache_config config = { .dir = f.dir };
    CHECK(chmod(f.dir, 0770) == 0);
    CHECK_ERR(module_cache_new(&f.loop, &config, &cache, &err), -EACCES);
    config.dir = "/nonexistent/cache";
    CHECK_ERR(module_cache_new(&f.loop, &config, &cache, &err), -ENOENT);
    CHECK(chmod(f.dir, 0700) == 0);
}

/* ---- refusals ---- */

TEST(a_bad_module_is_refused_with_the_compilers_sentence)
{
    FIXTURE(f);
    static const struct {
        const char *name;
        int code;
        const char *text;
    } cases[] = {
        { "invalid", E_INVALID, "type mismatch" },
        { "outside", E_INVALID, "outside its memory" },
        { "reserved_name", E_INVALID, "'__dm_'" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a = get(&f, cases[i].name);
        CHECK_ERR(a.status, cases[i].code);
        if (str_find(str_of(a.err.text), str_of(cases[i].text)) < 0)
            TEST_FAIL("%s: %s", cases[i].name, a.err.text);
    }
    CHECK_INT(stats(&f).refused, 3);
    CHECK_ERR(get_bytes(&f, STR("hello, world")).status, E_PARSE);
    CHECK_ERR(get_bytes(&f, STR("\0asm\x0d\0\1\0")).status, E_UNSUPPORTED);
    CHECK_ERR(get_bytes(&f, STR("")).status, E_LIMIT);
    CHECK_INT(files(&f, ".code", false) + files(&f, ".tmp", false), 0);
}

TEST(too_large_a_module_is_refused)
{
    FIXTURE(f);
    struct answer a = { 0 };
    struct err err = { 0 };
    CHECK_ERR(module_get_bytes(f.cache, str_n("", MODULE_WASM_BYTES_MAX + 1), NULL, on_module, &a,
                               NULL, &err),
              E_LIMIT);
    scoped(fd_scoped) int fd = sys_memfd("large");
    CHECK_OK(sys_ftruncate(fd, MODULE_WASM_BYTES_MAX + 1));
    CHECK_OK(module_get(f.cache, fd, NULL, on_module, &a, NULL, NULL));
    wait_for(&f, &a);
    CHECK_ERR(a.status, E_LIMIT);
}

TEST(something_else_than_a_file_is_refused)
{
    FIXTURE(f);
    struct answer a = { 0 };
    scoped(fd_scoped) int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(module_get(f.cache, fd, NULL, on_module, &a, NULL, NULL));
    wait_for(&f, &a);
    CHECK_ERR(a.status, -EINVAL);
    CHECK_ERR(module_get(f.cache, -1, NULL, on_module, &a, NULL, NULL), -EBADF);
}

/* ---- a compiler that misbehaves ---- */

/* It may end by signals of its own. */
static void use_compiler(struct fixture *f, const char *script)
{
    struct err err = { 0 };
    f->shares_processes = true;
    free(f->compiler);
    f->compiler = xasprintf("%s/compiler.sh", f->dir);
    (void)unlink(f->compiler);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, f->compiler, str_of(script), 0700, &err));
    reopen(f);
}

TEST(a_compiler_that_ends_badly_means_the_module_is_refused)
{
    static const struct {
        const char *script;
        int code;
        const char *text;
    } cases[] = {
        { "#!/bin/sh\nkill -SEGV $$\n", E_INVALID, "crashed" },
        { "#!/bin/sh\necho out of memory >&2\nkill -ABRT $$\n", E_LIMIT, "out of memory" },
        { "#!/bin/sh\nkill -XCPU $$\n", E_LIMIT, "processor time" },
        { "#!/bin/sh\nkill -KILL $$\n", -ENOMEM, "was killed" },
        { "#!/bin/sh\nexit 99\n", E_INVALID, "status 99" },
        { "#!/bin/sh\nexit 0\n", E_INVALID, "wrote no code" },
        { "#!/bin/sh\necho code >&4\nexit 0\n", E_PARSE, "module description" },
        { "#!/bin/sh\nprintf 'a\\033[31m\\nb' >&2\nexit 3\n", E_PARSE, "a?[31m" },
        { "#!/bin/sh\nyes 0123456789 | head -c 100000 >&2\nexit 4\n", E_UNSUPPORTED, "0123456789" },
    };
    FIXTURE(f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        use_compiler(&f, cases[i].script);
        struct answer a = get(&f, "counter");
        if (a.status != cases[i].code || str_find(str_of(a.err.text), str_of(cases[i].text)) < 0)
            TEST_FAIL("case %zu: %s: %s", i, err_name(a.status), a.err.text);
        CHECK(str_find_char(str_of(a.err.text), '\n') < 0);
        CHECK_INT(files(&f, ".tmp", false), 0);
    }
}

TEST(a_compiler_that_hangs_is_ended)
{
    FIXTURE(f);
    f.timeout_ms = 30;
    use_compiler(&f, "#!/bin/sh\nexec sleep 1000\n");
    CHECK_ERR(get(&f, "counter").status, -ETIMEDOUT);
    CHECK_INT(files(&f, ".tmp", false), 0);
}

static void on_compiled(int status, const struct err *err, void *arg)
{
    *(int *)arg = status;
}

TEST(a_compiler_that_is_stopped_now_and_then_has_no_more_time_than_others)
{
    FIXTURE(f);
    use_compiler(&f, "#!/bin/sh\nexec sleep 1000\n");
    scoped(fd_scoped) int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct module_compile_opts opts = {
        .path = f.compiler, .wasm_fd = fd, .code_fd = fd, .info_fd = fd, .timeout_ms = 100000
    };
    struct module_compile *c;
    int status = 1;
    CHECK_OK(module_compile_start(&f.loop, &opts, on_compiled, &status, &c, NULL));
    module_compile_pause(c, true);
    loop_skip(&f.loop, 1000000); /* does not count */
    (void)loop_turn(&f.loop, false);
    module_compile_pause(c, false);
    for (unsigned i = 0; i < 2; i++) {
        loop_skip(&f.loop, 60000);
        (void)loop_turn(&f.loop, false);
        module_compile_pause(c, true);
        module_compile_pause(c, false);
    }
    if (status == 1)
        CHECK(loop_next_timer_ms(&f.loop) == UINT64_MAX); /* it has run */
    while (status == 1)
        (void)loop_turn(&f.loop, true);
    CHECK_ERR(status, -ETIMEDOUT);
}

TEST(a_missing_compiler_is_said)
{
    FIXTURE(f);
    free(f.compiler);
    f.compiler = xstrdup("/nonexistent/dormouse-compile");
    reopen(&f);
    struct answer a = get(&f, "counter");
    CHECK_ERR(a.status, -ENOENT);
    CHECK(str_find(str_of(a.err.text), STR("/nonexistent/dormouse-compile")) > 0);
    CHECK_INT(files(&f, ".tmp", false), 0);
}

/* ---- the confined process ---- */

/* One function of 50,000 multiplications and additions, and of `n`: some 70 MiB and 0.2 s to
 * compile. */
static void make_heavy(struct buf *b, uint8_t n)
{
    enum { ROUNDS = 50000, BODY = 3 + 6 * ROUNDS + 1 };
    static const uint8_t round[] = { 0x41, 7, 0x6c, 0x20, 0, 0x6a };
    CHECK_OK(buf_add(b, "\0asm\1\0\0\0\1\6\1\x60\1\x7f\1\x7f\3\2\1\0\5\3\1\0\1\x0a", 26));
    /* Lengths in four bytes each. */
    const uint32_t lengths[] = { BODY + 5, BODY };
    for (size_t i = 0; i < 2; i++) {
        for (unsigned shift = 0; shift < 28; shift += 7)
            CHECK_OK(
                buf_add_u8(b, (uint8_t)((lengths[i] >> shift & 0x7f) | (shift < 21 ? 0x80 : 0))));
        if (i == 0)
            CHECK_OK(buf_add_u8(b, 1));
    }
    CHECK_OK(buf_add(b, "\0\x41", 2));
    CHECK_OK(buf_add_u8(b, n)); /* up to 63 */
    for (unsigned i = 0; i < ROUNDS; i++)
        CHECK_OK(buf_add(b, round, sizeof round));
    CHECK_OK(buf_add_u8(b, 0x0b));
}

static struct answer get_heavy(struct fixture *f, uint8_t n, unsigned flags)
{
    scoped(buf_fini_scoped) struct buf wasm = BUF_INIT(BUF_MAX_DEFAULT);
    make_heavy(&wasm, n);
    return get_bytes_as(f, buf_str(&wasm), flags);
}

TEST(a_module_that_needs_too_much_memory_is_refused)
{
    FIXTURE(f);
    struct answer a = get_heavy(&f, 0, MODULE_OPTIMIZED);
    CHECK_OK(a.status);
    module_unref(a.m);
    if (HAS_SANITIZER)
        SKIP("the sanitizers need address space without limit");
    (void)files(&f, ".info", true);
    scoped(free_scoped) char *script =
        xasprintf("#!/bin/sh\nulimit -v 60000\nexec '%s' \"$@\"\n", getenv("DORMOUSE_COMPILE"));
    use_compiler(&f, script);
    a = get_heavy(&f, 0, MODULE_OPTIMIZED);
    CHECK_ERR(a.status, E_LIMIT);
    CHECK(str_find(str_of(a.err.text), STR("memory allocation")) > 0);
}

TEST(the_compiler_is_confined_while_it_compiles)
{
    FIXTURE(f);
    scoped(free_scoped) char *script = xasprintf(
        "#!/bin/sh\n'%s' \"$@\" &\n"
        "while [ -r /proc/$!/status ]; do\n"
        "  grep -q '^Seccomp:.*2' /proc/$!/status && echo confined >&2 && kill -KILL $! && exit 3\n"
        "done\nexit 1\n",
        getenv("DORMOUSE_COMPILE"));
    use_compiler(&f, script);
    struct answer a = get_heavy(&f, 0, MODULE_OPTIMIZED);
    CHECK_STR(str_of(a.err.text), "confined");
}

TEST(the_compiler_sees_no_other_process)
{
    if (HAS_SANITIZER)
        SKIP("a sanitizer looks for its threads by their numbers");
    if (!namespaces_are_there(geteuid()))
        SKIP("no PID namespace can be made here");
    FIXTURE(f);
    use_compiler(&f, "#!/bin/sh\necho number $$ >&2\nexit 3\n");
    f.shares_processes = false;
    reopen(&f);
    CHECK_STR(str_of(get(&f, "counter").err.text), "number 1");
}

/* It ends itself by a signal, which the first process of a namespace ignores. */
TEST(a_compiler_that_gives_up_in_a_namespace_of_its_own_is_said)
{
    if (HAS_SANITIZER)
        SKIP("the sanitizers need address space without limit");
    FIXTURE(f);
    scoped(free_scoped) char *script =
        xasprintf("#!/bin/sh\nulimit -v 60000\nexec '%s' \"$@\"\n", getenv("DORMOUSE_COMPILE"));
    use_compiler(&f, script);
    f.shares_processes = false;
    reopen(&f);
    struct answer a = get_heavy(&f, 0, MODULE_OPTIMIZED);
    CHECK_ERR(a.status, E_LIMIT);
    CHECK(str_find(str_of(a.err.text), STR("gave up")) >= 0);
    CHECK(str_find(str_of(a.err.text), STR("memory allocation")) > 0);
}

TEST(the_compiler_says_how_it_is_used)
{
    scoped(free_scoped) char *command =
        xasprintf("'%s' one two 2>/dev/null", getenv("DORMOUSE_COMPILE"));
    int status = system(command);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), COMPILE_USAGE);
}

/* ---- cancelling, closing, limits ---- */

TEST(a_request_can_be_cancelled_at_any_time)
{
    for (unsigned turns = 0; turns < 12; turns++) {
        FIXTURE(f);
        struct answer a, b;
        struct module_get *first = start_get(&f, "counter", 0, &a);
        struct module_get *second = start_get(&f, "everything", 0, &b);
        for (unsigned i = 0; i < turns && !a.has_come && !b.has_come; i++)
            (void)loop_turn(&f.loop, true);
        if (!a.has_come)
            module_get_cancel(first);
        if (!b.has_come)
            module_get_cancel(second);
        wait_for(&f, &a);
        wait_for(&f, &b);
        if (a.status != -ECANCELED)
            CHECK_OK(a.status);
        if (b.status != -ECANCELED)
            CHECK_OK(b.status);
        module_unref(a.m);
        module_unref(b.m);
        /* The others go on. */
        module_unref(must_get(&f, "counter"));
    }
}

TEST(a_cancelled_compilation_does_not_take_equal_requests_with_it)
{
    FIXTURE(f);
    use_compiler(&f, "#!/bin/sh\nexec sleep 1000\n");
    struct answer a, b;
    struct module_get *first = start_get(&f, "counter", 0, &a);
    struct module_get *second = start_get(&f, "counter", 0, &b);
    while (!stats(&f).compiling || stats(&f).waiting < 2)
        (void)loop_turn(&f.loop, true);
    module_get_cancel(first);
    module_get_cancel(first);
    wait_for(&f, &a);
    CHECK_ERR(a.status, -ECANCELED);
    CHECK(!b.has_come);
    module_get_cancel(second);
    wait_for(&f, &b);
    CHECK_ERR(b.status, -ECANCELED);
}

TEST(closing_ends_what_is_unfinished)
{
    FIXTURE(f);
    struct answer a[20];
    scoped(module_unref_scoped) struct module *m = must_get(&f, "counter");
    static const char *const names[] = { "everything", "bare", "table_set", "stateless" };
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        (void)start_get(&f, names[i % ARRAY_LEN(names)], i & 1, &a[i]);
    (void)loop_turn(&f.loop, true);
    reopen(&f);
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        CHECK(a[i].has_come);
        CHECK(a[i].status == 0 || a[i].status == -ECANCELED);
        module_unref(a[i].m);
    }
    /* A module of a closed cache can still be looked at and released. */
    CHECK(module_info_has_func(m->info, "add", "i:i"));
    CHECK_ERR(module_open(m, NULL), -ECANCELED);
}

TEST(the_limit_of_unfinished_requests_holds)
{
    FIXTURE(f);
    struct rlimit lim;
    CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0);
    lim.rlim_cur = MIN(lim.rlim_max, 4 * MODULE_GETS_MAX);
    CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);
    scoped(free_scoped) struct answer *a = xnew_n(struct answer, MODULE_GETS_MAX);
    for (size_t i = 0; i < MODULE_GETS_MAX; i++)
        (void)start_get(&f, "counter", 0, &a[i]);
    struct err err = { 0 };
    struct answer over = { 0 };
    CHECK_ERR(module_get_bytes(f.cache, STR("x"), NULL, on_module, &over, NULL, &err), E_LIMIT);
    for (size_t i = 0; i < MODULE_GETS_MAX; i++) {
        wait_for(&f, &a[i]);
        CHECK_OK(a[i].status);
        module_unref(a[i].m);
    }
    CHECK_INT(stats(&f).compiled, 1);
    module_unref(must_get(&f, "counter"));
}

TEST(the_least_recently_used_entries_go_when_the_cache_is_full)
{
    FIXTURE(f);
    f.max_bytes = 100000; /* a small module takes 16 to 24 KiB with its record */
    reopen(&f);
    struct answer kept = get_numbered(&f, 0);
    CHECK_OK(kept.status);
    for (uint8_t i = 1; i < 30; i++) {
        struct answer a = get_numbered(&f, i);
        CHECK_OK(a.status);
        module_unref(a.m);
    }
    while (stats(&f).bytes > f.max_bytes)
        (void)loop_turn(&f.loop, true);
    CHECK(stats(&f).evicted > 10);
    CHECK(files(&f, ".code", false) < 10);
    /* What is in use stays. */
    scoped(fd_scoped) int fd = module_open(kept.m, NULL);
    CHECK_OK(fd);
    module_unref(kept.m);
}

TEST(leftovers_of_other_builds_and_crashes_go_foreign_files_stay)
{
    FIXTURE(f);
    module_unref(must_get(&f, "counter"));
    static const char hash[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    scoped(free_scoped) char *other = xasprintf("%s/%s.0123456789abcdef.code", f.dir, hash);
    scoped(free_scoped) char *temp = xasprintf("%s/.0123456789abcdef.tmp", f.dir);
    scoped(free_scoped) char *foreign = xasprintf("%s/notes.txt", f.dir);
    const char *paths[] = { other, temp, foreign };
    struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CHECK_OK(sys_write_file_atomic(AT_FDCWD, paths[i], STR("x"), 0600, NULL));
        CHECK(utimensat(AT_FDCWD, paths[i], old, 0) == 0);
    }
    reopen(&f);
    while (stats(&f).bytes == 0) /* until the sweep has counted */
        (void)loop_turn(&f.loop, true);
    CHECK(access(other, F_OK) < 0);
    CHECK(access(temp, F_OK) < 0);
    CHECK(access(foreign, F_OK) == 0);
    CHECK_INT(files(&f, ".code", false), 1);
}

/* ---- two tiers ---- */

/* The result of the heavy module of `n`: the same with each compiler. */
static int32_t heavy_result(struct module *m)
{
    wasm_engine_t *engine;
    wasmtime_module_t *module;
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    CHECK_OK(engine_new(NULL, &engine, NULL));
    scoped(fd_scoped) int fd = module_open(m, NULL);
    CHECK_OK(fd);
    fail_on(dm_engine_module_from_fd(engine, fd, &module), "load");
    wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
    wasmtime_context_set_epoch_deadline(wasmtime_store_context(store), 1);
    fail_on(wasmtime_instance_new(wasmtime_store_context(store), module, NULL, 0, &instance, &trap),
            "instantiate");
    CHECK(!trap);
    wasmtime_store_delete(store);
    wasmtime_module_delete(module);
    wasm_engine_delete(engine);
    return 0;
}

static void wait_optimized(struct fixture *f)
{
    while (stats(f).background > 0)
        (void)loop_turn(&f->loop, true);
}

TEST(quick_code_comes_first_and_the_same_module_gets_better_code)
{
    FIXTURE(f);
    struct answer a = get_heavy(&f, 1, 0);
    CHECK_OK(a.status);
    CHECK(a.m->is_quick);
    CHECK_INT(stats(&f).quick, 1);
    CHECK_INT(stats(&f).background, 1);
    CHECK_INT(heavy_result(a.m), 0); /* the engine without a compiler takes it */
    uint32_t generation = a.m->generation;
    uint64_t bytes = a.m->code_bytes;
    wait_optimized(&f);
    CHECK(!a.m->is_quick && a.m->generation != generation && a.m->code_bytes != bytes);
    CHECK_INT(stats(&f).compiled, 1);
    CHECK_INT(heavy_result(a.m), 0);
    struct answer again = get_heavy(&f, 1, 0);
    CHECK(again.m == a.m);
    module_unref(again.m);
    module_unref(a.m);
    /* A later process finds the better one. */
    reopen(&f);
    a = get_heavy(&f, 1, 0);
    CHECK(!a.m->is_quick);
    CHECK_INT(stats(&f).hits, 1);
    CHECK_INT(stats(&f).background, 0);
    module_unref(a.m);
}

TEST(who_wants_optimized_code_waits_for_it)
{
    FIXTURE(f);
    scoped(buf_fini_scoped) struct buf wasm = BUF_INIT(BUF_MAX_DEFAULT);
    make_heavy(&wasm, 2);
    struct module_want want = { .flags = MODULE_OPTIMIZED };
    struct answer quick = { 0 }, optimized = { 0 };
    CHECK_OK(module_get_bytes(f.cache, buf_str(&wasm), NULL, on_module, &quick, NULL, NULL));
    CHECK_OK(module_get_bytes(f.cache, buf_str(&wasm), &want, on_module, &optimized, NULL, NULL));
    wait_for(&f, &optimized);
    CHECK(quick.has_come);
    CHECK_OK(quick.status);
    CHECK_OK(optimized.status);
    CHECK(optimized.m == quick.m && !optimized.m->is_quick);
    CHECK_INT(stats(&f).compiled, 1);
    module_unref(quick.m);
    module_unref(optimized.m);
}

TEST(what_an_ended_process_left_unoptimized_is_optimized_by_the_next)
{
    FIXTURE(f);
    module_unref(get_heavy(&f, 3, 0).m);
    reopen(&f); /* its background work ends with it */
    CHECK_INT(files(&f, ".q.code", false), 1);
    struct answer a = get_heavy(&f, 3, 0);
    CHECK_INT(stats(&f).hits, 1);
    wait_optimized(&f);
    CHECK(!a.m->is_quick);
    CHECK_INT(stats(&f).quick, 0);
    CHECK_INT(files(&f, ".tmp", false), 0);
    module_unref(a.m);
}

/* `script`, before the real compiler runs. */
static void use_wrapper(struct fixture *f, const char *script)
{
    scoped(free_scoped) char *text =
        xasprintf("#!/bin/sh\n%s\nexec '%s' \"$@\"\n", script, getenv("DORMOUSE_COMPILE"));
    use_compiler(f, text);
}

TEST(a_module_that_only_the_optimizing_compiler_refuses_stays_quick)
{
    FIXTURE(f);
    use_wrapper(&f, "case $1 in --quick) ;; *) kill -SEGV $$ ;; esac");
    struct answer a = get_heavy(&f, 4, 0);
    CHECK_OK(a.status);
    wait_optimized(&f);
    CHECK_INT(stats(&f).unoptimized, 1);
    CHECK(a.m->is_quick);
    CHECK_INT(heavy_result(a.m), 0);
    module_unref(a.m);
    /* It is not tried again at every start. */
    reopen(&f);
    a = get_heavy(&f, 4, 0);
    CHECK(a.m->is_quick);
    CHECK_INT(stats(&f).background, 0);
    module_unref(a.m);
}

TEST(a_background_compiler_that_is_killed_is_no_verdict_on_the_module)
{
    FIXTURE(f);
    use_wrapper(&f, "case $1 in --quick) ;; *) kill -KILL $$ ;; esac");
    struct answer a = get_heavy(&f, 8, 0);
    CHECK_OK(a.status);
    wait_optimized(&f);
    CHECK(a.m->is_quick);
    module_unref(a.m);
    /* The next process has the memory. */
    use_wrapper(&f, "");
    a = get_heavy(&f, 8, 0);
    CHECK_INT(stats(&f).background, 1);
    wait_optimized(&f);
    CHECK(!a.m->is_quick);
    module_unref(a.m);
}

TEST(a_module_on_which_the_quick_compiler_crashes_is_optimized_at_once)
{
    FIXTURE(f);
    use_wrapper(&f, "case $1 in --quick) kill -SEGV $$ ;; esac");
    struct answer a = get_heavy(&f, 5, 0);
    CHECK_OK(a.status);
    CHECK(!a.m->is_quick);
    CHECK_INT(stats(&f).quick, 0);
    CHECK_INT(stats(&f).compiled, 1);
    module_unref(a.m);
}

TEST(damaged_quick_code_is_made_again)
{
    FIXTURE(f);
    use_wrapper(&f, "case $1 in --background) exit 1 ;; esac");
    for (unsigned i = 0; i < 2; i++) {
        struct answer a = get_heavy(&f, 6, 0);
        CHECK_OK(a.status);
        CHECK_INT(stats(&f).damaged, i);
        CHECK_INT(heavy_result(a.m), 0);
        wait_optimized(&f);
        module_unref(a.m);
        damage(&f, ".q.code", FLIP);
        reopen(&f);
    }
}

TEST(background_work_stands_still_while_somebody_waits)
{
    FIXTURE(f);
    scoped(free_scoped) char *flag = xasprintf("%s/go", f.dir);
    scoped(free_scoped) char *pid = xasprintf("%s/pid", f.dir);
    /* Once it is there, a compiler in the foreground ends only if the other one is stopped. */
    scoped(free_scoped) char *script = xasprintf(
        "case $1 in --background) echo $$ >'%s.new'; mv '%s.new' '%s'\n"
        "until [ -e '%s' ]; do sleep 0.01; done ;;\n"
        "*) n=0; while [ -e '%s' ] && ! grep -q '^State:.T' /proc/$(cat '%s')/status; do\n"
        "sleep 0.01; n=$((n + 1)); [ $n -lt 2000 ] || exit 1; done ;; esac",
        pid, pid, pid, flag, pid, pid);
    use_wrapper(&f, script);
    struct answer a = get_heavy(&f, 7, 0);
    CHECK_INT(stats(&f).background, 1);
    for (uint64_t until = clock_mono_ms() + 20000; access(pid, F_OK) < 0;) {
        CHECK(clock_mono_ms() < until);
        (void)loop_turn(&f.loop, false);
    }
    /* Others are served although it has not ended. */
    struct answer b = get(&f, "counter");
    CHECK_OK(b.status);
    CHECK(a.m->is_quick);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, flag, STR(""), 0600, NULL));
    wait_optimized(&f);
    CHECK(!a.m->is_quick);
    module_unref(a.m);
    module_unref(b.m);
}

static bool is_stopped(const char *pid_file)
{
    scoped(buf_fini_scoped) struct buf pid = BUF_INIT(32), text = BUF_INIT(65536);
    CHECK_OK(sys_read_file(AT_FDCWD, pid_file, &pid, NULL));
    scoped(free_scoped) char *path = xasprintf("/proc/%.*s/status", (int)pid.n - 1, buf_cstr(&pid));
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    return str_find(buf_str(&text), STR("State:\tT")) >= 0;
}

/* Others that never pause do not hold it up for ever. */
TEST(background_work_that_stood_still_for_long_goes_on_beside_others)
{
    FIXTURE(f);
    scoped(free_scoped) char *flag = xasprintf("%s/go", f.dir);
    scoped(free_scoped) char *pid = xasprintf("%s/pid", f.dir);
    scoped(free_scoped) char *script =
        xasprintf("case $1 in --quick) ;; --background) echo $$ >'%s.new'; mv '%s.new' '%s'\n"
                  "until [ -e '%s' ]; do sleep 0.01; done ;;\n"
                  "*) until [ -e '%s' ]; do sleep 0.01; done ;; esac",
                  pid, pid, pid, flag, flag);
    use_wrapper(&f, script);
    struct answer a = get_heavy(&f, 7, 0), b, c;
    while (access(pid, F_OK) < 0)
        (void)loop_turn(&f.loop, false);
    (void)start_get(&f, "counter", 0, &b);
    while (!is_stopped(pid))
        (void)loop_turn(&f.loop, false);
    loop_skip(&f.loop, MODULE_BACKGROUND_AGE_MS);
    (void)start_get(&f, "everything", 0, &c);
    while (is_stopped(pid))
        (void)loop_turn(&f.loop, false);
    CHECK(!b.has_come && !c.has_come && a.m->is_quick);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, flag, STR(""), 0600, NULL));
    wait_for(&f, &b);
    wait_for(&f, &c);
    wait_optimized(&f);
    CHECK(!a.m->is_quick);
    module_unref(a.m);
    module_unref(b.m);
    module_unref(c.m);
}

TEST(a_full_disk_makes_room_of_what_nobody_uses)
{
    FIXTURE(f);
    scoped(free_scoped) char *script =
        xasprintf("[ $(stat -Lc %%s /proc/self/fd/3) -lt 1000 ] || [ -e '%s/full' ] || "
                  "{ : >'%s/full'; echo disk is full >&2; exit %d; }",
                  f.dir, f.dir, COMPILE_NO_SPACE);
    use_wrapper(&f, script);
    struct answer used = get_numbered(&f, 1), unused = get_numbered(&f, 2);
    module_unref(unused.m);
    struct answer a = get(&f, "counter");
    CHECK_OK(a.status);
    CHECK_INT(stats(&f).evicted, 1);
    scoped(fd_scoped) int fd = module_open(used.m, NULL);
    CHECK_OK(fd);
    module_unref(used.m);
    module_unref(a.m);
    /* If that does not make room, the error is reported, once. */
    use_wrapper(&f, "echo disk is full >&2; exit 8");
    a = get(&f, "everything");
    CHECK_ERR(a.status, -ENOSPC);
    CHECK(str_find(str_of(a.err.text), STR("disk is full")) >= 0);
}

TEST(quick_code_can_be_left_out)
{
    CHECK(setenv("DORMOUSE_QUICK_CODE", "off", 1) == 0);
    FIXTURE(f);
    struct answer a = get_heavy(&f, 8, 0);
    CHECK(unsetenv("DORMOUSE_QUICK_CODE") == 0);
    CHECK_OK(a.status);
    CHECK(!a.m->is_quick);
    CHECK_INT(stats(&f).quick, 0);
    module_unref(a.m);
}

/* ---- tenants ---- */

TEST(tenants_share_each_queue)
{
    struct module_tenants ts = { 0 };
    struct module_tenant *greedy = module_tenant_ref(&ts, STR("greedy")),
                         *modest = module_tenant_ref(&ts, STR(""));
    CHECK(module_tenant_ref(&ts, STR("greedy")) == greedy);
    module_tenant_unref(&ts, greedy);
    for (int q = 0; q < MODULE_QUEUES; q++) {
        uint64_t tags[8];
        for (size_t i = 0; i < ARRAY_LEN(tags); i++)
            tags[i] = module_tenant_tag(&ts, greedy, (enum module_queue)q, 1 << 20);
        module_tenants_serve(&ts, (enum module_queue)q, tags[1]);
        /* Next after what is being served, and something larger after its share. */
        CHECK(module_tenant_tag(&ts, modest, (enum module_queue)q, 1000) < tags[2]);
        uint64_t large = module_tenant_tag(&ts, modest, (enum module_queue)q, 3 << 20);
        CHECK(large > tags[3] && large < tags[5]);
    }
    greedy->n_gets = 511;
    CHECK(module_tenant_has_room(greedy, 511, 1024));
    greedy->n_gets = 512;
    CHECK(!module_tenant_has_room(greedy, 512, 1024));
    CHECK(module_tenant_has_room(modest, 1023, 1024)); /* of no namespace: the host's own */
    CHECK(!module_tenant_has_room(modest, 1024, 1024));
    module_tenant_unref(&ts, greedy);
    module_tenant_unref(&ts, modest);
    module_tenants_fini(&ts);
}

TEST(requests_of_one_tenant_leave_room_for_others)
{
    FIXTURE(f);
    /* One module is there already, the other one waits for its compiler. */
    scoped(free_scoped) char *flag = xasprintf("%s/go", f.dir);
    scoped(free_scoped) char *script = xasprintf("#!/bin/sh\n"
                                                 "[ $(stat -Lc %%s /proc/self/fd/3) -lt 1000 ] || "
                                                 "until [ -e '%s' ]; do sleep 0.01; done\n"
                                                 "exec '%s' \"$@\"\n",
                                                 flag, getenv("DORMOUSE_COMPILE"));
    use_compiler(&f, script);
    struct answer there = get_numbered(&f, 1);
    CHECK_OK(there.status);
    struct small_wasm small = numbered(1);
    struct rlimit lim;
    CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0);
    lim.rlim_cur = MIN(lim.rlim_max, 4 * MODULE_GETS_MAX);
    CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);
    struct module_want greedy = { .tenant = STR("greedy") }, modest = { .tenant = STR("modest") };
    scoped(free_scoped) struct answer *a = xnew_n(struct answer, MODULE_GETS_MAX);
    struct err err = { 0 };
    scoped(fd_scoped) int fd = open_wasm("counter");
    size_t n = 0;
    while (module_get(f.cache, fd, &greedy, on_module, &a[n], NULL, &err) == 0)
        n++;
    CHECK_INT(n, MODULE_GETS_MAX / 2);
    CHECK(str_find(str_of(err.text), STR("512 of them for this namespace")) >= 0);
    CHECK_OK(module_get_bytes(f.cache, str_n(small.bytes, sizeof small.bytes - 1), &modest,
                              on_module, &a[n], NULL, &err));
    wait_for(&f, &a[n]);
    CHECK(stats(&f).waiting < n); /* it has not waited for all of them to be looked up */
    (void)printf("# %u were looked up before\n", stats(&f).waiting);
    int made = open(flag, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_OK(made);
    (void)close(made);
    module_unref(there.m);
    for (size_t i = 0; i <= n; i++) {
        wait_for(&f, &a[i]);
        CHECK_OK(a[i].status);
        module_unref(a[i].m);
    }
}

TEST(large_modules_of_one_tenant_do_not_hold_up_another)
{
    FIXTURE(f);
    scoped(free_scoped) char *flag = xasprintf("%s/go", f.dir);
    scoped(free_scoped) char *script =
        xasprintf("#!/bin/sh\n"
                  "[ $(stat -Lc %%s /proc/self/fd/3) -lt 1000000 ] || "
                  "until [ -e '%s' ]; do sleep 0.01; done\n"
                  "exec '%s' \"$@\"\n",
                  flag, getenv("DORMOUSE_COMPILE"));
    use_compiler(&f, script);
    /* More than there are slots, each of which would wait for ever. */
    enum { LARGE = MODULE_SLOTS_MAX + 2, BYTES = 2 << 20 };
    struct answer large[LARGE] = { 0 };
    struct module_get *gets_of[LARGE];
    scoped(free_scoped) char *bytes = xalloc(BYTES);
    for (unsigned i = 0; i < LARGE; i++) {
        bytes[BYTES - 1] = (char)i;
        CHECK_OK(module_get_bytes(f.cache, str_n(bytes, BYTES),
                                  &(struct module_want){ .tenant = STR("greedy") }, on_module,
                                  &large[i], &gets_of[i], NULL));
    }
    while (stats(&f).waiting < LARGE)
        (void)loop_turn(&f.loop, true);
    struct answer small = { 0 };
    scoped(fd_scoped) int fd = open_wasm("counter");
    CHECK_OK(module_get(f.cache, fd, &(struct module_want){ .tenant = STR("modest") }, on_module,
                        &small, NULL, NULL));
    wait_for(&f, &small);
    CHECK_OK(small.status);
    module_unref(small.m);
    for (unsigned i = 0; i < LARGE; i++)
        CHECK(!large[i].has_come);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, flag, STR(""), 0600, NULL));
    for (unsigned i = 0; i < LARGE; i++) {
        wait_for(&f, &large[i]);
        CHECK_ERR(large[i].status, E_PARSE); /* zeros are no module */
    }
}

TEST(tenants_take_turns)
{
    FIXTURE(f);
    /* The compiler appends each module's size to a list when it starts; the first one waits for the
     * others. */
    scoped(free_scoped) char *list = xasprintf("%s/order", f.dir);
    scoped(free_scoped) char *script =
        xasprintf("#!/bin/sh\n"
                  "size=$(stat -Lc %%s /proc/self/fd/3)\necho $size >>'%s'\n"
                  "if [ $size = 2000000 ]; then until [ -e '%s.go' ]; do sleep 0.01; done; fi\n"
                  "exit 3\n",
                  list, list);
    use_compiler(&f, script);
    enum { EACH = 3 };
    struct answer a[1 + 2 * EACH + MODULE_SLOTS_MAX] = { 0 };
    size_t n = 0, blocked = 0;
    scoped(free_scoped) char *bytes = xalloc(2000000);
    /* Fill every slot that takes large ones. */
    for (; blocked == 0 || stats(&f).compiling == blocked; blocked++) {
        bytes[100] = (char)blocked;
        CHECK_OK(
            module_get_bytes(f.cache, str_n(bytes, 2000000), NULL, on_module, &a[n++], NULL, NULL));
        while (stats(&f).waiting <= blocked)
            (void)loop_turn(&f.loop, true);
    }
    for (unsigned i = 0; i < 2 * EACH; i++) {
        struct module_want want = { .tenant = i < EACH ? STR("a") : STR("b") };
        CHECK_OK(module_get_bytes(f.cache, str_n(bytes, 1500000 + i), &want, on_module, &a[n++],
                                  NULL, NULL));
        while (stats(&f).waiting <= blocked + i)
            (void)loop_turn(&f.loop, true);
    }
    scoped(free_scoped) char *go = xasprintf("%s.go", list);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, go, STR(""), 0600, NULL));
    for (size_t i = 0; i < n; i++)
        wait_for(&f, &a[i]);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(65536);
    CHECK_OK(sys_read_file(AT_FDCWD, list, &text, NULL));
    /* b's first comes before a's last. */
    ssize_t first_of_b = str_find(buf_str(&text), STR("1500003"));
    ssize_t last_of_a = str_find(buf_str(&text), STR("1500002"));
    if (first_of_b < 0 || last_of_a < 0 || first_of_b > last_of_a)
        TEST_FAIL("order: " STR_FMT, STR_ARG(buf_str(&text)));
}

TEST(two_caches_may_share_a_directory)
{
    FIXTURE(f);
    struct fixture g = { 0 };
    memcpy(g.dir, f.dir, sizeof g.dir);
    CHECK_OK(loop_init(&g.loop, NULL));
    open_cache(&g);
    scoped(fd_scoped) int fd = open_wasm("everything");
    struct answer a = { 0 }, b = { 0 };
    CHECK_OK(module_get(f.cache, fd, NULL, on_module, &a, NULL, NULL));
    CHECK_OK(module_get(g.cache, fd, NULL, on_module, &b, NULL, NULL));
    while (!a.has_come || !b.has_come) {
        (void)loop_turn(&f.loop, false);
        (void)loop_turn(&g.loop, false);
    }
    CHECK_OK(a.status);
    CHECK_OK(b.status);
    /* The file of one was replaced by the other's: it is requested again. */
    struct module *m[] = { a.m, b.m };
    for (size_t i = 0; i < 2; i++) {
        scoped(fd_scoped) int code = module_open(m[i], NULL);
        CHECK(code >= 0 || code == E_EXPIRED);
        module_unref(m[i]);
    }
    module_unref(must_get(&f, "everything"));
    module_unref(must_get(&g, "everything"));
    close_cache(&g);
    loop_fini(&g.loop);
}

/* When the only entry was used last; back: set it to 1970 afterwards. */
static time_t used_at(const struct fixture *f, bool back)
{
    static const struct timespec epoch[2] = { { 0 } };
    struct stat st = { 0 };
    DIR *dir = opendir(f->dir);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (!str_has_suffix(str_of(e->d_name), STR(".info")))
            continue;
        CHECK(fstatat(dirfd(dir), e->d_name, &st, 0) == 0);
        CHECK(!back || utimensat(dirfd(dir), e->d_name, epoch, 0) == 0);
    }
    CHECK(closedir(dir) == 0);
    return st.st_mtim.tv_sec;
}

/* A process that makes room removes the oldest entries first. */
TEST(handing_out_code_marks_its_entry_as_used_once_an_hour)
{
    FIXTURE(f);
    struct module *m = must_get(&f, "counter");
    CHECK(loop_next_timer_ms(&f.loop) == UINT64_MAX); /* a module in use arms nothing */
    CHECK(used_at(&f, true) > 0);
    scoped(fd_scoped) int soon = module_open(m, NULL);
    CHECK(soon >= 0);
    CHECK_INT(used_at(&f, false), 0);
    loop_skip(&f.loop, 3600000);
    (void)loop_turn(&f.loop, false);
    scoped(fd_scoped) int later = module_open(m, NULL);
    CHECK(later >= 0);
    CHECK(used_at(&f, false) > 0);
    module_unref(m);
}

/* ---- system calls that fail ---- */

TEST(every_failing_system_call_ends_in_a_clean_error)
{
    static const enum sys_call calls[] = { SYS_OPENAT, SYS_WRITE, SYS_PREAD,
                                           SYS_FSYNC,  SYS_MEMFD, SYS_RENAMEAT };
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        bool has_failed = true;
        for (unsigned nth = 1; has_failed; nth++) {
            CHECK(nth < 100);
            FIXTURE(f);
            while (stats(&f).bytes == 0 && loop_turn(&f.loop, false)) {
            } /* the first sweep */
            sys_fail_nth(calls[i], nth, EIO);
            struct answer a = { 0 };
            (void)start_get(&f, "counter", 0, &a);
            wait_for(&f, &a);
            has_failed = sys_call_count(calls[i]) >= nth;
            sys_fail_nth(calls[i], 0, 0);
            CHECK(a.status == 0 || a.err.text[0]);
            CHECK_INT(files(&f, ".tmp", false), 0);
            module_unref(a.m);
            module_unref(must_get(&f, "counter"));
        }
    }
}

TEST_MAIN
