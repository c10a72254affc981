// SPDX-License-Identifier: Apache-2.0

package operatortest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dormouse.dev/sdk/go/internal/abi"
)

// target is a path of the API taken apart.
type target struct {
	kind      *kindInfo
	namespace string
	name, sub string
	discovery string // apiVersion, of a discovery request
	query     url.Values
}

func (s *store) parseTarget(text string) (t target, ok bool) {
	u, err := url.ParseRequestURI(text)
	if err != nil {
		return t, false
	}
	t.query = u.Query()
	p := strings.Split(strings.Trim(u.Path, "/"), "/")
	var apiVersion string
	switch {
	case len(p) >= 2 && p[0] == "api":
		apiVersion, p = p[1], p[2:]
	case len(p) >= 3 && p[0] == "apis":
		apiVersion, p = p[1]+"/"+p[2], p[3:]
	default:
		return t, false
	}
	if len(p) == 0 {
		t.discovery = apiVersion
		return t, true
	}
	if len(p) >= 3 && p[0] == "namespaces" && s.resource(apiVersion, p[2]) != nil {
		t.namespace, p = p[1], p[2:]
	}
	t.kind = s.resource(apiVersion, p[0])
	if t.kind == nil || len(p) > 3 {
		return t, false
	}
	if len(p) > 1 {
		t.name = p[1]
	}
	if len(p) > 2 {
		t.sub = p[2]
	}
	return t, t.sub == "" || t.sub == "status"
}

func (s *store) resource(apiVersion, plural string) *kindInfo {
	for i := range s.kinds {
		if k := &s.kinds[i]; k.apiVersion == apiVersion && k.plural == plural {
			return k
		}
	}
	return nil
}

func (t *target) id() id {
	return id{t.kind.apiVersion + " " + t.kind.kind, t.namespace, t.name}
}

// Request answers api_request.
func (e hostSide) Request(head, body []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outside("api_request")
	e.flush()
	if len(head) > headMax || len(body) > abi.BodyMaxBytes {
		return nil, refusal("api_request", abi.TooLarge, "a head of %d bytes, a body of %d", len(head), len(body))
	}
	method, path, headers, err := abi.ParseHead(head)
	if err != nil {
		return nil, refusal("api_request", abi.Invalid, "%v", err)
	}
	if u, err := url.Parse(path); err == nil && (u.Query().Get("watch") == "true" || u.Query().Get("follow") == "true") {
		return nil, refusal("api_request", abi.Invalid, "a watch is declared, not requested")
	}
	r := Request{Method: method, Target: path, Body: slices.Clone(body)}
	for _, h := range headers {
		if h.Name == "content-type" {
			r.MediaType = h.Value
		}
	}
	answer, f := e.serve(&r)
	response := &abi.Response{Status: 200, Headers: []abi.Header{{Name: "content-type", Value: "application/json"}}}
	if f != nil {
		response.Status = f.status
		answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": f.reason,
			"message": f.message, "code": f.status, "metadata": map[string]any{}}
	} else if method == "POST" {
		response.Status = 201
	}
	r.Status = response.Status
	e.Requests = append(e.Requests, r)
	if response.Body, err = json.Marshal(answer); err != nil {
		return nil, err
	}
	return abi.AppendResponse(nil, response), nil
}

func (e *Env) serve(r *Request) (any, *failure) {
	if e.Refuse != nil {
		if status, reason, message := e.Refuse(r.Method, r.Target); status != 0 {
			return nil, fail(status, reason, "%s", message)
		}
	}
	if answer := e.groups(r.Target); answer != nil && r.Method == "GET" {
		return answer, nil
	}
	t, ok := e.parseTarget(r.Target)
	if !ok {
		return nil, fail(404, "NotFound", "the server could not find the requested resource")
	}
	if t.discovery != "" {
		return e.discover(t.discovery)
	}
	body := object{}
	if len(r.Body) > 0 && r.MediaType != "application/json-patch+json" {
		var err error
		if body, err = parseObject(r.Body); err != nil || body == nil {
			return nil, fail(400, "BadRequest", "the body is not an object: %v", err)
		}
	}
	switch r.Method {
	case "GET":
		return e.get(&t)
	case "POST":
		return e.create(&t, body)
	case "PUT":
		return e.replace(&t, body)
	case "PATCH":
		return e.patch(&t, r, body)
	case "DELETE":
		return e.deleteOne(&t, body)
	}
	return nil, fail(405, "MethodNotAllowed", "%s", r.Method)
}

// groups answers discovery of what is served at all; nil for other targets.
func (s *store) groups(target string) any {
	path, _, _ := strings.Cut(target, "?")
	var names []string
	versions := map[string][]any{}
	for _, k := range s.kinds {
		g, v := group(k.apiVersion), k.apiVersion[strings.IndexByte(k.apiVersion, '/')+1:]
		if versions[g] == nil && g != "" {
			names = append(names, g)
		}
		one := map[string]any{"groupVersion": k.apiVersion, "version": v}
		if !slices.ContainsFunc(versions[g], func(o any) bool { return o.(map[string]any)["version"] == v }) {
			versions[g] = append(versions[g], one)
		}
	}
	describe := func(name string) map[string]any {
		return map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": versions[name],
			"preferredVersion": versions[name][0]}
	}
	switch name, isGroup := strings.CutPrefix(path, "/apis/"); {
	case path == "/api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
	case path == "/apis":
		list := []any{}
		for _, name := range names {
			list = append(list, describe(name))
		}
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
	case isGroup && versions[name] != nil:
		return describe(name)
	}
	return nil
}

func (s *store) discover(apiVersion string) (any, *failure) {
	var list []any
	for _, k := range s.kinds {
		if k.apiVersion == apiVersion {
			list = append(list, map[string]any{"name": k.plural, "kind": k.kind, "namespaced": !k.clusterScoped})
		}
	}
	if list == nil {
		return nil, fail(404, "NotFound", "the server could not find the requested resource")
	}
	return map[string]any{"kind": "APIResourceList", "groupVersion": apiVersion, "resources": list}, nil
}

func (s *store) missing(t *target) *failure {
	return fail(404, "NotFound", "%s %q not found", t.kind.plural, t.name)
}

func (s *store) get(t *target) (any, *failure) {
	if t.name != "" {
		if o := s.objects[t.id()]; o != nil {
			return o, nil
		}
		return nil, s.missing(t)
	}
	selector, err := parseSelector(t.query.Get("labelSelector"))
	if err != nil {
		return nil, fail(400, "BadRequest", "%v", err)
	}
	items := []any{}
	for _, o := range s.list(t.id().kind, t.namespace) {
		if selector.matches(o.labels()) && matchesFields(t.query.Get("fieldSelector"), o) {
			items = append(items, o)
		}
	}
	return map[string]any{"apiVersion": t.kind.apiVersion, "kind": t.kind.kind + "List",
		"metadata": map[string]any{"resourceVersion": s.revisionText()}, "items": items}, nil
}

func (s *store) create(t *target, o object) (any, *failure) {
	if t.name != "" {
		return nil, fail(405, "MethodNotAllowed", "POST to an object")
	}
	if o.text("apiVersion") != t.kind.apiVersion || o.text("kind") != t.kind.kind {
		return nil, fail(400, "BadRequest", "the object is %s %s, not %s", o.text("apiVersion"), o.text("kind"), t.kind.kind)
	}
	if prefix := o.metaText("generateName"); o.name() == "" && prefix != "" {
		o.meta()["name"] = fmt.Sprintf("%s%05d", prefix, s.revision+1)
	}
	if o.name() == "" {
		return nil, fail(422, "Invalid", "metadata.name: required")
	}
	if t.namespace == "" && !t.kind.clusterScoped {
		return nil, fail(400, "BadRequest", "an empty namespace may not be set during creation")
	}
	if ns := o.namespace(); ns != "" && ns != t.namespace {
		return nil, fail(400, "BadRequest", "the namespace of the object is not that of the request")
	}
	if t.namespace != "" {
		o.meta()["namespace"] = t.namespace
	}
	t.name = o.name()
	if s.objects[t.id()] != nil {
		return nil, fail(409, "AlreadyExists", "%s %q already exists", t.kind.plural, t.name)
	}
	if t.kind.kind == "Secret" {
		encodeStringData(o)
	}
	s.put(t.id(), nil, o)
	return o, nil
}

func encodeStringData(o object) {
	text, _ := o["stringData"].(map[string]any)
	delete(o, "stringData")
	for k, v := range text {
		data, ok := o["data"].(map[string]any)
		if !ok {
			data = map[string]any{}
			o["data"] = data
		}
		s, _ := v.(string)
		b, _ := json.Marshal([]byte(s)) // bytes always have JSON: base64
		data[k] = strings.Trim(string(b), `"`)
	}
}

// store writes o over what is there, the status alone or all but the status as the API does.
func (s *store) over(t *target, before, o object) (any, *failure) {
	if v := o.version(); v != "" && v != before.version() {
		return nil, fail(409, "Conflict", "%s %q: the object has been modified", t.kind.plural, t.name)
	}
	if uid := o.uid(); uid != "" && uid != before.uid() {
		return nil, fail(409, "Conflict", "%s %q: the uid is another", t.kind.plural, t.name)
	}
	after := o.copy()
	if t.sub == "status" {
		after = before.copy()
		after["status"] = o["status"]
	} else if _, ok := before["status"]; ok {
		after["status"] = before["status"]
	} else if !slices.Contains([]string{"v1", "apps/v1", "batch/v1"}, t.kind.apiVersion) {
		delete(after, "status")
	}
	after["apiVersion"], after["kind"] = t.kind.apiVersion, t.kind.kind
	after.meta()["name"] = t.name
	if t.namespace != "" {
		after.meta()["namespace"] = t.namespace
	}
	if t.kind.kind == "Secret" {
		encodeStringData(after)
	}
	if isSame(before, after) {
		return before, nil
	}
	s.put(t.id(), before, after)
	return after, nil
}

// isSame: a write that changes nothing is no change.
func isSame(before, after object) bool {
	a := after.copy()
	for _, name := range []string{"resourceVersion", "uid", "creationTimestamp", "generation"} {
		if v, ok := before.meta()[name]; ok {
			a.meta()[name] = v
		}
	}
	x, _ := json.Marshal(before) // what came from JSON has JSON
	y, _ := json.Marshal(a)
	return string(x) == string(y)
}

func (s *store) replace(t *target, o object) (any, *failure) {
	before := s.objects[t.id()]
	if t.name == "" || before == nil {
		return nil, s.missing(t)
	}
	if o.name() != "" && o.name() != t.name {
		return nil, fail(400, "BadRequest", "the name of the object is not that of the request")
	}
	return s.over(t, before, o)
}

func (s *store) patch(t *target, r *Request, body object) (any, *failure) {
	before := s.objects[t.id()]
	isApply := r.MediaType == "application/apply-patch+yaml"
	if before == nil {
		if !isApply || t.sub != "" {
			return nil, s.missing(t)
		}
		name := t.name
		t.name = ""
		body.meta()["name"] = name
		return s.create(t, body)
	}
	o := before.copy()
	switch r.MediaType {
	case "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml":
		mergePatch(o, body)
	case "application/json-patch+json":
		if err := jsonPatch(o, r.Body); err != nil {
			return nil, fail(422, "Invalid", "%v", err)
		}
	default:
		return nil, fail(415, "UnsupportedMediaType", "%s", r.MediaType)
	}
	return s.over(t, before, o)
}

func (s *store) deleteOne(t *target, options object) (any, *failure) {
	o := s.objects[t.id()]
	if t.name == "" || o == nil {
		return nil, s.missing(t)
	}
	p, _ := options["preconditions"].(map[string]any)
	for name, have := range map[string]string{"uid": o.uid(), "resourceVersion": o.version()} {
		if want, ok := p[name].(string); ok && want != have {
			return nil, fail(409, "Conflict", "%s %q: the precondition on its %s is not met", t.kind.plural, t.name, name)
		}
	}
	s.delete(t.id())
	return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"}, nil
}

// jsonPatch knows add, replace, remove and test.
func jsonPatch(o object, b []byte) error {
	var ops []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal(b, &ops); err != nil {
		return err
	}
	for _, op := range ops {
		parts := strings.Split(strings.TrimPrefix(op.Path, "/"), "/")
		for i, p := range parts {
			parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
		}
		m := map[string]any(o)
		for _, p := range parts[:len(parts)-1] {
			next, ok := m[p].(map[string]any)
			if !ok {
				return fmt.Errorf("json patch: no object at %s", op.Path)
			}
			m = next
		}
		last := parts[len(parts)-1]
		_, there := m[last]
		switch {
		case op.Op == "add", op.Op == "replace" && there:
			m[last] = op.Value
		case op.Op == "remove" && there:
			delete(m, last)
		case op.Op == "test" && there:
			if x, y := fmt.Sprint(m[last]), fmt.Sprint(op.Value); x != y {
				return fmt.Errorf("json patch: test of %s: %s is not %s", op.Path, x, y)
			}
		default:
			return fmt.Errorf("json patch: %s %s is not possible", op.Op, op.Path)
		}
	}
	return nil
}
