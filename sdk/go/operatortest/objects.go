// SPDX-License-Identifier: Apache-2.0

package operatortest

import (
	"encoding/json"

	"dormouse.dev/sdk/go/operator"
)

// What a test does to the API, as somebody else than the operator would.

func (e *Env) object(o operator.Object) (object, id) {
	e.t.Helper()
	kind, err := operator.KindOf(o)
	if err != nil {
		e.t.Fatal(err)
	}
	b, err := json.Marshal(o)
	if err != nil {
		e.t.Fatal(err)
	}
	v, err := parseObject(b)
	if err != nil {
		e.t.Fatal(err)
	}
	v["apiVersion"], v["kind"] = kind.APIVersion, kind.Kind
	k, ok := e.kind(kind.APIVersion, kind.Kind)
	if !ok {
		e.t.Fatalf("kind %v is not served: AddKind adds it", kind)
	}
	return v, id{k, o.GetNamespace(), o.GetName()}
}

func (e *Env) into(v object, o operator.Object) {
	e.t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, o)
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// Create puts an object into the API; *o gets what is stored.
func (e *Env) Create(o operator.Object) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	v, k := e.object(o)
	if e.objects[k] != nil {
		e.t.Fatalf("%v is there already", k)
	}
	if v.text("kind") == "Secret" {
		encodeStringData(v)
	}
	e.put(k, nil, v)
	e.into(v, o)
}

// Update replaces an object, its status included.
func (e *Env) Update(o operator.Object) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	v, k := e.object(o)
	before := e.objects[k]
	if before == nil {
		e.t.Fatalf("%v is not there", k)
	}
	e.put(k, before, v)
}

// Delete deletes an object; with finalizers it is only marked.
func (e *Env) Delete(o operator.Object) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	_, k := e.object(o)
	if e.objects[k] == nil {
		e.t.Fatalf("%v is not there", k)
	}
	e.store.delete(k)
}

// Get reads an object by its key in *o, and says whether it is there.
func (e *Env) Get(o operator.Object) bool {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	_, k := e.object(o)
	v := e.objects[k]
	if v == nil {
		return false
	}
	e.into(v.copy(), o)
	return true
}

// SetMetadata lets change edit the metadata of an object as JSON, its finalizers for instance.
func (e *Env) SetMetadata(o operator.Object, change func(metadata map[string]any)) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	_, k := e.object(o)
	before := e.objects[k]
	if before == nil {
		e.t.Fatalf("%v is not there", k)
	}
	after := before.copy()
	change(after.meta())
	e.put(k, before, after)
}

// Count says how many objects of a kind there are, in one namespace or ("") in all.
func (e *Env) Count(o operator.Object, namespace string) int {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	_, k := e.object(o)
	return len(e.list(k.kind, namespace))
}
