/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/model/duration.h"

#include "base/mem.h"

#define NS_PER_S 1000000000ll

bool duration_parse(struct str s, int64_t *ret)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {
        { "ns", 1 },       { "us", 1000 },    { "\xc2\xb5s", 1000 },    { "\xce\xbcs", 1000 },
        { "ms", 1000000 }, { "s", NS_PER_S }, { "m", 60ll * NS_PER_S }, { "h", 3600ll * NS_PER_S }
    };
    bool minus = s.n && s.p[0] == '-';
    __int128 sum = 0;
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+');
    if (str_is(str_slice(s, at, s.n), "0")) {
        *ret = 0;
        return true;
    }
    if (at >= s.n)
        return false;
    while (at < s.n) {
        __int128 value = 0, scale = 1;
        size_t digits = 0;
        bool dot = false;
        for (; at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || (s.p[at] == '.' && !dot)); at++) {
            if (s.p[at] == '.') {
                dot = true;
                continue;
            }
            digits++;
            if (value > INT64_MAX || scale > INT64_MAX / 10)
                continue; /* digits below a nanosecond */
            value = value * 10 + (s.p[at] - '0');
            scale = dot ? scale * 10 : scale;
        }
        int64_t unit = 0;
        size_t n = 0;
        for (size_t i = 0; i < ARRAY_LEN(units); i++) {
            if (!str_has_prefix(str_slice(s, at, s.n), str_of(units[i].unit)))
                continue;
            if (strlen(units[i].unit) > n) {
                n = strlen(units[i].unit);
                unit = units[i].ns;
            }
        }
        if (!digits || !unit || value > INT64_MAX)
            return false;
        at += n;
        sum += value * unit / scale;
        if (sum > INT64_MAX)
            return false;
    }
    *ret = (int64_t)(minus ? -sum : sum);
    return true;
}

const char *duration_problem(struct str s)
{
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+');
    while (at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || s.p[at] == '.'))
        at++;
    bool bare = at == s.n && s.n && s.p[at - 1] >= '0' && s.p[at - 1] <= '9';
    return bare ? "missing unit in duration " : "invalid duration ";
}

/* Prints v / unit, with a fraction without trailing zeros. */
static void add_fraction(struct buf *to, uint64_t v, uint64_t unit, const char *name)
{
    (void)buf_add_u64_dec(to, v / unit);
    uint64_t rest = v % unit;
    if (rest)
        (void)buf_add_char(to, '.');
    for (unit /= 10; rest; unit /= 10) {
        (void)buf_add_char(to, (char)('0' + rest / unit));
        rest %= unit;
    }
    (void)buf_add_cstr(to, name);
}

void duration_print(struct buf *to, int64_t ns)
{
    uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, seconds = v / NS_PER_S;
    if (ns < 0)
        (void)buf_add_char(to, '-');
    if (v == 0)
        (void)buf_add_cstr(to, "0s");
    else if (v < 1000)
        add_fraction(to, v, 1, "ns");
    else if (v < 1000000)
        add_fraction(to, v, 1000, "\xc2\xb5s");
    else if (v < NS_PER_S)
        add_fraction(to, v, 1000000, "ms");
    if (v < NS_PER_S)
        return;
    if (seconds >= 3600)
        (void)buf_printf(to, "%lluh", (unsigned long long)(seconds / 3600));
    if (seconds >= 60)
        (void)buf_printf(to, "%llum", (unsigned long long)(seconds / 60 % 60));
    add_fraction(to, v % (60 * NS_PER_S), NS_PER_S, "s");
}
