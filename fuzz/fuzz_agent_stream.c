/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of remote commands or port forwarding, over each carrier: the first byte chooses, the
 * second one says how large the pieces are. The program echoes, and is full now and then; so is the
 * client. Everything is released at the end.
 */
#include "fuzz.h"

#include "agent/stream/forward.h"
#include "agent/stream/remote.h"
#include "fake_exchange.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop loop;
static struct fake_exchange fake;
static unsigned n_owned, n_writes; /* programs and ports that were given to a session */

/* ------------------------------------------------------------------ a program */

struct program {
    struct stream_remote *remote;
    struct defer later;
    bool ends, was_full;
};

static struct program the_program;

static void on_later(struct defer *d)
{
    struct program *p = container_of(d, struct program, later);
    if (p->was_full) {
        p->was_full = false;
        stream_remote_wants_input(p->remote);
    }
    if (!p->ends)
        return;
    n_owned--;
    stream_remote_exited(p->remote, 3);
}

static int on_start(void *arg, struct stream_remote *remote, void **ret, struct err *err)
{
    the_program = (struct program){ .remote = remote };
    *ret = &the_program;
    return 0;
}

static bool on_write(void *program, struct str bytes)
{
    struct program *p = program;
    (void)stream_remote_output(p->remote, n_writes % 2 ? STREAM_STDERR : STREAM_STDOUT, bytes);
    p->was_full = ++n_writes % 3 == 0;
    if (p->was_full)
        defer_start(&loop, &p->later, on_later);
    return !p->was_full;
}

static void on_end_input(void *program)
{
    struct program *p = program;
    p->ends = true;
    defer_start(&loop, &p->later, on_later);
}

static void on_resume(void *program, enum stream_output which)
{
}

static void on_resize(void *program, uint16_t columns, uint16_t rows)
{
}

static void on_close(void *program, void *arg)
{
    defer_cancel(&the_program.later);
    n_owned--;
}

static const struct stream_program_ops program_ops = { .start = on_start,
                                                       .write = on_write,
                                                       .end_input = on_end_input,
                                                       .resume = on_resume,
                                                       .resize = on_resize,
                                                       .close = on_close };

/* ------------------------------------------------------------------ ports */

struct dial {
    struct defer later;
    stream_dialed_cb done;
    void *arg;
    uint16_t port;
};

static void on_dial(struct defer *d)
{
    struct dial dial = *container_of(d, struct dial, later);
    struct err err = { 0 };
    int pair[2];
    free(container_of(d, struct dial, later));
    if (dial.port % 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        (void)err_set(&err, -ECONNREFUSED, "connection refused");
        dial.done(dial.arg, -ECONNREFUSED, &err);
        return;
    }
    (void)send(pair[1], "pod", 3, MSG_NOSIGNAL);
    (void)close(pair[1]);
    dial.done(dial.arg, pair[0], &err);
}

static int on_dial_start(void *arg, uint16_t port, stream_dialed_cb done, void *dial,
                         struct err *err)
{
    if (port % 5 == 0)
        return err_set(err, -EMFILE, "too many open files");
    struct dial *d = xnew(struct dial);
    *d = (struct dial){ .done = done, .arg = dial, .port = port };
    defer_start(&loop, &d->later, on_dial);
    return 0;
}

static void on_ports_close(void *arg)
{
    n_owned--;
}

static const struct stream_port_ops port_ops = { .dial = on_dial_start, .close = on_ports_close };

/* ------------------------------------------------------------------ sessions */

static const struct stream_choice choices[] = {
    { .carrier = STREAM_SPDY, .version = 4, .protocol = "" },
    { .carrier = STREAM_SPDY, .version = 1, .protocol = "" },
    { .carrier = STREAM_CHANNELS, .version = 5, .protocol = "" },
    { .carrier = STREAM_CHANNELS, .version = 4, .is_base64 = true, .protocol = "" },
    { .carrier = STREAM_SPDY, .protocol = "" },
    { .carrier = STREAM_TUNNEL, .protocol = "" },
    { .carrier = STREAM_CHANNELS, .protocol = "" },
    { .carrier = STREAM_CHANNELS, .is_base64 = true, .protocol = "" },
};

static void serve(unsigned kind)
{
    static const uint16_t ports[] = { 80, 81, 85 };
    n_owned = 1;
    if (kind < 4)
        stream_remote_serve(&(struct stream_remote_opts){
            .loop = &loop,
            .x = &fake.x,
            .choice = &choices[kind],
            .wish = { .has_stdin = true, .has_stdout = true, .has_stderr = true },
            .ops = &program_ops });
    else
        stream_forward_serve(&(struct stream_forward_opts){ .loop = &loop,
                                                            .x = &fake.x,
                                                            .choice = &choices[kind],
                                                            .ports = ports,
                                                            .n_ports = ARRAY_LEN(ports),
                                                            .pod = STR("p"),
                                                            .uid = STR("u"),
                                                            .ops = &port_ops });
}

static void turn(void)
{
    for (int i = 0; i < 3; i++)
        (void)loop_turn(&loop, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static bool is_ready;
    struct err err;
    if (n < 2)
        return 0;
    FUZZ_CHECK(is_ready || loop_init(&loop, &err) >= 0);
    is_ready = true;
    n_writes = 0;
    fake_exchange_init(&fake);
    fake.full = data[1] & 128 ? 100 : SIZE_MAX;
    serve(data[0] % ARRAY_LEN(choices));
    turn();
    struct str bytes = str_n(data + 2, n - 2);
    size_t piece = (size_t)(data[1] & 127) * 8 + 1;
    while (bytes.n) {
        fake_exchange_feed(&fake, str_slice(bytes, 0, piece));
        bytes = str_slice(bytes, MIN(piece, bytes.n), bytes.n);
        turn();
        fake_exchange_take(&fake);
    }
    fake_exchange_gone(&fake, data[0] & 128 ? -ECONNRESET : 0);
    fake_exchange_fini(&fake);
    turn();
    FUZZ_CHECK(n_owned == 0 && loop_next_timer_ms(&loop) == UINT64_MAX);
    return 0;
}
