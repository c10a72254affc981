// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// What an operator tells people: Events, log, metrics; and what it is told: configuration.

// ---------------------------------------------------------------- events

const (
	Normal  = "Normal"
	Warning = "Warning"
)

// Event records an Event about an object. The host writes it, and makes a series of equal ones. Reason is
// CamelCase.
func (o *Operator) Event(regarding Object, eventType, reason, note string) {
	o.Eventf(regarding, nil, eventType, reason, reason, "%s", note)
}

// Eventf records an Event about an object, and perhaps another that it is related to (else nil).
func (o *Operator) Eventf(regarding, related Object, eventType, reason, action, note string, args ...any) {
	e := abi.Event{Type: eventType, Reason: reason, Action: action, Note: fmt.Sprintf(note, args...)}
	ref, err := referenceTo(regarding)
	if err == nil {
		e.Regarding = *ref
		if related != nil {
			e.Related, err = referenceTo(related)
		}
	}
	if len(e.Note) > 1024 {
		e.Note = e.Note[:1021] + "..." // the host cuts there; the message has a limit as well
	}
	var b []byte
	if err == nil {
		b, err = json.Marshal(&e)
	}
	if err != nil {
		slog.Error("an event cannot be recorded", "reason", reason, "err", err)
		return
	}
	if o.host != nil {
		o.host.Event(b)
	}
}

func referenceTo(object Object) (*abi.Reference, error) {
	kind, err := KindOf(object)
	if err != nil {
		return nil, err
	}
	return &abi.Reference{APIVersion: kind.APIVersion, Kind: kind.Kind, Namespace: object.GetNamespace(),
		Name: object.GetName(), UID: UIDOf(object)}, nil
}

// ---------------------------------------------------------------- log

// LogHandler hands slog's records to the host, which adds operator, controller, key and an id of the reconcile.
// Run makes it the default, so slog.Info and log.Printf work. Debug records are dropped by the host unless the
// operator's log level asks for them.
type LogHandler struct {
	host   abi.Host
	prefix string // of groups, "a.b."
	fixed  []byte // members of WithAttrs, each followed by a comma
}

// NewLogHandler makes a handler for a host; slog.Default() has one after Run.
func NewLogHandler(host abi.Host) *LogHandler { return &LogHandler{host: host} }

func (h *LogHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *LogHandler) Handle(_ context.Context, r slog.Record) error {
	level := abi.LogDebug
	switch {
	case r.Level >= slog.LevelError:
		level = abi.LogError
	case r.Level >= slog.LevelWarn:
		level = abi.LogWarning
	case r.Level >= slog.LevelInfo:
		level = abi.LogInfo
	}
	kv := append([]byte{'{'}, h.fixed...)
	r.Attrs(func(a slog.Attr) bool {
		kv = appendAttr(kv, h.prefix, a)
		return true
	})
	if len(kv) == 1 {
		kv = nil
	} else {
		kv[len(kv)-1] = '}' // the last comma
	}
	h.host.Log(level, r.Message, kv)
	return nil
}

func (h *LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	fixed := h.fixed[:len(h.fixed):len(h.fixed)]
	for _, a := range attrs {
		fixed = appendAttr(fixed, h.prefix, a)
	}
	return &LogHandler{h.host, h.prefix, fixed}
}

func (h *LogHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &LogHandler{h.host, h.prefix + name + ".", h.fixed}
}

// appendAttr adds `"name":value,`; groups become names with dots.
func appendAttr(b []byte, prefix string, a slog.Attr) []byte {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range v.Group() {
			b = appendAttr(b, prefix, inner)
		}
		return b
	}
	if a.Key == "" {
		return b
	}
	var value any
	switch v.Kind() {
	case slog.KindDuration:
		value = v.Duration().String()
	case slog.KindTime:
		value = v.Time().Format(time.RFC3339Nano)
	case slog.KindAny:
		value = v.Any()
		switch x := value.(type) {
		case error:
			value = x.Error()
		case fmt.Stringer:
			value = x.String()
		}
	default:
		value = v.Any()
	}
	name, err := json.Marshal(prefix + a.Key)
	if err != nil {
		return b
	}
	text, err := json.Marshal(value)
	if err != nil {
		text, _ = json.Marshal(fmt.Sprint(value)) // a string always has JSON
	}
	return append(append(append(append(b, name...), ':'), text...), ',')
}

// ---------------------------------------------------------------- metrics

// Counter, Gauge and Histogram are declared before Run and used afterwards; the host keeps and serves the values.
type Counter struct{ metric }
type Gauge struct{ metric }
type Histogram struct{ metric }

type metric struct {
	op    *Operator
	index int
}

func (o *Operator) addMetric(m abi.Metric) metric {
	for _, other := range o.declaration.Metrics {
		if other.Name == m.Name {
			o.fail("two metrics are called %q", m.Name)
		}
	}
	o.declaration.Metrics = append(o.declaration.Metrics, m)
	return metric{o, len(o.declaration.Metrics) - 1}
}

// Counter declares a value that only grows.
func (o *Operator) Counter(name, help string, labels ...string) Counter {
	return Counter{o.addMetric(abi.Metric{Name: name, Type: "counter", Help: help, Labels: labels})}
}

// Gauge declares a value that is set.
func (o *Operator) Gauge(name, help string, labels ...string) Gauge {
	return Gauge{o.addMetric(abi.Metric{Name: name, Type: "gauge", Help: help, Labels: labels})}
}

// Histogram declares a distribution; without buckets it has Prometheus' usual ones.
func (o *Operator) Histogram(name, help string, buckets []float64, labels ...string) Histogram {
	if len(buckets) == 0 {
		buckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	}
	return Histogram{o.addMetric(abi.Metric{Name: name, Type: "histogram", Help: help, Labels: labels, Buckets: buckets})}
}

func (m metric) record(value float64, labels []string) {
	if m.op.host == nil {
		return // nobody to tell before Run
	}
	if n := len(m.op.declaration.Metrics[m.index].Labels); n != len(labels) {
		panic(fmt.Sprintf("metric %s has %d labels, not %d", m.op.declaration.Metrics[m.index].Name, n, len(labels)))
	}
	var b []byte
	if len(labels) > 0 {
		b, _ = json.Marshal(labels) // strings always have JSON
	}
	m.op.host.Metric(m.index, b, value)
}

// Inc adds one.
func (c Counter) Inc(labels ...string) { c.record(1, labels) }

// Add adds v, which must not be negative.
func (c Counter) Add(v float64, labels ...string) { c.record(v, labels) }

// Set sets the value.
func (g Gauge) Set(v float64, labels ...string) { g.record(v, labels) }

// Observe adds one observation.
func (h Histogram) Observe(v float64, labels ...string) { h.record(v, labels) }

// ---------------------------------------------------------------- configuration

// ConfigOptions say where a configuration stands: in a ConfigMap or in a Secret.
type ConfigOptions struct {
	ConfigMap, Secret string
	Namespace         string // the operator's own otherwise
	// Optional: the operator runs without it as well.
	Optional bool
	// ReconcileOnChange: every key of every controller is reconciled when it changes.
	ReconcileOnChange bool
	// OnChange is called when it has changed.
	OnChange ConfigHandler
}

// ConfigHandler is told of changed configuration.
type ConfigHandler func(ctx context.Context) error

// Configuration of an operator; Data reads it.
type Configuration struct {
	op   *Operator
	name string
}

// ConfigData is the content. What is not UTF-8 stands in Binary.
type ConfigData struct {
	Text            map[string]string
	Binary          map[string][]byte
	ResourceVersion string
}

// Config declares configuration.
func (o *Operator) Config(name string, c ConfigOptions) Configuration {
	d := abi.Config{Name: name, ConfigMap: c.ConfigMap, Secret: c.Secret, Namespace: c.Namespace, Optional: c.Optional,
		OnChange: "none"}
	switch {
	case c.OnChange != nil && c.ReconcileOnChange:
		o.fail("configuration %q: OnChange or ReconcileOnChange, not both", name)
	case c.OnChange != nil:
		d.OnChange = "activate"
		o.onConfig[name] = c.OnChange
	case c.ReconcileOnChange:
		d.OnChange = "reconcile"
	}
	if (c.ConfigMap == "") == (c.Secret == "") {
		o.fail("configuration %q: one of ConfigMap and Secret", name)
	}
	o.declaration.Config = append(o.declaration.Config, d)
	return Configuration{o, name}
}

// Data reads the configuration as it is now; not found when it is optional and not there.
func (c Configuration) Data(context.Context) (ConfigData, error) {
	if c.op.host == nil {
		return ConfigData{}, fmt.Errorf("configuration %q is read before Run", c.name)
	}
	b, err := c.op.host.ConfigGet(c.name)
	if err != nil {
		return ConfigData{}, cacheError(err, "configuration "+c.name)
	}
	var d abi.ConfigData
	err = json.Unmarshal(b, &d)
	return ConfigData{d.Data, d.BinaryData, d.ResourceVersion}, err
}

func (o *Operator) configChanged(name string) error {
	f := o.onConfig[name]
	if f == nil {
		return nil
	}
	_, err := call(&activation{}, func(ctx context.Context) (Result, error) { return Result{}, f(ctx) })
	return err
}
