// SPDX-License-Identifier: Apache-2.0

// A scheduler plugin in standard Go: pods go to nodes whose name ends with what the configuration says.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm .
package main

import (
	"strings"
	"unsafe"
)

//go:wasmimport k8s.io/scheduler get_config
func getConfig(buf unsafe.Pointer, limit uint32) uint32

//go:wasmimport k8s.io/scheduler currentNodeName
func currentNodeName(buf unsafe.Pointer, limit uint32) uint32

//go:wasmimport k8s.io/scheduler result.status_reason
func statusReason(p unsafe.Pointer, n uint32)

const (
	success       = 0
	unschedulable = 2
)

// text asks for the length first: the host writes nothing into a buffer that is too small.
func text(get func(unsafe.Pointer, uint32) uint32) string {
	n := get(nil, 0)
	if n == 0 {
		return ""
	}
	b := make([]byte, n)
	get(unsafe.Pointer(&b[0]), n)
	return string(b)
}

//go:wasmexport filter
func filter() int32 {
	node, end := text(currentNodeName), text(getConfig)
	if strings.HasSuffix(node, end) {
		return success
	}
	why := []byte(node + " does not end with " + end)
	statusReason(unsafe.Pointer(&why[0]), uint32(len(why)))
	return unschedulable
}

func main() {}
