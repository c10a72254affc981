// SPDX-License-Identifier: Apache-2.0

// The Go twin: G2 as the command that `go build` makes. Its runtime ends main with proc_exit(0), which a
// host has to take for "initialised", not for the end (operator ABI, H16); the exports work from then on.
// State lives in a map, on the heap, in a parked goroutine and in the runtime's eight hidden globals;
// after every wake-up it prints
//
//	probe sum <events> <checksum>
//
// and starts the next timer of TICK ms (default 20, 0 for none). Expected of the host: the same history
// gives the same sums, with and without sleep in between.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"unsafe"
)

//go:wasmimport delay-abi delay
func delay(ms int64) int64

var (
	counts  = map[string]uint64{}
	buffers = map[uint32][]byte{} // handed to the host, not yet back
	events  uint64
	asks    = make(chan string)
	answers = make(chan uint64)
	tick    = int64(20)
)

// Lives parked on a channel between events: its stack is part of the snapshot.
func counter() {
	total := uint64(0)
	for key := range asks {
		total += uint64(len(key))
		counts[key] += total
		answers <- total
	}
}

func init() {
	debug.SetGCPercent(25) // what Go once touched stays dirty
	if v, err := strconv.ParseInt(os.Getenv("TICK"), 10, 64); err == nil {
		tick = v
	}
	go counter()
}

func main() {
	event(0)
	next()
}

func next() {
	if tick > 0 {
		delay(tick)
	}
}

func event(v uint64) {
	events++
	asks <- fmt.Sprintf("key-%d", (v^events*2654435761)%97)
	total := <-answers
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	h := fnv.New64a()
	for _, k := range keys {
		fmt.Fprintf(h, "%s=%d;", k, counts[k])
	}
	fmt.Printf("probe sum %d %d\n", events, h.Sum64()^total)
}

//go:wasmexport allocate
func allocate(n uint32) uint32 {
	b := make([]byte, n+1) // never of length zero: the address must be real
	p := uint32(uintptr(unsafe.Pointer(&b[0])))
	buffers[p] = b
	return p
}

//go:wasmexport wakeup
func wakeup(id uint64, finished, p, n uint32) {
	h := fnv.New64a()
	if p != 0 {
		h.Write(buffers[p][:n])
		delete(buffers, p)
	}
	event(id ^ h.Sum64())
	if finished != 0 && p == 0 {
		next()
	}
}
