// SPDX-License-Identifier: Apache-2.0

// A Go guest whose state is a map, and a goroutine that is parked on a channel between calls.
package main

import "encoding/json"

var (
	counts   = map[string]int{}
	requests = make(chan int)
	replies  = make(chan int)
)

func init() {
	go func() {
		total := 0
		for n := range requests {
			total += n
			replies <- total
		}
	}()
}

//go:wasmexport add
func add(n int32) int32 {
	counts[string(rune('a'+n%26))]++
	requests <- int(n)
	return int32(<-replies)
}

//go:wasmexport sum
func sum() int32 {
	text, err := json.Marshal(counts)
	if err != nil {
		return -1
	}
	total := uint32(0)
	for _, b := range text {
		total = total*31 + uint32(b)
	}
	return int32(total)
}

func main() {}
