package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"sync/atomic"
	"time"
)

type streamKey struct{}

// Stream returns a context whose calls answer with a stream of lines: the body of a
// success is not read whole. Read it with [Lines], and close it. The context's end ends
// it; the answer's header comes within the time of any other answer.
func Stream(ctx context.Context) context.Context { return context.WithValue(ctx, streamKey{}, true) }

func streamed(ctx context.Context) bool {
	yes, _ := ctx.Value(streamKey{}).(bool)
	return yes
}

// stream is roundTrip for a stream. An answer that is no success is read whole.
func (t *Transport) stream(way *http.Transport, request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	late := time.AfterFunc(answerTimeout, func() { cancel(context.DeadlineExceeded) })
	bounded := request.Clone(context.WithValue(ctx, connectsKey{}, new(atomic.Int32)))
	bounded.Header.Set("User-Agent", "vimbroker")
	bounded.Header.Set("Accept-Encoding", "identity")
	response, err := way.RoundTrip(bounded)
	if err == nil {
		if err = plain(response.Header); err != nil {
			_ = response.Body.Close()
		}
	}
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		end := func() { cancel(nil) }
		err = take(ctx, request.Context(), end, response)
		defer end()
	}
	inTime := late.Stop()
	if err != nil {
		cancel(nil)
		if !inTime {
			t.abandon(way)
			err = errors.Join(context.DeadlineExceeded, err)
		}
		return nil, err
	}
	response.Request = request
	if response.StatusCode < http.StatusMultipleChoices {
		response.Body = &flowing{response.Body, func() { cancel(nil) }}
	}
	return response, nil
}

// flowing is the body of a stream.
type flowing struct {
	io.ReadCloser
	end func()
}

func (f *flowing) Close() error {
	f.end()
	return f.ReadCloser.Close()
}

// Lines yields the lines of a stream, each within the limit. A line that exceeds it, or
// whose JSON does, ends the stream with a [*CallError]. server names who sent it in errors. A
// line is good until the next.
func Lines(body io.Reader, l Limit, server string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, min(chunk, l.Bytes)), l.Bytes)
		for lines.Scan() {
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			if _, err := l.check(line); err != nil {
				yield(nil, Unanswered(err, server))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = tooLong(l.Bytes)
		}
		if err == nil {
			return
		}
		if f := Unanswered(err, server); f != nil {
			err = f
		} else {
			err = broken(server)
		}
		yield(nil, err)
	}
}
