// SPDX-License-Identifier: Apache-2.0

// Package operator is for operators that run as guests of dormouse, in the shape that users of
// controller-runtime know: controllers with Reconcile(ctx, Request) (Result, error), declared with a builder.
//
//	func main() {
//		op := operator.New("greeter", operator.Options{Version: "0.1.0"})
//		operator.RegisterKind(&Greeting{}, operator.Kind{APIVersion: "example.dev/v1", Kind: "Greeting"})
//		op.Controller("greetings").
//			For(&Greeting{}, operator.WithPredicate(operator.GenerationChanged())).
//			Owns(&operator.Unstructured{...}).
//			Complete(&reconciler{op.Client()})
//		op.Run()
//	}
//
// The host keeps watches, caches, queues and timers; what is declared here decides when the guest is called,
// and a guest that is not called costs no memory. Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o NAME.wasm .
//
// Main is called once per start, and returns after Run: it declares. Everything else happens in reconcilers.
package operator
