package callback

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
)

// What is kept of subscribers is bounded in number and in time, and goes where a subscription does.
func TestWhatIsKeptIsBounded(t *testing.T) {
	at := clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	c := New(Options{Now: at.Now})
	t.Cleanup(c.Close)
	asked := 0
	meet := func(id string) {
		t.Helper()
		if _, err := c.client(t.Context(), subscription.Subscriber{
			Subscription: id, Egress: egress.Default(),
			Credentials: func(context.Context) (subscription.Credentials, error) {
				asked++
				return subscription.Credentials{}, nil
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range kept + 10 {
		meet(fmt.Sprint(n))
	}
	last := fmt.Sprint(kept + 9)
	if meet(last); len(c.clients) != kept || asked != kept+10 {
		t.Errorf("%d are kept, want %d; credentials were opened %d times", len(c.clients), kept, asked)
	}
	at.Add(keptFor - 1)
	if meet(last); asked != kept+10 {
		t.Errorf("credentials were opened %d times before %v", asked, keptFor)
	}
	at.Add(1)
	if meet(last); asked != kept+11 || len(c.clients) != 1 {
		t.Errorf("credentials were opened %d times after %v, and %d are kept; want the new one", asked, keptFor, len(c.clients))
	}
	if c.Forget(last); c.clients[last] != nil {
		t.Error("one that was forgotten is kept")
	}
	meet("another")
	if c.Close(); len(c.clients) != 0 {
		t.Errorf("%d are kept after the end", len(c.clients))
	}
	if meet(""); c.clients[""] != nil {
		t.Error("one without a subscription is kept")
	}
	at.Add(keptFor)
	if meet(last); len(c.clients) != 1 {
		t.Errorf("%d are kept after %v, want the new one", len(c.clients), keptFor)
	}
}
