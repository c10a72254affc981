// SPDX-License-Identifier: Apache-2.0

// A client-go program against the API server: typed clients in JSON and protobuf, informers with and without
// streaming lists, dynamic client, server-side apply, leader election, discovery. Prints one line for each thing that
// worked and ends with status 1 at the first that did not. Further words on the command line choose parts.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

func check(what string, err error) {
	if err != nil {
		fmt.Printf("failed: %s: %v\n", what, err)
		os.Exit(1)
	}
	fmt.Println("ok:", what)
}

func expect(what string, cond bool) {
	if !cond {
		check(what, fmt.Errorf("it is not so"))
	}
	fmt.Println("ok:", what)
}

// typed creates, reads, lists, updates on conflict and deletes through a typed client.
func typed(ctx context.Context, config *rest.Config, contentType string) {
	c := rest.CopyConfig(config)
	c.ContentType = contentType
	client, err := kubernetes.NewForConfig(c)
	check("client for "+contentType, err)
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "typed-", Labels: map[string]string{"app": "typed"}},
		Data:       map[string]string{"k": "1"},
		BinaryData: map[string][]byte{"b": {0, 1, 2}},
	}, metav1.CreateOptions{})
	check("create in "+contentType, err)
	stale := made.DeepCopy()
	made.Data["k"] = "2"
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	check("update", err)
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	expect("a stale update conflicts", apierrors.IsConflict(err))
	check("retry on conflict", retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := maps.Get(ctx, made.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Data["k"] = "3"
		_, err = maps.Update(ctx, now, metav1.UpdateOptions{})
		return err
	}))
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "app=typed", Limit: 1})
	check("list", err)
	expect("the list has what was written", len(list.Items) == 1 && list.Items[0].Data["k"] == "3" && list.Items[0].BinaryData["b"][2] == 2)
	check("delete", maps.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))}))
	_, err = maps.Get(ctx, made.Name, metav1.GetOptions{})
	expect("a deleted object is not found", apierrors.IsNotFound(err))
}

// informer follows a shared informer through an object's life, whichever way it makes its first list.
func informer(ctx context.Context, client kubernetes.Interface, streaming bool) {
	choose(streaming)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	label := fmt.Sprintf("informed-%v", streaming)
	name := label + "-"
	events := make(chan string, 100)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "app=" + label }))
	shared := factory.Core().V1().ConfigMaps().Informer()
	_, err := shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { events <- "add " + o.(*corev1.ConfigMap).Name },
		UpdateFunc: func(_, o any) { events <- "update " + o.(*corev1.ConfigMap).Name },
		DeleteFunc: func(o any) {
			if cm, is := o.(*corev1.ConfigMap); is {
				events <- "delete " + cm.Name
			}
		},
	})
	check("add a handler", err)
	maps := client.CoreV1().ConfigMaps(namespace)
	meta := func(s string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name + s, Labels: map[string]string{"app": label}}
	}
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("before")}, metav1.CreateOptions{})
	check("create before the informer", err)
	factory.Start(ctx.Done())
	expect(fmt.Sprintf("the informer syncs, streaming %v", streaming), cache.WaitForCacheSync(ctx.Done(), shared.HasSynced))
	cm, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("watched")}, metav1.CreateOptions{})
	check("create", err)
	cm.Data = map[string]string{"x": "y"}
	cm, err = maps.Update(ctx, cm, metav1.UpdateOptions{})
	check("update", err)
	cm.Labels = nil // leaves the selector: as good as gone
	_, err = maps.Update(ctx, cm, metav1.UpdateOptions{})
	check("update", err)
	check("delete", maps.Delete(ctx, name+"before", metav1.DeleteOptions{}))
	for _, want := range []string{"add " + name + "before", "add " + name + "watched", "update " + name + "watched",
		"delete " + name + "watched", "delete " + name + "before"} {
		select {
		case got := <-events:
			expect("event "+want, got == want)
		case <-ctx.Done():
			check("event "+want, ctx.Err())
		}
	}
}

// gates replaces client-go's feature gates, which are otherwise read from the environment once.
type gates struct {
	clientfeatures.Gates
	streaming bool
}

func (g gates) Enabled(f clientfeatures.Feature) bool {
	if f == clientfeatures.WatchListClient {
		return g.streaming
	}
	return g.Gates.Enabled(f)
}

var defaultGates = clientfeatures.FeatureGates()

func choose(streaming bool) { clientfeatures.ReplaceFeatureGates(gates{defaultGates, streaming}) }

// untyped works through the dynamic client and an informer of it, by discovery alone.
func untyped(ctx context.Context, config *rest.Config) {
	client, err := dynamic.NewForConfig(config)
	check("dynamic client", err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gvr := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	leases := client.Resource(gvr).Namespace(namespace)
	lease := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": "dynamic"}, "spec": map[string]any{"holderIdentity": "me"}}}
	_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	check("dynamic create", err)
	got, err := leases.Patch(ctx, "dynamic", types.MergePatchType, []byte(`{"spec":{"holderIdentity":"you"}}`), metav1.PatchOptions{})
	check("dynamic patch", err)
	holder, _, _ := unstructured.NestedString(got.Object, "spec", "holderIdentity")
	expect("the patch is answered", holder == "you")
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	shared := factory.ForResource(gvr).Informer()
	factory.Start(ctx.Done())
	expect("the dynamic informer syncs", cache.WaitForCacheSync(ctx.Done(), shared.HasSynced))
	_, exists, _ := shared.GetStore().GetByKey(namespace + "/dynamic")
	expect("and has the object", exists)
	check("dynamic delete", leases.Delete(ctx, "dynamic", metav1.DeleteOptions{}))
}

// applied writes by server-side apply with generated apply configurations.
func applied(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	as := func(who string, force bool) metav1.ApplyOptions {
		return metav1.ApplyOptions{FieldManager: who, Force: force}
	}
	cm := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"k": "1", "j": "1"})
	_, err := maps.Apply(ctx, cm, as("one", false))
	check("apply", err)
	_, err = maps.Apply(ctx, corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"k": "2"}), as("two", false))
	expect("another manager conflicts", apierrors.IsConflict(err))
	_, err = maps.Apply(ctx, corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"k": "2"}), as("two", true))
	check("unless forced", err)
	got, err := maps.Apply(ctx, corev1apply.ConfigMap("applied", namespace), as("one", false))
	check("letting go", err)
	expect("removes what one alone had", len(got.Data) == 1 && got.Data["k"] == "2")
	extracted, err := corev1apply.ExtractConfigMap(got, "two")
	check("extract", err)
	expect("the extract has what two manages", len(extracted.Data) == 1)
	check("delete", maps.Delete(ctx, "applied", metav1.DeleteOptions{}))
}

// discovers reads what the server has, fresh and cached.
func discovers(config *rest.Config) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	check("discovery client", err)
	_, lists, err := client.ServerGroupsAndResources()
	check("groups and resources", err)
	found := slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool {
		return l.GroupVersion == "v1" && slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool {
			return r.Name == "configmaps" && r.Namespaced && slices.Contains(r.Verbs, "watch")
		})
	})
	expect("configmaps are among them", found)
	cached := memory.NewMemCacheClient(client)
	_, err = cached.ServerPreferredResources()
	check("preferred resources", err)
	paths, err := client.OpenAPIV3().Paths()
	check("OpenAPI v3", err)
	expect("with the core group", paths["api/v1"] != nil)
	_, err = client.OpenAPISchema()
	check("OpenAPI v2 in protobuf", err)
}

// lead wins an election and gives the lease back.
func lead(ctx context.Context, client kubernetes.Interface) {
	led := make(chan struct{})
	inner, cancel := context.WithCancel(ctx)
	leaderelection.RunOrDie(inner, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "election", Namespace: namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: time.Second, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(led); cancel() },
			OnStoppedLeading: func() {},
		},
	})
	select {
	case <-led:
		fmt.Println("ok: elected")
	default:
		check("election", fmt.Errorf("not elected"))
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check("read kubeconfig", err)
	client, err := kubernetes.NewForConfig(config)
	check("client", err)
	binary := rest.CopyConfig(config)
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	binaryClient, err := kubernetes.NewForConfig(binary)
	check("client for protobuf", err)
	parts := []struct {
		name string
		run  func()
	}{
		{"json", func() { typed(ctx, config, runtime.ContentTypeJSON) }},
		{"protobuf", func() { typed(ctx, binary, runtime.ContentTypeProtobuf) }},
		{"informer", func() { informer(ctx, client, false) }},
		{"streaming", func() { informer(ctx, binaryClient, true) }},
		{"dynamic", func() { untyped(ctx, config) }},
		{"apply", func() { applied(ctx, client) }},
		{"lease", func() { lead(ctx, client) }},
		{"discovery", func() { discovers(config) }},
	}
	for _, part := range parts {
		if len(os.Args) == 2 || slices.Contains(os.Args[2:], part.name) {
			part.run()
			fmt.Println("done:", part.name)
		}
	}
}
