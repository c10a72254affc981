// SPDX-License-Identifier: Apache-2.0

// Package clientgo lets code written on client-go's typed and dynamic clients run in a guest:
//
//	config := clientgo.Config(op)
//	clients, err := kubernetes.NewForConfig(config)
//
// Its requests go through the host, under the operator's own identity. Informers, watches, port-forward, exec and
// log streams do not work: watches are declared with package operator, and its Client reads their caches.
package clientgo

import (
	"dormouse.dev/sdk/go/operator"
	"dormouse.dev/sdk/go/transport"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Config is a client configuration over the operator's host. It can be made, and clients from it, before Run;
// requests are possible inside activations. There is no client-side rate limit: the host has one. Bodies are JSON, also
// where client-go would take protobuf: a guest has its code for JSON anyway.
func Config(op *operator.Operator) *rest.Config {
	return &rest.Config{
		ContentConfig: rest.ContentConfig{
			AcceptContentTypes: runtime.ContentTypeJSON,
			ContentType:        runtime.ContentTypeJSON,
		},
		Host:      "http://dormouse.invalid", // nobody connects to it
		Transport: transport.New(op),
		UserAgent: "dormouse-guest",
		QPS:       -1,
	}
}

// RegisterScheme lets package operator know the kinds of all types in a scheme, so that For(&appsv1.Deployment{})
// and Client.Get work on them.
func RegisterScheme(scheme *runtime.Scheme) {
	operator.RegisterKinds(func(object any) (operator.Kind, bool) {
		o, ok := object.(runtime.Object)
		if !ok {
			return operator.Kind{}, false
		}
		known, _, err := scheme.ObjectKinds(o)
		if err != nil || len(known) == 0 {
			return operator.Kind{}, false
		}
		return operator.Kind{APIVersion: known[0].GroupVersion().String(), Kind: known[0].Kind}, true
	})
}

// Key is a NamespacedName as apimachinery has it.
func Key(name operator.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: name.Namespace, Name: name.Name}
}
