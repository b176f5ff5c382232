package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// What goes wrong below is told to callers as an error of a kind, about a field, with a remedy.
func TestErrorsAreTranslated(t *testing.T) {
	plain, full := errors.New("plain"), &Error{Kind: ErrUnavailable, Detail: "full", Cause: ErrNoWrites}
	unusable := fmt.Errorf("%w: asking", keyring.ErrUnusable)
	lost := Error{Detail: "lost", Next: NextReplaceCredential}
	unknown := &keyring.UnknownError{Name: "vault"}
	call := func(c remote.CallError) error { return Unanswered(&c, "the VIM") }
	uses := func(kind UseKind) error { return InUse([]Use{{Kind: kind, Subject: "s", Project: "p", Name: "n"}}, 3) }
	draining := &VIM{State: VIMDraining}
	for _, c := range []struct {
		what   string
		err    error
		kind   error
		field  string
		detail string
		remedy string
		next   Next
	}{
		{"no key of the id", notaryError(notary.ErrNone), ErrNotFound, "key", "no key of this id", "", 0},
		{"a key that has ended", notaryError(notary.ErrEnded), ErrConflict, "key", "the key was revoked before", "", 0},
		{"keys that changed", notaryError(notary.ErrOvertaken), ErrConflict, "", "the keys were changed", "list them again", 0},
		{"a log that was rewritten", notaryError(notary.ErrRewritten), ErrConflict, "", "the audit log does not continue", "find out who", 0},
		{"a key that does not open", notaryError(notary.ErrLost), ErrUnopenable, "", "the key that signs", "revoke it", 0},
		{"a log that is torn", notaryError(tree.ErrTorn), ErrConflict, "", "the audit log in the store is not the one", "", 0},
		{"a key store that cannot be used", notaryError(unusable), ErrUnavailable, "", "the key store cannot be used now", "try again later", 0},
		{
			"a key store that forbids", KeyFault(errors.Join(keyring.ErrUnusable, secret.ErrForbidden), lost), ErrUnavailable, "",
			"the key store cannot be used now", "the broker's operator must give it", 0,
		},
		{"a key that is lost", KeyFault(keyring.ErrLost, lost), ErrUnopenable, "", "lost", "", NextReplaceCredential},
		{"a key store that is not configured", KeyFault(unknown, lost), ErrUnavailable, "keyStore", `the key store "vault"`, "configure it", 0},
		{"a server that is busy", call(remote.CallError{Busy: true}), ErrUnavailable, "", "", "", 0},
		{"a server that refuses the certificate", call(remote.CallError{CertificateRefused: true}), ErrUnauthorized, "", "", "", 0},
		{"a server that does not answer", call(remote.CallError{Detail: "d", Remedy: "r"}), ErrUnreachable, "", "d", "r", 0},
		{"a log that cannot be written", Unrecorded(plain), ErrUnavailable, "", "the audit log cannot be written", "try again", 0},
		{"a log that another error is about", Unrecorded(&Error{Kind: ErrConflict}), ErrUnavailable, "", "the audit log cannot", "try again", 0},
		{"a store that takes no writes", Unrecorded(full), ErrUnavailable, "", "full", "", 0},
		{"instances in use", uses(UseVNFInstance), ErrConflict, "", `VNF instances stand on the VIM: "n" (s) of project p and 2 more`, "", NextEndUses},
		{"assets in use", uses(UseAsset), ErrConflict, "", "virtual links or volumes stand", "delete them first", 0},
		{"clusters in use", uses(UseCluster), ErrConflict, "", "clusters are followed", "disable it as a management cluster", 0},
		{
			"all of them named", InUse([]Use{{Kind: UseAsset, Subject: "s", Project: "p"}}, 1), ErrConflict, "",
			"virtual links or volumes stand on the VIM: s of project p", "delete them first", 0,
		},
		{"a VIM that drains", draining.writable(0), ErrConflict, "", "the VIM is being deleted", "", 0},
		{"a revision that is past", (&VIM{Revision: 2}).writable(1), ErrPrecondition, "If-Match", "the VIM has changed", "read it again", 0},
		{"a write under way", (&VIM{Pending: &Pending{}}).writable(0), ErrConflict, "", "another write", "try again in a moment", 0},
	} {
		e, known := errors.AsType[*Error](c.err)
		if !known || e.Kind != c.kind || e.Field != c.field || e.Next != c.next ||
			!strings.HasPrefix(e.Detail, c.detail) || !strings.HasPrefix(e.Remedy, c.remedy) || (c.remedy == "") != (e.Remedy == "") {
			t.Errorf("%s: %+v", c.what, c.err)
		}
	}
	if got := InUse([]Use{{Kind: UseAsset}}, 2); !strings.Contains(got.Error(), " and 1 more") {
		t.Errorf("of two one is named: %v", got)
	}
	if got := InUse([]Use{{Kind: UseAsset}}, 1); strings.Contains(got.Error(), "more") {
		t.Errorf("one use is %q", got)
	}
	if Unrecorded(nil) != nil || Unanswered(plain, "the VIM") != nil || !errors.Is(KeyFault(plain, lost), plain) || !errors.Is(tornLog(plain), plain) {
		t.Error("what is no such error is one")
	}
	if draining.writableAny(0) != nil || (&VIM{Revision: 2}).writable(2) != nil {
		t.Error("a VIM that can be written cannot")
	}
}

// A decision that others overtake is made again, and not for ever.
func TestADecisionIsRepeated(t *testing.T) {
	for moves, want := range map[int]error{0: nil, 4: nil, 5: ErrConflict} {
		tries := 0
		got, err := decided(func() (string, error) {
			if tries++; tries <= moves {
				return "moved", errMoved
			}
			return "done", nil
		})
		if !errors.Is(err, want) || want == nil && got != "done" || want != nil && got != "" || tries != min(moves+1, 5) {
			t.Errorf("after %d moves: %q, %v in %d tries", moves, got, err, tries)
		}
	}
}

// The log has the cause of an error; a caller is not told it.
func TestTheLogSaysTheCause(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		value any
		want  string
	}{
		{&Error{Kind: ErrConflict, Detail: "d", Cause: cause}, "d: cause"},
		{&Error{Kind: ErrConflict, Detail: "d"}, "d"},
		{fmt.Errorf("doing: %w", &Error{Kind: ErrConflict, Detail: "d", Cause: cause}), "doing: d: cause"},
		{errors.New("plain"), "plain"},
		{"text", "text"},
	} {
		if got := LogCause(nil, slog.Any("error", c.value)).Value.String(); got != c.want {
			t.Errorf("%v is logged as %q, want %q", c.value, got, c.want)
		}
	}
}

// A secret in an answer is an echo from sixteen bytes on: what is shorter stands in texts by chance.
func TestWhatIsAnEcho(t *testing.T) {
	for n, want := range map[int]bool{15: false, 16: true, 60: true} {
		s := strings.Repeat("s", n)
		for field, c := range map[string]Credential{
			"token": {Token: secret.NewText(s)}, "password": {Password: secret.NewText(s)},
			"key": {ClientKey: secret.NewText(s)}, "secret": {ApplicationCredentialSecret: secret.NewText(s)},
		} {
			if got := echoes(c, "no", "it is "+s[:min(n, 48)]+"."); errors.Is(got, ErrUnreachable) != want {
				t.Errorf("a %s of %d bytes: %v", field, n, got)
			}
			if got := echoes(c, "no"); got != nil {
				t.Errorf("a %s that no text has: %v", field, got)
			}
		}
	}
}

// A lease that a draining VIM waits for says where it stands.
func TestWhatALeaseWaitsFor(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, l := range map[string]Lease{
		"lease l of p, which is active":                                            {State: LeaseActive, NextAttemptAt: at},
		"lease l of p, which is revoking":                                          {State: LeaseRevoking},
		"lease l of p, which is revoking; the next try is at 2030-01-02T03:04:05Z": {State: LeaseRevoking, NextAttemptAt: at},
		"lease l of p, which is revoking, tries: 1: no answer":                     {State: LeaseRevoking, Attempts: 1, LastError: "no answer"},
		"lease l of p, which is irrevocable: given up":                             {State: LeaseIrrevocable, LastError: "given up", NextAttemptAt: at},
	} {
		l.ID, l.Principal = "l", "p"
		if got := l.waiting(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// deciding is a policy.
type deciding func(policy.Request) policy.Decision

func (d deciding) Decide(r policy.Request) policy.Decision { return d(r) }

// entries are an audit log in memory.
type entries struct {
	audit.Log
	all     []audit.Entry
	fails   error
	missing []string
}

func (e *entries) Append(_ context.Context, entry audit.Entry) error {
	if e.fails == nil {
		e.all = append(e.all, entry)
	}
	return e.fails
}

func (e *entries) Unguarded(context.Context) ([]string, error) { return e.missing, e.fails }

// refusing is a core whose policy decides so.
func refusing(decide deciding) (*core, *entries, *bytes.Buffer) {
	var log bytes.Buffer
	all := &entries{}
	return &core{
		guard: &audit.Guard{Policy: decide, Sink: all, Now: time.Now}, policy: decide, entries: all, now: time.Now,
		log: slog.New(slog.NewTextHandler(&log, nil)),
	}, all, &log
}

// A refusal says which policies forbid such a lease, and why; one that hides the VIM, or that another decides now, stays as it is.
func TestARefusalIsExplained(t *testing.T) {
	denied := &Error{Kind: ErrDenied, Detail: "no", Next: NextExplain}
	hidden := &Error{Kind: ErrNotFound, Detail: "no such VIM"}
	plain, remedied := errors.New("plain"), &Error{Kind: ErrDenied, Detail: "no", Remedy: "ask"}
	reasons := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		what    string
		refusal error
		decides policy.Decision
		grade   Grade
		reasons []string
		want    string
	}{
		{
			"a policy", denied,
			policy.Decision{Policies: []string{"p", "q"}, Reasons: []string{"because"}},
			"", nil,
			"policy does not allow alice to lease:issue such a lease (p, q): because; ask for less: ",
		},
		{
			"of a bounded lease", denied,
			policy.Decision{Policies: []string{"p"}},
			GradeBounded, nil,
			"policy does not allow alice to lease:issue such a lease (p); ask for less: ",
		},
		{
			"of a wide lease", denied,
			policy.Decision{Policies: []string{"p"}},
			GradeUnbounded, reasons,
			"policy does not allow alice to lease:issue a lease that is unbounded (p): a; b; c; ask for less: ",
		},
		{"no policy", denied, policy.Decision{}, GradeUnbounded, reasons, "no"},
		{"allowed by now", denied, policy.Decision{Allowed: true, Policies: []string{"p"}}, "", nil, "no"},
		{"no such VIM", hidden, policy.Decision{Policies: []string{"p"}}, "", nil, "no such VIM"},
		{"another error", plain, policy.Decision{Policies: []string{"p"}}, "", nil, "plain"},
	} {
		b := &Leaser{core: &core{policy: deciding(func(policy.Request) policy.Decision { return c.decides })}}
		got := b.explainRefusal(c.refusal, policy.Principal{Name: "alice"}, VIM{}, policy.Wish{Grade: string(c.grade)}, c.reasons)
		if !strings.HasPrefix(got.Error(), c.want) || strings.HasSuffix(c.want, ": ") != strings.Contains(got.Error(), "ask for less") {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	for _, c := range []struct {
		refusal error
		remedy  string
		want    string
	}{
		{denied, "mend it", "no; mend it"}, {denied, "", "no"}, {remedied, "", "no; ask"}, {remedied, "mend it", "no; mend it"}, {hidden, "mend it", "no such VIM"}, {plain, "mend it", "plain"},
	} {
		if got := withRemedy(c.refusal, c.remedy); got.Error() != c.want {
			t.Errorf("%v with the remedy %q is %q", c.refusal, c.remedy, got)
		}
	}
}

// A desk decides, records, and tells of what is not there.
func TestADeskDecidesAndRecords(t *testing.T) {
	missing, lost := &Error{Kind: ErrNotFound, Detail: "no such thing"}, errors.New("the log is lost")
	p, res := policy.Principal{Name: "alice", Project: "p"}, policy.Resource{Kind: policy.KindPackage, ID: "x", Project: "p"}
	allowed := map[policy.Action]bool{policy.PackageShow: true}
	c, all, log := refusing(func(r policy.Request) policy.Decision { return policy.Decision{Allowed: allowed[r.Action]} })
	d := Desk{Guard: c.guard, Log: c.log, Missing: func() error { return missing }}
	ctx := t.Context()
	outcomes := func() (found []audit.Outcome) {
		for _, e := range all.all {
			found = append(found, e.Outcome)
		}
		all.all = nil
		return found
	}
	act, err := d.Enter(ctx, p, policy.PackageShow, res)
	if err != nil || act == nil || len(outcomes()) != 0 {
		t.Errorf("what is allowed: %v", err)
	}
	if got := d.Refuse(ctx, act, missing); got != error(missing) || len(all.all) != 1 || all.all[0].Detail[audit.DetailError] != ErrNotFound.Error() {
		t.Errorf("%v is recorded as %+v", got, all.all)
	}
	outcomes()
	if _, err := d.Enter(ctx, p, policy.PackageDelete, res); !errors.Is(err, ErrDenied) || !slices.Equal(outcomes(), []audit.Outcome{audit.Denied}) {
		t.Errorf("what is denied: %v", err)
	}
	if err := d.Read(ctx, p, policy.PackageDelete, res); !errors.Is(err, ErrDenied) || len(outcomes()) != 1 {
		t.Errorf("reading what is denied: %v", err)
	}
	if err := d.Read(ctx, p, policy.PackageShow, res); err != nil || len(outcomes()) != 1 {
		t.Errorf("reading: %v", err)
	}
	all.fails = lost
	if err := d.Read(ctx, p, policy.PackageShow, res); !errors.Is(err, ErrUnavailable) {
		t.Errorf("reading without a record: %v", err)
	}
	if got := d.Refuse(ctx, act, missing); got != error(missing) || !strings.Contains(log.String(), "the log is lost") {
		t.Errorf("refusing without a record: %v; the log says %q", got, log)
	}
	all.fails = nil
	if got := Failed(act, lost).Detail[audit.DetailError]; got != "failed" {
		t.Errorf("an error of another's words is recorded as %q", got)
	}
	for _, c := range []struct {
		what, id string
		answers  error
		log      error
		want     error
		records  int
	}{
		{"there", vimID, nil, nil, nil, 0},
		{"no id", "x", nil, nil, missing, 1},
		{"not there", vimID, ErrNotFound, nil, missing, 1},
		{"unread", vimID, lost, nil, lost, 0},
		{"not there, without a record", vimID, ErrNotFound, lost, ErrUnavailable, 0},
	} {
		all.fails = c.log
		found, err := Find(ctx, d, p, policy.PackageShow, policy.KindPackage, c.id, func(_ context.Context, id string) (string, error) {
			return "found " + id, c.answers
		})
		if !errors.Is(err, c.want) || err == nil && found != "found "+vimID || len(outcomes()) != c.records {
			t.Errorf("%s: %q, %v", c.what, found, err)
		}
	}
}

// What the broker records of itself: what detail has a value, and at a start what guarded the log and is gone.
func TestTheStartIsRecorded(t *testing.T) {
	c, all, log := refusing(nil)
	o := &Oversight{core: c}
	for _, s := range []struct {
		missing []string
		detail  []string
		want    map[string]string
	}{
		{nil, []string{"version", "1", "empty", "", "odd"}, map[string]string{"version": "1"}},
		{nil, nil, map[string]string{}},
		{[]string{"a"}, nil, map[string]string{audit.DetailUnguarded: "a"}},
		{[]string{"a", "b"}, []string{"version", "1"}, map[string]string{"version": "1", audit.DetailUnguarded: "a,b"}},
	} {
		all.all, all.missing = nil, s.missing
		err := o.RecordStart(t.Context(), s.detail...)
		if err != nil || len(all.all) != 1 || all.all[0].Action != audit.ServerStart || all.all[0].Outcome != audit.Done || !maps.Equal(all.all[0].Detail, s.want) {
			t.Errorf("%v is recorded as %+v, %v", s, all.all, err)
		}
		if strings.Contains(log.String(), "was taken away") != (s.missing != nil) {
			t.Errorf("without %v the log says %q", s.missing, log)
		}
		log.Reset()
	}
	all.fails, all.missing = errors.New("lost"), []string{"later"}
	log.Reset()
	if err := o.RecordStart(t.Context()); !errors.Is(err, all.fails) || strings.Contains(log.String(), "later") {
		t.Errorf("without a store: %v; the log says %q", err, log)
	}
	if err := o.RecordServer(t.Context(), audit.ServerStart, audit.Done); !errors.Is(err, all.fails) || !strings.HasPrefix(err.Error(), "recording server:start") {
		t.Errorf("without a store: %v", err)
	}
}

// A row that was changed or removed meanwhile is left to who changed it; another error stays.
func TestRowsToResealAreOvertaken(t *testing.T) {
	type row struct{ sealed keyring.SealedRow }
	plain := errors.New("plain")
	for _, c := range []struct{ stored, changes, want error }{
		{nil, nil, nil}, {ErrConflict, nil, keyring.ErrOvertaken}, {ErrNotFound, nil, keyring.ErrOvertaken}, {plain, nil, plain}, {nil, plain, plain},
	} {
		r := RekeyRow("f", time.Now, func(r *row) *keyring.SealedRow { return &r.sealed }, func(_ context.Context, change func(*row) error) (row, error) {
			now := row{}
			return now, errors.Join(change(&now), c.stored)
		})
		_, err := r.Update(t.Context(), func(*keyring.SealedRow) error { return c.changes })
		if !errors.Is(err, c.want) || c.want == plain && errors.Is(err, keyring.ErrOvertaken) {
			t.Errorf("stored %v, changed %v: %v", c.stored, c.changes, err)
		}
	}
}

// An entry says what differs, and nothing of an earlier try; of what may hold anything, only that it is another.
func TestAnEntrySaysWhatDiffers(t *testing.T) {
	before := VIM{Name: "a", Description: "x", Labels: map[string]string{"site": "1"}, Current: Generation{Number: 1}}
	after := before
	after.Name, after.Extra, after.Labels = "b", "{}", nil
	e := audit.Entry{Detail: map[string]string{
		audit.DetailOld + "stale": "1", audit.DetailNew + "stale": "1", newCredential: notShown, audit.DetailReason: "kept",
	}}
	addChanges(e, before, after)
	want := map[string]string{
		newCredential: notShown, audit.DetailReason: "kept", audit.DetailOld + "name": "a", audit.DetailNew + "name": "b",
		audit.DetailNew + "extra": notShown, audit.DetailOld + "labels.site": `"1"`,
	}
	if !maps.Equal(e.Detail, want) {
		t.Errorf("the entry says %v, want %v", e.Detail, want)
	}
}

// byKey is a store of VIMs that answers a key.
type byKey struct {
	VIMStore
	old VIM
	err error
}

func (b byKey) VIMByKey(context.Context, string, string) (VIM, error) { return b.old, b.err }

// A registration that is repeated under its key is answered with its VIM, once that is registered.
func TestRepeatsOfARegistration(t *testing.T) {
	exists, broken := &Error{Kind: ErrExists}, errors.New("broken")
	old := VIM{ID: "v", Project: "p", RequestDigest: "d", State: VIMRegistered, CreatedAt: time.Now()}
	of := func(change func(*VIM)) VIM { v := old; change(&v); return v }
	for _, c := range []struct {
		what, key string
		created   error
		stored    byKey
		want      string
		failed    string
	}{
		{"a repeat", "k", exists, byKey{old: old}, "v", ""},
		{"no key", "", exists, byKey{old: old}, "", ""},
		{"another error", "k", &Error{Kind: ErrQuota}, byKey{old: old}, "", ""},
		{"an error of no kind", "k", broken, byKey{old: old}, "", ""},
		{"another's name", "k", exists, byKey{err: vimNotFound()}, "", ""},
		{"unread", "k", exists, byKey{err: broken}, "", "broken"},
		{"another request", "k", exists, byKey{old: of(func(v *VIM) { v.RequestDigest = "e" })}, "", "Idempotency-Key: was used for another"},
		{"another project", "k", exists, byKey{old: of(func(v *VIM) { v.Project = "q" })}, "", "Idempotency-Key: was used for another"},
		{"not ended", "k", exists, byKey{old: of(func(v *VIM) { v.State = VIMRegistering })}, "", "Idempotency-Key: the first request"},
	} {
		r := &Registry{core: &core{vims: c.stored, now: time.Now, terms: DefaultTerms()}}
		got, err := r.registered(t.Context(), policy.Principal{}, VIM{IdempotencyKey: c.key, Project: "p", RequestDigest: "d"}, c.created)
		if got.ID != c.want || (err == nil) != (c.failed == "") || err != nil && !strings.HasPrefix(err.Error(), c.failed) {
			t.Errorf("%s: %q, %v, want %q, %q", c.what, got.ID, err, c.want, c.failed)
		}
	}
}

// A registration is refused for the first thing that is wrong with it, and one's own roles are what they are in a question about oneself.
func TestWhatIsWrongFirst(t *testing.T) {
	s := newStage(t)
	_, err := s.RegisterVIM(t.Context(), person, Registration{Name: "a b\x00", Project: "q", Type: "a", Endpoint: "https://vim"})
	if got := kindOf(err); got != "invalid name" {
		t.Errorf("it is refused as %s", got)
	}
	self := policy.Principal{Name: person.Name, Project: person.Project, Roles: []string{"made-up"}}
	if _, err := s.Explain(t.Context(), person, policy.Request{Principal: self, Action: policy.VIMShow}); err != nil {
		t.Fatal(err)
	}
	if got := s.asked[len(s.asked)-1].Principal; !slices.Equal(got.Roles, person.Roles) {
		t.Errorf("asked is about %+v", got)
	}
}

// A write is its process's own until another takes it over.
func TestWhoseWriteItIs(t *testing.T) {
	at := time.Now()
	mine := &Pending{Generation: 2, Since: at}
	for _, c := range []struct {
		pending *Pending
		want    bool
	}{{mine, true}, {nil, false}, {&Pending{Generation: 3, Since: at}, false}, {&Pending{Generation: 2, Since: at.Add(1)}, false}} {
		if got := (&VIM{Pending: c.pending}).pendingIs(mine); got != c.want {
			t.Errorf("%+v is mine: %v", c.pending, got)
		}
	}
}

// A refusal says why as far as policies do, and an error of the guard that is none is no refusal.
func TestWhatARefusalSays(t *testing.T) {
	hidden := errors.New("no such VIM")
	for _, c := range []struct {
		err  error
		want string
		kind error
	}{
		{&policy.Refused{Reasons: []string{"one", "two"}}, "policy does not allow alice to vim:show: one; two", ErrDenied},
		{&policy.Refused{}, "policy does not allow alice to vim:show", ErrDenied},
		{policy.ErrDenied, "policy does not allow alice to vim:show", ErrDenied},
		{audit.ErrHidden, "no such VIM", hidden},
		{errStep, "the audit log cannot be written; try again; if that goes on, have the broker's operator see why", ErrUnavailable},
	} {
		if got := Refusal(c.err, policy.Principal{Name: "alice"}, policy.VIMShow, hidden); got.Error() != c.want || !errors.Is(got, c.kind) {
			t.Errorf("of %v: %v, want %s", c.err, got, c.want)
		}
	}
}
