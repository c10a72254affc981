// SPDX-License-Identifier: Apache-2.0

// A function: greets whoever ?name= says, answers a POST with what it got, counts to show that no
// request sees what the one before it did.
package main

import (
	"fmt"
	"io"
	"net/http"

	"dormouse.dev/sdk/go/function"
)

var count int

func handle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	if r.URL.Path != "/" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintln(w, "there is only /")
		return
	}
	if r.Method == http.MethodPost {
		_, _ = io.Copy(w, r.Body)
		return
	}
	name, again := r.URL.Query().Get("name"), ""
	if name == "" {
		name = "world"
	}
	if count++; count > 1 {
		again = " again"
	}
	fmt.Fprintf(w, "hello, %s%s\n", name, again)
}

func init() { function.Serve(http.HandlerFunc(handle)) }

func main() {}
