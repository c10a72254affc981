/* SPDX-License-Identifier: Apache-2.0 */
#include "dns/resolver.h"

#include <sys/random.h>

struct dns_resolver {
    struct dns_zone *zone;
    struct dns_server *server;
    struct dns_forward *forward;
    struct address ips[DNS_SERVER_IPS_MAX];
    struct rng rng;
    void (*done)(void *arg);
    void *arg;
};

/* A request that waits for another server; in its arena. */
struct resolver_wait {
    struct dns_waiter waiter;
    struct dns_resolver *resolver;
    struct dns_request *rq;
    const struct dns_answer *zone; /* aliases that lead there; NULL: none */
};

static void answer_forwarded(struct dns_resolver *r, struct dns_request *rq,
                             const struct dns_answer *zone, const struct dns_forward_answer *answer)
{
    const struct dns_reply reply = { .rcode = answer->rcode,
                                     .zone = zone,
                                     .upstream = answer->message,
                                     .age_s = answer->age_s,
                                     .order = &r->rng };
    dns_request_answer(rq, &reply);
}

static void on_forwarded(struct dns_waiter *w, const struct dns_forward_answer *answer)
{
    struct resolver_wait *wait = container_of(w, struct resolver_wait, waiter);
    answer_forwarded(wait->resolver, wait->rq, wait->zone, answer);
}

static void forward(struct dns_resolver *r, struct dns_request *rq, struct str name,
                    const struct dns_answer *zone)
{
    const struct dns_question question = { name, dns_request_query(rq)->type };
    struct dns_forward_answer answer = { .rcode = DNS_SERVFAIL };
    struct resolver_wait *wait = arena_new(dns_request_arena(rq), struct resolver_wait);
    *wait = (struct resolver_wait){
        .waiter.done = on_forwarded, .resolver = r, .rq = rq, .zone = zone
    };
    if (dns_forward_ask(r->forward, &question, &wait->waiter, &answer) != 0)
        answer_forwarded(r, rq, zone, &answer);
}

static void answer_from_zone(struct dns_resolver *r, struct dns_request *rq,
                             const struct dns_answer *a, enum dns_rcode rcode)
{
    dns_request_answer(rq, &(struct dns_reply){ .rcode = rcode, .zone = a, .order = &r->rng });
}

static void refuse(struct dns_request *rq, enum dns_rcode rcode)
{
    dns_request_answer(rq, &(struct dns_reply){ .rcode = rcode });
}

/* The target of an alias may have letters of either case; a question has lower ones. */
static void follow_alias(struct dns_resolver *r, struct dns_request *rq, const struct dns_answer *a)
{
    struct dns_name target;
    if (dns_name_read(a->follow, &target))
        forward(r, rq, dns_name_from(&target, 0), a);
    else
        answer_from_zone(r, rq, a, DNS_NOERROR);
}

static void on_question(void *arg, struct dns_request *rq)
{
    struct dns_resolver *r = arg;
    const struct dns_query *q = dns_request_query(rq);
    struct dns_answer *a = arena_new(dns_request_arena(rq), struct dns_answer);
    dns_zone_answer(r->zone, &q->name, q->type, dns_request_arena(rq), a);
    switch (a->found) {
    case DNS_ZONE_FOUND:
        if (a->follow.n)
            follow_alias(r, rq, a);
        else
            answer_from_zone(r, rq, a, DNS_NOERROR);
        return;
    case DNS_ZONE_NO_NAME:
        answer_from_zone(r, rq, a, DNS_NXDOMAIN);
        return;
    case DNS_ZONE_NOT_KNOWN:
        refuse(rq, DNS_SERVFAIL);
        return;
    case DNS_ZONE_ELSEWHERE:
        if (q->wants_recursion)
            forward(r, rq, dns_name_from(&q->name, 0), NULL);
        else
            refuse(rq, DNS_REFUSED);
        return;
    }
}

int dns_resolver_start(const struct dns_resolver_opts *opts, struct dns_resolver **ret,
                       struct err *err)
{
    struct dns_resolver *r = xnew(struct dns_resolver);
    const struct dns_server_opts server = { .loop = opts->loop,
                                            .ips = opts->ips,
                                            .n_ips = opts->n_ips,
                                            .port = opts->port,
                                            .clients = opts->clients,
                                            .n_clients = opts->n_clients,
                                            .client_rate = opts->client_rate,
                                            .ask = on_question,
                                            .arg = r };
    int code = dns_server_start(&server, &r->server, err);
    if (code < 0) {
        free(r);
        return code;
    }
    for (size_t i = 0; i < opts->n_ips; i++)
        r->ips[i] = opts->ips[i];
    const struct dns_forward_opts forward_opts = { .loop = opts->loop,
                                                   .servers = opts->servers,
                                                   .resolv_conf = opts->resolv_conf,
                                                   .stubs = opts->stubs,
                                                   .n_stubs = opts->n_stubs,
                                                   .own = r->ips,
                                                   .n_own = opts->n_ips,
                                                   .own_port = dns_server_port(r->server) };
    r->forward = dns_forward_new(&forward_opts);
    r->zone = opts->zone;
    dns_zone_set_servers(r->zone, r->ips, opts->n_ips);
    (void)getrandom(&r->rng, sizeof r->rng, 0);
    *ret = r;
    return 0;
}

static void on_server_closed(void *arg)
{
    struct dns_resolver *r = arg;
    void (*done)(void *) = r->done;
    void *done_arg = r->arg;
    free(r);
    done(done_arg);
}

void dns_resolver_close(struct dns_resolver *r, void (*done)(void *arg), void *arg)
{
    r->done = done;
    r->arg = arg;
    dns_forward_free(take_ptr(&r->forward));
    dns_server_close(r->server, on_server_closed, r);
}

struct dns_server *dns_resolver_server(struct dns_resolver *r)
{
    return r->server;
}

size_t dns_resolver_calls(const struct dns_resolver *r)
{
    return dns_forward_calls(r->forward);
}
