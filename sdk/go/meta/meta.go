// SPDX-License-Identifier: Apache-2.0

// Package meta has the parts of a Kubernetes object that all kinds share, for kinds whose Go types are
// written without k8s.io/apimachinery. Types made with that package work as well wherever the SDK wants
// an object.
package meta

import (
	"slices"
	"time"
)

// TypeMeta says what an object is. Embed it with `json:",inline"`.
type TypeMeta struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
}

// ObjectMeta is an object's metadata. Embed it with `json:"metadata"`.
type ObjectMeta struct {
	Name                       string            `json:"name,omitempty"`
	GenerateName               string            `json:"generateName,omitempty"`
	Namespace                  string            `json:"namespace,omitempty"`
	UID                        string            `json:"uid,omitempty"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int64             `json:"generation,omitempty"`
	CreationTimestamp          time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp          *time.Time        `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
	OwnerReferences            []OwnerReference  `json:"ownerReferences,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
}

// OwnerReference names an object that this one belongs to.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

func (m *ObjectMeta) GetName() string                    { return m.Name }
func (m *ObjectMeta) SetName(s string)                   { m.Name = s }
func (m *ObjectMeta) GetNamespace() string               { return m.Namespace }
func (m *ObjectMeta) SetNamespace(s string)              { m.Namespace = s }
func (m *ObjectMeta) GetResourceVersion() string         { return m.ResourceVersion }
func (m *ObjectMeta) SetResourceVersion(s string)        { m.ResourceVersion = s }
func (m *ObjectMeta) GetGeneration() int64               { return m.Generation }
func (m *ObjectMeta) GetLabels() map[string]string       { return m.Labels }
func (m *ObjectMeta) SetLabels(v map[string]string)      { m.Labels = v }
func (m *ObjectMeta) GetAnnotations() map[string]string  { return m.Annotations }
func (m *ObjectMeta) SetAnnotations(v map[string]string) { m.Annotations = v }
func (m *ObjectMeta) GetFinalizers() []string            { return m.Finalizers }
func (m *ObjectMeta) SetFinalizers(v []string)           { m.Finalizers = v }

// Condition is one entry of status.conditions.
type Condition struct {
	Type               string          `json:"type"`
	Status             ConditionStatus `json:"status"`
	ObservedGeneration int64           `json:"observedGeneration,omitempty"`
	LastTransitionTime time.Time       `json:"lastTransitionTime"`
	Reason             string          `json:"reason"`
	Message            string          `json:"message"`
}

// ConditionStatus is True, False or Unknown.
type ConditionStatus string

const (
	True    ConditionStatus = "True"
	False   ConditionStatus = "False"
	Unknown ConditionStatus = "Unknown"
)

// SetCondition enters c into the list, or brings the entry of its type up to date, and says whether anything
// changed. LastTransitionTime moves only with the status; where c has none, `now` is taken, in whole seconds
// as Kubernetes keeps them.
func SetCondition(list *[]Condition, c Condition, now time.Time) bool {
	if c.LastTransitionTime.IsZero() {
		c.LastTransitionTime = now
	}
	c.LastTransitionTime = c.LastTransitionTime.UTC().Truncate(time.Second)
	i := slices.IndexFunc(*list, func(o Condition) bool { return o.Type == c.Type })
	if i < 0 {
		*list = append(*list, c)
		return true
	}
	old := &(*list)[i]
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	changed := *old != c
	*old = c
	return changed
}

// FindCondition gives the entry of that type, or nil.
func FindCondition(list []Condition, kind string) *Condition {
	i := slices.IndexFunc(list, func(c Condition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// IsTrue says whether the condition of that type is there and True.
func IsTrue(list []Condition, kind string) bool {
	c := FindCondition(list, kind)
	return c != nil && c.Status == True
}
