/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of files in volumes: what is accepted stays below the volume's directory. */
#include "fuzz.h"

#include "agent/volume/writer.h"
#include "base/mem.h"

static void check_clean(struct arena *a, struct str clean)
{
    struct str rest = clean, name, again;
    bool is_first = true, more = true;
    FUZZ_CHECK(clean.n > 0 && clean.n <= VOLUME_PATH_MAX && clean.p[0] != '/');
    for (; more; is_first = false) {
        more = str_cut(rest, '/', &name, &rest);
        FUZZ_CHECK(name.n > 0 && name.n <= 255 && !memchr(name.p, 0, name.n));
        FUZZ_CHECK(!str_is(name, ".") && !str_is(name, ".."));
        FUZZ_CHECK(!is_first || !str_has_prefix(name, STR("..")));
    }
    FUZZ_CHECK(volume_path_clean(a, clean, &again, NULL) == 0 && str_eq(again, clean));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct str path = str_n(arena_strndup(&a, (const char *)data, n), n), clean;
    if (volume_path_clean(&a, path, &clean, &err) == 0)
        check_clean(&a, clean);
    else
        FUZZ_CHECK(err.text[0]);
    arena_fini(&a);
    return 0;
}
