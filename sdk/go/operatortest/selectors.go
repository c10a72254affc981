// SPDX-License-Identifier: Apache-2.0

package operatortest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dormouse.dev/sdk/go/internal/abi"
)

// ---------------------------------------------------------------- label and field selectors

type requirement struct {
	key, op string // op: = != in notin exists !
	values  []string
}

type selector []requirement

func parseSelector(text string) (selector, error) {
	var s selector
	for text = strings.TrimSpace(text); text != ""; {
		term := text
		end := strings.IndexByte(text, ',')
		if open := strings.IndexByte(text, '('); open >= 0 && (end < 0 || open < end) {
			shut := strings.IndexByte(text, ')')
			if shut < open {
				return nil, fmt.Errorf("selector %q: no closing bracket", text)
			}
			end = strings.IndexByte(text[shut:], ',')
			if end >= 0 {
				end += shut
			}
		}
		if end >= 0 {
			term, text = text[:end], text[end+1:]
		} else {
			text = ""
		}
		r, err := parseRequirement(strings.TrimSpace(term))
		if err != nil {
			return nil, err
		}
		s = append(s, r)
	}
	return s, nil
}

func parseRequirement(term string) (requirement, error) {
	if open := strings.IndexByte(term, '('); open >= 0 {
		words := strings.Fields(term[:open])
		if len(words) != 2 || words[1] != "in" && words[1] != "notin" {
			return requirement{}, fmt.Errorf("selector: %q", term)
		}
		r := requirement{key: words[0], op: words[1]}
		for v := range strings.SplitSeq(strings.Trim(term[open:], "()"), ",") {
			r.values = append(r.values, strings.TrimSpace(v))
		}
		return r, nil
	}
	for _, op := range []string{"!=", "==", "="} {
		if key, value, ok := strings.Cut(term, op); ok {
			if op == "==" {
				op = "="
			}
			return requirement{strings.TrimSpace(key), op, []string{strings.TrimSpace(value)}}, nil
		}
	}
	if key, ok := strings.CutPrefix(term, "!"); ok {
		return requirement{key: key, op: "!"}, nil
	}
	if term == "" || strings.ContainsAny(term, " <>") {
		return requirement{}, fmt.Errorf("selector: %q", term)
	}
	return requirement{key: term, op: "exists"}, nil
}

func (s selector) matches(labels map[string]any) bool {
	for _, r := range s {
		v, has := labels[r.key]
		text, _ := v.(string)
		ok := false
		switch r.op {
		case "=", "in":
			ok = has && slices.Contains(r.values, text)
		case "!=", "notin":
			ok = !has || !slices.Contains(r.values, text)
		case "exists":
			ok = has
		case "!":
			ok = !has
		}
		if !ok {
			return false
		}
	}
	return true
}

// matchesFields knows what may be a field selector of any kind: paths, = and !=.
func matchesFields(text string, o object) bool {
	s, err := parseSelector(text)
	if err != nil {
		return false
	}
	for _, r := range s {
		path, err := parseField("." + r.key)
		if err != nil || len(r.values) != 1 {
			return false
		}
		have := path.values(o)
		if (len(have) > 0 && have[0] == r.values[0]) != (r.op == "=") {
			return false
		}
	}
	return true
}

// ---------------------------------------------------------------- fields

// field is a path: names, and "*" with all set for every element of a list.
type field []struct {
	name string
	all  bool
}

func parseField(text string) (f field, err error) {
	for rest := text; rest != ""; {
		step := struct {
			name string
			all  bool
		}{}
		switch {
		case strings.HasPrefix(rest, "[*]"):
			step.all, rest = true, rest[3:]
		case strings.HasPrefix(rest, "['"):
			end := strings.Index(rest, "']")
			if end < 0 {
				return nil, fmt.Errorf("field %q: no ']", text)
			}
			step.name, rest = rest[2:end], rest[end+2:]
		case rest[0] == '.' && len(rest) > 1:
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			step.name, rest = rest[1:end+1], rest[end+1:]
		}
		if step.name == "" && !step.all {
			return nil, fmt.Errorf("field %q is not a path of names", text)
		}
		f = append(f, step)
	}
	if len(f) == 0 {
		return nil, fmt.Errorf("field %q is empty", text)
	}
	return f, nil
}

// values at the path that are texts, numbers or booleans.
func (f field) values(o object) []string {
	at := []any{map[string]any(o)}
	for _, step := range f {
		var next []any
		for _, v := range at {
			if step.all {
				list, _ := v.([]any)
				next = append(next, list...)
			} else if m, ok := v.(map[string]any); ok {
				if e, ok := m[step.name]; ok {
					next = append(next, e)
				}
			}
		}
		at = next
	}
	var r []string
	for _, v := range at {
		switch v.(type) {
		case nil, map[string]any, []any:
		default:
			r = append(r, fmt.Sprint(v))
		}
	}
	return r
}

func (f field) remove(o object) {
	m := map[string]any(o)
	for _, step := range f[:len(f)-1] {
		next, ok := m[step.name].(map[string]any)
		if !ok {
			return
		}
		m = next
	}
	delete(m, f[len(f)-1].name)
}

func fieldValue(text string, o object) string {
	f, err := parseField(text)
	if err != nil {
		return ""
	}
	if v := f.values(o); len(v) > 0 {
		return v[0]
	}
	return ""
}

func indexValues(w *abi.Watch, name string, o object) (r []string) {
	for _, i := range w.Indexes {
		switch {
		case i.Name != name:
		case i.Owner:
			for _, ref := range o.owners() {
				r = append(r, ref.uid)
			}
		case i.Label != "":
			if v, ok := o.labels()[i.Label].(string); ok {
				r = append(r, v)
			}
		default:
			f, _ := parseField(i.Field) // checked when it was declared
			r = append(r, f.values(o)...)
		}
	}
	return r
}

// ---------------------------------------------------------------- predicates and mappings

// passes evaluates a predicate on an event: before nil is a create, after nil a delete.
func passes(p *abi.Predicate, before, after object) bool {
	if p == nil {
		return true
	}
	now := after
	if now == nil {
		now = before
	}
	switch {
	case p.Changed != "":
		if before == nil || after == nil {
			return true
		}
		return !reflect.DeepEqual(before.meta()[p.Changed], after.meta()[p.Changed])
	case len(p.On) > 0:
		what := "update"
		if before == nil {
			what = "create"
		} else if after == nil {
			what = "delete"
		}
		return slices.Contains(p.On, what)
	case p.Labels != "":
		s, _ := parseSelector(p.Labels) // checked when it was declared
		return s.matches(now.labels())
	case len(p.And) > 0:
		return !slices.ContainsFunc(p.And, func(q abi.Predicate) bool { return !passes(&q, before, after) })
	case len(p.Or) > 0:
		return slices.ContainsFunc(p.Or, func(q abi.Predicate) bool { return passes(&q, before, after) })
	case p.Not != nil:
		return !passes(p.Not, before, after)
	}
	return true
}

// isEvent: an update in which nothing but the version differs is none.
func isEvent(before, after object) bool {
	if before == nil || after == nil {
		return before != nil || after != nil
	}
	a, b := before.copy(), after.copy()
	for _, name := range []string{"resourceVersion", "managedFields"} {
		delete(a.meta(), name)
		delete(b.meta(), name)
	}
	return !reflect.DeepEqual(a, b)
}

func group(apiVersion string) string {
	g, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return g
}

// ownerKeys are the keys of o's owners that are of the primary's group and kind.
func (e *Env) ownerKeys(c *abi.Controller, o object, any bool) (keys []qkey) {
	for _, ref := range o.owners() {
		if (ref.controls || any) && ref.kind == c.For.Kind && group(ref.apiVersion) == group(c.For.APIVersion) {
			keys = append(keys, qkey{c.Name, e.primaryNamespace(c, o.namespace()), ref.name})
		}
	}
	return keys
}

func (e *Env) primaryNamespace(c *abi.Controller, namespace string) string {
	for _, k := range e.kinds {
		if k.apiVersion == c.For.APIVersion && k.kind == c.For.Kind && k.clusterScoped {
			return ""
		}
	}
	return namespace
}

// mappedKeys are the keys of a controller that an event of o concerns.
func (e *Env) mappedKeys(c *abi.Controller, m *abi.Map, o object) (keys []qkey) {
	add := func(namespace, name string) {
		if name != "" {
			keys = append(keys, qkey{c.Name, e.primaryNamespace(c, namespace), name})
		}
	}
	named := func(value string) {
		if namespace, name, ok := strings.Cut(value, "/"); ok {
			add(namespace, name)
		} else {
			add(o.namespace(), value)
		}
	}
	switch {
	case m.Owner:
		return e.ownerKeys(c, o, true)
	case m.Field != "":
		f, _ := parseField(m.Field) // a bad one finds nothing
		namespace := o.namespace()
		if m.NamespaceField != "" {
			namespace = fieldValue(m.NamespaceField, o)
		}
		for _, name := range f.values(o) {
			add(namespace, name)
		}
	case m.Label != "":
		v, _ := o.labels()[m.Label].(string)
		named(v)
	case m.Annotation != "":
		annotations, _ := o.meta()["annotations"].(map[string]any)
		v, _ := annotations[m.Annotation].(string)
		named(v)
	case m.Index != "":
		e.eachPrimary(c, func(p object) {
			value := map[string]string{"name": o.name(), "namespacedName": o.namespace() + "/" + o.name(), "uid": o.uid()}[m.Value]
			if m.Value == "name" && p.namespace() != "" && p.namespace() != o.namespace() {
				return
			}
			if slices.Contains(indexValues(&c.For, m.Index, p), value) {
				add(p.namespace(), p.name())
			}
		})
	case m.All:
		e.eachPrimary(c, func(p object) {
			if !m.SameNamespace || p.namespace() == o.namespace() {
				add(p.namespace(), p.name())
			}
		})
	case m.Key != nil:
		add(m.Key.Namespace, m.Key.Name)
	}
	return keys
}

func (e *Env) eachPrimary(c *abi.Controller, f func(object)) {
	kind, _ := e.kind(c.For.APIVersion, c.For.Kind)
	for _, o := range e.list(kind, "") {
		if e.cached(&c.For, o) {
			f(view(&c.For, o, false))
		}
	}
}
