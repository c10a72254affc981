// SPDX-License-Identifier: Apache-2.0
// Empty: lets main.go declare functions of another package without bodies.
