/* SPDX-License-Identifier: Apache-2.0 */
#include "dns/name.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool add_label(struct dns_name *to, struct str label)
{
    if (label.n == 0 || label.n > DNS_LABEL_MAX || to->n + 1 + label.n > DNS_NAME_MAX - 1 ||
        to->n_labels == DNS_LABELS_MAX)
        return false;
    to->at[to->n_labels++] = to->n;
    to->wire[to->n++] = (char)label.n;
    for (size_t i = 0; i < label.n; i++)
        to->wire[to->n++] = lower(label.p[i]);
    return true;
}

bool dns_name_read(struct str wire, struct dns_name *ret)
{
    ret->n = ret->n_labels = 0;
    while (wire.n > 0 && wire.p[0] != 0) {
        size_t n = (uint8_t)wire.p[0];
        if (n >= wire.n || !add_label(ret, str_n(wire.p + 1, n)))
            return false;
        wire = str_n(wire.p + 1 + n, wire.n - 1 - n);
    }
    ret->wire[ret->n++] = 0;
    return wire.n == 1;
}

bool dns_name_parse(struct str text, struct dns_name *ret)
{
    ret->n = ret->n_labels = 0;
    if (text.n == 0)
        return false;
    if (text.p[text.n - 1] == '.')
        text.n--;
    while (text.n > 0) {
        struct str label, rest;
        bool has_more = str_cut(text, '.', &label, &rest);
        if (!add_label(ret, label) || (has_more && rest.n == 0))
            return false;
        text = rest;
    }
    ret->wire[ret->n++] = 0;
    return true;
}

const char *dns_name_text(struct arena *a, struct str wire)
{
    char *text = arena_alloc(a, wire.n + 2);
    size_t n = 0;
    for (size_t at = 0; at < wire.n && wire.p[at] != 0; at += 1 + (uint8_t)wire.p[at]) {
        for (size_t i = 0; i < (uint8_t)wire.p[at] && at + 1 + i < wire.n; i++) {
            char c = wire.p[at + 1 + i];
            text[n++] = c > ' ' && c < 0x7f && c != '.' ? c : '?';
        }
        text[n++] = '.';
    }
    if (n == 0)
        text[n] = '.';
    return text;
}

struct str dns_name_label(const struct dns_name *name, size_t i)
{
    const char *p = name->wire + name->at[i];
    return str_n(p + 1, (uint8_t)*p);
}

struct str dns_name_from(const struct dns_name *name, size_t i)
{
    size_t at = i < name->n_labels ? name->at[i] : (size_t)name->n - 1;
    return str_n(name->wire + at, name->n - at);
}

bool dns_name_is_in(const struct dns_name *name, const struct dns_name *zone)
{
    return name->n_labels >= zone->n_labels &&
           str_eq(dns_name_from(name, (size_t)name->n_labels - zone->n_labels),
                  dns_name_from(zone, 0));
}

struct str dns_name_join(struct arena *a, const struct str *labels, size_t n, struct str rest)
{
    size_t bytes = rest.n, at = 0;
    for (size_t i = 0; i < n; i++)
        bytes += 1 + labels[i].n;
    if (bytes > DNS_NAME_MAX)
        return STR("");
    char *p = arena_alloc(a, bytes);
    for (size_t i = 0; i < n; i++) {
        p[at++] = (char)labels[i].n;
        memcpy(p + at, labels[i].p, labels[i].n);
        at += labels[i].n;
    }
    memcpy(p + at, rest.p, rest.n);
    return str_n(p, bytes);
}
