/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of the program, as other programs see it: in User-Agent, OpenAPI, /version. main()
 * sets it from what was built; until then, as in unit tests, it is that of meson.build.
 */
#pragma once

/* Call in main(), before other threads start. At most 100 bytes are kept. */
void version_set(const char *version);
/* "0.1.0", or "0.1.0-dev.7+g0123456789ab" between releases (tools/describe-commit). */
const char *version_text(void);
/* "dormouse/" and the version. */
const char *version_product(void);
