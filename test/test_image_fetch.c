/* SPDX-License-Identifier: Apache-2.0 */
/* image/fetch: a layer from a peer on a thread of its own. Time is virtual where it matters. */
#include "test.h"

#include "base/clock.h"
#include "image/fetch.h"
#include "io/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOB_BYTES = 512 << 10, FRONT_BYTES = BLOB_BYTES / 4, HALF_BYTES = FRONT_BYTES };

static char blob[BLOB_BYTES]; /* zeros: an empty tar, and its DiffID is its digest */

/* ---- the peer, with a thread ---- */

static struct {
    pthread_t thread;
    struct loop loop;
    struct http_server *server;
    uint16_t port;
    sem_t is_ready, has_sent;
    struct post wanted;
    /* Of its thread: the range from 0, and the one behind it, of which a half is sent at first. */
    struct http_exchange *front, *back;
    bool has_front, has_half, is_wanted, is_reported, is_closed;
    atomic_uint n_requests;
    atomic_bool stop;
} peer;

static void on_gone(struct http_exchange *x, int r)
{
    (void)r;
    if (x == peer.front)
        peer.front = NULL;
    if (x == peer.back)
        peer.back = NULL;
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { .on_gone = on_gone };
    struct str unit, range = headers_get(req->headers, "range"), first, last;
    uint64_t from = 0, to = 0;
    char text[80];
    struct headers h = { 0 };
    (void)arg;
    CHECK(str_cut(range, '=', &unit, &range) && str_cut(range, '-', &first, &last));
    CHECK_OK(parse_u64(first, 0, BLOB_BYTES, &from));
    CHECK_OK(parse_u64(last, from, BLOB_BYTES - 1, &to));
    atomic_fetch_add(&peer.n_requests, 1);
    (void)snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%d", from, to, BLOB_BYTES);
    CHECK_OK(headers_addc(&h, "content-range", text));
    http_exchange_set(x, &ops, NULL);
    http_respond(x, 206, &h, to + 1 - from);
    headers_fini(&h);
    if (from == 0)
        peer.front = x;
    else if (from == FRONT_BYTES)
        peer.back = x;
    else /* the rest was asked for once more */
        (void)http_write(x, str_n(blob + from, (size_t)(to + 1 - from)));
}

static void on_wanted(struct post *p)
{
    (void)p;
    peer.is_wanted = true;
}

/* The half of the back is on its way before the front is; the other half comes when it is wanted.
 */
static void send_next(void)
{
    if (peer.back && !peer.has_half) {
        (void)http_write(peer.back, str_n(blob + FRONT_BYTES, HALF_BYTES));
        peer.has_half = true;
    } else if (peer.front && peer.has_half && !peer.has_front &&
               (!peer.back || http_write_pending(peer.back) == 0)) {
        (void)http_write(peer.front, str_n(blob, FRONT_BYTES));
        http_end(peer.front);
        peer.has_front = true;
    } else if (peer.is_wanted && peer.back && !peer.is_reported) {
        (void)http_write(peer.back, str_n(blob + FRONT_BYTES + HALF_BYTES,
                                          BLOB_BYTES - FRONT_BYTES - HALF_BYTES));
        http_end(peer.back);
        peer.is_reported = true;
    }
}

static void on_closed(void *arg)
{
    (void)arg;
    peer.is_closed = true;
}

static void *run_peer(void *arg)
{
    const struct http_server_opts o = { .host = "127.0.0.1", .on_request = on_request };
    bool was_reported = false;
    CHECK_OK(loop_init(&peer.loop, NULL));
    CHECK_OK(http_server_start(&peer.loop, &o, &peer.server, NULL));
    peer.port = http_server_port(peer.server);
    CHECK_OK(sem_post(&peer.is_ready));
    while (!atomic_load(&peer.stop)) {
        (void)loop_turn(&peer.loop, false);
        send_next();
        if (peer.is_reported && !was_reported &&
            (!peer.back || http_write_pending(peer.back) == 0)) {
            was_reported = true;
            CHECK_OK(sem_post(&peer.has_sent));
        }
    }
    http_server_close(peer.server, 0, on_closed, NULL);
    while (!peer.is_closed)
        (void)loop_turn(&peer.loop, true);
    loop_fini(&peer.loop);
    return arg;
}

/* ---- a disk that takes long, once ---- */

static bool has_blocked;

/* Meanwhile the peer sends all that is left. */
static int slow_add(void *reading, struct str bytes, struct err *err)
{
    if (!has_blocked) {
        has_blocked = true;
        peer.wanted.run = on_wanted;
        loop_post(&peer.loop, &peer.wanted);
        while (sem_wait(&peer.has_sent) < 0)
            CHECK_INT(errno, EINTR);
        clock_skip(2000);
    }
    return layer_parse_here.add(reading, bytes, err);
}

TEST(a_peer_is_not_silent_while_the_import_blocks)
{
    char root[] = "/tmp/dormouse-fetch-XXXXXX", url[64];
    struct oci_store *store;
    struct err err = { 0 };
    struct image_fetch_result result;
    struct layer_reading_ops slow = layer_parse_here;
    slow.add = slow_add;
    CHECK(mkdtemp(root));
    CHECK_OK(sem_init(&peer.is_ready, 0, 0));
    CHECK_OK(sem_init(&peer.has_sent, 0, 0));
    CHECK_OK(pthread_create(&peer.thread, NULL, run_peer, NULL));
    while (sem_wait(&peer.is_ready) < 0)
        CHECK_INT(errno, EINTR);
    const struct oci_store_opts so = { .root = root };
    CHECK_OK(oci_store_open(&so, &store, &err));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)peer.port);
    const struct image_transfer_piece pieces[] = {
        { .from = 0, .to = FRONT_BYTES, .choices = { 0 }, .n_choices = 1 },
        { .from = FRONT_BYTES, .to = BLOB_BYTES, .choices = { 0 }, .n_choices = 1 },
    };
    const struct image_fetch_source source = { .url = url, .token = "t" };
    struct image_fetch f = { .store = store,
                             .size = BLOB_BYTES,
                             .pieces = pieces,
                             .n_pieces = ARRAY_LEN(pieces),
                             .sources = &source,
                             .n_sources = 1,
                             .reading = &slow,
                             .deploy = "d",
                             .node = "n",
                             .deadline_ms = clock_mono_ms() + 600000 };
    sha256_of(str_n(blob, sizeof blob), f.blob.bytes);
    f.diff_id = f.blob;
    CHECK_OK(image_fetch_layer(&f, &result, &err));
    CHECK_INT(result.peer_bytes, BLOB_BYTES);
    CHECK_INT(atomic_load(&peer.n_requests), 2);
    CHECK(oci_store_layer_has(store, &f.diff_id));
    oci_store_close(store);
    atomic_store(&peer.stop, true);
    CHECK_INT(pthread_join(peer.thread, NULL), 0);
    scoped(free_scoped) char *rm = xasprintf("rm -rf %s", root);
    CHECK_INT(system(rm), 0);
}

/* 0.0.0.0 is this machine for the kernel. */
TEST(a_peer_that_is_where_no_machine_can_be_is_not_asked)
{
    char root[] = "/tmp/dormouse-fetch-XXXXXX", url[64];
    struct oci_store *store;
    struct err err = { 0 };
    struct image_fetch_result result;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, n) == 0 && listen(fd, 8) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &n) == 0);
    CHECK(mkdtemp(root));
    const struct oci_store_opts so = { .root = root };
    CHECK_OK(oci_store_open(&so, &store, &err));
    (void)snprintf(url, sizeof url, "http://0.0.0.0:%u", (unsigned)ntohs(at.sin_port));
    const struct image_transfer_piece piece = { .to = BLOB_BYTES, .n_choices = 1 };
    const struct image_fetch_source source = { .url = url, .token = "t" };
    struct image_fetch f = { .store = store,
                             .size = BLOB_BYTES,
                             .pieces = &piece,
                             .n_pieces = 1,
                             .sources = &source,
                             .n_sources = 1,
                             .reading = &layer_parse_here,
                             .deploy = "d",
                             .node = "n",
                             .deadline_ms = clock_mono_ms() + 600000 };
    sha256_of(str_n(blob, sizeof blob), f.blob.bytes);
    f.diff_id = f.blob;
    CHECK_ERR(image_fetch_layer(&f, &result, &err), -EHOSTUNREACH);
    CHECK(accept4(fd, NULL, NULL, SOCK_CLOEXEC) < 0 && errno == EAGAIN);
    CHECK(close(fd) == 0);
    oci_store_close(store);
    scoped(free_scoped) char *rm = xasprintf("rm -rf %s", root);
    CHECK_INT(system(rm), 0);
}

TEST_MAIN
