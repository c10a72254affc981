;; SPDX-License-Identifier: Apache-2.0
;; A function whose table begins with 800 MB: it is refused when it is made.
(module
  (memory (export "memory") 1)
  (table 100000000 funcref)
  (func (export "dormouse_http_v1_handle") (result i32) (i32.const 0)))
