module dormouse.dev/sdk/go/wasmtest

go 1.24

require (
	dormouse.dev/sdk/go v0.0.0
	github.com/tetratelabs/wazero v1.9.0
)

replace dormouse.dev/sdk/go => ../
