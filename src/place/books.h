/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capacity books: what each node has, and how much of it is promised.
 *
 * A decision reserves, a deletion or failure releases; nothing here is measured use. Nodes are
 * small stable indices. An index may be reused after its node was removed; it then has another
 * epoch, so that a late release for the old node changes nothing. Pure: no clock, no I/O, no
 * thread.
 *
 * Node labels and taints are interned pairs of words: enough for node selectors and tolerations.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdint.h>

enum place_resource {
    PLACE_CPU_MILLI,
    PLACE_MEMORY_BYTES,
    PLACE_STORAGE_BYTES,
    PLACE_SANDBOXES, /* Kubernetes calls it pods */
    PLACE_FIRST_EXTENDED,
    PLACE_RESOURCES = 12
};

enum {
    PLACE_NODES_MAX = 65535,  /* a sandbox's record has 16 bits for its node */
    PLACE_LABELS_MAX = 256,   /* of one node */
    PLACE_TAINTS_MAX = 64,    /* of one node */
    PLACE_WORDS_MAX = 1 << 20 /* distinct keys and values in one book */
};

struct place_amounts {
    int64_t at[PLACE_RESOURCES];
};

enum place_taint_effect { PLACE_NO_SCHEDULE, PLACE_PREFER_NO_SCHEDULE, PLACE_NO_EXECUTE };

struct place_label {
    uint32_t key, value; /* words of the books */
};
struct place_taint {
    uint32_t key, value;
    enum place_taint_effect effect;
};

/* How full a node is, by its sandboxes and its CPU: Hermod's order of preference. */
enum place_class { PLACE_EMPTY, PLACE_BUSY, PLACE_FULL, PLACE_CLASSES };

/* What filters and scores see of a node; changed through the functions below only. */
struct place_node {
    struct place_amounts capacity, used;
    /* Load in thousandths of a core, as last reported; ch-rlu adds to it between two reports. */
    int64_t load_milli;
    uint32_t sandboxes; /* reservations */
    uint64_t key;       /* ch-rlu: its position on the ring */
    uint32_t epoch;     /* changes when the index gets another node */
    bool present, schedulable;
    enum place_class class;
    uint32_t candidate_at, class_at; /* its positions in the lists of the books */
    struct place_label *labels;
    struct place_taint *taints;
    uint16_t n_labels, n_taints;
};

struct place_books;
struct place_books *place_books_new(void);
void place_books_free(struct place_books *b);
DEFINE_SCOPED(place_books, place_books_free)

/* ---- nodes ---- */

/* Returns its index. Errors: E_LIMIT. */
int place_node_add(struct place_books *b, const struct place_amounts *capacity, struct err *err);
/* Drops all reservations on the node. */
void place_node_remove(struct place_books *b, uint32_t node);
/* An unschedulable node keeps its reservations and gets no new ones. New nodes are schedulable. */
void place_node_set_schedulable(struct place_books *b, uint32_t node, bool schedulable);
void place_node_set_capacity(struct place_books *b, uint32_t node,
                             const struct place_amounts *capacity);
/*
 * key: a hash of the node's name, so that the ring is the same after a restart. The default is a
 * hash of the index.
 */
void place_node_set_key(struct place_books *b, uint32_t node, uint64_t key);
/* As measured by the node; replaces the load assumed since the last report. */
void place_node_set_load(struct place_books *b, uint32_t node, int64_t load_milli);
/* Replaces the value if the node already has the label. Errors: E_LIMIT. */
int place_node_label(struct place_books *b, uint32_t node, struct str key, struct str value,
                     struct err *err);
int place_node_taint(struct place_books *b, uint32_t node, struct str key, struct str value,
                     enum place_taint_effect effect, struct err *err);
/* Removes all labels and taints. */
void place_node_strip(struct place_books *b, uint32_t node);

/* Borrowed until the next node is added; NULL: no such node. */
const struct place_node *place_node(const struct place_books *b, uint32_t node);
uint32_t place_n_nodes(const struct place_books *b);      /* present */
uint32_t place_n_candidates(const struct place_books *b); /* present and schedulable */
/* The index of candidate i < place_n_candidates(); the order changes with every change of nodes. */
uint32_t place_candidate(const struct place_books *b, uint32_t i);
uint32_t place_n_class(const struct place_books *b, enum place_class class); /* candidates */
uint32_t place_class_member(const struct place_books *b, enum place_class class, uint32_t i);
/* All indices in use are below it. */
uint32_t place_end(const struct place_books *b);
/* Grows when a node is added or removed, or when its schedulability changes. */
uint64_t place_generation(const struct place_books *b);

/* ---- words ---- */

/* The index of an extended resource, assigned at its first use. Errors: E_LIMIT. */
int place_resource(struct place_books *b, struct str name, struct err *err);
/* The word's number, assigned at its first use. Errors: E_LIMIT. */
int place_word(struct place_books *b, struct str word, struct err *err);
/* As place_word(), except -ENOENT for a word that no node or constraint has used. */
int place_find_word(const struct place_books *b, struct str word);

/* ---- reservations ---- */

/*
 * Does not check whether it fits: recovered sandboxes exist already, even if they exceed the
 * capacity.
 */
void place_reserve(struct place_books *b, uint32_t node, const struct place_amounts *need);
/*
 * need: as it was reserved. epoch: the node's epoch at that time. Returns false if that node was
 * removed; nothing has changed then.
 */
bool place_release(struct place_books *b, uint32_t node, uint32_t epoch,
                   const struct place_amounts *need);

/* ---- where things are ---- */

/*
 * Nodes with a count for each, for example the nodes of an image or the sandboxes of a function.
 * Zeroed is empty.
 */
struct place_tally {
    struct place_tally_entry {
        uint32_t node, n;
    } * p; /* by node */
    uint32_t n, cap;
    uint64_t total;
};
void place_tally_fini(struct place_tally *t);
void place_tally_add(struct place_tally *t, uint32_t node, uint32_t n);
/* Subtracts at most the current count. */
void place_tally_sub(struct place_tally *t, uint32_t node, uint32_t n);
void place_tally_forget(struct place_tally *t, uint32_t node);
uint32_t place_tally_of(const struct place_tally *t, uint32_t node); /* NULL is empty */
