/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/proxy/service_rules.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
    DSTNAT = -100,
    FILTER = -99 /* what was translated has another address then */,
    SRCNAT = 100,
    PORT_OFFSET = 2,
    NAME_BYTES = 48,
    MS_PER_S = 1000
};

struct service_family {
    uint8_t number; /* NFPROTO_IPV4 */
    enum nftables_type type;
    uint32_t bytes, saddr, daddr; /* of an address; where they are in the header */
    const char *maps[SERVICE_MAPS];
};

static const struct service_family families[] = {
    { NFPROTO_IPV4,
      NFTABLES_IPV4,
      4,
      12,
      16,
      { "addresses4", "node_ports4", "refused4", "refused_ports4", "endpoints4", "alive4",
        "cluster4", "self4", "affinity4" } },
    { NFPROTO_IPV6,
      NFTABLES_IPV6,
      16,
      8,
      24,
      { "addresses6", "node_ports6", "refused6", "refused_ports6", "endpoints6", "alive6",
        "cluster6", "self6", "affinity6" } },
};

/* ---------------------------------------------------------------- maps */

static void add_maps(struct nftables_batch *b, const struct service_family *f)
{
    const struct nftables_map maps[SERVICE_MAPS] = {
        { f->maps[SERVICE_ADDRESSES],
          { f->type, NFTABLES_PROTOCOL, NFTABLES_PORT },
          { NFTABLES_VERDICT },
          0 },
        { f->maps[SERVICE_NODE_PORTS],
          { NFTABLES_PROTOCOL, NFTABLES_PORT },
          { NFTABLES_VERDICT },
          0 },
        { f->maps[SERVICE_REFUSED],
          { f->type, NFTABLES_PROTOCOL, NFTABLES_PORT },
          { NFTABLES_VERDICT },
          0 },
        { f->maps[SERVICE_REFUSED_PORTS],
          { NFTABLES_PROTOCOL, NFTABLES_PORT },
          { NFTABLES_VERDICT },
          0 },
        { f->maps[SERVICE_ENDPOINTS],
          { f->type, NFTABLES_PROTOCOL, NFTABLES_PORT, NFTABLES_NUMBER },
          { f->type, NFTABLES_PORT },
          0 },
        { f->maps[SERVICE_ALIVE],
          { f->type, NFTABLES_PROTOCOL, NFTABLES_PORT, f->type, NFTABLES_PORT },
          { NFTABLES_NONE },
          0 },
        { f->maps[SERVICE_CLUSTER], { f->type }, { NFTABLES_NONE }, 0 },
        { f->maps[SERVICE_SELF], { f->type, f->type }, { NFTABLES_NONE }, 0 },
        { f->maps[SERVICE_AFFINITY],
          { f->type, f->type, NFTABLES_PROTOCOL, NFTABLES_PORT },
          { f->type, NFTABLES_PORT },
          SERVICE_AFFINITY_MAX },
    };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        nftables_add_map(b, &maps[i]);
}

/* ---------------------------------------------------------------- fixed rules */

static void begin_family_rule(struct nftables_batch *b, const char *chain,
                              const struct service_family *f)
{
    nftables_begin_rule(b, chain);
    nftables_load_meta(b, NFT_META_NFPROTO, NFT_REG_1);
    nftables_match(b, NFT_REG_1, &f->number, 1);
}

static void load_port(struct nftables_batch *b, uint32_t reg)
{
    nftables_load_meta(b, NFT_META_L4PROTO, reg);
    nftables_load_payload(b, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_OFFSET, 2, reg + 1);
}

static void load_address(struct nftables_batch *b, const struct service_family *f, uint32_t offset,
                         uint32_t reg)
{
    nftables_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER, offset, f->bytes, reg);
}

static void add_address_rule(struct nftables_batch *b, const char *chain,
                             const struct service_family *f, enum service_map map)
{
    begin_family_rule(b, chain, f);
    load_address(b, f, f->daddr, NFT_REG32_00);
    load_port(b, NFT_REG32_00 + f->bytes / 4);
    nftables_look_up_verdict(b, f->maps[map], NFT_REG32_00);
    nftables_end_rule(b);
}

static void match_local(struct nftables_batch *b)
{
    const uint32_t local = RTN_LOCAL;
    nftables_load_destination_type(b, NFT_REG_1);
    nftables_match(b, NFT_REG_1, &local, sizeof local);
}

static void add_port_rule(struct nftables_batch *b, const char *chain,
                          const struct service_family *f, enum service_map map)
{
    begin_family_rule(b, chain, f);
    match_local(b);
    load_port(b, NFT_REG32_00);
    nftables_look_up_verdict(b, f->maps[map], NFT_REG32_00);
    nftables_end_rule(b);
}

/* The kernel routes no packet from 127.0.0.0/8 to a pod. */
static void add_loopback_rule(struct nftables_batch *b)
{
    const uint8_t loopback[4] = { 127 }, mask[4] = { 255 };
    begin_family_rule(b, "services", &families[0]);
    load_address(b, &families[0], families[0].daddr, NFT_REG_1);
    nftables_mask(b, NFT_REG_1, mask, sizeof mask);
    nftables_match(b, NFT_REG_1, loopback, sizeof loopback);
    nftables_verdict(b, NFT_RETURN, NULL);
    nftables_end_rule(b);
}

static void add_jump(struct nftables_batch *b, const char *chain, const char *to)
{
    nftables_begin_rule(b, chain);
    nftables_verdict(b, NFT_JUMP, to);
    nftables_end_rule(b);
}

static void add_self_rule(struct nftables_batch *b, const struct service_family *f)
{
    begin_family_rule(b, "leaving", f);
    nftables_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER, f->saddr, 2 * f->bytes, NFT_REG32_00);
    nftables_look_up(b, f->maps[SERVICE_SELF], NFT_REG32_00, 0);
    nftables_masquerade(b);
    nftables_end_rule(b);
}

static void add_translation(struct nftables_batch *b)
{
    nftables_add_chain(b, "services");
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        add_address_rule(b, "services", &families[i], SERVICE_ADDRESSES);
    add_loopback_rule(b);
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        add_port_rule(b, "services", &families[i], SERVICE_NODE_PORTS);
    nftables_add_base_chain(b, "arriving", "nat", NF_INET_PRE_ROUTING, DSTNAT);
    add_jump(b, "arriving", "services");
    nftables_add_base_chain(b, "own", "nat", NF_INET_LOCAL_OUT, DSTNAT);
    add_jump(b, "own", "services");
    nftables_add_base_chain(b, "leaving", "nat", NF_INET_POST_ROUTING, SRCNAT);
    const uint32_t mark = SERVICE_RULES_MARK;
    nftables_begin_rule(b, "leaving");
    nftables_load_meta(b, NFT_META_MARK, NFT_REG_1);
    nftables_mask(b, NFT_REG_1, &mark, sizeof mark);
    nftables_match(b, NFT_REG_1, &mark, sizeof mark);
    nftables_masquerade(b);
    nftables_end_rule(b);
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        add_self_rule(b, &families[i]);
}

static void add_reject(struct nftables_batch *b)
{
    const uint8_t tcp = IPPROTO_TCP;
    nftables_add_chain(b, "reject");
    nftables_begin_rule(b, "reject");
    nftables_load_meta(b, NFT_META_L4PROTO, NFT_REG_1);
    nftables_match(b, NFT_REG_1, &tcp, 1);
    nftables_reject(b, true);
    nftables_end_rule(b);
    nftables_begin_rule(b, "reject");
    nftables_reject(b, false);
    nftables_end_rule(b);
}

static void add_cluster_rule(struct nftables_batch *b, const struct service_family *f)
{
    begin_family_rule(b, "refusing", f);
    load_address(b, f, f->daddr, NFT_REG32_00);
    nftables_look_up(b, f->maps[SERVICE_CLUSTER], NFT_REG32_00, 0);
    nftables_verdict(b, NFT_JUMP, "reject");
    nftables_end_rule(b);
}

static void add_refusal(struct nftables_batch *b)
{
    static const struct {
        const char *name;
        uint32_t hook;
    } hooks[] = { { "arrived", NF_INET_PRE_ROUTING }, { "sent", NF_INET_LOCAL_OUT } };
    add_reject(b);
    nftables_add_chain(b, "refusing");
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        add_address_rule(b, "refusing", &families[i], SERVICE_REFUSED);
        add_port_rule(b, "refusing", &families[i], SERVICE_REFUSED_PORTS);
        add_cluster_rule(b, &families[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++) {
        nftables_add_base_chain(b, hooks[i].name, "filter", hooks[i].hook, FILTER);
        add_jump(b, hooks[i].name, "refusing");
    }
}

/* ---------------------------------------------------------------- chains that choose */

struct service_chain_use {
    struct service_chain chain;
    size_t n;
};

static void name_chain(const struct service_chain *c, char ret[NAME_BYTES])
{
    char seconds[16] = "";
    if (c->affinity_s)
        (void)snprintf(seconds, sizeof seconds, "-%u", c->affinity_s);
    (void)snprintf(ret, NAME_BYTES, "%s%c-%u%s%s", c->is_node_port ? "port" : "to",
                   c->is_ipv6 ? '6' : '4', c->n, c->marks ? "-m" : "", seconds);
}

/*
 * The 16 registers of 32 bits:
 *
 *     client (with affinity) . address . protocol . port . number . endpoint . its port
 *
 * A remembered endpoint is loaded in the place of the number, so that the key of @alive is whole.
 */
struct service_places {
    uint32_t client, address, protocol, number, endpoint;
};

static struct service_places places_of(const struct service_family *f, bool has_client)
{
    struct service_places p = { .client = NFT_REG32_00 };
    p.address = p.client + (has_client ? f->bytes / 4 : 0);
    p.protocol = p.address + f->bytes / 4;
    p.number = p.protocol + 2;
    p.endpoint = p.number + 1;
    return p;
}

static void load_key(struct nftables_batch *b, const struct service_chain *c,
                     const struct service_family *f, const struct service_places *at)
{
    static const uint8_t none[16];
    if (c->affinity_s)
        load_address(b, f, f->saddr, at->client);
    if (c->is_node_port)
        nftables_load_value(b, at->address, none, f->bytes);
    else
        load_address(b, f, f->daddr, at->address);
    load_port(b, at->protocol);
}

static void end_chosen(struct nftables_batch *b, const struct service_chain *c,
                       const struct service_family *f, const struct service_places *at,
                       uint32_t endpoint)
{
    if (c->affinity_s)
        nftables_remember(b, f->maps[SERVICE_AFFINITY], at->client, endpoint,
                          (uint64_t)c->affinity_s * MS_PER_S);
    nftables_dnat(b, f->number, endpoint, endpoint + f->bytes / 4);
    nftables_end_rule(b);
}

static void add_remembered_rule(struct nftables_batch *b, const char *name,
                                const struct service_chain *c, const struct service_family *f,
                                const struct service_places *at)
{
    nftables_begin_rule(b, name);
    load_key(b, c, f, at);
    nftables_look_up(b, f->maps[SERVICE_AFFINITY], at->client, at->number);
    nftables_look_up(b, f->maps[SERVICE_ALIVE], at->address, 0);
    end_chosen(b, c, f, at, at->number);
}

static void add_chain(struct nftables_batch *b, const char *name, const struct service_chain *c)
{
    const struct service_family *f = &families[c->is_ipv6];
    const struct service_places at = places_of(f, c->affinity_s != 0);
    nftables_add_chain(b, name);
    if (c->marks) {
        nftables_begin_rule(b, name);
        nftables_add_mark(b, SERVICE_RULES_MARK);
        nftables_end_rule(b);
    }
    if (c->affinity_s)
        add_remembered_rule(b, name, c, f, &at);
    nftables_begin_rule(b, name);
    load_key(b, c, f, &at);
    nftables_load_random(b, c->n, at.number);
    nftables_look_up(b, f->maps[SERVICE_ENDPOINTS], at.address, at.endpoint);
    if (c->affinity_s) /* the endpoint that it had is not there any more */
        nftables_forget(b, f->maps[SERVICE_AFFINITY], at.client, at.endpoint);
    end_chosen(b, c, f, &at, at.endpoint);
    if (!c->affinity_s)
        return;
    /* The map is full, which ended the rule before: better any endpoint than none. */
    struct service_chain forgetful = *c;
    forgetful.affinity_s = 0;
    const struct service_places plain = places_of(f, false);
    nftables_begin_rule(b, name);
    load_key(b, &forgetful, f, &plain);
    nftables_load_random(b, c->n, plain.number);
    nftables_look_up(b, f->maps[SERVICE_ENDPOINTS], plain.address, plain.endpoint);
    end_chosen(b, &forgetful, f, &plain, plain.endpoint);
}

static void use_chain(struct nftables_batch *b, struct service_chains *chains,
                      const struct service_chain *c, const char *name)
{
    struct service_chain_use *use = map_get(&chains->by_name, str_of(name));
    if (!use) {
        use = xnew(struct service_chain_use);
        use->chain = *c;
        (void)map_put(&chains->by_name, str_of(name), use);
        add_chain(b, name, c);
    }
    use->n++;
}

/* ---------------------------------------------------------------- elements */

struct service_self_use {
    size_t n;
};

/* The element is to be changed: its first use begins, or the last one ends. */
static bool count_self(struct service_chains *chains, bool adds, const struct service_element *e)
{
    struct str key = str_n((const char *)e->key, e->key_n);
    struct service_self_use *use = map_get(&chains->selves, key);
    if (!use) {
        use = xnew(struct service_self_use);
        (void)map_put(&chains->selves, key, use);
    }
    use->n += adds ? 1 : -1;
    if (adds || use->n)
        return adds && use->n == 1;
    free(map_del(&chains->selves, key));
    return true;
}

static void change(struct nftables_batch *b, struct service_chains *chains, bool adds,
                   const struct service_element *e)
{
    const char *map = families[e->map >= SERVICE_MAPS].maps[e->map % SERVICE_MAPS];
    char name[NAME_BYTES];
    if (e->map % SERVICE_MAPS == SERVICE_SELF && !count_self(chains, adds, e))
        return;
    if (!service_map_has_verdicts(e->map)) {
        nftables_change_element(b, adds, map, e->key, e->key_n, e->value, e->value_n);
        return;
    }
    if (e->verdict == SERVICE_DROP || e->verdict == SERVICE_REJECT) {
        bool drops = e->verdict == SERVICE_DROP;
        nftables_change_verdict(b, adds, map, e->key, e->key_n, drops ? NF_DROP : NFT_GOTO,
                                drops ? NULL : "reject");
        return;
    }
    name_chain(&e->chain, name);
    if (adds)
        use_chain(b, chains, &e->chain, name);
    else
        ((struct service_chain_use *)map_get(&chains->by_name, str_of(name)))->n--;
    nftables_change_verdict(b, adds, map, e->key, e->key_n, NFT_GOTO, name);
}

/* First what goes, then what comes: elements of the same key may be among both. */
static void change_some(struct nftables_batch *b, struct service_chains *chains, bool adds,
                        const service_elements *some, const service_elements *others)
{
    size_t j = 0;
    for (size_t i = 0; i < some->n; i++) {
        const struct service_element *e = &some->p[i];
        while (j < others->n && service_element_compare(&others->p[j], e) < 0)
            j++;
        if (j == others->n || !service_element_equal(&others->p[j], e))
            change(b, chains, adds, e);
    }
}

void service_rules_change(struct nftables_batch *b, struct service_chains *chains,
                          const service_elements *is, const service_elements *wanted)
{
    change_some(b, chains, false, is, wanted);
    change_some(b, chains, true, wanted, is);
}

void service_rules_drop_chains(struct nftables_batch *b, struct service_chains *chains)
{
    VEC(struct service_chain) unused = { 0 };
    map_each (e, &chains->by_name) {
        const struct service_chain_use *use = e->value;
        if (use->n == 0)
            vec_push(&unused, use->chain);
    }
    vec_each (c, &unused) {
        char name[NAME_BYTES];
        name_chain(c, name);
        nftables_remove_chain(b, name);
        free(map_del(&chains->by_name, str_of(name)));
    }
    vec_fini(&unused);
}

/* ---------------------------------------------------------------- the table */

void service_chains_fini(struct service_chains *c)
{
    map_each (e, &c->by_name)
        free(e->value);
    map_fini(&c->by_name);
    map_each (e, &c->selves)
        free(e->value);
    map_fini(&c->selves);
}

void service_rules_renew(struct nftables_batch *b, struct service_chains *chains)
{
    service_chains_fini(chains);
    *chains = (struct service_chains){ 0 };
    nftables_renew_table(b);
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        add_maps(b, &families[i]);
    add_refusal(b);
    add_translation(b);
}
