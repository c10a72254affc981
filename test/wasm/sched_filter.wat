;; A scheduler plugin that has filter alone, which agrees to everything; with a configuration it asks
;; and refuses at such length that what it costs to keep shows.
(module $sched_filter
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "k8s.io/scheduler" "get_config" (func $config (param i32 i32) (result i32)))
  (import "dormouse_scheduler" "nodePods" (func $pods (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 256)
  (data (i32.const 0) "n1")
  (func (export "filter") (result i32)
    (local $i i32)
    ;; a configuration: refuse at length, having asked for the pods of a node over and over again
    (if (i32.eqz (call $config (i32.const 0) (i32.const 0))) (then (return (i32.const 0))))
    (loop $again
      (drop (call $pods (i32.const 0) (i32.const 2) (i32.const 1024) (i32.const 65536)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000))))
    (memory.fill (i32.const 1024) (i32.const 120) (i32.const 16000000))
    (call $reason (i32.const 1024) (i32.const 16000000))
    (i32.const 2)))
