// SPDX-License-Identifier: Apache-2.0

// kube-controller-manager, built from its module: part of the peer in the benchmark of nodes.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
