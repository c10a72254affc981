/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.Quantity: "100m", "1.5Gi", "3e6". Exact decimals within int64 of nano; a value beyond
 * that is an error.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/bind.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

struct quantity {
    __int128 nano; /* value in units of 1e-9, rounded up as upstream does */
    enum quantity_format format;
};

/* Errors: E_INVALID with upstream's text. */
int quantity_parse(struct str s, struct quantity *ret, struct err *err);
/* Canonical text. */
struct str quantity_text(struct arena *a, struct quantity q);
int quantity_cmp(struct quantity a, struct quantity b);
/* Rounded up, saturating. */
int64_t quantity_value(struct quantity q);
int64_t quantity_milli(struct quantity q);

/*
 * Readers for tables (codec/bind.h): a string or number into a uint64_t, within .min and .max.
 * Milli: in thousandths, as are the bounds.
 */
int quantity_bind(struct bind *b, const struct bind_field *f, const struct json *v, void *to);
int quantity_bind_milli(struct bind *b, const struct bind_field *f, const struct json *v, void *to);
