/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a pod's network; see pod_files.h. */
#include "agent/network/pod_files.h"

#include "base/mem.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>

/* ---------------------------------------------------------------- resolv.conf */

typedef VEC(struct str) texts;

struct resolver {
    texts nameservers, searches, options;
    struct arena arena;
};

static void resolver_fini(struct resolver *r)
{
    vec_fini(&r->nameservers);
    vec_fini(&r->searches);
    vec_fini(&r->options);
    arena_fini(&r->arena);
}

static bool has_text(const texts *list, struct str s)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->p[i], s))
            return true;
    return false;
}

static void add_once(texts *list, struct str s)
{
    if (!has_text(list, s))
        vec_push(list, s);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool take_word(struct str *line, struct str *ret)
{
    size_t from = 0, to;
    while (from < line->n && is_blank(line->p[from]))
        from++;
    for (to = from; to < line->n && !is_blank(line->p[to]);)
        to++;
    *ret = str_slice(*line, from, to);
    *line = str_slice(*line, to, line->n);
    return ret->n > 0;
}

/* "example.com." and "example.com" are one domain; "." alone stays. */
static struct str without_dot(struct str s)
{
    return s.n > 1 && s.p[s.n - 1] == '.' ? str_slice(s, 0, s.n - 1) : s;
}

static void read_host_line(struct resolver *r, struct str line)
{
    struct str key, word;
    if (!take_word(&line, &key) || key.p[0] == '#')
        return;
    if (str_is(key, "nameserver") && take_word(&line, &word))
        vec_push(&r->nameservers, word);
    if (str_is(key, "search")) /* the last one wins, as for options */
        for (r->searches.n = 0; take_word(&line, &word);)
            vec_push(&r->searches, without_dot(word));
    if (str_is(key, "options"))
        for (r->options.n = 0; take_word(&line, &word);)
            vec_push(&r->options, word);
}

static int read_host_conf(struct resolver *r, struct str text, struct err *err)
{
    if (text.n > POD_FILES_HOST_CONF_MAX)
        return err_set(err, E_LIMIT, "the node's resolv.conf has more than %d bytes",
                       POD_FILES_HOST_CONF_MAX);
    while (text.n) {
        struct str line, rest;
        (void)str_cut(text, '\n', &line, &rest);
        read_host_line(r, line);
        text = rest;
    }
    return 0;
}

static void use_cluster(struct resolver *r, const struct pod_files_dns *d)
{
    texts host = r->searches;
    struct arena *a = &r->arena;
    r->searches = (texts){ 0 };
    r->nameservers.n = r->options.n = 0;
    for (size_t i = 0; i < d->n_cluster_nameservers; i++)
        vec_push(&r->nameservers, d->cluster_nameservers[i]);
    if (d->cluster_domain.n) {
        add_once(&r->searches,
                 str_of(arena_printf(a, STR_FMT ".svc." STR_FMT, STR_ARG(d->namespace),
                                     STR_ARG(d->cluster_domain))));
        add_once(&r->searches, str_of(arena_printf(a, "svc." STR_FMT, STR_ARG(d->cluster_domain))));
        add_once(&r->searches, d->cluster_domain);
    }
    for (size_t i = 0; i < host.n; i++)
        add_once(&r->searches, host.p[i]);
    vec_push(&r->options, STR("ndots:5"));
    vec_fini(&host);
}

/* The node has no file: as kubelet with an empty --resolv-conf. */
static void use_nothing(struct resolver *r)
{
    vec_push(&r->nameservers, STR("127.0.0.1"));
    vec_push(&r->searches, STR("."));
}

static bool is_cluster_first(const struct pod_files_dns *d)
{
    return d->policy == POD_FILES_CLUSTER_FIRST_WITH_HOST_NET ||
           (d->policy == POD_FILES_CLUSTER_FIRST && !d->host_network);
}

static int use_policy(struct resolver *r, const struct pod_files_dns *d,
                      struct pod_files_warnings *w, struct err *err)
{
    if (d->policy == POD_FILES_NONE)
        return 0;
    int status = read_host_conf(r, d->host_conf, err);
    if (status < 0)
        return status;
    if (is_cluster_first(d) && d->n_cluster_nameservers) {
        use_cluster(r, d);
        return 0;
    }
    if (is_cluster_first(d))
        (void)snprintf(w->missing, sizeof w->missing,
                       "kubelet does not have ClusterDNS IP configured and cannot create Pod using "
                       "\"ClusterFirst\" policy. Falling back to \"Default\" policy.");
    if (d->host_conf.n == 0)
        use_nothing(r);
    return 0;
}

static struct str option_name(struct str option)
{
    struct str name, value;
    (void)str_cut(option, ':', &name, &value);
    return name;
}

static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return true;
}

/* One of the pod replaces one of the same name. The API checks no values: what would be more than
 * one word is left out. */
static void merge_option(struct resolver *r, const struct pod_files_option *o)
{
    struct str text = o->name;
    if (o->name.n == 0 || !is_word(o->name) || !is_word(o->value))
        return;
    if (o->value.n)
        text = str_of(
            arena_printf(&r->arena, STR_FMT ":" STR_FMT, STR_ARG(o->name), STR_ARG(o->value)));
    for (size_t i = 0; i < r->options.n; i++)
        if (str_eq(option_name(r->options.p[i]), o->name)) {
            r->options.p[i] = text;
            return;
        }
    vec_push(&r->options, text);
}

/* Only with a dnsConfig are duplicates dropped. */
static void merge_config(struct resolver *r, const struct pod_files_dns *d)
{
    texts nameservers = r->nameservers, searches = r->searches;
    if (d->n_nameservers + d->n_searches + d->n_options == 0)
        return;
    r->nameservers = r->searches = (texts){ 0 };
    for (size_t i = 0; i < nameservers.n; i++)
        add_once(&r->nameservers, nameservers.p[i]);
    for (size_t i = 0; i < d->n_nameservers; i++)
        add_once(&r->nameservers, d->nameservers[i]);
    for (size_t i = 0; i < searches.n; i++)
        add_once(&r->searches, searches.p[i]);
    for (size_t i = 0; i < d->n_searches; i++)
        add_once(&r->searches, d->searches[i]);
    for (size_t i = 0; i < MIN(d->n_options, (size_t)POD_FILES_OPTIONS_MAX); i++)
        merge_option(r, &d->options[i]);
    vec_fini(&nameservers);
    vec_fini(&searches);
}

static void write_list(struct buf *to, const texts *list)
{
    for (size_t i = 0; i < list->n; i++)
        (void)buf_printf(to, "%s" STR_FMT, i ? " " : "", STR_ARG(list->p[i]));
}

static void warn_of(const texts *list, const char *fmt, char *to, size_t n)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(n);
    (void)buf_add_cstr(&b, fmt);
    write_list(&b, list);
    (void)snprintf(to, n, "%s", buf_cstr(&b));
}

static size_t line_bytes(const texts *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->p[i].n + (i > 0);
    return n;
}

static bool limit_searches(texts *list)
{
    bool is_cut = list->n > POD_FILES_SEARCHES_MAX;
    size_t kept = 0;
    list->n = MIN(list->n, (size_t)POD_FILES_SEARCHES_MAX);
    for (size_t i = 0; i < list->n; i++) /* glibc ends programs over longer ones */
        if (list->p[i].n <= POD_FILES_SEARCH_MAX)
            list->p[kept++] = list->p[i];
    is_cut = is_cut || kept < list->n;
    list->n = kept;
    for (; line_bytes(list) > POD_FILES_SEARCH_BYTES_MAX; is_cut = true)
        list->n--;
    return is_cut;
}

static void apply_limits(struct resolver *r, struct pod_files_warnings *w)
{
    if (r->nameservers.n > POD_FILES_NAMESERVERS_MAX) {
        r->nameservers.n = POD_FILES_NAMESERVERS_MAX;
        warn_of(&r->nameservers,
                "Nameserver limits were exceeded, some nameservers have been omitted, the applied "
                "nameserver line is: ",
                w->nameservers, sizeof w->nameservers);
    }
    if (limit_searches(&r->searches))
        warn_of(&r->searches,
                "Search Line limits were exceeded, some search paths have been omitted, the "
                "applied search line is: ",
                w->searches, sizeof w->searches);
    r->options.n = MIN(r->options.n, (size_t)POD_FILES_OPTIONS_MAX);
}

static void write_resolver(struct buf *to, const struct resolver *r)
{
    if (r->searches.n) {
        (void)buf_add_cstr(to, "search ");
        write_list(to, &r->searches);
        (void)buf_add_char(to, '\n');
    }
    for (size_t i = 0; i < r->nameservers.n; i++)
        (void)buf_printf(to, "nameserver " STR_FMT "\n", STR_ARG(r->nameservers.p[i]));
    if (r->options.n) {
        (void)buf_add_cstr(to, "options ");
        write_list(to, &r->options);
        (void)buf_add_char(to, '\n');
    }
}

int pod_files_resolv_conf(const struct pod_files_dns *d, struct buf *to,
                          struct pod_files_warnings *ret_warnings, struct err *err)
{
    struct resolver r = { 0 };
    struct pod_files_warnings w = { 0 };
    int status = use_policy(&r, d, &w, err);
    if (status == 0) {
        merge_config(&r, d);
        apply_limits(&r, &w);
        write_resolver(to, &r);
        status = to->failed;
    }
    resolver_fini(&r);
    if (status == 0 && ret_warnings)
        *ret_warnings = w;
    return status;
}

/* ---------------------------------------------------------------- host name */

static struct str cut_name(struct str name)
{
    name = str_slice(name, 0, MIN(name.n, (size_t)POD_FILES_HOSTNAME_MAX));
    while (name.n && (name.p[name.n - 1] == '-' || name.p[name.n - 1] == '.'))
        name.n--;
    return name;
}

static int put_name(char to[POD_FILES_NODENAME_MAX + 1], struct str name, size_t max,
                    struct err *err)
{
    if (name.n == 0 || name.n > max)
        return err_set(err, E_INVALID, "'" STR_FMT "' is no host name of 1 to %zu bytes",
                       STR_ARG(name), max);
    (void)snprintf(to, POD_FILES_NODENAME_MAX + 1, STR_FMT, STR_ARG(name));
    return 0;
}

static int make_fqdn(struct pod_files_hostname *h, struct err *err)
{
    size_t n = strlen(h->short_name) + 1 + strlen(h->domain);
    if (n > POD_FILES_NODENAME_MAX)
        return err_set(err, E_INVALID,
                       "failed to construct FQDN from pod hostname and cluster domain, FQDN "
                       "%s.%s is too long (%d characters is the max, %zu characters requested)",
                       h->short_name, h->domain, POD_FILES_NODENAME_MAX, n);
    (void)snprintf(h->name, sizeof h->name, "%s.%s", h->short_name, h->domain);
    return 0;
}

int pod_files_hostname(const struct pod_files_name *p, struct pod_files_hostname *ret,
                       struct err *err)
{
    struct pod_files_hostname h = { 0 };
    bool is_set = p->hostname_override.n > 0;
    struct str name = is_set          ? p->hostname_override
                      : p->hostname.n ? p->hostname
                                      : cut_name(p->name);
    int r =
        put_name(h.short_name, name, is_set ? POD_FILES_NODENAME_MAX : POD_FILES_HOSTNAME_MAX, err);
    if (r < 0)
        return r;
    memcpy(h.name, h.short_name, sizeof h.name);
    if (!is_set && p->subdomain.n)
        (void)snprintf(h.domain, sizeof h.domain, STR_FMT "." STR_FMT ".svc." STR_FMT,
                       STR_ARG(p->subdomain), STR_ARG(p->namespace), STR_ARG(p->cluster_domain));
    r = p->is_fqdn && h.domain[0] ? make_fqdn(&h, err) : 0;
    if (r < 0)
        return r;
    *ret = h;
    return 0;
}

/* ---------------------------------------------------------------- hosts */

static void write_own_names(const struct pod_files_hosts *h, struct buf *to)
{
    const struct pod_files_hostname *name = h->name;
    (void)buf_add_cstr(to, "# Kubernetes-managed hosts file.\n"
                           "127.0.0.1\tlocalhost\n"
                           "::1\tlocalhost ip6-localhost ip6-loopback\n"
                           "fe00::\tip6-localnet\n"
                           "fe00::\tip6-mcastprefix\n"
                           "fe00::1\tip6-allnodes\n"
                           "fe00::2\tip6-allrouters\n");
    for (size_t i = 0; i < h->n_ips; i++)
        if (name->domain[0])
            (void)buf_printf(to, "%s\t%s.%s\t%s\n", h->ips[i], name->short_name, name->domain,
                             name->short_name);
        else
            (void)buf_printf(to, "%s\t%s\n", h->ips[i], name->short_name);
}

int pod_files_hosts(const struct pod_files_hosts *h, struct buf *to)
{
    if (h->host_network) {
        (void)buf_add_cstr(to, "# Kubernetes-managed hosts file (host network).\n");
        (void)buf_add_str(to, h->node_hosts);
        if (h->node_hosts.n && h->node_hosts.p[h->node_hosts.n - 1] != '\n')
            (void)buf_add_char(to, '\n');
    } else
        write_own_names(h, to);
    if (h->n_aliases)
        (void)buf_add_cstr(to, "\n# Entries added by HostAliases.\n");
    for (size_t i = 0; i < h->n_aliases; i++) {
        (void)buf_add_str(to, h->aliases[i].ip);
        for (size_t j = 0; j < h->aliases[i].n_names; j++)
            (void)buf_printf(to, "\t" STR_FMT, STR_ARG(h->aliases[i].names[j]));
        (void)buf_add_char(to, '\n');
    }
    return to->failed;
}
