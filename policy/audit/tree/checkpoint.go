package tree

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrUnsigned: a checkpoint is not one of this log's, or no trusted key signed it.
var ErrUnsigned = errors.New("not a checkpoint that a trusted key of this log signed")

// maxCheckpoint bounds the text of a checkpoint with its signatures, in bytes.
const maxCheckpoint = 16 << 10

// Sign states the size and root of the log of that origin in a signed note. The format is
// that of c2sp.org/tlog-checkpoint; the signatures are Ed25519 of c2sp.org/signed-note.
// With several signers, as in a rotation of the key, each signs.
func Sign(origin string, s Head, signers ...note.Signer) (string, error) {
	if origin == "" || strings.ContainsAny(origin, " +\n") {
		return "", fmt.Errorf("%q cannot be the origin of a log: it must not be empty, nor hold a space or a plus", origin)
	}
	if len(signers) == 0 {
		return "", errors.New("a checkpoint needs a signer")
	}
	text := fmt.Sprintf("%s\n%d\n%s\n", origin, s.Size, base64.StdEncoding.EncodeToString(s.Root[:]))
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		return "", fmt.Errorf("signing a checkpoint: %w", err)
	}
	return string(signed), nil
}

// OpenCheckpoint returns the state that a signed checkpoint of that origin states. One that no
// trusted key signed, of another origin, or in another form, is [ErrUnsigned].
// Lines after the third are extensions, and ignored.
func OpenCheckpoint(origin, signed string, trusted ...note.Verifier) (Head, error) {
	if len(signed) > maxCheckpoint {
		return Head{}, ErrUnsigned
	}
	n, err := note.Open([]byte(signed), note.VerifierList(trusted...))
	if err != nil {
		return Head{}, ErrUnsigned
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) < 4 || lines[0] != origin {
		return Head{}, ErrUnsigned
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Head{}, ErrUnsigned
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return Head{}, ErrUnsigned
	}
	return Head{Size: size, Root: Hash(root)}, nil
}
