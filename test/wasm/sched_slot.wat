;; A scheduler plugin for one node, "n1", that has room for one pod. prefilter looks whether a pod
;; is there, addpod and removepod play what if, filter says what is so then. Pods' own namespaces
;; do not matter. "trap" as the configuration: filter traps; "spin!": it takes
;; its time. queueinghint: deletions of pods alone.
(module $sched_slot
  (import "dormouse_scheduler" "nodePods" (func $pods (param i32 i32 i32 i32) (result i32)))
  (import "dormouse_scheduler" "event" (func $event (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "get_config" (func $config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "n1")
  (data (i32.const 8) "the slot is taken")
  (global $taken (mut i32) (i32.const 0))
  (func (export "prefilter") (result i32)
    ;; an empty PodList has 8 bytes
    (global.set $taken (i32.gt_u (call $pods (i32.const 0) (i32.const 2) (i32.const 0) (i32.const 0)) (i32.const 8)))
    (i32.const 0))
  (func (export "addpod") (result i32) (global.set $taken (i32.const 1)) (i32.const 0))
  (func (export "removepod") (result i32) (global.set $taken (i32.const 0)) (i32.const 0))
  (func (export "filter") (result i32)
    (local $i i32)
    (if (i32.eq (call $config (i32.const 0) (i32.const 0)) (i32.const 4)) (then unreachable))
    (if (i32.eq (call $config (i32.const 0) (i32.const 0)) (i32.const 5)) (then
      (loop $more
        (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 50000000))))))
    (if (global.get $taken) (then (call $reason (i32.const 8) (i32.const 17)) (return (i32.const 2))))
    (i32.const 0))
  (func (export "queueinghint") (result i32)
    (local $n i32)
    (local.set $n (call $event (i32.const 1000) (i32.const 100)))
    ;; {"resource":"AssignedPod","action":2} ends with 2}
    (i32.eq (i32.load16_u (i32.sub (i32.add (i32.const 1000) (local.get $n)) (i32.const 2))) (i32.const 0x7d32))))
