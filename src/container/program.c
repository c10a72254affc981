/* SPDX-License-Identifier: Apache-2.0 */
#include "container/program.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After those of PATH: a service may have a short one. */
#define USUAL_DIRS "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static char *find_in(struct str dirs, const char *name)
{
    struct str dir;
    while (dirs.n) {
        (void)str_cut(dirs, ':', &dir, &dirs);
        scoped(free_scoped) char *path = xasprintf(STR_FMT "/%s", STR_ARG(dir), name);
        if (dir.n && dir.p[0] == '/' && access(path, X_OK) == 0)
            return realpath(path, NULL);
    }
    return NULL;
}

static char *find_one(const char *name)
{
    char *found = find_in(str_of(getenv("PATH")), name);
    return found ? found : find_in(STR(USUAL_DIRS), name);
}

int container_program_find(const char *name, char **ret, struct err *err)
{
    char *found;
    if (name && strchr(name, '/')) {
        found = access(name, X_OK) == 0 ? realpath(name, NULL) : NULL;
        if (!found)
            return err_sys(err, -errno, "'%s'", name);
    } else {
        found = find_one(name ? name : "crun");
        if (!found && !name)
            found = find_one("runc");
    }
    if (!found)
        return err_set(err, -ENOENT, "there is no '%s' on this machine",
                       name ? name : "crun' or 'runc");
    *ret = found;
    return 0;
}

bool container_program_is_crun(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strstr(slash ? slash : path, "crun") != NULL;
}
