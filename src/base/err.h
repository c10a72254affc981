/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a code for the program, a sentence for a person.
 *
 * A function that can fail returns int: >= 0 is success, a negative code is failure. Codes are
 * -errno, or one of the E_ codes below, which lie far outside errno. A function whose failures need
 * explaining takes a `struct err *` last; NULL discards the text. Nothing here allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* name, value, sentence for err_name() and err_strerror() */
#define ERR_CODES(X)                                                                               \
    X(E_CONFLICT, -10001, "conflict")             /* a compare failed, another writer was first */ \
    X(E_DIGEST, -10002, "digest mismatch")        /* content is not what its hash says */          \
    X(E_TRAP, -10003, "guest trapped")            /* a guest broke a rule or crashed */            \
    X(E_EXPIRED, -10004, "revision expired")      /* the requested history is compacted */         \
    X(E_FUTURE, -10005, "revision in the future") /* the requested revision is not reached */      \
    X(E_VERSION, -10006, "unsupported version")   /* written by a newer program */                 \
    X(E_CORRUPT, -10007, "damaged data")          /* a file of dormouse does not decode */         \
    X(E_EOF, -10008, "end of stream")             /* peer ended the stream */                      \
    X(E_PARSE, -10009, "malformed input")         /* bytes that do not follow their grammar */     \
    X(E_LIMIT, -10010, "limit reached")           /* a named limit of dormouse */                  \
    X(E_TLS, -10011, "TLS failure")               /* handshake, verification or record layer */    \
    X(E_UNSUPPORTED, -10012, "not supported")     /* valid, but not implemented */                 \
    X(E_DENIED, -10013, "denied by policy")       /* by an allow-list, identity or quota */        \
    X(E_INVALID, -10014, "invalid value")         /* well-formed, but breaks a rule of its schema */

enum err_code {
#define ERR_ENUM(name, value, text) name = value,
    ERR_CODES(ERR_ENUM)
#undef ERR_ENUM
};

struct err {
    int code;       /* the same value the function returned; 0 while unset */
    char text[508]; /* "outer: inner: cause"; a text that is too long loses its middle,
                       "outer...cause" */
};

/* Set code and text, return the code. `code` is negative. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set(), and append ": " and the sentence of the code, e.g. ": No such file or
 * directory". */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Prepend "context: " to the text; to the code's sentence if there is no text yet. Returns
 * `code`. */
int err_ctx(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Symbolic name ("ENOENT", "E_TRAP"), static storage; never NULL. */
const char *err_name(int code);

/* Sentence for a code, static or thread-local storage; never NULL. */
const char *err_strerror(int code);

/* The text, or the sentence of the code where no text was set. */
const char *err_text(const struct err *err);
