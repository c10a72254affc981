/* SPDX-License-Identifier: Apache-2.0 */
/* See forward.h. A call is one question that waits for other servers; attempt.h asks one of them.
 */
#include "dns/forward.h"

#include "base/sys.h"
#include "dns/attempt.h"
#include "io/address.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>

enum { FORWARD_CONF_MAX = 64 << 10, FORWARD_PORT = 53, FORWARD_TRIES_MIN = 2 };

struct dns_forward {
    struct dns_forward_opts opts;
    struct dns_servers servers; /* of resolv.conf */
    struct timespec conf_changed;
    ino_t conf_inode;
    size_t first; /* of the servers without a zone: the one that answered last */
    struct dns_cache cache;
    struct map calls; /* question -> struct forward_call */
    size_t n_waiters;
};

struct forward_call {
    struct dns_forward *f;
    struct list waiters;
    struct dns_servers servers;
    bool is_stub;
    size_t first, n_tries;
    struct dns_attempt *attempt;
    struct dns_question question;
    struct str key; /* in key_bytes; the question's name is its beginning */
    char key_bytes[DNS_QUESTION_KEY];
};

/* ---------------------------------------------------------------- servers */

static void set_port(struct sockaddr_storage *at, uint16_t port)
{
    if (at->ss_family == AF_INET)
        ((struct sockaddr_in *)at)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)at)->sin6_port = htons(port);
}

static bool set_ip(struct sockaddr_storage *at, struct str text)
{
    struct address ip;
    memset(at, 0, sizeof *at);
    if (!address_parse(text, &ip))
        return false;
    at->ss_family = address_is_v4(&ip) ? AF_INET : AF_INET6;
    if (at->ss_family == AF_INET)
        memcpy(&((struct sockaddr_in *)at)->sin_addr, ip.bytes + 12, 4);
    else
        memcpy(&((struct sockaddr_in6 *)at)->sin6_addr, ip.bytes, sizeof ip.bytes);
    return true;
}

int dns_servers_add(struct dns_servers *s, struct str text, struct err *err)
{
    struct sockaddr_storage at;
    struct str host;
    uint16_t port = FORWARD_PORT;
    if (!set_ip(&at, text) && !(address_split(text, &host, &port) && set_ip(&at, host)))
        return err_set(err, E_INVALID, "'" STR_FMT "' is not the address of a DNS server",
                       STR_ARG(text));
    if (s->n == DNS_FORWARD_SERVERS_MAX)
        return err_set(err, E_LIMIT, "more than %d DNS servers", DNS_FORWARD_SERVERS_MAX);
    set_port(&at, port);
    s->at[s->n++] = at;
    return 0;
}

int dns_stub_parse(struct str text, struct dns_stub *ret, struct err *err)
{
    struct str zone, rest, server;
    int r = 0;
    *ret = (struct dns_stub){ 0 };
    if (!str_cut(text, '=', &zone, &rest) || !dns_name_parse(zone, &ret->zone) || !rest.n)
        return err_set(err, E_INVALID, "'" STR_FMT "' is not ZONE=ADDR", STR_ARG(text));
    while (rest.n && r == 0) {
        (void)str_cut(rest, ',', &server, &rest);
        r = dns_servers_add(&ret->servers, server, err);
    }
    return r;
}

static uint16_t port_of(const struct sockaddr_storage *at)
{
    return ntohs(at->ss_family == AF_INET ? ((const struct sockaddr_in *)at)->sin_port
                                          : ((const struct sockaddr_in6 *)at)->sin6_port);
}

static bool is_own(const struct dns_forward *f, const struct sockaddr_storage *at)
{
    struct address ip;
    if (!address_of_socket((const struct sockaddr *)at, &ip))
        return true;
    for (size_t i = 0; i < f->opts.n_own; i++) {
        if (address_equal(&f->opts.own[i], &ip) && port_of(at) == f->opts.own_port)
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- resolv.conf */

static void read_conf_line(struct dns_forward *f, struct str line)
{
    struct str word, rest;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '#' || line.p[i] == ';')
            line.n = i;
    }
    line = str_trim(line);
    size_t n = 0;
    while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t')
        n++;
    word = str_slice(line, 0, n);
    rest = str_trim(str_slice(line, n, line.n));
    /* An address with a scope, "fe80::1%eth0", is not known here. */
    if (str_is(word, "nameserver"))
        (void)dns_servers_add(&f->servers, rest, NULL);
}

static void read_conf(struct dns_forward *f, const char *path)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(FORWARD_CONF_MAX);
    f->servers.n = f->first = 0;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0)
        return;
    for (struct str rest = buf_str(&text), line; rest.n;) {
        (void)str_cut(rest, '\n', &line, &rest);
        read_conf_line(f, line);
    }
}

static void look_at_conf(struct dns_forward *f)
{
    const char *path = f->opts.resolv_conf ? f->opts.resolv_conf : "/etc/resolv.conf";
    struct stat st = { 0 };
    (void)stat(path, &st); /* without it there are no servers, which is read again as well */
    if (st.st_ino == f->conf_inode && st.st_mtim.tv_sec == f->conf_changed.tv_sec &&
        st.st_mtim.tv_nsec == f->conf_changed.tv_nsec)
        return;
    f->conf_inode = st.st_ino;
    f->conf_changed = st.st_mtim;
    read_conf(f, path);
}

/* ---------------------------------------------------------------- which servers */

/* The stub with the longest zone; NULL: none. */
static const struct dns_stub *find_stub(const struct dns_forward *f, const struct dns_name *name)
{
    const struct dns_stub *best = NULL;
    for (size_t i = 0; i < f->opts.n_stubs; i++) {
        const struct dns_stub *s = &f->opts.stubs[i];
        if (dns_name_is_in(name, &s->zone) && (!best || s->zone.n_labels > best->zone.n_labels))
            best = s;
    }
    return best;
}

static void choose_servers(struct dns_forward *f, struct forward_call *c)
{
    struct dns_name name;
    const struct dns_stub *stub =
        dns_name_read(c->question.name, &name) ? find_stub(f, &name) : NULL;
    if (!stub && !f->opts.servers.n)
        look_at_conf(f);
    const struct dns_servers *from = stub                ? &stub->servers
                                     : f->opts.servers.n ? &f->opts.servers
                                                         : &f->servers;
    c->is_stub = stub != NULL;
    for (size_t i = 0; i < from->n; i++) {
        if (!is_own(f, &from->at[i]))
            c->servers.at[c->servers.n++] = from->at[i];
    }
    c->first = c->servers.n && !stub ? f->first % c->servers.n : 0;
}

/* ---------------------------------------------------------------- calls */

static void on_attempt(void *arg, int r, struct str message,
                       const struct dns_upstream_answer *answer);

static size_t server_of(const struct forward_call *c)
{
    return (c->first + c->n_tries - 1) % c->servers.n;
}

/* Ask the next server. Errors: of the last try. */
static int try_next(struct forward_call *c)
{
    int r = E_UNSUPPORTED;
    size_t n = c->servers.n ? MAX(c->servers.n, (size_t)FORWARD_TRIES_MIN) : 0;
    while (c->n_tries < n) {
        c->n_tries++;
        const struct dns_attempt_opts opts = {
            .loop = c->f->opts.loop,
            .server = (const struct sockaddr *)&c->servers.at[server_of(c)],
            .question = c->question,
            .done = on_attempt,
            .arg = c
        };
        r = dns_attempt_start(&opts, &c->attempt);
        if (r == 0)
            return 0;
    }
    return r;
}

static void free_call(struct forward_call *c)
{
    (void)map_del(&c->f->calls, c->key);
    free(c);
}

static void finish_call(struct forward_call *c, const struct dns_forward_answer *answer)
{
    struct list waiters;
    list_move_all(&c->waiters, &waiters);
    struct dns_forward *f = c->f;
    free_call(c);
    for (struct list *node; (node = list_pop_front(&waiters));) {
        struct dns_waiter *w = list_entry(node, struct dns_waiter, node);
        f->n_waiters--;
        w->done(w, answer);
    }
}

static void on_attempt(void *arg, int r, struct str message,
                       const struct dns_upstream_answer *answer)
{
    struct forward_call *c = arg;
    struct dns_forward *f = c->f;
    bool is_good = r == 0 && (answer->rcode == DNS_NOERROR || answer->rcode == DNS_NXDOMAIN);
    c->attempt = NULL;
    if (!is_good && try_next(c) == 0)
        return;
    if (r < 0) {
        finish_call(c, &(struct dns_forward_answer){ .rcode = DNS_SERVFAIL });
        return;
    }
    if (is_good && !c->is_stub)
        f->first = server_of(c);
    dns_cache_put(&f->cache, &c->question, loop_now_ms(f->opts.loop), message, answer);
    finish_call(c, &(struct dns_forward_answer){ .rcode = answer->rcode, .message = message });
}

static int start_call(struct dns_forward *f, const struct dns_question *q, struct dns_waiter *w)
{
    if (f->calls.n >= DNS_FORWARD_CALLS_MAX)
        return E_LIMIT;
    struct forward_call *c = xnew(struct forward_call);
    c->f = f;
    list_init(&c->waiters);
    c->key = dns_question_key(q, c->key_bytes);
    c->question = (struct dns_question){ str_n(c->key_bytes, q->name.n), q->type };
    choose_servers(f, c);
    int r = try_next(c);
    if (r < 0) {
        free(c);
        return r;
    }
    (void)map_put(&f->calls, c->key, c);
    list_push_back(&c->waiters, &w->node);
    return 0;
}

int dns_forward_ask(struct dns_forward *f, const struct dns_question *q, struct dns_waiter *w,
                    struct dns_forward_answer *ret)
{
    struct dns_cached cached;
    char key[DNS_QUESTION_KEY];
    if (dns_cache_get(&f->cache, q, loop_now_ms(f->opts.loop), &cached)) {
        *ret = (struct dns_forward_answer){ cached.rcode, cached.message, cached.age_s };
        return 1;
    }
    if (f->n_waiters >= DNS_FORWARD_WAITERS_MAX)
        return E_LIMIT;
    struct forward_call *c = map_get(&f->calls, dns_question_key(q, key));
    int r = 0;
    if (c)
        list_push_back(&c->waiters, &w->node);
    else
        r = start_call(f, q, w);
    f->n_waiters += r == 0;
    return r;
}

struct dns_forward *dns_forward_new(const struct dns_forward_opts *opts)
{
    struct dns_forward *f = xnew(struct dns_forward);
    f->opts = *opts;
    f->calls.borrows_keys = true;
    return f;
}

void dns_forward_free(struct dns_forward *f)
{
    for (struct map_entry *e; (e = map_next(&f->calls, NULL));) {
        struct forward_call *c = e->value;
        dns_attempt_cancel(c->attempt);
        finish_call(c, &(struct dns_forward_answer){ .rcode = DNS_SERVFAIL });
    }
    map_fini(&f->calls);
    dns_cache_fini(&f->cache);
    free(f);
}

size_t dns_forward_calls(const struct dns_forward *f)
{
    return f->calls.n;
}
