/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_optimize_news.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sys.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "image/server.h"
#include "oci/remote_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENT_MAX_BYTES = 4096, SHOWN_EVENTS = 8, NEWS_MAX_BYTES = 1 << 20, SHORT_DIGEST = 12 };

static bool is_json_output, is_terminal;
static char shown[SHOWN_EVENTS][EVENT_MAX_BYTES];
static size_t n_shown;

void image_optimize_output(bool is_json)
{
    is_json_output = is_json;
    is_terminal = !is_json && isatty(STDOUT_FILENO);
}

/* ---- events ---- */

static void print_json(const char *time, const char *kind, struct str text)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(2 * EVENT_MAX_BYTES);
    struct json *v = json_new_object(&a);
    json_set_str(&a, v, "time", str_of(time));
    json_set_str(&a, v, "event", str_of(kind));
    json_set_str(&a, v, "text", text);
    (void)json_write(&out, v);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    arena_fini(&a);
}

void image_optimize_event(const char *kind, const char *fmt, ...)
{
    char time[RFC3339_MAX], text[EVENT_MAX_BYTES];
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(4 * EVENT_MAX_BYTES);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    rfc3339_format(clock_wall_ms() / 1000, time);
    cmd_add_safe(&safe, str_of(text));
    if (is_json_output) {
        print_json(time, kind, str_of(text));
    } else if (is_terminal) {
        (void)snprintf(shown[n_shown++ % SHOWN_EVENTS], sizeof shown[0], "%.20s %-10s %.900s", time,
                       kind, buf_cstr(&safe));
        (void)printf("%s %-10s %s\n", time, kind, buf_cstr(&safe));
    } else {
        (void)printf("%s %s %s\n", time, kind, buf_cstr(&safe));
    }
    (void)fflush(stdout);
}

/* ---- the table ---- */

void image_optimize_screen(const struct image_watch *w)
{
    static const char *const head[] = { "IMAGE", "DIGEST", "LAYERS" };
    struct arena a = { 0 };
    struct text_table t = { .a = &a, .n_columns = ARRAY_LEN(head) };
    size_t n;
    const struct image_watched *all = image_watch_images(w, &n);
    if (!is_terminal)
        return;
    (void)printf("\x1b[H\x1b[2J");
    text_table_head(&t, head);
    for (size_t i = 0; i < n; i++) {
        char digest[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&all[i].digest, digest);
        text_table_cell(&t, str_of(all[i].name));
        text_table_cell(&t, str_n(digest + sizeof "sha256:" - 1, SHORT_DIGEST));
        text_table_cell(&t, str_of(arena_printf(&a, "%zu", all[i].n_layers)));
    }
    text_table_print(&t, stdout);
    (void)printf("\n");
    for (size_t i = n_shown > SHOWN_EVENTS ? n_shown - SHOWN_EVENTS : 0; i < n_shown; i++)
        (void)printf("%s\n", shown[i % SHOWN_EVENTS]);
    (void)fflush(stdout);
    arena_fini(&a);
}

/* ---- news ---- */

static const char *digest_text(struct arena *a, const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    if (!d)
        return "";
    oci_digest_format(d, text);
    return str_dup_arena(a, str_of(text));
}

static struct str news_text(struct arena *a, const struct image_news *n)
{
    struct json *v = json_new_object(a), *dead = json_new_array(a);
    struct buf text = BUF_INIT(NEWS_MAX_BYTES);
    json_set_str(a, v, "name", str_of(n->name));
    json_set_str(a, v, "old", str_of(digest_text(a, n->old)));
    json_set_str(a, v, "new", str_of(digest_text(a, n->new)));
    for (size_t i = 0; i < n->n_dead; i++)
        json_add(dead, json_new_cstr(a, digest_text(a, &n->dead[i])));
    json_setc(a, v, "dead", dead);
    (void)json_write(&text, v);
    struct str kept = str_copy_arena(a, buf_str(&text));
    buf_fini(&text);
    return kept;
}

static int append(struct arena *a, const char *path, struct str text, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    const char *line = arena_printf(a, STR_FMT "\n", STR_ARG(text));
    int r = fd < 0 ? fd : sys_write_all(fd, line, strlen(line));
    return r < 0 ? err_sys(err, r, "write to '%s'", path) : 0;
}

/* bearer NULL: none. query: of the path, "" none. */
static int post(const struct optimize_news *to, struct arena *a, const char *url, const char *query,
                const char *bearer, struct str text, struct err *err)
{
    struct oci_remote_opts registry = *to->registry;
    struct oci_reference ref = { .repository = "news" };
    struct str rest = str_of(url), host, path;
    scoped(oci_remote_free_scoped) struct oci_remote *m = NULL;
    registry.plain_http = str_has_prefix(rest, STR("http://"));
    rest = str_slice(rest, registry.plain_http ? 7 : 8, rest.n);
    (void)str_cut(rest, '/', &host, &path);
    if (host.n == 0 || host.n >= sizeof ref.host)
        return err_set(err, E_INVALID, "'%s' is no URL", url);
    (void)snprintf(ref.host, sizeof ref.host, STR_FMT, STR_ARG(host));
    int r = oci_remote_open(&ref, &registry, &m, err);
    const char *target = arena_printf(a, "/" STR_FMT "%s", STR_ARG(path), query);
    r = r < 0 ? r : oci_remote_post(m, target, bearer, text, err);
    return r < 0 ? err_ctx(err, r, "'%s'", url) : 0;
}

static bool is_url(const char *where);

/* "NAME=URL", cut in the arena. */
static bool is_node(const char *where, struct arena *a, const char **ret_name, const char **ret_url)
{
    struct str name, url;
    if (is_url(where) || !str_cut(str_of(where), '=', &name, &url) || name.n == 0 ||
        name.n > IMAGE_BDM_NAME_MAX || !is_url(url.p))
        return false;
    *ret_name = str_dup_arena(a, name);
    *ret_url = str_has_suffix(url, STR("/")) ? str_dup_arena(a, str_slice(url, 0, url.n - 1))
                                             : str_dup_arena(a, url);
    return true;
}

static void notify_node(const struct optimize_news *to, struct arena *a, const char *name,
                        const char *url, struct str text)
{
    enum { TOKEN_S = 60 };
    struct err err = { 0 };
    struct oci_digest digest;
    char token[IMAGE_BDM_TOKEN_SIZE], named[OCI_DIGEST_TEXT_SIZE];
    sha256_of(text, digest.bytes);
    oci_digest_format(&digest, named);
    const struct image_bdm_grant g = image_server_grant("replaced", name, &digest);
    image_bdm_token(to->key, &g, clock_wall_ms() / 1000, TOKEN_S, token);
    if (post(to, a, arena_printf(a, "%s/v1/images/replaced", url),
             arena_printf(a, "?digest=%s", named), token, text, &err) < 0)
        image_optimize_event("untold", "node=%s reason=\"%s\"", name, err_text(&err));
}

static bool is_url(const char *where)
{
    return str_has_prefix(str_of(where), STR("http://")) ||
           str_has_prefix(str_of(where), STR("https://"));
}

int image_optimize_check(const char *where, bool has_key, struct err *err)
{
    scoped(free_scoped) char *dir = xstrdup(where);
    struct stat st;
    char *slash = strrchr(dir, '/');
    struct arena a = { 0 };
    const char *name, *url;
    bool is_of_node = is_node(where, &a, &name, &url);
    arena_fini(&a);
    if (is_of_node && !has_key)
        return err_set(err, E_INVALID, "--news '%s' is a node: --cluster-key-file is missing",
                       where);
    if (is_of_node || is_url(where))
        return 0;
    if (str_find(str_of(where), STR("://")) >= 0)
        return err_set(err, E_INVALID, "--news '%s' is neither http:// nor https:// nor a file",
                       where);
    if (slash)
        slash[slash == dir] = '\0';
    if (stat(slash ? dir : ".", &st) < 0)
        return err_sys(err, -errno, "--news '%s': its directory", where);
    if (stat(where, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(err, E_INVALID, "--news '%s' is a directory", where);
    return 0;
}

static int notify_all(const struct optimize_news *to, struct arena *a, const struct image_news *n,
                      struct err *err)
{
    struct str text = news_text(a, n);
    int r = 0;
    for (size_t i = 0; r >= 0 && i < to->where->n; i++) {
        const char *where = to->where->at[i], *name, *url;
        if (is_url(where))
            r = post(to, a, where, "", NULL, text, err);
        else if (is_node(where, a, &name, &url))
            notify_node(to, a, name, url, text);
        else
            r = append(a, where, text, err);
    }
    return r;
}

int image_optimize_print(void *arg, const struct image_news *n, struct err *err)
{
    static const char *const kinds[] = {
        [IMAGE_NEWS_APPEARED] = "found", [IMAGE_NEWS_MOVED] = "moved", [IMAGE_NEWS_GONE] = "gone"
    };
    struct arena a = { 0 };
    int r = n->kind == IMAGE_NEWS_APPEARED ? 0 : notify_all(arg, &a, n, err);
    if (r >= 0)
        image_optimize_event(kinds[n->kind], "name=%s%s%s%s%s dead=%zu", n->name,
                             n->old ? " old=" : "", digest_text(&a, n->old), n->new ? " new=" : "",
                             digest_text(&a, n->new), n->n_dead);
    arena_fini(&a);
    return r;
}
