/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of modules, redirects relative to one another, and no_proxy lists; a line each. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "io/fetch_url.h"

static void check(const struct fetch_url *u)
{
    FUZZ_CHECK(u->host[0] && u->port && u->path[0] == '/');
    for (const char *s = u->host; *s; s++)
        FUZZ_CHECK((unsigned char)*s > ' ' && *s != 0x7f && *s != '/' && *s != '@');
    for (const char *s = u->path; *s; s++)
        FUZZ_CHECK((unsigned char)*s > ' ' && *s != 0x7f && *s != '#');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str rest = str_n(data, n), line;
    struct fetch_url base = { 0 };
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        scoped(free_scoped) char *text = str_dup(line);
        struct fetch_url u;
        struct fetch_proxy proxy;
        struct err err = { 0 };
        if (fetch_proxy_parse(text, &proxy, NULL) >= 0) {
            FUZZ_CHECK(proxy.host[0] && proxy.port);
            FUZZ_CHECK(!strchr(text, '@') == !proxy.authorization); /* else it is a password */
            fetch_proxy_fini(&proxy);
        }
        if (fetch_url_parse(text, base.host ? &base : NULL, &u, &err) < 0) {
            FUZZ_CHECK(err.code == E_INVALID && err.text[0]);
            FUZZ_CHECK(!u.host && !u.path);
            if (base.host)
                (void)fetch_url_no_proxy(text, base.host, base.port);
            continue;
        }
        check(&u);
        fetch_url_fini(&base);
        base = u;
    }
    fetch_url_fini(&base);
    return 0;
}
