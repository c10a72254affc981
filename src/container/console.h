/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals of containers: the socket on which the runtime gives us the main end of one
 * (--console-socket).
 */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct container_console { /* CONTAINER_CONSOLE_INIT: not open */
    int fd, dir_fd;
    char path[64]; /* short, since a socket's is: through a descriptor of this process */
};
#define CONTAINER_CONSOLE_INIT                                                                     \
    (struct container_console)                                                                     \
    {                                                                                              \
        .fd = -1, .dir_fd = -1                                                                     \
    }

/* base: a path; the socket is "<base>.tty", which the caller removes. */
int container_console_listen(struct container_console *c, const char *base, struct err *err);
/* For the runtime. */
const char *container_console_path(const struct container_console *c);
/* After the runtime has ended with success: a descriptor, given, for use without blocking. */
int container_console_take(struct container_console *c, struct err *err);
/* Use it without blocking. -ENOTTY. */
int container_console_check(int fd);
void container_console_close(struct container_console *c);
/* A message with at most one descriptor, given; -1: none. Does not wait. Returns its bytes. */
int container_console_receive(int fd, void *to, size_t n, int *ret_fd);

void container_console_resize(int fd, uint16_t columns, uint16_t rows);
