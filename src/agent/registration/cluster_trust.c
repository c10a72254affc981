/* SPDX-License-Identifier: Apache-2.0 */
/* Which CA to trust; see cluster_trust.h. */
#include "agent/registration/cluster_trust.h"

#include "base/buf.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "codec/jws.h"
#include "codec/yaml.h"
#include "io/tls.h"

#include <assert.h>

enum { ID_CHARS = 6, SECRET_CHARS = 16, CA_MAX_BYTES = 256 << 10 };
_Static_assert((int)CLUSTER_TRUST_HASH_BYTES == (int)SHA256_BYTES, "a SHA-256");

static bool is_word(struct str s, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9')))
            return false;
    return s.n == n;
}

bool cluster_trust_split(struct str token, struct str *ret_id, struct str *ret_secret)
{
    struct str id, secret;
    if (!str_cut(token, '.', &id, &secret) || !is_word(id, ID_CHARS) ||
        !is_word(secret, SECRET_CHARS))
        return false;
    *ret_id = id;
    *ret_secret = secret;
    return true;
}

int cluster_trust_read_hash(const char *text, uint8_t ret[CLUSTER_TRUST_HASH_BYTES],
                            struct err *err)
{
    const struct str prefix = STR("sha256:");
    struct str s = str_of(text);
    if (!str_has_prefix(s, prefix) ||
        !hex_parse(str_slice(s, prefix.n, s.n), ret, CLUSTER_TRUST_HASH_BYTES))
        return err_set(err, E_INVALID, "'%s' is not sha256: and 64 hexadecimal digits", text);
    return 0;
}

static int check_token(struct arena *a, const struct json *data, struct str kubeconfig,
                       struct str token, struct err *err)
{
    struct str id, secret;
    if (!cluster_trust_split(token, &id, &secret))
        return err_set(err, E_INVALID,
                       "the token does not have the form ID.SECRET, "
                       "[a-z0-9]{6}.[a-z0-9]{16}");
    const char *name = arena_printf(a, "jws-kubeconfig-" STR_FMT, STR_ARG(id));
    struct str signature = json_get_str(data, name);
    if (signature.n == 0)
        return err_set(err, E_INVALID,
                       "the cluster does not know the token " STR_FMT
                       ": it has expired, was deleted, or is of another cluster",
                       STR_ARG(id));
    if (!jws_verify(kubeconfig, signature, id, secret))
        return err_set(err, E_INVALID,
                       "the secret of the token " STR_FMT " is wrong, or the server is not the one "
                       "that knows it",
                       STR_ARG(id));
    return 0;
}

/* The CA of the only cluster of a kubeconfig. */
static int read_ca(struct arena *a, struct str kubeconfig, struct str *ret, struct err *err)
{
    struct json *config;
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CA_MAX_BYTES);
    int r = yaml_parse(a, kubeconfig, NULL, &config, err);
    if (r < 0)
        return err_ctx(err, r, "cluster-info");
    const struct json *first = json_first(json_getc(config, "clusters"));
    struct str text = json_str(json_path(first, "cluster", "certificate-authority-data", NULL));
    if (text.n == 0 || base64_decode(&pem, text, BASE64_LENIENT) < 0)
        return err_set(err, E_PARSE, "cluster-info has no certificate-authority-data");
    *ret = str_copy_arena(a, buf_str(&pem));
    return 0;
}

int cluster_trust_take(struct arena *a, const struct json *map, struct str token,
                       const uint8_t *hash, struct str *ret_ca_pem, struct err *err)
{
    struct str ca = STR("");
    const struct json *data = json_getc(map, "data");
    struct str kubeconfig = json_get_str(data, "kubeconfig");
    assert(token.n || hash);
    if (kubeconfig.n == 0)
        return err_set(err, E_PARSE, "cluster-info has no kubeconfig");
    int r = token.n ? check_token(a, data, kubeconfig, token, err) : 0;
    if (r >= 0)
        r = read_ca(a, kubeconfig, &ca, err);
    if (r < 0)
        return r;
    if (hash && !x509_keys_have_hash(ca, hash))
        return err_set(err, E_INVALID,
                       "the server's CA has another key than the one that --ca-hash names");
    *ret_ca_pem = ca;
    return 0;
}
