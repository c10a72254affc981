// The plugin: nodes without a label are refused. The label's name is the configuration, guestConfig.
package main

import "unsafe"

//go:wasmimport k8s.io/scheduler get_config
func getConfig(buf unsafe.Pointer, limit uint32) uint32

//go:wasmimport k8s.io/scheduler result.status_reason
func statusReason(p unsafe.Pointer, n uint32)

// nodeField gives one field of a node, by the numbers of the fields that lead to it; an empty name is the hook's node.
//
//go:wasmimport dormouse_scheduler nodeField
func nodeField(name unsafe.Pointer, nameLen uint32, path unsafe.Pointer, pathLen uint32, key unsafe.Pointer, keyLen uint32,
	buf unsafe.Pointer, limit uint32) int32

const (
	success       = 0
	unschedulable = 2
)

// labels are metadata (1), labels (11) of Kubernetes' protobuf message.
var labels = [2]byte{1, 11}

// config asks for the length first: the host writes nothing into a buffer that is too small.
func config() []byte {
	b := make([]byte, getConfig(nil, 0)+1)
	n := getConfig(unsafe.Pointer(&b[0]), uint32(len(b)))
	return b[:n]
}

//go:wasmexport filter
func filter() int32 {
	key := config()
	if len(key) == 0 || nodeField(nil, 0, unsafe.Pointer(&labels[0]), 2, unsafe.Pointer(&key[0]), uint32(len(key)), nil, 0) >= 0 {
		return success
	}
	why := []byte("the node has no label " + string(key))
	statusReason(unsafe.Pointer(&why[0]), uint32(len(why)))
	return unschedulable
}

func main() {}
