/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The documents of an image: index, manifest and configuration, as OCI image-spec 1.1 and Docker's
 * image manifest version 2, schema 2 define them. Documents are untrusted: sizes and counts are
 * limited, unknown members are ignored.
 *
 * Results point into the given arena and into the text, which must outlive them.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/bind.h"
#include "codec/digest.h"

enum {
    OCI_DOCUMENT_MAX = 4 << 20, /* bytes of a document; registries have the same limit */
    OCI_LAYERS_MAX = 1024,
    OCI_MANIFESTS_MAX = 4096,   /* of an index */
    OCI_RUN_STRINGS_MAX = 4096, /* of each list of struct oci_run */
};

/* A digest in text: "sha256:" and 64 lower-case hexadecimal digits. */
struct oci_digest {
    uint8_t bytes[SHA256_BYTES];
};
enum { OCI_DIGEST_TEXT_SIZE = 7 + 64 + 1 }; /* with its NUL */

/* Errors: E_UNSUPPORTED for other algorithms, E_PARSE. */
int oci_digest_parse(struct str text, struct oci_digest *ret, struct err *err);
void oci_digest_format(const struct oci_digest *d, char ret[OCI_DIGEST_TEXT_SIZE]);
bool oci_digest_equal(const struct oci_digest *a, const struct oci_digest *b);
/* In tables (codec/bind.h): BIND_DIGEST("config", struct x, config). */
int oci_digest_bind(struct bind *b, const struct bind_field *f, const struct json *v, void *to);
struct json *oci_digest_bind_write(struct arena *a, const struct bind_field *f, const void *from);
#define BIND_DIGEST(key, type, member, ...)                                                        \
    BIND_CUSTOM(key, type, member, oci_digest_bind, .write = oci_digest_bind_write, ##__VA_ARGS__)

/* Receives the bytes of a blob piece by piece; a negative code ends it. */
typedef int (*oci_blob_sink)(void *arg, struct str bytes, struct err *err);

struct oci_platform {
    struct str os, architecture, variant; /* empty: not stated */
};

struct oci_descriptor {
    struct str media_type;
    struct oci_digest digest;
    uint64_t size;
    struct oci_platform platform;
    struct str ref_name; /* the annotation org.opencontainers.image.ref.name; empty: none */
    /* Of a layer with a table of contents (oci/chunked.h), from its annotations; empty: none. */
    struct str estargz_digest;
    struct str zstd_chunked_position, zstd_chunked_digest;
};

enum oci_document {
    OCI_DOCUMENT_INDEX, /* or Docker's manifest list */
    OCI_DOCUMENT_MANIFEST,
};

struct oci_index {
    const struct oci_descriptor *manifests;
    size_t n;
};

struct oci_manifest {
    struct oci_descriptor config;
    const struct oci_descriptor *layers; /* bottom first */
    size_t n_layers;
};

struct oci_strings {
    const struct str *p;
    size_t n;
};

/* The process of a container of the image (image-spec, config.md, members of `config`). Strings may
 * be any JSON string: the user of the struct checks what it needs of them. */
struct oci_run {
    struct oci_strings entrypoint, command; /* the program is the first of both together */
    struct oci_strings env;                 /* NAME=VALUE */
    struct str user, cwd, stop_signal;      /* empty: not stated */
};

struct oci_config {
    struct oci_platform platform;
    struct oci_run run;
    struct str created;                /* RFC 3339; empty: not stated */
    const struct oci_digest *diff_ids; /* bottom first */
    size_t n_diff_ids;
};

/* What a document is, by its mediaType, else by its members. Errors: E_PARSE, E_UNSUPPORTED. */
int oci_document_kind(struct arena *a, struct str text, enum oci_document *ret, struct err *err);
/* Errors of these: E_PARSE, E_UNSUPPORTED, E_LIMIT with the member in the text. */
int oci_index_parse(struct arena *a, struct str text, struct oci_index *ret, struct err *err);
int oci_manifest_parse(struct arena *a, struct str text, struct oci_manifest *ret, struct err *err);
int oci_config_parse(struct arena *a, struct str text, struct oci_config *ret, struct err *err);

/* The platform of this program: "linux" and the OCI name of its architecture. */
struct oci_platform oci_platform_here(void);
/* "linux/arm64/v8", "linux/amd64"; E_PARSE. Borrowed from `text`. */
int oci_platform_parse(struct str text, struct oci_platform *ret, struct err *err);
/* -ENOENT, with both platforms in the text, if the configuration has another system or
 * architecture. Empty ones and variants are not compared. */
int oci_platform_check(const struct oci_platform *wanted, const struct oci_config *config,
                       struct err *err);
/*
 * The manifest of an index that matches best: same system and architecture, then the same variant,
 * then the first. NULL: none matches.
 */
const struct oci_descriptor *oci_index_select(const struct oci_index *index,
                                              const struct oci_platform *wanted);
