/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of other processes on a node store that change it: names, gc, a pull, the preparation of
 * a mount or of an image for the containers of a worker. A job runs in the process that has the
 * store open: the one that needs it, or, if a server holds the store's lock, that server, through
 * its control socket (image/store_control.h). Both run the same function on the same text, so that
 * the outcome is the same.
 *
 *     {"do":"tag","images":["app:v1"],"name":"app:stable"}
 *     {"do":"rm","images":["app:v1","0123456789ab"],"again":true}      "pin", "unpin"
 *     {"do":"gc","dryRun":true}
 *     {"do":"check","bytesPerSecond":N,"dryRun":true}
 *     {"do":"pull","source":"docker://redis:7","name":"docker.io/library/redis:7",
 *      "platform":"linux/amd64","form":"both","threads":4,"pin":true,"whole":true,"original":true,
 *      "plainHTTP":true,"allowPrivate":true,"ca":"/etc/ca.pem","stallMilliseconds":30000,
 *      "login":{"user":U,"password":P,"identityToken":T}}
 *     {"do":"start","config":"sha256:...","list":"/run/x/list"}
 *     {"do":"keep","from":"/run/x/handed","name":"app:v1","lease":ID}
 *     {"do":"mount","lease":ID,"images":["app:v1"],"symlinkParent":"shadow","share":true}
 *     {"do":"mount","lease":ID,"source":"docker://redis:7","maxTarBytes":N}   as of a pull
 *     {"do":"unmount","lease":ID}
 *     {"do":"provide","reference":R,"tenant":T,"policy":"Always","lease":L,"auths":[TEXT...],
 *      "hosts":[HOST...],"plainHosts":[HOST...],"ca":FILE,"mounted":true}  image/provide.h
 *     {"do":"release","lease":L}
 *     {"do":"images"}    {"do":"prune","bytes":N,"minAgeSeconds":N}   image/prune.h
 *
 * "mount" leases an image and writes the files for mounting it (image/stored.h); the command itself
 * mounts it, and sends "unmount" afterwards. An image that was pulled for a mount has no name.
 *
 * "keep" stores an image from a directory (image/handed.h).
 * "start" stores the start list of an image (image/start_list.h), which is in a file.
 *
 * Members other than "do" may be omitted if they do not apply.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "image/provide.h"
#include "oci/store.h"
#include "oci/tree.h"

#include <stdatomic.h>

struct json;

enum {
    STORE_JOB_IMAGES_MAX = 256,    /* of one job */
    STORE_JOB_TEXT_MAX = 32 << 10, /* bytes of each text of a job */
    STORE_JOB_EVENT_GAP_MS = 50,   /* between two that say how far a pull is */
};

enum store_job_kind {
    STORE_JOB_TAG,
    STORE_JOB_RM,
    STORE_JOB_PIN,
    STORE_JOB_UNPIN,
    STORE_JOB_GC,
    STORE_JOB_CHECK,
    STORE_JOB_PULL,
    STORE_JOB_START,
    STORE_JOB_MOUNT,
    STORE_JOB_UNMOUNT,
    STORE_JOB_KEEP,
    STORE_JOB_PROVIDE,
    STORE_JOB_RELEASE, /* of what was provided */
    STORE_JOB_IMAGES,
    STORE_JOB_PRUNE,
    STORE_JOB_KINDS
};

struct store_job_pull {
    struct str source;   /* as oci_origin_open() takes it; paths absolute */
    struct str platform; /* "": this machine's */
    struct str form;     /* "raw", "gz", "both", "cas"; "": as the store is open */
    struct str ca;       /* a file; "": none */
    /* With has_login: credentials, also empty ones (anonymous). Else they are looked for here. */
    bool has_login;
    struct str user, password, identity_token;
    uint64_t threads, stall_ms;
    uint64_t max_tar_bytes; /* of a layer, of a mount; 0: as oci_pull() has it */
    bool is_plain_http, allows_private, is_pinned, is_by_blobs, wants_original;
};

struct store_job_provide { /* as struct provide_want and struct provide_site */
    struct str reference, tenant, ca;
    enum provide_policy policy;
    bool is_mounted;
    struct str *auths, *hosts, *plain_hosts;
    size_t n_auths, n_hosts, n_plain_hosts;
};

struct store_job {
    enum store_job_kind kind;
    /* Names or digests, as oci_store_image_find() takes them; of a tag one, and its new name. All
     * are found before the first is changed. What is named by a digest is E_CONFLICT where its name
     * is moved to another image meanwhile. */
    struct str *images;
    size_t n_images;
    struct str name; /* of a tag, of a pull, of an image to keep */
    /* Of rm: an earlier attempt may have removed names. None of that name is fine; what is named by
     * a digest stays, since that may be another name by now: E_CONFLICT after all else is done. */
    bool is_again;
    bool is_dry;                /* of gc; of a check, which then may have a reader */
    uint64_t bytes_per_s;       /* of a check; 0: no limit */
    uint64_t bytes, min_age_s;  /* of prune */
    struct store_job_pull pull; /* of a mount as well, where there are no images */
    struct str lease;           /* of a mount, or what is kept: its id; a reboot ends it; of what is
                                 * provided as in struct provide_want */
    enum oci_symlink_parent symlink_parent;
    bool is_sharing;          /* of a mount: stored_share() first */
    struct oci_digest config; /* of a start */
    struct str list, from;    /* paths, absolute: of a start list, of an image to keep */
    struct store_job_provide provide;
};

/* Pure. Texts are borrowed from v, the array is the arena's. Errors: E_INVALID, E_LIMIT. */
int store_job_read(const struct json *v, struct arena *a, struct store_job *ret, struct err *err);
/* Pure. In the arena. */
struct json *store_job_write(const struct store_job *job, struct arena *a);

struct store_job_watch {
    /*
     * How far it is; on any thread, one at a time; NULL: not of interest. v is valid until the
     * return:
     *     {"layers":N,"layersDone":N,"bytes":N,"doneBytes":N,
     *      "layer":{"diffID":D,"state":"present"|"done"|"failed","bytes":N}}  "layer": it has
     * changed
     *     {"layer":{"diffID":D},"what":"...","why":"..."}                     about a layer
     *     {"note":"..."}                                                      of a registry
     *     {"finding":{"kind":K,"what":W,"why":Y}}                             of a check
     *     {"original":"..."}   why the image itself is pulled, and no refactored form of it
     *     {"pulling":true}, {"bytes":true}, {"pulled":true}        as struct provide_want has them
     */
    void (*on_event)(void *arg, const struct json *v);
    void *arg;
    /* Set by another thread: a pull, a mount, a check, or keeping an image ends with -ECANCELED
     * soon after; the rest is done. NULL: never. */
    const atomic_bool *stop;
};

/*
 * Run it; blocks. The store must be a writer. Several at once on one store. *ret: the result, in
 * the arena: {} for names and unmount, the members that `image gc -o json` and `image pull -o json`
 * print; for a mount {"digest":D}, and "unsupported" with the reason if the image is leased, but
 * cannot be mounted from the store; for a check the members that `image check -o json` prints,
 * except the findings, and "unreadError":{"code":N,"text":T} if a file could not be read; for
 * "provide" {"manifest", "place": <manifest>/<tenant> below "images" of the store, "words",
 * "config", "pulled"}; for "images" {"images":[{"names":[...],"bytes":N}]}, the largest first, at
 * most PRUNE_JOB_IMAGES_MAX; for "prune" {"images":N,"bytes":N}, how many and what went.
 * Errors: those of oci_store_image_find(), oci_store_image_put(), oci_store_gc(),
 * oci_origin_open(), oci_pull(), start_list_put(), handed_keep(), provide_image(), provide_drop(),
 * stored_prepare(); E_INVALID, the form is not that of the open store; E_CONFLICT, see images and
 * is_again; -ECANCELED. A mount that failed has no lease; a lease that is not there is dropped.
 */
int store_job_run(struct oci_store *s, const struct store_job *job,
                  const struct store_job_watch *watch, struct arena *a, struct json **ret,
                  struct err *err);
