;; The segment ends one byte behind the memory: instantiation would always trap.
(module (memory 1) (data (i32.const 65534) "abc"))
