/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered list of HTTP header fields (RFC 9110 section 5). Names compare case-insensitively and
 * are stored in lower case; a repeated name stays a separate entry. Names and values are copied
 * into one growing block, so a struct headers is two allocations however many fields it has.
 */
#pragma once

#include "base/str.h"

enum { HEADERS_MAX = 256, HEADERS_MAX_BYTES = 64 << 10 };

struct headers {
    char *block;
    size_t used, cap;
    struct {
        uint32_t name, name_n, value, value_n; /* offsets into block */
    } * at;
    size_t n, n_cap;
};

void headers_fini(struct headers *h);
void headers_reset(struct headers *h);
/* -EMSGSIZE past HEADERS_MAX or HEADERS_MAX_BYTES, -EINVAL for bytes that a name or value must not
 * hold. */
int headers_add(struct headers *h, struct str name, struct str value);
int headers_addc(struct headers *h, const char *name, const char *value);
/* Replace all entries of this name by one. */
int headers_set(struct headers *h, struct str name, struct str value);
void headers_del(struct headers *h, struct str name);
/* First value, or {NULL, 0}. Borrowed until the next change. */
struct str headers_get(const struct headers *h, const char *name);
struct str headers_name(const struct headers *h, size_t i);
struct str headers_value(const struct headers *h, size_t i);
int headers_copy(struct headers *to, const struct headers *from);
/* true if one of the comma-separated tokens of any entry of this name equals `token`,
 * case-insensitively */
bool headers_has_token(const struct headers *h, const char *name, const char *token);
/* A token (RFC 9110 section 5.6.2): what a field name or a method may be. */
bool headers_is_token(struct str s);
