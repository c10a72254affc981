/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a snapshotter over its socket, many at once: works that several wait for, lists that
 * a client takes slowly, trees that take long, clients that go away.
 */
#include "image/layer_child.h"
#include "image/snapshot_server.h"
#include "io/grpc.h"
#include "snapshot_kit.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

static struct loop loop;
static struct timer guard;

static void on_guard(struct timer *t)
{
    (void)t;
    TEST_FAIL("waited in vain");
}

#define WAIT_FOR(cond)                                                                             \
    do {                                                                                           \
        timer_start(&loop, &guard, 120000, on_guard);                                              \
        while (!(cond))                                                                            \
            (void)loop_turn(&loop, true);                                                          \
        timer_stop(&loop, &guard);                                                                 \
    } while (0)

struct served {
    struct world w;
    struct oci_store *store;
    struct snapshotter *s;
    struct snapshot_server *server;
    struct http_client *client;
    bool is_closed;
};

static void served_open(struct served *v)
{
    struct err err = { 0 };
    char socket[2 * PATH_SIZE];
    *v = (struct served){ 0 };
    CHECK_OK(loop_init(&loop, &err));
    world_init(&v->w);
    const struct oci_store_opts opts = { .root = v->w.store, .is_reader = true };
    CHECK_OK(oci_store_open(&opts, &v->store, &err));
    const struct snapshotter_opts how = { .root = v->w.root,
                                          .store = v->store,
                                          .is_not_durable = true };
    CHECK_OK(snapshotter_open(&how, &v->s, &err));
    (void)snprintf(socket, sizeof socket, "%s/sock", v->w.dir);
    const struct snapshot_server_opts o = { .loop = &loop, .socket = socket, .snapshotter = v->s };
    CHECK_OK(snapshot_server_start(&o, &v->server, &err));
    const struct http_client_opts c = { .unix_path = socket, .http2 = true };
    CHECK_OK(http_client_new(&loop, &c, &v->client, &err));
}

static void on_closed(void *arg)
{
    bool *is_closed = arg;
    *is_closed = true;
}

static void served_close(struct served *v)
{
    http_client_close(v->client);
    snapshot_server_close(v->server, 0, on_closed, &v->is_closed);
    WAIT_FOR(v->is_closed);
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
    snapshotter_close(v->s);
    oci_store_close(v->store);
    world_fini(&v->w);
}

/* ---- calls ---- */

struct asked {
    struct grpc_call *call;
    bool has_ended;
    int code;
    unsigned n_messages;
    size_t n_bytes;
    struct buf names; /* of a list: "name\n" of each */
    unsigned *count;  /* of calls that have ended; NULL: not counted */
    unsigned place;   /* *count when it ended */
};

/* The first field of each field 1 of a message: the names of a list. */
static void add_names(struct buf *to, struct str message)
{
    while (message.n) {
        size_t n = 0, at = 1;
        for (unsigned shift = 0;; shift += 7) {
            uint8_t byte = (uint8_t)message.p[at++];
            n |= (size_t)(byte & 127) << shift;
            if (byte < 128)
                break;
        }
        struct str info = str_slice(message, at, at + n);
        CHECK_INT(info.p[0], 0x0a);
        CHECK_OK(buf_add_str(to, str_slice(info, 2, 2 + (size_t)(uint8_t)info.p[1])));
        CHECK_OK(buf_add_char(to, '\n'));
        message = str_slice(message, at + n, message.n);
    }
}

static void on_message(void *arg, struct str m)
{
    struct asked *a = arg;
    a->n_messages++;
    a->n_bytes += m.n;
    if (a->names.max)
        add_names(&a->names, m);
}

static void on_end(void *arg, const struct grpc_result *r)
{
    struct asked *a = arg;
    a->has_ended = true;
    a->code = r->code;
    a->call = NULL;
    if (a->count)
        a->place = (*a->count)++;
}

/* Texts of up to 127 bytes. */
static void add_field(struct buf *to, int number, struct str value)
{
    CHECK_OK(buf_add_u8(to, (uint8_t)(number << 3 | 2)));
    CHECK_OK(buf_add_u8(to, (uint8_t)value.n));
    CHECK_OK(buf_add_str(to, value));
}

static void ask(struct served *v, enum snapshot_method method, struct str request, struct asked *a)
{
    static const struct grpc_call_ops ops = { .on_message = on_message, .on_end = on_end };
    const struct grpc_call_opts opts = {
        .path = snapshot_call_path(method), .only = &request, .ops = &ops, .arg = a
    };
    CHECK_OK(grpc_call_start(v->client, &opts, &a->call, NULL));
}

static void ask_key(struct served *v, enum snapshot_method method, const char *key, struct asked *a)
{
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(1024);
    add_field(&request, 2, str_of(key));
    ask(v, method, buf_str(&request), a);
}

static int answer_of(struct served *v, enum snapshot_method method, const char *key)
{
    struct asked a = { 0 };
    ask_key(v, method, key, &a);
    WAIT_FOR(a.has_ended);
    return a.code;
}

static void ask_for_layer(struct served *v, const char *key, const char *chain, struct asked *a)
{
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(1024), label = BUF_INIT(1024);
    add_field(&label, 1, STR(SNAPSHOT_REF_LABEL));
    add_field(&label, 2, str_of(chain));
    add_field(&request, 2, str_of(key));
    add_field(&request, 4, buf_str(&label));
    ask(v, SNAPSHOT_CALL_PREPARE, buf_str(&request), a);
}

/* A snapshot made beside the server; *ret_dir: its directory, given. */
static void make(struct served *v, const char *key, struct str label, char **ret_dir)
{
    struct snapshotter_mount m = { 0 };
    struct oci_digest layer;
    /* Values have 4096 bytes with their keys. */
    struct snapshot_label labels[8];
    static const char *const names[8] = { "0", "1", "2", "3", "4", "5", "6", "7" };
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        labels[i] = (struct snapshot_label){ str_of(names[i]), label };
    const struct snapshotter_request req = { .key = str_of(key),
                                             .kind = SNAPSHOT_ACTIVE,
                                             .labels = labels,
                                             .n_labels = label.n ? ARRAY_LEN(labels) : 0 };
    CHECK_INT(snapshotter_prepare(v->s, &req, &m, &layer, NULL), SNAPSHOTTER_MADE);
    if (ret_dir)
        *ret_dir = xstrdup(m.source);
    snapshotter_mount_fini(&m);
}

/* ---- what it does ---- */

/* The result of a work is its thread's from the moment the thread begins. */
TEST(calls_for_one_layer_share_a_work_and_its_result)
{
    enum { CALLS = 16 };
    struct served v;
    struct asked calls[CALLS] = { 0 };
    unsigned count = 0;
    char key[8];
    served_open(&v);
    for (int i = 0; i < CALLS; i++) {
        calls[i].count = &count;
        (void)snprintf(key, sizeof key, "k%d", i);
        ask_for_layer(&v, key, v.w.chain_text[0], &calls[i]);
    }
    WAIT_FOR(count == CALLS);
    for (int i = 0; i < CALLS; i++)
        CHECK_INT(calls[i].code, GRPC_ALREADY_EXISTS);
    CHECK_INT(snapshotter_count(v.s), 1);
    served_close(&v);
}

TEST(a_layer_that_cannot_be_unpacked_is_left_to_all_who_waited)
{
    enum { CALLS = 6 };
    struct served v;
    struct asked calls[CALLS] = { 0 };
    unsigned count = 0;
    char key[8], path[2 * PATH_SIZE];
    served_open(&v);
    (void)snprintf(path, sizeof path, "%s/tmp", v.w.root); /* where layers are made */
    CHECK_OK(rmdir(path));
    for (int i = 0; i < CALLS; i++) {
        calls[i].count = &count;
        (void)snprintf(key, sizeof key, "k%d", i);
        ask_for_layer(&v, key, v.w.chain_text[0], &calls[i]);
    }
    WAIT_FOR(count == CALLS);
    for (int i = 0; i < CALLS; i++)
        CHECK(calls[i].code == GRPC_OK && calls[i].n_messages == 1);
    CHECK_INT(snapshotter_count(v.s), CALLS);
    CHECK_OK(mkdir(path, 0700));
    served_close(&v);
}

/* What was not sent yet is as it is then: the answer is not made in advance. */
TEST(a_list_goes_on_where_a_slow_client_takes_it)
{
    enum { SNAPSHOTS = 200 };
    struct served v;
    struct asked a = { .names = BUF_INIT(1 << 20) };
    char key[8], value[4000];
    memset(value, 'x', sizeof value);
    served_open(&v);
    for (int i = 0; i < SNAPSHOTS; i++) {
        (void)snprintf(key, sizeof key, "k%03d", i);
        make(&v, key, str_n(value, sizeof value), NULL);
    }
    ask(&v, SNAPSHOT_CALL_LIST, STR(""), &a);
    WAIT_FOR(a.n_messages);
    grpc_call_pause(a.call);
    CHECK_INT(answer_of(&v, SNAPSHOT_CALL_STAT, "k000"), GRPC_OK); /* other calls are answered */
    CHECK_OK(snapshotter_remove(v.s, STR("k199"), NULL));
    make(&v, "k198a", STR(""), NULL);
    make(&v, "a", STR(""), NULL); /* its place has been passed */
    grpc_call_resume(a.call);
    WAIT_FOR(a.has_ended);
    CHECK_INT(a.code, GRPC_OK);
    CHECK(a.n_bytes > (size_t)(SNAPSHOTS - 2) * 8 * sizeof value && a.n_messages > 30);
    struct str left = buf_str(&a.names), name;
    for (int i = 0; i < SNAPSHOTS - 1; i++) {
        (void)snprintf(key, sizeof key, "k%03d", i);
        CHECK(str_cut(left, '\n', &name, &left));
        CHECK_STR(name, key);
    }
    CHECK_STR(left, "k198a\n");
    buf_fini(&a.names);
    served_close(&v);
}

enum { TREES = 24, FILES = 800 };

static void fill(const char *dir)
{
    char path[512];
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(path, sizeof path, "%s/%d", dir, i);
        int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
        CHECK_OK(fd);
        (void)close(fd);
    }
}

static void make_trees(struct served *v)
{
    char key[8];
    for (int i = 0; i < TREES; i++) {
        char *dir;
        (void)snprintf(key, sizeof key, "t%d", i);
        make(v, key, STR(""), &dir);
        fill(dir);
        free(dir);
    }
}

/* libuv's pool has four threads: it took 20 of these removals to get to the call after them. */
TEST(trees_that_are_removed_hold_up_no_other_call)
{
    struct served v;
    struct asked removals[TREES] = { 0 }, look = { 0 };
    unsigned count = 0;
    char key[8];
    served_open(&v);
    make(&v, "other", STR(""), NULL);
    make_trees(&v);
    for (int i = 0; i < TREES; i++) {
        removals[i].count = &count;
        (void)snprintf(key, sizeof key, "t%d", i);
        ask_key(&v, SNAPSHOT_CALL_REMOVE, key, &removals[i]);
    }
    look.count = &count;
    ask_key(&v, SNAPSHOT_CALL_STAT, "other", &look);
    WAIT_FOR(count == TREES + 1);
    CHECK_INT(look.code, GRPC_OK);
    CHECK(look.place < TREES / 2);
    for (int i = 0; i < TREES; i++)
        CHECK_INT(removals[i].code, GRPC_OK);
    CHECK_INT(snapshotter_count(v.s), 1);
    served_close(&v);
}

TEST(a_commit_is_measured_while_trees_are_removed)
{
    struct served v;
    struct asked removals[TREES] = { 0 }, commit = { 0 };
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(64);
    unsigned count = 0;
    char key[8];
    served_open(&v);
    make(&v, "other", STR(""), NULL);
    make_trees(&v);
    for (int i = 0; i < TREES; i++) {
        removals[i].count = &count;
        (void)snprintf(key, sizeof key, "t%d", i);
        ask_key(&v, SNAPSHOT_CALL_REMOVE, key, &removals[i]);
    }
    commit.count = &count;
    add_field(&request, 2, STR("img"));
    add_field(&request, 3, STR("other"));
    ask(&v, SNAPSHOT_CALL_COMMIT, buf_str(&request), &commit);
    WAIT_FOR(count == TREES + 1);
    CHECK_INT(commit.code, GRPC_OK);
    CHECK(commit.place < TREES / 2);
    served_close(&v);
}

TEST(clients_that_go_away_leave_nothing)
{
    struct served v;
    struct asked calls[TREES] = { 0 };
    unsigned count = 0;
    char key[8];
    served_open(&v);
    make_trees(&v);
    for (int i = 0; i < TREES; i++) {
        calls[i].count = &count;
        (void)snprintf(key, sizeof key, "t%d", i);
        ask_key(&v, i % 2 ? SNAPSHOT_CALL_USAGE : SNAPSHOT_CALL_REMOVE, key, &calls[i]);
    }
    WAIT_FOR(count > 0);
    for (int i = 0; i < TREES; i++)
        if (calls[i].call && i % 3)
            grpc_call_cancel(calls[i].call);
    WAIT_FOR(count == TREES);
    served_close(&v); /* it waits for the threads */
}

int main(int argc, char **argv)
{
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD))
        return layer_child_main(argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    if (geteuid() != 0) {
        (void)printf("1..0 # SKIP files of all owners take root\n");
        return 0;
    }
    return test_main(argc, argv);
}
