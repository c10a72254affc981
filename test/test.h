/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test framework: self-registering tests, TAP on stdout, abort at the failing line so that a
 * debugger and the sanitizers stop there.
 *
 *     TEST(a_removed_key_is_gone) { ... CHECK(map_get(&m, STR("k")) == NULL); }
 *     int main(int argc, char **argv) { return test_main(argc, argv); }     (or TEST_MAIN)
 *
 * Arguments: names of tests to run; none runs all. TEST_SEED in the environment replays randomness.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
};

static struct test_case *test_first, **test_last __attribute__((unused)) = &test_first;
static const char *test_running = "";
static const char *test_skipped;
static uint64_t test_seed_state;

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    static struct test_case test_case_##name = { #name, test_##name, NULL };                       \
    __attribute__((constructor)) static void test_register_##name(void)                            \
    {                                                                                              \
        *test_last = &test_case_##name;                                                            \
        test_last = &test_case_##name.next;                                                        \
    }                                                                                              \
    static void test_##name(void)

#define TEST_FAIL(...)                                                                             \
    do {                                                                                           \
        (void)fflush(stdout);                                                                      \
        (void)fprintf(stderr, "%s:%d: in %s: ", __FILE__, __LINE__, test_running);                 \
        (void)fprintf(stderr, __VA_ARGS__);                                                        \
        (void)fprintf(stderr, "\n");                                                               \
        abort();                                                                                   \
    } while (0)

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            TEST_FAIL("not true: %s", #cond);                                                      \
    } while (0)

/* r >= 0 */
#define CHECK_OK(expr)                                                                             \
    do {                                                                                           \
        long check_r_ = (long)(expr);                                                              \
        if (check_r_ < 0)                                                                          \
            TEST_FAIL("%s: %s", #expr, err_name((int)check_r_));                                   \
    } while (0)

/* r == code, both printed by name */
#define CHECK_ERR(expr, code)                                                                      \
    do {                                                                                           \
        long check_r_ = (long)(expr);                                                              \
        if (check_r_ != (code))                                                                    \
            TEST_FAIL("%s: %s, expected %s", #expr, err_name((int)check_r_), err_name(code));      \
    } while (0)

#define CHECK_INT(expr, want)                                                                      \
    do {                                                                                           \
        long long check_a_ = (long long)(expr), check_b_ = (long long)(want);                      \
        if (check_a_ != check_b_)                                                                  \
            TEST_FAIL("%s is %lld, expected %lld", #expr, check_a_, check_b_);                     \
    } while (0)

#define CHECK_STR(expr, want)                                                                      \
    do {                                                                                           \
        struct str check_a_ = (expr), check_b_ = str_of(want);                                     \
        if (!str_eq(check_a_, check_b_))                                                           \
            TEST_FAIL("%s is '" STR_FMT "', expected '%s'", #expr, STR_ARG(check_a_), check_b_.p); \
    } while (0)

/* Leave the test, saying loudly why it did not run. */
#define SKIP(why)                                                                                  \
    do {                                                                                           \
        test_skipped = (why);                                                                      \
        return;                                                                                    \
    } while (0)

/* Deterministic randomness (splitmix64); the seed is printed and TEST_SEED replays it. */
static inline uint64_t test_random(void)
{
    uint64_t z = (test_seed_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
static inline uint64_t test_random_below(uint64_t n)
{
    return test_random() % n;
}

static inline void test_seed_init(void)
{
    const char *env = getenv("TEST_SEED");
    uint64_t seed = 0;
    if (!env || parse_u64(str_of(env), 0, UINT64_MAX, &seed) < 0)
        seed = ((uint64_t)getpid() << 32) ^ (uint64_t)(uintptr_t)&seed;
    test_seed_state = seed;
    (void)printf("# TEST_SEED=%" PRIu64 "\n", seed);
}

static inline int test_main(int argc, char **argv)
{
    int n = 0;
    test_seed_init();
    for (struct test_case *t = test_first; t; t = t->next) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted = wanted || strcmp(argv[i], t->name) == 0;
        if (!wanted)
            continue;
        test_running = t->name;
        test_skipped = NULL;
        t->run();
        (void)printf("ok %d - %s%s%s\n", ++n, t->name, test_skipped ? " # SKIP " : "",
                     test_skipped ? test_skipped : "");
        (void)fflush(stdout);
    }
    (void)printf("1..%d\n", n);
    return n ? 0 : 1;
}

#define TEST_MAIN                                                                                  \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return test_main(argc, argv);                                                              \
    }
