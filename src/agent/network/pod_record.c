/* SPDX-License-Identifier: Apache-2.0 */
/* Records of networks; see pod_record.h. */
#include "agent/network/pod_record.h"

#include "base/buf.h"
#include "base/sys.h"
#include "codec/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCK_BYTES = 512 }; /* a record lives as long as its pod, and most are small */

static const char *const drivers[] = { [POD_RECORD_NATIVE] = "native", [POD_RECORD_CNI] = "cni" };
static const char *const protocols[] = {
    [POD_NETWORK_TCP] = "tcp", [POD_NETWORK_UDP] = "udp", [POD_NETWORK_SCTP] = "sctp"
};

static const struct bind_field port_fields[] = {
    BIND_UINT("hostPort", struct pod_record_port, host_port, .min = 1, .flags = BIND_REQUIRED),
    BIND_UINT("containerPort", struct pod_record_port, container_port, .min = 1,
              .flags = BIND_REQUIRED),
    BIND_ENUM("protocol", struct pod_record_port, protocol, protocols),
    BIND_STR("hostIP", struct pod_record_port, host_ip, .max = POD_NETWORK_IP_BYTES),
};
static const struct bind_table port_table =
    BIND_TABLE(port_fields, .size = sizeof(struct pod_record_port));

static const struct bind_field dns_fields[] = {
    BIND_STRS("nameservers", struct pod_record_dns, nameservers, n_nameservers,
              POD_NETWORK_DNS_MAX),
    BIND_STRS("searches", struct pod_record_dns, searches, n_searches, POD_NETWORK_DNS_MAX),
    BIND_STRS("options", struct pod_record_dns, options, n_options, POD_NETWORK_DNS_MAX),
};
static const struct bind_table dns_table = BIND_TABLE(dns_fields);

static const struct bind_field record_fields[] = {
    BIND_STR("id", struct pod_record, id, .max = POD_NETWORK_ID_MAX, .flags = BIND_REQUIRED),
    BIND_STR("namespace", struct pod_record, namespace),
    BIND_STR("name", struct pod_record, name),
    BIND_STR("uid", struct pod_record, uid),
    BIND_ENUM("driver", struct pod_record, driver, drivers, .flags = BIND_ALWAYS | BIND_REQUIRED),
    BIND_BOOL("complete", struct pod_record, is_complete),
    BIND_STRS("ips", struct pod_record, ips, n_ips, POD_NETWORK_IPS_MAX),
    BIND_OBJECTS("ports", struct pod_record, ports, n_ports, &port_table, POD_NETWORK_PORTS_MAX),
    BIND_UINT("ingressBits", struct pod_record, ingress_bits),
    BIND_UINT("egressBits", struct pod_record, egress_bits),
    BIND_OBJECT("dns", struct pod_record, dns, &dns_table),
    BIND_JSON("config", struct pod_record, config),
    BIND_JSON("result", struct pod_record, result),
};
static const struct bind_table record_table = BIND_TABLE(record_fields);

bool pod_record_is_id(struct str id)
{
    if (id.n == 0 || id.n > POD_NETWORK_ID_MAX)
        return false;
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && (i == 0 || !memchr("_.-", c, 3)))
            return false;
    }
    return true;
}

struct pod_record *pod_record_new(const struct pod_network_opts *o)
{
    struct pod_record *rec = xnew(struct pod_record);
    struct arena *a = &rec->arena;
    a->block_bytes = BLOCK_BYTES;
    rec->id = str_copy_arena(a, o->id);
    rec->namespace = str_copy_arena(a, o->namespace);
    rec->name = str_copy_arena(a, o->name);
    rec->uid = str_copy_arena(a, o->uid);
    rec->ingress_bits = o->ingress_bits;
    rec->egress_bits = o->egress_bits;
    rec->ports = arena_new_n(a, struct pod_record_port, o->n_ports);
    rec->n_ports = o->n_ports;
    for (size_t i = 0; i < o->n_ports; i++)
        rec->ports[i] =
            (struct pod_record_port){ .host_port = o->ports[i].host_port,
                                      .container_port = o->ports[i].container_port,
                                      .protocol = o->ports[i].protocol,
                                      .host_ip = str_copy_arena(a, o->ports[i].host_ip) };
    return rec;
}

void pod_record_free(struct pod_record *rec)
{
    if (!rec)
        return;
    arena_fini(&rec->arena);
    free(rec);
}

int pod_record_encode(const struct pod_record *rec, struct buf *to)
{
    struct arena a = { 0 };
    int r = json_write(to, bind_write(&a, &record_table, rec));
    arena_fini(&a);
    return r;
}

int pod_record_decode(struct str text, struct pod_record **ret, struct err *err)
{
    scoped(pod_record_free_scoped) struct pod_record *rec = xnew(struct pod_record);
    struct json *v = NULL;
    rec->arena.block_bytes = BLOCK_BYTES;
    rec->arena.max_bytes = 16 * POD_RECORD_BYTES_MAX;
    int r = json_parse(&rec->arena, str_copy_arena(&rec->arena, text), NULL, &v, err);
    if (r < 0)
        return r;
    struct bind b = { .arena = &rec->arena, .err = err };
    r = bind_read(&b, &record_table, v, rec);
    if (r < 0)
        return r;
    if (!pod_record_is_id(rec->id))
        return err_set(err, E_INVALID, "id: not the id of a network");
    *ret = take_ptr(&rec);
    return 0;
}

static int open_dir(const char *dir, struct err *err)
{
    int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    return fd < 0 ? err_sys(err, fd, "open '%s'", dir) : fd;
}

static int write_new(int dir_fd, const char *name, struct str text)
{
    scoped(fd_scoped) int fd = sys_openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return fd < 0 ? fd : sys_write_all(fd, text.p, text.n);
}

/* Without fsync: a crash of the machine ends all namespaces, too. */
int pod_record_write(const char *dir, const struct pod_record *rec, struct err *err)
{
    scoped(fd_scoped) int dir_fd = open_dir(dir, err);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(POD_RECORD_BYTES_MAX);
    char name[POD_NETWORK_ID_MAX + 1], fresh[POD_NETWORK_ID_MAX + 2];
    if (dir_fd < 0)
        return dir_fd;
    (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(rec->id));
    (void)snprintf(fresh, sizeof fresh, ".%s", name); /* no id begins with a dot */
    int r = pod_record_encode(rec, &text);
    if (r == 0)
        r = write_new(dir_fd, fresh, buf_str(&text));
    if (r == 0)
        r = sys_renameat(dir_fd, fresh, dir_fd, name);
    return r < 0 ? err_sys(err, r, "record of network '%s'", name) : 0;
}

int pod_record_read(const char *dir, const char *id, struct pod_record **ret, struct err *err)
{
    scoped(fd_scoped) int dir_fd = open_dir(dir, err);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(POD_RECORD_BYTES_MAX);
    scoped(pod_record_free_scoped) struct pod_record *rec = NULL;
    if (dir_fd < 0)
        return dir_fd;
    int r = sys_read_file(dir_fd, id, &text, err);
    if (r == 0)
        r = pod_record_decode(buf_str(&text), &rec, err);
    if (r < 0)
        return err_ctx(err, r, "record of network '%s'", id);
    if (!str_is(rec->id, id))
        return err_set(err, E_CORRUPT, "record of network '%s': it is that of another one", id);
    *ret = take_ptr(&rec);
    return 0;
}

int pod_record_remove(const char *dir, struct str id, struct err *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/" STR_FMT, dir, STR_ARG(id));
    if (unlink(path) < 0 && errno != ENOENT)
        return err_sys(err, -errno, "remove '%s'", path);
    return 0;
}
