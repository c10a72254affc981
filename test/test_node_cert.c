/* SPDX-License-Identifier: Apache-2.0 */
/* agent/registration: whom a machine that joins trusts, and certificates in virtual time. */
#include "agent/registration/cluster_trust.h"
#include "agent/registration/node_cert.h"
#include "base/clock.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "codec/jws.h"
#include "fake_transport.h"
#include "io/tls.h"
#include "test.h"

/* ---------------------------------------------------------------- signatures */

TEST(signatures_are_those_of_other_programs)
{
    /* RFC 7515, appendix A.1, without its payload. */
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(256);
    CHECK_OK(
        base64_decode(&key,
                      STR("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4h"
                          "cgUuTwjAzZr1Z9CAow"),
                      BASE64_URL));
    CHECK(jws_verify(STR("{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n "
                         "\"http://example.com/is_root\":true}"),
                     STR("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.."
                         "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
                     STR(""), buf_str(&key)));
    /* The form of Kubernetes' bootstrapsigner; computed by Python's hmac. */
    scoped(buf_fini_scoped) struct buf mine = BUF_INIT(4096);
    CHECK_OK(jws_sign(STR("apiVersion: v1\n"), STR("abcdef"), STR("0123456789abcdef"), &mine));
    CHECK_STR(buf_str(&mine), "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..K1chermA"
                              "QEq0rdqy-ehj0VDfmA_ytv8Wzh9g26FldrE");
}

static bool verifies(const char *header, struct str content)
{
    uint8_t sum[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096), tail = BUF_INIT(4096);
    (void)base64_encode(&text, str_of(header), BASE64_URL);
    (void)buf_printf(&tail, "%s..", buf_cstr(&text));
    (void)buf_add_char(&text, '.');
    (void)base64_encode(&text, content, BASE64_URL);
    sha256_hmac(STR("s"), buf_str(&text), sum);
    (void)base64_encode(&tail, str_n(sum, sizeof sum), BASE64_URL);
    return jws_verify(content, buf_str(&tail), STR("k"), STR("s"));
}

TEST(signatures_that_say_something_else_are_refused)
{
    CHECK(verifies("{\"alg\":\"HS256\",\"kid\":\"k\"}", STR("c")));
    CHECK(!verifies("{\"alg\":\"none\",\"kid\":\"k\"}", STR("c")));
    CHECK(!verifies("{\"alg\":\"HS256\",\"kid\":\"x\"}", STR("c")));
    CHECK(!verifies("{\"alg\":\"HS256\",\"kid\":\"k\",\"crit\":[\"b64\"]}", STR("c")));
    CHECK(!verifies("[]", STR("c")));
    scoped(buf_fini_scoped) struct buf mine = BUF_INIT(4096);
    CHECK_OK(jws_sign(STR("c"), STR("k"), STR("s"), &mine));
    CHECK(jws_verify(STR("c"), buf_str(&mine), STR("k"), STR("s")));
    CHECK(!jws_verify(STR("d"), buf_str(&mine), STR("k"), STR("s")));
    CHECK(!jws_verify(STR("c"), buf_str(&mine), STR("k"), STR("t")));
    for (size_t i = 0; i < mine.n; i++) { /* cut or changed anywhere */
        CHECK(!jws_verify(STR("c"), str_slice(buf_str(&mine), 0, i), STR("k"), STR("s")));
        mine.p[i] ^= 1;
        CHECK(!jws_verify(STR("c"), buf_str(&mine), STR("k"), STR("s")));
        mine.p[i] ^= 1;
    }
}

/* ---------------------------------------------------------------- trust */

struct authority {
    struct buf cert, key;
    char hash[80]; /* of its key, in the form of the command line */
};

static void make_authority(struct authority *ca)
{
    *ca = (struct authority){ .cert = BUF_INIT(1 << 16), .key = BUF_INIT(1 << 16) };
    CHECK_OK(x509_make_ca("test-ca", &ca->cert, &ca->key, NULL));
}

static void free_authority(struct authority *ca)
{
    buf_fini(&ca->cert);
    buf_fini(&ca->key);
}

#define TOKEN "abcdef.0123456789abcdef"

static struct json *info(struct arena *a, struct str ca_pem, const char *id, const char *secret)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 16), signature = BUF_INIT(1 << 16);
    struct json *map = json_new_object(a), *data = json_obj(a, map, "data");
    (void)buf_add_cstr(&text, "clusters:\n- cluster:\n    certificate-authority-data: ");
    (void)base64_encode(&text, ca_pem, BASE64_STD);
    (void)buf_add_cstr(&text, "\n    server: https://x:1\n  name: \"\"\n");
    json_set_str(a, data, "kubeconfig", buf_str(&text));
    CHECK_OK(jws_sign(buf_str(&text), str_of(id), str_of(secret), &signature));
    json_set_str(a, data, arena_printf(a, "jws-kubeconfig-%s", id), buf_str(&signature));
    return map;
}

TEST(a_token_proves_the_cluster)
{
    struct arena a = { 0 };
    struct authority ca;
    struct str pem;
    struct err err = { 0 };
    make_authority(&ca);
    struct json *map = info(&a, buf_str(&ca.cert), "abcdef", "0123456789abcdef");
    CHECK_OK(cluster_trust_take(&a, map, STR(TOKEN), NULL, &pem, &err));
    CHECK_STR(pem, buf_cstr(&ca.cert));
    CHECK_ERR(cluster_trust_take(&a, map, STR("abcdef.0123456789abcdeg"), NULL, &pem, &err),
              E_INVALID);
    CHECK(strstr(err.text, "secret of the token abcdef is wrong"));
    CHECK(!strstr(err.text, "0123456789"));
    CHECK_ERR(cluster_trust_take(&a, map, STR("zzzzzz.0123456789abcdef"), NULL, &pem, &err),
              E_INVALID);
    CHECK(strstr(err.text, "does not know the token zzzzzz"));
    struct json *data = json_getc(map, "data"); /* another server, which has no token */
    json_set_str(&a, data, "kubeconfig",
                 str_of(arena_printf(&a, STR_FMT "\n", STR_ARG(json_get_str(data, "kubeconfig")))));
    CHECK_ERR(cluster_trust_take(&a, map, STR(TOKEN), NULL, &pem, &err), E_INVALID);
    arena_fini(&a);
    free_authority(&ca);
}

TEST(a_hash_of_the_key_proves_the_cluster)
{
    struct arena a = { 0 };
    struct authority ca, other;
    struct str pem;
    uint8_t hash[32], no[32];
    make_authority(&ca);
    make_authority(&other);
    CHECK_ERR(cluster_trust_read_hash("sha256:00", hash, NULL), E_INVALID);
    CHECK_ERR(
        cluster_trust_read_hash(
            "sha1:0000000000000000000000000000000000000000000000000000000000000000", hash, NULL),
        E_INVALID);
    CHECK_OK(cluster_trust_read_hash(
        "sha256:00000000000000000000000000000000000000000000000000000000000000ff", no, NULL));
    /* openssl x509 -pubkey | openssl pkey -pubin -outform der | sha256 */
    char dir[] = "/tmp/dm-test-node-cert-XXXXXX", command[512], text[80] = "sha256:";
    CHECK(mkdtemp(dir));
    (void)snprintf(command, sizeof command, "%s/ca", dir);
    FILE *f = fopen(command, "w");
    CHECK(f && fwrite(ca.cert.p, 1, ca.cert.n, f) == ca.cert.n && fclose(f) == 0);
    (void)snprintf(command, sizeof command,
                   "openssl x509 -in %s/ca -pubkey -noout | openssl pkey -pubin -outform der | "
                   "sha256sum; rm -r %s",
                   dir, dir);
    f = popen(command, "r");
    CHECK(f && fread(text + 7, 1, 64, f) == 64);
    CHECK_INT(pclose(f), 0);
    CHECK_OK(cluster_trust_read_hash(text, hash, NULL));
    struct json *map = info(&a, buf_str(&ca.cert), "abcdef", "0123456789abcdef");
    CHECK_OK(cluster_trust_take(&a, map, STR(""), hash, &pem, NULL));
    CHECK_OK(cluster_trust_take(&a, map, STR(TOKEN), hash, &pem, NULL));
    CHECK_ERR(cluster_trust_take(&a, map, STR(""), no, &pem, NULL), E_INVALID);
    CHECK_ERR(cluster_trust_take(&a, map, STR(TOKEN), no, &pem, NULL), E_INVALID);
    /* A bundle in which one certificate is the right one would trust the other one as well. */
    (void)buf_add_str(&ca.cert, buf_str(&other.cert));
    map = info(&a, buf_str(&ca.cert), "abcdef", "0123456789abcdef");
    CHECK_ERR(cluster_trust_take(&a, map, STR(""), hash, &pem, NULL), E_INVALID);
    arena_fini(&a);
    free_authority(&ca);
    free_authority(&other);
}

TEST(what_is_no_cluster_info_is_refused)
{
    static const char *const maps[] = {
        "{}",
        "{\"data\":{}}",
        "{\"data\":{\"kubeconfig\":\"a\"}}",
        "{\"data\":{\"kubeconfig\":\"{clusters: [{cluster: {}}]}\"}}",
        "{\"data\":{\"kubeconfig\":\"{clusters: [\"}}",
        ("{\"data\":{\"kubeconfig\":\"{clusters: [{cluster: "
         "{certificate-authority-data: '!'}}]}\"}}")
    };
    uint8_t hash[32] = { 0 };
    struct str pem;
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        struct arena a = { 0 };
        struct json *map;
        CHECK_OK(json_parse(&a, str_of(maps[i]), NULL, &map, NULL));
        CHECK(cluster_trust_take(&a, map, STR(""), hash, &pem, NULL) < 0);
        arena_fini(&a);
    }
}

/* ---------------------------------------------------------------- certificates */

struct rig {
    struct loop loop;
    struct fake fake;
    struct node_cert *cert;
    struct authority ca;
    struct arena arena;
    struct buf have_cert, have_key; /* as last reported */
    unsigned issued, refused;
    int why;
};

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void on_cert(void *arg, struct str cert, struct str key)
{
    struct rig *r = arg;
    r->issued++;
    buf_reset(&r->have_cert);
    buf_reset(&r->have_key);
    (void)buf_add_str(&r->have_cert, cert);
    (void)buf_add_str(&r->have_key, key);
}

static void on_refused(void *arg, int why, const struct err *err)
{
    struct rig *r = arg;
    CHECK(err->text[0]);
    r->refused++;
    r->why = why;
}

static void start(struct rig *r, struct node_cert_opts opts)
{
    opts.loop = &r->loop;
    opts.transport = &r->fake.base;
    opts.node_name = "n1";
    opts.on_cert = on_cert;
    opts.on_refused = on_refused;
    opts.arg = r;
    node_cert_start(&opts, &r->cert);
    turn(r);
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){ .have_cert = BUF_INIT(1 << 16), .have_key = BUF_INIT(1 << 16) };
    CHECK_OK(loop_init(&r->loop, NULL));
    fake_init(&r->fake);
    make_authority(&r->ca);
}

static void rig_fini(struct rig *r)
{
    node_cert_stop(r->cert);
    fake_settle(&r->fake);
    turn(r);
    CHECK_INT(loop_next_timer_ms(&r->loop), UINT64_MAX);
    arena_fini(&r->arena);
    free_authority(&r->ca);
    buf_fini(&r->have_cert);
    buf_fini(&r->have_key);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

static struct fake_call *last(struct rig *r)
{
    CHECK(r->fake.n > 0);
    return &r->fake.call[r->fake.n - 1];
}

static void answer(struct rig *r, int status, const char *body)
{
    struct fake_call *c = last(r);
    fake_head(c, status);
    fake_data(c, body);
    fake_end(c, 0);
    turn(r);
}

#define CSRS "/apis/certificates.k8s.io/v1/certificatesigningrequests"

/* The request that is being posted. */
static struct json *posted(struct rig *r)
{
    struct json *csr;
    CHECK(!last(r)->ended);
    CHECK_STR(str_of(last(r)->method), "POST");
    CHECK_STR(str_of(last(r)->target), CSRS);
    CHECK_OK(json_parse(&r->arena, str_of(last(r)->body), NULL, &csr, NULL));
    return csr;
}

/* The certificate for it, base64, as the cluster's signer makes it. */
static const char *sign(struct rig *r, const struct json *csr, enum x509_use use, uint64_t valid_s)
{
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(1 << 16), cert = BUF_INIT(1 << 16),
                                       text = BUF_INIT(1 << 16);
    CHECK_OK(base64_decode(&pem, json_str(json_path(csr, "spec", "request", NULL)), BASE64_STD));
    /* OpenSSL does not know of skipped time. */
    valid_s += 10 * (clock_skipped_ms() / 1000);
    CHECK_OK(x509_sign_request(buf_str(&r->ca.cert), buf_str(&r->ca.key), buf_str(&pem), use,
                               valid_s, &cert, NULL));
    (void)base64_encode(&text, buf_str(&cert), BASE64_STD);
    return arena_printf(&r->arena, "{\"status\":{\"certificate\":\"%s\"}}", buf_cstr(&text));
}

static void skip_to_timer(struct rig *r)
{
    uint64_t due = loop_next_timer_ms(&r->loop), now = loop_now_ms(&r->loop);
    CHECK(due != UINT64_MAX);
    loop_skip(&r->loop, due > now ? due - now : 0);
    turn(r);
}

static void skip_to(struct rig *r, int64_t wall_s)
{
    int64_t left_ms = wall_s * 1000 - clock_wall_ms();
    CHECK(left_ms > 0);
    loop_skip(&r->loop, (uint64_t)left_ms);
    turn(r);
}

/* One whole request. */
static void issue(struct rig *r, enum x509_use use, uint64_t valid_s)
{
    const char *signed_csr = sign(r, posted(r), use, valid_s);
    answer(r, 201, "{\"metadata\":{\"name\":\"csr-1\"}}");
    skip_to_timer(r);
    CHECK_STR(str_of(last(r)->target), CSRS "/csr-1");
    answer(r, 200, signed_csr);
}

TEST(a_certificate_is_requested_and_renewed_between_70_and_90_percent)
{
    struct rig r;
    rig_init(&r);
    start(&r, (struct node_cert_opts){ .valid_s = 3600 });
    const struct json *csr = posted(&r);
    CHECK_STR(json_str(json_path(csr, "spec", "signerName", NULL)),
              "kubernetes.io/kube-apiserver-client-kubelet");
    CHECK_INT(json_int_or(json_path(csr, "spec", "expirationSeconds", NULL), 0), 3600);
    issue(&r, X509_USE_CLIENT, 3600);
    CHECK_INT(r.issued, 1);
    CHECK(node_cert_is_valid(r.cert));
    CHECK(x509_is_for(buf_str(&r.have_cert), STR("system:node:n1"), NULL, 0));
    CHECK_OK(x509_check_pair(buf_str(&r.have_cert), buf_str(&r.have_key), NULL));
    size_t n = r.fake.n;
    int64_t from_s, until_s;
    CHECK_OK(x509_validity(buf_str(&r.have_cert), &from_s, &until_s, NULL));
    skip_to(&r, from_s + (until_s - from_s) * 7 / 10 - 5);
    CHECK_INT(r.fake.n, n);
    skip_to(&r, from_s + (until_s - from_s) * 9 / 10 + 5);
    CHECK_INT(r.fake.n, n + 1);
    scoped(free_scoped) char *before = xstrdup(buf_cstr(&r.have_key));
    issue(&r, X509_USE_CLIENT, 3600);
    CHECK_INT(r.issued, 2);
    CHECK(strcmp(before, buf_cstr(&r.have_key)) != 0); /* a new key as well */
    rig_fini(&r);
}

TEST(one_that_there_is_is_used)
{
    struct rig r, second;
    const char *const names[] = { "n1", "10.0.0.1" }, *const moved[] = { "n1", "10.0.0.2" };
    rig_init(&r);
    start(&r, (struct node_cert_opts){ .use = NODE_CERT_SERVER, .names = names, .n_names = 2 });
    CHECK_STR(json_str(json_path(posted(&r), "spec", "signerName", NULL)),
              "kubernetes.io/kubelet-serving");
    issue(&r, X509_USE_SERVER, 3600);
    CHECK_INT(r.issued, 1);
    struct node_cert_opts opts = { .use = NODE_CERT_SERVER,
                                   .names = names,
                                   .n_names = 2,
                                   .cert_pem = buf_str(&r.have_cert),
                                   .key_pem = buf_str(&r.have_key) };
    rig_init(&second);
    start(&second, opts);
    CHECK_INT(second.fake.n, 0);
    CHECK(node_cert_is_valid(second.cert));
    rig_fini(&second);
    opts.names = moved; /* the machine has another address now */
    rig_init(&second);
    start(&second, opts);
    CHECK_INT(second.fake.n, 1);
    rig_fini(&second);
    opts.names = names;
    opts.key_pem = buf_str(&r.ca.key); /* not its key */
    rig_init(&second);
    start(&second, opts);
    CHECK_INT(second.fake.n, 1);
    rig_fini(&second);
    rig_fini(&r);
}

TEST(a_request_waits_for_its_approval_and_is_made_again)
{
    struct rig r;
    rig_init(&r);
    start(&r, (struct node_cert_opts){ 0 });
    answer(&r, 201, "{\"metadata\":{\"name\":\"csr-1\"}}");
    for (uint64_t begin = loop_now_ms(&r.loop); r.refused == 0;) {
        skip_to_timer(&r);
        CHECK(loop_now_ms(&r.loop) - begin < NODE_CERT_WAIT_MS + 70000);
        answer(&r, 200, "{\"metadata\":{\"name\":\"csr-1\"}}");
    }
    CHECK_ERR(r.why, -ETIMEDOUT);
    CHECK(r.fake.n < 60);
    skip_to_timer(&r);
    issue(&r, X509_USE_CLIENT, 3600);
    CHECK_INT(r.issued, 1);
    rig_fini(&r);
}

TEST(refusals_are_reported)
{
    static const struct {
        int posted;
        const char *looked;
        int code;
    } cases[] = {
        { 401, NULL, -EACCES },
        { 403, NULL, -EACCES },
        { 201, "{\"status\":{\"conditions\":[{\"type\":\"Denied\",\"message\":\"no\"}]}}", -EPERM },
        { 201, "{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"message\":\"no\"}]}}", -EPERM },
        { 201, "{\"status\":{\"certificate\":\"AAAA\"}}", E_INVALID },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        rig_init(&r);
        start(&r, (struct node_cert_opts){ 0 });
        answer(&r, cases[i].posted, "{\"metadata\":{\"name\":\"csr-1\"},\"message\":\"m\"}");
        if (cases[i].looked) {
            skip_to_timer(&r);
            answer(&r, 200, cases[i].looked);
        }
        CHECK_INT(r.refused, 1);
        CHECK_ERR(r.why, cases[i].code);
        CHECK_INT(r.issued, 0);
        rig_fini(&r);
    }
}

TEST(a_certificate_for_another_key_is_not_taken)
{
    struct rig r, other;
    rig_init(&r);
    rig_init(&other);
    start(&r, (struct node_cert_opts){ 0 });
    start(&other, (struct node_cert_opts){ 0 });
    const char *foreign = sign(&r, posted(&other), X509_USE_CLIENT, 3600);
    answer(&r, 201, "{\"metadata\":{\"name\":\"csr-1\"}}");
    skip_to_timer(&r);
    answer(&r, 200, foreign);
    CHECK_INT(r.issued, 0);
    CHECK_INT(r.refused, 1);
    rig_fini(&other);
    rig_fini(&r);
}

TEST(a_cluster_that_does_not_answer_is_asked_again)
{
    struct rig r;
    rig_init(&r);
    start(&r, (struct node_cert_opts){ 0 });
    for (int i = 0; i < 5; i++) {
        fake_end(last(&r), -ECONNREFUSED);
        turn(&r);
        skip_to_timer(&r);
        (void)posted(&r);
    }
    CHECK_INT(r.refused, 0);
    issue(&r, X509_USE_CLIENT, 3600);
    CHECK_INT(r.issued, 1);
    rig_fini(&r);
}

TEST_MAIN
