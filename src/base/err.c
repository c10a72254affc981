/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: formatting and names; see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void set_text(struct err *err, int code,
                                                           const char *fmt, va_list ap,
                                                           bool with_cause)
{
    if (!err)
        return;
    err->code = code;
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    if (!with_cause || n < 0 || (size_t)n >= sizeof err->text)
        return;
    (void)snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", err_strerror(code));
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_text(err, code, fmt, ap, false);
    va_end(ap);
    return code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_text(err, code, fmt, ap, true);
    va_end(ap);
    return code;
}

int err_ctx(struct err *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    struct err inner = *err;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    err->code = code;
    if (n < 0 || (size_t)n >= sizeof err->text)
        return code;
    const char *cause = inner.text[0] ? inner.text : err_strerror(code);
    (void)snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", cause);
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
