// SPDX-License-Identifier: Apache-2.0

// Package args sees to it that a guest has a name in os.Args: some packages (klog) look there while they are
// initialized. It imports nothing but os, so that it comes before whatever else does.
package args

import "os"

func init() {
	if len(os.Args) == 0 {
		os.Args = []string{"operator"}
	}
}
