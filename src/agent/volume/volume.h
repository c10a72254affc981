/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volumes of pods on disk and the mounts of their containers.
 *
 *     ROOT/UID/volumes/kubernetes.io~KIND/NAME      a volume: empty-dir, configmap, secret, ...
 *     ROOT/UID/volume-subpaths/NAME/CONTAINER/N     a bound sub path of mount N
 *
 * Blocking work runs in jobs; all functions are for the loop thread, and no callback runs before
 * the function that caused it has returned.
 */
#pragma once

#include "agent/pod/env.h"
#include "io/loop.h"

enum {
    VOLUME_PAYLOAD_MAX = 32 << 20, /* bytes of the files of one configMap, secret, ... volume */
    VOLUME_FILES_MAX = 16384,      /* of one such volume */
    VOLUME_RETRY_MIN_MS = 500,     /* between attempts to prepare or remove volumes */
    VOLUME_RETRY_MAX_MS = 122000,
    VOLUME_USAGE_ENTRIES_MAX = 4 << 20 /* files that one measurement visits */
};
#define VOLUME_ROOT_DEFAULT "/var/lib/dormouse/agent/pods"

/* ---- what the composition supplies ---- */

/* A request for a token of the pod's service account, bound to the pod. */
struct volume_token {
    struct str namespace, service_account, pod_name, pod_uid;
    struct str audience; /* empty: the API server */
    int64_t expiration_s;
    void *supplier; /* the supplier's */
};
/*
 * The result of a request, exactly once, never inside supply->token(). r 0: `token`, valid until
 * `expires_wall_ms` (Unix time); else a negative code with `err`.
 */
void volume_token_done(struct volume_token *t, int r, struct str token, int64_t expires_wall_ms,
                       const struct err *err);

/* A PersistentVolume that is bound to a claim and usable on this node. */
struct volume_claim {
    struct str path;   /* on this machine; borrowed until the caller returns to the loop */
    struct str type;   /* of hostPath: "", "DirectoryOrCreate", ... */
    bool is_local;     /* local, else hostPath: decides whether fsGroup applies */
    bool is_read_only; /* of the PersistentVolume or by its access modes */
};

struct volume_supply {
    /* Starts one request. An error is reported as the volume's and tried again. */
    int (*token)(void *arg, struct volume_token *t, struct err *err);
    /* -EAGAIN: not yet. The error's text becomes the volume's problem. */
    int (*claim)(void *arg, const struct pod_spec *pod, struct str claim, struct volume_claim *ret,
                 struct err *err);
    /* A directory with the image's files; -EAGAIN: not yet, the composition calls
     * volume_pod_update() when it is there. Borrowed as above. */
    int (*image)(void *arg, const struct pod_spec *pod, const struct pod_volume *v,
                 struct str *ret_path, struct err *err);
};

/* ---- the host: one per agent ---- */

struct volume_host_options {
    struct loop *loop;          /* kept */
    const char *root;           /* copied; NULL: VOLUME_ROOT_DEFAULT; made with mode 0750 */
    struct pod_objects objects; /* kept, as is what follows */
    const struct volume_supply *supply;
    void *supply_arg;
    /*
     * For an agent without the right to mount, and for tests: Secrets, tokens and emptyDirs in
     * memory lie on disk, and sub paths are refused.
     */
    bool without_mounts;
};
struct volume_host;
int volume_host_new(const struct volume_host_options *o, struct volume_host **ret, struct err *err);
/* No pod and no started operation is left; asserted. */
void volume_host_free(struct volume_host *h);
/*
 * The agent ends: pods that are being removed are closed after the attempt that runs, whether it
 * succeeds or not; the next process removes their rests as orphans.
 */
void volume_host_stop_removing(struct volume_host *h);
/* ROOT/UID in the arena; the UID must be valid (volume_uid_is_valid()). */
struct str volume_host_dir(const struct volume_host *h, struct arena *a, struct str uid);
/* A UID that is safe as a name: letters, digits and '-', at most 128 bytes. */
bool volume_uid_is_valid(struct str uid);

/* ---- the volumes of one pod ---- */

struct volume_pod;
enum volume_pod_state {
    VOLUME_POD_PREPARING, /* some volume is not ready; problems are tried again with back-off */
    VOLUME_POD_READY,     /* all volumes are; later changes of ConfigMaps do not leave this state */
    VOLUME_POD_ENDING     /* volume_pod_close() was called */
};

/*
 * The state or the problem changed. volume_pod_close() is allowed inside.
 */
typedef void (*volume_pod_changed_cb)(struct volume_pod *p, void *arg);

/*
 * Prepare the volumes of `spec`, or adopt those that an earlier process has left.
 * spec, facts: kept until volume_pod_update() replaced them or the pod is closed.
 * Errors: E_INVALID for a UID or a name that is no safe file name; -EEXIST: the UID is in use.
 */
int volume_pod_start(struct volume_host *h, const struct pod_spec *spec,
                     const struct pod_facts *facts, volume_pod_changed_cb cb, void *arg,
                     struct volume_pod **ret, struct err *err);
enum volume_pod_state volume_pod_at(const struct volume_pod *p);
/*
 * The problem of the last attempt, code 0: none. Its text is the message of an event with reason
 * FailedMount: "MountVolume.SetUp failed for volume \"x\" : configmap \"y\" not found".
 */
const struct err *volume_pod_problem(const struct volume_pod *p);
/*
 * Something changed: the object (labels, annotations, ephemeral containers), a fact, a ConfigMap or
 * Secret, a claim or an image. Volumes whose content changes are written again; those that failed
 * are tried again at once. The same pointers may be passed.
 */
void volume_pod_update(struct volume_pod *p, const struct pod_spec *spec,
                       const struct pod_facts *facts);

enum volume_pod_end {
    VOLUME_POD_KEEP,  /* the agent ends; containers go on and their volumes stay */
    VOLUME_POD_REMOVE /* no container uses the volumes: unmount, and remove the pod's directory */
};
/*
 * Runs once when all is done; p is freed after it. With VOLUME_POD_REMOVE the removal is tried
 * again with back-off until it succeeds, or until volume_pod_close(VOLUME_POD_KEEP).
 */
typedef void (*volume_pod_closed_cb)(struct volume_pod *p, void *arg);
/* The callback of volume_pod_start() does not run any more. A second call may only change REMOVE to
 * KEEP; the callback and its argument of the first call stay. */
void volume_pod_close(struct volume_pod *p, enum volume_pod_end end, volume_pod_closed_cb cb,
                      void *arg);

/* ---- the mounts of one container ---- */

enum volume_propagation { VOLUME_PRIVATE, VOLUME_FROM_HOST, VOLUME_BIDIRECTIONAL };

struct volume_mount {
    struct str volume; /* name */
    enum pod_volume_kind kind;
    struct str source, target; /* absolute paths on the host and in the container */
    bool is_read_only, is_recursive_read_only;
    enum volume_propagation propagation; /* None, HostToContainer, Bidirectional */
};

/* r 0: n mounts in the order of the container's list; else a negative code with `err`. All valid
 * until it returns. */
typedef void (*volume_mounts_cb)(void *arg, int r, const struct volume_mount *mounts, size_t n,
                                 const struct err *err);
/*
 * The mounts of container `c` of the pod, which must be READY. env: for subPathExpr. Directories of
 * sub paths that are missing are made. -ECANCELED: the pod was closed.
 * Errors, then the callback never runs: -EAGAIN (not READY), E_INVALID (upstream's texts).
 */
int volume_mounts_start(struct volume_pod *p, const struct pod_container *c,
                        const struct pod_environment *env, volume_mounts_cb cb, void *arg,
                        struct err *err);

/* ---- rests of pods that ended while no agent ran ---- */

/* n: number of pods whose rests were removed; err: the last problem, code 0: none. */
typedef void (*volume_orphans_cb)(void *arg, size_t n, const struct err *err);
/*
 * Remove the directories below ROOT of all pods that are not started on this host and for which
 * is_known(arg, uid) is false (NULL: all). Mounts are unmounted and never entered; a directory with
 * a mount that cannot be unmounted stays. One at a time: -EBUSY.
 */
int volume_orphans_start(struct volume_host *h, bool (*is_known)(void *arg, struct str uid),
                         volume_orphans_cb cb, void *arg, struct err *err);

/* ---- used bytes ---- */

struct volume_usage {
    struct str name;   /* of the volume, or the directory as given */
    bool is_ephemeral; /* counts as ephemeral storage of the pod: emptyDir on disk, configMap... */
    bool is_cut;       /* VOLUME_USAGE_ENTRIES_MAX was reached */
    uint64_t used_bytes; /* allocated blocks; files with several links count once */
    uint64_t inodes;
    uint64_t capacity_bytes, available_bytes, total_inodes, free_inodes; /* of the file system */
};
typedef void (*volume_usage_cb)(void *arg, const struct volume_usage *list, size_t n);
/*
 * Measure the pod's volumes that the agent made, followed by n other directories (logs, writable
 * layers). A directory that does not exist has zeros. dirs are copied.
 */
int volume_usage_start(struct volume_pod *p, const char *const *dirs, size_t n, volume_usage_cb cb,
                       void *arg, struct err *err);
