// SPDX-License-Identifier: Apache-2.0

package operatortest

import (
	"encoding/json"
	"slices"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// qkey is a key of a controller. A configuration's activation has its name and no controller.
type qkey struct{ controller, namespace, name string }

type item struct {
	reasons []string
	due     time.Time
	order   int
}

// queue is the work queue: keys once, in the order in which they come due.
type queue struct {
	items    map[qkey]*item
	attempts map[qkey]int
	order    int
}

func (q *queue) add(k qkey, reason string, due, now time.Time) {
	if q.items == nil {
		q.items = map[qkey]*item{}
	}
	q.order++
	it := q.items[k]
	if it == nil {
		it = &item{due: due, order: q.order}
		q.items[k] = it
	} else if due.Before(it.due) {
		it.due, it.order = due, q.order
		if it.reasons = slices.DeleteFunc(it.reasons, func(r string) bool { return r == "requeue" || r == "retry" }); due.After(now) {
			it.reasons = nil
		}
	} else if due.After(now) {
		return // of two timers the earlier one stays
	}
	if !slices.Contains(it.reasons, reason) {
		it.reasons = append(it.reasons, reason)
	}
}

// next gives the key that comes due first.
func (q *queue) next() (best qkey, it *item) {
	for k, i := range q.items {
		if it == nil || i.due.Before(it.due) || i.due.Equal(it.due) && i.order < it.order {
			best, it = k, i
		}
	}
	return best, it
}

// onChange turns a change of the store into work. Called with mu held.
func (e *Env) onChange(before, after object) {
	if e.decl == nil || !isEvent(before, after) {
		return
	}
	for i := range e.decl.Controllers {
		c := &e.decl.Controllers[i]
		e.offer(&c.For, before, after, func(o object, event string) {
			e.queue.add(qkey{c.Name, o.namespace(), o.name()}, event, e.now, e.now)
		})
		for j := range c.Owns {
			w := &c.Owns[j]
			e.offer(w, before, after, func(o object, _ string) { e.addKeys(e.ownerKeys(c, o, w.AnyOwner), "owned") })
		}
		for j := range c.Watches {
			w := &c.Watches[j]
			e.offer(w, before, after, func(o object, _ string) { e.addKeys(e.mappedKeys(c, w.Map, o), "mapped") })
		}
	}
	e.offerConfig(before, after)
}

func (e *Env) addKeys(keys []qkey, reason string) {
	for _, k := range keys {
		e.queue.add(k, reason, e.now, e.now)
	}
}

// offer an event to a watch: an object that begins or ceases to match is created or deleted for it. The object
// before and after are both mapped.
func (e *Env) offer(w *abi.Watch, before, after object, each func(o object, event string)) {
	if before != nil && !e.cached(w, before) {
		before = nil
	}
	if after != nil && !e.cached(w, after) {
		after = nil
	}
	if before == nil && after == nil {
		return
	}
	if before != nil { // what is not kept is not looked at either
		before = view(w, before, false)
	}
	if after != nil {
		after = view(w, after, false)
	}
	if !isEvent(before, after) || !passes(w.Predicate, before, after) {
		return
	}
	event := "update"
	if before == nil {
		event = "create"
	} else if after == nil {
		event = "delete"
	}
	if before != nil {
		each(before, event)
	}
	if after != nil {
		each(after, event)
	}
}

func (e *Env) offerConfig(before, after object) {
	o := after
	if o == nil {
		o = before
	}
	for i := range e.decl.Config {
		c := &e.decl.Config[i]
		if e.configID(c) != (id{o.text("apiVersion") + " " + o.text("kind"), o.namespace(), o.name()}) {
			continue
		}
		switch c.OnChange {
		case "activate":
			e.queue.add(qkey{"", "", c.Name}, "config", e.now, e.now)
		case "reconcile":
			e.enqueueAll("config")
		}
	}
}

// enqueueAll puts every primary of every controller into the queue.
func (e *Env) enqueueAll(reason string) {
	for i := range e.decl.Controllers {
		c := &e.decl.Controllers[i]
		e.eachPrimary(c, func(o object) {
			e.queue.add(qkey{c.Name, o.namespace(), o.name()}, reason, e.now, e.now)
		})
	}
}

// step handles the next key if it is due, and says whether it did.
func (e *Env) step() bool {
	e.mu.Lock()
	k, it := e.queue.next()
	if it == nil || it.due.After(e.now) {
		e.mu.Unlock()
		return false
	}
	delete(e.queue.items, k)
	e.mu.Unlock()
	e.activate(k, it.reasons)
	return true
}

func (e *Env) activate(k qkey, reasons []string) int64 {
	e.t.Helper()
	e.mu.Lock()
	m := abi.Activation{Type: "reconcile", Controller: k.controller, Namespace: k.namespace, Name: k.name, Reasons: reasons,
		Attempt: e.queue.attempts[k]}
	if k.controller == "" {
		m = abi.Activation{Type: "config", Name: k.name}
	} else {
		m.Object = e.primary(k)
	}
	message, err := json.Marshal(&m)
	if err != nil {
		e.t.Fatal(err)
	}
	e.active, e.failure, e.logs, e.count = true, "", 0, 0
	e.mu.Unlock()

	n := e.guest.Activate(message)

	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
	e.active = false
	e.Activations = append(e.Activations, Activation{m, n, e.failure})
	if e.queue.attempts == nil {
		e.queue.attempts = map[qkey]int{}
	}
	switch {
	case n == abi.Failed:
		e.queue.add(k, "retry", e.now.Add(e.backoff(k)), e.now)
		e.queue.attempts[k]++
	case n < abi.FailedForGood || n > abi.RequeueMaxMS:
		e.breach("dormouse_v1_activate: R-result: %d", n)
	default:
		delete(e.queue.attempts, k)
		if n > 0 {
			e.queue.add(k, "requeue", e.now.Add(time.Duration(n)*time.Millisecond), e.now)
		}
	}
	return n
}

func (e *Env) backoff(k qkey) time.Duration {
	b := abi.Backoff{BaseMs: 5, MaxMs: 1000000}
	for _, c := range e.decl.Controllers {
		if c.Name == k.controller && c.Backoff != nil {
			b = *c.Backoff
		}
	}
	ms := b.BaseMs
	for i := 0; i < e.queue.attempts[k] && ms < b.MaxMs; i++ {
		ms *= 2
	}
	return time.Duration(min(ms, b.MaxMs)) * time.Millisecond
}

// primary is the object that goes with a key: absent when it is too large, null when it is not there.
func (e *Env) primary(k qkey) json.RawMessage {
	for i := range e.decl.Controllers {
		c := &e.decl.Controllers[i]
		if c.Name != k.controller {
			continue
		}
		kind, _ := e.kind(c.For.APIVersion, c.For.Kind)
		o := e.objects[id{kind, k.namespace, k.name}]
		if o == nil || !e.cached(&c.For, o) {
			return json.RawMessage("null")
		}
		b, err := json.Marshal(view(&c.For, o, false))
		if err != nil || len(b) > objectInlineMax {
			return nil
		}
		return b
	}
	return nil
}

// Settle lets the operator do all that is due now, back-off that has not passed excluded.
func (e *Env) Settle() {
	e.t.Helper()
	for n := 0; e.step(); n++ {
		if n == settleActivation {
			e.t.Fatalf("the operator does not come to rest: %d activations", n)
		}
	}
}

// Advance moves the clock, and lets the operator do what comes due on the way, each at its time.
func (e *Env) Advance(d time.Duration) {
	e.t.Helper()
	e.Settle()
	end := e.Now().Add(d)
	for {
		e.mu.Lock()
		_, it := e.queue.next()
		if it == nil || it.due.After(end) {
			e.now = end
			e.mu.Unlock()
			return
		}
		if it.due.After(e.now) {
			e.now = it.due
		}
		e.mu.Unlock()
		e.Settle()
	}
}

// NextWake says when the next key comes due; false when nothing is waiting.
func (e *Env) NextWake() (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, it := e.queue.next()
	if it == nil {
		return time.Time{}, false
	}
	return it.due, true
}

// Reconcile handles one key at once, whatever the queue says, and returns what the guest returned and why it
// failed.
func (e *Env) Reconcile(controller, namespace, name string, reasons ...string) (int64, string) {
	e.t.Helper()
	n := e.activate(qkey{controller, namespace, name}, reasons)
	return n, e.Activations[len(e.Activations)-1].Failure
}
