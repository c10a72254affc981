/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/rules/validate/: a faultless object of each kind, changes to it, and what upstream says of
 * the result. Expected texts come from upstream.
 */
#include "test_kube.h"

#include "kube/rules/validate/validate.h"

typedef void (*validate_fn)(const struct json *obj, const struct json *old,
                            struct field_errors *errs);

/* A kind and an object of it without faults, defaulted. */
struct kind {
    const char *group, *version, *kind;
    validate_fn validate;
    const char *base;
};

/* Changes are lines "path=json"; null removes. What is wrong then: lines "path: text". */
struct row {
    const char *changes, *want;
};

/* ---- changing objects ---- */

/* The next step of "a.b[0].c", "[x/y]" for keys with dots. */
static struct str path_step(struct str *path, bool *is_index)
{
    size_t n = 0;
    *is_index = path->n && path->p[0] == '[';
    if (*is_index) {
        while (path->p[n] != ']')
            n++;
        struct str step = str_slice(*path, 1, n);
        *path = str_slice(*path, n + 1, path->n);
        uint64_t number;
        *is_index = parse_u64(step, 0, 1000000, &number) == 0;
        if (path->n && path->p[0] == '.')
            *path = str_slice(*path, 1, path->n);
        return step;
    }
    while (n < path->n && path->p[n] != '.' && path->p[n] != '[')
        n++;
    struct str step = str_slice(*path, 0, n);
    *path = str_slice(*path, n + (n < path->n && path->p[n] == '.'), path->n);
    return step;
}

static struct json *nth(struct json *array, struct str index)
{
    uint64_t n = 0;
    CHECK_OK(parse_u64(index, 0, 1000000, &n));
    struct json *item = array->first;
    while (item && n--)
        item = item->next;
    return item;
}

static void set_path(struct arena *a, struct json *at, struct str path, struct json *value)
{
    while (path.n) {
        bool is_index;
        struct str step = path_step(&path, &is_index);
        struct json *next = is_index ? nth(at, step) : json_get(at, step);
        if (path.n == 0 && is_index && next) {
            json_replace(next, value);
        } else if (path.n == 0 && is_index) {
            json_add(at, value);
        } else if (path.n == 0 && value->type == JSON_NULL) {
            (void)json_del(at, step);
        } else if (path.n == 0) {
            json_set(a, at, step, value);
        } else if (!next) {
            next = json_new_object(a);
            if (path.p[0] == '[' && path.p[1] >= '0' && path.p[1] <= '9')
                next = json_new_array(a);
            if (is_index)
                json_add(at, next);
            else
                json_set(a, at, step, next);
        }
        at = next;
    }
}

static struct json *changed(struct arena *a, const struct kind *k, const char *changes)
{
    struct json *obj = parse(a, k->base);
    struct str rest = str_of(changes), line, path, value;
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        CHECK(str_cut(line, '=', &path, &value));
        set_path(a, obj, path, parse(a, str_dup_arena(a, value)));
    }
    struct err err = { 0 };
    const struct schema *s = builtin_schema(str_of(k->group), str_of(k->version), str_of(k->kind));
    CHECK(s != NULL);
    if (schema_normalize(a, s, obj, k->kind, NULL, NULL, &err) < 0)
        TEST_FAIL("%s with %s: %s", k->kind, changes, err_text(&err));
    return obj;
}

static const char *complaints(struct arena *a, const struct kind *k, const struct json *obj,
                              const struct json *old)
{
    struct field_errors errs = field_errors_init(a);
    struct buf b = BUF_INIT(1 << 20);
    validate_finalizers(str_of(k->group), obj, &errs);
    k->validate(obj, old, &errs);
    for (const struct field_error *e = errs.first; e; e = e->next)
        (void)buf_printf(&b, "%s" STR_FMT ": " STR_FMT, b.n ? "\n" : "", STR_ARG(e->field),
                         STR_ARG(e->body));
    char *text = str_dup_arena(a, buf_str(&b));
    buf_fini(&b);
    for (char *p = text; *p; p++)
        if (*p == '"')
            *p = '\'';
    return text;
}

/* false, and said so, if the complaints are not those. */
static bool row_holds(const struct kind *k, const char *was, const char *changes, const char *want)
{
    struct arena a = { 0 };
    const struct json *old = was ? changed(&a, k, was) : NULL;
    const char *got = complaints(&a, k, changed(&a, k, changes), old);
    bool same = strcmp(got, want) == 0;
    if (!same)
        (void)fprintf(stderr, "%s%s%s with\n%s\nsays\n%s\nexpected\n%s\n\n", k->kind,
                      was ? " that was\n" : "", was ? was : "", changes, got, want);
    arena_fini(&a);
    return same;
}

static void check_rows(const struct kind *k, const struct row *rows, size_t n)
{
    size_t wrong = !row_holds(k, NULL, "", "") + !row_holds(k, "", "", "");
    for (size_t i = 0; i < n; i++)
        wrong += !row_holds(k, NULL, rows[i].changes, rows[i].want);
    CHECK_INT(wrong, 0);
}

struct update {
    const char *was, *changes, *want;
};

static void check_updates(const struct kind *k, const struct update *rows, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += !row_holds(k, rows[i].was, rows[i].changes, rows[i].want);
    CHECK_INT(wrong, 0);
}

#define ROWS(k, rows)    check_rows(&(k), rows, ARRAY_LEN(rows))
#define UPDATES(k, rows) check_updates(&(k), rows, ARRAY_LEN(rows))

#define LABEL_TEXT                                                                                 \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "   \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "     \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_TEXT                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define NAME_PART_TEXT                                                                             \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE_TEXT                                                                           \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "             \
    "'my_value',  or '12345', regex used for validation is "                                       \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

#define CONTAINER                                                                                  \
    "{'name':'c','image':'i','terminationMessagePath':'/dev/termination-log',"                     \
    "'terminationMessagePolicy':'File','imagePullPolicy':'Always'}"
#define POD_SPEC                                                                                   \
    "{'containers':[" CONTAINER "],'restartPolicy':'Always','dnsPolicy':'ClusterFirst',"           \
    "'terminationGracePeriodSeconds':30,'securityContext':{},'schedulerName':'default-scheduler'}"

/* ---- pods ---- */

static const struct kind pod = { "", "v1", "Pod", validate_pod,
                                 "{'metadata':{'name':'p','namespace':'d'},'spec':" POD_SPEC "}" };

#define C0 "spec.containers[0]."
#define V0 "spec.volumes[0]."

TEST(containers_are_checked)
{
    static const struct row rows[] = {
        { "spec.containers=null", "spec.containers: Required value" },
        { C0 "name=''", "spec.containers[0].name: Required value" },
        { C0 "name='A'", "spec.containers[0].name: Invalid value: 'A': " LABEL_TEXT },
        { C0 "name='a.b'", "spec.containers[0].name: Invalid value: 'a.b': must not contain dots" },
        { C0 "image=''", "spec.containers[0].image: Required value" },
        { C0 "image=' i'",
          "spec.containers[0].image: Invalid value: ' i': must not have leading or "
          "trailing whitespace" },
        { C0 "imagePullPolicy='Sometimes'",
          "spec.containers[0].imagePullPolicy: Unsupported value: 'Sometimes': supported values: "
          "'Always', 'IfNotPresent', 'Never'" },
        { C0 "imagePullPolicy=null", "spec.containers[0].imagePullPolicy: Required value" },
        { C0 "terminationMessagePolicy='x'",
          "spec.containers[0].terminationMessagePolicy: Unsupported value: 'x': supported values: "
          "'File', 'FallbackToLogsOnError'" },
        { "spec.containers[1]=" CONTAINER, "spec.containers[1].name: Duplicate value: 'c'" },
        { "spec.initContainers[0]=" CONTAINER,
          "spec.initContainers[0].name: Duplicate value: 'c'" },
        { "spec.initContainers[0]=" CONTAINER "\nspec.initContainers[0].name='j'\n"
          "spec.initContainers[0].livenessProbe.exec.command=['x']\n"
          "spec.initContainers[0].lifecycle={}",
          "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without "
          "restartPolicy=Always\n"
          "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
          "without restartPolicy=Always" },
        { C0 "restartPolicy='x'",
          "spec.containers[0].restartPolicy: Unsupported value: 'x': supported values: 'Always', "
          "'Never', 'OnFailure'" },
        { C0 "workingDir='/'\n" C0 "command=['a']", "" },
    };
    ROWS(pod, rows);
}

TEST(ports_of_containers_are_checked)
{
#define P0 C0 "ports[0]."
    static const struct row rows[] = {
        { P0 "containerPort=80\n" P0 "protocol='TCP'", "" },
        { P0 "protocol='TCP'", "spec.containers[0].ports[0].containerPort: Required value" },
        { P0 "containerPort=80", "spec.containers[0].ports[0].protocol: Required value" },
        { P0 "containerPort=65536\n" P0 "protocol='tcp'",
          "spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and "
          "65535, inclusive\n"
          "spec.containers[0].ports[0].protocol: Unsupported value: 'tcp': supported values: "
          "'SCTP', 'TCP', 'UDP'" },
        { P0 "containerPort=80\n" P0 "protocol='TCP'\n" P0 "name='a--b-cdefghijklmn-'",
          "spec.containers[0].ports[0].name: Invalid value: 'a--b-cdefghijklmn-': must be no more "
          "than 15 characters\n"
          "spec.containers[0].ports[0].name: Invalid value: 'a--b-cdefghijklmn-': must not contain "
          "consecutive hyphens\n"
          "spec.containers[0].ports[0].name: Invalid value: 'a--b-cdefghijklmn-': must not begin "
          "or "
          "end with a hyphen" },
        { P0 "containerPort=80\n" P0 "protocol='TCP'\n" P0 "name='A1'",
          "spec.containers[0].ports[0].name: Invalid value: 'A1': must contain only alpha-numeric "
          "characters (a-z, 0-9), and hyphens (-)\n"
          "spec.containers[0].ports[0].name: Invalid value: 'A1': must contain at least one letter "
          "(a-z)" },
        { C0 "ports=[{'name':'a','containerPort':1,'hostPort':5,'protocol':'TCP'},"
             "{'name':'a','containerPort':2,'hostPort':5,'protocol':'TCP'}]",
          "spec.containers[0].ports[1].name: Duplicate value: 'a'\n"
          "spec.containers[0].ports[1].hostPort: Duplicate value: 'TCP//5'" },
        { P0 "containerPort=80\n" P0 "protocol='TCP'\n" P0 "hostPort=81\nspec.hostNetwork=true",
          "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` "
          "when "
          "`hostNetwork` is true" },
        { P0 "containerPort=80\n" P0 "protocol='TCP'\nspec.hostNetwork=true",
          "spec.containers[0].ports[0].hostPort: Invalid value: 0: must match `containerPort` when "
          "`hostNetwork` is true" },
    };
    ROWS(pod, rows);
}

TEST(environments_are_checked)
{
#define E0 C0 "env[0]."
    static const struct row rows[] = {
        { C0 "env=[{'name':'A','value':'b'},{'name':'a b/c','value':''}]", "" },
        { E0 "value='x'", "spec.containers[0].env[0].name: Required value" },
        { E0 "name='a=b'",
          "spec.containers[0].env[0].name: Invalid value: 'a=b': a valid environment variable name "
          "must consist only of printable ASCII characters other than '='" },
        { E0 "name='a'\n" E0 "valueFrom={}",
          "spec.containers[0].env[0].valueFrom: Invalid value: '': must specify one of: "
          "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`" },
        { E0 "name='a'\n" E0 "value='x'\n" E0
             "valueFrom.fieldRef={'apiVersion':'v1','fieldPath':'metadata.name'}",
          "spec.containers[0].env[0].valueFrom: Invalid value: '': may not be specified when "
          "`value` is not empty" },
        { E0 "name='a'\n" E0
             "valueFrom={'secretKeyRef':{'name':'s','key':'k'},'configMapKeyRef':{'name':'s',"
             "'key':''}}",
          "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value\n"
          "spec.containers[0].env[0].valueFrom: Invalid value: '': may not have more than one "
          "field "
          "specified at a time" },
        { E0 "name='a'\n" E0 "valueFrom.fieldRef.fieldPath='metadata.name'",
          "spec.containers[0].env[0].valueFrom.fieldRef.apiVersion: Required value" },
        { E0 "name='a'\n" E0 "valueFrom.fieldRef={'apiVersion':'v1','fieldPath':'status.phase'}",
          "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "
          "'status.phase': supported values: 'metadata.name', 'metadata.namespace', "
          "'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName', 'status.hostIP', "
          "'status.hostIPs', 'status.podIP', 'status.podIPs'" },
        { E0 "name='a'\n" E0 "valueFrom.fieldRef={'apiVersion':'v1','fieldPath':'x.y'}",
          "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: 'x.y': error "
          "converting fieldPath: field label not supported: x.y" },
        { E0 "name='a'\n" E0 "valueFrom.fieldRef={'apiVersion':'v9','fieldPath':'x.y'}",
          "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: 'x.y': error "
          "converting fieldPath: unsupported pod version: v9" },
        { E0 "name='a'\n" E0
             "valueFrom.fieldRef={'apiVersion':'v1','fieldPath':'metadata.name[\\u0027a\\u0027]'}",
          "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
          "'metadata.name['a']': error converting fieldPath: field label does not support "
          "subscript: metadata.name['a']" },
        { E0
          "name='a'\n" E0
          "valueFrom.fieldRef={'apiVersion':'v1','fieldPath':'metadata.labels[\\u0027a\\u0027]'}",
          "" },
        { E0 "name='a'\n" E0 "valueFrom.resourceFieldRef={'resource':'limits.cpu','divisor':'2'}",
          "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "
          "'limits.cpu': only divisor's values 1m and 1 are supported with the cpu resource" },
        { E0 "name='a'\n" E0 "valueFrom.resourceFieldRef={'resource':'cpu'}",
          "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "
          "'cpu': supported values: 'limits.cpu', 'limits.ephemeral-storage', 'limits.memory', "
          "'requests.cpu', 'requests.ephemeral-storage', 'requests.memory'" },
        { E0 "name='a'\n" E0 "valueFrom.secretKeyRef={'name':'S','key':'a/b'}",
          "spec.containers[0].env[0].valueFrom.secretKeyRef.name: Invalid value: "
          "'S': " SUBDOMAIN_TEXT "\n"
          "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: 'a/b': a valid "
          "config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
          "or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')" },
        { C0 "envFrom=[{}]", "spec.containers[0].envFrom: Invalid value: '': must specify one of: "
                             "`configMapRef` or `secretRef`" },
        { C0 "envFrom=[{'prefix':'=','secretRef':{'name':''},'configMapRef':{'name':'a'}}]",
          "spec.containers[0].envFrom[0].prefix: Invalid value: '=': a valid environment variable "
          "name must consist only of printable ASCII characters other than '='\n"
          "spec.containers[0].envFrom[0].secretRef.name: Required value\n"
          "spec.containers[0].envFrom: Invalid value: '': may not have more than one field "
          "specified at a time" },
    };
    ROWS(pod, rows);
}

TEST(volumes_are_checked)
{
    static const struct row rows[] = {
        { "spec.volumes=[{'name':'a','emptyDir':{}},{'name':'b','secret':{'secretName':'s'}}]",
          "" },
        { V0 "name='a'", "spec.volumes[0]: Required value: must specify a volume type" },
        { V0 "emptyDir={}", "spec.volumes[0].name: Required value" },
        { V0 "emptyDir={}\n" V0 "name='A'",
          "spec.volumes[0].name: Invalid value: 'A': " LABEL_TEXT },
        { "spec.volumes=[{'name':'a','emptyDir':{}},{'name':'a','emptyDir':{}}]",
          "spec.volumes[1].name: Duplicate value: 'a'" },
        { "spec.volumes=[{'name':'a','emptyDir':{},'hostPath':{'path':'/','type':''}}]",
          "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type" },
        { "spec.volumes=[{'name':'a','hostPath':{'path':'/../x','type':'x'}}]",
          "spec.volumes[0].hostPath.path: Invalid value: '/../x': must not contain '..'\n"
          "spec.volumes[0].hostPath.type: Unsupported value: 'x': supported values: '', "
          "'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', "
          "'Socket'" },
        { "spec.volumes=[{'name':'a','emptyDir':{'sizeLimit':'-1'}}]",
          "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource "
          "quantity" },
        { "spec.volumes=[{'name':'a','secret':{'secretName':'','defaultMode':512,'items':[{'key':''"
          ","
          "'path':'../a','mode':-1}]}}]",
          "spec.volumes[0].secret.secretName: Required value\n"
          "spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and "
          "0777 (octal), both inclusive\n"
          "spec.volumes[0].secret.items[0].key: Required value\n"
          "spec.volumes[0].secret.items[0].path: Invalid value: '../a': must not contain '..'\n"
          "spec.volumes[0].secret.items[0].mode: Invalid value: -1: must be a number between 0 and "
          "0777 (octal), both inclusive" },
        { "spec.volumes=[{'name':'a','configMap':{'items':[{'key':'k','path':'/a'}]}}]",
          "spec.volumes[0].configMap.name: Required value\n"
          "spec.volumes[0].configMap.items[0].path: Invalid value: '/a': must be a relative path" },
        { "spec.volumes=[{'name':'a','configMap':{'name':'c','items':[{'key':'k','path':'..a'}]}}]",
          "spec.volumes[0].configMap.items[0].path: Invalid value: '..a': must not start with "
          "'..'" },
        { "spec.volumes=[{'name':'a','nfs':{'server':'','path':'x'}}]",
          "spec.volumes[0].nfs.server: Required value\n"
          "spec.volumes[0].nfs.path: Invalid value: 'x': must be an absolute path" },
        { "spec.volumes=[{'name':'a','persistentVolumeClaim':{'claimName':''}}]",
          "spec.volumes[0].persistentVolumeClaim.claimName: Required value" },
        { "spec.volumes=[{'name':'a','gcePersistentDisk':{'pdName':'','partition':256}}]",
          "spec.volumes[0].persistentDisk.pdName: Required value\n"
          "spec.volumes[0].persistentDisk.partition: Invalid value: 256: must be between 1 and "
          "255, "
          "inclusive" },
        { "spec.volumes=[{'name':'a','csi':{'driver':'A_b'}}]",
          "spec.volumes[0].csi.driver: Invalid value: 'A_b': " SUBDOMAIN_TEXT },
        { "spec.volumes=[{'name':'a','downwardAPI':{'items':[{'path':''}]}}]",
          "spec.volumes[0].downwardAPI.path: Required value\n"
          "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is "
          "required" },
        { "spec.volumes=[{'name':'a','downwardAPI':{'items':[{'path':'x','resourceFieldRef':"
          "{'resource':'limits.cpu'}}]}}]",
          "spec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value" },
        { "spec.volumes=[{'name':'a','projected':{'sources':[{'secret':{'name':'s','items':[{'key':"
          "'k','path':'p'}]}},{'configMap':{'name':'c','items':[{'key':'k','path':'p'}]}}]}}]",
          "spec.volumes[0].projected: Invalid value: 'c': conflicting duplicate paths" },
        { "spec.volumes=[{'name':'a','projected':{'sources':[{'serviceAccountToken':{'path':'t',"
          "'expirationSeconds':60}}]}}]",
          "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid "
          "value: 60: may not specify a duration less than 10 minutes\n"
          "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be "
          "specified when serviceAccountName is not set" },
        { "spec.volumes=[{'name':'a','projected':{'sources':[{'secret':{'name':'s'},'configMap':"
          "{'name':'c'}}]}}]",
          "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume "
          "type "
          "per source" },
        { "spec.volumes=[{'name':'a','iscsi':{'targetPortal':'','iqn':'x','lun':256,"
          "'iscsiInterface':'default'}}]",
          "spec.volumes[0].iscsi.targetPortal: Required value\n"
          "spec.volumes[0].iscsi.iqn: Invalid value: 'x': must be valid format starting with iqn, "
          "eui, or naa\n"
          "spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive" },
        { "spec.volumes=[{'name':'a','iscsi':{'targetPortal':'1.2.3.4','iqn':"
          "'iqn.2001-04.com.example:storage:diskarrays','lun':1}}]",
          "" },
        { "spec.volumes=[{'name':'a','iscsi':{'targetPortal':'1.2.3.4','iqn':'iqn.2001-4.a:b',"
          "'lun':1}}]",
          "spec.volumes[0].iscsi.iqn: Invalid value: 'iqn.2001-4.a:b': must be valid format" },
        { "spec.volumes=[{'name':'a','flocker':{}}]",
          "spec.volumes[0].flocker: Required value: one of datasetName and datasetUUID is "
          "required" },
        { "spec.volumes=[{'name':'a','fc':{}}]",
          "spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, "
          "but not both" },
        { "spec.volumes=[{'name':'a','ephemeral':{}}]",
          "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value" },
        { "spec.volumes=[{'name':'a','ephemeral':{'volumeClaimTemplate':{'metadata':{'name':'x'},"
          "'spec':{'accessModes':['x'],'resources':{'requests':{'storage':'0'}}}}}}]",
          "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set\n"
          "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: 'x': "
          "supported values: 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'\n"
          "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "
          "'0': must be greater than zero" },
        { "spec.volumes=[{'name':'a','image':{'reference':'','pullPolicy':'Always'}}]",
          "spec.volumes[0].image.reference: Required value" },
        { "spec.volumes=[{'name':'a','glusterfs':{'endpoints':'','path':''}},{'name':'b','rbd':"
          "{'monitors':[],'image':''}},{'name':'d','azureFile':{'secretName':'','shareName':'x'}}]",
          "spec.volumes[0].glusterfs.endpoints: Required value\n"
          "spec.volumes[0].glusterfs.path: Required value\n"
          "spec.volumes[1].rbd.monitors: Required value\n"
          "spec.volumes[1].rbd.image: Required value\n"
          "spec.volumes[2].azureFile.secretName: Required value" },
        { "spec.volumes=[{'name':'a','flexVolume':{'driver':'d','options':{'a.k8s.io/x':'y'}}}]",
          "spec.volumes[0].flexVolume.options[a.k8s.io/x]: Invalid value: 'a.k8s.io/x': "
          "kubernetes.io and k8s.io namespaces are reserved" },
    };
    ROWS(pod, rows);
}

TEST(mounts_are_checked)
{
#define EMPTY_V "spec.volumes=[{'name':'v','emptyDir':{}}]\n"
#define M0      C0 "volumeMounts[0]."
    static const struct row rows[] = {
        { EMPTY_V C0 "volumeMounts=[{'name':'v','mountPath':'/a'}]", "" },
        { C0 "volumeMounts=[{'name':'v','mountPath':'/a'}]",
          "spec.containers[0].volumeMounts[0].name: Not found: 'v'" },
        { EMPTY_V C0 "volumeMounts=[{'name':'','mountPath':''}]",
          "spec.containers[0].volumeMounts[0].name: Required value\n"
          "spec.containers[0].volumeMounts[0].name: Not found: ''\n"
          "spec.containers[0].volumeMounts[0].mountPath: Required value" },
        { EMPTY_V C0 "volumeMounts=[{'name':'v','mountPath':'/a'},{'name':'v','mountPath':'/a'}]",
          "spec.containers[0].volumeMounts[1].mountPath: Invalid value: '/a': must be unique" },
        { EMPTY_V C0 "volumeMounts=[{'name':'v','mountPath':'/a','subPath':'/b'}]",
          "spec.containers[0].volumeMounts.subPath: Invalid value: '/b': must be a relative path" },
        { EMPTY_V C0 "volumeMounts=[{'name':'v','mountPath':'/a','subPath':'b','subPathExpr':'c'}]",
          "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: 'c': subPathExpr and "
          "subPath are mutually exclusive" },
        { EMPTY_V C0 "volumeMounts=[{'name':'v','mountPath':'/a','mountPropagation':"
                     "'Bidirectional'}]",
          "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount "
          "propagation is available only to privileged containers" },
        { EMPTY_V C0 "volumeMounts=[{'name':'v','mountPath':'/a','recursiveReadOnly':'Enabled'}]",
          "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified "
          "when "
          "readOnly is true" },
        { EMPTY_V C0 "volumeDevices=[{'name':'v','devicePath':'/../a'}]",
          "spec.containers[0].volumeDevices[0].name: Invalid value: 'v': can only use volume "
          "source "
          "type of PersistentVolumeClaim or Ephemeral for block mode\n"
          "spec.containers[0].volumeDevices[0].devicePath: Invalid value: '/../a': can not contain "
          "backsteps ('..')" },
        { "spec.volumes=[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]\n" C0
          "volumeDevices=[{'name':'v','devicePath':'/a'}]\n" C0
          "volumeMounts=[{'name':'v','mountPath':'/a'}]",
          "spec.containers[0].volumeMounts[0].name: Invalid value: 'v': must not already exist in "
          "volumeDevices\n"
          "spec.containers[0].volumeMounts[0].mountPath: Invalid value: '/a': must not already "
          "exist "
          "as a path in volumeDevices\n"
          "spec.containers[0].volumeDevices[0].name: Invalid value: 'v': must not already exist in "
          "volumeMounts\n"
          "spec.containers[0].volumeDevices[0].devicePath: Invalid value: '/a': must not already "
          "exist as a path in volumeMounts" },
    };
    ROWS(pod, rows);
}

TEST(resources_are_checked)
{
#define R C0 "resources"
    static const struct row rows[] = {
        { R
          "={'limits':{'cpu':'1','memory':'1Gi','example.com/gpu':'1'},'requests':{'cpu':'100m'}}",
          "" },
        { R "={'requests':{'cpu':'2'},'limits':{'cpu':'1'}}",
          "spec.containers[0].resources.requests: Invalid value: '2': must be less than or equal "
          "to "
          "cpu limit of 1" },
        { R "={'requests':{'memory':'-1'}}", "spec.containers[0].resources.requests[memory]: "
                                             "Invalid value: '-1': must be greater than "
                                             "or equal to 0" },
        { R "={'limits':{'gpu':'1'}}",
          "spec.containers[0].resources.limits[gpu]: Invalid value: 'gpu': must be a standard "
          "resource type or fully qualified\n"
          "spec.containers[0].resources.limits[gpu]: Invalid value: 'gpu': must be a standard "
          "resource for containers" },
        { R "={'limits':{'pods':'1'}}",
          "spec.containers[0].resources.limits[pods]: Invalid value: 'pods': must be a standard "
          "resource for containers" },
        { R "={'requests':{'example.com/gpu':'1'}}",
          "spec.containers[0].resources.limits: Required value: Limit must be set for non "
          "overcommitable resources" },
        { R "={'requests':{'example.com/gpu':'1'},'limits':{'example.com/gpu':'2'}}",
          "spec.containers[0].resources.requests: Invalid value: '1': must be equal to "
          "example.com/gpu limit of 2" },
        { R "={'limits':{'example.com/gpu':'500m'}}",
          "spec.containers[0].resources.limits[example.com/gpu]: Invalid value: '500m': must be an "
          "integer" },
        { R "={'limits':{'hugepages-2Mi':'3Mi'}}",
          "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: '3Mi': 3Mi is not "
          "positive integer multiple of hugepages-2Mi\n"
          "spec.containers[0].resources: Forbidden: HugePages require cpu or memory" },
        { R "={'claims':[{'name':'x'}]}",
          "spec.containers[0].resources.claims[0]: Not found: 'x': must be one of the names in "
          "pod.spec.resourceClaims which is empty" },
        { "spec.resourceClaims=[{'name':'b'},{'name':'a','resourceClaimName':'c',"
          "'resourceClaimTemplateName':'d'}]\n" R
          "={'claims':[{'name':'x'},{'name':'a'},{'name':'a'}]}",
          "spec.resourceClaims[0]: Invalid value: {'Name':'b','ResourceClaimName':null,"
          "'ResourceClaimTemplateName':null}: must specify one of: `resourceClaimName`, "
          "`resourceClaimTemplateName`\n"
          "spec.resourceClaims[1]: Invalid value: {'Name':'a','ResourceClaimName':'c',"
          "'ResourceClaimTemplateName':'d'}: at most one of `resourceClaimName` or "
          "`resourceClaimTemplateName` may be specified\n"
          "spec.containers[0].resources.claims[0]: Not found: 'x': must be one of the names in "
          "pod.spec.resourceClaims: a, b\n"
          "spec.containers[0].resources.claims[2]: Duplicate value: 'a'" },
        { "spec.resources={'requests':{'cpu':'1'},'limits':{'cpu':'1'}}\n" R
          "={'requests':{'cpu':'2'},'limits':{'cpu':'2'}}",
          "spec.resources.requests[cpu]: Invalid value: '1': must be greater than or equal to "
          "aggregate container requests of 2\n"
          "spec.resources.containers[0][cpu].limits: Invalid value: '2': must be less than or "
          "equal "
          "to pod limits of 1" },
        { "spec.resources={'requests':{'ephemeral-storage':'1'}}",
          "spec.resources.requests[ephemeral-storage]: Unsupported value: 'ephemeral-storage': "
          "supported values: 'cpu', 'hugepages-', 'memory'" },
        { C0 "resizePolicy=[{'resourceName':'x','restartPolicy':''}]",
          "spec.containers[0].resizePolicy: Unsupported value: 'x': supported values: 'cpu', "
          "'memory'\n"
          "spec.containers[0].resizePolicy: Required value" },
    };
    ROWS(pod, rows);
}

TEST(probes_and_hooks_are_checked)
{
#define PROBE "'timeoutSeconds':1,'periodSeconds':10,'successThreshold':1,'failureThreshold':3"
    static const struct row rows[] = {
        { C0 "livenessProbe={" PROBE ",'exec':{'command':['x']}}", "" },
        { C0 "livenessProbe={" PROBE "}",
          "spec.containers[0].livenessProbe: Required value: must specify a handler type" },
        { C0 "livenessProbe={" PROBE ",'exec':{'command':[]},'tcpSocket':{'port':1}}",
          "spec.containers[0].livenessProbe.exec.command: Required value\n"
          "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 "
          "handler type" },
        { C0 "livenessProbe={'timeoutSeconds':-1,'successThreshold':2,'grpc':{'port':0},"
             "'terminationGracePeriodSeconds':0}",
          "spec.containers[0].livenessProbe.grpc.port: Invalid value: 0: must be between 1 and "
          "65535, inclusive\n"
          "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: must be greater "
          "than "
          "or equal to 0\n"
          "spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must "
          "be greater than 0\n"
          "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1" },
        { C0 "readinessProbe={" PROBE ",'httpGet':{'path':'','port':'a_b','scheme':'ftp',"
             "'httpHeaders':[{'name':'a b','value':''}]},'terminationGracePeriodSeconds':3}",
          "spec.containers[0].readinessProbe.httpGet.path: Required value\n"
          "spec.containers[0].readinessProbe.httpGet.port: Invalid value: 'a_b': must contain only "
          "alpha-numeric characters (a-z, 0-9), and hyphens (-)\n"
          "spec.containers[0].readinessProbe.httpGet.scheme: Unsupported value: 'ftp': supported "
          "values: 'HTTP', 'HTTPS'\n"
          "spec.containers[0].readinessProbe.httpGet.httpHeaders: Invalid value: 'a b': a valid "
          "HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
          "used for validation is '[-A-Za-z0-9]+')\n"
          "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 3: must "
          "not be set for readinessProbes" },
        { C0 "lifecycle.preStop.sleep.seconds=31",
          "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and "
          "less than terminationGracePeriodSeconds (30)" },
        { C0 "lifecycle.postStart={}",
          "spec.containers[0].lifecycle.postStart: Required value: must specify a handler type" },
        { C0 "startupProbe={'tcpSocket':{'port':'http'},'successThreshold':0}",
          "spec.containers[0].startupProbe.successThreshold: Invalid value: 0: must be 1" },
    };
    ROWS(pod, rows);
}

TEST(security_contexts_are_checked)
{
#define SC C0 "securityContext"
    static const struct row rows[] = {
        { SC "={'runAsUser':-1,'runAsGroup':2147483648}",
          "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and "
          "2147483647, inclusive\n"
          "spec.containers[0].securityContext.runAsGroup: Invalid value: 2147483648: must be "
          "between "
          "0 and 2147483647, inclusive" },
        { SC "={'privileged':true,'allowPrivilegeEscalation':false}",
          "spec.containers[0].securityContext: Invalid value: "
          "{'Capabilities':null,'Privileged':true,"
          "'SELinuxOptions':null,'WindowsOptions':null,'RunAsUser':null,'RunAsGroup':null,"
          "'RunAsNonRoot':null,'ReadOnlyRootFilesystem':null,'AllowPrivilegeEscalation':false,"
          "'ProcMount':null,'SeccompProfile':null,'AppArmorProfile':null}: cannot set "
          "`allowPrivilegeEscalation` to false and `privileged` to true" },
        { SC "={'procMount':'Unmasked'}", "spec.containers[0].securityContext.procMount: Invalid "
                                          "value: 'Unmasked': `hostUsers` must "
                                          "be false to use `Unmasked`" },
        { SC ".seccompProfile={'type':'x'}",
          "spec.containers[0].securityContext.seccompProfile.type: Unsupported value: 'x': "
          "supported "
          "values: 'Localhost', 'RuntimeDefault', 'Unconfined'" },
        { SC ".seccompProfile={'type':'Localhost'}",
          "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: "
          "must "
          "be set when seccomp type is Localhost" },
        { "spec.securityContext.seccompProfile={'type':''}",
          "spec.securityContext.seccompProfile.type: Required value: type is required when "
          "seccompProfile is set" },
        { SC ".appArmorProfile={'type':'Localhost','localhostProfile':' x'}",
          "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: ' "
          "x': "
          "must not be padded with whitespace" },
        { SC ".windowsOptions.runAsUserName='a\\\\b\\\\c'",
          "spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "
          "'a\\\\b\\\\c': runAsUserName cannot contain more than one backslash" },
        { "spec.securityContext={'fsGroup':-1,'supplementalGroups':[1,-2],'fsGroupChangePolicy':'x'"
          ","
          "'sysctls':[{'name':'a..b','value':'1'},{'name':'kernel.sem','value':''},{'name':"
          "'kernel.sem','value':''}]}",
          "spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, "
          "inclusive\n"
          "spec.securityContext.supplementalGroups[1]: Invalid value: -2: must be between 0 and "
          "2147483647, inclusive\n"
          "spec.securityContext.sysctls[0].name: Invalid value: 'a..b': must have at most 253 "
          "characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*"
          "[a-z0-9])?$\n"
          "spec.securityContext.sysctls[2].name: Duplicate value: 'kernel.sem'\n"
          "spec.securityContext.fsGroupChangePolicy: Unsupported value: 'x': supported values: "
          "'Always', 'OnRootMismatch'" },
        { "spec.hostNetwork=true\nspec.securityContext.sysctls=[{'name':'net.core.x','value':'1'}]",
          "spec.securityContext.sysctls[0].name: Invalid value: 'net.core.x': may not be specified "
          "when 'hostNetwork' is true" },
        { "spec.hostPID=true\nspec.shareProcessNamespace=true",
          "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace "
          "and HostPID cannot both be enabled" },
        { "spec.hostUsers=false\nspec.hostPID=true",
          "spec.HostPID: Forbidden: when `hostUsers` is false" },
        { "spec.os.name='windows'\nspec.securityContext.fsGroup=1\n" SC ".privileged=false",
          "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod\n"
          "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows "
          "pod" },
        { "spec.os.name='linux'\n" SC ".windowsOptions={}",
          "spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be "
          "set for a linux pod" },
        { "spec.os.name='plan9'",
          "spec.os: Unsupported value: 'plan9': supported values: 'linux', 'windows'" },
    };
    ROWS(pod, rows);
}

TEST(pod_specs_are_checked)
{
    static const struct row rows[] = {
        { "spec.restartPolicy='x'", "spec.restartPolicy: Unsupported value: 'x': supported values: "
                                    "'Always', 'OnFailure', 'Never'" },
        { "spec.restartPolicy=null", "spec.restartPolicy: Required value" },
        { "spec.dnsPolicy='x'",
          "spec.dnsPolicy: Unsupported value: 'x': supported values: 'ClusterFirstWithHostNet', "
          "'ClusterFirst', 'Default', 'None'" },
        { "spec.terminationGracePeriodSeconds=null",
          "spec.terminationGracePeriodSeconds: Required value" },
        { "spec.activeDeadlineSeconds=0", "spec.activeDeadlineSeconds: Invalid value: 0: must be "
                                          "between 1 and 2147483647, inclusive" },
        { "spec.nodeSelector={'a b':'c d'}",
          "spec.nodeSelector: Invalid value: 'a b': " NAME_PART_TEXT "\n"
          "spec.nodeSelector: Invalid value: 'c d': " LABEL_VALUE_TEXT },
        { "spec.serviceAccountName='A'",
          "spec.serviceAccountName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.nodeName='A'", "spec.nodeName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.hostname='a.b'", "spec.hostname: Invalid value: 'a.b': must not contain dots" },
        { "spec.subdomain='A'", "spec.subdomain: Invalid value: 'A': " LABEL_TEXT },
        { "spec.priorityClassName='A'",
          "spec.priorityClassName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.runtimeClassName='A'",
          "spec.runtimeClassName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.preemptionPolicy='x'", "spec.preemptionPolicy: Unsupported value: 'x': supported "
                                       "values: 'PreemptLowerPriority', 'Never'" },
        { "spec.overhead={'cpu':'-1'}",
          "spec.overhead.limits[cpu]: Invalid value: '-1': must be greater than or equal to 0" },
        { "spec.hostAliases=[{'ip':'999.1.1.1','hostnames':['A']}]",
          "spec.hostAliases[0].ip: Invalid value: '999.1.1.1': must be a valid IP address, (e.g. "
          "10.9.8.7 or 2001:db8::ffff)\n"
          "spec.hostAliases[0].hostnames[0]: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.dnsPolicy='None'",
          "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None" },
        { "spec.dnsPolicy='None'\nspec.dnsConfig={}",
          "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver "
          "when "
          "`dnsPolicy` is None" },
        { "spec.dnsConfig={'nameservers':['1.1.1.1','2','3.3.3.3','4.4.4.4'],'searches':['a_b.c.',"
          "'.','A'],'options':[{'value':'1'}]}",
          "spec.dnsConfig.nameservers: Invalid value: ['1.1.1.1','2','3.3.3.3','4.4.4.4']: must "
          "not "
          "have more than 3 nameservers\n"
          "spec.dnsConfig.nameservers[1]: Invalid value: '2': must be a valid IP address, (e.g. "
          "10.9.8.7 or 2001:db8::ffff)\n"
          "spec.dnsConfig.searches[2]: Invalid value: 'A': a lowercase RFC 1123 subdomain must "
          "consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end "
          "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
          "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')\n"
          "spec.dnsConfig.options[0]: Required value: must not be empty" },
        { "spec.readinessGates=[{'conditionType':'a b'}]",
          "spec.readinessGates[0].conditionType: Invalid value: 'a b': " NAME_PART_TEXT },
        { "spec.schedulingGates=[{'name':'a'},{'name':'a'}]",
          "spec.schedulingGates[1]: Duplicate value: 'a'" },
        { "spec.schedulingGates=[{'name':'a'}]\nspec.nodeName='n'",
          "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared" },
        { "spec.ephemeralContainers[0]=" CONTAINER "\nspec.ephemeralContainers[0].name='e'",
          "spec.ephemeralContainers: Forbidden: cannot be set on create" },
        { "metadata.finalizers=['x']", "metadata.finalizers[0]: Invalid value: 'x': name is "
                                       "neither a standard finalizer name nor "
                                       "is it fully qualified" },
        { "metadata.annotations.[kubernetes.io/config.mirror]='x'",
          "metadata.annotations[kubernetes.io/config.mirror]: Invalid value: 'x': must set "
          "spec.nodeName if mirror pod annotation is set" },
        { "metadata.annotations.[controller.kubernetes.io/pod-deletion-cost]='+1'",
          "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: '+1': "
          "must be a 32bit integer" },
        { "metadata.annotations.[container.apparmor.security.beta.kubernetes.io/x]='y'",
          "metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "
          "'x': container not found\n"
          "metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "
          "'y': invalid AppArmor profile name: 'y'" },
    };
    ROWS(pod, rows);
}

TEST(placing_of_pods_is_checked)
{
#define NODE_REQUIRED "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
#define POD_REQUIRED  "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    static const struct row rows[] = {
        { "spec.tolerations=[{'key':'a','operator':'Exists','value':'b'}]",
          "spec.tolerations[0].operator: Invalid value: 'b': value must be empty when `operator` "
          "is "
          "'Exists'" },
        { "spec.tolerations=[{'operator':'Equal'}]",
          "spec.tolerations[0].operator: Invalid value: 'Equal': operator must be Exists when "
          "`key` "
          "is empty, which means 'match all values and all keys'" },
        { "spec.tolerations=[{'key':'a','operator':'x','effect':'y'}]",
          "spec.tolerations[0].operator: Unsupported value: 'x': supported values: 'Equal', "
          "'Exists'\n"
          "spec.tolerations[0].effect: Unsupported value: 'y': supported values: 'NoSchedule', "
          "'PreferNoSchedule', 'NoExecute'" },
        { "spec.tolerations=[{'key':'a','value':'b "
          "c','tolerationSeconds':1,'effect':'NoSchedule'}]",
          "spec.tolerations[0].effect: Invalid value: 'NoSchedule': effect must be 'NoExecute' "
          "when "
          "`tolerationSeconds` is set\n"
          "spec.tolerations[0].operator: Invalid value: 'b c': " LABEL_VALUE_TEXT },
        { NODE_REQUIRED "={'nodeSelectorTerms':[]}",
          NODE_REQUIRED ".nodeSelectorTerms: Required value: must have at least one node selector "
                        "term" },
        { NODE_REQUIRED
          "={'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'In'},"
          "{'key':'a b','operator':'Gt','values':['1','2']},{'key':'c','operator':'x'}"
          "],'matchFields':[{'key':'x','operator':'In','values':['a']}]}]}",
          NODE_REQUIRED
          ".nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be "
          "specified when `operator` is 'In' or 'NotIn'\n" NODE_REQUIRED
          ".nodeSelectorTerms[0].matchExpressions[1].values: Required value: must be "
          "specified single value when `operator` is 'Lt' or 'Gt'\n" NODE_REQUIRED
          ".nodeSelectorTerms[0].matchExpressions[1].key: Invalid value: 'a b': " NAME_PART_TEXT
          "\n" NODE_REQUIRED
          ".nodeSelectorTerms[0].matchExpressions[2].operator: Invalid value: 'x': not "
          "a valid selector operator\n" NODE_REQUIRED
          ".nodeSelectorTerms[0].matchFields[0].key: Invalid value: 'x': not a valid "
          "field selector key" },
        { POD_REQUIRED
          "=[{'topologyKey':'','namespaces':['A'],'labelSelector':{'matchExpressions':["
          "{'key':'a','operator':'Exists','values':['b']}]}}]",
          POD_REQUIRED
          "[0].labelSelector.matchExpressions[0].values: Forbidden: may not be specified "
          "when `operator` is 'Exists' or 'DoesNotExist'\n" POD_REQUIRED
          "[0].namespace: Invalid value: 'A': " LABEL_TEXT "\n" POD_REQUIRED
          "[0].topologyKey: Required value: can not be empty\n" POD_REQUIRED
          "[0].topologyKey: Invalid value: '': name part must be non-empty\n" POD_REQUIRED
          "[0].topologyKey: Invalid value: '': " NAME_PART_TEXT },
        { POD_REQUIRED "=[{'topologyKey':'z','matchLabelKeys':['a'],'mismatchLabelKeys':['a']}]",
          POD_REQUIRED
          "[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is "
          "not set\n" POD_REQUIRED
          "[0].mismatchLabelKeys: Forbidden: must not be specified when labelSelector is "
          "not set\n" POD_REQUIRED
          "[0].matchLabelKeys[0]: Invalid value: 'a': exists in both matchLabelKeys and "
          "mismatchLabelKeys" },
        { "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution=[{'weight'"
          ":"
          "101,'podAffinityTerm':{'topologyKey':'z'}}]",
          "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight:"
          " "
          "Invalid value: 101: must be in the range 1-100" },
        { "spec.topologySpreadConstraints=[{'maxSkew':0,'topologyKey':'','whenUnsatisfiable':'x',"
          "'minDomains':0},{'maxSkew':1,'topologyKey':'','whenUnsatisfiable':'x'}]",
          "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero\n"
          "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty\n"
          "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: 'x': supported "
          "values: 'DoNotSchedule', 'ScheduleAnyway'\n"
          "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
          "'{, x}'\n"
          "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than "
          "zero\n"
          "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains "
          "if whenUnsatisfiable=DoNotSchedule, not x\n"
          "spec.topologySpreadConstraints[1].topologyKey: Required value: can not be empty\n"
          "spec.topologySpreadConstraints[1].whenUnsatisfiable: Unsupported value: 'x': supported "
          "values: 'DoNotSchedule', 'ScheduleAnyway'" },
        { "spec.topologySpreadConstraints=[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':"
          "'DoNotSchedule','matchLabelKeys':['a'],'labelSelector':{'matchLabels':{'a':'b'},"
          "'matchExpressions':[{'key':'a','operator':'In','values':['b']}]},"
          "'nodeTaintsPolicy':'x'}]",
          "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: 'x': supported "
          "values: 'Honor', 'Ignore'\n"
          "spec.topologySpreadConstraints[0][0]: Invalid value: 'a': exists in both "
          "matchLabelKeys and labelSelector" },
    };
    ROWS(pod, rows);
}

#define POD_FIXED                                                                                  \
    "spec: Forbidden: pod updates may not change fields other than "                               \
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"      \
    "`spec.tolerations` (only additions to existing tolerations),"                                 \
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "          \
    "negative)\n"

TEST(few_fields_of_a_pod_can_change)
{
    static const struct update rows[] = {
        { "", C0 "image='other'", "" },
        { "", "spec.activeDeadlineSeconds=5", "" },
        { "spec.activeDeadlineSeconds=5", "spec.activeDeadlineSeconds=4", "" },
        { "spec.activeDeadlineSeconds=5", "spec.activeDeadlineSeconds=6",
          "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous "
          "value" },
        { "spec.activeDeadlineSeconds=5", "",
          "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive "
          "integer "
          "to nil value" },
        { "", "spec.tolerations=[{'operator':'Exists'}]", "" },
        { "spec.tolerations=[{'key':'a','effect':'NoExecute','tolerationSeconds':1}]",
          "spec.tolerations=[{'key':'a','effect':'NoExecute','tolerationSeconds':2}]", "" },
        { "spec.tolerations=[{'key':'a'}]", "spec.tolerations=[{'key':'b'}]",
          "spec.tolerations: Forbidden: existing toleration can not be modified except its "
          "tolerationSeconds" },
        { "spec.terminationGracePeriodSeconds=-1", "spec.terminationGracePeriodSeconds=1", "" },
        { "", "spec.containers[1]=" CONTAINER "\nspec.containers[1].name='d'",
          "spec.containers: Forbidden: pod updates may not add or remove containers" },
        { "", "spec.nodeName='n'",
          POD_FIXED "@@ -42,7 +42,7 @@\n"
                    "  'NodeSelector': null,\n"
                    "  'ServiceAccountName': '',\n"
                    "  'AutomountServiceAccountToken': null,\n"
                    "- 'NodeName': '',\n"
                    "+ 'NodeName': 'n',\n"
                    "  'SecurityContext': {\n"
                    "   'HostNetwork': false,\n"
                    "   'HostPID': false,\n" },
        { "", "spec.restartPolicy='Never'",
          POD_FIXED "@@ -35,7 +35,7 @@\n"
                    "   }\n"
                    "  ],\n"
                    "  'EphemeralContainers': null,\n"
                    "- 'RestartPolicy': 'Always',\n"
                    "+ 'RestartPolicy': 'Never',\n"
                    "  'TerminationGracePeriodSeconds': 30,\n"
                    "  'ActiveDeadlineSeconds': null,\n"
                    "  'DNSPolicy': 'ClusterFirst',\n" },
        { "spec.schedulingGates=[{'name':'a'},{'name':'b'}]", "spec.schedulingGates=[{'name':'b'}]",
          "" },
        { "spec.schedulingGates=[{'name':'a'}]", "spec.schedulingGates=[{'name':'b'}]",
          "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
          "scheduling gate 'b'" },
        { "spec.schedulingGates=[{'name':'a'}]",
          "spec.schedulingGates=[{'name':'a'}]\nspec.nodeSelector={'x':'y'}", "" },
        { "spec.schedulingGates=[{'name':'a'}]\nspec.nodeSelector={'x':'y'}",
          "spec.schedulingGates=[{'name':'a'}]\nspec.nodeSelector={'x':'z'}",
          "spec.nodeSelector: Invalid value: {'x':'z'}: only additions to spec.nodeSelector are "
          "allowed (no mutations or deletions)" },
        { "spec.schedulingGates=[{'name':'a'}]",
          "spec.schedulingGates=[{'name':'a'}]\n" NODE_REQUIRED
          "={'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}",
          "" },
        { "metadata.annotations.[kubernetes.io/config.mirror]='x'\nspec.nodeName='n'",
          "spec.nodeName='n'",
          "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update "
          "mirror pod annotation" },
        { "status.qosClass='Burstable'", "status.qosClass='Guaranteed'",
          "status.qosClass: Invalid value: 'Guaranteed': field is immutable" },
        { "", "status.podIPs=[{'ip':'1.1.1.1'},{'ip':'1.1.1.2'}]",
          "status.podIPs: Invalid value: [{'IP':'1.1.1.1'},{'IP':'1.1.1.2'}]: may specify no more "
          "than one IP for each IP family" },
        { "spec.restartPolicy='Never'\nstatus.containerStatuses=[{'name':'c','state':{'terminated':"
          "{'exitCode':0}}}]",
          "spec.restartPolicy='Never'\nstatus.containerStatuses=[{'name':'c','state':{'running':{}}"
          "}"
          "]",
          "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated "
          "state" },
        { "", "status.conditions=[{'type':'a b','status':'True'}]",
          "status.conditions[0].Type: Invalid value: 'a b': " NAME_PART_TEXT },
    };
    UPDATES(pod, rows);
}

static const struct kind ephemeral = { "", "v1", "Pod", validate_pod_ephemeral,
                                       "{'metadata':{'name':'p','namespace':'d'},'spec':" POD_SPEC
                                       "}" };

TEST(ephemeral_containers_are_added_but_stay)
{
#define X0 "spec.ephemeralContainers[0]"
    static const struct update rows[] = {
        { "", X0 "=" CONTAINER "\n" X0 ".name='e'\n" X0 ".targetContainerName='c'", "" },
        { "",
          X0 "=" CONTAINER "\n" X0 ".name='e'\n" X0 ".targetContainerName='x'\n" X0
             ".resources.limits={'cpu':'1'}\n" X0 ".ports=[{'containerPort':1,'protocol':'TCP'}]",
          X0 ".targetContainerName: Not found: 'x'\n" X0
             ".ports: Forbidden: cannot be set for an Ephemeral Container\n" X0
             ".resources: Forbidden: cannot be set for an Ephemeral Container" },
        { X0 "=" CONTAINER "\n" X0 ".name='e'", "",
          "spec.ephemeralContainers: Forbidden: existing ephemeral containers 'e' may not be "
          "removed\n" },
        { X0 "=" CONTAINER "\n" X0 ".name='e'",
          X0 "=" CONTAINER "\n" X0 ".name='e'\n" X0 ".image='j'",
          "spec.ephemeralContainers: Forbidden: existing ephemeral containers 'e' may not be "
          "changed\n"
          "@@ -1,6 +1,6 @@\n"
          " {\n"
          "  'Name': 'e',\n"
          "- 'Image': 'i',\n"
          "+ 'Image': 'j',\n"
          "  'Command': null,\n"
          "  'Args': null,\n"
          "  'WorkingDir': '',\n" },
    };
    UPDATES(ephemeral, rows);
}

/* ---- workloads ---- */

#define TEMPLATE "{'metadata':{'labels':{'app':'a'}},'spec':" POD_SPEC "}"

static const struct kind deployment = {
    "apps", "v1", "Deployment", validate_deployment,
    "{'metadata':{'name':'x','namespace':'d'},'spec':{'replicas':1,'selector':{'matchLabels':{'app'"
    ":"
    "'a'}},'template':" TEMPLATE ",'strategy':{'type':'RollingUpdate','rollingUpdate':"
    "{'maxUnavailable':'25%','maxSurge':'25%'}},'revisionHistoryLimit':10,"
    "'progressDeadlineSeconds':600}}"
};

#define MISFIT "`selector` does not match template `labels`"

TEST(deployments_are_checked)
{
    static const struct row rows[] = {
        { "spec.replicas=-1",
          "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.selector=null",
          "spec.selector: Required value\n"
          "spec.template.metadata.labels: Invalid value: {'app':'a'}: " MISFIT },
        { "spec.selector={}", "spec.selector: Invalid value: {}: empty selector is invalid for "
                              "deployment" },
        { "spec.template.metadata.labels={'z':'1','app':'b'}",
          "spec.template.metadata.labels: Invalid value: {'app':'b','z':'1'}: " MISFIT },
        { "spec.template.metadata=null",
          "spec.template.metadata.labels: Invalid value: null: " MISFIT },
        { "spec.selector.matchExpressions=[{'key':'a','operator':'x'}]",
          "spec.selector.matchExpressions[0].operator: Invalid value: 'x': not a valid selector "
          "operator\n"
          "spec.selector: Invalid value: {'matchLabels':{'app':'a'},'matchExpressions':[{'key':'a',"
          "'operator':'x'}]}: invalid label selector" },
        { "spec.template.spec.restartPolicy='Never'",
          "spec.template.spec.restartPolicy: Unsupported value: 'Never': supported values: "
          "'Always'" },
        { "spec.template.spec.activeDeadlineSeconds=1",
          "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
          "ReplicaSet "
          "is not Supported" },
        { "spec.template.spec.containers[0].image=' '", "" },
        { "spec.template.metadata.annotations={'a b':'c'}",
          "spec.template.annotations: Invalid value: 'a b': " NAME_PART_TEXT },
        { "spec.template.metadata.labels.[a b]='c'",
          "spec.template.labels: Invalid value: 'a b': " NAME_PART_TEXT },
        { "spec.strategy={'type':'x'}",
          "spec.strategy: Unsupported value: {'Type':'x','RollingUpdate':null}: supported values: "
          "'Recreate', 'RollingUpdate'" },
        { "spec.strategy.type='Recreate'",
          "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
          "'Recreate'" },
        { "spec.strategy.rollingUpdate={'maxUnavailable':0,'maxSurge':'0%'}",
          "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
          "`maxSurge` is 0" },
        { "spec.strategy.rollingUpdate={'maxUnavailable':'101%','maxSurge':'x'}",
          "spec.strategy.rollingUpdate.maxSurge: Invalid value: 'x': a valid percent string must "
          "be "
          "a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
          "validation is '[0-9]+%')\n"
          "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: '101%': must not be greater "
          "than 100%" },
        { "spec.minReadySeconds=600", "spec.progressDeadlineSeconds: Invalid value: 600: must be "
                                      "greater than minReadySeconds" },
        { "spec.revisionHistoryLimit=-1\nspec.minReadySeconds=-1",
          "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0\n"
          "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.template.spec.ephemeralContainers[0]=" CONTAINER
          "\nspec.template.spec.ephemeralContainers[0].name='e'",
          "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in "
          "pod template" },
        { "spec.template.spec.containers=[]", "spec.template.spec.containers: Required value" },
    };
    static const struct update updates[] = {
        { "", "spec.replicas=3", "" },
        { "", "spec.selector.matchLabels={'app':'b'}\nspec.template.metadata.labels={'app':'b'}",
          "spec.selector: Invalid value: {'matchLabels':{'app':'b'}}: field is immutable" },
        { "", "status.replicas=1\nstatus.readyReplicas=2\nstatus.availableReplicas=-1",
          "status.availableReplicas: Invalid value: -1: must be greater than or equal to 0\n"
          "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas" },
        { "status.collisionCount=2", "status.collisionCount=1",
          "status.collisionCount: Invalid value: 1: cannot be decremented" },
    };
    ROWS(deployment, rows);
    UPDATES(deployment, updates);
}

static const struct kind replica_set = { "apps", "v1", "ReplicaSet", validate_replica_set,
                                         "{'metadata':{'name':'x','namespace':'d'},'spec':{'"
                                         "replicas':1,'selector':{'matchLabels':{'app':"
                                         "'a'}},'template':" TEMPLATE "}}" };
static const struct kind replication_controller = {
    "", "v1", "ReplicationController", validate_replication_controller,
    "{'metadata':{'name':'x','namespace':'d'},'spec':{'replicas':1,'selector':{'app':'a'},"
    "'template':" TEMPLATE "}}"
};
static const struct kind daemon_set = {
    "apps", "v1", "DaemonSet", validate_daemon_set,
    "{'metadata':{'name':'x','namespace':'d'},'spec':{'selector':{'matchLabels':{'app':'a'}},"
    "'template':" TEMPLATE ",'updateStrategy':{'type':'RollingUpdate','rollingUpdate':"
    "{'maxUnavailable':1,'maxSurge':0}},'revisionHistoryLimit':10}}"
};
static const struct kind stateful_set = {
    "apps", "v1", "StatefulSet", validate_stateful_set,
    "{'metadata':{'name':'x','namespace':'d'},'spec':{'replicas':1,'serviceName':'s','selector':"
    "{'matchLabels':{'app':'a'}},'template':" TEMPLATE ",'podManagementPolicy':'OrderedReady',"
    "'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'partition':0}},"
    "'revisionHistoryLimit':10}}"
};

TEST(replica_sets_are_checked)
{
    static const struct row rows[] = {
        { "spec.minReadySeconds=-1",
          "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.template.metadata.labels={'app':'b'}",
          "spec.template.metadata.labels: Invalid value: {'app':'b'}: " MISFIT },
    };
    static const struct row controllers[] = {
        { "spec.selector={}", "spec.selector: Required value" },
        { "spec.template=null", "spec.template: Required value" },
        { "spec.selector.app='b'",
          "spec.template.metadata.labels: Invalid value: {'app':'a'}: " MISFIT },
        { "spec.template.spec.activeDeadlineSeconds=1",
          "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
          "ReplicationController is not Supported" },
    };
    static const struct update updates[] = {
        { "", "spec.selector.matchLabels={'app':'b'}\nspec.template.metadata.labels={'app':'b'}",
          "spec.selector: Invalid value: {'matchLabels':{'app':'b'}}: field is immutable" },
        { "status.replicas=1", "status.replicas=1\nstatus.fullyLabeledReplicas=2",
          "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    };
    ROWS(replica_set, rows);
    ROWS(replication_controller, controllers);
    UPDATES(replica_set, updates);
}

TEST(daemon_sets_are_checked)
{
    static const struct row rows[] = {
        { "spec.updateStrategy={'type':'x'}",
          "spec.updateStrategy: Unsupported value: {'Type':'x','RollingUpdate':null}: supported "
          "values: 'RollingUpdate', 'OnDelete'" },
        { "spec.updateStrategy={'type':'RollingUpdate'}",
          "spec.updateStrategy.rollingUpdate: Required value" },
        { "spec.updateStrategy.rollingUpdate={'maxUnavailable':1,'maxSurge':1}",
          "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
          "maxUnavailable is non-zero" },
        { "spec.updateStrategy.rollingUpdate={'maxUnavailable':0,'maxSurge':0}",
          "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when "
          "maxSurge is 0" },
        { "spec.selector={}",
          "spec.selector: Invalid value: {}: empty selector is invalid for daemonset" },
    };
    ROWS(daemon_set, rows);
}

TEST(stateful_sets_are_checked)
{
    static const struct row rows[] = {
        { "spec.podManagementPolicy='x'",
          "spec.podManagementPolicy: Invalid value: 'x': must be 'OrderedReady' or 'Parallel'" },
        { "spec.podManagementPolicy=null", "spec.podManagementPolicy: Required value" },
        { "spec.updateStrategy={'type':'x'}",
          "spec.updateStrategy: Invalid value: {'Type':'x','RollingUpdate':null}: must be "
          "'RollingUpdate' or 'OnDelete'" },
        { "spec.updateStrategy.rollingUpdate.partition=-1",
          "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or "
          "equal to 0" },
        { "spec.persistentVolumeClaimRetentionPolicy={'whenDeleted':'x','whenScaled':'Delete'}",
          "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: 'x': "
          "supported "
          "values: 'Retain', 'Delete'" },
        { "spec.ordinals.start=-1",
          "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.selector={}",
          "spec.selector: Invalid value: {}: empty selector is invalid for statefulset" },
        { "spec.template.spec.containers[0].volumeMounts=[{'name':'data','mountPath':'/d'}]",
          "spec.template.spec.containers[0].volumeMounts[0].name: Not found: 'data'" },
        { "spec.volumeClaimTemplates=[{'metadata':{'name':'data'},'spec':{}}]",
          "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode "
          "is "
          "required\n"
          "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value" },
        { "spec.volumeClaimTemplates=[{'metadata':{'name':'data'},'spec':{'accessModes':["
          "'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]\n"
          "spec.template.spec.containers[0].volumeMounts=[{'name':'data','mountPath':'/d'}]",
          "" },
    };
    static const struct update updates[] = {
        { "", "spec.replicas=2\nspec.minReadySeconds=1\nspec.revisionHistoryLimit=3", "" },
        { "", "spec.serviceName='t'",
          "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
          "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
          "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden" },
        { "", "status.replicas=1\nstatus.availableReplicas=1",
          "status.availableReplicas: Invalid value: 1: cannot be greater than "
          "status.readyReplicas" },
    };
    ROWS(stateful_set, rows);
    UPDATES(stateful_set, updates);
}

/* ---- Services ---- */

static const struct kind service = {
    "", "v1", "Service", validate_service,
    "{'metadata':{'name':'s','namespace':'d'},'spec':{'type':'ClusterIP','clusterIP':'10.0.0.1',"
    "'clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack',"
    "'sessionAffinity':'None','internalTrafficPolicy':'Cluster','ports':[{'protocol':'TCP','port':"
    "80,'targetPort':80}],'selector':{'a':'b'}}}"
};

TEST(services_are_checked)
{
#define LB "spec.type='LoadBalancer'\nspec.allocateLoadBalancerNodePorts=true\n"
    static const struct row rows[] = {
        { "spec.ports=null", "spec.ports: Required value" },
        { "spec.type='x'", "spec.type: Unsupported value: 'x': supported values: 'ClusterIP', "
                           "'ExternalName', 'LoadBalancer', 'NodePort'" },
        { "spec.ports[0].port=0",
          "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive" },
        { "spec.ports[0].protocol='x'", "spec.ports[0].protocol: Unsupported value: 'x': supported "
                                        "values: 'SCTP', 'TCP', 'UDP'" },
        { "spec.ports[0].targetPort='A'",
          "spec.ports[0].targetPort: Invalid value: 'A': must contain only alpha-numeric "
          "characters "
          "(a-z, 0-9), and hyphens (-)\n"
          "spec.ports[0].targetPort: Invalid value: 'A': must contain at least one letter (a-z)" },
        { "spec.ports[1]={'protocol':'TCP','port':80,'targetPort':81}",
          "spec.ports[0].name: Required value\n"
          "spec.ports[1].name: Required value\n"
          "spec.ports[1]: Duplicate value: "
          "{'Name':'','Protocol':'TCP','AppProtocol':null,'Port':80,"
          "'TargetPort':0,'NodePort':0}" },
        { "spec.ports=[{'name':'a','protocol':'TCP','port':80,'targetPort':81},{'name':'a',"
          "'protocol':'TCP','port':81,'targetPort':81}]",
          "spec.ports[1].name: Duplicate value: 'a'" },
        { "spec.ports[0].nodePort=30000",
          "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'" },
        { "spec.sessionAffinity='x'", "spec.sessionAffinity: Unsupported value: 'x': supported "
                                      "values: 'ClientIP', 'None'" },
        { "spec.sessionAffinity='ClientIP'",
          "spec.sessionAffinityConfig: Required value: when session affinity type is ClientIP" },
        { "spec.sessionAffinity='ClientIP'\nspec.sessionAffinityConfig.clientIP.timeoutSeconds="
          "86401",
          "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be "
          "greater "
          "than 0 and less than 86400" },
        { "spec.clusterIP='x'\nspec.clusterIPs=['x']",
          "spec.clusterIPs[0]: Invalid value: 'x': must be a valid IP address, (e.g. 10.9.8.7 or "
          "2001:db8::ffff)" },
        { "spec.clusterIP='10.0.0.2'",
          "spec.clusterIPs: Invalid value: ['10.0.0.1']: first value must match `clusterIP`" },
        { "spec.clusterIP=null", "spec.clusterIPs: Invalid value: ['10.0.0.1']: must be empty when "
                                 "`clusterIP` is not specified" },
        { "spec.clusterIP='::1'\nspec.clusterIPs=['::1']",
          "spec.clusterIPs[0]: Invalid value: '::1': expected an IPv4 value as indicated by "
          "`ipFamilies[0]`" },
        { "spec.clusterIPs=['10.0.0.1','10.0.0.2']",
          "spec.clusterIPs: Invalid value: ['10.0.0.1','10.0.0.2']: may specify no more than one "
          "IP "
          "for each IP family" },
        { "spec.ipFamilies=['IPv4','IPv4','x']",
          "spec.ipFamilies[1]: Duplicate value: 'IPv4'\n"
          "spec.ipFamilies[2]: Unsupported value: 'x': supported values: 'IPv4', 'IPv6'" },
        { "spec.ipFamilyPolicy='x'",
          "spec.ipFamilyPolicy: Unsupported value: 'x': supported values: 'PreferDualStack', "
          "'RequireDualStack', 'SingleStack'" },
        { "spec.type='ExternalName'\nspec.externalName='A'",
          "spec.clusterIPs: Forbidden: may not be set for ExternalName services\n"
          "spec.ipFamilies: Forbidden: may not be set for ExternalName services\n"
          "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services\n"
          "spec.externalName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.type='ExternalName'\nspec.clusterIPs=null\nspec.ipFamilies=null\n"
          "spec.ipFamilyPolicy=null",
          "spec.externalName: Required value" },
        { "spec.externalIPs=['127.0.0.1','x']\nspec.externalTrafficPolicy='Cluster'",
          "spec.externalIPs[0]: Invalid value: '127.0.0.1': may not be in the loopback range "
          "(127.0.0.0/8, ::1/128)\n"
          "spec.externalIPs[1]: Invalid value: 'x': must be a valid IP address, (e.g. 10.9.8.7 or "
          "2001:db8::ffff)" },
        { "spec.externalTrafficPolicy='Local'",
          "spec.externalTrafficPolicy: Invalid value: 'Local': may only be set for "
          "externally-accessible services" },
        { LB "spec.externalTrafficPolicy='Local'", "spec.healthCheckNodePort: Required value" },
        { "spec.type='NodePort'\nspec.externalTrafficPolicy='x'",
          "spec.externalTrafficPolicy: Unsupported value: 'x': supported values: 'Cluster', "
          "'Local'" },
        { "spec.type='LoadBalancer'\nspec.externalTrafficPolicy='Cluster'",
          "allocateLoadBalancerNodePorts: Required value" },
        { LB
          "spec.externalTrafficPolicy='Cluster'\nspec.loadBalancerSourceRanges=['1.2.3.4/8','x']",
          "spec.LoadBalancerSourceRanges[0]: Invalid value: '1.2.3.4/8': must not have bits set "
          "beyond the prefix length\n"
          "spec.LoadBalancerSourceRanges[1]: Invalid value: 'x': must be a valid CIDR value, (e.g. "
          "10.9.8.0/24 or 2001:db8::/64)" },
        { "spec.loadBalancerSourceRanges=['1.0.0.0/8']",
          "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is "
          "'LoadBalancer'" },
        { "spec.loadBalancerClass='a'", "spec.loadBalancerClass: Forbidden: may only be used when "
                                        "`type` is 'LoadBalancer'" },
        { "spec.internalTrafficPolicy=null", "spec.internalTrafficPolicy: Required value" },
        { "spec.trafficDistribution='x'",
          "spec.trafficDistribution: Unsupported value: 'x': supported values: 'PreferClose', "
          "'PreferSameZone', 'PreferSameNode'" },
        { "spec.selector={'a':'b c'}", "spec.selector: Invalid value: 'b c': " LABEL_VALUE_TEXT },
        { LB
          "spec.externalTrafficPolicy='Cluster'\nspec.clusterIP='None'\nspec.clusterIPs=['None']",
          "spec.clusterIPs[0]: Invalid value: 'None': may not be set to 'None' for LoadBalancer "
          "services" },
    };
    static const struct update updates[] = {
        { "", "spec.ports[0].port=81", "" },
        { "", "spec.clusterIP='10.0.0.2'\nspec.clusterIPs=['10.0.0.2']",
          "spec.clusterIPs[0]: Invalid value: ['10.0.0.2']: may not change once set" },
        { "", "spec.clusterIP=null\nspec.clusterIPs=null",
          "spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset" },
        { "", "spec.ipFamilies=['IPv6']",
          "spec.ipFamilies[0]: Invalid value: ['IPv6']: may not change once set\n"
          "spec.clusterIPs[0]: Invalid value: '10.0.0.1': expected an IPv6 value as indicated by "
          "`ipFamilies[0]`" },
        { "spec.clusterIPs=['10.0.0.1','fd::1']\nspec.ipFamilies=['IPv4','IPv6']\n"
          "spec.ipFamilyPolicy='RequireDualStack'",
          "spec.ipFamilyPolicy='PreferDualStack'",
          "spec.ipFamilyPolicy: Invalid value: 'PreferDualStack': must be set to 'SingleStack' "
          "when "
          "releasing the secondary clusterIP\n"
          "spec.ipFamilyPolicy: Invalid value: 'PreferDualStack': must be set to 'SingleStack' "
          "when "
          "releasing the secondary ipFamily" },
        { "", "status.loadBalancer.ingress=[{'ip':'1.1.1.1','ipMode':'VIP'}]",
          "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "
          "'LoadBalancer'" },
    };
    ROWS(service, rows);
    UPDATES(service, updates);
}

static const struct kind endpoints = { "", "v1", "Endpoints", validate_endpoints,
                                       "{'metadata':{'name':'s','namespace':'d'},'subsets':[{'"
                                       "addresses':[{'ip':'10.0.0.1'}],'ports':[{"
                                       "'port':80,'protocol':'TCP'}]}]}" };
static const struct kind slice = {
    "discovery.k8s.io", "v1", "EndpointSlice", validate_endpoint_slice,
    "{'metadata':{'name':'s','namespace':'d'},'addressType':'IPv4','endpoints':[{'addresses':["
    "'10.0.0.1']}],'ports':[{'name':'','port':80,'protocol':'TCP'}]}"
};

TEST(endpoints_are_checked)
{
    static const struct row rows[] = {
        { "subsets[0].addresses=null",
          "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`" },
        { "subsets[0].addresses[0].ip='169.254.1.1'",
          "subsets[0].addresses[0].ip: Invalid value: '169.254.1.1': may not be in the link-local "
          "range (169.254.0.0/16, fe80::/10)" },
        { "subsets[0].ports[1]={'port':0,'protocol':'x'}",
          "subsets[0].ports[0].name: Required value\n"
          "subsets[0].ports[1].name: Required value\n"
          "subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive\n"
          "subsets[0].ports[1].protocol: Unsupported value: 'x': supported values: 'SCTP', 'TCP', "
          "'UDP'" },
    };
    static const struct row slices[] = {
        { "addressType='x'",
          "addressType: Unsupported value: 'x': supported values: 'FQDN', 'IPv4', 'IPv6'" },
        { "endpoints[0].addresses=['::1']",
          "endpoints[0].addresses: Invalid value: '::1': must be an IPv4 address\n"
          "endpoints[0].addresses[0]: Invalid value: '::1': may not be in the loopback range "
          "(127.0.0.0/8, ::1/128)" },
        { "endpoints[0].addresses=[]",
          "endpoints[0].addresses: Required value: must contain at least 1 address" },
        { "ports[1]={'name':'','port':81,'protocol':'TCP'}", "ports[1].name: Duplicate value: ''" },
    };
    static const struct update updates[] = {
        { "", "addressType='FQDN'\nendpoints=null",
          "addressType: Invalid value: 'FQDN': field is immutable" },
    };
    ROWS(endpoints, rows);
    ROWS(slice, slices);
    UPDATES(slice, updates);
}

/* ---- Jobs ---- */

#define JOB_POD                                                                                    \
    "{'containers':[" CONTAINER "],'restartPolicy':'Never','dnsPolicy':'ClusterFirst',"            \
    "'terminationGracePeriodSeconds':30}"
#define JOB_LABELS                                                                                 \
    "'controller-uid':'u','job-name':'j','batch.kubernetes.io/controller-uid':'u',"                \
    "'batch.kubernetes.io/job-name':'j'"

static const struct kind job = {
    "batch", "v1", "Job", validate_job,
    "{'metadata':{'name':'j','namespace':'d','uid':'u'},'spec':{'parallelism':1,'completions':1,"
    "'backoffLimit':6,'completionMode':'NonIndexed','suspend':false,'selector':{'matchLabels':{"
    "'batch.kubernetes.io/controller-uid':'u'}},'template':{'metadata':{'labels':{" JOB_LABELS
    "}},'spec':" JOB_POD "}}}"
};

TEST(jobs_are_checked)
{
#define INDEXED "spec.completionMode='Indexed'\n"
#define RULE0   "spec.podFailurePolicy.rules[0]"
    static const struct row rows[] = {
        { "spec.parallelism=-1\nspec.backoffLimit=-1\nspec.ttlSecondsAfterFinished=-1",
          "spec.parallelism: Invalid value: -1: must be greater than or equal to 0\n"
          "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0\n"
          "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.template.spec.restartPolicy='Always'",
          "spec.template.spec.restartPolicy: Required value: valid values: 'OnFailure', 'Never'" },
        { "spec.template.spec.restartPolicy='x'",
          "spec.template.spec.restartPolicy: Unsupported value: 'x': supported values: 'Always', "
          "'OnFailure', 'Never'\n"
          "spec.template.spec.restartPolicy: Unsupported value: 'x': supported values: "
          "'OnFailure', 'Never'" },
        { "spec.completionMode='x'",
          "spec.completionMode: Unsupported value: 'x': supported values: 'NonIndexed', "
          "'Indexed'" },
        { INDEXED "spec.completions=null",
          "spec.completions: Required value: when completion mode is Indexed" },
        { INDEXED "spec.parallelism=100001\nspec.maxFailedIndexes=2\nspec.backoffLimitPerIndex=1",
          "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when "
          "completion mode is Indexed\n"
          "spec.maxFailedIndexes: Invalid value: 2: must be less than or equal to completions" },
        { "spec.maxFailedIndexes=1",
          "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified\n"
          "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode" },
        { RULE0 "={'action':'x','onExitCodes':{'operator':'In','values':[2,1,0,1],"
                "'containerName':'z'}}",
          RULE0
          ".action: Unsupported value: 'x': supported values: 'Count', 'FailIndex', "
          "'FailJob', 'Ignore'\n" RULE0
          ".onExitCodes.containerName: Invalid value: 'z': must be one of the container or "
          "initContainer names in the pod template\n" RULE0
          ".onExitCodes.values[2]: Invalid value: 0: must not be 0 for the In operator\n" RULE0
          ".onExitCodes.values[3]: Duplicate value: 1\n" RULE0
          ".onExitCodes.values: Invalid value: [2,1,0,1]: must be ordered" },
        { RULE0 "={'action':''}", RULE0
          ".action: Required value: valid values: ['Count' 'FailIndex' 'FailJob' 'Ignore']\n" RULE0
          ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required" },
        { RULE0 "={'action':'FailIndex','onPodConditions':[{'type':'A','status':'x'}]}\n"
                "spec.template.spec.restartPolicy='OnFailure'",
          RULE0
          ".action: Invalid value: 'FailIndex': requires the backoffLimitPerIndex to be set\n" RULE0
          ".onPodConditions[0].status: Unsupported value: 'x': supported values: 'False', "
          "'True', 'Unknown'\n"
          "spec.template.spec.restartPolicy: Invalid value: 'OnFailure': only 'Never' is supported "
          "when podFailurePolicy is specified" },
        { "spec.podReplacementPolicy='x'",
          "spec.podReplacementPolicy: Unsupported value: 'x': supported values: 'Failed', "
          "'TerminatingOrFailed'" },
        { "spec.managedBy='x'",
          "spec.managedBy: Invalid value: 'x': must be a domain-prefixed path "
          "(such as 'acme.io/foo')" },
        { "spec.successPolicy={'rules':[{}]}", "spec.successPolicy: Invalid value: "
                                               "{'Rules':[{'SucceededIndexes':null,'SucceededCount'"
                                               ":null}]}: requires indexed completion mode" },
        { INDEXED "spec.successPolicy={'rules':[{},{'succeededCount':2}]}",
          "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or "
          "succeededIndexes must be specified\n"
          "spec.successPolicy.rules[1].succeededCount: Invalid value: 2: must be less than or "
          "equal "
          "to 1 (the number of specified completions)" },
        { "spec.template.metadata.labels.job-name='k'",
          "spec.template.metadata.labels[job-name]: Invalid value: {"
          "'batch.kubernetes.io/controller-uid':'u','batch.kubernetes.io/job-name':'j',"
          "'controller-uid':'u','job-name':'k'}: must be 'j'" },
        { "spec.selector.matchLabels={'x':'y'}",
          "spec.selector: Invalid value: {'matchLabels':{'x':'y'}}: `selector` not auto-generated\n"
          "spec.template.metadata.labels: Invalid value: {'batch.kubernetes.io/controller-uid':'u',"
          "'batch.kubernetes.io/job-name':'j','controller-uid':'u','job-name':'j'}: `selector` "
          "does "
          "not match template `labels`" },
        { "spec.manualSelector=true\nspec.selector={'matchLabels':{'x':'y'}}\n"
          "spec.template.metadata.labels={'x':'y'}",
          "" },
    };
    static const struct update updates[] = {
        { "", "spec.parallelism=3\nspec.suspend=true", "" },
        { "", "spec.completions=2", "spec.completions: Invalid value: 2: field is immutable" },
        { INDEXED, INDEXED "spec.completions=2",
          "spec.completions: Invalid value: 2: can only be modified in tandem with "
          "spec.parallelism" },
        { INDEXED, INDEXED "spec.completions=2\nspec.parallelism=2", "" },
        { "", "spec.completionMode='Indexed'",
          "spec.completionMode: Invalid value: 'Indexed': field is immutable" },
        { "spec.suspend=true", "spec.template.spec.nodeSelector={'a':'b'}", "" },
        { "", "status.active=-1",
          "status.active: Invalid value: -1: must be greater than or equal to 0" },
    };
    ROWS(job, rows);
    UPDATES(job, updates);
}

static const struct kind cron_job = {
    "batch", "v1", "CronJob", validate_cron_job,
    "{'metadata':{'name':'c','namespace':'d'},'spec':{'schedule':'*/5 0-3,9 1 jan-MAR ?',"
    "'concurrencyPolicy':'Allow','suspend':false,'jobTemplate':{'spec':{'template':{'spec':" JOB_POD
    "}}}}}"
};

TEST(cron_jobs_are_checked)
{
#define CRON(schedule, text)                                                                       \
    {                                                                                              \
        "spec.schedule='" schedule "'", "spec.schedule: Invalid value: '" schedule "': " text      \
    }
    static const struct row rows[] = {
        { "spec.schedule='@hourly'", "" },
        { "spec.schedule=''", "spec.schedule: Required value" },
        CRON("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        CRON("60 * * * *", "end of range (60) above maximum (59): 60"),
        CRON("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        CRON("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
        CRON("*/0 * * * *", "step of range should be a positive number: */0"),
        CRON("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        CRON("1/2/3 * * * *", "too many slashes: 1/2/3"),
        CRON("x * * * *", "failed to parse int from x: strconv.Atoi: parsing 'x': invalid syntax"),
        CRON("@often", "unrecognized descriptor: @often"),
        CRON("TZ=UTC * * * * *",
             "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
        { "spec.timeZone=''",
          "spec.timeZone: Invalid value: '': timeZone must be nil or non-empty string" },
        { "spec.timeZone='a//b'", "spec.timeZone: Invalid value: 'a//b': unknown time zone a//b" },
        { "spec.timeZone='local'", "spec.timeZone: Invalid value: 'local': timeZone must be an "
                                   "explicit time zone as defined "
                                   "in https://www.iana.org/time-zones" },
        { "spec.concurrencyPolicy='x'", "spec.concurrencyPolicy: Unsupported value: 'x': supported "
                                        "values: 'Allow', 'Forbid', 'Replace'" },
        { "spec.startingDeadlineSeconds=-1\nspec.failedJobsHistoryLimit=-1",
          "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0\n"
          "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.jobTemplate.spec.selector={'matchLabels':{'a':'b'}}\n"
          "spec.jobTemplate.spec.manualSelector=true",
          "spec.jobTemplate.spec.selector: Invalid value: {'matchLabels':{'a':'b'}}: `selector` "
          "will be auto-generated\n"
          "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: 'nil', "
          "'false'" },
        { "metadata.name='a2345678901234567890123456789012345678901234567890123'",
          "metadata.name: Invalid value: 'a2345678901234567890123456789012345678901234567890123': "
          "must be no more than 52 characters" },
    };
    ROWS(cron_job, rows);
}

/* ---- RBAC ---- */

static const struct kind role = {
    "rbac.authorization.k8s.io", "v1", "Role", validate_role,
    "{'metadata':{'name':'r','namespace':'d'},'rules':[{'verbs':['get'],'apiGroups':[''],"
    "'resources':['pods']}]}"
};
static const struct kind cluster_role = {
    "rbac.authorization.k8s.io", "v1", "ClusterRole", validate_cluster_role,
    "{'metadata':{'name':'r'},'rules':[{'verbs':['get'],'nonResourceURLs':['/healthz']}]}"
};
static const struct kind role_binding = {
    "rbac.authorization.k8s.io", "v1", "RoleBinding", validate_role_binding,
    "{'metadata':{'name':'r','namespace':'d'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
    "'kind':'Role','name':'x'},'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io',"
    "'name':'u'},{'kind':'ServiceAccount','name':'s'}]}"
};
static const struct kind cluster_role_binding = {
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", validate_cluster_role_binding,
    "{'metadata':{'name':'r'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
    "'ClusterRole','name':'x'}}"
};

TEST(roles_and_bindings_are_checked)
{
    static const struct row of_role[] = {
        { "rules[0].verbs=[]",
          "rules[0].verbs: Required value: verbs must contain at least one value" },
        { "rules[0]={'verbs':['get']}",
          "rules[0].apiGroups: Required value: resource rules must supply at least one api group\n"
          "rules[0].resources: Required value: resource rules must supply at least one resource" },
        { "rules[0].nonResourceURLs=['/x']",
          "rules[0].nonResourceURLs: Invalid value: ['/x']: namespaced rules cannot apply to "
          "non-resource URLs\n"
          "rules[0].nonResourceURLs: Invalid value: ['/x']: rules cannot apply to both regular "
          "resources and non-resource URLs" },
    };
    static const struct row of_cluster_role[] = {
        { "aggregationRule={}",
          "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector "
          "required if aggregationRule is non-nil" },
    };
    static const struct row of_binding[] = {
        { "roleRef.kind='x'", "roleRef.kind: Unsupported value: 'x': supported values: 'Role', "
                              "'ClusterRole'" },
        { "roleRef.apiGroup='x'", "roleRef.apiGroup: Unsupported value: 'x': supported values: "
                                  "'rbac.authorization.k8s.io'" },
        { "roleRef.name=''", "roleRef.name: Required value" },
        { "roleRef.name='a/b'", "roleRef.name: Invalid value: 'a/b': may not contain '/'" },
        { "subjects[0].kind='x'", "subjects[0].kind: Unsupported value: 'x': supported values: "
                                  "'ServiceAccount', 'User', 'Group'" },
        { "subjects[1].name='A'", "subjects[1].name: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "subjects[1].apiGroup='x'",
          "subjects[1].apiGroup: Unsupported value: 'x': supported values: ''" },
        { "subjects[0].name=''", "subjects[0].name: Required value" },
    };
    static const struct row of_cluster_binding[] = {
        { "roleRef.kind='Role'",
          "roleRef.kind: Unsupported value: 'Role': supported values: 'ClusterRole'" },
        { "subjects=[{'kind':'ServiceAccount','name':'a'}]",
          "subjects[0].namespace: Required value" },
    };
    static const struct update updates[] = {
        { "", "roleRef.name='y'",
          "roleRef: Invalid value: {'APIGroup':'rbac.authorization.k8s.io','Kind':'Role','Name':"
          "'y'}: cannot change roleRef" },
    };
    ROWS(role, of_role);
    ROWS(cluster_role, of_cluster_role);
    ROWS(role_binding, of_binding);
    ROWS(cluster_role_binding, of_cluster_binding);
    UPDATES(role_binding, updates);
}

/* ---- Nodes ---- */

static const struct kind node = { "", "v1", "Node", validate_node,
                                  "{'metadata':{'name':'n'},'spec':{}}" };

TEST(nodes_are_checked)
{
    static const struct row rows[] = {
        { "spec.taints=[{'key':'a','effect':'NoSchedule'},{'key':'a','effect':'NoSchedule'}]",
          "metadata.taints[1]: Duplicate value: {'Key':'a','Value':'','Effect':'NoSchedule',"
          "'TimeAdded':null}: taints must be unique by key and effect pair" },
        { "spec.taints=[{'key':'','effect':'x'}]",
          "metadata.taints[0].key: Invalid value: '': name part must be non-empty\n"
          "metadata.taints[0].key: Invalid value: '': " NAME_PART_TEXT "\n"
          "metadata.taints[0].effect: Unsupported value: 'x': supported values: 'NoSchedule', "
          "'PreferNoSchedule', 'NoExecute'" },
        { "spec.taints=[{'key':'a','effect':''}]", "metadata.taints[0].effect: Required value" },
        { "status.capacity={'cpu':'-1','pods':'1500m'}",
          "status.capacity.cpu: Invalid value: '-1': must be greater than or equal to 0\n"
          "status.capacity.pods: Invalid value: '1500m': must be an integer" },
        { "spec.podCIDRs=['1.0.0.0/8','2.0.0.0/8']",
          "spec.podCIDRs: Invalid value: ['1.0.0.0/8','2.0.0.0/8']: may specify no more than one "
          "CIDR for each IP family" },
        { "spec.podCIDRs=['x']",
          "spec.podCIDRs[0]: Invalid value: 'x': must be a valid CIDR value, "
          "(e.g. 10.9.8.0/24 or 2001:db8::/64)" },
    };
    static const struct update updates[] = {
        { "", "spec.podCIDRs=['1.0.0.0/8']\nspec.providerID='p'\nspec.unschedulable=true", "" },
        { "spec.podCIDRs=['1.0.0.0/8']", "spec.podCIDRs=['2.0.0.0/8']",
          "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from '' to valid" },
        { "spec.providerID='p'", "spec.providerID='q'",
          "spec.providerID: Forbidden: node updates may not change providerID except from '' to "
          "valid" },
        { "", "status.addresses=[{'type':'a','address':'b'},{'type':'a','address':'b'}]",
          "status.addresses[1]: Duplicate value: {'Type':'a','Address':'b'}" },
    };
    ROWS(node, rows);
    UPDATES(node, updates);
}

/* ---- storage ---- */

static const struct kind volume = {
    "", "v1", "PersistentVolume", validate_persistent_volume,
    "{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],"
    "'persistentVolumeReclaimPolicy':'Retain','volumeMode':'Filesystem','hostPath':{'path':'/a',"
    "'type':''}}}"
};
static const struct kind claim = {
    "", "v1", "PersistentVolumeClaim", validate_persistent_volume_claim,
    "{'metadata':{'name':'v','namespace':'d'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
    "'requests':{'storage':'1Gi'}},'volumeMode':'Filesystem'}}"
};
static const struct kind storage_class = {
    "storage.k8s.io", "v1", "StorageClass", validate_storage_class,
    "{'metadata':{'name':'c'},'provisioner':'example.com/p','reclaimPolicy':'Delete',"
    "'volumeBindingMode':'Immediate'}"
};

TEST(volumes_and_claims_are_checked)
{
    static const struct row volumes[] = {
        { "spec.accessModes=null", "spec.accessModes: Required value" },
        { "spec.accessModes=['x','ReadWriteOnce','ReadWriteOncePod']",
          "spec.accessModes: Unsupported value: 'x': supported values: 'ReadOnlyMany', "
          "'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'\n"
          "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes" },
        { "spec.capacity=null",
          "spec.capacity: Required value\n"
          "spec.capacity: Unsupported value: null: supported values: 'storage'" },
        { "spec.capacity.storage='0'",
          "spec.capacity[storage]: Invalid value: '0': must be greater than zero" },
        { "spec.hostPath=null", "spec: Required value: must specify a volume type" },
        { "spec.nfs={'server':'s','path':'/x'}",
          "spec.nfs: Forbidden: may not specify more than 1 volume type" },
        { "spec.hostPath=null\nspec.local.path='/x'",
          "spec.nodeAffinity: Required value: Local volume requires node affinity" },
        { "spec.hostPath.path='//'\nspec.persistentVolumeReclaimPolicy='Recycle'",
          "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath "
          "mount "
          "of '/'" },
        { "spec.persistentVolumeReclaimPolicy='x'",
          "spec.persistentVolumeReclaimPolicy: Unsupported value: 'x': supported values: 'Delete', "
          "'Recycle', 'Retain'" },
        { "spec.hostPath=null\nspec.csi={'driver':'d','volumeHandle':'',"
          "'nodePublishSecretRef':{'name':'n'}}",
          "spec.csi.volumeHandle: Required value\n"
          "spec.csi.nodePublishSecretRef.namespace: Required value" },
        { "spec.volumeMode='x'", "spec.volumeMode: Unsupported value: 'x': supported values: "
                                 "'Block', 'Filesystem'" },
    };
    static const struct update volume_updates[] = {
        { "", "spec.hostPath.path='/b'",
          "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
          "creation\n"
          "@@ -2,7 +2,7 @@\n"
          "  'GCEPersistentDisk': null,\n"
          "  'AWSElasticBlockStore': null,\n"
          "  'HostPath': {\n"
          "-  'Path': '/a',\n"
          "+  'Path': '/b',\n"
          "   'Type': ''\n"
          "  },\n"
          "  'Glusterfs': null,\n" },
        { "", "spec.capacity.storage='2Gi'", "" },
    };
    static const struct row claims[] = {
        { "spec.accessModes=null",
          "spec.accessModes: Required value: at least 1 access mode is required" },
        { "spec.resources={}", "spec.resources[storage]: Required value" },
        { "spec.resources.requests.storage='-1'",
          "spec.resources[storage]: Invalid value: '-1': must be greater than zero" },
        { "spec.storageClassName='A'",
          "spec.storageClassName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "spec.dataSource={'kind':'x','name':''}", "spec.dataSource.name: Required value\n"
                                                    "spec.dataSource: Invalid value: 'x': must be "
                                                    "'PersistentVolumeClaim' when referencing the "
                                                    "default apiGroup" },
    };
    static const struct update claim_updates[] = {
        { "", "spec.volumeName='v'", "" },
        { "", "spec.storageClassName='c'", "" },
        { "status.phase='Bound'\nstatus.capacity.storage='1Gi'",
          "status.phase='Bound'\nstatus.capacity.storage='1Gi'\n"
          "spec.resources.requests.storage='2Gi'",
          "" },
        { "status.phase='Bound'\nstatus.capacity.storage='1Gi'",
          "status.phase='Bound'\nstatus.capacity.storage='1Gi'\n"
          "spec.resources.requests.storage='1Mi'",
          "spec.resources.requests.storage: Forbidden: field can not be less than "
          "status.capacity" },
        { "", "spec.accessModes=['ReadOnlyMany']",
          "spec: Forbidden: spec is immutable after creation except resources.requests and "
          "volumeAttributesClassName for bound claims\n"
          "@@ -1,6 +1,6 @@\n"
          " {\n"
          "  'AccessModes': [\n"
          "-  'ReadWriteOnce'\n"
          "+  'ReadOnlyMany'\n"
          "  ],\n"
          "  'Selector': null,\n"
          "  'Resources': {\n" },
    };
    static const struct row classes[] = {
        { "provisioner=''", "provisioner: Required value" },
        { "reclaimPolicy='Recycle'",
          "reclaimPolicy: Unsupported value: 'Recycle': supported values: 'Delete', 'Retain'" },
        { "volumeBindingMode=null", "volumeBindingMode: Required value" },
        { "allowedTopologies=[{'matchLabelExpressions':[{'key':'a','values':['x','x']}]},"
          "{'matchLabelExpressions':[{'key':'a','values':['x']}]}]",
          "allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: 'x'\n"
          "allowedTopologies[1].matchLabelExpressions: Duplicate value: ''" },
    };
    static const struct update class_updates[] = {
        { "", "provisioner='x/y'\nvolumeBindingMode='WaitForFirstConsumer'",
          "provisioner: Invalid value: 'x/y': field is immutable\n"
          "volumeBindingMode: Invalid value: 'WaitForFirstConsumer': field is immutable" },
    };
    ROWS(volume, volumes);
    UPDATES(volume, volume_updates);
    ROWS(claim, claims);
    UPDATES(claim, claim_updates);
    ROWS(storage_class, classes);
    UPDATES(storage_class, class_updates);
}

static const struct kind csi_node = { "storage.k8s.io", "v1", "CSINode", validate_csi_node,
                                      "{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'a.b','"
                                      "nodeID':'i','topologyKeys':['z']}]}}" };
static const struct kind csi_driver = {
    "storage.k8s.io", "v1", "CSIDriver", validate_csi_driver,
    "{'metadata':{'name':'d'},'spec':{'attachRequired':true,'fsGroupPolicy':'File',"
    "'volumeLifecycleModes':['Persistent']}}"
};
static const struct kind csi_capacity = {
    "storage.k8s.io", "v1", "CSIStorageCapacity", validate_csi_capacity,
    "{'metadata':{'name':'c','namespace':'d'},'storageClassName':'s','capacity':'1Gi',"
    "'nodeTopology':{'matchLabels':{'z':'a'}}}"
};

TEST(what_csi_drivers_tell_is_checked)
{
    static const struct row nodes[] = {
        { "spec.drivers=[]", "" },
        { "spec.drivers=[{'name':'','nodeID':''}]", "spec.drivers[0].name: Required value\n"
                                                    "spec.drivers[0].nodeID: Required value" },
        { "spec.drivers=[{'name':'a','nodeID':'i','allocatable':{'count':-1}},{'name':'a','nodeID':"
          "'i'}]",
          "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to "
          "0\n"
          "spec.drivers[1].name: Duplicate value: 'a'" },
        { "spec.drivers=[{'name':'a','nodeID':'i','topologyKeys':['z','z']}]",
          "spec.drivers[0]: Duplicate value: 'z'" },
    };
    static const struct update node_updates[] = {
        { "",
          "spec.drivers=[{'name':'a.b','nodeID':'i','topologyKeys':['z'],'allocatable':{'count'"
          ":3}},{'name':'more','nodeID':'i'}]",
          "" },
        { "", "spec.drivers=[{'name':'a.b','nodeID':'j','topologyKeys':['z']}]",
          "spec.drivers: Invalid value: {'Name':'a.b','NodeID':'j','TopologyKeys':['z'],"
          "'Allocatable':null}: field is immutable" },
    };
    static const struct row drivers[] = {
        { "spec.storageCapacity=true", "" },
        { "spec.fsGroupPolicy='x'\nspec.volumeLifecycleModes=['x']",
          "spec.fsGroupPolicy: Unsupported value: 'x': supported values: 'File', 'None', "
          "'ReadWriteOnceWithFSType'\n"
          "spec.volumeLifecycleModes: Unsupported value: 'x': supported values: 'Persistent', "
          "'Ephemeral'" },
        { "spec.tokenRequests=[{'audience':'a','expirationSeconds':599},{'audience':'a'}]",
          "spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration "
          "less than 10 minutes\n"
          "spec.tokenRequests[1].audience: Duplicate value: 'a'" },
        { "spec.nodeAllocatableUpdatePeriodSeconds=9",
          "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or "
          "equal "
          "to 10 seconds" },
    };
    static const struct update driver_updates[] = {
        { "", "spec.storageCapacity=true", "" },
        { "", "spec.attachRequired=false\nspec.volumeLifecycleModes=['Ephemeral']",
          "spec.attachedRequired: Invalid value: false: field is immutable\n"
          "spec.volumeLifecycleModes: Invalid value: ['Ephemeral']: field is immutable" },
    };
    static const struct row capacities[] = {
        { "capacity=null", "" },
        { "capacity='-1'", "capacity: Invalid value: '-1': must be greater than or equal to 0" },
        { "storageClassName='A'", "storageClassName: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "nodeTopology={'matchExpressions':[{'key':'z','operator':'In'}]}",
          "nodeTopology.matchExpressions[0].values: Required value: must be specified when "
          "`operator` is 'In' or 'NotIn'" },
    };
    static const struct update capacity_updates[] = {
        { "", "capacity='2Gi'", "" },
        { "", "storageClassName='t'", "storageClassName: Invalid value: 't': field is immutable" },
    };
    ROWS(csi_node, nodes);
    UPDATES(csi_node, node_updates);
    ROWS(csi_driver, drivers);
    UPDATES(csi_driver, driver_updates);
    ROWS(csi_capacity, capacities);
    UPDATES(csi_capacity, capacity_updates);
}

/* ---- limits ---- */

static const struct kind limit_range = {
    "", "v1", "LimitRange", validate_limit_range,
    "{'metadata':{'name':'l','namespace':'d'},'spec':{'limits':[{'type':'Container','max':{'cpu':"
    "'2'},'min':{'cpu':'1'}}]}}"
};
static const struct kind quota = {
    "", "v1", "ResourceQuota", validate_resource_quota,
    "{'metadata':{'name':'q','namespace':'d'},'spec':{'hard':{'pods':"
    "'1'}}}"
};

TEST(a_limit_range_names_a_bounded_number_of_resources)
{
    struct arena a = { 0 };
    struct json *obj = changed(&a, &limit_range, "");
    struct json *max = json_obj(&a, json_first(json_path(obj, "spec", "limits", NULL)), "max");
    for (int i = 0; i < 256; i++)
        json_set(&a, max, str_of(arena_printf(&a, "example.com/r%d", i)), json_new_cstr(&a, "1"));
    CHECK_STR(str_of(complaints(&a, &limit_range, obj, NULL)),
              "spec.limits[0].max: Too many: 257: must have at most 256 items");
    arena_fini(&a);
}

TEST(limits_are_checked)
{
    static const struct row limits[] = {
        { "spec.limits[0].min.cpu='3'",
          "spec.limits[0].min[cpu]: Invalid value: '3': min value 3 is greater than max value 2" },
        { "spec.limits[0].defaultRequest.cpu='3'\nspec.limits[0].default.cpu='2'",
          "spec.limits[0].defaultRequest[cpu]: Invalid value: '3': default request value 3 is "
          "greater than max value 2\n"
          "spec.limits[0].defaultRequest[cpu]: Invalid value: '3': default request value 3 is "
          "greater than default limit value 2" },
        { "spec.limits[0].maxLimitRequestRatio.cpu='3'",
          "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: '3': ratio 3 is greater than "
          "max/min = 2.000000" },
        { "spec.limits[0].type='x'",
          "spec.limits[0].type: Invalid value: 'x': must be a standard limit type or fully "
          "qualified" },
        { "spec.limits[0].type='Pod'\nspec.limits[0].default.cpu='1'",
          "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'" },
        { "spec.limits[1]={'type':'Container'}",
          "spec.limits[1].type: Duplicate value: 'Container'" },
        { "spec.limits[0]={'type':'PersistentVolumeClaim'}",
          "spec.limits[0].limits: Required value: either minimum or maximum storage value is "
          "required, but neither was provided" },
    };
    static const struct row quotas[] = {
        { "spec.hard={'x':'1'}",
          "spec.hard[x]: Invalid value: 'x': must be a standard resource type or fully qualified\n"
          "spec.hard[x]: Invalid value: 'x': must be a standard resource for quota" },
        { "spec.hard={'pods':'1500m'}",
          "spec.hard[pods]: Invalid value: '1500m': must be an integer" },
        { "spec.scopes=['x']", "spec.scopes: Invalid value: ['x']: unsupported scope" },
        { "spec.hard={'cpu':'1'}\nspec.scopes=['BestEffort','NotBestEffort']",
          "spec.scopes: Invalid value: ['BestEffort','NotBestEffort']: unsupported scope applied "
          "to "
          "resource\n"
          "spec.scopes: Invalid value: ['BestEffort','NotBestEffort']: conflicting scopes" },
        { "spec.scopeSelector.matchExpressions=[{'scopeName':'PriorityClass','operator':'In'}]",
          "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value "
          "when `operator` is 'In' or 'NotIn' for scope selector" },
    };
    static const struct update updates[] = {
        { "", "spec.scopes=['Terminating']",
          "spec.scopes: Invalid value: ['Terminating']: field is immutable" },
    };
    ROWS(limit_range, limits);
    ROWS(quota, quotas);
    UPDATES(quota, updates);
}

/* ---- networking ---- */

static const struct kind ingress = {
    "networking.k8s.io", "v1", "Ingress", validate_ingress,
    "{'metadata':{'name':'i','namespace':'d'},'spec':{'rules':[{'host':'a.b','http':{'paths':[{"
    "'path':'/','pathType':'Prefix','backend':{'service':{'name':'s','port':{'number':80}}}}]}}]}}"
};
static const struct kind network_policy = {
    "networking.k8s.io", "v1", "NetworkPolicy", validate_network_policy,
    "{'metadata':{'name':'i','namespace':'d'},'spec':{'podSelector':{},'policyTypes':['Ingress']}}"
};
static const struct kind ingress_class = {
    "networking.k8s.io", "v1", "IngressClass", validate_ingress_class,
    "{'metadata':{'name':'i'},'spec':{'controller':'a.b/c'}}"
};

TEST(ingresses_and_policies_are_checked)
{
#define PATH0 "spec.rules[0].http.paths[0]"
    static const struct row ingresses[] = {
        { "spec={}", "spec: Invalid value: null: either `defaultBackend` or `rules` must be "
                     "specified" },
        { PATH0 ".pathType=null", PATH0 ".pathType: Required value: pathType must be specified" },
        { PATH0 ".pathType='x'", PATH0 ".pathType: Unsupported value: 'x': supported values: "
                                       "'Exact', 'ImplementationSpecific', 'Prefix'" },
        { PATH0 ".path='a//b/..'",
          PATH0 ".path: Invalid value: 'a//b/..': must be an absolute path\n" PATH0
                ".path: Invalid value: 'a//b/..': must not contain '//'\n" PATH0
                ".path: Invalid value: 'a//b/..': cannot end with '/..'" },
        { PATH0 ".backend={}",
          PATH0 ".backend: Invalid value: '': resource or service backend is required" },
        { PATH0 ".backend.service.port={}",
          PATH0 ".backend: Required value: port name or number is required" },
        { PATH0 ".backend.service={'name':'','port':{'name':'a','number':1}}",
          PATH0 ".backend.service.name: Required value\n" PATH0
                ".backend: Invalid value: '': cannot set both port name & port number" },
        { "spec.rules[0].host='1.2.3.4'",
          "spec.rules[0].host: Invalid value: '1.2.3.4': must be a DNS name, not an IP address" },
        { "spec.rules[0].host='*.*.a'",
          "spec.rules[0].host: Invalid value: '*.*.a': a wildcard DNS-1123 subdomain must start "
          "with '*.', followed by a valid DNS subdomain, which must consist of lower case "
          "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. "
          "'*.example.com', regex used for validation is "
          "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
        { "spec.tls=[{'hosts':['A'],'secretName':'B'}]",
          "spec.tls[0].hosts[0]: Invalid value: 'A': " SUBDOMAIN_TEXT "\n"
          "spec.tls[0].secretName: Invalid value: 'B': " SUBDOMAIN_TEXT },
        { "metadata.annotations.[kubernetes.io/ingress.class]='x'\nspec.ingressClassName='y'",
          "annotations.kubernetes.io/ingress.class: Invalid value: 'x': must match "
          "`ingressClassName` when both are specified" },
    };
    static const struct row policies[] = {
        { "spec.ingress=[{'ports':[{'port':0},{'port':'x_y'},{'endPort':3},{'port':5,'endPort':4}],"
          "'from':[{},{'ipBlock':{'cidr':'10.0.0.0/8','except':['11.0.0.0/16']},'podSelector':{}}]}"
          "]",
          "spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, "
          "inclusive\n"
          "spec.ingress[0].ports[1].port: Invalid value: 'x_y': must contain only alpha-numeric "
          "characters (a-z, 0-9), and hyphens (-)\n"
          "spec.ingress[0].ports[2].endPort: Invalid value: 3: may not be specified when `port` is "
          "not specified\n"
          "spec.ingress[0].ports[3].endPort: Invalid value: 5: must be greater than or equal to "
          "`port`\n"
          "spec.ingress[0].from[0]: Required value: must specify a peer\n"
          "spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: '11.0.0.0/16': must be a "
          "strict "
          "subset of `cidr`\n"
          "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer" },
        { "spec.policyTypes=['x']",
          "spec.policyTypes[0]: Unsupported value: 'x': supported values: 'Ingress', 'Egress'" },
    };
    static const struct row classes[] = {
        { "spec.controller='x'", "spec.controller: Invalid value: 'x': must be a domain-prefixed "
                                 "path (such as 'acme.io/foo')" },
        { "spec.parameters={'kind':'','name':'n','scope':'Namespace'}",
          "spec.parameters.kind: Required value\n"
          "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'" },
    };
    ROWS(ingress, ingresses);
    ROWS(network_policy, policies);
    ROWS(ingress_class, classes);
}

/* ---- autoscaling and policy ---- */

static const struct kind autoscaler = {
    "autoscaling", "v2", "HorizontalPodAutoscaler", validate_autoscaler,
    "{'metadata':{'name':'h','namespace':'d'},'spec':{'minReplicas':1,'maxReplicas':5,"
    "'scaleTargetRef':{'kind':'Deployment','name':'x','apiVersion':'apps/"
    "v1'},'metrics':[{'type':'Resource','resource':{"
    "'name':'cpu','target':{'type':'Utilization','averageUtilization':80}}}]}}"
};
static const struct kind budget = {
    "policy", "v1", "PodDisruptionBudget", validate_budget,
    "{'metadata':{'name':'b','namespace':'d'},'spec':{'minAvailable':1}}"
};

TEST(autoscalers_and_budgets_are_checked)
{
    static const struct row autoscalers[] = {
        { "spec.minReplicas=0",
          "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1\n"
          "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
          "scaling to zero replicas" },
        { "spec.maxReplicas=0",
          "spec.maxReplicas: Required value: must be set and greater than 0\n"
          "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`" },
        { "spec.scaleTargetRef={}",
          "spec.scaleTargetRef.kind: Required value\nspec.scaleTargetRef.name: Required value\n"
          "spec.scaleTargetRef.apiVersion: Invalid value: '': apiVersion must specify API group" },
        { "spec.scaleTargetRef.apiVersion='v1'", "spec.scaleTargetRef.apiVersion: Invalid value: "
                                                 "'v1': apiVersion must specify API group" },
        { "spec.scaleTargetRef.apiVersion='v1'\nspec.scaleTargetRef.kind='ReplicationController'",
          "" },
        { "spec.scaleTargetRef.apiVersion='a/b/c'",
          "spec.scaleTargetRef.apiVersion: Invalid value: 'a/b/c': unexpected GroupVersion string: "
          "a/b/c" },
        { "spec.metrics[0].type='Pods'",
          "spec.metrics[0].pods: Required value: must populate information for the given metric "
          "source" },
        { "spec.metrics[0].resource.target={'type':'x'}",
          "spec.metrics[0].resource.target.type: Invalid value: 'x': must be either Utilization, "
          "Value, or AverageValue\n"
          "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a "
          "target raw value or a target utilization" },
        { "spec.behavior.scaleUp={'stabilizationWindowSeconds':3601,'policies':[{'type':'x',"
          "'value':0,'periodSeconds':1801}]}",
          "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less "
          "than "
          "or equal to 3600\n"
          "spec.behavior.scaleUp.policies[0].type: Unsupported value: 'x': supported values: "
          "'Percent', 'Pods'\n"
          "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero\n"
          "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than "
          "or equal to 1800" },
    };
    static const struct row budgets[] = {
        { "spec.maxUnavailable='101%'",
          "spec: Invalid value: {'MinAvailable':1,'Selector':null,'MaxUnavailable':'101%',"
          "'UnhealthyPodEvictionPolicy':null}: minAvailable and maxUnavailable cannot be both set\n"
          "spec.maxUnavailable: Invalid value: '101%': must not be greater than 100%" },
        { "spec.minAvailable=-1",
          "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0" },
        { "spec.unhealthyPodEvictionPolicy='x'",
          "spec.unhealthyPodEvictionPolicy: Unsupported value: 'x': supported values: "
          "'AlwaysAllow', 'IfHealthyBudget'" },
    };
    ROWS(autoscaler, autoscalers);
    ROWS(budget, budgets);
}

/* ---- webhooks ---- */

#define HOOK                                                                                       \
    "{'name':'a.b.c','clientConfig':{'service':{'namespace':'n','name':'s','path':'/"              \
    "p','port':443}},"                                                                             \
    "'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']" \
    ",'scope':'*'}],"                                                                              \
    "'failurePolicy':'Fail','matchPolicy':'Equivalent','namespaceSelector':{},'objectSelector':{}" \
    ","                                                                                            \
    "'sideEffects':'None','timeoutSeconds':10,'admissionReviewVersions':['v1']}"

static const struct kind webhooks = { "admissionregistration.k8s.io", "v1",
                                      "ValidatingWebhookConfiguration", validate_webhooks,
                                      "{'metadata':{'name':'w'},'webhooks':[" HOOK "]}" };

TEST(webhooks_are_checked)
{
    static const struct row rows[] = {
        { "webhooks[0].name='a.b'", "webhooks[0].name: Invalid value: 'a.b': should be a domain "
                                    "with at least three segments separated by dots" },
        { "webhooks[0].name='A'", "webhooks[0].name: Invalid value: 'A': " SUBDOMAIN_TEXT },
        { "webhooks[1]=" HOOK, "webhooks[1].name: Duplicate value: 'a.b.c'" },
        { "webhooks[0].clientConfig={}",
          "webhooks[0].clientConfig: Required value: exactly one of url or service is required" },
        { "webhooks[0].clientConfig={'url':'http://u:p@/x?a=b#c'}",
          "webhooks[0].clientConfig.url: Invalid value: 'http': 'https' is the only allowed URL "
          "scheme; desired format: https://host[/path]\n"
          "webhooks[0].clientConfig.url: Invalid value: '': host must be specified; desired "
          "format: https://host[/path]\n"
          "webhooks[0].clientConfig.url: Invalid value: 'u:p': user information is not permitted "
          "in the URL\n"
          "webhooks[0].clientConfig.url: Invalid value: 'c': fragments are not permitted in the "
          "URL\n"
          "webhooks[0].clientConfig.url: Invalid value: 'a=b': query parameters are not permitted "
          "in the URL" },
        { "webhooks[0].clientConfig.service={'namespace':'','name':'s','port':0,'path':'a//B/'}",
          "webhooks[0].clientConfig.service.name: Required value\n"
          "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be "
          "between 1 and 65535, inclusive\n"
          "webhooks[0].clientConfig.service.path: Invalid value: 'a//B/': must start with a '/'\n"
          "webhooks[0].clientConfig.service.path: Invalid value: 'a//B/': segment[0] may not be "
          "empty\n"
          "webhooks[0].clientConfig.service.path: Invalid value: 'a//B/': segment[1] may not be "
          "empty\n"
          "webhooks[0].clientConfig.service.path: Invalid value: 'a//B/': "
          "segment[2]: " SUBDOMAIN_TEXT },
        { "webhooks[0].sideEffects=null",
          "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun" },
        { "webhooks[0].sideEffects='Some'", "webhooks[0].sideEffects: Unsupported value: 'Some': "
                                            "supported values: 'None', 'NoneOnDryRun'" },
        { "webhooks[0].timeoutSeconds=31", "webhooks[0].timeoutSeconds: Invalid value: 31: the "
                                           "timeout value must be between 1 and 30 seconds" },
        { "webhooks[0].failurePolicy='x'\nwebhooks[0].matchPolicy='x'",
          "webhooks[0].failurePolicy: Unsupported value: 'x': supported values: 'Fail', 'Ignore'\n"
          "webhooks[0].matchPolicy: Unsupported value: 'x': supported values: 'Equivalent', "
          "'Exact'" },
        { "webhooks[0].admissionReviewVersions=[]",
          "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1" },
        { "webhooks[0].admissionReviewVersions=['v2','v2']",
          "webhooks[0].admissionReviewVersions[1]: Invalid value: 'v2': duplicate version\n"
          "webhooks[0].admissionReviewVersions: Invalid value: ['v2','v2']: must include at least "
          "one of v1, v1beta1" },
        { "webhooks[0].rules=[{}]", "webhooks[0].rules[0].operations: Required "
                                    "value\nwebhooks[0].rules[0].apiGroups: Required value\n"
                                    "webhooks[0].rules[0].apiVersions: Required "
                                    "value\nwebhooks[0].rules[0].resources: Required value" },
        { "webhooks[0].rules[0]={'operations':['*','X'],'apiGroups':['*',''],'apiVersions':['*','']"
          ",'resources':['a/*','a/b','*/c','d/c','','*','e'],'scope':'x'}",
          "webhooks[0].rules[0].operations: Invalid value: ['*','X']: if '*' is present, must not "
          "specify other operations\n"
          "webhooks[0].rules[0].operations[1]: Unsupported value: 'X': supported values: '*', "
          "'CONNECT', 'CREATE', 'DELETE', 'UPDATE'\n"
          "webhooks[0].rules[0].apiGroups: Invalid value: ['*','']: if '*' is present, must not "
          "specify other API groups\n"
          "webhooks[0].rules[0].apiVersions: Invalid value: ['*','']: if '*' is present, must not "
          "specify other API versions\n"
          "webhooks[0].rules[0].apiVersions[1]: Required value\n"
          "webhooks[0].rules[0].resources[1]: Invalid value: 'a/b': if 'a/*' is present, must not "
          "specify a/b\n"
          "webhooks[0].rules[0].resources[3]: Invalid value: 'd/c': if '*/c' is present, must not "
          "specify d/c\n"
          "webhooks[0].rules[0].resources[4]: Required value\n"
          "webhooks[0].rules[0].resources: Invalid value: ['a/*','a/b','*/c','d/c','','*','e']: if "
          "'*' is present, must not specify other resources without subresources\n"
          "webhooks[0].rules[0].scope: Unsupported value: 'x': supported values: '*', 'Cluster', "
          "'Namespaced'" },
        { "webhooks[0].rules[0].resources=['*/*','a']",
          "webhooks[0].rules[0].resources: Invalid value: ['*/*','a']: if '*/*' is present, must "
          "not specify other resources" },
        { "webhooks[0].matchConditions=[{'name':'a','expression':''},{'name':'a','expression':'"
          "true'},{'name':'','expression':'true'}]",
          "webhooks[0].matchConditions[0].expression: Required "
          "value\nwebhooks[0].matchConditions[1].name: Duplicate value: 'a'\n"
          "webhooks[0].matchConditions[2].name: Required value" },
    };
    ROWS(webhooks, rows);
}

/* ---- resizes ---- */

static const struct kind resize = { "", "v1", "Pod", validate_pod_resize,
                                    "{'metadata':{'name':'p','namespace':'d'},'spec':" POD_SPEC
                                    ",'status':{'qosClass':'Burstable'}}" };

TEST(resizes_of_pods_are_checked)
{
#define REQUESTS "spec.containers[0].resources.requests="
    static const struct update rows[] = {
        { REQUESTS "{'cpu':'1','memory':'1Gi'}", REQUESTS "{'cpu':'2','memory':'1Gi'}", "" },
        { REQUESTS "{'cpu':'1','memory':'1Gi'}", REQUESTS "{'cpu':'1'}",
          "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed" },
        { REQUESTS "{'cpu':'1'}", REQUESTS "{'cpu':'1','ephemeral-storage':'1'}",
          "spec: Forbidden: only cpu and memory resources are mutable" },
        { REQUESTS "{'cpu':'1'}", "",
          "spec: Invalid value: 'Burstable': Pod QOS Class may not change as a result of resizing\n"
          "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed" },
        { REQUESTS "{'cpu':'1'}", REQUESTS "{'cpu':'1'}\nspec.containers[0].name='d'",
          "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on "
          "resize" },
        { REQUESTS "{'cpu':'1'}\nmetadata.annotations.[kubernetes.io/config.mirror]='x'",
          REQUESTS "{'cpu':'1'}", "[]: Forbidden: static pods cannot be resized" },
        { REQUESTS "{'cpu':'1'}\nspec.resources.requests={'cpu':'3'}", REQUESTS "{'cpu':'1'}",
          "spec.resources: Forbidden: pod-level resources cannot be removed" },
    };
    UPDATES(resize, rows);
}

TEST_MAIN
