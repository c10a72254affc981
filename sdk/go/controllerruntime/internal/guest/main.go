// SPDX-License-Identifier: Apache-2.0

// The operator of the tests as a guest.
package main

import "dormouse.dev/sdk/go/controllerruntime/internal/trial"

func main() { trial.New(nil).Run() }
