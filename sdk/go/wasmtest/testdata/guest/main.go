// SPDX-License-Identifier: Apache-2.0

// The guest of the tests: what a ConfigMap's key "do" says is done.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operator"
)

type configMap struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var (
	op     *operator.Operator
	client *operator.Client
	count  operator.Counter
	config operator.Configuration
	calls  int // in memory
	late   = make(chan int, 1)
)

func main() {
	operator.RegisterKind(&configMap{}, operator.Kind{APIVersion: "v1", Kind: "ConfigMap"})
	op = operator.New("guest", operator.Options{Version: "1", Stateless: os.Getenv("STATELESS") != ""})
	client = op.Client()
	if os.Getenv("BAD") == "panic" {
		panic("as asked")
	}
	if os.Getenv("BAD") == "norun" {
		return
	}
	count = op.Counter("done_total", "What was done.", "what")
	config = op.Config("settings", operator.ConfigOptions{ConfigMap: "settings", Optional: true})
	b := op.Controller("c")
	if os.Getenv("BAD") != "nofor" {
		b.For(&configMap{}, operator.WithLabels("guest"), operator.IndexField("byWord", ".data.word"))
	}
	b.Complete(operator.ReconcileFunc(reconcile))
	op.Run()
}

func reconcile(ctx context.Context, q operator.Request) (operator.Result, error) {
	calls++
	var m configMap
	if err := client.Get(ctx, q.NamespacedName, &m); err != nil {
		slog.Info("gone", "key", q.String(), "reasons", q.Reasons)
		return operator.Result{}, operator.IgnoreNotFound(err)
	}
	count.Inc(m.Data["do"])
	slog.Info("doing", "what", m.Data["do"], "calls", calls)
	switch what := m.Data["do"]; what {
	case "nothing":
	case "create":
		child := &configMap{Data: map[string]string{"time": time.Now().UTC().Format(time.RFC3339)}}
		child.Namespace, child.Name = q.Namespace, q.Name+"-child"
		if err := operator.SetControllerReference(&m, child); err != nil {
			return operator.Result{}, err
		}
		op.Event(&m, operator.Normal, "Created", "a child")
		return operator.Result{RequeueAfter: time.Minute}, operator.IgnoreAlreadyExists(client.Create(ctx, child))
	case "fail":
		return operator.Result{}, errors.New("as asked")
	case "terminal":
		return operator.Result{}, operator.TerminalError(errors.New("as asked"))
	case "panic":
		var nobody *configMap
		nobody.Name = "x"
	case "sleep":
		begin, wall := time.Now(), time.Now().Unix()
		deadline, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		<-deadline.Done()
		slog.Info("slept", "monotonic", time.Since(begin).Round(time.Minute), "wall", time.Now().Unix()-wall)
	case "goroutines":
		words := make(chan string)
		for i := range 3 {
			operator.Go(ctx, func() {
				time.Sleep(time.Duration(3-i) * time.Second)
				words <- fmt.Sprint(i)
			})
		}
		var got []string
		for range 3 {
			got = append(got, <-words)
		}
		slog.Info("goroutines", "order", strings.Join(got, ","))
	case "leave": // a goroutine that outlives the activation stands still
		go func() {
			time.Sleep(time.Second)
			late <- calls
		}()
	case "collect":
		select {
		case n := <-late:
			slog.Info("collected", "calls", n)
		case <-time.After(2 * time.Second):
			slog.Info("collected", "calls", <-late)
		}
	case "deadlock":
		<-make(chan int)
	case "exit":
		os.Exit(3)
	case "loop":
		var l operator.List[configMap]
		if err := client.List(ctx, &l, operator.FromWatch("c-ConfigMap"), operator.MatchingIndex("byWord", "w")); err != nil {
			return operator.Result{}, err
		}
		for range 20000 {
			l.Items = append([]configMap(nil), l.Items...)
		}
		slog.Info("items", "n", len(l.Items))
	case "config":
		d, err := config.Data(ctx)
		slog.Info("config", "text", d.Text["k"], "missing", operator.IsNotFound(err))
	case "apply": // what two managers want
		mine := &configMap{Data: map[string]string{"shared": "mine", "own": "1"}}
		mine.Namespace, mine.Name = q.Namespace, "applied"
		if err := client.Apply(ctx, mine, operator.FieldOwner("first")); err != nil {
			return operator.Result{}, err
		}
		theirs := &configMap{Data: map[string]string{"shared": "theirs"}}
		theirs.Namespace, theirs.Name = q.Namespace, "applied"
		refused := client.Apply(ctx, operator.CopyOf(theirs), operator.FieldOwner("second"))
		if err := client.Apply(ctx, theirs, operator.FieldOwner("second"), operator.ForceOwnership()); err != nil {
			return operator.Result{}, err
		}
		slog.Info("applied", "conflict", operator.IsConflict(refused), "shared", theirs.Data["shared"], "own", theirs.Data["own"])
	case "consistent": // an own write is seen by a consistent read
		fresh := &configMap{}
		fresh.Namespace, fresh.Name, fresh.Labels = q.Namespace, "fresh", map[string]string{"guest": "1"}
		fresh.Data = map[string]string{"do": "nothing", "word": "fresh"}
		if err := client.Create(ctx, fresh); err != nil {
			return operator.Result{}, operator.IgnoreAlreadyExists(err)
		}
		var l operator.List[configMap]
		err := client.List(ctx, &l, operator.FromWatch("c-ConfigMap"), operator.MatchingIndex("byWord", "fresh"), operator.Consistent())
		if err != nil || len(l.Items) != 1 {
			return operator.Result{}, operator.TerminalError(fmt.Errorf("%d items: %w", len(l.Items), err))
		}
		wrong := client.Delete(ctx, fresh, operator.Preconditions("00000000-0000-4000-8000-999999999999", ""))
		right := client.Delete(ctx, fresh, operator.Preconditions(fresh.UID, ""))
		slog.Info("consistent", "wrong", operator.IsConflict(wrong), "right", right == nil)
	case "enqueue":
		key := operator.NamespacedName{Namespace: q.Namespace, Name: "nobody"}
		return operator.Result{}, op.Enqueue(ctx, "c", key, operator.After(time.Millisecond), operator.WithPriority(operator.HighPriority))
	case "large":
		_ = make([]byte, 1<<20)
		m.Data["large"] = strings.Repeat("x", 100000)
		return operator.Result{}, client.Update(ctx, &m)
	default:
		return operator.Result{}, operator.TerminalError(fmt.Errorf("what is %q?", what))
	}
	return operator.Result{}, nil
}
