// SPDX-License-Identifier: Apache-2.0

// kube-apiserver, built from its module: the peer of the differential test and of the benchmark.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
