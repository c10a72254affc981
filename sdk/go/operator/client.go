// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// Client reads and writes objects as the operator's own identity. It is of use only inside activations.
//
// Get and List read the host's cache where a declared watch holds what is asked for, and the API where none does
// or Live is given. As with controller-runtime, an own write may not be visible in the cache yet.
type Client struct {
	op        *Operator
	resources map[string]Kind // "apiVersion kind" -> with Resource, from discovery
}

// ---------------------------------------------------------------- options

// ReadOption narrows or changes a read.
type ReadOption func(*readOptions)

type readOptions struct {
	namespace, labels, index, value, token, watch string
	fields                                        string
	limit                                         int
	consistent, live                              bool
}

// InNamespace: only this one.
func InNamespace(namespace string) ReadOption {
	return func(o *readOptions) { o.namespace = namespace }
}

// MatchingLabels: these labels with these values.
func MatchingLabels(labels map[string]string) ReadOption {
	return func(o *readOptions) {
		terms := make([]string, 0, len(labels))
		for k, v := range labels {
			terms = append(terms, k+"="+v)
		}
		slices.Sort(terms)
		o.addLabels(strings.Join(terms, ","))
	}
}

// MatchingSelector: what a label selector chooses.
func MatchingSelector(selector string) ReadOption {
	return func(o *readOptions) { o.addLabels(selector) }
}

func (o *readOptions) addLabels(selector string) {
	if o.labels != "" && selector != "" {
		o.labels += ","
	}
	o.labels += selector
}

// MatchingIndex: what a declared index finds.
func MatchingIndex(index, value string) ReadOption {
	return func(o *readOptions) { o.index, o.value = index, value }
}

// MatchingFields: what a field selector chooses; only for live reads.
func MatchingFields(selector string) ReadOption { return func(o *readOptions) { o.fields = selector } }

// Limit the list to one page of n items.
func Limit(n int) ReadOption { return func(o *readOptions) { o.limit = n } }

// Continue after the page that gave this token.
func Continue(token string) ReadOption { return func(o *readOptions) { o.token = token } }

// Consistent: the cache waits until it has seen everything that the API server had acknowledged.
func Consistent() ReadOption { return func(o *readOptions) { o.consistent = true } }

// FromWatch: from the cache of the watch with this id.
func FromWatch(id string) ReadOption { return func(o *readOptions) { o.watch = id } }

// Live: from the API server instead of the cache.
func Live() ReadOption { return func(o *readOptions) { o.live = true } }

// WriteOption changes a write.
type WriteOption func(*writeOptions)

type writeOptions struct {
	owner         string
	force, dryRun bool
	uid, version  string
	propagation   string
	grace         *int64
}

// FieldOwner is the manager of the fields written; the operator's name otherwise.
func FieldOwner(name string) WriteOption { return func(o *writeOptions) { o.owner = name } }

// ForceOwnership takes fields that others have applied.
func ForceOwnership() WriteOption { return func(o *writeOptions) { o.force = true } }

// DryRun changes nothing.
func DryRun() WriteOption { return func(o *writeOptions) { o.dryRun = true } }

// Preconditions of a delete: it fails with Conflict if the uid, or the version where it is not "", is another.
func Preconditions(uid, resourceVersion string) WriteOption {
	return func(o *writeOptions) { o.uid, o.version = uid, resourceVersion }
}

// Propagation of a delete: "Foreground", "Background" or "Orphan".
func Propagation(policy string) WriteOption { return func(o *writeOptions) { o.propagation = policy } }

// GracePeriod of a delete.
func GracePeriod(d time.Duration) WriteOption {
	return func(o *writeOptions) { s := int64(d / time.Second); o.grace = &s }
}

// ---------------------------------------------------------------- reads

// Get reads one object into *object.
func (c *Client) Get(ctx context.Context, key NamespacedName, object Object, options ...ReadOption) error {
	kind, err := KindOf(object)
	if err != nil {
		return err
	}
	var o readOptions
	for _, option := range options {
		option(&o)
	}
	metadata := isMetadata(reflect.TypeOf(object))
	if found, err := c.delivered(kind, key, metadata, object, &o); found {
		return err
	}
	w, err := c.watchFor(kind, key.Namespace, metadata, true, &o)
	if err != nil {
		return err
	}
	what := kind.Kind + " " + key.String()
	if w == nil {
		return c.getLive(ctx, kind, key, object)
	}
	q, err := json.Marshal(&abi.GetQuery{Watch: w.decl.ID, Namespace: key.Namespace, Name: key.Name, Consistent: o.consistent})
	if err != nil {
		return err
	}
	b, err := c.op.host.CacheGet(q)
	if err != nil {
		err = cacheError(err, what)
		if IsNotFound(err) && w.isNarrow() && o.watch == "" {
			return c.getLive(ctx, kind, key, object)
		}
		return err
	}
	return decode(b, object)
}

// delivered reads the primary that came with the activation, if that is what is asked for.
func (c *Client) delivered(kind Kind, key NamespacedName, metadata bool, object Object, o *readOptions) (bool, error) {
	a := c.op.current
	if a == nil || a.object == nil || a.primary == nil || a.key != key || o.live || o.consistent {
		return false, nil
	}
	w := a.primary
	if w.kind.APIVersion != kind.APIVersion || w.kind.Kind != kind.Kind || o.watch != "" && o.watch != w.decl.ID ||
		w.decl.MetadataOnly && !metadata {
		return false, nil
	}
	if string(a.object) != "null" {
		return true, decode(a.object, object)
	}
	if w.isNarrow() {
		return false, nil // it may be there all the same
	}
	return true, &StatusError{Code: 404, Reason: "NotFound", Message: kind.Kind + " " + key.String() + " not found"}
}

// watchFor finds the cache that can answer a read; nil when only the API can.
func (c *Client) watchFor(kind Kind, namespace string, metadata, one bool, o *readOptions) (*watch, error) {
	if c.op.host == nil {
		return nil, errors.New("no host: a Client is of use only inside activations")
	}
	if o.watch != "" {
		if w := c.op.watch(o.watch); w != nil {
			return w, nil
		}
		return nil, fmt.Errorf("no watch %q", o.watch)
	}
	if o.live || o.fields != "" {
		if o.index != "" {
			return nil, fmt.Errorf("index %q is looked up in the cache, not with Live or MatchingFields", o.index)
		}
		return nil, nil
	}
	var found *watch
	for _, w := range c.op.watches {
		fits := w.kind.APIVersion == kind.APIVersion && w.kind.Kind == kind.Kind && w.holds(namespace) &&
			(metadata || !w.decl.MetadataOnly) && (one || !w.isNarrow())
		if fits && o.index != "" {
			fits = slices.ContainsFunc(w.decl.Indexes, func(i abi.Index) bool { return i.Name == o.index })
		}
		if fits && (found == nil || found.isNarrow() && !w.isNarrow()) {
			found = w
		}
	}
	if found == nil && o.index != "" {
		return nil, fmt.Errorf("no watch of %v has the index %q", kind, o.index)
	}
	return found, nil
}

func (c *Client) getLive(ctx context.Context, kind Kind, key NamespacedName, object Object) error {
	target, err := c.path(ctx, kind, key.Namespace, key.Name, "")
	if err != nil {
		return err
	}
	accept := ""
	if isMetadata(reflect.TypeOf(object)) {
		accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	}
	r, err := c.do(ctx, "GET", target, accept, "", nil)
	if err != nil {
		return err
	}
	return decodeAs(r.Body, object, kind)
}

// decodeAs decodes metadata with the kind of the object instead of PartialObjectMetadata.
func decodeAs(b []byte, object Object, kind Kind) error {
	if err := decode(b, object); err != nil {
		return err
	}
	if isMetadata(reflect.TypeOf(object)) {
		m := fieldOf(object, "TypeMeta")
		m.FieldByName("APIVersion").SetString(kind.APIVersion)
		m.FieldByName("Kind").SetString(kind.Kind)
	}
	return nil
}

// Page is what a list with Limit leaves to be read.
type Page struct {
	ResourceVersion string
	Continue        string
	Remaining       int64
}

// List reads objects into list, a pointer to a struct with Items: List[T], or the kind's own list type. All pages
// are read, unless Limit is given.
func (c *Client) List(ctx context.Context, list any, options ...ReadOption) error {
	_, err := c.ListPage(ctx, list, options...)
	return err
}

// ListPage is List that also says how to go on after Limit.
func (c *Client) ListPage(ctx context.Context, list any, options ...ReadOption) (Page, error) {
	kind, items, err := listKind(list)
	if err != nil {
		return Page{}, err
	}
	var o readOptions
	for _, option := range options {
		option(&o)
	}
	metadata := isMetadata(items.Type().Elem())
	w, err := c.watchFor(kind, o.namespace, metadata, false, &o)
	if err != nil {
		return Page{}, err
	}
	read := func(token string) (*abi.Page, error) { return c.pageLive(ctx, kind, metadata, token, &o) }
	if w != nil {
		read = func(token string) (*abi.Page, error) { return c.pageCached(kind, w, metadata, token, &o) }
	}
	all := reflect.New(items.Type()).Elem()
	page := Page{Continue: o.token}
	for {
		p, err := read(page.Continue)
		if err != nil {
			return Page{}, err
		}
		part := reflect.New(items.Type())
		if err := json.Unmarshal(p.Items, part.Interface()); err != nil {
			return Page{}, fmt.Errorf("list of %v: %w", kind, err)
		}
		all = reflect.AppendSlice(all, part.Elem())
		page = Page{p.ResourceVersion, p.Continue, p.RemainingItemCount}
		if o.limit > 0 || page.Continue == "" {
			break
		}
	}
	items.Set(all)
	if v := fieldOf(list, "ResourceVersion"); v.IsValid() && v.Kind() == reflect.String {
		v.SetString(page.ResourceVersion)
	}
	return page, nil
}

func (c *Client) pageCached(kind Kind, w *watch, metadata bool, token string, o *readOptions) (*abi.Page, error) {
	q := abi.ListQuery{Watch: w.decl.ID, Namespace: o.namespace, LabelSelector: o.labels, Index: o.index, Value: o.value,
		Limit: o.limit, Continue: token, Consistent: o.consistent}
	if metadata {
		q.View = "metadata"
	}
	b, err := json.Marshal(&q)
	if err != nil {
		return nil, err
	}
	b, err = c.op.host.CacheList(b)
	if err != nil {
		return nil, cacheError(err, "list of "+kind.Kind)
	}
	var p abi.Page
	return &p, json.Unmarshal(b, &p)
}

func (c *Client) pageLive(ctx context.Context, kind Kind, metadata bool, token string, o *readOptions) (*abi.Page, error) {
	target, err := c.path(ctx, kind, o.namespace, "", "")
	if err != nil {
		return nil, err
	}
	limit := o.limit
	if limit == 0 {
		limit = 500
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{"labelSelector": o.labels, "fieldSelector": o.fields, "continue": token} {
		if value != "" {
			query.Set(name, value)
		}
	}
	accept := ""
	if metadata {
		accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	}
	r, err := c.do(ctx, "GET", target+"?"+query.Encode(), accept, "", nil)
	if err != nil {
		return nil, err
	}
	var l struct {
		Metadata struct {
			ResourceVersion    string
			Continue           string
			RemainingItemCount int64
		}
		Items json.RawMessage
	}
	err = json.Unmarshal(r.Body, &l)
	if l.Items == nil {
		l.Items = json.RawMessage("[]")
	}
	return &abi.Page{ResourceVersion: l.Metadata.ResourceVersion, Items: l.Items, Continue: l.Metadata.Continue,
		RemainingItemCount: l.Metadata.RemainingItemCount}, err
}

// ---------------------------------------------------------------- writes

// Create makes the object; *object becomes what the server has stored.
func (c *Client) Create(ctx context.Context, object Object, options ...WriteOption) error {
	return c.write(ctx, "POST", "", "application/json", object, nil, options)
}

// Update replaces the object. With a resourceVersion it fails with Conflict if the object has changed since.
func (c *Client) Update(ctx context.Context, object Object, options ...WriteOption) error {
	return c.write(ctx, "PUT", "", "application/json", object, nil, options)
}

// Patch changes the object as the patch says.
func (c *Client) Patch(ctx context.Context, object Object, patch Patch, options ...WriteOption) error {
	return c.patch(ctx, "", object, patch, options)
}

// Apply is server-side apply of the object as it stands: it holds the fields that the operator decides, and
// nothing else.
func (c *Client) Apply(ctx context.Context, object Object, options ...WriteOption) error {
	return c.apply(ctx, "", object, options)
}

// Delete asks for the object to be deleted.
func (c *Client) Delete(ctx context.Context, object Object, options ...WriteOption) error {
	kind, err := KindOf(object)
	if err != nil {
		return err
	}
	o := writeOptionsOf(options)
	target, err := c.path(ctx, kind, object.GetNamespace(), object.GetName(), "")
	if err != nil {
		return err
	}
	type preconditions struct {
		UID             string `json:"uid,omitempty"`
		ResourceVersion string `json:"resourceVersion,omitempty"`
	}
	body := struct {
		APIVersion    string         `json:"apiVersion"`
		Kind          string         `json:"kind"`
		Grace         *int64         `json:"gracePeriodSeconds,omitempty"`
		Preconditions *preconditions `json:"preconditions,omitempty"`
		Propagation   string         `json:"propagationPolicy,omitempty"`
		DryRun        []string       `json:"dryRun,omitempty"`
	}{APIVersion: "v1", Kind: "DeleteOptions", Grace: o.grace, Propagation: o.propagation}
	if o.uid != "" || o.version != "" {
		body.Preconditions = &preconditions{o.uid, o.version}
	}
	if o.dryRun {
		body.DryRun = []string{"All"}
	}
	b, err := json.Marshal(&body)
	if err == nil {
		_, err = c.do(ctx, "DELETE", target, "", "application/json", b)
	}
	return err
}

// Status writes the status subresource.
func (c *Client) Status() SubResource { return SubResource{c, "status"} }

// SubResource writes a subresource ("status", "scale", ...).
func (c *Client) SubResource(name string) SubResource { return SubResource{c, name} }

// SubResource of objects.
type SubResource struct {
	c    *Client
	name string
}

func (s SubResource) Update(ctx context.Context, object Object, options ...WriteOption) error {
	return s.c.write(ctx, "PUT", s.name, "application/json", object, nil, options)
}

func (s SubResource) Patch(ctx context.Context, object Object, patch Patch, options ...WriteOption) error {
	return s.c.patch(ctx, s.name, object, patch, options)
}

func (s SubResource) Apply(ctx context.Context, object Object, options ...WriteOption) error {
	return s.c.apply(ctx, s.name, object, options)
}

func writeOptionsOf(options []WriteOption) (o writeOptions) {
	for _, option := range options {
		option(&o)
	}
	return o
}

func (c *Client) patch(ctx context.Context, sub string, object Object, patch Patch, options []WriteOption) error {
	b, err := patch.data(object)
	if err != nil {
		return err
	}
	return c.write(ctx, "PATCH", sub, patch.mediaType, object, b, options)
}

func (c *Client) apply(ctx context.Context, sub string, object Object, options []WriteOption) error {
	return c.write(ctx, "PATCH", sub, "application/apply-patch+yaml", object, nil, options)
}

// write sends body, or the object itself, and takes the answer into *object.
func (c *Client) write(ctx context.Context, method, sub, mediaType string, object Object, body []byte, options []WriteOption) error {
	kind, err := KindOf(object)
	if err != nil {
		return err
	}
	if body == nil {
		if body, err = encode(object, kind); err != nil {
			return err
		}
	}
	name := object.GetName()
	if method == "POST" {
		name = ""
	} else if name == "" {
		return fmt.Errorf("%v: an object to be written needs a name", kind)
	}
	target, err := c.path(ctx, kind, object.GetNamespace(), name, sub)
	if err != nil {
		return err
	}
	o := writeOptionsOf(options)
	query := url.Values{}
	if o.owner != "" {
		query.Set("fieldManager", o.owner)
	}
	if o.force {
		query.Set("force", "true")
	}
	if o.dryRun {
		query.Set("dryRun", "All")
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := c.do(ctx, method, target, "", mediaType, body)
	if err != nil {
		return err
	}
	return decodeAs(r.Body, object, kind)
}

// ---------------------------------------------------------------- the wire

// do sends one request; a status of 400 and above is an error.
func (c *Client) do(ctx context.Context, method, target, accept, mediaType string, body []byte) (*abi.Response, error) {
	if c.op.host == nil {
		return nil, errors.New("no host: a Client is of use only inside activations")
	}
	headers := []abi.Header{{Name: "accept", Value: "application/json"}}
	if accept != "" {
		headers[0].Value = accept
	}
	if mediaType != "" {
		headers = append(headers, abi.Header{Name: "content-type", Value: mediaType})
	}
	r, err := abi.Send(ctx, c.op.host, method, target, headers, body)
	if err != nil {
		return nil, err
	}
	if r.Status >= 400 {
		return nil, statusError(r)
	}
	return r, nil
}

// path of a kind's collection, or of one object and perhaps its subresource.
func (c *Client) path(ctx context.Context, kind Kind, namespace, name, sub string) (string, error) {
	kind, err := c.resolve(ctx, kind)
	if err != nil {
		return "", err
	}
	p := kind.base()
	if !kind.ClusterScoped && namespace != "" {
		p += "/namespaces/" + url.PathEscape(namespace)
	} else if !kind.ClusterScoped && name != "" {
		return "", fmt.Errorf("%v %s: an object of this kind needs a namespace", kind, name)
	}
	p += "/" + kind.Resource
	if name != "" {
		p += "/" + url.PathEscape(name)
	}
	if sub != "" {
		p += "/" + sub
	}
	return p, nil
}

// resolve asks discovery for the resource of a kind once.
func (c *Client) resolve(ctx context.Context, kind Kind) (Kind, error) {
	if kind.Resource != "" {
		return kind, nil
	}
	if k, ok := c.resources[kind.String()]; ok {
		return k, nil
	}
	r, err := c.do(ctx, "GET", kind.base(), "", "", nil)
	if err != nil {
		return kind, fmt.Errorf("discovery of %v: %w", kind, err)
	}
	var list struct {
		Resources []struct {
			Name       string
			Kind       string
			Namespaced bool
		}
	}
	if err := json.Unmarshal(r.Body, &list); err != nil {
		return kind, fmt.Errorf("discovery of %v: %w", kind, err)
	}
	for _, r := range list.Resources {
		if r.Kind == kind.Kind && !strings.Contains(r.Name, "/") {
			kind.Resource, kind.ClusterScoped = r.Name, !r.Namespaced
			if c.resources == nil {
				c.resources = map[string]Kind{}
			}
			c.resources[kind.String()] = kind
			return kind, nil
		}
	}
	return kind, fmt.Errorf("the API has no kind %v", kind)
}

// RawRequest sends any request to the API and gives its status, media type and body. It is what Client does not
// know: /version, OpenAPI, subresources with kinds of their own.
func (c *Client) RawRequest(ctx context.Context, method, target, mediaType string, body []byte) ([]byte, error) {
	r, err := c.do(ctx, method, target, "", mediaType, body)
	if err != nil {
		return nil, err
	}
	return r.Body, nil
}

// ---------------------------------------------------------------- conveniences

// CreateOrUpdate brings an object to the state that mutate gives it: mutate is called on the object as it is, or
// on an empty one, and what it changed is written. What it says was done is "created", "updated" or "unchanged".
func CreateOrUpdate(ctx context.Context, c *Client, object Object, mutate func() error) (string, error) {
	key := KeyOf(object)
	err := c.Get(ctx, key, object)
	if IsNotFound(err) {
		if err := mutate(); err != nil {
			return "", err
		}
		return "created", c.Create(ctx, object)
	}
	if err != nil {
		return "", err
	}
	before, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	if err := mutate(); err != nil {
		return "", err
	}
	if KeyOf(object) != key {
		return "", fmt.Errorf("mutate changed the key of %v", key)
	}
	after, err := json.Marshal(object)
	if err != nil || string(before) == string(after) {
		return "unchanged", err
	}
	return "updated", c.Update(ctx, object)
}
