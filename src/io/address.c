/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of IP addresses; see address.h. */
#include "io/address.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

struct address_block {
    uint8_t prefix[16];
    uint8_t bits;
};

/* Whether the first `bits` bits are equal. */
static bool is_in(const uint8_t *address, const struct address_block *b)
{
    unsigned bytes = b->bits / 8, rest = b->bits % 8;
    if (memcmp(address, b->prefix, bytes) != 0)
        return false;
    return rest == 0 || (address[bytes] ^ b->prefix[bytes]) >> (8 - rest) == 0;
}

static bool is_public_v4(const uint8_t address[4])
{
    static const struct address_block special[] = {
        { { 0 }, 8 },                 /* this network */
        { { 10 }, 8 },                /* private */
        { { 100, 64 }, 10 },          /* shared by a carrier; metadata of one cloud */
        { { 127 }, 8 },               /* loopback */
        { { 169, 254 }, 16 },         /* link-local: metadata of most clouds */
        { { 168, 63, 129, 16 }, 32 }, /* a cloud's services for its own machines */
        { { 172, 16 }, 12 },          /* private */
        { { 192, 0, 0 }, 24 },        /* protocol assignments */
        { { 192, 0, 2 }, 24 },        /* documentation */
        { { 192, 88, 99 }, 24 },      /* 6to4 relays */
        { { 192, 168 }, 16 },         /* private */
        { { 198, 18 }, 15 },          /* benchmarks */
        { { 198, 51, 100 }, 24 },
        { { 203, 0, 113 }, 24 }, /* documentation */
        { { 224 }, 3 },          /* multicast and beyond */
    };
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (is_in(address, &special[i]))
            return false;
    return true;
}

static const struct address_block mapped_v4 = { { [10] = 0xff, 0xff }, 96 };

/* The IPv4 address that an IPv6 address carries; NULL: none. */
static const uint8_t *carried_v4(const uint8_t address[16])
{
    static const struct address_block nat64 = { { 0x00, 0x64, 0xff, 0x9b }, 96 };
    static const struct address_block from_6to4 = { { 0x20, 0x02 }, 16 };
    if (is_in(address, &mapped_v4) || is_in(address, &nat64))
        return address + 12;
    return is_in(address, &from_6to4) ? address + 2 : NULL;
}

static bool is_public_v6(const uint8_t address[16])
{
    static const struct address_block unicast = { { 0x20 }, 3 }; /* 2000::/3 */
    static const struct address_block special[] = {
        { { 0x20, 0x01 }, 23 },             /* Teredo and assignments */
        { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
        { { 0x3f, 0xff }, 20 }
    }; /* documentation */
    const uint8_t *v4 = carried_v4(address);
    if (v4)
        return is_public_v4(v4);
    if (!is_in(address, &unicast))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (is_in(address, &special[i]))
            return false;
    return true;
}

bool address_is_public(const struct sockaddr *addr)
{
    if (addr->sa_family == AF_INET)
        return is_public_v4(
            (const uint8_t *)&((const struct sockaddr_in *)(const void *)addr)->sin_addr);
    if (addr->sa_family == AF_INET6)
        return is_public_v6(
            (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr);
    return false;
}

bool address_is_loopback_text(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (!host)
        return false;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcmp(host, "localhost") == 0;
}

bool address_parse(struct str text, struct address *ret)
{
    char buf[INET6_ADDRSTRLEN];
    struct address a = { .bytes = { [10] = 0xff, 0xff } };
    if (text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']')
        text = str_slice(text, 1, text.n - 1);
    if (text.n == 0 || text.n >= sizeof buf)
        return false;
    memcpy(buf, text.p, text.n);
    buf[text.n] = '\0';
    if (inet_pton(AF_INET, buf, a.bytes + 12) != 1 && inet_pton(AF_INET6, buf, a.bytes) != 1)
        return false;
    *ret = a;
    return true;
}

bool address_of_socket(const struct sockaddr *addr, struct address *ret)
{
    struct address a = { .bytes = { [10] = 0xff, 0xff } };
    if (addr->sa_family == AF_INET)
        memcpy(a.bytes + 12, &((const struct sockaddr_in *)(const void *)addr)->sin_addr, 4);
    else if (addr->sa_family == AF_INET6)
        memcpy(a.bytes, &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr, 16);
    else
        return false;
    *ret = a;
    return true;
}

bool address_is_machine(const struct address *a)
{
    static const struct address_block no_v4[] = {
        { { 0 }, 8 },                   /* this network */
        { { 169, 254 }, 16 },           /* link-local */
        { { 100, 100, 100, 200 }, 32 }, /* metadata of a cloud */
        { { 192, 0, 0 }, 24 },          /* metadata of another cloud */
        { { 168, 63, 129, 16 }, 32 },   /* services of a third cloud */
        { { 224 }, 3 }
    }; /* multicast, reserved */
    static const struct address_block no_v6[] = {
        { { 0 }, 96 },                                  /* unspecified */
        { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48 }, /* NAT64 */
        { { 0xfe, 0x80 }, 10 },                         /* link-local */
        { { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54 }, 128 },
        { { 0xff }, 8 }
    }; /* multicast */
    const uint8_t *v4 = carried_v4(a->bytes);
    if (address_is_loopback(a))
        return true;
    if (v4 && !is_in(a->bytes, &mapped_v4))
        return is_public_v4(v4);
    const struct address_block *no = v4 ? no_v4 : no_v6;
    size_t n = v4 ? ARRAY_LEN(no_v4) : ARRAY_LEN(no_v6);
    for (size_t i = 0; i < n; i++)
        if (is_in(v4 ? v4 : a->bytes, &no[i]))
            return false;
    return true;
}

bool address_may_connect(void *arg, const struct sockaddr *addr)
{
    struct address a;
    (void)arg;
    return address_of_socket(addr, &a) && address_is_machine(&a);
}

bool address_is_v4(const struct address *a)
{
    return is_in(a->bytes, &mapped_v4);
}

void address_format(const struct address *a, char ret[ADDRESS_TEXT_BYTES])
{
    if (address_is_v4(a))
        (void)inet_ntop(AF_INET, a->bytes + 12, ret, ADDRESS_TEXT_BYTES);
    else
        (void)inet_ntop(AF_INET6, a->bytes, ret, ADDRESS_TEXT_BYTES);
}

bool address_equal(const struct address *a, const struct address *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool address_is_loopback(const struct address *a)
{
    static const struct address_block v4 = { { [10] = 0xff, 0xff, 127 }, 104 };
    static const struct address_block v6 = { { [15] = 1 }, 128 };
    return is_in(a->bytes, &v4) || is_in(a->bytes, &v6);
}

bool address_net_parse(struct str text, struct address_net *ret)
{
    struct address_net net = { .bits = 128 };
    struct str base, bits;
    uint64_t n;
    bool has_bits = str_cut(text, '/', &base, &bits);
    bool is_v6 = str_find_char(base, ':') >= 0;
    if (!address_parse(base, &net.base))
        return false;
    if (has_bits) {
        if (parse_u64(bits, 0, is_v6 ? 128 : 32, &n) < 0)
            return false;
        net.bits = (unsigned)n + (is_v6 ? 0 : 96);
    }
    *ret = net;
    return true;
}

bool address_net_has(const struct address_net *net, const struct address *a)
{
    struct address_block b = { .bits = (uint8_t)net->bits };
    memcpy(b.prefix, net->base.bytes, sizeof b.prefix);
    return is_in(a->bytes, &b);
}

bool address_split(struct str text, struct str *ret_host, uint16_t *ret_port)
{
    uint64_t port;
    size_t colon = text.n;
    while (colon > 0 && text.p[colon - 1] != ':')
        colon--;
    if (colon < 2 || parse_u64(str_slice(text, colon, text.n), 1, UINT16_MAX, &port) < 0)
        return false;
    *ret_host = str_slice(text, 0, colon - 1);
    *ret_port = (uint16_t)port;
    return true;
}

bool address_host(struct str text, struct str *ret)
{
    uint16_t port;
    return address_split(text, ret, &port);
}
