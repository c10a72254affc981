// SPDX-License-Identifier: Apache-2.0

package function

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type fakeHost struct {
	head, in            string
	status              int
	fields, out, behind string
	flushes             int
	gone                bool
}

func (f *fakeHost) requestHead(p []byte) int32 {
	copy(p, f.head)
	return int32(len(f.head))
}
func (f *fakeHost) bodyRead(p []byte) int32 {
	n := copy(p, f.in)
	f.in = f.in[n:]
	return int32(n)
}
func (f *fakeHost) respond(status int, fields []byte) int32 {
	f.status, f.fields = status, string(fields)
	return 0
}
func (f *fakeHost) bodyWrite(p []byte) int32 {
	if f.gone {
		return -10
	}
	f.out += string(p)
	return 0
}
func (f *fakeHost) flush() int32                 { f.flushes++; return 0 }
func (f *fakeHost) trailers(fields []byte) int32 { f.behind = string(fields); return 0 }

const head = ":method: POST\n:target: /a%20b?x=1\n:authority: h:80\n:scheme: https\n:peer: 1.2.3.4:5\n" +
	":call-id: c-1\naccept: one\naccept: two: three\ncontent-length: 4\n"

func serve(t *testing.T, f *fakeHost, h http.HandlerFunc) int32 {
	t.Helper()
	Serve(h)
	defer Serve(nil)
	return run(f)
}

func TestARequestIsAsNetHTTPHasIt(t *testing.T) {
	f := &fakeHost{head: head + "x-long: " + strings.Repeat("x", 10000) + "\n", in: "body"}
	got := ""
	if r := serve(t, f, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		got = fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.URL.Query().Get("x"), " ", r.Host, " ", r.RemoteAddr, " ",
			r.Header["Accept"], " ", r.ContentLength, " ", string(b), " ", err, " ", r.Header.Get("X-Call-Id"))
	}); r != 0 {
		t.Fatal(r)
	}
	if want := "POST /a b 1 h:80 1.2.3.4:5 [one two: three] 4 body <nil> c-1"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if f.status != 200 || f.out != "" {
		t.Error(f.status, f.out)
	}
}

func TestAnAnswerHasItsFieldsBodyAndTrailers(t *testing.T) {
	f := &fakeHost{head: head}
	serve(t, f, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b\r\nevil: 1")
		w.WriteHeader(201)
		w.WriteHeader(500)
		_, _ = io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Sum", "5")
		w.Header().Set(http.TrailerPrefix+"X-Late", "6")
	})
	lines := strings.Split(strings.TrimSpace(f.fields), "\n")
	slices.Sort(lines)
	if f.status != 201 || !slices.Equal(lines, []string{"x-two: a", "x-two: b  evil: 1"}) {
		t.Error(f.status, lines)
	}
	if f.out != "hello" || f.flushes != 1 || f.behind != "x-sum: 5\nx-late: 6\n" {
		t.Errorf("%q %d %q", f.out, f.flushes, f.behind)
	}
}

func TestTheTypeOfABodyIsFoundOut(t *testing.T) {
	f := &fakeHost{head: head}
	serve(t, f, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if f.fields != "content-type: text/html; charset=utf-8\n" {
		t.Error(f.fields)
	}
}

func TestAClientThatHasGoneIsNoFailure(t *testing.T) {
	f := &fakeHost{head: head, gone: true}
	r := serve(t, f, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.WriteString(w, "x"); err != ErrGone {
			t.Error(err)
		}
	})
	if r != 0 {
		t.Error(r)
	}
}
