/* SPDX-License-Identifier: Apache-2.0 */
#include "image/provide_job.h"

#include "base/clock.h"
#include "codec/json.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { BYTES_GAP_MS = 500 }; /* between two events that say no more than that bytes come */

struct providing {
    const struct store_job_watch *watch;
    pthread_mutex_t mutex; /* of events */
    uint64_t reported_ms;
};

static void send_flag(struct providing *p, const char *key, bool is_often)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    uint64_t now = clock_mono_ms();
    json_set_bool(&a, v, key, true);
    (void)pthread_mutex_lock(&p->mutex);
    bool is_due = !is_often || now - p->reported_ms >= BYTES_GAP_MS;
    if (is_due && p->watch->on_event)
        p->watch->on_event(p->watch->arg, v);
    if (is_due)
        p->reported_ms = now;
    (void)pthread_mutex_unlock(&p->mutex);
    arena_fini(&a);
}

static void on_pulling(void *arg)
{
    send_flag(arg, "pulling", false);
}

static void on_bytes(void *arg)
{
    send_flag(arg, "bytes", true);
}

static void on_pulled(void *arg)
{
    send_flag(arg, "pulled", false);
}

/* Another process may know the store by another path. */
static struct json *provided_json(const struct oci_store *s, const struct provided *p,
                                  struct arena *a)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct str place = str_of(p->dir);
    struct json *v = json_new_object(a);
    place = str_slice(place, strlen(oci_store_root(s)) + strlen("/images/"), place.n);
    oci_digest_format(&p->manifest, digest);
    json_set_str(a, v, "manifest", str_of(digest));
    json_set_str(a, v, "place", place);
    json_set_int(a, v, "words", (int64_t)p->n_program);
    json_set_str(a, v, "config", buf_str(&p->config));
    json_set_bool(a, v, "pulled", p->was_pulled);
    return v;
}

int provide_job_run(struct oci_store *s, const struct store_job *job,
                    const struct store_job_watch *watch, struct arena *a, struct json **ret,
                    struct err *err)
{
    const struct store_job_provide *q = &job->provide;
    struct providing p = { .watch = watch };
    struct provided got;
    const char **hosts = arena_new_n(a, const char *, q->n_hosts + 1);
    for (size_t i = 0; i < q->n_hosts; i++)
        hosts[i] = str_dup_arena(a, q->hosts[i]);
    const struct provide_site site = { .hosts = hosts,
                                       .n_hosts = q->n_hosts,
                                       .ca_file = q->ca.n ? str_dup_arena(a, q->ca) : NULL,
                                       .plain_hosts = q->plain_hosts,
                                       .n_plain_hosts = q->n_plain_hosts };
    const struct provide_want want = { .reference = q->reference,
                                       .tenant = q->tenant,
                                       .auths = q->auths,
                                       .n_auths = q->n_auths,
                                       .policy = q->policy,
                                       .is_mounted = q->is_mounted,
                                       .lease = job->lease,
                                       .on_pulling = on_pulling,
                                       .on_bytes = on_bytes,
                                       .on_pulled = on_pulled,
                                       .arg = &p,
                                       .stop = watch->stop };
    (void)pthread_mutex_init(&p.mutex, NULL);
    int r = provide_image(s, &site, &want, &got, err);
    (void)pthread_mutex_destroy(&p.mutex);
    if (r < 0)
        return r;
    *ret = provided_json(s, &got, a);
    provide_result_fini(&got);
    return 0;
}

/* Root file systems that were used long ago go with it, since this process may stay. */
int provide_job_release(struct oci_store *s, struct str lease, struct err *err)
{
    size_t n_swept;
    int r = provide_drop(s, lease, err);
    if (r >= 0)
        (void)provide_sweep(s, PROVIDE_REST_S, false, &n_swept, NULL);
    return r == -ENOENT ? 0 : r;
}
