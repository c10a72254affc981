/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of CNI; see pod_cni_config.h. */
#include "agent/network/pod_cni_config.h"

#include "agent/network/pod_cni.h"
#include "agent/network/pod_range.h"
#include "base/buf.h"

#include <assert.h>
#include <errno.h>

static const char *const versions[] = { "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0" };

/* -1: none of them. */
static int rank_of(struct str version)
{
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        if (str_is(version, versions[i]))
            return (int)i;
    return -1;
}

/* cniVersions (1.1) names several; the newest that is known here counts. */
static struct str choose_version(const struct json *v)
{
    struct str best = json_get_str(v, "cniVersion");
    json_each (one, json_getc(v, "cniVersions"))
        if (rank_of(json_str(one)) > rank_of(best))
            best = json_str(one);
    return best;
}

static bool is_file_name(struct str s)
{
    return s.n > 0 && s.n < 256 && str_find_char(s, '/') < 0 && s.p[0] != '.';
}

static int check_plugins(const struct json *plugins, struct err *err)
{
    if (!json_is(plugins, JSON_ARRAY) || plugins->n == 0)
        return err_set(err, E_INVALID, "plugins: there is none");
    if (plugins->n > POD_CNI_PLUGINS_MAX)
        return err_set(err, E_LIMIT, "plugins: more than %d", POD_CNI_PLUGINS_MAX);
    size_t i = 0;
    json_each (plugin, plugins) {
        if (!json_is(plugin, JSON_OBJECT) || !is_file_name(json_get_str(plugin, "type")))
            return err_set(err, E_INVALID, "plugins[%zu].type: not the name of a plug-in", i);
        i++;
    }
    return 0;
}

/* A list with only the members that count. */
static const struct json *list_of(struct arena *a, const struct json *v, struct str version)
{
    struct json *list = json_new_object(a), *plugins = json_new_array(a);
    json_set_str(a, list, "cniVersion", version);
    json_set_str(a, list, "name", json_get_str(v, "name"));
    if (json_getc(v, "plugins"))
        plugins = json_copy(a, json_getc(v, "plugins"));
    else
        json_add(plugins, json_copy(a, v));
    json_setc(a, list, "plugins", plugins);
    return list;
}

int pod_cni_read_config(struct arena *a, struct str text, const struct json **ret, struct err *err)
{
    struct json *v = NULL;
    if (text.n > POD_CNI_CONFIG_MAX)
        return err_set(err, E_LIMIT, "more than %d bytes", POD_CNI_CONFIG_MAX);
    int r = json_parse(a, str_copy_arena(a, text), NULL, &v, err);
    if (r < 0)
        return r;
    if (!json_is(v, JSON_OBJECT))
        return err_set(err, E_INVALID, "not an object");
    if (json_get_str(v, "name").n == 0)
        return err_set(err, E_INVALID, "name: missing");
    struct str version = choose_version(v);
    if (rank_of(version) < 0)
        return err_set(err, E_UNSUPPORTED, "cniVersion '" STR_FMT "' is not one of 0.3.0 to 1.1.0",
                       STR_ARG(version));
    const struct json *list = list_of(a, v, version);
    r = check_plugins(json_getc(list, "plugins"), err);
    if (r < 0)
        return r;
    *ret = list;
    return 0;
}

size_t pod_cni_count(const struct json *config)
{
    const struct json *plugins = json_getc(config, "plugins");
    return plugins ? plugins->n : 0;
}

const struct json *pod_cni_plugin(const struct json *config, size_t i)
{
    const struct json *plugin = json_first(json_getc(config, "plugins"));
    for (; plugin && i > 0; i--)
        plugin = plugin->next;
    return plugin;
}

/* ---------------------------------------------------------------- capabilities */

static struct json *port_mappings(struct arena *a, const struct pod_record *rec)
{
    static const char *const names[] = {
        [POD_NETWORK_TCP] = "tcp", [POD_NETWORK_UDP] = "udp", [POD_NETWORK_SCTP] = "sctp"
    };
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < rec->n_ports; i++) {
        struct json *one = json_new_object(a);
        json_set_int(a, one, "hostPort", rec->ports[i].host_port);
        json_set_int(a, one, "containerPort", rec->ports[i].container_port);
        json_set_str(a, one, "protocol", str_of(names[rec->ports[i].protocol]));
        if (rec->ports[i].host_ip.n)
            json_set_str(a, one, "hostIP", rec->ports[i].host_ip);
        json_add(list, one);
    }
    return list;
}

static struct json *bandwidth(struct arena *a, const struct pod_record *rec)
{
    struct json *v = json_new_object(a);
    if (rec->ingress_bits) {
        json_set_int(a, v, "ingressRate", (int64_t)rec->ingress_bits);
        json_set_int(a, v, "ingressBurst", UINT32_MAX);
    }
    if (rec->egress_bits) {
        json_set_int(a, v, "egressRate", (int64_t)rec->egress_bits);
        json_set_int(a, v, "egressBurst", UINT32_MAX);
    }
    return v;
}

static struct json *ip_ranges(struct arena *a, const struct str *cidrs, size_t n_cidrs)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n_cidrs; i++) {
        struct json *set = json_new_array(a), *range = json_new_object(a);
        json_set_str(a, range, "subnet", cidrs[i]);
        json_add(set, range);
        json_add(list, set);
    }
    return list;
}

static void add_runtime_config(struct arena *a, const struct pod_record *rec,
                               const struct str *cidrs, size_t n_cidrs, struct json *plugin)
{
    const struct json *can = json_getc(plugin, "capabilities");
    struct json *given = json_new_object(a);
    if (json_bool(json_getc(can, "portMappings")) && rec->n_ports)
        json_setc(a, given, "portMappings", port_mappings(a, rec));
    if (json_bool(json_getc(can, "bandwidth")) && (rec->ingress_bits || rec->egress_bits))
        json_setc(a, given, "bandwidth", bandwidth(a, rec));
    if (json_bool(json_getc(can, "ipRanges")) && n_cidrs)
        json_setc(a, given, "ipRanges", ip_ranges(a, cidrs, n_cidrs));
    if (given->n)
        json_setc(a, plugin, "runtimeConfig", given);
}

int pod_cni_write_input(const struct pod_record *rec, size_t i, const struct json *previous,
                        const struct str *cidrs, size_t n_cidrs, struct buf *to)
{
    struct arena a = { 0 };
    struct json *plugin = json_clone(&a, pod_cni_plugin(rec->config, i));
    json_set_str(&a, plugin, "name", json_get_str(rec->config, "name"));
    json_set_str(&a, plugin, "cniVersion", json_get_str(rec->config, "cniVersion"));
    if (previous)
        json_setc(&a, plugin, "prevResult", json_clone(&a, previous));
    add_runtime_config(&a, rec, cidrs, n_cidrs, plugin);
    int r = json_write(to, plugin);
    arena_fini(&a);
    return r;
}

/* ---------------------------------------------------------------- answers */

int pod_cni_read_result(struct arena *a, struct str text, const struct json **ret, struct err *err)
{
    struct json *v = NULL;
    text = str_trim(text);
    if (text.n == 0) {
        *ret = json_new_object(a);
        return 0;
    }
    int r = json_parse(a, str_copy_arena(a, text), NULL, &v, err);
    if (r < 0)
        return r;
    if (!json_is(v, JSON_OBJECT))
        return err_set(err, E_INVALID, "the result is not an object");
    *ret = v;
    return 0;
}

/* An address on a device outside the pod, such as the bridge, is none of the pod's. */
static bool is_in_pod(const struct json *result, const struct json *ip)
{
    int64_t at = json_int_or(json_getc(ip, "interface"), -1);
    if (at < 0)
        return true;
    json_each (device, json_getc(result, "interfaces"))
        if (at-- == 0)
            return json_get_str(device, "sandbox").n > 0;
    return false;
}

static int add_ip(struct pod_record *rec, struct str text, struct err *err)
{
    struct str address, prefix;
    struct netlink_ip ip;
    (void)str_cut(text, '/', &address, &prefix);
    if (!pod_range_parse_ip(address, &ip))
        return err_set(err, E_INVALID, "ips: '" STR_FMT "' is no address", STR_ARG(text));
    if (rec->n_ips < POD_NETWORK_IPS_MAX)
        rec->ips[rec->n_ips++] = str_copy_arena(&rec->arena, address);
    return 0;
}

static size_t copy_list(struct arena *a, const struct json *list, struct str **ret)
{
    size_t n = 0;
    *ret = arena_new_n(a, struct str, POD_NETWORK_DNS_MAX);
    json_each (one, list)
        if (n < POD_NETWORK_DNS_MAX && json_str(one).n)
            (*ret)[n++] = json_str(one);
    return n;
}

int pod_cni_apply_result(struct pod_record *rec, const struct json *result, struct err *err)
{
    const struct json *dns = json_getc(result, "dns");
    struct arena *a = &rec->arena;
    rec->n_ips = 0;
    rec->ips = arena_new_n(a, struct str, POD_NETWORK_IPS_MAX);
    json_each (ip, json_getc(result, "ips")) {
        int r = is_in_pod(result, ip) ? add_ip(rec, json_get_str(ip, "address"), err) : 0;
        if (r < 0)
            return r;
    }
    if (rec->n_ips == 0)
        return err_set(err, E_INVALID, "the result has no address of the pod");
    rec->dns.n_nameservers = copy_list(a, json_getc(dns, "nameservers"), &rec->dns.nameservers);
    rec->dns.n_searches = copy_list(a, json_getc(dns, "search"), &rec->dns.searches);
    rec->dns.n_options = copy_list(a, json_getc(dns, "options"), &rec->dns.options);
    rec->result = result;
    return 0;
}

/* The bytes of a foreign text that a message can hold. */
static struct str for_message(struct str s)
{
    return str_trim(str_slice(s, 0, MIN(s.n, (size_t)160)));
}

int pod_cni_read_failure(struct str plugin, int status, struct str out, struct str err_out,
                         struct err *err)
{
    struct arena a = { .max_bytes = 4 * POD_CNI_OUTPUT_MAX };
    struct json *v = NULL;
    int r = E_INVALID;
    bool is_json = json_parse(&a, out, NULL, &v, NULL) == 0 && json_get_str(v, "msg").n > 0;
    if (is_json) {
        struct str msg = for_message(json_get_str(v, "msg"));
        struct str details = for_message(json_get_str(v, "details"));
        r = err_set(err, E_INVALID, STR_FMT ": " STR_FMT "%s" STR_FMT " (code %lld)",
                    STR_ARG(plugin), STR_ARG(msg), details.n ? ": " : "", STR_ARG(details),
                    (long long)json_int_or(json_getc(v, "code"), 0));
    } else
        r = err_set(err, E_INVALID, STR_FMT ": ended with status %d: " STR_FMT, STR_ARG(plugin),
                    status, STR_ARG(for_message(err_out.n ? err_out : out)));
    arena_fini(&a);
    return r;
}
