/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests of V1 that resume from an earlier process: which snapshot belongs to which guest, and how
 * a start becomes the end of a sleep; see snapshot.h and guest_impl.h.
 *
 * The service is asked first, by a DECLARE with the declaration of that time, as if the guest had
 * started: 0 makes it ASLEEP, any other value starts it from the beginning.
 */
#include "guest/guest_impl.h"

#include "base/slab.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "wasm/engine_config.h"
#include "wasm/snapshot.h"

#include <assert.h>
#include <dm_engine_id.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool guest_has_record(const struct guest *g)
{
    return g->abi == GUEST_ABI_V1 && !g->is_stateless && g->module->info->is_dissolvable;
}

int guest_read_boot(char ret[BOOT_ID_BYTES], struct err *err)
{
    struct err why = { 0 };
    int r = boot_id_read(ret, &why);
    if (r == -ENOENT)
        sys_uuid(ret); /* a random id never matches: the snapshots may be of another boot */
    else if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    return 0;
}

static void add_text(struct sha256 *h, const char *s)
{
    sha256_add(h, s, strlen(s) + 1);
}

void guest_get_identity(const struct guest *g, uint8_t ret[SNAPSHOT_IDENTITY_BYTES])
{
    _Static_assert((int)SNAPSHOT_IDENTITY_BYTES == (int)SHA256_BYTES, "an identity is a hash");
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    add_text(h, g->host->boot);
    add_text(h, DM_ENGINE_VERSION);
    add_text(h, ENGINE_CONFIG_ID);
    sha256_add(h, g->module->sha256, sizeof g->module->sha256);
    add_text(h, g->name);
    add_text(h, g->name + g->name_at);
    add_text(h, g->name + g->uid_at);
    sha256_add(h, &g->generation, sizeof g->generation);
    sha256_add(h, &g->memory_max, sizeof g->memory_max);
    if (g->setup_n)
        sha256_add(h, g->setup, g->setup_n);
    sha256_end(h, ret);
}

uint64_t guest_swap_mtime_ns(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return 0;
    return (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
}

/* ---- resuming ---- */

/*
 * Find the guest's record and its declaration (given). false: none, or the record is of another
 * guest.
 */
static bool find(struct guest *g, struct snapshot *s, char **ret_declaration, size_t *ret_n)
{
    char name[SWAP_NAME_MAX];
    struct err err = { 0 };
    uint8_t identity[SNAPSHOT_IDENTITY_BYTES];
    guest_swap_name(g, name);
    scoped(fd_scoped) int fd = swap_claim(&g->host->swap, name);
    if (fd < 0)
        return false;
    g->has_file = true;
    if (snapshot_read(fd, g->memory_max, s, ret_declaration, ret_n, &err) < 0) {
        log_debug("a snapshot is of no use", "guest=%s/%s reason=\"%s\"", g->name,
                  g->name + g->name_at, err_text(&err));
        return false;
    }
    guest_get_identity(g, identity);
    if (memcmp(identity, s->identity, sizeof identity) != 0) {
        log_debug("a snapshot is of another guest", "guest=%s/%s", g->name, g->name + g->name_at);
        free(take_ptr(ret_declaration));
        return false;
    }
    struct stat st;
    g->swap_mtime_ns = guest_swap_mtime_ns(fd);
    if (fstat(fd, &st) == 0)
        guest_set_swap_bytes(g, (uint64_t)st.st_blocks * 512);
    return true;
}

static void on_adopt_late(struct timer *timer)
{
    struct active *a = container_of(timer, struct active, parked);
    guest_adopted(a->guest, false);
}

bool guest_adopt(struct guest *g)
{
    struct snapshot s;
    scoped(free_scoped) char *declaration = NULL;
    size_t n;
    if (!g->host->swap.has_left || !guest_has_record(g))
        return false;
    if (!find(g, &s, &declaration, &n)) {
        guest_remove_swap(g);
        return false;
    }
    struct active *a = guest_get_active(g);
    g->start_wanted = false;
    g->has_image = true;
    g->rest = GUEST_REST_ADOPTED;
    g->clock_offset_ns = s.clock_offset_ns;
    g->memory_pages = s.memory_pages;
    slab_free(g->globals);
    g->globals = slab_alloc(s.globals_n);
    g->globals_n = s.globals_n;
    memcpy(g->globals, s.globals, s.globals_n);
    a->calling = GUEST_CALLING_ADOPT;
    a->call_id = g->next_id;
    timer_start(g->host->loop, &a->parked, GUEST_CALL_MS_MAX, on_adopt_late);
    g->ops->on_call(g,
                    &(struct guest_call){ .id = a->call_id,
                                          .incarnation = g->incarnation,
                                          .kind = GUEST_CALL_DECLARE,
                                          .head = str_n(declaration, n) },
                    g->arg);
    return true;
}

/* The service has answered the declaration; takes effect on the next turn. */
void guest_adopted(struct guest *g, bool is_accepted)
{
    struct active *a = g->active;
    timer_stop(g->host->loop, &a->parked);
    assert(a->calling == GUEST_CALLING_ADOPT);
    a->calling = GUEST_CALLING_ADOPTED;
    if (!is_accepted)
        g->rest = GUEST_REST_NONE;
    guest_make_ready(g);
}

void guest_end_adoption(struct guest *g)
{
    struct active *a = g->active;
    a->calling = GUEST_CALLING_NONE;
    if (g->rest != GUEST_REST_ADOPTED) {
        guest_remove_swap(g);
        g->memory_pages = 0;
        g->start_wanted = true;
        guest_make_ready(g);
        return;
    }
    guest_move(g, GUEST_ASLEEP, NULL);
    if (g->is_dead)
        return;
    if (g->active->queue.n)
        guest_make_ready(g);
    else
        guest_deactivate(g);
}
