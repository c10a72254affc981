/* SPDX-License-Identifier: Apache-2.0 */
#include "image/start_list.h"

#include "base/map.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>

#define WORDS "dormouse start "
#define HEAD  WORDS "1\n"
#define NAME  "start"

void start_list_fini(struct start_list *l)
{
    vec_fini(&l->files);
}

int start_list_write(const struct start_list *l, struct buf *to)
{
    (void)buf_add_cstr(to, HEAD);
    for (size_t i = 0; i < MIN(l->files.n, (size_t)START_LIST_FILES_MAX); i++) {
        char hex[SHA256_HEX_SIZE];
        hex_format(l->files.p[i].bytes, SHA256_BYTES, hex);
        (void)buf_printf(to, "%s\n", hex);
    }
    return to->failed;
}

static int read_lines(struct str rest, struct start_list *l, struct map *seen, struct err *err)
{
    struct str line;
    while (rest.n) {
        struct oci_digest d;
        if (!str_cut(rest, '\n', &line, &rest) || !hex_parse(line, d.bytes, sizeof d.bytes))
            return err_set(err, E_PARSE, "list of a start: a line is no digest");
        if (l->files.n == START_LIST_FILES_MAX)
            return err_set(err, E_LIMIT, "list of a start: more than %d files",
                           START_LIST_FILES_MAX);
        if (map_put(seen, str_n(d.bytes, sizeof d.bytes), l))
            return err_set(err, E_PARSE, "list of a start: a file is there twice");
        vec_push(&l->files, d);
    }
    return 0;
}

int start_list_read(struct str text, struct start_list *ret, struct err *err)
{
    struct start_list l = { 0 };
    struct map seen = { 0 };
    if (!str_has_prefix(text, STR(WORDS)))
        return err_set(err, E_PARSE, "this is no list of a start");
    if (!str_has_prefix(text, STR(HEAD)))
        return err_set(err, E_VERSION, "a newer program wrote the list of a start");
    int r = read_lines(str_slice(text, sizeof HEAD - 1, text.n), &l, &seen, err);
    map_fini(&seen);
    if (r < 0) {
        start_list_fini(&l);
        return r;
    }
    *ret = l;
    return 0;
}

int start_list_put(struct oci_store *s, const struct oci_digest *config, const struct start_list *l,
                   struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    scoped(free_scoped) char *path = NULL;
    int r = oci_store_image_dir(s, config, &path, err);
    r = r < 0 ? r : start_list_write(l, &text);
    if (r < 0)
        return err && err->code ? r : err_sys(err, r, "list of a start");
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    return dir < 0 ? err_sys(err, dir, "open '%s'", path)
                   : sys_write_file_atomic(dir, NAME, buf_str(&text), 0600, err);
}

int start_list_get(struct oci_store *s, const struct oci_digest *config, struct buf *to,
                   struct err *err)
{
    char hex[SHA256_HEX_SIZE];
    hex_format(config->bytes, sizeof config->bytes, hex);
    scoped(free_scoped) char *path = xasprintf("%s/images/%s/" NAME, oci_store_root(s), hex);
    struct err why = { 0 };
    int r = sys_read_file(AT_FDCWD, path, to, &why);
    return r == -ENOENT ? err_set(err, r, "no start of the image was recorded")
           : r < 0      ? err_set(err, r, "%s", err_text(&why))
                        : 0;
}
