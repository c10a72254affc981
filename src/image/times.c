/* SPDX-License-Identifier: Apache-2.0 */
#include "image/times.h"

#include "base/buf.h"
#include "base/sum.h"
#include "base/sys.h"
#include "image/share.h"

#include <errno.h>
#include <fcntl.h>

enum { RECORD_BYTES = SHA256_BYTES + 8 + 4, HEAD_BYTES = 16, SUM_BYTES = 8 };

static const struct str MAGIC = { "DMTIMES1", 8 };

static size_t file_bytes(uint64_t n)
{
    return HEAD_BYTES + (size_t)n * RECORD_BYTES + SUM_BYTES;
}

void image_times_fini(struct image_times *t)
{
    map_fini(&t->by_key);
    arena_fini(&t->memory);
    *t = (struct image_times){ 0 };
}

/* A file keeps its first time. */
static void put(struct image_times *t, const uint8_t *key, struct image_time time)
{
    if (t->n >= IMAGE_TIMES_MAX || map_has(&t->by_key, str_n(key, SHA256_BYTES)))
        return;
    struct times_kept {
        struct image_time time;
        uint8_t key[SHA256_BYTES];
    } *kept = arena_new(&t->memory, struct times_kept);
    kept->time = time;
    memcpy(kept->key, key, SHA256_BYTES);
    t->by_key.borrows_keys = true;
    (void)map_put(&t->by_key, str_n(kept->key, SHA256_BYTES), &kept->time);
    t->n++;
}

/* ---- the file ---- */

static int read_all(struct image_times *t, struct str text, struct err *err)
{
    uint64_t n, sum;
    if (text.n < file_bytes(0) || !str_has_prefix(text, MAGIC))
        return err_set(err, E_CORRUPT, "no table of times");
    memcpy(&n, text.p + MAGIC.n, sizeof n);
    if (n > IMAGE_TIMES_MAX || text.n != file_bytes(n))
        return err_set(err, E_CORRUPT, "the table of times has another size");
    memcpy(&sum, text.p + text.n - SUM_BYTES, sizeof sum);
    if (sum != sum64(str_slice(text, 0, text.n - SUM_BYTES), 0))
        return err_set(err, E_CORRUPT, "the table of times is damaged");
    for (uint64_t i = 0; i < n; i++) {
        const char *at = text.p + HEAD_BYTES + i * RECORD_BYTES;
        struct image_time time = { 0 };
        memcpy(&time.s, at + SHA256_BYTES, sizeof time.s);
        memcpy(&time.ns, at + SHA256_BYTES + sizeof time.s, sizeof time.ns);
        put(t, (const uint8_t *)at, time);
    }
    return 0;
}

int image_times_load(const char *path, struct image_times *ret, struct err *err)
{
    struct image_times t = { 0 };
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(file_bytes(IMAGE_TIMES_MAX));
    int r = sys_read_file(AT_FDCWD, path, &text, &why);
    if (r >= 0)
        r = read_all(&t, buf_str(&text), &why);
    else if (r == -ENOENT)
        r = 0;
    if (r < 0) {
        image_times_fini(&t);
        return err_set(err, r, "'%s': %s", path, err_text(&why));
    }
    *ret = t;
    return 0;
}

int image_times_save(const struct image_times *t, const char *path, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(file_bytes(IMAGE_TIMES_MAX));
    uint64_t n = t->n;
    (void)buf_add_str(&text, MAGIC);
    (void)buf_add(&text, &n, sizeof n);
    map_each (e, &t->by_key) {
        const struct image_time *time = e->value;
        (void)buf_add_str(&text, e->key);
        (void)buf_add(&text, &time->s, sizeof time->s);
        (void)buf_add(&text, &time->ns, sizeof time->ns);
    }
    uint64_t sum = sum64(buf_str(&text), 0);
    (void)buf_add(&text, &sum, sizeof sum);
    int r = buf_ok(&text) ? 0 : err_set(err, -ENOMEM, "table of times");
    return r < 0 ? r : sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
}

/* ---- planned files ---- */

static void note_use(struct image_times *t, const struct image_atom *atom,
                     const struct image_atom_use *use)
{
    for (uint32_t j = 0; j < use->n; j++) {
        uint8_t key[SHA256_BYTES];
        if (atom->times[j].is_exact || use->nodes[j]->inode->entry->type != TAR_FILE)
            continue;
        image_key_of(use->nodes[j], IMAGE_KEY_ATTRIBUTES, key);
        put(t, key, atom->times[j]);
    }
}

void image_times_note(struct image_times *t, const struct image_refactoring *r)
{
    for (size_t i = 0; i < r->atoms.all.n; i++) {
        const struct image_atom *atom = &r->atoms.all.p[i];
        if (r->plan.pieces[atom->class_index].n > 0 && !atom->is_linked)
            note_use(t, atom, &r->atoms.images[atom->owner].p[atom->use]);
    }
}
