/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to hold the JSON of many objects of one kind, each measured on the same ones. */
#pragma once

#include "base/buf.h"

enum { PACKINGS_MAX_OBJECTS = 20000 };

/*
 * texts: n objects as JSON. Prints one line of JSON for each way: bytes an object, microseconds to
 * pack one and to get its JSON back.
 */
void packings_measure(const struct str *texts, size_t n);
