/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credentials of this process's user for a registry (oci_login_find(), which blocks and may run
 * a program), looked up on another thread. Only for references that the user who runs the process
 * has chosen, never for those of API users. Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "oci/credentials.h"

struct module_login;
/*
 * Runs once, on a later turn, unless cancelled. login: borrowed, empty if no credentials are known.
 * Errors: of oci_login_find().
 */
typedef void (*module_login_cb)(void *arg, int r, const struct oci_login *login,
                                const struct err *err);

int module_login_start(struct loop *loop, const struct oci_reference *ref, module_login_cb cb,
                       void *arg, struct module_login **ret, struct err *err);
/* No callback runs afterwards. NULL is fine. */
void module_login_cancel(struct module_login *l);
