// SPDX-License-Identifier: Apache-2.0

// Package transport is an http.RoundTripper over the host: requests to the Kubernetes API, sent under the
// operator's own identity. Whatever speaks to the API through an http.Client works on it.
//
// A request is carried out when it is sent: nothing else runs in the guest until the answer has come. Watches
// and log streams are refused; a watch is declared (package operator).
package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"dormouse.dev/sdk/go/internal/abi"
	"dormouse.dev/sdk/go/operator"
)

// RoundTripper sends requests through the host of an operator.
type RoundTripper struct {
	op *operator.Operator
}

// New makes one. It can be made before Run and used inside activations.
func New(op *operator.Operator) *RoundTripper { return &RoundTripper{op} }

// ErrWatch answers requests that would not end.
var ErrWatch = errors.New("a guest cannot hold a stream open: declare a watch (For, Owns, Watches, Cache) and read from it")

// RoundTrip sends a request. The host and the scheme of its URL do not matter.
func (t *RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	host := t.op.Host()
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if host == nil {
		return nil, errors.New("no host: requests are possible only inside activations")
	}
	q := r.URL.Query()
	if isTrue(q.Get("watch")) || isTrue(q.Get("follow")) || r.Header.Get("Upgrade") != "" {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, ErrWatch)
	}
	var headers []abi.Header
	for name, values := range r.Header {
		if name = strings.ToLower(name); isKept(name) {
			headers = append(headers, abi.Header{Name: name, Value: strings.Join(values, ", ")})
		}
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	a, err := abi.Send(r.Context(), host, method, r.URL.RequestURI(), headers, body)
	if err != nil {
		return nil, err
	}
	answer := &http.Response{
		Status:        fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)),
		StatusCode:    a.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{},
		Body:          io.NopCloser(bytes.NewReader(a.Body)),
		ContentLength: int64(len(a.Body)),
		Request:       r,
	}
	for _, h := range a.Headers {
		answer.Header.Add(h.Name, h.Value)
	}
	return answer, nil
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	b, err := io.ReadAll(io.LimitReader(r.Body, abi.BodyMaxBytes+1))
	if err == nil && len(b) > abi.BodyMaxBytes {
		err = fmt.Errorf("a body of more than %d bytes", abi.BodyMaxBytes)
	}
	return b, err
}

func isTrue(v string) bool { return v == "true" || v == "1" }

// isKept: what the host makes use of; the rest would only be dropped there.
func isKept(name string) bool {
	switch name {
	case "accept", "content-type", "if-match", "if-none-match", abi.HeaderTimeout:
		return true
	}
	return false
}
