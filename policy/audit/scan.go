package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// link is what the chain needs of an entry.
type link struct {
	seq            int64
	previous, hash string
	// whole says that hash is the one that the entry should have.
	whole bool
}

func linkOf(e Entry) link { return link{e.Seq, e.Previous, e.Hash, e.Hash == digest(e)} }

// follow returns nil if l stands behind the entry before it, which is nil where l is the first that is
// looked at; otherwise a [*ChainError].
func follow(before *link, l link) error {
	want, previous := l.seq, l.previous
	switch {
	case before != nil:
		want, previous = before.seq+1, before.hash
	case l.seq < 1:
		return &ChainError{l.seq, "entries are numbered from 1"}
	case l.seq == 1:
		previous = ""
	}
	switch {
	case l.seq > want:
		return &ChainError{want, "it is missing"}
	case l.seq < want:
		return &ChainError{l.seq, "it is out of order"}
	case l.previous != previous:
		return &ChainError{l.seq, "it does not follow the entry before it"}
	case !l.whole:
		return &ChainError{l.seq, "it was altered"}
	}
	return nil
}

// scanner reads lines without decoding JSON: it hashes the bytes of a line as they are. It belongs to
// one goroutine.
type scanner struct {
	hashed []byte // what the entry's hash covers
	rest   []byte // of the line
	failed bool
}

// scan reads a line that [ParseLine] takes. Not every one: where a text holds a byte that JSON may write
// in another way, it is not ok.
func (s *scanner) scan(line []byte) (l link, ok bool) {
	s.hashed, s.rest, s.failed = appendText(s.hashed[:0], chainDomain), line, false
	s.skip(`{"seq":`)
	digits, _, _ := bytes.Cut(s.rest, []byte(","))
	l.seq, _ = strconv.ParseInt(string(digits), 10, 64)
	if strconv.FormatInt(l.seq, 10) != string(digits) {
		return l, false
	}
	s.hashed = appendNumber(s.hashed, l.seq)
	s.skip(string(digits))
	s.skip(`,"time":`)
	written := s.text()
	at, err := time.Parse(lineTime, string(written))
	if err != nil || at.Format(lineTime) != string(written) {
		return l, false
	}
	s.hashed = appendNumber(s.hashed, at.UnixMicro())
	for _, field := range []string{
		`,"request":`, `,"principal":`, `,"project":`, `,"action":`, `,"kind":`, `,"resource":`, `,"outcome":`,
	} {
		s.skip(field)
		s.add(s.text())
	}
	s.detail()
	s.skip(`,"previous":`)
	previous := s.text()
	s.add(previous)
	s.skip(`,"hash":`)
	hash := s.text()
	s.skip(`}`)
	if s.failed || len(s.rest) > 0 {
		return l, false
	}
	sum := sha256.Sum256(s.hashed)
	var want [2 * sha256.Size]byte
	hex.Encode(want[:], sum[:])
	l.previous, l.hash, l.whole = string(previous), string(hash), bytes.Equal(hash, want[:])
	return l, true
}

// detail reads the detail, which is left out where it is empty, and adds it to what is hashed.
func (s *scanner) detail() {
	const begin = `,"detail":{`
	count := len(s.hashed)
	s.hashed = appendNumber(s.hashed, 0)
	if !bytes.HasPrefix(s.rest, []byte(begin)) {
		return
	}
	s.skip(begin)
	n, last := int64(0), []byte(nil)
	for ; ; n++ {
		key := s.text()
		if n > 0 && bytes.Compare(last, key) >= 0 {
			s.failed = true
		}
		last = key
		s.add(key)
		s.skip(`:`)
		s.add(s.text())
		if s.failed || !bytes.HasPrefix(s.rest, []byte(`,`)) {
			break
		}
		s.skip(`,`)
	}
	s.skip(`}`)
	appendNumber(s.hashed[:count], n+1)
}

// add adds a text to what is hashed.
func (s *scanner) add(text []byte) {
	s.hashed = append(appendNumber(s.hashed, int64(len(text))), text...)
}

func (s *scanner) skip(text string) {
	if !bytes.HasPrefix(s.rest, []byte(text)) {
		s.failed = true
		return
	}
	s.rest = s.rest[len(text):]
}

// text reads a string of JSON whose bytes stand for themselves, and could not be written otherwise.
func (s *scanner) text() []byte {
	s.skip(`"`)
	for i, c := range s.rest {
		if c == '"' {
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text
		}
		if c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
			break
		}
	}
	s.failed = true
	return nil
}
