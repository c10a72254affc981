;; Nothing at all to export: the instrumented module gets an export section.
(module (memory 1) (func (i32.store (i32.const 0) (i32.const 1))))
