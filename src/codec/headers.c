/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header fields; see headers.h.
 *
 * The bytes of replaced and removed fields stay in the block; when it is full, the live fields move
 * to a new block. The old block is released only after the new bytes were copied, because a caller
 * may pass a value that it borrowed from the same list.
 */
#include "codec/headers.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>

enum { BLOCK_FIRST_BYTES = 512, ENTRIES_FIRST = 16 };

/* RFC 9110 section 5.6.2, "tchar", each in lower case; 0: none. */
#define SAME(c)   [c] = (c)
#define LETTER(c) [c] = (c) | 0x20, [(c) | 0x20] = (c) | 0x20
static const char token_chars[256] = {
    SAME('!'),   SAME('#'),   SAME('$'),   SAME('%'),   SAME('&'),   SAME('\''),  SAME('*'),
    SAME('+'),   SAME('-'),   SAME('.'),   SAME('^'),   SAME('_'),   SAME('`'),   SAME('|'),
    SAME('~'),   SAME('0'),   SAME('1'),   SAME('2'),   SAME('3'),   SAME('4'),   SAME('5'),
    SAME('6'),   SAME('7'),   SAME('8'),   SAME('9'),   LETTER('A'), LETTER('B'), LETTER('C'),
    LETTER('D'), LETTER('E'), LETTER('F'), LETTER('G'), LETTER('H'), LETTER('I'), LETTER('J'),
    LETTER('K'), LETTER('L'), LETTER('M'), LETTER('N'), LETTER('O'), LETTER('P'), LETTER('Q'),
    LETTER('R'), LETTER('S'), LETTER('T'), LETTER('U'), LETTER('V'), LETTER('W'), LETTER('X'),
    LETTER('Y'), LETTER('Z'),
};
#undef SAME
#undef LETTER

bool headers_is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!token_chars[(uint8_t)s.p[i]])
            return false;
    return s.n > 0;
}

static bool is_value_byte(uint8_t c)
{
    return (c >= 0x20 || c == '\t') && c != 0x7f;
}

/* Whether one of the eight bytes may be a control character; tabs count as such here. */
static bool has_control(uint64_t eight)
{
    const uint64_t ones = ~0ULL / 255, tops = ones * 0x80;
    uint64_t low = (eight - ones * 0x20) & ~eight, del = eight ^ ones * 0x7f;
    return ((low | ((del - ones) & ~del)) & tops) != 0;
}

/* Section 5.5: visible characters, blanks and bytes above ASCII. */
static bool is_value(struct str s)
{
    size_t i = 0;
    for (uint64_t eight; s.n - i >= sizeof eight; i += sizeof eight) {
        memcpy(&eight, s.p + i, sizeof eight);
        if (has_control(eight))
            break;
    }
    for (; i < s.n; i++)
        if (!is_value_byte((uint8_t)s.p[i]))
            return false;
    return true;
}

static size_t live_bytes(const struct headers *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += h->at[i].name_n + h->at[i].value_n;
    return n;
}

static uint32_t put(struct headers *h, struct str s)
{
    uint32_t at = (uint32_t)h->used;
    if (s.n)
        memcpy(h->block + at, s.p, s.n);
    h->used += s.n;
    return at;
}

/*
 * Room for `need` more bytes in the block. *ret_old is a block to free() once the bytes are in
 * place, or NULL. -EMSGSIZE past the limit.
 */
static int make_room(struct headers *h, size_t need, char **ret_old)
{
    *ret_old = NULL;
    if (need <= h->cap - h->used)
        return 0;
    size_t live = live_bytes(h);
    if (need > HEADERS_MAX_BYTES || live > HEADERS_MAX_BYTES - need)
        return -EMSGSIZE;
    size_t cap = BLOCK_FIRST_BYTES;
    while (cap < live + need)
        cap *= 2;
    char *block = mem_try(cap);
    if (!block)
        return -ENOMEM;
    struct headers was = *h;
    h->block = block;
    h->cap = cap;
    h->used = 0;
    for (size_t i = 0; i < h->n; i++) {
        h->at[i].name = put(h, str_n(was.block + h->at[i].name, h->at[i].name_n));
        h->at[i].value = put(h, str_n(was.block + h->at[i].value, h->at[i].value_n));
    }
    *ret_old = was.block;
    return 0;
}

static int make_entry(struct headers *h)
{
    if (h->n < h->n_cap)
        return 0;
    if (h->n == HEADERS_MAX)
        return -EMSGSIZE;
    size_t cap = h->n_cap ? h->n_cap * 2 : ENTRIES_FIRST;
    void *at = realloc(h->at, cap * sizeof *h->at);
    if (!at)
        return -ENOMEM;
    h->at = at;
    h->n_cap = cap;
    return 0;
}

void headers_fini(struct headers *h)
{
    free(h->block);
    free(h->at);
    *h = (struct headers){ 0 };
}

void headers_reset(struct headers *h)
{
    h->n = 0;
    h->used = 0;
}

int headers_add(struct headers *h, struct str name, struct str value)
{
    value = str_trim(value);
    if (!headers_is_token(name) || !is_value(value))
        return -EINVAL;
    if (name.n > HEADERS_MAX_BYTES || value.n > HEADERS_MAX_BYTES)
        return -EMSGSIZE;
    int r = make_entry(h);
    if (r < 0)
        return r;
    char *old;
    r = make_room(h, name.n + value.n, &old);
    if (r < 0)
        return r;
    size_t i = h->n;
    h->at[i].name = (uint32_t)h->used;
    h->at[i].name_n = (uint32_t)name.n;
    for (size_t j = 0; j < name.n; j++)
        h->block[h->used++] = token_chars[(uint8_t)name.p[j]];
    h->at[i].value = put(h, value);
    h->at[i].value_n = (uint32_t)value.n;
    h->n++;
    free(old);
    return 0;
}

int headers_addc(struct headers *h, const char *name, const char *value)
{
    return headers_add(h, str_of(name), str_of(value));
}

struct str headers_name(const struct headers *h, size_t i)
{
    assert(i < h->n);
    return str_n(h->block + h->at[i].name, h->at[i].name_n);
}

struct str headers_value(const struct headers *h, size_t i)
{
    assert(i < h->n);
    return str_n(h->block + h->at[i].value, h->at[i].value_n);
}

/* The first entry of this name at or after `from`; h->n: none. */
static size_t find(const struct headers *h, struct str name, size_t from)
{
    size_t i = from;
    while (i < h->n && !str_ieq(headers_name(h, i), name))
        i++;
    return i;
}

static void remove_from(struct headers *h, struct str name, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < h->n; i++)
        if (!str_ieq(headers_name(h, i), name))
            h->at[kept++] = h->at[i];
    h->n = kept;
}

int headers_set(struct headers *h, struct str name, struct str value)
{
    size_t first = find(h, name, 0);
    if (first == h->n)
        return headers_add(h, name, value);
    value = str_trim(value);
    if (!is_value(value))
        return -EINVAL;
    if (value.n > HEADERS_MAX_BYTES)
        return -EMSGSIZE;
    char *old;
    int r = make_room(h, value.n, &old);
    if (r < 0)
        return r;
    h->at[first].value = put(h, value);
    h->at[first].value_n = (uint32_t)value.n;
    remove_from(h, name, first + 1);
    free(old);
    return 0;
}

void headers_del(struct headers *h, struct str name)
{
    remove_from(h, name, 0);
}

struct str headers_get(const struct headers *h, const char *name)
{
    size_t i = find(h, str_of(name), 0);
    return i < h->n ? headers_value(h, i) : STR_NULL;
}

int headers_copy(struct headers *to, const struct headers *from)
{
    if (to == from)
        return 0;
    struct headers copy = { .used = from->used, .n = from->n };
    copy.cap = from->used;
    copy.n_cap = from->n;
    copy.block = from->used ? mem_try(from->used) : NULL;
    copy.at = from->n ? mem_try(from->n * sizeof *from->at) : NULL;
    if ((from->used && !copy.block) || (from->n && !copy.at)) {
        headers_fini(&copy);
        return -ENOMEM;
    }
    if (from->used)
        memcpy(copy.block, from->block, from->used);
    if (from->n)
        memcpy(copy.at, from->at, from->n * sizeof *from->at);
    headers_fini(to);
    *to = copy;
    return 0;
}

bool headers_has_token(const struct headers *h, const char *name, const char *token)
{
    struct str want = str_of(token), field = str_of(name);
    for (size_t i = find(h, field, 0); i < h->n; i = find(h, field, i + 1)) {
        struct str rest = headers_value(h, i), item;
        bool more = true;
        while (more) {
            more = str_cut(rest, ',', &item, &rest);
            if (str_ieq(str_trim(item), want))
                return true;
        }
    }
    return false;
}
