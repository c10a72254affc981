// SPDX-License-Identifier: Apache-2.0

// Package controllerruntime runs reconcilers that were written for controller-runtime: they keep their
// reconcile.Reconciler, client.Client, controllerutil and event recorder. Only main changes, since the manager with its
// informers is what the host does:
//
//	op := operator.New("greeter", operator.Options{})
//	c, err := controllerruntime.NewClient(op, scheme)
//	op.Controller("greetings").
//		For(&examplev1.Greeting{}, operator.WithPredicate(operator.GenerationChanged())).
//		Owns(&corev1.ConfigMap{}).
//		Complete(controllerruntime.Reconciler(&GreetingReconciler{Client: c, Scheme: scheme}))
//	op.Run()
package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"dormouse.dev/sdk/go/clientgo"
	"dormouse.dev/sdk/go/operator"
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// NewClient makes a client.Client that reads the caches of the operator's watches, as a manager's client does, and
// writes to the API. What no watch holds is read from the API; nothing is watched because it was read. Its
// kinds become known to package operator, so call it before controllers are declared.
func NewClient(op *operator.Operator, scheme *runtime.Scheme) (client.Client, error) {
	live, err := NewAPIReader(op, scheme)
	if err != nil {
		return nil, err
	}
	clientgo.RegisterScheme(scheme)
	log.SetLogger(logr.FromSlogHandler(toDefault{}))
	return &cached{live, op.Client()}, nil
}

// NewAPIReader makes a client.Client that reads the API itself.
func NewAPIReader(op *operator.Operator, scheme *runtime.Scheme) (client.Client, error) {
	return client.New(clientgo.Config(op), client.Options{Scheme: scheme})
}

// cached reads caches and leaves everything else to the client below.
type cached struct {
	client.Client
	cache *operator.Client
}

func (c *cached) Get(ctx context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	name := operator.NamespacedName{Namespace: key.Namespace, Name: key.Name}
	return asAPIError(c.cache.Get(ctx, name, object))
}

func (c *cached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	read := []operator.ReadOption{operator.InNamespace(o.Namespace), operator.Limit(int(o.Limit)), operator.Continue(o.Continue)}
	if o.LabelSelector != nil {
		read = append(read, operator.MatchingSelector(o.LabelSelector.String()))
	}
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		name, value, err := index(o.FieldSelector)
		if err != nil {
			return err
		}
		read = append(read, operator.MatchingIndex(name, value))
	}
	page, err := c.cache.ListPage(ctx, list, read...)
	if err != nil {
		return asAPIError(err)
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	m.SetResourceVersion(page.ResourceVersion)
	m.SetContinue(page.Continue)
	if page.Remaining > 0 {
		m.SetRemainingItemCount(&page.Remaining)
	}
	return nil
}

// index: a field selector of a cache is the name of an index with a value.
func index(s fields.Selector) (name, value string, err error) {
	r := s.Requirements()
	if len(r) != 1 || (r[0].Operator != "=" && r[0].Operator != "==") {
		return "", "", fmt.Errorf("field selector %q: a cache looks up one declared index (IndexField) by its value", s)
	}
	return r[0].Field, r[0].Value, nil
}

// asAPIError makes of an error what apimachinery's IsNotFound and its like know.
func asAPIError(err error) error {
	var s *operator.StatusError
	if !errors.As(err, &s) {
		return err
	}
	status := metav1.Status{Status: metav1.StatusFailure, Code: int32(s.Code), Reason: metav1.StatusReason(s.Reason),
		Message: s.Message, Details: &metav1.StatusDetails{RetryAfterSeconds: int32(s.RetryAfter.Seconds())}}
	for _, c := range s.Causes {
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Type: metav1.CauseType(c.Reason), Message: c.Message, Field: c.Field})
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// errRequeue is what Result.Requeue becomes: the host's back-off is that of a failure.
var errRequeue = errors.New("asked to be requeued")

// Reconciler lets the host call a reconciler of controller-runtime.
func Reconciler(r reconcile.Reconciler) operator.Reconciler {
	return operator.ReconcileFunc(func(ctx context.Context, q operator.Request) (operator.Result, error) {
		logger := logr.FromSlogHandler(slog.Default().Handler())
		result, err := r.Reconcile(log.IntoContext(ctx, logger), reconcile.Request{NamespacedName: clientgo.Key(q.NamespacedName)})
		switch {
		case errors.Is(err, reconcile.TerminalError(nil)):
			return operator.Result{}, operator.TerminalError(err)
		case err != nil:
			return operator.Result{}, err
		case result.RequeueAfter == 0 && result.Requeue: //nolint:staticcheck // code in use has it
			return operator.Result{}, errRequeue
		}
		return operator.Result{RequeueAfter: result.RequeueAfter}, nil
	})
}

// toDefault is slog's default handler, whichever it is when something is logged.
type toDefault struct{}

func (toDefault) Enabled(ctx context.Context, l slog.Level) bool {
	return slog.Default().Enabled(ctx, l)
}

func (toDefault) Handle(ctx context.Context, r slog.Record) error {
	return slog.Default().Handler().Handle(ctx, r)
}

func (toDefault) WithAttrs(attrs []slog.Attr) slog.Handler {
	return slog.Default().Handler().WithAttrs(attrs)
}
func (toDefault) WithGroup(name string) slog.Handler { return slog.Default().Handler().WithGroup(name) }

// EventRecorder is what a manager's GetEventRecorder gives.
func EventRecorder(op *operator.Operator) events.EventRecorder { return recorder{op} }

type recorder struct{ op *operator.Operator }

func (r recorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	about, ok := regarding.(operator.Object)
	if !ok {
		slog.Error("an event cannot be recorded: it is about no object", "reason", reason)
		return
	}
	other, _ := related.(operator.Object)
	r.op.Eventf(about, other, eventType, reason, action, note, args...)
}

// EventRecorderFor is what a manager's GetEventRecorderFor gives: the recorder of the older API.
func EventRecorderFor(op *operator.Operator) record.EventRecorder { return oldRecorder{recorder{op}} }

type oldRecorder struct{ r recorder }

func (o oldRecorder) Event(object runtime.Object, eventType, reason, message string) {
	o.r.Eventf(object, nil, eventType, reason, reason, "%s", message)
}

func (o oldRecorder) Eventf(object runtime.Object, eventType, reason, message string, args ...any) {
	o.r.Eventf(object, nil, eventType, reason, reason, message, args...)
}

func (o oldRecorder) AnnotatedEventf(object runtime.Object, _ map[string]string, eventType, reason, message string, args ...any) {
	o.Eventf(object, eventType, reason, message, args...)
}
