// @NAME@: greets every ConfigMap labelled hello=please by setting data.greeting, and greets again whenever somebody
// changes it.
package main

import (
	"context"
	"fmt"
	"log/slog"

	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operator"
)

// ConfigMap, as far as it is needed. With k8s.io/api its types work as well.
type ConfigMap struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

type greeter struct{ client *operator.Client }

func (g *greeter) Reconcile(ctx context.Context, request operator.Request) (operator.Result, error) {
	var m ConfigMap
	if err := g.client.Get(ctx, request.NamespacedName, &m); err != nil {
		return operator.Result{}, operator.IgnoreNotFound(err)
	}
	greeting := fmt.Sprintf("Hello, %s!", m.Name)
	if m.Data["greeting"] == greeting {
		return operator.Result{}, nil
	}
	patch := operator.MergeFrom(operator.CopyOf(&m))
	if m.Data == nil {
		m.Data = map[string]string{}
	}
	m.Data["greeting"] = greeting
	if err := g.client.Patch(ctx, &m, patch); err != nil {
		return operator.Result{}, fmt.Errorf("greet: %w", err) // comes back, later each time
	}
	slog.Info("greeted", "name", m.Name)
	return operator.Result{}, nil
}

func newOperator() *operator.Operator {
	operator.RegisterKind(&ConfigMap{}, operator.Kind{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	op := operator.New("@NAME@", operator.Options{Version: "0.1.0"})
	op.Controller("@NAME@").
		For(&ConfigMap{}, operator.WithLabels("hello=please")).
		Complete(&greeter{op.Client()})
	return op
}

func main() {
	newOperator().Run()
}
