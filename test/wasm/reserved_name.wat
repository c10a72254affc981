(module (memory (export "__dm_mem") 1))
