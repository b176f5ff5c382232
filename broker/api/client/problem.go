package client

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// Problem is an error answer: the fault and the remedy, in the server's words. If
// something other than the server answered (a proxy), only Status and Title are set.
type Problem struct {
	v1.Problem
}

// Error returns the problem on one line.
func (p *Problem) Error() string { return p.String() }

// Status returns the HTTP status of a [*Problem] inside err, or 0.
func Status(err error) int {
	var p *Problem
	if errors.As(err, &p) {
		return p.Status
	}
	return 0
}

// problem reads an error answer.
func (c *Client) problem(answer *http.Response) error {
	p := &Problem{}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != v1.ProblemType && c.base.Scheme == "http" && answer.StatusCode == http.StatusBadRequest {
		// The answers of Go's servers, in these words, before they read the request.
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
		if strings.HasPrefix(string(text), "Client sent an HTTP request to an HTTPS server") {
			return ErrWantsTLS
		}
	}
	if kind == v1.ProblemType {
		body, err := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
		if err == nil && v1.DecodeAnswer(body, p) != nil {
			p = &Problem{}
		}
	}
	// The status line counts, because the body may be a proxy's.
	p.Status = answer.StatusCode
	if p.Title == "" {
		p.Title = "the broker's address answered " + answer.Status
	}
	return p
}
