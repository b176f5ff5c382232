package remote

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/semaphore"
)

// maxDecoding bounds, in bytes, all answers of this process that are being read or
// decoded at a time. One answer's limit is below it.
const maxDecoding = 32 << 20

var budget = semaphore.NewWeighted(maxDecoding)

// Decode decodes JSON that a client library has read whole, under the budget. Answers
// that a library decodes while it reads them are under the budget already.
func Decode(ctx context.Context, body []byte, into any) error {
	if err := budget.Acquire(ctx, int64(len(body))); err != nil {
		return err
	}
	defer budget.Release(int64(len(body)))
	return json.Unmarshal(body, into)
}
