/* SPDX-License-Identifier: Apache-2.0 */
/* Two readings of what a node uses, as its agent sends them: split at the first 0 byte. */
#include "fuzz.h"

#include "api/usage/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct usage_node *u = usage_new();
    struct usage_rate rate;
    struct str first, second;
    (void)str_cut(str_n(data, n), '\0', &first, &second);
    usage_take(u, first, 1700000000000);
    usage_take(u, second, 1700000010000);
    FUZZ_CHECK(u->n_containers <= USAGE_CONTAINERS_MAX);
    if (usage_of_node(u, &rate))
        FUZZ_CHECK(rate.window_ms >= USAGE_WINDOW_MIN_MS);
    size_t n_containers = 0;
    map_each (e, &u->pods) {
        const struct usage_pod *p = e->value;
        FUZZ_CHECK(!list_is_empty(&p->containers));
        list_each (node, &p->containers) {
            const struct usage_container *c = list_entry(node, struct usage_container, node);
            (void)usage_rate_of(&c->counter, &rate);
            n_containers++;
        }
    }
    FUZZ_CHECK(n_containers == u->n_containers);
    usage_free(u);
    return 0;
}
