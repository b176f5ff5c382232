// Package export writes entries of the audit log to a file that proves itself: the file
// alone is enough to tell that no entry in it was removed, altered or added, and to compare
// its log with an anchor.
//
// The file is lines of JSON, in one or more sections that follow each other:
//
//	{"vimbrokerAudit":1,"from":1,"to":2,"size":9,"root":"…","proof":["…"],"frontier":["…"],"checkpoint":"…","keys":[{…}]}
//	{"seq":1,"leaf":"…","entry":{…}}
//	{"seq":2,"leaf":"…","entry":{…}}
//	{"end":2,"root":"…"}
//
// The header says which entries follow, and describes the log: its size and the root of its Merkle tree
// (RFC 6962), with a proof that this log begins with the entries up to the last that follows. The
// frontier are the hashes that the tree has for the entries before the first. The checkpoint is the
// signed note that states that size and root, and the keys are those of the log: a reader who kept a
// public half knows that only the broker can have made the file. An entry is the log's own line
// ([audit.Line]), with its leaf hash. The trailer holds the root of the tree up to there. Hashes are in
// base64.
package export

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// format is the number of the format that is described above.
const format = 1

// Header begins a section.
type Header struct {
	Format int `json:"vimbrokerAudit"`
	// From and To are the first and the last entry.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Size and Root are the log's, when the section was begun.
	Size int64  `json:"size"`
	Root []byte `json:"root"`
	// Proof is the consistency proof from To to Size.
	Proof [][]byte `json:"proof"`
	// Frontier is that of the tree over the entries before From.
	Frontier [][]byte `json:"frontier"`
	// Checkpoint is the signed note that states Size and Root; empty where none was signed that covers To.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Keys are those of the log when the section was begun, as GET /v1/audit/keys has them.
	Keys json.RawMessage `json:"keys,omitempty"`
}

// Vouch returns nil if a trustworthy checkpoint signs the log's state in the header. The error becomes a
// [*FaultError] that names the header's line.
type Vouch func(Header) error

// line is an entry in a section.
type line struct {
	Seq   int64           `json:"seq"`
	Leaf  []byte          `json:"leaf"`
	Entry json.RawMessage `json:"entry"`
}

type trailer struct {
	End  int64  `json:"end"`
	Root []byte `json:"root"`
}

// FaultError is a fault of an export, and its place.
type FaultError struct {
	// Line counts from 1.
	Line  int64
	Fault string
}

// Error names the line and the fault.
func (e *FaultError) Error() string { return fmt.Sprintf("line %d of the export: %s", e.Line, e.Fault) }

var errHash = errors.New("a hash has another length than SHA-256's")

func hashesOf(texts [][]byte) ([]tree.Hash, error) {
	hashes := make([]tree.Hash, 0, len(texts))
	for _, text := range texts {
		if len(text) != len(tree.Hash{}) {
			return nil, errHash
		}
		hashes = append(hashes, tree.Hash(text))
	}
	return hashes, nil
}

func stateOf(size int64, root []byte) (tree.Head, error) {
	hashes, err := hashesOf([][]byte{root})
	if err != nil {
		return tree.Head{}, err
	}
	return tree.Head{Size: size, Root: hashes[0]}, nil
}

// section is one that is being read or written.
type section struct {
	header Header
	line   int64 // that the header is
	log    tree.Head
	proof  []tree.Hash
	built  *tree.Builder
	next   int64
}

// begin checks that a header can be meant.
func begin(h Header) (*section, error) {
	if h.Format != format {
		return nil, fmt.Errorf("it is no header of format %d", format)
	}
	if h.From < 1 || h.To < h.From || h.Size < h.To {
		return nil, errors.New("the header names entries that the log cannot have")
	}
	log, err := stateOf(h.Size, h.Root)
	if err != nil {
		return nil, err
	}
	proof, err := hashesOf(h.Proof)
	if err != nil {
		return nil, err
	}
	frontier, err := hashesOf(h.Frontier)
	if err != nil {
		return nil, err
	}
	built, err := tree.NewBuilder(h.From-1, frontier)
	if err != nil {
		return nil, errors.New("the frontier is not one of the entries before the first")
	}
	return &section{header: h, log: log, proof: proof, built: built, next: h.From}, nil
}

// add checks that an entry is the next, and adds it to the tree.
func (s *section) add(e audit.Entry, leaf tree.Hash) error {
	if s.next > s.header.To {
		return fmt.Errorf("entry %d is none of those that the header names", e.Seq)
	}
	if e.Seq != s.next {
		return fmt.Errorf("entry %d is missing", s.next)
	}
	s.built.Append(leaf)
	s.next++
	return nil
}

// end checks that all entries came, and are those of the log; it returns their tree.
func (s *section) end() (tree.Head, error) {
	if s.next != s.header.To+1 {
		return tree.Head{}, fmt.Errorf("entry %d is missing", s.next)
	}
	state := s.built.State()
	if tree.CheckConsistency(s.log, state, s.proof) != nil {
		return tree.Head{}, fmt.Errorf("the entries from %d to %d are not those of the log that the header names", s.header.From, s.header.To)
	}
	return state, nil
}
