;; A scheduler plugin that grows its table until that is refused, and gives the number of elements as
;; the score.
(module $sched_table
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (func (export "_start"))
  (func (export "score") (result i64)
    (loop $more (br_if $more (i32.ge_s (table.grow $t (ref.null func) (i32.const 64)) (i32.const 0))))
    (i64.shl (i64.extend_i32_u (table.size $t)) (i64.const 32))))
