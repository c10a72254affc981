/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for strings: names of ports and variables, paths, addresses. Scanners, no regexes. */
#include "kube/rules/validate/check.h"

#include <arpa/inet.h>
#include <inttypes.h>

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower_alnum(char c)
{
    return is_lower(c) || is_digit(c);
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static void add(struct meta_problems *p, bool wrong, const char *text)
{
    if (wrong && p->n < ARRAY_LEN(p->text))
        p->text[p->n++] = text;
}

/* ---- names ---- */

struct meta_problems names_check_port(struct str s)
{
    struct meta_problems p = { 0 };
    bool spelled = s.n > 0, has_letter = false;
    for (size_t i = 0; i < s.n; i++) {
        spelled = spelled && (is_lower_alnum(s.p[i]) || s.p[i] == '-');
        has_letter = has_letter || is_lower(s.p[i]);
    }
    add(&p, s.n > 15, "must be no more than 15 characters");
    add(&p, !spelled, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    add(&p, !has_letter, "must contain at least one letter (a-z)");
    add(&p, str_find(s, STR("--")) >= 0, "must not contain consecutive hyphens");
    add(&p, s.n > 0 && (s.p[0] == '-' || s.p[s.n - 1] == '-'),
        "must not begin or end with a hyphen");
    return p;
}

struct meta_problems names_check_env(struct str s)
{
    struct meta_problems p = { 0 };
    bool spelled = true;
    for (size_t i = 0; i < s.n; i++)
        spelled = spelled && s.p[i] >= ' ' && s.p[i] <= '~' && s.p[i] != '=';
    add(&p, s.n == 0, "environment variable name must be non-empty");
    add(&p, !spelled,
        "a valid environment variable name must consist only of printable ASCII characters other "
        "than '='");
    return p;
}

struct meta_problems names_check_http_header(struct str s)
{
    struct meta_problems p = { 0 };
    bool spelled = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        spelled = spelled && (is_alnum(s.p[i]) || s.p[i] == '-');
    add(&p, !spelled,
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
        "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
    return p;
}

struct meta_problems names_check_percent(struct str s)
{
    struct meta_problems p = { 0 };
    bool spelled = s.n > 1 && s.p[s.n - 1] == '%';
    for (size_t i = 0; i + 1 < s.n; i++)
        spelled = spelled && is_digit(s.p[i]);
    add(&p, !spelled,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  "
        "or '93%', regex used for validation is '[0-9]+%')");
    return p;
}

/* _?[a-z0-9]([-_a-z0-9]*[a-z0-9])? */
static bool is_search_label(struct str s)
{
    if (s.n && s.p[0] == '_')
        s = str_slice(s, 1, s.n);
    if (s.n == 0 || !is_lower_alnum(s.p[0]) || !is_lower_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_')
            return false;
    return true;
}

#define SEARCH_RE "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"

struct meta_problems names_check_search_domain(struct str s)
{
    struct meta_problems p = { 0 };
    struct str label;
    bool spelled = true;
    add(&p, s.n > 253, "must be no more than 253 characters");
    for (bool more = true; more && spelled;) {
        more = str_cut(s, '.', &label, &s);
        spelled = is_search_label(label);
    }
    add(&p, !spelled,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
        "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is '" SEARCH_RE "(\\." SEARCH_RE ")*')");
    return p;
}

#define DOMAIN_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

struct meta_problems names_check_wildcard_domain(struct str s)
{
    struct meta_problems p = { 0 };
    bool spelled = str_has_prefix(s, STR("*.")) &&
                   meta_check_dns1123_subdomain(str_slice(str_slice(s, 2, s.n), 0, 253)).n == 0;
    add(&p, s.n > 253, "must be no more than 253 characters");
    add(&p, !spelled,
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character (e.g. '*.example.com', regex used for validation is "
        "'\\*\\." DOMAIN_RE "(\\." DOMAIN_RE ")*')");
    return p;
}

/* Segments of [a-z0-9]([-_a-z0-9]*[a-z0-9])? separated by dots or slashes. */
bool names_is_sysctl(struct str s)
{
    if (s.n == 0 || s.n > 253)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool divides = s.p[i] == '.' || s.p[i] == '/';
        bool at_edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i - 1] == '/' ||
                       s.p[i + 1] == '.' || s.p[i + 1] == '/';
        if (divides ? i == 0 || i + 1 == s.n : at_edge && !is_lower_alnum(s.p[i]))
            return false;
        if (divides && (s.p[i + 1] == '.' || s.p[i + 1] == '/'))
            return false;
        if (!divides && !is_lower_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_')
            return false;
    }
    return true;
}

/* ---- paths ---- */

void validate_path_no_backsteps(const struct validate_value *s, const void *unused)
{
    struct str rest = value_text(s), part;
    for (bool more = true; more;) {
        more = str_cut(rest, '/', &part, &rest);
        if (str_is(part, "..")) {
            report_invalid_text(s, "must not contain '..'");
            return;
        }
    }
}

void validate_path_below(const struct validate_value *s, const void *unused)
{
    if (str_has_prefix(value_text(s), STR("/")))
        report_invalid_text(s, "must be a relative path");
    validate_path_no_backsteps(s, NULL);
}

void validate_path_unreserved(const struct validate_value *s, const void *unused)
{
    struct str path = value_text(s);
    validate_path_below(s, NULL);
    if (str_has_prefix(path, STR("..")) && !str_has_prefix(path, STR("../")))
        report_invalid_text(s, "must not start with '..'");
}

/* ---- addresses ---- */

static bool parse_v4(struct str s, struct validate_ip *ret)
{
    struct validate_ip ip = { 0 };
    struct str part;
    for (int i = 0; i < 4; i++) {
        uint64_t n;
        if (str_cut(s, '.', &part, &s) != (i < 3) || parse_u64(part, 0, 255, &n) < 0)
            return false;
        ip.has_leading_zeros = ip.has_leading_zeros || (part.n > 1 && part.p[0] == '0');
        ip.bytes[i] = (uint8_t)n;
    }
    *ret = ip;
    return true;
}

bool validate_ip_parse(struct str s, struct validate_ip *ret)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    char text[INET6_ADDRSTRLEN + 1];
    if (str_find_char(s, ':') < 0)
        return parse_v4(s, ret);
    if (s.n >= sizeof text)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    struct validate_ip ip = { .is_v6 = true };
    if (strlen(text) != s.n || inet_pton(AF_INET6, text, ip.bytes) != 1)
        return false;
    if (memcmp(ip.bytes, mapped, sizeof mapped) == 0) { /* Go treats it as an IPv4 address */
        ip.is_v6 = false;
        ip.is_mapped = true;
        memmove(ip.bytes, ip.bytes + 12, 4);
    }
    *ret = ip;
    return true;
}

void validate_ip(const struct validate_value *s, const void *unused)
{
    struct validate_ip ip;
    if (!validate_ip_parse(value_text(s), &ip)) {
        report_invalid_text(s, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        return;
    }
    if (ip.has_leading_zeros)
        report_invalid_text(s, "must not have leading 0s");
    if (ip.is_mapped)
        report_invalid_text(s, "must not be an IPv4-mapped IPv6 address");
}

static bool is_loopback(const struct validate_ip *ip)
{
    static const uint8_t v6[16] = { [15] = 1 };
    return ip->is_v6 ? memcmp(ip->bytes, v6, sizeof v6) == 0 : ip->bytes[0] == 127;
}

static bool is_unspecified(const struct validate_ip *ip)
{
    static const uint8_t zero[16];
    return memcmp(ip->bytes, zero, ip->is_v6 ? 16 : 4) == 0;
}

static bool is_link_local(const struct validate_ip *ip)
{
    return ip->is_v6 ? ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80
                     : ip->bytes[0] == 169 && ip->bytes[1] == 254;
}

static bool is_link_local_multicast(const struct validate_ip *ip)
{
    return ip->is_v6 ? ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 0x02
                     : ip->bytes[0] == 224 && ip->bytes[1] == 0 && ip->bytes[2] == 0;
}

void validate_ordinary_ip(const struct validate_value *s, const void *unused)
{
    struct validate_ip ip;
    if (!validate_ip_parse(value_text(s), &ip)) {
        report_invalid_text(s, "must be a valid IP address");
        return;
    }
    if (is_unspecified(&ip))
        report_invalid_text(
            s, report_text(s, "may not be unspecified (" STR_FMT ")", STR_ARG(value_text(s))));
    if (is_loopback(&ip))
        report_invalid_text(s, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    if (is_link_local(&ip))
        report_invalid_text(s, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    if (is_link_local_multicast(&ip))
        report_invalid_text(
            s, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

bool validate_cidr_parse(struct str s, struct validate_cidr *ret)
{
    struct str address, length;
    struct validate_cidr c = { 0 };
    uint64_t bits;
    if (!str_cut(s, '/', &address, &length) || !validate_ip_parse(address, &c.ip) ||
        parse_u64(length, 0, c.ip.is_v6 || c.ip.is_mapped ? 128 : 32, &bits) < 0)
        return false;
    c.ip.has_leading_zeros = c.ip.has_leading_zeros || (length.n > 1 && length.p[0] == '0');
    if (c.ip.is_mapped)
        bits = bits < 96 ? 0 : bits - 96;
    c.bits = (unsigned)bits;
    *ret = c;
    return true;
}

static bool bits_beyond(const struct validate_cidr *c)
{
    for (unsigned i = c->bits; i < (c->ip.is_v6 ? 128U : 32U); i++)
        if (c->ip.bytes[i / 8] & (0x80 >> i % 8))
            return true;
    return false;
}

bool validate_cidr_has(const struct validate_cidr *c, const struct validate_ip *ip)
{
    if (c->ip.is_v6 != ip->is_v6)
        return false;
    for (unsigned i = 0; i < c->bits; i++)
        if ((c->ip.bytes[i / 8] ^ ip->bytes[i / 8]) & (0x80 >> i % 8))
            return false;
    return true;
}

void validate_cidr(const struct validate_value *s, struct str text)
{
    struct validate_cidr c;
    if (!validate_cidr_parse(text, &c))
        report_invalid_str(s, text,
                           "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    else if (c.ip.has_leading_zeros)
        report_invalid_str(s, text, "must not have leading 0s in IP or prefix length");
    else if (c.ip.is_mapped)
        report_invalid_str(s, text, "must not have an IPv4-mapped IPv6 address");
    else if (bits_beyond(&c))
        report_invalid_str(s, text, "must not have bits set beyond the prefix length");
}

bool validate_is_dual_stack(const struct json *list, const char *member, bool cidrs)
{
    bool v4 = false, v6 = false;
    json_each (item, list) {
        struct str text = member ? json_get_str(item, member) : json_str(item);
        struct validate_cidr c;
        if (cidrs ? !validate_cidr_parse(text, &c) : !validate_ip_parse(text, &c.ip))
            return false;
        v4 = v4 || !c.ip.is_v6;
        v6 = v6 || c.ip.is_v6;
    }
    return v4 && v6;
}
