;; No memory.
(module (func (export "run") (result i32) (i32.const 3)))
