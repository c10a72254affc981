/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on a terminal; see top_screen.h. */
#include "cmd/top_screen.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cmd/cmd.h"

#include <dlfcn.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <curses.h>

enum {
    REFRESH_MS = 1000,
    PAGE_MAX_BYTES = 64 << 20,
    LINE_MAX_BYTES = 16 << 10,
    ROOMY_LINES = 12, /* with at least this height lines at the top are wrapped, not cut */
    FILTER_MAX = 64
};

static int read_server(const struct top_view *v, const char *dir, struct top_reading **ret,
                       struct err *err)
{
    int r = v->read(dir, ret, err);
    if (r >= 0)
        (*ret)->at_ms = clock_mono_ms();
    return r;
}

static int print_once(const struct top_view *v, const char *dir, bool reverse)
{
    struct top_reading *r = NULL;
    struct err err = { 0 };
    if (read_server(v, dir, &r, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(PAGE_MAX_BYTES);
    v->sort(r, reverse);
    v->totals(r, &text);
    buf_add_char(&text, '\n');
    top_columns_head(*v->columns, NULL, &text);
    buf_add_char(&text, '\n');
    for (size_t i = 0; i < r->rows; i++) {
        struct top_cells cells;
        v->cells(r, i, &cells);
        top_columns_row(*v->columns, NULL, &cells, &text);
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
    X(curs_set)                                                                                    \
    X(keypad)                                                                                      \
    X(wtimeout)                                                                                    \
    X(wgetch) X(werase) X(wmove) X(waddnstr) X(wattrset) X(wrefresh) X(clearok) X(getmaxx)         \
        X(getmaxy) X(has_colors) X(start_color) X(use_default_colors) X(init_pair) X(COLOR_PAIR)

static struct {
#define CURSES_MEMBER(name) __typeof__(name) *name;
    CURSES_FUNCTIONS(CURSES_MEMBER)
#undef CURSES_MEMBER
} curses;

struct screen {
    SCREEN *screen;
    WINDOW *window;
    const struct top_view *view;
    struct top_reading *now, *before;
    struct err err; /* code 0: the last reading succeeded */
    bool reverse, has_color;
    VEC(size_t) shown;    /* rows of `now` that the filter lets through, in order */
    size_t cursor, first; /* of them: the one chosen, the one at the top */
    size_t skip;          /* columns left out at the left */
    int head_lines;       /* as drawn last */
    enum { SHOW_TABLE, SHOW_ROW, SHOW_HELP } what;
    bool is_typing; /* the filter */
    char filter[FILTER_MAX];
    size_t filter_n;
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
    const char *no_color = getenv("NO_COLOR"); /* https://no-color.org */
    s->has_color = !(no_color && *no_color) && curses.has_colors() && curses.start_color() == OK &&
                   curses.use_default_colors() == OK && curses.init_pair(1, COLOR_RED, -1) == OK;
    return 0;
}

static void close_screen(struct screen *s)
{
    (void)curses.endwin();
    curses.delscreen(s->screen);
    s->view->free(s->now);
    s->view->free(s->before);
    vec_fini(&s->shown);
}

static void put_text(const struct screen *s, int y, struct str text, int attributes)
{
    int width = curses.getmaxx(s->window);
    (void)curses.wattrset(s->window, attributes);
    (void)curses.wmove(s->window, y, 0);
    (void)curses.waddnstr(s->window, text.n ? text.p : "", MIN((int)text.n, width));
    (void)curses.wattrset(s->window, A_NORMAL);
}

/* Wrap a line after a ";" or a blank where there is room. Returns the number of lines. */
static int put_wrapped(const struct screen *s, int y, struct str text, int attributes)
{
    size_t width = (size_t)MAX(curses.getmaxx(s->window), 1);
    int lines = 0;
    bool is_roomy = curses.getmaxy(s->window) >= ROOMY_LINES;
    do {
        size_t n = MIN(text.n, width);
        if (is_roomy && text.n > width) {
            while (n > 1 && text.p[n - 1] != ';')
                n--;
            for (n = n > 1 ? n : width; n > 1 && text.p[n - 1] != ';' && text.p[n] != ' ';)
                n--;
            n = n > 1 ? n : width;
        }
        put_text(s, y + lines++, str_slice(text, 0, n), attributes);
        text = str_trim(str_slice(text, n, text.n));
    } while (is_roomy && text.n);
    return lines;
}

static size_t rows_shown(const struct screen *s)
{
    int lines = curses.getmaxy(s->window);
    return lines > s->head_lines ? (size_t)(lines - s->head_lines) : 0;
}

static void add_keys(const struct screen *s, struct buf *to)
{
    if (s->is_typing) {
        buf_printf(to, "show what has in its name: %.*s_", (int)s->filter_n, s->filter);
        return;
    }
    if (s->shown.n)
        buf_printf(to, "%zu of %zu, ", s->cursor + 1, s->shown.n);
    buf_printf(to, "by %s%s", s->view->order(), s->reverse ? " (reverse)" : "");
    if (s->filter_n)
        buf_printf(to, ", with '%.*s'", (int)s->filter_n, s->filter);
    buf_add_cstr(to, "; ? help, / filter, Enter details, q quit");
}

static int draw_head(const struct screen *s, const bool *keep)
{
    const struct top_view *v = s->view;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    v->totals(s->now, &line);
    int y = put_wrapped(s, 0, buf_str(&line), A_BOLD);
    buf_reset(&line);
    if (s->err.code < 0)
        buf_add_cstr(&line, err_text(&s->err));
    else
        v->rates(s->now, s->before, &line);
    y += put_wrapped(s, y, buf_str(&line), s->err.code < 0 ? A_REVERSE : A_NORMAL);
    buf_reset(&line);
    add_keys(s, &line);
    put_text(s, y++, buf_str(&line), A_NORMAL);
    buf_reset(&line);
    top_columns_head(*v->columns, keep, &line);
    put_text(s, y++, buf_str(&line), A_BOLD | A_UNDERLINE);
    return y;
}

static bool has_text(struct str s, struct str part)
{
    return part.n == 0 || str_find(s, part) >= 0;
}

/* Sorted, and without what the filter leaves out. */
static void choose_rows(struct screen *s)
{
    struct str filter = str_n(s->filter, s->filter_n);
    s->view->sort(s->now, s->reverse);
    s->shown.n = 0;
    for (size_t i = 0; i < s->now->rows; i++) {
        struct top_cells cells;
        s->view->cells(s->now, i, &cells);
        if (has_text(cells.at[0], filter) || has_text(cells.at[1], filter))
            vec_push(&s->shown, i);
    }
    s->cursor = MIN(s->cursor, s->shown.n ? s->shown.n - 1 : 0);
}

static int attributes_of(const struct screen *s, size_t i)
{
    int is = i == s->cursor ? (int)A_REVERSE : 0;
    switch (s->view->mark(s->now, s->shown.p[i])) {
    case TOP_BAD:
        return is | (s->has_color ? curses.COLOR_PAIR(1) : (int)A_BOLD);
    case TOP_DIM:
        return is ? is : (int)A_DIM;
    case TOP_PLAIN:
        break;
    }
    return is;
}

static void draw_table(struct screen *s, const bool *keep)
{
    size_t shown = rows_shown(s), last = s->shown.n > shown ? s->shown.n - shown : 0;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    if (s->cursor < s->first)
        s->first = s->cursor;
    if (shown && s->cursor >= s->first + shown)
        s->first = s->cursor - shown + 1;
    s->first = MIN(s->first, last);
    for (size_t i = 0; i < shown && s->first + i < s->shown.n; i++) {
        struct top_cells cells;
        buf_reset(&line);
        s->view->cells(s->now, s->shown.p[s->first + i], &cells);
        top_columns_row(*s->view->columns, keep, &cells, &line);
        put_text(s, s->head_lines + (int)i, buf_str(&line), attributes_of(s, s->first + i));
    }
}

/* Instead of the table. */
static void draw_lines(const struct screen *s, struct str text)
{
    struct str line;
    for (int y = s->head_lines - 1; text.n && y < curses.getmaxy(s->window);) {
        (void)str_cut(text, '\n', &line, &text);
        put_text(s, y, STR(""), A_NORMAL);
        y += put_wrapped(s, y, line, A_NORMAL);
    }
}

static void draw_details(const struct screen *s)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LINE_MAX_BYTES);
    struct top_cells cells;
    if (s->shown.n == 0)
        return;
    s->view->cells(s->now, s->shown.p[s->cursor], &cells);
    top_columns_list(*s->view->columns, &cells, &text);
    buf_add_cstr(&text, "\nEnter or Esc: the table; arrows: the next row\n");
    draw_lines(s, buf_str(&text));
}

static void draw_help(const struct screen *s)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LINE_MAX_BYTES);
    buf_printf(&text,
               "arrows, pages  move; Home and End to the first and last row\n"
               "left, right    other columns\n"
               "%s\n"
               "R              the other way round\n"
               "/              only rows with a text in namespace or name; Esc: all\n"
               "Enter          all that is known of the row\n"
               "q              quit\n"
               "\nany key: the table\n",
               s->view->sort_keys);
    draw_lines(s, buf_str(&text));
}

static void draw(struct screen *s)
{
    bool keep[TOP_COLUMNS_MAX];
    size_t width = (size_t)MAX(curses.getmaxx(s->window), 1);
    size_t optional = top_columns_fit(*s->view->columns, width, s->skip, keep);
    choose_rows(s);
    if (s->skip >= optional)
        s->skip = optional ? optional - 1 : 0;
    (void)curses.werase(s->window);
    s->head_lines = draw_head(s, keep);
    switch (s->what) {
    case SHOW_TABLE:
        draw_table(s, keep);
        break;
    case SHOW_ROW:
        draw_details(s);
        break;
    case SHOW_HELP:
        draw_help(s);
        break;
    }
    (void)curses.wrefresh(s->window);
}

enum { KEY_CTRL_L = 'L' & 0x1f, KEY_ESCAPE = 27, KEY_DELETE = 127 };

/* While the filter is typed all keys are part of it. */
static void on_typed(struct screen *s, int key)
{
    if (key == '\n' || key == '\r' || key == KEY_ENTER)
        s->is_typing = false;
    else if (key == KEY_ESCAPE)
        s->is_typing = false, s->filter_n = 0;
    else if (key == KEY_BACKSPACE || key == KEY_DELETE || key == '\b')
        s->filter_n -= s->filter_n > 0;
    else if (key >= ' ' && key < KEY_DELETE && s->filter_n < FILTER_MAX)
        s->filter[s->filter_n++] = (char)key;
}

static bool move_cursor(struct screen *s, int key)
{
    size_t page = MAX(rows_shown(s), (size_t)1);
    switch (key) {
    case KEY_UP:
        s->cursor -= s->cursor > 0;
        return true;
    case KEY_DOWN:
        s->cursor++; /* choose_rows() ends it at the last */
        return true;
    case KEY_PPAGE:
        s->cursor -= MIN(s->cursor, page);
        return true;
    case KEY_NPAGE:
        s->cursor += page;
        return true;
    case KEY_HOME:
        s->cursor = 0;
        return true;
    case KEY_END:
        s->cursor = s->now->rows;
        return true;
    default:
        return false;
    }
}

/* Handle a key; false: end the program. */
static bool on_key(struct screen *s, int key)
{
    if (key == KEY_CTRL_L) { /* redraw, as in other terminal programs */
        (void)curses.clearok(s->window, TRUE);
        return true;
    }
    if (key == KEY_RESIZE || (!s->is_typing && move_cursor(s, key)))
        return true;
    if (s->is_typing) {
        on_typed(s, key);
        return true;
    }
    if (key == 'q' || key == 'Q')
        return false;
    if (s->what != SHOW_TABLE) {
        s->what = SHOW_TABLE;
        return true;
    }
    switch (key) {
    case '?':
    case 'h':
        s->what = SHOW_HELP;
        break;
    case '\n':
    case '\r':
    case KEY_ENTER:
        s->what = SHOW_ROW;
        break;
    case '/':
        s->is_typing = true;
        break;
    case KEY_ESCAPE:
        s->filter_n = 0;
        break;
    case 'R':
        s->reverse = !s->reverse;
        break;
    case KEY_RIGHT:
        s->skip++; /* draw() ends it at the last */
        break;
    case KEY_LEFT:
        s->skip -= s->skip > 0;
        break;
    default:
        (void)s->view->on_key(key);
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

static int run_live(const struct top_view *view, const char *dir, bool reverse)
{
    struct screen s = { .view = view, .reverse = reverse };
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

int top_run(const struct top_view *view, const char *dir, bool reverse)
{
    return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) ? run_live(view, dir, reverse)
                                                         : print_once(view, dir, reverse);
}
