;; A mutable global that holds a reference cannot be saved.
(module (memory 1) (global (mut funcref) (ref.null func)) (func (export "run")))
