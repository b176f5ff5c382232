package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
)

func newKey(t testing.TB) *secret.Key {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyEncodesAndParses(t *testing.T) {
	key := newKey(t)
	encoded := key.Encode()
	kept := bytes.Clone(encoded)
	parsed, err := secret.ParseKey(encoded)
	if err != nil {
		t.Fatal(err)
	}
	clear(encoded) // ParseKey keeps nothing of its input
	if !parsed.Equal(key) || !bytes.Equal(parsed.Encode(), kept) {
		t.Error("ParseKey(Encode()) is another key")
	}
	if newKey(t).Equal(key) {
		t.Error("two new keys are equal")
	}
}

func TestParseKeyIsStrict(t *testing.T) {
	// The bits set behind the 32nd byte, and a digit that base64url lacks.
	const good = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4="
	if _, err := secret.ParseKey([]byte(good)); err != nil {
		t.Fatalf("ParseKey of a good key = %v, want nil", err)
	}
	raw, err := base64.URLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty":             "",
		"zero key":          strings.Repeat("A", 43) + "=",
		"stray bits":        good[:42] + "5=",
		"standard base64":   base64.StdEncoding.EncodeToString(raw),
		"hexadecimal":       hex.EncodeToString(raw),
		"no padding":        good[:43],
		"line break behind": good + "\n",
		"line break inside": good[:20] + "\n" + good[20:],
		"breaks for digits": good[:40] + "\n\n\n\n",
		"space before":      " " + good,
		"31 bytes":          base64.URLEncoding.EncodeToString(raw[:31]),
		"33 bytes":          base64.URLEncoding.EncodeToString(append(bytes.Clone(raw), 1)),
		"33 bytes, no pad":  strings.Repeat("A", 43) + "B",
		"two keys":          good + good,
		"raw bytes":         string(raw),
	} {
		key, err := secret.ParseKey([]byte(bad))
		if err == nil {
			t.Errorf("%s: ParseKey = nil, want an error", name)
			continue
		}
		if key != nil || strings.Contains(err.Error(), good[:10]) {
			t.Errorf("%s: ParseKey gives a key: %t, or quotes its input: %v", name, key != nil, err)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4="))
	f.Add([]byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
	f.Add([]byte("cw/0x689RpI+jtRR7oE8h/eQsKImvJapLeSbXpwF4e4="))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := secret.ParseKey(data)
		if err == nil && !bytes.Equal(key.Encode(), data) {
			t.Error("a key parses from a spelling that is not its own")
		}
	})
}

func TestKeysThatAreNoKeys(t *testing.T) {
	cleared := newKey(t)
	shared := *cleared
	cleared.Clear()
	cleared.Clear()
	owner := secret.Owner{ID: "vim", Generation: 1}
	good := newKey(t)
	token, err := secret.Seal(good, owner, "token", secret.NewText("t"))
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]*secret.Key{"nil": nil, "zero": {}, "cleared": cleared, "copy of a cleared": &shared} {
		if key.Encode() != nil {
			t.Errorf("%s key encodes to something", name)
		}
		if key.Equal(key) || key.Equal(good) || good.Equal(key) {
			t.Errorf("%s key equals a key", name)
		}
		if _, err := secret.Seal(key, owner, "token", secret.NewText("t")); err == nil {
			t.Errorf("Seal with a %s key = nil, want an error", name)
		}
		if _, err := secret.Open(key, owner, "token", token); !errors.Is(err, secret.ErrUnopenable) {
			t.Errorf("Open with a %s key = %v, want ErrUnopenable", name, err)
		}
		key.Clear()
	}
}

func TestKeyPrintsNowhere(t *testing.T) {
	key := newKey(t)
	encoded := key.Encode()
	raw, err := base64.URLEncoding.DecodeString(string(encoded))
	if err != nil {
		t.Fatal(err)
	}
	leaks := []string{
		string(encoded[:10]), base64.StdEncoding.EncodeToString(raw)[:10],
		fmt.Sprintf("%x", raw[:6]), fmt.Sprintf("%X", raw[:6]),
		strings.Trim(fmt.Sprint(raw[:6]), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", raw[:6]), "[]byte{"), "}"),
	}
	type holder struct {
		Exported   *secret.Key
		unexported *secret.Key
		Value      secret.Key
		value      secret.Key
		Map        map[string]*secret.Key
		asKey      map[*secret.Key]int
	}
	h := holder{key, key, *key, *key, map[string]*secret.Key{"k": key}, map[*secret.Key]int{key: 1}}
	for name, v := range map[string]any{
		"*key": key, "key": *key, "holder": h, "*holder": &h, "slice": []*secret.Key{key}, "map": map[string]secret.Key{"k": *key},
	} {
		for printer, print := range printers() {
			out := print(v)
			for _, leak := range leaks {
				if strings.Contains(out, leak) {
					t.Errorf("%s prints a %s", printer, name)
				}
			}
		}
	}
	if got := fmt.Sprint(key); got != "[secret]" {
		t.Errorf("Sprint(key) = %q, want [secret]", got)
	}
}
