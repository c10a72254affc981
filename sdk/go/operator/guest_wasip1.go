// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"os"
	"runtime/debug"
	_ "unsafe" // for go:linkname

	"dormouse.dev/sdk/go/internal/abi"
	_ "dormouse.dev/sdk/go/internal/args"
)

// heapGrowthPercent is GOGC where the environment says nothing. See docs/internals/sdk.md: every page that the
// heap has once touched is written to disk when the guest falls asleep, so a small heap beats few collections.
const heapGrowthPercent = 25

func init() {
	running.host = abi.Guest{}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowthPercent)
	}
}

// A reactor's main is never called by the runtime; here it is called where the host wants the declaration.
//
//go:linkname userMain main.main
func userMain()

//go:wasmexport dormouse_v1_setup
func setup() (status int32) {
	defer func() {
		if p := recover(); p != nil {
			abi.Guest{}.Fail(fmt.Sprintf("main: panic: %v", p))
			status = 1
		}
	}()
	userMain()
	switch {
	case running.op == nil:
		abi.Guest{}.Fail("main returned without having called Run")
		return 1
	case running.err != nil:
		abi.Guest{}.Fail(running.err.Error())
		return 1
	}
	return 0
}

//go:wasmexport dormouse_v1_activate
func activate(int32) int64 {
	return running.op.Activate(abi.TakeResult())
}
