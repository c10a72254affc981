// The function: an http.Handler, which is given to the host once, when the module is initialised.
package main

import (
	"fmt"
	"net/http"

	"dormouse.dev/sdk/go/function"
)

func hello(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	if name == "" {
		name = "world"
	}
	fmt.Fprintf(w, "hello, %s\n", name)
}

func init() { function.Serve(http.HandlerFunc(hello)) }

func main() {}
