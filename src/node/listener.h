/* SPDX-License-Identifier: Apache-2.0 */
/* Error text for the user when a listener of this process cannot bind its address. */
#pragma once

#include "base/err.h"

#include <errno.h>

/*
 * Prepend to `err` which listener failed and which option sets its address; returns `r` (negative).
 * whose: "the gateway's"; option: "--listen". Both are borrowed.
 */
static inline int listener_failed(struct err *err, int r, const char *whose, const char *option)
{
    if (r == -EADDRINUSE)
        return err_ctx(err, r, "%s port is taken (%s HOST:PORT: another)", whose, option);
    if (r == -EADDRNOTAVAIL || r == -EACCES)
        return err_ctx(err, r, "%s address cannot be used (%s HOST:PORT: another)", whose, option);
    return err_ctx(err, r, "%s listener", whose);
}
