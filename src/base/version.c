/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the program; see version.h. */
#include "base/version.h"

#include <stdio.h>

#define PRODUCT "dormouse/"

static char product[sizeof PRODUCT + 100] = PRODUCT DORMOUSE_VERSION;

void version_set(const char *version)
{
    (void)snprintf(product, sizeof product, PRODUCT "%s", version);
}

const char *version_text(void)
{
    return product + sizeof PRODUCT - 1;
}

const char *version_product(void)
{
    return product;
}
