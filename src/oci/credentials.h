/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials for registries where `docker login` and `podman login` leave them: the first of
 *
 *     $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json, ~/.docker/config.json
 *
 * Of a file: the program that "credHelpers" names for the host, the program of "credsStore", then
 * "auths", the longest key that fits first ("host/namespace/repository", "host/namespace", "host";
 * containers-auth.json(5)). Programs are docker-credential-NAME on PATH.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "oci/reference.h"

enum {
    OCI_CREDENTIALS_FILE_MAX = 1 << 20,
    OCI_CREDENTIAL_MAX = 32 << 10, /* bytes of a name, password or token */
    OCI_CREDENTIAL_PROGRAM_MS = 30000,
    OCI_CREDENTIAL_PROGRAM_END_MS = 2000, /* from the end of its answer to its own */
};

struct oci_login {
    char *user, *password; /* NULL: none */
    char *identity_token;  /* to be exchanged for access; instead of both */
};

void oci_login_fini(struct oci_login *login);
bool oci_login_is_empty(const struct oci_login *login);
void oci_login_copy(struct oci_login *to, const struct oci_login *from);

/*
 * What a configuration file says about a repository. *ret_program: the name of a program to ask
 * instead, given, free(); NULL: none. Both empty: nothing. Pure; also for Secrets of type
 * kubernetes.io/dockerconfigjson. Errors: E_PARSE, without the secrets in the text.
 */
int oci_login_read(struct str config, const struct oci_reference *ref, struct oci_login *ret,
                   char **ret_program, struct err *err);
/*
 * What the first of several configurations says that knows the registry; none: *ret is empty.
 * Programs that they name are not run: they would have the rights of this process. Errors:
 * E_INVALID, without the secrets in the text.
 */
int oci_login_read_first(const struct str *configs, size_t n, const struct oci_reference *ref,
                         struct oci_login *ret, struct err *err);
/* Ask docker-credential-PROGRAM. Blocks. Not knowing the host is no error. Errors: -ENOENT no such
 * program, -ETIMEDOUT, E_PARSE, -EIO with the program's words. */
int oci_login_ask(const char *program, const struct oci_reference *ref, struct oci_login *ret,
                  struct err *err);
/* All of it, as above. Blocks. *ret is empty where nothing is known. oci_login_fini(). */
int oci_login_find(const struct oci_reference *ref, struct oci_login *ret, struct err *err);
