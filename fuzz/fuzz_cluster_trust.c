/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine that joins takes from a server that it does not trust yet: the ConfigMap
 * cluster-info, signatures in it, certificates; and texts of this machine and its user.
 */
#include "agent/registration/cluster_trust.h"
#include "agent/registration/machine.h"
#include "agent/registration/registration.h"
#include "codec/jws.h"
#include "fuzz.h"
#include "io/tls.h"

#include <assert.h>

static void try_map(struct str text)
{
    static const uint8_t hash[CLUSTER_TRUST_HASH_BYTES] = { 1 };
    struct arena a = { .max_bytes = 16 << 20 };
    struct json *map;
    struct str ca;
    if (json_parse(&a, text, NULL, &map, NULL) >= 0) {
        (void)cluster_trust_take(&a, map, STR("abcdef.0123456789abcdef"), NULL, &ca, NULL);
        assert(cluster_trust_take(&a, map, STR(""), hash, &ca, NULL) < 0);
    }
    arena_fini(&a);
}

static void try_certificate(struct str text)
{
    static const struct str name = { "n1", 2 };
    const char *const names[] = { "n1", "10.0.0.1" };
    int64_t from_s, until_s;
    (void)x509_validity(text, &from_s, &until_s, NULL);
    (void)x509_is_for(text, name, names, ARRAY_LEN(names));
    (void)x509_request_names_are(text, &name, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n(data, size);
    struct registration_label label;
    struct registration_taint taint;
    uint64_t n;
    try_map(text);
    try_certificate(text);
    assert(!jws_verify(STR("content"), text, STR("key"), STR("secret")));
    (void)registration_read_label(text, &label, NULL);
    if (registration_read_taint(text, &taint, NULL) >= 0)
        assert(taint.key.n && taint.effect.n);
    (void)machine_meminfo(text, "MemTotal", &n);
    assert(machine_count_cpus(text) <= (uint64_t)65536 * (size + 1));
    return 0;
}
