/* SPDX-License-Identifier: Apache-2.0 */
#include "image/volatility.h"

#include "base/buf.h"
#include "base/sum.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>

enum { RECORD_BYTES = 8 + 8 + 4, HEAD_BYTES = 16, SUM_BYTES = 8, PATH_SEED = 7 };

static const struct str MAGIC = { "DMPATHS1", 8 };

struct path_record {
    uint64_t path, seen; /* seen: of all that images have there, in any order; 0: nothing yet */
    uint32_t n_changes;
};

/* The content of the images of one group at a path. */
struct path_now {
    struct path_record *of;
    uint64_t seen;
    uint32_t n; /* different things */
};

static size_t file_bytes(uint64_t n)
{
    return HEAD_BYTES + (size_t)n * RECORD_BYTES + SUM_BYTES;
}

void image_volatility_fini(struct image_volatility *v)
{
    map_fini(&v->by_path);
    arena_fini(&v->memory);
    *v = (struct image_volatility){ 0 };
}

static uint64_t sum_of_path(struct str path)
{
    return sum64(path, PATH_SEED);
}

static struct path_record *find_record(const struct image_volatility *v, uint64_t path)
{
    return map_get(&v->by_path, str_n(&path, sizeof path));
}

/* NULL: there are too many. */
static struct path_record *record_of(struct image_volatility *v, uint64_t path)
{
    struct path_record *r = find_record(v, path);
    if (r || v->n >= IMAGE_VOLATILITY_MAX)
        return r;
    v->by_path.borrows_keys = true;
    r = arena_new(&v->memory, struct path_record);
    r->path = path;
    (void)map_put(&v->by_path, str_n(&r->path, sizeof r->path), r);
    v->n++;
    return r;
}

/* ---- the file ---- */

/* Whether it is whole. */
static bool read_all(struct image_volatility *v, struct str text)
{
    uint64_t n, sum;
    if (text.n < file_bytes(0) || !str_has_prefix(text, MAGIC))
        return false;
    memcpy(&n, text.p + MAGIC.n, sizeof n);
    if (n > IMAGE_VOLATILITY_MAX || text.n != file_bytes(n))
        return false;
    memcpy(&sum, text.p + text.n - SUM_BYTES, sizeof sum);
    if (sum != sum64(str_slice(text, 0, text.n - SUM_BYTES), 0))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const char *at = text.p + HEAD_BYTES + i * RECORD_BYTES;
        uint64_t path;
        memcpy(&path, at, sizeof path);
        struct path_record *r = record_of(v, path);
        memcpy(&r->seen, at + sizeof path, sizeof r->seen);
        memcpy(&r->n_changes, at + sizeof path + sizeof r->seen, sizeof r->n_changes);
    }
    return true;
}

int image_volatility_load(const char *path, struct image_volatility *ret, bool *ret_good,
                          struct err *err)
{
    struct image_volatility v = { 0 };
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(file_bytes(IMAGE_VOLATILITY_MAX));
    int r = sys_read_file(AT_FDCWD, path, &text, &why);
    if (r < 0 && r != -ENOENT && r != -EMSGSIZE)
        return err_set(err, r, "'%s': %s", path, err_text(&why));
    *ret_good = r == -ENOENT || (r >= 0 && read_all(&v, buf_str(&text)));
    *ret = v;
    return 0;
}

int image_volatility_save(const struct image_volatility *v, const char *path, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(file_bytes(IMAGE_VOLATILITY_MAX));
    uint64_t n = v->n;
    (void)buf_add_str(&text, MAGIC);
    (void)buf_add(&text, &n, sizeof n);
    map_each (e, &v->by_path) {
        const struct path_record *r = e->value;
        (void)buf_add(&text, &r->path, sizeof r->path);
        (void)buf_add(&text, &r->seen, sizeof r->seen);
        (void)buf_add(&text, &r->n_changes, sizeof r->n_changes);
    }
    uint64_t sum = sum64(buf_str(&text), 0);
    (void)buf_add(&text, &sum, sizeof sum);
    int r = buf_ok(&text) ? 0 : err_set(err, -ENOMEM, "table of paths");
    return r < 0 ? r : sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
}

/* ---- learning ---- */

struct learner {
    struct image_volatility *v;
    struct map now; /* u64 sum of the path -> struct path_now */
    struct arena memory;
};

static void note_path(struct learner *l, struct str path, const uint8_t *key)
{
    uint64_t sum = sum_of_path(path), thing;
    struct path_now *now = map_get(&l->now, str_n(&sum, sizeof sum));
    memcpy(&thing, key, sizeof thing);
    if (!now) {
        struct path_record *r = record_of(l->v, sum);
        if (!r)
            return;
        now = arena_new(&l->memory, struct path_now);
        now->of = r;
        (void)map_put(&l->now, str_n(&r->path, sizeof r->path), now);
    }
    now->seen += thing;
    now->n++;
}

void image_volatility_note(struct image_volatility *v, const struct image_atoms *a)
{
    struct learner l = { .v = v, .now.borrows_keys = true };
    for (size_t i = 0; i < a->all.n; i++) {
        const struct image_atom *atom = &a->all.p[i];
        const struct image_atom_use *use = &a->images[atom->owner].p[atom->use];
        for (uint32_t j = 0; j < use->n && !atom->is_linked; j++)
            note_path(&l, use->nodes[j]->path, atom->key);
    }
    map_each (e, &l.now) {
        struct path_now *now = e->value;
        struct path_record *r = now->of;
        uint64_t seen = now->seen ? now->seen : 1;
        bool is_other = r->seen && r->seen != seen;
        if ((is_other || (now->n > 1 && r->n_changes == 0)) && r->n_changes < UINT32_MAX)
            r->n_changes++;
        r->seen = seen;
    }
    map_fini(&l.now);
    arena_fini(&l.memory);
}

/* ---- the recorded paths ---- */

uint32_t image_volatility_of(const struct image_volatility *v, struct str path)
{
    const struct path_record *r = find_record(v, sum_of_path(path));
    return r ? r->n_changes : 0;
}

static uint32_t part_of(void *arg, const struct image_atoms *a, size_t i)
{
    const struct image_volatility *v = arg;
    const struct image_atom *atom = &a->all.p[i];
    const struct image_atom_use *use = &a->images[atom->owner].p[atom->use];
    for (uint32_t j = 0; j < use->n && !atom->is_linked; j++)
        if (image_volatility_of(v, use->nodes[j]->path) > 0)
            return IMAGE_PART_VOLATILE;
    return IMAGE_PART_STEADY;
}

void image_volatility_split(const struct image_volatility *v, struct image_atoms *a)
{
    image_atoms_split(a, part_of, (void *)v);
}
