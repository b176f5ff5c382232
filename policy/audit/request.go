package audit

import "context"

type requestKey struct{}

// WithRequest returns a context under which entries carry id as their Request:
// the id of an API request, or of one run of a pass. It is not a credential and
// grants nothing.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// requestID returns the id that [WithRequest] put into the context, or "".
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

type sourceKey struct{}

// WithSource returns a context under which entries say that the request came from an
// address.
func WithSource(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, sourceKey{}, address)
}

// sourceOf returns the address that [WithSource] put into the context, or "".
func sourceOf(ctx context.Context) string {
	address, _ := ctx.Value(sourceKey{}).(string)
	return address
}

type questionKey struct{}

// AsQuestion returns a context under which entries say that the caller only asked what would be allowed. Refusals
// are not counted among those of acts that were tried.
func AsQuestion(ctx context.Context) context.Context {
	return context.WithValue(ctx, questionKey{}, true)
}

func isQuestion(ctx context.Context) bool { return ctx.Value(questionKey{}) != nil }
