/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only one process may use a data directory: swap files and the admin socket have no locks of their
 * own. The lock is on the directory itself: a lock file would make an empty directory look used.
 */
#pragma once

#include "base/err.h"

/*
 * Make the directory if it is not there, and lock it. A descriptor that holds the lock as long as
 * it is open; given. Blocks for two seconds at most, while a process that has ended still holds it.
 * Errors: -EWOULDBLOCK with the process that has it.
 */
int data_lock(const char *dir, struct err *err);
