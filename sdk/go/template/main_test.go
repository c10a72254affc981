package main

import (
	"testing"

	"dormouse.dev/sdk/go/operatortest"
)

func TestAConfigMapIsGreetedOnce(t *testing.T) {
	env := operatortest.New(t)
	env.Start(newOperator())
	m := &ConfigMap{}
	m.Namespace, m.Name = "default", "world"
	m.Labels = map[string]string{"hello": "please"}
	env.Create(m)
	env.Settle()
	if env.Get(m); m.Data["greeting"] != "Hello, world!" {
		t.Fatalf("it was not greeted: %v", m.Data)
	}
	if n := len(env.Requests); n != 1 {
		t.Fatalf("%d requests: %v", n, env.Requests)
	}
}
