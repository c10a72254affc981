/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of a watch, on its way from the source to the subscriptions.
 *
 * The head (type, namespace, name, resourceVersion) is known without parsing the object: in process
 * the API server passes it along with the bytes, from the key in the store; over HTTP it is scanned
 * out of the line. The object is parsed when the first subscriber looks inside, and the tree is
 * shared with all later ones; an event that no subscriber looks into is never parsed.
 *
 * Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct json;

enum {
    WATCH_LINE_MAX_BYTES = 8 << 20 /* one event; a longer one breaks the stream */
};

enum watch_event_type {
    WATCH_EVENT_ADDED,
    WATCH_EVENT_MODIFIED,
    WATCH_EVENT_DELETED,
    WATCH_EVENT_BOOKMARK,
    WATCH_EVENT_ERROR
};

/* The object's tree, once a subscriber has asked for it. All zero: not parsed yet. */
struct watch_tree {
    struct arena arena;
    struct json *object;
    bool is_read; /* parsed: object is the result; NULL: it does not parse */
};

/* All strings are borrowed for the call that hands the event over. */
struct watch_event {
    enum watch_event_type type;
    struct str namespace, name; /* of the object; "" where it has none, as in a bookmark */
    uint64_t rv;             /* resourceVersion; of a DELETED event that of the deletion; 0: none */
    bool ends_initial;       /* a bookmark: the initial state of the watch is complete */
    int code;                /* ERROR: of its Status; 0: the Status has none */
    struct str line;         /* {"type":...,"object":...}, no newline */
    struct str object;       /* the object's part of the line */
    struct watch_tree *tree; /* NULL: the event comes from a source, which never parses */
};

/*
 * Scans the head out of a line. ret->tree is NULL. Text with escapes is decoded into the arena.
 * E_PARSE: the line is not an event. Only the structure of the object is checked: errors inside it
 * show when it is parsed.
 */
int watch_event_scan(struct arena *a, struct str line, struct watch_event *ret, struct err *err);

/*
 * Reads the parts of a list page (a List) outside its items, without building a tree. E_PARSE: it
 * is not a List, or has no resourceVersion.
 */
struct watch_page {
    uint64_t rv;
    struct str continue_token; /* "" at the end; borrowed from the page or the arena */
};
int watch_page_scan(struct arena *a, struct str page, struct watch_page *ret, struct err *err);

/*
 * The tree of the event's object, parsed by the first call. Borrowed as long as the event. NULL: it
 * does not parse. Not for events that come straight from a source.
 */
const struct json *watch_event_object(const struct watch_event *ev);
void watch_tree_fini(struct watch_tree *t);

/* ---- lines of a stream ---- */

/* Splits a stream of chunks into lines. Embedded by its user. */
struct watch_lines {
    struct buf partial; /* the line that is not complete yet */
    bool handed_out;    /* partial is the line that watch_lines_next() returned last */
};

void watch_lines_init(struct watch_lines *l);
void watch_lines_reset(struct watch_lines *l); /* frees the memory */
/*
 * Takes the next line out of *rest, trimmed; blank lines are skipped. Returns 1: *ret is a line,
 * borrowed until the next call; 0: there is no complete line, and the remainder is stored;
 * -EMSGSIZE: the line is longer than WATCH_LINE_MAX_BYTES.
 */
int watch_lines_next(struct watch_lines *l, struct str *rest, struct str *ret);
