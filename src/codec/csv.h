/* SPDX-License-Identifier: Apache-2.0 */
/* Comma separated values (RFC 4180), read without copying; a byte order mark is passed over. */
#pragma once

#include "base/mem.h"
#include "base/str.h"

enum { CSV_COLUMNS_MAX = 32768 };

struct csv {
    struct str rest;
    uint32_t line; /* of the row read last, from 1 */
};

struct csv csv_open(struct str text);
/*
 * The fields of the next row that is not empty, at most `max` of them; a quoted one without its
 * outer quotes, inner ones still doubled. Returns their number, 0 at the end.
 * Errors: E_PARSE a quote that is not closed, or something behind one; E_LIMIT too many fields.
 */
int csv_row(struct csv *c, struct str *ret, size_t max);
