package secret_test

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/fernet/fernet-go"

	"github.com/vimbroker/vimbroker/broker/secret"
)

var owner = secret.Owner{ID: "0b8a1d5e-5a3f-4f83-9a36-1d5f5f0f7c11", Generation: 3}

func mustSeal(t testing.TB, key *secret.Key, owner secret.Owner, field, plain string) string {
	t.Helper()
	token, err := secret.Seal(key, owner, field, secret.NewText(plain))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func wantUnopenable(t testing.TB, what string, key *secret.Key, owner secret.Owner, field, token string) {
	t.Helper()
	text, err := secret.Open(key, owner, field, token)
	if err != secret.ErrUnopenable { // itself: wrapped, it could say more
		t.Errorf("%s: Open = %v, want exactly ErrUnopenable", what, err)
	}
	if !text.Empty() {
		t.Errorf("%s: Open gives a text", what)
	}
}

func TestSealedOpens(t *testing.T) {
	key := newKey(t)
	for _, plain := range []string{"", "a", strings.Repeat("b", 15), strings.Repeat("b", 16), "ä\x00\n", strings.Repeat("x", secret.MaxPlaintext)} {
		token := mustSeal(t, key, owner, "token", plain)
		text, err := secret.Open(key, owner, "token", token)
		if err != nil || text.Reveal() != plain {
			t.Errorf("Open of a sealed text of %d bytes = %v, same: %t", len(plain), err, text.Reveal() == plain)
		}
	}
}

// Regression: constant nonce or IV.
func TestSameTextSealedTwiceGivesTwoTokens(t *testing.T) {
	key := newKey(t)
	a, b := mustSeal(t, key, owner, "token", "same"), mustSeal(t, key, owner, "token", "same")
	if a == b || a[12:32] == b[12:32] {
		t.Errorf("two tokens of one text share their IV: %s, %s", a, b)
	}
}

// Regression: no MAC, so that a changed ciphertext decrypts to something.
func TestAChangedTokenNeverOpens(t *testing.T) {
	key := newKey(t)
	token := mustSeal(t, key, owner, "token", "plaintext")
	raw, err := base64.URLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			raw[i] ^= 1 << bit
			wantUnopenable(t, "flipped bit", key, owner, "token", base64.URLEncoding.EncodeToString(raw))
			raw[i] ^= 1 << bit
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/\n"
	for i := range token {
		for _, c := range alphabet {
			if changed := token[:i] + string(c) + token[i+1:]; changed != token {
				wantUnopenable(t, "changed character", key, owner, "token", changed)
			}
		}
		wantUnopenable(t, "cut off", key, owner, "token", token[:i])
		wantUnopenable(t, "line break", key, owner, "token", token[:i]+"\n"+token[i:])
		wantUnopenable(t, "character left out", key, owner, "token", token[:i]+token[i+1:])
	}
}

// What fernet-go lets through, or panics on.
func TestFaultsOfFernetGoAreClosed(t *testing.T) {
	key := newKey(t)
	token := mustSeal(t, key, owner, "token", "plaintext")
	for _, tail := range []string{"!!!!", "AAAA", "    ", "\n", "\r\n", "=", "====", token, "\x00"} {
		wantUnopenable(t, "tail", key, owner, "token", token+tail)
		wantUnopenable(t, "head", key, owner, "token", tail+token)
	}
	wantUnopenable(t, "empty", key, owner, "token", "")
	wantUnopenable(t, "too long", key, owner, "token", strings.Repeat("A", 4<<20))

	// A ciphertext of nothing under a good HMAC makes fernet-go panic.
	raw, err := fernet.DecodeKey(string(key.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	hollow := hollowToken(raw)
	if !panics(func() { fernet.VerifyAndDecrypt([]byte(hollow), 0, []*fernet.Key{raw}) }) {
		t.Error("fernet-go no longer panics on an empty ciphertext: is the form checked before it for a reason?")
	}
	wantUnopenable(t, "empty ciphertext", key, owner, "token", hollow)
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// Regression: a token moved to another row decrypts.
func TestSealedIsBound(t *testing.T) {
	key := newKey(t)
	token := mustSeal(t, key, owner, "token", "plaintext")
	with := func(change func(*secret.Owner)) secret.Owner { o := owner; change(&o); return o }
	for _, tc := range []struct {
		what  string
		owner secret.Owner
		field string
	}{
		{"another VIM", with(func(o *secret.Owner) { o.ID = "0b8a1d5e-5a3f-4f83-9a36-1d5f5f0f7c12" }), "token"},
		{"the id in capitals", with(func(o *secret.Owner) { o.ID = strings.ToUpper(o.ID) }), "token"},
		{"the generation before", with(func(o *secret.Owner) { o.Generation-- }), "token"},
		{"the generation after", with(func(o *secret.Owner) { o.Generation++ }), "token"},
		{"another field", owner, "password"},
		{"a longer field", owner, "token2"},
		{"a shorter field", owner, "toke"},
		{"no field", owner, ""},
		{"no id", with(func(o *secret.Owner) { o.ID = "" }), "token"},
		{"no generation", with(func(o *secret.Owner) { o.Generation = 0 }), "token"},
		{"another division", with(func(o *secret.Owner) { o.ID += "t" }), "oken"},
	} {
		wantUnopenable(t, tc.what, key, tc.owner, tc.field, token)
	}
	wantUnopenable(t, "another key", newKey(t), owner, "token", token)

	// Without an envelope, as other systems seal.
	raw, err := fernet.DecodeKey(string(key.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := fernet.EncryptAndSign([]byte("plaintext"), raw)
	if err != nil {
		t.Fatal(err)
	}
	wantUnopenable(t, "no envelope", key, owner, "token", string(bare))
}

// Names that run together differently are different names.
func TestEnvelopesDoNotRunTogether(t *testing.T) {
	key := newKey(t)
	token := mustSeal(t, key, secret.Owner{ID: "ab", Generation: 1}, "c", "d")
	for _, id := range []string{"a", "ab", "abc"} {
		for _, field := range []string{"b", "bc", "c", "cd"} {
			if id == "ab" && field == "c" {
				continue
			}
			wantUnopenable(t, id+"|"+field, key, secret.Owner{ID: id, Generation: 1}, field, token)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	key := newKey(t)
	long := strings.Repeat("x", 257)
	for name, seal := range map[string]func() (string, error){
		"no id": func() (string, error) {
			return secret.Seal(key, secret.Owner{Generation: 1}, "f", secret.NewText(canary))
		},
		"long id": func() (string, error) {
			return secret.Seal(key, secret.Owner{ID: long, Generation: 1}, "f", secret.NewText(canary))
		},
		"no generation": func() (string, error) {
			return secret.Seal(key, secret.Owner{ID: "v"}, "f", secret.NewText(canary))
		},
		"no field":   func() (string, error) { return secret.Seal(key, owner, "", secret.NewText(canary)) },
		"long field": func() (string, error) { return secret.Seal(key, owner, long, secret.NewText(canary)) },
		"long text": func() (string, error) {
			return secret.Seal(key, owner, "f", secret.NewText(strings.Repeat(canary, 1<<17)))
		},
	} {
		token, err := seal()
		if err == nil || token != "" {
			t.Errorf("%s: Seal gives a token: %t, error %v, want only an error", name, token != "", err)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error holds the text", name)
		}
	}
}

func TestSealedAt(t *testing.T) {
	before := time.Now().Truncate(time.Second)
	token := mustSeal(t, newKey(t), owner, "token", "plaintext")
	at, err := secret.SealedAt(token)
	if err != nil || at.Before(before) || at.After(time.Now()) || at.Location() != time.UTC {
		t.Errorf("SealedAt = %v, %v, want about now, in UTC", at, err)
	}
	for _, bad := range []string{"", "gAAA", token + "\n", token[1:], "A" + token[1:]} {
		if at, err := secret.SealedAt(bad); err != secret.ErrUnopenable {
			t.Errorf("SealedAt(%.10q) = %v, %v, want ErrUnopenable", bad, at, err)
		}
	}
	raw, err := base64.URLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) // that anybody can spell
	for at, want := range map[time.Time]error{last: nil, last.Add(time.Second): secret.ErrUnopenable} {
		binary.BigEndian.PutUint64(raw[1:], uint64(at.Unix()))
		if got, err := secret.SealedAt(base64.URLEncoding.EncodeToString(raw)); err != want || err == nil && got != at {
			t.Errorf("SealedAt of %v = %v, %v", at, got, err)
		}
	}
}

func FuzzSealedOpens(f *testing.F) {
	f.Add("vim", int64(1), "token", "plaintext")
	f.Add(owner.ID, int64(1<<62), "password", "")
	f.Add("a\x00b", int64(256), "\x00\x01", "\xff\x00")
	key := newKey(f)
	f.Fuzz(func(t *testing.T, id string, generation int64, field, plain string) {
		o := secret.Owner{ID: id, Generation: generation}
		token, err := secret.Seal(key, o, field, secret.NewText(plain))
		if err != nil {
			if len(id) > 0 && len(id) <= 256 && generation > 0 && len(field) > 0 && len(field) <= 256 && len(plain) <= secret.MaxPlaintext {
				t.Errorf("Seal = %v, want nil", err)
			}
			return
		}
		text, err := secret.Open(key, o, field, token)
		if err != nil || text.Reveal() != plain {
			t.Errorf("Open = %v, same text: %t", err, text.Reveal() == plain)
		}
		o.Generation = max(1, o.Generation^1)
		if o.Generation != generation {
			wantUnopenable(t, "another generation", key, o, field, token)
		}
	})
}

func FuzzChangedNeverOpens(f *testing.F) {
	key := newKey(f)
	token := mustSeal(f, key, owner, "token", "plaintext")
	f.Add(0, 1, "B")
	f.Add(10, 0, "\n")
	f.Add(len(token), 0, "AAAA")
	f.Add(0, len(token), "")
	f.Fuzz(func(t *testing.T, at, cut int, insert string) {
		at = min(max(at, 0), len(token))
		cut = min(max(cut, 0), len(token)-at)
		if changed := token[:at] + insert + token[at+cut:]; changed != token {
			wantUnopenable(t, "changed", key, owner, "token", changed)
		}
	})
}

func FuzzOpenNeverPanics(f *testing.F) {
	key := newKey(f)
	raw, err := fernet.DecodeKey(string(key.Encode()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("")
	f.Add("gAAA")
	f.Add(hollowToken(raw))
	f.Add("gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==")
	f.Fuzz(func(t *testing.T, token string) {
		wantUnopenable(t, "arbitrary", key, owner, "token", token)
		if at, err := secret.SealedAt(token); err == nil && at.Year() > 9999 {
			t.Errorf("SealedAt = %v", at)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	key, text := newKey(b), secret.NewText(strings.Repeat("x", 4096))
	b.SetBytes(4096)
	for b.Loop() {
		if _, err := secret.Seal(key, owner, "token", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	key := newKey(b)
	token := mustSeal(b, key, owner, "token", strings.Repeat("x", 4096))
	b.SetBytes(4096)
	for b.Loop() {
		if _, err := secret.Open(key, owner, "token", token); err != nil {
			b.Fatal(err)
		}
	}
}
