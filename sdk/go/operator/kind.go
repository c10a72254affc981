// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// NamespacedName is an object's key; Namespace is "" for cluster-scoped ones.
type NamespacedName struct{ Namespace, Name string }

func (n NamespacedName) String() string { return n.Namespace + "/" + n.Name }

// Object is anything with Kubernetes metadata: types that embed meta.ObjectMeta, types of k8s.io/api and others
// made with apimachinery, Unstructured. Except for Unstructured it is a pointer to a struct that encoding/json
// turns into the object's JSON.
type Object interface {
	GetName() string
	SetName(string)
	GetNamespace() string
	SetNamespace(string)
	GetResourceVersion() string
	GetGeneration() int64
	GetLabels() map[string]string
	SetLabels(map[string]string)
	GetAnnotations() map[string]string
	SetAnnotations(map[string]string)
	GetFinalizers() []string
	SetFinalizers([]string)
}

// KeyOf gives an object's key.
func KeyOf(o Object) NamespacedName { return NamespacedName{o.GetNamespace(), o.GetName()} }

// Kind says what a Go type is to the API.
type Kind struct {
	APIVersion string
	Kind       string
	// Resource is the plural name in paths, and ClusterScoped says whether objects have no namespace. Without
	// Resource both come from discovery, one request at the first write.
	Resource      string
	ClusterScoped bool
}

func (k Kind) String() string { return k.APIVersion + " " + k.Kind }

// base is the path below which the resources of the kind's version are.
func (k Kind) base() string {
	if strings.Contains(k.APIVersion, "/") {
		return "/apis/" + k.APIVersion
	}
	return "/api/" + k.APIVersion
}

var kinds struct {
	sync.Mutex
	of        map[reflect.Type]Kind
	resolvers []func(any) (Kind, bool)
}

// RegisterKind says what objects of this Go type are. Types whose values always carry their apiVersion and kind
// need no registration.
func RegisterKind(object Object, kind Kind) {
	kinds.Lock()
	defer kinds.Unlock()
	if kinds.of == nil {
		kinds.of = map[reflect.Type]Kind{}
	}
	kinds.of[reflect.TypeOf(object)] = kind
}

// RegisterKinds adds a function that knows the kinds of many types, as a runtime.Scheme does.
func RegisterKinds(resolve func(object any) (Kind, bool)) {
	kinds.Lock()
	defer kinds.Unlock()
	kinds.resolvers = append(kinds.resolvers, resolve)
}

// KindOf finds out what an object is: what it says itself, or what was registered for its type.
func KindOf(object any) (Kind, error) {
	kinds.Lock()
	k, ok := kinds.of[reflect.TypeOf(object)]
	resolvers := kinds.resolvers
	kinds.Unlock()
	if ok {
		return k, nil
	}
	if v, kind := typeMetaOf(object); v != "" && kind != "" {
		return Kind{APIVersion: v, Kind: kind}, nil
	}
	for _, resolve := range resolvers {
		if k, ok := resolve(object); ok {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("the kind of %T is not known: RegisterKind says it", object)
}

func typeMetaOf(object any) (apiVersion, kind string) {
	if u := unstructured(object); u != nil {
		return u.Text("apiVersion"), u.Text("kind")
	}
	if m := fieldOf(object, "TypeMeta"); m.IsValid() {
		return stringField(m, "APIVersion"), stringField(m, "Kind")
	}
	return "", ""
}

// fieldOf gives a field of the struct that object points to, also an embedded one; invalid when there is none.
func fieldOf(object any, name string) reflect.Value {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.Elem().FieldByName(name)
}

func stringField(v reflect.Value, name string) string {
	if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// listKind gives the kind of a list's items. The list is a pointer to a struct with a slice Items.
func listKind(list any) (Kind, reflect.Value, error) {
	items := fieldOf(list, "Items")
	if !items.IsValid() || items.Kind() != reflect.Slice {
		return Kind{}, items, fmt.Errorf("%T is not a list: it has no Items", list)
	}
	if v, kind := typeMetaOf(list); v != "" && kind != "" {
		return Kind{APIVersion: v, Kind: strings.TrimSuffix(kind, "List")}, items, nil
	}
	item := items.Type().Elem()
	if item.Kind() == reflect.Pointer {
		item = item.Elem()
	}
	k, err := KindOf(reflect.New(item).Interface())
	return k, items, err
}
