/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse manifest scheduler: what a cluster needs to run the scheduler in a pod. */
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "cmd/manifest_words.h"
#include "cmd/scheduler_args.h"
#include "codec/yaml.h"
#include "sched/framework/profile.h"
#include "sched/object/node_image_state.h"

#include <stdio.h>

enum { MANIFEST_MAX_BYTES = 4 << 20 };

static const char *namespace = "kube-system", *name = "dormouse-scheduler", *image,
                  *scheduler_name = "dormouse-scheduler", *config_file;
static uint64_t replicas = 2;

static const struct cmd_opt opts[] = {
    { "namespace", 'n', "NAME", "where it runs (kube-system)", CMD_STRING, &namespace, 0, 0 },
    { "name", 0, "NAME", "of its objects (dormouse-scheduler)", CMD_STRING, &name, 0, 0 },
    { "image", 0, "IMAGE",
      "required: with /usr/bin/dormouse and dormouse-compile; './dev image' makes one", CMD_STRING,
      &image, 0, 0 },
    { "scheduler-name", 0, "NAME",
      "pods with this schedulerName are its; default-scheduler: instead of kube-scheduler "
      "(dormouse-scheduler)",
      CMD_STRING, &scheduler_name, 0, 0 },
    { "config", 0, "FILE", "KubeSchedulerConfiguration for its ConfigMap, instead of that",
      CMD_STRING, &config_file, 0, 0 },
    { "replicas", 0, "N", "one of them works, the others wait (2)", CMD_U64, &replicas, 1, 16 },
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
                  { "--scheduler-name", scheduler_name, "-." },
                  { "--image", image, MANIFEST_IMAGE } };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!manifest_is_plain(words[i].value, words[i].also))
            return cmd_failf(CMD_USAGE, "%s: '%s' is no name", words[i].option, words[i].value);
    return 0;
}

/* The same Lease as kube-scheduler's where it stands in for it. */
static void write_default_config(struct buf *to)
{
    bool instead = str_is(str_of(scheduler_name), "default-scheduler");
    buf_printf(to,
               "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
               "leaderElection:\n  leaderElect: true\n  resourceName: %s\n"
               "  resourceNamespace: %s\nprofiles:\n- schedulerName: %s\n",
               instead ? "kube-scheduler" : name, instead ? "kube-system" : namespace,
               scheduler_name);
}

static void write_head(struct buf *to, const char *version, const char *kind, const char *object,
                       struct str of_namespace)
{
    buf_printf(to, "---\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", version, kind, object);
    if (of_namespace.n)
        buf_printf(to, "  namespace: " STR_FMT "\n", STR_ARG(of_namespace));
}

#define RBAC "rbac.authorization.k8s.io"

static void write_binding(struct buf *to, const char *kind, const char *role,
                          struct str of_namespace)
{
    scoped(free_scoped) char *binding = xasprintf("%sBinding", kind);
    write_head(to, RBAC "/v1", binding, role, of_namespace);
    buf_printf(to,
               "roleRef:\n  apiGroup: " RBAC "\n  kind: %s\n  name: %s\n"
               "subjects:\n- kind: ServiceAccount\n  name: %s\n  namespace: %s\n",
               kind, role, name, namespace);
}

/* Those of upstream's roles system:kube-scheduler and system:volume-scheduler that are used. */
static void write_rights(struct buf *to)
{
    static const struct {
        const char *groups, *resources, *verbs;
    } rules[] = {
        { "\"\", events.k8s.io", "events", "create, patch, update" },
        { "\"\"", "nodes, namespaces, services, replicationcontrollers", "get, list, watch" },
        { "\"\"", "pods", "get, list, watch, delete" },
        { "\"\"", "bindings, pods/binding", "create" },
        { "\"\"", "pods/status", "patch, update" },
        { "apps", "replicasets, statefulsets", "get, list, watch" },
        { "policy", "poddisruptionbudgets", "get, list, watch" },
        { "\"\"", "persistentvolumeclaims, persistentvolumes", "get, list, watch, patch, update" },
        { "storage.k8s.io",
          "storageclasses, csinodes, csidrivers, csistoragecapacities, volumeattachments",
          "get, list, watch" },
        { "dormouse.dev", "nodeimagestates", "get, list, watch" },
    };
    write_head(to, RBAC "/v1", "ClusterRole", name, STR(""));
    buf_add_cstr(to, "rules:\n");
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        buf_printf(to, "- apiGroups: [%s]\n  resources: [%s]\n  verbs: [%s]\n", rules[i].groups,
                   rules[i].resources, rules[i].verbs);
    write_binding(to, "ClusterRole", name, STR(""));
}

/* BREAK's scorers read what nodes tell about their images; others do not need the kind. */
static bool uses_break(const struct sched_config *config)
{
    for (size_t i = 0; i < config->n_profiles; i++) {
        const struct sched_config_set *set = &config->profiles[i].multi_point;
        for (size_t k = 0; k < set->n; k++)
            if (str_has_prefix(set->p[k].name, STR("Break")))
                return true;
        set = &config->profiles[i].at[SCHED_AT_SCORE];
        for (size_t k = 0; k < set->n; k++)
            if (str_has_prefix(set->p[k].name, STR("Break")))
                return true;
    }
    return false;
}

static int write_definition(struct arena *a, struct buf *to, struct err *err)
{
    struct json *crd;
    int r = json_parse(a, sched_crd(), NULL, &crd, err);
    buf_add_cstr(to, "---\n");
    return r < 0 ? r : yaml_write(to, crd, false);
}

static void write_lease(struct buf *to, const struct sched_config *config)
{
    scoped(free_scoped) char *role = xasprintf("%s-lease", name);
    if (!config->leader.on)
        return;
    write_head(to, RBAC "/v1", "Role", role, config->leader.namespace);
    buf_printf(to,
               "rules:\n- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n"
               "  verbs: [create]\n- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n"
               "  resourceNames: [" STR_FMT "]\n  verbs: [get, update]\n",
               STR_ARG(config->leader.name));
    write_binding(to, "Role", role, config->leader.namespace);
}

static void write_config(struct buf *to, struct str text)
{
    struct str line;
    write_head(to, "v1", "ConfigMap", name, str_of(namespace));
    buf_add_cstr(to, "data:\n  scheduler.yaml: |2\n");
    while (text.n) {
        (void)str_cut(text, '\n', &line, &text);
        buf_printf(to, "%s" STR_FMT "\n", line.n ? "    " : "", STR_ARG(line));
    }
}

static void write_deployment(struct buf *to)
{
    write_head(to, "apps/v1", "Deployment", name, str_of(namespace));
    buf_printf(
        to,
        "  labels: {app.kubernetes.io/name: %s}\nspec:\n  replicas: %llu\n"
        "  selector:\n    matchLabels: {app.kubernetes.io/name: %s}\n"
        "  template:\n    metadata:\n      labels: {app.kubernetes.io/name: %s}\n"
        "      annotations: {prometheus.io/scrape: \"true\", prometheus.io/port: \"8080\"}\n"
        "    spec:\n      serviceAccountName: %s\n      terminationGracePeriodSeconds: 15\n"
        "      priorityClassName: system-cluster-critical\n"
        "      securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532,\n"
        "        seccompProfile: {type: RuntimeDefault}}\n"
        "      containers:\n      - name: scheduler\n        image: %s\n"
        "        command: [/usr/bin/dormouse, scheduler]\n        args:\n"
        "        - --data-dir=/data\n        - --config=/etc/dormouse/scheduler.yaml\n"
        "        - --health-listen=0.0.0.0:8080\n"
        "        ports:\n        - {name: health, containerPort: 8080}\n"
        "        livenessProbe:\n          httpGet: {path: /healthz, port: health}\n"
        "          periodSeconds: 30\n"
        "        readinessProbe:\n          httpGet: {path: /readyz, port: health}\n"
        "          periodSeconds: 30\n"
        "        resources:\n          requests: {cpu: 100m, memory: 64Mi}\n"
        "          limits: {memory: 1Gi}\n"
        "        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true,\n"
        "          capabilities: {drop: [ALL]}}\n"
        "        volumeMounts:\n        - {name: data, mountPath: /data}\n"
        "        - {name: config, mountPath: /etc/dormouse, readOnly: true}\n"
        "      volumes:\n      - name: data\n        emptyDir: {}\n"
        "      - name: config\n        configMap: {name: %s}\n",
        name, (unsigned long long)replicas, name, name, name, image, name);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct sched_config config = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(MANIFEST_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SCHED_CONFIG_MAX_BYTES + 1);
    int r = cmd_parse(&cmd_manifest_scheduler, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = check()))
        return r;
    if (!config_file)
        write_default_config(&text);
    r = config_file ? scheduler_config_load(&a, config_file, &config, &text, &err)
                    : scheduler_config_read(&a, NULL, buf_str(&text), &config, &err);
    if (r < 0) {
        arena_fini(&a);
        return cmd_fail(CMD_FAILED, &err);
    }
    if (uses_break(&config) && (r = write_definition(&a, &out, &err)) < 0) {
        arena_fini(&a);
        return cmd_fail(CMD_FAILED, &err);
    }
    write_head(&out, "v1", "ServiceAccount", name, str_of(namespace));
    write_rights(&out);
    write_lease(&out, &config);
    write_config(&out, buf_str(&text));
    write_deployment(&out);
    arena_fini(&a);
    (void)fwrite(out.p, 1, out.n, stdout);
    return CMD_OK;
}

const struct cmd cmd_manifest_scheduler = {
    .name = "manifest scheduler",
    .doc = "print what a cluster needs to run the scheduler in a pod",
    .help =
        "ServiceAccount, RBAC, ConfigMap with its configuration, and Deployment, as YAML; with\n"
        "BREAK's scorers in the configuration, the definition of NodeImageState.\n"
        "By default it works beside kube-scheduler, for pods with its schedulerName. With\n"
        "--scheduler-name default-scheduler it stands in for kube-scheduler and shares its Lease,\n"
        "so that one of both works at a time.\n"
        "\n"
        "  dormouse manifest scheduler --image registry.example/dormouse:1 | kubectl apply -f -\n"
        "  dormouse manifest scheduler --config scheduler.yaml --replicas 1 > scheduler-pod.yaml\n",
    .run = run,
    .opts = manifest_opts,
};
