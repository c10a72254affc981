// SPDX-License-Identifier: Apache-2.0

package wasmtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse.dev/sdk/go/operator"
	"dormouse.dev/sdk/go/operatortest"
	"dormouse.dev/sdk/go/wasmtest"
)

var module *wasmtest.Module

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "wasmtest")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "guest.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, ".")
	build.Dir = "testdata/guest"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the guest: %v\n%s", err, out)
		os.Exit(1)
	}
	if module, err = wasmtest.Load(context.Background(), path); err != nil {
		panic(err)
	}
	status := m.Run()
	module.Close(context.Background())
	os.RemoveAll(dir)
	os.Exit(status)
}

type rig struct {
	*operatortest.Env
	guest *wasmtest.Guest
}

func newRig(t *testing.T) *rig {
	env := operatortest.New(t)
	guest := module.Guest(env.Now, nil)
	env.Start(guest)
	return &rig{env, guest}
}

func task(name, what string) *operator.Unstructured {
	m := operator.NewUnstructured("v1", "ConfigMap")
	m.SetNamespace("a")
	m.SetName(name)
	m.SetLabels(map[string]string{"guest": "1"})
	m.SetField(what, "data", "do")
	return m
}

// do lets the guest do one thing, and gives the activation and the last line it has logged.
func (r *rig) do(what string) (operatortest.Activation, string) {
	r.Create(task(strings.ToLower(what), what))
	r.Reconcile("c", "a", strings.ToLower(what), "create")
	line := ""
	if n := len(r.Logs); n > 0 {
		line = r.Logs[n-1].Text + " " + string(r.Logs[n-1].KeyValues)
	}
	return r.Activations[len(r.Activations)-1], line
}

func TestAGuestDeclaresReadsAndWrites(t *testing.T) {
	r := newRig(t)
	r.Create(task("m", "create"))
	r.Settle()
	child := operator.NewUnstructured("v1", "ConfigMap")
	child.SetNamespace("a")
	child.SetName("m-child")
	if !r.Get(child) || child.Text("data", "time") != "2030-01-01T00:00:00Z" || !r.HasEvent("Created", "a", "m") {
		t.Fatalf("%v, %v", child.Object, r.Events)
	}
	if a := r.Activations[0]; a.Returned != 60000 {
		t.Fatalf("it returned %d", a.Returned)
	}
	r.Advance(2 * time.Minute)
	if r.Metric("done_total", "create") != 3 {
		t.Fatalf("done %v times", r.Metric("done_total", "create"))
	}
	if line := r.Logs[len(r.Logs)-1]; string(line.KeyValues) != `{"what":"create","calls":3}` {
		t.Fatalf("the guest does not remember: %s", line.KeyValues)
	}
}

func TestResultsOfActivations(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		what     string
		returned int64
		failure  string
	}{
		{"nothing", 0, ""},
		{"fail", -1, "as asked"},
		{"terminal", -2, "terminal error: as asked"},
		{"panic", -1, "panic: runtime error: invalid memory address or nil pointer dereference"},
		{"nothing-known", -2, `terminal error: what is "nothing-known"?`},
		{"large", 0, ""},
	} {
		if a, _ := r.do(c.what); a.Returned != c.returned || a.Failure != c.failure {
			t.Errorf("%s: %d %q, expected %d %q", c.what, a.Returned, a.Failure, c.returned, c.failure)
		}
	}
	if r.guest.Trap != nil {
		t.Error(r.guest.Trap)
	}
}

func TestWaitingInAGuestTakesNoTime(t *testing.T) {
	r := newRig(t)
	begin := time.Now()
	if _, line := r.do("sleep"); line != `slept {"monotonic":"1h0m0s","wall":0}` {
		t.Errorf("%s", line)
	}
	if _, line := r.do("goroutines"); line != `goroutines {"order":"2,1,0"}` {
		t.Errorf("%s", line)
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestAGoroutineThatIsLeftStandsStill(t *testing.T) {
	r := newRig(t)
	r.do("leave")
	r.do("nothing")
	if _, line := r.do("collect"); line != `collected {"calls":3}` {
		t.Errorf("%s", line)
	}
}

func TestConfiguration(t *testing.T) {
	r := newRig(t)
	if _, line := r.do("config"); line != `config {"text":"","missing":true}` {
		t.Errorf("%s", line)
	}
	m := operator.NewUnstructured("v1", "ConfigMap")
	m.SetNamespace("default")
	m.SetName("settings")
	m.SetField("v", "data", "k")
	r.Create(m)
	r.Reconcile("c", "a", "config", "config")
	if line := r.Logs[len(r.Logs)-1]; string(line.KeyValues) != `{"text":"v","missing":false}` {
		t.Errorf("%s", line.KeyValues)
	}
}

func TestConsistentReadsPreconditionsAndKeys(t *testing.T) {
	r := newRig(t)
	if _, line := r.do("consistent"); line != `consistent {"wrong":true,"right":true}` {
		t.Errorf("%s", line)
	}
	if a, line := r.do("enqueue"); a.Returned != 0 {
		t.Errorf("%d %s", a.Returned, line)
	}
	r.Advance(time.Second)
	if line := r.Logs[len(r.Logs)-1]; string(line.KeyValues) != `{"key":"a/nobody","reasons":"enqueue"}` {
		t.Errorf("%s", line.KeyValues)
	}
}

func TestADeadlockAndAnExitAreTraps(t *testing.T) {
	for what, text := range map[string]string{"deadlock": "all goroutines are asleep - deadlock!", "exit": "exit_code(3)"} {
		r := newRig(t)
		if a, _ := r.do(what); a.Returned != -1 || r.guest.Trap == nil || !strings.Contains(r.guest.Trap.Error(), text) {
			t.Errorf("%s: %d, %v", what, a.Returned, r.guest.Trap)
		}
	}
}

func TestAFailedStartSaysWhy(t *testing.T) {
	for bad, text := range map[string]string{
		"panic": "main: panic: as asked",
		"norun": "main returned without having called Run",
		"nofor": `controller "c" has no For`,
	} {
		env := operatortest.New(t)
		err := env.TryStart(module.Guest(env.Now, map[string]string{"BAD": bad}))
		if err == nil || !strings.Contains(env.Failure(), text) {
			t.Errorf("%s: %v, %q", bad, err, env.Failure())
		}
	}
}

// Which pages of the memory an activation changes is what falling asleep costs.
func TestAnActivationChangesFewPages(t *testing.T) {
	r := newRig(t)
	r.Create(task("m", "create"))
	r.Settle()
	sum := 0
	const n = 100
	for range n {
		before := r.guest.Memory()
		r.Reconcile("c", "a", "m", "update")
		sum += pagesThatDiffer(before, r.guest.Memory())
	}
	t.Logf("%d pages of %d KiB change in an activation", sum/n, r.guest.MemoryBytes()>>10)
	if sum/n > 64 || r.guest.MemoryBytes() > 8<<20 {
		t.Errorf("%d pages change in an activation, of %d bytes", sum/n, r.guest.MemoryBytes())
	}
}

func pagesThatDiffer(a, b []byte) (n int) {
	const page = 4096
	for i := 0; i < len(a); i += page {
		old := string(make([]byte, page))
		if i < len(b) {
			old = string(b[i : i+page])
		}
		if string(a[i:i+page]) != old {
			n++
		}
	}
	return n
}
