/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: one table of subcommands, one table of options for each. Parsing, --help, shell
 * completion and the reference page come from the same tables.
 *
 * Results go to stdout, chatter and errors to stderr. Exit codes: EXIT_* below.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmd_exit {
    CMD_OK = 0,
    CMD_FAILED = 1,      /* the operation failed; the error says why */
    CMD_USAGE = 2,       /* wrong words on the command line */
    CMD_UNAVAILABLE = 3, /* the server or cluster that was asked is not there */
};

enum cmd_opt_type {
    CMD_FLAG,     /* bool *          --name           */
    CMD_BOOL,     /* int *            --name, --name=true, --name=false; -1: not given */
    CMD_STRING,   /* const char **   --name VALUE     */
    CMD_U64,      /* uint64_t *      within [min,max] */
    CMD_DURATION, /* uint64_t * in ms; 0, 500ms, 10s, 5m, 1h */
    CMD_SIZE,     /* uint64_t * in bytes; 64Mi, 1Gi, 512Ki, plain */
    CMD_LIST,     /* struct cmd_list *; may be repeated */
    CMD_HEADING   /* none: the title of those that follow, in `doc`; name "" */
};

struct cmd_list {
    const char *at[64];
    size_t n;
};

struct cmd_opt {
    const char *name; /* "data-dir" */
    char letter;      /* 'o' for -o, 0: none */
    const char *meta; /* "DIR"; NULL for flags */
    const char *doc;  /* one line; the default in words */
    enum cmd_opt_type type;
    void *to;          /* written on parse; holds the default before */
    uint64_t min, max; /* CMD_U64 */
};

struct cmd {
    const char *name; /* "api", or "operator run" for a second level */
    const char *args; /* "DIR", "[NAME...]" or NULL */
    const char *doc;  /* one line */
    const char *help; /* paragraphs and examples for --help; may be NULL */
    /* Returns a cmd_exit. argv[0] is the first word behind the command's name. */
    int (*run)(int argc, char **argv);
    /* The options of this command for help and completion; ends with a NULL name. */
    const struct cmd_opt *(*opts)(void);
};

/*
 * Parse options into their targets; what is left are positional words, moved to argv[0..*ret_n).
 * "--" ends options. Prints the error or the help itself.
 * Returns 0 to go on, or 1 + the exit status to end with (help was asked for, or a usage error).
 */
int cmd_parse(const struct cmd *cmd, const struct cmd_opt *opts, int argc, char **argv,
              size_t max_positional, size_t *ret_n);

/* Append a text that others wrote: it must not talk to the terminal, nor forge lines. */
struct buf;
void cmd_add_safe(struct buf *to, struct str text);
/* "error: TEXT" on stderr; returns `status`. */
int cmd_fail(int status, const struct err *err);
/* The same for a request that failed with code r; the status says whether the server was there. */
int cmd_fail_request(int r, const struct err *err);
int cmd_failf(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Where a server keeps its state: the one given, else $DORMOUSE_DATA_DIR, else /var/lib/dormouse as
 * root (of a user namespace: where that may write there), else $XDG_STATE_HOME/dormouse or
 * ~/.local/state/dormouse. Absolute, if the working directory exists. Without any of these (no HOME
 * either) prints an error and ends the program: call it before anything is open. Given, free(). */
char *cmd_data_dir(const char *given);
/* The same for commands that can do without: NULL if there is none. */
char *cmd_find_data_dir(const char *given);
#define CMD_DATA_DIR_DEFAULT                                                                       \
    "($DORMOUSE_DATA_DIR; /var/lib/dormouse as root, else ~/.local/state/dormouse)"
/*
 * The data directory of the server that a command calls: as above, except that the directory of the
 * file $KUBECONFIG, if a server runs there, comes before the default. Given, free().
 */
char *cmd_server_data_dir(const char *given);
#define CMD_SERVER_DATA_DIR_DEFAULT                                                                \
    "($DORMOUSE_DATA_DIR; the one of $KUBECONFIG; /var/lib/dormouse as root, else "                \
    "~/.local/state/dormouse)"

/* The name among `names` that was probably meant; NULL: none is near. */
const char *cmd_nearest(const char *word, const char *const *names, size_t n);
/* A value as of CMD_SIZE, for a CMD_LIST of them. -EINVAL, -ERANGE. */
int cmd_parse_size(const char *text, uint64_t *ret);
/* The same as of CMD_DURATION, in milliseconds. */
int cmd_parse_duration(struct str text, uint64_t *ret);
/* "HOST:PORT", "[::1]:PORT", ":PORT"; host copied into buf. */
int cmd_parse_listen(const char *text, char *host, size_t host_size, uint16_t *ret_port,
                     struct err *err);

/* A row of a table of options that begins a group of them. */
#define CMD_SECTION(title)                                                                         \
    {                                                                                              \
        "", 0, NULL, title, CMD_HEADING, NULL, 0, 0                                                \
    }

/* --log-level, --log-format: common to all servers; put into each server's table. */
extern const char *cmd_log_level, *cmd_log_format;
#define CMD_LOG_OPTS                                                                               \
    {                                                                                              \
        "log-level",    0, "LEVEL", "error, warn, info or debug (info)", CMD_STRING,               \
        &cmd_log_level, 0, 0                                                                       \
    },                                                                                             \
    {                                                                                              \
        "log-format", 0, "FORMAT", "text or json (text)", CMD_STRING, &cmd_log_format, 0, 0        \
    }
/* Apply them; a cmd_exit when wrong, else 0. */
int cmd_setup_log(void);

/* The commit that was built, with "+" where its tree was changed, and its date (RFC 3339); "":
 * unknown. */
void cmd_commit(struct str *ret_commit, struct str *ret_date);

/* The commands; the table is in main.c. */
extern const struct cmd cmd_version, cmd_api, cmd_kubeconfig, cmd_up, cmd_operator_run, cmd_guests,
    cmd_top, cmd_operator_init, cmd_operator_build, cmd_operator_describe, cmd_operator_logs,
    cmd_operator_test, cmd_trace, cmd_manifest_operator, cmd_replay;
extern const struct cmd cmd_node_shutdown, cmd_join, cmd_token_create, cmd_token_list,
    cmd_token_delete;
extern const struct cmd cmd_fn_controlplane, cmd_fn_gateway, cmd_fn_worker;
extern const struct cmd cmd_scheduler_init, cmd_scheduler_build;
extern const struct cmd cmd_scheduler, cmd_scheduler_call, cmd_scheduler_explain,
    cmd_scheduler_simulate, cmd_manifest_scheduler, cmd_manifest_fn;
extern const struct cmd cmd_nodes_simulate, cmd_store_check, cmd_image_inspect, cmd_image_diff,
    cmd_image_unpack, cmd_image_mount, cmd_image_umount, cmd_image_run, cmd_image_replay,
    cmd_image_plan;
extern const struct cmd cmd_image_pull, cmd_image_ls, cmd_image_rm, cmd_image_tag, cmd_image_pin,
    cmd_image_unpin, cmd_image_check, cmd_image_gc, cmd_image_refactor, cmd_image_push,
    cmd_image_delta, cmd_image_serve, cmd_image_snapshotter, cmd_image_groups, cmd_image_optimize,
    cmd_module_push;
extern const struct cmd cmd_fn_init, cmd_fn_build, cmd_fn_deploy, cmd_fn_call, cmd_fn_list,
    cmd_fn_logs, cmd_fn_delete, cmd_fn_top, cmd_fn_rollback;
