/* SPDX-License-Identifier: Apache-2.0 */
/* Log sink; see log.h. One write(2) per line, so lines of several threads do not mix. */
#include "base/log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048, RING_LINES = 128, RING_LINE_BYTES = 240 };

static const char *const level_name[] = { "error", "warn", "info", "debug" };

static enum log_level threshold = LOG_INFO;
static enum log_format chosen_format = LOG_TEXT;
static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static char ring[RING_LINES][RING_LINE_BYTES];
static unsigned ring_at;

void log_setup(enum log_level level, enum log_format format)
{
    threshold = level;
    chosen_format = format;
}

bool log_is_on(enum log_level level)
{
    return level <= threshold;
}

static void remember(enum log_level level, const char *message, const char *pairs)
{
    pthread_mutex_lock(&ring_lock);
    (void)snprintf(ring[ring_at++ % RING_LINES], RING_LINE_BYTES, "%s %s %s", level_name[level],
                   message, pairs);
    pthread_mutex_unlock(&ring_lock);
}

/* is_escaped: as log_quote() wrote it. */
static void add_json_string(struct buf *b, struct str s, bool is_escaped)
{
    buf_add_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (is_escaped && s.p[i] == '\\' && i + 1 < s.n)
            i++;
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c < 0x20)
            buf_printf(b, "\\u%04x", c);
        else
            buf_add_char(b, (char)c);
    }
    buf_add_char(b, '"');
}

/* Cut the next "key=value" off; a value that starts with a quote runs to the closing one. */
static bool next_pair(struct str *rest, struct str *key, struct str *value, bool *ret_quoted)
{
    *ret_quoted = false;
    *rest = str_trim(*rest);
    if (rest->n == 0 || !str_cut(*rest, '=', key, rest))
        return false;
    if (rest->n && rest->p[0] == '"') {
        size_t i = 1;
        while (i < rest->n && rest->p[i] != '"')
            i += rest->p[i] == '\\' && i + 1 < rest->n ? 2 : 1;
        *value = str_slice(*rest, 1, i);
        *ret_quoted = true;
        *rest = str_slice(*rest, i + 1, rest->n);
        return true;
    }
    struct str tail;
    (void)str_cut(*rest, ' ', value, &tail);
    *rest = tail;
    return true;
}

static void format_json(struct buf *b, const char *time, enum log_level level, const char *message,
                        const char *pairs)
{
    buf_printf(b, "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":", time, level_name[level]);
    add_json_string(b, str_of(message), false);
    struct str rest = str_of(pairs), key, value;
    bool quoted;
    while (next_pair(&rest, &key, &value, &quoted)) {
        buf_add_char(b, ',');
        add_json_string(b, key, false);
        buf_add_char(b, ':');
        add_json_string(b, value, quoted);
    }
    buf_add_cstr(b, "}\n");
}

void log_write(enum log_level level, const char *message, const char *pairs_fmt, ...)
{
    char pairs[LINE_MAX_BYTES];
    va_list ap;
    va_start(ap, pairs_fmt);
    int n = vsnprintf(pairs, sizeof pairs, pairs_fmt, ap);
    va_end(ap);
    if (n < 0)
        pairs[0] = '\0';
    /* Text of a guest or peer must not forge log lines or send control codes to the terminal. */
    for (char *p = pairs; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    remember(level, message, pairs);
    if (!log_is_on(level))
        return;
    char time[RFC3339_MAX];
    rfc3339_format_us(clock_wall_us(), time);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4 * LINE_MAX_BYTES);
    if (chosen_format == LOG_JSON)
        format_json(&b, time, level, message, pairs);
    else
        buf_printf(&b, "%s %-5s %s%s%s\n", time, level_name[level], message, pairs[0] ? " " : "",
                   pairs);
    ssize_t w = write(STDERR_FILENO, buf_cstr(&b), b.n);
    (void)w; /* a failure of stderr cannot be reported anywhere */
}

const char *log_quote(char out[LOG_QUOTE_MAX], struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n && n < LOG_QUOTE_MAX - 3; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            out[n++] = '\\';
        out[n++] = text.p[i] ? text.p[i] : ' ';
    }
    out[n] = '\0';
    return out;
}

bool log_rate_ok(struct log_rate *rate, uint64_t interval_ms, uint64_t *ret_skipped)
{
    uint64_t now = clock_mono_ms();
    if (rate->last_ms && now - rate->last_ms < interval_ms) {
        rate->skipped++;
        return false;
    }
    rate->last_ms = now;
    *ret_skipped = rate->skipped;
    rate->skipped = 0;
    return true;
}

void log_dump_ring(int fd)
{
    for (unsigned i = 0; i < RING_LINES; i++) {
        const char *line = ring[(ring_at + i) % RING_LINES];
        if (!line[0])
            continue;
        ssize_t w = write(fd, line, strnlen(line, RING_LINE_BYTES));
        w = write(fd, "\n", 1);
        (void)w;
    }
}
