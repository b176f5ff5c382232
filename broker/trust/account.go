package trust

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// Reviewer asks registered clusters about tokens of their service accounts.
type Reviewer interface {
	// Review reports whether the cluster takes a token for an audience: not once pod or account are deleted.
	// Where the broker may not ask there it is nil and true.
	Review(ctx context.Context, vim, token, audience string) (taken bool, err error)
}

const (
	// ReviewFor is for how long the word of a cluster on a token counts: a token of what was deleted is
	// refused after that.
	ReviewFor = time.Minute
	// maxReviews bounds what is remembered of them.
	maxReviews = 10_000
)

// account are the claims of a bound token of a service account, by the names that rules match; not ok
// for any other token.
func (c Claims) account() (subject string, account Claims, ok bool) {
	within, _ := c["kubernetes.io"].(map[string]any)
	said := Claims(within)
	namespace, _ := said.text("namespace")
	name, _ := said.text("serviceaccount.name")
	uid, _ := said.text("serviceaccount.uid")
	if namespace == "" || name == "" || uid == "" || c["sub"] != fmt.Sprintf("system:serviceaccount:%s:%s", namespace, name) {
		return "", nil, false
	}
	subject = namespace + ":" + name
	account = Claims{"namespace": namespace, "serviceaccount": subject}
	if pod, ok := said.text("pod.name"); ok {
		account["pod"] = pod
	}
	return subject, account, true
}

// reviews remembers what clusters said of tokens, by their digests.
type reviews struct {
	mu   sync.Mutex
	said map[string]review // by the digest of an entry's name and the token
}

type review struct {
	taken bool
	until time.Time
}

func (r *reviews) get(digest string, now time.Time) (taken, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.said[digest]
	return found.taken, known && now.Before(found.until)
}

func (r *reviews) put(digest string, taken bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil || len(r.said) >= maxReviews {
		r.said = map[string]review{}
	}
	r.said[digest] = review{taken, now.Add(ReviewFor)}
}

// reviewed says why a token of a service account is refused; empty if the cluster takes it. Its word
// counts for [ReviewFor].
func (c *Gatekeeper) reviewed(ctx context.Context, t *row, token string) (reason string, err error) {
	digest := policy.Digest(t.Name + "\x00" + token)
	taken, known := c.reviews.get(digest, c.Now())
	if !known {
		if taken, err = c.Reviewer.Review(ctx, t.VIM, token, t.Audience); err != nil {
			return "", fmt.Errorf("asking the cluster of %s about a service account: %w", t.Name, err)
		}
		c.reviews.put(digest, taken, c.Now())
	}
	if !taken {
		return reasonGone, nil
	}
	return "", nil
}

// Remote reports whether Authenticate has to ask another system about a token.
func (c *Gatekeeper) Remote(token string) bool {
	p, _ := parse(token)
	t := c.table.Load().find(p.issuer, p.KeyID)
	if t == nil || t.VIM == "" {
		return false
	}
	_, known := c.reviews.get(policy.Digest(t.Name+"\x00"+token), c.Now())
	return !known
}

// whose returns the subject of a token of an entry, and its claims as rules match them; the reason why
// it is refused if there is no such subject.
func (t *row) whose(claims Claims) (subject string, matched Claims, reason string) {
	if t.VIM == "" {
		subject, ok := claims.subject()
		if !ok {
			return "", nil, reasonSubject
		}
		return subject, claims, ""
	}
	subject, account, ok := claims.account()
	if !ok {
		return "", nil, reasonUnbound
	}
	return subject, account, ""
}

var _ policy.Directory = (*Gatekeeper)(nil)
