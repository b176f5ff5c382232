package broker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Each kind of lease says what its credential is, when it ends, and what a renewal meets.
func TestWhatEachKindOfLeaseIs(t *testing.T) {
	s := newStage(t)
	now := s.clock.Now()
	for what, c := range map[string]struct {
		l     Lease
		asked LeaseCredential
		kind  kind
	}{
		"derived":                          {Lease{Derived: true, CredentialKind: CredentialBearerToken}, "", ordinaryLease{}},
		"derived, of no kind yet":          {Lease{Derived: true}, "", ordinaryLease{}},
		"a user":                           {Lease{Derived: true, CredentialKind: CredentialUser}, LeaseUser, userLease{}},
		"it stands":                        {Lease{Derived: true, TokenTTL: 1}, "", &standingLease{}},
		"passed through":                   {Lease{CredentialKind: CredentialBearerToken}, LeasePassThrough, passedThrough{}},
		"passed through, a password":       {Lease{CredentialKind: CredentialPassword}, LeasePassThrough, passedThrough{}},
		"passed through, of no kind yet":   {Lease{}, LeasePassThrough, passedThrough{}},
		"passed through, a user by chance": {Lease{CredentialKind: CredentialUser}, LeasePassThrough, passedThrough{}},
	} {
		if got, is := c.l.Asked(), fmt.Sprintf("%T", c.l.kind()); got != c.asked || is != fmt.Sprintf("%T", c.kind) {
			t.Errorf("%s: it is %q, of kind %s, want %q, %T", what, got, is, c.asked, c.kind)
		}
	}
	second := now.Truncate(time.Second)
	for _, c := range []struct {
		kind       kind
		credential time.Duration
		granted    time.Duration
		most       time.Duration
		want       time.Duration
	}{
		{ordinaryLease{}, time.Minute, time.Hour, 9 * time.Hour, time.Minute},
		{ordinaryLease{}, 2 * time.Hour, time.Hour, 9 * time.Hour, time.Hour},
		{ordinaryLease{}, 2 * time.Hour, time.Hour, time.Minute, time.Minute},
		{userLease{}, 2 * time.Hour, time.Hour, time.Minute, time.Minute},
		{ordinaryLease{}, time.Minute + 999*time.Millisecond, time.Hour, 9 * time.Hour, time.Minute},
	} {
		l := Lease{CreatedAt: now, ExpiresAt: now.Add(c.granted), MaxExpiresAt: now.Add(c.most)}
		if got := c.kind.ends(s.Leaser, l, now.Add(c.credential)); !got.Equal(second.Add(c.want)) || got.Location() != time.UTC {
			t.Errorf("%T %+v ends at %s, want %s", c.kind, c, got, second.Add(c.want))
		}
	}
	for next, want := range map[time.Duration]bool{-time.Hour: true, 0: true, 1: false, time.Hour: false} {
		l := Lease{NextAttemptAt: now.Add(next)}
		err := userLease{}.beginRenewal(s.Leaser, &l)
		if (err == nil) != want || want && !l.NextAttemptAt.Equal(now.Add(s.claim())) || !want && (!errors.Is(err, ErrConflict) || !l.NextAttemptAt.Equal(now.Add(next))) {
			t.Errorf("a renewal %s after the end of the last claim: %v, until %s", -next, err, l.NextAttemptAt)
		}
	}
	begun := Lease{NextAttemptAt: now}
	for what, c := range map[string]struct {
		next time.Time
		want bool
	}{
		"nobody else began": {now, true}, "another has begun": {now.Add(time.Second), false}, "another has ended": {time.Time{}, false},
	} {
		l := Lease{NextAttemptAt: c.next}
		err := userLease{}.endRenewal(begun, &l)
		if (err == nil) != c.want || c.want && !l.NextAttemptAt.IsZero() || !c.want && (!errors.Is(err, ErrConflict) || !l.NextAttemptAt.Equal(c.next)) {
			t.Errorf("%s: %v, until %s", what, err, l.NextAttemptAt)
		}
	}
	for field, r := range map[string]LeaseRequest{
		"role": {Role: "r"}, "namespaces": {Namespaces: []string{"n"}}, "rules": {Rules: []Rule{{}}}, "clusterWide": {ClusterWide: true}, "standing": {Standing: true},
	} {
		if err := (passedThrough{}).check(s.Leaser, person, Type{}, r); kindOf(err) != "invalid credential" {
			t.Errorf("passed through with %s: %v", field, err)
		}
	}
	if err := (passedThrough{}).check(s.Leaser, person, Type{}, LeaseRequest{TTL: 1, Purpose: "p", Operation: "o", For: "f", Widest: GradeUnbounded}); err != nil {
		t.Errorf("passed through: %v", err)
	}
	for what, c := range map[string]struct {
		known, stands bool
		want          string
	}{
		"known, and there are such": {true, true, "nil"}, "known": {true, false, "not supported standing"},
		"there are such": {false, true, "not supported standing"}, "neither": {false, false, "not supported standing"},
	} {
		s.core.directories = map[string]policy.Directory{"another": nobody{}}
		if c.known {
			s.core.directories[person.Authenticator()] = nobody{}
		}
		if err := (&standingLease{}).check(s.Leaser, person, Type{Standing: c.stands}, LeaseRequest{}); kindOf(err) != c.want {
			t.Errorf("standing, %s: %v, want %s", what, err, c.want)
		}
	}
}

// A repeat of a request is answered with the lease as it is: decided on with its grade where that is wider than the narrowest, to
// who may still have it, and only where its own generation is verified, if that is asked for.
func TestARepeatIsDecidedOnAsTheLeaseIs(t *testing.T) {
	again := func(change func(*stage)) func(*stage) {
		return func(s *stage) {
			s.l.IdempotencyKey, s.l.RequestDigest = "k", leaseDigest(vimID, LeaseRequest{TTL: time.Hour, Format: s.actor.is.Formats[0]}, Grant{})
			if change != nil {
				change(s)
			}
		}
	}
	grade := func(g Grade) func(*stage) { return again(func(s *stage) { s.l.Grade = g }) }
	issue := func(r LeaseRequest, denies string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
				s.asked = append(s.asked, r)
				return policy.Decision{Allowed: r.Action != policy.LeaseIssue || r.Wish.Grade != denies}
			})
			r.VIM, r.IdempotencyKey = vimID, "k"
			l, c, err := s.IssueLease(ctx, person, r)
			said := ""
			for _, r := range s.asked {
				if r.Action == policy.LeaseIssue {
					said += r.Wish.Grade + ", "
				}
			}
			return fmt.Sprint(said, l.ID == leaseID, ", ", c.Credential.Token.Reveal() == fresh, ", ", kindOf(err), ", issued ", s.count("Issue"))
		}
	}
	insecure := again(func(s *stage) { s.v.Current.Target.InsecureSkipVerify = true })
	moved := func(verified bool) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			past, now := v.Current, v.Current
			past.Target.Endpoint, past.Target.InsecureSkipVerify, now.Target.Endpoint, now.Number = "https://old", !verified, "https://new", 2
			v.Current.Number = 2
			if err := errors.Join(s.seal(ctx, v, &past, SealedPast), s.seal(ctx, v, &now, SealedCurrent)); err != nil {
				return err.Error()
			}
			v.Past, v.Current = []Generation{past}, now
			s.tape.vims[vimID] = v
			in := s.newSession(vimID)
			o, err := in.pinned(ctx, s.l)
			if err != nil {
				return err.Error()
			}
			l := s.row()
			l.SealedKey = past.Key
			l.Sealed, err = o.seal(l, Credential{Token: secret.NewText(fresh)})
			in.close()
			s.tape.leases[leaseID] = l
			got, c, failed := s.IssueLease(ctx, person, LeaseRequest{VIM: vimID, IdempotencyKey: "k", Verified: true})
			return fmt.Sprint(got.ID == leaseID, ", ", c.Endpoint, ", ", kindOf(errors.Join(err, failed)), ", issued ", s.count("Issue"))
		}
	}
	outcomes(t, []result{
		{"of no grade", grade(""), issue(LeaseRequest{}, "unbounded"), "bounded, true, true, nil, issued 0"},
		{"bounded", grade(GradeBounded), issue(LeaseRequest{}, "unbounded"), "bounded, true, true, nil, issued 0"},
		{"of namespaces", grade(GradeNamespaces), issue(LeaseRequest{}, "unbounded"), "bounded, namespaces, true, true, nil, issued 0"},
		{"of namespaces, which policy denies", grade(GradeNamespaces), issue(LeaseRequest{}, "namespaces"), "bounded, namespaces, false, false, denied, issued 0"},
		{"unbounded", grade(GradeUnbounded), issue(LeaseRequest{}, "namespaces"), "bounded, unbounded, true, true, nil, issued 0"},
		{"unbounded, which policy denies", grade(GradeUnbounded), issue(LeaseRequest{}, "unbounded"), "bounded, unbounded, false, false, denied, issued 0"},
		{"verified", again(nil), issue(LeaseRequest{Verified: true}, ""), "bounded, true, true, nil, issued 0"},
		{"not verified", insecure, issue(LeaseRequest{}, ""), "bounded, true, true, nil, issued 0"},
		{"not verified, where it has to be", insecure, issue(LeaseRequest{Verified: true}, ""), "bounded, false, false, not supported, issued 0"},
		{"on a VIM that has moved", again(nil), moved(true), "true, https://old, nil, issued 0"},
		{"on a VIM that was not verified then", again(nil), moved(false), "false, , not supported, issued 0"},
	})
}

// Each text of a request is one line that people read.
func TestTextsOfALeaseRequest(t *testing.T) {
	for field, set := range map[string]func(*LeaseRequest, string){
		"purpose": func(r *LeaseRequest, s string) { r.Purpose = s }, "operation": func(r *LeaseRequest, s string) { r.Operation = s },
		"instance": func(r *LeaseRequest, s string) { r.Instance = s }, "for": func(r *LeaseRequest, s string) { r.For = s },
	} {
		for text, want := range map[string]string{
			letters(255): "nil", letters(256): "invalid " + field, "a\nb": "invalid " + field, "a\x1b[2Jb": "invalid " + field, "a\u202eb": "invalid " + field,
			"a\u00a0b": "invalid " + field, "é, 1": "nil",
		} {
			s := newStage(t)
			r := LeaseRequest{VIM: vimID}
			set(&r, text)
			l, _, err := s.IssueLease(t.Context(), person, r)
			if kindOf(err) != want || err != nil && s.count("Issue") > 0 {
				t.Errorf("%s %.20q: %v, want %s", field, text, err, want)
			}
			kept := LeaseRequest{VIM: vimID, Purpose: l.Purpose, Operation: l.Operation, Instance: l.Instance, For: l.For}
			if err == nil && fmt.Sprint(kept) != fmt.Sprint(r) {
				t.Errorf("%s %.20q: the lease says %+v", field, text, kept)
			}
		}
	}
}

// Each kind of credential is told by its fields: all of them, none beside them, and none of another kind.
func TestEachKindOfCredentialByItsFields(t *testing.T) {
	set := map[string]func(*Credential){
		"token":                       func(c *Credential) { c.Token = secret.NewText("t") },
		"clientCertificate":           func(c *Credential) { c.ClientCertificate = "c" },
		"clientKey":                   func(c *Credential) { c.ClientKey = secret.NewText("k") },
		"username":                    func(c *Credential) { c.Username = "u" },
		"userId":                      func(c *Credential) { c.UserID = "i" },
		"password":                    func(c *Credential) { c.Password = secret.NewText("p") },
		"applicationCredentialId":     func(c *Credential) { c.ApplicationCredentialID = "a" },
		"applicationCredentialSecret": func(c *Credential) { c.ApplicationCredentialSecret = secret.NewText("s") },
	}
	all := []CredentialKind{CredentialBearerToken, CredentialClientCertificate, CredentialPassword, CredentialApplicationCredential}
	const one = "invalid credential"
	for fields, want := range map[string]string{
		"token": "bearerToken", "clientCertificate clientKey": "clientCertificate", "username password": "password", "userId password": "password",
		"username userId password": "password", "applicationCredentialId applicationCredentialSecret": "applicationCredential",
		"clientCertificate": one + ".clientKey", "clientKey": one + ".clientCertificate", "password": one + ".username", "username": one + ".password",
		"applicationCredentialId": one + ".applicationCredentialSecret", "applicationCredentialSecret": one + ".applicationCredentialId",
		"token password username": one, "token clientKey": one, "clientCertificate clientKey username password": one, "token clientCertificate clientKey": one,
		"username password applicationCredentialSecret": one, "token applicationCredentialId": one,
	} {
		for _, named := range []CredentialKind{"", CredentialBearerToken, CredentialPassword} {
			c := Credential{Kind: named}
			for field := range strings.FieldsSeq(fields) {
				set[field](&c)
			}
			err := Type{Credentials: all}.chooseKind(&c)
			got := string(c.Kind)
			if err != nil {
				got = kindOf(err)
			}
			expect := want
			if !strings.HasPrefix(want, one) && named != "" && string(named) != want {
				expect = one
			}
			if got != expect {
				t.Errorf("%s, named %q: %s, want %s", fields, named, got, expect)
			}
		}
	}
}

// weak is a certificate with an RSA key of so many bits, which nobody has.
func weak(t *testing.T, from time.Time, bits uint) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := &rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), bits-1), big.NewInt(1)), E: 65537}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(time.Hour)}
	parent := &x509.Certificate{SerialNumber: big.NewInt(2)}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// A certificate is looked at in the same way wherever it stands: one usable authority of a bundle is enough, and of a client's
// chain its own certificate alone counts.
func TestCertificatesAreLookedAtAlike(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	r := &Registry{core: &core{now: func() time.Time { return now }}}
	good, old, early := certificate(t, now), certificate(t, now.Add(-2*time.Hour)), certificate(t, now.Add(time.Hour))
	short, long := weak(t, now, minRSA-1), weak(t, now, minRSA)
	const none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	normalize := func(ca, own string) error {
		_, _, err := r.normalize(normal{ca: ca, own: own}, Registration{})
		return err
	}
	const inCA, inOwn = "caCert: the CA certificate ", "credential.clientCertificate: the client certificate "
	check(t, []said{
		{"an authority with a long key", normalize(long, ""), ""},
		{"an authority with a short key", normalize(short, ""), inCA + "has an RSA key"},
		{"an authority that is old", normalize(old, ""), inCA + "expired"},
		{"an authority that is early", normalize(early, ""), inCA + "is valid only from"},
		{"a short key before a good one", normalize(short+good, ""), ""},
		{"three that are not usable", normalize(short+early+old, ""), inCA + "has an RSA key"},
		{"a block that is none before an old one", normalize(none+old, ""), inCA + "expired"},
		{"a block that is none before a good one", normalize(old+none+good, ""), ""},
		{"a client with a long key", normalize(good, long), ""},
		{"a client with a short key", normalize(good, short), inOwn + "has an RSA key"},
		{"a client that is old", normalize(good, old), inOwn + "expired"},
		{"a client that is early", normalize(good, early), inOwn + "is valid only from"},
		{"a client whose authority is old", normalize(good, good+old), ""},
		{"a client that is old, whose authority is not", normalize(good, old+good), inOwn + "expired"},
	})
	if got := (Target{CACert: good + none + early}).CAExpiresAt(); !got.Equal(now.Add(2 * time.Hour)) {
		t.Errorf("behind a block that is none the last expires at %s", got)
	}
}

// What was minted for a lease that is not handed out is taken back, and what the row says already stays: why it ends, whose key it
// has, and the newest credential.
func TestWhatIsTakenBackKeepsWhatItsRowSays(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*Lease)
		want   string
	}{
		"pending":           {func(l *Lease) { l.State = LeasePending }, "revoked, issueFailed, key , kind bearerToken, uid minted"},
		"active":            {func(*Lease) {}, "revoked, issueFailed, key , kind bearerToken, uid minted"},
		"revoked meanwhile": {func(l *Lease) { l.State, l.Reason = LeaseRevoking, ReasonRequested }, "revoked, requested, key k, kind bearerToken, uid minted"},
		"abandoned meanwhile": {
			func(l *Lease) { l.State, l.Reason, l.IdempotencyKey = LeaseRevoking, ReasonAbandoned, "" },
			"revoked, abandoned, key , kind bearerToken, uid minted",
		},
		"given a reason, and not moved": {func(l *Lease) { l.State, l.Reason = LeasePending, ReasonVIMDeleted }, "revoked, vimDeleted, key , kind bearerToken, uid minted"},
		"it follows another":            {func(l *Lease) { l.State, l.Login, l.TokenTTL = LeasePending, vimID, time.Minute }, "revoked, issueFailed, key k, kind bearerToken, uid minted"},
		"another credential is stored": {func(l *Lease) {
			l.State, l.Sealed, l.UID, l.CredentialKind = LeasePending, "stored", "u", CredentialUser
		}, "revoked, issueFailed, key , kind user, uid u"},
		"it has ended": {func(l *Lease) { l.State, l.Reason = LeaseRevoked, ReasonExpired }, "revoked, expired, key k, kind , uid "},
	} {
		s := newStage(t)
		l := s.row()
		l.IdempotencyKey, l.Sealed = "k", ""
		c.change(&l)
		s.tape.leases[leaseID] = l
		minted := s.l
		minted.CredentialKind, minted.UID, minted.CredentialEndsAt = CredentialBearerToken, "minted", s.clock.Now().Add(time.Hour)
		s.actor.dead = true
		s.abort(t.Context(), minted, ReasonIssueFailed, must(s, policy.LeaseIssue).Failed("x"))
		l = s.row()
		got := fmt.Sprint(l.State, ", ", l.Reason, ", key ", l.IdempotencyKey, ", kind ", l.CredentialKind, ", uid ", l.UID)
		if got != c.want {
			t.Errorf("%s: %s, want %s; the log says %s", what, got, c.want, s.log)
		}
	}
}

// lateAnswer is a store whose write of a lease takes effect, and whose answer is lost.
type lateAnswer struct {
	LeaseStore
	then func(*Lease)
	tape *tape
}

func (l lateAnswer) UpdateLease(ctx context.Context, id string, change func(*Lease) error, e audit.Entry) (Lease, error) {
	stored, err := l.LeaseStore.UpdateLease(ctx, id, change, e)
	if err == nil {
		l.then(&stored)
		l.tape.leases[id] = stored
		err = errStep
	}
	return Lease{}, err
}

// A write whose answer was lost has taken effect where the lease is active with what was minted here; a lease that was ended since
// is not handed out.
func TestALeaseWhoseAnswerIsLost(t *testing.T) {
	for what, c := range map[string]struct {
		then   func(*Lease)
		unread error
		want   string
	}{
		"it is active":                     {func(*Lease) {}, nil, "active nil"},
		"another has sealed":               {func(l *Lease) { l.Sealed = "another" }, nil, " the step fails"},
		"it is being revoked":              {func(l *Lease) { l.State = LeaseRevoking }, nil, " the step fails"},
		"it was revoked":                   {func(l *Lease) { l.State = LeaseRevoked }, nil, " the step fails"},
		"it was given up":                  {func(l *Lease) { l.State = LeaseIrrevocable }, nil, " the step fails"},
		"it is active, and cannot be read": {func(*Lease) {}, errStep, " the step fails"},
	} {
		s := newStage(t)
		s.l.State = LeasePending
		s.put()
		s.core.leases, s.fails["Lease"] = lateAnswer{s.tape, c.then, s.tape}, c.unread
		o, err := s.core.open(t.Context(), s.v, s.v.Current)
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.record(t.Context(), s.l, s.actor.minted, o, must(s, policy.LeaseIssue))
		o.close()
		if got := fmt.Sprint(l.State, " ", kindOf(err)); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// filters is a store that keeps what leases are looked for.
type filters struct {
	LeaseStore
	asked *LeaseFilter
}

func (f filters) Leases(_ context.Context, by LeaseFilter) ([]Lease, string, error) {
	*f.asked = by
	return nil, "next", nil
}

// Each field of a query selects, and whose leases are looked for is bounded by the project, but on a VIM of the own one and for who
// sees all.
func TestWhatLeasesAreLookedFor(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	own := func(f LeaseFilter) LeaseFilter { f.Project, f.Size = "p", 100; return f }
	for what, c := range map[string]struct {
		q     LeaseQuery
		given func(*stage)
		all   bool
		want  LeaseFilter
	}{
		"nothing":             {LeaseQuery{}, nil, false, own(LeaseFilter{})},
		"an id":               {LeaseQuery{IDPrefix: "1C0A7F"}, nil, false, own(LeaseFilter{IDPrefix: "1c0a7f"})},
		"a principal":         {LeaseQuery{Principal: "Bob"}, nil, false, own(LeaseFilter{Principal: "Bob"})},
		"an operation":        {LeaseQuery{Operation: "o"}, nil, false, own(LeaseFilter{Operation: "o"})},
		"an instance":         {LeaseQuery{Instance: "i"}, nil, false, own(LeaseFilter{Instance: "i"})},
		"for whom":            {LeaseQuery{For: "dave"}, nil, false, own(LeaseFilter{For: "dave"})},
		"due":                 {LeaseQuery{DueBefore: at}, nil, false, own(LeaseFilter{DueBefore: at})},
		"all":                 {LeaseQuery{}, nil, true, LeaseFilter{Page: Page{Size: 100}}},
		"of a VIM":            {LeaseQuery{VIM: vimID}, nil, false, LeaseFilter{VIM: vimID, Page: Page{Size: 100}}},
		"of another's":        {LeaseQuery{VIM: vimID}, func(s *stage) { s.v.Project = "q" }, false, own(LeaseFilter{VIM: vimID})},
		"of a shared VIM":     {LeaseQuery{VIM: vimID}, func(s *stage) { s.v.Project, s.v.SharedWith = "q", []string{"p"} }, false, own(LeaseFilter{VIM: vimID})},
		"of any VIM, and all": {LeaseQuery{VIM: vimID}, func(s *stage) { s.v.Project = "q" }, true, LeaseFilter{VIM: vimID, Page: Page{Size: 100}}},
	} {
		s := newStage(t)
		if c.given != nil {
			c.given(s)
		}
		s.put()
		var asked LeaseFilter
		s.core.leases = filters{s.tape, &asked}
		s.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
			return policy.Decision{Allowed: r.Resource.ID != anyProject || c.all}
		})
		if _, next, err := s.Leases(t.Context(), person, c.q); err != nil || next != "next" || fmt.Sprint(asked) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v; looked for are %+v, want %+v", what, err, asked, c.want)
		}
	}
	for _, state := range append(LeaseStates(), "expired", "Active", "all") {
		s := newStage(t)
		var asked LeaseFilter
		s.core.leases = filters{s.tape, &asked}
		_, _, err := s.Leases(t.Context(), person, LeaseQuery{State: state})
		if known := slices.Contains(LeaseStates(), state); known != (err == nil) || known && !slices.Equal(asked.States, []LeaseState{state}) || !known && kindOf(err) != "invalid state" {
			t.Errorf("state %q: %v; looked for are %q", state, err, asked.States)
		}
	}
}

// Each text that a VIM stores counts, by its bytes.
func TestEachTextOfAVIMCounts(t *testing.T) {
	total := func(v VIM, credential int) int {
		n := 0
		for size := range maps.Values(sizes(v, credential)) {
			n += size
		}
		return n
	}
	const text = "é23"
	for field, set := range map[string]func(*VIM){
		"name": func(v *VIM) { v.Name = text }, "description": func(v *VIM) { v.Description = text }, "extra": func(v *VIM) { v.Extra = text },
		"a label": func(v *VIM) { v.Labels = map[string]string{text: ""} }, "its value": func(v *VIM) { v.Labels = map[string]string{"": text} },
		"a project":   func(v *VIM) { v.SharedWith = []string{"", text} },
		"the CA":      func(v *VIM) { v.Current.Target.CACert = text },
		"endpoint":    func(v *VIM) { v.Current.Target.Endpoint = text },
		"server name": func(v *VIM) { v.Current.Target.ServerName = text },
		"namespace":   func(v *VIM) { v.Current.Target.Namespace = text },
	} {
		var v VIM
		if set(&v); total(v, 0) != len(text) {
			t.Errorf("%s counts %d, want %d", field, total(v, 0), len(text))
		}
	}
	if got := total(VIM{}, 7); got != 7 {
		t.Errorf("a credential of 7 bytes counts %d", got)
	}
}
