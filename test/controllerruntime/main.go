// SPDX-License-Identifier: Apache-2.0

// A controller-runtime manager against the API server. It installs a definition and reconciles its objects: each
// Burrow owns a ConfigMap per room, gets a finalizer, and its status says how many rooms there are. The program then
// plays the user: makes a Burrow, changes it, deletes a ConfigMap behind the controller's back, deletes the Burrow.
// Prints a line for each thing that came true and ends with status 1 at the first that did not in time.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	namespace = "default"
	finalizer = "zoo.example.com/fill-in"
)

var gvk = schema.GroupVersionKind{Group: "zoo.example.com", Version: "v1", Kind: "Burrow"}

type BurrowSpec struct {
	Rooms []string `json:"rooms,omitempty"`
}

type BurrowStatus struct {
	Rooms      int                `json:"rooms"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Burrow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BurrowSpec   `json:"spec,omitempty"`
	Status            BurrowStatus `json:"status,omitempty"`
}

type BurrowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Burrow `json:"items"`
}

func (b *Burrow) DeepCopyObject() runtime.Object {
	out := *b
	out.ObjectMeta = *b.ObjectMeta.DeepCopy()
	out.Spec.Rooms = append([]string(nil), b.Spec.Rooms...)
	out.Status.Conditions = append([]metav1.Condition(nil), b.Status.Conditions...)
	return &out
}

func (l *BurrowList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Burrow))
	}
	return &out
}

func check(what string, err error) {
	if err != nil {
		fmt.Printf("failed: %s: %v\n", what, err)
		os.Exit(1)
	}
	fmt.Println("ok:", what)
}

// eventually waits until `cond` holds.
func eventually(ctx context.Context, what string, cond func(context.Context) (bool, error)) {
	check(what, wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, cond))
}

type reconciler struct {
	client.Client
	scheme *runtime.Scheme
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var b Burrow
	if err := r.Get(ctx, req.NamespacedName, &b); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !b.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&b, finalizer) {
			return ctrl.Result{}, r.Update(ctx, &b)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&b, finalizer) {
		if err := r.Update(ctx, &b); err != nil {
			return ctrl.Result{}, err
		}
	}
	for _, room := range b.Spec.Rooms {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: b.Name + "-" + room, Namespace: b.Namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, cm, func() error {
			cm.Data = map[string]string{"burrow": b.Name, "room": room}
			return controllerutil.SetControllerReference(&b, cm, r.scheme)
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	before := b.DeepCopyObject().(*Burrow)
	b.Status.Rooms = len(b.Spec.Rooms)
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: "Dug", Status: metav1.ConditionTrue, Reason: "Done", ObservedGeneration: b.Generation})
	return ctrl.Result{}, r.Status().Patch(ctx, &b, client.MergeFrom(before))
}

func definition() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "burrows." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "burrows", Kind: gvk.Kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
			}},
		},
	}
}

func install(ctx context.Context, c client.Client) {
	crd := definition()
	check("create the definition", client.IgnoreAlreadyExists(c.Create(ctx, crd)))
	eventually(ctx, "the definition is established", func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			return false, err
		}
		for _, cond := range crd.Status.Conditions {
			if cond.Type == apiextensionsv1.Established && cond.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}

func startManager(ctx context.Context, scheme *runtime.Scheme, kubeconfig string) ctrl.Manager {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	check("read kubeconfig", err)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElection: true, LeaderElectionID: "burrows", LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true,
	})
	check("new manager", err)
	check("new controller", ctrl.NewControllerManagedBy(mgr).For(&Burrow{}).Owns(&corev1.ConfigMap{}).
		Complete(&reconciler{mgr.GetClient(), scheme}))
	return mgr
}

// play is the user; `c` reads from the server, not from the manager's cache.
func play(ctx context.Context, c client.Client) {
	b := &Burrow{ObjectMeta: metav1.ObjectMeta{Name: "home", Namespace: namespace}, Spec: BurrowSpec{Rooms: []string{"nest", "store"}}}
	check("create a burrow", c.Create(ctx, b))
	key := client.ObjectKeyFromObject(b)
	rooms := func(n int) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, key, b)
			return err == nil && b.Status.Rooms == n && meta.IsStatusConditionTrue(b.Status.Conditions, "Dug"), err
		}
	}
	eventually(ctx, "status says two rooms", rooms(2))
	if !controllerutil.ContainsFinalizer(b, finalizer) {
		check("finalizer", fmt.Errorf("is not there"))
	}
	var maps corev1.ConfigMapList
	check("list", c.List(ctx, &maps, client.InNamespace(namespace)))
	owned := 0
	for i := range maps.Items {
		if metav1.IsControlledBy(&maps.Items[i], b) {
			owned++
		}
	}
	if owned != 2 {
		check("owned ConfigMaps", fmt.Errorf("%d of 2", owned))
	}
	patched := b.DeepCopyObject().(*Burrow)
	patched.Spec.Rooms = append(patched.Spec.Rooms, "attic")
	check("patch", c.Patch(ctx, patched, client.MergeFromWithOptions(b, client.MergeFromWithOptimisticLock{})))
	eventually(ctx, "status says three rooms", rooms(3))
	if b.Generation != 2 {
		check("generation", fmt.Errorf("is %d", b.Generation))
	}
	lost := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "home-nest", Namespace: namespace}}
	check("get an owned ConfigMap", c.Get(ctx, client.ObjectKeyFromObject(lost), lost))
	uid := lost.UID
	check("delete it", c.Delete(ctx, lost))
	eventually(ctx, "it comes back", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(lost), lost)
		return err == nil && lost.UID != uid, client.IgnoreNotFound(err)
	})
	check("delete the burrow", c.Delete(ctx, b, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	eventually(ctx, "the finalizer lets it go", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, key, b)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if len(os.Args) > 2 && os.Args[2] == "--no-garbage-collection" {
		return
	}
	eventually(ctx, "its ConfigMaps are collected", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(lost), lost)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

func main() {
	ctrl.SetLogger(zap.New())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	scheme := runtime.NewScheme()
	check("schemes", clientgoscheme.AddToScheme(scheme))
	check("schemes", apiextensionsv1.AddToScheme(scheme))
	scheme.AddKnownTypeWithName(gvk, &Burrow{})
	scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind("BurrowList"), &BurrowList{})
	metav1.AddToGroupVersion(scheme, gvk.GroupVersion())

	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check("read kubeconfig", err)
	c, err := client.New(config, client.Options{Scheme: scheme})
	check("client", err)
	install(ctx, c)
	mgr := startManager(ctx, scheme, os.Args[1])
	stopped := make(chan error, 1)
	inner, stop := context.WithCancel(ctx)
	go func() { stopped <- mgr.Start(inner) }()
	select {
	case <-mgr.Elected():
		fmt.Println("ok: elected")
	case err := <-stopped:
		check("manager", err)
	case <-ctx.Done():
		check("election", ctx.Err())
	}
	play(ctx, c)
	stop()
	check("the manager stops", <-stopped)
}
