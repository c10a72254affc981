/* SPDX-License-Identifier: Apache-2.0 */
/* When work that failed is tried again. */
#include "image/retries.h"
#include "test.h"

#include <stdio.h>

TEST(each_failure_in_a_row_doubles_the_wait_up_to_a_limit)
{
    struct image_retries r = { .max_ms = 12000 };
    CHECK(image_retries_is_due(&r, "a", 0));
    CHECK_INT(image_retries_failed(&r, "a", 1000), 5000);
    CHECK(!image_retries_is_due(&r, "a", 5999));
    CHECK(image_retries_is_due(&r, "a", 6000));
    CHECK_INT(image_retries_failed(&r, "a", 6000), 10000);
    CHECK_INT(image_retries_failed(&r, "a", 16000), 12000);
    for (int i = 0; i < 100; i++)
        CHECK_INT(image_retries_failed(&r, "a", 0), 12000);
    image_retries_fini(&r);
}

TEST(without_a_shorter_limit_it_is_five_minutes)
{
    struct image_retries r = { .max_ms = UINT64_MAX };
    for (int i = 0; i < 20; i++)
        CHECK(image_retries_failed(&r, "a", 0) <= IMAGE_RETRIES_LAST_MS);
    CHECK_INT(image_retries_failed(&r, "a", 0), IMAGE_RETRIES_LAST_MS);
    image_retries_fini(&r);
}

TEST(a_key_waits_for_itself_and_is_forgotten_when_it_is_done)
{
    struct image_retries r = { .max_ms = UINT64_MAX };
    (void)image_retries_failed(&r, "a", 0);
    (void)image_retries_failed(&r, "a", 0);
    CHECK(image_retries_is_due(&r, "b", 0));
    image_retries_done(&r, "b");
    image_retries_done(&r, "a");
    CHECK(image_retries_is_due(&r, "a", 0));
    CHECK_INT(image_retries_failed(&r, "a", 0), IMAGE_RETRIES_FIRST_MS);
    image_retries_fini(&r);
}

TEST(of_too_many_keys_the_one_that_ends_first_is_forgotten)
{
    struct image_retries r = { .max_ms = UINT64_MAX };
    char key[32];
    for (int i = 0; i <= IMAGE_RETRIES_MAX; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        (void)image_retries_failed(&r, key, (uint64_t)i);
    }
    CHECK_INT(r.all.n, IMAGE_RETRIES_MAX);
    CHECK(image_retries_is_due(&r, "0", IMAGE_RETRIES_MAX));
    CHECK(!image_retries_is_due(&r, "1", IMAGE_RETRIES_MAX));
    image_retries_fini(&r);
}

TEST_MAIN
