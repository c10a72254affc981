/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of pods that ended while no agent ran. The thread lists names; the loop decides which
 * are orphans, since it knows the pods, before each single removal; the thread removes it. A pod
 * that is started meanwhile waits for the end of its own removal.
 */
#include "agent/volume/volume_impl.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/vec.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

struct orphans {
    struct job job;
    struct volume_host *host;
    char *root;
    bool (*is_known)(void *arg, struct str uid);
    volume_orphans_cb cb;
    void *arg;
    VEC(char *) names;
    size_t next, n_removed;
    char *current; /* being removed; NULL: names are being listed */
    int r;
    struct err err, problem;
};

static void list_names(struct orphans *o)
{
    DIR *dir = opendir(o->root);
    if (!dir) {
        o->r = err_sys(&o->err, -errno, "read '%s'", o->root);
        return;
    }
    for (const struct dirent *e; (e = readdir(dir));) {
        if (volume_uid_is_valid(str_of(e->d_name)) && e->d_type != DT_LNK)
            vec_push(&o->names, xstrdup(e->d_name));
    }
    (void)closedir(dir);
}

static void on_work(struct job *j)
{
    struct orphans *o = container_of(j, struct orphans, job);
    o->r = 0;
    if (o->current)
        o->r = volume_dir_remove(o->root, o->current, &o->err);
    else
        list_names(o);
}

static void finish(struct orphans *o)
{
    o->host->n_operations--;
    o->host->collects_orphans = false;
    o->cb(o->arg, o->n_removed, &o->problem);
    vec_each (name, &o->names)
        free(*name);
    vec_fini(&o->names);
    free(o->root);
    free(o);
}

static bool is_orphan(const struct orphans *o, struct str uid)
{
    return !map_has(&o->host->pods, uid) && !(o->is_known && o->is_known(o->arg, uid));
}

static void note_result(struct orphans *o)
{
    struct volume_pod *waiting = o->current ? map_get(&o->host->pods, str_of(o->current)) : NULL;
    o->host->removing = NULL;
    if (waiting)
        volume_pod_step_soon(waiting);
    if (o->r < 0) {
        log_warn("rest of a pod cannot be removed", "pod=%s reason=\"%s\"",
                 o->current ? o->current : "", err_text(&o->err));
        o->problem = o->err;
    } else if (o->current) {
        o->n_removed++;
        log_info("rest of a pod removed", "pod=%s", o->current);
    }
}

static void start(struct orphans *o);

static void on_done(struct job *j, int r)
{
    struct orphans *o = container_of(j, struct orphans, job);
    note_result(o);
    o->current = NULL;
    while (o->next < o->names.n && !is_orphan(o, str_of(o->names.p[o->next])))
        o->next++;
    if (o->next == o->names.n) {
        finish(o);
        return;
    }
    o->current = o->names.p[o->next++];
    o->host->removing = o->current;
    start(o);
}

static void start(struct orphans *o)
{
    o->err = (struct err){ 0 };
    o->job = (struct job){ .work = on_work, .done = on_done };
    int r = job_start(o->host->loop, &o->job);
    assert(r == 0); /* libuv refuses only a job without a function */
}

int volume_orphans_start(struct volume_host *h, bool (*is_known)(void *arg, struct str uid),
                         volume_orphans_cb cb, void *arg, struct err *err)
{
    if (h->collects_orphans)
        return err_set(err, -EBUSY, "orphans are being collected");
    struct orphans *o = xnew(struct orphans);
    o->host = h;
    o->root = xstrdup(h->root);
    o->is_known = is_known;
    o->cb = cb;
    o->arg = arg;
    h->collects_orphans = true;
    h->n_operations++;
    start(o);
    return 0;
}
