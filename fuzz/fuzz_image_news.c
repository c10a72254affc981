/* SPDX-License-Identifier: Apache-2.0 */
/* News of images, as anyone with the key of a cluster may post them. */
#include "fuzz.h"

#include "image/news.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct image_replaced news;
    struct err err = { 0 };
    if (image_replaced_parse(&a, str_n(data, n), &news, &err) >= 0) {
        FUZZ_CHECK(news.ref.host[0] && news.ref.repository[0]);
        FUZZ_CHECK(news.n_dead <= IMAGE_NEWS_DEAD_MAX);
    } else {
        FUZZ_CHECK(err.code < 0);
    }
    arena_fini(&a);
    return 0;
}
