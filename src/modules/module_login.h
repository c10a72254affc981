/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credentials of the user of this process for a registry (oci_login_find(), which blocks and
 * may run a program), found on another thread. For references of who runs the process alone, never
 * for those of an API's users. Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "oci/credentials.h"

struct module_login;
/* Once, on a later turn, unless cancelled; login: borrowed, empty where nothing is known. Errors:
 * of oci_login_find(). */
typedef void (*module_login_cb)(void *arg, int r, const struct oci_login *login,
                                const struct err *err);

int module_login_start(struct loop *loop, const struct oci_reference *ref, module_login_cb cb,
                       void *arg, struct module_login **ret, struct err *err);
/* No callback comes any more. NULL is fine. */
void module_login_cancel(struct module_login *l);
