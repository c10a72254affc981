;; A scheduler plugin whose hooks do each one thing to its host: prefilter calls itself without end,
;; filter never returns, reserve prints without end, permit points beyond its memory, and score takes
;; all the memory that it gets and gives the number of pages. Each fails alone: score is right before
;; and after.
(module $sched_hostile
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "_start"))
  (func $deeper (param $n i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get $n) (i32.const 1))) (local.get $n)))
  (func (export "prefilter") (result i32) (call $deeper (i32.const 0)))
  (func (export "filter") (result i32)
    (loop $again (br $again))
    (i32.const 0))
  (func (export "reserve") (result i32)
    (local $i i32)
    (i32.store (i32.const 0) (i32.const 1024))
    (i32.store (i32.const 4) (i32.const 65536))
    (memory.fill (i32.const 1024) (i32.const 120) (i32.const 65536))
    (loop $again
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000))))
    unreachable)
  (func (export "unreserve"))
  (func (export "permit") (result i64)
    (call $reason (i32.const 0xfffffff0) (i32.const 0x7fffffff))
    (i64.const 0))
  (func (export "score") (result i64)
    (loop $more (br_if $more (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0))))
    (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 32))))
