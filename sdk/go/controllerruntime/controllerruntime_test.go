// SPDX-License-Identifier: Apache-2.0

package controllerruntime_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dormouse.dev/sdk/go/controllerruntime/internal/trial"
	"dormouse.dev/sdk/go/operatortest"
	"dormouse.dev/sdk/go/wasmtest"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Labels: map[string]string{"team": "x"}}}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
}

func tryOut(t *testing.T, env *operatortest.Env) {
	env.Create(deployment("web"))
	env.Settle()
	for _, a := range env.Activations {
		if a.Returned != 0 {
			t.Fatalf("an activation returned %d: %s", a.Returned, a.Failure)
		}
	}
	d, m := deployment("web"), configMap("web")
	if !env.Get(m) || m.Data["replicas"] != "3" || len(m.OwnerReferences) != 1 || m.OwnerReferences[0].UID == "" {
		t.Errorf("ConfigMap: %+v", m)
	}
	if !env.Get(d) || len(d.Finalizers) != 1 || d.Status.ObservedGeneration == 0 {
		t.Errorf("Deployment: %+v", d)
	}
	if !env.HasEvent("Described", "a", "web") {
		t.Errorf("events: %+v", env.Events)
	}
	logged := false
	for _, l := range env.Logs {
		logged = logged || l.Text == "described" && strings.Contains(string(l.KeyValues), `"with":"web"`)
	}
	if !logged {
		t.Errorf("log: %+v", env.Logs)
	}
	env.Delete(d)
	env.Settle()
	if env.Get(d) || env.Get(m) {
		t.Error("something is left after the deletion")
	}
}

func TestAReconcilerOfControllerRuntime(t *testing.T) {
	env := operatortest.New(t)
	env.Start(trial.New(nil))
	tryOut(t, env)
}

func TestItsResults(t *testing.T) {
	var result reconcile.Result
	var failure error
	env := operatortest.New(t)
	env.Start(trial.New(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return result, failure
	})))
	for _, c := range []struct {
		result   reconcile.Result
		failure  error
		returned int64
	}{
		{reconcile.Result{}, nil, 0},
		{reconcile.Result{RequeueAfter: 5000000}, nil, 5},
		{reconcile.Result{Requeue: true}, nil, -1}, //nolint:staticcheck // code in use has it
		{reconcile.Result{}, errors.New("no"), -1},
		{reconcile.Result{}, reconcile.TerminalError(errors.New("never")), -2},
	} {
		result, failure = c.result, c.failure
		if n, text := env.Reconcile("deployments", "a", "x"); n != c.returned {
			t.Errorf("%+v: %d %s", c, n, text)
		}
	}
}

// Compiling controller-runtime and client-go to Wasm and that to machine code takes minutes.
func TestItWorksInAGuest(t *testing.T) {
	if os.Getenv("DORMOUSE_SLOW_TESTS") == "" {
		t.Skip("DORMOUSE_SLOW_TESTS=1 runs it")
	}
	path := filepath.Join(t.TempDir(), "guest.wasm")
	if out, err := exec.Command("../build", "internal/guest", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module, err := wasmtest.Load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	env := operatortest.New(t)
	trial.New(nil) // the test's types are those of the guest
	env.Start(module.Guest(env.Now, nil))
	tryOut(t, env)
}
