/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls images in registries: which exist, which have moved, and which layers no image uses any
 * more. The state is a file, so that a program that is killed reports the remaining news at its
 * next start; news may therefore be reported twice.
 *
 * A registry is asked for tags, and for each tag by HEAD with its digest; manifests and
 * configurations are read only of images that moved. Blocking; one thread.
 */
#pragma once

#include "oci/source.h"

enum {
    IMAGE_WATCH_MAX = 4096,                      /* images */
    IMAGE_WATCH_LAYERS_MAX = 128,                /* of an image: engines run no more */
    IMAGE_WATCH_NOTES_MAX = 2 * IMAGE_WATCH_MAX, /* of the newest: more than groups can be */
    IMAGE_WATCH_CONNECTIONS_MAX = 32,            /* repositories, each with its connection */
    IMAGE_WATCH_STATE_MAX = 64 << 20,            /* bytes of the file */
};

struct image_watched {
    char *name;                /* "docker://HOST/REPOSITORY:TAG" */
    const char *family;        /* "HOST/REPOSITORY", in the name's repository */
    struct oci_digest digest;  /* of what the tag names */
    struct oci_digest *layers; /* of their blobs */
    /* 0: what the tag names is no image that could be read: a chart, a signature, an image for
     * other platforms. It is not read again before the tag moves. */
    size_t n_layers;
    /* When its layers could not be read, by image_watch_set_unreadable(); 0: not since the tag
     * moved. */
    int64_t unreadable_wall_s;
    bool has_moved; /* since the last look */
};

enum image_news_kind { IMAGE_NEWS_APPEARED, IMAGE_NEWS_MOVED, IMAGE_NEWS_GONE };

struct image_news {
    enum image_news_kind kind;
    const char *name;
    const struct oci_digest *old, *new; /* NULL: there is none */
    const struct oci_digest *dead;      /* layers that no watched image has any more */
    size_t n_dead;
};
/* Borrowed for the call. A negative code: it was not reported, and is repeated by the next look. */
typedef int (*image_news_fn)(void *arg, const struct image_news *news, struct err *err);

struct image_watch_opts {
    const char *const *names; /* "HOST/REPOSITORY" (all tags) or "HOST/REPOSITORY:TAG"; kept */
    size_t n_names;
    const char *registry_host;              /* all of its repositories as well; NULL: none; kept */
    const struct oci_remote_opts *registry; /* kept */
    const struct oci_platform *platform;    /* kept */
    const char *state_file;                 /* kept */
    image_news_fn news;
    void *news_arg; /* kept */
    /* Something that the next look may find mended: a registry that does not answer. */
    void (*trouble)(void *arg, const char *name, const struct err *err);
    /* The tag now names something that is not an image; reported once. NULL: not reported. */
    void (*ignored)(void *arg, const char *name, const struct err *err);
    bool (*must_stop)(void *arg); /* asked between two requests; NULL: never */
    void *arg;                    /* of all three */
};

struct image_watch;

/* Can these be `names` and `registry_host` (NULL: none)? Errors: those of oci_reference_parse();
 * E_INVALID. */
int image_watch_check_names(const char *const *names, size_t n, const char *registry_host,
                            struct err *err);
/* Errors: those of reading the state; a damaged one is E_CORRUPT. */
int image_watch_open(const struct image_watch_opts *opts, struct image_watch **ret,
                     struct err *err);
void image_watch_close(struct image_watch *w);
DEFINE_SCOPED(image_watch, image_watch_close)

/*
 * Ask the registries and report the news, then store the state. Returns how many images moved,
 * appeared or were removed. An image whose registry fails stays as it was, and so do all images of
 * a host that cannot be reached, which is tried once, or that does not answer three times in a row.
 * Repositories with tags beyond IMAGE_WATCH_MAX are trouble. Errors: E_LIMIT (more images are
 * named), -ECANCELED (must_stop; nothing has changed), of writing the state.
 */
int image_watch_look(struct image_watch *w, struct err *err);
/* Sorted by name; borrowed until the next look. */
const struct image_watched *image_watch_images(const struct image_watch *w, size_t *ret_n);

/*
 * The layers of these images could not be read at that time; 0: they can be read. Names that are
 * not watched are passed over. The images of image_watch_images() change, and the state is kept.
 */
int image_watch_set_unreadable(struct image_watch *w, const char *const *names, size_t n,
                               int64_t wall_s, struct err *err);

/* Short texts that live with the state, such as which groups were done. "" forgets. */
const char *image_watch_note(const struct image_watch *w, const char *key);
int image_watch_set_note(struct image_watch *w, const char *key, const char *text, struct err *err);
