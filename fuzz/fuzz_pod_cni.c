/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNI: configuration files, results and failures of plug-ins, and the records of networks. The
 * first byte of the input says which.
 */
#include "fuzz.h"

#include "agent/network/pod_cni.h"
#include "agent/network/pod_cni_config.h"
#include "base/buf.h"

static struct pod_record *new_record(void)
{
    return pod_record_new(&(struct pod_network_opts){ .id = STR("id") });
}

/* What is accepted can be given to each of its plug-ins. */
static void fuzz_config(struct str text)
{
    const struct str cidr = STR("10.0.0.0/24");
    struct pod_record *rec = new_record();
    if (pod_cni_read_config(&rec->arena, text, &rec->config, NULL) == 0) {
        size_t n = pod_cni_count(rec->config);
        FUZZ_CHECK(n > 0 && n <= POD_CNI_PLUGINS_MAX);
        for (size_t i = 0; i < n; i++) {
            struct buf b = BUF_INIT(1 << 20);
            struct str type = json_get_str(pod_cni_plugin(rec->config, i), "type");
            FUZZ_CHECK(type.n > 0 && str_find_char(type, '/') < 0);
            (void)pod_cni_write_input(rec, i, rec->config, &cidr, 1, &b);
            buf_fini(&b);
        }
    }
    pod_record_free(rec);
}

static void fuzz_result(struct str text)
{
    struct pod_record *rec = new_record(), *again = NULL;
    const struct json *result = NULL;
    struct buf b = BUF_INIT(1 << 20);
    if (pod_cni_read_result(&rec->arena, text, &result, NULL) == 0 &&
        pod_cni_apply_result(rec, result, NULL) == 0) {
        FUZZ_CHECK(rec->n_ips > 0 && rec->n_ips <= POD_NETWORK_IPS_MAX);
        if (pod_record_encode(rec, &b) == 0)
            (void)pod_record_decode(buf_str(&b), &again, NULL);
    }
    pod_record_free(again);
    pod_record_free(rec);
    buf_fini(&b);
}

static void fuzz_record(struct str text)
{
    struct pod_record *rec = NULL;
    struct buf b = BUF_INIT(1 << 20);
    if (pod_record_decode(text, &rec, NULL) == 0) {
        FUZZ_CHECK(pod_record_is_id(rec->id));
        (void)pod_record_encode(rec, &b);
    }
    pod_record_free(rec);
    buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { 0 };
    if (n == 0)
        return 0;
    struct str text = str_n(data + 1, n - 1);
    switch (data[0] % 4) {
    case 0:
        fuzz_config(text);
        break;
    case 1:
        fuzz_result(text);
        break;
    case 2:
        fuzz_record(text);
        break;
    case 3:
        FUZZ_CHECK(pod_cni_read_failure(STR("type"), 1, text, text, &err) < 0 && err.text[0]);
        break;
    }
    return 0;
}
