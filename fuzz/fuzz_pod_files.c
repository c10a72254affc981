/* SPDX-License-Identifier: Apache-2.0 */
/* The node's resolv.conf, read for pods under each policy, and its first words as a pod's own. */
#include "fuzz.h"

#include "agent/network/pod_files.h"
#include "agent/network/pod_range.h"

static void check_limits(const struct buf *b)
{
    size_t n_nameservers = 0;
    for (struct str rest = buf_str(b), line; rest.n;) {
        (void)str_cut(rest, '\n', &line, &rest);
        n_nameservers += str_has_prefix(line, STR("nameserver "));
        if (str_has_prefix(line, STR("search ")))
            FUZZ_CHECK(line.n <= strlen("search ") + POD_FILES_SEARCH_BYTES_MAX);
    }
    FUZZ_CHECK(n_nameservers <= POD_FILES_NAMESERVERS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct str cluster = STR("10.96.0.10");
    struct str text = str_n(data, n), word, rest;
    struct netlink_ip range;
    (void)str_cut(text, ' ', &word, &rest);
    if (pod_range_parse(word, &range)) {
        struct netlink_ip last = pod_range_at(&range, pod_range_count(&range) - 1);
        FUZZ_CHECK(pod_range_has(&range, &last));
    }
    for (int policy = POD_FILES_CLUSTER_FIRST; policy <= POD_FILES_NONE; policy++) {
        struct buf b = BUF_INIT(POD_FILES_TEXT_MAX);
        struct pod_files_warnings w;
        const struct pod_files_option option = { word, rest };
        struct pod_files_dns dns = { .policy = (enum pod_files_policy)policy,
                                     .namespace = STR("ns"),
                                     .cluster_nameservers = &cluster,
                                     .n_cluster_nameservers = 1,
                                     .cluster_domain = STR("cluster.local"),
                                     .host_conf = text,
                                     .options = &option,
                                     .n_options = n % 2 };
        if (pod_files_resolv_conf(&dns, &b, &w, NULL) == 0)
            check_limits(&b);
        buf_fini(&b);
    }
    return 0;
}
