// SPDX-License-Identifier: Apache-2.0

// A scheduler plugin in standard Go: pods go to nodes that have a label, whose name is the configuration.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm .
package main

import "unsafe"

//go:wasmimport k8s.io/scheduler get_config
func getConfig(buf unsafe.Pointer, limit uint32) uint32

//go:wasmimport dormouse_scheduler nodeField
func nodeField(name unsafe.Pointer, nameLen uint32, path unsafe.Pointer, pathLen uint32,
	key unsafe.Pointer, keyLen uint32, buf unsafe.Pointer, limit uint32) int32

//go:wasmimport k8s.io/scheduler result.status_reason
func statusReason(p unsafe.Pointer, n uint32)

const (
	success       = 0
	unschedulable = 2
	absent        = -1
)

// labels is the path to the labels of an object: metadata is field 1 of a node, labels field 11 of metadata.
var labels = []byte{1, 11}

// config asks for the length first: the host writes nothing into a buffer that is too small.
func config() []byte {
	b := make([]byte, getConfig(nil, 0))
	getConfig(pointer(b), uint32(len(b)))
	return b
}

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

//go:wasmexport filter
func filter() int32 {
	key := config()
	if nodeField(nil, 0, pointer(labels), uint32(len(labels)), pointer(key), uint32(len(key)), nil, 0) != absent {
		return success
	}
	why := []byte("the node has no label " + string(key))
	statusReason(pointer(why), uint32(len(why)))
	return unschedulable
}

func main() {}
