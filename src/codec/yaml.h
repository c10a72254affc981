/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML <-> struct json, read as Kubernetes reads it (sigs.k8s.io/yaml, which resolves plain scalars
 * by YAML 1.1): y/yes/on are true, 0644 and 0o644 are 420, 1_000 is 1000, a timestamp is a string,
 * keys become strings, "<<" merges, the last of repeated keys wins.
 *
 * Anchors work within their document; every alias is a copy, and copies are limited. Values that
 * JSON cannot hold (.nan, .inf, mappings or lists as keys) are errors. Any thread; an arena by one
 * at a time.
 */
#pragma once

#include "codec/json.h"

enum {
    YAML_MAX_BYTES = 16 << 20,      /* of one stream; libyaml reads some 20 MB/s */
    YAML_MAX_DOCUMENTS = 10000,     /* in one stream */
    YAML_MAX_ANCHORS = 256,         /* in one document; each alias searches them */
    YAML_MAX_COPIED_NODES = 100000, /* made by all aliases and merges of a stream */
    /*
     * libyaml examines every open '[' and '{' for each token: this many examinations, some 0.4 s. A
     * list of numbers that fills YAML_MAX_BYTES passes at depth 6.
     */
    YAML_MAX_FLOW_WORK = 50000000,
};

/*
 * Positions of values in the text, for messages about them. Zero-initialised is valid. Nodes that
 * are members have the position of their key, copies that of the alias.
 */
struct yaml_mark {
    const struct json *node;
    unsigned line, column; /* from 1 */
};
struct yaml_marks {
    struct yaml_mark *p;
    size_t n, cap;
};
void yaml_marks_fini(struct yaml_marks *m);
/* NULL when not recorded. Borrowed until the next parse into m. Linear search, for error paths. */
const struct yaml_mark *yaml_find_mark(const struct yaml_marks *m, const struct json *node);
/* As err_set() with "line 3, column 5: " in front if the position of `node` is known. */
int yaml_err(struct err *err, int code, const struct yaml_marks *m, const struct json *node,
             const char *fmt, ...) __attribute__((format(printf, 5, 6)));

struct yaml_opts {
    unsigned max_depth; /* 0: JSON_MAX_DEPTH */
    /* Called for each repeated key, also for one that overrides a merged key; may be NULL. */
    void (*on_duplicate)(void *arg, struct str path);
    /* As on_duplicate, with the key's line, from 1; replaces it. Needs `marks`. */
    void (*on_repeated)(void *arg, struct str key, unsigned line);
    void *arg;
    bool first_only;          /* yaml_parse(): take the first of several documents */
    struct yaml_marks *marks; /* receives positions; may be NULL */
};

/*
 * Exactly one document; an empty text is null. Nothing of the tree is borrowed from `text`.
 * opts may be NULL. Errors: E_PARSE with line and column, E_LIMIT (the limits above), -EMSGSIZE
 * (text over YAML_MAX_BYTES, or the arena's limit).
 */
int yaml_parse(struct arena *a, struct str text, const struct yaml_opts *opts, struct json **ret,
               struct err *err);
/* All documents, as an array; empty ones are null. */
int yaml_parse_all(struct arena *a, struct str text, const struct yaml_opts *opts,
                   struct json **ret, struct err *err);

/*
 * Append as a block, the way kubectl prints: two blanks of indentation, lists not indented in
 * mappings, quotes only where needed, literal blocks for text of several lines; ends with a line
 * feed. Long lines are not folded. sorted: members by key. Failure is sticky in the buffer.
 */
int yaml_write(struct buf *to, const struct json *v, bool sorted);
