/* SPDX-License-Identifier: Apache-2.0 */
#include "image/atoms.h"

#include "image/share.h"

#include <assert.h>
#include <fnmatch.h>

enum { TAR_SHORT_PATH = 100 };

/* A layer in memory, to find the layer of an entry. */
struct atoms_span {
    const struct oci_entry *from, *to;
    uint64_t blob, tar;
};

struct finder {
    const struct image_atoms_opts *opts;
    struct image_atoms *atoms;
    struct map classes; /* words of a set -> index + 1 */
    struct sha256 *hash;
    /* Of the image at hand. */
    const struct image_group_member *image;
    struct oci_node **nodes; /* all nodes except directories, sorted by path */
    size_t n;
    uint32_t *root;       /* for each node the first one of its atom, */
    uint32_t *first_name; /* and the first one of its inode */
    bool *is_exact;       /* its time has to be equal */
    struct map index;     /* struct oci_node * -> its place in `nodes`, + 1 */
    struct atoms_span *spans;
    VEC(struct image_atom_use) uses;
};

void image_atoms_fini(struct image_atoms *a)
{
    vec_fini(&a->all);
    vec_fini(&a->classes);
    map_fini(&a->by_key);
    arena_fini(&a->memory);
}

/* ---- sizes ---- */

uint64_t image_node_tar_bytes(const struct oci_node *node, bool has_data)
{
    const struct oci_entry *e = node->inode->entry;
    uint64_t n = TAR_BLOCK_BYTES;
    if (node->path.n > TAR_SHORT_PATH || (e && (e->n_xattrs || e->link.n > TAR_SHORT_PATH)))
        n += 2 * TAR_BLOCK_BYTES; /* a pax header and its records */
    if (e && e->type == TAR_FILE && has_data)
        n += (e->size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
    return n;
}

static int by_address(const void *x, const void *y)
{
    const struct atoms_span *a = x, *b = y;
    return (a->from > b->from) - (a->from < b->from);
}

static void note_spans(struct finder *f)
{
    const struct image_group_member *m = f->image;
    f->spans = xnew_n(struct atoms_span, m->n_layers);
    for (size_t i = 0; i < m->n_layers; i++) {
        const struct oci_layer *l = m->layers[i];
        f->spans[i] = (struct atoms_span){ l->entries.p, l->entries.p + l->entries.n,
                                           m->layer_sizes[i], l->n_bytes };
    }
    qsort(f->spans, m->n_layers, sizeof *f->spans, by_address);
}

/* What `raw` bytes of the tar that held this entry took in the blob. */
static uint64_t packed(const struct finder *f, const struct oci_entry *e, uint64_t raw)
{
    size_t low = 0, high = f->image->n_layers;
    while (low + 1 < high) {
        size_t mid = (low + high) / 2;
        if (f->spans[mid].from <= e)
            low = mid;
        else
            high = mid;
    }
    const struct atoms_span *s = &f->spans[low];
    if (high == 0 || e < s->from || e >= s->to || s->tar == 0 || s->blob >= s->tar)
        return raw;
    return (uint64_t)((double)raw * (double)s->blob / (double)s->tar);
}

/* ---- which nodes belong together ---- */

static uint32_t root_of(struct finder *f, uint32_t i)
{
    while (f->root[i] != i)
        i = f->root[i] = f->root[f->root[i]];
    return i;
}

static void join(struct finder *f, uint32_t a, uint32_t b)
{
    a = root_of(f, a);
    b = root_of(f, b);
    f->root[MAX(a, b)] = MIN(a, b);
}

static void join_hard_links(struct finder *f)
{
    struct map first = { 0 }; /* inode -> place of its first name, + 1 */
    for (size_t i = 0; i < f->n; i++) {
        const struct oci_inode *inode = f->nodes[i]->inode;
        if (inode->n_links < 2)
            continue;
        uintptr_t at = (uintptr_t)map_get(&first, str_n(&inode, sizeof inode));
        if (!at) {
            (void)map_put(&first, str_n(&inode, sizeof inode), (void *)(i + 1));
            continue;
        }
        f->first_name[i] = (uint32_t)at - 1;
        join(f, (uint32_t)i, (uint32_t)at - 1);
    }
    map_fini(&first);
}

/* The source of a compiled Python file (PEP 3147): "d/m.py" of "d/__pycache__/m.cpython-311.pyc"
 * and of "d/m.pyc". False: it has none. */
static bool python_source(struct str pyc, char *room, struct str *ret)
{
    static const struct str cache = { "__pycache__/", 12 };
    size_t at = pyc.n;
    while (at && pyc.p[at - 1] != '/')
        at--;
    struct str dir = str_slice(pyc, 0, at), name = str_slice(pyc, at, pyc.n), stem, rest;
    if (str_has_suffix(dir, cache) && (dir.n == cache.n || dir.p[dir.n - cache.n - 1] == '/')) {
        dir.n -= cache.n;
        (void)str_cut(name, '.', &stem, &rest);
    } else {
        stem = str_slice(name, 0, name.n - 4);
    }
    if (stem.n == 0)
        return false;
    memcpy(room, dir.p, dir.n);
    memcpy(room + dir.n, stem.p, stem.n);
    memcpy(room + dir.n + stem.n, ".py", 3);
    *ret = str_n(room, dir.n + stem.n + 3);
    return true;
}

static void join_python(struct finder *f)
{
    char room[TAR_PATH_MAX];
    struct str source;
    for (size_t i = 0; i < f->n; i++) {
        if (!f->nodes[i]->inode->entry->records_time ||
            !python_source(f->nodes[i]->path, room, &source))
            continue;
        struct oci_node *py = oci_tree_find(f->image->tree, source);
        uintptr_t at = (uintptr_t)map_get(&f->index, str_n(&py, sizeof py));
        if (!py || !at)
            continue;
        f->is_exact[at - 1] = true;
        join(f, (uint32_t)i, (uint32_t)at - 1);
    }
}

static bool matches_glob(const struct image_atoms_opts *o, struct str path)
{
    if (o->n_exact_globs == 0)
        return false;
    scoped(free_scoped) char *text = str_dup(path);
    for (size_t i = 0; i < o->n_exact_globs; i++)
        if (fnmatch(o->exact_globs[i] + (o->exact_globs[i][0] == '/'), text, 0) == 0)
            return true;
    return false;
}

/* ---- keys ---- */

static void add_text(struct sha256 *h, struct str s)
{
    uint64_t n = s.n;
    sha256_add(h, &n, sizeof n);
    sha256_add(h, s.p, s.n);
}

static void add_rights(struct sha256 *h, const struct oci_entry *e)
{
    const uint32_t numbers[] = { e->mode, e->uid, e->gid, e->n_xattrs };
    sha256_add(h, numbers, sizeof numbers);
    for (size_t i = 0; i < e->n_xattrs; i++) {
        add_text(h, e->xattrs[i].name);
        add_text(h, e->xattrs[i].value);
    }
}

static void add_node(struct finder *f, size_t i)
{
    const struct oci_entry *e = f->nodes[i]->inode->entry;
    const uint32_t numbers[] = { e->type, e->device_major, e->device_minor, f->is_exact[i] };
    add_text(f->hash, f->nodes[i]->path);
    add_text(f->hash, f->nodes[f->first_name[i]]->path);
    sha256_add(f->hash, numbers, sizeof numbers);
    if (e->type == TAR_FILE)
        sha256_add(f->hash, e->digest, sizeof e->digest);
    add_text(f->hash, e->link);
    add_rights(f->hash, e);
    if (f->is_exact[i]) {
        sha256_add(f->hash, &e->mtime_s, sizeof e->mtime_s);
        sha256_add(f->hash, &e->mtime_ns, sizeof e->mtime_ns);
    }
}

static bool is_library(struct str path)
{
    return str_has_suffix(path, STR(".so")) || str_find(path, STR(".so.")) >= 0;
}

/* May this file become a link to its content? Never what has rights of its own, what is found by
 * its own path (programs and libraries), and what belongs to other names. */
static bool can_be_linked(const struct finder *f, size_t i, uint32_t n)
{
    const struct oci_node *node = f->nodes[i];
    const struct oci_entry *e = node->inode->entry;
    if (n != 1 || e->type != TAR_FILE || e->size == 0 || (e->mode & 07111) || f->is_exact[i] ||
        is_library(node->path) || str_has_suffix(node->path, STR(".py")) ||
        str_has_suffix(node->path, STR(".pyc")))
        return false;
    for (size_t x = 0; x < e->n_xattrs; x++)
        if (str_has_prefix(e->xattrs[x].name, STR("security.")))
            return false;
    return true;
}

static void key_of_content(struct finder *f, size_t i, uint8_t ret[SHA256_BYTES])
{
    const struct oci_entry *e = f->nodes[i]->inode->entry;
    add_text(f->hash, STR("content"));
    sha256_add(f->hash, e->digest, sizeof e->digest);
    add_rights(f->hash, e);
    sha256_end(f->hash, ret);
}

/* `at`: places of the nodes, sorted by path. */
static void key_of(struct finder *f, const uint32_t *at, uint32_t n, uint8_t ret[SHA256_BYTES])
{
    add_text(f->hash, STR("names"));
    for (uint32_t i = 0; i < n; i++)
        add_node(f, at[i]);
    sha256_end(f->hash, ret);
}

/* ---- atoms ---- */

/* A use per image at most: two paths of an image never lead to the same file. */
static struct image_atom *atom_with(struct finder *f, size_t image, const uint8_t *key)
{
    struct image_atoms *a = f->atoms;
    uintptr_t at = (uintptr_t)map_get(&a->by_key, str_n(key, SHA256_BYTES));
    if (at)
        return &a->all.p[at - 1];
    struct image_atom fresh = { .owner = (uint32_t)image, .use = (uint32_t)f->uses.n };
    memcpy(fresh.key, key, SHA256_BYTES);
    fresh.set = arena_new_n(&a->memory, uint64_t, a->n_words);
    vec_push(&a->all, fresh);
    (void)map_put(&a->by_key, str_n(key, SHA256_BYTES), (void *)(uintptr_t)a->all.n);
    return &a->all.p[a->all.n - 1];
}

static void measure(const struct finder *f, struct image_atom *atom, const uint32_t *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct oci_entry *e = f->nodes[at[i]]->inode->entry;
        bool has_data = f->first_name[at[i]] == at[i];
        uint64_t raw = image_node_tar_bytes(f->nodes[at[i]], has_data);
        atom->raw += raw;
        atom->size += packed(f, e, raw);
        atom->content += has_data && e->type == TAR_FILE ? e->size : 0;
        atom->n_files += has_data && e->type == TAR_FILE;
    }
}

static bool is_earlier(const struct oci_entry *e, const struct image_time *t)
{
    return e->mtime_s != t->s ? e->mtime_s < t->s : e->mtime_ns < t->ns;
}

static void note_times(struct finder *f, struct image_atom *atom, const uint32_t *at, uint32_t n)
{
    bool is_first = !atom->times;
    if (is_first)
        atom->times = arena_new_n(&f->atoms->memory, struct image_time, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct oci_entry *e = f->nodes[at[i]]->inode->entry;
        if (is_first || is_earlier(e, &atom->times[i]))
            atom->times[i] = (struct image_time){ e->mtime_s, e->mtime_ns, f->is_exact[at[i]] };
    }
}

/* The nodes at `at` are an atom of `image`. */
static void add_atom(struct finder *f, size_t image, const uint32_t *at, uint32_t n)
{
    uint8_t key[SHA256_BYTES];
    struct image_atoms *a = f->atoms;
    bool is_linked = f->opts->is_linked && can_be_linked(f, at[0], n);
    if (is_linked) {
        key_of_content(f, at[0], key);
        is_linked = !image_set_has(atom_with(f, image, key)->set, image);
    }
    if (!is_linked)
        key_of(f, at, n, key);
    struct image_atom *atom = atom_with(f, image, key);
    struct oci_node **nodes = arena_new_n(&a->memory, struct oci_node *, n);
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = f->nodes[at[i]];
    struct image_atom_use use = { (uint32_t)(atom - a->all.p), n, nodes };
    assert(!image_set_has(atom->set, image));
    atom->is_linked = is_linked;
    if (!atom->times)
        measure(f, atom, at, n);
    note_times(f, atom, at, n);
    image_set_add((uint64_t *)atom->set, image);
    vec_push(&f->uses, use);
    a->images[image].merged += atom->content;
}

/* Places of nodes, those of an atom next to each other; a counting sort keeps their order. */
static void add_atoms(struct finder *f, size_t image)
{
    scoped(free_scoped) uint32_t *count = xnew_n(uint32_t, f->n + 1);
    scoped(free_scoped) uint32_t *places = xnew_n(uint32_t, f->n + 1);
    for (uint32_t i = 0; i < f->n; i++)
        count[root_of(f, i) + 1]++;
    for (uint32_t i = 0; i < f->n; i++)
        count[i + 1] += count[i];
    for (uint32_t i = 0; i < f->n; i++)
        places[count[root_of(f, i)]++] = i;
    for (uint32_t i = 0, next; i < f->n; i = next) {
        for (next = i + 1; next < f->n && f->root[places[next]] == f->root[places[i]]; next++)
            ;
        add_atom(f, image, places + i, next - i);
    }
}

static void take_nodes(struct finder *f, size_t image)
{
    size_t n = oci_tree_sorted(f->image->tree, &f->nodes);
    f->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (oci_node_is_dir(f->nodes[i]))
            f->atoms->images[image].directories_raw += image_node_tar_bytes(f->nodes[i], false);
        else
            f->nodes[f->n++] = f->nodes[i];
    }
    f->root = xnew_n(uint32_t, f->n);
    f->first_name = xnew_n(uint32_t, f->n);
    f->is_exact = xnew_n(bool, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        f->root[i] = f->first_name[i] = i;
        f->is_exact[i] = f->opts->is_exact || matches_glob(f->opts, f->nodes[i]->path);
        (void)map_put(&f->index, str_n(&f->nodes[i], sizeof f->nodes[i]),
                      (void *)(uintptr_t)(i + 1));
    }
}

static void add_image(struct finder *f, const struct image_group_member *m, size_t image)
{
    f->image = m;
    take_nodes(f, image);
    note_spans(f);
    join_hard_links(f);
    join_python(f);
    add_atoms(f, image);
    struct image_uses *to = &f->atoms->images[image];
    to->n = f->uses.n;
    to->p = arena_new_n(&f->atoms->memory, struct image_atom_use, f->uses.n);
    if (to->n)
        memcpy(to->p, f->uses.p, to->n * sizeof *to->p);
    vec_fini(&f->uses);
    map_fini(&f->index);
    free(f->nodes);
    free(f->root);
    free(f->first_name);
    free(f->is_exact);
    free(f->spans);
}

/* ---- times ---- */

/* A shared time that need not be equal is in whole seconds, which needs no pax header. */
static void round_times(struct image_atoms *a)
{
    for (size_t i = 0; i < a->all.n; i++) {
        struct image_atom *atom = &a->all.p[i];
        for (uint32_t j = 0; j < a->images[atom->owner].p[atom->use].n; j++)
            if (!atom->times[j].is_exact)
                atom->times[j].ns = 0;
    }
}

/* A published time is kept, so that a new member of the group does not change the layer. */
static void use_published(struct image_atoms *a, const struct map *published)
{
    for (size_t i = 0; published && i < a->all.n; i++) {
        struct image_atom *atom = &a->all.p[i];
        const struct image_atom_use *use = &a->images[atom->owner].p[atom->use];
        for (uint32_t j = 0; j < use->n && !atom->is_linked; j++) {
            uint8_t key[SHA256_BYTES];
            if (atom->times[j].is_exact || use->nodes[j]->inode->entry->type != TAR_FILE)
                continue;
            image_key_of(use->nodes[j], IMAGE_KEY_ATTRIBUTES, key);
            const struct image_time *t = map_get(published, str_n(key, sizeof key));
            if (t) {
                atom->times[j].s = t->s;
                atom->times[j].ns = t->ns;
            }
        }
    }
}

/* ---- classes ---- */

static uint32_t class_of(struct image_atoms *a, struct map *seen, const uint64_t *set,
                         uint32_t part)
{
    uint64_t key[IMAGE_SET_U64_MAX + 1];
    memcpy(key, set, a->n_words * sizeof *key);
    key[a->n_words] = part;
    struct str text = str_n(key, (a->n_words + 1) * sizeof *key);
    uintptr_t at = (uintptr_t)map_get(seen, text);
    if (at)
        return (uint32_t)at - 1;
    struct image_class fresh = { .set = set, .part = part };
    vec_push(&a->classes, fresh);
    (void)map_put(seen, text, (void *)(uintptr_t)a->classes.n);
    return (uint32_t)a->classes.n - 1;
}

void image_atoms_split(struct image_atoms *a, image_part_fn part, void *arg)
{
    struct map seen = { 0 };
    scoped(free_scoped) uint32_t *parts = xnew_n(uint32_t, a->all.n);
    for (size_t i = 0; part && i < a->all.n; i++)
        parts[i] = part(arg, a, i);
    a->classes.n = 0;
    for (size_t i = 0; i < a->all.n; i++) {
        struct image_atom *atom = &a->all.p[i];
        atom->class_index = class_of(a, &seen, atom->set, parts[i]);
        struct image_class *c = &a->classes.p[atom->class_index];
        c->size += atom->size;
        c->raw += atom->raw;
        c->n_atoms++;
    }
    map_fini(&seen);
}

int image_atoms_find(const struct image_group_member *images, size_t n,
                     const struct image_atoms_opts *opts, struct image_atoms *ret, struct err *err)
{
    if (n > IMAGE_GROUP_MAX)
        return err_set(err, E_LIMIT, "a group has %zu images, at most %d are planned together", n,
                       IMAGE_GROUP_MAX);
    *ret = (struct image_atoms){ .n_images = n, .n_words = image_set_n_u64(n) };
    ret->memory.block_bytes = 64 << 10;
    ret->images = arena_new_n(&ret->memory, struct image_uses, n);
    struct finder f = { .opts = opts, .atoms = ret, .hash = sha256_new() };
    for (size_t i = 0; i < n; i++)
        add_image(&f, &images[i], i);
    sha256_free(f.hash);
    round_times(ret);
    use_published(ret, opts->published);
    image_atoms_split(ret, NULL, NULL);
    return 0;
}
