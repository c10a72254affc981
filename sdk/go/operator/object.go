// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"dormouse.dev/sdk/go/meta"
)

// List is a list of one kind: List[Certificate]{}.
type List[T any] struct {
	Items           []T    `json:"items"`
	ResourceVersion string `json:"-"`
}

// Metadata is an object of which only the metadata is of interest; its kind stands in TypeMeta. Read as such, it
// costs no more than that.
type Metadata struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
}

// Unstructured is an object without a Go type of its own.
type Unstructured struct {
	Object map[string]any
}

// NewUnstructured makes an empty object of a kind.
func NewUnstructured(apiVersion, kind string) *Unstructured {
	return &Unstructured{map[string]any{"apiVersion": apiVersion, "kind": kind}}
}

func (u *Unstructured) content() map[string]any {
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	return u.Object
}

func (u *Unstructured) MarshalJSON() ([]byte, error) { return json.Marshal(u.content()) }

func (u *Unstructured) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // large integers stay what they are
	u.Object = nil
	return d.Decode(&u.Object)
}

// unstructured gives the view of an object that has its JSON as maps: one of ours or apimachinery's (lists included).
// nil if it is another.
func unstructured(object any) *Unstructured {
	switch o := object.(type) {
	case *Unstructured:
		o.content()
		return o
	case interface{ UnstructuredContent() map[string]any }:
		return &Unstructured{o.UnstructuredContent()}
	}
	return nil
}

// isMetadata says whether a type of objects has nothing but metadata: Metadata, or apimachinery's.
func isMetadata(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.NumField() != 2 {
		return false
	}
	return t.Field(0).Name == "TypeMeta" && t.Field(1).Name == "ObjectMeta"
}

// Field gives the value at a path, or nil.
func (u *Unstructured) Field(path ...string) any {
	var v any = u.content()
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// Text gives the text at a path, or "".
func (u *Unstructured) Text(path ...string) string {
	s, _ := u.Field(path...).(string)
	return s
}

// SetField sets the value at a path, making the objects on the way.
func (u *Unstructured) SetField(value any, path ...string) {
	m := u.content()
	for _, name := range path[:len(path)-1] {
		next, ok := m[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
}

func (u *Unstructured) removeField(path ...string) {
	if m, ok := u.Field(path[:len(path)-1]...).(map[string]any); ok {
		delete(m, path[len(path)-1])
	}
}

func (u *Unstructured) texts(path ...string) map[string]string {
	m, ok := u.Field(path...).(map[string]any)
	if !ok {
		return nil
	}
	r := make(map[string]string, len(m))
	for k, v := range m {
		r[k], _ = v.(string)
	}
	return r
}

func (u *Unstructured) setTexts(v map[string]string, path ...string) {
	if v == nil {
		u.removeField(path...)
		return
	}
	m := make(map[string]any, len(v))
	for k, s := range v {
		m[k] = s
	}
	u.SetField(m, path...)
}

func (u *Unstructured) GetName() string                   { return u.Text("metadata", "name") }
func (u *Unstructured) SetName(s string)                  { u.SetField(s, "metadata", "name") }
func (u *Unstructured) GetNamespace() string              { return u.Text("metadata", "namespace") }
func (u *Unstructured) SetNamespace(s string)             { u.SetField(s, "metadata", "namespace") }
func (u *Unstructured) GetResourceVersion() string        { return u.Text("metadata", "resourceVersion") }
func (u *Unstructured) GetLabels() map[string]string      { return u.texts("metadata", "labels") }
func (u *Unstructured) GetAnnotations() map[string]string { return u.texts("metadata", "annotations") }

func (u *Unstructured) SetLabels(v map[string]string)      { u.setTexts(v, "metadata", "labels") }
func (u *Unstructured) SetAnnotations(v map[string]string) { u.setTexts(v, "metadata", "annotations") }

func (u *Unstructured) GetGeneration() int64 {
	switch n := u.Field("metadata", "generation").(type) {
	case json.Number:
		i, _ := n.Int64()
		return i
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

func (u *Unstructured) GetFinalizers() []string {
	list, _ := u.Field("metadata", "finalizers").([]any)
	var r []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			r = append(r, s)
		}
	}
	return r
}

func (u *Unstructured) SetFinalizers(v []string) {
	list := make([]any, len(v))
	for i, s := range v {
		list[i] = s
	}
	u.SetField(list, "metadata", "finalizers")
}

// encode gives an object's JSON, with its apiVersion and kind also when its Go value leaves them out.
func encode(object Object, kind Kind) ([]byte, error) {
	b, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if v, k := typeMetaOf(object); v != "" && k != "" {
		return b, nil
	}
	head, err := json.Marshal(map[string]string{"apiVersion": kind.APIVersion, "kind": kind.Kind})
	if err != nil || len(b) < 2 || b[0] != '{' {
		return nil, errors.Join(err, fmt.Errorf("%T is not a JSON object", object))
	}
	if b[1] == '}' {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), b[1:]...), nil
}

// decode replaces what object points to; nothing of its old value stays behind.
func decode(b []byte, object any) error {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("%T is not a pointer to an object", object)
	}
	fresh := reflect.New(v.Type().Elem())
	if err := json.Unmarshal(b, fresh.Interface()); err != nil {
		return fmt.Errorf("%T: %w", object, err)
	}
	v.Elem().Set(fresh.Elem())
	return nil
}

// UIDOf gives an object's uid.
func UIDOf(object Object) string {
	if u := unstructured(object); u != nil {
		return u.Text("metadata", "uid")
	}
	if m := fieldOf(object, "ObjectMeta"); m.IsValid() {
		return stringField(m, "UID")
	}
	return ""
}

// IsBeingDeleted says whether deletionTimestamp is set.
func IsBeingDeleted(object Object) bool {
	if u := unstructured(object); u != nil {
		return u.Field("metadata", "deletionTimestamp") != nil
	}
	m := fieldOf(object, "ObjectMeta")
	if !m.IsValid() {
		return false
	}
	t := m.FieldByName("DeletionTimestamp")
	return t.IsValid() && !t.IsZero()
}

// HasFinalizer says whether the object has this finalizer.
func HasFinalizer(object Object, finalizer string) bool {
	return slices.Contains(object.GetFinalizers(), finalizer)
}

// AddFinalizer adds it, and says whether it was missing.
func AddFinalizer(object Object, finalizer string) bool {
	if HasFinalizer(object, finalizer) {
		return false
	}
	object.SetFinalizers(append(slices.Clone(object.GetFinalizers()), finalizer))
	return true
}

// RemoveFinalizer removes it, and says whether it was there.
func RemoveFinalizer(object Object, finalizer string) bool {
	if !HasFinalizer(object, finalizer) {
		return false
	}
	object.SetFinalizers(slices.DeleteFunc(slices.Clone(object.GetFinalizers()), func(f string) bool { return f == finalizer }))
	return true
}

// OwnersOf gives an object's owner references.
func OwnersOf(object Object) []meta.OwnerReference {
	var owners []meta.OwnerReference
	var list any
	if u := unstructured(object); u != nil {
		list = u.Field("metadata", "ownerReferences")
	} else if m := fieldOf(object, "ObjectMeta"); m.IsValid() {
		if f := m.FieldByName("OwnerReferences"); f.IsValid() {
			list = f.Interface()
		}
	}
	if own, ok := list.([]meta.OwnerReference); ok {
		return own
	}
	if b, err := json.Marshal(list); err == nil {
		_ = json.Unmarshal(b, &owners) // only a foreign type that is no list of references fails, and has none
	}
	return owners
}

// SetControllerReference makes owner the controller of object: an event of object is work for the owner's key
// where it is declared with Owns, and object is collected when the owner has gone. It fails if another
// controller owns it, or if owner is in another namespace.
func SetControllerReference(owner, object Object) error {
	return setOwner(owner, object, true)
}

// SetOwnerReference makes owner one of object's owners, without control of it.
func SetOwnerReference(owner, object Object) error {
	return setOwner(owner, object, false)
}

func setOwner(owner, object Object, controls bool) error {
	kind, err := KindOf(owner)
	if err != nil {
		return err
	}
	ref := meta.OwnerReference{APIVersion: kind.APIVersion, Kind: kind.Kind, Name: owner.GetName(), UID: UIDOf(owner)}
	if ref.Name == "" || ref.UID == "" {
		return fmt.Errorf("%v %v cannot own: it has no name or uid", kind, KeyOf(owner))
	}
	if ns := owner.GetNamespace(); ns != "" && ns != object.GetNamespace() {
		return fmt.Errorf("%v %v cannot own %v: it is in another namespace", kind, KeyOf(owner), KeyOf(object))
	}
	if controls {
		yes := true
		ref.Controller, ref.BlockOwnerDeletion = &yes, &yes
	}
	owners := slices.Clone(OwnersOf(object))
	at := -1
	for i, o := range owners {
		if o.UID == ref.UID {
			at = i
		} else if controls && o.Controller != nil && *o.Controller {
			return fmt.Errorf("%v is controlled by %s %s already", KeyOf(object), o.Kind, o.Name)
		}
	}
	if at < 0 {
		owners = append(owners, ref)
	} else {
		owners[at] = ref
	}
	return setOwners(object, owners)
}

func setOwners(object Object, owners []meta.OwnerReference) error {
	b, err := json.Marshal(owners)
	if err != nil {
		return err
	}
	if u := unstructured(object); u != nil {
		var list []any
		err = json.Unmarshal(b, &list)
		u.SetField(list, "metadata", "ownerReferences")
		return err
	}
	m := fieldOf(object, "ObjectMeta")
	if !m.IsValid() || !m.FieldByName("OwnerReferences").IsValid() {
		return fmt.Errorf("%T has no owner references", object)
	}
	field := m.FieldByName("OwnerReferences")
	fresh := reflect.New(field.Type())
	if err := json.Unmarshal(b, fresh.Interface()); err != nil {
		return err
	}
	field.Set(fresh.Elem())
	return nil
}
