/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/logs.h"

#include "agent/agent_impl.h"
#include "agent/log/podlog_jobs.h"
#include "agent/log/podlog_path.h"
#include "base/sys.h"
#include "base/tree_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static char *link_of(const struct agent *a, const char *uid)
{
    return xasprintf("%s/%s", a->logs_dir, uid);
}

int agent_logs_make(const struct agent_pod *p, struct err *err)
{
    scoped(free_scoped) char *link = link_of(p->agent, p->uid);
    if (symlink(p->log_dir, link) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "link %s", link);
    return sys_mkdir_all(p->log_dir, 0755, err);
}

/* ---------------------------------------------------------------- removing */

struct logs_removal {
    struct podlog_job job;
    char *dir, *link; /* link NULL: dir is the log of one run */
};

static void work(struct podlog_job *j)
{
    const struct logs_removal *r = container_of(j, struct logs_removal, job);
    struct err err = { 0 };
    int code = r->link ? tree_remove(AT_FDCWD, r->dir, &err) : podlog_path_remove(r->dir, &err);
    if (code < 0 && code != -ENOENT)
        log_warn("logs of a pod stay", "error=\"%s\"", err_text(&err));
    else if (r->link)
        (void)unlink(r->link);
}

static void done(struct podlog_job *j)
{
    struct logs_removal *r = container_of(j, struct logs_removal, job);
    free(r->dir);
    free(r->link);
    free(r);
}

/* Both are taken. */
static void start(const struct agent *a, char *dir, char *link)
{
    struct logs_removal *r = xnew(struct logs_removal);
    *r = (struct logs_removal){ .job = { .kind = PODLOG_JOB_TIDY, .work = work, .done = done },
                                .dir = dir,
                                .link = link };
    podlog_jobs_start(a->log_jobs, &r->job);
}

void agent_logs_remove(const struct agent_pod *p)
{
    start(p->agent, xstrdup(p->log_dir), link_of(p->agent, p->uid));
}

void agent_logs_drop_old(const struct agent_pod *p, const char *container, uint32_t restarts)
{
    if (restarts >= 2)
        start(p->agent, xasprintf("%s/%s/%u.log", p->log_dir, container, restarts - 2), NULL);
}

void agent_logs_sweep(const struct agent *a)
{
    DIR *d = opendir(a->logs_dir);
    char dir[AGENT_PATH_MAX];
    for (struct dirent *e; d && (e = readdir(d));) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, dir, sizeof dir);
        if (n > 0 && !map_has(&a->pods, str_of(e->d_name)))
            start(a, xstrndup(dir, (size_t)n), link_of(a, e->d_name));
    }
    if (d)
        (void)closedir(d);
}
