/* SPDX-License-Identifier: Apache-2.0 */
#include "image/snapshot_call.h"

#include "snapshot_wire.pb-c.h"

#include <errno.h>

#define SERVICE "/containerd.services.snapshots.v1.Snapshots/"

const char *snapshot_call_path(enum snapshot_method method)
{
    static const char *const paths[] = {
#define SNAPSHOT_METHOD(name, word) [SNAPSHOT_CALL_##name] = SERVICE word,
        SNAPSHOT_METHODS(SNAPSHOT_METHOD)
#undef SNAPSHOT_METHOD
    };
    return paths[method];
}

/* ---- requests ---- */

static struct str bytes_of(const ProtobufCBinaryData *b)
{
    return b->len ? str_n(b->data, b->len) : STR("");
}

static struct str copy(struct snapshot_call *c, const ProtobufCBinaryData *b)
{
    return str_copy_arena(&c->memory, bytes_of(b));
}

static void *unpack(const ProtobufCMessageDescriptor *type, struct str bytes, struct err *err)
{
    void *m = protobuf_c_message_unpack(type, NULL, bytes.n, (const uint8_t *)bytes.p);
    if (!m)
        (void)err_set(err, E_PARSE, "no message of the kind that the call takes");
    return m;
}

static void message_free(void *m)
{
    ProtobufCMessage **at = m;
    protobuf_c_message_free_unpacked(*at, NULL);
}

static int add_label(struct snapshot_call *c, size_t max, const SnapshotWire__Label *l,
                     struct err *err)
{
    if (c->n_labels == max)
        return err_set(err, E_INVALID, "more than %zu labels", max);
    c->labels[c->n_labels++] = (struct snapshot_label){ copy(c, &l->key), copy(c, &l->value) };
    return 0;
}

#define COPY_LABELS(c, m, err)                                                                     \
    do {                                                                                           \
        size_t max_ = SNAPSHOT_LABELS_MAX;                                                         \
        (c)->labels = arena_new_n(&(c)->memory, struct snapshot_label, max_);                      \
        for (size_t i_ = 0; i_ < (m)->n_labels && r >= 0; i_++)                                    \
            r = add_label((c), max_, (m)->labels[i_], (err));                                      \
    } while (0)

static int read_key(struct snapshot_call *c, struct str bytes, struct err *err)
{
    int r = 0;
    scoped(message_free) SnapshotWire__Request *m =
        unpack(&snapshot_wire__request__descriptor, bytes, err);
    if (!m)
        return E_PARSE;
    c->key = copy(c, &m->key);
    c->parent = copy(c, &m->parent);
    COPY_LABELS(c, m, err);
    return r;
}

static int read_commit(struct snapshot_call *c, struct str bytes, struct err *err)
{
    int r = 0;
    scoped(message_free) SnapshotWire__CommitRequest *m =
        unpack(&snapshot_wire__commit_request__descriptor, bytes, err);
    if (!m)
        return E_PARSE;
    c->key = copy(c, &m->key);
    c->name = copy(c, &m->name);
    c->parent = copy(c, &m->parent);
    COPY_LABELS(c, m, err);
    return r;
}

static int read_update(struct snapshot_call *c, struct str bytes, struct err *err)
{
    int r = 0;
    scoped(message_free) SnapshotWire__UpdateRequest *m =
        unpack(&snapshot_wire__update_request__descriptor, bytes, err);
    if (!m)
        return E_PARSE;
    size_t n = m->mask ? m->mask->n_paths : 0;
    if (!m->info || n > SNAPSHOT_LABELS_MAX)
        return err_set(err, E_INVALID, "an update of no snapshot, or of too many fields");
    c->key = copy(c, &m->info->name);
    COPY_LABELS(c, m->info, err);
    c->paths = arena_new_n(&c->memory, struct str, n + 1);
    c->n_paths = n;
    for (size_t i = 0; i < n; i++)
        c->paths[i] = copy(c, &m->mask->paths[i]);
    return r;
}

static int read_list(struct snapshot_call *c, struct str bytes, struct err *err)
{
    struct str texts[SNAPSHOT_FILTERS_MAX];
    scoped(message_free) SnapshotWire__ListRequest *m =
        unpack(&snapshot_wire__list_request__descriptor, bytes, err);
    if (!m)
        return E_PARSE;
    if (m->n_filters > SNAPSHOT_FILTERS_MAX)
        return err_set(err, E_INVALID, "more than %d filters", SNAPSHOT_FILTERS_MAX);
    for (size_t i = 0; i < m->n_filters; i++)
        texts[i] = bytes_of(&m->filters[i]);
    return snapshot_filter_new(texts, m->n_filters, &c->filter, err);
}

static int read_one(struct snapshot_call *c, struct str bytes, struct err *err)
{
    switch (c->method) {
    case SNAPSHOT_CALL_COMMIT:
        return read_commit(c, bytes, err);
    case SNAPSHOT_CALL_UPDATE:
        return read_update(c, bytes, err);
    case SNAPSHOT_CALL_LIST:
        return read_list(c, bytes, err);
    case SNAPSHOT_CALL_CLEANUP:
    case SNAPSHOT_METHOD_COUNT:
        return 0;
    case SNAPSHOT_CALL_PREPARE:
    case SNAPSHOT_CALL_VIEW:
    case SNAPSHOT_CALL_MOUNTS:
    case SNAPSHOT_CALL_REMOVE:
    case SNAPSHOT_CALL_STAT:
    case SNAPSHOT_CALL_USAGE:
        break;
    }
    return read_key(c, bytes, err);
}

int snapshot_call_read(enum snapshot_method method, struct str bytes, struct snapshot_call *ret,
                       struct err *err)
{
    struct snapshot_call c = { .method = method, .after = BUF_INIT(SNAPSHOT_NAME_MAX) };
    int r = bytes.n > SNAPSHOT_CALL_MAX ? err_set(err, E_LIMIT, "the request is too large")
                                        : read_one(&c, bytes, err);
    if (r < 0)
        snapshot_call_fini(&c);
    else
        *ret = c;
    return r;
}

void snapshot_call_fini(struct snapshot_call *c)
{
    snapshot_filter_free(c->filter);
    buf_fini(&c->after);
    arena_fini(&c->memory);
    *c = (struct snapshot_call){ 0 };
}

bool snapshot_call_label(const struct snapshot_call *c, const char *key, struct str *ret)
{
    for (size_t i = 0; i < c->n_labels; i++)
        if (str_is(c->labels[i].key, key)) {
            *ret = c->labels[i].value;
            return true;
        }
    return false;
}

/* ---- answers ---- */

static int add_message(struct buf *to, const ProtobufCMessage *m, struct err *err)
{
    char *at;
    size_t n = protobuf_c_message_get_packed_size(m);
    if (n > SNAPSHOT_ANSWER_MAX || buf_add_le32(to, (uint32_t)n) < 0 || buf_reserve(to, n, &at) < 0)
        return err_set(err, E_LIMIT, "the answer is too large");
    buf_advance(to, protobuf_c_message_pack(m, (uint8_t *)at));
    return 0;
}

static int add_empty(struct buf *to, struct err *err)
{
    return buf_add_le32(to, 0) < 0 ? err_set(err, E_LIMIT, "the answer is too large") : 0;
}

static ProtobufCBinaryData bytes(struct arena *a, struct str s)
{
    return (ProtobufCBinaryData){ .len = s.n, .data = (uint8_t *)str_dup_arena(a, s) };
}

static SnapshotWire__Time *time_of(struct arena *a, int64_t wall_us)
{
    SnapshotWire__Time *t = arena_new(a, SnapshotWire__Time);
    snapshot_wire__time__init(t);
    t->seconds = wall_us / 1000000;
    t->nanos = (int32_t)(wall_us % 1000000) * 1000;
    return t;
}

static SnapshotWire__Info *info_message(struct arena *a, struct str name, struct str parent,
                                        enum snapshot_kind kind, int64_t created_us,
                                        int64_t updated_us, const struct snapshot_label *labels,
                                        size_t n_labels)
{
    SnapshotWire__Info *m = arena_new(a, SnapshotWire__Info);
    snapshot_wire__info__init(m);
    m->name = bytes(a, name);
    m->parent = bytes(a, parent);
    m->kind = (int32_t)kind;
    m->created_at = time_of(a, created_us);
    m->updated_at = time_of(a, updated_us);
    m->n_labels = n_labels;
    m->labels = arena_new_n(a, SnapshotWire__Label *, n_labels + 1);
    for (size_t i = 0; i < n_labels; i++) {
        m->labels[i] = arena_new(a, SnapshotWire__Label);
        snapshot_wire__label__init(m->labels[i]);
        m->labels[i]->key = bytes(a, labels[i].key);
        m->labels[i]->value = bytes(a, labels[i].value);
    }
    return m;
}

static int answer_info(struct buf *to, const struct snapshot_info *info, struct err *err)
{
    struct arena a = { 0 };
    SnapshotWire__OneInfo m = SNAPSHOT_WIRE__ONE_INFO__INIT;
    m.info = info_message(&a, info->name, info->parent, info->kind, info->created_wall_us,
                          info->updated_wall_us, info->labels, info->n_labels);
    int r = add_message(to, &m.base, err);
    arena_fini(&a);
    return r;
}

static int answer_mount(struct buf *to, struct snapshotter_mount *mount, struct err *err)
{
    SnapshotWire__Mounts all = SNAPSHOT_WIRE__MOUNTS__INIT;
    SnapshotWire__Mount m = SNAPSHOT_WIRE__MOUNT__INIT, *at = &m;
    m.type = (char *)mount->type;
    m.source = mount->source;
    m.options = mount->options;
    m.n_options = mount->n_options;
    all.mounts = &at;
    all.n_mounts = 1;
    return add_message(to, &all.base, err);
}

/* ---- carrying it out ---- */

static int run_prepare(struct snapshotter *s, const struct snapshot_call *c, struct buf *answer,
                       struct oci_digest *ret_layer, struct err *err)
{
    struct snapshotter_mount mount = { 0 };
    const struct snapshotter_request req = {
        .key = c->key,
        .parent = c->parent,
        .kind = c->method == SNAPSHOT_CALL_VIEW ? SNAPSHOT_VIEW : SNAPSHOT_ACTIVE,
        .labels = c->labels,
        .n_labels = c->n_labels,
        .is_plain = c->is_plain,
    };
    int r = snapshotter_prepare(s, &req, &mount, ret_layer, err);
    if (r == SNAPSHOTTER_MADE)
        r = answer_mount(answer, &mount, err);
    snapshotter_mount_fini(&mount);
    return r;
}

static int run_mounts(struct snapshotter *s, const struct snapshot_call *c, struct buf *answer,
                      struct err *err)
{
    struct snapshotter_mount mount = { 0 };
    int r = snapshotter_mounts(s, c->key, &mount, err);
    r = r < 0 ? r : answer_mount(answer, &mount, err);
    snapshotter_mount_fini(&mount);
    return r;
}

static int run_info(struct snapshotter *s, const struct snapshot_call *c, struct buf *answer,
                    struct err *err)
{
    struct arena a = { 0 };
    struct snapshot_info info;
    int r = c->method == SNAPSHOT_CALL_STAT
                ? snapshotter_stat(s, c->key, &a, &info, err)
                : snapshotter_label(s, c->key, c->labels, c->n_labels, c->paths, c->n_paths, &a,
                                    &info, err);
    r = r < 0 ? r : answer_info(answer, &info, err);
    arena_fini(&a);
    return r;
}

struct snapshot_listing {
    struct snapshot_call *c;
    struct buf *to;
    struct arena memory; /* of the batch */
    SnapshotWire__Info *batch[SNAPSHOT_LIST_BATCH];
    size_t n, n_bytes;
    struct err *err;
};

static int end_batch(struct snapshot_listing *l)
{
    SnapshotWire__Infos m = SNAPSHOT_WIRE__INFOS__INIT;
    m.info = l->batch;
    m.n_info = l->n;
    int r = l->n ? add_message(l->to, &m.base, l->err) : 0;
    l->n = l->n_bytes = 0;
    arena_reset(&l->memory);
    return r;
}

static int add_to_batch(struct snapshot_listing *l, const struct snapshot_event *e)
{
    SnapshotWire__Info *m = info_message(&l->memory, e->name, e->parent, e->kind,
                                         e->created_wall_us, e->wall_us, e->labels, e->n_labels);
    l->batch[l->n++] = m;
    l->n_bytes += protobuf_c_message_get_packed_size(&m->base);
    return l->n == SNAPSHOT_LIST_BATCH || l->n_bytes >= SNAPSHOT_LIST_BYTES ? end_batch(l) : 0;
}

/* SNAPSHOTTER_MORE: the part is full. */
static int list_one(void *arg, const struct snapshot_event *e)
{
    struct snapshot_listing *l = arg;
    int r = snapshot_filter_matches(l->c->filter, e) ? add_to_batch(l, e) : 0;
    if (r < 0)
        return r;
    buf_reset(&l->c->after);
    (void)buf_add_str(&l->c->after, e->name);
    return l->to->n >= 2 * SNAPSHOT_LIST_BYTES ? SNAPSHOTTER_MORE : 0;
}

static int run_list(struct snapshotter *s, struct snapshot_call *c, struct buf *answer,
                    struct err *err)
{
    struct snapshot_listing l = { .c = c, .to = answer, .err = err };
    size_t n = SNAPSHOT_LIST_PICK;
    int r = 0;
    while (r == 0 && n == SNAPSHOT_LIST_PICK)
        r = snapshotter_after(s, buf_str(&c->after), SNAPSHOT_LIST_PICK, list_one, &l, &n);
    int last = r < 0 ? r : end_batch(&l);
    arena_fini(&l.memory);
    return last < 0 ? last : r;
}

/* Whiteouts that were unpacked without the parent are lost: an overlay over it would show what they
 * hide. */
static int run_commit(struct snapshotter *s, const struct snapshot_call *c, struct err *err)
{
    return c->parent.n ? err_set(err, E_UNSUPPORTED,
                                 "a snapshot gets its parent when it is prepared: this "
                                 "snapshotter has no capability 'rebase'")
                       : snapshotter_commit(s, c->name, c->key, c->labels, c->n_labels, err);
}

static int run_usage(struct snapshotter *s, const struct snapshot_call *c, struct buf *answer,
                     struct err *err)
{
    uint64_t n_bytes = 0, n_inodes = 0;
    SnapshotWire__Usage m = SNAPSHOT_WIRE__USAGE__INIT;
    int r = snapshotter_usage(s, c->key, &n_bytes, &n_inodes, err);
    m.size = (int64_t)MIN(n_bytes, (uint64_t)INT64_MAX);
    m.inodes = (int64_t)MIN(n_inodes, (uint64_t)INT64_MAX);
    return r < 0 ? r : add_message(answer, &m.base, err);
}

/* Whether it reads or removes a tree of files, which may have any size. */
static bool walks(struct snapshotter *s, const struct snapshot_call *c)
{
    struct arena a = { 0 };
    struct snapshot_info info;
    if (c->method != SNAPSHOT_CALL_USAGE)
        return c->method == SNAPSHOT_CALL_COMMIT || c->method == SNAPSHOT_CALL_REMOVE ||
               c->method == SNAPSHOT_CALL_CLEANUP;
    bool is_measured =
        snapshotter_stat(s, c->key, &a, &info, NULL) >= 0 && info.kind != SNAPSHOT_COMMITTED;
    arena_fini(&a);
    return is_measured;
}

int snapshot_call_run(struct snapshotter *s, struct snapshot_call *c, struct buf *answer,
                      struct oci_digest *ret_layer, struct err *err)
{
    int r = 0;
    if (!c->may_walk && walks(s, c))
        return SNAPSHOTTER_WANTS_WALK;
    switch (c->method) {
    case SNAPSHOT_CALL_PREPARE:
    case SNAPSHOT_CALL_VIEW:
        return run_prepare(s, c, answer, ret_layer, err);
    case SNAPSHOT_CALL_MOUNTS:
        return run_mounts(s, c, answer, err);
    case SNAPSHOT_CALL_STAT:
    case SNAPSHOT_CALL_UPDATE:
        return run_info(s, c, answer, err);
    case SNAPSHOT_CALL_LIST:
        return run_list(s, c, answer, err);
    case SNAPSHOT_CALL_USAGE:
        return run_usage(s, c, answer, err);
    case SNAPSHOT_CALL_COMMIT:
        r = run_commit(s, c, err);
        break;
    case SNAPSHOT_CALL_REMOVE:
        r = snapshotter_remove(s, c->key, err);
        break;
    case SNAPSHOT_CALL_CLEANUP:
        r = snapshotter_cleanup(s, err);
        break;
    case SNAPSHOT_METHOD_COUNT:
        return err_set(err, E_UNSUPPORTED, "no such call");
    }
    return r < 0 ? r : add_empty(answer, err);
}
