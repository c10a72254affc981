// SPDX-License-Identifier: Apache-2.0

// Package trial is the operator of the tests: code as people have it for client-go, on its typed and its dynamic
// client.
package trial

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"dormouse.dev/sdk/go/clientgo"
	"dormouse.dev/sdk/go/operator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// New declares the operator.
func New() *operator.Operator {
	clientgo.RegisterScheme(scheme.Scheme)
	op := operator.New("guest", operator.Options{})
	config := clientgo.Config(op)
	r := &reconciler{
		cache:   op.Client(),
		typed:   typed.NewForConfigOrDie(config),
		dynamic: dynamic.NewForConfigOrDie(config),
	}
	return op.Controller("c").For(&corev1.ConfigMap{}, operator.WithLabels("guest")).Owns(&corev1.Secret{}).Complete(r)
}

type reconciler struct {
	cache   *operator.Client
	typed   typed.CoreV1Interface
	dynamic dynamic.Interface
}

func (r *reconciler) Reconcile(ctx context.Context, q operator.Request) (operator.Result, error) {
	m := &corev1.ConfigMap{}
	if err := r.cache.Get(ctx, q.NamespacedName, m); err != nil {
		return operator.Result{}, operator.IgnoreNotFound(err)
	}
	if err := r.useTyped(ctx, m); err != nil {
		return operator.Result{}, fmt.Errorf("typed: %w", err)
	}
	if err := r.useDynamic(ctx, m); err != nil {
		return operator.Result{}, fmt.Errorf("dynamic: %w", err)
	}
	if _, err := r.typed.ConfigMaps(m.Namespace).Watch(ctx, metav1.ListOptions{}); err == nil {
		return operator.Result{}, fmt.Errorf("a watch is possible")
	} else {
		slog.Info("a watch is refused", "err", err)
	}
	return operator.Result{}, nil
}

func (r *reconciler) useTyped(ctx context.Context, m *corev1.ConfigMap) error {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	secrets := r.typed.Secrets(m.Namespace)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}, StringData: map[string]string{"k": "v"}}
	if err := operator.SetControllerReference(m, s); err != nil {
		return err
	}
	if _, err := secrets.Create(limited, s, metav1.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		return err
	}
	if _, err := secrets.Get(ctx, "nobody", metav1.GetOptions{}); !errors.IsNotFound(err) {
		return fmt.Errorf("get of nobody: %v", err)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		s, err := secrets.Get(ctx, m.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s.Labels = map[string]string{"tried": "yes"}
		_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
		return err
	})
}

func (r *reconciler) useDynamic(ctx context.Context, m *corev1.ConfigMap) error {
	c := r.dynamic.Resource(configMaps).Namespace(m.Namespace)
	list, err := c.List(ctx, metav1.ListOptions{LabelSelector: "guest"})
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("v1")
	u.SetKind("ConfigMap")
	u.SetName(m.Name + "-copy")
	u.SetNamespace(m.Namespace)
	if err := unstructured.SetNestedField(u.Object, fmt.Sprint(len(list.Items)), "data", "count"); err != nil {
		return err
	}
	if _, err := c.Create(ctx, u, metav1.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		return err
	}
	_, err = c.Patch(ctx, u.GetName(), types.MergePatchType, []byte(`{"data":{"patched":"yes"}}`), metav1.PatchOptions{})
	return err
}
