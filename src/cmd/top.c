/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse top: the guests of a server, live.
 *
 * ncursesw is loaded when it is needed, so that servers, which are the same program, never have it
 * in memory. Where standard output is no terminal the table is printed once, and the library is not
 * needed.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/top_table.h"
#include "node/admin_client.h"

#include <dlfcn.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <curses.h>

enum { REFRESH_MS = 1000, PAGE_MAX_BYTES = 64 << 20, LINE_MAX_BYTES = 4096, HEAD_LINES = 4 };

static const char *data_dir, *sort = "state";

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server", CMD_STRING, &data_dir, 0, 0 },
    { "sort", 0, "KEY", "state, memory, wakes or name (state)", CMD_STRING, &sort, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *top_opts(void)
{
    return opts;
}

/* ---------------------------------------------------------------- what the server tells */

struct reading {
    struct buf guests, status; /* the table borrows from them */
    struct arena arena;
    struct top_table table;
    uint64_t at_ms;
};

static void free_reading(struct reading *r)
{
    if (!r)
        return;
    buf_fini(&r->guests);
    buf_fini(&r->status);
    arena_fini(&r->arena);
    free(r);
}
DEFINE_SCOPED(reading, free_reading)

static int read_server(const char *dir, struct reading **ret, struct err *err)
{
    scoped(free_reading_scoped) struct reading *r = xnew(struct reading);
    buf_init(&r->guests, PAGE_MAX_BYTES);
    buf_init(&r->status, PAGE_MAX_BYTES);
    int code = admin_get(dir, "/guests", &r->guests, err);
    if (code >= 0)
        code = admin_get(dir, "/status", &r->status, err);
    if (code >= 0)
        code = top_read(&r->arena, buf_str(&r->guests), buf_str(&r->status), &r->table, err);
    if (code < 0)
        return code;
    r->at_ms = clock_mono_ms();
    *ret = take_ptr(&r);
    return 0;
}

static int print_once(const char *dir, enum top_order order)
{
    scoped(free_reading_scoped) struct reading *r = NULL;
    struct err err = { 0 };
    if (read_server(dir, &r, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(PAGE_MAX_BYTES);
    top_sort(&r->table, order);
    top_write_totals(&text, &r->table.totals);
    buf_add_char(&text, '\n');
    top_write_head(&text);
    buf_add_char(&text, '\n');
    for (size_t i = 0; i < r->table.n; i++) {
        top_write_row(&text, &r->table.rows[i]);
        buf_add_char(&text, '\n');
    }
    bool ok = fwrite(buf_cstr(&text), 1, text.n, stdout) == text.n && fflush(stdout) == 0;
    return ok ? CMD_OK : cmd_failf(CMD_FAILED, "standard output cannot be written");
}

/* ---------------------------------------------------------------- the terminal */

#define CURSES_FUNCTIONS(X)                                                                        \
    X(newterm)                                                                                     \
    X(delscreen)                                                                                   \
    X(endwin)                                                                                      \
    X(noecho)                                                                                      \
    X(cbreak) X(curs_set) X(keypad) X(wtimeout) X(wgetch) X(werase) X(wmove) X(waddnstr)           \
        X(wattrset) X(wrefresh) X(clearok) X(getmaxx) X(getmaxy)

static struct {
#define CURSES_MEMBER(name) __typeof__(name) *name;
    CURSES_FUNCTIONS(CURSES_MEMBER)
#undef CURSES_MEMBER
} curses;

struct screen {
    SCREEN *screen;
    WINDOW *window;
    enum top_order order;
    size_t first; /* row at the top */
    struct reading *now, *before;
    struct err err; /* code 0: the last reading succeeded */
};

static int load_curses(WINDOW ***ret_stdscr, struct err *err)
{
    void *lib = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return err_set(err, E_UNSUPPORTED,
                       "a live table needs libncursesw6, which is not there (%s); "
                       "'dormouse top | cat' prints it once",
                       dlerror());
    *ret_stdscr = dlsym(lib, "stdscr");
    bool ok = *ret_stdscr != NULL;
#define CURSES_LOAD(name)                                                                          \
    ok = ok && (curses.name = (__typeof__(curses.name))dlsym(lib, #name)) != NULL;
    CURSES_FUNCTIONS(CURSES_LOAD)
#undef CURSES_LOAD
    return ok ? 0 : err_set(err, E_UNSUPPORTED, "libncursesw.so.6 lacks functions");
}

static int open_screen(struct screen *s, struct err *err)
{
    WINDOW **standard = NULL;
    int r = load_curses(&standard, err);
    if (r < 0)
        return r;
    (void)setlocale(LC_CTYPE, "");
    s->screen = curses.newterm(NULL, stdout, stdin);
    if (!s->screen)
        return err_set(
            err, E_UNSUPPORTED,
            "the terminal '%s' is not known (TERM); 'dormouse top | cat' prints the table once",
            getenv("TERM") ? getenv("TERM") : "");
    s->window = *standard;
    (void)curses.cbreak();
    (void)curses.noecho();
    (void)curses.curs_set(0);
    (void)curses.keypad(s->window, TRUE);
    return 0;
}

static void close_screen(struct screen *s)
{
    (void)curses.endwin();
    curses.delscreen(s->screen);
    free_reading(s->now);
    free_reading(s->before);
}

static void put_line(const struct screen *s, int y, const struct buf *text, int attributes)
{
    (void)curses.wattrset(s->window, attributes);
    (void)curses.wmove(s->window, y, 0);
    (void)curses.waddnstr(s->window, buf_cstr(text), curses.getmaxx(s->window));
    (void)curses.wattrset(s->window, A_NORMAL);
}

static size_t rows_shown(const struct screen *s)
{
    int lines = curses.getmaxy(s->window);
    return lines > HEAD_LINES ? (size_t)(lines - HEAD_LINES) : 0;
}

static void draw_head(const struct screen *s)
{
    const struct top_totals *t = &s->now->table.totals;
    bool is_second = s->before && s->before->table.totals.pid == t->pid;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    top_write_totals(&line, t);
    put_line(s, 0, &line, A_BOLD);
    buf_reset(&line);
    if (s->err.code < 0)
        buf_add_cstr(&line, err_text(&s->err));
    else
        top_write_rates(&line, t, is_second ? &s->before->table.totals : t,
                        is_second ? s->now->at_ms - s->before->at_ms : 0);
    put_line(s, 1, &line, s->err.code < 0 ? A_REVERSE : A_NORMAL);
    buf_reset(&line);
    buf_printf(&line, "by %s; sort: s state, m memory, w wakes, n name; arrows scroll; q quits",
               top_order_name(s->order));
    put_line(s, 2, &line, A_NORMAL);
    buf_reset(&line);
    top_write_head(&line);
    put_line(s, 3, &line, A_REVERSE);
}

static void draw(struct screen *s)
{
    struct top_table *t = &s->now->table;
    size_t shown = rows_shown(s), last = t->n > shown ? t->n - shown : 0;
    s->first = MIN(s->first, last);
    top_sort(t, s->order);
    (void)curses.werase(s->window);
    draw_head(s);
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    for (size_t i = 0; i < shown && s->first + i < t->n; i++) {
        const struct top_row *row = &t->rows[s->first + i];
        bool is_asleep = str_is(row->state, "Asleep");
        buf_reset(&line);
        top_write_row(&line, row);
        put_line(s, HEAD_LINES + (int)i, &line, is_asleep ? A_DIM : A_NORMAL);
    }
    (void)curses.wrefresh(s->window);
}

/* false: to end. */
static bool on_key(struct screen *s, int key)
{
    size_t page = MAX(rows_shown(s), (size_t)1);
    enum top_order order = top_order_of_key(key);
    if (order != TOP_ORDER_COUNT)
        s->order = order;
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case 'L' & 0x1f: /* as everywhere: draw all of it again */
        (void)curses.clearok(s->window, TRUE);
        break;
    case KEY_UP:
        s->first -= s->first > 0;
        break;
    case KEY_DOWN:
        s->first++;
        break;
    case KEY_PPAGE:
        s->first -= MIN(s->first, page);
        break;
    case KEY_NPAGE:
        s->first += page;
        break;
    case KEY_HOME:
        s->first = 0;
        break;
    case KEY_END:
        s->first = s->now->table.n;
        break;
    default: /* KEY_RESIZE: drawn anew like after any other key */
        break;
    }
    return true;
}

static void refresh_reading(struct screen *s, const char *dir)
{
    struct reading *next = NULL;
    s->err = (struct err){ 0 };
    if (read_server(dir, &next, &s->err) < 0)
        return; /* what was read last stays, under the error */
    free_reading(s->before);
    s->before = s->now;
    s->now = next;
}

/* A terminal that was closed without a SIGHUP to us would make every wait end at once. */
static bool is_terminal_gone(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int run_live(const char *dir, enum top_order order)
{
    struct screen s = { .order = order };
    struct err err = { 0 };
    if (read_server(dir, &s.now, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    if (open_screen(&s, &err) < 0) {
        free_reading(s.now);
        return cmd_fail(CMD_FAILED, &err);
    }
    uint64_t due = clock_mono_ms() + REFRESH_MS;
    for (bool on = true; on;) {
        draw(&s);
        uint64_t now = clock_mono_ms();
        curses.wtimeout(s.window, (int)(due > now ? due - now : 0));
        int key = curses.wgetch(s.window);
        if (key != ERR)
            on = on_key(&s, key);
        else if (is_terminal_gone())
            on = false;
        if (clock_mono_ms() >= due) {
            refresh_reading(&s, dir);
            due = clock_mono_ms() + REFRESH_MS;
        }
    }
    close_screen(&s);
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_top, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    enum top_order order = top_order_of(sort);
    if (order == TOP_ORDER_COUNT)
        return cmd_failf(CMD_USAGE, "--sort is state, memory, wakes or name, not '%s'", sort);
    scoped(free_scoped) char *dir = data_dir ? xstrdup(data_dir) : cmd_default_data_dir();
    return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) ? run_live(dir, order)
                                                         : print_once(dir, order);
}

const struct cmd cmd_top = {
    .name = "top",
    .doc = "show the guests of the server on this machine, live",
    .help = "Refreshed every second. Keys: s, m, w, n sort by state, memory, wakes, name; arrows "
            "and page keys\n"
            "scroll; q quits. Where standard output is no terminal the table is printed once.\n"
            "\n"
            "  dormouse top --data-dir /tmp/d\n"
            "  dormouse top --sort memory | head\n",
    .run = run,
    .opts = top_opts,
};
