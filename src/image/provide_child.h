/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A separate process for provide_image(): it holds the store's lock, the threads and the memory of
 * pulls, which a server should not have while nothing is pulled, and it can be killed. If another
 * process has the store open, that process does the work (image/store_control.h), with the proxies
 * of its own environment; so a worker and `image serve` may share a store. It reads JSON, a line
 * for each message, and answers in the same form; it ends at the end of its input, after the last
 * answer.
 *
 *     <- {"store":DIR,"lockMilliseconds":N}
 *     <- {"id":1,"get":{"reference":R,"tenant":T,"policy":"Always","lease":L,"auths":[TEXT...],
 *                       "hosts":[HOST...],"plainHosts":[HOST...],"ca":FILE}}
 *     -> {"id":1,"pulling":true}
 *     -> {"id":1,"manifest":"sha256:...","dir":D,"words":N,"config":TEXT,"pulled":true}
 *     <- {"id":2,"drop":LEASE}
 *     -> {"id":2,"error":{"code":N,"text":T}}            {"id":2} without an error
 *     <- {"id":3,"job":{"do":"images"}}                  image/store_job.h
 *     -> {"id":3,"result":{...}}
 */
#pragma once

enum {
    PROVIDE_LINE_MAX = 4 << 20, /* bytes of a message, either way */
    PROVIDE_THREADS = 32,       /* requests at a time; it reads no more of them meanwhile */
    PROVIDE_BUSY_MAX = 4,       /* of them that do something: others wait for a registry */
    PROVIDE_QUIET_MS = 5000,    /* without a byte of a layer is waiting */
    PROVIDE_ASKING_MAX = 8,     /* requests that another process does, which has other work, too */
};

/* The first argument that makes a program the child. */
#define PROVIDE_CHILD_WORD "--provide-images"

/* main() of the child. Returns its exit status. */
int provide_child_main(void);
