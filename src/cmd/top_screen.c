/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on a terminal; see top_screen.h. */
#include "cmd/top_screen.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/cmd.h"

#include <dlfcn.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <curses.h>

enum { REFRESH_MS = 1000, PAGE_MAX_BYTES = 64 << 20, LINE_MAX_BYTES = 4096, HEAD_LINES = 4 };

static int read_server(const struct top_view *v, const char *dir, struct top_reading **ret,
                       struct err *err)
{
    int r = v->read(dir, ret, err);
    if (r >= 0)
        (*ret)->at_ms = clock_mono_ms();
    return r;
}

static int print_once(const struct top_view *v, const char *dir)
{
    struct top_reading *r = NULL;
    struct err err = { 0 };
    if (read_server(v, dir, &r, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(PAGE_MAX_BYTES);
    v->sort(r);
    v->totals(r, &text);
    buf_add_char(&text, '\n');
    v->head(&text);
    buf_add_char(&text, '\n');
    for (size_t i = 0; i < r->rows; i++) {
        v->row(r, i, &text);
        buf_add_char(&text, '\n');
    }
    v->free(r);
    bool ok = fwrite(buf_cstr(&text), 1, text.n, stdout) == text.n && fflush(stdout) == 0;
    return ok ? CMD_OK : cmd_failf(CMD_FAILED, "standard output cannot be written");
}

#define CURSES_FUNCTIONS(X)                                                                        \
    X(newterm)                                                                                     \
    X(delscreen)                                                                                   \
    X(endwin)                                                                                      \
    X(noecho)                                                                                      \
    X(cbreak)                                                                                      \
    X(curs_set) X(keypad) X(wtimeout) X(wgetch) X(werase) X(wmove) X(waddnstr) X(wattrset)         \
        X(wrefresh) X(clearok) X(getmaxx) X(getmaxy)

static struct {
#define CURSES_MEMBER(name) __typeof__(name) *name;
    CURSES_FUNCTIONS(CURSES_MEMBER)
#undef CURSES_MEMBER
} curses;

struct screen {
    SCREEN *screen;
    WINDOW *window;
    const struct top_view *view;
    size_t first; /* row at the top */
    struct top_reading *now, *before;
    struct err err; /* code 0: the last reading succeeded */
};

static int load_curses(WINDOW ***ret_stdscr, struct err *err)
{
    void *lib = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return err_set(err, E_UNSUPPORTED,
                       "a live table needs libncursesw6, which is not there (%s); "
                       "a pipe prints it once",
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
        return err_set(err, E_UNSUPPORTED,
                       "the terminal '%s' is not known (TERM); a pipe prints the table once",
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
    s->view->free(s->now);
    s->view->free(s->before);
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
    const struct top_view *v = s->view;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    v->totals(s->now, &line);
    put_line(s, 0, &line, A_BOLD);
    buf_reset(&line);
    if (s->err.code < 0)
        buf_add_cstr(&line, err_text(&s->err));
    else
        v->rates(s->now, s->before, &line);
    put_line(s, 1, &line, s->err.code < 0 ? A_REVERSE : A_NORMAL);
    buf_reset(&line);
    v->keys(&line);
    buf_add_cstr(&line, "; arrows scroll; q quits");
    put_line(s, 2, &line, A_NORMAL);
    buf_reset(&line);
    v->head(&line);
    put_line(s, 3, &line, A_REVERSE);
}

static void draw(struct screen *s)
{
    size_t shown = rows_shown(s), last = s->now->rows > shown ? s->now->rows - shown : 0;
    s->first = MIN(s->first, last);
    s->view->sort(s->now);
    (void)curses.werase(s->window);
    draw_head(s);
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    for (size_t i = 0; i < shown && s->first + i < s->now->rows; i++) {
        buf_reset(&line);
        s->view->row(s->now, s->first + i, &line);
        put_line(s, HEAD_LINES + (int)i, &line,
                 s->view->is_dim(s->now, s->first + i) ? A_DIM : A_NORMAL);
    }
    (void)curses.wrefresh(s->window);
}

/* false: to end. */
static bool on_key(struct screen *s, int key)
{
    size_t page = MAX(rows_shown(s), (size_t)1);
    s->view->on_key(key);
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
        s->first = s->now->rows;
        break;
    default: /* KEY_RESIZE: drawn anew like after any other key */
        break;
    }
    return true;
}

static void refresh_reading(struct screen *s, const char *dir)
{
    struct top_reading *next = NULL;
    s->err = (struct err){ 0 };
    if (read_server(s->view, dir, &next, &s->err) < 0)
        return; /* what was read last stays, under the error */
    s->view->free(s->before);
    s->before = s->now;
    s->now = next;
}

/* A terminal that was closed without a SIGHUP to us would make every wait end at once. */
static bool is_terminal_gone(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int run_live(const struct top_view *view, const char *dir)
{
    struct screen s = { .view = view };
    struct err err = { 0 };
    if (read_server(view, dir, &s.now, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    if (open_screen(&s, &err) < 0) {
        view->free(s.now);
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

int top_run(const struct top_view *view, const char *dir)
{
    return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) ? run_live(view, dir)
                                                         : print_once(view, dir);
}
