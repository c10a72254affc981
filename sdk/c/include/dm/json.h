/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON without a tree.
 *
 * A value is a slice of text that has been checked once; looking a member up scans the slice.
 * Objects of a few kilobytes are cheaper to scan a few times than to turn into nodes that dirty
 * memory, and what an operator does not understand goes through it byte by byte unchanged.
 *
 * Slices are borrowed from the text they were parsed from.
 */
#pragma once

#include "dm/mem.h"
#include "dm/text.h"

#include <stdbool.h>
#include <stdint.h>

#define DM_JSON_DEPTH_MAX 64 /* deeper text is refused; Kubernetes objects stay below 40 */

/* One value without surrounding space. p == NULL: there is no such value. */
struct dm_json {
    const char *p;
    size_t n;
};

enum dm_json_kind {
    DM_JSON_NONE,
    DM_JSON_NULL,
    DM_JSON_BOOL,
    DM_JSON_NUMBER,
    DM_JSON_STRING,
    DM_JSON_ARRAY,
    DM_JSON_OBJECT
};

/*
 * Check that [p, p + n) is one JSON value (RFC 8259) with nothing but space around it.
 * Returns no value when it is not. Every other function here expects values that came from this
 * one.
 */
struct dm_json dm_json_parse(const char *p, size_t n);

enum dm_json_kind dm_json_kind(struct dm_json v);
bool dm_json_has(struct dm_json v); /* there is a value, and it is not null */

/* The member of an object; no value for anything else. With equal keys the first counts. */
struct dm_json dm_json_member(struct dm_json obj, const char *key);

/* A path of members, "metadata.name". Keys that contain dots need dm_json_member(). */
struct dm_json dm_json_at(struct dm_json v, const char *path);

/* Walk the elements of an array or the members of an object. */
struct dm_json_iter {
    const char *at, *end;
    bool object;
    struct dm_json key; /* a string, objects only */
    struct dm_json value;
};
struct dm_json_iter dm_json_iter(struct dm_json v);
bool dm_json_next(struct dm_json_iter *it);

/* Strings. A borrowed view exists only for strings without escapes; most have none. */
bool dm_json_is(struct dm_json v, const char *text); /* v is a string equal to text */
bool dm_json_is_str(struct dm_json v, struct dm_str text);
struct dm_str dm_json_plain(
    struct dm_json v); /* the text between the quotes as it stands; "" for no string */
void dm_json_decode(struct dm_json v, struct dm_text *out);       /* appends the unescaped string */
const char *dm_json_string(struct dm_json v, struct dm_arena *a); /* "" for no string */

/* The same value: members in any order, strings however they are escaped, numbers as they are
 * written. */
bool dm_json_equal(struct dm_json a, struct dm_json b);

int64_t dm_json_int(struct dm_json v, int64_t otherwise);
bool dm_json_true(struct dm_json v);

/* Writing: commas are put where they are needed. Keys are plain text without escapes. */
void dm_jw_open(struct dm_text *t, char bracket);  /* '{' or '[' */
void dm_jw_close(struct dm_text *t, char bracket); /* '}' or ']' */
void dm_jw_key(struct dm_text *t, const char *key);
void dm_jw_str(struct dm_text *t, const char *s);
void dm_jw_text(struct dm_text *t, struct dm_str s);
void dm_jw_int(struct dm_text *t, int64_t v);
void dm_jw_bool(struct dm_text *t, bool v);
void dm_jw_raw(struct dm_text *t, struct dm_json v); /* no value is written as null */

/* Key and value in one call. */
void dm_jw_kstr(struct dm_text *t, const char *key, const char *s);
void dm_jw_kint(struct dm_text *t, const char *key, int64_t v);
void dm_jw_kraw(struct dm_text *t, const char *key, struct dm_json v);

/*
 * A whole value from a template: ' stands for ", %s and %.*s become strings in quotes, %p copies
 * the struct dm_json that it points to (no value: null), and the integer conversions of dm_textf()
 * work.
 *
 *     dm_jsonf(t, "{'metadata':{'name':%s,'labels':%p},'data':{'n':'%d'}}", name, &labels, n);
 */
void dm_jsonf(struct dm_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Copy an object with some members changed.
 *
 * Each edit names members from the outside in, NULL-terminated ({"metadata", "labels", "a.b/c"}),
 * and the new value as JSON text; a NULL text removes. Objects on the way are made when missing.
 */
#define DM_EDIT_DEPTH 4
struct dm_edit {
    const char *path[DM_EDIT_DEPTH + 1];
    const char *json;
};
void dm_json_edit(struct dm_json obj, const struct dm_edit *edits, size_t n_edits,
                  struct dm_text *out);
