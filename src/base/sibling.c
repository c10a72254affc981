/* SPDX-License-Identifier: Apache-2.0 */
/* Finding programs by the path of the running one; see sibling.h. */
#include "base/sibling.h"

#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *sibling_dir(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return xstrdup(".");
    self[n] = 0;
    char *slash = strrchr(self, '/');
    return xstrndup(self, slash ? (size_t)(slash - self) : 0);
}

char *sibling_find(const char *name, const char *variable)
{
    const char *env = getenv(variable);
    scoped(free_scoped) char *dir = sibling_dir();
    return env && *env ? xstrdup(env) : xasprintf("%s/%s", dir, name);
}
