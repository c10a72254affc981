/* SPDX-License-Identifier: Apache-2.0 */
/* URLs to fetch from (RFC 3986, http and https alone), and the choice of a proxy for them. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct fetch_url {
    bool tls;
    char *host, *path; /* path with query, begins with '/' */
    uint16_t port;
};
/* base: the URL against which a relative reference (of a redirect) is resolved; NULL: none. *ret is
 * given: fetch_url_fini(). */
int fetch_url_parse(const char *text, const struct fetch_url *base, struct fetch_url *ret,
                    struct err *err);
void fetch_url_fini(struct fetch_url *u);
/* The part of a URL (well-formed or not) that a message may quote: the text after its last "@",
 * since a password that is not percent-encoded can hold any character. Borrows `text`. */
const char *fetch_url_shown(const char *text);
enum { FETCH_URL_HOST_MAX = 272 };
/* "example.org", "[::1]:5000": the host for messages, without the port if it is the scheme's
 * default. Returns `out`. */
const char *fetch_url_host(const struct fetch_url *u, char out[FETCH_URL_HOST_MAX]);
/* Whether a no_proxy list ("*", ".example.org", "host:port", ...) exempts this host from
 * proxies. */
bool fetch_url_no_proxy(const char *list, const char *host, uint16_t port);
/* The URL of the proxy for `u`, by http_proxy, https_proxy and no_proxy of the environment, or the
 * same in upper case; NULL: no proxy. */
const char *fetch_url_proxy(const struct fetch_url *u);

struct fetch_proxy {
    char *host;
    uint16_t port;
    char *authorization; /* for Proxy-Authorization (RFC 7617): "Basic ..."; NULL: none */
};
/*
 * "http://[user[:password]@]host[:port]/", percent-encoded. *ret is given: fetch_proxy_fini().
 * Error texts never hold the user or the password. Errors: E_INVALID, also if a "/", "?" or "#" of
 * the password is not encoded; E_UNSUPPORTED: a proxy that is itself reached by https.
 */
int fetch_proxy_parse(const char *text, struct fetch_proxy *ret, struct err *err);
void fetch_proxy_fini(struct fetch_proxy *proxy);
