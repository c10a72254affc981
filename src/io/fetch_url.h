/* SPDX-License-Identifier: Apache-2.0 */
/* URLs from which something is fetched (RFC 3986, http and https alone), and through which proxy.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct fetch_url {
    bool tls;
    char *host, *path; /* path with query, begins with '/' */
    uint16_t port;
};
/* `base`: what a relative reference (of a redirect) is relative to; NULL: none. Given:
 * fetch_url_fini(). */
int fetch_url_parse(const char *text, const struct fetch_url *base, struct fetch_url *ret,
                    struct err *err);
void fetch_url_fini(struct fetch_url *u);
/* What of a URL, or of what should be one, a message may quote: what follows its last "@", since a
 * password that is not encoded may hold any character. Borrows `text`. */
const char *fetch_url_shown(const char *text);
enum { FETCH_URL_HOST_MAX = 272 };
/* "example.org", "[::1]:5000": the host for messages, without the port where it is the scheme's.
 * Returns `out`. */
const char *fetch_url_host(const struct fetch_url *u, char out[FETCH_URL_HOST_MAX]);
/* Is this host exempt from proxies by a no_proxy list ("*", ".example.org", "host:port", ...)? */
bool fetch_url_no_proxy(const char *list, const char *host, uint16_t port);
/* The URL of the proxy that http_proxy, https_proxy and no_proxy of the environment, or the same in
 * upper case, say for `u`; NULL: none. */
const char *fetch_url_proxy(const struct fetch_url *u);

struct fetch_proxy {
    char *host;
    uint16_t port;
    char *authorization; /* for Proxy-Authorization (RFC 7617): "Basic ..."; NULL: none */
};
/*
 * "http://[user[:password]@]host[:port]/", percent-encoded. Given: fetch_proxy_fini(). Errors,
 * whose texts never hold the user or the password: E_INVALID, also where a "/", "?" or "#" of the
 * password is not encoded; E_UNSUPPORTED: a proxy that is itself reached by https.
 */
int fetch_proxy_parse(const char *text, struct fetch_proxy *ret, struct err *err);
void fetch_proxy_fini(struct fetch_proxy *proxy);
