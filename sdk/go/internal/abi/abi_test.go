// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAHeadGoesThereAndBack(t *testing.T) {
	b, err := AppendHead(nil, "PATCH", "/api/v1/x?y=z", []Header{{"content-type", "a/b"}, {"accept", ""}})
	if err != nil || string(b) != "PATCH /api/v1/x?y=z\ncontent-type: a/b\naccept: \n" {
		t.Fatalf("%q %v", b, err)
	}
	method, target, headers, err := ParseHead(b)
	if err != nil || method != "PATCH" || target != "/api/v1/x?y=z" || len(headers) != 2 || headers[0].Value != "a/b" {
		t.Fatalf("%q %q %v %v", method, target, headers, err)
	}
}

func TestNothingEndsALineEarly(t *testing.T) {
	for _, c := range []struct{ method, target, name, value string }{
		{"GET\n", "/", "a", "b"}, {"GET", "/ /", "a", "b"}, {"GET", "/\nx: y", "a", "b"}, {"", "/", "a", "b"}, {"GET", "", "a", "b"},
		{"GET", "/", "a", "b\nauthorization: c"}, {"GET", "/", "a: b\nc", "d"}, {"GET", "/", "", "d"}, {"GET", "/", "a", "b\r"},
	} {
		if b, err := AppendHead(nil, c.method, c.target, []Header{{c.name, c.value}}); err == nil {
			t.Errorf("%q", b)
		}
	}
}

func TestAnAnswerGoesThereAndBack(t *testing.T) {
	whole := AppendResponse(nil, &Response{404, []Header{{"Retry-After", "3"}}, []byte("body")})
	r, err := ParseResponse(whole)
	if err != nil || r.Status != 404 || r.Get("retry-after") != "3" || r.Get("x") != "" || string(r.Body) != "body" {
		t.Fatalf("%+v %v", r, err)
	}
	for n := range len(whole) - len("body") {
		if _, err := ParseResponse(whole[:n]); err == nil {
			t.Errorf("the first %d bytes are taken", n)
		}
	}
}

// answer is a host that answers one request.
type answer struct {
	Host
	head string
	err  error
}

func (a *answer) Request(head, _ []byte) ([]byte, error) {
	a.head = string(head)
	return AppendResponse(nil, &Response{Status: 200}), a.err
}

func TestTheDeadlineGoesWithTheRequest(t *testing.T) {
	h := &answer{}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	given := []Header{{"accept", "x"}}
	if _, err := Send(soon, h, "GET", "/", given, nil); err != nil {
		t.Fatal(err)
	}
	_, _, headers, err := ParseHead([]byte(h.head))
	if err != nil || len(headers) != 2 || headers[1].Name != HeaderTimeout || len(given) != 1 {
		t.Fatalf("%q %v", h.head, err)
	}
	late, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	defer cancel()
	if _, err := Send(late, h, "GET", "/", given, nil); err != nil || h.head != "GET /\naccept: x\n" {
		t.Fatalf("%q %v", h.head, err)
	}
	h.err = &Error{"api_request", TooLarge, "3 MiB"}
	var refused *Error
	_, err = Send(t.Context(), h, "POST", "/x", nil, nil)
	if !errors.As(err, &refused) || err.Error() != "POST /x: api_request: too-large: 3 MiB" {
		t.Fatal(err)
	}
}

func TestCodesHaveNames(t *testing.T) {
	if NotSynced.String() != "not-synced" || Invalid.String() != "invalid" || Code(-99).String() != "code -99" {
		t.Errorf("%v %v %v", NotSynced, Invalid, Code(-99))
	}
}
