// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"strings"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// watch is one declared watch, and what reads need to know of it.
type watch struct {
	decl abi.Watch
	kind Kind
}

// isNarrow says whether objects of its namespaces may be missing.
func (w *watch) isNarrow() bool {
	return w.decl.Name != "" || w.decl.LabelSelector != "" || w.decl.FieldSelector != ""
}

// holds says whether objects of that namespace ("": of all) are in it.
func (w *watch) holds(namespace string) bool {
	if len(w.decl.Namespaces) == 0 {
		return true
	}
	for _, n := range w.decl.Namespaces {
		if n == namespace {
			return true
		}
	}
	return false
}

// WatchOption says more about a watch.
type WatchOption func(*abi.Watch)

// WithID names the watch for FromWatch; it gets a name of its own otherwise.
func WithID(id string) WatchOption { return func(w *abi.Watch) { w.ID = id } }

// InNamespaces: only these instead of all.
func InNamespaces(namespaces ...string) WatchOption {
	return func(w *abi.Watch) { w.Namespaces = append(w.Namespaces, namespaces...) }
}

// Named: only the object of this name.
func Named(name string) WatchOption { return func(w *abi.Watch) { w.Name = name } }

// WithLabels: only objects that a label selector chooses.
func WithLabels(selector string) WatchOption {
	return func(w *abi.Watch) { w.LabelSelector = selector }
}

// WithFields: only objects that a field selector chooses.
func WithFields(selector string) WatchOption {
	return func(w *abi.Watch) { w.FieldSelector = selector }
}

// MetadataOnly: nothing but metadata is kept and delivered.
func MetadataOnly() WatchOption { return func(w *abi.Watch) { w.MetadataOnly = true } }

// Strip fields (".status.history") before objects are kept. What is read from the cache must then be patched, not
// updated.
func Strip(fields ...string) WatchOption {
	return func(w *abi.Watch) { w.Strip = append(w.Strip, fields...) }
}

// IndexField lets lists ask for objects with a value in that field, ".spec.secretName" or ".spec.refs[*].name".
func IndexField(name, field string) WatchOption {
	return func(w *abi.Watch) { w.Indexes = append(w.Indexes, abi.Index{Name: name, Field: field}) }
}

// IndexLabel lets lists ask for a label's value.
func IndexLabel(name, label string) WatchOption {
	return func(w *abi.Watch) { w.Indexes = append(w.Indexes, abi.Index{Name: name, Label: label}) }
}

// IndexOwner lets lists ask for an owner's uid.
func IndexOwner(name string) WatchOption {
	return func(w *abi.Watch) { w.Indexes = append(w.Indexes, abi.Index{Name: name, Owner: true}) }
}

// AnyOwner, with Owns: every owner counts, not only the controlling one.
func AnyOwner() WatchOption { return func(w *abi.Watch) { w.AnyOwner = true } }

// WithPredicate decides which events are work; several must all be true.
func WithPredicate(predicates ...Predicate) WatchOption {
	return func(w *abi.Watch) {
		for _, p := range predicates {
			switch {
			case w.Predicate == nil:
				w.Predicate = &p.p
			case len(w.Predicate.And) > 0:
				w.Predicate.And = append(w.Predicate.And, p.p)
			default:
				w.Predicate = &abi.Predicate{And: []abi.Predicate{*w.Predicate, p.p}}
			}
		}
	}
}

// Predicate is evaluated by the host, before the guest is woken.
type Predicate struct{ p abi.Predicate }

// GenerationChanged: created, deleted, or with another generation, which the API server counts for changes of spec.
func GenerationChanged() Predicate { return Predicate{abi.Predicate{Changed: "generation"}} }

// LabelsChanged: created, deleted, or with other labels.
func LabelsChanged() Predicate { return Predicate{abi.Predicate{Changed: "labels"}} }

// AnnotationsChanged: created, deleted, or with other annotations.
func AnnotationsChanged() Predicate { return Predicate{abi.Predicate{Changed: "annotations"}} }

// ResourceVersionChanged: created, deleted, or changed in any way.
func ResourceVersionChanged() Predicate { return Predicate{abi.Predicate{Changed: "resourceVersion"}} }

// Event is what On chooses from.
type Event string

const (
	Create Event = "create"
	Update Event = "update"
	Delete Event = "delete"
)

// On: the event is one of these.
func On(events ...Event) Predicate {
	var p abi.Predicate
	for _, e := range events {
		p.On = append(p.On, string(e))
	}
	return Predicate{p}
}

// HasLabels: the selector chooses the object.
func HasLabels(selector string) Predicate { return Predicate{abi.Predicate{Labels: selector}} }

// And: all of these.
func And(predicates ...Predicate) Predicate { return Predicate{abi.Predicate{And: inner(predicates)}} }

// Or: one of these.
func Or(predicates ...Predicate) Predicate { return Predicate{abi.Predicate{Or: inner(predicates)}} }

// Not this.
func Not(p Predicate) Predicate { return Predicate{abi.Predicate{Not: &p.p}} }

func inner(predicates []Predicate) []abi.Predicate {
	r := make([]abi.Predicate, len(predicates))
	for i, p := range predicates {
		r[i] = p.p
	}
	return r
}

// Mapping says which keys of the controller an event of a watched object concerns. The host evaluates it.
type Mapping struct{ m abi.Map }

// ToOwners: owners of the primary's kind.
func ToOwners() Mapping { return Mapping{abi.Map{Owner: true}} }

// ToField: the primary that this field names, in the object's own namespace.
func ToField(field string) Mapping { return Mapping{abi.Map{Field: field}} }

// ToFields: the primary that these two fields name.
func ToFields(field, namespaceField string) Mapping {
	return Mapping{abi.Map{Field: field, NamespaceField: namespaceField}}
}

// ToLabel: the label's value is "name" or "namespace/name".
func ToLabel(label string) Mapping { return Mapping{abi.Map{Label: label}} }

// ToAnnotation: the annotation's value is "name" or "namespace/name".
func ToAnnotation(annotation string) Mapping { return Mapping{abi.Map{Annotation: annotation}} }

// IndexValue is what of an object ToIndex looks up.
type IndexValue string

const (
	ByName           IndexValue = "name"
	ByNamespacedName IndexValue = "namespacedName"
	ByUID            IndexValue = "uid"
)

// ToIndex: the primaries which an index of the For watch finds by the object's name or uid.
func ToIndex(index string, value IndexValue) Mapping {
	return Mapping{abi.Map{Index: index, Value: string(value)}}
}

// ToAll: every primary.
func ToAll() Mapping { return Mapping{abi.Map{All: true}} }

// ToAllInNamespace: every primary of the object's namespace.
func ToAllInNamespace() Mapping { return Mapping{abi.Map{All: true, SameNamespace: true}} }

// ToKey: this one.
func ToKey(key NamespacedName) Mapping {
	return Mapping{abi.Map{Key: &abi.Key{Namespace: key.Namespace, Name: key.Name}}}
}

// ControllerOptions have client-go's and controller-runtime's defaults.
type ControllerOptions struct {
	// MaxConcurrentReconciles (1) keys at once; more than one needs as many instances of the operator.
	MaxConcurrentReconciles int
	// Resync every object after this time (10 h); negative: never.
	Resync time.Duration
	// BaseDelay (5 ms) after a failure, doubling to MaxDelay (1,000 s).
	BaseDelay, MaxDelay time.Duration
	// RetriesPerSecond (10) and RetryBurst (100) of all keys together.
	RetriesPerSecond float64
	RetryBurst       int
	// SlackPercent (5) by which a RequeueAfter may come later, so that wake-ups can be shared; negative: none.
	SlackPercent int
	// Debounce: a key waits that long after its first event, so that a burst is one reconcile (0).
	Debounce time.Duration
}

// Builder declares a controller. Mistakes are reported by Run.
type Builder struct {
	op *Operator
	c  abi.Controller
	ok bool // For has been called
}

// Controller begins the declaration of a controller.
func (o *Operator) Controller(name string) *Builder {
	return &Builder{op: o, c: abi.Controller{Name: name}}
}

// addWatch fills in what was left open and enters the watch for reads; nil after a mistake.
func (o *Operator) addWatch(prefix string, object Object, options []WatchOption) *watch {
	kind, err := KindOf(object)
	if err != nil {
		o.fail("%w", err)
		return nil
	}
	w := &watch{kind: kind, decl: abi.Watch{APIVersion: kind.APIVersion, Kind: kind.Kind}}
	if _, ok := object.(*Metadata); ok {
		w.decl.MetadataOnly = true
	}
	for _, option := range options {
		option(&w.decl)
	}
	if w.decl.ID == "" {
		w.decl.ID = prefix + "-" + kind.Kind
		for n := 2; o.watch(w.decl.ID) != nil; n++ {
			w.decl.ID = fmt.Sprintf("%s-%s-%d", prefix, kind.Kind, n)
		}
	} else if o.watch(w.decl.ID) != nil {
		o.fail("two watches are called %q", w.decl.ID)
		return nil
	}
	for _, index := range w.decl.Indexes {
		o.checkField(w, "index "+index.Name, index.Field)
	}
	o.watches = append(o.watches, w)
	return w
}

// checkField: what a watch does not keep cannot be looked at.
func (o *Operator) checkField(w *watch, what, field string) {
	if w.decl.MetadataOnly && field != "" && !strings.HasPrefix(field, ".metadata.") {
		o.fail("watch %q: %s: there is no %s, only metadata", w.decl.ID, what, field)
	}
}

func (o *Operator) watch(id string) *watch {
	for _, w := range o.watches {
		if w.decl.ID == id {
			return w
		}
	}
	return nil
}

func (o *Operator) watchOfController(name string) *watch {
	for i := range o.declaration.Controllers {
		if c := &o.declaration.Controllers[i]; c.Name == name {
			return o.watch(c.For.ID)
		}
	}
	return nil
}

// For: the primary kind, whose keys the reconciler is called with.
func (b *Builder) For(object Object, options ...WatchOption) *Builder {
	if b.ok {
		b.op.fail("controller %q: For is called twice", b.c.Name)
		return b
	}
	b.ok = true
	if w := b.op.addWatch(b.c.Name, object, options); w != nil {
		b.c.For = w.decl
	}
	return b
}

// Owns: an event of an object whose controlling owner is a primary is work for that primary.
func (b *Builder) Owns(object Object, options ...WatchOption) *Builder {
	if w := b.op.addWatch(b.c.Name+"-owns", object, options); w != nil {
		b.c.Owns = append(b.c.Owns, w.decl)
	}
	return b
}

// Watches: an event of an object is work for the primaries that the mapping finds.
func (b *Builder) Watches(object Object, mapping Mapping, options ...WatchOption) *Builder {
	if w := b.op.addWatch(b.c.Name+"-watches", object, options); w != nil {
		w.decl.Map = &mapping.m
		b.op.checkField(w, "mapping", mapping.m.Field)
		b.op.checkField(w, "mapping", mapping.m.NamespaceField)
		b.c.Watches = append(b.c.Watches, w.decl)
	}
	return b
}

// WithOptions sets what differs from the defaults.
func (b *Builder) WithOptions(o ControllerOptions) *Builder {
	b.c.Concurrency = o.MaxConcurrentReconciles
	if o.Resync != 0 {
		seconds := max(int64(o.Resync/time.Second), 0)
		b.c.ResyncSeconds = &seconds
	}
	if o.BaseDelay > 0 || o.MaxDelay > 0 {
		b.c.Backoff = &abi.Backoff{BaseMs: 5, MaxMs: 1000000}
		if o.BaseDelay > 0 {
			b.c.Backoff.BaseMs = milliseconds(o.BaseDelay)
		}
		if o.MaxDelay > 0 {
			b.c.Backoff.MaxMs = milliseconds(o.MaxDelay)
		}
	}
	if o.RetriesPerSecond > 0 || o.RetryBurst > 0 {
		b.c.Rate = &abi.Rate{PerSecond: 10, Burst: 100}
		if o.RetriesPerSecond > 0 {
			b.c.Rate.PerSecond = o.RetriesPerSecond
		}
		if o.RetryBurst > 0 {
			b.c.Rate.Burst = o.RetryBurst
		}
	}
	if o.SlackPercent != 0 {
		slack := max(o.SlackPercent, 0)
		b.c.SlackPercent = &slack
	}
	if o.Debounce > 0 {
		b.c.DebounceMs = milliseconds(o.Debounce)
	}
	return b
}

// Complete enters the controller into the operator.
func (b *Builder) Complete(r Reconciler) *Operator {
	if !b.ok {
		b.op.fail("controller %q has no For", b.c.Name)
	}
	if b.op.reconcilers[b.c.Name] != nil {
		b.op.fail("two controllers are called %q", b.c.Name)
	}
	b.op.reconcilers[b.c.Name] = r
	b.op.declaration.Controllers = append(b.op.declaration.Controllers, b.c)
	return b.op
}
