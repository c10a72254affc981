/* SPDX-License-Identifier: Apache-2.0 */
/* A format that is worked off piece by piece; for what builds more than one text from it. */
#pragma once

#include "dm/text.h"

/* Where in a format we are, and the arguments that are left. */
struct dm_conversion {
    va_list ap;
    const char *at;
    size_t size;   /* of an integer argument */
    int precision; /* of a string; -1: up to its NUL */
};

void dm_conversion_init(struct dm_conversion *c, const char *fmt, va_list ap);
void dm_conversion_fini(struct dm_conversion *c);
/* Append one character of the format, or one conversion. */
void dm_text_convert_one(struct dm_text *t, struct dm_conversion *c);
/* Append the format up to its end, or up to `until` outside a conversion, where c->at then stands.
 */
void dm_text_convert(struct dm_text *t, struct dm_conversion *c, char until);
