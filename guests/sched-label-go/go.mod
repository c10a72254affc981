module dormouse.dev/guests/sched-label-go

go 1.24
