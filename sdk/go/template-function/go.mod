module example.dev/@NAME@

go 1.24

require dormouse.dev/sdk/go v0.0.0

// The SDK is a copy in this project, so that it builds anywhere, offline as well.
replace dormouse.dev/sdk/go => ./sdk
