// SPDX-License-Identifier: Apache-2.0

// A client-go program against the API server: typed clients in JSON and protobuf, an informer, leader
// election. Prints one line for each thing that worked and ends with status 1 at the first that did not.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// informer follows a shared informer through an object's life.
func informer(ctx context.Context, client kubernetes.Interface) {
	events := make(chan string, 100)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
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
	_, err = client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "before"}}, metav1.CreateOptions{})
	check("create before the informer", err)
	factory.Start(ctx.Done())
	expect("the informer syncs", cache.WaitForCacheSync(ctx.Done(), shared.HasSynced))
	maps := client.CoreV1().ConfigMaps(namespace)
	cm, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}, metav1.CreateOptions{})
	check("create", err)
	cm.Data = map[string]string{"x": "y"}
	_, err = maps.Update(ctx, cm, metav1.UpdateOptions{})
	check("update", err)
	check("delete", maps.Delete(ctx, cm.Name, metav1.DeleteOptions{}))
	for _, want := range []string{"add before", "add watched", "update watched", "delete watched"} {
		select {
		case got := <-events:
			expect("event "+want, got == want)
		case <-ctx.Done():
			check("event "+want, ctx.Err())
		}
	}
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
	typed(ctx, config, runtime.ContentTypeJSON)
	typed(ctx, config, runtime.ContentTypeProtobuf)
	informer(ctx, client)
	lead(ctx, client)
	_, err = client.Discovery().ServerPreferredResources()
	check("discovery", err)
}
