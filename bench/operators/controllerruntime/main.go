// SPDX-License-Identifier: Apache-2.0

// The ring operator (guests/ring) as somebody would write it with controller-runtime today: a typed
// resource, a manager whose cache holds its own namespace only, neither metrics nor probes. One
// process per operator is the baseline of ./dev bench operators.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// tools/make-distinct makes programs of this one that share no page with each other.
var nonce = "@@COMPILE_NONCE@@@@@"

type TestResourceSpec struct {
	Nonce     int64  `json:"nonce"`
	UpdatedAt string `json:"updated_at,omitempty"`
}

type TestResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TestResourceSpec `json:"spec"`
}

type TestResourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TestResource `json:"items"`
}

func (t *TestResource) DeepCopyObject() runtime.Object {
	c := &TestResource{TypeMeta: t.TypeMeta, Spec: t.Spec}
	t.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return c
}

func (l *TestResourceList) DeepCopyObject() runtime.Object {
	c := &TestResourceList{TypeMeta: l.TypeMeta, Items: make([]TestResource, len(l.Items))}
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*TestResource)
	}
	return c
}

type ring struct {
	client.Client
	live client.Reader
	out  string
}

// One hop: an event in, a GET and a PUT (or POST) out.
func (r *ring) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	in := &TestResource{}
	if err := r.Get(ctx, req.NamespacedName, in); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	out := &TestResource{}
	err := r.live.Get(ctx, client.ObjectKey{Namespace: r.out, Name: req.Name}, out)
	if apierrors.IsNotFound(err) {
		out.Namespace, out.Name = r.out, req.Name
		out.Spec = TestResourceSpec{Nonce: in.Spec.Nonce, UpdatedAt: now}
		return ctrl.Result{}, r.Create(ctx, out)
	}
	if err != nil || in.Spec.Nonce <= out.Spec.Nonce {
		return ctrl.Result{}, err
	}
	out.Spec = TestResourceSpec{Nonce: in.Spec.Nonce, UpdatedAt: now}
	return ctrl.Result{}, r.Update(ctx, out)
}

// The benchmark's way to make operators larger.
func hold(size string) []byte {
	n, _ := strconv.ParseInt(size, 10, 64)
	held := make([]byte, n)
	for i := 0; i < len(held); i += 256 {
		held[i] = byte(1 + i/256%255)
	}
	return held
}

func run() error {
	in, out := os.Getenv("IN_NAMESPACE"), os.Getenv("OUT_NAMESPACE")
	if in == "" || out == "" {
		return fmt.Errorf("IN_NAMESPACE and OUT_NAMESPACE must be set")
	}
	held := hold(os.Getenv("HEAP_MEM_SIZE"))
	scheme := runtime.NewScheme()
	gv := schema.GroupVersion{Group: "amurant.io", Version: "v1"}
	scheme.AddKnownTypes(gv, &TestResource{}, &TestResourceList{})
	metav1.AddToGroupVersion(scheme, gv)
	ctrl.SetLogger(zap.New())
	ctrl.Log.Info("starting", "nonce", nonce)
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // as fast as it can; client-side limits would be what is measured
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{in: {}}},
	})
	if err != nil {
		return err
	}
	r := &ring{Client: mgr.GetClient(), live: mgr.GetAPIReader(), out: out}
	if err := ctrl.NewControllerManagedBy(mgr).For(&TestResource{}).Complete(r); err != nil {
		return err
	}
	defer func() { _ = held[:0] }()
	return mgr.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
