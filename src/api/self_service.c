/* SPDX-License-Identifier: Apache-2.0 */
/* The Service "kubernetes"; see self_service.h. */
#include "api/self_service.h"

#include "api/core.h"
#include "base/log.h"

#include <arpa/inet.h>
#include <uv.h>

enum { ADDRESS_MAX = 64 };

static bool is_usable(const struct sockaddr_in *at)
{
    uint32_t ip = ntohl(at->sin_addr.s_addr);
    return ip != INADDR_ANY && ip >> 24 != 127 && ip >> 16 != 0xa9fe /* link-local */;
}

/* The address that was asked for, or the machine's first address that other machines can reach. */
static bool find_address(const char *host, char ret[ADDRESS_MAX])
{
    struct sockaddr_in at;
    uv_interface_address_t *all;
    int n;
    if (uv_ip4_addr(host, 0, &at) == 0 && ntohl(at.sin_addr.s_addr) != INADDR_ANY)
        return is_usable(&at) && uv_ip4_name(&at, ret, ADDRESS_MAX) == 0;
    if (uv_interface_addresses(&all, &n) < 0)
        return false;
    bool found = false;
    for (int i = 0; i < n && !found; i++) {
        const struct sockaddr_in *v4 = &all[i].address.address4;
        found = v4->sin_family == AF_INET && !all[i].is_internal && is_usable(v4) &&
                uv_ip4_name(v4, ret, ADDRESS_MAX) == 0;
    }
    uv_free_interface_addresses(all, n);
    return found;
}

static void on_done(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    if (r < 0 && !api->closing)
        log_warn("cannot publish the server as a service", "error=\"%s\"", err_text(err));
}

void self_service_publish(struct api *api, const char *host, uint16_t port)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(8192);
    char ip[ADDRESS_MAX];
    (void)buf_printf(
        &b,
        "[{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"kubernetes\","
        "\"namespace\":\"default\",\"labels\":{\"component\":\"apiserver\",\"provider\":"
        "\"kubernetes\"}},\"spec\":{\"clusterIP\":\"10.96.0.1\",\"ipFamilyPolicy\":\"SingleStack\","
        "\"ports\":[{\"name\":\"https\","
        "\"protocol\":\"TCP\",\"port\":443,\"targetPort\":%u}]}}",
        port);
    if (find_address(host, ip))
        (void)buf_printf(
            &b,
            ",{\"apiVersion\":\"v1\",\"kind\":\"Endpoints\",\"metadata\":{\"name\":\"kubernetes\","
            "\"namespace\":\"default\",\"labels\":{\"endpointslice.kubernetes.io/skip-mirror\":"
            "\"true\"}},\"subsets\":[{\"addresses\":[{\"ip\":\"%s\"}],\"ports\":[{\"name\":"
            "\"https\",\"port\":%u,\"protocol\":\"TCP\"}]}]},{\"apiVersion\":"
            "\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{\"name\":"
            "\"kubernetes\",\"namespace\":\"default\",\"labels\":{\"kubernetes.io/service-name\":"
            "\"kubernetes\"}},\"addressType\":\"IPv4\",\"endpoints\":[{\"addresses\":[\"%s\"],"
            "\"conditions\":{\"ready\":true}}],\"ports\":[{\"name\":\"https\",\"port\":%u,"
            "\"protocol\":\"TCP\"}]}",
            ip, port, ip, port);
    (void)buf_add_char(&b, ']');
    struct err err = { 0 };
    int r = api_ensure_objects(api, buf_str(&b), on_done, api, &err);
    if (r < 0)
        on_done(api, r, &err);
}
