// SPDX-License-Identifier: Apache-2.0

package operatortest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dormouse.dev/sdk/go/internal/abi"
)

// object is the JSON of one.
type object map[string]any

func (o object) meta() map[string]any {
	m, ok := o["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		o["metadata"] = m
	}
	return m
}

func (o object) text(name string) string     { s, _ := o[name].(string); return s }
func (o object) metaText(name string) string { s, _ := o.meta()[name].(string); return s }
func (o object) namespace() string           { return o.metaText("namespace") }
func (o object) name() string                { return o.metaText("name") }
func (o object) uid() string                 { return o.metaText("uid") }
func (o object) version() string             { return o.metaText("resourceVersion") }
func (o object) labels() map[string]any      { m, _ := o.meta()["labels"].(map[string]any); return m }
func (o object) finalizers() []any           { l, _ := o.meta()["finalizers"].([]any); return l }
func (o object) isDeleting() bool            { return o.meta()["deletionTimestamp"] != nil }

// owner is one owner reference.
type owner struct {
	apiVersion, kind, name, uid string
	controls                    bool
}

func (o object) owners() (r []owner) {
	list, _ := o.meta()["ownerReferences"].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			ref := object(m)
			controls, _ := m["controller"].(bool)
			r = append(r, owner{ref.text("apiVersion"), ref.text("kind"), ref.text("name"), ref.text("uid"), controls})
		}
	}
	return r
}

func deepCopy(v any) any {
	switch x := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, e := range x {
			m[k] = deepCopy(e)
		}
		return m
	case []any:
		l := make([]any, len(x))
		for i, e := range x {
			l[i] = deepCopy(e)
		}
		return l
	}
	return v
}

func (o object) copy() object { return deepCopy(map[string]any(o)).(map[string]any) }

func parseObject(b []byte) (o object, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&o)
	return o, err
}

// id of an object: "apiVersion kind" of the kind's preferred version, and its key.
type id struct{ kind, namespace, name string }

type kindInfo struct {
	apiVersion, kind, plural string
	clusterScoped            bool
}

// store is the API's objects.
type store struct {
	kinds    []kindInfo
	objects  map[id]object
	revision int
	uids     int
	now      func() time.Time
	changed  func(before, after object) // one of them may be nil
}

func (s *store) init() {
	s.objects = map[id]object{}
	for _, line := range strings.Fields(builtin) {
		p := strings.Split(line, ",")
		s.kinds = append(s.kinds, kindInfo{p[0], p[1], p[2], len(p) > 3})
	}
}

// The built-in kinds that operators meet most; AddKind adds others.
const builtin = `
v1,ConfigMap,configmaps v1,Secret,secrets v1,Service,services v1,Pod,pods v1,ServiceAccount,serviceaccounts
v1,PersistentVolumeClaim,persistentvolumeclaims v1,ResourceQuota,resourcequotas v1,LimitRange,limitranges
v1,Endpoints,endpoints v1,Namespace,namespaces,c v1,Node,nodes,c v1,PersistentVolume,persistentvolumes,c
apps/v1,Deployment,deployments apps/v1,StatefulSet,statefulsets apps/v1,DaemonSet,daemonsets
apps/v1,ReplicaSet,replicasets batch/v1,Job,jobs batch/v1,CronJob,cronjobs
networking.k8s.io/v1,Ingress,ingresses networking.k8s.io/v1,NetworkPolicy,networkpolicies
discovery.k8s.io/v1,EndpointSlice,endpointslices coordination.k8s.io/v1,Lease,leases
policy/v1,PodDisruptionBudget,poddisruptionbudgets rbac.authorization.k8s.io/v1,Role,roles
rbac.authorization.k8s.io/v1,RoleBinding,rolebindings rbac.authorization.k8s.io/v1,ClusterRole,clusterroles,c
rbac.authorization.k8s.io/v1,ClusterRoleBinding,clusterrolebindings,c
apiextensions.k8s.io/v1,CustomResourceDefinition,customresourcedefinitions,c`

// AddKind lets the API serve a kind.
func (s *store) AddKind(apiVersion, kind, plural string, clusterScoped bool) {
	s.kinds = append(s.kinds, kindInfo{apiVersion, kind, plural, clusterScoped})
}

func (s *store) kind(apiVersion, kind string) (string, bool) {
	for _, k := range s.kinds {
		if k.apiVersion == apiVersion && k.kind == kind {
			return apiVersion + " " + kind, true
		}
	}
	return "", false
}

func (s *store) revisionText() string { return strconv.Itoa(s.revision) }

// list in the order of namespace and name.
func (s *store) list(kind, namespace string) []object {
	var r []object
	for k, o := range s.objects {
		if k.kind == kind && (namespace == "" || k.namespace == namespace) {
			r = append(r, o)
		}
	}
	slices.SortFunc(r, func(a, b object) int {
		if c := strings.Compare(a.namespace(), b.namespace()); c != 0 {
			return c
		}
		return strings.Compare(a.name(), b.name())
	})
	return r
}

// failure is a refusal by the API.
type failure struct {
	status          int
	reason, message string
}

func fail(status int, reason, format string, args ...any) *failure {
	return &failure{status, reason, fmt.Sprintf(format, args...)}
}

// put stores o in place of before (nil: create).
func (s *store) put(k id, before, o object) {
	s.revision++
	m := o.meta()
	m["resourceVersion"] = s.revisionText()
	if before == nil {
		s.uids++
		m["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids)
		m["creationTimestamp"] = s.now().Format(time.RFC3339)
		m["generation"] = json.Number("1")
	} else {
		for _, name := range []string{"uid", "creationTimestamp", "generation", "deletionTimestamp"} {
			if v, ok := before.meta()[name]; ok {
				m[name] = v
			} else {
				delete(m, name)
			}
		}
		if !reflect.DeepEqual(withoutStatus(before), withoutStatus(o)) {
			raiseGeneration(o)
		}
	}
	s.objects[k] = o
	if o.isDeleting() && len(o.finalizers()) == 0 {
		s.remove(k)
		return
	}
	s.changed(before, o)
}

func raiseGeneration(o object) {
	n, _ := o.meta()["generation"].(json.Number)
	i, _ := n.Int64()
	o.meta()["generation"] = json.Number(strconv.FormatInt(i+1, 10))
}

func withoutStatus(o object) map[string]any {
	c := maps.Clone(map[string]any(o))
	delete(c, "status")
	delete(c, "metadata")
	return c
}

// delete as the API does: with finalizers the object stays and says that it is going.
func (s *store) delete(k id) {
	o := s.objects[k]
	if len(o.finalizers()) == 0 {
		s.remove(k)
		return
	}
	if o.isDeleting() {
		return
	}
	after := o.copy()
	after.meta()["deletionTimestamp"] = s.now().Format(time.RFC3339)
	raiseGeneration(after)
	s.revision++
	after.meta()["resourceVersion"] = s.revisionText()
	s.objects[k] = after
	s.changed(o, after)
}

// remove it, and what belongs to it.
func (s *store) remove(k id) {
	o := s.objects[k]
	delete(s.objects, k)
	s.revision++
	s.changed(o, nil)
	for _, key := range slices.Collect(maps.Keys(s.objects)) {
		d := s.objects[key]
		if d != nil && len(d.owners()) == 1 && d.owners()[0].uid == o.uid() {
			s.delete(key)
		}
	}
}

// mergePatch is RFC 7396.
func mergePatch(into, patch map[string]any) {
	for k, v := range patch {
		p, isMap := v.(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case isMap:
			m, ok := into[k].(map[string]any)
			if !ok {
				m = map[string]any{}
				into[k] = m
			}
			mergePatch(m, p)
		default:
			into[k] = deepCopy(v)
		}
	}
}

func putDecoded(d *abi.ConfigData, key, text string) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err == nil && utf8.Valid(b) {
		d.Data[key] = string(b)
		return
	}
	if d.BinaryData == nil {
		d.BinaryData = map[string][]byte{}
	}
	d.BinaryData[key] = b
}
