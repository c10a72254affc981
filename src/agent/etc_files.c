/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/etc_files.h"

#include "agent/agent_impl.h"
#include "agent/cluster_dns.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { HOST_FILE_MAX = 256 << 10 };

static int write_file(const struct agent_pod *p, const char *name, struct str text, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/etc/%s", p->dir, name);
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int r = fd < 0 ? -errno : sys_write_all(fd, text.p, text.n);
    return r < 0 ? err_sys(err, r, "write %s", path) : 0;
}

static enum pod_files_policy policy_of(struct str text)
{
    return str_is(text, "Default")                   ? POD_FILES_DEFAULT
           : str_is(text, "None")                    ? POD_FILES_NONE
           : str_is(text, "ClusterFirstWithHostNet") ? POD_FILES_CLUSTER_FIRST_WITH_HOST_NET
                                                     : POD_FILES_CLUSTER_FIRST;
}

static void read_host_file(const char *path, struct buf *to)
{
    struct err err = { 0 };
    (void)sys_read_file(AT_FDCWD, path, to, &err); /* without it, as an empty one */
}

static int write_resolv_conf(struct agent_pod *p, struct err *err)
{
    const struct pod_dns_config *dns = &p->spec->dns;
    scoped(buf_fini_scoped) struct buf host = BUF_INIT(HOST_FILE_MAX),
                                       text = BUF_INIT(POD_FILES_TEXT_MAX);
    struct pod_files_option *options = xnew_n(struct pod_files_option, dns->n_options + 1);
    struct pod_files_warnings warnings = { 0 };
    struct str servers[AGENT_DNS_SERVERS_MAX];
    bool is_off;
    size_t n_servers = agent_dns_servers(p->agent->dns, servers, &is_off);
    read_host_file("/etc/resolv.conf", &host);
    for (size_t i = 0; i < dns->n_options; i++)
        options[i] = (struct pod_files_option){ dns->options[i].name, dns->options[i].value };
    const struct pod_files_dns in = { .policy = policy_of(p->spec->dns_policy),
                                      .host_network = p->spec->host_network,
                                      .namespace = p->spec->namespace,
                                      .cluster_nameservers = servers,
                                      .n_cluster_nameservers = n_servers,
                                      .cluster_domain = STR(AGENT_CLUSTER_DOMAIN),
                                      .host_conf = buf_str(&host),
                                      .nameservers = dns->servers,
                                      .n_nameservers = dns->n_servers,
                                      .searches = dns->searches,
                                      .n_searches = dns->n_searches,
                                      .options = options,
                                      .n_options = dns->n_options };
    int r = pod_files_resolv_conf(&in, &text, &warnings, err);
    free(options);
    if (warnings.missing[0] && !is_off)
        agent_event(p, NULL, true, "MissingClusterDNS", "%s", warnings.missing);
    if (warnings.nameservers[0])
        agent_event(p, NULL, true, "DNSConfigForming", "%s", warnings.nameservers);
    if (warnings.searches[0])
        agent_event(p, NULL, true, "DNSConfigForming", "%s", warnings.searches);
    return r < 0 ? r : write_file(p, "resolv.conf", buf_str(&text), err);
}

int agent_etc_hostname(const struct agent_pod *p, struct pod_files_hostname *ret, struct err *err)
{
    const struct pod_files_name name = { .name = p->spec->name,
                                         .namespace = p->spec->namespace,
                                         .hostname = p->spec->hostname,
                                         .subdomain = p->spec->subdomain,
                                         .hostname_override = p->spec->hostname_override,
                                         .cluster_domain = STR(AGENT_CLUSTER_DOMAIN),
                                         .is_fqdn = p->spec->set_hostname_as_fqdn };
    return pod_files_hostname(&name, ret, err);
}

static int write_hosts(struct agent_pod *p, const struct pod_files_hostname *name, struct err *err)
{
    scoped(buf_fini_scoped) struct buf node = BUF_INIT(HOST_FILE_MAX),
                                       text = BUF_INIT(POD_FILES_TEXT_MAX);
    struct pod_files_alias *aliases = xnew_n(struct pod_files_alias, p->spec->n_aliases + 1);
    size_t n_ips = 0;
    const char *const *ips = p->network ? pod_network_ips(p->network, &n_ips) : NULL;
    if (p->spec->host_network)
        read_host_file("/etc/hosts", &node);
    for (size_t i = 0; i < p->spec->n_aliases; i++) {
        const struct pod_host_alias *a = &p->spec->aliases[i];
        aliases[i] = (struct pod_files_alias){ a->ip, a->names, a->n_names };
    }
    const struct pod_files_hosts in = { .name = name,
                                        .ips = ips,
                                        .n_ips = n_ips,
                                        .aliases = aliases,
                                        .n_aliases = p->spec->n_aliases,
                                        .host_network = p->spec->host_network,
                                        .node_hosts = buf_str(&node) };
    int r = pod_files_hosts(&in, &text);
    free(aliases);
    if (r < 0)
        return err_set(err, r, "/etc/hosts of the pod is too large");
    return write_file(p, "hosts", buf_str(&text), err);
}

int agent_etc_files_write(struct agent_pod *p, struct err *err)
{
    struct pod_files_hostname name;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1024);
    int r = agent_etc_hostname(p, &name, err);
    (void)buf_printf(&text, "%s\n", name.name);
    r = r < 0 ? r : write_file(p, "hostname", buf_str(&text), err);
    r = r < 0 ? r : write_hosts(p, &name, err);
    return r < 0 ? r : write_resolv_conf(p, err);
}
