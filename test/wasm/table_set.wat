;; Changes its table, which no snapshot holds.
(module (memory (export "memory") 1) (table $t 2 funcref)
  (func $f) (elem declare func $f)
  (func (export "run") (table.set $t (i32.const 0) (ref.func $f))))
