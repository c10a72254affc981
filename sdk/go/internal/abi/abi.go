// SPDX-License-Identifier: Apache-2.0

// Package abi is guest ABI v1 (docs/guest-abi.md) as Go sees it: the host behind an interface, so that the
// SDK runs on the real one (guest_wasip1.go) and on operatortest's, and the messages both sides exchange.
package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Host is what a guest may call. The bytes given are copied or done with when a call returns; those it
// returns belong to the caller.
type Host interface {
	Declare(declaration []byte) error
	Request(head, body []byte) ([]byte, error)
	CacheGet(query []byte) ([]byte, error)
	CacheList(query []byte) ([]byte, error)
	ConfigGet(name string) ([]byte, error)
	Enqueue(message []byte)
	Event(message []byte)
	Metric(index int, labels []byte, value float64)
	Log(level int, text string, keyValues []byte)
	Fail(text string)
}

// Code is an error code of section 2.
type Code int32

const (
	Invalid     Code = -1
	NotFound    Code = -2
	Forbidden   Code = -3
	NotDeclared Code = -4
	TooLarge    Code = -5
	Limited     Code = -6
	Timeout     Code = -7
	Unavailable Code = -8
	Expired     Code = -9
	Cancelled   Code = -10
	NotSynced   Code = -11
)

func (c Code) String() string {
	names := [...]string{"ok", "invalid", "not-found", "forbidden", "not-declared", "too-large", "limited", "timeout",
		"unavailable", "expired", "cancelled", "not-synced"}
	if c <= 0 && int(-c) < len(names) {
		return names[-c]
	}
	return "code " + strconv.Itoa(int(c))
}

// Error is a call that the host refused or could not answer.
type Error struct {
	Call string
	Code Code
	Text string
}

func (e *Error) Error() string {
	if e.Text == "" {
		return e.Call + ": " + e.Code.String()
	}
	return e.Call + ": " + e.Code.String() + ": " + e.Text
}

// What dormouse_v1_activate returns; a positive number is a requeue in milliseconds.
const (
	Done           = 0
	Failed         = -1
	FailedForGood  = -2
	RequeueMaxMS   = 1 << 40
	LogDebug       = 0
	LogInfo        = 1
	LogWarning     = 2
	LogError       = 3
	HeaderTimeout  = "dormouse-timeout-ms"
	HeaderError    = "dormouse-error"
	TimeoutMaxMS   = 300000
	QueryMaxBytes  = 16 << 10
	BodyMaxBytes   = 3 << 20
	AnswerMaxBytes = 16 << 20
	PostedMax      = 1024 // in one activation, of which
	PostedLogsMax  = 256  // are log lines; more of those are left out
)

// Header is one line of a head, the name in lower case.
type Header struct{ Name, Value string }

// Response is the answer to a request.
type Response struct {
	Status  int
	Headers []Header
	Body    []byte
}

// Get gives the first header of that name, or "".
func (r *Response) Get(name string) string {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// AppendHead adds a request's head to b. What could end a line early is refused.
func AppendHead(b []byte, method, target string, headers []Header) ([]byte, error) {
	if method == "" || target == "" || strings.ContainsAny(method, " \r\n") || strings.ContainsAny(target, " \r\n") {
		return b, fmt.Errorf("not a request: %q %q", method, target)
	}
	b = append(append(append(b, method...), ' '), target...)
	b = append(b, '\n')
	for _, h := range headers {
		if h.Name == "" || strings.ContainsAny(h.Name, ": \r\n") || strings.ContainsAny(h.Value, "\r\n") {
			return b, fmt.Errorf("not a header: %q: %q", h.Name, h.Value)
		}
		b = append(append(b, h.Name...), ": "...)
		b = append(append(b, h.Value...), '\n')
	}
	return b, nil
}

// ParseHead takes a head apart.
func ParseHead(head []byte) (method, target string, headers []Header, err error) {
	first, rest, _ := strings.Cut(string(head), "\n")
	method, target, ok := strings.Cut(first, " ")
	if !ok || method == "" || !strings.HasPrefix(target, "/") {
		return "", "", nil, fmt.Errorf("not METHOD TARGET: %q", first)
	}
	headers, err = parseHeaders(rest)
	return method, target, headers, err
}

func parseHeaders(lines string) (headers []Header, err error) {
	for line := range strings.SplitSeq(lines, "\n") {
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("not a header: %q", line)
		}
		headers = append(headers, Header{strings.ToLower(name), strings.TrimSpace(value)})
	}
	return headers, nil
}

// AppendResponse encodes a response as api_request leaves it.
func AppendResponse(b []byte, r *Response) []byte {
	var lines []byte
	for _, h := range r.Headers {
		lines = append(lines, h.Name+": "+h.Value+"\n"...)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Status))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(lines)))
	return append(append(b, lines...), r.Body...)
}

// ParseResponse decodes what api_request left. The body is a part of b.
func ParseResponse(b []byte) (*Response, error) {
	if len(b) < 8 {
		return nil, errors.New("a truncated answer")
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if uint64(n) > uint64(len(b)-8) {
		return nil, errors.New("a truncated answer")
	}
	headers, err := parseHeaders(string(b[8 : 8+n]))
	if err != nil {
		return nil, err
	}
	return &Response{int(binary.LittleEndian.Uint32(b)), headers, b[8+n:]}, nil
}
