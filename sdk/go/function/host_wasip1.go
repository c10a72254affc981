// SPDX-License-Identifier: Apache-2.0

//go:build wasip1

package function

import "unsafe"

//go:wasmimport dormouse_http_v1 request_head
//go:noescape
func hostRequestHead(p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_http_v1 body_read
//go:noescape
func hostBodyRead(p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_http_v1 respond
//go:noescape
func hostRespond(status uint32, p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_http_v1 body_write
//go:noescape
func hostBodyWrite(p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_http_v1 flush
func hostFlush() int32

//go:wasmimport dormouse_http_v1 trailers
//go:noescape
func hostTrailers(p unsafe.Pointer, n uint32) int32

//go:wasmimport dormouse_http_v1 secret_get
//go:noescape
func hostSecretGet(name unsafe.Pointer, nameN uint32, p unsafe.Pointer, n uint32) int32

type wasmHost struct{}

func at(p []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p)) }

func (wasmHost) requestHead(p []byte) int32 { return hostRequestHead(at(p), uint32(len(p))) }
func (wasmHost) bodyRead(p []byte) int32    { return hostBodyRead(at(p), uint32(len(p))) }
func (wasmHost) respond(status int, fields []byte) int32 {
	return hostRespond(uint32(status), at(fields), uint32(len(fields)))
}
func (wasmHost) bodyWrite(p []byte) int32     { return hostBodyWrite(at(p), uint32(len(p))) }
func (wasmHost) flush() int32                 { return hostFlush() }
func (wasmHost) trailers(fields []byte) int32 { return hostTrailers(at(fields), uint32(len(fields))) }

//go:wasmexport dormouse_http_v1_handle
func handle() int32 { return run(wasmHost{}) }

// Secret is the secret file of this path.
func Secret(path string) ([]byte, error) {
	name := []byte(path)
	p := make([]byte, 4096)
	for {
		n := hostSecretGet(at(name), uint32(len(name)), at(p), uint32(len(p)))
		if n < 0 {
			return nil, errorOf(n)
		}
		if int(n) <= len(p) {
			return p[:n], nil
		}
		p = make([]byte, n)
	}
}
