(module (import "env" "g" (global (mut i32))) (memory 1) (func (export "run")))
