// SPDX-License-Identifier: Apache-2.0

package operator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operator"
	"dormouse.dev/sdk/go/operatortest"
)

type greeting struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string   `json:"text,omitempty"`
		Uses []string `json:"uses,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions []meta.Condition `json:"conditions,omitempty"`
		Count      int64            `json:"count,omitempty"`
	} `json:"status,omitzero"`
}

type configMap struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

func init() {
	operator.RegisterKind(&greeting{}, operator.Kind{APIVersion: "example.dev/v1", Kind: "Greeting"})
	operator.RegisterKind(&configMap{}, operator.Kind{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps"})
}

func newGreeting(name, text string) *greeting {
	g := &greeting{}
	g.Namespace, g.Name, g.Spec.Text = "a", name, text
	return g
}

func newConfigMap(name, key, value string) *configMap {
	m := &configMap{Data: map[string]string{key: value}}
	m.Namespace, m.Name = "a", name
	return m
}

// rig is an operator with one controller whose reconciler the test gives.
type rig struct {
	*operatortest.Env
	op *operator.Operator
	c  *operator.Client
}

func newRig(t *testing.T, declare func(*operator.Operator), r operator.ReconcileFunc) *rig {
	env := operatortest.New(t)
	env.AddKind("example.dev/v1", "Greeting", "greetings", false)
	op := operator.New("greeter", operator.Options{Version: "1"})
	if declare == nil {
		declare = func(op *operator.Operator) { op.Controller("greetings").For(&greeting{}).Complete(r) }
	}
	declare(op)
	env.Start(op)
	return &rig{env, op, op.Client()}
}

func (r *rig) expectActivations(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, a := range r.Activations {
		got = append(got, fmt.Sprintf("%s %s", a.Name, strings.Join(a.Reasons, ",")))
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Fatalf("activations: %q, expected %q", got, want)
	}
	r.Activations = nil
}

func TestAReconcilerCreatesWhatAnObjectAsksFor(t *testing.T) {
	var r *rig
	r = newRig(t, func(op *operator.Operator) {
		op.Controller("greetings").
			For(&greeting{}, operator.WithPredicate(operator.GenerationChanged())).
			Owns(&configMap{}).
			Complete(operator.ReconcileFunc(func(ctx context.Context, q operator.Request) (operator.Result, error) {
				g := &greeting{}
				if err := r.c.Get(ctx, q.NamespacedName, g); err != nil {
					return operator.Result{}, operator.IgnoreNotFound(err)
				}
				m := newConfigMap(g.Name, "", "")
				what, err := operator.CreateOrUpdate(ctx, r.c, m, func() error {
					m.Data = map[string]string{"text": g.Spec.Text}
					return operator.SetControllerReference(g, m)
				})
				if err != nil {
					return operator.Result{}, err
				}
				if what != "unchanged" {
					r.op.Event(g, operator.Normal, "Written", what)
				}
				meta.SetCondition(&g.Status.Conditions, meta.Condition{Type: "Ready", Status: meta.True, Reason: "Written",
					ObservedGeneration: g.Generation}, r.Now())
				return operator.Result{}, r.c.Status().Update(ctx, g)
			}))
	}, nil)

	r.Create(newGreeting("hello", "hi"))
	r.Settle()
	r.expectActivations(t, "hello create", "hello owned")
	m, g := newConfigMap("hello", "", ""), newGreeting("hello", "")
	if !r.Get(m) || m.Data["text"] != "hi" {
		t.Fatalf("the ConfigMap is not there or wrong: %v", m)
	}
	if !r.Get(g) || !meta.IsTrue(g.Status.Conditions, "Ready") || g.Status.Conditions[0].ObservedGeneration != 1 {
		t.Fatalf("the status is wrong: %+v", g.Status)
	}
	if !r.HasEvent("Written", "a", "hello") {
		t.Fatalf("no event: %v", r.Events)
	}

	m.Data["text"] = "spoilt"
	r.Update(m)
	r.Settle()
	r.expectActivations(t, "hello owned", "hello owned")
	if r.Get(m); m.Data["text"] != "hi" {
		t.Fatal("the ConfigMap was not put right")
	}

	r.Delete(g)
	r.Settle()
	if r.Get(m) {
		t.Fatal("the ConfigMap is there although its owner has gone")
	}
}

func TestAnErrorIsTriedAgainAndATerminalOneIsNot(t *testing.T) {
	var failure error
	r := newRig(t, nil, func(context.Context, operator.Request) (operator.Result, error) {
		return operator.Result{RequeueAfter: time.Hour}, failure
	})
	failure = errors.New("no luck")
	r.Create(newGreeting("g", ""))
	r.Advance(20 * time.Millisecond) // after 0, 5 and 15 ms
	if n := len(r.Activations); n != 3 || r.Activations[2].Attempt != 2 || r.Activations[2].Failure != "no luck" {
		t.Fatalf("%d activations, the last %+v", n, r.Activations[n-1])
	}
	failure = operator.TerminalError(errors.New("never"))
	r.Advance(48 * time.Hour)
	last := r.Activations[len(r.Activations)-1]
	if len(r.Activations) != 4 || last.Returned != -2 || last.Failure != "terminal error: never" {
		t.Fatalf("%d activations, the last %+v", len(r.Activations), last)
	}
	failure = nil
	r.Update(newGreeting("g", "changed"))
	r.Advance(150 * time.Minute)
	if n := len(r.Activations); n != 7 || r.Activations[n-1].Reasons[0] != "requeue" || r.Activations[n-1].Attempt != 0 {
		t.Fatalf("%d activations, the last %+v", n, r.Activations[n-1])
	}
}

func TestAPanicFailsTheKeyAlone(t *testing.T) {
	r := newRig(t, nil, func(_ context.Context, q operator.Request) (operator.Result, error) {
		if q.Name == "bad" {
			var m map[string]string
			m["x"] = "y"
		}
		return operator.Result{}, nil
	})
	r.Create(newGreeting("bad", ""))
	r.Create(newGreeting("good", ""))
	r.Settle()
	if r.Activations[0].Returned != -1 || !strings.Contains(r.Activations[0].Failure, "assignment to entry in nil map") {
		t.Fatalf("%+v", r.Activations[0])
	}
	if r.Activations[1].Returned != 0 {
		t.Fatalf("%+v", r.Activations[1])
	}
}

func TestTheActivationWaitsForGoroutines(t *testing.T) {
	done := false
	r := newRig(t, nil, func(ctx context.Context, _ operator.Request) (operator.Result, error) {
		step := make(chan bool)
		operator.Go(ctx, func() { <-step; done = true })
		operator.Go(ctx, func() { close(step) })
		return operator.Result{}, nil
	})
	r.Create(newGreeting("g", ""))
	r.Settle()
	if !done {
		t.Fatal("the goroutine has not ended with the activation")
	}
}

func TestAPanicInAGoroutineFailsTheKeyAlone(t *testing.T) {
	r := newRig(t, nil, func(ctx context.Context, _ operator.Request) (operator.Result, error) {
		operator.Go(ctx, func() { panic("beside") })
		return operator.Result{}, errors.New("itself")
	})
	r.Create(newGreeting("g", ""))
	r.Settle()
	if a := r.Activations[0]; a.Returned != -1 || a.Failure != "itself\npanic: beside" {
		t.Fatalf("%+v", a)
	}
}

func TestReadsComeFromTheCacheAndItsIndexes(t *testing.T) {
	var r *rig
	ran := false
	r = newRig(t, func(op *operator.Operator) {
		op.Controller("greetings").
			For(&greeting{}, operator.IndexField("byUse", ".spec.uses[*]")).
			Watches(&configMap{}, operator.ToIndex("byUse", operator.ByName), operator.WithLabels("!ignored")).
			Complete(operator.ReconcileFunc(func(ctx context.Context, q operator.Request) (operator.Result, error) {
				if q.Name != "two" {
					return operator.Result{}, nil
				}
				ran = true
				var l operator.List[greeting]
				if err := r.c.List(ctx, &l, operator.MatchingIndex("byUse", "m1")); err != nil {
					return operator.Result{}, err
				}
				if len(l.Items) != 2 || l.Items[0].Name != "one" || l.Items[1].Name != "two" {
					t.Errorf("by index: %v", l.Items)
				}
				if err := r.c.List(ctx, &l, operator.InNamespace("b")); err != nil || len(l.Items) != 0 {
					t.Errorf("in namespace b: %v, %v", l.Items, err)
				}
				page, err := r.c.ListPage(ctx, &l, operator.Limit(2))
				if err != nil || len(l.Items) != 2 || page.Continue == "" || page.Remaining != 1 {
					t.Errorf("page: %v, %+v, %v", l.Items, page, err)
				}
				page, err = r.c.ListPage(ctx, &l, operator.Limit(2), operator.Continue(page.Continue))
				if err != nil || len(l.Items) != 1 || l.Items[0].Name != "two" || page.Continue != "" {
					t.Errorf("second page: %v, %+v, %v", l.Items, page, err)
				}
				err = r.c.Get(ctx, operator.NamespacedName{Namespace: "a", Name: "nobody"}, &greeting{})
				if !operator.IsNotFound(err) {
					t.Errorf("get: %v", err)
				}
				// The watch is narrow: what it does not hold is asked of the API.
				if err = r.c.Get(ctx, operator.NamespacedName{Namespace: "a", Name: "m3"}, &configMap{}); err != nil {
					t.Errorf("get of a ConfigMap outside of the watch: %v", err)
				}
				if err := r.c.List(ctx, &l, operator.Live(), operator.MatchingIndex("byUse", "m1")); err == nil {
					t.Errorf("an index of the API: %v", l.Items)
				}
				heads := operator.List[operator.Metadata]{Items: []operator.Metadata{}}
				if err := r.c.List(ctx, &heads); err == nil {
					t.Errorf("a list of metadata without a kind: %v", heads)
				}
				return operator.Result{}, nil
			}))
	}, nil)
	labelled := newConfigMap("m3", "k", "v")
	labelled.Labels = map[string]string{"ignored": "yes"}
	r.Create(labelled)
	for _, name := range []string{"one", "three", "two"} {
		g := newGreeting(name, "")
		g.Spec.Uses = map[string][]string{"one": {"m0", "m1"}, "two": {"m1"}, "three": {"m2"}}[name]
		r.Create(g)
	}
	r.Settle()
	r.expectActivations(t, "one create", "three create", "two create")
	if !ran {
		t.Fatal("the reads have not been tried")
	}
	r.Create(newConfigMap("m1", "k", "v"))
	r.Settle()
	r.expectActivations(t, "one mapped", "two mapped")
}

func TestTheDeliveredObjectIsReadOnceAndNotAfterAWrite(t *testing.T) {
	var r *rig
	r = newRig(t, nil, func(ctx context.Context, q operator.Request) (operator.Result, error) {
		g := &greeting{}
		if err := r.c.Get(ctx, q.NamespacedName, g); err != nil {
			return operator.Result{}, err
		}
		if g.Spec.Text == "changed" {
			return operator.Result{}, nil
		}
		before := operator.CopyOf(g)
		g.Spec.Text = "changed"
		if err := r.c.Patch(ctx, g, operator.MergeFromWithLock(before)); err != nil {
			return operator.Result{}, err
		}
		again := &greeting{}
		if err := r.c.Get(ctx, q.NamespacedName, again); err != nil || again.Spec.Text != "changed" {
			t.Errorf("after the write: %v, %v", again, err)
		}
		err := r.c.Patch(ctx, before, operator.MergeFromWithLock(operator.CopyOf(before)))
		if !operator.IsConflict(err) {
			t.Errorf("a patch of the old version: %v", err)
		}
		return operator.Result{}, nil
	})
	r.Create(newGreeting("g", "old"))
	r.Settle()
	if r.Requests[0].Method != "GET" || r.Requests[0].Target != "/apis/example.dev/v1" {
		t.Fatalf("the first request is not discovery: %+v", r.Requests[0])
	}
	patch := r.Requests[1]
	if patch.Method != "PATCH" || string(patch.Body) != `{"metadata":{"resourceVersion":"1"},"spec":{"text":"changed"}}` {
		t.Fatalf("%s %s %s", patch.Method, patch.Target, patch.Body)
	}
}

func TestErrorsOfTheAPIAreTyped(t *testing.T) {
	var r *rig
	r = newRig(t, nil, func(ctx context.Context, q operator.Request) (operator.Result, error) {
		m := newConfigMap("m", "k", "v")
		if err := r.c.Create(ctx, m); err != nil {
			t.Errorf("create: %v", err)
		}
		uid := operator.UIDOf(m)
		if err := r.c.Create(ctx, newConfigMap("m", "k", "v")); !operator.IsAlreadyExists(err) {
			t.Errorf("a second create: %v", err)
		}
		m.ResourceVersion = "1"
		if err := r.c.Update(ctx, m); !operator.IsConflict(err) {
			t.Errorf("an update of an old version: %v", err)
		}
		if err := r.c.Delete(ctx, m, operator.Preconditions("other", "")); !operator.IsConflict(err) {
			t.Errorf("a delete of another uid: %v", err)
		}
		if err := r.c.Delete(ctx, m, operator.Preconditions(uid, "")); err != nil {
			t.Errorf("delete: %v", err)
		}
		if err := r.c.Delete(ctx, m); !operator.IsNotFound(err) {
			t.Errorf("a second delete: %v", err)
		}
		err := r.c.Create(ctx, newConfigMap("limited", "k", "v"))
		var s *operator.StatusError
		if !operator.IsTooManyRequests(err) || !errors.As(err, &s) || s.Code != 429 {
			t.Errorf("limited: %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := r.c.Create(ended, newConfigMap("n", "k", "v")); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		return operator.Result{}, nil
	})
	n := 0
	r.Refuse = func(method, target string) (int, string, string) {
		if method == "POST" {
			if n++; n == 3 {
				return 429, "TooManyRequests", "slow down"
			}
		}
		return 0, "", ""
	}
	r.Create(newGreeting("g", ""))
	r.Settle()
}

func TestUnstructuredObjectsKeepWhatTheyAre(t *testing.T) {
	var r *rig
	r = newRig(t, func(op *operator.Operator) {
		op.Controller("c").For(operator.NewUnstructured("example.dev/v1", "Greeting")).
			Complete(operator.ReconcileFunc(func(ctx context.Context, q operator.Request) (operator.Result, error) {
				u := operator.NewUnstructured("example.dev/v1", "Greeting")
				if err := r.c.Get(ctx, q.NamespacedName, u); err != nil {
					return operator.Result{}, err
				}
				u.SetField("changed", "spec", "text")
				operator.AddFinalizer(u, "example.dev/f")
				return operator.Result{}, r.c.Update(ctx, u)
			}))
	}, nil)
	g := operator.NewUnstructured("example.dev/v1", "Greeting")
	g.SetNamespace("a")
	g.SetName("g")
	g.SetField(int64(9007199254740993), "spec", "large")
	r.Create(g)
	r.Settle()
	r.Get(g)
	if g.Text("spec", "text") != "changed" || fmt.Sprint(g.Field("spec", "large")) != "9007199254740993" ||
		!operator.HasFinalizer(g, "example.dev/f") || g.GetGeneration() != 2 {
		t.Fatalf("%v", g.Object)
	}
	r.Delete(g)
	if !r.Get(g) || !operator.IsBeingDeleted(g) {
		t.Fatalf("it does not wait for its finalizer: %v", g.Object)
	}
}

func TestConfigurationMetricsAndLog(t *testing.T) {
	var r *rig
	var config operator.Configuration
	var issued operator.Counter
	var open operator.Gauge
	told := 0
	r = newRig(t, func(op *operator.Operator) {
		issued = op.Counter("issued_total", "How many.", "kind")
		open = op.Gauge("open", "How many now.")
		config = op.Config("settings", operator.ConfigOptions{ConfigMap: "settings", Optional: true,
			OnChange: func(context.Context) error { told++; return nil }})
		op.Controller("greetings").For(&greeting{}).
			Complete(operator.ReconcileFunc(func(ctx context.Context, q operator.Request) (operator.Result, error) {
				d, err := config.Data(ctx)
				if q.Name == "before" {
					if !operator.IsNotFound(err) {
						t.Errorf("optional configuration that is not there: %v", err)
					}
					return operator.Result{}, nil
				}
				if err != nil || d.Text["k"] != "v" {
					t.Errorf("configuration: %v, %v", d, err)
				}
				issued.Inc("x")
				issued.Add(2, "x")
				open.Set(7)
				slog.With("a", 1).WithGroup("g").Warn("careful", "b", errors.New("e"), "c", time.Second)
				return operator.Result{}, op.Enqueue(ctx, "greetings", operator.NamespacedName{Namespace: "a", Name: "other"},
					operator.After(time.Minute))
			}))
	}, nil)
	r.Create(newGreeting("before", ""))
	r.Settle()
	m := newConfigMap("settings", "k", "v")
	m.Namespace = "default"
	r.Create(m)
	r.Settle()
	if told != 1 {
		t.Fatalf("told of changed configuration %d times", told)
	}
	r.Create(newGreeting("after", ""))
	r.Settle()
	if r.Metric("issued_total", "x") != 3 || r.Metric("open") != 7 {
		t.Fatalf("metrics: %v, %v", r.Metric("issued_total", "x"), r.Metric("open"))
	}
	line := r.Logs[len(r.Logs)-1]
	if line.Level != "warning" || line.Text != "careful" || string(line.KeyValues) != `{"a":1,"g.b":"e","g.c":"1s"}` {
		t.Fatalf("log: %+v %s", line, line.KeyValues)
	}
	if due, ok := r.NextWake(); !ok || !due.Equal(r.Now().Add(time.Minute)) {
		t.Fatalf("enqueued for %v", due)
	}
}

func TestMistakesInADeclarationAreAllReported(t *testing.T) {
	op := operator.New("x", operator.Options{})
	op.Controller("a").For(&greeting{}, operator.WithID("w")).Owns(&configMap{}, operator.WithID("w")).Complete(nil)
	op.Controller("b").Complete(nil)
	op.Config("c", operator.ConfigOptions{})
	op.Controller("d").For(&greeting{}).
		Watches(&configMap{}, operator.ToField(".data.name"), operator.MetadataOnly(), operator.WithID("heads")).Complete(nil)
	err := operatortest.New(t).TryStart(op)
	for _, want := range []string{`two watches are called "w"`, `controller "b" has no For`, `one of ConfigMap and Secret`,
		`watch "heads": mapping: there is no .data.name, only metadata`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %s", err, want)
		}
	}
	op = operator.New("x", operator.Options{})
	op.Controller("a").For(&greeting{}, operator.WithLabels("a in (b")).Complete(nil)
	if err = operatortest.New(t).TryStart(op); err == nil || !strings.Contains(err.Error(), "declare: invalid") {
		t.Errorf("a bad selector: %v", err)
	}
}

func TestAFloodIsLeftOutInsteadOfBreakingARule(t *testing.T) {
	var r *rig
	var count operator.Counter
	refused := 0
	r = newRig(t, func(op *operator.Operator) {
		count = op.Counter("n_total", "")
		op.Controller("greetings").For(&greeting{}).
			Complete(operator.ReconcileFunc(func(ctx context.Context, q operator.Request) (operator.Result, error) {
				g := newGreeting(q.Name, "")
				for i := range 500 {
					count.Inc()
					r.op.Event(g, operator.Normal, "Flood", "x")
					key := operator.NamespacedName{Namespace: "a", Name: fmt.Sprint(i)}
					if err := r.op.Enqueue(ctx, "greetings", key, operator.After(time.Hour)); err != nil {
						refused++
					}
					slog.Info("flood")
				}
				return operator.Result{}, nil
			}))
	}, nil)
	r.Create(newGreeting("g", ""))
	r.Settle()
	if len(r.Events) < 200 || refused < 200 || r.Metric("n_total") < 200 {
		t.Fatalf("%d events, %v counted, %d keys refused", len(r.Events), r.Metric("n_total"), refused)
	}
	warned := 0
	for _, line := range r.Logs {
		if line.Level == "warning" {
			warned++
		}
	}
	if warned != 1 || len(r.Logs) != 256 {
		t.Fatalf("%d warnings in %d lines", warned, len(r.Logs))
	}
}
