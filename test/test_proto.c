/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between main and runners: round trips, limits, descriptors, malformed input. */
#include "test.h"

#include "wasm/proto.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

static void make_pair(int pair[2])
{
    CHECK_OK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
}

static char *random_bytes(size_t n)
{
    char *p = xalloc(n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)test_random();
    return p;
}

static struct proto_run sample_run(struct str payload)
{
    struct proto_run run = { .slot = 3,
                             .incarnation = 4,
                             .guest = 5,
                             .seq = 6,
                             .flags = RUN_WAKE | RUN_SUSPEND,
                             .module = 7,
                             .abi = GUEST_ABI_G2,
                             .activation_ms = 8,
                             .memory_max_bytes = 9,
                             .ops_room = 10,
                             .next_id = 11,
                             .clock_offset_ns = 12,
                             .memory_pages = 13,
                             .globals = STR("12345678"),
                             .setup = STR("setup"),
                             .template_slot = 14,
                             .credit = 15,
                             .response_max = 16,
                             .n_deliveries = 2 };
    run.deliveries[0] = (struct proto_delivery){ 14, DELIVERY_FINISHED | DELIVERY_NULL, STR_NULL };
    run.deliveries[1] = (struct proto_delivery){ 15, DELIVERY_STREAM, payload };
    return run;
}

static void check_run(const struct proto_run *a, const struct proto_run *b)
{
    CHECK(a->slot == b->slot && a->incarnation == b->incarnation && a->guest == b->guest &&
          a->seq == b->seq && a->flags == b->flags && a->module == b->module && a->abi == b->abi);
    CHECK(a->activation_ms == b->activation_ms && a->memory_max_bytes == b->memory_max_bytes &&
          a->ops_room == b->ops_room && a->next_id == b->next_id &&
          a->clock_offset_ns == b->clock_offset_ns && a->memory_pages == b->memory_pages);
    CHECK(a->template_slot == b->template_slot && a->credit == b->credit &&
          a->response_max == b->response_max);
    CHECK(str_eq(a->globals, b->globals) && str_eq(a->setup, b->setup));
    CHECK_INT(a->n_deliveries, b->n_deliveries);
    for (uint32_t i = 0; i < a->n_deliveries; i++)
        CHECK(a->deliveries[i].id == b->deliveries[i].id &&
              a->deliveries[i].flags == b->deliveries[i].flags &&
              str_eq(a->deliveries[i].payload, b->deliveries[i].payload));
}

TEST(a_run_comes_back_as_it_was_sent_whatever_its_size)
{
    static const size_t sizes[] = {
        0, 1, 1000, PROTO_MESSAGE_MAX - 200, PROTO_MESSAGE_MAX, 1 << 20
    };
    int pair[2];
    make_pair(pair);
    struct proto_in in = PROTO_IN_INIT;
    struct buf b = BUF_INIT(PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char *payload = random_bytes(sizes[i]);
        struct proto_run run = sample_run(str_n(payload, sizes[i])), got;
        proto_begin(&b);
        proto_put_run(&b, &run);
        CHECK_OK(proto_send(pair[0], &b, -1, NULL));
        CHECK_OK(proto_recv(pair[1], 0, &in, NULL));
        CHECK_INT(in.kind, PROTO_RUN);
        CHECK_INT(in.fd, -1);
        CHECK_OK(proto_get_run(in.body, &got, NULL));
        check_run(&got, &run);
        free(payload);
    }
    buf_fini(&b);
    proto_in_fini(&in);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

TEST(an_answer_carries_logs_and_operations)
{
    struct buf b = BUF_INIT(PROTO_BODY_MAX), logs = BUF_INIT(4096), ops = BUF_INIT(4096);
    struct proto_answer a = { .slot = 1,
                              .incarnation = 2,
                              .guest = 3,
                              .seq = 4,
                              .flags = ANSWER_DONE | ANSWER_SUSPENDED,
                              .code = -5,
                              .activations = 6,
                              .next_id = 7,
                              .clock_offset_ns = 8,
                              .memory_pages = 9,
                              .dirty_pages = 10,
                              .swap_bytes = 11,
                              .swap_needs_bytes = 15,
                              .resume_us = 12,
                              .suspend_us = 13,
                              .logs_left_out = 14,
                              .text = STR("why"),
                              .globals = STR("g"),
                              .n_logs = 1,
                              .n_ops = 2 },
                        got;
    proto_add_log(&logs, &(struct proto_log){ 2, STR("line") });
    proto_add_op(&ops,
                 &(struct proto_op){ .kind = 0, .id = 5, .stream = true, .payload = STR("p") });
    proto_add_op(&ops, &(struct proto_op){ .kind = 1, .id = 6, .delay_ms = 77 });
    proto_begin(&b);
    proto_put_answer(&b, &a, buf_str(&logs), buf_str(&ops), STR_NULL);
    CHECK_OK(proto_get_answer(str_slice(buf_str(&b), PROTO_FRAME_BYTES, b.n), &got, NULL));
    CHECK(got.code == -5 && got.swap_bytes == 11 && got.swap_needs_bytes == 15 &&
          got.suspend_us == 13 && got.logs_left_out == 14);
    CHECK_STR(got.text, "why");
    struct proto_log log;
    struct proto_op op;
    proto_next_log(&got.logs, &log);
    CHECK_INT(log.fd, 2);
    CHECK_STR(log.line, "line");
    proto_next_op(&got.ops, &op);
    CHECK(op.id == 5 && op.stream);
    CHECK_STR(op.payload, "p");
    proto_next_op(&got.ops, &op);
    CHECK(op.id == 6 && op.kind == 1 && op.delay_ms == 77);
    buf_fini(&b);
    buf_fini(&logs);
    buf_fini(&ops);
}

TEST(calls_notes_and_replies_come_back_as_they_were_sent)
{
    struct buf b = BUF_INIT(PROTO_BODY_MAX), notes = BUF_INIT(4096);
    struct proto_note note = {
        .kind = GUEST_POST_METRIC, .number = 3, .token = 4, .value = -5, .head = STR("[]")
    };
    struct proto_call call = { .slot = 1,
                               .incarnation = 2,
                               .guest = 3,
                               .seq = 4,
                               .id = 5,
                               .token = 6,
                               .kind = GUEST_CALL_API_REQUEST,
                               .clock_offset_ns = 7,
                               .logs_left_out = 8,
                               .head = STR("head"),
                               .body = STR("body"),
                               .n_notes = 2 },
                      got;
    proto_add_note(&notes, &note);
    note.kind = NOTE_RESULT;
    proto_add_note(&notes, &note);
    proto_begin(&b);
    proto_put_call(&b, PROTO_CALL, &call, buf_str(&notes));
    struct str body = str_slice(buf_str(&b), PROTO_FRAME_BYTES, b.n);
    CHECK_OK(proto_get_call(body, &got, NULL));
    CHECK(got.slot == 1 && got.incarnation == 2 && got.guest == 3 && got.seq == 4 && got.id == 5 &&
          got.token == 6 && got.kind == GUEST_CALL_API_REQUEST && got.clock_offset_ns == 7 &&
          got.logs_left_out == 8 && got.n_notes == 2);
    CHECK_STR(got.head, "head");
    CHECK_STR(got.body, "body");
    struct proto_note first;
    proto_next_note(&got.notes, &first);
    CHECK(first.kind == GUEST_POST_METRIC && first.number == 3 && first.token == 4 &&
          first.value == -5 && str_is(first.head, "[]"));
    for (size_t n = 0; n < body.n; n++)
        CHECK_ERR(proto_get_call(str_slice(body, 0, n), &got, NULL), E_PARSE);
    struct proto_reply reply = { .slot = 1, .guest = 2, .id = 3, .value = -4, .bytes = STR("r") },
                       got_reply;
    proto_begin(&b);
    proto_put_reply(&b, &reply);
    body = str_slice(buf_str(&b), PROTO_FRAME_BYTES, b.n);
    CHECK_OK(proto_get_reply(body, &got_reply, NULL));
    CHECK(got_reply.slot == 1 && got_reply.guest == 2 && got_reply.id == 3 &&
          got_reply.value == -4 && str_is(got_reply.bytes, "r"));
    for (size_t n = 0; n < body.n; n++)
        CHECK_ERR(proto_get_reply(str_slice(body, 0, n), &got_reply, NULL), E_PARSE);
    buf_fini(&b);
    buf_fini(&notes);
}

TEST(every_truncation_of_a_message_is_refused)
{
    struct buf b = BUF_INIT(PROTO_BODY_MAX);
    struct proto_run run = sample_run(STR("payload")), got;
    proto_begin(&b);
    proto_put_run(&b, &run);
    struct str body = str_slice(buf_str(&b), PROTO_FRAME_BYTES, b.n);
    for (size_t n = 0; n < body.n; n++)
        CHECK_ERR(proto_get_run(str_slice(body, 0, n), &got, NULL), E_PARSE);
    (void)buf_add_char(&b, 0);
    CHECK_ERR(proto_get_run(str_slice(buf_str(&b), PROTO_FRAME_BYTES, b.n), &got, NULL), E_PARSE);
    buf_fini(&b);
}

TEST(a_descriptor_arrives_and_belongs_to_who_takes_it)
{
    int pair[2];
    make_pair(pair);
    struct proto_in in = PROTO_IN_INIT;
    struct buf b = BUF_INIT(4096);
    int fd = memfd_create("test", MFD_CLOEXEC);
    struct stat sent, got;
    CHECK_OK(fstat(fd, &sent));
    for (int i = 0; i < 3; i++) {
        proto_begin(&b);
        proto_put_module(&b, &(struct proto_module){ .id = 1, .globals = STR("iI") });
        CHECK_OK(proto_send(pair[0], &b, fd, NULL));
        CHECK_OK(proto_recv(pair[1], 0, &in, NULL)); /* closes what the last round left */
        CHECK(in.fd >= 0);
        CHECK_OK(fstat(in.fd, &got));
        CHECK(got.st_ino == sent.st_ino);
        CHECK(fcntl(in.fd, F_GETFD) & FD_CLOEXEC);
    }
    proto_in_fini(&in);
    CHECK_INT(in.fd, -1);
    (void)close(fd);
    (void)close(pair[0]);
    CHECK_ERR(proto_recv(pair[1], 0, &in, NULL), E_EOF);
    proto_in_fini(&in);
    (void)close(pair[1]);
    buf_fini(&b);
}

/* Packets as only a broken or hostile peer sends them. */
static void send_raw(int sock, const void *p, size_t n, const int *fds, size_t n_fds)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control = { 0 };
    struct iovec iov = { (void *)p, n };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (n_fds) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    CHECK_INT(sendmsg(sock, &msg, 0), n);
}

TEST(broken_frames_are_refused_and_leak_no_descriptor)
{
    int pair[2];
    make_pair(pair);
    struct proto_in in = PROTO_IN_INIT;
    int unsealed = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int fds[4] = { unsealed, unsealed, unsealed, unsealed };
    int probe = dup(unsealed);
    (void)close(probe);
    CHECK_OK(ftruncate(unsealed, 100));
    static const struct {
        const char *bytes;
        size_t n, n_fds;
    } cases[] = {
        { "\4\0\0\0", 4, 0 },                                          /* short */
        { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 0 },                 /* kind 0 */
        { "\12\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 0 },                /* kind 10 */
        { "\4\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0", 16, 0 },                 /* unknown flag */
        { "\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 16, 0 },                 /* wrong length */
        { "\4\0\0\0\1\0\0\0\5\0\0\0\0\0\0\0", 16, 0 },                 /* no body file */
        { "\4\0\0\0\1\0\0\0\x64\0\0\0\0\0\0\0", 16, 1 },               /* not sealed */
        { "\4\0\0\0\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16, 1 }, /* huge */
        { "\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 2 },                 /* two descriptors */
        { "\4\0\0\0\1\0\0\0\x64\0\0\0\0\0\0\0", 16, 4 },               /* four */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        send_raw(pair[0], cases[i].bytes, cases[i].n, fds, cases[i].n_fds);
        CHECK_ERR(proto_recv(pair[1], 0, &in, NULL), E_PARSE);
    }
    proto_in_fini(&in);
    int again = dup(unsealed);
    CHECK_INT(again, probe); /* the lowest free descriptor is the same as before */
    (void)close(again);
    (void)close(unsealed);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

TEST(a_message_over_the_limit_is_not_sent)
{
    int pair[2];
    make_pair(pair);
    size_t n = PROTO_BODY_MAX + 1;
    char *payload = xalloc(n);
    struct buf b = BUF_INIT(PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    struct proto_run run = sample_run(str_n(payload, n));
    proto_begin(&b);
    proto_put_run(&b, &run);
    CHECK(!buf_ok(&b));
    CHECK_ERR(proto_send(pair[0], &b, -1, NULL), -EMSGSIZE);
    free(payload);
    buf_fini(&b);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

TEST(a_full_socket_says_so_and_sends_nothing)
{
    int pair[2];
    make_pair(pair);
    CHECK_OK(fcntl(pair[0], F_SETFL, O_NONBLOCK));
    struct buf b = BUF_INIT(PROTO_MESSAGE_MAX);
    proto_begin(&b);
    struct proto_run run = sample_run(STR("payload"));
    proto_put_run(&b, &run);
    int sent = 0, r;
    while ((r = proto_send(pair[0], &b, -1, NULL)) >= 0)
        sent++;
    CHECK_ERR(r, -EAGAIN);
    struct proto_in in = PROTO_IN_INIT;
    for (int i = 0; i < sent; i++)
        CHECK_OK(proto_recv(pair[1], 0, &in, NULL));
    CHECK_ERR(proto_recv(pair[1], MSG_DONTWAIT, &in, NULL), -EAGAIN);
    proto_in_fini(&in);
    buf_fini(&b);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

TEST(setup_has_the_form_that_wasi_hands_out)
{
    struct buf b = BUF_INIT(PROTO_SETUP_MAX);
    const struct str args[] = { STR("one"), STR("") };
    const struct guest_env env[] = { { STR("A"), STR("b=c") } };
    CHECK_OK(proto_add_setup(&b, args, 2, env, 1));
    struct proto_setup s;
    CHECK_OK(proto_get_setup(buf_str(&b), &s));
    CHECK_INT(s.n_args, 2);
    CHECK(str_eq(s.args, STR("one\0\0")));
    CHECK_INT(s.n_env, 1);
    CHECK(str_eq(s.env, STR("A=b=c\0")));
    for (size_t n = 0; n < b.n; n++)
        CHECK_ERR(proto_get_setup(str_slice(buf_str(&b), 0, n), &s), E_PARSE);

    buf_reset(&b);
    const struct guest_env bad[] = { { STR("A=B"), STR("c") } },
                           zero[] = { { STR("A"), STR("\0") } };
    CHECK_ERR(proto_add_setup(&b, NULL, 0, bad, 1), -EINVAL);
    CHECK_ERR(proto_add_setup(&b, NULL, 0, zero, 1), -EINVAL);
    char *large = xalloc(PROTO_SETUP_MAX);
    memset(large, 'x', PROTO_SETUP_MAX);
    const struct str too_large[] = { { large, PROTO_SETUP_MAX } };
    CHECK_ERR(proto_add_setup(&b, too_large, 1, NULL, 0), -E2BIG);
    free(large);
    buf_fini(&b);
}

TEST_MAIN
