// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Send makes one request of the host. The time that ctx leaves goes with it, if it is less than the host's own
// limit.
func Send(ctx context.Context, host Host, method, target string, headers []Header, body []byte) (*Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		if left := time.Until(end).Milliseconds(); left < 1 {
			return nil, context.DeadlineExceeded
		} else if left < TimeoutMaxMS {
			headers = append(headers[:len(headers):len(headers)], Header{HeaderTimeout, strconv.FormatInt(left, 10)})
		}
	}
	head, err := AppendHead(nil, method, target, headers)
	if err != nil {
		return nil, err
	}
	b, err := host.Request(head, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, target, err)
	}
	return ParseResponse(b)
}
