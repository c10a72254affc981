/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest of ABI v1 on the bare imports that does what it is told, for tests of the host.
 *
 * Environment: DECLARE, the declaration (none: it declares nothing); SETUP, a script run after
 * that; DO, the script of an activation whose object has none (it was deleted); EXIT, what setup
 * returns. Otherwise an activation runs `data.do` of its object: one command a line,
 *
 *     api METHOD TARGET CONTENT-TYPE|- BODY      get QUERY      list QUERY      config NAME
 *     log LEVEL TEXT|KEY-VALUES      event JSON      enqueue JSON      metric INDEX LABELS|- VALUE
 *     say TEXT      fail TEXT      return N      declare TEXT      count      trap      loop
 *     repeat N COMMAND (without saying so)
 *     outside (a range beyond the memory)      flood N (values for metric 0)
 *
 * Each activation prints "probe act" and its JSON without the object, each call that parks "probe",
 * its command, the value and the result (cut, line ends as '|').
 */
#include <stdbool.h>
#include <stdint.h>
#include <wasi/api.h>

#define V1(name)     __attribute__((import_module("dormouse_v1"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name), used))

V1("declare") int32_t v1_declare(const void *p, uint32_t n);
V1("result_size") uint32_t v1_result_size(void);
V1("result_read") uint32_t v1_result_read(void *p, uint32_t n);
V1("fail_message") void v1_fail_message(const void *p, uint32_t n);
V1("log")
void v1_log(uint32_t level, const void *p, uint32_t n, const void *kv, uint32_t n_kv);
V1("api_request")
int64_t v1_api_request(const void *head, uint32_t n_head, const void *body, uint32_t n_body);
V1("cache_get") int64_t v1_cache_get(const void *p, uint32_t n);
V1("cache_list") int64_t v1_cache_list(const void *p, uint32_t n);
V1("config_get") int64_t v1_config_get(const void *p, uint32_t n);
V1("enqueue") void v1_enqueue(const void *p, uint32_t n);
V1("event") void v1_event(const void *p, uint32_t n);
V1("metric") void v1_metric(uint32_t index, const void *labels, uint32_t n, uint64_t bits);

enum { TEXT_MAX = 300 << 10, LINE_MAX = 1400 };

static char activation[TEXT_MAX], script[64 << 10], result[64 << 10], environment[64 << 10];
static bool is_quiet;
static uint64_t count; /* activations of this start; kept while asleep */

/* ---- text ---- */

static uint32_t length(const char *s)
{
    uint32_t n = 0;
    while (s[n])
        n++;
    return n;
}

static bool begins(const char *s, const char *word)
{
    while (*word && *s == *word)
        s++, word++;
    return !*word && (*s == ' ' || *s == 0);
}

static void write_out(const char *s, uint32_t n)
{
    __wasi_ciovec_t v = { (const uint8_t *)s, n };
    __wasi_size_t written;
    (void)__wasi_fd_write(1, &v, 1, &written);
}

static uint32_t put(char *out, uint32_t at, const char *s, uint32_t n)
{
    for (uint32_t i = 0; i < n && at < LINE_MAX; i++)
        out[at++] = s[i] == '\n' || s[i] == '\r' ? '|' : s[i] ? s[i] : '.';
    return at;
}

static uint32_t put_number(char *out, uint32_t at, int64_t v)
{
    char digits[24];
    uint32_t i = sizeof digits;
    uint64_t rest = v < 0 ? (uint64_t)-v : (uint64_t)v;
    do
        digits[--i] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        digits[--i] = '-';
    return put(out, at, digits + i, (uint32_t)sizeof digits - i);
}

static void say(const char *what, const char *text, uint32_t n)
{
    char out[LINE_MAX + 8];
    if (is_quiet)
        return;
    uint32_t at = put(out, 0, "probe ", 6);
    at = put(out, at, what, length(what));
    at = put(out, at, " ", 1);
    at = put(out, at, text, n);
    out[at++] = '\n';
    write_out(out, at);
}

static void say_value(const char *what, int64_t value)
{
    char text[LINE_MAX];
    uint32_t at = put_number(text, 0, value);
    at = put(text, at, " ", 1);
    uint32_t n = v1_result_size();
    n = v1_result_read(result, n < sizeof result ? n : (uint32_t)sizeof result);
    at = put(text, at, result, n);
    say(what, text, at < LINE_MAX ? at : LINE_MAX - 1);
}

static int64_t number(const char *s)
{
    bool minus = *s == '-';
    int64_t v = 0;
    for (s += minus; *s >= '0' && *s <= '9'; s++)
        v = v * 10 + (*s - '0');
    return minus ? -v : v;
}

/* The word at *s, terminated in place; *s moves behind it. */
static char *word(char **s)
{
    char *begin = *s;
    while (**s && **s != ' ')
        (*s)++;
    if (**s)
        *(*s)++ = 0;
    return begin;
}

static const char *variable(const char *name)
{
    static char *list[64];
    __wasi_size_t n = 0, bytes = 0;
    if (!list[0]) {
        (void)__wasi_environ_sizes_get(&n, &bytes);
        if (n > 63 || bytes > sizeof environment)
            __builtin_trap();
        (void)__wasi_environ_get((uint8_t **)list, (uint8_t *)environment);
    }
    for (char **e = list; *e; e++) {
        const char *a = *e, *b = name;
        while (*b && *a == *b)
            a++, b++;
        if (!*b && *a == '=')
            return a + 1;
    }
    return 0;
}

/* ---- commands ---- */

static void request(char *args)
{
    static char head[4096];
    char *method = word(&args), *target = word(&args), *type = word(&args);
    uint32_t n = put(head, 0, method, length(method));
    n = put(head, n, " ", 1);
    n = put(head, n, target, length(target));
    if (*type && *type != '-') {
        head[n++] = '\n';
        n = put(head, n, "content-type: ", 14);
        n = put(head, n, type, length(type));
    }
    int64_t value = v1_api_request(head, n, args, length(args));
    if (value < 0) {
        say_value("api", value);
        return;
    }
    uint32_t parts[2];
    (void)v1_result_read(parts, sizeof parts);
    for (uint32_t left = parts[1]; left;) { /* headers: only what the host itself says */
        uint32_t m = v1_result_read(result, left < sizeof result ? left : (uint32_t)sizeof result);
        for (uint32_t i = 0; i + 16 < m; i++)
            if (begins(result + i, "dormouse-error:"))
                say("header", result + i, 40 < m - i ? 40 : m - i);
        left -= m;
    }
    say_value("api", parts[0]);
}

static void post_metric(char *args)
{
    uint32_t index = (uint32_t)number(word(&args));
    char *labels = word(&args);
    union {
        double v;
        uint64_t bits;
    } value = { .v = (double)number(args) };
    v1_metric(index, labels, *labels == '-' ? 0 : length(labels), value.bits);
}

static void post_log(char *args)
{
    uint32_t level = (uint32_t)number(word(&args)), n = 0;
    while (args[n] && args[n] != '|')
        n++;
    const char *pairs = args[n] ? args + n + 1 : "";
    v1_log(level, args, n, pairs, length(pairs));
}

static void command(char *line, int64_t *ret);

static void copy(char *to, const char *from)
{
    while ((*to++ = *from++))
        ;
}

static void repeat(char *args, int64_t *ret)
{
    static char line[2048];
    is_quiet = true;
    for (int64_t i = number(word(&args)); i > 0; i--) {
        copy(line, args);
        command(line, ret);
    }
    is_quiet = false;
}

static void command(char *line, int64_t *ret)
{
    char *args = line;
    (void)word(&args);
    uint32_t n = length(args);
    if (begins(line, "repeat"))
        repeat(args, ret);
    else if (begins(line, "api"))
        request(args);
    else if (begins(line, "get"))
        say_value("get", v1_cache_get(args, n));
    else if (begins(line, "list"))
        say_value("list", v1_cache_list(args, n));
    else if (begins(line, "config"))
        say_value("config", v1_config_get(args, n));
    else if (begins(line, "declare"))
        say_value("declare", v1_declare(args, n));
    else if (begins(line, "log"))
        post_log(args);
    else if (begins(line, "event"))
        v1_event(args, n);
    else if (begins(line, "enqueue"))
        v1_enqueue(args, n);
    else if (begins(line, "metric"))
        post_metric(args);
    else if (begins(line, "say"))
        say("say", args, n);
    else if (begins(line, "count")) {
        char text[32];
        say("count", text, put_number(text, 0, (int64_t)count));
    } else if (begins(line, "fail"))
        v1_fail_message(args, n);
    else if (begins(line, "return"))
        *ret = number(args);
    else if (begins(line, "flood"))
        for (int64_t i = number(args); i > 0; i--)
            v1_metric(0, "", 0, 0);
    else if (begins(line, "outside"))
        v1_enqueue((const void *)0xfffffff0, 64);
    else if (begins(line, "trap"))
        __builtin_trap();
    else if (begins(line, "loop"))
        for (volatile uint32_t i = 0;; i++)
            ;
    else if (*line)
        __builtin_trap();
}

static int64_t run(char *text)
{
    int64_t ret = 0;
    while (*text) {
        char *line = text;
        while (*text && *text != '\n')
            text++;
        if (*text)
            *text++ = 0;
        command(line, &ret);
    }
    return ret;
}

/* The string behind `"do":"`, decoded; escapes beyond \uXXXX are enough for scripts. */
static bool find_script(void)
{
    static const char key[] = "\"do\":\"";
    for (char *p = activation; *p; p++) {
        uint32_t i = 0;
        while (key[i] && p[i] == key[i])
            i++;
        if (key[i])
            continue;
        char *out = script;
        for (p += i; *p && *p != '"' && out < script + sizeof script - 1; p++) {
            if (*p != '\\') {
                *out++ = *p;
                continue;
            }
            p++;
            *out++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
        }
        *out = 0;
        return true;
    }
    return false;
}

EXPORT("dormouse_v1_setup") int32_t setup(void);
int32_t setup(void)
{
    const char *text = variable("DECLARE");
    if (text) {
        int32_t r = v1_declare(text, length(text));
        say_value("declare", r);
        if (r < 0) {
            v1_fail_message(result, length(result) < 900 ? length(result) : 900);
            return 1;
        }
    }
    text = variable("SETUP");
    if (text) {
        copy(script, text);
        (void)run(script);
    }
    return (int32_t)(variable("EXIT") ? number(variable("EXIT")) : 0);
}

EXPORT("dormouse_v1_activate") int64_t activate(uint32_t n);
int64_t activate(uint32_t n)
{
    if (n >= sizeof activation)
        __builtin_trap();
    activation[v1_result_read(activation, n)] = 0;
    count++;
    uint32_t end = 0;
    static const char object[] = "\"object\":{";
    for (uint32_t i = 0; end < n && object[i]; end++)
        i = activation[end] == object[i] ? i + 1 : 0;
    say("act", activation, end);
    if (find_script())
        return run(script);
    if (!variable("DO"))
        return 0;
    copy(script, variable("DO"));
    return run(script);
}
