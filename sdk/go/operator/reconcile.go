// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// Request says which object is to be reconciled, and why.
type Request struct {
	NamespacedName
	Reasons Reasons
	// Attempt counts the failures in a row for this key.
	Attempt int
}

// Reasons is a set of what led to a Request.
type Reasons uint32

const (
	Initial  Reasons = 1 << iota // the first list
	Created                      // the object was created
	Updated                      // the object was updated
	Deleted                      // the object is gone
	Owned                        // something it owns has changed
	Mapped                       // something that Watches maps to it has changed
	Resync                       // its time has come
	Requeued                     // a RequeueAfter is over
	Retried                      // the last attempt failed
	Enqueued                     // Enqueue
	Config                       // configuration has changed
	Other                        // a reason that this SDK does not know
)

var reasonNames = [...]string{"initial", "create", "update", "delete", "owned", "mapped", "resync", "requeue", "retry",
	"enqueue", "config"}

func reasonsOf(names []string) (r Reasons) {
	for _, name := range names {
		bit := Other
		for i, known := range reasonNames {
			if name == known {
				bit = 1 << i
			}
		}
		r |= bit
	}
	return r
}

// Has says whether one of these is in the set.
func (r Reasons) Has(any Reasons) bool { return r&any != 0 }

func (r Reasons) String() string {
	var names []string
	for i, name := range reasonNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if r&Other != 0 {
		names = append(names, "other")
	}
	return strings.Join(names, ",")
}

// Result says what is to happen with the key after success.
type Result struct {
	// RequeueAfter, when positive: again after that time, unless an event comes first.
	RequeueAfter time.Duration
}

// Reconciler brings the world closer to what one object asks for. An error means again, with back-off; one made
// with TerminalError means not before something changes.
type Reconciler interface {
	Reconcile(ctx context.Context, request Request) (Result, error)
}

// ReconcileFunc is a Reconciler that needs no type.
type ReconcileFunc func(ctx context.Context, request Request) (Result, error)

func (f ReconcileFunc) Reconcile(ctx context.Context, request Request) (Result, error) {
	return f(ctx, request)
}

// TerminalError marks an error that trying again will not mend. TerminalError(nil) is an error as well.
func TerminalError(err error) error { return &terminalError{err} }

type terminalError struct{ err error }

func (t *terminalError) Unwrap() error { return t.err }

func (t *terminalError) Error() string {
	if t.err == nil {
		return "terminal error"
	}
	return "terminal error: " + t.err.Error()
}

// IsTerminal says whether TerminalError made err or something in it.
func IsTerminal(err error) bool {
	var t *terminalError
	return errors.As(err, &t)
}

// activation is one call of the guest; the context of a reconciler carries it.
type activation struct {
	primary *watch
	key     NamespacedName
	object  json.RawMessage // of the primary, until something is written
	work    sync.WaitGroup
	mu      sync.Mutex
	failure error // of a goroutine that Go has started
}

type activationKey struct{}

func activationOf(ctx context.Context) *activation {
	a, _ := ctx.Value(activationKey{}).(*activation)
	return a
}

// Go runs f beside the reconciler. The activation does not end before f has: a goroutine that outlives it stands
// still until the next one, however long that takes. A panic of f fails the key as one of the reconciler does.
func Go(ctx context.Context, f func()) {
	a := activationOf(ctx)
	if a == nil {
		panic("operator.Go: the context is not one of a reconciler")
	}
	a.work.Add(1)
	go func() {
		defer a.work.Done()
		defer func() {
			if p := recover(); p != nil {
				err := panicked(p)
				a.mu.Lock()
				a.failure = errors.Join(a.failure, err)
				a.mu.Unlock()
			}
		}()
		f()
	}()
}

// Activate handles one message of the host and returns the activation's value. Package operatortest calls it, and
// the export of the guest.
func (o *Operator) Activate(message []byte) int64 {
	o.host.posted = 0
	var m abi.Activation
	err := json.Unmarshal(message, &m)
	if err == nil {
		var after int64
		switch m.Type {
		case "reconcile":
			after, err = o.reconcile(&m)
		case "config":
			err = o.configChanged(m.Name)
		default:
			err = TerminalError(fmt.Errorf("an activation of type %q", m.Type))
		}
		if err == nil {
			return after
		}
	}
	o.host.Fail(err.Error())
	if IsTerminal(err) {
		return abi.FailedForGood
	}
	return abi.Failed
}

func (o *Operator) reconcile(m *abi.Activation) (int64, error) {
	r := o.reconcilers[m.Controller]
	if r == nil {
		return 0, TerminalError(fmt.Errorf("no controller %q", m.Controller))
	}
	key := NamespacedName{m.Namespace, m.Name}
	a := &activation{primary: o.watchOfController(m.Controller), key: key, object: m.Object}
	o.current = a
	defer func() { o.current = nil }()
	result, err := call(a, func(ctx context.Context) (Result, error) {
		return r.Reconcile(ctx, Request{key, reasonsOf(m.Reasons), m.Attempt})
	})
	return milliseconds(result.RequeueAfter), err
}

// call runs user code with the context of an activation, until everything it started with Go has ended. A panic
// becomes an error, as in controller-runtime: the key fails, the others go on.
func call(a *activation, f func(context.Context) (Result, error)) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	result, err = f(context.WithValue(context.Background(), activationKey{}, a))
	a.work.Wait()
	runtime.Gosched() // what is ready to run may end now instead of at the next activation
	if a.failure != nil {
		err = errors.Join(err, a.failure)
	}
	return result, err
}

// panicked logs a panic, with as much of the stack as fits into a line, and makes an error of it.
func panicked(p any) error {
	const limit = 3000
	b := debug.Stack()
	slog.Error("panic in a reconciler", "panic", fmt.Sprint(p), "stack", string(b[:min(len(b), limit)]))
	return fmt.Errorf("panic: %v", p)
}

func milliseconds(d time.Duration) int64 {
	if d <= 0 {
		return abi.Done
	}
	ms := int64(math.Ceil(float64(d) / float64(time.Millisecond)))
	return min(ms, abi.RequeueMaxMS)
}

// EnqueueOption says when and how an enqueued key comes.
type EnqueueOption func(*abi.Enqueue)

// After: not before this time has passed.
func After(d time.Duration) EnqueueOption {
	return func(e *abi.Enqueue) { e.AfterMs = milliseconds(d) }
}

// Priority of the key in the queue; it is normal otherwise.
type Priority string

const (
	LowPriority  Priority = "low"
	HighPriority Priority = "high"
)

// WithPriority chooses the key's priority.
func WithPriority(p Priority) EnqueueOption {
	return func(e *abi.Enqueue) { e.Priority = string(p) }
}

// Enqueue asks for a key of a controller of this operator to be reconciled once this activation has ended.
func (o *Operator) Enqueue(ctx context.Context, controller string, key NamespacedName, options ...EnqueueOption) error {
	if o.reconcilers[controller] == nil {
		return fmt.Errorf("no controller %q", controller)
	}
	e := abi.Enqueue{Controller: controller, Namespace: key.Namespace, Name: key.Name}
	for _, option := range options {
		option(&e)
	}
	b, err := json.Marshal(&e)
	switch {
	case err != nil:
		return err
	case !o.host.mayPost():
		return fmt.Errorf("enqueue %v: more than %d keys and events in one activation", key, postedMax)
	}
	o.host.Enqueue(b)
	return nil
}
