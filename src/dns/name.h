/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domain names, in lower case, in the form of messages (RFC 1035, section 3.1: labels with their
 * lengths, the root's as the last) and without compression. A label may have any bytes, dots
 * included. Pure.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

enum {
    DNS_NAME_MAX = 255, /* bytes, the root's label included */
    DNS_LABEL_MAX = 63,
    DNS_LABELS_MAX = 127
};

struct dns_name {
    uint8_t n;        /* bytes */
    uint8_t n_labels; /* without the root's */
    uint8_t at[DNS_LABELS_MAX];
    char wire[DNS_NAME_MAX];
};

/* From the bytes of a message; letters become lower case. false: not exactly one whole name. */
bool dns_name_read(struct str wire, struct dns_name *ret);
/* "a.example" or "a.example."; "." is the root. false: not a name. */
bool dns_name_parse(struct str text, struct dns_name *ret);
/* Text of a name in the form of messages, "a.example."; bytes that are not printable, and dots
 * within a label, as '?'. In the arena. */
const char *dns_name_text(struct arena *a, struct str wire);
/* Label i, 0 is the leftmost one; borrowed. */
struct str dns_name_label(const struct dns_name *name, size_t i);
/* The bytes from label i on; i n_labels: the root. Borrowed. */
struct str dns_name_from(const struct dns_name *name, size_t i);
/* It is the zone, or ends with it. */
bool dns_name_is_in(const struct dns_name *name, const struct dns_name *zone);
/* Labels, each of 1 to DNS_LABEL_MAX bytes, followed by a name. In the arena; "": too long. */
struct str dns_name_join(struct arena *a, const struct str *labels, size_t n, struct str rest);
