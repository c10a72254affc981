;; Well-formed, but it does not validate (built without checks).
(module (memory 1) (func (export "run") (result i32) (i64.const 1)))
