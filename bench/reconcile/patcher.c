/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest of the reconcile benchmark, ABI v1: writes the status of each Counter once per start,
 * with a number that is another one each time it starts.
 */
#define V1(name)     __attribute__((import_module("dormouse_v1"), import_name(name)))
#define WASI(name)   __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name), used))

typedef unsigned u32;
typedef long long i64;

V1("declare") int declare(const void *p, u32 n);
V1("result_read") u32 result_read(void *p, u32 n);
V1("fail_message") void fail_message(const void *p, u32 n);
V1("api_request") i64 api_request(const void *head, u32 head_n, const void *body, u32 body_n);
WASI("random_get") int random_get(void *p, u32 n);

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

static char payload[64 << 10], head[1024], body[128];
static u32 salt;

static u32 add(char *to, u32 at, const char *s)
{
    while (*s)
        to[at++] = *s++;
    return at;
}

/* The text of a member, up to the quote that ends it; names have none. */
static u32 add_member(char *to, u32 at, const char *member)
{
    const char *p = payload;
    for (u32 i; *p; p++) {
        for (i = 0; member[i] && p[i] == member[i]; i++)
            ;
        if (member[i])
            continue;
        for (p += i; *p && *p != '"'; p++)
            to[at++] = *p;
        break;
    }
    return at;
}

static u32 add_number(char *to, u32 at, u32 v)
{
    if (v >= 10)
        at = add_number(to, at, v / 10);
    to[at] = (char)('0' + v % 10);
    return at + 1;
}

EXPORT("dormouse_v1_setup") int setup(void);
int setup(void)
{
    static const char declaration[] = "{\"abi\":1,\"instances\":" TEXT(
        INSTANCES) ",\"controllers\":[{\"name\":\"counters\","
                   "\"concurrency\":" TEXT(
                       INSTANCES) ",\"for\":{\"id\":\"counters\",\"kind\":\"Counter\","
                                  "\"apiVersion\":\"bench.dormouse.dev/"
                                  "v1\",\"predicate\":{\"changed\":\"generation\"}}}]}";
    (void)random_get(&salt, sizeof salt);
    return declare(declaration, sizeof declaration - 1);
}

EXPORT("dormouse_v1_activate") i64 activate(u32 n);
i64 activate(u32 n)
{
    payload[result_read(payload, n < sizeof payload ? n : sizeof payload - 1)] = 0;
    u32 h = add(head, 0, "PATCH /apis/bench.dormouse.dev/v1/namespaces/");
    h = add_member(head, h, "\"namespace\":\"");
    h = add(head, h, "/counters/");
    h = add_member(head, h, "\"name\":\"");
    h = add(head, h, "/status\ncontent-type: application/merge-patch+json\n");
    u32 b = add(body, 0, "{\"status\":{\"seen\":");
    b = add_number(body, b, salt);
    b = add(body, b, "}}");
    u32 status = 0;
    if (api_request(head, h, body, b) < 0 || result_read(&status, 4) != 4 || status != 200) {
        fail_message("the status was not written", 26);
        return -1;
    }
    return 0;
}
