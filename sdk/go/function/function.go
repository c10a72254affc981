// SPDX-License-Identifier: Apache-2.0

// Package function makes an http.Handler a function of dormouse: a WebAssembly reactor
// (docs/function-abi.md).
//
//	package main
//
//	func init() {
//		function.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//			fmt.Fprintln(w, "hello")
//		}))
//	}
//
//	func main() {}
//
// Built with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared. Serve belongs into init(), which
// runs once for the module; main() never runs. Every request finds the memory as it is after all
// init() functions, unless the function asks for reuse: what they read from math/rand is the same in
// each, crypto/rand asks the host every time.
//
// A program that is a command needs none of this: net/http/cgi's Serve(handler), built without
// -buildmode.
package function

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// What the host refused.
var (
	ErrInvalid  = errors.New("function: not allowed now, or not well-formed")
	ErrNotFound = errors.New("function: not found")
	ErrTooLarge = errors.New("function: too large")
	ErrTimeout  = errors.New("function: the deadline has passed")
	ErrGone     = errors.New("function: the client has gone")
)

func errorOf(code int32) error {
	switch {
	case code >= 0:
		return nil
	case code == -2:
		return ErrNotFound
	case code == -5:
		return ErrTooLarge
	case code == -7:
		return ErrTimeout
	case code == -10:
		return ErrGone
	}
	return ErrInvalid
}

// host is the module dormouse_http_v1, or a test's.
type host interface {
	requestHead(p []byte) int32
	bodyRead(p []byte) int32
	respond(status int, fields []byte) int32
	bodyWrite(p []byte) int32
	flush() int32
	trailers(fields []byte) int32
}

var handler http.Handler

// Serve makes h the function of this module. Call it in an init().
func Serve(h http.Handler) { handler = h }

type body struct{ h host }

func (b body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n := b.h.bodyRead(p)
	if n < 0 {
		return 0, errorOf(n)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return int(n), nil
}

func (b body) Close() error { return nil }

func readHead(h host) (*http.Request, error) {
	p := make([]byte, 4096)
	for {
		n := h.requestHead(p)
		if n < 0 {
			return nil, errorOf(n)
		}
		if int(n) <= len(p) {
			return parseHead(string(p[:n]), body{h})
		}
		p = make([]byte, n)
	}
}

func parseHead(head string, b io.ReadCloser) (*http.Request, error) {
	r := &http.Request{
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: b, ContentLength: -1,
	}
	scheme, callID := "", ""
	for _, line := range strings.Split(strings.TrimSuffix(head, "\n"), "\n") {
		at := strings.Index(line[min(1, len(line)):], ": ") + 1
		if at <= 0 {
			return nil, ErrInvalid
		}
		name, value := line[:at], line[at+2:]
		switch name {
		case ":method":
			r.Method = value
		case ":target":
			r.RequestURI = value
		case ":authority":
			r.Host = value
		case ":scheme":
			scheme = value
		case ":peer":
			r.RemoteAddr = value
		case ":call-id":
			callID = value
		default:
			r.Header.Add(name, value)
		}
	}
	u, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return nil, err
	}
	r.URL = u
	if callID != "" {
		r.Header.Set("X-Call-Id", callID)
	}
	if scheme != "" {
		r.Header.Set("X-Forwarded-Proto", scheme)
	}
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); err == nil {
		r.ContentLength = n
	}
	return r, nil
}

// writer is an http.ResponseWriter, an http.Flusher, and knows trailers as net/http does: fields
// announced in Trailer, and those with http.TrailerPrefix.
type writer struct {
	h         host
	header    http.Header
	announced []string
	began     bool
	err       error
}

func (w *writer) Header() http.Header { return w.header }

func putFields(to *bytes.Buffer, name string, values []string) {
	for _, v := range values {
		to.WriteString(strings.ToLower(name))
		to.WriteString(": ")
		to.WriteString(strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ").Replace(v))
		to.WriteByte('\n')
	}
}

func (w *writer) WriteHeader(status int) {
	if w.began || status < 200 {
		return
	}
	w.began = true
	var fields bytes.Buffer
	for name, values := range w.header {
		if name == "Trailer" {
			for _, v := range values {
				for _, t := range strings.Split(v, ",") {
					w.announced = append(w.announced, http.CanonicalHeaderKey(strings.TrimSpace(t)))
				}
			}
			continue
		}
		if !strings.HasPrefix(name, http.TrailerPrefix) {
			putFields(&fields, name, values)
		}
	}
	w.err = errorOf(w.h.respond(status, fields.Bytes()))
}

func (w *writer) Write(p []byte) (int, error) {
	if !w.began {
		if w.header.Get("Content-Type") == "" {
			w.header.Set("Content-Type", http.DetectContentType(p))
		}
		w.WriteHeader(http.StatusOK)
	}
	if w.err == nil {
		w.err = errorOf(w.h.bodyWrite(p))
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

func (w *writer) Flush() {
	w.WriteHeader(http.StatusOK)
	if w.err == nil {
		w.err = errorOf(w.h.flush())
	}
}

func (w *writer) finish() {
	w.WriteHeader(http.StatusOK)
	var fields bytes.Buffer
	for _, name := range w.announced {
		putFields(&fields, name, w.header[name])
	}
	for name, values := range w.header {
		if rest, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			putFields(&fields, rest, values)
		}
	}
	if w.err == nil && fields.Len() > 0 {
		w.err = errorOf(w.h.trailers(fields.Bytes()))
	}
}

// run is one request; the result is the handler's, as the ABI has it.
func run(h host) int32 {
	if handler == nil {
		return 1
	}
	r, err := readHead(h)
	w := &writer{h: h, header: http.Header{}}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return 0
	}
	handler.ServeHTTP(w, r)
	w.finish()
	if w.err != nil && !errors.Is(w.err, ErrGone) {
		return 1
	}
	return 0
}
