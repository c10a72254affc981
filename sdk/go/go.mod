module dormouse.dev/sdk/go

go 1.24
