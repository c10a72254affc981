/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP interface of a node's agent, as a kubelet serves it on port 10250: logs, remote
 * commands, port forwarding, pods, statistics and metrics. Only HTTPS; every request is
 * authenticated and authorized (access.h).
 *
 *     GET  /containerLogs/NS/POD/CONTAINER       GET  /pods, /runningpods/
 *     GET, POST  /exec, /attach/NS/POD[/UID]/CONTAINER         /stats/summary, /configz, /healthz
 *     GET, POST  /portForward/NS/POD[/UID]                     /metrics, /metrics/cadvisor,
 *                                                              /metrics/resource, /metrics/probes
 *
 * What pods there are, and what runs in them, comes from the caller through struct
 * agent_server_ops.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/log/podlog_writer.h"
#include "agent/server/access.h"
#include "agent/server/stats.h"
#include "agent/stream/forward.h"
#include "agent/stream/remote.h"

enum {
    AGENT_SERVER_PORT = 10250,
    AGENT_SERVER_STREAMS_MAX = 512,   /* exec, attach, port forwarding; 429 beyond */
    AGENT_SERVER_LOGS_MAX = 512,      /* that are read at a time; 429 beyond */
    AGENT_SERVER_TEXT_MAX = 64 << 20, /* of an answer: pods, statistics, metrics */
    AGENT_SERVER_COMMAND_MAX = 1024   /* words of a command */
};

/* Strings are borrowed for the call. */
struct agent_ref {
    struct str ns, pod;
    struct str uid;       /* "": any; else that of the pod must be the same */
    struct str container; /* "": the whole pod */
};

enum agent_found { AGENT_FOUND, AGENT_NO_POD, AGENT_NO_CONTAINER };

struct agent_command {
    const char *const *argv; /* NULL at the end; NULL: attach to the container's own program */
    struct stream_remote_wish wish;
};

struct agent_log {
    char *path;                   /* given, free() */
    struct podlog_writer *writer; /* of a container that runs; NULL: the log does not grow */
};

/* Borrowed for the call. NULL: the numbers could not be had. */
typedef void (*agent_stats_cb)(void *done_arg, const struct agent_stats *s);

/* Supplied by the caller; kept. None calls back inside. */
struct agent_server_ops {
    /* *ret_uid: that of the pod, borrowed until the next turn. */
    enum agent_found (*find)(void *arg, const struct agent_ref *ref, struct str *ret_uid);
    /*
     * Where the log of a container, or of the one before it, is. Errors, with a text for the
     * client: it has not run yet, there was none before (400).
     */
    int (*log)(void *arg, const struct agent_ref *ref, bool previous, struct agent_log *ret,
               struct err *err);
    /*
     * Prepare to run a command, or to attach: *ret_ops and *ret_arg are for stream_remote_serve(),
     * whose ops->close() or start() releases *ret_arg. Errors, with a text: -ENOENT: the container
     * does not run (404); else 500.
     */
    int (*command)(void *arg, const struct agent_ref *ref, const struct agent_command *command,
                   const struct stream_program_ops **ret_ops, void **ret_arg, struct err *err);
    /* The same for ports of a pod. */
    int (*forward)(void *arg, const struct agent_ref *ref, const struct stream_port_ops **ret_ops,
                   void **ret_arg, struct err *err);
    /* Append a v1 PodList: of the pods that are to run, or of those that do. */
    void (*pods)(void *arg, bool running, struct buf *to);
    /* Measure; done(done_arg, ...) runs exactly once, on a later turn. Errors: not at all. */
    int (*stats)(void *arg, agent_stats_cb done, void *done_arg, struct err *err);
    /* Append Prometheus text; NULL: none. */
    void (*metrics)(void *arg, struct buf *to);
    void (*probes)(void *arg, struct buf *to);
    /* Append the value of "kubeletconfig", a JSON object; NULL: an empty one. */
    void (*config)(void *arg, struct buf *to);
    /* Whether the agent works: its loop over pods. NULL: yes. */
    int (*health)(void *arg, struct err *err);
};

struct agent_server_opts {
    struct loop *loop;
    const char *host;                /* as in http_server_opts */
    uint16_t port;                   /* 0: any free one */
    struct str cert, key, ca;        /* PEM; ca: of clients, "": no certificates are asked for */
    struct str node;                 /* its name, for reviews */
    struct agent_reviewer *reviewer; /* kept until done() of agent_server_close() */
    const struct agent_server_ops *ops;
    void *arg;
};

struct agent_server;
int agent_server_start(const struct agent_server_opts *opts, struct agent_server **ret,
                       struct err *err);
uint16_t agent_server_port(const struct agent_server *s);
/* After a rotation, for new connections. ca "": as before. Answers to reviews are forgotten if the
 * CA changes. */
int agent_server_set_tls(struct agent_server *s, struct str cert, struct str key, struct str ca,
                         struct err *err);
/* Stop; streams and logs are cut after grace_ms. done() may be NULL. */
void agent_server_close(struct agent_server *s, uint64_t grace_ms, void (*done)(void *arg),
                        void *arg);
