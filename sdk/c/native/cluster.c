/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"

#include "dm/mem.h"
#include "dm/text.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_MAX_BYTES (1u << 20)
#define POD_DIR        "/var/run/secrets/kubernetes.io/serviceaccount/"

static char *copy(struct dm_str s)
{
    char *p = dm_alloc(s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

/* The file's text, NUL-terminated; NULL when it cannot be read or is too large. */
static char *read_file(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    struct dm_text t = { 0 };
    char piece[4096];
    size_t n;
    while ((n = fread(piece, 1, sizeof(piece), f)) > 0 && t.n <= FILE_MAX_BYTES)
        dm_text_put(&t, piece, n);
    bool ok = !ferror(f) && t.n > 0 && t.n <= FILE_MAX_BYTES;
    (void)fclose(f);
    if (!ok)
        dm_text_fini(&t);
    return t.p;
}

static void trim_end(char *s)
{
    size_t n = s ? strlen(s) : 0;
    while (n && (s[n - 1] == '\n' || s[n - 1] == '\r' || s[n - 1] == ' '))
        s[--n] = 0;
}

static int set_server(struct cluster *c, const char *url, char *why, size_t why_size)
{
    const char *rest = url;
    if (strncmp(url, "https://", 8) == 0) {
        c->tls = true;
        rest += 8;
    } else if (strncmp(url, "http://", 7) == 0) {
        rest += 7;
    } else {
        (void)snprintf(why, why_size, "server '%s' is neither an http nor an https URL", url);
        return -1;
    }
    size_t authority = strcspn(rest, "/"), host = authority;
    bool bracket = *rest == '[';
    const char *port = NULL;
    for (size_t i = authority; i-- > 0 && rest[i] != ']';) {
        if (rest[i] == ':') {
            port = rest + i + 1;
            host = i;
            break;
        }
    }
    size_t port_n = port ? authority - host - 1 : 0;
    c->host = copy((struct dm_str){ rest + (bracket ? 1 : 0), host - (bracket ? 2 : 0) });
    c->port = port ? copy((struct dm_str){ port, port_n }) : copy(dm_str(c->tls ? "443" : "80"));
    size_t prefix = strlen(rest + authority);
    while (prefix && rest[authority + prefix - 1] == '/')
        prefix--;
    c->prefix = copy((struct dm_str){ rest + authority, prefix });
    return 0;
}

/* ---- kubeconfig ---- */

static yaml_node_t *member(yaml_document_t *d, yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        yaml_node_t *k = yaml_document_get_node(d, p->key);
        if (k && k->type == YAML_SCALAR_NODE && strcmp((char *)k->data.scalar.value, key) == 0)
            return yaml_document_get_node(d, p->value);
    }
    return NULL;
}

static const char *text(yaml_node_t *n)
{
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* In a list of {name, <what>: {...}}, the <what> of the named one. */
static yaml_node_t *named(yaml_document_t *d, yaml_node_t *list, const char *name, const char *what)
{
    if (!list || list->type != YAML_SEQUENCE_NODE || !name)
        return NULL;
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top;
         i++) {
        yaml_node_t *entry = yaml_document_get_node(d, *i);
        const char *n = text(member(d, entry, "name"));
        if (n && strcmp(n, name) == 0)
            return member(d, entry, what);
    }
    return NULL;
}

static char *decode_base64(const char *s)
{
    size_t n = strlen(s);
    if (n % 4 || n > FILE_MAX_BYTES)
        return NULL;
    unsigned char *out = dm_alloc(n / 4 * 3 + 1);
    int len = EVP_DecodeBlock(out, (const unsigned char *)s, (int)n);
    if (len < 0) {
        dm_free(out);
        return NULL;
    }
    out[len] = 0; /* padding decodes to NULs, which PEM does not mind */
    return (char *)out;
}

/* "<key>-data" inline, or the file that "<key>" names. */
static char *pem(yaml_document_t *d, yaml_node_t *map, const char *key)
{
    char data_key[64];
    (void)snprintf(data_key, sizeof(data_key), "%s-data", key);
    const char *inline_data = text(member(d, map, data_key)), *path = text(member(d, map, key));
    if (inline_data)
        return decode_base64(inline_data);
    return path ? read_file(path) : NULL;
}

static int from_document(struct cluster *c, yaml_document_t *d, char *why, size_t why_size)
{
    yaml_node_t *root = yaml_document_get_root_node(d);
    const char *current = text(member(d, root, "current-context"));
    yaml_node_t *context = named(d, member(d, root, "contexts"), current, "context");
    yaml_node_t *cluster =
        named(d, member(d, root, "clusters"), text(member(d, context, "cluster")), "cluster");
    yaml_node_t *user =
        named(d, member(d, root, "users"), text(member(d, context, "user")), "user");
    const char *server = text(member(d, cluster, "server"));
    if (!server) {
        (void)snprintf(why, why_size, "kubeconfig has no server for current context '%s'",
                       current ? current : "");
        return -1;
    }
    c->ca_pem = pem(d, cluster, "certificate-authority");
    const char *skip = text(member(d, cluster, "insecure-skip-tls-verify"));
    c->skip_verify = skip && strcmp(skip, "true") == 0;
    const char *token = text(member(d, user, "token")),
               *token_file = text(member(d, user, "tokenFile"));
    c->token = token ? copy(dm_str(token)) : token_file ? read_file(token_file) : NULL;
    c->cert_pem = pem(d, user, "client-certificate");
    c->key_pem = pem(d, user, "client-key");
    return set_server(c, server, why, why_size);
}

static int from_kubeconfig(struct cluster *c, const char *path, char *why, size_t why_size)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        (void)snprintf(why, why_size, "open kubeconfig '%s' failed", path);
        return -1;
    }
    yaml_parser_t parser;
    yaml_document_t document;
    int r = -1;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_file(&parser, f);
    if (yaml_parser_load(&parser, &document)) {
        r = from_document(c, &document, why, why_size);
        yaml_document_delete(&document);
    } else {
        (void)snprintf(why, why_size, "kubeconfig '%s' line %zu: %s", path,
                       parser.problem_mark.line + 1, parser.problem ? parser.problem : "not YAML");
    }
    yaml_parser_delete(&parser);
    (void)fclose(f);
    return r;
}

static int from_pod(struct cluster *c, char *why, size_t why_size)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    if (!host || !port) {
        (void)snprintf(why, why_size,
                       "no API server: set KUBECONFIG, or DM_SERVER, DM_TOKEN and DM_CA_FILE");
        return -1;
    }
    c->tls = true;
    c->host = copy(dm_str(host));
    c->port = copy(dm_str(port));
    c->prefix = copy(dm_str(""));
    c->token = read_file(POD_DIR "token");
    c->ca_pem = read_file(POD_DIR "ca.crt");
    return 0;
}

int cluster_load(struct cluster *c, char *why, size_t why_size)
{
    *c = (struct cluster){ 0 };
    const char *server = getenv("DM_SERVER"), *token = getenv("DM_TOKEN"),
               *ca = getenv("DM_CA_FILE");
    const char *kubeconfig = getenv("KUBECONFIG");
    int r;
    if (server) {
        c->token = token ? copy(dm_str(token)) : NULL;
        c->ca_pem = ca ? read_file(ca) : NULL;
        if (ca && !c->ca_pem) {
            (void)snprintf(why, why_size, "read DM_CA_FILE '%s' failed", ca);
            return -1;
        }
        r = set_server(c, server, why, why_size);
    } else {
        r = kubeconfig ? from_kubeconfig(c, kubeconfig, why, why_size) : from_pod(c, why, why_size);
    }
    trim_end(c->token);
    return r;
}
