package crash_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// nfvos are the subscribers of scenes: what each was told.
var nfvos sync.Map // *scene -> *nfvo

type nfvo struct {
	*httptest.Server
	mu   sync.Mutex
	told []string // the ids of notifications
}

// subscriber serves one for the scene.
func (s *scene) subscriber() *nfvo {
	if there, ok := nfvos.Load(s); ok {
		return there.(*nfvo)
	}
	n := new(nfvo)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in sol003.Notification
		if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&in) == nil {
			n.mu.Lock()
			n.told = append(n.told, in.ID)
			n.mu.Unlock()
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	s.t.Cleanup(n.Close)
	nfvos.Store(s, n)
	return n
}

func (n *nfvo) ids() (ids []string, times map[string]int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	times = map[string]int{}
	for _, id := range n.told {
		if times[id]++; times[id] == 1 {
			ids = append(ids, id)
		}
	}
	return ids, times
}

func subscribe(s *scene) error {
	_, _, err := s.Subscribe(s.ctx(), sol003.SubscriptionRequest{
		CallbackURI: s.subscriber().URL,
		Authentication: &sol003.SubscriptionAuthentication{
			AuthType: []string{"BASIC"}, Basic: &sol003.BasicParams{UserName: "broker", Password: secret.NewText("canary-of-the-crash-kit")},
		},
	})
	return err
}

func mustSubscribe(s *scene) {
	if err := subscribe(s); err != nil {
		s.t.Fatal(err)
	}
}

func subscriptions(s *scene) (all []sol003.Subscription) {
	s.t.Helper()
	for one, err := range s.AllSubscriptions(s.ctx()) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// unfinished is an error as long as there is a subscription that is not whole.
func unfinished(s *scene) error {
	var n int
	err := s.query(`SELECT count(*) FROM vnf_subscriptions WHERE state <> 'active'`, &n)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d are not", n)
	}
	return err
}

var (
	subscribing = scenario{
		name:    "subscribe",
		prepare: func(*scene) {},
		act:     subscribe,
		after: func(s *scene) {
			eventually(s.t, "subscriptions are whole, or gone", func() error { return unfinished(s) })
			mustSubscribe(s) // again: the one that is there, or another
			if all := subscriptions(s); len(all) != 1 {
				s.t.Errorf("%d subscriptions, want 1", len(all))
			}
		},
	}

	settlingASubscription = scenario{
		name:   "settle a subscription at start",
		starts: true,
		prepare: func(s *scene) {
			s.dieAt("subscription.key-stored", subscribe)
		},
		after: subscribing.after,
	}

	unsubscribing = scenario{
		name:    "end a subscription",
		prepare: mustSubscribe,
		act: func(s *scene) error {
			if all := subscriptions(s); len(all) > 0 {
				return s.Unsubscribe(s.ctx(), all[0].ID)
			}
			return nil
		},
		after: func(s *scene) {
			if all := subscriptions(s); len(all) != 0 {
				s.t.Errorf("%d subscriptions are left", len(all))
			}
			mustSubscribe(s)
		},
	}

	// rekeyingASubscription seals its secret anew; what is left half done is settled, and opens for what is sent next.
	rekeyingASubscription = scenario{
		name: "rekey a subscription",
		prepare: func(s *scene) {
			withPackage(s)
			mustSubscribe(s)
		},
		act: rotateAll,
		after: func(s *scene) {
			eventually(s.t, "the subscription is whole", func() error { return unfinished(s) })
			before := sealedUnder(s)
			if err := rotateAll(s); err != nil {
				s.t.Error(err)
			}
			if after := sealedUnder(s); after == before {
				s.t.Errorf("the subscription is still sealed under %s", after)
			}
			if _, err := s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: "crash-kit", Name: "web"}); err != nil {
				s.t.Fatal(err)
			}
			eventually(s.t, "the subscriber was told", func() error { return s.toldAll(1) })
		},
	}

	notifying = scenario{
		name: "send a notification",
		prepare: func(s *scene) {
			mustSubscribe(s)
			withPackage(s)
		},
		act: func(s *scene) (err error) {
			if _, err := s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: "crash-kit", Name: "web"}); err != nil {
				return err
			}
			eventually(s.t, "the subscriber was told", func() error {
				if err = s.Ready(s.ctx()); cutOff(err) {
					return nil
				}
				return s.toldAll(1)
			})
			return err
		},
		// The one of before was sent, perhaps twice, and what comes next is, too.
		after: func(s *scene) {
			if _, err := s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: "crash-kit", Name: "more"}); err != nil {
				s.t.Fatal(err)
			}
			eventually(s.t, "the subscriber was told of all", func() error { return s.toldAll(2) })
			_, times := s.subscriber().ids()
			for id, n := range times {
				if n > 2 {
					s.t.Errorf("notification %s came %d times", id, n)
				}
			}
		},
	}
)

// withPackage uploads the package that VNF instances are made from.
func withPackage(s *scene) {
	s.t.Helper()
	if _, err := s.CreatePackage(s.ctx(), nil); err != nil {
		s.t.Fatal(err)
	}
	content := packed(s.t)
	if err := s.UploadPackage(s.ctx(), packages(s)[0].ID, bytes.NewReader(content), int64(len(content))); err != nil {
		s.t.Fatal(err)
	}
}

// rotateAll has everything sealed anew that belongs to no VIM.
func rotateAll(s *scene) error {
	return s.RotateKeys(s.ctx(), v1.KeyRotation{SealedBefore: time.Now().Add(time.Hour)})
}

// sealedUnder is the key that the only subscription is sealed under.
func sealedUnder(s *scene) (ref string) {
	s.t.Helper()
	if err := s.query(`SELECT key_ref FROM vnf_subscriptions`, &ref); err != nil || ref == "" {
		s.t.Errorf("the subscription is sealed under %q: %v", ref, err)
	}
	return ref
}

// toldAll is an error until the subscriber was told of n instances, and nothing waits any more.
func (s *scene) toldAll(n int) error {
	if ids, _ := s.subscriber().ids(); len(ids) < n {
		return fmt.Errorf("it was told of %d, want %d", len(ids), n)
	}
	for one, err := range s.AllSubscriptions(s.ctx()) {
		if err != nil {
			return err // the server may be dying
		}
		if one.Own == nil || one.Own.Waiting > 0 {
			return fmt.Errorf("%+v waits", one.Own)
		}
	}
	return nil
}
