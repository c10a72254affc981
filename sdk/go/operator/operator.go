// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"dormouse.dev/sdk/go/internal/abi"
)

// Options of an operator.
type Options struct {
	// Version is shown in the Operator's status.
	Version string
	// Stateless: what is in memory need not be kept. The host drops it instead of writing it to disk, and starts
	// the operator again for the next key.
	Stateless bool
	// Instances that may work at the same time, on different keys (1). They share no memory.
	Instances int
}

// Operator is what main declares.
type Operator struct {
	declaration abi.Declaration
	reconcilers map[string]Reconciler
	onConfig    map[string]ConfigHandler
	watches     []*watch // those of the declaration, for reads
	errs        []error
	client      *Client
	host        *observed // nil before Run
	current     *activation
}

// New begins a declaration.
func New(name string, o Options) *Operator {
	op := &Operator{
		declaration: abi.Declaration{ABI: 1, Name: name, Version: o.Version, Stateless: o.Stateless, Instances: o.Instances},
		reconcilers: map[string]Reconciler{},
		onConfig:    map[string]ConfigHandler{},
	}
	op.client = &Client{op: op}
	return op
}

// Client reads and writes objects. It may be kept from the start and used inside activations.
func (o *Operator) Client() *Client { return o.client }

// fail remembers a mistake in the declaration; Run reports all of them.
func (o *Operator) fail(format string, args ...any) {
	o.errs = append(o.errs, fmt.Errorf(format, args...))
}

// Cache declares objects that the operator reads and that never wake it.
func (o *Operator) Cache(object Object, options ...WatchOption) *Operator {
	if w := o.addWatch("cache", object, options); w != nil {
		o.declaration.Caches = append(o.declaration.Caches, w.decl)
	}
	return o
}

// Run declares the operator to the host and returns; the host then calls the reconcilers. It is the last thing
// that main does. An error is a mistake in the declaration, or the host's refusal; a guest whose main saw one
// does not start, whether main returns it or not.
func (o *Operator) Run() error {
	running.op = o
	if running.host == nil {
		err := errors.New("no host here: an operator is built with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared and run " +
			"by dormouse; package operatortest runs it in tests")
		fmt.Fprintln(os.Stderr, err) // few look at the result of the last call of main
		return err
	}
	err := o.Start(running.host)
	running.err = err
	return err
}

// Start declares the operator to this host. Package operatortest calls it.
func (o *Operator) Start(host abi.Host) error {
	if len(o.declaration.Controllers) == 0 {
		o.fail("no controller is declared")
	}
	if err := errors.Join(o.errs...); err != nil {
		return fmt.Errorf("declaration: %w", err)
	}
	b, err := json.Marshal(&o.declaration)
	if err != nil {
		return fmt.Errorf("declaration: %w", err)
	}
	o.host = &observed{Host: host, op: o}
	slog.SetDefault(slog.New(NewLogHandler(host)))
	return host.Declare(b)
}

// observed is the host as the operator uses it. It sees what is written: whoever reads after a write asks the cache again
// instead of taking the object that came with the activation. And it keeps to the limit of posted calls, beyond
// which the host would end the guest.
type observed struct {
	abi.Host
	op     *Operator
	posted int
}

// postedMax is below the host's limit, which counts log lines as well.
const postedMax = abi.PostedMax - abi.PostedLogsMax - 1

func (h *observed) Request(head, body []byte) ([]byte, error) {
	if a := h.op.current; a != nil && !bytes.HasPrefix(head, []byte("GET ")) {
		a.object = nil
	}
	return h.Host.Request(head, body)
}

// mayPost counts a posted call; the first one too many is logged.
func (h *observed) mayPost() bool {
	h.posted++
	if h.posted == postedMax+1 {
		slog.Warn("too many events, metrics and enqueued keys in one activation: the rest is left out", "limit", postedMax)
	}
	return h.posted <= postedMax
}

func (h *observed) Event(message []byte) {
	if h.mayPost() {
		h.Host.Event(message)
	}
}

func (h *observed) Metric(index int, labels []byte, value float64) {
	if h.mayPost() {
		h.Host.Metric(index, labels, value)
	}
}

// running is the operator of this process, between main and the exports.
var running struct {
	host abi.Host // nil outside of a guest
	op   *Operator
	err  error
}

// Host is what the operator runs on, nil before Run. It is for packages of this SDK.
func (o *Operator) Host() abi.Host {
	if o.host == nil {
		return nil
	}
	return o.host
}
