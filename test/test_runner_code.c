/* SPDX-License-Identifier: Apache-2.0 */
/* runner/code: code of modules stays mapped up to a bound, and comes back as it was. */
#include "runner/code.h"

#include "base/sys.h"
#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MODULES = 40, PAGE = 4096, BYTES = 1 << 20 };

/* The engine's part: modules are files of BYTES whose every page begins with their number. */
struct wasmtime_module {
    char *start;
};

void wasmtime_module_image_range(const wasmtime_module_t *module, void **start, void **end)
{
    *start = module->start;
    *end = module->start + BYTES;
}

struct rig {
    struct runner r;
    struct run_module modules[MODULES];
    wasmtime_module_t images[MODULES];
    int pagemap_fd;
};

static void rig_init(struct rig *rig)
{
    *rig = (struct rig){ 0 };
    list_init(&rig->r.code);
    rig->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (unsigned i = 0; i < MODULES; i++) {
        char page[PAGE] = { (char)i };
        scoped(fd_scoped) int fd = sys_memfd("module");
        CHECK(fd >= 0);
        for (unsigned k = 0; k < BYTES / PAGE; k++)
            CHECK_OK(sys_write_all(fd, page, sizeof page));
        rig->images[i].start = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
        CHECK(rig->images[i].start != MAP_FAILED);
        rig->modules[i].module = &rig->images[i];
    }
}

static void rig_fini(struct rig *rig)
{
    for (unsigned i = 0; i < MODULES; i++)
        (void)munmap(rig->images[i].start, BYTES);
    if (rig->pagemap_fd >= 0)
        (void)close(rig->pagemap_fd);
}

static void run(struct rig *rig, unsigned i)
{
    code_used(&rig->r, &rig->modules[i]);
    for (size_t at = 0; at < BYTES; at += PAGE)
        CHECK_INT(rig->images[i].start[at], i);
}

static bool is_mapped(const struct rig *rig, unsigned i)
{
    uint64_t entry = 0;
    off_t at = (off_t)((uintptr_t)rig->images[i].start / PAGE * sizeof entry);
    CHECK(pread(rig->pagemap_fd, &entry, sizeof entry, at) == sizeof entry);
    return entry >> 63;
}

static unsigned n_mapped(const struct rig *rig)
{
    unsigned n = 0;
    for (unsigned i = 0; i < MODULES; i++)
        n += is_mapped(rig, i);
    return n;
}

TEST(code_is_mapped_up_to_a_bound_and_comes_back_as_it_was)
{
    enum { BOUND = RUNNER_CODE_MAPPED_BYTES / BYTES, STEPS = 200 };
    struct rig rig;
    rig_init(&rig);
    for (unsigned i = 0; i < MODULES; i++) {
        CHECK(rig.images[i].start[0] == (char)i);
        code_loaded(&rig.modules[i]);
    }
    CHECK(rig.pagemap_fd < 0 || n_mapped(&rig) == 0);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)test_random_below(MODULES);
        run(&rig, i);
        CHECK(rig.r.code_bytes <= RUNNER_CODE_MAPPED_BYTES);
        CHECK(rig.pagemap_fd < 0 || n_mapped(&rig) <= BOUND);
        CHECK(rig.pagemap_fd < 0 || is_mapped(&rig, i));
    }
    for (unsigned i = 0; i < MODULES; i++)
        code_forget(&rig.r, &rig.modules[i]);
    CHECK_INT(rig.r.code_bytes, 0);
    CHECK(list_is_empty(&rig.r.code));
    rig_fini(&rig);
}

TEST(code_larger_than_the_bound_stays_while_its_guest_has_a_turn)
{
    struct rig rig;
    rig_init(&rig);
    run(&rig, 0);
    rig.modules[1].module = &rig.images[1];
    code_loaded(&rig.modules[1]);
    rig.modules[1].code_bytes = RUNNER_CODE_MAPPED_BYTES + 1;
    run(&rig, 1);
    CHECK(rig.pagemap_fd < 0 || is_mapped(&rig, 1));
    CHECK(rig.pagemap_fd < 0 || !is_mapped(&rig, 0)); /* and nobody else's beside it */
    run(&rig, 2);
    CHECK(rig.pagemap_fd < 0 || !is_mapped(&rig, 1));
    rig_fini(&rig);
}

TEST_MAIN
