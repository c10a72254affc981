/* SPDX-License-Identifier: Apache-2.0 */
/* image/: a layer as a stream of records, and the process that makes them. */
#include "base/sanitizer.h"
#include "image/layer_child.h"
#include "image/layer_wire.h"
#include "image/table_child.h"
#include "oci/hash_beside.h"
#include "oci/tree_manifest.h"
#include "tar_kit.h"
#include "wasm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROGUE_MAX_BYTES = 4321 }; /* with it, the child is one that a layer has taken over */

/* It tells of an empty layer, reads nothing and does not leave. */
static void be_rogue(void)
{
    const struct layer_facts facts = { .n_bytes = 1024 };
    struct layer_wire_out *out = xnew(struct layer_wire_out);
    out->fd = STDOUT_FILENO;
    (void)layer_wire_end(out, 0, &facts, NULL);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    for (;;)
        (void)pause();
}

/* This program is the child, too. */
__attribute__((constructor)) static void be_the_child(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD)) {
        if (argc > 2 && str_is(str_of(argv[2]), "4321"))
            be_rogue();
        _exit(layer_child_main(argc, argv));
    }
}

/* What ops are given, as text. */
struct seen {
    struct buf text;
    int fail_at, n; /* the call that fails; 0: none */
};

static int note(struct seen *s, const char *what, struct str a, struct str b, struct err *err)
{
    (void)buf_printf(&s->text, "%s '" STR_FMT "' '" STR_FMT "'\n", what, STR_ARG(a), STR_ARG(b));
    return ++s->n == s->fail_at ? err_set(err, -ENOSPC, "the sink is full") : 0;
}

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    struct seen *s = arg;
    for (uint32_t i = 0; i < e->n_xattrs; i++)
        (void)note(s, "xattr", e->xattrs[i].name, e->xattrs[i].value, NULL);
    (void)buf_printf(&s->text, "%u %o %u:%u %lld %llu ", e->type, e->mode, e->uid, e->gid,
                     (long long)e->mtime_s, (unsigned long long)e->size);
    return note(s, "entry", e->path, e->link, err);
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    return note(arg, "data", bytes, STR(""), err);
}

static int on_hole(void *arg, uint64_t n, struct err *err)
{
    (void)n;
    return note(arg, "hole", STR(""), STR(""), err);
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    return note(arg, w->is_opaque ? "opaque" : "whiteout", w->path, STR(""), err);
}

static int on_raw(void *arg, struct str bytes, struct err *err)
{
    return note(arg, "raw", bytes, STR(""), err);
}

static const struct layer_ops ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
};

static void make_tar(struct tar_kit *k)
{
    *k = (struct tar_kit){ BUF_INIT(1 << 20) };
    kit_dir(k, "d");
    kit_file(k, "d/f", "content");
    kit_link(k, "d/s", '2', "../x");
    kit_link(k, "d/h", '1', "d/f");
    kit_file(k, "d/.wh.gone", "");
    kit_file(k, "d/.wh..wh..opq", "");
    kit_file(k, "empty", "");
    kit_end(k);
}

static int feed(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    const struct tar_kit *k = arg;
    return sink(sink_arg, buf_str(&k->out), err);
}

static int feed_broken(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    const struct tar_kit *k = arg;
    int r = sink(sink_arg, str_slice(buf_str(&k->out), 0, 700), err);
    return r < 0 ? r : err_set(err, -EIO, "the disk is broken");
}

static const struct layer_read_opts opts = { .max_bytes = 1 << 20 };

TEST(a_hash_beside_is_the_hash)
{
    enum { BYTES = 5 << 20 };
    scoped(free_scoped) char *bytes = xnew_n(char, BYTES);
    for (size_t i = 0; i < BYTES; i += sizeof(uint64_t)) {
        uint64_t v = test_random();
        memcpy(bytes + i, &v, sizeof v);
    }
    for (unsigned turn = 0; turn < 20; turn++) {
        uint8_t want[SHA256_BYTES], got[SHA256_BYTES];
        size_t n = turn ? test_random_below(BYTES) : 0, at = 0;
        scoped(hash_beside_free_scoped) struct hash_beside *h = hash_beside_new();
        CHECK(h);
        while (at < n) {
            size_t part = test_random_below(turn % 2 ? 1 << 10 : 1 << 20);
            part = MIN(part, n - at);
            hash_beside_add(h, bytes + at, part);
            at += part;
        }
        if (turn == 19)
            break; /* freed before its end */
        hash_beside_end(h, got);
        sha256_of(str_n(bytes, n), want);
        CHECK(memcmp(got, want, sizeof got) == 0);
    }
}

TEST(a_child_gives_what_the_parser_gives)
{
    struct tar_kit k;
    struct err err = { 0 };
    struct layer_facts here, there;
    struct seen a = { .text = BUF_INIT(1 << 20) }, b = { .text = BUF_INIT(1 << 20) };
    make_tar(&k);
    struct layer_parser *p = layer_parser_new(&ops, &a, 1 << 20);
    CHECK_OK(layer_parser_add(p, buf_str(&k.out), &err));
    CHECK_OK(layer_parser_end(p, &here, &err));
    layer_parser_free(p);
    if (layer_read(&opts, feed, &k, &ops, &b, &there, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK(str_eq(buf_str(&a.text), buf_str(&b.text)));
    CHECK(memcmp(&here, &there, sizeof here) == 0);
    CHECK_INT(here.n_entries, 7);
    uint8_t digest[SHA256_BYTES];
    sha256_of(buf_str(&k.out), digest);
    CHECK(memcmp(digest, there.diff_id, sizeof digest) == 0);
    buf_fini(&a.text), buf_fini(&b.text), buf_fini(&k.out);
}

TEST(errors_come_from_where_they_arise)
{
    struct tar_kit k;
    struct layer_facts facts;
    make_tar(&k);
    for (int i = 1; i <= 3; i++) {
        struct err err = { 0 };
        struct seen s = { .text = BUF_INIT(1 << 20), .fail_at = i };
        CHECK_ERR(layer_read(&opts, feed, &k, &ops, &s, &facts, &err), -ENOSPC);
        CHECK(str_find(str_of(err.text), STR("the sink is full")) >= 0);
        buf_fini(&s.text);
    }
    struct err err = { 0 };
    struct seen s = { .text = BUF_INIT(1 << 20) };
    CHECK_ERR(layer_read(&opts, feed_broken, &k, &ops, &s, &facts, &err), -EIO);
    const struct layer_read_opts small = { .max_bytes = 1000 };
    CHECK_ERR(layer_read(&small, feed, &k, &ops, &s, &facts, &err), E_LIMIT);
    const struct layer_read_opts missing = { .max_bytes = 1000, .program = "/nonexistent/program" };
    CHECK_ERR(layer_read(&missing, feed, &k, &ops, &s, &facts, &err), -ENOENT);
    const struct layer_read_opts silent = { .max_bytes = 1000, .program = "/bin/true" };
    CHECK_ERR(layer_read(&silent, feed, &k, &ops, &s, &facts, &err), E_EOF);
    k.out.p[0] ^= 1; /* the first header's name: its checksum is wrong now */
    CHECK_ERR(layer_read(&opts, feed, &k, &ops, &s, &facts, &err), E_PARSE);
    buf_fini(&s.text), buf_fini(&k.out);
}

/* More than the pipe holds. */
static int feed_much(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < 4096 && r >= 0; i++)
        r = feed(arg, sink, sink_arg, err);
    return r;
}

TEST(a_child_that_leaves_its_blob_unread_is_an_error_and_cannot_stay)
{
    struct tar_kit k;
    struct err err = { 0 };
    struct layer_facts facts;
    struct seen s = { .text = BUF_INIT(1 << 20) };
    const struct layer_read_opts rogue = { .max_bytes = ROGUE_MAX_BYTES };
    make_tar(&k);
    CHECK_ERR(layer_read(&rogue, feed_much, &k, &ops, &s, &facts, &err), E_PARSE);
    CHECK(str_find(str_of(err.text), STR("ended before its blob")) >= 0);
    CHECK_INT(s.n, 0);
    buf_fini(&s.text), buf_fini(&k.out);
}

/* The records of a layer, as a child writes them. */
static void make_records(struct buf *to)
{
    struct tar_kit k;
    struct layer_facts facts;
    int pipes[2];
    struct layer_wire_out *out = xnew(struct layer_wire_out);
    make_tar(&k);
    CHECK(pipe2(pipes, O_CLOEXEC) == 0);
    out->fd = pipes[1];
    struct layer_parser *p = layer_parser_new(&layer_wire_ops, out, 1 << 20);
    CHECK_OK(layer_parser_add(p, buf_str(&k.out), NULL));
    CHECK_OK(layer_parser_end(p, &facts, NULL));
    CHECK_OK(layer_wire_end(out, 0, &facts, NULL));
    (void)close(pipes[1]);
    char *room;
    CHECK_OK(buf_reserve(to, 1 << 16, &room));
    ssize_t n = read(pipes[0], room, 1 << 16);
    CHECK(n > 0);
    buf_advance(to, (size_t)n);
    (void)close(pipes[0]);
    layer_parser_free(p);
    free(out);
    buf_fini(&k.out);
}

TEST(records_in_pieces_are_the_same_and_damaged_ones_are_refused)
{
    struct buf records = BUF_INIT(1 << 20), whole = BUF_INIT(1 << 20);
    make_records(&records);
    struct seen s = { .text = BUF_INIT(1 << 20) };
    struct layer_wire_in in = { .ops = &ops, .arg = &s, .max_bytes = 1 << 20 };
    CHECK_INT(layer_wire_add(&in, buf_str(&records), NULL), records.n);
    CHECK(in.is_over);
    (void)buf_add_str(&whole, buf_str(&s.text));
    for (size_t cut = 0; cut < records.n; cut++) {
        struct seen t = { .text = BUF_INIT(1 << 20) };
        struct layer_wire_in part = { .ops = &ops, .arg = &t, .max_bytes = 1 << 20 };
        ptrdiff_t at = layer_wire_add(&part, str_slice(buf_str(&records), 0, cut), NULL);
        CHECK(at >= 0 && !part.is_over);
        CHECK(layer_wire_add(&part, str_slice(buf_str(&records), (size_t)at, records.n), NULL) >=
              0);
        CHECK(part.is_over && str_eq(buf_str(&t.text), buf_str(&whole)));
        buf_fini(&t.text);
    }
    for (size_t at = 0; at < records.n; at++) { /* anything but a crash and a false path */
        struct seen t = { .text = BUF_INIT(1 << 20) };
        struct layer_wire_in part = { .ops = &ops, .arg = &t, .max_bytes = 1 << 20 };
        records.p[at] ^= 0x2f;
        (void)layer_wire_add(&part, buf_str(&records), NULL);
        records.p[at] ^= 0x2f;
        CHECK(str_find(buf_str(&t.text), STR("'../")) != 0);
        buf_fini(&t.text);
    }
    buf_fini(&records), buf_fini(&whole), buf_fini(&s.text);
}

/* What the parser never sends: the entry as a record, and what the decoder says of it. */
static int take_one(const struct layer_ops *from, const struct oci_entry *e, uint64_t max_bytes)
{
    struct seen s = { .text = BUF_INIT(1 << 20) };
    struct layer_wire_in in = { .ops = &ops, .arg = &s, .max_bytes = max_bytes };
    struct layer_wire_out *out = xnew(struct layer_wire_out);
    const struct oci_entry second = { .path = STR("second"), .type = TAR_FILE, .size = e->size };
    out->fd = -1; /* all of it stays in the buffer */
    CHECK_OK(from->entry(out, e, NULL));
    for (uint64_t i = 0; e->type == TAR_FILE && i < e->size && i < 4; i++)
        CHECK_OK(from->data(out, STR("x"), NULL));
    if (e->size > 4)
        CHECK_OK(from->hole(out, e->size - 4, NULL));
    CHECK_OK(from->entry(out, &second, NULL));
    ptrdiff_t r = layer_wire_add(&in, str_n(out->buffer, out->n), NULL);
    CHECK(r < 0 || (size_t)r == out->n);
    free(out);
    buf_fini(&s.text);
    return r < 0 ? (int)r : 0;
}

TEST(a_child_cannot_say_what_the_parser_would_not)
{
    struct tar_xattr x = { STR("user.a"), STR("v") };
    struct oci_entry e = { .path = STR("d"), .type = TAR_DIR, .xattrs = &x, .n_xattrs = 1 };
    CHECK_OK(take_one(&layer_wire_ops, &e, 100));
    x.name = STR("trusted.overlay.redirect");
    CHECK_ERR(take_one(&layer_wire_ops, &e, 100), E_PARSE);
    x.name = STR("user.overlay.opaque");
    CHECK_ERR(take_one(&layer_wire_ops, &e, 100), E_PARSE);
    e = (struct oci_entry){ .path = STR("d/.wh.f"), .type = TAR_FILE };
    CHECK_ERR(take_one(&layer_wire_ops, &e, 100), E_PARSE);
    e = (struct oci_entry){ .path = STR("f"), .type = TAR_FILE, .size = 4 };
    CHECK_OK(take_one(&layer_wire_ops, &e, 4));
    CHECK_ERR(take_one(&layer_wire_ops, &e, 3), E_PARSE); /* more content than the tar has */
    e.size = OCI_LAYER_CONTENT_MAX / 2;
    CHECK_OK(take_one(&layer_wire_ops, &e, 4));
    e.size++;
    CHECK_ERR(take_one(&layer_wire_ops, &e, 4), E_PARSE); /* of both entries together */
}

TEST(a_tar_ends_at_its_limit)
{
    static const struct layer_ops raw_ops = { on_entry, on_data, on_hole, on_whiteout, on_raw };
    struct seen s = { .text = BUF_INIT(1 << 20) };
    struct layer_wire_in in = { .ops = &raw_ops, .arg = &s, .max_bytes = 10 };
    struct layer_wire_out *out = xnew(struct layer_wire_out);
    out->fd = -1;
    CHECK_OK(layer_wire_raw_ops.raw(out, STR("0123456789"), NULL));
    size_t n = out->n;
    CHECK_INT(layer_wire_add(&in, str_n(out->buffer, n), NULL), n);
    CHECK_OK(layer_wire_raw_ops.raw(out, STR("x"), NULL));
    CHECK_ERR((int)layer_wire_add(&in, str_n(out->buffer + n, out->n - n), NULL), E_PARSE);
    free(out);
    buf_fini(&s.text);
}

TEST(records_of_nothing_are_refused)
{
    static const struct layer_ops raw_ops = { on_entry, on_data, on_hole, on_whiteout, on_raw };
    for (int i = 0; i < 4; i++) {
        struct seen s = { .text = BUF_INIT(1 << 20) };
        struct layer_wire_in in = { .ops = &raw_ops, .arg = &s, .max_bytes = 10 };
        struct layer_wire_out *out = xnew(struct layer_wire_out);
        out->fd = -1;
        CHECK_OK(i == 0   ? layer_wire_raw_ops.raw(out, STR(""), NULL)
                 : i == 1 ? layer_wire_ops.data(out, STR(""), NULL)
                 : i == 2 ? layer_wire_ops.hole(out, 0, NULL)
                          : layer_wire_raw_ops.raw(out, STR("x"), NULL));
        CHECK_ERR((int)MIN(layer_wire_add(&in, str_n(out->buffer, out->n), NULL), 0),
                  i < 3 ? E_PARSE : 0);
        CHECK_INT(s.n, i == 3);
        free(out);
        buf_fini(&s.text);
    }
}

/* ---- tables ---- */

static ssize_t read_tar(void *arg, void *p, size_t n, uint64_t offset)
{
    const struct buf *tar = arg;
    n = MIN(n, tar->n - (size_t)offset);
    memcpy(p, tar->p + offset, n);
    return (ssize_t)n;
}

/* The tree manifest of a layer of two files. */
static void make_tree(struct buf *tree, struct buf *tar)
{
    struct tar_kit k = { BUF_INIT(1 << 20) };
    struct err err = { 0 };
    struct buf frame = BUF_INIT(1 << 20);
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct layer_facts facts;
    struct layer_gather *g = layer_gather_new();
    kit_dir(&k, "usr/");
    kit_file(&k, "usr/one", "the first file");
    kit_file(&k, "usr/two", "the second file, another one");
    kit_end(&k);
    *tar = k.out;
    struct layer_parser *p = layer_parser_new(&layer_gather_ops, g, UINT64_MAX);
    CHECK_OK(layer_parser_add(p, buf_str(tar), &err));
    CHECK_OK(layer_parser_end(p, &facts, &err));
    CHECK_OK(layer_gather_end(g, &facts, &layer, &err));
    CHECK_OK(oci_skeleton_pack(layer, read_tar, tar, OCI_TREE_LEVEL, &frame, &err));
    CHECK_OK(oci_tree_manifest_write(&(struct oci_tree_source){ layer, buf_str(&frame) }, 1, tree,
                                     &err));
    layer_parser_free(p);
    layer_gather_free(g);
    buf_fini(&frame);
}

TEST(a_table_is_read_in_a_process_of_its_own)
{
    struct buf tree = BUF_INIT(1 << 20), tar, flat = BUF_INIT(1 << 20), here = BUF_INIT(1 << 20);
    struct oci_table_tree read;
    uint64_t held = 0;
    struct err err = { 0 };
    make_tree(&tree, &tar);
    struct oci_table t = { .kind = OCI_TABLE_TREE, .bytes = buf_str(&tree) };
    struct oci_table_reader *reader = oci_table_reader_new(&layer_child_reading, NULL, NULL);
    for (int i = 0; i < 2; i++) { /* the second one by the same process */
        flat.n = 0;
        if (oci_table_read(reader, &t, &flat, &held, &err) < 0)
            TEST_FAIL("%s", err_text(&err));
    }
    oci_table_reader_free(reader);
    reader = oci_table_reader_new(NULL, NULL, NULL);
    CHECK_OK(oci_table_read(reader, &t, &here, &held, &err));
    oci_table_reader_free(reader);
    CHECK(str_eq(buf_str(&flat), buf_str(&here)));
    CHECK_OK(oci_table_tree(buf_str(&flat), &read, &err));
    CHECK_INT(read.skeleton.n_parts, 2);
    CHECK_INT(read.skeleton.tar_bytes, tar.n);
    CHECK_STR(read.files[1].path, "usr/two");
    CHECK_INT(read.files[1].size, strlen("the second file, another one"));
    oci_table_tree_fini(&read);
    for (size_t n = 0; n < flat.n; n += 7) /* a child that was taken over */
        CHECK_ERR(oci_table_tree(str_n(flat.p, n), &read, NULL), E_PARSE);
    buf_fini(&tree);
    buf_fini(&tar);
    buf_fini(&flat);
    buf_fini(&here);
}

TEST(the_layer_of_a_tree_manifest_is_read_in_a_process_of_its_own)
{
    struct buf tree = BUF_INIT(1 << 20), tar, flat = BUF_INIT(1 << 20);
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct err err = { 0 };
    void *process = NULL;
    make_tree(&tree, &tar);
    struct oci_table t = { .kind = OCI_TABLE_LAYER, .bytes = buf_str(&tree) };
    if (layer_child_reading.table(NULL, &process, &t, NULL, &flat, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK(process);
    layer_child_reading.end_tables(process);
    CHECK_OK(oci_table_layer(buf_str(&flat), &layer, &err));
    CHECK_INT(layer->entries.n, 3);
    CHECK_STR(layer->entries.p[2].path, "usr/two");
    CHECK_INT(layer->n_bytes, tar.n);
    for (size_t n = 0; n < flat.n; n += 7) {
        struct oci_layer *none;
        CHECK_ERR(oci_table_layer(str_n(flat.p, n), &none, NULL), E_PARSE);
    }
    buf_fini(&tree);
    buf_fini(&tar);
    buf_fini(&flat);
}

TEST(a_table_that_is_damaged_or_ends_its_reader_is_an_error)
{
    struct buf tree = BUF_INIT(1 << 20), tar, flat = BUF_INIT(1 << 20);
    struct err err = { 0 };
    make_tree(&tree, &tar);
    tree.p[tree.n / 2] ^= 1;
    struct oci_table t = { .kind = OCI_TABLE_TREE, .bytes = buf_str(&tree) };
    void *process = NULL;
    CHECK_ERR(layer_child_reading.table(NULL, &process, &t, NULL, &flat, &err), E_CORRUPT);
    CHECK(!process);
    CHECK(strstr(err_text(&err), "its checksum is wrong"));
    const struct layer_read_opts other = { .program = "/bin/true" };
    (void)signal(SIGPIPE, SIG_IGN);
    CHECK_ERR(layer_child_reading.table((void *)&other, &process, &t, NULL, &flat, &err), E_PARSE);
    CHECK_STR(str_of(err_text(&err)), "the reader of a table ended early");
    t.kind = OCI_TABLE_ESTARGZ;
    CHECK_ERR(layer_child_reading.table(NULL, &process, &t, NULL, &flat, &err), E_PARSE);
    CHECK_INT(flat.n, 0);
    /* After an error another process reads the next one. */
    tree.p[tree.n / 2] ^= 1;
    t.kind = OCI_TABLE_TREE;
    CHECK_OK(layer_child_reading.table(NULL, &process, &t, NULL, &flat, &err));
    CHECK(process);
    layer_child_reading.end_tables(process);
    buf_fini(&tree);
    buf_fini(&tar);
    buf_fini(&flat);
}

/* A script that is started as the child: it notes each start, and then does what `body` says, in
 * which $SELF is this program. */
struct script {
    char dir[64], program[96], starts[96], asked[96];
    struct layer_read_opts opts;
};

static void make_script(struct script *s, const char *body)
{
    char self[512], text[1024];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(n > 0);
    self[n] = 0;
    (void)snprintf(s->dir, sizeof s->dir, "/tmp/dm-table-XXXXXX");
    CHECK(mkdtemp(s->dir));
    (void)snprintf(s->program, sizeof s->program, "%s/program", s->dir);
    (void)snprintf(s->starts, sizeof s->starts, "%s/starts", s->dir);
    (void)snprintf(s->asked, sizeof s->asked, "%s/asked", s->dir);
    int length = snprintf(text, sizeof text, "#!/bin/sh\nSELF='%s'\necho >>'%s'\n%s\n", self,
                          s->starts, body);
    CHECK(length > 0 && (size_t)length < sizeof text);
    int fd = open(s->program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    CHECK(fd >= 0 && write(fd, text, (size_t)length) == length && close(fd) == 0);
    s->opts = (struct layer_read_opts){ .program = s->program };
}

static void remove_script(struct script *s)
{
    (void)unlink(s->program);
    (void)unlink(s->starts);
    (void)unlink(s->asked);
    (void)rmdir(s->dir);
}

static off_t n_starts(const struct script *s)
{
    struct stat st;
    return stat(s->starts, &st) < 0 ? 0 : st.st_size;
}

struct table_thread {
    struct oci_table_reader *reader;
    const struct oci_table *table;
    struct buf flat;
    uint64_t held;
    struct err err;
    int r;
    pid_t id;
};

static void *read_table(void *arg)
{
    struct table_thread *t = arg;
    t->id = gettid();
    t->flat = BUF_INIT(1 << 20);
    t->r = oci_table_read(t->reader, t->table, &t->flat, &t->held, &t->err);
    return NULL;
}

/* Afterwards the kernel has done what it does when a thread ends. */
static void join_and_wait(pthread_t thread, const struct table_thread *t)
{
    char path[64];
    CHECK_INT(pthread_join(thread, NULL), 0);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d", (int)t->id);
    while (access(path, F_OK) == 0)
        (void)sched_yield();
}

TEST(a_reader_that_cannot_be_confined_says_nothing_of_a_table)
{
    struct buf tree = BUF_INIT(1 << 20), tar, flat = BUF_INIT(1 << 20);
    struct script s;
    struct err err = { 0 };
    void *process = NULL;
    if (HAS_SANITIZER || geteuid() != 0)
        SKIP("it is not confined here, or mounts take root");
    make_tree(&tree, &tar);
    make_script(&s, "exec unshare -m sh -c 'mount -t tmpfs none /dev; exec \"$0\" \"$@\"' "
                    "\"$SELF\" \"$@\""); /* without /dev/null */
    const struct oci_table t = { .kind = OCI_TABLE_TREE, .bytes = buf_str(&tree) };
    CHECK_ERR(layer_child_reading.table(&s.opts, &process, &t, NULL, &flat, &err), -EIO);
    CHECK(strstr(err_text(&err), "/dev/null"));
    layer_child_reading.end_tables(process);
    remove_script(&s);
    buf_fini(&tree);
    buf_fini(&tar);
    buf_fini(&flat);
}

TEST(the_reader_of_tables_outlives_the_thread_that_started_it)
{
    struct buf tree = BUF_INIT(1 << 20), tar;
    struct script s;
    make_tree(&tree, &tar);
    make_script(&s, "exec \"$SELF\" \"$@\"");
    const struct oci_table table = { .kind = OCI_TABLE_TREE, .bytes = buf_str(&tree) };
    struct oci_table_reader *reader = oci_table_reader_new(&layer_child_reading, &s.opts, NULL);
    for (int i = 0; i < 3; i++) {
        struct table_thread t = { .reader = reader, .table = &table };
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, read_table, &t), 0);
        join_and_wait(thread, &t);
        if (t.r < 0)
            TEST_FAIL("%s", err_text(&t.err));
        CHECK_INT(n_starts(&s), 1);
        buf_fini(&t.flat);
    }
    oci_table_reader_free(reader);
    remove_script(&s);
    buf_fini(&tree);
    buf_fini(&tar);
}

/* As that of a process that was killed. */
TEST(the_reader_of_tables_ends_with_its_input)
{
    char name[] = "dormouse", word[] = LAYER_CHILD_WORD, table[] = TABLE_CHILD_WORD;
    char *argv[] = { name, word, table, NULL }, *envp[] = { NULL };
    int in[2], status = 0;
    CHECK_OK(pipe2(in, O_CLOEXEC));
    const int fds[] = { in[0], -1, STDERR_FILENO };
    const struct confine_child child = {
        .path = "/proc/self/exe", .argv = argv, .envp = envp, .fds = fds, .n_fds = ARRAY_LEN(fds)
    };
    struct err err = { 0 };
    int pid = confine_spawn(&child, &err);
    CHECK(pid > 0 && close(in[0]) == 0 && close(in[1]) == 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(another_process_reads_on_where_that_of_earlier_tables_is_dead)
{
    struct buf tree = BUF_INIT(1 << 20), tar;
    struct script s;
    char body[128];
    make_tree(&tree, &tar);
    size_t request = 8 + OCI_TABLE_HEAD_BYTES + tree.n; /* it ends after one */
    (void)snprintf(body, sizeof body, "head -c %zu | \"$SELF\" \"$@\"", request);
    make_script(&s, body);
    const struct oci_table table = { .kind = OCI_TABLE_TREE, .bytes = buf_str(&tree) };
    struct oci_table_reader *reader = oci_table_reader_new(&layer_child_reading, &s.opts, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 3; i++) {
        struct table_thread t = { .reader = reader, .table = &table };
        (void)read_table(&t);
        if (t.r < 0)
            TEST_FAIL("%s", err_text(&t.err));
        CHECK_INT(n_starts(&s), i + 1);
        buf_fini(&t.flat);
    }
    oci_table_reader_free(reader);
    remove_script(&s);
    buf_fini(&tree);
    buf_fini(&tar);
}

/* What the kernel kills is not what a table has harmed. */
TEST(how_the_reader_of_a_table_ended_says_whether_the_table_is_wrong)
{
    static const struct {
        const char *body;
        int want;
    } ends[] = {
        { "ulimit -t 1; while :; do :; done", -ENOMEM }, /* too much processor time */
        { "exit 0", E_PARSE },
        { "exec cat >/dev/null", E_PARSE }, /* it ends its output, and stays */
    };
    struct buf flat = BUF_INIT(1 << 20);
    uint64_t held = 0;
    const struct oci_table table = { .kind = OCI_TABLE_TREE, .bytes = STR("a table") };
    (void)signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct script s;
        struct err err = { 0 };
        make_script(&s, ends[i].body);
        struct oci_table_reader *reader = oci_table_reader_new(&layer_child_reading, &s.opts, NULL);
        CHECK_ERR(oci_table_read(reader, &table, &flat, &held, &err), ends[i].want);
        CHECK_INT(n_starts(&s), 1);
        oci_table_reader_free(reader);
        remove_script(&s);
    }
    CHECK_INT(flat.n, 0);
    buf_fini(&flat);
}

static size_t given_bytes, given_files; /* by the next one */

/* A tree of so many files, with nothing in it. */
static int give_bytes(void *arg, void **process, const struct oci_table *t, const atomic_bool *stop,
                      struct buf *to, struct err *err)
{
    char *room;
    (void)arg, (void)process, (void)t, (void)stop;
    int r = buf_reserve(to, given_bytes, &room);
    if (r < 0)
        return err_sys(err, r, "table");
    memset(room, 0, SHA256_BYTES + 16);
    for (int i = 0; i < 8; i++)
        room[SHA256_BYTES + 8 + i] = (char)(given_files >> 8 * i);
    buf_advance(to, given_bytes);
    return 0;
}

static void end_nothing(void *process)
{
    (void)process;
}

TEST(tables_that_are_held_at_once_are_bounded_together)
{
    static const struct layer_reading_ops giving = { .table = give_bytes,
                                                     .end_tables = end_nothing };
    enum { MIB = 1 << 20 };
    struct oci_table_reader *reader = oci_table_reader_new(&giving, NULL, NULL);
    const struct oci_table t = { .kind = OCI_TABLE_TREE };
    struct buf flat[3] = { BUF_INIT(OCI_TABLE_FLAT_MAX), BUF_INIT(OCI_TABLE_FLAT_MAX),
                           BUF_INIT(OCI_TABLE_FLAT_MAX) };
    uint64_t held[3] = { 0 };
    struct err err = { 0 };
    given_bytes = 300 * MIB;
    CHECK_OK(oci_table_read(reader, &t, &flat[0], &held[0], &err));
    CHECK_INT(held[0], given_bytes);
    CHECK_ERR(oci_table_read(reader, &t, &flat[1], &held[1], &err), -ENOMEM);
    CHECK(strstr(err_text(&err), "too much memory"));
    CHECK_INT(held[1], 0);
    given_bytes = 150 * MIB; /* which would do, but for the list of its files */
    given_files = 2 * MIB;
    CHECK_ERR(oci_table_read(reader, &t, &flat[2], &held[2], &err), -ENOMEM);
    oci_table_give_back(reader, held[0]);
    buf_reset(&flat[2]);
    CHECK_OK(oci_table_read(reader, &t, &flat[2], &held[2], &err));
    CHECK_INT(held[2], given_bytes + given_files * sizeof(struct oci_table_file));
    oci_table_give_back(reader, held[2]);
    for (size_t i = 0; i < ARRAY_LEN(flat); i++)
        buf_fini(&flat[i]);
    oci_table_reader_free(reader);
    given_files = 0;
}

TEST(a_table_has_no_more_files_than_a_layer_in_memory)
{
    struct oci_table_tree tree;
    struct buf flat = BUF_INIT(1 << 10);
    given_bytes = SHA256_BYTES + 16;
    given_files = OCI_TABLE_FILES_MAX;
    CHECK_OK(give_bytes(NULL, NULL, NULL, NULL, &flat, NULL));
    CHECK_ERR(oci_table_tree(buf_str(&flat), &tree, NULL), E_PARSE); /* it is cut short */
    buf_reset(&flat);
    given_files++;
    CHECK_OK(give_bytes(NULL, NULL, NULL, NULL, &flat, NULL));
    CHECK_ERR(oci_table_tree(buf_str(&flat), &tree, NULL), E_LIMIT);
    given_files = 0;
    buf_fini(&flat);
}

static int stall(void *arg, void **process, const struct oci_table *t, const atomic_bool *stop,
                 struct buf *to, struct err *err)
{
    size_t *n = arg;
    (void)process, (void)t, (void)stop, (void)to;
    ++*n;
    return err_set(err, -ETIMEDOUT, "it takes too long");
}

TEST(a_reader_of_tables_that_stalled_is_not_asked_again)
{
    static const struct layer_reading_ops stalling = { .table = stall, .end_tables = end_nothing };
    size_t n = 0;
    uint64_t held = 0;
    const struct oci_table t = { .kind = OCI_TABLE_TREE };
    struct buf flat = BUF_INIT(1 << 10);
    struct oci_table_reader *reader = oci_table_reader_new(&stalling, &n, NULL);
    CHECK(!oci_table_reader_has_stalled(reader));
    CHECK_ERR(oci_table_read(reader, &t, &flat, &held, NULL), -ETIMEDOUT);
    CHECK(oci_table_reader_has_stalled(reader));
    CHECK_ERR(oci_table_read(reader, &t, &flat, &held, NULL), E_UNSUPPORTED);
    CHECK_INT(n, 1);
    oci_table_reader_free(reader);
    buf_fini(&flat);
}

struct stopping {
    const char *asked;
    atomic_bool stop;
};

/* Stop once the child runs. */
static void *stop_when_asked(void *arg)
{
    struct stopping *s = arg;
    int fd = open(s->asked, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && close(fd) == 0);
    atomic_store(&s->stop, true);
    return NULL;
}

TEST(a_pull_that_stops_does_not_wait_for_a_table)
{
    struct script s;
    pthread_t thread;
    uint64_t held = 0;
    struct buf flat = BUF_INIT(1 << 10);
    const struct oci_table t = { .kind = OCI_TABLE_TREE, .bytes = STR("a table") };
    make_script(&s, ": >\"${0%/*}/asked\"; cat >/dev/null; exit 1"); /* and no answer */
    CHECK_OK(mkfifo(s.asked, 0600));
    struct stopping stopping = { .asked = s.asked };
    CHECK_INT(pthread_create(&thread, NULL, stop_when_asked, &stopping), 0);
    struct oci_table_reader *reader =
        oci_table_reader_new(&layer_child_reading, &s.opts, &stopping.stop);
    CHECK_ERR(oci_table_read(reader, &t, &flat, &held, NULL), -ECANCELED);
    CHECK_ERR(oci_table_read(reader, &t, &flat, &held, NULL), -ECANCELED);
    CHECK_INT(n_starts(&s), 1);
    CHECK_INT(pthread_join(thread, NULL), 0);
    oci_table_reader_free(reader);
    remove_script(&s);
    buf_fini(&flat);
}

TEST_MAIN
