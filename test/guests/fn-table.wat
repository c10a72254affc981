;; SPDX-License-Identifier: Apache-2.0
;; A function whose requests change its table and drop its passive segment, so that its memory cannot be put back: it
;; must be initialised for each request. Every answer is "AB5": the first function of the table, what the segment
;; holds, and how often it was initialised, plus four.
(module
  (type $letter (func (result i32)))
  (import "dormouse_http_v1" "respond" (func $respond (param i32 i32 i32) (result i32)))
  (import "dormouse_http_v1" "body_write" (func $write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 2 2 funcref)
  (elem (i32.const 0) $a $z)
  (data $passive "B")
  (global $inits (mut i32) (i32.const 4))
  (func $a (result i32) (i32.const 65))
  (func $z (result i32) (i32.const 90))
  (func (export "dormouse_http_v1_init") (result i32)
    (global.set $inits (i32.add (global.get $inits) (i32.const 1)))
    (i32.const 0))
  (func (export "dormouse_http_v1_handle") (result i32)
    (drop (call $respond (i32.const 200) (i32.const 0) (i32.const 0)))
    (i32.store8 (i32.const 100) (call_indirect (type $letter) (i32.const 0)))
    (memory.init $passive (i32.const 101) (i32.const 0) (i32.const 1))
    (i32.store8 (i32.const 102) (i32.add (i32.const 48) (global.get $inits)))
    (table.set $t (i32.const 0) (table.get $t (i32.const 1)))
    (data.drop $passive)
    (global.set $inits (i32.const 9))
    (drop (call $write (i32.const 100) (i32.const 3)))
    (i32.const 0)))
