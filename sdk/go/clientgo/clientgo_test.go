// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dormouse.dev/sdk/go/clientgo"
	"dormouse.dev/sdk/go/clientgo/internal/trial"
	"dormouse.dev/sdk/go/operator"
	"dormouse.dev/sdk/go/operatortest"
	"dormouse.dev/sdk/go/wasmtest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// tryOut lets the trial operator do its work on this host.
func tryOut(t *testing.T, env *operatortest.Env, guest operatortest.Guest) {
	clientgo.RegisterScheme(scheme.Scheme)
	env.Start(guest)
	meta := metav1.ObjectMeta{Namespace: "a", Name: "m", Labels: map[string]string{"guest": "1"}}
	env.Create(&corev1.ConfigMap{ObjectMeta: meta})
	env.Settle()
	for _, a := range env.Activations {
		if a.Returned != 0 {
			t.Fatalf("an activation returned %d: %s", a.Returned, a.Failure)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "m"}}
	if !env.Get(secret) || secret.Labels["tried"] != "yes" || string(secret.Data["k"]) != "v" ||
		len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].Kind != "ConfigMap" {
		t.Errorf("secret: %+v", secret)
	}
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "m-copy"}}
	if !env.Get(copied) || copied.Data["count"] != "1" || copied.Data["patched"] != "yes" {
		t.Errorf("copy: %+v", copied)
	}
	line := env.Logs[len(env.Logs)-1]
	if line.Text != "a watch is refused" || !strings.Contains(string(line.KeyValues), "declare a watch") {
		t.Errorf("log: %+v", line)
	}
}

func TestTypedAndDynamicClientsWork(t *testing.T) {
	tryOut(t, operatortest.New(t), trial.New())
}

// Compiling all kinds of client-go's typed clients to Wasm and that to machine code takes two minutes.
func TestTheyWorkInAGuest(t *testing.T) {
	if os.Getenv("DORMOUSE_SLOW_TESTS") == "" {
		t.Skip("DORMOUSE_SLOW_TESTS=1 runs it")
	}
	path := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.Command("../build", "internal/guest", path)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module, err := wasmtest.Load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	env := operatortest.New(t)
	tryOut(t, env, module.Guest(env.Now, nil))
}

func TestTypesThatTheSchemeDoesNotKnow(t *testing.T) {
	clientgo.RegisterScheme(runtime.NewScheme())
	if k, err := operator.KindOf(&metav1.PartialObjectMetadata{}); err == nil {
		t.Errorf("%v", k)
	}
}
