// SPDX-License-Identifier: Apache-2.0

// An informer of client-go over one resource in one namespace, typed, unstructured or of metadata only, and what it costs: the
// proportional set size of this process before and after, in KiB. "settled" is what is left when the garbage collector
// is made to give back what it can, which it does not do by itself at that time.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func pssKiB() int {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	must(err)
	found := regexp.MustCompile(`(?m)^Pss:\s+(\d+)`).FindSubmatch(text)
	kib, err := strconv.Atoi(string(found[1]))
	must(err)
	return kib
}

// strip is what careful operators do; it is optional because the default does not.
func strip(object any) (any, error) {
	if m, ok := object.(metav1.Object); ok {
		m.SetManagedFields(nil)
	}
	return object, nil
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: informer KUBECONFIG pods|configmaps typed|dynamic|metadata plain|stripped")
		os.Exit(2)
	}
	resource, form, treat := os.Args[2], os.Args[3], os.Args[4]
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = -1
	gvr := schema.GroupVersionResource{Version: "v1", Resource: resource}
	informerOf := func(gvr schema.GroupVersionResource) cache.SharedIndexInformer {
		if form == "dynamic" {
			client, err := dynamic.NewForConfig(config)
			must(err)
			return dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil).ForResource(gvr).Informer()
		}
		if form == "metadata" {
			client, err := metadata.NewForConfig(config)
			must(err)
			return metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil).ForResource(gvr).Informer()
		}
		config.ContentType = runtime.ContentTypeProtobuf
		client, err := kubernetes.NewForConfig(config)
		must(err)
		g, err := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace)).ForResource(gvr)
		must(err)
		return g.Informer()
	}
	ctx := context.Background()
	run := func(gvr schema.GroupVersionResource) cache.SharedIndexInformer {
		informer := informerOf(gvr)
		if treat == "stripped" {
			must(informer.SetTransform(strip))
		}
		go informer.Run(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			must(fmt.Errorf("no sync"))
		}
		return informer
	}
	run(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}) // connect, and touch all the code
	debug.FreeOSMemory()
	before := pssKiB()
	begin := time.Now()
	informer := run(gvr)
	synced := time.Since(begin)
	time.Sleep(4 * time.Second) // as long as the other side has
	after := pssKiB()
	debug.FreeOSMemory()
	settled := pssKiB()
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"objects": len(informer.GetStore().ListKeys()), "pss_before_kib": before, "pss_after_kib": after,
		"pss_settled_kib": settled, "synced_ms": float64(synced.Microseconds()) / 1000,
	}))
}
