// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"dormouse.dev/sdk/go/operator"
	"dormouse.dev/sdk/go/operatortest"
	"dormouse.dev/sdk/go/transport"
)

// inside runs f in an activation.
func inside(t *testing.T, f func(ctx context.Context, c *http.Client)) *operatortest.Env {
	env := operatortest.New(t)
	op := operator.New("x", operator.Options{})
	client := &http.Client{Transport: transport.New(op), Timeout: time.Minute}
	if _, err := client.Get("http://host/api/v1/nodes"); err == nil {
		t.Error("a request before Run succeeds")
	}
	op.Controller("c").For(operator.NewUnstructured("v1", "ConfigMap")).
		Complete(operator.ReconcileFunc(func(ctx context.Context, _ operator.Request) (operator.Result, error) {
			f(ctx, client)
			return operator.Result{}, nil
		}))
	env.Start(op)
	m := operator.NewUnstructured("v1", "ConfigMap")
	m.SetNamespace("a")
	m.SetName("m")
	env.Create(m)
	if n, failure := env.Reconcile("c", "a", "m"); n != 0 {
		t.Errorf("the activation returned %d: %s", n, failure)
	}
	return env
}

func TestRequestsGoThroughTheHost(t *testing.T) {
	env := inside(t, func(ctx context.Context, c *http.Client) {
		r, err := c.Get("https://anything.example/api/v1/namespaces/a/configmaps/m")
		if err != nil {
			t.Error(err)
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 || !strings.Contains(string(b), `"name":"m"`) ||
			r.Header.Get("Content-Type") != "application/json" || r.ContentLength != int64(len(b)) {
			t.Errorf("%v %v %s", err, r, b)
		}
		r, err = c.Post("http://h/api/v1/namespaces/a/configmaps", "application/json",
			strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"}}`))
		if err != nil || r.StatusCode != 201 {
			t.Errorf("%v %v", err, r)
		}
		r, err = c.Get("http://h/api/v1/namespaces/a/configmaps/nobody?x=y%20z")
		if err != nil || r.StatusCode != 404 {
			t.Errorf("%v %v", err, r)
		}
	})
	if n := len(env.Requests); n != 3 || env.Requests[2].Target != "/api/v1/namespaces/a/configmaps/nobody?x=y%20z" {
		t.Errorf("%v", env.Requests)
	}
}

func TestAStreamIsRefusedWithAHint(t *testing.T) {
	inside(t, func(ctx context.Context, c *http.Client) {
		if _, err := c.Get("http://h/api/v1/pods?watch=true"); !errors.Is(err, transport.ErrWatch) {
			t.Errorf("%v", err)
		}
	})
}

func TestADeadlineIsKept(t *testing.T) {
	inside(t, func(ctx context.Context, c *http.Client) {
		late, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
		defer cancel()
		r, err := http.NewRequestWithContext(late, "GET", "http://h/api/v1/nodes", nil)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err = c.Do(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

func TestABodyHasALimit(t *testing.T) {
	inside(t, func(ctx context.Context, c *http.Client) {
		_, err := c.Post("http://h/api/v1/x", "text/plain", strings.NewReader(strings.Repeat("x", 3<<20+1)))
		if err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%v", err)
		}
	})
}
