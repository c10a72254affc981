/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/host.h"

#include <string.h>

static const char *const names[] = { "error", "warn", "info", "debug" };

static enum dm_level threshold(void)
{
    static int level = -1;
    if (level < 0) {
        const char *want = dm_env("DM_LOG", "info");
        level = DM_INFO;
        for (int i = DM_ERROR; i <= DM_DEBUG; i++)
            if (strcmp(want, names[i]) == 0)
                level = i;
    }
    return (enum dm_level)level;
}

void dm_log(enum dm_level level, const char *fmt, ...)
{
    if (level > threshold())
        return;
    struct dm_text t = { 0 };
    va_list ap;
    va_start(ap, fmt);
    dm_textf(&t, "%s ", names[level]);
    dm_vtextf(&t, fmt, ap);
    va_end(ap);
    dm_text_char(&t, '\n');
    dm_host_write(t.p, t.n);
    dm_text_fini(&t);
}
