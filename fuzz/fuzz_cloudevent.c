/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CloudEvents: the first byte chooses the form; of the binary one each line "name: value" is a
 * field. What was read in any form reads back from its binary form.
 */
#include "fuzz.h"

#include "fn/trigger/cloudevent.h"

static void check_again(const struct cloudevent *ev)
{
    struct arena a = { 0 };
    struct headers h = { 0 };
    struct cloudevent *again;
    size_t n;
    if (cloudevent_fields(ev, &h, NULL) >= 0) {
        FUZZ_CHECK(cloudevents_read(&a, &h, ev->data, 1, &again, &n, NULL) >= 0 && n == 1);
        FUZZ_CHECK(again->n_attributes == ev->n_attributes && str_eq(again->data, ev->data));
    }
    headers_fini(&h);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const types[] = { "application/cloudevents+json",
                                         "application/cloudevents-batch+json" };
    if (n == 0)
        return 0;
    char *copy = malloc(n);
    memcpy(copy, data, n);
    struct str text = { copy + 1, n - 1 }, line, name, value;
    struct headers h = { 0 };
    struct arena a = { .max_bytes = 16 << 20 };
    struct cloudevent *evs;
    size_t n_evs;
    bool binary = copy[0] % 3 == 2, more = binary;
    while (more) {
        more = str_cut(text, '\n', &line, &text);
        (void)str_cut(line, ':', &name, &value);
        (void)headers_add(&h, name, str_trim(value));
    }
    if (!binary)
        (void)headers_addc(&h, "content-type", types[(uint8_t)copy[0] % 2]);
    if (cloudevents_read(&a, &h, text, 16, &evs, &n_evs, NULL) >= 0)
        for (size_t i = 0; i < n_evs; i++)
            check_again(&evs[i]);
    headers_fini(&h);
    arena_fini(&a);
    free(copy);
    return 0;
}
