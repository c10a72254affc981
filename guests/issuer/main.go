// SPDX-License-Identifier: Apache-2.0

// The issuer: an operator that makes certificates and keeps them valid. README.md says how to use it.
package main

import (
	"time"

	"dormouse.dev/guests/issuer/controllers"
)

func main() {
	controllers.New(time.Now).Run()
}
