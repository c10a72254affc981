/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounted root file system of an image. The files of the mount are in a state directory:
 *
 *     tarfs:   0.tar 0.sparse 1.tar ...  meta.erofs  lower/   the tars, and their directories
 *     stored:  store  lower/                                  path of the node store that has them
 *              layers                                         DiffIDs of those mounted one by one
 *     dirs:    fs/                                            the merged root file system
 *     linked:  store  fs/                                     the same, its files links
 *     lazy:    meta.erofs  lower/  data/                      image/lazy_root.h
 *              store                                          once the image is there
 *     all:     upper/ work/                                   what was written to the mount
 *
 * "stored" has a lease on the image, named after the path of the state directory, from before the
 * mount until root_umount(), or until the next boot. If another process has the store open and
 * accepts jobs (image/store_control.h), it creates and drops the lease.
 *
 * Blocking calls, for commands and worker threads.
 */
#pragma once

#include "image/stored.h"
#include "image/unpack.h"

enum root_sink {
    ROOT_SINK_BEST,   /* tarfs where the kernel can */
    ROOT_SINK_TARFS,  /* tars, with their directories in an EROFS image; needs Linux 6.12 */
    ROOT_SINK_DIRS,   /* files */
    ROOT_SINK_LAYERS, /* tarfs or cas, each layer mounted once for all images; from the store */
    ROOT_SINK_CAS,    /* objects of the node store, which images share; needs Linux 6.5 and tarfs */
};

struct root_opts {
    struct unpack_opts unpack;
    enum root_sink sink;
    bool is_writable; /* what is written is lost with the state */
    bool has_suid;    /* as in struct mount_opts */
};

/*
 * Write what the mount needs into the directory `state`, which must not exist, and mount it at
 * `target`, an existing directory. *ret: what was used; layers and cas are
 * E_UNSUPPORTED here. On error nothing is mounted, and `state`
 * does not exist. Errors: those of unpack_image(), of mount.h; -EBUSY, something is mounted there.
 */
int root_mount(const struct unpack_from *from, const char *state, const char *target,
               const struct root_opts *opts, enum root_sink *ret, struct err *err);
/*
 * The same from the tars or the objects of the node store, without a copy; `state` must not exist:
 * root_clear() before the store is opened. stored->store writes. opts->sink: layers, or anything
 * else for what the store has (stored.h), merged. Errors: those of stored.h, after
 * which nothing has changed; E_UNSUPPORTED is not one of the image: root_mount() can mount it.
 */
int root_mount_stored(const struct stored *stored, const char *state, const char *target,
                      const struct root_opts *opts, struct err *err);
/*
 * The same while another process writes the store, and takes jobs. root_claim() makes `state`,
 * which must not exist, with the root of the store; then that process is asked to prepare the image
 * and to lease it as *ret_lease (given, free()), a job "mount" (image/store_job.h); then
 * root_mount_claimed(), where stored->store may be a reader, and the sink is not layers. After an
 * error of these the caller clears the state: root_umount(). Errors: of writing; those of
 * stored_mount().
 */
int root_claim(const char *store_root, const char *state, char **ret_lease, struct err *err);
/* Instead, where there is certainly no lease: remove the state. */
void root_unclaim(const char *state);
int root_mount_claimed(const struct stored *stored, const char *state, const char *target,
                       const struct root_opts *opts, struct err *err);
/*
 * The same with files (dirs) from the node store, hard links where other mounts have them
 * (linked_dir.h). Errors: as root_mount_stored(), those of linked_dir_write().
 */
int root_mount_linked(const struct stored *stored, const char *state, const char *target,
                      const struct root_opts *opts, struct err *err);
/* The last step of these: an overlay at `target` over a directory whose files have their content in
 * another one (struct mount_overlay). Errors: those of mount_overlay(). */
int root_mount_over(const char *state, int lower_fd, int data_fd, const char *target,
                    const struct root_opts *opts, struct err *err);
/*
 * An image that was mounted from elsewhere, and is in the store by now, stays there until
 * root_umount(). Errors: of writing; those of oci_store_lease().
 */
int root_lease(struct oci_store *store, const struct oci_digest *manifest, const char *state,
               struct err *err);
/* The same if another process creates the lease, with the id *ret_lease: given, free(). */
int root_lease_as(const char *store_root, const char *state, char **ret_lease, struct err *err);
/*
 * Unmount and remove the state and its lease; also what a killed root_mount() left. lock_ms: how
 * long to wait for another process that writes the store, and takes no jobs; after it, links that
 * no mount has any more are left to gc. Errors: -ENOENT (no state), -EBUSY (something uses it, or
 * the store, and it has a lease: nothing is changed; of layers that are mounted one by one also
 * where that process takes jobs); those of store_do(), after which nothing is mounted, and the
 * state is left for another attempt.
 */
int root_umount(const char *state, const char *target, uint64_t lock_ms, struct err *err);
/* Remove what a killed process left, if nothing is mounted there. Errors: -EBUSY. */
int root_clear(const char *state, const char *target, uint64_t lock_ms, struct err *err);
