/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function: greets whoever ?name= says, answers a POST with what it got, counts to show that no
 * request sees what the one before it did.
 */
#include <dormouse_http.h>

static unsigned count;

static int echo(void)
{
    char part[8192];
    int n;
    while ((n = dh_read(part, sizeof part)) > 0)
        if (dh_write(part, (size_t)n) < 0)
            return 0; /* the client has gone */
    return n < 0;
}

int dh_handle(const struct dh_request *r)
{
    if (!dh_is(r->path, "/")) {
        dh_respond(404, "content-type: text/plain\n");
        dh_puts("there is only /\n");
        return 0;
    }
    dh_respond(200, "content-type: text/plain\n");
    if (dh_is(r->method, "POST"))
        return echo();
    struct dh_str name = dh_query(r, "name");
    dh_puts("hello, ");
    if (name.n)
        dh_write(name.p, name.n);
    else
        dh_puts("world");
    dh_puts(++count == 1 ? "\n" : " again\n");
    return 0;
}
