/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON to struct and back by a table of fields.
 *
 *     static const struct bind_field login_fields[] = {
 *         BIND_STR("user", struct login, user, .max = 256, .flags = BIND_REQUIRED),
 *         BIND_UINT("port", struct login, port, .min = 1, .max = 65535),
 *         BIND_BOOL("tls", struct login, is_tls),
 *         BIND_STRS("hosts", struct login, hosts, n_hosts, HOSTS_MAX),
 *     };
 *     static const struct bind_table login_table = BIND_TABLE(login_fields);
 *
 *     struct login l = { .port = 443 }; the values are the defaults
 *     struct bind b = { .arena = a, .err = err };
 *     int r = bind_read(&b, &login_table, v, &l);  "hosts[2]: must be a string"
 *     struct json *again = bind_write(a, &login_table, &l);
 *
 * Reading is one pass over the members of each object, in their order; the search for a member
 * starts after the field of the previous one, so that a document in the order of the table compares
 * one name per member. A missing member leaves its field unchanged. Fields with BIND_LATER follow,
 * in the order of the table, then the table's check. Macros check the types of the struct's
 * members.
 *
 * Numbers are those that int64_t holds. Strings are views of the document, or copies in the arena
 * with BIND_COPIES; arrays and pointers always live in the arena. The table has a limit for
 * everything whose size the document decides; every array has one. Recursion is bounded by the
 * tables and by JSON_MAX_DEPTH.
 *
 * Pure, any thread. docs/decisions/json-binding.md lists the JSON that is not read with this
 * module, and why.
 */
#pragma once

#include "codec/fpath.h"
#include "codec/json.h"

struct bind;
struct bind_field;
struct bind_table;

enum {
    BIND_FIELDS_MAX = 64,     /* of a table */
    BIND_PATH_MAX_BYTES = 200 /* of a path in a message, with its NUL; longer ones are cut */
};

/* Read v into the field at `to`; b->at is its path. Returns 0, or the result of bind_fail(). */
typedef int (*bind_read_fn)(struct bind *b, const struct bind_field *f, const struct json *v,
                            void *to);
/* Returns a new node in the arena, or NULL to leave the member out. */
typedef struct json *(*bind_write_fn)(struct arena *a, const struct bind_field *f,
                                      const void *from);
/* Check a value beyond the rules of its kind; `at` was read from v. Returns 0, or the result of
 * bind_fail(). */
typedef int (*bind_check_fn)(struct bind *b, const struct json *v, void *at);

enum bind_kind {
    BIND_KIND_BOOL,
    BIND_KIND_INT,     /* int8_t to int64_t */
    BIND_KIND_UINT,    /* uint8_t to uint64_t */
    BIND_KIND_FLOAT,   /* double; finite */
    BIND_KIND_STR,     /* struct str, no NUL in it */
    BIND_KIND_ENUM,    /* by `names`; unsigned of any size */
    BIND_KIND_JSON,    /* const struct json *: any value, of the document */
    BIND_KIND_OBJECT,  /* a struct in the struct, or more fields of the same one */
    BIND_KIND_POINTER, /* to a struct in the arena */
    BIND_KIND_ARRAY,   /* pointer and number of elements; BIND_FIXED: an array in the struct */
    BIND_KIND_MAP,     /* as ARRAY, of an object: each element holds its key */
    BIND_KIND_CUSTOM,  /* by `read` and `write` */
};

enum bind_flag {
    BIND_REQUIRED = 1 << 0,
    BIND_LATER = 1 << 1,  /* read after all others */
    BIND_LAX = 1 << 2,    /* a value of the wrong kind counts as missing */
    BIND_FIXED = 1 << 3,  /* of an array: its elements are in the struct, `max` of them */
    BIND_ALWAYS = 1 << 4, /* written even if it is empty or equal to the preset */
    BIND_NEVER = 1 << 5,  /* not written */
};

/* Made by the macros below, whose `...` takes .min, .max, .flags, .check, .has_at. */
struct bind_field {
    struct str name;
    enum bind_kind kind;
    uint16_t flags;    /* enum bind_flag */
    uint8_t size;      /* of the member: numbers, enums */
    uint8_t n_size;    /* of the member with the number of elements */
    uint32_t at, n_at; /* offsets of the members in the struct */
    uint32_t has_at;   /* BIND_HAS(): of the bool that is set if the member was present; 0: none */
    uint32_t stride;   /* of elements */
    uint32_t key_at;   /* of a map: offset in an element of the struct str for its key */
    /* Numbers: bounds; max 0: all that the member can hold. Strings: bytes; max 0: no limit.
     * Arrays: the maximum of elements. */
    int64_t min, max;
    const char *const *names; /* of an enum, by value; NULL: has none */
    size_t n_names;
    const struct bind_table *of;   /* of objects, also those of an array without `item` */
    const struct bind_field *item; /* kind of the elements, without name and offset */
    bind_read_fn read;
    bind_write_fn write; /* NULL: not written */
    bind_check_fn check; /* after it was read; NULL: none */
};

struct bind_table {
    const struct bind_field *fields;
    size_t n;
    size_t size; /* of elements and of what pointers point to */
    /* The initial value of those; NULL: zero bytes. For bind_read() the caller initialises the
     * struct. */
    const void *preset;
    bind_check_fn check; /* of the whole object; NULL: none */
};

/* What is wrong with a document. The text of a problem is the message without the path. */
enum bind_fault {
    BIND_WRONG_TYPE,
    BIND_OUT_OF_RANGE,
    BIND_EMPTY,    /* a string */
    BIND_TOO_LONG, /* a string; E_LIMIT */
    BIND_HAS_NUL,
    BIND_NO_SUCH_NAME, /* of an enum */
    BIND_TOO_MANY,     /* elements; E_LIMIT */
    BIND_UNKNOWN,      /* a member; with BIND_STRICT */
    BIND_MISSING,
    BIND_FAILED, /* bind_fail() */
};
struct bind_problem {
    enum bind_fault fault;
    int code;                       /* E_INVALID unless stated */
    const struct bind_field *field; /* NULL: of an unknown member */
    const struct json *value;       /* NULL: it is missing */
    const char *text;               /* "must be from 1 to 65535"; valid for the call */
};

enum bind_mode {
    BIND_STRICT = 1 << 0,    /* refuse members that a table does not have */
    BIND_COPIES = 1 << 1,    /* strings are copied into the arena */
    BIND_NULL_NONE = 1 << 2, /* null counts as missing, as in Go */
};

/* One document while it is read; set by the caller before bind_read(). */
struct bind {
    struct arena *arena;
    struct err *err;
    unsigned mode;          /* enum bind_mode */
    const struct fpath *at; /* the current place; initially the prefix of all paths, or NULL */
    const char *root;       /* the path that messages show for the root; NULL: none */
    const char *between;    /* separates path and text; NULL: ": " */
    /*
     * The caller's wording and policy. Returns a negative code to end the reading, or 0 to treat
     * the value as missing and continue. NULL: bind_report().
     */
    int (*report)(struct bind *b, const struct bind_problem *p);
    void *arg; /* the caller's */
};

/*
 * Fill *to, a struct of the table. Its contents are unspecified after an error.
 * Errors: E_INVALID and E_LIMIT with the path, or what b->report() and checks returned.
 */
int bind_read(struct bind *b, const struct bind_table *t, const struct json *v, void *to);
/* A fast version for tables with only BIND_JSON: it cannot fail. If v is not an object, no member
 * is set. */
void bind_pick(const struct bind_table *t, const struct json *v, void *to);
/* Read one value by a field whose offset and name are ignored: `to` is the member itself. */
int bind_read_value(struct bind *b, const struct bind_field *f, const struct json *v, void *to);

/* "PATH: TEXT"; BIND_FAIL() with E_INVALID. For checks and readers, which return the result. */
int bind_fail(struct bind *b, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a member of the object at which b is. */
int bind_fail_in(struct bind *b, const char *member, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define BIND_FAIL(b, ...) bind_fail((b), E_INVALID, __VA_ARGS__)
/* The default for b->report: sets b->err. */
int bind_report(struct bind *b, const struct bind_problem *p);
/* b->at as text: names cut at 80 bytes, control characters as '?'; "": the root. */
void bind_path(const struct bind *b, char ret[BIND_PATH_MAX_BYTES]);

/*
 * A new object in the arena. It omits empty lists and objects, NULL, and numbers, strings and
 * booleans that are equal to the preset (zero bytes if there is no preset).
 */
struct json *bind_write(struct arena *a, const struct bind_table *t, const void *from);
/* The same into an object that has none of the table's members. */
void bind_write_into(struct arena *a, const struct bind_table *t, const void *from,
                     struct json *to);

/* ---- tables: "name", the struct, its member, then further settings ---- */

#define BIND_TABLE(list, ...)                                                                      \
    {                                                                                              \
        .fields = (list), .n = sizeof(list) / sizeof((list)[0]), ##__VA_ARGS__                     \
    }
/* For .has_at. */
#define BIND_HAS(type, member) (offsetof(type, member) + BIND_IS_(type, member, bool) + 1)

#define BIND_MEMBER_(type, member) (((type *)0)->member)
#define BIND_TYPE_(type, member, of)                                                               \
    __builtin_types_compatible_p(__typeof__(BIND_MEMBER_(type, member)), of)
/* 0, or a compile error if the member has another type. */
#define BIND_TRUE_(what)           (0 * sizeof(char[(what) ? 1 : -1]))
#define BIND_IS_(type, member, of) BIND_TRUE_(BIND_TYPE_(type, member, of))
#define BIND_SIGNED_(type, member)                                                                 \
    (BIND_TYPE_(type, member, int8_t) || BIND_TYPE_(type, member, int16_t) ||                      \
     BIND_TYPE_(type, member, int32_t) || BIND_TYPE_(type, member, int64_t))
#define BIND_UNSIGNED_(type, member)                                                               \
    (BIND_TYPE_(type, member, uint8_t) || BIND_TYPE_(type, member, uint16_t) ||                    \
     BIND_TYPE_(type, member, uint32_t) || BIND_TYPE_(type, member, uint64_t))
#define BIND_FIELD_(key, of, type, member, ...)                                                    \
    {                                                                                              \
        .name = { "" key, sizeof(key) - 1 }, .kind = BIND_KIND_##of, .at = offsetof(type, member), \
        ##__VA_ARGS__                                                                              \
    }
#define BIND_COUNT_(type, member, n)                                                               \
    .n_at = offsetof(type, n) + BIND_TRUE_(BIND_UNSIGNED_(type, n)),                               \
    .n_size = sizeof(BIND_MEMBER_(type, n)), .stride = sizeof(*BIND_MEMBER_(type, member))

#define BIND_BOOL(key, type, member, ...)                                                          \
    BIND_FIELD_(key, BOOL, type, member, .size = 1 + BIND_IS_(type, member, bool), ##__VA_ARGS__)
#define BIND_INT(key, type, member, ...)                                                           \
    BIND_FIELD_(key, INT, type, member,                                                            \
                .size =                                                                            \
                    sizeof(BIND_MEMBER_(type, member)) + BIND_TRUE_(BIND_SIGNED_(type, member)),   \
                ##__VA_ARGS__)
#define BIND_UINT(key, type, member, ...)                                                          \
    BIND_FIELD_(key, UINT, type, member,                                                           \
                .size =                                                                            \
                    sizeof(BIND_MEMBER_(type, member)) + BIND_TRUE_(BIND_UNSIGNED_(type, member)), \
                ##__VA_ARGS__)
#define BIND_FLOAT(key, type, member, ...)                                                         \
    BIND_FIELD_(key, FLOAT, type, member, .size = 8 + BIND_IS_(type, member, double), ##__VA_ARGS__)
#define BIND_STR(key, type, member, ...)                                                           \
    BIND_FIELD_(key, STR, type, member, .size = 0 + BIND_IS_(type, member, struct str),            \
                ##__VA_ARGS__)
/* list: an array of names by value */
#define BIND_ENUM(key, type, member, list, ...)                                                    \
    BIND_FIELD_(key, ENUM, type, member, .size = sizeof(BIND_MEMBER_(type, member)),               \
                .names = (list), .n_names = sizeof(list) / sizeof((list)[0]), ##__VA_ARGS__)
#define BIND_JSON(key, type, member, ...)                                                          \
    BIND_FIELD_(key, JSON, type, member, .size = 0 + BIND_IS_(type, member, const struct json *),  \
                ##__VA_ARGS__)
/* A struct in the struct. */
#define BIND_OBJECT(key, type, member, table, ...)                                                 \
    BIND_FIELD_(key, OBJECT, type, member, .of = (table), ##__VA_ARGS__)
/* An object whose members are fields of this same struct: its table is of the same struct. */
#define BIND_INLINE(key, table, ...)                                                               \
    {                                                                                              \
        .name = { "" key, sizeof(key) - 1 }, .kind = BIND_KIND_OBJECT, .of = (table),              \
        ##__VA_ARGS__                                                                              \
    }
/* Pointer to a new struct of table->size; NULL if the member is missing. */
#define BIND_POINTER(key, type, member, table, ...)                                                \
    BIND_FIELD_(key, POINTER, type, member, .of = (table), ##__VA_ARGS__)
/* An array of strings, each read by bind_text. */
#define BIND_STRS(key, type, member, n, most, ...)                                                 \
    BIND_FIELD_(key, ARRAY, type, member, BIND_COUNT_(type, member, n), .item = &bind_text,        \
                .max = (most), ##__VA_ARGS__)
#define BIND_OBJECTS(key, type, member, n, table, most, ...)                                       \
    BIND_FIELD_(key, ARRAY, type, member, BIND_COUNT_(type, member, n), .of = (table),             \
                .max = (most), ##__VA_ARGS__)
/* An array whose elements are read by `element`, a const struct bind_field without name and
 * offset. */
#define BIND_ARRAY(key, type, member, n, element, most, ...)                                       \
    BIND_FIELD_(key, ARRAY, type, member, BIND_COUNT_(type, member, n), .item = (element),         \
                .max = (most), ##__VA_ARGS__)
/* {"key": "value"} into an array of `pair`, a struct with two struct str. */
#define BIND_STR_MAP(key, type, member, n, pair, name_, value_, most, ...)                         \
    BIND_FIELD_(                                                                                   \
        key, MAP, type, member, BIND_COUNT_(type, member, n),                                      \
        .key_at = offsetof(pair, name_) + BIND_IS_(pair, name_, struct str),                       \
        .item = &(const struct bind_field){ .kind = BIND_KIND_STR, .at = offsetof(pair, value_) }, \
        .max = (most), ##__VA_ARGS__)
#define BIND_CUSTOM(key, type, member, reader, ...)                                                \
    BIND_FIELD_(key, CUSTOM, type, member, .read = (reader), ##__VA_ARGS__)
/* Read into the whole struct: its offset is 0. */
#define BIND_WHOLE(key, reader, ...)                                                               \
    {                                                                                              \
        .name = { "" key, sizeof(key) - 1 }, .kind = BIND_KIND_CUSTOM, .read = (reader),           \
        ##__VA_ARGS__                                                                              \
    }

extern const struct bind_field bind_text; /* any string */
