// SPDX-License-Identifier: Apache-2.0

// kube-scheduler's queue, driven by a script: the peer of the differential test of ours.
//
// stdin has one step a line, in the language of test/test_sched_queue.c (put, del, pop, back, done,
// event, hint, gate, at, tick, activate, nominate); each is answered by one line: where every pod is,
// and who is nominated where. The plugins are those of that test.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
	_ "unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	clock "k8s.io/utils/clock/testing"
)

// What upstream calls by timers of its own.

//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(p *queue.PriorityQueue, logger klog.Logger)

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulablePodsLeftover
func flushUnschedulable(p *queue.PriorityQueue, logger klog.Logger)

const scheduler = "s"

var (
	skips    = map[string]bool{} // plugins whose hint says no
	gateOpen bool
)

type gate struct{}

func (gate) Name() string { return "Gate" }
func (gate) PreEnqueue(ctx context.Context, p *v1.Pod) *fwk.Status {
	if _, held := p.Labels["gate"]; held && !gateOpen {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the gate is closed")
	}
	return nil
}

func hintMap() queue.QueueingHintMap {
	m := queue.QueueingHintMap{}
	add := func(plugin string, r fwk.EventResource, a fwk.ActionType, always bool) {
		e := fwk.ClusterEvent{Resource: r, ActionType: a}
		m[e] = append(m[e], &queue.QueueingHintFunction{PluginName: plugin,
			QueueingHintFn: func(klog.Logger, *v1.Pod, interface{}, interface{}) (fwk.QueueingHint, error) {
				if skips[plugin] && !always {
					return fwk.QueueSkip, nil
				}
				return fwk.Queue, nil
			}})
	}
	add("Gate", fwk.Pod, fwk.UpdatePodLabel, false)
	add("Fit", fwk.Node, fwk.Add|fwk.UpdateNodeAllocatable, false)
	add("Fit", fwk.Pod, fwk.Delete|fwk.UpdatePodScaleDown, false)
	add("Fit", fwk.Node, fwk.UpdateNodeTaint, true) // as the scheduler adds it
	add("Label", fwk.Node, fwk.UpdateNodeLabel, true)
	add("Volume", fwk.PersistentVolumeClaim, fwk.Add|fwk.Update, false)
	add("Any", fwk.WildCard, fwk.All, false)
	return m
}

type rig struct {
	ctx      context.Context
	logger   klog.Logger
	clock    *clock.FakeClock
	base     time.Time
	q        *queue.PriorityQueue
	lister   cache.Indexer
	pods     map[string]*v1.Pod // that exist
	inFlight map[string]*framework.QueuedPodInfo
	version  int
	popped   string
	flushed  int64
}

func newRig() *rig {
	ctx := context.Background()
	base := time.Unix(1800000000, 0)
	r := &rig{ctx: ctx, logger: klog.FromContext(ctx), clock: clock.NewFakeClock(base), base: base,
		pods: map[string]*v1.Pod{}, inFlight: map[string]*framework.QueuedPodInfo{}}
	factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)
	r.lister = factory.Core().V1().Pods().Informer().GetIndexer()
	sort, _ := queuesort.New(ctx, nil, nil)
	r.q = queue.NewPriorityQueue(sort.(fwk.QueueSortPlugin).Less, factory, queue.WithClock(r.clock),
		queue.WithQueueingHintMapPerProfile(queue.QueueingHintMapPerProfile{scheduler: hintMap()}),
		queue.WithPreEnqueuePluginMap(map[string]map[string]fwk.PreEnqueuePlugin{scheduler: {"Gate": gate{}}}),
		queue.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, ctx.Done())))
	return r
}

func (r *rig) put(name string, words []string) {
	r.version++
	priority := int32(0)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d", UID: types.UID(name),
		ResourceVersion: strconv.Itoa(r.version), Labels: map[string]string{}},
		Spec: v1.PodSpec{SchedulerName: scheduler, Priority: &priority}}
	for _, w := range words {
		key, value, pair := strings.Cut(w, "=")
		switch {
		case !pair:
			n, _ := strconv.Atoi(w)
			priority = int32(n)
		case key == "node":
			p.Status.NominatedNodeName = value
		default:
			p.Labels[key] = value
		}
	}
	old := r.pods[name]
	r.pods[name] = p
	_ = r.lister.Add(p)
	if old == nil {
		r.q.Add(r.ctx, p)
	} else {
		r.q.Update(r.ctx, old, p)
	}
}

// Pop waits where there is nothing, so it is asked only when there is something.
func (r *rig) pop() {
	r.popped = "-"
	ready := len(r.q.PodsInActiveQ()) > 0
	for _, p := range r.q.PodsInBackoffQ() {
		if i, ok := r.q.GetPod(p.Name, p.Namespace); ok && len(i.UnschedulablePlugins)+len(i.PendingPlugins) > 0 {
			ready = true
		}
	}
	if !ready {
		return
	}
	i, err := r.q.Pop(r.logger)
	if err == nil && i != nil {
		r.popped = i.Pod.Name
		r.inFlight[i.Pod.Name] = i
	}
}

// As the scheduler's failure handler does.
func (r *rig) back(name string, plugins []string) {
	i := r.inFlight[name]
	if i == nil {
		return
	}
	delete(r.inFlight, name)
	p := r.pods[name]
	if p == nil {
		r.q.Done(i.Pod.UID)
		return
	}
	i.ClearRejectorPlugins()
	i.UnschedulablePlugins, i.PendingPlugins = sets.New[string](), sets.New[string]()
	for _, w := range plugins {
		if pending, ok := strings.CutPrefix(w, "~"); ok {
			i.PendingPlugins.Insert(pending)
		} else {
			i.UnschedulablePlugins.Insert(w)
		}
	}
	i.PodInfo, _ = framework.NewPodInfo(p.DeepCopy())
	if err := r.q.AddUnschedulableIfNotPresent(r.logger, i, r.q.SchedulingCycle()); err != nil {
		panic(err)
	}
}

func actionOf(name string) fwk.ActionType {
	if name == "All" {
		return fwk.All
	}
	if name == "Update" {
		return fwk.Update
	}
	for a := fwk.ActionType(1); a < fwk.All; a <<= 1 {
		if a.String() == name {
			return a
		}
	}
	panic(name)
}

func (r *rig) nominate(name string, node []string) {
	p := r.pods[name]
	if p == nil {
		return
	}
	info, _ := framework.NewPodInfo(p)
	where := ""
	if len(node) > 0 {
		where = node[0]
	}
	r.q.AddNominatedPod(r.logger, info, &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: where})
}

func (r *rig) run(words []string) {
	r.popped = ""
	name := ""
	if len(words) > 1 {
		name = words[1]
	}
	switch words[0] {
	case "put":
		r.put(name, words[2:])
	case "del":
		if p := r.pods[name]; p != nil {
			delete(r.pods, name)
			_ = r.lister.Delete(p)
			r.q.Delete(p)
		}
	case "pop":
		r.pop()
	case "back":
		r.back(name, words[2:])
	case "done":
		if i := r.inFlight[name]; i != nil {
			delete(r.inFlight, name)
			r.q.Done(i.Pod.UID)
		}
	case "event":
		r.q.MoveAllToActiveOrBackoffQueue(r.logger,
			fwk.ClusterEvent{Resource: fwk.EventResource(name), ActionType: actionOf(words[2])}, nil, nil, nil)
	case "hint":
		skips[name] = words[2] == "skip"
	case "gate":
		gateOpen = name == "open"
	case "at":
		ms, _ := strconv.ParseInt(name, 10, 64)
		r.clock.SetTime(r.base.Add(time.Duration(ms) * time.Millisecond))
	case "tick":
		flushBackoff(r.q, r.logger)
		// every thirty seconds, as its timer does
		if at := r.clock.Since(r.base).Milliseconds() / 30000; at > r.flushed {
			r.flushed = at
			now := r.clock.Now()
			r.clock.SetTime(r.base.Add(time.Duration(at) * 30 * time.Second))
			flushUnschedulable(r.q, r.logger)
			r.clock.SetTime(now)
		}
	case "activate":
		if p := r.pods[name]; p != nil {
			r.q.Activate(r.logger, map[string]*v1.Pod{name: p})
		}
	case "nominate":
		r.nominate(name, words[2:])
	default:
		panic(words[0])
	}
}

func (r *rig) state() string {
	var lines []string
	tell := func(pods []*v1.Pod, where string) {
		for _, p := range pods {
			place := where
			if i, ok := r.q.GetPod(p.Name, p.Namespace); ok && where == "unschedulable" && i.Gated() {
				place = "gated"
			}
			lines = append(lines, p.Name+"="+place)
		}
	}
	tell(r.q.PodsInActiveQ(), "active")
	tell(r.q.PodsInBackoffQ(), "backoff")
	tell(r.q.UnschedulablePods(), "unschedulable")
	for name := range r.inFlight {
		if r.pods[name] != nil {
			lines = append(lines, name+"=in-flight")
		}
	}
	for n := 0; n < 3; n++ {
		for _, i := range r.q.NominatedPodsForNode(fmt.Sprintf("n%d", n)) {
			lines = append(lines, fmt.Sprintf("%s@n%d", i.GetPod().Name, n))
		}
	}
	sort.Strings(lines)
	if r.popped != "" {
		lines = append([]string{"popped:" + r.popped}, lines...)
	}
	return strings.Join(lines, " ")
}

func main() {
	metrics.Register()
	r := newRig()
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		if words := strings.Fields(in.Text()); len(words) > 0 {
			r.run(words)
			fmt.Fprintln(out, r.state())
		}
	}
	out.Flush()
}
