;; Drops a passive data segment, a fact that no snapshot holds.
(module (memory (export "memory") 1) (data $d "abc")
  (func (export "run") (memory.init $d (i32.const 0) (i32.const 0) (i32.const 3)) (data.drop $d)))
