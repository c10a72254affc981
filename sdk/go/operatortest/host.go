// SPDX-License-Identifier: Apache-2.0

// Package operatortest runs an operator against a fake host: an API in memory, the cache, the work queue with
// its predicates and mappings, timers on a clock that stands still until the test moves it. What the operator
// does is recorded.
//
//	env := operatortest.New(t)
//	env.AddKind("example.dev/v1", "Greeting", "greetings", false)
//	env.Start(newOperator())
//	env.Create(&Greeting{...})
//	env.Settle()                      // until nothing is left to do now
//	env.Advance(24 * time.Hour)       // and what comes due on the way
//
// It follows docs/guest-abi.md; what breaks a rule there fails the test. It is stricter than a cluster in one
// way, since nothing happens at the same time, and more lenient in others: any object of a known kind is valid,
// apply is a merge, and nobody is forbidden anything unless the test says so. Requeues are on time, without slack,
// and there is no resync, so that a test sees what an operator owes to its own events and requeues.
package operatortest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// Guest is what can be run: an *operator.Operator, or a module (package wasmtest).
type Guest interface {
	Start(abi.Host) error
	Activate(message []byte) int64
}

// Limits of section 9 that this host checks.
const (
	declarationMax   = 256 << 10
	headMax          = 16 << 10
	eventMax         = 8 << 10
	enqueueMax       = 2 << 10
	failMax          = 1 << 10
	objectInlineMax  = 256 << 10
	settleActivation = 10000 // more activations without a pause are an operator that never rests
)

// Event is one that the operator has recorded.
type Event = abi.Event

// LogLine is one that the operator has logged. Level is one of debug, info, warning, error.
type LogLine struct {
	Level, Text string
	KeyValues   json.RawMessage
}

// Request is one that the operator has made.
type Request struct {
	Method, Target, MediaType string
	Body                      []byte
	Status                    int
}

// Activation is one that the operator has handled: what it was given and what it returned.
type Activation struct {
	abi.Activation
	Returned int64
	Failure  string
}

// Env is the fake host of one test.
type Env struct {
	t     testing.TB
	mu    sync.Mutex // a guest's goroutines may call at any time
	guest Guest
	now   time.Time

	store
	decl    *abi.Declaration
	watches map[string]*abi.Watch
	queue   queue

	// Namespace is the operator's own; configuration comes from there.
	Namespace string
	// Refuse answers a request in the API's place when it gives a status other than 0.
	Refuse func(method, target string) (status int, reason, message string)

	Events      []Event
	Logs        []LogLine
	Requests    []Request
	Activations []Activation
	metrics     map[string]float64

	active  bool
	posted  []func()
	logs    int // of this activation
	count   int // of posted calls
	failure string
}

// New makes an empty API. The clock starts at 2030-01-01, so that nothing depends on today.
func New(t testing.TB) *Env {
	e := &Env{t: t, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Namespace: "default", metrics: map[string]float64{}}
	e.store.init()
	e.store.now = func() time.Time { return e.now }
	e.store.changed = e.onChange
	return e
}

// Now is the test's time.
func (e *Env) Now() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// Start starts the guest, and puts what is there already into its queue.
func (e *Env) Start(g Guest) {
	e.t.Helper()
	if err := e.TryStart(g); err != nil {
		e.t.Fatalf("start: %v", err)
	}
}

// TryStart is Start that gives the error.
func (e *Env) TryStart(g Guest) error {
	e.guest = g
	if err := g.Start(hostSide{e}); err != nil {
		return err
	}
	if e.decl == nil {
		return errors.New("R-declare: setup has ended without a declaration")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enqueueAll("initial")
	return nil
}

// breach reports a guest that broke a rule.
func (e *Env) breach(format string, args ...any) {
	e.t.Helper()
	e.t.Errorf(format, args...)
}

// Metric gives a metric's value: the sum of a counter or a histogram, what a gauge was set to.
func (e *Env) Metric(name string, labels ...string) float64 {
	return e.metrics[name+"{"+strings.Join(labels, ",")+"}"]
}

// HasEvent says whether the operator has recorded an Event of that reason about that object.
func (e *Env) HasEvent(reason, namespace, name string) bool {
	return slices.ContainsFunc(e.Events, func(v Event) bool {
		return v.Reason == reason && v.Regarding.Namespace == namespace && v.Regarding.Name == name
	})
}

// ---------------------------------------------------------------- the host's side of the ABI

// hostSide is what the guest sees of Env.
type hostSide struct{ *Env }

func refusal(call string, code abi.Code, format string, args ...any) error {
	return &abi.Error{Call: call, Code: code, Text: fmt.Sprintf(format, args...)}
}

func (e hostSide) Declare(b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.decl != nil {
		e.breach("declare: R-declare: a second declaration")
	}
	if len(b) > declarationMax {
		return refusal("declare", abi.TooLarge, "%d bytes", len(b))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var decl abi.Declaration
	if err := d.Decode(&decl); err != nil {
		return refusal("declare", abi.Invalid, "%v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return refusal("declare", abi.Invalid, "more than one JSON value")
	}
	watches, err := checkDeclaration(&decl)
	if err != nil {
		return refusal("declare", abi.Invalid, "%v", err)
	}
	for _, w := range watches {
		if _, ok := e.kind(w.APIVersion, w.Kind); !ok {
			e.t.Logf("operatortest: kind %s %s is not served yet; AddKind adds it", w.APIVersion, w.Kind)
		}
	}
	e.decl, e.watches = &decl, watches
	return nil
}

func checkDeclaration(d *abi.Declaration) (map[string]*abi.Watch, error) {
	switch {
	case d.ABI != 1:
		return nil, fmt.Errorf(".abi: not 1")
	case len(d.Controllers) == 0:
		return nil, fmt.Errorf(".controllers: none")
	case len(d.Controllers) > 32 || len(d.Config) > 16 || len(d.Metrics) > 64:
		return nil, fmt.Errorf("more controllers, configurations or metrics than section 9 permits")
	}
	watches := map[string]*abi.Watch{}
	names := map[string]bool{}
	add := func(list ...*abi.Watch) error {
		for _, w := range list {
			if w.ID == "" || watches[w.ID] != nil {
				return fmt.Errorf("R-id: watch %q is not unique", w.ID)
			}
			if err := checkWatch(w); err != nil {
				return fmt.Errorf("watch %q: %w", w.ID, err)
			}
			watches[w.ID] = w
		}
		return nil
	}
	for i := range d.Controllers {
		c := &d.Controllers[i]
		if c.Name == "" || names[c.Name] {
			return nil, fmt.Errorf("controller %q is not unique", c.Name)
		}
		names[c.Name] = true
		if c.Concurrency > max(d.Instances, 1) {
			return nil, fmt.Errorf("controller %q: concurrency is more than instances", c.Name)
		}
		list := []*abi.Watch{&c.For}
		for j := range c.Owns {
			list = append(list, &c.Owns[j])
		}
		for j := range c.Watches {
			if c.Watches[j].Map == nil {
				return nil, fmt.Errorf("watch %q: no map", c.Watches[j].ID)
			}
			list = append(list, &c.Watches[j])
		}
		if err := add(list...); err != nil {
			return nil, err
		}
	}
	for i := range d.Caches {
		if err := add(&d.Caches[i]); err != nil {
			return nil, err
		}
	}
	if len(watches) > 128 {
		return nil, fmt.Errorf("%d watches", len(watches))
	}
	for i := range d.Controllers {
		for _, w := range d.Controllers[i].Watches {
			if w.Map.Index != "" && !hasIndex(&d.Controllers[i].For, w.Map.Index) {
				return nil, fmt.Errorf("watch %q: map: the primary has no index %q", w.ID, w.Map.Index)
			}
		}
	}
	return watches, nil
}

func hasIndex(w *abi.Watch, name string) bool {
	return slices.ContainsFunc(w.Indexes, func(i abi.Index) bool { return i.Name == name })
}

func checkWatch(w *abi.Watch) error {
	if w.APIVersion == "" || w.Kind == "" {
		return errors.New("no apiVersion or kind")
	}
	if len(w.Indexes) > 16 {
		return errors.New("more than 16 indexes")
	}
	if _, err := parseSelector(w.LabelSelector); err != nil {
		return err
	}
	for _, i := range w.Indexes {
		if i.Field != "" {
			if _, err := parseField(i.Field); err != nil {
				return err
			}
		}
	}
	for _, f := range w.Strip {
		if _, err := parseField(f); err != nil {
			return err
		}
	}
	return checkPredicate(w.Predicate, 8)
}

func checkPredicate(p *abi.Predicate, depth int) error {
	if p == nil {
		return nil
	}
	if depth == 0 {
		return errors.New("predicate: nested more than 8 deep")
	}
	if p.Changed != "" && !slices.Contains([]string{"generation", "labels", "annotations", "resourceVersion"}, p.Changed) {
		return fmt.Errorf("predicate: changed: %q", p.Changed)
	}
	if _, err := parseSelector(p.Labels); err != nil {
		return err
	}
	for i := range p.And {
		if err := checkPredicate(&p.And[i], depth-1); err != nil {
			return err
		}
	}
	for i := range p.Or {
		if err := checkPredicate(&p.Or[i], depth-1); err != nil {
			return err
		}
	}
	return checkPredicate(p.Not, depth-1)
}

// cached says whether a watch keeps this object.
func (e *Env) cached(w *abi.Watch, o object) bool {
	if o.text("apiVersion") != w.APIVersion || o.text("kind") != w.Kind {
		return false
	}
	if len(w.Namespaces) > 0 && !slices.Contains(w.Namespaces, o.namespace()) {
		return false
	}
	if w.Name != "" && w.Name != o.name() {
		return false
	}
	s, _ := parseSelector(w.LabelSelector) // checked when it was declared
	return s.matches(o.labels()) && matchesFields(w.FieldSelector, o)
}

// view is what a watch keeps of an object.
func view(w *abi.Watch, o object, metadata bool) object {
	v := o.copy()
	if m, ok := v["metadata"].(map[string]any); ok {
		delete(m, "managedFields")
	}
	if w.MetadataOnly || metadata {
		return object{"apiVersion": v["apiVersion"], "kind": v["kind"], "metadata": v["metadata"]}
	}
	for _, f := range w.Strip {
		path, _ := parseField(f) // checked when it was declared
		path.remove(v)
	}
	return v
}

func (e *Env) outside(call string) {
	if !e.active {
		e.breach("%s: R-outside: not in an activation", call)
	}
}

// flush does what was posted; at calls that park and at the end of an activation.
func (e *Env) flush() {
	posted := e.posted
	e.posted = nil
	for _, f := range posted {
		f()
	}
}

func (e *Env) post(call string, f func()) {
	if e.count++; e.count > abi.PostedMax {
		e.breach("%s: R-posted: more than %d posted calls in one activation", call, abi.PostedMax)
		return
	}
	e.posted = append(e.posted, f)
}

func (e hostSide) CacheGet(query []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outside("cache_get")
	e.flush()
	var q abi.GetQuery
	if err := strictly(query, &q); err != nil {
		return nil, refusal("cache_get", abi.Invalid, "%v", err)
	}
	w := e.watches[q.Watch]
	if w == nil {
		return nil, refusal("cache_get", abi.NotDeclared, "watch %q", q.Watch)
	}
	k, ok := e.kind(w.APIVersion, w.Kind)
	if !ok {
		return nil, refusal("cache_get", abi.NotSynced, "%s %s is not served", w.APIVersion, w.Kind)
	}
	o := e.objects[id{k, q.Namespace, q.Name}]
	if o == nil || !e.cached(w, o) {
		return nil, refusal("cache_get", abi.NotFound, "%s/%s", q.Namespace, q.Name)
	}
	return json.Marshal(view(w, o, false))
}

func (e hostSide) CacheList(query []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outside("cache_list")
	e.flush()
	var q abi.ListQuery
	if err := strictly(query, &q); err != nil {
		return nil, refusal("cache_list", abi.Invalid, "%v", err)
	}
	w := e.watches[q.Watch]
	if w == nil {
		return nil, refusal("cache_list", abi.NotDeclared, "watch %q", q.Watch)
	}
	selector, err := parseSelector(q.LabelSelector)
	if err != nil {
		return nil, refusal("cache_list", abi.Invalid, "%v", err)
	}
	if q.Index != "" && !hasIndex(w, q.Index) {
		return nil, refusal("cache_list", abi.NotDeclared, "index %q", q.Index)
	}
	k, ok := e.kind(w.APIVersion, w.Kind)
	if !ok {
		return nil, refusal("cache_list", abi.NotSynced, "%s %s is not served", w.APIVersion, w.Kind)
	}
	type key struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	}
	page := struct {
		ResourceVersion    string `json:"resourceVersion"`
		Items              []any  `json:"items"`
		Continue           string `json:"continue,omitempty"`
		RemainingItemCount int    `json:"remainingItemCount,omitempty"`
	}{ResourceVersion: e.revisionText(), Items: []any{}}
	for _, o := range e.list(k, q.Namespace) {
		if !e.cached(w, o) || !selector.matches(o.labels()) || o.namespace()+"/"+o.name() <= q.Continue {
			continue
		}
		if q.Index != "" && !slices.Contains(indexValues(w, q.Index, view(w, o, false)), q.Value) {
			continue
		}
		if q.Limit > 0 && len(page.Items) == q.Limit {
			page.RemainingItemCount++
			continue
		}
		last := o.namespace() + "/" + o.name()
		if q.Limit > 0 && len(page.Items) == q.Limit-1 {
			page.Continue = last
		}
		if q.View == "keys" {
			page.Items = append(page.Items, key{o.namespace(), o.name(), o.version()})
		} else {
			page.Items = append(page.Items, view(w, o, q.View == "metadata"))
		}
	}
	if page.RemainingItemCount == 0 {
		page.Continue = ""
	}
	return json.Marshal(&page)
}

func strictly(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (e hostSide) ConfigGet(name string) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outside("config_get")
	e.flush()
	for _, c := range e.decl.Config {
		if c.Name != name {
			continue
		}
		o := e.objects[e.configID(&c)]
		if o == nil {
			return nil, refusal("config_get", abi.NotFound, "%s", name)
		}
		return json.Marshal(configData(o))
	}
	return nil, refusal("config_get", abi.NotDeclared, "%s", name)
}

func (e *Env) configID(c *abi.Config) id {
	namespace := c.Namespace
	if namespace == "" {
		namespace = e.Namespace
	}
	if c.Secret != "" {
		return id{"v1 Secret", namespace, c.Secret}
	}
	return id{"v1 ConfigMap", namespace, c.ConfigMap}
}

func configData(o object) abi.ConfigData {
	d := abi.ConfigData{Data: map[string]string{}, BinaryData: map[string][]byte{}, ResourceVersion: o.version()}
	data, _ := o["data"].(map[string]any)
	for k, v := range data {
		text, _ := v.(string)
		if o.text("kind") == "Secret" {
			putDecoded(&d, k, text)
		} else {
			d.Data[k] = text
		}
	}
	binary, _ := o["binaryData"].(map[string]any)
	for k, v := range binary {
		text, _ := v.(string)
		putDecoded(&d, k, text)
	}
	return d
}

func (e hostSide) Enqueue(message []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outside("enqueue")
	var m abi.Enqueue
	if err := strictly(message, &m); err != nil || len(message) > enqueueMax {
		e.breach("enqueue: R-posted: %d bytes, %v", len(message), err)
		return
	}
	e.post("enqueue", func() {
		e.queue.add(qkey{m.Controller, m.Namespace, m.Name}, "enqueue", e.now.Add(time.Duration(m.AfterMs)*time.Millisecond), e.now)
	})
}

func (e hostSide) Event(message []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outside("event")
	var m abi.Event
	err := strictly(message, &m)
	if err != nil || len(message) > eventMax || m.Type != "Normal" && m.Type != "Warning" || m.Reason == "" ||
		len(m.Reason) > 128 || len(m.Action) > 128 || m.Regarding.Kind == "" || m.Regarding.Name == "" {
		e.breach("event: R-posted: %s: %v", message, err)
		return
	}
	e.post("event", func() { e.Events = append(e.Events, m) })
}

func (e hostSide) Metric(index int, labels []byte, value float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var l []string
	if len(labels) > 0 {
		if err := json.Unmarshal(labels, &l); err != nil {
			e.breach("metric: R-posted: %s: %v", labels, err)
			return
		}
	}
	if index < 0 || index >= len(e.decl.Metrics) || len(l) != len(e.decl.Metrics[index].Labels) {
		e.breach("metric: R-posted: index %d with labels %q", index, l)
		return
	}
	m := e.decl.Metrics[index]
	if m.Type == "counter" && value < 0 {
		e.breach("metric: R-posted: counter %s: %v", m.Name, value)
		return
	}
	name := m.Name + "{" + strings.Join(l, ",") + "}"
	e.post("metric", func() {
		if m.Type == "gauge" {
			e.metrics[name] = value
		} else {
			e.metrics[name] += value
		}
	})
}

func (e hostSide) Log(level int, text string, keyValues []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	names := []string{"debug", "info", "warning", "error"}
	if level < 0 || level >= len(names) || len(keyValues) > 0 && !json.Valid(keyValues) {
		e.breach("log: R-posted: level %d, %s", level, keyValues)
		return
	}
	if e.logs++; e.active && e.logs > abi.PostedLogsMax {
		return // the host leaves them out
	}
	e.Logs = append(e.Logs, LogLine{names[level], text, slices.Clone(keyValues)})
	e.t.Logf("%s: %s %s", names[level], text, keyValues)
}

func (e hostSide) Fail(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failure = text[:min(len(text), failMax)]
}

// Failure is what the guest has last said why something failed.
func (e *Env) Failure() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failure
}
