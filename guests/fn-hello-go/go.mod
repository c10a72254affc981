module dormouse.dev/guests/fn-hello-go

go 1.24

require dormouse.dev/sdk/go v0.0.0

replace dormouse.dev/sdk/go => ../../sdk/go
