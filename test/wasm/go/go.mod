module dormouse.dev/test/wasm

go 1.24
