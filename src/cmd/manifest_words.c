/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/manifest_words.h"

#include <string.h>

bool manifest_is_plain(const char *s, const char *also)
{
    if (!s[0])
        return false;
    for (; *s; s++)
        if (!(*s >= 'a' && *s <= 'z') && !(*s >= '0' && *s <= '9') && !strchr(also, *s))
            return false;
    return true;
}
