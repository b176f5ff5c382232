package tacker_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/quickstore"
)

func nested(levels int) string {
	return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
}

// This door takes as deep an extra as every other, and a row that holds a deeper one
// keeps no list from being shown.
func TestExtraNestsOnlySoDeep(t *testing.T) {
	b := newBench(t, false)
	made := b.vim("alice", "POST", "/v1.0/vims.json", b.body("k1", "extra", nested(12)), http.StatusCreated)
	for _, levels := range []int{13, 15, 9_998} {
		if a, _ := b.call("alice", "POST", "/v1.0/vims.json", b.body("k2", "extra", nested(levels))); a.StatusCode != http.StatusBadRequest {
			t.Errorf("registering with extra of %d levels answers %d, want 400", levels, a.StatusCode)
		}
	}
	db, err := quickstore.Raw(b.database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE vims SET extra = ? WHERE id = ?`, nested(20_000), made["id"]); err != nil {
		t.Fatal(err)
	}
	if a, text := b.call("alice", "GET", "/v1.0/vims", ""); a.StatusCode != http.StatusOK || !strings.Contains(text, `"k1"`) {
		t.Errorf("the list answers %d, want 200 and the VIM", a.StatusCode)
	}
}
