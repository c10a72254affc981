/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/scheduler_args.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>

static void print_warnings(struct str text)
{
    struct str line;
    while (text.n) {
        scoped(buf_fini_scoped) struct buf safe = BUF_INIT(SCHED_CONFIG_MAX_BYTES);
        (void)str_cut(text, '\n', &line, &text);
        cmd_add_safe(&safe, line);
        (void)fprintf(stderr, "warning: %s\n", buf_cstr(&safe));
    }
}

int scheduler_config_read(struct arena *a, const char *file, struct str text,
                          struct sched_config *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf warnings = BUF_INIT(4 * SCHED_CONFIG_MAX_BYTES);
    int r = sched_config_read(a, text, ret, &warnings, err);
    if (r < 0)
        return file ? err_ctx(err, r, "%s", file) : r;
    print_warnings(buf_str(&warnings));
    return 0;
}

int scheduler_config_load(struct arena *a, const char *file, struct sched_config *ret,
                          struct buf *text, struct err *err)
{
    scoped(buf_fini_scoped) struct buf own = BUF_INIT(SCHED_CONFIG_MAX_BYTES + 1);
    struct buf *to = text ? text : &own;
    if (!file)
        return scheduler_config_read(a, NULL, STR(""), ret, err);
    int r = sys_read_file(AT_FDCWD, file, to, err);
    if (r < 0)
        return r;
    /* A file without anything is not "no file". */
    return scheduler_config_read(a, file, to->n ? buf_str(to) : STR("\n"), ret, err);
}
