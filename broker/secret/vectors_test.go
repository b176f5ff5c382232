package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// vector is one case of the files that the specification comes with
// (https://github.com/fernet/spec).
type vector struct {
	Desc   string
	Token  string
	Now    time.Time
	TTL    int `json:"ttl_sec"`
	IV     []int
	Src    string
	Secret string
}

func (v vector) key(t *testing.T) *Key {
	t.Helper()
	key, err := ParseKey([]byte(v.Secret))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func vectors(t *testing.T, file string) (all []vector) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
		t.Fatalf("reading %s: %d vectors, %v", file, len(all), err)
	}
	return all
}

func TestSpecGenerate(t *testing.T) {
	for _, v := range vectors(t, "generate.json") {
		message, ok := decrypt(v.key(t), v.Token)
		if !ok || string(message) != v.Src {
			t.Errorf("decrypt = %q, %t, want %q", message, ok, v.Src)
		}
		at, err := SealedAt(v.Token)
		if err != nil || !at.Equal(v.Now) {
			t.Errorf("SealedAt = %v, %v, want %v", at, err, v.Now)
		}
		raw, _ := decodeToken(v.Token)
		for i, b := range v.IV {
			if int(raw[1+8+i]) != b {
				t.Fatalf("IV = %v, want %v", raw[9:25], v.IV)
			}
		}
		// Ours have the same shape.
		ours, err := encrypt(v.key(t), []byte(v.Src))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := decodeToken(ours); !ok || len(got) != len(raw) {
			t.Errorf("a token of our own has %d bytes and a good form: %t, want %d", len(got), ok, len(raw))
		}
	}
}

func TestSpecVerify(t *testing.T) {
	for _, v := range vectors(t, "verify.json") {
		if message, ok := decrypt(v.key(t), v.Token); !ok || string(message) != v.Src {
			t.Errorf("decrypt = %q, %t, want %q", message, ok, v.Src)
		}
	}
}

// Sealed credentials have no age at which they stop to open. So the two vectors
// that are invalid by their time only are held against the time that SealedAt
// reads, by the rule of the specification.
func TestSpecInvalid(t *testing.T) {
	byTime := 0
	for _, v := range vectors(t, "invalid.json") {
		_, ok := decrypt(v.key(t), v.Token)
		if v.Desc != "far-future TS (unacceptable clock skew)" && v.Desc != "expired TTL" {
			if ok {
				t.Errorf("%s: decrypt succeeds", v.Desc)
			}
			continue
		}
		byTime++
		at, err := SealedAt(v.Token)
		const skew = 60 * time.Second
		expired := at.Add(time.Duration(v.TTL) * time.Second).Before(v.Now)
		if future := at.After(v.Now.Add(skew)); err != nil || !expired && !future {
			t.Errorf("%s: SealedAt = %v, %v, which is good at %v", v.Desc, at, err, v.Now)
		}
	}
	if byTime != 2 {
		t.Errorf("%d vectors are invalid by their time, want 2", byTime)
	}
}

// TestDecodeTokenChecksTheFormAlone: with a good HMAC, which an attacker who has
// the key could make, form is all that is left to refuse it by.
func TestDecodeTokenChecksTheFormAlone(t *testing.T) {
	v := vectors(t, "verify.json")[0]
	key := v.key(t)
	sign := func(change func(body []byte) []byte) string {
		raw, _ := decodeToken(v.Token)
		body := change(raw[:len(raw)-sha256.Size])
		mac := hmac.New(sha256.New, key.material()[:16])
		mac.Write(body)
		return base64.URLEncoding.EncodeToString(mac.Sum(body))
	}
	same := func(b []byte) []byte { return b }
	if message, ok := decrypt(key, sign(same)); !ok || string(message) != v.Src {
		t.Fatalf("decrypt of the vector, signed again = %q, %t", message, ok)
	}
	for name, change := range map[string]func([]byte) []byte{
		"no ciphertext":     func(b []byte) []byte { return b[:tokenHead] },
		"part of a block":   func(b []byte) []byte { return append(b, 0) },
		"no IV":             func(b []byte) []byte { return b[:9] },
		"other version":     func(b []byte) []byte { b[0] = 0x81; return b },
		"after year 9999":   func(b []byte) []byte { binary.BigEndian.PutUint64(b[1:], maxTokenTime+1); return b },
		"negative time":     func(b []byte) []byte { b[1] = 0xff; return b },
		"padding of zeros":  func(b []byte) []byte { return append(b, make([]byte, 16)...) },
		"nothing but a mac": func([]byte) []byte { return nil },
	} {
		token := sign(change)
		// The padding is inside the ciphertext; the rest never reaches fernet-go.
		if _, ok := decodeToken(token); ok && name != "padding of zeros" {
			t.Errorf("%s: decodeToken accepts the form", name)
		}
		if message, ok := decrypt(key, token); ok {
			t.Errorf("%s: decrypt = %q, want that it fails", name, message)
		}
	}
}

// The longest text fits the longest token, so what was sealed always opens.
func TestLongestTokenFits(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	o := Owner{ID: strings.Repeat("i", maxName), Generation: 1<<63 - 1}
	field := strings.Repeat("f", maxName)
	plain := NewText(string(bytes.Repeat([]byte("p"), MaxPlaintext)))
	token, err := Seal(key, o, field, plain)
	if err != nil {
		t.Fatal(err)
	}
	if len(token) > maxToken || len(token) < maxToken-100 {
		t.Errorf("the longest token has %d bytes, want %d or a little less", len(token), maxToken)
	}
	if got, err := Open(key, o, field, token); err != nil || !got.Equal(plain) {
		t.Errorf("Open = %v, same text: %t", err, got.Equal(plain))
	}
}

func TestLongerTokensAreRefused(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	token, err := encrypt(key, make([]byte, maxToken))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := decodeToken(token); ok {
		t.Errorf("a token of %d bytes is accepted, want at most %d", len(token), maxToken)
	}
}
