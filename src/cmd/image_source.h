/* SPDX-License-Identifier: Apache-2.0 */
/* An image outside of the store that a command names, for a process that is to pull it. */
#pragma once

#include "image/store_job.h"
#include "oci/source.h"

/* It is no image of a registry, but of a layout or an archive. */
bool image_source_is_file(struct str source);
/*
 * Where the image is and how it is reached: the source with absolute paths, and the credentials of
 * this user. The other members of `to` stay. *ret_alone: set where no other process can read it, to
 * the reason, as in struct store_do. Texts are the arena's. Errors: those of oci_login_find(), of
 * the working directory.
 */
int image_source_pull(const char *word, const struct oci_remote_opts *registry, struct arena *a,
                      struct store_job_pull *to, const char **ret_alone, struct err *err);
