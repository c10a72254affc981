/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packings compared; see packings.h. What the cache uses is measured beside what it could use:
 * plain text, zstd without and with a trained dictionary at several levels, and a binary form of
 * JSON in which keys and repeated strings are numbers.
 */
#include "packings.h"

#include "base/clock.h"
#include "base/map.h"
#include "codec/json.h"

#include <assert.h>
#include <stdio.h>

#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

enum { SAMPLES = 256, DICT_BYTES = 32 << 10, SHORT_STRING = 64 };

static void report(const char *way, size_t n, size_t bytes, size_t fixed, uint64_t pack_ns,
                   uint64_t read_ns)
{
    printf("{\"packing\":\"%s\",\"bytes\":%.1f,\"fixed\":%zu,\"pack_us\":%.2f,\"read_us\":%.2f}\n",
           way, (double)bytes / (double)n, fixed, (double)pack_ns / 1000.0 / (double)n,
           (double)read_ns / 1000.0 / (double)n);
}

/* ---------------------------------------------------------------- zstd */

static size_t train(const struct str *texts, size_t n, void *dict)
{
    struct buf samples = BUF_INIT(BUF_MAX_DEFAULT);
    size_t sizes[SAMPLES], count = n < SAMPLES ? n : SAMPLES;
    for (size_t i = 0; i < count; i++) {
        buf_add_str(&samples, texts[i]);
        sizes[i] = texts[i].n;
    }
    ZDICT_fastCover_params_t params = { .k = 256, .d = 8, .f = 16, .accel = 2 };
    size_t got = ZDICT_trainFromBuffer_fastCover(dict, DICT_BYTES, samples.p, sizes,
                                                 (unsigned)count, params);
    buf_fini(&samples);
    return ZDICT_isError(got) ? 0 : got;
}

static void measure_zstd(const struct str *texts, size_t n, const char *name, int level,
                         const void *dict, size_t dict_n)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_CDict *cd = dict_n ? ZSTD_createCDict(dict, dict_n, level) : NULL;
    ZSTD_DDict *dd = dict_n ? ZSTD_createDDict(dict, dict_n) : NULL;
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_dictIDFlag, 0);
    (void)ZSTD_CCtx_refCDict(c, cd);
    (void)ZSTD_DCtx_refDDict(d, dd);
    char **packed = xnew_n(char *, n);
    size_t *sizes = xnew_n(size_t, n), bytes = 0, room = 1 << 20;
    char *out = xalloc(room);
    uint64_t begin = clock_mono_ns();
    for (size_t i = 0; i < n; i++) {
        sizes[i] = ZSTD_compress2(c, out, room, texts[i].p, texts[i].n);
        assert(!ZSTD_isError(sizes[i]));
        packed[i] = xstrndup(out, sizes[i]);
        bytes += sizes[i];
    }
    uint64_t middle = clock_mono_ns();
    for (size_t i = 0; i < n; i++)
        if (ZSTD_decompressDCtx(d, out, room, packed[i], sizes[i]) != texts[i].n)
            abort();
    uint64_t end = clock_mono_ns();
    report(name, n, bytes, dict_n, middle - begin, end - middle);
    for (size_t i = 0; i < n; i++)
        free(packed[i]);
    free(packed);
    free(sizes);
    free(out);
    ZSTD_freeCCtx(c);
    ZSTD_freeDCtx(d);
    ZSTD_freeCDict(cd);
    ZSTD_freeDDict(dd);
}

/* ---------------------------------------------------------------- numbers for strings */

/* Strings that may come again, by number from 1; they are kept for ever. */
struct names {
    struct map by_text;
    struct str *by_number;
    size_t n, cap, bytes;
};

static size_t number_of(struct names *s, struct str text)
{
    size_t known = (size_t)(uintptr_t)map_get(&s->by_text, text);
    if (known)
        return known;
    if (s->n + 1 >= s->cap) {
        s->cap = s->cap ? s->cap * 2 : 1024;
        s->by_number = xrealloc(s->by_number, s->cap * sizeof *s->by_number);
    }
    s->n++;
    (void)map_put(&s->by_text, text, (void *)(uintptr_t)s->n);
    s->by_number[s->n] = map_find(&s->by_text, text)->key;
    s->bytes += text.n + 1 + sizeof(struct map_entry) * 3 / 2 + sizeof(struct str) + 16;
    return s->n;
}

static void put_varint(struct buf *to, size_t v)
{
    for (; v >= 128; v >>= 7)
        buf_add_u8(to, (uint8_t)(v | 128));
    buf_add_u8(to, (uint8_t)v);
}

static size_t get_varint(struct rd *r)
{
    size_t v = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint8_t b = rd_u8(r);
        v |= (size_t)(b & 127) << shift;
        if (b < 128)
            break;
    }
    return v;
}

enum { TAG_NAME = 7 }; /* beside enum json_type */

/* Which strings are worth a number is known from the first objects: those that came twice. */
static void encode(struct names *keys, struct names *values, const struct json *v, struct buf *to)
{
    if (v->type == JSON_STRING || v->type == JSON_NUMBER) {
        size_t known =
            v->s.n <= SHORT_STRING ? (size_t)(uintptr_t)map_get(&values->by_text, v->s) : 0;
        buf_add_u8(to, known && v->type == JSON_STRING ? TAG_NAME : (uint8_t)v->type);
        if (known && v->type == JSON_STRING) {
            put_varint(to, known);
            return;
        }
        put_varint(to, v->s.n);
        buf_add_str(to, v->s);
        return;
    }
    buf_add_u8(to, (uint8_t)v->type);
    if (v->type < JSON_ARRAY)
        return;
    put_varint(to, v->n);
    json_each (child, v) {
        if (v->type == JSON_OBJECT)
            put_varint(to, number_of(keys, child->key));
        encode(keys, values, child, to);
    }
}

static void decode(const struct names *keys, const struct names *values, struct rd *r,
                   struct buf *to)
{
    uint8_t tag = rd_u8(r);
    switch (tag) {
    case JSON_NULL:
        buf_add_cstr(to, "null");
        return;
    case JSON_FALSE:
        buf_add_cstr(to, "false");
        return;
    case JSON_TRUE:
        buf_add_cstr(to, "true");
        return;
    case JSON_NUMBER:
        buf_add_str(to, rd_str(r, get_varint(r)));
        return;
    case JSON_STRING:
        json_write_str(to, rd_str(r, get_varint(r)));
        return;
    case TAG_NAME:
        json_write_str(to, values->by_number[get_varint(r)]);
        return;
    default:
        break;
    }
    size_t n = get_varint(r);
    buf_add_char(to, tag == JSON_OBJECT ? '{' : '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(to, ',');
        if (tag == JSON_OBJECT) {
            json_write_str(to, keys->by_number[get_varint(r)]);
            buf_add_char(to, ':');
        }
        decode(keys, values, r, to);
    }
    buf_add_char(to, tag == JSON_OBJECT ? '}' : ']');
}

static void count_strings(struct names *once, struct names *twice, const struct json *v)
{
    if (v->type == JSON_STRING && v->s.n <= SHORT_STRING && v->s.n > 1)
        (void)number_of(map_has(&once->by_text, v->s) ? twice : once, v->s);
    json_each (child, v)
        count_strings(once, twice, child);
}

static void free_names(struct names *s)
{
    map_fini(&s->by_text);
    free(s->by_number);
}

static void measure_binary(const struct str *texts, size_t n)
{
    struct names keys = { 0 }, values = { 0 }, once = { 0 };
    struct arena a = { 0 };
    struct json *v;
    for (size_t i = 0; i < n && i < SAMPLES * 4; i++) {
        if (json_parse(&a, texts[i], NULL, &v, NULL) >= 0)
            count_strings(&once, &values, v);
        arena_reset(&a);
    }
    struct buf *packed = xnew_n(struct buf, n);
    size_t bytes = 0;
    uint64_t pack = 0;
    for (size_t i = 0; i < n; i++) {
        packed[i] = BUF_INIT(BUF_MAX_DEFAULT);
        if (json_parse(&a, texts[i], NULL, &v, NULL) < 0)
            abort();
        uint64_t begin = clock_mono_ns(); /* the cache has the tree */
        encode(&keys, &values, v, &packed[i]);
        pack += clock_mono_ns() - begin;
        bytes += packed[i].n;
        arena_reset(&a);
    }
    struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    uint64_t begin = clock_mono_ns();
    for (size_t i = 0; i < n; i++) {
        struct rd r = rd_init(packed[i].p, packed[i].n);
        buf_reset(&out);
        decode(&keys, &values, &r, &out);
    }
    uint64_t end = clock_mono_ns();
    report("binary", n, bytes, keys.bytes + values.bytes, pack, end - begin);
    for (size_t i = 0; i < n; i++)
        buf_fini(&packed[i]);
    free(packed);
    buf_fini(&out);
    arena_fini(&a);
    free_names(&keys);
    free_names(&values);
    free_names(&once);
}

void packings_measure(const struct str *texts, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += texts[i].n;
    report("plain", n, bytes, 0, 0, 0);
    measure_binary(texts, n);
    measure_zstd(texts, n, "zstd-3", 3, NULL, 0);
    char *dict = xalloc(DICT_BYTES);
    size_t dict_n = train(texts, n, dict);
    static const int levels[] = { 1, 3, 6, 9, 12 };
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "zstd-%d-dictionary", levels[i]);
        measure_zstd(texts, n, name, levels[i], dict, dict_n);
    }
    free(dict);
}
