/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts from which modules may be fetched; see module_hosts.h. */
#include "modules/module_hosts.h"

#include "base/mem.h"
#include "base/str.h"

/* "name", "name:port", "[::1]:port", "::1"; port 0: any. */
static bool split(struct str entry, struct str *ret_name, uint16_t *ret_port)
{
    struct str name = entry, rest = STR("");
    uint64_t port = 0;
    if (entry.n && entry.p[0] == '[') {
        if (!str_cut(str_slice(entry, 1, entry.n), ']', &name, &rest))
            return false;
        if (rest.n && rest.p[0] != ':')
            return false;
        rest = str_slice(rest, MIN(rest.n, (size_t)1), rest.n);
    } else if (str_cut(entry, ':', &name, &rest) && str_find_char(rest, ':') >= 0) {
        name = entry; /* an IPv6 address */
        rest = STR("");
    } else if (entry.n && entry.p[entry.n - 1] == ':') {
        return false;
    }
    if (rest.n && parse_u64(rest, 1, 65535, &port) < 0)
        return false;
    *ret_name = name;
    *ret_port = (uint16_t)port;
    return true;
}

static bool is_name(struct str s)
{
    if (s.n == 0 || s.n > 254 || str_is(s, "."))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '.' || c == '_' || c == ':' || (c == '*' && s.n == 1)))
            return false;
    }
    return true;
}

int module_hosts_check(const struct module_hosts *hosts, struct err *err)
{
    struct str name;
    uint16_t port;
    for (size_t i = 0; i < hosts->n; i++)
        if (!split(str_of(hosts->entries[i]), &name, &port) || !is_name(name))
            return err_set(err, E_INVALID,
                           "'%.100s' is no host that modules may come from: name, name:port, "
                           ".suffix, an address or *",
                           hosts->entries[i]);
    return 0;
}

static bool matches(struct str name, struct str host)
{
    if (name.p[0] != '.')
        return str_ieq(name, host);
    return host.n > name.n && str_ieq(name, str_slice(host, host.n - name.n, host.n));
}

enum module_host module_hosts_find(const struct module_hosts *hosts, const char *host,
                                   uint16_t port)
{
    enum module_host found = hosts->n ? MODULE_HOST_DENIED : MODULE_HOST_PUBLIC;
    struct str wanted = str_of(host), name;
    if (wanted.n && wanted.p[wanted.n - 1] == '.') /* the fully qualified form of the same name */
        wanted.n--;
    for (size_t i = 0; i < hosts->n; i++) {
        uint16_t its_port;
        if (!split(str_of(hosts->entries[i]), &name, &its_port) || (its_port && its_port != port))
            continue;
        if (str_is(name, "*"))
            found = MODULE_HOST_PUBLIC;
        else if (name.n && matches(name, wanted))
            return MODULE_HOST_NAMED;
    }
    return found;
}
