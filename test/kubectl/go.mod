module dormouse.dev/test/kubectl

go 1.24
