/* SPDX-License-Identifier: Apache-2.0 */
/* Lazy starts of images: the list, the view, the file system as a machine of states, the guardian
 * behind a real mount, and what fetches. */
#include "base/clock.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/handed.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "image/lazy_fetch.h"
#include "image/lazy_fuse.h"
#include "image/lazy_layers.h"
#include "image/lazy_proof.h"
#include "image/lazy_root.h"
#include "image/lazy_status.h"
#include "image/lazy_wire.h"
#include "image/mount.h"
#include "image/run.h"
#include "image/start_list.h"
#include "image/store_control.h"
#include "oci/file_parcel.h"
#include "oci/table.h"
#include "oci/tree_manifest.h"
#include "tar_kit.h"
#include "wasm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { TAR_MAX = 1 << 20, BIG_BYTES = 300 * 1000, OPEN_MS = 5000 };

/* ---- layers ---- */

static char big[BIG_BYTES + 1];

static struct oci_layer *read_layer(const struct tar_kit *k)
{
    struct oci_layer *layer;
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    static const char end[2 * TAR_BLOCK_BYTES];
    CHECK_OK(oci_layer_reader_add(r, buf_str(&k->out), NULL));
    CHECK_OK(oci_layer_reader_add(r, str_n(end, sizeof end), NULL));
    CHECK_OK(oci_layer_reader_end(r, &layer, NULL));
    return layer;
}

/* Two layers: "a" and "d/big", over which the second one puts another "a" and a copy of "d/big". */
struct image {
    struct tar_kit tars[2];
    struct oci_layer *layers[2];
    struct lazy_view view;
};

static void image_init(struct image *m)
{
    static const uint8_t uuid[16] = { 1 };
    for (size_t i = 0; i < BIG_BYTES; i++)
        big[i] = (char)('a' + i * i % 23);
    *m = (struct image){ .tars = { { BUF_INIT(TAR_MAX) }, { BUF_INIT(TAR_MAX) } } };
    kit_file(&m->tars[0], "a", "first");
    kit_file(&m->tars[0], "d/big", big);
    kit_file(&m->tars[0], "empty", "");
    kit_file(&m->tars[1], "a", "second");
    kit_file(&m->tars[1], "copy", big);
    kit_file(&m->tars[1], "z", "third");
    for (size_t i = 0; i < 2; i++)
        m->layers[i] = read_layer(&m->tars[i]);
    CHECK_OK(lazy_view_make(m->layers, 2, OCI_SYMLINK_PARENT_REFUSE, uuid, &m->view, NULL));
}

static void image_fini(struct image *m)
{
    lazy_view_fini(&m->view);
    for (size_t i = 0; i < 2; i++) {
        oci_layer_free(m->layers[i]);
        buf_fini(&m->tars[i].out);
    }
}

static uint32_t index_of(const struct lazy_view *v, const char *content)
{
    uint8_t digest[SHA256_BYTES];
    sha256_of(str_of(content), digest);
    ptrdiff_t at = lazy_view_find(v, digest);
    CHECK(at >= 0);
    return (uint32_t)at;
}

static const char *content_of(const struct lazy_view *v, uint32_t file)
{
    const char *const all[] = { "first", "second", "third", big };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (index_of(v, all[i]) == file)
            return all[i];
    TEST_FAIL("no such content");
}

/* ---- lists ---- */

TEST(a_list_reads_back_as_it_was_written)
{
    struct start_list l = { 0 }, back;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    for (int i = 0; i < 300; i++) {
        struct oci_digest d = { .bytes = { (uint8_t)(7 * i), (uint8_t)(i >> 8), 9 } };
        vec_push(&l.files, d);
    }
    CHECK_OK(start_list_write(&l, &text));
    CHECK_OK(start_list_read(buf_str(&text), &back, NULL));
    CHECK_INT(back.files.n, l.files.n);
    CHECK(memcmp(back.files.p, l.files.p, l.files.n * sizeof *l.files.p) == 0);
    start_list_fini(&l);
    start_list_fini(&back);
}

TEST(lists_that_are_none_are_refused)
{
    struct start_list l;
    struct err err = { 0 };
    char hex[SHA256_HEX_SIZE];
    memset(hex, 'a', sizeof hex - 1);
    hex[sizeof hex - 1] = 0;
    scoped(free_scoped) char *twice = xasprintf("dormouse start 1\n%s\n%s\n", hex, hex);
    scoped(free_scoped) char *torn = xasprintf("dormouse start 1\n%.40s", hex);
    scoped(free_scoped) char *long_line = xasprintf("dormouse start 1\n%sa\n", hex);
    CHECK_ERR(start_list_read(STR(""), &l, &err), E_PARSE);
    CHECK_ERR(start_list_read(STR("dormouse start 2\n"), &l, &err), E_VERSION);
    CHECK_ERR(start_list_read(str_of(twice), &l, &err), E_PARSE);
    CHECK_ERR(start_list_read(str_of(torn), &l, &err), E_PARSE);
    CHECK_ERR(start_list_read(str_of(long_line), &l, &err), E_PARSE);
    CHECK(err.text[0]);
    scoped(buf_fini_scoped) struct buf many = BUF_INIT(16 << 20);
    (void)buf_add_cstr(&many, "dormouse start 1\n");
    for (int i = 0; i <= START_LIST_FILES_MAX; i++)
        (void)buf_printf(&many, "%064x\n", i);
    CHECK_OK(start_list_read(str_slice(buf_str(&many), 0, many.n - SHA256_HEX_SIZE), &l, &err));
    start_list_fini(&l);
    CHECK_ERR(start_list_read(buf_str(&many), &l, &err), E_LIMIT);
}

/* ---- the view ---- */

TEST(a_view_has_each_content_once_also_those_that_are_hidden)
{
    struct image m;
    image_init(&m);
    CHECK_INT(m.view.n, 4);
    CHECK_INT(m.view.n_bytes, 5 + 6 + 5 + BIG_BYTES);
    const char *const order[] = { "first", big, "second", "third" };
    for (size_t i = 0; i < m.view.n; i++) {
        const struct lazy_file *f = &m.view.files[m.view.in_order[i]];
        CHECK_INT(m.view.in_order[i], index_of(&m.view, order[i]));
        CHECK_INT(f->size, strlen(order[i]));
        CHECK(memcmp(m.tars[f->layer].out.p + f->at, order[i], f->size) == 0);
        CHECK(i == 0 || memcmp(m.view.files[i - 1].digest, m.view.files[i].digest, 32) < 0);
    }
    uint8_t other[SHA256_BYTES] = { 0 };
    CHECK_INT(lazy_view_find(&m.view, other), -1);
    image_fini(&m);
}

TEST(sparse_files_and_contents_of_two_sizes_are_refused)
{
    struct image m;
    struct lazy_view v;
    struct err err = { 0 };
    static const uint8_t uuid[16];
    image_init(&m);
    m.layers[0]->entries.p[0].is_sparse = true;
    CHECK_ERR(lazy_view_make(m.layers, 2, OCI_SYMLINK_PARENT_REFUSE, uuid, &v, &err),
              E_UNSUPPORTED);
    m.layers[0]->entries.p[0].is_sparse = false;
    memcpy(m.layers[0]->entries.p[0].digest, m.layers[1]->entries.p[0].digest, SHA256_BYTES);
    CHECK_ERR(lazy_view_make(m.layers, 2, OCI_SYMLINK_PARENT_REFUSE, uuid, &v, &err), E_PARSE);
    image_fini(&m);
}

/* ---- what a registry says of layers, and the proof ---- */

enum wrong {
    WRONG_NOTHING,
    WRONG_MODE,      /* in the index; the tar is right */
    WRONG_WHITEOUTS, /* likewise */
    WRONG_PADDING,   /* in the frame: of the tar, no file */
    WRONG_FRAME,     /* it does not unpack */
};

/* The tree manifests of an image. */
struct declared {
    struct oci_digest diff_ids[2];
    struct lazy_trees trees;
};

static ssize_t read_tar(void *arg, void *p, size_t n, uint64_t offset)
{
    const struct buf *tar = arg;
    n = MIN(n, tar->n - (size_t)offset);
    memcpy(p, tar->p + offset, n);
    return (ssize_t)n;
}

static struct buf whole_tar(const struct tar_kit *k)
{
    static const char end[2 * TAR_BLOCK_BYTES];
    struct buf b = BUF_INIT(TAR_MAX);
    (void)buf_add_str(&b, buf_str(&k->out));
    (void)buf_add(&b, end, sizeof end);
    return b;
}

static struct buf tree_of(const struct image *m, size_t i, enum wrong wrong)
{
    struct oci_layer *layer = m->layers[i];
    const struct oci_whiteout none = { .path = STR("gone") };
    scoped(buf_fini_scoped) struct buf tar = whole_tar(&m->tars[i]);
    scoped(buf_fini_scoped) struct buf frame = BUF_INIT(TAR_MAX);
    struct buf text = BUF_INIT(TAR_MAX);
    uint16_t mode = layer->entries.p[0].mode;
    if (wrong == WRONG_PADDING)
        tar.p[tar.n - 1] = 1;
    CHECK_OK(oci_skeleton_pack(layer, read_tar, &tar, 3, &frame, NULL));
    if (wrong == WRONG_FRAME)
        frame.n -= 4;
    if (wrong == WRONG_MODE)
        layer->entries.p[0].mode = 04755;
    if (wrong == WRONG_WHITEOUTS)
        vec_push(&layer->whiteouts, none);
    const struct oci_tree_source source = { layer, buf_str(&frame) };
    CHECK_OK(oci_tree_manifest_write(&source, 1, &text, NULL));
    layer->entries.p[0].mode = mode;
    layer->whiteouts.n = 0;
    return text;
}

static void declared_init(struct declared *t, const struct image *m, enum wrong wrong)
{
    for (size_t i = 0; i < 2; i++)
        memcpy(t->diff_ids[i].bytes, m->layers[i]->diff_id, SHA256_BYTES);
    lazy_trees_init(&t->trees, t->diff_ids, 2, NULL, NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        struct buf text = tree_of(m, i, i == 1 ? wrong : WRONG_NOTHING);
        CHECK_OK(lazy_trees_add(&t->trees, i, &text, TAR_MAX, NULL));
    }
}

/* What gives the contents of a layer. */
struct giving {
    const struct lazy_view *view;
    int fails;       /* with this code; 0: not */
    bool is_changed; /* gives another content */
    size_t n;
};

static int give(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                void *sink_arg, struct err *err)
{
    struct giving *g = arg;
    ptrdiff_t at = lazy_view_find(g->view, p->digest);
    if (at < 0 || g->fails)
        return err_set(err, g->fails, "no content");
    scoped(free_scoped) char *text = xstrdup(content_of(g->view, (uint32_t)at));
    text[0] = (char)(text[0] ^ g->is_changed);
    g->n++;
    return sink(sink_arg, str_n(text, (size_t)p->size), err);
}

static int read_nothing(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                        void **ret, struct err *err)
{
    (void)max_bytes, (void)ops, (void)ops_arg, (void)ret;
    return err_set(err, *(int *)arg, "it does not read");
}

/* The proof of the upper layer. reading: 0, or the code with which its reader fails. */
static int prove(enum wrong wrong, int reading, struct giving *with)
{
    struct image m;
    struct declared declared;
    struct err err = { 0 };
    struct giving usual = { 0 }, *g = with ? with : &usual;
    static const struct layer_reading_ops broken = { .start = read_nothing };
    image_init(&m);
    declared_init(&declared, &m, wrong);
    g->view = &m.view;
    const struct lazy_proof_opts o = { .trees = &declared.trees,
                                       .layer = 1,
                                       .content = give,
                                       .content_arg = g,
                                       .reading = reading ? &broken : &layer_parse_here,
                                       .reading_arg = &reading };
    int r = lazy_proof_layer(&o, &err);
    CHECK(r >= 0 || err.text[0]);
    lazy_trees_fini(&declared.trees);
    image_fini(&m);
    return r;
}

TEST(a_layer_is_proven_by_its_digest_and_what_it_says_of_its_files)
{
    CHECK_OK(prove(WRONG_NOTHING, 0, NULL));
    CHECK_ERR(prove(WRONG_MODE, 0, NULL), E_DIGEST); /* the tar is the right one */
    CHECK_ERR(prove(WRONG_WHITEOUTS, 0, NULL), E_DIGEST);
    CHECK_ERR(prove(WRONG_PADDING, 0, NULL), E_DIGEST);
    CHECK_ERR(prove(WRONG_FRAME, 0, NULL), E_DIGEST);
}

TEST(faults_of_this_machine_prove_nothing)
{
    struct giving changed = { .is_changed = true }, missing = { .fails = -ENOENT };
    CHECK_ERR(prove(WRONG_NOTHING, 0, &changed), -EIO);
    CHECK_ERR(prove(WRONG_NOTHING, 0, &missing), -ENOENT);
    CHECK_ERR(prove(WRONG_NOTHING, -ENOMEM, NULL), -ENOMEM);
    CHECK_ERR(prove(WRONG_NOTHING, E_PARSE, NULL), E_PARSE);
    CHECK_ERR(prove(WRONG_NOTHING, E_LIMIT, NULL), E_LIMIT);
    CHECK_ERR(prove(WRONG_NOTHING, E_DIGEST, NULL), E_PARSE);
    CHECK_ERR(prove(WRONG_PADDING, E_PARSE, NULL), E_DIGEST); /* a lie does not hide behind them */
    CHECK_ERR(prove(WRONG_FRAME, -ENOMEM, NULL), E_DIGEST);
}

struct tables {
    size_t n_layers, n_tars, n_ended;
    int fails; /* the code; 0: not */
};

static int count_table(void *arg, void **process, const struct oci_table *t,
                       const atomic_bool *stop, struct buf *to, struct err *err)
{
    (void)stop;
    struct tables *c = arg;
    *process = c;
    *(t->kind == OCI_TABLE_LAYER ? &c->n_layers : &c->n_tars) += 1;
    return c->fails ? err_set(err, c->fails, "it reads no table") : oci_table_flatten(t, to, err);
}

static void end_tables(void *process)
{
    struct tables *c = process;
    if (c)
        c->n_ended++;
}

TEST(tree_manifests_are_read_by_the_process_that_reads_layers)
{
    struct image m;
    struct lazy_trees t;
    struct lazy_tar tar;
    struct tables c = { 0 };
    struct oci_digest ids[2];
    static const struct layer_reading_ops ops = { .table = count_table, .end_tables = end_tables };
    static const int lies[] = { E_CORRUPT, E_PARSE, E_LIMIT, E_VERSION };
    image_init(&m);
    for (size_t i = 0; i < 2; i++)
        memcpy(ids[i].bytes, m.layers[i]->diff_id, SHA256_BYTES);
    lazy_trees_init(&t, ids, 2, &ops, &c, NULL);
    for (size_t i = 0; i < 2; i++) {
        struct buf text = tree_of(&m, i, WRONG_NOTHING);
        CHECK_OK(lazy_trees_add(&t, i, &text, TAR_MAX, NULL));
        CHECK_INT(lazy_trees_get(&t, i)->layer->entries.n, m.layers[i]->entries.n);
    }
    CHECK(c.n_layers == 2 && c.n_tars == 0 && c.n_ended == 0);
    lazy_trees_end(&t);
    CHECK_INT(c.n_ended, 1); /* none is there while the container runs */
    CHECK_OK(lazy_trees_tar(&t, 1, &tar, NULL));
    CHECK_INT(tar.skeleton.tar_bytes, m.layers[1]->n_bytes);
    lazy_tar_fini(&tar);
    CHECK(c.n_layers == 2 && c.n_tars == 1 && c.n_ended == 2);
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        c.fails = lies[i];
        CHECK_ERR(lazy_trees_tar(&t, 1, &tar, NULL), E_DIGEST);
    }
    c.fails = -ENOMEM; /* of this machine */
    CHECK_ERR(lazy_trees_tar(&t, 1, &tar, NULL), -ENOMEM);
    c.fails = -ETIMEDOUT;
    CHECK_ERR(lazy_trees_tar(&t, 1, &tar, NULL), -ETIMEDOUT);
    lazy_trees_fini(&t);
    lazy_trees_init(&t, ids, 2, &ops, &c, NULL);
    struct buf text = tree_of(&m, 0, WRONG_NOTHING);
    CHECK_ERR(lazy_trees_add(&t, 0, &text, TAR_MAX, NULL), -ETIMEDOUT);
    lazy_trees_fini(&t);
    image_fini(&m);
}

TEST(tree_manifests_are_bounded_in_memory_and_as_texts)
{
    struct image m;
    struct lazy_trees t;
    struct oci_digest ids[3];
    image_init(&m);
    for (size_t i = 0; i < 3; i++)
        memcpy(ids[i].bytes, m.layers[i == 1]->diff_id, SHA256_BYTES);
    struct buf text = tree_of(&m, 0, WRONG_NOTHING);
    lazy_trees_init(&t, ids, 3, NULL, NULL, NULL);
    CHECK(lazy_trees_is_first(&t, 0) && lazy_trees_is_first(&t, 1) && !lazy_trees_is_first(&t, 2));
    CHECK_OK(lazy_trees_add(&t, 0, &text, TAR_MAX, NULL));
    CHECK(lazy_trees_get(&t, 2) == lazy_trees_get(&t, 0));
    uint64_t used = LAZY_TREES_MEMORY_MAX - t.memory_left;
    CHECK(used >= m.layers[0]->entries.n * sizeof(struct oci_entry));
    t.memory_left = used / 2; /* as after many layers */
    text = tree_of(&m, 1, WRONG_NOTHING);
    CHECK_ERR(lazy_trees_add(&t, 1, &text, TAR_MAX, NULL), E_LIMIT);
    lazy_trees_fini(&t);
    lazy_trees_init(&t, ids, 3, NULL, NULL, NULL);
    text = tree_of(&m, 1, WRONG_NOTHING);
    t.text_left = text.n - 1;
    CHECK_ERR(lazy_trees_add(&t, 1, &text, TAR_MAX, NULL), E_LIMIT);
    lazy_trees_fini(&t);
    lazy_trees_init(&t, ids, 3, NULL, NULL, NULL);
    text = tree_of(&m, 1, WRONG_NOTHING);
    CHECK_ERR(lazy_trees_add(&t, 1, &text, 1, NULL), E_LIMIT);
    lazy_trees_fini(&t);
    lazy_trees_init(&t, ids, 3, NULL, NULL, NULL);
    text = tree_of(&m, 1, WRONG_NOTHING);
    CHECK_ERR(lazy_trees_add(&t, 0, &text, TAR_MAX, NULL), E_PARSE); /* of another layer */
    lazy_trees_fini(&t);
    image_fini(&m);
}

/* ---- the machine of states ---- */

struct rig {
    struct lazy_fuse *f;
    struct lazy_fuse_file files[2];
    struct lazy_fuse_ops ops;
    VEC(uint32_t) wanted;
    bool is_deaf; /* nobody takes what is wanted */
    int read_error;
    size_t n_replies;
    int error; /* of the last reply */
    uint64_t unique;
    char data[4096];
    size_t n_data;
};

static void rig_reply(void *arg, struct str head, struct str data)
{
    struct rig *r = arg;
    struct lazy_wire_answer h;
    CHECK_INT(head.n, sizeof h);
    memcpy(&h, head.p, sizeof h);
    CHECK_INT(h.len, head.n + data.n);
    CHECK(data.n <= sizeof r->data);
    memcpy(r->data, data.n ? data.p : "", data.n);
    r->n_data = data.n;
    r->error = -h.error;
    r->unique = h.unique;
    r->n_replies++;
}

static bool rig_want(void *arg, uint32_t file)
{
    struct rig *r = arg;
    if (!r->is_deaf)
        vec_push(&r->wanted, file);
    return !r->is_deaf;
}

static int rig_read(void *arg, uint32_t source, uint64_t at, void *to, size_t n)
{
    struct rig *r = arg;
    for (size_t i = 0; i < n; i++)
        ((char *)to)[i] = (char)('0' + source + (at + i) % 10);
    return r->read_error;
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){ .ops = { rig_reply, rig_want, rig_read, r } };
    r->files[0] = (struct lazy_fuse_file){ .digest = { 0x0a, 1 }, .size = 10 };
    r->files[1] = (struct lazy_fuse_file){ .digest = { 0xfe, 2 }, .size = 5000 };
    r->f = lazy_fuse_new(r->files, 2, OPEN_MS, &r->ops);
}

static void rig_fini(struct rig *r)
{
    lazy_fuse_free(r->f);
    vec_fini(&r->wanted);
}

static int ask(struct rig *r, uint32_t opcode, uint64_t unique, uint64_t node, const void *body,
               size_t n, uint64_t now_ms)
{
    bool is_ready;
    char bytes[512];
    struct lazy_wire_request h = {
        .len = (uint32_t)(sizeof h + n), .opcode = opcode, .unique = unique, .node = node
    };
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, n ? body : "", n);
    return lazy_fuse_request(r->f, str_n(bytes, h.len), now_ms, &is_ready, NULL);
}

/* 0: no such name. */
static uint64_t look_up(struct rig *r, uint64_t dir, const char *name, uint64_t *ret_size)
{
    struct lazy_wire_entry out;
    CHECK_OK(ask(r, LAZY_WIRE_LOOKUP, 1, dir, name, strlen(name) + 1, 0));
    if (r->error) {
        CHECK_INT(r->error, ENOENT);
        return 0;
    }
    CHECK_INT(r->n_data, sizeof out);
    memcpy(&out, r->data, sizeof out);
    *ret_size = out.attr.size;
    return out.node;
}

static uint64_t node_of(struct rig *r, size_t i)
{
    char hex[SHA256_HEX_SIZE], first[3] = "";
    uint64_t size;
    hex_format(r->files[i].digest, SHA256_BYTES, hex);
    memcpy(first, hex, 2);
    uint64_t dir = look_up(r, LAZY_WIRE_ROOT, first, &size);
    CHECK(dir);
    uint64_t node = look_up(r, dir, hex, &size);
    CHECK(node);
    CHECK_INT(size, r->files[i].size);
    return node;
}

static void open_node(struct rig *r, uint64_t unique, uint64_t node, uint64_t now_ms)
{
    const struct lazy_wire_open in = { .flags = O_RDONLY };
    CHECK_OK(ask(r, LAZY_WIRE_OPEN, unique, node, &in, sizeof in, now_ms));
}

TEST(the_kernel_and_the_file_system_agree)
{
    struct rig r;
    struct lazy_wire_inited out;
    bool is_ready = false;
    struct {
        struct lazy_wire_request h;
        struct lazy_wire_init in;
    } q = { .h = { .len = sizeof q, .opcode = LAZY_WIRE_INIT, .unique = 7 },
            .in = { .major = 7, .minor = 45, .max_readahead = 4096, .flags = ~0u } };
    rig_init(&r);
    CHECK_OK(lazy_fuse_request(r.f, str_n((char *)&q, sizeof q), 0, &is_ready, NULL));
    CHECK(is_ready && r.unique == 7 && r.n_data == sizeof out);
    memcpy(&out, r.data, sizeof out);
    CHECK(out.major == 7 && out.max_pages == LAZY_FUSE_READ_MAX / 4096);
    CHECK_INT(
        out.flags & (LAZY_WIRE_WRITEBACK_CACHE | LAZY_WIRE_POSIX_LOCKS | LAZY_WIRE_READDIRPLUS), 0);
    q.in.minor = 8;
    CHECK_ERR(lazy_fuse_request(r.f, str_n((char *)&q, sizeof q), 0, &is_ready, NULL),
              E_UNSUPPORTED);
    CHECK_ERR(lazy_fuse_request(r.f, str_n((char *)&q, 12), 0, &is_ready, NULL), E_PARSE);
    CHECK_ERR(lazy_fuse_request(r.f, str_n((char *)&q, sizeof q - 1), 0, &is_ready, NULL), E_PARSE);
    rig_fini(&r);
}

TEST(names_are_digests_in_directories_of_their_first_byte)
{
    struct rig r;
    uint64_t size;
    char hex[SHA256_HEX_SIZE];
    rig_init(&r);
    (void)node_of(&r, 0), (void)node_of(&r, 1);
    hex_format(r.files[0].digest, SHA256_BYTES, hex);
    CHECK_INT(look_up(&r, LAZY_WIRE_ROOT, hex, &size), 0);
    CHECK_INT(look_up(&r, LAZY_WIRE_ROOT, "zz", &size), 0);
    CHECK_INT(look_up(&r, LAZY_WIRE_ROOT, "", &size), 0);
    CHECK_INT(look_up(&r, look_up(&r, LAZY_WIRE_ROOT, "0b", &size), hex, &size), 0);
    CHECK_INT(look_up(&r, node_of(&r, 0), hex, &size), 0); /* below a file */
    CHECK_OK(ask(&r, LAZY_WIRE_GETATTR, 3, 1 << 20, NULL, 0, 0));
    CHECK_INT(r.error, ESTALE);
    CHECK_OK(ask(&r, LAZY_WIRE_OPENDIR, 3, LAZY_WIRE_ROOT, NULL, 0, 0));
    CHECK_INT(r.error, EPERM);
    CHECK_OK(ask(&r, LAZY_WIRE_MKDIR, 3, LAZY_WIRE_ROOT, NULL, 0, 0));
    CHECK_INT(r.error, ENOSYS);
    rig_fini(&r);
}

TEST(an_open_waits_for_the_content_and_later_ones_do_not)
{
    struct rig r;
    rig_init(&r);
    uint64_t node = node_of(&r, 1);
    size_t n = r.n_replies;
    open_node(&r, 11, node, 0);
    open_node(&r, 12, node, 0);
    CHECK_INT(r.n_replies, n); /* both wait, and it is asked for once */
    CHECK_INT(r.wanted.n, 1);
    CHECK_INT(r.wanted.p[0], 1);
    lazy_fuse_have(r.f, 1, 3, 100);
    CHECK_INT(r.n_replies, n + 2);
    CHECK_INT(r.error, 0);
    open_node(&r, 13, node, 0);
    CHECK(r.n_replies == n + 3 && r.unique == 13 && r.error == 0);
    struct lazy_wire_read in = { .offset = 4990, .size = 4096 };
    CHECK_OK(ask(&r, LAZY_WIRE_READ, 14, node, &in, sizeof in, 0));
    CHECK_INT(r.n_data, 10); /* to its end */
    CHECK_INT(r.data[0], '0' + 3 + (100 + 4990) % 10);
    in.offset = UINT64_MAX;
    CHECK_OK(ask(&r, LAZY_WIRE_READ, 14, node, &in, sizeof in, 0));
    CHECK(r.n_data == 0 && r.error == 0);
    in.offset = 0;
    r.read_error = -ENOMEM;
    CHECK_OK(ask(&r, LAZY_WIRE_READ, 14, node, &in, sizeof in, 0));
    CHECK(r.n_data == 0 && r.error == ENOMEM);
    rig_fini(&r);
}

TEST(nothing_is_read_before_it_is_there_and_nothing_is_written)
{
    struct rig r;
    rig_init(&r);
    uint64_t node = node_of(&r, 0);
    const struct lazy_wire_read in = { .size = 10 };
    const struct lazy_wire_open writes = { .flags = O_RDWR };
    CHECK_OK(ask(&r, LAZY_WIRE_READ, 5, node, &in, sizeof in, 0));
    CHECK(r.error == EIO && r.n_data == 0);
    CHECK_OK(ask(&r, LAZY_WIRE_OPEN, 6, node, &writes, sizeof writes, 0));
    CHECK_INT(r.error, EROFS);
    CHECK_OK(ask(&r, LAZY_WIRE_OPEN, 6, node, &writes, 3, 0));
    CHECK_INT(r.error, EINVAL);
    CHECK_OK(ask(&r, LAZY_WIRE_OPEN, 6, LAZY_WIRE_ROOT, &writes, sizeof writes, 0));
    CHECK_INT(r.error, EISDIR);
    CHECK_INT(r.wanted.n, 0);
    rig_fini(&r);
}

TEST(an_open_fails_after_its_time_and_the_next_one_asks_again)
{
    struct rig r;
    rig_init(&r);
    uint64_t node = node_of(&r, 0);
    CHECK(lazy_fuse_sweep(r.f, 0) == UINT64_MAX);
    open_node(&r, 21, node, 100);
    size_t n = r.n_replies;
    CHECK_INT(lazy_fuse_sweep(r.f, OPEN_MS - 400), 500);
    CHECK_INT(r.n_replies, n);
    CHECK(lazy_fuse_sweep(r.f, OPEN_MS + 100) == UINT64_MAX);
    CHECK(r.n_replies == n + 1 && r.error == EIO && r.unique == 21);
    open_node(&r, 22, node, OPEN_MS + 200);
    CHECK_INT(r.wanted.n, 2);
    lazy_fuse_fail(r.f, 0, ENOSPC);
    CHECK(r.error == ENOSPC && r.unique == 22);
    open_node(&r, 23, node, OPEN_MS + 300);
    CHECK_INT(r.wanted.n, 3);
    lazy_fuse_fail(r.f, 0, 100000); /* no errno */
    CHECK_INT(r.error, EIO);
    rig_fini(&r);
}

TEST(a_signal_ends_an_open_soon)
{
    struct rig r;
    rig_init(&r);
    uint64_t node = node_of(&r, 0);
    open_node(&r, 31, node, 0);
    open_node(&r, 32, node, 0);
    const struct lazy_wire_interrupt in = { .unique = 31 };
    CHECK_OK(ask(&r, LAZY_WIRE_INTERRUPT, 33, 0, &in, sizeof in, 0));
    size_t n = r.n_replies;
    (void)lazy_fuse_sweep(r.f, LAZY_FUSE_INTERRUPTED_MS - 1);
    CHECK_INT(r.n_replies, n); /* what comes soon is not cut off */
    CHECK_OK(ask(&r, LAZY_WIRE_INTERRUPT, 34, 0, &in, sizeof in, LAZY_FUSE_INTERRUPTED_MS / 2));
    lazy_fuse_have(r.f, 0, 0, 0);
    CHECK_INT(r.n_replies, n + 2);
    CHECK_INT(r.error, 0);
    open_node(&r, 35, node_of(&r, 1), 2000);
    const struct lazy_wire_interrupt again = { .unique = 35 };
    CHECK_OK(ask(&r, LAZY_WIRE_INTERRUPT, 36, 0, &again, sizeof again, 2000));
    CHECK(lazy_fuse_sweep(r.f, 2000 + LAZY_FUSE_INTERRUPTED_MS) == UINT64_MAX);
    CHECK(r.unique == 35 && r.error == EINTR);
    rig_fini(&r);
}

TEST(what_nobody_hears_is_asked_again_and_an_orphan_answers_at_once)
{
    struct rig r;
    rig_init(&r);
    uint64_t here = node_of(&r, 0), away = node_of(&r, 1);
    lazy_fuse_have(r.f, 0, 0, 0);
    r.is_deaf = true;
    open_node(&r, 41, away, 0);
    CHECK_INT(lazy_fuse_sweep(r.f, 10), LAZY_FUSE_ASK_AGAIN_MS);
    r.is_deaf = false;
    CHECK_INT(lazy_fuse_sweep(r.f, 30), OPEN_MS - 30);
    CHECK_INT(r.wanted.n, 1);
    lazy_fuse_orphan(r.f);
    CHECK(r.unique == 41 && r.error == EIO);
    open_node(&r, 42, away, 40);
    CHECK(r.unique == 42 && r.error == EIO);
    open_node(&r, 43, here, 40);
    CHECK(r.unique == 43 && r.error == 0);
    rig_fini(&r);
}

TEST(a_read_of_more_than_an_answer_has_is_an_error_and_no_end)
{
    struct rig r;
    rig_init(&r);
    r.files[1].size = LAZY_FUSE_READ_MAX + 1;
    uint64_t node = node_of(&r, 1);
    lazy_fuse_have(r.f, 1, 0, 0);
    const struct lazy_wire_read in = { .size = LAZY_FUSE_READ_MAX + 1 };
    CHECK_OK(ask(&r, LAZY_WIRE_READ, 5, node, &in, sizeof in, 0));
    CHECK(r.error == EIO && r.n_data == 0);
    rig_fini(&r);
}

TEST(opens_that_wait_are_bounded)
{
    struct rig r;
    rig_init(&r);
    uint64_t node = node_of(&r, 0);
    size_t n = r.n_replies;
    for (uint64_t i = 0; i < LAZY_FUSE_WAITING_MAX; i++)
        open_node(&r, 100 + i, node, 0);
    CHECK_INT(r.n_replies, n);
    open_node(&r, 99, node, 0);
    CHECK(r.n_replies == n + 1 && r.unique == 99 && r.error == EIO);
    lazy_fuse_have(r.f, 0, 0, 0);
    CHECK_INT(r.n_replies, n + 1 + LAZY_FUSE_WAITING_MAX);
    lazy_fuse_have(r.f, 17, 0, 0); /* no such file */
    lazy_fuse_fail(r.f, 17, EIO);
    rig_fini(&r);
}

/* ---- the guardian, behind a mount ---- */

struct world {
    struct image m;
    char dir[32];
    char *state, *target;
    const char *spool_dir; /* NULL: dir */
    struct lazy_guard *guard;
    struct lazy_fetch *fetch;
    struct start_list first;
    /* What the fake registry does. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    atomic_bool stop;
    int fails; /* so many requests fail with this code first */
    int fail_code;
    bool is_lying;                      /* contents differ from their digests */
    const char *wrong, *missing, *torn; /* contents: it differs; it is not there; what has it does
                                           not unpack */
    struct oci_contents *contents;
    uint64_t max_file_bytes;
    bool holds_big;  /* what it is asked of `big` waits */
    bool holds_rest; /* what it is asked without `big` waits */
    VEC(uint32_t) asked;
    size_t n_asked; /* requests */
    size_t n_failures, n_deaf, n_refused;
    uint64_t done_bytes;
    bool is_all;
};

static const char *why_not(void)
{
    if (geteuid() != 0)
        return "mounts take root";
    if (access("/dev/fuse", R_OK | W_OK) < 0)
        return "this machine has no /dev/fuse";
    char dir[] = "/var/tmp/dormouse-lazy-XXXXXX";
    CHECK(mkdtemp(dir));
    scoped(fd_scoped) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool can = mount_can_objects(fd);
    CHECK(rmdir(dir) == 0);
    return can ? NULL : "this kernel mounts no directories apart from contents";
}

static void world_init(struct world *w, uint64_t open_ms)
{
    static bool has_namespace;
    const struct root_opts root = { .is_writable = true };
    const struct lazy_guard_opts guard = { .open_ms = open_ms };
    struct err err = { 0 };
    if (!has_namespace)
        CHECK_OK(run_enter_namespace(NULL));
    has_namespace = true;
    *w = (struct world){ .dir = "/var/tmp/dormouse-lazy-XXXXXX" };
    CHECK(mkdtemp(w->dir));
    w->state = xasprintf("%s/state", w->dir);
    w->target = xasprintf("%s/root", w->dir);
    CHECK(mkdir(w->target, 0700) == 0);
    (void)pthread_mutex_init(&w->mutex, NULL);
    (void)pthread_cond_init(&w->changed, NULL);
    image_init(&w->m);
    if (lazy_root_mount(&w->m.view, w->state, w->target, &root, &guard, &w->guard, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

static void world_fini(struct world *w)
{
    (void)pthread_mutex_lock(&w->mutex);
    w->holds_big = false;
    w->holds_rest = false;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
    lazy_fetch_free(w->fetch);
    CHECK_OK(root_umount(w->state, w->target, 0, NULL));
    lazy_guard_free(w->guard);
    image_fini(&w->m);
    start_list_fini(&w->first);
    vec_fini(&w->asked);
    CHECK_OK(tree_remove(AT_FDCWD, w->dir, NULL));
    free(w->state);
    free(w->target);
}

/* Like `cat`: the content of a file of the mount, in a buffer of the caller, or a negative code. */
static ssize_t cat(const struct world *w, const char *name, char *to, size_t n)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", w->target, name);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
    return fd < 0 ? fd : sys_pread_full(fd, to, n, 0);
}

struct cat_thread {
    const struct world *w;
    const char *name;
    char text[64];
    ssize_t n;
};

static void *cat_main(void *arg)
{
    struct cat_thread *c = arg;
    c->n = cat(c->w, c->name, c->text, sizeof c->text);
    return NULL;
}

TEST(names_and_sizes_are_there_at_once_and_an_open_waits)
{
    struct world w;
    struct stat st;
    uint32_t file;
    pthread_t thread;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    scoped(free_scoped) char *path = xasprintf("%s/d/big", w.target);
    CHECK(stat(path, &st) == 0);
    CHECK_INT(st.st_size, BIG_BYTES);
    struct cat_thread c = { .w = &w, .name = "a" };
    CHECK(pthread_create(&thread, NULL, cat_main, &c) == 0);
    CHECK_INT(lazy_guard_next(w.guard, &file), 1); /* the open has come, and waits */
    CHECK_INT(file, index_of(&w.m.view, "second"));
    int fd = sys_memfd("source");
    CHECK_OK(sys_write_all(fd, "...second...", 12));
    int source = lazy_guard_source(w.guard, fd, NULL);
    CHECK_INT(source, 0);
    CHECK_INT(lazy_guard_missing(w.guard) & 1u << CONFINE_USER,
              0); /* which no kernel refuses root */
    CHECK_OK(lazy_guard_have(w.guard, file, (uint32_t)source, 3, NULL));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(str_is(str_n(c.text, c.n > 0 ? (size_t)c.n : 0), "second"));
    (void)close(fd);
    world_fini(&w);
}

TEST(without_this_process_what_is_there_stays_and_the_rest_fails)
{
    struct world w;
    char text[64];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    int fd = sys_memfd("source");
    CHECK_OK(sys_write_all(fd, "second", 6));
    CHECK_INT(lazy_guard_source(w.guard, fd, NULL), 0);
    (void)close(fd);
    CHECK_OK(lazy_guard_have(w.guard, index_of(&w.m.view, "second"), 0, 0, NULL));
    lazy_guard_wake(w.guard); /* as when this process is gone */
    CHECK_INT(cat(&w, "z", text, sizeof text), -EIO);
    CHECK_INT(cat(&w, "a", text, sizeof text), 6);
    CHECK(memcmp(text, "second", 6) == 0);
    CHECK_ERR(lazy_guard_have(w.guard, 0, 0, 0, NULL), -EPIPE);
    world_fini(&w);
}

TEST(a_descriptor_that_got_lost_gives_errors_and_no_other_content)
{
    struct world w;
    char text[64];
    uint32_t file;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    int fd = sys_memfd("source");
    CHECK_OK(sys_write_all(fd, "other!", 6));
    CHECK_INT(lazy_guard_source(w.guard, -1, NULL), 0); /* as the kernel drops one */
    CHECK_ERR(lazy_guard_next(w.guard, &file), -EPIPE); /* the guardian takes no more */
    CHECK_ERR(lazy_guard_source(w.guard, fd, NULL), -EPIPE);
    CHECK_INT(cat(&w, "a", text, sizeof text), -EIO);
    (void)close(fd);
    world_fini(&w);
}

TEST(a_source_that_is_too_short_gives_errors_and_no_zeros)
{
    struct world w;
    char text[64];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    int fd = sys_memfd("source");
    CHECK_OK(sys_write_all(fd, "sec", 3));
    CHECK_INT(lazy_guard_source(w.guard, fd, NULL), 0);
    (void)close(fd);
    CHECK_OK(lazy_guard_have(w.guard, index_of(&w.m.view, "second"), 0, 0, NULL));
    CHECK_OK(lazy_guard_have(w.guard, index_of(&w.m.view, "third"), 7, 0, NULL)); /* no source */
    CHECK_INT(cat(&w, "a", text, sizeof text), -EIO);
    CHECK_INT(cat(&w, "z", text, sizeof text), -EIO);
    world_fini(&w);
}

TEST(when_the_guardian_is_killed_nothing_can_be_read)
{
    struct world w;
    char text[64];
    uint32_t file;
    pthread_t thread;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    int fd = sys_memfd("source");
    CHECK_OK(sys_write_all(fd, big, BIG_BYTES));
    CHECK_INT(lazy_guard_source(w.guard, fd, NULL), 0);
    (void)close(fd);
    CHECK_OK(lazy_guard_have(w.guard, index_of(&w.m.view, big), 0, 0, NULL));
    scoped(free_scoped) char *path = xasprintf("%s/d/big", w.target);
    int open_fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
    CHECK(open_fd >= 0);
    struct cat_thread c = { .w = &w, .name = "a" };
    CHECK(pthread_create(&thread, NULL, cat_main, &c) == 0);
    CHECK_INT(lazy_guard_next(w.guard, &file), 1);
    CHECK(kill(lazy_guard_pid(w.guard), SIGKILL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(c.n == -ENOTCONN || c.n == -ECONNABORTED || c.n == -EIO);
    CHECK_ERR(lazy_guard_next(w.guard, &file), -EPIPE);
    CHECK_INT(cat(&w, "z", text, sizeof text), -ENOTCONN);
    ssize_t n = sys_pread_full(open_fd, text, sizeof text, BIG_BYTES - 100);
    CHECK(n == -ENOTCONN || n == -EIO);
    (void)close(open_fd);
    world_fini(&w);
}

TEST(an_end_of_the_guardian_is_told_from_being_woken_later)
{
    struct world w;
    uint32_t file;
    siginfo_t info;
    if (why_not())
        SKIP(why_not());
    for (int is_killed = 0; is_killed < 2; is_killed++) {
        world_init(&w, 0);
        if (is_killed) {
            CHECK(kill(lazy_guard_pid(w.guard), SIGKILL) == 0);
            CHECK(waitid(P_PID, (id_t)lazy_guard_pid(w.guard), &info, WEXITED | WNOWAIT) == 0);
        }
        lazy_guard_wake(w.guard);
        CHECK_INT(lazy_guard_next(w.guard, &file), is_killed ? -EPIPE : 0);
        world_fini(&w);
    }
}

TEST(the_state_of_another_mount_is_left)
{
    struct world w;
    struct stat st;
    const struct root_opts root = { .is_writable = true };
    const struct lazy_guard_opts guard = { 0 };
    struct lazy_guard *other;
    struct err err = { 0 };
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    scoped(free_scoped) char *target = xasprintf("%s/other", w.dir);
    scoped(free_scoped) char *path = xasprintf("%s/d/big", w.target);
    CHECK(mkdir(target, 0700) == 0);
    CHECK_ERR(lazy_root_mount(&w.m.view, w.state, target, &root, &guard, &other, &err), -EEXIST);
    CHECK(stat(path, &st) == 0);
    world_fini(&w);
}

TEST(an_open_that_waits_ends_with_its_process)
{
    struct world w;
    uint32_t file;
    int status;
    char text[8];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    int pid = fork();
    if (pid == 0)
        _exit(cat(&w, "a", text, sizeof text) == -EINTR);
    CHECK_INT(lazy_guard_next(w.guard, &file), 1);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    world_fini(&w);
}

TEST(an_open_fails_when_nothing_comes)
{
    struct world w;
    char text[8];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 50);
    CHECK_INT(cat(&w, "a", text, sizeof text), -EIO);
    world_fini(&w);
}

/* ---- fetching ---- */

static void note_asked(struct world *w, const struct oci_parcel_request *q)
{
    bool has_big = false;
    (void)pthread_mutex_lock(&w->mutex);
    for (size_t i = 0; i < q->n_files; i++) {
        vec_push(&w->asked, (uint32_t)lazy_view_find(&w->m.view, q->files[i].bytes));
        has_big |= w->asked.p[w->asked.n - 1] == index_of(&w->m.view, big);
    }
    w->n_asked++;
    (void)pthread_cond_broadcast(&w->changed);
    while ((w->holds_big && has_big) || (w->holds_rest && !has_big))
        (void)pthread_cond_wait(&w->changed, &w->mutex);
    (void)pthread_mutex_unlock(&w->mutex);
}

static int fake_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    struct world *w = arg;
    struct arena a = { 0 };
    struct oci_parcel_request q;
    scoped(buf_fini_scoped) struct buf files = BUF_INIT(TAR_MAX);
    CHECK_OK(oci_parcel_request_read(&a, request, &q, NULL));
    note_asked(w, &q);
    (void)pthread_mutex_lock(&w->mutex);
    bool fails = w->fails > 0;
    w->fails -= fails;
    const char *wrong = w->wrong, *missing = w->missing, *torn = w->torn;
    (void)pthread_mutex_unlock(&w->mutex);
    uint8_t *has = arena_new_n(&a, uint8_t, q.n_files), *no_base = arena_new_n(&a, uint8_t, 1);
    bool is_torn = false;
    for (size_t i = 0; i < q.n_files; i++) {
        ptrdiff_t at = lazy_view_find(&w->m.view, q.files[i].bytes);
        const char *text = content_of(&w->m.view, (uint32_t)at);
        is_torn |= torn && strcmp(torn, text) == 0;
        has[i] = !missing || strcmp(missing, text) != 0;
        if (!has[i])
            continue;
        (void)buf_add_cstr(&files, text);
        files.p[files.n - 1] ^= wrong && strcmp(wrong, text) == 0;
    }
    if (w->is_lying)
        files.p[files.n - 1] ^= 1;
    const struct oci_parcel p = { .has_base = no_base, .has_file = has, .n_files = q.n_files };
    int r = fails ? err_set(err, w->fail_code, "not now")
                  : oci_parcel_write(&p, STR(""), buf_str(&files), to, err);
    if (r >= 0 && is_torn)
        to->p[to->n - 1] ^= 0x55, to->n -= 3;
    arena_fini(&a);
    return r;
}

static void on_failure(void *arg, const char *why)
{
    struct world *w = arg;
    (void)why;
    (void)pthread_mutex_lock(&w->mutex);
    w->n_failures++;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

static void on_refused(void *arg, const char *why)
{
    struct world *w = arg;
    CHECK(why[0]);
    (void)pthread_mutex_lock(&w->mutex);
    w->n_refused++;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

static void on_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes)
{
    struct world *w = arg;
    (void)all_bytes;
    (void)pthread_mutex_lock(&w->mutex);
    w->done_bytes = MAX(w->done_bytes, done_bytes);
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

static void on_no_answer(void *arg)
{
    struct world *w = arg;
    (void)pthread_mutex_lock(&w->mutex);
    w->n_deaf++;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

static void on_all(void *arg, struct lazy_fetch *f)
{
    struct world *w = arg;
    uint64_t at;
    for (uint32_t i = 0; i < w->m.view.n; i++)
        CHECK_OK(lazy_fetch_place(f, i, &at));
    (void)pthread_mutex_lock(&w->mutex);
    w->is_all = true;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

static int start_fetch(struct world *w)
{
    static const struct oci_digest diff_ids[2];
    const struct lazy_fetch_opts opts = { .view = &w->m.view,
                                          .diff_ids = diff_ids,
                                          .guard = w->guard,
                                          .first = &w->first,
                                          .contents = w->contents,
                                          .max_file_bytes = w->max_file_bytes,
                                          .spool_dir = w->spool_dir ? w->spool_dir : w->dir,
                                          .parcel = fake_parcel,
                                          .stop = &w->stop,
                                          .on_all = on_all,
                                          .on_failure = on_failure,
                                          .on_refused = on_refused,
                                          .on_no_answer = on_no_answer,
                                          .on_progress = on_progress,
                                          .arg = w };
    return lazy_fetch_start(&opts, &w->fetch, NULL);
}

static void add_first(struct world *w, const char *content)
{
    struct oci_digest d;
    sha256_of(str_of(content), d.bytes);
    vec_push(&w->first.files, d);
}

static void wait_all(struct world *w)
{
    (void)pthread_mutex_lock(&w->mutex);
    while (!w->is_all)
        (void)pthread_cond_wait(&w->changed, &w->mutex);
    (void)pthread_mutex_unlock(&w->mutex);
}

TEST(the_files_of_a_start_come_first_and_all_of_them_in_the_end)
{
    struct world w;
    char text[64];
    scoped(free_scoped) char *whole = xalloc(BIG_BYTES + 1);
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    add_first(&w, "third");
    add_first(&w, "unknown");
    add_first(&w, "second");
    CHECK_OK(start_fetch(&w));
    CHECK_OK(lazy_fetch_wait(w.fetch, NULL));
    wait_all(&w);
    CHECK_INT(w.asked.n, 4); /* nothing twice */
    CHECK_INT(w.asked.p[0], index_of(&w.m.view, "third"));
    CHECK_INT(w.asked.p[1], index_of(&w.m.view, "second"));
    CHECK_INT(w.asked.p[2], index_of(&w.m.view, "first"));
    CHECK_INT(cat(&w, "a", text, sizeof text), 6);
    CHECK_INT(cat(&w, "copy", whole, BIG_BYTES), BIG_BYTES);
    CHECK(memcmp(whole, big, BIG_BYTES) == 0);
    world_fini(&w);
}

TEST(what_is_opened_overtakes_the_rest)
{
    struct world w;
    char text[64];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.holds_big = true; /* the background is busy with all files in one request */
    CHECK_OK(start_fetch(&w));
    (void)pthread_mutex_lock(&w.mutex);
    while (w.n_asked == 0)
        (void)pthread_cond_wait(&w.changed, &w.mutex);
    (void)pthread_mutex_unlock(&w.mutex);
    CHECK_INT(cat(&w, "z", text, sizeof text), 5);
    CHECK(memcmp(text, "third", 5) == 0);
    (void)pthread_mutex_lock(&w.mutex);
    CHECK(!w.is_all && w.n_asked == 2 && w.asked.n == 5);
    w.holds_big = false;
    (void)pthread_cond_broadcast(&w.changed);
    (void)pthread_mutex_unlock(&w.mutex);
    wait_all(&w); /* what came twice counts once */
    world_fini(&w);
}

TEST(a_failure_at_the_start_is_told_and_one_later_is_tried_again)
{
    struct world w;
    struct err err = { 0 };
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    add_first(&w, "third");
    w.fails = 1;
    w.fail_code = -ECONNREFUSED; /* the client of the registry tried it again already */
    CHECK_OK(start_fetch(&w));
    CHECK_ERR(lazy_fetch_wait(w.fetch, &err), -ECONNREFUSED);
    CHECK_STR(str_of(err_text(&err)), "not now");
    wait_all(&w); /* whoever does not give up gets it */
    CHECK_INT(w.n_failures, 1);
    world_fini(&w);
}

TEST(a_start_survives_a_connection_that_breaks)
{
    struct world w;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    add_first(&w, "third");
    w.fails = 1;
    w.fail_code = -ECONNRESET;
    CHECK_OK(start_fetch(&w));
    CHECK_OK(lazy_fetch_wait(w.fetch, NULL));
    wait_all(&w);
    CHECK_INT(w.n_failures, 1);
    world_fini(&w);
}

TEST(contents_that_are_not_what_their_digests_say_are_never_shown)
{
    struct world w;
    char text[64];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.is_lying = true;
    CHECK_OK(start_fetch(&w));
    CHECK_OK(lazy_fetch_wait(w.fetch, NULL)); /* no list */
    CHECK_INT(cat(&w, "z", text, sizeof text), -EIO);
    CHECK(!w.is_all);
    world_fini(&w);
}

/* An image of many layers with a file each: "0", "1", ... */
enum { MANY = OCI_PARCEL_LAYERS_MAX + 44 };

static void make_many(struct image *m)
{
    static const uint8_t uuid[16] = { 2 };
    scoped(free_scoped) struct oci_layer **layers = xnew_n(struct oci_layer *, MANY);
    for (size_t i = 0; i < MANY; i++) {
        struct tar_kit k = { BUF_INIT(TAR_MAX) };
        scoped(free_scoped) char *text = xasprintf("%zu", i);
        kit_file(&k, text, text);
        layers[i] = read_layer(&k);
        buf_fini(&k.out);
    }
    lazy_view_fini(&m->view);
    CHECK_OK(lazy_view_make(layers, MANY, OCI_SYMLINK_PARENT_REFUSE, uuid, &m->view, NULL));
    for (size_t i = 0; i < MANY; i++)
        oci_layer_free(layers[i]);
}

static int many_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct oci_parcel_request q;
    scoped(buf_fini_scoped) struct buf files = BUF_INIT(TAR_MAX);
    (void)arg;
    CHECK_OK(oci_parcel_request_read(&a, request, &q, NULL));
    CHECK(q.n_layers == q.n_files);
    uint8_t *has = arena_new_n(&a, uint8_t, q.n_files);
    for (size_t i = 0; i < q.n_files; i++)
        for (size_t k = 0; k < MANY; k++) {
            uint8_t digest[SHA256_BYTES];
            scoped(free_scoped) char *text = xasprintf("%zu", k);
            sha256_of(str_of(text), digest);
            if (memcmp(digest, q.files[i].bytes, sizeof digest) != 0)
                continue;
            (void)buf_add_cstr(&files, text);
            has[i] = 1;
        }
    const struct oci_parcel p = { .has_base = has, .has_file = has, .n_files = q.n_files };
    int r = oci_parcel_write(&p, STR(""), buf_str(&files), to, err);
    arena_fini(&a);
    return r;
}

TEST(a_request_has_files_of_no_more_layers_than_it_may)
{
    struct world w;
    static const struct oci_digest diff_ids[MANY];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    make_many(&w.m);
    const struct lazy_fetch_opts opts = { .view = &w.m.view,
                                          .diff_ids = diff_ids,
                                          .guard = w.guard,
                                          .first = &w.first,
                                          .spool_dir = w.dir,
                                          .parcel = many_parcel,
                                          .stop = &w.stop,
                                          .on_all = on_all,
                                          .on_failure = on_failure,
                                          .arg = &w };
    CHECK_OK(lazy_fetch_start(&opts, &w.fetch, NULL));
    wait_all(&w);
    CHECK_INT(w.n_failures, 0);
    world_fini(&w);
}

/* "third" does not come as it should, and keeps nothing else back. */
static void check_one_bad(struct world *w)
{
    char text[64];
    CHECK_OK(start_fetch(w));
    CHECK_OK(lazy_fetch_wait(w->fetch, NULL)); /* no list */
    CHECK_INT(cat(w, "a", text, sizeof text), 6);
    CHECK_INT(cat(w, "copy", text, sizeof text), sizeof text);
    (void)pthread_mutex_lock(&w->mutex);
    while (w->done_bytes < w->m.view.n_bytes - strlen("third")) /* what nothing opens, too */
        (void)pthread_cond_wait(&w->changed, &w->mutex);
    (void)pthread_mutex_unlock(&w->mutex);
    CHECK_INT(cat(w, "z", text, sizeof text), -EIO);
    (void)pthread_mutex_lock(&w->mutex);
    CHECK(!w->is_all);
    while (w->n_failures == 0) /* it is told */
        (void)pthread_cond_wait(&w->changed, &w->mutex);
    w->wrong = w->missing = w->torn = NULL;
    (void)pthread_mutex_unlock(&w->mutex);
    wait_all(w);
    CHECK_INT(cat(w, "z", text, sizeof text), 5);
    CHECK(memcmp(text, "third", 5) == 0);
}

TEST(a_file_that_is_another_one_keeps_no_other_back)
{
    struct world w;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.wrong = "third";
    check_one_bad(&w);
    world_fini(&w);
}

TEST(a_file_that_the_registry_does_not_have_keeps_no_other_back)
{
    struct world w;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.missing = "third";
    check_one_bad(&w);
    world_fini(&w);
}

TEST(a_request_that_is_refused_as_a_whole_is_not_asked_for_file_by_file)
{
    struct world w;
    static const int codes[] = { -ENOENT, E_UNSUPPORTED, E_LIMIT };
    if (why_not())
        SKIP(why_not());
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        world_init(&w, 0);
        w.fails = 1;
        w.fail_code = codes[i];
        CHECK_OK(start_fetch(&w));
        wait_all(&w);
        CHECK_INT(w.n_failures, 1);
        CHECK_INT(w.n_asked, 3); /* all four, and two halves */
        CHECK_INT(w.asked.n, 8);
        world_fini(&w);
    }
}

TEST(an_answer_that_does_not_unpack_is_asked_for_in_halves)
{
    struct world w;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.torn = "third";
    check_one_bad(&w);
    world_fini(&w);
}

static void wait_asked(struct world *w, size_t n)
{
    (void)pthread_mutex_lock(&w->mutex);
    while (w->n_asked < n)
        (void)pthread_cond_wait(&w->changed, &w->mutex);
    (void)pthread_mutex_unlock(&w->mutex);
}

TEST(a_large_file_that_is_opened_keeps_no_small_one_waiting)
{
    struct world w;
    char text[64];
    pthread_t thread;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.holds_big = true;
    CHECK_OK(start_fetch(&w));
    wait_asked(&w, 1); /* the background */
    struct cat_thread c = { .w = &w, .name = "copy" };
    CHECK(pthread_create(&thread, NULL, cat_main, &c) == 0);
    wait_asked(&w, 2);
    CHECK_INT(cat(&w, "z", text, sizeof text), 5);
    (void)pthread_mutex_lock(&w.mutex);
    w.holds_big = false;
    (void)pthread_cond_broadcast(&w.changed);
    (void)pthread_mutex_unlock(&w.mutex);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(c.n, sizeof c.text);
    wait_all(&w);
    world_fini(&w);
}

TEST(an_open_waits_for_its_own_request_when_the_background_did_not_get_the_file)
{
    struct world w;
    pthread_t thread;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.holds_big = w.holds_rest = true;
    CHECK_OK(start_fetch(&w));
    wait_asked(&w, 1); /* the background, for all */
    struct cat_thread c = { .w = &w, .name = "z" };
    CHECK(pthread_create(&thread, NULL, cat_main, &c) == 0);
    wait_asked(&w, 2);
    (void)pthread_mutex_lock(&w.mutex);
    w.missing = "third";
    w.holds_big = false;
    (void)pthread_cond_broadcast(&w.changed);
    while (w.n_failures == 0)
        (void)pthread_cond_wait(&w.changed, &w.mutex);
    w.missing = NULL;
    w.holds_rest = false;
    (void)pthread_cond_broadcast(&w.changed);
    (void)pthread_mutex_unlock(&w.mutex);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(c.n, 5);
    wait_all(&w);
    world_fini(&w);
}

TEST(without_a_guardian_all_is_fetched_once_for_the_store)
{
    struct world w;
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    w.holds_big = true;
    CHECK_OK(start_fetch(&w));
    wait_asked(&w, 1);
    CHECK(kill(lazy_guard_pid(w.guard), SIGKILL) == 0);
    (void)pthread_mutex_lock(&w.mutex);
    while (w.n_deaf == 0)
        (void)pthread_cond_wait(&w.changed, &w.mutex);
    w.holds_big = false;
    (void)pthread_cond_broadcast(&w.changed);
    (void)pthread_mutex_unlock(&w.mutex);
    wait_all(&w);
    CHECK_INT(w.n_asked, 1);
    CHECK_INT(w.asked.n, 4);
    CHECK(w.n_failures == 0 && w.n_deaf == 1);
    world_fini(&w);
}

TEST(a_full_disk_is_an_error_until_there_is_room)
{
    struct world w;
    char text[64];
    if (why_not())
        SKIP(why_not());
    world_init(&w, 0);
    scoped(free_scoped) char *small = xasprintf("%s/small", w.dir);
    CHECK(mkdir(small, 0700) == 0 && mount("none", small, "tmpfs", 0, "size=64k") == 0);
    w.spool_dir = small;
    add_first(&w, "third");
    CHECK_OK(start_fetch(&w));
    CHECK_OK(lazy_fetch_wait(w.fetch, NULL));
    CHECK_INT(cat(&w, "copy", text, sizeof text), -ENOSPC);
    CHECK_INT(cat(&w, "z", text, sizeof text), 5);
    CHECK(mount("none", small, NULL, MS_REMOUNT, "size=4m") == 0);
    wait_all(&w);
    CHECK_INT(cat(&w, "copy", text, sizeof text), sizeof text);
    CHECK(memcmp(text, big, sizeof text) == 0);
    lazy_fetch_free(take_ptr(&w.fetch));
    CHECK(umount2(small, MNT_DETACH) == 0);
    world_fini(&w);
}

/* ---- the layers at the end ---- */

/* An image of the two layers; `reason` is what keeping it returned. */
struct ending {
    struct world w;
    struct declared declared;
    struct oci_image image;
    char *store;
    struct lazy_prover *prover;
    size_t n_lies, n_late;
    struct lazy_layers_opts opts;
    int reason;
    size_t n_reported;
    struct arena a;
};

static void tell(void *arg, const char *why)
{
    struct ending *e = arg;
    (void)why;
    (void)pthread_mutex_lock(&e->w.mutex);
    e->n_reported++;
    (void)pthread_cond_broadcast(&e->w.changed);
    (void)pthread_mutex_unlock(&e->w.mutex);
}

static void keep_all(void *arg, struct lazy_fetch *f)
{
    struct ending *e = arg;
    e->opts.fetch = f;
    e->reason = lazy_layers_keep(&e->opts, NULL);
    on_all(&e->w, f);
}

static void count(struct ending *e, size_t *n)
{
    (void)pthread_mutex_lock(&e->w.mutex);
    ++*n;
    (void)pthread_cond_broadcast(&e->w.changed);
    (void)pthread_mutex_unlock(&e->w.mutex);
}

static void on_mismatch(void *arg, const char *why)
{
    struct ending *e = arg;
    CHECK(why[0]);
    count(e, &e->n_lies);
}

static void on_late(void *arg, const char *why)
{
    struct ending *e = arg;
    CHECK(why[0]);
    count(e, &e->n_late);
}

static void wake(void *arg, uint64_t done_bytes, uint64_t all_bytes)
{
    struct ending *e = arg;
    on_progress(&e->w, done_bytes, all_bytes);
    lazy_prover_wake(e->prover);
}

static void refused(void *arg, const char *why)
{
    struct ending *e = arg;
    on_refused(&e->w, why);
}

static void write_documents(struct ending *e)
{
    char ids[2][OCI_DIGEST_TEXT_SIZE], config[OCI_DIGEST_TEXT_SIZE];
    for (size_t i = 0; i < 2; i++)
        oci_digest_format(&e->declared.diff_ids[i], ids[i]);
    e->image.config_text =
        str_of(arena_printf(&e->a,
                            "{\"os\":\"linux\",\"architecture\":\"amd64\","
                            "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"%s\",\"%s\"]}}",
                            ids[0], ids[1]));
    sha256_of(e->image.config_text, e->image.manifest.config.digest.bytes);
    oci_digest_format(&e->image.manifest.config.digest, config);
    e->image.manifest_text = str_of(arena_printf(
        &e->a,
        "{\"schemaVersion\":2,\"config\":{\"mediaType\":\"application/"
        "vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":%zu},\"layers\":["
        "{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\",\"digest\":\"%s\",\"size\":9},"
        "{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\",\"digest\":\"%s\",\"size\":9}]}",
        config, e->image.config_text.n, ids[0], ids[1]));
    sha256_of(e->image.manifest_text, e->image.digest.bytes);
}

static void ending_init(struct ending *e, enum wrong wrong)
{
    *e = (struct ending){ .image.config.platform = { .os = STR("linux"),
                                                     .architecture = STR("amd64") } };
    world_init(&e->w, 0);
    declared_init(&e->declared, &e->w.m, wrong);
    e->image.config.diff_ids = e->declared.diff_ids;
    e->image.config.n_diff_ids = 2;
    write_documents(e);
    e->store = xasprintf("%s/store", e->w.dir);
    const struct lazy_prover_opts proves = { .trees = &e->declared.trees,
                                             .view = &e->w.m.view,
                                             .on_mismatch = on_mismatch,
                                             .on_late = on_late,
                                             .arg = e };
    e->prover = lazy_prover_new(&proves);
    e->opts = (struct lazy_layers_opts){ .store = e->store,
                                         .prover = e->prover,
                                         .image = &e->image,
                                         .trees = &e->declared.trees,
                                         .view = &e->w.m.view,
                                         .first = &e->w.first,
                                         .on_failure = tell,
                                         .arg = e };
}

static void ending_run(struct ending *e)
{
    const struct lazy_fetch_opts opts = { .view = &e->w.m.view,
                                          .diff_ids = e->declared.diff_ids,
                                          .guard = e->w.guard,
                                          .first = &e->w.first,
                                          .spool_dir = e->w.dir,
                                          .parcel = fake_parcel,
                                          .stop = &e->w.stop,
                                          .on_all = keep_all,
                                          .on_refused = refused,
                                          .on_progress = wake,
                                          .arg = e };
    CHECK_OK(lazy_fetch_start(&opts, &e->w.fetch, NULL));
}

static void ending_fini(struct ending *e)
{
    atomic_store(&e->w.stop, true);
    lazy_prover_stop(e->prover);
    lazy_fetch_free(take_ptr(&e->w.fetch));
    lazy_prover_free(e->prover);
    lazy_trees_fini(&e->declared.trees);
    free(e->store);
    arena_fini(&e->a);
    world_fini(&e->w);
}

static void wait_reported(struct ending *e)
{
    (void)pthread_mutex_lock(&e->w.mutex);
    while (!e->n_reported && !e->w.is_all)
        (void)pthread_cond_wait(&e->w.changed, &e->w.mutex);
    (void)pthread_mutex_unlock(&e->w.mutex);
}

/* The layers as an ordinary pull puts them there. */
static void import_layers(const struct ending *e, struct oci_store *s)
{
    for (size_t i = 0; i < 2; i++) {
        struct oci_import *im;
        scoped(buf_fini_scoped) struct buf tar = whole_tar(&e->w.m.tars[i]);
        const struct oci_import_opts opts = { .diff_id = e->declared.diff_ids[i],
                                              .blob = e->declared.diff_ids[i],
                                              .blob_size = tar.n,
                                              .has_no_blob = true };
        CHECK_OK(oci_import_new(s, &opts, &im, NULL));
        CHECK_OK(oci_import_add(im, buf_str(&tar), NULL));
        CHECK_OK(oci_import_commit(im, NULL));
        oci_import_free(im);
    }
}

static struct oci_store *open_store(const struct ending *e, bool is_reader)
{
    struct oci_store *s;
    const struct oci_store_opts opts = { .root = e->store, .is_reader = is_reader };
    CHECK_OK(oci_store_open(&opts, &s, NULL));
    return s;
}

static int count_lease(void *arg, struct str id, const struct oci_digest *manifest, struct err *err)
{
    (void)id, (void)err;
    ++*(int *)arg;
    return 0;
}

TEST(layers_are_kept_when_all_is_here)
{
    struct ending e;
    struct oci_store_image got;
    struct oci_store_gc gone;
    struct arena a = { 0 };
    int n_leases = 0;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    e.opts.name = STR("app:v1");
    e.opts.state = e.w.state;
    ending_run(&e);
    wait_all(&e.w);
    CHECK_OK(e.reason);
    struct oci_store *s = open_store(&e, false);
    CHECK_OK(oci_store_image_get(s, STR("app:v1"), &a, &got, NULL));
    CHECK(oci_digest_equal(&got.manifest, &e.image.digest) && !got.is_pinned);
    CHECK_OK(oci_store_image_remove(s, STR("app:v1"), NULL));
    CHECK_OK(oci_store_gc(s, false, &gone, NULL)); /* it has a lease */
    CHECK_INT(gone.n_layers + gone.n_documents, 0);
    for (size_t i = 0; i < 2; i++)
        CHECK(oci_store_layer_has(s, &e.declared.diff_ids[i]));
    CHECK(oci_store_document_has(s, &e.image.digest));
    CHECK_OK(oci_store_lease_each(s, count_lease, &n_leases, NULL));
    CHECK_INT(n_leases, 1);
    oci_store_close(s);
    arena_fini(&a);
    ending_fini(&e);
}

/* The layers as the store has them; of "third" another content, if is_damaged. */
static void use_store(struct ending *e, bool is_damaged)
{
    struct oci_store *s = open_store(e, false);
    import_layers(e, s);
    scoped(free_scoped) char *path = oci_store_layer_path(s, &e->declared.diff_ids[1], "data.tar");
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CLOEXEC);
    const struct lazy_file *third = &e->w.m.view.files[index_of(&e->w.m.view, "third")];
    CHECK(fd >= 0);
    if (is_damaged)
        CHECK_OK(sys_pwrite_all(fd, "wrong", 5, third->at));
    oci_store_close(s);
}

TEST(what_the_store_has_is_compared_before_it_can_be_read)
{
    struct ending e;
    char text[64];
    if (why_not())
        SKIP(why_not());
    for (int is_damaged = 0; is_damaged < 2; is_damaged++) {
        ending_init(&e, WRONG_NOTHING);
        use_store(&e, is_damaged);
        struct oci_store *s = open_store(&e, true);
        CHECK_OK(oci_contents_new(s, NULL, &e.w.contents, NULL));
        CHECK_OK(start_fetch(&e.w));
        CHECK_INT(cat(&e.w, "z", text, sizeof text), 5);
        CHECK(memcmp(text, "third", 5) == 0);
        wait_all(&e.w);
        CHECK((e.w.asked.n > 0) == is_damaged);
        vec_each (file, &e.w.asked) /* by the background, too */
            CHECK_INT(*file, index_of(&e.w.m.view, "third"));
        lazy_fetch_free(take_ptr(&e.w.fetch));
        oci_contents_free(e.w.contents);
        oci_store_close(s);
        ending_fini(&e);
    }
}

TEST(a_large_file_of_which_the_store_has_another_one_is_told_once_and_never_asked_for)
{
    struct ending e;
    char text[64];
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    use_store(&e, true);
    struct oci_store *s = open_store(&e, true);
    CHECK_OK(oci_contents_new(s, NULL, &e.w.contents, NULL));
    e.w.max_file_bytes = 4; /* less than "third" has, which is damaged */
    CHECK_OK(start_fetch(&e.w));
    (void)pthread_mutex_lock(&e.w.mutex);
    while (e.w.n_refused == 0 || e.w.done_bytes < e.w.m.view.n_bytes - strlen("third"))
        (void)pthread_cond_wait(&e.w.changed, &e.w.mutex);
    (void)pthread_mutex_unlock(&e.w.mutex);
    for (int i = 0; i < 2; i++)
        CHECK_INT(cat(&e.w, "z", text, sizeof text), -EIO);
    CHECK_INT(cat(&e.w, "a", text, sizeof text), 6);
    lazy_fetch_free(take_ptr(&e.w.fetch));
    CHECK(e.w.n_refused == 1 && e.w.n_asked == 0 && !e.w.is_all);
    oci_contents_free(e.w.contents);
    oci_store_close(s);
    ending_fini(&e);
}

TEST(a_registry_that_forged_attributes_is_found_though_the_tar_is_right)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE);
    ending_run(&e);
    wait_all(&e.w);
    CHECK_ERR(e.reason, E_DIGEST);
    ending_fini(&e);
}

TEST(layers_that_are_here_already_are_compared_too)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_WHITEOUTS);
    struct oci_store *s = open_store(&e, false);
    CHECK_OK(lazy_layers_check(s, &e.declared.trees, NULL));
    import_layers(&e, s);
    CHECK_ERR(lazy_layers_check(s, &e.declared.trees, NULL), E_DIGEST);
    oci_store_close(s);
    ending_run(&e);
    wait_all(&e.w);
    CHECK_ERR(e.reason, E_DIGEST);
    ending_fini(&e);
}

TEST(a_store_that_is_busy_hides_no_forged_attributes)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE);
    struct oci_store *s = open_store(&e, false);
    ending_run(&e);
    wait_all(&e.w);
    CHECK_ERR(e.reason, E_DIGEST);
    oci_store_close(s);
    ending_fini(&e);
}

TEST(a_store_that_is_busy_gets_the_layers_later)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    struct oci_store *s = open_store(&e, false);
    ending_run(&e);
    wait_reported(&e);
    CHECK(!e.w.is_all);
    oci_store_close(s);
    wait_all(&e.w);
    CHECK_OK(e.reason);
    CHECK_INT(e.n_reported, 1);
    ending_fini(&e);
}

static void mount_small(const struct ending *e, const char *size)
{
    scoped(free_scoped) char *how = xasprintf("size=%s", size);
    CHECK(mkdir(e->store, 0700) == 0 && mount("none", e->store, "tmpfs", 0, how) == 0);
}

TEST(a_full_disk_hides_no_damaged_frame)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_FRAME);
    mount_small(&e, "64k"); /* the lower layer has 300 KB */
    ending_run(&e);
    wait_all(&e.w);
    CHECK_ERR(e.reason, E_DIGEST);
    CHECK(umount2(e.store, MNT_DETACH) == 0);
    ending_fini(&e);
}

TEST(a_disk_that_has_room_again_gets_the_layers)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    mount_small(&e, "64k");
    ending_run(&e);
    wait_reported(&e);
    CHECK(!e.w.is_all);
    CHECK(mount("none", e.store, NULL, MS_REMOUNT, "size=8m") == 0);
    wait_all(&e.w);
    CHECK_OK(e.reason);
    lazy_fetch_free(take_ptr(&e.w.fetch));
    CHECK(umount2(e.store, MNT_DETACH) == 0);
    ending_fini(&e);
}

TEST(a_disk_that_has_room_again_gets_the_state_of_the_lease)
{
    struct ending e;
    int n_leases = 0;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    scoped(free_scoped) char *full = xasprintf("%s/full", e.w.dir);
    scoped(free_scoped) char *state = xasprintf("%s/state", full);
    scoped(free_scoped) char *filler = xasprintf("%s/filler", full);
    CHECK(mkdir(full, 0700) == 0 && mount("none", full, "tmpfs", 0, "size=64k") == 0);
    CHECK(mkdir(state, 0700) == 0);
    int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_ERR(sys_write_all(fd, big, BIG_BYTES), -ENOSPC);
    CHECK(close(fd) == 0);
    e.opts.state = state;
    ending_run(&e);
    wait_reported(&e);
    CHECK(!e.w.is_all);
    CHECK(unlink(filler) == 0);
    wait_all(&e.w);
    CHECK_OK(e.reason);
    struct oci_store *s = open_store(&e, true);
    CHECK_OK(oci_store_lease_each(s, count_lease, &n_leases, NULL));
    CHECK_INT(n_leases, 1);
    oci_store_close(s);
    lazy_fetch_free(take_ptr(&e.w.fetch));
    CHECK(umount2(full, MNT_DETACH) == 0);
    ending_fini(&e);
}

static void wait_counted(struct ending *e, const size_t *n)
{
    (void)pthread_mutex_lock(&e->w.mutex);
    while (*n == 0)
        (void)pthread_cond_wait(&e->w.changed, &e->w.mutex);
    (void)pthread_mutex_unlock(&e->w.mutex);
}

TEST(a_lie_about_a_layer_is_found_though_a_file_of_another_one_is_withheld)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE); /* the upper layer */
    e.w.missing = "first";       /* of the lower one */
    ending_run(&e);
    CHECK_OK(lazy_prover_start(e.prover, e.w.fetch, NULL));
    wait_counted(&e, &e.n_lies);
    CHECK(!e.w.is_all);
    CHECK_INT(lazy_prover_missing(e.prover), 2);
    ending_fini(&e);
    CHECK_INT(e.n_lies, 1);
}

TEST(layers_are_proven_one_by_one_and_a_file_that_is_withheld_is_told)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    e.w.missing = "third"; /* of the upper layer */
    ending_run(&e);
    CHECK_OK(lazy_prover_start(e.prover, e.w.fetch, NULL));
    wait_counted(&e, &e.w.n_refused);
    while (lazy_prover_missing(e.prover) == 2)
        (void)sched_yield();
    CHECK_INT(lazy_prover_missing(e.prover), 1);
    CHECK(e.w.n_refused == 1 && e.n_lies == 0 && e.n_late == 0);
    (void)pthread_mutex_lock(&e.w.mutex);
    e.w.missing = NULL;
    (void)pthread_mutex_unlock(&e.w.mutex);
    wait_all(&e.w);
    CHECK_OK(e.reason);
    CHECK_INT(lazy_prover_missing(e.prover), 0);
    ending_fini(&e);
}

static uint64_t unread_bytes; /* of the tar that cannot be read */

static int start_but_one(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                         void **ret, struct err *err)
{
    return max_bytes == unread_bytes
               ? err_set(err, -ENOMEM, "no memory")
               : layer_parse_here.start(arg, max_bytes, ops, ops_arg, ret, err);
}

TEST(a_layer_that_cannot_be_proven_keeps_no_other_from_it)
{
    struct ending e;
    struct layer_reading_ops but_one = layer_parse_here;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE); /* the upper layer */
    unread_bytes = lazy_trees_get(&e.declared.trees, 0)->layer->n_bytes;
    CHECK(lazy_trees_get(&e.declared.trees, 1)->layer->n_bytes != unread_bytes);
    but_one.start = start_but_one;
    const struct lazy_prover_opts proves = { .trees = &e.declared.trees,
                                             .view = &e.w.m.view,
                                             .reading = &but_one,
                                             .on_mismatch = on_mismatch,
                                             .on_late = on_late,
                                             .arg = &e };
    lazy_prover_free(e.prover);
    e.prover = lazy_prover_new(&proves);
    CHECK_OK(start_fetch(&e.w));
    wait_all(&e.w);
    CHECK_OK(lazy_prover_start(e.prover, e.w.fetch, NULL));
    wait_counted(&e, &e.n_lies);
    CHECK_INT(lazy_prover_missing(e.prover), 2);
    ending_fini(&e);
}

TEST(layers_that_stay_unproven_are_told_after_their_time)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE);
    const struct lazy_prover_opts proves = { .trees = &e.declared.trees,
                                             .view = &e.w.m.view,
                                             .within_ms = 1,
                                             .on_mismatch = on_mismatch,
                                             .on_late = on_late,
                                             .arg = &e };
    lazy_prover_free(e.prover);
    e.opts.prover = e.prover = lazy_prover_new(&proves);
    e.w.missing = "third"; /* which keeps the lie */
    ending_run(&e);
    CHECK_OK(lazy_prover_start(e.prover, e.w.fetch, NULL));
    wait_counted(&e, &e.n_late);
    ending_fini(&e);
    CHECK(e.n_late == 1 && e.n_lies == 0);
}

static atomic_bool *ending_stop;

/* Reads as ever, and at the end of a tar the container ends, too. */
static int end_early(void *reading, struct layer_facts *facts, struct err *err)
{
    int r = layer_parse_here.end(reading, facts, err);
    atomic_store(ending_stop, true);
    return r;
}

TEST(an_end_hides_no_lie_that_was_found)
{
    struct ending e;
    struct layer_reading_ops early = layer_parse_here;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE);
    early.end = end_early;
    ending_stop = &e.w.stop;
    const struct lazy_prover_opts proves = { .trees = &e.declared.trees,
                                             .view = &e.w.m.view,
                                             .reading = &early };
    lazy_prover_free(e.prover);
    e.opts.prover = e.prover = lazy_prover_new(&proves);
    lazy_prover_set(e.prover, 0);                /* so that the lie is what is read first */
    struct oci_store *s = open_store(&e, false); /* busy: the proof alone is made */
    ending_run(&e);
    wait_all(&e.w);
    CHECK_ERR(e.reason, E_DIGEST);
    oci_store_close(s);
    ending_fini(&e);
}

TEST(what_can_be_proven_at_the_end_is_proven)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        ending_init(&e, is_wrong ? WRONG_MODE : WRONG_NOTHING);
        e.w.missing = "first"; /* of the lower layer */
        ending_run(&e);
        (void)pthread_mutex_lock(&e.w.mutex);
        while (e.w.done_bytes < e.w.m.view.n_bytes - strlen("first"))
            (void)pthread_cond_wait(&e.w.changed, &e.w.mutex);
        (void)pthread_mutex_unlock(&e.w.mutex);
        CHECK_INT(lazy_prover_missing(e.prover), 2);
        CHECK_INT(lazy_prover_finish(e.prover, e.w.fetch, NULL), is_wrong ? E_DIGEST : 0);
        CHECK_INT(lazy_prover_missing(e.prover), is_wrong ? 2 : 1);
        CHECK(lazy_prover_is_finishing(e.prover));
        ending_fini(&e);
    }
}

static bool ends_now(void *arg)
{
    ++*(size_t *)arg;
    return true;
}

TEST(a_proof_at_the_end_can_be_ended)
{
    struct ending e;
    size_t n_asked = 0;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_MODE);
    const struct lazy_prover_opts proves = {
        .trees = &e.declared.trees, .view = &e.w.m.view, .must_end = ends_now, .arg = &n_asked
    };
    lazy_prover_free(e.prover);
    e.prover = lazy_prover_new(&proves);
    CHECK_OK(start_fetch(&e.w));
    wait_all(&e.w);
    CHECK_ERR(lazy_prover_prove(e.prover, e.w.fetch, 1, NULL), E_DIGEST);
    CHECK_INT(n_asked, 0); /* only at the end */
    CHECK_OK(lazy_prover_finish(e.prover, e.w.fetch, NULL));
    CHECK_INT(n_asked, 2);
    CHECK_INT(lazy_prover_missing(e.prover), 2);
    ending_fini(&e);
}

/* What a server writes, and the child that reads layers for it, are this program. */
TEST(a_server_that_has_the_store_gets_the_layers_handed_over)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        struct store_control *c;
        struct arena a = { 0 };
        struct oci_store_image image;
        struct oci_store *s;
        struct stat st;
        int n_leases = 0;
        scoped(buf_fini_scoped) struct buf list = BUF_INIT(START_LIST_BYTES_MAX);
        ending_init(&e, is_wrong ? WRONG_MODE : WRONG_NOTHING);
        scoped(free_scoped) char *state = xasprintf("%s/state2", e.w.dir);
        scoped(free_scoped) char *handed = xasprintf("%s/handed", state);
        CHECK(mkdir(state, 0700) == 0);
        e.opts.state = state;
        e.opts.name = STR("app:v1");
        e.opts.stop = &e.w.stop;
        const struct oci_store_opts o = { .root = e.store,
                                          .is_service = true,
                                          .has_control = true };
        CHECK_OK(layer_cache_open_store(&o, IMAGE_CACHE_ARC, &s, NULL));
        CHECK_OK(store_control_start(s, &c, NULL));
        ending_run(&e);
        wait_all(&e.w);
        CHECK_INT(e.reason, is_wrong ? E_DIGEST : 0);
        CHECK(stat(handed, &st) < 0 && errno == ENOENT);
        for (size_t i = 0; i < 2; i++)
            CHECK_INT(oci_store_layer_has(s, &e.declared.diff_ids[i]), !is_wrong);
        CHECK_INT(oci_store_image_get(s, STR("app:v1"), &a, &image, NULL), is_wrong ? -ENOENT : 0);
        if (!is_wrong) {
            CHECK(oci_digest_equal(&image.manifest, &e.image.digest));
            CHECK_STR(image.platform, "linux/amd64");
            CHECK_OK(start_list_get(s, &e.image.manifest.config.digest, &list, NULL));
        }
        CHECK_OK(oci_store_lease_each(s, count_lease, &n_leases, NULL));
        CHECK_INT(n_leases, !is_wrong);
        arena_fini(&a);
        store_control_close(c, true);
        oci_store_close(s);
        ending_fini(&e);
    }
}

/* Whatever lies there: it is compared, and no FIFO is waited for. */
TEST(what_is_handed_over_is_compared_before_the_store_has_it)
{
    struct ending e;
    struct err err = { 0 };
    const struct handed_opts o = { .name = STR("app:v1"), .reading = &layer_parse_here };
    static const char *const files[] = { "manifest", "config", "start", NULL };
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    struct oci_store *s = open_store(&e, false);
    scoped(free_scoped) char *path = xasprintf("%s/given", e.w.dir);
    CHECK(mkdir(path, 0700) == 0);
    int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    CHECK_OK(handed_write(dir, &e.image, &e.w.first, &err));
    for (size_t i = 0; i < 2; i++) {
        scoped(buf_fini_scoped) struct buf tar = whole_tar(&e.w.m.tars[0]);
        int fd = handed_new_tar(dir, &e.declared.diff_ids[i], &err);
        CHECK_OK(sys_write_all(fd, tar.p, tar.n));
        (void)close(fd);
    }
    CHECK_ERR(handed_keep(s, path, &o, &err), E_DIGEST); /* of the upper one */
    CHECK(!oci_store_layer_has(s, &e.declared.diff_ids[1]));
    CHECK_ERR(oci_store_image_get(s, STR("app:v1"), &e.a, &(struct oci_store_image){ 0 }, NULL),
              -ENOENT);
    for (size_t i = 0; files[i]; i++) {
        CHECK(renameat(dir, files[i], dir, "aside") == 0 && mkfifoat(dir, files[i], 0600) == 0);
        CHECK_ERR(handed_keep(s, path, &o, &err), E_INVALID);
        CHECK(unlinkat(dir, files[i], 0) == 0);
        /* A list may be missing; the upper layer is still wrong. */
        CHECK_ERR(handed_keep(s, path, &o, &err), strcmp(files[i], "start") ? -ENOENT : E_DIGEST);
        CHECK(renameat(dir, "aside", dir, files[i]) == 0);
    }
    (void)close(dir);
    oci_store_close(s);
    ending_fini(&e);
}

TEST(what_is_handed_over_by_a_process_that_has_gone_is_not_leased)
{
    struct ending e;
    atomic_bool stop;
    const struct handed_opts o = { .lease = STR("given"), .stop = &stop };
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    struct oci_store *s = open_store(&e, false);
    import_layers(&e, s);
    scoped(free_scoped) char *path = xasprintf("%s/given", e.w.dir);
    CHECK(mkdir(path, 0700) == 0);
    int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    CHECK_OK(handed_write(dir, &e.image, &e.w.first, NULL));
    for (int has_gone = 1; has_gone >= 0; has_gone--) {
        int n_leases = 0;
        atomic_store(&stop, has_gone);
        CHECK_INT(handed_keep(s, path, &o, NULL), has_gone ? -ECANCELED : 0);
        CHECK_OK(oci_store_lease_each(s, count_lease, &n_leases, NULL));
        CHECK_INT(n_leases, !has_gone);
    }
    (void)close(dir);
    oci_store_close(s);
    ending_fini(&e);
}

TEST(an_end_waits_for_no_store)
{
    struct ending e;
    if (why_not())
        SKIP(why_not());
    ending_init(&e, WRONG_NOTHING);
    struct oci_store *s = open_store(&e, false);
    ending_run(&e);
    wait_reported(&e);
    lazy_fetch_free(take_ptr(&e.w.fetch));
    CHECK_ERR(e.reason, -ECANCELED);
    oci_store_close(s);
    ending_fini(&e);
}

/* ---- how far it is ---- */

TEST(others_see_how_far_a_start_is_while_its_process_lives)
{
    char dir[] = "/tmp/dormouse-lazy-XXXXXX";
    struct arena a = { 0 };
    struct lazy_status_row *rows;
    struct lazy_status *t = NULL, *next;
    size_t n;
    int status;
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    CHECK(mkdtemp(dir));
    const struct oci_store_opts opts = { .root = dir };
    const struct lazy_status_row row = { .done_bytes = 0,
                                         .all_bytes = 700,
                                         .manifest = { .bytes = { 1, 2 } },
                                         .reference = STR("docker://a b/c:v1") };
    const struct lazy_status_row bad = { .reference = STR("a\nb") };
    CHECK_OK(oci_store_open(&opts, &s, NULL));
    CHECK_OK(lazy_status_list(s, &a, &rows, &n, NULL));
    CHECK_INT(n, 0);
    CHECK_ERR(lazy_status_new(s, &bad, &t, NULL), E_INVALID);
    int pid = fork();
    if (pid == 0) { /* which is killed, and leaves a file */
        CHECK_OK(lazy_status_new(s, &row, &t, NULL));
        (void)kill(getpid(), SIGKILL);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_OK(lazy_status_list(s, &a, &rows, &n, NULL));
    CHECK_INT(n, 0);
    CHECK_OK(lazy_status_new(s, &row, &t, NULL));
    lazy_status_set(t, 301);
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(free_scoped) char *starts = xasprintf("%s/starts", dir);
    scoped(fd_scoped) int starts_fd = open(starts, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(tree_names_read(starts_fd, &names, NULL));
    CHECK_INT(names.all.n, 1); /* nothing of the one that was killed */
    CHECK_OK(lazy_status_list(s, &a, &rows, &n, NULL));
    CHECK_INT(n, 1);
    CHECK(rows[0].done_bytes == 301 && rows[0].all_bytes == 700);
    CHECK(memcmp(rows[0].manifest.bytes, row.manifest.bytes, SHA256_BYTES) == 0);
    CHECK_STR(rows[0].reference, "docker://a b/c:v1");
    CHECK_STR(str_of(lazy_status_text(&rows[0], &a)), "running, hydrating 43 %");
    CHECK_OK(lazy_status_new(s, &row, &next, NULL));
    CHECK_OK(lazy_status_list(s, &a, &rows, &n, NULL));
    CHECK_INT(n, 2);
    lazy_status_free(next);
    lazy_status_set(t, 700);
    CHECK_OK(lazy_status_list(s, &a, &rows, &n, NULL));
    CHECK_INT(n, 1);
    CHECK_STR(str_of(lazy_status_text(&rows[0], &a)), "running");
    lazy_status_free(t);
    CHECK_OK(lazy_status_list(s, &a, &rows, &n, NULL));
    CHECK_INT(n, 0);
    oci_store_close(take_ptr(&s));
    CHECK_OK(tree_remove(AT_FDCWD, dir, NULL));
    arena_fini(&a);
}

TEST(one_start_of_an_image_at_a_time_has_its_turn)
{
    char dir[] = "/tmp/dormouse-lazy-XXXXXX";
    struct oci_store *s;
    struct lazy_status *t;
    const struct oci_digest one = { .bytes = { 1 } }, other = { .bytes = { 2 } };
    CHECK(mkdtemp(dir));
    const struct oci_store_opts opts = { .root = dir };
    const struct lazy_status_row row = { .reference = STR("a") };
    CHECK_OK(oci_store_open(&opts, &s, NULL));
    CHECK_OK(lazy_status_new(s, &row, &t, NULL)); /* which makes the directory */
    int turn = lazy_status_acquire(s, &one), beside = lazy_status_acquire(s, &other);
    CHECK(turn >= 0 && beside >= 0);
    CHECK_ERR(lazy_status_acquire(s, &one), -EAGAIN);
    lazy_status_release(s, &one, -1);
    CHECK_ERR(lazy_status_acquire(s, &one), -EAGAIN);
    lazy_status_release(s, &one, turn);
    turn = lazy_status_acquire(s, &one);
    CHECK(turn >= 0);
    (void)close(turn); /* as when its process is killed */
    turn = lazy_status_acquire(s, &one);
    CHECK(turn >= 0);
    lazy_status_release(s, &one, turn);
    lazy_status_release(s, &other, beside);
    lazy_status_free(t);
    oci_store_close(s);
    CHECK_OK(tree_remove(AT_FDCWD, dir, NULL));
}

int main(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAZY_GUARD_WORD))
        return lazy_guard_main(argc, argv);
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD))
        return layer_child_main(argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    return test_main(argc, argv);
}
