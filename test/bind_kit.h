/* SPDX-License-Identifier: Apache-2.0 */
/* A struct with a field of every kind, for the test and the fuzzer of codec/bind. */
#pragma once

#include "codec/bind.h"

enum { KIT_TAGS_MAX = 8, KIT_PARTS_MAX = 6, KIT_LABELS_MAX = 5, KIT_FIXED_MAX = 3 };

struct kit_part {
    struct str name;
    uint16_t port;
    int8_t delta;
    bool is_open;
};
struct kit_label {
    struct str key, value;
};
struct kit_limits {
    uint64_t bytes;
    double rate;
};
struct kit {
    bool is_on, has_count;
    uint8_t small;
    uint32_t count;
    uint64_t large;
    int32_t offset;
    int64_t wide;
    double ratio;
    struct str name, title;
    enum { KIT_AUTO, KIT_FAST, KIT_SAFE } mode;
    struct kit_limits limits;
    struct kit_part *main; /* or NULL */
    uint32_t timeout_s, retry_s;
    struct str *tags;
    size_t n_tags;
    struct kit_part *parts;
    uint32_t n_parts;
    struct kit_label *labels;
    size_t n_labels;
    uint16_t codes[KIT_FIXED_MAX];
    size_t n_codes;
    const struct json *any;
    uint32_t hex;
};

static const char *const kit_modes[] = { [KIT_FAST] = "fast", [KIT_SAFE] = "safe" };

/* "0x1f" */
static int kit_read_hex(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct str s = json_str(v);
    uint32_t n = 0;
    if (s.n < 3 || s.n > 10 || s.p[0] != '0' || s.p[1] != 'x')
        return BIND_FAIL(b, "must be hexadecimal");
    for (size_t i = 2; i < s.n; i++) {
        const char *digits = "0123456789abcdef", *at = memchr(digits, s.p[i], 16);
        if (!at)
            return bind_fail(b, E_PARSE, "'%c' is no digit", s.p[i] < ' ' ? '?' : s.p[i]);
        n = n << 4 | (uint32_t)(at - digits);
    }
    *(uint32_t *)to = n;
    return 0;
}

static struct json *kit_write_hex(struct arena *a, const struct bind_field *f, const void *from)
{
    uint32_t n = *(const uint32_t *)from;
    return n ? json_new_cstr(a, arena_printf(a, "0x%x", n)) : NULL;
}

static int kit_is_even(struct bind *b, const struct json *v, void *at)
{
    return *(uint8_t *)at % 2 == 0 ? 0 : BIND_FAIL(b, "is odd");
}

static int kit_check_part(struct bind *b, const struct json *v, void *at)
{
    const struct kit_part *p = at;
    return p->is_open && !p->port ? bind_fail_in(b, "port", E_INVALID, "of an open part") : 0;
}

static const struct bind_field kit_part_fields[] = {
    BIND_STR("name", struct kit_part, name, .min = 1, .max = 16, .flags = BIND_REQUIRED),
    BIND_UINT("port", struct kit_part, port),
    BIND_INT("delta", struct kit_part, delta),
    BIND_BOOL("open", struct kit_part, is_open),
};
static const struct kit_part kit_part_preset = { .port = 80 };
static const struct bind_table kit_part_table =
    BIND_TABLE(kit_part_fields, .size = sizeof(struct kit_part), .preset = &kit_part_preset,
               .check = kit_check_part);

static const struct bind_field kit_limit_fields[] = {
    BIND_UINT("bytes", struct kit_limits, bytes, .max = INT64_C(1) << 50),
    BIND_FLOAT("rate", struct kit_limits, rate),
};
static const struct bind_table kit_limit_table = BIND_TABLE(kit_limit_fields);

static const struct bind_field kit_time_fields[] = {
    BIND_UINT("timeoutSeconds", struct kit, timeout_s),
    BIND_UINT("retrySeconds", struct kit, retry_s, .min = 1, .max = 60),
};
static const struct bind_table kit_time_table = BIND_TABLE(kit_time_fields);

static const struct bind_field kit_code = {
    .kind = BIND_KIND_UINT, .size = 2, .min = 100, .max = 599
};

static const struct bind_field kit_fields[] = {
    BIND_BOOL("on", struct kit, is_on),
    BIND_UINT("small", struct kit, small, .check = kit_is_even),
    BIND_UINT("count", struct kit, count, .has_at = BIND_HAS(struct kit, has_count)),
    BIND_UINT("large", struct kit, large),
    BIND_INT("offset", struct kit, offset, .min = -10, .max = 10),
    BIND_INT("wide", struct kit, wide),
    BIND_FLOAT("ratio", struct kit, ratio, .flags = BIND_ALWAYS),
    BIND_STR("name", struct kit, name, .min = 2, .max = 20),
    BIND_STR("title", struct kit, title, .flags = BIND_LAX),
    BIND_ENUM("mode", struct kit, mode, kit_modes),
    BIND_OBJECT("limits", struct kit, limits, &kit_limit_table),
    BIND_POINTER("main", struct kit, main, &kit_part_table),
    BIND_INLINE("times", &kit_time_table),
    BIND_STRS("tags", struct kit, tags, n_tags, KIT_TAGS_MAX),
    BIND_OBJECTS("parts", struct kit, parts, n_parts, &kit_part_table, KIT_PARTS_MAX,
                 .flags = BIND_LATER),
    BIND_STR_MAP("labels", struct kit, labels, n_labels, struct kit_label, key, value,
                 KIT_LABELS_MAX),
    BIND_ARRAY("codes", struct kit, codes, n_codes, &kit_code, KIT_FIXED_MAX, .flags = BIND_FIXED),
    BIND_JSON("any", struct kit, any),
    BIND_CUSTOM("hex", struct kit, hex, kit_read_hex, .write = kit_write_hex),
};
static const struct bind_table kit_table = BIND_TABLE(kit_fields, .size = sizeof(struct kit));
