// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"dormouse.dev/sdk/go/internal/abi"
)

// StatusError is a refusal: by the API server, or by the host in its place (Host says so, as "limited" or
// "unavailable").
type StatusError struct {
	Code       int    // HTTP status
	Reason     string // "NotFound", "Conflict", ...
	Message    string
	Causes     []Cause
	RetryAfter time.Duration
	Host       string
}

// Cause is one field that was wrong.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

func (e *StatusError) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return e.Reason
}

// ErrNotSynced: the cache has not seen the first list of a watch yet. Returned by a reconciler it means again soon.
var ErrNotSynced = errors.New("the cache is not synced yet")

// reasonOf says whether err is a StatusError of that reason.
func reasonOf(err error, reason string) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Reason == reason
}

func IsNotFound(err error) bool           { return reasonOf(err, "NotFound") }
func IsAlreadyExists(err error) bool      { return reasonOf(err, "AlreadyExists") }
func IsConflict(err error) bool           { return reasonOf(err, "Conflict") }
func IsInvalid(err error) bool            { return reasonOf(err, "Invalid") }
func IsForbidden(err error) bool          { return reasonOf(err, "Forbidden") }
func IsGone(err error) bool               { return reasonOf(err, "Gone") || reasonOf(err, "Expired") }
func IsTooManyRequests(err error) bool    { return reasonOf(err, "TooManyRequests") }
func IsTimeout(err error) bool            { return reasonOf(err, "Timeout") || reasonOf(err, "ServerTimeout") }
func IsServiceUnavailable(err error) bool { return reasonOf(err, "ServiceUnavailable") }

// IgnoreNotFound gives nil for a not-found error: for reads of what may have gone, and deletes.
func IgnoreNotFound(err error) error {
	if IsNotFound(err) {
		return nil
	}
	return err
}

// IgnoreAlreadyExists gives nil for an already-exists error.
func IgnoreAlreadyExists(err error) error {
	if IsAlreadyExists(err) {
		return nil
	}
	return err
}

// statusError decodes a refusal. A body that is no Status still gives the code and its text.
func statusError(r *abi.Response) error {
	var s struct {
		Reason  string
		Message string
		Code    int
		Details struct {
			Causes            []Cause
			RetryAfterSeconds int
		}
	}
	e := &StatusError{Code: r.Status, Host: r.Get(abi.HeaderError)}
	if json.Unmarshal(r.Body, &s) == nil {
		e.Reason, e.Message, e.Causes = s.Reason, s.Message, s.Details.Causes
		e.RetryAfter = time.Duration(s.Details.RetryAfterSeconds) * time.Second
	}
	if n, err := strconv.Atoi(r.Get("retry-after")); err == nil && e.RetryAfter == 0 {
		e.RetryAfter = time.Duration(n) * time.Second
	}
	if e.Reason == "" {
		e.Reason = reasonOfCode(r.Status)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("the server answered with status %d", r.Status)
	}
	return e
}

func reasonOfCode(code int) string {
	switch code {
	case 400:
		return "BadRequest"
	case 401:
		return "Unauthorized"
	case 403:
		return "Forbidden"
	case 404:
		return "NotFound"
	case 405:
		return "MethodNotAllowed"
	case 409:
		return "Conflict"
	case 410:
		return "Gone"
	case 422:
		return "Invalid"
	case 429:
		return "TooManyRequests"
	case 503:
		return "ServiceUnavailable"
	case 504:
		return "Timeout"
	}
	return "InternalError"
}

// cacheError turns a refused read into what the same read of the API would give.
func cacheError(err error, what string) error {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err
	}
	s := &StatusError{Host: e.Code.String(), Message: what + ": " + e.Error()}
	switch e.Code {
	case abi.NotFound:
		s.Code, s.Message = 404, what+" not found"
	case abi.Forbidden:
		s.Code = 403
	case abi.Expired:
		s.Code = 410
	case abi.Limited:
		s.Code = 429
	case abi.Timeout:
		s.Code = 504
	case abi.Unavailable, abi.Cancelled:
		s.Code = 503
	case abi.NotSynced:
		return fmt.Errorf("%s: %w", what, ErrNotSynced)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
	s.Reason = reasonOfCode(s.Code)
	return s
}
