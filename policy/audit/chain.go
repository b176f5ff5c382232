package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// chainDomain starts every hash, so that no other hash of ours can be mistaken for
// one. A change of the encoding below changes it.
const chainDomain = "vimbroker audit entry 1"

// Seal completes an entry that has its Seq: it sets Previous to the hash of the
// entry before it (empty for Seq 1) and Hash to the hex SHA-256 over all other
// fields. It first brings the entry into the form that is [Kept]. The sink stores
// what Seal returns.
//
// What is hashed is a sequence of values, each with its length in front, so no
// two different entries encode alike:
//
//	domain, Seq, Time (microseconds since 1970), Request, Principal, Project,
//	Action, Kind, Resource, Outcome, len(Detail), key and value of each detail
//	in the order of the keys, Previous
func Seal(previous string, e Entry) Entry {
	e = Kept(e)
	e.Previous = previous
	e.Hash = digest(e)
	return e
}

// Kept returns an entry in the form that every store and encoding keeps: time in
// UTC with whole microseconds, text as valid UTF-8.
func Kept(e Entry) Entry {
	e.Time = e.Time.UTC().Truncate(time.Microsecond)
	e.Request = valid(e.Request)
	e.Principal = valid(e.Principal)
	e.Project = valid(e.Project)
	e.Action = valid(e.Action)
	e.Kind = valid(e.Kind)
	e.Resource = valid(e.Resource)
	e.Outcome = valid(e.Outcome)
	if e.Detail != nil {
		detail := make(map[string]string, len(e.Detail))
		for _, key := range slices.Sorted(maps.Keys(e.Detail)) {
			detail[valid(key)] = valid(e.Detail[key])
		}
		e.Detail = detail
	}
	return e
}

// Hashed is what the hash of an entry covers, in two parts: what comes before Seq,
// and what stands between Seq and Previous. It is for a sink that learns both only
// where it cannot call [Seal]; such a sink keeps what [Kept] returns, with
//
//	Hash = hex of SHA-256 over before, Seq, between, the length of Previous, Previous
//
// where Seq and the length are 8 bytes, the most significant first.
func Hashed(e Entry) (before, between []byte) {
	before = appendText(nil, chainDomain)
	between = appendNumber(nil, e.Time.UnixMicro())
	for _, s := range []string{
		e.Request, e.Principal, e.Project, string(e.Action), string(e.Kind), e.Resource, string(e.Outcome),
	} {
		between = appendText(between, s)
	}
	between = appendNumber(between, int64(len(e.Detail)))
	for _, key := range slices.Sorted(maps.Keys(e.Detail)) {
		between = appendText(appendText(between, key), e.Detail[key])
	}
	return before, between
}

func valid[T ~string](s T) T { return T(strings.ToValidUTF8(string(s), "\uFFFD")) }

// digest is the Hash that e should have.
func digest(e Entry) string {
	b, between := Hashed(e)
	b = append(appendNumber(b, e.Seq), between...)
	sum := sha256.Sum256(appendText(b, e.Previous))
	return hex.EncodeToString(sum[:])
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func appendText(b []byte, s string) []byte { return append(appendNumber(b, int64(len(s))), s...) }

// ChainError says where a chain of entries is broken.
type ChainError struct {
	// Seq is the entry that is missing, out of place, or not as it was sealed.
	Seq int64
	// Fault says which.
	Fault string
}

// Error names the entry and the fault.
func (e *ChainError) Error() string {
	return fmt.Sprintf("audit chain is broken at entry %d: %s", e.Seq, e.Fault)
}

// Verify checks a run of entries, oldest first, and returns a [*ChainError] that
// names the first one that is missing, altered or out of order. A run that
// starts at Seq 1 must start the chain; any other is checked from its first
// entry on, so pages are verified one by one when each begins with the last
// entry of the page before.
//
// Entries cut off at the end cannot be seen from the rest, nor can a chain that
// someone with full rights over the store rewrote as a whole: compare the last
// Seq and Hash with a copy kept elsewhere.
func Verify(entries []Entry) error {
	var before *link
	for _, e := range entries {
		l := linkOf(e)
		if err := follow(before, l); err != nil {
			return err
		}
		before = &l
	}
	return nil
}
