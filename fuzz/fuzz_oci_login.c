/* SPDX-License-Identifier: Apache-2.0 */
/* A reference on the first line, then a file of credentials. */
#include "fuzz.h"

#include "oci/credentials.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str line, config;
    struct oci_reference ref;
    struct oci_login login = { 0 };
    struct err err = { 0 };
    char *program = NULL;
    (void)str_cut(str_n(data, n), '\n', &line, &config);
    if (oci_reference_parse(line, &ref, NULL) < 0)
        return 0;
    int r = oci_login_read(config, &ref, &login, &program, &err);
    if (r < 0) {
        FUZZ_CHECK((r == E_PARSE || r == E_LIMIT) && err.text[0]);
        FUZZ_CHECK(oci_login_is_empty(&login) && !program);
        return 0;
    }
    FUZZ_CHECK(!login.user == !login.password);
    FUZZ_CHECK(!(login.user && login.identity_token));
    FUZZ_CHECK(!program || (program[0] && !strchr(program, '/')));
    oci_login_fini(&login);
    free(program);
    return 0;
}
