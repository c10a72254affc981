/* SPDX-License-Identifier: Apache-2.0 */
/* Clock, random numbers and environment; the dm_host_* half is implemented by the platform. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t dm_wall_us(void); /* since 1970 */
uint64_t dm_random(void);  /* for jitter, not for keys */
const char *dm_env(const char *name, const char *otherwise);

uint64_t dm_host_now_ms(void); /* monotonic */
uint64_t dm_host_wall_us(void);
uint64_t dm_host_random(void);
const char *dm_host_env(const char *name); /* NULL when not set; valid for ever */
void dm_host_write(const char *line, size_t n);
