/* SPDX-License-Identifier: Apache-2.0 */
/* nf_tables over netlink; see nftables.h. */
#include "container/nftables.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEND_BYTES = 64 << 10 };

/* ---------------------------------------------------------------- bytes */

static void pad(struct buf *b)
{
    static const char zeros[4];
    (void)buf_add(b, zeros, (4 - b->n % 4) % 4);
}

static size_t begin_attr(struct nftables_batch *b, uint16_t type)
{
    struct nlattr a = { .nla_type = type };
    size_t at = b->bytes.n;
    (void)buf_add(&b->bytes, &a, sizeof a);
    return at;
}

/* Of the attribute or message at `at`, now that its end is known. */
static void end_attr(struct nftables_batch *b, size_t at)
{
    struct nlattr a;
    if (!buf_ok(&b->bytes))
        return;
    memcpy(&a, b->bytes.p + at, sizeof a);
    a.nla_len = (uint16_t)(b->bytes.n - at);
    memcpy(b->bytes.p + at, &a, sizeof a);
    pad(&b->bytes);
}

static size_t begin_nest(struct nftables_batch *b, uint16_t type)
{
    return begin_attr(b, (uint16_t)(type | NLA_F_NESTED));
}

static void add_bytes(struct nftables_batch *b, uint16_t type, const void *p, size_t n)
{
    size_t at = begin_attr(b, type);
    (void)buf_add(&b->bytes, p, n);
    end_attr(b, at);
}

static void add_text(struct nftables_batch *b, uint16_t type, const char *s)
{
    add_bytes(b, type, s, strlen(s) + 1);
}

static void add_u32(struct nftables_batch *b, uint16_t type, uint32_t v)
{
    v = htonl(v);
    add_bytes(b, type, &v, sizeof v);
}

static void add_data(struct nftables_batch *b, uint16_t type, const void *p, size_t n)
{
    size_t at = begin_nest(b, type);
    assert(n > 0 && n <= NFTABLES_KEY_MAX);
    add_bytes(b, NFTA_DATA_VALUE, p, n);
    end_attr(b, at);
}

/* ---------------------------------------------------------------- messages */

static void begin_message(struct nftables_batch *b, uint16_t type, uint16_t flags, uint8_t family,
                          uint16_t resource)
{
    struct {
        struct nlmsghdr head;
        struct nfgenmsg nf;
    } m = { .head = { .nlmsg_type = type,
                      .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
                      .nlmsg_seq = b->seq++ },
            .nf = { .nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(resource) } };
    b->message = b->bytes.n;
    (void)buf_add(&b->bytes, &m, sizeof m);
}

static void end_message(struct nftables_batch *b)
{
    uint32_t n = (uint32_t)(b->bytes.n - b->message);
    if (buf_ok(&b->bytes))
        memcpy(b->bytes.p + b->message + offsetof(struct nlmsghdr, nlmsg_len), &n, sizeof n);
}

static void begin_change(struct nftables_batch *b, uint16_t message, uint16_t flags)
{
    begin_message(b, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | message), flags, NFPROTO_INET, 0);
}

void nftables_begin(struct nftables_batch *b, const char *table)
{
    *b = (struct nftables_batch){ .bytes = BUF_INIT(NFTABLES_BATCH_MAX), .table = table };
    begin_message(b, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
    end_message(b);
}

/* The kernel has answered when send() returns. Without an answer to the end it did not get there.
 */
static int read_answers(int fd)
{
    char answer[8192];
    int failed = -EPROTO;
    for (;;) {
        ssize_t n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
        if (n < 0)
            return errno == EAGAIN ? failed : -errno;
        size_t left = (size_t)n;
        for (const struct nlmsghdr *h = (const void *)answer; NLMSG_OK(h, left);
             h = NLMSG_NEXT(h, left)) {
            int code =
                h->nlmsg_type == NLMSG_ERROR ? ((const struct nlmsgerr *)NLMSG_DATA(h))->error : 0;
            if (code < 0)
                return code;
            failed = 0;
        }
    }
}

static int send_batch(const struct nftables_batch *b, struct err *err)
{
    scoped(fd_scoped) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    int size = (int)b->bytes.n, r = fd < 0 ? -errno : 0;
    if (r == 0 && b->bytes.n > SEND_BYTES) /* a batch has to fit into the socket's buffer */
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    if (r == 0 && send(fd, b->bytes.p, b->bytes.n, 0) < 0)
        r = -errno;
    if (r == 0)
        r = read_answers(fd);
    return r < 0 ? err_sys(err, r, "nftables, table '%s'", b->table) : 0;
}

int nftables_commit(struct nftables_batch *b, struct err *err)
{
    begin_message(b, NFNL_MSG_BATCH_END, NLM_F_ACK, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
    end_message(b);
    int r = buf_ok(&b->bytes) ? send_batch(b, err)
                              : err_set(err, E_LIMIT, "too many changes of nftables");
    buf_fini(&b->bytes);
    return r;
}

void nftables_abort(struct nftables_batch *b)
{
    buf_fini(&b->bytes);
}

/* ---------------------------------------------------------------- tables and chains */

void nftables_add_table(struct nftables_batch *b)
{
    begin_change(b, NFT_MSG_NEWTABLE, NLM_F_CREATE);
    add_text(b, NFTA_TABLE_NAME, b->table);
    end_message(b);
}

void nftables_renew_table(struct nftables_batch *b)
{
    nftables_add_table(b);
    begin_change(b, NFT_MSG_DELTABLE, 0);
    add_text(b, NFTA_TABLE_NAME, b->table);
    end_message(b);
    nftables_add_table(b);
}

static void flush_chain(struct nftables_batch *b, const char *name)
{
    begin_change(b, NFT_MSG_DELRULE, 0);
    add_text(b, NFTA_RULE_TABLE, b->table);
    add_text(b, NFTA_RULE_CHAIN, name);
    end_message(b);
}

void nftables_add_chain(struct nftables_batch *b, const char *name)
{
    begin_change(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    add_text(b, NFTA_CHAIN_TABLE, b->table);
    add_text(b, NFTA_CHAIN_NAME, name);
    end_message(b);
    flush_chain(b, name);
}

void nftables_remove_chain(struct nftables_batch *b, const char *name)
{
    flush_chain(b, name);
    begin_change(b, NFT_MSG_DELCHAIN, 0);
    add_text(b, NFTA_CHAIN_TABLE, b->table);
    add_text(b, NFTA_CHAIN_NAME, name);
    end_message(b);
}

void nftables_add_base_chain(struct nftables_batch *b, const char *name, const char *type,
                             uint32_t hook, int32_t priority)
{
    begin_change(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    add_text(b, NFTA_CHAIN_TABLE, b->table);
    add_text(b, NFTA_CHAIN_NAME, name);
    size_t at = begin_nest(b, NFTA_CHAIN_HOOK);
    add_u32(b, NFTA_HOOK_HOOKNUM, hook);
    add_u32(b, NFTA_HOOK_PRIORITY, (uint32_t)priority);
    end_attr(b, at);
    add_text(b, NFTA_CHAIN_TYPE, type);
    end_message(b);
    flush_chain(b, name);
}

/* ---------------------------------------------------------------- maps */

/* As nft(8) numbers them, so that it can show them: 6 bits for each part. */
static const struct {
    uint32_t number, bytes;
} types[] = { [NFTABLES_IPV4] = { 7, 4 },
              [NFTABLES_IPV6] = { 8, 16 },
              [NFTABLES_PROTOCOL] = { 12, 4 },
              [NFTABLES_PORT] = { 13, 4 },
              [NFTABLES_NUMBER] = { 19, 4 } }; /* "mark" */

static void add_type(struct nftables_batch *b, uint16_t type_attr, uint16_t len_attr,
                     const enum nftables_type parts[NFTABLES_PARTS_MAX + 1])
{
    uint32_t number = 0, bytes = 0;
    if (parts[0] == NFTABLES_VERDICT)
        number = NFT_DATA_VERDICT;
    for (size_t i = 0; parts[0] != NFTABLES_VERDICT && parts[i]; i++) {
        number = number << 6 | types[parts[i]].number;
        bytes += types[parts[i]].bytes;
    }
    add_u32(b, type_attr, number);
    add_u32(b, len_attr, bytes);
}

static void add_size(struct nftables_batch *b, uint32_t n)
{
    size_t at = begin_nest(b, NFTA_SET_DESC);
    add_u32(b, NFTA_SET_DESC_SIZE, n);
    end_attr(b, at);
}

void nftables_add_map(struct nftables_batch *b, const struct nftables_map *map)
{
    uint32_t by_rules = map->size_max ? NFT_SET_EVAL | NFT_SET_TIMEOUT : 0;
    begin_change(b, NFT_MSG_NEWSET, NLM_F_CREATE);
    add_text(b, NFTA_SET_TABLE, b->table);
    add_text(b, NFTA_SET_NAME, map->name);
    add_u32(b, NFTA_SET_ID, b->seq);
    add_u32(b, NFTA_SET_FLAGS, by_rules | (map->value[0] ? NFT_SET_MAP : 0));
    add_type(b, NFTA_SET_KEY_TYPE, NFTA_SET_KEY_LEN, map->key);
    if (map->value[0])
        add_type(b, NFTA_SET_DATA_TYPE, NFTA_SET_DATA_LEN, map->value);
    if (map->size_max)
        add_size(b, map->size_max);
    end_message(b);
}

struct nftables_element {
    size_t list, whole;
};

static struct nftables_element begin_element(struct nftables_batch *b, bool adds, const char *map,
                                             const void *key, size_t key_n)
{
    struct nftables_element e;
    begin_change(b, adds ? NFT_MSG_NEWSETELEM : NFT_MSG_DELSETELEM, adds ? NLM_F_CREATE : 0);
    add_text(b, NFTA_SET_ELEM_LIST_TABLE, b->table);
    add_text(b, NFTA_SET_ELEM_LIST_SET, map);
    e.list = begin_nest(b, NFTA_SET_ELEM_LIST_ELEMENTS);
    e.whole = begin_nest(b, NFTA_LIST_ELEM);
    add_data(b, NFTA_SET_ELEM_KEY, key, key_n);
    return e;
}

static void end_element(struct nftables_batch *b, struct nftables_element e)
{
    end_attr(b, e.whole);
    end_attr(b, e.list);
    end_message(b);
}

void nftables_change_element(struct nftables_batch *b, bool adds, const char *map, const void *key,
                             size_t key_n, const void *value, size_t value_n)
{
    struct nftables_element e = begin_element(b, adds, map, key, key_n);
    if (value_n)
        add_data(b, NFTA_SET_ELEM_DATA, value, value_n);
    end_element(b, e);
}

static void add_verdict(struct nftables_batch *b, uint16_t type, int32_t verdict, const char *chain)
{
    size_t data = begin_nest(b, type), at = begin_nest(b, NFTA_DATA_VERDICT);
    add_u32(b, NFTA_VERDICT_CODE, (uint32_t)verdict);
    if (chain)
        add_text(b, NFTA_VERDICT_CHAIN, chain);
    end_attr(b, at);
    end_attr(b, data);
}

void nftables_change_verdict(struct nftables_batch *b, bool adds, const char *map, const void *key,
                             size_t key_n, int32_t verdict, const char *chain)
{
    struct nftables_element e = begin_element(b, adds, map, key, key_n);
    add_verdict(b, NFTA_SET_ELEM_DATA, verdict, chain);
    end_element(b, e);
}

/* ---------------------------------------------------------------- rules */

void nftables_begin_rule(struct nftables_batch *b, const char *chain)
{
    begin_change(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    add_text(b, NFTA_RULE_TABLE, b->table);
    add_text(b, NFTA_RULE_CHAIN, chain);
    b->rule = begin_nest(b, NFTA_RULE_EXPRESSIONS);
}

void nftables_end_rule(struct nftables_batch *b)
{
    end_attr(b, b->rule);
    end_message(b);
}

struct nftables_expression {
    size_t whole, data;
};

static struct nftables_expression begin_expression(struct nftables_batch *b, const char *name)
{
    struct nftables_expression e = { .whole = begin_nest(b, NFTA_LIST_ELEM) };
    add_text(b, NFTA_EXPR_NAME, name);
    e.data = begin_nest(b, NFTA_EXPR_DATA);
    return e;
}

static void end_expression(struct nftables_batch *b, struct nftables_expression e)
{
    end_attr(b, e.data);
    end_attr(b, e.whole);
}

void nftables_load_meta(struct nftables_batch *b, uint32_t key, uint32_t reg)
{
    struct nftables_expression e = begin_expression(b, "meta");
    add_u32(b, NFTA_META_KEY, key);
    add_u32(b, NFTA_META_DREG, reg);
    end_expression(b, e);
}

void nftables_load_payload(struct nftables_batch *b, uint32_t base, uint32_t offset, uint32_t n,
                           uint32_t reg)
{
    struct nftables_expression e = begin_expression(b, "payload");
    add_u32(b, NFTA_PAYLOAD_DREG, reg);
    add_u32(b, NFTA_PAYLOAD_BASE, base);
    add_u32(b, NFTA_PAYLOAD_OFFSET, offset);
    add_u32(b, NFTA_PAYLOAD_LEN, n);
    end_expression(b, e);
}

void nftables_load_destination_type(struct nftables_batch *b, uint32_t reg)
{
    struct nftables_expression e = begin_expression(b, "fib");
    add_u32(b, NFTA_FIB_DREG, reg);
    add_u32(b, NFTA_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
    add_u32(b, NFTA_FIB_FLAGS, NFTA_FIB_F_DADDR);
    end_expression(b, e);
}

void nftables_mask(struct nftables_batch *b, uint32_t reg, const void *mask, size_t n)
{
    static const char zeros[NFTABLES_KEY_MAX];
    struct nftables_expression e = begin_expression(b, "bitwise");
    add_u32(b, NFTA_BITWISE_SREG, reg);
    add_u32(b, NFTA_BITWISE_DREG, reg);
    add_u32(b, NFTA_BITWISE_LEN, (uint32_t)n);
    add_data(b, NFTA_BITWISE_MASK, mask, n);
    add_data(b, NFTA_BITWISE_XOR, zeros, n);
    end_expression(b, e);
}

void nftables_match(struct nftables_batch *b, uint32_t reg, const void *p, size_t n)
{
    struct nftables_expression e = begin_expression(b, "cmp");
    add_u32(b, NFTA_CMP_SREG, reg);
    add_u32(b, NFTA_CMP_OP, NFT_CMP_EQ);
    add_data(b, NFTA_CMP_DATA, p, n);
    end_expression(b, e);
}

void nftables_look_up(struct nftables_batch *b, const char *map, uint32_t reg, uint32_t to)
{
    struct nftables_expression e = begin_expression(b, "lookup");
    add_text(b, NFTA_LOOKUP_SET, map);
    add_u32(b, NFTA_LOOKUP_SREG, reg);
    if (to)
        add_u32(b, NFTA_LOOKUP_DREG, to);
    end_expression(b, e);
}

void nftables_verdict(struct nftables_batch *b, int32_t verdict, const char *chain)
{
    struct nftables_expression e = begin_expression(b, "immediate");
    add_u32(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    add_verdict(b, NFTA_IMMEDIATE_DATA, verdict, chain);
    end_expression(b, e);
}

void nftables_look_up_verdict(struct nftables_batch *b, const char *map, uint32_t reg)
{
    struct nftables_expression e = begin_expression(b, "lookup");
    add_text(b, NFTA_LOOKUP_SET, map);
    add_u32(b, NFTA_LOOKUP_SREG, reg);
    add_u32(b, NFTA_LOOKUP_DREG, NFT_REG_VERDICT);
    end_expression(b, e);
}

void nftables_load_value(struct nftables_batch *b, uint32_t reg, const void *p, size_t n)
{
    struct nftables_expression e = begin_expression(b, "immediate");
    add_u32(b, NFTA_IMMEDIATE_DREG, reg);
    add_data(b, NFTA_IMMEDIATE_DATA, p, n);
    end_expression(b, e);
}

void nftables_load_random(struct nftables_batch *b, uint32_t n, uint32_t reg)
{
    struct nftables_expression e = begin_expression(b, "numgen");
    add_u32(b, NFTA_NG_DREG, reg);
    add_u32(b, NFTA_NG_MODULUS, n);
    add_u32(b, NFTA_NG_TYPE, NFT_NG_RANDOM);
    add_u32(b, NFTA_NG_OFFSET, 0);
    end_expression(b, e);
}

static struct nftables_expression begin_dynset(struct nftables_batch *b, const char *map,
                                               uint32_t op, uint32_t key_reg, uint32_t value_reg)
{
    struct nftables_expression e = begin_expression(b, "dynset");
    add_text(b, NFTA_DYNSET_SET_NAME, map);
    add_u32(b, NFTA_DYNSET_OP, op);
    add_u32(b, NFTA_DYNSET_SREG_KEY, key_reg);
    add_u32(b, NFTA_DYNSET_SREG_DATA, value_reg);
    return e;
}

void nftables_remember(struct nftables_batch *b, const char *map, uint32_t key_reg,
                       uint32_t value_reg, uint64_t timeout_ms)
{
    uint64_t big_endian = htobe64(timeout_ms);
    struct nftables_expression e = begin_dynset(b, map, NFT_DYNSET_OP_UPDATE, key_reg, value_reg);
    add_bytes(b, NFTA_DYNSET_TIMEOUT, &big_endian, sizeof big_endian);
    end_expression(b, e);
}

void nftables_forget(struct nftables_batch *b, const char *map, uint32_t key_reg,
                     uint32_t value_reg)
{
    end_expression(b, begin_dynset(b, map, NFT_DYNSET_OP_DELETE, key_reg, value_reg));
}

void nftables_add_mark(struct nftables_batch *b, uint32_t bits)
{
    uint32_t others = ~bits;
    nftables_load_meta(b, NFT_META_MARK, NFT_REG_1);
    struct nftables_expression set = begin_expression(b, "bitwise");
    add_u32(b, NFTA_BITWISE_SREG, NFT_REG_1);
    add_u32(b, NFTA_BITWISE_DREG, NFT_REG_1);
    add_u32(b, NFTA_BITWISE_LEN, sizeof bits);
    add_data(b, NFTA_BITWISE_MASK, &others, sizeof others);
    add_data(b, NFTA_BITWISE_XOR, &bits, sizeof bits);
    end_expression(b, set);
    struct nftables_expression e = begin_expression(b, "meta");
    add_u32(b, NFTA_META_KEY, NFT_META_MARK);
    add_u32(b, NFTA_META_SREG, NFT_REG_1);
    end_expression(b, e);
}

void nftables_reject(struct nftables_batch *b, bool is_tcp)
{
    const uint8_t port_unreachable = NFT_REJECT_ICMPX_PORT_UNREACH;
    struct nftables_expression e = begin_expression(b, "reject");
    add_u32(b, NFTA_REJECT_TYPE, is_tcp ? NFT_REJECT_TCP_RST : NFT_REJECT_ICMPX_UNREACH);
    if (!is_tcp)
        add_bytes(b, NFTA_REJECT_ICMP_CODE, &port_unreachable, 1);
    end_expression(b, e);
}

void nftables_dnat(struct nftables_batch *b, uint32_t family, uint32_t address_reg,
                   uint32_t port_reg)
{
    struct nftables_expression e = begin_expression(b, "nat");
    add_u32(b, NFTA_NAT_TYPE, NFT_NAT_DNAT);
    add_u32(b, NFTA_NAT_FAMILY, family);
    add_u32(b, NFTA_NAT_REG_ADDR_MIN, address_reg);
    add_u32(b, NFTA_NAT_REG_PROTO_MIN, port_reg);
    end_expression(b, e);
}

void nftables_masquerade(struct nftables_batch *b)
{
    end_expression(b, begin_expression(b, "masq"));
}
