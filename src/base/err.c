/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: formatting and names; see err.h. */
#include "base/err.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ROOM = sizeof((struct err *)0)->text - 1,
    FULL_MAX = 8192 /* of a text before it is cut: twice a path of PATH_MAX bytes */
};
static const char gap[] = "...";

static bool is_inside_character(char c) /* of UTF-8 */
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Copy s, without its middle if it has more than `room` bytes; returns the end of the copy. */
static char *copy_ends(char *to, const char *s, size_t n, size_t room)
{
    size_t gap_n = MIN(sizeof gap - 1, room), head = (room - gap_n) / 2;
    size_t tail = n - MIN(n, room - gap_n - head);
    if (n <= room)
        return mempcpy(to, s, n);
    while (head > 0 && is_inside_character(s[head]))
        head--;
    while (tail < n && is_inside_character(s[tail]))
        tail++;
    to = mempcpy(to, s, head);
    to = mempcpy(to, gap, gap_n);
    return mempcpy(to, s + tail, n - tail);
}

/* "outer: cause". The cause is the most useful part: the outer text shrinks to a third first. */
static void join(struct err *err, const char *outer, size_t n, const char *cause)
{
    size_t cause_n = strlen(cause), room = ROOM - (cause_n ? 2 : 0), share = room / 3;
    char *to = err->text;
    if (n + cause_n > room)
        share = MAX(share, room - MIN(room, cause_n));
    else
        share = n;
    to = copy_ends(to, outer, n, share);
    if (cause_n)
        to = copy_ends(mempcpy(to, ": ", 2), cause, cause_n, room - MIN(n, share));
    *to = 0;
}

/* A separate function, so that shorter texts need less stack. */
__attribute__((format(printf, 3, 0), noinline, cold)) static void set_long_text(struct err *err,
                                                                                const char *cause,
                                                                                const char *fmt,
                                                                                va_list ap)
{
    char full[FULL_MAX];
    int n = vsnprintf(full, sizeof full, fmt, ap);
    join(err, full, n < 0 ? 0 : MIN((size_t)n, sizeof full - 1), cause);
}

/* cause: follows the text unless it is "". */
__attribute__((format(printf, 3, 0))) static void set_text(struct err *err, const char *cause,
                                                           const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    size_t cause_n = strlen(cause), more = cause_n ? cause_n + 2 : 0;
    if (n < 0 || (size_t)n + more > ROOM)
        set_long_text(err, cause, fmt, again);
    else if (more)
        (void)snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", cause);
    va_end(again);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return code;
    err->code = code;
    va_start(ap, fmt);
    set_text(err, "", fmt, ap);
    va_end(ap);
    return code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return code;
    err->code = code;
    va_start(ap, fmt);
    set_text(err, err_strerror(code), fmt, ap);
    va_end(ap);
    return code;
}

int err_ctx(struct err *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    struct err inner = *err;
    va_list ap;
    err->code = code;
    va_start(ap, fmt);
    set_text(err, inner.text[0] ? inner.text : err_strerror(code), fmt, ap);
    va_end(ap);
    return code;
}

const char *err_name(int code)
{
    switch (code) {
#define ERR_NAME(name, value, text)                                                                \
    case value:                                                                                    \
        return #name;
        ERR_CODES(ERR_NAME)
#undef ERR_NAME
    default:
        break;
    }
    if (code >= 0)
        return "OK";
    const char *name = strerrorname_np(-code);
    return name ? name : "EUNKNOWN";
}

const char *err_strerror(int code)
{
    switch (code) {
#define ERR_TEXT(name, value, text)                                                                \
    case value:                                                                                    \
        return text;
        ERR_CODES(ERR_TEXT)
#undef ERR_TEXT
    default:
        break;
    }
    if (code >= 0)
        return "success";
    const char *text = strerrordesc_np(-code);
    return text ? text : "unknown error";
}

const char *err_text(const struct err *err)
{
    return err->text[0] ? err->text : err_strerror(err->code);
}
