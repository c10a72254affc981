;; SPDX-License-Identifier: Apache-2.0
;;
;; G2. Changes its table at every event and calls through it: the memory and globals of such a guest are
;; not its whole state. Expected of the host: it is not dissolved. Its instance stays, only its memory
;; may be paged out, and the lines below are the same with and without sleep.
;;
;; Prints "even" and "odd" in turn, every 20 ms, for ever.
(module
  (import "delay-abi" "delay" (func $delay (param i64) (result i64)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 2 funcref)
  (elem (i32.const 0) $even $odd)
  (type $void (func))
  (data (i32.const 16) "probe even\nprobe odd\n")
  (func $print (param $at i32) (param $n i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $n))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $even (call $print (i32.const 16) (i32.const 11)))
  (func $odd (call $print (i32.const 27) (i32.const 10)))
  (func $swap (local $first funcref)
    (local.set $first (table.get $t (i32.const 0)))
    (table.set $t (i32.const 0) (table.get $t (i32.const 1)))
    (table.set $t (i32.const 1) (local.get $first)))
  (func (export "_start")
    (drop (call $delay (i64.const 20))))
  (func (export "allocate") (param i32) (result i32) (i32.const 1024))
  (func (export "wakeup") (param i64 i32 i32 i32)
    (call_indirect (type $void) (i32.const 0))
    (call $swap)
    (drop (call $delay (i64.const 20)))))
