/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module when a call fails: given to the cache, compiled by dormouse-compile, stored, verified,
 * opened; then by a second cache from disk.
 *
 * What must hold: module_get() ends once, with a module or an error; a module that it gave opens,
 * or says why not; the next request, without failures, gives the module whatever the first one has
 * left on disk; no child process stays behind.
 */
#include "temp_dir.h"
#include "torture.h"

#include "base/mem.h"
#include "base/sys.h"
#include "guest/module.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>

struct got {
    struct module *module;
    unsigned calls;
    int status;
};

static struct loop loop;
static char dir[TEMP_DIR_BYTES];

static void on_module(struct module *m, int status, const struct err *err, void *arg)
{
    struct got *g = arg;
    CHECK(g->calls++ == 0);
    CHECK((status == 0) == (m != NULL));
    if (status < 0 && !torture_failed())
        TEST_FAIL("%s", err->text);
    g->module = m;
    g->status = status;
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void close_cache(struct module_cache *cache)
{
    bool closed = false;
    module_cache_close(cache, on_closed, &closed);
    while (!closed)
        (void)loop_turn(&loop, true);
}

/* NULL: it ended with an error, for which a call must have failed. */
static struct module *get(struct module_cache *cache, bool must)
{
    char path[512];
    struct got g = { 0 };
    struct err err = { 0 };
    (void)snprintf(path, sizeof path, "%s/v1.wasm", getenv("TEST_GUESTS_DIR"));
    torture_own(true);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    torture_own(false);
    CHECK(fd >= 0);
    int r = module_get(cache, fd, NULL, on_module, &g, NULL, &err);
    (void)close(fd);
    while (r >= 0 && !g.calls)
        (void)loop_turn(&loop, true);
    r = r < 0 ? r : g.status;
    if (r < 0 && (must || !torture_failed()))
        TEST_FAIL("%s", err_name(r));
    return g.module;
}

static void open_and_drop(struct module *m, bool must)
{
    struct err err = { 0 };
    if (!m)
        return;
    int fd = module_open(m, &err);
    if (fd < 0 && (must || !torture_failed()))
        TEST_FAIL("%s", err.text);
    fd_scoped(&fd);
    module_unref(m);
}

static struct module_cache *try_cache(bool must)
{
    struct module_cache *cache = NULL;
    struct err err = { 0 };
    const struct module_cache_config config = { .dir = dir, .no_background = true };
    int r = module_cache_new(&loop, &config, &cache, &err);
    if (r < 0 && (must || !torture_failed()))
        TEST_FAIL("%s", err.text);
    return cache;
}

static void module_scenario(void)
{
    CHECK(temp_dir_make("torture-module", dir));
    CHECK_OK(loop_init(&loop, NULL));
    torture_on();
    struct module_cache *cache = try_cache(false);
    if (cache) {
        open_and_drop(get(cache, false), false);
        torture_off();
        open_and_drop(get(cache, true), true); /* the same cache goes on */
        torture_on();
        close_cache(cache);
        cache = try_cache(false);
    }
    if (cache) {
        open_and_drop(get(cache, false), false);
        close_cache(cache);
    }
    torture_off();
    cache = try_cache(true);
    open_and_drop(get(cache, true), true);
    close_cache(cache);
    loop_run(&loop);
    loop_fini(&loop);
    temp_dir_remove(dir);
}

TEST(a_module_is_compiled_and_cached_around_each_failing_call)
{
    torture_run("a module", module_scenario);
}

TEST_MAIN
