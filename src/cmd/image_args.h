/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of `dormouse image` share: options, and an image read into memory. */
#pragma once

#include "cmd/image_store.h"
#include "oci/source.h"
#include "oci/tree.h"

struct image_args {
    const char *platform, *symlink_parent, *output, *store;
    struct oci_remote_opts registry;
    /* Set by image_args_check(). */
    struct oci_platform wanted;
    enum oci_symlink_parent parent;
    bool is_json;
};

/* How registries are reached. */
#define IMAGE_REGISTRY_OPTS(registry)                                                              \
    { "plain-http",                                                                                \
      0,                                                                                           \
      NULL,                                                                                        \
      "reach registries without TLS (always so on loopback)",                                      \
      CMD_FLAG,                                                                                    \
      &(registry).plain_http,                                                                      \
      0,                                                                                           \
      0 },                                                                                         \
        { "allow-private",                                                                         \
          0,                                                                                       \
          NULL,                                                                                    \
          "follow redirects and token services of public registries to private addresses",         \
          CMD_FLAG,                                                                                \
          &(registry).allows_private,                                                              \
          0,                                                                                       \
          0 },                                                                                     \
        { "ca-file",  0,                                                                           \
          "FILE",     "trust these certificates (PEM) for registries as well",                     \
          CMD_STRING, &(registry).ca_file,                                                         \
          0,          0 },                                                                         \
    {                                                                                              \
        "timeout", 0, "DURATION", "end a connection after this time without data (30s)",           \
            CMD_DURATION, &(registry).stall_ms, 0, 0                                               \
    }

/* For what pulls a tag. */
#define IMAGE_ORIGINAL_OPT(wants_original)                                                         \
    {                                                                                              \
        "original", 0, NULL,                                                                       \
            "use the layers that a tag names, even if 'dormouse image refactor' attached others",  \
            CMD_FLAG, &(wants_original), 0, 0                                                      \
    }

#define IMAGE_ARGS_OPTS(args)                                                                      \
    IMAGE_STORE_OPT((args).store),                                                                 \
        { "platform", 0,                                                                           \
          "OS/ARCH",  "of an image for several platforms (this machine's)",                        \
          CMD_STRING, &(args).platform,                                                            \
          0,          0 },                                                                         \
        { "symlink-parent",                                                                        \
          0,                                                                                       \
          "HOW",                                                                                   \
          "refuse, shadow or follow: entries of a layer below a symbolic link (refuse)",           \
          CMD_STRING,                                                                              \
          &(args).symlink_parent,                                                                  \
          0,                                                                                       \
          0 },                                                                                     \
        IMAGE_REGISTRY_OPTS((args).registry), IMAGE_TEXT_OUTPUT_OPT((args).output)

#define IMAGE_SOURCE_HELP                                                                          \
    "An image outside of the store is named as skopeo names it: oci:DIR[:NAME] for an OCI image\n" \
    "layout, oci-archive:FILE[:NAME] for a tar of one, docker-archive:FILE[:NAME] for what\n"      \
    "`docker save` writes, docker://REFERENCE for one in a registry. NAME may be left out where\n" \
    "there is one image. Credentials are those of `docker login` and `podman login`.\n"
#define IMAGE_REFERENCE_HELP                                                                       \
    "IMAGE is a name in the store ('dormouse image ls'), or the beginning of a digest "            \
    "there.\n" IMAGE_SOURCE_HELP

/* 0, or the cmd_exit of a wrong option, with its message printed. */
int image_args_check(struct image_args *args);

/* An image in the store or outside of it; layers were not read. */
struct image_opened {
    struct oci_source *source; /* NULL: in the store */
    struct oci_store *store;   /* NULL: outside */
    struct arena documents;    /* of the store */
    struct oci_image image;
};

/* Errors: as image_load(). */
int image_open(const struct image_args *args, const char *reference, struct image_opened *ret,
               struct err *err);
/* Zeroed is fine. */
void image_opened_fini(struct image_opened *o);
static inline void image_opened_fini_scoped(struct image_opened *o)
{
    image_opened_fini(o);
}

/* Says that a refactored form could not be had: why, as on_original of oci_pull(). */
void image_warn_original(const char *why);
/* Whether a reference has no form of oci/source.h, so it is a name in the store. */
bool image_is_in_store(const char *reference);
/*
 * What a person types as a reference of oci/source.h: what has no form is a name in the store.
 * Given, free().
 */
char *image_reference(const char *store, const char *word);

/* An image with its layers and their merged view. */
struct image_loaded {
    struct image_opened from;
    struct oci_image image;
    struct oci_layer **layers; /* image.manifest.n_layers */
    struct oci_tree tree;
};

/*
 * Errors: those of oci_source_image(), oci_source_layer(), oci_tree_apply(), of the store's
 * functions of the same kind, with the reference.
 */
int image_load(const struct image_args *args, const char *reference, struct image_loaded *ret,
               struct err *err);
/* Zeroed is fine. */
void image_loaded_fini(struct image_loaded *l);

/* "12.3 MiB"; static storage, four in turn. */
const char *image_size_text(uint64_t bytes);
