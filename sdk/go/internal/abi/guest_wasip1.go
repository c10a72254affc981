// SPDX-License-Identifier: Apache-2.0

//go:build wasip1

package abi

import (
	"math"
	"unsafe"
)

//go:wasmimport dormouse_v1 declare
//go:noescape
func hostDeclare(p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_v1 result_size
//go:noescape
func hostResultSize() int32

//go:wasmimport dormouse_v1 result_read
//go:noescape
func hostResultRead(p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_v1 fail_message
//go:noescape
func hostFailMessage(p unsafe.Pointer, n uint32)

//go:wasmimport dormouse_v1 log
//go:noescape
func hostLog(level int32, p unsafe.Pointer, n uint32, kv unsafe.Pointer, kvn uint32)

//go:wasmimport dormouse_v1 api_request
//go:noescape
func hostAPIRequest(head unsafe.Pointer, headn uint32, body unsafe.Pointer, bodyn uint32) int64

//go:wasmimport dormouse_v1 cache_get
//go:noescape
func hostCacheGet(p unsafe.Pointer, n uint32) int64

//go:wasmimport dormouse_v1 cache_list
//go:noescape
func hostCacheList(p unsafe.Pointer, n uint32) int64

//go:wasmimport dormouse_v1 config_get
//go:noescape
func hostConfigGet(p unsafe.Pointer, n uint32) int64

//go:wasmimport dormouse_v1 enqueue
//go:noescape
func hostEnqueue(p unsafe.Pointer, n uint32)

//go:wasmimport dormouse_v1 event
//go:noescape
func hostEvent(p unsafe.Pointer, n uint32)

//go:wasmimport dormouse_v1 metric
//go:noescape
func hostMetric(index int32, labels unsafe.Pointer, n uint32, bits int64)

// Guest is the host when this is a guest.
type Guest struct{}

// TakeResult reads what a call or an activation has left.
func TakeResult() []byte {
	n := hostResultSize()
	if n <= 0 {
		return nil
	}
	b := make([]byte, n)
	got := hostResultRead(unsafe.Pointer(unsafe.SliceData(b)), uint32(n))
	return b[:got]
}

func at(b []byte) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b))
}

func in(s string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(s)), uint32(len(s))
}

func result(call string, n int64) ([]byte, error) {
	b := TakeResult()
	if n < 0 {
		return nil, &Error{call, Code(n), string(b)}
	}
	return b, nil
}

func (Guest) Declare(declaration []byte) error {
	if n := hostDeclare(at(declaration)); n != 0 {
		return &Error{"declare", Code(n), string(TakeResult())}
	}
	return nil
}

func (Guest) Request(head, body []byte) ([]byte, error) {
	h, hn := at(head)
	b, bn := at(body)
	return result("api_request", hostAPIRequest(h, hn, b, bn))
}

func (Guest) CacheGet(query []byte) ([]byte, error) {
	return result("cache_get", hostCacheGet(at(query)))
}
func (Guest) CacheList(query []byte) ([]byte, error) {
	return result("cache_list", hostCacheList(at(query)))
}
func (Guest) ConfigGet(name string) ([]byte, error) {
	return result("config_get", hostConfigGet(in(name)))
}
func (Guest) Enqueue(message []byte) { hostEnqueue(at(message)) }
func (Guest) Event(message []byte)   { hostEvent(at(message)) }
func (Guest) Fail(text string)       { hostFailMessage(in(text)) }

func (Guest) Metric(index int, labels []byte, value float64) {
	p, n := at(labels)
	hostMetric(int32(index), p, n, int64(math.Float64bits(value)))
}

func (Guest) Log(level int, text string, keyValues []byte) {
	p, n := in(text)
	kv, kvn := at(keyValues)
	hostLog(int32(level), p, n, kv, kvn)
}
