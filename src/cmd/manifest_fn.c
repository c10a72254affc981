/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse manifest fn: what a cluster needs for control planes of functions. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/manifest_words.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "fn/function.h"

#include <stdio.h>

enum { MANIFEST_MAX_BYTES = 1 << 20 };

static const char *namespace = "dormouse", *name = "dormouse-functions";
static bool definitions_only;

static const struct cmd_opt opts[] = {
    { "namespace", 'n', "NAME", "of the ServiceAccount and the Lease (dormouse)", CMD_STRING,
      &namespace, 0, 0 },
    { "name", 0, "NAME", "of its objects (dormouse-functions)", CMD_STRING, &name, 0, 0 },
    { "definitions-only", 0, NULL, "CustomResourceDefinitions and nothing else", CMD_FLAG,
      &definitions_only, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *manifest_opts(void)
{
    return opts;
}

static int write_definitions(struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *list;
    int r = json_parse(&a, fn_crds(), NULL, &list, err);
    json_each (crd, r >= 0 ? json_getc(list, "items") : NULL) {
        buf_add_cstr(to, "---\n");
        r = r < 0 ? r : yaml_write(to, crd, false);
    }
    arena_fini(&a);
    return r;
}

static void write_account(struct buf *to)
{
    buf_printf(to,
               "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n"
               "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: %s\n  namespace: "
               "%s\n",
               namespace, name, namespace);
}

/* What a control plane reads and writes; a worker with --kubeconfig needs ConfigMaps alone. */
static void write_rights(struct buf *to)
{
    buf_printf(to,
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n"
               "  name: %s\nrules:\n"
               "# The REST interface writes Functions for clients that present its token.\n"
               "- apiGroups: [dormouse.dev]\n  resources: [functions]\n"
               "  verbs: [get, list, watch, create, update, patch, delete]\n"
               "- apiGroups: [dormouse.dev]\n  resources: [functions/status]\n  verbs: [patch]\n"
               "- apiGroups: [dormouse.dev]\n  resources: [functionrevisions]\n"
               "  verbs: [get, list, watch, create, delete]\n"
               "- apiGroups: [dormouse.dev]\n  resources: [functionpolicies]\n"
               "  verbs: [get, list, watch]\n"
               "# Environments and secret files of functions, tokens of policies.\n"
               "- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [get]\n"
               "# Whose images the credentials of a function get: the namespace's uid.\n"
               "- apiGroups: [\"\"]\n  resources: [namespaces]\n  verbs: [get]\n"
               "- apiGroups: [\"\"]\n  resources: [configmaps]\n  verbs: [get, list, watch]\n"
               "- apiGroups: [\"\"]\n  resources: [events]\n  verbs: [create]\n"
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n"
               "metadata:\n  name: %s\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n"
               "  kind: ClusterRole\n  name: %s\nsubjects:\n- kind: ServiceAccount\n  name: %s\n"
               "  namespace: %s\n",
               name, name, name, name, namespace);
    buf_printf(to,
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n"
               "  name: %s-lease\n  namespace: %s\nrules:\n"
               "- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n  verbs: [create]\n"
               "- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n"
               "  resourceNames: [dormouse-functions]\n  verbs: [get, update]\n"
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n"
               "  name: %s-lease\n  namespace: %s\nroleRef:\n"
               "  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: %s-lease\n"
               "subjects:\n- kind: ServiceAccount\n  name: %s\n  namespace: %s\n",
               name, namespace, name, namespace, name, name, namespace);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(MANIFEST_MAX_BYTES);
    int r = cmd_parse(&cmd_manifest_fn, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if (!manifest_is_plain(namespace, "-") || !manifest_is_plain(name, "-"))
        return cmd_failf(CMD_USAGE, "--namespace and --name are names of lower-case letters, "
                                    "digits and '-'");
    if (write_definitions(&out, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    if (!definitions_only) {
        write_account(&out);
        write_rights(&out);
    }
    (void)fwrite(out.p, 1, out.n, stdout);
    return CMD_OK;
}

const struct cmd cmd_manifest_fn = {
    .name = "manifest fn",
    .doc = "print what a cluster needs for control planes of functions",
    .help = "CustomResourceDefinitions, a ServiceAccount and its rights, as YAML. Control planes "
            "run with a kubeconfig of it, or in a pod\n"
            "('fn controlplane --lease-namespace' is the same namespace).\n"
            "\n"
            "  dormouse manifest fn | kubectl apply -f -\n"
            "  dormouse manifest fn --definitions-only | kubectl apply -f -\n",
    .run = run,
    .opts = manifest_opts,
};
