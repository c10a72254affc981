/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The imports that a guest may have and the exports that it must have, per ABI. Main checks a
 * module by this table before it accepts a guest; the runner defines exactly these functions.
 *
 * Signatures are in the letters of wasm/module_info.h.
 */
#pragma once

#include "wasm/module_info.h"

/* The first three are operators, the others functions (docs/function-abi.md). */
enum guest_abi { GUEST_ABI_G1, GUEST_ABI_G2, GUEST_ABI_V1, GUEST_ABI_COMMAND, GUEST_ABI_HTTP };
enum { GUEST_ABI_COUNT = 5 };
static inline bool abi_is_function(enum guest_abi abi)
{
    return abi >= GUEST_ABI_COMMAND;
}

/* Calls that "park" (docs/guest-abi.md): the guest waits until main answers. The numbers are used
 * in messages. */
enum guest_call_kind {
    GUEST_CALL_DECLARE,
    GUEST_CALL_API_REQUEST,
    GUEST_CALL_CACHE_GET,
    GUEST_CALL_CACHE_LIST,
    GUEST_CALL_CONFIG_GET
};
enum { GUEST_CALL_V1_COUNT = 5 };
/* Those of functions. */
enum guest_fn_call {
    GUEST_CALL_FN_BODY = GUEST_CALL_V1_COUNT, /* more of the request's body */
    GUEST_CALL_FN_CREDIT,                     /* credit for more of the response */
    GUEST_CALL_FN_SECRET
};
enum { GUEST_CALL_COUNT = GUEST_CALL_V1_COUNT + 3 };

/* Calls that are "posted": the guest does not wait. */
enum guest_post_kind { GUEST_POST_LOG, GUEST_POST_ENQUEUE, GUEST_POST_EVENT, GUEST_POST_METRIC };
enum { GUEST_POST_COUNT = 4 };

/* Error codes of ABI v1, as guests see them. */
enum guest_error {
    GUEST_E_INVALID = -1,
    GUEST_E_NOT_FOUND = -2,
    GUEST_E_FORBIDDEN = -3,
    GUEST_E_NOT_DECLARED = -4,
    GUEST_E_TOO_LARGE = -5,
    GUEST_E_LIMITED = -6,
    GUEST_E_TIMEOUT = -7,
    GUEST_E_UNAVAILABLE = -8,
    GUEST_E_EXPIRED = -9,
    GUEST_E_CANCELLED = -10,
    GUEST_E_NOT_SYNCED = -11
};

/* Limits of ABI v1 (docs/guest-abi.md, section 9), in bytes. */
enum {
    GUEST_V1_DECLARATION_MAX = 256 << 10,
    GUEST_V1_HEAD_MAX = 16 << 10, /* of a request */
    GUEST_V1_BODY_MAX = 3 << 20,
    GUEST_V1_QUERY_MAX = 16 << 10,
    GUEST_V1_EVENT_MAX = 8 << 10,
    GUEST_V1_ENQUEUE_MAX = 2 << 10,
    GUEST_V1_LABELS_MAX = 4 << 10,
    GUEST_V1_MESSAGE_MAX = 1 << 10, /* fail_message; cut */
    GUEST_V1_LOG_MAX = 4 << 10,     /* text and key-values; cut */
    GUEST_V1_POSTS_MAX = 1024,      /* per activation, */
    GUEST_V1_POSTED_LOGS_MAX = 256, /* of these, log lines */
    GUEST_V1_REQUEUE_MS_BITS = 40   /* result of an activation: at most 2^40 ms */
};

/* Of functions. */
enum {
    GUEST_FN_HEAD_MAX = 64 << 10, /* of a request and of a response, trailers included */
    GUEST_FN_PIECE_MAX = 1 << 20, /* of a body, in one message */
    GUEST_FN_LOG_MAX = 4 << 10,   /* a line; cut */
    GUEST_FN_LOGS_MAX = 256, /* lines between two messages to main; further ones are only counted */
    GUEST_FN_SECRET_MAX = 1 << 20,
    GUEST_FN_SECRET_NAME_MAX = 4 << 10
};

/* How a request ended in its guest. */
enum guest_fn_end {
    GUEST_FN_DONE,     /* returned 0, or exited with 0 */
    GUEST_FN_EXITED,   /* returned or exited with another value */
    GUEST_FN_TRAPPED,  /* also for lack of memory or stack */
    GUEST_FN_LATE,     /* used up its CPU time */
    GUEST_FN_TOO_LARGE /* the response was larger than allowed */
};
enum { GUEST_FN_ENDS = 5 };

/* One variable of a guest's environment. */
struct guest_env {
    struct str name, value;
};

/* abi, module, name, signature, function of the runner that implements it */
#define ABI_IMPORTS(X)                                                                             \
    X(GUEST_ABI_G1, "http-proxy-abi", "request", "ii:I", abi_g1_request)                           \
    X(GUEST_ABI_G1, "delay-abi", "delay", "I:I", abi_delay)                                        \
    X(GUEST_ABI_G1, "kube-watch-abi", "watch", "ii:I", abi_g1_watch)                               \
    X(GUEST_ABI_G2, "http-proxy-abi", "request", "iii:I", abi_g2_request)                          \
    X(GUEST_ABI_G2, "http-proxy-abi", "request_stream", "iii:I", abi_g2_request)                   \
    X(GUEST_ABI_G2, "delay-abi", "delay", "I:I", abi_delay)

/* name, signature; all of V1_MODULE, for V1. */
#define V1_MODULE "dormouse_v1"
#define V1_IMPORTS(X)                                                                              \
    X(declare, "ii:i")                                                                             \
    X(result_size, ":i")                                                                           \
    X(result_read, "ii:i")                                                                         \
    X(fail_message, "ii:")                                                                         \
    X(log, "iiiii:")                                                                               \
    X(api_request, "iiii:I")                                                                       \
    X(cache_get, "ii:I")                                                                           \
    X(cache_list, "ii:I")                                                                          \
    X(config_get, "ii:I")                                                                          \
    X(enqueue, "ii:")                                                                              \
    X(event, "ii:")                                                                                \
    X(metric, "iiiI:")

/* name, signature; all of FN_MODULE, for reactors. */
#define FN_MODULE "dormouse_http_v1"
#define FN_IMPORTS(X)                                                                              \
    X(request_head, "ii:i")                                                                        \
    X(body_read, "ii:i")                                                                           \
    X(respond, "iii:i")                                                                            \
    X(body_write, "ii:i")                                                                          \
    X(flush, ":i")                                                                                 \
    X(trailers, "ii:i")                                                                            \
    X(secret_get, "iiii:i")                                                                        \
    X(log, "iii:")

/* Optional exports that are called once per module. */
#define FN_INIT         "dormouse_http_v1_init" /* ":i" */
#define FN_COMMAND_INIT "wizer.initialize"      /* ":" */

/* name, signature; all of wasi_snapshot_preview1, and for G1 the same names in wasi_unstable. */
#define WASI_IMPORTS(X)                                                                            \
    X(args_get, "ii:i")                                                                            \
    X(args_sizes_get, "ii:i")                                                                      \
    X(environ_get, "ii:i")                                                                         \
    X(environ_sizes_get, "ii:i")                                                                   \
    X(clock_res_get, "ii:i")                                                                       \
    X(clock_time_get, "iIi:i")                                                                     \
    X(fd_advise, "iIIi:i")                                                                         \
    X(fd_allocate, "iII:i")                                                                        \
    X(fd_close, "i:i")                                                                             \
    X(fd_datasync, "i:i")                                                                          \
    X(fd_fdstat_get, "ii:i")                                                                       \
    X(fd_fdstat_set_flags, "ii:i")                                                                 \
    X(fd_fdstat_set_rights, "iII:i")                                                               \
    X(fd_filestat_get, "ii:i")                                                                     \
    X(fd_filestat_set_size, "iI:i")                                                                \
    X(fd_filestat_set_times, "iIIi:i")                                                             \
    X(fd_pread, "iiiIi:i")                                                                         \
    X(fd_prestat_get, "ii:i")                                                                      \
    X(fd_prestat_dir_name, "iii:i")                                                                \
    X(fd_pwrite, "iiiIi:i")                                                                        \
    X(fd_read, "iiii:i")                                                                           \
    X(fd_readdir, "iiiIi:i")                                                                       \
    X(fd_renumber, "ii:i")                                                                         \
    X(fd_seek, "iIii:i")                                                                           \
    X(fd_sync, "i:i")                                                                              \
    X(fd_tell, "ii:i")                                                                             \
    X(fd_write, "iiii:i")                                                                          \
    X(path_create_directory, "iii:i")                                                              \
    X(path_filestat_get, "iiiii:i")                                                                \
    X(path_filestat_set_times, "iiiiIIi:i")                                                        \
    X(path_link, "iiiiiii:i")                                                                      \
    X(path_open, "iiiiiIIii:i")                                                                    \
    X(path_readlink, "iiiiii:i")                                                                   \
    X(path_remove_directory, "iii:i")                                                              \
    X(path_rename, "iiiiii:i")                                                                     \
    X(path_symlink, "iiiii:i")                                                                     \
    X(path_unlink_file, "iii:i")                                                                   \
    X(poll_oneoff, "iiii:i")                                                                       \
    X(proc_exit, "i:")                                                                             \
    X(proc_raise, "i:i")                                                                           \
    X(sched_yield, ":i")                                                                           \
    X(random_get, "ii:i")                                                                          \
    X(sock_accept, "iii:i")                                                                        \
    X(sock_recv, "iiiiii:i")                                                                       \
    X(sock_send, "iiiii:i")                                                                        \
    X(sock_shutdown, "ii:i")

#define WASI_MODULE     "wasi_snapshot_preview1"
#define WASI_MODULE_OLD "wasi_unstable"

/*
 * abi, role, name, signature; all of an ABI are required. A reactor's ABI_INITIALIZE is called
 * before its entry point; in G2 it is called instead of it, since a command's entry point would end
 * the runtime.
 */
#define ABI_INITIALIZE "_initialize"
#define ABI_EXPORTS(X)                                                                             \
    X(GUEST_ABI_G1, ENTRY_START, "run", ":")                                                       \
    X(GUEST_ABI_G1, ENTRY_ALLOCATE, "allocate", "i:i")                                             \
    X(GUEST_ABI_G1, ENTRY_WAKEUP, "wakeup_future", "Iii:")                                         \
    X(GUEST_ABI_G1, ENTRY_WAKEUP_STREAM, "wakeup_stream", "Iii:")                                  \
    X(GUEST_ABI_G2, ENTRY_START, "_start", ":")                                                    \
    X(GUEST_ABI_G2, ENTRY_ALLOCATE, "allocate", "i:i")                                             \
    X(GUEST_ABI_G2, ENTRY_WAKEUP, "wakeup", "Iiii:")                                               \
    X(GUEST_ABI_V1, ENTRY_START, "dormouse_v1_setup", ":i")                                        \
    X(GUEST_ABI_V1, ENTRY_WAKEUP, "dormouse_v1_activate", "i:I")                                   \
    X(GUEST_ABI_COMMAND, ENTRY_WAKEUP, "_start", ":")                                              \
    X(GUEST_ABI_HTTP, ENTRY_WAKEUP, "dormouse_http_v1_handle", ":i")

enum abi_entry { ENTRY_START, ENTRY_ALLOCATE, ENTRY_WAKEUP, ENTRY_WAKEUP_STREAM, ENTRY_COUNT };

/*
 * Check that a guest of this ABI can be made from the module. Errors: E_UNSUPPORTED, naming the
 * export that is missing or the import that no host function provides.
 */
int abi_check(const struct module_info *info, enum guest_abi abi, struct err *err);
/* Whether a module that exports ABI_INITIALIZE may lack this entry. */
bool abi_is_optional(enum guest_abi abi, enum abi_entry entry);
/* "G1", "G2", "v1", "command", "reactor" */
const char *abi_name(enum guest_abi abi);
