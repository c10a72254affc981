/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of SPDY; see spdy.h. */
#include "agent/stream/spdy.h"

#include "base/mem.h"

#include <assert.h>

enum {
    SYN_STREAM = 1,
    SYN_REPLY = 2,
    RST_STREAM = 3,
    SETTINGS = 4,
    PING = 6,
    GOAWAY = 7,
    HEADERS = 8,
    WINDOW_UPDATE = 9
};
enum {
    FLAG_FIN = 1,
    FLAG_UNIDIRECTIONAL = 2,
    CONTROL_BIT = 0x80,
    SETTING_INITIAL_WINDOW = 7,
    SYN_STREAM_BYTES = 10, /* in front of the header block */
    CONTROL_MAX_BYTES = SPDY_BLOCK_MAX_BYTES + SYN_STREAM_BYTES
};

void spdy_reader_init(struct spdy_reader *r)
{
    *r = (struct spdy_reader){ .control = BUF_INIT(CONTROL_MAX_BYTES) };
}

void spdy_reader_fini(struct spdy_reader *r)
{
    buf_fini(&r->control);
    headers_fini(&r->headers);
    spdy_headers_free(r->inflater);
    r->inflater = NULL;
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned type_of(const struct spdy_reader *r)
{
    return (unsigned)r->head[2] << 8 | r->head[3];
}

static unsigned flags_of(const struct spdy_reader *r)
{
    return r->head[4];
}

/* ------------------------------------------------------------------ control frames */

static int read_block(struct spdy_reader *r, struct str block, struct err *err)
{
    if (!r->inflater)
        r->inflater = spdy_headers_new();
    if (!r->inflater)
        return err_set(err, E_LIMIT, "no memory for header blocks");
    headers_reset(&r->headers);
    return spdy_headers_read(r->inflater, block, &r->headers, err);
}

/* Every header block is decompressed, since the next one depends on it. */
static int read_syn_stream(struct spdy_reader *r, struct rd *in, struct spdy_event *ret,
                           struct err *err)
{
    uint32_t stream = rd_be32(in) & SPDY_ID_MAX;
    (void)rd_str(in, SYN_STREAM_BYTES - 4);
    struct str block = rd_str(in, rd_left(in));
    int got = rd_ok(in) && stream ? read_block(r, block, err)
                                  : err_set(err, E_PARSE, "SYN_STREAM: malformed");
    if (got < 0)
        return got;
    *ret = (struct spdy_event){ .kind = SPDY_OPEN,
                                .stream = stream,
                                .is_last = flags_of(r) & FLAG_FIN,
                                .is_one_way = flags_of(r) & FLAG_UNIDIRECTIONAL,
                                .headers = &r->headers };
    return 1;
}

/* Of headers that follow the start only the end of the stream matters. */
static int read_headers(struct spdy_reader *r, struct rd *in, struct spdy_event *ret,
                        struct err *err)
{
    uint32_t stream = rd_be32(in) & SPDY_ID_MAX;
    struct str block = rd_str(in, rd_left(in));
    int got = rd_ok(in) ? read_block(r, block, err) : err_set(err, E_PARSE, "HEADERS: malformed");
    if (got < 0)
        return got;
    *ret = (struct spdy_event){ .kind = SPDY_DATA, .stream = stream, .is_last = true };
    return flags_of(r) & FLAG_FIN ? 1 : 0;
}

static int read_settings(struct rd *in, struct spdy_event *ret, struct err *err)
{
    uint32_t n = rd_be32(in);
    int found = 0;
    if (!rd_ok(in) || n > SPDY_SETTINGS_MAX || rd_left(in) != (size_t)n * 8)
        return err_set(err, E_PARSE, "SETTINGS: malformed");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = rd_be32(in) & 0xffffff, value = rd_be32(in);
        if (id != SETTING_INITIAL_WINDOW)
            continue;
        if (value > SPDY_ID_MAX)
            return err_set(err, E_PARSE, "SETTINGS: a window of more than 2 GiB");
        *ret = (struct spdy_event){ .kind = SPDY_SETTING, .value = value };
        found = 1;
    }
    return found;
}

/* Frames of one or two numbers. */
static int read_numbers(struct spdy_reader *r, struct rd *in, struct spdy_event *ret,
                        struct err *err)
{
    unsigned type = type_of(r);
    uint32_t first = rd_be32(in), second = type == PING ? 0 : rd_be32(in);
    if (!rd_ok(in) || rd_left(in) > 0)
        return err_set(err, E_PARSE, "control frame of type %u: malformed", type);
    switch (type) {
    case RST_STREAM:
        *ret = (struct spdy_event){ .kind = SPDY_RESET, .stream = first & SPDY_ID_MAX };
        return 1;
    case PING:
        *ret = (struct spdy_event){ .kind = SPDY_PING, .value = first };
        return 1;
    case GOAWAY:
        *ret = (struct spdy_event){ .kind = SPDY_GOAWAY };
        return 1;
    default:
        assert(type == WINDOW_UPDATE);
        *ret = (struct spdy_event){ .kind = SPDY_WINDOW,
                                    .stream = first & SPDY_ID_MAX,
                                    .value = second & SPDY_ID_MAX };
        return ret->value ? 1 : err_set(err, E_PARSE, "WINDOW_UPDATE: of 0 bytes");
    }
}

static int read_control(struct spdy_reader *r, struct spdy_event *ret, struct err *err)
{
    struct rd in = rd_init(r->control.p, r->control.n);
    switch (type_of(r)) {
    case SYN_STREAM:
        return read_syn_stream(r, &in, ret, err);
    case SYN_REPLY:
    case HEADERS:
        return read_headers(r, &in, ret, err);
    case SETTINGS:
        return read_settings(&in, ret, err);
    default:
        return read_numbers(r, &in, ret, err);
    }
}

static bool is_known(unsigned type)
{
    return type >= SYN_STREAM && type <= WINDOW_UPDATE && type != 5;
}

/* ------------------------------------------------------------------ all frames */

static int start_frame(struct spdy_reader *r, struct err *err)
{
    r->left = be32(r->head + 4) & 0xffffff;
    r->n_head = 0;
    if (!(r->head[0] & CONTROL_BIT)) {
        r->at = SPDY_READER_DATA;
        return 0;
    }
    if ((((unsigned)r->head[0] & 0x7f) << 8 | r->head[1]) != SPDY_VERSION)
        return err_set(err, E_PARSE, "frame of another version of SPDY");
    if (!is_known(type_of(r))) {
        r->at = SPDY_READER_SKIP;
        return 0;
    }
    if (r->left > CONTROL_MAX_BYTES)
        return err_set(err, E_LIMIT, "control frame of %u bytes", r->left);
    buf_reset(&r->control);
    r->at = SPDY_READER_CONTROL;
    return 0;
}

static struct str take(struct spdy_reader *r, struct str *bytes)
{
    struct str got = str_slice(*bytes, 0, MIN(bytes->n, (size_t)r->left));
    *bytes = str_slice(*bytes, got.n, bytes->n);
    r->left -= (uint32_t)got.n;
    return got;
}

static int take_head(struct spdy_reader *r, struct str *bytes, struct err *err)
{
    while (bytes->n && r->n_head < sizeof r->head) {
        r->head[r->n_head++] = (uint8_t)bytes->p[0];
        *bytes = str_slice(*bytes, 1, bytes->n);
    }
    return r->n_head == sizeof r->head ? start_frame(r, err) : 0;
}

/* 0: there is no event. */
static int take_data(struct spdy_reader *r, struct str *bytes, struct spdy_event *ret)
{
    struct str data = take(r, bytes);
    bool done = r->left == 0, is_last = done && (flags_of(r) & FLAG_FIN);
    *ret = (struct spdy_event){
        .kind = SPDY_DATA, .stream = be32(r->head), .data = data, .is_last = is_last
    };
    if (done)
        r->at = SPDY_READER_HEAD;
    return data.n > 0 || is_last;
}

static int take_control(struct spdy_reader *r, struct str *bytes, struct spdy_event *ret,
                        struct err *err)
{
    int got = buf_add_str(&r->control, take(r, bytes));
    assert(got >= 0); /* start_frame() */
    if (r->left)
        return 0;
    r->at = SPDY_READER_HEAD;
    return read_control(r, ret, err);
}

int spdy_read(struct spdy_reader *r, struct str *bytes, struct spdy_event *ret, struct err *err)
{
    int got = 0;
    while (got == 0) {
        /* A frame without payload is complete with its head. */
        if (bytes->n == 0 && (r->at == SPDY_READER_HEAD || r->left > 0))
            return 0;
        switch (r->at) {
        case SPDY_READER_HEAD:
            got = take_head(r, bytes, err);
            break;
        case SPDY_READER_DATA:
            got = take_data(r, bytes, ret);
            break;
        case SPDY_READER_CONTROL:
            got = take_control(r, bytes, ret, err);
            break;
        case SPDY_READER_SKIP:
            (void)take(r, bytes);
            if (r->left == 0)
                r->at = SPDY_READER_HEAD;
            break;
        }
    }
    return got;
}

/* ------------------------------------------------------------------ writing */

static void add_be32(struct buf *to, uint32_t v)
{
    const char bytes[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };
    (void)buf_add(to, bytes, sizeof bytes);
}

static void add_control_head(struct buf *to, unsigned type, size_t n)
{
    add_be32(to, 0x80000000U | (uint32_t)SPDY_VERSION << 16 | type);
    add_be32(to, (uint32_t)n);
}

static void add_numbers(struct buf *to, unsigned type, uint32_t first, uint32_t second)
{
    add_control_head(to, type, 8);
    add_be32(to, first);
    add_be32(to, second);
}

void spdy_add_reply(struct buf *to, uint32_t stream, bool first)
{
    struct str block = spdy_headers_empty(first);
    add_control_head(to, SYN_REPLY, 4 + block.n);
    add_be32(to, stream);
    (void)buf_add_str(to, block);
}

void spdy_data_head(char ret[SPDY_DATA_HEAD_BYTES], uint32_t stream, size_t n, bool is_last)
{
    assert(n <= SPDY_DATA_MAX_BYTES && stream <= SPDY_ID_MAX);
    for (size_t i = 0; i < 4; i++)
        ret[i] = (char)(stream >> (24 - 8 * i));
    ret[4] = is_last ? FLAG_FIN : 0;
    for (size_t i = 0; i < 3; i++)
        ret[5 + i] = (char)(n >> (16 - 8 * i));
}

void spdy_add_reset(struct buf *to, uint32_t stream, enum spdy_status status)
{
    add_numbers(to, RST_STREAM, stream, status);
}

void spdy_add_ping(struct buf *to, uint32_t id)
{
    add_control_head(to, PING, 4);
    add_be32(to, id);
}

void spdy_add_goaway(struct buf *to, uint32_t last_stream, enum spdy_goodbye why)
{
    add_numbers(to, GOAWAY, last_stream, why);
}

void spdy_add_window(struct buf *to, uint32_t stream, uint32_t more)
{
    add_numbers(to, WINDOW_UPDATE, stream, more);
}
