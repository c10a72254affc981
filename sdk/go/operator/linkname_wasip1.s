// SPDX-License-Identifier: Apache-2.0

// Empty: lets guest_wasip1.go declare a function without a body.
