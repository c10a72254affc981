// SPDX-License-Identifier: Apache-2.0

package abi

import "encoding/json"

// Declaration is what declare takes (section 3).
type Declaration struct {
	ABI         int          `json:"abi"`
	Name        string       `json:"name,omitempty"`
	Version     string       `json:"version,omitempty"`
	Stateless   bool         `json:"stateless,omitempty"`
	Instances   int          `json:"instances,omitempty"`
	Controllers []Controller `json:"controllers"`
	Caches      []Watch      `json:"caches,omitempty"`
	Config      []Config     `json:"config,omitempty"`
	Metrics     []Metric     `json:"metrics,omitempty"`
}

type Controller struct {
	Name          string   `json:"name"`
	For           Watch    `json:"for"`
	Owns          []Watch  `json:"owns,omitempty"`
	Watches       []Watch  `json:"watches,omitempty"`
	Concurrency   int      `json:"concurrency,omitempty"`
	ResyncSeconds *int64   `json:"resyncSeconds,omitempty"`
	Backoff       *Backoff `json:"backoff,omitempty"`
	Rate          *Rate    `json:"rate,omitempty"`
	SlackPercent  *int     `json:"slackPercent,omitempty"`
	DebounceMs    int64    `json:"debounceMs,omitempty"`
}

type Backoff struct {
	BaseMs int64 `json:"baseMs"`
	MaxMs  int64 `json:"maxMs"`
}

type Rate struct {
	PerSecond float64 `json:"perSecond"`
	Burst     int     `json:"burst"`
}

type Watch struct {
	ID            string     `json:"id"`
	APIVersion    string     `json:"apiVersion"`
	Kind          string     `json:"kind"`
	Namespaces    []string   `json:"namespaces,omitempty"`
	Name          string     `json:"name,omitempty"`
	LabelSelector string     `json:"labelSelector,omitempty"`
	FieldSelector string     `json:"fieldSelector,omitempty"`
	MetadataOnly  bool       `json:"metadataOnly,omitempty"`
	Strip         []string   `json:"strip,omitempty"`
	Indexes       []Index    `json:"indexes,omitempty"`
	Predicate     *Predicate `json:"predicate,omitempty"`
	AnyOwner      bool       `json:"anyOwner,omitempty"`
	Map           *Map       `json:"map,omitempty"`
}

type Index struct {
	Name  string `json:"name"`
	Field string `json:"field,omitempty"`
	Label string `json:"label,omitempty"`
	Owner bool   `json:"owner,omitempty"`
}

// Predicate is one form of the table in section 3: exactly one member is set.
type Predicate struct {
	Changed string      `json:"changed,omitempty"`
	On      []string    `json:"on,omitempty"`
	Labels  string      `json:"labels,omitempty"`
	And     []Predicate `json:"and,omitempty"`
	Or      []Predicate `json:"or,omitempty"`
	Not     *Predicate  `json:"not,omitempty"`
}

// Map is one form of the table in section 3.
type Map struct {
	Owner          bool   `json:"owner,omitempty"`
	Field          string `json:"field,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	Label          string `json:"label,omitempty"`
	Annotation     string `json:"annotation,omitempty"`
	Index          string `json:"index,omitempty"`
	Value          string `json:"value,omitempty"`
	All            bool   `json:"all,omitempty"`
	SameNamespace  bool   `json:"sameNamespace,omitempty"`
	Key            *Key   `json:"key,omitempty"`
}

type Key struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type Config struct {
	Name      string `json:"name"`
	ConfigMap string `json:"configMap,omitempty"`
	Secret    string `json:"secret,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Optional  bool   `json:"optional,omitempty"`
	OnChange  string `json:"onChange,omitempty"`
}

type Metric struct {
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Help    string    `json:"help,omitempty"`
	Labels  []string  `json:"labels,omitempty"`
	Buckets []float64 `json:"buckets,omitempty"`
}

// Activation is the message of section 4. Object is nil when absent and "null" when there is no primary.
type Activation struct {
	Type       string          `json:"type"`
	Controller string          `json:"controller,omitempty"`
	Namespace  string          `json:"namespace,omitempty"`
	Name       string          `json:"name,omitempty"`
	Reasons    []string        `json:"reasons,omitempty"`
	Attempt    int             `json:"attempt,omitempty"`
	Object     json.RawMessage `json:"object,omitempty"`
}

// GetQuery is cache_get's argument.
type GetQuery struct {
	Watch      string `json:"watch"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Consistent bool   `json:"consistent,omitempty"`
}

// ListQuery is cache_list's argument.
type ListQuery struct {
	Watch         string `json:"watch"`
	Namespace     string `json:"namespace,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	Index         string `json:"index,omitempty"`
	Value         string `json:"value,omitempty"`
	View          string `json:"view,omitempty"`
	Limit         int    `json:"limit,omitempty"`
	Continue      string `json:"continue,omitempty"`
	Consistent    bool   `json:"consistent,omitempty"`
}

// Page is cache_list's result.
type Page struct {
	ResourceVersion    string          `json:"resourceVersion"`
	Items              json.RawMessage `json:"items"`
	Continue           string          `json:"continue,omitempty"`
	RemainingItemCount int64           `json:"remainingItemCount,omitempty"`
}

type ConfigData struct {
	Data            map[string]string `json:"data,omitempty"`
	BinaryData      map[string][]byte `json:"binaryData,omitempty"`
	ResourceVersion string            `json:"resourceVersion"`
}

type Enqueue struct {
	Controller string `json:"controller"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	AfterMs    int64  `json:"afterMs,omitempty"`
	Priority   string `json:"priority,omitempty"`
}

type Reference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

type Event struct {
	Type      string     `json:"type"`
	Reason    string     `json:"reason"`
	Action    string     `json:"action,omitempty"`
	Note      string     `json:"note,omitempty"`
	Regarding Reference  `json:"regarding"`
	Related   *Reference `json:"related,omitempty"`
}
