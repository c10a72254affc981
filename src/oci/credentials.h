/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials for registries from the files of `docker login` and `podman login`: the first of
 *
 *     $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json, ~/.docker/config.json
 *
 * In a file, the first of: the program that "credHelpers" names for the host, the program of
 * "credsStore", "auths" with the longest matching key ("host/namespace/repository",
 * "host/namespace", "host"; containers-auth.json(5)). Programs are docker-credential-NAME on PATH.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "oci/reference.h"

enum {
    OCI_CREDENTIALS_FILE_MAX = 1 << 20,
    OCI_CREDENTIAL_MAX = 32 << 10, /* bytes of a name, password or token */
    OCI_CREDENTIAL_PROGRAM_MS = 30000,
    OCI_CREDENTIAL_PROGRAM_END_MS = 2000, /* from the end of its output to its exit */
};

struct oci_login {
    char *user, *password; /* NULL: none */
    char *identity_token;  /* to be exchanged for access; instead of both */
};

void oci_login_fini(struct oci_login *login);
bool oci_login_is_empty(const struct oci_login *login);
void oci_login_copy(struct oci_login *to, const struct oci_login *from);

/*
 * The login for a repository in a configuration file. *ret_program: the name of a program to ask
 * instead, given, free(); NULL: none. Both are empty if the file has no login. Pure; also for
 * Secrets of type kubernetes.io/dockerconfigjson. Errors: E_PARSE, without the secrets in the text.
 */
int oci_login_read(struct str config, const struct oci_reference *ref, struct oci_login *ret,
                   char **ret_program, struct err *err);
/*
 * The login in the first of several configurations that knows the registry; *ret is empty if none
 * does. Programs that they name are not run: they would have the rights of this process. Errors:
 * E_INVALID, without the secrets in the text.
 */
int oci_login_read_first(const struct str *configs, size_t n, const struct oci_reference *ref,
                         struct oci_login *ret, struct err *err);
/* Ask docker-credential-PROGRAM. Blocks. A program that does not know the host is no error. Errors:
 * -ENOENT, no such program; -ETIMEDOUT; E_PARSE; -EIO with the output of the program. */
int oci_login_ask(const char *program, const struct oci_reference *ref, struct oci_login *ret,
                  struct err *err);
/* Search as described above. Blocks. *ret is empty if there is no login. oci_login_fini(). */
int oci_login_find(const struct oci_reference *ref, struct oci_login *ret, struct err *err);
