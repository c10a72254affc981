// SPDX-License-Identifier: Apache-2.0

// The plugins of kube-scheduler, asked about clusters: the peer of the differential test of ours.
//
// A line of stdin is {"config": KubeSchedulerConfiguration or null, "objects": [...], "pods":
// [...]}: every pod of "pods" is judged by itself, with "objects" (nodes, bound pods, anything else
// that plugins look up) as the cluster. A line of stdout is {"pods": {"NAMESPACE/NAME": {"nodes":
// {NODE: {"plugin", "code", "reasons"}}, "scores": {PLUGIN: {NODE: SCORE}}, "candidates": {NODE:
// {"victims": [NAME...], "violations"}}, "hopeless": TEXT}}} or {"error": TEXT}; "nodes" are those
// that were refused, scores are weighed, candidates are the places that preemption could make,
// hopeless is what it says where there are none.
//
// With "events": [{"before": OBJECT or null, "after": OBJECT or null}...] each pod also has "hints":
// for each event the plugins that registered it, with "queue" or "skip" as their hints say.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

type question struct {
	Config  json.RawMessage
	Objects []json.RawMessage
	Pods    []json.RawMessage
	Events  []struct{ Before, After json.RawMessage }
}
type status struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}
type verdict struct {
	Nodes  map[string]status           `json:"nodes"` // those that were refused, by PreFilter all
	Scores map[string]map[string]int64 `json:"scores"`
	Hints  []map[string]string         `json:"hints,omitempty"`

	Candidates map[string]candidate `json:"candidates,omitempty"`
	Hopeless   string               `json:"hopeless,omitempty"` // what preemption says where there are none
}
type candidate struct {
	Victims    []string `json:"victims"`
	Violations int64    `json:"violations"`
}

func statusOf(s *fwk.Status) status {
	reasons := append([]string{}, s.Reasons()...)
	sort.Strings(reasons)
	return status{Plugin: s.Plugin(), Code: s.Code().String(), Reasons: reasons}
}

func readConfig(text json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(text) == 0 || string(text) == "null" {
		return latest.Default()
	}
	o, _, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	return o.(*config.KubeSchedulerConfiguration), nil
}

func decode(texts []json.RawMessage) ([]runtime.Object, error) {
	var ret []runtime.Object
	for _, text := range texts {
		o, _, err := clientscheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		ret = append(ret, o)
	}
	return ret, nil
}

// A profile's framework over a cluster that stands still.
func makeFramework(ctx context.Context, profile *config.KubeSchedulerProfile, objects []runtime.Object) (framework.Framework, *internalcache.Snapshot, error) {
	var nodes []*v1.Node
	var pods []*v1.Pod
	volumes := false
	for _, o := range objects {
		switch o := o.(type) {
		case *v1.Node:
			nodes = append(nodes, o)
		case *v1.Pod:
			if o.Spec.NodeName != "" {
				pods = append(pods, o)
			}
		case *v1.PersistentVolumeClaim, *v1.PersistentVolume:
			volumes = true
		}
	}
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	snapshot := internalcache.NewSnapshot(pods, nodes)
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	slices, err := resourceslicetracker.StartTracker(ctx, resourceslicetracker.Options{SliceInformer: factory.Resource().V1().ResourceSlices(), KubeClient: client})
	if err != nil {
		return nil, nil, err
	}
	f, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedDRAManager(dynamicresources.NewDRAManager(ctx, claims, slices, factory)),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodNominator(queue.NewSchedulingQueue(nil, factory)), // nobody is nominated
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithParallelism(1))
	if err != nil {
		return nil, nil, err
	}
	factory.Policy().V1().PodDisruptionBudgets().Informer() // before the factory starts: for preemption
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if volumes { // the caches behind the informers have no way to say that they are there
		time.Sleep(50 * time.Millisecond)
	}
	return f, snapshot, nil
}

func judge(ctx context.Context, f framework.Framework, snapshot *internalcache.Snapshot, pod *v1.Pod) (*verdict, error) {
	ret := &verdict{Nodes: map[string]status{}, Scores: map[string]map[string]int64{}}
	refused := framework.NewDefaultNodeToStatus()
	state := framework.NewCycleState()
	all, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Node().Name < all[j].Node().Name })
	subset, s, _ := f.RunPreFilterPlugins(ctx, state, pod)
	if !s.IsSuccess() && !s.IsRejected() {
		return nil, s.AsError()
	}
	if s.IsRejected() {
		for _, node := range all {
			ret.Nodes[node.Node().Name] = statusOf(s)
		}
		refused.SetAbsentNodesStatus(s)
		return ret, preempt(ctx, f, state, snapshot, pod, refused, ret)
	}
	var fit []fwk.NodeInfo
	for _, node := range all {
		name := node.Node().Name
		if !subset.AllNodes() && !subset.NodeNames.Has(name) {
			continue // nobody looks at it
		}
		if s := f.RunFilterPlugins(ctx, state, pod, node); s.IsSuccess() {
			fit = append(fit, node)
		} else {
			ret.Nodes[name] = statusOf(s)
			refused.Set(name, s)
		}
	}
	if len(fit) == 0 {
		return ret, preempt(ctx, f, state, snapshot, pod, refused, ret)
	}
	if s := f.RunPreScorePlugins(ctx, state, pod, fit); !s.IsSuccess() {
		return nil, s.AsError()
	}
	scores, s := f.RunScorePlugins(ctx, state, pod, fit)
	if !s.IsSuccess() {
		return nil, s.AsError()
	}
	for _, node := range scores {
		for _, p := range node.Scores {
			if ret.Scores[p.Name] == nil {
				ret.Scores[p.Name] = map[string]int64{}
			}
			ret.Scores[p.Name][node.Name] = p.Score
		}
	}
	return ret, nil
}

// Every node that preemption could make room on, and not only the best.
func preempt(ctx context.Context, f framework.Framework, state fwk.CycleState, snapshot *internalcache.Snapshot, pod *v1.Pod, refused *framework.NodeToStatus, ret *verdict) error {
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 1}
	pl, err := defaultpreemption.New(ctx, args, f, feature.Features{})
	if err != nil {
		return err
	}
	nodes, err := refused.NodesForStatusCode(snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return err
	}
	budgets, err := pl.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return err
	}
	found, _, err := pl.Evaluator.DryRunPreemption(ctx, state, pod, nodes, budgets, 0, int32(len(nodes)+1))
	if err != nil {
		return err
	}
	ret.Candidates = map[string]candidate{}
	for _, c := range found {
		var victims []string
		for _, p := range c.Victims().Pods {
			victims = append(victims, p.Name)
		}
		ret.Candidates[c.Name()] = candidate{victims, c.Victims().NumPDBViolations}
	}
	if len(found) == 0 {
		_, s := pl.PostFilter(ctx, state, pod, refused)
		ret.Hopeless = s.Message()
	}
	return nil
}

// What has happened to one object, as the scheduler's event handlers tell it.
type change struct {
	events        []fwk.ClusterEvent
	before, after runtime.Object // nil: there was, or is, none
}

func eventsOf(before, after runtime.Object) []fwk.ClusterEvent {
	o, action := after, fwk.Update
	if before == nil {
		action = fwk.Add
	} else if after == nil {
		o, action = before, fwk.Delete
	}
	switch o := o.(type) {
	case *v1.Node:
		if action == fwk.Update {
			return framework.NodeSchedulingPropertiesChange(o, before.(*v1.Node))
		}
		return []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: action}}
	case *v1.Pod:
		if action == fwk.Update {
			return framework.PodSchedulingPropertiesChange(o, before.(*v1.Pod))
		} else if o.Spec.NodeName == "" && action == fwk.Add {
			return []fwk.ClusterEvent{framework.EventUnscheduledPodAdd}
		} else if o.Spec.NodeName == "" {
			return []fwk.ClusterEvent{framework.EventUnscheduledPodDelete}
		} else if action == fwk.Add {
			return []fwk.ClusterEvent{framework.EventAssignedPodAdd}
		}
		return []fwk.ClusterEvent{framework.EventAssignedPodDelete}
	case *v1.PersistentVolume:
		return []fwk.ClusterEvent{{Resource: fwk.PersistentVolume, ActionType: action}}
	case *v1.PersistentVolumeClaim:
		return []fwk.ClusterEvent{{Resource: fwk.PersistentVolumeClaim, ActionType: action}}
	case *storagev1.StorageClass:
		return []fwk.ClusterEvent{{Resource: fwk.StorageClass, ActionType: action}}
	case *storagev1.CSINode:
		return []fwk.ClusterEvent{{Resource: fwk.CSINode, ActionType: action}}
	case *storagev1.CSIDriver:
		return []fwk.ClusterEvent{{Resource: fwk.CSIDriver, ActionType: action}}
	case *storagev1.CSIStorageCapacity:
		return []fwk.ClusterEvent{{Resource: fwk.CSIStorageCapacity, ActionType: action}}
	case *storagev1.VolumeAttachment:
		return []fwk.ClusterEvent{{Resource: fwk.VolumeAttachment, ActionType: action}}
	}
	return nil
}

// One registered event and its hint; a hint that fails counts as "queue".
func askHint(ctx context.Context, reg fwk.ClusterEventWithHint, pod *v1.Pod, c change) string {
	ret := ""
	for _, event := range c.events {
		if !framework.MatchClusterEvents(reg.Event, event) {
			continue
		}
		if reg.QueueingHintFn == nil {
			return "queue"
		}
		// Hints know "none" as a plain nil.
		var before, after any
		if c.before != nil {
			before = c.before
		}
		if c.after != nil {
			after = c.after
		}
		if hint, err := reg.QueueingHintFn(klog.FromContext(ctx), pod, before, after); err != nil || hint == fwk.Queue {
			return "queue"
		}
		ret = "skip"
	}
	return ret
}

func hints(ctx context.Context, f framework.Framework, pod *v1.Pod, changes []change) ([]map[string]string, error) {
	var ret []map[string]string
	for _, c := range changes {
		of := map[string]string{}
		for _, plugin := range f.EnqueueExtensions() {
			regs, err := plugin.EventsToRegister(ctx)
			if err != nil {
				return nil, err
			}
			for _, reg := range regs {
				if said := askHint(ctx, reg, pod, c); said == "queue" || (said == "skip" && of[plugin.Name()] == "") {
					of[plugin.Name()] = said
				}
			}
		}
		ret = append(ret, of)
	}
	return ret, nil
}

func readChanges(q *question) ([]change, error) {
	var ret []change
	for _, e := range q.Events {
		var c change
		for _, side := range []struct {
			text json.RawMessage
			to   *runtime.Object
		}{{e.Before, &c.before}, {e.After, &c.after}} {
			if len(side.text) > 0 && string(side.text) != "null" {
				o, err := decode([]json.RawMessage{side.text})
				if err != nil {
					return nil, err
				}
				*side.to = o[0]
			}
		}
		c.events = eventsOf(c.before, c.after)
		ret = append(ret, c)
	}
	return ret, nil
}

func answer(line []byte) (map[string]*verdict, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	cfg, err := readConfig(q.Config)
	if err != nil {
		return nil, err
	}
	objects, err := decode(q.Objects)
	if err != nil {
		return nil, err
	}
	pods, err := decode(q.Pods)
	if err != nil {
		return nil, err
	}
	changes, err := readChanges(&q)
	if err != nil {
		return nil, err
	}
	f, snapshot, err := makeFramework(ctx, &cfg.Profiles[0], append(objects, pods...))
	if err != nil {
		return nil, err
	}
	ret := map[string]*verdict{}
	for _, o := range pods {
		pod := o.(*v1.Pod)
		v, err := judge(ctx, f, snapshot, pod)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pod.Name, err)
		}
		if v.Hints, err = hints(ctx, f, pod, changes); err != nil {
			return nil, fmt.Errorf("%s: %w", pod.Name, err)
		}
		ret[pod.Namespace+"/"+pod.Name] = v
	}
	return ret, nil
}

func main() {
	klog.SetOutput(os.Stderr)
	klog.LogToStderr(true)
	metrics.Register()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			if pods, err := answer(line); err != nil {
				_ = out.Encode(map[string]string{"error": err.Error()})
			} else {
				_ = out.Encode(map[string]any{"pods": pods})
			}
		}
		if err != nil {
			return
		}
	}
}
