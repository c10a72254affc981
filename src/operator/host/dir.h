/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators from a directory with a wasm_config.yaml, as in the wasm-operator paper: YAML documents
 * that each have
 *
 *     name: ring-0               required
 *     wasm: ring.wasm            required; below the directory, else below the working directory
 *                                or a URL, http(s)://... or oci://REFERENCE, with sha256; a
 *                                registry gets the credentials of the process's user
 *     sha256: 64 hexadecimal digits of the module; optional with files, like all that follow
 *     env: [{name: A, value: b}]
 *     args: [a, b]
 *     abi: auto | g1 | g2 | v1   rust_v1alpha1 is g1
 *     memory: 64Mi
 *     allow: [{verbs: [get], paths: ["/api/v1/..."]}]      see allow.h
 *     serviceAccount: namespace/name    whose rights it has (made if missing); without it, the
 *                                       host's own
 *
 * A directory without wasm_config.yaml has the layout of the first host: each NAME.yaml beside a
 * NAME.wasm is an operator, with the same keys, 'wasm' being that module.
 *
 * Any other key is an error that names key and line. The directory is watched: operators are added,
 * changed and removed with the file and with the modules directly in the directory (other modules
 * are checked again at the next change there). A file with an error changes nothing and is logged.
 */
#pragma once

#include "operator/host/operator.h"

struct dir;

enum { DIR_CONFIG_MAX_BYTES = 16 << 20 };

struct dir_opts {
    struct loop *loop;
    const char *path;             /* copied */
    void (*on_synced)(void *arg); /* the operators of the start have been applied */
    void *arg;
};

/* Errors: the config's; then nothing has been applied. operators: kept. */
int dir_start(const struct dir_opts *opts, struct operators *operators, struct dir **ret,
              struct err *err);
/* NULL is fine. Operators stay. */
void dir_close(struct dir *d);
