package bench

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// many is how many VIMs a full registry has, few how many one that it is
// compared with.
const (
	many = 10_000
	few  = 100
)

// vims measures what a user waits for, over HTTP, where there are many VIMs, and
// how much more that is than where there are few.
func vims(b *testing.B) *figure {
	b.Helper()
	small, large := newStack(b), newStack(b)
	small.crowd(b, few)
	large.crowd(b, many)
	f := &figure{Title: fmt.Sprintf("A registry of %d VIMs, over HTTP, and of %d", many, few)}
	ask := func(what string, rounds, each int, call func(*client.Client, *stack, int) error) {
		b.Helper()
		overSmall, overLarge := small.serve(b), large.serve(b)
		out, err := turns(rounds, 1, each,
			contender{what, func(n int) error { return call(overSmall, small, n) }},
			contender{what, func(n int) error { return call(overLarge, large, n) }},
		)
		if err != nil {
			b.Fatal(err)
		}
		base := timed(fmt.Sprintf("%s, of %d", what, few), out[0].sample)
		f.Rows = append(f.Rows, base, timed(fmt.Sprintf("%s, of %d", what, many), out[1].sample).over(base))
	}
	ctx := b.Context()
	page := func(q client.VIMQuery) func(*client.Client, *stack, int) error {
		return func(c *client.Client, _ *stack, _ int) error {
			got, err := c.VIMs(ctx, q)
			if err == nil && len(got.Items) != q.PageSize {
				err = fmt.Errorf("page of %d VIMs, want %d", len(got.Items), q.PageSize)
			}
			return err
		}
	}
	ask("first page of 100", 20, 5, page(client.VIMQuery{PageSize: 100}))
	ask("show by name", 20, 20, func(c *client.Client, _ *stack, n int) error {
		_, err := c.VIM(ctx, crowdName(n%few))
		return err
	})
	ids := map[*stack]string{small: firstID(b, small), large: firstID(b, large)}
	ask("show by id", 20, 20, func(c *client.Client, s *stack, _ int) error {
		_, err := c.VIM(ctx, ids[s])
		return err
	})
	ask("register", 20, 5, func(c *client.Client, s *stack, n int) error {
		_, err := c.RegisterVIM(ctx, v1.Registration{
			Name: fmt.Sprintf("late-%d", n), Type: "kubernetes", Endpoint: s.cluster.Endpoint, CACert: s.cluster.CAPEM,
			Credential: v1.Credential{Token: secret.NewText(s.token)},
		}, "")
		return err
	})
	return f
}

func firstID(b *testing.B, s *stack) string {
	b.Helper()
	found, _, err := s.VIMs(b.Context(), admin, broker.VIMQuery{Page: broker.Page{Size: 1}})
	if err == nil && len(found) == 0 {
		err = errors.New("there is none")
	}
	if err != nil {
		b.Fatal(err)
	}
	return found[0].ID
}
