package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// boundField is the envelope's field for a VIM's credential: what the generation is to
// the VIM, and a digest of all that decides where the credential is sent and what
// answers are believed. A row in which any of that was changed does not open.
func boundField(t VIMType, g Generation, as SealedAs) string {
	return "credential/" + string(as) + "/" + boundDigest(t, g)
}

// boundDigest covers every field of a generation but what it is sealed with. An empty value
// counts too: of a cloud's openings it says that one stands open.
func boundDigest(t VIMType, g Generation) string {
	text, _ := json.Marshal(struct { // plain data always encodes
		Type           VIMType
		Number         int64
		Target         Target
		Identity       string
		Discovered     Discovered
		CredentialKind CredentialKind
		Username       string
		ExpiresAt      int64 // in microseconds, as stores keep it
	}{t, g.Number, g.Target, g.Identity, g.Discovered, g.CredentialKind, g.Username, micro(g.CredentialExpiresAt)})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// sealsAs is what a generation is to a VIM whose current one has this number.
func sealsAs(number, current int64) SealedAs {
	if number == current {
		return SealedCurrent
	}
	return SealedPast
}

// opensAs are the forms in which a generation may be sealed. Only what was sealed as
// the current generation opens as that. An earlier one was sealed so, too, until it
// is sealed anew.
func opensAs(v VIM, g Generation) []SealedAs {
	if g.Number == v.Current.Number {
		return []SealedAs{SealedCurrent}
	}
	return []SealedAs{SealedPast, SealedCurrent}
}

// unsealGeneration opens the envelope of a generation with its key.
func unsealGeneration(key *secret.Key, v VIM, g Generation) (plain secret.Text, err error) {
	for _, as := range opensAs(v, g) {
		plain, err = secret.Open(key, secret.Owner{ID: v.ID, Generation: g.Number}, boundField(v.Type, g, as), g.Sealed)
		if err == nil {
			break
		}
	}
	return plain, err
}
