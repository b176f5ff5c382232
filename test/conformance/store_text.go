package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// texts checks that text is kept as it was, that what is none is at most refused,
// and that it is sorted by its bytes, whatever the database's locale.
func texts(t *testing.T, s storeTest) {
	for i, text := range []string{
		"a\x00b", "\xff", "a\xc3\x28", "\u2028 \U0001f511", "'; DROP TABLE vims; --", `\x00 \ " %s $1 ?`, strings.Repeat("é", 255),
	} {
		what := fmt.Sprintf("text %.20q", text)
		v := plainVIM("north", text)
		v.Labels = map[string]string{"label": text}
		v.Health.Message, v.Description = text, text
		isText := utf8.ValidString(text) && !strings.Contains(text, "\x00")
		switch err := s.CreateVIM(s.ctx, v, 0, entry(fmt.Sprint("text ", i))); {
		case err == nil && isText:
			wantSame(t, "VIM with "+what, s.mustVIM(t, v.ID), v)
		case err != nil && (isText || !errors.Is(err, broker.ErrInvalid)):
			t.Errorf("CreateVIM with %s = %v, want it stored or, if it is no text, ErrInvalid", what, err)
		}
		if _, err := s.VIM(s.ctx, text); !errors.Is(err, broker.ErrNotFound) && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("VIM(%s) = %v, want ErrNotFound or ErrInvalid", what, err)
		}
		if _, _, err := s.VIMs(s.ctx, broker.VIMFilter{Name: text, Labels: map[string]string{"label": text}}); err != nil && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("VIMs(%s) = %v, want an answer or ErrInvalid", what, err)
		}
		if err := s.Append(s.ctx, entry(text)); err != nil && (isText || !errors.Is(err, broker.ErrInvalid)) {
			t.Errorf("Append with %s = %v, want it stored or, if it is no text, ErrInvalid", what, err)
		} else if err == nil {
			newest := s.entries(t)[len(s.entries(t))-1]
			written := audit.Kept(entry(text))
			written.Seq = newest.Seq
			wantSame(t, "the entry of "+what, newest, written)
		}
	}
	VerifyLog(t, s.Store)

	want := []string{"B", "Z", "_a", "a", "a b", "ab", "b", "Ä", "é"}
	for _, i := range []int{4, 0, 8, 2, 6, 1, 7, 3, 5} {
		s.mustCreateVIM(t, plainVIM("sorted", want[i]))
	}
	var got []string
	f := broker.VIMFilter{Project: "sorted", Page: broker.Page{Size: 2}}
	for {
		page, next, err := s.VIMs(s.ctx, f)
		if err != nil {
			t.Fatalf("VIMs = %v", err)
		}
		for _, v := range page {
			got = append(got, v.Name)
		}
		if f.Token = next; next == "" {
			break
		}
	}
	wantSame(t, "names in their order", got, want)
}
