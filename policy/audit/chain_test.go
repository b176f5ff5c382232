package audit_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// chain seals n entries that follow one another.
func chain(t *testing.T, n int) []audit.Entry {
	t.Helper()
	var entries []audit.Entry
	previous := ""
	for i := range n {
		e := audit.Seal(previous, audit.Entry{
			Seq: int64(i + 1), Time: noon.Add(time.Duration(i) * time.Second), Request: "r1",
			Principal: "alice", Project: "core", Action: policy.LeaseIssue, Kind: policy.KindVIM,
			Resource: fmt.Sprintf("vim-%d", i), Outcome: audit.Intent,
			Detail: map[string]string{"role": "edit", "ttl": "1h0m0s"},
		})
		previous = e.Hash
		entries = append(entries, e)
	}
	return entries
}

func TestVerifyNamesTheEntryAtFault(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func([]audit.Entry) []audit.Entry
		want  int64 // -1: the chain is whole
	}{
		"whole":              {func(e []audit.Entry) []audit.Entry { return e }, -1},
		"empty":              {func([]audit.Entry) []audit.Entry { return nil }, -1},
		"a page":             {func(e []audit.Entry) []audit.Entry { return e[2:5] }, -1},
		"one removed":        {func(e []audit.Entry) []audit.Entry { return slices.Delete(e, 3, 4) }, 4},
		"two swapped":        {func(e []audit.Entry) []audit.Entry { e[2], e[3] = e[3], e[2]; return e }, 3},
		"one twice":          {func(e []audit.Entry) []audit.Entry { return slices.Insert(e, 3, e[2]) }, 3},
		"numbered from zero": {func(e []audit.Entry) []audit.Entry { e[0].Seq = 0; return e }, 0},
		"sealed as number zero": {func(e []audit.Entry) []audit.Entry {
			e[0].Seq = 0
			e[0] = audit.Seal("", e[0])
			return e[:1]
		}, 0},
		"outcome altered": {func(e []audit.Entry) []audit.Entry { e[4].Outcome = audit.Denied; return e }, 5},
		"replaced and sealed again": {func(e []audit.Entry) []audit.Entry {
			e[1].Principal = "mallory"
			e[1] = audit.Seal(e[1].Previous, e[1])
			return e
		}, 3},
		"removed and renumbered": {func(e []audit.Entry) []audit.Entry {
			e = slices.Delete(e, 2, 3)
			for i := range e {
				e[i].Seq = int64(i + 1)
			}
			return e
		}, 3},
		"first entry follows something": {func(e []audit.Entry) []audit.Entry {
			e[0] = audit.Seal("ff", e[0])
			return e[:1]
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := audit.Verify(test.spoil(chain(t, 6)))
			var broken *audit.ChainError
			switch {
			case test.want == -1:
				if err != nil {
					t.Errorf("Verify() = %v, want nil", err)
				}
			case !errors.As(err, &broken):
				t.Errorf("Verify() = %v, want a ChainError", err)
			case broken.Seq != test.want:
				t.Errorf("Verify() = %v, want entry %d named", err, test.want)
			}
		})
	}
}

// TestHashCoversEveryField alters the fields of an entry one by one, so that a
// field added to Entry and forgotten in the encoding fails here.
func TestHashCoversEveryField(t *testing.T) {
	sealed := chain(t, 2)
	fields := reflect.TypeFor[audit.Entry]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		t.Run(name, func(t *testing.T) {
			e := sealed[1]
			switch f := reflect.ValueOf(&e).Elem().Field(i); f.Interface().(type) {
			case int64:
				f.SetInt(f.Int() + 1)
			case time.Time:
				f.Set(reflect.ValueOf(e.Time.Add(time.Microsecond)))
			case bool:
				t.Skip("what reading an entry finds: no writer sets it")
			case map[string]string:
				f.Set(reflect.ValueOf(map[string]string{"role": "view", "ttl": "1h0m0s"}))
			default:
				f.SetString(f.String() + "x")
			}
			if err := audit.Verify([]audit.Entry{sealed[0], e}); err == nil {
				t.Errorf("Verify() = nil after %s was altered", name)
			}
		})
	}
}

func TestEncodingIsUnambiguous(t *testing.T) {
	seen := map[string]audit.Entry{}
	for _, e := range []audit.Entry{
		{Seq: 1, Principal: "ab", Project: "c"},
		{Seq: 1, Principal: "a", Project: "bc"},
		{Seq: 1, Principal: "abc"},
		{Seq: 1, Project: "abc"},
		{Seq: 1, Detail: map[string]string{"a": "b", "c": "d"}},
		{Seq: 1, Detail: map[string]string{"a": "bc", "d": ""}},
		{Seq: 1, Detail: map[string]string{"abcd": ""}},
		{Seq: 1, Resource: "x", Outcome: ""},
		{Seq: 1, Resource: "", Outcome: "x"},
	} {
		sealed := audit.Seal("", e)
		if other, taken := seen[sealed.Hash]; taken {
			t.Errorf("two entries have one hash:\n%+v\n%+v", other, e)
		}
		seen[sealed.Hash] = e
	}
}

func TestSealGivesTheFormThatStoresKeep(t *testing.T) {
	east := time.FixedZone("east", 9*3600)
	e := audit.Entry{Seq: 1, Time: noon.In(east), Principal: "a\xff", Detail: map[string]string{"k": "\xfe"}}
	got := audit.Seal("", e)
	want := audit.Entry{
		Seq: 1, Time: noon.Truncate(time.Microsecond), Principal: "a\uFFFD",
		Detail: map[string]string{"k": "\uFFFD"}, Hash: got.Hash,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Seal() (-want +got):\n%s", diff)
	}
	if e.Detail["k"] != "\xfe" {
		t.Errorf("Seal changed the Detail of its argument")
	}
	got.Detail, got.Time = map[string]string{"k": "\uFFFD"}, got.Time.In(east)
	if err := audit.Verify([]audit.Entry{got}); err != nil {
		t.Errorf("Verify() = %v after the entry was read back in another zone", err)
	}
	if empty, none := audit.Seal("", audit.Entry{Detail: map[string]string{}}), audit.Seal("", audit.Entry{}); empty.Hash != none.Hash {
		t.Errorf("an empty Detail and none have different hashes")
	}
}

// TestHashedIsWhatIsHashed puts a hash together as a sink does that does not call Seal.
func TestHashedIsWhatIsHashed(t *testing.T) {
	for _, want := range chain(t, 3) {
		before, between := audit.Hashed(audit.Kept(want))
		all := binary.BigEndian.AppendUint64(before, uint64(want.Seq))
		all = binary.BigEndian.AppendUint64(append(all, between...), uint64(len(want.Previous)))
		sum := sha256.Sum256(append(all, want.Previous...))
		if got := hex.EncodeToString(sum[:]); got != want.Hash {
			t.Errorf("entry %d: hash %s, want %s", want.Seq, got, want.Hash)
		}
	}
}

// TestHashIsStable holds the encoding: entries on disk were sealed with it.
func TestHashIsStable(t *testing.T) {
	const want = "d8b593fc77cdbd24149654887115b37843885b8f9bb8e5e4d0a3c6d5676335f1"
	if got := chain(t, 2)[1].Hash; got != want {
		t.Errorf("Hash = %s, want %s", got, want)
	}
}

func TestATreeGrowsByTheNextEntry(t *testing.T) {
	for name, entries := range map[string][]audit.Entry{
		"a gap at the start": chain(t, 3)[1:],
		"a gap inside":       slices.Delete(chain(t, 4), 1, 2),
	} {
		if _, _, err := audit.Grown(t.Context(), nil, tree.State{}, entries); !errors.Is(err, tree.ErrTorn) {
			t.Errorf("%s: Grown() = %v, want ErrTorn", name, err)
		}
	}
	if grown, _, err := audit.Grown(t.Context(), nil, tree.State{}, chain(t, 3)); err != nil || grown.Size != 3 {
		t.Errorf("Grown() = %d entries, %v, want 3", grown.Size, err)
	}
}
