// SPDX-License-Identifier: Apache-2.0

// Package wasmtest runs a module of guest ABI v1, in whatever language it was written, on package operatortest's
// host: the imports of docs/guest-abi.md, and a clock that the test moves.
//
//	module, err := wasmtest.Load(ctx, path)
//	env := operatortest.New(t)
//	env.Start(module.Guest(env.Now))
package wasmtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

const memoryMaxPages = 1024 // 64 MiB, the default of an Operator

// Module is a compiled module.
type Module struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
}

// Load compiles the module in a file.
func Load(ctx context.Context, path string) (*Module, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryMaxPages).
		WithCustomSections(false))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	m := &Module{runtime: r}
	if err := m.exportHost(ctx); err != nil {
		return nil, err
	}
	if m.code, err = r.CompileModule(ctx, b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range []string{"dormouse_v1_setup", "dormouse_v1_activate"} {
		if m.code.ExportedFunctions()[name] == nil {
			return nil, fmt.Errorf("%s does not export %s", path, name)
		}
	}
	return m, nil
}

// Close releases the module and its guests.
func (m *Module) Close(ctx context.Context) error { return m.runtime.Close(ctx) }

// Guest is one instance.
type Guest struct {
	module   *Module
	now      func() time.Time
	env      map[string]string
	instance api.Module
	host     abi.Host
	result   []byte
	slept    time.Duration // what waiting in the guest has moved its monotonic clock ahead
	begin    time.Time
	output   strings.Builder
	Trap     error // why it ended, if it did
}

// Guest makes one that has not been started. env are its environment variables.
func (m *Module) Guest(now func() time.Time, env map[string]string) *Guest {
	return &Guest{module: m, now: now, env: env}
}

type guestKey struct{}

func (g *Guest) ctx() context.Context {
	return context.WithValue(context.Background(), guestKey{}, g)
}

// Output is what the guest has written to its standard output and error.
func (g *Guest) Output() string { return g.output.String() }

// MemoryBytes is the size of the guest's memory.
func (g *Guest) MemoryBytes() int { return int(g.instance.Memory().Size()) }

// Memory gives a copy of the guest's memory.
func (g *Guest) Memory() []byte {
	b, _ := g.instance.Memory().Read(0, g.instance.Memory().Size())
	return append([]byte(nil), b...)
}

// Start instantiates the module and lets it declare itself.
func (g *Guest) Start(host abi.Host) error {
	g.host, g.begin = host, g.now()
	c := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").
		WithStdout(&g.output).WithStderr(&g.output).
		WithWalltime(func() (int64, int32) {
			t := g.now()
			return t.Unix(), int32(t.Nanosecond())
		}, sys.ClockResolution(time.Microsecond)).
		WithNanotime(func() int64 { return int64(g.now().Sub(g.begin) + g.slept + 1) }, sys.ClockResolution(time.Microsecond)).
		WithNanosleep(func(ns int64) { g.slept += time.Duration(ns) }).
		WithRandSource(&fixedRandom{})
	for k, v := range g.env {
		c = c.WithEnv(k, v)
	}
	var err error
	if g.instance, err = g.module.runtime.InstantiateModule(g.ctx(), g.module.code, c); err != nil {
		return fmt.Errorf("_initialize: %w\n%s", err, g.Output())
	}
	status, err := g.instance.ExportedFunction("dormouse_v1_setup").Call(g.ctx())
	if err != nil {
		return fmt.Errorf("dormouse_v1_setup: %w\n%s", err, g.Output())
	}
	if status[0] != 0 {
		return errors.New("dormouse_v1_setup: it has failed")
	}
	return nil
}

// Activate hands the guest a message. A trap counts as a failed activation; Trap tells it.
func (g *Guest) Activate(message []byte) int64 {
	g.result = append([]byte(nil), message...)
	r, err := g.instance.ExportedFunction("dormouse_v1_activate").Call(g.ctx(), uint64(len(message)))
	if err != nil {
		g.Trap = fmt.Errorf("dormouse_v1_activate: %w\n%s", err, g.Output())
		g.host.Fail(g.Trap.Error())
		return abi.Failed
	}
	return int64(r[0])
}

// ---------------------------------------------------------------- imports

// call is one call of an import.
type call struct {
	*Guest
	memory api.Memory
	stack  []uint64
}

func (c *call) i32(n int) uint32 { return uint32(c.stack[n]) }

// bytes copies the range that arguments n and n+1 say. One outside of the memory is a breach of R-memory.
func (c *call) bytes(n int) []byte {
	if c.i32(n+1) == 0 {
		return nil
	}
	b, ok := c.memory.Read(c.i32(n), c.i32(n+1))
	if !ok {
		panic(fmt.Errorf("R-memory: %d bytes at %d", c.i32(n+1), c.i32(n)))
	}
	return append([]byte(nil), b...)
}

func (c *call) text(n int) string { return string(c.bytes(n)) }

// answer leaves b, or an error's text, as the result and gives the size or the code.
func (c *call) answer(b []byte, err error) {
	var refused *abi.Error
	switch {
	case errors.As(err, &refused):
		c.result = []byte(refused.Text)
		c.stack[0] = api.EncodeI64(int64(refused.Code))
	case err != nil:
		panic(err)
	default:
		c.result = b
		c.stack[0] = uint64(len(b))
	}
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

func (m *Module) exportHost(ctx context.Context) error {
	type types = []api.ValueType
	imports := []struct {
		name            string
		params, results types
		f               func(*call)
	}{
		{"declare", types{i32, i32}, types{i32}, func(c *call) {
			c.answer(nil, c.host.Declare(c.bytes(0)))
		}},
		{"result_size", nil, types{i32}, func(c *call) { c.stack[0] = uint64(len(c.result)) }},
		{"result_read", types{i32, i32}, types{i32}, func(c *call) {
			n := min(len(c.result), int(c.i32(1)))
			if n > 0 && !c.memory.Write(c.i32(0), c.result[:n]) {
				panic(fmt.Errorf("R-memory: %d bytes at %d", n, c.i32(0)))
			}
			c.result = c.result[n:]
			c.stack[0] = uint64(n)
		}},
		{"fail_message", types{i32, i32}, nil, func(c *call) { c.host.Fail(c.text(0)) }},
		{"log", types{i32, i32, i32, i32, i32}, nil, func(c *call) {
			c.host.Log(int(int32(c.i32(0))), c.text(1), c.bytes(3))
		}},
		{"api_request", types{i32, i32, i32, i32}, types{i64}, func(c *call) {
			c.answer(c.host.Request(c.bytes(0), c.bytes(2)))
		}},
		{"cache_get", types{i32, i32}, types{i64}, func(c *call) { c.answer(c.host.CacheGet(c.bytes(0))) }},
		{"cache_list", types{i32, i32}, types{i64}, func(c *call) { c.answer(c.host.CacheList(c.bytes(0))) }},
		{"config_get", types{i32, i32}, types{i64}, func(c *call) { c.answer(c.host.ConfigGet(c.text(0))) }},
		{"enqueue", types{i32, i32}, nil, func(c *call) { c.host.Enqueue(c.bytes(0)) }},
		{"event", types{i32, i32}, nil, func(c *call) { c.host.Event(c.bytes(0)) }},
		{"metric", types{i32, i32, i32, i64}, nil, func(c *call) {
			c.host.Metric(int(int32(c.i32(0))), c.bytes(1), math.Float64frombits(c.stack[3]))
		}},
	}
	b := m.runtime.NewHostModuleBuilder("dormouse_v1")
	for _, i := range imports {
		f := i.f
		b = b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			g, _ := ctx.Value(guestKey{}).(*Guest)
			f(&call{g, m.Memory(), stack})
		}), i.params, i.results).Export(i.name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// fixedRandom makes runs repeat themselves. Keys made from it are no secrets.
type fixedRandom struct{ state uint64 }

func (r *fixedRandom) Read(b []byte) (int, error) {
	for i := range b {
		r.state = r.state*6364136223846793005 + 1442695040888963407
		b[i] = byte(r.state >> 56)
	}
	return len(b), nil
}
