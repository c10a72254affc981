/* SPDX-License-Identifier: Apache-2.0 */
/* The module parser and rewriter, and the decoder of module descriptions. */
#include "fuzz.h"

#include "wasm/instrument.h"

static void check_description(const struct module_info *info)
{
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT), again = BUF_INIT(BUF_MAX_DEFAULT);
    struct module_info *copy = NULL;
    FUZZ_CHECK(module_info_encode(info, &text) == 0);
    FUZZ_CHECK(module_info_decode(buf_str(&text), &copy, NULL) == 0);
    FUZZ_CHECK(module_info_encode(copy, &again) == 0);
    FUZZ_CHECK(str_eq(buf_str(&text), buf_str(&again)));
    module_info_free(copy);
    buf_fini(&text);
    buf_fini(&again);
}

/* What was rewritten is a module like any other, except that its added exports are reserved. */
static void check_rewritten(struct str wasm, const struct module_info *info)
{
    struct buf out = BUF_INIT(wasm.n + INSTRUMENT_GROWTH_MAX);
    struct module_info *again = NULL;
    int r = instrument(wasm, 0, &out, &again, NULL);
    bool has_added = info->has_memory || info->has_start || info->globals.n > 0;
    FUZZ_CHECK(r == (has_added ? E_INVALID : 0));
    module_info_free(again);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str wasm = str_n(data, n);
    for (unsigned flags = 0; flags <= INSTRUMENT_KEEP_NAMES; flags++) {
        struct buf out = BUF_INIT(n + INSTRUMENT_GROWTH_MAX);
        struct module_info *info = NULL;
        if (instrument(wasm, flags, &out, &info, NULL) == 0) {
            check_description(info);
            check_rewritten(buf_str(&out), info);
        }
        module_info_free(info);
        buf_fini(&out);
    }

    struct module_info *info = NULL;
    if (module_info_decode(wasm, &info, NULL) == 0)
        check_description(info);
    module_info_free(info);
    return 0;
}
