/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of asynchronous calls; see record.h. */
#include "fn/async/record.h"

#include "base/sys.h"
#include "codec/digest.h"
#include "modules/module_fetch.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>

enum { RECORD_VERSION = 1, TIME_DIGITS = 12, ID_DIGITS = ASYNC_ID_TEXT - 1 };

static const char *const state_names[] = {
    [ASYNC_PENDING] = "pending", [ASYNC_SUCCEEDED] = "succeeded", [ASYNC_FAILED] = "failed",
    [ASYNC_EXPIRED] = "expired", [ASYNC_CANCELED] = "canceled",
};

const char *async_state_name(enum async_state s)
{
    return state_names[s];
}

/* ------------------------------------------------------------------ ids */

uint32_t async_owner(struct str gateway_name)
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(gateway_name, hash);
    return (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 | (uint32_t)hash[2] << 8 | hash[3];
}

struct async_id async_id_new(uint32_t owner)
{
    struct async_id id = { { (uint8_t)(owner >> 24), (uint8_t)(owner >> 16), (uint8_t)(owner >> 8),
                             (uint8_t)owner } };
    sys_random(id.b + 4, sizeof id.b - 4);
    return id;
}

uint32_t async_id_owner(const struct async_id *id)
{
    return (uint32_t)id->b[0] << 24 | (uint32_t)id->b[1] << 16 | (uint32_t)id->b[2] << 8 | id->b[3];
}

void async_id_text(const struct async_id *id, char ret[ASYNC_ID_TEXT])
{
    hex_format(id->b, sizeof id->b, ret);
}

bool async_id_parse(struct str s, struct async_id *ret)
{
    struct async_id id;
    if (s.n != ID_DIGITS || !hex_parse(s, id.b, sizeof id.b))
        return false;
    *ret = id;
    return true;
}

/* ------------------------------------------------------------------ values */

static void add_text(struct buf *to, struct str s)
{
    (void)buf_add_le32(to, (uint32_t)s.n);
    (void)buf_add_str(to, s);
}

static struct str read_text(struct rd *r)
{
    return rd_str(r, rd_le32(r));
}

void async_record_write(struct buf *to, const struct async_record *r)
{
    (void)buf_add_u8(to, RECORD_VERSION);
    (void)buf_add_u8(to, (uint8_t)r->state);
    (void)buf_add_le16(to, r->status);
    (void)buf_add_le32(to, r->attempts);
    (void)buf_add_le64(to, r->wall_created_ms);
    (void)buf_add_le64(to, r->wall_due_ms);
    (void)buf_add_le64(to, r->wall_finished_ms);
    (void)buf_add_le64(to, r->wall_expires_ms);
    (void)buf_add_le64(to, r->age_max_ms);
    (void)buf_add_le32(to, r->n_pieces);
    (void)buf_add_le64(to, r->body_bytes);
    const struct str texts[] = { r->namespace, r->name,   r->url,    r->key,
                                 r->callback,  r->parent, r->reason, r->method,
                                 r->target,    r->fields, r->body };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        add_text(to, texts[i]);
}

int async_record_read(struct str bytes, struct async_record *ret, struct err *err)
{
    struct rd in = rd_init(bytes.p, bytes.n);
    uint8_t version = rd_u8(&in), state = rd_u8(&in);
    if (rd_ok(&in) && version != RECORD_VERSION)
        return err_set(err, E_VERSION, "call of version %u", version);
    struct async_record r = { .state = (enum async_state)state };
    r.status = rd_le16(&in);
    r.attempts = rd_le32(&in);
    r.wall_created_ms = rd_le64(&in);
    r.wall_due_ms = rd_le64(&in);
    r.wall_finished_ms = rd_le64(&in);
    r.wall_expires_ms = rd_le64(&in);
    r.age_max_ms = rd_le64(&in);
    r.n_pieces = rd_le32(&in);
    r.body_bytes = rd_le64(&in);
    struct str *texts[] = { &r.namespace, &r.name,   &r.url,    &r.key,    &r.callback, &r.parent,
                            &r.reason,    &r.method, &r.target, &r.fields, &r.body };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = read_text(&in);
    if (!rd_ok(&in) || rd_left(&in) || state > ASYNC_CANCELED ||
        r.n_pieces > ASYNC_BODY_MAX / ASYNC_PIECE_BYTES + 1)
        return err_set(err, E_CORRUPT, "a call does not read back");
    *ret = r;
    return 0;
}

void async_fields_write(struct buf *to, const struct headers *h)
{
    for (size_t i = 0; h && i < h->n; i++) {
        add_text(to, headers_name(h, i));
        add_text(to, headers_value(h, i));
    }
}

int async_fields_read(struct str bytes, struct headers *to, struct err *err)
{
    struct rd in = rd_init(bytes.p, bytes.n);
    while (rd_left(&in)) {
        struct str name = read_text(&in), value = read_text(&in);
        if (!rd_ok(&in) || headers_add(to, name, value) < 0)
            return err_set(err, E_CORRUPT, "fields of a call do not read back");
    }
    return rd_ok(&in) ? 0 : err_set(err, E_CORRUPT, "fields of a call do not read back");
}

void async_leftover_write(struct buf *to, const struct async_leftover *l)
{
    (void)buf_add_le32(to, l->n_pieces);
    add_text(to, l->by_key);
}

int async_leftover_read(struct str bytes, struct async_leftover *ret, struct err *err)
{
    struct rd in = rd_init(bytes.p, bytes.n);
    struct async_leftover l = { .n_pieces = rd_le32(&in) };
    l.by_key = read_text(&in);
    if (!rd_ok(&in) || rd_left(&in) || l.n_pieces > ASYNC_BODY_MAX / ASYNC_PIECE_BYTES + 1)
        return err_set(err, E_CORRUPT, "what a call left does not read back");
    *ret = l;
    return 0;
}

/* ------------------------------------------------------------------ keys */

static void format(struct async_key *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void format(struct async_key *k, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(k->p, sizeof k->p, fmt, ap);
    va_end(ap);
    assert(n > 0 && (size_t)n < sizeof k->p);
    k->n = (size_t)n;
}

void async_key_call(struct async_key *k, const struct async_id *id)
{
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    format(k, "c/%s", text);
}

void async_key_piece(struct async_key *k, char what, const struct async_id *id, uint32_t piece)
{
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    format(k, "%c/%s/%04x", what, text, piece);
}

void async_key_pieces(struct async_key *k, char what, const struct async_id *id)
{
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    format(k, "%c/%s/", what, text);
}

void async_key_due(struct async_key *k, struct str lane, uint64_t wall_ms,
                   const struct async_id *id)
{
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    format(k, "d/" STR_FMT "/%012llx/%s", STR_ARG(lane),
           (unsigned long long)(wall_ms & 0xffffffffffff), text);
}

void async_key_by_key(struct async_key *k, bool of_trigger, struct str namespace, struct str name,
                      struct str key)
{
    uint8_t hash[SHA256_BYTES];
    char text[SHA256_HEX_SIZE];
    sha256_of(key, hash);
    hex_format(hash, sizeof hash, text);
    format(k, "%c/" STR_FMT "/" STR_FMT "/%s", of_trigger ? 't' : 'i', STR_ARG(namespace),
           STR_ARG(name), text);
}

void async_key_expires(struct async_key *k, uint64_t wall_ms, const struct async_id *id)
{
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    format(k, "x/%012llx/%s", (unsigned long long)(wall_ms & 0xffffffffffff), text);
}

int async_key_note(struct async_key *k, struct str note, struct err *err)
{
    if (note.n == 0 || note.n > sizeof k->p - 8)
        return err_set(err, E_INVALID, "name of a note of %zu bytes", note.n);
    k->n = note.n + 2;
    memcpy(k->p, "n/", 2);
    memcpy(k->p + 2, note.p, note.n);
    return 0;
}

static bool parse_time(struct str s, uint64_t *ret)
{
    uint8_t b[TIME_DIGITS / 2];
    if (s.n != TIME_DIGITS || !hex_parse(s, b, sizeof b))
        return false;
    uint64_t v = 0;
    for (size_t i = 0; i < sizeof b; i++)
        v = v << 8 | b[i];
    *ret = v;
    return true;
}

/* "TIME/ID" */
static bool parse_tail(struct str s, uint64_t *ret_wall_ms, struct async_id *ret_id)
{
    return s.n == TIME_DIGITS + 1 + ID_DIGITS && s.p[TIME_DIGITS] == '/' &&
           parse_time(str_n(s.p, TIME_DIGITS), ret_wall_ms) &&
           async_id_parse(str_slice(s, TIME_DIGITS + 1, s.n), ret_id);
}

bool async_key_due_parse(struct str key, struct str *ret_lane, uint64_t *ret_wall_ms,
                         struct async_id *ret_id)
{
    size_t tail = TIME_DIGITS + 1 + ID_DIGITS;
    if (!str_has_prefix(key, STR("d/")) || key.n < tail + 4 || key.p[key.n - tail - 1] != '/' ||
        key.n - tail - 3 >= ASYNC_LANE_MAX ||
        !parse_tail(str_slice(key, key.n - tail, key.n), ret_wall_ms, ret_id))
        return false;
    struct str lane = str_n(key.p + 2, key.n - tail - 3);
    if (str_find_char(lane, 0) >= 0)
        return false;
    *ret_lane = lane;
    return true;
}

bool async_key_expires_parse(struct str key, uint64_t *ret_wall_ms, struct async_id *ret_id)
{
    return str_has_prefix(key, STR("x/")) &&
           parse_tail(str_slice(key, 2, key.n), ret_wall_ms, ret_id);
}

void async_lane_of(char ret[ASYNC_LANE_MAX], uint32_t owner, const struct async_record *r)
{
    int n;
    if (str_is(r->url, ASYNC_TO_EVENTS)) {
        n = snprintf(ret, ASYNC_LANE_MAX, "%08x/e/" STR_FMT, owner, STR_ARG(r->namespace));
    } else if (r->url.n) {
        char host[ASYNC_HOST_MAX];
        if (async_url_check(r->url, host, NULL) < 0)
            (void)snprintf(host, sizeof host, "-"); /* was checked; fails when it runs */
        n = snprintf(ret, ASYNC_LANE_MAX, "%08x/u/%s", owner, host);
    } else {
        n = snprintf(ret, ASYNC_LANE_MAX, "%08x/f/" STR_FMT "/" STR_FMT, owner,
                     STR_ARG(r->namespace), STR_ARG(r->name));
    }
    assert(n > 0 && n < ASYNC_LANE_MAX);
}

/* ------------------------------------------------------------------ URLs */

int async_url_check(struct str url, char ret_host[ASYNC_HOST_MAX], struct err *err)
{
    if (url.n > ASYNC_URL_MAX_BYTES)
        return err_set(err, E_INVALID, "URL of %zu bytes, at most %d", url.n, ASYNC_URL_MAX_BYTES);
    for (size_t i = 0; i < url.n; i++)
        if ((uint8_t)url.p[i] <= ' ' || (uint8_t)url.p[i] >= 0x7f)
            return err_set(err, E_INVALID, "URL with blanks or other than ASCII characters");
    scoped(free_scoped) char *text = xstrndup(url.p, url.n);
    struct fetch_url u = { 0 };
    int r = fetch_url_parse(text, NULL, &u, err);
    if (r < 0)
        return r;
    size_t n = strlen(u.host);
    for (size_t i = 0; r >= 0 && i < n; i++)
        if (u.host[i] == '/' || u.host[i] == '@' || u.host[i] == '%')
            r = err_set(err, E_INVALID, "URL with a strange host");
    if (r >= 0 && (n == 0 || n > 255))
        r = err_set(err, E_INVALID, "URL without a host, or with one too long");
    if (r >= 0) {
        for (size_t i = 0; i < n; i++)
            if (u.host[i] >= 'A' && u.host[i] <= 'Z')
                u.host[i] = (char)(u.host[i] + 32);
        (void)snprintf(ret_host, ASYNC_HOST_MAX, "%s:%u", u.host, u.port);
    }
    fetch_url_fini(&u);
    return r < 0 ? r : 0;
}

static bool ip4_is_private(uint32_t ip)
{
    static const struct {
        uint32_t net;
        unsigned bits;
    } nets[] = {
        { 0x00000000, 8 },  /* "this network" */
        { 0x0a000000, 8 },  /* RFC 1918 */
        { 0x64400000, 10 }, /* shared, RFC 6598 */
        { 0x7f000000, 8 },  /* loopback */
        { 0xa9fe0000, 16 }, /* link-local: metadata services of clouds */
        { 0xac100000, 12 }, { 0xc0000000, 24 }, { 0xc0a80000, 16 },
        { 0xc6120000, 15 }, { 0xe0000000, 3 } /* multicast, reserved, broadcast */
    };
    for (size_t i = 0; i < ARRAY_LEN(nets); i++)
        if ((ip ^ nets[i].net) >> (32 - nets[i].bits) == 0)
            return true;
    return false;
}

bool async_address_is_private(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ip4_is_private(ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr));
    if (sa->sa_family != AF_INET6)
        return true;
    const struct in6_addr *a = &((const struct sockaddr_in6 *)sa)->sin6_addr;
    uint32_t last = (uint32_t)a->s6_addr[12] << 24 | (uint32_t)a->s6_addr[13] << 16 |
                    (uint32_t)a->s6_addr[14] << 8 | a->s6_addr[15];
    static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };
    if (IN6_IS_ADDR_V4MAPPED(a) || memcmp(a->s6_addr, nat64, sizeof nat64) == 0)
        return ip4_is_private(last);
    if (a->s6_addr[0] == 0x20 && a->s6_addr[1] == 0x02) /* 6to4 */
        return true;
    return (a->s6_addr[0] & 0xe0) != 0x20; /* what is global today is in 2000::/3 */
}

/* ------------------------------------------------------------------ requests */

bool async_path_parse(struct str target, struct async_id *ret)
{
    struct str prefix = STR("/v1/async/"), path, query;
    (void)str_cut(target, '?', &path, &query);
    return str_has_prefix(path, prefix) && async_id_parse(str_slice(path, prefix.n, path.n), ret);
}

static bool is_label(struct str s)
{
    if (s.n == 0 || s.n > FN_NAME_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
              (s.p[i] == '-' && i > 0 && i + 1 < s.n)))
            return false;
    return true;
}

bool async_openfaas_parse(struct str target, struct str *ret_namespace, struct str *ret_name,
                          struct str *ret_rest)
{
    struct str prefix = STR("/async-function/");
    if (!str_has_prefix(target, prefix))
        return false;
    struct str left = str_slice(target, prefix.n, target.n), name, space;
    size_t n = 0;
    while (n < left.n && left.p[n] != '/' && left.p[n] != '?')
        n++;
    if (!str_cut(str_n(left.p, n), '.', &name, &space))
        space = STR("default");
    if (!is_label(name) || !is_label(space))
        return false;
    *ret_namespace = space;
    *ret_name = name;
    *ret_rest = str_slice(left, n, left.n);
    return true;
}

bool async_is_asked(const struct headers *h)
{
    return str_ieq(headers_get(h, "x-faas-invocation-type"), STR("async")) ||
           str_ieq(headers_get(h, "x-amz-invocation-type"), STR("event")) ||
           headers_has_token(h, "prefer", "respond-async");
}

int async_fields_keep(const struct headers *from, struct headers *to, struct err *err)
{
    /*
     * Fields that request an asynchronous call would be obeyed again by the gateway that runs the
     * call.
     */
    static const char *const ours[] = {
        "x-faas-invocation-type",
        "x-amz-invocation-type",
        "prefer",
        "x-callback-url",
        "x-dormouse-call-id",
        "x-call-id",
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
        "expect",
        "content-length",
        "x-faas-attempt",
    };
    bool has_connection = headers_get(from, "connection").p;
    for (size_t i = 0; i < from->n; i++) {
        struct str name = headers_name(from, i);
        scoped(free_scoped) char *token = has_connection ? str_dup(name) : NULL;
        bool drop = token && headers_has_token(from, "connection", token);
        for (size_t k = 0; k < ARRAY_LEN(ours) && !drop; k++)
            drop = str_is(name, ours[k]);
        if (!drop && headers_add(to, name, headers_value(from, i)) < 0)
            return err_set(err, -EMSGSIZE, "too many fields");
    }
    return 0;
}
