/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots as a state that events change; see snapshot_state.h. How to read it: records, check()
 * and apply() for each kind of event, then what others look up, then events as bytes.
 */
#include "image/snapshot_state.h"

#include "base/heap.h"
#include "base/map.h"

#include <errno.h>
#include <string.h>

struct snapshot_record {
    struct snapshot_record *parent;
    enum snapshot_kind kind;
    uint64_t dir;
    struct layer_record *layer; /* NULL: its own directory */
    int64_t created_wall_us, updated_wall_us;
    uint64_t n_bytes, n_inodes;
    uint64_t cost; /* bytes of its event */
    uint32_t n_children, depth;
    struct snapshot_label *labels; /* with their texts in one piece of memory */
    size_t n_labels;
    size_t name_n;
    char name[];
};

struct layer_record {
    struct oci_digest diff_id;
    struct snapshot_layer is;
};

struct snapshot_state {
    struct map names;  /* struct snapshot_record, which holds the key */
    struct map layers; /* by DiffID: struct layer_record */
    struct map dirs;   /* numbers that a snapshot or a layer has; the record holds the key */
    uint64_t n_bytes;  /* of the events that make it */
    uint64_t highest_dir;
};

/* ---- records ---- */

static struct str name_of(const struct snapshot_record *r)
{
    return r ? str_n(r->name, r->name_n) : STR("");
}

static struct str diff_key(const struct oci_digest *d)
{
    return str_n(d->bytes, sizeof d->bytes);
}

static struct str dir_key(const uint64_t *dir)
{
    return str_n(dir, sizeof *dir);
}

static struct snapshot_record *find(const struct snapshot_state *s, struct str name)
{
    return map_get(&s->names, name);
}

static struct layer_record *find_layer(const struct snapshot_state *s, const struct oci_digest *d)
{
    return map_get(&s->layers, diff_key(d));
}

static void record_labels(struct snapshot_record *r, const struct snapshot_event *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n_labels; i++)
        n += e->labels[i].key.n + e->labels[i].value.n;
    size_t head = e->n_labels * sizeof *r->labels;
    struct snapshot_label *labels = n + head ? xalloc(head + n) : NULL;
    char *at = labels ? (char *)labels + head : NULL;
    for (size_t i = 0; i < e->n_labels; i++) {
        const struct snapshot_label *from = &e->labels[i];
        labels[i].key = str_n(at, from->key.n);
        memcpy(at, from->key.p, from->key.n);
        at += from->key.n;
        labels[i].value = str_n(at, from->value.n);
        if (from->value.n)
            memcpy(at, from->value.p, from->value.n);
        at += from->value.n;
    }
    free(r->labels); /* after the copy: the event may point into them */
    r->labels = labels;
    r->n_labels = e->n_labels;
}

static void record_free(struct snapshot_record *r)
{
    free(r->labels);
    free(r);
}

struct snapshot_state *snapshot_state_new(void)
{
    struct snapshot_state *s = xnew(struct snapshot_state);
    s->names.borrows_keys = true;
    s->layers.borrows_keys = true;
    s->dirs.borrows_keys = true;
    return s;
}

void snapshot_state_free(struct snapshot_state *s)
{
    if (!s)
        return;
    map_each (e, &s->names)
        record_free(e->value);
    map_fini(&s->names);
    map_each (e, &s->layers)
        free(e->value);
    map_fini(&s->layers);
    map_fini(&s->dirs);
    free(s);
}

/* ---- whether an event can happen ---- */

static bool is_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((uint8_t)s.p[i] < ' ' || (uint8_t)s.p[i] == 0x7f)
            return false;
    return str_is_utf8(s);
}

bool snapshot_is_name(struct str name)
{
    return name.n > 0 && name.n <= SNAPSHOT_NAME_MAX && is_text(name);
}

static int check_name(struct str name, struct err *err)
{
    if (snapshot_is_name(name))
        return 0;
    return err_set(err, E_INVALID, "a snapshot's name is 1 to %d bytes of text", SNAPSHOT_NAME_MAX);
}

static int check_labels(const struct snapshot_event *e, struct err *err)
{
    size_t n = 0;
    if (e->n_labels > SNAPSHOT_LABELS_MAX)
        return err_set(err, E_INVALID, "more than %d labels", SNAPSHOT_LABELS_MAX);
    for (size_t i = 0; i < e->n_labels; i++) {
        struct str key = e->labels[i].key, value = e->labels[i].value;
        if (key.n == 0 || key.n > SNAPSHOT_LABEL_MAX || value.n > SNAPSHOT_LABEL_MAX - key.n ||
            !is_text(key) || !str_is_utf8(value))
            return err_set(err, E_INVALID, "label %zu is no text of %d bytes", i,
                           SNAPSHOT_LABEL_MAX);
        for (size_t k = 0; k < i; k++)
            if (str_eq(e->labels[k].key, key))
                return err_set(err, E_INVALID, "label '" STR_FMT "' twice", STR_ARG(key));
        n += key.n + value.n;
    }
    return n > SNAPSHOT_LABELS_BYTES
               ? err_set(err, E_INVALID, "more than %d bytes of labels", SNAPSHOT_LABELS_BYTES)
               : 0;
}

/* Of the record that the event makes, whichever event that is: what was let in once is let in when
 * a journal repeats it as another one. */
static uint64_t cost_of(const struct snapshot_event *e, struct str parent)
{
    uint64_t n = 256 + e->name.n + parent.n;
    for (size_t i = 0; i < e->n_labels; i++)
        n += e->labels[i].key.n + e->labels[i].value.n + 8;
    return n;
}

static int check_is_new(const struct snapshot_state *s, struct str name, struct err *err)
{
    int r = check_name(name, err);
    if (r < 0)
        return r;
    return find(s, name)
               ? err_set(err, -EEXIST, "snapshot '" STR_FMT "' already exists", STR_ARG(name))
               : 0;
}

static int not_found(struct str name, struct err *err)
{
    return err_set(err, -ENOENT, "snapshot '" STR_FMT "' does not exist", STR_ARG(name));
}

static int check_parent(const struct snapshot_state *s, struct str name, struct err *err)
{
    const struct snapshot_record *parent = name.n ? find(s, name) : NULL;
    if (name.n && !parent)
        return not_found(name, err);
    if (parent && parent->kind != SNAPSHOT_COMMITTED)
        return err_set(err, E_INVALID, "parent '" STR_FMT "' is not committed", STR_ARG(name));
    if (parent && parent->depth >= SNAPSHOT_DEPTH_MAX)
        return err_set(err, E_LIMIT, "more than %d snapshots above one another",
                       SNAPSHOT_DEPTH_MAX);
    return 0;
}

static int check_add(const struct snapshot_state *s, const struct snapshot_event *e,
                     struct err *err)
{
    int r = check_is_new(s, e->name, err);
    r = r < 0 ? r : check_labels(e, err);
    r = r < 0 ? r : check_parent(s, e->parent, err);
    if (r < 0)
        return r;
    if (e->kind < SNAPSHOT_VIEW || e->kind > SNAPSHOT_COMMITTED || e->dir == 0 ||
        (e->is_layer && e->kind != SNAPSHOT_COMMITTED))
        return err_set(err, E_INVALID, "no kind of snapshot");
    if (e->is_layer) {
        const struct layer_record *layer = find_layer(s, &e->diff_id);
        if (!layer || layer->is.dir != e->dir)
            return err_set(err, E_INVALID, "no such layer");
        if (layer->is.is_base && e->parent.n)
            return err_set(err, E_INVALID, "the layer lacks directories of its parents");
    } else if (snapshot_state_has_dir(s, e->dir)) {
        return err_set(err, E_INVALID, "directory %llu is in use", (unsigned long long)e->dir);
    }
    if (s->names.n >= SNAPSHOT_COUNT_MAX ||
        s->n_bytes + cost_of(e, e->parent) > SNAPSHOT_STATE_BYTES)
        return err_set(err, E_LIMIT, "too many snapshots: %zu", s->names.n);
    return 0;
}

/* The name first: a commit that happened and is asked again has no key any more. */
static int check_commit(const struct snapshot_state *s, const struct snapshot_event *e,
                        struct err *err)
{
    const struct snapshot_record *from = find(s, e->key);
    int r = check_is_new(s, e->name, err);
    if (r >= 0 && !from)
        r = not_found(e->key, err);
    if (r >= 0 && from->kind != SNAPSHOT_ACTIVE)
        r = err_set(err, -EBUSY, "snapshot '" STR_FMT "' is not active", STR_ARG(e->key));
    r = r < 0 ? r : check_labels(e, err);
    if (r >= 0 && s->n_bytes + cost_of(e, name_of(from->parent)) > SNAPSHOT_STATE_BYTES)
        r = err_set(err, E_LIMIT, "too many snapshots: %zu", s->names.n);
    return r;
}

static int check_remove(const struct snapshot_state *s, struct str name, struct err *err)
{
    const struct snapshot_record *r = find(s, name);
    if (!r)
        return not_found(name, err);
    return r->n_children
               ? err_set(err, -EBUSY, "snapshot '" STR_FMT "' has children", STR_ARG(name))
               : 0;
}

static int check_label(const struct snapshot_state *s, const struct snapshot_event *e,
                       struct err *err)
{
    const struct snapshot_record *of = find(s, e->name);
    int r = of ? check_labels(e, err) : not_found(e->name, err);
    if (r >= 0 && s->n_bytes + cost_of(e, name_of(of->parent)) > SNAPSHOT_STATE_BYTES)
        r = err_set(err, E_LIMIT, "too many labels");
    return r;
}

static int check_layer(const struct snapshot_state *s, const struct snapshot_event *e,
                       struct err *err)
{
    if (find_layer(s, &e->diff_id))
        return err_set(err, -EEXIST, "the layer is there");
    if (e->dir == 0 || snapshot_state_has_dir(s, e->dir))
        return err_set(err, E_INVALID, "directory %llu is in use", (unsigned long long)e->dir);
    return s->layers.n >= SNAPSHOT_COUNT_MAX ? err_set(err, E_LIMIT, "too many layers") : 0;
}

static int check_unlayer(const struct snapshot_state *s, const struct oci_digest *d,
                         struct err *err)
{
    const struct layer_record *layer = find_layer(s, d);
    if (!layer)
        return err_set(err, -ENOENT, "no such layer");
    return layer->is.n_snapshots ? err_set(err, -EBUSY, "snapshots use the layer") : 0;
}

int snapshot_state_check(const struct snapshot_state *s, const struct snapshot_event *e,
                         struct err *err)
{
    switch (e->op) {
    case SNAPSHOT_ADD:
        return check_add(s, e, err);
    case SNAPSHOT_COMMIT:
        return check_commit(s, e, err);
    case SNAPSHOT_REMOVE:
        return check_remove(s, e->name, err);
    case SNAPSHOT_LABEL:
        return check_label(s, e, err);
    case SNAPSHOT_LAYER:
        return check_layer(s, e, err);
    case SNAPSHOT_UNLAYER:
        return check_unlayer(s, &e->diff_id, err);
    }
    return err_set(err, E_INVALID, "no event of snapshots");
}

/* ---- events ---- */

/* Another name, or other labels, for the same thing; the record moves. */
static struct snapshot_record *put_record(struct snapshot_state *s, const struct snapshot_event *e,
                                          struct snapshot_record *parent)
{
    struct snapshot_record *r = xalloc(sizeof *r + e->name.n + 1);
    r->name_n = e->name.n;
    memcpy(r->name, e->name.p, e->name.n);
    record_labels(r, e);
    r->parent = parent;
    r->cost = cost_of(e, name_of(parent));
    s->n_bytes += r->cost;
    (void)map_put(&s->names, name_of(r), r);
    return r;
}

static void drop_record(struct snapshot_state *s, struct snapshot_record *r)
{
    assert(s->n_bytes >= r->cost);
    s->n_bytes -= r->cost;
    (void)map_del(&s->names, name_of(r));
    record_free(r);
}

static void note_dir(struct snapshot_state *s, uint64_t dir)
{
    s->highest_dir = MAX(s->highest_dir, dir);
}

static void add(struct snapshot_state *s, const struct snapshot_event *e)
{
    struct snapshot_record *parent = e->parent.n ? find(s, e->parent) : NULL;
    struct snapshot_record *r = put_record(s, e, parent);
    r->depth = parent ? parent->depth + 1 : 1;
    r->kind = e->kind;
    r->dir = e->dir;
    r->created_wall_us = e->created_wall_us ? e->created_wall_us : e->wall_us;
    r->updated_wall_us = e->wall_us;
    r->n_bytes = e->n_bytes;
    r->n_inodes = e->n_inodes;
    if (parent)
        parent->n_children++;
    if (e->is_layer) {
        r->layer = find_layer(s, &e->diff_id);
        r->layer->is.n_snapshots++;
        r->n_bytes = r->layer->is.n_bytes;
        r->n_inodes = r->layer->is.n_inodes;
    } else {
        (void)map_put(&s->dirs, dir_key(&r->dir), r);
    }
    note_dir(s, e->dir);
}

static void commit(struct snapshot_state *s, const struct snapshot_event *e)
{
    struct snapshot_record *from = find(s, e->key);
    struct snapshot_record *r = put_record(s, e, from->parent);
    r->depth = from->depth;
    r->kind = SNAPSHOT_COMMITTED;
    r->dir = from->dir;
    r->created_wall_us = from->created_wall_us;
    r->updated_wall_us = e->wall_us;
    r->n_bytes = e->n_bytes;
    r->n_inodes = e->n_inodes;
    (void)map_del(&s->dirs, dir_key(&from->dir));
    (void)map_put(&s->dirs, dir_key(&r->dir), r);
    drop_record(s, from);
}

static void remove_one(struct snapshot_state *s, struct str name)
{
    struct snapshot_record *r = find(s, name);
    assert(!r->parent || r->parent->n_children > 0);
    assert(!r->layer || r->layer->is.n_snapshots > 0);
    if (r->parent)
        r->parent->n_children--;
    if (r->layer)
        r->layer->is.n_snapshots--;
    else
        (void)map_del(&s->dirs, dir_key(&r->dir));
    drop_record(s, r);
}

static void set_labels(struct snapshot_state *s, const struct snapshot_event *e)
{
    struct snapshot_record *r = find(s, e->name);
    uint64_t cost = cost_of(e, name_of(r->parent));
    s->n_bytes = s->n_bytes - r->cost + cost;
    r->cost = cost;
    record_labels(r, e);
    r->updated_wall_us = e->wall_us;
}

static void add_layer(struct snapshot_state *s, const struct snapshot_event *e)
{
    struct layer_record *layer = xnew(struct layer_record);
    *layer = (struct layer_record){
        e->diff_id,
        { .dir = e->dir, .n_bytes = e->n_bytes, .n_inodes = e->n_inodes, .is_base = e->is_base }
    };
    (void)map_put(&s->layers, diff_key(&layer->diff_id), layer);
    (void)map_put(&s->dirs, dir_key(&layer->is.dir), layer);
    note_dir(s, e->dir);
}

void snapshot_state_apply(struct snapshot_state *s, const struct snapshot_event *e)
{
    assert(snapshot_state_check(s, e, NULL) >= 0);
    switch (e->op) {
    case SNAPSHOT_ADD:
        add(s, e);
        break;
    case SNAPSHOT_COMMIT:
        commit(s, e);
        break;
    case SNAPSHOT_REMOVE:
        remove_one(s, e->name);
        break;
    case SNAPSHOT_LABEL:
        set_labels(s, e);
        break;
    case SNAPSHOT_LAYER:
        add_layer(s, e);
        break;
    case SNAPSHOT_UNLAYER: {
        struct layer_record *layer = find_layer(s, &e->diff_id);
        (void)map_del(&s->layers, diff_key(&layer->diff_id));
        (void)map_del(&s->dirs, dir_key(&layer->is.dir));
        free(layer);
        break;
    }
    }
}

/* ---- looking up ---- */

static struct snapshot_info info_of(const struct snapshot_record *r)
{
    struct snapshot_info info = { .name = name_of(r),
                                  .parent = name_of(r->parent),
                                  .kind = r->kind,
                                  .dir = r->dir,
                                  .is_layer = r->layer != NULL,
                                  .created_wall_us = r->created_wall_us,
                                  .updated_wall_us = r->updated_wall_us,
                                  .n_bytes = r->n_bytes,
                                  .n_inodes = r->n_inodes,
                                  .labels = r->labels,
                                  .n_labels = r->n_labels };
    if (r->layer)
        info.diff_id = r->layer->diff_id;
    return info;
}

int snapshot_state_get(const struct snapshot_state *s, struct str name, struct snapshot_info *ret,
                       struct err *err)
{
    const struct snapshot_record *r = find(s, name);
    if (!r)
        return not_found(name, err);
    *ret = info_of(r);
    return 0;
}

static bool says(const struct snapshot_record *r, struct str ref)
{
    for (size_t i = 0; i < r->n_labels; i++)
        if (str_is(r->labels[i].key, SNAPSHOT_REF_LABEL))
            return str_eq(r->labels[i].value, ref);
    return false;
}

bool snapshot_state_find(const struct snapshot_state *s, struct str parent, struct str ref,
                         struct snapshot_info *ret)
{
    map_each (e, &s->names) {
        const struct snapshot_record *r = e->value;
        if (r->kind != SNAPSHOT_COMMITTED || !str_eq(name_of(r->parent), parent) || !says(r, ref))
            continue;
        *ret = info_of(r);
        return true;
    }
    return false;
}

bool snapshot_state_layer(const struct snapshot_state *s, const struct oci_digest *diff_id,
                          struct snapshot_layer *ret)
{
    const struct layer_record *layer = find_layer(s, diff_id);
    if (layer)
        *ret = layer->is;
    return layer != NULL;
}

const struct oci_digest *snapshot_state_find_layer(const struct snapshot_state *s,
                                                   bool (*fn)(void *arg,
                                                              const struct oci_digest *diff_id),
                                                   void *arg)
{
    map_each (e, &s->layers) {
        const struct layer_record *layer = e->value;
        if (fn(arg, &layer->diff_id))
            return &layer->diff_id;
    }
    return NULL;
}

bool snapshot_state_has_dir(const struct snapshot_state *s, uint64_t dir)
{
    return map_has(&s->dirs, dir_key(&dir));
}

int snapshot_state_lowers(const struct snapshot_state *s, struct str name,
                          uint64_t ret[SNAPSHOT_DEPTH_MAX], size_t *ret_n)
{
    const struct snapshot_record *r = find(s, name);
    size_t n = 0;
    if (!r)
        return -ENOENT;
    for (r = r->parent; r; r = r->parent) {
        size_t i = 0;
        while (i < n && ret[i] != r->dir)
            i++;
        if (i < n)
            continue;
        assert(n < SNAPSHOT_DEPTH_MAX);
        ret[n++] = r->dir;
    }
    *ret_n = n;
    return 0;
}

size_t snapshot_state_count(const struct snapshot_state *s)
{
    return s->names.n;
}

uint64_t snapshot_state_highest_dir(const struct snapshot_state *s)
{
    return s->highest_dir;
}

static int by_depth(const void *a, const void *b)
{
    const struct snapshot_record *x = *(const struct snapshot_record *const *)a;
    const struct snapshot_record *y = *(const struct snapshot_record *const *)b;
    return x->depth != y->depth ? (x->depth < y->depth ? -1 : 1) : str_cmp(name_of(x), name_of(y));
}

static struct snapshot_event event_of(const struct snapshot_record *r)
{
    struct snapshot_event e = { .op = SNAPSHOT_ADD,
                                .name = name_of(r),
                                .parent = name_of(r->parent),
                                .kind = r->kind,
                                .dir = r->dir,
                                .is_layer = r->layer != NULL,
                                .wall_us = r->updated_wall_us,
                                .created_wall_us = r->created_wall_us,
                                .n_bytes = r->n_bytes,
                                .n_inodes = r->n_inodes,
                                .labels = r->labels,
                                .n_labels = r->n_labels };
    if (r->layer)
        e.diff_id = r->layer->diff_id;
    return e;
}

int snapshot_state_each(const struct snapshot_state *s,
                        int (*fn)(void *arg, const struct snapshot_event *e), void *arg)
{
    size_t n = 0;
    int r = 0;
    scoped(free_scoped) struct snapshot_record **all =
        xnew_n(struct snapshot_record *, s->names.n + 1);
    map_each (m, &s->layers) {
        const struct layer_record *layer = m->value;
        const struct snapshot_event e = { .op = SNAPSHOT_LAYER,
                                          .diff_id = layer->diff_id,
                                          .dir = layer->is.dir,
                                          .n_bytes = layer->is.n_bytes,
                                          .n_inodes = layer->is.n_inodes,
                                          .is_base = layer->is.is_base };
        r = fn(arg, &e);
        if (r < 0)
            return r;
    }
    map_each (m, &s->names)
        all[n++] = m->value;
    if (n)
        qsort(all, n, sizeof(struct snapshot_record *), by_depth);
    for (size_t i = 0; i < n && r >= 0; i++) {
        const struct snapshot_event e = event_of(all[i]);
        r = fn(arg, &e);
    }
    return r;
}

static int by_name(const void *a, const void *b)
{
    const struct snapshot_record *x = *(const struct snapshot_record *const *)a;
    const struct snapshot_record *y = *(const struct snapshot_record *const *)b;
    return str_cmp(name_of(x), name_of(y));
}

static bool is_higher(const void *a, const void *b, const void *arg)
{
    return by_name(a, b) > 0;
}

static const struct heap_kind highest_first = { sizeof(const struct snapshot_record *), is_higher,
                                                NULL };

int snapshot_state_after(const struct snapshot_state *s, struct str after, size_t max,
                         int (*fn)(void *arg, const struct snapshot_event *e), void *arg,
                         size_t *ret_n)
{
    int r = 0;
    VEC(const struct snapshot_record *) lowest = { 0 };
    map_each (e, &s->names) {
        const struct snapshot_record *rec = e->value;
        if (max && (after.n == 0 || str_cmp(name_of(rec), after) > 0))
            heap_offer(&highest_first, NULL, &lowest, rec, max);
    }
    if (lowest.n)
        qsort(lowest.p, lowest.n, sizeof *lowest.p, by_name);
    for (size_t i = 0; i < lowest.n && r == 0; i++) {
        const struct snapshot_event e = event_of(lowest.p[i]);
        r = fn(arg, &e);
    }
    *ret_n = lowest.n;
    vec_fini(&lowest);
    return r;
}

void snapshot_chain_id(const struct oci_digest *parent, const struct oci_digest *diff_id,
                       struct oci_digest *ret)
{
    char text[2 * OCI_DIGEST_TEXT_SIZE];
    if (!parent) {
        *ret = *diff_id;
        return;
    }
    oci_digest_format(parent, text);
    text[OCI_DIGEST_TEXT_SIZE - 1] = ' ';
    oci_digest_format(diff_id, text + OCI_DIGEST_TEXT_SIZE);
    sha256_of(str_n(text, 2 * OCI_DIGEST_TEXT_SIZE - 1), ret->bytes);
}

/* ---- bytes: op, kind, flags, 0, then numbers, then texts with their lengths ---- */

enum { FLAG_LAYER = 1, FLAG_BASE = 2 };

static void add_text(struct buf *to, struct str s)
{
    (void)buf_add_le16(to, (uint16_t)s.n);
    (void)buf_add_str(to, s);
}

void snapshot_event_encode(const struct snapshot_event *e, struct buf *to)
{
    (void)buf_add_u8(to, (uint8_t)e->op);
    (void)buf_add_u8(to, (uint8_t)e->kind);
    (void)buf_add_u8(to, (uint8_t)((e->is_layer ? FLAG_LAYER : 0) | (e->is_base ? FLAG_BASE : 0)));
    (void)buf_add_u8(to, 0);
    (void)buf_add_le64(to, e->dir);
    (void)buf_add_le64(to, (uint64_t)e->wall_us);
    (void)buf_add_le64(to, (uint64_t)e->created_wall_us);
    (void)buf_add_le64(to, e->n_bytes);
    (void)buf_add_le64(to, e->n_inodes);
    (void)buf_add(to, e->diff_id.bytes, sizeof e->diff_id.bytes);
    add_text(to, e->name);
    add_text(to, e->key);
    add_text(to, e->parent);
    (void)buf_add_le16(to, (uint16_t)e->n_labels);
    for (size_t i = 0; i < e->n_labels; i++) {
        add_text(to, e->labels[i].key);
        add_text(to, e->labels[i].value);
    }
}

int snapshot_event_decode(struct arena *a, struct str bytes, struct snapshot_event *ret,
                          struct err *err)
{
    struct rd r = rd_init(bytes.p, bytes.n);
    struct snapshot_event e = { .op = (enum snapshot_op)rd_u8(&r) };
    e.kind = (enum snapshot_kind)rd_u8(&r);
    uint8_t flags = rd_u8(&r);
    (void)rd_u8(&r);
    e.is_layer = flags & FLAG_LAYER;
    e.is_base = flags & FLAG_BASE;
    e.dir = rd_le64(&r);
    e.wall_us = (int64_t)rd_le64(&r);
    e.created_wall_us = (int64_t)rd_le64(&r);
    e.n_bytes = rd_le64(&r);
    e.n_inodes = rd_le64(&r);
    struct str diff_id = rd_str(&r, sizeof e.diff_id.bytes);
    e.name = rd_str(&r, rd_le16(&r));
    e.key = rd_str(&r, rd_le16(&r));
    e.parent = rd_str(&r, rd_le16(&r));
    size_t n = rd_le16(&r);
    if (!rd_ok(&r) || n > SNAPSHOT_LABELS_MAX)
        return err_set(err, E_PARSE, "no record of a snapshot");
    memcpy(e.diff_id.bytes, diff_id.p, sizeof e.diff_id.bytes);
    struct snapshot_label *labels = arena_new_n(a, struct snapshot_label, n + 1);
    for (size_t i = 0; i < n; i++) {
        labels[i].key = rd_str(&r, rd_le16(&r));
        labels[i].value = rd_str(&r, rd_le16(&r));
    }
    if (!rd_ok(&r) || rd_left(&r))
        return err_set(err, E_PARSE, "no record of a snapshot");
    e.labels = labels;
    e.n_labels = n;
    *ret = e;
    return 0;
}
