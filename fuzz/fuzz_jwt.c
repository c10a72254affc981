/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign words about identity: tokens, token files, impersonation fields, certificate requests. */
#include "api/auth/authn.h"
#include "api/auth/tokens.h"
#include "codec/jwt.h"
#include "fuzz.h"
#include "io/tls.h"

#include <assert.h>

static const char pem[] = "-----BEGIN PUBLIC KEY-----\n"
                          "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
                          "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
                          "-----END PUBLIC KEY-----\n";

static void try_token(struct str text)
{
    static struct jwt_key *key;
    struct arena a = { 0 };
    struct jwt t;
    if (!key)
        (void)jwt_key_read(str_of(pem), &key, NULL);
    if (jwt_parse(&a, text, &t, NULL) >= 0)
        (void)jwt_verify(key, &t);
    arena_fini(&a);
}

static void try_file(struct str text)
{
    struct tokens *t = NULL;
    if (tokens_new(&(struct tokens_opts){ .file = text }, &t, NULL) >= 0)
        tokens_free(t);
}

/* Lines of "name: value". */
static void try_fields(struct str text)
{
    struct arena a = { 0 };
    struct headers h = { 0 };
    while (text.n) {
        struct str line, name, value;
        (void)str_cut(text, '\n', &line, &text);
        (void)str_cut(line, ':', &name, &value);
        (void)headers_add(&h, name, str_trim(value));
    }
    const struct impersonation *im = impersonate_parse(&a, &h);
    assert(!im || im->n_groups <= AUTHN_GROUPS_MAX);
    headers_fini(&h);
    arena_fini(&a);
}

static void try_request(struct str text)
{
    struct arena a = { 0 };
    struct x509_subject who;
    if (x509_read_request(text, &a, &who, NULL) >= 0)
        assert(who.n_orgs <= TLS_PEER_ORGS_MAX);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n(data, size);
    try_token(text);
    try_file(text);
    try_fields(text);
    try_request(text);
    return 0;
}
