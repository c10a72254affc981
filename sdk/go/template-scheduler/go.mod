module example.dev/@NAME@

go 1.24
