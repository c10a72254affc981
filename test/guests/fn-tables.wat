;; SPDX-License-Identifier: Apache-2.0
;; A function that grows its three tables, and then its memory, until each is refused. The answer is six decimal
;; digits that say how many elements its tables have in units of 64, and six digits for the pages of its memory.
(module
  (import "dormouse_http_v1" "respond" (func $respond (param i32 i32 i32) (result i32)))
  (import "dormouse_http_v1" "body_write" (func $write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $a 1 funcref)
  (table $b 1 funcref)
  (table $c 1 funcref)
  (func $f)
  (elem (table $a) (i32.const 0) func $f)
  (func $put (param $at i32) (param $n i32)
    (local $i i32)
    (local.set $i (i32.const 6))
    (loop $next
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (i32.store8 (i32.add (local.get $at) (local.get $i))
        (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
      (local.set $n (i32.div_u (local.get $n) (i32.const 10)))
      (br_if $next (local.get $i))))
  (func (export "dormouse_http_v1_handle") (result i32)
    (loop $more (br_if $more (i32.ge_s (table.grow $a (table.get $a (i32.const 0)) (i32.const 64)) (i32.const 0))))
    (loop $more (br_if $more (i32.ge_s (table.grow $b (table.get $a (i32.const 0)) (i32.const 64)) (i32.const 0))))
    (loop $more (br_if $more (i32.ge_s (table.grow $c (table.get $a (i32.const 0)) (i32.const 64)) (i32.const 0))))
    (loop $more (br_if $more (i32.ge_s (memory.grow (i32.const 1)) (i32.const 0))))
    (call $put (i32.const 100) (i32.div_u
      (i32.add (i32.add (table.size $a) (table.size $b)) (table.size $c)) (i32.const 64)))
    (call $put (i32.const 106) (memory.size))
    (drop (call $respond (i32.const 200) (i32.const 0) (i32.const 0)))
    (drop (call $write (i32.const 100) (i32.const 12)))
    (i32.const 0)))
