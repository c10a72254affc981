/* The function: one request, one answer. sdk/include/dormouse_http.h says what there is. */
#include <dormouse_http.h>

int dh_handle(const struct dh_request *r)
{
    struct dh_str name = dh_query(r, "name");
    dh_respond(200, "content-type: text/plain\n");
    dh_puts("hello, ");
    if (name.n)
        dh_write(name.p, name.n);
    else
        dh_puts("world");
    dh_puts("\n");
    return 0;
}
