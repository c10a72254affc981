/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/reference.h"

enum { SHOWN_MAX = 100, NAME_MAX_BYTES = 255 };

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alphanumeric(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

bool oci_reference_is_tag(struct str s)
{
    if (s.n == 0 || s.n > OCI_TAG_MAX || s.p[0] == '.' || s.p[0] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alphanumeric(s.p[i]) && s.p[i] != '_' && s.p[i] != '.' && s.p[i] != '-')
            return false;
    return true;
}

/* What may stand between letters and digits: ".", "_", "__", or any number of "-". */
static bool is_separator(struct str s)
{
    size_t dashes = 0;
    while (dashes < s.n && s.p[dashes] == '-')
        dashes++;
    return str_is(s, ".") || str_is(s, "_") || str_is(s, "__") || (s.n && dashes == s.n);
}

static bool is_component(struct str s)
{
    if (s.n == 0 || !is_lower_or_digit(s.p[0]) || !is_lower_or_digit(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        while (i < s.n && !is_lower_or_digit(s.p[i]))
            i++;
        if (i > from && !is_separator(str_slice(s, from, i)))
            return false;
        while (i < s.n && is_lower_or_digit(s.p[i]))
            i++;
    }
    return true;
}

bool oci_reference_is_repository(struct str s)
{
    bool more = s.n > 0 && s.n <= OCI_REPOSITORY_MAX;
    if (!more)
        return false;
    while (more) {
        struct str part;
        more = str_cut(s, '/', &part, &s);
        if (!is_component(part))
            return false;
    }
    return true;
}

/* ---- hosts ---- */

static bool is_label(struct str s)
{
    if (s.n == 0 || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alphanumeric(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

static bool is_name(struct str s)
{
    bool more = true;
    while (more) {
        struct str label;
        more = str_cut(s, '.', &label, &s);
        if (!is_label(label))
            return false;
    }
    return true;
}

static bool is_ipv6(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != ':' && !(s.p[i] >= '0' && s.p[i] <= '9') &&
            !(s.p[i] >= 'a' && s.p[i] <= 'f') && !(s.p[i] >= 'A' && s.p[i] <= 'F'))
            return false;
    return s.n >= 2 && str_find_char(s, ':') >= 0;
}

static bool is_host(struct str s)
{
    struct str name, port;
    uint64_t n;
    if (s.n > OCI_REFERENCE_HOST_MAX)
        return false;
    if (s.n && s.p[0] == '[') {
        if (!str_cut(str_slice(s, 1, s.n), ']', &name, &port) || !is_ipv6(name))
            return false;
        return port.n == 0 ||
               (port.p[0] == ':' && parse_u64(str_slice(port, 1, port.n), 1, 65535, &n) == 0);
    }
    if (str_cut(s, ':', &name, &port) && parse_u64(port, 1, 65535, &n) < 0)
        return false;
    return is_name(name);
}

/* A first part that is no host is the beginning of a repository of Docker Hub. */
static bool looks_like_host(struct str s)
{
    return str_find_char(s, '.') >= 0 || str_find_char(s, ':') >= 0 || str_is(s, "localhost");
}

/* ---- the whole ---- */

static void copy(char *to, struct str from)
{
    memcpy(to, from.p, from.n);
    to[from.n] = '\0';
}

static int wrong(struct str text, const char *why, struct err *err)
{
    return err_set(err, E_PARSE, "'" STR_FMT "' is no reference to an image: %s",
                   STR_ARG(str_slice(text, 0, SHOWN_MAX)), why);
}

static int take_digest(struct str *rest, struct oci_reference *ref, struct err *err)
{
    struct str name, digest;
    if (!str_cut(*rest, '@', &name, &digest))
        return 0;
    int r = oci_digest_parse(digest, &ref->digest, err);
    if (r < 0)
        return r;
    ref->has_digest = true;
    *rest = name;
    return 0;
}

/* A colon after the last slash begins the tag. */
static bool take_tag(struct str *rest, struct oci_reference *ref)
{
    size_t at = rest->n;
    while (at && rest->p[at - 1] != ':' && rest->p[at - 1] != '/')
        at--;
    if (at == 0 || rest->p[at - 1] == '/')
        return true;
    struct str tag = str_slice(*rest, at, rest->n);
    if (!oci_reference_is_tag(tag))
        return false;
    copy(ref->tag, tag);
    *rest = str_slice(*rest, 0, at - 1);
    return true;
}

static bool is_hub(struct str host)
{
    return str_is(host, "docker.io") || str_is(host, "index.docker.io");
}

static int take_name(struct str text, struct str rest, struct oci_reference *ref, struct err *err)
{
    struct str host = STR("docker.io"), first, tail;
    if (str_cut(rest, '/', &first, &tail) && looks_like_host(first)) {
        if (!is_host(first))
            return wrong(text, "its host is none", err);
        host = is_hub(first) ? host : first;
        rest = tail;
    }
    bool is_official = is_hub(host) && str_find_char(rest, '/') < 0;
    size_t prefix = is_official ? sizeof "library/" - 1 : 0;
    if (!oci_reference_is_repository(rest) || host.n + 1 + prefix + rest.n > NAME_MAX_BYTES)
        return wrong(text,
                     "a repository has lower-case letters, digits, and single '.', '_', '-' "
                     "between them, 255 bytes with its host",
                     err);
    copy(ref->host, host);
    memcpy(ref->repository, "library/", prefix);
    copy(ref->repository + prefix, rest);
    return 0;
}

int oci_reference_parse(struct str text, struct oci_reference *ret, struct err *err)
{
    struct oci_reference ref = { 0 };
    struct str rest = text;
    uint8_t id[SHA256_BYTES];
    if (str_find_char(text, '\0') >= 0)
        return wrong(text, "it has a NUL", err);
    int r = take_digest(&rest, &ref, err);
    if (r < 0)
        return r;
    if (!take_tag(&rest, &ref))
        return wrong(text, "a tag has up to 128 letters, digits, '_', '.' and '-'", err);
    if (hex_parse(rest, id, sizeof id))
        return wrong(text, "64 hexadecimal digits would be read as an identifier", err);
    r = take_name(text, rest, &ref, err);
    if (r < 0)
        return r;
    if (!ref.tag[0] && !ref.has_digest)
        copy(ref.tag, STR("latest"));
    *ret = ref;
    return 0;
}

void oci_reference_format(const struct oci_reference *ref, struct buf *to)
{
    (void)buf_printf(to, "%s/%s", ref->host, ref->repository);
    if (ref->tag[0])
        (void)buf_printf(to, ":%s", ref->tag);
    if (ref->has_digest) {
        char text[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&ref->digest, text);
        (void)buf_printf(to, "@%s", text);
    }
}

bool oci_reference_equal(const struct oci_reference *a, const struct oci_reference *b)
{
    if (strcmp(a->host, b->host) != 0 || strcmp(a->repository, b->repository) != 0 ||
        a->has_digest != b->has_digest)
        return false;
    return a->has_digest ? oci_digest_equal(&a->digest, &b->digest) : strcmp(a->tag, b->tag) == 0;
}
