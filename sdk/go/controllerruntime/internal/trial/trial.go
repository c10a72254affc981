// SPDX-License-Identifier: Apache-2.0

// Package trial is the operator of the tests: a reconciler as people have it for controller-runtime.
package trial

import (
	"context"
	"fmt"

	"dormouse.dev/sdk/go/controllerruntime"
	"dormouse.dev/sdk/go/operator"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "example.dev/described"

// New declares the operator; r replaces its reconciler.
func New(r reconcile.Reconciler) *operator.Operator {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	op := operator.New("describer", operator.Options{})
	c, err := controllerruntime.NewClient(op, scheme)
	if err != nil {
		panic(err)
	}
	if r == nil {
		r = &Describer{Client: c, Scheme: scheme, Recorder: controllerruntime.EventRecorderFor(op)}
	}
	return op.Controller("deployments").
		For(&appsv1.Deployment{}, operator.IndexLabel("team", "team")).
		Owns(&corev1.ConfigMap{}).
		Complete(controllerruntime.Reconciler(r))
}

// Describer writes about each Deployment into a ConfigMap.
type Describer struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder record.EventRecorder
}

func (r *Describer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	logger := log.FromContext(ctx)
	d := &appsv1.Deployment{}
	if err := r.Get(ctx, request.NamespacedName, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	if !d.DeletionTimestamp.IsZero() {
		if err := r.Delete(ctx, m); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
		if controllerutil.RemoveFinalizer(d, finalizer) {
			return reconcile.Result{}, r.Update(ctx, d)
		}
		return reconcile.Result{}, nil
	}
	if controllerutil.AddFinalizer(d, finalizer) {
		if err := r.Update(ctx, d); err != nil {
			return reconcile.Result{}, err
		}
	}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, m, func() error {
		m.Data = map[string]string{"replicas": "3"}
		return controllerutil.SetControllerReference(d, m, r.Scheme)
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	if result != controllerutil.OperationResultNone {
		r.Recorder.Eventf(d, corev1.EventTypeNormal, "Described", "%s was %s", m.Name, result)
		logger.Info("described", "with", m.Name)
	}
	if err := r.lookAround(ctx, d); err != nil {
		return reconcile.Result{}, err
	}
	if d.Status.ObservedGeneration != d.Generation {
		d.Status.ObservedGeneration = d.Generation
		return reconcile.Result{}, r.Status().Update(ctx, d)
	}
	return reconcile.Result{}, nil
}

// lookAround reads in all the ways that a client has.
func (r *Describer) lookAround(ctx context.Context, d *appsv1.Deployment) error {
	var list appsv1.DeploymentList
	for _, options := range [][]client.ListOption{
		{client.InNamespace(d.Namespace)},
		{client.MatchingLabels{"team": "x"}},
		{client.MatchingFields{"team": "x"}},
		{client.InNamespace(d.Namespace), client.Limit(1)},
	} {
		if err := r.List(ctx, &list, options...); err != nil || len(list.Items) != 1 || list.ResourceVersion == "" {
			return fmt.Errorf("list with %v: %d items, %w", options, len(list.Items), err)
		}
	}
	u := &unstructured.UnstructuredList{}
	u.SetAPIVersion("apps/v1")
	u.SetKind("DeploymentList")
	if err := r.List(ctx, u); err != nil || len(u.Items) != 1 || u.Items[0].GetName() != d.Name {
		return fmt.Errorf("unstructured list: %d items, %w", len(u.Items), err)
	}
	heads := &metav1.PartialObjectMetadataList{}
	heads.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	if err := r.List(ctx, heads); err != nil || len(heads.Items) != 1 || heads.Items[0].Labels["team"] != "x" {
		return fmt.Errorf("list of metadata: %d items, %w", len(heads.Items), err)
	}
	err := r.Get(ctx, client.ObjectKey{Namespace: "a", Name: "nobody"}, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("get of nobody from the API: %w", err)
	}
	if err = r.Get(ctx, client.ObjectKey{Namespace: "a", Name: "nobody"}, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get of nobody from the cache: %w", err)
	}
	return nil
}
