/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse manifest operator: what a cluster needs to run the operator host in a pod. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/manifest_words.h"
#include "codec/yaml.h"
#include "operator/host/objects.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MANIFEST_MAX_BYTES = 1 << 20 };

static const char *namespace = "dormouse", *name = "dormouse-operator", *image, *modules_claim;
static struct cmd_list reads;
static uint64_t replicas = 2;
static bool all_namespaces, pull_secrets;

static const struct cmd_opt opts[] = {
    { "namespace", 'n', "NAME", "where the host runs, and the Operators that it runs (dormouse)",
      CMD_STRING, &namespace, 0, 0 },
    { "all-namespaces", 'A', NULL,
      "run the Operators of every namespace: the host may then ask for tokens of every service "
      "account",
      CMD_FLAG, &all_namespaces, 0, 0 },
    { "name", 0, "NAME", "of its objects (dormouse-operator)", CMD_STRING, &name, 0, 0 },
    { "image", 0, "IMAGE",
      "required: with /usr/bin/dormouse, dormouse-runner and dormouse-compile; './dev image' makes "
      "one",
      CMD_STRING, &image, 0, 0 },
    { "replicas", 0, "N", "one of them works, the others wait (2)", CMD_U64, &replicas, 1, 16 },
    { "read", 0, "RESOURCE[.GROUP]",
      "let the host watch this once for all operators of ABI v1, not for each; repeatable",
      CMD_LIST, &reads, 0, 0 },
    { "modules-claim", 0, "NAME", "PersistentVolumeClaim with module files, at /modules",
      CMD_STRING, &modules_claim, 0, 0 },
    { "pull-secrets", 0, NULL,
      "let the host read Secrets where its Operators are: for imagePullSecrets of modules in "
      "registries",
      CMD_FLAG, &pull_secrets, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *manifest_opts(void)
{
    return opts;
}

static int check(void)
{
    if (!image)
        return cmd_failf(CMD_USAGE, "%s", MANIFEST_NO_IMAGE);
    struct {
        const char *option, *value, *also;
    } words[] = { { "--namespace", namespace, "-" },
                  { "--name", name, "-" },
                  { "--modules-claim", modules_claim ? modules_claim : "x", "-." },
                  { "--image", image, MANIFEST_IMAGE } };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!manifest_is_plain(words[i].value, words[i].also))
            return cmd_failf(CMD_USAGE, "%s: '%s' is no name", words[i].option, words[i].value);
    for (size_t i = 0; i < reads.n; i++)
        if (!manifest_is_plain(reads.at[i], "-."))
            return cmd_failf(CMD_USAGE, "--read: '%s' is not RESOURCE or RESOURCE.GROUP",
                             reads.at[i]);
    return 0;
}

static int write_crd(struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *list;
    int r = json_parse(&a, objects_crd(), NULL, &list, err);
    json_each (object, r >= 0 ? json_getc(list, "items") : NULL) {
        if (object != json_first(json_getc(list, "items")))
            buf_add_cstr(to, "---\n");
        r = r < 0 ? r : yaml_write(to, object, false);
    }
    arena_fini(&a);
    return r;
}

/* For requests about one namespace, or everywhere. */
static void write_rules(struct buf *to)
{
    buf_add_cstr(to, "rules:\n"
                     "- apiGroups: [dormouse.dev]\n"
                     "  resources: [operators]\n"
                     "  verbs: [get, list, watch]\n"
                     "- apiGroups: [dormouse.dev]\n"
                     "  resources: [operators/status]\n"
                     "  verbs: [patch]\n"
                     "- apiGroups: [\"\"]\n"
                     "  resources: [events]\n"
                     "  verbs: [create]\n"
                     "- apiGroups: [\"\"]\n"
                     "  resources: [serviceaccounts]\n"
                     "  verbs: [get, create]\n"
                     "# To act as the operators' accounts: with it the host can do what they can.\n"
                     "- apiGroups: [\"\"]\n"
                     "  resources: [serviceaccounts/token]\n"
                     "  verbs: [create]\n"
                     "# Modules in ConfigMaps.\n"
                     "- apiGroups: [\"\"]\n"
                     "  resources: [configmaps]\n"
                     "  verbs: [get, list, watch]\n");
    if (pull_secrets)
        buf_add_cstr(to, "# Credentials for modules in registries.\n"
                         "- apiGroups: [\"\"]\n"
                         "  resources: [secrets]\n"
                         "  verbs: [get]\n");
}

static void write_role(struct buf *to, const char *kind, const char *role, bool is_namespaced)
{
    buf_printf(to,
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n",
               kind, role);
    if (is_namespaced)
        buf_printf(to, "  namespace: %s\n", namespace);
}

static void write_binding(struct buf *to, const char *kind, const char *role, bool is_namespaced)
{
    scoped(free_scoped) char *binding = xasprintf("%sBinding", kind);
    write_role(to, binding, role, is_namespaced);
    buf_printf(to,
               "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: %s\n"
               "subjects:\n- kind: ServiceAccount\n  name: %s\n  namespace: %s\n",
               kind, role, name, namespace);
}

static void write_rbac(struct buf *to)
{
    const char *kind = all_namespaces ? "ClusterRole" : "Role";
    scoped(free_scoped) char *lease = xasprintf("%s-lease", name),
                             *read = xasprintf("%s-read", name);
    write_role(to, kind, name, !all_namespaces);
    write_rules(to);
    write_binding(to, kind, name, !all_namespaces);
    write_role(to, "Role", lease, true);
    buf_printf(to,
               "rules:\n- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n"
               "  verbs: [create]\n- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n"
               "  resourceNames: [%s]\n  verbs: [get, update]\n",
               name);
    write_binding(to, "Role", lease, true);
    if (reads.n == 0)
        return;
    write_role(to, "ClusterRole", read, false);
    buf_add_cstr(to, "rules:\n");
    for (size_t i = 0; i < reads.n; i++) {
        struct str resource, group = STR("");
        (void)str_cut(str_of(reads.at[i]), '.', &resource, &group);
        buf_printf(to,
                   "- apiGroups: [\"" STR_FMT "\"]\n  resources: [" STR_FMT
                   "]\n  verbs: [get, list, watch]\n",
                   STR_ARG(group), STR_ARG(resource));
    }
    write_binding(to, "ClusterRole", read, false);
}

static void write_deployment(struct buf *to)
{
    buf_printf(
        to,
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\n  namespace: %s\n"
        "  labels: {app.kubernetes.io/name: %s}\nspec:\n  replicas: %llu\n"
        "  selector:\n    matchLabels: {app.kubernetes.io/name: %s}\n"
        "  template:\n    metadata:\n      labels: {app.kubernetes.io/name: %s}\n"
        "      annotations: {prometheus.io/scrape: \"true\", prometheus.io/port: \"8080\"}\n"
        "    spec:\n      serviceAccountName: %s\n      terminationGracePeriodSeconds: 15\n"
        "      securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532,\n"
        "        seccompProfile: {type: RuntimeDefault}}\n"
        "      containers:\n      - name: operator\n        image: %s\n"
        "        command: [/usr/bin/dormouse, operator, run]\n        args:\n"
        "        - --data-dir=/data\n        - --leader-elect\n        - --lease-name=%s\n"
        "        - --lease-namespace=%s\n        - --health-listen=0.0.0.0:8080\n",
        name, namespace, name, (unsigned long long)replicas, name, name, name, image, name,
        namespace);
    if (!all_namespaces)
        buf_printf(to, "        - --namespace=%s\n", namespace);
    if (modules_claim)
        buf_add_cstr(to, "        - --modules=/modules\n");
    buf_add_cstr(
        to,
        "        ports:\n        - {name: health, containerPort: 8080}\n"
        "        livenessProbe:\n          httpGet: {path: /healthz, port: health}\n"
        "          periodSeconds: 30\n"
        "        readinessProbe:\n          httpGet: {path: /readyz, port: health}\n"
        "          periodSeconds: 30\n"
        "        resources:\n          requests: {cpu: 10m, memory: 32Mi}\n"
        "          limits: {memory: 512Mi, ephemeral-storage: 4Gi}\n"
        "        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true,\n"
        "          capabilities: {drop: [ALL]}}\n"
        "        volumeMounts:\n        - {name: data, mountPath: /data}\n");
    if (modules_claim)
        buf_add_cstr(to, "        - {name: modules, mountPath: /modules, readOnly: true}\n");
    buf_add_cstr(to, "      volumes:\n      - name: data\n        emptyDir: {}\n");
    if (modules_claim)
        buf_printf(
            to,
            "      - name: modules\n        persistentVolumeClaim: {claimName: %s, readOnly: "
            "true}\n",
            modules_claim);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(MANIFEST_MAX_BYTES);
    int r = cmd_parse(&cmd_manifest_operator, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = check()))
        return r;
    buf_printf(&out, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n---\n", namespace);
    if (write_crd(&out, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    buf_printf(&out,
               "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: %s\n"
               "  namespace: %s\n",
               name, namespace);
    write_rbac(&out);
    write_deployment(&out);
    (void)fwrite(out.p, 1, out.n, stdout);
    return CMD_OK;
}

const struct cmd cmd_manifest_operator = {
    .name = "manifest operator",
    .doc = "print what a cluster needs to run the operator host in a pod",
    .help =
        "Namespace, CustomResourceDefinition, ServiceAccount, RBAC and Deployment, as YAML.\n"
        "The host gets no right that it can do without: it follows Operators of its namespace "
        "and acts as their service\n"
        "accounts; what those may do is granted to them, not to it.\n"
        "\n"
        "  dormouse manifest operator --image registry.example/dormouse:1 | kubectl apply -f -\n"
        "  dormouse manifest operator -n ops --read configmaps --read certificates.example.dev\n",
    .run = run,
    .opts = manifest_opts,
};
