/* SPDX-License-Identifier: Apache-2.0 */
/* Users of an image: the first line names one, then the lines of its /etc/passwd, an empty line,
 * and those of its /etc/group. */
#include "fuzz.h"

#include "container/user.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { 0 };
    struct container_user found;
    struct str user, rest, text = str_n(data, n);
    (void)str_cut(text, '\n', &user, &rest);
    ptrdiff_t at = str_find(rest, STR("\n\n"));
    struct str passwd = at < 0 ? rest : str_slice(rest, 0, (size_t)at);
    struct str group = at < 0 ? STR_NULL : str_slice(rest, (size_t)at + 2, rest.n);
    int r = container_user_resolve(user, passwd, group, &found, &err);
    FUZZ_CHECK(r == 0 || err.text[0]);
    if (r == 0) {
        FUZZ_CHECK(found.uid <= INT32_MAX && found.gid <= INT32_MAX);
        FUZZ_CHECK(found.n_groups <= CONTAINER_USER_GROUPS_MAX);
    }
    return 0;
}
