// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Patch is a change to an object.
type Patch struct {
	mediaType string
	raw       []byte
	base      []byte // of MergeFrom
	lock      bool
}

// MergeFrom makes the patch from the object as it was, a copy taken (with CopyOf) or JSON made before it was
// changed.
func MergeFrom(before Object) Patch {
	b, err := json.Marshal(before)
	if err != nil {
		b = nil // data reports it
	}
	return Patch{mediaType: "application/merge-patch+json", base: b}
}

// MergeFromWithLock is MergeFrom that fails with Conflict when the object has changed since it was read.
func MergeFromWithLock(before Object) Patch {
	p := MergeFrom(before)
	p.lock = true
	return p
}

// MergePatch is a JSON merge patch.
func MergePatch(b []byte) Patch { return Patch{mediaType: "application/merge-patch+json", raw: b} }

// JSONPatch is a JSON patch (RFC 6902).
func JSONPatch(b []byte) Patch { return Patch{mediaType: "application/json-patch+json", raw: b} }

// StrategicMergePatch knows the lists of built-in kinds.
func StrategicMergePatch(b []byte) Patch {
	return Patch{mediaType: "application/strategic-merge-patch+json", raw: b}
}

// CopyOf makes a deep copy of an object.
func CopyOf[T any](object *T) *T {
	b, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("operator.CopyOf %T: %v", object, err))
	}
	fresh := new(T)
	if err := json.Unmarshal(b, fresh); err != nil {
		panic(fmt.Sprintf("operator.CopyOf %T: %v", object, err))
	}
	return fresh
}

func (p Patch) data(object Object) ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	after, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	old, err := asMap(p.base)
	if err != nil {
		return nil, err
	}
	now, err := asMap(after)
	if err != nil {
		return nil, err
	}
	diff := difference(old, now)
	if p.lock {
		m, ok := diff["metadata"].(map[string]any)
		if !ok {
			m = map[string]any{}
			diff["metadata"] = m
		}
		m["resourceVersion"] = object.GetResourceVersion()
	}
	return json.Marshal(diff)
}

func asMap(b []byte) (m map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&m)
	return m, err
}

// difference is the merge patch that turns old into now.
func difference(old, now map[string]any) map[string]any {
	diff := map[string]any{}
	for k := range old {
		if _, ok := now[k]; !ok {
			diff[k] = nil
		}
	}
	for k, v := range now {
		before, ok := old[k]
		if !ok {
			diff[k] = v
			continue
		}
		a, isMap := before.(map[string]any)
		b, isMapNow := v.(map[string]any)
		if isMap && isMapNow {
			if d := difference(a, b); len(d) > 0 {
				diff[k] = d
			}
		} else if !reflect.DeepEqual(before, v) {
			diff[k] = v
		}
	}
	return diff
}
