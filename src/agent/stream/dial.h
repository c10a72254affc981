/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects to a port of the loopback addresses inside a network namespace: 127.0.0.1, then ::1. The
 * sockets are made on a pool thread, which enters the namespace for that moment; a socket stays in
 * the namespace in which it was made, so that connecting is done on the loop.
 */
#pragma once

#include "agent/stream/forward.h"

enum { STREAM_DIAL_MS = 10000 }; /* for each of the two addresses */

/*
 * netns: path of the namespace, "/proc/PID/ns/net" or the like; NULL: that of this process. done
 * runs exactly once, on a later turn; there is no way to cancel it. Entering needs CAP_SYS_ADMIN.
 */
void stream_dial_start(struct loop *loop, const char *netns, uint16_t port, stream_dialed_cb done,
                       void *dial);
