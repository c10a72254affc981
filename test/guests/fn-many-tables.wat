;; SPDX-License-Identifier: Apache-2.0
;; A function with more tables than a guest may have: it is refused when it is made.
(module
  (memory (export "memory") 1)
  (table 1 funcref) (table 1 funcref) (table 1 funcref)
  (table 1 funcref) (table 1 funcref) (table 1 funcref)
  (table 1 funcref) (table 1 funcref) (table 1 funcref)
  (func (export "dormouse_http_v1_handle") (result i32) (i32.const 0)))
