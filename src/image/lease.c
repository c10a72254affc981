/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lease.h"

#include "base/clock.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/documents.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define EMPTY_TYPE    "application/vnd.oci.empty.v1+json"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

enum { LEASE_DEFAULT_MS = 60000, ASK_MIN_MS = 50, ATTEMPTS = 2, STALL_MIN_MS = 5000 };

static const struct str EMPTY = { "{}", 2 };

struct image_lease {
    struct oci_remote *remote;
    char self[IMAGE_LEASE_HOLDER_MAX]; /* this process */
    uint64_t ms, renewals, renewed_ms;
    bool is_held, has_content;
    bool is_late; /* writing it took so long that another one may have been overwritten */
    /* The lease of another one, as it was seen. */
    char holder[IMAGE_LEASE_HOLDER_MAX];
    struct oci_digest seen;
    uint64_t seen_ms;
    bool was_seen;
};

/* The manifest of the tag. */
struct lease_found {
    struct oci_digest digest;
    char holder[IMAGE_LEASE_HOLDER_MAX]; /* "": none */
    uint64_t ms;
};

int image_lease_open(const struct oci_reference *repository, const struct oci_remote_opts *registry,
                     uint64_t lease_ms, struct image_lease **ret, struct err *err)
{
    struct image_lease *l = xnew(struct image_lease);
    struct oci_reference ref = *repository;
    struct oci_remote_opts own = *registry;
    uint64_t stall_ms = MAX(lease_ms / 6, (uint64_t)STALL_MIN_MS);
    char host[64] = "", uuid[37];
    l->ms = lease_ms;
    ref.has_digest = false;
    (void)snprintf(ref.tag, sizeof ref.tag, "%s", IMAGE_LEASE_TAG);
    (void)gethostname(host, sizeof host - 1);
    sys_uuid(uuid);
    (void)snprintf(l->self, sizeof l->self, "%s:%d:%s", host, (int)getpid(), uuid);
    own.attempts = ATTEMPTS;
    own.stall_ms = own.stall_ms ? MIN(own.stall_ms, stall_ms) : stall_ms;
    int r = oci_remote_open(&ref, &own, &l->remote, err);
    if (r < 0)
        free(l);
    else
        *ret = l;
    return r;
}

const char *image_lease_holder(const struct image_lease *l)
{
    return l->holder;
}

/* ---- reading and writing ---- */

static struct str annotation(const struct json *doc, const char *name)
{
    return json_get_str(json_getc(doc, "annotations"), name);
}

/* 0: there is none, or it is not held. A manifest without valid data counts as held for the usual
 * time: another program may use the tag temporarily. */
static int look(struct image_lease *l, struct lease_found *ret, struct err *err)
{
    struct arena a = { .max_bytes = OCI_DOCUMENT_MAX * 16 };
    struct json *doc = NULL;
    struct err why = { 0 };
    uint64_t ms = 0;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = oci_remote_manifest(l->remote, NULL, &text, &ret->digest, &why);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    (void)json_parse(&a, buf_str(&text), NULL, &doc, NULL);
    struct str holder = annotation(doc, IMAGE_ANNOTATION "holder");
    (void)parse_u64(annotation(doc, IMAGE_ANNOTATION "lease-ms"), 1, IMAGE_LEASE_MAX_MS, &ms);
    (void)snprintf(ret->holder, sizeof ret->holder, STR_FMT, STR_ARG(holder));
    ret->ms = ms ? ms : LEASE_DEFAULT_MS;
    bool is_free = ms && holder.n == 0;
    arena_fini(&a);
    return !is_free;
}

static int write_empty(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    (void)arg;
    return sink(sink_arg, EMPTY, err);
}

/* Before anything is looked at: between the look and the PUT there is to be little time. */
static int push_content(struct image_lease *l, struct err *err)
{
    struct oci_descriptor d = { .size = EMPTY.n };
    enum oci_pushed how;
    sha256_of(EMPTY, d.digest.bytes);
    int r = l->has_content
                ? 0
                : oci_remote_push_blob(l->remote, &d, NULL, write_empty, NULL, &how, err);
    l->has_content = r >= 0;
    return r;
}

static int put(struct image_lease *l, const char *holder, struct err *err)
{
    struct oci_digest content;
    char digest[OCI_DIGEST_TEXT_SIZE];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    sha256_of(EMPTY, content.bytes);
    oci_digest_format(&content, digest);
    scoped(free_scoped) char *empty =
        xasprintf("{\"mediaType\":\"" EMPTY_TYPE "\",\"digest\":\"%s\",\"size\":2}", digest);
    (void)buf_printf(&text,
                     "{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST_TYPE "\","
                     "\"artifactType\":\"application/vnd.dormouse.lease\",\"config\":%s,"
                     "\"layers\":[%s],\"annotations\":{",
                     empty, empty);
    (void)buf_add_cstr(&text, "\"" IMAGE_ANNOTATION "holder\":");
    (void)json_write_str(&text, str_of(holder));
    (void)buf_printf(&text,
                     ",\"" IMAGE_ANNOTATION "lease-ms\":\"%llu\",\"" IMAGE_ANNOTATION
                     "renewals\":\"%llu\"}}",
                     (unsigned long long)l->ms, (unsigned long long)l->renewals++);
    int r = oci_remote_push_manifest(l->remote, IMAGE_LEASE_TAG, STR(MANIFEST_TYPE), buf_str(&text),
                                     err);
    l->has_content = r >= 0; /* the registry may have removed it */
    return r;
}

/* ---- taking ---- */

static void settle(void)
{
    struct timespec t = { .tv_nsec = IMAGE_LEASE_SETTLE_MS * 1000000L };
    (void)nanosleep(&t, NULL);
}

/* How much longer another's lease may be alive; 0: it is free. */
static uint64_t remaining(struct image_lease *l, const struct lease_found *f)
{
    uint64_t now = clock_mono_ms();
    if (!l->was_seen || !oci_digest_equal(&l->seen, &f->digest)) {
        l->was_seen = true;
        l->seen = f->digest;
        l->seen_ms = now;
    }
    (void)snprintf(l->holder, sizeof l->holder, "%s", f->holder);
    uint64_t end = l->seen_ms + f->ms;
    return end > now ? end - now : 0;
}

/* 1: it is ours. 0: ask again in *ret_wait_ms. */
static int write_and_look(struct image_lease *l, uint64_t began, uint64_t *ret_wait_ms,
                          struct err *err)
{
    struct lease_found f = { .holder = "" };
    int r = put(l, l->self, err);
    if (r < 0)
        return r;
    l->renewed_ms = clock_mono_ms();
    l->holder[0] = 0;
    l->is_late = l->renewed_ms - began > IMAGE_LEASE_SETTLE_MS;
    *ret_wait_ms = l->is_late ? l->ms / 2 : (uint64_t)ASK_MIN_MS;
    if (l->is_late)
        return 0;
    settle();
    r = look(l, &f, err);
    return r < 0 ? r : r > 0 && strcmp(f.holder, l->self) == 0;
}

/* It was written half of its duration ago: its time begins again. */
static int write_again(struct image_lease *l, struct err *err)
{
    int r = put(l, l->self, err);
    if (r < 0)
        return r;
    l->renewed_ms = clock_mono_ms();
    return 1;
}

int image_lease_acquire(struct image_lease *l, uint64_t *ret_wait_ms, struct err *err)
{
    struct lease_found f = { .holder = "" };
    int r = push_content(l, err);
    uint64_t began = clock_mono_ms();
    r = r < 0 ? r : look(l, &f, err);
    bool is_ours = r > 0 && strcmp(f.holder, l->self) == 0;
    if (r > 0 && !is_ours) {
        uint64_t wait = remaining(l, &f);
        if (wait) {
            *ret_wait_ms = MAX(wait / 4, (uint64_t)ASK_MIN_MS);
            return 0;
        }
    }
    if (r >= 0)
        r = is_ours && l->is_late ? write_again(l, err)
                                  : write_and_look(l, began, ret_wait_ms, err);
    if (r < 0)
        return err_ctx(err, r, "lease");
    l->is_held = r > 0;
    return r;
}

static bool is_alive(const struct image_lease *l)
{
    return clock_mono_ms() - l->renewed_ms < l->ms / 2;
}

int image_lease_renew(struct image_lease *l, struct err *err)
{
    struct lease_found f = { .holder = "" };
    int r = push_content(l, err);
    r = r < 0 ? r : look(l, &f, err);
    if (r > 0 && strcmp(f.holder, l->self) != 0) {
        l->is_held = false;
        (void)snprintf(l->holder, sizeof l->holder, "%s", f.holder);
        return err_set(err, E_CONFLICT, "the lease is held by another optimizer now");
    }
    r = r < 0 ? r : put(l, l->self, err);
    if (r < 0)
        return is_alive(l) ? 0 : err_ctx(err, r, "lease");
    l->renewed_ms = clock_mono_ms();
    return 0;
}

void image_lease_free(struct image_lease *l)
{
    if (!l)
        return;
    if (l->is_held && image_lease_renew(l, NULL) >= 0)
        (void)put(l, "", NULL);
    oci_remote_free(l->remote);
    free(l);
}
