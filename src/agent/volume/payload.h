/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a configMap, secret, downwardAPI or projected volume. Pure, any thread.
 */
#pragma once

#include "agent/pod/env.h"
#include "agent/volume/writer.h"

struct volume_payload_input {
    const struct pod_spec *pod;
    const struct pod_facts *facts;
    const struct pod_objects *objects;
    /* The token of source `i`, as a file; an empty text if there is none yet. */
    struct str (*token)(void *arg, size_t i);
    void *arg;
};

struct volume_files {
    struct volume_file *p; /* in the arena, with all bytes; sorted by path, each path once */
    size_t n;
    bool lacks_token; /* a source has none yet: the files are not complete */
};

/*
 * A later source replaces files of an earlier one, as upstream. Modes are those of the items, else
 * of the volume; tokens have 0600 and the user of the containers if they all have the same one, or
 * if the pod has an fsGroup.
 * Errors, with upstream's texts: -ENOENT for an object or key that is missing and not optional,
 * E_INVALID, E_LIMIT, E_UNSUPPORTED for sources that the agent does not have.
 */
int volume_files_make(struct arena *a, const struct volume_payload_input *in,
                      const struct pod_volume *v, struct volume_files *ret, struct err *err);

/* The user of all containers; -1: not stated, or not the same. */
int64_t volume_payload_user(const struct pod_spec *p);
