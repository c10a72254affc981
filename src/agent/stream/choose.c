/* SPDX-License-Identifier: Apache-2.0 */
/* Which streaming protocol a request gets; see choose.h. */
#include "agent/stream/choose.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>

struct choose_protocol {
    const char *name;
    unsigned version;
    bool is_base64;
    enum stream_carrier carrier;
};

/* In the order of preference of no one: the client's order counts. The last one is for clients that
 * name none. */
static const struct choose_protocol command_channels[] = {
    { "v5.channel.k8s.io", 5, false, STREAM_CHANNELS },
    { "v4.channel.k8s.io", 4, false, STREAM_CHANNELS },
    { "v4.base64.channel.k8s.io", 4, true, STREAM_CHANNELS },
    { "channel.k8s.io", 1, false, STREAM_CHANNELS },
    { "base64.channel.k8s.io", 1, true, STREAM_CHANNELS },
    { "", 1, false, STREAM_CHANNELS },
};
static const struct choose_protocol forward_channels[] = {
    { "SPDY/3.1+portforward.k8s.io", 0, false, STREAM_TUNNEL },
    { "v4.channel.k8s.io", 0, false, STREAM_CHANNELS },
    { "v4.base64.channel.k8s.io", 0, true, STREAM_CHANNELS },
    { "", 0, false, STREAM_CHANNELS },
};
static const struct choose_protocol command_spdy[] = {
    { "v4.channel.k8s.io", 4, false, STREAM_SPDY },
    { "v3.channel.k8s.io", 3, false, STREAM_SPDY },
    { "v2.channel.k8s.io", 2, false, STREAM_SPDY },
    { "channel.k8s.io", 1, false, STREAM_SPDY },
};
static const struct choose_protocol forward_spdy[] = {
    { "portforward.k8s.io", 0, false, STREAM_SPDY },
};

static int refuse(struct stream_refusal *no, int status, const char *text)
{
    *no = (struct stream_refusal){ .status = status };
    (void)snprintf(no->text, sizeof no->text, "%s", text);
    return -EINVAL;
}

static bool find(const struct choose_protocol *list, size_t n, struct str name,
                 struct stream_choice *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (!str_is(name, list[i].name))
            continue;
        *ret = (struct stream_choice){ .carrier = list[i].carrier,
                                       .version = list[i].version,
                                       .is_base64 = list[i].is_base64,
                                       .protocol = list[i].name };
        return true;
    }
    return false;
}

/* The first one of the fields of this name that the list has. *ret_named: the client names any. */
static bool find_first(const struct headers *h, const char *field,
                       const struct choose_protocol *list, size_t n, struct stream_choice *ret,
                       bool *ret_named)
{
    *ret_named = false;
    for (size_t i = 0; i < h->n; i++) {
        struct str rest = headers_value(h, i), item;
        while (str_is(headers_name(h, i), field) && rest.n) {
            (void)str_cut(rest, ',', &item, &rest);
            item = str_trim(item);
            *ret_named = *ret_named || item.n;
            if (item.n && find(list, n, item, ret))
                return true;
        }
    }
    return false;
}

bool stream_choose_is_websocket(const struct headers *h)
{
    return headers_has_token(h, "upgrade", "websocket");
}

static int choose_websocket(enum stream_purpose purpose, const struct headers *h,
                            struct stream_choice *ret, struct stream_refusal *no)
{
    bool forwards = purpose == STREAM_PORT_FORWARD, named;
    const struct choose_protocol *list = forwards ? forward_channels : command_channels;
    size_t n = forwards ? ARRAY_LEN(forward_channels) : ARRAY_LEN(command_channels);
    struct stream_choice found;
    if (!find_first(h, "sec-websocket-protocol", list, n, &found, &named) &&
        (named || !find(list, n, STR(""), &found)))
        return refuse(no, 403, "unable to upgrade: the WebSocket subprotocols are not supported");
    if (!str_is(str_trim(headers_get(h, "sec-websocket-version")), "13") ||
        ws_accept(str_trim(headers_get(h, "sec-websocket-key")), found.accept) < 0)
        return refuse(no, 400, "unable to upgrade: not a WebSocket handshake of version 13");
    *ret = found;
    return 0;
}

static int choose_spdy(enum stream_purpose purpose, const struct headers *h,
                       struct stream_choice *ret, struct stream_refusal *no)
{
    bool forwards = purpose == STREAM_PORT_FORWARD, named;
    const struct choose_protocol *list = forwards ? forward_spdy : command_spdy;
    size_t n = forwards ? ARRAY_LEN(forward_spdy) : ARRAY_LEN(command_spdy);
    if (!headers_has_token(h, "upgrade", "SPDY/3.1"))
        return refuse(no, 400, "unable to upgrade: missing upgrade headers in request");
    if (find_first(h, "x-stream-protocol-version", list, n, ret, &named))
        return 0;
    if (!named) { /* clients of Kubernetes 1.0 */
        (void)find(list, n, str_of(list[n - 1].name), ret);
        ret->protocol = "";
        return 0;
    }
    (void)refuse(no, 403, "unable to upgrade: unable to negotiate protocol");
    no->accepted = forwards ? "portforward.k8s.io"
                            : "v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, "
                              "channel.k8s.io";
    return -EINVAL;
}

int stream_choose(enum stream_purpose purpose, const struct headers *h, struct stream_choice *ret,
                  struct stream_refusal *no)
{
    return stream_choose_is_websocket(h) ? choose_websocket(purpose, h, ret, no)
                                         : choose_spdy(purpose, h, ret, no);
}

void stream_choose_answer(const struct stream_choice *c, struct headers *to)
{
    bool is_spdy = c->carrier == STREAM_SPDY;
    (void)headers_addc(to, "upgrade", is_spdy ? "SPDY/3.1" : "websocket");
    if (!is_spdy)
        (void)headers_addc(to, "sec-websocket-accept", c->accept);
    if (c->protocol[0])
        (void)headers_addc(to, is_spdy ? "x-stream-protocol-version" : "sec-websocket-protocol",
                           c->protocol);
}
