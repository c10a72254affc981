module dormouse.dev/test/guests/go

go 1.24
