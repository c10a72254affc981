/* SPDX-License-Identifier: Apache-2.0 */
/* Option parsing, help, and what all commands share; see cmd.h. */
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"

#include "base/buf.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cmd_log_level = "info", *cmd_log_format = "text";

void cmd_add_safe(struct buf *to, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        (void)buf_add_char(to, c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
}

/* An error may name what a registry, an image or an object had in it. */
int cmd_fail(int status, const struct err *err)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(2 * sizeof err->text);
    struct str rest = str_of(err_text(err)), part;
    (void)buf_add_cstr(&line, "error: ");
    for (bool is_more = true; is_more;) {
        is_more = str_cut(rest, '\n', &part, &rest);
        cmd_add_safe(&line, part);
        (void)buf_add_char(&line, '\n');
    }
    (void)fwrite(line.p, 1, line.n, stderr);
    return status;
}

int cmd_failf(int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)fputs("error: ", stderr);
    (void)vfprintf(stderr, fmt, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    return status;
}

int cmd_fail_request(int r, const struct err *err)
{
    bool is_unreachable =
        r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EHOSTUNREACH || r == -EPIPE;
    return cmd_fail(is_unreachable ? CMD_UNAVAILABLE : CMD_FAILED, err);
}

enum { HELP_WIDTH = 96, HELP_LEFT = 29 };

/* The text of an option, wrapped, from column HELP_LEFT on. */
static void print_wrapped(struct str text)
{
    while (text.n) {
        size_t n = text.n;
        if (n > HELP_WIDTH - HELP_LEFT) {
            n = HELP_WIDTH - HELP_LEFT;
            while (n > 0 && text.p[n] != ' ')
                n--;
            n = n ? n : text.n;
        }
        (void)printf(STR_FMT "\n", STR_ARG(str_slice(text, 0, n)));
        text = str_trim(str_slice(text, n, text.n));
        if (text.n)
            (void)printf("%*s", HELP_LEFT, "");
    }
}

static void print_option(const struct cmd_opt *o)
{
    char left[64];
    char letter[8] = "";
    if (o->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    int n = snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->meta ? " " : "",
                     o->meta ? o->meta : "");
    (void)printf("  %-*s ", HELP_LEFT - 3, left);
    if (n > HELP_LEFT - 3)
        (void)printf("\n%*s", HELP_LEFT, "");
    print_wrapped(str_of(o->doc));
}

static const char time_words[] = "0, or a number with ms, s, m or h, such as 500ms, 10s, 5m or 1h";
static const char size_words[] =
    "a number of bytes, or one with Ki, Mi, Gi or Ti, such as 512Ki or 64Mi";

static bool has_type(const struct cmd_opt *opts, enum cmd_opt_type type)
{
    for (const struct cmd_opt *o = opts; o->name; o++)
        if (o->type == type)
            return true;
    return false;
}

static void print_help(const struct cmd *cmd, const struct cmd_opt *opts)
{
    (void)printf("%s\n\nUsage: dormouse %s [OPTION...]%s%s\n", cmd->doc, cmd->name,
                 cmd->args ? " " : "", cmd->args ? cmd->args : "");
    if (cmd->help)
        (void)printf("\n%s", cmd->help);
    if (opts->name && opts->type != CMD_HEADING)
        (void)printf("\nOptions:\n");
    for (const struct cmd_opt *o = opts; o->name; o++) {
        if (o->type == CMD_HEADING)
            (void)printf("\n%s:\n", o->doc);
        else
            print_option(o);
    }
    (void)printf("%s  %-*s show this text\n", has_type(opts, CMD_HEADING) ? "\n" : "",
                 HELP_LEFT - 3, "--help");
    if (has_type(opts, CMD_DURATION))
        (void)printf("\nTIME is %s.\n", time_words);
    if (has_type(opts, CMD_SIZE))
        (void)printf("%sSIZE is %s.\n", has_type(opts, CMD_DURATION) ? "" : "\n", size_words);
}

/* ---------------------------------------------------------------- what was probably meant */

enum { NEAR_MAX = 40 };

/* The number of letters that are missing, added, replaced or swapped with the next one (optimal
 * string alignment). */
static unsigned distance(struct str a, struct str b)
{
    unsigned rows[3][NEAR_MAX + 1], *last2 = rows[0], *last = rows[1], *now = rows[2];
    for (unsigned k = 0; k <= b.n; k++)
        last[k] = k;
    for (unsigned i = 1; i <= a.n; i++) {
        now[0] = i;
        for (unsigned k = 1; k <= b.n; k++) {
            bool same = a.p[i - 1] == b.p[k - 1];
            now[k] = MIN(MIN(last[k] + 1, now[k - 1] + 1), last[k - 1] + !same);
            if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1])
                now[k] = MIN(now[k], last2[k - 2] + 1);
        }
        unsigned *spare = last2;
        last2 = last;
        last = now;
        now = spare;
    }
    return last[b.n];
}

const char *cmd_nearest(const char *word, const char *const *names, size_t n)
{
    struct str w = str_of(word);
    const char *best = NULL;
    unsigned least = w.n <= 3 ? 2 : (unsigned)MIN(w.n / 3 + 2, (size_t)4); /* one less is near */
    for (size_t i = 0; i < n && w.n <= NEAR_MAX; i++) {
        struct str name = str_of(names[i]);
        unsigned d = name.n <= NEAR_MAX ? distance(w, name) : UINT_MAX;
        if (d < least && d < name.n) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

/* ---------------------------------------------------------------- values */

/* Digits, then one of the units; factor in units of the result. */
static int parse_unit(struct str s, const char *const *units, const uint64_t *factors,
                      uint64_t *ret)
{
    size_t digits = 0;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
        digits++;
    uint64_t v;
    int r = parse_u64(str_slice(s, 0, digits), 0, UINT64_MAX, &v);
    if (r < 0)
        return r;
    struct str unit = str_slice(s, digits, s.n);
    for (size_t i = 0; units[i]; i++) {
        if (!str_is(unit, units[i]))
            continue;
        return __builtin_mul_overflow(v, factors[i], ret) ? -ERANGE : 0;
    }
    return -EINVAL;
}

int cmd_parse_size(const char *text, uint64_t *ret)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", NULL };
    static const uint64_t factors[] = { 1, UINT64_C(1) << 10, UINT64_C(1) << 20, UINT64_C(1) << 30,
                                        UINT64_C(1) << 40 };
    return parse_unit(str_of(text), units, factors, ret);
}

int cmd_parse_duration(struct str text, uint64_t *ret)
{
    static const char *const units[] = { "ms", "s", "m", "h", NULL };
    static const uint64_t factors[] = { 1, 1000, 60000, 3600000 };
    return parse_unit(str_is(text, "0") ? STR("0s") : text, units, factors, ret);
}

static int parse_value(const struct cmd_opt *o, const char *text)
{
    struct cmd_list *list = o->to;
    switch (o->type) {
    case CMD_FLAG:
    case CMD_HEADING:
        return -EINVAL;
    case CMD_BOOL:
        *(int *)o->to = strcmp(text, "true") == 0;
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? 0 : -EINVAL;
    case CMD_STRING:
        *(const char **)o->to = text;
        return 0;
    case CMD_U64:
        return parse_u64(str_of(text), o->min, o->max ? o->max : UINT64_MAX, o->to);
    case CMD_DURATION:
        return cmd_parse_duration(str_of(text), o->to);
    case CMD_SIZE:
        return cmd_parse_size(text, o->to);
    case CMD_LIST:
        if (list->n == ARRAY_LEN(list->at))
            return -E2BIG;
        list->at[list->n++] = text;
        return 0;
    }
    return -EINVAL;
}

/* "...: WHAT IT TAKES", of an option that does not take what was given. */
static void print_refusal(const struct cmd_opt *o, const char *value)
{
    (void)fprintf(stderr, "error: --%s does not take '%s': ", o->name, value);
    switch (o->type) {
    case CMD_BOOL:
        (void)fputs("true or false\n", stderr);
        return;
    case CMD_U64:
        if (o->max)
            (void)fprintf(stderr, "a number from %llu to %llu\n", (unsigned long long)o->min,
                          (unsigned long long)o->max);
        else
            (void)fputs("a number\n", stderr);
        return;
    case CMD_DURATION:
        (void)fprintf(stderr, "%s is %s\n", o->meta, time_words);
        return;
    case CMD_SIZE:
        (void)fprintf(stderr, "%s is %s\n", o->meta, size_words);
        return;
    case CMD_LIST:
        (void)fprintf(stderr, "%zu of them are enough\n",
                      ARRAY_LEN(((struct cmd_list *)o->to)->at));
        return;
    case CMD_FLAG:
    case CMD_STRING:
    case CMD_HEADING:
        break;
    }
    (void)fputc('\n', stderr);
}

static int unknown_option(const struct cmd *cmd, const struct cmd_opt *opts, const char *word)
{
    const char *names[128], *near = NULL;
    size_t n = 0;
    struct str name, value;
    for (const struct cmd_opt *o = opts; o->name && n < ARRAY_LEN(names); o++)
        names[n++] = o->name;
    if (word[1] == '-') {
        (void)str_cut(str_of(word + 2), '=', &name, &value);
        scoped(free_scoped) char *text = str_dup(name);
        near = cmd_nearest(text, names, n);
    }
    (void)fprintf(stderr, "error: unknown option '%s'; %s%s%s'dormouse %s --help' lists them\n",
                  word, near ? "did you mean '--" : "", near ? near : "", near ? "'? " : "",
                  cmd->name);
    return 1 + CMD_USAGE;
}

static int usage(const struct cmd *cmd, const char *what, const char *word)
{
    (void)fprintf(stderr, "error: %s '%s'; 'dormouse %s --help' shows what it takes\n", what, word,
                  cmd->name);
    return 1 + CMD_USAGE;
}

/* The option that the word names, and the value behind '='. */
static const struct cmd_opt *find(const struct cmd_opt *opts, const char *word,
                                  const char **ret_value)
{
    *ret_value = NULL;
    if (word[1] != '-') {
        for (const struct cmd_opt *o = opts; o->name; o++) {
            if (o->letter != word[1] || o->type == CMD_HEADING)
                continue;
            if (word[2])
                *ret_value = word + 2 + (word[2] == '=');
            return o;
        }
        return NULL;
    }
    struct str name, value;
    bool has_value = str_cut(str_of(word + 2), '=', &name, &value);
    for (const struct cmd_opt *o = opts; o->name; o++) {
        if (o->type == CMD_HEADING || !str_is(name, o->name))
            continue;
        if (has_value)
            *ret_value = value.p;
        return o;
    }
    return NULL;
}

int cmd_parse(const struct cmd *cmd, const struct cmd_opt *opts, int argc, char **argv,
              size_t max_positional, size_t *ret_n)
{
    size_t n = 0;
    bool options = true;
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (!options || word[0] != '-' || word[1] == '\0') {
            if (n == max_positional)
                return usage(cmd, "unexpected argument", word);
            argv[n++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options = false;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(cmd, opts);
            return 1 + CMD_OK;
        }
        const char *value;
        const struct cmd_opt *o = find(opts, word, &value);
        if (!o)
            return unknown_option(cmd, opts, word);
        if (o->type == CMD_FLAG) {
            if (value)
                return usage(cmd, "this option takes no value:", word);
            *(bool *)o->to = true;
            continue;
        }
        if (o->type == CMD_BOOL && !value)
            value = "true";
        if (!value && i + 1 == argc)
            return usage(cmd, "a value is missing behind", word);
        if (!value)
            value = argv[++i];
        if (parse_value(o, value) < 0) {
            print_refusal(o, value);
            return 1 + CMD_USAGE;
        }
    }
    *ret_n = n;
    return 0;
}

#define SYSTEM_DIR "/var/lib/dormouse"

/* Root of a user namespace need not be root of the machine. */
static bool may_write_system_dir(void)
{
    return access(SYSTEM_DIR, W_OK) == 0 || (errno == ENOENT && access("/var/lib", W_OK) == 0);
}

/* For programs that a command starts in another working directory, runtimes of containers. An empty
 * path names nothing, here too. */
static char *absolute(const char *path)
{
    scoped(free_scoped) char *here = path[0] && path[0] != '/' ? getcwd(NULL, 0) : NULL;
    if (!here)
        return xstrdup(path);
    return xasprintf("%s/%s", strcmp(here, "/") == 0 ? "" : here, path);
}

char *cmd_find_data_dir(const char *given)
{
    const char *chosen = getenv("DORMOUSE_DATA_DIR");
    if (given || (chosen && *chosen))
        return absolute(given ? given : chosen);
    if (geteuid() == 0 && may_write_system_dir())
        return xstrdup(SYSTEM_DIR);
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return xasprintf("%s/dormouse", state);
    return home && home[0] == '/' ? xasprintf("%s/.local/state/dormouse", home) : NULL;
}

char *cmd_data_dir(const char *given)
{
    char *dir = cmd_find_data_dir(given);
    if (!dir)
        exit(cmd_failf(CMD_USAGE, "HOME is not set, so there is no default data directory; "
                                  "choose one with --data-dir DIR or $DORMOUSE_DATA_DIR"));
    return dir;
}

char *cmd_server_data_dir(const char *given)
{
    const char *chosen = getenv("DORMOUSE_DATA_DIR"), *config = getenv("KUBECONFIG");
    const char *slash = config && !strchr(config, ':') ? strrchr(config, '/') : NULL;
    if (given || (chosen && *chosen) || !slash || slash == config)
        return cmd_data_dir(given);
    scoped(free_scoped) char *dir = xstrndup(config, (size_t)(slash - config));
    scoped(free_scoped) char *admin_socket = xasprintf("%s/admin.sock", dir);
    return access(admin_socket, F_OK) == 0 ? absolute(dir) : cmd_data_dir(NULL);
}

int cmd_parse_listen(const char *text, char *host, size_t host_size, uint16_t *ret_port,
                     struct err *err)
{
    struct str s = str_of(text), h, p;
    if (s.n && s.p[0] == '[') {
        ptrdiff_t close = str_find_char(s, ']');
        if (close < 0 || (size_t)close + 1 >= s.n || s.p[close + 1] != ':')
            return err_set(err, E_INVALID, "listen address '%s' is not [ADDRESS]:PORT", text);
        h = str_slice(s, 1, (size_t)close);
        p = str_slice(s, (size_t)close + 2, s.n);
    } else if (!str_cut(s, ':', &h, &p)) {
        return err_set(err, E_INVALID, "listen address '%s' is not HOST:PORT", text);
    }
    if (h.n == 0)
        h = STR("0.0.0.0");
    uint64_t port;
    if (parse_u64(p, 0, 65535, &port) < 0)
        return err_set(err, E_INVALID, "listen address '%s': the port is not 0 to 65535", text);
    if (h.n >= host_size)
        return err_set(err, E_INVALID, "listen address '%s': the host is too long", text);
    memcpy(host, h.p, h.n);
    host[h.n] = '\0';
    *ret_port = (uint16_t)port;
    return 0;
}

int cmd_setup_log(void)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    enum log_format format = LOG_TEXT;
    if (strcmp(cmd_log_format, "json") == 0)
        format = LOG_JSON;
    else if (strcmp(cmd_log_format, "text") != 0)
        return cmd_failf(CMD_USAGE, "--log-format is text or json, not '%s'", cmd_log_format);
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        if (strcmp(cmd_log_level, levels[i]) != 0)
            continue;
        log_setup((enum log_level)i, format);
        return 0;
    }
    return cmd_failf(CMD_USAGE, "--log-level is error, warn, info or debug, not '%s'",
                     cmd_log_level);
}
